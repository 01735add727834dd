/*
 * skin/: surfaces that ride on a body: what each vertex rides on, where it is, and how the surface opens where a body
 * is cut or breaks.
 *
 * reads   positions of particles, transforms of regions, links that are cut or broken
 * writes  vertices, normals and triangles of skins
 * uses    base geometry fracture lattice match octree world; in sources also cluster cut tets gpu
 *
 *   skin.c, rider.c  skins of clusters, and what vertices ride on          carry.c  from a surface to particles
 *   skin_kernels.c   lattices and tetrahedra, in lanes                       skin_octree.c  octrees
 *   surface.h     a surface divided along planes, to be opened                     skin_open.h  lattices that break
 *   skin_octree_cut.h (shell, look, plan)  octrees that are cut                    skin_grain.c  clusters and tetrahedra that are cut
 *   slit.h (make, ride, walls)  lattices that blades cut
 *
 * Deformed vertices, for skins and ray picks.
 */
#ifndef LMI_SKIN_H
#define LMI_SKIN_H

#include "match/carrier.h"
#include "world/world.h"

/* ---- blending ----
 *
 * Blending: a point of the rest pose as a rider on several regions.
 */

#define LMI_BLEND_MOST 12 /* regions a point rides on: more than meet at the corner of a grid of cells */

/* The regions a rest position rides on and their weights (sum 1); returns how many. The weights change smoothly with the
 * position, and are zero where a region comes into or goes out of the choice. At least one region. */
uint32_t lmi_blend_point(const lmi_region *regions, uint32_t region_count, lm_vec3 point,
                         uint32_t chosen[LMI_BLEND_MOST], float weights[LMI_BLEND_MOST]);

/* From the particles as they are: `x` are records of four floats, the fourth the weight in fits; `rotation` (9 floats
 * `stride` apart) stands in for directions that the particles do not show. */
void lmi_carrier_make(lmi_carrier *carrier, const lmi_region *region, const lm_vec3 *rest, const float *x,
                      const uint32_t *members, uint32_t member_count, const float *rotation, uint32_t stride,
                      bool quadratic);

#define LMI_SKIN_FADES 0.25f /* seconds, see lmi_skin.fading */

void lmi_skin_free(lm_world *world, lmi_skin *skin);
bool lmi_skin_allocate(lm_world *world, lmi_skin *skin);
/* Of a skin on cells or tetrahedra, from its vertices and triangles; `rest`: of the body. */
void lmi_skin_find_rest_normals(lmi_skin *skin, const lm_vec3 *rest);
void lmi_skin_update(const lm_world *world, lmi_body *body); /* after the particles have moved */
void lmi_skins_follow(lm_world *world); /* the same for all bodies that a step has moved, at its end */

/* Less of what fades is left. */
void lmi_skin_fade(lm_world *world, lmi_skin *skin, double seconds);

/* A skin vertex where the particles carry it, relative to the body's origin. */
lm_dvec3 lmi_skin_vertex(const lmi_body *body, uint32_t vertex);

/* Means over the triangles around the vertices of a skin at rest, of length 1 or 0. */
void lmi_skin_mean_normals(const lmi_skin *skin, lm_vec3 *normals);

/* Where a region carries its frame now. */
void lmi_skin_carrier(const lm_world *world, const lmi_body *body, uint32_t region, lmi_carrier *carrier);

#endif
