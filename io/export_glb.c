/*
 * GLB (glTF 2.0 in one binary file): a mesh for each body, animated by joints (joints.h) or by morph targets, one for each frame after
 * the first.
 *
 *   header, then a chunk of JSON that describes arrays, then a chunk of bytes that holds them.
 *
 * The description of an array is put aside as JSON when its bytes are, and so are the bytes: the JSON comes first in the file. Tracks
 * of joints come frame by frame and are wanted joint by joint: they are turned around at the end, a few joints at a time.
 */
#define _POSIX_C_SOURCE 200809L

#include "io/export_writer.h"
#include "io/joints.h"
#include "io/spool.h"
#include "support/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLOATS = 5126, SHORTS = 5123, WORDS = 5125 };                 /* componentType */
enum { NO_TARGET = 0, VERTEX_TARGET = 34962, INDEX_TARGET = 34963 }; /* of a bufferView */
enum { VIEWS, ACCESSORS, DATA, STREAMS };

#define NONE UINT32_MAX
#define TURN_BYTES (1u << 20) /* memory for turning tracks around */
#define MOST_MORPH_BYTES (1u << 30)

/* What the JSON says of a body. Numbers are of accessors, or NONE. */
typedef struct glb_body {
    char *name;
    bool surface;
    uint32_t vertex_count;
    uint32_t positions, normals, colours, uvs, joints[2], weights[2], indices, matrices;
    uint32_t first_track; /* of joints: four accessors for each */
    uint32_t first_morph; /* of morphs: which of the accessors of a frame is its first */
    joint_rig rig;
    lm_vec3 *rest;
    lm_vec3 *base, *base_normals; /* of morphs: the first frame */
} glb_body;

typedef struct glb_state {
    partial_file file;
    spool spool, tracks;
    glb_body *bodies;
    uint32_t accessors;
    uint64_t bytes; /* of the chunk of bytes, so far */
    uint32_t morphs_from, morphs_a_frame;
    uint32_t times, weights; /* accessors */
    joint_track *record;     /* tracks of all joints in one frame */
    uint32_t joint_count;
    double squares;
    uint64_t measured;
} glb_state;

/* ------------------------------------------------------------------------------------------------------------------
 * Arrays
 */

typedef struct array {
    int component, target;
    const char *type; /* "VEC3" */
    uint32_t count;
    uint64_t size; /* bytes */
    bool normalized;
    const float *low, *high; /* bounds of three, or of one with `type` SCALAR; or null */
} array;

static void add_bounds(text_buffer *text, const array *a)
{
    int count = strcmp(a->type, "SCALAR") == 0 ? 1 : 3;
    const float *const bounds[2] = {a->low, a->high};
    for (int b = 0; b < 2; b++) {
        lmi_text_addf(text, ",\"%s\":[", b == 0 ? "min" : "max");
        for (int i = 0; i < count; i++) {
            if (i > 0) lmi_text_addf(text, ",");
            lmi_text_add_json_number(text, (double)bounds[b][i]);
        }
        lmi_text_addf(text, "]");
    }
}

/* Describes an array that is next in the chunk of bytes; its number, or NONE on failure. */
static uint32_t describe(lm_exporter *out, const array *a)
{
    glb_state *s = out->state;
    text_buffer view = {.bytes = NULL}, accessor = {.bytes = NULL};
    lmi_text_addf(&view, "%s{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu", s->accessors > 0 ? "," : "",
                  (unsigned long long)s->bytes, (unsigned long long)a->size);
    if (a->target != NO_TARGET) lmi_text_addf(&view, ",\"target\":%d", a->target);
    lmi_text_addf(&view, "}");
    lmi_text_addf(&accessor, "%s{\"bufferView\":%u,\"componentType\":%d,\"count\":%u,\"type\":\"%s\"%s",
                  s->accessors > 0 ? "," : "", (unsigned)s->accessors, a->component, (unsigned)a->count, a->type,
                  a->normalized ? ",\"normalized\":true" : "");
    if (a->low != NULL) add_bounds(&accessor, a);
    lmi_text_addf(&accessor, "}");
    bool good = !view.failed && !accessor.failed ? true : lmi_export_fail_memory(out);
    good = good && lmi_spool_add(&s->spool, VIEWS, view.bytes, view.length, out->error.text) &&
           lmi_spool_add(&s->spool, ACCESSORS, accessor.bytes, accessor.length, out->error.text);
    lmi_text_free(&view);
    lmi_text_free(&accessor);
    s->bytes += (a->size + 3u) & ~(uint64_t)3;
    if (good && s->bytes > UINT32_MAX - (64u << 20)) {
        good = lmi_export_fail(out, "more than the 4 GB that a GLB file may have (fewer frames, or joints, help)");
    }
    return good ? s->accessors++ : NONE;
}

