/*
 * Skins of octrees: a vertex rides on the leaves around it.
 */
#ifndef LMI_SKIN_OCTREE_H
#define LMI_SKIN_OCTREE_H

#include "octree_body.h"
#include "sample/blend.h"

#define LMI_SKIN_OCTREE_MOST 48 /* leaves that a vertex rides on */

/* The leaves that a rest position rides on and their weights (sum 1); returns how many, at least one. */
uint32_t lmi_embed_octree(const lmi_body *body, lm_vec3 point, uint32_t leaves[LMI_SKIN_OCTREE_MOST],
                          float weights[LMI_SKIN_OCTREE_MOST]);

/* Where one leaf carries what is around it, from the particles as they are; and all of them (one for each region), which adds
 * up the tree once. */
void lmi_octree_carrier(const lm_world *world, const lmi_body *body, uint32_t leaf, lmi_carrier *carrier);
void lmi_octree_carriers(const lm_world *world, lmi_body *body, lmi_carrier *carriers);

#endif
