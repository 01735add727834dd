/*
 * An end as a rigid body: the sums over the particles of a patch, or the motion of a mover or a bone.
 *
 * The frame R of a patch is the rotation nearest to A = sum m r q^T (r, q: where a particle is and was at rest, from the centres). With
 * p = R q, A R^T = sum m r p^T is symmetric, S, and moving the particles by dx turns the frame by
 *
 *     dw = G^-1 sum m p x dx,    G = tr(S) - S
 *
 * so the spin of a patch is that of its frame, and a moment T changes velocities by dv_i = (G^-1 T) x p_i: the virtual work of T is that
 * of the frame's turn, and the angular momentum given is sum m r x dv = G G^-1 T = T. In a patch that is not deformed G is the inertia
 * and p is r. In one that is, the motion of r as a rigid body would be another than that of the frame: a spring that holds the frame
 * then did work that nobody paid, and gave a patch that was pulled flat ever more speed.
 *
 * Reads particles, movers and bones; writes velocities and positions of particles. In double precision, particle by particle.
 */
#include "base/rotation.h"
#include "collide/rigid.h"
#include "joint/joint.h"
#include "skeleton/skeleton.h"
#include "world/in_step.h"
#include "world/motion.h"

#include <string.h>

/* The velocity of a particle is changed by no more by turning its patch once, metres a second. */
#define FASTEST_TURN 1e4

/* Where a particle was h seconds ago, but not before a solid cut short its way. */
static lm_dvec3 from_of(const lmi_body *body, uint32_t place, double h)
{
    h = lmi_body_went(body, h);
    const float *x = body->x + (size_t)place * 4, *v = body->v + (size_t)place * 4;
    return dvec(x[0] - h * v[0], x[1] - h * v[1], x[2] - h * v[2]);
}

/* Where a particle of a patch is at rest, from the centre of the patch, turned as its frame is. */
static lm_dvec3 rest_of(const lmi_side *s, uint32_t place)
{
    return dmat_apply(&s->rotation, dvec_sub(dvec_from(s->body->rest[place]), s->rest));
}

static double mass_of(const lmi_body *body, uint32_t place)
{
    return (double)body->v[(size_t)place * 4 + 3] * body->mean_mass;
}

static bool has(const lmi_joint_end *end, uint32_t particle)
{
    for (uint32_t i = 0; i < end->count; i++) {
        if (end->particles[i] == particle) {
            return true;
        }
    }
    return false;
}

/* Whether a pin or a bone holds a particle of the patch, and nothing pushes that. */
static bool is_held(const lm_world *world, const lmi_body *body, const lmi_joint_end *end)
{
    const lmi_skeleton *s =
        body->skeleton != LMI_NONE ? LMI_POOL_AT(&world->skeletons, lmi_skeleton, body->skeleton) : NULL;
    for (uint32_t n = 0; s && n < s->particle_count; n++) {
        if (s->weights[n] >= 1.0f && has(end, s->particles[n]) && !lmi_bones_yield(world, s, n)) {
            return true;
        }
    }
    for (uint32_t n = body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&world->pins, lmi_pin, n)->next) {
        const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        for (uint32_t k = 0; !pin->yields && k < pin->count; k++) {
            if (has(end, pin->particles[k])) {
                return true;
            }
        }
    }
    return false;
}

/* A symmetric matrix times a vector. */
static lm_dvec3 apply(const double a[6], lm_dvec3 v)
{
    return dvec(a[0] * v.x + a[3] * v.y + a[5] * v.z, a[3] * v.x + a[1] * v.y + a[4] * v.z,
                a[5] * v.x + a[4] * v.y + a[2] * v.z);
}

lm_dvec3 lmi_side_turn(const lmi_side *s, lm_dvec3 moment)
{
    if (s->body) {
        return apply(s->turning, apply(s->inertia, apply(s->turning, moment)));
    }
    return s->mover ? lmi_dmat_solve_spin(s->inertia, moment) : lm_dvec3_zero();
}

