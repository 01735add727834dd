/*
 * What acts on bodies from outside other than colliders: forces, impulses, fields, movers, pins and drags, against closed
 * forms.
 */
#include "test/support/support.h"
#include "world/world.h"

#include <stdlib.h>

/* A body of one free particle. */
static lm_body_id make_free_particle(lm_world *world, ref_vec at, ref_vec velocity, double mass)
{
    lm_vec3 point = {0, 0, 0};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = &point;
    def.point_count = 1;
    def.mass = (float)mass;
    def.pose.position = to_dvec3(at);
    def.velocity = to_float(velocity);
    return make_body(world, &def);
}

static lm_body_id make_sample_body(lm_world *world, sample_kind kind, double hertz)
{
    random_state random = {3};
    sample s = sample_make(kind, &random);
    s.def.material.hertz = (float)hertz;
    s.def.mass = 2.0f;
    lm_body_id body = make_body(world, &s.def);
    sample_free(&s);
    return body;
}

static ref_vec position_of(const lm_world *world, lm_body_id body, uint32_t particle)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    ref_vec at = state.x[particle];
    state_free(&state);
    return at;
}

static ref_vec velocity_of(const lm_world *world, lm_body_id body, uint32_t particle)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    ref_vec v = state.v[particle];
    state_free(&state);
    return v;
}

/* ---- forces and impulses ---- */

static void forces_act_for_one_step(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    assert_ok(lm_world_set_substeps(world, 3));
    lm_body_id body = make_sample_body(world, SAMPLE_BLOB, 8.0); /* masses that differ */
    assert_ok(lm_body_add_force(world, body, (lm_vec3){12, 0, -6}));
    assert_ok(lm_body_add_force(world, body, (lm_vec3){0, 3, 0}));
    assert_ok(lm_body_add_particle_force(world, body, 5, (lm_vec3){0, 0, 9}));
    for (int k = 0; k < 3; k++) {
        steps(world, 1);
        motion m = motion_read(world, body, lm_dvec3_zero());
        assert_near(ref_length(ref_sub(m.momentum, ref_v(12 * FRAME, 3 * FRAME, 3 * FRAME))), 0.0, 1e-6);
    }
    lm_world_destroy(world);
}

static void forces_on_the_body_do_not_deform_it(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_sample_body(world, SAMPLE_BLOB, 2.0);
    assert_ok(lm_body_add_force(world, body, (lm_vec3){500, 0, 0}));
    steps(world, 1);
    body_state state = state_read(world, body, lm_dvec3_zero());
    for (uint32_t i = 1; i < state.count; i++) assert_near(ref_length(ref_sub(state.v[i], state.v[0])), 0.0, 1e-5);
    assert_true(state.v[0].x > 0.1);
    state_free(&state);
    lm_world_destroy(world);
}

/* An impulse at a point gives momentum J and angular momentum r x J, at once, as a rigid motion. */
static void impulses_act_at_once_and_rigidly(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_sample_body(world, SAMPLE_BLOB, 8.0);
    motion before = motion_read(world, body, lm_dvec3_zero());
    ref_vec impulse = ref_v(1.0, -2.0, 0.5), point = ref_v(0.3, 0.1, -0.2);
    assert_ok(lm_body_add_impulse(world, body, to_float(impulse), to_dvec3(point)));
    body_state state = state_read(world, body, lm_dvec3_zero());
    motion after = motion_of(&state);
    ref_vec turning = ref_cross(ref_sub(point, before.centre), impulse);
    assert_near(ref_length(ref_sub(after.momentum, impulse)), 0.0, 1e-4);
    assert_near(ref_length(ref_sub(after.angular, turning)), 0.0, 1e-4);
    /* Rigid: no two particles approach each other. */
    for (uint32_t i = 1; i < state.count; i++)
        assert_near(ref_dot(ref_sub(state.x[i], state.x[0]), ref_sub(state.v[i], state.v[0])), 0.0, 1e-5);
    state_free(&state);

    assert_ok(lm_body_add_particle_impulse(world, body, 7, (lm_vec3){0, 0.25f, 0}));
    motion last = motion_read(world, body, lm_dvec3_zero());
    assert_near(ref_length(ref_sub(ref_sub(last.momentum, after.momentum), ref_v(0, 0.25, 0))), 0.0, 1e-5);
    lm_world_destroy(world);
}

