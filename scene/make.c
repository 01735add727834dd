/* A checked scene becomes a world: movers first, then bodies, and what refers to them. */
#include "scene/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * What the library says goes into our own errors, and on to whoever asked for it.
 */

static void keep_log(lm_result result, const char *line, void *user)
{
    lm_scene *s = user;
    snprintf(s->last_log, sizeof s->last_log, "%s", line);
    if (s->host_log.write != NULL) {
        s->host_log.write(result, line, s->host_log.user);
    }
}

void lmi_report_result(lm_scene *s, lm_result result, const scene_head *head, const char *name, lm_scene_error *error)
{
    const char *said = s->last_log[0] != '\0' ? s->last_log : lm_result_text(result);
    lmi_report_field(error, s->name, head, name, "%s", said);
    s->last_log[0] = '\0';
}

/* ------------------------------------------------------------------------------------------------------------------
 * Movers, colliders, fields
 */

static lm_result make_mover(lm_scene *s, lm_world *world, scene_mover *mover, lm_scene_error *error)
{
    lm_mover_def def = lm_mover_def_default();
    def.pose = (lm_pose){mover->at, lmi_rotation_narrow(mover->rotate)};
    if (mover->keyframes.count > 0) {
        def.pose = lmi_mover_pose_at(mover, 0.0);
    }
    def.velocity = vector_narrow(mover->velocity);
    def.spin = vector_narrow(vector_scale(mover->spin, RADIANS_PER_DEGREE));
    def.mass = (float)mover->mass;
    def.inertia = vector_narrow(mover->inertia);
    lm_result result = lm_mover_create(world, &def, &mover->id);
    if (result != LM_OK) {
        lmi_report_result(s, result, &mover->head, NULL, error);
    }
    return result;
}

static lm_mover_id mover_id(const lm_scene *s, uint32_t index)
{
    lm_mover_id none = {0, 0};
    return index == SCENE_NO_MOVER ? none : LIST_ITEM(scene_mover, s->file->movers, index)->id;
}

static lm_result make_collider(lm_scene *s, lm_world *world, scene_collider *collider, lm_scene_error *error)
{
    lm_collider_def def = lm_collider_def_default();
    rotation rotate = collider->rotate;
    if (lmi_json_get(collider->head.json, "normal") != NULL) {
        rotate = lmi_rotation_from_up(collider->normal);
    }
    def.shape = (lm_shape)collider->shape;
    def.radius = (float)collider->radius;
    def.half_length = (float)(0.5 * collider->length);
    def.half_extents = vector_narrow(vector_scale(collider->size, 0.5));
    def.pose = (lm_pose){collider->at, lmi_rotation_narrow(rotate)};
    def.mover = mover_id(s, collider->mover_index);
    def.friction = (float)collider->friction;
    def.restitution = (float)collider->restitution;
    def.group = collider->group;
    def.mask = collider->mask;
    solid_arrays arrays;
    lm_result result = lmi_solid_arrays_make(s, collider, &arrays, &def, error);
    if (result == LM_OK) {
        result = lm_collider_create(world, &def, &collider->id);
        if (result != LM_OK) {
            lmi_report_result(s, result, &collider->head, NULL, error);
        }
    }
    lmi_solid_arrays_free(&arrays);
    return result;
}

