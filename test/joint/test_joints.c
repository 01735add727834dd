/*
 * Joints: against closed forms of pendulums, springs and chains; momentum and spin; breaking; what is refused; snapshots and rollback in
 * the middle of a motion; the same bits everywhere.
 */
#include "test/lattice/lattice_cells.h"

#include <math.h>
#include <string.h>

/* A bar of 6 x 2 x 2 points along x, 0.1 m apart, one kilogram. */
static lm_body_id make_bar(lm_world *world, ref_vec at, double hertz)
{
    lm_vec3 *points = grid_points(6, 2, 2, 0.1);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = 24;
    def.mass = 1.0f;
    def.pose.position = to_dvec3(at);
    if (hertz > 0.0) {
        def.material.hertz = (float)hertz;
        def.material.damping_ratio = hertz > 50.0 ? 3.0f : 0.3f;
    } else {
        def.material.stiffness = LM_STIFFNESS_ALPHA;
        def.material.alpha = 1.0f;
        def.material.damping = 0.5f;
    }
    lm_body_id body = make_body(world, &def);
    free(points);
    return body;
}

static lm_joint_id join(lm_world *world, lm_joint_def def)
{
    lm_joint_id joint;
    assert_ok(lm_joint_create(world, &def, &joint));
    return joint;
}

/* A joint of b (a body) to a (a body, or nothing) at one point. */
static lm_joint_def joint_at(lm_joint_kind kind, lm_body_id a, lm_body_id b, ref_vec at)
{
    lm_joint_def def = lm_joint_def_default();
    def.kind = kind;
    def.a.body = a;
    def.b.body = b;
    def.a.anchor = def.b.anchor = to_dvec3(at);
    return def;
}

static const lm_body_id nobody = {0, 0};

static lm_joint_state state_of(const lm_world *world, lm_joint_id joint)
{
    lm_joint_state state;
    assert_ok(lm_joint_get_state(world, joint, &state));
    return state;
}

/* --- momentum and spin --- */

typedef struct sums {
    ref_vec momentum, angular; /* about the origin */
    double scale, spin_scale;
} sums;

static sums sums_of(const lm_world *world, const lm_body_id *bodies, int count)
{
    sums s = {ref_v(0, 0, 0), ref_v(0, 0, 0), 0.0, 0.0};
    for (int n = 0; n < count; n++) {
        body_state state = state_read(world, bodies[n], lm_dvec3_zero());
        for (uint32_t i = 0; i < state.count; i++) {
            ref_vec p = ref_scale(state.mass[i], state.v[i]);
            s.momentum = ref_add(s.momentum, p);
            s.angular = ref_add(s.angular, ref_cross(state.x[i], p));
            s.scale += ref_length(p);
            s.spin_scale += ref_length(state.x[i]) * ref_length(p);
        }
        state_free(&state);
    }
    return s;
}

static void momentum_and_spin_are_kept(void **context)
{
    (void)context;
    for (int kind = 0; kind < LM_JOINT_KIND_COUNT; kind++) {
        for (int soft = 0; soft < 2; soft++) {
            lm_world *world = make_world(0.0);
            assert_ok(lm_world_set_substeps(world, 4));
            random_state random = {(uint64_t)(11 + kind)};
            lm_body_id bodies[3];
            for (int n = 0; n < 3; n++) {
                bodies[n] = make_bar(world, ref_v(0.6 * n, 0.02 * n, 0), 12.0);
                excite(world, bodies[n], &random, 0.0, 0.3, 2.0);
            }
            for (int n = 0; n < 2; n++) {
                body_state state = state_read(world, bodies[n], lm_dvec3_zero());
                lm_joint_def def = joint_at((lm_joint_kind)kind, bodies[n], bodies[n + 1], state.x[20]);
                def.hertz = soft ? 3.0f : 0.0f;
                def.a.radius = 0.15f;
                join(world, def);
                state_free(&state);
            }
            sums before = sums_of(world, bodies, 3);
            double worst = 0.0, spin = 0.0;
            for (int frame = 0; frame < 120; frame++) {
                steps(world, 1);
                sums now = sums_of(world, bodies, 3);
                worst = fmax(worst, ref_length(ref_sub(now.momentum, before.momentum)) / now.scale);
                spin = fmax(spin, ref_length(ref_sub(now.angular, before.angular)) / now.spin_scale);
            }
            assert_at_most(worst, 1e-5);
            assert_at_most(spin, 1e-5);
            lm_world_destroy(world);
        }
    }
}

