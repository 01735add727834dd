/*
 * Joints as the host program makes, sets and reads them. How they act in a step is in joint_solve.c.
 */
#include "joint/joint.h"
#include "base/guard.h"
#include "octree/octree_body.h"
#include "skeleton/skeleton.h"
#include "world/access.h"
#include "world/body.h"

#include <float.h>
#include <string.h>

#define JOINT_COOKIE 0x4c4d4a31u

lm_joint_def lm_joint_def_default(void)
{
    lm_joint_def def;
    memset(&def, 0, sizeof def);
    def.axis.z = 1.0f;
    def.length = -1.0f;
    def.damping_ratio = 1.0f;
    def.max_force = def.max_torque = FLT_MAX;
    def.cookie = JOINT_COOKIE;
    return def;
}

void lmi_joint_free(lmi_memory *memory, lmi_joint *joint)
{
    for (int e = 0; e < 2; e++) {
        lmi_release(memory, joint->end[e].particles, joint->end[e].count, sizeof *joint->end[e].particles);
        joint->end[e].particles = NULL;
        joint->end[e].count = 0;
    }
}

const char *lmi_joint_fault(const lmi_joint *j)
{
    if (!(j->hertz >= 0.0f && j->hertz <= 1e6f)) {
        return "hertz must be 0 to 1e6";
    }
    if (!(j->damping_ratio >= 0.0f && j->damping_ratio <= 1e6f)) {
        return "damping_ratio must be 0 to 1e6";
    }
    if (!(j->max_force > 0.0f) || !(j->max_torque > 0.0f)) {
        return "max_force and max_torque must be above 0";
    }
    return j->length >= 0.0f && j->length <= LM_MAX_COORDINATE ? NULL : "length must be at least 0";
}

/* --- making one --- */

static const char *patch_fault(const lm_joint_end *end, const lmi_body *body)
{
    if (lmi_octree_has_detail(body)) {
        return "an octree whose cells change cannot be joined";
    }
    if (!end->particles) {
        return end->radius >= 0.0f ? NULL : "radius must be at least 0";
    }
    if (end->particle_count == 0) {
        return "a patch needs at least one particle";
    }
    for (uint32_t n = 0; n < end->particle_count; n++) {
        if (end->particles[n] >= body->particle_count) {
            return "a particle index is beyond the last particle";
        }
        for (uint32_t k = 0; k < n; k++) {
            if (end->particles[k] == end->particles[n]) {
                return "a particle is listed twice";
            }
        }
    }
    return NULL;
}

/* Finds what an end is on. */
static lm_result find_end(const lm_world *world, const lm_joint_end *def, lmi_joint_end *end)
{
    lmi_id mover = {def->mover.slot, def->mover.generation};
    lmi_id skeleton = {def->skeleton.slot, def->skeleton.generation};
    end->body = end->mover = end->skeleton = LMI_NONE;
    if (!dvec_is_place(def->anchor)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_joint_create: an anchor is not finite or beyond LM_MAX_POSITION");
    }
    if (def->body.slot) {
        const lmi_body *body = lmi_body_read(world, def->body, "lm_joint_create");
        const char *fault = body ? patch_fault(def, body) : NULL;
        end->body = def->body.slot - 1;
        return !body ? LM_ERROR_ID : fault ? lmi_fail(world, LM_ERROR_ARGUMENT, "lm_joint_create: %s", fault) : LM_OK;
    }
    if (def->mover.slot) {
        bool found = lmi_pool_find(&world->movers, mover, &end->mover);
        return found ? LM_OK : lmi_fail(world, LM_ERROR_ID, "lm_joint_create: there is no such mover");
    }
    if (def->skeleton.slot) {
        if (!lmi_pool_find(&world->skeletons, skeleton, &end->skeleton)) {
            return lmi_fail(world, LM_ERROR_ID, "lm_joint_create: there is no such skeleton");
        }
        end->bone = def->bone;
        if (def->bone >= LMI_POOL_AT(&world->skeletons, lmi_skeleton, end->skeleton)->bone_count) {
            return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_joint_create: the skeleton has no bone %u", def->bone);
        }
        if (LMI_POOL_AT(&world->skeletons, lmi_skeleton, end->skeleton)->bones[def->bone].mover != LMI_NONE) {
            return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_joint_create: the bone rides on a mover; join that instead");
        }
    }
    return LM_OK;
}

