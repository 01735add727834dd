/*
 * Bodies: what they report about themselves, how they are divided into regions, degenerate ones, mangled ones, and
 * materials that change while running.
 */
#include "test/reference/reference.h"
#include "test/support/busy.h"

#include <stdlib.h>
#include <string.h>

static void info_is_what_the_particles_say(void **context)
{
    (void)context;
    random_state random = {8};
    sample s = sample_make(SAMPLE_BLOB, &random);
    lm_world *world = make_world(0.0);
    s.def.pose.position = (lm_dvec3){3.0, -2.0, 1.0};
    s.def.user_data = 0x1234567890abcdefu;
    lm_body_id body = make_body(world, &s.def);
    body_state fresh = state_read(world, body, s.def.pose.position);
    for (uint32_t i = 0; i < s.count; i++) {
        assert_near(ref_length(ref_sub(fresh.x[i], to_double(s.points[i]))), 0.0, 1e-6);
        assert_near(fresh.mass[i], s.masses[i], 1e-6);
    }
    state_free(&fresh);
    randomise_state(world, body, &random, 0.05, 2.0);
    motion m = motion_read(world, body, lm_dvec3_zero());
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    assert_int_equal(info.particles, s.count);
    assert_int_equal(info.regions, 1);
    assert_int_equal(info.memberships, s.count);
    assert_true(info.user_data == s.def.user_data);
    assert_near(info.mass, m.mass, 1e-4);
    assert_near(ref_length(ref_sub(ref_v(info.centre.x, info.centre.y, info.centre.z), m.centre)), 0.0, 1e-5);
    assert_near(ref_length(ref_sub(ref_scale(m.mass, to_double(info.velocity)), m.momentum)), 0.0, 1e-4);
    assert_near(ref_length(ref_sub(to_double(info.angular_momentum), m.angular)), 0.0, 1e-4);
    assert_near(info.kinetic_energy, m.kinetic, 1e-4 * m.kinetic);

    /* The spin is the one of a rigid body with that angular momentum: I w = L. */
    body_state state = state_read(world, body, lm_dvec3_zero());
    ref_vec carried = {0}, spin = to_double(info.spin);
    double fastest = 0.0;
    ref_vec low = state.x[0], high = state.x[0];
    for (uint32_t i = 0; i < state.count; i++) {
        ref_vec arm = ref_sub(state.x[i], m.centre);
        carried = ref_add_scaled(carried, state.mass[i], ref_cross(arm, ref_cross(spin, arm)));
        fastest = fmax(fastest, ref_length(state.v[i]));
        low = ref_v(fmin(low.x, state.x[i].x), fmin(low.y, state.x[i].y), fmin(low.z, state.x[i].z));
        high = ref_v(fmax(high.x, state.x[i].x), fmax(high.y, state.x[i].y), fmax(high.z, state.x[i].z));
    }
    assert_near(ref_length(ref_sub(carried, m.angular)), 0.0, 1e-3 * ref_length(m.angular));
    assert_near(info.max_speed, fastest, 1e-5 * fastest);
    assert_near(ref_length(ref_sub(ref_v(info.lower.x, info.lower.y, info.lower.z), low)), 0.0, 1e-5);
    assert_near(ref_length(ref_sub(ref_v(info.upper.x, info.upper.y, info.upper.z), high)), 0.0, 1e-5);
    state_free(&state);
    lm_world_destroy(world);
    sample_free(&s);
}

/* A pose, a velocity and a spin in the definition are those of a rigid body about its centre of mass. */
static void bodies_start_as_defined(void **context)
{
    (void)context;
    random_state random = {9};
    sample s = sample_make(SAMPLE_BLOB, &random);
    lm_world *world = make_world(0.0);
    s.def.pose.position = (lm_dvec3){1.0, 2.0, 3.0};
    s.def.pose.rotation = quaternion(ref_v(0.3, 0.7, -1.1));
    s.def.velocity = (lm_vec3){0.5f, 0.25f, -1.0f};
    s.def.spin = (lm_vec3){3.0f, -1.0f, 2.0f};
    lm_body_id body = make_body(world, &s.def);
    body_state state = state_read(world, body, lm_dvec3_zero());
    motion m = motion_of(&state);
    ref_mat turn = ref_rotation(ref_v(0.3, 0.7, -1.1));
    for (uint32_t i = 0; i < s.count; i++) {
        ref_vec at = ref_add(ref_v(1, 2, 3), ref_mat_vec(turn, to_double(s.points[i])));
        assert_near(ref_length(ref_sub(state.x[i], at)), 0.0, 1e-6);
        ref_vec v = ref_add(ref_v(0.5, 0.25, -1.0), ref_cross(ref_v(3, -1, 2), ref_sub(at, m.centre)));
        assert_near(ref_length(ref_sub(state.v[i], v)), 0.0, 1e-5);
    }
    state_free(&state);
    lm_world_destroy(world);
    sample_free(&s);
}

