/*
 * A lattice and its parts as wholes: before and after its sweeps.
 */
#ifndef LMI_LATTICE_MOTION_H
#define LMI_LATTICE_MOTION_H

#include "lattice/lattice_body.h"
#include "world/motion.h"

/* The frame follows the body when it is off by more than this, radians: it need not be exact, and as long as it stays what
 * it is, rounding stays the same too. */
#define LMI_LATTICE_FRAME_TOLERANCE 1e-3

/* A part whose inertia (its determinant) is less than this share of the rest shape's has collapsed. */
#define LMI_LATTICE_COLLAPSED 1e-2

/* Before predict takes the drift out: finds it again for the part as it is now. Of `shape`, mass, centre and inertia count. */
void lmi_lattice_settle(lmi_lattice_part *part, const lmi_motion *shape);

/* The same for all parts of a body, which it measures. */
void lmi_lattice_settle_all(lmi_body *body);

/* After predict has taken the drift out and measured the motion of the body (of one part) or of each part (of several):
 * counts what is still owed, and finds the motion of all parts together. */
void lmi_lattice_measured(lmi_body *body);

/* Whether a part of the body, as predict has measured it, is squashed to a small part of its rest shape: to a plane, a line, a point.
 * Then the drift of a sweep must not wait for the next substep: a spin that is nothing in a body the size of a dust grain
 * would tear it apart when it has grown again. */
bool lmi_lattice_is_collapsed(const lmi_body *body);

/* What the sweeps of this substep read; after predict. Brings the frame to the body. */
void lmi_lattice_prepare(const lmi_step *step, lmi_body *body);

/* Bounds, origin and drift from what the sweeps measured. */
void lmi_lattice_conclude(lmi_body *body);

/* Nothing is to be taken out of the velocities: they were set, or moved by other means. */
void lmi_lattice_forget_drift(lmi_lattice_body *lattice);

/* The bounds of the parts from the particles; all that is relative to the origin when that moves by `by`. */
void lmi_lattice_bound_parts(lmi_body *body);
void lmi_lattice_shift_parts(lmi_lattice_body *lattice, lm_vec3 by);

#endif
