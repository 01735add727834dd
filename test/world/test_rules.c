/*
 * Contact rules and groups: who touches whom, and with which friction and restitution.
 */
#include "test/support/things.h"

#include <float.h>
#include <stdlib.h>

/* Eight points in one stiff region: the fewest of a box. */
static lm_body_id put(lm_world *world, uint32_t group, uint32_t collider_mask, double x, double y, lm_quat turned)
{
    lm_vec3 *points = grid_points(2, 2, 2, 0.5);
    lm_body_def def = lm_body_def_default();
    def.points = points;
    def.point_count = 8;
    def.material = stiff_material(0.5, 0.0);
    def.group = group;
    def.collider_mask = collider_mask;
    def.pose.position = (lm_dvec3){x, y, 0};
    def.pose.rotation = turned;
    lm_body_id body = make_body(world, &def);
    free(points);
    return body;
}

/* A collider is there only for those whose groups are in its mask, and who have its group in theirs. */
static void colliders_have_groups(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id floor;
    def.group = 4;
    def.mask = 2;
    assert_ok(lm_collider_create(world, &def, &floor));
    lm_collider_def back;
    assert_ok(lm_collider_get_def(world, floor, &back));
    assert_true(back.group == 4 && back.mask == 2);
    lm_quat straight = lm_pose_identity().rotation;
    lm_body_id lies = put(world, 3, 4, 0, 0.3, straight), other_group = put(world, 1, 4, 2, 0.3, straight),
               other_mask = put(world, 2, 3, 4, 0.3, straight);
    steps(world, 60);
    assert_near(body_centre(world, lies).y, 0.25, 0.01);
    assert_at_most(body_centre(world, other_group).y, -3.0);
    assert_at_most(body_centre(world, other_mask).y, -3.0);
    lm_world_destroy(world);
}

/* A box of some group at the top of a slope of 20 degrees in group 8; its own friction would hold it. */
static lm_world *make_slope(uint32_t body_group, lm_body_id *body)
{
    lm_world *world = make_world(-9.81);
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id slope;
    lm_quat turned = quaternion(ref_v(0, 0, -20.0 / 57.29578));
    def.pose.rotation = turned;
    def.group = 8;
    assert_ok(lm_collider_create(world, &def, &slope));
    *body = put(world, body_group, UINT32_MAX, 0.25 * sin(20 / 57.29578), 0.25 * cos(20 / 57.29578), turned);
    return world;
}

/* How far it gets in a second, along the slope. */
static double slide(lm_world *world, lm_body_id body)
{
    double from = body_centre(world, body).x;
    steps(world, 60);
    double way = body_centre(world, body).x - from;
    lm_world_destroy(world);
    return way / cos(20.0 / 57.29578);
}

static double slides_between(float first, float second)
{
    lm_body_id body;
    lm_world *world = make_slope(2, &body);
    assert_ok(lm_world_set_contact_rule(world, 8, 2, first, LM_CONTACT_COMBINED));
    assert_ok(lm_world_set_contact_rule(world, 2 | 4, 8, second, LM_CONTACT_COMBINED));
    return slide(world, body);
}

static double slides(uint32_t body_group, uint32_t rule_a, uint32_t rule_b, float friction, bool through_snapshot)
{
    lm_body_id body;
    lm_world *world = make_slope(body_group, &body);
    if (rule_a) assert_ok(lm_world_set_contact_rule(world, rule_a, rule_b, friction, LM_CONTACT_COMBINED));
    if (through_snapshot) {
        size_t size = lm_world_save_size(world);
        void *bytes = malloc(size);
        assert_ok(lm_world_save(world, bytes, size));
        lm_world *loaded = make_world(0.0);
        assert_ok(lm_world_load(loaded, bytes, size));
        lm_world_destroy(world);
        world = loaded;
        free(bytes);
    }
    return slide(world, body);
}

static void rules_set_friction(void **context)
{
    (void)context;
    /* Half g (sin - mu cos): 1.68 m without friction, 0.76 m with 0.2. */
    assert_near(slides(2, 0, 0, 0, false), 0.0, 0.01);
    assert_near(slides(2, 2, 8, 0.0f, false), 1.68, 0.06);
    assert_near(slides(2, 8, 2, 0.2f, false), 0.76, 0.06);
    assert_near(slides(2, 8, 2, 0.2f, true), 0.76, 0.06);
    assert_near(slides(6, 8 | 16, 4, 0.2f, false), 0.76, 0.06); /* one common bit on each side is enough */
    assert_near(slides(2, 8, 4, 0.0f, false), 0.0, 0.01);
    assert_near(slides(2, 2, 2, 0.0f, false), 0.0, 0.01);
}

