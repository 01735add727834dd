/*
 * Scenes: what is right becomes the world it describes, and expectations fail when they ought to.
 */
#include "scene/fit.h"
#include "scene/internal.h"
#include "scene/measure.h"
#include "test/support/scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void run_scene(lm_scene *s, lm_world *world, uint32_t from, uint32_t to)
{
    for (uint32_t frame = from; frame < to; frame++) assert_int_equal(lm_scene_step(s, world, frame), LM_OK);
}

/* ------------------------------------------------------------------------------------------------------------------
 * What a scene describes
 */

static void test_repeat_makes_a_grid(void **state)
{
    (void)state;
    lm_scene *s =
        open_scene("{\"limber\": 1, \"bodies\": [{\"name\": \"a\", \"points\": [[0,0,0]], \"at\": [0, 10, 0],"
                   "\"repeat\": {\"grid\": [2, 3, 4], \"spacing\": [1, 10, 100]}}, {\"points\": [[5,0,0]]}]}");
    lm_world *world = make_scene_world(s);
    assert_int_equal(lm_scene_body_count(s), 25);
    assert_string_equal(lm_scene_get_body(s, 23).name, "a[23]");
    assert_string_equal(lm_scene_get_body(s, 24).name, "body1");
    lm_body_info info;
    lm_body_get_info(world, lm_scene_get_body(s, 0).id, &info);
    assert_vector(info.centre, -0.5, 0, -150);
    lm_body_get_info(world, lm_scene_get_body(s, 1).id, &info); /* x runs fastest, then z, then y */
    assert_vector(info.centre, 0.5, 0, -150);
    lm_body_get_info(world, lm_scene_get_body(s, 2).id, &info);
    assert_vector(info.centre, -0.5, 0, -50);
    lm_body_get_info(world, lm_scene_get_body(s, 23).id, &info);
    assert_vector(info.centre, 0.5, 20, 150);
    lm_world_destroy(world);
    lm_scene_close(s);
}

/* Clusters by groups, elements and neighbours: how many there are, and how many particles in them. */
static void test_cluster_makers(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint32_t regions, memberships;
    } cases[] = {
        {"\"shape\": {\"name\": \"box\", \"detail\": 2}, \"particles\": 26, \"clusters\": {\"kmeans\": 5, \"rings\": "
         "0}",
         5, 26},
        {"\"shape\": {\"name\": \"box\", \"detail\": 2}, \"particles\": 26, \"clusters\": {\"each\": \"triangle\"}", 48,
         144},
        {"\"shape\": {\"name\": \"box\", \"detail\": 2}, \"particles\": 26, \"clusters\": {\"each\": \"edge\"}", 72,
         144},
        /* each vertex and its neighbours: 26 and twice the 72 edges */
        {"\"shape\": {\"name\": \"box\", \"detail\": 2}, \"particles\": 26, \"clusters\": {\"each\": \"particle\"}", 26,
         170},
        /* the middle is joined to the six middles of the faces */
        {"\"shape\": {\"name\": \"box\", \"detail\": 2}, \"particles\": 27, \"clusters\": {\"each\": \"particle\"}", 27,
         183},
        {"\"points\": [[0,0,0],[1,0,0],[2,0,0]], \"clusters\": {\"each\": \"element\", \"elements\": [[0,1],[1,2]]}", 2,
         4},
        {"\"points\": [[0,0,0],[1,0,0],[2,0,0]], \"clusters\": {\"each\": \"particle\", \"elements\": [[0,1],[1,2]]}",
         3, 7},
        {"\"points\": [[0,0,0],[1,0,0],[2,0,0]], \"clusters\": {\"kmeans\": 3, \"rings\": 1, \"elements\": "
         "[[0,1],[1,2]]}",
         3, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[400];
        snprintf(text, sizeof text, "{\"limber\": 1, \"bodies\": [{%s}]}", cases[i].body);
        lm_scene *s = open_scene(text);
        lm_world *world = make_scene_world(s);
        lm_body_info info;
        lm_body_get_info(world, lm_scene_get_body(s, 0).id, &info);
        if (info.regions != cases[i].regions || info.memberships != cases[i].memberships) {
            fail_msg("%s: %u regions, %llu memberships", cases[i].body, info.regions,
                     (unsigned long long)info.memberships);
        }
        lm_world_destroy(world);
        lm_scene_close(s);
    }
}

