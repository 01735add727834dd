/*
 * STL files: ASCII and binary, told apart by their size; what is wrong is refused with its place.
 */
#include "test/support/mesh_files.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_binary(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    cube.colours = NULL;
    static const char *const headers[] = {"", "solid cube", "COLOR=xyz", "ply is not what this is"};
    for (int i = 0; i < 4; i++) {
        text_buffer file = {0};
        make_stl_binary(&file, &cube, headers[i]);
        assert_holds("a.stl", &file, &cube, 0);
    }
}

static lm_mesh_data parse(const char *text)
{
    text_buffer file = {0};
    lmi_text_add(&file, text, strlen(text));
    return assert_reads("a.stl", &file);
}

#define FACET "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"

static void test_text(void **state)
{
    (void)state;
    lm_mesh_data mesh = parse("solid a part\n" FACET FACET "endsolid a part\nsolid other\n" FACET "endsolid\n");
    assert_int_equal(mesh.triangle_count, 3);
    assert_int_equal(mesh.part_count, 2);
    assert_string_equal(mesh.names + mesh.parts[0].name, "a part");
    assert_string_equal(mesh.names + mesh.parts[1].name, "other");
    assert_int_equal(mesh.parts[1].first_triangle, 2);
    assert_string_equal(mesh.format, "STL, ASCII");
    lm_mesh_free(&mesh);

    /* Capitals, one line, normals that are nothing, a polygon. */
    mesh = parse("\r\n SOLID\nFACET NORMAL nan inf -nan OUTER LOOP VERTEX 0 0 0 VERTEX 1 0 0 VERTEX 1 1 0 "
                 "vertex 0 1 0 ENDLOOP ENDFACET ENDSOLID");
    assert_int_equal(mesh.triangle_count, 2);
    assert_int_equal(mesh.vertex_count, 4);
    lm_mesh_free(&mesh);
}

static void test_text_errors(void **state)
{
    (void)state;
    assert_text_refused("a.stl", "solid x\nendsolid x\n", "a.stl: it has no triangles");
    assert_text_refused("a.stl", "solid x\n" FACET, "a.stl:9: the file ends where facet or endsolid is expected");
    assert_text_refused("a.stl", "solid x\n" FACET "endsolid\nnonsense\n", "a.stl:10: \"nonsense\" (expected solid)");
    assert_text_refused("a.stl", "solid x\nfacet 0 0 1\n", "a.stl:2: \"0\" (expected normal)");
    assert_text_refused("a.stl", "solid x\nfacet normal 0 0 1\nouter ring\n", "a.stl:3: \"ring\" (expected loop)");
    assert_text_refused("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nendloop\n",
                        "a.stl:5: \"endloop\" is not a number");
    assert_text_refused("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n",
                        "a.stl:4: \"nan\" is not a number");
    assert_text_refused("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 -2e9 0\n",
                        "a.stl:4: coordinate -2e9 is beyond 1e9");
    assert_text_refused("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n",
                        "a.stl:6: a face needs three corners");
    assert_text_refused("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nedge\n",
                        "a.stl:4: \"edge\" (expected vertex or endloop)");
    assert_text_refused("a.stl", "mesh\n",
                        "a.stl: not an STL file: 5 bytes (expected \"solid\", or at least 84 bytes)");
}

static void test_binary_errors(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    text_buffer file = {0};
    make_stl_binary(&file, &cube, "");
    file.length--;
    assert_refused("a.stl", &file, "a.stl: 683 bytes, but the header promises 12 triangles (expected 684 bytes)");

    make_stl_binary(&file, &cube, "solid");
    memcpy(file.bytes + 80, "\xff\xff\xff\xff", 4);
    assert_refused("a.stl", &file,
                   "a.stl: 684 bytes, but the header promises 4294967295 triangles (expected 214748364834 bytes)");

    make_stl_binary(&file, &cube, "");
    lmi_text_add(&file, "more", 4);
    assert_refused("a.stl", &file, "a.stl: 688 bytes, but the header promises 12 triangles (expected 684 bytes)");

    cube.triangle_count = 0;
    make_stl_binary(&file, &cube, "");
    assert_refused("a.stl", &file, "a.stl: it has no triangles");

    cube = plain_cube();
    lm_vec3 points[8];
    memcpy(points, cube.positions, sizeof points);
    points[7].z = NAN; /* first the last corner of the fourth triangle */
    cube.positions = points;
    make_stl_binary(&file, &cube, "");
    assert_refused("a.stl", &file, "a.stl: vertex 11 is not finite");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_errors),
        cmocka_unit_test(test_binary_errors),
    };
    return cmocka_run_group_tests_name("stl", tests, NULL, NULL);
}