static void cells_overlap_as_asked(void **context)
{
    (void)context;
    lm_vec3 line[10];
    for (int i = 0; i < 10; i++) line[i] = (lm_vec3){(float)i, 0.0f, 0.0f};
    lm_world *world = make_world(0.0);
    for (int by_size = 0; by_size < 2; by_size++) {
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.points = line;
        def.point_count = 10;
        def.clusters.overlap = 0.25f;
        def.clusters.counts[0] = 2;
        def.clusters.cell_size = 4.5f;
        if (by_size) def.clusters.kind = LM_CLUSTERS_SIZE;
        lm_body_id body = make_body(world, &def);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        /* Cells of 4.5 m grown by a quarter: 0 to 5.6 and 3.4 to 9. */
        assert_int_equal(info.regions, 2);
        assert_int_equal(info.memberships, 12);
        uint32_t offsets[3], members[12];
        assert_ok(lm_body_get_regions(world, body, offsets, members));
        assert_int_equal(offsets[0], 0);
        assert_int_equal(offsets[1], 6);
        assert_int_equal(offsets[2], 12);
        uint32_t sums[2] = {0, 0};
        for (uint32_t k = 0; k < 12; k++) sums[k >= 6] += members[k];
        assert_int_equal(sums[0] + sums[1], 15 + 39);
        assert_true(sums[0] == 15 || sums[0] == 39);
    }
    lm_world_destroy(world);
}

/* Every particle is in at least one cell; empty cells make no region; many regions are allowed. */
static void cells_cover_the_body(void **context)
{
    (void)context;
    random_state random = {10};
    lm_world *world = make_world(0.0);
    for (int trial = 0; trial < 20; trial++) {
        sample s = sample_make(SAMPLE_BLOB, &random);
        for (int a = 0; a < 3; a++) s.def.clusters.counts[a] = 1 + random_below(&random, 6);
        s.def.clusters.overlap = trial % 3 == 0 ? 0.0f : (float)random_range(&random, 0.0, 1.0);
        lm_body_id body = make_body(world, &s.def);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        assert_true(info.regions <= s.def.clusters.counts[0] * s.def.clusters.counts[1] * s.def.clusters.counts[2]);
        uint32_t *offsets = calloc(info.regions + 1, sizeof *offsets);
        uint32_t *members = calloc(info.memberships, sizeof *members);
        uint32_t *seen = calloc(s.count, sizeof *seen);
        assert_ok(lm_body_get_regions(world, body, offsets, members));
        for (uint32_t r = 0; r < info.regions; r++) assert_true(offsets[r + 1] > offsets[r]);
        for (uint32_t k = 0; k < info.memberships; k++) seen[members[k]]++;
        for (uint32_t i = 0; i < s.count; i++) assert_true(seen[i] > 0);
        free(offsets);
        free(members);
        free(seen);
        sample_free(&s);
    }
    lm_world_destroy(world);
}

/* The caller's own lists come back as they were given. */
static void lists_are_kept(void **context)
{
    (void)context;
    random_state random = {12};
    sample s = sample_make(SAMPLE_LISTS, &random);
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &s.def);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    uint32_t lists = s.def.clusters.list_count;
    assert_int_equal(info.regions, lists);
    assert_int_equal(info.memberships, s.offsets[lists]);
    uint32_t *offsets = calloc(lists + 1, sizeof *offsets), *members = calloc(info.memberships, sizeof *members);
    assert_ok(lm_body_get_regions(world, body, offsets, members));
    assert_memory_equal(offsets, s.offsets, (lists + 1) * sizeof *offsets);
    for (uint32_t r = 0; r < lists; r++) {
        uint64_t given = 0, kept = 0; /* as sets: the particles are few enough for bits */
        for (uint32_t k = offsets[r]; k < offsets[r + 1]; k++) {
            given |= UINT64_C(1) << s.members[k];
            kept |= UINT64_C(1) << members[k];
        }
        assert_true(given == kept);
    }
    free(offsets);
    free(members);
    lm_world_destroy(world);
    sample_free(&s);
}

