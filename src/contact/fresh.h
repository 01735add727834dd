/*
 * Bodies that were put into each other: the log says so once in a world, when they are first stepped.
 */
#ifndef LMI_FRESH_H
#define LMI_FRESH_H

#include "contact/pairs.h"

/* Looks at the bodies that are fresh, among the pairs of all bodies that touch others. Entries and visits have room for these; what they
 * hold is lost. */
void lmi_fresh_tell(lm_world *world, lmi_pairs *pairs);

#endif
