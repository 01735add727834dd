/*
 * Dividing cells: the parts that trees are made of, from nothing (octree_divide.c) or from another tree (octree_revise.c).
 */
#ifndef LMI_OCTREE_DIVIDE_H
#define LMI_OCTREE_DIVIDE_H

#include "octree/octree.h"

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

/* Nodes for the voxels `first` to `first + count - 1` of voxel_order, ascending, which are those in one cell: one for each set that
 * hangs together. The lowest voxel of a set decides their order. Their owner is that node until it is divided. */
bool lmi_octree_add_cell(lmi_octree_divider *divider, const uint32_t cell[3], uint32_t level, uint32_t parent,
                         uint32_t first, uint32_t count);

/* Replaces a node without children, whose voxels are ascending, by what it has in each eighth of its cell. */
bool lmi_octree_divide_node(lmi_octree_divider *divider, uint32_t node);

/* Numbers the leaves when all nodes are there, and makes room for their widths. */
bool lmi_octree_find_leaves(lmi_octree *tree, lmi_memory *memory);

#endif
