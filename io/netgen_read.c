/*
 * Reading Netgen's neutral format: three lists, each behind its length.
 *
 *     POINTS                     the nodes, counted from 1 in their order
 *     X Y Z
 *     ELEMENTS                   domain, nodes: four of a tetrahedron, ten of a quadratic one
 *     DOMAIN N1 N2 N3 N4
 *     TRIANGLES                  of the surface, which follows from the tetrahedra
 *     CONDITION N1 N2 N3
 */
#include "io/tets_reader.h"

#include <stdio.h>

/* Words of the line that the reader is on, after those that were read. */
static uint32_t words_left(const tets_reader *reader)
{
    mesh_reader ahead = reader->file;
    const char *word;
    uint32_t count = 0;
    while (lmi_mesh_reader_word(&ahead, &word) > 0 && ahead.line == reader->file.line) count++;
    return count;
}

static bool read_nodes(tets_reader *reader)
{
    uint64_t count;
    if (!lmi_tets_reader_count(reader, "the number of nodes", &count)) return false;
    for (uint64_t n = 0; n < count; n++) {
        char what[TETS_WHAT_SIZE];
        double at[3];
        lmi_tets_reader_what(what, "node", n, count);
        for (int i = 0; i < 3; i++) {
            if (!lmi_tets_reader_real(reader, what, &at[i])) return false;
            /* A line holds one node: else there are fewer of them than announced. */
            if (words_left(reader) != 2 - (uint32_t)i)
                return lmi_mesh_reader_fail(&reader->file, "%s needs a line with three coordinates", what);
        }
        if (!lmi_tets_reader_add_node(reader, (int64_t)n + 1, at)) return false;
    }
    return true;
}

static bool read_element(tets_reader *reader, uint64_t n, uint64_t count)
{
    char what[TETS_WHAT_SIZE];
    int64_t domain, corners[4];
    lmi_tets_reader_what(what, "element", n, count);
    if (!lmi_tets_reader_whole(reader, what, &domain)) return false;
    uint32_t nodes = words_left(reader);
    const char *rest;
    if (nodes == 5 || nodes == 6 || nodes == 8) { /* a pyramid, a prism, a hexahedron */
        reader->data.others++;
        lmi_mesh_reader_rest_of_line(&reader->file, &rest);
        return true;
    }
    if (nodes != 4 && nodes != 10)
        return lmi_mesh_reader_fail(&reader->file, "%s has %u nodes (expected a line with a domain and 4 nodes)", what,
                                    nodes);
    for (int i = 0; i < 4; i++)
        if (!lmi_tets_reader_whole(reader, what, &corners[i])) return false;
    if (nodes == 10) lmi_mesh_reader_rest_of_line(&reader->file, &rest); /* the middles of its edges */
    return lmi_tets_reader_add_tet(reader, (int64_t)n + 1, corners);
}

static bool read_surface(tets_reader *reader)
{
    uint64_t count;
    if (!lmi_tets_reader_count(reader, "the number of triangles", &count)) return false;
    for (uint64_t n = 0; n < count; n++) {
        char what[TETS_WHAT_SIZE];
        int64_t condition;
        const char *rest;
        if (!lmi_tets_reader_whole(reader, lmi_tets_reader_what(what, "triangle", n, count), &condition)) return false;
        lmi_mesh_reader_rest_of_line(&reader->file, &rest);
        reader->data.others++;
    }
    return true;
}

bool lmi_netgen_read(tets_reader *reader)
{
    const char *word;
    uint64_t count;
    snprintf(reader->data.format, sizeof reader->data.format, "Netgen, neutral");
    reader->file.line = 1;
    if (!read_nodes(reader) || !lmi_tets_reader_count(reader, "the number of elements", &count)) return false;
    for (uint64_t n = 0; n < count; n++)
        if (!read_element(reader, n, count)) return false;
    mesh_reader ahead = reader->file;
    if (lmi_mesh_reader_word(&ahead, &word) > 0 && !read_surface(reader)) return false;
    if (lmi_mesh_reader_word(&reader->file, &word) > 0)
        return lmi_mesh_reader_fail(&reader->file, "something follows the last list (expected the end of the file)");
    return true;
}
