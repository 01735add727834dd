/*
 * A point of the rest pose as a barycentric sum of the corners of its tetrahedron.
 */
#ifndef LMI_EMBED_TETS_H
#define LMI_EMBED_TETS_H

#include "base/memory.h"

/* A box around some tetrahedra. */
typedef struct lmi_tet_box {
    float lower[3], upper[3];
} lmi_tet_box;

/* Finds tetrahedra near points: a binary tree of boxes, each node divided in halves along its longest side. */
typedef struct lmi_tet_finder {
    const lm_vec3 *rest;
    const uint32_t *tets; /* four indices each */
    uint32_t count;
    uint32_t *sorted;
    lmi_tet_box *boxes; /* boxes[1] is the root, 2n and 2n + 1 are below n, the last `leaves` of them are leaves */
    uint32_t leaves;    /* a power of two */
} lmi_tet_finder;

bool lmi_tet_finder_make(lmi_tet_finder *finder, lmi_memory *memory, const lm_vec3 *rest, const uint32_t *tets,
                         uint32_t count);
void lmi_tet_finder_free(lmi_tet_finder *finder, lmi_memory *memory);

/* Corners and weights (sum 1) of a point in a tetrahedron, or in the nearest one, from which it is extrapolated: then some
 * weights are negative. Extrapolating far from a flat tetrahedron would magnify its motion: one where no weight is
 * beyond 16 is preferred, however near the others are. Of several as near the first is taken. */
void lmi_embed_tets(const lmi_tet_finder *finder, lm_vec3 point, uint32_t particles[4], float weights[4]);

#endif
