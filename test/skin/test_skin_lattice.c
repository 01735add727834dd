/*
 * Surfaces of lattices: vertices are trilinear in their cell, normals follow the deformation gradient, and both are the
 * same bits on every instruction set.
 */
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box along the axes as 12 triangles with a vertex for each corner of each side, so that normals at rest are those of the
 * sides; a little inside the cells' borders. */
typedef struct box_mesh {
    lm_vec3 vertices[24];
    uint32_t triangles[36];
    ref_vec normals[24];
} box_mesh;

static box_mesh make_box(ref_vec half)
{
    box_mesh m;
    const double h[3] = {half.x, half.y, half.z};
    for (int side = 0; side < 6; side++) {
        int a = side / 2, b = (a + 1) % 3, c = (a + 2) % 3;
        double sign = side % 2 ? 1.0 : -1.0;
        for (int k = 0; k < 4; k++) {
            double p[3], n[3] = {0.0, 0.0, 0.0};
            p[a] = sign * h[a];
            p[b] = (k == 1 || k == 2 ? 1.0 : -1.0) * h[b];
            p[c] = (k >= 2 ? 1.0 : -1.0) * h[c];
            n[a] = sign;
            m.vertices[4 * side + k] = to_float(ref_v(p[0], p[1], p[2]));
            m.normals[4 * side + k] = ref_v(n[0], n[1], n[2]);
        }
        static const uint32_t order[2][6] = {{0, 2, 1, 0, 3, 2}, {0, 1, 2, 0, 2, 3}};
        for (int k = 0; k < 6; k++) m.triangles[6 * side + k] = (uint32_t)(4 * side) + order[side % 2][k];
    }
    return m;
}

/* The lattice of a box, whose own axes depend on which side is longest, with the box as its skin. */
static lm_body_id add_box(lm_world *world, const box_mesh *m, float spacing)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.lattice.vertices = m->vertices;
    def.lattice.vertex_count = 24;
    def.lattice.triangles = m->triangles;
    def.lattice.triangle_count = 12;
    def.lattice.spacing = spacing;
    def.pose.position = (lm_dvec3){3.0, 4.0, 5.0};
    lm_body_id body = make_body(world, &def);
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = m->vertices;
    skin.vertex_count = 24;
    skin.triangles = m->triangles;
    skin.triangle_count = 12;
    assert_ok(lm_body_set_skin(world, body, &skin));
    return body;
}

static const ref_vec sides[3] = {{0.97, 0.27, 0.18}, {0.27, 0.18, 0.97}, {0.18, 0.97, 0.27}};

/* cof(A) n, to length 1. */
static ref_vec turned(ref_mat a, ref_vec n)
{
    ref_vec x = ref_column(a, 0), y = ref_column(a, 1), z = ref_column(a, 2);
    ref_vec sum = ref_add(ref_add(ref_scale(n.x, ref_cross(y, z)), ref_scale(n.y, ref_cross(z, x))),
                          ref_scale(n.z, ref_cross(x, y)));
    return ref_scale(1.0 / ref_length(sum), sum);
}

static void affine_motions_are_exact(void **context)
{
    (void)context;
    random_state random = {5};
    for (int trial = 0; trial < 30; trial++) {
        box_mesh m = make_box(sides[trial % 3]);
        lm_world *world = make_world(0.0);
        lm_body_id body = add_box(world, &m, 0.1f);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        assert_near(info.spacing, 0.1, 1e-7);
        ref_mat a;
        for (int i = 0; i < 9; i++) a.at[i / 3][i % 3] = random_range(&random, -1.0, 1.0) + (i % 4 == 0 ? 1.0 : 0.0);
        lm_vec3 *x = calloc(info.particles, sizeof *x), p[24], n[24];
        assert_ok(lm_body_get_rest_positions(world, body, x));
        for (uint32_t k = 0; k < info.particles; k++) x[k] = to_float(ref_mat_vec(a, to_double(x[k])));
        assert_ok(lm_body_set_state(world, body, info.centre, x, NULL));
        assert_ok(lm_body_get_skin(world, body, info.centre, p, n));
        for (int k = 0; k < 24; k++) {
            assert_at_most(ref_length(ref_sub(to_double(p[k]), ref_mat_vec(a, to_double(m.vertices[k])))), 2e-6);
            assert_at_most(ref_length(ref_sub(to_double(n[k]), turned(a, m.normals[k]))), 2e-4);
        }
        free(x);
        lm_world_destroy(world);
    }
}

