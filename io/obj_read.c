/*
 * Reading OBJ: positions with their colours, texture coordinates, faces, and the names of objects and groups. Everything
 * else (normals, materials, curves) is passed over. Nothing in the file says how much is to come, so arrays grow
 * with what has been read.
 */
#include "io/mesh_reader.h"

#include "io/decimal.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Words
 */

/* A blank, which also is a line end behind a backslash; returns its length, 0 for anything else. */
static size_t blank_length(const mesh_reader *reader, const char *at)
{
    if (*at == ' ' || *at == '\t' || *at == '\r') return 1;
    if (*at != '\\') return 0;
    if (reader->end - at >= 2 && at[1] == '\n') return 2;
    if (reader->end - at >= 3 && at[1] == '\r' && at[2] == '\n') return 3;
    return 0;
}

static void skip_blanks(mesh_reader *reader)
{
    while (reader->at < reader->end) {
        size_t length = blank_length(reader, reader->at);
        if (length == 0) return;
        if (length > 1) reader->line++;
        reader->at += length;
    }
}

/* The next word of the line, without moving past its end of line; length 0 at the end of the line or at a comment. */
static size_t next_word(mesh_reader *reader, const char **word)
{
    skip_blanks(reader);
    const char *start = reader->at;
    if (start < reader->end && *start == '#') return 0;
    while (reader->at < reader->end && *reader->at != '\n' && blank_length(reader, reader->at) == 0) reader->at++;
    *word = start;
    return (size_t)(reader->at - start);
}

/* To the start of the next line, over backslashes before line ends. */
static void skip_line(mesh_reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\n') {
        size_t length = blank_length(reader, reader->at);
        if (length > 1) reader->line++;
        reader->at += length > 0 ? length : 1;
    }
    if (reader->at < reader->end) {
        reader->at++;
        reader->line++;
    }
}

