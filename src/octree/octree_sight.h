/*
 * What sees what in an octree at rest: along straight lines that stay inside the body and cross no cut. And how deep a place is
 * below the faces of cuts that it sees.
 */
#ifndef LMI_OCTREE_SIGHT_H
#define LMI_OCTREE_SIGHT_H

#include "octree/octree.h"

/* A place of the rest pose in voxels from the first one. */
lm_dvec3 lmi_octree_in_voxels(const lmi_octree *tree, lm_dvec3 rest);

/* Whether a line, in voxels, crosses no link that a blade has cut, and does not come back into the body once it has left it. What is
 * outside at first counts as being where it comes in. */
bool lmi_octree_sees(const lmi_octree *tree, lm_dvec3 from, lm_dvec3 to);

/* The nearest face of a cut that bounds what is around a place, in voxels: how deep the place is below it (below 0: beyond) and which
 * way is out. `side`: a place that is certainly on the same side. False where none is near. */
bool lmi_octree_cut_depth(const lmi_octree *tree, lm_dvec3 at, lm_dvec3 side, double *depth, lm_dvec3 *normal);

#endif
