/*
 * What the mesh readers share: the mesh that grows while a file is read, messages, and words of text.
 */
#ifndef LIMBER_IO_MESH_READER_H
#define LIMBER_IO_MESH_READER_H

#include "limber/mesh.h"
#include "support/text.h"

typedef struct mesh_reader {
    const char *name;        /* of the file, in messages */
    const char *path;        /* of the file, for files beside it; null: it may name none */
    const char *bytes, *end; /* of the whole file */
    const char *at;          /* text readers: what comes next */
    uint64_t line;           /* of `at`, from 1; 0: the format has no lines */
    lm_mesh_data mesh;
    size_t vertex_capacity, normal_capacity, colour_capacity; /* in elements, of the arrays of `mesh` */
    size_t triangle_capacity, part_capacity, name_capacity;
    size_t name_size;
    uint32_t *corners; /* of the face being read */
    size_t corner_capacity;
    float *textures; /* OBJ: texture coordinates so far, two each */
    size_t texture_count, texture_capacity;
    uint32_t *corner_textures; /* which of them the corners have, or UINT32_MAX */
    size_t corner_texture_capacity;
    size_t uv_capacity;
    uint32_t uv_triangles; /* that have texture coordinates, if only 0 */
    const char *target;    /* glTF: the morph target whose shape is read; null: none */
    lm_mesh_error *error;
} mesh_reader;

/* ---- one function for each format; they leave what they have read in reader->mesh ---- */

bool lmi_obj_read(mesh_reader *reader);
bool lmi_ply_read(mesh_reader *reader);
bool lmi_stl_read(mesh_reader *reader);
bool lmi_off_read(mesh_reader *reader);
bool lmi_gltf_read(mesh_reader *reader);
bool lmi_assimp_read(mesh_reader *reader);       /* `path` may be null: then from the bytes */
bool lmi_tets_surface_read(mesh_reader *reader); /* the surface of tetrahedra (tets.h) */

/* Whether a file is a binary STL file: its size is what its count of triangles asks for. */
bool lmi_stl_is_binary(const char *bytes, size_t size);

/* As lm_mesh_parse, of a file that lies at `path`; null: it may name no others. */
bool lmi_mesh_parse_at(const char *name, const char *path, const char *bytes, size_t size,
                       const lm_mesh_options *options, lm_mesh_data *mesh, lm_mesh_error *error);

/* Whether a name ends with a point and `ending`, which is in lower case. */
bool lmi_mesh_has_ending(const char *name, const char *ending);

/* All bytes of a file, which need not have a size (a pipe), to be freed. Null: *reason says why. */
char *lmi_mesh_load(const char *path, size_t *size, const char **reason);

/* ---- messages ---- */

/* Fills the error with "FILE:LINE: " (or "FILE: ") and the text; returns false. */
bool lmi_mesh_reader_fail(mesh_reader *reader, const char *format, ...) LIKE_PRINTF(2, 3);
bool lmi_mesh_reader_out_of_memory(mesh_reader *reader);

/* How much of a word to show in a message. */
int lmi_mesh_reader_shown(size_t length);

/* ---- the mesh ---- */

/* The array with room for `needed` elements of `size` bytes; it at least doubles. Null when that is not to be had: then
 * it stays as it was. */
void *lmi_mesh_grow(void *array, size_t *capacity, uint64_t needed, size_t size);

/* Room for so many more vertices; what follows then cannot fail for want of memory. */
bool lmi_mesh_reader_reserve(mesh_reader *reader, uint64_t vertices, bool normals, bool colours);

/* Adds a vertex at the end: white, without a normal. Refuses what is not finite or beyond LM_MAX_COORDINATE. */
bool lmi_mesh_reader_add_vertex(mesh_reader *reader, lm_vec3 position);

/* Of the last vertex that was added. The vertices before the first that has one are white, or have the normal 0. */
bool lmi_mesh_reader_set_normal(mesh_reader *reader, lm_vec3 normal);
bool lmi_mesh_reader_set_colour(mesh_reader *reader, const uint8_t colour[3]);

/* Room for so many more triangles, three indices each, which the caller writes; null after a failure. */
uint32_t *lmi_mesh_reader_add_triangles(mesh_reader *reader, uint64_t count);

/* Texture coordinates of the triangles from `first` on, six numbers each, which the caller writes; those before it that had none are 0.
 * Null after a failure. */
float *lmi_mesh_reader_uvs(mesh_reader *reader, uint32_t first);

/* Room in reader->corners for so many corners of a face. */
bool lmi_mesh_reader_reserve_corners(mesh_reader *reader, uint64_t count);

/* The face with the first `count` of reader->corners, all below the count of vertices, as triangles. */
bool lmi_mesh_reader_add_face(mesh_reader *reader, uint32_t count);

/* The triangles from here on have this name, or none when it is empty. */
bool lmi_mesh_reader_begin_part(mesh_reader *reader, const char *name, size_t length);

/* The last part ends with the triangles there are. */
void lmi_mesh_reader_end_part(mesh_reader *reader);

/* The nearest byte for a colour from 0 to 1; outside it is cut off. */
uint8_t lmi_mesh_colour_byte(double value);

/* ---- words of text between blanks and line ends ---- */

/* The next word, moving past it; length 0 at the end of the file. Counts lines. */
size_t lmi_mesh_reader_word(mesh_reader *reader, const char **word);

/* The rest of the line without blanks at its ends, moving to its end. */
size_t lmi_mesh_reader_rest_of_line(mesh_reader *reader, const char **rest);

/* A word as a coordinate: a number within LM_MAX_COORDINATE. */
bool lmi_mesh_reader_coordinate(mesh_reader *reader, const char *word, size_t length, float *value);

#endif