/* n steps of h under gravity from rest move a free particle by g h² n (n + 1)/2, whatever the others do. */
static void particles_in_no_region_are_free(void **context)
{
    (void)context;
    lm_vec3 points[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {5, 5, 5}, {-3, 0, 2}};
    uint32_t offsets[2] = {0, 4}, members[4] = {0, 1, 2, 3};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = 6;
    def.clusters.kind = LM_CLUSTERS_LISTS;
    def.clusters.offsets = offsets;
    def.clusters.members = members;
    def.clusters.list_count = 1;
    def.material.damping_ratio = 1.0f; /* must not brake the free ones */
    lm_world *world = make_world(-9.81);
    lm_body_id body = make_body(world, &def);
    lm_vec3 v[6] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {2, 1, 0}, {0, 0, -1}};
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), points, v));
    int n = 60;
    steps(world, n);
    body_state state = state_read(world, body, lm_dvec3_zero());
    double fall = -9.81 * FRAME * FRAME * n * (n + 1) / 2;
    for (uint32_t i = 4; i < 6; i++) {
        ref_vec expected = ref_add_scaled(to_double(points[i]), n * FRAME, to_double(v[i]));
        expected.y += fall;
        assert_near(ref_length(ref_sub(state.x[i], expected)), 0.0, 2e-5);
        assert_near(state.v[i].y, (double)v[i].y - 9.81 * n * FRAME, 1e-5);
    }
    state_free(&state);
    lm_world_destroy(world);
}

/* Moves every particle by up to 30 cm; all at the same velocity, for a spinning body would stay stretched. */
static void pull_apart(lm_world *world, lm_body_id body, random_state *random)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    lm_vec3 *x = calloc(state.count, sizeof *x), *v = calloc(state.count, sizeof *v);
    for (uint32_t i = 0; i < state.count; i++) {
        x[i] = to_float(ref_add(state.x[i], random_in_cube(random, 0.3)));
        v[i] = (lm_vec3){1.0f, -0.5f, 0.25f};
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
    free(x);
    free(v);
    state_free(&state);
}

/* One, two and three points, and points on top of each other: pulled apart, they come back together. */
static void smallest_regions_hold_together(void **context)
{
    (void)context;
    lm_vec3 shapes[5][4] = {
        {{0, 0, 0}},
        {{0, 0, 0}, {1, 0, 0}},
        {{0, 0, 0}, {1, 0, 0}, {0, 0.5f, 0}},
        {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}},
        {{0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {2, 0, 0}},
    };
    static const uint32_t counts[5] = {1, 2, 3, 4, 4};
    for (int shape = 0; shape < 5; shape++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            random_state random = {(uint64_t)(20 + shape)};
            lm_body_def def = lm_body_def_default();
            def.mask = 0;
            def.points = shapes[shape];
            def.point_count = counts[shape];
            def.material.mode = (lm_mode)mode;
            def.material.damping_ratio = 0.3f;
            lm_world *world = make_world(0.0);
            lm_body_id body = make_body(world, &def);
            pull_apart(world, body, &random);
            motion before = motion_read(world, body, lm_dvec3_zero());
            steps(world, 600);
            motion after = motion_read(world, body, lm_dvec3_zero());
            assert_true(after.finite);
            if (deformation(world, body) > 1e-3) print_error("shape %d, mode %d\n", shape, mode);
            assert_at_most(deformation(world, body), 1e-3);
            assert_near(ref_length(ref_sub(after.momentum, before.momentum)), 0.0, 1e-5);
            lm_world_destroy(world);
        }
}

/* The last is a hundred times the body's size. Further out, rounding alone leaves the body with a spin that shows. */
enum { MANGLED_FLAT, MANGLED_LINE, MANGLED_POINT, MANGLED_MIRROR, MANGLED_RANDOM, MANGLED_HUGE, MANGLED_COUNT };

