/*
 * A sphere (an ellipsoid when the extents differ): an icosahedron whose faces are divided into f² triangles each and
 * blown up. Of the simple spheres it has the most even triangles, and no poles.
 *
 * Dividing the flat faces and projecting them makes the triangles in the middle of a face 1.9 times as large as those at
 * its corners. A point with barycentric weights (a, b, c) is placed at sin(a w) A + sin(b w) B + sin(c w) C instead
 * (w: the angle of an edge), which divides edges into equal angles and evens out the inside too.
 */
#include "kind.h"

#include "trig.h"

#include <math.h>

#define CORNERS 12
#define EDGES 30
#define FACES 20
#define EDGE_ANGLE 1.10714871779409050302 /* arctan 2 */

/* (0, ±1, ±phi) and its cyclic permutations, divided by sqrt(1 + phi²). */
#define SHORT 0.52573111211913360603
#define LONG 0.85065080835203993218

static const double corners[CORNERS][3] = {
    {-SHORT, LONG, 0.0}, {SHORT, LONG, 0.0}, {-SHORT, -LONG, 0.0}, {SHORT, -LONG, 0.0},
    {0.0, -SHORT, LONG}, {0.0, SHORT, LONG}, {0.0, -SHORT, -LONG}, {0.0, SHORT, -LONG},
    {LONG, 0.0, -SHORT}, {LONG, 0.0, SHORT}, {-LONG, 0.0, -SHORT}, {-LONG, 0.0, SHORT},
};

static const uint8_t faces[FACES][3] = {
    {0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1},
};

/* Vertices are numbered: corners, then the inner points of each edge, then those of each face. */
typedef struct icosphere {
    uint32_t frequency;             /* divisions of an edge */
    uint8_t edge[CORNERS][CORNERS]; /* number of the edge between two corners */
    uint8_t ends[EDGES][2];         /* its corners, the smaller first */
} icosphere;

static uint32_t sphere_frequency(const shape_frame *frame)
{
    double a = 0.5 * frame->extent[0], b = 0.5 * frame->extent[1], c = 0.5 * frame->extent[2];
    double radius = sqrt((a * a + b * b + c * c) / 3.0);
    return lmi_shape_segments(frame, radius * EDGE_ANGLE, 1);
}

static icosphere icosphere_make(uint32_t frequency)
{
    icosphere ico = {.frequency = frequency};
    uint8_t edges = 0;
    for (int face = 0; face < FACES; face++) {
        for (int side = 0; side < 3; side++) {
            uint8_t from = faces[face][side], to = faces[face][(side + 1) % 3];
            if (from > to) continue; /* each edge appears in both directions: once in this one */
            ico.edge[from][to] = ico.edge[to][from] = edges;
            ico.ends[edges][0] = from;
            ico.ends[edges][1] = to;
            edges++;
        }
    }
    return ico;
}

static shape_counts sphere_count(const shape_frame *frame)
{
    double f = sphere_frequency(frame);
    return (shape_counts){.vertices = 10.0 * f * f + 2.0, .triangles = 20.0 * f * f};
}

/* The vertex `step` divisions from corner `from` towards corner `to`. */
static uint32_t edge_vertex(const icosphere *ico, uint8_t from, uint8_t to, uint32_t step)
{
    uint32_t f = ico->frequency;
    if (step == 0) return from;
    if (step == f) return to;
    if (from > to) step = f - step;
    return CORNERS + ico->edge[from][to] * (f - 1) + step - 1;
}

