/*
 * A body as a solid that others touch: its mould, carried along as the body deforms.
 *
 * Each carrier has the affine map of the particles around it. A point of the world near some of them is taken into the rest
 * shape by the blend of their inverse maps, which changes smoothly with the point; there the mould says how deep it is.
 */
#ifndef LMI_BULK_H
#define LMI_BULK_H

#include "touch/mould.h"

typedef struct lmi_bulk {
    lmi_mould *mould;

    /* Where the carriers are, since lmi_kernels.carry_bulk: relative to the body's origin. Both up to a multiple of LMI_BLOCK. */
    float *map;   /* [carriers][16] x_c, then s = X_c - F^-1 x_c, then F^-1 row by row, one unused */
    float *place; /* [3][carriers] x_c; those beyond the last are far away */

    /* The body as a whole: one affine map for all of it, X = rest_middle + whole (x - middle), and how far in the rest shape
     * the blend may be from it. What is further from the surface than that is in no contact. */
    lm_vec3 middle;
    float whole[9]; /* F^-1, row by row */
    float slack;    /* metres */
} lmi_bulk;

/* Where carriers are that there are none of, metres. */
#define LMI_BULK_FAR 1e18f

/* Where a carrier is, and F^-1 there. */
static inline lm_dvec3 lmi_bulk_at(const lmi_bulk *solid, uint32_t carrier)
{
    const float *map = solid->map + (size_t)carrier * 16;
    return dvec(map[0], map[1], map[2]);
}

static inline dmat3 lmi_bulk_inverse(const lmi_bulk *solid, uint32_t carrier)
{
    const float *m = solid->map + (size_t)carrier * 16 + 6;
    return (dmat3){{{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}}};
}

/* Carriers with those that fill up the last block of lanes. */
static inline uint32_t lmi_bulk_lanes(const lmi_mould *mould)
{
    return (mould->carrier_count + LMI_BLOCK - 1) / LMI_BLOCK * LMI_BLOCK;
}

/* A point taken into a solid. */
typedef struct lmi_inside {
    lm_dvec3 rest;    /* where in the rest shape */
    double depth;     /* metres below the surface, as it is now; below 0 outside */
    lm_dvec3 normal;  /* out of it, unit, world axes */
    lm_vec3 out;      /* the same in the rest shape, about a unit */
    uint32_t carrier; /* the nearest */
} lmi_inside;

/* The points of a block in a solid; bits of `found` say which are there. */
typedef struct lmi_insides {
    lmi_inside inside[LMI_BLOCK];
    uint32_t found;
} lmi_insides;

/* Which points of a block were in the solid or near it before, and the way out of it then (lmi_warm.out). */
typedef struct lmi_recalled {
    uint32_t which;
    lm_vec3 out[LMI_BLOCK];
} lmi_recalled;

/* The solid of a body. A mesh without triangles: its particles. False when out of memory. */
bool lmi_bulk_make(struct lm_world *world, const struct lmi_body *body, const lmi_touch_mesh *mesh, lmi_bulk *solid);
void lmi_bulk_free(struct lm_world *world, lmi_bulk *solid);

/* The solid of a mould (null: false), which it takes over. False when out of memory; then the mould is given back. */
bool lmi_bulk_of_mould(struct lm_world *world, lmi_mould *mould, lmi_bulk *solid);

/* Which way a touch point of the same body faces, unit, world axes; after carry_bulk. */
lm_dvec3 lmi_bulk_facing(const lmi_bulk *solid, const lmi_touch *touch, uint32_t point);

/* Depth and direction of a point, from the distance and slope where it is in the rest shape (which, with the nearest carrier,
 * is in `inside` already) and the F^-1 there. False when it is further than `margin` outside. */
bool lmi_bulk_conclude(const lmi_bulk *solid, lm_dvec3 point, double distance, lm_dvec3 slope, const dmat3 *inverse,
                       double margin, lmi_inside *inside);

/* Particles and weights whose sum is the point (relative to the body's origin): of the lattice's cell around it, where there
 * is one, to second order; else of the nearest carrier. Returns how many. */
uint32_t lmi_bulk_grip(const lmi_bulk *solid, const struct lmi_body *body, const lmi_inside *inside, lm_dvec3 point,
                       uint32_t riders[LMI_CARRIER_MOST], float weights[LMI_CARRIER_MOST]);

#endif
