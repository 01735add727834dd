/*
 * PLY files: every encoding, type and order of properties gives the same mesh; what is wrong is refused with its place.
 */
#include "test/support/mesh_files.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_styles(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    static const char *const positions[] = {"float", "double"};
    static const char *const colours[] = {"uchar", "float", "ushort", "double"};
    static const char *const counts[] = {"uchar", "char", "ushort", "short", "int", "uint"};
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    int tried = 0;
    for (int encoding = 0; encoding < 3; encoding++) {
        for (int i = 0; i < 288; i++, tried++) {
            ply_style style = {.position_type = positions[i % 2],
                               .colour_type = colours[i / 2 % 4],
                               .count_type = counts[i / 8 % 6],
                               .index_type = counts[(i / 8 + i / 48) % 6],
                               .extras = i / 48 % 2,
                               .faces_first = i / 96 % 3 == 2,
                               .line_end = ends[i % 3]};
            style.encoding = encoding == 0 ? PLY_TEXT : encoding == 1 ? PLY_LITTLE_ENDIAN : PLY_BIG_ENDIAN;
            text_buffer file = {0};
            if (strcmp(style.colour_type, "double") == 0) style.colour_type = "float";
            make_ply(&file, &cube, style);
            assert_holds("a.ply", &file, &cube, 0);
        }
    }
    assert_int_equal(tried, 864);
}

#define HEADER(vertices, faces)                                                                                        \
    "ply\nformat ascii 1.0\nelement vertex " #vertices "\nproperty float x\nproperty float y\nproperty float z\n"      \
    "element face " #faces "\nproperty list uchar int vertex_index\nend_header\n"
#define SQUARE "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"

static lm_mesh_data parse(const char *text)
{
    text_buffer file = {0};
    lmi_text_add(&file, text, strlen(text));
    return assert_reads("a.ply", &file);
}

static void test_polygons(void **state)
{
    (void)state;
    lm_mesh_data mesh = parse(HEADER(4, 2) SQUARE "4 0 1 2 3\n3 2 1 0\n");
    assert_int_equal(mesh.triangle_count, 3);
    static const uint32_t expected[9] = {3, 0, 1, 1, 2, 3, 2, 1, 0};
    assert_memory_equal(mesh.triangles, expected, sizeof expected);
    assert_null(mesh.normals);
    assert_null(mesh.colours);
    assert_string_equal(mesh.format, "PLY, ASCII");
    lm_mesh_free(&mesh);
}

static void test_strips(void **state)
{
    (void)state;
    lm_mesh_data mesh =
        parse("ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
              "property float z\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n" SQUARE
              "11 0 1 3 2 -1 0 1 2 -1 2 3\n");
    static const uint32_t expected[9] = {0, 1, 3, 3, 1, 2, 0, 1, 2};
    assert_int_equal(mesh.triangle_count, 3);
    assert_memory_equal(mesh.triangles, expected, sizeof expected);
    lm_mesh_free(&mesh);
}

/* Normals are made unit length; the others' values may be "nan". */
static void test_normals(void **state)
{
    (void)state;
    lm_mesh_data mesh = parse("ply\nformat ascii 1.0\nelement vertex 2\nproperty float nx\nproperty float ny\n"
                              "property float nz\nproperty float x\nproperty float y\nproperty float z\n"
                              "property float quality\nend_header\n0 3 4 1 2 3 nan\nnan 0 0 1 2 3 -inf\n");
    assert_true(mesh.normals[0].y == 0.6f && mesh.normals[0].z == 0.8f);
    assert_true(mesh.normals[1].x == 0.0f && mesh.positions[1].z == 3.0f);
    lm_mesh_free(&mesh);
}

static void test_header_errors(void **state)
{
    (void)state;
    assert_text_refused("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\n",
                        "a.ply:4: the file ends within the header (expected end_header)");
    assert_text_refused("a.ply", "ply\nformat text 1.0\n",
                        "a.ply:2: format \"text\" (expected ascii, binary_little_endian or binary_big_endian)");
    assert_text_refused("a.ply", "ply\nend_header\n",
                        "a.ply:3: the header has no format (expected \"format ascii 1.0\")");
    assert_text_refused("a.ply", "ply\nproperty float x\n", "a.ply:2: a property before the first element");
    assert_text_refused("a.ply", "ply\nelement vertex -1\n", "a.ply:2: \"-1\" is not a count of elements");
    assert_text_refused("a.ply", "ply\nelement vertex\n", "a.ply:2: \"\" is not a count of elements");
    assert_text_refused("a.ply", "ply\nelement vertex 1e20\n", "a.ply:2: \"1e20\" is not a count of elements");
    assert_text_refused(
        "a.ply", "ply\nelement v 1\nproperty real x\n",
        "a.ply:3: \"real\" is not a type (expected char, uchar, short, ushort, int, uint, float, double, "
        "or int8 to float64)");
    assert_text_refused("a.ply", "ply\nelement v 1\nproperty list float int x\n",
                        "a.ply:3: \"float\" is not a type of whole numbers (expected uchar, int, ...)");
    assert_text_refused("a.ply", "ply\nelements 3\n", "a.ply:2: \"elements\" is not known in a PLY header");
    assert_text_refused("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n",
                        "a.ply:6: its vertices have no x, y and z");
    assert_text_refused("a.ply", "ply\nformat ascii 1.0\nend_header\n", "a.ply: it has no vertices");
}