static ref_vec mangle(int how, ref_vec a, random_state *random)
{
    switch (how) {
    case MANGLED_FLAT: return ref_v(a.x, 0.0, a.z);
    case MANGLED_LINE: return ref_v(a.x, 0.0, 0.0);
    case MANGLED_POINT: return ref_v(0.0, 0.0, 0.0);
    case MANGLED_MIRROR: return ref_v(-a.x, a.y, a.z);
    case MANGLED_RANDOM: return random_in_cube(random, 0.5);
    default: return random_in_cube(random, 30.0);
    }
}

static void mangled_bodies_recover(void **context)
{
    (void)context;
    static const sample_kind kinds[] = {SAMPLE_BOX, SAMPLE_BLOB, SAMPLE_CELL, SAMPLE_SHEET};
    for (int k = 0; k < 4; k++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++)
            for (int how = 0; how < MANGLED_COUNT; how++) {
                random_state random = {(uint64_t)(how * 100 + mode * 10 + k)};
                sample s = sample_make(kinds[k], &random);
                s.def.material.mode = (lm_mode)mode;
                s.def.material.damping_ratio = 0.2f;
                s.def.material.beta = 0.7f;
                lm_world *world = make_world(0.0);
                lm_body_id body = make_body(world, &s.def);
                lm_vec3 *x = calloc(s.count, sizeof *x);
                for (uint32_t i = 0; i < s.count; i++) x[i] = to_float(mangle(how, to_double(s.points[i]), &random));
                assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
                steps(world, 900);
                double left = deformation(world, body) / s.size;
                if (!(left < 0.01)) print_error("%s, mode %d, mangled %d\n", sample_name(kinds[k]), mode, how);
                assert_at_most(left, 0.01);
                free(x);
                lm_world_destroy(world);
                sample_free(&s);
            }
}

/* Particles up to the limit of coordinates and speeds away, all or some of them: nothing ever becomes NaN. */
static void any_finite_state_stays_finite(void **context)
{
    (void)context;
    static const double reach[] = {1e2, 1e4, 1e6, 5e8};
    uint32_t broken = 0;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++)
            for (uint32_t trial = 0; trial < test_tries(24, 4); trial++) {
                random_state random = {(uint64_t)(kind * 1000 + mode * 100) + trial};
                sample s = sample_make((sample_kind)kind, &random);
                s.def.material.mode = (lm_mode)mode;
                s.def.material.beta = 0.9f;
                lm_world *world = make_world(-9.81);
                lm_body_id body = make_body(world, &s.def);
                lm_vec3 *x = calloc(s.count, sizeof *x), *v = calloc(s.count, sizeof *v);
                uint32_t share = trial % 3 == 0 ? s.count : 1 + random_below(&random, 3);
                for (uint32_t i = 0; i < s.count; i++) x[i] = s.points[i];
                for (uint32_t k = 0; k < share; k++) {
                    uint32_t i = share == s.count ? k : random_below(&random, s.count);
                    x[i] = to_float(random_in_cube(&random, reach[trial % 4]));
                    v[i] = to_float(random_in_cube(&random, fmin(9e5, reach[trial % 4])));
                }
                assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
                steps(world, 60);
                lm_totals totals;
                lm_world_get_totals(world, &totals);
                if (!totals.finite && broken++ < 5)
                    print_error("%s, mode %d, trial %u: not finite after %g m\n", sample_name((sample_kind)kind), mode,
                                trial, reach[trial % 4]);
                free(x);
                free(v);
                lm_world_destroy(world);
                sample_free(&s);
            }
    assert_int_equal(broken, 0);
}

/* Pins, movers, drags, colliders and fields at any finite place: limited to what single precision can hold, never more.
 * What comes out can be saved and loaded. */
enum { FAR_PIN, FAR_RIDING_PIN, FAR_DRAG, FAR_PLANE, FAR_SPHERE, FAR_BOX, FAR_FIELD, FAR_KINDS };

