/*
 * Links of a lattice that break.
 *
 * Particles that are an edge of an occupied cell are linked along it. A site keeps its one particle, so a break moves no mass
 * and changes no velocity: it changes who is near whom. A cell with all its links is whole, and all its corners are
 * neighbours; in a torn cell corners are neighbours when a chain of its unbroken edges joins them. Diagonals have no links of
 * their own, so that no crack leaks through them. Rivers and James 2007, section 4.
 *
 * A break is local. The regions that may have changed are those from whose particle a torn cell can be reached, which are
 * within `width` of the link. They are found again; what repeats what, who is in how many regions, lists, and the constants of
 * blocks nearby follow. The result is the same, array by array, as that of a lattice made with these links broken from the start.
 *
 * Nothing changes in place: the lattice after a break is another one that shares the arrays that stay, so that a break that
 * runs out of memory has not happened.
 */
#ifndef LMI_LATTICE_BREAK_H
#define LMI_LATTICE_BREAK_H

#include "lattice/lattice.h"

/* While a lattice is made: links as its cells have them, less the broken ones. LM_ERROR_MEMORY, or LM_ERROR_ARGUMENT where
 * there is no such link or it is broken already. */
lm_result lmi_lattice_start_breaks(lmi_memory *memory, const lmi_lattice_breaks *breaks, lmi_lattice *lattice);
void lmi_lattice_end_breaks(lmi_memory *memory, lmi_lattice *lattice);

/* The lanes of a block that have a link along an axis as the cells have it, broken or not. */
uint32_t lmi_lattice_links(const lmi_lattice *lattice, uint32_t block, uint32_t axis);

/* The particle at the far end of a link. */
uint32_t lmi_lattice_link_end(const lmi_lattice *lattice, lmi_lattice_link link);

static inline bool lmi_lattice_holds(const lmi_lattice *lattice, lmi_lattice_link link)
{
    return lattice->bond[link.axis][link.particle / LMI_BLOCK] >> (link.particle % LMI_BLOCK) & 1;
}

/* Breaks links in the lattice itself: bonds and whole cells, nothing else of it. False: there is no such link. */
bool lmi_lattice_cut_links(lmi_lattice *lattice, const lmi_lattice_link *links, uint32_t count);

/* The lattice with more links broken, each of which holds so far. Until lmi_lattice_keep or lmi_lattice_drop, `next` shares
 * arrays with it. LM_ERROR_MEMORY or LM_ERROR_LIMIT (LMI_LATTICE_MOST_PAIRS); then there is nothing to drop. */
lm_result lmi_lattice_break(lmi_memory *memory, const lmi_lattice *lattice, const lmi_lattice_link *links,
                            uint32_t count, lmi_lattice *next, lmi_lattice_change *change);

/* Puts the next lattice in the place of the old one; or forgets it. */
void lmi_lattice_keep(lmi_memory *memory, lmi_lattice *lattice, lmi_lattice *next);
void lmi_lattice_drop(lmi_memory *memory, const lmi_lattice *lattice, lmi_lattice *next);
void lmi_lattice_change_free(lmi_memory *memory, lmi_lattice_change *change);

#endif
