/*
 * Skeletons: made and destroyed, and the frames that bones are.
 */
#include "skeleton/skeleton.h"
#include "base/dmath.h"
#include "base/guard.h"
#include "joint/joint.h"
#include "octree/octree_body.h"
#include "world/access.h"
#include "world/world.h"

#include <string.h>

#define SKELETON_COOKIE 0x4c4d5331u

/* --- frames --- */

lmi_frame lmi_frame_from(lm_pose pose)
{
    lm_quat q = pose.rotation;
    double length = sqrt((double)q.x * q.x + (double)q.y * q.y + (double)q.z * q.z + (double)q.w * q.w);
    lmi_frame frame = {pose.position, {q.x / length, q.y / length, q.z / length, q.w / length}};
    return frame;
}

lm_pose lmi_frame_to(const lmi_frame *f)
{
    lm_pose pose = {f->position, {(float)f->turn[0], (float)f->turn[1], (float)f->turn[2], (float)f->turn[3]}};
    return pose;
}

/* The product of two quaternions: first b, then a. Scaled to unit length, so that rounding does not add up. */
static void quat_multiply(const double a[4], const double b[4], double out[4])
{
    double x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    double y = a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2];
    double z = a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0];
    double w = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
    double length = sqrt(x * x + y * y + z * z + w * w);
    out[0] = x / length, out[1] = y / length, out[2] = z / length, out[3] = w / length;
}

