/* The window's life, frame by frame. */
#include "viewer/viewer.h"

#include "viewer/input.h"
#include "viewer/panel.h"
#include "viewer/script.h"
#include "viewer/ui.h"
#include "viewer/window.h"

#include <epoxy/gl.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCRIPT_FRAME                                                                                                   \
    (1.0 / LM_SCENE_FRAME_RATE) /* seconds that pass with each frame of a script, whatever the clock says */
#define IDLE_SECONDS 0.016      /* between frames where the driver does not wait for the screen */
#define STILL_FRAMES 30         /* after so many without anything new ... */
#define STILL_MILLISECONDS 100  /* ... the next one may come so much later */

typedef struct viewer {
    const viewer_options *options;
    char settings_path[1024];
    window window;
    input input;
    app app;
    script *script;
    bool has_ui;
    uint32_t still;  /* frames in which nothing happened */
    double last;     /* when the last frame began, seconds */
    char title[128]; /* of the window: the scene's name */
    lm_gl gl;        /* the context of the window, for a device that shares with it */
    char *error;
} viewer;

static double seconds_now(void) { return (double)SDL_GetPerformanceCounter() / (double)SDL_GetPerformanceFrequency(); }

/* ------------------------------------------------------------------------------------------------------------------
 * One frame
 */

static void take_events(viewer *v)
{
    SDL_Event event;
    while (SDL_PollEvent(&event)) {
        input_take(&v->input, &v->app, &event, v->window.points_a_unit);
        v->still = 0;
    }
}

/* A window in which nothing moves and nobody does anything need not be drawn sixty times a second. */
static void rest(viewer *v, double took)
{
    v->still = v->app.paused && v->app.now >= v->app.message_until ? v->still + 1 : 0;
    if (v->still > STILL_FRAMES) {
        SDL_WaitEventTimeout(NULL, STILL_MILLISECONDS);
    } else if (took < IDLE_SECONDS) {
        SDL_Delay((uint32_t)(1e3 * (IDLE_SECONDS - took)));
    }
}

/* How the window is divided, and what follows from it. */
static void lay_out(viewer *v)
{
    app *a = &v->app;
    window_measure(&v->window);
    ui_set_scale(v->window.scale);
    a->scale = v->window.scale;
    a->width = (float)v->window.pixel_width / a->scale;
    a->height = (float)v->window.pixel_height / a->scale;
    float most = fmaxf(a->width - 240.0f, 280.0f); /* the picture keeps some room */
    a->settings.panel_width = (uint32_t)fminf((float)a->settings.panel_width, most);
    float left = a->settings.panel ? (float)a->settings.panel_width : 0.0f;
    float below = a->settings.panel ? TRANSPORT_HEIGHT : 0.0f;
    a->picture = (app_area){left, 0.0f, a->width - left, a->height - below};
    camera_set_aspect(&a->camera, (double)a->picture.width / (double)a->picture.height);
}

static uint32_t pixels(const app *a, float points) { return (uint32_t)fmaxf(points * a->scale, 16.0f); }

static bool draw_picture(viewer *v)
{
    app *a = &v->app;
    draw_error error;
    uint32_t width = pixels(a, a->picture.width), height = pixels(a, a->picture.height);
    a->drawing.camera = app_camera(a);
    a->drawing.shares = a->session->world;
    if (!draw_resize(a->draw, width, height, &error) ||
        !draw_world(a->draw, a->session->world, &a->drawing, NULL, &error)) {
        snprintf(v->error, VIEWER_ERROR_SIZE, "%s", error.text);
        return false;
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, (GLsizei)v->window.pixel_width, (GLsizei)v->window.pixel_height);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_BLEND);
    draw_show(a->draw, (int)(a->picture.x * a->scale), (int)v->window.pixel_height - (int)height, width, height);
    return true;
}

static void draw_interface(viewer *v, double seconds)
{
    app *a = &v->app;
    ui_begin_frame(a->width, a->height, (float)seconds);
    panel_draw(a);
    bool on_edge = input_on_edge(&v->input, a) || v->input.drag == DRAG_PANEL;
    window_set_cursor(&v->window, on_edge ? UI_CURSOR_SIZE : a->holding ? UI_CURSOR_HAND : ui_wanted_cursor());
    ui_end_frame();
}

