/*
 * What movers with mass carry: particles on pins and on bones that ride on them. Closed forms of one rigid body; momentum and spin; masses
 * far apart; what joints and the ground bear; wrenches; sleep; snapshots; the same bits everywhere; what is refused.
 */
#include "test/lattice/lattice_cells.h"

#include <math.h>
#include <string.h>

static ref_vec to_ref(lm_dvec3 v) { return ref_v(v.x, v.y, v.z); }

typedef enum way { PINS, BONE, SOFT_BONE, BLEND, WAYS } way;

static lm_mover_id make_mover(lm_world *world, ref_vec at, double mass, lm_vec3 inertia)
{
    lm_mover_def def = lm_mover_def_default();
    lm_mover_id mover;
    def.pose.position = to_dvec3(at);
    def.pose.rotation = quaternion(ref_v(0.2, 0.1, -0.3));
    def.mass = (float)mass;
    def.inertia = inertia;
    assert_ok(lm_mover_create(world, &def, &mover));
    return mover;
}

static lm_mover_def def_of(const lm_world *world, lm_mover_id mover)
{
    lm_mover_def def;
    assert_ok(lm_mover_get_def(world, mover, &def));
    return def;
}

/* A bar of 9 x 3 x 3 particles along x, from -1 to 1. */
static lm_body_id make_bar(lm_world *world, double mass, double hertz)
{
    lattice_cells cells = lattice_cells_make(CELLS_BOX, 8, 2, 2);
    lm_body_def def = lattice_def(&cells, 1);
    def.lattice.spacing = 0.25f;
    def.lattice.first = (lm_vec3){-1.0f, -0.25f, -0.25f};
    def.lattice.mass = LM_LATTICE_MASS_EQUAL;
    def.mass = (float)mass;
    def.mask = 0;
    def.material.hertz = (float)hertz;
    def.material.damping_ratio = 0.4f;
    def.material.damping_kind = LM_DAMPING_REGIONAL;
    lm_body_id body = make_body(world, &def);
    free(cells.is);
    return body;
}

/* The particles of a body within these x. */
static uint32_t between(const lm_world *world, lm_body_id body, double low, double high, uint32_t *list)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    uint32_t count = 0;
    for (uint32_t n = 0; n < state.count; n++) {
        if (state.x[n].x >= low && state.x[n].x <= high) {
            list[count++] = n;
        }
    }
    state_free(&state);
    return count;
}

static lm_pin_id pin_to(lm_world *world, lm_body_id body, lm_mover_id mover, double low, double high)
{
    uint32_t list[81];
    lm_pin_def def = lm_pin_def_default();
    lm_pin_id pin;
    def.body = body;
    def.particles = list;
    def.particle_count = between(world, body, low, high, list);
    def.mover = mover;
    assert_ok(lm_pin_create(world, &def, &pin));
    return pin;
}

/* Two bones at the ends of the bar, each with a mover; what both hold of the middle in a blend. */
static lm_skeleton_id give_bones(lm_world *world, lm_body_id body, const lm_mover_id *mover, way how)
{
    lm_bone bones[2] = {lm_bone_default(), lm_bone_default()};
    lm_attachment list[162];
    uint32_t particles[81], count = 0;
    bones[0].rest.position.x = 0.8;
    bones[1].rest.position.x = -0.8;
    bones[1].rest.rotation = quaternion(ref_v(0.4, 0, 0.1));
    uint32_t held = between(world, body, 0.7, 2.0, particles);
    for (uint32_t n = 0; n < held; n++) {
        list[count++] = (lm_attachment){particles[n], 0, how == SOFT_BONE ? 0.6f : 1.0f};
    }
    held = how == BLEND ? between(world, body, -0.3, 0.3, particles) : 0;
    for (uint32_t n = 0; n < held; n++) {
        list[count++] = (lm_attachment){particles[n], 0, 0.3f};
        list[count++] = (lm_attachment){particles[n], 1, n % 2 ? 0.7f : 0.2f};
    }
    held = how == BLEND ? between(world, body, -2.0, -0.7, particles) : 0;
    for (uint32_t n = 0; n < held; n++) {
        list[count++] = (lm_attachment){particles[n], 1, 1.0f};
    }
    lm_skeleton_def def = lm_skeleton_def_default();
    lm_skeleton_id skeleton;
    def.body = body;
    def.bones = bones;
    def.bone_count = 2;
    def.attachments = list;
    def.attachment_count = count;
    assert_ok(lm_skeleton_create(world, &def, &skeleton));
    assert_ok(lm_skeleton_set_mover(world, skeleton, 0, mover[0]));
    if (how == BLEND) {
        assert_ok(lm_skeleton_set_mover(world, skeleton, 1, mover[1]));
    }
    return skeleton;
}

