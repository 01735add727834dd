/*
 * Regions: what is near a leaf, as a few nodes of the tree.
 *
 * Distances are shortest paths along neighbours. All lengths are small whole numbers, so the search keeps a leaf in the bucket
 * of its distance, as many buckets as the longest edge has units and one more, used round and round (the bucket-Moore
 * search): a leaf goes in and out at the cost of a few words.
 *
 * Every node above what was reached gets the interval [a, b] of the distances of its leaves, b without end when one of them
 * was not reached. From the base cells down: a > w: none of it belongs to the region; b <= (1 + slack) w: all of it does, and
 * the node is one of the region's summation nodes; else its children are looked at. So a region contains every leaf within w
 * and none beyond (1 + slack) w; the more is left open between the two, the fewer nodes it takes.
 *
 * The region of a leaf depends on the graph within (1 + slack) w of it alone. Steinemann et al. 2008, sections 4.2 and 6.2.
 * The paper makes regions symmetric as well; with widths that vary that contradicts the intervals, and it is not needed: the
 * weights of octree_rest.c keep momentum for any regions.
 */
#include "sample/octree.h"

#include <string.h>

/* --- distances --- */

static uint32_t longest_edge(const lmi_octree *t)
{
    uint32_t longest = 1;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        for (uint32_t n = t->neighbours.offsets[leaf]; n < t->neighbours.offsets[leaf + 1]; n++) {
            uint32_t length = lmi_octree_length(t, leaf, t->neighbours.items[n]);
            longest = length > longest ? length : longest;
        }
    }
    return longest;
}

bool lmi_octree_search_make(lmi_octree_search *s, lmi_memory *memory, const lmi_octree *t)
{
    *s = (lmi_octree_search){.leaf_count = t->leaf_count, .bucket_count = longest_edge(t) + 1};
    s->distance = lmi_allocate(memory, t->leaf_count, sizeof *s->distance);
    s->next = lmi_allocate(memory, t->leaf_count, sizeof *s->next);
    s->before = lmi_allocate(memory, t->leaf_count, sizeof *s->before);
    s->reached = lmi_allocate(memory, t->leaf_count, sizeof *s->reached);
    s->bucket = lmi_allocate(memory, s->bucket_count, sizeof *s->bucket);
    if (!s->distance || !s->next || !s->before || !s->reached || !s->bucket) {
        lmi_octree_search_free(s, memory);
        return false;
    }
    memset(s->distance, 0xff, t->leaf_count * sizeof *s->distance);
    memset(s->bucket, 0xff, s->bucket_count * sizeof *s->bucket);
    return true;
}

void lmi_octree_search_free(lmi_octree_search *s, lmi_memory *memory)
{
    lmi_release(memory, s->distance, s->leaf_count, sizeof *s->distance);
    lmi_release(memory, s->next, s->leaf_count, sizeof *s->next);
    lmi_release(memory, s->before, s->leaf_count, sizeof *s->before);
    lmi_release(memory, s->reached, s->leaf_count, sizeof *s->reached);
    lmi_release(memory, s->bucket, s->bucket_count, sizeof *s->bucket);
    memset(s, 0, sizeof *s);
}

static void put(lmi_octree_search *s, uint32_t leaf, uint32_t distance)
{
    uint32_t *head = &s->bucket[distance % s->bucket_count];
    s->distance[leaf] = distance;
    s->before[leaf] = LMI_OCTREE_NONE;
    s->next[leaf] = *head;
    if (*head != LMI_OCTREE_NONE) {
        s->before[*head] = leaf;
    }
    *head = leaf;
}

static void take(lmi_octree_search *s, uint32_t leaf)
{
    if (s->before[leaf] == LMI_OCTREE_NONE) {
        s->bucket[s->distance[leaf] % s->bucket_count] = s->next[leaf];
    } else {
        s->next[s->before[leaf]] = s->next[leaf];
    }
    if (s->next[leaf] != LMI_OCTREE_NONE) {
        s->before[s->next[leaf]] = s->before[leaf];
    }
}

void lmi_octree_search_run(lmi_octree_search *s, const lmi_octree *t, uint32_t from, uint32_t limit)
{
    for (uint32_t n = 0; n < s->reached_count; n++) {
        s->distance[s->reached[n]] = LMI_OCTREE_NONE;
    }
    s->reached_count = 0;
    put(s, from, 0);
    uint32_t waiting = 1;
    for (uint32_t at = 0; waiting > 0; at++) {
        uint32_t leaf;
        while ((leaf = s->bucket[at % s->bucket_count]) != LMI_OCTREE_NONE) {
            take(s, leaf);
            waiting--;
            s->reached[s->reached_count++] = leaf;
            for (uint32_t n = t->neighbours.offsets[leaf]; n < t->neighbours.offsets[leaf + 1]; n++) {
                uint32_t other = t->neighbours.items[n], distance = at + lmi_octree_length(t, leaf, other);
                if (distance > limit || distance >= s->distance[other]) {
                    continue;
                }
                if (s->distance[other] != LMI_OCTREE_NONE) {
                    take(s, other);
                    waiting--;
                }
                put(s, other, distance);
                waiting++;
            }
        }
    }
}

