/*
 * What a definition sets can be read and set later: bodies, colliders, movers, pins, drags and fields.
 */
#include "test/support/things.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lm_collider_id add_ground(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    assert_ok(lm_collider_create(world, &def, &id));
    return id;
}

static double height(const lm_world *world, lm_body_id body) { return body_centre(world, body).y; }

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

static thing_def box_at(int kind, double y)
{
    thing_def def = thing_default((sampling)kind);
    def.size = (lm_vec3){0.5f, 0.5f, 0.5f};
    def.pose.position.y = y;
    def.material = stiff_material(0.5, 0.0);
    return def;
}

/* --- bodies --- */

/* Two boxes that pass through each other are told to touch, and then not to any more. */
static void filters_can_change(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(-9.81);
        lm_collider_id ground = add_ground(world);
        thing_def low = box_at(kind, 0.26), high = box_at(kind, 0.85);
        low.mask = high.mask = kind == OCTREE || kind == LATTICE || kind == FINE; /* else they kept no mesh */
        lm_body_id a = thing_make(world, &low), b = thing_make(world, &high);
        lm_body_filter filter, read;
        assert_ok(lm_body_get_filter(world, b, &filter));
        assert_true(filter.group == 1 && filter.mask == low.mask && filter.collider_mask == UINT32_MAX);
        filter.mask = 0;
        assert_ok(lm_body_set_filter(world, a, &filter));
        assert_ok(lm_body_set_filter(world, b, &filter));
        steps(world, 60);
        assert_at_most(height(world, b), 0.4); /* through the other one, onto the ground */
        filter.mask = filter.group = 6;
        filter.collider_mask = 1;
        assert_ok(lm_body_set_filter(world, a, &filter));
        assert_ok(lm_body_set_filter(world, b, &filter));
        assert_ok(lm_body_get_filter(world, b, &read));
        assert_true(read.group == 6 && read.mask == 6 && read.collider_mask == 1 && !read.self_contact);
        assert_ok(lm_body_set_pose(world, a, low.pose, false));
        assert_ok(lm_body_set_pose(world, b, high.pose, false));
        assert_ok(lm_body_set_velocity(world, b, (lm_vec3){0}, (lm_vec3){0}));
        assert_ok(lm_body_set_velocity(world, a, (lm_vec3){0}, (lm_vec3){0}));
        steps(world, 60);
        if (height(world, b) < 0.65) fail_msg("%s: fell to %g", sampling_names[kind], height(world, b));
        assert_reloads(world, 3);
        filter.mask = 0; /* its solid stays, and nothing touches it */
        assert_ok(lm_body_set_filter(world, b, &filter));
        assert_reloads(world, 3);
        steps(world, 60);
        assert_at_most(height(world, b), 0.4);
        filter.collider_mask = 0;
        assert_ok(lm_body_set_filter(world, b, &filter));
        steps(world, 60);
        assert_at_most(height(world, b), -1.0);
        (void)ground;
        lm_world_destroy(world);
    }
}

static void bodies_without_a_mesh_cannot_become_solids(void **context)
{
    (void)context;
    const int kinds[2] = {FINE, OCTREE};
    for (int n = 0; n < 2; n++) {
        lm_world *world = make_world(0.0);
        thing_def def = box_at(kinds[n], 0.0);
        lm_body_id body = thing_make(world, &def);
        lm_body_filter filter, read;
        assert_ok(lm_body_get_filter(world, body, &filter));
        filter.mask = 1;
        assert_result(lm_body_set_filter(world, body, &filter), LM_ERROR_ARGUMENT);
        assert_ok(lm_body_get_filter(world, body, &read));
        assert_int_equal(read.mask, 0);
        /* Its skin is a mesh. */
        const lm_vec3 corners[4] = {{-0.25f, -0.25f, -0.25f}, {0.25f, 0, 0}, {0, 0.25f, 0}, {0, 0, 0.25f}};
        const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
        lm_skin_def skin = lm_skin_def_default();
        skin.vertices = corners, skin.vertex_count = 4, skin.triangles = faces, skin.triangle_count = 4;
        assert_ok(lm_body_set_skin(world, body, &skin));
        assert_ok(lm_body_set_filter(world, body, &filter));
        assert_reloads(world, 3);
        lm_world_destroy(world);
    }
}

/* Pieces of a body that can break touch others once it has a mask. */
static void breakable_bodies_take_filters(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    add_ground(world);
    thing_def low = box_at(FINE, 0.26), high = box_at(FINE, 0.9);
    lm_body_id a = thing_make(world, &low), b = thing_make(world, &high);
    lm_fracture_def fracture = lm_fracture_def_default();
    fracture.limit = 10.0f;
    assert_ok(lm_body_set_fracture(world, a, &fracture));
    assert_ok(lm_body_set_fracture(world, b, &fracture));
    lm_body_filter filter;
    assert_ok(lm_body_get_filter(world, a, &filter));
    filter.mask = 1;
    assert_ok(lm_body_set_filter(world, a, &filter));
    assert_ok(lm_body_set_filter(world, b, &filter));
    steps(world, 60);
    assert_true(height(world, b) > 0.65);
    assert_reloads(world, 3);
    filter.mask = 0;
    assert_ok(lm_body_set_filter(world, b, &filter));
    assert_reloads(world, 3);
    steps(world, 60);
    assert_at_most(height(world, b), 0.4);
    lm_world_destroy(world);
}

