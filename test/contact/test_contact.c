/*
 * Colliders: where bodies come to rest, how they slide and bounce, how far they are pushed out, and what moving colliders
 * do to them.
 */
#include "test/support/support.h"

#include <stdlib.h>

static lm_collider_id make_collider(lm_world *world, lm_shape shape, double friction, double restitution)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    def.shape = shape;
    def.friction = (float)friction;
    def.restitution = (float)restitution;
    assert_ok(lm_collider_create(world, &def, &collider));
    return collider;
}

static void bodies_rest_on_the_floor(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++)
        for (int thick = 0; thick < 2; thick++) {
            random_state random = {1};
            sample s = sample_make(SAMPLE_BOX, &random);
            lm_world *world = make_world(-9.81);
            make_collider(world, LM_SHAPE_PLANE, 0.5, 0.0);
            s.def.material.mode = (lm_mode)mode;
            s.def.material.damping_ratio = 0.3f;
            s.def.contact_radius = thick ? 0.05f : 0.0f;
            s.def.pose.position = (lm_dvec3){0, 0.4, 0};
            lm_body_id body = make_body(world, &s.def);
            steps(world, 600);
            lm_body_info info;
            assert_ok(lm_body_get_info(world, body, &info));
            assert_near(info.lower.y, thick ? 0.05 : 0.0, 2e-4);
            assert_at_most(info.max_speed, 0.02);
            /* Its weight squeezes it a little: 9.81 / (2 pi 8)² is 4 mm for a particle at the end of its spring. */
            assert_near(info.centre.y, (thick ? 0.05 : 0.0) + 0.1, 0.03);
            lm_stats stats;
            lm_world_get_stats(world, &stats);
            assert_int_equal(stats.contacts, 12); /* the lower 4 x 3 particles */
            lm_world_destroy(world);
            sample_free(&s);
        }
}

/* On a level floor friction takes mu g away from the speed every second, then holds. */
static void friction_brakes_a_sliding_block(void **context)
{
    (void)context;
    for (int block = 0; block < 2; block++)
        for (int k = 0; k < 3; k++) {
            double mu = 0.2 * (k + 1);
            random_state random = {1};
            sample s = sample_make(SAMPLE_BOX, &random);
            lm_world *world = make_world(-9.81);
            assert_ok(lm_world_set_substeps(world, 4));
            make_collider(world, LM_SHAPE_PLANE, mu, 0.0);
            lm_material material = lm_material_default();
            material.friction = (float)mu;
            material.damping_ratio = 0.5f;
            material.hertz = 20.0f;
            s.def.material = material;
            s.def.pose.position = (lm_dvec3){0, 0.1, 0};
            s.def.velocity = (lm_vec3){3, 0, 0};
            lm_body_id body =
                block ? make_body(world, &s.def) : make_particle(world, ref_v(0, 0, 0), ref_v(3, 0, 0), &material, 0.0);
            int frames = 20;
            steps(world, frames);
            motion m = motion_read(world, body, lm_dvec3_zero());
            double expected = 3.0 - mu * 9.81 * frames * FRAME;
            assert_near(m.momentum.x / m.mass, expected, (block ? 0.1 : 0.02) * (3.0 - expected));
            steps(world, 120);
            m = motion_read(world, body, lm_dvec3_zero());
            assert_near(m.momentum.x / m.mass, 0.0, 0.01);
            lm_world_destroy(world);
            sample_free(&s);
        }
}

/* Coulomb's cone: on a slope of angle a, a particle stays where tan a < mu and slides with g (sin a - mu cos a) else. */
static void slopes_hold_up_to_the_angle_of_friction(void **context)
{
    (void)context;
    for (int k = 0; k < 4; k++) {
        double mu = 0.4, angle = 0.15 + 0.15 * k;
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 4));
        lm_collider_def def = lm_collider_def_default();
        lm_collider_id collider;
        def.pose.rotation = quaternion(ref_v(0, 0, angle));
        def.friction = (float)mu;
        assert_ok(lm_collider_create(world, &def, &collider));
        lm_material material = lm_material_default();
        material.friction = (float)mu;
        lm_body_id body = make_particle(world, ref_v(0, 0, 0), ref_v(0, 0, 0), &material, 0.0);
        steps(world, 60);
        ref_vec v;
        read_particle(world, body, NULL, &v);
        double expected = fmax(0.0, 9.81 * (sin(angle) - mu * cos(angle)));
        assert_near(ref_length(v), expected, 0.03 * expected + 0.05);
        lm_world_destroy(world);
    }
}

