/*
 * Blending: a point of the rest pose as a rider on several regions.
 */
#ifndef LMI_BLEND_H
#define LMI_BLEND_H

#include "match/carrier.h"

#define LMI_BLEND_MOST 12 /* regions a point rides on: more than meet at the corner of a grid of cells */

/* The regions a rest position rides on and their weights (sum 1); returns how many. The weights change smoothly with the
 * position, and are zero where a region comes into or goes out of the choice. At least one region. */
uint32_t lmi_blend_point(const lmi_region *regions, uint32_t region_count, lm_vec3 point,
                         uint32_t chosen[LMI_BLEND_MOST], float weights[LMI_BLEND_MOST]);

/* From the particles as they are: `x` are records of four floats, the fourth the weight in fits; `rotation` (9 floats
 * `stride` apart) stands in for directions that the particles do not show. */
void lmi_carrier_make(lmi_carrier *carrier, const lmi_region *region, const lm_vec3 *rest, const float *x,
                      const uint32_t *members, uint32_t member_count, const float *rotation, uint32_t stride,
                      bool quadratic);

#endif
