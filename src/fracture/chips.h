/*
 * Chips: what a lattice breaks into at most.
 *
 * A site has one particle, so two pieces can not both have it. If any link could break, cracks would leave particles without a
 * single whole cell, which nothing says how to turn, or pieces that hang together by cells that both need. So particles are
 * divided into chips of two a side, the corners of every second cell along each axis: these cells have no corner in common, and
 * only links from chip to chip break. Particles at the border that are in no such cell belong to a chip beside them. Every chip
 * holds together, and has a whole cell, so that a piece of one chip moves, turns and carries its surface as any other.
 */
#ifndef LMI_CHIPS_H
#define LMI_CHIPS_H

#include "lattice/lattice.h"

/* The chip of each particle ([blocks + 1][LMI_BLOCK]): the lowest corner of its cell, all of whose corners belong to it.
 * LMI_LATTICE_NONE where there is no particle. */
void lmi_lattice_find_chips(const lmi_lattice *lattice, uint32_t *chips);

#endif
