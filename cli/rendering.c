/*
 * A scene into pictures. The simulation goes on in frames of 1/60 s whatever is drawn of it, and everything that can be
 * wrong is found before the first of them: names, the renderer, the output.
 */
#include "cli/rendering.h"

#include "cli/labels.h"
#include "cli/progress.h"
#include "cli/renderer.h"
#include "draw/partial.h"
#include "draw/sheet.h"
#include "draw/video.h"
#include "scene/nearest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FRAME_RATE 60u

typedef struct rendering {
    const render_request *request;
    scene *scene;
    lm_world *world;
    draw *draw;
    draw_settings settings;
    image picture;   /* what was drawn last: a still, a frame, or a tile */
    sheet sheet;     /* of a sheet */
    video *video;    /* of a video, while it is open */
    uint32_t frames; /* to the end */
    uint32_t stepped;
    progress bar;
    double began, drawing; /* seconds */
} rendering;

/* ------------------------------------------------------------------------------------------------------------------
 * Names
 */

#define NO_VIEW "none" /* everything but the bodies */

static int fail_unknown_view(const char *name)
{
    char known[256] = NO_VIEW;
    nearest_name near = nearest_to(name);
    nearest_offer(&near, NO_VIEW);
    for (uint32_t i = 0; draw_view_name(i) != NULL; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", draw_view_name(i));
        nearest_offer(&near, draw_view_name(i));
    }
    if (near.best != NULL) {
        return cli_fail(CLI_FAILED, "--view: no view \"%s\" (expected %s; did you mean \"%s\"?)", name, known,
                        near.best);
    }
    return cli_fail(CLI_FAILED, "--view: no view \"%s\" (expected %s)", name, known);
}

