/*
 * The surface of a body of tetrahedra, in lanes.
 */
#ifndef LMI_SKIN_TETS_H
#define LMI_SKIN_TETS_H

#include "limber/limber.h"

/* What to carry where. A vertex has four riders, the corners of its tetrahedron. */
typedef struct lmi_skin_tets {
    const float *x; /* particles: x y z w */
    const uint32_t *riders;
    const float *weights;
    const lm_vec3 *edge_normals; /* of each vertex: its rest normal times the rest edges, see skin_tets.c */
    uint32_t count;              /* vertices, at least 1 */
    lm_vec3 *positions;          /* relative to the body's origin; may be null */
    lm_vec3 *normals;            /* of length 1 or 0; may be null */
} lmi_skin_tets;

#endif
