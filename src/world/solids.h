/*
 * The solids that bodies are to each other, and who needs one; lmi_body_make_bulk and lmi_body_free_bulk are in world.h.
 */
#ifndef LMI_SOLIDS_H
#define LMI_SOLIDS_H

#include "world/world.h"

/* The solid of a body, now, unless it has one or can break. False when out of memory; then nothing has changed. */
bool lmi_body_need_bulk(lm_world *world, lmi_body *body);

/* The same made ready, so that needing it takes little time. False when out of memory; then nothing has changed. */
bool lmi_body_ready_bulk(lm_world *world, lmi_body *body);

/* Whether there are bodies in a world that a body may touch, which need not be in it; and solids for those. False when out of memory;
 * some may have theirs then, which changes nothing while they have no company. */
bool lmi_body_has_company(const lm_world *world, const lmi_body *body);
bool lmi_body_meet_company(lm_world *world, const lmi_body *body);

/* After a body came, or its group or mask changed: solids for it and for those that it may touch now. False when out of memory, as
 * above. */
bool lmi_body_join_company(lm_world *world, lmi_body *body);

/* When a step begins: who has company. */
void lmi_company_find(lm_world *world);

void lmi_body_free_cubes(lm_world *world, lmi_body *body);

#endif
