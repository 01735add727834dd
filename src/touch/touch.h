/*
 * touch/: what touches and what is touched: touch points on the surface of a body, and the body as a solid that others
 * touch.
 *
 * reads   a body's rest shape, its particles, and the mesh that it was made from
 * writes  touch points, moulds and cube maps of a body; where its carriers are in this substep
 * uses    base geometry; in sources also world cluster lattice octree cut
 *
 *   touch.c      touch points                             mould.h  the rest shape as a field of distances, and its carriers
 *   bulk.h       a mould carried along by a body          carriers.c  brings carriers to where the particles are
 *   cube.h       depth cube maps
 *
 * Touch points: where a body touches other things.
 *
 * The particles of a lattice lie outside the surface that is seen, those of a coarse cloud inside it, so contacts on bare
 * particles are wrong for both. A touch point lies on the surface and is a weighted sum of particles: contacts are found
 * where the point is, and a push on it is given to its particles by the same weights (the embedding, transposed), so that
 * what touches is what is seen and momentum is kept exactly.
 */
#ifndef LMI_TOUCH_H
#define LMI_TOUCH_H

#include "base/block.h"
#include "base/memory.h"
#include "geometry/geometry.h"

struct lmi_body;
struct lm_world;

/* What a point was given by its contact in a substep: the next one begins with it. Relative mass. */
typedef struct lmi_warm {
    float pressed;   /* impulse along the normal */
    float braked[3]; /* impulse of friction */
    float behind
        [3]; /* metres from where the point was left to where the wall wanted it: it must not count as beyond a sheet */
    uint32_t other, generation; /* the body that it was in or near: slot + 1, or 0 */
    float out[3];               /* the way out of that one, in its rest shape: it goes back the way that it came */
} lmi_warm;

/* Points in blocks of LMI_BLOCK lanes; row s of a block holds the s-th particle of each of its points. Points with fewer
 * particles than their neighbours have rows of weight 0. */
typedef struct lmi_touch {
    uint32_t count;      /* 0: the particles are what touches */
    uint32_t blocks;     /* that hold the points */
    uint32_t rows;       /* of all blocks */
    uint32_t most_rows;  /* of a block */
    lm_vec3 *rest;       /* [count] rest pose, body frame */
    uint32_t *first_row; /* [blocks + 1] */
    uint32_t *rider;     /* [rows][LMI_BLOCK] place of a particle */
    float *weight;       /* [rows][LMI_BLOCK] */
    float *now;          /* [blocks][3][LMI_BLOCK] where the points are in this substep, from the body's origin */
    float *box;          /* [blocks][6] around those of a block: low x y z, high x y z */
    uint32_t
        *others;  /* [blocks] bits (lmi_touch_bit) of the bodies that its points were in or near in the last substep */
    float *start; /* [blocks][3][LMI_BLOCK] where they were when the substep began, where there are solids to meet */
    lm_vec3 *facing;   /* [count] out of the rest shape at the point; made by the solid */
    uint32_t *leader;  /* [count] the first point that rides on the same cell of a lattice; elsewhere itself */
    uint32_t *carrier; /* [count] of the solid, nearest to the point in the rest shape */
    uint32_t *voxel;   /* [count] of an octree: the one that each point belongs to; null in other bodies */
    uint16_t
        *inner; /* [blocks of the body's particles] lanes that lie within the surface: they touch walls by themselves */
    uint32_t inner_blocks;
    float *
        inner_start; /* [inner_blocks][3][LMI_BLOCK] where they were when the substep began; null until there are solids */
    lmi_warm *warm; /* [2][count] state: of the last substep; and of this one, while contacts are solved */
    double beyond;  /* metres that a point may be from the nearest of its particles, with some to spare */
} lmi_touch;

/* Of lmi_warm.other. Two bodies may have the same. */
static inline uint32_t lmi_touch_bit(uint32_t other) { return other ? 1u << other % 32 : 0; }

static inline lm_vec3 lmi_touch_now(const lmi_touch *touch, uint32_t n)
{
    const float *at = touch->now + (size_t)(n / LMI_BLOCK) * 3 * LMI_BLOCK + n % LMI_BLOCK;
    lm_vec3 p = {at[0], at[LMI_BLOCK], at[2 * LMI_BLOCK]};
    return p;
}

/* Makes inner_start; false when out of memory. */
bool lmi_touch_watch(struct lm_world *world, lmi_touch *touch);

/* Before the contacts of a substep: makes room for what it will give. */
void lmi_touch_begin(lmi_touch *touch);

/* After them: that is what the last one gave. */
void lmi_touch_end(lmi_touch *touch);

/* Points spread over a mesh about `spacing` apart: its sharpest corners first, then other vertices, then points between
 * them where triangles are large. False when out of memory; else *points has room for *capacity and holds *count. */
bool lmi_touch_spread(lmi_memory *memory, const lmi_touch_mesh *mesh, double spacing, lm_vec3 **points, uint32_t *count,
                      uint32_t *capacity);

/* Touch points of a body at these rest positions, embedded in its particles. False when out of memory. */
bool lmi_touch_embed(struct lm_world *world, const struct lmi_body *body, const lm_vec3 *points, uint32_t count,
                     lmi_touch *touch);

/* Arrays for so many points, but for what they ride on. False when out of memory: what there is must be freed. */
bool lmi_touch_allocate(struct lm_world *world, const struct lmi_body *body, uint32_t count, lmi_touch *touch);

/* Touch points that are the particles themselves, in the order of their places. False when out of memory. */
bool lmi_touch_particles(struct lm_world *world, const struct lmi_body *body, lmi_touch *touch);

/* Touch points on a mesh, as dense as the body's particles. False when out of memory. */
bool lmi_touch_make(struct lm_world *world, const struct lmi_body *body, const lmi_touch_mesh *mesh, lmi_touch *touch);
void lmi_touch_free(struct lm_world *world, lmi_touch *touch);

#endif
