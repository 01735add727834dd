/*
 * Formulas of x and z in scene files: the heights of a terrain.
 *
 *     0.3 * sin(2 * x) * cos(z) + max(0, 1 - sqrt(x*x + z*z))
 *
 * Numbers, x, z, pi; + - * / ^ and brackets; sin, cos (radians), exp, sqrt, abs, floor, and min, max of two. Powers are whole
 * numbers from 0 to 64. The same bits on every machine.
 */
#ifndef LIMBER_SCENE_FORMULA_H
#define LIMBER_SCENE_FORMULA_H

#include <stdbool.h>

typedef struct formula_error {
    unsigned column; /* from 1: where in the text */
    char text[120];  /* what was expected there */
} formula_error;

/* The value at a point. False and *error when the text is no formula; a value that is not finite is the caller's to refuse. */
bool lmi_formula_value(const char *text, double x, double z, double *value, formula_error *error);

#endif
