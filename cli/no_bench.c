/* limber bench where the tool was built without the library's sources (LIMBER_INSTALLED): benchmarks measure the inside of the library. */
#include "cli/cli.h"

static int run(const cli_command *command, int argc, char **argv)
{
    (void)command, (void)argc, (void)argv;
    return cli_fail(CLI_FAILED, "bench: this build of the tool has no benchmarks; the library's own build has them");
}

const cli_command cli_bench = {"bench", "NAME", "runs a benchmark (not in this build)", run};
