/*
 * An octree that becomes another: by cuts (cut/body_cut.c), or by cells that are divided or joined.
 *
 * What the body becomes is made aside, with particles, regions, pins and skin of its own, and exchanged with what it was when
 * nothing of it can fail any more. Exchanged once more it is what it was: a step that runs out of memory later takes its changes of
 * detail back. A new leaf that was part of one leaf before takes its state: the velocity as it is, the place where the leaf's
 * region carries it, and its share of the mass. One that several were joined into takes their sums and means (octree_join.c). So
 * mass, momentum and spin of the body are what they were.
 */
#ifndef LMI_OCTREE_CHANGE_H
#define LMI_OCTREE_CHANGE_H

#include "octree/octree_blade.h"
#include "octree/octree_body.h"

typedef struct lmi_octree_change {
    struct lmi_octree_change *next; /* of the same step (octree_level.c) */
    lm_world *world;
    lmi_body *body;   /* as it is */
    lmi_body made;    /* as it will be; once it is in place, as it was */
    uint32_t *from;   /* [made leaves] the leaf that each was part of, or the first of those that it was joined from */
    uint32_t *joined; /* [made leaves] how many it was joined from, one after the other; 1: it was part of one */
    lmi_octree_map *maps; /* [map_count] of the leaves as they were */
    uint32_t map_count;
    lmi_slashes slashes;
    lmi_pin *pins; /* [pins of the body] with new particles; in the order of the body's list */
    lmi_drag *drags;
    uint32_t pin_count, drag_count;
    uint32_t *forces; /* [force_count] the places that they will act on; in the order of the body's list */
    uint32_t force_count;
    lmi_octree_leaf_detail *leaf_detail; /* [leaves of `made`] where the body has level of detail (octree_level.h) */
    lm_vec3 *fading;                     /* [fading_count] where vertices were shown, then what fades; or null */
    uint32_t fading_count;
    lm_vec3 *faded; /* [faded_count] of a cut skin that is not in place: what fades of it; or null */
    uint32_t faded_count;
    uint32_t *then; /* [made leaves] the same leaf before, if all around it is the same too; else LMI_OCTREE_NONE */
    uint32_t *now;  /* [leaves] the same leaf in the new body, or LMI_OCTREE_NONE */
    lmi_octree_shell *planned; /* the new skin, if there is one (skin/skin_octree_cut.h) */
} lmi_octree_change;

/* The affine map of each leaf's region, as skins use it. False when out of memory. */
bool lmi_octree_change_maps(lmi_octree_change *change);

/* Makes the body on a tree, which it takes over. LM_ERROR_LIMIT or LM_ERROR_MEMORY. */
lm_result lmi_octree_change_make(lmi_octree_change *change, lmi_octree *next);

/* Puts the body that was made in place; and the one that was there back again. The latter only while nothing but
 * preparations of a step has happened since, and if the body did not have its particles in a pack (lmi_body_bring_home). */
void lmi_octree_change_apply(lmi_octree_change *change);
void lmi_octree_change_undo(lmi_octree_change *change);

/* Frees whichever body is not in place, and all that was needed for it. */
void lmi_octree_change_free(lmi_octree_change *change);

/* octree_join.c: mass, place and velocity of a leaf that was joined from several; then, when all leaves have theirs, the spin that
 * these had about their middle; and what its region takes from theirs. */
void lmi_octree_join_particle(lmi_octree_change *change, uint32_t leaf);
void lmi_octree_join_spins(lmi_octree_change *change);
void lmi_octree_join_region(lmi_octree_change *change, uint32_t leaf);

/* skin/skin_octree_fade.c: where the skin is shown before the change, and after it the difference, which fades. */
bool lmi_octree_fade_begin(lmi_octree_change *change);
void lmi_octree_fade_end(lmi_octree_change *change);

/* octree_level.c: what leaves remember of their detail. False when out of memory. */
bool lmi_octree_follow_detail(lmi_octree_change *change);
void lmi_octree_exchange_detail(lmi_octree_change *change);

/* octree_follow.c: touch points, solid and skin of the new body. What is the same as before is found first; what was planned is
 * exchanged together with the body; and what was found is freed, for so many leaves as there were before and are now. False when
 * out of memory. */
bool lmi_octree_follow_begin(lmi_octree_change *change);
bool lmi_octree_follow_touch(lmi_octree_change *change);
bool lmi_octree_follow_skin(lmi_octree_change *change);
void lmi_octree_exchange_skin(lmi_octree_change *change);
void lmi_octree_follow_end(lmi_octree_change *change, uint32_t before, uint32_t count);

#endif
