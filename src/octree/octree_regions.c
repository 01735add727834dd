/*
 * Regions: what is near a leaf, as a few nodes of the tree.
 *
 * Every node above what was reached gets the interval [a, b] of the distances of its leaves, b without end when one of them
 * was not reached. From the base cells down: a > w: none of it belongs to the region; b <= (1 + slack) w: all of it does, and
 * the node is one of the region's summation nodes; else its children are visited. So a region contains every leaf within w
 * and none beyond (1 + slack) w; the more is left open between the two, the fewer nodes it takes.
 *
 * The region of a leaf depends on the graph within (1 + slack) w of it alone. Steinemann et al. 2008, sections 4.2 and 6.2.
 * The paper makes regions symmetric as well; with widths that vary that contradicts the intervals, and it is not needed: the
 * weights of octree_layout.c keep momentum for any regions.
 *
 * Regions of leaves that are near each other are found together, one in each of sixteen lanes: one search from all of them finds
 * what any of them reaches, in about the order in which each does; then distances are improved along neighbours, forward and
 * backward in that order, until none changes. These are the distances of sixteen searches, for a little more than the cost of one.
 *
 * A region that is wider than the way from its leaf to a landmark of its part, and from there to all of the part, has all of it: its
 * nodes are the base cells of the part, and nothing is searched for. Else a body of n leaves in wide regions would take n^2 steps.
 */
#include "base/compiler.h"
#include "base/cpu.h"
#include "octree/octree.h"

#include <string.h>

#define TOGETHER 16    /* regions that are found at once */
#define FARTHEST 30000 /* units: farther than any distance that fits the lanes */
#define LANDMARKS 64   /* in a part, at most */

typedef struct lanes_word {
    int16_t lane[TOGETHER];
} lanes_word;

/* The distances of what was reached below a node, and how many leaves were reached from any of the starts. */
typedef struct interval {
    lanes_word low, high;
    uint32_t low_alone, high_alone; /* of a region that is found alone, because it reaches too far for the lanes */
    uint32_t reached;
} interval;

typedef struct finder {
    const lmi_octree *tree;
    lmi_memory *memory;
    lmi_octree_search search;
    lanes_word *distance; /* [leaf_count] FARTHEST but for what was reached */
    bool *stale;          /* [leaf_count] a neighbour has come nearer since its distances were found */
    interval *of;         /* [node_count] `reached` is 0 but for what was touched */
    uint32_t *touched;    /* [node_count] nodes with something reached */
    uint32_t *base;       /* [node_count] the base nodes among them */
    uint32_t touched_count, base_count;

    uint32_t *to_all;     /* [leaf_count] no leaf of its part is farther from a leaf than this */
    uint32_t *part;       /* [leaf_count] */
    uint32_t *roots;      /* [base cells] those of the first part, then those of the second, ... each ascending */
    uint32_t *first_root; /* [parts + 1] in `roots` */
    uint32_t root_count, part_count;
} finder;

static bool make_finder(finder *f, const lmi_octree *t, lmi_memory *memory)
{
    *f = (finder){.tree = t, .memory = memory};
    f->distance = lmi_allocate_plain(memory, t->leaf_count, sizeof *f->distance);
    f->stale = lmi_allocate(memory, t->leaf_count, sizeof *f->stale);
    f->of = lmi_allocate(memory, t->node_count, sizeof *f->of);
    f->touched = lmi_allocate_plain(memory, t->node_count, sizeof *f->touched);
    f->base = lmi_allocate_plain(memory, t->node_count, sizeof *f->base);
    f->to_all = lmi_allocate_plain(memory, t->leaf_count, sizeof *f->to_all);
    f->part = lmi_allocate_plain(memory, t->leaf_count, sizeof *f->part);
    while (f->root_count < t->node_count && t->nodes[f->root_count].parent == LMI_OCTREE_NONE) {
        f->root_count++; /* base cells come first */
    }
    f->roots = lmi_allocate_plain(memory, f->root_count, sizeof *f->roots);
    f->first_root = lmi_allocate(memory, (size_t)f->root_count + 1, sizeof *f->first_root);
    if (!f->distance || !f->stale || !f->of || !f->touched || !f->base || !f->to_all || !f->part || !f->roots ||
        !f->first_root || !lmi_octree_search_make(&f->search, memory, t)) {
        return false;
    }
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        for (int k = 0; k < TOGETHER; k++) {
            f->distance[leaf].lane[k] = FARTHEST;
        }
    }
    memset(f->to_all, 0xff, t->leaf_count * sizeof *f->to_all); /* not known */
    return true;
}

