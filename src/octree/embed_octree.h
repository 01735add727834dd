/*
 * What is around a point of an octree, along its cells and never across a gap.
 */
#ifndef LMI_EMBED_OCTREE_H
#define LMI_EMBED_OCTREE_H

#include "octree/octree_body.h"

/* The leaf of the voxel that a point of the rest pose is in, or of the nearest one. */
uint32_t lmi_octree_leaf_at(const lmi_octree *tree, lm_vec3 point);

/* The mean side of the cells, metres. */
double lmi_octree_mean_side(const lmi_body *body);

#endif
