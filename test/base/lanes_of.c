/* Compiled once for each instruction set. */
#include "test/base/lanes_of.h"

#include "base/lanes.h"

static void compute(const float *from_a, const float *from_b, lanes_results *r)
{
    r->less = r->less_or_first = r->not_less = r->both = r->any = r->lane = 0;
    for (int n = 0; n < LANES_MOST; n += LMI_LANES) {
        vf a = vf_load(from_a + n), b = vf_loadu(from_b + n);
        vf_store(r->min + n, vf_min(a, b));
        vf_store(r->max + n, vf_max(a, b));
        vf_store(r->root + n, vf_sqrt(a));
        vf_store(r->size + n, vf_abs(a));
        vf_store(r->chosen + n, vf_select(vf_lt(a, b), vf_set1(1.5f), a));
        vf_store(r->sum + n, a + b);
        vf_store(r->difference + n, a - b);
        vf_store(r->product + n, a * b);
        vf_store(r->quotient + n, a / b);
        vm less = vf_lt(a, b);
        r->less |= vm_bits(less) << n;
        r->less_or_first |= vm_bits(vm_or(less, vm_lane(0))) << n;
        r->not_less |= vm_bits(vm_not(less)) << n;
        r->both |= vm_bits(vm_and(less, vf_lt(vf_set1(0.0f), b))) << n;
        r->any |= (uint32_t)vm_any(less) << n;
    }
    for (int n = 0; n < LMI_LANES; n++) r->lane |= (vm_bits(vm_lane(n)) == 1u << n ? 1u : 0u) << n;
}

static void turn(const float *records, float *rows)
{
    for (int n = 0; n < LANES_MOST; n += LMI_LANES) {
        vf out[4];
        vf_load4(records + 4 * n, out);
        for (int c = 0; c < 4; c++) vf_store(rows + c * LANES_MOST + n, out[c]);
    }
}

static void turn_back(const float *rows, float *records)
{
    for (int n = 0; n < LANES_MOST; n += LMI_LANES)
        vf_store4(records + 4 * n, vf_load(rows + n), vf_load(rows + LANES_MOST + n),
                  vf_load(rows + 2 * LANES_MOST + n), vf_load(rows + 3 * LANES_MOST + n));
}

static void gather(const float *records, const uint32_t *index, float *rows)
{
    for (int n = 0; n < LANES_MOST; n += LMI_LANES) {
        vf out[4];
        vf_gather4(records, index + n, out);
        for (int c = 0; c < 4; c++) vf_store(rows + c * LANES_MOST + n, out[c]);
    }
}

static void near(const float *from, int k, float *to)
{
    for (int n = 0; n < LANES_MOST; n += LMI_LANES) vf_store(to + n, vf_near(from + n, k));
}

const lanes_tests LMI_KERNEL(lanes) = {LMI_LANES, compute, turn, turn_back, gather, near};
