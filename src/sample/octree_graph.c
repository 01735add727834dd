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
#include "sample/octree.h"

#include <stdlib.h>
#include <string.h>

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t drop_repeats(uint32_t *items, uint32_t count)
{
    uint32_t kept = 0;
    qsort(items, count, sizeof *items, compare_words);
    for (uint32_t n = 0; n < count; n++) {
        if (n == 0 || items[n] != items[n - 1]) {
            items[kept++] = items[n];
        }
    }
    return kept;
}

/* The leaves that links lead to, for each leaf. */
static bool find_faces(const lmi_octree *t, lmi_memory *memory, lmi_octree_lists *faces)
{
    bool ok = lmi_octree_lists_make(faces, memory, t->leaf_count);
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        uint32_t first = faces->item_count;
        for (uint32_t n = 0; ok && n < node->voxel_count; n++) {
            uint32_t voxel = t->voxel_order[node->first_voxel + n];
            for (int way = 0; ok && way < 6; way++) {
                uint32_t other = lmi_octree_linked(t, voxel, way / 2, way % 2);
                if (other != LMI_OCTREE_NONE && t->owner[other] != t->leaves[leaf]) {
                    ok = lmi_octree_lists_add(faces, memory, t->nodes[t->owner[other]].leaf);
                }
            }
        }
        if (ok && faces->item_count > first) {
            faces->item_count = first + drop_repeats(faces->items + first, faces->item_count - first);
        }
        if (ok) {
            faces->offsets[leaf + 1] = faces->item_count;
        }
    }
    return ok;
}

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

/* What is gone through from one leaf. */
typedef struct walk {
    uint32_t *found; /* [leaf_count] */
    uint32_t *stamp; /* [leaf_count] the leaf + 1 that a leaf was last found from */
    uint32_t count;
} walk;

/* Every leaf within three links of `leaf` whose cell touches its cell, as far as the way is no longer than the contact asks. */
static bool find_around(const lmi_octree *t, lmi_memory *memory, const lmi_octree_lists *faces, uint32_t leaf, walk *w,
                        lmi_octree_lists *pairs)
{
    const lmi_octree_node *from = &t->nodes[t->leaves[leaf]];
    bool ok = true;
    w->count = 0;
    w->found[w->count++] = leaf;
    w->stamp[leaf] = leaf + 1;
    uint32_t begin = 0, end = 1;
    for (int steps = 1; steps <= 3; steps++) {
        for (uint32_t n = begin; n < end; n++) {
            uint32_t at = w->found[n];
            for (uint32_t k = faces->offsets[at]; ok && k < faces->offsets[at + 1]; k++) {
                uint32_t other = faces->items[k];
                int contact = contact_of(from, &t->nodes[t->leaves[other]]);
                if (w->stamp[other] == leaf + 1 || contact < 0) {
                    continue;
                }
                w->stamp[other] = leaf + 1;
                w->found[w->count++] = other;
                if (steps <= 3 - contact) {
                    ok = lmi_octree_lists_add(pairs, memory, leaf) && lmi_octree_lists_add(pairs, memory, other);
                }
            }
        }
        begin = end;
        end = w->count;
    }
    return ok;
}

/* Lists of neighbours from pairs, each in both directions. */
static bool spread_pairs(lmi_octree *t, lmi_memory *memory, const lmi_octree_lists *pairs)
{
    lmi_octree_lists *to = &t->neighbours;
    lmi_octree_lists_free(to, memory);
    uint32_t *place = lmi_allocate(memory, (size_t)t->leaf_count + 1, sizeof *place);
    bool ok = place && lmi_octree_lists_make(to, memory, t->leaf_count);
    if (ok) {
        to->items = lmi_allocate(memory, (size_t)pairs->item_count + 1, sizeof *to->items);
        to->item_capacity = pairs->item_count + 1;
        ok = to->items != NULL;
        to->item_capacity = ok ? to->item_capacity : 0;
    }
    for (uint32_t n = 0; ok && n < pairs->item_count; n++) {
        place[pairs->items[n] + 1]++;
    }
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        place[leaf + 1] += place[leaf];
        to->offsets[leaf] = place[leaf];
    }
    for (uint32_t n = 0; ok && n < pairs->item_count; n += 2) {
        uint32_t a = pairs->items[n], b = pairs->items[n + 1];
        to->items[place[a]++] = b;
        to->items[place[b]++] = a;
    }
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) { /* place[leaf] is where its own end */
        uint32_t first = to->offsets[leaf], kept = drop_repeats(to->items + first, place[leaf] - first);
        memmove(to->items + to->item_count, to->items + first, kept * sizeof *to->items);
        to->offsets[leaf] = to->item_count;
        to->item_count += kept;
    }
    if (ok) {
        to->offsets[t->leaf_count] = to->item_count;
    }
    lmi_release(memory, place, (size_t)t->leaf_count + 1, sizeof *place);
    return ok;
}

bool lmi_octree_find_neighbours(lmi_octree *t, lmi_memory *memory)
{
    lmi_octree_lists faces = {0}, pairs = {0};
    walk w = {lmi_allocate(memory, t->leaf_count, sizeof *w.found),
              lmi_allocate(memory, t->leaf_count, sizeof *w.stamp), 0};
    bool ok = w.found && w.stamp && find_faces(t, memory, &faces) && lmi_octree_lists_make(&pairs, memory, 0);
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        ok = find_around(t, memory, &faces, leaf, &w, &pairs);
    }
    ok = ok && spread_pairs(t, memory, &pairs);
    lmi_octree_lists_free(&faces, memory);
    lmi_octree_lists_free(&pairs, memory);
    lmi_release(memory, w.found, t->leaf_count, sizeof *w.found);
    lmi_release(memory, w.stamp, t->leaf_count, sizeof *w.stamp);
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
