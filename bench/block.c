/*
 * Points along a grid, tetrahedra in its cells, and poses of the whole.
 */
#include "block.h"

#include <math.h>
#include <stdlib.h>

#define SPACING 0.1 /* metres */

void tets_block_free(tets_block *b)
{
    free(b->points);
    free(b->poses);
    free(b->elements);
}

/* Twisted, bent, and curved into an S. */
static lm_vec3 example(uint32_t kind, lm_vec3 p, double length)
{
    double turn = p.z / length, s = sin(turn), c = cos(turn), wave = 2.0 * turn;
    if (kind == 0) return (lm_vec3){(float)(c * p.x - s * p.y), (float)(s * p.x + c * p.y), p.z};
    if (kind == 1) return (lm_vec3){(float)(length - (length - p.x) * c), p.y, (float)((length - p.x) * s)};
    return (lm_vec3){(float)(p.x + 0.15 * length * sin(wave)), p.y, p.z};
}

bool tets_block_make(tets_block *b, uint32_t x, uint32_t y, uint32_t z)
{
    static const uint32_t paths[6][2] = {{1, 3}, {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}};
    *b = (tets_block){.n = {x, y, z}, .point_count = x * y * z, .element_count = 6 * (x - 1) * (y - 1) * (z - 1)};
    b->points = malloc(b->point_count * sizeof *b->points);
    b->poses = malloc((size_t)BLOCK_EXAMPLES * b->point_count * sizeof *b->poses);
    b->elements = malloc((size_t)b->element_count * 4 * sizeof *b->elements);
    if (!b->points || !b->poses || !b->elements) return false;
    uint32_t element = 0;
    for (uint32_t n = 0; n < b->point_count; n++) {
        uint32_t at[3] = {n % x, n / x % y, n / x / y};
        b->points[n] = (lm_vec3){(float)(SPACING * (at[0] - 0.5 * (x - 1))), (float)(SPACING * (at[1] - 0.5 * (y - 1))),
                                 (float)(SPACING * (at[2] - 0.5 * (z - 1)))};
        for (uint32_t k = 0; k < BLOCK_EXAMPLES; k++)
            b->poses[k * b->point_count + n] = example(k, b->points[n], SPACING * z);
        if (at[0] + 1 == x || at[1] + 1 == y || at[2] + 1 == z) continue;
        for (int t = 0; t < 6; t++) {
            const uint32_t corner[4] = {0, paths[t][0], paths[t][1], 7};
            for (int k = 0; k < 4; k++)
                b->elements[element++] = n + (corner[k] & 1) + x * (corner[k] >> 1 & 1) + x * y * (corner[k] >> 2);
        }
    }
    return true;
}
