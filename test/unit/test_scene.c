/*
 * Scenes: what is wrong with a file is said exactly, what is right becomes the world it describes, and expectations fail
 * when they ought to.
 */
#include "io/json.h"
#include "scene/fit.h"
#include "scene/internal.h"
#include "scene/measure.h"
#include "scene/nearest.h"
#include "scene/scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Help
 */

static scene *read_text(const char *text, scene_error *error)
{
    return scene_open_text("s.json", text, strlen(text), NULL, 0, error);
}

/* A world of the scene on one thread; fails the test when it cannot be made. */
static lm_world *make(scene *s)
{
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    lm_world *world = NULL;
    scene_error error;
    if (scene_make_world(s, &def, &world, &error) != LM_OK) fail_msg("%s", error.text);
    return world;
}

static scene *open_good(const char *text)
{
    scene_error error;
    scene *s = read_text(text, &error);
    if (s == NULL) fail_msg("%s", error.text);
    return s;
}

static void run(scene *s, lm_world *world, uint32_t from, uint32_t to)
{
    for (uint32_t frame = from; frame < to; frame++) assert_int_equal(scene_step(s, world, frame), LM_OK);
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is wrong
 */

typedef struct wrong_scene {
    const char *text;
    const char *error;
} wrong_scene;

static const wrong_scene wrong_scenes[] = {
    {"", "s.json:1:1: JSON: expected a value, found the end of the text"},
    {"{\"limber\": 1, \"bodies\": [", "s.json:1:26: JSON: expected a value, found the end of the text"},
    {"{\"limber\": 1, \"gravity\": [0, NaN, 0]}", "s.json:1:30: JSON: expected a value, found 'N'"},
    {"{\"limber\": 1, \"gravity\": [0, Infinity, 0]}", "s.json:1:30: JSON: expected a value, found 'I'"},
    {"[]", "s.json:1:1: is a list (expected an object {...} (scene))"},
    {"{}", "s.json:1:1: incomplete (expected \"limber\": version of the format: 1)"},
    {"{\"limber\": 2}", "s.json:1:12: limber: is 2 (expected 1)"},
    {"{\"limber\": 1,\n \"gravty\": [0, 0, 0]}",
     "s.json:2:2: gravty: unknown field (expected a field of scene; did you mean \"gravity\"?)"},
    {"{\"limber\": 1, \"zzzzzzzz\": 0}",
     "s.json:1:15: zzzzzzzz: unknown field (expected a field of scene, see limber schema)"},
    {"{\"limber\": 1, \"gravity\": 9.81}",
     "s.json:1:26: gravity: is 9.81 (expected a list of three numbers, [x, y, z])"},
    {"{\"limber\": 1, \"gravity\": [0, -9.81]}",
     "s.json:1:26: gravity: has 2 elements (expected a list of three numbers, [x, y, z])"},
    {"{\"limber\": 1, \"gravity\": [0, \"x\", 0]}",
     "s.json:1:30: gravity[1]: is \"x\" (expected a number from -10000 to 10000 in m/s²)"},
    {"{\"limber\": 1, \"substeps\": 1.5}", "s.json:1:27: substeps: is 1.5 (expected a whole number from 1 to 1024)"},
    {"{\"limber\": 1, \"bodies\": [{}]}",
     "s.json:1:26: bodies[0]: incomplete (expected \"shape\" or \"points\" or \"mesh\")"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": []}]}",
     "s.json:1:37: bodies[0].points: is empty (expected at least one point)"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0]], \"mass\": -1}]}",
     "s.json:1:56: bodies[0].mass: is -1 (expected a number above 0 and at most 1e+12 in kg)"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0]], \"masses\": [1, 2]}]}",
     "s.json:1:58: bodies[0].masses: has 2 elements (expected 1, one for each point)"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0]], \"shape\": {\"name\": \"box\"}}]}",
     "s.json:1:48: bodies[0]: \"shape\" and \"points\" exclude each other"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"bix\"}}]}",
     "s.json:1:45: bodies[0].shape.name: is \"bix\" (expected one of \"box\", \"sphere\", \"cylinder\", \"torus\", "
     "\"penguin\", \"duck\", \"statue\", \"hand\", \"liver\", \"flower\", \"teddy\", \"car\", \"infant\", \"head\"; "
     "did you mean \"box\"?)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"material\": {\"hertz\": 5, \"alpha\": 1}}]}",
     "s.json:1:78: bodies[0].material: \"hertz\" and \"alpha\" exclude each other"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"particles\": 400000000}]}",
     "s.json:1:66: bodies[0].particles: is 400000000 (expected a whole number from 1 to 1048576)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"particles\": 1000000, \"repeat\": {\"grid\": "
     "[10, 10, "
     "10], \"spacing\": [1, 1, 1]}}]}",
     "s.json:1:66: bodies[0].particles: asks for 1000000000 particles, 1000000000 in all (expected at most 16777216)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"repeat\": {\"grid\": [10000, 10000, 10000], "
     "\"spacing\": [1, 1, 1]}}]}",
     "s.json:1:72: bodies[0].repeat.grid: makes 1000000000000 bodies, 1000000000000 in all (expected at most 131072)"},
    {"{\"limber\": 1, \"bodies\": [{\"name\": \"a\", \"points\": [[0,0,0]]}, {\"name\": \"a\", \"points\": "
     "[[0,0,0]]}]}",
     "s.json:1:71: bodies[1].name: \"a\" is the name of bodies[0] too (expected another name)"},
    {"{\"limber\": 1, \"colliders\": [{\"shape\": \"plane\", \"mover\": \"lift\"}], \"movers\": [{\"name\": "
     "\"lifd\"}]}",
     "s.json:1:57: colliders[0].mover: there is no mover \"lift\" (expected the name of a mover; did you mean "
     "\"lifd\"?)"},
    {"{\"limber\": 1, \"colliders\": [{\"shape\": \"plane\", \"normal\": [0, 0, 0]}]}",
     "s.json:1:58: colliders[0].normal: has no length (expected a direction)"},
    {"{\"limber\": 1, \"movers\": [{\"name\": \"m\", \"keyframes\": [{\"time\": 1}, {\"time\": 1}]}]}",
     "s.json:1:76: movers[0].keyframes[1].time: is 1 (expected later than the one before, 1)"},
    {"{\"limber\": 1, \"pins\": [{\"body\": \"cube\", \"particles\": [0]}]}",
     "s.json:1:33: pins[0].body: there is no body \"cube\" (expected the name of a body)"},
    {"{\"limber\": 1, \"events\": [{\"time\": 1}]}",
     "s.json:1:26: events[0]: does nothing (expected material, impulse, velocity, deform or gravity)"},
    {"{\"limber\": 1, \"expect\": [{\"measure\": \"finite\"}]}",
     "s.json:1:26: expect[0]: incomplete (expected \"less_than\" or \"greater_than\" or \"equals\")"},
    {"{\"limber\": 1, \"expect\": [{\"measure\": \"outside\", \"equals\": 0}]}",
     "s.json:1:26: expect[0]: incomplete (expected \"box\" with \"outside\")"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0]], \"rotate\": {\"axis\": [0,0,0], \"angle\": 1}}]}",
     "s.json:1:67: bodies[0].rotate: the axis has no length"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"material\": {\"yield\": -1}}]}",
     "s.json:1:75: bodies[0].material.yield: is -1 (expected a number from 0 to 1000)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"material\": {\"damping_every\": 0}}]}",
     "s.json:1:83: bodies[0].material.damping_every: is 0 (expected a whole number from 1 to 1024)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"material\": {\"damping_kind\": \"local\"}}]}",
     "s.json:1:82: bodies[0].material.damping_kind: is \"local\" (expected one of \"global\", \"regional\"; did you "
     "mean \"global\"?)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"material\": {\"max_plastic\": 1}}]}",
     "s.json:1:81: bodies[0].material.max_plastic: is 1 (expected a number from 0 to 0.9)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"material\": {\"creep\": -2}}]}",
     "s.json:1:75: bodies[0].material.creep: is -2 (expected a number from 0 to 1000000 in 1/s)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"clusters\": {\"kmeans\": 0}}]}",
     "s.json:1:76: bodies[0].clusters.kmeans: is 0 (expected a whole number from 1 to 1048576)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"clusters\": {\"kmeans\": 4, \"counts\": [2, 2, "
     "2]}}]}",
     "s.json:1:79: bodies[0].clusters: \"counts\" and \"kmeans\" exclude each other"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"clusters\": {\"rings\": 2, \"size\": 1}}]}",
     "s.json:1:78: bodies[0].clusters: \"rings\" and \"size\" exclude each other"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"clusters\": {\"each\": \"face\"}}]}",
     "s.json:1:74: bodies[0].clusters.each: is \"face\" (expected one of \"triangle\", \"edge\", \"particle\", "
     "\"element\")"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0], [1,0,0]], \"clusters\": {\"each\": \"triangle\"}}]}",
     "s.json:1:78: bodies[0].clusters.each: needs the surface of a shape (expected \"particle\" or \"element\")"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0], [1,0,0]], \"clusters\": {\"each\": \"element\"}}]}",
     "s.json:1:78: bodies[0].clusters.each: is \"element\" (expected \"elements\" with it)"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0], [1,0,0]], \"clusters\": {\"elements\": [[0, 1]]}}]}",
     "s.json:1:82: bodies[0].clusters.elements: is given alone (expected \"each\" or \"kmeans\" with it)"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0], [1,0,0]], \"clusters\": {\"each\": \"element\", "
     "\"elements\": [[0]]}}]}",
     "s.json:1:101: bodies[0].clusters.elements: has one of 1 particles at [0] (expected 2 to 8, the same in all)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"surface\": {\"skin\": \"bones\"}}]}",
     "s.json:1:73: bodies[0].surface.skin: is \"bones\" (expected one of \"particles\", \"regions\")"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0], [1,0,0]], \"surface\": {\"detail\": 9}}]}",
     "s.json:1:57: bodies[0]: \"points\" and \"surface\" exclude each other"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"mass_zones\": [{\"value\": 2}]}]}",
     "s.json:1:68: bodies[0].mass_zones[0]: incomplete (expected \"where\" or \"near\")"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"mass_zones\": [{\"near\": [0,0,0], \"value\": "
     "0}]}]}",
     "s.json:1:95: bodies[0].mass_zones[0].value: is 0 (expected from 1e-06 to 1e+06)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"stiffness_zones\": [{\"near\": [0,0,0], "
     "\"radius\": 1, \"value\": 1.5}]}]}",
     "s.json:1:113: bodies[0].stiffness_zones[0].value: is 1.5 (expected from 0 to 1)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"stiffness_zones\": [{\"where\": {\"min\": "
     "[0,0,0], \"max\": [1,-1,1]}, \"value\": 0.5}]}]}",
     "s.json:1:107: bodies[0].stiffness_zones[0].where.max: is below min (expected at least min along each axis)"},
    {"{\"limber\": 1, \"camera\": {\"at\": [0,-0,0]}}",
     "s.json:1:32: camera.at: is where it looks at (expected another point than look_at)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"state\": {\"modes\": [{\"axis\": \"x\", "
     "\"function\": \"yx\", \"amount\": 1}]}}]}",
     "s.json:1:99: bodies[0].state.modes[0].function: is \"yx\" (expected one of \"x\", \"y\", \"z\", \"xx\", \"yy\", "
     "\"zz\", \"xy\", \"yz\", \"zx\"; did you mean \"xx\"?)"},
    {"{\"limber\": 1, \"title\": \"a\\u0000b\"}", "s.json:1:24: title: contains a zero character (expected text)"},
    {"{\"limber\": 1, \"limber\": 1}", "s.json:1:15: JSON: the key \"limber\" was given before, on line 1"},
};

