/* Sessions: opening, stepping, returning. */
#include "viewer/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lm_result fail_memory(lm_scene_error *error)
{
    snprintf(error->text, sizeof error->text, "out of memory");
    return LM_ERROR_MEMORY;
}

/* ------------------------------------------------------------------------------------------------------------------
 * States
 */

bool session_take_key(const session *s, timeline_key *key)
{
    size_t marks = lm_scene_marks_size(s->scene);
    *key = (timeline_key){.frame = s->frame, .size = lm_world_save_size(s->world), .company = s->company};
    key->snapshot = malloc(key->size);
    key->marks = malloc(marks > 0 ? marks : 1);
    if (key->snapshot == NULL || key->marks == NULL || lm_world_save(s->world, key->snapshot, key->size) != LM_OK) {
        session_free_key(key);
        return false;
    }
    lm_scene_get_marks(s->scene, key->marks);
    return true;
}

void session_free_key(timeline_key *key)
{
    free(key->snapshot);
    free(key->marks);
    key->snapshot = key->marks = NULL;
}

lm_result session_return_to_key(session *s, const timeline_key *key, lm_scene_error *error)
{
    lm_result result = lm_world_load(s->world, key->snapshot, key->size);
    if (result != LM_OK) {
        snprintf(error->text, sizeof error->text, "%s", lm_result_text(result));
        return result;
    }
    lm_scene_set_marks(s->scene, key->marks);
    s->company = key->company;
    s->frame = key->frame;
    s->hash = lm_world_hash(s->world);
    return LM_OK;
}

