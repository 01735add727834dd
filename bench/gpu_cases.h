/*
 * Bodies of the bench "gpu": crowds of one kind each.
 */
#ifndef LIMBER_BENCH_GPU_CASES_H
#define LIMBER_BENCH_GPU_CASES_H

#include "block.h"
#include "lattice_cells.h"
#include "limber/shapes.h"

/* Bytes that the step of a particle must move at least: positions and velocities there and back. A lattice reads positions
 * twice, and writes and reads six floats of each region besides. */
#define CROWD_BYTES 64.0
#define CROWD_LATTICE_BYTES 128.0

/* What bodies lie on. */
typedef enum crowd_ground { CROWD_NO_GROUND, CROWD_PLANE, CROWD_HEIGHTS, CROWD_MESH } crowd_ground;

typedef struct crowd {
    const char *name;
    lm_body_def def; /* whose arrays belong to what it was made from */
    uint32_t bodies, width, clusters;
    const char *mode;
    double bytes; /* a particle */

    lm_examples_def examples; /* no poses: none */
    const lm_vec3 *start;     /* positions, or null: as the body is made */
    crowd_ground ground;      /* with some the bodies lie on it side by side, and not above each other */
    float drop;               /* metres that the middle of a body is above it */
    bool pinned;              /* by its first particle */
} crowd;

crowd crowd_of_lattices(const char *name, const lattice_cells *cells, uint32_t bodies, uint32_t width);

/* 100 points in 8 overlapping clusters. */
crowd crowd_of_clusters(const char *name, uint32_t bodies, lm_vec3 points[100]);

/* Tetrahedra with a region around each particle; with examples one mix for each body, or else (`regions`) for each region. */
crowd crowd_of_tets(const char *name, const tets_block *block, uint32_t bodies, bool examples, bool regions);

/* A mesh as an octree of about so many particles. */
crowd crowd_of_octrees(const char *name, const lm_shape_mesh *mesh, uint32_t particles, float spacing, uint32_t bodies);

/* All bodies side by side, each turning a little; how many particles they have. False when out of memory. */
bool crowd_fill(lm_world *world, const crowd *c, uint32_t *particles);

#endif
