/*
 * A block of tetrahedra with example poses, for benchmarks of examples.
 */
#ifndef LIMBER_BENCH_BLOCK_H
#define LIMBER_BENCH_BLOCK_H

#include "limber/limber.h"

#define BLOCK_EXAMPLES 3

/* A block of points along a grid, its cells divided into six tetrahedra each. */
typedef struct tets_block {
    uint32_t n[3];
    lm_vec3 *points, *poses;
    uint32_t *elements;
    uint32_t point_count, element_count;
} tets_block;

/* So many points along each axis; false when out of memory. Free it either way. */
bool tets_block_make(tets_block *b, uint32_t x, uint32_t y, uint32_t z);
void tets_block_free(tets_block *b);

#endif
