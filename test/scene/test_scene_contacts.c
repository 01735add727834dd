/*
 * Contacts in scene files: what touches what, wrong values told exactly, and the measures that expectations take of it.
 */
#include "limber/scene.h"
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct running {
    lm_scene *scene;
    lm_world *world;
} running;

static running start(const char *text, bool fine)
{
    running r = {0};
    lm_scene_error error;
    r.scene = lm_scene_open_text("s.json", text, strlen(text), NULL, 0, &error);
    if (r.scene == NULL) fail_msg("%s", error.text);
    lm_scene_want_fine_surfaces(r.scene, fine);
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    if (lm_scene_make_world(r.scene, &def, &r.world, &error) != LM_OK) fail_msg("%s", error.text);
    return r;
}

static void play(running r, uint32_t frames)
{
    for (uint32_t frame = 0; frame < frames; frame++) assert_ok(lm_scene_step(r.scene, r.world, frame));
}

static void stop(running r)
{
    lm_world_destroy(r.world);
    lm_scene_close(r.scene);
}

static lm_body_info info_of(running r, uint32_t index)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(r.world, lm_scene_get_body(r.scene, index).id, &info));
    return info;
}

/* Two boxes in the air above each other: the upper one falls onto the lower one, which is pinned. */
#define TWO_BOXES(lower, upper)                                                                                        \
    "{\"limber\": 1, \"substeps\": 2, \"bodies\": ["                                                                   \
    "{\"name\": \"lower\", \"shape\": {\"name\": \"box\", \"size\": [2, 0.5, 2], \"detail\": 3}, \"mass\": 10," lower  \
    "}, {\"name\": \"upper\", \"shape\": {\"name\": \"box\", \"size\": [0.5, 0.5, 0.5], \"detail\": 2},"               \
    "\"at\": [0, 0.55, 0]," upper "}],"                                                                                \
    "\"pins\": [{\"body\": \"lower\", \"where\": {\"min\": [-2, -2, -2], \"max\": [2, 2, 2]}}]}"

static void groups_and_masks_choose_who_touches(void **context)
{
    (void)context;
    static const struct {
        const char *text;
        bool touch;
    } cases[] = {
        {TWO_BOXES("\"mask\": 1", "\"mask\": 1"), true},
        {TWO_BOXES("\"mask\": 1", "\"mask\": 0"), false},
        {TWO_BOXES("\"group\": 1", "\"group\": 1"), true},
        {TWO_BOXES("\"group\": 2, \"mask\": 4", "\"group\": 4, \"mask\": 2"), true},
        {TWO_BOXES("\"group\": 2, \"mask\": 2", "\"group\": 4, \"mask\": 4"), false},
        {TWO_BOXES("\"group\": 2147483648, \"mask\": 4294967295", "\"group\": 1, \"mask\": 2147483649"), true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        running r = start(cases[k].text, false);
        play(r, 60);
        bool touched = info_of(r, 1).centre.y > 0.4;
        if (touched != cases[k].touch) fail_msg("case %zu: the upper box is at %g", k, info_of(r, 1).centre.y);
        stop(r);
    }
}

static void contact_points_are_chosen(void **context)
{
    (void)context;
#define ONE_BOX(more)                                                                                                  \
    "{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\", \"detail\": 6}, \"surface\": {\"detail\": 12}," more \
    "}]}"
    running particles = start(ONE_BOX("\"contact_points\": \"particles\""), false);
    running surface = start(ONE_BOX("\"contact_points\": \"surface\""), false);
    running cloud = start(ONE_BOX("\"contact_points\": \"auto\""), false);
    running lattice = start(ONE_BOX("\"lattice\": {\"spacing\": 0.25}"), false);
    lm_body_info info = info_of(particles, 0);
    assert_int_equal(info.contact_points, info.particles);
    assert_int_equal(info_of(cloud, 0).contact_points, info.particles);
    assert_int_not_equal(info_of(surface, 0).contact_points, info.particles);
    assert_int_not_equal(info_of(lattice, 0).contact_points, info_of(lattice, 0).particles);
    stop(particles), stop(surface), stop(cloud), stop(lattice);
}

static void self_contact_is_asked_for(void **context)
{
    (void)context;
    static const char *const texts[2] = {"false", "true"};
    size_t memory[2];
    for (int k = 0; k < 2; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\", \"size\": [2, 0.2, 0.2]},"
                 "\"lattice\": {\"spacing\": 0.1}, \"self_contact\": %s}]}",
                 texts[k]);
        running r = start(text, false);
        lm_stats stats;
        lm_world_get_stats(r.world, &stats);
        memory[k] = stats.memory;
        stop(r);
    }
    assert_true(memory[1] > memory[0] + 1000); /* a distance field, which only solids have */
}

