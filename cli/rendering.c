/*
 * A scene into pictures. The simulation goes on in frames of 1/60 s whatever is drawn of it, and everything that can be
 * wrong is found before the first of them: names, the renderer, the output.
 */
#include "cli/rendering.h"

#include "cli/labels.h"
#include "cli/progress.h"
#include "cli/renderer.h"
#include "cli/views.h"
#include "draw/sheet.h"
#include "draw/video.h"
#include "support/partial.h"
#include "support/system.h"
#include "viewer/stage.h"

#include <math.h>
#include <stdio.h>

typedef struct rendering {
    const render_request *request;
    lm_scene *scene;
    lm_world *world;
    draw *draw;
    draw_settings settings;
    image picture;   /* what was drawn last: a still, a frame, or a tile */
    sheet sheet;     /* of a sheet */
    video *video;    /* of a video, while it is open */
    uint32_t frames; /* to the end */
    uint32_t stepped;
    progress bar;
    uint32_t bar_base;     /* frames of the bar that an earlier run through the scene has filled */
    double began, drawing; /* seconds */
} rendering;

/* ------------------------------------------------------------------------------------------------------------------
 * Before
 */

static int tell_colours(rendering *r)
{
    draw_error error;
    return stage_tell_colours(r->scene, r->draw, &error) ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}

static draw_camera choose_camera(const rendering *r)
{
    double aspect = (double)r->picture.width / r->picture.height;
    return r->request->camera != NULL ? stage_adapt_camera(*r->request->camera, aspect)
                                      : stage_camera(r->scene, r->world, aspect);
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
    r->settings.map_top = request->range;
    code = views_choose(request->views, &r->settings);
    if (code < 0 && request->range > 0.0f && !views_have_range(r->settings.views)) {
        code = cli_fail(CLI_USAGE, "render: --range is for --view speed, strain and stress");
    }
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
        good = lmi_partial_check(request->out, error.text);
    }
    return good ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Which pictures
 */

/* A video is as long as the simulation. */
static uint32_t picture_count(const rendering *r)
{
    switch (r->request->kind) {
    case RENDER_SHEET: return r->sheet.columns * r->sheet.rows;
    case RENDER_VIDEO: return (uint32_t)fmax(floor(r->frames * r->request->rate / LM_SCENE_FRAME_RATE + 0.5), 1.0);
    default: return 1;
    }
}

/* How many frames are simulated before a picture is taken. Tiles are evenly spread from the start to the end, both among
 * them. A frame of a video shows the simulation as it is when the frame begins, the first one the start. */
static uint32_t picture_frame(const rendering *r, uint32_t index)
{
    uint32_t last = picture_count(r) - 1;
    if (r->request->kind == RENDER_VIDEO) {
        return (uint32_t)floor(index * LM_SCENE_FRAME_RATE / r->request->rate + 0.5);
    }
    return last > 0 ? (uint32_t)(((uint64_t)index * r->frames + last / 2) / last) : r->frames;
}

