#include "octree/octree_body.h"
#include "world/elastic.h"

#include <stdlib.h>
#include <string.h>

/* Particles are sorted within so many neighbours: what is near stays near. */
#define WINDOW 1024u

#define SIDES 64u

/* What is known of the nodes while the layout is made. */
typedef struct layout {
    const lmi_octree *tree;
    const lmi_body *body;
    const lmi_octree_rest *rest;
    const lmi_region *regions;
    const double *region_mass;
    uint8_t *height;        /* [node_count] of virtual nodes that are used, 0: none, or a leaf */
    uint32_t *target;       /* [node_count] lane of a virtual node */
    uint32_t *node;         /* [virtual lanes] node of a lane, or LMI_OCTREE_NONE */
    uint32_t *spread_first; /* [targets + 1] the regions that each target has: offsets into spread_list */
    uint32_t *spread_list;
    uint32_t *lane_place;  /* [padded places] the place of a lane of particles in scatter */
    uint32_t *place_lane;  /* [padded places] and back */
    uint32_t *length;      /* [node_count] of the list of regions of each node */
    struct sort_key *keys; /* [node_count] scratch */
    uint32_t targets, heights;
    struct {
        uint32_t voxels;
        double half;
    } sides[SIDES]; /* of cubes of so many voxels, as they were last asked for */
} layout;

typedef struct sort_key {
    uint32_t length, item;
} sort_key;

/* Long lists first. */
static int compare_keys(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;
    if (x->length != y->length) {
        return x->length > y->length ? -1 : 1;
    }
    return x->item < y->item ? -1 : x->item > y->item;
}

uint32_t lmi_octree_plain_node(const lmi_octree *t, uint32_t n)
{
    while (t->nodes[n].child_count == 1) {
        n = t->nodes[n].first_child;
    }
    return n;
}

static bool is_virtual(const layout *l, uint32_t node) { return !lmi_octree_is_leaf(&l->tree->nodes[node]); }

/* Marks the virtual nodes that regions have, and all below them. */
static void mark_used(layout *l)
{
    const lmi_octree *t = l->tree;
    for (uint32_t n = 0; n < t->regions.item_count; n++) {
        uint32_t node = lmi_octree_plain_node(t, t->regions.items[n]);
        l->length[node]++;
        l->height[node] = is_virtual(l, node);
    }
    for (uint32_t n = 0; n < t->node_count; n++) { /* parents first */
        for (uint32_t c = 0; l->height[n] && c < t->nodes[n].child_count; c++) {
            uint32_t child = lmi_octree_plain_node(t, t->nodes[n].first_child + c);
            l->height[child] = is_virtual(l, child);
        }
    }
    for (uint32_t n = t->node_count; n-- > 0;) { /* children first */
        for (uint32_t c = 0; l->height[n] && c < t->nodes[n].child_count; c++) {
            uint32_t child = lmi_octree_plain_node(t, t->nodes[n].first_child + c);
            l->height[n] = l->height[child] >= l->height[n] ? (uint8_t)(l->height[child] + 1) : l->height[n];
        }
        l->heights = l->height[n] > l->heights ? l->height[n] : l->heights;
    }
}

/* Gives virtual nodes their lanes, those of one height together. Returns the blocks; `blocks` (may be null) gets the first of
 * each height. */
static uint32_t place_nodes(layout *l, uint32_t *blocks)
{
    uint32_t lane = 0;
    for (uint32_t height = 1; height <= l->heights; height++) {
        if (blocks) {
            blocks[height - 1] = lane / LMI_BLOCK;
        }
        uint32_t count = 0;
        for (uint32_t n = 0; n < l->tree->node_count; n++) {
            if (l->height[n] == height) {
                l->keys[count++] = (sort_key){l->length[n], n};
            }
        }
        qsort(l->keys, count, sizeof *l->keys, compare_keys);
        for (uint32_t n = 0; n < count; n++) {
            l->target[l->keys[n].item] = lane++;
            if (l->node) {
                l->node[l->target[l->keys[n].item]] = l->keys[n].item;
            }
        }
        lane = (lane + LMI_BLOCK - 1) / LMI_BLOCK * LMI_BLOCK;
    }
    if (blocks) {
        blocks[l->heights] = lane / LMI_BLOCK;
    }
    return lane / LMI_BLOCK;
}

