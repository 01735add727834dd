/*
 * The bones of an entry: where they are at rest, what carries them, and how they move. Worked out once, when its first body is
 * made, and kept in the scene's memory.
 */
#ifndef LIMBER_SCENE_RIG_H
#define LIMBER_SCENE_RIG_H

#include "limber/rig.h"
#include "scene/model.h"

#define RIG_NO_PARENT UINT32_MAX

/* The rig of a mesh's file: how its space becomes that of the body, and what moves it. */
typedef struct rig_of_file {
    lm_rig_data data; /* the first joint_count bones of the rig are its joints, in another order */
    bool z_up;
    lm_dvec3 from;
    double scale;
    uint32_t animation; /* or LM_RIG_NONE */
    lm_rig_pose *poses; /* room for one of each joint */
    struct rig_of_file *before;
} rig_of_file;

/* A rigid frame in double precision. */
typedef struct rig_frame {
    lm_dvec3 at;
    rotation turn;
} rig_frame;

typedef struct rig_bone {
    const char *name;
    uint32_t parent; /* an earlier bone, or RIG_NO_PARENT */
    rig_frame rest;  /* in the frame of the body, at the entry's own size */
    lm_dvec3 tail;   /* the same */
    double radius, fade;
    uint32_t joint;          /* of the file's rig, or LM_RIG_NONE */
    const scene_bone *moves; /* the entry's bone with its keyframes, or null */
} rig_bone;

typedef struct scene_rig {
    rig_bone *bones;
    uint32_t count;
    rig_frame *poses; /* room for one of each, in the frame of the body */
    lm_pose *world_poses;
    rig_of_file *file; /* or null */
} scene_rig;

/* rig_file.c: reads the rig of the entry's mesh, if it has one; a scene has it until it is closed. */
lm_result lmi_rig_file_read(lm_scene *s, const scene_body_entry *entry, const body_model *model, rig_of_file **file,
                            lm_scene_error *error);
rig_frame lmi_rig_file_frame(const rig_of_file *file, const double position[3], const double turn[4]);

/* drive_bones.c: where the bones are at a time, in the frame of the body; written to rig->poses. False without memory. */
bool lmi_rig_pose_at(const scene_skeleton *skeleton, double time);

/* A bone's frame for a copy of another size that stands elsewhere. */
lm_pose lmi_rig_place(const rig_frame *frame, const made_body *body);

#endif
