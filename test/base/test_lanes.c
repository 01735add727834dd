/*
 * Lanes of every instruction set do what plain C does, to the last bit: rounding, numbers too small to be normal, zeros of either
 * sign, infinities, and what is no number. Without this no two machines would give the same hash.
 */
#include "test/base/lanes_of.h"
#include "test/support/support.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

/* All that is special, and next to it. The last ones: products and sums that fall between two floats, or below the smallest. */
static const uint32_t special[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x00400000,
    0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
    0x7fc00000, 0x7fc12345, 0x34000000, 0x33800000, 0x33800001, 0x1e3ce508, 0x20000000, 0x0da24260,
    0x40490fdb, 0xc2c80000, 0x4b7fffff, 0x4b800001, 0x3eaaaaab, 0x00000002,
};

enum { SPECIALS = sizeof special / sizeof special[0] };

static const struct {
    lm_isa isa;
    const lanes_tests *tests;
} sets[] = {
    {LM_ISA_SCALAR, &lmi_lanes_scalar},
#ifdef LMI_HAS_SSE2
    {LM_ISA_SSE2, &lmi_lanes_sse2},
#endif
#ifdef LMI_HAS_AVX2
    {LM_ISA_AVX2, &lmi_lanes_avx2},
#endif
#ifdef LMI_HAS_AVX512
    {LM_ISA_AVX512, &lmi_lanes_avx512},
#endif
#ifdef LMI_HAS_NEON
    {LM_ISA_NEON, &lmi_lanes_neon},
#endif
#ifdef LMI_HAS_SIMD128
    {LM_ISA_SIMD128, &lmi_lanes_simd128},
#endif
};

enum { SETS = sizeof sets / sizeof sets[0] };

/* The same bits; where the result is no number, which one is nobody's promise. */
static void check(const char *what, lm_isa isa, float a, float b, float got, float expected)
{
    if (bits_of(got) == bits_of(expected) || (isnan(got) && isnan(expected))) return;
    fail_msg("%s of %s: %a, %a: %a (%08x), expected %a (%08x)\n", what, lm_isa_name(isa), (double)a, (double)b,
             (double)got, (unsigned)bits_of(got), (double)expected, (unsigned)bits_of(expected));
}

/* Operands that the compiler cannot work out beforehand, and single precision at every step. */
static volatile float left, right;

static void check_pair(lm_isa isa, const lanes_results *r, int n, float a, float b)
{
    left = a;
    right = b;
    volatile float sum = left + right, difference = left - right, product = left * right, quotient = left / right;
    check("sum", isa, a, b, r->sum[n], sum);
    check("difference", isa, a, b, r->difference[n], difference);
    check("product", isa, a, b, r->product[n], product);
    check("quotient", isa, a, b, r->quotient[n], quotient);
    check("root", isa, a, b, r->root[n], sqrtf(left));
    /* The second where neither is less, bit by bit: zeros of either sign, and what is no number. */
    float min = a < b ? a : b, max = a > b ? a : b, chosen = a < b ? 1.5f : a;
    assert_true(bits_of(r->min[n]) == bits_of(min));
    assert_true(bits_of(r->max[n]) == bits_of(max));
    assert_true(bits_of(r->chosen[n]) == bits_of(chosen));
    assert_true(bits_of(r->size[n]) == (bits_of(a) & 0x7fffffff));
    bool less = a < b;
    assert_true((r->less >> n & 1) == less);
    assert_true((r->not_less >> n & 1) == !less);
    assert_true((r->both >> n & 1) == (less && 0.0f < b));
}

static void check_masks(const lanes_tests *t, const lanes_results *r)
{
    uint32_t of_piece = t->lanes == 16 ? 0xffff : (1u << t->lanes) - 1;
    assert_true(r->lane == of_piece);
    for (int n = 0; n < LANES_MOST; n++) {
        bool first = n % t->lanes == 0;
        assert_true((r->less_or_first >> n & 1) == ((r->less >> n & 1) || first));
        assert_true((r->any >> n & 1) == (first && (r->less >> n & of_piece) != 0));
    }
}

