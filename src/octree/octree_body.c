/*
 * Octree bodies: made from a mesh, with a particle in the middle of each leaf and a region around each particle.
 *
 * Regions have no lists of members. Everything that the step asks of a region, its rest frame, rotation and lasting
 * deformation, is kept as for clusters, so that one fit serves both; only the sums differ (octree/sum_octree.c).
 */
#include "octree/octree_body.h"
#include "base/hash.h"
#include "contact/cleft.h"
#include "geometry/nearest.h"
#include "skin/skin_octree_cut.h"
#include "world/access.h"
#include "world/body.h"
#include "world/elastic.h"
#include "world/in_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without a spacing the finest cells are this share of the longest side of the mesh. */
#define FINEST 64.0

/* Sorted by the length of their lists within this many neighbours: lanes are equally long, and what is near stays near. */
#define WINDOW 512u

/* --- what is wrong with a definition --- */

static const char *values_fault(const float *values, uint32_t count, const char *what)
{
    for (uint32_t n = 0; values && n < count; n++) {
        if (!(values[n] >= 0.0f && values[n] <= 1e6f)) {
            return what;
        }
    }
    return NULL;
}

static const char *def_fault(const lm_body_def *def)
{
    const lm_octree *o = &def->octree;
    if (def->points || def->point_count || def->lattice.vertices || def->lattice.cells || def->tets.vertices) {
        return "a body has points, a lattice, tets or an octree, not several of them";
    }
    if (!o->triangles || o->triangle_count == 0 || o->vertex_count == 0) {
        return "an octree needs vertices and triangles";
    }
    if (!(o->spacing >= 0.0f && o->spacing <= 1e6f)) {
        return "octree.spacing must be 0 to 1e6 m";
    }
    if (o->levels > LMI_OCTREE_MAX_LEVELS) {
        return "octree.levels must be 0 to 8";
    }
    if (!(o->detail >= 0.0f && o->detail <= 1000.0f)) {
        return "octree.detail must be 0 to 1000";
    }
    if (!(o->width >= 0.0f && o->width <= 1e6f)) {
        return "octree.width must be 0 to 1e6 m";
    }
    if (!(o->slack >= 0.0f && o->slack <= 4.0f)) {
        return "octree.slack must be 0 to 4";
    }
    if (o->particles > LM_MAX_PARTICLES) {
        return "octree.particles is beyond LM_MAX_PARTICLES";
    }
    const char *fault = values_fault(o->vertex_sizes, o->vertex_count, "octree.vertex_sizes must be 0 to 1e6 m");
    return fault ? fault : values_fault(o->vertex_widths, o->vertex_count, "octree.vertex_widths must be 0 to 1e6 m");
}

const char *lmi_octree_body_fault(const lm_material *m)
{
    return m->mode == LM_MODE_QUADRATIC ? "an octree is rigid or linear: it bends by its many regions" : NULL;
}

/* --- where cells are divided --- */

typedef struct wish {
    const uint8_t *thickness; /* of voxels; null: not looked at */
    const float *sizes;       /* of voxels, in voxels; null: none given */
    double detail;            /* cells across what is thin */
} wish;

/* A node is divided where it is larger than the body is thick there, over `detail`, or than somebody wants. */
static bool wants_division(const lmi_octree *t, const lmi_octree_node *node, void *user)
{
    const wish *w = user;
    double side = (double)(1u << node->level), thick = 0.0, least = INFINITY;
    for (uint32_t n = 0; n < node->voxel_count; n++) {
        uint32_t voxel = t->voxel_order[node->first_voxel + n];
        thick += w->thickness ? (double)w->thickness[voxel] / node->voxel_count : 0.0;
        least = w->sizes && w->sizes[voxel] > 0.0f && w->sizes[voxel] < least ? (double)w->sizes[voxel] : least;
    }
    return (w->thickness && side * w->detail > thick) || side > least;
}

