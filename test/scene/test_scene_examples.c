/*
 * Examples in scenes: poses from deformations and from other meshes, groups of regions, forced mixes, what is measured of
 * them, and what is wrong.
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "scene/internal.h"
#include "scene/measure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BAR                                                                                                            \
    "\"shape\": {\"name\": \"box\", \"size\": [1.2, 0.3, 0.3], \"detail\": 4}, \"lattice\": {\"spacing\": 0.1}, "
#define FIRM "\"material\": {\"mode\": \"rigid\", \"hertz\": 8, \"damping_ratio\": 0.7}, "
#define BODY(contents) "{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{" contents "}]}"

static char folder[] = "/tmp/limber_examples_XXXXXX";
static char scene_path[64];
static const char *const names[] = {"rest.obj", "pose.obj", "less.obj"};

static void write_file(const char *name, const char *text)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#define FACES                                                                                                          \
    "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n"

/* A box of 40 x 10 x 10, and the same sheared, in centimetres. */
static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(scene_path, sizeof scene_path, "%s/s.json", folder);
    write_file("rest.obj",
               "v -20 -5 -5\nv 20 -5 -5\nv -20 5 -5\nv 20 5 -5\nv -20 -5 5\nv 20 -5 5\nv -20 5 5\nv 20 5 5\n" FACES);
    write_file(
        "pose.obj",
        "v 80 -15 -5\nv 120 5 -5\nv 80 -5 -5\nv 120 15 -5\nv 80 -15 5\nv 120 5 5\nv 80 -5 5\nv 120 15 5\n" FACES);
    write_file("less.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        char path[96];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    return rmdir(folder);
}

static lm_result try(const char *text, lm_scene **s, lm_world **world, lm_scene_error *error)
{
    *world = NULL;
    *s = lm_scene_open_text(scene_path, text, strlen(text), NULL, 0, error);
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    return *s == NULL ? LM_ERROR_ARGUMENT : lm_scene_make_world(*s, &def, world, error);
}

static lm_world *make(const char *text, lm_scene **s)
{
    lm_world *world;
    lm_scene_error error;
    if (try(text, s, &world, &error) != LM_OK) fail_msg("%s", error.text);
    return world;
}

static void finish(lm_scene *s, lm_world *world)
{
    lm_world_destroy(world);
    lm_scene_close(s);
}

static void step(lm_scene *s, lm_world *world, uint32_t frames)
{
    for (uint32_t frame = 0; frame < frames; frame++) assert_int_equal(lm_scene_step(s, world, frame), LM_OK);
}

static lm_body_info info_of(lm_scene *s, lm_world *world)
{
    lm_body_info info;
    assert_int_equal(lm_body_get_info(world, lm_scene_get_body(s, 0).id, &info), LM_OK);
    return info;
}

static double measured(lm_scene *s, lm_world *world, const char *name)
{
    scene_expect expect = {.head = s->file->head};
    double value = NAN;
    while (strcmp(lmi_measure_name(expect.measure), name) != 0) expect.measure++;
    assert_int_equal(lmi_measure_take(s, world, &expect, 0, &value), LM_OK);
    return value;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.9g is not %.9g within %g", value, expected, tolerance);
}

/* ------------------------------------------------------------------------------------------------------------------
 */

static void test_scopes(void **state)
{
    (void)state;
    static const struct {
        const char *more;
        uint32_t examples, groups;
    } cases[] = {
        {"", 2, 1},
        {", \"each_region\": true", 2, 0},
        {", \"groups\": [{\"min\": [-1, -1, -1], \"max\": [0, 1, 1]}, {\"min\": [0, -1, -1], \"max\": [1, 1, 1]}]", 2,
         2}};
    for (int c = 0; c < 3; c++)
        for (int clusters = 0; clusters < 2; clusters++) {
            char text[1024];
            lm_scene *s;
            snprintf(text, sizeof text,
                     BODY("%s \"examples\": {\"poses\": [{\"deform\": [{\"twist\": 40, \"axis\": \"x\"}]}, "
                          "{\"deform\": [{\"bend\": 40, \"axis\": \"x\"}, {\"squash\": 0.2, \"axis\": \"x\"}]}]%s}"),
                     clusters ? "\"shape\": {\"name\": \"box\", \"size\": [1.2, 0.3, 0.3]}, \"particles\": 100, "
                                "\"clusters\": {\"counts\": [4, 1, 1], \"overlap\": 0.5},"
                              : BAR,
                     cases[c].more);
            lm_world *world = make(text, &s);
            lm_body_info info = info_of(s, world);
            assert_int_equal(info.examples, cases[c].examples);
            assert_int_equal(info.example_groups, cases[c].groups ? cases[c].groups : info.regions);
            step(s, world, 5);
            finish(s, world);
        }
}