static void test_zones(void **state)
{
    (void)state;
    lm_scene *s =
        open_scene("{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0], [1,0,0], [2,0,0], [5,0,0]], \"mass\": 14,"
                   "\"mass_zones\": [{\"near\": [0,0,0], \"radius\": 1, \"fade\": 2, \"value\": 5}],"
                   "\"clusters\": {\"lists\": [[0, 1], [2, 3]]},"
                   "\"stiffness_zones\": [{\"where\": {\"min\": [-1,-1,-1], \"max\": [0.5,1,1]}, \"value\": 0.5},"
                   "{\"where\": {\"min\": [4,-1,-1], \"max\": [6,1,1]}, \"value\": 0}]}]}");
    lm_world *world = make_scene_world(s);
    float masses[4], shares[2];
    assert_int_equal(lm_body_get_masses(world, lm_scene_get_body(s, 0).id, masses), LM_OK);
    const float expected[4] = {5, 5, 3, 1}; /* at 2 the value is half way back to 1 */
    for (uint32_t i = 0; i < 4; i++) assert_true(fabsf(masses[i] - expected[i]) < 1e-5f);
    assert_int_equal(lm_body_get_region_stiffness(world, lm_scene_get_body(s, 0).id, shares), LM_OK);
    assert_true(fabsf(shares[0] - 0.75f) < 1e-5f); /* means weighted by mass: (5 * 0.5 + 5 * 1)/10, (3 * 1 + 1 * 0)/4 */
    assert_true(fabsf(shares[1] - 0.75f) < 1e-5f);
    lm_world_destroy(world);
    lm_scene_close(s);
}

/* A surface finer than the particles keeps its size and its volume, also on copies of another size. */
static void test_finer_surfaces(void **state)
{
    (void)state;
    lm_scene *s = open_scene(
        "{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"ball\", \"shape\": {\"name\": \"sphere\", "
        "\"detail\": 2}, \"particles\": 13, \"surface\": {\"detail\": 18, \"skin\": \"regions\"}, \"repeat\": "
        "{\"grid\": "
        "[3, 1, 1], \"spacing\": [3, 0, 0], \"vary\": {\"size\": 0.5}}}], \"expect\": [{\"measure\": \"triangles\", "
        "\"equals\": 2000}, {\"measure\": \"volume\", \"greater_than\": 0.999}, {\"measure\": \"volume\", "
        "\"less_than\": 1.001}]}");
    lm_world *world = make_scene_world(s);
    run_scene(s, world, 0, 5);
    assert_int_equal(lm_scene_check(s, world, NULL, NULL), 0);
    lm_body_info info;
    lm_body_get_info(world, lm_scene_get_body(s, 2).id, &info);
    assert_int_equal(info.particles, 13);
    lm_world_destroy(world);
    lm_scene_close(s);
}

