/*
 * Rubble: bodies that can break, where they touch each other and where their pieces do.
 *
 * A surface that opens has no field that could be carried along, and a thousand pieces have no time to make one each. So the
 * particles of such a body are balls: of half a spacing deep inside, where a break runs half way between particles, and
 * smaller at the border, where the particles of a lattice lie outside the surface that is seen. Balls of different pieces push
 * each other the way their pieces look at each other there: away from the particles they are linked to. A table by cells of
 * space finds them.
 *
 * Other bodies are touched by the same particles, as by any touch points (meet.h); and their touch points touch the balls.
 */
#ifndef LMI_RUBBLE_H
#define LMI_RUBBLE_H

#include "contact/contact.h"
#include "contact/pairs.h"
#include "fracture/fracture.h"

typedef struct lmi_rubble lmi_rubble;

/* Room for `count` particles in *rubble, made where there is none. False when out of memory. */
bool lmi_rubble_reserve(lmi_memory *memory, lmi_rubble **rubble, uint32_t count);
void lmi_rubble_free(lmi_memory *memory, lmi_rubble *rubble);

/* How far from a body's particles its balls reach, metres. */
double lmi_rubble_reach(const lmi_body *body);

/* The particles that those of a block of a lattice are linked to along x, y and z, the one before and the one after; LMI_NONE where there is
 * no link. */
void lmi_rubble_links(const lmi_lattice *lattice, uint32_t block, uint32_t links[LMI_BLOCK][6]);

/* Adds the contacts of all pieces with each other. */
void lmi_rubble_meet(const lmi_step *step, lmi_rubble *rubble, const lmi_pairs *pairs, lmi_push *pushes,
                     lmi_contact_list *list);

#endif
