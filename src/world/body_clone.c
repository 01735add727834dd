/*
 * Copies of bodies. Everything that was found when the first one was made is copied as it is; the solid that others touch is shared, and
 * the tree and the lanes of an octree. Bodies that can break or were cut go through a snapshot of the body alone, which finds it again.
 */
#include "base/guard.h"
#include "contact/cleft.h"
#include "fracture/fracture.h"
#include "match/carrier.h"
#include "match/examples.h"
#include "snapshot/snapshot.h"
#include "world/access.h"
#include "world/body.h"
#include "world/in_step.h"
#include "world/solids.h"

#include <string.h>

void lmi_body_forget(lmi_body *body, uint32_t slot)
{
    lmi_body_forget_arrays(body);
    body->lattice = NULL;
    body->examples = NULL;
    body->fracture = NULL;
    body->slit = NULL;
    body->touched = NULL;
    body->touched_count = body->touched_left_out = 0;
    body->batch = body->first_pin = body->first_drag = body->first_force = body->skeleton = LMI_NONE;
    body->slot = body->island = slot;
    body->joints = 0;
    body->anchored = false;
    body->asleep = body->roused = body->was_asleep = false;
    body->still = body->was_still = 0.0f;
    body->kept = body->halted = body->hurries = false;
    body->contacts = 0;
    body->outside_impulse = lm_dvec3_zero();
}

/* Particles and regions, with their state from wherever they are packed. */
static bool copy_plain(lm_world *world, const lmi_body *from, lmi_body *to)
{
    if (!lmi_body_allocate(world, to)) {
        return false;
    }
    memcpy(to->rest, from->rest, from->place_count * sizeof *to->rest);
    memcpy(to->mass, from->mass, from->place_count * sizeof *to->mass);
    memcpy(to->order, from->order, from->place_count * sizeof *to->order);
    memcpy(to->place, from->place, from->particle_count * sizeof *to->place);
    memcpy(to->region_offsets, from->region_offsets, ((size_t)from->region_count + 1) * sizeof *to->region_offsets);
    memcpy(to->members, from->members, from->membership_count * sizeof *to->members);
    memcpy(to->tets, from->tets, (size_t)from->tet_count * 4 * sizeof *to->tets);
    memcpy(to->regions, from->regions, from->region_count * sizeof *to->regions);
    memcpy(to->x, from->x, (size_t)from->place_count * 4 * sizeof *to->x);
    memcpy(to->v, from->v, (size_t)from->place_count * 4 * sizeof *to->v);
    for (uint32_t r = 0; r < from->region_count; r++) {
        uint32_t stride;
        const float *at = lmi_body_rotation(world, from, r, &stride);
        for (uint32_t i = 0; i < 9; i++) {
            to->rotation[(size_t)r * 9 + i] = at[i * stride];
        }
        at = lmi_body_plastic(world, from, r, &stride);
        for (uint32_t i = 0; i < 6; i++) {
            to->plastic[(size_t)r * 6 + i] = at[i * stride];
        }
    }
    bool ok = true;
    to->stiffness = lmi_copy(&world->memory, from->stiffness, lmi_body_regions(from), sizeof *to->stiffness, &ok);
    return ok;
}

static bool copy_lattice(lm_world *world, const lmi_body *from, lmi_body *to)
{
    if (!from->lattice) {
        return true;
    }
    lmi_memory *memory = &world->memory;
    lmi_lattice_body *t = lmi_allocate(memory, 1, sizeof *t);
    if (!t) {
        return false;
    }
    *t = *from->lattice;
    const size_t blocks = (size_t)t->shape.block_count + 1;
    bool ok = lmi_lattice_copy(memory, &from->lattice->shape, &t->shape);
    if (!ok) {
        lmi_release(memory, t, 1, sizeof *t);
        return false;
    }
    LMI_COPY_ARRAY(memory, t, sums, lmi_lattice_sums_count(&t->shape), &ok);
    LMI_COPY_ARRAY(memory, t, part, t->shape.part_count, &ok);
    LMI_COPY_ARRAY(memory, t, motion, t->shape.part_count, &ok);
    LMI_COPY_ARRAY(memory, t, velocity_moments, ((size_t)t->shape.irregular_count + 1) * LMI_BLOCK, &ok);
    LMI_COPY_ARRAY(memory, &t->plastic, state, blocks * 6 * LMI_BLOCK, &ok);
    LMI_COPY_ARRAY(memory, &t->plastic, flowed, blocks, &ok);
    t->herd = LMI_NONE;
    t->swept = t->herded = false;
    t->shape.weighed = true; /* nobody has compared it with others yet */
    to->lattice = t;
    return ok;
}

