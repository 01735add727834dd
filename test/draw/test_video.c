/*
 * Feeding ffmpeg: what it is given and how its failures are told. Small programs of that name stand in for it, so that every
 * way of failing can be had; that videos decode is tested with the real one (test/cli/test_render.py).
 */
#define _DEFAULT_SOURCE

#include "draw/video.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WIDTH 320
#define HEIGHT 240 /* a frame is larger than a pipe holds */

static char folder[64], path[128];
static image frame;

/* ------------------------------------------------------------------------------------------------------------------
 * Help
 */

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/limber-video-XXXXXX");
    if (mkdtemp(folder) == NULL || !image_make(&frame, WIDTH, HEIGHT)) return 1;
    for (size_t i = 0; i < 3u * WIDTH * HEIGHT; i++) frame.pixels[i] = (uint8_t)(i * 7);
    snprintf(path, sizeof path, "%s/-a 'b' \"c\" $(d):%%d.mp4", folder);
    char with[128];
    snprintf(with, sizeof with, "%s/bin:/usr/bin:/bin", folder);
    char bin[128];
    snprintf(bin, sizeof bin, "%s/bin", folder);
    return mkdir(bin, 0777) != 0 || setenv("PATH", with, 1) != 0;
}

static int tear_down(void **state)
{
    (void)state;
    char name[128];
    image_free(&frame);
    snprintf(name, sizeof name, "%s/bin/ffmpeg", folder);
    remove(name);
    snprintf(name, sizeof name, "%s/bin", folder);
    rmdir(name);
    return rmdir(folder); /* fails when anything was left behind */
}

/* An ffmpeg that does this; $last is the file that it is to write. */
static void stand_in(const char *commands)
{
    char name[128];
    snprintf(name, sizeof name, "%s/bin/ffmpeg", folder);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\nfor last; do :; done; last=${last#file:}\n%s\n", commands);
    fclose(file);
    assert_int_equal(chmod(name, 0755), 0);
}

/* Everything but the folder of the stand-in. */
static uint32_t files_left(void)
{
    uint32_t count = 0;
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        count += entry->d_name[0] != '.' && strcmp(entry->d_name, "bin") != 0 ? 1 : 0;
    }
    closedir(opened);
    return count;
}

static video *open_video(void)
{
    image_error error;
    video *v = video_open(path, WIDTH, HEIGHT, 30, &error);
    if (v == NULL) fail_msg("%s", error.text);
    return v;
}

/* Adds frames until one is refused or there are enough; true when all were taken. */
static bool add_frames(video *v, uint32_t count, image_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!video_add(v, &frame, error)) return false;
    }
    return true;
}

static void assert_error(const image_error *error, const char *part)
{
    if (strstr(error->text, part) == NULL || strchr(error->text, '\n') != NULL) fail_msg("%s", error->text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Tests
 */

static void test_frames_arrive_whole(void **state)
{
    (void)state;
    stand_in("{ printf '\\000\\012\\214\\010moov'; cat; } >\"$last\""); /* a box of 8 bytes and three frames */
    video *v = open_video();
    image_error error;
    assert_true(add_frames(v, 3, &error));
    if (!video_finish(v, &error)) fail_msg("%s", error.text);
    assert_int_equal(files_left(), 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 8, SEEK_SET), 0);
    uint8_t *read = malloc(3u * WIDTH * HEIGHT);
    assert_non_null(read);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fread(read, 3, WIDTH * HEIGHT, file), WIDTH * HEIGHT);
        assert_memory_equal(read, frame.pixels, 3u * WIDTH * HEIGHT);
    }
    assert_int_equal(fgetc(file), EOF);
    free(read);
    fclose(file);
    remove(path);
}

static void test_arguments_say_what_comes(void **state)
{
    (void)state;
    stand_in("cat >/dev/null; words=$(for word; do printf '%s ' \"$word\"; done)\n"
             "printf '\\000\\000\\000\\010moov\\000\\000\\010\\000free%-2040s' \"$words\" >\"$last\"");
    video *v = open_video();
    image_error error;
    assert_true(add_frames(v, 1, &error) && video_finish(v, &error));
    char line[2048] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 16, SEEK_SET), 0); /* the heads of two boxes */
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    remove(path);
    static const char *const wanted[] = {"-video_size 320x240 ", "-framerate 30 ",    "-pixel_format rgb24 ",
                                         "-c:v libx264 ",        "-pix_fmt yuv420p ", "-movflags +faststart "};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) assert_non_null(strstr(line, wanted[i]));
}

