/*
 * A body as a whole: the parts of predict and integrate that are done once a body, in double precision.
 */
#ifndef LMI_MOTION_H
#define LMI_MOTION_H

#include "world/held.h"
#include "world/world.h"

/* The velocity change that gravity, uniform fields and forces on the whole body make in this substep. Counts the impulse. */
lm_vec3 lmi_uniform_change(const lmi_step *step, lmi_body *body);

/* Forces on single particles, for this substep. */
void lmi_particle_forces(const lmi_step *step, lmi_body *body);

/* Seconds in which particles came where they are: h, or less where a solid has cut short their way (contact/halt.h). */
static inline double lmi_body_went(const lmi_body *body, double h) { return body->halted ? body->moved * h : h; }

/* The body's drags, after the particles have moved: changes velocities, and positions as far as those changes carry. */
void lmi_drags_apply(const lmi_step *step, lmi_body *body);

/* The match gave a body with pins momentum (N s), and angular momentum about a point (from the body's origin): in a fit what is held
 * weighs more than it does. The pins bear it. */
void lmi_pins_bear(lmi_body *body, lm_dvec3 impulse, lm_dvec3 moment, lm_dvec3 about);

/* The body's pins, at the end of this substep; and a mover as what carries them. */
void lmi_pins_apply(const lmi_step *step, lmi_body *body);
lmi_holder lmi_mover_carries(const lmi_mover *mover);

/* Whether what a pin holds is carried by a mover with mass (joint/hold.h). */
bool lmi_pin_is_pushed(const lm_world *world, const lmi_pin *pin);

/* A motion from the sums over matched particles, positions taken from `at` and velocities from `from`: mass, m r, m u,
 * r x m u, m r r (xx yy zz xy yz zx). */
void lmi_motion_solve(lmi_motion *motion, lm_vec3 at, lm_vec3 from, double mass, const double first[3],
                      const double momentum[3], const double angular[3], const double second[6]);

/* Whether this substep is damped: sets damping_now. Once a substep. */
void lmi_damping_turn(lmi_body *body);

/* The rigid motion (velocity and spin) with this momentum and angular momentum about the centre. */
void lmi_motion_of(const lmi_motion *motion, lm_dvec3 momentum, lm_dvec3 angular, lm_vec3 *velocity, lm_vec3 *spin);

/* A body that is stretched to several times its size, or would return from there faster than LM_MAX_SPEED. */
bool lmi_is_overstretched(const lmi_step *step, const lmi_body *body);

/* Of such a body before it is pulled: takes out spin that is nothing but rounding (motion.c). */
void lmi_quiet_rounding(const lmi_step *step, lmi_body *body);

/* The share of its deformation velocity that it keeps, once it is pulled: 1, or less where it would exceed LM_MAX_SPEED or
 * is torn from its goals. `pull` is lmi_scratch.pull, `velocity` and `spin` the motion as a whole in it. */
float lmi_overstretch_keeps(const lmi_step *step, const lmi_body *body, const float *pull, lm_vec3 velocity,
                            lm_vec3 spin);

#ifdef LMI_LANES
/* The sum over the LMI_BLOCK lanes of a block, in their order. */
static inline double lmi_sum_lanes(const vf pieces[LMI_PIECES])
{
    _Alignas(64) float lane[LMI_BLOCK];
    for (int piece = 0; piece < LMI_PIECES; piece++) {
        vf_store(lane + piece * LMI_LANES, pieces[piece]);
    }
    double sum[4] = {lane[0], lane[1], lane[2], lane[3]};
    for (int k = 4; k < LMI_BLOCK; k += 4) {
        sum[0] += lane[k];
        sum[1] += lane[k + 1];
        sum[2] += lane[k + 2];
        sum[3] += lane[k + 3];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
#endif

#endif
