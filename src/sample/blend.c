#include "sample/blend.h"

#include <string.h>

lm_dvec3 lmi_blend_local(const lmi_region *region, lm_vec3 point)
{
    lm_dvec3 r = dmat_apply_transposed(&region->axes, dvec_sub(dvec_from(point), region->centre));
    const double *d = region->extent;
    return dvec(d[0] > 0.0 ? r.x / d[0] : r.x, d[1] > 0.0 ? r.y / d[1] : r.y, d[2] > 0.0 ? r.z / d[2] : r.z);
}

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

/* Columns of `linear` for directions without extent: unit vectors across those that have some. */
static void complete_axes(const lmi_region *region, const float *rotation, uint32_t stride, double linear[9])
{
    lm_dvec3 axis[3];
    for (uint32_t k = 0; k < 3; k++) {
        axis[k] = region->extent[k] > 0.0
                      ? dvec(linear[k], linear[3 + k], linear[6 + k])
                      : dvec(rotation[k * stride], rotation[(3 + k) * stride], rotation[(6 + k) * stride]);
    }
    if (region->extent[2] > 0.0) {
        return;
    }
    if (region->extent[1] > 0.0) { /* a sheet: across both */
        axis[2] = dvec_cross(axis[0], axis[1]);
    } else if (region->extent[0] > 0.0) { /* a string: the rotation's own, made square to it */
        double along = dvec_dot(axis[1], axis[0]) / fmax(dvec_dot(axis[0], axis[0]), 1e-30);
        axis[1] = dvec_sub(axis[1], dvec_scale(axis[0], along));
        axis[2] = dvec_cross(axis[0], axis[1]);
    }
    for (int k = 1; k < 3; k++) {
        double length = dvec_length(axis[k]);
        if (region->extent[k] == 0.0 && length > 0.0) {
            axis[k] = dvec_scale(axis[k], 1.0 / length);
        }
    }
    for (int k = 0; k < 3; k++) {
        linear[k] = axis[k].x, linear[3 + k] = axis[k].y, linear[6 + k] = axis[k].z;
    }
}

/* C, and what its functions take out of the constant and linear parts; the same as the fit's, in double precision. */
static void add_quadratic(lmi_carrier *c, const lmi_region *region, double sums[18])
{
    double constant[3] = {0}, linear[9] = {0};
    for (int i = 0; i < 3; i++) {
        double pure[6];
        for (int j = 0; j < 6; j++) {
            const float *of = region->linear[j];
            pure[j] = sums[6 * i + j] -
                      (c->linear[3 * i] * of[0] + c->linear[3 * i + 1] * of[1] + c->linear[3 * i + 2] * of[2]);
        }
        for (int j = 0; j < 6; j++) {
            double value = 0.0;
            for (int k = 0; k < 6; k++) {
                value += region->inverse_gram[j][k] * pure[k];
            }
            c->quadratic[6 * i + j] = value;
            constant[i] -= value * region->mean[j];
            for (int k = 0; k < 3; k++) {
                linear[3 * i + k] -= value * region->linear[j][k];
            }
        }
    }
    for (int i = 0; i < 9; i++) {
        c->linear[i] += linear[i];
        c->constant[i / 3] += i % 3 == 0 ? constant[i / 3] : 0.0;
    }
}

void lmi_carrier_make(lmi_carrier *c, const lmi_region *region, const lm_vec3 *rest, const float *x,
                      const uint32_t *members, uint32_t member_count, const float *rotation, uint32_t stride,
                      bool quadratic)
{
    double mass = 0.0, sums[18] = {0};
    memset(c, 0, sizeof *c);
    for (uint32_t n = 0; n < member_count; n++) {
        const float *at = x + (size_t)members[n] * 4;
        mass += at[3];
        for (int i = 0; i < 3; i++) {
            c->constant[i] += (double)at[3] * at[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        c->constant[i] /= mass;
    }
    for (uint32_t n = 0; n < member_count; n++) {
        const float *at = x + (size_t)members[n] * 4;
        lm_dvec3 q = lmi_region_local(region, rest[members[n]]);
        double f[6], local[3] = {q.x, q.y, q.z}, w = at[3] / mass;
        lmi_quadratics(q, f);
        for (int i = 0; i < 3; i++) {
            double p = w * (at[i] - c->constant[i]);
            for (int j = 0; j < 3; j++) {
                c->linear[3 * i + j] += p * local[j];
            }
            for (int j = 0; quadratic && j < 6; j++) {
                sums[6 * i + j] += p * f[j];
            }
        }
    }
    if (quadratic) {
        add_quadratic(c, region, sums);
    }
    complete_axes(region, rotation, stride, c->linear);
}

void lmi_carrier_complete(lmi_carrier *c, const lmi_region *region, const float *rotation, uint32_t stride)
{
    complete_axes(region, rotation, stride, c->linear);
}

lm_dvec3 lmi_carrier_apply(const lmi_carrier *c, lm_dvec3 q)
{
    double f[6], out[3];
    lmi_quadratics(q, f);
    for (int i = 0; i < 3; i++) {
        out[i] = c->constant[i] + c->linear[3 * i] * q.x + c->linear[3 * i + 1] * q.y + c->linear[3 * i + 2] * q.z;
        for (int j = 0; j < 6; j++) {
            out[i] += c->quadratic[6 * i + j] * f[j];
        }
    }
    return dvec(out[0], out[1], out[2]);
}
