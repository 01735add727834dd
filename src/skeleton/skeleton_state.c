/*
 * Skeletons while they live: moved by the host program, and read by whoever draws or measures them.
 */
#include "base/guard.h"
#include "skeleton/skeleton.h"
#include "world/world.h"

static lmi_skeleton *find(const lm_world *world, lm_skeleton_id skeleton, const char *caller)
{
    lmi_id id = {skeleton.slot, skeleton.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->skeletons, id, &index)) {
        lmi_fail(world, LM_ERROR_ID, "%s: there is no such skeleton", caller);
        return NULL;
    }
    return LMI_POOL_AT(&world->skeletons, lmi_skeleton, index);
}

/* All poses or none: a skeleton half moved would be torn. */
static lm_result check_poses(const lm_world *world, const lmi_skeleton *s, const lm_pose *poses, const char *caller)
{
    for (uint32_t n = 0; n < s->bone_count; n++) {
        if (!lmi_pose_is_sound(poses[n])) {
            return lmi_fail(world, LM_ERROR_ARGUMENT,
                            "%s: bone %u: the pose is not finite, too far away, or its rotation is zero", caller, n);
        }
    }
    return LM_OK;
}

lm_result lm_skeleton_move_to(lm_world *world, lm_skeleton_id skeleton, const lm_pose *poses)
{
    lmi_skeleton *s = find(world, skeleton, "lm_skeleton_move_to");
    lm_result result = s ? check_poses(world, s, poses, "lm_skeleton_move_to") : LM_ERROR_ID;
    if (result != LM_OK) {
        return result;
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    for (uint32_t n = 0; n < s->bone_count; n++) {
        s->bones[n].target = lmi_frame_from(poses[n]);
    }
    s->aimed = true;
    lmi_body_rouse(world, lmi_body_at(world, s->body)); /* and it stays awake as long as it is moved */
    lmi_float_mode_leave(&host);
    return LM_OK;
}

lm_result lm_skeleton_set_poses(lm_world *world, lm_skeleton_id skeleton, const lm_pose *poses)
{
    lmi_gpu_edit(world);
    lmi_skeleton *s = find(world, skeleton, "lm_skeleton_set_poses");
    lm_result result = s ? check_poses(world, s, poses, "lm_skeleton_set_poses") : LM_ERROR_ID;
    if (result != LM_OK) {
        return result;
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    for (uint32_t n = 0; n < s->bone_count; n++) {
        lmi_bone *bone = &s->bones[n];
        bone->now = bone->target = lmi_frame_from(poses[n]);
        bone->rotation = lmi_frame_rotation(&bone->now);
    }
    s->aimed = false;
    lmi_body_rouse(world, lmi_body_at(world, s->body));
    lmi_float_mode_leave(&host);
    return LM_OK;
}

/* --- reading --- */

lm_result lm_body_get_skeleton(const lm_world *world, lm_body_id id, lm_skeleton_id *skeleton)
{
    lm_skeleton_id none = {0, 0};
    *skeleton = none;
    const lmi_body *body = lmi_body_find(world, id, "lm_body_get_skeleton");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->skeleton != LMI_NONE) {
        lmi_id found = lmi_pool_id(&world->skeletons, body->skeleton);
        skeleton->slot = found.slot;
        skeleton->generation = found.generation;
    }
    return LM_OK;
}

lm_result lm_skeleton_get_info(const lm_world *world, lm_skeleton_id skeleton, lm_skeleton_info *info)
{
    const lmi_skeleton *s = find(world, skeleton, "lm_skeleton_get_info");
    if (!s) {
        return LM_ERROR_ID;
    }
    lmi_id body = lmi_pool_id(&world->bodies, s->body);
    info->body.slot = body.slot;
    info->body.generation = body.generation;
    info->bones = s->bone_count;
    info->attachments = s->link_count;
    info->particles = s->particle_count;
    info->held = 0;
    for (uint32_t n = 0; n < s->particle_count; n++) {
        info->held += s->weights[n] >= 1.0f;
    }
    return LM_OK;
}

lm_result lm_skeleton_get_bones(const lm_world *world, lm_skeleton_id skeleton, lm_bone *bones)
{
    const lmi_skeleton *s = find(world, skeleton, "lm_skeleton_get_bones");
    for (uint32_t n = 0; s && n < s->bone_count; n++) {
        bones[n] = s->bones[n].def;
    }
    return s ? LM_OK : LM_ERROR_ID;
}

lm_result lm_skeleton_get_poses(const lm_world *world, lm_skeleton_id skeleton, lm_pose *poses)
{
    const lmi_skeleton *s = find(world, skeleton, "lm_skeleton_get_poses");
    for (uint32_t n = 0; s && n < s->bone_count; n++) {
        poses[n] = lmi_frame_to(&s->bones[n].now);
    }
    return s ? LM_OK : LM_ERROR_ID;
}

lm_result lm_skeleton_get_attachments(const lm_world *world, lm_skeleton_id skeleton, lm_attachment *attachments)
{
    const lmi_skeleton *s = find(world, skeleton, "lm_skeleton_get_attachments");
    if (!s) {
        return LM_ERROR_ID;
    }
    const lmi_body *body = lmi_body_at(world, s->body);
    for (uint32_t n = 0; n < s->particle_count; n++) {
        for (uint32_t k = s->offsets[n]; k < s->offsets[n + 1]; k++) {
            lm_attachment a = {body->order[s->particles[n]], s->links[k].bone, s->weights[n] * s->links[k].share};
            attachments[k] = a;
        }
    }
    return LM_OK;
}

lm_result lm_skeleton_get_targets(const lm_world *world, lm_skeleton_id skeleton, lm_dvec3 base, lm_vec3 *positions,
                                  float *weights)
{
    const lmi_skeleton *s = find(world, skeleton, "lm_skeleton_get_targets");
    if (!s) {
        return LM_ERROR_ID;
    }
    if (!dvec_is_finite(base)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_skeleton_get_targets: base is not finite");
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    const lmi_body *body = lmi_body_at(world, s->body);
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        if (positions) {
            positions[body->order[n]] = vec_from(dvec_sub(dvec_add(body->origin, dvec(x[0], x[1], x[2])), base));
        }
        if (weights) {
            weights[body->order[n]] = 0.0f;
        }
    }
    for (uint32_t n = 0; n < s->particle_count; n++) {
        uint32_t index = body->order[s->particles[n]];
        if (positions) {
            positions[index] = vec_from(dvec_sub(lmi_bones_target(s, n), base));
        }
        if (weights) {
            weights[index] = s->weights[n];
        }
    }
    lmi_float_mode_leave(&host);
    return LM_OK;
}
