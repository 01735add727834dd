/*
 * Triangle meshes from files of any format: OBJ, PLY, STL, glTF 2.0 and GLB by Limber's own readers, the surfaces of
 * tetrahedral meshes (tets.h), and others through assimp where the build found it. docs/meshes.md says what is read of each.
 *
 * A reader takes nothing on trust: it allocates what the bytes of the file can fill, never what a header announces, and
 * it depends neither on the host's locale nor on its byte order. Faces are kept as they are, degenerate and duplicate
 * ones among them (lm_mesh_inspect counts those); polygons are divided into triangles.
 */
#ifndef LIMBER_MESH_H
#define LIMBER_MESH_H

#include "limber/limber.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LM_MESH_MAX_BYTES (1u << 30)     /* of a file, and of all buffers a glTF file names together */
#define LM_MESH_MAX_TRIANGLES (1u << 28) /* of a mesh; vertices up to LM_MAX_PARTICLES */
#define LM_MESH_ERROR_SIZE 512
#define LM_MESH_FORMAT_SIZE 40

/* One line: "FILE:LINE: what is wrong", without the line number where the file has no lines. */
typedef struct lm_mesh_error {
    char text[LM_MESH_ERROR_SIZE];
} lm_mesh_error;

/* A run of triangles that has a name in the file: an object or group (OBJ), a solid (STL), a node (glTF). */
typedef struct lm_mesh_part {
    uint32_t name; /* where it begins in lm_mesh_data.names */
    uint32_t first_triangle;
    uint32_t triangle_count;
} lm_mesh_part;

typedef struct lm_mesh_data {
    char format[LM_MESH_FORMAT_SIZE]; /* "PLY, binary (big endian)" */
    lm_vec3 *positions;               /* finite, each coordinate within LM_MAX_COORDINATE */
    lm_vec3 *normals;                 /* one for each position, of length 1 or 0; null when the file has none */
    uint8_t *colours;                 /* red, green and blue (sRGB) for each position; null when the file has none */
    uint32_t vertex_count;
    uint32_t *triangles; /* three vertices each, all below vertex_count */
    uint32_t triangle_count;
    float *
        uvs; /* two for each corner of each triangle, v upwards; null when the file has none, or is neither OBJ nor glTF */
    lm_mesh_part *parts; /* in the order of their triangles; triangles without a name are in none */
    uint32_t part_count;
    char *names;       /* each with a closing zero byte */
    uint32_t welded;   /* vertices that were joined with one before them */
    uint32_t *sources; /* for each vertex, which of the file's it is; null when all of them are as in the file */
} lm_mesh_data;

typedef struct lm_mesh_options {
    /* Vertices at most this far from an earlier one become that one, metres. 0: only those at the very same place
     * (-0 is 0). Negative: none, the vertices stay as they are in the file. */
    float weld;
    bool z_up;    /* the file's Z points up: turned so that Y does */
    bool surface; /* for a body: a mesh without a triangle that has an area is refused */
    /* A glTF file is read in the shape of this morph target: its name, or its number from 0. Null: as it is stored. */
    const char *target;
} lm_mesh_options;

/* Reads a file, whose format is found from its contents, and from the ending of its name where they do not tell. To be
 * freed with lm_mesh_free. `options` may be null: all zero. False: *mesh is empty, and *error says what is wrong and where. */
bool lm_mesh_read(const char *path, const lm_mesh_options *options, lm_mesh_data *mesh, lm_mesh_error *error);

/* The same from memory; `name` stands for the file in messages, and its ending counts as that of a file. A glTF file
 * that names other files is refused. */
bool lm_mesh_parse(const char *name, const void *bytes, size_t size, const lm_mesh_options *options, lm_mesh_data *mesh,
                   lm_mesh_error *error);

void lm_mesh_free(lm_mesh_data *mesh);

/* Whether the ending of the name is that of a mesh file, of one this build cannot read too. */
bool lm_mesh_is_name(const char *path);

