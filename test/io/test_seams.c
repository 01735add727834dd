/* Texture coordinates along seams and after cuts, against the linear map that they are of a triangle's plane. */
#include "limber/seams.h"

#include "test/support/support.h"

/* A square of two triangles in the plane of X and Z, from 0 to 1, and its back at the same place. The front shows (x, z), the back (2 + x, 5 z). */
static const uint32_t square[] = {0, 2, 1, 0, 3, 2, /* the back: */ 0, 1, 2, 0, 2, 3};
static const lm_vec3 corner[] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}};

static lm_seams_surface both_sides(float uvs[24])
{
    for (int i = 0; i < 12; i++) {
        lm_vec3 at = corner[square[i]];
        uvs[2 * i] = at.x + (i < 6 ? 0.0f : 2.0f);
        uvs[2 * i + 1] = at.z * (i < 6 ? 1.0f : 5.0f);
    }
    return (lm_seams_surface){.triangles = square, .uvs = uvs, .triangle_count = 4, .vertex_count = 4};
}

/* As it was given: a vertex for each side. */
static void test_as_given(void **state)
{
    (void)state;
    static const uint32_t sources[] = {0, 1, 2, 3};
    float uvs[24];
    lm_seams_surface given = both_sides(uvs);
    lm_seams made;
    for (int with_rest = 0; with_rest < 2; with_rest++) {
        assert_true(lm_seams_make(&given, sources, with_rest ? corner : NULL, 4, square, 4, &made));
        assert_int_equal(made.vertex_count, 8);
        for (int i = 0; i < 12; i++) {
            assert_int_equal(made.vertices[made.triangles[i]], square[i]);
            assert_memory_equal(made.uvs + 2 * made.triangles[i], uvs + 2 * i, 2 * sizeof *uvs);
        }
        lm_seams_free(&made);
    }
}

/* Divided at a vertex in the middle of the diagonal, which comes from corner 0, and at one within a triangle: on both sides everything has
 * what the plane has there, and the two triangles at the diagonal share its vertices. An inner face has none. */
static void test_divided(void **state)
{
    (void)state;
    static const lm_vec3 rest[] = {{0, 0, 0},       {1, 0, 0},        {1, 0, 1},  {0, 0, 1},
                                   {0.5f, 0, 0.5f}, {0.8f, 0, 0.25f}, {0, -1, 0}, {1, -1, 0}};
    static const uint32_t sources[] = {0, 1, 2, 3, 0, 1, LM_SKIN_INNER, LM_SKIN_INNER};
    static const uint32_t triangles[] = {0, 4, 1, 4, 5, 1, 4, 2, 5, 5, 2, 1, 0, 3, 4, 3, 2, 4, /* the back: */
                                         0, 1, 4, 4, 1, 5, 4, 5, 2, 5, 1, 2, 0, 4, 3, 3, 4, 2, /* within: */ 0, 6, 7};
    float uvs[24];
    lm_seams_surface given = both_sides(uvs);
    lm_seams made;
    assert_true(lm_seams_make(&given, sources, rest, 8, triangles, 13, &made));
    assert_int_equal(made.vertex_count,
                     6 + 6 + 2); /* corner 0 of the inner face has the coordinates 0 that it has in front */
    for (int i = 0; i < 36; i++) {
        lm_vec3 at = rest[triangles[i]];
        const float *uv = made.uvs + 2 * made.triangles[i];
        assert_near(uv[0], at.x + (i < 18 ? 0.0f : 2.0f), 1e-6);
        assert_near(uv[1], at.z * (i < 18 ? 1.0f : 5.0f), 1e-5);
    }
    lm_seams_free(&made);
}

/* A vertex that a cut has moved over the diagonal has what the other triangle has there, where that goes on. */
static void test_moved_over_an_edge(void **state)
{
    (void)state;
    static const lm_vec3 rest[] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0.45f, 0, 0.55f}};
    static const uint32_t sources[] = {0, 1, 2, 3, 0};
    static const uint32_t triangles[] = {0, 4, 1, 4, 2, 1, 0, 3, 4, 3, 2, 4};
    float uvs[24];
    lm_seams_surface given = both_sides(uvs);
    lm_seams made;
    assert_true(lm_seams_make(&given, sources, rest, 5, triangles, 4, &made));
    assert_int_equal(made.vertex_count, 5);
    for (int i = 0; i < 12; i++) {
        assert_near(made.uvs[2 * made.triangles[i]], rest[triangles[i]].x, 1e-6);
        assert_near(made.uvs[2 * made.triangles[i] + 1], rest[triangles[i]].z, 1e-6);
    }
    lm_seams_free(&made);
}

/* Rest positions of another surface, triangles without area, nothing at all: no reads beyond, and finite numbers. */
static void test_odd_surfaces(void **state)
{
    (void)state;
    static const lm_vec3 line[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {1, 0, 0}};
    static const uint32_t sources[] = {0, 1, 2, 3, 1}, triangles[] = {0, 4, 2, 1, 1, 1};
    float uvs[24];
    lm_seams_surface given = both_sides(uvs);
    lm_seams made;
    assert_true(lm_seams_make(&given, sources, line, 3, triangles + 3, 1, &made)); /* fewer vertices than were given */
    lm_seams_free(&made);
    assert_true(lm_seams_make(&given, sources, line, 5, triangles, 2, &made));
    for (uint32_t i = 0; i < 2 * made.vertex_count; i++) {
        assert_true(made.uvs[i] >= 0.0f && made.uvs[i] <= 5.0f);
    }
    lm_seams_free(&made);
    assert_true(lm_seams_make(&given, NULL, NULL, 0, NULL, 0, &made));
    assert_int_equal(made.vertex_count, 0);
    lm_seams_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_given), cmocka_unit_test(test_divided),
                                       cmocka_unit_test(test_moved_over_an_edge), cmocka_unit_test(test_odd_surfaces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
