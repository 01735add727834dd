/*
 * The brush: lm_body_refine; and what it shares with the levels that a body finds for itself (octree_level.c).
 */
#include "base/guard.h"
#include "octree/octree_level.h"
#include "world/access.h"
#include "world/body.h"

#include <string.h>

void lmi_octree_held_leaves(const lm_world *world, const lmi_body *body, bool *held)
{
    memset(held, 0, body->particle_count * sizeof *held);
    for (uint32_t n = body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&world->pins, lmi_pin, n)->next) {
        const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        for (uint32_t k = 0; k < pin->count; k++) {
            held[body->order[pin->particles[k]]] = true;
        }
    }
}

static bool may_join(const lmi_octree *t, uint32_t n, const uint8_t *home, const bool *held)
{
    const lmi_octree_node *node = &t->nodes[n];
    for (uint32_t k = 0; k < node->leaf_count; k++) {
        if (held[node->first_leaf + k]) {
            return false;
        }
    }
    for (uint32_t k = 0; k < node->voxel_count; k++) {
        if (home[t->voxel_order[node->first_voxel + k]] < node->level) {
            return false;
        }
    }
    return lmi_octree_can_join(t, n);
}

uint32_t lmi_octree_find_joins(const lmi_octree *t, const uint8_t *home, const bool *held, bool *join)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < t->node_count; n++) { /* parents first: what is below one that is joined is not asked */
        uint32_t above = t->nodes[n].parent;
        bool within = above != LMI_OCTREE_NONE && join[above];
        join[n] = within || (!lmi_octree_is_leaf(&t->nodes[n]) && may_join(t, n, home, held));
        count += join[n] && !within;
    }
    return count;
}

lm_result lmi_octree_relevel(lmi_octree_change *c, const lmi_octree_wish *wish, uint32_t budget)
{
    lmi_memory *memory = &c->world->memory;
    lmi_octree next;
    uint32_t found;
    lm_result result = lmi_octree_change_maps(c) ? LM_OK : LM_ERROR_MEMORY;
    if (result == LM_OK) {
        result = lmi_octree_revise(&next, memory, &c->body->octree->tree, wish, &found);
    }
    if (result == LM_OK && next.leaf_count > budget && next.leaf_count > c->body->particle_count) {
        lmi_octree_free(&next, memory);
        result = LM_ERROR_LIMIT;
    }
    if (result == LM_OK) {
        result = lmi_octree_change_make(c, &next);
    }
    if (result == LM_OK) {
        lmi_octree_change_apply(c);
    }
    return result;
}

/* --- the brush --- */

/* The voxels in a ball, as the body is now, get a level. `home`: [voxel_count]. */
static void paint(const lmi_octree_change *c, lm_dvec3 centre, double radius, uint32_t level, uint8_t *home)
{
    const lmi_octree *t = &c->body->octree->tree;
    const lmi_voxels *v = &t->voxels;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        const lmi_octree_map *map = &c->maps[leaf];
        for (uint32_t k = 0; k < node->voxel_count; k++) {
            uint32_t voxel = t->voxel_order[node->first_voxel + k];
            lm_dvec3 rest = dvec(v->first.x + (t->at[voxel][0] + 0.5) * v->spacing,
                                 v->first.y + (t->at[voxel][1] + 0.5) * v->spacing,
                                 v->first.z + (t->at[voxel][2] + 0.5) * v->spacing);
            lm_dvec3 at = dvec_add(map->at, dmat_apply(&map->linear, dvec_sub(rest, map->rest)));
            lm_dvec3 off = dvec_sub(at, centre);
            if (dvec_dot(off, off) <= radius * radius) {
                home[voxel] = (uint8_t)level;
            }
        }
    }
}

/* What a brush is about. */
typedef struct brush {
    lm_world *world;
    lmi_body *body;
    lm_dvec3 centre; /* from the body's origin */
    double radius;
    uint32_t level;
    uint8_t *home;  /* [voxel_count] */
    uint8_t *wants; /* [leaf_count] */
    bool *join;     /* [node_count] */
    bool *held;     /* [leaf_count] */
} brush;

/* Voxels want what they have, or (a body with detail) what they go back to, and in the ball the brush's level. */
static bool fill_home(brush *b)
{
    const lmi_octree_body *o = b->body->octree;
    const lmi_octree *t = &o->tree;
    lmi_octree_change c = {.world = b->world, .body = b->body};
    bool ok = lmi_octree_change_maps(&c);
    for (uint32_t voxel = 0; ok && voxel < t->voxel_count; voxel++) {
        b->home[voxel] = o->levels ? o->levels->home[voxel] : (uint8_t)t->nodes[t->owner[voxel]].level;
    }
    if (ok) {
        paint(&c, b->centre, b->radius, b->level, b->home);
    }
    lmi_octree_change_free(&c);
    return ok;
}

