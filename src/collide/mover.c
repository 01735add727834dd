/*
 * Movers: frames that move as told, or (with a mass) as they are pushed; made, destroyed, set and read.
 */
#include "base/guard.h"
#include "collide/rigid.h"
#include "joint/joint.h"
#include "skeleton/skeleton.h"
#include "world/access.h"
#include "world/world.h"

#include <string.h>

#define MOVER_COOKIE 0x4c4d4d31u

static bool velocity_is_sound(lm_vec3 v)
{
    return fabsf(v.x) <= LM_MAX_SPEED && fabsf(v.y) <= LM_MAX_SPEED && fabsf(v.z) <= LM_MAX_SPEED;
}

static lm_quat unit_quat(lm_quat q)
{
    double length = sqrt((double)q.x * q.x + (double)q.y * q.y + (double)q.z * q.z + (double)q.w * q.w);
    lm_quat unit = {(float)(q.x / length), (float)(q.y / length), (float)(q.z / length), (float)(q.w / length)};
    return unit;
}

lm_mover_def lm_mover_def_default(void)
{
    lm_mover_def def;
    memset(&def, 0, sizeof def);
    def.pose = lm_pose_identity();
    def.may_sleep = true;
    def.cookie = MOVER_COOKIE;
    return def;
}

static lmi_mover *find_mover(const lm_world *world, lm_mover_id mover, uint32_t *index, const char *caller)
{
    lmi_id id = {mover.slot, mover.generation};
    if (!lmi_pool_find(&world->movers, id, index)) {
        lmi_fail(world, LM_ERROR_ID, "%s: there is no such mover", caller);
        return NULL;
    }
    return LMI_POOL_AT(&world->movers, lmi_mover, *index);
}

lm_result lm_mover_create(lm_world *world, const lm_mover_def *def, lm_mover_id *mover)
{
    lm_mover_id none = {0, 0};
    *mover = none;
    if (def->cookie != MOVER_COOKIE) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_mover_create: the definition did not come from lm_mover_def_default");
    }
    if (!lmi_pose_is_sound(def->pose) || !velocity_is_sound(def->velocity) || !velocity_is_sound(def->spin)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_mover_create: pose, velocity or spin is not finite or too large");
    }
    const char *fault = lmi_rigid_fault(def->mass, def->inertia);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_mover_create: %s", fault);
    }
    uint32_t index;
    if (!lmi_pool_add(&world->movers, &world->memory, &index)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_mover_create: out of memory");
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_mover *m = LMI_POOL_AT(&world->movers, lmi_mover, index);
    m->pose = def->pose;
    m->pose.rotation = unit_quat(def->pose.rotation);
    m->rotation = lmi_dmat_from_quat(m->pose.rotation);
    m->velocity = def->velocity;
    m->spin = def->spin;
    m->user_data = def->user_data;
    m->mass = def->mass;
    m->moments = def->inertia;
    m->may_sleep = def->may_sleep;
    m->island = LMI_ISLAND_OF_MOVER | index;
    if (m->mass > 0.0f) {
        lmi_world_change(world, LMI_CHANGE_WORLD); /* a device cannot go on with it */
        lmi_rigids_weigh(world);
    }
    lmi_float_mode_leave(&host);
    lmi_id id = lmi_pool_id(&world->movers, index);
    mover->slot = id.slot;
    mover->generation = id.generation;
    return LM_OK;
}

/* Wakes what a mover carries or touches where it is now. */
static void rouse_around(lm_world *world, uint32_t mover)
{
    LMI_POOL_EACH(&world->colliders, n)
    {
        if (LMI_POOL_AT(&world->colliders, lmi_collider, n)->mover == mover) {
            lmi_rouse_near(world, n);
        }
    }
    LMI_POOL_EACH(&world->pins, n)
    {
        const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        if (pin->mover == mover) {
            lmi_body_rouse(world, lmi_body_at(world, pin->body));
        }
    }
    LMI_POOL_EACH(&world->skeletons, n)
    {
        const lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, n);
        if (lmi_skeleton_rides(s, mover)) {
            lmi_body_rouse(world, lmi_body_at(world, s->body));
        }
    }
}

