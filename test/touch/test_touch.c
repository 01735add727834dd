/*
 * Contacts of bodies of every sampling with colliders: where they rest, how they slide and bounce, and that they do not
 * pass through thin walls.
 */
#include "test/support/things.h"

#include <stdlib.h>

/* A plane, or a mesh: a solid slab of twelve triangles whose upper face is the same plane. */
static bool on_mesh;

static void add_floor(lm_world *world, double angle, double friction)
{
    static const lm_vec3 corners[8] = {{-60, -4, -60}, {60, -4, -60}, {60, -4, 60}, {-60, -4, 60},
                                       {-60, 0, -60},  {60, 0, -60},  {60, 0, 60},  {-60, 0, 60}};
    static const uint32_t faces[36] = {0, 1, 2, 0, 2, 3, 4, 6, 5, 4, 7, 6, 0, 4, 5, 0, 5, 1,
                                       1, 5, 6, 1, 6, 2, 2, 6, 7, 2, 7, 3, 3, 7, 4, 3, 4, 0};
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    def.pose.rotation = quaternion(ref_v(0, 0, angle));
    def.friction = (float)friction;
    if (on_mesh) {
        def.shape = LM_SHAPE_MESH;
        def.mesh.vertices = corners;
        def.mesh.vertex_count = 8;
        def.mesh.triangles = faces;
        def.mesh.triangle_count = 12;
        def.mesh.solid = true;
    }
    assert_ok(lm_collider_create(world, &def, &collider));
}

static double lowest_touch(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 *points = malloc(info.contact_points * sizeof *points);
    assert_ok(lm_body_get_contact_points(world, body, lm_dvec3_zero(), points));
    double lowest = INFINITY;
    for (uint32_t n = 0; n < info.contact_points; n++) lowest = fmin(lowest, (double)points[n].y);
    free(points);
    return lowest;
}

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

static const lm_vec3 still = {0, 0, 0};

/* What is seen lies on the floor, wherever the particles are. */
static void surfaces_rest_on_the_floor(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++)
        for (int soft = 0; soft < 2; soft++) {
            lm_world *world = make_world(-9.81);
            add_floor(world, 0.0, 0.5);
            lm_material material = soft ? soft_material(0.5, 0) : stiff_material(0.5, 0);
            lm_pose pose = lm_pose_identity();
            pose.position.y = 0.6;
            lm_body_id body = add_thing(world, kind, "sphere", (lm_vec3){1, 1, 1}, pose, &material, still);
            steps(world, 300);
            lm_body_info info = info_of(world, body);
            /* A soft ball is flattened, rolls, and what it lies on changes all the time. */
            assert_near(lowest_touch(world, body), 0.0, soft ? 0.014 : 1e-3);
            assert_at_most(info.max_speed, soft ? 0.8 : 0.4); /* it may still roll; see balls_stop_rolling */
            assert_near(info.centre.y, 0.5, soft ? 0.15 : 0.02);
            if (kind == LATTICE) assert_at_most(info.lower.y, -0.02); /* its particles are outside */
            if (kind == SKINNED) assert_at_most(0.005, info.lower.y); /* and these inside */
            lm_world_destroy(world);
        }
}

/* A soft ball that is flattened finds a place to lie on, and stays there. (With one substep it rolls about for longer than half a minute: the
 * match of a region that turns while it is pressed is late by half a substep, which drives it.) */
static void balls_stop_rolling(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 4));
    add_floor(world, 0.0, 0.5);
    lm_material material = soft_material(0.5, 0);
    lm_pose pose = lm_pose_identity();
    pose.position.y = 0.6;
    lm_body_id body = add_thing(world, SKINNED, "sphere", (lm_vec3){1, 1, 1}, pose, &material, still);
    steps(world, 1800);
    assert_at_most(info_of(world, body).max_speed, 0.05);
    lm_world_destroy(world);
}

/* A block sticks below the angle of friction and slides above it: two degrees to either side. */
/* Bodies that begin in the floor come out of it, in short substeps and of any size: what may stay is a share of the size. Sheets stood in the
 * floor from 112 substeps on, and bodies of ten metres from 12 on. */
static void what_is_in_the_floor_comes_out(void **context)
{
    (void)context;
    static const struct {
        float size;
        uint32_t substeps;
    } cases[] = {{1.0f, 256}, {20.0f, 16}, {200.0f, 2}};
    for (sampling kind = SKINNED; kind < SAMPLINGS; kind++)
        for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
            const float size = cases[n].size;
            lm_world *world = make_world(-9.81);
            assert_ok(lm_world_set_substeps(world, cases[n].substeps));
            add_floor(world, 0.0, 0.5);
            lm_pose pose = lm_pose_identity();
            pose.position.y = 0.49 * (double)size;
            lm_material material = soft_material(0.5, 0.0);
            lm_body_id body = add_thing(world, kind, "box", (lm_vec3){size, size, size}, pose, &material, still);
            steps(world, 60 + 2 * (uint32_t)size);
            assert_at_most(-lowest_touch(world, body), 1e-3 * (double)size);
            lm_world_destroy(world);
        }
}

