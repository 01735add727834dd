/* limber render: pictures and videos of a scene. */
#include "cli/rendering.h"

#include "cli/values.h"
#include "draw/sheet.h"

#include <math.h>

#define LEAST_SIZE 16 /* of a picture, pixels each way */
#define MOST_SIZE 8192
#define MOST_TILES 64 /* each way */
#define MOST_SECONDS 1e6
#define LEAST_RANGE 1e-6
#define MOST_RANGE 1e6

/* Tiles of a sheet, when no size is given. */
#define TILE_WIDTH 480
#define TILE_HEIGHT 270

/* The options as they were typed. */
typedef struct render_options {
    const char *at, *sheet, *size, *camera, *range;
    uint32_t frames, rate; /* 0: not given */
} render_options;

/* ------------------------------------------------------------------------------------------------------------------
 * Each returns -1 or the exit code.
 */

static int check_out(const render_options *o, render_request *request)
{
    if (request->out == NULL) {
        return cli_fail(CLI_USAGE, "render: --out FILE.png or --out FILE.mp4 is missing");
    }
    bool video = value_ends_with(request->out, ".mp4");
    if (!video && !value_ends_with(request->out, ".png")) {
        return cli_fail(CLI_USAGE, "render: --out %s: expected a name that ends in .png or .mp4", request->out);
    }
    if (video && (o->sheet != NULL || o->at != NULL)) {
        return cli_fail(CLI_USAGE, "render: %s is for pictures (expected --out FILE.png)",
                        o->sheet != NULL ? "--sheet" : "--at");
    }
    if (!video && o->rate != 0) {
        return cli_fail(CLI_USAGE, "render: --fps is for videos (expected --out FILE.mp4)");
    }
    request->kind = video ? RENDER_VIDEO : o->sheet != NULL ? RENDER_SHEET : RENDER_STILL;
    request->rate = o->rate != 0 ? o->rate : (uint32_t)LM_SCENE_FRAME_RATE;
    return -1;
}

static int check_time(const render_options *o, render_request *request)
{
    request->frames = o->frames != 0 ? o->frames : RENDER_WHOLE_SCENE;
    if (o->at == NULL) {
        return -1;
    }
    if (o->frames != 0 || o->sheet != NULL) {
        return cli_fail(CLI_USAGE, "render: --at and %s exclude each other", o->sheet != NULL ? "--sheet" : "--frames");
    }
    double seconds;
    const char *end;
    if (!value_read_numbers(o->at, &seconds, 1, &end) || *end != '\0' || seconds < 0.0 || seconds > MOST_SECONDS) {
        return cli_fail(CLI_USAGE, "render: --at %s: expected seconds from 0 to %g", o->at, MOST_SECONDS);
    }
    request->frames = (uint32_t)(LM_SCENE_FRAME_RATE * seconds + 0.5);
    return -1;
}

static int check_size(const render_options *o, render_request *request)
{
    bool tiled = request->kind == RENDER_SHEET;
    if (tiled && !value_read_pair(o->sheet, 1, MOST_TILES, &request->columns, &request->rows)) {
        return cli_fail(CLI_USAGE, "render: --sheet %s: expected columns and rows up to %d, as 4x3", o->sheet,
                        MOST_TILES);
    }
    request->width = tiled ? sheet_size(request->columns, TILE_WIDTH) : 1280;
    request->height = tiled ? sheet_size(request->rows, TILE_HEIGHT) : 720;
    if (o->size != NULL && !value_read_pair(o->size, LEAST_SIZE, MOST_SIZE, &request->width, &request->height)) {
        return cli_fail(CLI_USAGE, "render: --size %s: expected width and height from %d to %d, as 1280x720", o->size,
                        LEAST_SIZE, MOST_SIZE);
    }
    if (request->kind == RENDER_VIDEO && (request->width % 2 != 0 || request->height % 2 != 0)) {
        return cli_fail(CLI_USAGE, "render: --size %s: expected even numbers for a video", o->size);
    }
    if (tiled && (sheet_tile_size(request->columns, request->width) < LEAST_SIZE ||
                  sheet_tile_size(request->rows, request->height) < LEAST_SIZE)) {
        return cli_fail(CLI_USAGE, "render: --size %s: too small for %s pictures", o->size, o->sheet);
    }
    return -1;
}

