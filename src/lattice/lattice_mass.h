/*
 * Masses of a lattice's particles, in any unit: only their ratios count.
 */
#ifndef LMI_LATTICE_MASS_H
#define LMI_LATTICE_MASS_H

#include "lattice/lattice.h"

/* The volume that belongs to each particle, in 48ths of a cell: 3 to 64. [blocks + 1][LMI_BLOCK]; 0 where there is no
 * particle.
 *
 * An eighth of each cell for each of its corners, but where a face of a cell is bare a sixth of what its corners get goes to
 * those of the opposite face. With eighths alone the second moments of a bar n cells thick are 2 / n² too large, and with
 * them its inertia and its resistance to bending: 12 % for four cells. This takes most of it away (Gregory's correction of
 * the trapezium rule), and is why a body keeps its stiffness when its spacing changes. */
void lmi_lattice_volumes(const lmi_lattice *lattice, float *volumes);

/* Multiplies the values of the particles with that of the mesh vertex nearest to each of them; of equally near ones the
 * first counts. Rivers and James 2007, section 2. False when out of memory; then nothing has changed. */
bool lmi_lattice_multiply_nearest(lmi_memory *memory, const lmi_lattice *lattice, const lm_vec3 *vertices,
                                  const float *of_vertices, uint32_t vertex_count, float *values);

#endif
