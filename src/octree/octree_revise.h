/*
 * Trees that come from others: links are cut, leaves divided, nodes joined into leaves.
 *
 * Only nodes in which something changes are made again; below the others everything is copied, and so are neighbours and regions
 * that no change is near. What comes out is the same, array by array, as a tree that is made from nothing with the same links and
 * the same cells (all of it: numbers of nodes and leaves, neighbours, regions).
 */
#ifndef LMI_OCTREE_REVISE_H
#define LMI_OCTREE_REVISE_H

#include "octree/octree_blade.h"

/* What is to become of a tree. */
typedef struct lmi_octree_wish {
    const lmi_slashes *slashes; /* links to cut; null: none */
    uint32_t finest;            /* leaves that a cut ends in are divided down to cells of 2^finest voxels */
    const uint8_t *level;       /* [leaves] leaves are divided down to this level; null: none are */
    const uint8_t *home; /* [voxels] and no farther than to the levels that their voxels want; null: all of them */
    const bool *join;    /* [nodes] nodes that become leaves; null: none do */
} lmi_octree_wish;

/* Widths are those of the leaves that the new ones were part of, or the mean of those that were joined. `*found`: regions that had
 * to be found again. LM_ERROR_MEMORY: the new tree is empty. */
lm_result lmi_octree_revise(lmi_octree *tree, lmi_memory *memory, const lmi_octree *before, const lmi_octree_wish *wish,
                            uint32_t *found);

/* Whether a node with children can become a leaf: no link between leaves below it is cut by a blade or leads across a gap. */
bool lmi_octree_can_join(const lmi_octree *tree, uint32_t node);

#endif
