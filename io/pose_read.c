/*
 * Reading a pose: a frame of a point cache here, everything else as a mesh whose triangles are not needed.
 *
 *   MDD, big endian      frames and points, 32 bits each; the time of each frame, a float; the frames
 *   PC2, little endian   "POINTCACHE2" and a zero byte; version 1, points, the first frame (a float), frames from one sample
 *                        to the next (a float), samples, 32 bits each; the samples
 *
 * A frame is x, y and z of each point, as floats. Times are passed over: a frame is asked for by its number.
 */
#include "io/mesh_reader.h"
#include "io/pose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PC2_START "POINTCACHE2" /* with its zero byte */
#define PC2_HEADER 32u
#define MDD_HEADER 8u
#define POINT_SIZE 12u

/* ------------------------------------------------------------------------------------------------------------------
 * Point caches
 */

typedef struct point_cache {
    mesh_reader *reader;
    bool big_endian;
    uint32_t frames, points;
    uint64_t start; /* the byte at which the first frame begins */
} point_cache;

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

static bool is_pc2(const mesh_reader *reader)
{
    return size_of_file(reader) >= sizeof PC2_START && memcmp(reader->bytes, PC2_START, sizeof PC2_START) == 0;
}

static bool read_header(point_cache *cache)
{
    mesh_reader *reader = cache->reader;
    cache->big_endian = !is_pc2(reader);
    if (size_of_file(reader) < (cache->big_endian ? MDD_HEADER : PC2_HEADER))
        return mesh_reader_fail(reader, "the file ends within its header");
    if (cache->big_endian) {
        cache->frames = load_word(cache, 0);
        cache->points = load_word(cache, 4);
        cache->start = MDD_HEADER + 4 * (uint64_t)cache->frames;
        return true;
    }
    if (load_word(cache, 12) != 1)
        return mesh_reader_fail(reader, "PC2 version %u (expected 1)", (unsigned)load_word(cache, 12));
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
        return mesh_reader_fail(reader, "it has %u points (expected 1 to %u)", (unsigned)cache->points,
                                (unsigned)LM_MAX_PARTICLES);
    if (size < cache->start)
        return mesh_reader_fail(reader, "the file ends within the times of its %u frames", (unsigned)cache->frames);
    uint64_t bytes = size - cache->start, frame_size = POINT_SIZE * (uint64_t)cache->points;
    if (bytes / frame_size >= cache->frames) return true;
    return mesh_reader_fail(reader, "the file ends within frame %llu, point %llu (expected %u frames of %u points)",
                            (unsigned long long)(bytes / frame_size),
                            (unsigned long long)(bytes % frame_size / POINT_SIZE), (unsigned)cache->frames,
                            (unsigned)cache->points);
}

static bool read_frame(const point_cache *cache, uint32_t frame, pose_data *pose)
{
    mesh_reader *reader = cache->reader;
    uint64_t at = cache->start + frame * POINT_SIZE * (uint64_t)cache->points;
    pose->positions = malloc(cache->points * sizeof *pose->positions);
    if (!pose->positions) return mesh_reader_out_of_memory(reader);
    for (uint32_t i = 0; i < cache->points; i++, at += POINT_SIZE) {
        lm_vec3 p = {load_float(cache, at), load_float(cache, at + 4), load_float(cache, at + 8)};
        if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z))
            return mesh_reader_fail(reader, "frame %u: point %u is not finite", (unsigned)frame, (unsigned)i);
        if (fabsf(p.x) > LM_MAX_COORDINATE || fabsf(p.y) > LM_MAX_COORDINATE || fabsf(p.z) > LM_MAX_COORDINATE)
            return mesh_reader_fail(reader, "frame %u: a coordinate of point %u is beyond 1e9", (unsigned)frame,
                                    (unsigned)i);
        pose->positions[i] = p;
    }
    pose->vertex_count = cache->points;
    return true;
}

static bool read_cache(mesh_reader *reader, const pose_options *options, pose_data *pose)
{
    point_cache cache = {.reader = reader};
    if (options->target) return mesh_reader_fail(reader, "it has frames, not targets (expected a glTF file)");
    if (!read_header(&cache) || !check_size(&cache)) return false;
    if (options->frame >= cache.frames)
        return mesh_reader_fail(reader, "there is no frame %u (it has %u, counted from 0)", (unsigned)options->frame,
                                (unsigned)cache.frames);
    return read_frame(&cache, options->frame, pose);
}

static void turn_z_up(pose_data *pose)
{
    for (uint32_t i = 0; i < pose->vertex_count; i++) {
        lm_vec3 p = pose->positions[i];
        pose->positions[i] = (lm_vec3){p.x, p.z, -p.y};
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Meshes
 */

static bool read_mesh(const mesh_reader *reader, const pose_options *options, pose_data *pose)
{
    mesh_options as_mesh = {.weld = -1.0f, .z_up = options->z_up, .target = options->target};
    mesh_data mesh;
    size_t size = (size_t)size_of_file(reader);
    if (!mesh_parse_at(reader->name, reader->path, reader->bytes, size, &as_mesh, &mesh, reader->error)) return false;
    *pose = (pose_data){mesh.positions, mesh.vertex_count};
    mesh.positions = NULL;
    mesh_free(&mesh);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

static bool is_cache(const mesh_reader *reader)
{
    return is_pc2(reader) || mesh_has_ending(reader->name, "mdd") || mesh_has_ending(reader->name, "pc2");
}

static bool parse(const char *name, const char *path, const char *bytes, size_t size, const pose_options *options,
                  pose_data *pose, mesh_error *error)
{
    mesh_reader reader = {.name = name, .path = path, .bytes = bytes, .end = bytes + size, .error = error};
    bool done;
    *pose = (pose_data){.positions = NULL};
    if (is_cache(&reader)) {
        bool misnamed = mesh_has_ending(name, "pc2") && !is_pc2(&reader);
        done = misnamed ? mesh_reader_fail(&reader, "it does not begin as a PC2 file does")
                        : read_cache(&reader, options, pose);
        if (done && options->z_up) turn_z_up(pose);
    } else if (options->has_frame) {
        done = mesh_reader_fail(&reader, "it has no frames (expected an MDD or PC2 file)");
    } else {
        done = read_mesh(&reader, options, pose);
    }
    if (!done) pose_free(pose);
    return done;
}

bool pose_parse(const char *name, const void *bytes, size_t size, const pose_options *options, pose_data *pose,
                mesh_error *error)
{
    return parse(name, NULL, size > 0 ? bytes : "", size, options, pose, error);
}

bool pose_read(const char *path, const pose_options *options, pose_data *pose, mesh_error *error)
{
    size_t size;
    const char *reason;
    *pose = (pose_data){.positions = NULL};
    char *bytes = mesh_load(path, &size, &reason);
    if (!bytes) {
        mesh_reader nothing = {.name = path, .error = error};
        return mesh_reader_fail(&nothing, "%s", reason);
    }
    bool read = parse(path, path, bytes, size, options, pose, error);
    free(bytes);
    return read;
}

void pose_free(pose_data *pose)
{
    free(pose->positions);
    *pose = (pose_data){.positions = NULL};
}
