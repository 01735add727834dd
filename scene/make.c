/* A checked scene becomes a world: movers first, then bodies, and what refers to them. */
#include "scene/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * What the library says goes into our own errors, and on to whoever asked for it.
 */

static void keep_log(lm_result result, const char *line, void *user)
{
    scene *s = user;
    snprintf(s->last_log, sizeof s->last_log, "%s", line);
    if (s->host_log.write != NULL) {
        s->host_log.write(result, line, s->host_log.user);
    }
}

void report_result(scene *s, lm_result result, const scene_head *head, const char *name, scene_error *error)
{
    const char *said = s->last_log[0] != '\0' ? s->last_log : lm_result_text(result);
    report_field(error, s->name, head, name, "%s", said);
    s->last_log[0] = '\0';
}

/* ------------------------------------------------------------------------------------------------------------------
 * Movers, colliders, fields
 */

static lm_result make_mover(scene *s, lm_world *world, scene_mover *mover, scene_error *error)
{
    lm_mover_def def = lm_mover_def_default();
    def.pose = (lm_pose){mover->at, rotation_narrow(mover->rotate)};
    if (mover->keyframes.count > 0) {
        def.pose = mover_pose_at(mover, 0.0);
    }
    def.velocity = vector_narrow(mover->velocity);
    def.spin = vector_narrow(vector_scale(mover->spin, RADIANS_PER_DEGREE));
    lm_result result = lm_mover_create(world, &def, &mover->id);
    if (result != LM_OK) {
        report_result(s, result, &mover->head, NULL, error);
    }
    return result;
}

static lm_mover_id mover_id(const scene *s, uint32_t index)
{
    lm_mover_id none = {0, 0};
    return index == SCENE_NO_MOVER ? none : LIST_ITEM(scene_mover, s->file->movers, index)->id;
}

static lm_result make_collider(scene *s, lm_world *world, scene_collider *collider, scene_error *error)
{
    lm_collider_def def = lm_collider_def_default();
    rotation rotate = collider->rotate;
    if (json_get(collider->head.json, "normal") != NULL) {
        rotate = rotation_from_up(collider->normal);
    }
    def.shape = (lm_shape)collider->shape;
    def.radius = (float)collider->radius;
    def.half_length = (float)(0.5 * collider->length);
    def.half_extents = vector_narrow(vector_scale(collider->size, 0.5));
    def.pose = (lm_pose){collider->at, rotation_narrow(rotate)};
    def.mover = mover_id(s, collider->mover_index);
    def.friction = (float)collider->friction;
    def.restitution = (float)collider->restitution;
    def.group = collider->group;
    def.mask = collider->mask;
    solid_arrays arrays;
    lm_result result = solid_arrays_make(s, collider, &arrays, &def, error);
    if (result == LM_OK) {
        result = lm_collider_create(world, &def, &collider->id);
        if (result != LM_OK) {
            report_result(s, result, &collider->head, NULL, error);
        }
    }
    solid_arrays_free(&arrays);
    return result;
}

static lm_result make_field(scene *s, lm_world *world, scene_field *field, scene_error *error)
{
    lm_field_def def = scene_field_at(field, 0.0);
    lm_result result = lm_field_create(world, &def, &field->id);
    if (result != LM_OK) {
        report_result(s, result, &field->head, NULL, error);
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
static uint32_t choose_particles(scene *s, const lm_world *world, const scene_pin *pin, const made_body *body,
                                 uint32_t particles, lm_vec3 *rest, uint32_t *chosen, scene_error *error)
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
            report_field(error, s->name, &pin->head, "where", "holds no particle of \"%.60s\"", body->name);
        }
        return count;
    }
    for (uint32_t k = 0; k < pin->particles.count; k++) {
        uint32_t index = *LIST_ITEM(uint32_t, pin->particles, k);
        if (index >= particles || k >= particles) {
            const json_value *value = json_at(json_get(pin->head.json, "particles"), k);
            char path[REPORT_PATH_SIZE];
            snprintf(path, sizeof path, "%.200s.particles[%u]", pin->head.path, (unsigned)k);
            report(error, report_at(s->name, value, path), "is %u (expected a particle of \"%.60s\" below %u)",
                   (unsigned)index, body->name, (unsigned)particles);
            return 0;
        }
        chosen[count++] = index;
    }
    return count;
}

static lm_result pin_body(scene *s, lm_world *world, const scene_pin *pin, const made_body *body, scene_error *error)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(world, body->id, &info);
    if (result != LM_OK) {
        report_result(s, result, &pin->head, "body", error);
        return result;
    }
    uint32_t *chosen = malloc(info.particles * sizeof *chosen);
    lm_vec3 *rest = malloc(info.particles * sizeof *rest);
    if (chosen == NULL || rest == NULL) {
        free(chosen);
        free(rest);
        report_result(s, LM_ERROR_MEMORY, &pin->head, NULL, error);
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
            report_result(s, result, &pin->head, NULL, error);
        }
    }
    free(chosen);
    free(rest);
    return result;
}