/* The detail with which the number of leaves comes nearest to `wanted`: it grows with the detail, in jumps. */
static lm_result divide_to_count(lmi_octree *t, lmi_memory *memory, wish *w, uint32_t wanted)
{
    double low = 0.0, high = 256.0, best = high;
    uint64_t miss = UINT64_MAX;
    lm_result result = LM_OK;
    for (int n = 0; result == LM_OK && n < 24 && miss > 0; n++) {
        w->detail = n == 0 ? low : n == 1 ? high : 0.5 * (low + high);
        result = lmi_octree_divide(t, memory, wants_division, w);
        uint64_t count = t->leaf_count, here = count > wanted ? count - wanted : wanted - count;
        if (result == LM_OK && here < miss) {
            miss = here;
            best = w->detail;
        }
        if (n > 1) {
            *(count > wanted ? &high : &low) = w->detail;
        }
    }
    w->detail = best;
    return result == LM_OK ? lmi_octree_divide(t, memory, wants_division, w) : result;
}

/* The value of the vertex nearest to each voxel, or null. */
static float *sizes_of_voxels(lm_world *world, const lmi_octree *t, const lm_octree *def)
{
    lm_dvec3 *points = lmi_allocate(&world->memory, t->voxel_count, sizeof *points);
    float *sizes = lmi_allocate(&world->memory, t->voxel_count, sizeof *sizes);
    bool ok = points && sizes;
    for (uint32_t n = 0; ok && n < t->voxel_count; n++) {
        const lmi_voxels *v = &t->voxels;
        points[n] = dvec(v->first.x + (t->at[n][0] + 0.5) * v->spacing, v->first.y + (t->at[n][1] + 0.5) * v->spacing,
                         v->first.z + (t->at[n][2] + 0.5) * v->spacing);
    }
    ok = ok && lmi_nearest_values(&world->memory, def->vertices, def->vertex_sizes, def->vertex_count, points,
                                  t->voxel_count, sizes);
    for (uint32_t n = 0; ok && n < t->voxel_count; n++) {
        sizes[n] = (float)(sizes[n] / t->voxels.spacing);
    }
    lmi_release(&world->memory, points, t->voxel_count, sizeof *points);
    if (!ok) {
        lmi_release(&world->memory, sizes, t->voxel_count, sizeof *sizes);
    }
    return ok ? sizes : NULL;
}

static lm_result divide(lm_world *world, lmi_octree *t, const lm_octree *def)
{
    lmi_memory *memory = &world->memory;
    bool by_count = def->particles > 0, thin = by_count || def->detail > 0.0f;
    wish w = {.detail = (double)def->detail};
    double most = (by_count ? 4.0 : w.detail) * (double)(1u << t->levels) + 1.0;
    uint8_t *thickness = thin ? lmi_octree_thickness(t, memory, most < 240.0 ? (uint32_t)most : 240) : NULL;
    float *sizes = def->vertex_sizes ? sizes_of_voxels(world, t, def) : NULL;
    lm_result result = (thin && !thickness) || (def->vertex_sizes && !sizes) ? LM_ERROR_MEMORY : LM_OK;
    w.thickness = thickness;
    w.sizes = sizes;
    if (result == LM_OK) {
        result = by_count ? divide_to_count(t, memory, &w, def->particles)
                          : lmi_octree_divide(t, memory, wants_division, &w);
    }
    lmi_release(memory, thickness, t->voxel_count, sizeof *thickness);
    lmi_release(memory, sizes, t->voxel_count, sizeof *sizes);
    return result;
}

/* --- widths --- */

/* A width in metres as units of the graph, no less than the way to a leaf's neighbours. */
static uint32_t width_of(const lmi_octree *t, uint32_t leaf, double metres)
{
    double units = metres / t->voxels.spacing * LMI_OCTREE_UNITS * (1.0 + 1e-9);
    uint32_t least = lmi_octree_least_width(&t->nodes[t->leaves[leaf]]);
    uint32_t width = units < 1e9 ? (uint32_t)units : 1000000000u;
    return width > least ? width : least;
}

