/*
 * Reading OFF (Geomview's object file format), as text.
 *
 *     OFF                   or COFF, NOFF, CNOFF, STOFF, ...: what stands behind the position of a vertex
 *     8 6 12                vertices, faces, edges (which nobody reads)
 *     0 0 0                 a vertex: position, then normal (N), colour (C), texture coordinates (ST)
 *     4 0 1 2 3  255 0 0    a face: how many corners, which, and perhaps a colour of its own, which is passed over
 *
 * "#" begins a comment. A colour is three or four numbers, bytes or from 0 to 1; with a point in any of them it is the latter. The first
 * word may be missing. Binary files and those of four or more dimensions are refused.
 */
#include "io/decimal.h"
#include "io/mesh_reader.h"

#include <stdio.h>
#include <string.h>

typedef struct off_kind {
    bool textures, colours, normals;
} off_kind;

/* The next word that is in no comment. */
static size_t next_word(mesh_reader *reader, const char **word)
{
    for (;;) {
        size_t length = lmi_mesh_reader_word(reader, word);
        if (length == 0 || **word != '#') return length;
        reader->at = *word;
        const char *rest;
        lmi_mesh_reader_rest_of_line(reader, &rest);
    }
}

/* A whole number; `what` is expected. */
static bool read_whole(mesh_reader *reader, const char *what, uint64_t most, uint32_t *value)
{
    const char *word;
    uint64_t sum = 0;
    size_t length = next_word(reader, &word), n = 0;
    if (length == 0) return lmi_mesh_reader_fail(reader, "the file ends where %s is expected", what);
    for (; n < length && word[n] >= '0' && word[n] <= '9' && sum <= UINT32_MAX; n++)
        sum = 10 * sum + (uint64_t)(word[n] - '0');
    if (n < length || sum > most)
        return lmi_mesh_reader_fail(reader, "\"%.*s\" (expected %s, at most %llu)", lmi_mesh_reader_shown(length), word,
                                    what, (unsigned long long)most);
    *value = (uint32_t)sum;
    return true;
}

static bool read_vector(mesh_reader *reader, const char *what, lm_vec3 *v)
{
    float value[3];
    for (int i = 0; i < 3; i++) {
        const char *word;
        size_t length = next_word(reader, &word);
        if (length == 0) return lmi_mesh_reader_fail(reader, "the file ends where %s is expected", what);
        if (!lmi_mesh_reader_coordinate(reader, word, length, &value[i])) return false;
    }
    *v = (lm_vec3){value[0], value[1], value[2]};
    return true;
}

/* The colour at the beginning of what is left of a line. */
static bool read_colour(mesh_reader *reader)
{
    const char *at;
    size_t left = lmi_mesh_reader_rest_of_line(reader, &at);
    double value[3];
    bool share = false;
    for (int i = 0; i < 3; i++) {
        size_t length = 0;
        while (length < left && at[length] != ' ' && at[length] != '\t') length++;
        if (!lmi_decimal_read(at, length, &value[i]))
            return lmi_mesh_reader_fail(reader, "\"%.*s\" (expected a colour of three numbers)",
                                        lmi_mesh_reader_shown(length), at);
        share = share || memchr(at, '.', length);
        for (at += length, left -= length; left > 0 && (*at == ' ' || *at == '\t'); at++) left--;
    }
    uint8_t colour[3];
    for (int i = 0; i < 3; i++) colour[i] = lmi_mesh_colour_byte(share ? value[i] : value[i] / 255.0);
    return lmi_mesh_reader_set_colour(reader, colour);
}

static bool read_vertex(mesh_reader *reader, off_kind kind)
{
    lm_vec3 position, normal;
    const char *rest;
    if (!read_vector(reader, "a vertex", &position) || !lmi_mesh_reader_add_vertex(reader, position)) return false;
    if (kind.normals && (!read_vector(reader, "a normal", &normal) || !lmi_mesh_reader_set_normal(reader, normal)))
        return false;
    if (kind.colours) return read_colour(reader);
    lmi_mesh_reader_rest_of_line(reader, &rest);
    return true;
}

static bool read_face(mesh_reader *reader)
{
    const uint64_t left = (uint64_t)(reader->end - reader->at);
    const char *rest;
    uint32_t count;
    if (!read_whole(reader, "the corners of a face", left, &count) || !lmi_mesh_reader_reserve_corners(reader, count))
        return false;
    for (uint32_t n = 0; n < count; n++)
        if (!read_whole(reader, "the index of a vertex", reader->mesh.vertex_count - 1, &reader->corners[n]))
            return false;
    lmi_mesh_reader_rest_of_line(reader, &rest);
    return count < 3 || lmi_mesh_reader_add_face(reader, count); /* points and edges are no surface */
}

/* What comes before "OFF", in capital letters; false: it is no such word. */
static bool read_kind(const char *word, size_t length, off_kind *kind, bool *space)
{
    size_t n = 0;
    *kind = (off_kind){false, false, false};
    if (length > 2 && memcmp(word, "ST", 2) == 0) kind->textures = true, n = 2;
    if (n < length && word[n] == 'C') kind->colours = true, n++;
    if (n < length && word[n] == 'N') kind->normals = true, n++;
    *space = n < length && (word[n] == '4' || word[n] == 'n');
    n += *space ? 1 : 0;
    *space = *space || (n < length && word[n] == 'n');
    n += n < length && word[n] == 'n' ? 1 : 0;
    return length - n == 3 && memcmp(word + n, "OFF", 3) == 0;
}

bool lmi_off_read(mesh_reader *reader)
{
    const char *word, *begin = reader->at;
    off_kind kind;
    bool space;
    uint32_t vertices, faces, edges;
    snprintf(reader->mesh.format, sizeof reader->mesh.format, "OFF");
    reader->line = 1;
    size_t length = next_word(reader, &word);
    if (!read_kind(word, length, &kind, &space)) { /* the counts come first */
        if (length == 0 || word[0] < '0' || word[0] > '9')
            return lmi_mesh_reader_fail(reader, "\"%.*s\" (expected OFF)", lmi_mesh_reader_shown(length), word);
        kind = (off_kind){false, false, false};
        reader->at = begin, reader->line = 1;
    } else if (space) {
        return lmi_mesh_reader_fail(reader, "its points have more than three coordinates");
    } else {
        const char *ahead = reader->at;
        while (ahead < reader->end && (*ahead == ' ' || *ahead == '\t')) ahead++;
        if (reader->end - ahead >= 6 && memcmp(ahead, "BINARY", 6) == 0)
            return lmi_mesh_reader_fail(reader, "a binary OFF file (expected text)");
    }
    /* A vertex takes at least six bytes, a face two. */
    const uint64_t size = (uint64_t)(reader->end - reader->bytes);
    if (!read_whole(reader, "the number of vertices", size / 6 + 1, &vertices) ||
        !read_whole(reader, "the number of faces", size / 2 + 1, &faces) ||
        !read_whole(reader, "the number of edges", UINT32_MAX, &edges))
        return false;
    if (vertices == 0) return lmi_mesh_reader_fail(reader, "it has no vertices");
    if (!lmi_mesh_reader_reserve(reader, vertices, kind.normals, kind.colours)) return false;
    for (uint32_t n = 0; n < vertices; n++)
        if (!read_vertex(reader, kind)) return false;
    for (uint32_t n = 0; n < faces; n++)
        if (!read_face(reader)) return false;
    length = next_word(reader, &word);
    if (length > 0)
        return lmi_mesh_reader_fail(reader, "\"%.*s\" behind the last face", lmi_mesh_reader_shown(length), word);
    return true;
}