static void contact_radii_can_change(void **context)
{
    (void)context;
    for (uint32_t mask = 0; mask < 2; mask++) {
        lm_world *world = make_world(-9.81);
        add_ground(world);
        thing_def def = box_at(CLUSTERS, 0.3);
        def.mask = mask;
        lm_body_id body = thing_make(world, &def);
        steps(world, 60);
        double before = height(world, body);
        assert_ok(lm_body_set_contact_radius(world, body, 0.1f));
        assert_true(info_of(world, body).contact_radius == 0.1f);
        steps(world, 60);
        assert_near(height(world, body), before + 0.1, 0.01);
        assert_reloads(world, 3);
        lm_world_destroy(world);
    }
}

/* A body that is given masses is the body that was made with them. */
static void masses_can_change(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(0.0);
        thing_def def = box_at(kind, 0.0);
        def.material = soft_material(0.5, 0.0);
        lm_body_id body = thing_make(world, &def);
        steps(world, 2);
        assert_ok(lm_body_set_mass(world, body, 5.0f));
        assert_near(info_of(world, body).mass, 5.0, 1e-5);
        assert_ok(lm_body_add_impulse(world, body, (lm_vec3){10, 0, 0}, body_centre(world, body)));
        assert_near(info_of(world, body).velocity.x, 2.0, 1e-4);
        uint32_t count = info_of(world, body).particles;
        float *masses = malloc(count * sizeof *masses), *read = malloc(count * sizeof *read);
        for (uint32_t n = 0; n < count; n++) masses[n] = 0.01f * (float)(1 + n % 5);
        assert_ok(lm_body_set_masses(world, body, masses));
        assert_ok(lm_body_get_masses(world, body, read));
        assert_memory_equal(masses, read, count * sizeof *read);
        random_state random = {5};
        excite(world, body, &random, 0.02, 0.2, 1.0);
        motion before = motion_read(world, body, lm_dvec3_zero());
        steps(world, 30);
        motion after = motion_read(world, body, lm_dvec3_zero());
        assert_near(after.momentum.x, before.momentum.x, 1e-4 * before.momentum_scale);
        assert_near(after.angular.y, before.angular.y, 1e-4 * before.angular_scale);
        assert_reloads(world, 5);
        free(masses), free(read);
        lm_world_destroy(world);
    }
}

static void given_and_made_masses_are_the_same(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
        uint64_t hashes[2];
        for (int given = 0; given < 2; given++) {
            random_state random = {11};
            lm_world *world = make_world(-9.81);
            sample s = sample_make((sample_kind)kind, &random);
            float *masses = malloc(s.count * sizeof *masses);
            for (uint32_t n = 0; n < s.count; n++) masses[n] = 0.1f * (float)(1 + n % 4);
            s.def.masses = given ? NULL : masses;
            lm_body_id body = make_body(world, &s.def);
            if (given) assert_ok(lm_body_set_masses(world, body, masses));
            /* It was placed about another centre of mass. */
            assert_ok(lm_body_set_pose(world, body, s.def.pose, false));
            random_state push = {12};
            excite(world, body, &push, 0.01, 0.2, 1.0);
            steps(world, 20);
            hashes[given] = lm_world_hash(world);
            free(masses);
            sample_free(&s);
            lm_world_destroy(world);
        }
        if (hashes[0] != hashes[1]) fail_msg("%s: given masses are others", sample_name((sample_kind)kind));
    }
}

