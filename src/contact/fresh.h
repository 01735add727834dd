/*
 * Bodies that were put into each other: said once, when they are first stepped.
 */
#ifndef LMI_FRESH_H
#define LMI_FRESH_H

#include "world/world.h"

/* What the first substeps of bodies found; zero to begin with. */
typedef struct lmi_fresh {
    uint32_t pairs;
    uint32_t a, b; /* slots of the two that are the deepest in each other */
    double depth;  /* theirs, metres */
    uint64_t told; /* the step, counted from 1, that the log has a line of */
} lmi_fresh;

/* Two bodies, and how deep one was found to be in the other, metres. */
void lmi_fresh_note(lmi_fresh *fresh, const lmi_body *a, const lmi_body *b, double depth);

/* One line in the log for all of a step. */
void lmi_fresh_tell(const lm_world *world, lmi_fresh *fresh);

#endif