static void restitution_bounces_to_its_height(void **context)
{
    (void)context;
    for (int k = 0; k < 4; k++) {
        double bounce = 0.25 * (k + 1), height = 1.0;
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 16));
        /* The larger of both counts, whichever side has it. */
        lm_material material = lm_material_default();
        material.restitution = (float)(k % 2 ? bounce : 0.1);
        make_collider(world, LM_SHAPE_PLANE, 0.0, k % 2 ? 0.1 : bounce);
        lm_body_id body = make_particle(world, ref_v(0, height, 0), ref_v(0, 0, 0), &material, 0.0);
        bool risen = false;
        double top = 0.0;
        for (int frame = 0; frame < 100; frame++) {
            ref_vec x, v;
            steps(world, 1);
            read_particle(world, body, &x, &v);
            if (v.y > 0.0) risen = true;
            if (risen) top = fmax(top, x.y);
            if (risen && v.y < 0.0) break;
        }
        assert_near(top, bounce * bounce * height, 0.05 * height);
        lm_world_destroy(world);
    }
}

/* Slower than half a metre a second nothing bounces: else resting contacts would never come to rest. */
static void slow_contacts_do_not_bounce(void **context)
{
    (void)context;
    for (int fast = 0; fast < 2; fast++) {
        lm_world *world = make_world(0.0);
        make_collider(world, LM_SHAPE_PLANE, 0.5, 1.0);
        ref_vec v;
        lm_body_id body = make_particle(world, ref_v(0, 0.001, 0), ref_v(0, fast ? -0.6 : -0.4, 0), NULL, 0.0);
        steps(world, 1);
        read_particle(world, body, NULL, &v);
        assert_near(v.y, fast ? 0.6 : 0.0, 1e-5);
        lm_world_destroy(world);
    }
}

/* ---- push-out against a sampled surface ---- */

static ref_vec on_sphere(uint32_t k, uint32_t count)
{
    double y = 1.0 - 2.0 * (k + 0.5) / count, r = sqrt(1.0 - y * y), a = 2.399963229728653 * k;
    return ref_v(r * cos(a), y, r * sin(a));
}

/* Point k of `count` spread over the surface of the shape, in its own frame. */
static ref_vec surface_point(const lm_collider_def *def, uint32_t k, uint32_t count)
{
    ref_vec s = on_sphere(k, count);
    if (def->shape == LM_SHAPE_SPHERE) return ref_scale((double)def->radius, s);
    if (def->shape == LM_SHAPE_CAPSULE) {
        /* A third of the points for the caps, the rest for the side. */
        if (k % 3 == 0) {
            ref_vec cap = ref_scale((double)def->radius, on_sphere(k / 3, count / 3));
            cap.y += cap.y > 0.0 ? (double)def->half_length : -(double)def->half_length;
            return cap;
        }
        double r = sqrt(s.x * s.x + s.z * s.z);
        return ref_v((double)def->radius * s.x / r, (double)def->half_length * s.y, (double)def->radius * s.z / r);
    }
    ref_vec half = to_double(def->half_extents);
    uint32_t side = (uint32_t)sqrt(count / 6.0), face = k % 6, i = (k / 6) % side, j = (k / 6) / side % side;
    double u = -1.0 + 2.0 * (i + 0.5) / side, w = -1.0 + 2.0 * (j + 0.5) / side, sign = face % 2 ? 1.0 : -1.0;
    if (face / 2 == 0) return ref_v(sign * half.x, u * half.y, w * half.z);
    if (face / 2 == 1) return ref_v(u * half.x, sign * half.y, w * half.z);
    return ref_v(u * half.x, w * half.y, sign * half.z);
}

static bool is_inside(const lm_collider_def *def, ref_vec p)
{
    if (def->shape == LM_SHAPE_SPHERE) return ref_length(p) < (double)def->radius;
    if (def->shape == LM_SHAPE_CAPSULE) {
        double past = fmax(0.0, fabs(p.y) - (double)def->half_length);
        return sqrt(p.x * p.x + p.z * p.z + past * past) < (double)def->radius;
    }
    ref_vec half = to_double(def->half_extents);
    return fabs(p.x) < half.x && fabs(p.y) < half.y && fabs(p.z) < half.z;
}

