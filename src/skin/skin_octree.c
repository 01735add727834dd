/*
 * Skins of octrees.
 *
 *   x(X) = sum over leaves near X of phi_i(X) (x_i + A_i (X - x0_i))
 *
 * A_i is the best affine map of the leaf's own region, as it is now; phi falls to zero at a distance from the leaf that goes
 * with the side of its cell, and all of them sum to 1. Affine motions of the body are followed exactly. The leaves that count
 * are those that neighbours lead to within two steps from the leaf that X is in, so that a vertex of one finger knows nothing
 * of the next.
 */
#include "skin/skin_octree.h"
#include "octree/octree_body.h"
#include "octree/octree_carrier.h"
#include "octree/octree_change.h"
#include "skin/skin.h"

#include <string.h>

/* Beyond this many sides of its cell a leaf is not seen. */
#define REACH 1.6

bool lmi_octree_around_make(lmi_octree_around *a, lmi_memory *memory, const lmi_octree *t)
{
    *a = (lmi_octree_around){.tree = t};
    a->first = lmi_allocate(memory, t->leaf_count, sizeof *a->first);
    a->count = lmi_allocate(memory, t->leaf_count, sizeof *a->count);
    a->few = lmi_allocate(memory, t->leaf_count, sizeof *a->few);
    a->stamp = lmi_allocate(memory, t->leaf_count, sizeof *a->stamp);
    if (!a->first || !a->count || !a->few || !a->stamp) {
        lmi_octree_around_free(a, memory);
        return false;
    }
    return true;
}

void lmi_octree_around_free(lmi_octree_around *a, lmi_memory *memory)
{
    if (a->tree) {
        lmi_release(memory, a->first, a->tree->leaf_count, sizeof *a->first);
        lmi_release(memory, a->count, a->tree->leaf_count, sizeof *a->count);
        lmi_release(memory, a->few, a->tree->leaf_count, sizeof *a->few);
        lmi_release(memory, a->stamp, a->tree->leaf_count, sizeof *a->stamp);
        lmi_release(memory, a->items, a->item_capacity, sizeof *a->items);
    }
    memset(a, 0, sizeof *a);
}

/* The cell of a leaf and a little more, in the frame of the mesh: vertices that belong to the leaf are there, as good as all. */
typedef struct surroundings {
    lm_dvec3 low, high;
} surroundings;

#define BESIDE 1.5 /* voxels */

static surroundings surroundings_of(const lmi_octree *t, uint32_t leaf)
{
    const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
    const double by = t->voxels.spacing, side = (double)(1u << node->level);
    double low[3];
    for (int k = 0; k < 3; k++) {
        low[k] = (double)node->cell[k] - (double)t->pad[k];
    }
    const lm_dvec3 first = t->voxels.first;
    surroundings s = {
        dvec(first.x + by * (low[0] - BESIDE), first.y + by * (low[1] - BESIDE), first.z + by * (low[2] - BESIDE)),
        dvec(first.x + by * (low[0] + side + BESIDE), first.y + by * (low[1] + side + BESIDE),
             first.z + by * (low[2] + side + BESIDE))};
    return s;
}

static double beside(double at, double low, double high) { return at < low ? low - at : at > high ? at - high : 0.0; }

static bool note(lmi_octree_around *a, lmi_memory *memory, uint32_t from, uint32_t leaf)
{
    const lmi_octree *t = a->tree;
    void *items = a->items;
    if (a->stamp[leaf] == from + 1) {
        return true;
    }
    bool ok = lmi_reserve(memory, &items, &a->item_capacity, a->item_count + 1, sizeof *a->items);
    a->items = items;
    if (ok) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        double reach = REACH * t->voxels.spacing * (double)(1u << node->level);
        a->stamp[leaf] = from + 1;
        a->items[a->item_count++] = (lmi_octree_seen){lmi_octree_middle(t, node), reach * reach, leaf};
    }
    return ok;
}

/* Those that count for what is in a leaf's cell or beside it come first, in the order in which they were found. */
static void sort_seen(lmi_octree_around *a, uint32_t leaf)
{
    surroundings s = surroundings_of(a->tree, leaf);
    lmi_octree_seen *items = a->items + a->first[leaf];
    uint32_t few = 0;
    for (uint32_t n = 0; n < a->count[leaf]; n++) {
        lm_dvec3 d = dvec(beside(items[n].middle.x, s.low.x, s.high.x), beside(items[n].middle.y, s.low.y, s.high.y),
                          beside(items[n].middle.z, s.low.z, s.high.z));
        if (dvec_dot(d, d) < items[n].square) {
            lmi_octree_seen one = items[n];
            items[n] = items[few];
            items[few++] = one;
        }
    }
    a->few[leaf] = few;
}

