/*
 * Meshes of every format: the same mesh comes out of all of them, files that were cut off or changed do no harm, and
 * vertices are welded as promised.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include "io/decimal.h"
#include "limber/shapes.h"
#include "test/support/mesh_files.h"
#include "test/support/support.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Every format
 */

/* One of each kind of file, by number; its name, or null past the last. */
static const char *make_file(int kind, const plain_mesh *mesh, text_buffer *file)
{
    static const ply_style ply[] = {{PLY_TEXT, .extras = true},
                                    {PLY_LITTLE_ENDIAN, .colour_type = "float"},
                                    {PLY_BIG_ENDIAN, .extras = true, .position_type = "double", .faces_first = true}};
    static const gltf_style gltf[] = {{.binary = false}, {.binary = true, .interleaved = true, .colour_type = 5123}};
    switch (kind) {
    case 0: make_obj(file, mesh); return "a.obj";
    case 1:
    case 2:
    case 3: make_ply(file, mesh, ply[kind - 1]); return "a.ply";
    case 4: make_stl_text(file, mesh, "thing"); return "a.stl";
    case 5: make_stl_binary(file, mesh, "solid, and yet binary"); return "a.stl";
    case 6: make_gltf(file, NULL, mesh, gltf[0]); return "a.gltf";
    case 7: make_gltf(file, NULL, mesh, gltf[1]); return "a.glb";
    default: return NULL;
    }
}

static bool is_stl(int kind) { return kind == 4 || kind == 5; }

static plain_mesh make_duck(lm_shape_mesh *shape)
{
    lm_shape_def def = lm_shape_def_default();
    def.name = "duck";
    def.size = lm_shape_natural_size("duck");
    def.detail = 30;
    assert_int_equal(lm_shape_make_mesh(&def, shape), LM_OK);
    return (plain_mesh){shape->vertices, &shape->colours[0].r, shape->vertex_count, shape->triangles,
                        shape->triangle_count};
}

static void test_all_formats_hold_the_duck(void **state)
{
    (void)state;
    lm_shape_mesh shape;
    plain_mesh duck = make_duck(&shape), bare = duck;
    bare.colours = NULL;
    assert_true(duck.triangle_count > 2000);
    text_buffer file = {0};
    for (int kind = 0;; kind++) {
        const char *name = make_file(kind, &duck, &file);
        if (!name) break;
        assert_holds(name, &file, is_stl(kind) ? &bare : &duck, 0);
    }
    lm_shape_mesh_free(&shape);
}

/* Welded, every format gives a closed surface with the volume of the shape. */
static void test_all_formats_weld_to_the_duck(void **state)
{
    (void)state;
    lm_shape_mesh shape;
    plain_mesh duck = make_duck(&shape);
    lm_mesh_report expected;
    assert_int_equal(lm_mesh_inspect(duck.positions, duck.vertex_count, duck.triangles, duck.triangle_count, &expected),
                     LM_OK);
    assert_true(expected.closed);
    for (int kind = 0;; kind++) {
        text_buffer file = {0};
        const char *name = make_file(kind, &duck, &file);
        if (!name) break;
        lm_mesh_data mesh;
        lm_mesh_error error;
        if (!lm_mesh_parse(name, file.bytes, file.length, NULL, &mesh, &error)) fail_msg("%s", error.text);
        lmi_text_free(&file);
        lm_mesh_report report;
        assert_int_equal(
            lm_mesh_inspect(mesh.positions, mesh.vertex_count, mesh.triangles, mesh.triangle_count, &report), LM_OK);
        assert_int_equal(report.vertices, expected.vertices);
        assert_int_equal(mesh.welded, is_stl(kind) ? 3 * duck.triangle_count - duck.vertex_count : 0);
        assert_true(report.closed && report.parts == 1);
        assert_true(fabs(report.volume - expected.volume) < 1e-12);
        lm_mesh_free(&mesh);
    }
    lm_shape_mesh_free(&shape);
}

/* Cut off after every byte. */
static void test_truncation(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    for (int kind = 0;; kind++) {
        text_buffer file = {0};
        const char *name = make_file(kind, &cube, &file);
        if (!name) break;
        for (size_t size = 0; size <= file.length; size++) assert_survives(name, file.bytes, size);
        lmi_text_free(&file);
    }
}

