/*
 * Poses from files: where the vertices of a mesh are in another shape of it. A pose is
 *
 *   - a second mesh of any format, with the same vertices in the same order;
 *   - a morph target of a glTF file;
 *   - a frame of a point cache, MDD or PC2.
 *
 * The vertices are those of the file, none of them welded, so that they can be matched with those of the mesh that the pose is
 * one of, one by one (mesh_data.sources says which of them a welded vertex came from).
 */
#ifndef LIMBER_IO_POSE_H
#define LIMBER_IO_POSE_H

#include "io/mesh.h"

typedef struct pose_options {
    const char *target; /* of a glTF file: the name of a morph target, or its number from 0; null: none */
    bool has_frame;     /* `frame` was asked for: another file than a point cache is refused */
    uint32_t frame;     /* of a point cache, from 0 */
    bool z_up;          /* the file's Z points up: turned so that Y does */
} pose_options;

typedef struct pose_data {
    lm_vec3 *positions; /* finite, each coordinate within LM_MAX_COORDINATE */
    uint32_t vertex_count;
} pose_data;

/* Reads a pose; to be freed with pose_free. A point cache is known by the ending of its name, .mdd or .pc2, or by how it
 * begins. False: *pose is empty, and *error says what is wrong and where, in one line. */
bool pose_read(const char *path, const pose_options *options, pose_data *pose, mesh_error *error);

/* The same from memory; `name` stands for the file in messages. */
bool pose_parse(const char *name, const void *bytes, size_t size, const pose_options *options, pose_data *pose,
                mesh_error *error);

void pose_free(pose_data *pose);

#endif
