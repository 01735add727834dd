/*
 * Dividing cells (octree/octree_divide.h).
 *
 * The voxels of a node stand one after the other in voxel_order, ascending until the node is divided; its children then share its
 * place. So nothing has to be sorted, and the order does not depend on how a tree came about.
 */
#include "octree/octree_divide.h"
#include "octree/octree.h"

#include <string.h>

#define WAITING (LMI_OCTREE_NONE - 1) /* the owner of voxels that a flood has not reached yet */

bool lmi_octree_divider_make(lmi_octree_divider *d, lmi_octree *tree, lmi_memory *memory)
{
    uint32_t cell = 1u << (3 * tree->levels);
    *d = (lmi_octree_divider){
        .tree = tree, .memory = memory, .room = cell < tree->voxel_count ? cell : tree->voxel_count};
    d->list = lmi_allocate_plain(memory, d->room, sizeof *d->list);
    d->stack = lmi_allocate_plain(memory, d->room, sizeof *d->stack);
    return d->list && d->stack;
}

void lmi_octree_divider_free(lmi_octree_divider *d)
{
    lmi_release(d->memory, d->list, d->room, sizeof *d->list);
    lmi_release(d->memory, d->stack, d->room, sizeof *d->stack);
}

bool lmi_octree_add_node(lmi_octree *t, lmi_memory *memory, const lmi_octree_node *node)
{
    void *nodes = t->nodes;
    bool ok = lmi_reserve(memory, &nodes, &t->node_capacity, t->node_count + 1, sizeof *t->nodes);
    t->nodes = nodes;
    if (ok) {
        t->nodes[t->node_count++] = *node;
    }
    return ok;
}

static void count_voxel(const lmi_octree *t, uint32_t voxel, lmi_octree_node *node)
{
    node->voxel_count++;
    for (int k = 0; k < 3; k++) {
        node->sum[k] += 2u * (uint64_t)t->at[voxel][k] + 1u;
    }
}

/* Gives a node everything that is connected with a voxel among those that wait. */
static void flood(lmi_octree_divider *d, uint32_t from, uint32_t n, lmi_octree_node *node)
{
    lmi_octree *t = d->tree;
    uint32_t depth = 0;
    d->stack[depth++] = from;
    t->owner[from] = n;
    while (depth > 0) {
        uint32_t voxel = d->stack[--depth];
        count_voxel(t, voxel, node);
        for (int way = 0; way < 6; way++) {
            uint32_t other = lmi_octree_linked(t, voxel, way / 2, way % 2);
            if (other != LMI_OCTREE_NONE && t->owner[other] == WAITING) {
                t->owner[other] = n;
                d->stack[depth++] = other;
            }
        }
    }
}

/* Whether a cell is full and has no link cut: then all of it is connected. */
static bool is_whole(const lmi_octree *t, uint32_t level, const uint32_t *here, uint32_t count)
{
    uint32_t cut = count == 1u << (3 * level) ? 0 : 1;
    for (uint32_t n = 0; !cut && n < count; n++) {
        cut = t->cut[here[n]] & 7u;
    }
    return !cut;
}

/* Puts the voxels of each of the nodes from `first_node` on together. */
static void part_voxels(lmi_octree_divider *d, uint32_t first_node, uint32_t first, uint32_t count)
{
    lmi_octree *t = d->tree;
    memcpy(d->list, t->voxel_order + first, count * sizeof *d->list);
    for (uint32_t n = first_node; n < t->node_count; n++) {
        t->nodes[n].first_voxel = first;
        first += t->nodes[n].voxel_count;
        t->nodes[n].voxel_count = 0;
    }
    for (uint32_t n = 0; n < count; n++) {
        lmi_octree_node *node = &t->nodes[t->owner[d->list[n]]];
        t->voxel_order[node->first_voxel + node->voxel_count++] = d->list[n];
    }
}