/* The leaf itself, its neighbours, and theirs. */
static bool find_around(lmi_octree_around *a, lmi_memory *memory, uint32_t leaf)
{
    const uint32_t *offsets = a->tree->neighbours.offsets, *near = a->tree->neighbours.items;
    uint32_t first = a->item_count;
    bool ok = note(a, memory, leaf, leaf);
    for (uint32_t n = offsets[leaf]; ok && n < offsets[leaf + 1]; n++) {
        ok = note(a, memory, leaf, near[n]);
    }
    for (uint32_t n = offsets[leaf]; ok && n < offsets[leaf + 1]; n++) {
        for (uint32_t k = offsets[near[n]]; ok && k < offsets[near[n] + 1]; k++) {
            ok = note(a, memory, leaf, near[k]);
        }
    }
    a->first[leaf] = first;
    a->count[leaf] = ok ? a->item_count - first : 0;
    if (ok) {
        sort_seen(a, leaf);
    }
    return ok;
}

uint32_t lmi_embed_octree(lmi_octree_around *a, lmi_memory *memory, uint32_t leaf, lm_vec3 point,
                          uint32_t leaves[LMI_SKIN_OCTREE_MOST], float weights[LMI_SKIN_OCTREE_MOST])
{
    uint32_t count = 0;
    if (a->count[leaf] == 0 && !find_around(a, memory, leaf)) {
        return 0;
    }
    const surroundings s = surroundings_of(a->tree, leaf);
    const lm_dvec3 p = dvec_from(point);
    const bool near =
        p.x >= s.low.x && p.x <= s.high.x && p.y >= s.low.y && p.y <= s.high.y && p.z >= s.low.z && p.z <= s.high.z;
    const lmi_octree_seen *items = a->items + a->first[leaf];
    for (uint32_t n = 0; n < (near ? a->few[leaf] : a->count[leaf]) && count < LMI_SKIN_OCTREE_MOST; n++) {
        lm_dvec3 d = dvec_sub(p, items[n].middle);
        double square = dvec_dot(d, d);
        if (square < items[n].square) {
            double left = 1.0 - square / items[n].square;
            leaves[count] = items[n].leaf;
            weights[count++] = (float)(left * left);
        }
    }
    double sum = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        sum += weights[n];
    }
    if (!(sum > 1e-6)) { /* a vertex far from everything */
        leaves[0] = leaf;
        weights[0] = 1.0f;
        return 1;
    }
    for (uint32_t n = 0; n < count; n++) {
        weights[n] = (float)(weights[n] / sum);
    }
    return count;
}

typedef struct seen_leaf {
    double key, square; /* what they are sorted by; of the distance */
    uint32_t leaf;
} seen_leaf;

/* Puts one in its place among `count` that are sorted; equal ones stay in order. */
static void sort_in(seen_leaf *found, uint32_t count, seen_leaf one)
{
    uint32_t at = count;
    for (; at > 0 && one.key < found[at - 1].key; at--) {
        found[at] = found[at - 1];
    }
    found[at] = one;
}

