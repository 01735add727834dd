/*
 * Rays and overlaps, against formulas and against points thrown at random.
 */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

static lm_collider_id add_collider(lm_world *world, lm_shape shape, lm_dvec3 at, ref_vec turn)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    def.shape = shape;
    give_arrays(&def);
    def.radius = 0.4f;
    def.half_length = 0.6f;
    def.half_extents = (lm_vec3){0.3f, 0.5f, 0.7f};
    def.pose = (lm_pose){at, quaternion(turn)};
    assert_ok(lm_collider_create(world, &def, &id));
    return id;
}

/* Signed distance of a point from the colliders above, in their own frame; a height map's own is not needed. */
static bool is_inside(lm_shape shape, ref_vec p)
{
    switch (shape) {
    case LM_SHAPE_PLANE: return p.y < 0.0;
    case LM_SHAPE_SPHERE: return ref_length(p) < (double)0.4f;
    case LM_SHAPE_CAPSULE: p.y -= fmin(fmax(p.y, -0.6), 0.6); return ref_length(p) < (double)0.4f;
    case LM_SHAPE_BOX: return fabs(p.x) < (double)0.3f && fabs(p.y) < 0.5 && fabs(p.z) < (double)0.7f;
    case LM_SHAPE_MESH: return p.x > 0 && p.y > 0 && p.z > 0 && p.x + p.y + p.z < 1.0;
    default: return false;
    }
}

static ref_vec local_of(ref_vec p, lm_dvec3 at, ref_vec turn)
{
    return ref_mat_vec(ref_transpose(ref_rotation(turn)), ref_sub(p, ref_v(at.x, at.y, at.z)));
}

/* Where a ray meets a collider, points just before are outside and just behind inside; and none on the way is inside. */
static void rays_meet_the_surface(void **context)
{
    (void)context;
    random_state random = {21};
    for (int shape = 0; shape < LM_SHAPE_COUNT; shape++) {
        if (shape == LM_SHAPE_HEIGHTS) continue;
        int hits = 0;
        for (int trial = 0; trial < 400; trial++) {
            lm_dvec3 at = to_dvec3(random_in_cube(&random, 0.5));
            ref_vec turn = random_in_cube(&random, 2.0), origin = random_in_cube(&random, 3.0);
            ref_vec aim = ref_sub(random_in_cube(&random, 1.0), origin);
            lm_world *world = make_world(0.0);
            lm_collider_id id = add_collider(world, (lm_shape)shape, at, turn);
            lm_ray_hit hit;
            bool found = lm_world_cast_ray(
                world, &(lm_ray){to_dvec3(origin), to_float(aim), 10.0f, UINT32_MAX, UINT32_MAX}, &hit);
            ref_vec unit = ref_scale(1.0 / ref_length(aim), aim);
            double until = found ? hit.distance : 10.0;
            for (int k = 1; k < 300; k++) {
                ref_vec p = ref_add(origin, ref_scale(k / 300.0 * (until - 1e-4), unit));
                if (until > 1e-3) assert_false(is_inside((lm_shape)shape, local_of(p, at, turn)));
            }
            if (found) {
                hits++;
                assert_int_equal(hit.collider.slot, id.slot);
                assert_int_equal(hit.body.slot, 0);
                assert_near(ref_length(ref_sub(ref_v(hit.point.x, hit.point.y, hit.point.z),
                                               ref_add(origin, ref_scale(hit.distance, unit)))),
                            0.0, 1e-4);
                assert_near(ref_length(to_double(hit.normal)), 1.0, 1e-5);
                assert_at_most(ref_dot(to_double(hit.normal), unit), 1e-6);
                ref_vec within = ref_add(origin, ref_scale(hit.distance + 2e-5, unit));
                ref_vec n = to_double(hit.normal);
                if (ref_dot(n, unit) < -0.2) assert_true(is_inside((lm_shape)shape, local_of(within, at, turn)));
                assert_false(lm_world_cast_ray(world,
                                               &(lm_ray){to_dvec3(origin), to_float(aim), hit.distance * 0.999f,
                                                         UINT32_MAX, UINT32_MAX},
                                               &hit) &&
                             hit.distance > 0.0f);
            }
            lm_world_destroy(world);
        }
        assert_true(hits > 40);
    }
}

