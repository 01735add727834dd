#include "octree/mould_octree.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define NONE LMI_OCTREE_NONE
#define MOST_CARRIERS 512u
#define MOST_LEAVES 256u /* of a carrier that are considered */
#define ENOUGH 12u       /* leaves of its own, for a carrier that asks no neighbours */
#define REACH_CELLS 16u

/* Nodes of this level are carriers, and larger ones that are not divided. */
static uint32_t level_of(const lmi_octree *t, const lmi_mould *s)
{
    uint32_t level = 0;
    while (level < t->levels && t->voxels.spacing * (double)(2u << level) <= 1.001 * s->coarse) {
        level++;
    }
    return level;
}

static bool is_carrier(const lmi_octree_node *node, uint32_t level, uint32_t least)
{
    return node->voxel_count >= least && (node->level == level || (node->level > level && lmi_octree_is_leaf(node)));
}

/* A body in crumbs has more nodes than carriers: the largest are taken. */
static uint32_t count_carriers(const lmi_octree *t, uint32_t level, uint32_t *least)
{
    for (*least = 1;; *least *= 2) {
        uint32_t count = 0;
        for (uint32_t n = 0; n < t->node_count; n++) {
            count += is_carrier(&t->nodes[n], level, *least);
        }
        if (count <= MOST_CARRIERS && (count > 0 || *least == 1)) {
            return count;
        }
        if (count == 0) { /* all of one size: as many as there is room for */
            *least /= 2;
            return MOST_CARRIERS;
        }
    }
}

/* The cells that the reach is found from: those of carriers, or larger ones where the tree has none as large or the surface that touches
 * is much smaller than the body; at most REACH_CELLS along each axis. */
static uint32_t reach_level(const lmi_octree *t, uint32_t level, uint32_t first[3], uint32_t n[3])
{
    for (;; level++) {
        uint32_t most = 0;
        for (int a = 0; a < 3; a++) {
            first[a] = t->pad[a] >> level;
            n[a] = ((t->pad[a] + t->voxels.n[a] - 1) >> level) - first[a] + 1;
            most = n[a] > most ? n[a] : most;
        }
        if (most <= REACH_CELLS) {
            return level;
        }
    }
}

/* The middles of what is filled of these cells, whatever is cut, one after the other in `middle`. Returns how many. */
static size_t find_middles(const lmi_octree *t, uint32_t level, const uint32_t first[3], const uint32_t n[3],
                           double (*sum)[4], lm_dvec3 *middle)
{
    size_t count = 0;
    for (uint32_t k = 0; k < t->voxel_count; k++) {
        size_t at[3];
        for (int a = 0; a < 3; a++) {
            at[a] = ((t->at[k][a] + t->pad[a]) >> level) - first[a];
        }
        double *to = sum[(at[2] * n[1] + at[1]) * n[0] + at[0]];
        to[0] += t->at[k][0] + 0.5, to[1] += t->at[k][1] + 0.5, to[2] += t->at[k][2] + 0.5, to[3] += 1.0;
    }
    for (size_t c = 0; c < (size_t)n[0] * n[1] * n[2]; c++) {
        if (sum[c][3] > 0.0) {
            double by = t->voxels.spacing / sum[c][3];
            middle[count++] = dvec(t->voxels.first.x + by * sum[c][0], t->voxels.first.y + by * sum[c][1],
                                   t->voxels.first.z + by * sum[c][2]);
        }
    }
    return count;
}

/* In a hollow body there are places far from all middles. */
bool lmi_mould_reach_octree(lmi_memory *memory, const lmi_octree *t, lmi_mould *s)
{
    uint32_t carriers = level_of(t, s), first[3], n[3], level = reach_level(t, carriers, first, n);
    size_t cells = (size_t)n[0] * n[1] * n[2];
    double(*sum)[4] = lmi_allocate(memory, cells, sizeof *sum), farthest = 0.0;
    lm_dvec3 *middle = lmi_allocate(memory, cells, sizeof *middle);
    bool ok = sum && middle;
    memory->work += cells;
    size_t count = ok ? find_middles(t, level, first, n, sum, middle) : 0;
    for (size_t k = 0; ok && k < (size_t)s->n[0] * s->n[1] * s->n[2]; k++) {
        if (s->distance[k] > 0.0f) {
            continue;
        }
        double least = INFINITY;
        lm_dvec3 p =
            dvec(s->first.x + (double)(k % s->n[0]) * s->cell, s->first.y + (double)(k / s->n[0] % s->n[1]) * s->cell,
                 s->first.z + (double)(k / s->n[0] / s->n[1]) * s->cell);
        for (size_t c = 0; least > farthest && c < count; c++) { /* nearer than the farthest is near enough */
            lm_dvec3 d = dvec_sub(middle[c], p);
            least = fmin(least, dvec_dot(d, d));
        }
        farthest = fmax(farthest, least < INFINITY ? least : 0.0);
    }
    s->reach = 1.5 * fmax(s->coarse, t->voxels.spacing * (double)(1u << carriers));
    s->far = s->apart = fmax(s->reach, 1.5 * sqrt(farthest));
    lmi_release(memory, sum, cells, sizeof *sum);
    lmi_release(memory, middle, cells, sizeof *middle);
    return ok;
}

