/*
 * Blending: a point of the rest pose as a rider on several regions.
 */
#ifndef LMI_BLEND_H
#define LMI_BLEND_H

#include "sample/region.h"

#define LMI_BLEND_MOST 12 /* regions a point rides on: more than meet at the corner of a grid of cells */

/* The regions a rest position rides on and their weights (sum 1); returns how many. The weights change smoothly with the
 * position, and are zero where a region comes into or goes out of the choice. At least one region. */
uint32_t lmi_blend_point(const lmi_region *regions, uint32_t region_count, lm_vec3 point,
                         uint32_t chosen[LMI_BLEND_MOST], float weights[LMI_BLEND_MOST]);

/* The rest position in a region's frame: q where the region has extent, metres where it has none. */
lm_dvec3 lmi_blend_local(const lmi_region *region, lm_vec3 point);

/* Where a region carries its frame now: constant (3), linear (3x3), quadratic (3x6, zeros unless asked for). */
typedef struct lmi_carrier {
    double constant[3];
    double linear[9];
    double quadratic[18];
} lmi_carrier;

/* From the particles as they are: `x` are records of four floats, the fourth the weight in fits; `rotation` (9 floats
 * `stride` apart) stands in for directions that the particles do not show. */
void lmi_carrier_make(lmi_carrier *carrier, const lmi_region *region, const lm_vec3 *rest, const float *x,
                      const uint32_t *members, uint32_t member_count, const float *rotation, uint32_t stride,
                      bool quadratic);

/* The directions in which a region has no extent: unit vectors across the others, or where those do not say the rotation's. */
void lmi_carrier_complete(lmi_carrier *carrier, const lmi_region *region, const float *rotation, uint32_t stride);

lm_dvec3 lmi_carrier_apply(const lmi_carrier *carrier, lm_dvec3 local);

#endif
