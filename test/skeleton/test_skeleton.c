/*
 * Skeletons: bones carry what is attached to them as closed forms say, on every kind of body; what is refused; snapshots in
 * the middle of a motion; the same bits whatever the threads and the instruction set.
 */
#include "test/lattice/lattice_cells.h"

#include <math.h>

typedef enum flesh { FLESH_LATTICE, FLESH_CLUSTERS, FLESH_TETS, FLESH_COUNT } flesh;

/* A bar along x, of any kind. */
static lm_body_id make_flesh(lm_world *world, flesh kind)
{
    random_state random = {7};
    lm_body_id body;
    if (kind == FLESH_LATTICE) {
        lattice_cells cells = lattice_cells_make(CELLS_BOX, 8, 3, 3);
        lm_body_def def = lattice_def(&cells, 2);
        def.lattice.first = (lm_vec3){-1.0f, -0.375f, -0.375f};
        def.material.damping_kind = LM_DAMPING_REGIONAL;
        body = make_body(world, &def);
        free(cells.is);
        return body;
    }
    sample s = sample_make(kind == FLESH_TETS ? SAMPLE_TETS : SAMPLE_GRID, &random);
    body = make_body(world, &s.def);
    sample_free(&s);
    return body;
}

static lm_bone bone_at(double x, double y, double z, double radius, double fade)
{
    lm_bone bone = lm_bone_default();
    bone.rest.position = (lm_dvec3){x, y, z};
    bone.radius = (float)radius;
    bone.fade = (float)fade;
    return bone;
}

static lm_skeleton_id give_bones(lm_world *world, lm_body_id body, const lm_bone *bones, uint32_t count)
{
    lm_skeleton_def def = lm_skeleton_def_default();
    lm_skeleton_id skeleton;
    def.body = body;
    def.bones = bones;
    def.bone_count = count;
    assert_ok(lm_skeleton_create(world, &def, &skeleton));
    return skeleton;
}

/* One point that belongs to no region: it moves as a free particle. */
static lm_body_id make_point(lm_world *world)
{
    lm_vec3 point = {0, 0, 0};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = &point;
    def.point_count = 1;
    return make_body(world, &def);
}

/* The largest distance of held particles from where the bones want them. */
static double worst_held(const lm_world *world, lm_body_id body, lm_skeleton_id skeleton)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    lm_vec3 *targets = calloc(state.count, sizeof *targets);
    float *weights = calloc(state.count, sizeof *weights);
    assert_ok(lm_skeleton_get_targets(world, skeleton, lm_dvec3_zero(), targets, weights));
    double worst = 0.0;
    for (uint32_t n = 0; n < state.count; n++) {
        double away = ref_length(ref_sub(state.x[n], to_double(targets[n])));
        worst = weights[n] >= 1.0f ? fmax(worst, away) : worst;
    }
    free(targets);
    free(weights);
    state_free(&state);
    return worst;
}

/* ---- closed forms ---- */

/* A bone that turns about z through a point off the body's middle, and rises. */
static lm_pose turning(double time)
{
    lm_pose pose = {{0.1, 0.5 * time, 0.0}, quaternion(ref_v(0, 0, 2.0 * time))};
    return pose;
}

