/*
 * What physics forbids to change: momentum, spin, energy's bound, rest, uniform motion, the choice of the origin, and the
 * choice of the time step.
 *
 * Everything is measured from the particles in double precision, never taken from the library's own statistics.
 *
 *   test_momentum          follows the energy for 20,000 steps
 *   test_momentum long     for 100,000
 */
#include "test/reference/reference.h"
#include "test/support/ringing.h"

#include <stdlib.h>
#include <string.h>

#define TWO_PI 6.283185307179586476925

static int energy_steps = 20000;

static lm_material material_of(lm_mode mode, double hertz, double damping_ratio, double beta)
{
    lm_material material = lm_material_default();
    material.mode = mode;
    material.hertz = (float)hertz;
    material.damping_ratio = (float)damping_ratio;
    material.beta = (float)beta;
    return material;
}

static void momentum_and_spin_are_kept(void **context)
{
    (void)context;
    static const double damping_ratios[] = {0.0, 0.05, 0.5};
    double worst_linear = 0.0, worst_angular = 0.0;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++)
            for (int damped = 0; damped < 3; damped++) {
                random_state random = {(uint64_t)(kind * 100 + mode * 10 + damped)};
                sample s = sample_make((sample_kind)kind, &random);
                s.def.material = material_of((lm_mode)mode, 5.0, damping_ratios[damped], 0.8);
                lm_world *world = make_world(0.0);
                lm_body_id body = make_body(world, &s.def);
                excite(world, body, &random, 0.02, 0.3, 3.0);
                motion start = motion_read(world, body, body_centre(world, body));
                double linear = 0.0, angular = 0.0;
                for (int step = 1; step <= 1000; step++) {
                    assert_ok(lm_world_step(world, FRAME));
                    if (step % 100 != 0) continue;
                    motion now = motion_read(world, body, body_centre(world, body));
                    assert_true(now.finite);
                    linear = fmax(linear, ref_length(ref_sub(now.momentum, start.momentum)));
                    angular = fmax(angular, ref_length(ref_sub(now.angular, start.angular)));
                }
                linear /= ref_length(start.momentum);
                angular /= ref_length(start.angular);
                if (!(linear < 1e-4) || !(angular < 1e-4))
                    print_error("%s, mode %d, damping ratio %g: momentum drifts by %.3g, spin by %.3g\n",
                                sample_name((sample_kind)kind), mode, damping_ratios[damped], linear, angular);
                worst_linear = fmax(worst_linear, linear);
                worst_angular = fmax(worst_angular, angular);
                lm_world_destroy(world);
                sample_free(&s);
            }
    print_message("momentum drifts by at most %.3g, spin by %.3g\n", worst_linear, worst_angular);
    assert_at_most(worst_linear, 1e-4);
    assert_at_most(worst_angular, 1e-4);
}

/* A body that starts in its rest shape has kinetic energy only, so that is all it can ever have. The scheme keeps a
 * nearby energy, in which a deformed state may count up to twice: hence the factor. */
static void energy_stays_bounded(void **context)
{
    (void)context;
    static const sample_kind kinds[] = {SAMPLE_CELL, SAMPLE_STRIP, SAMPLE_STICK};
    for (int k = 0; k < 3; k++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++)
            for (int stiff = 0; stiff < 2; stiff++) {
                random_state random = {(uint64_t)(77 + k * 10 + mode)};
                sample s = sample_make(kinds[k], &random);
                s.def.material = material_of((lm_mode)mode, stiff ? 1000.0 : 6.0, 0.0, 0.8);
                lm_world *world = make_world(0.0);
                lm_body_id body = make_body(world, &s.def);
                excite(world, body, &random, 0.0, 0.2, 3.0);
                double start = motion_read(world, body, lm_dvec3_zero()).kinetic, largest = 0.0, last = 0.0;
                for (int step = 0; step < energy_steps; step++) {
                    assert_ok(lm_world_step(world, FRAME));
                    if (step % 25 != 0) continue;
                    lm_body_info info;
                    assert_ok(lm_body_get_info(world, body, &info));
                    last = (double)info.kinetic_energy;
                    if (!(last <= largest)) largest = last;
                }
                motion end = motion_read(world, body, body_centre(world, body));
                assert_true(end.finite);
                if (!(largest <= 3.0 * start))
                    print_error("%s, mode %d, %s: kinetic energy reached %.3g times that of the start\n",
                                sample_name(kinds[k]), mode, stiff ? "as stiff as can be" : "soft", largest / start);
                assert_at_most(largest, 3.0 * start);
                lm_world_destroy(world);
                sample_free(&s);
            }
}