/* A body that was out of the world for a while goes on as if it had not been. */
static void bodies_can_be_disabled(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *worlds[2];
        lm_body_id bodies[2];
        for (int n = 0; n < 2; n++) {
            worlds[n] = make_world(-9.81);
            add_ground(worlds[n]);
            thing_def def = box_at(kind, 0.6);
            def.mask = 1;
            bodies[n] = thing_make(worlds[n], &def);
            def.pose.position.y = 5.0; /* one that has had company touches with what its solid has shown */
            assert_ok(lm_body_destroy(worlds[n], thing_make(worlds[n], &def)));
            steps(worlds[n], 10);
        }
        lm_world *world = worlds[0];
        assert_true(info_of(world, bodies[0]).enabled && lm_body_is_awake(world, bodies[0]));
        assert_ok(lm_body_set_enabled(world, bodies[0], false));
        assert_false(info_of(world, bodies[0]).enabled);
        assert_false(lm_body_is_awake(world, bodies[0]));
        uint64_t hash = lm_world_hash(world);
        lm_ray_hit hit;
        lm_dvec3 above = {0, 10, 0};
        assert_false(lm_world_cast_ray(world, &(lm_ray){above, {0, -1, 0}, 100.0f, UINT32_MAX, 0}, &hit));
        assert_true(lm_world_overlap_sphere(world, body_centre(world, bodies[0]), 0.3f, NULL, 0) == 0);
        /* What falls on it falls through it. */
        thing_def falls = box_at(kind, 1.5);
        falls.mask = 1;
        lm_body_id other = thing_make(world, &falls);
        assert_reloads(world, 5);
        steps(world, 70);
        assert_at_most(height(world, other), 0.4);
        assert_ok(lm_body_destroy(world, other));
        assert_true(lm_world_hash(world) == hash);
        assert_ok(lm_body_set_enabled(world, bodies[0], true));
        assert_true(lm_world_overlap_sphere(world, body_centre(world, bodies[0]), 0.3f, NULL, 0) == 1);
        steps(world, 30);
        steps(worlds[1], 30);
        if (lm_world_hash(world) != lm_world_hash(worlds[1])) fail_msg("%s: goes on otherwise", sampling_names[kind]);
        lm_world_destroy(world);
        lm_world_destroy(worlds[1]);
    }
}

/* One that others lean on: they wake and fall. */
static void disabling_wakes_what_rests_on_it(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    assert_ok(lm_world_set_sleep(world, &sleep));
    lm_collider_id ground = add_ground(world);
    thing_def low = box_at(LATTICE, 0.26), high = box_at(LATTICE, 0.78);
    low.mask = high.mask = 1;
    lm_body_id a = thing_make(world, &low), b = thing_make(world, &high);
    steps(world, 300);
    assert_false(lm_body_is_awake(world, b));
    assert_ok(lm_body_set_enabled(world, a, false));
    steps(world, 60);
    assert_at_most(height(world, b), 0.4);
    steps(world, 300);
    assert_false(lm_body_is_awake(world, b));
    assert_ok(lm_collider_set_enabled(world, ground, false));
    assert_true(lm_body_is_awake(world, b));
    steps(world, 60);
    assert_at_most(height(world, b), -1.0);
    assert_ok(lm_body_set_enabled(world, a, true));
    assert_true(lm_body_may_sleep(world, a));
    assert_ok(lm_body_set_may_sleep(world, a, false));
    assert_false(lm_body_may_sleep(world, a));
    steps(world, 5);
    lm_world_destroy(world);
}

/* --- colliders and movers --- */

static void colliders_can_change(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_collider_id ground = add_ground(world);
    thing_def def = box_at(FINE, 0.3);
    lm_body_id body = thing_make(world, &def);
    steps(world, 40);
    double rest = height(world, body);
    lm_pose higher = {{0, 0.2, 0}, lm_pose_identity().rotation}, at;
    assert_ok(lm_collider_set_pose(world, ground, higher));
    assert_ok(lm_collider_get_pose(world, ground, &at));
    assert_true(at.position.y == 0.2);
    steps(world, 40);
    assert_near(height(world, body), rest + 0.2, 0.01);
    assert_ok(lm_collider_set_filter(world, ground, 2, 4));
    lm_collider_def read;
    assert_ok(lm_collider_get_def(world, ground, &read));
    assert_true(read.group == 2 && read.mask == 4);
    steps(world, 5);
    assert_at_most(height(world, body), rest + 0.19); /* it falls */
    assert_ok(lm_collider_set_filter(world, ground, 1, UINT32_MAX));
    /* Another shape: a box whose top is at 0.5. */
    lm_collider_def box = lm_collider_def_default();
    box.shape = LM_SHAPE_BOX;
    box.half_extents = (lm_vec3){5, 0.5f, 5};
    box.friction = 0.25f;
    box.user_data = 99;
    assert_ok(lm_collider_set_def(world, ground, &box));
    assert_ok(lm_collider_get_def(world, ground, &read));
    assert_true(read.shape == LM_SHAPE_BOX && read.half_extents.y == 0.5f && read.friction == 0.25f);
    assert_true(read.user_data == 99);
    assert_ok(lm_body_set_pose(world, body, (lm_pose){{0, 1, 0}, lm_pose_identity().rotation}, false));
    steps(world, 60);
    assert_near(height(world, body), rest + 0.5, 0.02);
    /* A mesh, made again from what it says of itself. */
    for (int shape = LM_SHAPE_HEIGHTS; shape <= LM_SHAPE_MESH; shape++) {
        lm_collider_def solid = lm_collider_def_default();
        solid.shape = (lm_shape)shape;
        give_arrays(&solid);
        solid.pose.position.y = -5.0;
        assert_ok(lm_collider_set_def(world, ground, &solid));
        assert_ok(lm_collider_get_def(world, ground, &read));
        assert_ok(lm_collider_set_def(world, ground, &read));
        steps(world, 2);
        assert_reloads(world, 3);
    }
    lm_world_destroy(world);
}

