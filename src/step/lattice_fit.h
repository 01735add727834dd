/*
 * The fit of a lattice's regions: moments to transforms, in lanes.
 *
 * In the frame of the body and in spacings (step/lattice_step.h), with k the offset of a member from the region's own
 * particle, `centre` the mean of k and Q the rest moments:
 *
 *   Apq = sum m~ u k^T - (sum m~ u) centre^T + Q,    R = polar(Apq)
 *   T = rho (R - 1),    q = rho (sum m~ u / M) - T centre
 *
 * so that q + T k is where the region wants the particle at offset k, less its place in the rest shape: zero at rest.
 * A repetition or an empty lane has rho = 0, and so makes nothing. A region that has flowed (step/lattice_plastic.h) or has
 * examples (step/lattice_examples.c) has another rest shape. Rivers and James 2007, section 3.2.
 *
 * The rotation comes from Newton's iteration X <- (X + cof X / det X) / 2 for the polar decomposition (N. J. Higham 1986),
 * which squares the error and mends its own rounding. Its first step is X <- a X + b cof X / det X instead: the singular
 * values of the rest moments are known, and a and b bring them nearest to 1 at once (exactly, where two of them are equal:
 * inside a body, and at its faces and edges). A region at a surface is so as quick to fit as one inside. All later iterates
 * have singular values of at least 1, so that det X - 1 bounds what is left. Lanes that are turned inside out, nearly
 * singular or strained manyfold go to step/polar.c, which knows what to do with them.
 */
#ifndef LMI_LATTICE_FIT_H
#define LMI_LATTICE_FIT_H

#include "base/vmat.h"
#include "step/kernel_names.h"
#include "step/lattice_plastic.h"
#include "step/volume.h"

/* Below this determinant (1 is about the rest shape) Newton's iteration is not tried. */
#define LATTICE_LEAST_VOLUME 2e-2f

/* All lanes take three steps, lanes that are not settled by then a fourth, and few up to this many more. A lane is settled
 * by the step that starts at a determinant this near to 1: it leaves less than 5e-7, and what it leaves is a stretch, not a
 * turn. Three steps are enough for strains of a quarter inside a body. */
#define LATTICE_FURTHER 5
#define LATTICE_SETTLED 1e-3f

typedef struct lattice_material {
    bool stretch; /* linear: the constants for it are there */
    float beta;
    const lmi_lattice_plastic *plastic; /* or null */
    uint32_t affine;                    /* channel of the constants that it wants */
    const float *mix;                   /* of the examples, or null */
    uint32_t mix_stride;
} lattice_material;

/* Whether lattice_fit_quickly is for it. */
LMI_INLINE bool lattice_is_simple(const lattice_material *material)
{
    return !material->stretch && !material->plastic && !material->mix;
}

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

/* Rotations of the lanes that Newton's iteration is not for, which are those of `bits`; one block at a time. */
static __attribute__((noinline)) vmat3 lattice_rotation_otherwise(vmat3 a, vmat3 r, uint32_t bits)
{
    _Alignas(64) float in[9 * LMI_BLOCK], out[9 * LMI_BLOCK], whole[9 * LMI_LANES];
    for (int n = 0; n < 9; n++) {
        for (int lane = 0; lane < LMI_BLOCK; lane++) {
            in[n * LMI_BLOCK + lane] = out[n * LMI_BLOCK + lane] = n % 4 == 0 ? 1.0f : 0.0f;
        }
        vf_store(whole + n * LMI_LANES, a.m[n]);
        for (uint32_t left = bits; left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            in[n * LMI_BLOCK + lane] = whole[n * LMI_LANES + lane];
        }
    }
    LMI_KERNEL(polar)(in, NULL, out, 1);
    for (int n = 0; n < 9; n++) {
        vf_store(whole + n * LMI_LANES, r.m[n]);
        for (uint32_t left = bits; left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            whole[n * LMI_LANES + lane] = out[n * LMI_BLOCK + lane];
        }
        r.m[n] = vf_load(whole + n * LMI_LANES);
    }
    return r;
}