static void free_finder(finder *f)
{
    lmi_release(f->memory, f->distance, f->tree->leaf_count, sizeof *f->distance);
    lmi_release(f->memory, f->stale, f->tree->leaf_count, sizeof *f->stale);
    lmi_release(f->memory, f->of, f->tree->node_count, sizeof *f->of);
    lmi_release(f->memory, f->touched, f->tree->node_count, sizeof *f->touched);
    lmi_release(f->memory, f->base, f->tree->node_count, sizeof *f->base);
    lmi_release(f->memory, f->to_all, f->tree->leaf_count, sizeof *f->to_all);
    lmi_release(f->memory, f->part, f->tree->leaf_count, sizeof *f->part);
    lmi_release(f->memory, f->roots, f->root_count, sizeof *f->roots);
    lmi_release(f->memory, f->first_root, (size_t)f->root_count + 1, sizeof *f->first_root);
    lmi_octree_search_free(&f->search, f->memory);
}

/* --- regions that have all of their part --- */

static bool has_all(const finder *f, uint32_t leaf) { return f->to_all[leaf] <= f->tree->width[leaf]; }

/* Goes from a landmark to all of its part. Returns the leaf of the part that lacks most to have all of it, or LMI_OCTREE_NONE. */
static uint32_t look_from(finder *f, uint32_t landmark)
{
    const lmi_octree *t = f->tree;
    const lmi_octree_search *s = &f->search;
    lmi_octree_search_run(&f->search, t, landmark, UINT32_MAX - 1);
    f->memory->work += s->reached_count;
    uint32_t farthest = s->distance[s->reached[s->reached_count - 1]], next = LMI_OCTREE_NONE; /* nearest first */
    for (uint32_t n = 0; n < s->reached_count; n++) {
        uint32_t leaf = s->reached[n], here = s->distance[leaf] + farthest;
        f->part[leaf] = f->part_count;
        f->to_all[leaf] = here < f->to_all[leaf] ? here : f->to_all[leaf];
        if (!has_all(f, leaf) && (next == LMI_OCTREE_NONE || f->to_all[leaf] > f->to_all[next])) {
            next = leaf;
        }
    }
    return next;
}

/* The parts that neighbours join, and how far it is to all of them at most. A base cell holds together, so it is in one part. */
static void find_parts(finder *f)
{
    const lmi_octree *t = f->tree;
    memset(f->part, 0xff, t->leaf_count * sizeof *f->part);
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        if (f->part[leaf] != LMI_OCTREE_NONE) {
            continue;
        }
        uint32_t next = leaf;
        for (uint32_t n = 0; n < LANDMARKS && next != LMI_OCTREE_NONE; n++) {
            next = look_from(f, next);
        }
        f->part_count++;
    }
    for (uint32_t root = 0; root < f->root_count; root++) {
        f->first_root[f->part[t->nodes[root].first_leaf] + 1]++;
    }
    for (uint32_t part = 0; part < f->part_count; part++) {
        f->first_root[part + 1] += f->first_root[part];
    }
    for (uint32_t root = f->root_count; root-- > 0;) { /* from behind: what is before is the end of the part before */
        f->roots[--f->first_root[f->part[t->nodes[root].first_leaf] + 1]] = root;
    }
    for (uint32_t part = 0; part < f->part_count; part++) {
        f->first_root[part] = f->first_root[part + 1];
    }
    f->first_root[f->part_count] = f->root_count;
}

/* Whether some of these regions may have all of their part: no part that is as long as the body is within less than half of it. (In a
 * smaller part, that a cut left, searches are short.) */
static bool may_have_all(const lmi_octree *t, const uint32_t *leaves, uint32_t count)
{
    uint32_t widest = 0, longest = 0;
    for (uint32_t n = 0; n < count; n++) {
        widest = t->width[leaves[n]] > widest ? t->width[leaves[n]] : widest;
    }
    for (int a = 0; a < 3; a++) {
        longest = t->voxels.n[a] > longest ? t->voxels.n[a] : longest;
    }
    return (double)widest >= 0.5 * LMI_OCTREE_UNITS * longest;
}

