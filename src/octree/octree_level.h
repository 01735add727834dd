/*
 * Level of detail of octrees: what its two files share.
 */
#ifndef LMI_OCTREE_LEVEL_H
#define LMI_OCTREE_LEVEL_H

#include "octree/octree_change.h"
#include "octree/octree_revise.h"

/* The level of the largest cells that are no wider than `side` metres; 0 where even voxels are wider. */
static inline uint32_t lmi_octree_level_of(const lmi_octree *t, double side)
{
    uint32_t level = 0;
    while (level < t->levels && t->voxels.spacing * (double)(2u << level) <= side * (1.0 + 1e-6)) {
        level++;
    }
    return level;
}

static inline double lmi_octree_side(const lmi_octree *t, uint32_t level)
{
    return t->voxels.spacing * (double)(1u << level);
}

/* Marks the nodes below which all may be one leaf: `home` of their voxels wants it, nothing is cut between them, and nothing is
 * pinned. The largest of each; returns how many. */
uint32_t lmi_octree_find_joins(const lmi_octree *tree, const uint8_t *home, const bool *held, bool *join);

/* Divides and joins. LM_ERROR_MEMORY or LM_ERROR_LIMIT; then nothing has changed. `budget`: particles at most, unless there are no
 * more than before. The caller frees the change, or takes it back. */
lm_result lmi_octree_relevel(lmi_octree_change *change, const lmi_octree_wish *wish, uint32_t budget);

/* Which leaves pins hold, by leaf. */
void lmi_octree_held_leaves(const lm_world *world, const lmi_body *body, bool *held);

#endif
