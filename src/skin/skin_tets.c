/*
 * Vertices and normals of a surface that rides on tetrahedra. A kernel: compiled for each instruction set, a vertex in each
 * lane.
 *
 *   x = x0 + w1 e1 + w2 e2 + w3 e3                          e_i = x_i - x0, the edges as they are now
 *   F = [e1 e2 e3] [E1 E2 E3]^-1                            E_i: the same edges at rest
 *   n = cof(F) N / |...|                                    N: the normal at rest
 *     = (k1 e2 x e3 + k2 e3 x e1 + k3 e1 x e2) / |...|      k_i = E_i . N, because cof(A B^-1) = cof(A) B^T / det B
 *
 * So three numbers for each vertex, found once, stand for the rest shape of its tetrahedron. Reads particles, riders, weights
 * and those; writes positions and normals. Lanes never meet, so every width gives the same bits.
 */
#include "skin/skin_tets.h"
#include "skin/skin_lanes.h"
#include "world/kernel_names.h"

/* One block of vertices, a row for each number. */
typedef struct block_in {
    uint32_t corner[4][LMI_BLOCK];
    _Alignas(64) float weight[3][LMI_BLOCK]; /* of corners 1 to 3 */
    _Alignas(64) float k[3][LMI_BLOCK];
} block_in;

/* Lanes past the end repeat the last vertex. */
static void read_block(const lmi_skin_tets *tets, uint32_t first, block_in *in)
{
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
        uint32_t n = first + lane < tets->count ? first + lane : tets->count - 1;
        for (size_t i = 0; i < 4; i++) {
            in->corner[i][lane] = tets->riders[(size_t)n * 4 + i];
        }
        for (size_t i = 0; i < 3; i++) {
            in->weight[i][lane] = tets->weights[(size_t)n * 4 + i + 1];
        }
        in->k[0][lane] = tets->edge_normals[n].x;
        in->k[1][lane] = tets->edge_normals[n].y;
        in->k[2][lane] = tets->edge_normals[n].z;
    }
}

static void carry_block(const lmi_skin_tets *tets, const block_in *in, block_out *out)
{
    const vf zero = vf_set1(0.0f);
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
        vf corner[4][4], weight[3], k[3], position[3], normal[3];
        for (int i = 0; i < 4; i++) {
            vf_gather4(tets->x, in->corner[i] + lane, corner[i]);
        }
        for (int i = 0; i < 3; i++) {
            weight[i] = vf_load(in->weight[i] + lane);
            k[i] = vf_load(in->k[i] + lane);
        }
        carry_in_tet(corner, weight, k, position, normal);
        vf_store4(out->position[lane], position[0], position[1], position[2], zero);
        vf_store4(out->normal[lane], normal[0], normal[1], normal[2], zero);
    }
}

void LMI_KERNEL(skin_tets)(const lmi_skin_tets *tets)
{
    block_in in;
    block_out out;
    for (uint32_t first = 0; first < tets->count; first += LMI_BLOCK) {
        uint32_t count = tets->count - first < LMI_BLOCK ? tets->count - first : LMI_BLOCK;
        read_block(tets, first, &in);
        carry_block(tets, &in, &out);
        write_block(out.position[0], count, tets->positions ? tets->positions + first : NULL);
        write_block(out.normal[0], count, tets->normals ? tets->normals + first : NULL);
    }
}