static void a_turning_bone_carries_its_particles(void **context)
{
    (void)context;
    for (flesh kind = 0; kind < FLESH_COUNT; kind++) {
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 3));
        lm_body_id body = make_flesh(world, kind);
        body_state rest = state_read(world, body, lm_dvec3_zero());
        lm_bone bone = bone_at(0.1, 0, 0, 0.2, 0.0);
        bone.tail = (lm_vec3){0.3f, 0, 0};
        lm_skeleton_id skeleton = give_bones(world, body, &bone, 1);
        lm_skeleton_info info;
        assert_ok(lm_skeleton_get_info(world, skeleton, &info));
        assert_true(info.held > 3 && info.held < rest.count && info.held == info.particles);
        for (int frame = 0; frame < 90; frame++) {
            lm_pose to = turning((frame + 1) * FRAME);
            assert_ok(lm_skeleton_move_to(world, skeleton, &to));
            assert_ok(lm_world_step(world, FRAME));
        }
        double time = 90 * FRAME, c = cos(2.0 * time), s = sin(2.0 * time);
        body_state now = state_read(world, body, lm_dvec3_zero());
        float *weights = calloc(rest.count, sizeof *weights);
        assert_ok(lm_skeleton_get_targets(world, skeleton, lm_dvec3_zero(), NULL, weights));
        for (uint32_t n = 0; n < rest.count; n++) {
            ref_vec arm = ref_sub(rest.x[n], ref_v(0.1, 0, 0));
            ref_vec turned = ref_v(c * arm.x - s * arm.y, s * arm.x + c * arm.y, arm.z);
            if (weights[n] < 1.0f) continue;
            assert_at_most(ref_length(ref_sub(now.x[n], ref_add(turned, ref_v(0.1, 0.5 * time, 0)))), 2e-6);
            assert_at_most(ref_length(ref_sub(now.v[n], ref_v(-2.0 * turned.y, 2.0 * turned.x + 0.5, 0))), 2e-5);
        }
        lm_pose pose;
        assert_ok(lm_skeleton_get_poses(world, skeleton, &pose));
        assert_near(pose.position.y, 0.5 * time, 1e-12);
        free(weights);
        state_free(&rest);
        state_free(&now);
        lm_world_destroy(world);
    }
}

/* The velocity of the one particle at x = 1 of a bone at the origin, after a step that turns the bone to `to`. */
static ref_vec velocity_while_turning(lm_quat to, uint32_t substeps)
{
    lm_world *world = make_world(0.0);
    assert_ok(lm_world_set_substeps(world, substeps));
    lm_body_id body = make_point(world);
    lm_bone bone = bone_at(-1, 0, 0, 2, 0);
    lm_skeleton_id skeleton = give_bones(world, body, &bone, 1);
    lm_pose pose = {{-1, 0, 0}, to}, found;
    assert_ok(lm_skeleton_move_to(world, skeleton, &pose));
    assert_ok(lm_world_step(world, FRAME));
    body_state state = state_read(world, body, lm_dvec3_zero());
    ref_vec v = state.v[0];
    state_free(&state);
    assert_ok(lm_skeleton_get_poses(world, skeleton, &found));
    double length = (double)found.rotation.x * found.rotation.x + (double)found.rotation.y * found.rotation.y +
                    (double)found.rotation.z * found.rotation.z + (double)found.rotation.w * found.rotation.w;
    assert_near(length, 1.0, 1e-6);
    lm_world_destroy(world);
    return v;
}

static void bones_turn_the_short_way(void **context)
{
    (void)context;
    const double pi = 3.14159265358979;
    /* 350 degrees are 10 the other way; either sign of the quaternion. */
    lm_quat q = quaternion(ref_v(0, 0, 350.0 / 180.0 * pi)), minus = {-q.x, -q.y, -q.z, -q.w};
    double speed = 10.0 / 180.0 * pi / FRAME, end = -10.0 / 180.0 * pi;
    assert_near(velocity_while_turning(q, 4).y, -speed * cos(end), 1e-4 * speed);
    assert_near(velocity_while_turning(minus, 4).x, speed * sin(end), 1e-4 * speed);
    /* A quaternion of any length is the same rotation. */
    lm_quat longer = {7.0f * q.x, 7.0f * q.y, 7.0f * q.z, 7.0f * q.w};
    assert_near(velocity_while_turning(longer, 1).y, -speed * cos(end), 1e-4 * speed);
    /* Half a turn, where the axis is all that counts. */
    double half = pi / FRAME;
    assert_near(fabs(velocity_while_turning((lm_quat){0, 0, 1, 0}, 2).y), half, 1e-4 * half);
    /* Very small turns keep their size: the cosine of the first one is 1 but for the last digits of a double. */
    double tiny = 1e-7 / FRAME;
    assert_near(velocity_while_turning(quaternion(ref_v(0, 0, 1e-7)), 1).y, tiny, 1e-4 * tiny);
    double small = 2e-5 / FRAME;
    assert_near(velocity_while_turning(quaternion(ref_v(0, 0, 2e-5)), 1).y, small, 1e-4 * small);
    assert_near(velocity_while_turning((lm_quat){0, 0, 0, 1}, 1).y, 0.0, 0.0);
}