static bool copy_skin(lm_world *world, const lmi_skin *from, lmi_skin *t)
{
    lmi_memory *memory = &world->memory;
    bool ok = true;
    *t = *from;
    LMI_COPY_ARRAY(memory, t, vertices, from->vertex_room, &ok);
    LMI_COPY_ARRAY(memory, t, triangles, (size_t)from->triangle_room * 3, &ok);
    LMI_COPY_ARRAY(memory, t, offsets, (size_t)from->vertex_room + 1, &ok);
    LMI_COPY_ARRAY(memory, t, riders, from->weight_room, &ok);
    LMI_COPY_ARRAY(memory, t, weights, from->weight_room, &ok);
    LMI_COPY_ARRAY(memory, t, carriers, from->carrier_count, &ok);
    LMI_COPY_ARRAY(memory, t, maps, (size_t)from->carrier_count * 16, &ok);
    LMI_COPY_ARRAY(memory, t, rest_normals, from->on_cells || from->on_tets ? from->vertex_room : 0, &ok);
    LMI_COPY_ARRAY(memory, t, sources, from->vertex_room, &ok);
    LMI_COPY_ARRAY(memory, t, fading, from->vertex_count, &ok);
    return ok;
}

/* Without what they touched: the copy touches other places before long. */
static bool copy_touch(lm_world *world, const lmi_touch *from, lmi_touch *t)
{
    lmi_memory *memory = &world->memory;
    const size_t blocks = from->blocks, lanes = 3 * (size_t)LMI_BLOCK;
    bool ok = true;
    *t = *from;
    LMI_COPY_ARRAY(memory, t, rest, from->count, &ok);
    LMI_COPY_ARRAY(memory, t, first_row, blocks + 1, &ok);
    LMI_COPY_ARRAY(memory, t, rider, (size_t)from->rows * LMI_BLOCK, &ok);
    LMI_COPY_ARRAY(memory, t, weight, (size_t)from->rows * LMI_BLOCK, &ok);
    LMI_COPY_ARRAY(memory, t, now, blocks * lanes, &ok);
    LMI_COPY_ARRAY(memory, t, box, blocks * 6, &ok);
    LMI_COPY_ARRAY(memory, t, others, blocks, &ok);
    LMI_COPY_ARRAY(memory, t, start, blocks * lanes, &ok);
    LMI_COPY_ARRAY(memory, t, facing, from->count, &ok);
    LMI_COPY_ARRAY(memory, t, leader, from->count, &ok);
    LMI_COPY_ARRAY(memory, t, carrier, from->count, &ok);
    LMI_COPY_ARRAY(memory, t, voxel, from->count, &ok);
    LMI_COPY_ARRAY(memory, t, inner, from->inner_blocks, &ok);
    LMI_COPY_ARRAY(memory, t, inner_start, from->inner_blocks * lanes, &ok);
    LMI_COPY_ARRAY(memory, t, warm, 2 * (size_t)from->count, &ok);
    if (t->warm) {
        memset(t->warm, 0, 2 * (size_t)from->count * sizeof *t->warm);
    }
    return ok;
}

static bool share_solid(lm_world *world, const lmi_body *from, lmi_body *to)
{
    if (from->surface) {
        from->surface->users++;
        to->surface = from->surface;
    }
    if (!from->bulk) {
        return true;
    }
    lmi_bulk *solid = lmi_allocate(&world->memory, 1, sizeof *solid);
    if (!solid) {
        return false;
    }
    from->bulk->mould->users++;
    if (!lmi_bulk_of_mould(world, from->bulk->mould, solid)) {
        lmi_release(&world->memory, solid, 1, sizeof *solid);
        return false;
    }
    to->bulk = solid;
    return true;
}

