/*
 * Exporters: which format, what is refused, and in which order things happen. The formats themselves are in export_*.c.
 */
#include "io/export.h"

#include "io/export_writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const export_writer *const writers[] = {&export_glb, &export_usda, &export_pc2, &export_mdd,
                                               &export_obj, &export_ply,  &export_vtu, &export_csv};

#define WRITER_COUNT (sizeof writers / sizeof writers[0])

/* ------------------------------------------------------------------------------------------------------------------
 * Shared by the formats
 */

bool export_fail(exporter *out, const char *format, ...)
{
    char what[EXPORT_ERROR_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(out->error.text, sizeof out->error.text, "%.200s: %s", out->path, what);
    return false;
}

bool export_fail_memory(exporter *out) { return export_fail(out, "out of memory"); }

char *export_beside(const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *point = strrchr(name, '.');
    size_t stem = point != NULL && point != name ? (size_t)(point - path) : strlen(path);
    char *other = malloc(stem + strlen(ending) + 1);
    if (other != NULL) {
        memcpy(other, path, stem);
        memcpy(other + stem, ending, strlen(ending) + 1);
    }
    return other;
}

uint64_t export_count_vertices(const export_frame *frame)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < frame->body_count; i++) {
        count += frame->bodies[i].vertex_count;
    }
    return count;
}

uint32_t export_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void export_put_u32(FILE *file, uint32_t value)
{
    unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                              (unsigned char)(value >> 24)};
    fwrite(bytes, 1, sizeof bytes, file);
}

void export_put_u32_big(FILE *file, uint32_t value)
{
    unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16), (unsigned char)(value >> 8),
                              (unsigned char)value};
    fwrite(bytes, 1, sizeof bytes, file);
}

void export_put_words(FILE *file, const void *words, size_t count)
{
    const uint32_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    if (first == 1) {
        fwrite(words, 4, count, file);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, (const char *)words + 4 * i, 4);
        export_put_u32(file, word);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Formats
 */

const char *export_format_name(uint32_t format) { return format < WRITER_COUNT ? writers[format]->name : NULL; }

const char *export_format_doc(uint32_t format) { return format < WRITER_COUNT ? writers[format]->doc : NULL; }

static bool same_letters(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        char small = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;
        if (small != *b) {
            return false;
        }
    }
    return *a == *b;
}

static const export_writer *find_writer(const char *name)
{
    for (size_t i = 0; i < WRITER_COUNT; i++) {
        if (same_letters(name, writers[i]->name)) {
            return writers[i];
        }
    }
    return same_letters(name, "pvd") ? &export_vtu : NULL;
}

const char *export_format_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *point = strrchr(slash != NULL ? slash + 1 : path, '.');
    const export_writer *writer = point != NULL ? find_writer(point + 1) : NULL;
    return writer != NULL ? writer->name : NULL;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Opening
 */

export_options export_options_default(void) { return (export_options){.rate = 60.0, .joints = 32, .influences = 4}; }

static bool check_options(exporter *out)
{
    const export_options *o = &out->options;
    if (o->frame_count < 1 || o->frame_count > EXPORT_MAX_FRAMES) {
        return export_fail(out, "%u frames cannot be exported (expected 1 to %u)", (unsigned)o->frame_count,
                           (unsigned)EXPORT_MAX_FRAMES);
    }
    if (!(o->rate > 0.0 && o->rate <= 1e6)) {
        return export_fail(out, "the frames in a second are not between 0 and 1e6");
    }
    if (o->motion < 0 || o->motion >= EXPORT_MOTION_COUNT || o->joints < 1 || o->joints > EXPORT_MAX_JOINTS ||
        (o->influences != 4 && o->influences != 8)) {
        return export_fail(out, "expected 1 to %u joints, and 4 or 8 of them for a vertex",
                           (unsigned)EXPORT_MAX_JOINTS);
    }
    if (o->z_up && out->writer == &export_glb) {
        return export_fail(out, "Y points up in every GLB file (leave the up axis out)");
    }
    return true;
}

