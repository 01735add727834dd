/*
 * A skin that opens as links break (skin/surface.h): cut between particles whose link has broken, each side closed by an inner
 * face.
 *
 * Vertices. Those of the divided surface come first, in their order, each for the group of boxes that its first triangle is in.
 * Then copies: for the other groups of a vertex, by vertex; then those of inner faces, by vertex and direction. Triangles of the
 * surface come first, in their order, then inner faces by their links, a triangle of the lower side and the same of the upper one
 * in turn. So vertices and triangles depend on which links are broken, and not on the order in which they broke.
 *
 * A break is local: what may change is known by place. Vertices near the links and the middles of their cells get their
 * copies again, and the faces around these their corners. Everything else stays, but for moving up or down in the lists. All that
 * may fail is done aside, in a plan; carrying it out needs no memory.
 */
#ifndef LMI_SKIN_OPEN_H
#define LMI_SKIN_OPEN_H

#include "fracture/fracture.h"
#include "skin/surface.h"

/* A vertex of its own for a group of boxes. The list is sorted by key, then owner. */
typedef struct lmi_skin_copy {
    uint64_t key;   /* from the highest bits on: whether it is of an inner face, vertex, side, group */
    uint32_t owner; /* of LMI_CUT_ALONE the particle, else 0 */
} lmi_skin_copy;

/* Of the cut, or a node. */
static inline uint32_t lmi_copy_vertex(const lmi_skin_copy *copy) { return (uint32_t)(copy->key >> 8); }

/* 0: of the surface; 1 to 6: of inner faces, by the axis and direction of their normals. */
static inline uint32_t lmi_copy_side(const lmi_skin_copy *copy) { return (uint32_t)(copy->key >> 4 & 7); }

/* As in lmi_cut_around. */
static inline uint8_t lmi_copy_group(const lmi_skin_copy *copy) { return (uint8_t)(copy->key & 15); }

static inline bool lmi_copy_same(const lmi_skin_copy *a, const lmi_skin_copy *b)
{
    return a->key == b->key && a->owner == b->owner;
}

/* The face across a broken link. */
typedef struct lmi_open_face {
    lmi_lattice_link link;
    uint32_t first, count; /* in the list of triangles */
    uint32_t before;       /* where it began before the last break; LMI_LATTICE_NONE: it is new */
    bool touched;          /* some of its vertices may have other copies than before */
} lmi_open_face;

/* Copies and faces of a set of broken links. */
typedef struct lmi_open_lists {
    lmi_skin_copy *copies; /* sorted */
    uint32_t copy_count, copy_capacity;
    lmi_open_face *faces; /* by particle, then axis */
    uint32_t face_count, face_capacity;
    uint32_t (*triangles)[3]; /* of the faces, counter-clockwise from the far end of the link */
    uint32_t triangle_count, triangle_capacity;
} lmi_open_lists;

typedef struct lmi_opening {
    lmi_cut *cut;
    const lmi_fracture *fracture; /* of the body */
    lmi_open_lists now;
    lmi_skin ready; /* the skin that opens, until it is shown: the body has it from the first break on */

    /* What a break touches; room for that grows, and stays. */
    uint32_t
        *vertex_marks;    /* [vertices of the cut] 0, 1: touched, or 2 + the first of its fresh copies on inner faces */
    uint32_t *cell_marks; /* [places] the same of middles of cells */
    uint32_t *vertices;   /* whose copies are found again */
    uint32_t vertex_count, vertex_capacity;
    uint32_t *cells; /* whose middles' copies are */
    uint32_t cell_count, cell_capacity;
    lmi_lattice_link *links; /* whose faces have such vertices */
    uint32_t link_count, link_capacity;
    lmi_skin_copy *fresh; /* the copies found again */
    uint32_t fresh_count, fresh_capacity;
    uint32_t *fresh_at; /* where they are in the list to be */
    uint32_t fresh_at_capacity;
    uint32_t *moved; /* where copies of the list so far will be, or LMI_LATTICE_NONE */
    uint32_t moved_capacity;
    lmi_cut_face face;
    struct lmi_known *known; /* [LMI_KNOWN] what is around vertices that were looked at lately */
} lmi_opening;

enum { LMI_KNOWN = 2048 };

typedef struct lmi_known {
    lmi_cut_around around;
    uint32_t vertex; /* LMI_LATTICE_NONE: nothing is known */
} lmi_known;

/* What is around a vertex; until the next call. */
const lmi_cut_around *lmi_opening_look_around(lmi_opening *opening, const lmi_lattice *lattice, uint32_t vertex);

/* Of the body's skin as it was given, with the links of its lattice that are broken; the body has its chips. Null when out of
 * memory. */
lmi_opening *lmi_opening_make(lm_world *world, const lmi_body *body, const lmi_skin *given);
void lmi_opening_free(lm_world *world, lmi_opening *opening);

/* What the skin becomes when links of `next` that held until now have broken. `links` are sorted. False when out of memory; then
 * there is nothing to drop. */
bool lmi_opening_plan(lm_world *world, const lmi_body *body, const lmi_lattice *next, const lmi_lattice_link *links,
                      uint32_t count, lmi_open_lists *plan);
void lmi_opening_drop(lm_world *world, lmi_opening *opening, lmi_open_lists *plan);

/* Carries a plan out; the body's lattice is the one that it was made for. */
void lmi_opening_carry_out(lm_world *world, lmi_body *body, lmi_open_lists *plan);

/* --- between skin_open_plan.c and skin_open.c --- */

/* `before` has the links that held so far; null: the opening is new, and none was broken. */
bool lmi_open_lists_plan(lm_world *world, lmi_opening *opening, const lmi_lattice *before, const lmi_lattice *next,
                         const lmi_lattice_link *links, uint32_t count, lmi_open_lists *plan);
void lmi_open_lists_free(lm_world *world, lmi_open_lists *lists);
void lmi_opening_forget(lmi_opening *opening); /* what was touched */

/* The mark of a vertex: not 0 where it is touched. */
static inline uint32_t *lmi_opening_mark(const lmi_opening *opening, uint32_t vertex)
{
    return vertex < LMI_CUT_NODE ? &opening->vertex_marks[vertex] : &opening->cell_marks[vertex - LMI_CUT_NODE];
}

/* For qsort. */
int lmi_compare_copies(const void *a, const void *b);

/* The copy that a particle's triangles have, as it is in the lists. */
lmi_skin_copy lmi_copy_of(uint32_t vertex, uint32_t side, const lmi_cut_around *around, uint32_t particle);

#endif
