/*
 * Height maps and meshes in scene files: formulas, values, lists and models become colliders, and what is wrong is said
 * exactly.
 */
#include "scene/formula.h"
#include "test/support/scenes.h"
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

/* The definition of the only collider of a scene; its arrays live as long as the world. */
static lm_world *make_collider(const char *text, lm_collider_def *def)
{
    lm_scene *s = open_scene(text);
    lm_world *world = make_scene_world(s);
    lm_collider_id id;
    assert_int_equal(lm_world_get_colliders(world, &id, 1), 1);
    assert_ok(lm_collider_get_def(world, id, def));
    lm_scene_close(s);
    return world;
}

static double value_of(const char *text, double x, double z)
{
    formula_error error;
    double value;
    if (!lmi_formula_value(text, x, z, &value, &error)) fail_msg("%s: %u: %s", text, error.column, error.text);
    return value;
}

static void formulas_have_their_values(void **context)
{
    (void)context;
    assert_near(value_of("1 + 2 * 3 - 4 / 8", 0, 0), 6.5, 0.0);
    assert_near(value_of(" (1+2)*3 ", 0, 0), 9.0, 0.0);
    assert_near(value_of("x - z - 1", 5, 2), 2.0, 0.0);
    assert_near(value_of("-x^2 + 2^3", 3, 0), 17.0, 0.0); /* a sign belongs to its value */
    assert_near(value_of("1.5e1 + 2E-1", 0, 0), 15.2, 1e-12);
    assert_near(value_of("sin(pi / 6) + cos(0) + exp(1)", 0, 0), 1.5 + 2.718281828459045, 1e-9);
    assert_near(value_of("sqrt(x) + abs(z) + floor(2.7)", 16, -3), 9.0, 0.0);
    assert_near(value_of("max(0, 1 - sqrt(x*x + z*z)) + min(x, z)", 0.6, 0.0), 0.4, 1e-12);
}

static void wrong_formulas_are_told(void **context)
{
    (void)context;
    static const struct {
        const char *text;
        unsigned column;
    } wrong[] = {{"", 1},       {"1 +", 4},   {"y", 1},     {"sin x", 5}, {"(1", 3},   {"1 2", 3},
                 {"min(1)", 6}, {"2^0.5", 6}, {"x @ z", 3}, {"1..2", 1},  {"sin(", 5}, {"x)", 2}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        formula_error error;
        double value;
        assert_false(lmi_formula_value(wrong[k].text, 0, 0, &value, &error));
        if (error.column != wrong[k].column) fail_msg("%s: column %u: %s", wrong[k].text, error.column, error.text);
        assert_true(error.text[0] != '\0');
    }
    char deep[2001];
    memset(deep, '(', 2000);
    deep[2000] = '\0';
    formula_error error;
    double value;
    assert_false(lmi_formula_value(deep, 0, 0, &value, &error));
    memset(deep, '-', 2000);
    assert_false(lmi_formula_value(deep, 0, 0, &value, &error));
}

static void height_maps_are_made(void **context)
{
    (void)context;
    lm_collider_def def;
    lm_world *world = make_collider("{\"limber\": 1, \"colliders\": [{\"shape\": \"heights\", \"heights\": "
                                    "{\"columns\": 5, \"rows\": 3, \"spacing\": 0.5, \"formula\": \"x + 10 * z\"}}]}",
                                    &def);
    assert_int_equal(def.shape, LM_SHAPE_HEIGHTS);
    assert_int_equal(def.heights.counts[0], 5);
    assert_int_equal(def.heights.counts[1], 3);
    assert_near(def.heights.spacing, 0.5, 0.0);
    for (int i = 0; i < 15; i++) assert_near(def.heights.heights[i], 0.5 * (i % 5 - 2) + 5.0 * (i / 5 - 1), 1e-6);
    lm_world_destroy(world);
    world = make_collider("{\"limber\": 1, \"colliders\": [{\"shape\": \"heights\", \"heights\": "
                          "{\"columns\": 3, \"rows\": 2, \"values\": [1, 2, 3, 4, 5, 6]}}]}",
                          &def);
    assert_near(def.heights.heights[4], 5.0, 0.0);
    assert_near(def.heights.spacing, 0.25, 0.0);
    lm_world_destroy(world);
}

/* Two by two pixels, 0 and 255 above 51 and 204, in a stored block. */
static const unsigned char four_pixels[] = {
    0x89, 'P',  'N',  'G',  '\r', '\n', 0x1a, '\n', 0,    0,    0,    13,   'I',  'H',  'D',  'R',  0,    0,    0,
    2,    0,    0,    0,    2,    8,    0,    0,    0,    0,    0x57, 0xdd, 0x52, 0xf8, 0,    0,    0,    17,   'I',
    'D',  'A',  'T',  0x78, 1,    1,    6,    0,    0xf9, 0xff, 0,    0,    0xff, 0,    0x33, 0xcc, 0x05, 0x34, 0x01,
    0xff, 0x77, 0xbb, 0x0c, 0x53, 0,    0,    0,    0,    'I',  'E',  'N',  'D',  0xae, 0x42, 0x60, 0x82};