/* A body that is forced into its only pose gets there: a shear, which regions follow exactly. */
static void test_forced_pose(void **state)
{
    (void)state;
    lm_scene *s;
    lm_world *world = make(BODY(BAR FIRM "\"examples\": {\"poses\": [{\"deform\": [{\"shear\": [0.4, 0, 0]}]}], "
                                         "\"weights\": [1]}"),
                           &s);
    assert_near(measured(s, world, "weight"), 1.0, 0.0); /* forced, before any step */
    step(s, world, 600);
    assert_near(measured(s, world, "weight"), 1.0, 0.0);
    lm_body_info info = info_of(s, world);
    lm_vec3 rest[400], at[400];
    assert_true(info.particles <= 400);
    assert_int_equal(lm_body_get_rest_positions(world, lm_scene_get_body(s, 0).id, rest), LM_OK);
    assert_int_equal(lm_body_get_positions(world, lm_scene_get_body(s, 0).id, info.centre, at), LM_OK);
    /* The same distances between the corners as in the sheared box. */
    for (uint32_t i = 0; i < info.particles; i += 7)
        for (uint32_t k = 0; k < i; k += 5) {
            double dy = rest[i].y - rest[k].y, dx = rest[i].x - rest[k].x + 0.4 * dy, dz = rest[i].z - rest[k].z;
            double ax = at[i].x - at[k].x, ay = at[i].y - at[k].y, az = at[i].z - at[k].z;
            assert_near(sqrt(ax * ax + ay * ay + az * az), sqrt(dx * dx + dy * dy + dz * dz), 2e-3);
        }
    finish(s, world);
}

/* Twist and bend of the ends are what the state says, wherever the body is and however it is turned. */
static void test_measures(void **state)
{
    (void)state;
    lm_scene *s;
    lm_world *world = make(BODY(BAR "\"at\": [3, 4, 5], \"rotate\": [20, 30, 40], "
                                    "\"state\": {\"twist\": 50, \"axis\": \"x\"}"),
                           &s);
    /* Between the middles of the quarters at the ends: 0.9 m of the 1.2 m. */
    assert_near(measured(s, world, "twist"), 45.0, 4.0);
    assert_near(measured(s, world, "bend"), 0.0, 0.01);
    finish(s, world);
    world = make(BODY(BAR "\"rotate\": [20, 30, 40], \"state\": {\"bend\": 50, \"axis\": \"x\"}"), &s);
    assert_near(measured(s, world, "bend"), 45.0, 4.0);
    assert_near(measured(s, world, "twist"), 0.0, 0.01);
    finish(s, world);
}

/* What the deformers make of single points. */
static void test_deformers(void **state)
{
    (void)state;
    lm_vec3 rest[3] = {{0.5f, 0.2f, 0.1f}, {-0.5f, 0.0f, 0.0f}, {0.25f, 0.0f, 0.0f}};
    lm_dvec3 out[3];
    scene_deform deform = {.scale = {1, 1, 1}, .squash = 0.75, .wave = 1.0, .rotate = lmi_rotation_identity()};
    lmi_deform_points(&deform, rest, 3, out);
    assert_near(out[0].x, 0.125, 1e-6);
    assert_near(out[0].y, 0.4, 1e-6);
    assert_near(out[0].z, 0.2, 1e-6);
    deform.squash = 0.0;
    deform.taper = 2.0;
    lmi_deform_points(&deform, rest, 3, out);
    assert_near(out[0].x, 0.5, 1e-6);
    assert_near(out[0].y, 0.4, 1e-6);
    deform.taper = 0.0;
    deform.curve = 0.3;
    lmi_deform_points(&deform, rest, 3, out);
    assert_near(out[2].y, 0.3, 1e-6); /* a quarter of the wave */
    assert_near(out[1].y, 0.0, 1e-6); /* half of it */
    deform.curve = 0.0;
    deform.move = (lm_dvec3){0, 1, 0};
    deform.rotate = lmi_rotation_from_euler((lm_dvec3){0, 0, 90});
    deform.about = (lm_dvec3){0.5, 0, 0};
    scene_box box = {.min = {0, -1, -1}, .max = {1, 1, 1}};
    deform.where = &box;
    lmi_deform_points(&deform, rest, 3, out);
    assert_near(out[0].x, 0.5 - 0.2, 1e-6);
    assert_near(out[0].y, 1.0, 1e-6);
    assert_near(out[1].x, -0.5, 0.0); /* outside the box */
    assert_near(out[1].y, 0.0, 0.0);
    deform.fade = 1.0;
    lmi_deform_points(&deform, rest, 3, out);
    assert_near(out[1].y, 0.5 * (1.0 - 1.0), 1e-6); /* half way to (0.5, 1 - 1) */
    assert_near(out[1].x, 0.5 * (-0.5 + 0.5), 1e-6);
}

