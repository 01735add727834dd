/*
 * Wavefront OBJ: the plainest mesh format, readable by every modelling program.
 *
 * Written: objects with names, positions, normals, colours (three more numbers after a position, as many programs read
 * them) and triangles; numbers with the fewest digits that read back as the
 * same float. Read: positions and faces; everything else (texture coordinates, normals, groups, materials, curves) is
 * passed over. Neither depends on the host's locale. Axes are kept as they are.
 */
#ifndef LIMBER_IO_OBJ_H
#define LIMBER_IO_OBJ_H

#include "limber/limber.h"

#define OBJ_ERROR_SIZE 512
#define OBJ_MAX_BYTES (1u << 30)     /* of a file */
#define OBJ_MAX_TRIANGLES (1u << 28) /* of a mesh; vertices up to LM_MAX_PARTICLES */

/* One line: "FILE:LINE: what is wrong", without the line number where it is the file itself. */
typedef struct obj_error {
    char text[OBJ_ERROR_SIZE];
} obj_error;

/* ------------------------------------------------------------------------------------------------------------------
 * Writing
 */

typedef struct obj_object {
    const char *name; /* spaces and control characters are written as '_' */
    const lm_vec3 *positions;
    const lm_vec3 *normals; /* one for each position; may be null */
    const uint8_t *colours; /* red, green and blue (sRGB) for each position; may be null */
    uint32_t vertex_count;
    const uint32_t *triangles; /* three indices into positions each */
    uint32_t triangle_count;
} obj_object;

/* Writes the objects into a file. It is written beside its place (PATH.tmp) and then renamed, so that a file under
 * PATH is always whole. Refuses values that are not finite and indices out of range. False: nothing was changed under
 * PATH, and *error says why. */
bool obj_write(const char *path, const obj_object *objects, uint32_t object_count, obj_error *error);

/* The shortest decimal number that reads back as the same float, as "-0.125" or "1.5e-07", with a closing zero byte.
 * Returns its length. The value must be finite. */
#define OBJ_NUMBER_SIZE 24
size_t obj_format_number(float value, char text[OBJ_NUMBER_SIZE]);

/* ------------------------------------------------------------------------------------------------------------------
 * Reading
 */

typedef struct obj_mesh {
    lm_vec3 *positions;
    uint32_t vertex_count;
    uint32_t *triangles; /* three indices each; polygons are divided into triangles */
    uint32_t triangle_count;
} obj_mesh;

/* All objects of a file as one mesh, to be freed with obj_mesh_free. A face may name only vertices above it. A file
 * without a single vertex is refused: it is something else. False: *mesh is empty, and *error says why and where. */
bool obj_read(const char *path, obj_mesh *mesh, obj_error *error);

/* The same from memory; `name` stands for the file in messages. */
bool obj_parse(const char *name, const char *bytes, size_t size, obj_mesh *mesh, obj_error *error);

void obj_mesh_free(obj_mesh *mesh);

#endif