/* What a body is made from the mesh. */
typedef enum lm_mesh_kind {
    LM_MESH_POINTS, /* its vertices are the particles, in one region unless lm_body_def.clusters says otherwise */
    LM_MESH_LATTICE,
    LM_MESH_OCTREE,
    LM_MESH_TETS,
    LM_MESH_KIND_COUNT
} lm_mesh_kind;

/* Points a definition at the mesh, and that of a skin (may be null) too. `particles` are wanted: 0 leaves the number to
 * the definition (of a lattice and of tets it must be given there then). Nothing is copied: the mesh must live until
 * lm_body_create and lm_body_set_skin have returned.
 *
 *     lm_body_def def = lm_body_def_default();
 *     if (!lm_mesh_read("duck.obj", NULL, &mesh, &error)) puts(error.text);
 *     lm_mesh_use(&mesh, LM_MESH_LATTICE, 1000, &def, NULL);
 */
void lm_mesh_use(const lm_mesh_data *mesh, lm_mesh_kind kind, uint32_t particles, lm_body_def *def, lm_skin_def *skin);

/* Joins vertices as lm_mesh_options.weld says (not negative). In the order of the vertices, so that the result depends on
 * nothing else: a vertex joins the first of the kept ones in reach, or is kept itself. A joined vertex has the place and
 * the colour of the one kept, and the mean of all their normals. Vertices in no triangle are kept too. LM_ERROR_MEMORY
 * leaves the mesh as it was. */
lm_result lm_mesh_weld(lm_mesh_data *mesh, float tolerance);

/* What a triangle mesh contains, and what is wrong with it. */
typedef struct lm_mesh_report {
    uint32_t vertices, triangles;
    uint32_t parts;               /* sets of triangles joined by vertices */
    uint32_t unused_vertices;     /* in no triangle */
    uint32_t coincident_vertices; /* at the very place of another: seams that were not welded */
    uint32_t degenerate_faces;    /* two corners are one vertex, or the three lie on a line */
    uint32_t duplicate_faces;     /* the same three vertices as another, either way round */
    uint32_t open_edges;          /* in one triangle only */
    uint32_t nonmanifold_edges;   /* in three triangles or more */
    uint32_t flipped_edges;       /* in two triangles that turn opposite ways */
    lm_vec3 lower, upper;         /* bounding box of all vertices; zero without vertices */
    double area;                  /* square metres */
    double volume;                /* cubic metres, negative when inside out; 0 unless closed */
    bool closed;                  /* no open, non-manifold or flipped edges, and at least one triangle */
} lm_mesh_report;

/* Examines a mesh from anywhere. Triangles whose corners are not three different vertices count as degenerate and have no edges.
 * LM_ERROR_ARGUMENT for an index out of range, a position that is not finite or an array that is missing, LM_ERROR_LIMIT for more than
 * 2^31 vertices, LM_ERROR_MEMORY. */
lm_result lm_mesh_inspect(const lm_vec3 *positions, uint32_t vertex_count, const uint32_t *triangles,
                          uint32_t triangle_count, lm_mesh_report *report);

/* One object of a file that is written. */
typedef struct lm_mesh_object {
    const char *name; /* spaces and control characters are written as '_' */
    const lm_vec3 *positions;
    const lm_vec3 *normals; /* one for each position; may be null */
    const uint8_t *colours; /* red, green and blue (sRGB) for each position; may be null */
    const float *uvs;       /* texture coordinates, two for each position, v upwards; may be null */
    uint32_t vertex_count;
    const uint32_t *triangles; /* three indices into positions each */
    uint32_t triangle_count;
} lm_mesh_object;

/* Writes the objects as Wavefront OBJ, the plainest format, readable by every modelling program: names, positions, normals, colours
 * (three more numbers after a position, as many programs read them) and triangles; numbers with the fewest digits that read back as
 * the same float, whatever the host's locale. The file is whole or not there. Values that are not finite, indices out of range and
 * arrays that are missing are refused. False: nothing was changed under `path`, and *error says why. (export.h writes motion.) */
bool lm_mesh_write_obj(const char *path, const lm_mesh_object *objects, uint32_t object_count, lm_mesh_error *error);

#ifdef __cplusplus
}
#endif

#endif
