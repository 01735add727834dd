/*
 * Examples in motion: the body goes where the mix says and comes back, and momentum and spin are as they would be without.
 */
#include "test/match/examples_bar.h"

/* Pulled out into a twist that is an example and let go. */
static void a_body_let_go_returns_to_rest(void **context)
{
    (void)context;
    static const deformer kinds[] = {TWIST, BEND};
    for (sampling kind = CLUSTERS; kind < SAMPLINGS; kind++)
        for (int mode = 0; mode < modes_of(kind); mode++)
            for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++) {
                specimen s = make_bar(kind, soft_material((lm_mode)mode, 0.3), LM_ISA_BEST);
                lm_vec3 x[MOST];
                give_examples(&s, kinds, 2, 0.6, (lm_example_scope)scope, 0.9, NULL);
                pose_of(&s, TWIST, 0.6, x);
                put(&s, x);
                run_for(&s, kind == TETS ? 40.0 : 30.0); /* smaller regions take longer to agree */
                double off = deformation(s.world, s.body) / s.size;
                if (!(off <= 1e-3))
                    print_error("%s, mode %d, scope %d: off by %g\n", sampling_names[kind], mode, scope, off);
                assert_at_most(off, 1e-3);
                free_bar(&s);
            }
}

/* With beta 1 nothing pulls it out of an example that its regions can follow exactly, so it stays. */
static void with_beta_1_it_stays_in_an_example(void **context)
{
    (void)context;
    for (sampling kind = CLUSTERS; kind < SAMPLINGS; kind++) {
        static const deformer kinds[] = {SHEAR};
        specimen s = make_bar(kind, soft_material(LM_MODE_RIGID, 1.0), LM_ISA_BEST);
        lm_vec3 x[MOST];
        ref_vec pose[MOST];
        give_examples(&s, kinds, 1, 0.6, LM_EXAMPLES_BODY, 1.0, NULL);
        pose_of(&s, SHEAR, 0.6, x);
        for (uint32_t i = 0; i < s.info.particles; i++) pose[i] = to_double(x[i]);
        put(&s, x);
        run_for(&s, 5.0);
        assert_at_most(deformation_from(s.world, s.body, pose) / s.size, 1e-3);
        assert_true(deformation(s.world, s.body) / s.size > 0.1);
        /* Another beta, and it leaves. */
        assert_ok(lm_body_set_example_beta(s.world, s.body, 0.5f));
        run_for(&s, 20.0);
        assert_at_most(deformation(s.world, s.body) / s.size, 1e-3);
        free_bar(&s);
    }
}

static void an_example_that_is_the_rest_pose_changes_nothing(void **context)
{
    (void)context;
    static const deformer same[] = {SAME, SAME};
    for (sampling kind = CLUSTERS; kind < SAMPLINGS; kind++)
        for (int mode = 0; mode < modes_of(kind); mode++)
            for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++)
                for (int plastic = 0; plastic < 2; plastic++) {
                    lm_material material = soft_material((lm_mode)mode, 0.1);
                    material.yield = plastic ? 0.02f : 0.0f;
                    specimen with = make_bar(kind, material, LM_ISA_BEST);
                    specimen without = make_bar(kind, material, LM_ISA_BEST);
                    lm_vec3 x[MOST];
                    give_examples(&with, same, 2, 0.0, (lm_example_scope)scope, 1.0, NULL);
                    pose_of(&with, BEND, 0.4, x);
                    put(&with, x);
                    put(&without, x);
                    double off = 0.0;
                    for (int step = 0; step < 100; step++) {
                        assert_ok(lm_world_step(with.world, FRAME));
                        assert_ok(lm_world_step(without.world, FRAME));
                        body_state a = state_read(with.world, with.body, lm_dvec3_zero());
                        body_state b = state_read(without.world, without.body, lm_dvec3_zero());
                        for (uint32_t i = 0; i < a.count; i++) off = fmax(off, ref_length(ref_sub(a.x[i], b.x[i])));
                        state_free(&a);
                        state_free(&b);
                    }
                    assert_at_most(off / with.size, 2e-5);
                    free_bar(&with);
                    free_bar(&without);
                }
}