static void several_bones_are_blended(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_point(world);
    lm_bone bones[2] = {bone_at(0, 0, 0, -1, 0), bone_at(0, 0, 0, -1, 0)};
    lm_attachment attach[3] = {{0, 1, 0.5f}, {0, 0, 0.25f}, {0, 1, 0.25f}}; /* one in two pieces, in no order */
    lm_skeleton_def def = lm_skeleton_def_default();
    def.body = body;
    def.bones = bones;
    def.bone_count = 2;
    def.attachments = attach;
    def.attachment_count = 3;
    lm_skeleton_id skeleton;
    assert_ok(lm_skeleton_create(world, &def, &skeleton));
    lm_attachment found[2];
    lm_skeleton_info info;
    assert_ok(lm_skeleton_get_info(world, skeleton, &info));
    assert_int_equal(info.attachments, 2);
    assert_int_equal(info.held, 1);
    assert_ok(lm_skeleton_get_attachments(world, skeleton, found));
    assert_int_equal(found[0].bone, 0);
    assert_near(found[0].weight, 0.25, 1e-7);
    assert_near(found[1].weight, 0.75, 1e-7);
    lm_pose to[2] = {lm_pose_identity(), lm_pose_identity()};
    to[0].position.x = 4.0;
    to[1].position.y = 8.0;
    assert_ok(lm_skeleton_move_to(world, skeleton, to));
    assert_ok(lm_world_step(world, FRAME));
    body_state state = state_read(world, body, lm_dvec3_zero());
    assert_at_most(ref_length(ref_sub(state.x[0], ref_v(1, 6, 0))), 1e-6);
    assert_at_most(ref_length(ref_sub(state.v[0], ref_v(60, 360, 0))), 1e-3);
    state_free(&state);
    lm_world_destroy(world);
}

static void weights_fall_with_the_distance(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_vec3 points[6] = {{0, 0.9f, 0}, {1, -1, 0}, {0.5f, 1.5f, 0}, {3, 0, 0}, {-1.2f, 0, 0}, {2.5f, 0, 0}};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = 6;
    lm_body_id body = make_body(world, &def);
    lm_bone bones[2] = {bone_at(0, 0, 0, 1, 1), bone_at(3, 0, 0, 0.1, 1)};
    /* A segment from 0 to 1 along x, through a frame that is turned. */
    bones[0].rest.rotation = quaternion(ref_v(0, 0, 1.570796326794897));
    bones[0].tail = (lm_vec3){0, -1, 0};
    lm_skeleton_id skeleton = give_bones(world, body, bones, 2);
    float weights[6];
    assert_ok(lm_skeleton_get_targets(world, skeleton, lm_dvec3_zero(), NULL, weights));
    double half = (1.0 - 0.25) * (1.0 - 0.25), fifth = (1.0 - 0.04) * (1.0 - 0.04);
    assert_near(weights[0], 1.0, 0.0);
    assert_near(weights[1], 1.0, 0.0);
    assert_near(weights[2], half, 1e-6);
    assert_near(weights[3], 1.0, 0.0);
    assert_near(weights[4], fifth, 1e-6);
    double left = half, right = (1.0 - 0.16) * (1.0 - 0.16); /* 0.5 beyond one, 0.4 beyond the other */
    assert_near(weights[5], right, 1e-6);
    lm_attachment found[16];
    assert_ok(lm_skeleton_get_attachments(world, skeleton, found));
    lm_skeleton_info info;
    assert_ok(lm_skeleton_get_info(world, skeleton, &info));
    assert_int_equal(info.attachments, 7);
    assert_near(found[5].weight, right * left / (left + right), 1e-6);
    lm_world_destroy(world);
}

static void a_partial_weight_is_a_spring(void **context)
{
    (void)context;
    const uint32_t substeps[3] = {1, 4, 16};
    for (int k = 0; k < 3; k++) {
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, substeps[k]));
        lm_body_id body = make_point(world);
        lm_bone bone = lm_bone_default();
        lm_attachment attach = {0, 0, 0.75f}; /* three times as stiff as a half */
        lm_skeleton_def def = lm_skeleton_def_default();
        def.body = body;
        def.bones = &bone;
        def.bone_count = 1;
        def.attachments = &attach;
        def.attachment_count = 1;
        def.hertz = 2.0f;
        lm_skeleton_id skeleton;
        assert_ok(lm_skeleton_create(world, &def, &skeleton));
        steps(world, 300);
        double omega2 = 3.0 * (4.0 * 3.14159265358979) * (4.0 * 3.14159265358979);
        body_state state = state_read(world, body, lm_dvec3_zero());
        assert_near(state.x[0].y, -9.81 / omega2, 1e-5);
        assert_at_most(ref_length(state.v[0]), 1e-5);
        state_free(&state);
        lm_world_destroy(world);
    }
}