/* The nearer of a body and a collider; heights from above; nonsense. */
static void rays_meet_what_is_nearer(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_collider_id floor = add_collider(world, LM_SHAPE_PLANE, lm_dvec3_zero(), ref_v(0, 0, 0));
    lm_collider_id map = add_collider(world, LM_SHAPE_HEIGHTS, (lm_dvec3){5, 1, 0}, ref_v(0, 0, 0));
    random_state random = {3};
    sample s = sample_make(SAMPLE_BOX, &random);
    s.def.pose.position = (lm_dvec3){0, 2, 0};
    s.def.contact_radius = 0.2f;
    lm_body_id body = make_body(world, &s.def);
    lm_ray_hit hit;
    assert_true(lm_world_cast_ray(world, &(lm_ray){{0, 5, 0}, {0, -2, 0}, 100.0f, UINT32_MAX, UINT32_MAX}, &hit));
    assert_int_equal(hit.body.slot, body.slot);
    assert_int_equal(hit.collider.slot, 0);
    assert_true(lm_world_cast_ray(world, &(lm_ray){{2, 5, 0}, {0, -2, 0}, INFINITY, UINT32_MAX, UINT32_MAX}, &hit));
    assert_int_equal(hit.collider.slot, floor.slot);
    assert_near(hit.distance, 5.0, 1e-5);
    /* Sample (1, 1) of the map, 0.5 high, is at x = 5 - 0.25, z = 0. */
    assert_true(lm_world_cast_ray(world, &(lm_ray){{4.75, 5, 0}, {0, -1, 0}, INFINITY, UINT32_MAX, UINT32_MAX}, &hit));
    assert_int_equal(hit.collider.slot, map.slot);
    assert_near(hit.distance, 3.5, 1e-5);
    assert_true(lm_world_cast_ray(world, &(lm_ray){{4.75, 1.2, 0}, {0, 1, 0}, INFINITY, UINT32_MAX, UINT32_MAX},
                                  &hit)); /* from inside */
    assert_near(hit.distance, 0.0, 0.0);
    assert_false(lm_world_cast_ray(world, &(lm_ray){{2, 5, 0}, {0, 1, 0}, INFINITY, UINT32_MAX, UINT32_MAX}, &hit));
    assert_false(lm_world_cast_ray(world, &(lm_ray){{2, 5, 0}, {0, -1, 0}, 4.9f, UINT32_MAX, UINT32_MAX}, &hit));
    assert_false(lm_world_cast_ray(world, &(lm_ray){{NAN, 5, 0}, {0, -1, 0}, 4.9f, UINT32_MAX, UINT32_MAX}, &hit));
    assert_false(lm_world_cast_ray(world, &(lm_ray){{2, 5, 0}, {0, 0, 0}, 4.9f, UINT32_MAX, UINT32_MAX}, &hit));
    /* The same ray through the body, the floor below it and nothing, by groups: those of bodies and of colliders count apart,
     * and all of them are also those of what is in no group. */
    lm_ray down = lm_ray_default((lm_dvec3){0, 5, 0}, (lm_vec3){0, -2, 0});
    down.body_groups = 2;
    assert_true(lm_world_cast_ray(world, &down, &hit));
    assert_int_equal(hit.body.slot, 0);
    assert_int_equal(hit.collider.slot, floor.slot);
    down.collider_groups = 2;
    assert_false(lm_world_cast_ray(world, &down, &hit));
    assert_result(lm_collider_set_filter(world, floor, 6, UINT32_MAX), LM_OK);
    assert_true(lm_world_cast_ray(world, &down, &hit));
    assert_int_equal(hit.collider.slot, floor.slot);
    lm_body_filter filter;
    assert_result(lm_body_get_filter(world, body, &filter), LM_OK);
    filter.group = 2;
    assert_result(lm_body_set_filter(world, body, &filter), LM_OK);
    assert_true(lm_world_cast_ray(world, &down, &hit));
    assert_int_equal(hit.body.slot, body.slot);
    filter.group = 0;
    assert_result(lm_body_set_filter(world, body, &filter), LM_OK);
    assert_true(lm_world_cast_ray(world, &down, &hit));
    assert_int_equal(hit.collider.slot, floor.slot);
    down.body_groups = UINT32_MAX;
    assert_true(lm_world_cast_ray(world, &down, &hit));
    assert_int_equal(hit.body.slot, body.slot);
    sample_free(&s);
    lm_world_destroy(world);
}

