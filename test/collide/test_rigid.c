/*
 * Movers that have a mass: against closed forms of falling, rolling, sliding, spinning and swinging; momentum and spin with a soft body;
 * weights on the ground; masses far apart; stacks; sleep; snapshots; the same bits everywhere; what is refused.
 */
#include "test/lattice/lattice_cells.h"

#include <math.h>
#include <string.h>

static lm_mover_id make_mover(lm_world *world, ref_vec at, double mass, lm_shape shape, lm_vec3 half)
{
    lm_mover_def def = lm_mover_def_default();
    lm_collider_def collider = lm_collider_def_default();
    lm_mover_id mover;
    lm_collider_id id;
    def.pose.position = to_dvec3(at);
    def.mass = (float)mass;
    assert_ok(lm_mover_create(world, &def, &mover));
    collider.shape = shape;
    collider.half_extents = half;
    collider.radius = half.x;
    collider.half_length = half.y;
    collider.mover = mover;
    assert_ok(lm_collider_create(world, &collider, &id));
    return mover;
}

static lm_mover_def def_of(const lm_world *world, lm_mover_id mover)
{
    lm_mover_def def;
    assert_ok(lm_mover_get_def(world, mover, &def));
    return def;
}

static lm_collider_id add_floor(lm_world *world, double tilt)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id floor;
    def.pose.rotation = (lm_quat){0.0f, 0.0f, (float)sin(0.5 * tilt), (float)cos(0.5 * tilt)};
    assert_ok(lm_collider_create(world, &def, &floor));
    return floor;
}

/* A soft block of n^3 points, `side` metres wide, that touches with points on its surface. */
static lm_body_id make_block(lm_world *world, ref_vec at, int n, double side, double mass, double hertz)
{
    lm_vec3 *points = grid_points(n, n, n, side / (n - 1));
    lm_body_def def = lm_body_def_default();
    def.points = points;
    def.point_count = (uint32_t)(n * n * n);
    def.mass = (float)mass;
    def.mask = 1;
    def.pose.position = to_dvec3(at);
    def.material.hertz = (float)hertz;
    def.material.damping_ratio = 0.3f;
    lm_body_id body = make_body(world, &def);
    free(points);
    return body;
}

static double length_of(lm_vec3 v) { return sqrt((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z); }

/* --- one alone --- */

static void they_fall_roll_and_slide(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 4));
    lm_mover_id free = make_mover(world, ref_v(50, 100, 0), 3.0, LM_SHAPE_BOX, (lm_vec3){0.2f, 0.3f, 0.4f});
    steps(world, 60);
    assert_near(def_of(world, free).velocity.y, -9.81, 1e-4);
    assert_near(def_of(world, free).pose.position.y, 100.0 - 0.5 * 9.81 * (1.0 + 1.0 / 240.0), 1e-4);

    /* A ball that slides and begins to roll keeps 5/7 of its speed, whatever friction there is. */
    add_floor(world, 0.0);
    lm_mover_id ball = make_mover(world, ref_v(0, 0.5, 0), 2.0, LM_SHAPE_SPHERE, (lm_vec3){0.5f, 0, 0});
    assert_ok(lm_mover_set_velocity(world, ball, (lm_vec3){1, 0, 0}, (lm_vec3){0, 0, 0}));
    steps(world, 120);
    assert_near(def_of(world, ball).velocity.x, 5.0 / 7.0, 2e-3);
    assert_near(def_of(world, ball).spin.z, -10.0 / 7.0, 5e-3);
    assert_near(def_of(world, ball).pose.position.y, 0.5, 1e-3);
    lm_world_destroy(world);

    /* A box on a slope of 30 degrees: friction 0.5 does not hold it. g (sin - 0.5 cos) = 0.6572 m/s². 0.7 does. */
    for (int holds = 0; holds < 2; holds++) {
        world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 4));
        double tilt = 0.52359877559829887, friction = holds ? 0.7 : 0.5;
        lm_collider_id floor = add_floor(world, tilt);
        assert_ok(lm_collider_set_friction(world, floor, (float)friction, 0.0f));
        lm_mover_id box = make_mover(world, ref_v(-sin(tilt) * 0.2, cos(tilt) * 0.2, 0), 5.0, LM_SHAPE_BOX,
                                     (lm_vec3){0.5f, 0.2f, 0.5f});
        lm_collider_def c;
        lm_collider_id id = {2, 1};
        assert_ok(lm_collider_get_def(world, id, &c));
        assert_ok(lm_collider_set_friction(world, id, (float)friction, 0.0f));
        lm_mover_def def = def_of(world, box);
        lm_pose pose = def.pose;
        pose.rotation = (lm_quat){0.0f, 0.0f, (float)sin(0.5 * tilt), (float)cos(0.5 * tilt)};
        assert_ok(lm_mover_set_pose(world, box, pose));
        steps(world, 120);
        double speed = length_of(def_of(world, box).velocity);
        assert_near(speed, holds ? 0.0 : 2.0 * 9.81 * (sin(tilt) - 0.5 * cos(tilt)), holds ? 5e-3 : 0.03);
        lm_world_destroy(world);
    }
}