uint32_t lmi_octree_nearest(lmi_octree_around *a, lmi_memory *memory, uint32_t leaf, lm_vec3 point, uint32_t most,
                            uint32_t *leaves)
{
    seen_leaf found[LMI_SKIN_OCTREE_MOST];
    uint32_t count = 0;
    if (a->count[leaf] == 0 && !find_around(a, memory, leaf)) {
        return 0;
    }
    for (uint32_t n = 0; n < a->count[leaf]; n++) {
        const lmi_octree_seen *other = &a->items[a->first[leaf] + n];
        lm_dvec3 d = dvec_sub(dvec_from(point), other->middle);
        double square = dvec_dot(d, d), key = square / other->square;
        if (count < most || key < found[count - 1].key) {
            count += count < most;
            sort_in(found, count - 1, (seen_leaf){key, square, other->leaf});
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        sort_in(found, n, (seen_leaf){found[n].square, found[n].square, found[n].leaf});
    }
    for (uint32_t n = 0; n < count; n++) {
        leaves[n] = found[n].leaf;
    }
    return count;
}

static void add_leaf(const lmi_body *body, uint32_t leaf, double sums[LMI_OCTREE_SUMS])
{
    uint32_t place = body->place[leaf];
    lmi_octree_carrier_add(body->x + (size_t)place * 4, body->rest[place], sums);
}

static void add_node(const lmi_body *body, uint32_t n, double sums[LMI_OCTREE_SUMS])
{
    const lmi_octree_node *node = &body->octree->tree.nodes[n];
    if (lmi_octree_is_leaf(node)) {
        add_leaf(body, node->leaf, sums);
    }
    for (uint32_t c = 0; c < node->child_count; c++) {
        add_node(body, node->first_child + c, sums);
    }
}

/* What a leaf carries, from the sums over its region. */
static void make_carrier(const lm_world *world, const lmi_body *body, uint32_t leaf, const double sums[LMI_OCTREE_SUMS],
                         lmi_carrier *c)
{
    const lmi_region *region = &body->regions[leaf];
    uint32_t place = body->place[leaf], stride;
    const float *rotation = lmi_body_rotation(world, body, leaf, &stride), *x = body->x + (size_t)place * 4;
    lmi_octree_carrier_make(region, sums, x, body->rest[place], rotation, stride, c);
}

void lmi_octree_carrier(const lm_world *world, const lmi_body *body, uint32_t leaf, lmi_carrier *carrier)
{
    const lmi_octree *t = &body->octree->tree;
    double sums[LMI_OCTREE_SUMS] = {0};
    for (uint32_t n = t->regions.offsets[leaf]; n < t->regions.offsets[leaf + 1]; n++) {
        add_node(body, t->regions.items[n], sums);
    }
    make_carrier(world, body, leaf, sums, carrier);
}

void lmi_octree_carriers(const lm_world *world, lmi_body *body, lmi_carrier *carriers)
{
    const lmi_octree *t = &body->octree->tree;
    double(*of)[LMI_OCTREE_SUMS] = body->octree->sums;
    memset(of, 0, t->node_count * sizeof *of);
    for (uint32_t n = t->node_count; n-- > 0;) { /* children come after their parents */
        const lmi_octree_node *node = &t->nodes[n];
        if (lmi_octree_is_leaf(node)) {
            add_leaf(body, node->leaf, of[n]);
        }
        for (int i = 0; node->parent != LMI_OCTREE_NONE && i < LMI_OCTREE_SUMS; i++) {
            of[node->parent][i] += of[n][i];
        }
    }
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        double sums[LMI_OCTREE_SUMS] = {0};
        for (uint32_t n = t->regions.offsets[leaf]; n < t->regions.offsets[leaf + 1]; n++) {
            for (int i = 0; i < LMI_OCTREE_SUMS; i++) {
                sums[i] += of[t->regions.items[n]][i];
            }
        }
        make_carrier(world, body, leaf, sums, &carriers[leaf]);
    }
}

/* ---- cells that were divided or joined ----
 *
 * Skins of octrees whose cells were divided or joined: a vertex that rides on other leaves now is elsewhere, by a small part of a
 * cell. The difference is added to where it is shown, and fades (lmi_skin.fading). Nothing but the picture knows of it.
 */

bool lmi_octree_fade_begin(lmi_octree_change *c)
{
    const lmi_body *old = c->body;
    uint32_t count = old->skin.vertex_count;
    if (count == 0 || c->slashes.count) {
        return true; /* a cut is seen at once */
    }
    c->fading = lmi_allocate_plain(&c->world->memory, count, sizeof *c->fading);
    c->fading_count = count;
    for (uint32_t n = 0; c->fading && n < count; n++) {
        c->fading[n] = vec_from(lmi_skin_vertex(old, n));
    }
    return c->fading != NULL;
}

void lmi_octree_fade_end(lmi_octree_change *c)
{
    lmi_skin *skin = &c->body->skin;
    if (!c->fading || c->fading_count != skin->vertex_count) {
        return; /* its vertices are others */
    }
    for (uint32_t n = 0; n < skin->vertex_count; n++) {
        lm_dvec3 was = dvec_from(c->fading[n]);
        c->fading[n] = vec_from(dvec_sub(was, lmi_skin_vertex(c->body, n)));
    }
    skin->fading = c->fading;
    skin->fading_left = LMI_SKIN_FADES;
    c->fading = NULL;
}