static bool find_widths(lm_world *world, lmi_octree *t, const lm_octree *def)
{
    double whole = def->width > 0.0f ? (double)def->width : t->voxels.spacing * (double)(1u << t->levels);
    lm_dvec3 *points = lmi_allocate(&world->memory, t->leaf_count, sizeof *points);
    float *metres = lmi_allocate(&world->memory, t->leaf_count, sizeof *metres);
    bool ok = points && metres;
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        points[leaf] = lmi_octree_middle(t, &t->nodes[t->leaves[leaf]]);
    }
    ok = ok && (!def->vertex_widths || lmi_nearest_values(&world->memory, def->vertices, def->vertex_widths,
                                                          def->vertex_count, points, t->leaf_count, metres));
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        t->width[leaf] = width_of(t, leaf, metres[leaf] > 0.0f ? (double)metres[leaf] : whole);
    }
    lmi_release(&world->memory, points, t->leaf_count, sizeof *points);
    lmi_release(&world->memory, metres, t->leaf_count, sizeof *metres);
    return ok;
}

/* --- making one --- */

static double longest_side(const lm_octree *def)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0.0;
    for (size_t n = 0; n < (size_t)def->triangle_count * 3; n++) {
        if (def->triangles[n] < def->vertex_count) {
            lm_vec3 p = def->vertices[def->triangles[n]];
            const double at[3] = {p.x, p.y, p.z};
            for (int k = 0; k < 3; k++) {
                low[k] = fmin(low[k], at[k]);
                high[k] = fmax(high[k], at[k]);
                longest = fmax(longest, high[k] - low[k]);
            }
        }
    }
    return longest;
}

static lm_result make_tree(lm_world *world, const lm_octree *def, lmi_octree *t, char *fault)
{
    lmi_memory *memory = &world->memory;
    double longest = longest_side(def);
    lmi_voxel_def mesh = {.vertices = def->vertices,
                          .vertex_count = def->vertex_count,
                          .triangles = def->triangles,
                          .triangle_count = def->triangle_count,
                          .spacing = def->spacing > 0.0f ? (double)def->spacing
                                     : longest > 0.0     ? longest / FINEST
                                                         : 1.0,
                          .shell = def->shell};
    if (!(mesh.spacing >= LMI_OCTREE_LEAST_SPACING)) {
        strcpy(fault, "the octree's finest cells must be at least 1e-9 m");
        return LM_ERROR_ARGUMENT;
    }
    lmi_octree_mesh faces = {def->vertices, def->triangles, def->triangle_count};
    lmi_voxels voxels;
    lm_result result = lmi_voxels_make(memory, &mesh, &voxels, fault);
    if (result != LM_OK) {
        return result;
    }
    strcpy(fault, "out of memory");
    result = lmi_octree_begin(t, memory, &voxels, def->levels);
    if (result == LM_ERROR_LIMIT) {
        strcpy(fault, "an octree may have 2^26 of its finest cells: take a larger spacing");
    }
    if (result != LM_OK) {
        return result;
    }
    t->slack = (double)def->slack;
    result = def->shell || lmi_octree_cut_gaps(t, memory, &faces) ? divide(world, t, def) : LM_ERROR_MEMORY;
    t->bounded = true;
    if (result == LM_OK &&
        !(lmi_octree_find_neighbours(t, memory) && find_widths(world, t, def) && lmi_octree_find_regions(t, memory))) {
        result = t->too_wide ? LM_ERROR_LIMIT : LM_ERROR_MEMORY;
    }
    if (result == LM_ERROR_LIMIT) {
        snprintf(fault, LMI_VOXEL_FAULT_SIZE,
                 "the regions of %u cells reach too far: take a smaller width or fewer cells", t->leaf_count);
    }
    t->bounded = false; /* what changes later, or is loaded, stays near what was allowed here */
    if (result != LM_OK) {
        lmi_octree_free(t, memory);
    }
    return result;
}

typedef struct length {
    uint32_t cost, leaf;
} length;

