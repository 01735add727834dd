/* limber export: the motion of a scene into a file of another program. */
#include "cli/world.h"

#include "cli/progress.h"
#include "limber/capture.h"
#include "limber/export.h"
#include "support/nearest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENE_FRAMES UINT32_MAX /* as many as the scene says */

typedef struct export_request {
    world_options world;
    const char *out, *up, *motion;
    uint32_t first, frames, rate;
    cli_texts names;
    lm_export_options options;
} export_request;

typedef struct exporting {
    const export_request *request;
    lm_scene *scene;
    lm_world *world;
    lm_capture_body *bodies;
    uint32_t body_count;
    lm_capture *capture;
    lm_exporter *out;
    uint32_t last; /* frame of the simulation */
    lm_export_loss loss;
} exporting;

/* ------------------------------------------------------------------------------------------------------------------
 * What is asked for. Each returns -1 or the exit code.
 */

static int check_format(const export_request *r)
{
    const char *format = r->options.format;
    if (r->out == NULL) {
        return cli_fail(CLI_USAGE, "export: --out FILE is missing");
    }
    nearest_name near = lmi_nearest_to(format != NULL ? format : "");
    char names[128] = "";
    for (uint32_t i = 0; lm_export_format_name(i) != NULL; i++) {
        const char *name = lm_export_format_name(i);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", name);
        lmi_nearest_offer(&near, name);
        if (format != NULL && strcmp(format, name) == 0) {
            return -1;
        }
    }
    if (format != NULL && near.best != NULL) {
        return cli_fail(CLI_USAGE, "export: --format %s: no such format (did you mean %s?)", format, near.best);
    }
    if (format != NULL) {
        return cli_fail(CLI_USAGE, "export: --format %s: no such format (there are %s)", format, names);
    }
    return lm_export_format_of(r->out) != NULL
               ? -1
               : cli_fail(CLI_USAGE, "export: --out %s: expected a name that ends in one of %s, or --format", r->out,
                          names);
}

