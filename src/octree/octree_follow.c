/*
 * What follows an octree that became another (octree_change.h): the points that it touches with, its solid, its skin. Each is taken
 * over where nothing has changed around it, and found again elsewhere.
 */
#include "contact/cleft.h"
#include "octree/octree_change.h"
#include "octree/touch_octree.h"
#include "skin/skin_octree.h"
#include "skin/skin_octree_cut.h"
#include "world/body.h"

#include <string.h>

/* Whether a leaf is what it was, with the neighbours that it had. */
static bool is_calm(const lmi_octree_change *c, const uint32_t *now, uint32_t then)
{
    const lmi_octree_lists *a = &c->body->octree->tree.neighbours, *b = &c->made.octree->tree.neighbours;
    uint32_t leaf = now[then], count = a->offsets[then + 1] - a->offsets[then];
    bool calm = leaf != LMI_NONE && b->offsets[leaf + 1] - b->offsets[leaf] == count;
    for (uint32_t n = 0; calm && n < count; n++) {
        calm = now[a->items[a->offsets[then] + n]] == b->items[b->offsets[leaf] + n];
    }
    return calm;
}

/* Leaves that are the same before and now: all of them (`now`), and those around which skins are the same too (`then`): their
 * neighbours have the neighbours that they had. */
static void find_same(const lmi_octree_change *c, bool *calm, uint32_t *now, uint32_t *then)
{
    const lmi_octree *before = &c->body->octree->tree, *t = &c->made.octree->tree;
    memset(now, 0xff, before->leaf_count * sizeof *now);
    memset(then, 0xff, t->leaf_count * sizeof *then);
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *is = &t->nodes[t->leaves[leaf]], *was = &before->nodes[before->leaves[c->from[leaf]]];
        if (is->level == was->level && is->voxel_count == was->voxel_count) {
            now[c->from[leaf]] = leaf;
        }
    }
    for (uint32_t leaf = 0; leaf < before->leaf_count; leaf++) {
        calm[leaf] = is_calm(c, now, leaf);
    }
    for (uint32_t leaf = 0; leaf < before->leaf_count; leaf++) {
        bool all = calm[leaf];
        for (uint32_t n = before->neighbours.offsets[leaf]; all && n < before->neighbours.offsets[leaf + 1]; n++) {
            all = calm[before->neighbours.items[n]];
        }
        if (all) {
            then[now[leaf]] = leaf;
        }
    }
}

bool lmi_octree_follow_begin(lmi_octree_change *c)
{
    lmi_memory *memory = &c->world->memory;
    uint32_t before = c->body->particle_count, count = c->made.particle_count;
    bool *calm = lmi_allocate(memory, before, sizeof *calm);
    c->now = lmi_allocate(memory, before, sizeof *c->now);
    c->then = lmi_allocate(memory, count, sizeof *c->then);
    bool ok = calm && c->now && c->then;
    if (ok) {
        find_same(c, calm, c->now, c->then);
    }
    lmi_release(memory, calm, before, sizeof *calm);
    return ok;
}

/* Touch points where they were at rest, on what is around them now, and those of the cut; and the solid. */
bool lmi_octree_follow_touch(lmi_octree_change *c)
{
    const lmi_touch *old = &c->body->touch;
    lmi_body *made = &c->made;
    lmi_memory *memory = &c->world->memory;
    const lmi_octree_past past = {c->body, c->then, c->now};
    if (old->count) {
        uint32_t count = old->count + lmi_octree_cut_points(made, &c->slashes, NULL);
        lm_vec3 *points = lmi_allocate(memory, count, sizeof *points);
        bool ok = points != NULL;
        if (ok) {
            memcpy(points, old->rest, old->count * sizeof *points);
            lmi_octree_cut_points(made, &c->slashes, points + old->count);
            ok = lmi_touch_embed_octree(c->world, made, &past, points, count, &made->touch);
        }
        lmi_release(memory, points, count, sizeof *points);
        if (!ok) {
            return false;
        }
        memcpy(made->touch.warm, old->warm, old->count * sizeof *old->warm);
        memcpy(made->touch.facing, old->facing, old->count * sizeof *old->facing);
    }
    if (!c->body->bulk) {
        return true;
    }
    made->bulk = lmi_bulk_follow_octree(c->world, made, &past);
    if (made->bulk) {
        lmi_octree_face_points(made, &made->touch);
    }
    return made->bulk && lmi_clefts_make(c->world, made, &made->octree->clefts);
}

/* Only a body that is cut needs a shell; it keeps it even if the cut fails, because the next one will need it too. */
bool lmi_octree_follow_skin(lmi_octree_change *c)
{
    lmi_octree_body *o = c->body->octree;
    if (c->body->skin.vertex_count == 0) {
        return true;
    }
    bool cut = c->slashes.count > 0 || lmi_octree_skin_is_cut(o);
    if (cut && !lmi_octree_make_shell(c->world, c->body)) {
        return false;
    }
    const lmi_shell_change change = {&c->body->octree->tree, &c->body->skin, &c->slashes, c->then, c->now};
    bool ok = cut ? lmi_octree_shell_plan(c->world, &c->made, o->shell, &change)
                  : lmi_octree_skin_again(c->world, &c->made, &change, &c->made.skin);
    c->planned = ok && cut ? o->shell : NULL;
    return ok;
}

/* The skin in place goes to the shell, and the one there takes its place; what fades of either is kept here. */
static void exchange_cut_skin(lmi_octree_change *c)
{
    lmi_skin *from = &c->body->skin, *to = &c->made.skin;
    lm_vec3 *fading = from->fading;
    uint32_t count = from->vertex_count;
    from->fading = NULL;
    *to = *from;
    memset(from, 0, sizeof *from);
    lmi_octree_shell_commit(c->planned, to);
    to->fading = c->faded;
    c->faded = fading;
    c->faded_count = count;
}

void lmi_octree_exchange_skin(lmi_octree_change *c)
{
    if (c->planned) {
        exchange_cut_skin(c);
    }
    if (c->made.bulk) {
        lmi_bulk_inherit(c->made.bulk, c->body->bulk);
    }
}

void lmi_octree_follow_end(lmi_octree_change *c, uint32_t before, uint32_t count)
{
    lmi_release(&c->world->memory, c->now, before, sizeof *c->now);
    lmi_release(&c->world->memory, c->then, count, sizeof *c->then);
    c->now = c->then = NULL;
}
