/*
 * Examples in lanes: a region's deformation measured, its own mix found, and the mix applied. See examples.h.
 *
 * The stretch S is the root of C = A^T A. With the sums i1 = s1 + s2 + s3, i2 = s1 s2 + s2 s3 + s3 s1 and the product i3 of
 * its stretches, the theorem of Cayley and Hamilton gives S = (C + i2)^-1 (i1 C + i3). i3 is the root of det C, and i1 the
 * largest root of
 *
 *     (x² - tr C)² - 8 i3 x - 4 (sum of the principal minors of C)
 *
 * found by Halley's iteration, which triples the digits of each step and cannot fail here, because all four roots
 * +- s1 +- s2 +- s3 of an even number of minuses are real. It starts from what i1 is to second order in the strain. A region
 * that is inside out has the stretch of its mirror image.
 */
#ifndef LMI_EXAMPLE_LANES_H
#define LMI_EXAMPLE_LANES_H

#include "base/vmat.h"
#include "match/examples.h"

#include "match/project_lanes.h" /* before the next */

#include "match/project.h"
#undef number
#undef mask

/* Steps that all lanes take, and that lanes take besides whose last one was longer than this: the next is as long as its
 * cube. */
#define STRETCH_STEPS 2
#define STRETCH_FURTHER 6
#define STRETCH_SETTLED 2e-3f

/* i2 of a region squashed to a line, in units of tr C; and how far a stretch counts. */
#define STRETCH_LEAST 1e-6f
#define STRETCH_MOST 1e4f

/* A symmetric matrix in lanes. Named elements, not an array: compilers then keep them in registers. */
typedef struct vsym {
    vf xx, yy, zz, xy, yz, zx;
} vsym;

static inline vsym vsym_load(const float *at)
{
    vsym s = {vf_load(at),
              vf_load(at + LMI_BLOCK),
              vf_load(at + 2 * LMI_BLOCK),
              vf_load(at + 3 * LMI_BLOCK),
              vf_load(at + 4 * LMI_BLOCK),
              vf_load(at + 5 * LMI_BLOCK)};
    return s;
}

static inline vmat3 vsym_matrix(vsym s)
{
    vmat3 m = {{s.xx, s.xy, s.zx, s.xy, s.yy, s.yz, s.zx, s.yz, s.zz}};
    return m;
}

static inline vsym vsym_of(vmat3 m)
{
    vsym s = {m.m[0], m.m[4], m.m[8], m.m[1], m.m[5], m.m[2]};
    return s;
}

/* a^T a */
static inline vsym vsym_square(vmat3 a)
{
    vsym s = {a.m[0] * a.m[0] + a.m[3] * a.m[3] + a.m[6] * a.m[6], a.m[1] * a.m[1] + a.m[4] * a.m[4] + a.m[7] * a.m[7],
              a.m[2] * a.m[2] + a.m[5] * a.m[5] + a.m[8] * a.m[8], a.m[0] * a.m[1] + a.m[3] * a.m[4] + a.m[6] * a.m[7],
              a.m[1] * a.m[2] + a.m[4] * a.m[5] + a.m[7] * a.m[8], a.m[2] * a.m[0] + a.m[5] * a.m[3] + a.m[8] * a.m[6]};
    return s;
}

static inline vsym vsym_cofactors(vsym s)
{
    vsym c = {s.yy * s.zz - s.yz * s.yz, s.zz * s.xx - s.zx * s.zx, s.xx * s.yy - s.xy * s.xy,
              s.yz * s.zx - s.xy * s.zz, s.zx * s.xy - s.yz * s.xx, s.xy * s.yz - s.zx * s.yy};
    return c;
}

static inline vf vsym_determinant(vsym s, vsym cofactors)
{
    return s.xx * cofactors.xx + s.xy * cofactors.xy + s.zx * cofactors.zx;
}

