/* Sequences of OBJ and PLY files, one for each frame. */
#include "io/export_writer.h"
#include "io/obj.h"

#include <stdlib.h>
#include <string.h>

typedef struct series_state {
    partial_series files;
} series_state;

static bool begin(lm_exporter *out, const lm_export_frame *first)
{
    (void)first;
    series_state *s = out->state;
    return lmi_partial_series_open(&s->files, out->path, out->options.frame_count, out->error.text);
}

static bool finish(lm_exporter *out)
{
    series_state *s = out->state;
    return lmi_partial_series_keep(&s->files, out->error.text);
}

static void close_files(lm_exporter *out)
{
    series_state *s = out->state;
    lmi_partial_series_drop(&s->files);
}

/* ------------------------------------------------------------------------------------------------------------------
 * OBJ
 */

bool lmi_export_print_obj(lm_exporter *out, FILE *file, const lm_export_frame *frame, unsigned layout)
{
    lm_mesh_object *objects = calloc(frame->body_count + 1u, sizeof *objects);
    if (objects == NULL) {
        return lmi_export_fail_memory(out);
    }
    for (uint32_t i = 0; i < frame->body_count; i++) {
        const lm_export_body *body = &frame->bodies[i];
        objects[i] = (lm_mesh_object){.name = body->name,
                                      .positions = body->positions,
                                      .normals = body->normals,
                                      .colours = body->colours,
                                      .uvs = body->uvs,
                                      .vertex_count = body->vertex_count,
                                      .triangles = body->triangles,
                                      .triangle_count = body->triangle_count};
    }
    lmi_obj_print(file, objects, frame->body_count, layout | (out->options.z_up ? OBJ_Z_UP : 0u));
    free(objects);
    return true;
}

static bool add_obj(lm_exporter *out, const lm_export_frame *frame)
{
    series_state *s = out->state;
    return lmi_partial_series_next(&s->files, out->error.text) && lmi_export_print_obj(out, s->files.stream, frame, 0);
}

/* ------------------------------------------------------------------------------------------------------------------
 * PLY, binary: everything in one mesh, with the number of its body for each vertex
 */

typedef struct ply_columns {
    bool normals, colours, uvs; /* those that some body has */
} ply_columns;

static void put_header(FILE *file, const lm_export_frame *frame, ply_columns columns, uint64_t faces)
{
    fprintf(file, "ply\nformat binary_little_endian 1.0\ncomment Limber: metres\n");
    for (uint32_t i = 0; i < frame->body_count; i++) {
        fprintf(file, "comment body %u ", (unsigned)i);
        for (const char *c = frame->bodies[i].name; *c != '\0'; c++) {
            fputc((unsigned char)*c < ' ' ? '_' : *c, file);
        }
        fputc('\n', file);
    }
    fprintf(file, "element vertex %llu\nproperty float x\nproperty float y\nproperty float z\n",
            (unsigned long long)lmi_export_count_vertices(frame));
    if (columns.normals) fputs("property float nx\nproperty float ny\nproperty float nz\n", file);
    if (columns.uvs) fputs("property float s\nproperty float t\n", file);
    if (columns.colours) fputs("property uchar red\nproperty uchar green\nproperty uchar blue\n", file);
    fprintf(file, "property int body\nelement face %llu\nproperty list uchar int vertex_indices\nend_header\n",
            (unsigned long long)faces);
}

static void put_vertex(FILE *file, const lm_export_body *body, uint32_t i, ply_columns columns, uint32_t number)
{
    static const lm_vec3 none = {0.0f, 0.0f, 0.0f};
    static const float no_uv[2] = {0.0f, 0.0f};
    static const uint8_t white[3] = {255, 255, 255};
    lmi_export_put_words(file, &body->positions[i], 3);
    if (columns.normals) lmi_export_put_words(file, body->normals != NULL ? &body->normals[i] : &none, 3);
    if (columns.uvs) lmi_export_put_words(file, body->uvs != NULL ? body->uvs + 2u * (size_t)i : no_uv, 2);
    if (columns.colours) fwrite(body->colours != NULL ? body->colours + 3u * (size_t)i : white, 1, 3, file);
    lmi_export_put_u32(file, number);
}

static bool add_ply(lm_exporter *out, const lm_export_frame *frame)
{
    series_state *s = out->state;
    if (lmi_export_count_vertices(frame) > INT32_MAX) {
        return lmi_export_fail(out, "there are more vertices than the format can count");
    }
    if (!lmi_partial_series_next(&s->files, out->error.text)) {
        return false;
    }
    ply_columns columns = {false, false, false};
    uint64_t faces = 0;
    for (uint32_t b = 0; b < frame->body_count; b++) {
        columns.normals = columns.normals || frame->bodies[b].normals != NULL;
        columns.colours = columns.colours || frame->bodies[b].colours != NULL;
        columns.uvs = columns.uvs || frame->bodies[b].uvs != NULL;
        faces += frame->bodies[b].triangle_count;
    }
    FILE *file = s->files.stream;
    put_header(file, frame, columns, faces);
    for (uint32_t b = 0; b < frame->body_count; b++) {
        for (uint32_t i = 0; i < frame->bodies[b].vertex_count; i++) {
            put_vertex(file, &frame->bodies[b], i, columns, b);
        }
    }
    uint32_t first = 0;
    for (uint32_t b = 0; b < frame->body_count; b++) {
        const lm_export_body *body = &frame->bodies[b];
        for (uint32_t t = 0; t < body->triangle_count; t++) {
            fputc(3, file);
            for (int c = 0; c < 3; c++) lmi_export_put_u32(file, first + body->triangles[3u * (size_t)t + (uint32_t)c]);
        }
        first += body->vertex_count;
    }
    return true;
}

const export_writer lmi_export_obj = {"obj",
                                      "a sequence of OBJ files: name.0000.obj, ...",
                                      LM_EXPORT_SURFACE,
                                      false,
                                      sizeof(series_state),
                                      begin,
                                      add_obj,
                                      finish,
                                      close_files};
const export_writer lmi_export_ply = {"ply",
                                      "a sequence of binary PLY files: name.0000.ply, ...",
                                      LM_EXPORT_SURFACE,
                                      false,
                                      sizeof(series_state),
                                      begin,
                                      add_ply,
                                      finish,
                                      close_files};
