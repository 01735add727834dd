/*
 * Tests of the reference: its decompositions against brute force, and closed forms of the step.
 *
 * A truth that nobody checks is only another program.
 */
#include "test/reference/reference.h"
#include "test/support/support.h"

#include <stdlib.h>

static ref_mat random_matrix(random_state *random)
{
    ref_mat a;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.at[i][j] = random_range(random, -1.0, 1.0);
    return a;
}

static double difference(ref_mat a, ref_mat b)
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum += (a.at[i][j] - b.at[i][j]) * (a.at[i][j] - b.at[i][j]);
    return sqrt(sum);
}

/* Singular matrices among them: rank 2, 1 and 0. */
static ref_mat random_matrix_of_rank(random_state *random, int rank)
{
    ref_mat a = {{{0}}};
    for (int k = 0; k < rank; k++) {
        ref_vec to = random_in_cube(random, 1.0), from = random_in_cube(random, 1.0);
        a = ref_mat_add(a, ref_outer(to, from));
    }
    return rank < 3 ? a : random_matrix(random);
}

static void svd_rebuilds_its_matrix(void **context)
{
    (void)context;
    random_state random = {1};
    for (int trial = 0; trial < 2000; trial++) {
        ref_mat a = random_matrix_of_rank(&random, trial % 4);
        ref_mat u, v, d = {{{0}}};
        double s[3];
        ref_svd(a, &u, s, &v);
        for (int k = 0; k < 3; k++) d.at[k][k] = s[k];
        assert_at_most(difference(ref_mat_mul(ref_mat_mul(u, d), ref_transpose(v)), a), 1e-12);
        assert_at_most(difference(ref_mat_mul(u, ref_transpose(u)), ref_identity()), 1e-12);
        assert_near(ref_det(u), 1.0, 1e-12);
        assert_near(ref_det(v), 1.0, 1e-12);
        assert_true(s[0] >= s[1] && s[1] >= fabs(s[2]) - 1e-12);
    }
}

static void eigenvectors_diagonalise(void **context)
{
    (void)context;
    random_state random = {2};
    for (int trial = 0; trial < 200; trial++) {
        enum { N = 6 };
        double a[N * N], values[N], vectors[N * N];
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) a[i * N + j] = a[j * N + i] = random_range(&random, -1.0, 1.0);
        ref_eigen_symmetric(N, a, values, vectors);
        for (int k = 0; k < N; k++) {
            for (int i = 0; i < N; i++) {
                double product = 0.0;
                for (int j = 0; j < N; j++) product += a[i * N + j] * vectors[j * N + k];
                assert_near(product, values[k] * vectors[i * N + k], 1e-12);
            }
            if (k > 0) assert_true(values[k] >= values[k - 1]);
        }
    }
}

/* No rotation, neither one of thousands at random nor one nearby, has a larger tr(R^T A). */
static void polar_beats_brute_force(void **context)
{
    (void)context;
    random_state random = {3};
    for (int trial = 0; trial < 60; trial++) {
        ref_mat a = random_matrix_of_rank(&random, 3 - trial % 2);
        ref_mat best = ref_polar(a);
        assert_near(ref_det(best), 1.0, 1e-12);
        double reached = ref_trace(ref_mat_mul(ref_transpose(best), a));
        double nearest = -1e9;
        for (int attempt = 0; attempt < 3000; attempt++) {
            ref_mat other = random_rotation(&random);
            nearest = fmax(nearest, ref_trace(ref_mat_mul(ref_transpose(other), a)));
            ref_mat turned = ref_mat_mul(ref_rotation(random_in_cube(&random, 0.01)), best);
            assert_at_most(ref_trace(ref_mat_mul(ref_transpose(turned), a)), reached + 1e-12);
        }
        assert_at_most(nearest, reached + 1e-12);
        assert_near(nearest, reached, 0.15); /* the search is dense enough to mean something */
    }
}

static double rest_cost(ref_mat b, ref_mat a, ref_mat q)
{
    ref_mat d = ref_mat_add(b, ref_mat_scale(-1.0, a));
    return ref_trace(ref_mat_mul(ref_mat_mul(d, q), ref_transpose(d)));
}

/* Among matrices of determinant 1 near the projection, and among the paper's A / cbrt(det A), none is closer. */
static void unit_volume_beats_random_search(void **context)
{
    (void)context;
    random_state random = {4};
    for (int trial = 0; trial < 200; trial++) {
        ref_mat a;
        do a = ref_mat_add(ref_identity(), ref_mat_scale(0.5, random_matrix(&random)));
        while (ref_det(a) < 0.3 || ref_det(a) > 2.0);
        a = ref_mat_mul(random_rotation(&random), a);
        ref_mat shape = random_matrix(&random);
        ref_mat q = ref_mat_add(ref_mat_mul(shape, ref_transpose(shape)), ref_mat_scale(1e-3, ref_identity()));
        ref_mat best = ref_unit_volume(a, q);
        assert_near(ref_det(best), 1.0, 1e-10);
        double cost = rest_cost(best, a, q);
        assert_at_most(cost, rest_cost(ref_mat_scale(1.0 / cbrt(ref_det(a)), a), a, q) + 1e-12);
        for (int attempt = 0; attempt < 500; attempt++) {
            double reach = attempt % 2 ? 0.3 : 1e-3;
            ref_mat other = ref_mat_add(best, ref_mat_scale(reach, random_matrix(&random)));
            if (ref_det(other) < 0.01) continue;
            other = ref_mat_scale(1.0 / cbrt(ref_det(other)), other);
            assert_at_most(cost, rest_cost(other, a, q) + 1e-10);
        }
    }
}

