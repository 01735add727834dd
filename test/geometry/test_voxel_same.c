/*
 * Voxels: what must not change them. The order of the triangles, mirror images, quarter turns, the unit of length.
 */
#include "test/support/soup.h"

#include <math.h>
#include <string.h>

/* Random faces, some of them in borders at a spacing of 1/2, with their mirror images across x = 0. */
static soup mirrored_soup(random_state *random)
{
    soup s = soup_make(0, 0);
    for (int n = 0; n < 12; n++) {
        lm_vec3 p[3];
        for (int k = 0; k < 3; k++) {
            ref_vec q = random_in_cube(random, 3.0);
            p[k] = (lm_vec3){(float)fabs(q.x), (float)q.y, (float)q.z};
            if (n % 3 == 0) p[k].y = 0.5f * (float)(n / 3);
            if (n % 3 == 1) p[k].x = 0.5f * (float)(n / 3);
        }
        soup_add_triangle(&s, p[0], p[1], p[2]);
        for (int k = 0; k < 3; k++) p[k].x = -p[k].x;
        soup_add_triangle(&s, p[0], p[2], p[1]);
    }
    /* A tip half a step of the sub-lattice beyond a border, which is where rounding decides. */
    float tip = 1.0f + 0.5f * 0.5f / 4096.0f;
    for (int side = -1; side <= 1; side += 2) {
        lm_vec3 a = {0.7f * (float)side, 0.2f, 0.3f}, b = {0.7f * (float)side, 0.3f, 0.2f},
                c = {tip * (float)side, 0.3f, 0.3f};
        soup_add_triangle(&s, a, side > 0 ? b : c, side > 0 ? c : b);
    }
    soup_add_box(&s, (lm_vec3){-3, -3, -3}, (lm_vec3){3, 3, 3});
    return s;
}

static void mirror_images_have_mirrored_voxels(void **context)
{
    (void)context;
    random_state random = {15};
    for (int round = 0; round < 60; round++) {
        soup s = mirrored_soup(&random);
        lmi_voxels v = voxelise(&s, round % 2 ? 0.5 : random_range(&random, 0.1, 1.0), true);
        for (uint32_t z = 0; z < v.n[2]; z++)
            for (uint32_t y = 0; y < v.n[1]; y++)
                for (uint32_t x = 0; x < v.n[0]; x++)
                    assert_int_equal(lmi_voxels_cell(&v, x, y, z), lmi_voxels_cell(&v, v.n[0] - 1 - x, y, z));
        voxels_free(&v);
        soup_free(&s);
    }
}

/* A quarter turn about z, and the three axes in turn. */
static lm_vec3 turned(lm_vec3 p, int turn)
{
    return turn == 0 ? (lm_vec3){-p.y, p.x, p.z} : turn == 1 ? (lm_vec3){p.y, p.z, p.x} : (lm_vec3){p.x, -p.y, -p.z};
}

static void turned_meshes_have_turned_voxels(void **context)
{
    (void)context;
    random_state random = {16};
    for (int round = 0; round < 60; round++) {
        soup s = mirrored_soup(&random);
        for (uint32_t k = 0; k < s.vertex_count; k++) s.vertices[k].z += 0.5f;
        double spacing = round % 2 ? 0.5 : random_range(&random, 0.1, 1.0);
        lmi_voxels v = voxelise(&s, spacing, false);
        int turn = round % 3;
        for (uint32_t k = 0; k < s.vertex_count; k++) s.vertices[k] = turned(s.vertices[k], turn);
        lmi_voxels w = voxelise(&s, spacing, false);
        assert_int_equal(v.cell_count, w.cell_count);
        assert_int_equal(v.corner_count, w.corner_count);
        for (int64_t z = 0; z < v.n[2]; z++)
            for (int64_t y = 0; y < v.n[1]; y++)
                for (int64_t x = 0; x < v.n[0]; x++) {
                    int64_t to[3][3] = {{v.n[1] - 1 - y, x, z}, {y, z, x}, {x, v.n[1] - 1 - y, v.n[2] - 1 - z}};
                    assert_int_equal(lmi_voxels_cell(&v, x, y, z),
                                     lmi_voxels_cell(&w, to[turn][0], to[turn][1], to[turn][2]));
                }
        voxels_free(&v);
        voxels_free(&w);
        soup_free(&s);
    }
}

static void order_makes_no_difference(void **context)
{
    (void)context;
    random_state random = {17};
    soup s = soup_shape("duck", 14), t = soup_shape("duck", 14);
    for (uint32_t k = t.triangle_count - 1; k > 0; k--) { /* shuffled, and each begun at another corner */
        uint32_t other = random_below(&random, k + 1), turn = random_below(&random, 3), a[3], b[3];
        memcpy(a, t.triangles + 3 * k, sizeof a);
        memcpy(b, t.triangles + 3 * other, sizeof b);
        memcpy(t.triangles + 3 * k, b, sizeof b);
        for (uint32_t i = 0; i < 3; i++) t.triangles[3 * other + i] = a[(i + turn) % 3];
    }
    for (int shell = 0; shell < 2; shell++) {
        lmi_voxels v = voxelise_to(&s, 3000, shell), w = voxelise_to(&t, 3000, shell);
        assert_true(voxels_equal(&v, &w));
        assert_true(v.spacing == w.spacing && memcmp(&v.first, &w.first, sizeof v.first) == 0);
        voxels_free(&v);
        voxels_free(&w);
    }
    soup_free(&s);
    soup_free(&t);
}

/* In units twice as long, or a million times, the same voxels; far from the origin, as nearly as floats can say. */
static void scale_and_place_make_no_difference(void **context)
{
    (void)context;
    soup s = soup_shape("duck", 14);
    lmi_voxels v = voxelise(&s, 0.05, false);
    for (int power = -40; power <= 40; power += 20) {
        soup t = soup_shape("duck", 14);
        for (uint32_t k = 0; k < t.vertex_count; k++) {
            t.vertices[k].x = ldexpf(t.vertices[k].x, power);
            t.vertices[k].y = ldexpf(t.vertices[k].y, power);
            t.vertices[k].z = ldexpf(t.vertices[k].z, power);
        }
        lmi_voxels w = voxelise(&t, ldexp(0.05, power), false);
        assert_true(voxels_equal(&v, &w));
        voxels_free(&w);
        soup_free(&t);
    }
    for (uint32_t k = 0; k < s.vertex_count; k++) {
        s.vertices[k].x += 1000.0f;
        s.vertices[k].z -= 3000.0f;
    }
    lmi_voxels w = voxelise(&s, 0.05, false);
    assert_near(w.cell_count, v.cell_count, 0.01 * (double)v.cell_count);
    assert_near(w.first.x, v.first.x + 1000.0, 0.001);
    voxels_free(&v);
    voxels_free(&w);
    soup_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mirror_images_have_mirrored_voxels),
        cmocka_unit_test(turned_meshes_have_turned_voxels),
        cmocka_unit_test(order_makes_no_difference),
        cmocka_unit_test(scale_and_place_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
