/*
 * How single particles are pulled and held: pins, drags and bones. One text for the host (motion.c, bones.c) and for devices
 * (gpu/kernels/held.cl), in double precision. x and v are the three coordinates of a particle.
 */
#ifndef LMI_HELD_H
#define LMI_HELD_H

#include "base/vec.h"

/* v += change, within LM_MAX_SPEED; returns what was really added. */
static inline lm_dvec3 lmi_change_velocity(float *v, lm_dvec3 change)
{
    const double add[3] = {change.x, change.y, change.z};
    double done[3];
    for (int i = 0; i < 3; i++) {
        double wish = v[i] + add[i];
        float now = (float)(wish > LM_MAX_SPEED ? LM_MAX_SPEED : wish < -LM_MAX_SPEED ? -LM_MAX_SPEED : wish);
        done[i] = (double)now - v[i];
        v[i] = now;
    }
    return dvec(done[0], done[1], done[2]);
}

/* A particle that has moved already goes on by h times the change of its velocity. */
static inline void lmi_move_on(float *x, lm_dvec3 change, double h)
{
    const float way[3] = {(float)(h * change.x), (float)(h * change.y), (float)(h * change.z)};
    for (int i = 0; i < 3; i++) {
        float to = x[i] + way[i];
        to = to < LM_MAX_COORDINATE ? to : LM_MAX_COORDINATE;
        x[i] = to > -LM_MAX_COORDINATE ? to : -LM_MAX_COORDINATE;
    }
}

/* Puts a particle where it belongs, with the velocity that it should have there; returns what its velocity changed by. */
static inline lm_dvec3 lmi_hold_particle(float *x, float *v, lm_dvec3 origin, lm_dvec3 target, lm_dvec3 velocity)
{
    lm_vec3 at = vec_from(dvec_limit(dvec_sub(target, origin), LM_MAX_COORDINATE));
    lm_vec3 to = vec_from(dvec_limit(velocity, LM_MAX_SPEED));
    lm_dvec3 change = dvec((double)to.x - v[0], (double)to.y - v[1], (double)to.z - v[2]);
    x[0] = at.x, x[1] = at.y, x[2] = at.z;
    v[0] = to.x, v[1] = to.y, v[2] = to.z;
    return change;
}

/* --- what carries a target: a mover, or a bone --- */

typedef struct lmi_holder {
    dmat3 rotation;
    lm_dvec3 position, velocity, spin;
} lmi_holder;

/* Where a point of its frame is, and how that moves. */
static inline lm_dvec3 lmi_carry(const lmi_holder *c, lm_dvec3 place, lm_dvec3 *velocity)
{
    lm_dvec3 arm = dmat_apply(&c->rotation, place);
    *velocity = dvec_add(c->velocity, dvec_cross(c->spin, arm));
    return dvec_add(c->position, arm);
}

/* --- bones --- */

/* A spring to a target that moves, stepped implicitly (bones.c has the equation); returns the change of velocity. `weight` is
 * below 1; `base` is 2 pi times the spring's frequency at weight 1/2. */
static inline lm_dvec3 lmi_pull_particle(float *x, float *v, lm_dvec3 origin, lm_dvec3 target, lm_dvec3 moves,
                                         double weight, double base, double damping_ratio, double h)
{
    double omega = base * sqrt(weight / (1.0 - weight));
    double spring = h * omega * omega, brake = 2.0 * h * damping_ratio * omega;
    lm_dvec3 speed = dvec(v[0], v[1], v[2]);
    lm_dvec3 from = dvec(x[0] - h * v[0], x[1] - h * v[1], x[2] - h * v[2]);
    lm_dvec3 way = dvec_sub(dvec_limit(dvec_sub(target, origin), LM_MAX_COORDINATE), from);
    lm_dvec3 wish = dvec_add(dvec_add(speed, dvec_scale(way, spring)), dvec_scale(moves, brake));
    lm_dvec3 change = dvec_sub(dvec_scale(wish, 1.0 / (1.0 + h * spring + brake)), speed);
    lm_dvec3 done = lmi_change_velocity(v, change);
    lmi_move_on(x, done, h);
    return done;
}

/* --- drags --- */

/* Of the particles that a drag pulls: their weighted mean, where it came from and how it moves; and its speed for an impulse of
 * 1, relative mass. */
typedef struct lmi_dragged {
    lm_dvec3 x, v;
    double mobility;
} lmi_dragged;

static inline void lmi_drag_weigh(lmi_dragged *d, const float *x, const float *v, float mass, float weight, double h)
{
    double share = weight * mass;
    lm_dvec3 from = dvec(x[0] - h * v[0], x[1] - h * v[1], x[2] - h * v[2]);
    d->x = dvec_add(d->x, dvec_scale(from, share));
    d->v = dvec_add(d->v, dvec_scale(dvec(v[0], v[1], v[2]), share));
    d->mobility += share * weight;
}

/* What a drag is: its spring counts as if it held the whole body. */
typedef struct lmi_drag_spring {
    lm_dvec3 target; /* from the body's origin */
    double hertz, damping_ratio, max_force;
    double whole, mean_mass; /* of the body: relative mass, and the unit of that in kilograms */
} lmi_drag_spring;

/* The impulse of a substep, relative mass. */
static inline lm_dvec3 lmi_drag_impulse(const lmi_drag_spring *s, const lmi_dragged *d, double h)
{
    double omega = 6.283185307179586 * s->hertz;
    double stiffness = s->whole * omega * omega, damping = 2.0 * s->damping_ratio * omega * s->whole;
    lm_dvec3 stretch = dvec_sub(dvec_limit(s->target, LM_MAX_COORDINATE), d->x);
    lm_dvec3 wish = dvec_sub(dvec_scale(stretch, h * stiffness), dvec_scale(d->v, h * (damping + h * stiffness)));
    lm_dvec3 impulse = dvec_scale(wish, 1.0 / (1.0 + d->mobility * h * (damping + h * stiffness)));
    double size = dvec_length(impulse) * s->mean_mass, most = s->max_force * h;
    return size > most ? dvec_scale(impulse, most / size) : impulse;
}

#endif