static void blocks_stick_and_slide(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++)
        for (int soft = 0; soft < 2; soft++)
            for (int steep = 0; steep < 2; steep++) {
                double mu = 0.5, angle = atan(mu) + (steep ? 2.0 : -2.0) * 3.14159265358979 / 180.0;
                lm_world *world = make_world(-9.81);
                add_floor(world, angle, mu);
                lm_material material = soft ? soft_material(mu, 0) : stiff_material(mu, 0);
                lm_pose pose = lm_pose_identity();
                pose.rotation = quaternion(ref_v(0, 0, angle));
                pose.position = (lm_dvec3){-0.2 * sin(angle), 0.2 * cos(angle), 0};
                lm_body_id body = add_thing(world, kind, "box", (lm_vec3){0.8f, 0.4f, 0.8f}, pose, &material, still);
                steps(world, 120); /* it settles */
                lm_body_info before = info_of(world, body);
                steps(world, 120);
                lm_body_info after = info_of(world, body);
                double way = (before.centre.x - after.centre.x) / cos(angle);
                double accelerated = 9.81 * (sin(angle) - mu * cos(angle));
                if (steep) { /* from 2 s to 4 s: a (16 - 4) / 2 */
                    if (!(way > 0.5 * accelerated * 6.0)) print_message("%s soft %d\n", sampling_names[kind], soft);
                    assert_at_most(0.5 * accelerated * 6.0, way);
                } else {
                    if (!(fabs(way) < 4e-3)) print_message("%s soft %d\n", sampling_names[kind], soft);
                    assert_near(way, 0.0, 4e-3);
                }
                lm_world_destroy(world);
            }
}

/* Drops a ball and says how high above its lowest position it rises again, as a share of the drop. */
static double rise_of(sampling kind, const lm_material *material, double height, uint32_t substeps)
{
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, substeps));
    add_floor(world, 0.0, 0.5);
    lm_pose pose = lm_pose_identity();
    pose.position.y = height + 0.5;
    lm_body_id body = add_thing(world, kind, "sphere", (lm_vec3){1, 1, 1}, pose, material, still);
    double top = 0.0, drop = lowest_touch(world, body), low = info_of(world, body).centre.y - drop;
    bool hit = false;
    for (int frame = 0; frame < 200; frame++) {
        steps(world, 1);
        lm_body_info info = info_of(world, body);
        hit = hit || info.velocity.y > 0.0f;
        if (hit) top = fmax(top, info.centre.y - low);
    }
    lm_world_destroy(world);
    return top / drop;
}

static void stiff_balls_rise_as_restitution_says(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++)
        for (int k = 0; k < 3; k++) {
            double e = 0.3 + 0.3 * k;
            lm_material material = stiff_material(0.5, e);
            double rise = rise_of(kind, &material, 2.0, 4);
            if (!(fabs(rise - e * e) <= 0.1 * e * e)) print_message("%s, e %g\n", sampling_names[kind], e);
            assert_near(rise, e * e, 0.1 * e * e);
        }
}

static void soft_balls_never_rise_above_the_drop(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++)
        for (int k = 0; k < 3; k++) {
            lm_material material = soft_material(0.5, 0.5 * k);
            material.hertz = 3.0f;
            material.damping_ratio = 0.05f;
            double rise = rise_of(kind, &material, 2.0, 1);
            if (!(rise < 1.0)) print_message("%s, e %g rise %g\n", sampling_names[kind], 0.5 * k, rise);
            assert_at_most(rise, 1.0);
        }
}

static void the_same_on_a_mesh(void **context)
{
    on_mesh = true;
    surfaces_rest_on_the_floor(context);
    blocks_stick_and_slide(context);
    stiff_balls_rise_as_restitution_says(context);
    soft_balls_never_rise_above_the_drop(context);
    on_mesh = false;
}

