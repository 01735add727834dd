/*
 * The examples of a lattice, before its sweep: what its regions are mixed of.
 *
 * Reads positions and the stretches of the examples (examples.h), writes the stretch of each region's mix, which the sweep's
 * fit (lattice/lattice_fit.h) takes in the place of the rest shape. The weights of a group of regions follow from all of them,
 * so this cannot be part of the sweep: the moments are gathered once more.
 *
 * With u the positions less the rest shape and Q the rest moments (lattice/lattice_step.h), A = Apq Q^-1; of a region that has
 * flowed A P^-1. Koyama et al. 2012, section 4.2.
 *
 * Deterministic because regions are measured in lanes of their own and summed in their order (match/examples_solve.c).
 */
#include "lattice/lattice_body.h"
#include "lattice/lattice_constants.h"
#include "lattice/lattice_irregular.h"
#include "match/example_lanes.h"
#include "world/kernel_names.h"
#include "world/world.h"

static const _Alignas(64) float ramp[LMI_BLOCK] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* u of every place, with the weight in fits beside it. */
static void find_local(const lmi_lattice_step *step, float *local)
{
    const lmi_lattice *l = step->lattice;
    for (uint32_t block = 0; block < l->block_count; block++) {
        const int32_t *at = l->at[block];
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            size_t place = (size_t)block * LMI_BLOCK + (size_t)lane;
            vf x[4], u[3];
            const vf corner[3] = {vf_load(ramp + lane) + vf_set1((float)at[0] - step->middle[0]),
                                  vf_set1((float)at[1] - step->middle[1]), vf_set1((float)at[2] - step->middle[2])};
            vf_load4(step->x + place * 4, x);
            lattice_local(step, x, corner, u);
            vf_store4(local + place * 4, u[0], u[1], u[2], x[3]);
        }
    }
}

/* A^T A of the lanes of a block, of their elastic deformation where they have flowed. */
static inline vsym elastic_square(const lmi_lattice_step *step, const float *m, uint32_t block, int lane)
{
    const lmi_lattice *l = step->lattice;
    const float *constants = l->constants + (size_t)l->constants_of[block] * l->channels * LMI_BLOCK + lane;
    const float *affine = constants + l->affine * LMI_BLOCK;
    vmat3 a = lattice_symmetric(constants + LMI_LATTICE_REST * LMI_BLOCK);
    for (int j = 0; j < 3; j++) {
        vf centre = vf_load(constants + (LMI_LATTICE_CENTRE + j) * LMI_BLOCK);
        for (int i = 0; i < 3; i++) {
            vf moved = vf_load(m + (9 - 3 * j + i) * LMI_BLOCK + lane) - vf_load(m + i * LMI_BLOCK + lane) * centre;
            a.m[3 * i + j] = moved + a.m[3 * i + j];
        }
    }
    a = vmat_multiply(a, lattice_symmetric(affine + LMI_LATTICE_INVERSE_REST * LMI_BLOCK));
    if (step->plastic && step->plastic->flowed[block]) {
        vmat3 p = lattice_symmetric(step->plastic->state + (size_t)block * 6 * LMI_BLOCK + lane);
        a = vmat_multiply(a, vmat_cofactors(p)); /* its determinant is 1 and it is symmetric */
    }
    return vsym_square(a);
}

/* The deformations of up to EXAMPLE_AT_ONCE vectors of lanes from the `first` on, and what they are against the examples. */
static void measure_lanes(const lmi_lattice_step *step, const lmi_examples *e, uint32_t first, uint32_t count)
{
    const uint32_t per_block = LMI_BLOCK / LMI_LANES;
    const size_t stride = (size_t)lmi_example_channels(e->count) * LMI_BLOCK;
    vsym s[EXAMPLE_AT_ONCE];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = (first + i) / per_block;
        int lane = (int)((first + i) % per_block) * LMI_LANES;
        s[i] = elastic_square(step, e->moments + (size_t)block * 12 * LMI_BLOCK, block, lane);
    }
    example_stretches(s, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = (first + i) / per_block, lane = (first + i) % per_block * LMI_LANES;
        example_measure(e->home + block * stride + lane, (int)e->count, e->scope == LM_EXAMPLES_REGIONS, s[i]);
    }
}

void LMI_KERNEL(lattice_examples)(struct lmi_body *body, float *scratch)
{
    lmi_examples *e = body->examples;
    if (!e) {
        return;
    }
    const lmi_lattice_step *step = &body->lattice->step;
    const int n = (int)e->count;
    const size_t stride = (size_t)lmi_example_channels(e->count) * LMI_BLOCK;
    find_local(step, e->local);
    LMI_KERNEL(lattice_gather)(step->lattice, e->local, scratch, e->moments);
    const uint32_t vectors = step->lattice->block_count * (LMI_BLOCK / LMI_LANES);
    for (uint32_t first = 0; first < vectors; first += EXAMPLE_AT_ONCE) {
        measure_lanes(step, e, first, vectors - first < EXAMPLE_AT_ONCE ? vectors - first : EXAMPLE_AT_ONCE);
    }
    lmi_examples_solve(e);
    for (uint32_t block = 0; block < step->lattice->block_count; block++) {
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            example_mix(e->home + block * stride + lane, n);
        }
    }
}
