/*
 * Points inside a shape, as evenly spread as a fixed number of them can be.
 *
 * Candidates are the points of a fine lattice that lie inside the mesh. They are taken in farthest-point order: each
 * time the one that is farthest from the surface and from everything taken before (Gonzalez 1985; Eldar et al. 1997).
 * Any number of them is spread evenly, and no two are closer than what the last one taken had as its distance.
 *
 * `nearest` holds, for each candidate, its squared distance to the surface or to the nearest point taken. It only
 * shrinks, so a heap of old values is enough to find the largest: a value that is out of date sinks when it is met. The
 * heap holds only candidates within a factor of the farthest, a few that fit into the cache, and is filled again from a
 * look at all of them when it is empty. A point taken at distance r can only shrink values within r of it, a small box of
 * the lattice: the cost of filling is about C log C for C candidates.
 *
 * Deterministic: doubles with + - * / and sqrt only, in a fixed order; equal distances go to the lower lattice index.
 */
#include "inside.h"
#include "kind.h"
#include "limber/shapes.h"
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES_PER_POINT 12.0 /* enough that the lattice does not show */
#define CANDIDATES_PER_EDGE 4.0   /* the same when the spacing is given */
#define LEAST_LAYERS 5u           /* of candidates across a thin shape */
#define LARGEST_LATTICE (1u << 28)
#define LEVEL 0.8           /* squared distances of this share of the largest, or more, are in the heap */
#define SPACING_OF_EDGE 0.7 /* no closer than 0.7 edges makes about one edge on average */

typedef struct lattice {
    uint32_t n[3];
    double step[3];
    double *nearest; /* squared metres; negative: not inside */
    size_t size;
} lattice;

typedef struct heap_entry {
    double key; /* squared metres, not below the candidate's present value */
    uint32_t candidate;
} heap_entry;

typedef struct far_heap {
    heap_entry *entries;
    size_t count, capacity;
    double least; /* keys below this are not in the heap */
} far_heap;

static double lattice_coordinate(const lattice *grid, int axis, uint32_t index)
{
    /* Cell centres, symmetric about 0. */
    return grid->step[axis] * ((2.0 * index + 1.0 - grid->n[axis]) * 0.5);
}

static bool entry_before(heap_entry a, heap_entry b)
{
    return a.key != b.key ? a.key > b.key : a.candidate < b.candidate;
}

static void heap_sink(far_heap *heap, size_t at)
{
    heap_entry entry = heap->entries[at];
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && entry_before(heap->entries[child + 1], heap->entries[child])) child++;
        if (!entry_before(heap->entries[child], entry)) break;
        heap->entries[at] = heap->entries[child];
    }
    heap->entries[at] = entry;
}

/* The inside of a mesh, as a distance to its surface. */
typedef struct shape_inside {
    const shape_kind *kind;
    const shape_frame *frame;
    const lm_shape_mesh *mesh;
    double curved_scale;
    double sag; /* how far the mesh cuts into the ideal shape, in the unit of kind->curved */
} shape_inside;

/* The distance of a point to the surface, never too large but in a model with ellipsoids; negative outside. */
static double inside_depth(const shape_inside *inside, double x, double y, double z)
{
    double depth = INFINITY;
    if (inside->kind->model)
        return -lmi_shape_model_field(inside->kind->model, inside->frame->extent, x, y, z) * inside->curved_scale;
    if (inside->kind->flat) depth = inside->kind->flat(inside->frame, x, y, z);
    if (!inside->kind->curved) return depth;
    double curved = inside->kind->curved(inside->frame, x, y, z) - inside->sag;
    return shape_smaller(depth, curved * inside->curved_scale);
}

/* How deep a triangle lies under the curved surface: deepest at its middle or at the middle of an edge. 0 for one of a
 * flat side (some corner of it is not on the curved surface). */
