#include "test/support/mesh_files.h"

#include "io/obj.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

plain_mesh plain_cube(void)
{
    static const lm_vec3 positions[8] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                         {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    static const uint32_t triangles[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                           2, 3, 7, 2, 7, 6, 1, 2, 6, 1, 6, 5, 0, 4, 7, 0, 7, 3};
    static const uint8_t colours[24] = {0,  0,   0,   255, 0, 0, 255, 255, 0,   0,   255, 0,
                                        10, 200, 128, 1,   2, 3, 254, 253, 252, 127, 64,  32};
    return (plain_mesh){positions, colours, 8, triangles, 12};
}

/* ------------------------------------------------------------------------------------------------------------------
 * Numbers
 */

static void add_bytes(text_buffer *bytes, uint64_t value, int size, bool big)
{
    unsigned char b[8];
    for (int i = 0; i < size; i++) b[big ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
    lmi_text_add(bytes, (const char *)b, (size_t)size);
}

void add_u16(text_buffer *bytes, uint32_t value) { add_bytes(bytes, value, 2, false); }

void add_u32(text_buffer *bytes, uint32_t value) { add_bytes(bytes, value, 4, false); }

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void add_float(text_buffer *bytes, float value) { add_u32(bytes, float_bits(value)); }

static void add_number(text_buffer *text, float value)
{
    char number[OBJ_NUMBER_SIZE];
    lmi_text_add(text, number, lmi_obj_format_number(value, number));
}

static void add_vector(text_buffer *text, const char *before, lm_vec3 v, const char *after)
{
    float value[3] = {v.x, v.y, v.z};
    lmi_text_addf(text, "%s", before);
    for (int i = 0; i < 3; i++) {
        lmi_text_add(text, " ", 1);
        add_number(text, value[i]);
    }
    lmi_text_addf(text, "%s", after);
}

void add_base64(text_buffer *text, const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = (uint32_t)b[i] << 16;
        if (i + 1 < size) bits |= (uint32_t)b[i + 1] << 8;
        if (i + 2 < size) bits |= b[i + 2];
        char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63], i + 1 < size ? digits[bits >> 6 & 63] : '=',
                        i + 2 < size ? digits[bits & 63] : '='};
        lmi_text_add(text, four, 4);
    }
}

double linear_of(uint8_t srgb)
{
    double s = srgb / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

/* ------------------------------------------------------------------------------------------------------------------
 * OBJ and STL
 */

void make_obj(text_buffer *file, const plain_mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        add_vector(file, "v", mesh->positions[i], "");
        for (int c = 0; mesh->colours && c < 3; c++) {
            lmi_text_add(file, " ", 1);
            add_number(file, (float)mesh->colours[3 * i + (uint32_t)c] / 255.0f);
        }
        lmi_text_add(file, "\n", 1);
    }
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = mesh->triangles + 3 * t;
        lmi_text_addf(file, "f %u %u %u\n", corner[0] + 1, corner[1] + 1, corner[2] + 1);
    }
}

void make_stl_text(text_buffer *file, const plain_mesh *mesh, const char *name)
{
    lmi_text_addf(file, "solid %s\n", name);
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        lmi_text_addf(file, "  facet normal 0 0 1\n    outer loop\n");
        for (uint32_t c = 0; c < 3; c++)
            add_vector(file, "      vertex", mesh->positions[mesh->triangles[3 * t + c]], "\n");
        lmi_text_addf(file, "    endloop\n  endfacet\n");
    }
    lmi_text_addf(file, "endsolid %s\n", name);
}

