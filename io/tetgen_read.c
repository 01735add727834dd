/*
 * Reading TetGen's pair of files. Nodes and tetrahedra have numbers of their own, from 0 or from 1.
 *
 *     FILE.node    COUNT 3 ATTRIBUTES MARKERS        then for each: NUMBER X Y Z attributes marker
 *     FILE.ele     COUNT NODES ATTRIBUTES            then for each: NUMBER N1 N2 N3 N4 (six more) attribute
 *
 * A number sign begins a comment to the end of the line.
 */
#include "io/tets_reader.h"

#include <stdio.h>

/* Past comments, so that the next word is one of the file's own. */
static void skip_comments(tets_reader *reader)
{
    for (;;) {
        mesh_reader ahead = reader->file;
        const char *word;
        if (lmi_mesh_reader_word(&ahead, &word) == 0 || word[0] != '#') return;
        ahead.at = word;
        lmi_mesh_reader_rest_of_line(&ahead, &word);
        reader->file = ahead;
    }
}

static void skip_line(tets_reader *reader)
{
    const char *rest;
    lmi_mesh_reader_rest_of_line(&reader->file, &rest);
    skip_comments(reader);
}

static bool read_end(tets_reader *reader)
{
    const char *word;
    skip_comments(reader);
    if (lmi_mesh_reader_word(&reader->file, &word) > 0)
        return lmi_mesh_reader_fail(&reader->file,
                                    "there is more than the first line announces (expected the end of the "
                                    "file)");
    return true;
}

bool lmi_tetgen_read_nodes(tets_reader *reader)
{
    uint64_t count, dimension;
    snprintf(reader->data.format, sizeof reader->data.format, "TetGen");
    reader->file.line = 1;
    skip_comments(reader);
    if (!lmi_tets_reader_count(reader, "the number of nodes", &count) ||
        !lmi_tets_reader_count(reader, "the dimension, 3", &dimension))
        return false;
    if (dimension != 3)
        return lmi_mesh_reader_fail(&reader->file, "dimension %llu (expected 3)", (unsigned long long)dimension);
    skip_line(reader);
    for (uint64_t n = 0; n < count; n++) {
        char what[TETS_WHAT_SIZE];
        int64_t tag;
        double at[3];
        if (!lmi_tets_reader_whole(reader, lmi_tets_reader_what(what, "node", n, count), &tag)) return false;
        for (int i = 0; i < 3; i++)
            if (!lmi_tets_reader_real(reader, what, &at[i])) return false;
        if (!lmi_tets_reader_add_node(reader, tag, at)) return false;
        skip_line(reader);
    }
    return read_end(reader);
}

bool lmi_tetgen_read_tets(tets_reader *reader)
{
    uint64_t count, nodes;
    reader->file.line = 1;
    skip_comments(reader);
    if (!lmi_tets_reader_count(reader, "the number of tetrahedra", &count) ||
        !lmi_tets_reader_count(reader, "nodes of a tetrahedron, 4 or 10", &nodes))
        return false;
    if (nodes != 4 && nodes != 10)
        return lmi_mesh_reader_fail(&reader->file, "%llu nodes of a tetrahedron (expected 4 or 10)",
                                    (unsigned long long)nodes);
    skip_line(reader);
    for (uint64_t n = 0; n < count; n++) {
        char what[TETS_WHAT_SIZE];
        int64_t tag, corners[4];
        if (!lmi_tets_reader_whole(reader, lmi_tets_reader_what(what, "tetrahedron", n, count), &tag)) return false;
        for (int i = 0; i < 4; i++)
            if (!lmi_tets_reader_whole(reader, what, &corners[i])) return false;
        if (!lmi_tets_reader_add_tet(reader, tag, corners)) return false;
        skip_line(reader);
    }
    return read_end(reader);
}
