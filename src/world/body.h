/*
 * Making a body, in pieces that the snapshot loader shares.
 */
#ifndef LMI_BODY_H
#define LMI_BODY_H

#include "world/world.h"

/* Allocates every array of a body whose counts are set. On failure the caller frees the body. */
bool lmi_body_allocate(lm_world *world, lmi_body *body);

/* Forgets, in a copy of a body that a cut or a change of detail makes a new one of, all that the new one has for itself. */
void lmi_body_forget_arrays(lmi_body *body);

/* The same and what the body has to do with the rest of the world, for a body of its own in this slot. */
void lmi_body_forget(lmi_body *body, uint32_t slot);

/* What is wrong with a definition besides its shape, or null. */
const char *lmi_body_def_fault(const lm_body_def *def);
/* What of a definition is taken as it is. */
void lmi_body_take_def(lmi_body *body, const lm_body_def *def);

/* Turns a region's rotation and lasting deformation from its old rest axes to its new ones. */
void lmi_body_turn_axes(const lm_world *world, lmi_body *body, uint32_t region, const dmat3 *old);

/* What is wrong with the masses of a body's particles, or null. */
const char *lmi_body_mass_fault(const float *masses, uint32_t count);

/* body_set.c: the masses, one for each index and sound, become the body's. False when out of memory; then nothing has changed. */
bool lmi_body_take_masses(lm_world *world, lmi_body *body, const float *masses);

/* After rest, mass, order, place, region_offsets, members, x, v, rotations and pins were read: the rest constants. False
 * when out of memory. */
bool lmi_body_revive(lm_world *world, lmi_body *body);

/* Adds a body of points and clusters; its tetrahedra, if any, are sound (tets.vertices is not looked at). */
lm_result lmi_body_create_cloud(lm_world *world, const lm_body_def *def, uint32_t *slot);

/* tets.c: a body of tetrahedra. */
lm_result lmi_tets_body_create(lm_world *world, const lm_body_def *def, uint32_t *slot);

/* The diagonal of the rest shape's bounding box. */
double lmi_body_rest_size(const lmi_body *body);

/* Positions and velocities from the definition's pose; the origin is put at the middle of the body. */
void lmi_body_place(lmi_body *body, const lm_body_def *def);

#endif
