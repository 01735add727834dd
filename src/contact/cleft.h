/*
 * Contacts of cut octrees.
 *
 * A blade leaves two faces where the field of the rest shape knows of none.
 *
 * Other bodies. A point is taken into the rest shape by the carriers near it, but only by those that see where they take it: along a
 * line that crosses no cut (octree/octree_sight.h). In an open gap each side takes the point to beyond its own face, where it does
 * not see it: so the gap is empty. Inside a side the nearest of the surface and the cut's faces says how deep the point is.
 *
 * The two sides of a cut touch each other where a body touches itself. Each link that is cut has a touch point on either side
 * (octree/touch_octree.h), a small disc that faces out. A point is kept out of the disc of another side that faces it; a table by cells
 * of space finds these. Discs with body between them are two sides of a slice, and do not touch.
 */
#ifndef LMI_CLEFT_H
#define LMI_CLEFT_H

#include "octree/octree_body.h"

/* The discs of a body, and where they are in this substep. */
typedef struct lmi_clefts {
    uint32_t count, buckets;
    uint32_t *point; /* [count] touch points */
    uint32_t *of;    /* [touch points] one more than its number among the discs, or 0 */
    uint32_t points;
    lm_vec3 *place;        /* [count] on the blade, rest pose */
    lm_dvec3 *normal;      /* [count] out, unit */
    uint32_t *head, *next; /* [buckets], [count] discs by cell; LMI_NONE ends a list */
    double cell;
} lmi_clefts;

/* The discs of a body that touches itself and is cut; *clefts is null where there are none. False when out of memory. */
bool lmi_clefts_make(lm_world *world, const lmi_body *body, lmi_clefts **clefts);
void lmi_clefts_free(lm_world *world, lmi_clefts *clefts);

/* Where they are, after touch points and carriers were brought up to date. */
void lmi_clefts_update(const lmi_body *body);

/* The disc that a touch point is in or up to `margin` before: how deep, and whose carrier answers. */
bool lmi_cleft_meet(const lmi_body *body, uint32_t point, double margin, lmi_inside *inside);

/* A point that was found in a body that is cut: whether it is, and how deep. */
bool lmi_cleft_inside(const lmi_body *body, lm_dvec3 point, double margin, lmi_inside *inside);

static inline bool lmi_is_cut_octree(const lmi_body *body) { return body->octree && body->octree->tree.bend_count > 0; }

#endif
