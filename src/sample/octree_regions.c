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
    lmi_octree_search_from(s, t, &from, 1, limit);
}

void lmi_octree_search_from(lmi_octree_search *s, const lmi_octree *t, const uint32_t *from, uint32_t count,
                            uint32_t limit)
{
    for (uint32_t n = 0; n < s->reached_count; n++) {
        s->distance[s->reached[n]] = LMI_OCTREE_NONE;
    }
    s->reached_count = 0;
    for (uint32_t n = 0; n < count; n++) {
        put(s, from[n], 0);
    }
    uint32_t waiting = count;
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

/* --- after cuts --- */

/* What two trees have in common. */
typedef struct kinship {
    uint32_t *then;  /* [node_count] the same node of the tree before, or LMI_OCTREE_NONE */
    uint32_t *now;   /* [before->node_count] the other way round */
    uint32_t *dirty; /* [before->leaf_count] leaves around which something is another now */
    uint32_t *fresh; /* [leaf_count] those that they have become */
    uint32_t dirty_count, fresh_count;
} kinship;

/* The node of the tree before that has these voxels, or LMI_OCTREE_NONE. Cuts only divide sets: as many are the same. */
static uint32_t same_node(const lmi_octree *before, const lmi_octree *t, const lmi_octree_node *node)
{
    uint32_t n = before->owner[t->voxel_order[node->first_voxel]];
    while (n != LMI_OCTREE_NONE && before->nodes[n].level < node->level) {
        n = before->nodes[n].parent;
    }
    bool same = n != LMI_OCTREE_NONE && before->nodes[n].level == node->level &&
                before->nodes[n].voxel_count == node->voxel_count && before->nodes[n].leaf_count == node->leaf_count;
    return same ? n : LMI_OCTREE_NONE;
}

/* Whether a leaf has the neighbours that it had. */
static bool same_neighbours(const kinship *k, const lmi_octree *before, const lmi_octree *t, uint32_t then,
                            uint32_t now)
{
    const lmi_octree_lists *a = &before->neighbours, *b = &t->neighbours;
    uint32_t count = a->offsets[then + 1] - a->offsets[then];
    bool same = b->offsets[now + 1] - b->offsets[now] == count;
    for (uint32_t n = 0; same && n < count;
         n++) { /* both are in the order of their trees, which is the same for what is the same */
        uint32_t node = k->now[before->leaves[a->items[a->offsets[then] + n]]];
        same = node == t->leaves[b->items[b->offsets[now] + n]];
    }
    return same;
}

static bool find_kinship(kinship *k, lmi_memory *memory, const lmi_octree *before, const lmi_octree *t)
{
    k->then = lmi_allocate(memory, t->node_count, sizeof *k->then);
    k->now = lmi_allocate(memory, before->node_count, sizeof *k->now);
    k->dirty = lmi_allocate(memory, before->leaf_count, sizeof *k->dirty);
    k->fresh = lmi_allocate(memory, t->leaf_count, sizeof *k->fresh);
    bool *is_dirty = lmi_allocate(memory, before->leaf_count, sizeof *is_dirty);
    if (!k->then || !k->now || !k->dirty || !k->fresh || !is_dirty) {
        lmi_release(memory, is_dirty, before->leaf_count, sizeof *is_dirty);
        return false;
    }
    memset(k->now, 0xff, before->node_count * sizeof *k->now);
    for (uint32_t n = 0; n < t->node_count; n++) {
        k->then[n] = same_node(before, t, &t->nodes[n]);
        if (k->then[n] != LMI_OCTREE_NONE) {
            k->now[k->then[n]] = n;
        }
    }
    for (uint32_t leaf = 0; leaf < before->leaf_count; leaf++) {
        uint32_t now = k->now[before->leaves[leaf]];
        bool same = now != LMI_OCTREE_NONE && lmi_octree_is_leaf(&t->nodes[now]) &&
                    same_neighbours(k, before, t, leaf, t->nodes[now].leaf);
        for (uint32_t n = before->leaves[leaf]; same && n != LMI_OCTREE_NONE; n = before->nodes[n].parent) {
            same = k->now[n] != LMI_OCTREE_NONE;
        }
        if (!same) {
            is_dirty[leaf] = true;
            k->dirty[k->dirty_count++] = leaf;
        }
    }
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        uint32_t then = k->then[t->leaves[leaf]];
        if (then == LMI_OCTREE_NONE || is_dirty[before->nodes[then].leaf]) {
            k->fresh[k->fresh_count++] = leaf;
        }
    }
    lmi_release(memory, is_dirty, before->leaf_count, sizeof *is_dirty);
    return true;
}

