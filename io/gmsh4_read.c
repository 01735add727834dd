/*
 * Reading Gmsh's .msh files, versions 4.0 and 4.1. Nodes and elements come in blocks, one for each entity of the geometry.
 *
 *     $Nodes                         4.0: BLOCKS NODES                   4.1: BLOCKS NODES LOWEST HIGHEST
 *       block                        4.0: ENTITY DIMENSION PARAMETRIC COUNT   4.1: DIMENSION ENTITY PARAMETRIC COUNT
 *       nodes                        4.0: TAG X Y Z (U V W)              4.1: all tags, then all X Y Z (U V W)
 *     $Elements                      as nodes
 *       block                        4.0: ENTITY DIMENSION TYPE COUNT    4.1: DIMENSION ENTITY TYPE COUNT
 *       elements                     TAG NODES
 *
 * In a binary file counts take 8 bytes; tags take 4 in version 4.0 and 8 in 4.1; the numbers of entities, dimensions and types
 * take 4. U, V and W are there in parametric blocks, as many as the entity has dimensions.
 */
#include "io/gmsh.h"

#include <stdlib.h>
#include <string.h>

typedef struct file_kind {
    bool binary;
    bool first;   /* version 4.0 */
    uint32_t tag; /* bytes of a tag in a binary file */
} file_kind;

/* The head of a block: the dimension, the third number (parametric, or the type), and how many follow. */
typedef struct block_head {
    int64_t dimension, third;
    uint64_t count;
} block_head;

static bool read_totals(tets_reader *reader, file_kind kind, uint64_t *blocks, uint64_t *total)
{
    uint64_t lowest, highest;
    if (!lmi_gmsh_count(reader, kind.binary, 8, "a number of blocks", blocks) ||
        !lmi_gmsh_count(reader, kind.binary, 8, "a number of entries", total))
        return false;
    return kind.first || (lmi_gmsh_count(reader, kind.binary, 8, "the lowest tag", &lowest) &&
                          lmi_gmsh_count(reader, kind.binary, 8, "the highest tag", &highest));
}