/* Of a mover with a mass and equal moments. */
static void add_mover(const lm_world *world, lm_mover_id mover, ref_vec *momentum, ref_vec *angular)
{
    lm_mover_def d = def_of(world, mover);
    ref_vec p = ref_scale(d.mass, to_double(d.velocity));
    *momentum = ref_add(*momentum, p);
    *angular =
        ref_add(*angular, ref_add(ref_cross(to_ref(d.pose.position), p), ref_scale(d.inertia.x, to_double(d.spin))));
}

static void totals(const lm_world *world, lm_body_id body, const lm_mover_id *mover, uint32_t movers, ref_vec *momentum,
                   ref_vec *angular)
{
    motion m = motion_read(world, body, lm_dvec3_zero());
    *momentum = m.momentum;
    *angular = ref_add(m.angular, ref_cross(m.centre, m.momentum));
    for (uint32_t n = 0; n < movers; n++) {
        add_mover(world, mover[n], momentum, angular);
    }
}

/* A bar and its movers; one is thrown. */
static lm_world *make_thrown(way how, double mass, lm_isa isa, uint32_t workers, double gravity, lm_body_id *body,
                             lm_mover_id mover[2])
{
    lm_world_def def = lm_world_def_default();
    def.gravity.y = (float)gravity;
    def.isa = isa;
    def.workers = workers;
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    assert_ok(lm_world_set_substeps(world, 4));
    *body = make_bar(world, 2.0, 12.0);
    float moment = (float)(0.1 * mass);
    mover[0] = make_mover(world, ref_v(1.2, 0.3, 0.1), mass, (lm_vec3){moment, moment, moment});
    mover[1] = make_mover(world, ref_v(-1.3, 0.1, 0), 1.0, (lm_vec3){0.1f, 0.1f, 0.1f});
    if (how == PINS) {
        pin_to(world, *body, mover[0], 0.7, 2.0);
        pin_to(world, *body, mover[1], -2.0, -0.7);
    } else {
        give_bones(world, *body, mover, how);
    }
    assert_ok(lm_mover_set_velocity(world, mover[0], (lm_vec3){1, 2, -1}, (lm_vec3){1, -2, 3}));
    return world;
}

static double speed_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info.max_speed;
}

/* --- one rigid body --- */