static void test_wrong_scenes_are_told_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_scenes / sizeof wrong_scenes[0]; i++) {
        scene_error error = {""};
        assert_null(read_text(wrong_scenes[i].text, &error));
        assert_string_equal(error.text, wrong_scenes[i].error);
    }
}

/* Found only when the world is made, but reported at the same kind of place. */
static const wrong_scene wrong_worlds[] = {
    {"{\"limber\": 1, \"bodies\": [{\"name\": \"p\", \"points\": [[0,0,0], [1,0,0]]}],\n"
     " \"pins\": [{\"body\": \"p\", \"particles\": [1, 2]}]}",
     "s.json:2:42: pins[0].particles[1]: is 2 (expected a particle of \"p\" below 2)"},
    {"{\"limber\": 1, \"bodies\": [{\"name\": \"p\", \"points\": [[0,0,0]]}],\n"
     " \"pins\": [{\"body\": \"p\", \"where\": {\"min\": [1,1,1], \"max\": [2,2,2]}}]}",
     "s.json:2:34: pins[0].where: holds no particle of \"p\""},
    {"{\"limber\": 1, \"bodies\": [{\"name\": \"p\", \"points\": [[0,0,0]]}],\n"
     " \"drags\": [{\"body\": \"p\", \"particle\": 1, \"target\": [0,0,0]}]}",
     "s.json:2:38: drags[0].particle: is 1 (expected a particle of \"p\" below 1)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"particles\": 9}]}",
     "s.json:1:66: bodies[0].particles: is 9 (expected at least 98, the vertices of the surface; a smaller \"detail\" "
     "has fewer)"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0]], \"clusters\": {\"lists\": [[0, 7]]}}]}",
     "s.json:1:75: bodies[0].clusters: lists[0][1] is 7 (expected a particle below 1)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"clusters\": {\"each\": \"edge\"}, \"particles\": "
     "100}]}",
     "s.json:1:74: bodies[0].clusters.each: leaves 2 inner particles alone (expected \"particles\": 98, those of the "
     "surface)"},
    {"{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0], [1,0,0]], \"clusters\": {\"each\": \"element\", "
     "\"elements\": [[0, 7]]}}]}",
     "s.json:1:26: bodies[0]: lm_body_create: clusters.elements has an index beyond the last point"},
};

