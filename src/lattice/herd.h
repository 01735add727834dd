/*
 * Herds: lattices of one batch that have the same cells, width and weights, stepped side by side, one body to a lane.
 *
 * A small lattice leaves most lanes of its blocks empty and pays for whole ones. In a herd every lane is the same particle
 * of another body: sums along all axes are plain loads, constants are one number for all lanes, and irregular regions cost
 * what is in their lists. The plan of a herd says which sums there are to make and from what; it has no empty places.
 *
 * Every lane goes through the same operations in the same order as the body would alone (lattice/lattice_sweep.c), so that
 * who is in a herd, or whether there is one, changes no bit of the result.
 */
#ifndef LMI_HERD_H
#define LMI_HERD_H

#include "lattice/lattice.h"

struct lm_world;
struct lmi_batch;

/* Bodies of more particles fill their own lanes well enough, and a herd of them would leave the second-level cache. */
#define LMI_HERD_PARTICLES 256u
#define LMI_HERD_SITES 4096u /* corners in the box around them */

/* Sums along one axis, of w taps to either side. Numbers count from 1 in the order of corners; 0 is nothing, and is zero. */
typedef struct lmi_herd_pass {
    uint32_t count;
    uint16_t *tap; /* [count][2 width + 1] numbers in the pass before: the middle, -1, +1, -2, +2, ... */
} lmi_herd_pass;

/* What a fast sum has too much or too little, as in lmi_lattice_pair. */
typedef struct lmi_herd_pair {
    uint16_t from; /* number of the particle (gather) or of the region (scatter) */
    int8_t offset[3];
    int8_t sign;
} lmi_herd_pair;

/* Pairs of one owner. */
typedef struct lmi_herd_list {
    uint32_t first, last; /* pairs first to last - 1 */
    bool replaces;        /* the list is all there is: the fast sum does not count */
} lmi_herd_list;

typedef struct lmi_herd_plan {
    uint32_t width, particle_count, region_count, pair_count, pair_capacity;
    lmi_herd_pass gather[3];      /* along z, y, x; the last has a sum for each region */
    lmi_herd_pass scatter[3];     /* along x, y, z; the last has a sum for each particle */
    uint32_t *particle;           /* [particles] where it is in its body */
    uint32_t *region;             /* [regions] where its own particle is */
    lmi_herd_list *region_list;   /* [regions] */
    lmi_herd_list *particle_list; /* [particles] */
    lmi_herd_pair *pair;          /* of gather, then of scatter */
} lmi_herd_plan;

/* The herds of a batch. */
typedef struct lmi_herd {
    uint32_t leader; /* slot of its first body: its lattice stands for all */
    uint32_t count;  /* one on its own has no plan */
    lmi_herd_plan plan;
} lmi_herd;

/* Finds the herds of a batch again where bodies came, went or were weighed, and tells its bodies. On failure (memory) the
 * batch has no herds. */
bool lmi_batch_herd(struct lm_world *world, struct lmi_batch *batch);
void lmi_batch_disperse(struct lm_world *world, struct lmi_batch *batch);

/* Sums that are in scratch at once, nothing included. */
typedef struct lmi_herd_sizes {
    size_t particles;
    size_t z; /* gathered along z, later scattered along x and y */
    size_t y; /* gathered along z and y, later scattered along x */
    size_t regions;
} lmi_herd_sizes;

lmi_herd_sizes lmi_herd_sizes_of(const lmi_herd_plan *plan);

/* Floats of scratch that the sweep of a herd wants, as many bodies at once as the widest lanes have. */
size_t lmi_herd_scratch(const lmi_herd_plan *plan);

#endif
