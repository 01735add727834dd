/*
 * Point caches: the header, the times of frames, and the frames.
 *
 *   MDD, big endian      frames and points, 32 bits each; the time of each frame in seconds, a float; the frames
 *   PC2, little endian   "POINTCACHE2" and a zero byte; version 1, points, the first frame (a float), frames from one sample
 *                        to the next (a float), samples, 32 bits each; the samples
 *
 * A frame is x, y and z of each point, as floats.
 */
#include "io/point_cache.h"

#include <math.h>
#include <string.h>

#define PC2_START "POINTCACHE2" /* with its zero byte */
#define PC2_HEADER 32u
#define MDD_HEADER 8u
#define POINT_SIZE 12u

static uint64_t size_of_file(const mesh_reader *reader) { return (uint64_t)(reader->end - reader->bytes); }

static uint32_t load_word(const point_cache *cache, uint64_t at)
{
    const unsigned char *b = (const unsigned char *)cache->reader->bytes + at;
    return cache->big_endian ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3]
                             : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | (uint32_t)b[0];
}

static float load_float(const point_cache *cache, uint64_t at)
{
    uint32_t bits = load_word(cache, at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool lmi_point_cache_is_pc2(const mesh_reader *reader)
{
    return size_of_file(reader) >= sizeof PC2_START && memcmp(reader->bytes, PC2_START, sizeof PC2_START) == 0;
}

static bool read_header(point_cache *cache)
{
    mesh_reader *reader = cache->reader;
    cache->big_endian = !lmi_point_cache_is_pc2(reader);
    if (size_of_file(reader) < (cache->big_endian ? MDD_HEADER : PC2_HEADER))
        return lmi_mesh_reader_fail(reader, "the file ends within its header");
    if (cache->big_endian) {
        cache->frames = load_word(cache, 0);
        cache->points = load_word(cache, 4);
        cache->start = MDD_HEADER + 4 * (uint64_t)cache->frames;
        return true;
    }
    if (load_word(cache, 12) != 1)
        return lmi_mesh_reader_fail(reader, "PC2 version %u (expected 1)", (unsigned)load_word(cache, 12));
    cache->points = load_word(cache, 16);
    cache->frames = load_word(cache, 28);
    cache->start = PC2_HEADER;
    return true;
}

/* That the file holds what its header announces. Divided, not multiplied: no product of two counts can overflow. */
static bool check_size(const point_cache *cache)
{
    mesh_reader *reader = cache->reader;
    uint64_t size = size_of_file(reader);
    if (cache->points == 0 || cache->points > LM_MAX_PARTICLES)
        return lmi_mesh_reader_fail(reader, "it has %u points (expected 1 to %u)", (unsigned)cache->points,
                                    (unsigned)LM_MAX_PARTICLES);
    if (size < cache->start)
        return lmi_mesh_reader_fail(reader, "the file ends within the times of its %u frames", (unsigned)cache->frames);
    uint64_t bytes = size - cache->start, frame_size = POINT_SIZE * (uint64_t)cache->points;
    if (bytes / frame_size >= cache->frames) return true;
    return lmi_mesh_reader_fail(reader, "the file ends within frame %llu, point %llu (expected %u frames of %u points)",
                                (unsigned long long)(bytes / frame_size),
                                (unsigned long long)(bytes % frame_size / POINT_SIZE), (unsigned)cache->frames,
                                (unsigned)cache->points);
}

bool lmi_point_cache_frame(const point_cache *cache, uint32_t frame, lm_vec3 *positions)
{
    mesh_reader *reader = cache->reader;
    uint64_t at = cache->start + frame * POINT_SIZE * (uint64_t)cache->points;
    for (uint32_t i = 0; i < cache->points; i++, at += POINT_SIZE) {
        lm_vec3 p = {load_float(cache, at), load_float(cache, at + 4), load_float(cache, at + 8)};
        if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z))
            return lmi_mesh_reader_fail(reader, "frame %u: point %u is not finite", (unsigned)frame, (unsigned)i);
        if (fabsf(p.x) > LM_MAX_COORDINATE || fabsf(p.y) > LM_MAX_COORDINATE || fabsf(p.z) > LM_MAX_COORDINATE)
            return lmi_mesh_reader_fail(reader, "frame %u: a coordinate of point %u is beyond 1e9", (unsigned)frame,
                                        (unsigned)i);
        positions[i] = p;
    }
    return true;
}

bool lmi_point_cache_is(const mesh_reader *reader)
{
    return lmi_point_cache_is_pc2(reader) || lmi_mesh_has_ending(reader->name, "mdd") ||
           lmi_mesh_has_ending(reader->name, "pc2");
}

bool lmi_point_cache_open(point_cache *cache, mesh_reader *reader)
{
    *cache = (point_cache){.reader = reader};
    if (lmi_mesh_has_ending(reader->name, "pc2") && !lmi_point_cache_is_pc2(reader))
        return lmi_mesh_reader_fail(reader, "it does not begin as a PC2 file does");
    return read_header(cache) && check_size(cache);
}

bool lmi_point_cache_time(const point_cache *cache, uint32_t frame, double rate, double *time)
{
    float first = cache->big_endian ? load_float(cache, MDD_HEADER + 4 * (uint64_t)frame) : load_float(cache, 20);
    float between = cache->big_endian ? 0.0f : load_float(cache, 24);
    double at = cache->big_endian ? (double)first : ((double)first + (double)between * frame) / rate;
    if (!(fabs(at) <= 1e9))
        return lmi_mesh_reader_fail(cache->reader, "frame %u: its time is not finite", (unsigned)frame);
    *time = at;
    return true;
}
