/*
 * Pushing a point of a body.
 *
 * A point is held by a grip: particles i and weights w_i (sum 1), x = sum w_i x_i. An impulse J at the point gives each
 * particle w_i J, that is a change of velocity of w_i J / m_i: the embedding transposed. Momentum is then kept exactly,
 * and angular momentum too, because sum w_i x_i is where the impulse acts.
 *
 * A stiff, well damped body would spread such a local push over itself within the substep, but the match comes too late
 * for the contacts that are solved now: a pile of stiff bodies would sink into itself, and a bounce would be taken by a
 * few particles and lost. So the share `rigid` of each push acts on the body as a whole, as on a rigid body (which keeps
 * both momenta as well), and only the rest locally. What is given to the body as a whole is collected and added to all
 * particles at the end.
 *
 * The mobility of the point, K (velocity for an impulse of 1), is the sum of both shares:
 *
 *     K = (1 - rigid) (sum w_i²/m_i) 1  +  rigid (1/M - [r]x I^-1 [r]x)
 *
 * Everything is in double precision, in the order of the contacts, and does not depend on instruction sets.
 */
#ifndef LMI_PUSH_H
#define LMI_PUSH_H

#include "world.h"

/* A point of a body: particles and weights, `stride` apart. */
typedef struct lmi_grip {
    const uint32_t *rider; /* null: the particle `single` alone */
    const float *weight;
    uint32_t count, stride;
    uint32_t single;
} lmi_grip;

/* A single particle, and a point in rows of LMI_BLOCK lanes. */
lmi_grip lmi_grip_particle(uint32_t place);
lmi_grip lmi_grip_rows(const uint32_t *rider, const float *weight, uint32_t rows);

/* A body while its contacts are solved. Masses are relative, as in v[].w. */
typedef struct lmi_push {
    lmi_body *body;
    double rigid; /* share of a push that moves the body as a whole */
    lm_dvec3 centre;
    double inverse_mass;
    dmat3 turning;           /* inverse of the inertia about the centre */
    lm_dvec3 move, turn;     /* displacement of the body as a whole, still to be added to its particles */
    lm_dvec3 velocity, spin; /* the same for velocities */
    lm_dvec3 drift;          /* of the centre, by pushes on single particles */
    bool moved;
} lmi_push;

/* `way`: how far it moves in this substep, metres. Measures the body where that is needed; then points may be pushed; then all particles get what the whole was given. */
void lmi_push_begin(lmi_push *push, lmi_body *body, double way);
void lmi_push_end(lmi_push *push);

lm_dvec3 lmi_grip_position(const lmi_push *push, const lmi_grip *grip);
lm_dvec3 lmi_grip_velocity(const lmi_push *push, const lmi_grip *grip, lm_dvec3 at);

/* The part of the mobility that does not depend on direction: (1 - rigid) sum w²/m + rigid / M. */
double lmi_grip_mobility(const lmi_push *push, const lmi_grip *grip);

/* n K n for a unit vector n at a point; `plain` is lmi_grip_mobility. */
double lmi_push_mobility(const lmi_push *push, double plain, lm_dvec3 at, lm_dvec3 n);

/* Changes positions (`shift`, metres times mass) and velocities (`impulse`) at a point. */
void lmi_push_apply(lmi_push *push, const lmi_grip *grip, lm_dvec3 at, lm_dvec3 shift, lm_dvec3 impulse);

#endif