/* Particles in the order of scatter. */
static void place_particles(layout *l)
{
    const lmi_body *body = l->body;
    for (uint32_t place = 0; place < body->particle_count; place++) {
        l->keys[place] = (sort_key){l->length[l->tree->leaves[body->order[place]]], place};
    }
    for (uint32_t n = 0; n < body->particle_count; n += WINDOW) {
        uint32_t left = body->particle_count - n;
        qsort(l->keys + n, left < WINDOW ? left : WINDOW, sizeof *l->keys, compare_keys);
    }
    for (uint32_t lane = 0; lane < body->padded_count; lane++) {
        l->lane_place[lane] = lane < body->particle_count ? l->keys[lane].item : lane;
        l->place_lane[l->lane_place[lane]] = lane;
    }
}

/* The items of a target of gather: the children of a virtual node, or the summation nodes of a region. */
static uint32_t items_of(const layout *l, uint32_t virtual_lanes, uint32_t target, const uint32_t **list,
                         uint32_t *first)
{
    const lmi_octree *t = l->tree;
    if (target < virtual_lanes) {
        uint32_t n = l->node[target];
        *list = NULL;
        *first = n == LMI_OCTREE_NONE ? 0 : t->nodes[n].first_child;
        return n == LMI_OCTREE_NONE ? 0 : t->nodes[n].child_count;
    }
    uint32_t place = target - virtual_lanes;
    if (place >= l->body->particle_count) {
        return 0;
    }
    uint32_t leaf = l->body->order[place];
    *list = t->regions.items + t->regions.offsets[leaf];
    return t->regions.offsets[leaf + 1] - t->regions.offsets[leaf];
}

static lm_dvec3 centre_of(const layout *l, uint32_t virtual_lanes, uint32_t target)
{
    return target < virtual_lanes ? l->rest[l->node[target]].centre
                                  : l->regions[l->body->order[target - virtual_lanes]].centre;
}

static void put_offset(float *record, lm_dvec3 offset, double weight)
{
    record[0] = (float)offset.x;
    record[LMI_BLOCK] = (float)offset.y;
    record[2 * LMI_BLOCK] = (float)offset.z;
    record[3 * LMI_BLOCK] = (float)weight;
}

/* Counts the rows of gather, or fills them when there is room. */
static void lay_sums(const layout *l, lmi_octree_lanes *to, bool fill)
{
    const lmi_octree *t = l->tree;
    uint32_t virtual_lanes = to->virtual_blocks * LMI_BLOCK;
    to->leaf_rows = to->node_rows = 0;
    for (uint32_t b = 0; b < to->virtual_blocks + to->region_blocks; b++) {
        lmi_octree_sums sums = {to->leaf_rows, 0, to->node_rows, 0};
        for (uint32_t k = 0; k < LMI_BLOCK; k++) {
            const uint32_t *list = NULL;
            uint32_t target = b * LMI_BLOCK + k, first = 0, leaves = 0, nodes = 0;
            uint32_t count = items_of(l, virtual_lanes, target, &list, &first);
            for (uint32_t n = 0; n < count; n++) {
                uint32_t node = lmi_octree_plain_node(t, list ? list[n] : first + n);
                bool whole = is_virtual(l, node);
                size_t row = whole ? to->node_rows + nodes++ : to->leaf_rows + leaves++;
                if (fill) {
                    lm_dvec3 offset = dvec_sub(l->rest[node].centre, centre_of(l, virtual_lanes, target));
                    float *record = (whole ? to->node_offset : to->leaf_offset) + row * 4 * LMI_BLOCK + k;
                    (whole ? to->node : to->leaf)[row * LMI_BLOCK + k] =
                        whole ? (1 + l->target[node]) * (LMI_OCTREE_ROW / 4) : l->body->place[t->nodes[node].leaf];
                    put_offset(record, offset, l->rest[node].weight);
                }
            }
            sums.leaf_rows = leaves > sums.leaf_rows ? leaves : sums.leaf_rows;
            sums.node_rows = nodes > sums.node_rows ? nodes : sums.node_rows;
        }
        if (fill) {
            to->sums[b] = sums;
        }
        to->leaf_rows += sums.leaf_rows;
        to->node_rows += sums.node_rows;
    }
}

