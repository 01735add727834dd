/*
 * Masses of lattices: they follow the volume, the mesh's vertices, or what the caller says.
 */
#include "test/lattice/lattice_cells.h"
#include "test/reference/reference.h"

#include <math.h>

static void masses_follow_the_volume(void **context)
{
    (void)context;
    const uint32_t n[3] = {6, 4, 3};
    const double s = 0.25;
    lattice_cells c = lattice_cells_make(CELLS_BOX, n[0], n[1], n[2]);
    for (int equal = 0; equal < 2; equal++) {
        lm_world *world = make_world(0.0);
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.material.hertz = 8.0f;
        def.lattice.cells = c.is;
        memcpy(def.lattice.counts, n, sizeof n);
        def.lattice.spacing = (float)s;
        def.lattice.mass = equal ? LM_LATTICE_MASS_EQUAL : LM_LATTICE_MASS_VOLUME;
        def.mass = 7.0f;
        lm_body_id body = make_body(world, &def);
        body_state state = state_read(world, body, lm_dvec3_zero());
        motion m = motion_of(&state);
        assert_near(m.mass, 7.0, 1e-5);
        assert_near(info_of(world, body).mass, 7.0, 1e-5);
        for (int a = 0; a < 3; a++) {
            double variance = 0.0, solid = n[a] * n[a] * s * s / 12.0;
            double middle = a == 0 ? m.centre.x : a == 1 ? m.centre.y : m.centre.z;
            assert_near(middle, 0.5 * n[a] * s, 1e-5);
            for (uint32_t i = 0; i < state.count; i++) {
                double at = (a == 0 ? state.x[i].x : a == 1 ? state.x[i].y : state.x[i].z) - middle;
                variance += state.mass[i] * at * at / m.mass;
            }
            /* Equal masses: n (n + 2) / 12, which is 33 to 67 % too much. Eighths of cells: n² / 12 + 1 / 6. */
            if (equal) assert_near(variance, n[a] * (n[a] + 2.0) / 12.0 * s * s, 1e-5);
            if (!equal) assert_near(variance / solid, 1.0, 0.08);
            if (!equal) assert_true(variance < solid + 0.5 * s * s / 6.0);
        }
        if (equal) assert_near(state.mass[0], state.mass[state.count / 2], 1e-9);
        state_free(&state);
        lm_world_destroy(world);
    }
    free(c.is);
}

/* One cell: an eighth each. A corner where two cells meet by an edge alone has part of both. */
static void masses_of_few_cells(void **context)
{
    (void)context;
    const uint8_t one[1] = {1}, diagonal[4] = {1, 0, 0, 1};
    lm_world *world = make_world(0.0);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    float masses[14];
    def.lattice.spacing = 1.0f;
    def.lattice.cells = one;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 1;
    lm_body_id body = make_body(world, &def);
    assert_ok(lm_body_get_masses(world, body, masses));
    for (int n = 0; n < 8; n++) assert_near(masses[n], 0.125, 1e-7);
    def.lattice.cells = diagonal;
    def.lattice.counts[0] = def.lattice.counts[1] = 2;
    body = make_body(world, &def);
    assert_int_equal(info_of(world, body).particles, 14);
    assert_ok(lm_body_get_masses(world, body, masses));
    for (int n = 0; n < 14; n++) assert_near(masses[n], n == 3 || n == 10 ? 0.125 : 0.0625, 1e-7);
    lm_world_destroy(world);
}

