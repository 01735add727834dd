/*
 * An octree that becomes another: by cuts (octree_cut.c), or by cells that are divided or joined.
 *
 * What the body becomes is made aside, with particles, regions, pins and skin of its own, and put in place when nothing can fail
 * any more. Each new leaf was part of one leaf before, and takes its state: the velocity as it is, the place where the leaf's
 * region carries it, and its share of the mass. So mass, momentum and spin of the body are what they were.
 */
#ifndef LMI_OCTREE_CHANGE_H
#define LMI_OCTREE_CHANGE_H

#include "octree_body.h"
#include "sample/octree_blade.h"

typedef struct lmi_octree_change {
    lm_world *world;
    lmi_body *body;       /* as it is */
    lmi_body made;        /* as it will be */
    uint32_t *from;       /* [made leaves] the leaf that each was part of */
    lmi_octree_map *maps; /* [map_count] of the leaves as they were */
    uint32_t map_count;
    lmi_slashes slashes;
    lmi_pin *pins; /* [pins of the body] with new particles; in the order of the body's list */
    lmi_drag *drags;
    uint32_t pin_count, drag_count;
    uint32_t *shown; /* of the new skin (out/skin_octree_cut.h) */
} lmi_octree_change;

/* The affine map of each leaf's region, as skins use it. False when out of memory. */
bool lmi_octree_change_maps(lmi_octree_change *change);

/* Makes the body on a tree, which it takes over, and puts it in place. LM_ERROR_LIMIT or LM_ERROR_MEMORY; then nothing has
 * changed. */
lm_result lmi_octree_change_make(lmi_octree_change *change, lmi_octree *next);

void lmi_octree_change_free(lmi_octree_change *change);

/* octree_follow.c: touch points, distance field and skin of the new body. False when out of memory. */
bool lmi_octree_follow_touch(lmi_octree_change *change);
bool lmi_octree_follow_skin(lmi_octree_change *change);

#endif
