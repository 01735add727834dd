/*
 * A curve that fills space (Morton's), on which bodies stand in a row; the host and devices compile this text.
 */
#ifndef LMI_CURVE_H
#define LMI_CURVE_H

#include "base/vec.h"

/* The bits of a number below 1024, two apart from each other. */
static inline uint32_t lmi_curve_spread(uint32_t n)
{
    n = (n | n << 16) & 0x030000ffu;
    n = (n | n << 8) & 0x0300f00fu;
    n = (n | n << 4) & 0x030c30c3u;
    return (n | n << 2) & 0x09249249u;
}

static inline uint32_t lmi_curve_step(double at, double low, double high)
{
    double share = high > low ? (at - low) / (high - low) : 0.0;
    return share > 0.0 ? (share < 1.0 ? (uint32_t)(1023.0 * share) : 1023u) : 0u;
}

/* Where a place is on the curve through a cube from `low` on. */
static inline uint32_t lmi_curve_place(lm_dvec3 at, lm_dvec3 low, double side)
{
    return lmi_curve_spread(lmi_curve_step(at.x, low.x, low.x + side)) |
           lmi_curve_spread(lmi_curve_step(at.y, low.y, low.y + side)) << 1 |
           lmi_curve_spread(lmi_curve_step(at.z, low.z, low.z + side)) << 2;
}

#endif