static uint32_t target_of(const layout *l, uint32_t virtual_lanes, uint32_t node)
{
    node = lmi_octree_plain_node(l->tree, node);
    return is_virtual(l, node) ? l->target[node]
                               : virtual_lanes + l->place_lane[l->body->place[l->tree->nodes[node].leaf]];
}

/* The regions of each target, by number. */
static void turn_lists(layout *l, uint32_t virtual_lanes)
{
    const lmi_octree *t = l->tree;
    for (uint32_t n = 0; n < t->regions.item_count; n++) {
        l->spread_first[target_of(l, virtual_lanes, t->regions.items[n]) + 1]++;
    }
    for (uint32_t n = 0; n < l->targets; n++) {
        l->spread_first[n + 1] += l->spread_first[n];
    }
    for (uint32_t leaf = t->leaf_count; leaf-- > 0;) { /* backwards, each from the end of its target's list */
        for (uint32_t n = t->regions.offsets[leaf]; n < t->regions.offsets[leaf + 1]; n++) {
            uint32_t target = target_of(l, virtual_lanes, t->regions.items[n]);
            l->spread_list[--l->spread_first[target + 1]] = leaf;
        }
    }
    /* spread_first[n + 1] is now where the list of n begins. */
    memmove(l->spread_first, l->spread_first + 1, l->targets * sizeof *l->spread_first);
    l->spread_first[l->targets] = t->regions.item_count;
}

static lm_dvec3 middle_of(const layout *l, uint32_t virtual_lanes, uint32_t target)
{
    uint32_t node = target < virtual_lanes ? l->node[target]
                                           : l->tree->leaves[l->body->order[l->lane_place[target - virtual_lanes]]];
    return l->rest[node].centre;
}

static void lay_spread(const layout *l, lmi_octree_lanes *to, bool fill)
{
    uint32_t virtual_lanes = to->virtual_blocks * LMI_BLOCK;
    to->spread_rows = 0;
    for (uint32_t b = 0; b < to->virtual_blocks + to->region_blocks; b++) {
        lmi_octree_spread spread = {to->spread_rows, 0};
        for (uint32_t k = 0; k < LMI_BLOCK; k++) {
            uint32_t target = b * LMI_BLOCK + k, first = l->spread_first[target];
            uint32_t count = l->spread_first[target + 1] - first;
            for (uint32_t n = 0; fill && n < count; n++) {
                uint32_t leaf = l->spread_list[first + n];
                size_t row = spread.first_row + n;
                double share = lmi_region_share(l->body, l->regions, leaf);
                to->region[row * LMI_BLOCK + k] = l->body->place[leaf] * (LMI_OCTREE_ROW / 4);
                put_offset(to->region_offset + row * 4 * LMI_BLOCK + k,
                           dvec_sub(middle_of(l, virtual_lanes, target), l->regions[leaf].centre),
                           l->body->mass[l->body->place[leaf]] / l->body->mean_mass * share);
            }
            spread.rows = count > spread.rows ? count : spread.rows;
        }
        if (fill) {
            to->spread[b] = spread;
        }
        to->spread_rows += spread.rows;
    }
}

/* The nearest virtual node with a lane above a node, or LMI_OCTREE_NONE. */
static uint32_t used_above(const layout *l, uint32_t node)
{
    do {
        node = l->tree->nodes[node].parent;
    } while (node != LMI_OCTREE_NONE && !l->height[node]);
    return node;
}