static double triangle_sag(const shape_inside *inside, const lm_shape_mesh *mesh, size_t triangle)
{
    const double on_surface = 1e-5; /* above the rounding of vertices, far below the distance of any others */
    double sag = 0.0, sum[3] = {0.0, 0.0, 0.0};
    for (size_t c = 0; c < 3; c++) {
        lm_vec3 p = mesh->vertices[mesh->triangles[3 * triangle + c]];
        lm_vec3 q = mesh->vertices[mesh->triangles[3 * triangle + (c + 1) % 3]];
        if (inside->kind->curved(inside->frame, p.x, p.y, p.z) > on_surface) return 0.0;
        double middle = inside->kind->curved(inside->frame, 0.5 * ((double)p.x + q.x), 0.5 * ((double)p.y + q.y),
                                             0.5 * ((double)p.z + q.z));
        if (middle > sag) sag = middle;
        sum[0] += p.x;
        sum[1] += p.y;
        sum[2] += p.z;
    }
    double middle = inside->kind->curved(inside->frame, sum[0] / 3.0, sum[1] / 3.0, sum[2] / 3.0);
    return middle > sag ? middle : sag;
}

static shape_inside inside_make(const shape_kind *kind, const shape_frame *frame, const lm_shape_mesh *mesh)
{
    shape_inside inside = {.kind = kind, .frame = frame, .mesh = mesh};
    if (kind->model) inside.curved_scale = lmi_shape_model_scale(kind->model, frame->extent);
    if (!kind->curved) return inside;
    inside.curved_scale = kind->curved_scale(frame);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double sag = triangle_sag(&inside, mesh, t);
        if (sag > inside.sag) inside.sag = sag;
    }
    return inside;
}

static double mean_edge(const lm_shape_mesh *mesh)
{
    double sum = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        for (int c = 0; c < 3; c++) {
            lm_vec3 p = mesh->vertices[mesh->triangles[3 * t + c]];
            lm_vec3 q = mesh->vertices[mesh->triangles[3 * t + (c + 1) % 3]];
            double x = (double)q.x - p.x, y = (double)q.y - p.y, z = (double)q.z - p.z;
            sum += sqrt(x * x + y * y + z * z);
        }
    }
    return sum / (3.0 * mesh->triangle_count);
}

/* A lattice over the bounding box with steps of about `step`, finer across thin extents. */
static lm_result lattice_shape(lattice *grid, const shape_frame *frame, double step)
{
    double size = 1.0;
    for (int axis = 0; axis < 3; axis++) {
        double n = frame->extent[axis] / step + 1.0;
        if (n > (double)LARGEST_LATTICE) return LM_ERROR_LIMIT;
        grid->n[axis] = n < LEAST_LAYERS ? LEAST_LAYERS : (uint32_t)n;
        grid->step[axis] = frame->extent[axis] / grid->n[axis];
        size *= grid->n[axis];
    }
    if (size > (double)LARGEST_LATTICE) return LM_ERROR_LIMIT;
    grid->size = (size_t)size;
    return LM_OK;
}

/* Fills `nearest` with squared distances to the surface and returns the number of candidates. */
static size_t lattice_measure(lattice *grid, const shape_inside *inside)
{
    size_t candidates = 0, at = 0;
    for (uint32_t k = 0; k < grid->n[2]; k++) {
        for (uint32_t j = 0; j < grid->n[1]; j++) {
            for (uint32_t i = 0; i < grid->n[0]; i++, at++) {
                double x = lattice_coordinate(grid, 0, i);
                double y = lattice_coordinate(grid, 1, j);
                double z = lattice_coordinate(grid, 2, k);
                double depth = inside_depth(inside, x, y, z);
                grid->nearest[at] = depth > 0.0 ? depth * depth : -1.0;
            }
        }
    }
    /* The mesh of a model cuts corners that its field does not. */
    if (inside->kind->model) lmi_shape_keep_inside(inside->mesh, grid->n, grid->step, grid->nearest);
    for (at = 0; at < grid->size; at++) candidates += grid->nearest[at] > 0.0;
    return candidates;
}

