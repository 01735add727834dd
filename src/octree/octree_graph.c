/*
 * The visibility graph: which leaves are neighbours.
 *
 * Two leaves are neighbours when their cells touch and material leads from one to the other right there: through a link
 * where the cells share a face, over one leaf between them where they share an edge, over two where they share a corner, all
 * of them around the first one's cell. So an edge never leads across a gap or a cut, and at the end of a cut none leads
 * around it. In the open these are all 26 neighbours of a cell, and distances along them are those of the maximum norm.
 *
 * What the neighbours of a leaf are depends on what touches its cell and on nothing else: after a change only leaves around
 * it have to be looked at.
 */
#include "octree/octree.h"

#include <string.h>

/* The items of a list from one on: few, and mostly in order already. */
static void sort_from(lmi_octree_lists *lists, uint32_t first)
{
    uint32_t *items = lists->items; /* may be null while there are none */
    for (uint32_t n = first + 1; n < lists->item_count; n++) {
        uint32_t item = items[n], at = n;
        for (; at > first && items[at - 1] > item; at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

/* What neighbours are found with. */
typedef struct finder {
    lmi_octree *tree;
    lmi_memory *memory;
    uint32_t *found; /* [leaf_count] */
    uint32_t *stamp; /* [leaf_count] the leaf + 1 that a leaf was last found from */
    uint8_t *near;   /* [leaf_count] links to a leaf whose own links have changed, up to 3; null: all have */
} finder;

/* --- across faces --- */

/* The leaf that a link leads to out of a leaf's cell along an axis, or LMI_OCTREE_NONE. */
static uint32_t leaf_beyond(const lmi_octree *t, uint32_t node, const int64_t at[3], int way)
{
    uint32_t voxel = lmi_octree_voxel(t, at[0], at[1], at[2]);
    if (voxel == LMI_OCTREE_NONE || t->owner[voxel] != node) {
        return LMI_OCTREE_NONE;
    }
    uint32_t other = lmi_octree_linked(t, voxel, way / 2, way % 2);
    return other == LMI_OCTREE_NONE ? LMI_OCTREE_NONE : t->nodes[t->owner[other]].leaf;
}

/* The leaves that links lead to from one, behind the faces that there are: only voxels on the sides of its cell have such. */
static bool add_faces(finder *f, uint32_t leaf)
{
    const lmi_octree *t = f->tree;
    const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
    lmi_octree_lists *faces = &f->tree->faces;
    uint32_t first = faces->item_count;
    int64_t side = (int64_t)1 << node->level;
    bool ok = true;
    for (int way = 0; way < 6; way++) {
        int axis = way / 2, b = (axis + 1) % 3, c = (axis + 2) % 3;
        int64_t at[3], low[3];
        for (int k = 0; k < 3; k++) {
            low[k] = (int64_t)node->cell[k] - t->pad[k];
        }
        at[axis] = low[axis] + (way % 2 ? side - 1 : 0);
        for (int64_t i = 0; ok && i < side * side; i++) {
            at[b] = low[b] + i % side;
            at[c] = low[c] + i / side;
            uint32_t other = leaf_beyond(t, t->leaves[leaf], at, way);
            if (other != LMI_OCTREE_NONE && f->stamp[other] != leaf + 1) {
                f->stamp[other] = leaf + 1;
                ok = lmi_octree_lists_add(faces, f->memory, other);
            }
        }
    }
    sort_from(faces, first);
    return ok;
}

/* --- around a cell --- */

/* How cells meet: along how many axes they overlap by more than a point, or -1 when they are apart or are one and the same. */
static int contact_of(const lmi_octree_node *a, const lmi_octree_node *b)
{
    int overlaps = 0;
    for (int k = 0; k < 3; k++) {
        uint32_t a_end = a->cell[k] + (1u << a->level), b_end = b->cell[k] + (1u << b->level);
        if (a->cell[k] > b_end || b->cell[k] > a_end) {
            return -1;
        }
        overlaps += a->cell[k] < b_end && b->cell[k] < a_end;
    }
    return overlaps < 3 ? overlaps : -1;
}

/* Every leaf within three links of `leaf` whose cell touches its cell, as far as the way is no longer than the contact asks. */
static bool add_around(finder *f, uint32_t leaf)
{
    const lmi_octree *t = f->tree;
    const lmi_octree_node *from = &t->nodes[t->leaves[leaf]];
    lmi_octree_lists *around = &f->tree->around;
    uint32_t first = around->item_count, count = 0, begin = 0, end = 1;
    bool ok = true;
    f->found[count++] = leaf;
    f->stamp[leaf] = leaf + 1;
    for (int steps = 1; steps <= 3; steps++) {
        for (uint32_t n = begin; n < end; n++) {
            uint32_t at = f->found[n];
            for (uint32_t k = t->faces.offsets[at]; ok && k < t->faces.offsets[at + 1]; k++) {
                uint32_t other = t->faces.items[k];
                int contact = f->stamp[other] == leaf + 1 ? -1 : contact_of(from, &t->nodes[t->leaves[other]]);
                if (contact < 0) {
                    continue;
                }
                f->stamp[other] = leaf + 1;
                f->found[count++] = other;
                if (steps <= 3 - contact) {
                    ok = lmi_octree_lists_add(around, f->memory, other);
                }
            }
        }
        begin = end;
        end = count;
    }
    sort_from(around, first);
    return ok;
}

/* --- both ways --- */

/* The leaves that each is found from, ascending. */
static bool turn_around(const lmi_octree *t, lmi_memory *memory, lmi_octree_lists *back)
{
    const lmi_octree_lists *around = &t->around;
    if (!lmi_octree_lists_make(back, memory, t->leaf_count)) {
        return false;
    }
    back->items = lmi_allocate_plain(memory, around->item_count, sizeof *back->items);
    if (!back->items) {
        return false;
    }
    back->item_count = back->item_capacity = around->item_count;
    for (uint32_t n = 0; n < around->item_count; n++) {
        back->offsets[around->items[n] + 1]++;
    }
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        back->offsets[leaf + 1] += back->offsets[leaf];
    }
    for (uint32_t leaf = t->leaf_count; leaf-- > 0;) { /* backwards, each from the end of its list */
        for (uint32_t n = around->offsets[leaf]; n < around->offsets[leaf + 1]; n++) {
            back->items[--back->offsets[around->items[n] + 1]] = leaf;
        }
    }
    /* offsets[n + 1] is now where the list of n begins. */
    memmove(back->offsets, back->offsets + 1, t->leaf_count * sizeof *back->offsets);
    back->offsets[t->leaf_count] = around->item_count;
    return true;
}

static void add_neighbour(lmi_octree *t, uint32_t leaf, uint32_t other)
{
    t->lengths[t->neighbours.item_count] = (uint16_t)lmi_octree_length(t, leaf, other);
    t->neighbours.items[t->neighbours.item_count++] = other;
}

/* Neighbours are what is found from one or the other of two leaves: two ascending lists become one. */
static bool join_ways(lmi_octree *t, lmi_memory *memory)
{
    lmi_octree_lists back = {0}, *to = &t->neighbours;
    const lmi_octree_lists *around = &t->around;
    lmi_release(memory, t->lengths, to->item_capacity, sizeof *t->lengths);
    t->lengths = NULL;
    lmi_octree_lists_free(to, memory);
    bool ok = turn_around(t, memory, &back) && lmi_octree_lists_make(to, memory, t->leaf_count);
    if (ok) {
        to->item_capacity = 2 * around->item_count;
        to->items = lmi_allocate_plain(memory, to->item_capacity, sizeof *to->items);
        t->lengths = lmi_allocate_plain(memory, to->item_capacity, sizeof *t->lengths);
        ok = to->items && t->lengths;
    }
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        uint32_t a = around->offsets[leaf], b = back.offsets[leaf];
        while (a < around->offsets[leaf + 1] || b < back.offsets[leaf + 1]) {
            uint32_t x = a < around->offsets[leaf + 1] ? around->items[a] : LMI_OCTREE_NONE;
            uint32_t y = b < back.offsets[leaf + 1] ? back.items[b] : LMI_OCTREE_NONE;
            a += x <= y;
            b += y <= x;
            add_neighbour(t, leaf, x < y ? x : y);
        }
        to->offsets[leaf + 1] = to->item_count;
    }
    lmi_octree_lists_free(&back, memory);
    return ok;
}

/* --- all of them, or those near a change --- */

static bool make_finder(finder *f, lmi_octree *t, lmi_memory *memory)
{
    *f = (finder){.tree = t, .memory = memory};
    f->found = lmi_allocate_plain(memory, t->leaf_count, sizeof *f->found);
    f->stamp = lmi_allocate(memory, t->leaf_count, sizeof *f->stamp);
    lmi_octree_lists_free(&t->faces, memory);
    lmi_octree_lists_free(&t->around, memory);
    return f->found && f->stamp && lmi_octree_lists_make(&t->faces, memory, t->leaf_count) &&
           lmi_octree_lists_make(&t->around, memory, t->leaf_count);
}

static void free_finder(finder *f)
{
    lmi_release(f->memory, f->found, f->tree->leaf_count, sizeof *f->found);
    lmi_release(f->memory, f->stamp, f->tree->leaf_count, sizeof *f->stamp);
    lmi_release(f->memory, f->near, f->tree->leaf_count, sizeof *f->near);
}

bool lmi_octree_find_neighbours(lmi_octree *t, lmi_memory *memory)
{
    finder f;
    bool ok = make_finder(&f, t, memory);
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        ok = add_faces(&f, leaf);
        t->faces.offsets[leaf + 1] = t->faces.item_count;
    }
    if (ok) {
        memset(f.stamp, 0, t->leaf_count * sizeof *f.stamp);
    }
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        ok = add_around(&f, leaf);
        t->around.offsets[leaf + 1] = t->around.item_count;
    }
    ok = ok && join_ways(t, memory);
    free_finder(&f);
    return ok;
}

