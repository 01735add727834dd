/*
 * Reading MEDIT's format, text and binary. Sections, each with a keyword, a count and as many entries; nodes and elements
 * are counted from 1 in their order. Only nodes and tetrahedra are taken.
 *
 *     MeshVersionFormatted 2         the number tells how wide numbers are in a binary file
 *     Dimension 3
 *     Vertices 4                     X Y Z REFERENCE
 *     Tetrahedra 1                   N1 N2 N3 N4 REFERENCE
 *     End
 *
 * A binary file begins with a 1 that tells its byte order. Behind a section's keyword (a number) stands where in the file the
 * next section begins.
 */
#include "io/tets_reader.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Text
 */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* The next keyword, over comments and the entries of sections that nobody asked for; length 0 at the end of the file. */
static size_t next_keyword(tets_reader *reader, const char **word)
{
    size_t length;
    while ((length = lmi_mesh_reader_word(&reader->file, word)) > 0 && !is_letter(**word))
        if (**word == '#') {
            const char *rest;
            lmi_mesh_reader_rest_of_line(&reader->file, &rest);
        }
    return length;
}

static bool is(const char *word, size_t length, const char *keyword)
{
    return length == strlen(keyword) && memcmp(word, keyword, length) == 0;
}

static bool read_vertices(tets_reader *reader)
{
    uint64_t count;
    if (!lmi_tets_reader_count(reader, "the number of vertices", &count)) return false;
    for (uint64_t n = 0; n < count; n++) {
        char what[TETS_WHAT_SIZE];
        double at[3], reference;
        lmi_tets_reader_what(what, "vertex", n, count);
        for (int i = 0; i < 3; i++)
            if (!lmi_tets_reader_real(reader, what, &at[i])) return false;
        if (!lmi_tets_reader_real(reader, "a reference", &reference)) return false;
        if (!lmi_tets_reader_add_node(reader, (int64_t)reader->file.mesh.vertex_count + 1, at)) return false;
    }
    return true;
}

static bool read_tetrahedra(tets_reader *reader)
{
    uint64_t count;
    if (!lmi_tets_reader_count(reader, "the number of tetrahedra", &count)) return false;
    for (uint64_t n = 0; n < count; n++) {
        char what[TETS_WHAT_SIZE];
        int64_t corners[4], reference;
        lmi_tets_reader_what(what, "tetrahedron", n, count);
        for (int i = 0; i < 4; i++)
            if (!lmi_tets_reader_whole(reader, what, &corners[i])) return false;
        if (!lmi_tets_reader_whole(reader, "a reference", &reference)) return false;
        if (!lmi_tets_reader_add_tet(reader, (int64_t)reader->data.tet_count + 1, corners)) return false;
    }
    return true;
}

static bool read_dimension(tets_reader *reader)
{
    uint64_t dimension;
    if (!lmi_tets_reader_count(reader, "the dimension, 3", &dimension)) return false;
    if (dimension != 3)
        return lmi_mesh_reader_fail(&reader->file, "dimension %llu (expected 3)", (unsigned long long)dimension);
    return true;
}

static bool read_other(tets_reader *reader, const char *word, size_t length)
{
    static const char *const elements[] = {"Edges", "Triangles", "Quadrilaterals", "Hexahedra", "Prisms", "Pyramids"};
    uint64_t count;
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (is(word, length, elements[i])) {
            if (!lmi_tets_reader_count(reader, "a number of elements", &count)) return false;
            reader->data.others += count;
        }
    return true;
}

