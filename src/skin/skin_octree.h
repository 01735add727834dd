/*
 * Skins of octrees: a vertex rides on the leaves around it.
 */
#ifndef LMI_SKIN_OCTREE_H
#define LMI_SKIN_OCTREE_H

#include "octree/octree_body.h"
#include "skin/skin.h"

#define LMI_SKIN_OCTREE_MOST 48 /* leaves that a vertex rides on */

/* A leaf that is seen from another one. */
typedef struct lmi_octree_seen {
    lm_dvec3 middle;
    double square; /* of how far it counts */
    uint32_t leaf;
} lmi_octree_seen;

/* What is around leaves, each found when it is first asked for. */
typedef struct lmi_octree_around {
    const lmi_octree *tree;
    uint32_t *first, *count; /* [leaves] into items; a count of 0: not asked for yet */
    uint32_t *few;   /* [leaves] as many of them count for what is in the leaf's cell or beside it; those come first */
    uint32_t *stamp; /* [leaves] the leaf, and one, that it was last found around */
    lmi_octree_seen *items;
    uint32_t item_count, item_capacity;
} lmi_octree_around;

bool lmi_octree_around_make(lmi_octree_around *around, lmi_memory *memory, const lmi_octree *tree);
void lmi_octree_around_free(lmi_octree_around *around, lmi_memory *memory);

/* The leaves that a rest position rides on, which belongs to a leaf, and their weights (sum 1). Returns how many, at least one; 0:
 * out of memory. */
uint32_t lmi_embed_octree(lmi_octree_around *around, lmi_memory *memory, uint32_t leaf, lm_vec3 point,
                          uint32_t leaves[LMI_SKIN_OCTREE_MOST], float weights[LMI_SKIN_OCTREE_MOST]);

/* Up to `most` leaves around a rest position, which belongs to a leaf: those whose middles are nearest for their size, so that coarse
 * cells behind fine ones are among them, sorted by distance. Returns how many, at least one; 0: out of memory. */
uint32_t lmi_octree_nearest(lmi_octree_around *around, lmi_memory *memory, uint32_t leaf, lm_vec3 point, uint32_t most,
                            uint32_t *leaves);

/* Where one leaf carries what is around it, from the particles as they are; and all of them (one for each region), which adds
 * up the tree once. */
void lmi_octree_carrier(const lm_world *world, const lmi_body *body, uint32_t leaf, lmi_carrier *carrier);
void lmi_octree_carriers(const lm_world *world, lmi_body *body, lmi_carrier *carriers);

#endif
