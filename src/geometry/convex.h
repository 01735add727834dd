/*
 * Convex bodies with flat faces: a box, cut by one half-space after another.
 *
 * Corners are shared by the faces around them. A corner counts as inside or outside of a plane, never as on it, so that faces
 * stay connected the way they are whatever coincides; what becomes of coincidences are edges and faces without a length or area.
 */
#ifndef LMI_CONVEX_H
#define LMI_CONVEX_H

#include "geometry/blade.h"

typedef struct lmi_convex {
    lm_dvec3 *points;
    uint32_t point_count, point_room;
    uint32_t *loops; /* corners of the faces, counter-clockwise from outside */
    uint32_t loop_count, loop_room;
    uint32_t *first; /* [faces + 1] of each in loops */
    uint32_t first_room;
    uint32_t *plane; /* [faces] the plane that made it, or LMI_CONVEX_BOX */
    uint32_t plane_room;
    uint32_t face_count; /* 0: nothing is left */
} lmi_convex;

#define LMI_CONVEX_BOX UINT32_MAX

/* False when out of memory; to be freed then, too. */
bool lmi_convex_box(lmi_convex *convex, lmi_memory *memory, const lmi_box *box);

/* Leaves what is on the lower side of a plane: normal . x < offset. The new face has the name `plane`. */
bool lmi_convex_cut(lmi_convex *convex, lmi_memory *memory, lm_dvec3 normal, double offset, uint32_t plane);
void lmi_convex_free(lmi_convex *convex, lmi_memory *memory);

#endif
