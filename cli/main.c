/* limber: finds the command and runs it. */
#include "cli/cli.h"
#include "support/nearest.h"
#include "support/system.h"

#include <stdio.h>
#include <string.h>

static const cli_command *const commands[] = {&cli_list,  &cli_devices, &cli_run,  &cli_render, &cli_export,  &cli_view,
                                              &cli_bench, &cli_shape,   &cli_info, &cli_schema, &cli_validate};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static void print_help(FILE *file)
{
    fprintf(file,
            "limber %s: deformable bodies by shape matching\n\nusage: limber COMMAND [ARGUMENT]...\n\ncommands:\n",
            lm_version());
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", commands[i]->name, commands[i]->arguments);
        fprintf(file, "  %-14s %s\n", left, commands[i]->summary);
    }
    fprintf(file, "\nlimber COMMAND --help tells about a command, limber --version the version.\n");
}

static int fail_unknown_command(const char *name)
{
    nearest_name near = lmi_nearest_to(name);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        lmi_nearest_offer(&near, commands[i]->name);
    }
    if (near.best != NULL) {
        return cli_fail(CLI_USAGE, "unknown command \"%s\" (did you mean \"%s\"?)", name, near.best);
    }
    return cli_fail(CLI_USAGE, "unknown command \"%s\" (see limber --help)", name);
}

static int run_command(int argc, char **argv)
{
    if (argc < 2) {
        return cli_fail(CLI_USAGE, "a command is missing (see limber --help)");
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("limber %s\n", lm_version());
        return CLI_OK;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, argv[1]) == 0) {
            return commands[i]->run(commands[i], argc - 2, argv + 2);
        }
    }
    return fail_unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    if (!lmi_system_begin(&argc, &argv)) {
        return CLI_FAILED;
    }
    int code = run_command(argc, argv);
    return code == CLI_OK ? cli_finish_output() : code;
}
