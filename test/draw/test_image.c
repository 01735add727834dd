/* Pictures in memory and as files: rectangles, text, sheets, PNG, and that a file is whole or not there. */
#define _POSIX_C_SOURCE 200809L

#include "draw/font.h"
#include "draw/image.h"
#include "draw/label.h"
#include "draw/sheet.h"
#include "support/partial.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(_WIN32) || defined(__wasi__)
#define HAS_PROCESSES 0
#else
#define HAS_PROCESSES 1
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#endif

#include <cmocka.h>

#if LIMBER_HAS_STB
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include <stb/stb_image.h>
#endif

static const image_colour white = {255, 255, 255};

/* ------------------------------------------------------------------------------------------------------------------
 * Help
 */

static image make(uint32_t width, uint32_t height)
{
    image picture;
    assert_true(image_make(&picture, width, height));
    return picture;
}

static const uint8_t *at(const image *picture, uint32_t x, uint32_t y)
{
    return picture->pixels + 3u * ((size_t)y * picture->width + x);
}

/* The sum of all bytes within a rectangle: how much was drawn there. */
static uint64_t light(const image *picture, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    uint64_t sum = 0;
    for (uint32_t j = y; j < y + height; j++) {
        for (uint32_t i = x; i < x + width; i++) {
            const uint8_t *pixel = at(picture, i, j);
            sum += (uint64_t)pixel[0] + pixel[1] + pixel[2];
        }
    }
    return sum;
}

/* Whether words stand with their upper left corner there: each dot in the ink's colour, everything between in another. */
static bool says(const image *picture, int x, int y, image_colour ink, const char *words)
{
    image expected = make(image_text_width(1, words), image_text_height(1));
    image_text(&expected, 0, 0, 1, white, words);
    bool same = x >= 0 && y >= 0 && x + expected.width <= picture->width && y + expected.height <= picture->height;
    for (uint32_t j = 0; j < expected.height && same; j++) {
        for (uint32_t i = 0; i < expected.width && same; i++) {
            const uint8_t *pixel = at(picture, (uint32_t)x + i, (uint32_t)y + j);
            bool inked = pixel[0] == ink.r && pixel[1] == ink.g && pixel[2] == ink.b;
            same = inked == (at(&expected, i, j)[0] == 255);
        }
    }
    image_free(&expected);
    return same;
}

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/limber-image-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails when anything was left behind */
}

static uint32_t files_in_folder(void)
{
    uint32_t count = 0;
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        count += entry->d_name[0] != '.' ? 1 : 0;
    }
    closedir(opened);
    return count;
}

static void path_in_folder(char path[128], const char *name) { snprintf(path, 128, "%s/%s", folder, name); }

/* ------------------------------------------------------------------------------------------------------------------
 * In memory
 */

static void test_rectangles_are_clipped_and_mixed(void **state)
{
    (void)state;
    image picture = make(10, 8);
    image_fill(&picture, -5, 6, 7, 100, white, 1.0f);
    assert_int_equal(light(&picture, 0, 0, 10, 8), 2 * 2 * 765);
    assert_int_equal(at(&picture, 1, 7)[0], 255);
    assert_int_equal(at(&picture, 2, 7)[0], 0);
    image_fill(&picture, 5, 0, 1, 1, (image_colour){200, 100, 40}, 0.5f);
    assert_int_equal(at(&picture, 5, 0)[0], 100);
    assert_int_equal(at(&picture, 5, 0)[1], 50);
    assert_int_equal(at(&picture, 5, 0)[2], 20);
    image_fill(&picture, 2000000000, -2000000000, 2000000000, 2000000000, white, 1.0f);
    image_fill(&picture, 3, 3, -2, 5, white, 1.0f);
    assert_int_equal(light(&picture, 3, 1, 7, 7), 0);
    image_free(&picture);
}