/* A ball or a box in which a random point of a collider lies touches it; one that is clear of all its points does not. */
static void overlaps_are_what_points_say(void **context)
{
    (void)context;
    enum { POINTS = 3000 };
    random_state random = {22};
    for (int shape = 0; shape < LM_SHAPE_COUNT; shape++) {
        if (shape == LM_SHAPE_HEIGHTS) continue;
        int touched[2] = {0, 0};
        for (int trial = 0; trial < 150; trial++) {
            lm_dvec3 at = to_dvec3(random_in_cube(&random, 0.5));
            ref_vec turn = random_in_cube(&random, 2.0), centre = random_in_cube(&random, 1.5);
            ref_vec box_turn = random_in_cube(&random, 2.0);
            lm_vec3 half = to_float(random_in_box(&random, ref_v(0.02, 0.02, 0.02), ref_v(0.4, 0.4, 0.4)));
            double radius = random_range(&random, 0.05, 0.5);
            lm_world *world = make_world(0.0);
            add_collider(world, (lm_shape)shape, at, turn);
            lm_overlap found[2];
            bool ball = lm_world_overlap_sphere(world, to_dvec3(centre), (float)radius, found, 2) == 1;
            lm_pose pose = {to_dvec3(centre), quaternion(box_turn)};
            bool box = lm_world_overlap_box(world, pose, half, found, 2) == 1;
            bool in_ball = false, in_box = false, near_ball = false, near_box = false;
            for (int k = 0; k < POINTS; k++) { /* of the ball and of the box, and a little beyond */
                ref_vec u = random_in_cube(&random, 1.0);
                ref_vec p = ref_add(centre, ref_scale(radius * 1.1, u));
                bool in = is_inside((lm_shape)shape, local_of(p, at, turn));
                near_ball = near_ball || (in && ref_length(u) <= 1.0);
                in_ball = in_ball || (in && ref_length(u) * 1.1 < 0.999);
                ref_vec q = ref_v(u.x * half.x * 1.1, u.y * half.y * 1.1, u.z * half.z * 1.1);
                in = is_inside((lm_shape)shape,
                               local_of(ref_add(centre, ref_mat_vec(ref_rotation(box_turn), q)), at, turn));
                near_box = near_box || in;
                in_box = in_box || (in && fmax(fabs(u.x), fmax(fabs(u.y), fabs(u.z))) * 1.1 < 0.999);
            }
            assert_true(ball || !in_ball);
            assert_true(box || !in_box);
            if (shape == LM_SHAPE_PLANE) { /* exact: no corner missed by chance */
                ref_vec c = local_of(centre, at, turn);
                assert_int_equal(ball, c.y < radius);
            }
            /* What was found although no point was is a graze: rare. */
            touched[0] += ball && !near_ball;
            touched[1] += box && !near_box;
            lm_world_destroy(world);
        }
        assert_true(touched[0] <= 12 && touched[1] <= 12);
    }
}

static void overlaps_are_listed_in_order(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    random_state random = {4};
    sample s = sample_make(SAMPLE_BOX, &random);
    lm_body_id bodies[3];
    for (int k = 0; k < 3; k++) {
        s.def.pose.position = (lm_dvec3){3.0 * k, 0.5, 0};
        bodies[k] = make_body(world, &s.def);
    }
    lm_collider_id map = add_collider(world, LM_SHAPE_HEIGHTS, (lm_dvec3){0, 0, 0}, ref_v(0, 0, 0));
    lm_overlap found[8];
    assert_int_equal(lm_world_overlap_sphere(world, (lm_dvec3){0, 0.5, 0}, 0.5f, found, 8), 2);
    assert_int_equal(found[0].body.slot, bodies[0].slot);
    assert_int_equal(found[1].collider.slot, map.slot);
    assert_int_equal(found[1].body.slot, 0);
    lm_pose pose = lm_pose_identity();
    assert_int_equal(lm_world_overlap_box(world, pose, (lm_vec3){10, 1, 1}, found, 1), 4);
    assert_int_equal(found[0].body.slot, bodies[0].slot);
    assert_int_equal(lm_world_overlap_box(world, pose, (lm_vec3){10, 1, 1}, NULL, 0), 4);
    pose.position.y = -5.0; /* below the map, wholly in it */
    assert_int_equal(lm_world_overlap_box(world, pose, (lm_vec3){0.1f, 0.1f, 0.1f}, found, 8), 1);
    assert_int_equal(lm_world_overlap_sphere(world, pose.position, 0.1f, found, 8), 1);
    pose.position.x = 20.0;
    assert_int_equal(lm_world_overlap_box(world, pose, (lm_vec3){0.1f, 0.1f, 0.1f}, found, 8), 0);
    assert_int_equal(lm_world_overlap_sphere(world, (lm_dvec3){NAN, 0, 0}, 0.1f, found, 8), 0);
    assert_int_equal(lm_world_overlap_sphere(world, lm_dvec3_zero(), -1.0f, found, 8), 0);
    assert_int_equal(lm_world_overlap_box(world, lm_pose_identity(), (lm_vec3){-1, 1, 1}, found, 8), 0);
    sample_free(&s);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_meet_the_surface),
        cmocka_unit_test(rays_meet_what_is_nearer),
        cmocka_unit_test(overlaps_are_what_points_say),
        cmocka_unit_test(overlaps_are_listed_in_order),
    };
    return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
