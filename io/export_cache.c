/*
 * Point caches: PC2 (3ds Max, Maya, Blender) and MDD (LightWave, Blender, Houdini), each with an OBJ file beside it that has the
 * triangles and, as its positions, the first frame. All bodies are one mesh, in order; the OBJ file has a group for each.
 *
 *   PC2, little-endian:  "POINTCACHE2\0", version 1, points, first frame (float), frames for each sample (float), samples,
 *                        then for each sample x y z of every point as floats
 *   MDD, big-endian:     samples, points, the time of each sample in seconds (float), then as above
 */
#include "io/export_writer.h"
#include "io/obj.h"

#include <stdlib.h>
#include <string.h>

typedef struct cache_state {
    partial_file cache, shape;
    uint64_t points;
} cache_state;

static bool open_files(lm_exporter *out, const lm_export_frame *first)
{
    cache_state *s = out->state;
    s->points = lmi_export_count_vertices(first);
    if (s->points > INT32_MAX) {
        return lmi_export_fail(out, "%llu vertices are more than the format can count", (unsigned long long)s->points);
    }
    char *beside = lmi_export_beside(out->path, ".obj");
    bool good = beside != NULL ? lmi_partial_open(&s->cache, out->path, out->error.text) &&
                                     lmi_partial_open(&s->shape, beside, out->error.text)
                               : lmi_export_fail_memory(out);
    free(beside);
    return good && lmi_export_print_obj(out, s->shape.stream, first, OBJ_ONE_MESH);
}

static bool begin_pc2(lm_exporter *out, const lm_export_frame *first)
{
    if (!open_files(out, first)) {
        return false;
    }
    cache_state *s = out->state;
    FILE *file = s->cache.stream;
    fwrite("POINTCACHE2", 1, 12, file);
    lmi_export_put_u32(file, 1);
    lmi_export_put_u32(file, (uint32_t)s->points);
    lmi_export_put_u32(file, lmi_export_float_bits(0.0f));
    lmi_export_put_u32(file, lmi_export_float_bits(1.0f));
    lmi_export_put_u32(file, out->options.frame_count);
    return true;
}

static bool begin_mdd(lm_exporter *out, const lm_export_frame *first)
{
    if (!open_files(out, first)) {
        return false;
    }
    cache_state *s = out->state;
    FILE *file = s->cache.stream;
    lmi_export_put_u32_big(file, out->options.frame_count);
    lmi_export_put_u32_big(file, (uint32_t)s->points);
    for (uint32_t i = 0; i < out->options.frame_count; i++) {
        lmi_export_put_u32_big(file, lmi_export_float_bits((float)(i / out->options.rate)));
    }
    return true;
}

/* A disk that is full is noticed with the frame that did not fit, not after hours. */
static bool check_stream(lm_exporter *out)
{
    cache_state *s = out->state;
    return ferror(s->cache.stream) ? lmi_partial_close(&s->cache, out->error.text) : true;
}

static bool add_pc2(lm_exporter *out, const lm_export_frame *frame)
{
    cache_state *s = out->state;
    for (uint32_t b = 0; b < frame->body_count; b++) {
        lmi_export_put_words(s->cache.stream, frame->bodies[b].positions, 3u * (size_t)frame->bodies[b].vertex_count);
    }
    return check_stream(out);
}

static bool add_mdd(lm_exporter *out, const lm_export_frame *frame)
{
    cache_state *s = out->state;
    for (uint32_t b = 0; b < frame->body_count; b++) {
        for (uint32_t i = 0; i < frame->bodies[b].vertex_count; i++) {
            lm_vec3 p = frame->bodies[b].positions[i];
            lmi_export_put_u32_big(s->cache.stream, lmi_export_float_bits(p.x));
            lmi_export_put_u32_big(s->cache.stream, lmi_export_float_bits(p.y));
            lmi_export_put_u32_big(s->cache.stream, lmi_export_float_bits(p.z));
        }
    }
    return check_stream(out);
}

static bool finish(lm_exporter *out)
{
    cache_state *s = out->state;
    char *error = out->error.text;
    return lmi_partial_close(&s->cache, error) && lmi_partial_close(&s->shape, error) &&
           lmi_partial_keep(&s->cache, error) && lmi_partial_keep(&s->shape, error);
}

static void close_files(lm_exporter *out)
{
    cache_state *s = out->state;
    lmi_partial_drop(&s->cache);
    lmi_partial_drop(&s->shape);
}

const export_writer lmi_export_pc2 = {"pc2",
                                      "a point cache, with the first frame as an OBJ file beside it",
                                      LM_EXPORT_SURFACE,
                                      true,
                                      sizeof(cache_state),
                                      begin_pc2,
                                      add_pc2,
                                      finish,
                                      close_files};
const export_writer lmi_export_mdd = {"mdd",
                                      "a point cache, with the first frame as an OBJ file beside it",
                                      LM_EXPORT_SURFACE,
                                      true,
                                      sizeof(cache_state),
                                      begin_mdd,
                                      add_mdd,
                                      finish,
                                      close_files};