lm_result session_begin_timeline(session *s, lm_scene_error *error)
{
    timeline_key key;
    s->hash = lm_world_hash(s->world);
    if (!timeline_begin(&s->timeline, s->frame, s->hash) || !session_take_key(s, &key) ||
        !timeline_add_key(&s->timeline, key)) {
        return fail_memory(error);
    }
    return LM_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Lifetime
 */

static lm_result remember_start(session *s, lm_scene_error *error)
{
    uint32_t count = lm_scene_body_count(s->scene);
    s->materials = calloc((size_t)count + 1, sizeof *s->materials);
    if (s->materials == NULL || !session_take_key(s, &s->start)) {
        return fail_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        lm_body_get_material(s->world, lm_scene_get_body(s->scene, i).id, &s->materials[i]);
    }
    s->gravity = lm_world_get_gravity(s->world);
    s->substeps = lm_world_get_substeps(s->world);
    return session_begin_timeline(s, error);
}

session *session_open(const char *name, const session_options *options, lm_scene_error *error)
{
    session *s = calloc(1, sizeof *s);
    size_t length = strlen(name) + 1;
    if (s != NULL) {
        s->name = malloc(length);
    }
    if (s == NULL || s->name == NULL) {
        session_close(s);
        fail_memory(error);
        return NULL;
    }
    memcpy(s->name, name, length);
    lm_world_def def = lm_world_def_default();
    def.workers = options->threads;
    def.isa = options->isa;
    def.device = options->device;
    def.gl = options->gl;
    s->scene = lm_scene_open(name, options->sets, options->set_count, error);
    bool good = s->scene != NULL;
    if (good) {
        lm_scene_want_fine_surfaces(s->scene, true);
        lm_scene_watch(s->scene, false);
        good = lm_scene_make_world(s->scene, &def, &s->world, error) == LM_OK && remember_start(s, error) == LM_OK;
    }
    if (!good) {
        session_close(s);
        return NULL;
    }
    return s;
}

void session_close(session *s)
{
    if (s == NULL) {
        return;
    }
    timeline_free(&s->timeline);
    session_free_key(&s->start);
    free(s->materials);
    lm_world_destroy(s->world);
    lm_scene_close(s->scene);
    free(s->name);
    free(s);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Time
 */

uint32_t session_first(const session *s) { return s->timeline.first; }

uint32_t session_last(const session *s) { return s->timeline.last; }

bool session_is_live(const session *s) { return s->frame == s->timeline.last; }

/* Makes the changes again that were made in this frame. */
static lm_result repeat_changes(session *s, lm_scene_error *error)
{
    size_t count;
    const timeline_change *changes = timeline_changes(&s->timeline, s->frame, &count);
    lm_result result = LM_OK;
    for (size_t i = 0; i < count && result == LM_OK; i++) {
        result = change_make(&changes[i].change, s->scene, s->world, &s->company, error);
    }
    return result;
}

static lm_result step_world(session *s, lm_scene_error *error)
{
    lm_result result = company_move(&s->company, s->world, 1.0 / LM_SCENE_FRAME_RATE);
    result = result ? result : lm_scene_step(s->scene, s->world, s->frame);
    if (result != LM_OK) {
        snprintf(error->text, sizeof error->text, "frame %u: %s", (unsigned)s->frame, lm_result_text(result));
        return result;
    }
    s->frame++;
    s->hash = lm_world_hash(s->world);
    return LM_OK;
}

static lm_result record_frame(session *s, lm_scene_error *error)
{
    if (!timeline_add_frame(&s->timeline, s->hash)) {
        return fail_memory(error);
    }
    timeline_key key;
    if (timeline_wants_key(&s->timeline, lm_world_save_size(s->world)) && session_take_key(s, &key)) {
        timeline_add_key(&s->timeline, key); /* without one, the key before serves too */
    }
    return LM_OK;
}

/* Along what is recorded. */
static lm_result repeat_frame(session *s, lm_scene_error *error)
{
    lm_result result = repeat_changes(s, error);
    result = result ? result : step_world(s, error);
    if (result != LM_OK) {
        return result;
    }
    s->mismatches += s->hash != timeline_hash(&s->timeline, s->frame);
    return session_is_live(s) ? repeat_changes(s, error) : LM_OK;
}

lm_result session_step(session *s, lm_scene_error *error)
{
    if (!session_is_live(s)) {
        return repeat_frame(s, error);
    }
    lm_result result = step_world(s, error);
    return result ? result : record_frame(s, error);
}

/* Whoever goes back a frame will go back another: on the way to a frame from a key far before it, nearer ones are made. */
static void keep_waypoint(session *s)
{
    timeline_key key;
    if (s->frame % TIMELINE_WAY_FRAMES == 0 && !session_is_live(s) &&
        timeline_find_key(&s->timeline, s->frame)->frame != s->frame && session_take_key(s, &key)) {
        timeline_add_waypoint(&s->timeline, key);
    }
}

lm_result session_seek(session *s, uint32_t frame, lm_scene_error *error)
{
    frame = frame < session_first(s) ? session_first(s) : frame > session_last(s) ? session_last(s) : frame;
    if (frame == s->frame) {
        return LM_OK;
    }
    if (session_is_live(s) && s->company.grab.slot != 0) { /* time does not go back with a hand on it */
        change let_go = {.kind = CHANGE_RELEASE};
        session_change(s, &let_go, error);
    }
    timeline_drop_waypoints(&s->timeline, frame);
    const timeline_key *key = timeline_find_key(&s->timeline, frame);
    lm_result result = LM_OK;
    if (frame < s->frame || key->frame > s->frame) {
        result = session_return_to_key(s, key, error);
        s->mismatches += result == LM_OK && s->hash != timeline_hash(&s->timeline, s->frame);
        if (result == LM_OK && session_is_live(s)) {
            result = repeat_changes(s, error);
        }
    }
    while (result == LM_OK && s->frame < frame) {
        result = repeat_frame(s, error);
        if (result == LM_OK) {
            keep_waypoint(s);
        }
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Starting again
 */

static lm_result put_back_settings(session *s, const lm_material *materials, lm_vec3 gravity, uint32_t substeps)
{
    lm_result result = lm_world_set_gravity(s->world, gravity);
    result = result ? result : lm_world_set_substeps(s->world, substeps);
    for (uint32_t i = 0; i < lm_scene_body_count(s->scene) && result == LM_OK; i++) {
        result = lm_body_set_material(s->world, lm_scene_get_body(s->scene, i).id, &materials[i]);
    }
    return result;
}

lm_result session_restart(session *s, bool keep_settings, lm_scene_error *error)
{
    uint32_t count = lm_scene_body_count(s->scene);
    lm_material *materials = calloc((size_t)count + 1, sizeof *materials);
    if (materials == NULL) {
        return fail_memory(error);
    }
    lm_vec3 gravity = lm_world_get_gravity(s->world);
    uint32_t substeps = lm_world_get_substeps(s->world);
    for (uint32_t i = 0; i < count; i++) {
        lm_body_get_material(s->world, lm_scene_get_body(s->scene, i).id, &materials[i]);
    }
    lm_result result = session_return_to_key(s, &s->start, error);
    if (result == LM_OK && keep_settings) {
        result = put_back_settings(s, materials, gravity, substeps);
    }
    free(materials);
    return result ? result : session_begin_timeline(s, error);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Changes
 */

lm_result session_change(session *s, const change *made, lm_scene_error *error)
{
    if (!session_is_live(s)) {
        timeline_cut(&s->timeline, s->frame);
        if (s->company.grab.slot != 0 && made->kind != CHANGE_RELEASE) { /* the hand of the other future */
            change let_go = {.kind = CHANGE_RELEASE};
            session_change(s, &let_go, error);
        }
    }
    lm_result result = change_make(made, s->scene, s->world, &s->company, error);
    if (result == LM_OK && !timeline_add_change(&s->timeline, made)) {
        result = session_begin_timeline(s, error); /* what cannot be recorded cannot be returned to */
    }
    s->hash = lm_world_hash(s->world);
    return result;
}

static bool goes_by_eye(const lm_world *world, lm_body_id body)
{
    lm_detail detail;
    return lm_body_get_detail(world, body, &detail, NULL) == LM_OK && detail.eye_angle > 0.0f;
}

static bool any_goes_by_eye(const session *s)
{
    bool any = false;
    for (uint32_t i = 0; i < lm_scene_body_count(s->scene) && !any; i++) {
        any = goes_by_eye(s->world, lm_scene_get_body(s->scene, i).id);
    }
    for (uint32_t i = 0; i < s->company.body_count && !any; i++) {
        any = goes_by_eye(s->world, s->company.bodies[i].id);
    }
    return any;
}

lm_result session_look_from(session *s, lm_dvec3 eye, lm_scene_error *error)
{
    const company *c = &s->company;
    bool moved = !c->has_eye || c->eye.x != eye.x || c->eye.y != eye.y || c->eye.z != eye.z;
    if (!moved || !session_is_live(s) || lm_scene_has_eye(s->scene) || !any_goes_by_eye(s)) {
        return LM_OK;
    }
    change made = {.kind = CHANGE_EYE, .point = eye};
    return session_change(s, &made, error);
}

lm_result session_set_host(session *s, uint32_t threads, lm_isa isa, lm_scene_error *error)
{
    return lm_scene_rehost(s->scene, threads, isa, &s->world, error);
}

/* ------------------------------------------------------------------------------------------------------------------
 * What there is
 */

void session_body_name(const session *s, lm_body_id body, char *text, size_t size)
{
    uint32_t like = company_find_like(&s->company, s->scene, body);
    if (like == UINT32_MAX) {
        snprintf(text, size, "none");
        return;
    }
    lm_scene_body found = lm_scene_get_body(s->scene, like);
    bool same = found.id.slot == body.slot && found.id.generation == body.generation;
    snprintf(text, size, "%s%s", same ? "" : "a copy of ", found.name);
}

lm_material session_first_material(const session *s, lm_body_id body)
{
    uint32_t like = company_find_like(&s->company, s->scene, body);
    return like != UINT32_MAX ? s->materials[like] : lm_material_default();
}
