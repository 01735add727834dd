/*
 * Ten soft boxes on top of each other: they stand as long as one looks, and sleep when they may.
 *
 * How soft they can be follows from statics. A box of mass m, width w and height h, whose particles are pulled to their goals
 * with m alpha/h_s² (h_s: the substep), bends over by an angle under a moment of m alpha/h_s² w²/144. A column of N such
 * boxes buckles under its own weight where 7.84 alpha w² / (144 h_s² h N³ g) falls to 1. Here it is about 4, and the lowest box
 * is squashed by some hundredths.
 */
#include "test/support/things.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES = 10 };

static const double WIDTH = 2.0, HEIGHT = 0.4;
static int seconds = 8; /* the first argument, where there is one */

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* A little beside each other and turned, but the same in every run. */
static lm_world *stack(sampling kind, lm_body_id bodies[BOXES])
{
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 8));
    lm_collider_def floor_def = lm_collider_def_default();
    lm_collider_id collider;
    floor_def.friction = 0.8f;
    assert_ok(lm_collider_create(world, &floor_def, &collider));
    random_state random = {77};
    for (int k = 0; k < BOXES; k++) {
        thing_def def = thing_default(kind);
        double x = random_range(&random, -0.005, 0.005), z = random_range(&random, -0.005, 0.005);
        double turn = random_range(&random, -0.03, 0.03);
        def.size = (lm_vec3){(float)WIDTH, (float)HEIGHT, (float)WIDTH};
        def.pose.position = (lm_dvec3){x, HEIGHT * (k + 0.5), z};
        def.pose.rotation = quaternion(ref_v(0, turn, 0));
        def.mask = 1;
        def.material = soft_material(0.8, 0.0);
        def.material.hertz = 43.0f;        /* alpha 0.32 */
        def.material.damping_ratio = 1.5f; /* else the tower bounces for minutes */
        bodies[k] = thing_make(world, &def);
    }
    return world;
}

static double across(lm_dvec3 a, lm_dvec3 b) { return sqrt((a.x - b.x) * (a.x - b.x) + (a.z - b.z) * (a.z - b.z)); }

/* A hundredth of a box, sideways and in height, once the tower has settled. */
static void ten_boxes_stand(void **context)
{
    (void)context;
    for (sampling kind = SKINNED; kind <= LATTICE; kind++) {
        lm_body_id bodies[BOXES];
        lm_world *world = stack(kind, bodies);
        lm_dvec3 start[BOXES], settled[BOXES];
        double drift = 0.0, sunk = 0.0, fastest = 0.0;
        for (int k = 0; k < BOXES; k++) start[k] = info_of(world, bodies[k]).centre;
        steps(world, 3 * 60);
        for (int k = 0; k < BOXES; k++) settled[k] = info_of(world, bodies[k]).centre;
        for (int second = 3; second < seconds; second++) {
            steps(world, 60);
            for (int k = 0; k < BOXES; k++) {
                lm_body_info info = info_of(world, bodies[k]);
                drift = fmax(drift, across(info.centre, start[k]));
                sunk = fmax(sunk, fabs(info.centre.y - settled[k].y));
            }
        }
        for (int k = 0; k < BOXES; k++) fastest = fmax(fastest, info_of(world, bodies[k]).max_speed);
        double squash = 1.0 - info_of(world, bodies[0]).centre.y / start[0].y;
        print_message("%s: %d s, drift %g, sinks %g, at most %g m/s, the lowest squashed by %g\n", sampling_names[kind],
                      seconds, drift, sunk, fastest, squash);
        assert_at_most(drift, 0.01 * WIDTH);
        assert_at_most(sunk, 0.01 * WIDTH);
        assert_at_most(fastest, 0.05);
        assert_at_most(0.005, squash); /* soft indeed */
        lm_world_destroy(world);
    }
}

static void read_all(const lm_world *world, const lm_body_id *bodies, lm_vec3 *to)
{
    for (int k = 0; k < BOXES; k++) {
        assert_ok(lm_body_get_positions(world, bodies[k], lm_dvec3_zero(), to));
        to += info_of(world, bodies[k]).particles;
    }
}

static void ten_boxes_sleep(void **context)
{
    (void)context;
    for (sampling kind = SKINNED; kind <= LATTICE; kind++) {
        lm_body_id bodies[BOXES];
        lm_world *world = stack(kind, bodies);
        lm_sleep sleep = lm_sleep_default();
        sleep.enabled = true;
        assert_ok(lm_world_set_sleep(world, &sleep));
        steps(world, 5 * 60);
        size_t count = 0;
        for (int k = 0; k < BOXES; k++) {
            assert_false(lm_body_is_awake(world, bodies[k]));
            count += info_of(world, bodies[k]).particles;
        }
        lm_vec3 *before = malloc(count * sizeof *before), *after = malloc(count * sizeof *after);
        read_all(world, bodies, before);
        steps(world, 60);
        read_all(world, bodies, after);
        assert_memory_equal(before, after, count * sizeof *before);
        free(before);
        free(after);
        lm_world_destroy(world);
    }
}

int main(int argc, char **argv)
{
    seconds = argc > 1 ? atoi(argv[1]) : seconds;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_boxes_stand),
        cmocka_unit_test(ten_boxes_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
