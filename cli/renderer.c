/*
 * Opening the renderer. Graphics libraries write complaints of their own to standard error, several for one failure; ours is
 * one line, so theirs are sent nowhere meanwhile.
 */
#include "cli/renderer.h"

#include "cli/cli.h"
#include "support/system.h"

int renderer_open(uint32_t width, uint32_t height, draw **renderer)
{
    draw_error error;
    int before = lmi_system_mute();
    *renderer = draw_open(width, height, &error);
    lmi_system_unmute(before);
    return *renderer != NULL ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}
