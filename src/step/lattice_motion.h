/*
 * A lattice as a whole: before and after its sweeps.
 */
#ifndef LMI_LATTICE_MOTION_H
#define LMI_LATTICE_MOTION_H

#include "step/motion.h"

/* Whether the body, as predict has measured it, is squashed to a small part of its rest shape: to a plane, a line, a point.
 * Then the drift of a sweep must not wait for the next substep: a spin that is nothing in a body the size of a dust grain
 * would tear it apart when it has grown again. */
bool lmi_lattice_is_collapsed(const lmi_body *body);

/* What the sweeps of this substep read; after predict. Brings the frame to the body. */
void lmi_lattice_prepare(const lmi_step *step, lmi_body *body);

/* Bounds, origin and drift from what the sweeps measured. */
void lmi_lattice_conclude(lmi_body *body);

#endif
