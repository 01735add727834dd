/*
 * What the readers of Gmsh's versions share.
 */
#ifndef LIMBER_IO_GMSH_H
#define LIMBER_IO_GMSH_H

#include "io/tets_reader.h"

enum { GMSH_TETRAHEDRON = 4, GMSH_QUADRATIC_TETRAHEDRON = 11 };

static inline bool gmsh_is_tetrahedron(int64_t type)
{
    return type == GMSH_TETRAHEDRON || type == GMSH_QUADRATIC_TETRAHEDRON;
}

/* Nodes of an element of a type; 0 when there is no such type. */
uint32_t lmi_gmsh_node_count(int64_t type);

/* Fails because the file ends within `what` ("nodes", "elements"). */
bool lmi_gmsh_fail_short(tets_reader *reader, const char *what, uint64_t count);

/* Whole numbers of either kind of file; in a binary one of `size` bytes, 4 or 8. */
bool lmi_gmsh_whole(tets_reader *reader, bool binary, uint32_t size, const char *what, int64_t *value);

/* The same, not negative. */
bool lmi_gmsh_count(tets_reader *reader, bool binary, uint32_t size, const char *what, uint64_t *value);

/* Past the end of the line on which a word stands, to where binary numbers begin. */
void lmi_gmsh_to_next_line(tets_reader *reader);

/* gmsh4_read.c: the sections of version 4.0 or 4.1, behind their names. */
bool lmi_gmsh4_read_nodes(tets_reader *reader, bool binary, int minor);
bool lmi_gmsh4_read_elements(tets_reader *reader, bool binary, int minor);

#endif
