/*
 * Bodies made beside the world. A prepared body lives in a small world of its own, which another thread than that of the large one
 * may fill; handing it over moves the body, with the memory that it has, from the one to the other.
 *
 * All that can fail comes before anything is moved. What a body holds does not point to its world, nor to its place among the
 * others, so that the struct is copied as it is.
 */
#include "base/guard.h"
#include "cut/ready.h"
#include "touch/bulk.h"
#include "world/access.h"
#include "world/body.h"
#include "world/in_step.h"
#include "world/solids.h"

#include <string.h>

#define PREPARE_COOKIE 0x4c4d5031u

struct lm_prepared {
    lm_world *world; /* with the body alone */
    lm_body_id body;
    size_t base; /* bytes that the world takes without the body */
};

lm_prepare_def lm_prepare_def_default(void) { return (lm_prepare_def){.solid = true, .cookie = PREPARE_COOKIE}; }

void lm_prepared_destroy(lm_prepared *p)
{
    if (p) {
        lm_world *world = p->world;
        lmi_release(&world->memory, p, 1, sizeof *p);
        lm_world_destroy(world);
    }
}

/* --- making one --- */

static lm_result make_ready(lm_prepared *p, const lm_prepare_def *def)
{
    lm_result result = lm_body_create(p->world, def->body, &p->body);
    if (result == LM_OK && def->skin) {
        result = lm_body_set_skin(p->world, p->body, def->skin);
    }
    if (result == LM_OK && def->cut) {
        result = lm_body_prepare_cut(p->world, p->body);
    }
    if (result == LM_OK && def->solid) {
        const lmi_body *body = lmi_body_known(p->world, p->body, "lm_body_prepare");
        lmi_float_mode host;
        lmi_float_mode_enter(&host);
        bool ok = lmi_body_ready_bulk(p->world, lmi_body_change(p->world, body, LMI_CHANGE_NOTHING));
        lmi_float_mode_leave(&host);
        result = ok ? LM_OK : lmi_fail(p->world, LM_ERROR_MEMORY, "lm_body_prepare: out of memory");
    }
    return result;
}

lm_result lm_body_prepare(const lm_world_def *world_def, const lm_prepare_def *def, lm_prepared **out)
{
    *out = NULL;
    lm_world_def apart = *world_def;
    apart.workers = 1;
    apart.device = NULL;
    apart.gl = NULL;
    apart.tasks = (lm_tasks){0};
    lm_world *world;
    lm_result result = lm_world_create(&apart, &world);
    if (result != LM_OK) {
        return result;
    }
    lm_prepared *p = lmi_allocate(&world->memory, 1, sizeof *p);
    if (!p) {
        lmi_fail(world, LM_ERROR_MEMORY, "lm_body_prepare: out of memory");
        lm_world_destroy(world);
        return LM_ERROR_MEMORY;
    }
    p->world = world;
    p->base = world->memory.used;
    bool sound = def->cookie == PREPARE_COOKIE && def->body;
    result = sound
                 ? make_ready(p, def)
                 : lmi_fail(world, LM_ERROR_ARGUMENT,
                            "lm_body_prepare: the definition did not come from lm_prepare_def_default, or has no body");
    if (result != LM_OK) {
        lm_prepared_destroy(p);
        return result;
    }
    *out = p;
    return LM_OK;
}

/* --- handing it over --- */

static lm_result fault_of(const lm_world *world, const lm_prepared *p, const lmi_body *body)
{
    const lm_allocator *a = &world->memory.hooks, *b = &p->world->memory.hooks;
    if (a->allocate != b->allocate || a->release != b->release || a->user != b->user) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_create_prepared: the world has another allocator");
    }
    if (world->particles + body->padded_count > LM_MAX_PARTICLES ||
        world->memberships + body->membership_count > LM_MAX_MEMBERSHIPS) {
        return lmi_fail(world, LM_ERROR_LIMIT, "lm_body_create_prepared: more than LM_MAX_PARTICLES or _MEMBERSHIPS");
    }
    return LM_OK;
}

/* A place among the bodies of the world, with what `body` has; both have it until one lets go. */
static bool take_place(lm_world *world, const lmi_body *body, uint32_t *slot)
{
    if (!lmi_pool_add(&world->bodies, &world->memory, slot)) {
        return false;
    }
    lmi_body *to = lmi_body_in_step(world, *slot);
    *to = *body;
    to->slot = to->island = *slot;
    if (lmi_body_join_batch(world, *slot) != LM_OK) {
        memset(to, 0, sizeof *to);
        lmi_pool_revoke(&world->bodies, *slot);
        return false;
    }
    return true;
}

/* Nothing can fail here. */
static void move(lm_world *world, uint32_t slot, lm_prepared *p, lmi_body *from)
{
    lm_world *apart = p->world;
    lmi_body *to = lmi_body_in_step(world, slot);
    if (to->bulk) {
        to->bulk->mould = lmi_mould_adopt(apart, world, to->bulk->mould);
    } else if (to->ready) {
        to->ready->mould = lmi_mould_adopt(apart, world, to->ready->mould);
        to->ready->bare = lmi_mould_adopt(apart, world, to->ready->bare);
    }
    world->particles += to->padded_count;
    world->memberships += to->membership_count;
    world->has_octrees = world->has_octrees || apart->has_octrees;
    memset(from, 0, sizeof *from);
    lmi_world_clear(apart);
    world->memory.used += apart->memory.used - p->base;
    apart->memory.used = p->base;
}

/* The prepared body, for writing; it is in no batch. */
static lmi_body *let_go(lm_prepared *p)
{
    const lmi_body *known = lmi_body_known(p->world, p->body, "lm_body_create_prepared");
    lmi_body *body = lmi_body_change(p->world, known, LMI_CHANGE_NOTHING);
    lmi_body_leave_batch(p->world, body->slot);
    return body;
}

static bool hand_over(lm_world *world, lm_prepared *p, lmi_body *from, uint32_t *slot)
{
    bool ok = !lmi_body_has_company(world, from) ||
              (lmi_body_need_bulk(p->world, from) && lmi_body_meet_company(world, from));
    if (!ok || !take_place(world, from, slot)) {
        return false;
    }
    move(world, *slot, p, from);
    return true;
}

lm_result lm_body_create_prepared(lm_world *world, lm_prepared *p, lm_body_id *id)
{
    *id = (lm_body_id){0, 0};
    lmi_body *from = let_go(p);
    lm_result result = fault_of(world, p, from);
    if (result != LM_OK) {
        return result;
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    uint32_t slot;
    bool ok = hand_over(world, p, from, &slot);
    lmi_float_mode_leave(&host);
    if (!ok) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create_prepared: out of memory; nothing has changed");
    }
    lmi_body_change(world, lmi_body_at(world, slot), LMI_CHANGE_BODY);
    lmi_id made = lmi_pool_id(&world->bodies, slot);
    *id = (lm_body_id){made.slot, made.generation};
    lm_prepared_destroy(p);
    return LM_OK;
}
