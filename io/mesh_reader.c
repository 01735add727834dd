/*
 * The mesh that grows while a file is read. Arrays double, so that memory follows what has been read.
 */
#include "io/mesh_reader.h"

#include "io/decimal.h"
#include "io/polygon.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Messages
 */

bool lmi_mesh_reader_fail(mesh_reader *reader, const char *format, ...)
{
    char *text = reader->error->text;
    size_t room = sizeof reader->error->text;
    int length = reader->line > 0 ? snprintf(text, room, "%s:%llu: ", reader->name, (unsigned long long)reader->line)
                                  : snprintf(text, room, "%s: ", reader->name);
    if (length > 0 && (size_t)length < room) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text + length, room - (size_t)length, format, arguments);
        va_end(arguments);
    }
    /* Words of the file are shown, and a file may hold anything: one line, and nothing a terminal would obey. */
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
    return false;
}

bool lmi_mesh_reader_out_of_memory(mesh_reader *reader)
{
    reader->line = 0;
    return lmi_mesh_reader_fail(reader, "out of memory");
}

int lmi_mesh_reader_shown(size_t length) { return length < 40 ? (int)length : 40; }

/* ------------------------------------------------------------------------------------------------------------------
 * Vertices
 */

void *lmi_mesh_grow(void *array, size_t *capacity, uint64_t needed, size_t size)
{
    if (needed <= *capacity && array) return array;
    uint64_t larger = (uint64_t)*capacity * 2u > needed ? (uint64_t)*capacity * 2u : needed;
    if (larger < 64) larger = 64;
    if (larger > SIZE_MAX / 2 / size) return NULL;
    void *memory = realloc(array, (size_t)larger * size);
    if (memory) *capacity = (size_t)larger;
    return memory;
}

/* Makes the array of normals, and fills it for vertices that had none. */
static bool reserve_normals(mesh_reader *reader, uint64_t vertices)
{
    lm_mesh_data *mesh = &reader->mesh;
    bool first = mesh->normals == NULL;
    lm_vec3 *normals = lmi_mesh_grow(mesh->normals, &reader->normal_capacity, vertices, sizeof *normals);
    if (!normals) return lmi_mesh_reader_out_of_memory(reader);
    mesh->normals = normals;
    if (first) memset(normals, 0, mesh->vertex_count * sizeof *normals);
    return true;
}

static bool reserve_colours(mesh_reader *reader, uint64_t vertices)
{
    lm_mesh_data *mesh = &reader->mesh;
    bool first = mesh->colours == NULL;
    uint8_t *colours = lmi_mesh_grow(mesh->colours, &reader->colour_capacity, vertices, 3);
    if (!colours) return lmi_mesh_reader_out_of_memory(reader);
    mesh->colours = colours;
    if (first) memset(colours, 255, 3u * (size_t)mesh->vertex_count);
    return true;
}

bool lmi_mesh_reader_reserve(mesh_reader *reader, uint64_t vertices, bool normals, bool colours)
{
    lm_mesh_data *mesh = &reader->mesh;
    uint64_t total = vertices + mesh->vertex_count;
    if (total > LM_MAX_PARTICLES)
        return lmi_mesh_reader_fail(reader, "more than %u vertices, the most there may be", LM_MAX_PARTICLES);
    lm_vec3 *positions = lmi_mesh_grow(mesh->positions, &reader->vertex_capacity, total, sizeof *positions);
    if (!positions) return lmi_mesh_reader_out_of_memory(reader);
    mesh->positions = positions;
    if ((normals || mesh->normals) && !reserve_normals(reader, total)) return false;
    return !(colours || mesh->colours) || reserve_colours(reader, total);
}

bool lmi_mesh_reader_add_vertex(mesh_reader *reader, lm_vec3 p)
{
    lm_mesh_data *mesh = &reader->mesh;
    if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z))
        return lmi_mesh_reader_fail(reader, "vertex %u is not finite", mesh->vertex_count);
    if (fabsf(p.x) > LM_MAX_COORDINATE || fabsf(p.y) > LM_MAX_COORDINATE || fabsf(p.z) > LM_MAX_COORDINATE)
        return lmi_mesh_reader_fail(reader, "a coordinate of vertex %u is beyond 1e9", mesh->vertex_count);
    if (!lmi_mesh_reader_reserve(reader, 1, false, false)) return false;
    size_t at = mesh->vertex_count++;
    mesh->positions[at] = p;
    if (mesh->normals) mesh->normals[at] = (lm_vec3){0.0f, 0.0f, 0.0f};
    if (mesh->colours) memset(mesh->colours + 3 * at, 255, 3);
    return true;
}

bool lmi_mesh_reader_set_normal(mesh_reader *reader, lm_vec3 normal)
{
    if (!reader->mesh.normals && !reserve_normals(reader, reader->vertex_capacity)) return false;
    double length = sqrt((double)normal.x * normal.x + (double)normal.y * normal.y + (double)normal.z * normal.z);
    double scale = length > 0.0 && isfinite(length) ? 1.0 / length : 0.0;
    lm_vec3 unit = {0.0f, 0.0f, 0.0f};
    if (scale > 0.0) unit = (lm_vec3){(float)(normal.x * scale), (float)(normal.y * scale), (float)(normal.z * scale)};
    reader->mesh.normals[reader->mesh.vertex_count - 1] = unit;
    return true;
}

bool lmi_mesh_reader_set_colour(mesh_reader *reader, const uint8_t colour[3])
{
    if (!reader->mesh.colours && !reserve_colours(reader, reader->vertex_capacity)) return false;
    memcpy(reader->mesh.colours + 3u * ((size_t)reader->mesh.vertex_count - 1), colour, 3);
    return true;
}

