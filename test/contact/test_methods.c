/*
 * The papers' ways of keeping bodies apart: depth cube maps and the penalty force.
 */
#include "test/support/things.h"
#include "touch/cube.h"
#include "world/in_step.h"
#include "world/world.h"

#include <stdlib.h>

static lm_world *make_method(double gravity, lm_contact_method method, lm_isa isa, uint32_t workers)
{
    lm_world *world = make_world_with(gravity, isa, workers);
    assert_int_equal(lm_world_get_contact_method(world), LM_CONTACT_METHOD_SOLVED);
    assert_ok(lm_world_set_contact_method(world, method));
    assert_int_equal(lm_world_get_contact_method(world), method);
    return world;
}

static lm_body_id put(lm_world *world, thing_def def, double x, double y, double z)
{
    def.pose.position = (lm_dvec3){x, y, z};
    def.mask = 1;
    return thing_make(world, &def);
}

/* The maps of a box: one, in its middle, with the distances of a box. */
static void a_map_has_the_distances_of_a_box(void **context)
{
    (void)context;
    lm_world *world = make_method(0.0, LM_CONTACT_METHOD_CUBE_MAP, LM_ISA_BEST, 1);
    thing_def def = thing_default(FINE);
    lm_body_id id = put(world, def, 0, 0, 0);
    put(world, def, 9, 0, 0); /* company: a body alone has no solid */
    steps(world, 1);
    const lmi_body *body = lmi_body_at(world, id.slot - 1);
    assert_non_null(body->cubes);
    assert_int_equal(body->cubes->count, 1);
    lm_vec3 centre = body->bulk->mould->rest[body->cubes->carrier[0]];
    random_state random = {7};
    for (int n = 0; n < 500; n++) {
        ref_vec d = random_in_cube(&random, 1.0);
        double length = ref_length(d), sides[3] = {d.x / length, d.y / length, d.z / length};
        double at[3] = {(double)centre.x, (double)centre.y, (double)centre.z}, depth = INFINITY;
        for (int i = 0; i < 3; i++)
            depth = fmin(depth, (sides[i] > 0.0 ? 0.5 - at[i] : 0.5 + at[i]) / fmax(fabs(sides[i]), 1e-9));
        /* Edges and corners are as coarse as the map and the field: an eighth of the way to them. */
        assert_near(lmi_cube_depth(body->cubes, 0, to_dvec3(d)), depth, 0.1);
    }
    lm_world_destroy(world);
}

/* A ring is star-shaped around no place: it takes several, and the hole is not inside. */
static void a_ring_takes_several_maps(void **context)
{
    (void)context;
    lm_world *world = make_method(0.0, LM_CONTACT_METHOD_CUBE_MAP, LM_ISA_BEST, 1);
    thing_def def = thing_default(FINE);
    def.shape = "torus";
    def.size = (lm_vec3){2, 0.6f, 2};
    lm_body_id id = put(world, def, 0, 0, 0);
    put(world, def, 9, 0, 0); /* company: a body alone has no solid */
    steps(world, 1);
    lmi_body *body = lmi_body_in_step(world, id.slot - 1);
    assert_true(body->cubes->count > 2);
    world->kernels->carry_bulk(body->bulk, body);
    lmi_inside inside;
    lm_dvec3 middle = dvec_sub(lm_dvec3_zero(), body->origin);
    assert_false(lmi_cubes_find(body->cubes, body->bulk, middle, 0.0, &inside));
    uint32_t found = 0;
    for (uint32_t c = 0; c < body->bulk->mould->carrier_count; c++) {
        double distance = lmi_mould_distance(body->bulk->mould, dvec_from(body->bulk->mould->rest[c]));
        if (distance < -0.1) found += lmi_cubes_find(body->cubes, body->bulk, lmi_bulk_at(body->bulk, c), 0.0, &inside);
    }
    assert_true(found > 5);
    lm_world_destroy(world);
}