/* A lattice with at least `wanted` candidates, its step at most `step`. It doubles with each attempt, so all of them
 * together cost about twice the last. */
static lm_result lattice_make(lattice *grid, const shape_inside *inside, double step, double wanted)
{
    *grid = (lattice){0};
    for (;; step *= 0.8) {
        lm_result result = lattice_shape(grid, inside->frame, step);
        if (result != LM_OK) return result;
        grid->nearest = malloc(grid->size * sizeof *grid->nearest);
        if (!grid->nearest) return LM_ERROR_MEMORY;
        if ((double)lattice_measure(grid, inside) >= wanted) return LM_OK;
        free(grid->nearest);
        grid->nearest = NULL;
    }
}

/* Fills the empty heap with the farthest candidates; it stays empty when there are none. False when out of memory. */
static bool heap_fill(far_heap *heap, const lattice *grid)
{
    double largest = 0.0;
    for (size_t at = 0; at < grid->size; at++)
        if (grid->nearest[at] > largest) largest = grid->nearest[at];
    if (largest == 0.0) return true;

    size_t count = 0;
    heap->least = LEVEL * largest;
    for (size_t at = 0; at < grid->size; at++) count += grid->nearest[at] >= heap->least;
    if (count > heap->capacity) {
        heap_entry *entries = realloc(heap->entries, count * sizeof *entries);
        if (!entries) return false;
        heap->entries = entries;
        heap->capacity = count;
    }
    for (size_t at = 0; at < grid->size; at++)
        if (grid->nearest[at] >= heap->least)
            heap->entries[heap->count++] = (heap_entry){grid->nearest[at], (uint32_t)at};
    for (size_t at = heap->count / 2; at-- > 0;) heap_sink(heap, at);
    return true;
}

/* The range of lattice indices within `reach` of index `at` along an axis. */
static void lattice_range(const lattice *grid, int axis, uint32_t at, double reach, uint32_t *first, uint32_t *last)
{
    double steps = reach / grid->step[axis];
    uint32_t whole = steps < (double)grid->n[axis] ? (uint32_t)steps + 1u : grid->n[axis];
    *first = at > whole ? at - whole : 0;
    *last = grid->n[axis] - 1 - at > whole ? at + whole : grid->n[axis] - 1;
}

/* Takes a candidate at squared distance `square` from all others: those nearer to it than to anything else learn it. */
static lm_vec3 lattice_take(lattice *grid, uint32_t candidate, double square)
{
    uint32_t at[3] = {
        candidate % grid->n[0],
        candidate / grid->n[0] % grid->n[1],
        candidate / grid->n[0] / grid->n[1],
    };
    uint32_t first[3], last[3];
    double reach = sqrt(square);
    for (int axis = 0; axis < 3; axis++) lattice_range(grid, axis, at[axis], reach, &first[axis], &last[axis]);

    for (uint32_t k = first[2]; k <= last[2]; k++) {
        double z = ((double)k - at[2]) * grid->step[2];
        for (uint32_t j = first[1]; j <= last[1]; j++) {
            double y = ((double)j - at[1]) * grid->step[1];
            double *row = grid->nearest + ((size_t)k * grid->n[1] + j) * grid->n[0];
            for (uint32_t i = first[0]; i <= last[0]; i++) {
                double x = ((double)i - at[0]) * grid->step[0];
                double distance = x * x + y * y + z * z;
                if (distance < row[i]) row[i] = distance;
            }
        }
    }
    return (lm_vec3){(float)lattice_coordinate(grid, 0, at[0]), (float)lattice_coordinate(grid, 1, at[1]),
                     (float)lattice_coordinate(grid, 2, at[2])};
}

