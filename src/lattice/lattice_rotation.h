/*
 * The arithmetic of a lattice's fit that needs nothing but a region's moments and constants: lattice/lattice_fit.h says what it
 * is. The kernels of a device include it as it is (gpu/).
 */
#ifndef LMI_LATTICE_ROTATION_H
#define LMI_LATTICE_ROTATION_H

#include "base/compiler.h"
#include "lattice/lattice_constants.h"
#include "match/volume.h"

/* Below this determinant (1 is about the rest shape) Newton's iteration is not tried. */
#define LATTICE_LEAST_VOLUME 2e-2f

/* All lanes take three steps, lanes that are not settled by then a fourth, and few up to this many more. A lane is settled
 * by the step that starts at a determinant this near to 1: it leaves less than 5e-7, and what it leaves is a stretch, not a
 * turn. Three steps are enough for strains of a quarter inside a body. */
#define LATTICE_FURTHER 5
#define LATTICE_SETTLED 1e-3f

LMI_INLINE vmat3 lattice_newton(vmat3 x, vf *det)
{
    const vf half = vf_set1(0.5f);
    vmat3 c = vmat_cofactors(x);
    *det = vmat_determinant(x, c);
    vf scale = half / *det;
    for (int i = 0; i < 9; i++) {
        x.m[i] = half * x.m[i] + scale * c.m[i];
    }
    return x;
}

/* One step of iterates that are left to grow (below). */
LMI_INLINE vmat3 lattice_grow(vmat3 y, vf spread, vf *det)
{
    vmat3 c = vmat_cofactors(y);
    *det = vmat_determinant(y, c);
    vf share = spread / *det;
    for (int i = 0; i < 9; i++) {
        y.m[i] = y.m[i] + share * c.m[i];
    }
    return y;
}

/* Three steps towards the rotation of `a`, which is the result times *by, and a fourth where a lane needs it. Instead of
 * halving each step the iterates are left to grow: after n steps they are Y = X 2^(n - 1) / scale, so that a step is
 * Y + cof Y / (scale² det Y) 4^(n - 1). That saves a quarter of the products; powers of two change no bits. What a lane gets
 * does not depend on its neighbours. Lanes that are not both sound and settled have no rotation yet. */
LMI_INLINE vmat3 lattice_rotation(vmat3 a, lattice_at constants, vf *by, vm *sound, vm *settled)
{
    const vf one = vf_set1(1.0f), two = vf_set1(2.0f), near = vf_set1(LATTICE_SETTLED);
    vf scale = lattice_constant(constants + LMI_LATTICE_SCALE * LATTICE_STRIDE), cube = scale * scale * scale, first,
       det;
    vf square = lattice_constant(constants + LMI_LATTICE_INVERSE_SQUARE * LATTICE_STRIDE);
    vmat3 y = lattice_grow(a, lattice_constant(constants + LMI_LATTICE_SPREAD * LATTICE_STRIDE), &first);
    *sound = vf_lt(vf_set1(LATTICE_LEAST_VOLUME), first * (vf_set1(8.0f) * cube));
    y = lattice_grow(y, square, &det);
    y = lattice_grow(y, vf_set1(4.0f) * square, &det);
    *by = scale * vf_set1(0.25f);
    *settled = vf_lt(vf_abs(det * (vf_set1(0.125f) * cube) - one), near);
    if (vm_any(vm_not(vm_and(*sound, *settled)))) {
        vmat3 next = lattice_grow(y, vf_set1(16.0f) * square, &det);
        for (int i = 0; i < 9; i++) {
            y.m[i] = vf_select(*settled, two * y.m[i], next.m[i]);
        }
        *by = scale * vf_set1(0.125f);
        *settled = vm_or(*settled, vf_lt(vf_abs(det * (vf_set1(0.015625f) * cube) - one), near));
    }
    return y;
}

/* The linear goal. With C the rest covariance, A the best affine map and W the root of C, A W is the fit in the metric in
 * which the rest shape is round, where match/volume.h works. `shaped` is R, or R P of a region that has flowed. */
static LMI_NOINLINE vmat3 lattice_linear(vmat3 a, vmat3 r, vmat3 shaped, lattice_at constants, lmi_follow follow)
{
    vf per = lattice_constant(constants + LMI_LATTICE_INVERSE_MASS * LATTICE_STRIDE);
    vm any = vf_lt(vf_set1(0.0f), per);
    vmat3 whiten = lattice_symmetric(constants + LMI_LATTICE_WHITEN * LATTICE_STRIDE);
    vmat3 colour = lattice_symmetric(constants + LMI_LATTICE_COLOUR * LATTICE_STRIDE);
    for (int i = 0; i < 9; i++) {
        a.m[i] = a.m[i] * per;
    }
    vmat3 rigid = vmat_multiply(shaped, whiten), round = vmat_select(any, vmat_multiply(a, colour), rigid);
    vf edge = lattice_constant(constants + LMI_LATTICE_INVERSE_EDGE * LATTICE_STRIDE);
    return vmat_multiply(lmi_linear_goal(round, r, rigid, edge, follow), colour);
}

/* Row i, column j of Apq - Q from moments (sum, then columns along z, y, x) and the region's centre. */
LMI_INLINE vf lattice_moved(const vf m[12], lattice_at constants, int i, int j)
{
    return m[9 - 3 * j + i] - m[i] * lattice_constant(constants + (LMI_LATTICE_CENTRE + j) * LATTICE_STRIDE);
}

/* Apq. */
LMI_INLINE vmat3 lattice_moment_matrix(const vf m[12], lattice_at constants)
{
    vmat3 a = lattice_symmetric(constants + LMI_LATTICE_REST * LATTICE_STRIDE);
    for (int n = 0; n < 9; n++) {
        a.m[n] = lattice_moved(m, constants, n / 3, n % 3) + a.m[n];
    }
    return a;
}

/* q and the columns of T along x, y, z from the goal's `by` t and the sum of the moments. */
LMI_INLINE void lattice_transform(vmat3 t, vf by, const vf m[3], lattice_at constants, vf out[12])
{
    vf rho = lattice_constant(constants + LMI_LATTICE_RHO * LATTICE_STRIDE), centre[3];
    vf share = rho * lattice_constant(constants + LMI_LATTICE_INVERSE_MASS * LATTICE_STRIDE);
    by = by * rho;
    for (int j = 0; j < 3; j++) {
        centre[j] = lattice_constant(constants + (LMI_LATTICE_CENTRE + j) * LATTICE_STRIDE);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[3 + 3 * j + i] = by * t.m[3 * i + j];
        }
        out[3 + 4 * i] = out[3 + 4 * i] - rho;
        vf shift = (out[3 + i] * centre[0] + out[6 + i] * centre[1]) + out[9 + i] * centre[2];
        out[i] = m[i] * share - shift;
    }
}

#endif
