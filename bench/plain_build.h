/*
 * The data of the plain version (plain.h), and what is computed once from the rest shape.
 */
#ifndef LIMBER_BENCH_PLAIN_BUILD_H
#define LIMBER_BENCH_PLAIN_BUILD_H

#include "plain.h"

typedef struct plain_particle {
    float x[3], v[3];
    float goal[3]; /* summed over its regions */
    float mass;
    float share;        /* mass / number of its regions */
    float region_count; /* as the divisor it is used as */
} plain_particle;

typedef struct plain_member {
    uint32_t particle;
    float q[3]; /* rest position from the region's centre */
} plain_member;

/* Squares and products of q (xx yy zz xy yz zx) less their means over the region: quadratic mode only. */
typedef struct plain_products {
    float q[6];
} plain_products;

typedef struct plain_region {
    uint32_t first, count; /* of its members */
    float mass;
    float Aqq[9];        /* inverse of the rest moments, 3x3 */
    float Aqq_large[81]; /* the same of the nine coordinates */
} plain_region;

typedef struct plain_body {
    plain_particle *particles;
    uint32_t particle_count;
    plain_member *members;
    plain_products *products; /* one for each member */
    plain_region *regions;
    uint32_t region_count;
    lm_material material;
} plain_body;

struct plain_world {
    plain_body *bodies;
    uint32_t body_count;
    float gravity[3];
    uint32_t substeps;
    bool floor;
};

#endif
