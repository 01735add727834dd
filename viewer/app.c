/* Scenes, time, bodies and files: the actions that are no matter of the mouse. */
#include "viewer/app.h"

#include "viewer/stage.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP (1.0 / LM_SCENE_FRAME_RATE)
#define STEP_BUDGET 0.05 /* real seconds that steps may take between two frames of the window, so that it stays awake */
#define MESSAGE_SECONDS 4.0

void app_say(app *a, bool bad, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(a->message, sizeof a->message, format, arguments);
    va_end(arguments);
    a->message_is_bad = bad;
    a->message_until = a->now + (bad ? 2.0 * MESSAGE_SECONDS : MESSAGE_SECONDS);
}

/* After an action of the session: says what went wrong. */
static bool went_well(app *a, lm_result result, const lm_scene_error *error)
{
    if (result != LM_OK) {
        app_say(a, true, "%s", error->text);
    }
    return result == LM_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Scenes
 */

/* How large what there is to see is, metres. */
static double world_size(const lm_world *world, const draw_camera *camera)
{
    draw_camera all = draw_fit_camera(world, 16.0 / 9.0);
    double x = camera->at.x - camera->look_at.x, y = camera->at.y - camera->look_at.y,
           z = camera->at.z - camera->look_at.z;
    double u = all.at.x - all.look_at.x, v = all.at.y - all.look_at.y, w = all.at.z - all.look_at.z;
    return 0.5 * fmax(sqrt(x * x + y * y + z * z), sqrt(u * u + v * v + w * w));
}

void app_reset_camera(app *a)
{
    draw_camera camera = stage_camera(a->session->scene, a->session->world, 16.0 / 9.0);
    a->camera = camera_from(&camera, world_size(a->session->world, &camera));
}

static bool tell_colours(app *a, lm_scene_error *error)
{
    draw_error wrong;
    draw_forget(a->draw);
    if (!stage_tell_colours(a->session->scene, a->draw, &wrong)) {
        snprintf(error->text, sizeof error->text, "%s", wrong.text);
        return false;
    }
    return true;
}

/* Colours of what was added: like those of what it is like. */
static void tell_added_colours(app *a)
{
    static const uint8_t ball_colour[3] = {214, 69, 65};
    const company *c = &a->session->company;
    draw_error ignored; /* without its colour a body gets one of its own */
    for (uint32_t i = 0; i < c->body_count; i++) {
        lm_scene_colours colours = lm_scene_get_colours(a->session->scene, c->bodies[i].like);
        if (colours.count > 0) {
            draw_set_colours(a->draw, c->bodies[i].id, colours.rgb, colours.count, &ignored);
        }
    }
    for (uint32_t i = 0; i < c->ball_count; i++) {
        draw_set_collider_colour(a->draw, c->balls[i].collider, ball_colour, &ignored);
    }
}

/* Takes over a session that was opened. */
static void start(app *a, session *opened)
{
    session_close(a->session);
    a->session = opened;
    a->holding = false;
    a->show_scene = true;
    a->selected = (lm_body_id){0, 0};
    if (lm_scene_body_count(opened->scene) > 0) {
        a->selected = lm_scene_get_body(opened->scene, 0).id;
    }
    memset(&a->history, 0, sizeof a->history);
    clock_start(&a->clock, a->clock.speed);
    app_reset_camera(a);
}

static bool open_scene(app *a, const char *name, lm_scene_error *error)
{
    session *opened = session_open(name, &a->options, error);
    if (opened == NULL) {
        return false;
    }
    if (a->capture.video != NULL) {
        app_toggle_recording(a);
    }
    start(a, opened);
    if (lm_scene_note(opened->scene)[0] != '\0') {
        app_say(a, false, "%s", lm_scene_note(opened->scene));
    }
    return tell_colours(a, error);
}

bool app_open(app *a, const char *name, const session_options *options, lm_scene_error *error)
{
    draw_error wrong;
    a->options = *options;
    a->clock.speed = 1.0;
    a->drawing = draw_settings_default();
    a->draw = draw_open_current(640, 360, &wrong);
    if (a->draw == NULL) {
        snprintf(error->text, sizeof error->text, "%s", wrong.text);
        return false;
    }
    if (!catalogue_read(&a->catalogue)) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return false;
    }
    a->drawing.views = a->settings.views;
    return open_scene(a, name, error);
}