bool lmi_medit_read(tets_reader *reader)
{
    const char *word;
    snprintf(reader->data.format, sizeof reader->data.format, "MEDIT, text");
    reader->file.line = 1;
    for (;;) {
        size_t length = next_keyword(reader, &word);
        if (length == 0 || is(word, length, "End")) return true;
        bool read = is(word, length, "Dimension")    ? read_dimension(reader)
                    : is(word, length, "Vertices")   ? read_vertices(reader)
                    : is(word, length, "Tetrahedra") ? read_tetrahedra(reader)
                                                     : read_other(reader, word, length);
        if (!read) return false;
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Binary
 */

enum { KEY_DIMENSION = 3, KEY_VERTICES = 4, KEY_TETRAHEDRA = 8, KEY_END = 54 };

bool lmi_medit_is_binary(const char *bytes, size_t size)
{
    return size >= 8 && (memcmp(bytes, "\1\0\0\0", 4) == 0 || memcmp(bytes, "\0\0\0\1", 4) == 0);
}

/* Sizes of numbers in a file of a version. */
typedef struct widths {
    uint32_t position, count, real; /* bytes: where the next section begins, whole numbers, coordinates */
} widths;

static int64_t take_whole(tets_reader *reader, uint32_t size)
{
    return size == 8 ? lmi_tets_reader_i64(reader) : lmi_tets_reader_i32(reader);
}

static bool fail_short(tets_reader *reader, const char *what, int64_t count)
{
    return lmi_mesh_reader_fail(&reader->file, "it ends before its %lld %s do", (long long)count, what);
}

static bool read_binary_vertices(tets_reader *reader, widths w)
{
    if (!lmi_tets_reader_has(reader, 1, w.count)) return fail_short(reader, "vertices", 0);
    int64_t count = take_whole(reader, w.count);
    if (count < 0 || !lmi_tets_reader_has(reader, (uint64_t)count, 3 * (uint64_t)w.real + w.count))
        return fail_short(reader, "vertices", count);
    for (int64_t n = 0; n < count; n++) {
        double at[3];
        for (int i = 0; i < 3; i++)
            at[i] = w.real == 8 ? lmi_tets_reader_f64(reader) : (double)lmi_tets_reader_f32(reader);
        take_whole(reader, w.count); /* its reference */
        if (!lmi_tets_reader_add_node(reader, (int64_t)reader->file.mesh.vertex_count + 1, at)) return false;
    }
    return true;
}

static bool read_binary_tetrahedra(tets_reader *reader, widths w)
{
    if (!lmi_tets_reader_has(reader, 1, w.count)) return fail_short(reader, "tetrahedra", 0);
    int64_t count = take_whole(reader, w.count);
    if (count < 0 || !lmi_tets_reader_has(reader, (uint64_t)count, 5 * (uint64_t)w.count))
        return fail_short(reader, "tetrahedra", count);
    for (int64_t n = 0; n < count; n++) {
        int64_t corners[4];
        for (int i = 0; i < 4; i++) corners[i] = take_whole(reader, w.count);
        take_whole(reader, w.count);
        if (!lmi_tets_reader_add_tet(reader, (int64_t)reader->data.tet_count + 1, corners)) return false;
    }
    return true;
}

/* One section; sets *done at the last. */
static bool read_section(tets_reader *reader, widths w, bool *done)
{
    mesh_reader *file = &reader->file;
    if (!lmi_tets_reader_has(reader, 1, 4)) return lmi_mesh_reader_fail(file, "it ends without an End section");
    int32_t key = lmi_tets_reader_i32(reader);
    *done = key == KEY_END;
    if (*done) return true;
    if (!lmi_tets_reader_has(reader, 1, w.position)) return lmi_mesh_reader_fail(file, "it ends within a section");
    int64_t next = take_whole(reader, w.position);
    if (key == KEY_DIMENSION) {
        int32_t dimension = lmi_tets_reader_has(reader, 1, 4) ? lmi_tets_reader_i32(reader) : 0;
        if (dimension != 3) return lmi_mesh_reader_fail(file, "dimension %d (expected 3)", (int)dimension);
    }
    if (key == KEY_VERTICES && !read_binary_vertices(reader, w)) return false;
    if (key == KEY_TETRAHEDRA && !read_binary_tetrahedra(reader, w)) return false;
    if (next == 0) *done = true; /* some writers have no End */
    if (next != 0 && (next < file->at - file->bytes || next > file->end - file->bytes))
        return lmi_mesh_reader_fail(file,
                                    "section %d says that the next one begins at byte %lld, within or before itself or "
                                    "beyond the end of the file",
                                    (int)key, (long long)next);
    if (next != 0) file->at = file->bytes + next;
    return true;
}

bool lmi_medit_binary_read(tets_reader *reader)
{
    mesh_reader *file = &reader->file;
    reader->big_endian = file->bytes[0] == 0;
    file->at += 4;
    int32_t version = lmi_tets_reader_i32(reader);
    snprintf(reader->data.format, sizeof reader->data.format, "MEDIT, binary");
    if (version < 1 || version > 4) return lmi_mesh_reader_fail(file, "version %d (expected 1 to 4)", (int)version);
    widths w = {version < 3 ? 4 : 8, version < 4 ? 4 : 8, version < 2 ? 4 : 8};
    for (bool done = false; !done;)
        if (!read_section(reader, w, &done)) return false;
    return true;
}