/* Each cell deformed in its own way: the gradient is taken from differences of the interpolation, with the riders. */
static void normals_follow_the_gradient(void **context)
{
    (void)context;
    random_state random = {6};
    for (int trial = 0; trial < 12; trial++) {
        box_mesh m = make_box(sides[trial % 3]);
        lm_world *world = make_world(0.0);
        lm_body_id body = add_box(world, &m, 0.1f);
        randomise_state(world, body, &random, 0.03, 0.0);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        uint32_t offsets[25], riders[24 * 8];
        float weights[24 * 8];
        lm_vec3 *x = calloc(info.particles, sizeof *x), *rest = calloc(info.particles, sizeof *rest), p[24], n[24];
        assert_ok(lm_body_get_positions(world, body, info.centre, x));
        assert_ok(lm_body_get_rest_positions(world, body, rest));
        assert_ok(lm_body_get_skin_riders(world, body, offsets, riders, weights));
        assert_ok(lm_body_get_skin(world, body, info.centre, p, n));
        for (int k = 0; k < 24; k++) {
            assert_int_equal(offsets[k + 1] - offsets[k], 8);
            const uint32_t *corner = riders + 8 * k;
            ref_vec low = to_double(rest[corner[0]]), middle = ref_v(0.0, 0.0, 0.0);
            double t[3] = {((double)m.vertices[k].x - low.x) / 0.1, ((double)m.vertices[k].y - low.y) / 0.1,
                           ((double)m.vertices[k].z - low.z) / 0.1};
            ref_mat gradient = {{{0}}};
            for (int c = 0; c < 8; c++) {
                ref_vec at = to_double(rest[corner[c]]), now = to_double(x[corner[c]]);
                /* Corners are where their numbers say. */
                assert_near(at.x - low.x, c & 1 ? 0.1 : 0.0, 1e-6);
                assert_near(at.y - low.y, c & 2 ? 0.1 : 0.0, 1e-6);
                assert_near(at.z - low.z, c & 4 ? 0.1 : 0.0, 1e-6);
                double phi[3], slope[3], f[3] = {now.x, now.y, now.z};
                for (int a = 0; a < 3; a++) {
                    phi[a] = c >> a & 1 ? t[a] : 1.0 - t[a];
                    slope[a] = (c >> a & 1 ? 1.0 : -1.0) / 0.1;
                }
                assert_near(weights[8 * k + c], phi[0] * phi[1] * phi[2], 1e-5);
                middle = ref_add(middle, ref_scale(phi[0] * phi[1] * phi[2], now));
                for (int i = 0; i < 3; i++) {
                    gradient.at[i][0] += f[i] * slope[0] * phi[1] * phi[2];
                    gradient.at[i][1] += f[i] * phi[0] * slope[1] * phi[2];
                    gradient.at[i][2] += f[i] * phi[0] * phi[1] * slope[2];
                }
            }
            assert_at_most(ref_length(ref_sub(to_double(p[k]), middle)), 2e-6);
            assert_at_most(ref_length(ref_sub(to_double(n[k]), turned(gradient, m.normals[k]))), 1e-3);
        }
        free(x);
        free(rest);
        lm_world_destroy(world);
    }
}

/* A saved and loaded one too. Either array alone gives what both give. */
static void every_instruction_set_gives_the_same_bits(void **context)
{
    (void)context;
    lm_vec3 first[2][24];
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        if (!lm_isa_supported((lm_isa)isa)) continue;
        random_state random = {7};
        box_mesh m = make_box(sides[1]);
        lm_world *world = make_world_with(-9.81, (lm_isa)isa, 1);
        lm_body_id body = add_box(world, &m, 0.1f);
        randomise_state(world, body, &random, 0.02, 0.5);
        for (int frame = 0; frame < 5; frame++) assert_ok(lm_world_step(world, FRAME));
        lm_vec3 got[2][24], alone[24];
        assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), got[0], got[1]));
        if (isa == LM_ISA_SCALAR) memcpy(first, got, sizeof first);
        assert_memory_equal(got, first, sizeof first);
        assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), NULL, alone));
        assert_memory_equal(alone, got[1], sizeof alone);
        assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), alone, NULL));
        assert_memory_equal(alone, got[0], sizeof alone);
        size_t size = lm_world_save_size(world);
        void *saved = malloc(size);
        assert_ok(lm_world_save(world, saved, size));
        lm_world *loaded = make_world_with(0.0, (lm_isa)isa, 1);
        assert_ok(lm_world_load(loaded, saved, size));
        assert_ok(lm_body_get_skin(loaded, body, lm_dvec3_zero(), got[0], got[1]));
        assert_memory_equal(got, first, sizeof first);
        free(saved);
        lm_world_destroy(loaded);
        lm_world_destroy(world);
    }
}

/* Flat: no normal along it, and none that is no number. */
static void flat_cells_have_no_normals(void **context)
{
    (void)context;
    box_mesh m = make_box(sides[0]);
    lm_world *world = make_world(0.0);
    lm_body_id body = add_box(world, &m, 0.1f);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    for (int trial = 0; trial < 2; trial++) {
        lm_vec3 *x = calloc(info.particles, sizeof *x), n[24];
        assert_ok(lm_body_get_rest_positions(world, body, x));
        for (uint32_t k = 0; k < info.particles; k++) {
            x[k].y = 0.0f;
            x[k].x *= trial == 0 ? 1.0f : 0.0f;
        }
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
        assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), NULL, n));
        for (int k = 0; k < 24; k++) {
            double across = trial == 0 ? fabs(m.normals[k].y) : 0.0; /* the sides above and below keep theirs */
            assert_near(ref_length(to_double(n[k])), across, 1e-6);
        }
        free(x);
    }
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine_motions_are_exact),
        cmocka_unit_test(normals_follow_the_gradient),
        cmocka_unit_test(every_instruction_set_gives_the_same_bits),
        cmocka_unit_test(flat_cells_have_no_normals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
