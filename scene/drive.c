/*
 * A running scene: before each frame its events, moving frames, bones and drags; then the step; then what the expect block
 * wants to know.
 */
#include "base/dmath.h"
#include "scene/fit.h"
#include "scene/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t lmi_frame_at(double time)
{
    double frame = floor(time * LM_SCENE_FRAME_RATE + 0.5);
    return frame >= 4294967295.0 ? UINT32_MAX : (uint32_t)frame;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Keyframes
 */

/* Between keyframes `*index` and the next by *share; held at both ends. */
static void find_keyframe(const double *first_time, size_t stride, uint32_t count, double time, uint32_t *index,
                          double *share)
{
    const char *base = (const char *)first_time;
    *index = 0;
    *share = 0.0;
    while (*index + 1 < count && *(const double *)(const void *)(base + stride * (*index + 1)) <= time) {
        (*index)++;
    }
    double start = *(const double *)(const void *)(base + stride * *index);
    if (*index + 1 < count && time > start) {
        double end = *(const double *)(const void *)(base + stride * (*index + 1));
        *share = (time - start) / (end - start);
    }
}

lm_pose lmi_mover_pose_at(const scene_mover *mover, double time)
{
    const scene_keyframe *keys = mover->keyframes.items;
    uint32_t i;
    double share;
    find_keyframe(&keys[0].time, sizeof *keys, mover->keyframes.count, time, &i, &share);
    uint32_t next = i + 1 < mover->keyframes.count ? i + 1 : i;
    lm_dvec3 at = vector_mix(keys[i].at, keys[next].at, share);
    lm_dvec3 angles = vector_mix(keys[i].rotate, keys[next].rotate, share);
    return (lm_pose){at, lmi_rotation_narrow(lmi_rotation_from_euler(angles))};
}

static lm_dvec3 drag_target_at(const scene_drag *drag, double time)
{
    const scene_drag_keyframe *keys = drag->keyframes.items;
    uint32_t i;
    double share;
    find_keyframe(&keys[0].time, sizeof *keys, drag->keyframes.count, time, &i, &share);
    uint32_t next = i + 1 < drag->keyframes.count ? i + 1 : i;
    return vector_mix(keys[i].target, keys[next].target, share);
}

static lm_result move_movers(lm_scene *s, lm_world *world, uint32_t frame)
{
    double end = (frame + 1.0) / LM_SCENE_FRAME_RATE;
    for (uint32_t i = 0; i < s->file->movers.count; i++) {
        const scene_mover *mover = LIST_ITEM(scene_mover, s->file->movers, i);
        if (mover->keyframes.count == 0) {
            continue;
        }
        lm_result result = lm_mover_move_to(world, mover->id, lmi_mover_pose_at(mover, end));
        if (result != LM_OK) {
            return result;
        }
    }
    return LM_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Fields
 */

lm_field_def lmi_scene_field_at(const scene_field *field, double time)
{
    double turns = time / field->gust_seconds,
           swell = field->gusts * lmi_sin(6.283185307179586 * (turns - floor(turns)));
    lm_field_def def = lm_field_def_default();
    def.kind = (lm_field_kind)field->kind;
    def.vector = vector_narrow(vector_scale(field->vector, 1.0 + swell));
    def.position = field->at;
    def.strength = (float)field->strength;
    def.radius = (float)field->radius;
    return def;
}

/* Gusts of wind: the field as it is in the middle of the frame. */
static lm_result drive_fields(lm_scene *s, lm_world *world, uint32_t frame)
{
    lm_result result = LM_OK;
    for (uint32_t i = 0; i < s->file->fields.count && result == LM_OK; i++) {
        const scene_field *field = LIST_ITEM(scene_field, s->file->fields, i);
        if (field->gusts > 0.0) {
            lm_field_def def = lmi_scene_field_at(field, (frame + 0.5) / LM_SCENE_FRAME_RATE);
            result = lm_field_set(world, field->id, &def);
        }
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Drags
 */

static lm_result find_drag_particle(const lm_world *world, const scene_drag *drag, lm_body_id body, uint32_t *particle,
                                    lm_dvec3 *place)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(world, body, &info);
    if (result != LM_OK) {
        return result;
    }
    lm_vec3 *points = malloc(info.particles * sizeof *points);
    if (points == NULL) {
        return LM_ERROR_MEMORY;
    }
    *particle = drag->particle;
    if (lmi_json_get(drag->head.json, "nearest") != NULL) {
        result = lm_body_get_rest_positions(world, body, points);
        double nearest = HUGE_VAL;
        for (uint32_t i = 0; i < info.particles && result == LM_OK; i++) {
            double distance = vector_length(vector_subtract(vector_widen(points[i]), drag->nearest));
            if (distance < nearest) {
                nearest = distance;
                *particle = i;
            }
        }
    }
    result = result ? result : lm_body_get_positions(world, body, info.centre, points);
    if (result == LM_OK) {
        *place = vector_add(info.centre, vector_widen(points[*particle]));
    }
    free(points);
    return result;
}

static lm_result begin_drag(lm_scene *s, lm_world *world, scene_drag *drag, uint32_t i, double time)
{
    lm_drag_def def = lm_drag_def_default();
    def.body = s->bodies[drag->range.first + i].id;
    lm_dvec3 place;
    lm_result result = find_drag_particle(world, drag, def.body, &def.particle, &place);
    if (result != LM_OK) {
        return result;
    }
    def.radius = (float)drag->radius;
    def.target = drag->keyframes.count > 0                         ? drag_target_at(drag, time)
                 : lmi_json_get(drag->head.json, "offset") != NULL ? vector_add(place, drag->offset)
                                                                   : drag->target;
    def.hertz = (float)drag->hertz;
    def.damping_ratio = (float)drag->damping_ratio;
    def.max_force = (float)drag->max_force;
    return lm_drag_create(world, &def, &drag->ids[i]);
}

static lm_result drive_drag(lm_scene *s, lm_world *world, scene_drag *drag, uint32_t frame)
{
    double end = (frame + 1.0) / LM_SCENE_FRAME_RATE;
    uint32_t first = lmi_frame_at(drag->from), last = lmi_frame_at(drag->until);
    lm_result result = LM_OK;
    for (uint32_t i = 0; i < drag->range.count && result == LM_OK; i++) {
        if (frame == first && first < last) {
            result = begin_drag(s, world, drag, i, end);
        } else if (frame == last && drag->ids[i].slot != 0) {
            result = lm_drag_destroy(world, drag->ids[i]);
            drag->ids[i] = (lm_drag_id){0, 0};
        } else if (drag->ids[i].slot != 0 && drag->keyframes.count > 0) {
            result = lm_drag_set_target(world, drag->ids[i], drag_target_at(drag, end));
        }
    }
    return result;
}

static lm_result drive_drags(lm_scene *s, lm_world *world, uint32_t frame)
{
    lm_result result = LM_OK;
    for (uint32_t i = 0; i < s->file->drags.count && result == LM_OK; i++) {
        result = drive_drag(s, world, LIST_ITEM(scene_drag, s->file->drags, i), frame);
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Events
 */

typedef struct particles {
    lm_vec3 *rest, *positions, *velocities;
    float *masses;
    lm_dvec3 *displaced;
} particles;

static void free_particles(particles *p)
{
    free(p->rest);
    free(p->positions);
    free(p->velocities);
    free(p->masses);
    free(p->displaced);
}

/* Moves the particles to the deformed rest shape, turned as the body is, its centre of mass where the body's is. */
static lm_result deform_body(lm_world *world, lm_body_id body, const lm_body_info *info, const scene_deform *deform,
                             particles *p)
{
    uint32_t count = info->particles;
    lm_result result = lm_body_get_rest_positions(world, body, p->rest);
    result = result ? result : lm_body_get_masses(world, body, p->masses);
    if (result != LM_OK) {
        return result;
    }
    rigid_fit fit = lmi_fit_rigid(p->rest, p->positions, p->masses, count);
    lmi_deform_points(deform, p->rest, count, p->displaced);
    lm_dvec3 sum = lm_dvec3_zero();
    double mass = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        sum = vector_add(sum, vector_scale(p->displaced[i], p->masses[i]));
        mass += p->masses[i];
    }
    lm_dvec3 centre = vector_scale(sum, 1.0 / mass);
    for (uint32_t i = 0; i < count; i++) {
        lm_dvec3 off = lmi_rotation_apply(fit.rotate, vector_subtract(p->displaced[i], centre));
        p->positions[i] = vector_narrow(vector_add(fit.centre, off));
    }
    return LM_OK;
}

/* Events that replace positions or velocities. */
static lm_result replace_state(lm_world *world, lm_body_id body, const scene_event *event, const lm_body_info *info)
{
    bool new_velocity = lmi_json_get(event->head.json, "velocity") != NULL;
    size_t count = info->particles;
    particles p = {malloc(count * sizeof *p.rest), malloc(count * sizeof *p.positions),
                   malloc(count * sizeof *p.velocities), malloc(count * sizeof *p.masses),
                   malloc(count * sizeof *p.displaced)};
    bool memory =
        p.rest != NULL && p.positions != NULL && p.velocities != NULL && p.masses != NULL && p.displaced != NULL;
    lm_result result = memory ? lm_body_get_positions(world, body, info->centre, p.positions) : LM_ERROR_MEMORY;
    if (result == LM_OK && event->deform != NULL) {
        result = deform_body(world, body, info, event->deform, &p);
    }
    if (result == LM_OK) {
        for (size_t i = 0; i < count; i++) {
            p.velocities[i] = vector_narrow(event->velocity);
        }
        result = lm_body_set_state(world, body, info->centre, p.positions, new_velocity ? p.velocities : NULL);
    }
    free_particles(&p);
    return result;
}

static lm_result apply_to_body(lm_scene *s, lm_world *world, lm_body_id body, const scene_event *event)
{
    lm_result result = LM_OK;
    if (event->material != NULL) {
        lm_material material;
        result = lm_body_get_material(world, body, &material);
        lmi_material_apply(event->material, true, &material);
        result = result ? result : lm_body_set_material(world, body, &material);
    }
    lm_body_info info;
    result = result ? result : lm_body_get_info(world, body, &info);
    if (result == LM_OK && lmi_json_get(event->head.json, "impulse") != NULL) {
        bool at_point = lmi_json_get(event->head.json, "point") != NULL;
        result = lm_body_add_impulse(world, body, vector_narrow(event->impulse), at_point ? event->point : info.centre);
    }
    if (result == LM_OK && (event->deform != NULL || lmi_json_get(event->head.json, "velocity") != NULL)) {
        lmi_momentum_close(s, world);
        result = replace_state(world, body, event, &info);
        lmi_momentum_reopen(s, world);
    }
    const scene_refine *refine = event->refine;
    if (result == LM_OK && refine != NULL) {
        result = lm_body_refine(world, body, refine->centre, (float)refine->radius, (float)refine->size, NULL);
    }
    return result;
}

static lm_result apply_events(lm_scene *s, lm_world *world, uint32_t frame)
{
    for (uint32_t i = 0; i < s->file->events.count; i++) {
        const scene_event *event = LIST_ITEM(scene_event, s->file->events, i);
        lm_result result = lmi_cuts_apply(s, world, event, frame);
        if (result != LM_OK) {
            return result;
        }
        if (lmi_frame_at(event->time) != frame) {
            continue;
        }
        if (lmi_json_get(event->head.json, "gravity") != NULL) {
            result = lm_world_set_gravity(world, vector_narrow(event->gravity));
        }
        if (result == LM_OK && lmi_json_get(event->head.json, "eye") != NULL) {
            result = lm_world_set_eye(world, &event->eye);
        }
        for (uint32_t k = 0; k < event->range.count && result == LM_OK; k++) {
            result = apply_to_body(s, world, s->bodies[event->range.first + k].id, event);
        }
        if (result != LM_OK) {
            return result;
        }
    }
    return LM_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Frames
 */

lm_result lm_scene_step(lm_scene *s, lm_world *world, uint32_t frame)
{
    lm_result result = apply_events(s, world, frame);
    result = result ? result : move_movers(s, world, frame);
    result = result ? result : lmi_drive_colliders(s, world, frame);
    result = result ? result : lmi_drive_skeletons(s, world, (frame + 1.0) / LM_SCENE_FRAME_RATE);
    result = result ? result : drive_fields(s, world, frame);
    result = result ? result : drive_drags(s, world, frame);
    result = result ? result : lm_world_step(world, 1.0 / LM_SCENE_FRAME_RATE);
    if (result != LM_OK) {
        return result;
    }
    lmi_momentum_watch(s, world);
    return s->watching ? lmi_expect_record_frame(s, world, frame) : LM_OK;
}

/* The frame that a snapshot was saved before. */
static lm_result frame_of_snapshot(const lm_scene *s, const void *snapshot, size_t size, uint32_t *frame)
{
    lm_world *scratch = NULL;
    lm_result result = lm_world_create(&s->world_def, &scratch);
    result = result ? result : lm_world_load(scratch, snapshot, size);
    *frame = result == LM_OK ? lmi_frame_at(lm_world_get_time(scratch)) : 0;
    lm_world_destroy(scratch);
    return result;
}

/* How many particles each of the scene's bodies has, 0 for one that is not there; to be freed, null without memory. */
static uint32_t *count_particles(const lm_scene *s, const lm_world *world)
{
    uint32_t *counts = calloc((size_t)s->body_count + 1, sizeof *counts);
    for (uint32_t i = 0; i < s->body_count && counts != NULL; i++) {
        lm_body_info info;
        bool there =
            lm_body_is_valid(world, s->bodies[i].id) && lm_body_get_info(world, s->bodies[i].id, &info) == LM_OK;
        counts[i] = there ? info.particles : 0;
    }
    return counts;
}

/* Whether the bodies of the scene are in the world, of the size that they had. There may be others beside them. */
static bool holds_our_bodies(const lm_scene *s, const lm_world *world, const uint32_t *counts)
{
    uint32_t *now = count_particles(s, world);
    bool same = now != NULL && memcmp(now, counts, s->body_count * sizeof *now) == 0;
    free(now);
    return same;
}

/* About the snapshot, which has no place in the scene's file. */
static void report_snapshot(lm_scene *s, lm_result result, lm_scene_error *error)
{
    const char *said = s->last_log[0] != '\0' ? s->last_log : lm_result_text(result);
    snprintf(error->text, sizeof error->text, "%s", said);
    s->last_log[0] = '\0';
}

lm_result lm_scene_load(lm_scene *s, lm_world *world, const void *snapshot, size_t size, uint32_t *frame,
                        lm_scene_error *error)
{
    uint32_t *counts = count_particles(s, world);
    lm_result result = counts != NULL ? frame_of_snapshot(s, snapshot, size, frame) : LM_ERROR_MEMORY;
    /* Ids depend only on the order in which things are made: making and ending the drags up to here gives this scene the
     * ids that the snapshot has. */
    for (uint32_t i = 0; i < *frame && s->file->drags.count > 0 && result == LM_OK; i++) {
        result = drive_drags(s, world, i);
    }
    result = result ? result : lm_world_load(world, snapshot, size);
    bool ours = result == LM_OK && holds_our_bodies(s, world, counts);
    free(counts);
    if (result != LM_OK) {
        report_snapshot(s, result, error);
        return result;
    }
    if (!ours) {
        snprintf(error->text, sizeof error->text, "it holds other bodies than %.160s (expected one saved from it)",
                 s->name);
        return LM_ERROR_ARGUMENT;
    }
    lmi_expect_reset(s);
    lmi_momentum_begin(s, world);
    return LM_OK;
}