static int compare_lengths(const void *a, const void *b)
{
    const length *x = a, *y = b;
    if (x->cost != y->cost) {
        return x->cost > y->cost ? -1 : 1;
    }
    return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

/* What the lists of a region cost: virtual nodes before particles, because they are three times as much to read. */
static uint32_t cost_of(const lmi_octree *t, uint32_t leaf)
{
    uint32_t cost = 0;
    for (uint32_t n = t->regions.offsets[leaf]; n < t->regions.offsets[leaf + 1]; n++) {
        uint32_t node = lmi_octree_plain_node(t, t->regions.items[n]);
        cost += lmi_octree_is_leaf(&t->nodes[node]) ? 1 : 1000;
    }
    return cost;
}

static bool order_leaves(lm_world *world, lmi_body *body)
{
    const lmi_octree *t = &body->octree->tree;
    length *lengths = lmi_allocate(&world->memory, t->leaf_count, sizeof *lengths);
    for (uint32_t n = 0; lengths && n < t->leaf_count; n++) {
        lengths[n] = (length){cost_of(t, n), n};
    }
    for (uint32_t n = 0; lengths && n < t->leaf_count; n += WINDOW) {
        qsort(lengths + n, t->leaf_count - n < WINDOW ? t->leaf_count - n : WINDOW, sizeof *lengths, compare_lengths);
    }
    for (uint32_t n = 0; lengths && n < t->leaf_count; n++) {
        body->order[n] = lengths[n].leaf;
        body->place[lengths[n].leaf] = n;
        body->rest[n] = vec_from(lmi_octree_middle(t, &t->nodes[t->leaves[lengths[n].leaf]]));
    }
    lmi_release(&world->memory, lengths, t->leaf_count, sizeof *lengths);
    return lengths != NULL;
}

/* Parts are numbered in the order of their first leaves. */
static bool find_parts(lm_world *world, lmi_octree_body *o)
{
    const lmi_octree *t = &o->tree;
    uint32_t *stack = lmi_allocate(&world->memory, t->leaf_count, sizeof *stack);
    o->part = lmi_allocate(&world->memory, t->leaf_count, sizeof *o->part);
    bool ok = stack && o->part;
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        o->part[leaf] = LMI_NONE;
    }
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        if (o->part[leaf] != LMI_NONE) {
            continue;
        }
        uint32_t depth = 0;
        o->part[leaf] = o->part_count;
        stack[depth++] = leaf;
        while (depth > 0) {
            uint32_t at = stack[--depth];
            for (uint32_t n = t->neighbours.offsets[at]; n < t->neighbours.offsets[at + 1]; n++) {
                uint32_t other = t->neighbours.items[n];
                if (o->part[other] == LMI_NONE) {
                    o->part[other] = o->part_count;
                    stack[depth++] = other;
                }
            }
        }
        o->part_count++;
    }
    o->parts = ok ? lmi_allocate(&world->memory, o->part_count, sizeof *o->parts) : NULL;
    lmi_release(&world->memory, stack, t->leaf_count, sizeof *stack);
    return ok && o->parts;
}

bool lmi_octree_body_allocate(lm_world *world, lmi_body *body, lmi_octree *tree)
{
    body->octree = lmi_allocate(&world->memory, 1, sizeof *body->octree);
    if (!body->octree) {
        lmi_octree_free(tree, &world->memory);
        return false;
    }
    world->has_octrees = true;
    body->octree->tree = *tree;
    memset(tree, 0, sizeof *tree);
    body->particle_count = body->region_count = body->octree->tree.leaf_count;
    body->octree->sums = lmi_allocate(&world->memory, body->octree->tree.node_count, sizeof *body->octree->sums);
    return body->octree->sums && find_parts(world, body->octree) && lmi_body_allocate(world, body) &&
           order_leaves(world, body);
}

static bool copy_levels(lmi_memory *memory, const lmi_octree *t, lmi_octree_levels **levels)
{
    bool ok = true;
    lmi_octree_levels *to = lmi_copy(memory, *levels, 1, sizeof *to, &ok);
    if (to) {
        to->scratch = to->was_quiet = NULL;
        to->scratch_size = 0;
        LMI_COPY_ARRAY(memory, to, home, t->voxel_count, &ok);
        LMI_COPY_ARRAY(memory, to, leaf, t->leaf_count, &ok);
    }
    *levels = to;
    return ok;
}

