/*
 * Opening the renderer. Graphics libraries write complaints of their own to standard error, several for one failure; ours is
 * one line, so theirs are sent nowhere meanwhile.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/renderer.h"

#include "cli/cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Standard error becomes the null device; returns what it was, or -1. */
static int mute(void)
{
    fflush(stderr);
    int before = dup(STDERR_FILENO);
    int nowhere = open("/dev/null", O_WRONLY);
    if (before >= 0 && nowhere >= 0) {
        dup2(nowhere, STDERR_FILENO);
    }
    if (nowhere >= 0) {
        close(nowhere);
    }
    return before;
}

static void unmute(int before)
{
    fflush(stderr);
    if (before >= 0) {
        dup2(before, STDERR_FILENO);
        close(before);
    }
}

int renderer_open(uint32_t width, uint32_t height, draw **renderer)
{
    draw_error error;
    int before = mute();
    *renderer = draw_open(width, height, &error);
    unmute(before);
    return *renderer != NULL ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}