/* A weight hangs lower by the square of the frequencies; what is wrong changes nothing; snapshots and state keep what was set. */
static void springs_can_change(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_body_id body = make_point(world);
    lm_bone bone = lm_bone_default();
    lm_attachment attach = {0, 0, 0.5f};
    lm_skeleton_def def = lm_skeleton_def_default();
    lm_skeleton_id skeleton;
    lm_skeleton_info info;
    def.body = body;
    def.bones = &bone;
    def.bone_count = 1;
    def.attachments = &attach;
    def.attachment_count = 1;
    assert_ok(lm_skeleton_create(world, &def, &skeleton));
    assert_ok(lm_skeleton_get_info(world, skeleton, &info));
    assert_true(info.hertz == 8.0f && info.damping_ratio == 0.5f);
    steps(world, 300);
    size_t size = lm_world_save_size(world), room = lm_world_state_size(world), state_size;
    void *snapshot = malloc(size), *state = malloc(room);
    assert_ok(lm_world_save(world, snapshot, size));
    assert_ok(lm_world_save_state(world, state, room, &state_size));
    assert_ok(lm_skeleton_set_spring(world, skeleton, 2.0f, 1.5f));
    static const float wrong[][2] = {{-1.0f, 1.0f}, {NAN, 1.0f}, {1e7f, 1.0f},
                                     {1.0f, -1.0f}, {1.0f, NAN}, {1.0f, INFINITY}};
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++) {
        assert_result(lm_skeleton_set_spring(world, skeleton, wrong[n][0], wrong[n][1]), LM_ERROR_ARGUMENT);
    }
    assert_result(lm_skeleton_set_spring(world, (lm_skeleton_id){7, 7}, 1.0f, 1.0f), LM_ERROR_ID);
    assert_ok(lm_skeleton_get_info(world, skeleton, &info));
    assert_true(info.hertz == 2.0f && info.damping_ratio == 1.5f);
    for (int turn = 0; turn < 3; turn++) {
        double hertz = turn == 0 ? 2.0 : 8.0, omega = 6.283185307179586 * hertz;
        steps(world, 300);
        body_state reached = state_read(world, body, lm_dvec3_zero());
        assert_near(reached.x[0].y, -9.81 / (omega * omega), 1e-5);
        state_free(&reached);
        assert_ok(turn == 0 ? lm_world_load_state(world, state, state_size) : lm_world_load(world, snapshot, size));
        assert_ok(lm_skeleton_get_info(world, skeleton, &info));
        assert_true(info.hertz == 8.0f && info.damping_ratio == 0.5f);
        if (turn == 1) {
            assert_ok(lm_skeleton_set_spring(world, skeleton, 3.0f, 0.5f));
            assert_ok(lm_world_load(world, snapshot, size));
        }
    }
    free(snapshot);
    free(state);
    lm_world_destroy(world);
}

/* ---- bodies as a whole ---- */

static void at_rest_it_stays(void **context)
{
    (void)context;
    for (flesh kind = 0; kind < FLESH_COUNT; kind++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = make_flesh(world, kind);
        lm_bone bones[2] = {bone_at(-0.4, 0, 0, 0.3, 0.3), bone_at(0.4, 0, 0, 0.3, 0.3)};
        give_bones(world, body, bones, 2);
        steps(world, 120);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        assert_at_most(info.max_speed, 2e-5);
        assert_at_most(deformation(world, body), 2e-6);
        lm_world_destroy(world);
    }
}