/* A body that could flow but is never strained enough moves as one that cannot, though it is fitted in another way. */
static void what_could_flow_moves_as_what_cannot(void **context)
{
    (void)context;
    static const deformer kinds[] = {TWIST, SWELL, SHEAR};
    for (sampling kind = CLUSTERS; kind < SAMPLINGS; kind++)
        for (int mode = 0; mode < modes_of(kind); mode++) {
            specimen bars[2];
            for (int plastic = 0; plastic < 2; plastic++) {
                lm_material material = soft_material((lm_mode)mode, 0.1);
                material.yield = plastic ? 100.0f : 0.0f;
                specimen *s = &bars[plastic];
                *s = make_bar(kind, material, LM_ISA_BEST);
                lm_vec3 x[MOST];
                give_examples(s, kinds, 3, 0.5, LM_EXAMPLES_BODY, 0.95, NULL);
                pose_of(s, SHEAR, 0.4, x);
                put(s, x);
                run_for(s, 0.5);
            }
            body_state a = state_read(bars[0].world, bars[0].body, lm_dvec3_zero());
            body_state b = state_read(bars[1].world, bars[1].body, lm_dvec3_zero());
            for (uint32_t i = 0; i < a.count; i++)
                assert_at_most(ref_length(ref_sub(a.x[i], b.x[i])) / bars[0].size, 1e-4);
            state_free(&a);
            state_free(&b);
            free_bar(&bars[0]);
            free_bar(&bars[1]);
        }
}

/* The particles go where a forced mix says, and back when it is given back. */
static void forced_weights_lead_to_the_pose(void **context)
{
    (void)context;
    static const deformer kinds[] = {SHEAR, SWELL};
    for (sampling kind = CLUSTERS; kind < SAMPLINGS; kind++)
        for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++) {
            specimen s = make_bar(kind, soft_material(LM_MODE_RIGID, 1.0), LM_ISA_BEST);
            give_examples(&s, kinds, 2, 0.5, (lm_example_scope)scope, 0.9, NULL);
            float weights[4096], read[4096];
            for (uint32_t k = 0; k < 2; k++) {
                ref_vec pose[MOST];
                for (uint32_t g = 0; g < s.info.example_groups; g++) {
                    weights[2 * g + k] = 1.0f;
                    weights[2 * g + 1 - k] = 0.0f;
                }
                assert_ok(lm_body_set_example_weights(s.world, s.body, weights));
                run_for(&s, 20.0);
                read_weights(&s, read);
                assert_memory_equal(read, weights, s.info.example_groups * 2 * sizeof *read);
                for (uint32_t i = 0; i < s.info.particles; i++) pose[i] = deform(kinds[k], 0.5, s.rest[i]);
                /* Regions that nobody asked resist. */
                double off = deformation_from(s.world, s.body, pose) / s.size;
                if (!(off <= (scope == LM_EXAMPLES_GROUPS ? 0.15 : 1e-3)))
                    print_error("%s, scope %d, pose %u: off by %g\n", sampling_names[kind], scope, k, off);
                assert_at_most(off, scope == LM_EXAMPLES_GROUPS ? 0.15 : 1e-3);
                assert_true(deformation(s.world, s.body) / s.size > 0.03);
            }
            assert_ok(lm_body_set_example_weights(s.world, s.body, NULL));
            run_for(&s, 30.0);
            assert_at_most(deformation(s.world, s.body) / s.size, 2e-3);
            free_bar(&s);
        }
}

static void momentum_and_spin_are_kept(void **context)
{
    (void)context;
    static const deformer kinds[] = {TWIST, BEND, SWELL};
    double worst = 0.0;
    for (sampling kind = CLUSTERS; kind < SAMPLINGS; kind++)
        for (int mode = 0; mode < modes_of(kind); mode++)
            for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++)
                for (int damped = 0; damped < 2; damped++) {
                    random_state random = {(uint64_t)(mode * 10 + scope)};
                    lm_material material = soft_material((lm_mode)mode, damped ? 0.3 : 0.0);
                    specimen s = make_bar(kind, material, LM_ISA_BEST);
                    give_examples(&s, kinds, 3, 0.5, (lm_example_scope)scope, 0.95, NULL);
                    randomise_state(s.world, s.body, &random, 0.02, 1.0);
                    motion start = motion_read(s.world, s.body, lm_dvec3_zero());
                    for (int step = 0; step < 600; step++) assert_ok(lm_world_step(s.world, FRAME));
                    lm_body_info info;
                    assert_ok(lm_body_get_info(s.world, s.body, &info));
                    motion end = motion_read(s.world, s.body, info.centre);
                    assert_true(end.finite);
                    double linear = ref_length(ref_sub(end.momentum, start.momentum)) / start.momentum_scale;
                    double angular = ref_length(ref_sub(end.angular, start.angular)) / start.angular_scale;
                    worst = fmax(worst, fmax(linear, angular));
                    if (!(worst <= 1e-4))
                        print_error("%s, mode %d, scope %d: momentum off by %g, spin by %g\n", sampling_names[kind],
                                    mode, scope, linear, angular);
                    assert_at_most(linear, 1e-4);
                    assert_at_most(angular, 1e-4);
                    free_bar(&s);
                }
    print_message("momentum and spin change by at most %.3g\n", worst);
}