dmat3 lmi_frame_rotation(const lmi_frame *f)
{
    double x = f->turn[0], y = f->turn[1], z = f->turn[2], w = f->turn[3];
    dmat3 r = {{{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
                {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
                {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}}};
    return r;
}

lmi_frame lmi_frame_then(const lmi_frame *outer, const lmi_frame *inner)
{
    dmat3 rotation = lmi_frame_rotation(outer);
    lmi_frame frame;
    frame.position = dvec_add(outer->position, dmat_apply(&rotation, inner->position));
    quat_multiply(outer->turn, inner->turn, frame.turn);
    return frame;
}

/* The angle, 0 to a quarter turn, with this sine and cosine. The arc cosine alone would lose small angles. */
static double angle_of(double sine, double cosine)
{
    if (sine > 0.7) {
        return lmi_acos(cosine < 1.0 ? cosine : 1.0);
    }
    double angle = sine * (1.0 + sine * sine / 6.0);
    for (int n = 0; n < 4; n++) { /* Newton's: each doubles the digits, and the first guess has one */
        angle -= (lmi_sin(angle) - sine) / lmi_cos(angle);
    }
    return angle;
}

lm_dvec3 lmi_frame_arc(const lmi_frame *from, const lmi_frame *to)
{
    double back[4] = {-from->turn[0], -from->turn[1], -from->turn[2], from->turn[3]}, q[4];
    quat_multiply(to->turn, back, q);
    double side = q[3] < 0.0 ? -1.0 : 1.0; /* q and -q are one rotation: take the one that turns less */
    lm_dvec3 axis = dvec(side * q[0], side * q[1], side * q[2]);
    double sine = dvec_length(axis);
    return sine > 0.0 ? dvec_scale(axis, 2.0 * angle_of(sine, side * q[3]) / sine) : axis;
}

void lmi_frame_turn(lmi_frame *frame, lm_dvec3 arc)
{
    double angle = dvec_length(arc);
    double share = angle > 1e-9 ? lmi_sin(0.5 * angle) / angle : 0.5;
    double turn[4] = {share * arc.x, share * arc.y, share * arc.z, lmi_cos(0.5 * angle)};
    quat_multiply(turn, frame->turn, frame->turn);
}

/* --- memory --- */

void lmi_skeleton_free(lmi_memory *memory, lmi_skeleton *s)
{
    lmi_release(memory, s->bones, s->bone_count, sizeof *s->bones);
    lmi_release(memory, s->particles, s->particle_count, sizeof *s->particles);
    lmi_release(memory, s->weights, s->particle_count, sizeof *s->weights);
    lmi_release(memory, s->offsets, (size_t)s->particle_count + 1, sizeof *s->offsets);
    lmi_release(memory, s->links, s->link_count, sizeof *s->links);
    memset(s, 0, sizeof *s);
}

bool lmi_skeleton_allocate(lmi_memory *memory, lmi_skeleton *s)
{
    if (!s->bones) {
        s->bones = lmi_allocate(memory, s->bone_count, sizeof *s->bones);
    }
    s->particles = lmi_allocate(memory, s->particle_count, sizeof *s->particles);
    s->weights = lmi_allocate(memory, s->particle_count, sizeof *s->weights);
    s->offsets = lmi_allocate(memory, (size_t)s->particle_count + 1, sizeof *s->offsets);
    s->links = lmi_allocate(memory, s->link_count, sizeof *s->links);
    return s->bones && s->particles && s->weights && s->offsets && s->links;
}

/* --- making --- */

lm_bone lm_bone_default(void)
{
    lm_bone bone;
    memset(&bone, 0, sizeof bone);
    bone.rest = lm_pose_identity();
    bone.radius = -1.0f;
    return bone;
}

lm_skeleton_def lm_skeleton_def_default(void)
{
    lm_skeleton_def def;
    memset(&def, 0, sizeof def);
    def.pose = lm_pose_identity();
    def.hertz = 8.0f;
    def.damping_ratio = 0.5f;
    def.cookie = SKELETON_COOKIE;
    return def;
}

static bool is_within(lm_dvec3 p, double most) { return fabs(p.x) <= most && fabs(p.y) <= most && fabs(p.z) <= most; }

const char *lmi_bone_fault(const lm_bone *bone)
{
    if (!lmi_pose_is_sound(bone->rest) || !is_within(bone->rest.position, LM_MAX_COORDINATE)) {
        return "its rest pose is not finite, too far away, or its rotation is zero";
    }
    if (!is_within(dvec_from(bone->tail), LM_MAX_COORDINATE)) {
        return "its tail is not finite or too far away";
    }
    if (!(fabsf(bone->radius) <= LM_MAX_COORDINATE) || !(bone->fade >= 0.0f && bone->fade <= LM_MAX_COORDINATE)) {
        return "its radius or fade is not finite or too large, or its fade below 0";
    }
    return NULL;
}

static lm_result check_attachments(lm_world *world, const lm_skeleton_def *def, const lmi_body *body)
{
    for (uint32_t n = 0; def->attachments && n < def->attachment_count; n++) {
        const lm_attachment *a = &def->attachments[n];
        if (a->particle >= body->particle_count || a->bone >= def->bone_count ||
            !(a->weight >= 0.0f && a->weight <= 1.0f)) {
            return lmi_fail(
                world, LM_ERROR_ARGUMENT,
                "lm_skeleton_create: attachment %u: particle %u of %u, bone %u of %u, weight %g (expected 0 "
                "to 1)",
                n, a->particle, body->particle_count, a->bone, def->bone_count, (double)a->weight);
        }
    }
    return LM_OK;
}

static bool is_spring(float hertz, float damping_ratio)
{
    return hertz >= 0.0f && hertz <= 1e6f && damping_ratio >= 0.0f && damping_ratio <= 1e6f;
}

static lm_result check(lm_world *world, const lm_skeleton_def *def, const lmi_body *body)
{
    if (body->skeleton != LMI_NONE) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_skeleton_create: the body has a skeleton already");
    }
    if (lmi_octree_has_detail(body)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_skeleton_create: the detail of the body changes");
    }
    if (!def->bones || def->bone_count < 1 || def->bone_count > LM_MAX_BONES) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_skeleton_create: %u bones, must be 1 to %d", def->bone_count,
                        LM_MAX_BONES);
    }
    if (!lmi_pose_is_sound(def->pose)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_skeleton_create: the pose is not finite, or its rotation is zero");
    }
    if (!is_spring(def->hertz, def->damping_ratio)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_skeleton_create: hertz and damping_ratio must be 0 to 1e6");
    }
    for (uint32_t n = 0; n < def->bone_count; n++) {
        const char *fault = lmi_bone_fault(&def->bones[n]);
        if (fault) {
            return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_skeleton_create: bone %u: %s", n, fault);
        }
    }
    return check_attachments(world, def, body);
}

static void fill_bones(lmi_skeleton *s, const lm_skeleton_def *def)
{
    lmi_frame body = lmi_frame_from(def->pose);
    for (uint32_t n = 0; n < s->bone_count; n++) {
        lmi_bone *bone = &s->bones[n];
        lmi_frame rest = lmi_frame_from(def->bones[n].rest);
        bone->def = def->bones[n];
        bone->def.rest = lmi_frame_to(&rest);
        bone->now = bone->target = lmi_frame_then(&body, &rest);
        bone->rotation = lmi_frame_rotation(&bone->now);
        bone->mover = LMI_NONE;
        bone->seat = (lmi_frame){.turn = {0.0, 0.0, 0.0, 1.0}};
    }
}