static void test_data_errors(void **state)
{
    (void)state;
    assert_text_refused("a.ply", HEADER(4, 1) SQUARE "3 0 1 4\n",
                        "a.ply:14: face 0 names vertex 4, there are 4 (counted from 0)");
    assert_text_refused("a.ply", HEADER(4, 1) SQUARE "3 0 1 -1\n",
                        "a.ply:14: face 0 names vertex -1, there are 4 (counted from 0)");
    assert_text_refused("a.ply", HEADER(4, 1) SQUARE "2 0 1 2 3 4\n", "a.ply:14: a face needs three corners");
    assert_text_refused("a.ply", HEADER(4, 1) SQUARE "-3 0 1 2\n", "a.ply:14: a list of -3 values");
    assert_text_refused("a.ply", HEADER(4, 1) SQUARE "200 0 1 2\n", "a.ply:14: the file ends within face 0 of 1");
    assert_text_refused("a.ply", HEADER(4, 1) SQUARE "3 0 1\n", "a.ply:14: the file ends within face 0 of 1");
    assert_text_refused("a.ply", HEADER(4, 1) "0 0 nan\n" SQUARE "3 0 1 2\n", "a.ply:10: vertex 0 is not finite");
    assert_text_refused("a.ply", HEADER(4, 1) "0 0 1e10\n" SQUARE "3 0 1 2\n",
                        "a.ply:10: a coordinate of vertex 0 is beyond 1e9");
    assert_text_refused("a.ply", HEADER(4, 1) "0 0 x\n" SQUARE "3 0 1 2\n", "a.ply:10: \"x\" is not a number");
    assert_text_refused("a.ply", HEADER(4000000000, 1) SQUARE,
                        "a.ply: the header promises 4000000000 vertices, but the file ends before them");
    assert_text_refused("a.ply", HEADER(4, 99) SQUARE "3 0 1 2\n",
                        "a.ply: the header promises 99 faces, but the file ends before them");
}

static void test_binary_errors(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    lm_vec3 points[8];
    memcpy(points, cube.positions, sizeof points);
    points[6].y = INFINITY;
    cube.positions = points;
    text_buffer file = {0};
    make_ply(&file, &cube, (ply_style){.encoding = PLY_BIG_ENDIAN});
    assert_refused("a.ply", &file, "a.ply: vertex 6 is not finite");

    uint32_t triangles[36];
    cube = plain_cube();
    memcpy(triangles, cube.triangles, sizeof triangles);
    triangles[31] = 8;
    cube.triangles = triangles;
    make_ply(&file, &cube, (ply_style){.encoding = PLY_LITTLE_ENDIAN});
    assert_refused("a.ply", &file, "a.ply: face 10 names vertex 8, there are 8 (counted from 0)");

    cube = plain_cube();
    make_ply(&file, &cube, (ply_style){.encoding = PLY_LITTLE_ENDIAN});
    file.length -= 14; /* the last face, and the last index of the one before */
    assert_refused("a.ply", &file, "a.ply: the file ends within face 10 of 12");
}

/* An element that takes no room may be there four thousand million times. */
static void test_empty_elements(void **state)
{
    (void)state;
    lm_mesh_data mesh = parse("ply\nformat binary_little_endian 1.0\nelement nothing 4294967295\nelement vertex 1\n"
                              "property uchar x\nproperty uchar y\nproperty uchar z\nend_header\nABC");
    assert_int_equal(mesh.vertex_count, 1);
    assert_true(mesh.positions[0].x == 65.0f && mesh.positions[0].z == 67.0f);
    lm_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_styles),        cmocka_unit_test(test_polygons),       cmocka_unit_test(test_strips),
        cmocka_unit_test(test_normals),       cmocka_unit_test(test_header_errors),  cmocka_unit_test(test_data_errors),
        cmocka_unit_test(test_binary_errors), cmocka_unit_test(test_empty_elements),
    };
    return cmocka_run_group_tests_name("ply", tests, NULL, NULL);
}
