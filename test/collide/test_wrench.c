/*
 * What colliders, movers and bones are given: it is what bodies lost, particle by particle and by closed forms of statics; the same bits
 * for any number of workers and any instruction set; and a substep function in which a host moves movers by it.
 */
#include "test/lattice/lattice_cells.h"

#include <math.h>
#include <string.h>

static ref_vec to_ref(lm_dvec3 a) { return ref_v(a.x, a.y, a.z); }

static lm_collider_id add_collider(lm_world *world, lm_collider_def def)
{
    lm_collider_id id;
    assert_ok(lm_collider_create(world, &def, &id));
    return id;
}

static lm_collider_id add_floor(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    return add_collider(world, def);
}

/* Kinds of bodies by how they touch: particles in lanes, touch points, stiff as a whole, with other bodies. */
typedef enum touch_kind { PARTICLES, POINTS, STIFF, MUTUAL, TOUCH_KINDS } touch_kind;

static lm_body_id drop(lm_world *world, touch_kind kind, ref_vec at)
{
    lattice_cells cells = lattice_cells_make(CELLS_BOX, 3, 3, 3);
    lm_body_def def = lattice_def(&cells, 1);
    def.pose.position = to_dvec3(at);
    def.mass = 3.0f;
    def.velocity = (lm_vec3){0.4f, -0.5f, 0.2f};
    def.contact_points = kind == PARTICLES ? LM_CONTACT_PARTICLES : LM_CONTACT_AUTO;
    def.mask = kind == MUTUAL ? UINT32_MAX : 0;
    def.material.damping_ratio = 1.0f;
    if (kind == STIFF) {
        def.material.stiffness = LM_STIFFNESS_ALPHA;
        def.material.alpha = 1.0f;
        def.material.damping = 0.5f;
    }
    lm_body_id body = make_body(world, &def);
    free(cells.is);
    return body;
}

/* Momentum gained = gravity + what all that it touched gave it. */
static void colliders_get_what_bodies_lose(void **context)
{
    (void)context;
    for (int kind = 0; kind < TOUCH_KINDS; kind++) {
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 3));
        lm_collider_def box = lm_collider_def_default();
        box.shape = LM_SHAPE_BOX;
        box.half_extents = (lm_vec3){0.2f, 0.3f, 2.0f};
        box.pose.position = (lm_dvec3){1.2, 0.2, 0.0};
        lm_collider_id floor = add_floor(world), wall = add_collider(world, box);
        lm_body_id bodies[2] = {drop(world, kind, ref_v(0, 0.5, 0)), drop(world, kind, ref_v(0, 1.4, 0.1))};
        double worst = 0.0, pushed = 0.0;
        ref_vec momentum = ref_v(0, 0, 0);
        for (int frame = 0; frame < 90; frame++) {
            ref_vec now = ref_v(0, 0, 0);
            lm_wrench a, b;
            steps(world, 1);
            for (int n = 0; n < 2; n++) now = ref_add(now, motion_read(world, bodies[n], lm_dvec3_zero()).momentum);
            assert_ok(lm_collider_get_wrench(world, floor, &a, NULL));
            assert_ok(lm_collider_get_wrench(world, wall, &b, NULL));
            ref_vec gave = ref_scale(-1.0, ref_add(to_ref(a.impulse), to_ref(b.impulse)));
            ref_vec expected = ref_add(gave, ref_v(0, -9.81 * 6.0 * FRAME, 0));
            if (frame > 0) worst = fmax(worst, ref_length(ref_sub(ref_sub(now, momentum), expected)));
            pushed = fmax(pushed, ref_length(gave));
            momentum = now;
        }
        assert_true(pushed > 0.5);
        assert_at_most(worst, 1e-5 * 6.0 * 3.0); /* of a momentum of 6 kg at 3 m/s */
        lm_world_destroy(world);
    }
}

