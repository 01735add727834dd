/*
 * Motions of a mesh from files: where its vertices are at any time. A motion is
 *
 *   - a point cache, MDD or PC2;
 *   - a glTF file: nodes that move, skins and morph targets, of the first animation or of one that is named.
 *
 * The vertices are those of the file, none of them welded, as pose.h has them: lm_mesh_data.sources says which of them a welded vertex of
 * the mesh came from. docs/export.md says how a scene and a program use them.
 */
#ifndef LIMBER_CACHE_H
#define LIMBER_CACHE_H

#include "limber/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lm_cache_options {
    double rate;           /* PC2: frames in a second; 0: 60, as `limber export` writes them */
    const char *animation; /* glTF: its name; null: the first one */
    bool z_up;             /* the file's Z points up: turned so that Y does */
} lm_cache_options;

typedef struct lm_cache_data lm_cache_data;

/* Reads a motion; to be freed with lm_cache_free. `options` may be null: all zero. False: *cache is null, and *error says what is wrong
 * and where, in one line. */
bool lm_cache_read(const char *path, const lm_cache_options *options, lm_cache_data **cache, lm_mesh_error *error);

/* The same from memory; `name` stands for the file in messages. */
bool lm_cache_parse(const char *name, const void *bytes, size_t size, const lm_cache_options *options,
                    lm_cache_data **cache, lm_mesh_error *error);
void lm_cache_free(lm_cache_data *cache);

uint32_t lm_cache_vertex_count(const lm_cache_data *cache);

/* When it begins and ends, seconds. Before and after that the vertices are where they are at the beginning and the end. */
double lm_cache_begin(const lm_cache_data *cache);
double lm_cache_end(const lm_cache_data *cache);

/* Where the vertices are at a time: between two frames of a point cache in straight lines, in a glTF file as its samplers say. False
 * when out of memory, or where a glTF file puts a vertex beyond LM_MAX_COORDINATE. */
bool lm_cache_sample(const lm_cache_data *cache, double time, lm_vec3 *positions);

#ifdef __cplusplus
}
#endif

#endif
