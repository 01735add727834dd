/*
 * Depth cube maps: how far the surface of a solid is from a place inside it, in every direction (Chentanez 2007).
 *
 * A map has six faces of 16 x 16 directions and sits at a carrier of the solid (touch/bulk.h), whose affine map carries it
 * along as the body deforms; the slides render it again in every frame instead. A body has as many as it takes to see all its
 * carriers, each within its longest side: one for a ball, several for a duck. A point nearer to the place than the
 * surface is in its direction is inside, and the way out is straight away from the place. That is right for what is
 * star-shaped around a map, and cheap; what hides behind a fold is not seen.
 */
#ifndef LMI_CUBE_H
#define LMI_CUBE_H

#include "touch/bulk.h"

#define LMI_CUBE_SIDE 16
#define LMI_CUBE_MOST 32 /* maps of a body */

typedef struct lmi_cubes {
    uint32_t count;
    uint32_t carrier[LMI_CUBE_MOST]; /* where each map sits */
    float *depth;                    /* [LMI_CUBE_MOST][6][side][side] metres in the rest shape */
} lmi_cubes;

/* The maps of a solid; false when out of memory, then nothing is left behind. */
bool lmi_cubes_make(struct lm_world *world, const lmi_mould *mould, lmi_cubes *cubes);
void lmi_cubes_free(struct lm_world *world, lmi_cubes *cubes);

/* How far the surface is from map n in a direction of the rest shape, which need not be a unit vector. */
double lmi_cube_depth(const lmi_cubes *cubes, uint32_t n, lm_dvec3 direction);

/* A point in the solid from the nearest map, after carry_bulk: depth and the way out from its place. */
bool lmi_cubes_find(const lmi_cubes *cubes, const lmi_bulk *solid, lm_dvec3 point, double margin, lmi_inside *inside);

#endif