bool lmi_octree_add_cell(lmi_octree_divider *d, const uint32_t cell[3], uint32_t level, uint32_t parent, uint32_t first,
                         uint32_t count)
{
    lmi_octree *t = d->tree;
    const uint32_t *here = t->voxel_order + first, first_node = t->node_count;
    bool whole = is_whole(t, level, here, count);
    for (uint32_t n = 0; n < count; n++) {
        t->owner[here[n]] = whole ? first_node : WAITING;
    }
    for (uint32_t n = 0; n < count; n++) {
        if (t->owner[here[n]] != WAITING && !(whole && n == 0)) {
            continue;
        }
        lmi_octree_node node = {.cell = {cell[0], cell[1], cell[2]},
                                .level = level,
                                .parent = parent,
                                .first_voxel = first,
                                .leaf = LMI_OCTREE_NONE};
        for (uint32_t k = 0; whole && k < count; k++) {
            count_voxel(t, here[k], &node);
        }
        if (!whole) {
            flood(d, here[n], t->node_count, &node);
        }
        if (!lmi_octree_add_node(t, d->memory, &node)) {
            return false;
        }
    }
    if (t->node_count - first_node > 1) {
        part_voxels(d, first_node, first, count);
    }
    return true;
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

bool lmi_octree_divide_node(lmi_octree_divider *d, uint32_t n)
{
    lmi_octree *t = d->tree;
    const lmi_octree_node node = t->nodes[n];
    uint32_t *voxels = t->voxel_order + node.first_voxel, count[8] = {0}, first[8], place[8], at = node.first_voxel;
    memcpy(d->list, voxels, node.voxel_count * sizeof *voxels);
    for (uint32_t k = 0; k < node.voxel_count; k++) {
        count[octant_of(t, &node, voxels[k])]++;
    }
    for (uint32_t octant = 0; octant < 8; octant++) {
        first[octant] = place[octant] = at;
        at += count[octant];
    }
    for (uint32_t k = 0; k < node.voxel_count; k++) {
        t->voxel_order[place[octant_of(t, &node, d->list[k])]++] = d->list[k];
    }
    uint32_t first_child = t->node_count, half = 1u << (node.level - 1);
    for (uint32_t octant = 0; octant < 8; octant++) {
        uint32_t cell[3];
        for (uint32_t k = 0; k < 3; k++) {
            cell[k] = node.cell[k] + (octant >> k & 1 ? half : 0);
        }
        if (count[octant] && !lmi_octree_add_cell(d, cell, node.level - 1, n, first[octant], count[octant])) {
            return false;
        }
    }
    t->nodes[n].first_child = first_child;
    t->nodes[n].child_count = t->node_count - first_child;
    return true;
}

/* One node for each connected set of voxels in a base cell. */
static bool add_base_cells(lmi_octree_divider *d)
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
        ok = place[cell] == done || lmi_octree_add_cell(d, at, t->levels, LMI_OCTREE_NONE, done, place[cell] - done);
        done = place[cell];
    }
    lmi_release(d->memory, place, (size_t)cells + 1, sizeof *place);
    return ok;
}

/* Numbers the leaves below a node in the order of the tree, and counts them. */
static void number_leaves(lmi_octree *t, uint32_t n)
{
    lmi_octree_node *node = &t->nodes[n];
    node->first_leaf = t->leaf_count;
    node->leaf = lmi_octree_is_leaf(node) ? t->leaf_count : LMI_OCTREE_NONE;
    if (lmi_octree_is_leaf(node)) {
        node->leaf_count = 1;
        t->leaves[t->leaf_count++] = n;
        for (uint32_t k = 0; k < node->voxel_count; k++) {
            t->owner[t->voxel_order[node->first_voxel + k]] = n;
        }
        return;
    }
    for (uint32_t c = 0; c < node->child_count; c++) { /* at most LMI_OCTREE_MAX_LEVELS deep */
        number_leaves(t, node->first_child + c);
    }
    node->leaf_count = t->leaf_count - node->first_leaf;
}

bool lmi_octree_find_leaves(lmi_octree *t, lmi_memory *memory)
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
    lmi_octree_divider d;
    t->node_count = 0;
    bool ok = lmi_octree_divider_make(&d, t, memory) && add_base_cells(&d);
    for (uint32_t n = 0; ok && n < t->node_count; n++) {
        const lmi_octree_node *node = &t->nodes[n];
        if (node->level > 0 && criterion(t, node, user)) {
            ok = lmi_octree_divide_node(&d, n);
        }
    }
    lmi_octree_divider_free(&d);
    return ok && lmi_octree_find_leaves(t, memory) ? LM_OK : LM_ERROR_MEMORY;
}

/* ---- how thick the body is ----
 *
 * How thick a body is around each voxel: where cells have to be small.
 *
 * The side of the largest cube of filled voxels that a voxel is in, rounded up to an even number. A cube of 2 k - 1 voxels fits
 * around a voxel that is in the k-th layer from the outside; so layers are peeled off first, and then, largest cubes first, every voxel of the k-th
 * layer marks what is within k - 1 steps of it. A finger is as thick as it is wide, close to its skin too; a palm is thick
 * up to its rim.
 */

#define MOST_LAYERS 120u

typedef struct peeler {
    const lmi_octree *tree;
    lmi_memory *memory;
    uint8_t *layer;         /* [voxel_count] 1 at the surface */
    uint8_t *left;          /* [voxel_count] one more than the steps that a flood had left here, of the one with most */
    uint32_t *front, *next; /* [voxel_count] */
    uint32_t front_count, next_count;
} peeler;

/* The voxel at one of the 27 places around another. */
static uint32_t around(const lmi_octree *t, uint32_t voxel, int way)
{
    const uint16_t *at = t->at[voxel];
    return lmi_octree_voxel(t, (int64_t)at[0] + way % 3 - 1, (int64_t)at[1] + way / 3 % 3 - 1,
                            (int64_t)at[2] + way / 9 - 1);
}

static void swap_fronts(peeler *p)
{
    uint32_t *front = p->front;
    p->front = p->next;
    p->next = front;
    p->front_count = p->next_count;
    p->next_count = 0;
}

