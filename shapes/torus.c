/*
 * A torus lying flat: its axis is Y. The tube is as high as the extent along Y, and as wide as it is high, up to 0.35 of
 * the extent along X; a higher torus has an oval tube, so that the hole never closes. An extent along Z other than
 * that along X stretches the whole.
 *
 * Vertices are numbered section by section around the axis.
 */
#include "kind.h"

#include "trig.h"

#include <math.h>

#define WIDEST_TUBE 0.35 /* of the extent along X */

typedef struct torus_grid {
    uint32_t sections;           /* around the axis */
    uint32_t sides;              /* of a section */
    double radius;               /* of the circle that runs through the tube */
    double half_wide, half_high; /* of the tube */
} torus_grid;

static torus_grid torus_grid_make(const shape_frame *frame)
{
    double wide = shape_smaller(frame->extent[1], WIDEST_TUBE * frame->extent[0]);
    torus_grid grid = {.half_wide = 0.5 * wide, .half_high = 0.5 * frame->extent[1]};
    grid.radius = 0.5 * frame->extent[0] - grid.half_wide;
    /* A chord of n sections cuts pi²/(2 n²) outer radii into the tube: at most a quarter of its half width, or a thin
     * ring of few sections would have its middle outside its own mesh. */
    uint32_t least = (uint32_t)(SHAPE_PI * sqrt(frame->extent[0] / grid.half_wide)) + 1u;
    double stretch = frame->extent[2] / frame->extent[0];
    grid.sections = lmi_shape_segments(frame, lmi_shape_circumference(grid.radius, grid.radius * stretch), least);
    grid.sides = lmi_shape_segments(frame, lmi_shape_circumference(grid.half_wide, grid.half_high), 5);
    return grid;
}

static shape_counts torus_count(const shape_frame *frame)
{
    torus_grid grid = torus_grid_make(frame);
    double vertices = (double)grid.sections * grid.sides;
    return (shape_counts){.vertices = vertices, .triangles = 2.0 * vertices};
}

static void torus_build(const shape_frame *frame, lm_shape_mesh *mesh)
{
    torus_grid grid = torus_grid_make(frame);
    double stretch = frame->extent[2] / frame->extent[0];
    for (uint32_t i = 0; i < grid.sections; i++) {
        double cos_around, sin_around;
        shape_turn(i, grid.sections, &cos_around, &sin_around);
        for (uint32_t j = 0; j < grid.sides; j++) {
            double cos_tube, sin_tube;
            shape_turn(j, grid.sides, &cos_tube, &sin_tube);
            double away = grid.radius + grid.half_wide * cos_tube;
            shape_add_vertex(mesh, away * cos_around, grid.half_high * sin_tube, away * sin_around * stretch);
        }
    }
    for (uint32_t i = 0; i < grid.sections; i++) {
        uint32_t here = i * grid.sides, next = (i + 1) % grid.sections * grid.sides;
        for (uint32_t j = 0; j < grid.sides; j++) {
            uint32_t up = (j + 1) % grid.sides;
            shape_add_quad(mesh, here + j, here + up, next + up, next + j, (i + j) & 1u);
        }
    }
}

static double torus_curved(const shape_frame *frame, double x, double y, double z)
{
    torus_grid grid = torus_grid_make(frame);
    double round = z * frame->extent[0] / frame->extent[2]; /* without the stretch along Z */
    double u = (sqrt(x * x + round * round) - grid.radius) / grid.half_wide;
    double v = y / grid.half_high;
    return 1.0 - sqrt(u * u + v * v);
}

static double torus_curved_scale(const shape_frame *frame)
{
    torus_grid grid = torus_grid_make(frame);
    double stretch = frame->extent[2] / frame->extent[0];
    return shape_smaller(grid.half_wide, grid.half_high) * shape_smaller(1.0, stretch);
}

const shape_kind lmi_shape_kind_torus = {
    .name = "torus",
    .description = "a ring lying flat, with a round or oval tube",
    .natural_size = {1.0f, 0.3f, 1.0f},
    .colour = 0xd9a441,
    .count = torus_count,
    .build = torus_build,
    .curved = torus_curved,
    .curved_scale = torus_curved_scale,
};