static void test_strain_of_a_matrix(void **state)
{
    (void)state;
    const float none[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, squeezed[9] = {2, 0, 0, 0, 0.5f, 0, 0, 0, 1};
    const float turned[9] = {1.05f, 0.25f, 0, 0.25f, 1.05f, 0, 0, 0, 0.95f}; /* stretches 1.3, 0.8, 0.95 */
    assert_true(lmi_fit_strain(none) == 0.0);
    assert_true(fabs(lmi_fit_strain(squeezed) - 1.0) < 1e-6);
    assert_true(fabs(lmi_fit_strain(turned) - 0.3) < 1e-6);
}

static const char lively[] =
    "{\"limber\": 1, \"movers\": [{\"name\": \"hand\", \"keyframes\": [{\"time\": 0}, {\"time\": 0.5, \"at\": [0, 1, "
    "0]}]}],"
    "\"bodies\": [{\"name\": \"held\", \"shape\": {\"name\": \"box\", \"detail\": 2}},"
    " {\"name\": \"free\", \"shape\": {\"name\": \"box\", \"detail\": 2}, \"at\": [5, 3, 0], \"velocity\": [1, 0, 0],"
    "  \"state\": {\"twist\": 20}}],"
    "\"colliders\": [{\"shape\": \"plane\", \"at\": [0, -1, 0]}],"
    "\"pins\": [{\"body\": \"held\", \"where\": {\"min\": [-1, 0.4, -1], \"max\": [1, 1, 1]}, \"mover\": \"hand\"}],"
    "\"drags\": [{\"body\": \"free\", \"nearest\": [0.5, 0.5, 0.5], \"from\": 0.1, \"until\": 0.3, \"offset\": [0, 2, "
    "0]}],"
    "\"events\": [{\"time\": 0.2, \"gravity\": [0, -1, 0]}, {\"time\": 0.35, \"body\": \"free\", \"velocity\": [0, 0, "
    "2]},"
    " {\"time\": 0.4, \"body\": \"free\", \"deform\": {\"scale\": [1, 0.5, 1]}, \"material\": {\"hertz\": 3}}]}";

static void test_pins_ride_and_events_happen(void **state)
{
    (void)state;
    lm_scene *s = open_scene(lively);
    lm_world *world = make_scene_world(s);
    lm_body_info before, after;
    lm_body_get_info(world, lm_scene_get_body(s, 0).id, &before);
    run_scene(s, world, 0, 21);
    lm_body_get_info(world, lm_scene_get_body(s, 1).id, &after);
    assert_true(lm_world_get_gravity(world).y == -1.0f);
    run_scene(s, world, 21, 22); /* 0.35 s is frame 21 */
    lm_body_get_info(world, lm_scene_get_body(s, 1).id, &after);
    assert_true(fabsf(after.velocity.z - 2.0f) < 0.01f && fabsf(after.velocity.x) < 0.01f);
    run_scene(s, world, 22, 40);
    lm_material material;
    lm_body_get_material(world, lm_scene_get_body(s, 1).id, &material);
    assert_true(material.hertz == 3.0f && material.damping_ratio == 0.1f);
    lm_body_get_info(world, lm_scene_get_body(s, 0).id, &after);
    assert_true(fabs(after.upper.y - (before.upper.y + 1.0)) < 1e-3); /* the hand went up by 1 m */
    lm_world_destroy(world);
    lm_scene_close(s);
}

static void test_keyframes_are_mixed(void **state)
{
    (void)state;
    scene_keyframe keys[3] = {{.time = 1, .at = {0, 0, 0}, .rotate = {0, 0, 0}},
                              {.time = 2, .at = {4, 0, 0}, .rotate = {0, 80, 0}},
                              {.time = 4, .at = {4, 8, 0}, .rotate = {0, 80, 0}}};
    scene_mover mover = {.keyframes = {.items = keys, .count = 3}};
    assert_vector(lmi_mover_pose_at(&mover, 0.5).position, 0, 0, 0); /* held before the first */
    assert_vector(lmi_mover_pose_at(&mover, 1.25).position, 1, 0, 0);
    assert_vector(lmi_mover_pose_at(&mover, 2.0).position, 4, 0, 0);
    assert_vector(lmi_mover_pose_at(&mover, 3.5).position, 4, 6, 0);
    assert_vector(lmi_mover_pose_at(&mover, 9.0).position, 4, 8, 0); /* and after the last */
    assert_true(fabs((double)lmi_mover_pose_at(&mover, 1.25).rotation.y - sin(10.0 * RADIANS_PER_DEGREE)) < 1e-6);
}

/* A drag pulls from `from` to `until` and not a frame longer. */
static void test_drags_let_go(void **state)
{
    (void)state;
    lm_scene *s = open_scene("{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"points\": [[0,0,0]]}],"
                             "\"drags\": [{\"body\": \"body0\", \"particle\": 0, \"target\": [0, 5, 0], \"from\": 0.1,"
                             " \"until\": 0.2}]}");
    lm_world *world = make_scene_world(s);
    float speed = 0.0f;
    for (uint32_t frame = 0; frame < 20; frame++) {
        run_scene(s, world, frame, frame + 1);
        lm_body_info info;
        lm_body_get_info(world, lm_scene_get_body(s, 0).id, &info);
        bool pulled = frame >= 6 && frame < 12;
        if ((info.velocity.y != speed) != pulled) fail_msg("frame %u", (unsigned)frame);
        speed = info.velocity.y;
    }
    assert_true(speed > 0.0f);
    lm_world_destroy(world);
    lm_scene_close(s);
}

/* With a density, a copy of another size has the mass of its own volume. */
static void test_copies_weigh_what_their_volume_does(void **state)
{
    (void)state;
    lm_scene *s =
        open_scene("{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\", \"size\": [1, 1, 1], "
                   "\"detail\": 2}, \"density\": 100, \"repeat\": {\"grid\": [4, 1, 1], \"spacing\": [3, 3, 3], "
                   "\"vary\": {\"size\": 0.5}}}]}");
    lm_world *world = make_scene_world(s);
    double least = 1e9, most = 0.0;
    for (uint32_t i = 0; i < 4; i++) {
        lm_body_info info;
        lm_body_get_info(world, lm_scene_get_body(s, i).id, &info);
        double edge = info.upper.x - info.lower.x;
        assert_true(fabs((double)info.mass - 100.0 * edge * edge * edge) < 0.01);
        least = fmin(least, edge);
        most = fmax(most, edge);
    }
    assert_true(most > least + 0.1);
    lm_world_destroy(world);
    lm_scene_close(s);
}

/* Saving and loading on the way, or starting again from a file, must not change a bit, drags and movers included. */
static void test_resave_and_load_change_nothing(void **state)
{
    (void)state;
    lm_scene *s = open_scene(lively);
    lm_world *world = make_scene_world(s);
    run_scene(s, world, 0, 40);
    uint64_t expected = lm_world_hash(world);
    lm_world_destroy(world);
    const uint32_t cuts[] = {0, 1, 10, 19, 30};
    for (uint32_t i = 0; i < 5; i++) {
        lm_scene_error error;
        world = make_scene_world(s);
        run_scene(s, world, 0, cuts[i]);
        size_t size = lm_world_save_size(world);
        void *bytes = malloc(size);
        assert_int_equal(lm_world_save(world, bytes, size), LM_OK);
        assert_int_equal(lm_scene_resave(s, &world, &error), LM_OK);
        run_scene(s, world, cuts[i], 40);
        assert_true(lm_world_hash(world) == expected);
        lm_world_destroy(world);

        lm_scene *other = open_scene(lively);
        world = make_scene_world(other);
        uint32_t frame = 99;
        assert_int_equal(lm_scene_load(other, world, bytes, size, &frame, &error), LM_OK);
        assert_int_equal(frame, cuts[i]);
        run_scene(other, world, frame, 40);
        assert_true(lm_world_hash(world) == expected);
        lm_world_destroy(world);
        lm_scene_close(other);
        free(bytes);
    }
    lm_scene_close(s);
}

/* Nothing the scene does by itself may look like an error of the engine. */
static void test_momentum_is_accounted_for(void **state)
{
    (void)state;
    lm_scene *s = open_scene("{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"torus\"}, \"spin\": [0, 300, 90]}],"
                             "\"drags\": [{\"body\": \"body0\", \"particle\": 3, \"target\": [1, 2, 3]}],"
                             "\"fields\": [{\"kind\": \"wind\", \"vector\": [3, 0, 0]}],"
                             "\"events\": [{\"time\": 0.2, \"velocity\": [0, 5, 0], \"deform\": {\"twist\": 90}},"
                             " {\"time\": 0.3, \"impulse\": [0, 0, 9], \"point\": [1, 1, 1]}]}");
    lm_world *world = make_scene_world(s);
    lm_scene_error error;
    run_scene(s, world, 0, 30);
    assert_int_equal(lm_scene_resave(s, &world, &error), LM_OK);
    run_scene(s, world, 30, 60);
    double found = lm_scene_momentum_error(s, world);
    if (!(found < 1e-5)) fail_msg("momentum error %g", found);

    /* Behind the scene's back everything is stopped: that must show. */
    lm_body_info info;
    lm_body_id body = lm_scene_get_body(s, 0).id;
    lm_body_get_info(world, body, &info);
    lm_vec3 *x = calloc(info.particles, sizeof *x), *v = calloc(info.particles, sizeof *v);
    lm_body_get_positions(world, body, info.centre, x);
    assert_int_equal(lm_body_set_state(world, body, info.centre, x, v), LM_OK);
    assert_true(lm_scene_momentum_error(s, world) > 0.01);
    free(x);
    free(v);
    lm_world_destroy(world);
    lm_scene_close(s);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Expectations
 */

static uint32_t failures_of(const char *expect)
{
    char text[1200];
    snprintf(text, sizeof text,
             "{\"limber\": 1, \"gravity\": [0, -10, 0], \"bodies\": [{\"name\": \"a\", \"points\": [[0,0,0]], \"at\": "
             "[0, 10, 0]}, {\"name\": \"b\", \"points\": [[-1,0,0], [1,0,0]], \"state\": {\"scale\": [1.5, 1, 1]}, "
             "\"material\": {\"hertz\": 0}}], \"expect\": [%s]}",
             expect);
    lm_scene *s = open_scene(text);
    lm_world *world = make_scene_world(s);
    run_scene(s, world, 0, 60);
    uint32_t failures = lm_scene_check(s, world, NULL, NULL);
    lm_world_destroy(world);
    lm_scene_close(s);
    return failures;
}

static void test_expectations_hold_and_fail(void **state)
{
    (void)state;
    /* A second of free fall at 10 m/s²: 10 m/s, about 5 m down. */
    assert_int_equal(failures_of("{\"measure\": \"speed\", \"body\": \"a\", \"greater_than\": 9.99}"), 0);
    assert_int_equal(failures_of("{\"measure\": \"speed\", \"body\": \"a\", \"less_than\": 9.99}"), 1);
    assert_int_equal(failures_of("{\"measure\": \"height\", \"body\": \"a\", \"less_than\": 5.01}"), 0);
    assert_int_equal(failures_of("{\"measure\": \"height\", \"body\": \"a\", \"when\": \"max\", \"less_than\": 9.9}"),
                     1);
    assert_int_equal(failures_of("{\"measure\": \"speed\", \"body\": \"a\", \"at\": 0.5, \"less_than\": 5.01}"), 0);
    assert_int_equal(failures_of("{\"measure\": \"speed\", \"body\": \"a\", \"at\": 0.5, \"less_than\": 4.99}"), 1);
    assert_int_equal(failures_of("{\"measure\": \"speed\", \"at\": 2, \"less_than\": 1e9}"), 1); /* never reached */
    assert_int_equal(failures_of("{\"measure\": \"speed\", \"when\": \"mean\", \"less_than\": 5.2}"), 0);
    assert_int_equal(failures_of("{\"measure\": \"speed\", \"when\": \"mean\", \"less_than\": 4.9}"), 1);
    assert_int_equal(failures_of("{\"measure\": \"height\", \"less_than\": 0}"), 1); /* must hold for each body */
    assert_int_equal(failures_of("{\"measure\": \"height\", \"body\": \"b\", \"less_than\": 0}"), 0);
    assert_int_equal(failures_of("{\"measure\": \"speed\", \"body\": \"a\", \"less_than\": 1.01, \"times\": \"b\"}"),
                     0);
    assert_int_equal(failures_of("{\"measure\": \"speed\", \"body\": \"a\", \"less_than\": 0.99, \"times\": \"b\"}"),
                     1);
    /* Two points 3 m apart instead of 2: each 0.5 m off, a quarter of the size. */
    assert_int_equal(failures_of("{\"measure\": \"residual\", \"body\": \"b\", \"greater_than\": 0.249}"), 0);
    assert_int_equal(failures_of("{\"measure\": \"residual\", \"body\": \"b\", \"greater_than\": 0.251}"), 1);
    assert_int_equal(
        failures_of("{\"measure\": \"bodies\", \"equals\": 2}, {\"measure\": \"particles\", \"equals\": 3}, "
                    "{\"measure\": \"finite\", \"equals\": 1}"),
        0);
    assert_int_equal(failures_of("{\"measure\": \"momentum_error\", \"when\": \"max\", \"less_than\": 1e-5}"), 0);
    assert_int_equal(failures_of("{\"measure\": \"outside\", \"body\": \"b\", \"box\": {\"min\": [0, -9, -9], \"max\": "
                                 "[9, 9, 9]}, \"equals\": 1}"),
                     0);
}

/* Slices become bodies, less the lightest, and fly apart. */
static void test_pieces_become_bodies(void **state)
{
    (void)state;
    lm_scene *s = open_scene(
        "{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"loaf\", \"shape\": {\"name\": \"box\", "
        "\"size\": [1, 0.3, 0.3]}, \"lattice\": {\"spacing\": 0.05}, \"mass\": 2, \"mask\": 0}], \"events\": ["
        "{\"time\": 0.1, \"body\": \"loaf\", \"slice\": {\"at\": [-0.3, 0, 0], \"normal\": [1, 0, 0], \"count\": 3, "
        "\"distance\": 0.3}, \"split\": {\"push\": 1, \"most\": 3}}]}");
    lm_world *world = make_scene_world(s);
    lm_body_id bodies[8];
    lm_body_info info;
    run_scene(s, world, 0, 6);
    assert_int_equal(lm_world_get_bodies(world, bodies, 8), 1);
    run_scene(s, world, 6, 7);
    assert_int_equal(lm_world_get_bodies(world, bodies, 8), 3);
    double mass = 0.0, momentum = 0.0;
    for (int n = 0; n < 3; n++) {
        assert_int_equal(lm_body_get_info(world, bodies[n], &info), LM_OK);
        mass += (double)info.mass;
        momentum = fmax(momentum, fabs((double)info.velocity.x));
        assert_int_equal(info.pieces, 1);
    }
    assert_true(mass < 1.9 && mass > 1.4);
    assert_true(momentum > 0.9 && momentum < 1.1);
    lm_world_destroy(world);
    lm_scene_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeat_makes_a_grid),
        cmocka_unit_test(test_cluster_makers),
        cmocka_unit_test(test_zones),
        cmocka_unit_test(test_finer_surfaces),
        cmocka_unit_test(test_strain_of_a_matrix),
        cmocka_unit_test(test_pins_ride_and_events_happen),
        cmocka_unit_test(test_keyframes_are_mixed),
        cmocka_unit_test(test_drags_let_go),
        cmocka_unit_test(test_copies_weigh_what_their_volume_does),
        cmocka_unit_test(test_resave_and_load_change_nothing),
        cmocka_unit_test(test_momentum_is_accounted_for),
        cmocka_unit_test(test_pieces_become_bodies),
        cmocka_unit_test(test_expectations_hold_and_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