/* --- what each kind holds and leaves free --- */

/* Two bars in a row, thrown about while one is held by the joint's other end in the world. */
static void kinds_hold_what_they_say(void **context)
{
    (void)context;
    for (int kind = 0; kind < LM_JOINT_KIND_COUNT; kind++) {
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 8));
        lm_body_id body = make_bar(world, ref_v(0, 0, 0), 0.0);
        lm_joint_def def = joint_at((lm_joint_kind)kind, nobody, body, ref_v(-0.25, 0, 0));
        def.b.radius = INFINITY;
        def.axis = kind == LM_JOINT_SLIDER ? (lm_vec3){0, 1, 0} : (lm_vec3){0, 0, 1};
        if (kind == LM_JOINT_DISTANCE) def.a.anchor.y = 0.5;
        lm_joint_id joint = join(world, def);
        assert_ok(lm_body_set_velocity(world, body, (lm_vec3){0, 0, 0}, (lm_vec3){0.5f, 0.2f, 1.0f}));
        double apart = 0.0, turned = 0.0, fell = 0.0, swung = 0.0;
        for (int frame = 0; frame < 60; frame++) {
            steps(world, 1);
            lm_joint_state s = state_of(world, joint);
            apart = fmax(apart, s.apart);
            turned = fmax(turned, s.turned);
            fell = fmax(fell, -s.anchor[1].y);
            swung = fmax(swung, -body_centre(world, body).y);
        }
        assert_at_most(apart, 0.002);
        assert_at_most(turned, 3.14159 / 180.0);
        bool slides = kind == LM_JOINT_SLIDER, hangs = kind == LM_JOINT_BALL || kind == LM_JOINT_HINGE;
        if (slides) assert_near(fell, 0.5 * 9.81, 0.1); /* free fall of one second */
        if (kind == LM_JOINT_GLUE) assert_at_most(swung, 0.01);
        if (hangs) assert_near(swung, 0.25, 0.02);
        lm_world_destroy(world);
    }
}

/* A rigid bar on a hinge at its end swings with the period of a physical pendulum, 2 pi sqrt(I / (m g d)). */
static void a_hinged_bar_is_a_pendulum(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 16));
    lm_body_id body = make_bar(world, ref_v(0, 0, 0), 0.0);
    /* Hanging down along y, a little out of the vertical. */
    lm_pose pose = {{0, 0, 0}, quaternion(ref_v(0, 0, -1.5707963 + 0.1))};
    assert_ok(lm_body_set_pose(world, body, pose, true));
    ref_vec end = ref_v(-0.25 * sin(0.1), 0.25 * cos(0.1), 0);
    lm_joint_def def = joint_at(LM_JOINT_HINGE, nobody, body, end);
    def.b.radius = INFINITY;
    join(world, def);
    double inertia = 0.0; /* about the end */
    for (int n = 0; n < 6; n++) inertia += (4.0 / 24.0) * (pow(0.1 * n, 2) + 0.05 * 0.05);
    double period = 2.0 * 3.14159265 * sqrt(inertia / (9.81 * 0.25)), last = -1.0, first = -1.0, before = 0.0;
    int crossings = 0;
    for (int frame = 0; frame < 600; frame++) {
        steps(world, 1);
        double now = body_centre(world, body).x - end.x;
        if (frame > 0 && before < 0.0 && now >= 0.0) {
            double t = frame + before / (before - now);
            first = first < 0.0 ? t : first;
            last = t;
            crossings++;
        }
        before = now;
    }
    assert_true(crossings > 4);
    assert_near((last - first) * FRAME / (crossings - 1), period, 0.01 * period);
    lm_world_destroy(world);
}