/* How many cells are not what their voxels want; `wants` and `join` say which. */
static uint32_t find_changes(brush *b)
{
    const lmi_octree *t = &b->body->octree->tree;
    uint32_t changes = 0;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        uint8_t least = (uint8_t)node->level;
        for (uint32_t k = 0; k < node->voxel_count; k++) {
            uint8_t home = b->home[t->voxel_order[node->first_voxel + k]];
            least = home < least ? home : least;
        }
        b->wants[leaf] = least;
        changes += least < node->level;
    }
    return changes + lmi_octree_find_joins(t, b->home, b->held, b->join);
}

static lm_result apply(brush *b, uint32_t *changed)
{
    lmi_octree_body *o = b->body->octree;
    if (!fill_home(b)) {
        return LM_ERROR_MEMORY;
    }
    *changed = find_changes(b);
    if (o->levels) { /* the next steps do it */
        memcpy(o->levels->home, b->home, o->tree.voxel_count * sizeof *b->home);
        lmi_octree_levels_home(&o->tree, o->levels->home, o->levels->leaf);
        lmi_body_rouse(b->world, b->body);
        return LM_OK;
    }
    lmi_octree_wish wish = {.level = b->wants, .home = b->home, .join = b->join};
    lmi_octree_change c = {.world = b->world, .body = b->body};
    lm_result result = *changed ? lmi_octree_relevel(&c, &wish, LM_MAX_PARTICLES) : LM_OK;
    lmi_octree_change_free(&c);
    return result;
}

static const char *refine_fault(const lmi_body *body, lm_dvec3 centre, float radius, float size)
{
    if (!body->octree) {
        return "only the cells of octrees can be divided";
    }
    if (body->examples) {
        return "a body with examples keeps its cells";
    }
    if (body->skeleton != LMI_NONE) {
        return "a body on a skeleton keeps its cells";
    }
    if (body->joints) {
        return "a body with joints keeps its cells";
    }
    if (!(fabs(centre.x) <= LM_MAX_POSITION && fabs(centre.y) <= LM_MAX_POSITION &&
          fabs(centre.z) <= LM_MAX_POSITION)) {
        return "the centre is not finite or beyond LM_MAX_POSITION";
    }
    return radius > 0.0f && radius <= 1e6f && size > 0.0f && size <= 1e6f
               ? NULL
               : "radius and size must be above 0 and at most 1e6 m";
}

lm_result lm_body_refine(lm_world *world, lm_body_id id, lm_dvec3 centre, float radius, float size, uint32_t *changed)
{
    uint32_t none;
    changed = changed ? changed : &none;
    *changed = 0;
    const lmi_body *known = lmi_body_known(world, id, "lm_body_refine");
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = refine_fault(known, centre, radius, size);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_refine: %s", fault);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_memory *memory = &world->memory;
    lmi_octree_body *o = body->octree;
    uint32_t voxels = o->tree.voxel_count, leaves = o->tree.leaf_count, nodes = o->tree.node_count;
    brush b = {.world = world,
               .body = body,
               .centre = dvec_sub(centre, body->origin),
               .radius = radius,
               .level = lmi_octree_level_of(&o->tree, (double)size),
               .home = lmi_allocate_plain(memory, voxels, sizeof *b.home),
               .wants = lmi_allocate_plain(memory, leaves, sizeof *b.wants),
               .join = lmi_allocate_plain(memory, nodes, sizeof *b.join),
               .held = lmi_allocate_plain(memory, leaves, sizeof *b.held)};
    if (b.held) {
        lmi_octree_held_leaves(world, body, b.held);
    }
    lm_result result = b.home && b.wants && b.join && b.held ? apply(&b, changed) : LM_ERROR_MEMORY;
    lmi_release(memory, b.home, voxels, sizeof *b.home);
    lmi_release(memory, b.wants, leaves, sizeof *b.wants);
    lmi_release(memory, b.join, nodes, sizeof *b.join);
    lmi_release(memory, b.held, leaves, sizeof *b.held);
    lmi_float_mode_leave(&host);
    if (result != LM_OK) {
        *changed = 0;
        return lmi_fail(world, result, "lm_body_refine: %s; nothing has changed", lm_result_text(result));
    }
    return LM_OK;
}
