/* limber schema: the scene format. */
#include "cli/cli.h"
#include "limber/scene.h"

#include <stdio.h>
#include <stdlib.h>

static int run(const cli_command *command, int argc, char **argv)
{
    bool markdown = false;
    const cli_option options[] = {
        {"--markdown", NULL, CLI_FLAG, &markdown, 0, 0, "the tables of docs/scene-format.md instead"},
    };
    int code = cli_parse(command, argc, argv, options, 1, NULL, 0);
    if (code >= 0) {
        return code;
    }
    char *text = markdown ? lm_scene_reference() : lm_scene_schema();
    if (text == NULL) {
        return cli_fail(CLI_FAILED, "out of memory");
    }
    code = cli_print(text);
    free(text);
    return code;
}

const cli_command cli_schema = {"schema", "", "prints the scene format as a JSON Schema", run};
