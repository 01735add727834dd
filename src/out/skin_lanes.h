/*
 * What the kernels of skins share: blocks of vertices on their way out, and normals of length 1. Include after
 * base/lanes.h.
 */
#ifndef LMI_SKIN_LANES_H
#define LMI_SKIN_LANES_H

#include "base/lanes.h"
#include "limber/limber.h"

#include <string.h>

typedef struct block_out {
    _Alignas(64) float position[LMI_BLOCK][4];
    _Alignas(64) float normal[LMI_BLOCK][4];
} block_out;

/* To length 1; zero where there is none. */
static inline void to_unit_length(vf n[3])
{
    /* Squares of what is almost flat would vanish. */
    vf largest = vf_max(vf_max(vf_abs(n[0]), vf_abs(n[1])), vf_abs(n[2]));
    vm any = vf_lt(vf_set1(1e-30f), largest);
    vf divisor = vf_select(any, largest, vf_set1(1.0f));
    for (int i = 0; i < 3; i++) {
        n[i] = n[i] / divisor;
    }
    vf length = vf_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++) {
        n[i] = vf_select(any, n[i] / vf_select(any, length, vf_set1(1.0f)), vf_set1(0.0f));
    }
}

static inline void write_block(const float *from, uint32_t count, lm_vec3 *to)
{
    for (uint32_t lane = 0; to && lane < count; lane++) {
        memcpy(&to[lane], from + 4 * (size_t)lane, sizeof to[lane]);
    }
}

#endif
