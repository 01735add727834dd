/*
 * Point caches, MDD and PC2: what pose.h and cache.h read of them.
 */
#ifndef LIMBER_IO_POINT_CACHE_H
#define LIMBER_IO_POINT_CACHE_H

#include "io/mesh_reader.h"

typedef struct point_cache {
    mesh_reader *reader;
    bool big_endian;
    uint32_t frames, points;
    uint64_t start; /* the byte at which the first frame begins */
} point_cache;

/* Whether a file is one, by the ending of its name or by how it begins; whether it is PC2. */
bool lmi_point_cache_is(const mesh_reader *reader);
bool lmi_point_cache_is_pc2(const mesh_reader *reader);

/* Reads and checks the header: the file holds as many frames as it announces. */
bool lmi_point_cache_open(point_cache *cache, mesh_reader *reader);

/* When a frame is, in seconds. PC2 counts in frames, of which there are `rate` in a second. */
bool lmi_point_cache_time(const point_cache *cache, uint32_t frame, double rate, double *time);

/* The points of a frame, all finite and within LM_MAX_COORDINATE. */
bool lmi_point_cache_frame(const point_cache *cache, uint32_t frame, lm_vec3 *positions);

#endif
