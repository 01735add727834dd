/*
 * glTF 2.0 as its reader sees it: the tree of the JSON part with its lists at hand, and the buffers beside it.
 *
 *   lmi_gltf_read.c      the container (.gltf or .glb), scenes, nodes and their transforms
 *   gltf_mesh.c      primitives: attributes, indices, colours
 *   lmi_gltf_morph.c     morph targets
 *   gltf_accessor.c  buffers, views and accessors: numbers out of bytes
 *   gltf_rig.c       skins: joints, inverse bind matrices, weights (rig.h)
 *   gltf_animation.c animations of nodes
 *   gltf_cache.c     the motion of all vertices (cache.h)
 *
 * Every index, offset, length and count in the file is checked before it is used. Sums and products of them cannot
 * overflow: each is below 2^32.
 */
#ifndef LIMBER_IO_GLTF_H
#define LIMBER_IO_GLTF_H

#include "io/json.h"
#include "io/mesh_reader.h"

/* A file may place one mesh many times. Small files may make this many vertices and triangles, large ones as many as
 * they have bytes. */
#define GLTF_LEAST_ALLOWANCE (4u << 20)

typedef struct gltf_list {
    const json_value **items; /* objects */
    uint32_t count;
    const char *name; /* of one of them, in messages: "accessor" */
} gltf_list;

typedef struct gltf_buffer {
    const unsigned char *bytes; /* null until it is needed */
    uint64_t size;
    void *memory; /* to be freed; null when the bytes are part of the file */
} gltf_buffer;

typedef struct gltf_matrix {
    double m[3][4]; /* rows; the fourth row is 0 0 0 1 */
} gltf_matrix;

typedef struct gltf_file {
    mesh_reader *reader;
    bool (*use)(struct gltf_file *file, const json_value *root); /* what is done with it once its lists are found */
    void *user;
    json_document *document;
    bool has_lines; /* a text, in which messages name lines */
    gltf_list accessors, buffer_views, buffers, materials, meshes, nodes, scenes, skins, animations;
    gltf_buffer *loaded;         /* one for each buffer */
    const unsigned char *binary; /* the binary chunk of a .glb file; null: none */
    uint64_t binary_size;
    uint64_t total_size;         /* of the file and the buffers loaded so far */
    uint64_t work;               /* vertices and indices decoded so far */
    bool found_target;           /* a mesh has the morph target that the reader wants */
    bool keeps_origins;          /* `origins` is wanted: */
    struct gltf_origin *origins; /* for each vertex of the reader's mesh */
    size_t origin_capacity;
    uint32_t node; /* whose mesh is being added */
} gltf_file;

/* Where a vertex came from. */
typedef struct gltf_origin {
    const json_value *primitive;
    uint32_t node, mesh, vertex; /* node: its number in the file */
} gltf_origin;

/* The numbers of an accessor, `components` for each of `count` elements. */
typedef struct gltf_array {
    double *values;
    uint32_t count, components;
    bool whole; /* whole numbers, as they are in the file */
} gltf_array;

/* The parts of a node's transform, as they are or as they stand in its matrix. */
typedef struct gltf_parts {
    double translation[3], rotation[4], scale[3]; /* a unit quaternion */
    bool is_matrix;                               /* then only this counts: */
    gltf_matrix matrix;
} gltf_parts;

bool lmi_gltf_read_parts(gltf_file *file, uint32_t node, gltf_parts *parts);
gltf_matrix lmi_gltf_from_parts(const gltf_parts *parts);
gltf_matrix lmi_gltf_multiply(const gltf_matrix *a, const gltf_matrix *b);
extern const gltf_matrix lmi_gltf_identity;

/* Reads the container and calls file->use, of which it returns the result. */
bool lmi_gltf_open(gltf_file *file);

/* Fills the error, with the line of `where` in a text; returns false. `where` may be null. */
bool lmi_gltf_fail(gltf_file *file, const json_value *where, const char *format, ...) LIKE_PRINTF(3, 4);

/* A member of `object` (the `index`-th of `list`) as a whole number below `limit`. When it is missing it is `fallback`,
 * and an error when that is GLTF_REQUIRED. */
#define GLTF_REQUIRED UINT64_MAX
#define GLTF_NONE (UINT64_MAX - 1) /* a fallback that is no number of anything */
bool lmi_gltf_take_number(gltf_file *file, const gltf_list *list, uint64_t index, const json_value *object,
                          const char *key, uint64_t limit, uint64_t fallback, uint64_t *number);

/* All numbers of an accessor; array->values is to be freed, after a failure too. */
bool lmi_gltf_read_accessor(gltf_file *file, uint64_t index, gltf_array *array);

/* Frees what was loaded for buffers. */
void lmi_gltf_free_buffers(gltf_file *file);

/* lmi_gltf_morph.c: moves the positions of a primitive of mesh `index` to where the morph target that the reader wants puts them,
 * if it wants one and the mesh has it. */
bool lmi_gltf_morph(gltf_file *file, uint64_t index, uint64_t number, const json_value *primitive,
                    gltf_array *positions);

/* After everything was read: that some mesh had the target. */
bool lmi_gltf_check_target(gltf_file *file);

/* Adds all meshes of the scene that the file shows. */
bool lmi_gltf_add_scene(gltf_file *file, const json_value *root);

/* Adds the triangles of mesh `index` where `place` puts them. */
bool lmi_gltf_add_mesh(gltf_file *file, uint64_t index, const gltf_matrix *place);

#endif
