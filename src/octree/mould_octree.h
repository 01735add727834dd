/*
 * Carriers of octrees, and how they follow a tree that changes.
 *
 * A carrier is a node of the tree, of about the size that carriers have in other bodies: a connected filled part of a cell.
 * Where a blade goes through the cell there are two, and neither knows of the other side.
 */
#ifndef LMI_MOULD_OCTREE_H
#define LMI_MOULD_OCTREE_H

#include "octree/octree_body.h"

/* How leaves and places were before a change. */
typedef struct lmi_octree_past {
    const lmi_body *body;
    const uint32_t *then; /* [leaves] the same leaf before, if all around it is the same too; else LMI_OCTREE_NONE */
    const uint32_t *now;  /* [leaves before] the same leaf now, or LMI_OCTREE_NONE */
} lmi_octree_past;

/* Makes the carriers of a mould that has its field already. `past` (or null) saves time and changes nothing. False when out of
 * memory. */
bool lmi_mould_carry_octree(lm_world *world, const lmi_body *body, const lmi_octree_past *past, lmi_mould *mould);

/* How far carriers reach, from the voxels alone: cuts do not change it. */
bool lmi_mould_reach_octree(lmi_memory *memory, const lmi_octree *tree, lmi_mould *mould);

/* The solid of a body that its change has planned: a mould without the field, which it takes from the one before when that is
 * given up. Null when out of memory. */
lmi_bulk *lmi_bulk_follow_octree(lm_world *world, const lmi_body *body, const lmi_octree_past *past);
void lmi_bulk_inherit(lmi_bulk *heir, lmi_bulk *old);

#endif
