/*
 * The solids that bodies are to each other, and who needs one.
 *
 * A body that may touch others by its group and mask has company when there is such another. Without company it needs no solid: it
 * touches colliders as a body without a mask does, and costs what that costs. The call that brings the first company makes the solids
 * of both; a step only looks who has company. So that it can be made later, a lattice keeps its mesh until then. Octrees have
 * their solid from the beginning: once they are cut it is too late.
 */
#include "world/solids.h"
#include "cut/ready.h"
#include "octree/octree_body.h"
#include "skin/slit.h"
#include "touch/cube.h"
#include "world/access.h"
#include "world/in_step.h"

#include <string.h>

/* --- making one --- */

void lmi_body_free_cubes(lm_world *world, lmi_body *body)
{
    if (body->cubes) {
        lmi_cubes_free(world, body->cubes);
        lmi_release(&world->memory, body->cubes, 1, sizeof *body->cubes);
        body->cubes = NULL;
    }
}

void lmi_body_free_bulk(lm_world *world, lmi_body *body)
{
    if (body->bulk) {
        lmi_bulk_free(world, body->bulk);
        lmi_release(&world->memory, body->bulk, 1, sizeof *body->bulk);
        body->bulk = NULL;
    }
    lmi_body_free_cubes(world, body); /* of its surface */
    lmi_mould_give(world, body->surface);
    body->surface = NULL;
}

/* Touch points of a body that has none: on the outermost particles, as the particles alone show them, so that they do not depend on
 * whether its skin or its company comes first. */
static bool make_touch(lm_world *world, const lmi_body *body, lmi_mould *solid, lmi_touch *touch)
{
    const lmi_touch_mesh none = {0};
    lmi_mould *bare = solid->triangle_count ? lmi_mould_take(world, body, &none) : NULL;
    bool ok = (bare || !solid->triangle_count) && lmi_mould_touch(world, body, bare ? bare : solid, touch);
    lmi_mould_give(world, bare);
    return ok;
}

/* In place of what there was. False when out of memory; then nothing has changed. */
static bool make_bulk(lm_world *world, lmi_body *body, const lmi_touch_mesh *mesh)
{
    lmi_bulk *solid = lmi_allocate(&world->memory, 1, sizeof *solid);
    lmi_touch touch = {0};
    bool ok = solid && lmi_bulk_make(world, body, mesh, solid);
    if (ok && body->touch.count == 0) {
        ok = make_touch(world, body, solid->mould, &touch);
    }
    if (!ok) {
        if (solid) {
            lmi_bulk_free(world, solid);
        }
        lmi_release(&world->memory, solid, 1, sizeof *solid);
        return false;
    }
    if (body->touch.count == 0) {
        body->touch = touch;
    }
    lmi_body_free_bulk(world, body);
    body->bulk = solid;
    lmi_mould_face(solid->mould, &body->touch);
    return !body->octree || lmi_octree_body_face(world, body);
}

/* Keeps a mesh for a solid that may be made later. */
static bool keep_surface(lm_world *world, lmi_body *body, const lmi_touch_mesh *mesh)
{
    lmi_mould *kept = lmi_mould_of_mesh(world, mesh->vertex_count, mesh->triangle_count);
    if (!kept) {
        return false;
    }
    memcpy(kept->vertices, mesh->vertices, mesh->vertex_count * sizeof *kept->vertices);
    memcpy(kept->triangles, mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof *kept->triangles);
    lmi_mould_give(world, body->surface);
    body->surface = kept;
    return true;
}

bool lmi_body_make_bulk(lm_world *world, lmi_body *body, const lmi_touch_mesh *mesh)
{
    if (body->fracture) {
        return true;
    }
    if (body->bulk || body->self_contact || (body->mask != 0 && body->octree)) {
        return make_bulk(world, body, mesh);
    }
    /* A skin can be looked at again. */
    return body->mask == 0 || !body->lattice || mesh->triangle_count == 0 || keep_surface(world, body, mesh);
}