static void free_kinship(kinship *k, lmi_memory *memory, const lmi_octree *before, const lmi_octree *t)
{
    lmi_release(memory, k->then, t->node_count, sizeof *k->then);
    lmi_release(memory, k->now, before->node_count, sizeof *k->now);
    lmi_release(memory, k->dirty, before->leaf_count, sizeof *k->dirty);
    lmi_release(memory, k->fresh, t->leaf_count, sizeof *k->fresh);
}

/* Whether a region can be taken over: a search from its leaf, before and now, meets nothing that is another. */
static bool is_kept(const kinship *k, const lmi_octree *before, const lmi_octree *t, const lmi_octree_search *old,
                    const lmi_octree_search *fresh, uint32_t leaf)
{
    uint32_t then = k->then[t->leaves[leaf]];
    if (then == LMI_OCTREE_NONE || before->width[before->nodes[then].leaf] != t->width[leaf]) {
        return false;
    }
    uint32_t reach = lmi_octree_limit(t, t->width[leaf]);
    return old->distance[before->nodes[then].leaf] > reach && fresh->distance[leaf] > reach;
}

static bool take_over(const kinship *k, const lmi_octree *before, lmi_octree *t, lmi_memory *memory, uint32_t leaf)
{
    uint32_t then = before->nodes[k->then[t->leaves[leaf]]].leaf;
    bool ok = true;
    for (uint32_t n = before->regions.offsets[then]; ok && n < before->regions.offsets[then + 1]; n++) {
        ok = lmi_octree_lists_add(&t->regions, memory, k->now[before->regions.items[n]]);
    }
    t->regions.offsets[leaf + 1] = t->regions.item_count;
    return ok;
}

bool lmi_octree_update_regions(lmi_octree *t, lmi_memory *memory, const lmi_octree *before, uint32_t *found)
{
    kinship k = {0};
    lmi_octree_search old = {0}, fresh = {0};
    finder f = {.of = lmi_allocate(memory, t->node_count, sizeof *f.of),
                .touched = lmi_allocate(memory, t->node_count, sizeof *f.touched)};
    uint32_t *base = lmi_allocate(memory, t->node_count, sizeof *base);
    bool ok = f.of && f.touched && base && find_kinship(&k, memory, before, t) &&
              lmi_octree_search_make(&f.search, memory, t) && lmi_octree_search_make(&old, memory, before) &&
              lmi_octree_search_make(&fresh, memory, t) && lmi_octree_lists_make(&t->regions, memory, t->leaf_count);
    *found = 0;
    if (ok) {
        lmi_octree_search_from(&old, before, k.dirty, k.dirty_count, UINT32_MAX - 1);
        lmi_octree_search_from(&fresh, t, k.fresh, k.fresh_count, UINT32_MAX - 1);
    }
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        bool kept = is_kept(&k, before, t, &old, &fresh, leaf);
        ok = kept ? take_over(&k, before, t, memory, leaf) : find_region(&f, t, memory, leaf, base);
        *found += !kept;
    }
    if (!ok) {
        lmi_octree_lists_free(&t->regions, memory);
    }
    lmi_octree_search_free(&f.search, memory);
    lmi_octree_search_free(&old, memory);
    lmi_octree_search_free(&fresh, memory);
    lmi_release(memory, f.of, t->node_count, sizeof *f.of);
    lmi_release(memory, f.touched, t->node_count, sizeof *f.touched);
    lmi_release(memory, base, t->node_count, sizeof *base);
    free_kinship(&k, memory, before, t);
    return ok;
}
