/* limber view: the interactive viewer. */
#include "cli/values.h"
#include "cli/world.h"
#include "viewer/viewer.h"

#include <stdlib.h>

#define FIRST_SCENE "penguins" /* when none is given */
#define LEAST_WIDTH 480
#define MOST_SIZE 8192

static int check_values(const char *size, const char *scale, viewer_options *v)
{
    if (size != NULL && !value_read_pair(size, LEAST_WIDTH, MOST_SIZE, &v->width, &v->height)) {
        return cli_fail(CLI_USAGE, "view: --size %s: expected width and height from %d to %d, as 1280x800", size,
                        LEAST_WIDTH, MOST_SIZE);
    }
    double number = 0.0;
    const char *end = "";
    if (scale != NULL &&
        (!value_read_numbers(scale, &number, 1, &end) || *end != '\0' || number < 0.5 || number > 4.0)) {
        return cli_fail(CLI_USAGE, "view: --scale %s: expected a number from 0.5 to 4", scale);
    }
    v->scale = (float)number;
    return -1;
}

static int run(const cli_command *command, int argc, char **argv)
{
    world_options o = {.scene = FIRST_SCENE};
    viewer_options v = {.threads = 0};
    const char *size = NULL, *scale = NULL;
    const cli_option options[] = {
        {"--size", "WxH", CLI_TEXT, &size, 0, 0, "of the window; default: as it was the last time"},
        {"--scale", "X", CLI_TEXT, &scale, 0, 0,
         "pixels for each point of the interface, 0.5 to 4; default: as the screen says"},
        {"--script", "FILE", CLI_TEXT, &v.script, 0, 0,
         "input from a file, as docs/viewer.md describes it; - is standard input"},
        {"--layout", "FILE", CLI_TEXT, &v.settings, 0, 0,
         "remembers the layout of the window here, not in the usual place"},
        WORLD_OPTIONS(o)};
    int code = cli_parse(command, argc, argv, options, sizeof options / sizeof options[0], &o.scene, 1);
    code = code >= 0 ? code : world_check_options(&o);
    code = code >= 0 ? code : check_values(size, scale, &v);
    if (code < 0) {
        char error[VIEWER_ERROR_SIZE];
        cli_choose_isa(o.isa, &v.isa);
        v.scene = o.scene;
        v.threads = o.threads;
        v.device = o.device;
        v.sets = o.sets.items;
        v.set_count = o.sets.count;
        code = viewer_run(&v, error) ? CLI_OK : cli_fail(CLI_FAILED, "%s", error);
    }
    world_free_options(&o);
    return code;
}

const cli_command cli_view = {"view", "[SCENE]", "opens a scene or a mesh in a window, to pull, cut and throw", run};