static bool add_all(const finder *f, uint32_t leaf, lmi_octree_lists *to)
{
    bool ok = true;
    for (uint32_t n = f->first_root[f->part[leaf]]; ok && n < f->first_root[f->part[leaf] + 1]; n++) {
        ok = lmi_octree_lists_add(to, f->memory, f->roots[n]);
    }
    return ok;
}

/* Whether the regions that have all of their part take more nodes than a world may have: known before any is made. */
static bool all_are_too_many(const finder *f, const uint32_t *leaves, uint32_t count)
{
    uint64_t nodes = 0;
    for (uint32_t n = 0; n < count; n++) {
        if (has_all(f, leaves[n])) {
            uint32_t part = f->part[leaves[n]];
            nodes += f->first_root[part + 1] - f->first_root[part];
        }
    }
    return nodes > LM_MAX_MEMBERSHIPS;
}

/* --- distances in lanes --- */

/* Shorter ways to a leaf over its neighbours. */
static LMI_ALWAYS_INLINE bool improve(finder *f, uint32_t leaf)
{
    const lmi_octree *t = f->tree;
    lanes_word best = f->distance[leaf];
    for (uint32_t n = t->neighbours.offsets[leaf]; n < t->neighbours.offsets[leaf + 1]; n++) {
        const lanes_word *other = &f->distance[t->neighbours.items[n]];
        int16_t length = (int16_t)t->lengths[n];
        for (int k = 0; k < TOGETHER; k++) {
            int16_t way = (int16_t)(other->lane[k] + length);
            best.lane[k] = way < best.lane[k] ? way : best.lane[k];
        }
    }
    f->stale[leaf] = false;
    if (memcmp(&best, &f->distance[leaf], sizeof best) == 0) {
        return false;
    }
    f->distance[leaf] = best;
    for (uint32_t n = t->neighbours.offsets[leaf]; n < t->neighbours.offsets[leaf + 1]; n++) {
        f->stale[t->neighbours.items[n]] = true;
    }
    return true;
}

/* Goes through what was reached, there and back, until nothing comes nearer. */
static LMI_ALWAYS_INLINE void settle(finder *f)
{
    const lmi_octree_search *s = &f->search;
    bool better = true;
    for (bool forward = true; better; forward = !forward) {
        better = false;
        for (uint32_t n = 0; n < s->reached_count; n++) {
            uint32_t leaf = s->reached[forward ? n : s->reached_count - 1 - n];
            better = (f->stale[leaf] && improve(f, leaf)) || better;
        }
    }
}

/* Whole numbers: the same on every instruction set. */
#if LMI_HAS_TARGETS
LMI_TARGET("avx2") static void settle_wide(finder *f) { settle(f); }
static bool is_wide(void) { return lmi_cpu_has_avx2(); }
#else
static void settle_wide(finder *f) { settle(f); }
static bool is_wide(void) { return false; }
#endif

static void settle_plain(finder *f) { settle(f); }

static void find_distances(finder *f, const uint32_t *from, uint32_t count, uint32_t limit)
{
    const lmi_octree_search *s = &f->search;
    lmi_octree_search_from(&f->search, f->tree, from, count, limit);
    for (uint32_t k = 0; k < count; k++) {
        f->distance[from[k]].lane[k] = 0;
    }
    for (uint32_t n = 0; n < s->reached_count; n++) {
        f->stale[s->reached[n]] = true;
    }
    (is_wide() ? settle_wide : settle_plain)(f);
}

/* --- intervals --- */

static void widen(interval *i, const lanes_word *distance)
{
    for (int k = 0; k < TOGETHER; k++) {
        int16_t d = distance->lane[k];
        i->low.lane[k] = d < i->low.lane[k] ? d : i->low.lane[k];
        i->high.lane[k] = d > i->high.lane[k] ? d : i->high.lane[k];
    }
    i->reached++;
}