static void put_parent(const layout *l, lmi_octree_lanes *to, uint32_t target, uint32_t node)
{
    uint32_t above = used_above(l, node);
    if (above != LMI_OCTREE_NONE) {
        lm_dvec3 offset = dvec_sub(l->rest[node].centre, l->rest[above].centre);
        float *record = to->parent_offset + (size_t)(target / LMI_BLOCK) * 3 * LMI_BLOCK + target % LMI_BLOCK;
        to->parent[target] = (1 + l->target[above]) * (LMI_OCTREE_ROW / 4);
        record[0] = (float)offset.x;
        record[LMI_BLOCK] = (float)offset.y;
        record[2 * LMI_BLOCK] = (float)offset.z;
    }
}

static void fill_nodes(const layout *l, lmi_octree_lanes *to)
{
    for (uint32_t lane = 0; lane < to->virtual_blocks * LMI_BLOCK; lane++) {
        uint32_t node = l->node[lane], first = node;
        if (node == LMI_OCTREE_NONE) {
            continue;
        }
        while (!lmi_octree_is_leaf(&l->tree->nodes[first])) {
            first = l->tree->nodes[first].first_child;
        }
        to->reference[lane] = l->body->place[l->tree->nodes[first].leaf];
        to->inverse_weight[lane] = (float)(1.0 / l->rest[node].weight);
        put_parent(l, to, lane, node);
    }
}