/* The rates against a finely integrated oscillator e'' = f - 2 zeta omega e' - omega² e: the resting place is the same at
 * every step, and the motion on the way to it is as the step gets shorter. */
static void rates_follow_the_oscillator(void **context)
{
    (void)context;
    for (int trial = 0; trial < 12; trial++) {
        lm_material material = lm_material_default();
        material.stiffness = LM_STIFFNESS_HERTZ;
        material.hertz = (float)(1 + trial % 4);
        material.damping_ratio = (float)(0.1 + 0.45 * (trial / 4));
        double omega = 6.283185307179586 * (double)material.hertz, zeta = (double)material.damping_ratio, f = 7.0;
        double last = INFINITY;
        for (int rate = 60; rate <= 3840; rate *= 8) {
            double alpha, k, h = 1.0 / rate, e = 0.0, u = 0.0, true_e = 0.0, true_u = 0.0, worst = 0.0;
            ref_rates(&material, h, &alpha, &k);
            assert_near(h * h * f / alpha, f / (omega * omega), 1e-6 * f / (omega * omega));
            for (int step = 0; step < rate / 2; step++) {
                u = (1.0 - k) * u + h * f - alpha * e / h;
                e += h * u;
                for (int n = 0; n < 40000 / rate; n++) {
                    double dt = h / (40000 / rate);
                    true_u += dt * (f - 2 * zeta * omega * true_u - omega * omega * true_e);
                    true_e += dt * true_u;
                }
                worst = fmax(worst, fabs(e - true_e) * omega * omega / f);
            }
            assert_at_most(worst, 0.25 * last);
            last = worst;
        }
        assert_at_most(last, 0.02);
    }
}

/* The whole step in double precision keeps momentum and spin far better than any float can: the equations do. */
static void the_step_keeps_momentum(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            random_state random = {(uint64_t)(10 * kind + mode)};
            sample s = sample_make((sample_kind)kind, &random);
            s.def.material.mode = (lm_mode)mode;
            s.def.material.beta = 0.8f;
            lm_world *world = make_world(0.0);
            lm_body_id id = make_body(world, &s.def);
            randomise_state(world, id, &random, 0.02, 1.0);
            ref_body *body = ref_body_copy(world, id, 0.0);
            body_state state = {body->count, body->x, body->v, body->mass};
            motion before = motion_of(&state);
            for (int step = 0; step < 60; step++) ref_body_step(body, FRAME);
            motion after = motion_of(&state);
            assert_at_most(ref_length(ref_sub(after.momentum, before.momentum)), 1e-11 * before.momentum_scale);
            assert_at_most(ref_length(ref_sub(after.angular, before.angular)), 1e-10 * before.angular_scale);
            ref_body_free(body);
            lm_world_destroy(world);
            sample_free(&s);
        }
}

static void rest_is_a_fixed_point(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            random_state random = {(uint64_t)(10 * kind + mode)};
            sample s = sample_make((sample_kind)kind, &random);
            s.def.material.mode = (lm_mode)mode;
            lm_world *world = make_world(0.0);
            lm_body_id id = make_body(world, &s.def);
            ref_body *body = ref_body_copy(world, id, 0.0);
            ref_mat turn = random_rotation(&random);
            ref_vec *goals = calloc(body->count, sizeof *goals);
            for (uint32_t i = 0; i < body->count; i++) body->x[i] = ref_mat_vec(turn, body->rest[i]);
            ref_match(body, goals);
            for (uint32_t i = 0; i < body->count; i++) assert_at_most(ref_length(ref_sub(goals[i], body->x[i])), 1e-12);
            free(goals);
            ref_body_free(body);
            lm_world_destroy(world);
            sample_free(&s);
        }
}

/* A bar held at a stretch of 1.5 along x, thin enough for both other stretches to be 1/sqrt(1.5): per step the elastic
 * stretches s shrink to s/(1 + f (s - 1)) before the volume is put right, and flow stops at the yield. */