/* A body on a spring to the world rings at its hertz, and sinks by g / omega². */
static void a_soft_joint_rings_at_its_hertz(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 32));
    lm_body_id body = make_bar(world, ref_v(0, 0, 0), 0.0);
    lm_joint_def def = joint_at(LM_JOINT_BALL, nobody, body, ref_v(0, 0, 0));
    def.b.radius = INFINITY;
    def.hertz = 1.5f;
    def.damping_ratio = 0.05f;
    lm_joint_id joint = join(world, def);
    double sag = 9.81 / pow(2.0 * 3.14159265 * 1.5, 2), before = 0.0, first = -1.0, last = -1.0;
    int crossings = 0;
    for (int frame = 0; frame < 240; frame++) {
        steps(world, 1);
        double now = body_centre(world, body).y + sag;
        if (frame > 0 && before < 0.0 && now >= 0.0) {
            double t = frame + before / (before - now);
            first = first < 0.0 ? t : first;
            last = t;
            crossings++;
        }
        before = now;
    }
    assert_true(crossings >= 4);
    assert_near((crossings - 1) / ((last - first) * FRAME), 1.5, 0.03);
    assert_ok(lm_joint_set_spring(world, joint, 1.5f, 1.0f));
    steps(world, 300);
    assert_near(body_centre(world, body).y, -sag, 0.001 * sag + 1e-4);
    assert_near(state_of(world, joint).force.y, 9.81, 0.01);
    lm_world_destroy(world);
}

/* --- chains --- */

static void hang_chain(int links, double hertz, double seconds, double *drift, double *apart, double *speed)
{
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 8));
    lm_body_id last = nobody;
    lm_joint_id *joints = calloc((size_t)links, sizeof *joints);
    lm_pose down = {{0, 0, 0}, quaternion(ref_v(0, 0, -1.5707963))};
    for (int n = 0; n < links; n++) {
        lm_body_id body = make_bar(world, ref_v(0, 0, 0), hertz);
        down.position.y = -0.5 * n - 0.25;
        assert_ok(lm_body_set_pose(world, body, down, true));
        lm_joint_def def = joint_at(LM_JOINT_BALL, last, body, ref_v(0, -0.5 * n, 0));
        def.a.radius = def.b.radius = hertz > 0.0 ? 0.15f : INFINITY;
        joints[n] = join(world, def);
        last = body;
    }
    steps(world, hertz > 0.0 ? 2400 : 120); /* until it hangs */
    lm_dvec3 start = body_centre(world, last);
    *drift = *apart = 0.0;
    for (int frame = 0; frame < (int)(60 * seconds); frame += 60) {
        steps(world, 60);
        lm_dvec3 now = body_centre(world, last);
        *drift = fmax(*drift, hypot(hypot(now.x - start.x, now.y - start.y), now.z - start.z));
    }
    for (int n = 0; n < links; n++) *apart = fmax(*apart, state_of(world, joints[n]).apart);
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    *speed = totals.max_speed;
    free(joints);
    lm_world_destroy(world);
}

static void chains_hang_still(void **context)
{
    (void)context;
    const struct {
        int links;
        double hertz;
    } chains[] = {{20, 60.0}, {20, 0.0}, {100, 0.0}};
    for (int n = 0; n < 3; n++) {
        double drift, apart, speed,
            seconds = chains[n].links == 20 ? (test_is_long() ? 60.0 : test_tries(10, 1)) : test_tries(3, 1);
        hang_chain(chains[n].links, chains[n].hertz, seconds, &drift, &apart, &speed);
        print_message("chain of %d at %g Hz: drift %g m, apart %g m, speed %g m/s\n", chains[n].links, chains[n].hertz,
                      drift, apart, speed);
        assert_at_most(drift, 0.01 * 0.5);
        assert_at_most(apart, 0.01 * 0.5);
    }
}

/* --- reactions, and breaking --- */

