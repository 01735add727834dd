/*
 * Built-in scenes on an OpenCL device: from each of several states of a scene one step there agrees with one on the CPU to
 * 1e-5 of a body's size, contacts and all; and scenes from their beginning stay finite, and end in the same state each time.
 * With the argument "long" all scenes, more states of each, and 300 frames;
 * with names after it (or after another word, for the few states of `make test`), only those.
 * The device steps all of them.
 */
#include "limber/scene.h"
#include "test/gpu/device.h"
#include "test/gpu/ways.h"

/* Those of `make test`. */
static const char *const some[] = {"modes", "plastic-cube", "sticks", "tower", "local", "terrain", "plastic-block"};

static bool all;
static char **named; /* scenes that were asked for, up to a null; else null */

/* Returns whether the device stepped the scene; `log` gets what it said. */
static bool check_scene(const char *name, lines *log)
{
    lm_scene_error error;
    lm_scene *s = lm_scene_open(name, NULL, 0, &error);
    assert_non_null(s);
    lm_world_def def = lm_world_def_default();
    lm_world *host, *device = world_on("gpu", def.substeps, log);
    device->gpu->limits.levels =
        1000000; /* however long chains are: the rule is for speed, and this for what comes out */
    assert_ok(lm_scene_make_world(s, &def, &host, &error));
    int snapshots = all ? 12 : 4, between = all ? 10 : 9;
    double worst = 0.0;
    int stepped = 0;
    uint32_t frame = 0;
    for (int n = 0; n < snapshots && (n == 0 || stepped); n++) {
        for (int k = 0; k < between; k++) assert_ok(lm_scene_step(s, host, frame++));
        copy_world(device, host);
        lm_world *copy;
        lm_world_def same = lm_world_def_default();
        assert_ok(lm_world_create(&same, &copy));
        copy_world(copy, host);
        assert_ok(lm_world_step(device, FRAME));
        assert_ok(lm_world_step(copy, FRAME));
        stepped += device->gpu->holds;
        double off = worst_of(copy, device);
        if (off > AGREEMENT) {
            print_message("%s: %g in frame %u, where rounding decides: ", name, off, frame);
            off = nearest_way(host, device);
            print_message("%g\n", off);
        }
        worst = fmax(worst, off);
        lm_world_destroy(copy);
    }
    if (all || worst > AGREEMENT) print_message("%-16s device %2d of %d, %g\n", name, stepped, snapshots, worst);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(device);
    lm_world_destroy(host);
    lm_scene_close(s);
    return stepped > 0;
}

static void scenes_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (size_t n = 0; named && named[n]; n++) {
        lines log = {0};
        check_scene(named[n], &log);
        print_message("%s\n", log.all);
    }
    if (named) return;
    for (size_t n = 0; !all && n < sizeof some / sizeof *some; n++) {
        lines log = {0};
        assert_true(check_scene(some[n], &log));
    }
    for (uint32_t n = 0; all && lm_scene_builtin_name(n); n++) {
        lines log = {0};
        bool stepped = check_scene(lm_scene_builtin_name(n), &log);
        if (!stepped) print_message("%s\n", log.all);
        assert_true(stepped);
    }
}

/* A scene from its beginning, events and all: the hash after so many frames. */
static uint64_t run_scene(const char *name, uint32_t frames)
{
    lm_scene_error error;
    lm_scene *s = lm_scene_open(name, NULL, 0, &error);
    assert_non_null(s);
    lines log = {0};
    lm_world_def def = lm_world_def_default();
    def.device = "gpu";
    def.workers = 1;
    def.log = (lm_log){take_line, &log};
    lm_world *world;
    lm_totals totals;
    assert_ok(lm_scene_make_world(s, &def, &world, &error));
    for (uint32_t frame = 0; frame < frames; frame++) {
        lm_result result = lm_scene_step(s, world, frame);
        if (result != LM_OK) print_message("%s, frame %u:\n%s", name, frame, log.all);
        assert_ok(result);
        if (frame % 30 == 29) {
            lm_world_get_totals(world, &totals);
            if (!totals.finite) print_message("%s: not finite in frame %u\n", name, frame);
            assert_true(totals.finite);
        }
    }
    assert_false(world->gpu->lost);
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    lm_scene_close(s);
    return hash;
}

/* Whole scenes: finite, and twice the same to the last bit. */
static void scenes_last(void **state)
{
    (void)state;
    if (!has_device()) skip();
    static const char *const few[] = {"plastic-cube", "mode-gallery"};
    uint32_t frames = all ? 300 : 30;
    for (uint32_t n = 0;; n++) {
        const char *name = named ? named[n] : all ? lm_scene_builtin_name(n) : n < 2 ? few[n] : NULL;
        if (!name) break;
        uint64_t hash = run_scene(name, frames);
        if (all) print_message("%-16s %016llx\n", name, (unsigned long long)hash);
        assert_int_equal(hash, run_scene(name, frames));
    }
}

int main(int argc, char **argv)
{
    all = argc > 1 && strcmp(argv[1], "long") == 0;
    named = argc > 2 ? argv + 2 : NULL;
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenes_agree), cmocka_unit_test(scenes_last)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
