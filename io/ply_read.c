/*
 * Reading PLY (the Stanford polygon format), ASCII and binary of either byte order.
 *
 * The header names elements ("element vertex 8") and their properties in any order and of any type; the data follow
 * element after element. Read are the element "vertex" (x y z, nx ny nz, red green blue), "face" (the list
 * vertex_indices or vertex_index) and "tristrips" (a list of strips, each ended by -1); everything else is passed over.
 */
#include "io/mesh_reader.h"

#include "io/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum ply_type {
    PLY_INT8,
    PLY_UINT8,
    PLY_INT16,
    PLY_UINT16,
    PLY_INT32,
    PLY_UINT32,
    PLY_FLOAT,
    PLY_DOUBLE
} ply_type;

/* What a property is to us. The first nine are where it goes in an array of values of a vertex. */
enum { ROLE_X, ROLE_NORMAL = 3, ROLE_COLOUR = 6, ROLE_CORNERS = 9, ROLE_NONE };

typedef struct ply_property {
    uint8_t type;       /* of the value, or of the values in the list */
    uint8_t count_type; /* of a list */
    uint8_t role;
    bool is_list;
} ply_property;

typedef enum ply_kind { PLY_OTHER, PLY_VERTEX, PLY_FACE, PLY_STRIPS } ply_kind;

typedef struct ply_element {
    ply_kind kind;
    uint32_t count;
    uint32_t first_property, property_count;
} ply_element;

typedef enum ply_encoding { PLY_ASCII, PLY_LITTLE, PLY_BIG } ply_encoding;

typedef struct ply_file {
    mesh_reader *reader;
    ply_encoding encoding;
    bool has_format;
    ply_element *elements;
    size_t element_count, element_capacity;
    ply_property *properties;
    size_t property_count, property_capacity;
} ply_file;

/* ------------------------------------------------------------------------------------------------------------------
 * The header
 */

static bool is_word(const char *word, size_t length, const char *expected)
{
    return length == strlen(expected) && memcmp(word, expected, length) == 0;
}