/* A force that grows by 2 newtons a second breaks a joint within 5 % of its strength. */
static void joints_break_at_their_strength(void **context)
{
    (void)context;
    for (int torque = 0; torque < 2; torque++) {
        lm_world *world = make_world(0.0);
        assert_ok(lm_world_set_substeps(world, 4));
        lm_body_id body = make_bar(world, ref_v(0, 0, 0), 12.0);
        lm_joint_def def = joint_at(LM_JOINT_GLUE, nobody, body, ref_v(-0.25, 0, 0));
        def.b.radius = 0.25f;
        *(torque ? &def.max_torque : &def.max_force) = 5.0f;
        lm_joint_id joint = join(world, def);
        double force = 0.0, moment = 0.0;
        uint32_t broken = 0;
        for (int frame = 0; frame < 1200 && !broken; frame++) {
            force = 2.0 * frame * FRAME;
            assert_ok(lm_body_add_force(world, body, (lm_vec3){0, (float)force, 0}));
            steps(world, 1);
            lm_joint_id id;
            broken = lm_world_get_broken_joints(world, &id, 1);
            lm_joint_state s = state_of(world, joint);
            moment = force * (body_centre(world, body).x - s.anchor[1].x);
            if (!broken) assert_near(s.force.y, -force, 0.05 * force + 0.05);
        }
        assert_int_equal(broken, 1);
        assert_near(torque ? moment : force, 5.0, 0.25);
        lm_joint_info info;
        assert_ok(lm_joint_get_info(world, joint, &info));
        assert_true(info.broken && !info.enabled);
        steps(world, 1);
        assert_int_equal(lm_world_get_broken_joints(world, NULL, 0), 0);
        assert_ok(lm_joint_set_enabled(world, joint, true)); /* mended */
        assert_ok(lm_joint_get_info(world, joint, &info));
        assert_true(!info.broken && info.enabled);
        lm_world_destroy(world);
    }
}

/* A mover that swings a body about gets what the joint says, and a body hung on it pulls with its weight. */
static void movers_feel_their_joints(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_mover_def mover_def = lm_mover_def_default();
    lm_mover_id mover;
    mover_def.pose.position = (lm_dvec3){0.1, 0.5, 0};
    assert_ok(lm_mover_create(world, &mover_def, &mover));
    lm_body_id body = make_bar(world, ref_v(0, 0, 0), 20.0);
    lm_joint_def def = joint_at(LM_JOINT_BALL, nobody, body, ref_v(0, 0.05, 0));
    def.a.mover = mover;
    def.b.radius = 0.2f;
    lm_joint_id joint = join(world, def);
    lm_wrench w;
    steps(world, 600);
    assert_ok(lm_mover_get_wrench(world, mover, &w, NULL));
    assert_near(w.impulse.y, -9.81 * FRAME, 0.01 * 9.81 * FRAME);
    assert_near(state_of(world, joint).force.y, 9.81, 0.1);
    lm_pose up = {{0.1, 1.5, 0}, {0, 0, 0, 1}};
    double most = 0.0;
    for (int frame = 0; frame < 60; frame++) {
        up.position.y = 0.5 + (frame + 1) / 60.0;
        assert_ok(lm_mover_move_to(world, mover, up));
        steps(world, 1);
        most = fmax(most, state_of(world, joint).apart);
    }
    assert_at_most(most, 3e-4);
    assert_ok(lm_mover_destroy(world, mover)); /* it hangs where it is */
    steps(world, 300);
    assert_near(state_of(world, joint).anchor[1].y, 1.05, 1e-3);
    lm_world_destroy(world);
}

/* A bar that is held at one end is drawn out to 8 m at the other, by glue on a mover that goes away at 2 m/s and turns. Its own
 * oscillation, of at most 8 Hz and 8 m, has 400 m/s. When the work of a spring was not that of the frame that it holds, particles had
 * the largest speed there is. */
