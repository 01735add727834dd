/*
 * The surface of a lattice, in lanes.
 */
#ifndef LMI_SKIN_LATTICE_H
#define LMI_SKIN_LATTICE_H

#include "limber/limber.h"

/* What to carry where. A vertex has eight riders, the corners of its cell: bits 0, 1 and 2 of a corner's number tell on
 * which side it is along the body's x, y and z at rest. */
typedef struct lmi_skin_cells {
    const float *x; /* particles: x y z w */
    const uint32_t *riders;
    const float *weights;
    const lm_vec3 *rest_normals;
    uint32_t count;     /* vertices, at least 1 */
    float per_spacing;  /* 1 / spacing */
    lm_vec3 *positions; /* relative to the body's origin; may be null */
    lm_vec3 *normals;   /* of length 1 or 0; may be null */
} lmi_skin_cells;

#endif
