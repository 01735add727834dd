/* limber devices: what can step a world besides the CPU. */
#include "cli/cli.h"

#include <stdio.h>

#define MOST_DEVICES 64

static int run(const cli_command *command, int argc, char **argv)
{
    int code = cli_parse(command, argc, argv, NULL, 0, NULL, 0);
    if (code >= 0) {
        return code;
    }
    static lm_device_info devices[MOST_DEVICES];
    uint32_t count = lm_device_list(devices, MOST_DEVICES);
    for (uint32_t n = 0; n < count && n < MOST_DEVICES; n++) {
        const lm_device_info *d = &devices[n];
        printf("%u  %s (%s): %s, %u units, %.1f GiB%s%s\n", n, d->name, d->platform, d->gpu ? "GPU" : "no GPU",
               d->units, (double)d->memory / 1073741824.0, d->usable ? "" : "; cannot be used: ", d->fault);
    }
    if (count == 0) {
        printf("no OpenCL device; the CPU steps all worlds\n");
    }
    return CLI_OK;
}

const cli_command cli_devices = {"devices", "", "lists every OpenCL device that --device can name", run};