static void wave(lm_world *world, lm_skeleton_id skeleton, int frame)
{
    lm_pose to[2] = {lm_pose_identity(), lm_pose_identity()};
    to[0].position = (lm_dvec3){-0.4, 0.1 * sin(0.3 * frame), 0};
    to[0].rotation = quaternion(ref_v(0.4 * sin(0.2 * frame), 0, 0));
    to[1].position = (lm_dvec3){0.4, 0, 0.1 * sin(0.25 * frame)};
    to[1].rotation = quaternion(ref_v(0, 0.6 * sin(0.22 * frame), 0.3));
    assert_ok(lm_skeleton_move_to(world, skeleton, to));
}

static lm_skeleton_id give_two(lm_world *world, lm_body_id body)
{
    lm_bone bones[2] = {bone_at(-0.4, 0, 0, 0.3, 0.3), bone_at(0.4, 0, 0, 0.3, 0.3)};
    return give_bones(world, body, bones, 2);
}

static void flesh_follows_and_the_impulse_is_known(void **context)
{
    (void)context;
    for (flesh kind = 0; kind < FLESH_COUNT; kind++) {
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 2));
        lm_body_id body = make_flesh(world, kind);
        lm_skeleton_id skeleton = give_two(world, body);
        double scale = 0.0;
        for (int frame = 0; frame < 120; frame++) {
            wave(world, skeleton, frame);
            assert_ok(lm_world_step(world, FRAME));
            assert_at_most(worst_held(world, body, skeleton), 1e-6);
            scale = fmax(scale, motion_read(world, body, lm_dvec3_zero()).momentum_scale);
        }
        lm_stats stats;
        lm_world_get_stats(world, &stats);
        motion m = motion_read(world, body, lm_dvec3_zero());
        ref_vec given = ref_v(stats.outside_impulse.x, stats.outside_impulse.y, stats.outside_impulse.z);
        assert_true(scale > 0.1); /* it does move */
        assert_at_most(ref_length(ref_sub(m.momentum, given)), 1e-4 * scale);
        /* The free parts stay near: nothing is torn off. */
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        assert_at_most(info.max_speed, 20.0);
        lm_world_destroy(world);
    }
}

static void pins_go_before_bones_and_bones_before_colliders(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_vec3 points[2] = {{0, 1, 0}, {1, 1, 0}};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = 2;
    lm_body_id body = make_body(world, &def);
    lm_bone bone = bone_at(0, 1, 0, 5, 0);
    lm_skeleton_id skeleton = give_bones(world, body, &bone, 1);
    uint32_t first = 0;
    lm_pin_def pin = lm_pin_def_default();
    pin.body = body;
    pin.particles = &first;
    pin.particle_count = 1;
    lm_pin_id pinned;
    assert_ok(lm_pin_create(world, &pin, &pinned));
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &floor, &collider));
    lm_pose to = lm_pose_identity();
    to.position.y = -1.0;
    assert_ok(lm_skeleton_move_to(world, skeleton, &to));
    steps(world, 2);
    body_state state = state_read(world, body, lm_dvec3_zero());
    assert_at_most(ref_length(ref_sub(state.x[0], ref_v(0, 1, 0))), 1e-6);
    assert_at_most(ref_length(ref_sub(state.x[1], ref_v(1, -1, 0))), 1e-6);
    assert_at_most(ref_length(state.v[1]), 0.0); /* the bone has arrived and stands still */
    state_free(&state);
    lm_world_destroy(world);
}

/* ---- sameness ---- */

static void the_same_bits_everywhere(void **context)
{
    (void)context;
    uint64_t expected = 0;
    for (lm_isa isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        for (uint32_t workers = 1; workers <= 3; workers += 2) {
            if (!lm_isa_supported(isa)) continue;
            lm_world *world = make_world_with(-9.81, isa, workers);
            assert_ok(lm_world_set_substeps(world, 3));
            lm_skeleton_id skeletons[FLESH_COUNT];
            for (flesh kind = 0; kind < FLESH_COUNT; kind++) {
                skeletons[kind] = give_two(world, make_flesh(world, kind));
            }
            for (int frame = 0; frame < 40; frame++) {
                for (flesh kind = 0; kind < FLESH_COUNT; kind++) wave(world, skeletons[kind], frame);
                assert_ok(lm_world_step(world, FRAME));
            }
            uint64_t hash = lm_world_hash(world);
            expected = expected == 0 ? hash : expected;
            assert_true(hash == expected);
            lm_world_destroy(world);
        }
    }
}

