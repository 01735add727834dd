/*
 * Where a region carries what rides on it: the affine or quadratic map of its own frame that fits its particles as they are.
 *
 * Compiled by the host and, as a text of gpu/program.c, by a device: no pointers to anything but local variables.
 */
#ifndef LMI_CARRIER_H
#define LMI_CARRIER_H

#include "match/region.h"

/* Where a region carries its frame now: constant (3), linear (3x3), quadratic (3x6, zeros unless asked for). */
typedef struct lmi_carrier {
    double constant[3];
    double linear[9];
    double quadratic[18];
} lmi_carrier;

/* The rest position in a region's frame: q where the region has extent, metres where it has none. */
static inline lm_dvec3 lmi_blend_local(const lmi_region *region, lm_vec3 point)
{
    lm_dvec3 r = dmat_apply_transposed(&region->axes, dvec_sub(dvec_from(point), region->centre));
    const double *d = region->extent;
    return dvec(d[0] > 0.0 ? r.x / d[0] : r.x, d[1] > 0.0 ? r.y / d[1] : r.y, d[2] > 0.0 ? r.z / d[2] : r.z);
}

/* q of a member's rest position: 0 where the region has no extent. */
static inline lm_dvec3 lmi_carrier_member(const lmi_region *region, lm_vec3 rest)
{
    lm_dvec3 q = dmat_apply_transposed(&region->axes, dvec_sub(dvec_from(rest), region->centre));
    return dvec(region->extent[0] > 0.0 ? q.x / region->extent[0] : 0.0,
                region->extent[1] > 0.0 ? q.y / region->extent[1] : 0.0,
                region->extent[2] > 0.0 ? q.z / region->extent[2] : 0.0);
}

/* Two passes over the members, each x y z and weight in fits: the centre, then the moments about it. */
static inline void lmi_carrier_add_centre(lmi_carrier *c, double *mass, const float at[4])
{
    *mass += at[3];
    for (int i = 0; i < 3; i++) {
        c->constant[i] += (double)at[3] * at[i];
    }
}

static inline void lmi_carrier_add_moments(lmi_carrier *c, double mass, const float at[4], lm_dvec3 q, bool quadratic,
                                           double sums[18])
{
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

/* C, and what its functions take out of the constant and linear parts; the same as the fit's, in double precision. */
static inline void lmi_carrier_add_quadratic(lmi_carrier *c, const lmi_region *region, const double sums[18])
{
    double constant[3] = {0.0, 0.0, 0.0}, linear[9] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
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

/* The directions in which a region has no extent: unit vectors across the others, or where those do not say the rotation's (9
 * floats `stride` apart). */
static inline void lmi_carrier_complete(lmi_carrier *c, const lmi_region *region, const float *rotation,
                                        uint32_t stride)
{
    double *linear = c->linear;
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
        double along = dvec_dot(axis[1], axis[0]) / lmi_max(dvec_dot(axis[0], axis[0]), 1e-30);
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

static inline lm_dvec3 lmi_carrier_apply(const lmi_carrier *c, lm_dvec3 q)
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

#endif