/* The same, and its bytes. Words are stored as little-endian hosts have them. */
static uint32_t put_array(lm_exporter *out, const array *a, const void *bytes)
{
    glb_state *s = out->state;
    static const char zeros[4] = {0};
    uint32_t number = describe(out, a);
    size_t padding = (size_t)(-a->size & 3u);
    bool good = number != NONE && lmi_spool_add(&s->spool, DATA, bytes, (size_t)a->size, out->error.text);
    good = good && (padding == 0 || lmi_spool_add(&s->spool, DATA, zeros, padding, out->error.text));
    return good ? number : NONE;
}

static uint32_t put_vectors(lm_exporter *out, const lm_vec3 *vectors, uint32_t count, int target, bool bounded)
{
    float low[3] = {0}, high[3] = {0};
    for (uint32_t i = 0; bounded && i < count; i++) {
        const float v[3] = {vectors[i].x, vectors[i].y, vectors[i].z};
        for (int k = 0; k < 3; k++) {
            low[k] = i == 0 || v[k] < low[k] ? v[k] : low[k];
            high[k] = i == 0 || v[k] > high[k] ? v[k] : high[k];
        }
    }
    array a = {.component = FLOATS, .target = target, .type = "VEC3", .count = count, .size = 12 * (uint64_t)count};
    if (bounded) a.low = low, a.high = high;
    return put_array(out, &a, vectors);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Meshes
 */

/* Normals of length 1 for every vertex, whatever there was. */
static void mend_normals(lm_vec3 *normals, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        lm_vec3 n = normals[i];
        double length = sqrt((double)n.x * (double)n.x + (double)n.y * (double)n.y + (double)n.z * (double)n.z);
        normals[i] = length > 1e-20 ? (lm_vec3){(float)((double)n.x / length), (float)((double)n.y / length),
                                                (float)((double)n.z / length)}
                                    : (lm_vec3){0.0f, 1.0f, 0.0f};
    }
}

static void sum_normals(const lm_export_body *body, const lm_vec3 *at, lm_vec3 *normals)
{
    memset(normals, 0, body->vertex_count * sizeof *normals);
    for (uint32_t t = 0; t < body->triangle_count; t++) {
        const uint32_t *corner = body->triangles + 3u * (size_t)t;
        lm_vec3 a = at[corner[0]], b = at[corner[1]], c = at[corner[2]];
        double u[3] = {(double)b.x - (double)a.x, (double)b.y - (double)a.y, (double)b.z - (double)a.z};
        double v[3] = {(double)c.x - (double)a.x, (double)c.y - (double)a.y, (double)c.z - (double)a.z};
        for (int k = 0; k < 3; k++) {
            lm_vec3 *n = &normals[corner[k]];
            n->x += (float)(u[1] * v[2] - u[2] * v[1]);
            n->y += (float)(u[2] * v[0] - u[0] * v[2]);
            n->z += (float)(u[0] * v[1] - u[1] * v[0]);
        }
    }
    mend_normals(normals, body->vertex_count);
}

/* Linear light in 16 bits. */
static bool put_colours(lm_exporter *out, glb_body *made, const lm_export_body *body)
{
    uint16_t *rgba = malloc((4u * (size_t)body->vertex_count + 1u) * sizeof *rgba);
    if (rgba == NULL) {
        return lmi_export_fail_memory(out);
    }
    for (size_t i = 0; i < 4u * (size_t)body->vertex_count; i++) {
        double c = i % 4 < 3 ? body->colours[3 * (i / 4) + i % 4] / 255.0 : 1.0;
        c = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
        rgba[i] = (uint16_t)(c * 65535.0 + 0.5);
    }
    array a = {.component = SHORTS,
               .target = VERTEX_TARGET,
               .type = "VEC4",
               .count = body->vertex_count,
               .size = 8 * (uint64_t)body->vertex_count,
               .normalized = true};
    made->colours = put_array(out, &a, rgba);
    free(rgba);
    return made->colours != NONE;
}

/* glTF's texture coordinates run downwards. */
static bool put_uvs(lm_exporter *out, glb_body *made, const lm_export_body *body)
{
    float *uvs = malloc((2u * (size_t)body->vertex_count + 1u) * sizeof *uvs);
    if (uvs == NULL) {
        return lmi_export_fail_memory(out);
    }
    for (size_t i = 0; i < 2u * (size_t)body->vertex_count; i++) {
        uvs[i] = i % 2 == 0 ? body->uvs[i] : 1.0f - body->uvs[i];
    }
    array a = {.component = FLOATS,
               .target = VERTEX_TARGET,
               .type = "VEC2",
               .count = body->vertex_count,
               .size = 8 * (uint64_t)body->vertex_count};
    made->uvs = put_array(out, &a, uvs);
    free(uvs);
    return made->uvs != NONE;
}