/* A mover that holds every particle of a bar is one rigid body with it, whatever either weighs: an impulse off the centre, and free spin. */
static void what_is_all_held_is_one_rigid_body(void **context)
{
    (void)context;
    static const double masses[] = {1.0, 1e-3, 1e3};
    for (int n = 0; n < 3; n++) {
        lm_world *world = make_world(0.0);
        assert_ok(lm_world_set_substeps(world, 8));
        lm_body_id body = make_bar(world, 2.0, 12.0);
        double mass = masses[n], moment = 0.2 * mass;
        lm_mover_id mover =
            make_mover(world, ref_v(0, 1, 0), mass, (lm_vec3){(float)moment, (float)moment, (float)moment});
        pin_to(world, body, mover, -2.0, 2.0);
        steps(world, 1);
        motion m = motion_read(world, body, lm_dvec3_zero());
        double all = mass + 2.0, centre = mass / all; /* its height: that of the bar is 0 */
        double inertia = 0.0;
        body_state state = state_read(world, body, lm_dvec3_zero());
        for (uint32_t k = 0; k < state.count; k++) {
            inertia += 2.0 / 81.0 * (state.x[k].x * state.x[k].x + (state.x[k].y - centre) * (state.x[k].y - centre));
        }
        state_free(&state);
        inertia += moment + mass * (1.0 - centre) * (1.0 - centre);
        const double push = 0.3 * all;
        assert_ok(lm_mover_apply_impulse(world, mover, (lm_vec3){(float)push, 0, 0}, (lm_dvec3){0, 1, 0}));
        steps(world, 1);
        double spin = -push * (1.0 - centre) / inertia; /* about z */
        m = motion_read(world, body, lm_dvec3_zero());
        lm_mover_def d = def_of(world, mover);
        assert_near(d.spin.z, spin, 2e-5 * fabs(spin) + 1e-7);
        ref_vec p = ref_scale(mass, to_double(d.velocity));
        assert_near(m.momentum.x + p.x, push, 1e-5 * push);
        assert_near(d.velocity.x, 0.3 - spin * (1.0 - centre), 1e-3 * fabs(spin) + 1e-5);
        assert_near(m.momentum.x / 2.0, 0.3 + spin * centre, 1e-3 * fabs(spin) + 1e-5);
        steps(world, 120); /* about an axis of inertia: the spin stays */
        assert_near(def_of(world, mover).spin.z, spin, 1e-4 * fabs(spin) + 1e-6);
        m = motion_read(world, body, lm_dvec3_zero());
        assert_near((2.0 * m.centre.x + mass * def_of(world, mover).pose.position.x) / all, 0.3 * 121 * FRAME, 1e-3);
        assert_near(ref_length(ref_sub(m.centre, to_ref(def_of(world, mover).pose.position))), 1.0, 1e-4);
        lm_world_destroy(world);
    }
}

/* --- momentum --- */

static void momentum_and_spin_are_kept(void **context)
{
    (void)context;
    static const double masses[] = {3.0, 0.002, 2000.0};
    for (way how = 0; how < WAYS; how++) {
        for (int n = 0; n < 3; n++) {
            lm_body_id body;
            lm_mover_id mover[2];
            lm_world *world = make_thrown(how, masses[n], LM_ISA_BEST, 1, 0.0, &body, mover);
            ref_vec momentum[2], angular[2];
            totals(world, body, mover, 2, &momentum[0], &angular[0]);
            for (int frame = 0; frame < 120; frame++) {
                steps(world, 1);
                totals(world, body, mover, 2, &momentum[1], &angular[1]);
                /* A lattice may owe some of its spin for a few substeps (src/lattice/lattice_motion.c). */
                double p = ref_length(momentum[0]) + 2.0 * speed_of(world, body), l = ref_length(angular[0]);
                assert_near(ref_length(ref_sub(momentum[1], momentum[0])), 0.0, 1e-5 * p);
                assert_near(ref_length(ref_sub(angular[1], angular[0])), 0.0, (frame < 60 ? 3e-5 : 1e-5) * (l + p));
            }
            assert_true(ref_length(motion_read(world, body, lm_dvec3_zero()).momentum) > 0.3 * fmin(masses[n], 1.0));
            lm_world_destroy(world);
        }
    }
}

/* What a mover was given is what its velocity changed by. */
static void wrenches_are_what_movers_get(void **context)
{
    (void)context;
    for (way how = 0; how < WAYS; how++) {
        lm_body_id body;
        lm_mover_id mover[2];
        lm_world *world = make_thrown(how, 3.0, LM_ISA_BEST, 1, -9.81, &body, mover);
        double most = 0.0;
        for (int frame = 0; frame < 60; frame++) {
            lm_wrench w, of_bones[2];
            ref_vec before = ref_v(0, 0, 0), after = before, none = before;
            add_mover(world, mover[0], &before, &none);
            steps(world, 1);
            add_mover(world, mover[0], &after, &none);
            assert_ok(lm_mover_get_wrench(world, mover[0], &w, NULL));
            ref_vec given = ref_add(to_ref(w.impulse), ref_v(0, -9.81 * 3.0 * FRAME, 0));
            assert_near(ref_length(ref_sub(ref_sub(after, before), given)), 0.0, 2e-5);
            most = fmax(most, ref_length(to_ref(w.impulse)));
            lm_skeleton_id skeleton;
            assert_ok(lm_body_get_skeleton(world, body, &skeleton));
            if (skeleton.slot) {
                assert_ok(lm_skeleton_get_wrenches(world, skeleton, of_bones));
                assert_near(ref_length(ref_sub(to_ref(of_bones[0].impulse), to_ref(w.impulse))), 0.0, 1e-6);
            }
        }
        assert_true(most > 0.01);
        lm_world_destroy(world);
    }
}

