#include "skin/blend.h"

#include <string.h>

/* How far a point is from the middle of a region, in units of its extents; where it has none, of its largest one. */
static double remoteness(const lmi_region *region, lm_vec3 point, double scale)
{
    lm_dvec3 r = dmat_apply_transposed(&region->axes, dvec_sub(dvec_from(point), region->centre));
    double widest = region->extent[0] > 0.0 ? region->extent[0] : scale, c[3] = {r.x, r.y, r.z}, sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double extent = region->extent[k] > 0.1 * widest ? region->extent[k] : 0.1 * widest;
        sum += c[k] * c[k] / (extent * extent);
    }
    return sqrt(sum) + 1e-6;
}

uint32_t lmi_blend_point(const lmi_region *regions, uint32_t region_count, lm_vec3 point,
                         uint32_t chosen[LMI_BLEND_MOST], float weights[LMI_BLEND_MOST])
{
    /* The nearest regions and the next one after them, where the weights have fallen to zero. */
    double far[LMI_BLEND_MOST + 1], scale = 0.0, sum = 0.0, w[LMI_BLEND_MOST];
    uint32_t index[LMI_BLEND_MOST + 1], found = 0;
    for (uint32_t r = 0; r < region_count; r++) {
        scale = regions[r].extent[0] > scale ? regions[r].extent[0] : scale;
    }
    for (uint32_t r = 0; r < region_count; r++) {
        double value = remoteness(&regions[r], point, scale > 0.0 ? scale : 1.0);
        if (found == LMI_BLEND_MOST + 1 && value >= far[found - 1]) {
            continue;
        }
        uint32_t at = found < LMI_BLEND_MOST + 1 ? found++ : LMI_BLEND_MOST;
        for (; at > 0 && value < far[at - 1]; at--) {
            far[at] = far[at - 1];
            index[at] = index[at - 1];
        }
        far[at] = value;
        index[at] = r;
    }
    uint32_t count = found < LMI_BLEND_MOST ? found : LMI_BLEND_MOST;
    double edge = 2.0 * far[0];
    edge = found > LMI_BLEND_MOST && far[LMI_BLEND_MOST] < edge ? far[LMI_BLEND_MOST] : edge;
    for (uint32_t n = 0; n < count; n++) {
        double t = far[n] < edge ? (edge - far[n]) / (edge * far[n]) : 0.0;
        w[n] = t * t;
        sum += w[n];
    }
    uint32_t kept = 0;
    for (uint32_t n = 0; n < count; n++) {
        /* All equally far: the edge has come down to them. */
        double weight = sum > 0.0 ? w[n] / sum : 1.0 / count;
        if (weight > 0.0) {
            chosen[kept] = index[n];
            weights[kept++] = (float)weight;
        }
    }
    return kept;
}

void lmi_carrier_make(lmi_carrier *c, const lmi_region *region, const lm_vec3 *rest, const float *x,
                      const uint32_t *members, uint32_t member_count, const float *rotation, uint32_t stride,
                      bool quadratic)
{
    double mass = 0.0, sums[18] = {0};
    memset(c, 0, sizeof *c);
    for (uint32_t n = 0; n < member_count; n++) {
        lmi_carrier_add_centre(c, &mass, x + (size_t)members[n] * 4);
    }
    for (int i = 0; i < 3; i++) {
        c->constant[i] /= mass;
    }
    for (uint32_t n = 0; n < member_count; n++) {
        lm_dvec3 q = lmi_carrier_member(region, rest[members[n]]);
        lmi_carrier_add_moments(c, mass, x + (size_t)members[n] * 4, q, quadratic, sums);
    }
    if (quadratic) {
        lmi_carrier_add_quadratic(c, region, sums);
    }
    lmi_carrier_complete(c, region, rotation, stride);
}