/* The energy that the rigid goals hold in a state: the others hold no more, for every rigid shape is also one of theirs. */
static double energy_of_deformation(const lm_world *world, lm_body_id id)
{
    ref_body *body = ref_body_copy(world, id, 0.0);
    ref_vec *goals = calloc(body->count, sizeof *goals);
    double alpha, k, sum = 0.0;
    ref_rates(&body->material, FRAME, &alpha, &k);
    body->material.mode = LM_MODE_RIGID;
    ref_match(body, goals);
    for (uint32_t i = 0; i < body->count; i++) {
        ref_vec d = ref_sub(goals[i], body->x[i]);
        sum += 0.5 * body->mass[i] * ref_dot(d, d) * alpha / (FRAME * FRAME);
    }
    free(goals);
    ref_body_free(body);
    return sum;
}

/* However mangled the start, turned inside out and far beyond its size: what is let go never has more than was put in. */
static void energy_of_mangled_bodies_stays_bounded(void **context)
{
    (void)context;
    static const sample_kind kinds[] = {SAMPLE_BOX, SAMPLE_BLOB, SAMPLE_STICK};
    bool sound = true;
    for (int k = 0; k < 3; k++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++)
            for (int n = 0; n < 24; n++) {
                static const double reach[] = {0.1, 0.3, 0.7, 1.0, 1.5, 5.0};
                double moved = reach[n % 6];
                random_state random = {(uint64_t)(300 + k * 1000 + n)};
                sample s = sample_make(kinds[k], &random);
                s.def.material = material_of((lm_mode)mode, 6.0, 0.0, 0.8);
                lm_world *world = make_world(0.0);
                lm_body_id body = make_body(world, &s.def);
                lm_vec3 *x = calloc(s.count, sizeof *x);
                for (uint32_t i = 0; i < s.count; i++)
                    x[i] = to_float(ref_add(to_double(s.points[i]), random_in_cube(&random, moved * s.size)));
                assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
                double start = energy_of_deformation(world, body), largest = 0.0;
                for (int step = 0; step < 2500; step++) {
                    assert_ok(lm_world_step(world, FRAME));
                    lm_body_info info;
                    assert_ok(lm_body_get_info(world, body, &info));
                    if (!((double)info.kinetic_energy <= largest)) largest = (double)info.kinetic_energy;
                }
                if (!(largest <= 1.5 * start)) {
                    sound = false;
                    print_error("%s, mode %d, moved by %.1f sizes: kinetic energy reached %.3g times what was put in\n",
                                sample_name(kinds[k]), mode, moved, largest / start);
                }
                free(x);
                lm_world_destroy(world);
                sample_free(&s);
            }
    assert_true(sound);
}

static void rest_in_any_orientation_stays(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            random_state random = {(uint64_t)(500 + kind * 10 + mode)};
            sample s = sample_make((sample_kind)kind, &random);
            s.def.material = material_of((lm_mode)mode, 8.0, 0.1, 0.9);
            s.def.pose.rotation = quaternion(random_in_cube(&random, 3.0));
            lm_world *world = make_world(0.0);
            lm_body_id body = make_body(world, &s.def);
            body_state before = state_read(world, body, lm_dvec3_zero());
            for (int step = 0; step < 300; step++) assert_ok(lm_world_step(world, FRAME));
            body_state after = state_read(world, body, lm_dvec3_zero());
            double moved = 0.0;
            for (uint32_t i = 0; i < before.count; i++)
                moved = fmax(moved, ref_length(ref_sub(after.x[i], before.x[i])));
            if (moved > 1e-5 * s.size) print_error("%s, mode %d\n", sample_name((sample_kind)kind), mode);
            assert_at_most(moved, 1e-5 * s.size);
            state_free(&before);
            state_free(&after);
            lm_world_destroy(world);
            sample_free(&s);
        }
}