static void every_pair(lm_isa isa, const lanes_tests *t)
{
    for (int i = 0; i < SPECIALS; i++) {
        for (int j = 0; j < SPECIALS; j++) {
            _Alignas(64) float a[LANES_MOST], b[LANES_MOST];
            lanes_results r;
            for (int n = 0; n < LANES_MOST; n++) {
                a[n] = float_of(special[(i + n) % SPECIALS]);
                b[n] = float_of(special[(j + 7 * n) % SPECIALS]);
            }
            t->compute(a, b, &r);
            for (int n = 0; n < LANES_MOST; n++) check_pair(isa, &r, n, a[n], b[n]);
            check_masks(t, &r);
        }
    }
}

/* Any bits at all. */
static void random_pairs(lm_isa isa, const lanes_tests *t)
{
    uint64_t state = 26;
    for (int trial = 0; trial < 20000; trial++) {
        _Alignas(64) float a[LANES_MOST], b[LANES_MOST];
        lanes_results r;
        for (int n = 0; n < LANES_MOST; n++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint32_t x = (uint32_t)(state >> 32), y = (uint32_t)(state >> 13);
            /* No number that signals: loading one through the old unit of 32-bit x86 would change it. */
            a[n] = float_of((x & 0x7f800000) == 0x7f800000 ? x | 0x00400000 : x);
            b[n] = float_of((y & 0x7f800000) == 0x7f800000 ? y | 0x00400000 : y);
        }
        t->compute(a, b, &r);
        for (int n = 0; n < LANES_MOST; n++) check_pair(isa, &r, n, a[n], b[n]);
        check_masks(t, &r);
    }
}

static void arithmetic_is_that_of_c(void **state)
{
    (void)state;
    for (int k = 0; k < SETS; k++) {
        if (!lm_isa_supported(sets[k].isa)) continue;
        print_message("%s: %d lanes\n", lm_isa_name(sets[k].isa), sets[k].tests->lanes);
        every_pair(sets[k].isa, sets[k].tests);
        random_pairs(sets[k].isa, sets[k].tests);
    }
}

static void records_turn_into_rows(void **state)
{
    (void)state;
    for (int k = 0; k < SETS; k++) {
        if (!lm_isa_supported(sets[k].isa)) continue;
        const lanes_tests *t = sets[k].tests;
        _Alignas(64) float records[4 * LANES_MOST], rows[4 * LANES_MOST], back[4 * LANES_MOST];
        uint32_t index[LANES_MOST];
        for (int n = 0; n < 4 * LANES_MOST; n++) records[n] = (float)n;
        for (int n = 0; n < LANES_MOST; n++) index[n] = (uint32_t)(n * 5 + 3) % LANES_MOST;
        t->turn(records, rows);
        for (int n = 0; n < 4 * LANES_MOST; n++) assert_true(rows[n] == (float)(n % LANES_MOST * 4 + n / LANES_MOST));
        t->turn_back(rows, back);
        assert_memory_equal(back, records, sizeof back);
        t->gather(records, index, rows);
        for (int n = 0; n < 4 * LANES_MOST; n++)
            assert_true(rows[n] == (float)(index[n % LANES_MOST] * 4 + (uint32_t)(n / LANES_MOST)));
    }
}

static void neighbours_are_near(void **state)
{
    (void)state;
    for (int k = 0; k < SETS; k++) {
        if (!lm_isa_supported(sets[k].isa)) continue;
        _Alignas(64) float all[5 * LANES_MOST], to[LANES_MOST];
        for (int n = 0; n < 5 * LANES_MOST; n++) all[n] = (float)n;
        for (int by = -LANES_MOST + 1; by <= LANES_MOST; by++) {
            sets[k].tests->near(all + 2 * LANES_MOST, by, to);
            for (int n = 0; n < LANES_MOST; n++) assert_true(to[n] == (float)(2 * LANES_MOST + n + by));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_is_that_of_c),
        cmocka_unit_test(records_turn_into_rows),
        cmocka_unit_test(neighbours_are_near),
    };
    return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