/* --- what carries them --- */

typedef struct gathering {
    uint32_t leaves[MOST_LEAVES];
    uint32_t count, own;
} gathering;

static void gather(const lmi_octree *t, uint32_t n, uint32_t every, uint32_t *seen, gathering *g)
{
    const lmi_octree_node *node = &t->nodes[n];
    if (lmi_octree_is_leaf(node)) {
        if ((*seen)++ % every == 0 && g->count < MOST_LEAVES) {
            g->leaves[g->count++] = node->leaf;
        }
    }
    for (uint32_t c = 0; c < node->child_count; c++) {
        gather(t, node->first_child + c, every, seen, g);
    }
}

static void gather_neighbours(const lmi_octree *t, gathering *g)
{
    for (uint32_t n = 0; n < g->own; n++) {
        for (uint32_t k = t->neighbours.offsets[g->leaves[n]]; k < t->neighbours.offsets[g->leaves[n] + 1]; k++) {
            bool known = g->count == MOST_LEAVES;
            for (uint32_t i = 0; i < g->count && !known; i++) {
                known = g->leaves[i] == t->neighbours.items[k];
            }
            if (!known) {
                g->leaves[g->count++] = t->neighbours.items[k];
            }
        }
    }
}

/* A leaf at a distance. Of two that are as far the order must not depend on how they are numbered. */
typedef struct candidate {
    lmi_mould_near near;
    lm_vec3 rest;
} candidate;

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    const double p[5] = {x->near.square, x->rest.x, x->rest.y, x->rest.z, x->near.particle};
    const double q[5] = {y->near.square, y->rest.x, y->rest.y, y->rest.z, y->near.particle};
    for (int i = 0; i < 5; i++) {
        if (p[i] != q[i]) {
            return p[i] < q[i] ? -1 : 1;
        }
    }
    return 0;
}

static int fit(const lmi_body *body, lmi_mould *s, uint32_t carrier, const gathering *g, lm_dvec3 middle)
{
    candidate sorted[MOST_LEAVES];
    lmi_mould_near near[LMI_CARRIER_MOST] = {{0.0, 0}};
    uint32_t count = g->count < s->carrier_riders ? g->count : s->carrier_riders;
    for (uint32_t k = 0; k < g->count; k++) {
        uint32_t place = body->place[g->leaves[k]];
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[place]), middle);
        sorted[k] = (candidate){{dvec_dot(d, d), place}, body->rest[place]};
    }
    qsort(sorted, g->count, sizeof *sorted, compare_candidates);
    for (uint32_t k = 0; k < count; k++) {
        near[k] = sorted[k].near;
    }
    return lmi_mould_fit(body, s, carrier, near, count, LMI_FLAT);
}

/* The leaves of a node, evenly chosen where there are many; and its neighbours where there are few, or all in a plane. */
static void carry_node(const lmi_body *body, lmi_mould *s, uint32_t carrier, uint32_t n)
{
    const lmi_octree *t = &body->octree->tree;
    lm_dvec3 middle = lmi_octree_middle(t, &t->nodes[n]);
    gathering g = {.count = 0};
    uint32_t seen = 0;
    gather(t, n, (t->nodes[n].leaf_count + s->carrier_riders - 1) / s->carrier_riders, &seen, &g);
    g.own = g.count;
    if (g.own < ENOUGH || fit(body, s, carrier, &g, middle) < 3) {
        gather_neighbours(t, &g);
        fit(body, s, carrier, &g, middle);
    }
}

/* The carrier that a node was, if all of it is what it was, or NONE. */
static uint32_t former_carrier(const lmi_octree *t, const lmi_octree_past *past, uint32_t n)
{
    const lmi_octree_node *node = &t->nodes[n];
    if (lmi_octree_is_leaf(node)) {
        uint32_t then = past->then[node->leaf];
        return then == NONE ? NONE : past->body->bulk->mould->of_leaf[then];
    }
    uint32_t carrier = NONE;
    for (uint32_t c = 0; c < node->child_count; c++) {
        carrier = former_carrier(t, past, node->first_child + c);
        if (carrier == NONE) {
            return NONE;
        }
    }
    return carrier;
}