static void translation_stays_translation(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            random_state random = {(uint64_t)(900 + kind * 10 + mode)};
            sample s = sample_make((sample_kind)kind, &random);
            s.def.material = material_of((lm_mode)mode, 8.0, 0.1, 0.9);
            s.def.pose.rotation = quaternion(random_in_cube(&random, 3.0));
            s.def.velocity = (lm_vec3){3.0f, -2.0f, 1.0f};
            lm_world *world = make_world(0.0);
            lm_body_id body = make_body(world, &s.def);
            body_state before = state_read(world, body, lm_dvec3_zero());
            for (int step = 0; step < 300; step++) assert_ok(lm_world_step(world, FRAME));
            /* Five seconds later everything is 15, -10, 5 metres away: the tolerance is single precision's there. */
            body_state after = state_read(world, body, (lm_dvec3){15.0, -10.0, 5.0});
            double off = 0.0, speed = 0.0;
            for (uint32_t i = 0; i < before.count; i++) {
                off = fmax(off, ref_length(ref_sub(after.x[i], before.x[i])));
                speed = fmax(speed, ref_length(ref_sub(after.v[i], ref_v(3.0, -2.0, 1.0))));
            }
            if (off > 1e-4 || speed > 5e-5) print_error("%s, mode %d\n", sample_name((sample_kind)kind), mode);
            assert_at_most(off, 1e-4);
            assert_at_most(speed, 5e-5);
            state_free(&before);
            state_free(&after);
            lm_world_destroy(world);
            sample_free(&s);
        }
}

/* Two worlds: one around zero, one around a point ten kilometres away. */
static void far_away_is_like_here(void **context)
{
    (void)context;
    const lm_dvec3 places[2] = {{0.0, 0.0, 0.0}, {7168.0, -2048.0, 6656.0}};
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        random_state random = {42};
        sample s = sample_make(SAMPLE_GRID, &random);
        lm_world *worlds[2];
        lm_body_id bodies[2];
        for (int k = 0; k < 2; k++) {
            worlds[k] = make_world(-9.81);
            lm_collider_def floor = lm_collider_def_default();
            floor.pose.position = places[k];
            floor.pose.rotation = quaternion(ref_v(0.0, 0.0, 0.1));
            floor.restitution = 0.3f;
            lm_collider_id collider;
            assert_ok(lm_collider_create(worlds[k], &floor, &collider));
            s.def.material = material_of((lm_mode)mode, 6.0, 0.1, 0.7);
            s.def.pose.position = (lm_dvec3){places[k].x + 0.25, places[k].y + 1.5, places[k].z};
            s.def.pose.rotation = quaternion(ref_v(0.5, 0.2, 1.0));
            s.def.spin = (lm_vec3){1.0f, 2.0f, 3.0f};
            bodies[k] = make_body(worlds[k], &s.def);
        }
        double off = 0.0;
        for (int frame = 0; frame < 600; frame++) {
            for (int k = 0; k < 2; k++) assert_ok(lm_world_step(worlds[k], FRAME));
            if (frame % 20 != 19) continue;
            body_state here = state_read(worlds[0], bodies[0], body_centre(worlds[0], bodies[0]));
            lm_dvec3 centre = body_centre(worlds[0], bodies[0]);
            body_state there =
                state_read(worlds[1], bodies[1],
                           (lm_dvec3){centre.x + places[1].x, centre.y + places[1].y, centre.z + places[1].z});
            for (uint32_t i = 0; i < here.count; i++)
                off = fmax(off, ref_length(ref_sub(here.x[i], there.x[i])) / s.size);
            state_free(&here);
            state_free(&there);
        }
        print_message("mode %d: ten kilometres away the path differs by %.3g of the size\n", mode, off);
        assert_at_most(off, 1e-6);
        for (int k = 0; k < 2; k++) lm_world_destroy(worlds[k]);
        sample_free(&s);
    }
}

/* ---- frequency and decay ---- */

