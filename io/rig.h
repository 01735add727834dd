/*
 * Rigs from glTF files: the joints of a skin as rigid bones, which vertices follow them, and animations that move them.
 *
 * The first node that has a mesh and a skin counts. Bones are rigid: scales in the tree of joints move the joints below them,
 * and are otherwise left out. Positions are in the file's own space, as the mesh reader puts the skinned mesh there.
 */
#ifndef LIMBER_IO_RIG_H
#define LIMBER_IO_RIG_H

#include "io/mesh.h"

#define RIG_NONE UINT32_MAX

typedef struct rig_pose {
    double position[3];
    double rotation[4]; /* a unit quaternion, x y z w */
} rig_pose;

typedef struct rig_joint {
    uint32_t name;   /* where it begins in rig_data.names; a joint without a name is "joint" and its number */
    uint32_t parent; /* the joint above it, or RIG_NONE */
    uint32_t node;   /* in rig_data.nodes */
    rig_pose rest;   /* where the mesh is bound to it */
    double tail[3];  /* the middle of the joints below it; of the last one half as long as the bone before it */
} rig_joint;

typedef enum rig_path { RIG_TRANSLATION, RIG_ROTATION, RIG_SCALE, RIG_PATH_COUNT } rig_path;
typedef enum rig_interpolation { RIG_LINEAR, RIG_STEP, RIG_CUBIC } rig_interpolation;

/* How one part of a node's transform changes in an animation. */
typedef struct rig_track {
    uint32_t animation, node;
    rig_path path;
    rig_interpolation interpolation;
    uint32_t count; /* of keys, at least 1 */
    double *times;  /* seconds, increasing */
    double *values; /* 3 or 4 for each key; with RIG_CUBIC three times that: tangent before, value, tangent after */
} rig_track;

/* A joint or what carries one. */
typedef struct rig_node {
    uint32_t parent; /* an earlier node, or RIG_NONE */
    double parts[RIG_PATH_COUNT][4];
    bool is_matrix; /* it does not move, whatever an animation says, as the format wants it */
    double matrix[3][4];
} rig_node;

typedef struct rig_animation {
    uint32_t name;   /* as above; empty where it has none */
    double duration; /* when its last key is, seconds */
} rig_animation;

typedef struct rig_data {
    char *names; /* each with a closing zero byte */
    rig_node *nodes;
    uint32_t node_count;
    rig_joint *joints;
    uint32_t joint_count;
    rig_animation *animations;
    uint32_t animation_count;
    rig_track *tracks;
    uint32_t track_count;
    lm_vec3 *positions; /* of the skinned vertices */
    uint32_t *followed; /* four joints each */
    float *weights;     /* and their weights, at least 0 */
    uint32_t vertex_count;
} rig_data;

/* Reads the rig of a file; a file of another format, or without a skin, has none: then joint_count is 0. To be freed with
 * rig_free. False: *rig is empty, and *error says what is wrong and where. */
bool rig_read(const char *path, rig_data *rig, mesh_error *error);

/* The same from memory, as mesh_parse does it. */
bool rig_parse(const char *name, const void *bytes, size_t size, rig_data *rig, mesh_error *error);
void rig_free(rig_data *rig);

const char *rig_joint_name(const rig_data *rig, uint32_t joint);

/* The animation of this name, or RIG_NONE. */
uint32_t rig_find_animation(const rig_data *rig, const char *name);

/* Where the joints are at a time of an animation (RIG_NONE: as the file has them), one pose for each. Before its first and
 * after its last key a track keeps still. False when out of memory. */
bool rig_sample(const rig_data *rig, uint32_t animation, double time, rig_pose *poses);

#endif