/* One step towards i1, and how long it was. */
static inline vf stretch_step(vf i1, vf i3, vf minors, vf *length)
{
    vf t = i1 * i1 - vf_set1(1.0f), value = t * t - (vf_set1(8.0f) * i3 * i1 + vf_set1(4.0f) * minors);
    vf slope = vf_set1(4.0f) * i1 * t - vf_set1(8.0f) * i3, half_bend = vf_set1(6.0f) * t + vf_set1(4.0f);
    *length = value * slope / vf_max(slope * slope - value * half_bend, vf_set1(1e-10f));
    return i1 - *length;
}

/* The sum of the stretches of a matrix of trace 1. What a lane gets does not depend on its neighbours. */
static inline vf stretch_sum(vf i3, vf minors)
{
    vf length, i1 = vf_set1(1.2990381f) + vf_set1(1.2990381f) * minors; /* 3/4 of the root of 3, which it is at rest */
    for (int n = 0; n < STRETCH_STEPS; n++) {
        i1 = stretch_step(i1, i3, minors, &length);
    }
    vm far = vf_lt(vf_set1(STRETCH_SETTLED), vf_abs(length));
    for (int n = 0; n < STRETCH_FURTHER && vm_any(far); n++) {
        i1 = vf_select(far, stretch_step(i1, i3, minors, &length), i1);
        far = vm_and(far, vf_lt(vf_set1(STRETCH_SETTLED), vf_abs(length)));
    }
    return vf_max(i1, vf_set1(1.0f));
}

/* S - 1 from C. */
static inline vsym example_stretch(vsym c)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    vf trace = vf_max(c.xx + c.yy + c.zz, vf_set1(1e-30f)), per = one / trace;
    c = (vsym){c.xx * per, c.yy * per, c.zz * per, c.xy * per, c.yz * per, c.zx * per}; /* so that nothing overflows */
    vsym k = vsym_cofactors(c);
    vf minors = vf_max(k.xx + k.yy + k.zz, zero), i3 = vf_sqrt(vf_max(vsym_determinant(c, k), zero));
    vf i1 = stretch_sum(i3, minors);
    vf i2 = vf_max(vf_set1(0.5f) * (i1 * i1 - one), vf_set1(STRETCH_LEAST));
    vsym low = {c.xx + i2, c.yy + i2, c.zz + i2, c.xy, c.yz, c.zx};
    vsym high = {i1 * c.xx + i3, i1 * c.yy + i3, i1 * c.zz + i3, i1 * c.xy, i1 * c.yz, i1 * c.zx};
    k = vsym_cofactors(low);
    vf size = vf_sqrt(trace);
    size = vf_select(vf_lt(size, vf_set1(STRETCH_MOST)), size, vf_set1(STRETCH_MOST));
    size = size / vsym_determinant(low, k);
    /* The product of the inverse and `high`, which is symmetric because both have the same axes. */
    vsym s = {(k.xx * high.xx + k.xy * high.xy + k.zx * high.zx) * size - one,
              (k.xy * high.xy + k.yy * high.yy + k.yz * high.yz) * size - one,
              (k.zx * high.zx + k.yz * high.yz + k.zz * high.zz) * size - one,
              (k.xx * high.xy + k.xy * high.yy + k.zx * high.yz) * size,
              (k.xy * high.zx + k.yy * high.yz + k.yz * high.zz) * size,
              (k.zx * high.xx + k.yz * high.xy + k.zz * high.zx) * size};
    return s;
}

/* <D, E> of symmetric matrices. */
static inline vf example_product(vsym d, vsym e)
{
    vf straight = d.xx * e.xx + d.yy * e.yy + d.zz * e.zz, across = d.xy * e.xy + d.yz * e.yz + d.zx * e.zx;
    return straight + vf_set1(2.0f) * across;
}

/* The mix of each lane by itself, but where it is forced. From one substep to the next mostly the same examples are in it:
 * the last weights, which are state for that reason, save most of the rounds. */
