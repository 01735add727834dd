/*
 * Particles that movers with mass carry: those of their pins, and those of bones that ride on them.
 *
 * Such a mover and what it holds are one rigid body: in contacts and joints they have one mass, one centre and one inertia
 * (lmi_rigid_with_carried), and after each of them what the mover was given reaches its particles, and what they were given by themselves
 * reaches the mover (lmi_holds_settle). What bones hold softly is on springs whose other ends are the movers; it counts by the share of
 * what its mover is given that its spring gives on within the substep.
 *
 * Reads pins, skeletons, movers, and particles wherever they went by themselves; writes both, and what both were given.
 */
#ifndef LMI_HOLD_H
#define LMI_HOLD_H

#include "world/world.h"

/* Memory for a step, and which movers hold what. */
bool lmi_holds_reserve(lm_world *world);
void lmi_holds_free(lm_world *world);

typedef enum lmi_holds_when {
    LMI_HOLDS_FIRST, /* bodies have moved by themselves; springs pull */
    LMI_HOLDS_AGAIN, /* contacts or joints have pushed */
} lmi_holds_when;

/* Returns whether movers may have moved. */
bool lmi_holds_settle(const lmi_step *step, lmi_holds_when when);

#endif
