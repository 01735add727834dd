/*
 * Octrees made of pieces of others (piece.h): the voxels of the pieces, divided as they were.
 */
#include "cut/piece.h"
#include "octree/octree_body.h"
#include "world/body.h"

/* The voxel of the first body that one of a tree on its grid was. */
static uint32_t voxel_before(const lmi_piece *p, const lmi_octree *t, uint32_t voxel)
{
    return lmi_octree_voxel(&p->from->octree->tree, t->at[voxel][0], t->at[voxel][1], t->at[voxel][2]);
}

static const lmi_octree_node *leaf_before(const lmi_piece *p, const lmi_octree *t, const lmi_octree_node *node)
{
    const lmi_octree *before = &p->from->octree->tree;
    return &before->nodes[before->owner[voxel_before(p, t, t->voxel_order[node->first_voxel])]];
}

/* Leaves are what they were. */
static bool was_divided(const lmi_octree *t, const lmi_octree_node *node, void *user)
{
    return leaf_before(user, t, node)->level < node->level;
}

static bool has_voxel(const lmi_piece *p, uint32_t voxel)
{
    const lmi_octree *before = &p->from->octree->tree;
    return lmi_piece_has(p, p->from->place[before->nodes[before->owner[voxel]].leaf]);
}

/* The voxels; links that a blade has cut are gaps from here on. */
static lm_result begin(const lmi_piece *p, lmi_octree *t)
{
    const lmi_octree *before = &p->from->octree->tree;
    lmi_voxels v = before->voxels;
    lmi_memory *memory = &p->world->memory;
    v.bits = lmi_allocate(memory, (size_t)v.row_words * v.n[1] * v.n[2], sizeof *v.bits);
    v.cell_count = 0;
    if (!v.bits) {
        return LM_ERROR_MEMORY;
    }
    for (uint32_t n = 0; n < before->voxel_count; n++) {
        const uint16_t *at = before->at[n];
        if (has_voxel(p, n)) {
            v.bits[((size_t)at[2] * v.n[1] + at[1]) * v.row_words + at[0] / 64] |= (uint64_t)1 << (at[0] % 64);
            v.cell_count++;
        }
    }
    lm_result result = lmi_octree_begin(t, memory, &v, before->levels);
    for (uint32_t n = 0; result == LM_OK && n < t->voxel_count; n++) {
        t->cut[n] = before->cut[voxel_before(p, t, n)] & 7;
    }
    t->slack = before->slack;
    return result;
}

static lm_result make_tree(lmi_piece *p, lmi_octree *t)
{
    lmi_memory *memory = &p->world->memory;
    lm_result result = begin(p, t);
    result = result == LM_OK ? lmi_octree_divide(t, memory, was_divided, p) : result;
    for (uint32_t leaf = 0; result == LM_OK && leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *before = leaf_before(p, t, &t->nodes[t->leaves[leaf]]);
        t->width[leaf] = p->from->octree->tree.width[before->leaf];
    }
    if (result == LM_OK && !(lmi_octree_find_neighbours(t, memory) && lmi_octree_find_regions(t, memory))) {
        result = t->too_wide ? LM_ERROR_LIMIT : LM_ERROR_MEMORY;
    }
    return result;
}

static bool copy_levels(const lmi_piece *p)
{
    const lmi_octree_levels *before = p->from->octree->levels;
    lmi_octree_body *o = p->to->octree;
    if (!before) {
        return true;
    }
    if (!lmi_octree_levels_make(p->world, o)) {
        return false;
    }
    o->levels->detail = before->detail;
    for (uint32_t n = 0; n < o->tree.voxel_count; n++) {
        o->levels->home[n] = before->home[voxel_before(p, &o->tree, n)];
    }
    lmi_octree_levels_home(&o->tree, o->levels->home, o->levels->leaf);
    for (uint32_t leaf = 0; leaf < o->tree.leaf_count; leaf++) {
        o->levels->leaf[leaf].quiet =
            before->leaf[leaf_before(p, &o->tree, &o->tree.nodes[o->tree.leaves[leaf]])->leaf].quiet;
    }
    return true;
}

lm_result lmi_piece_octree(lmi_piece *p)
{
    lmi_octree tree = {0};
    lm_result result = make_tree(p, &tree);
    if (result != LM_OK) {
        lmi_octree_free(&tree, &p->world->memory);
        return result;
    }
    lmi_body *to = p->to;
    to->place_count = 0;
    if (!lmi_octree_body_allocate(p->world, to, &tree)) {
        return LM_ERROR_MEMORY;
    }
    if (p->from->stiffness) {
        to->stiffness = lmi_allocate(&p->world->memory, to->region_count, sizeof *to->stiffness);
        if (!to->stiffness) {
            return LM_ERROR_MEMORY;
        }
    }
    for (uint32_t leaf = 0; leaf < to->particle_count; leaf++) {
        const lmi_octree *t = &to->octree->tree;
        const uint32_t before = leaf_before(p, t, &t->nodes[t->leaves[leaf]])->leaf, was = p->from->place[before];
        p->now[was] = to->place[leaf];
        p->region[before] = leaf;
        lmi_piece_copy_particle(p, was);
        lmi_piece_copy_region(p, before);
    }
    if (to->particle_count != p->count) {
        return LM_ERROR_ARGUMENT;
    }
    return copy_levels(p) ? LM_OK : LM_ERROR_MEMORY;
}