static bool find_type(const char *word, size_t length, uint8_t *type)
{
    static const char *const names[][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                           {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                           {"float", "float32"}, {"double", "float64"}};
    for (uint8_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (is_word(word, length, names[i][0]) || is_word(word, length, names[i][1])) {
            *type = i;
            return true;
        }
    }
    return false;
}

static uint8_t find_role(ply_kind kind, bool is_list, const char *word, size_t length)
{
    static const char *const names[9] = {"x", "y", "z", "nx", "ny", "nz", "red", "green", "blue"};
    static const char *const diffuse[3] = {"diffuse_red", "diffuse_green", "diffuse_blue"};
    if (is_list)
        return (kind == PLY_FACE || kind == PLY_STRIPS) &&
                       (is_word(word, length, "vertex_indices") || is_word(word, length, "vertex_index"))
                   ? ROLE_CORNERS
                   : ROLE_NONE;
    for (uint8_t i = 0; kind == PLY_VERTEX && i < 9; i++)
        if (is_word(word, length, names[i]) || (i >= 6 && is_word(word, length, diffuse[i - 6]))) return i;
    return ROLE_NONE;
}

static bool read_format(ply_file *ply)
{
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    const char *word;
    size_t length = lmi_mesh_reader_word(ply->reader, &word);
    for (int i = 0; i < 3; i++) {
        if (!is_word(word, length, names[i])) continue;
        ply->encoding = (ply_encoding)i;
        ply->has_format = true;
        return true;
    }
    return lmi_mesh_reader_fail(ply->reader,
                                "format \"%.*s\" (expected ascii, binary_little_endian or binary_big_endian)",
                                lmi_mesh_reader_shown(length), word);
}

static bool read_element(ply_file *ply)
{
    mesh_reader *reader = ply->reader;
    const char *name, *word;
    size_t name_length = lmi_mesh_reader_word(reader, &name), length = lmi_mesh_reader_word(reader, &word);
    double count;
    if (!lmi_decimal_read(word, length, &count) || !(count >= 0.0 && count <= UINT32_MAX) || count != floor(count))
        return lmi_mesh_reader_fail(reader, "\"%.*s\" is not a count of elements", lmi_mesh_reader_shown(length), word);
    ply_element *elements =
        lmi_mesh_grow(ply->elements, &ply->element_capacity, (uint64_t)ply->element_count + 1, sizeof *elements);
    if (!elements) return lmi_mesh_reader_out_of_memory(reader);
    ply->elements = elements;
    ply_kind kind = is_word(name, name_length, "vertex")      ? PLY_VERTEX
                    : is_word(name, name_length, "face")      ? PLY_FACE
                    : is_word(name, name_length, "tristrips") ? PLY_STRIPS
                                                              : PLY_OTHER;
    elements[ply->element_count++] =
        (ply_element){.kind = kind, .count = (uint32_t)count, .first_property = (uint32_t)ply->property_count};
    return true;
}

static bool read_property(ply_file *ply)
{
    mesh_reader *reader = ply->reader;
    if (ply->element_count == 0) return lmi_mesh_reader_fail(reader, "a property before the first element");
    ply_element *element = &ply->elements[ply->element_count - 1];
    ply_property property = {.is_list = false};
    const char *word;
    size_t length = lmi_mesh_reader_word(reader, &word);
    if (is_word(word, length, "list")) {
        property.is_list = true;
        length = lmi_mesh_reader_word(reader, &word);
        if (!find_type(word, length, &property.count_type) || property.count_type >= PLY_FLOAT)
            return lmi_mesh_reader_fail(reader, "\"%.*s\" is not a type of whole numbers (expected uchar, int, ...)",
                                        lmi_mesh_reader_shown(length), word);
        length = lmi_mesh_reader_word(reader, &word);
    }
    if (!find_type(word, length, &property.type))
        return lmi_mesh_reader_fail(reader,
                                    "\"%.*s\" is not a type (expected char, uchar, short, ushort, int, uint, float, "
                                    "double, or int8 to float64)",
                                    lmi_mesh_reader_shown(length), word);
    length = lmi_mesh_reader_word(reader, &word);
    property.role = find_role(element->kind, property.is_list, word, length);
    ply_property *properties =
        lmi_mesh_grow(ply->properties, &ply->property_capacity, (uint64_t)ply->property_count + 1, sizeof *properties);
    if (!properties) return lmi_mesh_reader_out_of_memory(reader);
    ply->properties = properties;
    properties[ply->property_count++] = property;
    element->property_count++;
    return true;
}

/* One line of the header; *done at the last. Lines end as the first one did, with \n, \r\n or \r alone. */
static bool read_header_line(ply_file *ply, const char *line_end, bool *done)
{
    mesh_reader *reader = ply->reader;
    const char *word, *file_end = reader->end;
    bool read = true;
    reader->end = line_end;
    size_t length = lmi_mesh_reader_word(reader, &word);
    if (is_word(word, length, "format"))
        read = read_format(ply);
    else if (is_word(word, length, "element"))
        read = read_element(ply);
    else if (is_word(word, length, "property"))
        read = read_property(ply);
    else if (is_word(word, length, "end_header"))
        *done = true;
    else if (length > 0 && !is_word(word, length, "comment") && !is_word(word, length, "obj_info"))
        read =
            lmi_mesh_reader_fail(reader, "\"%.*s\" is not known in a PLY header", lmi_mesh_reader_shown(length), word);
    reader->end = file_end;
    return read;
}

static bool read_header(ply_file *ply)
{
    mesh_reader *reader = ply->reader;
    bool done = false;
    size_t ending = reader->end - reader->at > 4 && reader->at[3] == '\r' && reader->at[4] == '\n' ? 2 : 1;
    char last = ending == 2 ? '\n' : reader->at[3];
    for (reader->at += 3 + ending, reader->line = 2; !done; reader->line++) {
        const char *line_end = memchr(reader->at, last, (size_t)(reader->end - reader->at));
        if (!line_end) return lmi_mesh_reader_fail(reader, "the file ends within the header (expected end_header)");
        if (!read_header_line(ply, line_end, &done)) return false;
        reader->at = line_end + 1;
    }
    return ply->has_format || lmi_mesh_reader_fail(reader, "the header has no format (expected \"format ascii 1.0\")");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Values
 */

static const uint8_t type_sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};

/* The next value; the caller knows that a binary file holds so many bytes more. */
static double take_binary(ply_file *ply, uint8_t type)
{
    unsigned char bytes[8];
    size_t size = type_sizes[type];
    uint64_t bits = 0;
    memcpy(bytes, ply->reader->at, size);
    ply->reader->at += size;
    for (size_t i = 0; i < size; i++) bits |= (uint64_t)bytes[ply->encoding == PLY_BIG ? size - 1 - i : i] << 8 * i;
    switch (type) {
    case PLY_INT8: return (int8_t)bits;
    case PLY_INT16: return (int16_t)bits;
    case PLY_INT32: return (int32_t)bits;
    case PLY_FLOAT: {
        uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof value);
        return (double)value;
    }
    case PLY_DOUBLE: {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    default: return (double)bits;
    }
}

static bool ends_early(ply_file *ply, const ply_element *element, uint32_t index)
{
    static const char *const names[] = {"element", "vertex", "face", "strip"};
    return lmi_mesh_reader_fail(ply->reader, "the file ends within %s %u of %u", names[element->kind], index,
                                element->count);
}

/* What printf makes of them on one system or another: "nan", "-nan(ind)", "1.#QNAN", "Infinity". */
static bool is_infinity_or_nan(const char *word, size_t length)
{
    size_t at = length > 0 && (*word == '-' || *word == '+');
    return length >= at + 3 && (word[at] == 'n' || word[at] == 'N' || word[at] == 'i' || word[at] == 'I' ||
                                (word[at] == '1' && word[at + 1] == '.' && word[at + 2] == '#'));
}

/* The next value of an element. In an ASCII file it may be "nan": then it is none. */
static bool take_value(ply_file *ply, const ply_element *element, uint32_t index, uint8_t type, double *value)
{
    mesh_reader *reader = ply->reader;
    if (ply->encoding != PLY_ASCII) {
        if ((size_t)(reader->end - reader->at) < type_sizes[type]) return ends_early(ply, element, index);
        *value = take_binary(ply, type);
        return true;
    }
    const char *word;
    size_t length = lmi_mesh_reader_word(reader, &word);
    if (length == 0) return ends_early(ply, element, index);
    float narrow;
    if (type == PLY_FLOAT && lmi_decimal_read_float(word, length, &narrow)) {
        *value = (double)narrow;
        return true;
    }
    if (lmi_decimal_read(word, length, value)) return true;
    if (!is_infinity_or_nan(word, length))
        return lmi_mesh_reader_fail(reader, "\"%.*s\" is not a number", lmi_mesh_reader_shown(length), word);
    *value = (double)NAN;
    return true;
}

/* The length of a list, which the rest of the file can hold. */
static bool take_count(ply_file *ply, const ply_element *element, uint32_t index, const ply_property *list,
                       uint32_t *count)
{
    mesh_reader *reader = ply->reader;
    double value;
    if (!take_value(ply, element, index, list->count_type, &value)) return false;
    if (!(value >= 0.0 && value <= UINT32_MAX) || value != floor(value))
        return lmi_mesh_reader_fail(reader, "a list of %g values", value);
    /* A value in ASCII is at least a blank and a digit. */
    size_t least = ply->encoding == PLY_ASCII ? 2 : type_sizes[list->type];
    if (value > (double)((size_t)(reader->end - reader->at) / least)) return ends_early(ply, element, index);
    *count = (uint32_t)value;
    return true;
}

/* Passes over a property that is not for us. */
static bool skip_property(ply_file *ply, const ply_element *element, uint32_t index, const ply_property *property)
{
    mesh_reader *reader = ply->reader;
    uint32_t count = 1;
    if (property->is_list && !take_count(ply, element, index, property, &count)) return false;
    if (ply->encoding != PLY_ASCII) {
        if ((size_t)(reader->end - reader->at) / type_sizes[property->type] < count)
            return ends_early(ply, element, index);
        reader->at += (size_t)count * type_sizes[property->type];
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *word;
        if (lmi_mesh_reader_word(reader, &word) == 0) return ends_early(ply, element, index);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Elements
 */

static bool has_role(const ply_file *ply, const ply_element *element, uint32_t role)
{
    for (uint32_t i = 0; i < element->property_count; i++)
        if (ply->properties[element->first_property + i].role == role) return true;
    return false;
}

/* Refuses a count that the rest of the file cannot hold, before anything is allocated for it. */
static bool check_count(ply_file *ply, const ply_element *element)
{
    uint64_t least = 0;
    for (uint32_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &ply->properties[element->first_property + i];
        least +=
            ply->encoding == PLY_ASCII ? 2u : type_sizes[property->is_list ? property->count_type : property->type];
    }
    uint64_t left = (uint64_t)(ply->reader->end - ply->reader->at) + 1; /* the last word needs no blank behind it */
    if (element->count <= left / (least ? least : 1) || element->property_count == 0) return true;
    static const char *const names[] = {"elements", "vertices", "faces", "strips"};
    ply->reader->line = 0;
    return lmi_mesh_reader_fail(ply->reader, "the header promises %u %s, but the file ends before them", element->count,
                                names[element->kind]);
}

/* A colour as a byte: floats are from 0 to 1, whole numbers fill their type. */
static uint8_t colour_byte(double value, uint8_t type)
{
    static const double whole[] = {127.0, 255.0, 32767.0, 65535.0, 2147483647.0, 4294967295.0, 1.0, 1.0};
    return type == PLY_UINT8 && value >= 0.0 && value <= 255.0 ? (uint8_t)value
                                                               : lmi_mesh_colour_byte(value / whole[type]);
}

static bool read_vertex(ply_file *ply, const ply_element *element, uint32_t index, bool normals, bool colours)
{
    double values[9];
    uint8_t colour[3] = {255, 255, 255};
    for (uint32_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &ply->properties[element->first_property + i];
        if (property->role == ROLE_NONE) {
            if (!skip_property(ply, element, index, property)) return false;
            continue;
        }
        double value;
        if (!take_value(ply, element, index, property->type, &value)) return false;
        values[property->role] = value;
        if (property->role >= ROLE_COLOUR) colour[property->role - ROLE_COLOUR] = colour_byte(value, property->type);
    }
    lm_vec3 position = {(float)values[0], (float)values[1], (float)values[2]};
    if (!lmi_mesh_reader_add_vertex(ply->reader, position)) return false;
    lm_vec3 normal = {0.0f, 0.0f, 0.0f};
    if (normals) normal = (lm_vec3){(float)values[3], (float)values[4], (float)values[5]};
    return (!normals || lmi_mesh_reader_set_normal(ply->reader, normal)) &&
           (!colours || lmi_mesh_reader_set_colour(ply->reader, colour));
}

static bool read_vertices(ply_file *ply, const ply_element *element)
{
    bool has[ROLE_CORNERS];
    for (uint32_t role = 0; role < ROLE_CORNERS; role++) has[role] = has_role(ply, element, role);
    if (!has[ROLE_X] || !has[ROLE_X + 1] || !has[ROLE_X + 2])
        return lmi_mesh_reader_fail(ply->reader, "its vertices have no x, y and z");
    bool normals = has[ROLE_NORMAL] && has[ROLE_NORMAL + 1] && has[ROLE_NORMAL + 2];
    bool colours = has[ROLE_COLOUR] || has[ROLE_COLOUR + 1] || has[ROLE_COLOUR + 2];
    if (!lmi_mesh_reader_reserve(ply->reader, element->count, normals, colours)) return false;
    for (uint32_t i = 0; i < element->count; i++)
        if (!read_vertex(ply, element, i, normals, colours)) return false;
    return true;
}

/* The triangles of strips that are each ended by a negative index, or by the end of the list. */
static bool add_strips(mesh_reader *reader, uint32_t count)
{
    const uint32_t *corners = reader->corners;
    uint32_t start = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (corners[i] == UINT32_MAX) {
            start = i + 1;
        } else if (i >= start + 2) {
            uint32_t *triangle = lmi_mesh_reader_add_triangles(reader, 1);
            if (!triangle) return false;
            uint32_t odd = (i - start) & 1;
            triangle[0] = corners[i - 2 + odd];
            triangle[1] = corners[i - 1 - odd];
            triangle[2] = corners[i];
        }
    }
    return true;
}

/* The vertices of a face or strip into reader->corners. */
static bool read_corners(ply_file *ply, const ply_element *element, uint32_t index, const ply_property *list,
                         uint32_t *count)
{
    mesh_reader *reader = ply->reader;
    if (!take_count(ply, element, index, list, count) || !lmi_mesh_reader_reserve_corners(reader, *count)) return false;
    for (uint32_t i = 0; i < *count; i++) {
        double value;
        if (!take_value(ply, element, index, list->type, &value)) return false;
        bool strip_ends = element->kind == PLY_STRIPS && value < 0.0;
        if (!strip_ends && (!(value >= 0.0 && value < reader->mesh.vertex_count) || value != floor(value)))
            return lmi_mesh_reader_fail(reader, "%s %u names vertex %.15g, there are %u (counted from 0)",
                                        element->kind == PLY_FACE ? "face" : "strip", index, value,
                                        reader->mesh.vertex_count);
        reader->corners[i] = strip_ends ? UINT32_MAX : (uint32_t)value;
    }
    return true;
}

static bool read_faces(ply_file *ply, const ply_element *element)
{
    mesh_reader *reader = ply->reader;
    if (element->count > 0 && !has_role(ply, element, ROLE_CORNERS))
        return lmi_mesh_reader_fail(reader, "its faces have no list vertex_indices");
    for (uint32_t index = 0; index < element->count; index++) {
        for (uint32_t i = 0; i < element->property_count; i++) {
            const ply_property *property = &ply->properties[element->first_property + i];
            uint32_t count;
            if (property->role != ROLE_CORNERS) {
                if (!skip_property(ply, element, index, property)) return false;
                continue;
            }
            if (!read_corners(ply, element, index, property, &count)) return false;
            if (element->kind == PLY_STRIPS ? !add_strips(reader, count) : !lmi_mesh_reader_add_face(reader, count))
                return false;
        }
    }
    return true;
}

static bool skip_element(ply_file *ply, const ply_element *element)
{
    for (uint32_t index = 0; element->property_count > 0 && index < element->count; index++)
        for (uint32_t i = 0; i < element->property_count; i++)
            if (!skip_property(ply, element, index, &ply->properties[element->first_property + i])) return false;
    return true;
}

/* The data, once: vertices, faces, or both are read, and the rest is passed over. */
static bool read_data(ply_file *ply, bool vertices, bool faces)
{
    for (size_t i = 0; i < ply->element_count; i++) {
        const ply_element *element = &ply->elements[i];
        bool read;
        if (!check_count(ply, element)) return false;
        if (element->kind == PLY_VERTEX && vertices)
            read = read_vertices(ply, element);
        else if ((element->kind == PLY_FACE || element->kind == PLY_STRIPS) && faces)
            read = read_faces(ply, element);
        else
            read = skip_element(ply, element);
        if (!read) return false;
    }
    return true;
}

static bool vertices_come_last(const ply_file *ply)
{
    bool faces = false;
    for (size_t i = 0; i < ply->element_count; i++) {
        if (ply->elements[i].kind == PLY_VERTEX) return faces;
        faces = faces || ply->elements[i].kind != PLY_OTHER;
    }
    return false;
}

bool lmi_ply_read(mesh_reader *reader)
{
    static const char *const formats[] = {"PLY, ASCII", "PLY, binary (little endian)", "PLY, binary (big endian)"};
    ply_file ply = {.reader = reader};
    bool read = reader->end - reader->at >= 4 && memcmp(reader->at, "ply", 3) == 0 &&
                (reader->at[3] == '\n' || reader->at[3] == '\r');
    if (!read) lmi_mesh_reader_fail(reader, "not a PLY file: it does not begin with \"ply\"");
    read = read && read_header(&ply);
    if (read) {
        snprintf(reader->mesh.format, sizeof reader->mesh.format, "%s", formats[ply.encoding]);
        const char *data = reader->at;
        uint64_t line = ply.encoding == PLY_ASCII ? reader->line : 0;
        reader->line = line;
        if (vertices_come_last(&ply)) { /* faces need them: the vertices first, then all over again */
            read = read_data(&ply, true, false);
            reader->at = data;
            reader->line = line;
            read = read && read_data(&ply, false, true);
        } else {
            read = read_data(&ply, true, true);
        }
    }
    free(ply.elements);
    free(ply.properties);
    return read;
}
