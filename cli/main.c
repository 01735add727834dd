/* limber: finds the command and runs it. */
#define _POSIX_C_SOURCE 200809L

#include "cli/cli.h"
#include "scene/nearest.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const cli_command *const commands[] = {&cli_list, &cli_devices, &cli_run,   &cli_render, &cli_export,
                                              &cli_view, &cli_bench,   &cli_shape, &cli_info,   &cli_schema};

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
    nearest_name near = nearest_to(name);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        nearest_offer(&near, commands[i]->name);
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

/* A standard stream that was closed would give its number to the next file that is opened, and what is said there would end up
 * in that file. The number is taken by something that cannot be used: reading or writing fails as if it were closed. */
static bool occupy_closed_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    if (!occupy_closed_streams()) {
        return CLI_FAILED;
    }
    /* A reader that went away and a file that has become too large are errors of writing, reported like any other. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int code = run_command(argc, argv);
    return code == CLI_OK ? cli_finish_output() : code;
}