static void test_mesh_pose(void **state)
{
    (void)state;
    lm_scene *s;
    lm_world *world =
        make(BODY("\"mesh\": {\"file\": \"rest.obj\", \"longest\": 1}, \"lattice\": {\"spacing\": 0.08}, " FIRM
                  "\"examples\": {\"poses\": [{\"file\": \"pose.obj\"}], \"weights\": [1]}"),
             &s);
    step(s, world, 600);
    lm_body_info info = info_of(s, world);
    lm_vec3 rest[1000], at[1000];
    assert_true(info.particles <= 1000);
    assert_int_equal(lm_body_get_rest_positions(world, lm_scene_get_body(s, 0).id, rest), LM_OK);
    assert_int_equal(lm_body_get_positions(world, lm_scene_get_body(s, 0).id, info.centre, at), LM_OK);
    /* y grows by half of x in the file, so in the body, whatever its size. */
    for (uint32_t i = 0; i < info.particles; i += 11)
        for (uint32_t k = 0; k < i; k += 7) {
            double dx = rest[i].x - rest[k].x, dy = rest[i].y - rest[k].y + 0.5 * dx, dz = rest[i].z - rest[k].z;
            double ax = at[i].x - at[k].x, ay = at[i].y - at[k].y, az = at[i].z - at[k].z;
            assert_near(sqrt(ax * ax + ay * ay + az * az), sqrt(dx * dx + dy * dy + dz * dz), 5e-3);
        }
    finish(s, world);
}

static const struct {
    const char *text, *error; /* a part of it */
} wrong[] = {
    {BODY(BAR "\"examples\": {}"), "bodies[0].examples: incomplete (expected \"poses\""},
    {BODY(BAR "\"examples\": {\"poses\": []}"), "bodies[0].examples.poses: has 0 elements (expected 1 to 8)"},
    {BODY(BAR "\"examples\": {\"poses\": [{},{},{},{},{},{},{},{},{}]}"), "has 9 elements (expected 1 to 8)"},
    {BODY(BAR "\"examples\": {\"poses\": [{}], \"beta\": 1.5}"), "bodies[0].examples.beta"},
    {BODY(BAR "\"examples\": {\"poses\": [{}], \"weights\": [0.5, 0.5]}"),
     "bodies[0].examples.weights: has 2 elements, 1 in all (expected 1, one for each pose, at most 1)"},
    {BODY(BAR "\"examples\": {\"poses\": [{}, {}], \"weights\": [0.6, 0.5]}"), "has 2 elements, 1.1 in all"},
    {BODY(BAR "\"examples\": {\"poses\": [{}], \"groups\": []}"), "bodies[0].examples.groups: is empty"},
    {BODY(BAR "\"examples\": {\"poses\": [{}], \"groups\": [{\"min\": [0,0,0], \"max\": [-1,0,0]}]}"), "is below min"},
    {BODY(BAR "\"examples\": {\"poses\": [{}], \"groups\": [], \"each_region\": true}"), "each_region"},
    {BODY(BAR "\"examples\": {\"poses\": [{\"deform\": [{\"fade\": 1}]}]}"), "is given without where (expected both)"},
    {BODY(BAR "\"examples\": {\"poses\": [{\"deform\": [{\"squash\": 1}]}]}"), "squash"},
    {BODY(BAR "\"examples\": {\"poses\": [{\"file\": \"pose.obj\"}]}"), "is a mesh, the body has none"},
    {BODY("\"mesh\": {\"file\": \"rest.obj\"}, \"lattice\": {}, \"examples\": {\"poses\": [{\"file\": \"none.obj\"}]}"),
     "none.obj: No such file"},
    {BODY("\"mesh\": {\"file\": \"rest.obj\"}, \"lattice\": {}, \"examples\": {\"poses\": [{\"file\": \"less.obj\"}]}"),
     "less.obj: has 4 vertices (expected 8, as many as rest.obj)"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        lm_scene *s;
        lm_world *world;
        lm_scene_error error;
        if (try(wrong[i].text, &s, &world, &error) == LM_OK) fail_msg("accepted: %s", wrong[i].text);
        if (strstr(error.text, wrong[i].error) == NULL) fail_msg("%s\ninstead of: %s", error.text, wrong[i].error);
        finish(s, world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scopes),    cmocka_unit_test(test_forced_pose), cmocka_unit_test(test_measures),
        cmocka_unit_test(test_deformers), cmocka_unit_test(test_mesh_pose),   cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests_name("scene_examples", tests, make_folder, remove_folder);
}