/* A particle comes out by the shortest way, to exactly the contact radius from the surface. */
static void particles_are_pushed_out_the_shortest_way(void **context)
{
    (void)context;
    enum { SURFACE = 6000 };
    random_state random = {17};
    for (int shape = LM_SHAPE_SPHERE; shape <= LM_SHAPE_BOX; shape++) /* the others: test_collide.c */
        for (int trial = 0; trial < 80; trial++) {
            lm_collider_def def = lm_collider_def_default();
            lm_collider_id collider;
            def.shape = (lm_shape)shape;
            def.radius = 0.4f;
            def.half_length = 0.5f;
            def.half_extents = (lm_vec3){0.3f, 0.5f, 0.4f};
            ref_vec turn = random_in_cube(&random, 2.0), centre = random_in_cube(&random, 3.0);
            ref_mat rotation = ref_rotation(turn);
            def.pose.position = to_dvec3(centre);
            def.pose.rotation = quaternion(turn);
            double radius = trial % 2 ? 0.1 : 0.0;
            ref_vec local = random_in_cube(&random, 0.8);
            ref_vec start = ref_add(centre, ref_mat_vec(rotation, local));

            double nearest = 1e9;
            for (uint32_t k = 0; k < SURFACE; k++)
                nearest = fmin(nearest, ref_length(ref_sub(surface_point(&def, k, SURFACE), local)));
            double distance = is_inside(&def, local) ? -nearest : nearest;

            lm_world *world = make_world(0.0);
            assert_ok(lm_collider_create(world, &def, &collider));
            lm_body_id body = make_particle(world, start, ref_v(0, 0, 0), NULL, radius);
            ref_vec end;
            steps(world, 1);
            read_particle(world, body, &end, NULL);
            double expected = fmax(0.0, radius - distance);
            assert_near(ref_length(ref_sub(end, start)), expected, 0.012); /* the samples are 2 cm apart */

            /* There it is clear of every point of the surface by the radius. */
            ref_vec local_end = ref_mat_vec(ref_transpose(rotation), ref_sub(end, centre));
            double clearance = 1e9;
            for (uint32_t k = 0; k < SURFACE; k++)
                clearance = fmin(clearance, ref_length(ref_sub(surface_point(&def, k, SURFACE), local_end)));
            if (expected > 0.02) assert_near(clearance, radius, 0.02);
            lm_world_destroy(world);
        }
}

/* ---- moving colliders ---- */

static void conveyor_belts_carry(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_mover_def mover_def = lm_mover_def_default();
    lm_mover_id mover;
    mover_def.velocity = (lm_vec3){1, 0, 0.5f};
    assert_ok(lm_mover_create(world, &mover_def, &mover));
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    def.shape = LM_SHAPE_BOX;
    def.half_extents = (lm_vec3){5, 0.5f, 5};
    def.pose.position = (lm_dvec3){0, -0.5, 0};
    def.mover = mover;
    assert_ok(lm_collider_create(world, &def, &collider));
    random_state random = {1};
    sample s = sample_make(SAMPLE_BOX, &random);
    s.def.pose.position = (lm_dvec3){0, 0.1, 0};
    s.def.material.damping_ratio = 0.5f;
    lm_body_id body = make_body(world, &s.def);
    steps(world, 120);
    motion m = motion_read(world, body, lm_dvec3_zero());
    assert_near(m.momentum.x / m.mass, 1.0, 0.03);
    assert_near(m.momentum.z / m.mass, 0.5, 0.03);
    lm_pose pose;
    assert_ok(lm_collider_get_pose(world, collider, &pose));
    assert_near(pose.position.x, 2.0, 1e-5);
    assert_near(pose.position.y, -0.5, 1e-9);

    /* The belt stops: so does what lies on it, and a destroyed mover leaves its colliders standing. */
    assert_ok(lm_mover_destroy(world, mover));
    steps(world, 120);
    m = motion_read(world, body, lm_dvec3_zero());
    assert_near(m.momentum.x / m.mass, 0.0, 0.01);
    lm_pose later;
    assert_ok(lm_collider_get_pose(world, collider, &later));
    assert_near(later.position.x, pose.position.x, 1e-9);
    lm_world_destroy(world);
    sample_free(&s);
}

static void pistons_push(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_mover_def mover_def = lm_mover_def_default();
    lm_mover_id mover;
    mover_def.pose.position = (lm_dvec3){-1.0, 0, 0};
    mover_def.velocity = (lm_vec3){2, 0, 0};
    assert_ok(lm_mover_create(world, &mover_def, &mover));
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    def.shape = LM_SHAPE_BOX;
    def.mover = mover;
    assert_ok(lm_collider_create(world, &def, &collider));
    lm_body_id particle = make_particle(world, ref_v(0, 0.1, 0), ref_v(0, 0, 0), NULL, 0.0);
    steps(world, 60);
    ref_vec x, v;
    read_particle(world, particle, &x, &v);
    assert_near(x.x, 1.0 + 0.5, 0.04); /* the face is half a metre ahead of the mover at x = 1 */
    assert_near(v.x, 2.0, 1e-4);
    assert_near(x.y, 0.1, 1e-5);
    lm_world_destroy(world);
}

