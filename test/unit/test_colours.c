/* Colours and labels of scenes: what pictures are told about bodies and colliders. */
#include "scene/scene.h"
#include "shapes/shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A scene and its world, which must be good. */
typedef struct opened {
    scene *scene;
    lm_world *world;
} opened;

static opened open_scene(const char *text)
{
    opened o = {NULL, NULL};
    scene_error error;
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    o.scene = scene_open_text("s.json", text, strlen(text), NULL, 0, &error);
    if (o.scene == NULL || scene_make_world(o.scene, &def, &o.world, &error) != LM_OK) fail_msg("%s", error.text);
    return o;
}

static void close_scene(opened *o)
{
    lm_world_destroy(o->world);
    scene_close(o->scene);
}

static void assert_colour(scene_colours colours, uint8_t r, uint8_t g, uint8_t b)
{
    assert_int_equal(colours.count, 1);
    assert_int_equal(colours.rgb[0], r);
    assert_int_equal(colours.rgb[1], g);
    assert_int_equal(colours.rgb[2], b);
}

static void test_a_colour_is_read(void **state)
{
    (void)state;
    opened o = open_scene("{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"colour\": \"#0a8fF3\", "
                          "\"label\": \"blue\"}, {\"points\": [[0, 0, 0]]}]}");
    assert_colour(scene_get_colours(o.scene, 0), 0x0a, 0x8f, 0xf3);
    assert_string_equal(scene_get_body(o.scene, 0).label, "blue");
    assert_int_equal(scene_get_colours(o.scene, 1).count, 0);
    assert_null(scene_get_body(o.scene, 1).label);
    close_scene(&o);
}

static void test_copies_take_colours_in_turn(void **state)
{
    (void)state;
    opened o = open_scene("{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"colours\": [\"#010203\", "
                          "\"#040506\", \"#070809\"], \"repeat\": {\"grid\": [5, 1, 1], \"spacing\": [2, 2, 2]}}]}");
    for (uint32_t i = 0; i < 5; i++) {
        uint8_t first = (uint8_t)(1 + 3 * (i % 3));
        assert_colour(scene_get_colours(o.scene, i), first, first + 1, first + 2);
    }
    close_scene(&o);
}

/* A model's own colours go with the surface that is drawn, the finer one where there is one, and stay when the world is made
 * a second time. */
static void test_models_bring_their_own(void **state)
{
    (void)state;
    opened o = open_scene("{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"duck\", \"detail\": 8}, \"surface\": "
                          "{\"detail\": 16}}, {\"shape\": {\"name\": \"duck\", \"detail\": 8}}]}");
    uint32_t details[2] = {16, 8};
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 2; i++) {
            shape_def def = {"duck", shape_natural_size("duck"), details[i]};
            shape_mesh mesh;
            assert_int_equal(shape_make_mesh(&def, &mesh), LM_OK);
            scene_colours colours = scene_get_colours(o.scene, i);
            lm_body_info info;
            assert_int_equal(lm_body_get_info(o.world, scene_get_body(o.scene, i).id, &info), LM_OK);
            assert_int_equal(colours.count, info.skin_vertices);
            assert_int_equal(colours.count, mesh.vertex_count);
            assert_memory_equal(colours.rgb, mesh.colours, 3u * (size_t)mesh.vertex_count);
            shape_mesh_free(&mesh);
        }
        lm_world_destroy(o.world);
        scene_error error;
        lm_world_def def = lm_world_def_default();
        assert_int_equal(scene_make_world(o.scene, &def, &o.world, &error), LM_OK);
    }
    close_scene(&o);
}

static void test_colliders(void **state)
{
    (void)state;
    opened o =
        open_scene("{\"limber\": 1, \"colliders\": [{\"shape\": \"plane\"}, {\"shape\": \"sphere\", \"at\": [0, 3, 0], "
                   "\"colour\": \"#ffffff\"}]}");
    assert_int_equal(scene_get_contents(o.scene).colliders, 2);
    assert_int_equal(scene_get_collider(o.scene, 0).colour.count, 0);
    scene_collider_made sphere = scene_get_collider(o.scene, 1);
    assert_colour(sphere.colour, 255, 255, 255);
    lm_pose pose;
    assert_int_equal(lm_collider_get_pose(o.world, sphere.id, &pose), LM_OK);
    assert_true(pose.position.y == 3.0);
    close_scene(&o);
}

static void test_wrong_colours_are_told_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *field, *error;
    } wrong[] = {
        {"\"colour\": \"red\"", "is \"red\" (expected a colour as \"#rrggbb\")"},
        {"\"colour\": \"#12345\"", "is \"#12345\" (expected a colour as \"#rrggbb\")"},
        {"\"colour\": \"#12345g\"", "is \"#12345g\" (expected a colour as \"#rrggbb\")"},
        {"\"colour\": \"1234567\"", "is \"1234567\" (expected a colour as \"#rrggbb\")"},
        {"\"colour\": 5", "is 5 (expected a colour as \"#rrggbb\")"},
        {"\"colours\": [\"#000000\", \"#\"]", "bodies[0].colours[1]: is \"#\" (expected a colour as \"#rrggbb\")"},
        {"\"colours\": []", "bodies[0].colours: is empty (expected at least one)"},
        {"\"colour\": \"#000000\", \"colours\": [\"#000000\"]", "\"colour\" and \"colours\" exclude each other"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[256];
        scene_error error;
        snprintf(text, sizeof text, "{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, %s}]}",
                 wrong[i].field);
        assert_null(scene_open_text("s.json", text, strlen(text), NULL, 0, &error));
        if (strstr(error.text, wrong[i].error) == NULL) fail_msg("%s", error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_colour_is_read),
        cmocka_unit_test(test_copies_take_colours_in_turn),
        cmocka_unit_test(test_models_bring_their_own),
        cmocka_unit_test(test_colliders),
        cmocka_unit_test(test_wrong_colours_are_told_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
