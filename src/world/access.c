/*
 * The way to a body (access.h). Here, and nowhere else, the host tells a device what it reads and changes.
 */
#include "world/access.h"

#include "gpu/state.h"
#include "world/in_step.h"

const lmi_body *lmi_body_known(const lm_world *world, lm_body_id id, const char *caller)
{
    lmi_id plain = {id.slot, id.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->bodies, plain, &index)) {
        lmi_fail(world, LM_ERROR_ID, "%s: there is no body {%u, %u}", caller, id.slot, id.generation);
        return NULL;
    }
    return lmi_body_at(world, index);
}

const lmi_body *lmi_body_read(const lm_world *world, lm_body_id id, const char *caller)
{
    lmi_gpu_fetch(world);
    return lmi_body_known(world, id, caller);
}

lmi_body *lmi_body_change(lm_world *world, const lmi_body *body, lmi_change change)
{
    switch (change) {
    case LMI_CHANGE_NOTHING: break;
    case LMI_CHANGE_STATE: lmi_gpu_edit_batch(world, body->batch, true); break;
    case LMI_CHANGE_BODY: lmi_gpu_edit_batch(world, body->batch, false); break;
    case LMI_CHANGE_WORLD: lmi_gpu_edit(world, false); break;
    }
    return lmi_body_writable(world, body);
}

void lmi_world_read(const lm_world *world) { lmi_gpu_fetch(world); }

void lmi_world_change(lm_world *world, lmi_change change)
{
    if (change != LMI_CHANGE_NOTHING) {
        lmi_gpu_edit(world, change == LMI_CHANGE_STATE);
    }
}

void lmi_step_read_body(lm_world *world, const lmi_body *body) { lmi_gpu_fetch_batch(world, body->batch); }

void lmi_step_read(lm_world *world) { lmi_gpu_fetch_step(world); }

void lmi_batch_change(lm_world *world, uint32_t batch) { lmi_gpu_edit_batch(world, batch, false); }
