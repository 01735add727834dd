/*
 * The lane layout of a batch: bodies and regions as the kernels want them.
 *
 * Particles. Each body takes a whole number of blocks of LMI_BLOCK particles; the first block of a batch belongs to no
 * body and stays zero, so that index 0 is a particle that weighs nothing.
 *
 * Regions. One region to a lane, LMI_BLOCK regions to a lane block, whichever body they belong to. A region of more than
 * LMI_PART members is divided into parts, each with a lane of its own, and one more lane where the parts come together:
 * that gives the same sums for every width and keeps lanes equally long. Parts are sorted by length, so that little of
 * a block is padding. Row s of a lane block holds the s-th member of each of its lanes.
 *
 * A lane's sum depends on its own region alone, and a particle adds its goals in the order of its body's regions, so
 * nothing here (who shares a block with whom, what else is in the batch) can change a bit of the result.
 */
#ifndef LMI_PACK_H
#define LMI_PACK_H

#include "base/base.h"
#include "base/memory.h"
#include "limber/limber.h"

#include <stdbool.h>
#include <stdint.h>

#define LMI_PART 64 /* members of a part, at most */

/* Channels of the moments that gather makes, and of the transforms that scatter reads; rows of 3x3 and 3x6 matrices. */
enum {
    LMI_MOMENT_SUM = 0,        /* sum of m~ p                    3 */
    LMI_MOMENT_LINEAR = 3,     /* sum of m~ p q^T                9 */
    LMI_MOMENT_QUADRATIC = 12, /* sum of m~ p (quadratics of q)^T  18 */
    LMI_MOMENTS = 30,
    LMI_TRANSFORM_CONSTANT = 0, /* the same shape: goal = constant + linear q + quadratic (quadratics of q) */
    LMI_TRANSFORM_LINEAR = 3,
    LMI_TRANSFORM_QUADRATIC = 12,
};

/* Channels of the constants of a lane that is fitted. */
enum {
    LMI_CONSTANT_INVERSE_MASS = 0,
    LMI_CONSTANT_INVERSE_EDGE = 1, /* of a cube of the rest volume, in the frame of q; 0 for a flat region */
    LMI_CONSTANT_BETA = 2,
    LMI_CONSTANT_YIELD = 48, /* squared bound on |S² - I| below which nothing yields */
    LMI_CONSTANT_MEAN = 3,   /*                                6 */
    LMI_CONSTANT_LINEAR = 9, /* 6x3                           18 */
    LMI_CONSTANT_GRAM = 27,  /* upper triangle of the inverse 21 */
    LMI_CONSTANT_BEYOND = 49,
    LMI_CONSTANTS = 50,
};

typedef struct lmi_lane_block {
    lm_mode mode;
    bool plastic; /* the lanes' rest shapes have flowed, or may */
    bool fitted;  /* lanes are whole regions; else they are parts of one */
    uint32_t first_row;
    uint32_t rows;          /* 0: a block where parts come together */
    uint32_t examples;      /* how many the lanes have; 0 for parts */
    bool own_mix;           /* each lane has a mix of its own */
    uint32_t first_example; /* channel of lmi_pack.example where theirs begin */
} lmi_lane_block;

/* Part `part` belongs to region `region`; both are block * LMI_BLOCK + lane. In the order in which they are added. */
typedef struct lmi_share {
    uint32_t region;
    uint32_t part;
} lmi_share;

typedef struct lmi_pack {
    uint32_t particle_blocks; /* the empty first one included */
    uint32_t lane_blocks;
    uint32_t rows;
    uint32_t shares;
    uint32_t regions;
    uint32_t list_rows;
    uint32_t example_channels;

    float *x; /* [particle][4] */
    float *v;
    float *list_count;     /* [particle] regions it is in */
    float *list_share;     /* [particle] 1/regions, 0 for none */
    uint32_t *list_first;  /* [particle_blocks + 1] rows of `list` */
    uint32_t *list;        /* [list_rows][LMI_BLOCK] goal index: row * LMI_BLOCK + lane */
    lmi_lane_block *block; /* [lane_blocks] */
    uint32_t *reference;   /* [lane_blocks][LMI_BLOCK] particle that p is measured from: the region's first member */
    float *constants;      /* [lane_blocks][LMI_CONSTANTS][LMI_BLOCK] */
    float *extent;         /* [lane_blocks][3][LMI_BLOCK] d */
    float *rotation;       /* [lane_blocks][9][LMI_BLOCK] state: from the region's rest axes to the world */
    float *plastic;   /* [lane_blocks][6][LMI_BLOCK] state: lasting deformation P in the rest axes, xx yy zz xy yz zx */
    float *stiffness; /* [lane_blocks][LMI_BLOCK] share of the body's alpha */
    uint32_t *lane_body; /* [lane_blocks][LMI_BLOCK] slot, or LMI_NONE */
    float *moments;      /* [lane_blocks][LMI_MOMENTS][LMI_BLOCK] */
    float *affine;       /* [lane_blocks][9][LMI_BLOCK] B, the best affine fit */
    float *shape;        /* [lane_blocks][9][LMI_BLOCK] what the rotation is taken of, where the rest shape changes */
    float *example;      /* [example_channels][LMI_BLOCK], see src/match/examples.h */
    float *transforms;   /* [lane_blocks][LMI_MOMENTS][LMI_BLOCK] */
    uint32_t *member;    /* [rows][LMI_BLOCK] particle index */
    float *q;            /* [rows][3][LMI_BLOCK] */
    lmi_share *share;
    uint32_t *region_lane; /* [regions] block * LMI_BLOCK + lane of each body's regions */

    void *memory; /* holds all of the above */
    size_t size;
    bool stepped; /* the transforms are those of a step */
} lmi_pack;

struct lm_world;
struct lmi_batch;

/* Lays out the batch again and moves its bodies' state there. On failure nothing changes. */
bool lmi_batch_pack(struct lm_world *world, struct lmi_batch *batch);

/* Copies what may change of a body's material into its lanes. */
void lmi_batch_set_material(struct lm_world *world, uint32_t body_slot);

void lmi_pack_free(lmi_pack *pack, lmi_memory *memory);

#endif