/* Of lanes that were not settled. What a lane gets does not depend on its neighbours. */
static __attribute__((noinline)) vmat3 lattice_rotation_further(vmat3 a, vmat3 x, vm settled, vm sound)
{
    for (int n = 0; n < LATTICE_FURTHER && vm_any(vm_and(sound, vm_not(settled))); n++) {
        vf det;
        vmat3 next = lattice_newton(x, &det);
        x = vmat_select(settled, x, next);
        settled = vm_or(settled, vf_lt(vf_abs(det - vf_set1(1.0f)), vf_set1(LATTICE_SETTLED)));
    }
    uint32_t others = vm_bits(vm_not(vm_and(sound, settled)));
    return others ? lattice_rotation_otherwise(a, x, others) : x;
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
LMI_INLINE vmat3 lattice_rotation(vmat3 a, const float *constants, vf *by, vm *sound, vm *settled)
{
    const vf one = vf_set1(1.0f), two = vf_set1(2.0f), near = vf_set1(LATTICE_SETTLED);
    vf scale = lattice_constant(constants + LMI_LATTICE_SCALE * LMI_BLOCK), cube = scale * scale * scale, first, det;
    vf square = lattice_constant(constants + LMI_LATTICE_INVERSE_SQUARE * LMI_BLOCK);
    vmat3 y = lattice_grow(a, lattice_constant(constants + LMI_LATTICE_SPREAD * LMI_BLOCK), &first);
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
 * which the rest shape is round, where step/volume.h works. `shaped` is R, or R P of a region that has flowed. */
static __attribute__((noinline)) vmat3 lattice_linear(vmat3 a, vmat3 r, vmat3 shaped, const float *constants,
                                                      float beta)
{
    vf per = lattice_constant(constants + LMI_LATTICE_INVERSE_MASS * LMI_BLOCK);
    vm any = vf_lt(vf_set1(0.0f), per);
    vmat3 whiten = lattice_symmetric(constants + LMI_LATTICE_WHITEN * LMI_BLOCK);
    vmat3 colour = lattice_symmetric(constants + LMI_LATTICE_COLOUR * LMI_BLOCK);
    for (int i = 0; i < 9; i++) {
        a.m[i] = a.m[i] * per;
    }
    vmat3 rigid = vmat_multiply(shaped, whiten), round = vmat_select(any, vmat_multiply(a, colour), rigid);
    vf edge = lattice_constant(constants + LMI_LATTICE_INVERSE_EDGE * LMI_BLOCK);
    return vmat_multiply(lmi_linear_goal(round, r, rigid, edge, vf_set1(beta)), colour);
}

/* Row i, column j of Apq - Q from moments (sum, then columns along z, y, x) and the region's centre. */
LMI_INLINE vf lattice_moved(const vf m[12], const float *constants, int i, int j)
{
    return m[9 - 3 * j + i] - m[i] * lattice_constant(constants + (LMI_LATTICE_CENTRE + j) * LMI_BLOCK);
}

/* Apq. */
LMI_INLINE vmat3 lattice_moment_matrix(const vf m[12], const float *constants)
{
    vmat3 a = lattice_symmetric(constants + LMI_LATTICE_REST * LMI_BLOCK);
    for (int n = 0; n < 9; n++) {
        a.m[n] = lattice_moved(m, constants, n / 3, n % 3) + a.m[n];
    }
    return a;
}

/* q and the columns of T along x, y, z from the goal's `by` t and the sum of the moments. */
LMI_INLINE void lattice_transform(vmat3 t, vf by, const vf m[3], const float *constants, vf out[12])
{
    vf rho = lattice_constant(constants + LMI_LATTICE_RHO * LMI_BLOCK), centre[3];
    vf share = rho * lattice_constant(constants + LMI_LATTICE_INVERSE_MASS * LMI_BLOCK);
    by = by * rho;
    for (int j = 0; j < 3; j++) {
        centre[j] = lattice_constant(constants + (LMI_LATTICE_CENTRE + j) * LMI_BLOCK);
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

/* Moments to transforms of a rigid material that does not flow. False where a lane needs more than this: then nothing of it
 * counts, and lattice_fit is to be called. Nothing here is called and nothing outlives the iteration that can be loaded
 * again: all of it stays in registers, and is stored nowhere. */
LMI_INLINE bool lattice_fit_quickly(const vf m[12], const float *constants, vf out[12])
{
    vf by;
    vm sound, settled;
    vmat3 a = lattice_moment_matrix(m, constants);
    vmat3 t = lattice_rotation(a, constants, &by, &sound, &settled);
    LMI_LOAD_AGAIN();
    lattice_transform(t, by, m, constants, out);
    return !vm_any(vm_not(vm_and(sound, settled)));
}

/* The rotation of `a` and what it is to be multiplied by, whatever the lanes need. */
LMI_INLINE vmat3 lattice_any_rotation(vmat3 a, const float *constants, vf *by)
{
    vm sound, settled;
    vf scale = lattice_constant(constants + LMI_LATTICE_SCALE * LMI_BLOCK);
    vmat3 y = lattice_rotation(a, constants, by, &sound, &settled), x;
    vm done = vm_and(sound, settled);
    if (!vm_any(vm_not(done))) {
        return y;
    }
    for (int i = 0; i < 9; i++) {
        x.m[i] = y.m[i] * *by;
        a.m[i] = a.m[i] * scale;
    }
    *by = vf_select(done, *by, vf_set1(1.0f));
    return vmat_select(done, y, lattice_rotation_further(a, x, settled, sound));
}

/* Moments to transforms of any material, of lanes of a block from `lane` on, whose constants are at `constants`. */
static __attribute__((noinline)) void lattice_fit(const vf m[12], const float *constants,
                                                  const lattice_material *material, uint32_t block, size_t lane,
                                                  vf out[12])
{
    const float *affine = constants + material->affine * LMI_BLOCK;
    vmat3 a = lattice_moment_matrix(m, constants), shape = a, moved, p;
    for (int n = 0; n < 9; n++) {
        moved.m[n] = lattice_moved(m, constants, n / 3, n % 3);
    }
    bool flowed = material->plastic && lattice_may_be_plastic(material->plastic, affine, block, moved);
    if (flowed) {
        p = lattice_flow(material->plastic, a, affine, block, lane);
        shape = vmat_multiply(a, p);
    }
    if (material->mix) { /* the rest shape is the mix, after what has flowed */
        vmat3 mix = lattice_symmetric(material->mix + (size_t)block * material->mix_stride + lane);
        p = flowed ? vmat_multiply(mix, p) : mix;
        shape = vmat_multiply(a, vmat_transpose(p));
        flowed = true;
    }
    vf by;
    vmat3 t = lattice_any_rotation(shape, constants, &by);
    if (material->stretch || flowed) {
        for (int i = 0; i < 9; i++) {
            t.m[i] = t.m[i] * by;
        }
        by = vf_set1(1.0f);
        vmat3 shaped = flowed ? vmat_multiply(t, p) : t;
        t = material->stretch ? lattice_linear(a, t, shaped, constants, material->beta) : shaped;
    }
    lattice_transform(t, by, m, constants, out);
}

#endif
