/* A JSON tree becomes the structures of format.h, checked against the table. */
#ifndef LIMBER_SCENE_READ_H
#define LIMBER_SCENE_READ_H

#include "limber/scene.h"
#include "scene/format.h"

/* Memory comes from the document. `file` is the name that errors begin with. Null and *error on failure. */
scene_file *lmi_read_scene(json_document *document, const json_value *root, const char *file, lm_scene_error *error);

#endif