/* ---- fields ---- */

static void uniform_field_gives_a_parabola(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_field_def def = lm_field_def_default();
    lm_field_id field;
    def.kind = LM_FIELD_UNIFORM;
    def.vector = (lm_vec3){2, 0, -1};
    assert_ok(lm_field_create(world, &def, &field));
    lm_body_id particle = make_free_particle(world, ref_v(1, 2, 3), ref_v(0, 1, 0), 1.0);
    steps(world, 30);
    double sum = FRAME * FRAME * 30 * 31 / 2;
    ref_vec expected = ref_v(1 + 2 * sum, 2 + 30 * FRAME, 3 - sum);
    assert_near(ref_length(ref_sub(position_of(world, particle, 0), expected)), 0.0, 1e-5);

    def.vector = (lm_vec3){0, 0, 0};
    assert_ok(lm_field_set(world, field, &def));
    ref_vec v = velocity_of(world, particle, 0);
    steps(world, 5);
    assert_near(ref_length(ref_sub(velocity_of(world, particle, 0), v)), 0.0, 1e-6);
    lm_world_destroy(world);
}

/* v = wind (1 - exp(-strength t)), whatever the step. */
static void wind_carries_along_exponentially(void **context)
{
    (void)context;
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 4) {
        lm_world *world = make_world(0.0);
        assert_ok(lm_world_set_substeps(world, substeps));
        lm_field_def def = lm_field_def_default();
        lm_field_id field;
        def.kind = LM_FIELD_WIND;
        def.vector = (lm_vec3){3, 0, 4};
        def.strength = 2.5f;
        assert_ok(lm_field_create(world, &def, &field));
        lm_body_id particle = make_free_particle(world, ref_v(0, 0, 0), ref_v(0, 0, 0), 0.2);
        steps(world, 30);
        double share = 1.0 - exp(-2.5 * 0.5);
        ref_vec expected = ref_v(3 * share, 0, 4 * share);
        assert_near(ref_length(ref_sub(velocity_of(world, particle, 0), expected)), 0.0, 1e-4);
        assert_ok(lm_field_destroy(world, field));
        ref_vec v = velocity_of(world, particle, 0);
        steps(world, 5);
        assert_near(ref_length(ref_sub(velocity_of(world, particle, 0), v)), 0.0, 1e-6);
        lm_world_destroy(world);
    }
}

static void point_field_falls_off_linearly(void **context)
{
    (void)context;
    for (int k = 0; k < 5; k++) {
        double distance = 0.5 * (k + 1), radius = 2.0, strength = k % 2 ? -6.0 : 6.0;
        lm_world *world = make_world(0.0);
        lm_field_def def = lm_field_def_default();
        lm_field_id field;
        def.kind = LM_FIELD_POINT;
        def.position = (lm_dvec3){1, 1, 1};
        def.radius = (float)radius;
        def.strength = (float)strength;
        assert_ok(lm_field_create(world, &def, &field));
        ref_vec direction = ref_normalise(ref_v(1, -2, 0.5));
        lm_body_id particle =
            make_free_particle(world, ref_add_scaled(ref_v(1, 1, 1), distance, direction), ref_v(0, 0, 0), 3.0);
        steps(world, 1);
        double pull = distance < radius ? strength * (1.0 - distance / radius) : 0.0;
        ref_vec expected = ref_scale(-pull * FRAME, direction);
        assert_near(ref_length(ref_sub(velocity_of(world, particle, 0), expected)), 0.0, 1e-6);
        lm_world_destroy(world);
    }
}

/* A particle in the middle of a point field has no direction to go. */
static void point_field_centre_is_harmless(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_field_def def = lm_field_def_default();
    lm_field_id field;
    def.kind = LM_FIELD_POINT;
    assert_ok(lm_field_create(world, &def, &field));
    lm_body_id particle = make_free_particle(world, ref_v(0, 0, 0), ref_v(0, 0, 0), 1.0);
    steps(world, 10);
    assert_near(ref_length(position_of(world, particle, 0)), 0.0, 1e-6);
    lm_world_destroy(world);
}

/* ---- movers and pins ---- */

