/* A JSON tree becomes the structures of format.h, checked against the table. */
#ifndef LIMBER_SCENE_READ_H
#define LIMBER_SCENE_READ_H

#include "scene/format.h"
#include "scene/scene.h"

/* Memory comes from the document. `file` is the name that errors begin with. Null and *error on failure. */
scene_file *read_scene(json_document *document, const json_value *root, const char *file, scene_error *error);

#endif