bool lmi_octree_body_copy(lm_world *world, const lmi_body *from, lmi_body *to)
{
    lmi_memory *memory = &world->memory;
    const lmi_octree_body *f = from->octree;
    lmi_octree_body *t = lmi_allocate(memory, 1, sizeof *t);
    if (!t) {
        return false;
    }
    to->octree = t;
    lmi_octree_join(&t->tree, &f->tree);
    bool ok = lmi_octree_lanes_join(&t->lanes, memory, &f->lanes);
    t->part_count = f->part_count;
    t->part = lmi_copy(memory, f->part, t->tree.leaf_count, sizeof *t->part, &ok);
    t->parts = lmi_copy(memory, f->parts, t->part_count, sizeof *t->parts, &ok);
    t->sums = ok ? lmi_allocate_plain(memory, t->tree.node_count, sizeof *t->sums) : NULL;
    t->levels = ok ? f->levels : NULL;
    return copy_levels(memory, &t->tree, &t->levels) && ok && t->sums;
}

void lmi_octree_body_free(lm_world *world, lmi_body *body)
{
    if (body->octree) {
        lmi_octree_shell_free(world, body->octree->shell);
        lmi_octree_levels_free(world, body->octree);
        lmi_clefts_free(world, body->octree->clefts);
        lmi_octree_lanes_free(&body->octree->lanes, &world->memory);
        lmi_release(&world->memory, body->octree->part, body->octree->tree.leaf_count, sizeof *body->octree->part);
        lmi_release(&world->memory, body->octree->parts, body->octree->part_count, sizeof *body->octree->parts);
        lmi_release(&world->memory, body->octree->sums, body->octree->tree.node_count, sizeof *body->octree->sums);
        lmi_octree_free(&body->octree->tree, &world->memory);
        lmi_release(&world->memory, body->octree, 1, sizeof *body->octree);
        body->octree = NULL;
    }
}

static void spread_mass(lmi_body *body, const lm_body_def *def)
{
    const lmi_octree *t = &body->octree->tree;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        const lmi_octree_node *leaf = &t->nodes[t->leaves[body->order[n]]];
        body->mass[n] =
            def->masses ? def->masses[body->order[n]] : (float)((double)def->mass * leaf->voxel_count / t->voxel_count);
    }
}

static lm_result fill_body(lm_world *world, lmi_body *body, const lm_body_def *def, char *fault)
{
    lmi_octree tree;
    lm_result result = make_tree(world, &def->octree, &tree, fault);
    if (result != LM_OK) {
        return result;
    }
    uint64_t padded = ((uint64_t)tree.leaf_count + LMI_BLOCK - 1) / LMI_BLOCK * LMI_BLOCK;
    if (world->particles + padded > LM_MAX_PARTICLES) {
        lmi_octree_free(&tree, &world->memory);
        strcpy(fault, "more particles than LM_MAX_PARTICLES in a world");
        return LM_ERROR_LIMIT;
    }
    strcpy(fault, "out of memory");
    if (!lmi_octree_body_allocate(world, body, &tree)) {
        return LM_ERROR_MEMORY;
    }
    const char *wrong = def->masses ? lmi_body_mass_fault(def->masses, body->particle_count) : NULL;
    if (wrong) {
        strcpy(fault, wrong);
        return LM_ERROR_ARGUMENT;
    }
    spread_mass(body, def);
    body->material = def->material;
    body->plastic_material = def->material.yield > 0.0f;
    lmi_body_take_def(body, def);
    if (!lmi_octree_body_weigh(world, body, NULL)) {
        return LM_ERROR_MEMORY;
    }
    lmi_body_place(body, def);
    body->shape_hash = lmi_hash_shape(body);
    lmi_touch_mesh mesh = {0};
    bool ok = true;
    if (def->contact_points != LM_CONTACT_PARTICLES) {
        mesh = (lmi_touch_mesh){def->octree.vertices, def->octree.triangles, def->octree.vertex_count,
                                def->octree.triangle_count};
        ok = lmi_touch_make(world, body, &mesh, &body->touch);
    }
    return ok && lmi_body_make_bulk(world, body, &mesh) ? LM_OK : LM_ERROR_MEMORY;
}