/* Right-handed axes of which the first is this one. */
static dmat3 axes_along(lm_dvec3 axis)
{
    lm_dvec3 x = dvec_scale(axis, 1.0 / dvec_length(axis));
    lm_dvec3 other = fabs(x.x) < 0.6 ? dvec(1.0, 0.0, 0.0) : dvec(0.0, 1.0, 0.0), y = dvec_cross(x, other);
    y = dvec_scale(y, 1.0 / dvec_length(y));
    lm_dvec3 z = dvec_cross(x, y);
    return (dmat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

/* Anchor and axes in the frame of an end, where it is now. A patch without a frame is held at its centre. */
static void attach(const lm_world *world, lmi_joint_end *end, lm_dvec3 anchor, const dmat3 *axes)
{
    bool thin = end->body != LMI_NONE && !lmi_patch_has_frame(lmi_body_at(world, end->body), end);
    end->anchor = lm_dvec3_zero();
    end->frame = *axes;
    lmi_side now = lmi_side_of(world, end, 0.0);
    end->anchor = thin ? lm_dvec3_zero()
                       : dmat_apply_transposed(&now.rotation, dvec_sub(anchor, dvec_sub(now.centre, now.offset)));
    for (int i = 0; i < 9; i++) {
        double sum = 0.0;
        for (int k = 0; k < 3; k++) {
            sum += now.rotation.m[k][i / 3] * axes->m[k][i % 3];
        }
        end->frame.m[i / 3][i % 3] = sum;
    }
}

static const char *ends_fault(const lm_world *world, const lmi_joint *j)
{
    bool turns = j->kind != LM_JOINT_BALL && j->kind != LM_JOINT_DISTANCE;
    for (int e = 0; e < 2; e++) {
        const lmi_joint_end *end = &j->end[e];
        if (turns && end->body != LMI_NONE && !lmi_patch_has_frame(lmi_body_at(world, end->body), end)) {
            return "a patch has no three particles that are not in a line, to keep an angle with";
        }
    }
    return j->end[0].body != LMI_NONE && j->end[0].body == j->end[1].body && lmi_patches_share(&j->end[0], &j->end[1])
               ? "the patches of one body share particles"
               : NULL;
}

/* Patches and frames; the joint is in no pool yet. */
static lm_result fill(lm_world *world, const lm_joint_def *def, lmi_joint *j)
{
    const lm_joint_end *const ends[2] = {&def->a, &def->b};
    for (int e = 0; e < 2; e++) {
        lmi_joint_end *end = &j->end[e];
        if (end->body != LMI_NONE && !lmi_patch_make(world, lmi_body_at(world, end->body), ends[e], end)) {
            return lmi_fail(world, LM_ERROR_MEMORY, "lm_joint_create: out of memory");
        }
    }
    const char *fault = ends_fault(world, j);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_joint_create: %s", fault);
    }
    dmat3 axes = axes_along(dvec_from(def->axis));
    bool together = j->kind == LM_JOINT_GLUE || j->kind == LM_JOINT_SLIDER;
    attach(world, &j->end[0], def->a.anchor, &axes);
    attach(world, &j->end[1], together ? def->a.anchor : def->b.anchor, &axes);
    if (def->length < 0.0f) {
        lmi_side a = lmi_side_of(world, &j->end[0], 0.0), b = lmi_side_of(world, &j->end[1], 0.0);
        j->length = (float)lmi_min(dvec_length(dvec_sub(a.anchor, b.anchor)), LM_MAX_COORDINATE);
    }
    return LM_OK;
}

static void rouse(lm_world *world, const lmi_joint *j)
{
    for (int e = 0; e < 2; e++) {
        if (j->end[e].body != LMI_NONE) {
            lmi_body_rouse(world, lmi_body_at(world, j->end[e].body));
        } else if (j->end[e].mover != LMI_NONE) {
            lmi_mover_rouse(world, j->end[e].mover);
        }
    }
}

static void count_ends(lm_world *world, const lmi_joint *j, int by)
{
    for (int e = 0; e < 2; e++) {
        if (j->end[e].body != LMI_NONE) {
            lmi_body *body = lmi_body_change(world, lmi_body_at(world, j->end[e].body), LMI_CHANGE_WORLD);
            body->joints += (uint32_t)by;
        }
    }
}

static bool is_rigid(const lm_world *world, const lmi_joint_end *end)
{
    return end->mover != LMI_NONE && LMI_POOL_AT(&world->movers, lmi_mover, end->mover)->mass > 0.0f;
}

static bool yields(const lm_world *world, const lmi_joint_end *end)
{
    return end->body != LMI_NONE || is_rigid(world, end);
}

static const char *def_fault(const lm_joint_def *def)
{
    lm_dvec3 axis = dvec_from(def->axis);
    if ((unsigned)def->kind >= LM_JOINT_KIND_COUNT) {
        return "kind is not one of lm_joint_kind";
    }
    return dvec_is_finite(axis) && dvec_length(axis) > 1e-12 ? NULL : "axis must not be 0";
}

lm_result lm_joint_create(lm_world *world, const lm_joint_def *def, lm_joint_id *out)
{
    *out = (lm_joint_id){0, 0};
    if (def->cookie != JOINT_COOKIE) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_joint_create: the definition did not come from lm_joint_def_default");
    }
    lmi_joint j = {.kind = def->kind,
                   .length = lmi_maxf(def->length, 0.0f),
                   .hertz = def->hertz,
                   .damping_ratio = def->damping_ratio,
                   .max_force = lmi_minf(def->max_force, FLT_MAX),
                   .max_torque = lmi_minf(def->max_torque, FLT_MAX),
                   .user_data = def->user_data};
    const char *fault = def_fault(def);
    fault = fault ? fault : lmi_joint_fault(&j);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_joint_create: %s", fault);
    }
    lm_result result = find_end(world, &def->a, &j.end[0]);
    result = result == LM_OK ? find_end(world, &def->b, &j.end[1]) : result;
    if (result != LM_OK) {
        return result;
    }
    if (j.end[0].mover != LMI_NONE && j.end[0].mover == j.end[1].mover) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_joint_create: both ends are on the same mover");
    }
    if (!yields(world, &j.end[0]) && !yields(world, &j.end[1])) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_joint_create: one of the ends must be a body, or a mover with mass");
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    result = fill(world, def, &j);
    lmi_float_mode_leave(&host);
    uint32_t index;
    if (result == LM_OK && !lmi_pool_add(&world->joints, &world->memory, &index)) {
        result = lmi_fail(world, LM_ERROR_MEMORY, "lm_joint_create: out of memory");
    }
    if (result != LM_OK) {
        lmi_joint_free(&world->memory, &j);
        return result;
    }
    *LMI_POOL_AT(&world->joints, lmi_joint, index) = j;
    count_ends(world, &j, 1);
    rouse(world, &j);
    lmi_id id = lmi_pool_id(&world->joints, index);
    *out = (lm_joint_id){id.slot, id.generation};
    return LM_OK;
}

