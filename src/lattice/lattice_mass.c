/*
 * Masses of a lattice's particles: the volume around each, and values from the vertices of the mesh.
 */
#include "lattice/lattice_mass.h"
#include "geometry/nearest.h"

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

bool lmi_lattice_multiply_nearest(lmi_memory *memory, const lmi_lattice *l, const lm_vec3 *vertices,
                                  const float *of_vertices, uint32_t vertex_count, float *values)
{
    lmi_nearest t;
    bool ok = lmi_nearest_make_from(&t, memory, vertices, vertex_count);
    for (uint32_t n = 0, last = 0; ok && n < l->block_count * LMI_BLOCK; n++) {
        if (l->occupied[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1) {
            last = lmi_nearest_after(&t, vertices, lmi_lattice_rest(l, n), last);
            values[n] *= of_vertices[last];
        }
    }
    lmi_nearest_free(&t);
    return ok;
}