static void flow_follows_a_held_stretch(void **context)
{
    (void)context;
    lm_material material = lm_material_default();
    material.yield = 0.05f;
    material.creep = 4.0f;
    material.max_plastic = 0.9f;
    random_state random = {6};
    ref_mat axes = random_rotation(&random), turn = random_rotation(&random);
    ref_mat stretch = {{{1.5, 0, 0}, {0, 1.0 / sqrt(1.5), 0}, {0, 0, 1.0 / sqrt(1.5)}}};
    stretch = ref_mat_mul(ref_mat_mul(axes, stretch), ref_transpose(axes));
    ref_mat plastic = ref_identity(), a = ref_mat_mul(turn, stretch);
    double h = 1.0 / 1000.0, time = 0.0, strain, before = 0.5;
    ref_flowed(plastic, a, &material, h, &strain);
    assert_near(strain, 0.5, 1e-12);
    for (int step = 0; step < 3000; step++) {
        plastic = ref_flowed(plastic, a, &material, h, &strain);
        assert_near(ref_det(plastic), 1.0, 1e-12);
        assert_at_most(difference(plastic, ref_transpose(plastic)), 1e-12);
        assert_at_most(strain, before + 1e-12);
        before = strain;
        if (strain > 0.05) time += h;
    }
    assert_near(strain, 0.05, 0.05 * 4.0 * h + 1e-6);
    /* The plastic log stretch p along the bar, at elastic stretches s = 1.5/e^p and t = sqrt(1/s), flows at
     * creep ((s - 1) - (s - 1 + 2 (t - 1))/3). */
    double p = 0.0, longest = log(1.5), t = 0.0;
    while (exp(longest - p) - 1.0 > 0.05) {
        double s = exp(longest - p), side = exp(-0.5 * (longest - p));
        p += 1e-6 * 4.0 * ((s - 1.0) - (s - 1.0 + 2.0 * (side - 1.0)) / 3.0);
        t += 1e-6;
    }
    assert_near(time, t, 0.01 * t);
    assert_near(ref_length(ref_mat_vec(plastic, ref_column(axes, 0))), exp(p), 1e-3);
}

/* Whatever is pressed into it, the plastic matrix stays symmetric, of determinant 1, and within the maximum. */
static void flow_keeps_its_limits(void **context)
{
    (void)context;
    random_state random = {7};
    for (int trial = 0; trial < 300; trial++) {
        lm_material material = lm_material_default();
        material.yield = (float)random_range(&random, 0.01, 0.3);
        material.creep = (float)random_range(&random, 0.0, 500.0);
        material.max_plastic = (float)random_range(&random, 0.0, 0.9);
        double most = (double)material.max_plastic;
        ref_mat plastic = ref_identity();
        for (int step = 0; step < 20; step++) {
            double size = pow(10.0, random_range(&random, -3.0, 3.0));
            ref_mat a = ref_mat_scale(size, random_matrix(&random));
            plastic = ref_flowed(plastic, a, &material, 1.0 / 60.0, NULL);
            double values[3], vectors[9];
            ref_eigen_symmetric(3, &plastic.at[0][0], values, vectors);
            assert_near(values[0] * values[1] * values[2], 1.0, 1e-10);
            assert_true(values[0] >= 1.0 - most - 1e-10 && values[2] <= 1.0 + most + 1e-10);
            assert_at_most(difference(plastic, ref_transpose(plastic)), 1e-12);
        }
    }
}

/* With any plastic matrices and any shares. */
static void plastic_steps_keep_momentum(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            random_state random = {(uint64_t)(10 * kind + mode)};
            sample s = sample_make((sample_kind)kind, &random);
            s.def.material.mode = (lm_mode)mode;
            s.def.material.yield = 0.01f;
            s.def.material.creep = 30.0f;
            s.def.material.hertz = 3.0f;
            lm_world *world = make_world(0.0);
            lm_body_id id = make_body(world, &s.def);
            randomise_state(world, id, &random, 0.05, 1.0);
            ref_body *body = ref_body_copy(world, id, 0.0);
            for (uint32_t r = 0; r < body->region_count; r++) body->share[r] = random_range(&random, 0.0, 1.0);
            body_state state = {body->count, body->x, body->v, body->mass};
            motion before = motion_of(&state);
            double flowed = 0.0;
            for (int step = 0; step < 60; step++) ref_body_step(body, FRAME);
            for (uint32_t r = 0; r < body->region_count; r++)
                flowed = fmax(flowed, difference(body->plastic[r], ref_identity()));
            motion after = motion_of(&state);
            assert_true(flowed > 0.01);
            assert_at_most(ref_length(ref_sub(after.momentum, before.momentum)), 1e-11 * before.momentum_scale);
            assert_at_most(ref_length(ref_sub(after.angular, before.angular)), 1e-10 * before.angular_scale);
            ref_body_free(body);
            lm_world_destroy(world);
            sample_free(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svd_rebuilds_its_matrix),     cmocka_unit_test(eigenvectors_diagonalise),
        cmocka_unit_test(polar_beats_brute_force),     cmocka_unit_test(unit_volume_beats_random_search),
        cmocka_unit_test(rates_follow_the_oscillator), cmocka_unit_test(the_step_keeps_momentum),
        cmocka_unit_test(rest_is_a_fixed_point),       cmocka_unit_test(flow_follows_a_held_stretch),
        cmocka_unit_test(flow_keeps_its_limits),       cmocka_unit_test(plastic_steps_keep_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