/* --- and taking it away --- */

static void destroy(lm_world *world, uint32_t index)
{
    lmi_joint *j = LMI_POOL_AT(&world->joints, lmi_joint, index);
    count_ends(world, j, -1);
    rouse(world, j);
    lmi_joint_free(&world->memory, j);
    lmi_pool_remove(&world->joints, index);
}

void lmi_joints_forget_body(lm_world *world, uint32_t body)
{
    LMI_POOL_EACH(&world->joints, n)
    {
        const lmi_joint *j = LMI_POOL_AT(&world->joints, lmi_joint, n);
        if (j->end[0].body == body || j->end[1].body == body) {
            destroy(world, n);
        }
    }
}

void lmi_joints_forget_skeleton(lm_world *world, uint32_t skeleton)
{
    LMI_POOL_EACH(&world->joints, n)
    {
        const lmi_joint *j = LMI_POOL_AT(&world->joints, lmi_joint, n);
        if (j->end[0].skeleton == skeleton || j->end[1].skeleton == skeleton) {
            destroy(world, n);
        }
    }
}

void lmi_joints_leave_mover(lm_world *world, uint32_t mover)
{
    const lmi_mover *m = LMI_POOL_AT(&world->movers, lmi_mover, mover);
    LMI_POOL_EACH(&world->joints, n)
    {
        for (int e = 0; e < 2; e++) {
            lmi_joint_end *end = &LMI_POOL_AT(&world->joints, lmi_joint, n)->end[e];
            if (end->mover == mover) {
                end->anchor = dvec_add(m->pose.position, dmat_apply(&m->rotation, end->anchor));
                end->frame = lmi_dmat_multiply(&m->rotation, &end->frame);
                end->mover = LMI_NONE;
            }
        }
        const lmi_joint *j = LMI_POOL_AT(&world->joints, lmi_joint, n);
        if (j->end[0].body == LMI_NONE && j->end[1].body == LMI_NONE && !is_rigid(world, &j->end[0]) &&
            !is_rigid(world, &j->end[1])) {
            destroy(world, n); /* it would hold the world to itself */
        }
    }
}