static void test_failures_quote_the_last_words(void **state)
{
    (void)state;
    image_error error;
    stand_in("cat >/dev/null; echo first >&2; echo 'Unknown encoder' >&2; echo >&2; exit 3");
    video *v = open_video();
    assert_true(add_frames(v, 2, &error));
    assert_false(video_finish(v, &error));
    assert_error(&error, "ffmpeg: Unknown encoder");
    assert_int_equal(files_left(), 0);

    stand_in("cat >/dev/null; exit 3");
    v = open_video();
    assert_true(add_frames(v, 2, &error));
    assert_false(video_finish(v, &error));
    assert_error(&error, "ffmpeg ended with exit code 3");

    stand_in("cat >/dev/null; kill -9 $$");
    v = open_video();
    assert_false(video_finish(v, &error));
    assert_error(&error, "ffmpeg was ended by signal 9");
    assert_int_equal(files_left(), 0);
}

/* As an ffmpeg leaves it whose disk was full: it ends with 0. */
static void test_a_cut_file_is_no_success(void **state)
{
    (void)state;
    image_error error;
    static const char *const contents[] = {"\\000\\000\\000\\020moov", /* a box without its end */
                                           "\\000\\000\\000\\010mdat", /* no list of frames */
                                           "\\000\\000\\000\\010moov\\000\\000\\000\\000\\000\\000\\000"}; /* a hole */
    for (int i = 0; i < 3; i++) {
        char commands[128];
        snprintf(commands, sizeof commands, "cat >/dev/null; printf '%s' >\"$last\"", contents[i]);
        stand_in(commands);
        video *v = open_video();
        assert_true(add_frames(v, 1, &error));
        assert_false(video_finish(v, &error));
        assert_error(&error, "ffmpeg succeeded but the file is not whole");
        assert_int_equal(files_left(), 0);
    }
}

static void test_an_empty_file_is_no_success(void **state)
{
    (void)state;
    image_error error;
    static const char *const ways[] = {"cat >/dev/null", "cat >/dev/null; rm \"$last\""};
    for (int i = 0; i < 2; i++) {
        stand_in(ways[i]);
        video *v = open_video();
        assert_true(add_frames(v, 2, &error));
        assert_false(video_finish(v, &error));
        assert_error(&error, "ffmpeg succeeded but wrote nothing");
        assert_int_equal(files_left(), 0);
    }
}

static void test_one_that_stops_reading_is_noticed(void **state)
{
    (void)state;
    image_error error = {""};
    stand_in("echo 'no room on the disk' >&2; exit 1");
    video *v = open_video();
    assert_false(add_frames(v, 100, &error)); /* and we are not ended by a broken pipe */
    assert_error(&error, "ffmpeg: no room on the disk");
    assert_false(video_add(v, &frame, &error));
    video_abandon(v);
    assert_int_equal(files_left(), 0);
}

static void test_abandoning_leaves_nothing(void **state)
{
    (void)state;
    stand_in("echo begun >\"$last\"; exec sleep 600");
    video *v = open_video();
    usleep(200000);
    video_abandon(v);
    video_abandon(NULL);
    assert_int_equal(files_left(), 0);
}

static void test_interrupting_leaves_nothing(void **state)
{
    (void)state;
    stand_in("echo begun >\"$last\"; exec sleep 600");
    pid_t child = fork();
    if (child == 0) {
        image_error error;
        signal(SIGINT, SIG_DFL); /* where these tests run, it may be ignored */
        if (video_open(path, WIDTH, HEIGHT, 30, &error) == NULL) _exit(1);
        usleep(200000);
        raise(SIGINT);
        _exit(2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    assert_int_equal(files_left(), 0);
}

static void test_what_cannot_begin(void **state)
{
    (void)state;
    image_error error;
    char name[128];
    stand_in("cat >\"$last\"");
    assert_null(video_open(path, 321, 240, 30, &error));
    assert_error(&error, "expected even numbers");
    assert_null(video_open("/no/such/folder/x.mp4", 320, 240, 30, &error));
    assert_error(&error, "/no/such/folder/x.mp4: cannot be written: No such file or directory");

    char *with = strdup(getenv("PATH"));
    snprintf(name, sizeof name, "%s/empty", folder);
    setenv("PATH", name, 1);
    assert_null(video_open(path, 320, 240, 30, &error));
    assert_error(&error, "the program ffmpeg, which makes videos, is not installed");
    setenv("PATH", with, 1);
    free(with);
    assert_int_equal(files_left(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_arrive_whole),
        cmocka_unit_test(test_arguments_say_what_comes),
        cmocka_unit_test(test_failures_quote_the_last_words),
        cmocka_unit_test(test_a_cut_file_is_no_success),
        cmocka_unit_test(test_an_empty_file_is_no_success),
        cmocka_unit_test(test_one_that_stops_reading_is_noticed),
        cmocka_unit_test(test_abandoning_leaves_nothing),
        cmocka_unit_test(test_interrupting_leaves_nothing),
        cmocka_unit_test(test_what_cannot_begin),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
