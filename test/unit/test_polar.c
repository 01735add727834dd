/*
 * The polar kernel of every instruction set against an independent double-precision solver: for every kind of matrix a
 * region can bring about, the rotation must be one, and as good as the best.
 */
#include "base/block.h"
#include "test/reference/reference.h"
#include "test/support/support.h"
#include "world/kernels.h"

#include <string.h>

#define BLOCKS 512
#define MATRICES (BLOCKS * LMI_BLOCK)

enum {
    KIND_RANDOM,    /* anything, mirrored ones among them */
    KIND_NEAR,      /* a little deformed: what a running body brings */
    KIND_MIRRORED,  /* determinant below 0, clearly */
    KIND_FLAT,      /* rank 2 */
    KIND_LINE,      /* rank 1 */
    KIND_ZERO,      /* rank 0 */
    KIND_LONG,      /* singular values over six decades */
    KIND_AMBIGUOUS, /* mirrored with two equal small singular values: many rotations are equally good */
    KIND_TINY,      /* 1e-18 of the usual size */
    KIND_HUGE,      /* 1e15 of it */
    KIND_COUNT
};

static const char *const kind_names[KIND_COUNT] = {"random", "near", "mirrored",  "flat", "line",
                                                   "zero",   "long", "ambiguous", "tiny", "huge"};

static ref_mat with_stretches(random_state *random, double a, double b, double c)
{
    ref_mat stretch = {{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
    ref_mat turn = random_rotation(random), axes = random_rotation(random);
    return ref_mat_mul(ref_mat_mul(turn, stretch), axes);
}

static ref_mat make_matrix(random_state *random, int kind)
{
    double s[3];
    for (int k = 0; k < 3; k++) s[k] = random_range(random, 0.2, 2.0);
    switch (kind) {
    case KIND_NEAR: return with_stretches(random, 0.8 + 0.2 * s[0], 0.8 + 0.2 * s[1], 0.8 + 0.2 * s[2]);
    case KIND_MIRRORED: return with_stretches(random, s[0] + 2.0, s[1] + 2.0, -s[2]);
    case KIND_FLAT: return with_stretches(random, s[0], s[1], 0.0);
    case KIND_LINE: return with_stretches(random, s[0], 0.0, 0.0);
    case KIND_ZERO: return (ref_mat){{{0}}};
    case KIND_LONG: {
        double middle = pow(10.0, random_range(random, -3, 0)), least = pow(10.0, random_range(random, -6, -3));
        return with_stretches(random, 1.0, middle, least);
    }
    case KIND_AMBIGUOUS: return with_stretches(random, s[0] + 2.0, s[1], -s[1]);
    case KIND_TINY: return ref_mat_scale(1e-18, with_stretches(random, s[0], s[1], s[2]));
    case KIND_HUGE: return ref_mat_scale(1e15, with_stretches(random, s[0], s[1], s[2]));
    default: {
        ref_mat a;
        for (int i = 0; i < 9; i++) a.at[i / 3][i % 3] = random_range(random, -1.0, 1.0);
        return a;
    }
    }
}

static void put(float *blocks, uint32_t index, ref_mat a)
{
    float *at = blocks + (size_t)(index / LMI_BLOCK) * 9 * LMI_BLOCK + index % LMI_BLOCK;
    for (int i = 0; i < 9; i++) at[i * LMI_BLOCK] = (float)a.at[i / 3][i % 3];
}

static ref_mat get(const float *blocks, uint32_t index)
{
    const float *at = blocks + (size_t)(index / LMI_BLOCK) * 9 * LMI_BLOCK + index % LMI_BLOCK;
    ref_mat a;
    for (int i = 0; i < 9; i++) a.at[i / 3][i % 3] = (double)at[i * LMI_BLOCK];
    return a;
}

static _Alignas(64) float matrices[BLOCKS * 9 * LMI_BLOCK], previous[BLOCKS * 9 * LMI_BLOCK];
static _Alignas(64) float first[BLOCKS * 9 * LMI_BLOCK], rotations[BLOCKS * 9 * LMI_BLOCK];

static void rotations_are_the_best_ones(void **context)
{
    (void)context;
    bool sound = true;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        random_state random = {(uint64_t)(100 + kind)};
        for (uint32_t n = 0; n < MATRICES; n++) {
            put(matrices, n, make_matrix(&random, kind));
            put(previous, n, random_rotation(&random));
        }
        for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
            if (!lm_isa_supported((lm_isa)isa)) continue;
            memcpy(rotations, previous, sizeof rotations);
            lmi_kernels_get((lm_isa)isa)->polar(matrices, NULL, rotations, BLOCKS);
            if (isa == LM_ISA_SCALAR) memcpy(first, rotations, sizeof first);
            assert_memory_equal(rotations, first, sizeof first); /* the same bits on all */
        }
        double bent = 0.0, missed = 0.0, flipped = 0.0;
        for (uint32_t n = 0; n < MATRICES; n++) {
            ref_mat a = get(matrices, n), r = get(first, n), u, v;
            double s[3];
            ref_svd(a, &u, s, &v);
            double size = s[0] + s[1] + fabs(s[2]), best = s[0] + s[1] + s[2];
            ref_mat square = ref_mat_mul(ref_transpose(r), r);
            for (int i = 0; i < 9; i++) bent = fmax(bent, fabs(square.at[i / 3][i % 3] - (i % 4 == 0)));
            flipped = fmax(flipped, fabs(ref_det(r) - 1.0));
            if (size > 0.0) missed = fmax(missed, (best - ref_trace(ref_mat_mul(ref_transpose(r), a))) / size);
        }
        if (bent < 1e-5 && flipped < 1e-4 && missed < 1e-5) continue;
        print_error("%s: orthogonal to %.3g, determinant to %.3g, trace short by %.3g\n", kind_names[kind], bent,
                    flipped, missed);
        sound = false;
    }
    assert_true(sound);
}

