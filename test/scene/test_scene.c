/*
 * Scenes: what is wrong with a file is said exactly, values can be set from outside, the table of fields is what the
 * library and the manual say, and what is computed from a scene's numbers.
 */
#include "io/json.h"
#include "scene/fit.h"
#include "scene/internal.h"
#include "scene/measure.h"
#include "support/nearest.h"
#include "test/support/scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
    {"{\"limber\": 1, \"substeps\": 1.5}", "s.json:1:27: substeps: is 1.5 (expected a whole number from 0 to 1024)"},
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
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"material\": {\"hertz\": 5, \"young\": 1}}]}",
     "s.json:1:78: bodies[0].material: \"hertz\" and \"young\" exclude each other"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"material\": {\"young\": 5, \"poisson\": 0.5}}]}",
     "s.json:1:89: bodies[0].material.poisson: is 0.5 (expected a number from 0 to 0.46)"},
    {"{\"limber\": 1, \"bodies\": [{\"shape\": {\"name\": \"box\"}, \"material\": {\"young\": -1}}]}",
     "s.json:1:75: bodies[0].material.young: is -1 (expected a number above 0 and at most 1e+15 in Pa)"},
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
     "s.json:1:26: events[0]: does nothing (expected material, "
     "impulse, velocity, deform, cut, slice, stamp, split, refine, eye or gravity)"},
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
        lm_scene_error error = {""};
        assert_null(lmi_read_scene(wrong_scenes[i].text, &error));
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
        lm_scene *s = open_scene(wrong_worlds[i].text);
        lm_world_def def = lm_world_def_default();
        def.workers = 1;
        lm_world *world = NULL;
        lm_scene_error error = {""};
        assert_int_not_equal(lm_scene_make_world(s, &def, &world, &error), LM_OK);
        assert_null(world);
        assert_string_equal(error.text, wrong_worlds[i].error);
        lm_scene_close(s);
    }
}

static void test_deep_nesting_is_refused(void **state)
{
    (void)state;
    char text[2000] = "{\"limber\": 1, \"bodies\": ";
    size_t length = strlen(text);
    memset(text + length, '[', 1000);
    text[length + 1000] = '\0';
    lm_scene_error error;
    assert_null(lmi_read_scene(text, &error));
    assert_string_equal(error.text, "s.json:1:88: JSON: nested too deep (expected at most 64 levels)");
}

static void test_missing_files_and_names(void **state)
{
    (void)state;
    lm_scene_error error;
    assert_null(lm_scene_open("no/such/file.json", NULL, 0, &error));
    assert_string_equal(error.text, "no/such/file.json: cannot be opened: No such file or directory");
    assert_null(lm_scene_open("crowed", NULL, 0, &error));
    assert_string_equal(error.text,
                        "crowed: no such scene (expected a built-in scene, see limber list, or a JSON or mesh file; "
                        "did you mean \"crowd\"?)");
}