static void movers_move_as_told(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_mover_def def = lm_mover_def_default();
    lm_mover_id mover;
    lm_pose pose;
    def.pose.position = (lm_dvec3){1, 0, 0};
    def.velocity = (lm_vec3){0, 2, 0};
    def.spin = (lm_vec3){0, 0, 1};
    assert_ok(lm_mover_create(world, &def, &mover));
    steps(world, 60);
    assert_ok(lm_mover_get_pose(world, mover, &pose));
    assert_near(pose.position.x, 1.0, 1e-6);
    assert_near(pose.position.y, 2.0, 1e-6);
    assert_near(fabs((double)pose.rotation.z), sin(0.5), 1e-5);
    assert_near(fabs((double)pose.rotation.w), cos(0.5), 1e-5);

    lm_pose target = {{-1, 5, 2}, quaternion(ref_v(0.4, 0.5, 0.6))};
    assert_ok(lm_mover_move_to(world, mover, target));
    for (int k = 0; k < 3; k++) { /* arrives with the next step, and stays */
        steps(world, 1);
        assert_ok(lm_mover_get_pose(world, mover, &pose));
        assert_near(ref_length(ref_v(pose.position.x + 1, pose.position.y - 5, pose.position.z - 2)), 0.0, 1e-9);
        double same = (double)(pose.rotation.x * target.rotation.x + pose.rotation.y * target.rotation.y +
                               pose.rotation.z * target.rotation.z + pose.rotation.w * target.rotation.w);
        assert_near(fabs(same), 1.0, 1e-6);
    }
    lm_world_destroy(world);
}

static void pins_hold_the_body(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        lm_world *world = make_world(-9.81);
        lm_body_id body = make_sample_body(world, SAMPLE_BOX, 8.0);
        lm_material material = lm_material_default();
        material.mode = (lm_mode)mode;
        material.damping_ratio = 0.3f;
        assert_ok(lm_body_set_material(world, body, &material));
        uint32_t corner = 0;
        lm_pin_def def = lm_pin_def_default();
        lm_pin_id pin;
        def.body = body;
        def.particles = &corner;
        def.particle_count = 1;
        lm_dvec3 target = {0.5, 3.0, -0.5};
        def.targets = &target;
        assert_ok(lm_pin_create(world, &def, &pin));
        for (int frame = 0; frame < 600; frame++) {
            steps(world, 1);
            assert_near(ref_length(ref_sub(position_of(world, body, 0), ref_v(0.5, 3.0, -0.5))), 0.0, 1e-6);
            assert_near(ref_length(velocity_of(world, body, 0)), 0.0, 1e-6);
        }
        /* It hangs below the pin, about as long as it is at rest, though it was ten times as far away at first. */
        motion m = motion_read(world, body, lm_dvec3_zero());
        ref_vec arm = ref_sub(m.centre, ref_v(0.5, 3.0, -0.5));
        double rest = ref_length(ref_v(0.15, 0.1, 0.1));
        assert_true(arm.y < 0.0);
        assert_near(ref_length(arm), rest, 0.25 * rest);

        /* Let go, it falls. */
        assert_ok(lm_pin_destroy(world, pin));
        steps(world, 60);
        assert_true(motion_read(world, body, lm_dvec3_zero()).centre.y < m.centre.y - 3.0);
        lm_world_destroy(world);
    }
}

/* How far the first region of a body has turned from its rest pose. */
static ref_mat turn_of_region(const lm_world *world, lm_body_id body)
{
    const lmi_body *inside = lmi_body_at(world, body.slot - 1);
    uint32_t stride;
    const float *r = lmi_body_rotation(world, inside, 0, &stride);
    ref_mat rotation, axes;
    for (int i = 0; i < 9; i++) {
        rotation.at[i / 3][i % 3] = (double)r[(uint32_t)i * stride];
        axes.at[i / 3][i % 3] = inside->regions[0].axes.m[i / 3][i % 3];
    }
    return ref_mat_mul(rotation, ref_transpose(axes));
}

/* A pin gives its particles more weight, so the region's rest axes turn; how far the region has turned does not. */
static void pins_do_not_turn_regions(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    random_state random = {7};
    sample s = sample_make(SAMPLE_BLOB, &random);
    s.def.spin = (lm_vec3){3, 2, 1};
    lm_body_id body = make_body(world, &s.def);
    sample_free(&s);
    steps(world, 20);
    ref_mat before = turn_of_region(world, body);
    uint32_t held[2] = {0, 1};
    lm_pin_def def = lm_pin_def_default();
    lm_pin_id pin;
    def.body = body;
    def.particles = held;
    def.particle_count = 2;
    assert_ok(lm_pin_create(world, &def, &pin));
    ref_mat after = turn_of_region(world, body);
    for (int i = 0; i < 9; i++) assert_near(after.at[i / 3][i % 3], before.at[i / 3][i % 3], 1e-5);
    lm_world_destroy(world);
}