lm_result lmi_octree_body_create(lm_world *world, const lm_body_def *def, uint32_t *slot)
{
    const char *wrong = def_fault(def);
    wrong = wrong ? wrong : lmi_body_def_fault(def);
    wrong = wrong ? wrong : lmi_octree_body_fault(&def->material);
    if (wrong) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_create: %s", wrong);
    }
    if (!lmi_pool_add(&world->bodies, &world->memory, slot)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
    }
    char fault[LMI_VOXEL_FAULT_SIZE] = "out of memory";
    lmi_body *body = lmi_body_in_step(world, *slot);
    body->slot = *slot;
    lm_result result = fill_body(world, body, def, fault);
    result = result == LM_OK ? lmi_body_join_batch(world, *slot) : result;
    if (result != LM_OK) {
        lmi_body_free(world, body);
        lmi_pool_revoke(&world->bodies, *slot);
        return lmi_fail(world, result, "lm_body_create: %s", fault);
    }
    world->particles += body->padded_count;
    return LM_OK;
}

/* --- what follows from masses, pins and widths --- */

/* Everything that weighing makes, aside. */
typedef struct weighing {
    double *mass, *region_mass; /* by leaf, in units of the mean */
    float *weights;             /* by leaf, in fits */
    double *square;             /* <x²> of the regions without pins */
    lmi_octree_rest *rest;
    lmi_region *regions;
} weighing;

static bool make_weighing(weighing *w, lmi_memory *memory, const lmi_octree *t)
{
    w->mass = lmi_allocate(memory, t->leaf_count, sizeof *w->mass);
    w->region_mass = lmi_allocate(memory, t->leaf_count, sizeof *w->region_mass);
    w->weights = lmi_allocate(memory, t->leaf_count, sizeof *w->weights);
    w->square = lmi_allocate(memory, t->leaf_count, sizeof *w->square);
    w->rest = lmi_allocate(memory, t->node_count, sizeof *w->rest);
    w->regions = lmi_allocate(memory, t->leaf_count, sizeof *w->regions);
    return w->mass && w->region_mass && w->weights && w->square && w->rest && w->regions;
}

static void free_weighing(weighing *w, lmi_memory *memory, const lmi_octree *t)
{
    lmi_release(memory, w->mass, t->leaf_count, sizeof *w->mass);
    lmi_release(memory, w->region_mass, t->leaf_count, sizeof *w->region_mass);
    lmi_release(memory, w->weights, t->leaf_count, sizeof *w->weights);
    lmi_release(memory, w->square, t->leaf_count, sizeof *w->square);
    lmi_release(memory, w->rest, t->node_count, sizeof *w->rest);
    lmi_release(memory, w->regions, t->leaf_count, sizeof *w->regions);
}

static void sum_mass(lmi_body *body)
{
    body->total_mass = 0.0;
    for (uint32_t leaf = 0; leaf < body->particle_count; leaf++) { /* in the order of the tree */
        body->total_mass += body->mass[body->place[leaf]];
    }
    body->mean_mass = body->total_mass / body->particle_count;
    body->rest_size = lmi_body_rest_size(body);
}

/* Mass, and that of what is held, below a node. */
static void weigh_held(const lmi_body *body, uint32_t n, const bool *held, double sums[2])
{
    const lmi_octree_node *node = &body->octree->tree.nodes[n];
    for (uint32_t c = 0; c < node->child_count; c++) {
        weigh_held(body, node->first_child + c, held, sums);
    }
    if (lmi_octree_is_leaf(node)) {
        uint32_t place = body->place[node->leaf];
        sums[0] += body->mass[place];
        sums[1] += held[place] ? body->mass[place] : 0.0;
    }
}

/* How much more a held leaf of a body in physical units weighs: half of what others do, because it is a whole cell. */
static double hold_of(const lmi_body *body, uint32_t leaf, const bool *held)
{
    const lmi_octree *t = &body->octree->tree;
    double sums[2] = {0.0, 0.0};
    for (uint32_t n = t->regions.offsets[leaf]; n < t->regions.offsets[leaf + 1]; n++) {
        weigh_held(body, t->regions.items[n], held, sums);
    }
    return fmin(0.5 * lmi_elastic_hold(sums[1] > 0.0 ? sums[1] / sums[0] : 1.0), LMI_MOST_HELD);
}

