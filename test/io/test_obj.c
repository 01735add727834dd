/*
 * OBJ files: what is written reads back the same, what is wrong is refused with its place, and meshes are judged right.
 */
#define _XOPEN_SOURCE 700

#include "io/obj.h"
#include "io/polygon.h"
#include "limber/mesh.h"
#include "support/system.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(_WIN32) || defined(__wasi__)
#define HAS_LIMITS 0
#else
#define HAS_LIMITS 1
#include <sys/resource.h>
#endif

#include <cmocka.h>

static const lm_vec3 cube_points[8] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                       {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const uint32_t cube_triangles[12][3] = {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4},
                                               {2, 3, 7}, {2, 7, 6}, {1, 2, 6}, {1, 6, 5}, {0, 4, 7}, {0, 7, 3}};

static const lm_mesh_options as_it_is = {.weld = -1.0f};

static lm_mesh_object cube_object(const char *name)
{
    return (lm_mesh_object){.name = name,
                            .positions = cube_points,
                            .vertex_count = 8,
                            .triangles = &cube_triangles[0][0],
                            .triangle_count = 12};
}

static bool file_exists(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file) fclose(file);
    return file != NULL;
}

static char *file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    size_t length = fread(text, 1, 65535, file);
    assert_true(length > 0);
    fclose(file);
    return text;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Numbers
 */

static void assert_number(float value, const char *expected)
{
    char text[OBJ_NUMBER_SIZE];
    assert_int_equal(lmi_obj_format_number(value, text), strlen(expected));
    assert_string_equal(text, expected);
}

static void test_numbers_are_short(void **state)
{
    (void)state;
    assert_number(0.0f, "0");
    assert_number(-0.0f, "0");
    assert_number(1.0f, "1");
    assert_number(-0.125f, "-0.125");
    assert_number(0.1f, "0.1");
    assert_number(100.0f, "100");
    assert_number(12345678.0f, "12345678");
    assert_number(999999.9f, "999999.9");
    assert_number(9999999.0f, "9999999");
    assert_number(0.00001f, "0.00001");
    assert_number(0.000001f, "1e-06");
    assert_number(-1.5e-7f, "-1.5e-07");
    assert_number(1e9f, "1e+09");
    assert_number(FLT_MAX, "3.4028235e+38");
    assert_number(FLT_TRUE_MIN, "1.4013e-45");
}

