/* What pictures are told about the bodies and colliders of scenes: colours, labels, surfaces fine enough to look at. */
#include "limber/shapes.h"
#include "test/support/scenes.h"

#include <stdio.h>
#include <stdlib.h>

/* A scene and its world, which must be good. */
typedef struct opened {
    lm_scene *scene;
    lm_world *world;
} opened;

static void make_world(opened *o)
{
    lm_world_destroy(o->world);
    o->world = make_scene_world(o->scene);
}

static opened open_plain(const char *text)
{
    opened o = {open_scene(text), NULL};
    make_world(&o);
    return o;
}

/* The same with surfaces to be looked at. */
static opened open_fine(const char *text)
{
    opened o = open_plain(text);
    lm_scene_want_fine_surfaces(o.scene, true);
    make_world(&o);
    return o;
}

static void close_scene(opened *o)
{
    lm_world_destroy(o->world);
    lm_scene_close(o->scene);
}

static void assert_colour(lm_scene_colours colours, uint8_t r, uint8_t g, uint8_t b)
{
    assert_int_equal(colours.count, 1);
    assert_int_equal(colours.rgb[0], r);
    assert_int_equal(colours.rgb[1], g);
    assert_int_equal(colours.rgb[2], b);
}

static void test_a_colour_is_read(void **state)
{
    (void)state;
    opened o = open_plain(
        "{\"limber\": 1, \"bodies\": [{\"mask\": 0, \"shape\": {\"name\": \"box\"}, \"colour\": \"#0a8fF3\", "
        "\"label\": \"blue\"}, {\"points\": [[0, 0, 0]]}]}");
    assert_colour(lm_scene_get_colours(o.scene, 0), 0x0a, 0x8f, 0xf3);
    assert_string_equal(lm_scene_get_body(o.scene, 0).label, "blue");
    assert_int_equal(lm_scene_get_colours(o.scene, 1).count, 0);
    assert_null(lm_scene_get_body(o.scene, 1).label);
    close_scene(&o);
}

static void test_copies_take_colours_in_turn(void **state)
{
    (void)state;
    opened o = open_plain(
        "{\"limber\": 1, \"bodies\": [{\"mask\": 0, \"shape\": {\"name\": \"box\"}, \"colours\": [\"#010203\", "
        "\"#040506\", \"#070809\"], \"repeat\": {\"grid\": [5, 1, 1], \"spacing\": [2, 2, 2]}}]}");
    for (uint32_t i = 0; i < 5; i++) {
        uint8_t first = (uint8_t)(1 + 3 * (i % 3));
        assert_colour(lm_scene_get_colours(o.scene, i), first, first + 1, first + 2);
    }
    close_scene(&o);
}

/* A model's own colours go with the surface that is drawn, the finer one where there is one, and stay when the world is made
 * a second time. */
static void test_models_bring_their_own(void **state)
{
    (void)state;
    opened o = open_plain(
        "{\"limber\": 1, \"bodies\": [{\"mask\": 0, \"shape\": {\"name\": \"duck\", \"detail\": 8}, \"surface\": "
        "{\"detail\": 16}}, {\"mask\": 0, \"shape\": {\"name\": \"duck\", \"detail\": 8}}]}");
    uint32_t details[2] = {16, 8};
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 2; i++) {
            lm_shape_def def = {"duck", lm_shape_natural_size("duck"), details[i]};
            lm_shape_mesh mesh;
            assert_int_equal(lm_shape_make_mesh(&def, &mesh), LM_OK);
            lm_scene_colours colours = lm_scene_get_colours(o.scene, i);
            lm_body_info info;
            assert_int_equal(lm_body_get_info(o.world, lm_scene_get_body(o.scene, i).id, &info), LM_OK);
            assert_int_equal(colours.count, info.skin_vertices);
            assert_int_equal(colours.count, mesh.vertex_count);
            assert_memory_equal(colours.rgb, mesh.colours, 3u * (size_t)mesh.vertex_count);
            lm_shape_mesh_free(&mesh);
        }
        lm_world_destroy(o.world);
        lm_scene_error error;
        lm_world_def def = lm_world_def_default();
        assert_int_equal(lm_scene_make_world(o.scene, &def, &o.world, &error), LM_OK);
    }
    close_scene(&o);
}

