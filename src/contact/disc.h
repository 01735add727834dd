/*
 * Discs on the two sides of a cut that touch each other (contact/cleft.h); the host and devices compile this text.
 */
#ifndef LMI_DISC_H
#define LMI_DISC_H

#include "base/vec.h"

/* Normals of discs that touch: cosine between them, at most. */
#define LMI_DISC_OPPOSITE (-0.3)

/* How far a point may be beside a disc's middle, and below it, in voxels. */
#define LMI_DISC_BESIDE 0.8
#define LMI_DISC_BELOW 1.5

/* How much of the body may be between two discs at rest that touch, in voxels: they may be on a blade that is bent. */
#define LMI_DISC_BACK 0.1
#define LMI_DISC_NEAR 4.0 /* voxels */

/* How deep one disc is below another, and how far beside it. */
typedef struct lmi_disc_meeting {
    lm_dvec3 normal; /* the way out of the other, unit */
    double depth, beside;
} lmi_disc_meeting;

/* d: from the one to the other; `out` and `other`: their normals, which are opposite. */
static inline lmi_disc_meeting lmi_discs_meet(lm_dvec3 d, lm_dvec3 out, lm_dvec3 other)
{
    lm_dvec3 m = dvec_sub(other, out);
    m = dvec_scale(m, 1.0 / dvec_length(m)); /* at least the root of 2.6 */
    double depth = dvec_dot(d, m);
    lmi_disc_meeting meeting = {m, depth, dvec_length(dvec_sub(d, dvec_scale(m, depth)))};
    return meeting;
}

/* Whether two discs are near each other at rest and turn their backs on each other: the body is between them, or was before it was
 * cut there too. They are not two sides of a cut. `d` and the normals as above, in the rest pose; `voxel`: its width. */
static inline bool lmi_discs_back(lm_dvec3 d, lm_dvec3 out, lm_dvec3 other, double voxel)
{
    lm_dvec3 m = dvec_sub(other, out);
    return dvec_dot(d, d) < LMI_DISC_NEAR * LMI_DISC_NEAR * voxel * voxel &&
           dvec_dot(d, m) > LMI_DISC_BACK * voxel * dvec_length(m);
}

#endif
