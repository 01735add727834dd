/*
 * Checks of a triangle mesh. Everything that has to be found twice is found by sorting: n log n, no hash, the same
 * order every time.
 */
#include "limber/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A triangle lower than this share of its longest side lies on a line: float32 keeps no better a normal. */
#define FLATTEST 1e-6

typedef struct mesh_view {
    const lm_vec3 *positions;
    uint32_t vertex_count;
    const uint32_t *triangles;
    uint32_t triangle_count;
} mesh_view;

static const uint32_t *triangle_at(const mesh_view *mesh, size_t triangle) { return mesh->triangles + 3 * triangle; }

/* Three different vertices. */
static bool has_edges(const uint32_t *corner)
{
    return corner[0] != corner[1] && corner[1] != corner[2] && corner[2] != corner[0];
}

/* ------------------------------------------------------------------------------------------------------------------
 * Bounds, area, volume
 */

static bool measure_bounds(const mesh_view *mesh, lm_mesh_report *report)
{
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        lm_vec3 p = mesh->positions[i];
        if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) return false;
        if (i == 0) report->lower = report->upper = p;
        report->lower =
            (lm_vec3){fminf(report->lower.x, p.x), fminf(report->lower.y, p.y), fminf(report->lower.z, p.z)};
        report->upper =
            (lm_vec3){fmaxf(report->upper.x, p.x), fmaxf(report->upper.y, p.y), fmaxf(report->upper.z, p.z)};
    }
    return true;
}

static lm_dvec3 side(const mesh_view *mesh, uint32_t from, uint32_t to)
{
    lm_vec3 p = mesh->positions[from], q = mesh->positions[to];
    return (lm_dvec3){(double)q.x - p.x, (double)q.y - p.y, (double)q.z - p.z};
}

