/* Mesh files in the place of scenes. */
#ifndef LIMBER_SCENE_FROM_MESH_H
#define LIMBER_SCENE_FROM_MESH_H

#include "limber/scene.h"

/* A scene in which the mesh falls on a floor. Null and *error on failure. */
lm_scene *lmi_scene_open_mesh(const char *path, const char *const *sets, uint32_t set_count, lm_scene_error *error);

#endif