/* A vector turned by a quaternion, or back. */
static lm_dvec3 turned(lm_quat q, lm_dvec3 v, bool back)
{
    double s = back ? -1.0 : 1.0;
    lm_dvec3 u = {s * q.x, s * q.y, s * q.z};
    lm_dvec3 t = {2 * (u.y * v.z - u.z * v.y), 2 * (u.z * v.x - u.x * v.z), 2 * (u.x * v.y - u.y * v.x)};
    return (lm_dvec3){v.x + q.w * t.x + (u.y * t.z - u.z * t.y), v.y + q.w * t.y + (u.z * t.x - u.x * t.z),
                      v.z + q.w * t.z + (u.x * t.y - u.y * t.x)};
}

/* Turned about the axis of the middle moment it tumbles; angular momentum, with its direction, and energy stay. */
static void a_free_box_keeps_its_momentum_and_energy(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    assert_ok(lm_world_set_substeps(world, 4));
    lm_mover_id box = make_mover(world, ref_v(0, 0, 0), 2.0, LM_SHAPE_BOX, (lm_vec3){0.5f, 0.1f, 0.3f});
    const double mass = 2.0 / 3.0, moments[3] = {mass * 0.10, mass * 0.34, mass * 0.26}; /* y²+z², z²+x², x²+y² */
    assert_ok(lm_mover_set_velocity(world, box, (lm_vec3){0, 0, 0}, (lm_vec3){0.1f, 0.05f, 5}));
    double energy[2];
    lm_dvec3 momentum[2];
    bool tumbled = false;
    for (int n = 0; n < 2; n++) {
        lm_mover_def d = def_of(world, box);
        lm_dvec3 w = turned(d.pose.rotation, (lm_dvec3){d.spin.x, d.spin.y, d.spin.z}, true);
        lm_dvec3 own = {moments[0] * w.x, moments[1] * w.y, moments[2] * w.z};
        energy[n] = 0.5 * (own.x * w.x + own.y * w.y + own.z * w.z);
        momentum[n] = turned(d.pose.rotation, own, false);
        for (int k = 0; k < 600 && n == 0; k++) {
            steps(world, 1);
            /* The spin along the momentum stays; it is the box that turns over, and so the spin about its own axis. */
            lm_mover_def now = def_of(world, box);
            lm_dvec3 spin = {now.spin.x, now.spin.y, now.spin.z};
            tumbled = tumbled || turned(now.pose.rotation, spin, true).z < -4.0;
        }
    }
    assert_true(tumbled);
    assert_near(energy[1] / energy[0], 1.0, 0.01);
    double length = sqrt(momentum[0].x * momentum[0].x + momentum[0].y * momentum[0].y + momentum[0].z * momentum[0].z);
    assert_near((momentum[1].x - momentum[0].x) / length, 0.0, 1e-4);
    assert_near((momentum[1].y - momentum[0].y) / length, 0.0, 1e-4);
    assert_near((momentum[1].z - momentum[0].z) / length, 0.0, 1e-4);
    lm_world_destroy(world);
}