static void a_snapshot_in_the_middle_of_a_motion(void **context)
{
    (void)context;
    for (flesh kind = 0; kind < FLESH_COUNT; kind++) {
        lm_world *world = make_world(-9.81), *other = make_world_with(0.0, LM_ISA_SCALAR, 2);
        assert_ok(lm_world_set_substeps(world, 3));
        lm_body_id body = make_flesh(world, kind);
        lm_skeleton_id skeleton = give_two(world, body);
        for (int frame = 0; frame < 20; frame++) {
            wave(world, skeleton, frame);
            assert_ok(lm_world_step(world, FRAME));
        }
        wave(world, skeleton, 20); /* aimed, not stepped yet */
        size_t size = lm_world_save_size(world);
        void *bytes = malloc(size);
        assert_ok(lm_world_save(world, bytes, size));
        assert_ok(lm_world_load(other, bytes, size));
        for (int frame = 21; frame < 50; frame++) {
            assert_ok(lm_world_step(world, FRAME));
            assert_ok(lm_world_step(other, FRAME));
            assert_true(lm_world_hash(world) == lm_world_hash(other));
            wave(world, skeleton, frame);
            wave(other, skeleton, frame);
        }
        free(bytes);
        assert_reloads(world, 5);
        lm_world_destroy(world);
        lm_world_destroy(other);
    }
}

/* ---- what is refused, and what goes away ---- */

static void bad_poses_move_nothing(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_flesh(world, FLESH_LATTICE);
    lm_skeleton_id skeleton = give_two(world, body);
    const lm_pose bad[6] = {{{NAN, 0, 0}, {0, 0, 0, 1}},      {{0, 1e300, 0}, {0, 0, 0, 1}},
                            {{0, 0, 0}, {0, 0, 0, 0}},        {{0, 0, 0}, {0, NAN, 0, 1}},
                            {{0, 0, INFINITY}, {0, 0, 0, 1}}, {{0, 0, 0}, {1e-20f, 0, 0, 0}}};
    for (int n = 0; n < 6; n++) {
        lm_pose to[2] = {{{5, 5, 5}, {0, 0, 0, 1}}, bad[n]}, now[2];
        assert_result(lm_skeleton_move_to(world, skeleton, to), LM_ERROR_ARGUMENT);
        assert_result(lm_skeleton_set_poses(world, skeleton, to), LM_ERROR_ARGUMENT);
        assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_skeleton_get_poses(world, skeleton, now));
        assert_near(now[0].position.x, -0.4, 0.0);
    }
    assert_at_most(deformation(world, body), 1e-6);
    lm_world_destroy(world);
}

/* Bones thrown about as no skeleton is: nothing breaks, and what is held is where it belongs. */
static void wild_bones_do_no_harm(void **context)
{
    (void)context;
    random_state random = {11};
    for (flesh kind = 0; kind < FLESH_COUNT; kind++) {
        lm_world *world = make_world(-9.81);
        lm_body_id body = make_flesh(world, kind);
        lm_skeleton_id skeleton = give_two(world, body);
        for (int frame = 0; frame < 120; frame++) {
            double far = frame % 10 == 0 ? 1e4 : 2.0;
            lm_pose to[2];
            for (int n = 0; n < 2; n++) {
                to[n].position = to_dvec3(random_in_cube(&random, far));
                to[n].rotation = quaternion(random_in_cube(&random, 3.0));
            }
            assert_ok(frame % 3 == 0 ? lm_skeleton_set_poses(world, skeleton, to)
                                     : lm_skeleton_move_to(world, skeleton, to));
            assert_ok(lm_world_step(world, FRAME));
            lm_totals totals;
            lm_world_get_totals(world, &totals);
            assert_true(totals.finite);
            assert_at_most(worst_held(world, body, skeleton), 2e-3 * fmax(1.0, far / 10.0));
        }
        lm_pose home[2] = {lm_pose_identity(), lm_pose_identity()};
        home[0].position.x = -0.4;
        home[1].position.x = 0.4;
        assert_ok(lm_world_set_gravity(world, (lm_vec3){0, 0, 0}));
        assert_ok(lm_skeleton_move_to(world, skeleton, home));
        steps(world, 2500);
        assert_at_most(deformation(world, body), 0.01);
        lm_world_destroy(world);
    }
}