/* How high a ball rises again from a metre, on a collider or on another body. */
static double bounces(bool on_body, float restitution, float combined)
{
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 4));
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id floor;
    assert_ok(lm_collider_create(world, &def, &floor));
    thing_def ball = thing_default(SKINNED);
    ball.shape = "sphere";
    ball.material = stiff_material(0.5, (double)combined);
    ball.mask = 1;
    if (on_body) { /* a heavy box between it and the floor */
        thing_def box = thing_default(SKINNED);
        box.size = (lm_vec3){2, 1, 2};
        box.material = stiff_material(0.5, 0.0);
        box.mask = 1;
        box.mass = 2000.0f;
        box.pose.position.y = 0.5;
        thing_make(world, &box);
    }
    double floor_height = on_body ? 1.0 : 0.0;
    ball.pose.position.y = floor_height + 1.5;
    lm_body_id body = thing_make(world, &ball);
    if (restitution >= 0.0f) assert_ok(lm_world_set_contact_rule(world, 1, 1, LM_CONTACT_COMBINED, restitution));
    double highest = 0.0;
    for (int step = 0; step < 70; step++) {
        steps(world, 1);
        if (step > 35) highest = fmax(highest, body_centre(world, body).y - floor_height - 0.5);
    }
    lm_world_destroy(world);
    return highest;
}

static void rules_set_restitution(void **context)
{
    (void)context;
    for (int on_body = 0; on_body < 2; on_body++) {
        double none = bounces(on_body, 0.0f, 0.7f), some = bounces(on_body, 0.7f, 0.0f),
               combined = bounces(on_body, LM_CONTACT_COMBINED, 0.7f);
        assert_at_most(none, 0.05);
        assert_near(some, 0.49, 0.08);
        assert_near(combined, some, 0.02);
    }
}

/* The last that fits counts; one for the same groups takes the place of the one before. */
static void later_rules_count(void **context)
{
    (void)context;
    assert_near(slides_between(0.9f, 0.2f), 0.76, 0.06);
    assert_near(slides_between(0.2f, 0.9f), 0.0, 0.01);
    lm_world *world = make_world(-9.81);
    for (uint32_t k = 0; k < LM_MAX_CONTACT_RULES; k++)
        assert_ok(lm_world_set_contact_rule(world, 1u << k % 32, 3u + k, 0.5f, 0.5f));
    assert_result(lm_world_set_contact_rule(world, 1u << 20, 1u << 21, 0.5f, 0.5f), LM_ERROR_LIMIT);
    assert_ok(lm_world_set_contact_rule(world, 3, 1, 0.0f, 0.0f)); /* turned round it is the first of them */
    assert_ok(lm_world_remove_contact_rule(world, 1, 3));
    assert_result(lm_world_remove_contact_rule(world, 1, 3), LM_ERROR_ARGUMENT);
    assert_ok(lm_world_set_contact_rule(world, 1u << 20, 1u << 21, 0.5f, 0.5f));
    lm_world_destroy(world);
}

static void bad_rules_are_refused(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    const float bad_friction[] = {-0.5f, 2e6f, NAN, INFINITY, -2.0f},
                bad_restitution[] = {-0.5f, 1.01f, NAN, INFINITY, -2.0f};
    for (int k = 0; k < 5; k++) {
        assert_result(lm_world_set_contact_rule(world, 1, 1, bad_friction[k], 0.0f), LM_ERROR_ARGUMENT);
        assert_result(lm_world_set_contact_rule(world, 1, 1, 0.0f, bad_restitution[k]), LM_ERROR_ARGUMENT);
    }
    assert_result(lm_world_set_contact_rule(world, 0, 1, 0.0f, 0.0f), LM_ERROR_ARGUMENT);
    assert_result(lm_world_set_contact_rule(world, 1, 0, 0.0f, 0.0f), LM_ERROR_ARGUMENT);
    assert_result(lm_world_remove_contact_rule(world, 1, 1), LM_ERROR_ARGUMENT); /* none of these was kept */
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colliders_have_groups), cmocka_unit_test(rules_set_friction),
        cmocka_unit_test(rules_set_restitution), cmocka_unit_test(later_rules_count),
        cmocka_unit_test(bad_rules_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
