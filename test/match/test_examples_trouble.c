/*
 * Examples in trouble: mangled bodies, wrong definitions, snapshots, and poses of surfaces that are carried to particles.
 */
#include "test/match/examples_bar.h"

static ref_vec mangle(int kind, ref_vec p, random_state *random)
{
    ref_vec any = random_in_cube(random, 0.6);
    return kind == 0   ? any
           : kind == 1 ? ref_v(p.x, 0.0, p.z)
           : kind == 2 ? ref_v(p.x, 0.0, 0.0)
           : kind == 3 ? ref_v(0.0, 0.0, 0.0)
           : kind == 4 ? ref_v(-p.x, p.y, p.z)
           : kind == 5 ? ref_scale(1e6, p)
                       : ref_scale(1e-6, p);
}

/* How far a mangled bar is from its rest shape after 1500 steps; `set` of examples, or null. */
static double after_mangling(int trial, const deformer *set)
{
    sampling kind = (sampling)(trial % SAMPLINGS);
    int mangled = trial / 6 % 7, scope = trial / 3 % 3, mode = trial / 3 % modes_of(kind);
    random_state random = {(uint64_t)(900 + trial)};
    lm_material material = soft_material((lm_mode)mode, 1.0);
    material.stiffness = LM_STIFFNESS_ALPHA;
    material.alpha = 1.0f;
    material.damping = 20.0f;
    specimen s = make_bar(kind, material, LM_ISA_BEST);
    if (set) give_examples(&s, set, 4, 0.7, (lm_example_scope)scope, trial % 4 == 0 ? 1.0 : 0.5, NULL);
    lm_vec3 x[MOST];
    for (uint32_t i = 0; i < s.info.particles; i++) x[i] = to_float(mangle(mangled, s.rest[i], &random));
    put(&s, x);
    for (int step = 0; step < 1500; step++) assert_ok(lm_world_step(s.world, FRAME));
    lm_totals totals;
    lm_world_get_totals(s.world, &totals);
    assert_true(totals.finite);
    float weights[4096];
    if (set) assert_ok(lm_body_get_example_weights(s.world, s.body, weights));
    for (uint32_t g = 0; set && g < s.info.example_groups; g++) {
        double sum = 0.0;
        for (uint32_t k = 0; k < 4; k++) {
            assert_true(weights[4 * g + k] >= 0.0f);
            sum += (double)weights[4 * g + k];
        }
        assert_at_most(sum, 1.0 + 1e-6);
    }
    double off = deformation(s.world, s.body) / s.size;
    free_bar(&s);
    return off;
}

/* Squashed to a plane or a line, or blown up, a bar comes back with examples wherever it does without. From a random cloud, a
 * point or a mirror image it may stay knotted; and with a beta of 1 the examples are as good as the rest pose. */
static void mangled_bodies_stay_finite_and_come_back(void **context)
{
    (void)context;
    static const deformer sets[3][4] = {
        {TWIST, BEND, SWELL, SHEAR}, {MIRROR, CRUSH, SAME, TWIST}, {CRUSH, CRUSH, SAME, MIRROR}};
    uint32_t returned = 0;
    for (int trial = 0; trial < 84; trial++) {
        int mangled = trial / 6 % 7;
        double off = after_mangling(trial, sets[trial / 2 % 3]);
        if (trial % 4 == 0 || !(mangled == 1 || mangled == 2 || mangled == 5)) continue;
        if (!(after_mangling(trial, NULL) <= 0.01)) continue;
        if (!(off <= 0.01)) print_error("trial %d: off by %g\n", trial, off);
        assert_at_most(off, 0.01);
        returned++;
    }
    assert_true(returned >= 20);
}