static void wrong_definitions_are_refused(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_point(world);
    lm_bone bone = bone_at(0, 0, 0, 1, 0);
    lm_attachment attach = {0, 0, 1.0f};
    lm_skeleton_def good = lm_skeleton_def_default(), def;
    lm_skeleton_id id;
    good.body = body;
    good.bones = &bone;
    good.bone_count = 1;
    good.attachments = &attach;
    good.attachment_count = 1;
#define REFUSED(change, result)                                                                                        \
    def = good;                                                                                                        \
    change;                                                                                                            \
    assert_result(lm_skeleton_create(world, &def, &id), result);                                                       \
    assert_int_equal(id.slot, 0)
    REFUSED(def.cookie = 0, LM_ERROR_ARGUMENT);
    REFUSED(def.body.slot = 9, LM_ERROR_ID);
    REFUSED(def.bone_count = 0, LM_ERROR_ARGUMENT);
    REFUSED(def.bone_count = LM_MAX_BONES + 1, LM_ERROR_ARGUMENT);
    REFUSED(def.bones = NULL, LM_ERROR_ARGUMENT);
    REFUSED(def.hertz = -1.0f, LM_ERROR_ARGUMENT);
    REFUSED(def.damping_ratio = NAN, LM_ERROR_ARGUMENT);
    REFUSED(def.pose.rotation.w = 0.0f, LM_ERROR_ARGUMENT);
    REFUSED((attach = (lm_attachment){1, 0, 1.0f}), LM_ERROR_ARGUMENT);
    REFUSED((attach = (lm_attachment){0, 1, 1.0f}), LM_ERROR_ARGUMENT);
    REFUSED((attach = (lm_attachment){0, 0, 1.1f}), LM_ERROR_ARGUMENT);
    REFUSED((attach = (lm_attachment){0, 0, NAN}), LM_ERROR_ARGUMENT);
    attach = (lm_attachment){0, 0, 1.0f};
    const lm_bone sound = bone;
    REFUSED(bone.rest.rotation.w = 0.0f, LM_ERROR_ARGUMENT);
    bone = sound;
    REFUSED(bone.rest.position.x = 1e10, LM_ERROR_ARGUMENT);
    bone = sound;
    REFUSED(bone.tail.y = NAN, LM_ERROR_ARGUMENT);
    bone = sound;
    REFUSED(bone.fade = -1.0f, LM_ERROR_ARGUMENT);
    bone = sound;
    REFUSED(bone.radius = INFINITY, LM_ERROR_ARGUMENT);
#undef REFUSED
    bone = sound;
    assert_ok(lm_skeleton_create(world, &good, &id));
    lm_skeleton_id second, found;
    assert_result(lm_skeleton_create(world, &good, &second), LM_ERROR_ARGUMENT);
    assert_ok(lm_body_get_skeleton(world, body, &found));
    assert_true(found.slot == id.slot && found.generation == id.generation);
    assert_ok(lm_skeleton_destroy(world, id));
    assert_result(lm_skeleton_destroy(world, id), LM_ERROR_ID);
    assert_ok(lm_body_get_skeleton(world, body, &found));
    assert_int_equal(found.slot, 0);
    assert_ok(lm_skeleton_create(world, &good, &id));
    assert_ok(lm_body_destroy(world, body));
    lm_pose pose;
    assert_result(lm_skeleton_get_poses(world, id, &pose), LM_ERROR_ID);
    assert_ok(lm_world_step(world, FRAME));
    lm_world_destroy(world);
}

/* ---- memory ---- */

typedef struct stingy {
    uint64_t left; /* requests that are granted; UINT64_MAX: all */
    size_t live;
} stingy;

static void *stingy_allocate(size_t size, size_t alignment, void *user)
{
    stingy *s = user;
    if (s->left == 0) return NULL;
    s->left -= s->left != UINT64_MAX;
    s->live += size;
    return aligned_alloc(alignment < 64 ? 64 : alignment, (size + 63) / 64 * 64);
}

static void stingy_release(void *memory, size_t size, void *user)
{
    ((stingy *)user)->live -= size;
    free(memory);
}

