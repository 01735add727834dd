/*
 * Deformed vertices, for skins and ray picks.
 */
#ifndef LMI_SKIN_H
#define LMI_SKIN_H

#include "skin/blend.h"
#include "world/world.h"

#define LMI_SKIN_FADES 0.25f /* seconds, see lmi_skin.fading */

/* Less of what fades is left. */
void lmi_skin_fade(lm_world *world, lmi_skin *skin, double seconds);

/* A skin vertex where the particles carry it, relative to the body's origin. */
lm_dvec3 lmi_skin_vertex(const lmi_body *body, uint32_t vertex);

/* Means over the triangles around the vertices of a skin at rest, of length 1 or 0. */
void lmi_skin_mean_normals(const lmi_skin *skin, lm_vec3 *normals);

/* Where a region carries its frame now. */
void lmi_skin_carrier(const lm_world *world, const lmi_body *body, uint32_t region, lmi_carrier *carrier);

#endif