/* --- with soft bodies --- */

static void momentum_and_spin_are_kept(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    assert_ok(lm_world_set_substeps(world, 4));
    lm_mover_id box = make_mover(world, ref_v(1.2, 0.3, 0), 3.0, LM_SHAPE_BOX, (lm_vec3){0.3f, 0.4f, 0.3f});
    lm_body_id body = make_block(world, ref_v(0, 0, 0), 4, 0.6, 2.0, 20.0);
    assert_ok(lm_mover_set_velocity(world, box, (lm_vec3){-3, 0, 0}, (lm_vec3){0, 0, 0}));
    const double inertia = 3.0 / 3.0 * (0.3 * 0.3 + 0.4 * 0.4); /* about z */
    double before = 3.0 * -3.0, spin = 0.3 * 9.0, least = 0.0;
    steps(world, 90);
    lm_mover_def d = def_of(world, box);
    motion m = motion_read(world, body, lm_dvec3_zero());
    double after = 3.0 * d.velocity.x + m.momentum.x, x = d.pose.position.x, y = d.pose.position.y;
    double angular = 3.0 * (x * d.velocity.y - y * d.velocity.x) + inertia * d.spin.z + m.angular.z +
                     (m.centre.x * m.momentum.y - m.centre.y * m.momentum.x);
    least = fabs(m.momentum.x);
    assert_true(least > 1.0); /* they met */
    assert_near(after, before, 1e-5 * 9.0);
    assert_near(angular, spin, 1e-5 * spin);
    lm_world_destroy(world);
}

/* What lies on a soft body on the ground: the ground bears both. */
static void the_ground_bears_all(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 4));
    lm_collider_id floor = add_floor(world, 0.0);
    lm_body_id body = make_block(world, ref_v(0, 0.5, 0), 6, 1.0, 20.0, 15.0);
    lm_mover_id box = make_mover(world, ref_v(0, 1.21, 0), 10.0, LM_SHAPE_BOX, (lm_vec3){0.45f, 0.2f, 0.45f});
    steps(world, 300);
    lm_wrench on_floor, on_box;
    double force = 0.0, held = 0.0;
    for (int n = 0; n < 60; n++) {
        steps(world, 1);
        assert_ok(lm_collider_get_wrench(world, floor, &on_floor, NULL));
        assert_ok(lm_mover_get_wrench(world, box, &on_box, NULL));
        force -= on_floor.impulse.y;
        held += on_box.impulse.y;
    }
    assert_near(force, 30.0 * 9.81, 0.5);
    assert_near(held, 10.0 * 9.81, 0.5);
    assert_true(def_of(world, box).pose.position.y > 1.0 && def_of(world, box).pose.position.y < 1.21);
    assert_true(length_of(def_of(world, box).velocity) < 0.01 && body_centre(world, body).y > 0.4);
    lm_world_destroy(world);
}

/* A tonne on a kilogram and under one, whichever of them is soft, stay calm. */
static void masses_may_differ(void **context)
{
    (void)context;
    static const struct {
        double mover, body;
        bool above;
    } cases[] = {{1000.0, 1.0, true}, {1.0, 1000.0, false}, {1.0, 1000.0, true}, {1000.0, 1.0, false}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 4));
        add_floor(world, 0.0);
        lm_body_id body = make_block(world, ref_v(0, cases[n].above ? 0.5 : 0.92, 0), 6, 1.0, cases[n].body, 8.0);
        lm_mover_id box = make_mover(world, ref_v(0, cases[n].above ? 1.25 : 0.2, 0), cases[n].mover, LM_SHAPE_BOX,
                                     (lm_vec3){0.6f, 0.2f, 0.6f});
        double fastest = 0.0;
        for (int k = 0; k < 480; k++) {
            steps(world, 1);
            lm_body_info info;
            assert_ok(lm_body_get_info(world, body, &info));
            fastest = fmax(fastest, fmax(info.max_speed, length_of(def_of(world, box).velocity)));
            if (k >= 420) {
                assert_true(length_of(def_of(world, box).velocity) < 0.02 && info.max_speed < 0.05);
            }
        }
        lm_mover_def d = def_of(world, box);
        assert_true(fastest < 12.0);
        assert_true(fabs(d.pose.position.x) < 0.05 && fabs(d.pose.position.z) < 0.05);
        assert_true(d.pose.position.y > 0.19);
        assert_true(cases[n].above || body_centre(world, body).y > 0.8); /* the soft one is still up there */
        lm_world_destroy(world);
    }
}

