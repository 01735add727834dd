/*
 * Opening a window. SDL has drivers that show nothing (offscreen, dummy); where no screen is found it falls back to them, and
 * the viewer would run for nobody. They count only when they are asked for by name (SDL_VIDEODRIVER), as tests do.
 */
#include "viewer/window.h"

#include <epoxy/gl.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Opening
 */

static bool is_set(const char *name)
{
    const char *value = SDL_getenv(name);
    return value != NULL && value[0] != '\0';
}

/* Whether there is a screen to ask for. Only the drivers for it are tried: others print complaints of their own. */
static bool choose_drivers(void)
{
    if (strcmp(SDL_GetPlatform(), "Linux") != 0) {
        return true;
    }
    bool x11 = is_set("DISPLAY"), wayland = is_set("WAYLAND_DISPLAY");
    SDL_SetHint(SDL_HINT_VIDEODRIVER, x11 && wayland ? "x11,wayland" : x11 ? "x11" : "wayland");
    return x11 || wayland;
}

static bool fail(char error[WINDOW_ERROR_SIZE], const char *what)
{
    const char *why = SDL_GetError();
    snprintf(error, WINDOW_ERROR_SIZE, "%s%s%s", what, why[0] != '\0' ? ": " : "", why);
    return false;
}

static bool start_video(char error[WINDOW_ERROR_SIZE])
{
    bool is_asked = is_set("SDL_VIDEODRIVER");
    if (!is_asked && !choose_drivers()) {
        snprintf(error, WINDOW_ERROR_SIZE, "there is no display");
        return false;
    }
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1"); /* Ctrl-C ends the program, and a recording with it */
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) {
        return fail(error, "the display cannot be used");
    }
    const char *driver = SDL_GetCurrentVideoDriver();
    if (!is_asked && (strcmp(driver, "offscreen") == 0 || strcmp(driver, "dummy") == 0)) {
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
        SDL_ClearError();
        return fail(error, "the display cannot be used");
    }
    return true;
}

/* Pixels for a point on a screen of this density, where the system does not say: X11 knows nothing but the size of the screen in
 * millimetres, which can be wrong. Ordinary screens, and those of laptops, have up to 160 dots an inch. */
static float screen_scale(void)
{
    float dpi = 0.0f;
    if (SDL_GetDisplayDPI(0, &dpi, NULL, NULL) != 0 || !(dpi < 700.0f)) {
        return 1.0f;
    }
    return dpi < 160.0f ? 1.0f : dpi < 200.0f ? 1.5f : dpi < 300.0f ? 2.0f : 3.0f;
}

static bool make_context(window *w, char error[WINDOW_ERROR_SIZE])
{
    w->context = SDL_GL_CreateContext(w->sdl);
    if (w->context == NULL) {
        return fail(error, "there is no OpenGL 3.3");
    }
    int version = epoxy_gl_version();
    if (version < 33) {
        snprintf(error, WINDOW_ERROR_SIZE, "there is no OpenGL 3.3, only %d.%d", version / 10, version % 10);
        return false;
    }
    SDL_GL_SetSwapInterval(1);
    return true;
}

bool window_open(window *w, const settings *s, float scale, char error[WINDOW_ERROR_SIZE])
{
    memset(w, 0, sizeof *w);
    w->asked_scale = scale;
    if (!start_video(error)) {
        return false;
    }
    SDL_GL_ResetAttributes();
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
    SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 0); /* the renderer draws into framebuffers of its own */
    uint32_t flags = SDL_WINDOW_OPENGL | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI;
    flags |= s->maximised ? (uint32_t)SDL_WINDOW_MAXIMIZED : 0u;
    float units = scale > 0.0f ? scale : screen_scale();
    w->sdl = SDL_CreateWindow("Limber", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, (int)((float)s->width * units),
                              (int)((float)s->height * units), flags);
    if (w->sdl == NULL) {
        return fail(error, "no window can be opened");
    }
    SDL_SetWindowMinimumSize(w->sdl, (int)(480.0f * units), (int)(360.0f * units));
    if (!make_context(w, error)) {
        return false;
    }
    const SDL_SystemCursor shapes[] = {SDL_SYSTEM_CURSOR_ARROW, SDL_SYSTEM_CURSOR_IBEAM, SDL_SYSTEM_CURSOR_SIZEWE,
                                       SDL_SYSTEM_CURSOR_HAND};
    for (int i = 0; i < UI_CURSOR_COUNT; i++) {
        w->cursors[i] = SDL_CreateSystemCursor(shapes[i]); /* null where the driver has none */
    }
    window_measure(w);
    return true;
}

void window_close(window *w)
{
    for (int i = 0; i < UI_CURSOR_COUNT; i++) {
        if (w->cursors[i] != NULL) {
            SDL_FreeCursor(w->cursors[i]);
        }
    }
    if (w->context != NULL) {
        SDL_GL_DeleteContext(w->context);
    }
    if (w->sdl != NULL) {
        SDL_DestroyWindow(w->sdl);
    }
    if (SDL_WasInit(SDL_INIT_VIDEO) != 0) {
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
    }
    SDL_Quit();
    memset(w, 0, sizeof *w);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Size
 */

void window_measure(window *w)
{
    int units = 1, ignored = 1, width = 1, height = 1;
    SDL_GetWindowSize(w->sdl, &units, &ignored);
    SDL_GL_GetDrawableSize(w->sdl, &width, &height);
    float density = (float)width / fmaxf((float)units, 1.0f); /* pixels for each of SDL's units; 1 on X11 */
    float scale = w->asked_scale > 0.0f ? w->asked_scale : density > 1.01f ? density : screen_scale();
    w->scale = scale;
    w->points_a_unit = density / scale;
    w->pixel_width = (uint32_t)(width > 16 ? width : 16);
    w->pixel_height = (uint32_t)(height > 16 ? height : 16);
}

void window_set_cursor(const window *w, ui_cursor cursor)
{
    if (w->cursors[cursor] != NULL && SDL_GetCursor() != w->cursors[cursor]) {
        SDL_SetCursor(w->cursors[cursor]);
    }
}

void window_set_title(const window *w, const char *scene)
{
    char title[256];
    snprintf(title, sizeof title, "%.200s - Limber", scene);
    SDL_SetWindowTitle(w->sdl, title);
}