lm_result lm_mover_destroy(lm_world *world, lm_mover_id mover)
{
    uint32_t index;
    const lmi_mover *m = find_mover(world, mover, &index, "lm_mover_destroy");
    if (!m) {
        return LM_ERROR_ID;
    }
    lmi_world_change(world, LMI_CHANGE_WORLD); /* targets of pins are written in another frame */
    lmi_mover_rouse(world, index);
    if (m->mass > 0.0f) {
        rouse_around(world, index);
    }
    LMI_POOL_EACH(&world->colliders, n)
    {
        lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        if (c->mover == index) {
            c->position = dvec_add(m->pose.position, dmat_apply(&m->rotation, c->position));
            c->rotation = lmi_dmat_multiply(&m->rotation, &c->rotation);
            c->mover = LMI_NONE;
        }
    }
    LMI_POOL_EACH(&world->pins, n)
    {
        lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        for (uint32_t k = 0; pin->mover == index && k < pin->count; k++) {
            pin->targets[k] = dvec_add(m->pose.position, dmat_apply(&m->rotation, pin->targets[k]));
        }
        pin->mover = pin->mover == index ? LMI_NONE : pin->mover;
    }
    lmi_joints_leave_mover(world, index);
    lmi_bones_leave_mover(world, index);
    lmi_pool_remove(&world->movers, index);
    return LM_OK;
}

lm_result lm_mover_set_velocity(lm_world *world, lm_mover_id mover, lm_vec3 velocity, lm_vec3 spin)
{
    uint32_t index;
    lmi_mover *m = find_mover(world, mover, &index, "lm_mover_set_velocity");
    if (!m) {
        return LM_ERROR_ID;
    }
    if (!velocity_is_sound(velocity) || !velocity_is_sound(spin)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_mover_set_velocity: velocity or spin is not finite or too large");
    }
    m->velocity = velocity;
    m->spin = spin;
    m->has_target = false;
    lmi_mover_rouse(world, index);
    return LM_OK;
}

lm_result lm_mover_move_to(lm_world *world, lm_mover_id mover, lm_pose pose)
{
    uint32_t index;
    lmi_mover *m = find_mover(world, mover, &index, "lm_mover_move_to");
    if (!m) {
        return LM_ERROR_ID;
    }
    if (!lmi_pose_is_sound(pose)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_mover_move_to: the pose is not finite, or its rotation is zero");
    }
    if (m->mass > 0.0f) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_mover_move_to: a mover with mass moves as it is pushed");
    }
    m->target.position = pose.position;
    m->target.rotation = unit_quat(pose.rotation);
    m->has_target = true;
    return LM_OK;
}

lm_result lm_mover_get_pose(const lm_world *world, lm_mover_id mover, lm_pose *pose)
{
    uint32_t index;
    const lmi_mover *m = find_mover(world, mover, &index, "lm_mover_get_pose");
    if (!m) {
        return LM_ERROR_ID;
    }
    *pose = m->pose;
    return LM_OK;
}