static void peel(peeler *p, uint32_t most)
{
    const lmi_octree *t = p->tree;
    for (uint32_t voxel = 0; voxel < t->voxel_count; voxel++) {
        for (int way = 0; way < 27 && !p->layer[voxel]; way++) {
            p->layer[voxel] = around(t, voxel, way) == LMI_OCTREE_NONE;
        }
        if (p->layer[voxel]) {
            p->front[p->front_count++] = voxel;
        }
    }
    for (uint32_t layer = 2; layer < most && p->front_count; layer++, swap_fronts(p)) {
        for (uint32_t n = 0; n < p->front_count; n++) {
            for (int way = 0; way < 27; way++) {
                uint32_t other = around(t, p->front[n], way);
                if (other != LMI_OCTREE_NONE && !p->layer[other]) {
                    p->layer[other] = (uint8_t)layer;
                    p->next[p->next_count++] = other;
                }
            }
        }
    }
    for (uint32_t voxel = 0; voxel < t->voxel_count; voxel++) {
        p->layer[voxel] = p->layer[voxel] ? p->layer[voxel] : (uint8_t)most; /* deeper than matters */
    }
}

/* Marks what is within `layer` - 1 steps of the voxels of a layer, where nothing larger did. Where a larger one had as many steps left it
 * has marked all that this one would: a flood stops there, so that all of them together take time in proportion to the voxels, and
 * not to the voxels times the layers. */
static void mark(peeler *p, uint32_t layer, const uint32_t *voxels, uint32_t count, uint8_t *thickness)
{
    const lmi_octree *t = p->tree;
    p->front_count = p->next_count = 0;
    for (uint32_t n = 0; n < count; n++) {
        if (p->left[voxels[n]] < layer) {
            p->left[voxels[n]] = (uint8_t)layer;
            p->front[p->front_count++] = voxels[n];
        }
    }
    for (uint32_t step = 0; p->front_count; step++, swap_fronts(p)) {
        p->memory->work += p->front_count;
        for (uint32_t n = 0; n < p->front_count; n++) {
            uint32_t voxel = p->front[n];
            thickness[voxel] = thickness[voxel] ? thickness[voxel] : (uint8_t)(2 * layer);
            for (int way = 0; way < 27 && step + 1 < layer; way++) {
                uint32_t other = around(t, voxel, way);
                if (other != LMI_OCTREE_NONE && p->left[other] < layer - step - 1) {
                    p->left[other] = (uint8_t)(layer - step - 1);
                    p->next[p->next_count++] = other;
                }
            }
        }
    }
}

/* The voxels by their layers; first[layer] to first[layer + 1] are those of one. */
static void sort_by_layer(const peeler *p, uint32_t layers, uint32_t *first, uint32_t *voxels)
{
    memset(first, 0, (MOST_LAYERS + 2) * sizeof *first);
    for (uint32_t voxel = 0; voxel < p->tree->voxel_count; voxel++) {
        first[p->layer[voxel] + 1]++;
    }
    for (uint32_t layer = 0; layer <= layers; layer++) {
        first[layer + 1] += first[layer];
    }
    uint32_t at[MOST_LAYERS + 2];
    memcpy(at, first, sizeof at);
    for (uint32_t voxel = 0; voxel < p->tree->voxel_count; voxel++) {
        voxels[at[p->layer[voxel]]++] = voxel;
    }
}

uint8_t *lmi_octree_thickness(const lmi_octree *t, lmi_memory *memory, uint32_t most)
{
    uint32_t layers = most / 2 + 1 < MOST_LAYERS ? most / 2 + 1 : MOST_LAYERS, first[MOST_LAYERS + 2];
    uint32_t *voxels = lmi_allocate(memory, t->voxel_count, sizeof *voxels);
    peeler p = {.tree = t,
                .memory = memory,
                .layer = lmi_allocate(memory, t->voxel_count, sizeof *p.layer),
                .left = lmi_allocate(memory, t->voxel_count, sizeof *p.left),
                .front = lmi_allocate(memory, t->voxel_count, sizeof *p.front),
                .next = lmi_allocate(memory, t->voxel_count, sizeof *p.next)};
    uint8_t *thickness = lmi_allocate(memory, t->voxel_count, sizeof *thickness);
    bool ok = p.layer && p.left && p.front && p.next && voxels && thickness;
    if (ok) {
        peel(&p, layers);
        sort_by_layer(&p, layers, first, voxels);
    }
    for (uint32_t layer = layers; ok && layer > 0; layer--) {
        mark(&p, layer, voxels + first[layer], first[layer + 1] - first[layer], thickness);
    }
    lmi_release(memory, p.layer, t->voxel_count, sizeof *p.layer);
    lmi_release(memory, p.left, t->voxel_count, sizeof *p.left);
    lmi_release(memory, voxels, t->voxel_count, sizeof *voxels);
    lmi_release(memory, p.front, t->voxel_count, sizeof *p.front);
    lmi_release(memory, p.next, t->voxel_count, sizeof *p.next);
    if (!ok) {
        lmi_release(memory, thickness, t->voxel_count, sizeof *thickness);
    }
    return ok ? thickness : NULL;
}
