/*
 * The bones of an entry: where they are at rest, what carries them, and how they move. Worked out once, when its first body is
 * made, and kept in the scene's memory.
 */
#ifndef LIMBER_SCENE_RIG_H
#define LIMBER_SCENE_RIG_H

#include "scene/model.h"

#define RIG_NO_PARENT UINT32_MAX

/* A rigid frame in double precision. */
typedef struct rig_frame {
    lm_dvec3 at;
    rotation turn;
} rig_frame;

typedef struct rig_bone {
    const char *name;
    uint32_t parent;  /* an earlier bone, or RIG_NO_PARENT */
    rig_frame rest;   /* in the frame of the body, at the entry's own size */
    lm_dvec3 tail;    /* the same */
    double radius, fade;
    const scene_bone *moves; /* the entry's bone with its keyframes, or null */
} rig_bone;

typedef struct scene_rig {
    rig_bone *bones;
    uint32_t count;
    rig_frame *poses; /* room for one of each, in the frame of the body */
    lm_pose *world_poses;
} scene_rig;

/* drive_bones.c: where the bones are at a time, in the frame of the body; written to rig->poses. */
void rig_pose_at(const scene_skeleton *skeleton, double time);

/* A bone's frame for a copy of another size that stands elsewhere. */
lm_pose rig_place(const rig_frame *frame, const made_body *body);

#endif