void make_stl_binary(text_buffer *file, const plain_mesh *mesh, const char *header)
{
    char first[80] = {0};
    memcpy(first, header, strlen(header) < sizeof first ? strlen(header) : sizeof first);
    lmi_text_add(file, first, sizeof first);
    add_u32(file, mesh->triangle_count);
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        for (int i = 0; i < 3; i++) add_float(file, NAN); /* the normal, which nobody should look at */
        for (uint32_t c = 0; c < 3; c++) {
            lm_vec3 p = mesh->positions[mesh->triangles[3 * t + c]];
            add_float(file, p.x);
            add_float(file, p.y);
            add_float(file, p.z);
        }
        add_u16(file, 0x8421 + t);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * PLY
 */

/* A value of a type by its name, as the encoding writes it. */
static void add_ply(text_buffer *file, const ply_style *style, const char *type, double value)
{
    bool big = style->encoding == PLY_BIG_ENDIAN;
    if (style->encoding == PLY_TEXT) {
        lmi_text_add(file, " ", 1);
        add_number(file, (float)value);
    } else if (strstr(type, "char")) {
        add_bytes(file, (uint64_t)(int64_t)value, 1, big);
    } else if (strstr(type, "short")) {
        add_bytes(file, (uint64_t)(int64_t)value, 2, big);
    } else if (strstr(type, "int")) {
        add_bytes(file, (uint64_t)(int64_t)value, 4, big);
    } else if (strcmp(type, "float") == 0) {
        add_bytes(file, float_bits((float)value), 4, big);
    } else {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        add_bytes(file, bits, 8, big);
    }
}

static void end_row(text_buffer *file, const ply_style *style)
{
    if (style->encoding == PLY_TEXT) lmi_text_add(file, "\n", 1);
}

static void add_extra_element(text_buffer *file, const ply_style *style)
{
    for (int row = 0; style->extras && row < 3; row++) { /* list ushort double weights, property short kind */
        add_ply(file, style, "ushort", row);
        for (int i = 0; i < row; i++) add_ply(file, style, "double", 0.25 * i);
        add_ply(file, style, "short", -row);
        end_row(file, style);
    }
}

static void add_ply_vertices(text_buffer *file, const ply_style *style, const plain_mesh *mesh)
{
    double full = strcmp(style->colour_type, "float") == 0    ? 1.0
                  : strcmp(style->colour_type, "ushort") == 0 ? 65535.0
                                                              : 255.0;
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        lm_vec3 p = mesh->positions[i];
        if (style->extras) {
            add_ply(file, style, "uchar", 2); /* a list within a vertex */
            add_ply(file, style, "int", 7);
            add_ply(file, style, "int", -7);
        }
        add_ply(file, style, style->position_type, (double)p.z); /* the header says z x y */
        add_ply(file, style, style->position_type, (double)p.x);
        if (style->extras) add_ply(file, style, "double", 1e-3);
        for (int c = 0; mesh->colours && c < 3; c++) {
            double value = mesh->colours[3 * i + (uint32_t)c] / 255.0 * full;
            add_ply(file, style, style->colour_type, full == 1.0 ? value : floor(value + 0.5));
        }
        add_ply(file, style, style->position_type, (double)p.y);
        end_row(file, style);
    }
}

static void add_ply_faces(text_buffer *file, const ply_style *style, const plain_mesh *mesh)
{
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        if (style->extras) add_ply(file, style, "uchar", t & 0xff);
        add_ply(file, style, style->count_type, 3);
        for (uint32_t c = 0; c < 3; c++) add_ply(file, style, style->index_type, mesh->triangles[3 * t + c]);
        if (style->extras) add_ply(file, style, "int", 0); /* an empty list */
        end_row(file, style);
    }
}

static void add_header_line(text_buffer *file, const ply_style *style, const char *text)
{
    lmi_text_addf(file, "%s%s", text, style->line_end);
}

static void add_vertex_header(text_buffer *file, const ply_style *style, const plain_mesh *mesh)
{
    static const char *const names[3] = {"red", "green", "blue"};
    const char *end = style->line_end, *type = style->position_type;
    lmi_text_addf(file, "element vertex %u%s", mesh->vertex_count, end);
    if (style->extras) lmi_text_addf(file, "property list uchar int neighbours%s", end);
    lmi_text_addf(file, "property %s z%sproperty %s x%s", type, end, type, end);
    if (style->extras) lmi_text_addf(file, "property double confidence%s", end);
    for (int i = 0; mesh->colours && i < 3; i++)
        lmi_text_addf(file, "property %s %s%s", style->colour_type, names[i], end);
    lmi_text_addf(file, "property %s y%s", type, end);
}

