/*
 * The skin of an octree that was cut: opened along the faces of voxels whose link a blade has cut, each side closed by an inner
 * face that lies on the blade.
 *
 * What is shown. Triangles of the skin stay as they were given, except for those that a cut goes through or bends: these are
 * *open*, shown as the pieces into which the faces of voxels divide them. A triangle beside an open one takes the vertices on
 * their common edge in, so that nothing gapes between them. So a skin grows by what was cut, not by what could be.
 *
 * Vertices that were given keep their numbers. Those that were added come after them: of the surface first, then of inner faces,
 * each for a group of voxels that are connected around it, by vertex and group. Triangles come in the order in which they were
 * given, then inner faces by their links, one of the lower side and the same of the upper side in turn. All this follows from
 * what is cut and not from the order in which it was cut, so that a world that was loaded has the same arrays.
 *
 * A cut is local. What it may change is known by place: vertices and triangles there are found again, all others are copied from
 * the skin as it was, with their numbers moved. Two skins take turns, with room to grow: in the steady state a cut allocates
 * nothing for them. All that can fail is done in a plan; carrying it out needs no memory.
 */
#ifndef LMI_SKIN_OCTREE_CUT_H
#define LMI_SKIN_OCTREE_CUT_H

#include "octree/octree_blade.h"
#include "octree/octree_body.h"
#include "skin/surface.h"

/* A vertex for one group of voxels around it. */
typedef struct lmi_shell_copy {
    uint64_t key;   /* from the highest bits on: whether it is of an inner face, vertex, group */
    uint32_t voxel; /* the first of the group; of a whole one the owner of its first triangle */
} lmi_shell_copy;

/* The face between a voxel and the next one along an axis of the boxes. */
typedef struct lmi_shell_face {
    uint32_t voxel, axis;
    uint32_t first, count; /* triangles, seen from the far side */
    uint32_t before;       /* where they were in the list before; LMI_OCTREE_NONE: the face is new */
    bool touched;          /* the copies of some of its vertices are found again */
} lmi_shell_face;

/* What is shown, for one set of cuts. */
typedef struct lmi_shell_lists {
    uint32_t *base;        /* [given vertices] the voxel that each rides with */
    uint32_t *first_shown; /* [given triangles + 1] the first of the triangles that it is shown as */
    lmi_shell_copy *copies;
    lmi_shell_face *faces;
    uint32_t (*corners)[3]; /* of the faces' triangles: vertices of the cut, or nodes */
    uint32_t copy_count, copy_capacity;
    uint32_t face_count, face_capacity;
    uint32_t corner_count, corner_capacity;
} lmi_shell_lists;

/* A list of numbers that grows. */
typedef struct lmi_shell_list {
    uint32_t *items;
    uint32_t count, capacity;
} lmi_shell_list;

struct lmi_shell_look;

/* A skin made ready to be cut. It follows from the voxels and the skin alone, so that it outlasts all cuts. */
struct lmi_octree_shell {
    lmi_skin whole;                 /* as it was given: vertices and triangles */
    uint64_t hash;                  /* of these */
    lmi_lattice boxes;              /* a lattice whose corners are the middles of voxels: its boxes are the voxels */
    lmi_cut *cut;                   /* that skin, divided along the faces of voxels */
    lm_vec3 *normals;               /* [cut vertices] of the surface, by the first vertex at a place */
    uint32_t *twin;                 /* [cut vertices] the next vertex at the same place, round and round */
    uint32_t *owner;                /* [cut triangles] the voxel that it belongs to */
    uint32_t *first_piece, *pieces; /* [given triangles + 1] into cut triangles */
    uint32_t *first_edge, *edge;    /* [given triangles + 1] into vertices around it, its first corner first */
    uint32_t edge_count;
    uint32_t slots; /* vertices of the cut and nodes */
    size_t corner_count;

    /* These only grow, as cuts do. */
    uint8_t *bent;  /* a bit for each corner of voxels: it is moved */
    uint8_t *open;  /* [given triangles] */
    uint8_t *shown; /* [cut vertices] by the first one at a place: it is a vertex of an open triangle */

    lmi_shell_lists now, next;
    lmi_skin spare; /* what the skin was before the last cut: the next one is written there */

    /* Work of a plan. */
    uint32_t *mark;                     /* [slots] 1: its copies are found again */
    uint32_t *look_of;                  /* [slots] one more than its number among the looks, or 0 */
    uint32_t *first_copy, *first_inner; /* [slots] in the list of copies; what is there tells whether it is so */
    uint8_t *redo;                      /* [given triangles] it is shown again */
    lmi_shell_list touched, opened, marked, redone, moved, origin, ring;
    lmi_shell_copy *fresh;
    uint32_t fresh_count, fresh_capacity;
    struct lmi_shell_look *looks;
    uint32_t look_count, look_capacity;
    lmi_cut_face face;
};

/* Whether the skin of a body is one that was cut. A body that is ready to be cut has a shell, and the skin that it was given. */
static inline bool lmi_octree_skin_is_cut(const lmi_octree_body *o) { return o && o->shell && o->tree.bend_count > 0; }

/* Null when out of memory. */
lmi_octree_shell *lmi_octree_shell_make(lm_world *world, const lmi_octree *tree, const lmi_skin *given);
void lmi_octree_shell_free(lm_world *world, lmi_octree_shell *shell);

/* Makes that of a body with a skin, where there is none. False when out of memory. */
bool lmi_octree_make_shell(lm_world *world, lmi_body *body);

/* How a skin is to change. */
typedef struct lmi_shell_change {
    const lmi_octree *before;   /* the tree that the skin is of; null: nothing of it can be taken over */
    const lmi_skin *skin;       /* as it is */
    const lmi_slashes *slashes; /* since then */
    const uint32_t *then; /* [leaves] the same leaf before, if all around it is the same too; else LMI_OCTREE_NONE */
    const uint32_t *now;  /* [leaves before] the same leaf now, or LMI_OCTREE_NONE */
} lmi_shell_change;

/* Plans the skin of a body whose tree has changed, in shell->spare and shell->next. False when out of memory: nothing has changed. */
bool lmi_octree_shell_plan(lm_world *world, const lmi_body *body, lmi_octree_shell *shell,
                           const lmi_shell_change *change);

/* Carries it out: *skin, which is as it was, becomes what was planned. */
void lmi_octree_shell_commit(lmi_octree_shell *shell, lmi_skin *skin);

/* Forgets the plan. */
void lmi_octree_shell_drop(lmi_octree_shell *shell, const lmi_octree *tree, const lmi_octree *before);

/* The skin of a body that is not cut, on a tree that has changed: the same vertices on other leaves. False when out of memory. */
bool lmi_octree_skin_again(lm_world *world, const lmi_body *body, const lmi_shell_change *change, lmi_skin *skin);

/* After a body that was cut got another skin, or was loaded: it is cut too. False when out of memory; then nothing has changed. */
bool lmi_octree_cut_given_skin(lm_world *world, lmi_body *body);

/* A hash of the skin that is shown: of what it was given as, and of the cuts. */
uint64_t lmi_octree_shell_hash(const lmi_octree_shell *shell, const lmi_octree *tree, uint64_t hash);

#endif
