/*
 * Skeletons in scenes: bones of a model and bones that the file lists, keyframes down the tree, loops, copies of another size,
 * what is measured of them, and what is wrong.
 */
#include "scene/internal.h"
#include "scene/measure.h"
#include "test/support/scenes.h"

#include <stdio.h>
#include <stdlib.h>

#define BAR                                                                                                            \
    "\"name\": \"bar\", \"shape\": {\"name\": \"box\", \"size\": [2, 0.5, 0.5], \"detail\": 4}, \"lattice\": "         \
    "{\"spacing\": 0.125, \"width\": 2}, \"material\": {\"damping_kind\": \"regional\"}, "
#define SCENE(body) "{\"limber\": 1, \"gravity\": [0, 0, 0], \"substeps\": 3, \"bodies\": [{" body "}]}"
#define TWO_BONES                                                                                                      \
    "{\"name\": \"fore\", \"parent\": \"upper\", \"joint\": [0, 0, 0], \"tail\": [0.9, 0, 0], \"keyframes\": "         \
    "[{\"time\": 0.5}, {\"time\": 1.5, \"rotate\": [0, 0, 90]}]}, "                                                    \
    "{\"name\": \"upper\", \"joint\": [-1, 0, 0], \"tail\": [-0.1, 0, 0], \"keyframes\": "                             \
    "[{\"time\": 0}, {\"time\": 1, \"rotate\": [0, 90, 0], \"move\": [0, 0.5, 0]}]}"

static lm_skeleton_id skeleton_of(const lm_scene *s, const lm_world *world, uint32_t body)
{
    lm_skeleton_id id;
    assert_int_equal(lm_body_get_skeleton(world, lm_scene_get_body(s, body).id, &id), LM_OK);
    assert_true(id.slot != 0);
    return id;
}

static void run(lm_scene *s, lm_world *world, uint32_t from, uint32_t to)
{
    for (uint32_t frame = from; frame < to; frame++) assert_int_equal(lm_scene_step(s, world, frame), LM_OK);
}

static void near_to(lm_dvec3 p, double x, double y, double z)
{
    if (fabs(p.x - x) + fabs(p.y - y) + fabs(p.z - z) > 1e-5)
        fail_msg("[%g, %g, %g], expected [%g, %g, %g]", p.x, p.y, p.z, x, y, z);
}

/* The child is listed before its parent; a quarter turn about y takes x to -z. */
static void test_keyframes(void **state)
{
    (void)state;
    lm_scene *s = open_scene(SCENE(BAR "\"skeleton\": {\"radius\": 0.1, \"bones\": [" TWO_BONES "]}"));
    lm_world *world = make_scene_world(s);
    lm_skeleton_id skeleton = skeleton_of(s, world, 0);
    lm_pose poses[2]; /* parents first */
    run(s, world, 0, 60);
    assert_int_equal(lm_skeleton_get_poses(world, skeleton, poses), LM_OK);
    near_to(poses[0].position, -1, 0.5, 0);
    near_to(poses[1].position, -1, 0.5, -1);
    assert_float_equal(fabsf(poses[0].rotation.y), sqrt(0.5), 1e-6);
    run(s, world, 60, 90);
    assert_int_equal(lm_skeleton_get_poses(world, skeleton, poses), LM_OK);
    near_to(poses[1].position, -1, 0.5, -1);
    /* The tail of the child: turned 90 degrees about z (x to y), then 90 about y with its parent. */
    lm_bone bones[2];
    assert_int_equal(lm_skeleton_get_bones(world, skeleton, bones), LM_OK);
    assert_float_equal(bones[1].tail.x, 0.9f, 1e-6f);
    lm_quat q = poses[1].rotation;
    lm_dvec3 up = lmi_rotation_apply((rotation){q.x, q.y, q.z, q.w}, vector(1, 0, 0));
    near_to(up, 0, 1, 0);
    lm_dvec3 across = lmi_rotation_apply((rotation){q.x, q.y, q.z, q.w}, vector(0, 1, 0));
    near_to(across, 0, 0, 1);
    lm_world_destroy(world);
    lm_scene_close(s);
}

static void test_loop_and_copies(void **state)
{
    (void)state;
    lm_scene *s = open_scene(SCENE(
        BAR "\"at\": [0, 3, 0], \"repeat\": {\"grid\": [2, 1, 1], \"spacing\": [4, 0, 0], \"vary\": {\"size\": 0.3}}, "
            "\"skeleton\": {\"radius\": 0.1, \"loop\": 1, \"smooth\": true, \"bones\": [{\"name\": \"b\", \"joint\": "
            "[0.5, 0, 0], \"keyframes\": [{\"time\": 0}, {\"time\": 0.5, \"move\": [0, 1, 0]}, {\"time\": 1}]}]}"));
    lm_world *world = make_scene_world(s);
    for (uint32_t body = 0; body < 2; body++) {
        const made_body *made = &s->bodies[body];
        double scale = made->scale;
        assert_true(scale != 1.0);
        lm_pose pose;
        run(s, world, body * 165, body * 165 + 135); /* 2.25 s, later 5 s */
        assert_int_equal(lm_skeleton_get_poses(world, skeleton_of(s, world, body), &pose), LM_OK);
        double share = body == 0 ? 0.5 : 0.0; /* half way of a smooth rise is a half */
        near_to(pose.position, made->at.x + 0.5 * scale, made->at.y + share * scale, 0);
        if (body == 0) run(s, world, 135, 165);
    }
    lm_world_destroy(world);
    lm_scene_close(s);
}

static double measure(const lm_scene *s, const lm_world *world, uint32_t index)
{
    double value = -1.0;
    const scene_expect *expect = LIST_ITEM(scene_expect, s->file->expect, index);
    assert_int_equal(lmi_measure_take(s, world, expect, 0, &value), LM_OK);
    return value;
}

