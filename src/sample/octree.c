#include "sample/octree.h"

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
                    t->at[voxel][0] = (uint16_t)(w * 64 + (uint32_t)__builtin_ctzll(bits));
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
    if (!t->word_rank || !t->at || !t->cut || !t->owner || !t->voxel_order) {
        lmi_octree_free(t, memory);
        return LM_ERROR_MEMORY;
    }
    number_voxels(t);
    return LM_OK;
}

void lmi_octree_free(lmi_octree *t, lmi_memory *memory)
{
    const lmi_voxels *v = &t->voxels;
    lmi_release(memory, t->word_rank, (size_t)v->row_words * v->n[1] * v->n[2], sizeof *t->word_rank);
    lmi_release(memory, t->at, t->voxel_count, sizeof *t->at);
    lmi_release(memory, t->cut, t->voxel_count, sizeof *t->cut);
    lmi_release(memory, t->owner, t->voxel_count, sizeof *t->owner);
    lmi_release(memory, t->voxel_order, t->voxel_count, sizeof *t->voxel_order);
    lmi_release(memory, t->nodes, t->node_capacity, sizeof *t->nodes);
    lmi_release(memory, t->leaves, t->leaf_count, sizeof *t->leaves);
    lmi_release(memory, t->width, t->leaf_count, sizeof *t->width);
    lmi_octree_lists_free(&t->neighbours, memory);
    lmi_octree_lists_free(&t->regions, memory);
    lmi_voxels_free(memory, &t->voxels);
    memset(t, 0, sizeof *t);
}

/* --- dividing --- */

/* What dividing needs besides the tree. */
typedef struct divider {
    lmi_octree *tree;
    lmi_memory *memory;
    uint32_t *sorted; /* [voxel_count] voxels on their way into voxel_order */
    uint32_t *stack;  /* [voxel_count] of the flood */
    uint8_t *waiting; /* [voxel_count] in the cell that is being flooded, and not reached yet */
} divider;

static bool make_divider(divider *d, lmi_octree *tree, lmi_memory *memory)
{
    *d = (divider){.tree = tree, .memory = memory};
    d->sorted = lmi_allocate(memory, tree->voxel_count, sizeof *d->sorted);
    d->stack = lmi_allocate(memory, tree->voxel_count, sizeof *d->stack);
    d->waiting = lmi_allocate(memory, tree->voxel_count, sizeof *d->waiting);
    return d->sorted && d->stack && d->waiting;
}

static void free_divider(divider *d)
{
    lmi_release(d->memory, d->sorted, d->tree->voxel_count, sizeof *d->sorted);
    lmi_release(d->memory, d->stack, d->tree->voxel_count, sizeof *d->stack);
    lmi_release(d->memory, d->waiting, d->tree->voxel_count, sizeof *d->waiting);
}

/* Everything that hangs together with a voxel among those that wait, behind `to`. Returns how many there are. */
static uint32_t flood(divider *d, uint32_t from, uint32_t *to)
{
    uint32_t depth = 0, count = 0;
    d->stack[depth++] = from;
    d->waiting[from] = 0;
    while (depth > 0) {
        uint32_t voxel = d->stack[--depth];
        to[count++] = voxel;
        for (int way = 0; way < 6; way++) {
            uint32_t other = lmi_octree_linked(d->tree, voxel, way / 2, way % 2);
            if (other != LMI_OCTREE_NONE && d->waiting[other]) {
                d->waiting[other] = 0;
                d->stack[depth++] = other;
            }
        }
    }
    return count;
}

