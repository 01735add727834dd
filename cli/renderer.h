/* Opening the renderer. */
#ifndef LIMBER_CLI_RENDERER_H
#define LIMBER_CLI_RENDERER_H

#include "draw/draw.h"

/* Opens a renderer for pictures of this size. Returns -1, or the exit code after reporting why. */
int renderer_open(uint32_t width, uint32_t height, draw **renderer);

#endif