static void test_colliders(void **state)
{
    (void)state;
    opened o =
        open_plain("{\"limber\": 1, \"colliders\": [{\"shape\": \"plane\"}, {\"shape\": \"sphere\", \"at\": [0, 3, 0], "
                   "\"colour\": \"#ffffff\"}]}");
    assert_int_equal(lm_scene_get_contents(o.scene).colliders, 2);
    assert_int_equal(lm_scene_get_collider(o.scene, 0).colour.count, 0);
    lm_scene_collider_made sphere = lm_scene_get_collider(o.scene, 1);
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
        lm_scene_error error;
        snprintf(text, sizeof text, "{\"limber\": 1, \"bodies\": [{\"mask\": 0, \"shape\": {\"name\": \"box\"}, %s}]}",
                 wrong[i].field);
        assert_null(lm_scene_open_text("s.json", text, strlen(text), NULL, 0, &error));
        if (strstr(error.text, wrong[i].error) == NULL) fail_msg("%s", error.text);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Fine surfaces
 */

static lm_body_info info_of(const opened *o, uint32_t index)
{
    lm_body_info info;
    assert_int_equal(lm_body_get_info(o->world, lm_scene_get_body(o->scene, index).id, &info), LM_OK);
    return info;
}

static uint64_t hash_after(opened *o, uint32_t frames)
{
    for (uint32_t frame = 0; frame < frames; frame++) assert_int_equal(lm_scene_step(o->scene, o->world, frame), LM_OK);
    return lm_world_hash(o->world);
}

static const char simple[] =
    "{\"limber\": 1, \"bodies\": [{\"mask\": 0, \"shape\": {\"name\": \"box\"}, \"at\": [0, 0.6, 0]}, {\"mask\": 0, "
    "\"shape\": {\"name\": "
    "\"penguin\"}, \"density\": 300, \"at\": [2, 0.7, 0], \"state\": {\"scale\": [1, 0.8, 1.1]}, \"repeat\": "
    "{\"grid\": [1, 1, 2], \"spacing\": [1, 1, 1], \"vary\": {\"size\": 0.4, \"rotate\": [90, 90, 90]}}}, {\"points\": "
    "[[9, 9, 9]]}], \"colliders\": [{\"shape\": \"plane\"}]}";

static void test_fine_surfaces_change_nothing_but_the_surface(void **state)
{
    (void)state;
    opened plain = open_plain(simple), fine = open_fine(simple);
    assert_int_equal(info_of(&plain, 0).skin_triangles, 12 * 4 * 4);
    assert_int_equal(info_of(&fine, 0).skin_triangles, 12 * 24 * 24);
    assert_in_range(info_of(&fine, 1).skin_triangles, 15000, 25000);
    assert_int_equal(info_of(&fine, 3).skin_triangles, 0);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(info_of(&plain, i).mass == info_of(&fine, i).mass);
        assert_int_equal(info_of(&plain, i).particles, info_of(&fine, i).particles);
    }
    assert_true(hash_after(&plain, 60) == hash_after(&fine, 60));
    close_scene(&plain);
    close_scene(&fine);
}

static void test_colours_follow_the_surface(void **state)
{
    (void)state;
    opened o = open_fine(simple);
    assert_int_equal(lm_scene_get_colours(o.scene, 1).count, info_of(&o, 1).skin_vertices);
    lm_scene_want_fine_surfaces(o.scene, false);
    make_world(&o);
    assert_in_range(info_of(&o, 1).skin_vertices, 10, 1000);
    assert_int_equal(lm_scene_get_colours(o.scene, 1).count, info_of(&o, 1).skin_vertices);
    close_scene(&o);
}

/* What the file says of a surface stays; one without gets one; one that is finer by itself keeps it. */
static void test_given_surfaces_stay(void **state)
{
    (void)state;
    opened o = open_fine(
        "{\"limber\": 1, \"bodies\": [{\"mask\": 0, \"shape\": {\"name\": \"box\"}, \"surface\": {\"detail\": 5}}, "
        "{\"mask\": 0, \"shape\": {\"name\": \"box\"}, \"surface\": {\"skin\": \"regions\"}}, "
        "{\"mask\": 0, \"shape\": {\"name\": \"box\", \"detail\": 30}}, "
        "{\"mask\": 0, \"shape\": {\"name\": \"box\", \"size\": [4, 0.2, 0.2]}}]}");
    assert_int_equal(info_of(&o, 0).skin_triangles, 12 * 5 * 5);
    assert_int_equal(info_of(&o, 1).skin_triangles, 12 * 4 * 4);
    assert_int_equal(info_of(&o, 2).skin_triangles, 12 * 30 * 30);
    assert_int_equal(info_of(&o, 3).skin_triangles, 4 * (2 * 96 * 5 + 5 * 5)); /* five edges across a thin stick */
    close_scene(&o);
}

static uint32_t triangles_of_copies(const char *shape, uint32_t copies)
{
    char text[256];
    snprintf(
        text, sizeof text,
        "{\"limber\": 1, \"bodies\": [{\"mask\": 0, \"shape\": {\"name\": \"%s\"}, \"repeat\": {\"grid\": [%u, 1, 1], "
        "\"spacing\": [1, 1, 1]}}]}",
        shape, (unsigned)copies);
    opened o = open_fine(text);
    uint32_t each = info_of(&o, 0).skin_triangles;
    close_scene(&o);
    return each;
}

