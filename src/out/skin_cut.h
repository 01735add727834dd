/*
 * The skin of a lattice that breaks: cut open between particles whose link has broken, each side closed by an inner face.
 */
#ifndef LMI_SKIN_CUT_H
#define LMI_SKIN_CUT_H

#include "fracture.h"
#include "sample/cut.h"

/* The skin of a body that can break, with the links of `lattice`, which has the body's cells; the body's own links may be
 * others. Empty where the body has none or no link is broken. False when out of memory. */
bool lmi_cut_skin(lm_world *world, const lmi_body *body, const lmi_lattice *lattice, lmi_skin *skin);

/* Makes it the body's; the one that was given is kept. */
void lmi_cut_show(lm_world *world, lmi_body *body, lmi_skin *skin);

#endif