/* Half the side of a cube of so many voxels. */
static double find_half_side(uint32_t voxels)
{
    double volume = voxels, low = 0.0, high = volume < 1.0 ? 1.0 : volume;
    for (int n = 0; n < 60; n++) { /* the cube root, without the library's, which differs between machines */
        double middle = 0.5 * (low + high);
        if (middle * middle * middle < volume) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * high;
}

/* Half the side of a cube of a leaf's voxels. Many leaves have as many of them. */
static double half_side(layout *l, const lmi_octree_node *leaf)
{
    uint32_t at = leaf->voxel_count % SIDES;
    if (l->sides[at].voxels != leaf->voxel_count) {
        l->sides[at].voxels = leaf->voxel_count;
        l->sides[at].half = find_half_side(leaf->voxel_count);
    }
    return l->sides[at].half * l->tree->voxels.spacing;
}

static void fill_regions(layout *l, lmi_octree_lanes *to)
{
    const lmi_body *body = l->body;
    for (uint32_t place = 0; place < body->particle_count; place++) {
        uint32_t leaf = body->order[place], block = place / LMI_BLOCK, k = place % LMI_BLOCK;
        const lmi_region *region = &l->regions[leaf];
        for (int i = 0; i < 9; i++) {
            double d = region->extent[i % 3];
            to->frame[((size_t)block * 9 + (size_t)i) * LMI_BLOCK + k] =
                (float)(d > 0.0 ? region->axes.m[i / 3][i % 3] / d : 0.0);
        }
        uint32_t lane = l->place_lane[place];
        to->share[lane] = (float)(1.0 / l->region_mass[leaf]);
        to->spread_place[lane] = place;
        to->margin[place] = (float)half_side(l, &l->tree->nodes[l->tree->leaves[leaf]]);
        to->widest_margin = to->margin[place] > to->widest_margin ? to->margin[place] : to->widest_margin;
        put_parent(l, to, to->virtual_blocks * LMI_BLOCK + lane, l->tree->leaves[leaf]);
    }
    for (uint32_t lane = body->particle_count; lane < body->padded_count; lane++) {
        to->spread_place[lane] = lane; /* a place without a particle */
    }
}

static void *carve(char *base, size_t *used, size_t count, size_t size)
{
    void *piece = base ? base + *used : NULL;
    *used += (count * size + LMI_ALIGNMENT - 1) / LMI_ALIGNMENT * LMI_ALIGNMENT;
    return piece;
}

/* How many bodies have the lanes in common; the block of memory begins with it. */
static uint32_t *owners_of(const lmi_octree_lanes *o) { return o->memory; }

static void carve_lanes(lmi_octree_lanes *o, char *base)
{
    size_t blocks = (size_t)o->virtual_blocks + o->region_blocks, block = LMI_BLOCK * sizeof(float);
    o->size = 0;
    carve(base, &o->size, 1, sizeof *owners_of(o));
    o->height_block = carve(base, &o->size, (size_t)o->heights + 1, sizeof *o->height_block);
    o->sums = carve(base, &o->size, blocks, sizeof *o->sums);
    o->leaf = carve(base, &o->size, o->leaf_rows, block);
    o->leaf_offset = carve(base, &o->size, (size_t)o->leaf_rows * 4, block);
    o->node = carve(base, &o->size, o->node_rows, block);
    o->node_offset = carve(base, &o->size, (size_t)o->node_rows * 4, block);
    o->reference = carve(base, &o->size, o->virtual_blocks, block);
    o->inverse_weight = carve(base, &o->size, o->virtual_blocks, block);
    o->spread = carve(base, &o->size, blocks, sizeof *o->spread);
    o->region = carve(base, &o->size, o->spread_rows, block);
    o->region_offset = carve(base, &o->size, (size_t)o->spread_rows * 4, block);
    o->spread_place = carve(base, &o->size, o->region_blocks, block);
    o->parent = carve(base, &o->size, blocks, block);
    o->parent_offset = carve(base, &o->size, blocks * 3, block);
    o->frame = carve(base, &o->size, (size_t)o->region_blocks * 9, block);
    o->share = carve(base, &o->size, o->region_blocks, block);
    o->margin = carve(base, &o->size, o->region_blocks, block);
}

static void carve_scratch(lmi_octree_lanes *o, char *base)
{
    size_t block = LMI_BLOCK * sizeof(float);
    size_t rows = 1 + (size_t)o->virtual_blocks * LMI_BLOCK, row = LMI_OCTREE_ROW * sizeof(float);
    o->scratch_size = 0;
    o->sum_row = carve(base, &o->scratch_size, rows, row);
    o->transform_row = carve(base, &o->scratch_size, (size_t)o->region_blocks * LMI_BLOCK, row);
    o->spread_row = carve(base, &o->scratch_size, rows, row);
    o->pull = carve(base, &o->scratch_size, (size_t)o->region_blocks * 4, block);
    o->damping = carve(base, &o->scratch_size, (size_t)o->region_blocks * 4, block);
}

/* In a struct without any. Row 0 of sums and spreads, which is nothing, and lanes that nobody writes are zero. */
static bool make_scratch(lmi_octree_lanes *o, lmi_memory *memory)
{
    carve_scratch(o, NULL);
    o->scratch = lmi_allocate(memory, o->scratch_size, 1);
    carve_scratch(o, o->scratch);
    return o->scratch != NULL;
}

static bool lay_out(layout *l, lmi_octree_lanes *o, lmi_memory *memory)
{
    lay_sums(l, o, false);
    lay_spread(l, o, false);
    carve_lanes(o, NULL);
    o->memory = lmi_allocate(memory, o->size, 1);
    if (!o->memory || !make_scratch(o, memory)) {
        lmi_release(memory, o->memory, o->size, 1);
        return false;
    }
    carve_lanes(o, o->memory);
    *owners_of(o) = 1;
    place_nodes(l, o->height_block);
    lay_sums(l, o, true);
    lay_spread(l, o, true);
    fill_nodes(l, o);
    fill_regions(l, o);
    return true;
}

bool lmi_octree_lanes_make(lmi_octree_lanes *o, lmi_memory *memory, const lmi_body *body, const lmi_octree_rest *rest,
                           const lmi_region *regions, const double *region_mass)
{
    const lmi_octree *t = &body->octree->tree;
    memset(o, 0, sizeof *o);
    layout l = {.tree = t,
                .body = body,
                .rest = rest,
                .regions = regions,
                .region_mass = region_mass,
                .height = lmi_allocate(memory, t->node_count, sizeof *l.height),
                .target = lmi_allocate(memory, t->node_count, sizeof *l.target),
                .lane_place = lmi_allocate(memory, body->padded_count, sizeof *l.lane_place),
                .place_lane = lmi_allocate(memory, body->padded_count, sizeof *l.place_lane),
                .length = lmi_allocate(memory, t->node_count, sizeof *l.length),
                .keys = lmi_allocate(memory, t->node_count, sizeof *l.keys)};
    bool ok = l.height && l.target && l.lane_place && l.place_lane && l.length && l.keys;
    uint32_t lanes = 0, items = t->regions.item_count;
    if (ok) {
        mark_used(&l);
        o->heights = l.heights;
        o->virtual_blocks = place_nodes(&l, NULL);
        o->region_blocks = body->padded_count / LMI_BLOCK;
        lanes = o->virtual_blocks * LMI_BLOCK;
        l.targets = lanes + o->region_blocks * LMI_BLOCK;
        l.node = lmi_allocate(memory, lanes, sizeof *l.node);
        l.spread_first = lmi_allocate(memory, (size_t)l.targets + 2, sizeof *l.spread_first);
        l.spread_list = lmi_allocate(memory, items, sizeof *l.spread_list);
        ok = l.node && l.spread_first && l.spread_list;
    }
    if (ok) {
        memset(l.node, 0xff, lanes * sizeof *l.node);
        place_nodes(&l, NULL);
        place_particles(&l);
        turn_lists(&l, lanes);
        ok = lay_out(&l, o, memory);
    }
    lmi_release(memory, l.height, t->node_count, sizeof *l.height);
    lmi_release(memory, l.target, t->node_count, sizeof *l.target);
    lmi_release(memory, l.lane_place, body->padded_count, sizeof *l.lane_place);
    lmi_release(memory, l.place_lane, body->padded_count, sizeof *l.place_lane);
    lmi_release(memory, l.length, t->node_count, sizeof *l.length);
    lmi_release(memory, l.keys, t->node_count, sizeof *l.keys);
    lmi_release(memory, l.node, lanes, sizeof *l.node);
    lmi_release(memory, l.spread_first, (size_t)l.targets + 2, sizeof *l.spread_first);
    lmi_release(memory, l.spread_list, items, sizeof *l.spread_list);
    if (!ok) {
        memset(o, 0, sizeof *o);
    }
    return ok;
}

bool lmi_octree_lanes_join(lmi_octree_lanes *o, lmi_memory *memory, const lmi_octree_lanes *other)
{
    *o = *other;
    if (!make_scratch(o, memory)) {
        memset(o, 0, sizeof *o);
        return false;
    }
    ++*owners_of(o);
    return true;
}

void lmi_octree_lanes_free(lmi_octree_lanes *o, lmi_memory *memory)
{
    lmi_release(memory, o->scratch, o->scratch_size, 1);
    if (o->memory && --*owners_of(o) == 0) {
        lmi_release(memory, o->memory, o->size, 1);
    }
    memset(o, 0, sizeof *o);
}

/* ---- rest constants ----
 *
 * The rest constants of an octree's regions, found the way the sums are made: nodes from their children, regions from their
 * summation nodes.
 *
 * A region counts with the mass of its own leaf, m_r, so that many small leaves do not outweigh a large one. A leaf is in
 * regions of the mass W_i = sum of m_r; its goal is the mean of theirs, and it weighs m_i / W_i in each fit. Then the pulls
 * of a region add up to nothing, and so do all of them, however regions and cell sizes vary. (Fits with m_i, as in the paper,
 * lose momentum wherever W_i varies. Clusters are the case in which every region counts 1.)
 */

bool lmi_octree_region_mass(const lmi_octree *t, lmi_memory *memory, const double *mass, double *sums)
{
    double *of_node = lmi_allocate(memory, t->node_count, sizeof *of_node);
    if (!of_node) {
        return false;
    }
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        for (uint32_t n = t->regions.offsets[leaf]; n < t->regions.offsets[leaf + 1]; n++) {
            of_node[t->regions.items[n]] += mass[leaf];
        }
    }
    for (uint32_t n = 0; n < t->node_count; n++) { /* parents come before their children */
        const lmi_octree_node *node = &t->nodes[n];
        of_node[n] += node->parent == LMI_OCTREE_NONE ? 0.0 : of_node[node->parent];
        if (node->leaf != LMI_OCTREE_NONE) {
            sums[node->leaf] = of_node[n];
        }
    }
    lmi_release(memory, of_node, t->node_count, sizeof *of_node);
    return true;
}