static void test_many_bodies_share_the_triangles(void **state)
{
    (void)state;
    uint32_t few = triangles_of_copies("box", 40), more = triangles_of_copies("box", 100);
    assert_int_equal(few, 12 * 24 * 24);
    assert_in_range(more, 2000, 3000);
    assert_in_range(triangles_of_copies("penguin", 100), 700, 3000);
    assert_int_equal(triangles_of_copies("box", 5000), 12 * 4 * 4); /* what they have anyway */
}

/* How far the surface reaches beyond the box around the particles, along any axis. */
static double overhang(const opened *o)
{
    lm_body_info info = info_of(o, 0);
    lm_body_id id = lm_scene_get_body(o->scene, 0).id;
    lm_dvec3 zero = {0, 0, 0};
    float(*particles)[3] = calloc(info.particles, sizeof *particles);
    float(*surface)[3] = calloc(info.skin_vertices, sizeof *surface);
    assert_int_equal(lm_body_get_positions(o->world, id, zero, (lm_vec3 *)particles), LM_OK);
    assert_int_equal(lm_body_get_skin(o->world, id, zero, (lm_vec3 *)surface, NULL), LM_OK);
    double most = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        float low = particles[0][axis], high = low;
        for (uint32_t i = 1; i < info.particles; i++) {
            low = particles[i][axis] < low ? particles[i][axis] : low;
            high = particles[i][axis] > high ? particles[i][axis] : high;
        }
        for (uint32_t i = 0; i < info.skin_vertices; i++) {
            double beyond = surface[i][axis] > high ? surface[i][axis] - high : low - surface[i][axis];
            assert_true(beyond == beyond);
            most = beyond > most ? beyond : most;
        }
    }
    free(particles);
    free(surface);
    return most;
}

/* A fine surface on a handful of particles, dropped on a floor: a box stays between its corners (but for 3 cm while it is
 * bent by the blow), round things bulge out of their few particles little more than at rest, sheets and sticks do not
 * fray. */
static void test_few_particles_carry_a_fine_surface(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        double most; /* overhang, metres */
    } bodies[] = {
        {"\"name\": \"box\", \"detail\": 1", 0.03},           {"\"name\": \"box\", \"size\": [1, 0.02, 1]", 0.01},
        {"\"name\": \"box\", \"size\": [2, 0.1, 0.1]", 0.02}, {"\"name\": \"sphere\", \"detail\": 1", 0.12},
        {"\"name\": \"cylinder\", \"detail\": 1", 0.08},      {"\"name\": \"torus\", \"size\": [1, 0.1, 1]", 0.02},
        {"\"name\": \"head\", \"detail\": 1", 0.23},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        char text[320];
        snprintf(text, sizeof text,
                 "{\"limber\": 1, \"bodies\": [{\"mask\": 0, \"shape\": {%s}, \"at\": [0, 1.5, 0], \"rotate\": [20, "
                 "30, 10]}], "
                 "\"colliders\": [{\"shape\": \"plane\"}]}",
                 bodies[i].shape);
        opened o = open_fine(text);
        for (uint32_t frame = 0; frame < 120; frame++) {
            assert_int_equal(lm_scene_step(o.scene, o.world, frame), LM_OK);
            double beyond = overhang(&o);
            if (beyond > bodies[i].most) fail_msg("%s: %g m in frame %u", bodies[i].shape, beyond, (unsigned)frame);
        }
        close_scene(&o);
    }
}

static void ignore_line(const char *line, void *user)
{
    (void)line;
    (void)user;
}

/* Volume is measured within the surface as drawn, and compared with that. */
static void test_volume_is_that_of_the_fine_surface(void **state)
{
    (void)state;
    opened o = open_fine(
        "{\"limber\": 1, \"gravity\": [0, 0, 0], \"frames\": 2, \"bodies\": [{\"mask\": 0, \"shape\": {\"name\": "
        "\"sphere\", \"detail\": 2}}], \"expect\": [{\"measure\": \"volume\", \"greater_than\": 0.999}, "
        "{\"measure\": \"volume\", \"less_than\": 1.001}]}");
    hash_after(&o, 2);
    assert_int_equal(lm_scene_check(o.scene, o.world, ignore_line, NULL), 0);
    close_scene(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_colour_is_read),
        cmocka_unit_test(test_copies_take_colours_in_turn),
        cmocka_unit_test(test_models_bring_their_own),
        cmocka_unit_test(test_colliders),
        cmocka_unit_test(test_wrong_colours_are_told_exactly),
        cmocka_unit_test(test_fine_surfaces_change_nothing_but_the_surface),
        cmocka_unit_test(test_colours_follow_the_surface),
        cmocka_unit_test(test_given_surfaces_stay),
        cmocka_unit_test(test_many_bodies_share_the_triangles),
        cmocka_unit_test(test_few_particles_carry_a_fine_surface),
        cmocka_unit_test(test_volume_is_that_of_the_fine_surface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