/* A box on a slope stays or slides. */
static void friction_of_colliders_can_change(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_collider_id ground = add_ground(world);
    lm_pose slope = {{0, 0, 0}, {0, 0, 0.17364818f, 0.98480775f}}; /* 20 degrees */
    assert_ok(lm_collider_set_pose(world, ground, slope));
    assert_ok(lm_collider_set_friction(world, ground, 4.0f, 0.25f));
    lm_collider_def read;
    assert_ok(lm_collider_get_def(world, ground, &read));
    assert_true(read.friction == 4.0f && read.restitution == 0.25f);
    thing_def def = box_at(FINE, 0.0);
    def.pose = slope;
    def.pose.position = (lm_dvec3){-0.0855 * 1.5, 0.235 * 1.5 - 0.05, 0};
    lm_body_id body = thing_make(world, &def);
    steps(world, 60);
    double before = height(world, body);
    steps(world, 60);
    assert_near(height(world, body), before, 0.02);
    assert_ok(lm_collider_set_friction(world, ground, 0.0f, 0.0f));
    steps(world, 60);
    assert_at_most(height(world, body), before - 0.3);
    lm_world_destroy(world);
}

static void colliders_can_be_disabled(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_collider_id ground = add_ground(world), none = {0, 0};
    thing_def def = box_at(FINE, 0.3);
    def.mask = 1;
    lm_body_id body = thing_make(world, &def);
    steps(world, 30);
    lm_ray_hit hit;
    lm_dvec3 above = {3, 2, 0};
    assert_true(lm_collider_is_enabled(world, ground) && !lm_collider_is_enabled(world, none));
    assert_true(lm_world_cast_ray(world, &(lm_ray){above, {0, -1, 0}, 10.0f, UINT32_MAX, UINT32_MAX}, &hit));
    assert_int_equal(lm_world_overlap_sphere(world, (lm_dvec3){3, -1, 0}, 0.1f, NULL, 0), 1);
    assert_ok(lm_collider_set_enabled(world, ground, false));
    assert_false(lm_collider_is_enabled(world, ground));
    assert_false(lm_world_cast_ray(world, &(lm_ray){above, {0, -1, 0}, 10.0f, UINT32_MAX, UINT32_MAX}, &hit));
    assert_int_equal(lm_world_overlap_sphere(world, (lm_dvec3){3, -1, 0}, 0.1f, NULL, 0), 0);
    assert_reloads(world, 5);
    steps(world, 30);
    assert_at_most(height(world, body), -0.5);
    assert_ok(lm_collider_set_enabled(world, ground, true));
    assert_reloads(world, 3);
    lm_world_destroy(world);
}

static void movers_can_be_read_and_put(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_mover_def def = lm_mover_def_default(), read;
    lm_mover_id mover;
    def.velocity = (lm_vec3){1, 0, 0};
    def.spin = (lm_vec3){0, 2, 0};
    def.user_data = 77;
    assert_ok(lm_mover_create(world, &def, &mover));
    lm_collider_def plate = lm_collider_def_default();
    lm_collider_id collider;
    plate.mover = mover;
    assert_ok(lm_collider_create(world, &plate, &collider));
    steps(world, 6);
    assert_ok(lm_mover_get_def(world, mover, &read));
    assert_near(read.pose.position.x, 0.1, 1e-9);
    assert_true(read.velocity.x == 1 && read.spin.y == 2 && read.user_data == 77);
    lm_pose there = {{5, 1, 0}, {0, 0, 2, 2}};
    assert_ok(lm_mover_set_pose(world, mover, there));
    assert_ok(lm_mover_set_user_data(world, mover, 78));
    assert_ok(lm_mover_get_def(world, mover, &read));
    assert_true(read.pose.position.x == 5 && read.velocity.x == 1 && read.user_data == 78);
    assert_near(read.pose.rotation.z, 0.70710678, 1e-6);
    lm_pose at;
    assert_ok(lm_collider_get_pose(world, collider, &at));
    assert_true(at.position.x == 5 && at.position.y == 1);
    assert_reloads(world, 3);
    lm_world_destroy(world);
}

/* --- pins, drags, fields, user data --- */