static bool put_mesh(lm_exporter *out, glb_body *made, const lm_export_body *body, const lm_vec3 *at,
                     const lm_vec3 *normals)
{
    made->positions = put_vectors(out, at, body->vertex_count, VERTEX_TARGET, true);
    if (made->positions == NONE) {
        return false;
    }
    if (made->surface &&
        (made->normals = put_vectors(out, normals, body->vertex_count, VERTEX_TARGET, false)) == NONE) {
        return false;
    }
    if ((body->colours != NULL && !put_colours(out, made, body)) || (body->uvs != NULL && !put_uvs(out, made, body))) {
        return false;
    }
    array a = {.component = WORDS,
               .target = INDEX_TARGET,
               .type = "SCALAR",
               .count = 3 * body->triangle_count,
               .size = 12 * (uint64_t)body->triangle_count};
    return !made->surface || (made->indices = put_array(out, &a, body->triangles)) != NONE;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Joints
 */

static bool put_influences(lm_exporter *out, glb_body *made)
{
    const joint_rig *rig = &made->rig;
    size_t count = rig->vertex_count;
    uint16_t *joints = malloc((4 * count + 1u) * sizeof *joints);
    float *weights = malloc((4 * count + 1u) * sizeof *weights);
    bool good = joints != NULL && weights != NULL ? true : lmi_export_fail_memory(out);
    for (uint32_t set = 0; good && 4 * set < rig->influences; set++) {
        for (size_t i = 0; i < 4 * count; i++) {
            size_t from = i / 4 * rig->influences + 4 * set + i % 4;
            joints[i] = rig->joints[from];
            weights[i] = rig->weights[from];
        }
        array a = {.component = SHORTS,
                   .target = VERTEX_TARGET,
                   .type = "VEC4",
                   .count = (uint32_t)count,
                   .size = 8 * (uint64_t)count};
        made->joints[set] = put_array(out, &a, joints);
        a.component = FLOATS;
        a.size = 16 * (uint64_t)count;
        made->weights[set] = made->joints[set] != NONE ? put_array(out, &a, weights) : NONE;
        good = made->weights[set] != NONE;
    }
    free(joints);
    free(weights);
    return good;
}

/* From the rest shape into a joint: its centre becomes the origin. Vertices ride on the inner nodes of joints alone. The outer ones and
 * what they hang on are listed after them for Blender, which finds the pose at rest of what has such a matrix, and takes the first
 * frame for that of anything else. */
static bool put_matrices(lm_exporter *out, glb_body *made)
{
    uint32_t joints = made->rig.joint_count, count = 2 * joints + 1;
    float *matrices = calloc(16u * (size_t)count, sizeof *matrices);
    if (matrices == NULL) {
        return lmi_export_fail_memory(out);
    }
    for (uint32_t j = 0; j < count; j++) {
        float *m = matrices + 16u * (size_t)j;
        m[0] = m[5] = m[10] = m[15] = 1.0f;
        for (int k = 0; j < 2 * joints && k < 3; k++) m[12 + k] = (float)-made->rig.centres[j % joints][k];
    }
    array a = {.component = FLOATS, .type = "MAT4", .count = count, .size = 64 * (uint64_t)count};
    made->matrices = put_array(out, &a, matrices);
    free(matrices);
    return made->matrices != NONE;
}

static bool begin_joints(lm_exporter *out, glb_body *made, const lm_export_body *body)
{
    glb_state *s = out->state;
    size_t count = body->vertex_count;
    made->rest = malloc((count + 1u) * sizeof *made->rest);
    lm_vec3 *normals = malloc((count + 1u) * sizeof *normals);
    bool good = made->rest != NULL && normals != NULL;
    if (good) {
        memcpy(made->rest, body->rest, count * sizeof *made->rest);
        sum_normals(body, made->rest, normals);
        good = lmi_glb_joints_make(&made->rig, made->rest, body->vertex_count, body->centres, body->centre_count,
                                   out->options.joints, out->options.influences);
    }
    good = good ? put_mesh(out, made, body, made->rest, normals) && put_influences(out, made) && put_matrices(out, made)
                : lmi_export_fail_memory(out);
    free(normals);
    s->joint_count += made->rig.joint_count;
    double size = 0.0;
    for (int k = 0; good && k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            double p = (double)(k == 0 ? made->rest[i].x : k == 1 ? made->rest[i].y : made->rest[i].z);
            low = fmin(low, p), high = fmax(high, p);
        }
        size += (high - low) * (high - low);
    }
    out->loss.size = fmax(out->loss.size, sqrt(size));
    return good;
}

