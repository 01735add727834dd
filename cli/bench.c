/* limber bench: measures. */
#include "bench/bench.h"

#include "cli/cli.h"

static int run(const cli_command *command, int argc, char **argv)
{
    bench_options options = {.json = false};
    const char *isa = NULL;
    const char *name = NULL;
    const cli_option table[] = {
        {"--json", NULL, CLI_FLAG, &options.json, 0, 0, "one JSON object a line instead of a table"},
        {"--quick", NULL, CLI_FLAG, &options.quick, 0, 0, "the smallest cases, few repetitions"},
        {"--threads", "N", CLI_COUNT, &options.threads, 1, LM_MAX_WORKERS, "the most threads to use"},
        {"--device", "NAME", CLI_TEXT, &options.device, 0, 0, "of the bench gpu: gpu, a number, or a part of a name"},
        {"--size", "N", CLI_COUNT, &options.size, 8, 400,
         "of the bench gpu: corners along a side of its boxes; default 256"},
        {"--only", "CASE", CLI_TEXT, &options.only, 0, 0,
         "of the bench gpu: box, statue, penguins, clusters, octrees, examples, kinds, ground, contacts, skins or "
         "crossover"},
        {"--isa", "NAME", CLI_TEXT, &isa, 0, 0, "only this instruction set: scalar, sse2, avx2, avx512, neon, simd128"},
    };
    int code = cli_parse(command, argc, argv, table, sizeof table / sizeof table[0], &name, 1);
    code = code >= 0 ? code : cli_choose_isa(isa, &options.isa);
    return code >= 0 ? code : bench_run(name, &options);
}

const cli_command cli_bench = {"bench", "NAME",
                               "runs a benchmark: clusters, contacts, lattice, examples, fracture, octree, skeleton, "
                               "snapshot, calls, polar, gpu, or all",
                               run};