/* The intervals of all nodes above what was reached; base nodes in order: few, so by insertion. */
static void find_intervals(finder *f)
{
    const lmi_octree *t = f->tree;
    f->touched_count = f->base_count = 0;
    for (uint32_t n = 0; n < f->search.reached_count; n++) { /* nearest first */
        uint32_t leaf = f->search.reached[n];
        for (uint32_t node = t->leaves[leaf]; node != LMI_OCTREE_NONE; node = t->nodes[node].parent) {
            interval *i = &f->of[node];
            if (i->reached == 0) {
                i->low = i->high = f->distance[leaf];
                i->low_alone = f->search.distance[leaf];
                f->touched[f->touched_count++] = node;
            }
            i->high_alone = f->search.distance[leaf];
            widen(i, &f->distance[leaf]);
        }
    }
    for (uint32_t n = 0; n < f->touched_count; n++) {
        if (t->nodes[f->touched[n]].parent == LMI_OCTREE_NONE) {
            uint32_t at = f->base_count++;
            for (; at > 0 && f->base[at - 1] > f->touched[n]; at--) {
                f->base[at] = f->base[at - 1];
            }
            f->base[at] = f->touched[n];
        }
    }
}

static void forget(finder *f)
{
    for (uint32_t n = 0; n < f->touched_count; n++) {
        f->of[f->touched[n]].reached = 0;
    }
    for (uint32_t n = 0; n < f->search.reached_count; n++) {
        for (int k = 0; k < TOGETHER; k++) {
            f->distance[f->search.reached[n]].lane[k] = FARTHEST;
        }
    }
}

#define ALONE TOGETHER /* not in a lane */

typedef struct descent {
    uint32_t lane, width, limit;
    lmi_octree_lists *to;
} descent;

static bool descend(const finder *f, const descent *d, uint32_t n)
{
    const lmi_octree_node *node = &f->tree->nodes[n];
    const interval *i = &f->of[n];
    if (i->reached == 0) {
        return true;
    }
    uint32_t low = d->lane == ALONE ? i->low_alone : (uint32_t)i->low.lane[d->lane];
    uint32_t high = d->lane == ALONE ? i->high_alone : (uint32_t)i->high.lane[d->lane];
    if (low > d->width) {
        return true;
    }
    if (i->reached == node->leaf_count && high <= d->limit) {
        return lmi_octree_lists_add(d->to, f->memory, n);
    }
    bool ok = true;
    for (uint32_t c = 0; ok && c < node->child_count; c++) {
        ok = descend(f, d, node->first_child + c);
    }
    return ok;
}

/* --- all of them --- */

/* The regions of up to TOGETHER leaves, or of one that reaches far; each becomes the next list of `to`. */
static bool find_group(finder *f, const uint32_t *leaves, uint32_t count, bool alone, uint32_t done,
                       lmi_octree_lists *to)
{
    const lmi_octree *t = f->tree;
    uint32_t limit = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t own = lmi_octree_limit(t, t->width[leaves[k]]);
        limit = own > limit ? own : limit;
    }
    if (alone) {
        lmi_octree_search_run(&f->search, t, leaves[0], limit);
    } else {
        find_distances(f, leaves, count, limit);
    }
    find_intervals(f);
    bool ok = true;
    for (uint32_t k = 0; ok && k < count; k++) {
        uint32_t width = t->width[leaves[k]];
        descent d = {alone ? ALONE : k, width, lmi_octree_limit(t, width), to};
        for (uint32_t n = 0; ok && n < f->base_count; n++) {
            ok = descend(f, &d, f->base[n]);
        }
        to->offsets[done + k + 1] = to->item_count;
    }
    forget(f);
    return ok;
}

/* The regions of `count` leaves, one list each. */
static bool find_all(lmi_octree *t, lmi_memory *memory, const uint32_t *leaves, uint32_t count, lmi_octree_lists *to)
{
    finder f;
    bool ok = make_finder(&f, t, memory) && lmi_octree_lists_make(to, memory, count);
    t->too_wide = false;
    if (ok && may_have_all(t, leaves, count)) {
        find_parts(&f);
        t->too_wide = all_are_too_many(&f, leaves, count);
        ok = !t->too_wide;
    }
    uint64_t reached = 0, most = (uint64_t)LMI_OCTREE_MOST_REACHED * t->leaf_count;
    for (uint32_t done = 0, group; ok && done < count; done += group) {
        if (to->item_count > LM_MAX_MEMBERSHIPS || (t->bounded && reached > most)) {
            t->too_wide = true;
            ok = false;
            break;
        }
        if (has_all(&f, leaves[done])) {
            group = 1;
            ok = add_all(&f, leaves[done], to);
            to->offsets[done + 1] = to->item_count;
            continue;
        }
        bool alone = lmi_octree_limit(t, t->width[leaves[done]]) >= FARTHEST;
        for (group = 1; !alone && group < TOGETHER && done + group < count; group++) {
            if (lmi_octree_limit(t, t->width[leaves[done + group]]) >= FARTHEST || has_all(&f, leaves[done + group])) {
                break;
            }
        }
        ok = find_group(&f, leaves + done, group, alone, done, to);
        reached += (uint64_t)f.search.reached_count * group;
        memory->work += f.search.reached_count;
    }
    free_finder(&f);
    return ok;
}