/* --- masses --- */

/* A mover is glued to the world, and a bar sticks out of it: whatever both weigh, the bar swings as on what does not move, and the glue
 * bears both. */
static void a_joint_bears_what_its_mover_carries(void **context)
{
    (void)context;
    enum { FRAMES = 600 };
    const int frames = (int)test_tries(FRAMES, 60);
    static const double masses[][2] = {{0.0, 1.0}, {1.0, 1000.0}, {1000.0, 1.0}, {2.0, 3.0}};
    for (way how = PINS; how <= SOFT_BONE; how++) {
        double heights[4][FRAMES];
        for (int n = how == PINS ? 1 : 0; n < 4; n++) { /* pins on what has no mass weigh otherwise in fits */
            lm_world *world = make_world(-9.81);
            assert_ok(lm_world_set_substeps(world, 8));
            lm_body_id body = make_bar(world, masses[n][1], 25.0);
            float moment = (float)(0.1 * masses[n][0]);
            lm_mover_id mover[2] = {
                make_mover(world, ref_v(1.0, 0, 0), masses[n][0], (lm_vec3){moment, moment, moment})};
            if (how == PINS) {
                pin_to(world, body, mover[0], 0.7, 2.0);
            } else {
                give_bones(world, body, mover, how);
            }
            lm_joint_def joint = lm_joint_def_default();
            lm_joint_id id;
            joint.kind = LM_JOINT_GLUE;
            joint.b.mover = mover[0];
            joint.a.anchor = joint.b.anchor = (lm_dvec3){1.0, 0.2, 0};
            if (n > 0) {
                assert_ok(lm_joint_create(world, &joint, &id));
            }
            double force = 0.0;
            for (int frame = 0; frame < frames; frame++) {
                lm_joint_state state = {.apart = 0.0f};
                steps(world, 1);
                assert_ok(n > 0 ? lm_joint_get_state(world, id, &state) : LM_OK);
                assert_at_most(state.apart, 1e-4);
                force += (double)state.force.y / frames;
                motion m = motion_read(world, body, lm_dvec3_zero());
                heights[n][frame] = m.centre.y;
                assert_near(heights[n][frame], heights[how == PINS ? 1 : 0][frame], 2e-3);
            }
            double weight = 9.81 * (masses[n][0] + masses[n][1]);
            double rose = motion_read(world, body, lm_dvec3_zero()).momentum.y / (frames * FRAME);
            assert_near(force, n > 0 ? weight + rose : 0.0, 0.01 * weight);
            lm_world_destroy(world);
        }
        double low = 0.0;
        for (int frame = 0; frame < frames; frame++) {
            low = fmin(low, heights[1][frame]);
        }
        assert_true(low < -0.2);
    }
}

