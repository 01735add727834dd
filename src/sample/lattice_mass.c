/*
 * Masses of a lattice's particles: the volume around each, and values from the vertices of the mesh.
 *
 * The nearest vertex is found in a tree without pointers: the middle vertex of a range along its widest axis stands in the
 * middle of the range, what is before it on the left, what is behind it on the right. Distances are squared in double
 * precision and ties go to the first vertex, so the result depends on nothing but the mesh.
 */
#include "sample/lattice_mass.h"
#include "base/vec.h"

#include <math.h>

/* The cells whose lowest corners are in the block that has a corner. */
static uint32_t cells_at(const lmi_lattice *l, int32_t x, int32_t y, int32_t z)
{
    uint32_t block = lmi_lattice_find_block(l, x, y, z);
    return block == LMI_LATTICE_NONE ? 0u : l->cell[block];
}

/* Which cells of a block have no neighbour below and above along each axis. */
static void find_bare(const lmi_lattice *l, uint32_t block, uint32_t bare[3][2])
{
    const int32_t *at = l->at[block];
    uint32_t cells = l->cell[block];
    bare[0][0] = ~(cells << 1 | cells_at(l, at[0] - LMI_BLOCK, at[1], at[2]) >> (LMI_BLOCK - 1));
    bare[0][1] = ~(cells >> 1 | cells_at(l, at[0] + LMI_BLOCK, at[1], at[2]) << (LMI_BLOCK - 1));
    for (int side = 0; side < 2; side++) {
        int32_t to = 2 * side - 1;
        bare[1][side] = ~cells_at(l, at[0], at[1] + to, at[2]);
        bare[2][side] = ~cells_at(l, at[0], at[1], at[2] + to);
    }
}

/* What the cells of a block give to their corners in one row of corners, (dy, dz) from their lowest. */
static void give_row(const lmi_lattice *l, uint32_t block, const uint32_t bare[3][2], int32_t dy, int32_t dz,
                     float *volumes)
{
    const int32_t *at = l->at[block];
    float *here = volumes + (size_t)lmi_lattice_find_block(l, at[0], at[1] + dy, at[2] + dz) * LMI_BLOCK;
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
        if (!(l->cell[block] >> lane & 1)) {
            continue;
        }
        int32_t d[3] = {0, dy, dz}, sixths = 6;
        for (int a = 1; a < 3; a++) {
            sixths += (int32_t)(bare[a][!d[a]] >> lane & 1) - (int32_t)(bare[a][d[a]] >> lane & 1);
        }
        int32_t along = (int32_t)(bare[0][1] >> lane & 1) - (int32_t)(bare[0][0] >> lane & 1);
        float *next = here + lane + 1;
        if (lane + 1 == LMI_BLOCK) {
            uint32_t beyond = lmi_lattice_find_block(l, at[0] + LMI_BLOCK, at[1] + dy, at[2] + dz);
            next = volumes + (size_t)beyond * LMI_BLOCK;
        }
        here[lane] += (float)(sixths + along);
        *next += (float)(sixths - along);
    }
}

void lmi_lattice_volumes(const lmi_lattice *l, float *volumes)
{
    for (size_t n = 0; n < ((size_t)l->block_count + 1) * LMI_BLOCK; n++) {
        volumes[n] = 0.0f;
    }
    for (uint32_t block = 0; block < l->block_count; block++) {
        uint32_t bare[3][2];
        if (l->cell[block]) {
            find_bare(l, block, bare);
            for (int32_t n = 0; n < 4; n++) {
                give_row(l, block, (const uint32_t(*)[2])bare, n % 2, n / 2, volumes);
            }
        }
    }
}

/* --- the nearest vertex --- */

typedef struct tree {
    const lm_vec3 *vertices;
    uint32_t *node; /* vertices in the order of the tree */
    uint8_t *axis;  /* along which the range around a node is divided */
} tree;

static double coordinate(lm_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

static bool is_before(const tree *t, int axis, uint32_t a, uint32_t b)
{
    double x = coordinate(t->vertices[a], axis), y = coordinate(t->vertices[b], axis);
    return x < y || (x == y && a < b);
}

static int widest_axis(const tree *t, uint32_t first, uint32_t last)
{
    double widest = -1.0;
    int axis = 0;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t n = first; n < last; n++) {
            double x = coordinate(t->vertices[t->node[n]], a);
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        if (high - low > widest) {
            widest = high - low;
            axis = a;
        }
    }
    return axis;
}

/* Puts the vertex that belongs at `middle` there, smaller ones before it: Hoare's selection. The pivot is drawn from a
 * fixed sequence, so that no order of vertices is a bad one. */