static lm_mover_id make_far(lm_world *world, lm_body_id body, int kind, lm_dvec3 place)
{
    uint32_t held = 0;
    lm_mover_def mover = lm_mover_def_default();
    lm_mover_id mover_id;
    assert_ok(lm_mover_create(world, &mover, &mover_id));
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id pin_id;
    pin.body = body;
    pin.particles = &held;
    pin.particle_count = 1;
    lm_drag_def drag = lm_drag_def_default();
    lm_drag_id drag_id;
    drag.body = body;
    drag.target = place;
    drag.hertz = 1e6f;
    lm_collider_def collider = lm_collider_def_default();
    lm_collider_id collider_id;
    lm_field_def field = lm_field_def_default();
    lm_field_id field_id;
    field.kind = LM_FIELD_POINT;
    field.position = place;
    field.radius = 1e9f;
    field.strength = 1e6f;
    switch (kind) {
    case FAR_PIN: pin.targets = &place; break;
    case FAR_RIDING_PIN: pin.mover = mover_id; break;
    case FAR_PLANE: collider.pose.position = place; break;
    case FAR_SPHERE:
        collider.shape = LM_SHAPE_SPHERE;
        collider.radius = LM_MAX_COORDINATE;
        collider.pose.position.x = 9e8;
        break;
    case FAR_BOX:
        collider.shape = LM_SHAPE_BOX;
        collider.mover = mover_id;
        break;
    default: break;
    }
    if (kind == FAR_PIN || kind == FAR_RIDING_PIN)
        assert_ok(lm_pin_create(world, &pin, &pin_id));
    else if (kind == FAR_DRAG)
        assert_ok(lm_drag_create(world, &drag, &drag_id));
    else if (kind == FAR_FIELD)
        assert_ok(lm_field_create(world, &field, &field_id));
    else
        assert_ok(lm_collider_create(world, &collider, &collider_id));
    return mover_id;
}

static void far_away_things_stay_finite(void **context)
{
    (void)context;
    static const double places[] = {1e9, 1e12, 1e39, -1e300, 1e308};
    for (int kind = 0; kind < FAR_KINDS; kind++)
        for (int p = 0; p < 5; p++) {
            random_state random = {9};
            sample s = sample_make(SAMPLE_CELL, &random);
            s.def.material.mode = (lm_mode)(p % LM_MODE_COUNT);
            lm_world *world = make_world(-9.81);
            lm_body_id body = make_body(world, &s.def);
            sample_free(&s);
            lm_pose there = lm_pose_identity();
            /* Poses are limited; targets are not. */
            double limited = fmax(-LM_MAX_POSITION, fmin(LM_MAX_POSITION, places[p]));
            bool target = kind == FAR_PIN || kind == FAR_DRAG || kind == FAR_FIELD;
            double at = target ? places[p] : limited;
            there.position = (lm_dvec3){limited, limited, 0.0};
            lm_mover_id mover = make_far(world, body, kind, (lm_dvec3){at, at, 0.0});
            assert_ok(lm_mover_move_to(world, mover, there));
            for (int frame = 0; frame < 10; frame++) {
                if (frame == 3) assert_ok(lm_mover_move_to(world, mover, lm_pose_identity()));
                assert_ok(lm_world_step(world, FRAME));
                lm_totals totals;
                lm_world_get_totals(world, &totals);
                if (!totals.finite) fail_msg("kind %d at %g, frame %d", kind, places[p], frame);
                size_t size = lm_world_save_size(world);
                void *bytes = malloc(size);
                assert_ok(lm_world_save(world, bytes, size));
                assert_ok(lm_world_load(world, bytes, size));
                free(bytes);
            }
            lm_world_destroy(world);
        }
}

/* A step may be as short as a double can say. */
static void shortest_steps_stay_finite(void **context)
{
    (void)context;
    static const double lengths[] = {1e-9, 1e-30, 1e-300};
    for (int k = 0; k < 3; k++) {
        random_state random = {9};
        sample s = sample_make(SAMPLE_GRID, &random);
        s.def.material.stiffness = LM_STIFFNESS_ALPHA;
        lm_world *world = make_world(-9.81);
        lm_body_id body = make_body(world, &s.def);
        sample_free(&s);
        randomise_state(world, body, &random, 0.05, 1.0);
        for (int frame = 0; frame < 10; frame++) assert_ok(lm_world_step(world, lengths[k]));
        lm_totals totals;
        lm_world_get_totals(world, &totals);
        assert_true(totals.finite);
        lm_world_destroy(world);
    }
}