PROJECT_INLINE void example_own_mix(float *at, int n, const vf dots[])
{
    vf gram[LM_MAX_EXAMPLES * (LM_MAX_EXAMPLES + 1) / 2], b[LM_MAX_EXAMPLES], w[LM_MAX_EXAMPLES], last[LM_MAX_EXAMPLES];
    vf scale = vf_load(at + LMI_EXAMPLE_SCALE * LMI_BLOCK);
    vm forced = vf_lt(vf_set1(0.5f), vf_load(at + LMI_EXAMPLE_FORCED * LMI_BLOCK));
    for (int k = 0; k < n * (n + 1) / 2; k++) {
        gram[k] = vf_load(at + ((int)lmi_example_gram((uint32_t)n) + k) * LMI_BLOCK);
    }
    for (int k = 0; k < n; k++) {
        b[k] = dots[k] * scale;
        last[k] = vf_load(at + (LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK);
    }
    project_weights(n, gram, b, last, w);
    for (int k = 0; k < n; k++) {
        float *to = at + (LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK;
        vf_store(to, vf_select(forced, last[k], w[k]));
    }
}

PROJECT_INLINE void example_measure_n(float *at, int n, bool own_mix, vsym e)
{
    vf dots[LM_MAX_EXAMPLES], mass = vf_load(at + LMI_EXAMPLE_MASS * LMI_BLOCK);
    for (int k = 0; k < n; k++) {
        dots[k] = example_product(vsym_load(at + ((int)lmi_example_deviations((uint32_t)n) + 6 * k) * LMI_BLOCK), e);
    }
    if (own_mix) {
        example_own_mix(at, n, dots);
        return;
    }
    for (int k = 0; k < n; k++) {
        vf_store(at + ((int)lmi_example_dots((uint32_t)n) + k) * LMI_BLOCK, dots[k] * mass);
    }
}

/* Every step of a stretch waits for the one before. So many vectors take each step together, so that none waits for long. */
#define EXAMPLE_AT_ONCE 8

/* From C to S - 1, in place. */
static void example_stretches(vsym *c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        c[i] = example_stretch(c[i]);
    }
}

/* From S - 1 of the lanes at `at` to what their group wants to know, or to their own mix. */
static inline void example_measure(float *at, int count, bool own_mix, vsym e)
{
    switch (count) { /* a copy of the code for each small number, in which all loops are unrolled */
    case 1: example_measure_n(at, 1, own_mix, e); break;
    case 2: example_measure_n(at, 2, own_mix, e); break;
    case 3: example_measure_n(at, 3, own_mix, e); break;
    case 4: example_measure_n(at, 4, own_mix, e); break;
    default: example_measure_n(at, count, own_mix, e); break;
    }
}

PROJECT_INLINE vsym example_mix_n(const float *at, int n)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f), beta = vf_load(at + LMI_EXAMPLE_BETA * LMI_BLOCK);
    vsym sum = {one, one, one, zero, zero, zero};
    for (int k = 0; k < n; k++) {
        vsym d = vsym_load(at + ((int)lmi_example_deviations((uint32_t)n) + 6 * k) * LMI_BLOCK);
        vf w = beta * vf_load(at + (LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK);
        sum = (vsym){sum.xx + w * d.xx, sum.yy + w * d.yy, sum.zz + w * d.zz,
                     sum.xy + w * d.xy, sum.yz + w * d.yz, sum.zx + w * d.zx};
    }
    return sum;
}

/* The stretch of the mix from its weights, 1 + beta sum w_k D_k, which is written to its channels too. */
static inline vsym example_mix(float *at, int count)
{
    vsym sum;
    float *to = at + LMI_EXAMPLE_STRETCH * LMI_BLOCK;
    switch (count) {
    case 1: sum = example_mix_n(at, 1); break;
    case 2: sum = example_mix_n(at, 2); break;
    case 3: sum = example_mix_n(at, 3); break;
    case 4: sum = example_mix_n(at, 4); break;
    default: sum = example_mix_n(at, count); break;
    }
    vf_store(to, sum.xx);
    vf_store(to + LMI_BLOCK, sum.yy);
    vf_store(to + 2 * LMI_BLOCK, sum.zz);
    vf_store(to + 3 * LMI_BLOCK, sum.xy);
    vf_store(to + 4 * LMI_BLOCK, sum.yz);
    vf_store(to + 5 * LMI_BLOCK, sum.zx);
    return sum;
}

#endif