static int check_words(export_request *r)
{
    if (r->up != NULL && strcmp(r->up, "y") != 0 && strcmp(r->up, "z") != 0) {
        return cli_fail(CLI_USAGE, "export: --up %s: expected y or z", r->up);
    }
    r->options.z_up = r->up != NULL && r->up[0] == 'z';
    if (r->motion != NULL && strcmp(r->motion, "joints") != 0 && strcmp(r->motion, "morphs") != 0) {
        return cli_fail(CLI_USAGE, "export: --motion %s: expected joints or morphs", r->motion);
    }
    r->options.motion = r->motion != NULL && r->motion[0] == 'm' ? LM_EXPORT_MORPHS : LM_EXPORT_JOINTS;
    if (r->options.influences != 4 && r->options.influences != 8) {
        return cli_fail(CLI_USAGE, "export: --influences %u: expected 4 or 8", (unsigned)r->options.influences);
    }
    r->options.rate = r->rate;
    return -1;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Before
 */

static bool is_chosen(const export_request *r, const char *name)
{
    for (uint32_t i = 0; i < r->names.count; i++) {
        const char *wanted = r->names.items[i];
        size_t length = strlen(wanted);
        /* "ball" stands for all of ball[0], ball[1], ... too. */
        if (strncmp(name, wanted, length) == 0 && (name[length] == '\0' || name[length] == '[')) {
            return true;
        }
    }
    return r->names.count == 0;
}

static int check_names(const exporting *e)
{
    for (uint32_t i = 0; i < e->request->names.count; i++) {
        export_request one = {.names = {&e->request->names.items[i], 1}};
        nearest_name near = lmi_nearest_to(one.names.items[0]);
        bool found = false;
        for (uint32_t b = 0; b < lm_scene_body_count(e->scene); b++) {
            const char *name = lm_scene_get_body(e->scene, b).name;
            found = found || is_chosen(&one, name);
            lmi_nearest_offer(&near, name);
        }
        if (!found) {
            return near.best != NULL
                       ? cli_fail(CLI_FAILED, "--body %s: the scene has no such body (did you mean %s?)",
                                  one.names.items[0], near.best)
                       : cli_fail(CLI_FAILED, "--body %s: the scene has no such body", one.names.items[0]);
        }
    }
    return -1;
}

static int choose_bodies(exporting *e)
{
    int code = check_names(e);
    if (code >= 0) {
        return code;
    }
    e->bodies = calloc(lm_scene_body_count(e->scene) + 1u, sizeof *e->bodies);
    if (e->bodies == NULL) {
        return cli_fail(CLI_FAILED, "out of memory");
    }
    for (uint32_t i = 0; i < lm_scene_body_count(e->scene); i++) {
        lm_scene_body body = lm_scene_get_body(e->scene, i);
        lm_scene_colours colours = lm_scene_get_colours(e->scene, i);
        lm_scene_texture texture = lm_scene_get_texture(e->scene, i);
        if (is_chosen(e->request, body.name)) {
            e->bodies[e->body_count++] = (lm_capture_body){
                .id = body.id,
                .name = body.name,
                .colours = colours.rgb,
                .colour_count = colours.count,
                .seams = {texture.triangles, texture.uvs, texture.triangle_count, texture.vertex_count}};
        }
    }
    if (e->body_count == 0) {
        return cli_fail(CLI_FAILED, "%s: there is no body to export", e->request->world.scene);
    }
    e->capture = lm_capture_create(e->bodies, e->body_count);
    return e->capture != NULL ? -1 : cli_fail(CLI_FAILED, "out of memory");
}

static int open_all(exporting *e)
{
    const export_request *r = e->request;
    int code = world_open(&r->world, &e->scene, &e->world);
    code = code >= 0 ? code : choose_bodies(e);
    if (code >= 0) {
        return code;
    }
    world_tell_note(e->scene);
    lm_scene_watch(e->scene, false);
    e->last = r->frames == SCENE_FRAMES ? lm_scene_frames(e->scene) : r->frames;
    if (r->first > e->last) {
        return cli_fail(CLI_FAILED, "--from %u: the scene ends at frame %u", (unsigned)r->first, (unsigned)e->last);
    }
    lm_export_options options = r->options;
    options.frame_count = (uint32_t)floor((e->last - r->first) * (double)r->rate / LM_SCENE_FRAME_RATE + 1e-9) + 1;
    lm_export_error error;
    e->out = lm_export_open(r->out, &options, &error);
    return e->out != NULL ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The run
 */

/* Frame of the simulation that is nearest to a frame of the file. */
static uint32_t moment(const export_request *r, uint32_t index)
{
    return r->first + (uint32_t)floor(index * LM_SCENE_FRAME_RATE / r->rate + 0.5);
}

static int add_frame(exporting *e)
{
    lm_export_frame frame;
    lm_export_error error;
    lm_result result = lm_capture_take(e->capture, e->world, lm_export_wants(e->out), e->request->options.z_up, &frame);
    if (result != LM_OK) {
        return cli_fail(CLI_FAILED, "%s: %s", e->request->out, lm_result_text(result));
    }
    return lm_export_add(e->out, &frame, &error) ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}

static int simulate(exporting *e, uint32_t *added)
{
    progress bar = progress_begin(e->last, "frames");
    int code = -1;
    for (uint32_t frame = 0; code < 0 && frame <= e->last; frame++) {
        if (frame > 0) {
            lm_result result = lm_scene_step(e->scene, e->world, frame - 1);
            if (result != LM_OK) {
                progress_end(&bar);
                return world_fail_step(&e->request->world, frame - 1, result);
            }
        }
        for (; code < 0 && moment(e->request, *added) == frame; ++*added) {
            code = add_frame(e);
        }
        progress_show(&bar, frame);
    }
    progress_end(&bar);
    return code;
}

static void tell(const exporting *e, uint32_t frames)
{
    printf("%s: %u frames, %u a second, %u %s", e->request->out, (unsigned)frames, (unsigned)e->request->rate,
           (unsigned)e->body_count, e->body_count == 1 ? "body" : "bodies");
    if (e->loss.size > 0.0) {
        printf("; vertices are off by up to %.3g mm, %.3g mm in the mean (%.3g %% and %.3g %% of the size)",
               1000.0 * e->loss.largest, 1000.0 * e->loss.mean, 100.0 * e->loss.largest / e->loss.size,
               100.0 * e->loss.mean / e->loss.size);
    }
    printf("\n");
}

static int export_all(exporting *e)
{
    uint32_t added = 0;
    int code = open_all(e);
    code = code >= 0 ? code : simulate(e, &added);
    if (code >= 0) {
        return code;
    }
    lm_export_error error;
    bool good = lm_export_finish(e->out, &e->loss, &error);
    e->out = NULL;
    if (!good) {
        return cli_fail(CLI_FAILED, "%s", error.text);
    }
    tell(e, added);
    return CLI_OK;
}

static int run(const cli_command *command, int argc, char **argv)
{
    export_request r = {.world.fine_surfaces = true,
                        .frames = SCENE_FRAMES,
                        .rate = (uint32_t)LM_SCENE_FRAME_RATE,
                        .options = lm_export_options_default()};
    const cli_option table[] = {
        {"--out", "FILE", CLI_TEXT, &r.out, 0, 0,
         "the file, or of a sequence its name without the numbers; its ending says what it is: .glb and .usda (scenes "
         "with animation), .pc2 and .mdd (point caches, with an OBJ file), .obj and .ply (sequences), .vtu or .pvd "
         "(ParaView), .csv (measures)"},
        {"--format", "NAME", CLI_TEXT, &r.options.format, 0, 0,
         "whatever the ending is: glb, usda, pc2, mdd, obj, ply, vtu or csv"},
        {"--from", "N", CLI_COUNT, &r.first, 0, 100000000,
         "the first frame that is written, in frames of 1/60 s; default 0"},
        {"--frames", "N", CLI_COUNT, &r.frames, 0, 100000000,
         "the last one, in frames of 1/60 s; default: as the scene says"},
        {"--fps", "N", CLI_COUNT, &r.rate, 1, 60, "frames that are written for a second; default 60"},
        {"--up", "AXIS", CLI_TEXT, &r.up, 0, 0, "y (default) or z: the axis that points up in the file"},
        {"--body", "NAME", CLI_TEXTS, &r.names, 0, 0,
         "only this body, or all copies of it; may be repeated; default: all bodies"},
        {"--motion", "KIND", CLI_TEXT, &r.motion, 0, 0,
         "of a GLB: joints (default: compact, the error is reported at the end) or morphs (exact, for small meshes)"},
        {"--joints", "N", CLI_COUNT, &r.options.joints, 1, LM_EXPORT_MAX_JOINTS, "of each body in a GLB; default 32"},
        {"--influences", "N", CLI_COUNT, &r.options.influences, 4, 8,
         "joints of each vertex in a GLB: 4 (default) or 8"},
        WORLD_OPTIONS(r.world),
    };
    int code = cli_parse(command, argc, argv, table, sizeof table / sizeof table[0], &r.world.scene, 1);
    code = code >= 0 ? code : world_check_options(&r.world);
    code = code >= 0 ? code : check_format(&r);
    code = code >= 0 ? code : check_words(&r);
    exporting e = {.request = &r};
    code = code >= 0 ? code : export_all(&e);
    lm_export_abandon(e.out);
    lm_capture_destroy(e.capture);
    free(e.bodies);
    lm_world_destroy(e.world);
    lm_scene_close(e.scene);
    free((void *)r.names.items);
    world_free_options(&r.world);
    return code;
}

const cli_command cli_export = {"export", "SCENE", "writes the motion of a scene or a mesh for other programs", run};
