/*
 * Limbs: how far what reaches out aside comes down under its own weight.
 *
 * A frame of level sections (load.h) does not see the bending of an arm that goes out level: it is one section with the shoulder. So
 * the cells of the grid are sorted by their distance from the ground through the body as well, and what is connected at one distance is a
 * section, across the limb whichever way it goes. What is beyond a section that nothing else bears weighs on it alone: a cantilever.
 * With e = E/rho and g = 1, a section of length l along its axis a, of mass m and second moments C about its middle, under a moment T turns by
 *
 *     l² K^-1 T/e          K = [a] C [a]^T + twist + m bent (I - a a^T)
 *
 * and what is beyond turns with it. Where ways come together (legs, rings) nothing is said, and nothing turns: load.h says it.
 *
 * Reads the cells of a load; everything in double precision and in one order.
 */
#ifndef LMI_LIMB_H
#define LMI_LIMB_H

#include "world/load.h"

typedef struct lmi_limb {
    uint16_t level, parent; /* 1 + the section that bears it, or 0 */
    bool many, stiff;       /* several bear it; it, or what it bears, is borne by others as well */
    uint32_t parts;
    double mass, load, square[9];
    lm_dvec3 at, moment; /* its middle; of what it bears, mass times place */
    lm_dvec3 turn;       /* where e is 1 */
    double sinks;
} lmi_limb;

typedef struct lmi_limbs {
    uint32_t count;
    uint16_t farthest;
    double length; /* of sections, metres */
    lmi_limb limbs[LMI_LOAD_SECTIONS];
    uint16_t of[LMI_LOAD_LAYERS * LMI_LOAD_LAYERS * LMI_LOAD_LAYERS];
    uint16_t level[LMI_LOAD_LAYERS * LMI_LOAD_LAYERS * LMI_LOAD_LAYERS];
    uint16_t stack[LMI_LOAD_LAYERS * LMI_LOAD_LAYERS * LMI_LOAD_LAYERS];
    double distance[LMI_LOAD_LAYERS * LMI_LOAD_LAYERS * LMI_LOAD_LAYERS];
} lmi_limbs;

/* Finds the limbs of a body whose cells are filled; `size` is that of what weighs. False where it has no extent. */
bool lmi_limbs_begin(lmi_limbs *limbs, const lmi_load *load, double size);

/* Adds what weighs, in a cell (y, z, x): its middle, its mass, and its own second moment along an axis over its mass. */
void lmi_limbs_add(lmi_limbs *limbs, int cell, lm_dvec3 at, double mass, double own);

/* Bends them. `bent`: what regions resist beyond that, metres². */
void lmi_limbs_bend(lmi_limbs *limbs, double bent);

/* By how much a place in a cell comes down where e and g are 1. */
double lmi_limbs_sinks(const lmi_limbs *limbs, int cell, lm_dvec3 at);

#endif