static void wrong_definitions_are_refused(void **context)
{
    (void)context;
    specimen s = make_bar(CLUSTERS, soft_material(LM_MODE_RIGID, 0.1), LM_ISA_BEST);
    static lm_vec3 poses[9 * MOST];
    uint32_t groups[64] = {0};
    lm_examples_def good = lm_examples_def_default();
    pose_of(&s, TWIST, 0.5, poses);
    good.poses = poses;
    good.count = 1;
    good.particles = s.info.particles;
    float beta, weights[2] = {0.5f, 0.2f};
    assert_result(lm_body_set_example_beta(s.world, s.body, 0.5f), LM_ERROR_ARGUMENT);
    assert_result(lm_body_get_example_beta(s.world, s.body, &beta), LM_ERROR_ARGUMENT);
    assert_result(lm_body_get_example_weights(s.world, s.body, weights), LM_ERROR_ARGUMENT);
    assert_result(lm_body_set_example_weights(s.world, s.body, weights), LM_ERROR_ARGUMENT);
    assert_ok(lm_body_set_examples(s.world, s.body, NULL));
    uint64_t before = lm_world_hash(s.world);
    for (int fault = 0; fault < 15; fault++) {
        lm_examples_def def = good;
        if (fault == 0) def.cookie = 0;
        if (fault == 1) def.count = 0;
        if (fault == 2) def.count = LM_MAX_EXAMPLES + 1;
        if (fault == 3) def.poses = NULL;
        if (fault == 4) def.particles--;
        if (fault == 5) def.particles++;
        if (fault == 6) def.scope = LM_EXAMPLES_SCOPE_COUNT;
        if (fault == 7) def.beta = -0.1f;
        if (fault == 8) def.beta = 1.1f;
        if (fault == 9) def.beta = NAN;
        if (fault >= 10 && fault < 13) def.scope = LM_EXAMPLES_GROUPS;
        def.groups = fault == 10 ? NULL : groups;
        def.group_count = fault == 11 ? 0 : 2;
        groups[3] = fault == 12 ? 2 : 1;
        poses[7].y = fault == 13 ? NAN : 0.1f;
        poses[9].z = fault == 14 ? 2e9f : 0.1f;
        assert_result(lm_body_set_examples(s.world, s.body, &def), LM_ERROR_ARGUMENT);
    }
    groups[3] = 1;
    poses[7].y = poses[9].z = 0.1f;
    lm_body_info info;
    assert_ok(lm_body_get_info(s.world, s.body, &info));
    assert_int_equal(info.examples, 0);
    assert_int_equal(lm_world_hash(s.world), before);
    assert_ok(lm_body_set_examples(s.world, s.body, &good));
    assert_ok(lm_body_get_example_beta(s.world, s.body, &beta));
    assert_near(beta, 0.95, 1e-6);
    weights[0] = 1.5f;
    assert_result(lm_body_set_example_weights(s.world, s.body, weights), LM_ERROR_ARGUMENT);
    weights[0] = NAN;
    assert_result(lm_body_set_example_weights(s.world, s.body, weights), LM_ERROR_ARGUMENT);
    assert_result(lm_body_set_example_beta(s.world, s.body, NAN), LM_ERROR_ARGUMENT);
    memcpy(poses + s.info.particles, poses, s.info.particles * sizeof *poses);
    good.count = 2;
    assert_ok(lm_body_set_examples(s.world, s.body, &good));
    weights[0] = weights[1] = 0.6f;
    assert_result(lm_body_set_example_weights(s.world, s.body, weights), LM_ERROR_ARGUMENT);
    lm_body_id none = {0, 0};
    assert_result(lm_body_set_examples(s.world, none, &good), LM_ERROR_ID);
    assert_result(lm_body_set_example_beta(s.world, none, 0.5f), LM_ERROR_ID);
    assert_result(lm_body_get_example_weights(s.world, none, weights), LM_ERROR_ID);
    /* And away with them. */
    assert_ok(lm_body_set_examples(s.world, s.body, NULL));
    assert_ok(lm_world_step(s.world, FRAME));
    free_bar(&s);
}

/* A loaded world goes on as the saved one did, with a mix forced or free. */
static void snapshots_keep_examples(void **context)
{
    (void)context;
    static const deformer kinds[] = {TWIST, SWELL};
    for (sampling kind = CLUSTERS; kind < SAMPLINGS; kind++)
        for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++)
            for (int forced = 0; forced < 2; forced++) {
                random_state random = {7};
                specimen s = make_bar(kind, soft_material(LM_MODE_LINEAR, 0.1), LM_ISA_BEST);
                give_examples(&s, kinds, 2, 0.5, (lm_example_scope)scope, 0.8, NULL);
                uint32_t held = 0;
                lm_pin_def pin = lm_pin_def_default();
                lm_pin_id id;
                pin.body = s.body;
                pin.particles = &held;
                pin.particle_count = 1;
                assert_ok(lm_pin_create(s.world, &pin, &id));
                float weights[4096];
                for (uint32_t n = 0; n < s.info.example_groups * 2; n++) weights[n] = 0.1f + 0.4f * (float)(n % 2);
                if (forced) assert_ok(lm_body_set_example_weights(s.world, s.body, weights));
                randomise_state(s.world, s.body, &random, 0.02, 1.0);
                run_for(&s, 0.3);
                size_t size = lm_world_save_size(s.world);
                void *buffer = malloc(size);
                assert_ok(lm_world_save(s.world, buffer, size));
                lm_world *other = make_world(0.0);
                assert_ok(lm_world_load(other, buffer, size));
                lm_body_info info;
                float beta;
                assert_ok(lm_body_get_info(other, s.body, &info));
                assert_int_equal(info.examples, 2);
                assert_int_equal(info.example_groups, s.info.example_groups);
                assert_ok(lm_body_get_example_beta(other, s.body, &beta));
                assert_true(beta == 0.8f);
                { /* where regions have their own, solving goes on from them */
                    float now[4096], then[4096];
                    assert_ok(lm_body_get_example_weights(s.world, s.body, now));
                    assert_ok(lm_body_get_example_weights(other, s.body, then));
                    assert_memory_equal(now, then, s.info.example_groups * 2 * sizeof *now);
                }
                for (int step = 0; step < 30; step++) {
                    assert_ok(lm_world_step(s.world, FRAME));
                    assert_ok(lm_world_step(other, FRAME));
                    assert_int_equal(lm_world_hash(s.world), lm_world_hash(other));
                }
                /* Half of it is none. */
                assert_result(lm_world_load(other, buffer, size / 2), LM_ERROR_FORMAT);
                free(buffer);
                lm_world_destroy(other);
                free_bar(&s);
            }
}