/* --- with colliders --- */

/* Each shape on each, dropped from a little above; it must rest where the shapes say, upright. */
static void shapes_stand_on_each_other(void **context)
{
    (void)context;
    static const lm_shape shapes[] = {LM_SHAPE_SPHERE, LM_SHAPE_CAPSULE, LM_SHAPE_BOX};
    static const lm_vec3 half = {0.3f, 0.3f, 0.3f};
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            lm_world *world = make_world(-9.81);
            assert_ok(lm_world_set_substeps(world, 4));
            lm_collider_def def = lm_collider_def_default();
            lm_collider_id fixed;
            def.shape = shapes[b];
            def.radius = def.half_length = 0.3f;
            def.half_extents = half;
            assert_ok(lm_collider_create(world, &def, &fixed));
            double top = shapes[b] == LM_SHAPE_CAPSULE ? 0.6 : 0.3, own = shapes[a] == LM_SHAPE_CAPSULE ? 0.6 : 0.3;
            lm_mover_id mover = make_mover(world, ref_v(0, top + own + 0.02, 0), 2.0, shapes[a], half);
            steps(world, 90);
            assert_near(def_of(world, mover).pose.position.y, top + own, 2e-3);
            assert_true(length_of(def_of(world, mover).velocity) < 2e-3);
            lm_world_destroy(world);
        }
    }
}

static void boxes_stack(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 4));
    add_floor(world, 0.0);
    lm_mover_id box[5];
    for (int n = 0; n < 5; n++) {
        box[n] = make_mover(world, ref_v(0.03 * (n & 1), 0.25 + 0.51 * n, 0), 2.0 + n, LM_SHAPE_BOX,
                            (lm_vec3){0.25f, 0.25f, 0.25f});
    }
    steps(world, 600);
    for (int n = 0; n < 5; n++) {
        lm_mover_def d = def_of(world, box[n]);
        assert_near(d.pose.position.y, 0.25 + 0.5 * n, 3e-3);
        assert_near(d.pose.position.x, 0.03 * (n & 1), 5e-3);
        assert_true(length_of(d.velocity) < 5e-3);
    }
    lm_world_destroy(world);
}

/* --- joints --- */

/* A rod on a ball joint at its end: T = 2 pi sqrt(2 l / 3 g) for small swings. */
static void a_rod_is_a_pendulum(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 16));
    lm_mover_id rod = make_mover(world, ref_v(0, -0.5, 0), 2.0, LM_SHAPE_BOX, (lm_vec3){0.005f, 0.5f, 0.005f});
    lm_joint_def def = lm_joint_def_default();
    lm_joint_id joint;
    def.kind = LM_JOINT_BALL;
    def.b.mover = rod;
    assert_ok(lm_joint_create(world, &def, &joint));
    assert_ok(lm_mover_apply_impulse(world, rod, (lm_vec3){0.02f, 0, 0}, (lm_dvec3){0, -1, 0}));
    double last = 0.0, crossed[2] = {0};
    int count = 0;
    for (int n = 0; n < 600; n++) {
        double before = def_of(world, rod).pose.position.x;
        steps(world, 1);
        double now = def_of(world, rod).pose.position.x;
        if (before < 0.0 && now >= 0.0) {
            last = (n + before / (before - now)) / 60.0;
            crossed[count == 0 ? 0 : 1] = last;
            count++;
        }
    }
    assert_true(count >= 4);
    assert_near((crossed[1] - crossed[0]) / (count - 1), 2.0 * 3.14159265358979 * sqrt(2.0 / 3.0 / 9.81), 0.01);
    lm_joint_state state;
    assert_ok(lm_joint_get_state(world, joint, &state));
    assert_true(state.apart < 1e-3f);
    lm_world_destroy(world);
}