/* Adds what a node has about another centre. */
static void add_second(const lmi_octree_rest *from, lm_dvec3 centre, double second[6])
{
    lm_dvec3 d = dvec_sub(from->centre, centre);
    second[0] += from->second[0] + from->weight * d.x * d.x;
    second[1] += from->second[1] + from->weight * d.y * d.y;
    second[2] += from->second[2] + from->weight * d.z * d.z;
    second[3] += from->second[3] + from->weight * d.x * d.y;
    second[4] += from->second[4] + from->weight * d.y * d.z;
    second[5] += from->second[5] + from->weight * d.z * d.x;
}

/* The sum over `count` nodes: those of a list, or where that is null from `first` on. */
static lmi_octree_rest add_up(const lmi_octree_rest *rest, const uint32_t *list, uint32_t first, uint32_t count)
{
    lmi_octree_rest sum = {0};
    for (uint32_t n = 0; n < count; n++) {
        const lmi_octree_rest *r = &rest[list ? list[n] : first + n];
        sum.weight += r->weight;
        sum.centre = dvec_add(sum.centre, dvec_scale(r->centre, r->weight));
    }
    sum.centre = dvec_scale(sum.centre, 1.0 / sum.weight);
    for (uint32_t n = 0; n < count; n++) {
        add_second(&rest[list ? list[n] : first + n], sum.centre, sum.second);
    }
    return sum;
}