/* Attachments by distance where the definition has none. *found is to be released. */
static lm_result find_attachments(lm_world *world, const lmi_body *body, const lm_skeleton_def *def,
                                  lm_attachment **found, uint32_t *count)
{
    uint64_t wanted = lmi_skeleton_reach(body, def->bones, def->bone_count, NULL);
    *count = 0;
    if (wanted > LM_MAX_MEMBERSHIPS) {
        return lmi_fail(world, LM_ERROR_LIMIT, "lm_skeleton_create: more than %u attachments", LM_MAX_MEMBERSHIPS);
    }
    *found = lmi_allocate(&world->memory, (size_t)wanted, sizeof **found);
    if (!*found) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_skeleton_create: out of memory");
    }
    *count = (uint32_t)lmi_skeleton_reach(body, def->bones, def->bone_count, *found);
    return LM_OK;
}

static lm_result make(lm_world *world, const lm_skeleton_def *def, const lmi_body *body, lmi_skeleton *s)
{
    lm_attachment *found = NULL;
    const lm_attachment *list = def->attachments;
    uint32_t count = def->attachment_count;
    lm_result result = list ? LM_OK : find_attachments(world, body, def, &found, &count);
    if (result != LM_OK) {
        return result;
    }
    s->body = def->body.slot - 1;
    s->hertz = def->hertz;
    s->damping_ratio = def->damping_ratio;
    s->bone_count = def->bone_count;
    s->bones = lmi_allocate(&world->memory, s->bone_count, sizeof *s->bones);
    bool made = s->bones != NULL;
    if (made) {
        fill_bones(s, def);
        made = lmi_skeleton_attach(&world->memory, body, s, list ? list : found, count);
    }
    lmi_release(&world->memory, found, count, sizeof *found);
    return made ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_skeleton_create: out of memory");
}

lm_result lm_skeleton_create(lm_world *world, const lm_skeleton_def *def, lm_skeleton_id *out)
{
    lm_skeleton_id none = {0, 0};
    *out = none;
    if (def->cookie != SKELETON_COOKIE) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_skeleton_create: the definition did not come from lm_skeleton_def_default");
    }
    const lmi_body *known = lmi_body_read(world, def->body, "lm_skeleton_create");
    if (!known) {
        return LM_ERROR_ID;
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_skeleton made;
    memset(&made, 0, sizeof made);
    uint32_t index;
    lm_result result = check(world, def, known);
    result = result ? result : make(world, def, known, &made);
    if (result == LM_OK && !lmi_pool_add(&world->skeletons, &world->memory, &index)) {
        result = lmi_fail(world, LM_ERROR_MEMORY, "lm_skeleton_create: out of memory");
    }
    if (result == LM_OK) {
        lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_WORLD);
        *LMI_POOL_AT(&world->skeletons, lmi_skeleton, index) = made;
        body->skeleton = index;
        lmi_body_rouse(world, body);
        lmi_id id = lmi_pool_id(&world->skeletons, index);
        out->slot = id.slot;
        out->generation = id.generation;
    } else {
        lmi_skeleton_free(&world->memory, &made);
    }
    lmi_float_mode_leave(&host);
    return result;
}

void lmi_skeleton_forget(lm_world *world, lmi_body *body)
{
    if (body->skeleton != LMI_NONE) {
        lmi_joints_forget_skeleton(world, body->skeleton);
        lmi_skeleton_free(&world->memory, LMI_POOL_AT(&world->skeletons, lmi_skeleton, body->skeleton));
        lmi_pool_remove(&world->skeletons, body->skeleton);
        body->skeleton = LMI_NONE;
    }
}

lm_result lm_skeleton_destroy(lm_world *world, lm_skeleton_id out)
{
    lmi_id id = {out.slot, out.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->skeletons, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_skeleton_destroy: there is no such skeleton");
    }
    const lmi_body *on = lmi_body_at(world, LMI_POOL_AT(&world->skeletons, lmi_skeleton, index)->body);
    lmi_body *body = lmi_body_change(world, on, LMI_CHANGE_WORLD);
    lmi_skeleton_forget(world, body);
    lmi_body_rouse(world, body);
    return LM_OK;
}

/* ---- while they live ----
 *
 * Skeletons while they live: moved by the host program, and read by whoever draws or measures them.
 */

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

/* A bone sits where it is on a mover. */
static void sit(lmi_bone *bone, const lmi_mover *mover)
{
    if (mover) {
        lmi_frame on = lmi_frame_from(mover->pose),
                  back = {.turn = {-on.turn[0], -on.turn[1], -on.turn[2], on.turn[3]}};
        dmat3 turned = lmi_frame_rotation(&back);
        back.position = dmat_apply(&turned, dvec_scale(on.position, -1.0));
        bone->seat = lmi_frame_then(&back, &bone->now);
    }
}

