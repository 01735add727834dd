/*
 * Reading and sampling the motion of a mesh. Point caches stay in memory as numbers, frame by frame.
 */
#include "io/gltf_cache.h"
#include "io/point_cache.h"
#include "limber/cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_RATE 60.0

struct lm_cache_data {
    uint32_t vertex_count, frame_count;
    lm_vec3 *frames; /* [frame][vertex] of a point cache */
    double *times;   /* [frame] */
    gltf_motion *motion;
    bool z_up;
};

void lm_cache_free(lm_cache_data *cache)
{
    if (!cache) return;
    free(cache->frames);
    free(cache->times);
    lmi_gltf_motion_free(cache->motion);
    free(cache);
}

uint32_t lm_cache_vertex_count(const lm_cache_data *cache) { return cache->vertex_count; }

double lm_cache_begin(const lm_cache_data *cache)
{
    double begin = 0.0, end;
    if (cache->motion)
        lmi_gltf_motion_span(cache->motion, &begin, &end);
    else
        begin = cache->times[0];
    return begin;
}

double lm_cache_end(const lm_cache_data *cache)
{
    double begin, end = 0.0;
    if (cache->motion)
        lmi_gltf_motion_span(cache->motion, &begin, &end);
    else
        end = cache->times[cache->frame_count - 1];
    return end;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Reading
 */

static bool read_frames(mesh_reader *reader, double rate, lm_cache_data *cache)
{
    point_cache file;
    if (!lmi_point_cache_open(&file, reader)) return false;
    if (file.frames == 0) return lmi_mesh_reader_fail(reader, "it has no frames");
    cache->vertex_count = file.points;
    cache->frame_count = file.frames;
    /* The file holds all of it: no product can overflow. */
    cache->frames = malloc((size_t)file.frames * file.points * sizeof *cache->frames);
    cache->times = malloc(file.frames * sizeof *cache->times);
    if (!cache->frames || !cache->times) return lmi_mesh_reader_out_of_memory(reader);
    for (uint32_t i = 0; i < file.frames; i++) {
        if (!lmi_point_cache_time(&file, i, rate, &cache->times[i]) ||
            !lmi_point_cache_frame(&file, i, cache->frames + (size_t)i * file.points))
            return false;
        if (i > 0 && !(cache->times[i] > cache->times[i - 1]))
            return lmi_mesh_reader_fail(reader, "frame %u is at %g s (expected later than the one before)", (unsigned)i,
                                        cache->times[i]);
    }
    return true;
}

static bool is_gltf(const mesh_reader *reader)
{
    size_t size = (size_t)(reader->end - reader->bytes);
    return (size >= 4 && memcmp(reader->bytes, "glTF", 4) == 0) || lmi_mesh_has_ending(reader->name, "gltf") ||
           lmi_mesh_has_ending(reader->name, "glb");
}

static bool read_motion(mesh_reader *reader, const lm_cache_options *options, lm_cache_data *cache)
{
    cache->z_up = options->z_up;
    if (options->rate != 0.0 && !(options->rate > 0.0 && options->rate <= 1e6))
        return lmi_mesh_reader_fail(reader, "a rate of %g frames a second (expected above 0)", options->rate);
    if (lmi_point_cache_is(reader)) {
        if (options->animation)
            return lmi_mesh_reader_fail(reader, "it has frames, no animations (expected a glTF file)");
        return read_frames(reader, options->rate > 0.0 ? options->rate : USUAL_RATE, cache);
    }
    if (!is_gltf(reader))
        return lmi_mesh_reader_fail(reader, "it is no motion (expected a PC2, MDD, GLB or glTF file)");
    cache->motion = lmi_gltf_motion_read(reader, options->animation);
    cache->vertex_count = cache->motion ? lmi_gltf_motion_vertex_count(cache->motion) : 0;
    return cache->motion != NULL;
}

static bool parse(const char *name, const char *path, const char *bytes, size_t size, const lm_cache_options *options,
                  lm_cache_data **cache, lm_mesh_error *error)
{
    const lm_cache_options usual = {.animation = NULL};
    mesh_reader reader = {.name = name, .path = path, .bytes = bytes, .at = bytes, .end = bytes + size, .error = error};
    *cache = calloc(1, sizeof **cache);
    bool read =
        *cache ? read_motion(&reader, options ? options : &usual, *cache) : lmi_mesh_reader_out_of_memory(&reader);
    if (!read) {
        lm_cache_free(*cache);
        *cache = NULL;
    }
    return read;
}

bool lm_cache_parse(const char *name, const void *bytes, size_t size, const lm_cache_options *options,
                    lm_cache_data **cache, lm_mesh_error *error)
{
    return parse(name, NULL, size > 0 ? bytes : "", size, options, cache, error);
}

bool lm_cache_read(const char *path, const lm_cache_options *options, lm_cache_data **cache, lm_mesh_error *error)
{
    size_t size;
    const char *reason;
    *cache = NULL;
    char *bytes = lmi_mesh_load(path, &size, &reason);
    if (!bytes) {
        mesh_reader nothing = {.name = path, .error = error};
        return lmi_mesh_reader_fail(&nothing, "%s", reason);
    }
    bool read = parse(path, path, bytes, size, options, cache, error);
    free(bytes);
    return read;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Sampling
 */

static void sample_frames(const lm_cache_data *cache, double time, lm_vec3 *positions)
{
    uint32_t low = 0, high = cache->frame_count - 1;
    while (high - low > 1) { /* the last frame that is not after `time` */
        uint32_t half = low + (high - low) / 2;
        if (cache->times[half] <= time)
            low = half;
        else
            high = half;
    }
    if (cache->times[high] <= time) low = high;
    uint32_t next = low + 1 < cache->frame_count ? low + 1 : low;
    double share = next > low && time > cache->times[low]
                       ? (time - cache->times[low]) / (cache->times[next] - cache->times[low])
                       : 0.0;
    const lm_vec3 *a = cache->frames + (size_t)low * cache->vertex_count;
    const lm_vec3 *b = cache->frames + (size_t)next * cache->vertex_count;
    for (uint32_t i = 0; i < cache->vertex_count; i++) {
        positions[i] = (lm_vec3){(float)(a[i].x + ((double)b[i].x - a[i].x) * share),
                                 (float)(a[i].y + ((double)b[i].y - a[i].y) * share),
                                 (float)(a[i].z + ((double)b[i].z - a[i].z) * share)};
    }
}

bool lm_cache_sample(const lm_cache_data *cache, double time, lm_vec3 *positions)
{
    bool sampled = true;
    if (cache->motion)
        sampled = lmi_gltf_motion_sample(cache->motion, time, positions);
    else
        sample_frames(cache, time, positions);
    for (uint32_t i = 0; i < cache->vertex_count && cache->z_up; i++) {
        lm_vec3 p = positions[i];
        positions[i] = (lm_vec3){p.x, p.z, -p.y};
    }
    return sampled;
}
