#include "octree/octree.h"
#include "base/compiler.h"

#include <string.h>

/* --- lists --- */

bool lmi_octree_lists_make(lmi_octree_lists *lists, lmi_memory *memory, uint32_t count)
{
    memset(lists, 0, sizeof *lists);
    lists->offsets = lmi_allocate(memory, (size_t)count + 1, sizeof *lists->offsets);
    lists->count = count;
    return lists->offsets != NULL;
}

bool lmi_octree_lists_add(lmi_octree_lists *lists, lmi_memory *memory, uint32_t item)
{
    if (lists->item_count == lists->item_capacity) {
        void *items = lists->items;
        bool ok = lmi_reserve(memory, &items, &lists->item_capacity, lists->item_count + 1, sizeof *lists->items);
        lists->items = items;
        if (!ok) {
            return false;
        }
    }
    lists->items[lists->item_count++] = item;
    return true;
}

void lmi_octree_lists_free(lmi_octree_lists *lists, lmi_memory *memory)
{
    if (lists->offsets) {
        lmi_release(memory, lists->offsets, (size_t)lists->count + 1, sizeof *lists->offsets);
    }
    lmi_release(memory, lists->items, lists->item_capacity, sizeof *lists->items);
    memset(lists, 0, sizeof *lists);
}

/* --- voxels --- */

static void number_voxels(lmi_octree *t)
{
    const lmi_voxels *v = &t->voxels;
    uint32_t voxel = 0;
    size_t word = 0;
    for (uint32_t z = 0; z < v->n[2]; z++) {
        for (uint32_t y = 0; y < v->n[1]; y++) {
            for (uint32_t w = 0; w < v->row_words; w++, word++) {
                t->word_rank[word] = voxel;
                for (uint64_t bits = v->bits[word]; bits; bits &= bits - 1) {
                    t->at[voxel][0] = (uint16_t)(w * 64 + (uint32_t)lmi_low_bit(bits));
                    t->at[voxel][1] = (uint16_t)y;
                    t->at[voxel][2] = (uint16_t)z;
                    t->voxel_order[voxel] = voxel;
                    voxel++;
                }
            }
        }
    }
}

lm_result lmi_octree_begin(lmi_octree *t, lmi_memory *memory, lmi_voxels *voxels, uint32_t levels)
{
    memset(t, 0, sizeof *t);
    t->voxels = *voxels;
    memset(voxels, 0, sizeof *voxels);
    const lmi_voxels *v = &t->voxels;
    t->levels = levels;
    if (v->cell_count > LMI_OCTREE_MAX_VOXELS) {
        lmi_octree_free(t, memory);
        return LM_ERROR_LIMIT;
    }
    for (int k = 0; k < 3; k++) {
        uint32_t side = 1u << levels;
        t->base[k] = (v->n[k] + side - 1) / side;
        t->pad[k] = (t->base[k] * side - v->n[k]) / 2;
    }
    t->voxel_count = (uint32_t)v->cell_count;
    t->word_rank = lmi_allocate(memory, (size_t)v->row_words * v->n[1] * v->n[2], sizeof *t->word_rank);
    t->at = lmi_allocate(memory, t->voxel_count, sizeof *t->at);
    t->cut = lmi_allocate(memory, t->voxel_count, sizeof *t->cut);
    t->owner = lmi_allocate(memory, t->voxel_count, sizeof *t->owner);
    t->voxel_order = lmi_allocate(memory, t->voxel_count, sizeof *t->voxel_order);
    t->users = lmi_allocate(memory, 1, sizeof *t->users);
    if (t->users) {
        *t->users = 1; /* also while others of these are missing: then they are freed with it */
    }
    if (!t->word_rank || !t->at || !t->cut || !t->owner || !t->voxel_order || !t->users) {
        lmi_octree_free(t, memory);
        return LM_ERROR_MEMORY;
    }
    number_voxels(t);
    return LM_OK;
}

bool lmi_octree_share(lmi_octree *t, lmi_memory *memory, const lmi_octree *before)
{
    *t = (lmi_octree){.voxels = before->voxels,
                      .levels = before->levels,
                      .word_rank = before->word_rank,
                      .voxel_count = before->voxel_count,
                      .at = before->at,
                      .users = before->users,
                      .slack = before->slack};
    memcpy(t->pad, before->pad, sizeof t->pad);
    memcpy(t->base, before->base, sizeof t->base);
    (*t->users)++;
    t->cut = lmi_allocate_plain(memory, t->voxel_count, sizeof *t->cut);
    t->owner = lmi_allocate_plain(memory, t->voxel_count, sizeof *t->owner);
    t->voxel_order = lmi_allocate_plain(memory, t->voxel_count, sizeof *t->voxel_order);
    if (!t->cut || !t->owner || !t->voxel_order) {
        lmi_octree_free(t, memory);
        return false;
    }
    memcpy(t->cut, before->cut, t->voxel_count * sizeof *t->cut);
    memset(t->owner, 0xff, t->voxel_count * sizeof *t->owner);
    return true;
}

/* What all trees on the same voxels have in common. */
static void free_shared(lmi_octree *t, lmi_memory *memory)
{
    const lmi_voxels *v = &t->voxels;
    if (t->users && *t->users > 1) {
        --*t->users;
        return;
    }
    lmi_release(memory, t->word_rank, (size_t)v->row_words * v->n[1] * v->n[2], sizeof *t->word_rank);
    lmi_release(memory, t->at, t->voxel_count, sizeof *t->at);
    lmi_release(memory, t->users, 1, sizeof *t->users);
    lmi_voxels_free(memory, &t->voxels);
}

void lmi_octree_free(lmi_octree *t, lmi_memory *memory)
{
    free_shared(t, memory);
    lmi_release(memory, t->cut, t->voxel_count, sizeof *t->cut);
    lmi_release(memory, t->owner, t->voxel_count, sizeof *t->owner);
    lmi_release(memory, t->voxel_order, t->voxel_count, sizeof *t->voxel_order);
    lmi_release(memory, t->nodes, t->node_capacity, sizeof *t->nodes);
    lmi_release(memory, t->leaves, t->leaf_count, sizeof *t->leaves);
    lmi_release(memory, t->width, t->leaf_count, sizeof *t->width);
    lmi_octree_lists_free(&t->faces, memory);
    lmi_octree_lists_free(&t->around, memory);
    lmi_release(memory, t->lengths, t->neighbours.item_capacity, sizeof *t->lengths);
    lmi_octree_lists_free(&t->neighbours, memory);
    lmi_octree_lists_free(&t->regions, memory);
    lmi_release(memory, t->bends, t->bend_count, sizeof *t->bends);
    memset(t, 0, sizeof *t);
}