/* Names with commas between, into settings. */
static int choose_views(const char *names, draw_settings *settings)
{
    settings->views = 0;
    while (true) {
        char name[64];
        size_t length = strcspn(names, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), names);
        uint32_t view = draw_view_find(name);
        if (strcmp(name, NO_VIEW) == 0) {
            settings->bodies = false;
        } else if (view == 0) {
            return fail_unknown_view(name);
        }
        settings->views |= view;
        if (names[length] == '\0') {
            return -1;
        }
        names += length + 1;
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Before
 */

static int tell_colours(rendering *r)
{
    draw_error error;
    for (uint32_t i = 0; i < scene_body_count(r->scene); i++) {
        scene_colours colours = scene_get_colours(r->scene, i);
        lm_body_id body = scene_get_body(r->scene, i).id;
        if (colours.count > 0 && !draw_set_colours(r->draw, body, colours.rgb, colours.count, &error)) {
            return cli_fail(CLI_FAILED, "%s", error.text);
        }
    }
    for (uint32_t i = 0; i < scene_get_contents(r->scene).colliders; i++) {
        scene_collider_made made = scene_get_collider(r->scene, i);
        if (made.colour.count > 0 && !draw_set_collider_colour(r->draw, made.id, made.colour.rgb, &error)) {
            return cli_fail(CLI_FAILED, "%s", error.text);
        }
    }
    return -1;
}

/* Scenes are framed for pictures of 16:9. A narrower one, as a tile of a sheet often is, shows more above and below in
 * place of less to the left and right. */
static double field_of_view_for(double degrees, double aspect)
{
    const double half_turn = 3.14159265358979323846, framed_for = 16.0 / 9.0;
    double tangent = tan(0.5 * degrees * half_turn / 180.0) * fmax(framed_for / aspect, 1.0);
    return 2.0 * atan(tangent) * 180.0 / half_turn;
}

static draw_camera choose_camera(const rendering *r)
{
    double aspect = (double)r->picture.width / r->picture.height;
    scene_view view;
    if (r->request->camera != NULL) {
        return *r->request->camera;
    }
    if (scene_get_view(r->scene, &view)) {
        return (draw_camera){view.at, view.look_at, field_of_view_for(view.field_of_view, aspect)};
    }
    return draw_fit_camera(r->world, aspect);
}

static int open_renderer(rendering *r)
{
    const render_request *request = r->request;
    uint32_t width = request->width, height = request->height;
    if (request->kind == RENDER_SHEET) {
        width = sheet_tile_size(request->columns, width);
        height = sheet_tile_size(request->rows, height);
    }
    int code = renderer_open(width, height, &r->draw);
    if (code >= 0) {
        return code;
    }
    bool room = image_make(&r->picture, width, height);
    if (request->kind == RENDER_SHEET) {
        room = sheet_make(&r->sheet, request->columns, request->rows, request->width, request->height) && room;
    }
    if (!room) {
        return cli_fail(CLI_FAILED, "out of memory for a picture of %ux%u", (unsigned)request->width,
                        (unsigned)request->height);
    }
    r->settings = draw_settings_default();
    r->settings.camera = choose_camera(r);
    r->settings.cpu_skin = request->cpu_skin;
    code = request->views != NULL ? choose_views(request->views, &r->settings) : -1;
    return code >= 0 ? code : tell_colours(r);
}

static int open_output(rendering *r)
{
    const render_request *request = r->request;
    image_error error;
    bool good;
    if (request->kind == RENDER_VIDEO) {
        r->video = video_open(request->out, request->width, request->height, request->rate, &error);
        good = r->video != NULL;
    } else {
        good = partial_check(request->out, &error);
    }
    return good ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The pictures
 */

/* The exit code, for failures while the bar is on the screen. */
static int fail_behind_bar(rendering *r, const char *text)
{
    progress_end(&r->bar);
    return cli_fail(CLI_FAILED, "%s", text);
}

/* Simulates up to a frame, and draws it. */
static int draw_frame(rendering *r, uint32_t frame)
{
    for (; r->stepped < frame; r->stepped++) {
        lm_result result = scene_step(r->scene, r->world, r->stepped);
        if (result != LM_OK) {
            progress_end(&r->bar);
            return world_fail_step(&r->request->world, r->stepped, result);
        }
        progress_show(&r->bar, r->stepped);
    }
    double before = progress_seconds();
    draw_error error;
    bool good = draw_world(r->draw, r->world, &r->settings, &r->picture, &error);
    r->drawing += progress_seconds() - before;
    progress_show(&r->bar, r->stepped);
    if (good && r->settings.bodies) {
        labels_draw(r->scene, r->world, &r->settings.camera, &r->picture);
    }
    return good ? -1 : fail_behind_bar(r, error.text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

static int write_png(rendering *r, const image *picture)
{
    image_error error;
    progress_end(&r->bar);
    return image_write_png(r->request->out, picture, &error) ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}

static int render_still(rendering *r)
{
    int code = draw_frame(r, r->frames);
    return code >= 0 ? code : write_png(r, &r->picture);
}

/* Tiles evenly spread from the start to the end, both among them. */
static int render_sheet(rendering *r)
{
    uint32_t tiles = r->sheet.columns * r->sheet.rows;
    int code = -1;
    for (uint32_t i = 0; i < tiles && code < 0; i++) {
        uint32_t last = tiles - 1;
        uint32_t frame = last > 0 ? (uint32_t)(((uint64_t)i * r->frames + last / 2) / last) : r->frames;
        char label[32];
        snprintf(label, sizeof label, "%.2f s", (double)frame / FRAME_RATE);
        code = draw_frame(r, frame);
        sheet_place(&r->sheet, i, &r->picture, label);
    }
    return code >= 0 ? code : write_png(r, &r->sheet.picture);
}

/* How many frames a video has that is as long as the simulation. */
static uint32_t video_frames(const rendering *r)
{
    uint64_t count = ((uint64_t)r->frames * r->request->rate + FRAME_RATE / 2) / FRAME_RATE;
    return count > 0 ? (uint32_t)count : 1;
}

/* Each frame shows the simulation as it is when the frame begins, the first one the start. */
static int render_video(rendering *r)
{
    image_error error;
    uint32_t count = video_frames(r), rate = r->request->rate;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t frame = (uint32_t)(((uint64_t)i * FRAME_RATE + rate / 2) / rate);
        int code = draw_frame(r, frame);
        if (code >= 0) {
            return code;
        }
        if (!video_add(r->video, &r->picture, &error)) {
            return fail_behind_bar(r, error.text);
        }
    }
    progress_end(&r->bar);
    bool good = video_finish(r->video, &error);
    r->video = NULL;
    return good ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * All of it
 */

static void tell(const rendering *r)
{
    const render_request *request = r->request;
    double seconds = (double)r->frames / FRAME_RATE;
    printf("%s: %ux%u, ", request->out, (unsigned)request->width, (unsigned)request->height);
    if (request->kind == RENDER_STILL) {
        printf("at %.2f s", seconds);
    } else if (request->kind == RENDER_SHEET) {
        printf("%u pictures from 0 to %.2f s", (unsigned)(r->sheet.columns * r->sheet.rows), seconds);
    } else {
        printf("%u frames, %.2f s", (unsigned)video_frames(r), (double)video_frames(r) / request->rate);
    }
    printf("; took %.1f s (%.1f s of it drawing)\n", progress_seconds() - r->began, r->drawing);
}

static int render_all(rendering *r)
{
    const render_request *request = r->request;
    int code = world_open(&request->world, &r->scene, &r->world);
    code = code >= 0 ? code : open_renderer(r);
    code = code >= 0 ? code : open_output(r);
    if (code >= 0) {
        return code;
    }
    scene_watch(r->scene, false);
    r->frames = request->frames == RENDER_WHOLE_SCENE ? scene_frames(r->scene) : request->frames;
    r->bar = progress_begin(r->frames);
    switch (request->kind) {
    case RENDER_STILL: code = render_still(r); break;
    case RENDER_SHEET: code = render_sheet(r); break;
    case RENDER_VIDEO: code = render_video(r); break;
    }
    if (code < 0) {
        tell(r);
    }
    return code >= 0 ? code : CLI_OK;
}

int render_scene(const render_request *request)
{
    rendering r = {.request = request, .began = progress_seconds()};
    int code = render_all(&r);
    video_abandon(r.video);
    image_free(&r.picture);
    sheet_free(&r.sheet);
    draw_close(r.draw);
    lm_world_destroy(r.world);
    scene_close(r.scene);
    return code;
}