bool lmi_octree_body_weigh(lm_world *world, lmi_body *body, const bool *held)
{
    lmi_memory *memory = &world->memory;
    const lmi_octree *t = &body->octree->tree;
    lmi_octree_lanes lanes = {0};
    weighing w = {0};
    const double square = body->square;
    const bool elastic = body->elastic;
    sum_mass(body);
    bool ok = make_weighing(&w, memory, t);
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        w.mass[leaf] = body->mass[body->place[leaf]] / body->mean_mass;
    }
    ok = ok && lmi_octree_region_mass(t, memory, w.mass, w.region_mass);
    body->elastic = lmi_is_elastic(&body->material);
    for (uint32_t leaf = 0; ok && body->elastic && leaf < t->leaf_count; leaf++) {
        w.weights[leaf] = (float)w.mass[leaf];
    }
    if (ok && body->elastic) {
        lmi_octree_rest_of_nodes(t, w.weights, w.rest);
        lmi_elastic_shape shape = {0};
        lmi_octree_squares(t, w.rest, w.square, &shape);
        lmi_elastic_take_shape(body, &shape);
    }
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        double mass = w.mass[leaf];
        if (held && held[body->place[leaf]]) {
            mass = body->elastic ? mass * hold_of(body, leaf, held) : fmin(LMI_MOST_HELD, body->particle_count);
        }
        w.weights[leaf] = (float)(mass / w.region_mass[leaf]);
    }
    if (ok) {
        lmi_octree_rest_of_nodes(t, w.weights, w.rest);
        lmi_octree_make_regions(t, w.rest, w.regions);
        for (uint32_t leaf = 0; body->elastic && leaf < t->leaf_count; leaf++) {
            w.regions[leaf].square = w.square[leaf];
        }
        body->square = lmi_elastic_least(w.regions, t->leaf_count);
        body->spread = 1.0;
        ok = lmi_octree_lanes_make(&lanes, memory, body, w.rest, w.regions, w.region_mass);
    }
    if (ok) {
        memcpy(body->regions, w.regions, body->region_count * sizeof *body->regions);
        lmi_octree_lanes_free(&body->octree->lanes, memory);
        body->octree->lanes = lanes;
        body->tuned_step = 0.0;
        for (uint32_t n = 0; n < body->particle_count; n++) {
            body->x[(size_t)n * 4 + 3] = w.weights[body->order[n]];
            body->v[(size_t)n * 4 + 3] = (float)w.mass[body->order[n]];
        }
    }
    body->square = ok ? body->square : square;
    body->elastic = ok ? body->elastic : elastic;
    free_weighing(&w, memory, t);
    return ok;
}

static uint32_t members_below(const lmi_octree *t, uint32_t n, uint32_t *members)
{
    const lmi_octree_node *node = &t->nodes[n];
    if (lmi_octree_is_leaf(node)) {
        if (members) {
            *members = node->leaf;
        }
        return 1;
    }
    uint32_t count = 0;
    for (uint32_t c = 0; members && c < node->child_count; c++) {
        count += members_below(t, node->first_child + c, members + count);
    }
    return members ? count : node->leaf_count;
}

uint64_t lmi_octree_body_regions(const lmi_body *body, uint32_t *offsets, uint32_t *members)
{
    const lmi_octree *t = &body->octree->tree;
    uint64_t total = 0;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        if (offsets) {
            offsets[leaf] = (uint32_t)total;
        }
        for (uint32_t n = t->regions.offsets[leaf]; n < t->regions.offsets[leaf + 1]; n++) {
            total += members_below(t, t->regions.items[n], members ? members + total : NULL);
        }
    }
    if (offsets) {
        offsets[t->leaf_count] = (uint32_t)total;
    }
    return total;
}

const uint32_t *lmi_octree_body_members(const lmi_body *body, uint32_t region, uint32_t *count)
{
    const lmi_octree *t = &body->octree->tree;
    uint32_t *members = (uint32_t *)body->octree->sums; /* more than a word for each leaf */
    *count = 0;
    for (uint32_t n = t->regions.offsets[region]; n < t->regions.offsets[region + 1]; n++) {
        *count += members_below(t, t->regions.items[n], members + *count);
    }
    for (uint32_t n = 0; n < *count; n++) {
        members[n] = body->place[members[n]];
    }
    return members;
}

double lmi_octree_body_region_mass(const lmi_body *body, uint32_t region)
{
    return body->mass[body->place[region]] / body->mean_mass / body->regions[region].inverse_mass;
}