void lmi_side_look(lmi_side *s, const lmi_joint_end *end)
{
    const lmi_body *body = s->body;
    if (s->mover) {
        s->spin = dvec_from(s->mover->spin);
        s->velocity = dvec_add(dvec_from(s->mover->velocity), dvec_cross(s->spin, s->offset));
    }
    if (!body) {
        return;
    }
    lm_dvec3 momentum = lm_dvec3_zero(), angular = lm_dvec3_zero();
    for (uint32_t n = 0; n < end->count; n++) {
        const float *v = body->v + (size_t)end->particles[n] * 4;
        lm_dvec3 p = dvec_scale(dvec(v[0], v[1], v[2]), mass_of(body, end->particles[n]));
        momentum = dvec_add(momentum, p);
        angular = dvec_add(angular, dvec_cross(rest_of(s, end->particles[n]), p));
    }
    s->velocity = dvec_scale(momentum, s->inverse_mass);
    s->spin = apply(s->turning, angular);
}

/* Axes about which the frame of a patch is this much less certain than at rest do not turn. */
#define LEAST_TURNING 4e-7
#define LEAST_CERTAIN 1e-8

/* G^-1, where there is one: about axes about which the frame is well determined. */
static void find_turning(const dmat3 *a, lmi_side *s)
{
    double g[9], values[3], axes[9], trace = 0.0, size = s->inertia[0] + s->inertia[1] + s->inertia[2];
    for (int i = 0; i < 9; i++) {
        const double *one = s->rotation.m[i % 3], *from = a->m[i / 3];
        g[i] = from[0] * one[0] + from[1] * one[1] + from[2] * one[2];
        trace += i % 4 == 0 ? g[i] : 0.0;
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < i; k++) {
            g[3 * i + k] = g[3 * k + i] = -0.5 * (g[3 * i + k] + g[3 * k + i]);
        }
        g[4 * i] = trace - g[4 * i];
    }
    lmi_symmetric_eigen(3, g, values, axes);
    memset(s->turning, 0, sizeof s->turning);
    for (int n = 0; n < 3; n++) {
        lm_dvec3 d = dvec(axes[n], axes[3 + n], axes[6 + n]);
        double about = dvec_dot(d, apply(s->inertia, d)), value = values[n];
        if (value > LEAST_TURNING * size && value * value > LEAST_CERTAIN * size * about) {
            s->turning[0] += d.x * d.x / value;
            s->turning[1] += d.y * d.y / value;
            s->turning[2] += d.z * d.z / value;
            s->turning[3] += d.x * d.y / value;
            s->turning[4] += d.y * d.z / value;
            s->turning[5] += d.z * d.x / value;
        }
    }
}

/* Centre and frame of a patch, its inertia at rest in the directions of that frame, and how it turns. */
static void measure(const lmi_body *body, const lmi_joint_end *end, double h, lmi_side *s)
{
    lm_dvec3 centre = lm_dvec3_zero(), rest = lm_dvec3_zero();
    dmat3 a = {{{0}}};
    double mass = 0.0;
    for (uint32_t n = 0; n < end->count; n++) {
        double m = mass_of(body, end->particles[n]);
        mass += m;
        centre = dvec_add(centre, dvec_scale(from_of(body, end->particles[n], h), m));
        rest = dvec_add(rest, dvec_scale(dvec_from(body->rest[end->particles[n]]), m));
    }
    centre = dvec_scale(centre, 1.0 / mass);
    s->rest = dvec_scale(rest, 1.0 / mass);
    for (uint32_t n = 0; n < end->count; n++) {
        lm_dvec3 r = dvec_sub(from_of(body, end->particles[n], h), centre);
        lm_dvec3 q = dvec_sub(dvec_from(body->rest[end->particles[n]]), s->rest);
        double m = mass_of(body, end->particles[n]);
        const double x[3] = {m * r.x, m * r.y, m * r.z}, y[3] = {q.x, q.y, q.z};
        for (int i = 0; i < 9; i++) {
            a.m[i / 3][i % 3] += x[i / 3] * y[i % 3];
        }
    }
    s->inverse_mass = 1.0 / mass;
    s->centre = dvec_add(body->origin, centre);
    s->rotation = lmi_dmat_nearest_rotation(&a);
    memset(s->inertia, 0, sizeof s->inertia);
    for (uint32_t n = 0; n < end->count; n++) {
        lm_dvec3 p = rest_of(s, end->particles[n]);
        double m = mass_of(body, end->particles[n]);
        s->reach = lmi_max(s->reach, dvec_length(p));
        lmi_inertia_add(s->inertia, m, p);
    }
    find_turning(&a, s);
}

