/*
 * Scripted input, for tests and demonstrations: a file of lines, each of which becomes the events that a person at the window
 * would cause (docs/viewer.md lists them). With a script, every frame of the window is exactly one step of the simulation.
 */
#ifndef LIMBER_VIEWER_SCRIPT_H
#define LIMBER_VIEWER_SCRIPT_H

#include "viewer/app.h"
#include "viewer/window.h"

typedef struct script script;

/* Null: `error` (of VIEWER_ERROR_SIZE) says why. */
script *script_open(const char *path, char *error);
void script_close(script *script); /* null is allowed */

/* Before each frame: sends what is to happen in it. At the end of the script the viewer is told to quit. False: `error` says in
 * which line something went wrong. */
bool script_advance(script *script, app *app, window *window, char *error);

#endif