bool lmi_octree_find_regions(lmi_octree *t, lmi_memory *memory)
{
    lmi_octree_lists made = {0};
    uint32_t *leaves = lmi_allocate_plain(memory, t->leaf_count, sizeof *leaves);
    for (uint32_t leaf = 0; leaves && leaf < t->leaf_count; leaf++) {
        leaves[leaf] = leaf;
    }
    bool ok = leaves && find_all(t, memory, leaves, t->leaf_count, &made);
    lmi_octree_lists *gone = ok ? &t->regions : &made; /* on failure what there was stays */
    lmi_octree_lists_free(gone, memory);
    if (ok) {
        t->regions = made;
    }
    lmi_release(memory, leaves, t->leaf_count, sizeof *leaves);
    return ok;
}

/* --- after a change --- */

/* What two trees have in common. */
typedef struct kinship {
    const uint32_t *then, *now; /* nodes that are the same in the tree before and in the one now */
    uint32_t *dirty;            /* [before->leaf_count] leaves that are gone, or whose neighbours are others */
    uint32_t *fresh;            /* [leaf_count] those that they have become */
    uint32_t *wanted;           /* [leaf_count] leaves whose regions are to be found */
    uint32_t dirty_count, fresh_count, wanted_count;
    lmi_octree_search old, young; /* from what is dirty, and from what is fresh */
} kinship;

/* Whether a leaf has the neighbours that it had. Both lists are ascending; where a cut has changed the order of leaves that are
 * the same, they are taken for others, which costs time and nothing else. */
static bool same_neighbours(const kinship *k, const lmi_octree *before, const lmi_octree *t, uint32_t then,
                            uint32_t now)
{
    const lmi_octree_lists *a = &before->neighbours, *b = &t->neighbours;
    uint32_t count = a->offsets[then + 1] - a->offsets[then];
    bool same = b->offsets[now + 1] - b->offsets[now] == count;
    for (uint32_t n = 0; same && n < count; n++) {
        uint32_t node = k->now[before->leaves[a->items[a->offsets[then] + n]]];
        same = node == t->leaves[b->items[b->offsets[now] + n]];
    }
    return same;
}

/* The same leaf before, or LMI_OCTREE_NONE. */
static uint32_t leaf_then(const kinship *k, const lmi_octree *before, const lmi_octree *t, uint32_t leaf)
{
    uint32_t node = k->then[t->leaves[leaf]];
    return node == LMI_OCTREE_NONE ? LMI_OCTREE_NONE : before->nodes[node].leaf;
}

static bool make_kinship(kinship *k, lmi_memory *memory, const lmi_octree *before, const lmi_octree *t)
{
    k->dirty = lmi_allocate_plain(memory, before->leaf_count, sizeof *k->dirty);
    k->fresh = lmi_allocate_plain(memory, t->leaf_count, sizeof *k->fresh);
    k->wanted = lmi_allocate_plain(memory, t->leaf_count, sizeof *k->wanted);
    if (!k->dirty || !k->fresh || !k->wanted || !lmi_octree_search_make(&k->old, memory, before) ||
        !lmi_octree_search_make(&k->young, memory, t)) {
        return false;
    }
    for (uint32_t leaf = 0; leaf < before->leaf_count; leaf++) {
        uint32_t now = k->now[before->leaves[leaf]];
        if (now == LMI_OCTREE_NONE || !lmi_octree_is_leaf(&t->nodes[now]) ||
            !same_neighbours(k, before, t, leaf, t->nodes[now].leaf)) {
            k->dirty[k->dirty_count++] = leaf;
        }
    }
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        uint32_t then = leaf_then(k, before, t, leaf);
        if (then == LMI_OCTREE_NONE || !same_neighbours(k, before, t, then, leaf)) {
            k->fresh[k->fresh_count++] = leaf;
        }
    }
    return true;
}

