/*
 * Trees that come from others (octree/octree_divide.h).
 */
#include "octree/octree_divide.h"

#include <math.h>
#include <string.h>

typedef struct reviser {
    lmi_octree_divider divider;
    lmi_octree *tree;
    lmi_memory *memory;
    const lmi_octree *before;
    const lmi_octree_wish *wish;
    bool *touched;  /* [before->node_count] something changes in it or below it */
    bool *severed;  /* [before->leaf_count] it loses links */
    uint32_t *then; /* [then_capacity] nodes: the node before with the same voxels and level, or LMI_OCTREE_NONE */
    uint32_t *now;  /* [before->node_count] the other way round */
    uint32_t then_capacity;
} reviser;

/* --- what changes --- */

static void touch(reviser *r, uint32_t node)
{
    for (; node != LMI_OCTREE_NONE && !r->touched[node]; node = r->before->nodes[node].parent) {
        r->touched[node] = true;
    }
}

static uint32_t next_voxel(const lmi_octree *t, uint32_t voxel, uint32_t axis)
{
    int64_t at[3] = {t->at[voxel][0], t->at[voxel][1], t->at[voxel][2]};
    at[axis]++;
    return lmi_octree_voxel(t, at[0], at[1], at[2]);
}

static void find_touched(reviser *r)
{
    const lmi_octree *before = r->before;
    const lmi_octree_wish *w = r->wish;
    for (uint32_t n = 0; w->slashes && n < w->slashes->count; n++) {
        const lmi_slash *s = &w->slashes->items[n];
        uint32_t ends[2] = {s->voxel, next_voxel(before, s->voxel, s->axis)};
        r->tree->cut[s->voxel] |= (uint8_t)(9u << s->axis);
        for (int k = 0; k < 2; k++) {
            touch(r, before->owner[ends[k]]);
            r->severed[before->nodes[before->owner[ends[k]]].leaf] = true;
        }
    }
    for (uint32_t leaf = 0; w->level && leaf < before->leaf_count; leaf++) {
        if (w->level[leaf] < before->nodes[before->leaves[leaf]].level) {
            touch(r, before->leaves[leaf]);
        }
    }
    for (uint32_t n = 0; w->join && n < before->node_count; n++) {
        if (w->join[n]) {
            touch(r, n);
        }
    }
}

/* The node before of a level that a voxel was in, or the leaf, where that is larger. */
static uint32_t node_before(const lmi_octree *before, uint32_t voxel, uint32_t level)
{
    uint32_t n = before->owner[voxel];
    while (n != LMI_OCTREE_NONE && before->nodes[n].level < level) {
        n = before->nodes[n].parent;
    }
    return n;
}

/* Whether a blade ends in a node: it has cut some of its links, and the node is still connected. */
static bool has_end(const lmi_octree *t, uint32_t n)
{
    const lmi_octree_node *node = &t->nodes[n];
    for (uint32_t k = 0; k < node->voxel_count; k++) {
        uint32_t voxel = t->voxel_order[node->first_voxel + k];
        for (uint32_t axis = 0; axis < 3 && t->cut[voxel] >> 3; axis++) {
            uint32_t other = lmi_octree_is_slashed(t, voxel, axis) ? next_voxel(t, voxel, axis) : LMI_OCTREE_NONE;
            if (other != LMI_OCTREE_NONE && t->owner[other] == n) {
                return true;
            }
        }
    }
    return false;
}

/* Whether one of its voxels wants a node to be divided. */
static bool wants_division(const reviser *r, const lmi_octree_node *node)
{
    bool wanted = !r->wish->home;
    for (uint32_t k = 0; !wanted && k < node->voxel_count; k++) {
        wanted = r->wish->home[r->tree->voxel_order[node->first_voxel + k]] < node->level;
    }
    return wanted;
}

static bool is_divided(const reviser *r, uint32_t n)
{
    const lmi_octree_node *node = &r->tree->nodes[n];
    uint32_t was = node_before(r->before, r->tree->voxel_order[node->first_voxel], node->level);
    if (node->level == 0) {
        return false;
    }
    if (!lmi_octree_is_leaf(&r->before->nodes[was])) {
        return !(r->wish->join && r->wish->join[was]);
    }
    if (r->wish->level && r->wish->level[r->before->nodes[was].leaf] < node->level && wants_division(r, node)) {
        return true;
    }
    return r->wish->slashes && node->level > r->wish->finest && has_end(r->tree, n);
}

/* --- nodes --- */

static bool make_room(reviser *r)
{
    void *then = r->then;
    bool ok = lmi_reserve(r->memory, &then, &r->then_capacity, r->tree->node_capacity, sizeof *r->then);
    r->then = then;
    return ok;
}