static void a_bar_that_is_drawn_out_gains_nothing(void **context)
{
    (void)context;
    double worst = 0.0;
    for (int n = 0; n < 24; n++) {
        static const uint32_t held[4] = {0, 6, 12, 18};
        lm_world *world = make_world(0.0);
        assert_ok(lm_world_set_substeps(world, 1 + (uint32_t)n % 2));
        lm_body_id bar = make_bar(world, ref_v(0, 0, 0), 8.0);
        lm_material material;
        assert_ok(lm_body_get_material(world, bar, &material));
        material.mode = n & 2 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        material.beta = 0.7f;
        material.hertz = n & 4 ? 8.0f : 2.0f;
        assert_ok(lm_body_set_material(world, bar, &material));
        lm_pin_def pin = lm_pin_def_default();
        lm_pin_id pin_id;
        pin.body = bar;
        pin.particles = held;
        pin.particle_count = 4;
        assert_ok(lm_pin_create(world, &pin, &pin_id));
        lm_mover_def mover = lm_mover_def_default();
        lm_joint_def def = joint_at(LM_JOINT_GLUE, nobody, bar, ref_v(0.25, 0.05, 0.05));
        assert_ok(lm_mover_create(world, &mover, &def.a.mover));
        assert_ok(
            lm_mover_set_velocity(world, def.a.mover, (lm_vec3){1.6f, -1.0f, -0.9f}, (lm_vec3){-0.3f, 2.0f, -1.6f}));
        def.hertz = (float)(20 + 20 * (n / 8));
        def.damping_ratio = 1.6f;
        join(world, def);
        double fastest = 0.0;
        for (int frame = 0; frame < 240; frame++) {
            steps(world, 1);
            lm_body_info info;
            assert_ok(lm_body_get_info(world, bar, &info));
            fastest = fmax(fastest, info.max_speed);
        }
        worst = fmax(worst, fastest);
        lm_world_destroy(world);
    }
    assert_at_most(worst, 150.0);
}

/* A tonne that hangs on a kilogram, and the other way round. */
static void masses_may_differ(void **context)
{
    (void)context;
    for (int heavy = 0; heavy < 2; heavy++) {
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 8));
        lm_body_id bodies[2];
        for (int n = 0; n < 2; n++) {
            bodies[n] = make_bar(world, ref_v(0, -0.3 * n, 0), 0.0);
            if (n == heavy) {
                float masses[24];
                for (int i = 0; i < 24; i++) masses[i] = 1000.0f / 24.0f;
                assert_ok(lm_body_set_masses(world, bodies[n], masses));
            }
        }
        for (int n = 0; n < 2; n++) {
            lm_joint_def def = joint_at(LM_JOINT_BALL, n ? bodies[0] : nobody, bodies[n], ref_v(0, -0.3 * n + 0.15, 0));
            def.a.radius = def.b.radius = INFINITY;
            join(world, def);
        }
        lm_totals totals;
        double fastest = 0.0;
        for (int frame = 0; frame < 300; frame++) {
            steps(world, 1);
            lm_world_get_totals(world, &totals);
            fastest = fmax(fastest, totals.max_speed);
        }
        assert_true(totals.finite);
        assert_at_most(fastest, 0.2);
        assert_near(body_centre(world, bodies[1]).y, -0.3, 0.01);
        lm_world_destroy(world);
    }
}

/* --- snapshots, rollback, sleep, sameness --- */

static lm_world *make_mixed(lm_isa isa, uint32_t workers)
{
    lm_world *world = make_world_with(-9.81, isa, workers);
    assert_ok(lm_world_set_substeps(world, 2));
    lm_body_id last = nobody;
    for (int n = 0; n < 8; n++) {
        lm_body_id body = make_bar(world, ref_v(0.5 * n + 0.25, 0, 0), n % 3 ? 10.0 : 0.0);
        lm_joint_def def = joint_at((lm_joint_kind)(n % LM_JOINT_KIND_COUNT), last, body, ref_v(0.5 * n, 0, 0));
        def.hertz = n % 2 ? 4.0f : 0.0f;
        def.max_force = 1e6f;
        def.user_data = (uint64_t)n;
        join(world, def);
        last = body;
    }
    return world;
}

