/*
 * The viewer's state, and every action of its window as a function: keys, buttons and scripts call the same ones.
 */
#ifndef LIMBER_VIEWER_APP_H
#define LIMBER_VIEWER_APP_H

#include "support/like_printf.h"
#include "viewer/camera.h"
#include "viewer/capture.h"
#include "viewer/catalogue.h"
#include "viewer/clock.h"
#include "viewer/files.h"
#include "viewer/history.h"
#include "viewer/session.h"
#include "viewer/settings.h"

/* A rectangle of the window, in points from its upper left corner. */
typedef struct app_area {
    float x, y, width, height;
} app_area;

/* Brushes on octrees; each key goes through two of them. */
typedef enum app_brush { BRUSH_NONE, BRUSH_HARDER, BRUSH_SOFTER, BRUSH_FINER, BRUSH_COARSER, BRUSH_COUNT } app_brush;

typedef struct app {
    session *session;
    session_options options; /* threads and instruction set as they are chosen now */
    draw *draw;
    draw_settings drawing;
    orbit_camera camera;
    viewer_clock clock;
    bool paused, helping, picking_file, quitting;
    lm_body_id selected; /* whose material the panel shows; {0}: none */

    bool holding;       /* the mouse holds a body */
    lm_dvec3 held_from; /* the place that was grabbed, for how far away it is */
    bool knife;         /* the mouse cuts instead of grabbing */
    bool cutting;       /* it is on its way, */
    float cut_x, cut_y; /* from here */
    app_brush brush;    /* what the mouse paints instead of grabbing */
    float brush_size;   /* its radius, as a share of the distance of what is looked at */

    catalogue catalogue;
    char search[64];
    bool show_scene; /* the list is to be scrolled to the scene that was opened */
    file_list files;
    history history;
    capture capture;
    settings settings;

    float scale;         /* pixels for each point */
    float width, height; /* of the window, points */
    app_area picture;    /* where the world is drawn */
    float mouse_x, mouse_y;

    char message[LM_SCENE_ERROR_SIZE]; /* what happened last, for a few seconds */
    bool message_is_bad;
    double message_until; /* on the clock `now` */
    double now;           /* seconds since the viewer was opened */
} app;

/* ---- lifetime ---- */

/* With an OpenGL context current. False: *error says why. */
bool app_open(app *app, const char *name, const session_options *options, lm_scene_error *error);
void app_close(app *app);

/* ---- scenes ---- */

/* Opens a scene, a mesh, or (into the running scene) a snapshot. On failure the scene that runs goes on, and the window says why. */
bool app_open_file(app *app, const char *name);
void app_open_neighbour(app *app, int by); /* the next one of the list, or the one before */

/* ---- time ---- */

void app_toggle_pause(app *app);
void app_step(app *app);      /* one frame on, and pause */
void app_step_back(app *app); /* one frame back, and pause */
void app_seek(app *app, uint32_t frame);
void app_restart(app *app, bool keep_settings);
void app_set_speed(app *app, double speed);

/* Real seconds have passed: makes the steps that are due. `exactly` ignores the clock: one step unless paused. */
void app_pass(app *app, double seconds, bool exactly);

/* ---- the hand and the camera; points of the window ---- */

void app_press(app *app, float x, float y); /* grabs the body that is there; else nothing */
void app_move_held(app *app, float x, float y);
void app_release(app *app);
void app_orbit(app *app, float right, float down);
void app_pan(app *app, float right, float down);
void app_zoom(app *app, float clicks, float x, float y);
void app_reset_camera(app *app);
void app_throw_ball(app *app, float x, float y);

/* The knife: taken up or put down; then a line is drawn across what is to be cut, all the way through. */
void app_toggle_knife(app *app);
void app_cut_from(app *app, float x, float y);
void app_cut_to(app *app, float x, float y);

/* brush.c: takes up the next of two brushes, or after them none; makes it larger or smaller; paints where the mouse is. */
void app_next_brush(app *app, app_brush first);
void app_resize_brush(app *app, float factor);
void app_paint(app *app, float x, float y);
void app_draw_brush(const app *app); /* its rim, and the widths of what it would paint as colours of particles */

/* The camera as it draws; what is under a point of the window, among bodies; where a point of the world is in the window
 * (false: behind the eye). */
draw_camera app_camera(const app *app);
lm_ray app_ray(const app *app, float x, float y);
bool app_project(const app *app, lm_dvec3 point, float *x, float *y);

/* ---- bodies and the world ---- */

/* Any change, recorded; false: the window says why not. */
bool app_change(app *app, change change);

void app_select(app *app, lm_body_id body);
void app_set_material(app *app, const lm_material *material); /* of the selected body */
void app_set_examples(app *app, const example_mix *mix);
void app_squash(app *app);
void app_turn_inside_out(app *app);
void app_add_another(app *app);
void app_set_gravity(app *app, lm_vec3 gravity);
void app_set_substeps(app *app, uint32_t substeps);
void app_set_host(app *app, uint32_t threads, lm_isa isa);

/* ---- looks ---- */

void app_toggle_view(app *app, uint32_t view);
void app_toggle_panel(app *app);
void app_toggle_help(app *app);
void app_pick_file(app *app, bool open);

/* ---- files ---- */

void app_screenshot(app *app); /* of the window, when this frame is drawn */
void app_toggle_recording(app *app);
void app_save_snapshot(app *app);

/* Says something in the window for a few seconds. */
void app_say(app *app, bool bad, const char *format, ...) LIKE_PRINTF(3, 4);

#endif
