/*
 * Writing Wavefront OBJ, the plainest mesh format, readable by every modelling program: objects with names, positions,
 * normals, colours (three more numbers after a position, as many programs read them) and triangles; numbers with the
 * fewest digits that read back as the same float, whatever the host's locale. (mesh.h reads it, among others.)
 */
#ifndef LIMBER_IO_OBJ_H
#define LIMBER_IO_OBJ_H

#include "io/partial.h"
#include "limber/limber.h"

#include <stdio.h>

#define OBJ_ERROR_SIZE PARTIAL_ERROR_SIZE

/* One line: "FILE: what is wrong". */
typedef struct obj_error {
    char text[OBJ_ERROR_SIZE];
} obj_error;

typedef struct obj_object {
    const char *name; /* spaces and control characters are written as '_' */
    const lm_vec3 *positions;
    const lm_vec3 *normals; /* one for each position; may be null */
    const uint8_t *colours; /* red, green and blue (sRGB) for each position; may be null */
    const float *uvs;       /* texture coordinates, two for each position, v upwards; may be null */
    uint32_t vertex_count;
    const uint32_t *triangles; /* three indices into positions each */
    uint32_t triangle_count;
} obj_object;

/* How the objects are laid out; 0: Y up, an object for each. */
typedef enum obj_layout {
    OBJ_Z_UP = 1 << 0,    /* says that Z points up in place of Y */
    OBJ_ONE_MESH = 1 << 1 /* a group for each in one object, so that programs keep all vertices in order */
} obj_layout;

/* Writes the objects into a file, which is whole or not there (partial.h). Refuses values that are not finite and indices out of
 * range. False: nothing was changed under PATH, and *error says why. */
bool lmi_obj_write(const char *path, const obj_object *objects, uint32_t object_count, obj_error *error);

/* The two halves of it: what is refused (`path` is for the message), and the text of objects that are sound. Whether it could be
 * written is known by the stream. */
bool lmi_obj_check(const char *path, const obj_object *objects, uint32_t object_count, obj_error *error);
void lmi_obj_print(FILE *file, const obj_object *objects, uint32_t object_count, unsigned layout);

/* The shortest decimal number that reads back as the same float, as "-0.125" or "1.5e-07", with a closing zero byte.
 * Returns its length. The value must be finite. */
#define OBJ_NUMBER_SIZE 24
size_t lmi_obj_format_number(float value, char text[OBJ_NUMBER_SIZE]);

#endif
