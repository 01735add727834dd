/*
 * What the tests of shapes and of models share: definitions, and measures of a mesh.
 */
#ifndef LIMBER_TEST_SHAPE_MEASURES_H
#define LIMBER_TEST_SHAPE_MEASURES_H

#include "limber/shapes.h"
#include "shapes/kind.h"
#include "shapes/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static inline lm_shape_def make_def(const char *name, float x, float y, float z, uint32_t detail)
{
    lm_shape_def def = lm_shape_def_default();
    def.name = name;
    def.size = (lm_vec3){x, y, z};
    def.detail = detail;
    return def;
}

static inline lm_shape_def natural_def(const char *name, uint32_t detail)
{
    lm_vec3 size = lm_shape_natural_size(name);
    return make_def(name, size.x, size.y, size.z, detail);
}

static inline lm_shape_mesh make_mesh(const lm_shape_def *def)
{
    lm_shape_mesh mesh;
    assert_int_equal(lm_shape_make_mesh(def, &mesh), LM_OK);
    return mesh;
}

/* The model behind a name: made from a signed distance, not laid out by hand. Null for the others. */
static inline const shape_model *model_of(const char *name) { return lmi_shape_kind_find(name)->model; }

/* The least detail that makes a difference. */
static inline uint32_t coarsest_of(const char *name) { return model_of(name) ? model_of(name)->coarsest : 1; }

typedef struct directed_edge {
    uint32_t from, to;
} directed_edge;

static inline int compare_edges(const void *a, const void *b)
{
    const directed_edge *p = a, *q = b;
    if (p->from != q->from) return p->from < q->from ? -1 : 1;
    return p->to < q->to ? -1 : p->to > q->to;
}

/* Every edge is passed once in each direction: then the surface is closed, manifold along edges, and all its triangles
 * turn the same way. */
static inline void assert_closed(const lm_shape_mesh *mesh)
{
    size_t count = 3u * (size_t)mesh->triangle_count;
    directed_edge *edges = malloc(count * sizeof *edges);
    assert_non_null(edges);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        for (size_t c = 0; c < 3; c++) {
            edges[3 * t + c].from = mesh->triangles[3 * t + c];
            edges[3 * t + c].to = mesh->triangles[3 * t + (c + 1) % 3];
            assert_true(edges[3 * t + c].from < mesh->vertex_count);
        }
    }
    qsort(edges, count, sizeof *edges, compare_edges);
    for (size_t e = 0; e < count; e++) {
        if (e > 0) assert_true(compare_edges(&edges[e - 1], &edges[e]) != 0);
        directed_edge back = {edges[e].to, edges[e].from};
        assert_non_null(bsearch(&back, edges, count, sizeof *edges, compare_edges));
    }
    free(edges);
}

static inline void corner(const lm_shape_mesh *mesh, size_t triangle, size_t c, double p[3])
{
    lm_vec3 vertex = mesh->vertices[mesh->triangles[3 * triangle + c]];
    p[0] = vertex.x, p[1] = vertex.y, p[2] = vertex.z;
}

static inline double area_of(const lm_shape_mesh *mesh, size_t triangle)
{
    double a[3], b[3], c[3];
    corner(mesh, triangle, 0, a);
    corner(mesh, triangle, 1, b);
    corner(mesh, triangle, 2, c);
    double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
    return 0.5 * sqrt(x * x + y * y + z * z);
}

/* Positive when the triangles are counter-clockwise from outside. */
static inline double volume_of(const lm_shape_mesh *mesh)
{
    double sum = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double a[3], b[3], c[3];
        corner(mesh, t, 0, a);
        corner(mesh, t, 1, b);
        corner(mesh, t, 2, c);
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6.0;
}

/* How often the surface winds around a point: 1 inside, 0 outside (sum of solid angles, Van Oosterom and Strackee). */
static inline double winding_number(const lm_shape_mesh *mesh, lm_vec3 at)
{
    double sum = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double p[3][3], length[3];
        for (size_t c = 0; c < 3; c++) {
            corner(mesh, t, c, p[c]);
            p[c][0] -= at.x, p[c][1] -= at.y, p[c][2] -= at.z;
            length[c] = sqrt(p[c][0] * p[c][0] + p[c][1] * p[c][1] + p[c][2] * p[c][2]);
        }
        double triple = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                        p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                        p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        double dot[3];
        for (size_t c = 0; c < 3; c++) {
            const double *u = p[c], *v = p[(c + 1) % 3];
            dot[c] = (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]) * length[(c + 2) % 3];
        }
        sum += 2.0 * atan2(triple, length[0] * length[1] * length[2] + dot[0] + dot[1] + dot[2]);
    }
    return sum / (4.0 * pi);
}

static inline double distance(lm_vec3 a, lm_vec3 b)
{
    double x = (double)a.x - b.x, y = (double)a.y - b.y, z = (double)a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ p[i]) * 1099511628211u; /* FNV-1a */
    return hash;
}

/* The number of surfaces that do not hang together. */
static inline uint32_t parts_of(const lm_shape_mesh *mesh)
{
    uint32_t *leaders = malloc(mesh->vertex_count * sizeof *leaders), parts = mesh->vertex_count;
    assert_non_null(leaders);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) leaders[v] = v;
    for (size_t e = 0; e < 3u * (size_t)mesh->triangle_count; e++) {
        uint32_t a = mesh->triangles[e], b = mesh->triangles[e - e % 3];
        while (leaders[a] != a) a = leaders[a] = leaders[leaders[a]];
        while (leaders[b] != b) b = leaders[b] = leaders[leaders[b]];
        if (a == b) continue;
        leaders[a] = b;
        parts--;
    }
    free(leaders);
    return parts;
}

/* V - E + F of a closed mesh, in which E = 3F/2: 2 for a ball, less 2 for every handle. */
static inline int64_t euler_of(const lm_shape_mesh *mesh)
{
    return (int64_t)mesh->vertex_count - mesh->triangle_count / 2;
}

static inline double whole_area_of(const lm_shape_mesh *mesh)
{
    double sum = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++) sum += area_of(mesh, t);
    return sum;
}

/* The box around the vertices of which `weights` is above a half, or around all when it is null. */
typedef struct mesh_box {
    double lower[3], upper[3];
    uint32_t count;
} mesh_box;

static inline mesh_box box_of(const lm_shape_mesh *mesh, const float *weights)
{
    mesh_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0};
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        if (weights && !(weights[v] > 0.5f)) continue;
        const double p[3] = {mesh->vertices[v].x, mesh->vertices[v].y, mesh->vertices[v].z};
        for (int axis = 0; axis < 3; axis++) {
            box.lower[axis] = fmin(box.lower[axis], p[axis]);
            box.upper[axis] = fmax(box.upper[axis], p[axis]);
        }
        box.count++;
    }
    return box;
}

#endif
