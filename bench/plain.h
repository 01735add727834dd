/*
 * The whole step as a competent programmer would write it first: scalar float32, one struct a particle, one loop over
 * the clusters. It is what the library's speed is measured against, so it computes the same thing: moments, polar
 * decomposition, linear and quadratic goals, their mean, damping towards the rigid motion, integration.
 *
 * It reads the bodies of a world (rest shape, masses, regions, material, state) through the public interface. Pins,
 * drags, fields and colliders are left out, except for a floor.
 */
#ifndef LIMBER_BENCH_PLAIN_H
#define LIMBER_BENCH_PLAIN_H

#include "limber/limber.h"

typedef struct plain_world plain_world;

/* Nanoseconds of the last plain_step. */
typedef struct plain_times {
    double predict;   /* forces and damping */
    double match;     /* gather, fit and scatter, which are one loop here */
    double integrate; /* goals, velocities, positions, floor */
    double step;
} plain_times;

/* A copy of every body of the world as it is now. Null when out of memory. */
plain_world *plain_make(const lm_world *world);
void plain_free(plain_world *plain);

/* Keeps particles above y = 0 from now on. */
void plain_set_floor(plain_world *plain, bool floor);

/* Advances by `seconds` in as many substeps as the world had. */
void plain_step(plain_world *plain, double seconds, plain_times *times);

/* Positions of a body's particles (counted in the order of lm_world_get_bodies), world coordinates. */
void plain_get_positions(const plain_world *plain, uint32_t body, lm_vec3 *positions);

#endif