static double dot(lm_dvec3 a, lm_dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static lm_dvec3 cross(lm_dvec3 a, lm_dvec3 b)
{
    return (lm_dvec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* Areas, signed volume about the first vertex (about the world's origin a far mesh would cancel), degenerate faces. */
static void measure_triangles(const mesh_view *mesh, lm_mesh_report *report)
{
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = triangle_at(mesh, t);
        lm_dvec3 ab = side(mesh, corner[0], corner[1]);
        lm_dvec3 bc = side(mesh, corner[1], corner[2]);
        lm_dvec3 ca = side(mesh, corner[2], corner[0]);
        lm_dvec3 normal = cross(ab, bc);
        double doubled = sqrt(dot(normal, normal));
        double longest = fmax(dot(ab, ab), fmax(dot(bc, bc), dot(ca, ca)));
        if (!has_edges(corner) || !(doubled > FLATTEST * longest)) report->degenerate_faces++;
        report->area += 0.5 * doubled;
        report->volume += dot(side(mesh, 0, corner[0]), normal) / 6.0;
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Edges
 */

static int compare_keys(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return p < q ? -1 : p > q;
}

/* Both ends in 31 bits each, the smaller first, and the direction in the lowest bit: the uses of an edge sort side by
 * side. */
static uint64_t edge_key(uint32_t from, uint32_t to)
{
    uint64_t low = from < to ? from : to, high = from < to ? to : from;
    return low << 32 | high << 1 | (from < to);
}

static bool count_edges(const mesh_view *mesh, lm_mesh_report *report)
{
    size_t capacity = 3u * (size_t)mesh->triangle_count, count = 0;
    uint64_t *keys = malloc((capacity ? capacity : 1) * sizeof *keys);
    if (!keys) return false;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = triangle_at(mesh, t);
        if (!has_edges(corner)) continue;
        for (int c = 0; c < 3; c++) keys[count++] = edge_key(corner[c], corner[(c + 1) % 3]);
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t first = 0, last; first < count; first = last) {
        last = first + 1;
        while (last < count && keys[last] >> 1 == keys[first] >> 1) last++;
        size_t uses = last - first;
        report->open_edges += uses == 1;
        report->nonmanifold_edges += uses > 2;
        report->flipped_edges += uses == 2 && keys[first] == keys[first + 1];
    }
    free(keys);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Duplicates
 */

static int compare_triples(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;
    for (int i = 0; i < 3; i++)
        if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
    return 0;
}

static void sort_triple(uint32_t *t)
{
    uint32_t swap;
    if (t[0] > t[1]) swap = t[0], t[0] = t[1], t[1] = swap;
    if (t[1] > t[2]) swap = t[1], t[1] = t[2], t[2] = swap;
    if (t[0] > t[1]) swap = t[0], t[0] = t[1], t[1] = swap;
}

/* How many of `count` triples equal another one before them. Sorts them. */
static uint32_t count_repeated(uint32_t (*triples)[3], size_t count)
{
    uint32_t repeated = 0;
    qsort(triples, count, sizeof *triples, compare_triples);
    for (size_t i = 1; i < count; i++) repeated += compare_triples(triples[i - 1], triples[i]) == 0;
    return repeated;
}

static bool count_duplicates(const mesh_view *mesh, lm_mesh_report *report)
{
    size_t larger = mesh->triangle_count > mesh->vertex_count ? mesh->triangle_count : mesh->vertex_count;
    uint32_t(*triples)[3] = malloc((larger ? larger : 1) * sizeof *triples);
    if (!triples) return false;

    size_t count = 0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        if (!has_edges(triangle_at(mesh, t))) continue;
        memcpy(triples[count], triangle_at(mesh, t), sizeof triples[count]);
        sort_triple(triples[count++]);
    }
    report->duplicate_faces = count_repeated(triples, count);

    for (size_t i = 0; i < mesh->vertex_count; i++) {
        lm_vec3 p = mesh->positions[i];
        p.x += 0.0f, p.y += 0.0f, p.z += 0.0f; /* -0 and 0 are one place */
        memcpy(triples[i], &p, sizeof triples[i]);
    }
    report->coincident_vertices = count_repeated(triples, mesh->vertex_count);
    free(triples);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Parts
 */

static uint32_t find_root(uint32_t *parent, uint32_t vertex)
{
    while (parent[vertex] != vertex) {
        parent[vertex] = parent[parent[vertex]];
        vertex = parent[vertex];
    }
    return vertex;
}

/* Joins the corners of each triangle (union-find); every set with a triangle is a part. */
static bool count_parts(const mesh_view *mesh, lm_mesh_report *report)
{
    uint32_t *parent = malloc((mesh->vertex_count ? mesh->vertex_count : 1) * sizeof *parent);
    bool *used = calloc(mesh->vertex_count ? mesh->vertex_count : 1, sizeof *used);
    bool allocated = parent && used;
    for (uint32_t i = 0; allocated && i < mesh->vertex_count; i++) parent[i] = i;
    for (size_t t = 0; allocated && t < mesh->triangle_count; t++) {
        const uint32_t *corner = triangle_at(mesh, t);
        for (int c = 0; c < 3; c++) {
            used[corner[c]] = true;
            uint32_t a = find_root(parent, corner[c]), b = find_root(parent, corner[(c + 1) % 3]);
            /* The smaller becomes the root: paths stay short in practice, and the result does not matter. */
            if (a < b) parent[b] = a;
            if (b < a) parent[a] = b;
        }
    }
    for (uint32_t i = 0; allocated && i < mesh->vertex_count; i++) {
        report->unused_vertices += !used[i];
        report->parts += used[i] && parent[i] == i;
    }
    free(parent);
    free(used);
    return allocated;
}

lm_result lm_mesh_inspect(const lm_vec3 *positions, uint32_t vertex_count, const uint32_t *triangles,
                          uint32_t triangle_count, lm_mesh_report *report)
{
    mesh_view mesh = {positions, vertex_count, triangles, triangle_count};
    if (!report || (!positions && vertex_count > 0) || (!triangles && triangle_count > 0)) return LM_ERROR_ARGUMENT;
    *report = (lm_mesh_report){.vertices = vertex_count, .triangles = triangle_count};
    if (vertex_count > 1u << 31) return LM_ERROR_LIMIT;
    for (size_t i = 0; i < 3u * (size_t)triangle_count; i++)
        if (triangles[i] >= vertex_count) return LM_ERROR_ARGUMENT;
    if (!measure_bounds(&mesh, report)) return LM_ERROR_ARGUMENT;

    measure_triangles(&mesh, report);
    if (!count_edges(&mesh, report) || !count_duplicates(&mesh, report) || !count_parts(&mesh, report))
        return LM_ERROR_MEMORY;
    report->closed = triangle_count > report->degenerate_faces && report->open_edges == 0 &&
                     report->nonmanifold_edges == 0 && report->flipped_edges == 0;
    if (!report->closed) report->volume = 0.0;
    return LM_OK;
}