/* --- intervals --- */

/* The distances of what was reached below a node. */
typedef struct interval {
    uint32_t low, high;
    uint32_t reached; /* leaves */
} interval;

typedef struct finder {
    lmi_octree_search search;
    interval *of;      /* [node_count] */
    uint32_t *touched; /* [node_count] nodes with something reached */
    uint32_t touched_count;
} finder;

/* Leaves come nearest first: the first of a node is its lowest distance, the last its highest. */
static void find_intervals(finder *f, const lmi_octree *t)
{
    f->touched_count = 0;
    for (uint32_t n = 0; n < f->search.reached_count; n++) {
        uint32_t leaf = f->search.reached[n], distance = f->search.distance[leaf];
        for (uint32_t node = t->leaves[leaf]; node != LMI_OCTREE_NONE; node = t->nodes[node].parent) {
            interval *i = &f->of[node];
            if (i->reached++ == 0) {
                i->low = distance;
                f->touched[f->touched_count++] = node;
            }
            i->high = distance;
        }
    }
}

static bool descend(finder *f, lmi_octree *t, lmi_memory *memory, uint32_t n, uint32_t width, uint32_t limit)
{
    const lmi_octree_node *node = &t->nodes[n];
    const interval *i = &f->of[n];
    if (i->reached == 0 || i->low > width) {
        return true;
    }
    if (i->reached == node->leaf_count && i->high <= limit) {
        return lmi_octree_lists_add(&t->regions, memory, n);
    }
    bool ok = true;
    for (uint32_t c = 0; ok && c < node->child_count; c++) {
        ok = descend(f, t, memory, node->first_child + c, width, limit);
    }
    return ok;
}

static int compare_numbers(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

/* The base nodes among those touched, in order: few, so by insertion. */
static uint32_t keep_base_nodes(const lmi_octree *t, const uint32_t *touched, uint32_t count, uint32_t *base)
{
    uint32_t kept = 0;
    for (uint32_t n = 0; n < count; n++) {
        if (t->nodes[touched[n]].parent == LMI_OCTREE_NONE) {
            uint32_t at = kept++;
            for (; at > 0 && compare_numbers(base[at - 1], touched[n]) > 0; at--) {
                base[at] = base[at - 1];
            }
            base[at] = touched[n];
        }
    }
    return kept;
}

static bool find_region(finder *f, lmi_octree *t, lmi_memory *memory, uint32_t leaf, uint32_t *base)
{
    uint32_t limit = lmi_octree_limit(t, t->width[leaf]);
    lmi_octree_search_run(&f->search, t, leaf, limit);
    find_intervals(f, t);
    uint32_t count = keep_base_nodes(t, f->touched, f->touched_count, base);
    bool ok = true;
    for (uint32_t n = 0; ok && n < count; n++) {
        ok = descend(f, t, memory, base[n], t->width[leaf], limit);
    }
    for (uint32_t n = 0; n < f->touched_count; n++) {
        f->of[f->touched[n]].reached = 0;
    }
    t->regions.offsets[leaf + 1] = t->regions.item_count;
    return ok;
}

bool lmi_octree_find_regions(lmi_octree *t, lmi_memory *memory)
{
    finder f = {.of = lmi_allocate(memory, t->node_count, sizeof *f.of),
                .touched = lmi_allocate(memory, t->node_count, sizeof *f.touched)};
    uint32_t *base = lmi_allocate(memory, t->node_count, sizeof *base);
    lmi_octree_lists old = t->regions;
    memset(&t->regions, 0, sizeof t->regions);
    bool ok = f.of && f.touched && base && lmi_octree_search_make(&f.search, memory, t) &&
              lmi_octree_lists_make(&t->regions, memory, t->leaf_count);
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        ok = find_region(&f, t, memory, leaf, base);
    }
    if (!ok) { /* what there was stays */
        lmi_octree_lists_free(&t->regions, memory);
        t->regions = old;
        memset(&old, 0, sizeof old);
    }
    lmi_octree_lists_free(&old, memory);
    lmi_octree_search_free(&f.search, memory);
    lmi_release(memory, f.of, t->node_count, sizeof *f.of);
    lmi_release(memory, f.touched, t->node_count, sizeof *f.touched);
    lmi_release(memory, base, t->node_count, sizeof *base);
    return ok;
}
