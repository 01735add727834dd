/*
 * The way to a body, and to all else in a world, from the calls of a host program.
 *
 * A device may have newer state than the host (gpu/gpu.h). A call that reads gets a body by lmi_body_read, or by lmi_body_known where
 * it reads nothing that a step changes. A call that changes something checks its arguments first, with the body as it got it, and
 * then says what it changes: lmi_body_change returns the body for writing. There is no other way: bodies are const
 * everywhere else, but in a step (in_step.h), and only access.c and gpu/ include gpu/state.h. The test `rooms` sees to both.
 */
#ifndef LMI_ACCESS_H
#define LMI_ACCESS_H

#include "world/world.h"

/* What a call is about to change, as far as a device has it. */
typedef enum lmi_change {
    LMI_CHANGE_NOTHING, /* what no device has: user data, forces of the next step */
    LMI_CHANGE_STATE,   /* positions and velocities; fields */
    LMI_CHANGE_BODY,    /* what a body is, what holds it, and which bodies are in its batch */
    LMI_CHANGE_WORLD    /* what other bodies depend on: who meets whom, colliders, rules */
} lmi_change;

/* The body of an id, or null after reporting LM_ERROR_ID: for what no step changes, and with the state as it is now. */
const lmi_body *lmi_body_known(const lm_world *world, lm_body_id id, const char *caller);
const lmi_body *lmi_body_read(const lm_world *world, lm_body_id id, const char *caller);

/* The same body for writing. The host has its state from here on. */
lmi_body *lmi_body_change(lm_world *world, const lmi_body *body, lmi_change change);

/* The same for what belongs to no single body. */
void lmi_world_read(const lm_world *world);
void lmi_world_change(lm_world *world, lmi_change change);

/* Before the stages of a step: the state of one body, for who has to see it to decide something; what a step without a device
 * has to see of all; and a batch whose bodies are not those it had. */
void lmi_step_read_body(lm_world *world, const lmi_body *body);
void lmi_step_read(lm_world *world);
void lmi_batch_change(lm_world *world, uint32_t batch);

#endif
