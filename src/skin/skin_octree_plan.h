/*
 * Planning what of an octree's skin a cut changes: between skin_octree_plan.c, which finds it, and skin_octree_cut.c, which writes
 * the skin.
 */
#ifndef LMI_SKIN_OCTREE_PLAN_H
#define LMI_SKIN_OCTREE_PLAN_H

#include "skin/skin_octree_cut.h"

/* ---- around vertices ----
 *
 * What is around a vertex of an octree's skin: voxels, and which of them are connected.
 */

#define LMI_SHELL_WHOLE 0x100u /* a group: nothing is cut around the vertex */

/* A vertex on the faces of voxels is in the corner, edge or face of two, four or eight: bit a of a voxel's number is set for the
 * upper one of two along axis a of the boxes. Those that a blade has not parted are a group. */
typedef struct lmi_shell_look {
    uint32_t vertex;
    uint32_t voxel[8]; /* or LMI_OCTREE_NONE */
    uint8_t group[8];  /* the voxels that are in the same group as each, as bits */
    bool parted;
} lmi_shell_look;

/* The axis of the mesh that an axis of the boxes is along, and the other way round. */
static inline uint32_t lmi_shell_mesh_axis(const lmi_octree_shell *shell, uint32_t axis)
{
    return (axis + shell->boxes.turn) % 3;
}

static inline uint32_t lmi_shell_box_axis(const lmi_octree_shell *shell, uint32_t axis)
{
    return (axis + 3 - shell->boxes.turn) % 3;
}

/* Where arrays of a shell have a vertex of the cut or a node. */
static inline uint32_t lmi_shell_slot(const lmi_octree_shell *shell, uint32_t vertex)
{
    return vertex < LMI_CUT_NODE ? vertex : shell->cut->vertex_count + (vertex - LMI_CUT_NODE);
}

/* Where a place in spacings along the axes of the boxes is, in voxels from the first one. */
void lmi_shell_to_voxels(const lmi_octree_shell *shell, const double at[3], double out[3]);

/* The voxel whose middle is a corner of the boxes, and the other way round; or none. */
uint32_t lmi_shell_voxel_at(const lmi_octree_shell *shell, const lmi_octree *tree, const int32_t corner[3]);
uint32_t lmi_shell_box_of(const lmi_octree_shell *shell, const lmi_octree *tree, uint32_t voxel);

/* The cell of the boxes in whose middle a corner of voxels is, by the mesh's axes; or LMI_LATTICE_NONE. */
uint32_t lmi_shell_cell_at(const lmi_octree_shell *shell, int64_t x, int64_t y, int64_t z);

void lmi_shell_look_at(const lmi_octree_shell *shell, const lmi_octree *tree, uint32_t vertex, lmi_shell_look *look);

/* The group of a voxel around a vertex: LMI_SHELL_WHOLE, its voxels as bits, or 0: it is not around it. `*first`: its first voxel. */
uint32_t lmi_shell_group(const lmi_shell_look *look, uint32_t voxel, uint32_t *first);

/* Bits of the corners that a tree has moved and another (or null) has not are set or cleared. */
void lmi_shell_mark_bends(lmi_octree_shell *shell, const lmi_octree *tree, const lmi_octree *but, bool on);

/* Whether corners around a vertex are moved, and where that brings the vertex in the rest pose. */
bool lmi_shell_is_bent(const lmi_octree_shell *shell, const lmi_octree *tree, uint32_t vertex);
lm_vec3 lmi_shell_place(const lmi_octree_shell *shell, const lmi_octree *tree, uint32_t vertex);

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
