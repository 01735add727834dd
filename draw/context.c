/*
 * An OpenGL 3.3 core context without a window on any screen.
 *
 * SDL's offscreen driver asks EGL for a device and draws on that, graphics card or software, and needs no display. Where
 * SDL was built without it, a hidden window of the system's own driver does. A host that has made a context current
 * already can lend it: then nothing of SDL is touched.
 */
#include "draw/internal.h"

#include <SDL.h>

#include <string.h>

static bool start_driver(const char *name)
{
    if (name) {
        SDL_SetHintWithPriority(SDL_HINT_VIDEODRIVER, name, SDL_HINT_OVERRIDE);
    }
    bool ok = SDL_InitSubSystem(SDL_INIT_VIDEO) == 0;
    if (name) {
        SDL_ResetHint(SDL_HINT_VIDEODRIVER);
    }
    return ok;
}

/* A hidden window with a context, in the driver that is running. */
static bool make_window(draw_context *context)
{
    SDL_GL_ResetAttributes();
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
    SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 0); /* we draw into framebuffers of our own */
    context->window = SDL_CreateWindow("limber", 0, 0, 16, 16, SDL_WINDOW_OPENGL | SDL_WINDOW_HIDDEN);
    context->context = context->window ? SDL_GL_CreateContext(context->window) : NULL;
    if (!context->context && context->window) {
        SDL_DestroyWindow(context->window);
        context->window = NULL;
    }
    SDL_GL_ResetAttributes();
    return context->context != NULL;
}

/* Starts a driver and makes the context; takes everything back when it fails. */
static bool try_driver(draw_context *context, const char *name, char *reason, size_t size)
{
    if (start_driver(name)) {
        if (make_window(context)) {
            return true;
        }
        SDL_strlcpy(reason, SDL_GetError(), size);
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
    } else {
        SDL_strlcpy(reason, SDL_GetError(), size);
    }
    return false;
}

/* Whether there is a screen to ask for; without one, drivers for screens only print complaints. */
static bool has_screen(void)
{
    const char *names[] = {"DISPLAY", "WAYLAND_DISPLAY"};
    for (int n = 0; n < 2; n++) {
        const char *value = SDL_getenv(names[n]);
        if (value && value[0]) {
            return true;
        }
    }
    return strcmp(SDL_GetPlatform(), "Linux") != 0;
}

bool draw_context_open(draw_context *context, draw_error *error)
{
    memset(context, 0, sizeof *context);
    context->host_window = SDL_WasInit(SDL_INIT_VIDEO) ? SDL_GL_GetCurrentWindow() : NULL;
    context->host_context = SDL_WasInit(SDL_INIT_VIDEO) ? SDL_GL_GetCurrentContext() : NULL;
    char reason[160] = "", other[160] = "";
    /* A driver that is running already is shared. One that the user asks for comes before ours. */
    bool running = SDL_WasInit(SDL_INIT_VIDEO) != 0, asked = SDL_getenv("SDL_VIDEODRIVER") != NULL;
    bool ok = (running || asked) && try_driver(context, NULL, other, sizeof other);
    ok = ok || (!running && try_driver(context, "offscreen", reason, sizeof reason));
    ok = ok || (!running && !asked && has_screen() && try_driver(context, NULL, other, sizeof other));
    if (!ok) {
        return draw_fail(error, "this machine gives no OpenGL 3.3, on a screen or off it: %s",
                         reason[0] ? reason : other);
    }
    return true;
}

bool draw_context_check(draw_error *error)
{
    int version = epoxy_gl_version();
    return version >= 33 ||
           draw_fail(error, "this context has OpenGL %d.%d; drawing needs 3.3", version / 10, version % 10);
}

void draw_context_close(draw_context *context)
{
    if (context->window) {
        SDL_GL_MakeCurrent(context->window, NULL);
        SDL_GL_DeleteContext(context->context);
        SDL_DestroyWindow(context->window);
        if (context->host_window && context->host_context) {
            SDL_GL_MakeCurrent(context->host_window, context->host_context);
        }
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
    }
    memset(context, 0, sizeof *context);
}

bool draw_context_enter(draw_context *context, draw_error *error)
{
    if (!context->window) {
        return true;
    }
    context->host_window = SDL_GL_GetCurrentWindow();
    context->host_context = SDL_GL_GetCurrentContext();
    if (context->host_context == context->context) {
        return true;
    }
    if (SDL_GL_MakeCurrent(context->window, context->context) != 0) {
        return draw_fail(error, "cannot use the OpenGL context: %s", SDL_GetError());
    }
    return true;
}

void draw_context_leave(draw_context *context)
{
    if (context->window && context->host_context && context->host_context != context->context) {
        SDL_GL_MakeCurrent(context->host_window, context->host_context);
    }
}
