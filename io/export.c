/*
 * Exporters: which format, what is refused, and in which order things happen. The formats themselves are in export_*.c.
 */
#include "limber/export.h"

#include "io/export_writer.h"
#include "support/system.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const export_writer *const writers[] = {&lmi_export_glb, &lmi_export_usda, &lmi_export_pc2, &lmi_export_mdd,
                                               &lmi_export_obj, &lmi_export_ply,  &lmi_export_vtu, &lmi_export_csv};

#define WRITER_COUNT (sizeof writers / sizeof writers[0])

/* ------------------------------------------------------------------------------------------------------------------
 * Shared by the formats
 */

bool lmi_export_fail(lm_exporter *out, const char *format, ...)
{
    char what[LM_EXPORT_ERROR_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(out->error.text, sizeof out->error.text, "%.200s: %s", out->path, what);
    return false;
}

bool lmi_export_fail_memory(lm_exporter *out) { return lmi_export_fail(out, "out of memory"); }

char *lmi_export_beside(const char *path, const char *ending)
{
    const char *name = lmi_system_last_part(path), *point = strrchr(name, '.');
    size_t stem = point != NULL && point != name ? (size_t)(point - path) : strlen(path);
    char *other = malloc(stem + strlen(ending) + 1);
    if (other != NULL) {
        memcpy(other, path, stem);
        memcpy(other + stem, ending, strlen(ending) + 1);
    }
    return other;
}

uint64_t lmi_export_count_vertices(const lm_export_frame *frame)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < frame->body_count; i++) {
        count += frame->bodies[i].vertex_count;
    }
    return count;
}

uint32_t lmi_export_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void lmi_export_put_u32(FILE *file, uint32_t value)
{
    unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                              (unsigned char)(value >> 24)};
    fwrite(bytes, 1, sizeof bytes, file);
}

void lmi_export_put_u32_big(FILE *file, uint32_t value)
{
    unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16), (unsigned char)(value >> 8),
                              (unsigned char)value};
    fwrite(bytes, 1, sizeof bytes, file);
}

void lmi_export_put_words(FILE *file, const void *words, size_t count)
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
        lmi_export_put_u32(file, word);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Formats
 */

const char *lm_export_format_name(uint32_t format) { return format < WRITER_COUNT ? writers[format]->name : NULL; }

const char *lm_export_format_doc(uint32_t format) { return format < WRITER_COUNT ? writers[format]->doc : NULL; }

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
    return same_letters(name, "pvd") ? &lmi_export_vtu : NULL;
}