/* A chain of movers that ends in a soft body hangs, and bears what hangs on it. */
static void chains_bear_their_weight(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 4));
    lm_mover_id last = {0, 0};
    lm_joint_id first = {0, 0};
    for (int n = 0; n < 6; n++) {
        lm_mover_id link =
            make_mover(world, ref_v(0, -0.25 - 0.5 * n, 0), 1.0, LM_SHAPE_BOX, (lm_vec3){0.05f, 0.25f, 0.05f});
        lm_joint_def def = lm_joint_def_default();
        lm_joint_id joint;
        def.kind = LM_JOINT_BALL;
        def.a.mover = last;
        def.b.mover = link;
        def.a.anchor = def.b.anchor = (lm_dvec3){0, -0.5 * n, 0};
        assert_ok(lm_joint_create(world, &def, &joint));
        first = n == 0 ? joint : first;
        last = link;
    }
    lm_body_id body = make_block(world, ref_v(0, -3.2, 0), 4, 0.4, 2.0, 30.0);
    lm_joint_def def = lm_joint_def_default();
    lm_joint_id joint;
    def.kind = LM_JOINT_GLUE;
    def.a.mover = last;
    def.b.body = body;
    def.a.anchor = def.b.anchor = (lm_dvec3){0, -3.0, 0};
    def.b.radius = 0.25f;
    assert_ok(lm_joint_create(world, &def, &joint));
    steps(world, 600);
    lm_joint_state state;
    assert_ok(lm_joint_get_state(world, first, &state));
    assert_near(state.force.y, 8.0 * 9.81, 0.02 * 8.0 * 9.81);
    assert_true(state.apart < 1e-3f);
    assert_near(def_of(world, last).pose.position.y, -2.75, 2e-3);
    lm_world_destroy(world);
}

/* --- sleep, snapshots, bits --- */

static lm_world *make_heap(lm_isa isa, uint32_t workers, lm_mover_id *mover, lm_body_id *body)
{
    lm_world *world = make_world_with(-9.81, isa, workers);
    assert_ok(lm_world_set_substeps(world, 4));
    add_floor(world, 0.0);
    *body = make_block(world, ref_v(0, 0.5, 0), 6, 1.0, 30.0, 20.0);
    mover[0] = make_mover(world, ref_v(0.02, 1.22, 0), 10.0, LM_SHAPE_BOX, (lm_vec3){0.45f, 0.2f, 0.45f});
    mover[1] = make_mover(world, ref_v(0.0, 1.65, 0.02), 5.0, LM_SHAPE_BOX, (lm_vec3){0.2f, 0.2f, 0.2f});
    mover[2] = make_mover(world, ref_v(1.4, 0.6, 0.1), 5.0, LM_SHAPE_CAPSULE, (lm_vec3){0.2f, 0.2f, 0.2f});
    return world;
}