exporter *export_open(const char *path, const export_options *options, export_error *error)
{
    const char *format = options->format != NULL ? options->format : export_format_of(path);
    const export_writer *writer = format != NULL ? find_writer(format) : NULL;
    if (writer == NULL) {
        snprintf(error->text, sizeof error->text, "%.200s: %s%.40s", path,
                 options->format != NULL ? "no such format: " : "its ending names no format that can be exported",
                 options->format != NULL ? options->format : "");
        return NULL;
    }
    exporter *out = calloc(1, sizeof *out);
    char *copy = malloc(strlen(path) + 1);
    void *state = calloc(1, writer->state_size > 0 ? writer->state_size : 1);
    if (out == NULL || copy == NULL || state == NULL) {
        free(out);
        free(copy);
        free(state);
        snprintf(error->text, sizeof error->text, "%.200s: out of memory", path);
        return NULL;
    }
    memcpy(copy, path, strlen(path) + 1);
    *out = (exporter){.writer = writer, .options = *options, .path = copy, .state = state};
    if (!check_options(out) || !partial_check(path, out->error.text)) {
        *error = out->error;
        export_abandon(out);
        return NULL;
    }
    return out;
}

unsigned export_wants(const exporter *out) { return out->writer->wants; }

/* ------------------------------------------------------------------------------------------------------------------
 * Frames
 */

static bool all_finite(const lm_vec3 *vectors, uint32_t count)
{
    for (uint32_t i = 0; vectors != NULL && i < count; i++) {
        if (!isfinite(vectors[i].x) || !isfinite(vectors[i].y) || !isfinite(vectors[i].z)) {
            return false;
        }
    }
    return true;
}

static bool check_body(exporter *out, const export_body *body)
{
    if (!all_finite(body->positions, body->vertex_count) || !all_finite(body->normals, body->vertex_count) ||
        !all_finite(body->rest, body->rest != NULL ? body->vertex_count : 0)) {
        return export_fail(out, "\"%s\" has a vertex that is not finite in frame %u", body->name,
                           (unsigned)out->frames);
    }
    for (size_t i = 0; i < 3u * (size_t)body->triangle_count; i++) {
        if (body->triangles[i] >= body->vertex_count) {
            return export_fail(out, "triangle %zu of \"%s\" names vertex %u of %u", i / 3, body->name,
                               (unsigned)body->triangles[i], (unsigned)body->vertex_count);
        }
    }
    return true;
}

static bool check_frame(exporter *out, const export_frame *frame)
{
    if (out->frames >= out->options.frame_count) {
        return export_fail(out, "there are more frames than the %u announced", (unsigned)out->options.frame_count);
    }
    if (out->begun && frame->body_count != out->body_count) {
        return export_fail(out, "frame %u has other bodies than those before", (unsigned)out->frames);
    }
    for (uint32_t i = 0; i < frame->body_count; i++) {
        if (!check_body(out, &frame->bodies[i])) {
            return false;
        }
        if (out->begun && out->writer->constant && frame->bodies[i].shape != out->shapes[i]) {
            return export_fail(out,
                               "\"%s\" is cut, breaks or changes its surface at %.3f s, which a %s file cannot hold "
                               "(usda, obj, ply and vtu can)",
                               frame->bodies[i].name, frame->time, out->writer->name);
        }
    }
    return true;
}

static bool begin(exporter *out, const export_frame *first)
{
    out->body_count = first->body_count;
    out->shapes = calloc(first->body_count + 1u, sizeof *out->shapes);
    if (out->shapes == NULL) {
        return export_fail_memory(out);
    }
    out->begun = true;
    return out->writer->begin(out, first);
}

static bool add(exporter *out, const export_frame *frame)
{
    if (!check_frame(out, frame) || (!out->begun && !begin(out, frame)) || !out->writer->add(out, frame)) {
        return false;
    }
    for (uint32_t i = 0; i < frame->body_count; i++) {
        out->shapes[i] = frame->bodies[i].shape;
    }
    out->frames++;
    return true;
}

bool export_add(exporter *out, const export_frame *frame, export_error *error)
{
    if (!add(out, frame)) {
        *error = out->error;
        return false;
    }
    return true;
}

bool export_finish(exporter *out, export_loss *loss, export_error *error)
{
    bool good =
        out->frames == out->options.frame_count ||
        export_fail(out, "%u of %u frames were added", (unsigned)out->frames, (unsigned)out->options.frame_count);
    good = good && out->writer->finish(out);
    if (!good) {
        *error = out->error;
    } else if (loss != NULL) {
        *loss = out->loss;
    }
    export_abandon(out);
    return good;
}

void export_abandon(exporter *out)
{
    if (out != NULL) {
        if (out->begun) {
            out->writer->close(out);
        }
        free(out->state);
        free(out->shapes);
        free(out->path);
        free(out);
    }
}
