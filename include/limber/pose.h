/*
 * Poses from files: where the vertices of a mesh are in another shape of it. A pose is
 *
 *   - a second mesh of any format, with the same vertices in the same order;
 *   - a morph target of a glTF file;
 *   - a frame of a point cache, MDD or PC2.
 *
 * The vertices are those of the file, none of them welded, so that they can be matched with those of the mesh that the pose is
 * one of, one by one (lm_mesh_data.sources says which of them a welded vertex came from).
 */
#ifndef LIMBER_POSE_H
#define LIMBER_POSE_H

#include "limber/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lm_pose_options {
    const char *target; /* of a glTF file: the name of a morph target, or its number from 0; null: none */
    bool has_frame;     /* `frame` was asked for: another file than a point cache is refused */
    uint32_t frame;     /* of a point cache, from 0 */
    bool z_up;          /* the file's Z points up: turned so that Y does */
} lm_pose_options;

typedef struct lm_pose_data {
    lm_vec3 *positions; /* finite, each coordinate within LM_MAX_COORDINATE */
    uint32_t vertex_count;
} lm_pose_data;

/* Reads a pose; to be freed with lm_pose_free. A point cache is known by the ending of its name, .mdd or .pc2, or by how it
 * begins. False: *pose is empty, and *error says what is wrong and where, in one line. */
bool lm_pose_read(const char *path, const lm_pose_options *options, lm_pose_data *pose, lm_mesh_error *error);

/* The same from memory; `name` stands for the file in messages. */
bool lm_pose_parse(const char *name, const void *bytes, size_t size, const lm_pose_options *options, lm_pose_data *pose,
                   lm_mesh_error *error);

void lm_pose_free(lm_pose_data *pose);

#ifdef __cplusplus
}
#endif

#endif