/* Adds a node with `count` voxels from `first` of voxel_order on. */
static bool add_node(divider *d, const uint32_t cell[3], uint32_t level, uint32_t parent, uint32_t first,
                     uint32_t count)
{
    lmi_octree *t = d->tree;
    void *nodes = t->nodes;
    bool ok = lmi_reserve(d->memory, &nodes, &t->node_capacity, t->node_count + 1, sizeof *t->nodes);
    t->nodes = nodes;
    if (!ok) {
        return false;
    }
    lmi_octree_node node = {.cell = {cell[0], cell[1], cell[2]},
                            .level = level,
                            .parent = parent,
                            .first_voxel = first,
                            .voxel_count = count,
                            .leaf = LMI_OCTREE_NONE};
    for (uint32_t n = 0; n < count; n++) {
        const uint16_t *at = t->at[t->voxel_order[first + n]];
        for (int k = 0; k < 3; k++) {
            node.sum[k] += 2u * (uint64_t)at[k] + 1u;
        }
    }
    t->nodes[t->node_count++] = node;
    return true;
}

/* Nodes for the voxels `first` to `first + count - 1` of voxel_order, which are those in one cell: one for each set that
 * hangs together. The lowest voxel of a set decides their order. */
static bool add_cell(divider *d, const uint32_t cell[3], uint32_t level, uint32_t parent, uint32_t first,
                     uint32_t count)
{
    uint32_t *here = d->tree->voxel_order + first, done = 0;
    memcpy(d->sorted, here, count * sizeof *here);
    for (uint32_t n = 0; n < count; n++) {
        d->waiting[here[n]] = 1;
    }
    for (uint32_t n = 0; n < count; n++) {
        if (d->waiting[d->sorted[n]]) {
            uint32_t found = flood(d, d->sorted[n], here + done);
            if (!add_node(d, cell, level, parent, first + done, found)) {
                return false;
            }
            done += found;
        }
    }
    return true;
}