/* Bones of the model; still they are at rest, and what moves is measured. */
static void test_model_bones(void **state)
{
    (void)state;
    lm_scene *s = open_scene(
        "{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"shape\": {\"name\": \"infant\"}, \"lattice\": "
        "{\"particles\": 700}, \"skeleton\": {\"radius\": 0.07, \"attach\": \"groups\", \"bones\": [{\"name\": "
        "\"head\", \"keyframes\": [{\"time\": 1}, {\"time\": 1.2, \"rotate\": [0, 40, 0]}]}]}}], \"expect\": ["
        "{\"measure\": \"held_error\", \"less_than\": 1}, {\"measure\": \"lag\", \"less_than\": 1}, "
        "{\"measure\": \"lag\", \"point\": [0, 0.5, 0], \"less_than\": 1}, {\"measure\": \"max_speed\", \"less_than\": "
        "1}]}");
    lm_world *world = make_scene_world(s);
    lm_skeleton_info info;
    assert_int_equal(lm_skeleton_get_info(world, skeleton_of(s, world, 0), &info), LM_OK);
    assert_int_equal(info.bones, 17);
    assert_true(info.held > 40 && info.held == info.particles); /* no fade: held or free */
    run(s, world, 0, 60);
    assert_true(measure(s, world, 0) < 1e-5);
    assert_true(measure(s, world, 1) < 1e-4);
    assert_true(measure(s, world, 3) < 1e-4);
    run(s, world, 60, 70);
    assert_true(measure(s, world, 0) < 1e-5);
    assert_true(measure(s, world, 1) > 0.02);
    assert_true(measure(s, world, 2) > 0.02);
    assert_true(measure(s, world, 3) > 0.1);
    lm_world_destroy(world);
    lm_scene_close(s);
}

/* Saved and loaded while it moves, it goes on as if nothing had been. */
static void test_resave(void **state)
{
    (void)state;
    const char *text = SCENE(BAR "\"skeleton\": {\"radius\": 0.1, \"fade\": 0.1, \"bones\": [" TWO_BONES "]}");
    uint64_t hashes[2];
    for (int k = 0; k < 2; k++) {
        lm_scene *s = open_scene(text);
        lm_scene_error error;
        lm_world *world = make_scene_world(s);
        run(s, world, 0, 40);
        if (k == 1) assert_int_equal(lm_scene_resave(s, &world, &error), LM_OK);
        run(s, world, 40, 70);
        hashes[k] = lm_world_hash(world);
        lm_world_destroy(world);
        lm_scene_close(s);
    }
    assert_true(hashes[0] == hashes[1]);
}

static void assert_wrong(const char *skeleton, const char *expected)
{
    char text[2048];
    snprintf(text, sizeof text, SCENE(BAR "\"skeleton\": {\"radius\": 0.1, %s}"), skeleton);
    lm_scene_error error = {""};
    lm_scene *s = lmi_read_scene(text, &error);
    lm_world *world = NULL;
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    if (s != NULL) assert_int_equal(lm_scene_make_world(s, &def, &world, &error), LM_ERROR_ARGUMENT);
    if (strstr(error.text, expected) == NULL) fail_msg("%s (expected %s)", error.text, expected);
    lm_scene_close(s);
}

#define BONE(name, more) "{\"name\": \"" name "\", \"joint\": [0, 0, 0]" more "}"

static void test_wrong(void **state)
{
    (void)state;
    assert_wrong("\"loop\": 0", "bodies[0].skeleton.loop: is 0 (expected a number above 0");
    assert_wrong("\"fade\": 0", "bodies[0].skeleton: has no bones");
    assert_wrong("\"bones\": []", "has no bones");
    assert_wrong("\"bones\": [{\"name\": \"arm\"}]",
                 "bones[0].name: \"arm\" is no bone of the model, and has no joint");
    assert_wrong("\"bones\": [" BONE("a", "") "," BONE("a", "") "]", "\"a\" is the name of bones[0] too");
    assert_wrong("\"bones\": [" BONE("arm", "") "," BONE("b", ", \"parent\": \"amr\"") "]",
                 "bones[1].parent: there is no bone \"amr\" (expected the name of a bone; did you mean \"arm\"?)");
    assert_wrong("\"bones\": [" BONE("a", ", \"parent\": \"a\"") "]", "bones[0].parent: \"a\" is its own ancestor");
    assert_wrong("\"bones\": [" BONE("a", ", \"parent\": \"c\"") "," BONE("b", ", \"parent\": \"a\"") "," BONE(
                     "c", ", \"parent\": \"b\"") "]",
                 "(expected a tree of bones)");
    assert_wrong("\"bones\": [" BONE("a", ", \"keyframes\": []") "]", "keyframes: is empty");
    assert_wrong("\"bones\": [" BONE("a", ", \"keyframes\": [{\"time\": 1}, {\"time\": 1}]") "]",
                 "keyframes[1].time: is 1 (expected later than the one before, 1)");
    assert_wrong("\"loop\": 2, \"bones\": [" BONE("a", ", \"keyframes\": [{\"time\": 3}]") "]",
                 "is 3 (expected at most the skeleton's loop, 2)");
    assert_wrong("\"animation\": \"walk\", \"bones\": [" BONE("a", "") "]",
                 "animation: is of a file, the body has none");
    assert_wrong("\"bones\": [{\"name\": \"a\", \"joint\": [0, 0]}]", "joint");
    assert_wrong("\"attach\": \"group\"", "did you mean \"groups\"?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keyframes), cmocka_unit_test(test_loop_and_copies), cmocka_unit_test(test_model_bones),
        cmocka_unit_test(test_resave),    cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