static bool read_head(tets_reader *reader, file_kind kind, uint64_t left, const char *what, block_head *head)
{
    int64_t a, b;
    if (!lmi_gmsh_whole(reader, kind.binary, 4, "a block", &a) ||
        !lmi_gmsh_whole(reader, kind.binary, 4, "a block", &b) ||
        !lmi_gmsh_whole(reader, kind.binary, 4, "a block", &head->third) ||
        !lmi_gmsh_count(reader, kind.binary, 8, "the length of a block", &head->count))
        return false;
    head->dimension = kind.first ? b : a;
    if (head->dimension < 0 || head->dimension > 3)
        return lmi_mesh_reader_fail(&reader->file, "a block of %s has dimension %lld (expected 0 to 3)", what,
                                    (long long)head->dimension);
    if (head->count > left)
        return lmi_mesh_reader_fail(&reader->file, "a block of %llu %s, but %llu are left",
                                    (unsigned long long)head->count, what, (unsigned long long)left);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Nodes
 */

static bool read_coordinates(tets_reader *reader, file_kind kind, uint64_t extra, const char *what, double at[3])
{
    for (uint64_t i = 0; i < 3 + extra; i++) {
        double ignored, *to = i < 3 ? &at[i] : &ignored;
        if (kind.binary)
            *to = lmi_tets_reader_f64(reader);
        else if (!lmi_tets_reader_real(reader, what, to))
            return false;
    }
    return true;
}

/* Tag and coordinates in turns. */
static bool read_mixed_nodes(tets_reader *reader, file_kind kind, uint64_t count, uint64_t extra)
{
    for (uint64_t n = 0; n < count; n++) {
        char what[TETS_WHAT_SIZE];
        int64_t tag;
        double at[3];
        if (!lmi_gmsh_whole(reader, kind.binary, kind.tag, lmi_tets_reader_what(what, "node", n, count), &tag) ||
            !read_coordinates(reader, kind, extra, what, at) || !lmi_tets_reader_add_node(reader, tag, at))
            return false;
    }
    return true;
}

/* All tags, then all coordinates. The tags are kept aside until the coordinates come; memory follows what has been read. */
static bool read_listed_nodes(tets_reader *reader, file_kind kind, uint64_t count, uint64_t extra)
{
    int64_t *tags = NULL;
    size_t capacity = 0;
    bool done = true;
    char what[TETS_WHAT_SIZE];
    for (uint64_t n = 0; done && n < count; n++) {
        int64_t *larger = lmi_mesh_grow(tags, &capacity, n + 1, sizeof *tags);
        tags = larger ? larger : tags;
        done = larger ? lmi_gmsh_whole(reader, kind.binary, kind.tag, lmi_tets_reader_what(what, "node", n, count),
                                       &tags[n])
                      : lmi_mesh_reader_out_of_memory(&reader->file);
    }
    for (uint64_t n = 0; done && n < count; n++) {
        double at[3];
        done = read_coordinates(reader, kind, extra, lmi_tets_reader_what(what, "node", n, count), at) &&
               lmi_tets_reader_add_node(reader, tags[n], at);
    }
    free(tags);
    return done;
}

static bool read_nodes(tets_reader *reader, file_kind kind)
{
    uint64_t blocks, total, left;
    if (!read_totals(reader, kind, &blocks, &total)) return false;
    left = total;
    for (uint64_t b = 0; b < blocks; b++) {
        block_head head;
        if (!read_head(reader, kind, left, "nodes", &head)) return false;
        uint64_t extra = head.third ? (uint64_t)head.dimension : 0;
        if (kind.binary && !lmi_tets_reader_has(reader, head.count, kind.tag + 8 * (3 + extra)))
            return lmi_gmsh_fail_short(reader, "nodes", total);
        bool done = kind.first ? read_mixed_nodes(reader, kind, head.count, extra)
                               : read_listed_nodes(reader, kind, head.count, extra);
        if (!done) return false;
        left -= head.count;
    }
    if (left > 0)
        return lmi_mesh_reader_fail(&reader->file, "%llu nodes are announced, but %llu are there",
                                    (unsigned long long)total, (unsigned long long)(total - left));
    return lmi_tets_reader_expect(reader, "$EndNodes");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Elements
 */

static bool read_tetrahedron(tets_reader *reader, file_kind kind, const char *what)
{
    int64_t tag, corners[4];
    if (!lmi_gmsh_whole(reader, kind.binary, kind.tag, what, &tag)) return false;
    for (int i = 0; i < 4; i++)
        if (!lmi_gmsh_whole(reader, kind.binary, kind.tag, what, &corners[i])) return false;
    return lmi_tets_reader_add_tet(reader, tag, corners);
}

static bool skip_element(tets_reader *reader, const char *what)
{
    int64_t tag;
    const char *rest;
    if (!lmi_tets_reader_whole(reader, what, &tag)) return false;
    lmi_mesh_reader_rest_of_line(&reader->file, &rest);
    return true;
}

static bool read_block(tets_reader *reader, file_kind kind, const block_head *head)
{
    uint64_t nodes = lmi_gmsh_node_count(head->third);
    if (kind.binary && nodes == 0)
        return lmi_mesh_reader_fail(&reader->file, "elements of type %lld are not known", (long long)head->third);
    if (kind.binary && !lmi_tets_reader_has(reader, head->count, kind.tag * (1 + nodes)))
        return lmi_gmsh_fail_short(reader, "elements", head->count);
    bool wanted = gmsh_is_tetrahedron(head->third);
    const char *rest;
    for (uint64_t n = 0; n < head->count; n++) {
        char what[TETS_WHAT_SIZE];
        const char *end = reader->file.at + kind.tag * (1 + nodes);
        lmi_tets_reader_what(what, "element", n, head->count);
        if (wanted && !read_tetrahedron(reader, kind, what)) return false;
        if (!kind.binary && !wanted && !skip_element(reader, what)) return false;
        if (!kind.binary && head->third == GMSH_QUADRATIC_TETRAHEDRON)
            lmi_mesh_reader_rest_of_line(&reader->file, &rest);
        if (kind.binary) reader->file.at = end;
        reader->data.others += !wanted;
    }
    return true;
}

static bool read_elements(tets_reader *reader, file_kind kind)
{
    uint64_t blocks, total, left;
    if (!read_totals(reader, kind, &blocks, &total)) return false;
    left = total;
    for (uint64_t b = 0; b < blocks; b++) {
        block_head head;
        if (!read_head(reader, kind, left, "elements", &head) || !read_block(reader, kind, &head)) return false;
        left -= head.count;
    }
    if (left > 0)
        return lmi_mesh_reader_fail(&reader->file, "%llu elements are announced, but %llu are there",
                                    (unsigned long long)total, (unsigned long long)(total - left));
    return lmi_tets_reader_expect(reader, "$EndElements");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Sections
 */

static file_kind kind_of(tets_reader *reader, bool binary, int minor)
{
    if (binary) lmi_gmsh_to_next_line(reader);
    return (file_kind){binary, minor == 0, minor == 0 ? 4 : 8};
}

bool lmi_gmsh4_read_nodes(tets_reader *reader, bool binary, int minor)
{
    return read_nodes(reader, kind_of(reader, binary, minor));
}

bool lmi_gmsh4_read_elements(tets_reader *reader, bool binary, int minor)
{
    return read_elements(reader, kind_of(reader, binary, minor));
}