/* Mass, and mass times value, below a node. */
static void weigh_values(const lmi_body *body, uint32_t n, const float *values, double sums[2])
{
    const lmi_octree *t = &body->octree->tree;
    const lmi_octree_node *node = &t->nodes[n];
    for (uint32_t c = 0; c < node->child_count; c++) {
        weigh_values(body, node->first_child + c, values, sums);
    }
    if (lmi_octree_is_leaf(node)) {
        double mass = body->mass[body->place[node->leaf]];
        sums[0] += mass;
        sums[1] += mass * values[node->leaf];
    }
}

void lmi_octree_body_means(const lmi_body *body, const float *values, float *means)
{
    const lmi_octree *t = &body->octree->tree;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        double sums[2] = {0.0, 0.0};
        for (uint32_t n = t->regions.offsets[leaf]; n < t->regions.offsets[leaf + 1]; n++) {
            weigh_values(body, t->regions.items[n], values, sums);
        }
        float mean = (float)(sums[1] / sums[0]);
        means[leaf] = mean > 1.0f ? 1.0f : mean;
    }
}

lm_result lm_body_get_cells(const lm_world *world, lm_body_id id, float *sides)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_cells");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (!body->octree) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_cells: the body is not an octree");
    }
    const lmi_octree *t = &body->octree->tree;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        sides[leaf] = (float)(t->voxels.spacing * (double)(1u << t->nodes[t->leaves[leaf]].level));
    }
    return LM_OK;
}

lm_result lm_body_get_widths(const lm_world *world, lm_body_id id, float *metres)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_widths");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (!body->octree) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_widths: the body is not an octree");
    }
    const lmi_octree *t = &body->octree->tree;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        metres[leaf] = (float)(t->voxels.spacing / LMI_OCTREE_UNITS * t->width[leaf]);
    }
    return LM_OK;
}

/* Regions for widths that were put into the tree; `before`: what was there, put back on failure. */
static bool widen(lm_world *world, lmi_body *body, uint32_t *before)
{
    lmi_octree *t = &body->octree->tree;
    lmi_octree_lists old = t->regions;
    memset(&t->regions, 0, sizeof t->regions);
    bool ok = lmi_octree_find_regions(t, &world->memory) && lmi_body_update_pinned(world, body);
    if (!ok) {
        lmi_octree_lists_free(&t->regions, &world->memory);
        memcpy(t->width, before, t->leaf_count * sizeof *before);
        t->regions = old;
        memset(&old, 0, sizeof old);
    }
    lmi_octree_lists_free(&old, &world->memory);
    return ok;
}

lm_result lm_body_set_widths(lm_world *world, lm_body_id id, const float *metres)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_widths");
    if (!known) {
        return LM_ERROR_ID;
    }
    if (!known->octree) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_widths: the body is not an octree");
    }
    if (values_fault(metres, known->particle_count, "")) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_widths: a width is not 0 to 1e6 m");
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    lmi_octree *t = &body->octree->tree;
    uint32_t *before = lmi_allocate(&world->memory, t->leaf_count, sizeof *before);
    bool ok = before && lmi_octree_own(t, &world->memory);
    if (ok) {
        memcpy(before, t->width, t->leaf_count * sizeof *before);
        for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
            t->width[leaf] = width_of(t, leaf, (double)metres[leaf]);
        }
        t->bounded = true;
        ok = widen(world, body, before);
        t->bounded = false;
    }
    lmi_release(&world->memory, before, t->leaf_count, sizeof *before);
    if (ok) {
        body->shape_hash = lmi_hash_shape(body);
        return LM_OK;
    }
    return t->too_wide ? lmi_fail(world, LM_ERROR_LIMIT, "lm_body_set_widths: the regions reach too far")
                       : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_widths: out of memory");
}

bool lmi_octree_body_face(lm_world *world, lmi_body *body)
{
    lmi_clefts *clefts;
    lmi_octree_face_points(body, &body->touch);
    if (!lmi_clefts_make(world, body, &clefts)) {
        return false;
    }
    lmi_clefts_free(world, body->octree->clefts);
    body->octree->clefts = clefts;
    return true;
}
