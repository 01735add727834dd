/*
 * The fit of a lattice's regions: moments to transforms, in lanes.
 *
 * In the frame of the body and in spacings (lattice/lattice_step.h), with k the offset of a member from the region's own
 * particle, `centre` the mean of k and Q the rest moments:
 *
 *   Apq = sum m~ u k^T - (sum m~ u) centre^T + Q,    R = polar(Apq)
 *   T = rho (R - 1),    q = rho (sum m~ u / M) - T centre
 *
 * so that q + T k is where the region wants the particle at offset k, less its place in the rest shape: zero at rest.
 * A repetition or an empty lane has rho = 0, and so makes nothing. A region that has flowed (lattice/lattice_plastic.h) or has
 * examples (lattice/lattice_examples.c) has another rest shape. Rivers and James 2007, section 3.2.
 *
 * The rotation comes from Newton's iteration X <- (X + cof X / det X) / 2 for the polar decomposition (N. J. Higham 1986),
 * which squares the error and mends its own rounding. Its first step is X <- a X + b cof X / det X instead: the singular
 * values of the rest moments are known, and a and b bring them nearest to 1 at once (exactly, where two of them are equal:
 * inside a body, and at its faces and edges). A region at a surface is so as quick to fit as one inside. All later iterates
 * have singular values of at least 1, so that det X - 1 bounds what is left. Lanes that are turned inside out, nearly
 * singular or strained manyfold go to match/polar.c, which knows what to do with them.
 */
#ifndef LMI_LATTICE_FIT_H
#define LMI_LATTICE_FIT_H

#include "base/compiler.h"
#include "base/vmat.h"
#include "lattice/lattice_plastic.h"
#include "lattice/lattice_rotation.h"
#include "world/kernel_names.h"

typedef struct lattice_material {
    bool stretch; /* linear: the constants for it are there */
    float beta, beyond;
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

/* Rotations of the lanes that Newton's iteration is not for, which are those of `bits`; one block at a time. */
static LMI_NOINLINE vmat3 lattice_rotation_otherwise(vmat3 a, vmat3 r, uint32_t bits)
{
    _Alignas(64) float in[9 * LMI_BLOCK], out[9 * LMI_BLOCK], whole[9 * LMI_LANES];
    for (int n = 0; n < 9; n++) {
        for (int lane = 0; lane < LMI_BLOCK; lane++) {
            in[n * LMI_BLOCK + lane] = out[n * LMI_BLOCK + lane] = n % 4 == 0 ? 1.0f : 0.0f;
        }
        vf_store(whole + n * LMI_LANES, a.m[n]);
        for (uint32_t left = bits; left; left &= left - 1) {
            int lane = lmi_low_bit(left);
            in[n * LMI_BLOCK + lane] = whole[n * LMI_LANES + lane];
        }
    }
    LMI_KERNEL(polar)(in, NULL, out, 1);
    for (int n = 0; n < 9; n++) {
        vf_store(whole + n * LMI_LANES, r.m[n]);
        for (uint32_t left = bits; left; left &= left - 1) {
            int lane = lmi_low_bit(left);
            whole[n * LMI_LANES + lane] = out[n * LMI_BLOCK + lane];
        }
        r.m[n] = vf_load(whole + n * LMI_LANES);
    }
    return r;
}

/* Of lanes that were not settled. What a lane gets does not depend on its neighbours. */
static LMI_NOINLINE vmat3 lattice_rotation_further(vmat3 a, vmat3 x, vm settled, vm sound)
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
static LMI_NOINLINE void lattice_fit(const vf m[12], const float *constants, const lattice_material *material,
                                     uint32_t block, size_t lane, vf out[12])
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
    /* The same way for all regions that may flow: which lanes are watched together depends on how many a vector has. */
    if (material->stretch || material->plastic || flowed) {
        for (int i = 0; i < 9; i++) {
            t.m[i] = t.m[i] * by;
        }
        by = vf_set1(1.0f);
        vmat3 shaped = flowed ? vmat_multiply(t, p) : t;
        const lmi_follow follow = {vf_set1(material->beta), vf_set1(material->beyond)};
        t = material->stretch ? lattice_linear(a, t, shaped, constants, follow) : shaped;
    }
    lattice_transform(t, by, m, constants, out);
}

#endif
