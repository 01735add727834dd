/*
 * Examples in lanes: a region's deformation measured, its own mix found, and the mix applied. See examples.h.
 *
 * The stretch S is the root of C = A^T A. With the sums i1 = s1 + s2 + s3, i2 = s1 s2 + s2 s3 + s3 s1 and the product i3 of
 * its stretches, the theorem of Cayley and Hamilton gives S = (C + i2)^-1 (i1 C + i3). i3 is the root of det C, and i1 the
 * largest root of
 *
 *     (x² - tr C)² - 8 i3 x - 4 (sum of the principal minors of C)
 *
 * found by Newton's iteration from above, where it cannot fail: quickly when the region is not squashed to a line, and near
 * enough when it is. A region that is inside out has the stretch of its mirror image.
 */
#ifndef LMI_EXAMPLE_LANES_H
#define LMI_EXAMPLE_LANES_H

#include "base/vmat.h"
#include "examples.h"

#define number vf
#define mask vm
#define number_set1(a) vf_set1(a)
#define number_lt(a, b) vf_lt(a, b)
#define number_select(m, yes, no) vf_select(m, yes, no)
#define number_max(a, b) vf_max(a, b)
#define number_abs(a) vf_abs(a)
#define mask_and(a, b) vm_and(a, b)
#define mask_or(a, b) vm_or(a, b)
#define mask_not(a) vm_not(a)
#define mask_any(a) vm_any(a)
#define PROJECT_TOLERANCE 2e-6f
#define PROJECT_LEAST_PIVOT 1e-7f
#define PROJECT_INLINE static inline __attribute__((always_inline))
#include "step/project.h"
#undef number
#undef mask

/* Newton steps that all lanes take, and that lanes take besides whose last one was longer than this: it squares the error. */
#define STRETCH_STEPS 2
#define STRETCH_FURTHER 7
#define STRETCH_SETTLED 2e-4f

/* i2 of a region squashed to a line, in units of tr C; and how far a stretch counts. */
#define STRETCH_LEAST 1e-6f
#define STRETCH_MOST 1e4f

/* One step towards i1, and how long it was. */
static inline vf stretch_step(vf i1, vf i3, vf minors, vf *length)
{
    vf t = i1 * i1 - vf_set1(1.0f), value = t * t - (vf_set1(8.0f) * i3 * i1 + vf_set1(4.0f) * minors);
    vf slope = vf_set1(4.0f) * i1 * t - vf_set1(8.0f) * i3;
    *length = value / vf_max(slope, vf_set1(1e-5f));
    return i1 - *length;
}

/* The sum of the stretches of a matrix of trace 1, from above. What a lane gets does not depend on its neighbours. */
static inline vf stretch_sum(vf i3, vf minors)
{
    vf i1 = vf_set1(1.7320508f), length = i1;
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

/* S - 1 from C: xx yy zz xy yz zx. */
static inline void example_stretch(vmat3 c, vf out[6])
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    vf trace = vf_max(c.m[0] + c.m[4] + c.m[8], vf_set1(1e-30f)), per = one / trace;
    for (int i = 0; i < 9; i++) {
        c.m[i] = c.m[i] * per; /* so that nothing overflows */
    }
    vmat3 cofactors = vmat_cofactors(c);
    vf minors = vf_max(cofactors.m[0] + cofactors.m[4] + cofactors.m[8], zero);
    vf i3 = vf_sqrt(vf_max(vmat_determinant(c, cofactors), zero)), i1 = stretch_sum(i3, minors);
    vf i2 = vf_max(vf_set1(0.5f) * (i1 * i1 - one), vf_set1(STRETCH_LEAST));
    vmat3 low = c, high = c;
    for (int i = 0; i < 9; i++) {
        high.m[i] = i1 * high.m[i];
    }
    for (int i = 0; i < 9; i += 4) {
        low.m[i] = low.m[i] + i2;
        high.m[i] = high.m[i] + i3;
    }
    vmat3 inverse = vmat_cofactors(low);
    vf size = vf_sqrt(trace);
    size = vf_select(vf_lt(size, vf_set1(STRETCH_MOST)), size, vf_set1(STRETCH_MOST));
    size = size / vmat_determinant(low, inverse);
    vmat3 root = vmat_multiply(inverse, high); /* both are symmetric and have the same axes */
    static const int from[6] = {0, 4, 8, 1, 5, 6};
    for (int i = 0; i < 6; i++) {
        out[i] = root.m[from[i]] * size - (i < 3 ? one : zero);
    }
}

/* <D, E> of symmetric matrices. */
static inline vf example_product(const float *d, const vf e[6])
{
    vf straight = vf_load(d) * e[0] + vf_load(d + LMI_BLOCK) * e[1] + vf_load(d + 2 * LMI_BLOCK) * e[2];
    vf across =
        vf_load(d + 3 * LMI_BLOCK) * e[3] + vf_load(d + 4 * LMI_BLOCK) * e[4] + vf_load(d + 5 * LMI_BLOCK) * e[5];
    return straight + vf_set1(2.0f) * across;
}

/* The mix of each lane by itself, but where it is forced. From one substep to the next mostly the same examples are in it:
 * the last weights, which are state for that reason, save most of the rounds. */
static inline void example_own_mix(float *at, int n, const vf dots[])
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
    switch (n) { /* a copy of the code for each small number, in which all loops are unrolled */
    case 1: project_weights(1, gram, b, last, w); break;
    case 2: project_weights(2, gram, b, last, w); break;
    case 3: project_weights(3, gram, b, last, w); break;
    case 4: project_weights(4, gram, b, last, w); break;
    default: project_weights(n, gram, b, last, w); break;
    }
    for (int k = 0; k < n; k++) {
        float *to = at + (LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK;
        vf_store(to, vf_select(forced, last[k], w[k]));
    }
}

/* From C of the lanes at `at` to what their group wants to know, or to their own mix. */
static inline void example_measure(float *at, int n, bool own_mix, vmat3 c)
{
    vf e[6], dots[LM_MAX_EXAMPLES], mass = vf_load(at + LMI_EXAMPLE_MASS * LMI_BLOCK);
    example_stretch(c, e);
    for (int k = 0; k < n; k++) {
        dots[k] = example_product(at + ((int)lmi_example_deviations((uint32_t)n) + 6 * k) * LMI_BLOCK, e);
    }
    if (own_mix) {
        example_own_mix(at, n, dots);
        return;
    }
    for (int k = 0; k < n; k++) {
        vf_store(at + ((int)lmi_example_dots((uint32_t)n) + k) * LMI_BLOCK, dots[k] * mass);
    }
}

/* The stretch of the mix from its weights: 1 + beta sum w_k D_k. */
static inline void example_mix(float *at, int n)
{
    vf sum[6], beta = vf_load(at + LMI_EXAMPLE_BETA * LMI_BLOCK);
    for (int i = 0; i < 6; i++) {
        sum[i] = vf_set1(i < 3 ? 1.0f : 0.0f);
    }
    for (int k = 0; k < n; k++) {
        const float *d = at + ((int)lmi_example_deviations((uint32_t)n) + 6 * k) * LMI_BLOCK;
        vf w = beta * vf_load(at + (LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK);
        for (int i = 0; i < 6; i++) {
            sum[i] = sum[i] + w * vf_load(d + i * LMI_BLOCK);
        }
    }
    for (int i = 0; i < 6; i++) {
        vf_store(at + (LMI_EXAMPLE_STRETCH + i) * LMI_BLOCK, sum[i]);
    }
}

#endif
