/*
 * Which points of a lattice lie inside a closed mesh: along each row of the lattice, a point is inside when the surface
 * crosses the row an odd number of times before it.
 *
 * Whether a row passes through a triangle is decided by three signs, one for each edge. An edge is always looked at from
 * its lower vertex to its higher one, so that both its triangles see the same number and no row slips between them or
 * counts them twice. Rows are moved aside by a hair, so that none meets a vertex of a symmetric mesh exactly.
 */
#include "inside.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define ASIDE_Y 1.7e-6 /* steps */
#define ASIDE_Z 2.9e-6

typedef struct lattice_rows {
    const uint32_t *n;
    const double *step;
    double *values;
} lattice_rows;

static double row_coordinate(const lattice_rows *rows, int axis, uint32_t index)
{
    double aside = axis == 1 ? ASIDE_Y : ASIDE_Z;
    return rows->step[axis] * ((2.0 * index + 1.0 - rows->n[axis]) * 0.5 + aside);
}

/* The first index whose coordinate is at least `from`, not below 0 and not above n. */
static uint32_t first_index(const lattice_rows *rows, int axis, double from)
{
    double index = ceil(from / rows->step[axis] + 0.5 * (rows->n[axis] - 1.0));
    return index <= 0.0 ? 0 : index >= rows->n[axis] ? rows->n[axis] : (uint32_t)index;
}

/* Positive when the row passes on the left of the edge from vertex a to vertex b, seen along x. */
static double edge_side(const lm_shape_mesh *mesh, uint32_t a, uint32_t b, double y, double z)
{
    bool swap = a > b;
    lm_vec3 p = mesh->vertices[swap ? b : a], q = mesh->vertices[swap ? a : b];
    double side = ((double)q.y - p.y) * (z - p.z) - ((double)q.z - p.z) * (y - p.y);
    return swap ? -side : side;
}

/* Turns over the sign of all points of the row behind the place where the triangle crosses it. */
static void cross_row(const lattice_rows *rows, const lm_shape_mesh *mesh, const uint32_t *corner, uint32_t j,
                      uint32_t k)
{
    double y = row_coordinate(rows, 1, j), z = row_coordinate(rows, 2, k);
    double a = edge_side(mesh, corner[1], corner[2], y, z);
    double b = edge_side(mesh, corner[2], corner[0], y, z);
    double c = edge_side(mesh, corner[0], corner[1], y, z);
    if (!((a > 0.0 && b > 0.0 && c > 0.0) || (a < 0.0 && b < 0.0 && c < 0.0))) return;
    double x = (a * mesh->vertices[corner[0]].x + b * mesh->vertices[corner[1]].x + c * mesh->vertices[corner[2]].x) /
               (a + b + c);
    double *row = rows->values + ((size_t)k * rows->n[1] + j) * rows->n[0];
    for (uint32_t i = first_index(rows, 0, x); i < rows->n[0]; i++) row[i] = -row[i];
}

static void cross_triangle(const lattice_rows *rows, const lm_shape_mesh *mesh, const uint32_t *corner)
{
    lm_vec3 a = mesh->vertices[corner[0]], b = mesh->vertices[corner[1]], c = mesh->vertices[corner[2]];
    double slack[2] = {1e-5 * rows->step[1], 1e-5 * rows->step[2]};
    uint32_t j_first = first_index(rows, 1, fminf(a.y, fminf(b.y, c.y)) - slack[0]);
    uint32_t j_end = first_index(rows, 1, fmaxf(a.y, fmaxf(b.y, c.y)) + slack[0]);
    uint32_t k_first = first_index(rows, 2, fminf(a.z, fminf(b.z, c.z)) - slack[1]);
    uint32_t k_end = first_index(rows, 2, fmaxf(a.z, fmaxf(b.z, c.z)) + slack[1]);
    for (uint32_t k = k_first; k < k_end; k++)
        for (uint32_t j = j_first; j < j_end; j++) cross_row(rows, mesh, corner, j, k);
}

void lmi_shape_keep_inside(const lm_shape_mesh *mesh, const uint32_t n[3], const double step[3], double *values)
{
    /* A point that is to be kept if inside begins negative: an odd number of crossings makes it positive. What is
     * negative already is taken out first, as NaN, which no change of sign brings back. */
    size_t size = (size_t)n[0] * n[1] * n[2];
    for (size_t i = 0; i < size; i++) values[i] = values[i] > 0.0 ? -values[i] : NAN;
    lattice_rows rows = {n, step, values};
    for (size_t t = 0; t < mesh->triangle_count; t++) cross_triangle(&rows, mesh, mesh->triangles + 3 * t);
    for (size_t i = 0; i < size; i++)
        if (!(values[i] > 0.0)) values[i] = -1.0;
}
