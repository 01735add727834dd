/*
 * Planning what of an octree's skin a cut changes: between skin_octree_plan.c, which finds it, and skin_octree_cut.c, which writes
 * the skin.
 */
#ifndef LMI_SKIN_OCTREE_PLAN_H
#define LMI_SKIN_OCTREE_PLAN_H

#include "skin/skin_octree_look.h"

typedef struct lmi_shell_plan {
    lm_world *world;
    lmi_memory *memory;
    lmi_octree_shell *shell;
    const lmi_octree *t;
    const lmi_shell_change *change;
} lmi_shell_plan;

static inline uint64_t lmi_shell_key(bool inner, uint32_t vertex, uint32_t group)
{
    return (uint64_t)inner << 48 | (uint64_t)vertex << 12 | group;
}

static inline bool lmi_copy_is_inner(const lmi_shell_copy *copy) { return copy->key >> 48; }
static inline uint32_t lmi_copy_vertex_of(const lmi_shell_copy *copy) { return (uint32_t)(copy->key >> 12); }

/* Finds what a cut touches: vertices (mark), triangles (redo), faces and copies (shell->next); where copies were before
 * (origin, of copies to be, and moved, of copies as they were; or LMI_OCTREE_NONE). False when out of memory. */
bool lmi_shell_find_touched(lmi_shell_plan *plan);

/* Forgets the marks. */
void lmi_shell_unmark(lmi_octree_shell *shell);

/* What is around a vertex, found once a plan; null when out of memory. Good until the next call. */
const lmi_shell_look *lmi_shell_known(lmi_shell_plan *plan, uint32_t vertex);

/* The vertex of the skin to be that a corner at a vertex has, of a triangle that belongs to a voxel. LMI_OCTREE_NONE: out of
 * memory. */
uint32_t lmi_shell_index(lmi_shell_plan *plan, uint32_t vertex, uint32_t voxel, bool inner);

/* The voxel that a vertex as it was given rides with. */
uint32_t lmi_shell_base(lmi_shell_plan *plan, uint32_t vertex);

#endif
