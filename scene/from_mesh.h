/* Mesh files in the place of scenes. */
#ifndef LIMBER_SCENE_FROM_MESH_H
#define LIMBER_SCENE_FROM_MESH_H

#include "scene/scene.h"

/* A scene in which the mesh falls on a floor. Null and *error on failure. */
scene *scene_open_mesh(const char *path, const char *const *sets, uint32_t set_count, scene_error *error);

#endif