static bool add_joints(lm_exporter *out, const lm_export_frame *frame)
{
    glb_state *s = out->state;
    joint_track *record = s->record;
    for (uint32_t b = 0; b < frame->body_count; b++) {
        joint_rig *rig = &s->bodies[b].rig;
        double largest, sum;
        lmi_glb_joints_fit(rig, frame->bodies[b].positions, &largest, &sum);
        out->loss.largest = fmax(out->loss.largest, sqrt(largest));
        s->squares += sum;
        s->measured += rig->vertex_count;
        memcpy(record, rig->tracks, rig->joint_count * sizeof *record);
        record += rig->joint_count;
    }
    out->loss.mean = s->measured > 0 ? sqrt(s->squares / (double)s->measured) : 0.0;
    return lmi_spool_add(&s->tracks, 0, s->record, s->joint_count * sizeof *s->record, out->error.text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Morph targets
 */

/* Those of a frame, or of its triangles where it has none. */
static void find_normals(const lm_export_body *body, lm_vec3 *normals)
{
    if (body->normals != NULL) {
        memcpy(normals, body->normals, body->vertex_count * sizeof *normals);
        mend_normals(normals, body->vertex_count);
    } else {
        sum_normals(body, body->positions, normals);
    }
}

static bool begin_morphs(lm_exporter *out, glb_body *made, const lm_export_body *body)
{
    glb_state *s = out->state;
    size_t bytes = body->vertex_count * sizeof *made->base;
    made->base = malloc(bytes + 1u);
    made->base_normals = malloc(bytes + 1u);
    if (made->base == NULL || made->base_normals == NULL) {
        return lmi_export_fail_memory(out);
    }
    memcpy(made->base, body->positions, bytes);
    if (made->surface) {
        find_normals(body, made->base_normals);
    }
    made->first_morph = s->morphs_a_frame;
    s->morphs_a_frame += made->surface ? 2 : 1;
    return put_mesh(out, made, body, made->base, made->base_normals);
}

static bool put_differences(lm_exporter *out, const lm_vec3 *now, const lm_vec3 *base, uint32_t count, lm_vec3 *room,
                            bool bounded)
{
    for (uint32_t i = 0; i < count; i++) {
        room[i] = (lm_vec3){now[i].x - base[i].x, now[i].y - base[i].y, now[i].z - base[i].z};
    }
    return put_vectors(out, room, count, VERTEX_TARGET, bounded) != NONE;
}

static bool add_morphs(lm_exporter *out, const lm_export_frame *frame)
{
    glb_state *s = out->state;
    for (uint32_t b = 0; out->frames > 0 && b < frame->body_count; b++) {
        const lm_export_body *body = &frame->bodies[b];
        const glb_body *made = &s->bodies[b];
        size_t count = body->vertex_count;
        lm_vec3 *room = malloc((2 * count + 1u) * sizeof *room);
        bool good = room != NULL ? put_differences(out, body->positions, made->base, body->vertex_count, room, true)
                                 : lmi_export_fail_memory(out);
        if (good && made->surface) {
            find_normals(body, room + count);
            good = put_differences(out, room + count, made->base_normals, body->vertex_count, room, false);
        }
        free(room);
        if (!good) {
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Frames
 */

static bool check_size(lm_exporter *out, const lm_export_frame *first)
{
    uint64_t vertices = lmi_export_count_vertices(first), bytes = 24 * vertices * (out->options.frame_count - 1);
    if (out->options.motion == LM_EXPORT_MORPHS && bytes > MOST_MORPH_BYTES) {
        return lmi_export_fail(
            out,
            "%llu vertices in %u frames are too much for morph targets: %llu MB (joints, fewer frames or "
            "--body help)",
            (unsigned long long)vertices, (unsigned)out->options.frame_count, (unsigned long long)(bytes >> 20));
    }
    for (uint32_t b = 0; b < first->body_count; b++) {
        if (first->bodies[b].vertex_count == 0) {
            return lmi_export_fail(out, "\"%s\" has no vertices", first->bodies[b].name);
        }
    }
    return true;
}

static bool begin_body(lm_exporter *out, uint32_t b, const lm_export_body *body)
{
    glb_state *s = out->state;
    glb_body *made = &s->bodies[b];
    size_t length = strlen(body->name) + 1;
    *made = (glb_body){.surface = body->triangle_count > 0,
                       .vertex_count = body->vertex_count,
                       .positions = NONE,
                       .normals = NONE,
                       .colours = NONE,
                       .uvs = NONE,
                       .joints = {NONE, NONE},
                       .weights = {NONE, NONE},
                       .indices = NONE,
                       .matrices = NONE};
    made->name = malloc(length);
    if (made->name == NULL) {
        return lmi_export_fail_memory(out);
    }
    memcpy(made->name, body->name, length);
    return out->options.motion == LM_EXPORT_JOINTS ? begin_joints(out, made, body) : begin_morphs(out, made, body);
}

static bool put_times(lm_exporter *out)
{
    glb_state *s = out->state;
    uint32_t count = out->options.frame_count;
    float low = 0.0f, high = (float)((count - 1) / out->options.rate);
    array a = {
        .component = FLOATS, .type = "SCALAR", .count = count, .size = 4 * (uint64_t)count, .low = &low, .high = &high};
    s->times = describe(out, &a);
    bool good = s->times != NONE;
    for (uint32_t i = 0; good && i < count; i++) {
        float time = (float)(i / out->options.rate);
        good = lmi_spool_add(&s->spool, DATA, &time, sizeof time, out->error.text);
    }
    return good;
}

static bool begin(lm_exporter *out, const lm_export_frame *first)
{
    glb_state *s = out->state;
    s->bodies = calloc(first->body_count + 1u, sizeof *s->bodies);
    bool good = s->bodies != NULL ? check_size(out, first) : lmi_export_fail_memory(out);
    good = good && lmi_partial_open(&s->file, out->path, out->error.text) &&
           lmi_spool_open(&s->spool, out->path, ".arrays", STREAMS, out->error.text) && put_times(out);
    for (uint32_t b = 0; good && b < first->body_count; b++) {
        good = begin_body(out, b, &first->bodies[b]);
    }
    s->morphs_from = s->accessors;
    if (good && out->options.motion == LM_EXPORT_JOINTS) {
        s->record = malloc((s->joint_count + 1u) * sizeof *s->record);
        good = s->record != NULL ? lmi_spool_open(&s->tracks, out->path, ".tracks", 1, out->error.text)
                                 : lmi_export_fail_memory(out);
    }
    return good;
}

static bool add(lm_exporter *out, const lm_export_frame *frame)
{
    return out->options.motion == LM_EXPORT_JOINTS ? add_joints(out, frame) : add_morphs(out, frame);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Tracks, joint by joint
 */

/* Parts of a track, in their order in joint_track. */
static const struct {
    const char *path, *type;
    uint32_t first, floats;
    bool inner;
} parts[4] = {{"translation", "VEC3", 0, 3, false},
              {"rotation", "VEC4", 3, 4, false},
              {"scale", "VEC3", 7, 3, false},
              {"rotation", "VEC4", 10, 4, true}};

static bool describe_tracks(lm_exporter *out)
{
    glb_state *s = out->state;
    for (uint32_t b = 0; b < out->body_count; b++) {
        s->bodies[b].first_track = s->accessors;
        for (uint32_t j = 0; j < s->bodies[b].rig.joint_count; j++) {
            for (int p = 0; p < 4; p++) {
                array a = {.component = FLOATS,
                           .type = parts[p].type,
                           .count = out->frames,
                           .size = 4u * parts[p].floats * (uint64_t)out->frames};
                if (describe(out, &a) == NONE) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* Joints first to first + count - 1 of all. */
static bool turn_around(lm_exporter *out, float *room, uint32_t first, uint32_t count)
{
    glb_state *s = out->state;
    size_t record = s->joint_count * sizeof(joint_track), some = count * sizeof(joint_track);
    for (uint32_t f = 0; f < out->frames; f++) {
        if (!lmi_spool_read(&s->tracks, f, record, first * sizeof(joint_track), (char *)room + f * some, some,
                            out->error.text)) {
            return false;
        }
    }
    for (uint32_t j = 0; j < count; j++) {
        for (int p = 0; p < 4; p++) {
            for (uint32_t f = 0; f < out->frames; f++) {
                const float *track = room + ((size_t)f * count + j) * JOINT_TRACK_FLOATS;
                lmi_export_put_words(s->file.stream, track + parts[p].first, parts[p].floats);
            }
        }
    }
    return true;
}

static bool put_tracks(lm_exporter *out)
{
    glb_state *s = out->state;
    size_t each = (size_t)out->frames * sizeof(joint_track);
    uint32_t at_once = (uint32_t)(each < TURN_BYTES ? TURN_BYTES / each : 1);
    at_once = at_once < s->joint_count ? at_once : s->joint_count;
    float *room = malloc(at_once * each + 1u);
    bool good = room != NULL ? true : lmi_export_fail_memory(out);
    for (uint32_t first = 0; good && first < s->joint_count; first += at_once) {
        uint32_t left = s->joint_count - first;
        good = turn_around(out, room, first, left < at_once ? left : at_once);
    }
    free(room);
    return good;
}

/* In frame f the weight of target f - 1 is 1, the others are 0; in frame 0 all are. */
static void put_morph_weights(lm_exporter *out)
{
    glb_state *s = out->state;
    const uint32_t one = lmi_export_float_bits(1.0f);
    for (uint32_t f = 0; f < out->frames; f++) {
        for (uint32_t t = 1; t < out->frames; t++) {
            lmi_export_put_u32(s->file.stream, t == f ? one : 0);
        }
    }
}

static bool describe_weights(lm_exporter *out)
{
    glb_state *s = out->state;
    uint64_t count = (uint64_t)out->frames * (out->frames - 1);
    if (count > UINT32_MAX / 4) {
        return lmi_export_fail(out, "there are too many frames for morph targets");
    }
    array a = {.component = FLOATS, .type = "SCALAR", .count = (uint32_t)count, .size = 4 * count};
    s->weights = describe(out, &a);
    return s->weights != NONE;
}

/* ------------------------------------------------------------------------------------------------------------------
 * JSON
 */

/* Nodes of a body: its mesh and, with joints, what they hang on, and two for each of them: one that is moved, turned and stretched,
 * and in it one that turns what is stretched. */
static uint32_t node_count(const lm_exporter *out, const glb_body *body)
{
    return out->options.motion == LM_EXPORT_JOINTS ? 2 + 2 * body->rig.joint_count : 1;
}

static bool put_string(lm_exporter *out, FILE *file, const char *string, const char *ending)
{
    text_buffer whole = {.bytes = NULL}, text = {.bytes = NULL};
    lmi_text_addf(&whole, "%s%s", string, ending);
    if (!whole.failed) lmi_text_add_json_string(&text, whole.bytes);
    bool good = !whole.failed && !text.failed;
    if (good) fputs(text.bytes, file);
    lmi_text_free(&whole);
    lmi_text_free(&text);
    return good ? true : lmi_export_fail_memory(out);
}

static void put_numbers(FILE *file, const char *key, const float *values, int count)
{
    fprintf(file, ",\"%s\":[", key);
    for (int i = 0; i < count; i++) {
        text_buffer text = {.bytes = NULL};
        lmi_text_add_json_number(&text, (double)values[i]);
        fprintf(file, i > 0 ? ",%s" : "%s", text.failed ? "0" : text.bytes);
        lmi_text_free(&text);
    }
    fputs("]", file);
}

/* Joints stand as in the first frame while nothing plays. */
static bool put_joint_nodes(lm_exporter *out, FILE *file, const glb_body *body, uint32_t node, const joint_track *first)
{
    uint32_t count = body->rig.joint_count;
    fputs(",{\"name\":", file);
    if (!put_string(out, file, body->name, ".joints")) {
        return false;
    }
    fputs(",\"children\":[", file);
    for (uint32_t j = 0; j < count; j++) fprintf(file, j > 0 ? ",%u" : "%u", (unsigned)(node + 2 + 2 * j));
    fputs("]}", file);
    for (uint32_t j = 0; j < count; j++) {
        char ending[32];
        snprintf(ending, sizeof ending, ".joint.%u", (unsigned)j);
        fputs(",{\"name\":", file);
        if (!put_string(out, file, body->name, ending)) {
            return false;
        }
        put_numbers(file, "translation", first[j].place, 3);
        put_numbers(file, "rotation", first[j].rotation, 4);
        put_numbers(file, "scale", first[j].scale, 3);
        fprintf(file, ",\"children\":[%u]},{\"name\":", (unsigned)(node + 3 + 2 * j));
        snprintf(ending, sizeof ending, ".joint.%u.inner", (unsigned)j);
        if (!put_string(out, file, body->name, ending)) {
            return false;
        }
        put_numbers(file, "rotation", first[j].inner, 4);
        fputs("}", file);
    }
    return true;
}

static bool put_nodes(lm_exporter *out, FILE *file)
{
    glb_state *s = out->state;
    bool jointed = out->options.motion == LM_EXPORT_JOINTS;
    uint32_t node = 0, joint = 0;
    if (jointed && !lmi_spool_read(&s->tracks, 0, s->joint_count * sizeof *s->record, 0, s->record,
                                   s->joint_count * sizeof *s->record, out->error.text)) {
        return false;
    }
    fputs("\"nodes\":[", file);
    for (uint32_t b = 0; b < out->body_count; b++) {
        const glb_body *body = &s->bodies[b];
        fprintf(file, "%s{\"mesh\":%u,\"name\":", b > 0 ? "," : "", (unsigned)b);
        if (!put_string(out, file, body->name, "")) {
            return false;
        }
        if (jointed) fprintf(file, ",\"skin\":%u", (unsigned)b);
        fputs("}", file);
        if (jointed && !put_joint_nodes(out, file, body, node, s->record + joint)) {
            return false;
        }
        node += node_count(out, body);
        joint += body->rig.joint_count;
    }
    fputs("],\"scenes\":[{\"nodes\":[", file);
    node = 0;
    for (uint32_t b = 0; b < out->body_count; b++) {
        fprintf(file, b > 0 ? ",%u" : "%u", (unsigned)node);
        if (jointed) fprintf(file, ",%u", (unsigned)(node + 1));
        node += node_count(out, &s->bodies[b]);
    }
    fputs("]}],\"scene\":0,", file);
    return true;
}

static void put_attributes(FILE *file, const glb_body *body)
{
    const struct {
        const char *name;
        uint32_t accessor;
    } attributes[] = {{"POSITION", body->positions}, {"NORMAL", body->normals},      {"COLOR_0", body->colours},
                      {"TEXCOORD_0", body->uvs},     {"JOINTS_0", body->joints[0]},  {"WEIGHTS_0", body->weights[0]},
                      {"JOINTS_1", body->joints[1]}, {"WEIGHTS_1", body->weights[1]}};
    fputs("\"attributes\":{", file);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        if (attributes[i].accessor != NONE) {
            fprintf(file, "%s\"%s\":%u", i > 0 ? "," : "", attributes[i].name, (unsigned)attributes[i].accessor);
        }
    }
    fputs("}", file);
}

static bool put_meshes(lm_exporter *out, FILE *file)
{
    glb_state *s = out->state;
    fputs("\"meshes\":[", file);
    for (uint32_t b = 0; b < out->body_count; b++) {
        const glb_body *body = &s->bodies[b];
        fprintf(file, "%s{\"name\":", b > 0 ? "," : "");
        if (!put_string(out, file, body->name, "")) {
            return false;
        }
        fputs(",\"primitives\":[{", file);
        put_attributes(file, body);
        fprintf(file, ",\"material\":%u", body->colours != NONE ? 0u : 1u);
        if (body->surface) {
            fprintf(file, ",\"indices\":%u", (unsigned)body->indices);
        } else {
            fputs(",\"mode\":0", file);
        }
        bool morphs = out->options.motion == LM_EXPORT_MORPHS && out->frames > 1;
        fputs(morphs ? ",\"targets\":[" : "", file);
        for (uint32_t f = 1; morphs && f < out->frames; f++) {
            uint32_t at = s->morphs_from + (f - 1) * s->morphs_a_frame + body->first_morph;
            fprintf(file, "%s{\"POSITION\":%u", f > 1 ? "," : "", (unsigned)at);
            if (body->surface) fprintf(file, ",\"NORMAL\":%u", (unsigned)(at + 1));
            fputs("}", file);
        }
        fputs(morphs ? "]}]}" : "}]}", file);
    }
    fputs("],\"materials\":[{\"name\":\"colours\",\"doubleSided\":true,\"pbrMetallicRoughness\":{\"metallicFactor\":0,"
          "\"roughnessFactor\":0.6}},{\"name\":\"plain\",\"doubleSided\":true,\"pbrMetallicRoughness\":{"
          "\"baseColorFactor\":[0.5,0.5,0.5,1],\"metallicFactor\":0,\"roughnessFactor\":0.6}}],",
          file);
    return true;
}

static void put_skins(lm_exporter *out, FILE *file)
{
    glb_state *s = out->state;
    uint32_t node = 0;
    fputs("\"skins\":[", file);
    for (uint32_t b = 0; b < out->body_count; b++) {
        const glb_body *body = &s->bodies[b];
        fprintf(file, "%s{\"inverseBindMatrices\":%u,\"skeleton\":%u,\"joints\":[", b > 0 ? "," : "",
                (unsigned)body->matrices, (unsigned)(node + 1));
        for (uint32_t j = 0; j < body->rig.joint_count; j++) fprintf(file, "%u,", (unsigned)(node + 3 + 2 * j));
        for (uint32_t j = 0; j < body->rig.joint_count; j++) fprintf(file, "%u,", (unsigned)(node + 2 + 2 * j));
        fprintf(file, "%u]}", (unsigned)(node + 1));
        node += node_count(out, body);
    }
    fputs("],", file);
}

/* Sampler n belongs to channel n. */
static void put_animation(lm_exporter *out, FILE *file)
{
    glb_state *s = out->state;
    bool jointed = out->options.motion == LM_EXPORT_JOINTS;
    uint32_t joints = jointed ? s->joint_count : 0, samplers = jointed ? 4 * joints : 1;
    fputs("\"animations\":[{\"name\":\"limber\",\"samplers\":[", file);
    for (uint32_t i = 0; i < samplers; i++) {
        fprintf(file, "%s{\"input\":%u,\"output\":%u}", i > 0 ? "," : "", (unsigned)s->times,
                (unsigned)(jointed ? s->bodies[0].first_track + i : s->weights));
    }
    fputs("],\"channels\":[", file);
    uint32_t node = 0, sampler = 0;
    for (uint32_t b = 0; b < out->body_count; b++) {
        if (!jointed) {
            fprintf(file, "%s{\"sampler\":0,\"target\":{\"node\":%u,\"path\":\"weights\"}}", b > 0 ? "," : "",
                    (unsigned)node);
        }
        for (uint32_t j = 0; jointed && j < s->bodies[b].rig.joint_count; j++) {
            for (int p = 0; p < 4; p++, sampler++) {
                fprintf(file, "%s{\"sampler\":%u,\"target\":{\"node\":%u,\"path\":\"%s\"}}", sampler > 0 ? "," : "",
                        (unsigned)sampler, (unsigned)(node + 2 + 2 * j + (parts[p].inner ? 1 : 0)), parts[p].path);
            }
        }
        node += node_count(out, &s->bodies[b]);
    }
    fputs("]}],", file);
}

static bool put_json(lm_exporter *out, FILE *file)
{
    glb_state *s = out->state;
    fprintf(file, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"Limber %s\"", lm_version());
    if (out->options.motion == LM_EXPORT_JOINTS) {
        const float loss[3] = {(float)out->loss.largest, (float)out->loss.mean, (float)out->loss.size};
        fputs(",\"extras\":{\"units\":\"metres\"", file);
        put_numbers(file, "largest_error", loss, 1);
        put_numbers(file, "mean_error", loss + 1, 1);
        fputs("}", file);
    }
    fputs("},", file);
    if (!put_nodes(out, file) || !put_meshes(out, file)) {
        return false;
    }
    if (out->options.motion == LM_EXPORT_JOINTS) put_skins(out, file);
    if (out->options.motion == LM_EXPORT_JOINTS || out->frames > 1) put_animation(out, file);
    fprintf(file, "\"buffers\":[{\"byteLength\":%llu}],\"bufferViews\":[", (unsigned long long)s->bytes);
    bool good = lmi_spool_copy(&s->spool, VIEWS, file, out->error.text);
    fputs("],\"accessors\":[", file);
    good = good && lmi_spool_copy(&s->spool, ACCESSORS, file, out->error.text);
    fputs("]}", file);
    return good;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The file
 */

static bool put_chunks(lm_exporter *out, FILE *file)
{
    glb_state *s = out->state;
    bool jointed = out->options.motion == LM_EXPORT_JOINTS;
    for (int i = 0; i < 5; i++) lmi_export_put_u32(file, 0); /* filled in below */
    if (!put_json(out, file)) {
        return false;
    }
    off_t end = ftello(file);
    for (; end % 4 != 0; end++) fputc(' ', file);
    lmi_export_put_u32(file, (uint32_t)s->bytes);
    lmi_export_put_u32(file, 0x004e4942); /* "BIN" */
    bool good = lmi_spool_copy(&s->spool, DATA, file, out->error.text);
    if (good && jointed) {
        good = put_tracks(out);
    } else if (good && out->frames > 1) {
        put_morph_weights(out);
    }
    uint64_t total = (uint64_t)end + 8 + s->bytes;
    if (good && total > UINT32_MAX) {
        return lmi_export_fail(out, "more than the 4 GB that a GLB file may have");
    }
    fseeko(file, 0, SEEK_SET);
    lmi_export_put_u32(file, 0x46546c67); /* "glTF" */
    lmi_export_put_u32(file, 2);
    lmi_export_put_u32(file, (uint32_t)total);
    lmi_export_put_u32(file, (uint32_t)(end - 20));
    lmi_export_put_u32(file, 0x4e4f534a); /* "JSON" */
    return good;
}

static bool finish(lm_exporter *out)
{
    glb_state *s = out->state;
    bool jointed = out->options.motion == LM_EXPORT_JOINTS;
    bool good = jointed ? describe_tracks(out) : out->frames < 2 || describe_weights(out);
    return good && put_chunks(out, s->file.stream) && lmi_partial_keep(&s->file, out->error.text);
}

static void close_files(lm_exporter *out)
{
    glb_state *s = out->state;
    lmi_partial_drop(&s->file);
    lmi_spool_close(&s->spool);
    lmi_spool_close(&s->tracks);
    for (uint32_t b = 0; s->bodies != NULL && b < out->body_count; b++) {
        free(s->bodies[b].name);
        free(s->bodies[b].rest);
        free(s->bodies[b].base);
        free(s->bodies[b].base_normals);
        lmi_glb_joints_free(&s->bodies[b].rig);
    }
    free(s->bodies);
    free(s->record);
}

const export_writer lmi_export_glb = {"glb",
                                      "glTF 2.0 in one file: meshes that joints or morph targets move",
                                      LM_EXPORT_SURFACE | LM_EXPORT_REST,
                                      true,
                                      sizeof(glb_state),
                                      begin,
                                      add,
                                      finish,
                                      close_files};