/* A list of the tree before with the numbers of now, at the end of `to`; false where one of its leaves is gone. */
static bool take_over(const lmi_octree_lists *from, uint32_t then, const lmi_octree *before, const lmi_octree *t,
                      const uint32_t *now, lmi_octree_lists *to, lmi_memory *memory, bool *ok)
{
    uint32_t first = to->item_count;
    for (uint32_t n = from->offsets[then]; *ok && n < from->offsets[then + 1]; n++) {
        uint32_t node = now[before->leaves[from->items[n]]];
        if (node == LMI_OCTREE_NONE || !lmi_octree_is_leaf(&t->nodes[node])) {
            to->item_count = first;
            return false;
        }
        *ok = lmi_octree_lists_add(to, memory, t->nodes[node].leaf);
    }
    sort_from(to, first);
    return true;
}

/* The leaf before that is the same as a leaf, or LMI_OCTREE_NONE. */
static uint32_t leaf_then(const lmi_octree *before, const lmi_octree *t, const uint32_t *then, uint32_t leaf)
{
    uint32_t node = then[t->leaves[leaf]];
    return node == LMI_OCTREE_NONE ? LMI_OCTREE_NONE : before->nodes[node].leaf;
}

#define FAR 3 /* links: what is found from a leaf reads the links of leaves that are up to two away */

