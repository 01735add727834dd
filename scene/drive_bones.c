/* Bones over time: keyframes to poses, and from bone to bone down the tree. */
#include "scene/rig.h"

/* The time within the loop. */
static double wrap(double time, double loop) { return loop > 0.0 ? time - loop * floor(time / loop) : time; }

/* What a bone's keyframes make of its rest pose against its parent. */
static void find_change(const scene_bone *bone, double time, bool smooth, lm_dvec3 *rotate, lm_dvec3 *move)
{
    const scene_bone_keyframe *keys = bone->keyframes.items;
    uint32_t count = bone->keyframes.count, i = 0;
    while (i + 1 < count && keys[i + 1].time <= time) {
        i++;
    }
    uint32_t next = i + 1 < count ? i + 1 : i;
    double share = next > i && time > keys[i].time ? (time - keys[i].time) / (keys[next].time - keys[i].time) : 0.0;
    share = smooth ? share * share * (3.0 - 2.0 * share) : share;
    *rotate = vector_mix(keys[i].rotate, keys[next].rotate, share);
    *move = vector_mix(keys[i].move, keys[next].move, share);
}

bool lmi_rig_pose_at(const scene_skeleton *skeleton, double time)
{
    const scene_rig *rig = skeleton->rig;
    double within = wrap(time, skeleton->loop);
    bool moved = rig->file != NULL && rig->file->animation != LM_RIG_NONE;
    if (moved && !lm_rig_sample(&rig->file->data, rig->file->animation, within, rig->file->poses)) {
        return false;
    }
    for (uint32_t i = 0; i < rig->count; i++) {
        const rig_bone *bone = &rig->bones[i];
        if (moved && bone->joint != LM_RIG_NONE) { /* its file says where it is, whatever carries it */
            const lm_rig_pose *pose = &rig->file->poses[bone->joint];
            rig->poses[i] = lmi_rig_file_frame(rig->file, pose->position, pose->rotation);
            continue;
        }
        bool root = bone->parent == RIG_NO_PARENT;
        const rig_frame *parent = root ? NULL : &rig->poses[bone->parent];
        lm_dvec3 rotate = lm_dvec3_zero(), move = lm_dvec3_zero();
        if (bone->moves != NULL && bone->moves->keyframes.count > 0) {
            find_change(bone->moves, within, skeleton->smooth, &rotate, &move);
        }
        /* Turned from the rest pose, in the axes of the body, and then carried along as the parent is from its own. */
        lm_dvec3 at = vector_add(bone->rest.at, move);
        rotation turn = lmi_rotation_then(bone->rest.turn, lmi_rotation_from_euler(rotate));
        if (root) {
            rig->poses[i] = (rig_frame){at, turn};
            continue;
        }
        const rig_frame *was = &rig->bones[bone->parent].rest;
        rotation back = {-was->turn.x, -was->turn.y, -was->turn.z, was->turn.w};
        rotation carried = lmi_rotation_then(back, parent->turn);
        rig->poses[i].at = vector_add(parent->at, lmi_rotation_apply(carried, vector_subtract(at, was->at)));
        rig->poses[i].turn = lmi_rotation_then(turn, carried);
    }
    return true;
}

lm_pose lmi_rig_place(const rig_frame *frame, const made_body *body)
{
    lm_dvec3 at = lmi_rotation_apply(body->rotate, vector_scale(frame->at, body->scale));
    return (lm_pose){vector_add(body->at, at), lmi_rotation_narrow(lmi_rotation_then(frame->turn, body->rotate))};
}

static lm_result drive_entry(const lm_scene *s, lm_world *world, const scene_body_entry *entry, double time)
{
    const scene_rig *rig = entry->skeleton->rig;
    lm_result result = LM_OK;
    if (!lmi_rig_pose_at(entry->skeleton, time)) {
        return LM_ERROR_MEMORY;
    }
    for (uint32_t k = 0; k < entry->range.count && result == LM_OK; k++) {
        const made_body *body = &s->bodies[entry->range.first + k];
        lm_skeleton_id skeleton;
        for (uint32_t i = 0; i < rig->count; i++) {
            rig->world_poses[i] = lmi_rig_place(&rig->poses[i], body);
        }
        result = lm_body_get_skeleton(world, body->id, &skeleton);
        if (result == LM_OK && skeleton.slot != 0) {
            result = lm_skeleton_move_to(world, skeleton, rig->world_poses);
        }
    }
    return result;
}

lm_result lmi_drive_skeletons(const lm_scene *s, lm_world *world, double time)
{
    lm_result result = LM_OK;
    for (uint32_t i = 0; i < s->file->bodies.count && result == LM_OK; i++) {
        const scene_body_entry *entry = LIST_ITEM(scene_body_entry, s->file->bodies, i);
        if (entry->skeleton != NULL) {
            result = drive_entry(s, world, entry, time);
        }
    }
    return result;
}
