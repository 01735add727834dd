/*
 * The benchmarks as a program of their own, without the rest of the tool: tools/device-bench builds it.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    bench_options options = {.threads = 0};
    const char *name = argc > 1 ? argv[1] : "gpu";
    for (int n = 2; n < argc; n++) {
        bool more = n + 1 < argc;
        if (strcmp(argv[n], "--json") == 0)
            options.json = true;
        else if (strcmp(argv[n], "--quick") == 0)
            options.quick = true;
        else if (strcmp(argv[n], "--device") == 0 && more)
            options.device = argv[++n];
        else if (strcmp(argv[n], "--only") == 0 && more)
            options.only = argv[++n];
        else if (strcmp(argv[n], "--options") == 0 && more)
            options.options = argv[++n];
        else if (strcmp(argv[n], "--tile-x") == 0 && more)
            options.tile_x = (uint32_t)strtoul(argv[++n], NULL, 10);
        else if (strcmp(argv[n], "--tile-y") == 0 && more)
            options.tile_y = (uint32_t)strtoul(argv[++n], NULL, 10);
        else if (strcmp(argv[n], "--planes") == 0 && more)
            options.planes = (uint32_t)strtoul(argv[++n], NULL, 10);
        else if (strcmp(argv[n], "--size") == 0 && more)
            options.size = (uint32_t)strtoul(argv[++n], NULL, 10);
        else if (strcmp(argv[n], "--threads") == 0 && more)
            options.threads = (uint32_t)strtoul(argv[++n], NULL, 10);
        else {
            fprintf(stderr, "usage: limber-bench NAME [--json] [--quick] [--device NAME] [--size N] [--threads N]\n");
            return 2;
        }
    }
    return bench_run(name, &options);
}