static void take_screenshot(viewer *v)
{
    capture *c = &v->app.capture;
    image_error error;
    if (c->screenshot[0] == '\0') {
        return;
    }
    if (capture_window(c->screenshot, v->window.pixel_width, v->window.pixel_height, &error)) {
        app_say(&v->app, false, "Saved %s", c->screenshot);
    } else {
        app_say(&v->app, true, "%s", error.text);
    }
    c->screenshot[0] = '\0';
}

static void keep_title(viewer *v)
{
    if (strncmp(v->title, v->app.session->name, sizeof v->title - 1) != 0) {
        snprintf(v->title, sizeof v->title, "%s", v->app.session->name);
        window_set_title(&v->window, v->title);
    }
}

static bool run_frame(viewer *v)
{
    double now = seconds_now(), passed = v->script != NULL ? SCRIPT_FRAME : now - v->last;
    app *a = &v->app;
    v->last = now;
    take_events(v);
    lay_out(v);
    app_pass(a, passed, v->script != NULL);
    if (!draw_picture(v)) {
        return false;
    }
    draw_interface(v, passed);
    take_screenshot(v);
    keep_title(v);
    SDL_GL_SwapWindow(v->window.sdl);
    if (v->script == NULL) {
        rest(v, seconds_now() - now);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * From opening to closing
 */

static void find_settings(viewer *v)
{
    const char *given = v->options->settings;
    char *folder = given == NULL ? SDL_GetPrefPath("limber", "viewer") : NULL;
    if (given != NULL) {
        snprintf(v->settings_path, sizeof v->settings_path, "%s", given);
    } else if (folder != NULL) {
        snprintf(v->settings_path, sizeof v->settings_path, "%slayout.txt", folder);
    }
    SDL_free(folder);
    settings *s = &v->app.settings;
    *s = settings_read(v->settings_path);
    if (v->options->width != 0) {
        s->width = v->options->width;
        s->height = v->options->height;
        s->maximised = false;
    }
}

static void keep_settings(viewer *v)
{
    settings *s = &v->app.settings;
    s->maximised = (SDL_GetWindowFlags(v->window.sdl) & SDL_WINDOW_MAXIMIZED) != 0;
    if (!s->maximised) {
        s->width = (uint32_t)v->app.width;
        s->height = (uint32_t)v->app.height;
    }
    s->known = true;
    if (v->settings_path[0] != '\0') {
        settings_write(s, v->settings_path); /* what cannot be kept is no reason to fail */
    }
}

static bool open_all(viewer *v)
{
    char why[WINDOW_ERROR_SIZE];
    const viewer_options *o = v->options;
    if (o->script != NULL && (v->script = script_open(o->script, v->error)) == NULL) {
        return false;
    }
    find_settings(v);
    if (!window_open(&v->window, &v->app.settings, o->scale, why)) {
        snprintf(v->error, VIEWER_ERROR_SIZE,
                 "no window can be opened: %s (limber render makes pictures and videos without one)", why);
        return false;
    }
    lm_scene_error error;
    session_options options = {.threads = o->threads, .isa = o->isa, .sets = o->sets, .set_count = o->set_count};
    options.device = o->device;
    options.gl = o->device && draw_current_gl(&v->gl) ? &v->gl : NULL;
    v->has_ui = ui_open(v->window.scale);
    if (!v->has_ui || !app_open(&v->app, o->scene, &options, &error)) {
        snprintf(v->error, VIEWER_ERROR_SIZE, "%s", v->has_ui ? error.text : "the interface cannot be drawn");
        return false;
    }
    v->app.helping = !v->app.settings.known && v->script == NULL; /* the first time */
    SDL_StartTextInput();
    return true;
}

static void close_all(viewer *v)
{
    if (v->app.session != NULL && v->app.width > 0.0f) {
        keep_settings(v);
    }
    app_close(&v->app);
    if (v->has_ui) {
        ui_close();
    }
    window_close(&v->window);
    script_close(v->script);
}

bool viewer_run(const viewer_options *options, char error[VIEWER_ERROR_SIZE])
{
    viewer v = {.options = options, .error = error};
    bool good = open_all(&v);
    v.last = seconds_now();
    while (good && !v.app.quitting) {
        good = v.script == NULL || script_advance(v.script, &v.app, &v.window, error);
        good = good && (v.app.quitting || run_frame(&v));
    }
    if (good && v.app.capture.video != NULL) {
        app_toggle_recording(&v.app);
    }
    close_all(&v);
    return good;
}
