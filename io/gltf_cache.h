/* The motion of the vertices of a glTF file, as lm_cache_read.c uses it. */
#ifndef LIMBER_IO_GLTF_CACHE_H
#define LIMBER_IO_GLTF_CACHE_H

#include "io/mesh_reader.h"

typedef struct gltf_motion gltf_motion;

/* Null after a failure, with the reader's error filled. `animation` may be null: the first one. */
gltf_motion *lmi_gltf_motion_read(mesh_reader *reader, const char *animation);
void lmi_gltf_motion_free(gltf_motion *motion);

uint32_t lmi_gltf_motion_vertex_count(const gltf_motion *motion);
void lmi_gltf_motion_span(const gltf_motion *motion, double *begin, double *end);
bool lmi_gltf_motion_sample(const gltf_motion *motion, double time, lm_vec3 *positions);

#endif