static void pins_can_be_moved(void **context)
{
    (void)context;
    for (int riding = 0; riding < 2; riding++) {
        lm_world *world = make_world(-9.81);
        lm_mover_def mover_def = lm_mover_def_default();
        lm_mover_id mover = {0, 0};
        mover_def.pose = (lm_pose){{1, 0, 0}, {0, 1, 0, 0}}; /* half a turn */
        if (riding) assert_ok(lm_mover_create(world, &mover_def, &mover));
        thing_def def = box_at(FINE, 2.0);
        lm_body_id body = thing_make(world, &def);
        uint32_t particles[2] = {3, 8}, read[2];
        lm_pin_def pin = lm_pin_def_default();
        lm_pin_id id;
        pin.body = body, pin.particles = particles, pin.particle_count = 2, pin.mover = mover;
        assert_ok(lm_pin_create(world, &pin, &id));
        lm_pin_info info;
        assert_ok(lm_pin_get_info(world, id, &info));
        assert_true(info.body.slot == body.slot && info.mover.slot == mover.slot && info.particles == 2);
        lm_dvec3 targets[2], again[2];
        assert_ok(lm_pin_get_targets(world, id, read, targets));
        assert_memory_equal(read, particles, sizeof read);
        for (int n = 0; n < 2; n++) targets[n].y += 0.25;
        assert_ok(lm_pin_set_targets(world, id, targets));
        assert_ok(lm_pin_get_targets(world, id, NULL, again));
        lm_vec3 *x = malloc(info_of(world, body).particles * sizeof *x);
        steps(world, 2);
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
        for (int n = 0; n < 2; n++) {
            assert_near(again[n].y, targets[n].y, 1e-12);
            assert_near(x[particles[n]].y, targets[n].y, 1e-5);
            assert_near(x[particles[n]].x, targets[n].x, 1e-5);
        }
        targets[1].z = NAN;
        assert_result(lm_pin_set_targets(world, id, targets), LM_ERROR_ARGUMENT);
        assert_reloads(world, 3);
        free(x);
        lm_world_destroy(world);
    }
}

static void drags_and_fields_can_change(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    thing_def thing = box_at(FINE, 0.0);
    lm_body_id body = thing_make(world, &thing);
    lm_drag_def def = lm_drag_def_default(), read;
    lm_drag_id drag;
    def.body = body;
    assert_ok(lm_drag_create(world, &def, &drag));
    assert_ok(lm_drag_get_def(world, drag, &read));
    assert_true(read.hertz == 2.0f && read.max_force == FLT_MAX && read.body.slot == body.slot);
    read.particle = 5, read.radius = 0.2f, read.hertz = 4.0f, read.damping_ratio = 0.5f, read.max_force = 3.0f;
    read.target = (lm_dvec3){0, 50, 0};
    assert_ok(lm_drag_set_def(world, drag, &read));
    assert_ok(lm_drag_get_def(world, drag, &def));
    assert_memory_equal(&def, &read, sizeof def);
    steps(world, 1);
    lm_vec3 force;
    assert_ok(lm_drag_get_force(world, drag, &force));
    assert_near(force.y, 3.0, 1e-2); /* as much as it may */
    assert_reloads(world, 3);
    lm_field_def field = lm_field_def_default(), same;
    lm_field_id id;
    field.vector = (lm_vec3){1, 2, 3};
    assert_ok(lm_field_create(world, &field, &id));
    assert_ok(lm_field_get(world, id, &same));
    assert_memory_equal(&field, &same, sizeof same);
    lm_world_destroy(world);
}

static void user_data_survives(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0), *other = make_world(0.0);
    lm_collider_id ground = add_ground(world);
    lm_mover_def mover_def = lm_mover_def_default();
    lm_mover_id mover;
    assert_ok(lm_mover_create(world, &mover_def, &mover));
    thing_def thing = box_at(CLUSTERS, 1.0);
    lm_body_id body = thing_make(world, &thing);
    uint64_t hash = lm_world_hash(world);
    assert_ok(lm_body_set_user_data(world, body, UINT64_MAX));
    assert_ok(lm_body_set_penalty(world, body, 12.0f));
    assert_ok(lm_collider_set_user_data(world, ground, 1234567890123456789u));
    assert_ok(lm_mover_set_user_data(world, mover, 42));
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    assert_ok(lm_world_load(other, bytes, size));
    float penalty;
    assert_ok(lm_body_get_penalty(other, body, &penalty));
    assert_true(penalty == 12.0f && info_of(other, body).user_data == UINT64_MAX);
    lm_collider_def collider_def;
    assert_ok(lm_collider_get_def(other, ground, &collider_def));
    assert_ok(lm_mover_get_def(other, mover, &mover_def));
    assert_true(collider_def.user_data == 1234567890123456789u && mover_def.user_data == 42);
    assert_true(lm_world_hash(other) == hash);
    free(bytes);
    lm_world_destroy(world);
    lm_world_destroy(other);
}

/* --- everything at once --- */

typedef struct stage {
    lm_world *world;
    lm_body_id bodies[SAMPLINGS];
    lm_collider_id ground;
    lm_mover_id mover;
    lm_pin_id pin;
    lm_drag_id drag;
} stage;