/* Every byte changed, in several ways. */
static void test_changed_bytes(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    for (int kind = 0;; kind++) {
        text_buffer file = {0};
        const char *name = make_file(kind, &cube, &file);
        if (!name) break;
        for (size_t i = 0; i < file.length; i++) {
            char kept = file.bytes[i];
            static const char values[] = {'\0', '\xff', '\x7f', '9', '-', '\n', ' '};
            for (size_t k = 0; k < sizeof values; k++) {
                file.bytes[i] = values[k];
                assert_survives(name, file.bytes, file.length);
            }
            file.bytes[i] = kept;
        }
        lmi_text_free(&file);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Which format
 */

static void test_contents_decide(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube(), bare = cube;
    bare.colours = NULL;
    static const char *const wrong[] = {"a.ply", "a.obj", "a.obj", "a.obj", "", "a.obj", "a.json", "a.stl"};
    for (int kind = 1;; kind++) {
        text_buffer file = {0};
        if (!make_file(kind, &cube, &file)) break;
        assert_holds(wrong[kind], &file, is_stl(kind) ? &bare : &cube, 0);
    }
    /* Capital letters, and endings that are not at the end. */
    text_buffer file = {0};
    make_obj(&file, &cube);
    assert_holds("A.OBJ", &file, &cube, 0);
    assert_text_refused("obj", "v 0 0 0\n", "obj: not a mesh file (expected OBJ, PLY, STL, OFF, glTF or GLB)");
    assert_text_refused("a.obj/b", "v 0 0 0\n", "a.obj/b: not a mesh file (expected OBJ, PLY, STL, OFF, glTF or GLB)");
    assert_text_refused("a.obj", "", "a.obj: the file is empty");
    assert_text_refused("a.ply", "v 0 0 0\n", "a.ply: not a PLY file: it does not begin with \"ply\"");
    assert_true(lm_mesh_is_name("a.stl") && lm_mesh_is_name("x/a.GLB") && lm_mesh_is_name("a.b.fbx"));
    assert_false(lm_mesh_is_name("a.json") || lm_mesh_is_name("crowd") || lm_mesh_is_name("stl") ||
                 lm_mesh_is_name("a.stl/b"));
}

static void test_files(void **state)
{
    (void)state;
    lm_mesh_data mesh;
    lm_mesh_error error;
    assert_false(lm_mesh_read("no-such-file.ply", NULL, &mesh, &error));
    assert_string_equal(error.text, "no-such-file.ply: No such file or directory");
    assert_false(lm_mesh_read(".", NULL, &mesh, &error));
    assert_string_equal(error.text, ".: Is a directory");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Options
 */

static lm_mesh_data parse_with(const char *text, lm_mesh_options options)
{
    lm_mesh_data mesh;
    lm_mesh_error error;
    if (!lm_mesh_parse("a.obj", text, strlen(text), &options, &mesh, &error)) fail_msg("%s", error.text);
    return mesh;
}

static void test_z_up(void **state)
{
    (void)state;
    lm_mesh_data mesh = parse_with("v 1 2 3\nv 0 0 0\nv 0 1 0\nf 1 2 3\n", (lm_mesh_options){.z_up = true});
    assert_true(mesh.positions[0].x == 1.0f && mesh.positions[0].y == 3.0f && mesh.positions[0].z == -2.0f);
    lm_mesh_free(&mesh);
}

static void refuse_surface(const char *text, const char *expected)
{
    lm_mesh_data mesh;
    lm_mesh_error error;
    assert_false(lm_mesh_parse("a.obj", text, strlen(text), &(lm_mesh_options){.surface = true}, &mesh, &error));
    assert_string_equal(error.text, expected);
    assert_true(lm_mesh_parse("a.obj", text, strlen(text), NULL, &mesh, &error));
    lm_mesh_free(&mesh);
}

static void test_surface(void **state)
{
    (void)state;
    refuse_surface("v 0 0 0\nv 1 0 0\n", "a.obj: it has no faces");
    refuse_surface("v 0 0 0\nv 1 0 0\nv 3 0 0\nf 1 2 3\nf 1 1 2\n", "a.obj: none of its 2 triangles has an area");
    lm_mesh_data mesh = parse_with("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", (lm_mesh_options){.surface = true});
    assert_int_equal(mesh.triangle_count, 1);
    lm_mesh_free(&mesh);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Colours and names
 */

static void test_obj_colours(void **state)
{
    (void)state;
    lm_mesh_data mesh = parse_with("v 0 0 0\nv 1 0 0 1 0.5 0\nv 0 1 0 2 -1 1e9 # red\nv 0 0 1 0.7\nv 1 1 1 1 1\n"
                                   "f 1 2 3\n",
                                   (lm_mesh_options){.weld = -1.0f});
    static const uint8_t expected[15] = {255, 255, 255, 255, 128, 0, 255, 0, 255, 255, 255, 255, 255, 255, 255};
    assert_non_null(mesh.colours);
    assert_memory_equal(mesh.colours, expected, sizeof expected);
    lm_mesh_free(&mesh);
    mesh = parse_with("v 0 0 0\nv 1 0 0 0.5\n", (lm_mesh_options){0});
    assert_null(mesh.colours);
    lm_mesh_free(&mesh);
}

static void assert_part(const lm_mesh_data *mesh, uint32_t index, const char *name, uint32_t first, uint32_t count)
{
    assert_string_equal(mesh->names + mesh->parts[index].name, name);
    assert_int_equal(mesh->parts[index].first_triangle, first);
    assert_int_equal(mesh->parts[index].triangle_count, count);
}

static void test_parts(void **state)
{
    (void)state;
    lm_mesh_data mesh = parse_with("o empty\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no left hand \ng also empty\n"
                                   "g a b\r\nf 1 2 3\nf 1 2 3\no last\nf 3 2 1\no nothing\n",
                                   (lm_mesh_options){0});
    assert_int_equal(mesh.part_count, 3);
    assert_part(&mesh, 0, "empty", 0, 1);
    assert_part(&mesh, 1, "a b", 1, 2);
    assert_part(&mesh, 2, "last", 3, 1);
    lm_mesh_free(&mesh);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Numbers
 */

/* Locales write 0.5 as "0,5"; files do not. A comma locale is made for the test where the machine has none. */
static void test_locale(void **state)
{
    (void)state;
#if defined(__wasi__)
    skip(); /* it takes any name for a locale, and none writes a comma */
#elif !defined(_WIN32)
    if (system("localedef -i de_DE -f UTF-8 ./test_mesh_de_DE.UTF-8 2>/dev/null >/dev/null") == 0)
        setenv("LOCPATH", ".", 1);
#endif
    if (!setlocale(LC_ALL, "test_mesh_de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.UTF-8") &&
        !setlocale(LC_ALL, "German"))
        skip();
    char number[8];
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5");
    static const lm_vec3 points[3] = {{0.5f, 1.25f, -2.75f}, {1.5e-7f, 0.1f, 0.2f}, {3.5f, 1e8f, 0.3f}};
    static const uint32_t corners[3] = {0, 1, 2};
    static const uint8_t colours[9] = {0, 10, 20, 100, 120, 140, 255, 254, 253};
    plain_mesh mesh = {points, colours, 3, corners, 1}, bare = {points, NULL, 3, corners, 1};
    for (int kind = 0;; kind++) {
        text_buffer file = {0};
        const char *name = make_file(kind, &mesh, &file);
        if (!name) break;
        assert_holds(name, &file, is_stl(kind) ? &bare : &mesh, 0);
    }
    setlocale(LC_ALL, "C");
#if !defined(_WIN32) && !defined(__wasi__)
    if (system("rm -rf ./test_mesh_de_DE.UTF-8") != 0) fail();
#endif
}

/* Words of every length against the C library: always the nearest float of the nearest double. */
static void test_numbers(void **state)
{
    (void)state;
    random_state random = {7};
    for (int i = 0; i < 300000; i++) {
        char text[64];
        int digits = (int)random_below(&random, 25) + 1;
        double power = (double)random_below(&random, 83) - 45.0;
        double size = random_range(&random, -1.0, 1.0) * pow(10.0, power);
        if (i % 3 == 0) { /* just beside the border between two floats */
            float near = (float)size;
            size = ((double)near + (double)nextafterf(near, 2.0f * near)) / 2.0;
        }
        int length = snprintf(text, sizeof text, i % 2 ? "%.*e" : "%+.*e", digits, size);
        float value;
        double wide;
        assert_true(lmi_decimal_read_float(text, (size_t)length, &value));
        assert_true(lmi_decimal_read(text, (size_t)length, &wide));
        assert_true(wide == strtod(text, NULL));
        assert_true(value == (float)strtod(text, NULL));
    }
    static const char *const words[] = {"",    "+",   "-",    ".",   "e5", "1e",    "1e+", "nan", "inf",
                                        "0x1", "1,5", "1.5.", "--1", "1 ", "1e5.0", "1d5", "1_0"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        float value;
        assert_false(lmi_decimal_read_float(words[i], strlen(words[i]), &value));
    }
    static const char *const numbers[] = {"1.",  ".5",    "+1",     "-0",
                                          "1E5", "00012", "1e-400", "123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        float value;
        assert_true(lmi_decimal_read_float(numbers[i], strlen(numbers[i]), &value));
        assert_true(value == strtof(numbers[i], NULL));
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Welding
 */

static lm_mesh_data make_points(const lm_vec3 *points, uint32_t count)
{
    lm_mesh_data mesh = {.vertex_count = count, .triangle_count = count / 3};
    mesh.positions = malloc(count * sizeof *mesh.positions);
    mesh.triangles = malloc(count * sizeof *mesh.triangles);
    assert_true(mesh.positions && mesh.triangles);
    memcpy(mesh.positions, points, count * sizeof *points);
    for (uint32_t i = 0; i < count; i++) mesh.triangles[i] = i;
    return mesh;
}

static void test_weld_exactly(void **state)
{
    (void)state;
    static const lm_vec3 points[6] = {{0, 0, 0}, {1, 2, 3},          {-0.0f, 0, -0.0f},
                                      {1, 2, 3}, {1, 2, 3.0000002f}, {0, 0, 0}};
    lm_mesh_data mesh = make_points(points, 6);
    mesh.colours = malloc(18);
    mesh.normals = malloc(6 * sizeof *mesh.normals);
    assert_true(mesh.colours && mesh.normals);
    for (int i = 0; i < 18; i++) mesh.colours[i] = (uint8_t)i;
    static const lm_vec3 normals[6] = {{1, 0, 0}, {0, 1, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, 0}};
    memcpy(mesh.normals, normals, sizeof normals);
    assert_int_equal(lm_mesh_weld(&mesh, 0.0f), LM_OK);
    assert_int_equal(mesh.vertex_count, 3);
    assert_int_equal(mesh.welded, 3);
    static const uint32_t expected[6] = {0, 1, 0, 1, 2, 0};
    assert_memory_equal(mesh.triangles, expected, sizeof expected);
    static const uint8_t colours[9] = {0, 1, 2, 3, 4, 5, 12, 13, 14}; /* of the first at each place */
    assert_memory_equal(mesh.colours, colours, sizeof colours);
    assert_true(mesh.positions[2].z == 3.0000002f && !signbit(mesh.positions[0].x));
    /* Normals: a mean, none where they cancel, one alone. */
    assert_true(fabsf(mesh.normals[0].x - 0.70710678f) < 1e-6f && fabsf(mesh.normals[0].y - 0.70710678f) < 1e-6f);
    assert_true(mesh.normals[1].x == 0.0f && mesh.normals[1].y == 0.0f && mesh.normals[1].z == 0.0f);
    assert_true(mesh.normals[2].z == 1.0f);
    lm_mesh_free(&mesh);
}

/* The first in reach wins, and a chain of near points does not become one point. */
static void test_weld_within_reach(void **state)
{
    (void)state;
    static const lm_vec3 points[6] = {{0, 0, 0}, {0.9f, 0, 0}, {1.8f, 0, 0}, {2.7f, 0, 0}, {-1, 0, 0}, {1.4f, 0, 0}};
    lm_mesh_data mesh = make_points(points, 6);
    assert_int_equal(lm_mesh_weld(&mesh, 1.0f), LM_OK);
    static const uint32_t expected[6] = {0, 0, 1, 1, 0, 1};
    assert_memory_equal(mesh.triangles, expected, sizeof expected);
    assert_true(mesh.positions[0].x == 0.0f && mesh.positions[1].x == 1.8f);
    lm_mesh_free(&mesh);
}

/* Against the definition, pair by pair. */
static void test_weld_against_all_pairs(void **state)
{
    (void)state;
    random_state random = {3};
    for (int trial = 0; trial < 60; trial++) {
        lm_vec3 points[300];
        uint32_t kept[300], kept_count = 0, expected[300];
        static const float tolerances[] = {0.0f, 1e-30f, 0.02f, 0.3f, 1.0f, 1e9f};
        float tolerance = tolerances[trial % 6];
        for (int i = 0; i < 300; i++) {
            points[i] = to_float(random_in_cube(&random, 1.0));
            points[i].z = trial % 2 ? 0.0f : (float)random_below(&random, 3) * 0.1f;
        }
        for (int i = 150; i < 200; i++) points[i] = points[random_below(&random, 150)];
        for (uint32_t i = 0; i < 300; i++) {
            uint32_t k = 0;
            for (; k < kept_count; k++) {
                lm_vec3 p = points[i], q = points[kept[k]];
                double x = (double)p.x - q.x, y = (double)p.y - q.y, z = (double)p.z - q.z;
                if (x * x + y * y + z * z <= (double)tolerance * tolerance) break;
            }
            if (k == kept_count) kept[kept_count++] = i;
            expected[i] = k;
        }
        lm_mesh_data mesh = make_points(points, 300);
        assert_int_equal(lm_mesh_weld(&mesh, tolerance), LM_OK);
        assert_int_equal(mesh.vertex_count, kept_count);
        assert_memory_equal(mesh.triangles, expected, sizeof expected);
        for (uint32_t k = 0; k < kept_count; k++)
            assert_memory_equal(&mesh.positions[k], &points[kept[k]], sizeof(lm_vec3));
        lm_mesh_free(&mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_formats_hold_the_duck),
        cmocka_unit_test(test_all_formats_weld_to_the_duck),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_contents_decide),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_z_up),
        cmocka_unit_test(test_surface),
        cmocka_unit_test(test_obj_colours),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_weld_exactly),
        cmocka_unit_test(test_weld_within_reach),
        cmocka_unit_test(test_weld_against_all_pairs),
    };
    return cmocka_run_group_tests_name("mesh", tests, NULL, NULL);
}
