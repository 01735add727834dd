/*
 * What the files of the statue share: statue.c has the figure, lmi_statue_robe.c what she wears.
 */
#ifndef LIMBER_SHAPES_STATUE_H
#define LIMBER_SHAPES_STATUE_H

#include "field.h"

#define STATUE_FLOOR 0.56 /* where her feet are, above the bottom of the plinth */

/* What cloth is at a point: a distance, and how deep in a fold it is, 0 on a ridge to 1 in a valley. */
typedef struct statue_cloth {
    double distance, shade;
} statue_cloth;

/* One fold for each unit of t: a broad ridge (0) between narrow valleys (1), with a continuous slope of 3.6 at most. */
static inline double statue_valley(double t)
{
    double u = 2.0 * fabs(field_fraction(t) - 0.5);
    return u * u * u * (4.0 - 3.0 * u);
}

/* Dress and mantle. */
statue_cloth lmi_statue_robe(field_point p);

/* At most the distance of the robe, at little cost. */
double lmi_statue_robe_bound(field_point p);

/* The end of the mantle, down from the left forearm. */
statue_cloth lmi_statue_hanging(field_point p);

#endif