/* Every float reads back: a walk over all exponents with changing digits. */
static void test_numbers_read_back(void **state)
{
    (void)state;
    uint32_t bits = 1;
    for (int i = 0; i < 200000; i++) {
        bits = bits * 1664525u + 1013904223u;
        float value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        char text[OBJ_NUMBER_SIZE];
        assert_true(lmi_obj_format_number(value, text) < OBJ_NUMBER_SIZE);
        back = strtof(text, NULL);
        assert_true(back == value);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Writing
 */

static void test_write_and_read(void **state)
{
    (void)state;
    static const char path[] = "test_obj_roundtrip.obj";
    lm_vec3 normals[8];
    for (int i = 0; i < 8; i++) normals[i] = (lm_vec3){0.1f * (float)i, -1e-20f, 1.0f};
    lm_mesh_object objects[3] = {cube_object("first"), cube_object("the second\n"), cube_object("third")};
    objects[1].normals = normals;
    lm_mesh_error error;
    assert_true(lm_mesh_write_obj(path, objects, 3, &error));
    char beside[64];
    snprintf(beside, sizeof beside, "test_obj_roundtrip.obj.%ld.tmp", lmi_system_process());
    assert_false(file_exists(beside));

    char *text = file_text(path);
    assert_non_null(strstr(text, "\no the_second_\n"));
    assert_non_null(strstr(text, "\nf 9//1 11//3 10//2\n")); /* normals are counted on their own */
    assert_non_null(strstr(text, "\nf 17 19 18\n"));
    free(text);

    lm_mesh_data mesh;
    lm_mesh_error read_error;
    assert_true(lm_mesh_read(path, &as_it_is, &mesh, &read_error));
    assert_int_equal(mesh.vertex_count, 24);
    assert_int_equal(mesh.triangle_count, 36);
    for (uint32_t i = 0; i < 24; i++) assert_memory_equal(&mesh.positions[i], &cube_points[i % 8], sizeof(lm_vec3));
    for (uint32_t i = 0; i < 108; i++)
        assert_int_equal(mesh.triangles[i], (&cube_triangles[0][0])[i % 36] + i / 36 * 8);
    lm_mesh_free(&mesh);
    remove(path);
}

static void test_write_failures(void **state)
{
    (void)state;
    lm_mesh_error error;
    lm_mesh_object object = cube_object("cube");
    assert_false(lm_mesh_write_obj("no/such/folder/a.obj", &object, 1, &error));
    assert_non_null(strstr(error.text, "no/such/folder/a.obj: cannot be written: No such file"));

    /* A file that is already there survives a failure. */
    static const char path[] = "test_obj_keep.obj";
    assert_true(lm_mesh_write_obj(path, &object, 1, &error));
    lm_vec3 bad[8];
    memcpy(bad, cube_points, sizeof bad);
    bad[5].y = NAN;
    object.positions = bad;
    assert_false(lm_mesh_write_obj(path, &object, 1, &error));
    assert_non_null(strstr(error.text, "vertex 5 of \"cube\" is not finite"));
    object.positions = cube_points;
    object.vertex_count = 7;
    assert_false(lm_mesh_write_obj(path, &object, 1, &error));
    assert_non_null(strstr(error.text, "names vertex 7 of 7"));
    float uvs[16] = {0};
    uvs[13] = NAN;
    object = cube_object("cube");
    object.uvs = uvs;
    assert_false(lm_mesh_write_obj(path, &object, 1, &error));
    assert_non_null(strstr(error.text, "vertex 6 of \"cube\" is not finite"));
    object = cube_object(NULL);
    assert_false(lm_mesh_write_obj(path, &object, 1, &error));
    assert_non_null(strstr(error.text, "lacks its name or an array"));
    object = cube_object("cube");
    object.positions = NULL;
    assert_false(lm_mesh_write_obj(path, &object, 1, &error));
    object = cube_object("cube");
    object.triangles = NULL;
    assert_false(lm_mesh_write_obj(path, &object, 1, &error));
    lm_mesh_data mesh;
    lm_mesh_error read_error;
    assert_true(lm_mesh_read(path, &as_it_is, &mesh, &read_error));
    assert_int_equal(mesh.triangle_count, 12);
    lm_mesh_free(&mesh);
    remove(path);
}

#if HAS_LIMITS

/* The write ends on a full disk only when the buffer goes out. */
static void test_write_to_full_disk(void **state)
{
    (void)state;
    static const char path[] = "test_obj_full.obj";
    char beside[64];
    snprintf(beside, sizeof beside, "%s.%ld.tmp", path, lmi_system_process());
    remove(beside);
    if (!file_exists("/dev/full") || symlink("/dev/full", beside) != 0) skip();
    lm_mesh_object object = cube_object("cube");
    lm_mesh_error error;
    assert_false(lm_mesh_write_obj(path, &object, 1, &error));
    assert_non_null(strstr(error.text, "No space left on device"));
    assert_false(file_exists(path));
    assert_false(file_exists(beside));
}

/* A file that grows beyond what is allowed: the signal does not end the program, and nothing is left of it. */
static void test_write_beyond_limit(void **state)
{
    (void)state;
    static const char path[] = "test_obj_limit.obj";
    char beside[64];
    struct rlimit before, limit;
    snprintf(beside, sizeof beside, "%s.%ld.tmp", path, lmi_system_process());
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 100; /* the cube takes more */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    lm_mesh_object object = cube_object("cube");
    lm_mesh_error error;
    bool written = lm_mesh_write_obj(path, &object, 1, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(written);
    assert_non_null(strstr(error.text, "File too large"));
    assert_false(file_exists(path));
    assert_false(file_exists(beside));
}

#endif /* HAS_LIMITS */

static void test_locale(void **state)
{
    (void)state;
    /* Whichever comma locale the machine has; without one the test still shows that the C locale works. */
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) setlocale(LC_ALL, "fr_FR.UTF-8");
    assert_number(0.5f, "0.5");
    lm_mesh_data mesh;
    lm_mesh_error error;
    static const char text[] = "v 0.5 -1.25e1 .75\n";
    assert_true(lm_mesh_parse("a.obj", text, sizeof text - 1, &as_it_is, &mesh, &error));
    assert_true(mesh.positions[0].x == 0.5f && mesh.positions[0].y == -12.5f && mesh.positions[0].z == 0.75f);
    lm_mesh_free(&mesh);
    setlocale(LC_ALL, "C");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Reading
 */

static lm_mesh_data parse(const char *text)
{
    lm_mesh_data mesh;
    lm_mesh_error error;
    if (!lm_mesh_parse("a.obj", text, strlen(text), &as_it_is, &mesh, &error)) fail_msg("%s", error.text);
    return mesh;
}

static void assert_triangles(lm_mesh_data mesh, const uint32_t *expected, uint32_t count)
{
    assert_int_equal(mesh.triangle_count, count);
    assert_memory_equal(mesh.triangles, expected, 3 * count * sizeof *expected);
    lm_mesh_free(&mesh);
}

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static void test_face_forms(void **state)
{
    (void)state;
    static const uint32_t one[3] = {0, 1, 2};
    assert_triangles(parse(SQUARE "f 1 2 3"), one, 1);
    assert_triangles(parse(SQUARE "f 1/1 2/2 3/3\n"), one, 1);
    assert_triangles(parse(SQUARE "f 1//1 2//2 3//3\n"), one, 1);
    assert_triangles(parse(SQUARE "f 1/9/9 2/-1/7 3/1/1\n"), one, 1);
    assert_triangles(parse(SQUARE "f -4 -3 -2\n"), one, 1);
    assert_triangles(parse(SQUARE "v 5 5 5\nf -5/-1 -4 -3//2\n"), one, 1);
    assert_triangles(parse(SQUARE "f 1 2 \\\n 3 # a comment\n"), one, 1);
    assert_triangles(parse("\xEF\xBB\xBF# marked\r\n" SQUARE "\tf  1\t2 3  \r\n"), one, 1);
    static const uint32_t two[6] = {3, 0, 1, 1, 2, 3};
    assert_triangles(parse(SQUARE "o thing\ng a b\ns off\nusemtl red\nvt 0 0\nvn 0 0 1\nl 1 2\nf 1 2 3 4\n"), two, 2);
}

static void test_vertex_forms(void **state)
{
    (void)state;
    lm_mesh_data mesh = parse("v 1 2 3 1.0\nv +1. .5 -2E+1 0.1 0.2 0.3\nv 1e-60 0 -0\n");
    assert_int_equal(mesh.vertex_count, 3);
    assert_true(mesh.positions[1].x == 1.0f && mesh.positions[1].y == 0.5f && mesh.positions[1].z == -20.0f);
    assert_true(mesh.positions[2].x == 0.0f);
    lm_mesh_free(&mesh);
}

static void assert_parse_fails(const char *text, const char *expected)
{
    lm_mesh_data mesh = {.vertex_count = 3};
    lm_mesh_error error;
    assert_false(lm_mesh_parse("a.obj", text, strlen(text), &as_it_is, &mesh, &error));
    assert_string_equal(error.text, expected);
    assert_null(mesh.positions);
    assert_int_equal(mesh.vertex_count, 0);
}

static void test_reading_errors(void **state)
{
    (void)state;
    static const char corner[] = " is not a corner (expected v, v/vt, v//vn or v/vt/vn, counted from 1)";
    char expected[200];
    static const char *const bad[] = {"0", "x", "1/", "1//", "1/2/", "1/2/3/4", "1/0", "1.5", "99999999999", "--1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, SQUARE "f 1 2 %s\n", bad[i]);
        snprintf(expected, sizeof expected, "a.obj:5: \"%s\"%s", bad[i], corner);
        assert_parse_fails(text, expected);
    }
    assert_parse_fails("", "a.obj: the file is empty");
    assert_parse_fails("solid stl\n", "a.obj: not an OBJ file: it has no vertices");
    assert_parse_fails("\nv 1 2\n", "a.obj:2: a vertex needs three coordinates");
    assert_parse_fails("v 1 2 nan\n", "a.obj:1: \"nan\" is not a number");
    assert_parse_fails("v 1 2 1e\n", "a.obj:1: \"1e\" is not a number");
    assert_parse_fails("v 1 2 0x10\n", "a.obj:1: \"0x10\" is not a number");
    assert_parse_fails("v 1 2 1e10\n", "a.obj:1: coordinate 1e10 is beyond 1e9");
    assert_parse_fails("v 1 2 -1e999\n", "a.obj:1: coordinate -1e999 is beyond 1e9");
    assert_parse_fails(SQUARE "f 1 2\n", "a.obj:5: a face needs three corners");
    assert_parse_fails(SQUARE "f 1 2 5\n", "a.obj:5: vertex 5 does not exist, there are 4 above this line");
    assert_parse_fails(SQUARE "f 1 2 -5\n", "a.obj:5: vertex -5 does not exist, there are 4 above this line");
    assert_parse_fails("f 1 2 3\n" SQUARE, "a.obj:1: vertex 1 does not exist, there are 0 above this line");

    lm_mesh_data mesh;
    lm_mesh_error error;
    assert_false(lm_mesh_read("no-such-file.obj", &as_it_is, &mesh, &error));
    assert_string_equal(error.text, "no-such-file.obj: No such file or directory");
    assert_false(lm_mesh_read(".", &as_it_is, &mesh, &error));
    assert_true(strncmp(error.text, ".: ", 3) == 0);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Polygons
 */

static double area_of(const lm_vec3 *p, const uint32_t *t)
{
    double ux = p[t[1]].x - p[t[0]].x, uy = p[t[1]].y - p[t[0]].y;
    double vx = p[t[2]].x - p[t[0]].x, vy = p[t[2]].y - p[t[0]].y;
    return 0.5 * (ux * vy - uy * vx);
}

/* No triangle of a concave polygon is turned over, and together they have its area. */
static void assert_divided(const lm_vec3 *points, uint32_t count, double area)
{
    uint32_t corners[600] = {0}, triangles[3 * 600];
    for (uint32_t i = 0; i < count; i++) corners[i] = i;
    lmi_polygon_triangulate(points, corners, count, triangles);
    double sum = 0.0;
    for (uint32_t t = 0; t + 2 < count; t++) {
        double part = area_of(points, triangles + 3 * t);
        assert_true(part > 0.0);
        sum += part;
    }
    assert_true(fabs(sum - area) < 1e-5 * area);
}

static void test_polygons(void **state)
{
    (void)state;
    static const lm_vec3 arrow[4] = {{0, 0, 0}, {2, -1, 0}, {1, 0, 0}, {2, 1, 0}};
    assert_divided(arrow, 4, 1.0);
    static const lm_vec3 letter[8] = {{0, 0, 0}, {3, 0, 0}, {3, 3, 0}, {2, 3, 0},
                                      {2, 1, 0}, {1, 1, 0}, {1, 3, 0}, {0, 3, 0}}; /* a U */
    assert_divided(letter, 8, 7.0);

    lm_vec3 star[200];
    double area = 0.0;
    for (int i = 0; i < 200; i++) {
        double angle = 2.0 * 3.14159265358979 * i / 200.0, radius = i % 2 ? 1.0 : 0.4;
        star[i] = (lm_vec3){(float)(radius * cos(angle)), (float)(radius * sin(angle)), 0.0f};
    }
    for (int i = 0; i < 200; i++) {
        lm_vec3 p = star[i], q = star[(i + 1) % 200];
        area += 0.5 * ((double)p.x * q.y - (double)p.y * q.x);
    }
    assert_divided(star, 200, area);
}

/* Polygons without area, or that cross themselves, still give count - 2 triangles of their own corners. */
static void test_bad_polygons(void **state)
{
    (void)state;
    static const lm_vec3 points[5] = {{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}, {0.5f, 0.5f, 0}};
    static const uint32_t cases[][5] = {{0, 1, 2, 3, 4}, {0, 0, 0, 0, 0}, {0, 1, 0, 1, 0}, {0, 4, 1, 4, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t triangles[9];
        memset(triangles, 0xff, sizeof triangles);
        lmi_polygon_triangulate(points, cases[i], 5, triangles);
        for (int k = 0; k < 9; k++) assert_true(triangles[k] < 5);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Reports
 */

static lm_mesh_report report_of(const lm_vec3 *points, uint32_t point_count, const void *triangles, uint32_t count)
{
    lm_mesh_report report;
    assert_int_equal(lm_mesh_inspect(points, point_count, triangles, count, &report), LM_OK);
    return report;
}

static void test_report_of_a_cube(void **state)
{
    (void)state;
    lm_mesh_report report = report_of(cube_points, 8, cube_triangles, 12);
    assert_true(report.closed);
    assert_int_equal(report.vertices, 8);
    assert_int_equal(report.triangles, 12);
    assert_int_equal(report.parts, 1);
    assert_int_equal(report.open_edges + report.nonmanifold_edges + report.flipped_edges, 0);
    assert_int_equal(report.degenerate_faces + report.duplicate_faces, 0);
    assert_int_equal(report.unused_vertices + report.coincident_vertices, 0);
    assert_true(fabs(report.area - 6.0) < 1e-12 && fabs(report.volume - 1.0) < 1e-12);
    assert_true(report.lower.x == 0.0f && report.upper.z == 1.0f);
}

static void test_report_of_broken_cubes(void **state)
{
    (void)state;
    uint32_t t[14][3];
    memcpy(t, cube_triangles, sizeof cube_triangles);
    lm_mesh_report report = report_of(cube_points, 8, t, 11);
    assert_false(report.closed);
    assert_int_equal(report.open_edges, 3);
    assert_true(report.volume == 0.0);

    memcpy(t[12], (uint32_t[3]){6, 7, 4}, sizeof t[12]); /* one of the faces again */
    report = report_of(cube_points, 8, t, 13);
    assert_int_equal(report.duplicate_faces, 1);
    assert_int_equal(report.nonmanifold_edges, 3);

    memcpy(t[0], (uint32_t[3]){0, 1, 2}, sizeof t[0]); /* turned over */
    report = report_of(cube_points, 8, t, 12);
    assert_int_equal(report.flipped_edges, 3);
    assert_int_equal(report.open_edges, 0);
    assert_false(report.closed);

    memcpy(t[0], (uint32_t[3]){0, 2, 1}, sizeof t[0]);
    memcpy(t[12], (uint32_t[3]){0, 0, 1}, sizeof t[12]);
    report = report_of(cube_points, 8, t, 13);
    assert_int_equal(report.degenerate_faces, 1);
    assert_true(report.closed); /* it has no edges */
}

static void test_report_of_parts(void **state)
{
    (void)state;
    static const lm_vec3 points[8] = {{0, 0, 0}, {1, 0, 0},     {0, 1, 0}, {5, 0, 0},
                                      {6, 0, 0}, {7, 1e-9f, 0}, {0, 0, 0}, {9, 9, 9}};
    static const uint32_t triangles[2][3] = {{0, 1, 2}, {3, 4, 5}};
    lm_mesh_report report = report_of(points, 8, triangles, 2);
    assert_int_equal(report.parts, 2);
    assert_int_equal(report.unused_vertices, 2);
    assert_int_equal(report.coincident_vertices, 1);
    assert_int_equal(report.degenerate_faces, 1); /* on a line */
    assert_int_equal(report.open_edges, 6);
}

static void test_report_failures(void **state)
{
    (void)state;
    lm_mesh_report report;
    static const uint32_t far[3] = {0, 1, 8};
    assert_int_equal(lm_mesh_inspect(cube_points, 8, far, 1, &report), LM_ERROR_ARGUMENT);
    static const lm_vec3 bad = {0.0f, INFINITY, 0.0f};
    assert_int_equal(lm_mesh_inspect(&bad, 1, NULL, 0, &report), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_mesh_inspect(NULL, 8, NULL, 0, &report), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_mesh_inspect(cube_points, 8, NULL, 1, &report), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_mesh_inspect(cube_points, 8, NULL, 0, NULL), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_mesh_inspect(NULL, 0, NULL, 0, &report), LM_OK);
    assert_false(report.closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_short),
        cmocka_unit_test(test_numbers_read_back),
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_write_failures),
#if HAS_LIMITS
        cmocka_unit_test(test_write_to_full_disk),
        cmocka_unit_test(test_write_beyond_limit),
#endif
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_face_forms),
        cmocka_unit_test(test_vertex_forms),
        cmocka_unit_test(test_reading_errors),
        cmocka_unit_test(test_polygons),
        cmocka_unit_test(test_bad_polygons),
        cmocka_unit_test(test_report_of_a_cube),
        cmocka_unit_test(test_report_of_broken_cubes),
        cmocka_unit_test(test_report_of_parts),
        cmocka_unit_test(test_report_failures),
    };
    return cmocka_run_group_tests_name("obj", tests, NULL, NULL);
}
