/*
 * Deformed vertices, for skins and ray picks.
 */
#ifndef LMI_SKIN_H
#define LMI_SKIN_H

#include "world.h"

/* A skin vertex where the particles carry it, relative to the body's origin. */
lm_dvec3 lmi_skin_vertex(const lmi_body *body, uint32_t vertex);

#endif