/* Two bodies run into each other: momentum is kept, and they part; the larger constant of the two counts. */
static void penalties_keep_momentum(void **context)
{
    (void)context;
    for (lm_contact_method method = LM_CONTACT_METHOD_PENALTY; method < LM_CONTACT_METHOD_COUNT; method++)
        for (sampling kind = 0; kind < SAMPLINGS; kind++) {
            lm_world *world = make_method(0.0, method, LM_ISA_BEST, 1);
            thing_def def = thing_default(kind);
            def.shape = "sphere";
            def.velocity = (lm_vec3){1, 0, 0};
            lm_body_id one = put(world, def, -0.7, 0.1, 0);
            def.velocity.x = -1;
            def.mass = 4.0f;
            lm_body_id other = put(world, def, 0.7, 0, 0);
            lm_totals before, after;
            lm_world_get_totals(world, &before);
            steps(world, 120);
            lm_world_get_totals(world, &after);
            lm_body_info a, b;
            assert_ok(lm_body_get_info(world, one, &a));
            assert_ok(lm_body_get_info(world, other, &b));
            if (!(b.velocity.x > a.velocity.x))
                print_message("method %d, %s: %g %g\n", (int)method, sampling_names[kind], (double)a.velocity.x,
                              (double)b.velocity.x);
            assert_true(a.velocity.x < 0.0f && b.velocity.x > a.velocity.x);
            assert_at_most(0.7, b.centre.x - a.centre.x);
            double off = ref_length(ref_v(after.momentum.x - before.momentum.x, after.momentum.y - before.momentum.y,
                                          after.momentum.z - before.momentum.z));
            assert_at_most(off / before.momentum_scale, 1e-4);
            lm_world_destroy(world);
        }
}

/* However stiff: what is in another body comes out, no faster than a few times its depth in a substep, and does not jump. */
static void stiff_constants_do_not_jump(void **context)
{
    (void)context;
    static const float stiff[] = {0.0f, 1e3f, 1e12f};
    for (lm_contact_method method = LM_CONTACT_METHOD_PENALTY; method < LM_CONTACT_METHOD_COUNT; method++)
        for (sampling kind = 0; kind < SAMPLINGS; kind++)
            for (size_t k = 0; k < sizeof stiff / sizeof *stiff; k++) {
                lm_world *world = make_method(0.0, method, LM_ISA_BEST, 1);
                thing_def def = thing_default(kind);
                def.shape = "sphere";
                def.penalty = stiff[k];
                put(world, def, -0.4, 0, 0);
                put(world, def, 0.4, 0.05, 0);
                lm_totals before, after;
                lm_world_get_totals(world, &before);
                double most = 0.0;
                for (int n = 0; n < 60; n++) {
                    steps(world, 1);
                    lm_world_get_totals(world, &after);
                    most = fmax(most, after.kinetic_energy);
                }
                if (!(most < 60.0)) print_message("%s, %g N/m: %g J\n", sampling_names[kind], (double)stiff[k], most);
                assert_true(most > 0.0 && most < 60.0);
                assert_at_most(fabs(after.momentum.x - before.momentum.x), 1e-3);
                lm_world_destroy(world);
            }
}

/* How deep a box sinks into one that stands on the floor. (With cube maps it would glide off, as a ball from a ball.) */
static double sinks(float one, float other)
{
    lm_world *world = make_method(-9.81, LM_CONTACT_METHOD_PENALTY, LM_ISA_BEST, 1);
    assert_ok(lm_world_set_substeps(world, 4));
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &floor, &collider));
    thing_def def = thing_default(LATTICE);
    def.material = stiff_material(0.5, 0.0);
    def.penalty = one;
    lm_body_id lower = put(world, def, 0, 0.5, 0);
    def.penalty = other;
    lm_body_id upper = put(world, def, 0, 1.5, 0);
    double sum = 0.0;
    for (int k = 0; k < 360; k++) {
        steps(world, 1);
        lm_body_info a, b;
        assert_ok(lm_body_get_info(world, lower, &a));
        assert_ok(lm_body_get_info(world, upper, &b));
        if (k >= 240) sum += (1.0 - (b.centre.y - a.centre.y)) / 120.0;
    }
    lm_world_destroy(world);
    return sum;
}

static void bodies_sink_by_their_weight(void **context)
{
    (void)context;
    double soft = sinks(20.0f, 20.0f), hard = sinks(20.0f, 60.0f), turned = sinks(60.0f, 20.0f);
    assert_true(soft > 0.005);
    assert_near(hard, turned, 0.2 * hard); /* the larger of the two, whosever it is */
    assert_near(soft / hard, 3.0, 1.0);
}