static void add_face_header(text_buffer *file, const ply_style *style, const plain_mesh *mesh)
{
    lmi_text_addf(file, "element face %u%s", mesh->triangle_count, style->line_end);
    if (style->extras) add_header_line(file, style, "property uint8 flags");
    lmi_text_addf(file, "property list %s %s vertex_indices%s", style->count_type, style->index_type, style->line_end);
    if (style->extras) add_header_line(file, style, "property list int32 float32 texcoord");
}

static void add_extra_header(text_buffer *file, const ply_style *style)
{
    if (!style->extras) return;
    add_header_line(file, style, "element material 3");
    add_header_line(file, style, "property list ushort double weights");
    add_header_line(file, style, "property short kind");
}

void make_ply(text_buffer *file, const plain_mesh *mesh, ply_style style)
{
    static const char *const encodings[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    if (!style.position_type) style.position_type = "float";
    if (!style.colour_type) style.colour_type = "uchar";
    if (!style.count_type) style.count_type = "uchar";
    if (!style.index_type) style.index_type = "int";
    if (!style.line_end) style.line_end = "\n";
    lmi_text_addf(file, "ply%sformat %s 1.0%scomment made by a test%s", style.line_end, encodings[style.encoding],
                  style.line_end, style.line_end);
    add_extra_header(file, &style);
    if (style.faces_first) add_face_header(file, &style, mesh);
    add_vertex_header(file, &style, mesh);
    add_extra_header(file, &style);
    if (!style.faces_first) add_face_header(file, &style, mesh);
    add_header_line(file, &style, "end_header");

    add_extra_element(file, &style);
    if (style.faces_first) add_ply_faces(file, &style, mesh);
    add_ply_vertices(file, &style, mesh);
    add_extra_element(file, &style);
    if (!style.faces_first) add_ply_faces(file, &style, mesh);
}

/* ------------------------------------------------------------------------------------------------------------------
 * glTF
 */

static void add_colour(text_buffer *bytes, const gltf_style *style, const uint8_t *colour)
{
    for (int i = 0; i < style->colour_components; i++) {
        double linear = i < 3 ? linear_of(colour[i]) : 1.0;
        if (style->colour_type == 5126)
            add_float(bytes, (float)linear);
        else if (style->colour_type == 5123)
            add_u16(bytes, (uint32_t)(linear * 65535.0 + 0.5));
        else
            add_bytes(bytes, (uint64_t)(linear * 255.0 + 0.5), 1, false);
    }
}

static void fill_up(text_buffer *bytes, char with)
{
    while (bytes->length % 4 != 0) lmi_text_add(bytes, &with, 1);
}

static void add_position(text_buffer *bytes, lm_vec3 p)
{
    add_float(bytes, p.x);
    add_float(bytes, p.y);
    add_float(bytes, p.z);
}

typedef struct gltf_pieces {
    size_t colours, indices, end; /* where they begin in the buffer */
    size_t stride;                /* of positions and colours; 0: none */
} gltf_pieces;

static gltf_pieces make_buffer(text_buffer *bytes, const plain_mesh *mesh, const gltf_style *style)
{
    gltf_pieces pieces = {0};
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        add_position(bytes, mesh->positions[i]);
        if (!style->interleaved) continue;
        if (i == 0) pieces.colours = bytes->length;
        add_colour(bytes, style, mesh->colours + 3 * i);
        fill_up(bytes, '\x7f');
        add_u32(bytes, 0xffffffffu); /* a gap */
        if (i == 0) pieces.stride = bytes->length;
    }
    if (mesh->colours && !style->interleaved) {
        pieces.colours = bytes->length;
        /* Elements of a vertex attribute begin at multiples of four. */
        for (uint32_t i = 0; i < mesh->vertex_count; i++) {
            add_colour(bytes, style, mesh->colours + 3 * i);
            fill_up(bytes, 0);
        }
    }
    pieces.indices = bytes->length;
    int size = style->index_type == 5121 ? 1 : style->index_type == 5123 ? 2 : 4;
    for (size_t i = 0; i < 3u * (size_t)mesh->triangle_count; i++) add_bytes(bytes, mesh->triangles[i], size, false);
    pieces.end = bytes->length;
    fill_up(bytes, 0);
    return pieces;
}

