/*
 * USD as text (.usda): a stage with a Mesh (or Points) prim for each body, and time samples of points, normals and extents; of
 * topology, colours and texture coordinates too where they change. Frame n of the export is time code n.
 *
 * In the file each attribute has all of its samples together, so those are put aside, a stream for each attribute of each body, and
 * copied when all frames are known.
 */
#include "io/export_writer.h"
#include "io/obj.h"
#include "io/spool.h"
#include "support/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS, NORMALS, EXTENT, COUNTS, INDICES, COLOURS, UVS, STREAMS };

typedef struct usda_body {
    char *name;                          /* as an identifier, one of its kind */
    char *display;                       /* as it was given */
    bool normals, colours, uvs, surface; /* as in the first frame */
    bool one_colour;                     /* all vertices of the first frame have it */
    uint8_t colour[3];                   /* of the material: the mean of the first frame */
    uint32_t topologies;                 /* written so far */
} usda_body;

typedef struct usda_state {
    partial_file file;
    spool spool;
    usda_body *bodies;
} usda_state;

/* ------------------------------------------------------------------------------------------------------------------
 * Names
 */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* Letters, digits and underscores; made different from the names before it by a number at the end. */
static char *make_name(const usda_state *s, uint32_t index, const char *name)
{
    size_t length = strlen(name), room = length + 16;
    char *made = malloc(room);
    if (made == NULL) {
        return NULL;
    }
    size_t used = 0;
    if (length == 0 || !is_letter(name[0])) {
        made[used++] = '_';
    }
    for (size_t i = 0; i < length; i++) {
        made[used++] = is_letter(name[i]) || (name[i] >= '0' && name[i] <= '9') ? name[i] : '_';
    }
    while (used > 1 && made[used - 1] == '_') {
        used--; /* "ball[3]" becomes ball_3 */
    }
    made[used] = '\0';
    for (uint32_t i = 0; i < index; i++) {
        if (strcmp(s->bodies[i].name, made) == 0) {
            snprintf(made + used, room - used, "_%u", (unsigned)index);
            i = UINT32_MAX; /* from the start */
        }
    }
    return made;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Values as text
 */

static void add_number(text_buffer *text, float value)
{
    char digits[OBJ_NUMBER_SIZE];
    lmi_text_add(text, digits, lmi_obj_format_number(value, digits));
}

static void add_tuple(text_buffer *text, const float *values, int count)
{
    lmi_text_add(text, "(", 1);
    for (int i = 0; i < count; i++) {
        if (i > 0) lmi_text_add(text, ", ", 2);
        add_number(text, values[i]);
    }
    lmi_text_add(text, ")", 1);
}

static void add_tuples(text_buffer *text, const float *values, uint32_t count, int size)
{
    lmi_text_add(text, "[", 1);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) lmi_text_add(text, ", ", 2);
        add_tuple(text, values + (size_t)size * i, size);
    }
    lmi_text_add(text, "]", 1);
}

/* Display colours are linear light. */
static float linear_light(uint8_t srgb)
{
    double c = srgb / 255.0;
    return (float)(c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
}

static void add_colour(text_buffer *text, const uint8_t *rgb)
{
    const float linear[3] = {linear_light(rgb[0]), linear_light(rgb[1]), linear_light(rgb[2])};
    add_tuple(text, linear, 3);
}

static void add_colours(text_buffer *text, const uint8_t *colours, uint32_t count)
{
    lmi_text_add(text, "[", 1);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) lmi_text_add(text, ", ", 2);
        add_colour(text, colours + 3u * (size_t)i);
    }
    lmi_text_add(text, "]", 1);
}

static void add_extent(text_buffer *text, const lm_export_body *body)
{
    float box[6] = {0};
    for (uint32_t i = 0; i < body->vertex_count; i++) {
        const float p[3] = {body->positions[i].x, body->positions[i].y, body->positions[i].z};
        for (int k = 0; k < 3; k++) {
            box[k] = i == 0 || p[k] < box[k] ? p[k] : box[k];
            box[3 + k] = i == 0 || p[k] > box[3 + k] ? p[k] : box[3 + k];
        }
    }
    add_tuples(text, box, 2, 3);
}

