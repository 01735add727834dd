/* Scenes and worlds, for the commands that simulate. */
#include "cli/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int world_check_options(const world_options *options)
{
    for (uint32_t i = 0; i < options->sets.count; i++) {
        const char *set = options->sets.items[i];
        if (set[0] == '=' || strchr(set, '=') == NULL) {
            return cli_fail(CLI_USAGE, "--set %s: expected PATH=VALUE, as in bodies[0].mass=2", set);
        }
    }
    lm_isa isa;
    return cli_choose_isa(options->isa, &isa);
}

/* What a device has to say, and notes: that a material is beyond what the substeps reach. */
static void tell_line(lm_result result, const char *line, void *user)
{
    (void)user;
    if (result == LM_ERROR_UNSUPPORTED || result == LM_OK) {
        fprintf(stderr, "limber: %s\n", line);
    }
}

int world_open(const world_options *options, lm_scene **scene_read, lm_world **world)
{
    lm_world_def def = lm_world_def_default();
    int code = cli_choose_isa(options->isa, &def.isa);
    if (code >= 0) {
        return code;
    }
    lm_scene_error error;
    def.workers = options->threads;
    def.device = options->device;
    def.log.write = tell_line;
    *scene_read = lm_scene_open(options->scene, options->sets.items, options->sets.count, &error);
    if (*scene_read != NULL) {
        lm_scene_want_fine_surfaces(*scene_read, options->fine_surfaces);
    }
    if (*scene_read == NULL || lm_scene_make_world(*scene_read, &def, world, &error) != LM_OK) {
        return cli_fail(CLI_FAILED, "%s", error.text);
    }
    return -1;
}

void world_tell_note(const lm_scene *scene_read)
{
    if (lm_scene_note(scene_read)[0] != '\0') {
        fprintf(stderr, "%s\n", lm_scene_note(scene_read)); /* standard output may be for JSON alone */
    }
}

int world_fail_step(const world_options *options, uint32_t frame, lm_result result)
{
    return cli_fail(CLI_FAILED, "%s: frame %u: %s", options->scene, (unsigned)frame, lm_result_text(result));
}

void world_free_options(world_options *options)
{
    free((void *)options->sets.items);
    options->sets = (cli_texts){.items = NULL};
}
