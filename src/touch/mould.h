/*
 * The mould of a body: its rest shape as a solid that others touch. Bodies of one shape share one, however many there are.
 *
 * Distance. Signed distances (metres, below 0 inside) at the nodes of a coarse grid over the rest shape, from the mesh that
 * is seen or, for a bare cloud, from balls around its particles. Any soup of triangles will do: what cannot be reached from
 * outside along the edges of the grid without crossing a triangle is inside. Between nodes it is interpolated, and its
 * direction is taken from its differences, so that neither jumps.
 *
 * Carriers. Places spread through the body, each with the particles around it and the weights that make an affine map of
 * them: x = sum w_k x_k is where the carrier is, F = sum x_k g_k^T how space is stretched there.
 *
 * The carriers of a cloud with particles all over its surface, as the vertices of a mesh are, are made of those alone. A push moves
 * them, and only slowly what lies below: in a dent they lie deeper than particles that were below them at rest, and a map of both
 * would say that there is no dent. Such particles are a sheet, which says nothing about the direction across it: there the map is
 * completed by the normal of the sheet (touch/stretch.h). Without that the map of a sheet that is bent flat has no inverse.
 */
#ifndef LMI_MOULD_H
#define LMI_MOULD_H

#include "base/vec.h"
#include "touch/touch.h"

#define LMI_CARRIER_MOST 32 /* particles of a carrier */

typedef struct lmi_mould {
    struct lmi_mould *next; /* in the list of the world */
    uint32_t users;
    bool shared;          /* in that list */
    uint64_t hash;        /* of the particles it was made for */
    uint32_t place_count; /* and how many places they have */

    /* The mesh it was made from: kept, because a snapshot saves this. No triangles: balls around the particles; those of an octree, which
     * cuts and details change, are kept as vertices. */
    lm_vec3 *vertices;
    uint32_t *triangles;
    uint32_t vertex_count, triangle_count;

    float *distance; /* [n[2]][n[1]][n[0]] nodes */
    uint32_t n[3];
    lm_dvec3 first; /* position of node 0 */
    double cell;
    double deep;    /* metres below the surface from which on its nearest place may not be where a point came in */
    double coarse;  /* how far carriers are from each other, at least, metres */
    double radius;  /* of the balls; 0 for a mesh */
    double spacing; /* about that of the particles of a cloud */

    uint32_t carrier_count, carrier_riders; /* riders of each: the same number */
    uint32_t *used;                         /* [carriers] of them have weights */
    uint32_t *rider;                        /* [carriers][riders] places */
    float *weight;                          /* [carriers][riders] */
    float *gradient;                        /* [carriers][riders][3] */
    lm_vec3 *rest;                          /* [carriers] */
    float *
        across; /* [carriers][4] of the sheet that its particles are at rest: unit normal, thickness; 0 where they are none */
    double reach; /* metres from a carrier up to which it counts */
    double far;   /* the same for points that have none so near: in the middle of a hollow body */
    double apart; /* metres: points that are nearer to each other at rest do not touch as parts of one body */

    uint32_t *of_leaf; /* [leaf_count] the carrier that each leaf of an octree is in; null for other bodies */
    uint32_t leaf_count;

    lm_vec3 rest_middle;
    float *lever; /* [carriers][3] the map of the body as a whole: F = sum x_c lever^T */

    /* All of that in lanes, LMI_BLOCK carriers to a block (mould_carriers.c). */
    uint32_t *first_row; /* [blocks + 1] rows of riders */
    uint32_t *row_rider; /* [rows][LMI_BLOCK] */
    float *row_hold;     /* [rows][4][LMI_BLOCK] weight and gradient */
    float *lanes;        /* [blocks][LMI_MOULD_LANES][LMI_BLOCK] */
    uint32_t block_count, row_count;
} lmi_mould;

/* Of a carrier in lanes: its place at rest, the normal of its sheet, its lever, and its share of the middle of all. Lanes beyond the
 * last carrier repeat it, with a lever and a share of 0. */
enum { LMI_MOULD_REST, LMI_MOULD_ACROSS = 3, LMI_MOULD_LEVER = 6, LMI_MOULD_SHARE = 9, LMI_MOULD_LANES };

/* Lays the carriers out in lanes, unless they are. False when out of memory: then they are not. */
bool lmi_mould_lay_out(lmi_memory *memory, lmi_mould *mould);
void lmi_mould_free_lanes(lmi_memory *memory, lmi_mould *mould);

/* The mould of a body, made or shared. A mesh without triangles: its particles. Null when out of memory. */
lmi_mould *lmi_mould_take(struct lm_world *world, const struct lmi_body *body, const lmi_touch_mesh *mesh);

/* A mould that has a mesh to be filled in and nothing else; nobody shares it. Null when out of memory. */
lmi_mould *lmi_mould_of_mesh(struct lm_world *world, uint32_t vertex_count, uint32_t triangle_count);

/* Gives it back. Null is allowed. */
void lmi_mould_give(struct lm_world *world, lmi_mould *mould);

/* A mould of a world becomes one of another, or the same one there takes its place; its memory stays where it was counted. */
lmi_mould *lmi_mould_adopt(struct lm_world *from, struct lm_world *to, lmi_mould *mould);

/* Frees those that no body uses, all but one. */
void lmi_moulds_tidy(struct lm_world *world, const lmi_mould *but);

/* Touch points on the outermost particles, for bodies that have no others. */
bool lmi_mould_touch(struct lm_world *world, const struct lmi_body *body, const lmi_mould *mould, lmi_touch *touch);

/* Which way the touch points of the same body face. */
void lmi_mould_face(const lmi_mould *mould, lmi_touch *touch);

/* Fits a carrier to particles, which stand sorted by distance from its place; returns the rank of the fit. Particles whose extent in
 * one direction is less than `sheet` times their largest are a sheet. */
#define LMI_FLAT 0.02 /* where particles fill space */

typedef struct lmi_mould_near {
    double square; /* distance */
    uint32_t particle;
} lmi_mould_near;

int lmi_mould_fit(const struct lmi_body *body, lmi_mould *mould, uint32_t carrier, const lmi_mould_near *near,
                  uint32_t count, double sheet);

/* mould_carriers.c: makes the carriers of a body that is no octree, where distances are known. False when out of memory. */
bool lmi_mould_make_carriers(struct lm_world *world, const struct lmi_body *body, lmi_mould *mould);

/* Sets `far`, when they are there. */
void lmi_mould_find_far(lmi_mould *mould);

/* After all carriers are there: what the affine map of the whole is made with. */
void lmi_mould_find_levers(lmi_mould *mould);

/* Room for carriers, as many as mould->carrier_count with mould->carrier_riders each. */
bool lmi_mould_allocate_carriers(lmi_memory *memory, lmi_mould *mould);

static inline lm_dvec3 lmi_mould_across(const lmi_mould *mould, uint32_t carrier)
{
    const float *across = mould->across + (size_t)carrier * 4;
    return dvec(across[0], across[1], across[2]);
}

/* Distance at a position of the rest shape. */
double lmi_mould_distance(const lmi_mould *mould, lm_dvec3 rest);

/* The same with its slope there. */
float lmi_mould_slope(const lmi_mould *mould, lm_vec3 rest, lm_vec3 *slope);

/* Distance and slope for a point that was found on its way in, where the way out was `out`: if the nearest way out now is another,
 * because the point has come past the middle of something thin or out on its other side, those of the way back. */
float lmi_mould_recall(const lmi_mould *mould, lm_vec3 rest, lm_vec3 out, lm_vec3 *slope);

#endif
