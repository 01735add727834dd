/*
 * Movers that have a mass: rigid bodies that Limber moves. Their shapes are the colliders that ride on them, their position is their
 * centre of mass.
 *
 * In a substep: gravity, and a turn at constant angular momentum (here); contacts with bodies and colliders (contact/rigid_contact.h),
 * in the same solver as those of bodies; joints (joint/side.c). Whatever changes their velocity in a substep moves them along.
 */
#ifndef LMI_RIGID_H
#define LMI_RIGID_H

#include "collide/collide.h"

/* Inertia and size of all that have a mass, from their colliders; whether there are any. */
bool lmi_rigids_weigh(lm_world *world);

/* When a step begins: inertia and size of movers with mass, and which bodies may touch them. */
void lmi_rigids_prepare(lm_world *world);

/* How many there are that are awake. */
uint32_t lmi_rigids_count(const lm_world *world);

static inline bool lmi_rigid_yields(const lmi_mover *mover) { return mover->mass > 0.0f && !mover->asleep; }

/* Gravity for h seconds, and the spin that it turns by in them, before it moves; and after it has turned: the spin of the same angular
 * momentum. */
void lmi_rigid_fall(lmi_mover *mover, lm_dvec3 gravity, double h);
void lmi_rigid_turn(lmi_mover *mover);

/* Its inertia about the world's axes, from a rotation of its frame. */
void lmi_rigid_inertia(const lmi_mover *mover, const dmat3 *rotation, double inertia[6]);

/* A mover as one rigid body with the particles that it carries: kg, the way from its centre to that of all, and the inertia about that one
 * along the world's axes, at a rotation of its frame. */
typedef struct lmi_rigid_whole {
    double mass;
    lm_dvec3 offset;
    double inertia[6];
} lmi_rigid_whole;

lmi_rigid_whole lmi_rigid_with_carried(const lmi_mover *mover, const dmat3 *rotation);

/* Adds the inertia of a mass at a place. */
void lmi_inertia_add(double inertia[6], double mass, lm_dvec3 at);

/* Changes its velocity and spin within their limits. */
void lmi_rigid_push(lmi_mover *mover, lm_dvec3 velocity, lm_dvec3 spin);

/* Moves it, and turns it by a rotation vector. */
void lmi_rigid_move(lmi_mover *mover, lm_dvec3 way, lm_dvec3 turn);

/* Why these cannot be mass and moments of inertia, or null. */
const char *lmi_rigid_fault(float mass, lm_vec3 moments);

#endif