/* A joint on a bone would hold what it rides on to the world. */
static bool is_joined(const lm_world *world, const lmi_skeleton *s, uint32_t bone)
{
    LMI_POOL_EACH(&world->joints, n)
    {
        const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, n);
        for (int e = 0; e < 2; e++) {
            const lmi_joint_end *end = &joint->end[e];
            if (end->skeleton != LMI_NONE && LMI_POOL_AT(&world->skeletons, lmi_skeleton, end->skeleton) == s &&
                end->bone == bone) {
                return true;
            }
        }
    }
    return false;
}

lm_result lm_skeleton_set_mover(lm_world *world, lm_skeleton_id skeleton, uint32_t bone, lm_mover_id mover)
{
    const lmi_skeleton *s = find(world, skeleton, "lm_skeleton_set_mover");
    lmi_id id = {mover.slot, mover.generation};
    uint32_t index = LMI_NONE;
    if (!s) {
        return LM_ERROR_ID;
    }
    if (mover.slot && !lmi_pool_find(&world->movers, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_skeleton_set_mover: there is no such mover");
    }
    if (bone >= s->bone_count) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_skeleton_set_mover: the skeleton has no bone %u", bone);
    }
    if (is_joined(world, s, bone)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_skeleton_set_mover: a joint is on the bone; join the mover instead");
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    s->bones[bone].mover = index;
    sit(&s->bones[bone], lmi_bone_mover(world, &s->bones[bone]));
    s->bones[bone].target = s->bones[bone].now;
    lmi_body_rouse(world, lmi_body_at(world, s->body));
    if (index != LMI_NONE) {
        lmi_mover_rouse(world, index);
    }
    lmi_float_mode_leave(&host);
    return LM_OK;
}

lm_result lm_skeleton_get_mover(const lm_world *world, lm_skeleton_id skeleton, uint32_t bone, lm_mover_id *mover)
{
    *mover = (lm_mover_id){0, 0};
    const lmi_skeleton *s = find(world, skeleton, "lm_skeleton_get_mover");
    if (!s) {
        return LM_ERROR_ID;
    }
    if (bone >= s->bone_count) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_skeleton_get_mover: the skeleton has no bone %u", bone);
    }
    if (s->bones[bone].mover != LMI_NONE) {
        lmi_id id = lmi_pool_id(&world->movers, s->bones[bone].mover);
        *mover = (lm_mover_id){id.slot, id.generation};
    }
    return LM_OK;
}

lm_result lm_skeleton_set_poses(lm_world *world, lm_skeleton_id skeleton, const lm_pose *poses)
{
    lmi_skeleton *s = find(world, skeleton, "lm_skeleton_set_poses");
    lm_result result = s ? check_poses(world, s, poses, "lm_skeleton_set_poses") : LM_ERROR_ID;
    if (result != LM_OK) {
        return result;
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    for (uint32_t n = 0; n < s->bone_count; n++) {
        lmi_bone *bone = &s->bones[n];
        bone->now = bone->target = lmi_frame_from(poses[n]);
        bone->rotation = lmi_frame_rotation(&bone->now);
        sit(bone, lmi_bone_mover(world, bone));
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
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_skeleton");
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
    info->hertz = s->hertz;
    info->damping_ratio = s->damping_ratio;
    info->held = 0;
    for (uint32_t n = 0; n < s->particle_count; n++) {
        info->held += s->weights[n] >= 1.0f;
    }
    return LM_OK;
}

lm_result lm_skeleton_set_spring(lm_world *world, lm_skeleton_id skeleton, float hertz, float damping_ratio)
{
    lmi_skeleton *s = find(world, skeleton, "lm_skeleton_set_spring");
    if (!s) {
        return LM_ERROR_ID;
    }
    if (!is_spring(hertz, damping_ratio)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_skeleton_set_spring: hertz and damping_ratio must be 0 to 1e6");
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    s->hertz = hertz;
    s->damping_ratio = damping_ratio;
    lmi_body_rouse(world, lmi_body_at(world, s->body));
    return LM_OK;
}

lm_result lm_skeleton_get_wrenches(const lm_world *world, lm_skeleton_id id, lm_wrench *wrenches)
{
    const lmi_skeleton *s = find(world, id, "lm_skeleton_get_wrenches");
    if (!s) {
        return LM_ERROR_ID;
    }
    if (world->wrench_lost) {
        return lmi_fail(world, LM_ERROR_UNSUPPORTED,
                        "lm_skeleton_get_wrenches: a device made the last step and keeps no account of what is pushed");
    }
    for (uint32_t n = 0; n < s->bone_count; n++) {
        wrenches[n] = s->bones[n].wrench;
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
