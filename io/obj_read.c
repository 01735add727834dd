/*
 * Reading OBJ. Nothing in the file says how much is to come, so arrays grow with what has been read: memory follows the
 * size of the file, whatever is in it.
 */
#include "io/obj.h"

#include "io/decimal.h"
#include "io/polygon.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define OBJ_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#else
#define OBJ_PRINTF(format_index, first_index)
#endif

typedef struct obj_reader {
    const char *name;
    const char *at, *end; /* what is left of the file */
    uint64_t line;        /* of `at`, from 1 */
    obj_mesh mesh;
    uint32_t vertex_capacity, triangle_capacity;
    uint32_t *corners; /* of the face being read */
    uint32_t corner_capacity;
    obj_error *error;
} obj_reader;

/* ------------------------------------------------------------------------------------------------------------------
 * Errors and memory
 */

static bool fail(obj_reader *reader, const char *format, ...) OBJ_PRINTF(2, 3);

static bool fail(obj_reader *reader, const char *format, ...)
{
    int length = snprintf(reader->error->text, sizeof reader->error->text, "%s:%llu: ", reader->name,
                          (unsigned long long)reader->line);
    if (length < 0 || (size_t)length >= sizeof reader->error->text) return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error->text + length, sizeof reader->error->text - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

/* The array with room for `needed` elements of `size` bytes; it doubles. Null when that is not to be had: then it stays
 * as it was. */
static void *grow(void *array, uint32_t *capacity, uint64_t needed, size_t size)
{
    if (needed <= *capacity) return array;
    uint64_t larger = (uint64_t)*capacity * 2u > needed ? (uint64_t)*capacity * 2u : needed;
    if (larger < 64) larger = 64;
    if (larger > UINT32_MAX || larger > SIZE_MAX / size) return NULL;
    void *memory = realloc(array, (size_t)larger * size);
    if (memory) *capacity = (uint32_t)larger;
    return memory;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Words
 */

/* A blank, which also is a line end behind a backslash; returns its length, 0 for anything else. */
static size_t blank_length(const obj_reader *reader, const char *at)
{
    if (*at == ' ' || *at == '\t' || *at == '\r') return 1;
    if (*at != '\\') return 0;
    if (reader->end - at >= 2 && at[1] == '\n') return 2;
    if (reader->end - at >= 3 && at[1] == '\r' && at[2] == '\n') return 3;
    return 0;
}

static void skip_blanks(obj_reader *reader)
{
    while (reader->at < reader->end) {
        size_t length = blank_length(reader, reader->at);
        if (length == 0) return;
        if (length > 1) reader->line++;
        reader->at += length;
    }
}

/* The next word of the line, without moving past its end of line; length 0 at the end of the line or at a comment. */
static size_t next_word(obj_reader *reader, const char **word)
{
    skip_blanks(reader);
    const char *start = reader->at;
    if (start < reader->end && *start == '#') return 0;
    while (reader->at < reader->end && *reader->at != '\n' && blank_length(reader, reader->at) == 0) reader->at++;
    *word = start;
    return (size_t)(reader->at - start);
}

/* To the start of the next line, over backslashes before line ends. */
static void skip_line(obj_reader *reader)
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

/* [+-] digits [. digits] [e [+-] digits], with a digit before or after the point. */
static bool is_number(const char *text, size_t length)
{
    size_t at = length > 0 && (text[0] == '+' || text[0] == '-');
    size_t whole = skip_digits(text, length, at);
    size_t digits = whole - at;
    at = whole;
    if (at < length && text[at] == '.') {
        size_t fraction = skip_digits(text, length, at + 1);
        digits += fraction - at - 1;
        at = fraction;
    }
    if (digits == 0) return false;
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < length && (text[at] == '+' || text[at] == '-')) at++;
        size_t exponent = skip_digits(text, length, at);
        if (exponent == at) return false;
        at = exponent;
    }
    return at == length;
}

/* How much of a word to show in a message. */
static int shown(size_t length) { return length < 40 ? (int)length : 40; }

/* ------------------------------------------------------------------------------------------------------------------
 * Vertices
 */

static bool read_coordinate(obj_reader *reader, float *value)
{
    const char *word;
    size_t length = next_word(reader, &word);
    if (length == 0) return fail(reader, "a vertex needs three coordinates");
    if (!is_number(word, length)) return fail(reader, "\"%.*s\" is not a number", shown(length), word);
    if (*word == '+') word++, length--;
    double number = decimal_to_double(word, length);
    if (!(fabs(number) <= (double)LM_MAX_COORDINATE))
        return fail(reader, "coordinate %.*s is beyond 1e9", shown(length), word);
    *value = (float)number;
    return true;
}

