/* What the tests use of POSIX and WASI lacks: it has no processes, so a name need not be unlike another program's. */
#define _POSIX_C_SOURCE 200809L

#include "test/bare/wasi.h"
#include "test/bare/thread.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

char *mkdtemp(char *name)
{
    size_t length = strlen(name);
    for (unsigned n = 0; length >= 6 && n < 1000000; n++) {
        snprintf(name + length - 6, 7, "%06u", n);
        if (mkdir(name, 0700) == 0) return name;
        if (errno != EEXIST) break;
    }
    return NULL;
}

bool bare_run_on_stack(size_t size, void (*run)(void *argument), void *argument)
{
    (void)size;
    run(argument);
    return true;
}