/* ---- poses of surfaces ---- */

static void surface_poses_are_carried_to_particles(void **context)
{
    (void)context;
    specimen s = make_bar(LATTICE, soft_material(LM_MODE_RIGID, 0.1), LM_ISA_BEST);
    lm_vec3 surface[2000], pose[2000], out[MOST];
    uint32_t count = 0;
    for (int i = 0; i <= 48; i++)
        for (int k = 0; k < 40; k++) { /* around the bar */
            double t = k % 10 / 10.0 * 0.3 - 0.15, u = k / 10 % 2 ? 0.15 : -0.15;
            surface[count++] = to_float(ref_v(-0.6 + 0.025 * i, k < 20 ? t : u, k < 20 ? u : t));
        }
    random_state random = {3};
    ref_mat map = random_rotation(&random);
    for (int i = 0; i < 9; i++) map.at[i / 3][i % 3] += random_range(&random, -0.2, 0.2);
    for (uint32_t n = 0; n < count; n++) pose[n] = to_float(ref_mat_vec(map, to_double(surface[n])));
    assert_ok(lm_body_carry_pose(s.world, s.body, surface, pose, count, out));
    for (uint32_t i = 0; i < s.info.particles; i++)
        assert_at_most(ref_length(ref_sub(to_double(out[i]), ref_mat_vec(map, s.rest[i]))) / s.size, 1e-5);
    for (uint32_t n = 0; n < count; n++) pose[n] = to_float(deform(TWIST, 0.8, to_double(surface[n])));
    assert_ok(lm_body_carry_pose(s.world, s.body, surface, pose, count, out));
    for (uint32_t i = 0; i < s.info.particles; i++)
        assert_at_most(ref_length(ref_sub(to_double(out[i]), deform(TWIST, 0.8, s.rest[i]))) / s.size, 0.01);
    /* A sheet: across it nothing is known, and it turns with the rest. */
    uint32_t flat = 0;
    for (uint32_t n = 0; n < 400; n++)
        surface[flat++] = (lm_vec3){-0.6f + 0.06f * (float)(n % 20), 0.1f * (float)(n / 20) - 0.9f, 0.0f};
    ref_mat turn = random_rotation(&random);
    for (uint32_t n = 0; n < flat; n++) pose[n] = to_float(ref_mat_vec(turn, to_double(surface[n])));
    assert_ok(lm_body_carry_pose(s.world, s.body, surface, pose, flat, out));
    for (uint32_t i = 0; i < s.info.particles; i++)
        assert_at_most(ref_length(ref_sub(to_double(out[i]), ref_mat_vec(turn, s.rest[i]))) / s.size, 1e-4);
    /* One vertex can only be followed. */
    pose[0] = (lm_vec3){surface[0].x + 1.0f, surface[0].y, surface[0].z};
    assert_ok(lm_body_carry_pose(s.world, s.body, surface, pose, 1, out));
    for (uint32_t i = 0; i < s.info.particles; i++) assert_near(out[i].x, s.rest[i].x + 1.0, 1e-5);
    assert_result(lm_body_carry_pose(s.world, s.body, NULL, pose, count, out), LM_ERROR_ARGUMENT);
    assert_result(lm_body_carry_pose(s.world, s.body, surface, pose, 0, out), LM_ERROR_ARGUMENT);
    pose[5].x = NAN;
    assert_result(lm_body_carry_pose(s.world, s.body, surface, pose, count, out), LM_ERROR_ARGUMENT);
    free_bar(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mangled_bodies_stay_finite_and_come_back),
        cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(snapshots_keep_examples),
        cmocka_unit_test(surface_poses_are_carried_to_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
