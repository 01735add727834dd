/*
 * Tetrahedral meshes from files: Netgen's neutral format, MEDIT (.mesh, .meshb), TetGen (.node with .ele) and Gmsh (.msh,
 * versions 2 and 4), text and binary. docs/meshes.md says what is read of each.
 *
 * As the readers of triangle meshes (mesh.h) these take nothing on trust: they allocate what the bytes of the file can fill,
 * never what a count announces, and depend neither on the host's locale nor on its byte order. Elements other than tetrahedra
 * are passed over; of quadratic tetrahedra only the corners are taken.
 */
#ifndef LIMBER_TETS_H
#define LIMBER_TETS_H

#include "limber/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LM_TETS_MAX (1u << 26) /* tetrahedra of a mesh; nodes up to LM_MAX_PARTICLES */

/* A tetrahedron with six volumes below this share of its longest edge cubed has none (as the engine sees it). */
#define LM_TETS_FLATTEST 1e-7

typedef struct lm_tets_options {
    bool z_up;   /* the file's Z points up: turned so that Y does */
    bool faulty; /* to look at: inverted and flat tetrahedra are counted instead of refused */
} lm_tets_options;

typedef struct lm_tets_data {
    char format[LM_MESH_FORMAT_SIZE]; /* "Gmsh 4.1, binary" */
    lm_vec3 *positions;               /* of nodes that are in a tetrahedron; finite, within LM_MAX_COORDINATE */
    uint32_t vertex_count;
    uint32_t *tets; /* four nodes each, corners 1, 2 and 3 counter-clockwise from outside */
    uint32_t tet_count;
    uint32_t *triangles; /* the faces that belong to one tetrahedron: the surface, counter-clockwise from outside */
    uint32_t triangle_count;
    double volume; /* of all tetrahedra */

    bool turned;       /* in the file every tetrahedron was the other way round */
    uint32_t dropped;  /* nodes that were in no tetrahedron, and left out */
    uint32_t repeated; /* tetrahedra that were there before, and left out (Gmsh 2 writes one for each physical group) */
    uint64_t others;   /* elements that are no tetrahedra */
    uint32_t crowded;  /* faces of three tetrahedra or more: some of them overlap */
    uint32_t flat;     /* tetrahedra without volume (LM_TETS_FLATTEST), left out unless lm_tets_options.faulty */
    uint32_t inverted; /* with lm_tets_options.faulty: how many */
    uint64_t first_inverted_tag, first_flat_tag; /* and their numbers in the file */
} lm_tets_data;

/* Reads a file, whose format is found from its contents and the ending of its name; of a TetGen mesh either of the two
 * files, the other lies beside it. To be freed with lm_tets_free. `options` may be null: all false. False: *tets is empty, and
 * *error says in one line what is wrong and where: file and line, node or tetrahedron, by their numbers in the file. */
bool lm_tets_read(const char *path, const lm_tets_options *options, lm_tets_data *tets, lm_mesh_error *error);

typedef struct lm_tets_bytes {
    const void *bytes;
    size_t size;
} lm_tets_bytes;

/* The same from memory; `name` stands for the file in messages, and its ending counts as that of a file. `tetgen_tets`: the
 * .ele file that goes with a .node file, else null. */
bool lm_tets_parse(const char *name, lm_tets_bytes file, const lm_tets_bytes *tetgen_tets,
                   const lm_tets_options *options, lm_tets_data *tets, lm_mesh_error *error);

void lm_tets_free(lm_tets_data *tets);

/* Whether the ending of the name is that of such a file. */
bool lm_tets_is_name(const char *path);

/* The faces that belong to one tetrahedron, as lm_tets_data.triangles, to be freed; null when out of memory. `crowded` gets the
 * number of faces that belong to three or more. */
uint32_t *lm_tets_surface(const uint32_t *tets, uint32_t tet_count, uint32_t *triangle_count, uint32_t *crowded);

#ifdef __cplusplus
}
#endif

#endif