/* The angle by which one end is turned against the other about x. */
static double twist_of(const specimen *s)
{
    body_state state = state_read(s->world, s->body, lm_dvec3_zero());
    double across[2] = {0}, along[2] = {0};
    for (uint32_t i = 0; i < state.count; i++) {
        int end = s->rest[i].x > 0.0;
        if (fabs(s->rest[i].x) < 0.59) continue;
        across[end] += s->rest[i].y * state.x[i].z - s->rest[i].z * state.x[i].y;
        along[end] += s->rest[i].y * state.x[i].y + s->rest[i].z * state.x[i].z;
    }
    state_free(&state);
    return atan2(across[1], along[1]) - atan2(across[0], along[0]);
}

/* How far the ends are above the middle. */
static double sag_of(const specimen *s)
{
    body_state state = state_read(s->world, s->body, lm_dvec3_zero());
    double ends = 0.0, middle = 0.0;
    for (uint32_t i = 0; i < state.count; i++) {
        if (fabs(s->rest[i].x) > 0.59) ends += state.x[i].y / 32.0;
        if (fabs(s->rest[i].x) < 0.01) middle += state.x[i].y / 16.0;
    }
    state_free(&state);
    return ends - middle;
}

/* The same couple on the ends twists a bar more whose example is a twist, and the same load bends one more whose example is a
 * bend. */
static void examples_decide_how_a_body_deforms(void **context)
{
    (void)context;
    double twist[2], sag[2];
    for (int kind = 0; kind < 2; kind++)
        for (int load = 0; load < 2; load++) {
            const deformer kinds[] = {kind ? BEND : TWIST};
            specimen s = make_bar(LATTICE, soft_material(LM_MODE_RIGID, 0.5), LM_ISA_BEST);
            give_examples(&s, kinds, 1, 0.8, LM_EXAMPLES_BODY, 0.99, NULL);
            for (int step = 0; step < 600; step++) {
                for (uint32_t i = 0; i < s.info.particles; i++) {
                    ref_vec p = s.rest[i], force = {0};
                    bool end = fabs(p.x) > 0.59, middle = fabs(p.x) < 0.01;
                    if (load == 0 && end) force = ref_scale(p.x > 0.0 ? 0.5 : -0.5, ref_v(0.0, -p.z, p.y));
                    if (load == 1) force.y = end ? 0.01 : middle ? -0.02 : 0.0;
                    if (end || middle) assert_ok(lm_body_add_particle_force(s.world, s.body, i, to_float(force)));
                }
                assert_ok(lm_world_step(s.world, FRAME));
            }
            if (load == 0) twist[kind] = twist_of(&s);
            if (load == 1) sag[kind] = sag_of(&s);
            free_bar(&s);
        }
    print_message("twisted by %.3g and %.3g, bent by %.3g and %.3g\n", twist[0], twist[1], sag[0], sag[1]);
    assert_true(twist[0] > 1.2 * twist[1] && twist[1] > 0.0);
    assert_true(sag[1] > 1.2 * sag[0] && sag[0] > 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_let_go_returns_to_rest),
        cmocka_unit_test(with_beta_1_it_stays_in_an_example),
        cmocka_unit_test(an_example_that_is_the_rest_pose_changes_nothing),
        cmocka_unit_test(what_could_flow_moves_as_what_cannot),
        cmocka_unit_test(forced_weights_lead_to_the_pose),
        cmocka_unit_test(momentum_and_spin_are_kept),
        cmocka_unit_test(examples_decide_how_a_body_deforms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