static void select_middle(tree *t, int axis, uint32_t first, uint32_t last, uint32_t middle)
{
    uint64_t draw = 0x9e3779b97f4a7c15u;
    while (last - first > 1) {
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        uint32_t at = first + (uint32_t)((draw >> 33) % (last - first)), pivot = t->node[at], less = first;
        t->node[at] = t->node[last - 1];
        for (uint32_t n = first; n < last - 1; n++) {
            uint32_t vertex = t->node[n];
            if (is_before(t, axis, vertex, pivot)) {
                t->node[n] = t->node[less];
                t->node[less++] = vertex;
            }
        }
        t->node[last - 1] = t->node[less];
        t->node[less] = pivot;
        if (less == middle) {
            return;
        }
        first = less < middle ? less + 1 : first;
        last = less < middle ? last : less;
    }
}

/* Halves ranges, so the recursion is as deep as the logarithm of the number of vertices. */
static void build(tree *t, uint32_t first, uint32_t last)
{
    if (last - first < 2) {
        return;
    }
    uint32_t middle = first + (last - first) / 2;
    int axis = widest_axis(t, first, last);
    select_middle(t, axis, first, last, middle);
    t->axis[middle] = (uint8_t)axis;
    build(t, first, middle);
    build(t, middle + 1, last);
}

typedef struct found {
    double square;
    uint32_t vertex;
} found;

static void consider(const tree *t, lm_dvec3 point, uint32_t vertex, found *best)
{
    lm_dvec3 to = dvec_sub(dvec_from(t->vertices[vertex]), point);
    double square = dvec_dot(to, to);
    if (square < best->square || (square == best->square && vertex < best->vertex)) {
        *best = (found){square, vertex};
    }
}

static void find(const tree *t, lm_dvec3 point, uint32_t first, uint32_t last, found *best)
{
    while (last > first) {
        uint32_t middle = first + (last - first) / 2, vertex = t->node[middle];
        consider(t, point, vertex, best);
        double along[3] = {point.x, point.y, point.z};
        int axis = t->axis[middle];
        double beyond = along[axis] - coordinate(t->vertices[vertex], axis);
        bool right = beyond > 0.0;
        find(t, point, right ? middle + 1 : first, right ? last : middle, best);
        if (beyond * beyond > best->square) {
            return;
        }
        first = right ? first : middle + 1;
        last = right ? middle : last;
    }
}

static bool make_tree(tree *t, lmi_memory *memory, const lm_vec3 *vertices, uint32_t vertex_count)
{
    *t = (tree){vertices, lmi_allocate(memory, vertex_count, sizeof *t->node),
                lmi_allocate(memory, vertex_count, sizeof *t->axis)};
    bool ok = t->node && t->axis;
    for (uint32_t n = 0; ok && n < vertex_count; n++) {
        t->node[n] = n;
    }
    if (ok) {
        build(t, 0, vertex_count);
    }
    return ok;
}

static void free_tree(tree *t, lmi_memory *memory, uint32_t vertex_count)
{
    lmi_release(memory, t->node, vertex_count, sizeof *t->node);
    lmi_release(memory, t->axis, vertex_count, sizeof *t->axis);
}

/* `last`: what was found before; neighbours have near vertices, so it is a good first guess. */
static uint32_t find_nearest(const tree *t, uint32_t vertex_count, lm_dvec3 point, uint32_t last)
{
    found best = {INFINITY, UINT32_MAX};
    consider(t, point, last, &best);
    find(t, point, 0, vertex_count, &best);
    return best.vertex;
}

bool lmi_lattice_multiply_nearest(lmi_memory *memory, const lmi_lattice *l, const lm_vec3 *vertices,
                                  const float *of_vertices, uint32_t vertex_count, float *values)
{
    tree t;
    bool ok = make_tree(&t, memory, vertices, vertex_count);
    for (uint32_t n = 0, last = 0; ok && n < l->block_count * LMI_BLOCK; n++) {
        if (l->occupied[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1) {
            last = find_nearest(&t, vertex_count, lmi_lattice_rest(l, n), last);
            values[n] *= of_vertices[last];
        }
    }
    free_tree(&t, memory, vertex_count);
    return ok;
}

bool lmi_nearest_values(lmi_memory *memory, const lm_vec3 *vertices, const float *of_vertices, uint32_t vertex_count,
                        const lm_dvec3 *points, uint32_t point_count, float *values)
{
    tree t;
    bool ok = make_tree(&t, memory, vertices, vertex_count);
    for (uint32_t n = 0, last = 0; ok && n < point_count; n++) {
        last = find_nearest(&t, vertex_count, points[n], last);
        values[n] = of_vertices[last];
    }
    free_tree(&t, memory, vertex_count);
    return ok;
}
