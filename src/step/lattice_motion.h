/*
 * A lattice as a whole: before and after its sweeps.
 */
#ifndef LMI_LATTICE_MOTION_H
#define LMI_LATTICE_MOTION_H

#include "step/motion.h"

/* What the sweeps of this substep read; after predict. Brings the frame to the body. */
void lmi_lattice_prepare(const lmi_step *step, lmi_body *body);

/* Bounds, origin and drift from what the sweeps measured. */
void lmi_lattice_conclude(lmi_body *body);

#endif