/* With alpha 1 and nothing else, a particle at rest arrives at its goal in one step. */
static void check_goals(lm_mode mode)
{
    random_state random = {31};
    sample s = sample_make(SAMPLE_GRID, &random);
    s.def.material.mode = mode;
    s.def.material.stiffness = LM_STIFFNESS_ALPHA;
    s.def.material.alpha = 1.0f;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &s.def);
    randomise_state(world, body, &random, 0.02, 0.0);
    body_state state = state_read(world, body, lm_dvec3_zero());
    lm_vec3 *x = calloc(s.count, sizeof *x), *v = calloc(s.count, sizeof *v), *goals = calloc(s.count, sizeof *goals);
    for (uint32_t i = 0; i < s.count; i++) x[i] = to_float(state.x[i]);
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
    steps(world, 1);
    assert_ok(lm_body_get_goals(world, body, lm_dvec3_zero(), goals));
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
    double moved = 0.0;
    for (uint32_t i = 0; i < s.count; i++) {
        assert_near(ref_length(ref_sub(to_double(goals[i]), to_double(x[i]))), 0.0, 1e-6);
        moved = fmax(moved, ref_length(ref_sub(to_double(x[i]), state.x[i])));
    }
    assert_true(moved > 0.01);
    free(x);
    free(v);
    free(goals);
    state_free(&state);
    lm_world_destroy(world);
    sample_free(&s);
}

static void goals_are_where_particles_go(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) check_goals((lm_mode)mode);
}

/* The squared distance of stretches t from s, in the metric of the rest shape's covariance. */
static double stretch_distance(const double covariance[3], const double s[3], const double t[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) sum += covariance[i] * (t[i] - s[i]) * (t[i] - s[i]);
    return sum;
}

/* A linear region stretched along its axes goes to the nearest stretch of its rest volume: no other stretch of that
 * volume, also not a flat one, is nearer. */
static void linear_goals_are_the_nearest_of_their_volume(void **context)
{
    (void)context;
    static const double stretches[][3] = {{0.5, 0.7, 0.9}, {0.2, 1.0, 1.1}, {1.2, 1.1, 1.3}, {2.0, 1.8, 1.6},
                                          {3.0, 2.5, 2.2}, {2.0, 5.0, 3.0}, {4.0, 1.0, 4.0}, {1.0, 6.0, 0.1}};
    for (size_t k = 0; k < sizeof stretches / sizeof *stretches; k++) {
        const double *s = stretches[k], beta = 0.9;
        random_state random = {61};
        sample box = sample_make(SAMPLE_BOX, &random);
        box.def.material.beta = (float)beta;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &box.def);
        lm_vec3 *x = calloc(box.count, sizeof *x);
        for (uint32_t i = 0; i < box.count; i++) {
            ref_vec p = to_double(box.points[i]);
            x[i] = to_float(ref_v(s[0] * p.x, s[1] * p.y, s[2] * p.z));
        }
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
        steps(world, 1);
        assert_ok(lm_body_get_goals(world, body, lm_dvec3_zero(), x));
        double covariance[3] = {0}, mixed[3] = {0}, t[3], best = INFINITY;
        for (uint32_t i = 0; i < box.count; i++) {
            ref_vec p = to_double(box.points[i]), g = to_double(x[i]);
            covariance[0] += p.x * p.x, covariance[1] += p.y * p.y, covariance[2] += p.z * p.z;
            mixed[0] += p.x * g.x, mixed[1] += p.y * g.y, mixed[2] += p.z * g.z;
        }
        for (int i = 0; i < 3; i++) t[i] = (mixed[i] / covariance[i] - (1.0 - beta)) / beta;
        assert_near(t[0] * t[1] * t[2], 1.0, 1e-4);
        for (double a = 0.02; a < 10.0; a *= 1.01)
            for (double b = 0.02; b < 10.0; b *= 1.01) {
                double other[3] = {a, b, 1.0 / (a * b)};
                best = fmin(best, stretch_distance(covariance, s, other));
            }
        assert_at_most(stretch_distance(covariance, s, t), 1.0001 * best);
        free(x);
        lm_world_destroy(world);
        sample_free(&box);
    }
}