static stage stage_make(const lm_world_def *def)
{
    stage s;
    assert_ok(lm_world_create(def, &s.world));
    s.ground = add_ground(s.world);
    lm_mover_def mover_def = lm_mover_def_default();
    assert_ok(lm_mover_create(s.world, &mover_def, &s.mover));
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        thing_def thing = box_at(kind, 0.4 + 0.55 * kind);
        thing.material = soft_material(0.5, 0.0);
        thing.mask = 1;
        s.bodies[kind] = thing_make(s.world, &thing);
    }
    uint32_t particle = 2;
    lm_pin_def pin = lm_pin_def_default();
    pin.body = s.bodies[TETS], pin.particles = &particle, pin.particle_count = 1, pin.mover = s.mover;
    assert_ok(lm_pin_create(s.world, &pin, &s.pin));
    lm_drag_def drag = lm_drag_def_default();
    drag.body = s.bodies[OCTREE];
    drag.radius = 0.2f;
    assert_ok(lm_drag_create(s.world, &drag, &s.drag));
    return s;
}

/* What happens before a frame. */
static void stage_change(stage *s, uint32_t frame)
{
    lm_world *world = s->world;
    lm_body_id body = s->bodies[frame % SAMPLINGS];
    float step = 0.01f * (float)(frame % 7);
    if (frame % 3 == 0) assert_ok(lm_body_set_mass(world, body, 1.0f + step));
    if (frame % 5 == 1) assert_ok(lm_body_set_contact_radius(world, body, step));
    if (frame % 6 == 2) {
        lm_body_filter filter = {1, frame % 4 ? 1 : 0, frame % 12 ? UINT32_MAX : 0, false};
        assert_ok(lm_body_set_filter(world, body, &filter));
    }
    if (frame % 7 == 3) assert_ok(lm_body_set_enabled(world, body, frame % 2));
    if (frame % 8 == 4) {
        lm_pose pose = {{0.3 * step, 1.0 + step, 0}, {0, step, 0, 1}};
        assert_ok(lm_body_set_pose(world, body, pose, frame % 3));
    }
    if (frame % 9 == 5) assert_ok(lm_body_set_velocity(world, body, (lm_vec3){step, 1, 0}, (lm_vec3){0, 0, 3}));
    if (frame % 10 == 6) assert_ok(lm_collider_set_friction(world, s->ground, step, step));
    if (frame % 11 == 7) assert_ok(lm_collider_set_pose(world, s->ground, (lm_pose){{0, step, 0}, {0, 0, 0, 1}}));
    if (frame % 12 == 8) assert_ok(lm_mover_set_pose(world, s->mover, (lm_pose){{step, 0, 0}, {0, 0, 0, 1}}));
    if (frame % 13 == 9) {
        lm_dvec3 target = {step, 1.5, step};
        assert_ok(lm_pin_set_targets(world, s->pin, &target));
        lm_drag_def drag;
        assert_ok(lm_drag_get_def(world, s->drag, &drag));
        drag.particle = frame % 20, drag.target.y = step;
        assert_ok(lm_drag_set_def(world, s->drag, &drag));
    }
    if (frame == 25 || frame == 40) {
        lm_body_id copy;
        assert_ok(lm_body_clone(world, body, &copy));
        assert_ok(lm_body_set_pose(world, copy, (lm_pose){{0.2, 3, 0.1}, {0, 0, 0, 1}}, true));
        assert_ok(lm_body_set_enabled(world, copy, true));
    }
}

static void one_hash_for_threads_and_instruction_sets(void **context)
{
    (void)context;
    enum { FRAMES = 60 };
    uint64_t expected = 0;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        for (uint32_t workers = 1; workers <= 3; workers += 2) {
            if (!lm_isa_supported((lm_isa)isa)) continue;
            lm_world_def def = lm_world_def_default();
            def.isa = (lm_isa)isa;
            def.workers = workers;
            def.substeps = 2;
            stage s = stage_make(&def);
            for (uint32_t frame = 0; frame < FRAMES; frame++) {
                stage_change(&s, frame);
                assert_ok(lm_world_step(s.world, FRAME));
            }
            uint64_t hash = lm_world_hash(s.world);
            expected = expected ? expected : hash;
            if (hash != expected) fail_msg("%s, %u workers: another hash", lm_isa_name((lm_isa)isa), workers);
            lm_world_destroy(s.world);
        }
    }
}

static void snapshots_hold_all_of_it(void **context)
{
    (void)context;
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    stage s = stage_make(&def);
    for (uint32_t frame = 0; frame < 50; frame++) {
        stage_change(&s, frame);
        if (frame % 10 == 9) assert_reloads(s.world, 2);
        assert_ok(lm_world_step(s.world, FRAME));
    }
    lm_world_destroy(s.world);
}

/* --- wrong values and memory --- */

static int lines;
static void count_line(lm_result result, const char *line, void *user)
{
    (void)user;
    assert_true(strlen(line) > 10);
    if (result == LM_OK) return; /* of stiffness out of reach */
    lines++;
}

static const uint8_t *saved;
static size_t saved_size;