static void snapshots_keep_joints(void **context)
{
    (void)context;
    lm_world *world = make_mixed(LM_ISA_BEST, 1);
    steps(world, 10);
    assert_reloads(world, 30);
    size_t size = lm_world_state_size(world), used;
    void *state = malloc(size);
    assert_ok(lm_world_save_state(world, state, size, &used));
    lm_joint_id ids[8];
    lm_joint_info info;
    assert_int_equal(lm_world_get_joints(world, ids, 8), 8);
    assert_ok(lm_joint_set_strength(world, ids[5], 0.01f, 1e6f));
    steps(world, 60);
    uint64_t hash = lm_world_hash(world);
    assert_ok(lm_joint_get_info(world, ids[5], &info));
    assert_true(info.broken && info.user_data == 5);
    assert_ok(lm_joint_set_spring(world, ids[2], 1.0f, 0.0f));
    assert_ok(lm_world_load_state(world, state, used));
    assert_ok(lm_joint_get_info(world, ids[5], &info));
    assert_true(!info.broken && info.max_force == 1e6f);
    assert_ok(lm_joint_set_strength(world, ids[5], 0.01f, 1e6f));
    steps(world, 60);
    assert_true(lm_world_hash(world) == hash);
    assert_reloads(world, 5); /* with one that has broken */
    assert_ok(lm_joint_get_info(world, ids[5], &info));
    assert_true(info.broken);
    assert_ok(lm_joint_destroy(world, ids[0]));
    assert_result(lm_world_load_state(world, state, used), LM_ERROR_ARGUMENT); /* another structure */
    free(state);
    lm_world_destroy(world);
}

static void results_are_the_same_everywhere(void **context)
{
    (void)context;
    uint64_t first = 0;
    for (int isa = LM_ISA_BEST; isa < LM_ISA_COUNT; isa++) {
        for (uint32_t workers = 1; workers <= 5 && lm_isa_supported((lm_isa)isa); workers += 4) {
            lm_world *world = make_mixed((lm_isa)isa, workers);
            steps(world, 60);
            uint64_t hash = lm_world_hash(world);
            first = first ? first : hash;
            assert_true(hash == first);
            lm_world_destroy(world);
        }
    }
}

static void joined_bodies_sleep_and_wake_together(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 4));
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    assert_ok(lm_world_set_sleep(world, &sleep));
    lm_body_id a = make_bar(world, ref_v(0, 0, 0), 0.0), b = make_bar(world, ref_v(0, -0.3, 0), 0.0);
    lm_joint_def def = joint_at(LM_JOINT_GLUE, nobody, a, ref_v(0, 0, 0));
    def.a.radius = def.b.radius = INFINITY;
    join(world, def);
    def = joint_at(LM_JOINT_GLUE, a, b, ref_v(0, -0.15, 0));
    def.a.radius = def.b.radius = INFINITY;
    lm_joint_id second = join(world, def);
    steps(world, 240);
    assert_true(!lm_body_is_awake(world, a) && !lm_body_is_awake(world, b));
    assert_ok(lm_body_wake(world, a));
    assert_true(lm_body_is_awake(world, b));
    steps(world, 240);
    assert_true(!lm_body_is_awake(world, b));
    assert_ok(lm_joint_destroy(world, second)); /* b falls, a stays */
    assert_true(lm_body_is_awake(world, b));
    steps(world, 60);
    assert_true(body_centre(world, b).y < -2.0);
    assert_near(body_centre(world, a).y, 0.0, 0.01);
    lm_world_destroy(world);
}

/* --- what is refused --- */

