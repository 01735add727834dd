/*
 * Vertices and normals of a lattice's surface. A kernel: compiled for each instruction set, a vertex in each lane.
 *
 *   x(X) = sum over the corners of the cell of phi_i(X) x_i        phi trilinear, u, v, w the place in the cell
 *   F    = dx/dX = sum of x_i (grad phi_i)^T                       columns fx, fy, fz, in units of the spacing
 *   n    = F U x F V / |...| = cof(F) N / |cof(F) N|               for the rest normal N = U x V
 *
 * Reads particles, riders, weights and rest normals; writes positions and normals. Rivers and James 2007,
 * equations 15 and 16: their pair of tangents is any pair with U x V = N, so the cofactors do without one.
 *
 * Corners are interpolated along x, then y, then z. Differences along an axis are needed for that anyway, and are what F is
 * made of. Lanes never meet, so every width gives the same bits.
 */
#include "skin/skin_lattice.h"
#include "skin/skin_lanes.h"
#include "world/kernel_names.h"

/* One block of vertices, a row for each number. */
typedef struct block_in {
    uint32_t corner[8][LMI_BLOCK];
    _Alignas(64) float place[3][LMI_BLOCK]; /* in the cell, 0 to 1 unless it is outside */
    _Alignas(64) float normal[3][LMI_BLOCK];
} block_in;

/* The weights of corners on one side add up to the share of that side. Lanes past the end repeat the last vertex. */
static void read_block(const lmi_skin_cells *cells, uint32_t first, block_in *in)
{
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
        uint32_t n = first + lane < cells->count ? first + lane : cells->count - 1;
        const uint32_t *riders = cells->riders + (size_t)n * 8;
        const float *w = cells->weights + (size_t)n * 8;
        for (int k = 0; k < 8; k++) {
            in->corner[k][lane] = riders[k];
        }
        in->place[0][lane] = (w[1] + w[3]) + (w[5] + w[7]);
        in->place[1][lane] = (w[2] + w[3]) + (w[6] + w[7]);
        in->place[2][lane] = (w[4] + w[5]) + (w[6] + w[7]);
        in->normal[0][lane] = cells->rest_normals[n].x;
        in->normal[1][lane] = cells->rest_normals[n].y;
        in->normal[2][lane] = cells->rest_normals[n].z;
    }
}

static void carry_block(const lmi_skin_cells *cells, const block_in *in, block_out *out)
{
    const vf per_spacing = vf_set1(cells->per_spacing), zero = vf_set1(0.0f);
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
        vf corner[8][4], place[3], rest[3], position[3], normal[3];
        for (int k = 0; k < 8; k++) {
            vf_gather4(cells->x, in->corner[k] + lane, corner[k]);
        }
        for (int a = 0; a < 3; a++) {
            place[a] = vf_load(in->place[a] + lane);
            rest[a] = vf_load(in->normal[a] + lane);
        }
        carry_in_cell(corner, place, rest, per_spacing, position, normal);
        vf_store4(out->position[lane], position[0], position[1], position[2], zero);
        vf_store4(out->normal[lane], normal[0], normal[1], normal[2], zero);
    }
}

void LMI_KERNEL(skin_lattice)(const lmi_skin_cells *cells)
{
    block_in in;
    block_out out;
    for (uint32_t first = 0; first < cells->count; first += LMI_BLOCK) {
        uint32_t count = cells->count - first < LMI_BLOCK ? cells->count - first : LMI_BLOCK;
        read_block(cells, first, &in);
        carry_block(cells, &in, &out);
        write_block(out.position[0], count, cells->positions ? cells->positions + first : NULL);
        write_block(out.normal[0], count, cells->normals ? cells->normals + first : NULL);
    }
}
