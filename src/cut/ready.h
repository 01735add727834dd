/*
 * What a body will need and has not needed yet, made beforehand: the solid that others touch, and what its first cut works on.
 * Nothing of it changes what the body does; snapshots and copies leave it out.
 */
#ifndef LMI_READY_H
#define LMI_READY_H

#include "cut/grain.h"

typedef struct lmi_ready {
    struct lmi_mould *mould; /* the rest shape as a solid, where nobody has needed it; else null */
    struct lmi_mould *bare;  /* and of the particles alone, where its touch points are found by it */
    lmi_grain *grain;        /* of clusters or tetrahedra that were not cut; else null */
    uint64_t shape;          /* the body's shape_hash when the grain was made */
    struct lmi_links *links; /* of a lattice that cannot break (fracture/fracture.h); else null */
} lmi_ready;

/* False when out of memory. */
bool lmi_ready_make_mould(lm_world *world, lmi_body *body, const lmi_touch_mesh *mesh);

/* Once the body has its solid. */
void lmi_ready_drop_mould(lm_world *world, lmi_body *body);

/* LM_ERROR_MEMORY, or LM_ERROR_ARGUMENT where the body could not be cut, for the reason in *fault. */
lm_result lmi_ready_make_grain(lm_world *world, lmi_body *body, const char **fault);

/* The grain, which is the caller's from here on, if it is that of the body as it is now; else null. */
lmi_grain *lmi_ready_take_grain(lm_world *world, lmi_body *body);

/* The links of a lattice that has none. LM_ERROR_LIMIT or LM_ERROR_MEMORY. And those that there are (or null), which are the caller's from
 * then on, and which it may give back (null is allowed). */
lm_result lmi_ready_make_links(lm_world *world, lmi_body *body);
struct lmi_links *lmi_ready_take_links(lmi_body *body);
void lmi_ready_give_links(lmi_body *body, struct lmi_links *links);

void lmi_ready_free(lm_world *world, lmi_body *body);

#endif
