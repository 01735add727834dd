/*
 * Cuts through octrees.
 *
 * A blade is a soup of triangles in the world. Each leaf carries its voxels along by an affine map; a link between two voxels is
 * cut when the line between their middles, where they are now, crosses a triangle. What is connected in a cell then falls into
 * nodes of its own (octree.h), so that a cell that is cut through becomes two leaves of the same size. Where a blade ends inside
 * a cell there is nothing to fall apart; such leaves are divided, down to the cells that the caller wants.
 *
 * Links are cut at the faces of voxels, which is where the surface opens (skin/skin_octree_cut.c). So that these steps do not
 * show, the corners of the faces are moved onto the blade (lmi_octree_bend): both sides of a cut share them, and whatever
 * one side loses the other one gains.
 *
 * Steinemann, Otaduy and Gross 2008, section 5.
 */
#ifndef LMI_OCTREE_BLADE_H
#define LMI_OCTREE_BLADE_H

#include "geometry/blade.h"
#include "octree/octree.h"

/* x = at + linear (X - rest) */
typedef struct lmi_octree_map {
    lm_dvec3 rest, at;
    dmat3 linear;
} lmi_octree_map;

/* A link that a blade crosses: from a voxel to the next one along an axis. */
typedef struct lmi_slash {
    uint32_t voxel, axis;
    double share;    /* of the way */
    lm_dvec3 normal; /* of the blade in the rest pose, unit */
} lmi_slash;

typedef struct lmi_slashes {
    lmi_slash *items; /* by voxel and axis */
    uint32_t count, capacity;
} lmi_slashes;

/* Links that are crossed and have not been cut by a blade before. `maps`: of the leaves; the blade is given from the same point as
 * their `at`. `pieces`: that each leaf is of; null: of the first. False when out of memory. */
bool lmi_octree_find_slashes(const lmi_octree *tree, lmi_memory *memory, const lmi_octree_map *maps,
                             const lmi_stroke *stroke, const uint32_t *pieces, lmi_slashes *slashes);
void lmi_slashes_free(lmi_slashes *slashes, lmi_memory *memory);

/* A tree like another with these links cut, leaves that the cut ends in divided down to cells of 2^finest voxels. Widths are
 * those of the leaves that the new ones were part of. `*found`: regions that had to be found again. */
lm_result lmi_octree_cut(lmi_octree *tree, lmi_memory *memory, const lmi_octree *before, const lmi_slashes *slashes,
                         uint32_t finest, uint32_t *found);

/* The bends that there were, and those of the corners of new faces: the mean of what these want, no farther than the next
 * corner. Corners stay where an earlier cut has put them. `slashes` may be null. False when out of memory. */
bool lmi_octree_add_bends(lmi_octree *tree, lmi_memory *memory, const lmi_octree *before, const lmi_slashes *slashes);

/* How far a corner of voxels is moved, in voxels. */
lm_dvec3 lmi_octree_bend_at(const lmi_octree *tree, uint32_t x, uint32_t y, uint32_t z);

#endif