/* A plate on the floor that a much heavier bar is pinned to stays on the floor. */
static void the_ground_bears_what_a_mover_carries(void **context)
{
    (void)context;
    static const double masses[][2] = {{1.0, 1000.0}, {1000.0, 1.0}};
    for (int n = 0; n < 2; n++) {
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 8));
        lm_collider_def c = lm_collider_def_default();
        lm_collider_id floor, plate;
        c.pose.position.y = -0.6;
        assert_ok(lm_collider_create(world, &c, &floor));
        lm_body_id body = make_bar(world, masses[n][1], 25.0);
        lm_mover_def d = lm_mover_def_default();
        lm_mover_id mover;
        d.pose.position.y = -0.45;
        d.mass = (float)masses[n][0];
        assert_ok(lm_mover_create(world, &d, &mover));
        c = lm_collider_def_default();
        c.shape = LM_SHAPE_BOX;
        c.half_extents = (lm_vec3){1.2f, 0.15f, 0.5f};
        c.mover = mover;
        assert_ok(lm_collider_create(world, &c, &plate));
        uint32_t list[81], count = 0;
        body_state state = state_read(world, body, lm_dvec3_zero());
        for (uint32_t k = 0; k < state.count; k++) {
            if (state.x[k].y < -0.2) list[count++] = k;
        }
        state_free(&state);
        lm_pin_def pin = lm_pin_def_default();
        lm_pin_id id;
        pin.body = body;
        pin.particles = list;
        pin.particle_count = count;
        pin.mover = mover;
        assert_ok(lm_pin_create(world, &pin, &id));
        double force = 0.0;
        for (int frame = 0; frame < 300; frame++) {
            lm_wrench w;
            steps(world, 1);
            assert_ok(lm_collider_get_wrench(world, floor, &w, NULL));
            force -= frame >= 240 ? w.impulse.y : 0.0;
            assert_near(def_of(world, mover).pose.position.y, -0.45, 0.01);
        }
        assert_near(force, 9.81 * 1001.0, 0.02 * 9.81 * 1001.0);
        assert_at_most(speed_of(world, body), 0.05);
        lm_world_destroy(world);
    }
}

/* --- the rest --- */

static void they_sleep_and_wake_together(void **context)
{
    (void)context;
    for (way how = PINS; how <= BONE; how++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = make_bar(world, 2.0, 20.0);
        lm_mover_id mover[2] = {make_mover(world, ref_v(1.5, 0, 0), 1.0, (lm_vec3){1, 1, 1})};
        if (how == PINS) {
            pin_to(world, body, mover[0], 0.7, 2.0);
        } else {
            give_bones(world, body, mover, how);
        }
        lm_sleep sleep = lm_sleep_default();
        sleep.enabled = true;
        assert_ok(lm_world_set_sleep(world, &sleep));
        steps(world, 180);
        assert_true(!lm_body_is_awake(world, body) && !lm_mover_is_awake(world, mover[0]));
        assert_ok(lm_mover_apply_impulse(world, mover[0], (lm_vec3){1, 0, 0}, (lm_dvec3){1.5, 0, 0}));
        assert_true(lm_body_is_awake(world, body));
        steps(world, 30);
        assert_near(motion_read(world, body, lm_dvec3_zero()).momentum.x, 2.0 / 3.0, 0.2);
        lm_world_destroy(world);
    }
}

static void snapshots_keep_them(void **context)
{
    (void)context;
    for (way how = 0; how < WAYS; how++) {
        lm_body_id body;
        lm_mover_id mover[2];
        lm_world *world = make_thrown(how, 3.0, LM_ISA_BEST, 1, -9.81, &body, mover);
        steps(world, 20);
        assert_reloads(world, 40);
        size_t size = lm_world_state_size(world), used;
        void *state = malloc(size);
        assert_ok(lm_world_save_state(world, state, size, &used));
        steps(world, 30);
        uint64_t hash = lm_world_hash(world);
        assert_ok(lm_world_load_state(world, state, used));
        assert_true(lm_world_hash(world) != hash);
        steps(world, 30);
        assert_true(lm_world_hash(world) == hash);
        free(state);
        lm_world_destroy(world);
    }
}

static void results_are_the_same_everywhere(void **context)
{
    (void)context;
    for (way how = 0; how < WAYS; how++) {
        uint64_t first = 0;
        for (int isa = LM_ISA_BEST; isa < LM_ISA_COUNT; isa++) {
            for (uint32_t workers = 1; workers <= 3 && lm_isa_supported((lm_isa)isa); workers += 2) {
                lm_body_id body;
                lm_mover_id mover[2];
                lm_world *world = make_thrown(how, 3.0, (lm_isa)isa, workers, -9.81, &body, mover);
                steps(world, 40);
                uint64_t hash = lm_world_hash(world);
                first = first ? first : hash;
                assert_true(hash == first);
                lm_world_destroy(world);
            }
        }
    }
}

