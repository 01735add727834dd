#include "cut/ready.h"
#include "fracture/fracture.h"
#include "touch/mould.h"
#include "world/world.h"

static lmi_ready *begin(lm_world *world, lmi_body *body)
{
    if (!body->ready) {
        body->ready = lmi_allocate(&world->memory, 1, sizeof *body->ready);
    }
    return body->ready;
}

bool lmi_ready_make_mould(lm_world *world, lmi_body *body, const lmi_touch_mesh *mesh)
{
    lmi_ready *ready = begin(world, body);
    const lmi_touch_mesh none = {0};
    const bool touches = body->touch.count > 0 || mesh->triangle_count == 0;
    if (ready && !ready->mould) {
        ready->mould = lmi_mould_take(world, body, mesh);
    }
    if (ready && !ready->bare && !touches) {
        ready->bare = lmi_mould_take(world, body, &none);
    }
    return ready && ready->mould && (ready->bare || touches);
}

void lmi_ready_drop_mould(lm_world *world, lmi_body *body)
{
    if (body->ready) {
        lmi_mould_give(world, body->ready->mould);
        lmi_mould_give(world, body->ready->bare);
        body->ready->mould = body->ready->bare = NULL;
    }
}

lm_result lmi_ready_make_grain(lm_world *world, lmi_body *body, const char **fault)
{
    lmi_ready *ready = begin(world, body);
    lmi_grain *grain = ready ? lmi_grain_make(world, body, fault) : NULL;
    if (!grain) {
        return ready && *fault ? LM_ERROR_ARGUMENT : LM_ERROR_MEMORY;
    }
    lmi_grain_free(world, ready->grain);
    ready->grain = grain;
    ready->shape = body->shape_hash;
    return LM_OK;
}

lmi_grain *lmi_ready_take_grain(lm_world *world, lmi_body *body)
{
    lmi_grain *grain = body->ready ? body->ready->grain : NULL;
    if (!grain) {
        return NULL;
    }
    body->ready->grain = NULL;
    if (body->ready->shape != body->shape_hash) { /* it has another skin */
        lmi_grain_free(world, grain);
        return NULL;
    }
    return grain;
}

lm_result lmi_ready_make_links(lm_world *world, lmi_body *body)
{
    lmi_ready *ready = begin(world, body);
    lmi_links *links = NULL;
    lm_result result = ready ? lmi_links_make(world, body, &links) : LM_ERROR_MEMORY;
    if (result == LM_OK) {
        lmi_links_free(world, ready->links);
        ready->links = links;
    }
    return result;
}

lmi_links *lmi_ready_take_links(lmi_body *body)
{
    lmi_links *links = body->ready ? body->ready->links : NULL;
    if (links) {
        body->ready->links = NULL;
    }
    return links;
}

void lmi_ready_give_links(lmi_body *body, lmi_links *links)
{
    if (links) {
        body->ready->links = links;
    }
}

void lmi_ready_free(lm_world *world, lmi_body *body)
{
    if (body->ready) {
        lmi_ready_drop_mould(world, body);
        lmi_grain_free(world, body->ready->grain);
        lmi_links_free(world, body->ready->links);
        lmi_release(&world->memory, body->ready, 1, sizeof *body->ready);
        body->ready = NULL;
    }
}