static bool is_copied(const reviser *r, uint32_t n) { return r->then[n] != LMI_OCTREE_NONE && !r->touched[r->then[n]]; }

/* Finds out which nodes from `first` on are the same as before. The voxels of those that are copied are put in their old order. */
static bool match(reviser *r, uint32_t first)
{
    lmi_octree *t = r->tree;
    if (!make_room(r)) {
        return false;
    }
    for (uint32_t n = first; n < t->node_count; n++) {
        const lmi_octree_node *node = &t->nodes[n], *was;
        uint32_t then = node_before(r->before, t->voxel_order[node->first_voxel], node->level);
        was = then == LMI_OCTREE_NONE ? NULL : &r->before->nodes[then];
        bool same = was && was->level == node->level && was->voxel_count == node->voxel_count;
        r->then[n] = same ? then : LMI_OCTREE_NONE;
        if (is_copied(r, n)) {
            memcpy(t->voxel_order + node->first_voxel, r->before->voxel_order + was->first_voxel,
                   node->voxel_count * sizeof *t->voxel_order);
        }
    }
    return true;
}

/* A node as it was before; its children come later. */
static bool add_copy(reviser *r, uint32_t then, uint32_t parent, uint32_t first_voxel)
{
    lmi_octree_node node = r->before->nodes[then];
    node.parent = parent;
    node.first_voxel = first_voxel;
    node.first_child = node.child_count = 0;
    node.leaf = LMI_OCTREE_NONE;
    if (!lmi_octree_add_node(r->tree, r->memory, &node) || !make_room(r)) {
        return false;
    }
    r->then[r->tree->node_count - 1] = then;
    return true;
}

static bool copy_children(reviser *r, uint32_t n)
{
    lmi_octree *t = r->tree;
    const lmi_octree_node *was = &r->before->nodes[r->then[n]];
    uint32_t first = t->node_count, shift = t->nodes[n].first_voxel - was->first_voxel;
    bool ok = true;
    for (uint32_t c = 0; ok && c < was->child_count; c++) {
        ok = add_copy(r, was->first_child + c, n, r->before->nodes[was->first_child + c].first_voxel + shift);
    }
    if (ok) {
        t->nodes[n].first_child = was->child_count ? first : 0;
        t->nodes[n].child_count = was->child_count;
    }
    return ok;
}

/* The voxels of a base cell, ascending, into voxel_order; there are `count` of them. */
static void list_cell(const lmi_octree *t, const uint32_t cell[3], uint32_t *to)
{
    const lmi_voxels *v = &t->voxels;
    int64_t low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = (int64_t)cell[k] - t->pad[k];
        high[k] = low[k] + ((int64_t)1 << t->levels);
        low[k] = low[k] > 0 ? low[k] : 0;
        high[k] = high[k] < v->n[k] ? high[k] : v->n[k];
    }
    for (int64_t z = low[2]; z < high[2]; z++) {
        for (int64_t y = low[1]; y < high[1]; y++) {
            for (int64_t x = low[0]; x < high[0]; x++) {
                uint32_t voxel = lmi_octree_voxel(t, x, y, z);
                if (voxel != LMI_OCTREE_NONE) {
                    *to++ = voxel;
                }
            }
        }
    }
}

/* The base nodes, cell after cell. */
static bool add_base(reviser *r)
{
    const lmi_octree *before = r->before;
    lmi_octree *t = r->tree;
    bool ok = true;
    for (uint32_t n = 0, end; ok && n < before->node_count && before->nodes[n].parent == LMI_OCTREE_NONE; n = end) {
        const lmi_octree_node *first = &before->nodes[n];
        uint32_t count = 0;
        bool touched = false;
        for (end = n; end < before->node_count && before->nodes[end].parent == LMI_OCTREE_NONE &&
                      memcmp(before->nodes[end].cell, first->cell, sizeof first->cell) == 0;
             end++) {
            count += before->nodes[end].voxel_count;
            touched = touched || r->touched[end];
        }
        uint32_t made = t->node_count;
        if (touched) {
            list_cell(t, first->cell, t->voxel_order + first->first_voxel);
            ok = lmi_octree_add_cell(&r->divider, first->cell, t->levels, LMI_OCTREE_NONE, first->first_voxel, count) &&
                 match(r, made);
            continue;
        }
        memcpy(t->voxel_order + first->first_voxel, before->voxel_order + first->first_voxel,
               count * sizeof *t->voxel_order);
        for (uint32_t k = n; ok && k < end; k++) {
            ok = add_copy(r, k, LMI_OCTREE_NONE, before->nodes[k].first_voxel);
        }
    }
    return ok;
}