static void test_wrong_worlds_are_told_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_worlds / sizeof wrong_worlds[0]; i++) {
        scene *s = open_good(wrong_worlds[i].text);
        lm_world_def def = lm_world_def_default();
        def.workers = 1;
        lm_world *world = NULL;
        scene_error error = {""};
        assert_int_not_equal(scene_make_world(s, &def, &world, &error), LM_OK);
        assert_null(world);
        assert_string_equal(error.text, wrong_worlds[i].error);
        scene_close(s);
    }
}

static void test_deep_nesting_is_refused(void **state)
{
    (void)state;
    char text[2000] = "{\"limber\": 1, \"bodies\": ";
    size_t length = strlen(text);
    memset(text + length, '[', 1000);
    text[length + 1000] = '\0';
    scene_error error;
    assert_null(read_text(text, &error));
    assert_string_equal(error.text, "s.json:1:88: JSON: nested too deep (expected at most 64 levels)");
}

static void test_missing_files_and_names(void **state)
{
    (void)state;
    scene_error error;
    assert_null(scene_open("no/such/file.json", NULL, 0, &error));
    assert_string_equal(error.text, "no/such/file.json: cannot be opened: No such file or directory");
    assert_null(scene_open("crowed", NULL, 0, &error));
    assert_string_equal(error.text,
                        "crowed: no such scene (expected a built-in scene, see limber list, or a JSON or mesh file; "
                        "did you mean \"crowd\"?)");
}

