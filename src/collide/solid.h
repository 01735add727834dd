/*
 * A mesh or a height map, and what contacts and queries ask of either.
 */
#ifndef LMI_SOLID_H
#define LMI_SOLID_H

#include "collide/heights.h"
#include "collide/mesh.h"

/* One of the two, or neither: a shape that needs no arrays. */
typedef struct lmi_solid {
    lmi_mesh *mesh;
    lmi_heights *heights;
} lmi_solid;

static inline bool lmi_solid_is(const lmi_solid *solid) { return solid->mesh || solid->heights; }

#ifndef __OPENCL_VERSION__
void lmi_solid_free(lmi_memory *memory, lmi_solid *solid);

/* The bounds of the surface in its own frame; a height map reaches down without end. */
void lmi_solid_bounds(const lmi_solid *solid, lm_dvec3 *lower, lm_dvec3 *upper);

/* Whether it deforms in this substep. Then the place where a point was, in its own frame, is where lmi_solid_carry says: pushed along
 * by the faces that came upon it (in the last `seconds` of the substep); and the surface near p moves with the velocity that
 * lmi_solid_drift gives, in metres a second. */
bool lmi_solid_moves(const lmi_solid *solid);
lm_dvec3 lmi_solid_carry(const lmi_solid *solid, lm_dvec3 from, double seconds);
lm_dvec3 lmi_solid_drift(const lmi_solid *solid, lm_dvec3 p);
#endif

/* The way of a point that came by `way` to p in a substep of h seconds, seen from a surface that moves with `velocity` and turns with
 * `spin` about `pivot`, where it is at the end; in the world's frame. Where the point was goes along with the surface, in a circle:
 * a straight line leads a sheet that turns away from the points that lie on it, and they would count as behind it. */
lm_dvec3 lmi_solid_way(lm_dvec3 velocity, lm_dvec3 spin, lm_dvec3 pivot, double h, lm_dvec3 p, lm_dvec3 way);

/* A point came by `way` to p in a substep, both in the solid's own frame, and is to be kept `margin` metres away. Returns how
 * far it must go along the unit vector *normal, or a number of at most 0 where it touches nothing.
 *
 * A point that passed through the surface on its way is put back onto the face where it did, and onto the next one where it
 * would pass through that instead; after a few of these it stops where it first met the surface. So no point gets through,
 * however fast it is and however thin the wall. A point that has not passed is put onto the nearest point of the surface. */
double lmi_solid_depth(const lmi_solid *solid, lm_dvec3 p, lm_dvec3 way, double margin, lm_dvec3 *normal);

/* The signed distance of a point from the surface (negative inside), where it is below `most`, and the direction that leads
 * out; else false. */
bool lmi_solid_distance(const lmi_solid *solid, lm_dvec3 p, double most, double *distance, lm_dvec3 *normal);

/* Where a segment first passes through the surface: the share of the way, and the unit normal that faces its start. With
 * `front` only from outside to inside; a height map has no other way. */
bool lmi_solid_crossed(const lmi_solid *solid, lm_dvec3 a, lm_dvec3 b, bool front, double *share, lm_dvec3 *normal);

/* Whether a point is inside; never for a sheet. */
bool lmi_solid_inside(const lmi_solid *solid, lm_dvec3 p);

/* Whether a box (a frame and half extents along its axes) touches the surface or is inside. */
bool lmi_solid_touches_box(const lmi_solid *solid, lm_dvec3 centre, const dmat3 *axes, lm_dvec3 half);

#endif
