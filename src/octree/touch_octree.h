/*
 * Touch points of octrees.
 *
 * A point rides on the particles around it, of those that neighbours lead to from its leaf within two steps: never across a cut, and
 * a change of the tree has to be followed only that far.
 *
 * Points of cuts. Where a blade has cut the link between two voxels, each of them has a point on their common face. In the rest
 * pose it is a little inside its voxel, which tells whose it is; where it touches is on the blade (lmi_octree_bend).
 */
#ifndef LMI_TOUCH_OCTREE_H
#define LMI_TOUCH_OCTREE_H

#include "octree/mould_octree.h"
#include "octree/octree_blade.h"

/* The face of a cut in the rest pose. */
typedef struct lmi_octree_face {
    lm_dvec3 middle; /* voxels from the first one */
    lm_dvec3 normal; /* unit, towards the upper side */
} lmi_octree_face;

/* The face between a voxel and the next one along an axis. */
lmi_octree_face lmi_octree_face_at(const lmi_octree *tree, uint32_t voxel, uint32_t axis);

/* Whether a point is one of a cut, and then of which link and side; `voxel`: the one it is in. */
bool lmi_octree_is_cut_point(const lmi_octree *tree, lm_vec3 point, uint32_t voxel, lmi_slash *link, bool *upper);

/* Where a point touches, in the rest pose: one of a cut on the blade, any other where it is. */
lm_vec3 lmi_octree_point_place(const lmi_octree *tree, lm_vec3 point, uint32_t voxel);

/* The rest positions of points on both sides of links, as dense as those of the surface. Returns how many there are, and writes
 * them where there is room. */
uint32_t lmi_octree_cut_points(const lmi_body *body, const lmi_slashes *slashes, lm_vec3 *points);

/* Touch points at rest positions; the first ones may be those of `past`, which saves time and changes nothing. False when out of
 * memory. */
bool lmi_touch_embed_octree(lm_world *world, const lmi_body *body, const lmi_octree_past *past, const lm_vec3 *points,
                            uint32_t count, lmi_touch *touch);

#endif
