/*
 * The shapes of the bench "lattice", as cells.
 */
#ifndef LIMBER_BENCH_LATTICE_CELLS_H
#define LIMBER_BENCH_LATTICE_CELLS_H

#include "limber/limber.h"

typedef enum lattice_shape {
    LATTICE_BOX,     /* solid, 48 x 40 x 30 particles */
    LATTICE_SPHERE,  /* solid, fills about half of its bounding box */
    LATTICE_STATUE,  /* the statue of shapes/, solid, about 57,600 particles (Rivers and James 2007, table 1) */
    LATTICE_SHELL,   /* the same with nothing inside, about 20,000 */
    LATTICE_PENGUIN, /* 150 penguins of shapes/, about 150 particles each */
    LATTICE_COMB,    /* the box with gaps of one cell every six: about 30 % of its regions are irregular at width 1 */
    LATTICE_MILLION, /* a solid cube of 1,000,000 particles */
    LATTICE_SHAPE_COUNT
} lattice_shape;

typedef struct lattice_cells {
    const char *name;
    uint8_t *cells; /* counts[0] x counts[1] x counts[2], x first; not 0: occupied */
    uint32_t counts[3];
    float spacing;   /* metres */
    uint32_t bodies; /* that a world has of it */
} lattice_cells;

/* With `quick` a small one of the same kind. False when out of memory. */
bool lattice_cells_make(lattice_shape shape, bool quick, lattice_cells *cells);
/* One that is made from a model, with about so many particles. */
bool lattice_cells_make_of(lattice_shape shape, uint32_t particles, lattice_cells *cells);
void lattice_cells_free(lattice_cells *cells);

#endif
