/*
 * Rigs from glTF files: the joints of a skin as rigid bones, which vertices follow them, and animations that move them.
 *
 * The first node that has a mesh and a skin counts. Bones are rigid: scales in the tree of joints move the joints below them,
 * and are otherwise left out. Positions are in the file's own space, as the mesh reader puts the skinned mesh there.
 */
#ifndef LIMBER_RIG_H
#define LIMBER_RIG_H

#include "limber/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LM_RIG_NONE UINT32_MAX

typedef struct lm_rig_pose {
    double position[3];
    double rotation[4]; /* a unit quaternion, x y z w */
} lm_rig_pose;

typedef struct lm_rig_joint {
    uint32_t name;    /* where it begins in lm_rig_data.names; a joint without a name is "joint" and its number */
    uint32_t parent;  /* the joint above it, or LM_RIG_NONE */
    uint32_t node;    /* in lm_rig_data.nodes */
    lm_rig_pose rest; /* where the mesh is bound to it */
    double tail[3];   /* the middle of the joints below it; of the last one half as long as the bone before it */
} lm_rig_joint;

typedef enum lm_rig_path { LM_RIG_TRANSLATION, LM_RIG_ROTATION, LM_RIG_SCALE, LM_RIG_PATH_COUNT } lm_rig_path;
typedef enum lm_rig_interpolation { LM_RIG_LINEAR, LM_RIG_STEP, LM_RIG_CUBIC } lm_rig_interpolation;

/* How one part of a node's transform changes in an animation. */
typedef struct lm_rig_track {
    uint32_t animation, node;
    lm_rig_path path;
    lm_rig_interpolation interpolation;
    uint32_t count; /* of keys, at least 1 */
    double *times;  /* seconds, increasing */
    double *values; /* 3 or 4 for each key; with LM_RIG_CUBIC three times that: tangent before, value, tangent after */
} lm_rig_track;

/* A joint or what carries one. */
typedef struct lm_rig_node {
    uint32_t parent; /* an earlier node, or LM_RIG_NONE */
    double parts[LM_RIG_PATH_COUNT][4];
    bool is_matrix; /* it does not move, whatever an animation says, as the format wants it */
    double matrix[3][4];
} lm_rig_node;

typedef struct lm_rig_animation {
    uint32_t name;   /* as above; empty where it has none */
    double duration; /* when its last key is, seconds */
} lm_rig_animation;

typedef struct lm_rig_data {
    char *names; /* each with a closing zero byte */
    lm_rig_node *nodes;
    uint32_t node_count;
    lm_rig_joint *joints;
    uint32_t joint_count;
    lm_rig_animation *animations;
    uint32_t animation_count;
    lm_rig_track *tracks;
    uint32_t track_count;
    lm_vec3 *positions; /* of the skinned vertices */
    uint32_t *followed; /* four joints each */
    float *weights;     /* and their weights, at least 0 */
    uint32_t vertex_count;
} lm_rig_data;

/* Reads the rig of a file; a file of another format, or without a skin, has none: then joint_count is 0. To be freed with
 * lm_rig_free. False: *rig is empty, and *error says what is wrong and where. */
bool lm_rig_read(const char *path, lm_rig_data *rig, lm_mesh_error *error);

/* The same from memory, as lm_mesh_parse does it. */
bool lm_rig_parse(const char *name, const void *bytes, size_t size, lm_rig_data *rig, lm_mesh_error *error);
void lm_rig_free(lm_rig_data *rig);

const char *lm_rig_joint_name(const lm_rig_data *rig, uint32_t joint);

/* The animation of this name, or LM_RIG_NONE. */
uint32_t lm_rig_find_animation(const lm_rig_data *rig, const char *name);

/* Where the joints are at a time of an animation (LM_RIG_NONE: as the file has them), one pose for each. Before its first and
 * after its last key a track keeps still. False when out of memory. */
bool lm_rig_sample(const lm_rig_data *rig, uint32_t animation, double time, lm_rig_pose *poses);

#ifdef __cplusplus
}
#endif

#endif