static size_t skip_digits(const char *text, size_t length, size_t at)
{
    while (at < length && text[at] >= '0' && text[at] <= '9') at++;
    return at;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Vertices
 */

/* The red, green and blue that may follow a position, from 0 to 1; a single number is a weight. */
static bool read_colour(mesh_reader *reader, uint8_t colour[3])
{
    for (int i = 0; i < 3; i++) {
        const char *word;
        float value;
        size_t length = next_word(reader, &word);
        if (length == 0 || !lmi_decimal_read_float(word, length, &value)) return false;
        colour[i] = lmi_mesh_colour_byte((double)value);
    }
    return true;
}

static bool read_vertex(mesh_reader *reader)
{
    float value[3];
    for (int i = 0; i < 3; i++) {
        const char *word;
        size_t length = next_word(reader, &word);
        if (length == 0) return lmi_mesh_reader_fail(reader, "a vertex needs three coordinates");
        if (!lmi_mesh_reader_coordinate(reader, word, length, &value[i])) return false;
    }
    uint8_t colour[3];
    if (!lmi_mesh_reader_add_vertex(reader, (lm_vec3){value[0], value[1], value[2]})) return false;
    return !read_colour(reader, colour) || lmi_mesh_reader_set_colour(reader, colour);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Faces
 */

/* A whole number, not 0, of at most nine digits, at the start of text; returns its length, 0 when there is none. */
static size_t read_integer(const char *text, size_t length, int64_t *value)
{
    size_t start = length > 0 && (text[0] == '-' || text[0] == '+');
    size_t end = skip_digits(text, length, start);
    if (end == start || end - start > 9) return 0;
    *value = 0;
    for (size_t i = start; i < end; i++) *value = *value * 10 + (text[i] - '0');
    if (text[0] == '-') *value = -*value;
    return *value == 0 ? 0 : end;
}

/* Whether text is what may follow the vertex in v, v/vt, v//vn, v/vt/vn; *number is vt, or 0. */
static bool is_corner_rest(const char *text, size_t length, int64_t *number)
{
    int64_t ignored;
    *number = 0;
    if (length == 0) return true;
    if (text[0] != '/') return false;
    size_t texture = read_integer(text + 1, length - 1, number);
    if (texture == 0) *number = 0;
    size_t at = 1 + texture;
    if (at == length) return texture > 0;
    if (text[at] != '/') return false;
    size_t normal = read_integer(text + at + 1, length - at - 1, &ignored);
    return normal > 0 && at + 1 + normal == length;
}

/* A texture coordinate that is not there counts as none: much is written that names them and has none. */
static uint32_t find_texture(const mesh_reader *reader, int64_t number)
{
    int64_t count = (int64_t)reader->texture_count, index = number > 0 ? number - 1 : count + number;
    return number != 0 && index >= 0 && index < count ? (uint32_t)index : UINT32_MAX;
}

static bool read_corner(mesh_reader *reader, const char *word, size_t length, uint32_t *vertex, uint32_t *texture)
{
    int64_t number, texture_number;
    size_t digits = read_integer(word, length, &number);
    if (digits == 0 || !is_corner_rest(word + digits, length - digits, &texture_number))
        return lmi_mesh_reader_fail(reader,
                                    "\"%.*s\" is not a corner (expected v, v/vt, v//vn or v/vt/vn, counted from 1)",
                                    lmi_mesh_reader_shown(length), word);
    int64_t count = reader->mesh.vertex_count;
    int64_t index = number > 0 ? number - 1 : count + number;
    if (index < 0 || index >= count)
        return lmi_mesh_reader_fail(reader, "vertex %lld does not exist, there are %lld above this line",
                                    (long long)number, (long long)count);
    *vertex = (uint32_t)index;
    *texture = find_texture(reader, texture_number);
    return true;
}

/* Of the triangles from `first` on, which were made of the face's corners. */
static bool give_uvs(mesh_reader *reader, uint32_t first, uint32_t count)
{
    float *uvs = lmi_mesh_reader_uvs(reader, first);
    if (!uvs) return false;
    const uint32_t *made = reader->mesh.triangles + 3 * (size_t)first;
    for (size_t i = 0; i < 3 * (size_t)(count - 2); i++) {
        uint32_t corner = 0;
        while (corner + 1 < count && reader->corners[corner] != made[i]) corner++;
        uint32_t texture = reader->corner_textures[corner];
        if (texture != UINT32_MAX) memcpy(uvs + 2 * i, reader->textures + 2 * (size_t)texture, 2 * sizeof *uvs);
    }
    return true;
}

static bool read_face(mesh_reader *reader)
{
    uint32_t count = 0, first = reader->mesh.triangle_count;
    bool textured = false;
    const char *word;
    for (size_t length; (length = next_word(reader, &word)) > 0; count++) {
        uint32_t *textures = lmi_mesh_grow(reader->corner_textures, &reader->corner_texture_capacity,
                                           (uint64_t)count + 1, sizeof *textures);
        if (!textures) return lmi_mesh_reader_out_of_memory(reader);
        reader->corner_textures = textures;
        if (!lmi_mesh_reader_reserve_corners(reader, (uint64_t)count + 1)) return false;
        if (!read_corner(reader, word, length, &reader->corners[count], &textures[count])) return false;
        textured = textured || textures[count] != UINT32_MAX;
    }
    return lmi_mesh_reader_add_face(reader, count) && (!textured || give_uvs(reader, first, count));
}

/* u and v; a third number is passed over. What is no number is 0: nothing but the look of the surface depends on it. */
static bool read_texture(mesh_reader *reader)
{
    float *textures = lmi_mesh_grow(reader->textures, &reader->texture_capacity,
                                    2 * ((uint64_t)reader->texture_count + 1), sizeof *textures);
    if (!textures) return lmi_mesh_reader_out_of_memory(reader);
    reader->textures = textures;
    for (size_t i = 0; i < 2; i++) {
        const char *word;
        float value;
        size_t length = next_word(reader, &word);
        bool sound = length > 0 && lmi_decimal_read_float(word, length, &value) && value >= -1e6f && value <= 1e6f;
        textures[2 * reader->texture_count + i] = sound ? value : 0.0f;
    }
    reader->texture_count++;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Lines
 */

static bool read_name(mesh_reader *reader)
{
    const char *name;
    size_t length = lmi_mesh_reader_rest_of_line(reader, &name);
    return lmi_mesh_reader_begin_part(reader, name, length);
}

static bool read_line(mesh_reader *reader)
{
    const char *word;
    size_t length = next_word(reader, &word);
    if (length == 1 && *word == 'v' && !read_vertex(reader)) return false;
    if (length == 1 && *word == 'f' && !read_face(reader)) return false;
    if (length == 2 && word[0] == 'v' && word[1] == 't' && !read_texture(reader)) return false;
    if (length == 1 && (*word == 'o' || *word == 'g') && !read_name(reader)) return false;
    skip_line(reader);
    return true;
}

bool lmi_obj_read(mesh_reader *reader)
{
    snprintf(reader->mesh.format, sizeof reader->mesh.format, "OBJ");
    reader->line = 1;
    if (reader->end - reader->at >= 3 && memcmp(reader->at, "\xEF\xBB\xBF", 3) == 0) reader->at += 3; /* marks UTF-8 */
    while (reader->at < reader->end)
        if (!read_line(reader)) return false;
    reader->line = 0;
    if (reader->mesh.uvs && !lmi_mesh_reader_uvs(reader, 0)) return false; /* for the last faces too */
    if (reader->mesh.vertex_count == 0) return lmi_mesh_reader_fail(reader, "not an OBJ file: it has no vertices");
    return true;
}