static void height_maps_from_pictures(void **context)
{
    (void)context;
    FILE *file = fopen("test_scene_solids.png", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(four_pixels, 1, sizeof four_pixels, file), sizeof four_pixels);
    assert_int_equal(fclose(file), 0);
    lm_collider_def def;
    lm_world *world = make_collider("{\"limber\": 1, \"colliders\": [{\"shape\": \"heights\", \"heights\": "
                                    "{\"file\": \"test_scene_solids.png\", \"size\": 3, \"height\": 2.5}}]}",
                                    &def);
    assert_int_equal(def.heights.counts[0], 2);
    assert_int_equal(def.heights.counts[1], 2);
    assert_near(def.heights.spacing, 3.0, 0.0);
    static const double heights[4] = {0.0, 2.5, 0.5, 2.0};
    for (int i = 0; i < 4; i++) assert_near(def.heights.heights[i], heights[i], 1e-6);
    lm_world_destroy(world);
    world = make_collider("{\"limber\": 1, \"colliders\": [{\"shape\": \"heights\", \"heights\": "
                          "{\"columns\": 5, \"rows\": 3, \"size\": 2, \"formula\": \"x\"}}]}",
                          &def);
    assert_near(def.heights.spacing, 0.5, 0.0);
    assert_near(def.heights.heights[4], 1.0, 0.0);
    lm_world_destroy(world);
    remove("test_scene_solids.png");
}