/* What is set is what is read, particle by particle, also where the library keeps them in another order. */
static void states_come_back_in_order(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
        random_state random = {41};
        sample s = sample_make((sample_kind)kind, &random);
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &s.def);
        lm_vec3 *x = calloc(s.count, sizeof *x), *v = calloc(s.count, sizeof *v), *back = calloc(s.count, sizeof *back);
        for (uint32_t i = 0; i < s.count; i++) {
            x[i] = to_float(random_in_cube(&random, 1.0));
            v[i] = to_float(random_in_cube(&random, 1.0));
        }
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), back));
        assert_memory_equal(back, x, s.count * sizeof *x);
        assert_ok(lm_body_get_velocities(world, body, back));
        assert_memory_equal(back, v, s.count * sizeof *v);
        free(x);
        free(v);
        free(back);
        lm_world_destroy(world);
        sample_free(&s);
    }
}

/* A view shows what is copied out, before and after steps, with the caller's particles where it says that they are. */
static void views_show_the_state(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
        random_state random = {43};
        sample s = sample_make((sample_kind)kind, &random);
        lm_world *world = make_world(9.81);
        lm_body_id body = make_body(world, &s.def);
        lm_vec3 *x = calloc(s.count, sizeof *x), *v = calloc(s.count, sizeof *v);
        for (int step = 0; step < 3; step++) {
            lm_state_view view;
            assert_ok(lm_body_view_state(world, body, &view));
            assert_ok(lm_body_get_positions(world, body, view.origin, x));
            assert_ok(lm_body_get_velocities(world, body, v));
            assert_true(view.place_count >= s.count);
            for (uint32_t i = 0; i < s.count; i++) {
                uint32_t place = view.places[i];
                assert_true(place < view.place_count);
                assert_int_equal(view.particles[place], i);
                assert_memory_equal(view.positions + 4 * (size_t)place, &x[i], sizeof x[i]);
                assert_memory_equal(view.velocities + 4 * (size_t)place, &v[i], sizeof v[i]);
            }
            assert_ok(lm_world_step(world, 1.0 / 60.0));
        }
        free(x);
        free(v);
        lm_world_destroy(world);
        sample_free(&s);
    }
}

/* Ten steps from the same state, with a material that was there from the start or is set later. */
static uint64_t hash_with_material(lm_mode mode, bool late)
{
    random_state random = {51};
    sample s = sample_make(SAMPLE_GRID, &random);
    s.def.material.mode = mode;
    lm_material material = s.def.material;
    material.hertz = 11.0f;
    material.beta = 0.8f;
    if (!late) s.def.material = material;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &s.def);
    steps(world, 1);
    if (late) assert_ok(lm_body_set_material(world, body, &material));
    lm_vec3 *x = calloc(s.count, sizeof *x), *v = calloc(s.count, sizeof *v);
    for (uint32_t i = 0; i < s.count; i++) {
        x[i] = to_float(ref_scale(1.1, ref_add(to_double(s.points[i]), random_in_cube(&random, 0.02))));
        v[i] = to_float(random_in_cube(&random, 1.0));
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
    steps(world, 10);
    uint64_t hash = lm_world_hash(world);
    free(x);
    free(v);
    lm_world_destroy(world);
    sample_free(&s);
    return hash;
}

static void materials_set_late_are_as_good(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++)
        assert_true(hash_with_material((lm_mode)mode, true) == hash_with_material((lm_mode)mode, false));
}

/* Cells along each axis, all different: each is one region, from x fastest to z slowest, of the points in it. */
static void cells_are_counted_along_their_axes(void **context)
{
    (void)context;
    lm_vec3 points[24];
    for (uint32_t i = 0; i < 24; i++) /* one in each cell of 2 x 3 x 4 */
        points[i] = (lm_vec3){(float)(i % 2), (float)(i / 2 % 3), (float)(i / 6)};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = 24;
    def.clusters.counts[0] = 2;
    def.clusters.counts[1] = 3;
    def.clusters.counts[2] = 4;
    def.clusters.overlap = 0.0f;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &def);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    assert_int_equal(info.regions, 24);
    assert_int_equal(info.memberships, 24);
    uint32_t offsets[25], members[24];
    assert_ok(lm_body_get_regions(world, body, offsets, members));
    for (uint32_t i = 0; i < 24; i++) assert_int_equal(members[offsets[i]], i);
    lm_world_destroy(world);
}