static void test_pictures_are_placed_and_clipped(void **state)
{
    (void)state;
    image picture = make(6, 5), part = make(3, 3);
    for (uint32_t i = 0; i < 27; i++) part.pixels[i] = (uint8_t)(i + 1);
    image_place(&picture, &part, 4, -1);
    assert_memory_equal(at(&picture, 4, 0), part.pixels + 9, 6);
    assert_memory_equal(at(&picture, 4, 1), part.pixels + 18, 6);
    assert_int_equal(light(&picture, 0, 0, 4, 5), 0);
    assert_int_equal(light(&picture, 4, 2, 2, 3), 0);
    image_place(&picture, &part, -2, 3);
    assert_memory_equal(at(&picture, 0, 3), part.pixels + 6, 3);
    image_place(&picture, &part, 6, 0);
    image_place(&picture, &part, -3, -3);
    image_free(&part);
    image_free(&picture);
}

static void test_every_letter_differs(void **state)
{
    (void)state;
    for (int a = 33; a < 127; a++) {
        uint32_t dots = 0;
        for (int y = 0; y < FONT_HEIGHT; y++) {
            for (int x = 0; x < FONT_WIDTH; x++) dots += font_dot((char)a, x, y) ? 1 : 0;
        }
        assert_true(dots >= 1 && dots < 30);
        for (int b = a + 1; b <= 128; b++) { /* 127 and 128 are boxes */
            bool same = true;
            for (int y = 0; y < FONT_HEIGHT && same; y++) {
                for (int x = 0; x < FONT_WIDTH && same; x++) same = font_dot((char)a, x, y) == font_dot((char)b, x, y);
            }
            if (same && !(a == '0' && b == 'O')) fail_msg("%c looks like %c", a, b);
        }
    }
    assert_false(font_dot('A', -1, 0));
    assert_false(font_dot('A', 0, FONT_HEIGHT));
    assert_true(font_dot('\n', 0, 0) && font_dot((char)200, 4, 6));
}

static void test_text_is_as_large_as_it_says(void **state)
{
    (void)state;
    for (uint32_t scale = 1; scale <= 4; scale++) {
        uint32_t width = image_text_width(scale, "HgH"), height = image_text_height(scale);
        image picture = make(width + 20, height + 20);
        image_text(&picture, 10, 10, scale, white, "HgH");
        uint64_t all = light(&picture, 0, 0, width + 20, height + 20);
        assert_true(all > 0 && all == light(&picture, 10, 10, width, height));
        assert_true(light(&picture, 10, 10, 1, height) > 0);             /* the left edge of H */
        assert_true(light(&picture, 10 + width - 1, 10, 1, height) > 0); /* and its right one */
        assert_true(light(&picture, 10, 10 + height - 1, width, 1) > 0); /* the foot of g */
        image_text(&picture, -3, -3, scale, white, "half outside");
        image_free(&picture);
    }
    assert_int_equal(image_text_width(3, ""), 0);
}

static void test_sheets_have_their_grid(void **state)
{
    (void)state;
    assert_int_equal(sheet_tile_size(4, sheet_size(4, 77)), 77);
    assert_int_equal(sheet_tile_size(4, 10), 0);
    sheet s;
    assert_true(sheet_make(&s, 4, 3, 433, 203));
    assert_int_equal(s.picture.width, 433);
    assert_int_equal(s.picture.height, 203);
    assert_true(s.tile_width == (433 - 5 * SHEET_GAP) / 4 && s.tile_height == (203 - 4 * SHEET_GAP) / 3);
    image tile = make(s.tile_width, s.tile_height);
    image_fill(&tile, 0, 0, (int)s.tile_width, (int)s.tile_height, (image_colour){10, 20, 200}, 1.0f);
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t x = s.left + i % 4 * (s.tile_width + SHEET_GAP), y = s.top + i / 4 * (s.tile_height + SHEET_GAP);
        assert_true(at(&s.picture, x, y)[0] > 200);
        sheet_place(&s, i, &tile, "1.5 s");
        assert_int_equal(at(&s.picture, x, y)[2], 200);
        assert_int_equal(at(&s.picture, x + s.tile_width - 1, y + s.tile_height - 1)[2], 200);
        assert_true(at(&s.picture, x - 1, y)[0] > 200 && at(&s.picture, x, y - 1)[0] > 200);
        int base = (int)(y + s.tile_height) - 3 - 2 - (int)image_text_height(1); /* 3 to the edge */
        assert_true(says(&s.picture, (int)x + 3 + 2, base + 2, white, "1.5 s"));
    }
    assert_true(s.left + 4 * s.tile_width + 3 * SHEET_GAP <= 433 && s.top + 3 * s.tile_height + 2 * SHEET_GAP <= 203);
    image_free(&tile);
    sheet_free(&s);
}

