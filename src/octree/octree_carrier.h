/*
 * Where a leaf of an octree carries what is around it, from sums over the leaves of its region.
 *
 * Compiled by the host and, as a text of gpu/program.c, by a device: no pointers to anything but local variables.
 */
#ifndef LMI_OCTREE_CARRIER_H
#define LMI_OCTREE_CARRIER_H

#include "match/carrier.h"

/* Sums over leaves: w, w x (3), w x0 (3), w x x0^T (9). In double precision these may be taken from the origin. */
enum { LMI_OCTREE_WEIGHT, LMI_OCTREE_FIRST = 1, LMI_OCTREE_REST = 4, LMI_OCTREE_SECOND = 7 };

/* A leaf's particle: x y z and weight in fits, and where it is at rest. */
static inline void lmi_octree_carrier_add(const float x[4], lm_vec3 at_rest, double sums[16])
{
    const double rest[3] = {at_rest.x, at_rest.y, at_rest.z};
    sums[LMI_OCTREE_WEIGHT] += x[3];
    for (int i = 0; i < 3; i++) {
        sums[LMI_OCTREE_FIRST + i] += (double)x[3] * x[i];
        sums[LMI_OCTREE_REST + i] += x[3] * rest[i];
        for (int k = 0; k < 3; k++) {
            sums[LMI_OCTREE_SECOND + 3 * i + k] += (double)x[3] * x[i] * rest[k];
        }
    }
}

/* `x` and `rest` are the leaf's own: its place is where its particle is. `rotation`: 9 floats `stride` apart. */
static inline void lmi_octree_carrier_make(const lmi_region *region, const double sums[16], const float x[4],
                                           lm_vec3 rest, const float *rotation, uint32_t stride, lmi_carrier *c)
{
    double apq[9];
    for (int i = 0; i < 18; i++) {
        c->constant[i % 3] = c->linear[i % 9] = c->quadratic[i] = 0.0;
    }
    for (int i = 0; i < 9; i++) {
        apq[i] = sums[LMI_OCTREE_SECOND + i] -
                 sums[LMI_OCTREE_FIRST + i / 3] * sums[LMI_OCTREE_REST + i % 3] / sums[LMI_OCTREE_WEIGHT];
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3 && region->extent[k] > 0.0; k++) {
            c->linear[3 * i + k] = (apq[3 * i] * region->axes.m[0][k] + apq[3 * i + 1] * region->axes.m[1][k] +
                                    apq[3 * i + 2] * region->axes.m[2][k]) /
                                   (region->extent[k] * sums[LMI_OCTREE_WEIGHT]);
        }
    }
    lmi_carrier_complete(c, region, rotation, stride);
    lm_dvec3 at = lmi_carrier_apply(c, lmi_blend_local(region, rest));
    c->constant[0] = x[0] - at.x;
    c->constant[1] = x[1] - at.y;
    c->constant[2] = x[2] - at.z;
}

#endif