void app_close(app *a)
{
    capture_abandon(&a->capture);
    session_close(a->session);
    draw_close(a->draw);
    catalogue_free(&a->catalogue);
    file_list_free(&a->files);
}

static bool load_snapshot(app *a, const char *path)
{
    lm_scene_error error;
    bool good = went_well(a, session_load(a->session, path, &error), &error);
    if (good) {
        a->holding = false;
        app_say(a, false, "Loaded %s", path);
    }
    return good;
}

bool app_open_file(app *a, const char *name)
{
    a->picking_file = false;
    if (file_kind_of(name) == FILE_SNAPSHOT) {
        return load_snapshot(a, name);
    }
    lm_scene_error error;
    if (!open_scene(a, name, &error)) {
        app_say(a, true, "%s", error.text);
        return false;
    }
    return true;
}

void app_open_neighbour(app *a, int by)
{
    uint32_t at = catalogue_find(&a->catalogue, a->session->name), count = a->catalogue.count;
    uint32_t next = at == UINT32_MAX ? 0 : (at + count + (uint32_t)by) % count;
    app_open_file(a, a->catalogue.entries[next].name);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Time
 */

static bool record_frame(app *a);

/* One frame of the simulation; false stops it. */
static bool step_once(app *a)
{
    lm_scene_error error;
    lm_result result = session_look_from(a->session, app_camera(a).at, &error);
    result = result ? result : session_step(a->session, &error);
    if (!went_well(a, result, &error)) {
        a->paused = true;
        return false;
    }
    if (a->session->mismatches > 0) {
        app_say(a, true, "This frame has another hash than before: please report it");
    }
    lm_stats stats;
    lm_world_get_stats(a->session->world, &stats);
    history_add(&a->history, &stats);
    return a->capture.video == NULL || record_frame(a);
}

void app_pass(app *a, double seconds, bool exactly)
{
    a->now += seconds;
    if (a->paused) {
        clock_start(&a->clock, a->clock.speed);
        return;
    }
    if (exactly || a->capture.video != NULL) { /* a video has every step, however long each takes to draw */
        clock_pass(&a->clock, seconds);
        a->clock.simulated += STEP;
        step_once(a);
        return;
    }
    double spent = 0.0;
    clock_pass(&a->clock, seconds);
    while (clock_take_step(&a->clock, STEP, spent, STEP_BUDGET) && step_once(a)) {
        lm_stats stats;
        lm_world_get_stats(a->session->world, &stats);
        spent += stats.step_seconds;
    }
}

void app_toggle_pause(app *a) { a->paused = !a->paused; }

void app_step(app *a)
{
    a->paused = true;
    step_once(a);
}

void app_step_back(app *a)
{
    uint32_t frame = a->session->frame;
    app_seek(a, frame > 0 ? frame - 1 : 0);
}

void app_seek(app *a, uint32_t frame)
{
    lm_scene_error error;
    a->paused = true;
    a->holding = false;
    went_well(a, session_seek(a->session, frame, &error), &error);
    if (a->session->mismatches > 0) {
        app_say(a, true, "This frame has another hash than before: please report it");
    }
}

void app_restart(app *a, bool keep_settings)
{
    lm_scene_error error;
    a->holding = false;
    if (went_well(a, session_restart(a->session, keep_settings, &error), &error)) {
        tell_colours(a, &error); /* and the range of values that were seen begins again */
    }
}

void app_set_speed(app *a, double speed) { clock_start(&a->clock, speed); }

/* ------------------------------------------------------------------------------------------------------------------
 * Bodies and the world
 */

bool app_change(app *a, change made)
{
    lm_scene_error error;
    bool good = went_well(a, session_change(a->session, &made, &error), &error);
    tell_added_colours(a);
    return good;
}

void app_select(app *a, lm_body_id body) { a->selected = body; }

void app_set_material(app *a, const lm_material *material)
{
    app_change(a, (change){.kind = CHANGE_MATERIAL, .body = a->selected, .material = *material});
}

void app_set_examples(app *a, const example_mix *mix)
{
    app_change(a, (change){.kind = CHANGE_EXAMPLES, .body = a->selected, .examples = *mix});
}

void app_squash(app *a) { app_change(a, (change){.kind = CHANGE_SQUASH, .body = a->selected}); }

void app_turn_inside_out(app *a) { app_change(a, (change){.kind = CHANGE_INVERT, .body = a->selected}); }

/* Above the selected one, so that it falls onto it. */
void app_add_another(app *a)
{
    lm_body_info info;
    if (!lm_body_is_valid(a->session->world, a->selected) ||
        lm_body_get_info(a->session->world, a->selected, &info) != LM_OK) {
        app_say(a, true, "No body is selected");
        return;
    }
    lm_dvec3 at = info.centre;
    at.y = info.upper.y + 0.75 * fmax(info.upper.y - info.lower.y, 1e-3);
    if (app_change(a, (change){.kind = CHANGE_ADD, .body = a->selected, .point = at})) {
        const company *c = &a->session->company;
        a->selected = c->bodies[c->body_count - 1].id;
    }
}

void app_set_gravity(app *a, lm_vec3 gravity) { app_change(a, (change){.kind = CHANGE_GRAVITY, .vector = gravity}); }

void app_set_substeps(app *a, uint32_t substeps)
{
    app_change(a, (change){.kind = CHANGE_SUBSTEPS, .count = substeps});
}

void app_set_host(app *a, uint32_t threads, lm_isa isa)
{
    lm_scene_error error;
    if (went_well(a, session_set_host(a->session, threads, isa, &error), &error)) {
        a->options.threads = threads;
        a->options.isa = isa;
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Looks
 */

void app_toggle_view(app *a, uint32_t view)
{
    const uint32_t colouring = DRAW_COLOURINGS;
    uint32_t views = a->drawing.views ^ view;
    if ((views & view & colouring) != 0) { /* a body has one colour */
        views = (views & ~colouring) | view;
    }
    a->drawing.views = a->settings.views = views;
}

void app_toggle_panel(app *a) { a->settings.panel = !a->settings.panel; }

void app_toggle_help(app *a) { a->helping = !a->helping; }

void app_pick_file(app *a, bool open)
{
    a->picking_file = open;
    if (open) {
        file_list_show(&a->files, a->files.folder != NULL ? a->files.folder : ".");
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

void app_screenshot(app *a)
{
    file_free_name(a->capture.screenshot, sizeof a->capture.screenshot, a->session->name, ".png");
}

void app_save_snapshot(app *a)
{
    char path[512];
    lm_scene_error error;
    file_free_name(path, sizeof path, a->session->name, ".limber");
    if (session_save(a->session, path, &error)) {
        app_say(a, false, "Saved %s", path);
    } else {
        app_say(a, true, "%s", error.text);
    }
}

void app_toggle_recording(app *a)
{
    image_error error;
    if (a->capture.video != NULL) {
        uint32_t frames = a->capture.frames;
        if (capture_finish(&a->capture, &error)) {
            app_say(a, false, "Recorded %s, %.1f s", a->capture.path, frames * STEP);
        } else {
            app_say(a, true, "%s", error.text);
        }
        return;
    }
    char path[512];
    file_free_name(path, sizeof path, a->session->name, ".mp4");
    uint32_t width = (uint32_t)(a->picture.width * a->scale), height = (uint32_t)(a->picture.height * a->scale);
    if (!capture_begin(&a->capture, path, width, height, (uint32_t)LM_SCENE_FRAME_RATE, &error)) {
        app_say(a, true, "%s", error.text);
    }
}

/* The world as it is now, into the video: in the video's size, whatever became of the window since it began. The next frame of the
 * window gives the renderer the window's size again. */
static bool record_frame(app *a)
{
    draw_error wrong;
    image_error error;
    image *frame = &a->capture.frame;
    orbit_camera camera = a->camera;
    camera_set_aspect(&camera, (double)frame->width / (double)frame->height);
    a->drawing.camera = camera_for_drawing(&camera);
    a->drawing.shares = a->session->world;
    if (!draw_resize(a->draw, frame->width, frame->height, &wrong) ||
        !draw_world(a->draw, a->session->world, &a->drawing, frame, &wrong)) {
        app_say(a, true, "%s", wrong.text);
        return false;
    }
    if (!capture_add(&a->capture, &error)) {
        app_say(a, true, "%s", error.text);
        return false;
    }
    return true;
}