lm_result lm_mover_set_pose(lm_world *world, lm_mover_id mover, lm_pose pose)
{
    uint32_t index;
    lmi_mover *m = find_mover(world, mover, &index, "lm_mover_set_pose");
    if (!m) {
        return LM_ERROR_ID;
    }
    if (!lmi_pose_is_sound(pose)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_mover_set_pose: the pose is not finite, or its rotation is zero");
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    rouse_around(world, index);
    m->pose.position = pose.position;
    m->pose.rotation = unit_quat(pose.rotation);
    m->rotation = lmi_dmat_from_quat(m->pose.rotation);
    m->has_target = false;
    m->warm_count = 0;
    lmi_bones_ride(world);
    rouse_around(world, index);
    lmi_mover_rouse(world, index);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

lm_result lm_mover_steer(lm_world *world, lm_mover_id mover, lm_pose pose, lm_vec3 velocity, lm_vec3 spin)
{
    uint32_t index;
    lmi_mover *m = find_mover(world, mover, &index, "lm_mover_steer");
    if (!m) {
        return LM_ERROR_ID;
    }
    if (!lmi_pose_is_sound(pose) || !velocity_is_sound(velocity) || !velocity_is_sound(spin)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_mover_steer: pose, velocity or spin is not finite or too large");
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    m->pose.position = pose.position;
    m->pose.rotation = unit_quat(pose.rotation);
    m->rotation = lmi_dmat_from_quat(m->pose.rotation);
    m->has_target = false;
    m->velocity = velocity;
    m->spin = spin;
    m->asleep = false;
    m->still = 0.0f;
    lmi_bones_ride(world);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

lm_result lm_mover_get_def(const lm_world *world, lm_mover_id mover, lm_mover_def *def)
{
    uint32_t index;
    const lmi_mover *m = find_mover(world, mover, &index, "lm_mover_get_def");
    if (!m) {
        return LM_ERROR_ID;
    }
    *def = lm_mover_def_default();
    def->pose = m->pose;
    def->velocity = m->velocity;
    def->spin = m->spin;
    def->user_data = m->user_data;
    def->mass = m->mass;
    def->inertia = m->moments;
    def->may_sleep = m->may_sleep;
    return LM_OK;
}

lm_result lm_mover_set_user_data(lm_world *world, lm_mover_id mover, uint64_t user_data)
{
    uint32_t index;
    lmi_mover *m = find_mover(world, mover, &index, "lm_mover_set_user_data");
    if (!m) {
        return LM_ERROR_ID;
    }
    m->user_data = user_data;
    return LM_OK;
}

/* --- mass --- */

lm_result lm_mover_set_mass(lm_world *world, lm_mover_id mover, float mass, lm_vec3 inertia)
{
    uint32_t index;
    lmi_mover *m = find_mover(world, mover, &index, "lm_mover_set_mass");
    if (!m) {
        return LM_ERROR_ID;
    }
    const char *fault = lmi_rigid_fault(mass, inertia);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_mover_set_mass: %s", fault);
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    if (!lmi_pins_of_mover(world, index, mass > 0.0f)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_mover_set_mass: out of memory");
    }
    lmi_mover_rouse(world, index);
    rouse_around(world, index);
    m->mass = mass;
    m->moments = inertia;
    m->has_target = false;
    m->warm_count = 0;
    m->asleep = false;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_rigids_weigh(world);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

lm_result lm_mover_apply_impulse(lm_world *world, lm_mover_id mover, lm_vec3 impulse, lm_dvec3 point)
{
    uint32_t index;
    lmi_mover *m = find_mover(world, mover, &index, "lm_mover_apply_impulse");
    if (!m) {
        return LM_ERROR_ID;
    }
    const float most = 1e12f;
    if (!(fabsf(impulse.x) <= most && fabsf(impulse.y) <= most && fabsf(impulse.z) <= most) ||
        !(fabs(point.x) <= LM_MAX_POSITION && fabs(point.y) <= LM_MAX_POSITION && fabs(point.z) <= LM_MAX_POSITION)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_mover_apply_impulse: impulse or point is not finite or too large");
    }
    if (!(m->mass > 0.0f)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_mover_apply_impulse: the mover has no mass");
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    double inertia[6];
    lm_dvec3 given = dvec_from(impulse);
    lmi_rigids_weigh(world);
    lmi_rigid_inertia(m, &m->rotation, inertia);
    lm_dvec3 moment = dvec_cross(dvec_sub(point, m->pose.position), given);
    lmi_mover_rouse(world, index);
    lmi_rigid_push(m, dvec_scale(given, 1.0 / m->mass), lmi_dmat_solve_spin(inertia, moment));
    lmi_float_mode_leave(&host);
    return LM_OK;
}

bool lm_mover_is_awake(const lm_world *world, lm_mover_id mover)
{
    lmi_id id = {mover.slot, mover.generation};
    uint32_t index;
    return lmi_pool_find(&world->movers, id, &index) && !LMI_POOL_AT(&world->movers, lmi_mover, index)->asleep;
}

lm_result lm_mover_set_may_sleep(lm_world *world, lm_mover_id mover, bool may_sleep)
{
    uint32_t index;
    lmi_mover *m = find_mover(world, mover, &index, "lm_mover_set_may_sleep");
    if (!m) {
        return LM_ERROR_ID;
    }
    m->may_sleep = may_sleep;
    if (!may_sleep) {
        lmi_mover_rouse(world, index);
    }
    return LM_OK;
}

lm_result lm_mover_wake(lm_world *world, lm_mover_id mover)
{
    uint32_t index;
    if (!find_mover(world, mover, &index, "lm_mover_wake")) {
        return LM_ERROR_ID;
    }
    lmi_mover_rouse(world, index);
    return LM_OK;
}
