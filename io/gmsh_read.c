/*
 * Reading Gmsh's .msh files: the header, sections that are passed over, and version 2. Version 4 is in gmsh4_read.c.
 *
 *     $MeshFormat                    version, 0 for text or 1 for binary, bytes of a double;
 *     2.2 0 8                        in a binary file a 1 follows that tells its byte order
 *     $EndMeshFormat
 *     $Nodes
 *     COUNT
 *     TAG X Y Z
 *     $EndNodes
 *     $Elements
 *     COUNT
 *     TAG TYPE TAGS (that many numbers) NODES
 *     $EndElements
 *
 * In a binary file elements come in runs of a type: TYPE COUNT TAGS, then the elements without these. Nodes and elements go by
 * their tags, which may have gaps. An element in several physical groups is there several times.
 */
#include "io/gmsh.h"

#include "io/decimal.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Shared with version 4
 */

uint32_t lmi_gmsh_node_count(int64_t type)
{
    static const uint8_t counts[] = {0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                                     8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
    if (type == 92) return 64;
    if (type == 93) return 125;
    return type > 0 && type < (int64_t)sizeof counts ? counts[type] : 0;
}

bool lmi_gmsh_fail_short(tets_reader *reader, const char *what, uint64_t count)
{
    return lmi_mesh_reader_fail(&reader->file, "the file ends before its %llu %s do", (unsigned long long)count, what);
}

bool lmi_gmsh_whole(tets_reader *reader, bool binary, uint32_t size, const char *what, int64_t *value)
{
    if (!binary) return lmi_tets_reader_whole(reader, what, value);
    if (!lmi_tets_reader_has(reader, 1, size))
        return lmi_mesh_reader_fail(&reader->file, "the file ends where %s is expected", what);
    *value = size == 8 ? lmi_tets_reader_i64(reader) : lmi_tets_reader_i32(reader);
    return true;
}

bool lmi_gmsh_count(tets_reader *reader, bool binary, uint32_t size, const char *what, uint64_t *value)
{
    int64_t number = 0;
    if (!lmi_gmsh_whole(reader, binary, size, what, &number)) return false;
    if (number < 0) return lmi_mesh_reader_fail(&reader->file, "%lld (expected %s)", (long long)number, what);
    *value = (uint64_t)number;
    return true;
}

void lmi_gmsh_to_next_line(tets_reader *reader)
{
    const char *rest;
    lmi_mesh_reader_rest_of_line(&reader->file, &rest);
    if (reader->file.at < reader->file.end) reader->file.at++;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Version 2
 */

static bool read_nodes(tets_reader *reader, bool binary)
{
    uint64_t count;
    if (!lmi_tets_reader_count(reader, "the number of nodes", &count)) return false;
    if (binary) lmi_gmsh_to_next_line(reader);
    if (binary && !lmi_tets_reader_has(reader, count, 28)) return lmi_gmsh_fail_short(reader, "nodes", count);
    for (uint64_t n = 0; n < count; n++) {
        char what[TETS_WHAT_SIZE];
        int64_t tag;
        double at[3];
        if (!lmi_gmsh_whole(reader, binary, 4, lmi_tets_reader_what(what, "node", n, count), &tag)) return false;
        for (int i = 0; i < 3; i++) {
            if (binary)
                at[i] = lmi_tets_reader_f64(reader);
            else if (!lmi_tets_reader_real(reader, what, &at[i]))
                return false;
        }
        if (!lmi_tets_reader_add_node(reader, tag, at)) return false;
    }
    return lmi_tets_reader_expect(reader, "$EndNodes");
}

static bool read_text_element(tets_reader *reader, const char *what)
{
    int64_t tag, type, ignored, corners[4];
    uint64_t tags;
    const char *rest;
    if (!lmi_tets_reader_whole(reader, what, &tag) || !lmi_tets_reader_whole(reader, what, &type) ||
        !lmi_tets_reader_count(reader, what, &tags))
        return false;
    if (gmsh_is_tetrahedron(type)) {
        for (uint64_t i = 0; i < tags; i++)
            if (!lmi_tets_reader_whole(reader, what, &ignored)) return false;
        for (int i = 0; i < 4; i++)
            if (!lmi_tets_reader_whole(reader, what, &corners[i])) return false;
        if (!lmi_tets_reader_add_tet(reader, tag, corners)) return false;
    } else
        reader->data.others++;
    if (type != GMSH_TETRAHEDRON) lmi_mesh_reader_rest_of_line(&reader->file, &rest);
    return true;
}

/* One run of elements of a type; *read counts them all. */
static bool read_binary_elements(tets_reader *reader, uint64_t count, uint64_t *read)
{
    int64_t type = 0, corners[4];
    uint64_t follow = 0, tags = 0;
    if (!lmi_gmsh_whole(reader, true, 4, "a type of elements", &type) ||
        !lmi_gmsh_count(reader, true, 4, "a number of elements", &follow) ||
        !lmi_gmsh_count(reader, true, 4, "a number of tags", &tags))
        return false;
    uint32_t nodes = lmi_gmsh_node_count(type);
    if (nodes == 0) return lmi_mesh_reader_fail(&reader->file, "elements of type %lld are not known", (long long)type);
    if (follow == 0 || follow > count - *read)
        return lmi_mesh_reader_fail(&reader->file, "%llu elements of type %lld, but %llu are left of %llu",
                                    (unsigned long long)follow, (long long)type, (unsigned long long)(count - *read),
                                    (unsigned long long)count);
    if (!lmi_tets_reader_has(reader, follow, 4 * (1 + tags + nodes)))
        return lmi_gmsh_fail_short(reader, "elements", count);
    for (uint64_t n = 0; n < follow; n++) {
        int64_t tag = lmi_tets_reader_i32(reader);
        reader->file.at += 4 * tags;
        const char *end = reader->file.at + 4 * (size_t)nodes;
        if (gmsh_is_tetrahedron(type)) {
            for (int i = 0; i < 4; i++) corners[i] = lmi_tets_reader_i32(reader);
            if (!lmi_tets_reader_add_tet(reader, tag, corners)) return false;
        } else
            reader->data.others++;
        reader->file.at = end;
    }
    *read += follow;
    return true;
}

static bool read_elements(tets_reader *reader, bool binary)
{
    uint64_t count;
    if (!lmi_tets_reader_count(reader, "the number of elements", &count)) return false;
    if (binary) lmi_gmsh_to_next_line(reader);
    for (uint64_t n = 0; n < count;) {
        char what[TETS_WHAT_SIZE];
        if (binary) {
            if (!read_binary_elements(reader, count, &n)) return false;
        } else if (!read_text_element(reader, lmi_tets_reader_what(what, "element", n++, count)))
            return false;
    }
    return lmi_tets_reader_expect(reader, "$EndElements");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Sections
 */

/* Past the end of a section that nobody asked for. In a binary file its bytes may be anything. */
static bool skip_section(tets_reader *reader, const char *name, size_t length)
{
    mesh_reader *file = &reader->file;
    for (const char *at = file->at; (at = memchr(at, '$', (size_t)(file->end - at))) != NULL; at++) {
        if ((size_t)(file->end - at) >= length + 3 && memcmp(at, "$End", 4) == 0 &&
            memcmp(at + 4, name + 1, length - 1) == 0) {
            for (const char *c = file->at; c < at; c++) file->line += file->line > 0 && *c == '\n';
            file->at = at + length + 3;
            return true;
        }
    }
    return lmi_mesh_reader_fail(file, "section %.*s has no end", lmi_mesh_reader_shown(length), name);
}

/* `minor`: of version 4, or -1 for version 2. */
static bool read_sections(tets_reader *reader, bool binary, int minor)
{
    bool nodes = false, elements = false;
    const char *word;
    for (size_t length; (length = lmi_mesh_reader_word(&reader->file, &word)) > 0;) {
        bool done;
        if (length == 6 && memcmp(word, "$Nodes", 6) == 0)
            done = nodes = minor < 0 ? read_nodes(reader, binary) : lmi_gmsh4_read_nodes(reader, binary, minor);
        else if (length == 9 && memcmp(word, "$Elements", 9) == 0)
            done = elements =
                minor < 0 ? read_elements(reader, binary) : lmi_gmsh4_read_elements(reader, binary, minor);
        else if (word[0] == '$')
            done = skip_section(reader, word, length);
        else
            return lmi_mesh_reader_fail(&reader->file, "\"%.*s\" (expected a section)", lmi_mesh_reader_shown(length),
                                        word);
        if (!done) return false;
    }
    reader->file.line = 0;
    if (!nodes || !elements)
        return lmi_mesh_reader_fail(&reader->file, "it has no %s section", nodes ? "$Elements" : "$Nodes");
    return true;
}

/* The 1 by which a binary file tells its byte order. */
static bool read_byte_order(tets_reader *reader)
{
    lmi_gmsh_to_next_line(reader);
    if (!lmi_tets_reader_has(reader, 1, 4)) return lmi_mesh_reader_fail(&reader->file, "the file ends in its header");
    reader->big_endian = reader->file.at[0] == 0;
    if (lmi_tets_reader_i32(reader) != 1)
        return lmi_mesh_reader_fail(&reader->file, "the header of a binary file is followed by a 1; this one is not");
    return true;
}

bool lmi_gmsh_read(tets_reader *reader)
{
    double version;
    uint64_t binary, size;
    reader->file.line = 1;
    if (!lmi_tets_reader_expect(reader, "$MeshFormat") || !lmi_tets_reader_real(reader, "a version", &version) ||
        !lmi_tets_reader_count(reader, "0 (text) or 1 (binary)", &binary) ||
        !lmi_tets_reader_count(reader, "8, the bytes of a number", &size))
        return false;
    int major = version >= 2.0 && version < 3.0 ? 2 : version >= 4.0 && version < 4.2 ? 4 : 0;
    if (major == 0 || binary > 1 || size != 8)
        return lmi_mesh_reader_fail(&reader->file,
                                    "Gmsh version %g, kind %llu, size %llu (expected 2, 4.0 or 4.1; 0 or 1; 8)",
                                    version, (unsigned long long)binary, (unsigned long long)size);
    snprintf(reader->data.format, sizeof reader->data.format, "Gmsh %.1f, %s", version, binary ? "binary" : "text");
    if (binary) {
        reader->file.line = 0;
        if (!read_byte_order(reader)) return false;
    }
    if (!lmi_tets_reader_expect(reader, "$EndMeshFormat")) return false;
    return read_sections(reader, binary == 1, major == 2 ? -1 : version >= 4.05);
}