static void add_integers(text_buffer *text, const uint32_t *values, size_t count)
{
    lmi_text_add(text, "[", 1);
    for (size_t i = 0; i < count; i++) {
        lmi_text_addf(text, i > 0 ? ", %u" : "%u", (unsigned)values[i]);
    }
    lmi_text_add(text, "]", 1);
}

static void add_threes(text_buffer *text, uint32_t count)
{
    lmi_text_add(text, "[", 1);
    for (uint32_t i = 0; i < count; i++) {
        lmi_text_add(text, i > 0 ? ", 3" : "3", i > 0 ? 3 : 1);
    }
    lmi_text_add(text, "]", 1);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Samples
 */

/* What a stream holds of a body in this frame. */
static void add_value(text_buffer *text, const lm_export_body *body, int stream)
{
    switch (stream) {
    case POINTS: add_tuples(text, &body->positions[0].x, body->vertex_count, 3); break;
    case NORMALS: add_tuples(text, &body->normals[0].x, body->vertex_count, 3); break;
    case EXTENT: add_extent(text, body); break;
    case COUNTS: add_threes(text, body->triangle_count); break;
    case INDICES: add_integers(text, body->triangles, 3u * (size_t)body->triangle_count); break;
    case COLOURS: add_colours(text, body->colours, body->vertex_count); break;
    default: add_tuples(text, body->uvs, body->vertex_count, 2); break;
    }
}

/* The first value stands alone, the others have their time codes before them: put_attribute makes either kind of it. */
static bool put_sample(lm_exporter *out, uint32_t b, const lm_export_body *body, int stream)
{
    usda_state *s = out->state;
    text_buffer text = {.bytes = NULL};
    if (out->frames > 0) {
        lmi_text_addf(&text, ",\n            %u: ", (unsigned)out->frames);
    }
    add_value(&text, body, stream);
    bool good = text.failed ? lmi_export_fail_memory(out)
                            : lmi_spool_add(&s->spool, b * STREAMS + (uint32_t)stream, text.bytes, text.length,
                                            out->error.text);
    lmi_text_free(&text);
    return good;
}

static bool put_body(lm_exporter *out, uint32_t b, const lm_export_body *body)
{
    usda_state *s = out->state;
    usda_body *known = &s->bodies[b];
    bool changed = out->frames == 0 || body->shape != out->shapes[b];
    bool good = put_sample(out, b, body, POINTS) && put_sample(out, b, body, EXTENT);
    good = good && (!known->normals || put_sample(out, b, body, NORMALS));
    if (!good || !changed) {
        return good;
    }
    known->topologies++;
    good = !known->surface || (put_sample(out, b, body, COUNTS) && put_sample(out, b, body, INDICES));
    good = good && (!known->colours || put_sample(out, b, body, COLOURS));
    return good && (!known->uvs || put_sample(out, b, body, UVS));
}

/* ------------------------------------------------------------------------------------------------------------------
 * Before the first frame
 */

static void note_colours(usda_body *known, const lm_export_body *body)
{
    uint64_t sum[3] = {0};
    known->one_colour = true;
    for (uint32_t i = 0; i < body->vertex_count; i++) {
        const uint8_t *rgb = body->colours + 3u * (size_t)i;
        known->one_colour = known->one_colour && memcmp(rgb, body->colours, 3) == 0;
        for (int c = 0; c < 3; c++) sum[c] += rgb[c];
    }
    for (int c = 0; c < 3; c++) {
        known->colour[c] = (uint8_t)(body->vertex_count > 0 ? sum[c] / body->vertex_count : 200);
    }
}

static bool note_body(lm_exporter *out, uint32_t b, const lm_export_body *body)
{
    usda_state *s = out->state;
    usda_body *known = &s->bodies[b];
    size_t length = strlen(body->name) + 1;
    known->name = make_name(s, b, body->name);
    known->display = malloc(length);
    if (known->name == NULL || known->display == NULL) {
        return lmi_export_fail_memory(out);
    }
    memcpy(known->display, body->name, length);
    known->surface = body->triangle_count > 0;
    known->normals = body->normals != NULL;
    known->colours = body->colours != NULL;
    known->uvs = body->uvs != NULL;
    if (known->colours) {
        note_colours(known, body);
    }
    return true;
}

static bool begin(lm_exporter *out, const lm_export_frame *first)
{
    usda_state *s = out->state;
    s->bodies = calloc(first->body_count + 1u, sizeof *s->bodies);
    if (s->bodies == NULL || first->body_count > UINT32_MAX / STREAMS) {
        return lmi_export_fail_memory(out);
    }
    for (uint32_t b = 0; b < first->body_count; b++) {
        if (!note_body(out, b, &first->bodies[b])) {
            return false;
        }
    }
    return lmi_partial_open(&s->file, out->path, out->error.text) &&
           lmi_spool_open(&s->spool, out->path, ".samples", first->body_count * STREAMS, out->error.text);
}

static bool add(lm_exporter *out, const lm_export_frame *frame)
{
    for (uint32_t b = 0; b < frame->body_count; b++) {
        if (!put_body(out, b, &frame->bodies[b])) {
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The stage
 */

static void put_header(lm_exporter *out, FILE *file)
{
    text_buffer rate = {.bytes = NULL};
    lmi_text_add_json_number(&rate, out->options.rate);
    const char *number = rate.failed ? "60" : rate.bytes;
    fprintf(file,
            "#usda 1.0\n(\n    defaultPrim = \"limber\"\n    doc = \"Limber: metres\"\n    endTimeCode = %u\n"
            "    framesPerSecond = %s\n    metersPerUnit = 1\n    startTimeCode = 0\n    timeCodesPerSecond = %s\n"
            "    upAxis = \"%c\"\n)\n\ndef Xform \"limber\" (\n    kind = \"component\"\n)\n{\n",
            (unsigned)(out->frames - 1), number, number, out->options.z_up ? 'Z' : 'Y');
    lmi_text_free(&rate);
}

/* `interpolation` may be null. */
static bool put_attribute(lm_exporter *out, uint32_t b, int stream, bool sampled, const char *type,
                          const char *interpolation)
{
    usda_state *s = out->state;
    FILE *file = s->file.stream;
    bool declared = !sampled || interpolation != NULL;
    if (declared) {
        /* An empty default: there are readers that take a name with a colon for a sample unless a value follows. */
        fprintf(file, "        %s%s", type, sampled ? " = []" : "");
    }
    if (!sampled) {
        fputs(" = ", file);
        if (!lmi_spool_copy(&s->spool, b * STREAMS + (uint32_t)stream, file, out->error.text)) {
            return false;
        }
    }
    if (interpolation != NULL) {
        fprintf(file, " (\n            interpolation = \"%s\"\n        )", interpolation);
    }
    fputs(declared ? "\n" : "", file);
    if (!sampled) {
        return true;
    }
    fprintf(file, "        %s.timeSamples = {\n            0: ", type);
    bool good = lmi_spool_copy(&s->spool, b * STREAMS + (uint32_t)stream, file, out->error.text);
    fputs(",\n        }\n", file);
    return good;
}

static void put_material(FILE *file, const usda_body *known)
{
    text_buffer colour = {.bytes = NULL};
    add_colour(&colour, known->colours ? known->colour : (const uint8_t[3]){200, 200, 200});
    bool reads = known->colours && !known->one_colour;
    fprintf(file,
            "        def Material \"%s\"\n        {\n            token outputs:surface.connect = "
            "</limber/materials/%s/surface.outputs:surface>\n",
            known->name, known->name);
    fputs("            def Shader \"surface\"\n            {\n                uniform token info:id = "
          "\"UsdPreviewSurface\"\n",
          file);
    if (reads) {
        fprintf(file,
                "                color3f inputs:diffuseColor.connect = "
                "</limber/materials/%s/colour.outputs:result>\n",
                known->name);
    } else {
        fprintf(file, "                color3f inputs:diffuseColor = %s\n", colour.failed ? "(1, 1, 1)" : colour.bytes);
    }
    fputs("                float inputs:roughness = 0.6\n                float inputs:metallic = 0\n"
          "                token outputs:surface\n            }\n",
          file);
    if (reads) {
        fputs("            def Shader \"colour\"\n            {\n                uniform token info:id = "
              "\"UsdPrimvarReader_float3\"\n                string inputs:varname = \"displayColor\"\n"
              "                float3 outputs:result\n            }\n",
              file);
    }
    fputs("        }\n", file);
    lmi_text_free(&colour);
}

static void put_display_name(FILE *file, const char *name)
{
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (c == '"' || c == '\\') fputc('\\', file);
        fputc(c < ' ' ? '_' : c, file);
    }
}

static bool put_prim(lm_exporter *out, uint32_t b)
{
    usda_state *s = out->state;
    const usda_body *known = &s->bodies[b];
    bool changes = known->topologies > 1;
    FILE *file = s->file.stream;
    fprintf(file, "    def %s \"%s\" (\n%s        displayName = \"", known->surface ? "Mesh" : "Points", known->name,
            known->surface ? "        prepend apiSchemas = [\"MaterialBindingAPI\"]\n" : "");
    put_display_name(file, known->display);
    fputs("\"\n    )\n    {\n", file);
    bool good = put_attribute(out, b, EXTENT, true, "float3[] extent", NULL);
    if (known->surface) {
        fprintf(file, "        rel material:binding = </limber/materials/%s>\n", known->name);
        good = good && put_attribute(out, b, COUNTS, changes, "int[] faceVertexCounts", NULL) &&
               put_attribute(out, b, INDICES, changes, "int[] faceVertexIndices", NULL);
        fputs("        uniform token orientation = \"rightHanded\"\n        uniform token subdivisionScheme = "
              "\"none\"\n",
              file);
    }
    good = good && put_attribute(out, b, POINTS, true, "point3f[] points", NULL);
    good = good && (!known->normals || put_attribute(out, b, NORMALS, true, "normal3f[] normals", "vertex"));
    good = good &&
           (!known->colours || put_attribute(out, b, COLOURS, changes, "color3f[] primvars:displayColor", "vertex"));
    good = good && (!known->uvs || put_attribute(out, b, UVS, changes, "texCoord2f[] primvars:st", "vertex"));
    fputs("    }\n", file);
    return good;
}

static bool finish(lm_exporter *out)
{
    usda_state *s = out->state;
    FILE *file = s->file.stream;
    put_header(out, file);
    bool good = true;
    for (uint32_t b = 0; good && b < out->body_count; b++) {
        good = put_prim(out, b);
    }
    fputs("    def Scope \"materials\"\n    {\n", file);
    for (uint32_t b = 0; b < out->body_count; b++) {
        if (s->bodies[b].surface) put_material(file, &s->bodies[b]);
    }
    fputs("    }\n}\n", file);
    return good && lmi_partial_keep(&s->file, out->error.text);
}

static void close_files(lm_exporter *out)
{
    usda_state *s = out->state;
    lmi_partial_drop(&s->file);
    lmi_spool_close(&s->spool);
    for (uint32_t b = 0; s->bodies != NULL && b < out->body_count; b++) {
        free(s->bodies[b].name);
        free(s->bodies[b].display);
    }
    free(s->bodies);
}

const export_writer lmi_export_usda = {"usda",
                                       "USD as text: meshes with time samples, also where their topology changes",
                                       LM_EXPORT_SURFACE,
                                       false,
                                       sizeof(usda_state),
                                       begin,
                                       add,
                                       finish,
                                       close_files};