/* "X,Y,Z/X,Y,Z" or "X,Y,Z/X,Y,Z/DEGREES". */
static int check_camera(const render_options *o, draw_camera *camera)
{
    double eye[3], middle[3], degrees = 40.0;
    const char *rest = o->camera;
    bool good =
        value_read_numbers(rest, eye, 3, &rest) && *rest == '/' && value_read_numbers(rest + 1, middle, 3, &rest);
    if (good && *rest == '/') {
        good = value_read_numbers(rest + 1, &degrees, 1, &rest);
    }
    if (!good || *rest != '\0' || !(degrees >= 1.0 && degrees <= 170.0)) {
        return cli_fail(CLI_USAGE,
                        "render: --camera %s: expected the eye, what it looks at and degrees from 1 to 170, as "
                        "4,3,6/0,1,0/40",
                        o->camera);
    }
    *camera = (draw_camera){{eye[0], eye[1], eye[2]}, {middle[0], middle[1], middle[2]}, degrees};
    if (eye[0] == middle[0] && eye[1] == middle[1] && eye[2] == middle[2]) {
        return cli_fail(CLI_USAGE, "render: --camera %s: the eye is where it looks at", o->camera);
    }
    return -1;
}

static int check_range(const render_options *o, render_request *request)
{
    double top;
    const char *end;
    if (!value_read_numbers(o->range, &top, 1, &end) || *end != '\0' || !(top >= LEAST_RANGE && top <= MOST_RANGE)) {
        return cli_fail(CLI_USAGE, "render: --range %s: expected a number from %g to %g", o->range, LEAST_RANGE,
                        MOST_RANGE);
    }
    request->range = (float)top;
    return -1;
}

static int run(const cli_command *command, int argc, char **argv)
{
    render_options o = {.at = NULL};
    render_request request = {.world.fine_surfaces = true};
    const cli_option table[] = {
        {"--out", "FILE", CLI_TEXT, &request.out, 0, 0, "FILE.png: a picture; FILE.mp4: a video (needs ffmpeg)"},
        {"--at", "SECONDS", CLI_TEXT, &o.at, 0, 0, "the moment of a picture; default: the scene's end"},
        {"--sheet", "CxR", CLI_TEXT, &o.sheet, 0, 0, "C columns and R rows of pictures from the start to the end"},
        {"--frames", "N", CLI_COUNT, &o.frames, 1, 100000000,
         "the end, in frames of 1/60 s; default: as the scene says"},
        {"--size", "WxH", CLI_TEXT, &o.size, 0, 0, "of the whole picture; default 1280x720, in a sheet 480x270 each"},
        {"--fps", "N", CLI_COUNT, &o.rate, 1, 1000, "frames of a video in a second; default 60"},
        {"--view", "NAMES", CLI_TEXT, &request.views, 0, 0,
         "surface (default), wireframe, particles, regions, goals, links, contacts, speed, strain, stress, bones, "
         "joined by commas; none: no bodies"},
        {"--range", "TOP", CLI_TEXT, &o.range, 0, 0,
         "the upper end of the colours of speed (m/s), strain or stress (Pa); default: the largest that is shown"},
        {"--camera", "EYE/AT[/FOV]", CLI_TEXT, &o.camera, 0, 0,
         "in place of the scene's: 4,3,6/0,1,0/40 stands at 4,3,6 and looks at 0,1,0, 40 degrees high in a picture of "
         "16:9"},
        {"--cpu-skin", NULL, CLI_FLAG, &request.cpu_skin, 0, 0, "deform surfaces on the CPU, not in the vertex shader"},
        WORLD_OPTIONS(request.world),
    };
    int code = cli_parse(command, argc, argv, table, sizeof table / sizeof table[0], &request.world.scene, 1);
    draw_camera camera;
    code = code >= 0 ? code : world_check_options(&request.world);
    code = code >= 0 ? code : check_out(&o, &request);
    code = code >= 0 ? code : check_time(&o, &request);
    code = code >= 0 ? code : check_size(&o, &request);
    if (code < 0 && o.camera != NULL) {
        code = check_camera(&o, &camera);
        request.camera = &camera;
    }
    if (code < 0 && o.range != NULL) {
        code = check_range(&o, &request);
    }
    code = code >= 0 ? code : render_scene(&request);
    world_free_options(&request.world);
    return code;
}

const cli_command cli_render = {"render", "SCENE", "draws a scene or a mesh: a picture, a contact sheet or a video",
                                run};