static void pins_ride_on_movers(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_body_id body = make_sample_body(world, SAMPLE_BOX, 8.0);
    lm_mover_def mover_def = lm_mover_def_default();
    lm_mover_id mover;
    mover_def.pose.position = (lm_dvec3){0, 1, 0};
    mover_def.pose.rotation = quaternion(ref_v(0.2, 0, 0));
    mover_def.velocity = (lm_vec3){0.5f, 0, 0};
    mover_def.spin = (lm_vec3){0, 2, 0};
    assert_ok(lm_mover_create(world, &mover_def, &mover));
    uint32_t held[2] = {0, 35};
    ref_vec start[2] = {position_of(world, body, 0), position_of(world, body, 35)};
    lm_pin_def def = lm_pin_def_default();
    lm_pin_id pin;
    def.body = body;
    def.particles = held;
    def.particle_count = 2;
    def.mover = mover;
    assert_ok(lm_pin_create(world, &def, &pin));
    for (int frame = 1; frame <= 90; frame++) {
        steps(world, 1);
        ref_mat turn = ref_rotation(ref_v(0, 2.0 * frame * FRAME, 0));
        ref_vec at = ref_v(0.5 * frame * FRAME, 1, 0);
        for (int k = 0; k < 2; k++) {
            ref_vec arm = ref_mat_vec(turn, ref_sub(start[k], ref_v(0, 1, 0)));
            assert_near(ref_length(ref_sub(position_of(world, body, held[k]), ref_add(at, arm))), 0.0, 1e-5);
            ref_vec v = ref_add(ref_v(0.5, 0, 0), ref_cross(ref_v(0, 2, 0), arm));
            assert_near(ref_length(ref_sub(velocity_of(world, body, held[k]), v)), 0.0, 0.05);
        }
    }
    /* Without the mover the targets stay where they are. */
    ref_vec last = position_of(world, body, 0);
    assert_ok(lm_mover_destroy(world, mover));
    steps(world, 10);
    assert_near(ref_length(ref_sub(position_of(world, body, 0), last)), 0.0, 1e-6);
    assert_near(ref_length(velocity_of(world, body, 0)), 0.0, 1e-6);
    lm_world_destroy(world);
}

/* ---- drags ---- */

/* With no stiffness in the body, only what the drag holds moves. */
static void drags_pull_only_their_neighbourhood(void **context)
{
    (void)context;
    for (int wide = 0; wide < 2; wide++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = make_sample_body(world, SAMPLE_BOX, 0.0);
        lm_material material = lm_material_default();
        material.stiffness = LM_STIFFNESS_HERTZ; /* and none of them */
        material.damping_ratio = 0.0f;
        assert_ok(lm_body_set_material(world, body, &material));
        body_state before = state_read(world, body, lm_dvec3_zero());
        lm_drag_def def = lm_drag_def_default();
        lm_drag_id drag;
        double radius = wide ? 0.12 : 0.0; /* the direct neighbours on the grid */
        def.body = body;
        def.particle = 14;
        def.radius = (float)radius;
        def.target = (lm_dvec3){1, 1, 1};
        assert_ok(lm_drag_create(world, &def, &drag));
        steps(world, 5);
        body_state after = state_read(world, body, lm_dvec3_zero());
        for (uint32_t i = 0; i < before.count; i++) {
            double from = ref_length(ref_sub(before.x[i], before.x[14]));
            double moved = ref_length(ref_sub(after.x[i], before.x[i]));
            if (from <= radius)
                assert_true(moved > 1e-3);
            else
                assert_near(moved, 0.0, 1e-6);
        }
        state_free(&before);
        state_free(&after);
        lm_world_destroy(world);
    }
}