static void wrong_pictures_are_told(void **context)
{
    (void)context;
    static const struct {
        const char *heights, *expected;
    } wrong[] = {
        {"\"file\": \"nowhere.png\"", "s.json:1:70: colliders[0].heights.file: nowhere.png: No such file or directory"},
        {"\"file\": \"a.png\", \"columns\": 3",
         "s.json:1:79: colliders[0].heights: \"file\" and \"columns\" exclude each other"},
        {"\"file\": \"a.png\", \"formula\": \"x\"",
         "s.json:1:79: colliders[0].heights: \"formula\" and \"file\" exclude each other"},
        {"\"formula\": \"x\", \"height\": 2",
         "s.json:1:78: colliders[0].heights: \"height\" and \"formula\" exclude each other"},
        {"\"formula\": \"x\", \"size\": 2, \"spacing\": 1",
         "s.json:1:89: colliders[0].heights: \"spacing\" and \"size\" exclude each other"},
        {"\"size\": 2",
         "s.json:1:61: colliders[0].heights: incomplete (expected \"values\" or \"formula\" or \"file\")"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char text[300];
        snprintf(text, sizeof text, "{\"limber\": 1, \"colliders\": [{\"shape\": \"heights\", \"heights\": {%s}}]}",
                 wrong[k].heights);
        lm_scene_error error = {""};
        lm_scene *s = lmi_read_scene(text, &error);
        lm_world_def def = lm_world_def_default();
        lm_world *world = NULL;
        if (s != NULL) assert_int_not_equal(lm_scene_make_world(s, &def, &world, &error), LM_OK);
        assert_string_equal(error.text, wrong[k].expected);
        lm_scene_close(s);
    }
}

static void meshes_are_made(void **context)
{
    (void)context;
    lm_collider_def def;
    lm_world *world =
        make_collider("{\"limber\": 1, \"colliders\": [{\"shape\": \"mesh\", \"vertices\": [[0,0,0], [1,0,0], "
                      "[0,2,0], [0,0,1]], \"triangles\": [[0, 1, 2], [0, 3, 1]]}]}",
                      &def);
    assert_int_equal(def.shape, LM_SHAPE_MESH);
    assert_int_equal(def.mesh.triangle_count, 2);
    assert_int_equal(def.mesh.triangles[4], 3);
    assert_near(def.mesh.vertices[2].y, 2.0, 0.0);
    assert_false(def.mesh.solid);
    lm_world_destroy(world);
    world = make_collider(
        "{\"limber\": 1, \"colliders\": [{\"shape\": \"mesh\", \"model\": {\"name\": \"torus\", \"detail\": 8}, "
        "\"solid\": true, \"at\": [0, 1, 0]}]}",
        &def);
    assert_true(def.mesh.solid && def.mesh.triangle_count > 50);
    assert_near(def.pose.position.y, 1.0, 0.0);
    lm_world_destroy(world);
}

static void wrong_solids_are_told_exactly(void **context)
{
    (void)context;
    static const struct {
        const char *collider, *error;
        bool opens; /* what is wrong shows when the world is made */
    } wrong[] = {
        {"{\"shape\": \"heights\"}", "is a height map without heights", false},
        {"{\"shape\": \"heights\", \"heights\": {}}", "incomplete (expected \"values\" or \"formula\" or \"file\")",
         false},
        {"{\"shape\": \"heights\", \"heights\": {\"columns\": 2, \"rows\": 2, \"values\": [1, 2, 3]}}",
         "has 3 numbers (expected 2 columns times 2 rows)", false},
        {"{\"shape\": \"mesh\"}", "is a mesh without triangles", false},
        {"{\"shape\": \"mesh\", \"vertices\": [[0,0,0]]}", "is alone", false},
        {"{\"shape\": \"mesh\", \"vertices\": [[0,0,0]], \"triangles\": [[0, 0]]}", "has no three indices", false},
        {"{\"shape\": \"heights\", \"heights\": {\"formula\": \"x +\"}}", "is wrong at its character 4", true},
        {"{\"shape\": \"heights\", \"heights\": {\"formula\": \"1 / x\", \"columns\": 3}}", "expected at most 1000000",
         true},
        {"{\"shape\": \"mesh\", \"vertices\": [[0,0,0]], \"triangles\": [[0, 1, 2]]}", "index beyond its vertices",
         true},
        {"{\"shape\": \"mesh\", \"mesh\": {\"file\": \"no-such-file.obj\"}}", "no-such-file.obj", true},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char text[400];
        snprintf(text, sizeof text, "{\"limber\": 1, \"colliders\": [%s]}", wrong[k].collider);
        lm_scene_error error = {.text = ""};
        lm_scene *s = lmi_read_scene(text, &error);
        assert_int_equal(s != NULL, wrong[k].opens);
        if (s != NULL) {
            lm_world_def def = lm_world_def_default();
            lm_world *world = NULL;
            assert_true(lm_scene_make_world(s, &def, &world, &error) != LM_OK);
            assert_null(world);
            lm_scene_close(s);
        }
        if (strstr(error.text, wrong[k].error) == NULL) fail_msg("%s gives: %s", wrong[k].collider, error.text);
    }
}

/* Groups, rules, sleep and the method of contacts reach the world. */
static void contacts_are_as_the_scene_says(void **context)
{
    (void)context;
    lm_scene *s = open_scene("{\"limber\": 1, \"sleep\": {\"speed\": 0.2}, \"contact_method\": \"cube_map\","
                             "\"contact_rules\": [{\"groups\": 1, \"others\": 6, \"friction\": 0}],"
                             "\"bodies\": [{\"shape\": {\"name\": \"box\"}, \"at\": [0, 0.5, 0]},"
                             "{\"shape\": {\"name\": \"box\"}, \"at\": [3, 0.5, 0], \"may_sleep\": false},"
                             "{\"shape\": {\"name\": \"box\"}, \"at\": [6, 0.5, 0], \"collider_mask\": 1}],"
                             "\"colliders\": [{\"shape\": \"plane\", \"group\": 4, \"mask\": 3}],"
                             "\"expect\": [{\"measure\": \"asleep\", \"equals\": 1}]}");
    lm_world *world = make_scene_world(s);
    lm_sleep sleep = lm_world_get_sleep(world);
    assert_true(sleep.enabled && sleep.speed == 0.2f && sleep.seconds == 0.5f);
    assert_int_equal(lm_world_get_contact_method(world), LM_CONTACT_METHOD_CUBE_MAP);
    assert_ok(lm_world_remove_contact_rule(world, 6, 1));
    lm_collider_id collider;
    lm_collider_def def;
    assert_int_equal(lm_world_get_colliders(world, &collider, 1), 1);
    assert_ok(lm_collider_get_def(world, collider, &def));
    assert_true(def.group == 4 && def.mask == 3);
    for (int step = 0; step < 120; step++) assert_ok(lm_world_step(world, FRAME));
    lm_body_id bodies[3];
    lm_body_info info[3];
    assert_int_equal(lm_world_get_bodies(world, bodies, 3), 3);
    for (int k = 0; k < 3; k++) assert_ok(lm_body_get_info(world, bodies[k], &info[k]));
    assert_true(info[0].asleep && !info[1].asleep && !info[2].asleep);
    assert_near(info[0].centre.y, 0.5, 0.1);
    assert_at_most(info[2].centre.y, -10.0); /* it is not stopped by group 4 */
    lm_world_destroy(world);
    lm_scene_close(s);
    lm_scene_error error;
    const char *wrong[] = {"{\"limber\": 1, \"contact_method\": \"spring\"}",
                           "{\"limber\": 1, \"contact_rules\": [{\"groups\": 0, \"others\": 1}]}",
                           "{\"limber\": 1, \"contact_rules\": [{\"groups\": 1}]}",
                           "{\"limber\": 1, \"sleep\": {\"speed\": 0}}"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) assert_null(lmi_read_scene(wrong[k], &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_have_their_values),    cmocka_unit_test(wrong_formulas_are_told),
        cmocka_unit_test(height_maps_are_made),          cmocka_unit_test(height_maps_from_pictures),
        cmocka_unit_test(wrong_pictures_are_told),       cmocka_unit_test(meshes_are_made),
        cmocka_unit_test(wrong_solids_are_told_exactly), cmocka_unit_test(contacts_are_as_the_scene_says),
    };
    return cmocka_run_group_tests_name("scene_solids", tests, NULL, NULL);
}