/* At rest the moment about the middle of the collider is that of the weight at the centre of mass. */
static void moments_are_those_of_the_weight(void **context)
{
    (void)context;
    for (int kind = 0; kind < TOUCH_KINDS; kind++) {
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 4));
        lm_collider_def box = lm_collider_def_default();
        box.shape = LM_SHAPE_BOX;
        box.half_extents = (lm_vec3){3.0f, 0.5f, 3.0f};
        box.pose.position = (lm_dvec3){0.7, -0.5, -0.4};
        box.friction = 2.0f;
        lm_collider_id table = add_collider(world, box);
        lm_body_id body = drop(world, kind, ref_v(0, 0.4, 0));
        steps(world, 360);
        ref_vec before = motion_read(world, body, lm_dvec3_zero()).momentum;
        ref_vec force = ref_v(0, 0, 0), torque = ref_v(0, 0, 0);
        for (int frame = 0; frame < 120; frame++) { /* the mean of two seconds */
            lm_wrench w;
            steps(world, 1);
            assert_ok(lm_collider_get_wrench(world, table, &w, NULL));
            force = ref_add(force, ref_scale(0.5, to_ref(w.impulse)));
            torque = ref_add(torque, ref_scale(0.5, to_ref(w.angular)));
        }
        ref_vec arm = ref_sub(motion_read(world, body, lm_dvec3_zero()).centre, to_ref(box.pose.position));
        ref_vec weight = ref_v(0, -9.81 * 3.0, 0), now = motion_read(world, body, lm_dvec3_zero()).momentum;
        ref_vec left = ref_sub(ref_add(force, ref_scale(0.5, ref_sub(now, before))), weight); /* it still trembles */
        assert_near(ref_length(left), 0.0, 1e-5 * 29.4);
        assert_near(ref_length(ref_sub(torque, ref_cross(arm, weight))), 0.0, 0.01 * 29.4);
        lm_world_destroy(world);
    }
}

/* A mover has what its colliders and pins have, about its own position. */
static void movers_sum_what_rides_on_them(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 2));
    lm_mover_def mover_def = lm_mover_def_default();
    lm_mover_id mover;
    mover_def.pose.position = (lm_dvec3){0.3, -1.0, 0.2};
    mover_def.velocity = (lm_vec3){0.0f, 0.2f, 0.0f};
    mover_def.spin = (lm_vec3){0.0f, 0.3f, 0.0f};
    assert_ok(lm_mover_create(world, &mover_def, &mover));
    lm_collider_def ball = lm_collider_def_default();
    ball.shape = LM_SHAPE_SPHERE;
    ball.radius = 0.6f;
    ball.mover = mover;
    ball.pose.position = (lm_dvec3){-0.5, 0.3, 0.0};
    lm_collider_id one = add_collider(world, ball);
    ball.pose.position = (lm_dvec3){0.5, 0.3, 0.1};
    lm_collider_id other = add_collider(world, ball);
    drop(world, POINTS, ref_v(0.2, 0.6, 0));
    double most = 0.0;
    for (int frame = 0; frame < 60; frame++) {
        lm_wrench sum, sub, a[2], b[2];
        lm_pose pose, at[2];
        steps(world, 1);
        assert_ok(lm_mover_get_wrench(world, mover, &sum, &sub));
        assert_ok(lm_collider_get_wrench(world, one, &a[0], &a[1]));
        assert_ok(lm_collider_get_wrench(world, other, &b[0], &b[1]));
        assert_near(ref_length(ref_sub(to_ref(sum.impulse), ref_add(to_ref(a[0].impulse), to_ref(b[0].impulse)))), 0.0,
                    1e-12);
        assert_ok(lm_mover_get_pose(world, mover, &pose));
        assert_ok(lm_collider_get_pose(world, one, &at[0]));
        assert_ok(lm_collider_get_pose(world, other, &at[1]));
        ref_vec turn = ref_add(to_ref(a[1].angular), to_ref(b[1].angular));
        turn = ref_add(turn, ref_cross(ref_sub(to_ref(at[0].position), to_ref(pose.position)), to_ref(a[1].impulse)));
        turn = ref_add(turn, ref_cross(ref_sub(to_ref(at[1].position), to_ref(pose.position)), to_ref(b[1].impulse)));
        assert_near(ref_length(ref_sub(turn, to_ref(sub.angular))), 0.0, 1e-6);
        most = fmax(most, ref_length(to_ref(sum.angular)));
    }
    assert_true(most > 0.01);
    lm_world_destroy(world);
}

