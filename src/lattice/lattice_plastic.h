/*
 * Plastic regions of a lattice, in lanes.
 *
 * A region that has flowed has the rest shape P q in place of q (P symmetric, of determinant 1, along the lattice's axes): its
 * goal is R P q with R = polar(Apq P), and the strain that counts is that of A P^-1 with A = Apq Q^-1 the best affine map
 * and Q the rest moments. Müller et al. 2005, section 4.4; what flows is in match/plastic.c, the same as for clusters.
 *
 * Watching costs little: |S - 1| <= |A - F| for every rotation F, so also for that of the body's frame, where A - 1 =
 * (Apq - Q) Q^-1. While |Apq - Q| is below the yield times the smallest rest moment, nothing in the block can flow, and
 * nothing more is found out.
 */
#ifndef LMI_LATTICE_PLASTIC_H
#define LMI_LATTICE_PLASTIC_H

#include "base/compiler.h"
#include "lattice/lattice_step.h"
#include "lattice/lattice_strain.h"

/* For rounding, and for what the frame lacks to a rotation. */
#define LATTICE_WATCH_MARGIN 1.02f

/* Whether anything in a block differs from its rest shape, or may soon: `moved` is Apq - Q. */
LMI_INLINE bool lattice_may_be_plastic(const lmi_lattice_plastic *plastic, const float *affine, uint32_t block,
                                       vmat3 moved)
{
    vf limit = vf_load(affine + LMI_LATTICE_NARROW * LMI_BLOCK) * vf_set1(plastic->watch);
    vf strain = vmat_dot(moved, moved) * vf_set1(LATTICE_WATCH_MARGIN);
    return plastic->flowed[block] || vm_any(vf_lt(limit, strain));
}

static bool lattice_has_flowed(const float *state)
{
    for (int n = 0; n < 6 * LMI_BLOCK; n++) {
        if (state[n] != (n < 3 * LMI_BLOCK ? 1.0f : 0.0f)) {
            return true;
        }
    }
    return false;
}

/* Lets the lanes flow whose strain is above the yield; returns P. */
static LMI_NOINLINE vmat3 lattice_flow(const lmi_lattice_plastic *plastic, vmat3 a, const float *affine, uint32_t block,
                                       size_t lane)
{
    float *state = plastic->state + (size_t)block * 6 * LMI_BLOCK, *at = state + lane;
    vmat3 p = lattice_symmetric(at), map = lattice_map(a, affine), square = lattice_elastic_square(map, p);
    vm is = vf_lt(vf_set1(0.0f), vf_load(affine + LMI_LATTICE_ACTIVE * LMI_BLOCK));
    uint32_t bits = vm_bits(vm_and(is, vf_lt(vf_set1(plastic->bound), lattice_excess(square))));
    if (bits == 0) {
        return p;
    }
    _Alignas(64) float six[6][LMI_LANES], det[LMI_LANES];
    static const int from[6] = {0, 4, 8, 1, 5, 2};
    for (int i = 0; i < 6; i++) {
        vf_store(six[i], square.m[from[i]]);
    }
    vf_store(det, vmat_determinant(map, vmat_cofactors(map)));
    for (; bits; bits &= bits - 1) {
        uint32_t k = (uint32_t)lmi_low_bit(bits);
        double s[6] = {six[0][k], six[1][k], six[2][k], six[3][k], six[4][k], six[5][k]};
        lmi_plastic_flow(&plastic->rates, at + k, s, det[k] < 0.0f);
    }
    plastic->flowed[block] = lattice_has_flowed(state);
    return lattice_symmetric(at);
}

#endif
