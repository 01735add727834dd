/*
 * Bodies touch each other unless they are told not to, and a body that is alone pays nothing for it.
 */
#include "test/support/things.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL UINT32_MAX

static lm_body_id put(lm_world *world, int kind, double height, uint32_t mask)
{
    thing_def def = thing_default((sampling)kind);
    def.material = stiff_material(0.5, 0.0);
    def.pose.position.y = height;
    def.mask = mask;
    return thing_make(world, &def);
}

static void add_floor(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id floor;
    assert_ok(lm_collider_create(world, &def, &floor));
}

static double height_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info.centre.y;
}

static void masks_are_all_by_default(void **context)
{
    (void)context;
    assert_int_equal(lm_body_def_default().mask, ALL);
}

static void a_body_alone_does_what_one_without_a_mask_does(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        uint64_t hashes[2];
        for (int masked = 0; masked < 2; masked++) {
            lm_world *world = make_world(-9.81);
            add_floor(world);
            put(world, kind, 0.8, masked ? ALL : 0);
            steps(world, 60);
            hashes[masked] = lm_world_hash(world);
            lm_world_destroy(world);
        }
        if (hashes[0] != hashes[1]) fail_msg("%s alone moves otherwise with a mask", sampling_names[kind]);
    }
}

/* Whichever comes first, and however late the other one: they lie on each other, or in each other where that was asked for. */
static void company_is_touched(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        for (int mask = 0; mask < 2; mask++) {
            lm_world *world = make_world(-9.81);
            add_floor(world);
            lm_body_id low = put(world, kind, 0.55, mask ? ALL : 0);
            steps(world, 30);
            lm_body_id high = put(world, (kind + 1) % SAMPLINGS, 1.7, mask ? ALL : 0);
            steps(world, 150);
            double apart = height_of(world, high) - height_of(world, low);
            if (mask ? apart < 0.8 : fabs(apart) > 0.2)
                fail_msg("%s below %s, mask %x: %g m apart", sampling_names[kind],
                         sampling_names[(kind + 1) % SAMPLINGS], mask ? ALL : 0, apart);
            lm_world_destroy(world);
        }
    }
}

/* What a body alone keeps for its solid is in snapshots and copies. */
static void company_may_come_after_loading(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(-9.81), *other = make_world(0.0);
        add_floor(world);
        put(world, kind, 0.55, ALL);
        steps(world, 20);
        size_t size = lm_world_save_size(world);
        unsigned char *bytes = malloc(size);
        assert_ok(lm_world_save(world, bytes, size));
        assert_ok(lm_world_load(other, bytes, size));
        put(world, LATTICE, 1.7, ALL);
        put(other, LATTICE, 1.7, ALL);
        steps(world, 60);
        steps(other, 60);
        assert_true(lm_world_hash(world) == lm_world_hash(other));
        free(bytes);
        lm_world_destroy(world);
        lm_world_destroy(other);
    }
}

static void a_copy_is_company(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(-9.81);
        add_floor(world);
        lm_body_id low = put(world, kind, 0.55, ALL), high;
        assert_ok(lm_body_clone(world, low, &high));
        lm_pose pose = lm_pose_identity();
        pose.position.y = 1.7;
        assert_ok(lm_body_set_pose(world, high, pose, true));
        steps(world, 150);
        if (height_of(world, high) - height_of(world, low) < 0.8) fail_msg("%s", sampling_names[kind]);
        lm_world_destroy(world);
    }
}

/* A filter that brings company, and groups that do not see each other. */
static void filters_bring_company(void **context)
{
    (void)context;
    for (int meet = 0; meet < 2; meet++) {
        lm_world *world = make_world(-9.81);
        add_floor(world);
        lm_body_id low = put(world, LATTICE, 0.55, ALL), high = put(world, CLUSTERS, 1.7, 2);
        lm_body_filter filter;
        assert_ok(lm_body_get_filter(world, low, &filter));
        filter.group = meet ? 2 : 4; /* the mask of the upper one is 2 */
        assert_ok(lm_body_set_filter(world, low, &filter));
        steps(world, 150);
        double apart = height_of(world, high) - height_of(world, low);
        assert_true(meet ? apart > 0.8 : fabs(apart) < 0.2);
        lm_world_destroy(world);
    }
}

/* A lattice that nobody has touched keeps its mesh for a solid; one that a blade has cut touches with its particles and needs none. */
static void what_was_cut_alone_can_be_loaded(void **context)
{
    (void)context;
    static const lm_dvec3 corners[4] = {{-2, -2, 0.02}, {2, -2, 0.02}, {-2, 4, 0.05}, {2, 4, 0.05}};
    static const uint32_t triangles[6] = {0, 1, 2, 1, 3, 2};
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(-9.81), *other = make_world(0.0);
        add_floor(world);
        lm_body_id body = put(world, kind, 0.8, ALL);
        lm_blade blade = lm_blade_default();
        lm_cut_info info;
        blade.vertices = corners;
        blade.vertex_count = 4;
        blade.triangles = triangles;
        blade.triangle_count = 2;
        assert_ok(lm_body_cut(world, body, &blade, &info));
        assert_true(info.parts > 0);
        steps(world, 20);
        size_t size = lm_world_save_size(world);
        void *bytes = malloc(size);
        assert_ok(lm_world_save(world, bytes, size));
        assert_ok(lm_world_load(other, bytes, size));
        free(bytes);
        steps(world, 20), steps(other, 20);
        assert_true(lm_world_hash(world) == lm_world_hash(other));
        lm_world_destroy(world);
        lm_world_destroy(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_are_all_by_default),
        cmocka_unit_test(a_body_alone_does_what_one_without_a_mask_does),
        cmocka_unit_test(company_is_touched),
        cmocka_unit_test(company_may_come_after_loading),
        cmocka_unit_test(a_copy_is_company),
        cmocka_unit_test(filters_bring_company),
        cmocka_unit_test(what_was_cut_alone_can_be_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