static void wrong_values_are_told(void **context)
{
    (void)context;
    static const struct {
        const char *field, *expected;
    } wrong[] = {
        {"\"contact_points\": \"skin\"",
         "s.json:1:74: bodies[0].contact_points: is \"skin\" (expected one of \"auto\", \"particles\", \"surface\")"},
        {"\"mask\": -1", "s.json:1:64: bodies[0].mask: is -1 (expected a whole number from 0 to 4294967295)"},
        {"\"mask\": 0.5", "s.json:1:64: bodies[0].mask: is 0.5 (expected a whole number from 0 to 4294967295)"},
        {"\"group\": 5000000000",
         "s.json:1:65: bodies[0].group: is 5e+09 (expected a whole number from 0 to 4294967295)"},
        {"\"group\": \"all\"",
         "s.json:1:65: bodies[0].group: is \"all\" (expected a whole number from 0 to 4294967295)"},
        {"\"self_contact\": 1", "s.json:1:72: bodies[0].self_contact: is 1 (expected true or false)"},
        {"\"maske\": 1",
         "s.json:1:56: bodies[0].maske: unknown field (expected a field of body; did you mean \"mask\"?)"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char text[300];
        snprintf(text, sizeof text, "{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"sphere\"}, %s}]}",
                 wrong[k].field);
        lm_scene_error error;
        assert_null(lm_scene_open_text("s.json", text, strlen(text), NULL, 0, &error));
        assert_string_equal(error.text, wrong[k].expected);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Measures
 */

typedef struct lines {
    char text[8][512];
    uint32_t count;
} lines;

static void keep_line(const char *line, void *user)
{
    lines *l = user;
    if (l->count < 8) snprintf(l->text[l->count++], sizeof l->text[0], "%s", line);
}

/* The number that the k-th expectation measured. */
static double measured(const lines *l, uint32_t k)
{
    assert_true(k < l->count);
    const char *place = strstr(l->text[k], ": ");
    place = place != NULL ? strstr(place + 2, ": ") : NULL;
    if (place == NULL) fail_msg("%s", l->text[k]);
    return strtod(place + 2, NULL);
}

static lines check(const char *text, uint32_t frames)
{
    running r = start(text, false);
    lines l = {.count = 0};
    play(r, frames);
    lm_scene_check(r.scene, r.world, keep_line, &l);
    stop(r);
    return l;
}

#define EXPECT(measure, body) "{\"measure\": \"" measure "\", \"body\": \"" body "\", \"less_than\": 1}"

/* Two boxes whose faces are 0.07 m inside each other, one that stands alone, and one all within the first. */
static void overlaps_are_measured(void **context)
{
    (void)context;
    lines l =
        check("{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": ["
              "{\"name\": \"a\", \"mask\": 0, \"shape\": {\"name\": \"box\", \"size\": [1, 1, 1], \"detail\": 8}},"
              "{\"name\": \"b\", \"mask\": 0, \"shape\": {\"name\": \"box\", \"size\": [0.5, 0.5, 0.5], \"detail\": 8},"
              "\"at\": [0.013, 0.68, 0.007]},"
              "{\"name\": \"c\", \"shape\": {\"name\": \"sphere\"}, \"at\": [3, 0, 0]},"
              "{\"name\": \"d\", \"shape\": {\"name\": \"sphere\", \"size\": [0.2, 0.2, 0.2]}, \"at\": [0.01, 0, 0]}],"
              "\"expect\": [" EXPECT("overlap", "a") "," EXPECT("overlap", "b") "," EXPECT("overlap", "c") "," EXPECT(
                  "overlap", "d") "]}",
              1);
    assert_near(measured(&l, 1), 0.07, 1e-4);
    assert_true(measured(&l, 0) <= 0.07 + 1e-4); /* its vertices on the face around the other's */
    assert_near(measured(&l, 2), 0.0, 0.0);
    assert_near(measured(&l, 3), 0.43, 0.013); /* 0.5 less its radius along a diagonal, or almost */
}

static void drift_is_sideways(void **context)
{
    (void)context;
    lines l =
        check("{\"limber\": 1, \"bodies\": [{\"name\": \"a\", \"shape\": {\"name\": \"box\"}, \"velocity\": [3, 1, 4],"
              "\"rotate\": [0, 30, 0], \"at\": [5, 6, 7]},"
              "{\"name\": \"b\", \"points\": [[1, 0, 0], [0, 2, 0]], \"masses\": [1, 3], \"rotate\": [0, 90, 0]}],"
              "\"expect\": [" EXPECT("drift", "a") "," EXPECT("drift", "b") "]}",
              12);
    assert_near(measured(&l, 0), 5.0 * 12.0 / 60.0, 1e-4);
    assert_near(measured(&l, 1), 0.0, 1e-6); /* it only falls */
}

static void the_surface_has_a_lowest_point(void **context)
{
    (void)context;
    lines l = check(
        "{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": ["
        "{\"name\": \"a\", \"shape\": {\"name\": \"sphere\", \"detail\": 12}, \"lattice\": {\"spacing\": 0.3},"
        "\"at\": [0, 2, 0]}, {\"name\": \"b\", \"mask\": 0, \"points\": [[1, -0.5, 0], [0, 2, 0]]}],"
        "\"expect\": [" EXPECT("surface_lowest", "a") "," EXPECT("lowest", "a") "," EXPECT("surface_lowest", "b") "]}",
        1);
    assert_near(measured(&l, 0), 1.5, 0.01);
    assert_true(measured(&l, 1) < 1.49); /* a lattice's particles lie outside */
    assert_near(measured(&l, 2), -0.5, 1e-6);
}

/* What is drawn of a body that others touch is what they touch. */
static void touched_surfaces_are_not_made_finer(void **context)
{
    (void)context;
    static const char text[] =
        "{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"sphere\"}, \"mask\": 0},"
        "{\"shape\": {\"name\": \"sphere\"}, \"mask\": 1, \"at\": [2, 0, 0]},"
        "{\"shape\": {\"name\": \"sphere\"}, \"contact_points\": \"surface\", \"at\": [4, 0, 0]}]}";
    running plain = start(text, false), fine = start(text, true);
    assert_true(info_of(fine, 0).skin_triangles > info_of(plain, 0).skin_triangles);
    assert_int_equal(info_of(fine, 1).skin_triangles, info_of(plain, 1).skin_triangles);
    assert_int_equal(info_of(fine, 2).skin_triangles, info_of(plain, 2).skin_triangles);
    stop(plain), stop(fine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_and_masks_choose_who_touches),
        cmocka_unit_test(contact_points_are_chosen),
        cmocka_unit_test(self_contact_is_asked_for),
        cmocka_unit_test(wrong_values_are_told),
        cmocka_unit_test(overlaps_are_measured),
        cmocka_unit_test(drift_is_sideways),
        cmocka_unit_test(the_surface_has_a_lowest_point),
        cmocka_unit_test(touched_surfaces_are_not_made_finer),
    };
    return cmocka_run_group_tests_name("scene_contacts", tests, NULL, NULL);
}
