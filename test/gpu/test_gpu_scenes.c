/*
 * Built-in scenes on an OpenCL device: from each of several states of a scene one step there agrees with one on the CPU to
 * 1e-5 of a body's size, contacts and all. With the argument "long" all scenes that a device steps, and more states of each;
 * with names after it (or after another word, for the few states of `make test`), only those.
 * Scenes that it does not step yet say why.
 */
#include "gpu/gpu.h"
#include "scene/scene.h"
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGREEMENT 1e-5

/* Those of `make test`; and those that a device leaves to the CPU, with the reason. */
static const char *const some[] = {"modes",        "plastic-cube", "squeeze-duck",   "widths",
                                   "sticks",       "betas",        "tower",          "plastic-block",
                                   "mode-gallery", "terrain",      "head-and-balls", "few-regions"};
static const char *const others[][2] = {{"local", "examples of lattices"},
                                        {"slope", "examples of lattices"},
                                        {"teddy", "examples of lattices"},
                                        {"cars", "examples of lattices"},
                                        {"infant", "regional damping"}};

static bool all;
static char **named; /* scenes that were asked for, up to a null; else null */

static void take_line(lm_result result, const char *line, void *user)
{
    (void)result;
    strncat(user, line, 1000);
}

static lm_world *device_world(char *log)
{
    lm_world_def def = lm_world_def_default();
    def.device = "gpu";
    def.workers = 1;
    def.log = (lm_log){take_line, log};
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    return world;
}

static void copy_world(lm_world *to, lm_world *from)
{
    size_t size = lm_world_save_size(from);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(from, bytes, size));
    assert_ok(lm_world_load(to, bytes, size));
    free(bytes);
}

/* The largest distance between particles that should be in the same place, as a share of their body's size. */
static double difference(lm_world *a, lm_world *b, lm_body_id id)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(a, id, &info));
    lm_vec3 *x = malloc(info.particles * sizeof *x), *y = malloc(info.particles * sizeof *y);
    assert_ok(lm_body_get_positions(a, id, info.centre, x));
    assert_ok(lm_body_get_positions(b, id, info.centre, y));
    double worst = 0.0, dx = info.upper.x - info.lower.x, dy = info.upper.y - info.lower.y;
    double dz = info.upper.z - info.lower.z, size = sqrt(dx * dx + dy * dy + dz * dz);
    for (uint32_t n = 0; n < info.particles; n++) {
        dx = x[n].x - y[n].x, dy = x[n].y - y[n].y, dz = x[n].z - y[n].z;
        worst = fmax(worst, sqrt(dx * dx + dy * dy + dz * dz));
    }
    free(x);
    free(y);
    return worst / size;
}

static double worst_of(lm_world *a, lm_world *b)
{
    lm_body_id ids[512];
    uint32_t count = lm_world_get_bodies(a, ids, 512);
    double worst = 0.0;
    for (uint32_t i = 0; i < count && i < 512; i++) worst = fmax(worst, difference(a, b, ids[i]));
    return worst;
}

/* Moves every particle by about a rounding. */
static void jitter(lm_world *world, uint64_t seed)
{
    random_state random = {seed};
    lm_body_id ids[512];
    uint32_t count = lm_world_get_bodies(world, ids, 512);
    for (uint32_t i = 0; i < count && i < 512; i++) {
        lm_body_info info;
        assert_ok(lm_body_get_info(world, ids[i], &info));
        lm_vec3 *x = malloc(2 * info.particles * sizeof *x), *v = x + info.particles;
        double size = info.upper.x - info.lower.x;
        assert_ok(lm_body_get_positions(world, ids[i], info.centre, x));
        assert_ok(lm_body_get_velocities(world, ids[i], v));
        for (uint32_t n = 0; n < info.particles; n++) {
            ref_vec d = random_in_cube(&random, 1e-7 * size);
            x[n].x += (float)d.x, x[n].y += (float)d.y, x[n].z += (float)d.z;
        }
        assert_ok(lm_body_set_state(world, ids[i], info.centre, x, v));
        free(x);
    }
}

/* Contacts have decisions in them (this edge or that face; touching or not), and now and then rounding makes one: then the CPU
 * itself goes one way or the other from states that are a rounding apart. The device must have gone one of these ways: how
 * far it is from the nearest. */
static double nearest_way(lm_world *before, lm_world *device)
{
    double nearest = 1.0;
    for (uint64_t seed = 1; seed <= 20 && nearest > AGREEMENT; seed++) {
        lm_world *other;
        lm_world_def def = lm_world_def_default();
        assert_ok(lm_world_create(&def, &other));
        copy_world(other, before);
        jitter(other, seed);
        assert_ok(lm_world_step(other, FRAME));
        nearest = fmin(nearest, worst_of(other, device));
        lm_world_destroy(other);
    }
    return nearest;
}

/* Returns whether the device stepped the scene; `log` gets what it said. */
static bool check_scene(const char *name, char *log)
{
    scene_error error;
    scene *s = scene_open(name, NULL, 0, &error);
    assert_non_null(s);
    lm_world_def def = lm_world_def_default();
    lm_world *host, *device = device_world(log);
    assert_ok(scene_make_world(s, &def, &host, &error));
    int snapshots = all ? 12 : 4, between = all ? 10 : 9;
    double worst = 0.0;
    int stepped = 0;
    uint32_t frame = 0;
    for (int n = 0; n < snapshots && (n == 0 || stepped); n++) {
        for (int k = 0; k < between; k++) assert_ok(scene_step(s, host, frame++));
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
    scene_close(s);
    return stepped > 0;
}

static bool has_device(void)
{
    lm_device_info devices[16];
    uint32_t count = lm_device_list(devices, 16);
    for (uint32_t n = 0; n < count && n < 16; n++)
        if (devices[n].usable) return true;
    print_message("no OpenCL device here: install pocl-opencl-icd (tools/setup test does)\n");
    return false;
}

static void scenes_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (size_t n = 0; named && named[n]; n++) {
        char log[4096] = "";
        check_scene(named[n], log);
        print_message("%s\n", log);
    }
    if (named) return;
    for (size_t n = 0; !all && n < sizeof some / sizeof *some; n++) {
        char log[4096] = "";
        assert_true(check_scene(some[n], log));
    }
    for (uint32_t n = 0; all && scene_builtin_name(n); n++) {
        char log[4096] = "";
        bool other = false;
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            other = other || strcmp(others[k][0], scene_builtin_name(n)) == 0;
        if (!check_scene(scene_builtin_name(n), log) && !other) print_message("%s\n", log);
    }
}

static void others_say_why(void **state)
{
    (void)state;
    if (!has_device() || named) skip();
    for (size_t n = 0; n < sizeof others / sizeof *others; n++) {
        char log[4096] = "";
        if (n > 0 && !all) continue;
        assert_false(check_scene(others[n][0], log));
        assert_non_null(strstr(log, others[n][1]));
    }
}

int main(int argc, char **argv)
{
    all = argc > 1 && strcmp(argv[1], "long") == 0;
    named = argc > 2 ? argv + 2 : NULL;
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenes_agree), cmocka_unit_test(others_say_why)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
