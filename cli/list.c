/* limber list: the built-in scenes. */
#include "cli/cli.h"
#include "scene/scene.h"

#include <stdio.h>
#include <string.h>

static int run(const cli_command *command, int argc, char **argv)
{
    int code = cli_parse(command, argc, argv, NULL, 0, NULL, 0);
    if (code >= 0) {
        return code;
    }
    size_t widest = 0;
    for (uint32_t i = 0; scene_builtin_name(i) != NULL; i++) {
        size_t width = strlen(scene_builtin_name(i));
        widest = width > widest ? width : widest;
    }
    for (uint32_t i = 0; scene_builtin_name(i) != NULL; i++) {
        scene_error error;
        const char *name = scene_builtin_name(i);
        scene *opened = scene_open(name, NULL, 0, &error);
        if (opened == NULL) {
            return cli_fail(CLI_FAILED, "%s", error.text);
        }
        const char *figure = scene_figure(opened);
        printf("%-*s  %s%s%s%s\n", (int)widest, name, scene_title(opened), figure[0] != '\0' ? " [" : "", figure,
               figure[0] != '\0' ? "]" : "");
        scene_close(opened);
    }
    return CLI_OK;
}

const cli_command cli_list = {"list", "", "lists every built-in scene: name, what it shows, the figure it reproduces",
                              run};
