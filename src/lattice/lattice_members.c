/*
 * The regions of a lattice one by one, for callers: their members, their affine fits, and their stiffness.
 *
 * A step never lists them (lattice/lattice.h). Here each is found again in the cube around its particle, which takes as long
 * as it has members. Regions come in the order of the caller's particles; repetitions are left out.
 */
#include "lattice/lattice_members.h"

#include "base/dmath.h"

#include <string.h>

#define SIDE (2 * LMI_LATTICE_MAX_WIDTH + 1)

static bool is_region(const lmi_lattice *l, uint32_t place)
{
    return l->active[place / LMI_BLOCK] >> (place % LMI_BLOCK) & 1;
}

void lmi_lattice_regions(const lmi_body *body, uint32_t *offsets, uint32_t *members)
{
    const lmi_lattice *l = &body->lattice->shape;
    uint32_t region = 0, used = 0;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        uint32_t in[SIDE * SIDE * SIDE];
        if (!is_region(l, body->place[n])) {
            continue;
        }
        uint32_t count = lmi_lattice_region(l, body->place[n], in);
        for (uint32_t k = 0; members && k < count; k++) {
            members[used + k] = body->order[in[k]];
        }
        if (offsets) {
            offsets[region++] = used;
        }
        used += count;
    }
    if (offsets) {
        offsets[region] = used;
    }
}

/* --- fits --- */

#define LEAST_SPREAD 1e-6 /* of the widest: a region that is thinner than a thousandth of its length is flat */

/* What a flat region (rank 2), a line (1) or a single particle (0) says nothing of, as a rigid body would have it. `e` are the axes of
 * the rest shape, `to` where they are carried, of which the first `rank` are known. */
static void complete(const lm_dvec3 e[3], lm_dvec3 to[3], int rank)
{
    lm_dvec3 along = rank > 0 ? to[0] : e[0], side = rank > 1 ? dvec_cross(to[0], to[1]) : lm_dvec3_zero();
    double long_one = dvec_length(along), area = dvec_length(side);
    if (rank == 2 && area > 1e-9 * (long_one * long_one + dvec_dot(to[1], to[1]))) {
        double sign = dvec_dot(dvec_cross(e[0], e[1]), e[2]);
        to[2] = dvec_scale(side, (sign < 0.0 ? -1.0 : 1.0) / area);
        return;
    }
    /* The shortest turn from the first axis to where it is carried. */
    dmat3 turn = lmi_dmat_from_rotation_vector(lm_dvec3_zero());
    lm_dvec3 axis = dvec_cross(e[0], along);
    double sine = dvec_length(axis), cosine = dvec_dot(e[0], along);
    if (long_one > 0.0 && (sine > 0.0 || cosine < 0.0)) {
        double angle = lmi_acos(fmin(fmax(cosine / long_one, -1.0), 1.0));
        turn = lmi_dmat_from_rotation_vector(dvec_scale(sine > 0.0 ? axis : e[1], angle / (sine > 0.0 ? sine : 1.0)));
    }
    for (int k = rank > 0 ? 1 : 0; k < 3; k++) {
        to[k] = dmat_apply(&turn, e[k]);
    }
}

/* a = b q^-1, where q may be of any rank: regions of a lattice that has broken may be flat, or single particles. */
static void divide(double b[3][3], double q[3][3], double a[3][3])
{
    double copy[9], spread[3], v[9];
    memcpy(copy, q, sizeof copy);
    lmi_symmetric_eigen(3, copy, spread, v);
    int rank = 0;
    while (rank < 3 && spread[rank] > LEAST_SPREAD * spread[0]) {
        rank++;
    }
    if (rank == 3) {
        lmi_matrix_divide(b, q, a);
        return;
    }
    lm_dvec3 e[3], to[3];
    for (int k = 0; k < 3; k++) {
        e[k] = dvec(v[k], v[3 + k], v[6 + k]);
        dmat3 map;
        memcpy(map.m, b, sizeof map.m);
        to[k] = k < rank ? dvec_scale(dmat_apply(&map, e[k]), 1.0 / spread[k]) : lm_dvec3_zero();
    }
    complete(e, to, rank);
    for (int i = 0; i < 9; i++) {
        a[i / 3][i % 3] = 0.0;
        for (int k = 0; k < 3; k++) {
            const double from[3] = {e[k].x, e[k].y, e[k].z}, image[3] = {to[k].x, to[k].y, to[k].z};
            a[i / 3][i % 3] += image[i / 3] * from[i % 3];
        }
    }
}

/* The best affine map of a region's rest positions to where its particles are. */
static void fit(const lmi_body *body, uint32_t place, lm_dvec3 from, lm_region_transform *out)
{
    uint32_t in[SIDE * SIDE * SIDE], count = lmi_lattice_region(&body->lattice->shape, place, in);
    lm_dvec3 rest = lm_dvec3_zero(), at = rest;
    double mass = 0.0, b[3][3] = {{0}}, q[3][3] = {{0}}, a[3][3];
    for (uint32_t n = 0; n < count; n++) {
        const float *x = body->x + (size_t)in[n] * 4;
        mass += x[3];
        rest = dvec_add(rest, dvec_scale(dvec_from(body->rest[in[n]]), x[3]));
        at = dvec_add(at, dvec_scale(dvec(x[0], x[1], x[2]), x[3]));
    }
    rest = dvec_scale(rest, 1.0 / mass);
    at = dvec_scale(at, 1.0 / mass);
    for (uint32_t n = 0; n < count; n++) {
        const float *x = body->x + (size_t)in[n] * 4;
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[in[n]]), rest), p = dvec_sub(dvec(x[0], x[1], x[2]), at);
        double to[3] = {p.x, p.y, p.z}, is[3] = {d.x, d.y, d.z};
        for (int i = 0; i < 9; i++) {
            b[i / 3][i % 3] += x[3] * to[i / 3] * is[i % 3];
            q[i / 3][i % 3] += x[3] * is[i / 3] * is[i % 3];
        }
    }
    divide(b, q, a);
    memset(out, 0, sizeof *out);
    out->centre = vec_from(rest);
    out->constant = vec_from(dvec_add(from, at));
    for (int i = 0; i < 9; i++) {
        out->linear[i] = (float)a[i / 3][i % 3];
    }
}

void lmi_lattice_transforms(const lmi_body *body, lm_dvec3 from, lm_region_transform *transforms)
{
    uint32_t region = 0;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        if (is_region(&body->lattice->shape, body->place[n])) {
            fit(body, body->place[n], from, &transforms[region++]);
        }
    }
}

/* --- stiffness --- */

void lmi_lattice_stiffness_of(const lmi_body *body, const float *values, float *shares)
{
    uint32_t region = 0;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        uint32_t in[SIDE * SIDE * SIDE];
        double sum = 0.0, mass = 0.0;
        if (!is_region(&body->lattice->shape, body->place[n])) {
            continue;
        }
        uint32_t count = lmi_lattice_region(&body->lattice->shape, body->place[n], in);
        for (uint32_t k = 0; k < count; k++) {
            sum += (double)values[body->order[in[k]]] * body->mass[in[k]];
            mass += body->mass[in[k]];
        }
        float share = (float)(sum / mass);
        shares[region++] = share > 1.0f ? 1.0f : share;
    }
}

void lmi_lattice_stiffness_by_place(const lmi_body *body, float *by_place)
{
    uint32_t region = 0;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        uint32_t place = body->place[n];
        by_place[place] = is_region(&body->lattice->shape, place) ? body->stiffness[region++] : 0.0f;
    }
}