static const image_colour label_ink = {40, 44, 54};

static void test_labels_stand_below_what_they_name(void **state)
{
    (void)state;
    image picture = make(200, 100);
    image_fill(&picture, 0, 0, 200, 100, (image_colour){90, 120, 90}, 1.0f);
    placed_label labels[] = {{.words = "left", .x = 40, .y = 20},
                             {.words = "right", .x = 150, .y = 60},
                             {.words = "corner", .x = 500, .y = 400}};
    assert_int_equal(label_place(labels, 3, 200, 100), 1);
    label_draw(&picture, labels, 3, 1);
    for (int i = 0; i < 2; i++) {
        placed_label l = labels[i];
        assert_true(2 * l.left + l.width - 2 * l.x <= 1 && 2 * l.left + l.width - 2 * l.x >= -1);
        assert_int_equal(l.top, l.y + 2);
    }
    assert_true(labels[2].left + labels[2].width == 200 && labels[2].top + labels[2].height == 100);
    for (int i = 0; i < 3; i++) {
        assert_true(says(&picture, labels[i].left + 2, labels[i].top + 2, label_ink, labels[i].words));
    }
    assert_false(says(&picture, labels[0].left + 2, labels[0].top + 2, label_ink, "lift"));
    image_free(&picture);
}

static void assert_apart_and_within(const placed_label *labels, uint32_t count, int width, int height)
{
    for (uint32_t i = 0; i < count; i++) {
        const placed_label *a = &labels[i];
        if (a->width == 0) continue; /* left out */
        assert_true(a->left >= 0 && a->top >= 0 && a->left + a->width <= width && a->top + a->height <= height);
        for (uint32_t k = 0; k < i; k++) {
            const placed_label *b = &labels[k];
            assert_true(b->width == 0 || a->left >= b->left + b->width || b->left >= a->left + a->width ||
                        a->top >= b->top + b->height || b->top >= a->top + a->height);
        }
    }
}

static void test_labels_make_room_for_each_other(void **state)
{
    (void)state;
    placed_label row[] = {{.words = "rigid", .x = 20, .y = 30},
                          {.words = "linear", .x = 60, .y = 30},
                          {.words = "quadratic", .x = 100, .y = 30}};
    assert_int_equal(label_place(row, 3, 120, 90), 1);
    assert_apart_and_within(row, 3, 120, 90);
    assert_true(row[0].width > 0 && row[1].width > 0 && row[2].width > 0);
    assert_true(row[0].top == 32 && row[2].top > 32); /* below, not beside what it names */

    /* And keep out of what is taken. */
    placed_label corner[] = {label_corner_place(120, 90, "1.50 s"), {.words = "rigid", .x = 20, .y = 74}};
    assert_true(corner[0].left == 3 && corner[0].top + corner[0].height == 87 && corner[0].width == 39);
    label_place(corner, 2, 120, 90);
    assert_apart_and_within(corner, 2, 120, 90);
    assert_true(corner[1].width > 0 && corner[1].top < corner[0].top);

    /* Smaller letters where large ones would need many lines, but not for so little as one. */
    placed_label same[6];
    for (int i = 0; i < 6; i++) same[i] = (placed_label){.words = "the same place", .x = 300, .y = 300};
    assert_int_equal(label_place(same, 1, 1280, 720), 3);
    assert_int_equal(label_place(same, 2, 1280, 720), 3);
    assert_apart_and_within(same, 2, 1280, 720);
    assert_int_equal(label_place(same, 6, 1280, 720), 1);
    assert_apart_and_within(same, 6, 1280, 720);
    for (int i = 0; i < 6; i++) assert_true(same[i].width > 0);

    /* At the bottom there is room above only; in a picture that is full, some are left out. */
    for (int i = 0; i < 6; i++) same[i].y = 700;
    label_place(same, 6, 1280, 720);
    assert_apart_and_within(same, 6, 1280, 720);
    for (int i = 0; i < 6; i++) assert_true(same[i].width > 0);
    label_place(same, 6, 100, 40);
    assert_apart_and_within(same, 6, 100, 40);
    assert_true(same[0].width > 0 && same[5].width == 0);
}

