/* limber run: simulates a scene. */
#include "cli/run.h"

#include "cli/progress.h"
#include "cli/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENE_FRAMES UINT32_MAX /* as many as the scene says */
#define NEVER UINT32_MAX

typedef struct run_options {
    world_options world;
    uint32_t frames, resave;
    const char *out, *load;
    bool check, json;
} run_options;

typedef struct running {
    const run_options *options;
    lm_scene *scene;
    lm_world *world;
    uint32_t first_frame, frames;
    run_summary summary;
} running;

/* ------------------------------------------------------------------------------------------------------------------
 * Before
 */

static int load_snapshot(running *r)
{
    size_t size;
    void *bytes = output_read_file(r->options->load, &size);
    if (bytes == NULL) {
        return CLI_FAILED;
    }
    lm_scene_error error;
    lm_result result = lm_scene_load(r->scene, r->world, bytes, size, &r->first_frame, &error);
    free(bytes);
    return result == LM_OK ? -1 : cli_fail(CLI_FAILED, "--load %s: %s", r->options->load, error.text);
}

static int open_scene(running *r)
{
    const run_options *options = r->options;
    int code = options->out != NULL ? output_prepare(options->out) : -1;
    code = code >= 0 ? code : world_open(&options->world, &r->scene, &r->world);
    if (code >= 0) {
        return code;
    }
    world_tell_note(r->scene);
    lm_scene_watch(r->scene, options->check);
    r->frames = options->frames == SCENE_FRAMES ? lm_scene_frames(r->scene) : options->frames;
    if (options->resave != NEVER && options->resave >= r->frames) {
        return cli_fail(CLI_FAILED, "--resave %u: the run has only %u frames (expected a frame below that)",
                        (unsigned)options->resave, (unsigned)r->frames);
    }
    return options->load != NULL ? load_snapshot(r) : -1;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The run
 */

static int simulate(running *r)
{
    progress bar = progress_begin(r->frames, "frames");
    r->summary.scene = r->options->world.scene;
    for (uint32_t frame = r->first_frame; frame < r->frames; frame++) {
        lm_scene_error error;
        if (frame == r->options->resave && lm_scene_resave(r->scene, &r->world, &error) != LM_OK) {
            progress_end(&bar);
            return cli_fail(CLI_FAILED, "--resave %u: %s", (unsigned)frame, error.text);
        }
        lm_result result = lm_scene_step(r->scene, r->world, frame);
        if (result != LM_OK) {
            progress_end(&bar);
            return world_fail_step(&r->options->world, frame, result);
        }
        summary_add_step(&r->summary, r->world);
        progress_show(&bar, frame + 1);
    }
    progress_end(&bar);
    summary_finish(&r->summary, r->scene, r->world);
    return -1;
}

/* ------------------------------------------------------------------------------------------------------------------
 * After
 */

typedef struct checking {
    bool quiet; /* standard output is for JSON alone */
    char first_failure[512];
} checking;

static void note_check(const char *line, void *user)
{
    checking *c = user;
    if (!c->quiet) {
        printf("%s\n", line);
    }
    if (strncmp(line, "FAILED ", 7) == 0 && c->first_failure[0] == '\0') {
        snprintf(c->first_failure, sizeof c->first_failure, "%s", line + 7);
    }
}

static int check(running *r)
{
    checking c = {.quiet = r->options->json};
    uint32_t total = lm_scene_get_contents(r->scene).expectations;
    uint32_t failed = lm_scene_check(r->scene, r->world, note_check, &c);
    if (total == 0) {
        return cli_fail(CLI_FAILED, "%s: there is nothing to check (expected an \"expect\" block)",
                        r->options->world.scene);
    }
    if (failed > 0) {
        return cli_fail(CLI_FAILED, "%s: %u of %u expectations failed, first %s", r->options->world.scene,
                        (unsigned)failed, (unsigned)total, c.first_failure);
    }
    return -1;
}

static int report(running *r)
{
    if (!r->options->json) {
        summary_print(&r->summary);
        return -1;
    }
    char *json = summary_json(&r->summary);
    if (json == NULL) {
        return cli_fail(CLI_FAILED, "out of memory");
    }
    int code = cli_print(json);
    free(json);
    return code == CLI_OK ? -1 : code;
}

static int run_scene(running *r)
{
    int code = open_scene(r);
    code = code >= 0 ? code : simulate(r);
    code = code >= 0 ? code : report(r);
    if (code < 0 && r->options->out != NULL) {
        code = output_write(r->options->out, r->scene, r->world, &r->summary);
    }
    if (code < 0 && r->options->check) {
        code = check(r);
    }
    return code >= 0 ? code : CLI_OK;
}

static int run(const cli_command *command, int argc, char **argv)
{
    run_options o = {.frames = SCENE_FRAMES, .resave = NEVER};
    const cli_option table[] = {
        {"--frames", "N", CLI_COUNT, &o.frames, 0, 100000000, "frames of 1/60 s; default: as the scene says"},
        WORLD_OPTIONS(o.world),
        {"--check", NULL, CLI_FLAG, &o.check, 0, 0, "fails unless the scene's expectations hold"},
        {"--out", "DIR", CLI_TEXT, &o.out, 0, 0, "writes the last state: surfaces.obj, state.limber, summary.json"},
        {"--load", "FILE", CLI_TEXT, &o.load, 0, 0, "continues from a state.limber of the same scene"},
        {"--resave", "N", CLI_COUNT, &o.resave, 0, 100000000,
         "before frame N saves, loads into a new world and continues there (the result is the same)"},
        {"--json", NULL, CLI_FLAG, &o.json, 0, 0, "the summary as one JSON object and nothing else"},
    };
    int code = cli_parse(command, argc, argv, table, sizeof table / sizeof table[0], &o.world.scene, 1);
    code = code >= 0 ? code : world_check_options(&o.world);
    running r = {.options = &o};
    code = code >= 0 ? code : run_scene(&r);
    lm_world_destroy(r.world);
    lm_scene_close(r.scene);
    world_free_options(&o.world);
    return code;
}

const cli_command cli_run = {"run", "SCENE", "simulates a built-in scene, a JSON file or a mesh", run};