static void materials_may_change_while_running(void **context)
{
    (void)context;
    random_state random = {41};
    sample s = sample_make(SAMPLE_GRID, &random);
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &s.def);
    randomise_state(world, body, &random, 0.03, 1.0);
    motion before = motion_read(world, body, lm_dvec3_zero());
    for (int round = 0; round < 40; round++) {
        lm_material material = lm_material_default();
        material.mode = (lm_mode)(round % LM_MODE_COUNT);
        material.stiffness = (lm_stiffness)random_below(&random, LM_STIFFNESS_COUNT);
        const bool young = material.stiffness == LM_STIFFNESS_YOUNG, sag = material.stiffness == LM_STIFFNESS_SAG;
        material.hertz = young || sag ? 0.0f : (float)random_range(&random, 0.0, 30.0);
        material.young = young ? (float)random_range(&random, 1e3, 1e6) : 0.0f;
        material.sag = sag ? (float)random_range(&random, 0.01, 0.5) : 0.0f;
        material.damping_ratio = (float)random_range(&random, 0.0, 2.0);
        material.alpha = (float)random_range(&random, 0.0, 1.0);
        material.beta = (float)random_range(&random, 0.0, 0.95);
        assert_ok(lm_body_set_material(world, body, &material));
        steps(world, 10);
    }
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    motion after = motion_read(world, body, info.centre);
    assert_true(after.finite);
    assert_near(ref_length(ref_sub(after.momentum, before.momentum)), 0.0, 1e-4 * ref_length(before.momentum));
    assert_near(ref_length(ref_sub(after.angular, before.angular)), 0.0, 1e-4 * ref_length(before.angular));
    lm_world_destroy(world);
    sample_free(&s);
}

/* The change of momentum is what the statistics say came from outside, in a world where everything happens. */
static void outside_impulse_balances_momentum(void **context)
{
    (void)context;
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    busy b = busy_make(&def);
    lm_stats start, now;
    lm_totals first, last;
    lm_world_get_stats(b.world, &start);
    lm_world_get_totals(b.world, &first);
    for (uint32_t frame = 0; frame < 60; frame++) busy_step(&b, frame);
    lm_world_get_stats(b.world, &now);
    lm_world_get_totals(b.world, &last);
    ref_vec change = ref_v(last.momentum.x - first.momentum.x, last.momentum.y - first.momentum.y,
                           last.momentum.z - first.momentum.z);
    ref_vec given =
        ref_v(now.outside_impulse.x - start.outside_impulse.x, now.outside_impulse.y - start.outside_impulse.y,
              now.outside_impulse.z - start.outside_impulse.z);
    assert_true(ref_length(given) > 10.0);
    assert_at_most(ref_length(ref_sub(change, given)), 1e-3 * last.momentum_scale);

    motion sum = {0};
    for (uint32_t k = 0; k < b.body_count; k++) {
        motion m = motion_read(b.world, b.bodies[k], lm_dvec3_zero());
        sum.momentum = ref_add(sum.momentum, m.momentum);
        sum.momentum_scale += m.momentum_scale;
        sum.kinetic += m.kinetic;
    }
    assert_near(last.momentum.y, sum.momentum.y, 1e-4 * sum.momentum_scale);
    assert_near(last.momentum_scale, sum.momentum_scale, 1e-4 * sum.momentum_scale);
    assert_near(last.kinetic_energy, sum.kinetic, 1e-4 * sum.kinetic);
    assert_int_equal(now.bodies, b.body_count);
    assert_true(now.steps == 60);
    busy_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(info_is_what_the_particles_say),
        cmocka_unit_test(bodies_start_as_defined),
        cmocka_unit_test(cells_overlap_as_asked),
        cmocka_unit_test(cells_cover_the_body),
        cmocka_unit_test(lists_are_kept),
        cmocka_unit_test(particles_in_no_region_are_free),
        cmocka_unit_test(smallest_regions_hold_together),
        cmocka_unit_test(mangled_bodies_recover),
        cmocka_unit_test(any_finite_state_stays_finite),
        cmocka_unit_test(far_away_things_stay_finite),
        cmocka_unit_test(shortest_steps_stay_finite),
        cmocka_unit_test(goals_are_where_particles_go),
        cmocka_unit_test(linear_goals_are_the_nearest_of_their_volume),
        cmocka_unit_test(states_come_back_in_order),
        cmocka_unit_test(views_show_the_state),
        cmocka_unit_test(materials_set_late_are_as_good),
        cmocka_unit_test(cells_are_counted_along_their_axes),
        cmocka_unit_test(materials_may_change_while_running),
        cmocka_unit_test(outside_impulse_balances_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