/* A plane that turns: its surface moves with w x r. */
static void turntables_turn(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_mover_def mover_def = lm_mover_def_default();
    lm_mover_id mover;
    mover_def.spin = (lm_vec3){0, 0.5f, 0};
    assert_ok(lm_mover_create(world, &mover_def, &mover));
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    def.mover = mover;
    def.friction = 4.0f;
    assert_ok(lm_collider_create(world, &def, &collider));
    lm_material material = lm_material_default();
    material.friction = 4.0f;
    lm_body_id particle = make_particle(world, ref_v(1, 0, 0), ref_v(0, 0, 0), &material, 0.0);
    steps(world, 60);
    ref_vec x, v;
    read_particle(world, particle, &x, &v);
    assert_near(ref_length(v), 0.5 * ref_length(x), 0.02);
    assert_near(x.x, cos(0.5), 0.02);
    assert_near(x.z, -sin(0.5), 0.02);
    lm_world_destroy(world);
}

/* A long body of which one end is in the ground, on planes that face every way. */
static void planes_of_every_slope_are_met(void **context)
{
    (void)context;
    for (int k = 0; k < 27; k++) {
        ref_vec n = ref_v(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
        if (k == 13) continue; /* no direction at all */
        n = ref_normalise(n);
        lm_world *world = make_world(0.0);
        lm_collider_def plane = lm_collider_def_default();
        lm_collider_id id;
        ref_vec axis = ref_cross(ref_v(0, 1, 0), n);
        double sine = ref_length(axis), angle = atan2(sine, n.y);
        plane.pose.rotation = quaternion(sine > 1e-9 ? ref_scale(angle / sine, axis) : ref_v(angle, 0, 0));
        plane.pose.position = (lm_dvec3){0.3, -0.2, 0.1};
        assert_ok(lm_collider_create(world, &plane, &id));
        ref_vec deep = ref_add_scaled(ref_v(0.3, -0.2, 0.1), -0.05, n), high = ref_add_scaled(deep, 3.0, n);
        lm_vec3 points[2] = {to_float(deep), to_float(high)};
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.points = points;
        def.point_count = 2;
        def.clusters.kind = LM_CLUSTERS_LISTS; /* none: both are free */
        lm_body_id body = make_body(world, &def);
        steps(world, 1);
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), points));
        assert_near(ref_length(ref_sub(to_double(points[0]), ref_add_scaled(deep, 0.05, n))), 0.0, 1e-5);
        assert_near(ref_length(ref_sub(to_double(points[1]), high)), 0.0, 1e-5);
        lm_world_destroy(world);
    }
}

/* The pose of a collider on a mover is where its surface is. */
static void colliders_tell_where_they_are(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_mover_def mover_def = lm_mover_def_default();
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    lm_pose pose;
    mover_def.pose.position = (lm_dvec3){1, 2, 3};
    mover_def.spin = (lm_vec3){0, 2, 0};
    assert_ok(lm_mover_create(world, &mover_def, &def.mover));
    def.shape = LM_SHAPE_SPHERE;
    def.radius = 0.25f;
    def.pose.position = (lm_dvec3){0.5, 0, 0};
    assert_ok(lm_collider_create(world, &def, &collider));
    steps(world, 30); /* turned by one radian */
    assert_ok(lm_collider_get_pose(world, collider, &pose));
    assert_near(pose.position.x, 1 + 0.5 * cos(1.0), 1e-5);
    assert_near(pose.position.y, 2, 1e-5);
    assert_near(pose.position.z, 3 - 0.5 * sin(1.0), 1e-5);
    assert_near(fabs((double)pose.rotation.y), sin(0.5), 1e-5);
    lm_world_destroy(world);
}

/* Removing the floor lets things fall. */
static void removed_colliders_are_gone(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_collider_id floor = make_collider(world, LM_SHAPE_PLANE, 0.5, 0.0);
    lm_body_id particle = make_particle(world, ref_v(0, 0, 0), ref_v(0, 0, 0), NULL, 0.0);
    ref_vec x;
    steps(world, 30);
    read_particle(world, particle, &x, NULL);
    assert_near(x.y, 0.0, 1e-6);
    assert_ok(lm_collider_destroy(world, floor));
    steps(world, 30);
    read_particle(world, particle, &x, NULL);
    assert_near(x.y, -9.81 * FRAME * FRAME * 30 * 31 / 2, 1e-3);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_rest_on_the_floor),
        cmocka_unit_test(friction_brakes_a_sliding_block),
        cmocka_unit_test(slopes_hold_up_to_the_angle_of_friction),
        cmocka_unit_test(restitution_bounces_to_its_height),
        cmocka_unit_test(slow_contacts_do_not_bounce),
        cmocka_unit_test(particles_are_pushed_out_the_shortest_way),
        cmocka_unit_test(conveyor_belts_carry),
        cmocka_unit_test(pistons_push),
        cmocka_unit_test(turntables_turn),
        cmocka_unit_test(planes_of_every_slope_are_met),
        cmocka_unit_test(colliders_tell_where_they_are),
        cmocka_unit_test(removed_colliders_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
