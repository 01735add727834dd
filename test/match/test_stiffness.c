/*
 * Stiffness of single regions: shares of the body's pull.
 */
#include "test/reference/reference.h"
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#define TWO_PI 6.283185307179586476925

static uint32_t region_count(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info.regions;
}

/* A block of one region, blown up a little, rings with the share's square root: 8 Hz at 1, 4 Hz at a quarter. */
static void frequency_goes_with_the_root_of_the_share(void **context)
{
    (void)context;
    static const float shares[] = {1.0f, 0.5f, 0.25f, 0.04f};
    double h = 1.0 / 480.0;
    for (int k = 0; k < 4; k++) {
        random_state random = {1};
        sample s = sample_make(SAMPLE_BOX, &random);
        s.def.material.mode = LM_MODE_RIGID;
        s.def.material.hertz = 8.0f;
        s.def.material.damping_ratio = 0.0f;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &s.def);
        assert_ok(lm_body_set_region_stiffness(world, body, &shares[k]));
        lm_vec3 *x = calloc(s.count, sizeof *x);
        for (uint32_t i = 0; i < s.count; i++) x[i] = to_float(ref_scale(1.05, to_double(s.points[i])));
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
        /* Times between zero crossings of the first particle's deviation along x, between steps by interpolation. */
        double last = 0.05, first_crossing = -1.0, crossing = -1.0;
        int crossings = 0;
        for (int step = 1; step <= 4800; step++) {
            assert_ok(lm_world_step(world, h));
            assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
            double now = (double)x[0].x / (double)s.points[0].x - 1.0;
            if (now * last < 0.0) {
                crossing = h * (step - 1 + last / (last - now));
                if (first_crossing < 0.0) first_crossing = crossing;
                crossings++;
            }
            last = now;
        }
        double hertz = 0.5 * (crossings - 1) / (crossing - first_crossing);
        assert_near(hertz, 8.0 * sqrt((double)shares[k]), 0.01 * hertz);
        /* And exactly what the shorter pull makes of the step. */
        double alpha, damped;
        ref_rates(&s.def.material, h, &alpha, &damped);
        assert_near(hertz, acos(1.0 - 0.5 * alpha * (double)shares[k]) / (TWO_PI * h), 0.002 * hertz);
        free(x);
        lm_world_destroy(world);
        sample_free(&s);
    }
}

/* With share 0 a region does not pull: a particle that is in no other flies straight on, one that is in another does not. */
static void share_zero_lets_go(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        lm_vec3 *points = grid_points(6, 2, 2, 0.1), x[24], v[24], at[24];
        uint32_t members[32], offsets[3] = {0, 16, 32}, n = 0;
        for (uint32_t list = 0; list < 2; list++) /* x 0..3 and x 2..5 */
            for (uint32_t i = 0; i < 24; i++)
                if (i % 6 >= 2 * list && i % 6 < 2 * list + 4) members[n++] = i;
        assert_int_equal(n, 32);
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.points = points;
        def.point_count = 24;
        def.clusters.kind = LM_CLUSTERS_LISTS;
        def.clusters.offsets = offsets;
        def.clusters.members = members;
        def.clusters.list_count = 2;
        def.material.mode = (lm_mode)mode;
        def.material.damping_ratio = 0.0f;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        float shares[2] = {1.0f, 0.0f};
        assert_ok(lm_body_set_region_stiffness(world, body, shares));
        random_state random = {3};
        for (int i = 0; i < 24; i++) {
            x[i] = to_float(ref_add(to_double(points[i]), random_in_cube(&random, 0.02)));
            v[i] = to_float(random_in_cube(&random, 0.1));
        }
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
        int steps = 60;
        for (int k = 0; k < steps; k++) assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
        double held = 0.0;
        for (uint32_t i = 0; i < 24; i++) {
            ref_vec straight = ref_add_scaled(to_double(x[i]), steps * FRAME, to_double(v[i]));
            double off = ref_length(ref_sub(to_double(at[i]), straight));
            if (i % 6 >= 4)
                assert_at_most(off, 1e-5);
            else
                held = fmax(held, off);
        }
        assert_true(held > 0.02);
        /* All let go: a gas. */
        shares[0] = 0.0f;
        assert_ok(lm_body_set_region_stiffness(world, body, shares));
        body_state before = state_read(world, body, lm_dvec3_zero());
        for (int k = 0; k < steps; k++) assert_ok(lm_world_step(world, FRAME));
        body_state after = state_read(world, body, lm_dvec3_zero());
        for (uint32_t i = 0; i < 24; i++) assert_at_most(ref_length(ref_sub(after.v[i], before.v[i])), 1e-6);
        state_free(&before);
        state_free(&after);
        /* And back. */
        assert_ok(lm_body_set_region_stiffness(world, body, NULL));
        assert_ok(lm_body_get_region_stiffness(world, body, shares));
        assert_true(shares[0] == 1.0f && shares[1] == 1.0f);
        lm_world_destroy(world);
        free(points);
    }
}

