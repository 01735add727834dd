/*
 * A body as a solid that others touch: the distance from its surface, and what carries that along as the body deforms.
 *
 * Distance. Signed distances (metres, below 0 inside) at the nodes of a coarse grid over the rest shape, from the mesh that
 * is seen or, for a bare cloud, from balls around its particles. Any soup of triangles will do: what cannot be reached from
 * outside along the edges of the grid without crossing a triangle is inside. Between nodes it is interpolated, and its
 * direction is taken from its differences, so that neither jumps.
 *
 * Carriers. Places spread through the body, each with the affine map of the particles around it: x = sum w_k x_k is where it
 * is, F = sum x_k g_k^T how space is stretched there. A point of the world near some of them is taken into the rest shape by
 * the blend of their inverse maps, which changes smoothly with the point.
 */
#ifndef LMI_BULK_H
#define LMI_BULK_H

#include "base/vec.h"
#include "sample/touch.h"

#define LMI_CARRIER_MOST 32 /* particles of a carrier */
#define LMI_BULK_CELLS 8    /* cells along an axis of the table that finds carriers */

typedef struct lmi_bulk {
    /* What it was made from: kept, because a snapshot saves this. No triangles: balls around the particles. */
    lm_vec3 *vertices;
    uint32_t *triangles;
    uint32_t vertex_count, triangle_count;

    float *distance; /* [n[2]][n[1]][n[0]] nodes */
    uint32_t n[3];
    lm_dvec3 first; /* position of node 0 */
    double cell;
    double radius;  /* of the balls; 0 for a mesh */
    double spacing; /* about that of the particles of a cloud */

    uint32_t carrier_count, carrier_riders; /* riders of each: the same number */
    uint32_t *used;                         /* [carriers] of them have weights */
    uint32_t *rider;                        /* [carriers][riders] places */
    float *weight;                          /* [carriers][riders] */
    float *gradient;                        /* [carriers][riders][3] */
    lm_vec3 *rest;                          /* [carriers] */
    double reach;                           /* metres from a carrier up to which it counts */

    /* Where the carriers are, since lmi_bulk_update: relative to the body's origin. */
    float *map;       /* [carriers][16] x_c, then s = X_c - F^-1 x_c, then F^-1 row by row, one unused */
    lm_dvec3 *at;     /* [carriers] */
    dmat3 *inverse;   /* [carriers] F^-1 */
    lm_dvec3 low;     /* of the table */
    double table;     /* side of its cells */
    uint32_t *starts; /* [LMI_BULK_CELLS^3 + 1] */
    uint32_t *items;  /* [carriers] by cell */

    /* The body as a whole: one affine map for all of it, X = rest_middle + inverse (x - middle), and how far in the rest shape
     * the blend may be from it. What is further from the surface than that is in no contact. */
    lm_vec3 rest_middle;
    float *lever; /* [carriers][3] F = sum x_c lever^T */
    lm_vec3 middle;
    float whole[9]; /* F^-1, row by row */
    float slack;    /* metres */
} lmi_bulk;

/* A point taken into a solid. */
typedef struct lmi_inside {
    lm_dvec3 rest;    /* where in the rest shape */
    double depth;     /* metres below the surface, as it is now; below 0 outside */
    lm_dvec3 normal;  /* out of it, unit, world axes */
    uint32_t carrier; /* the nearest */
} lmi_inside;

/* The points of a block in a solid; bits of `found` say which are there. */
typedef struct lmi_insides {
    lmi_inside inside[LMI_BLOCK];
    uint32_t found;
} lmi_insides;

/* The solid of a body. A mesh without triangles: its particles. False when out of memory; then nothing is left behind. */
bool lmi_bulk_make(struct lm_world *world, const struct lmi_body *body, const lmi_touch_mesh *mesh, lmi_bulk *solid);
void lmi_bulk_free(struct lm_world *world, lmi_bulk *solid);

/* Touch points on the outermost particles, for bodies that have no others. */
bool lmi_bulk_touch(struct lm_world *world, const struct lmi_body *body, const lmi_bulk *solid, lmi_touch *touch);

/* Which way the touch points of the same body face. */
void lmi_bulk_face(const lmi_bulk *solid, lmi_touch *touch);

/* The same now, unit, world axes; after lmi_bulk_update. */
lm_dvec3 lmi_bulk_facing(const lmi_bulk *solid, const lmi_touch *touch, uint32_t point);

/* Distance at a position of the rest shape. */
double lmi_bulk_distance(const lmi_bulk *solid, lm_dvec3 rest);

/* The same with its slope there. */
float lmi_bulk_slope(const lmi_bulk *solid, lm_vec3 rest, lm_vec3 *slope);

/* The cell of the table that a position is in, or the nearest one. */
void lmi_bulk_cells(const lmi_bulk *solid, lm_dvec3 at, uint32_t cell[3]);

/* Depth and direction of a point, from the distance and slope where it is in the rest shape (which, with the nearest carrier,
 * is in `inside` already) and the F^-1 there. False when it is further than `margin` outside. */
bool lmi_bulk_conclude(const lmi_bulk *solid, lm_dvec3 point, double distance, lm_dvec3 slope, const dmat3 *inverse,
                       double margin, lmi_inside *inside);

/* Brings the carriers to where the particles are. */
void lmi_bulk_update(lmi_bulk *solid, const struct lmi_body *body);

/* Whether a point (relative to the body's origin) may be in the solid or at most `margin` outside it. */
bool lmi_bulk_near(const lmi_bulk *solid, const float point[3], float margin);

/* Takes a point (relative to the body's origin) into the solid; false when it is near no carrier, or further than `margin`
 * outside. Carriers nearer to `not_near` in the rest shape than `apart` are passed over (0: none). */
bool lmi_bulk_find(const lmi_bulk *solid, lm_dvec3 point, double margin, lm_dvec3 not_near, double apart,
                   lmi_inside *inside);

/* Particles and weights whose sum is the point (relative to the body's origin): of the lattice's cell around it, where there
 * is one, to second order; else of the nearest carrier. Returns how many. */
uint32_t lmi_bulk_grip(const lmi_bulk *solid, const struct lmi_body *body, const lmi_inside *inside, lm_dvec3 point,
                       uint32_t riders[LMI_CARRIER_MOST], float weights[LMI_CARRIER_MOST]);

#endif
