/* The nearest known name to one that is unknown: "did you mean ...". */
#ifndef LIMBER_SUPPORT_NEAREST_H
#define LIMBER_SUPPORT_NEAREST_H

#include <stdint.h>

typedef struct nearest_name {
    const char *wanted;
    const char *best; /* null: nothing is near enough to be worth suggesting */
    uint32_t distance;
} nearest_name;

nearest_name lmi_nearest_to(const char *wanted);

/* Offers one of the known names; it must live as long as the result is used. */
void lmi_nearest_offer(nearest_name *nearest, const char *name);

#endif
