/*
 * Single triangles: the nearest point, where a segment passes through, whether a box is touched. Double precision.
 *
 * Queries of meshes and height maps are compiled for devices too, from the same texts (gpu/kernels/solid.cl).
 */
#ifndef LMI_TRIANGLE_H
#define LMI_TRIANGLE_H

#include "base/vec.h"

/* The memory in which the arrays of meshes and height maps lie: a device has a name for it. */
#ifndef LMI_FAR
#define LMI_FAR
#endif

typedef struct lmi_triangle {
    lm_dvec3 corner[3]; /* counter-clockwise from outside */
} lmi_triangle;

/* Not normalised: twice the area long. */
static inline lm_dvec3 lmi_triangle_normal(const lmi_triangle *t)
{
    return dvec_cross(dvec_sub(t->corner[1], t->corner[0]), dvec_sub(t->corner[2], t->corner[0]));
}

/* Whether it has an area that its edges do not lose to rounding. */
bool lmi_triangle_is_sound(const lmi_triangle *t);

/* The point of the triangle nearest to p. */
lm_dvec3 lmi_triangle_nearest(const lmi_triangle *t, lm_dvec3 p);

/* Where the segment from a to b changes sides of the triangle: the share of the way (0 to 1) in *share. A hair is added
 * around the border, so that nothing passes between two triangles that have an edge in common. A segment that starts on
 * the plane changes no side. */
bool lmi_triangle_crossed(const lmi_triangle *t, lm_dvec3 a, lm_dvec3 b, double *share);

/* Whether the triangle touches the box around the origin with these half extents (13 separating axes). */
bool lmi_triangle_touches_box(const lmi_triangle *t, lm_dvec3 half);

#endif