static void every_allocation_may_fail(void **context)
{
    (void)context;
    stingy memory = {UINT64_MAX, 0};
    lm_world_def world_def = lm_world_def_default();
    world_def.workers = 1;
    world_def.allocator = (lm_allocator){stingy_allocate, stingy_release, &memory};
    lm_world *world = NULL;
    assert_ok(lm_world_create(&world_def, &world));
    lm_body_id body = make_flesh(world, FLESH_LATTICE);
    lm_bone bones[2] = {bone_at(-0.4, 0, 0, 0.3, 0.3), bone_at(0.4, 0, 0, 0.3, 0.3)};
    lm_skeleton_def def = lm_skeleton_def_default();
    def.body = body;
    def.bones = bones;
    def.bone_count = 2;
    lm_skeleton_id id;
    assert_ok(lm_skeleton_create(world, &def, &id)); /* from here on there is a slot for one */
    assert_ok(lm_skeleton_destroy(world, id));
    size_t before = memory.live;
    uint64_t refused = 0;
    for (;; refused++) {
        memory.left = refused;
        lm_result result = lm_skeleton_create(world, &def, &id);
        if (result == LM_OK) break;
        assert_result(result, LM_ERROR_MEMORY);
        assert_int_equal(memory.live, before);
    }
    assert_true(refused > 5);
    memory.left = UINT64_MAX;
    wave(world, id, 3);
    steps(world, 3);
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    uint64_t hash = lm_world_hash(world);
    for (uint64_t n = 0;; n++) {
        memory.left = n;
        lm_result result = lm_world_load(world, bytes, size);
        if (result == LM_OK) break;
        assert_result(result, LM_ERROR_MEMORY);
        assert_true(lm_world_hash(world) == hash);
    }
    memory.left = UINT64_MAX;
    steps(world, 1);
    memory.left = 0; /* a step takes no memory, whatever the bones do */
    wave(world, id, 9);
    steps(world, 2);
    lm_world_destroy(world);
    assert_int_equal(memory.live, 0);
    free(bytes);
}

/* ---- values of vertices ---- */

static void values_are_carried_from_the_nearest_vertices(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_vec3 points[2] = {{0, 0, 0}, {2, 0, 0}};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = 2;
    lm_body_id body = make_body(world, &def);
    const lm_vec3 vertices[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 2, 0}, {0, 0, 2}, {9, 0, 0}, {2, 0, 0}};
    const float values[12] = {1, 0, 3, 0, 8, 0, 4, 0, 99, 0, 5, 7};
    float out[4];
    assert_ok(lm_body_carry_values(world, body, vertices, 6, values, 2, out));
    assert_near(out[0], (1.0 + 3.0 + 0.25 * 8.0 + 0.25 * 4.0) / 2.5, 1e-6);
    assert_near(out[1], 0.0, 0.0);
    assert_near(out[2], 5.0, 0.0); /* on a vertex */
    assert_near(out[3], 7.0, 0.0);
    lm_vec3 bad = {NAN, 0, 0};
    assert_result(lm_body_carry_values(world, body, &bad, 1, values, 2, out), LM_ERROR_ARGUMENT);
    assert_result(lm_body_carry_values(world, body, NULL, 1, values, 2, out), LM_ERROR_ARGUMENT);
    assert_result(lm_body_carry_values(world, body, vertices, 6, values, 0, out), LM_ERROR_ARGUMENT);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turning_bone_carries_its_particles),
        cmocka_unit_test(bones_turn_the_short_way),
        cmocka_unit_test(several_bones_are_blended),
        cmocka_unit_test(weights_fall_with_the_distance),
        cmocka_unit_test(a_partial_weight_is_a_spring),
        cmocka_unit_test(springs_can_change),
        cmocka_unit_test(at_rest_it_stays),
        cmocka_unit_test(flesh_follows_and_the_impulse_is_known),
        cmocka_unit_test(pins_go_before_bones_and_bones_before_colliders),
        cmocka_unit_test(the_same_bits_everywhere),
        cmocka_unit_test(a_snapshot_in_the_middle_of_a_motion),
        cmocka_unit_test(bad_poses_move_nothing),
        cmocka_unit_test(wild_bones_do_no_harm),
        cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(values_are_carried_from_the_nearest_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
