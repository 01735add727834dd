/* The window: SDL and its OpenGL context, its size and density. */
#ifndef LIMBER_VIEWER_WINDOW_H
#define LIMBER_VIEWER_WINDOW_H

#include "viewer/settings.h"
#include "viewer/ui.h"

#include <SDL.h>

#define WINDOW_ERROR_SIZE 256

typedef struct window {
    SDL_Window *sdl;
    SDL_GLContext context;
    SDL_Cursor *cursors[UI_CURSOR_COUNT];
    float asked_scale;   /* pixels for each point, or 0: as the screen says */
    float scale;         /* pixels for each point */
    float points_a_unit; /* of the coordinates of SDL's events */
    uint32_t pixel_width, pixel_height;
} window;

/* Opens a window with an OpenGL 3.3 context. False: `error` says why, in a few words. To be closed in either case. */
bool window_open(window *window, const settings *settings, float scale, char error[WINDOW_ERROR_SIZE]);
void window_close(window *window);

/* Finds its size and density again. */
void window_measure(window *window);

void window_set_cursor(const window *window, ui_cursor cursor);
void window_set_title(const window *window, const char *scene);

#endif
