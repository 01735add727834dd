/*
 * Skins of lattices that a blade has cut: the blade's own surface, whatever the cells.
 *
 * The skin is clipped by the blade (geometry/clip.h) where the body is now; what lies between vertices of the skin has its place at rest
 * from them, and what is inside from the cells around it. The rest of the skin stays as it is: its vertices keep their places and
 * normals, and those on edges that were divided have what is between the ends. Faces have vertices of their own, with normals, and
 * coordinates in metres on the blade.
 *
 * Vertices at one place that belong together are one point: both sides of a cut are in the same place too, and are two. A point rides on
 * the nearest whole cell whose middle it can see, past the faces of cuts, continued beyond that cell: each side follows its own
 * particles. What no cell's middle is in, a sliver, rides on what is near.
 *
 * Links are broken from chip to chip (fracture/), as far as chips lie on two sides of the blade; the skin is cut where the blade is.
 */
#ifndef LMI_SLIT_H
#define LMI_SLIT_H

#include "geometry/clip.h"
#include "lattice/lattice.h"
#include "world/world.h"

/* What a skin has besides, once it is cut. */
typedef struct lmi_slit {
    lmi_skin whole;      /* as it was given */
    uint32_t *point;     /* [vertices] the lowest vertex of its point */
    float (*uv)[2];      /* [vertices] of faces: metres on the blade */
    uint32_t *material;  /* [vertices] of faces */
    lm_vec3 (*walls)[3]; /* where blades went, at rest, and a little beyond the skin: what points do not look past */
    uint32_t wall_count;
    uint32_t count; /* vertices */
    uint32_t cuts;
} lmi_slit;

void lmi_slit_free(lm_world *world, lmi_slit *slit);

/* A cut on its way: what the blade meets, then what the skin becomes. */
typedef struct lmi_slit_plan {
    lmi_sheet sheet;
    lm_dvec3 *points;         /* [vertices] where points are now */
    uint32_t (*triangles)[3]; /* by their points */
    bool *inner;              /* [triangles] of faces */
    uint32_t *point;          /* [vertices] */
    uint32_t vertex_count, triangle_count;
    lmi_clip *clips; /* of each part of the body */
    uint32_t clip_count;
    uint32_t *which, *first; /* triangles by part */
    uint32_t part_count;
    uint32_t material;
    bool met;    /* the blade meets the skin */
    bool failed; /* it cannot be clipped */
    /* What comes of it. */
    lmi_skin skin;
    lmi_slit *slit;
    lm_vec3 (*walls)[3]; /* of this cut */
    uint32_t wall_count, wall_room;
    lm_dvec3 *eyes; /* [new vertices] a little off the blade, on its own side, where it is now */
} lmi_slit_plan;

/* What a blade meets. False when out of memory. */
bool lmi_slit_meet(lm_world *world, const lmi_body *body, const lmi_stroke *stroke, lmi_slit_plan *plan);

/* What the skin becomes, of a body whose lattice is to be `next`. False when out of memory. */
bool lmi_slit_make(lm_world *world, const lmi_body *body, const lmi_lattice *next, lmi_slit_plan *plan);

/* Puts it in place. Needs no memory. */
void lmi_slit_carry_out(lm_world *world, lmi_body *body, lmi_slit_plan *plan);
void lmi_slit_drop(lm_world *world, lmi_slit_plan *plan);

/* Whether a place is in a whole cell of a part, or at most `far` spacings from one. */
bool lmi_slit_is_near(const lmi_body *body, uint32_t part, const double at[3], double far);

/* slit_walls.c: where the blade goes through each part, at rest; `rest` and `first_node`: of the nodes of all clips. False when out of memory. */
bool lmi_slit_walls(lm_world *world, const lmi_body *body, lmi_slit_plan *plan, const double (*rest)[3],
                    const uint32_t *first_node);

/* A normal of what is at a place at rest, from one of the same now. */
lm_dvec3 lmi_slit_turn_back(const lmi_body *body, uint32_t part, const double at[3], lm_dvec3 normal);

/* slit_ride.c: what all points of the plan's skin ride on that are new, or that the cut has parted from it. */
bool lmi_slit_ride(lm_world *world, const lmi_body *body, const lmi_lattice *next, lmi_slit_plan *plan);

/* The place at rest, along the lattice's axes in spacings, of a point inside that is at `at` now, from the body's origin. `guess` is near
 * it. */
void lmi_slit_find_rest(const lmi_body *body, uint32_t part, lm_dvec3 at, double guess[3]);

/* From and to the lattice's own axes. */
static inline void lmi_slit_locate(const lmi_lattice *l, lm_dvec3 rest, double at[3])
{
    const double from[3] = {rest.x - l->first.x, rest.y - l->first.y, rest.z - l->first.z};
    for (uint32_t a = 0; a < 3; a++) {
        at[a] = from[(a + l->turn) % 3] / l->spacing;
    }
}

static inline lm_dvec3 lmi_slit_rest(const lmi_lattice *l, const double at[3])
{
    double rest[3];
    for (uint32_t a = 0; a < 3; a++) {
        rest[(a + l->turn) % 3] = at[a] * l->spacing;
    }
    return (lm_dvec3){l->first.x + rest[0], l->first.y + rest[1], l->first.z + rest[2]};
}

#endif