/* Stretches a cube of one rigid region along X and listens to it return. */
static ringing listen(double hertz, double damping_ratio, double h, uint32_t steps)
{
    random_state random = {1};
    sample s = sample_make(SAMPLE_BOX, &random);
    s.def.material = material_of(LM_MODE_RIGID, hertz, damping_ratio, 0.0);
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &s.def);
    lm_vec3 *x = calloc(s.count, sizeof *x);
    double scale = 0.0;
    for (uint32_t i = 0; i < s.count; i++) {
        x[i] = s.points[i];
        x[i].x *= 1.2f;
        scale += (double)s.points[i].x * (double)s.points[i].x;
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
    double *e = calloc(steps, sizeof *e);
    for (uint32_t n = 0; n < steps; n++) {
        assert_ok(lm_world_step(world, h));
        body_state state = state_read(world, body, lm_dvec3_zero());
        for (uint32_t i = 0; i < s.count; i++)
            e[n] += (double)s.points[i].x * (state.x[i].x - (double)s.points[i].x) / scale;
        state_free(&state);
    }

    ringing result = ringing_of(world, body, e, steps, h);
    free(e);
    free(x);
    lm_world_destroy(world);
    sample_free(&s);
    return result;
}

static void frequency_and_decay_do_not_depend_on_the_step(void **context)
{
    (void)context;
    static const double frequencies[] = {1.0, 3.0, 8.0}, ratios[] = {0.0, 0.04, 0.2};
    static const double rates[] = {30.0, 45.0, 60.0, 120.0, 240.0, 480.0};
    int kept = 0, limited = 0;
    for (int f = 0; f < 3; f++)
        for (int z = 0; z < 3; z++)
            for (int r = 0; r < 6; r++) {
                double hertz = frequencies[f], ratio = ratios[z], h = 1.0 / rates[r];
                /* Ten periods, or as many as it takes to fall to a twentieth. */
                double seconds = fmin(10.0 / hertz, ratio > 0.0 ? 3.0 / (ratio * TWO_PI * hertz) : 1e9);
                ringing heard = listen(hertz, ratio, h, (uint32_t)(seconds / h) + 4);
                lm_material material = material_of(LM_MODE_RIGID, hertz, ratio, 0.0);
                double alpha, k;
                ref_rates(&material, h, &alpha, &k);
                if (alpha >= 1.0) {
                    assert_true(heard.limited);
                    assert_at_most(heard.reached, hertz);
                    limited++;
                    continue;
                }
                assert_false(heard.limited);
                double expected = hertz * sqrt(1.0 - ratio * ratio);
                /* What the pull makes of the frequency: material.c. */
                double phase = TWO_PI * hertz * h, off = 0.01 + phase * phase / 22.0 + 0.55 * ratio * phase;
                if (fabs(heard.hertz / expected - 1.0) > off)
                    print_error("%g Hz, damping ratio %g, %g steps a second\n", hertz, ratio, rates[r]);
                assert_near(heard.hertz, expected, off * expected);
                assert_near(heard.reached, hertz, 1e-5 * hertz);
                assert_near(heard.decay, ratio * TWO_PI * hertz, 0.05 * ratio * TWO_PI * hertz + 0.01 * hertz);
                kept++;
            }
    assert_true(kept >= 35);
    assert_true(limited >= 4);
}

/* Asked for more than a step can give, the body rings as fast as the step allows and says how fast that is. */
static void beyond_the_step_is_reported(void **context)
{
    (void)context;
    ringing heard = listen(50.0, 0.0, 1.0 / 60.0, 200);
    assert_true(heard.limited);
    assert_near(heard.hertz, 10.0, 0.1);             /* alpha 1: a sixth of a turn a step */
    assert_near(heard.reached, 60.0 / TWO_PI, 1e-4); /* what bears as much at rest */
    assert_true(listen(1e6, 0.1, 1.0 / 60.0, 60).limited);
    assert_true(listen(60.0, 0.0, 1.0 / 60.0, 60).limited); /* one whole turn a step must not look like none */
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "long") == 0) energy_steps = 100000;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_and_spin_are_kept),
        cmocka_unit_test(energy_stays_bounded),
        cmocka_unit_test(energy_of_mangled_bodies_stays_bounded),
        cmocka_unit_test(rest_in_any_orientation_stays),
        cmocka_unit_test(translation_stays_translation),
        cmocka_unit_test(far_away_is_like_here),
        cmocka_unit_test(frequency_and_decay_do_not_depend_on_the_step),
        cmocka_unit_test(beyond_the_step_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
