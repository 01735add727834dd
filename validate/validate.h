/*
 * Validation: measurements of materials against closed forms, through the public header alone.
 *
 * Each study is a set of measurements with a table, a plot and limits (limits.c). What is measured does not depend on the machine:
 * the engine gives the same bits everywhere.
 */
#ifndef LIMBER_VALIDATE_H
#define LIMBER_VALIDATE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct validate_options {
    bool quick;         /* a few small cases of each study: seconds, for tests */
    bool json;          /* one object a line on standard output instead of tables */
    const char *only;   /* one study; null: all */
    const char *folder; /* where validation.md and pictures/validation-*.png go; null: nowhere */
} validate_options;

/* Names of studies and what they are about, from 0 on; null beyond the last. */
const char *validate_name(uint32_t index);
const char *validate_title(uint32_t index);

/* How it ended: everything within its limits; something is not; or it could not be done, and *fault says why. */
typedef enum validate_result { VALIDATE_GOOD, VALIDATE_OFF, VALIDATE_FAILED } validate_result;

#define VALIDATE_FAULT_SIZE 600

validate_result validate_run(const validate_options *options, char fault[VALIDATE_FAULT_SIZE]);

#endif
