/*
 * Reading STL (stereolithography), ASCII and binary.
 *
 * The format has triangles and no vertices: every triangle brings its own three corners, which welding joins. Normals of
 * triangles say nothing that their corners do not, and the two bytes some programs use for a colour mean different
 * things to different programs: both are passed over.
 *
 * A binary file is 80 bytes of anything, a count, and 50 bytes for each triangle. Some begin with "solid" as ASCII files
 * do, so it is the size that tells: it must be what the count asks for.
 */
#include "io/mesh_reader.h"

#include <stdio.h>
#include <string.h>

#define HEADER_SIZE 84
#define TRIANGLE_SIZE 50

static uint32_t load_u32(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static float load_float(const char *bytes)
{
    uint32_t bits = load_u32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Binary
 */

bool lmi_stl_is_binary(const char *bytes, size_t size)
{
    return size >= HEADER_SIZE && size == HEADER_SIZE + (uint64_t)load_u32(bytes + HEADER_SIZE - 4) * TRIANGLE_SIZE;
}

static bool read_binary(mesh_reader *reader)
{
    uint64_t size = (uint64_t)(reader->end - reader->bytes);
    snprintf(reader->mesh.format, sizeof reader->mesh.format, "STL, binary");
    if (size < HEADER_SIZE)
        return lmi_mesh_reader_fail(reader, "not an STL file: %llu bytes (expected \"solid\", or at least %d bytes)",
                                    (unsigned long long)size, HEADER_SIZE);
    uint32_t count = load_u32(reader->bytes + HEADER_SIZE - 4);
    uint64_t expected = HEADER_SIZE + (uint64_t)count * TRIANGLE_SIZE;
    if (size != expected)
        return lmi_mesh_reader_fail(reader, "%llu bytes, but the header promises %u triangles (expected %llu bytes)",
                                    (unsigned long long)size, count, (unsigned long long)expected);
    if (count == 0) return lmi_mesh_reader_fail(reader, "it has no triangles");
    uint32_t *triangles = lmi_mesh_reader_add_triangles(reader, count);
    if (!triangles || !lmi_mesh_reader_reserve(reader, 3 * (uint64_t)count, false, false)) return false;
    for (uint32_t t = 0; t < count; t++) {
        const char *at = reader->bytes + HEADER_SIZE + (size_t)t * TRIANGLE_SIZE + 12; /* behind its normal */
        for (uint32_t corner = 0; corner < 3; corner++, at += 12) {
            lm_vec3 position = {load_float(at), load_float(at + 4), load_float(at + 8)};
            triangles[3 * (size_t)t + corner] = reader->mesh.vertex_count;
            if (!lmi_mesh_reader_add_vertex(reader, position)) return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * ASCII
 *
 *     solid NAME
 *       facet normal 0 0 1
 *         outer loop
 *           vertex 0 0 0
 *           vertex 1 0 0
 *           vertex 0 1 0
 *         endloop
 *       endfacet
 *     endsolid NAME
 */

/* Whether the word is the keyword, in small or capital letters. */
static bool is_keyword(const char *word, size_t length, const char *keyword)
{
    if (length != strlen(keyword)) return false;
    for (size_t i = 0; i < length; i++) {
        char lower = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
        if (lower != keyword[i]) return false;
    }
    return true;
}

static bool fail_expected(mesh_reader *reader, const char *expected, const char *word, size_t length)
{
    if (length == 0) return lmi_mesh_reader_fail(reader, "the file ends where %s is expected", expected);
    return lmi_mesh_reader_fail(reader, "\"%.*s\" (expected %s)", lmi_mesh_reader_shown(length), word, expected);
}

static bool expect(mesh_reader *reader, const char *keyword)
{
    const char *word;
    size_t length = lmi_mesh_reader_word(reader, &word);
    return is_keyword(word, length, keyword) || fail_expected(reader, keyword, word, length);
}

static bool read_ascii_vertex(mesh_reader *reader)
{
    float value[3];
    for (int i = 0; i < 3; i++) {
        const char *word;
        size_t length = lmi_mesh_reader_word(reader, &word);
        if (length == 0) return fail_expected(reader, "a coordinate", word, length);
        if (!lmi_mesh_reader_coordinate(reader, word, length, &value[i])) return false;
    }
    return lmi_mesh_reader_add_vertex(reader, (lm_vec3){value[0], value[1], value[2]});
}

/* What follows "facet". A loop has three vertices; a few programs write polygons. */
static bool read_facet(mesh_reader *reader)
{
    const char *word;
    if (!expect(reader, "normal")) return false;
    for (int i = 0; i < 3; i++) /* it may be "nan": nobody reads it */
        if (lmi_mesh_reader_word(reader, &word) == 0) return fail_expected(reader, "a normal", word, 0);
    if (!expect(reader, "outer") || !expect(reader, "loop")) return false;
    uint32_t count = 0;
    for (;; count++) {
        size_t length = lmi_mesh_reader_word(reader, &word);
        if (is_keyword(word, length, "endloop")) break;
        if (!is_keyword(word, length, "vertex")) return fail_expected(reader, "vertex or endloop", word, length);
        if (!lmi_mesh_reader_reserve_corners(reader, (uint64_t)count + 1)) return false;
        reader->corners[count] = reader->mesh.vertex_count;
        if (!read_ascii_vertex(reader)) return false;
    }
    return lmi_mesh_reader_add_face(reader, count) && expect(reader, "endfacet");
}

/* What follows "solid". */
static bool read_solid(mesh_reader *reader)
{
    const char *word;
    size_t length = lmi_mesh_reader_rest_of_line(reader, &word);
    if (!lmi_mesh_reader_begin_part(reader, word, length)) return false;
    for (;;) {
        length = lmi_mesh_reader_word(reader, &word);
        if (is_keyword(word, length, "endsolid")) break;
        if (!is_keyword(word, length, "facet")) return fail_expected(reader, "facet or endsolid", word, length);
        if (!read_facet(reader)) return false;
    }
    lmi_mesh_reader_rest_of_line(reader, &word);
    return true;
}

static bool read_ascii(mesh_reader *reader)
{
    const char *word;
    snprintf(reader->mesh.format, sizeof reader->mesh.format, "STL, ASCII");
    reader->line = 1;
    for (;;) {
        size_t length = lmi_mesh_reader_word(reader, &word);
        if (length == 0) break;
        if (!is_keyword(word, length, "solid")) return fail_expected(reader, "solid", word, length);
        if (!read_solid(reader)) return false;
    }
    reader->line = 0;
    return reader->mesh.triangle_count > 0 || lmi_mesh_reader_fail(reader, "it has no triangles");
}

/* A file that begins with "solid" and whose size is wrong for a binary one: ASCII, unless there are zero bytes where a
 * text has none. */
static bool is_text(const mesh_reader *reader)
{
    size_t size = (size_t)(reader->end - reader->bytes);
    const char *word;
    mesh_reader ahead = *reader;
    size_t length = lmi_mesh_reader_word(&ahead, &word);
    return is_keyword(word, length, "solid") && !memchr(reader->bytes, '\0', size < 512 ? size : 512);
}

bool lmi_stl_read(mesh_reader *reader)
{
    if (!lmi_stl_is_binary(reader->bytes, (size_t)(reader->end - reader->bytes)) && is_text(reader))
        return read_ascii(reader);
    return read_binary(reader);
}