/* A body that hangs on a pinned corner, and flesh that hangs on a bone, weigh what they weigh. */
static void pins_and_bones_bear_the_weight(void **context)
{
    (void)context;
    for (int bones = 0; bones < 2; bones++) {
        lm_world *world = make_world(-9.81);
        lm_body_id body = drop(world, PARTICLES, ref_v(0, 5, 0));
        lm_mover_id mover = {0, 0};
        lm_skeleton_id skeleton = {0, 0};
        const uint32_t corner = 0;
        body_state state = state_read(world, body, lm_dvec3_zero());
        ref_vec hung = state.x[corner];
        state_free(&state);
        lm_mover_def mover_def = lm_mover_def_default();
        mover_def.pose.position = (lm_dvec3){hung.x + 1.0, hung.y, hung.z};
        lm_pin_def pin = lm_pin_def_default();
        pin.body = body;
        pin.particles = &corner;
        pin.particle_count = 1;
        lm_pin_id pin_id;
        lm_bone bone = {.rest = lm_pose_identity(), .radius = -1.0f};
        lm_attachment attached = {corner, 0, 1.0f};
        lm_skeleton_def flesh = lm_skeleton_def_default();
        flesh.body = body;
        flesh.bones = &bone;
        flesh.bone_count = 1;
        flesh.attachments = &attached;
        flesh.attachment_count = 1;
        flesh.pose.position = (lm_dvec3){0, 5, 0};
        assert_ok(lm_mover_create(world, &mover_def, &mover));
        pin.mover = mover;
        if (bones) {
            assert_ok(lm_skeleton_create(world, &flesh, &skeleton));
        } else {
            assert_ok(lm_pin_create(world, &pin, &pin_id));
        }
        ref_vec before = ref_v(0, 0, 0), from = bones ? ref_v(0, 5, 0) : to_ref(mover_def.pose.position);
        double worst = 0.0, twist = 0.0;
        for (int frame = 0; frame < 120; frame++) { /* it swings */
            lm_wrench w;
            steps(world, 1);
            assert_ok(bones ? lm_skeleton_get_wrenches(world, skeleton, &w)
                            : lm_mover_get_wrench(world, mover, &w, NULL));
            ref_vec momentum = motion_read(world, body, lm_dvec3_zero()).momentum;
            ref_vec given = ref_add(to_ref(w.impulse), ref_sub(momentum, before));
            ref_vec turn = ref_sub(to_ref(w.angular), ref_cross(ref_sub(hung, from), to_ref(w.impulse)));
            if (frame > 0) worst = fmax(worst, ref_length(ref_sub(given, ref_v(0, -9.81 * 3.0 * FRAME, 0))));
            twist = fmax(twist, ref_length(turn));
            before = momentum;
        }
        assert_at_most(worst, 1e-5 * 3.0 * 3.0); /* of 3 kg at 3 m/s */
        assert_at_most(twist, 1e-5 * 3.0 * 3.0);
        lm_world_destroy(world);
    }
}

/* --- the same bits --- */

static void run_pile(lm_isa isa, uint32_t workers, lm_wrench out[2])
{
    lm_world *world = make_world_with(-9.81, isa, workers);
    lm_collider_id floor = add_floor(world);
    lm_mover_def def = lm_mover_def_default();
    lm_mover_id mover;
    def.spin = (lm_vec3){0.1f, 0.5f, 0.0f};
    assert_ok(lm_mover_create(world, &def, &mover));
    lm_collider_def ball = lm_collider_def_default();
    ball.shape = LM_SHAPE_SPHERE;
    ball.mover = mover;
    add_collider(world, ball);
    for (int n = 0; n < 24; n++)
        drop(world, n % TOUCH_KINDS, ref_v(0.5 * (n % 3) - 0.5, 0.6 + 0.8 * (n / 9), 0.5 * (n / 3 % 3) - 0.5));
    steps(world, 40);
    assert_ok(lm_collider_get_wrench(world, floor, &out[0], NULL));
    assert_ok(lm_mover_get_wrench(world, mover, &out[1], NULL));
    lm_world_destroy(world);
}

static void sums_are_the_same_everywhere(void **context)
{
    (void)context;
    lm_wrench first[2], other[2];
    run_pile(LM_ISA_SCALAR, 1, first);
    assert_true(first[0].impulse.y < -0.1 && first[1].angular.y != 0.0);
    for (int isa = LM_ISA_BEST; isa < LM_ISA_COUNT; isa++) {
        for (uint32_t workers = 1; workers <= 5 && lm_isa_supported((lm_isa)isa); workers += 4) {
            run_pile((lm_isa)isa, workers, other);
            assert_memory_equal(first, other, sizeof first);
        }
    }
}

