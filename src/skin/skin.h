/*
 * skin/: surfaces that ride on a body: what each vertex rides on, where it is, and how the surface opens where a body
 * is cut or breaks.
 *
 * reads   positions of particles, transforms of regions, links that are cut or broken
 * writes  vertices, normals and triangles of skins
 * uses    base fracture lattice match octree world; in sources also cluster cut tets gpu
 *
 *   skin.c, blend.c, rider.c  skins of clusters, and what vertices ride on       carry.c, carry_values.c  from a surface to particles
 *   skin_lattice.c, skin_tets.c, skin_octree.c  the other samplings, in lanes where they can
 *   surface.h     a surface divided along planes, to be opened                     skin_open.h  lattices that break
 *   skin_octree_cut.h (shell, look, plan)  octrees that are cut                    skin_grain.c  clusters and tetrahedra that are cut
 *
 * Deformed vertices, for skins and ray picks.
 */
#ifndef LMI_SKIN_H
#define LMI_SKIN_H

#include "skin/blend.h"
#include "world/world.h"

#define LMI_SKIN_FADES 0.25f /* seconds, see lmi_skin.fading */

void lmi_skin_free(lm_world *world, lmi_skin *skin);
bool lmi_skin_allocate(lm_world *world, lmi_skin *skin);
/* Of a skin on cells or tetrahedra, from its vertices and triangles; `rest`: of the body. */
void lmi_skin_find_rest_normals(lmi_skin *skin, const lm_vec3 *rest);
void lmi_skin_update(const lm_world *world, lmi_body *body); /* after the particles have moved */

/* Less of what fades is left. */
void lmi_skin_fade(lm_world *world, lmi_skin *skin, double seconds);

/* A skin vertex where the particles carry it, relative to the body's origin. */
lm_dvec3 lmi_skin_vertex(const lmi_body *body, uint32_t vertex);

/* Means over the triangles around the vertices of a skin at rest, of length 1 or 0. */
void lmi_skin_mean_normals(const lmi_skin *skin, lm_vec3 *normals);

/* Where a region carries its frame now. */
void lmi_skin_carrier(const lm_world *world, const lmi_body *body, uint32_t region, lmi_carrier *carrier);

#endif