/* How far each leaf is from one whose links are others now, in links, up to FAR. */
static void spread_near(finder *f)
{
    const lmi_octree_lists *faces = &f->tree->faces;
    for (uint8_t steps = 1; steps < FAR; steps++) {
        for (uint32_t leaf = 0; leaf < f->tree->leaf_count; leaf++) {
            for (uint32_t n = faces->offsets[leaf]; f->near[leaf] == steps - 1 && n < faces->offsets[leaf + 1]; n++) {
                uint8_t *other = &f->near[faces->items[n]];
                *other = *other > steps ? steps : *other;
            }
        }
    }
}

bool lmi_octree_update_neighbours(lmi_octree *t, lmi_memory *memory, const lmi_octree *before, const uint32_t *then,
                                  const uint32_t *now, const bool *severed)
{
    finder f;
    bool ok = make_finder(&f, t, memory);
    f.near = lmi_allocate(memory, t->leaf_count, sizeof *f.near);
    ok = ok && f.near;
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        uint32_t was = leaf_then(before, t, then, leaf);
        bool kept = was != LMI_OCTREE_NONE && !severed[was] &&
                    take_over(&before->faces, was, before, t, now, &t->faces, memory, &ok);
        f.near[leaf] = kept ? FAR : 0;
        ok = ok && (kept || add_faces(&f, leaf));
        t->faces.offsets[leaf + 1] = t->faces.item_count;
    }
    if (ok) {
        memset(f.stamp, 0, t->leaf_count * sizeof *f.stamp);
        spread_near(&f);
    }
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        bool kept = f.near[leaf] == FAR && take_over(&before->around, leaf_then(before, t, then, leaf), before, t, now,
                                                     &t->around, memory, &ok);
        ok = ok && (kept || add_around(&f, leaf));
        t->around.offsets[leaf + 1] = t->around.item_count;
    }
    ok = ok && join_ways(t, memory);
    free_finder(&f);
    return ok;
}

uint32_t lmi_octree_length(const lmi_octree *t, uint32_t leaf, uint32_t other)
{
    const lmi_octree_node *a = &t->nodes[t->leaves[leaf]], *b = &t->nodes[t->leaves[other]];
    uint32_t length = 0;
    for (int k = 0; k < 3; k++) {
        uint32_t x = 2 * a->cell[k] + (1u << a->level), y = 2 * b->cell[k] + (1u << b->level);
        uint32_t apart = x > y ? x - y : y - x;
        length = apart > length ? apart : length;
    }
    return length;
}
