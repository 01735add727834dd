/*
 * cut/: blades and what they do to a body. Lattices break along a blade (fracture/), octrees become others (octree/),
 * clusters and tetrahedra are cut here.
 *
 * reads   a blade, and where a body is now
 * writes  the body: bonds, regions, links between voxels, skin
 * uses    geometry octree; in sources also base touch world fracture skin joint lattice
 *
 *   body_cut.c  lm_body_cut, for every kind       cluster_cut.c  clusters and tetrahedra
 *   grain.h     what is connected in them         grain_voxels.c  voxels inside their skin
 *   ready.h     what is made before it is needed
 *   split.c     pieces that become bodies: lm_body_split, and pieces that are dropped
 *   piece.h     a body that is made of some particles of another; piece_lattice.c, piece_octree.c, piece_skin.c its parts
 */
#ifndef LMI_CUT_H
#define LMI_CUT_H

#include "cut/grain.h"

/* Cuts a body of clusters or tetrahedra. `*fault`: what is wrong, where that is not memory. */
lm_result lmi_cluster_cut(lm_world *world, lmi_body *body, const lmi_stroke *stroke, lm_cut_info *info,
                          const char **fault);

#endif