uint8_t lmi_mesh_colour_byte(double value)
{
    if (!(value > 0.0)) return 0;
    return value >= 1.0 ? 255 : (uint8_t)(value * 255.0 + 0.5);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Triangles
 */

uint32_t *lmi_mesh_reader_add_triangles(mesh_reader *reader, uint64_t count)
{
    lm_mesh_data *mesh = &reader->mesh;
    uint64_t total = count + mesh->triangle_count;
    if (total > LM_MESH_MAX_TRIANGLES) {
        lmi_mesh_reader_fail(reader, "more than %u triangles, the most there may be", LM_MESH_MAX_TRIANGLES);
        return NULL;
    }
    uint32_t *triangles = lmi_mesh_grow(mesh->triangles, &reader->triangle_capacity, 3 * total, sizeof *triangles);
    if (!triangles) {
        lmi_mesh_reader_out_of_memory(reader);
        return NULL;
    }
    mesh->triangles = triangles;
    uint32_t *added = triangles + 3u * (size_t)mesh->triangle_count;
    mesh->triangle_count = (uint32_t)total;
    return added;
}

float *lmi_mesh_reader_uvs(mesh_reader *reader, uint32_t first)
{
    lm_mesh_data *mesh = &reader->mesh;
    uint64_t total = 6 * (uint64_t)mesh->triangle_count;
    float *uvs = lmi_mesh_grow(mesh->uvs, &reader->uv_capacity, total, sizeof *uvs);
    if (!uvs) {
        lmi_mesh_reader_out_of_memory(reader);
        return NULL;
    }
    mesh->uvs = uvs;
    memset(uvs + 6 * (size_t)reader->uv_triangles, 0,
           6 * ((size_t)mesh->triangle_count - reader->uv_triangles) * sizeof *uvs);
    reader->uv_triangles = mesh->triangle_count;
    return uvs + 6 * (size_t)first;
}

bool lmi_mesh_reader_reserve_corners(mesh_reader *reader, uint64_t count)
{
    uint32_t *corners = lmi_mesh_grow(reader->corners, &reader->corner_capacity, count, sizeof *corners);
    if (!corners) return lmi_mesh_reader_out_of_memory(reader);
    reader->corners = corners;
    return true;
}

bool lmi_mesh_reader_add_face(mesh_reader *reader, uint32_t count)
{
    if (count < 3) return lmi_mesh_reader_fail(reader, "a face needs three corners");
    uint32_t *triangles = lmi_mesh_reader_add_triangles(reader, (uint64_t)count - 2);
    if (!triangles) return false;
    if (count == 3)
        memcpy(triangles, reader->corners, 3 * sizeof *triangles);
    else
        lmi_polygon_triangulate(reader->mesh.positions, reader->corners, count, triangles);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Parts
 */

void lmi_mesh_reader_end_part(mesh_reader *reader)
{
    lm_mesh_data *mesh = &reader->mesh;
    if (mesh->part_count == 0) return;
    lm_mesh_part *last = &mesh->parts[mesh->part_count - 1];
    if (last->triangle_count > 0) return; /* it ended before */
    last->triangle_count = mesh->triangle_count - last->first_triangle;
    if (last->triangle_count > 0) return;
    reader->name_size = last->name;
    mesh->part_count--;
}

bool lmi_mesh_reader_begin_part(mesh_reader *reader, const char *name, size_t length)
{
    lm_mesh_data *mesh = &reader->mesh;
    lmi_mesh_reader_end_part(reader);
    if (length == 0) return true;
    uint64_t name_end = (uint64_t)reader->name_size + length + 1;
    lm_mesh_part *parts =
        lmi_mesh_grow(mesh->parts, &reader->part_capacity, (uint64_t)mesh->part_count + 1, sizeof *parts);
    if (parts) mesh->parts = parts;
    char *names = lmi_mesh_grow(mesh->names, &reader->name_capacity, name_end, 1);
    if (names) mesh->names = names;
    if (!parts || !names) return lmi_mesh_reader_out_of_memory(reader);

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        names[reader->name_size + i] = c < 0x20 || c == 0x7f ? '_' : (char)c;
    }
    names[name_end - 1] = '\0';
    parts[mesh->part_count++] = (lm_mesh_part){(uint32_t)reader->name_size, mesh->triangle_count, 0};
    reader->name_size = (size_t)name_end;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Words
 */

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

size_t lmi_mesh_reader_word(mesh_reader *reader, const char **word)
{
    uint64_t per_end = reader->line > 0; /* of a line; a binary file has none */
    while (reader->at < reader->end && is_blank(*reader->at)) reader->line += *reader->at++ == '\n' ? per_end : 0;
    *word = reader->at;
    while (reader->at < reader->end && !is_blank(*reader->at)) reader->at++;
    return (size_t)(reader->at - *word);
}

size_t lmi_mesh_reader_rest_of_line(mesh_reader *reader, const char **rest)
{
    while (reader->at < reader->end && is_blank(*reader->at) && *reader->at != '\n') reader->at++;
    *rest = reader->at;
    while (reader->at < reader->end && *reader->at != '\n') reader->at++;
    size_t length = (size_t)(reader->at - *rest);
    while (length > 0 && is_blank((*rest)[length - 1])) length--;
    return length;
}

bool lmi_mesh_reader_coordinate(mesh_reader *reader, const char *word, size_t length, float *value)
{
    if (!lmi_decimal_read_float(word, length, value))
        return lmi_mesh_reader_fail(reader, "\"%.*s\" is not a number", lmi_mesh_reader_shown(length), word);
    if (!(fabsf(*value) <= LM_MAX_COORDINATE))
        return lmi_mesh_reader_fail(reader, "coordinate %.*s is beyond 1e9", lmi_mesh_reader_shown(length), word);
    return true;
}