/* A bone goes with its mover, wherever that is put, and stays where it is when that goes. */
static void bones_ride(void **context)
{
    (void)context;
    for (int heavy = 0; heavy < 2; heavy++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = make_bar(world, 2.0, 12.0);
        lm_mover_id mover[2] = {make_mover(world, ref_v(1, 0, 0), heavy ? 1e6 : 0.0, (lm_vec3){0, 0, 0})}, on;
        lm_skeleton_id skeleton = give_bones(world, body, mover, BONE);
        lm_pose before[2], after[2], other[2];
        assert_ok(lm_skeleton_get_mover(world, skeleton, 0, &on));
        assert_true(on.slot == mover[0].slot && on.generation == mover[0].generation);
        assert_ok(lm_skeleton_get_mover(world, skeleton, 1, &on));
        assert_true(on.slot == 0);
        assert_ok(lm_skeleton_get_poses(world, skeleton, before));
        lm_pose to = def_of(world, mover[0]).pose;
        to.position.y += 3.0;
        assert_ok(lm_mover_set_pose(world, mover[0], to));
        assert_ok(lm_skeleton_get_poses(world, skeleton, after));
        assert_near(after[0].position.y - before[0].position.y, 3.0, 1e-6);
        assert_near(after[0].position.x, before[0].position.x, 1e-6);
        assert_near(after[1].position.y, before[1].position.y, 0.0);
        assert_ok(lm_mover_set_velocity(world, mover[0], (lm_vec3){0, 0, 1}, (lm_vec3){0, 0, 0}));
        other[0] = other[1] = lm_pose_identity();
        assert_ok(lm_skeleton_move_to(world, skeleton, other)); /* the other one goes there */
        steps(world, 60);
        assert_ok(lm_skeleton_get_poses(world, skeleton, after));
        assert_near(after[0].position.z - before[0].position.z, 1.0, 1e-3);
        assert_near(after[1].position.x, 0.0, 1e-9);
        lm_vec3 *targets = calloc(81, sizeof *targets);
        float *weights = calloc(81, sizeof *weights);
        body_state state = state_read(world, body, lm_dvec3_zero());
        assert_ok(lm_skeleton_get_targets(world, skeleton, lm_dvec3_zero(), targets, weights));
        for (uint32_t n = 0; n < 81; n++) {
            assert_true(weights[n] == 0.0f || ref_length(ref_sub(to_double(targets[n]), state.x[n])) < 1e-5);
        }
        state_free(&state);
        free(targets);
        free(weights);
        assert_ok(lm_skeleton_set_poses(world, skeleton, other)); /* it sits elsewhere on the mover */
        assert_ok(lm_mover_set_velocity(world, mover[0], (lm_vec3){0, 0, -2}, (lm_vec3){0, 0, 0}));
        steps(world, 30);
        assert_ok(lm_skeleton_get_poses(world, skeleton, after));
        assert_near(after[0].position.z, -1.0, 1e-3);
        assert_near(after[0].position.x, 0.0, 1e-3);
        assert_ok(lm_mover_destroy(world, mover[0]));
        steps(world, 10);
        assert_ok(lm_skeleton_get_mover(world, skeleton, 0, &on));
        assert_true(on.slot == 0);
        assert_ok(lm_skeleton_get_poses(world, skeleton, before));
        assert_near(before[0].position.z, after[0].position.z, 1e-9);
        lm_world_destroy(world);
    }
}

