/*
 * Cells by formula, or the voxels of a procedural model.
 */
#include "lattice_cells.h"

#include "geometry/voxel.h"
#include "limber/shapes.h"

#include <stdlib.h>

#define SPACING 0.05f /* metres, of cells by formula */
#define GAP_EVERY 6   /* cells: the fingers of the comb are five thick */
#define BACK 4        /* cells from which the fingers stand out */

static const struct {
    const char *name;
    uint32_t counts[3], quick_counts[3]; /* cells by formula */
    const char *model;                   /* or a model: */
    uint32_t particles, quick_particles, detail;
    bool shell;
    uint32_t bodies, quick_bodies;
} kinds[LATTICE_SHAPE_COUNT] = {
    [LATTICE_BOX] = {.name = "box", .counts = {47, 39, 29}, .quick_counts = {15, 9, 7}, .bodies = 1, .quick_bodies = 1},
    [LATTICE_SPHERE] =
        {.name = "sphere", .counts = {47, 47, 47}, .quick_counts = {12, 12, 12}, .bodies = 1, .quick_bodies = 1},
    [LATTICE_STATUE] = {.name = "statue",
                        .model = "statue",
                        .particles = 57600,
                        .quick_particles = 2000,
                        .detail = 80,
                        .bodies = 1,
                        .quick_bodies = 1},
    [LATTICE_SHELL] = {.name = "shell",
                       .model = "statue",
                       .particles = 20000,
                       .quick_particles = 2000,
                       .detail = 80,
                       .shell = true,
                       .bodies = 1,
                       .quick_bodies = 1},
    [LATTICE_PENGUIN] = {.name = "penguin",
                         .model = "penguin",
                         .particles = 150,
                         .quick_particles = 150,
                         .detail = 24,
                         .bodies = 150,
                         .quick_bodies = 4},
    [LATTICE_COMB] =
        {.name = "comb", .counts = {47, 39, 29}, .quick_counts = {15, 9, 7}, .bodies = 1, .quick_bodies = 1},
    [LATTICE_MILLION] =
        {.name = "million", .counts = {99, 99, 99}, .quick_counts = {31, 31, 31}, .bodies = 1, .quick_bodies = 1},
};

static bool occupied(lattice_shape shape, const uint32_t at[3], const uint32_t counts[3])
{
    if (shape == LATTICE_COMB) return at[2] % GAP_EVERY != GAP_EVERY / 2 || at[0] < BACK;
    if (shape != LATTICE_SPHERE) return true;
    double square = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double d = 2.0 * (at[axis] + 0.5) / counts[axis] - 1.0;
        square += d * d;
    }
    return square <= 1.0;
}

static bool fill_by_formula(lattice_shape shape, lattice_cells *cells)
{
    const uint32_t *n = cells->counts;
    cells->cells = calloc((size_t)n[0] * n[1] * n[2], 1);
    if (!cells->cells) return false;
    for (uint32_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        uint32_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        cells->cells[i] = occupied(shape, at, n);
    }
    return true;
}

static bool copy_voxels(const lmi_voxels *voxels, lattice_cells *cells)
{
    size_t row = 0;
    for (int axis = 0; axis < 3; axis++) cells->counts[axis] = voxels->n[axis];
    cells->spacing = (float)voxels->spacing;
    cells->cells = calloc((size_t)voxels->n[0] * voxels->n[1] * voxels->n[2], 1);
    if (!cells->cells) return false;
    for (uint32_t z = 0; z < voxels->n[2]; z++)
        for (uint32_t y = 0; y < voxels->n[1]; y++, row++)
            for (uint32_t x = 0; x < voxels->n[0]; x++)
                cells->cells[row * voxels->n[0] + x] = lmi_voxels_cell(voxels, x, y, z);
    return true;
}

static bool fill_from_model(lattice_shape shape, uint32_t particles, lattice_cells *cells)
{
    lm_shape_def def = lm_shape_def_default();
    def.name = kinds[shape].model;
    def.size = lm_shape_natural_size(def.name);
    def.detail = kinds[shape].detail;
    lm_shape_mesh mesh;
    if (lm_shape_make_mesh(&def, &mesh) != LM_OK) return false;
    lmi_voxel_def wanted = {.vertices = mesh.vertices,
                            .vertex_count = mesh.vertex_count,
                            .triangles = mesh.triangles,
                            .triangle_count = mesh.triangle_count,
                            .particles = particles,
                            .shell = kinds[shape].shell};
    lmi_memory memory;
    lmi_memory_init(&memory, &(lm_allocator){0});
    lmi_voxels voxels;
    char fault[LMI_VOXEL_FAULT_SIZE];
    bool ok = lmi_voxels_make(&memory, &wanted, &voxels, fault) == LM_OK;
    lm_shape_mesh_free(&mesh);
    if (!ok) return false;
    ok = copy_voxels(&voxels, cells);
    lmi_voxels_free(&memory, &voxels);
    return ok;
}

bool lattice_cells_make(lattice_shape shape, bool quick, lattice_cells *cells)
{
    *cells = (lattice_cells){.name = kinds[shape].name,
                             .spacing = SPACING,
                             .bodies = quick ? kinds[shape].quick_bodies : kinds[shape].bodies};
    for (int axis = 0; axis < 3; axis++)
        cells->counts[axis] = quick ? kinds[shape].quick_counts[axis] : kinds[shape].counts[axis];
    if (!kinds[shape].model) return fill_by_formula(shape, cells);
    return fill_from_model(shape, quick ? kinds[shape].quick_particles : kinds[shape].particles, cells);
}

bool lattice_cells_make_of(lattice_shape shape, uint32_t particles, lattice_cells *cells)
{
    *cells = (lattice_cells){.name = kinds[shape].name, .spacing = SPACING, .bodies = 1};
    return kinds[shape].model && fill_from_model(shape, particles, cells);
}

void lattice_cells_free(lattice_cells *cells)
{
    free(cells->cells);
    *cells = (lattice_cells){0};
}