static void add_views(text_buffer *json, const plain_mesh *mesh, const gltf_style *style, gltf_pieces pieces)
{
    int size = style->colour_type == 5126 ? 4 : style->colour_type == 5123 ? 2 : 1;
    unsigned colour_stride = (unsigned)(style->colour_components * size + 3) / 4 * 4;
    unsigned start = (unsigned)pieces.colours, first = (unsigned)pieces.indices;
    lmi_text_addf(json, "\"bufferViews\":[");
    if (style->interleaved)
        lmi_text_addf(json, "{\"buffer\":0,\"byteLength\":%u,\"byteStride\":%u},", first, (unsigned)pieces.stride);
    else
        lmi_text_addf(json, "{\"buffer\":0,\"byteLength\":%u},", mesh->vertex_count * 12);
    if (style->interleaved)
        lmi_text_addf(json, "{\"buffer\":0,\"byteLength\":%u,\"byteStride\":%u},", first, (unsigned)pieces.stride);
    else
        lmi_text_addf(json, "{\"buffer\":0,\"byteOffset\":%u,\"byteLength\":%u,\"byteStride\":%u},", start,
                      mesh->colours ? first - start : 0, colour_stride);
    lmi_text_addf(json, "{\"buffer\":0,\"byteOffset\":%u,\"byteLength\":%u}],\n", first, (unsigned)pieces.end - first);
}

static void add_accessors(text_buffer *json, const plain_mesh *mesh, const gltf_style *style, gltf_pieces pieces)
{
    lmi_text_addf(json, "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":%u,\"type\":\"VEC3\"},\n",
                  mesh->vertex_count);
    lmi_text_addf(json, "{\"bufferView\":2,\"componentType\":%d,\"count\":%u,\"type\":\"SCALAR\"}", style->index_type,
                  mesh->triangle_count * 3);
    if (mesh->colours)
        lmi_text_addf(json,
                      ",\n{\"bufferView\":1,\"byteOffset\":%u,\"componentType\":%d,\"normalized\":%s,\"count\":%u,"
                      "\"type\":\"VEC%d\"}",
                      style->interleaved ? (unsigned)pieces.colours : 0, style->colour_type,
                      style->colour_type == 5126 ? "false" : "true", mesh->vertex_count, style->colour_components);
    lmi_text_addf(json, "]}");
}

void make_glb(text_buffer *file, const char *json, const text_buffer *buffer)
{
    size_t text_length = (strlen(json) + 3) / 4 * 4, binary_length = buffer ? (buffer->length + 3) / 4 * 4 : 0;
    lmi_text_add(file, "glTF", 4);
    add_u32(file, 2);
    add_u32(file, (uint32_t)(20 + text_length + (buffer ? 8 + binary_length : 0)));
    add_u32(file, (uint32_t)text_length);
    lmi_text_add(file, "JSON", 4);
    lmi_text_addf(file, "%-*s", (int)text_length, json);
    if (!buffer) return;
    add_u32(file, (uint32_t)binary_length);
    lmi_text_add(file, "BIN\0", 4);
    lmi_text_add(file, buffer->bytes, buffer->length);
    fill_up(file, 0);
}