static void they_sleep_and_wake(void **context)
{
    (void)context;
    lm_mover_id mover[3];
    lm_body_id body;
    lm_world *world = make_heap(LM_ISA_BEST, 1, mover, &body);
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    assert_ok(lm_world_set_sleep(world, &sleep));
    steps(world, 600);
    assert_true(!lm_mover_is_awake(world, mover[0]) && !lm_mover_is_awake(world, mover[1]));
    assert_true(!lm_body_is_awake(world, body));
    uint64_t hash = lm_world_hash(world);
    assert_reloads(world, 5);
    steps(world, 10);
    assert_true(lm_world_hash(world) == hash); /* nothing moves */
    assert_ok(lm_mover_apply_impulse(world, mover[1], (lm_vec3){2, 0, 0}, (lm_dvec3){0, 1.6, 0}));
    assert_true(lm_mover_is_awake(world, mover[0]) && lm_body_is_awake(world, body)); /* one island */
    steps(world, 600);
    assert_true(!lm_mover_is_awake(world, mover[1]));
    assert_ok(lm_body_destroy(world, body)); /* what lay on it falls */
    assert_true(lm_mover_is_awake(world, mover[0]));
    steps(world, 120);
    assert_true(def_of(world, mover[0]).pose.position.y < 0.5);
    lm_world_destroy(world);
}

static void snapshots_keep_them(void **context)
{
    (void)context;
    lm_mover_id mover[3];
    lm_body_id body;
    lm_world *world = make_heap(LM_ISA_BEST, 1, mover, &body);
    steps(world, 40);
    assert_reloads(world, 40);
    size_t size = lm_world_state_size(world), used;
    void *state = malloc(size);
    assert_ok(lm_world_save_state(world, state, size, &used));
    steps(world, 60);
    uint64_t hash = lm_world_hash(world);
    assert_ok(lm_world_load_state(world, state, used));
    assert_true(lm_world_hash(world) != hash);
    steps(world, 60);
    assert_true(lm_world_hash(world) == hash);
    free(state);
    lm_world_destroy(world);
}

/* Eight frames back in every frame: the same hash as without. */
static void they_roll_back(void **context)
{
    (void)context;
    enum { BACK = 8, FRAMES = 60 };
    lm_mover_id mover[3];
    lm_body_id body;
    lm_world *world = make_heap(LM_ISA_BEST, 1, mover, &body), *plain = make_heap(LM_ISA_BEST, 1, mover, &body);
    size_t size = lm_world_state_size(world) + 65536, used[BACK];
    unsigned char *states = malloc(BACK * size);
    for (int n = 0; n < FRAMES; n++) {
        if (n >= BACK) {
            assert_ok(lm_world_load_state(world, states + (size_t)(n % BACK) * size, used[n % BACK]));
            for (int k = n - BACK; k < n; k++) {
                assert_ok(lm_world_save_state(world, states + (size_t)(k % BACK) * size, size, &used[k % BACK]));
                steps(world, 1);
            }
        }
        assert_ok(lm_world_save_state(world, states + (size_t)(n % BACK) * size, size, &used[n % BACK]));
        steps(world, 1);
        steps(plain, 1);
        assert_true(lm_world_hash(world) == lm_world_hash(plain));
    }
    free(states);
    lm_world_destroy(world);
    lm_world_destroy(plain);
}

static void results_are_the_same_everywhere(void **context)
{
    (void)context;
    uint64_t first = 0;
    for (int isa = LM_ISA_BEST; isa < LM_ISA_COUNT; isa++) {
        for (uint32_t workers = 1; workers <= 5 && lm_isa_supported((lm_isa)isa); workers += 4) {
            lm_mover_id mover[3];
            lm_body_id body;
            lm_world *world = make_heap((lm_isa)isa, workers, mover, &body);
            steps(world, 90);
            uint64_t hash = lm_world_hash(world);
            first = first ? first : hash;
            assert_true(hash == first);
            lm_world_destroy(world);
        }
    }
}