static lm_result make_pin(scene *s, lm_world *world, scene_pin *pin, scene_error *error)
{
    for (uint32_t i = 0; i < pin->range.count; i++) {
        lm_result result = pin_body(s, world, pin, &s->bodies[pin->range.first + i], error);
        if (result != LM_OK) {
            return result;
        }
    }
    return LM_OK;
}

/* Drags are made when they begin; that their particle exists is checked now. */
static lm_result check_drag(scene *s, lm_world *world, scene_drag *drag, scene_error *error)
{
    memset(drag->ids, 0, sizeof *drag->ids * drag->range.count);
    for (uint32_t i = 0; i < drag->range.count && json_get(drag->head.json, "particle") != NULL; i++) {
        const made_body *body = &s->bodies[drag->range.first + i];
        lm_body_info info;
        lm_result result = lm_body_get_info(world, body->id, &info);
        if (result == LM_OK && drag->particle >= info.particles) {
            report_field(error, s->name, &drag->head, "particle", "is %u (expected a particle of \"%.60s\" below %u)",
                         (unsigned)drag->particle, body->name, (unsigned)info.particles);
            return LM_ERROR_ARGUMENT;
        }
    }
    return LM_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The world
 */

/* How things touch. */
static lm_result make_contact_rule(scene *s, lm_world *world, scene_contact_rule *rule, scene_error *error)
{
    bool friction = json_get(rule->head.json, "friction") != NULL;
    bool restitution = json_get(rule->head.json, "restitution") != NULL;
    lm_result result = lm_world_set_contact_rule(world, rule->groups, rule->others,
                                                 friction ? (float)rule->friction : LM_CONTACT_COMBINED,
                                                 restitution ? (float)rule->restitution : LM_CONTACT_COMBINED);
    if (result != LM_OK) {
        report_result(s, result, &rule->head, NULL, error);
    }
    return result;
}

static lm_result set_contacts(scene *s, lm_world *world, scene_error *error)
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
    if (result == LM_OK && json_get(file->head.json, "eye") != NULL) {
        result = lm_world_set_eye(world, &file->eye);
    }
    if (result != LM_OK) {
        report_result(s, result, &file->head, NULL, error);
    }
    return result;
}

#define MAKE_ALL(type, list, make)                                                                                     \
    for (uint32_t i = 0; i < (list).count && result == LM_OK; i++) {                                                   \
        result = make(s, world, LIST_ITEM(type, list, i), error);                                                      \
    }

static lm_result fill_world(scene *s, lm_world *world, scene_error *error)
{
    scene_file *file = s->file;
    lm_result result = set_contacts(s, world, error);
    uint64_t particles = 0;
    choose_fine_details(s);
    MAKE_ALL(scene_mover, file->movers, make_mover)
    for (uint32_t i = 0; i < file->bodies.count && result == LM_OK; i++) {
        result = make_bodies(s, world, LIST_ITEM(scene_body_entry, file->bodies, i), &particles, error);
    }
    MAKE_ALL(scene_collider, file->colliders, make_collider)
    MAKE_ALL(scene_field, file->fields, make_field)
    MAKE_ALL(scene_pin, file->pins, make_pin)
    MAKE_ALL(scene_drag, file->drags, check_drag)
    MAKE_ALL(scene_contact_rule, file->contact_rules, make_contact_rule)
    return result;
}

/* Bodies that will be cut are made ready now and not in the frame of the first stroke. What finds no memory here is tried again
 * then. */
static void prepare_cuts(scene *s, lm_world *world)
{
    for (uint32_t i = 0; i < s->file->events.count; i++) {
        const scene_event *event = LIST_ITEM(scene_event, s->file->events, i);
        for (uint32_t k = 0; event->cut != NULL && k < event->range.count; k++) {
            (void)lm_body_prepare_cut(world, s->bodies[event->range.first + k].id);
        }
    }
}

lm_result scene_make_world(scene *s, const lm_world_def *def, lm_world **world, scene_error *error)
{
    *world = NULL;
    s->last_log[0] = '\0';
    s->host_log = def->log;
    s->world_def = *def;
    s->world_def.log = (lm_log){keep_log, s};
    s->world_def.gravity = vector_narrow(s->file->gravity);
    s->world_def.substeps = s->file->substeps;
    lm_result result = lm_world_create(&s->world_def, world);
    if (result != LM_OK) {
        report_result(s, result, &s->file->head, NULL, error);
        return result;
    }
    result = fill_world(s, *world, error);
    if (result != LM_OK) {
        lm_world_destroy(*world);
        *world = NULL;
        return result;
    }
    prepare_cuts(s, *world);
    expect_reset(s);
    momentum_begin(s, *world);
    return LM_OK;
}

/* From one world into a fresh one made by `def`. */
static lm_result move_world(scene *s, const lm_world_def *def, lm_world **world, scene_error *error)
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
        report_result(s, result, &s->file->head, NULL, error);
        return result;
    }
    momentum_close(s, *world);
    momentum_reopen(s, fresh);
    lm_world_destroy(*world);
    *world = fresh;
    return LM_OK;
}

lm_result scene_resave(scene *s, lm_world **world, scene_error *error)
{
    return move_world(s, &s->world_def, world, error);
}

lm_result scene_rehost(scene *s, uint32_t workers, lm_isa isa, lm_world **world, scene_error *error)
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