/* A mover gets its mass, loses it and goes, while it holds a body by pins and bones. */
static void masses_come_and_go(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_body_id body = make_bar(world, 2.0, 20.0);
    lm_mover_id mover = make_mover(world, ref_v(1.2, 0, 0), 0.0, (lm_vec3){0, 0, 0});
    lm_pin_id pin = pin_to(world, body, mover, 0.7, 2.0);
    steps(world, 30);
    double height = motion_read(world, body, lm_dvec3_zero()).centre.y;
    assert_true(height > -0.9); /* it hangs on what does not move */
    assert_ok(lm_mover_set_mass(world, mover, 0.5f, (lm_vec3){0.1f, 0.1f, 0.1f}));
    steps(world, 30);
    motion m = motion_read(world, body, lm_dvec3_zero());
    assert_true(m.momentum.y / 2.0 < -3.0); /* both fall */
    assert_reloads(world, 5);
    assert_ok(lm_mover_set_mass(world, mover, 0.0f, (lm_vec3){0, 0, 0}));
    assert_ok(lm_mover_set_velocity(world, mover, (lm_vec3){0, 0, 0}, (lm_vec3){0, 0, 0}));
    steps(world, 120);
    lm_dvec3 targets[81];
    lm_pin_info info;
    body_state state = state_read(world, body, lm_dvec3_zero());
    uint32_t particles[81];
    assert_ok(lm_pin_get_info(world, pin, &info));
    assert_ok(lm_pin_get_targets(world, pin, particles, targets));
    for (uint32_t n = 0; n < info.particles; n++) {
        assert_at_most(ref_length(ref_sub(state.x[particles[n]], to_ref(targets[n]))), 1e-5);
    }
    state_free(&state);
    assert_ok(lm_mover_set_mass(world, mover, 0.5f, (lm_vec3){0.1f, 0.1f, 0.1f}));
    steps(world, 5);
    assert_ok(lm_mover_destroy(world, mover)); /* the pin holds to the world */
    double at = motion_read(world, body, lm_dvec3_zero()).centre.y;
    steps(world, 120);
    assert_true(motion_read(world, body, lm_dvec3_zero()).centre.y > at - 1.5);
    assert_reloads(world, 5);
    assert_ok(lm_pin_destroy(world, pin));
    steps(world, 60);
    assert_true(motion_read(world, body, lm_dvec3_zero()).centre.y < at - 3.0);
    lm_world_destroy(world);
}

static void wrong_ones_are_refused(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_bar(world, 2.0, 12.0);
    lm_mover_id mover[2] = {make_mover(world, ref_v(1, 0, 0), 1.0, (lm_vec3){1, 1, 1})}, on = {7, 7};
    lm_skeleton_id skeleton = give_bones(world, body, mover, BONE), none = {9, 9};
    uint64_t hash = lm_world_hash(world);
    assert_result(lm_skeleton_set_mover(world, none, 0, mover[0]), LM_ERROR_ID);
    assert_result(lm_skeleton_set_mover(world, skeleton, 0, (lm_mover_id){9, 9}), LM_ERROR_ID);
    assert_result(lm_skeleton_set_mover(world, skeleton, 2, mover[0]), LM_ERROR_ARGUMENT);
    assert_result(lm_skeleton_get_mover(world, none, 0, &on), LM_ERROR_ID);
    assert_result(lm_skeleton_get_mover(world, skeleton, 2, &on), LM_ERROR_ARGUMENT);
    assert_true(on.slot == 0);
    lm_joint_def joint = lm_joint_def_default();
    lm_joint_id id;
    joint.kind = LM_JOINT_BALL;
    joint.a.skeleton = skeleton;
    joint.a.bone = 0;
    joint.b.body = body;
    assert_result(lm_joint_create(world, &joint, &id), LM_ERROR_ARGUMENT); /* it rides: the mover is to be joined */
    joint.a.bone = 1;
    assert_ok(lm_joint_create(world, &joint, &id));
    assert_result(lm_skeleton_set_mover(world, skeleton, 1, mover[0]), LM_ERROR_ARGUMENT); /* a joint is on it */
    assert_ok(lm_skeleton_get_mover(world, skeleton, 0, &on));
    assert_true(on.slot == mover[0].slot && lm_world_hash(world) == hash);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_all_held_is_one_rigid_body),
        cmocka_unit_test(momentum_and_spin_are_kept),
        cmocka_unit_test(wrenches_are_what_movers_get),
        cmocka_unit_test(a_joint_bears_what_its_mover_carries),
        cmocka_unit_test(the_ground_bears_what_a_mover_carries),
        cmocka_unit_test(they_sleep_and_wake_together),
        cmocka_unit_test(snapshots_keep_them),
        cmocka_unit_test(results_are_the_same_everywhere),
        cmocka_unit_test(bones_ride),
        cmocka_unit_test(masses_come_and_go),
        cmocka_unit_test(wrong_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