/* A ball at 100 m/s against a wall of two centimetres, from either side and at an angle. */
static void fast_balls_stop_at_thin_walls(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++)
        for (int soft = 0; soft < 2; soft++)
            for (int k = 0; k < 6; k++) {
                lm_world *world = make_world(0.0);
                lm_collider_def def = lm_collider_def_default();
                lm_collider_id collider;
                def.shape = LM_SHAPE_BOX;
                def.half_extents = (lm_vec3){0.01f, 20, 20};
                assert_ok(lm_collider_create(world, &def, &collider));
                lm_material material = soft ? soft_material(0.5, 0) : stiff_material(0.5, 0);
                lm_pose pose = lm_pose_identity();
                double side = k % 2 ? -1.0 : 1.0;
                pose.position.x = side * (1.0 + 0.3 * k);
                lm_vec3 velocity = {(float)(-side * (40.0 + 12.0 * k)), 5.0f * (float)k, 0};
                lm_body_id body = add_thing(world, kind, "sphere", (lm_vec3){1, 1, 1}, pose, &material, velocity);
                steps(world, 20);
                lm_body_info info = info_of(world, body);
                if (!(info.centre.x * side > 0.2)) print_message("%s soft %d k %d\n", sampling_names[kind], soft, k);
                assert_at_most(0.2, info.centre.x * side);
                lm_vec3 *points = malloc(info.contact_points * sizeof *points);
                assert_ok(lm_body_get_contact_points(world, body, lm_dvec3_zero(), points));
                /* None is left in it or beyond it by as much as the distance between particles. */
                double deepest = INFINITY, spacing = kind == LATTICE ? 0.3 : 0.15;
                for (uint32_t n = 0; n < info.contact_points; n++) deepest = fmin(deepest, side * (double)points[n].x);
                if (deepest < -spacing) print_message("%s soft %d k %d\n", sampling_names[kind], soft, k);
                assert_at_most(-spacing, deepest);
                free(points);
                lm_world_destroy(world);
            }
}

/* What colliders give is counted: momentum changes by that and by gravity alone. */
static void pushes_are_counted(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++)
        for (int soft = 0; soft < 2; soft++) {
            lm_world *world = make_world(-9.81);
            add_floor(world, 0.1, 0.5);
            lm_material material = soft ? soft_material(0.5, 0.5) : stiff_material(0.5, 0.5);
            lm_pose pose = lm_pose_identity();
            pose.position.y = 0.9;
            lm_body_id body =
                add_thing(world, kind, "box", (lm_vec3){1, 1, 1}, pose, &material, (lm_vec3){3.0f, -2.0f, 0.5f});
            lm_stats before, after;
            lm_world_get_stats(world, &before);
            motion start = motion_read(world, body, lm_dvec3_zero());
            uint32_t touched = 0;
            for (int frame = 0; frame < 60; frame++) {
                steps(world, 1);
                lm_world_get_stats(world, &after);
                touched += after.contacts;
            }
            motion end = motion_read(world, body, lm_dvec3_zero());
            ref_vec given = ref_v(after.outside_impulse.x - before.outside_impulse.x,
                                  after.outside_impulse.y - before.outside_impulse.y,
                                  after.outside_impulse.z - before.outside_impulse.z);
            ref_vec changed = ref_sub(end.momentum, start.momentum);
            assert_at_most(ref_length(ref_sub(given, changed)), 1e-3 * (ref_length(start.momentum) + 1.0));
            assert_true(touched > 0);
            lm_world_destroy(world);
        }
}

/* A loaded world goes on as the saved one. */
static void snapshots_keep_touch_points(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(-9.81), *other = make_world(-9.81);
        add_floor(world, 0.1, 0.5);
        lm_material material = soft_material(0.5, 0.0);
        lm_pose pose = lm_pose_identity();
        pose.position.y = 0.55;
        lm_body_id body = add_thing(world, kind, "sphere", (lm_vec3){1, 1, 1}, pose, &material, still);
        steps(world, 20);
        size_t size = lm_world_save_size(world);
        void *bytes = malloc(size);
        assert_ok(lm_world_save(world, bytes, size));
        assert_ok(lm_world_load(other, bytes, size));
        assert_int_equal(info_of(world, body).contact_points, info_of(other, body).contact_points);
        steps(world, 20);
        steps(other, 20);
        assert_true(lm_world_hash(world) == lm_world_hash(other));
        free(bytes);
        lm_world_destroy(world);
        lm_world_destroy(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surfaces_rest_on_the_floor),
        cmocka_unit_test(balls_stop_rolling),
        cmocka_unit_test(what_is_in_the_floor_comes_out),
        cmocka_unit_test(blocks_stick_and_slide),
        cmocka_unit_test(stiff_balls_rise_as_restitution_says),
        cmocka_unit_test(soft_balls_never_rise_above_the_drop),
        cmocka_unit_test(the_same_on_a_mesh),
        cmocka_unit_test(fast_balls_stop_at_thin_walls),
        cmocka_unit_test(pushes_are_counted),
        cmocka_unit_test(snapshots_keep_touch_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