/* Every cut of a scene is refused, none crashes. */
static void test_truncated_scenes_are_refused(void **state)
{
    (void)state;
    const char *text = lm_scene_builtin_text("modes");
    assert_non_null(text);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n') length--;
    for (size_t i = 0; i < length; i++) {
        lm_scene_error error = {""};
        char *cut = malloc(i + 1); /* exactly as long, so that the address sanitizer sees a read past it */
        memcpy(cut, text, i);
        assert_null(lm_scene_open_text("cut.json", cut, i, NULL, 0, &error));
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
    lm_scene_error error = {""};
    assert_null(lm_scene_open_text("s.json", two_points, strlen(two_points), &set, 1, &error));
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
    lm_scene_error error;
    lm_scene *s = lm_scene_open_text("s.json", two_points, strlen(two_points), sets, 5, &error);
    if (s == NULL) fail_msg("%s", error.text);
    assert_int_equal(lm_scene_frames(s), 7);
    lm_world *world = make_scene_world(s);
    lm_material material;
    lm_body_info info;
    lm_body_get_material(world, lm_scene_get_body(s, 0).id, &material);
    lm_body_get_info(world, lm_scene_get_body(s, 0).id, &info);
    assert_int_equal(material.mode, LM_MODE_RIGID);
    assert_true(fabsf(info.mass - 5.0f) < 1e-5f);
    assert_true(fabs(info.upper.x - 3.0) < 1e-6);
    assert_true(lm_world_get_gravity(world).y == -1.0f);
    lm_world_destroy(world);
    lm_scene_close(s);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The table
 */

/* A default written in the table and one of the library must be the same number. */
static void test_defaults_are_the_librarys(void **state)
{
    (void)state;
    lm_scene *s =
        open_scene("{\"limber\": 1, \"bodies\": [{\"points\": [[0,0,0]], \"material\": {}, \"clusters\": {}}]}");
    lm_world *world = make_scene_world(s);
    lm_material ours, theirs = lm_material_default();
    lm_body_get_material(world, lm_scene_get_body(s, 0).id, &ours);
    assert_memory_equal(&ours, &theirs, sizeof ours);
    lm_world_def def = lm_world_def_default();
    assert_int_equal(lm_world_get_substeps(world), def.substeps);
    assert_true(lm_world_get_gravity(world).y == def.gravity.y);
    const scene_body_entry *entry = s->file->bodies.items;
    assert_true((float)entry->mass == lm_body_def_default().mass);
    assert_true((float)entry->clusters->overlap == lm_body_def_default().clusters.overlap);
    lm_world_destroy(world);
    lm_scene_close(s);
}

static void test_table_is_sound(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < lmi_format_record_count; i++) {
        const format_record *record = lmi_format_records[i];
        for (uint32_t k = 0; k < record->field_count; k++) {
            const format_field *field = &record->fields[k];
            assert_non_null(field->doc);
            assert_ptr_equal(lmi_format_find(record, field->name), field); /* no name twice */
            assert_true(field->offset >= sizeof(scene_head) && field->offset < record->size);
            assert_false(field->required && field->standard != NULL);
        }
        for (uint32_t k = 0; k < record->group_count; k++) {
            for (uint32_t n = 0; n < 5 && record->groups[k].names[n] != NULL; n++) {
                assert_non_null(lmi_format_find(record, record->groups[k].names[n]));
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
    while ((got = fread(block, 1, sizeof block, file)) > 0) lmi_text_add(&out, block, got);
    fclose(file);
    return lmi_text_take(&out);
}

static void test_documentation_has_the_tables(void **state)
{
    (void)state;
    char *page = read_whole(SOURCE_DIR "/docs/scene-format.md");
    char *tables = lm_scene_reference();
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
    char *schema = lm_scene_schema();
    json_document *document = lmi_json_create();
    json_error error;
    json_value *root = lmi_json_parse(document, schema, strlen(schema), NULL, &error);
    if (root == NULL) fail_msg("%u:%u: %s", error.place.line, error.place.column, error.text);
    const json_value *defs = lmi_json_get(root, "$defs");
    assert_int_equal(defs->count, lmi_format_record_count);
    const json_value *mass = lmi_json_get(lmi_json_get(lmi_json_get(defs, "body"), "properties"), "mass");
    assert_true(lmi_json_get(mass, "exclusiveMinimum")->number == 0.0);
    lmi_json_free(document);
    free(schema);
}

static void test_nearest_names(void **state)
{
    (void)state;
    nearest_name near = lmi_nearest_to("Dampign-Ratio");
    lmi_nearest_offer(&near, "damping");
    lmi_nearest_offer(&near, "damping_ratio");
    assert_string_equal(near.best, "damping_ratio");
    near = lmi_nearest_to("from"); /* two neighbours swapped are one mistake, two letters changed are two */
    lmi_nearest_offer(&near, "fxxm");
    lmi_nearest_offer(&near, "form");
    assert_string_equal(near.best, "form");
    near = lmi_nearest_to("zq");
    lmi_nearest_offer(&near, "at");
    assert_null(near.best);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Geometry
 */

static void test_rotations(void **state)
{
    (void)state;
    for (double degrees = -720.0; degrees <= 720.0; degrees += 7.5) {
        double sine, cosine;
        lmi_sine_cosine(degrees, &sine, &cosine);
        assert_true(fabs(sine - sin(degrees * RADIANS_PER_DEGREE)) < 1e-14);
        assert_true(fabs(cosine - cos(degrees * RADIANS_PER_DEGREE)) < 1e-14);
    }
    assert_vector(lmi_rotation_apply(lmi_rotation_from_euler(vector(90, 0, 0)), vector(0, 1, 0)), 0, 0, 1);
    assert_vector(lmi_rotation_apply(lmi_rotation_from_euler(vector(90, 90, 0)), vector(0, 1, 0)), 1, 0,
                  0); /* x, then y */
    assert_vector(lmi_rotation_apply(lmi_rotation_about(vector(0, 0, 5), 90), vector(1, 0, 0)), 0, 1, 0);
    assert_vector(lmi_rotation_apply(lmi_rotation_from_up(vector(3, 0, 0)), vector(0, 1, 0)), 1, 0, 0);
    assert_vector(lmi_rotation_apply(lmi_rotation_from_up(vector(0, -2, 0)), vector(0, 1, 0)), 0, -1, 0);
}

static void test_deformations(void **state)
{
    (void)state;
    const lm_vec3 rest[2] = {{0.0f, 2.0f, 0.0f}, {1.0f, 2.0f, 0.0f}};
    lm_dvec3 out[2];
    scene_deform deform = {.scale = {1, 1, 1}, .axis = 1, .twist = 45};
    lmi_deform_points(&deform, rest, 2, out);
    assert_vector(out[0], 0, 2, 0);
    assert_vector(out[1], 0, 2, -1); /* a quarter turn about y takes x to -z */
    deform = (scene_deform){.scale = {1, 1, 1}, .axis = 1, .bend = 45};
    lmi_deform_points(&deform, rest, 2, out);
    double radius = 1.0 / (45.0 * RADIANS_PER_DEGREE); /* towards z, the axis after y */
    assert_vector(out[0], 0, radius, radius);
    scene_mode modes[2] = {{.axis = 2, .function = 6, .amount = 0.25}, {.axis = 0, .function = 1, .amount = 3}};
    deform = (scene_deform){.modes = {modes, 2}, .scale = {1, 1, 2}}; /* z grows by xy/4, x by 3y; then z doubles */
    lmi_deform_points(&deform, rest, 2, out);
    assert_vector(out[1], 7, 2, 1);
    deform = (scene_deform){.scale = {2, 0, 1}, .shear = {0.5, 0, 0}};
    lmi_deform_points(&deform, rest, 2, out);
    assert_vector(out[1], 2, 0, 0);
}

static void test_rigid_fit_finds_the_rotation(void **state)
{
    (void)state;
    random_source source = lmi_random_start(7, 0);
    for (uint32_t round = 0; round < 200; round++) {
        rotation turn = lmi_rotation_from_euler(vector_scale(lmi_random_vector(&source), 180.0));
        lm_vec3 rest[20], now[20];
        float masses[20];
        for (uint32_t i = 0; i < 20; i++) {
            rest[i] = vector_narrow(lmi_random_vector(&source));
            masses[i] = (float)(1.5 + lmi_random_signed(&source));
            now[i] = vector_narrow(vector_add(lmi_rotation_apply(turn, vector_widen(rest[i])), vector(3, 2, 1)));
        }
        rigid_fit fit = lmi_fit_rigid(rest, now, masses, 20);
        assert_true(fit.residual < 1e-6);
        double same = fit.rotate.x * turn.x + fit.rotate.y * turn.y + fit.rotate.z * turn.z + fit.rotate.w * turn.w;
        assert_true(fabs(fabs(same) - 1.0) < 1e-9);
    }
    /* Two equal masses pulled apart from distance 2 to 3: each is 0.5 off. */
    const lm_vec3 pair[2] = {{-1, 0, 0}, {1, 0, 0}}, apart[2] = {{0, -1.5f, 0}, {0, 1.5f, 0}};
    const float masses[2] = {1.0f, 1.0f};
    assert_true(fabs(lmi_fit_rigid(pair, apart, masses, 2).residual - 0.5) < 1e-9);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
