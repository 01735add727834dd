/*
 * A scene is taken hold of and mangled, then a quarter of all scenes open in turn in the same window, with the argument "long" all, and
 * nothing of them is left behind: under the leak sanitizer, memory that is not given back makes this test fail.
 */
#define _POSIX_C_SOURCE 200809L

#include "limber/scene.h"
#include "test/support/support.h"
#include "viewer/viewer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_long;

static void write_script(const char *path, uint32_t *scenes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "frames 2\npoint 0\npress left\nmove-by 20 -20 2\nrelease left\nclick Body\nclick Squash flat\n"
                  "click Add another\nkey B\nframes 1\nkey Left\nkey Left\nkey Right\nclick Inside out\nkey R\n");
    for (*scenes = 0; lm_scene_builtin_name(*scenes) != NULL; (*scenes)++) {
        if (is_long || *scenes % 4 == 0) fprintf(file, "key ]\nkey O\n");
    }
    fclose(file);
}

static void scenes_open_and_close(void **context)
{
    (void)context;
    char folder[] = "/tmp/limber-viewer-XXXXXX", script[64], layout[64], error[VIEWER_ERROR_SIZE] = "";
    uint32_t scenes;
    assert_non_null(mkdtemp(folder));
    snprintf(script, sizeof script, "%s/script.txt", folder);
    snprintf(layout, sizeof layout, "%s/layout.txt", folder);
    write_script(script, &scenes);
    assert_true(scenes > 5);
    viewer_options options = {.scene = "modes", .threads = 2, .width = 640, .height = 480};
    options.script = script;
    options.settings = layout;
    bool good = viewer_run(&options, error);
    remove(script);
    remove(layout);
    remove(folder);
    assert_string_equal(error, "");
    assert_true(good);
}

/* A scene that cannot be opened leaves nothing behind either. */
static void a_failure_closes_everything(void **context)
{
    (void)context;
    char error[VIEWER_ERROR_SIZE] = "";
    viewer_options options = {
        .scene = "no such scene", .width = 640, .height = 480, .settings = "/tmp/limber-no-layout.txt"};
    assert_false(viewer_run(&options, error));
    assert_non_null(strstr(error, "no such scene"));
    options.scene = lm_scene_builtin_name(0);
    options.script = "/nonexistent/script.txt";
    assert_false(viewer_run(&options, error));
    assert_non_null(strstr(error, "cannot be opened"));
}

int main(int argc, char **argv)
{
    is_long = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_open_and_close),
        cmocka_unit_test(a_failure_closes_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