/* The surface that others are to touch: the skin as it was given, the mesh that was kept, or none. */
static lmi_touch_mesh mesh_of(const lmi_body *body)
{
    const lmi_skin *skin = body->grain ? &body->grain->whole : body->slit ? &body->slit->whole : &body->skin;
    const lmi_mould *kept = body->surface;
    return kept ? (lmi_touch_mesh){kept->vertices, kept->triangles, kept->vertex_count, kept->triangle_count}
                : (lmi_touch_mesh){skin->vertices, skin->triangles, skin->vertex_count, skin->triangle_count};
}

bool lmi_body_need_bulk(lm_world *world, lmi_body *body)
{
    const lmi_touch_mesh mesh = mesh_of(body);
    if (!body->bulk && !body->fracture && !make_bulk(world, body, &mesh)) {
        return false;
    }
    lmi_ready_drop_mould(world, body);
    return true;
}

bool lmi_body_ready_bulk(lm_world *world, lmi_body *body)
{
    const lmi_touch_mesh mesh = mesh_of(body);
    return body->bulk || body->fracture || body->mask == 0 || lmi_ready_make_mould(world, body, &mesh);
}

/* --- company --- */

static bool may_touch(uint32_t group_a, uint32_t mask_a, uint32_t group_b, uint32_t mask_b)
{
    return (group_a & mask_b) && (group_b & mask_a);
}

/* The next body from a slot on that this one may touch; null: none. */
static const lmi_body *next_companion(const lm_world *world, const lmi_body *body, uint32_t from)
{
    for (uint32_t n = from; body->mask && n < world->bodies.slots; n++) {
        const lmi_body *other = lmi_pool_used(&world->bodies, n) ? lmi_body_at(world, n) : NULL;
        if (other && other != body && may_touch(body->group, body->mask, other->group, other->mask)) {
            return other;
        }
    }
    return NULL;
}

bool lmi_body_has_company(const lm_world *world, const lmi_body *body) { return next_companion(world, body, 0); }

bool lmi_body_meet_company(lm_world *world, const lmi_body *body)
{
    bool ok = true;
    for (const lmi_body *b = next_companion(world, body, 0); b && ok; b = next_companion(world, body, b->slot + 1)) {
        ok = b->bulk || b->fracture || lmi_body_need_bulk(world, lmi_body_change(world, b, LMI_CHANGE_WORLD));
    }
    return ok;
}

bool lmi_body_join_company(lm_world *world, lmi_body *body)
{
    return !lmi_body_has_company(world, body) ||
           (lmi_body_need_bulk(world, body) && lmi_body_meet_company(world, body));
}

/* Bodies of one group and mask. Beyond so many kinds everybody is taken to have company. */
#define MOST_KINDS 64u

typedef struct kind {
    uint32_t group, mask;
    bool several, company;
} kind;

static kind *find_kind(kind *kinds, uint32_t count, const lmi_body *body)
{
    for (uint32_t k = 0; k < count; k++) {
        if (kinds[k].group == body->group && kinds[k].mask == body->mask) {
            return &kinds[k];
        }
    }
    return NULL;
}

static bool has_company(const kind *kinds, uint32_t count, const kind *of)
{
    for (uint32_t k = 0; k < count; k++) {
        if ((of != &kinds[k] || of->several) && may_touch(of->group, of->mask, kinds[k].group, kinds[k].mask)) {
            return true;
        }
    }
    return false;
}

void lmi_company_find(lm_world *world)
{
    kind kinds[MOST_KINDS];
    uint32_t count = 0;
    bool too_many = false;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        if (body->disabled || body->mask == 0) {
            continue;
        }
        kind *known = find_kind(kinds, count, body);
        if (known) {
            known->several = true;
        } else if (count < MOST_KINDS) {
            kinds[count++] = (kind){.group = body->group, .mask = body->mask};
        } else {
            too_many = true;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        kinds[k].company = has_company(kinds, count, &kinds[k]);
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        const kind *known = find_kind(kinds, count, body);
        body->company = body->mask != 0 && (too_many || (known && known->company));
    }
}
