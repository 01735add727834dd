/*
 * Points of a circle, with the same bits on every machine. Angles come as fractions of a turn in whole numbers, so that
 * their reduction is exact and mirrored points are mirrored exactly: cos(90 degrees) is 0, not 6e-17.
 */
#ifndef LIMBER_SHAPES_TRIG_H
#define LIMBER_SHAPES_TRIG_H

#include "base/dmath.h"

#include <stdbool.h>
#include <stdint.h>

#define SHAPE_PI 3.14159265358979323846

/* The point of the unit circle at index/count of a turn; index below count. */
static inline void shape_turn(uint32_t index, uint32_t count, double *cosine, double *sine)
{
    uint64_t eighths = (uint64_t)index * 8u; /* in units of 1/(8 count) turn */
    uint32_t octant = (uint32_t)(eighths / count);
    uint64_t rest = eighths % count;
    if (octant & 1u) rest = count - rest; /* odd octants run backwards from the next multiple of a quarter turn */
    double angle = (double)rest * (SHAPE_PI / 4.0) / (double)count;
    double c = lmi_cos(angle);
    double s = lmi_sin(angle);

    bool swapped = octant == 1 || octant == 2 || octant == 5 || octant == 6;
    double x = swapped ? s : c, y = swapped ? c : s;
    *cosine = octant >= 2 && octant <= 5 ? -x : x;
    *sine = octant >= 4 ? -y : y;
}

#endif
