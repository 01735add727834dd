/*
 * Where there is no OpenGL 3.3, one line says so. The environment of the test takes it away (test/CMakeLists.txt).
 */
#include "draw/draw.h"
#include "test/support/support.h"

#include <SDL.h>

#include <string.h>

static void opening_fails_with_one_line(void **context)
{
    (void)context;
    for (int n = 0; n < 2; n++) { /* and leaves nothing behind that would change it */
        draw_error error = {""};
        assert_null(draw_open(64, 64, &error));
        assert_true(strlen(error.text) > 10);
        assert_null(strchr(error.text, '\n'));
        assert_non_null(strstr(error.text, "OpenGL"));
        print_message("%s\n", error.text);
    }
}

/* A host lends a context with less than OpenGL 3.3, where the driver gives it that. */
static void old_contexts_are_refused(void **context)
{
    (void)context;
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "offscreen");
    SDL_Window *window = NULL;
    SDL_GLContext host = NULL;
    if (SDL_Init(SDL_INIT_VIDEO) == 0) {
        window = SDL_CreateWindow("host", 0, 0, 16, 16, SDL_WINDOW_OPENGL | SDL_WINDOW_HIDDEN);
        host = window ? SDL_GL_CreateContext(window) : NULL;
    }
    if (host) {
        draw_error error = {""};
        assert_null(draw_open_current(64, 64, &error));
        assert_string_equal(error.text, "this context has OpenGL 2.1; drawing needs 3.3");
        SDL_GL_DeleteContext(host);
    }
    SDL_DestroyWindow(window);
    SDL_Quit();
    if (!host) skip(); /* there is no driver at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_fails_with_one_line),
        cmocka_unit_test(old_contexts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