static lmi_side side_of_patch(const lm_world *world, const lmi_joint_end *end, double h)
{
    lmi_side s = {.body = lmi_body_in_step((lm_world *)(uintptr_t)world, end->body)};
    measure(s.body, end, h, &s);
    lmi_side_look(&s, end);
    if (s.body->asleep || is_held(world, s.body, end)) {
        s.body = NULL;
        s.inverse_mass = 0.0;
        memset(s.inertia, 0, sizeof s.inertia);
    }
    return s;
}

/* A mover, a bone or the world: where it is now, put back by h seconds of its motion. */
static lmi_side side_of_holder(const lm_world *world, const lmi_joint_end *end, double h)
{
    lmi_holder holder = {.rotation = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}};
    if (end->mover != LMI_NONE) {
        holder = lmi_mover_carries(LMI_POOL_AT(&world->movers, lmi_mover, end->mover));
    } else if (end->skeleton != LMI_NONE) {
        const lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, end->skeleton);
        holder = lmi_bone_carries(&s->bones[end->bone]);
    }
    dmat3 back = lmi_dmat_from_rotation_vector(dvec_scale(holder.spin, -h));
    lmi_side s = {.centre = dvec_sub(holder.position, dvec_scale(holder.velocity, h)),
                  .rotation = lmi_dmat_multiply(&back, &holder.rotation),
                  .velocity = holder.velocity,
                  .spin = holder.spin};
    lmi_mover *mover = end->mover != LMI_NONE ? LMI_POOL_AT(&world->movers, lmi_mover, end->mover) : NULL;
    if (mover && lmi_rigid_yields(mover)) {
        lmi_rigid_whole all = lmi_rigid_with_carried(mover, &s.rotation);
        s.mover = mover;
        s.inverse_mass = 1.0 / all.mass;
        s.offset = all.offset;
        memcpy(s.inertia, all.inertia, sizeof s.inertia);
    }
    return s;
}

lmi_side lmi_side_of(const lm_world *world, const lmi_joint_end *end, double h)
{
    lmi_side s = end->body != LMI_NONE ? side_of_patch(world, end, h) : side_of_holder(world, end, h);
    s.anchor = dvec_add(s.centre, dmat_apply(&s.rotation, end->anchor));
    s.frame = lmi_dmat_multiply(&s.rotation, &end->frame);
    s.centre = dvec_add(s.centre, s.offset);
    return s;
}

void lmi_side_give(const lmi_side *s, const lmi_joint_end *end, lm_dvec3 impulse, lm_dvec3 moment, double h)
{
    lmi_body *body = s->body;
    if (!body && !s->mover) {
        return;
    }
    lm_dvec3 move = dvec_scale(impulse, s->inverse_mass);
    if (s->mover) { /* it has moved already, and goes on by what changes */
        lm_dvec3 turn = lmi_side_turn(s, moment);
        move = dvec_limit(move, 2.0 * LM_MAX_SPEED); /* no speed changes by more */
        move = dvec_sub(move, dvec_cross(turn, s->offset));
        lmi_rigid_push(s->mover, move, turn);
        lmi_rigid_move(s->mover, dvec_scale(move, h), dvec_scale(turn, h));
        return;
    }
    lm_dvec3 turn = apply(s->turning, moment);
    /* A turn moves no mass as a whole. What LM_MAX_SPEED cuts off of it would: half a patch of a light body that a joint drags along. */
    double fast = s->reach * dvec_length(turn);
    turn = fast > FASTEST_TURN ? dvec_scale(turn, FASTEST_TURN / fast) : turn;
    for (uint32_t n = 0; n < end->count; n++) {
        float *x = body->x + (size_t)end->particles[n] * 4, *v = body->v + (size_t)end->particles[n] * 4;
        lm_dvec3 done = lmi_change_velocity(v, dvec_add(move, dvec_cross(turn, rest_of(s, end->particles[n]))));
        lmi_move_on(x, done, lmi_body_went(body, h));
    }
}
