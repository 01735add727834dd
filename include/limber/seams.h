/*
 * Texture coordinates of a surface that has seams: where one vertex has several, it becomes several vertices, as the formats want it.
 */
#ifndef LIMBER_SEAMS_H
#define LIMBER_SEAMS_H

#include "limber/limber.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The surface as it was given. Nothing is copied. */
typedef struct lm_seams_surface {
    const uint32_t *triangles; /* three vertices each */
    const float *uvs;          /* two for each corner of each triangle, v upwards */
    uint32_t triangle_count, vertex_count;
} lm_seams_surface;

/* The surface as it is, divided along its seams. */
typedef struct lm_seams {
    uint32_t *vertices; /* for each vertex the one of the skin that it is */
    float *uvs;         /* two for each vertex */
    uint32_t *triangles;
    uint32_t vertex_count;
} lm_seams;

/* Of a skin whose vertices come from those that were given (`sources`, LM_SKIN_INNER: none; lm_body_get_skin_sources), which come first. A
 * triangle has the coordinates of the given triangle that it is, or is a part of; inner faces have 0. `rest`: where vertices are in the rest
 * pose (lm_body_get_skin_rest), by which new vertices within a given triangle have coordinates between those of its corners; null: they have
 * those of a corner, as is right for a skin that was never divided. False when out of memory. To be freed in any case. */
bool lm_seams_make(const lm_seams_surface *given, const uint32_t *sources, const lm_vec3 *rest, uint32_t vertex_count,
                   const uint32_t *triangles, uint32_t triangle_count, lm_seams *made);
void lm_seams_free(lm_seams *made);

#ifdef __cplusplus
}
#endif

#endif