static void all_shares_one_is_the_default(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
        uint64_t hashes[3];
        for (int how = 0; how < 3; how++) {
            random_state random = {9};
            sample s = sample_make((sample_kind)kind, &random);
            lm_world *world = make_world(0.0);
            lm_body_id body = make_body(world, &s.def);
            uint32_t regions = region_count(world, body);
            float *shares = calloc(regions, sizeof *shares), *read = calloc(regions, sizeof *read);
            for (uint32_t r = 0; r < regions; r++) shares[r] = 1.0f;
            assert_ok(lm_body_get_region_stiffness(world, body, read));
            assert_memory_equal(read, shares, regions * sizeof *shares);
            if (how == 1) assert_ok(lm_body_set_region_stiffness(world, body, shares));
            if (how == 2) {
                for (uint32_t r = 0; r < regions; r++) shares[r] = 0.3f;
                assert_ok(lm_body_set_region_stiffness(world, body, shares));
                assert_ok(lm_body_set_region_stiffness(world, body, NULL));
            }
            randomise_state(world, body, &random, 0.03, 1.0);
            for (int step = 0; step < 30; step++) assert_ok(lm_world_step(world, FRAME));
            hashes[how] = lm_world_hash(world);
            free(shares);
            free(read);
            lm_world_destroy(world);
            sample_free(&s);
        }
        assert_true(hashes[0] == hashes[1]);
        assert_true(hashes[0] == hashes[2]);
    }
}

static void momentum_is_kept_whatever_the_shares(void **context)
{
    (void)context;
    double worst_linear = 0.0, worst_angular = 0.0;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            random_state random = {(uint64_t)(10 * kind + mode)};
            sample s = sample_make((sample_kind)kind, &random);
            s.def.material.mode = (lm_mode)mode;
            s.def.material.beta = 0.8f;
            lm_world *world = make_world(0.0);
            lm_body_id body = make_body(world, &s.def);
            uint32_t regions = region_count(world, body);
            float *shares = calloc(regions, sizeof *shares);
            for (uint32_t r = 0; r < regions; r++) shares[r] = (float)random_range(&random, 0.02, 1.0);
            assert_ok(lm_body_set_region_stiffness(world, body, shares));
            randomise_state(world, body, &random, 0.02, 1.0);
            motion start = motion_read(world, body, lm_dvec3_zero());
            for (int step = 0; step < 1000; step++) assert_ok(lm_world_step(world, FRAME));
            lm_body_info info;
            assert_ok(lm_body_get_info(world, body, &info));
            motion end = motion_read(world, body, info.centre);
            double linear = ref_length(ref_sub(end.momentum, start.momentum)) / start.momentum_scale;
            double angular = ref_length(ref_sub(end.angular, start.angular)) / start.angular_scale;
            if (!(linear <= 1e-4) || !(angular <= 1e-4))
                print_error("%s, mode %d: momentum drifts by %g, spin by %g\n", sample_name((sample_kind)kind), mode,
                            linear, angular);
            worst_linear = fmax(worst_linear, linear);
            worst_angular = fmax(worst_angular, angular);
            free(shares);
            lm_world_destroy(world);
            sample_free(&s);
        }
    assert_at_most(worst_linear, 1e-4);
    assert_at_most(worst_angular, 1e-4);
}