static lmi_joint *find(const lm_world *world, lm_joint_id joint, uint32_t *index, const char *caller)
{
    lmi_id id = {joint.slot, joint.generation};
    if (!lmi_pool_find(&world->joints, id, index)) {
        lmi_fail(world, LM_ERROR_ID, "%s: there is no such joint", caller);
        return NULL;
    }
    return LMI_POOL_AT(&world->joints, lmi_joint, *index);
}

lm_result lm_joint_destroy(lm_world *world, lm_joint_id joint)
{
    uint32_t index;
    if (!find(world, joint, &index, "lm_joint_destroy")) {
        return LM_ERROR_ID;
    }
    destroy(world, index);
    return LM_OK;
}

/* --- reading --- */

lm_result lm_joint_get_info(const lm_world *world, lm_joint_id joint, lm_joint_info *info)
{
    uint32_t index;
    const lmi_joint *j = find(world, joint, &index, "lm_joint_get_info");
    if (!j) {
        return LM_ERROR_ID;
    }
    *info = (lm_joint_info){.kind = j->kind,
                            .length = j->length,
                            .hertz = j->hertz,
                            .damping_ratio = j->damping_ratio,
                            .max_force = j->max_force,
                            .max_torque = j->max_torque,
                            .enabled = lmi_joint_acts(j),
                            .broken = j->broken,
                            .user_data = j->user_data};
    for (int e = 0; e < 2; e++) {
        const lmi_joint_end *end = &j->end[e];
        info->particles[e] = end->count;
        info->bone[e] = end->bone;
        if (end->body != LMI_NONE) {
            lmi_id id = lmi_pool_id(&world->bodies, end->body);
            info->body[e] = (lm_body_id){id.slot, id.generation};
        }
        if (end->mover != LMI_NONE) {
            lmi_id id = lmi_pool_id(&world->movers, end->mover);
            info->mover[e] = (lm_mover_id){id.slot, id.generation};
        }
        if (end->skeleton != LMI_NONE) {
            lmi_id id = lmi_pool_id(&world->skeletons, end->skeleton);
            info->skeleton[e] = (lm_skeleton_id){id.slot, id.generation};
        }
    }
    return LM_OK;
}