/* The vertex of a face with weights (f - i - j, i, j)/f on its corners. */
static uint32_t face_vertex(const icosphere *ico, uint32_t face, uint32_t i, uint32_t j)
{
    uint32_t f = ico->frequency;
    const uint8_t *corner = faces[face];
    if (j == 0) return edge_vertex(ico, corner[0], corner[1], i);
    if (i == 0) return edge_vertex(ico, corner[0], corner[2], j);
    if (i + j == f) return edge_vertex(ico, corner[1], corner[2], j);
    /* Rows j = 1, 2, ... of f-2, f-3, ... inner points each. */
    uint32_t before = (j - 1) * (f - 2) - (j - 1) * (j - 2) / 2;
    uint32_t inner = (f - 1) * (f - 2) / 2;
    return CORNERS + EDGES * (f - 1) + face * inner + before + i - 1;
}

/* The point with weights (f - i - j, i, j)/f on three corners. */
static void add_point(lm_shape_mesh *mesh, const shape_frame *frame, uint32_t f, const uint8_t corner[3], uint32_t i,
                      uint32_t j)
{
    double weight[3] = {
        lmi_sin(EDGE_ANGLE * (f - i - j) / f),
        lmi_sin(EDGE_ANGLE * i / f),
        lmi_sin(EDGE_ANGLE * j / f),
    };
    double p[3];
    for (int axis = 0; axis < 3; axis++)
        p[axis] = weight[0] * corners[corner[0]][axis] + weight[1] * corners[corner[1]][axis] +
                  weight[2] * corners[corner[2]][axis];
    double scale = 0.5 / sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    shape_add_vertex(mesh, p[0] * scale * frame->extent[0], p[1] * scale * frame->extent[1],
                     p[2] * scale * frame->extent[2]);
}

static void add_face_triangles(lm_shape_mesh *mesh, const icosphere *ico, uint32_t face)
{
    uint32_t f = ico->frequency;
    for (uint32_t j = 0; j < f; j++) {
        for (uint32_t i = 0; i + j < f; i++) {
            uint32_t right = face_vertex(ico, face, i + 1, j);
            uint32_t up = face_vertex(ico, face, i, j + 1);
            shape_add_triangle(mesh, face_vertex(ico, face, i, j), right, up);
            if (i + j + 1 < f) shape_add_triangle(mesh, right, face_vertex(ico, face, i + 1, j + 1), up);
        }
    }
}

static void sphere_build(const shape_frame *frame, lm_shape_mesh *mesh)
{
    icosphere ico = icosphere_make(sphere_frequency(frame));
    uint32_t f = ico.frequency;
    for (uint8_t c = 0; c < CORNERS; c++) add_point(mesh, frame, f, (const uint8_t[3]){c, c, c}, 0, 0);
    for (uint32_t e = 0; e < EDGES; e++) {
        const uint8_t ends[3] = {ico.ends[e][0], ico.ends[e][1], ico.ends[e][0]};
        for (uint32_t i = 1; i < f; i++) add_point(mesh, frame, f, ends, i, 0);
    }
    for (uint32_t face = 0; face < FACES; face++)
        for (uint32_t j = 1; j < f; j++)
            for (uint32_t i = 1; i + j < f; i++) add_point(mesh, frame, f, faces[face], i, j);
    for (uint32_t face = 0; face < FACES; face++) add_face_triangles(mesh, &ico, face);
}

static double sphere_curved(const shape_frame *frame, double x, double y, double z)
{
    double u = 2.0 * x / frame->extent[0], v = 2.0 * y / frame->extent[1], w = 2.0 * z / frame->extent[2];
    return 1.0 - sqrt(u * u + v * v + w * w);
}

static double sphere_curved_scale(const shape_frame *frame)
{
    return 0.5 * shape_smaller(frame->extent[0], shape_smaller(frame->extent[1], frame->extent[2]));
}

const shape_kind lmi_shape_kind_sphere = {
    .name = "sphere",
    .description = "a ball, or an ellipsoid, of nearly equal triangles",
    .natural_size = {1.0f, 1.0f, 1.0f},
    .colour = 0x3f7cac,
    .count = sphere_count,
    .build = sphere_build,
    .curved = sphere_curved,
    .curved_scale = sphere_curved_scale,
};