static lm_result make_field(lm_scene *s, lm_world *world, scene_field *field, lm_scene_error *error)
{
    lm_field_def def = lmi_scene_field_at(field, 0.0);
    lm_result result = lm_field_create(world, &def, &field->id);
    if (result != LM_OK) {
        lmi_report_result(s, result, &field->head, NULL, error);
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Pins
 */

static bool in_box(const scene_box *box, lm_vec3 p)
{
    return p.x >= box->min.x && p.x <= box->max.x && p.y >= box->min.y && p.y <= box->max.y && p.z >= box->min.z &&
           p.z <= box->max.z;
}

/* The particles to hold, into `chosen` (room for all of the body); 0 and *error when there are none. */
static uint32_t choose_particles(lm_scene *s, const lm_world *world, const scene_pin *pin, const made_body *body,
                                 uint32_t particles, lm_vec3 *rest, uint32_t *chosen, lm_scene_error *error)
{
    uint32_t count = 0;
    if (pin->where != NULL) {
        if (lm_body_get_rest_positions(world, body->id, rest) != LM_OK) {
            return 0;
        }
        for (uint32_t i = 0; i < particles; i++) {
            if (in_box(pin->where, rest[i])) {
                chosen[count++] = i;
            }
        }
        if (count == 0) {
            lmi_report_field(error, s->name, &pin->head, "where", "holds no particle of \"%.60s\"", body->name);
        }
        return count;
    }
    for (uint32_t k = 0; k < pin->particles.count; k++) {
        uint32_t index = *LIST_ITEM(uint32_t, pin->particles, k);
        if (index >= particles || k >= particles) {
            const json_value *value = lmi_json_at(lmi_json_get(pin->head.json, "particles"), k);
            char path[REPORT_PATH_SIZE];
            snprintf(path, sizeof path, "%.200s.particles[%u]", pin->head.path, (unsigned)k);
            lmi_report(error, lmi_report_at(s->name, value, path), "is %u (expected a particle of \"%.60s\" below %u)",
                       (unsigned)index, body->name, (unsigned)particles);
            return 0;
        }
        chosen[count++] = index;
    }
    return count;
}

static lm_result pin_body(lm_scene *s, lm_world *world, const scene_pin *pin, const made_body *body,
                          lm_scene_error *error)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(world, body->id, &info);
    if (result != LM_OK) {
        lmi_report_result(s, result, &pin->head, "body", error);
        return result;
    }
    uint32_t *chosen = malloc(info.particles * sizeof *chosen);
    lm_vec3 *rest = malloc(info.particles * sizeof *rest);
    if (chosen == NULL || rest == NULL) {
        free(chosen);
        free(rest);
        lmi_report_result(s, LM_ERROR_MEMORY, &pin->head, NULL, error);
        return LM_ERROR_MEMORY;
    }
    uint32_t count = choose_particles(s, world, pin, body, info.particles, rest, chosen, error);
    result = LM_ERROR_ARGUMENT;
    if (count > 0) {
        lm_pin_def def = lm_pin_def_default();
        def.body = body->id;
        def.particles = chosen;
        def.particle_count = count;
        def.mover = mover_id(s, pin->mover_index);
        lm_pin_id id;
        result = lm_pin_create(world, &def, &id);
        if (result != LM_OK) {
            lmi_report_result(s, result, &pin->head, NULL, error);
        }
    }
    free(chosen);
    free(rest);
    return result;
}

static lm_result make_pin(lm_scene *s, lm_world *world, scene_pin *pin, lm_scene_error *error)
{
    for (uint32_t i = 0; i < pin->range.count; i++) {
        lm_result result = pin_body(s, world, pin, &s->bodies[pin->range.first + i], error);
        if (result != LM_OK) {
            return result;
        }
    }
    return LM_OK;
}

/* The n-th of the joints that a record makes. */
static lm_result join_body(lm_scene *s, lm_world *world, const scene_joint *joint, uint32_t n, lm_scene_error *error)
{
    lm_joint_def def = lm_joint_def_default();
    lm_dvec3 off = vector_scale(joint->step, n);
    bool from = lmi_json_get(joint->head.json, "from") != NULL;
    def.kind = (lm_joint_kind)joint->kind;
    def.b.body = s->bodies[joint->range.first + n].id;
    def.b.anchor = vector_add(joint->at, off);
    def.a.anchor = from ? vector_add(joint->from, off) : def.b.anchor;
    if (joint->chain && n > 0) {
        def.a.body = s->bodies[joint->range.first + n - 1].id;
    } else if (joint->to != NULL) {
        def.a.body = s->bodies[joint->to_range.first + (joint->to_range.count > 1 ? n : 0)].id;
    } else {
        def.a.mover = mover_id(s, joint->mover_index);
    }
    def.a.radius = def.b.radius = joint->whole ? INFINITY : (float)joint->radius;
    def.axis = vector_narrow(joint->axis);
    def.length = lmi_json_get(joint->head.json, "length") != NULL ? (float)joint->length : -1.0f;
    def.hertz = (float)joint->hertz;
    def.damping_ratio = (float)joint->damping_ratio;
    def.max_force = (float)joint->max_force;
    def.max_torque = (float)joint->max_torque;
    lm_joint_id id;
    lm_result result = lm_joint_create(world, &def, &id);
    if (result != LM_OK) {
        lmi_report_result(s, result, &joint->head, NULL, error);
    }
    return result;
}

static lm_result make_joint(lm_scene *s, lm_world *world, scene_joint *joint, lm_scene_error *error)
{
    lm_result result = LM_OK;
    for (uint32_t n = 0; n < joint->range.count && result == LM_OK; n++) {
        result = join_body(s, world, joint, n, error);
    }
    return result;
}

/* Drags are made when they begin; that their particle exists is checked now. */
static lm_result check_drag(lm_scene *s, lm_world *world, scene_drag *drag, lm_scene_error *error)
{
    memset(drag->ids, 0, sizeof *drag->ids * drag->range.count);
    for (uint32_t i = 0; i < drag->range.count && lmi_json_get(drag->head.json, "particle") != NULL; i++) {
        const made_body *body = &s->bodies[drag->range.first + i];
        lm_body_info info;
        lm_result result = lm_body_get_info(world, body->id, &info);
        if (result == LM_OK && drag->particle >= info.particles) {
            lmi_report_field(error, s->name, &drag->head, "particle",
                             "is %u (expected a particle of \"%.60s\" below %u)", (unsigned)drag->particle, body->name,
                             (unsigned)info.particles);
            return LM_ERROR_ARGUMENT;
        }
    }
    return LM_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The world
 */

/* How things touch. */
static lm_result make_contact_rule(lm_scene *s, lm_world *world, scene_contact_rule *rule, lm_scene_error *error)
{
    bool friction = lmi_json_get(rule->head.json, "friction") != NULL;
    bool restitution = lmi_json_get(rule->head.json, "restitution") != NULL;
    lm_result result = lm_world_set_contact_rule(world, rule->groups, rule->others,
                                                 friction ? (float)rule->friction : LM_CONTACT_COMBINED,
                                                 restitution ? (float)rule->restitution : LM_CONTACT_COMBINED);
    if (result != LM_OK) {
        lmi_report_result(s, result, &rule->head, NULL, error);
    }
    return result;
}

static lm_result set_contacts(lm_scene *s, lm_world *world, lm_scene_error *error)
{
    const scene_file *file = s->file;
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = file->sleep != NULL;
    if (file->sleep != NULL) {
        sleep.speed = (float)file->sleep->speed;
        sleep.seconds = (float)file->sleep->seconds;
    }
    lm_result result = lm_world_set_sleep(world, &sleep);
    result = result ? result : lm_world_set_contact_method(world, (lm_contact_method)file->contact_method);
    if (result == LM_OK && lmi_json_get(file->head.json, "eye") != NULL) {
        result = lm_world_set_eye(world, &file->eye);
    }
    if (result != LM_OK) {
        lmi_report_result(s, result, &file->head, NULL, error);
    }
    return result;
}

#define MAKE_ALL(type, list, make)                                                                                     \
    for (uint32_t i = 0; i < (list).count && result == LM_OK; i++) {                                                   \
        result = make(s, world, LIST_ITEM(type, list, i), error);                                                      \
    }

static lm_result fill_world(lm_scene *s, lm_world *world, lm_scene_error *error)
{
    scene_file *file = s->file;
    lm_result result = set_contacts(s, world, error);
    uint64_t particles = 0;
    lmi_choose_fine_details(s);
    MAKE_ALL(scene_mover, file->movers, make_mover)
    for (uint32_t i = 0; i < file->bodies.count && result == LM_OK; i++) {
        result = lmi_make_bodies(s, world, LIST_ITEM(scene_body_entry, file->bodies, i), &particles, error);
    }
    MAKE_ALL(scene_collider, file->colliders, make_collider)
    MAKE_ALL(scene_field, file->fields, make_field)
    MAKE_ALL(scene_pin, file->pins, make_pin)
    MAKE_ALL(scene_joint, file->joints, make_joint)
    MAKE_ALL(scene_drag, file->drags, check_drag)
    MAKE_ALL(scene_contact_rule, file->contact_rules, make_contact_rule)
    return result;
}

lm_result lm_scene_make_world(lm_scene *s, const lm_world_def *def, lm_world **world, lm_scene_error *error)
{
    *world = NULL;
    s->last_log[0] = '\0';
    s->host_log = def->log;
    s->world_def = *def;
    s->world_def.log = (lm_log){keep_log, s};
    s->world_def.gravity = vector_narrow(s->file->gravity);
    s->world_def.substeps = s->file->substeps;
    s->world_def.may_overlap = true; /* lmi_scene_warn tells of it, by the names that the scene has */
    lm_result result = lm_world_create(&s->world_def, world);
    if (result != LM_OK) {
        lmi_report_result(s, result, &s->file->head, NULL, error);
        return result;
    }
    result = fill_world(s, *world, error);
    result = result ? result : lmi_cuts_prepare(s, *world, error);
    if (result != LM_OK) {
        lm_world_destroy(*world);
        *world = NULL;
        return result;
    }
    lmi_expect_reset(s);
    lmi_momentum_begin(s, *world);
    lmi_scene_warn(s, *world);
    return LM_OK;
}

/* From one world into a fresh one made by `def`. */
static lm_result move_world(lm_scene *s, const lm_world_def *def, lm_world **world, lm_scene_error *error)
{
    size_t size = lm_world_save_size(*world);
    void *buffer = malloc(size > 0 ? size : 1);
    lm_world *fresh = NULL;
    lm_result result = buffer == NULL ? LM_ERROR_MEMORY : lm_world_save(*world, buffer, size);
    result = result ? result : lm_world_create(def, &fresh);
    result = result ? result : lm_world_load(fresh, buffer, size);
    free(buffer);
    if (result != LM_OK) {
        lm_world_destroy(fresh);
        lmi_report_result(s, result, &s->file->head, NULL, error);
        return result;
    }
    lmi_momentum_close(s, *world);
    lmi_momentum_reopen(s, fresh);
    lm_world_destroy(*world);
    *world = fresh;
    return LM_OK;
}

lm_result lm_scene_resave(lm_scene *s, lm_world **world, lm_scene_error *error)
{
    return move_world(s, &s->world_def, world, error);
}

lm_result lm_scene_rehost(lm_scene *s, uint32_t workers, lm_isa isa, lm_world **world, lm_scene_error *error)
{
    lm_world_def def = s->world_def;
    def.workers = workers;
    def.isa = isa;
    lm_result result = move_world(s, &def, world, error);
    if (result == LM_OK) {
        s->world_def = def;
    }
    return result;
}
