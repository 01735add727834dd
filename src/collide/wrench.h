/*
 * What bodies give to colliders and movers: impulses and their moments, added up by whoever finds them (wrench.c).
 *
 * Bodies are stepped side by side and meet the same collider, so the order in which it is given something depends on the threads. The
 * sums do not: each is a whole number of 2^-60 N s, of 128 bits, and whole numbers add up to the same in any order. A body adds what it
 * gave a collider once, as a sum of its own in its own order, so that this costs nothing.
 */
#ifndef LMI_WRENCH_H
#define LMI_WRENCH_H

#include "collide/collide.h"

/* Memory for a step, before anything has changed; false when there is none. */
bool lmi_wrenches_reserve(lm_world *world);
void lmi_wrenches_free(lm_world *world);

/* Nothing is known of a step: it has not begun, the world was loaded, or a device has it. */
void lmi_wrenches_forget(lm_world *world);

/* Before the first substep of a step, and after everything that gives in a substep. */
void lmi_wrenches_begin(lm_world *world);
void lmi_wrenches_end_substep(lm_world *world);

/* A body was given an impulse (N s) and a moment about `from` by a collider or a mover where it is in this substep: that one has the
 * opposite. From any thread. */
void lmi_wrench_of_surface(lm_world *world, const lmi_surface *surface, lm_dvec3 from, lm_dvec3 impulse,
                           lm_dvec3 moment);
void lmi_wrench_of_mover(lm_world *world, uint32_t mover, lm_dvec3 from, lm_dvec3 impulse, lm_dvec3 moment);

#endif
