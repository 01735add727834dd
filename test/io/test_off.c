/*
 * OFF files: every prefix, comments, polygons, colours of both kinds; what is wrong is refused with its place.
 */
#include "test/support/mesh_files.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static lm_mesh_data parse(const char *text)
{
    text_buffer file = {0};
    lmi_text_add(&file, text, strlen(text));
    return assert_reads("a.off", &file);
}

/* The cube as a program would write it. */
static void make_off(text_buffer *file, const plain_mesh *mesh, const char *begin, bool shares)
{
    lmi_text_addf(file, "%s%u %u 0\n", begin, mesh->vertex_count, mesh->triangle_count);
    for (uint32_t n = 0; n < mesh->vertex_count; n++) {
        lm_vec3 p = mesh->positions[n];
        lmi_text_addf(file, "%.9g %.9g %.9g", (double)p.x, (double)p.y, (double)p.z);
        const uint8_t *c = mesh->colours ? mesh->colours + 3 * (size_t)n : NULL;
        if (c && shares) lmi_text_addf(file, " %.6f %.6f %.6f 1.0", c[0] / 255.0, c[1] / 255.0, c[2] / 255.0);
        if (c && !shares) lmi_text_addf(file, " %u %u %u 255", c[0], c[1], c[2]);
        lmi_text_addf(file, "\n");
    }
    for (uint32_t n = 0; n < mesh->triangle_count; n++) {
        const uint32_t *t = mesh->triangles + 3 * (size_t)n;
        lmi_text_addf(file, "3 %u %u %u\n", t[0], t[1], t[2]);
    }
}

static void test_cube(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    for (int shares = 0; shares < 2; shares++) {
        text_buffer file = {0};
        make_off(&file, &cube, "COFF\n", shares);
        assert_holds("a.off", &file, &cube, 1);
    }
    cube.colours = NULL;
    static const char *const begins[] = {"OFF\n", "OFF ",    "# a comment\nOFF # another\n# and one more\n",
                                         "",      "STOFF\n", "OFF\r\n"};
    for (size_t n = 0; n < sizeof begins / sizeof *begins; n++) {
        text_buffer file = {0};
        make_off(&file, &cube, begins[n], false);
        assert_holds("a.off", &file, &cube, 0);
    }
    text_buffer file = {0}; /* by its contents, whatever it is called */
    make_off(&file, &cube, "OFF\n", false);
    assert_holds("cube", &file, &cube, 0);
}

static void test_rest(void **state)
{
    (void)state;
    lm_mesh_data mesh = parse("CNOFF\n5 4 0\n0 0 0  0 0 1  1 0 0 1\n1 0 0  0 0 1  0 128 0\n1 1 0  0 0 1  0 0 255\n"
                              "0 1 0  0 0 1  0.0 0.5 1.0\n2 0.5 0  0 0 1  9 9 9\n"
                              "4 0 1 2 3  1.0 0 0 # red\n3 1 4 2 17\n2 0 1\n1 4\n");
    assert_int_equal(mesh.vertex_count, 5);
    assert_int_equal(mesh.triangle_count, 3); /* two of the square; edges and points are no surface */
    assert_non_null(mesh.normals);
    assert_float_equal(mesh.normals[3].z, 1.0f, 0.0f);
    const uint8_t expected[15] = {1, 0, 0, 0, 128, 0, 0, 0, 255, 0, 128, 255, 9, 9, 9};
    assert_memory_equal(mesh.colours, expected, sizeof expected);
    lm_mesh_free(&mesh);
}

static void test_errors(void **state)
{
    (void)state;
    assert_text_refused("a.off", "OFX\n", "a.off:1: \"OFX\" (expected OFF)");
    assert_text_refused("a.off", "4OFF\n1 0 0\n", "a.off:1: its points have more than three coordinates");
    assert_text_refused("a.off", "OFF BINARY\n1 0 0\n", "a.off:1: a binary OFF file (expected text)");
    assert_text_refused("a.off", "OFF\n0 0 0\n", "a.off:2: it has no vertices");
    assert_text_refused("a.off", "OFF\n1 1", "a.off:2: the file ends where the number of edges is expected");
    assert_text_refused("a.off", "OFF\n1 -1 0\n", "a.off:2: \"-1\" (expected the number of faces, at most 6)");
    assert_text_refused("a.off", "OFF\n99999999999 1 0\n",
                        "a.off:2: \"99999999999\" (expected the number of vertices, at most 4)");
    assert_text_refused("a.off", "OFF\n1 1 0\n0 0 x\n", "a.off:3: \"x\" is not a number");
    assert_text_refused("a.off", "OFF\n1 1 0\n0 0 nan\n", "a.off:3: \"nan\" is not a number");
    assert_text_refused("a.off", "OFF\n2 1 0\n0 0 0\n", "a.off:4: the file ends where a vertex is expected");
    assert_text_refused("a.off", "COFF\n1 0 0\n0 0 0 1 0\n", "a.off:3: \"\" (expected a colour of three numbers)");
    assert_text_refused("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
                        "a.off:6: \"3\" (expected the index of a vertex, at most 2)");
    assert_text_refused("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 1 2\n",
                        "a.off:7: \"3\" behind the last face");
    assert_text_refused("a.off", "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
                        "a.off:7: the file ends where the corners of a face is expected");
}

/* Every truncation, and every byte another. */
static void test_damage(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    text_buffer file = {0};
    make_off(&file, &cube, "COFF\n", false);
    for (size_t size = 0; size < file.length; size++) assert_survives("a.off", file.bytes, size);
    static const char others[] = {'0', '9', '-', ' ', '\n', '#', 'x', '\0', (char)0xff};
    for (size_t n = 0; n < file.length; n++)
        for (size_t k = 0; k < sizeof others; k++) {
            char was = file.bytes[n];
            file.bytes[n] = others[k];
            assert_survives("a.off", file.bytes, file.length);
            file.bytes[n] = was;
        }
    lmi_text_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cube), cmocka_unit_test(test_rest),
                                       cmocka_unit_test(test_errors), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
