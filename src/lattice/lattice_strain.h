/*
 * How a region of a lattice is strained, and how it moves as a whole, from its moments and constants: what plastic flow
 * (lattice/lattice_plastic.h), regional damping (lattice/lattice_damping.h) and examples ask for. The kernels of a device include it as it is
 * (gpu/). `affine` is where the constants for the best affine map are.
 */
#ifndef LMI_LATTICE_STRAIN_H
#define LMI_LATTICE_STRAIN_H

#include "lattice/lattice_constants.h"
#include "match/spin.h"

/* The best affine map A = Apq Q^-1. */
LMI_INLINE vmat3 lattice_map(vmat3 a, lattice_at affine)
{
    return vmat_multiply(a, lattice_symmetric(affine + LMI_LATTICE_INVERSE_REST * LATTICE_STRIDE));
}

/* S² of the elastic deformation A P^-1. P has the determinant 1 and is symmetric: its cofactors are its inverse. */
LMI_INLINE vmat3 lattice_elastic_square(vmat3 map, vmat3 p)
{
    vmat3 inverse = vmat_cofactors(p);
    return vmat_multiply(inverse, vmat_multiply(vmat_multiply_transposed(map, map), inverse));
}

/* The square of |S² - 1|, which lmi_yield_bound is for. */
LMI_INLINE vf lattice_excess(vmat3 square)
{
    for (int j = 0; j < 3; j++) {
        square.m[4 * j] = square.m[4 * j] - vf_set1(1.0f);
    }
    return vmat_dot(square, square);
}

/* Turns the transform of a fit into `rate` times itself and `loss` times the region's field of velocities. `m` are the moments
 * of positions, `mv` those of velocities. */
LMI_INLINE void lattice_add_field(const vf m[12], const vf mv[12], lattice_at constants, lattice_at affine, vf loss,
                                  vf rate, vf t[12])
{
    vf centre[3], field[12], w[3], l[3], g[6];
    vmat3 a = lattice_symmetric(constants + LMI_LATTICE_REST * LATTICE_STRIDE), v;
    for (int j = 0; j < 3; j++) {
        centre[j] = lattice_constant(constants + (LMI_LATTICE_CENTRE + j) * LATTICE_STRIDE);
        for (int i = 0; i < 3; i++) {
            a.m[3 * i + j] = (m[9 - 3 * j + i] - m[i] * centre[j]) + a.m[3 * i + j];
            v.m[3 * i + j] = mv[9 - 3 * j + i] - mv[i] * centre[j];
        }
    }
    vmat3 map = lattice_map(a, affine);
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        const vf *ap = map.m + 3 * p, *aq = map.m + 3 * q, *vp = v.m + 3 * p, *vq = v.m + 3 * q;
        l[i] = ((ap[0] * vq[0] - aq[0] * vp[0]) + (ap[1] * vq[1] - aq[1] * vp[1])) + (ap[2] * vq[2] - aq[2] * vp[2]);
        g[i] = (a.m[3 * i] * map.m[3 * i] + a.m[3 * i + 1] * map.m[3 * i + 1]) + a.m[3 * i + 2] * map.m[3 * i + 2];
        g[3 + i] = (a.m[3 * i] * ap[0] + a.m[3 * i + 1] * ap[1]) + a.m[3 * i + 2] * ap[2];
    }
    lmi_spin(g, l, w);
    vf k = loss * lattice_constant(affine + LMI_LATTICE_ACTIVE * LATTICE_STRIDE);
    vf mean = k * lattice_constant(constants + LMI_LATTICE_INVERSE_MASS * LATTICE_STRIDE);
    for (int i = 0; i < 3; i++) {
        w[i] = w[i] * k;
    }
    for (int j = 0; j < 3; j++) { /* w x column j */
        for (int i = 0; i < 3; i++) {
            int p = (i + 1) % 3, q = (i + 2) % 3;
            field[3 + 3 * j + i] = w[p] * map.m[3 * q + j] - w[q] * map.m[3 * p + j];
        }
    }
    for (int i = 0; i < 3; i++) {
        vf shift = (field[3 + i] * centre[0] + field[6 + i] * centre[1]) + field[9 + i] * centre[2];
        t[i] = rate * t[i] + (mean * mv[i] - shift);
    }
    for (int i = 3; i < 12; i++) {
        t[i] = rate * t[i] + field[i];
    }
}

#endif