/* A particle has the value of the nearest vertex: compared with looking at all of them. */
static void masses_come_from_the_nearest_vertex(void **context)
{
    (void)context;
    enum { VERTICES = 400, TRIANGLES = VERTICES - 2 };
    for (int how = 0; how < 3; how++) {
        random_state random = {(uint64_t)(50 + how)};
        lm_vec3 vertices[VERTICES];
        float of_vertices[VERTICES];
        uint32_t triangles[3 * TRIANGLES];
        for (uint32_t n = 0; n < VERTICES; n++) { /* anywhere; on a grid, so that there are ties; or on a line */
            ref_vec at = random_in_cube(&random, 1.0);
            if (how == 1) at = ref_v(floor(4 * at.x) / 4, floor(4 * at.y) / 4, floor(4 * at.z) / 4);
            if (how == 2 && n > 10) at = ref_v(at.x, 0.1, 0.1);
            vertices[n] = to_float(at);
            of_vertices[n] = (float)random_range(&random, 0.5, 20.0);
        }
        for (uint32_t n = 0; n < TRIANGLES; n++)
            for (uint32_t i = 0; i < 3; i++) triangles[3 * n + i] = n + i;
        lm_world *world = make_world(0.0);
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.material.hertz = 8.0f;
        def.lattice.vertices = vertices;
        def.lattice.vertex_count = VERTICES;
        def.lattice.triangles = triangles;
        def.lattice.triangle_count = TRIANGLES;
        def.lattice.spacing = 0.21f;
        def.lattice.mass = LM_LATTICE_MASS_EQUAL;
        def.lattice.vertex_masses = of_vertices;
        def.mass = 5.0f;
        lm_body_id body = make_body(world, &def);
        lm_body_info info = info_of(world, body);
        lm_vec3 *rest = calloc(info.particles, sizeof *rest);
        float *masses = calloc(info.particles, sizeof *masses);
        double *expected = calloc(info.particles, sizeof *expected), sum = 0.0;
        assert_ok(lm_body_get_rest_positions(world, body, rest));
        assert_ok(lm_body_get_masses(world, body, masses));
        for (uint32_t n = 0; n < info.particles; n++) {
            double best = INFINITY, second = INFINITY;
            for (uint32_t v = 0; v < VERTICES; v++) {
                ref_vec d = ref_sub(to_double(vertices[v]), to_double(rest[n]));
                double square = ref_dot(d, d);
                if (square < best)
                    second = best, best = square, expected[n] = (double)of_vertices[v];
                else if (square < second)
                    second = square;
            }
            if (second - best < 1e-6 * best)
                expected[n] = -1.0; /* the lattice knows its corners more exactly than this */
        }
        /* The scale from one that is sure. */
        double scale = 0.0;
        uint32_t sure = 0;
        for (uint32_t n = 0; n < info.particles; n++) {
            sum += (double)masses[n];
            if (expected[n] < 0.0) continue;
            if (scale == 0.0) scale = (double)masses[n] / expected[n];
            assert_near(masses[n], scale * expected[n], 1e-5 * (double)masses[n]);
            sure++;
        }
        assert_true(sure * 4 > info.particles);
        assert_near(sum, 5.0, 1e-4);
        free(rest);
        free(masses);
        free(expected);
        lm_world_destroy(world);
    }
}

static void masses_of_the_caller(void **context)
{
    (void)context;
    const uint32_t n[3] = {2, 2, 1};
    lattice_cells c = lattice_cells_make(CELLS_BOX, n[0], n[1], n[2]);
    float masses[18], read[18];
    lm_world *world = make_world(0.0);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    lm_body_id body;
    def.lattice.cells = c.is;
    memcpy(def.lattice.counts, n, sizeof n);
    def.lattice.spacing = 0.1f;
    def.masses = masses;
    for (int i = 0; i < 18; i++) masses[i] = 0.1f + 0.01f * (float)i;
    body = make_body(world, &def);
    assert_ok(lm_body_get_masses(world, body, read));
    assert_memory_equal(read, masses, sizeof read);
    masses[3] = 0.0f;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    lm_world_destroy(world);
    free(c.is);
}

static void wrong_values_are_refused(void **context)
{
    (void)context;
    lm_vec3 vertices[8];
    float values[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const uint8_t one[1] = {1};
    for (int wrong = 0; wrong < 9; wrong++) {
        lm_world *world = make_world(0.0);
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.material.hertz = 8.0f;
        lm_body_id body;
        lattice_use_box(&def, (double[]){1.0, 1.0, 1.0}, vertices);
        def.lattice.spacing = 0.25f;
        if (wrong == 1) def.lattice.width_metres = -1.0f;
        if (wrong == 2) def.lattice.width_metres = NAN;
        if (wrong == 3) def.lattice.width_metres = 2e6f;
        if (wrong == 4) def.lattice.mass = LM_LATTICE_MASS_COUNT;
        if (wrong >= 5) def.lattice.vertex_masses = values;
        values[2] = wrong == 5 ? 0.0f : wrong == 6 ? NAN : wrong == 7 ? 1e-12f : 1.0f;
        if (wrong == 8) {
            def.lattice.vertices = NULL, def.lattice.vertex_count = 0;
            def.lattice.triangles = NULL, def.lattice.triangle_count = 0;
            def.lattice.cells = one;
            def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 1;
        }
        assert_result(lm_body_create(world, &def, &body), wrong ? LM_ERROR_ARGUMENT : LM_OK);
        lm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_follow_the_volume),
        cmocka_unit_test(masses_of_few_cells),
        cmocka_unit_test(masses_come_from_the_nearest_vertex),
        cmocka_unit_test(masses_of_the_caller),
        cmocka_unit_test(wrong_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