/* A region gets the mean of its members' values, weighted by mass. */
static void particle_values_are_averaged(void **context)
{
    (void)context;
    lm_vec3 points[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 2, 2}};
    float masses[5] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f}, values[5] = {1.0f, 0.5f, 0.0f, 0.25f, 0.75f}, shares[3];
    uint32_t offsets[4] = {0, 2, 5, 6}, members[6] = {0, 1, 1, 2, 3, 4};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = 5;
    def.masses = masses;
    def.clusters.kind = LM_CLUSTERS_LISTS;
    def.clusters.offsets = offsets;
    def.clusters.members = members;
    def.clusters.list_count = 3;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &def);
    assert_ok(lm_body_set_particle_stiffness(world, body, values));
    assert_ok(lm_body_get_region_stiffness(world, body, shares));
    assert_near(shares[0], (1.0 * 1.0 + 2.0 * 0.5) / 3.0, 1e-6);
    assert_near(shares[1], (2.0 * 0.5 + 3.0 * 0.0 + 4.0 * 0.25) / 9.0, 1e-6);
    assert_near(shares[2], 0.75, 1e-6);
    lm_world_destroy(world);
}

static void bad_values_are_refused(void **context)
{
    (void)context;
    random_state random = {5};
    sample s = sample_make(SAMPLE_ROD, &random);
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &s.def), none = {0};
    assert_int_equal(region_count(world, body), 4);
    float good[4] = {0.0f, 0.3f, 0.7f, 1.0f}, read[4], *values = calloc(s.count, sizeof *values);
    assert_ok(lm_body_set_region_stiffness(world, body, good));
    static const float bad[] = {-0.01f, 1.01f, (float)NAN, (float)INFINITY};
    for (int k = 0; k < 4; k++) {
        float shares[4] = {0.5f, 0.5f, 0.5f, bad[k]};
        for (uint32_t i = 0; i < s.count; i++) values[i] = 0.5f;
        values[k * 7] = bad[k];
        assert_result(lm_body_set_region_stiffness(world, body, shares), LM_ERROR_ARGUMENT);
        assert_result(lm_body_set_particle_stiffness(world, body, values), LM_ERROR_ARGUMENT);
        assert_ok(lm_body_get_region_stiffness(world, body, read));
        assert_memory_equal(read, good, sizeof good);
    }
    assert_result(lm_body_set_region_stiffness(world, none, good), LM_ERROR_ID);
    assert_result(lm_body_set_particle_stiffness(world, none, values), LM_ERROR_ID);
    assert_result(lm_body_get_region_stiffness(world, none, read), LM_ERROR_ID);
    free(values);
    lm_world_destroy(world);
    sample_free(&s);
}

static void shares_survive_a_snapshot(void **context)
{
    (void)context;
    random_state random = {6};
    sample s = sample_make(SAMPLE_ROD, &random);
    lm_world *world = make_world(-9.81), *other = make_world(0.0);
    lm_body_id body = make_body(world, &s.def);
    float shares[4] = {0.9f, 0.0f, 0.123f, 0.5f}, read[4];
    assert_ok(lm_body_set_region_stiffness(world, body, shares));
    randomise_state(world, body, &random, 0.05, 1.0);
    for (int step = 0; step < 10; step++) assert_ok(lm_world_step(world, FRAME));
    size_t size = lm_world_save_size(world);
    void *buffer = malloc(size);
    assert_ok(lm_world_save(world, buffer, size));
    assert_ok(lm_world_load(other, buffer, size));
    assert_ok(lm_body_get_region_stiffness(other, body, read));
    assert_memory_equal(read, shares, sizeof shares);
    for (int step = 0; step < 60; step++) {
        assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_world_step(other, FRAME));
    }
    assert_true(lm_world_hash(world) == lm_world_hash(other));
    /* Without them it goes another way. */
    assert_ok(lm_world_load(other, buffer, size));
    assert_ok(lm_body_set_region_stiffness(other, body, NULL));
    for (int step = 0; step < 60; step++) assert_ok(lm_world_step(other, FRAME));
    assert_true(lm_world_hash(world) != lm_world_hash(other));
    free(buffer);
    lm_world_destroy(world);
    lm_world_destroy(other);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequency_goes_with_the_root_of_the_share),
        cmocka_unit_test(share_zero_lets_go),
        cmocka_unit_test(all_shares_one_is_the_default),
        cmocka_unit_test(momentum_is_kept_whatever_the_shares),
        cmocka_unit_test(particle_values_are_averaged),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(shares_survive_a_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