/* The momentum that two balls, a tenth of a metre in each other, give each other in a step. */
static double gives(lm_contact_method method, sampling kind, float one, float other)
{
    lm_world *world = make_method(0.0, method, LM_ISA_BEST, 1);
    thing_def def = thing_default(kind);
    def.shape = "sphere";
    def.penalty = one;
    lm_body_id left = put(world, def, -0.45, 0, 0);
    def.penalty = other;
    lm_body_id right = put(world, def, 0.45, 0, 0);
    steps(world, 1);
    lm_body_info a, b;
    assert_ok(lm_body_get_info(world, left, &a));
    assert_ok(lm_body_get_info(world, right, &b));
    assert_near(a.velocity.x, -b.velocity.x, 1e-5);
    assert_at_most(fabs((double)b.velocity.y) + fabs((double)b.velocity.z),
                   0.5 * (double)b.velocity.x); /* few points, unevenly spread */
    lm_world_destroy(world);
    return 2.0 * (double)b.velocity.x;
}

static void forces_go_with_the_larger_constant(void **context)
{
    (void)context;
    for (sampling kind = SKINNED; kind < SAMPLINGS; kind++) {
        double depth[2];
        for (lm_contact_method method = LM_CONTACT_METHOD_PENALTY; method < LM_CONTACT_METHOD_COUNT; method++) {
            double soft = gives(method, kind, 0.2f, 0.2f), hard = gives(method, kind, 0.2f, 0.6f);
            assert_near(gives(method, kind, 0.6f, 0.2f), hard, 1e-3 * hard);
            assert_near(hard / soft, 3.0, 0.01);
            depth[method - LM_CONTACT_METHOD_PENALTY] = soft / (0.2 * FRAME); /* of all points together, metres */
        }
        /* Balls are where a cube map is right: both ways find nearly the same. */
        assert_near(depth[1] / depth[0], 1.0, 0.3);
        assert_true(depth[0] > 0.1);
    }
}

static lm_world *make_heap(lm_contact_method method, lm_isa isa, uint32_t workers)
{
    lm_world *world = make_method(-9.81, method, isa, workers);
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &def, &collider));
    for (int k = 0; k < 5; k++) {
        thing_def thing = thing_default((sampling)(k % SAMPLINGS));
        thing.shape = k & 1 ? "sphere" : "box";
        thing.size = (lm_vec3){0.6f, 0.6f, 0.6f};
        thing.self_contact = k == 0;
        put(world, thing, 0.1 * k, 0.4 + 0.5 * k, 0.07 * (k % 3));
    }
    return world;
}

static void the_same_everywhere(void **context)
{
    (void)context;
    for (lm_contact_method method = LM_CONTACT_METHOD_PENALTY; method < LM_CONTACT_METHOD_COUNT; method++) {
        lm_world *world = make_heap(method, LM_ISA_SCALAR, 1);
        steps(world, 30);
        size_t size = lm_world_save_size(world);
        void *bytes = malloc(size);
        assert_ok(lm_world_save(world, bytes, size));
        steps(world, 20);
        uint64_t hash = lm_world_hash(world);
        lm_world_destroy(world);
        world = make_world_with(0.0, LM_ISA_BEST, 2);
        assert_ok(lm_world_load(world, bytes, size));
        assert_int_equal(lm_world_get_contact_method(world), method);
        steps(world, 20);
        assert_true(lm_world_hash(world) == hash);
        lm_world_destroy(world);
        world = make_heap(method, LM_ISA_BEST, 3);
        steps(world, 50);
        assert_true(lm_world_hash(world) == hash);
        free(bytes);
        lm_totals totals;
        lm_world_get_totals(world, &totals);
        assert_true(totals.finite);
        lm_world_destroy(world);
    }
}

static void bad_methods_are_refused(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    assert_result(lm_world_set_contact_method(world, LM_CONTACT_METHOD_COUNT), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_world_get_contact_method(world), LM_CONTACT_METHOD_SOLVED);
    lm_vec3 *points = grid_points(2, 2, 2, 0.5);
    const float bad[] = {-1.0f, NAN, INFINITY, 2e12f};
    for (int k = 0; k < 4; k++) {
        lm_body_def def = lm_body_def_default();
        lm_body_id body;
        def.points = points;
        def.point_count = 8;
        def.penalty = bad[k];
        assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    }
    free(points);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_has_the_distances_of_a_box),
        cmocka_unit_test(a_ring_takes_several_maps),
        cmocka_unit_test(penalties_keep_momentum),
        cmocka_unit_test(stiff_constants_do_not_jump),
        cmocka_unit_test(bodies_sink_by_their_weight),
        cmocka_unit_test(forces_go_with_the_larger_constant),
        cmocka_unit_test(the_same_everywhere),
        cmocka_unit_test(bad_methods_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
