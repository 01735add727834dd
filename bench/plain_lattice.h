/*
 * A solid box of particles as a competent programmer would write lattice shape matching first: scalar float32, three passes
 * of running sums over 12 channels there (m x and m x x0^T) and three back (the transforms), one loop for the fits. It is
 * what the library's lattices are measured against. Rivers and James 2007, section 3.
 */
#ifndef LIMBER_BENCH_PLAIN_LATTICE_H
#define LIMBER_BENCH_PLAIN_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plain_lattice plain_lattice;

/* How the sums over a region are made: figure 4 of the paper. */
typedef enum plain_sums {
    PLAIN_NAIVE, /* (2 w + 1)³ terms for each region */
    PLAIN_BARS,  /* bars, plates, cubes: 3 (2 w + 1) terms */
    PLAIN_FAST   /* running sums: six terms whatever w is */
} plain_sums;

/* nx x ny x nz particles at rest, `spacing` apart, with regions of `width`. Null when out of memory. */
plain_lattice *plain_lattice_make(uint32_t nx, uint32_t ny, uint32_t nz, float spacing, uint32_t width);
void plain_lattice_free(plain_lattice *lattice);

/* One step of h seconds with gravity along y. */
void plain_lattice_step(plain_lattice *lattice, plain_sums sums, float h, float alpha, float gravity);

/* Sums alone, for comparing their ways: fills the channels of all particles from their positions; then sums these over the
 * cubes, in place. A step does the second twice. */
void plain_lattice_load(plain_lattice *lattice);
void plain_lattice_sum(plain_lattice *lattice, plain_sums sums);

/* A channel of a particle after sums, 0 to 11. */
float plain_lattice_channel(const plain_lattice *lattice, uint32_t particle, uint32_t channel);

/* Puts a particle anywhere. */
void plain_lattice_set(plain_lattice *lattice, uint32_t particle, const float position[3], const float velocity[3]);

/* Position of a particle, x first, then y, then z. */
void plain_lattice_position(const plain_lattice *lattice, uint32_t particle, float position[3]);

#endif
