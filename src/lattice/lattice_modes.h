/*
 * The slowest mode of a lattice: lattice_modes.c.
 */
#ifndef LMI_LATTICE_MODES_H
#define LMI_LATTICE_MODES_H

#include "lattice/lattice.h"

/* The smallest eigenvalue of I - G beyond the motions as a whole, from above. `masses` and `stiffness` (null: 1) are by
 * place, `share` is beta or 0 in rigid mode. False when out of memory. */
bool lmi_lattice_slowest(lmi_memory *memory, const lmi_lattice *lattice, const float *masses, const float *stiffness,
                         double share, double *slowest);

#endif
