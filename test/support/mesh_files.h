/*
 * Mesh files made in memory, for the tests of the readers: one small writer for each format, with the choices that the
 * format leaves. They share nothing with the readers but numbers as text. And what such tests assert.
 */
#ifndef LIMBER_TEST_MESH_FILES_H
#define LIMBER_TEST_MESH_FILES_H

#include "limber/limber.h"
#include "limber/mesh.h"
#include "support/text.h"

typedef struct plain_mesh {
    const lm_vec3 *positions;
    const uint8_t *colours; /* sRGB; may be null */
    uint32_t vertex_count;
    const uint32_t *triangles;
    uint32_t triangle_count;
} plain_mesh;

/* A unit cube of eight vertices and twelve triangles, with a colour for each vertex. */
plain_mesh plain_cube(void);

void make_obj(text_buffer *file, const plain_mesh *mesh);

typedef struct ply_style {
    enum { PLY_TEXT, PLY_LITTLE_ENDIAN, PLY_BIG_ENDIAN } encoding;
    const char *position_type; /* "float", "double"; null: float */
    const char *colour_type;   /* "uchar", "float", "ushort"; null: uchar */
    const char *count_type;    /* of the lists; null: uchar */
    const char *index_type;    /* null: int */
    bool extras;               /* elements and properties that no reader knows, before, between and after ours */
    bool faces_first;
    const char *line_end; /* of the header; null: "\n" */
} ply_style;

void make_ply(text_buffer *file, const plain_mesh *mesh, ply_style style);

void make_stl_text(text_buffer *file, const plain_mesh *mesh, const char *name);

/* `header` fills the first bytes of the 80. */
void make_stl_binary(text_buffer *file, const plain_mesh *mesh, const char *header);

typedef struct gltf_style {
    bool binary;           /* .glb; else .gltf with the buffer in base64, or in the file `uri` */
    const char *uri;       /* null: base64 */
    int index_type;        /* 5121, 5123 or 5125; 0: 5125 */
    int colour_type;       /* 5121, 5123 or 5126; 0: 5126 */
    int colour_components; /* 3 or 4; 0: 4 */
    bool interleaved;      /* positions and colours in turns, with a gap */
    const char *node;      /* further members of the node, as ",\"scale\":[2,2,2]"; null: none */
} gltf_style;

/* `buffer` gets the bytes of the buffer where they are not in the file; may be null otherwise. */
void make_gltf(text_buffer *file, text_buffer *buffer, const plain_mesh *mesh, gltf_style style);

/* A .glb file of a text and a buffer; the buffer may be null. */
void make_glb(text_buffer *file, const char *json, const text_buffer *buffer);

/* Numbers as little-endian bytes. */
void add_u16(text_buffer *bytes, uint32_t value);
void add_u32(text_buffer *bytes, uint32_t value);
void add_float(text_buffer *bytes, float value);
void add_base64(text_buffer *text, const void *bytes, size_t size);

/* What a colour in sRGB is in linear light. */
double linear_of(uint8_t srgb);

/* ---- assertions; each frees the file's bytes ---- */

/* The mesh as it is in the file, not welded. */
lm_mesh_data assert_reads(const char *name, text_buffer *file);

/* Reading fails with this message. */
void assert_refused(const char *name, text_buffer *file, const char *expected);
void assert_text_refused(const char *name, const char *text, const char *expected);

/* The file holds the triangles of `mesh` in their order, each corner at the same place to the last bit, and colours
 * within `colour_error` of 255. */
void assert_holds(const char *name, text_buffer *file, const plain_mesh *mesh, int colour_error);

/* Bytes that may be anything: an error of one line that begins with the name, or a mesh that is what mesh.h promises. */
void assert_survives(const char *name, const void *bytes, size_t size);

#endif