/* Every cut of a scene is refused, none crashes. */
static void test_truncated_scenes_are_refused(void **state)
{
    (void)state;
    const char *text = scene_builtin_text("modes");
    assert_non_null(text);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n') length--;
    for (size_t i = 0; i < length; i++) {
        scene_error error = {""};
        char *cut = malloc(i + 1); /* exactly as long, so that the address sanitizer sees a read past it */
        memcpy(cut, text, i);
        assert_null(scene_open_text("cut.json", cut, i, NULL, 0, &error));
        assert_memory_equal(error.text, "cut.json:", 9);
        free(cut);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * --set
 */

static const char two_points[] =
    "{\"limber\": 1, \"bodies\": [{\"name\": \"p\", \"points\": [[0,0,0], [1,0,0]], \"mass\": 2}]}";

static void assert_set_fails(const char *set, const char *expected)
{
    scene_error error = {""};
    assert_null(scene_open_text("s.json", two_points, strlen(two_points), &set, 1, &error));
    assert_string_equal(error.text, expected);
}

static void test_set_errors_name_the_option(void **state)
{
    (void)state;
    assert_set_fails(
        "bodies[0].mass=-1",
        "--set bodies[0].mass=-1: bodies[0].mass: is -1 (expected a number above 0 and at most 1e+12 in kg)");
    assert_set_fails("bodies[0].mas=1",
                     "--set bodies[0].mas=1: bodies[0].mas: unknown field (expected a field of body; did you mean "
                     "\"mass\"?)");
    assert_set_fails("bodies[3].mass=1",
                     "--set bodies[3].mass=1: bodies: has 1 elements (expected an index below that)");
    assert_set_fails("bodies[x].mass=1",
                     "--set bodies[x].mass=1: bodies: expected an index in brackets, as in bodies[0]");
    assert_set_fails("bodies.mass=1", "--set bodies.mass=1: bodies.: is a list (expected an object)");
    assert_set_fails("gravity=[0,0",
                     "--set gravity=[0,0: expected ',' or ']', found the end of the text, at character 5 "
                     "of the value");
    assert_set_fails("gravity[0]=NaN", "--set gravity[0]=NaN: gravity: is an object (expected a list)");
    assert_set_fails("bodies[0].material.hertz=NaN", "--set bodies[0].material.hertz=NaN: bodies[0].material.hertz: is "
                                                     "\"NaN\" (expected a number from 0 to 1000000 in Hz)");
}

static void test_set_changes_the_scene(void **state)
{
    (void)state;
    const char *sets[] = {"bodies[0].material.mode=rigid", "bodies[0].mass=5", "gravity=[0, -1, 0]", "frames=7",
                          "bodies[0].points[1][0]=3"};
    scene_error error;
    scene *s = scene_open_text("s.json", two_points, strlen(two_points), sets, 5, &error);
    if (s == NULL) fail_msg("%s", error.text);
    assert_int_equal(scene_frames(s), 7);
    lm_world *world = make(s);
    lm_material material;
    lm_body_info info;
    lm_body_get_material(world, scene_get_body(s, 0).id, &material);
    lm_body_get_info(world, scene_get_body(s, 0).id, &info);
    assert_int_equal(material.mode, LM_MODE_RIGID);
    assert_true(fabsf(info.mass - 5.0f) < 1e-5f);
    assert_true(fabs(info.upper.x - 3.0) < 1e-6);
    assert_true(lm_world_get_gravity(world).y == -1.0f);
    lm_world_destroy(world);
    scene_close(s);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The table
 */

/* A default written in the table and one of the library must be the same number. */
static void test_defaults_are_the_librarys(void **state)
{
    (void)state;
    scene *s = open_good("{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0]], \"material\": {}, \"clusters\": {}}]}");
    lm_world *world = make(s);
    lm_material ours, theirs = lm_material_default();
    lm_body_get_material(world, scene_get_body(s, 0).id, &ours);
    assert_memory_equal(&ours, &theirs, sizeof ours);
    lm_world_def def = lm_world_def_default();
    assert_int_equal(lm_world_get_substeps(world), def.substeps);
    assert_true(lm_world_get_gravity(world).y == def.gravity.y);
    const scene_body_entry *entry = s->file->bodies.items;
    assert_true((float)entry->mass == lm_body_def_default().mass);
    assert_true((float)entry->clusters->overlap == lm_body_def_default().clusters.overlap);
    lm_world_destroy(world);
    scene_close(s);
}

static void test_table_is_sound(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < format_record_count; i++) {
        const format_record *record = format_records[i];
        for (uint32_t k = 0; k < record->field_count; k++) {
            const format_field *field = &record->fields[k];
            assert_non_null(field->doc);
            assert_ptr_equal(format_find(record, field->name), field); /* no name twice */
            assert_true(field->offset >= sizeof(scene_head) && field->offset < record->size);
            assert_false(field->required && field->standard != NULL);
        }
        for (uint32_t k = 0; k < record->group_count; k++) {
            for (uint32_t n = 0; n < 5 && record->groups[k].names[n] != NULL; n++) {
                assert_non_null(format_find(record, record->groups[k].names[n]));
            }
        }
    }
}

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("%s cannot be opened", path);
    text_buffer out = {.bytes = NULL};
    char block[4096];
    size_t got;
    while ((got = fread(block, 1, sizeof block, file)) > 0) text_add(&out, block, got);
    fclose(file);
    return text_take(&out);
}

static void test_documentation_has_the_tables(void **state)
{
    (void)state;
    char *page = read_whole(SOURCE_DIR "/docs/scene-format.md");
    char *tables = scene_reference();
    if (strstr(page, tables) == NULL) {
        fail_msg(
            "docs/scene-format.md is out of date: replace its reference by the output of limber schema --markdown");
    }
    free(page);
    free(tables);
}

static void test_schema_is_json(void **state)
{
    (void)state;
    char *schema = scene_schema();
    json_document *document = json_create();
    json_error error;
    json_value *root = json_parse(document, schema, strlen(schema), NULL, &error);
    if (root == NULL) fail_msg("%u:%u: %s", error.place.line, error.place.column, error.text);
    const json_value *defs = json_get(root, "$defs");
    assert_int_equal(defs->count, format_record_count);
    const json_value *mass = json_get(json_get(json_get(defs, "body"), "properties"), "mass");
    assert_true(json_get(mass, "exclusiveMinimum")->number == 0.0);
    json_free(document);
    free(schema);
}

static void test_nearest_names(void **state)
{
    (void)state;
    nearest_name near = nearest_to("Dampign-Ratio");
    nearest_offer(&near, "damping");
    nearest_offer(&near, "damping_ratio");
    assert_string_equal(near.best, "damping_ratio");
    near = nearest_to("from"); /* two neighbours swapped are one mistake, two letters changed are two */
    nearest_offer(&near, "fxxm");
    nearest_offer(&near, "form");
    assert_string_equal(near.best, "form");
    near = nearest_to("zq");
    nearest_offer(&near, "at");
    assert_null(near.best);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Geometry
 */

static void assert_vector(lm_dvec3 v, double x, double y, double z)
{
    if (fabs(v.x - x) + fabs(v.y - y) + fabs(v.z - z) > 1e-12) {
        fail_msg("[%.15g, %.15g, %.15g], expected [%g, %g, %g]", v.x, v.y, v.z, x, y, z);
    }
}

static void test_rotations(void **state)
{
    (void)state;
    for (double degrees = -720.0; degrees <= 720.0; degrees += 7.5) {
        double sine, cosine;
        sine_cosine(degrees, &sine, &cosine);
        assert_true(fabs(sine - sin(degrees * RADIANS_PER_DEGREE)) < 1e-14);
        assert_true(fabs(cosine - cos(degrees * RADIANS_PER_DEGREE)) < 1e-14);
    }
    assert_vector(rotation_apply(rotation_from_euler(vector(90, 0, 0)), vector(0, 1, 0)), 0, 0, 1);
    assert_vector(rotation_apply(rotation_from_euler(vector(90, 90, 0)), vector(0, 1, 0)), 1, 0, 0); /* x, then y */
    assert_vector(rotation_apply(rotation_about(vector(0, 0, 5), 90), vector(1, 0, 0)), 0, 1, 0);
    assert_vector(rotation_apply(rotation_from_up(vector(3, 0, 0)), vector(0, 1, 0)), 1, 0, 0);
    assert_vector(rotation_apply(rotation_from_up(vector(0, -2, 0)), vector(0, 1, 0)), 0, -1, 0);
}

static void test_deformations(void **state)
{
    (void)state;
    const lm_vec3 rest[2] = {{0.0f, 2.0f, 0.0f}, {1.0f, 2.0f, 0.0f}};
    lm_dvec3 out[2];
    scene_deform deform = {.scale = {1, 1, 1}, .axis = 1, .twist = 45};
    deform_points(&deform, rest, 2, out);
    assert_vector(out[0], 0, 2, 0);
    assert_vector(out[1], 0, 2, -1); /* a quarter turn about y takes x to -z */
    deform = (scene_deform){.scale = {1, 1, 1}, .axis = 1, .bend = 45};
    deform_points(&deform, rest, 2, out);
    double radius = 1.0 / (45.0 * RADIANS_PER_DEGREE); /* towards z, the axis after y */
    assert_vector(out[0], 0, radius, radius);
    scene_mode modes[2] = {{.axis = 2, .function = 6, .amount = 0.25}, {.axis = 0, .function = 1, .amount = 3}};
    deform = (scene_deform){.modes = {modes, 2}, .scale = {1, 1, 2}}; /* z grows by xy/4, x by 3y; then z doubles */
    deform_points(&deform, rest, 2, out);
    assert_vector(out[1], 7, 2, 1);
    deform = (scene_deform){.scale = {2, 0, 1}, .shear = {0.5, 0, 0}};
    deform_points(&deform, rest, 2, out);
    assert_vector(out[1], 2, 0, 0);
}

static void test_rigid_fit_finds_the_rotation(void **state)
{
    (void)state;
    random_source source = random_start(7, 0);
    for (uint32_t round = 0; round < 200; round++) {
        rotation turn = rotation_from_euler(vector_scale(random_vector(&source), 180.0));
        lm_vec3 rest[20], now[20];
        float masses[20];
        for (uint32_t i = 0; i < 20; i++) {
            rest[i] = vector_narrow(random_vector(&source));
            masses[i] = (float)(1.5 + random_signed(&source));
            now[i] = vector_narrow(vector_add(rotation_apply(turn, vector_widen(rest[i])), vector(3, 2, 1)));
        }
        rigid_fit fit = fit_rigid(rest, now, masses, 20);
        assert_true(fit.residual < 1e-6);
        double same = fit.rotate.x * turn.x + fit.rotate.y * turn.y + fit.rotate.z * turn.z + fit.rotate.w * turn.w;
        assert_true(fabs(fabs(same) - 1.0) < 1e-9);
    }
    /* Two equal masses pulled apart from distance 2 to 3: each is 0.5 off. */
    const lm_vec3 pair[2] = {{-1, 0, 0}, {1, 0, 0}}, apart[2] = {{0, -1.5f, 0}, {0, 1.5f, 0}};
    const float masses[2] = {1.0f, 1.0f};
    assert_true(fabs(fit_rigid(pair, apart, masses, 2).residual - 0.5) < 1e-9);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Worlds
 */

static void test_repeat_makes_a_grid(void **state)
{
    (void)state;
    scene *s = open_good("{\"limber\": 1, \"bodies\": [{\"name\": \"a\", \"points\": [[0,0,0]], \"at\": [0, 10, 0],"
                         "\"repeat\": {\"grid\": [2, 3, 4], \"spacing\": [1, 10, 100]}}, {\"points\": [[5,0,0]]}]}");
    lm_world *world = make(s);
    assert_int_equal(scene_body_count(s), 25);
    assert_string_equal(scene_get_body(s, 23).name, "a[23]");
    assert_string_equal(scene_get_body(s, 24).name, "body1");
    lm_body_info info;
    lm_body_get_info(world, scene_get_body(s, 0).id, &info);
    assert_vector(info.centre, -0.5, 0, -150);
    lm_body_get_info(world, scene_get_body(s, 1).id, &info); /* x runs fastest, then z, then y */
    assert_vector(info.centre, 0.5, 0, -150);
    lm_body_get_info(world, scene_get_body(s, 2).id, &info);
    assert_vector(info.centre, -0.5, 0, -50);
    lm_body_get_info(world, scene_get_body(s, 23).id, &info);
    assert_vector(info.centre, 0.5, 20, 150);
    lm_world_destroy(world);
    scene_close(s);
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
        scene *s = open_good(text);
        lm_world *world = make(s);
        lm_body_info info;
        lm_body_get_info(world, scene_get_body(s, 0).id, &info);
        if (info.regions != cases[i].regions || info.memberships != cases[i].memberships) {
            fail_msg("%s: %u regions, %llu memberships", cases[i].body, info.regions,
                     (unsigned long long)info.memberships);
        }
        lm_world_destroy(world);
        scene_close(s);
    }
}

static void test_zones(void **state)
{
    (void)state;
    scene *s = open_good("{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0], [1,0,0], [2,0,0], [5,0,0]], \"mass\": 14,"
                         "\"mass_zones\": [{\"near\": [0,0,0], \"radius\": 1, \"fade\": 2, \"value\": 5}],"
                         "\"clusters\": {\"lists\": [[0, 1], [2, 3]]},"
                         "\"stiffness_zones\": [{\"where\": {\"min\": [-1,-1,-1], \"max\": [0.5,1,1]}, \"value\": 0.5},"
                         "{\"where\": {\"min\": [4,-1,-1], \"max\": [6,1,1]}, \"value\": 0}]}]}");
    lm_world *world = make(s);
    float masses[4], shares[2];
    assert_int_equal(lm_body_get_masses(world, scene_get_body(s, 0).id, masses), LM_OK);
    const float expected[4] = {5, 5, 3, 1}; /* at 2 the value is half way back to 1 */
    for (uint32_t i = 0; i < 4; i++) assert_true(fabsf(masses[i] - expected[i]) < 1e-5f);
    assert_int_equal(lm_body_get_region_stiffness(world, scene_get_body(s, 0).id, shares), LM_OK);
    assert_true(fabsf(shares[0] - 0.75f) < 1e-5f); /* means weighted by mass: (5 * 0.5 + 5 * 1)/10, (3 * 1 + 1 * 0)/4 */
    assert_true(fabsf(shares[1] - 0.75f) < 1e-5f);
    lm_world_destroy(world);
    scene_close(s);
}

/* A surface finer than the particles keeps its size and its volume, also on copies of another size. */
static void test_finer_surfaces(void **state)
{
    (void)state;
    scene *s = open_good(
        "{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"ball\", \"shape\": {\"name\": \"sphere\", "
        "\"detail\": 2}, \"particles\": 13, \"surface\": {\"detail\": 18, \"skin\": \"regions\"}, \"repeat\": "
        "{\"grid\": "
        "[3, 1, 1], \"spacing\": [3, 0, 0], \"vary\": {\"size\": 0.5}}}], \"expect\": [{\"measure\": \"triangles\", "
        "\"equals\": 2000}, {\"measure\": \"volume\", \"greater_than\": 0.999}, {\"measure\": \"volume\", "
        "\"less_than\": 1.001}]}");
    lm_world *world = make(s);
    run(s, world, 0, 5);
    assert_int_equal(scene_check(s, world, NULL, NULL), 0);
    lm_body_info info;
    lm_body_get_info(world, scene_get_body(s, 2).id, &info);
    assert_int_equal(info.particles, 13);
    lm_world_destroy(world);
    scene_close(s);
}

static void test_strain_of_a_matrix(void **state)
{
    (void)state;
    const float none[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, squeezed[9] = {2, 0, 0, 0, 0.5f, 0, 0, 0, 1};
    const float turned[9] = {1.05f, 0.25f, 0, 0.25f, 1.05f, 0, 0, 0, 0.95f}; /* stretches 1.3, 0.8, 0.95 */
    assert_true(fit_strain(none) == 0.0);
    assert_true(fabs(fit_strain(squeezed) - 1.0) < 1e-6);
    assert_true(fabs(fit_strain(turned) - 0.3) < 1e-6);
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
    scene *s = open_good(lively);
    lm_world *world = make(s);
    lm_body_info before, after;
    lm_body_get_info(world, scene_get_body(s, 0).id, &before);
    run(s, world, 0, 21);
    lm_body_get_info(world, scene_get_body(s, 1).id, &after);
    assert_true(lm_world_get_gravity(world).y == -1.0f);
    run(s, world, 21, 22); /* 0.35 s is frame 21 */
    lm_body_get_info(world, scene_get_body(s, 1).id, &after);
    assert_true(fabsf(after.velocity.z - 2.0f) < 0.01f && fabsf(after.velocity.x) < 0.01f);
    run(s, world, 22, 40);
    lm_material material;
    lm_body_get_material(world, scene_get_body(s, 1).id, &material);
    assert_true(material.hertz == 3.0f && material.damping_ratio == 0.1f);
    lm_body_get_info(world, scene_get_body(s, 0).id, &after);
    assert_true(fabs(after.upper.y - (before.upper.y + 1.0)) < 1e-3); /* the hand went up by 1 m */
    lm_world_destroy(world);
    scene_close(s);
}

static void test_keyframes_are_mixed(void **state)
{
    (void)state;
    scene_keyframe keys[3] = {{.time = 1, .at = {0, 0, 0}, .rotate = {0, 0, 0}},
                              {.time = 2, .at = {4, 0, 0}, .rotate = {0, 80, 0}},
                              {.time = 4, .at = {4, 8, 0}, .rotate = {0, 80, 0}}};
    scene_mover mover = {.keyframes = {.items = keys, .count = 3}};
    assert_vector(mover_pose_at(&mover, 0.5).position, 0, 0, 0); /* held before the first */
    assert_vector(mover_pose_at(&mover, 1.25).position, 1, 0, 0);
    assert_vector(mover_pose_at(&mover, 2.0).position, 4, 0, 0);
    assert_vector(mover_pose_at(&mover, 3.5).position, 4, 6, 0);
    assert_vector(mover_pose_at(&mover, 9.0).position, 4, 8, 0); /* and after the last */
    assert_true(fabs((double)mover_pose_at(&mover, 1.25).rotation.y - sin(10.0 * RADIANS_PER_DEGREE)) < 1e-6);
}

/* A drag pulls from `from` to `until` and not a frame longer. */
static void test_drags_let_go(void **state)
{
    (void)state;
    scene *s = open_good("{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"points\": [[0,0,0]]}],"
                         "\"drags\": [{\"body\": \"body0\", \"particle\": 0, \"target\": [0, 5, 0], \"from\": 0.1,"
                         " \"until\": 0.2}]}");
    lm_world *world = make(s);
    float speed = 0.0f;
    for (uint32_t frame = 0; frame < 20; frame++) {
        run(s, world, frame, frame + 1);
        lm_body_info info;
        lm_body_get_info(world, scene_get_body(s, 0).id, &info);
        bool pulled = frame >= 6 && frame < 12;
        if ((info.velocity.y != speed) != pulled) fail_msg("frame %u", (unsigned)frame);
        speed = info.velocity.y;
    }
    assert_true(speed > 0.0f);
    lm_world_destroy(world);
    scene_close(s);
}

/* With a density, a copy of another size has the mass of its own volume. */
static void test_copies_weigh_what_their_volume_does(void **state)
{
    (void)state;
    scene *s = open_good("{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\", \"size\": [1, 1, 1], "
                         "\"detail\": 2}, \"density\": 100, \"repeat\": {\"grid\": [4, 1, 1], \"spacing\": [3, 3, 3], "
                         "\"vary\": {\"size\": 0.5}}}]}");
    lm_world *world = make(s);
    double least = 1e9, most = 0.0;
    for (uint32_t i = 0; i < 4; i++) {
        lm_body_info info;
        lm_body_get_info(world, scene_get_body(s, i).id, &info);
        double edge = info.upper.x - info.lower.x;
        assert_true(fabs((double)info.mass - 100.0 * edge * edge * edge) < 0.01);
        least = fmin(least, edge);
        most = fmax(most, edge);
    }
    assert_true(most > least + 0.1);
    lm_world_destroy(world);
    scene_close(s);
}

/* Saving and loading on the way, or starting again from a file, must not change a bit, drags and movers included. */
static void test_resave_and_load_change_nothing(void **state)
{
    (void)state;
    scene *s = open_good(lively);
    lm_world *world = make(s);
    run(s, world, 0, 40);
    uint64_t expected = lm_world_hash(world);
    lm_world_destroy(world);
    const uint32_t cuts[] = {0, 1, 10, 19, 30};
    for (uint32_t i = 0; i < 5; i++) {
        scene_error error;
        world = make(s);
        run(s, world, 0, cuts[i]);
        size_t size = lm_world_save_size(world);
        void *bytes = malloc(size);
        assert_int_equal(lm_world_save(world, bytes, size), LM_OK);
        assert_int_equal(scene_resave(s, &world, &error), LM_OK);
        run(s, world, cuts[i], 40);
        assert_true(lm_world_hash(world) == expected);
        lm_world_destroy(world);

        scene *other = open_good(lively);
        world = make(other);
        uint32_t frame = 99;
        assert_int_equal(scene_load(other, world, bytes, size, &frame, &error), LM_OK);
        assert_int_equal(frame, cuts[i]);
        run(other, world, frame, 40);
        assert_true(lm_world_hash(world) == expected);
        lm_world_destroy(world);
        scene_close(other);
        free(bytes);
    }
    scene_close(s);
}

/* Nothing the scene does by itself may look like an error of the engine. */
static void test_momentum_is_accounted_for(void **state)
{
    (void)state;
    scene *s = open_good("{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"torus\"}, \"spin\": [0, 300, 90]}],"
                         "\"drags\": [{\"body\": \"body0\", \"particle\": 3, \"target\": [1, 2, 3]}],"
                         "\"fields\": [{\"kind\": \"wind\", \"vector\": [3, 0, 0]}],"
                         "\"events\": [{\"time\": 0.2, \"velocity\": [0, 5, 0], \"deform\": {\"twist\": 90}},"
                         " {\"time\": 0.3, \"impulse\": [0, 0, 9], \"point\": [1, 1, 1]}]}");
    lm_world *world = make(s);
    scene_error error;
    run(s, world, 0, 30);
    assert_int_equal(scene_resave(s, &world, &error), LM_OK);
    run(s, world, 30, 60);
    double found = scene_momentum_error(s, world);
    if (!(found < 1e-5)) fail_msg("momentum error %g", found);

    /* Behind the scene's back everything is stopped: that must show. */
    lm_body_info info;
    lm_body_id body = scene_get_body(s, 0).id;
    lm_body_get_info(world, body, &info);
    lm_vec3 *x = calloc(info.particles, sizeof *x), *v = calloc(info.particles, sizeof *v);
    lm_body_get_positions(world, body, info.centre, x);
    assert_int_equal(lm_body_set_state(world, body, info.centre, x, v), LM_OK);
    assert_true(scene_momentum_error(s, world) > 0.01);
    free(x);
    free(v);
    lm_world_destroy(world);
    scene_close(s);
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
    scene *s = open_good(text);
    lm_world *world = make(s);
    run(s, world, 0, 60);
    uint32_t failures = scene_check(s, world, NULL, NULL);
    lm_world_destroy(world);
    scene_close(s);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_scenes_are_told_exactly),
        cmocka_unit_test(test_wrong_worlds_are_told_exactly),
        cmocka_unit_test(test_deep_nesting_is_refused),
        cmocka_unit_test(test_missing_files_and_names),
        cmocka_unit_test(test_truncated_scenes_are_refused),
        cmocka_unit_test(test_set_errors_name_the_option),
        cmocka_unit_test(test_set_changes_the_scene),
        cmocka_unit_test(test_defaults_are_the_librarys),
        cmocka_unit_test(test_table_is_sound),
        cmocka_unit_test(test_documentation_has_the_tables),
        cmocka_unit_test(test_schema_is_json),
        cmocka_unit_test(test_nearest_names),
        cmocka_unit_test(test_rotations),
        cmocka_unit_test(test_deformations),
        cmocka_unit_test(test_rigid_fit_finds_the_rotation),
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
        cmocka_unit_test(test_expectations_hold_and_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