/* The farthest candidate in the heap; false when it is empty. */
static bool heap_farthest(far_heap *heap, const lattice *grid, heap_entry *farthest)
{
    while (heap->count > 0) {
        heap_entry *top = &heap->entries[0];
        double now = grid->nearest[top->candidate];
        if (now == top->key) {
            *farthest = *top;
            return true;
        }
        if (now >= heap->least)
            top->key = now;
        else
            *top = heap->entries[--heap->count];
        heap_sink(heap, 0);
    }
    return false;
}

/* Room for one point more. */
static bool cloud_grow(lm_shape_cloud *cloud, size_t *capacity)
{
    if (cloud->point_count < *capacity) return true;
    size_t larger = *capacity + *capacity / 2 + 64;
    lm_vec3 *points = realloc(cloud->points, larger * sizeof *points);
    if (!points) return false;
    cloud->points = points;
    *capacity = larger;
    return true;
}

/* Takes points until there are `points` of them, or (0) until none is farther than `spacing` from the others. */
static lm_result cloud_fill(lm_shape_cloud *cloud, lattice *grid, far_heap *heap, uint32_t points, double spacing)
{
    size_t capacity = cloud->point_count;
    while (points == 0 || cloud->point_count < points) {
        heap_entry farthest;
        if (!heap_farthest(heap, grid, &farthest)) {
            if (!heap_fill(heap, grid)) return LM_ERROR_MEMORY;
            if (heap->count == 0) break; /* all are taken */
            continue;
        }
        if (points == 0 && farthest.key < spacing * spacing) break;
        if (cloud->point_count >= LM_MAX_PARTICLES) return LM_ERROR_LIMIT;
        if (!cloud_grow(cloud, &capacity)) return LM_ERROR_MEMORY;
        cloud->points[cloud->point_count++] = lattice_take(grid, farthest.candidate, farthest.key);
    }
    return LM_OK;
}

static lm_result cloud_add_inner(lm_shape_cloud *cloud, const shape_inside *inside, double edge, uint32_t points)
{
    double step = edge / CANDIDATES_PER_EDGE, wanted = 0.0;
    if (points > 0) {
        wanted = CANDIDATES_PER_POINT * (points - cloud->point_count);
        step = edge; /* a first guess, refined until there are enough */
    }
    lattice grid;
    far_heap heap = {0};
    lm_result result = lattice_make(&grid, inside, step, wanted);
    if (result == LM_OK) result = cloud_fill(cloud, &grid, &heap, points, SPACING_OF_EDGE * edge);
    free(heap.entries);
    free(grid.nearest);
    return result;
}

lm_result lm_shape_make_cloud(const lm_shape_def *def, const lm_shape_mesh *mesh, uint32_t points,
                              lm_shape_cloud *cloud)
{
    *cloud = (lm_shape_cloud){0};
    const shape_kind *kind = lmi_shape_kind_find(def->name);
    if (!kind || !lmi_shape_def_is_valid(def) || mesh->vertex_count == 0 || mesh->triangle_count == 0)
        return LM_ERROR_ARGUMENT;
    if (points > 0 && points < mesh->vertex_count) return LM_ERROR_ARGUMENT;
    if (points > LM_MAX_PARTICLES) return LM_ERROR_LIMIT;

    cloud->points = malloc(mesh->vertex_count * sizeof *cloud->points);
    if (!cloud->points) return LM_ERROR_MEMORY;
    memcpy(cloud->points, mesh->vertices, mesh->vertex_count * sizeof *cloud->points);
    cloud->point_count = cloud->surface_count = mesh->vertex_count;
    if (points == mesh->vertex_count) return LM_OK;

    shape_frame frame = lmi_shape_frame_make(def);
    shape_inside inside = inside_make(kind, &frame, mesh);
    lm_result result = cloud_add_inner(cloud, &inside, mean_edge(mesh), points);
    if (result != LM_OK) lm_shape_cloud_free(cloud);
    return result;
}
