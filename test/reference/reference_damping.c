/*
 * Regional damping, from its formulas: the velocity and spin of every region about the lever arms of its best affine map, the
 * mean of their fields, and then momentum and angular momentum of each connected part put back: by the rigid motion that has
 * what damping changed them by, taken out at the next substep, with the inertia that the part has then.
 */
#include "reference.h"

#include <math.h>
#include <stdlib.h>

static double inverse(double value) { return 1.0 / value; }

/* The spin of particles with these arms, and its matrix. */
static ref_mat inertia_of(double mass, ref_vec arm)
{
    ref_mat part = ref_mat_scale(ref_dot(arm, arm), ref_identity());
    return ref_mat_scale(mass, ref_mat_add(part, ref_mat_scale(-1.0, ref_outer(arm, arm))));
}

typedef struct region_motion {
    ref_vec rest_centre, velocity, spin;
    ref_mat map;
} region_motion;

static region_motion region_motion_of(const ref_body *body, uint32_t r, const double *weight)
{
    region_motion out = {0};
    double mass = 0.0;
    ref_vec centre = {0};
    for (uint32_t k = body->offsets[r]; k < body->offsets[r + 1]; k++) {
        uint32_t i = body->members[k];
        mass += weight[i];
        out.rest_centre = ref_add_scaled(out.rest_centre, weight[i], body->rest[i]);
        centre = ref_add_scaled(centre, weight[i], body->x[i]);
        out.velocity = ref_add_scaled(out.velocity, weight[i], body->v[i]);
    }
    out.rest_centre = ref_scale(1.0 / mass, out.rest_centre);
    out.velocity = ref_scale(1.0 / mass, out.velocity);
    centre = ref_scale(1.0 / mass, centre);
    ref_mat apq = {{{0}}}, aqq = {{{0}}}, inertia = {{{0}}};
    for (uint32_t k = body->offsets[r]; k < body->offsets[r + 1]; k++) {
        uint32_t i = body->members[k];
        ref_vec q = ref_sub(body->rest[i], out.rest_centre), p = ref_sub(body->x[i], centre);
        apq = ref_mat_add(apq, ref_mat_scale(weight[i], ref_outer(p, q)));
        aqq = ref_mat_add(aqq, ref_mat_scale(weight[i], ref_outer(q, q)));
    }
    out.map = ref_mat_mul(apq, ref_symmetric_function(aqq, 1e-9, inverse));
    ref_vec angular = {0};
    for (uint32_t k = body->offsets[r]; k < body->offsets[r + 1]; k++) {
        uint32_t i = body->members[k];
        ref_vec arm = ref_mat_vec(out.map, ref_sub(body->rest[i], out.rest_centre));
        angular = ref_add_scaled(angular, weight[i], ref_cross(arm, body->v[i]));
        inertia = ref_mat_add(inertia, inertia_of(weight[i], arm));
    }
    out.spin = ref_mat_vec(ref_symmetric_function(inertia, 1e-9, inverse), angular);
    return out;
}

/* Numbers the particles that regions join; returns how many parts there are. */
static uint32_t find_parts(const ref_body *body, uint32_t *part)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < body->count; i++) part[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t r = 0; r < body->region_count; r++) {
            uint32_t lowest = UINT32_MAX;
            for (uint32_t k = body->offsets[r]; k < body->offsets[r + 1]; k++)
                lowest = part[body->members[k]] < lowest ? part[body->members[k]] : lowest;
            for (uint32_t k = body->offsets[r]; k < body->offsets[r + 1]; k++) {
                changed = changed || part[body->members[k]] != lowest;
                part[body->members[k]] = lowest;
            }
        }
    }
    for (uint32_t i = 0; i < body->count; i++) part[i] = part[i] == i ? count++ : part[part[i]];
    return count;
}

typedef struct part_shape {
    double mass;
    ref_vec centre;
    ref_mat inertia;
} part_shape;

static part_shape part_shape_of(const ref_body *body, uint32_t which)
{
    part_shape shape = {0};
    for (uint32_t i = 0; i < body->count; i++) {
        if (body->part[i] != which) continue;
        shape.mass += body->mass[i];
        shape.centre = ref_add_scaled(shape.centre, body->mass[i], body->x[i]);
    }
    shape.centre = ref_scale(1.0 / shape.mass, shape.centre);
    for (uint32_t i = 0; i < body->count; i++)
        if (body->part[i] == which)
            shape.inertia = ref_mat_add(shape.inertia, inertia_of(body->mass[i], ref_sub(body->x[i], shape.centre)));
    return shape;
}

/* Adds to a part's debt what damping has changed its momentum by. */
static void owe(ref_body *body, uint32_t which, const ref_vec *before)
{
    ref_debt *debt = &body->debt[which];
    part_shape shape = part_shape_of(body, which);
    for (uint32_t i = 0; i < body->count; i++) {
        if (body->part[i] != which) continue;
        ref_vec gained = ref_scale(body->mass[i], ref_sub(body->v[i], before[i]));
        debt->momentum = ref_add(debt->momentum, gained);
        debt->angular = ref_add(debt->angular, ref_cross(ref_sub(body->x[i], shape.centre), gained));
    }
}

void ref_repay(ref_body *body)
{
    for (uint32_t n = 0; n < body->part_count; n++) {
        ref_debt *debt = &body->debt[n];
        part_shape shape = part_shape_of(body, n);
        ref_vec velocity = ref_scale(1.0 / shape.mass, debt->momentum);
        ref_vec spin = ref_mat_vec(ref_symmetric_function(shape.inertia, 1e-9, inverse), debt->angular);
        for (uint32_t i = 0; i < body->count; i++) {
            if (body->part[i] != n) continue;
            ref_vec turn = ref_cross(spin, ref_sub(body->x[i], shape.centre));
            body->v[i] = ref_sub(body->v[i], ref_add(velocity, turn));
        }
        debt->momentum = debt->angular = ref_v(0, 0, 0);
    }
}

void ref_damp_regions(ref_body *body, double k)
{
    double *weight = calloc(body->count, sizeof *weight), *degree = calloc(body->count, sizeof *degree);
    ref_vec *field = calloc(body->count, sizeof *field), *before = calloc(body->count, sizeof *before);
    for (uint32_t n = 0; n < body->offsets[body->region_count]; n++) degree[body->members[n]] += 1.0;
    for (uint32_t i = 0; i < body->count; i++) weight[i] = body->mass[i] / degree[i];
    for (uint32_t r = 0; r < body->region_count; r++) {
        region_motion motion = region_motion_of(body, r, weight);
        for (uint32_t n = body->offsets[r]; n < body->offsets[r + 1]; n++) {
            uint32_t i = body->members[n];
            ref_vec arm = ref_mat_vec(motion.map, ref_sub(body->rest[i], motion.rest_centre));
            ref_vec at = ref_add(motion.velocity, ref_cross(motion.spin, arm));
            field[i] = ref_add_scaled(field[i], 1.0 / degree[i], at);
        }
    }
    for (uint32_t i = 0; i < body->count; i++) {
        before[i] = body->v[i];
        body->v[i] = ref_add_scaled(body->v[i], k, ref_sub(field[i], body->v[i]));
    }
    if (body->part == NULL) {
        body->part = calloc(body->count, sizeof *body->part);
        body->part_count = find_parts(body, body->part);
        body->debt = calloc(body->part_count, sizeof *body->debt);
    }
    for (uint32_t n = 0; n < body->part_count; n++) owe(body, n, before);
    free(weight);
    free(degree);
    free(field);
    free(before);
}