static void free_kinship(kinship *k, lmi_memory *memory, const lmi_octree *before, const lmi_octree *t)
{
    lmi_release(memory, k->dirty, before->leaf_count, sizeof *k->dirty);
    lmi_release(memory, k->fresh, t->leaf_count, sizeof *k->fresh);
    lmi_release(memory, k->wanted, t->leaf_count, sizeof *k->wanted);
    lmi_octree_search_free(&k->old, memory);
    lmi_octree_search_free(&k->young, memory);
}

/* Whether a region can be taken over: a search from its leaf, before and now, meets nothing that is another. Then every node that
 * it has is there, because what severs a node makes leaves on both sides others. */
static bool is_kept(const kinship *k, const lmi_octree *before, const lmi_octree *t, uint32_t leaf)
{
    uint32_t then = leaf_then(k, before, t, leaf);
    if (then == LMI_OCTREE_NONE || before->width[then] != t->width[leaf]) {
        return false;
    }
    uint32_t reach = lmi_octree_limit(t, t->width[leaf]);
    return k->old.distance[then] > reach && k->young.distance[leaf] > reach;
}

/* The leaves whose regions have to be found. */
static void find_wanted(kinship *k, const lmi_octree *before, const lmi_octree *t)
{
    uint32_t widest = 0;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        widest = t->width[leaf] > widest ? t->width[leaf] : widest;
    }
    uint32_t reach = lmi_octree_limit(t, widest);
    lmi_octree_search_from(&k->old, before, k->dirty, k->dirty_count, reach);
    lmi_octree_search_from(&k->young, t, k->fresh, k->fresh_count, reach);
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        if (!is_kept(k, before, t, leaf)) {
            k->wanted[k->wanted_count++] = leaf;
        }
    }
}

/* The region that a leaf had, with the numbers of now, in the order of the tree. */
static bool take_over(const kinship *k, const lmi_octree *before, lmi_octree *t, lmi_memory *memory, uint32_t leaf)
{
    uint32_t then = leaf_then(k, before, t, leaf), first = t->regions.item_count;
    bool ok = true;
    for (uint32_t n = before->regions.offsets[then]; ok && n < before->regions.offsets[then + 1]; n++) {
        uint32_t node = k->now[before->regions.items[n]], at = t->regions.item_count;
        ok = lmi_octree_lists_add(&t->regions, memory, node);
        uint32_t *items = t->regions.items;
        for (; ok && at > first && t->nodes[items[at - 1]].first_leaf > t->nodes[node].first_leaf; at--) {
            items[at] = items[at - 1];
            items[at - 1] = node;
        }
    }
    return ok;
}

bool lmi_octree_update_regions(lmi_octree *t, lmi_memory *memory, const lmi_octree *before, const uint32_t *then,
                               const uint32_t *now, uint32_t *found)
{
    kinship k = {.then = then, .now = now};
    lmi_octree_lists made = {0};
    bool ok = make_kinship(&k, memory, before, t);
    if (ok) {
        find_wanted(&k, before, t);
        ok = find_all(t, memory, k.wanted, k.wanted_count, &made) &&
             lmi_octree_lists_make(&t->regions, memory, t->leaf_count);
    }
    for (uint32_t leaf = 0, n = 0; ok && leaf < t->leaf_count; leaf++) {
        bool wanted = n < k.wanted_count && k.wanted[n] == leaf;
        for (uint32_t i = wanted ? made.offsets[n] : 0; ok && i < (wanted ? made.offsets[n + 1] : 0); i++) {
            ok = lmi_octree_lists_add(&t->regions, memory, made.items[i]);
        }
        ok = ok && (wanted || take_over(&k, before, t, memory, leaf));
        n += wanted;
        t->regions.offsets[leaf + 1] = t->regions.item_count;
    }
    *found = k.wanted_count;
    if (!ok) {
        lmi_octree_lists_free(&t->regions, memory);
    }
    lmi_octree_lists_free(&made, memory);
    free_kinship(&k, memory, before, t);
    return ok;
}
