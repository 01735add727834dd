/*
 * What the kernels of skins share: blocks of vertices on their way out, and their arithmetic. Include after
 * base/lanes.h.
 */
#ifndef LMI_SKIN_LANES_H
#define LMI_SKIN_LANES_H

#include "base/lanes.h"
#include "limber/limber.h"
#include "skin/skin_carry.h"

#include <string.h>

typedef struct block_out {
    _Alignas(64) float position[LMI_BLOCK][4];
    _Alignas(64) float normal[LMI_BLOCK][4];
} block_out;

static inline void write_block(const float *from, uint32_t count, lm_vec3 *to)
{
    for (uint32_t lane = 0; to && lane < count; lane++) {
        memcpy(&to[lane], from + 4 * (size_t)lane, sizeof to[lane]);
    }
}

#endif