/* A region that has collapsed has a nearly double root, where rounding decides which way the iteration goes. Many of
 * them, since few go the wrong way: whatever comes out must be a rotation. */
static void collapsed_regions_give_rotations(void **context)
{
    (void)context;
    static const int kinds[] = {KIND_LINE, KIND_AMBIGUOUS, KIND_LONG};
    for (int k = 0; k < 3; k++) {
        random_state random = {(uint64_t)(200 + k)};
        for (int round = 0; round < 30; round++) {
            for (uint32_t n = 0; n < MATRICES; n++) {
                put(matrices, n, make_matrix(&random, kinds[k]));
                put(rotations, n, n > 0 && round > 0 ? get(rotations, n - 1) : random_rotation(&random));
            }
            lmi_kernels_get(LM_ISA_BEST)->polar(matrices, NULL, rotations, BLOCKS);
            for (uint32_t n = 0; n < MATRICES; n++) {
                ref_mat r = get(rotations, n), square = ref_mat_mul(ref_transpose(r), r);
                double bent = fabs(ref_det(r) - 1.0);
                for (int i = 0; i < 9; i++) bent = fmax(bent, fabs(square.at[i / 3][i % 3] - (i % 4 == 0)));
                if (!(bent < 1e-4))
                    fail_msg("%s, round %d, matrix %u: off by %g", kind_names[kinds[k]], round, n, bent);
            }
        }
    }
}

/* Where every rotation is equally good, the previous one stays; where a line is given, only what it says changes. */
static void the_previous_rotation_decides(void **context)
{
    (void)context;
    random_state random = {9};
    for (uint32_t n = 0; n < MATRICES; n++) {
        put(matrices, n, (ref_mat){{{0}}});
        put(previous, n, random_rotation(&random));
    }
    memcpy(rotations, previous, sizeof rotations);
    lmi_kernels_get(LM_ISA_SCALAR)->polar(matrices, NULL, rotations, BLOCKS);
    for (size_t k = 0; k < sizeof rotations / sizeof *rotations; k++) assert_near(rotations[k], previous[k], 1e-4);

    /* A straight region, in its own axes, says where one axis goes. It goes where it was: so do the others.
     * Rounding may make the free angle creep (nothing in the region can tell), but it must not jump. */
    for (uint32_t n = 0; n < MATRICES; n++) {
        ref_vec along = ref_scale(random_range(&random, 0.1, 10.0), ref_column(get(previous, n), 0));
        put(matrices, n, ref_from_columns(along, ref_v(0, 0, 0), ref_v(0, 0, 0)));
    }
    memcpy(rotations, previous, sizeof rotations);
    lmi_kernels_get(LM_ISA_SCALAR)->polar(matrices, NULL, rotations, BLOCKS);
    for (size_t k = 0; k < sizeof rotations / sizeof *rotations; k++) assert_near(rotations[k], previous[k], 5e-2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotations_are_the_best_ones),
        cmocka_unit_test(collapsed_regions_give_rotations),
        cmocka_unit_test(the_previous_rotation_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