static bool revise_nodes(reviser *r)
{
    lmi_octree *t = r->tree;
    bool ok = lmi_octree_divider_make(&r->divider, t, r->memory) && add_base(r);
    for (uint32_t n = 0; ok && n < t->node_count; n++) {
        uint32_t first = t->node_count;
        if (is_copied(r, n)) {
            ok = copy_children(r, n);
        } else if (is_divided(r, n)) {
            ok = lmi_octree_divide_node(&r->divider, n) && match(r, first);
        }
    }
    return ok && lmi_octree_find_leaves(t, r->memory);
}

/* --- leaves --- */

static void find_now(reviser *r)
{
    memset(r->now, 0xff, r->before->node_count * sizeof *r->now);
    for (uint32_t n = 0; n < r->tree->node_count; n++) {
        if (r->then[n] != LMI_OCTREE_NONE) {
            r->now[r->then[n]] = n;
        }
    }
}

/* The mean of the widths below a node, by voxels. */
static uint32_t mean_width(const lmi_octree *t, const lmi_octree_node *node)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < node->leaf_count; k++) {
        uint32_t leaf = node->first_leaf + k;
        sum += (double)t->width[leaf] * t->nodes[t->leaves[leaf]].voxel_count;
    }
    return (uint32_t)(sum / node->voxel_count + 0.5);
}

static void take_widths(const reviser *r)
{
    lmi_octree *t = r->tree;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        uint32_t was = node_before(r->before, t->voxel_order[node->first_voxel], node->level);
        uint32_t width = mean_width(r->before, &r->before->nodes[was]), least = lmi_octree_least_width(node);
        t->width[leaf] = width > least ? width : least;
    }
}

bool lmi_octree_can_join(const lmi_octree *t, uint32_t n)
{
    const lmi_octree_node *node = &t->nodes[n];
    if (lmi_octree_is_leaf(node)) {
        return false;
    }
    for (uint32_t k = 0; k < node->voxel_count; k++) {
        uint32_t voxel = t->voxel_order[node->first_voxel + k];
        for (uint32_t axis = 0; axis < 3 && t->cut[voxel]; axis++) {
            uint32_t other = t->cut[voxel] >> axis & 1 ? next_voxel(t, voxel, axis) : LMI_OCTREE_NONE;
            if (other != LMI_OCTREE_NONE && t->owner[other] != t->owner[voxel] &&
                node_before(t, other, node->level) == n) {
                return false;
            }
        }
    }
    return true;
}

/* --- the whole --- */

static bool make_reviser(reviser *r)
{
    r->touched = lmi_allocate(r->memory, r->before->node_count, sizeof *r->touched);
    r->severed = lmi_allocate(r->memory, r->before->leaf_count, sizeof *r->severed);
    r->now = lmi_allocate_plain(r->memory, r->before->node_count, sizeof *r->now);
    return r->touched && r->severed && r->now;
}

static void free_reviser(reviser *r)
{
    if (r->divider.tree) {
        lmi_octree_divider_free(&r->divider);
    }
    lmi_release(r->memory, r->touched, r->before->node_count, sizeof *r->touched);
    lmi_release(r->memory, r->severed, r->before->leaf_count, sizeof *r->severed);
    lmi_release(r->memory, r->now, r->before->node_count, sizeof *r->now);
    lmi_release(r->memory, r->then, r->then_capacity, sizeof *r->then);
}

lm_result lmi_octree_revise(lmi_octree *t, lmi_memory *memory, const lmi_octree *before, const lmi_octree_wish *wish,
                            uint32_t *found)
{
    reviser r = {.tree = t, .memory = memory, .before = before, .wish = wish};
    bool shared = lmi_octree_share(t, memory, before), ok = shared && make_reviser(&r);
    if (ok) {
        find_touched(&r);
        ok = revise_nodes(&r);
    }
    if (ok) {
        find_now(&r);
        take_widths(&r);
        ok = lmi_octree_update_neighbours(t, memory, before, r.then, r.now, r.severed) &&
             lmi_octree_update_regions(t, memory, before, r.then, r.now, found) &&
             lmi_octree_add_bends(t, memory, before, wish->slashes);
    }
    free_reviser(&r);
    bool too_wide = !ok && shared && t->too_wide;
    if (!ok && shared) {
        lmi_octree_free(t, memory);
    }
    return ok ? LM_OK : too_wide ? LM_ERROR_LIMIT : LM_ERROR_MEMORY;
}