static void wrong_joints_are_refused(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_bar(world, ref_v(0, 0, 0), 8.0), other = make_bar(world, ref_v(0.6, 0, 0), 8.0);
    lm_joint_id joint;
    uint64_t structure = lm_world_structure(world);
    lm_joint_def good = joint_at(LM_JOINT_HINGE, body, other, ref_v(0.3, 0, 0)), def;
    const uint32_t line[3] = {0, 1, 2}, twice[2] = {1, 1}, beyond[1] = {24};
#define REFUSED(change, result)                                                                                        \
    def = good;                                                                                                        \
    change;                                                                                                            \
    assert_result(lm_joint_create(world, &def, &joint), result);                                                       \
    assert_int_equal(joint.slot, 0)
    REFUSED(def.cookie = 0, LM_ERROR_ARGUMENT);
    REFUSED(def.kind = LM_JOINT_KIND_COUNT, LM_ERROR_ARGUMENT);
    REFUSED(def.a.body = def.b.body = nobody, LM_ERROR_ARGUMENT);
    REFUSED(def.a.body.generation += 2, LM_ERROR_ID);
    REFUSED(def.a.body = nobody; def.a.mover = ((lm_mover_id){3, 1}), LM_ERROR_ID);
    REFUSED(def.a.body = nobody; def.a.skeleton = ((lm_skeleton_id){3, 1}), LM_ERROR_ID);
    REFUSED(def.a.anchor.x = NAN, LM_ERROR_ARGUMENT);
    REFUSED(def.axis = ((lm_vec3){0, 0, 0}), LM_ERROR_ARGUMENT);
    REFUSED(def.axis.x = INFINITY, LM_ERROR_ARGUMENT);
    REFUSED(def.hertz = -1.0f, LM_ERROR_ARGUMENT);
    REFUSED(def.damping_ratio = NAN, LM_ERROR_ARGUMENT);
    REFUSED(def.max_force = 0.0f, LM_ERROR_ARGUMENT);
    REFUSED(def.max_torque = -1.0f, LM_ERROR_ARGUMENT);
    REFUSED(def.length = 2e9f, LM_ERROR_ARGUMENT);
    REFUSED(def.a.radius = -1.0f, LM_ERROR_ARGUMENT);
    REFUSED(def.a.particles = line; def.a.particle_count = 0, LM_ERROR_ARGUMENT);
    REFUSED(def.a.particles = twice; def.a.particle_count = 2, LM_ERROR_ARGUMENT);
    REFUSED(def.a.particles = beyond; def.a.particle_count = 1, LM_ERROR_ARGUMENT);
    REFUSED(def.a.particles = line; def.a.particle_count = 3, LM_ERROR_ARGUMENT); /* no angle to keep */
    REFUSED(def.b.body = body, LM_ERROR_ARGUMENT);                                /* the same patch */
#undef REFUSED
    assert_true(lm_world_structure(world) == structure);
    joint = join(world, good);
    assert_result(lm_joint_set_spring(world, joint, -1.0f, 1.0f), LM_ERROR_ARGUMENT);
    assert_result(lm_joint_set_strength(world, joint, 1.0f, 0.0f), LM_ERROR_ARGUMENT);
    assert_result(lm_joint_set_length(world, joint, -1.0f), LM_ERROR_ARGUMENT);
    lm_joint_info info;
    uint32_t particles[24];
    assert_ok(lm_joint_get_info(world, joint, &info));
    assert_true(info.kind == LM_JOINT_HINGE && info.hertz == 0.0f && info.max_torque > 1e30f && info.enabled);
    assert_true(info.particles[0] >= 8 && info.particles[0] < 24 && info.body[1].slot == other.slot);
    assert_ok(lm_joint_get_particles(world, joint, 0, particles));
    assert_result(lm_joint_get_particles(world, joint, 2, particles), LM_ERROR_ARGUMENT);
    assert_ok(lm_body_destroy(world, other)); /* takes it along */
    assert_result(lm_joint_get_info(world, joint, &info), LM_ERROR_ID);
    assert_result(lm_joint_destroy(world, joint), LM_ERROR_ID);
    steps(world, 2);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_and_spin_are_kept),
        cmocka_unit_test(kinds_hold_what_they_say),
        cmocka_unit_test(a_hinged_bar_is_a_pendulum),
        cmocka_unit_test(a_soft_joint_rings_at_its_hertz),
        cmocka_unit_test(chains_hang_still),
        cmocka_unit_test(joints_break_at_their_strength),
        cmocka_unit_test(movers_feel_their_joints),
        cmocka_unit_test(a_bar_that_is_drawn_out_gains_nothing),
        cmocka_unit_test(masses_may_differ),
        cmocka_unit_test(snapshots_keep_joints),
        cmocka_unit_test(results_are_the_same_everywhere),
        cmocka_unit_test(joined_bodies_sleep_and_wake_together),
        cmocka_unit_test(wrong_joints_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
