/*
 * What the lanes of one instruction set do with numbers (base/lanes.h): test_lanes.c compares it with plain C.
 */
#ifndef TEST_LANES_OF_H
#define TEST_LANES_OF_H

#include <stdint.h>

#define LANES_MOST 16

/* Of two rows of LANES_MOST floats, lane by lane. */
typedef struct lanes_results {
    _Alignas(64) float min[LANES_MOST], max[LANES_MOST], root[LANES_MOST], size[LANES_MOST], chosen[LANES_MOST];
    _Alignas(64) float sum[LANES_MOST], difference[LANES_MOST], product[LANES_MOST], quotient[LANES_MOST];
    uint32_t less, less_or_first, not_less, both,
        lane;     /* bits; `first`: lane 0 of each piece. `lane`: of vm_lane, one after the other */
    uint32_t any; /* bits: of the pieces that have a lane where a is less */
} lanes_results;

typedef struct lanes_tests {
    int lanes;
    void (*compute)(const float *a, const float *b, lanes_results *results);
    /* 16 records of x y z w into rows of 16 and back; and those that indices name. All aligned to 64 bytes. */
    void (*turn)(const float *records, float *rows);
    void (*turn_back)(const float *rows, float *records);
    void (*gather)(const float *records, const uint32_t *index, float *rows);
    void (*near)(const float *from, int k, float *to); /* 16 floats from k beyond `from` on */
} lanes_tests;

extern const lanes_tests lmi_lanes_scalar, lmi_lanes_sse2, lmi_lanes_avx2, lmi_lanes_avx512, lmi_lanes_neon,
    lmi_lanes_simd128;

#endif