lm_result lm_joint_get_state(const lm_world *world, lm_joint_id joint, lm_joint_state *state)
{
    uint32_t index;
    const lmi_joint *j = find(world, joint, &index, "lm_joint_get_state");
    if (!j) {
        return LM_ERROR_ID;
    }
    lmi_world_read(world);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_side a = lmi_side_of(world, &j->end[0], 0.0), b = lmi_side_of(world, &j->end[1], 0.0);
    *state = (lm_joint_state){.anchor = {a.anchor, b.anchor}, .force = j->force, .torque = j->torque};
    lmi_joint_errors(j, &a, &b, &state->apart, &state->turned);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

lm_result lm_joint_get_particles(const lm_world *world, lm_joint_id joint, uint32_t end, uint32_t *particles)
{
    uint32_t index;
    const lmi_joint *j = find(world, joint, &index, "lm_joint_get_particles");
    if (!j) {
        return LM_ERROR_ID;
    }
    if (end > 1) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_joint_get_particles: end must be 0 or 1");
    }
    for (uint32_t n = 0; n < j->end[end].count; n++) {
        particles[n] = lmi_body_at(world, j->end[end].body)->order[j->end[end].particles[n]];
    }
    return LM_OK;
}

uint32_t lm_world_get_broken_joints(const lm_world *world, lm_joint_id *ids, uint32_t capacity)
{
    uint32_t count = 0;
    LMI_POOL_EACH(&world->joints, n)
    {
        if (LMI_POOL_AT(&world->joints, lmi_joint, n)->broke) {
            lmi_id id = lmi_pool_id(&world->joints, n);
            if (count < capacity) {
                ids[count] = (lm_joint_id){id.slot, id.generation};
            }
            count++;
        }
    }
    return count;
}

/* --- setting --- */

/* Puts a changed copy in the place of a joint, if it can be. */
static lm_result replace(lm_world *world, lmi_joint *j, const lmi_joint *changed, const char *caller)
{
    const char *fault = lmi_joint_fault(changed);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "%s: %s", caller, fault);
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    *j = *changed;
    rouse(world, j);
    return LM_OK;
}

lm_result lm_joint_set_spring(lm_world *world, lm_joint_id joint, float hertz, float damping_ratio)
{
    uint32_t index;
    lmi_joint *j = find(world, joint, &index, "lm_joint_set_spring");
    if (!j) {
        return LM_ERROR_ID;
    }
    lmi_joint changed = *j;
    changed.hertz = hertz;
    changed.damping_ratio = damping_ratio;
    return replace(world, j, &changed, "lm_joint_set_spring");
}

lm_result lm_joint_set_strength(lm_world *world, lm_joint_id joint, float max_force, float max_torque)
{
    uint32_t index;
    lmi_joint *j = find(world, joint, &index, "lm_joint_set_strength");
    if (!j) {
        return LM_ERROR_ID;
    }
    lmi_joint changed = *j;
    changed.max_force = lmi_minf(max_force, FLT_MAX);
    changed.max_torque = lmi_minf(max_torque, FLT_MAX);
    return replace(world, j, &changed, "lm_joint_set_strength");
}

lm_result lm_joint_set_length(lm_world *world, lm_joint_id joint, float length)
{
    uint32_t index;
    lmi_joint *j = find(world, joint, &index, "lm_joint_set_length");
    if (!j) {
        return LM_ERROR_ID;
    }
    lmi_joint changed = *j;
    changed.length = length;
    return replace(world, j, &changed, "lm_joint_set_length");
}

lm_result lm_joint_set_enabled(lm_world *world, lm_joint_id joint, bool enabled)
{
    uint32_t index;
    lmi_joint *j = find(world, joint, &index, "lm_joint_set_enabled");
    if (!j) {
        return LM_ERROR_ID;
    }
    lmi_joint changed = *j;
    changed.disabled = !enabled;
    changed.broken = j->broken && !enabled;
    if (enabled != lmi_joint_acts(j)) { /* what it bore is over */
        changed.force = changed.torque = (lm_vec3){0.0f, 0.0f, 0.0f};
    }
    return replace(world, j, &changed, "lm_joint_set_enabled");
}

lm_result lm_joint_set_user_data(lm_world *world, lm_joint_id joint, uint64_t user_data)
{
    uint32_t index;
    lmi_joint *j = find(world, joint, &index, "lm_joint_set_user_data");
    if (!j) {
        return LM_ERROR_ID;
    }
    j->user_data = user_data;
    return LM_OK;
}
