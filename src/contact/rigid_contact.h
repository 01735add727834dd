/*
 * Movers that have a mass, in contacts.
 *
 * Each that is awake has a push (contact/push.h) that answers as a whole, of no body: what is given to it changes the velocity and the
 * pose of the mover when all contacts are solved. Points of bodies that touch one of its colliders have this push as their other side,
 * so that both are solved at once, whatever their masses; contacts of its colliders with others (collide/shapes_meet.h) are stiff
 * contacts of the same islands.
 *
 * Reads movers, colliders where they are in this substep, what contacts were given in the last; writes velocities and poses of movers,
 * wrenches, and what contacts were given.
 */
#ifndef LMI_RIGID_CONTACT_H
#define LMI_RIGID_CONTACT_H

#include "contact/solver.h"

/* A contact between two colliders, as tell.c and the next substep know it. */
typedef struct lmi_rigid_key {
    uint32_t own, other, feature;
} lmi_rigid_key;

/* Movers with mass in a substep. */
typedef struct lmi_rigids {
    lmi_push *pushes; /* of those that are awake, in the order of their slots */
    uint32_t count, capacity;
    lmi_rigid_warm *warm; /* [count][LMI_RIGID_WARM] what their contacts are given in this substep */
    uint32_t *warm_count;
    lmi_rigid_key *keys; /* of contacts between colliders, by lmi_stiff.point */
    uint32_t key_count, key_capacity, warm_capacity, warm_count_capacity;
} lmi_rigids;

/* mutual.c: those of a world. */
struct lmi_rigids *lmi_mutual_rigids(const lm_world *world);

bool lmi_rigids_reserve(lm_world *world, lmi_rigids *rigids);
void lmi_rigids_free(lmi_memory *memory, lmi_rigids *rigids);

/* Pushes of movers, and who carries which surface. Owners and nodes of the solver are counted on from the given ones. */
void lmi_rigids_begin(const lmi_step *step, lmi_rigids *rigids, uint32_t owners, uint32_t nodes);

/* Adds the contacts of their colliders with others to the solver. */
void lmi_rigids_meet(const lmi_step *step, lmi_rigids *rigids, lmi_solver *solver);

/* After all is solved: movers get what they were given. */
void lmi_rigids_end(lmi_rigids *rigids);

/* tell.c: a run of contacts between colliders was solved. */
void lmi_rigids_tell(lmi_solver *solver, const lmi_run *run);

#endif
