/*
 * What the readers of tetrahedral meshes share: nodes and tetrahedra with the numbers they have in the file, whole numbers
 * of text, and numbers of binary files.
 *
 * A reader adds nodes and tetrahedra as it comes upon them; that every tetrahedron's nodes exist, and all other checks, are
 * made once everything is read (tets_check.c).
 */
#ifndef LIMBER_IO_TETS_READER_H
#define LIMBER_IO_TETS_READER_H

#include "io/mesh_reader.h"
#include "limber/tets.h"

typedef struct tets_reader {
    mesh_reader file; /* name, bytes, words and messages; its mesh holds the positions of the nodes */
    uint64_t *node_tags;
    size_t node_tag_capacity;
    uint64_t *corner_tags; /* four for each tetrahedron */
    size_t corner_tag_capacity;
    uint64_t *tet_tags;
    size_t tet_tag_capacity;
    lm_tets_data data; /* tet_count, format and others while reading */
    bool big_endian;   /* of a binary file */
} tets_reader;

/* ---- one function for each format ---- */

bool lmi_netgen_read(tets_reader *reader);
bool lmi_medit_read(tets_reader *reader);
bool lmi_medit_binary_read(tets_reader *reader);
bool lmi_gmsh_read(tets_reader *reader);

/* Of the nodes; then of the tetrahedra, from another file. */
bool lmi_tetgen_read_nodes(tets_reader *reader);
bool lmi_tetgen_read_tets(tets_reader *reader);

/* Whether a file is a MEDIT one in binary, of either byte order. */
bool lmi_medit_is_binary(const char *bytes, size_t size);

/* ---- what is read ---- */

/* Both refuse a number that is no node's or element's, and more than there may be. */
bool lmi_tets_reader_add_node(tets_reader *reader, int64_t tag, const double at[3]);
bool lmi_tets_reader_add_tet(tets_reader *reader, int64_t tag, const int64_t corners[4]);

/* From numbers of the file to a sound mesh (tets_check.c). */
bool lmi_tets_reader_check(tets_reader *reader, const lm_tets_options *options);

/* ---- text ---- */

/* Reads a word that must be a whole number. `what` it is goes into the message: "node 7 of 12". */
bool lmi_tets_reader_whole(tets_reader *reader, const char *what, int64_t *value);

/* A count: whole and not negative. */
bool lmi_tets_reader_count(tets_reader *reader, const char *what, uint64_t *value);
bool lmi_tets_reader_real(tets_reader *reader, const char *what, double *value);

/* "WHAT N of COUNT", in a buffer of the caller. */
#define TETS_WHAT_SIZE 64
const char *lmi_tets_reader_what(char buffer[TETS_WHAT_SIZE], const char *what, uint64_t index, uint64_t count);

/* Whether the next word is this one, without moving. */
bool lmi_tets_reader_peek(const tets_reader *reader, const char *word);

/* Moves past the next word, which must be this one. */
bool lmi_tets_reader_expect(tets_reader *reader, const char *word);

/* ---- binary ---- */

/* Room for `count` things of `size` bytes each from here to the end of the file. */
bool lmi_tets_reader_has(const tets_reader *reader, uint64_t count, uint64_t size);

/* The next number; the caller has asked whether it is there. */
int32_t lmi_tets_reader_i32(tets_reader *reader);
int64_t lmi_tets_reader_i64(tets_reader *reader);
double lmi_tets_reader_f64(tets_reader *reader);
float lmi_tets_reader_f32(tets_reader *reader);

#endif
