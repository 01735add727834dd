/*
 * What follows an octree that became another (octree_change.h): the points that it touches with, its distance field, its skin.
 */
#include "body.h"
#include "octree_change.h"
#include "out/skin_octree.h"
#include "out/skin_octree_cut.h"
#include "sample/embed_octree.h"

#include <string.h>

/* Whether a voxel has others all around it across an axis: a point on its face along that axis is inside the body. */
static bool is_within(const lmi_octree *t, uint32_t voxel, uint32_t axis)
{
    bool within = true;
    for (uint32_t k = 1; within && k < 3; k++) {
        for (int up = -1; within && up < 2; up += 2) {
            int64_t at[3] = {t->at[voxel][0], t->at[voxel][1], t->at[voxel][2]};
            at[(axis + k) % 3] += up;
            within = lmi_octree_voxel(t, at[0], at[1], at[2]) != LMI_OCTREE_NONE;
        }
    }
    return within;
}

/* Touch points on both sides of what was cut, as dense as those of the surface: each a little inside the voxel that it belongs
 * to, because that is how its leaf is found. Counts them, and writes them where there is room. */
static uint32_t list_points_of_cut(const lmi_octree_change *c, lm_vec3 *points)
{
    const lmi_octree *t = &c->made.octree->tree;
    const lmi_voxels *v = &t->voxels;
    double apart = 0.5 * lmi_octree_mean_side(&c->made) / v->spacing;
    uint32_t every = apart > 1.5 ? (uint32_t)(apart + 0.5) : 1, count = 0;
    for (uint32_t n = 0; n < c->slashes.count; n++) {
        const lmi_slash *s = &c->slashes.items[n];
        const uint16_t *at = t->at[s->voxel];
        if (at[(s->axis + 1) % 3] % every || at[(s->axis + 2) % 3] % every) {
            continue;
        }
        for (int side = 0; side < 2; side++) {
            int64_t place[3] = {at[0], at[1], at[2]};
            double middle[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
            place[s->axis] += side;
            middle[s->axis] += side ? 0.55 : 0.45;
            if (!is_within(t, lmi_octree_voxel(t, place[0], place[1], place[2]), s->axis)) {
                continue;
            }
            if (points) {
                points[count] = vec_from(dvec(v->first.x + middle[0] * v->spacing, v->first.y + middle[1] * v->spacing,
                                              v->first.z + middle[2] * v->spacing));
            }
            count++;
        }
    }
    return count;
}

/* Touch points where they were at rest, on what is around them now, and those of the cut. */
bool lmi_octree_follow_touch(lmi_octree_change *c)
{
    const lmi_touch *old = &c->body->touch;
    lmi_body *made = &c->made;
    lmi_memory *memory = &c->world->memory;
    if (old->count) {
        uint32_t count = old->count + list_points_of_cut(c, NULL);
        lm_vec3 *points = lmi_allocate(memory, count, sizeof *points);
        bool ok = points != NULL;
        if (ok) {
            memcpy(points, old->rest, old->count * sizeof *points);
            list_points_of_cut(c, points + old->count);
            ok = lmi_touch_embed(c->world, made, points, count, &made->touch);
        }
        lmi_release(memory, points, count, sizeof *points);
        if (!ok) {
            return false;
        }
        memcpy(made->touch.warm, old->warm, old->count * sizeof *old->warm);
    }
    if (!c->body->bulk) {
        return true;
    }
    const lmi_mould *s = c->body->bulk->mould;
    lmi_touch_mesh mesh = {s->vertices, s->triangles, s->vertex_count, s->triangle_count};
    return lmi_body_make_bulk(c->world, made, &mesh);
}

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

static bool make_skin_from(lmi_octree_change *c, const lmi_octree_shell *shell)
{
    lmi_memory *memory = &c->world->memory;
    uint32_t before = c->body->particle_count, count = c->made.particle_count;
    bool *calm = lmi_allocate(memory, before, sizeof *calm);
    uint32_t *now = lmi_allocate(memory, before, sizeof *now), *then = lmi_allocate(memory, count, sizeof *then);
    bool ok = calm && now && then;
    if (ok) {
        find_same(c, calm, now, then);
        lmi_octree_earlier earlier = {&c->body->skin, shell->shown, then, now};
        ok = lmi_octree_shell_skin(c->world, &c->made, shell, shell->shown ? &earlier : NULL, &c->made.skin, &c->shown);
    }
    lmi_release(memory, calm, before, sizeof *calm);
    lmi_release(memory, now, before, sizeof *now);
    lmi_release(memory, then, count, sizeof *then);
    return ok;
}

bool lmi_octree_follow_skin(lmi_octree_change *c)
{
    lmi_octree_shell *shell = c->body->octree->shell;
    if (c->body->skin.vertex_count == 0) {
        return true;
    }
    if (!shell) {
        shell = c->body->octree->shell = lmi_octree_shell_make(c->world, &c->body->octree->tree, &c->body->skin);
    }
    bool ok = shell && make_skin_from(c, shell);
    if (!ok && shell && !shell->shown) { /* the body has a shell once it is cut, and not before */
        lmi_octree_shell_free(c->world, shell);
        c->body->octree->shell = NULL;
    }
    return ok;
}
