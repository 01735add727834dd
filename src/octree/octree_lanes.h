/*
 * The lane layout of an octree body: what its sums are made of, as the kernels want it.
 *
 *     gather    particles ----> virtual nodes, lowest first ----> regions          12 moments each
 *     scatter   particles <---- virtual nodes, highest first <---- regions         12 channels each
 *
 * A virtual node is one that stands for several leaves. The sums of a virtual node or a region are a list of particles and
 * virtual nodes; sixteen targets are a block, one to a lane, and row s of a block holds the s-th item of each of its lanes.
 * Beside each item is its place in the rest shape seen from the target's centre, and its weight: an item that weighs nothing
 * pads a list. Scatter has the same lists the other way round.
 *
 * Lanes of virtual nodes, and those of particles in scatter, are sorted by the length of their lists, so that little of a block
 * is padding. Regions stand as their particles do, because the pack has them in that order.
 *
 * A node's numbers are a row of 16 floats, one line of the cache. Indices of rows are multiplied by 4: they count records of
 * four floats, as vf_gather4 does.
 *
 * Moments are taken about the middle of each node, in rest and as it is, and positions from a particle nearby, so that
 * nothing cancels however large the body is. Everything here follows from the tree, the masses and the pins, and is made again
 * when one of them changes; the time for that grows with the number of leaves and not with the size of regions.
 */
#ifndef LMI_OCTREE_LANES_H
#define LMI_OCTREE_LANES_H

#include "base/base.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

#define LMI_OCTREE_ROW 16 /* floats */

/* The lists of a block of targets of gather: rows of particles, and rows of virtual nodes. */
typedef struct lmi_octree_sums {
    uint32_t first_leaf_row, leaf_rows;
    uint32_t first_node_row, node_rows;
} lmi_octree_sums;

/* Of a block of targets of scatter: rows of regions. */
typedef struct lmi_octree_spread {
    uint32_t first_row, rows;
} lmi_octree_spread;

typedef struct lmi_octree_lanes {
    uint32_t virtual_blocks; /* those of one height begin with a block */
    uint32_t region_blocks;  /* regions by the places of their particles */
    uint32_t heights;
    uint32_t leaf_rows, node_rows, spread_rows;
    float widest_margin;

    uint32_t *height_block;    /* [heights + 1] first virtual block of each height */
    lmi_octree_sums *sums;     /* [virtual_blocks + region_blocks] */
    uint32_t *leaf;            /* [leaf_rows][LMI_BLOCK] place */
    float *leaf_offset;        /* [leaf_rows][4][LMI_BLOCK] rest place from the target's centre, weight */
    uint32_t *node;            /* [node_rows][LMI_BLOCK] row */
    float *node_offset;        /* [node_rows][4][LMI_BLOCK] */
    uint32_t *reference;       /* [virtual_blocks][LMI_BLOCK] place of a particle that positions are taken from */
    float *inverse_weight;     /* [virtual_blocks][LMI_BLOCK] */
    lmi_octree_spread *spread; /* [virtual_blocks + region_blocks]; the latter are those of particles */
    uint32_t *region;          /* [spread_rows][LMI_BLOCK] row */
    float *region_offset; /* [spread_rows][4][LMI_BLOCK] rest place of the target from the region's centre; the region's
                                * mass times its stiffness */
    uint32_t *spread_place; /* [region_blocks][LMI_BLOCK] the particle of each lane, those with long lists first */
    uint32_t *parent;       /* [virtual_blocks + region_blocks][LMI_BLOCK] row of the virtual node above, 0: none */
    float *parent_offset;   /* [virtual_blocks + region_blocks][3][LMI_BLOCK] rest place from its middle */
    float *frame;           /* [region_blocks][9][LMI_BLOCK] E / d: rest places to q, see match/region.h */
    float *share;           /* [region_blocks][LMI_BLOCK] 1 / mass of the regions that a particle is in, by lane */
    float *margin;          /* [region_blocks][LMI_BLOCK] half the side of a cube of a leaf's volume, metres */

    /* Scratch, of each body. */
    float *sum_row;       /* [1 + virtual_blocks * LMI_BLOCK][LMI_OCTREE_ROW] middle (3), moments (9); row 0 stays 0 */
    float *transform_row; /* [region_blocks * LMI_BLOCK][LMI_OCTREE_ROW] centre (3), transform (9) */
    float *spread_row;    /* as sum_row: pull (3), weight, transform (9), reference position (3) */
    float *pull;          /* [region_blocks][LMI_BLOCK][4] mean goal less position, by place */
    float *damping;       /* the same: mean velocity of the regions less the particle's own; of regional damping */

    void *memory; /* holds all of the above but the scratch, and how many bodies have it in common */
    size_t size;
    void *scratch; /* the rest */
    size_t scratch_size;
} lmi_octree_lanes;

#endif