static void assert_unchanged(const lm_world *world)
{
    assert_true(lm_world_save_size(world) == saved_size);
    uint8_t *now = malloc(saved_size);
    assert_ok(lm_world_save(world, now, saved_size));
    assert_memory_equal(now, saved, saved_size);
    free(now);
}

#define REFUSED(call, result)                                                                                          \
    do {                                                                                                               \
        lines = 0;                                                                                                     \
        assert_result(call, result);                                                                                   \
        assert_int_equal(lines, 1);                                                                                    \
        assert_unchanged(s.world);                                                                                     \
    } while (0)

static void wrong_values_change_nothing(void **context)
{
    (void)context;
    lm_world_def def = lm_world_def_default();
    def.log.write = count_line;
    def.workers = 1;
    stage s = stage_make(&def);
    lm_world *world = s.world;
    steps(world, 3);
    saved_size = lm_world_save_size(world);
    uint8_t *bytes = malloc(saved_size);
    assert_ok(lm_world_save(world, bytes, saved_size));
    saved = bytes;
    lm_body_id none = {0, 0}, body = s.bodies[0];
    lm_collider_id no_collider = {9, 9};
    lm_mover_id no_mover = {9, 9};
    lm_body_filter filter = {1, 1, 1, false};
    const float bad[] = {-1.0f, NAN, INFINITY, 2e12f};
    for (int n = 0; n < 4; n++) {
        REFUSED(lm_body_set_contact_radius(world, body, bad[n]), LM_ERROR_ARGUMENT);
        REFUSED(lm_body_set_penalty(world, body, bad[n]), LM_ERROR_ARGUMENT);
        REFUSED(lm_body_set_mass(world, body, bad[n]), LM_ERROR_ARGUMENT);
        REFUSED(lm_collider_set_friction(world, s.ground, bad[n], 0.0f), LM_ERROR_ARGUMENT);
        REFUSED(lm_collider_set_friction(world, s.ground, 0.0f, bad[n]), LM_ERROR_ARGUMENT);
    }
    REFUSED(lm_body_set_mass(world, body, 0.0f), LM_ERROR_ARGUMENT);
    REFUSED(lm_body_set_mass(world, body, 1e-44f), LM_ERROR_ARGUMENT); /* its particles would weigh nothing */
    uint32_t count = info_of(world, body).particles;
    float *masses = malloc(count * sizeof *masses);
    for (uint32_t n = 0; n < count; n++) masses[n] = 1.0f;
    masses[count - 1] = 0.0f;
    REFUSED(lm_body_set_masses(world, body, masses), LM_ERROR_ARGUMENT);
    masses[count - 1] = 1e-12f;
    REFUSED(lm_body_set_masses(world, body, masses), LM_ERROR_ARGUMENT);
    free(masses);
    lm_pose pose = lm_pose_identity();
    pose.rotation.w = 0.0f;
    REFUSED(lm_collider_set_pose(world, s.ground, pose), LM_ERROR_ARGUMENT);
    REFUSED(lm_mover_set_pose(world, s.mover, pose), LM_ERROR_ARGUMENT);
    lm_collider_def collider = lm_collider_def_default();
    collider.shape = LM_SHAPE_SPHERE;
    collider.radius = 0.0f;
    REFUSED(lm_collider_set_def(world, s.ground, &collider), LM_ERROR_ARGUMENT);
    collider.radius = 1.0f;
    collider.mover = no_mover;
    REFUSED(lm_collider_set_def(world, s.ground, &collider), LM_ERROR_ID);
    collider.cookie = 0;
    REFUSED(lm_collider_set_def(world, s.ground, &collider), LM_ERROR_ARGUMENT);
    lm_dvec3 target = {NAN, 0, 0};
    REFUSED(lm_pin_set_targets(world, s.pin, &target), LM_ERROR_ARGUMENT);
    lm_drag_def drag;
    assert_ok(lm_drag_get_def(world, s.drag, &drag));
    lm_drag_def wrong = drag;
    wrong.body = s.bodies[0];
    REFUSED(lm_drag_set_def(world, s.drag, &wrong), LM_ERROR_ARGUMENT);
    wrong = drag, wrong.particle = UINT32_MAX;
    REFUSED(lm_drag_set_def(world, s.drag, &wrong), LM_ERROR_ARGUMENT);
    wrong = drag, wrong.hertz = 0.0f;
    REFUSED(lm_drag_set_def(world, s.drag, &wrong), LM_ERROR_ARGUMENT);
    wrong = drag, wrong.cookie = 0;
    REFUSED(lm_drag_set_def(world, s.drag, &wrong), LM_ERROR_ARGUMENT);
    REFUSED(lm_body_set_filter(world, none, &filter), LM_ERROR_ID);
    REFUSED(lm_body_get_filter(world, none, &filter), LM_ERROR_ID);
    REFUSED(lm_body_set_contact_radius(world, none, 0.0f), LM_ERROR_ID);
    REFUSED(lm_body_set_penalty(world, none, 0.0f), LM_ERROR_ID);
    REFUSED(lm_body_set_mass(world, none, 1.0f), LM_ERROR_ID);
    REFUSED(lm_body_set_masses(world, none, NULL), LM_ERROR_ID);
    REFUSED(lm_body_set_user_data(world, none, 1), LM_ERROR_ID);
    REFUSED(lm_body_set_enabled(world, none, false), LM_ERROR_ID);
    REFUSED(lm_collider_set_def(world, no_collider, &collider), LM_ERROR_ID);
    REFUSED(lm_collider_set_pose(world, no_collider, pose), LM_ERROR_ID);
    REFUSED(lm_collider_set_friction(world, no_collider, 0, 0), LM_ERROR_ID);
    REFUSED(lm_collider_set_filter(world, no_collider, 0, 0), LM_ERROR_ID);
    REFUSED(lm_collider_set_enabled(world, no_collider, true), LM_ERROR_ID);
    REFUSED(lm_collider_set_user_data(world, no_collider, 1), LM_ERROR_ID);
    REFUSED(lm_mover_set_pose(world, no_mover, pose), LM_ERROR_ID);
    REFUSED(lm_mover_set_user_data(world, no_mover, 1), LM_ERROR_ID);
    free(bytes);
    lm_world_destroy(world);
}

