/*
 * Dividing cells: the parts that trees are made of, from nothing (octree_divide.c) or from another tree (octree_revise.c).
 */
#ifndef LMI_OCTREE_DIVIDE_H
#define LMI_OCTREE_DIVIDE_H

#include "octree/octree.h"
#include "octree/octree_blade.h"

typedef struct lmi_octree_divider {
    lmi_octree *tree;
    lmi_memory *memory;
    uint32_t *list;  /* [room] voxels on their way into voxel_order */
    uint32_t *stack; /* [room] of the flood */
    uint32_t room;   /* voxels that a base cell has at most */
} lmi_octree_divider;

bool lmi_octree_divider_make(lmi_octree_divider *divider, lmi_octree *tree, lmi_memory *memory);
void lmi_octree_divider_free(lmi_octree_divider *divider);

/* Adds a node at the end; false when out of memory. */
bool lmi_octree_add_node(lmi_octree *tree, lmi_memory *memory, const lmi_octree_node *node);

/* Nodes for the voxels `first` to `first + count - 1` of voxel_order, ascending, which are those in one cell: one for each
 * connected set. The lowest voxel of a set decides their order. Their owner is that node until it is divided. */
bool lmi_octree_add_cell(lmi_octree_divider *divider, const uint32_t cell[3], uint32_t level, uint32_t parent,
                         uint32_t first, uint32_t count);

/* Replaces a node without children, whose voxels are ascending, by what it has in each eighth of its cell. */
bool lmi_octree_divide_node(lmi_octree_divider *divider, uint32_t node);

/* Numbers the leaves when all nodes are there, and makes room for their widths. */
bool lmi_octree_find_leaves(lmi_octree *tree, lmi_memory *memory);

/* ---- trees that come from others ----
 *
 * Trees that come from others: links are cut, leaves divided, nodes joined into leaves.
 *
 * Only nodes in which something changes are made again; below the others everything is copied, and so are neighbours and regions
 * that no change is near. What comes out is the same, array by array, as a tree that is made from nothing with the same links and
 * the same cells (all of it: numbers of nodes and leaves, neighbours, regions).
 */

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
