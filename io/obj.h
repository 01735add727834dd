/* The halves of lm_mesh_write_obj (mesh.h), for exporters that write to streams of their own; and numbers as text. */
#ifndef LIMBER_IO_OBJ_H
#define LIMBER_IO_OBJ_H

#include "limber/mesh.h"

#include <stdio.h>

/* How the objects are laid out; 0: Y up, an object for each. */
typedef enum obj_layout {
    OBJ_Z_UP = 1 << 0,    /* says that Z points up in place of Y */
    OBJ_ONE_MESH = 1 << 1 /* a group for each in one object, so that programs keep all vertices in order */
} obj_layout;

/* The text of objects that are sound. Whether it could be written is known by the stream. */
void lmi_obj_print(FILE *file, const lm_mesh_object *objects, uint32_t object_count, unsigned layout);

/* The shortest decimal number that reads back as the same float, as "-0.125" or "1.5e-07", with a closing zero byte.
 * Returns its length. The value must be finite. */
#define OBJ_NUMBER_SIZE 24
size_t lmi_obj_format_number(float value, char text[OBJ_NUMBER_SIZE]);

#endif