static bool copy_examples(lm_world *world, const lmi_body *from, lmi_body *to)
{
    const lmi_examples *e = from->examples;
    if (!e) {
        return true;
    }
    lmi_memory *memory = &world->memory;
    const size_t weights = (size_t)e->group_count * e->count, lanes = (size_t)e->blocks * LMI_BLOCK;
    lmi_examples *t = lmi_allocate(memory, 1, sizeof *t);
    if (!t) {
        return false;
    }
    to->examples = t;
    *t = (lmi_examples){.count = e->count,
                        .scope = e->scope,
                        .group_count = e->group_count,
                        .region_count = e->region_count,
                        .particle_count = e->particle_count,
                        .beta = e->beta,
                        .forced = e->forced};
    if (!lmi_examples_allocate(world, to, t)) {
        return false;
    }
    memcpy(t->poses, e->poses, (size_t)e->count * e->particle_count * sizeof *t->poses);
    memcpy(t->group, e->group, e->region_count * sizeof *t->group);
    memcpy(t->forced_weights, e->forced_weights, weights * sizeof *t->forced_weights);
    lmi_examples_read(e, t->weights);
    if (to->lattice) { /* clusters are measured when they are packed */
        memcpy(t->home, e->home, lanes * lmi_example_channels(e->count) * sizeof *t->home);
        lmi_examples_place_lattice(to, t);
        lmi_examples_measure(to, NULL);
    }
    return true;
}

static bool needs_snapshot(const lmi_body *body)
{
    return lmi_is_cut_octree(body) || body->fracture || body->grain || body->slit || body->lineage;
}

static lm_result copy_body(lm_world *world, const lmi_body *from, lmi_body *to, uint32_t slot)
{
    if (needs_snapshot(from)) {
        lm_result result = lmi_snapshot_copy_body(world, from, to);
        to->slot = to->island = slot;
        to->disabled = from->disabled;
        return result;
    }
    *to = *from;
    lmi_body_forget(to, slot);
    bool ok = copy_lattice(world, from, to) && (!from->octree || lmi_octree_body_copy(world, from, to)) &&
              copy_plain(world, from, to) && copy_skin(world, &from->skin, &to->skin) &&
              copy_touch(world, &from->touch, &to->touch) && share_solid(world, from, to) &&
              copy_examples(world, from, to);
    /* What pins hold weighs more in fits. */
    ok = ok && (from->first_pin == LMI_NONE || lmi_body_update_weights(world, to, NULL));
    return ok ? LM_OK : LM_ERROR_MEMORY;
}

static lm_result add_copy(lm_world *world, uint32_t source, uint32_t *slot)
{
    const lmi_body *from = lmi_body_at(world, source);
    if (world->particles + from->padded_count > LM_MAX_PARTICLES ||
        world->memberships + from->membership_count > LM_MAX_MEMBERSHIPS) {
        return LM_ERROR_LIMIT;
    }
    if (!lmi_pool_add(&world->bodies, &world->memory, slot)) {
        return LM_ERROR_MEMORY;
    }
    lmi_body *to = lmi_body_in_step(world, *slot); /* the pool may have moved */
    lm_result result = copy_body(world, lmi_body_at(world, source), to, *slot);
    if (result == LM_OK && !lmi_body_join_company(world, to)) {
        result = LM_ERROR_MEMORY;
    }
    if (result == LM_OK && !to->disabled) {
        result = lmi_body_join_batch(world, *slot);
    }
    if (result != LM_OK) {
        lmi_body_free(world, to);
        lmi_pool_revoke(&world->bodies, *slot);
        return result;
    }
    to->fresh = true;
    world->particles += to->padded_count;
    world->memberships += to->membership_count;
    return LM_OK;
}

lm_result lm_body_clone(lm_world *world, lm_body_id id, lm_body_id *clone)
{
    *clone = (lm_body_id){0, 0};
    const lmi_body *body = lmi_body_known(world, id, "lm_body_clone");
    if (!body) {
        return LM_ERROR_ID;
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    uint32_t slot = 0;
    lm_result result = add_copy(world, id.slot - 1, &slot);
    lmi_float_mode_leave(&host);
    if (result != LM_OK) {
        return lmi_fail(world, result, "lm_body_clone: %s", lm_result_text(result));
    }
    lmi_id made = lmi_pool_id(&world->bodies, slot);
    *clone = (lm_body_id){made.slot, made.generation};
    return LM_OK;
}