typedef struct miser {
    uint64_t left; /* requests that are granted; UINT64_MAX: all */
    bool refused;
} miser;

static void *miser_allocate(size_t size, size_t alignment, void *user)
{
    miser *m = user;
    if (m->left == 0) {
        m->refused = true;
        return NULL;
    }
    m->left -= m->left != UINT64_MAX;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void miser_release(void *memory, size_t size, void *user)
{
    (void)size, (void)user;
    free(memory);
}

/* Calls that allocate, by number. */
static lm_result call(stage *s, int which)
{
    lm_body_id body = s->bodies[which % SAMPLINGS], copy;
    lm_body_filter filter = {1, 1, 1, true};
    lm_collider_def mesh = lm_collider_def_default();
    lm_drag_def drag;
    mesh.shape = LM_SHAPE_MESH;
    give_arrays(&mesh);
    switch (which / SAMPLINGS) {
    case 0: return lm_body_clone(s->world, body, &copy);
    case 1: return lm_body_set_mass(s->world, body, 7.0f);
    case 2: return lm_body_set_filter(s->world, body, &filter);
    case 3: return lm_body_set_contact_radius(s->world, body, 0.07f);
    case 4: return lm_collider_set_def(s->world, s->ground, &mesh);
    default:
        assert_ok(lm_drag_get_def(s->world, s->drag, &drag));
        drag.radius = 0.3f;
        return lm_drag_set_def(s->world, s->drag, &drag);
    }
}

static void any_allocation_may_fail(void **context)
{
    (void)context;
    miser m = {UINT64_MAX, false};
    lm_world_def def = lm_world_def_default();
    def.allocator = (lm_allocator){miser_allocate, miser_release, &m};
    def.workers = 1;
    stage s = stage_make(&def);
    steps(s.world, 2);
    saved_size = lm_world_save_size(s.world);
    uint8_t *bytes = malloc(saved_size);
    assert_ok(lm_world_save(s.world, bytes, saved_size));
    saved = bytes;
    for (int which = 0; which < 6 * SAMPLINGS; which++) {
        for (uint64_t n = 0;; n = n + 1 + n / 3) {
            m = (miser){n, false};
            lm_result result = call(&s, which);
            m.left = UINT64_MAX;
            if (!m.refused) {
                assert_int_equal(result, LM_OK);
                break;
            }
            assert_int_equal(result, LM_ERROR_MEMORY);
            assert_unchanged(s.world);
        }
        assert_ok(lm_world_load(s.world, bytes, saved_size));
    }
    free(bytes);
    lm_world_destroy(s.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_can_change),
        cmocka_unit_test(bodies_without_a_mesh_cannot_become_solids),
        cmocka_unit_test(breakable_bodies_take_filters),
        cmocka_unit_test(contact_radii_can_change),
        cmocka_unit_test(masses_can_change),
        cmocka_unit_test(given_and_made_masses_are_the_same),
        cmocka_unit_test(bodies_can_be_disabled),
        cmocka_unit_test(disabling_wakes_what_rests_on_it),
        cmocka_unit_test(colliders_can_change),
        cmocka_unit_test(friction_of_colliders_can_change),
        cmocka_unit_test(colliders_can_be_disabled),
        cmocka_unit_test(movers_can_be_read_and_put),
        cmocka_unit_test(pins_can_be_moved),
        cmocka_unit_test(drags_and_fields_can_change),
        cmocka_unit_test(user_data_survives),
        cmocka_unit_test(one_hash_for_threads_and_instruction_sets),
        cmocka_unit_test(snapshots_hold_all_of_it),
        cmocka_unit_test(wrong_values_change_nothing),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
