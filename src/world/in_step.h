/*
 * A body for writing without a word to anybody: for the stages of a step, which say it themselves, and for what makes and frees
 * bodies. src/rooms.txt lists the files that include this; no function of the public interface calls it.
 */
#ifndef LMI_IN_STEP_H
#define LMI_IN_STEP_H

#include "world/world.h"

static inline lmi_body *lmi_body_in_step(const lm_world *world, uint32_t slot)
{
    return LMI_POOL_AT(&world->bodies, lmi_body, slot);
}

static inline lmi_body *lmi_body_writable(const lm_world *world, const lmi_body *body)
{
    return lmi_body_in_step(world, (uint32_t)(body - lmi_body_at(world, 0)));
}

#endif
