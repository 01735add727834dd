/*
 * An upright cylinder: its axis is Y. A cap is a disc of k rings with 6, 12, ... 6k vertices around a centre, which
 * makes nearly equilateral triangles everywhere; the wall continues the outer ring.
 *
 * Vertices are numbered from the bottom: the lower cap from its centre outwards, the rings of the wall, the upper cap
 * from its rim inwards (so that the wall always joins neighbouring rings).
 */
#include "kind.h"

#include "trig.h"

#include <math.h>

typedef struct cylinder_grid {
    uint32_t rings;  /* of a cap */
    uint32_t levels; /* divisions of the height */
} cylinder_grid;

static cylinder_grid cylinder_grid_make(const shape_frame *frame)
{
    double radius = 0.25 * (frame->extent[0] + frame->extent[2]);
    return (cylinder_grid){
        .rings = lmi_shape_segments(frame, radius, 1),
        .levels = lmi_shape_segments(frame, frame->extent[1], 1),
    };
}

/* Vertices of a cap inside its ring r: 1 + 6 + 12 + ... + 6(r-1). */
static uint32_t cap_vertices(uint32_t r) { return r == 0 ? 0 : 1 + 3 * r * (r - 1); }

/* Vertex i of ring r (ring 0 is the centre); i may run one past the end, which is the first again. */
static uint32_t lower_vertex(uint32_t r, uint32_t i) { return r == 0 ? 0 : cap_vertices(r) + i % (6 * r); }

static uint32_t wall_vertex(const cylinder_grid *grid, uint32_t level, uint32_t i)
{
    uint32_t ring = 6 * grid->rings;
    return cap_vertices(grid->rings) + level * ring + i % ring;
}

static uint32_t upper_vertex(const cylinder_grid *grid, uint32_t r, uint32_t i)
{
    if (r == grid->rings) return wall_vertex(grid, grid->levels, i);
    /* Rings come from the rim inwards: skip the wall with both rims, then the rings between this one and the rim. */
    uint32_t start = cap_vertices(grid->rings) + (grid->levels + 1) * 6 * grid->rings;
    start += cap_vertices(grid->rings) - cap_vertices(r + 1);
    return r == 0 ? start : start + i % (6 * r);
}

static shape_counts cylinder_count(const shape_frame *frame)
{
    cylinder_grid grid = cylinder_grid_make(frame);
    double k = grid.rings, m = grid.levels;
    return (shape_counts){
        .vertices = 2.0 * (1.0 + 3.0 * k * (k - 1.0)) + (m + 1.0) * 6.0 * k,
        .triangles = 2.0 * 6.0 * k * k + 2.0 * m * 6.0 * k,
    };
}

/* Ring r of `rings`, at a height. */
static void add_ring(lm_shape_mesh *mesh, const shape_frame *frame, uint32_t r, uint32_t rings, double height)
{
    if (r == 0) {
        shape_add_vertex(mesh, 0.0, height, 0.0);
        return;
    }
    double share = 0.5 * r / rings;
    for (uint32_t i = 0; i < 6 * r; i++) {
        double c, s;
        shape_turn(i, 6 * r, &c, &s);
        shape_add_vertex(mesh, c * share * frame->extent[0], height, s * share * frame->extent[2]);
    }
}

static void add_cap_triangle(lm_shape_mesh *mesh, bool upper, uint32_t a, uint32_t b, uint32_t c)
{
    /* Rings turn from X to Z, which is clockwise seen from above. */
    if (upper)
        shape_add_triangle(mesh, a, c, b);
    else
        shape_add_triangle(mesh, a, b, c);
}

/* The triangles between rings r-1 and r: in each of the six sectors r of them stand on the outer ring, and r-1 hang
 * from the inner one. */
static void add_cap_band(lm_shape_mesh *mesh, const cylinder_grid *grid, bool upper, uint32_t r)
{
    for (uint32_t sector = 0; sector < 6; sector++) {
        for (uint32_t i = 0; i < r; i++) {
            uint32_t outer_index = sector * r + i, inner_index = sector * (r - 1) + i;
            uint32_t outer = upper ? upper_vertex(grid, r, outer_index) : lower_vertex(r, outer_index);
            uint32_t next = upper ? upper_vertex(grid, r, outer_index + 1) : lower_vertex(r, outer_index + 1);
            uint32_t inner = upper ? upper_vertex(grid, r - 1, inner_index) : lower_vertex(r - 1, inner_index);
            add_cap_triangle(mesh, upper, inner, outer, next);
            if (i + 1 == r) continue;
            uint32_t after = upper ? upper_vertex(grid, r - 1, inner_index + 1) : lower_vertex(r - 1, inner_index + 1);
            add_cap_triangle(mesh, upper, inner, next, after);
        }
    }
}

static void cylinder_build(const shape_frame *frame, lm_shape_mesh *mesh)
{
    cylinder_grid grid = cylinder_grid_make(frame);
    uint32_t rings = grid.rings, levels = grid.levels;
    double half = 0.5 * frame->extent[1];

    for (uint32_t r = 0; r < rings; r++) add_ring(mesh, frame, r, rings, -half);
    for (uint32_t level = 0; level <= levels; level++)
        add_ring(mesh, frame, rings, rings, half * ((2.0 * level - levels) / levels));
    for (uint32_t r = rings; r-- > 0;) add_ring(mesh, frame, r, rings, half);

    for (uint32_t r = 1; r <= rings; r++) {
        add_cap_band(mesh, &grid, false, r);
        add_cap_band(mesh, &grid, true, r);
    }
    for (uint32_t level = 0; level < levels; level++)
        for (uint32_t i = 0; i < 6 * rings; i++)
            shape_add_quad(mesh, wall_vertex(&grid, level, i), wall_vertex(&grid, level + 1, i),
                           wall_vertex(&grid, level + 1, i + 1), wall_vertex(&grid, level, i + 1), (level + i) & 1u);
}

static double cylinder_curved(const shape_frame *frame, double x, double y, double z)
{
    (void)y;
    double u = 2.0 * x / frame->extent[0], w = 2.0 * z / frame->extent[2];
    return 1.0 - sqrt(u * u + w * w);
}

static double cylinder_curved_scale(const shape_frame *frame)
{
    return 0.5 * shape_smaller(frame->extent[0], frame->extent[2]);
}

static double cylinder_flat(const shape_frame *frame, double x, double y, double z)
{
    (void)x, (void)z;
    return 0.5 * frame->extent[1] - shape_absolute(y);
}

const shape_kind lmi_shape_kind_cylinder = {
    .name = "cylinder",
    .description = "an upright cylinder, round or oval, with flat caps",
    .natural_size = {1.0f, 1.0f, 1.0f},
    .colour = 0x5b8e4e,
    .count = cylinder_count,
    .build = cylinder_build,
    .curved = cylinder_curved,
    .curved_scale = cylinder_curved_scale,
    .flat = cylinder_flat,
};
