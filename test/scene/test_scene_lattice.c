/*
 * Lattices in scenes: from shapes and from mesh files, with everything that other bodies can have.
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "scene/internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Help
 */

#define BOX "\"shape\": {\"name\": \"box\", \"size\": [1, 1, 1], \"detail\": 1}"
#define BODY(contents) "{\"limber\": 1, \"bodies\": [{" contents "}]}"

static char folder[] = "/tmp/limber_scene_XXXXXX";
static char scene_path[64], mesh_path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(scene_path, sizeof scene_path, "%s/s.json", folder);
    snprintf(mesh_path, sizeof mesh_path, "%s/m.ply", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    remove(mesh_path);
    return rmdir(folder);
}

static void write_mesh(const char *text)
{
    FILE *file = fopen(mesh_path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A tetrahedron with a stray vertex far away and a face without area, in millimetres, Z up, each corner of its own
 * colour. Its box is [0, 20] x [0, 10] x [0, 40]. */
static const char *const tetrahedron =
    "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
    "property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 5\n"
    "property list uchar int vertex_indices\nend_header\n"
    "900 900 900 1 1 1\n0 0 0 255 0 0\n20 0 0 0 255 0\n0 10 0 0 0 255\n0 0 40 9 9 9\n"
    "3 1 3 2\n3 1 2 4\n3 2 3 4\n3 3 1 4\n3 0 0 1\n";

static lm_result try(const char *text, lm_scene **s, lm_world **world, lm_scene_error *error)
{
    *world = NULL;
    *s = lm_scene_open_text(scene_path, text, strlen(text), NULL, 0, error);
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    return *s == NULL ? LM_ERROR_ARGUMENT : lm_scene_make_world(*s, &def, world, error);
}

static lm_world *make(const char *text, lm_scene **s)
{
    lm_world *world;
    lm_scene_error error;
    if (try(text, s, &world, &error) != LM_OK) fail_msg("%s", error.text);
    return world;
}

static lm_body_info info_of(lm_scene *s, lm_world *world, uint32_t body)
{
    lm_body_info info;
    assert_int_equal(lm_body_get_info(world, lm_scene_get_body(s, body).id, &info), LM_OK);
    return info;
}

static void finish(lm_scene *s, lm_world *world)
{
    lm_world_destroy(world);
    lm_scene_close(s);
}

static void step(lm_scene *s, lm_world *world, uint32_t frames)
{
    for (uint32_t frame = 0; frame < frames; frame++) assert_int_equal(lm_scene_step(s, world, frame), LM_OK);
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.9g is not %.9g within %g", value, expected, tolerance);
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is wrong
 */

static const struct {
    const char *text;
    const char *error; /* after the name of the scene file; %s stands for that of the mesh */
} wrong[] = {
    {BODY(BOX ", \"lattice\": {\"spacing\": 0.1, \"particles\": 9}"),
     ":1:113: bodies[0].lattice: \"spacing\" and \"particles\" exclude each other"},
    {BODY(BOX ", \"lattice\": {\"spacing\": 0}"),
     ":1:108: bodies[0].lattice.spacing: is 0 (expected a number above 0 and at most 100000 in m)"},
    {BODY(BOX ", \"lattice\": {\"width\": 9}"),
     ":1:106: bodies[0].lattice.width: is 9 (expected a whole number from 0 to 8)"},
    {BODY(BOX ", \"lattice\": {\"width\": 2, \"width_metres\": 1}"),
     ":1:109: bodies[0].lattice: \"width\" and \"width_metres\" exclude each other"},
    {BODY(BOX ", \"lattice\": {\"shell\": 1}"), ":1:106: bodies[0].lattice.shell: is 1 (expected true or false)"},
    {BODY(BOX ", \"lattice\": {}, \"clusters\": {}"),
     ":1:100: bodies[0]: \"lattice\" and \"clusters\" exclude each other"},
    {BODY(BOX ", \"lattice\": {}, \"particles\": 60"),
     ":1:100: bodies[0]: \"lattice\" and \"particles\" exclude each other"},
    {BODY("\"points\": [[0, 0, 0]], \"lattice\": {}"),
     ":1:50: bodies[0]: \"points\" and \"lattice\" exclude each other"},
    {BODY("\"mesh\": {\"file\": \"m.ply\"}"),
     ":1:35: bodies[0].mesh: is given without lattice, tets or octree (expected one of them)"},
    {BODY("\"mesh\": {}, \"lattice\": {}"), ":1:35: bodies[0].mesh: incomplete (expected \"file\": OBJ, PLY, STL, "
                                            "glTF, GLB or another format that `limber info` "
                                            "reads; relative to the scene file)"},
    {BODY("\"mesh\": {\"file\": \"none.obj\"}, \"lattice\": {}"),
     ":1:44: bodies[0].mesh.file: %s/none.obj: No such file or directory"},
    {BODY("\"mesh\": {\"file\": \"m.ply\", \"up\": \"x\"}, \"lattice\": {}"),
     ":1:59: bodies[0].mesh.up: is \"x\" (expected one of \"y\", \"z\")"},
    {BODY("\"mesh\": {\"file\": \"m.ply\"}, \"surface\": {}, \"lattice\": {}"),
     ":1:54: bodies[0]: \"mesh\" and \"surface\" exclude each other"},
    {BODY(BOX ", \"surface\": {\"skin\": \"regions\"}, \"lattice\": {}"),
     ":1:105: bodies[0].surface.skin: the surface of a lattice rides on its particles"},
    {BODY(BOX ", \"lattice\": {\"spacing\": 1e-5}"),
     ":1:96: bodies[0].lattice: lm_body_create: a spacing of 1e-05 m "
     "needs a lattice of 100001 x 100001 x 100001 cells; at "
     "most 65536 along an axis and 2^31 in all (rows counted in 64s) are allowed"},
    {BODY(BOX ", \"lattice\": {\"spacing\": 0.0025}"),
     ":1:96: bodies[0].lattice: asks for 64000000 particles (expected at most 16777216 in all)"},
    {BODY(BOX ", \"lattice\": {\"particles\": 200}, \"repeat\": {\"grid\": [300, 300, 1], \"spacing\": [1, 1, 1]}"),
     ":1:110: bodies[0].lattice.particles: asks for 18000000 particles, 18000000 in all (expected at most 16777216)"},
    {BODY(BOX ", \"lattice\": {\"spacing\": 0.2}, \"repeat\": {\"grid\": [300, 300, 1], \"spacing\": [1, 1, 1]}"),
     ":1:96: bodies[0].lattice: asks for 19440000 particles (expected at most 16777216 in all)"},
};

static void test_wrong_lattices_are_told_exactly(void **state)
{
    (void)state;
    write_mesh(tetrahedron);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        lm_scene *s;
        lm_world *world;
        lm_scene_error error = {""};
        if (try(wrong[i].text, &s, &world, &error) == LM_OK) fail_msg("taken: %s", wrong[i].text);
        char expected[LM_SCENE_ERROR_SIZE], *percent;
        snprintf(expected, sizeof expected, "%s%s", scene_path, wrong[i].error);
        if ((percent = strstr(expected, "%s")) != NULL) {
            char rest[LM_SCENE_ERROR_SIZE];
            snprintf(rest, sizeof rest, "%s", percent + 2);
            snprintf(percent, sizeof expected - (size_t)(percent - expected), "%s%s", folder, rest);
        }
        if (strcmp(error.text, expected) != 0)
            fail_msg("%s\n  said     %s\n  expected %s", wrong[i].text, error.text, expected);
        finish(s, world);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * What becomes of them
 */

/* A cube of 4 x 4 x 4 cells; as a shell only the particle in the middle is missing. */
static void test_cells_follow_the_shape(void **state)
{
    (void)state;
    static const struct {
        const char *lattice;
        uint32_t particles;
    } cases[] = {{"\"spacing\": 0.25", 125}, {"\"spacing\": 0.25, \"shell\": true", 124}, {"\"particles\": 125", 125}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[400];
        snprintf(text, sizeof text, BODY(BOX ", \"density\": 500, \"lattice\": {%s, \"width\": 2}"), cases[i].lattice);
        lm_scene *s;
        lm_world *world = make(text, &s);
        lm_body_info info = info_of(s, world, 0);
        assert_int_equal(info.particles, cases[i].particles);
        assert_near(info.mass, 500.0, 1e-3);
        assert_near(info.lower.x, -0.5, 1e-6);
        assert_near(info.upper.y, 0.5, 1e-6);
        assert_int_equal(info.skin_triangles, 12);
        finish(s, world);
    }
}

/* A width in metres is so many spacings, for larger copies too. */
static void test_widths_in_metres(void **state)
{
    (void)state;
    lm_scene *s;
    lm_world *world =
        make(BODY(BOX ", \"lattice\": {\"spacing\": 0.125, \"width_metres\": 0.375},"
                      "\"repeat\": {\"grid\": [3, 1, 1], \"spacing\": [9, 0, 0], \"vary\": {\"size\": 0.5}}"),
             &s);
    for (uint32_t i = 0; i < 3; i++) {
        lm_body_info info = info_of(s, world, i);
        assert_int_equal(info.width, 3);
        assert_near((double)info.spacing / (info.upper.x - info.lower.x), 0.125, 1e-5);
    }
    finish(s, world);
}

/* How many particles it has does not depend on how finely it is drawn. */
static void test_a_surface_asked_for_is_what_is_divided(void **state)
{
    (void)state;
    const char *text =
        BODY("\"shape\": {\"name\": \"sphere\", \"detail\": 1}, \"surface\": {\"detail\": 12}, \"density\": 1,"
             "\"lattice\": {\"spacing\": 0.1}");
    uint32_t particles[2], triangles[2];
    for (int fine = 0; fine < 2; fine++) {
        lm_scene_error error;
        lm_scene *s = lm_scene_open_text(scene_path, text, strlen(text), NULL, 0, &error);
        assert_non_null(s);
        lm_scene_want_fine_surfaces(s, fine == 1);
        lm_world_def def = lm_world_def_default();
        def.workers = 1;
        lm_world *world;
        assert_int_equal(lm_scene_make_world(s, &def, &world, &error), LM_OK);
        lm_body_info info = info_of(s, world, 0);
        particles[fine] = info.particles;
        triangles[fine] = info.skin_triangles;
        assert_near(info.mass, 0.5236, 0.02); /* a ball's, not an octahedron's */
        assert_near(info.upper.x, 0.5, 0.06);
        finish(s, world);
    }
    assert_int_equal(particles[0], particles[1]);
    assert_int_equal(triangles[0], triangles[1]);
}

/* Turned, scaled and moved; stray vertices and faces without area are gone, and colours stay with their corners. */
static void test_meshes_come_from_files(void **state)
{
    (void)state;
    write_mesh(tetrahedron);
    static const struct {
        const char *options;
        double lower[3], upper[3];
    } cases[] = {
        {"", {-10, -5, -20}, {10, 5, 20}},
        {", \"origin\": \"file\"", {0, 0, 0}, {20, 10, 40}},
        {", \"up\": \"z\", \"longest\": 0.4, \"origin\": \"bottom\"", {-0.1, 0, -0.05}, {0.1, 0.4, 0.05}},
    };
    static const uint8_t colours[12] = {255, 0, 0, 0, 0, 255, 0, 255, 0, 9, 9, 9}; /* as the faces name them */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 BODY("\"mesh\": {\"file\": \"m.ply\"%s}, \"lattice\": {\"particles\": 200}, \"density\": 10"),
                 cases[i].options);
        lm_scene *s;
        lm_world *world = make(text, &s);
        lm_body_info info = info_of(s, world, 0);
        assert_int_equal(info.skin_vertices, 4);
        assert_int_equal(info.skin_triangles, 4);
        const double *lo = cases[i].lower, *up = cases[i].upper;
        double volume = (up[0] - lo[0]) * (up[1] - lo[1]) * (up[2] - lo[2]) / 6.0;
        assert_near(info.mass / (10.0 * volume), 1.0, 1e-5);
        lm_vec3 skin[4], low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
        assert_int_equal(lm_body_get_skin(world, lm_scene_get_body(s, 0).id, lm_dvec3_zero(), skin, NULL), LM_OK);
        for (int k = 0; k < 4; k++) {
            low = (lm_vec3){fminf(low.x, skin[k].x), fminf(low.y, skin[k].y), fminf(low.z, skin[k].z)};
            high = (lm_vec3){fmaxf(high.x, skin[k].x), fmaxf(high.y, skin[k].y), fmaxf(high.z, skin[k].z)};
        }
        double size = up[1] - lo[1];
        assert_near(low.x, lo[0], 1e-5 * size);
        assert_near(low.y, lo[1], 1e-5 * size);
        assert_near(low.z, lo[2], 1e-5 * size);
        assert_near(high.x, up[0], 1e-5 * size);
        assert_near(high.y, up[1], 1e-5 * size);
        assert_near(high.z, up[2], 1e-5 * size);
        lm_scene_colours found = lm_scene_get_colours(s, 0);
        assert_int_equal(found.count, 4);
        assert_memory_equal(found.rgb, colours, sizeof colours);
        finish(s, world);
    }
}

static void test_an_open_mesh_has_no_density(void **state)
{
    (void)state;
    write_mesh("ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
               "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    lm_scene *s;
    lm_world *world;
    lm_scene_error error;
    assert_int_not_equal(
        try(BODY("\"mesh\": {\"file\": \"m.ply\"}, \"lattice\": {}, \"density\": 1"), &s, &world, &error), LM_OK);
    assert_non_null(strstr(error.text, "bodies[0].density: the mesh is open or inside out, and has no volume"));
    finish(s, world);
    world = make(BODY("\"mesh\": {\"file\": \"m.ply\"}, \"lattice\": {\"spacing\": 0.25}, \"mass\": 2"), &s);
    lm_body_info info = info_of(s, world, 0);
    assert_near(info.mass, 2.0, 1e-5);
    assert_near(info.upper.z - info.lower.z, 0.25, 1e-6); /* one layer of cells around it */
    assert_int_equal(lm_scene_get_colours(s, 0).count, 0);
    finish(s, world);
}

#define COPIES                                                                                                         \
    BOX ", \"density\": 100, \"lattice\": {\"spacing\": 0.25},"                                                        \
        "\"repeat\": {\"grid\": [5, 1, 1], \"spacing\": [9, 0, 0], \"vary\": {\"size\": 0.5}}"

/* Copies of another size have as many particles, heavier by their volume, and their zones where they belong: the lower two
 * of five layers weigh three times as much, beside others, as they would without. */
static void test_zones_and_copies(void **state)
{
    (void)state;
    lm_scene *s;
    lm_world *world =
        make("{\"limber\": 1, \"bodies\": [{" COPIES "}, {" COPIES
             ", \"mass_zones\": [{\"where\": {\"min\": [-9, -9, -9], \"max\": [9, -0.2, 9]}, \"value\": 3}]}]}",
             &s);
    assert_int_equal(lm_scene_body_count(s), 10);
    for (uint32_t i = 0; i < 5; i++) {
        lm_body_info info = info_of(s, world, 5 + i);
        assert_int_equal(info.particles, 125);
        double size = info.upper.x - info.lower.x;
        assert_true(size > 0.5 && size < 1.5);
        assert_near((double)info.mass / (100.0 * size * size * size), 1.0, 1e-4);
        lm_vec3 rest[125];
        float plain[125], mass[125];
        lm_body_id id = lm_scene_get_body(s, 5 + i).id;
        assert_int_equal(lm_body_get_rest_positions(world, id, rest), LM_OK);
        assert_int_equal(lm_body_get_masses(world, id, mass), LM_OK);
        assert_int_equal(lm_body_get_masses(world, lm_scene_get_body(s, i).id, plain), LM_OK);
        double top = (double)(mass[124] / plain[124]);
        assert_true(top > 0.3 && top < 0.9);
        for (int k = 0; k < 125; k++) {
            double factor = (double)rest[k].y < -0.2 * size ? 3.0 : 1.0;
            assert_near((double)(mass[k] / plain[k]) / top, factor, 1e-5);
        }
    }
    finish(s, world);
}

/* Pins, drags, a starting state, events and measures take lattices as they take others. */
static void test_lattices_do_what_bodies_do(void **state)
{
    (void)state;
    static const char text[] =
        "{\"limber\": 1, \"frames\": 60, \"bodies\": ["
        "{\"name\": \"held\", \"shape\": {\"name\": \"box\", \"size\": [2, 0.5, 0.5]}, \"lattice\": {\"spacing\": "
        "0.25},"
        " \"material\": {\"mode\": \"rigid\", \"hertz\": 8}},"
        "{\"name\": \"bent\", " BOX ", \"lattice\": {\"spacing\": 0.25, \"width\": 2, \"mass\": \"equal\"},"
        " \"material\": {\"hertz\": 8},"
        " \"at\": [9, 0, 0],"
        " \"rotate\": [0, 0, 90], \"state\": {\"scale\": [1, 0.5, 1]}}],"
        "\"pins\": [{\"body\": \"held\", \"where\": {\"min\": [-1, -1, -1], \"max\": [-0.9, 1, 1]}}],"
        "\"drags\": [{\"body\": \"bent\", \"nearest\": [0, 0, 0], \"offset\": [0, 3, 0], \"hertz\": 9}],"
        "\"events\": [{\"time\": 0.5, \"body\": \"bent\", \"deform\": {\"scale\": [1, 2, 1]}}],"
        "\"expect\": ["
        "{\"measure\": \"deflection\", \"body\": \"held\", \"point\": [-1, 0, 0], \"when\": \"max\", \"less_than\": "
        "1e-6},"
        "{\"measure\": \"deflection\", \"body\": \"held\", \"point\": [1, 0, 0], \"when\": \"max\", \"greater_than\": "
        "0.1},"
        "{\"measure\": \"lowest\", \"body\": \"held\", \"when\": \"min\", \"less_than\": -0.3},"
        "{\"measure\": \"residual\", \"body\": \"bent\", \"at\": 0, \"greater_than\": 0.1},"
        "{\"measure\": \"volume\", \"body\": \"bent\", \"at\": 0, \"less_than\": 0.8},"
        "{\"measure\": \"volume\", \"body\": \"bent\", \"at\": 0.5167, \"greater_than\": 1.4},"
        "{\"measure\": \"height\", \"body\": \"bent\", \"when\": \"max\", \"greater_than\": 2},"
        "{\"measure\": \"momentum_error\", \"when\": \"max\", \"less_than\": 1e-4}]}";
    lm_scene *s;
    lm_world *world = make(text, &s);
    lm_body_info info = info_of(s, world, 1);
    assert_near(info.upper.x - info.lower.x, 0.5, 1e-5); /* squeezed along its own y, which the turn has made x */
    assert_near(info.upper.y - info.lower.y, 1.0, 1e-5);
    step(s, world, 60);
    assert_int_equal(lm_scene_check(s, world, NULL, NULL), 0);
    finish(s, world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_lattices_are_told_exactly),
        cmocka_unit_test(test_cells_follow_the_shape),
        cmocka_unit_test(test_widths_in_metres),
        cmocka_unit_test(test_a_surface_asked_for_is_what_is_divided),
        cmocka_unit_test(test_meshes_come_from_files),
        cmocka_unit_test(test_an_open_mesh_has_no_density),
        cmocka_unit_test(test_zones_and_copies),
        cmocka_unit_test(test_lattices_do_what_bodies_do),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
