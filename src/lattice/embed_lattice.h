/*
 * A point of the rest pose as a trilinear sum of the corners of its cell.
 */
#ifndef LMI_EMBED_LATTICE_H
#define LMI_EMBED_LATTICE_H

#include "lattice/lattice.h"

/* Particles and weights (sum 1) of a point in a cell of the lattice, or in the nearest one; returns how many: 8. Bits 0, 1
 * and 2 of a corner's number tell on which side it is along x, y and z. A point outside its cell is extrapolated. Rivers and James 2007, section 3.5. */
uint32_t lmi_embed_lattice(const lmi_lattice *lattice, lm_vec3 point, uint32_t particles[8], float weights[8]);

/* The same, fast, for a point in a cell; false when there is no cell. */
bool lmi_embed_lattice_inside(const lmi_lattice *lattice, lm_vec3 point, uint32_t particles[8], float weights[8]);

#endif