static void setters_and_what_is_refused(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_mover_id mover = make_mover(world, ref_v(0, 5, 0), 2.0, LM_SHAPE_BOX, (lm_vec3){0.5f, 0.5f, 0.5f}), wrong;
    lm_body_id body = make_block(world, ref_v(3, 0, 0), 3, 1.0, 1.0, 10.0);
    lm_mover_def def = lm_mover_def_default();
    def.mass = -1.0f;
    assert_result(lm_mover_create(world, &def, &wrong), LM_ERROR_ARGUMENT);
    def.mass = NAN;
    assert_result(lm_mover_create(world, &def, &wrong), LM_ERROR_ARGUMENT);
    def.mass = 1.0f;
    def.inertia = (lm_vec3){1.0f, 1.0f, 3.0f}; /* no solid has these */
    assert_result(lm_mover_create(world, &def, &wrong), LM_ERROR_ARGUMENT);
    assert_result(lm_mover_set_mass(world, mover, -2.0f, (lm_vec3){0, 0, 0}), LM_ERROR_ARGUMENT);
    assert_result(lm_mover_set_mass(world, mover, 2.0f, (lm_vec3){1, 0, 0}), LM_ERROR_ARGUMENT);
    assert_result(lm_mover_move_to(world, mover, lm_pose_identity()), LM_ERROR_ARGUMENT);
    assert_result(lm_mover_apply_impulse(world, mover, (lm_vec3){NAN, 0, 0}, lm_dvec3_zero()), LM_ERROR_ARGUMENT);
    assert_true(def_of(world, mover).mass == 2.0f && def_of(world, mover).inertia.x == 0.0f);
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id pin_id;
    uint32_t particle = 0;
    pin.body = body;
    pin.particles = &particle;
    pin.particle_count = 1;
    pin.mover = mover;
    assert_ok(lm_mover_set_mass(world, mover, 4.0f, (lm_vec3){1, 2, 2.5f}));
    assert_true(def_of(world, mover).mass == 4.0f && def_of(world, mover).inertia.z == 2.5f);
    assert_ok(lm_mover_set_may_sleep(world, mover, false));
    assert_true(!def_of(world, mover).may_sleep);
    assert_reloads(world, 2);
    assert_true(def_of(world, mover).mass == 4.0f && def_of(world, mover).inertia.y == 2.0f);
    assert_ok(lm_mover_set_velocity(world, mover, (lm_vec3){0, 0, 0}, (lm_vec3){0, 0, 0}));
    lm_dvec3 at = def_of(world, mover).pose.position;
    at.x += 1.0;
    assert_ok(lm_mover_apply_impulse(world, mover, (lm_vec3){0, 0, 2}, at)); /* spin: 1 m x 2 N s / 2 kg m² about -y */
    assert_near(def_of(world, mover).velocity.z, 0.5, 1e-6);
    assert_near(def_of(world, mover).spin.y, -1.0, 1e-5);
    lm_joint_def joint = lm_joint_def_default();
    lm_joint_id id;
    joint.a.mover = joint.b.mover = mover;
    assert_result(lm_joint_create(world, &joint, &id), LM_ERROR_ARGUMENT);
    assert_ok(lm_mover_set_mass(world, mover, 0.0f, (lm_vec3){0, 0, 0})); /* it goes on as it moves */
    assert_ok(lm_pin_create(world, &pin, &pin_id));
    assert_result(lm_mover_apply_impulse(world, mover, (lm_vec3){1, 0, 0}, lm_dvec3_zero()), LM_ERROR_ARGUMENT);
    steps(world, 60);
    assert_near(def_of(world, mover).velocity.y, 0.0, 1e-6);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_fall_roll_and_slide),
        cmocka_unit_test(a_free_box_keeps_its_momentum_and_energy),
        cmocka_unit_test(momentum_and_spin_are_kept),
        cmocka_unit_test(the_ground_bears_all),
        cmocka_unit_test(masses_may_differ),
        cmocka_unit_test(shapes_stand_on_each_other),
        cmocka_unit_test(boxes_stack),
        cmocka_unit_test(a_rod_is_a_pendulum),
        cmocka_unit_test(chains_bear_their_weight),
        cmocka_unit_test(they_sleep_and_wake),
        cmocka_unit_test(snapshots_keep_them),
        cmocka_unit_test(they_roll_back),
        cmocka_unit_test(results_are_the_same_everywhere),
        cmocka_unit_test(setters_and_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