static int compare_voxels(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

/* Voxels are numbered along x, y, z: sorted numbers make results independent of what was done to the slice before. */
static void sort_voxels(uint32_t *voxels, uint32_t count)
{
    for (uint32_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : (uint32_t)((uint64_t)gap * 5 / 11)) {
        for (uint32_t n = gap; n < count; n++) {
            uint32_t voxel = voxels[n], at = n;
            for (; at >= gap && compare_voxels(voxels[at - gap], voxel) > 0; at -= gap) {
                voxels[at] = voxels[at - gap];
            }
            voxels[at] = voxel;
        }
    }
}

/* The eighth of a cell that a voxel is in. */
static uint32_t octant_of(const lmi_octree *t, const lmi_octree_node *node, uint32_t voxel)
{
    uint32_t octant = 0, half = 1u << (node->level - 1);
    for (uint32_t k = 0; k < 3; k++) {
        octant |= (uint32_t)(t->at[voxel][k] + t->pad[k] >= node->cell[k] + half) << k;
    }
    return octant;
}

/* Replaces a leaf by what it has in each eighth of its cell. */
static bool divide_node(divider *d, uint32_t n)
{
    lmi_octree *t = d->tree;
    const lmi_octree_node node = t->nodes[n];
    uint32_t *voxels = t->voxel_order + node.first_voxel, count[8] = {0}, first[8], place[8], at = node.first_voxel;
    sort_voxels(voxels, node.voxel_count);
    memcpy(d->sorted, voxels, node.voxel_count * sizeof *voxels);
    for (uint32_t k = 0; k < node.voxel_count; k++) {
        count[octant_of(t, &node, voxels[k])]++;
    }
    for (uint32_t octant = 0; octant < 8; octant++) {
        first[octant] = place[octant] = at;
        at += count[octant];
    }
    for (uint32_t k = 0; k < node.voxel_count; k++) {
        t->voxel_order[place[octant_of(t, &node, d->sorted[k])]++] = d->sorted[k];
    }
    uint32_t first_child = t->node_count, half = 1u << (node.level - 1);
    for (uint32_t octant = 0; octant < 8; octant++) {
        uint32_t cell[3];
        for (uint32_t k = 0; k < 3; k++) {
            cell[k] = node.cell[k] + (octant >> k & 1 ? half : 0);
        }
        if (count[octant] && !add_cell(d, cell, node.level - 1, n, first[octant], count[octant])) {
            return false;
        }
    }
    t->nodes[n].first_child = first_child;
    t->nodes[n].child_count = t->node_count - first_child;
    return true;
}

/* One node for each set of voxels that hangs together in a base cell. */
static bool add_base_cells(divider *d)
{
    lmi_octree *t = d->tree;
    uint32_t cells = t->base[0] * t->base[1] * t->base[2], done = 0;
    uint32_t *place = lmi_allocate(d->memory, (size_t)cells + 1, sizeof *place);
    bool ok = place != NULL;
    for (int pass = 0; ok && pass < 2; pass++) { /* count, then sort */
        for (uint32_t voxel = 0; voxel < t->voxel_count; voxel++) {
            uint32_t at[3];
            for (int k = 0; k < 3; k++) {
                at[k] = (t->at[voxel][k] + t->pad[k]) >> t->levels;
            }
            uint32_t cell = (at[2] * t->base[1] + at[1]) * t->base[0] + at[0];
            if (pass == 0) {
                place[cell + 1]++;
            } else {
                t->voxel_order[place[cell]++] = voxel;
            }
        }
        for (uint32_t cell = 0; pass == 0 && cell < cells; cell++) {
            place[cell + 1] += place[cell];
        }
    }
    for (uint32_t cell = 0; ok && cell < cells; cell++) { /* place[cell] is now where the cell's voxels end */
        uint32_t at[3] = {cell % t->base[0] << t->levels, cell / t->base[0] % t->base[1] << t->levels,
                          cell / t->base[0] / t->base[1] << t->levels};
        ok = place[cell] == done || add_cell(d, at, t->levels, LMI_OCTREE_NONE, done, place[cell] - done);
        done = place[cell];
    }
    lmi_release(d->memory, place, (size_t)cells + 1, sizeof *place);
    return ok;
}

/* Numbers the leaves below a node in the order of the tree, and counts them. */
static void number_leaves(lmi_octree *t, uint32_t n)
{
    lmi_octree_node *node = &t->nodes[n];
    if (lmi_octree_is_leaf(node)) {
        node->leaf = t->leaf_count;
        node->leaf_count = 1;
        t->leaves[t->leaf_count++] = n;
        for (uint32_t k = 0; k < node->voxel_count; k++) {
            t->owner[t->voxel_order[node->first_voxel + k]] = n;
        }
        return;
    }
    node->leaf_count = 0;
    for (uint32_t c = 0; c < node->child_count; c++) { /* at most LMI_OCTREE_MAX_LEVELS deep */
        number_leaves(t, node->first_child + c);
        node->leaf_count += t->nodes[node->first_child + c].leaf_count;
    }
}

static bool find_leaves(lmi_octree *t, lmi_memory *memory)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < t->node_count; n++) {
        count += lmi_octree_is_leaf(&t->nodes[n]);
    }
    lmi_release(memory, t->leaves, t->leaf_count, sizeof *t->leaves);
    lmi_release(memory, t->width, t->leaf_count, sizeof *t->width);
    t->leaf_count = 0;
    t->leaves = lmi_allocate(memory, count, sizeof *t->leaves);
    t->width = lmi_allocate(memory, count, sizeof *t->width);
    if (!t->leaves || !t->width) {
        lmi_release(memory, t->leaves, count, sizeof *t->leaves);
        lmi_release(memory, t->width, count, sizeof *t->width);
        t->leaves = t->width = NULL;
        return false;
    }
    for (uint32_t n = 0; n < t->node_count && t->nodes[n].parent == LMI_OCTREE_NONE; n++) { /* base cells come first */
        number_leaves(t, n);
    }
    return true;
}

lm_result lmi_octree_divide(lmi_octree *t, lmi_memory *memory, lmi_octree_criterion *criterion, void *user)
{
    divider d;
    t->node_count = 0;
    bool ok = make_divider(&d, t, memory) && add_base_cells(&d);
    for (uint32_t n = 0; ok && n < t->node_count; n++) {
        const lmi_octree_node *node = &t->nodes[n];
        if (node->level > 0 && criterion(t, node, user)) {
            ok = divide_node(&d, n);
        }
    }
    free_divider(&d);
    return ok && find_leaves(t, memory) ? LM_OK : LM_ERROR_MEMORY;
}