static bool read_vertex(obj_reader *reader)
{
    lm_vec3 p;
    if (!read_coordinate(reader, &p.x) || !read_coordinate(reader, &p.y) || !read_coordinate(reader, &p.z))
        return false;
    obj_mesh *mesh = &reader->mesh;
    if (mesh->vertex_count >= LM_MAX_PARTICLES) return fail(reader, "more than %u vertices", LM_MAX_PARTICLES);
    lm_vec3 *positions = grow(mesh->positions, &reader->vertex_capacity, (uint64_t)mesh->vertex_count + 1, sizeof p);
    if (!positions) return fail(reader, "out of memory");
    mesh->positions = positions;
    mesh->positions[mesh->vertex_count++] = p;
    return true; /* a weight or a colour may follow */
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

/* Whether text is what may follow the vertex in v, v/vt, v//vn, v/vt/vn. */
static bool is_corner_rest(const char *text, size_t length)
{
    int64_t ignored;
    if (length == 0) return true;
    if (text[0] != '/') return false;
    size_t texture = read_integer(text + 1, length - 1, &ignored);
    size_t at = 1 + texture;
    if (at == length) return texture > 0;
    if (text[at] != '/') return false;
    size_t normal = read_integer(text + at + 1, length - at - 1, &ignored);
    return normal > 0 && at + 1 + normal == length;
}

static bool read_corner(obj_reader *reader, const char *word, size_t length, uint32_t *vertex)
{
    int64_t number;
    size_t digits = read_integer(word, length, &number);
    if (digits == 0 || !is_corner_rest(word + digits, length - digits))
        return fail(reader, "\"%.*s\" is not a corner (expected v, v/vt, v//vn or v/vt/vn, counted from 1)",
                    shown(length), word);
    int64_t count = reader->mesh.vertex_count;
    int64_t index = number > 0 ? number - 1 : count + number;
    if (index < 0 || index >= count)
        return fail(reader, "vertex %lld does not exist, there are %lld above this line", (long long)number,
                    (long long)count);
    *vertex = (uint32_t)index;
    return true;
}

static bool read_face(obj_reader *reader)
{
    uint32_t count = 0;
    const char *word;
    for (size_t length; (length = next_word(reader, &word)) > 0; count++) {
        uint32_t *corners = grow(reader->corners, &reader->corner_capacity, (uint64_t)count + 1, sizeof *corners);
        if (!corners) return fail(reader, "out of memory");
        reader->corners = corners;
        if (!read_corner(reader, word, length, &reader->corners[count])) return false;
    }
    if (count < 3) return fail(reader, "a face needs three corners");

    obj_mesh *mesh = &reader->mesh;
    uint64_t total = (uint64_t)mesh->triangle_count + count - 2;
    if (total > OBJ_MAX_TRIANGLES) return fail(reader, "more than %u triangles", OBJ_MAX_TRIANGLES);
    uint32_t *triangles = grow(mesh->triangles, &reader->triangle_capacity, 3 * total, sizeof *triangles);
    if (!triangles) return fail(reader, "out of memory");
    mesh->triangles = triangles;
    polygon_triangulate(mesh->positions, reader->corners, count, triangles + 3u * (size_t)mesh->triangle_count);
    mesh->triangle_count = (uint32_t)total;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

static bool read_line(obj_reader *reader)
{
    const char *word;
    size_t length = next_word(reader, &word);
    if (length == 1 && *word == 'v' && !read_vertex(reader)) return false;
    if (length == 1 && *word == 'f' && !read_face(reader)) return false;
    skip_line(reader);
    return true;
}

bool obj_parse(const char *name, const char *bytes, size_t size, obj_mesh *mesh, obj_error *error)
{
    obj_reader reader = {.name = name, .at = bytes, .end = bytes + size, .line = 1, .error = error};
    *mesh = (obj_mesh){0};
    bool read = true;
    while (read && reader.at < reader.end) read = read_line(&reader);
    if (read && reader.mesh.vertex_count == 0) {
        snprintf(error->text, sizeof error->text, "%s: not an OBJ file: it has no vertices", name);
        read = false;
    }
    free(reader.corners);
    if (read)
        *mesh = reader.mesh;
    else
        obj_mesh_free(&reader.mesh);
    return read;
}

/* All bytes of a file, which need not have a size (a pipe). Null with *error filled on failure. */
static char *load(const char *path, size_t *size, obj_error *error)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        snprintf(error->text, sizeof error->text, "%s: %s", path, strerror(errno));
        return NULL;
    }
    char *bytes = NULL;
    uint32_t capacity = 0;
    const char *reason = NULL;
    *size = 0;
    while (!reason && !feof(file)) {
        char *larger = grow(bytes, &capacity, (uint64_t)*size + 65536, 1);
        if (!larger) {
            reason = "out of memory";
            break;
        }
        bytes = larger;
        *size += fread(bytes + *size, 1, capacity - *size, file);
        if (ferror(file)) reason = strerror(errno);
        if (*size > OBJ_MAX_BYTES) reason = "larger than 1 GiB";
    }
    fclose(file);
    if (!reason) return bytes;
    snprintf(error->text, sizeof error->text, "%s: %s", path, reason);
    free(bytes);
    return NULL;
}

bool obj_read(const char *path, obj_mesh *mesh, obj_error *error)
{
    *mesh = (obj_mesh){0};
    size_t size;
    char *bytes = load(path, &size, error);
    if (!bytes) return false;
    bool read = obj_parse(path, bytes, size, mesh, error);
    free(bytes);
    return read;
}

void obj_mesh_free(obj_mesh *mesh)
{
    if (!mesh) return;
    free(mesh->positions);
    free(mesh->triangles);
    *mesh = (obj_mesh){0};
}
