/*
 * Bars that hang under their own weight: Young's modulus and Poisson's ratio as they come out, for every sampling.
 */
#ifndef LIMBER_TEST_HANGING_H
#define LIMBER_TEST_HANGING_H

#include "test/support/support.h"

typedef enum bar_kind { BAR_LATTICE, BAR_OCTREE, BAR_TETS } bar_kind;

typedef struct hanging_bar {
    bar_kind kind;
    double spacing;
    uint32_t cells[3];    /* across, along (y), across */
    uint32_t width;       /* of regions, in spacings */
    uint32_t levels;      /* of an octree */
    double refined;       /* of an octree: the lower part of its length that has the finest cells, 0 to 1 */
    lm_material material; /* as it is */
    uint32_t substeps;    /* of 1/60 s */
    double density;       /* 0: its mass is 1 kg */
    double speed;         /* about sqrt(E/rho), m/s: says how long to wait and how much to pull */
    double wait;          /* seconds more than that: what is overdamped creeps */
    const char *device;   /* null: none */
} hanging_bar;

typedef struct hanging_result {
    double modulus; /* E over density, m²/s² */
    double poisson;
    lm_body_info info;
} hanging_result;

/* The bar alone, in a world that is there. */
void hanging_add(const hanging_bar *bar, lm_world *world, lm_body_id *body);

/* The bar with its top pinned, in a world of its own whose gravity strains its middle by 1 %. */
lm_world *hanging_make(const hanging_bar *bar, lm_body_id *body);

/* Lets it come to rest in thick air, and measures the middle half of it. */
hanging_result hanging_measure(const hanging_bar *bar);

/* The same of a world from hanging_make that was changed since. */
hanging_result hanging_settle(const hanging_bar *bar, lm_world *world, lm_body_id body);

/* The same bar as a cantilever: its top is pinned, and gravity across it lets the lower end sink by about 1 % of the length of a
 * beam. Returns the displacement of the lowest particles over what Timoshenko's beam theory says: bending of a section of that
 * thickness, and shear with Cowper's coefficient for rectangles, with the length that is free. Gives `bar` the speed at which a
 * substep takes away 0.7 of a strain. */
double cantilever_measure(hanging_bar *bar, lm_body_info *info);

#endif