/* Runs through the scene, and does with each picture's moment what is to be done. */
static int go_through(rendering *r, int (*take)(rendering *r, uint32_t index))
{
    uint32_t count = picture_count(r);
    int code = -1;
    for (uint32_t i = 0; i < count && code < 0; i++) {
        for (uint32_t frame = picture_frame(r, i); r->stepped < frame; r->stepped++) {
            lm_result result = lm_scene_step(r->scene, r->world, r->stepped);
            if (result != LM_OK) {
                return world_fail_step(&r->request->world, r->stepped, result);
            }
            progress_show(&r->bar, r->bar_base + r->stepped);
        }
        code = take(r, i);
        if (code < 0) {
            progress_show(&r->bar, r->bar_base + r->stepped);
        }
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------------------------
 * One range for all pictures
 *
 * Colours of speed, strain or stress mean the same in all tiles of a sheet and in all frames of a video. Unless the range is given,
 * the scene is run through beforehand to find it.
 */

static bool needs_range(const rendering *r)
{
    return views_have_range(r->settings.views) && r->settings.map_top <= 0.0f && picture_count(r) > 1;
}

static int measure(rendering *r, uint32_t index)
{
    (void)index;
    draw_error error;
    return draw_measure(r->draw, r->world, &r->settings, &error) ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}

static int start_again(rendering *r)
{
    lm_world_destroy(r->world);
    lm_scene_close(r->scene);
    r->world = NULL;
    r->scene = NULL;
    r->bar_base += r->stepped;
    r->stepped = 0;
    int code = world_open(&r->request->world, &r->scene, &r->world);
    if (code < 0) {
        lm_scene_watch(r->scene, false);
        code = tell_colours(r);
    }
    return code;
}

static int find_range(rendering *r)
{
    int code = go_through(r, measure);
    return code >= 0 ? code : start_again(r);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The pictures
 */

/* What a tile says of itself. */
static void write_time(const rendering *r, char text[32])
{
    snprintf(text, 32, "%.2f s", r->stepped / LM_SCENE_FRAME_RATE);
}

static bool draw_labels(rendering *r)
{
    placed_label taken[2];
    uint32_t count = 0;
    int legend[4];
    draw_get_legend(r->draw, legend);
    if (legend[2] > 0) {
        taken[count++] = (placed_label){.left = legend[0], .top = legend[1], .width = legend[2], .height = legend[3]};
    }
    if (r->request->kind == RENDER_SHEET) {
        char time[32];
        write_time(r, time);
        taken[count++] = label_corner_place(r->picture.width, r->picture.height, time);
    }
    return labels_draw(r->scene, r->world, &r->settings.camera, taken, count, &r->picture);
}

static int draw_picture(rendering *r)
{
    double before = lmi_system_seconds();
    draw_error error;
    bool good = draw_world(r->draw, r->world, &r->settings, &r->picture, &error);
    r->drawing += lmi_system_seconds() - before;
    if (!good) {
        return cli_fail(CLI_FAILED, "%s", error.text);
    }
    if (r->settings.bodies && !draw_labels(r)) {
        return cli_fail(CLI_FAILED, "out of memory for labels");
    }
    return -1;
}

static int add_picture(rendering *r, uint32_t index)
{
    int code = draw_picture(r);
    if (code < 0 && r->request->kind == RENDER_SHEET) {
        char time[32];
        write_time(r, time);
        sheet_place(&r->sheet, index, &r->picture, time);
    }
    image_error error;
    if (code < 0 && r->request->kind == RENDER_VIDEO && !video_add(r->video, &r->picture, &error)) {
        return cli_fail(CLI_FAILED, "%s", error.text);
    }
    return code;
}

static int finish_file(rendering *r)
{
    image_error error;
    bool good;
    if (r->request->kind == RENDER_VIDEO) {
        good = video_finish(r->video, &error);
        r->video = NULL;
    } else {
        const image *picture = r->request->kind == RENDER_SHEET ? &r->sheet.picture : &r->picture;
        good = image_write_png(r->request->out, picture, &error);
    }
    return good ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * All of it
 */

static void tell(const rendering *r)
{
    const render_request *request = r->request;
    double seconds = r->frames / LM_SCENE_FRAME_RATE;
    uint32_t count = picture_count(r);
    printf("%s: %ux%u, ", request->out, (unsigned)request->width, (unsigned)request->height);
    if (request->kind == RENDER_STILL) {
        printf("at %.2f s", seconds);
    } else if (request->kind == RENDER_SHEET) {
        printf("%u pictures from 0 to %.2f s", (unsigned)count, seconds);
    } else {
        printf("%u frames, %.2f s", (unsigned)count, (double)count / request->rate);
    }
    if (views_have_range(r->settings.views)) {
        uint32_t views = r->settings.views;
        const char *name = views & DRAW_STRAIN ? "strain" : views & DRAW_STRESS ? "stress" : "speed";
        const char *unit = views & DRAW_STRAIN ? "" : views & DRAW_STRESS ? " Pa" : " m/s";
        printf("; %s up to %.3g%s", name, draw_map_reached(r->draw), unit);
    }
    printf("; took %.1f s (%.1f s of it drawing)\n", lmi_system_seconds() - r->began, r->drawing);
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
    world_tell_note(r->scene);
    lm_scene_watch(r->scene, false);
    r->frames = request->frames == RENDER_WHOLE_SCENE ? lm_scene_frames(r->scene) : request->frames;
    r->bar = progress_begin(needs_range(r) ? 2 * r->frames : r->frames, "frames");
    code = needs_range(r) ? find_range(r) : -1;
    code = code >= 0 ? code : go_through(r, add_picture);
    progress_end(&r->bar);
    code = code >= 0 ? code : finish_file(r);
    if (code < 0) {
        tell(r);
    }
    return code >= 0 ? code : CLI_OK;
}

int render_scene(const render_request *request)
{
    rendering r = {.request = request, .began = lmi_system_seconds()};
    int code = render_all(&r);
    video_abandon(r.video);
    image_free(&r.picture);
    sheet_free(&r.sheet);
    draw_close(r.draw);
    lm_world_destroy(r.world);
    lm_scene_close(r.scene);
    return code;
}