/* However stiff: it arrives, it does not fly past, nothing explodes. */
static void stiff_drags_stay_stable(void **context)
{
    (void)context;
    static const float frequencies[] = {10.0f, 1e3f, 1e5f};
    for (int k = 0; k < 3; k++)
        for (int damped = 0; damped < 2; damped++) {
            lm_world *world = make_world(-9.81);
            lm_body_id body = make_sample_body(world, SAMPLE_GRID, 8.0);
            lm_drag_def def = lm_drag_def_default();
            lm_drag_id drag;
            def.body = body;
            def.particle = 3;
            def.radius = damped ? 0.0f : 0.15f;
            def.hertz = frequencies[k];
            def.damping_ratio = damped ? 1.0f : 0.0f;
            def.target = (lm_dvec3){1, 0, 0};
            assert_ok(lm_drag_create(world, &def, &drag));
            double fastest = 0.0;
            for (int frame = 0; frame < 300; frame++) {
                steps(world, 1);
                lm_body_info info;
                assert_ok(lm_body_get_info(world, body, &info));
                if (!((double)info.max_speed <= fastest)) fastest = (double)info.max_speed;
            }
            assert_at_most(fastest, 150.0); /* a metre in one step is 60 m/s */
            /* One particle, held as if by a spring of the whole body's mass: it sags by g/omega² at most. */
            if (damped) assert_near(ref_length(ref_sub(position_of(world, body, 3), ref_v(1, 0, 0))), 0.0, 0.01);
            lm_world_destroy(world);
        }
}

/* A body that hangs on a drag: the force is its weight, and the spring is as long as its frequency says. */
static void drags_carry_the_weight(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_body_id body = make_sample_body(world, SAMPLE_CELL, 10.0);
    lm_drag_def def = lm_drag_def_default();
    lm_drag_id drag;
    lm_vec3 force;
    def.body = body;
    def.particle = 7;
    def.hertz = 2.0f;
    def.target = (lm_dvec3){0, 1, 0};
    assert_ok(lm_drag_create(world, &def, &drag));
    steps(world, 1500);
    assert_ok(lm_drag_get_force(world, drag, &force));
    assert_near(force.y, 2.0 * 9.81, 0.02 * 2.0 * 9.81);
    double omega = 6.283185307 * 2.0, stretch = 9.81 / (omega * omega);
    assert_near(1.0 - position_of(world, body, 7).y, stretch, 0.03 * stretch);
    assert_ok(lm_drag_set_target(world, drag, (lm_dvec3){0, 2, 0}));
    steps(world, 600);
    assert_near(2.0 - position_of(world, body, 7).y, stretch, 0.03 * stretch);
    lm_world_destroy(world);
}

static void drags_keep_to_their_force(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_sample_body(world, SAMPLE_BOX, 8.0);
    lm_drag_def def = lm_drag_def_default();
    lm_drag_id drag;
    def.body = body;
    def.radius = 1.0f;
    def.hertz = 50.0f;
    def.max_force = 3.0f;
    def.target = (lm_dvec3){100, 0, 0};
    assert_ok(lm_drag_create(world, &def, &drag));
    for (int frame = 1; frame <= 30; frame++) {
        lm_vec3 force;
        steps(world, 1);
        assert_ok(lm_drag_get_force(world, drag, &force));
        assert_at_most(ref_length(to_double(force)), 3.0001);
        motion m = motion_read(world, body, lm_dvec3_zero());
        assert_near(ref_length(m.momentum), 3.0 * frame * FRAME, 1e-3 * frame * FRAME + 1e-4);
    }
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_act_for_one_step),
        cmocka_unit_test(forces_on_the_body_do_not_deform_it),
        cmocka_unit_test(impulses_act_at_once_and_rigidly),
        cmocka_unit_test(uniform_field_gives_a_parabola),
        cmocka_unit_test(wind_carries_along_exponentially),
        cmocka_unit_test(point_field_falls_off_linearly),
        cmocka_unit_test(point_field_centre_is_harmless),
        cmocka_unit_test(movers_move_as_told),
        cmocka_unit_test(pins_hold_the_body),
        cmocka_unit_test(pins_do_not_turn_regions),
        cmocka_unit_test(pins_ride_on_movers),
        cmocka_unit_test(drags_pull_only_their_neighbourhood),
        cmocka_unit_test(stiff_drags_stay_stable),
        cmocka_unit_test(drags_carry_the_weight),
        cmocka_unit_test(drags_keep_to_their_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
