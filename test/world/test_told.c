/*
 * What the log says of worlds that are allowed and seldom meant: one line each, and none where all is well.
 */
#include "test/support/support.h"
#include "test/support/things.h"

#include "limber/scene.h"

#include <stdio.h>
#include <string.h>

static int told;
static char line[256];

static void take_line(lm_result result, const char *text, void *user)
{
    (void)user;
    assert_int_equal(result, LM_OK);
    told++;
    snprintf(line, sizeof line, "%s", text);
}

static lm_world_def hearing_def(void)
{
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    def.log.write = take_line;
    told = 0;
    line[0] = '\0';
    return def;
}

static lm_world *hearing_world(void)
{
    lm_world_def def = hearing_def();
    lm_world *world;
    def.substeps = 1;
    assert_ok(lm_world_create(&def, &world));
    return world;
}

static void assert_told(int lines, const char *words)
{
    if (told != lines) fail_msg("%d lines in place of %d: %s", told, lines, line);
    if (lines > 0 && !strstr(line, words)) fail_msg("\"%s\" does not say \"%s\"", line, words);
    told = 0;
}

/* A cube of a metre. */
static lm_body_id add_cube(lm_world *world, lm_dvec3 at, uint32_t mask, float hertz)
{
    const uint8_t cells[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = cells;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 4;
    def.lattice.spacing = 0.25f;
    def.pose.position = at;
    def.mask = mask;
    def.material.hertz = hertz;
    return make_body(world, &def);
}

static void hertz_out_of_reach(void **context)
{
    (void)context;
    lm_world *world = hearing_world();
    lm_body_id body = add_cube(world, (lm_dvec3){0, 0, 0}, 0, 5.0f);
    steps(world, 2);
    assert_told(0, "");
    lm_material m;
    assert_ok(lm_body_get_material(world, body, &m));
    m.hertz = 10.0f; /* nearly as stiff as it was asked for */
    assert_ok(lm_body_set_material(world, body, &m));
    steps(world, 1);
    assert_told(0, "");
    m.hertz = 95.0f;
    assert_ok(lm_body_set_material(world, body, &m));
    steps(world, 1);
    /* A substep of 1/60 s reaches 60 / (2 pi) = 9.549 hertz; 95 ask for ten of them. */
    assert_told(1, "body 1: 9.55 hertz in place of 95, as stiff as the substep allows: 10 substeps");
    steps(world, 5);
    assert_told(0, "");
    for (int n = 0; n < 3; n++) add_cube(world, (lm_dvec3){2.0 * n, 5, 0}, 0, 50.0f);
    steps(world, 1);
    assert_told(1, "body 2 (and 2 others): ");
    assert_ok(lm_world_set_substeps(world, 10));
    assert_ok(lm_body_set_material(world, body, &m));
    steps(world, 1);
    assert_told(0, "");
    lm_world_destroy(world);
}

/* Two cubes whose middles are so far apart, turned by a third of a turn about the cube's diagonal (which changes nothing) and put
 * where the user wanted them before the first step. */
static void step_pair(lm_world *world, double apart, uint32_t mask)
{
    lm_body_id a = add_cube(world, (lm_dvec3){1e5, 0, 0}, mask, 5.0f),
               b = add_cube(world, (lm_dvec3){1e5, 9, 0}, mask, 5.0f);
    const lm_pose pose = {{1e5 + apart, 0, 0}, {0.5f, 0.5f, 0.5f, 0.5f}};
    assert_ok(lm_body_set_pose(world, b, pose, true));
    steps(world, 2);
    assert_ok(lm_body_destroy(world, a));
    assert_ok(lm_body_destroy(world, b));
}

static void bodies_inside_each_other(void **context)
{
    (void)context;
    lm_world *world = hearing_world();
    step_pair(world, 1.0, 1); /* they touch */
    step_pair(world, 0.95, 1);
    step_pair(world, 0.3, 0); /* they pass through each other */
    assert_told(0, "");
    step_pair(world, 0.75, 1);
    assert_told(1, "bodies 1 and 2 begin inside each other");
    step_pair(world, 0.3, 1); /* it was said */
    assert_told(0, "");
    lm_world_destroy(world);
}

static void assert_told_of(lm_body_id a, lm_body_id b, lm_world *world)
{
    char words[64];
    steps(world, 2);
    snprintf(words, sizeof words, "bodies %u and %u begin", a.slot, b.slot);
    assert_told(1, words);
    lm_world_destroy(world);
}

static void those_that_come_later(void **context)
{
    (void)context;
    lm_world *world = hearing_world();
    lm_body_id a = add_cube(world, (lm_dvec3){0, 0, 0}, 1, 5.0f), b;
    steps(world, 3);
    assert_ok(lm_body_clone(world, a, &b)); /* it is where the other is */
    assert_told_of(a, b, world);

    world = hearing_world();
    a = add_cube(world, (lm_dvec3){0, 0, 0}, 1, 5.0f);
    steps(world, 30); /* it has fallen by 1.3 m */
    b = add_cube(world, (lm_dvec3){0, 0, 0}, 1, 5.0f);
    steps(world, 1);
    assert_told(0, "");
    b = add_cube(world, (lm_dvec3){0.5, -1.3, 0.25}, 1, 5.0f);
    assert_told_of(a, b, world);

    lm_world_def def = hearing_def();
    def.may_overlap = true;
    assert_ok(lm_world_create(&def, &world));
    add_cube(world, (lm_dvec3){0, 0, 0}, 1, 5.0f);
    add_cube(world, (lm_dvec3){0.5, 0, 0}, 1, 5.0f);
    steps(world, 2);
    assert_told(0, "");
    lm_world_destroy(world);
}

static void a_small_one_deep_inside(void **context)
{
    (void)context;
    lm_world *world = hearing_world();
    lm_body_id a = add_cube(world, (lm_dvec3){0, 0, 0}, 1, 5.0f), b;
    const uint8_t cells[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = cells;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 2;
    def.lattice.spacing = 0.1f;
    def.pose.position = (lm_dvec3){0.4, 0.4, 0.4}; /* it is 0.2 m wide, in the middle */
    b = make_body(world, &def);
    assert_told_of(a, b, world);
}

/* Balls and boxes of every sampling: on each other by a hair, and in each other. */
static void whatever_they_are_made_of(void **context)
{
    (void)context;
    for (int n = 0; n < 2 * SAMPLINGS * SAMPLINGS; n++)
        for (int deep = 0; deep < 2; deep++) {
            lm_world *world = hearing_world();
            thing_def def = thing_default((sampling)(n / 2 % SAMPLINGS));
            def.material = soft_material(0.5, 0.0);
            def.material.hertz = 2.0f;
            def.mask = 1;
            def.shape = n % 2 ? "box" : "sphere";
            def.size = (lm_vec3){0.5f, 0.5f, 0.5f};
            lm_body_id a = thing_make(world, &def);
            def.kind = (sampling)(n / 2 / SAMPLINGS);
            def.pose.position = (lm_dvec3){0, deep ? 0.4 : 0.49, 0};
            lm_body_id b = thing_make(world, &def);
            if (deep) {
                assert_told_of(a, b, world);
                continue;
            }
            steps(world, 1);
            assert_told(0, "");
            lm_world_destroy(world);
        }
}

static void a_blade_without_area(void **context)
{
    (void)context;
    const lm_dvec3 flat[4] = {{0.6, -1, -1}, {0.6, 0, 0}, {0.6, 1, 1}, {0.6, 2, 3}};
    const uint32_t line_only[3] = {0, 1, 2}, triangle[3] = {0, 1, 3};
    lm_world *world = hearing_world();
    lm_body_id body = add_cube(world, (lm_dvec3){0, 0, 0}, 0, 5.0f);
    lm_blade blade = lm_blade_default();
    lm_cut_info info;
    assert_ok(lm_body_cut(world, body, &blade, &info));
    assert_told(1, "no area");
    blade.vertices = flat, blade.vertex_count = 4, blade.triangles = line_only, blade.triangle_count = 1;
    assert_ok(lm_body_cut(world, body, &blade, &info));
    assert_int_equal(info.links, 0);
    assert_told(1, "no area");
    blade.triangles = triangle;
    assert_ok(lm_body_cut(world, body, &blade, &info));
    assert_told(0, "");
    lm_world_destroy(world);
}

/* --- scenes --- */

static void make_scene(const char *text)
{
    lm_scene_error error;
    lm_scene *scene = lm_scene_open_text("told", text, strlen(text), NULL, 0, &error);
    if (!scene) fail_msg("%s", error.text);
    lm_world_def def = hearing_def();
    lm_world *world;
    if (lm_scene_make_world(scene, &def, &world, &error) != LM_OK) fail_msg("%s", error.text);
    lm_world_destroy(world);
    lm_scene_close(scene);
}

#define SCENE(gravity, colliders, first, second, x, events)                                                            \
    "{\"limber\": 1, \"frames\": 60, " gravity "\"colliders\": [" colliders "], \"bodies\": ["                         \
    "{\"shape\": {\"name\": \"box\", \"size\": [1, 1, 1]}, \"lattice\": {\"particles\": 60}, \"at\": [0, 1, 0]" first  \
    "}, {\"shape\": {\"name\": \"box\", \"size\": [1, 1, 1]}, \"lattice\": {\"particles\": 60}, \"at\": [" x           \
    ", 3, 0]" second "}], \"events\": [" events "]}"
#define FLOOR "{\"shape\": \"plane\"}"

static void masks_of_what_is_stacked(void **context)
{
    (void)context;
    make_scene(SCENE("", FLOOR, "", "", "0.2", "")); /* they touch by default */
    assert_told(0, "");
    make_scene(SCENE("", FLOOR, ", \"mask\": 1", ", \"group\": 2", "0.2", ""));
    assert_told(1, "bodies 0 and 1 are above each other");
    make_scene(SCENE("", FLOOR, ", \"mask\": 0", "", "0.2", "")); /* as was asked for */
    assert_told(0, "");
    make_scene(SCENE("", FLOOR, ", \"mask\": 1", ", \"mask\": 1", "0.2", "")); /* they touch */
    assert_told(0, "");
    make_scene(SCENE("", FLOOR, ", \"mask\": 0", ", \"mask\": 0", "0.2", "")); /* as was asked for */
    assert_told(0, "");
    make_scene(SCENE("", FLOOR, "", "", "1.2", "")); /* beside each other */
    assert_told(0, "");
    make_scene(SCENE("", "", "", "", "0.2", "")); /* they fall side by side for ever */
    assert_told(0, "");
    make_scene(SCENE("\"gravity\": [0, 0, 0], ", FLOOR, "", "", "0.2", ""));
    assert_told(0, "");
}

/* A box of a metre, and a ball above it whose middle is `y` high. */
#define PAIR(y, first)                                                                                                 \
    "{\"limber\": 1, \"frames\": 60, \"bodies\": [{\"shape\": {\"name\": \"box\", \"size\": [1, 1, 1]}, \"lattice\": " \
    "{\"particles\": "                                                                                                 \
    "60}, \"at\": [0, 1, 0]" first "}, {\"shape\": {\"name\": \"sphere\", \"size\": [1, 1, 1]}, \"at\": [0, " y        \
    ", 0]}]}"

static void bodies_that_begin_inside_each_other(void **context)
{
    (void)context;
    make_scene(PAIR("2.001", ""));
    assert_told(0, "");
    make_scene(PAIR("2", "")); /* they touch */
    assert_told(0, "");
    make_scene(PAIR("1.98", "")); /* by a hair, as things are that were put on each other by eye */
    assert_told(0, "");
    make_scene(PAIR("1.9", ""));
    assert_told(1, "bodies 0 and 1 begin inside each other");
    make_scene(PAIR("1", "")); /* the ball is all inside */
    assert_told(1, "bodies 0 and 1 begin inside each other");
    make_scene(PAIR("1", ", \"mask\": 0")); /* as was asked for */
    assert_told(0, "");
    make_scene(PAIR("5", ", \"repeat\": {\"grid\": [2, 1, 1], \"spacing\": [0.5, 1, 1]}"));
    assert_told(1, "bodies 0 and 1 begin inside each other");
    make_scene(PAIR("5", ", \"repeat\": {\"grid\": [2, 1, 1], \"spacing\": [0.5, 1, 1], \"jitter\": [0.1, 0, 0]}"));
    assert_told(0, "");
    make_scene(
        "{\"limber\": 1, \"frames\": 60, \"bodies\": [{\"shape\": {\"name\": \"sphere\", \"size\": [1, 1, 1]}, \"at\": "
        "[0, 0, 0]}, "
        "{\"shape\": {\"name\": \"sphere\", \"size\": [1, 1, 1]}, \"at\": [0.62, 0.62, 0.62]}]}"); /* boxes meet, and balls do not */
    assert_told(0, "");
}

static void events_after_the_end(void **context)
{
    (void)context;
    make_scene(SCENE("", "", "", "", "5", "{\"time\": 0.98, \"gravity\": [0, -5, 0]}"));
    assert_told(0, "");
    make_scene(SCENE("", "", "", "", "5",
                     "{\"time\": 0.5, \"gravity\": [0, -5, 0]}, {\"time\": 1.2, \"gravity\": [0, -5, 0]}"));
    assert_told(1, "events[1] is at 1.2 s, and the scene ends at 1 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hertz_out_of_reach),       cmocka_unit_test(a_blade_without_area),
        cmocka_unit_test(bodies_inside_each_other), cmocka_unit_test(those_that_come_later),
        cmocka_unit_test(a_small_one_deep_inside),  cmocka_unit_test(whatever_they_are_made_of),
        cmocka_unit_test(masks_of_what_is_stacked), cmocka_unit_test(bodies_that_begin_inside_each_other),
        cmocka_unit_test(events_after_the_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