/* The same carrier in a body whose places have changed. False where some of its particles are not what they were. */
static bool take_over(const lmi_body *body, const lmi_octree_past *past, uint32_t former, lmi_mould *s,
                      uint32_t carrier)
{
    const lmi_mould *was = past->body->bulk->mould;
    size_t from = (size_t)former * was->carrier_riders, to = (size_t)carrier * s->carrier_riders;
    if (was->carrier_riders != s->carrier_riders) {
        return false;
    }
    for (uint32_t k = 0; k < s->carrier_riders; k++) {
        uint32_t leaf = past->now[past->body->order[was->rider[from + k]]];
        if (leaf == NONE) {
            return false;
        }
        s->rider[to + k] = body->place[leaf];
    }
    memcpy(s->weight + to, was->weight + from, s->carrier_riders * sizeof *s->weight);
    memcpy(s->gradient + 3 * to, was->gradient + 3 * from, (size_t)3 * s->carrier_riders * sizeof *s->gradient);
    s->rest[carrier] = was->rest[former];
    memcpy(s->across + (size_t)carrier * 4, was->across + (size_t)former * 4, 4 * sizeof *s->across);
    s->used[carrier] = was->used[former];
    return true;
}

static void note_leaves(const lmi_octree *t, uint32_t n, uint32_t carrier, uint32_t *of_leaf)
{
    const lmi_octree_node *node = &t->nodes[n];
    if (lmi_octree_is_leaf(node)) {
        of_leaf[node->leaf] = carrier;
    }
    for (uint32_t c = 0; c < node->child_count; c++) {
        note_leaves(t, node->first_child + c, carrier, of_leaf);
    }
}

bool lmi_mould_carry_octree(lm_world *world, const lmi_body *body, const lmi_octree_past *past, lmi_mould *s)
{
    const lmi_octree *t = &body->octree->tree;
    uint32_t level = level_of(t, s), least;
    s->carrier_count = count_carriers(t, level, &least);
    s->carrier_riders = body->particle_count < LMI_CARRIER_MOST ? body->particle_count : LMI_CARRIER_MOST;
    s->leaf_count = t->leaf_count;
    s->of_leaf = lmi_allocate(&world->memory, t->leaf_count, sizeof *s->of_leaf);
    if (!lmi_mould_allocate_carriers(&world->memory, s) || !s->of_leaf) {
        return false;
    }
    memset(s->of_leaf, 0xff, t->leaf_count * sizeof *s->of_leaf);
    for (uint32_t n = 0, carrier = 0; n < t->node_count && carrier < s->carrier_count; n++) {
        if (!is_carrier(&t->nodes[n], level, least)) {
            continue;
        }
        uint32_t former = past && past->body->bulk->mould->of_leaf ? former_carrier(t, past, n) : NONE;
        if (former == NONE || !take_over(body, past, former, s, carrier)) {
            carry_node(body, s, carrier, n);
        }
        note_leaves(t, n, carrier++, s->of_leaf);
    }
    lmi_mould_find_levers(s);
    return true;
}

/* --- the solid --- */

lmi_bulk *lmi_bulk_follow_octree(lm_world *world, const lmi_body *body, const lmi_octree_past *past)
{
    const lmi_mould *was = past->body->bulk->mould;
    lmi_bulk *bulk = lmi_allocate(&world->memory, 1, sizeof *bulk);
    lmi_mould *mould = lmi_allocate(&world->memory, 1, sizeof *mould);
    bool ok = bulk && mould;
    if (mould) {
        *mould = (lmi_mould){.users = 1,
                             .cell = was->cell,
                             .deep = was->deep,
                             .coarse = was->coarse,
                             .first = was->first,
                             .radius = was->radius,
                             .reach = was->reach,
                             .far = was->far,
                             .apart = was->apart};
        memcpy(mould->n, was->n, sizeof was->n);
    }
    ok = ok && lmi_mould_carry_octree(world, body, past, mould);
    if (ok) {
        ok = lmi_bulk_of_mould(world, mould, bulk); /* gives the mould back where it fails */
        mould = NULL;
    }
    if (mould) {
        lmi_mould_give(world, mould);
    }
    if (!ok) {
        lmi_release(&world->memory, bulk, 1, sizeof *bulk);
    }
    return ok ? bulk : NULL;
}

void lmi_bulk_inherit(lmi_bulk *heir, lmi_bulk *old)
{
    lmi_mould *to = heir->mould, *from = old->mould;
    to->vertices = from->vertices, to->triangles = from->triangles, to->distance = from->distance;
    to->vertex_count = from->vertex_count, to->triangle_count = from->triangle_count;
    to->hash = from->hash, to->place_count = from->place_count, to->spacing = from->spacing;
    from->vertices = NULL, from->triangles = NULL, from->distance = NULL;
}
