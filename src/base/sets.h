/*
 * Sets that are joined: each member leads to a lower one of its set, and the lowest to itself.
 */
#ifndef LMI_SETS_H
#define LMI_SETS_H

#include <stdint.h>

/* The lowest member of the set of n. Ways that were gone are shorter afterwards. */
static inline uint32_t lmi_set_of(uint32_t *to, uint32_t n)
{
    while (to[n] != n) {
        n = to[n] = to[to[n]];
    }
    return n;
}

/* Makes one set of those of a and b. */
static inline void lmi_sets_join(uint32_t *to, uint32_t a, uint32_t b)
{
    a = lmi_set_of(to, a);
    b = lmi_set_of(to, b);
    to[a > b ? a : b] = a > b ? b : a;
}

#endif