void lmi_octree_rest_of_nodes(const lmi_octree *t, const float *weights, lmi_octree_rest *rest)
{
    for (uint32_t n = t->node_count; n-- > 0;) { /* children come after their parents */
        const lmi_octree_node *node = &t->nodes[n];
        if (lmi_octree_is_leaf(node)) {
            lm_vec3 middle = vec_from(lmi_octree_middle(t, node)); /* as the particle has it */
            rest[n] = (lmi_octree_rest){.weight = weights[node->leaf], .centre = dvec_from(middle)};
        } else {
            rest[n] = add_up(rest, NULL, node->first_child, node->child_count);
        }
    }
}

void lmi_octree_make_regions(const lmi_octree *t, const lmi_octree_rest *rest, lmi_region *regions)
{
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        uint32_t first = t->regions.offsets[leaf];
        lmi_octree_rest sum = add_up(rest, t->regions.items + first, 0, t->regions.offsets[leaf + 1] - first);
        double covariance[9], *s = sum.second;
        const double full[9] = {s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2]};
        for (int i = 0; i < 9; i++) {
            covariance[i] = full[i] / sum.weight;
        }
        lmi_region_from_covariance(&regions[leaf], sum.weight, sum.centre, covariance);
    }
}

void lmi_octree_squares(const lmi_octree *t, const lmi_octree_rest *rest, double *squares, lmi_elastic_shape *shape)
{
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        uint32_t first = t->regions.offsets[leaf];
        lmi_octree_rest sum = add_up(rest, t->regions.items + first, 0, t->regions.offsets[leaf + 1] - first);
        lm_dvec3 d = dvec_sub(sum.centre, lmi_octree_middle(t, &t->nodes[t->leaves[leaf]]));
        const double *s = sum.second, m = 1.0 / sum.weight;
        const double covariance[9] = {s[0] * m, s[3] * m, s[5] * m, s[3] * m, s[1] * m,
                                      s[4] * m, s[5] * m, s[4] * m, s[2] * m};
        squares[leaf] = lmi_elastic_square_of(covariance, d, sum.weight, shape);
    }
}