/* --- a substep function --- */

typedef struct host {
    lm_mover_id mover;
    double y, speed, mass;
    int calls;
} host;

/* A plate of a rigid-body engine: gravity, and what the body gave it. */
static void move_plate(lm_world *world, double h, void *user)
{
    host *plate = user;
    lm_wrench w;
    assert_ok(lm_mover_get_wrench(world, plate->mover, NULL, &w));
    plate->speed += -9.81 * h + w.impulse.y / plate->mass;
    lm_pose pose = lm_pose_identity();
    pose.position.y = plate->y;
    assert_ok(
        lm_mover_steer(world, plate->mover, pose, (lm_vec3){0.0f, (float)plate->speed, 0.0f}, (lm_vec3){0, 0, 0}));
    plate->y += h * plate->speed;
    plate->calls++;
}

/* A plate of the host falls onto a soft body and comes to rest on it: momentum of both is what gravity and the floor gave. */
static void a_host_can_move_movers(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 8));
    lm_collider_id floor = add_floor(world);
    lm_body_id body = drop(world, POINTS, ref_v(0, 0.4, 0));
    host plate = {.y = 1.4, .mass = 2.0};
    lm_mover_def def = lm_mover_def_default();
    def.pose.position.y = plate.y;
    assert_ok(lm_mover_create(world, &def, &plate.mover));
    lm_collider_def box = lm_collider_def_default();
    box.shape = LM_SHAPE_BOX;
    box.half_extents = (lm_vec3){2.0f, 0.1f, 2.0f};
    box.mover = plate.mover;
    add_collider(world, box);
    lm_world_set_substep_function(world, move_plate, &plate);
    double bore = 0.0, low = 10.0, high = 0.0;
    for (int frame = 0; frame < 900; frame++) {
        lm_wrench w;
        steps(world, 1);
        assert_ok(lm_collider_get_wrench(world, floor, &w, NULL));
        bore += frame >= 780 ? 0.5 * w.impulse.y : 0.0;
        low = frame >= 780 ? fmin(low, plate.y) : low;
        high = frame >= 780 ? fmax(high, plate.y) : high;
        assert_true(fabs(plate.speed) < 5.0);
    }
    assert_int_equal(plate.calls, 900 * 8);
    assert_near(bore, -9.81 * 5.0, 0.01 * 49.0);
    assert_at_most(high - low, 0.002);
    assert_true(plate.y > body_centre(world, body).y);
    lm_world_set_substep_function(world, NULL, NULL);
    steps(world, 1);
    assert_int_equal(plate.calls, 900 * 8);
    lm_world_destroy(world);
}

static void wrong_ids_are_refused(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_wrench w;
    lm_collider_id floor = add_floor(world);
    assert_ok(lm_collider_get_wrench(world, floor, &w, &w)); /* before the first step */
    assert_true(w.impulse.y == 0.0);
    assert_result(lm_collider_get_wrench(world, (lm_collider_id){9, 1}, &w, NULL), LM_ERROR_ID);
    assert_result(lm_mover_get_wrench(world, (lm_mover_id){1, 1}, &w, NULL), LM_ERROR_ID);
    assert_result(lm_skeleton_get_wrenches(world, (lm_skeleton_id){1, 1}, &w), LM_ERROR_ID);
    assert_result(
        lm_mover_steer(world, (lm_mover_id){1, 1}, lm_pose_identity(), (lm_vec3){0, 0, 0}, (lm_vec3){0, 0, 0}),
        LM_ERROR_ID);
    lm_mover_def def = lm_mover_def_default();
    lm_mover_id mover;
    assert_ok(lm_mover_create(world, &def, &mover));
    assert_result(lm_mover_steer(world, mover, lm_pose_identity(), (lm_vec3){NAN, 0, 0}, (lm_vec3){0, 0, 0}),
                  LM_ERROR_ARGUMENT);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colliders_get_what_bodies_lose), cmocka_unit_test(moments_are_those_of_the_weight),
        cmocka_unit_test(movers_sum_what_rides_on_them),  cmocka_unit_test(pins_and_bones_bear_the_weight),
        cmocka_unit_test(sums_are_the_same_everywhere),   cmocka_unit_test(a_host_can_move_movers),
        cmocka_unit_test(wrong_ids_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
