/* limber list: the built-in scenes. */
#include "cli/cli.h"
#include "limber/scene.h"

#include <stdio.h>
#include <string.h>

static int run(const cli_command *command, int argc, char **argv)
{
    int code = cli_parse(command, argc, argv, NULL, 0, NULL, 0);
    if (code >= 0) {
        return code;
    }
    size_t widest = 0;
    for (uint32_t i = 0; lm_scene_builtin_name(i) != NULL; i++) {
        size_t width = strlen(lm_scene_builtin_name(i));
        widest = width > widest ? width : widest;
    }
    for (uint32_t i = 0; lm_scene_builtin_name(i) != NULL; i++) {
        lm_scene_error error;
        const char *name = lm_scene_builtin_name(i);
        lm_scene *opened = lm_scene_open(name, NULL, 0, &error);
        if (opened == NULL) {
            return cli_fail(CLI_FAILED, "%s", error.text);
        }
        const char *figure = lm_scene_figure(opened);
        printf("%-*s  %s%s%s%s\n", (int)widest, name, lm_scene_title(opened), figure[0] != '\0' ? " [" : "", figure,
               figure[0] != '\0' ? "]" : "");
        lm_scene_close(opened);
    }
    return CLI_OK;
}

const cli_command cli_list = {"list", "", "lists every built-in scene: name, what it shows, the figure it reproduces",
                              run};