void make_gltf(text_buffer *file, text_buffer *buffer, const plain_mesh *mesh, gltf_style style)
{
    if (!style.index_type) style.index_type = 5125;
    if (!style.colour_type) style.colour_type = 5126;
    if (!style.colour_components) style.colour_components = 4;
    text_buffer bytes = {0}, json = {0};
    gltf_pieces pieces = make_buffer(&bytes, mesh, &style);
    lmi_text_addf(&json, "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\n");
    lmi_text_addf(&json, "\"nodes\":[{\"mesh\":0,\"name\":\"thing\"%s}],\n", style.node ? style.node : "");
    lmi_text_addf(&json, "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0%s},\"indices\":1}]}],\n",
                  mesh->colours ? ",\"COLOR_0\":2" : "");
    lmi_text_addf(&json, "\"buffers\":[{\"byteLength\":%u", (unsigned)pieces.end);
    if (!style.binary) {
        lmi_text_addf(&json, ",\"uri\":\"%s", style.uri ? style.uri : "data:application/octet-stream;base64,");
        if (!style.uri) add_base64(&json, bytes.bytes, pieces.end);
        lmi_text_addf(&json, "\"");
    }
    lmi_text_addf(&json, "}],\n");
    add_views(&json, mesh, &style, pieces);
    add_accessors(&json, mesh, &style, pieces);
    if (style.binary)
        make_glb(file, json.bytes, &bytes);
    else
        lmi_text_add(file, json.bytes, json.length);
    if (buffer) lmi_text_add(buffer, bytes.bytes, bytes.length);
    lmi_text_free(&json);
    lmi_text_free(&bytes);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Assertions
 */

static const lm_mesh_options as_it_is = {.weld = -1.0f};

lm_mesh_data assert_reads(const char *name, text_buffer *file)
{
    lm_mesh_data mesh;
    lm_mesh_error error;
    bool read = lm_mesh_parse(name, file->bytes, file->length, &as_it_is, &mesh, &error);
    lmi_text_free(file);
    if (!read) fail_msg("%s", error.text);
    return mesh;
}

void assert_refused(const char *name, text_buffer *file, const char *expected)
{
    lm_mesh_data mesh = {.vertex_count = 3};
    lm_mesh_error error;
    bool read = lm_mesh_parse(name, file->bytes, file->length, &as_it_is, &mesh, &error);
    lmi_text_free(file);
    if (read) fail_msg("read, but \"%s\" was expected", expected);
    assert_string_equal(error.text, expected);
    assert_null(mesh.positions);
    assert_int_equal(mesh.vertex_count, 0);
}

void assert_text_refused(const char *name, const char *text, const char *expected)
{
    text_buffer file = {0};
    lmi_text_add(&file, text, strlen(text));
    assert_refused(name, &file, expected);
}

void assert_holds(const char *name, text_buffer *file, const plain_mesh *plain, int colour_error)
{
    lm_mesh_data mesh = assert_reads(name, file);
    assert_int_equal(mesh.triangle_count, plain->triangle_count);
    assert_true((mesh.colours != NULL) == (plain->colours != NULL));
    for (size_t i = 0; i < 3u * (size_t)plain->triangle_count; i++) {
        uint32_t at = mesh.triangles[i], expected = plain->triangles[i];
        assert_true(at < mesh.vertex_count);
        assert_memory_equal(&mesh.positions[at], &plain->positions[expected], sizeof(lm_vec3));
        for (size_t c = 0; plain->colours && c < 3; c++) {
            int difference = mesh.colours[3u * (size_t)at + c] - plain->colours[3u * (size_t)expected + c];
            assert_true(abs(difference) <= colour_error);
        }
    }
    lm_mesh_free(&mesh);
}

void assert_survives(const char *name, const void *bytes, size_t size)
{
    /* A block of just this size, so that the address sanitizer sees a read beyond it. */
    void *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    lm_mesh_data mesh;
    lm_mesh_error error = {""};
    if (!lm_mesh_parse(name, copy, size, NULL, &mesh, &error)) {
        assert_true(strncmp(error.text, name, strlen(name)) == 0);
        assert_true(strlen(error.text) > strlen(name) + 2);
        assert_null(strchr(error.text, '\n'));
        assert_null(mesh.positions);
    } else {
        assert_true(mesh.vertex_count > 0);
        for (uint32_t i = 0; i < mesh.vertex_count; i++)
            assert_true(fabsf(mesh.positions[i].x) <= LM_MAX_COORDINATE &&
                        fabsf(mesh.positions[i].y) <= LM_MAX_COORDINATE &&
                        fabsf(mesh.positions[i].z) <= LM_MAX_COORDINATE);
        for (size_t i = 0; i < 3u * (size_t)mesh.triangle_count; i++)
            assert_true(mesh.triangles[i] < mesh.vertex_count);
        for (uint32_t i = 0, next = 0; i < mesh.part_count; i++) {
            assert_true(mesh.parts[i].first_triangle >= next && mesh.parts[i].triangle_count > 0);
            next = mesh.parts[i].first_triangle + mesh.parts[i].triangle_count;
            assert_true(next <= mesh.triangle_count);
        }
    }
    lm_mesh_free(&mesh);
    free(copy);
}
