/*
 * Embedding: a point of the rest pose as a weighted sum of particles.
 */
#ifndef LMI_EMBED_H
#define LMI_EMBED_H

#include "geometry/nearest.h"

/* Particles a point depends on: the fewest that are tried, and the most when fewer lie in a plane or a line. */
#define LMI_EMBED_LEAST 12
#define LMI_EMBED_MOST 96

/* Finds particles near points. */
typedef struct lmi_embedder {
    const lm_vec3 *rest;
    const float *share; /* how much each particle counts; null: all count alike */
    lmi_nearest near;
    uint32_t count;
    int rank;    /* 4 when the particles span space, 3 a plane, 2 a line, 1 a point */
    double size; /* of the box */
} lmi_embedder;

bool lmi_embedder_make(lmi_embedder *embedder, lmi_memory *memory, const lm_vec3 *rest, uint32_t count);
void lmi_embedder_free(lmi_embedder *embedder);

/* Particles and weights (sum 1) of a point; returns how many. A point on a particle gets that particle alone. Any other
 * gets moving least squares weights over its nearest particles: they reproduce affine motions exactly as far as those
 * particles span space; more of them are taken until they span what the body spans. */
uint32_t lmi_embed_point(const lmi_embedder *embedder, lm_vec3 point, uint32_t particles[LMI_EMBED_MOST],
                         float weights[LMI_EMBED_MOST]);

/* The same from at least so many particles, up to LMI_EMBED_MOST. A point outside its particles has weights of both signs,
 * the smaller the more particles there are. */
uint32_t lmi_embed_among(const lmi_embedder *embedder, lm_vec3 point, uint32_t least,
                         uint32_t particles[LMI_EMBED_MOST], float weights[LMI_EMBED_MOST]);

/* Weights of these particles, nearest first, of which a few may span less than the body; returns how many count: one where
 * the point is on it, and otherwise all. Where the sizes of the weights sum to more than `most_size`, because the particles nearly
 * lie in a plane or a line that the point is far from, they count as lying in it, and the point rides where it is nearest. */
uint32_t lmi_embed_from(const lmi_embedder *embedder, lm_vec3 point, const uint32_t *particles, uint32_t count,
                        double most_size, float weights[LMI_EMBED_MOST]);

/* The most for touch points: what pushes a point pushes its particles so many times as hard, some of them the other way. */
#define LMI_EMBED_STEADY 6.0

#endif