static void test_labels_wider_than_the_picture(void **state)
{
    (void)state;
    image picture = make(60, 100);
    placed_label one = {.words = "very much longer than the picture is wide", .x = 30, .y = 50};
    uint32_t scale = label_place(&one, 1, 60, 100);
    label_draw(&picture, &one, 1, scale);
    assert_true(scale == 1 && one.left == 0);
    assert_true(light(&picture, 0, 50, 60, 20) > 0);
    assert_int_equal(label_place(&one, 1, 300, 1000), 1); /* where letters could be large, but not so wide */
    image_free(&picture);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

#if LIMBER_HAS_STB
static void test_png_reads_back(void **state)
{
    (void)state;
    char path[128];
    path_in_folder(path, "a b'\"$x.png");
    image picture = make(37, 21);
    for (size_t i = 0; i < 3u * 37 * 21; i++) picture.pixels[i] = (uint8_t)(i * i % 251);
    image_error error;
    for (int round = 0; round < 2; round++) { /* also over one that is there */
        if (!image_write_png(path, &picture, &error)) fail_msg("%s", error.text);
        assert_int_equal(files_in_folder(), 1);
        int width, height, channels;
        uint8_t *read = stbi_load(path, &width, &height, &channels, 0);
        assert_non_null(read);
        assert_true(width == 37 && height == 21 && channels == 3);
        assert_memory_equal(read, picture.pixels, 3u * 37 * 21);
        stbi_image_free(read);
    }
    image_free(&picture);
    remove(path);
}
#endif

static void test_what_cannot_be_written_is_told(void **state)
{
    (void)state;
    char path[128];
    image_error error;
    path_in_folder(path, "no/such.png");
    assert_false(lmi_partial_check(path, error.text));
    assert_non_null(strstr(error.text, "no/such.png: cannot be written: No such file or directory"));
    assert_false(lmi_partial_check(folder, error.text));
    assert_non_null(strstr(error.text, "Is a directory"));
#ifdef _WIN32
    const char *device = "NUL";
#else
    const char *device = "/dev/null";
#endif
    assert_false(lmi_partial_check(device, error.text)); /* renaming would replace the device */
    assert_non_null(strstr(error.text, "it is no regular file"));
    assert_false(lmi_partial_check("", error.text));
    path_in_folder(path, "good.png");
    assert_true(lmi_partial_check(path, error.text));
    assert_int_equal(files_in_folder(), 0);
}

static void test_a_dropped_file_leaves_the_old_one(void **state)
{
    (void)state;
    char path[128], text[8] = "";
    path_in_folder(path, "kept");
    partial_file file;
    image_error error;
    assert_true(lmi_partial_open(&file, path, error.text));
    fputs("old", file.stream);
    assert_true(lmi_partial_keep(&file, error.text));
    assert_true(lmi_partial_open(&file, path, error.text));
    fputs("new", file.stream);
    assert_int_equal(files_in_folder(), 2);
    lmi_partial_drop(&file);
    assert_int_equal(files_in_folder(), 1);
    FILE *read = fopen(path, "r");
    assert_non_null(read);
    assert_non_null(fgets(text, sizeof text, read));
    assert_string_equal(text, "old");
    fclose(read);
    remove(path);
}

#if HAS_PROCESSES

/* In a process of its own, which the signal ends as it would any other. */
static void test_interruptions_leave_nothing(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    char path[128], other[128], done[128];
    path_in_folder(path, "interrupted");
    path_in_folder(other, "other");
    path_in_folder(done, "done");
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        if (child == 0) {
            partial_file file;
            image_error error;
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            signal(signals[i], SIG_DFL); /* where these tests run, it may be ignored */
            if (!lmi_partial_open(&file, path, error.text) || access(file.temporary, F_OK) != 0) _exit(1);
            partial_file second, third; /* of several that are open, all go */
            if (!lmi_partial_open(&second, other, error.text) || !lmi_partial_open(&third, done, error.text)) _exit(1);
            lmi_partial_drop(&third);
            if (files_in_folder() != 2) _exit(3);
            raise(signals[i]);
            _exit(2);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        assert_int_equal(files_in_folder(), 0);
    }
}

#endif /* HAS_PROCESSES */

/* A few at once, and each is a file of its own; one too many is refused, and costs none of the others anything. */
static void test_several_at_once(void **state)
{
    (void)state;
    partial_file files[64];
    image_error error;
    char path[128], name[32];
    int count = 0;
    for (bool good = true; good && count < 64; count += good) {
        snprintf(name, sizeof name, "several%d", count);
        path_in_folder(path, name);
        good = lmi_partial_open(&files[count], path, error.text);
    }
    assert_true(count >= 2 && count < 64);
    assert_non_null(strstr(error.text, "too many"));
    assert_int_equal(files_in_folder(), count);
    for (int i = 0; i < count; i += 2) {
        lmi_partial_drop(&files[i]);
    }
    for (int i = 1; i < count; i += 2) {
        assert_true(lmi_partial_keep(&files[i], error.text));
        snprintf(name, sizeof name, "several%d", i);
        path_in_folder(path, name);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(files_in_folder(), 0);
}

#if HAS_PROCESSES

/* And the program's own answer is as before when the file is done with. */
static void test_ignored_signals_stay_ignored(void **state)
{
    (void)state;
    char path[128];
    path_in_folder(path, "ignored");
    pid_t child = fork();
    if (child == 0) {
        partial_file file;
        image_error error;
        signal(SIGHUP, SIG_IGN);
        signal(SIGINT, SIG_DFL);
        if (!lmi_partial_open(&file, path, error.text)) _exit(1);
        partial_file second;
        if (!lmi_partial_open(&second, path, error.text)) _exit(1);
        lmi_partial_drop(&second);
        if (signal(SIGXFSZ, SIG_IGN) != SIG_IGN) _exit(3); /* the first is still guarded */
        raise(SIGHUP);
        lmi_partial_drop(&file);
        bool restored = signal(SIGINT, SIG_DFL) == SIG_DFL && signal(SIGXFSZ, SIG_DFL) == SIG_DFL;
        _exit(restored ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(files_in_folder(), 0);
}

#if LIMBER_HAS_STB
static void test_a_file_larger_than_allowed_is_told(void **state)
{
    (void)state;
    char path[128];
    path_in_folder(path, "large.png");
    pid_t child = fork();
    if (child == 0) {
        image picture;
        image_error error;
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
        signal(SIGXFSZ, SIG_DFL);
        if (!image_make(&picture, 100, 100)) _exit(1);
        for (uint32_t i = 0, noise = 1; i < 30000; i++) {
            noise = noise * 1664525u + 1013904223u;
            picture.pixels[i] = (uint8_t)(noise >> 24); /* does not compress */
        }
        bool written = image_write_png(path, &picture, &error);
        image_free(&picture);
        _exit(written || strstr(error.text, "large.png: cannot be written: File too large") == NULL ? 2 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(files_in_folder(), 0);
}
#endif

#endif /* HAS_PROCESSES */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rectangles_are_clipped_and_mixed),
        cmocka_unit_test(test_pictures_are_placed_and_clipped),
        cmocka_unit_test(test_every_letter_differs),
        cmocka_unit_test(test_text_is_as_large_as_it_says),
        cmocka_unit_test(test_sheets_have_their_grid),
        cmocka_unit_test(test_labels_stand_below_what_they_name),
        cmocka_unit_test(test_labels_make_room_for_each_other),
        cmocka_unit_test(test_labels_wider_than_the_picture),
#if LIMBER_HAS_STB
        cmocka_unit_test(test_png_reads_back),
#endif
        cmocka_unit_test(test_what_cannot_be_written_is_told),
        cmocka_unit_test(test_a_dropped_file_leaves_the_old_one),
        cmocka_unit_test(test_several_at_once),
#if HAS_PROCESSES
        cmocka_unit_test(test_interruptions_leave_nothing),
        cmocka_unit_test(test_ignored_signals_stay_ignored),
#endif
#if HAS_PROCESSES && LIMBER_HAS_STB
        cmocka_unit_test(test_a_file_larger_than_allowed_is_told),
#endif
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