const char *lm_export_format_of(const char *path)
{
    const char *point = strrchr(lmi_system_last_part(path), '.');
    const export_writer *writer = point != NULL ? find_writer(point + 1) : NULL;
    return writer != NULL ? writer->name : NULL;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Opening
 */

lm_export_options lm_export_options_default(void)
{
    return (lm_export_options){.rate = 60.0, .joints = 32, .influences = 4};
}

static bool check_options(lm_exporter *out)
{
    const lm_export_options *o = &out->options;
    if (o->frame_count < 1 || o->frame_count > LM_EXPORT_MAX_FRAMES) {
        return lmi_export_fail(out, "%u frames cannot be exported (expected 1 to %u)", (unsigned)o->frame_count,
                               (unsigned)LM_EXPORT_MAX_FRAMES);
    }
    if (!(o->rate > 0.0 && o->rate <= 1e6)) {
        return lmi_export_fail(out, "the frames in a second are not between 0 and 1e6");
    }
    if (o->motion < 0 || o->motion >= LM_EXPORT_MOTION_COUNT || o->joints < 1 || o->joints > LM_EXPORT_MAX_JOINTS ||
        (o->influences != 4 && o->influences != 8)) {
        return lmi_export_fail(out, "expected 1 to %u joints, and 4 or 8 of them for a vertex",
                               (unsigned)LM_EXPORT_MAX_JOINTS);
    }
    if (o->z_up && out->writer == &lmi_export_glb) {
        return lmi_export_fail(out, "Y points up in every GLB file (leave the up axis out)");
    }
    return true;
}

lm_exporter *lm_export_open(const char *path, const lm_export_options *options, lm_export_error *error)
{
    const char *format = options->format != NULL ? options->format : lm_export_format_of(path);
    const export_writer *writer = format != NULL ? find_writer(format) : NULL;
    if (writer == NULL) {
        snprintf(error->text, sizeof error->text, "%.200s: %s%.40s", path,
                 options->format != NULL ? "no such format: " : "its ending names no format that can be exported",
                 options->format != NULL ? options->format : "");
        return NULL;
    }
    lm_exporter *out = calloc(1, sizeof *out);
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
    *out = (lm_exporter){.writer = writer, .options = *options, .path = copy, .state = state};
    if (!check_options(out) || !lmi_partial_check(path, out->error.text)) {
        *error = out->error;
        lm_export_abandon(out);
        return NULL;
    }
    return out;
}

unsigned lm_export_wants(const lm_exporter *out) { return out->writer->wants; }

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

static bool check_body(lm_exporter *out, const lm_export_body *body)
{
    if (!all_finite(body->positions, body->vertex_count) || !all_finite(body->normals, body->vertex_count) ||
        !all_finite(body->rest, body->rest != NULL ? body->vertex_count : 0)) {
        return lmi_export_fail(out, "\"%s\" has a vertex that is not finite in frame %u", body->name,
                               (unsigned)out->frames);
    }
    for (size_t i = 0; i < 3u * (size_t)body->triangle_count; i++) {
        if (body->triangles[i] >= body->vertex_count) {
            return lmi_export_fail(out, "triangle %zu of \"%s\" names vertex %u of %u", i / 3, body->name,
                                   (unsigned)body->triangles[i], (unsigned)body->vertex_count);
        }
    }
    return true;
}

static bool check_frame(lm_exporter *out, const lm_export_frame *frame)
{
    if (out->frames >= out->options.frame_count) {
        return lmi_export_fail(out, "there are more frames than the %u announced", (unsigned)out->options.frame_count);
    }
    if (out->begun && frame->body_count != out->body_count) {
        return lmi_export_fail(out, "frame %u has other bodies than those before", (unsigned)out->frames);
    }
    for (uint32_t i = 0; i < frame->body_count; i++) {
        if (!check_body(out, &frame->bodies[i])) {
            return false;
        }
        if (out->begun && out->writer->constant && frame->bodies[i].shape != out->shapes[i]) {
            return lmi_export_fail(
                out,
                "\"%s\" is cut, breaks or changes its surface at %.3f s, which a %s file cannot hold "
                "(usda, obj, ply and vtu can)",
                frame->bodies[i].name, frame->time, out->writer->name);
        }
    }
    return true;
}

static bool begin(lm_exporter *out, const lm_export_frame *first)
{
    out->body_count = first->body_count;
    out->shapes = calloc(first->body_count + 1u, sizeof *out->shapes);
    if (out->shapes == NULL) {
        return lmi_export_fail_memory(out);
    }
    out->begun = true;
    return out->writer->begin(out, first);
}

static bool add(lm_exporter *out, const lm_export_frame *frame)
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

bool lm_export_add(lm_exporter *out, const lm_export_frame *frame, lm_export_error *error)
{
    if (!add(out, frame)) {
        *error = out->error;
        return false;
    }
    return true;
}

bool lm_export_finish(lm_exporter *out, lm_export_loss *loss, lm_export_error *error)
{
    bool good =
        out->frames == out->options.frame_count ||
        lmi_export_fail(out, "%u of %u frames were added", (unsigned)out->frames, (unsigned)out->options.frame_count);
    good = good && out->writer->finish(out);
    if (!good) {
        *error = out->error;
    } else if (loss != NULL) {
        *loss = out->loss;
    }
    lm_export_abandon(out);
    return good;
}

void lm_export_abandon(lm_exporter *out)
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
