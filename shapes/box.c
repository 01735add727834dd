/*
 * A box: each side a grid, vertices shared along edges and corners. The diagonals of the grid alternate like a
 * chessboard, so that no direction of the surface is preferred.
 *
 * Vertices are the outer points of an (nx+1) x (ny+1) x (nz+1) lattice, numbered layer by layer along z: the first and
 * the last layer are whole, those between are rings.
 */
#include "kind.h"

typedef struct box_grid {
    uint32_t n[3]; /* divisions along x, y, z */
} box_grid;

static box_grid box_grid_make(const shape_frame *frame)
{
    box_grid grid;
    for (int axis = 0; axis < 3; axis++) grid.n[axis] = lmi_shape_segments(frame, frame->extent[axis], 1);
    return grid;
}

/* The number of the vertex at lattice point (i, j, k), which lies on the surface. */
static uint32_t box_vertex(const box_grid *grid, uint32_t i, uint32_t j, uint32_t k)
{
    uint32_t nx = grid->n[0], ny = grid->n[1], nz = grid->n[2];
    uint32_t layer = (nx + 1) * (ny + 1);
    uint32_t ring = 2 * (nx + ny);
    if (k == 0) return j * (nx + 1) + i;
    if (k == nz) return layer + (nz - 1) * ring + j * (nx + 1) + i;

    uint32_t start = layer + (k - 1) * ring;
    if (j == 0) return start + i;
    if (i == nx) return start + nx + j;
    if (j == ny) return start + nx + ny + (nx - i);
    return start + 2 * nx + ny + (ny - j); /* i == 0 */
}

static shape_counts box_count(const shape_frame *frame)
{
    box_grid grid = box_grid_make(frame);
    double nx = grid.n[0], ny = grid.n[1], nz = grid.n[2];
    double faces = nx * ny + ny * nz + nz * nx;
    return (shape_counts){.vertices = 2.0 * faces + 2.0, .triangles = 4.0 * faces};
}

static void box_add_point(lm_shape_mesh *mesh, const shape_frame *frame, const box_grid *grid, uint32_t i, uint32_t j,
                          uint32_t k)
{
    uint32_t at[3] = {i, j, k};
    double p[3];
    for (int axis = 0; axis < 3; axis++) {
        /* (2i - n) / n is exactly odd about the middle: opposite sides mirror each other to the last bit. */
        double n = (double)grid->n[axis];
        p[axis] = 0.5 * frame->extent[axis] * ((2.0 * at[axis] - n) / n);
    }
    shape_add_vertex(mesh, p[0], p[1], p[2]);
}

/* In the order of box_vertex. */
static void box_add_vertices(lm_shape_mesh *mesh, const shape_frame *frame, const box_grid *grid)
{
    uint32_t nx = grid->n[0], ny = grid->n[1], nz = grid->n[2];
    for (uint32_t k = 0; k <= nz; k++) {
        if (k == 0 || k == nz) {
            for (uint32_t j = 0; j <= ny; j++)
                for (uint32_t i = 0; i <= nx; i++) box_add_point(mesh, frame, grid, i, j, k);
            continue;
        }
        for (uint32_t i = 0; i <= nx; i++) box_add_point(mesh, frame, grid, i, 0, k);
        for (uint32_t j = 1; j <= ny; j++) box_add_point(mesh, frame, grid, nx, j, k);
        for (uint32_t i = nx; i-- > 0;) box_add_point(mesh, frame, grid, i, ny, k);
        for (uint32_t j = ny; j-- > 1;) box_add_point(mesh, frame, grid, 0, j, k);
    }
}

/* The side on which lattice coordinate `axis` is `level`; u and v are the axes after it, so that u x v = axis. */
static void box_add_side(lm_shape_mesh *mesh, const box_grid *grid, int axis, bool upper)
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (uint32_t b = 0; b < grid->n[v]; b++) {
        for (uint32_t a = 0; a < grid->n[u]; a++) {
            uint32_t corner[4];
            for (uint32_t c = 0; c < 4; c++) {
                uint32_t at[3];
                at[axis] = upper ? grid->n[axis] : 0;
                at[u] = a + (c == 1 || c == 2);
                at[v] = b + (c >= 2);
                corner[c] = box_vertex(grid, at[0], at[1], at[2]);
            }
            bool flip = (a + b) & 1u;
            if (upper)
                shape_add_quad(mesh, corner[0], corner[1], corner[2], corner[3], flip);
            else
                shape_add_quad(mesh, corner[0], corner[3], corner[2], corner[1], flip);
        }
    }
}

static void box_build(const shape_frame *frame, lm_shape_mesh *mesh)
{
    box_grid grid = box_grid_make(frame);
    box_add_vertices(mesh, frame, &grid);
    for (int axis = 0; axis < 3; axis++) {
        box_add_side(mesh, &grid, axis, false);
        box_add_side(mesh, &grid, axis, true);
    }
}

static double box_flat(const shape_frame *frame, double x, double y, double z)
{
    double depth = 0.5 * frame->extent[0] - shape_absolute(x);
    depth = shape_smaller(depth, 0.5 * frame->extent[1] - shape_absolute(y));
    return shape_smaller(depth, 0.5 * frame->extent[2] - shape_absolute(z));
}

const shape_kind lmi_shape_kind_box = {
    .name = "box",
    .description = "a box with a square grid on each side",
    .natural_size = {1.0f, 1.0f, 1.0f},
    .colour = 0xc8553d,
    .count = box_count,
    .build = box_build,
    .flat = box_flat,
};
