/*
 * Contacts where they are hardest: bodies thrown at walls and at each other as fast as 100 m/s, made in one another, all in one
 * place. Nothing becomes infinite, nothing ends behind a wall, and what overlaps comes apart.
 */
#include "lattice/lattice_body.h"
#include "test/support/things.h"
#include "world/kernels.h"
#include "world/world.h"

#include <stdlib.h>

/* Collisions of every kind: as many as the first argument says. */
static int collisions = 120;

static void step_finite(lm_world *world, int count)
{
    for (int k = 0; k < count; k++) {
        lm_totals totals;
        assert_ok(lm_world_step(world, FRAME));
        lm_world_get_totals(world, &totals);
        assert_true(totals.finite);
    }
}

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* A wall across x = 0: a plane, or a sheet of two triangles. */
static void add_wall(lm_world *world, bool sheet)
{
    static const lm_vec3 corners[4] = {{-40, 0, -40}, {-40, 0, 40}, {40, 0, 40}, {40, 0, -40}};
    static const uint32_t faces[6] = {0, 1, 2, 0, 2, 3};
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    def.pose.rotation = quaternion(ref_v(0, 0, -1.5707963267948966)); /* its Y is the world's X */
    if (sheet) {
        def.shape = LM_SHAPE_MESH;
        def.mesh.vertices = corners;
        def.mesh.vertex_count = 4;
        def.mesh.triangles = faces;
        def.mesh.triangle_count = 2;
    }
    assert_ok(lm_collider_create(world, &def, &collider));
}

static lm_vec3 random_velocity(random_state *random, double least, double most)
{
    double x = random_range(random, least, most), y = random_range(random, -20, 20), z = random_range(random, -20, 20);
    return (lm_vec3){(float)x, (float)y, (float)z};
}

/* The lowest x of what touches. */
static double deepest_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *points = malloc(info.contact_points * sizeof *points);
    assert_ok(lm_body_get_contact_points(world, body, lm_dvec3_zero(), points));
    double deepest = INFINITY;
    for (uint32_t n = 0; n < info.contact_points; n++) deepest = fmin(deepest, (double)points[n].x);
    free(points);
    return deepest;
}

/* A body at up to 100 m/s against a wall: none is left behind it. */
static void walls_hold(void **context)
{
    (void)context;
    random_state random = {11};
    for (int trial = 0; trial < collisions / 2; trial++) {
        lm_world *world = make_world(0.0);
        add_wall(world, trial % 2);
        thing_def def = thing_default((sampling)(trial % SAMPLINGS));
        def.shape = trial / 4 % 2 ? "sphere" : "box";
        def.material = trial / 8 % 2 ? stiff_material(0.5, 0.3) : soft_material(0.5, 0.0);
        def.pose.position = (lm_dvec3){random_range(&random, 1.0, 2.5), 0, 0};
        def.pose.rotation = quaternion(random_in_cube(&random, 1.0));
        def.velocity = random_velocity(&random, -97.0, -5.0);
        lm_body_id body = thing_make(world, &def);
        step_finite(world, 40);
        if (!(info_of(world, body).centre.x > 0.1)) print_message("trial %d\n", trial);
        assert_at_most(0.1, info_of(world, body).centre.x);
        step_finite(world, 50); /* nothing of it stays behind the wall by as much as the distance between particles */
        static const double spacings[SAMPLINGS] = {0.17, 0.17, 0.3, 0.15, 0.23, 0.2};
        double deepest = deepest_of(world, body), spacing = spacings[trial % SAMPLINGS];
        if (!(deepest > -spacing)) print_message("trial %d\n", trial);
        assert_at_most(-spacing, deepest);
        lm_world_destroy(world);
    }
}

/* Two bodies against each other. */
/* How deep the touch points of a body are in another, in spacings of the other's particles; 0 where none is. */
static double depth_in(const lm_world *world, lm_body_id inner, lm_body_id outer)
{
    const lmi_body *a = lmi_body_at(world, inner.slot - 1), *b = lmi_body_at(world, outer.slot - 1);
    world->kernels->carry_bulk(b->bulk, b);
    world->kernels->place_points(a);
    lm_dvec3 shift = dvec_sub(a->origin, b->origin);
    double deepest = 0.0, spacing = b->lattice ? b->lattice->shape.spacing : b->bulk->mould->spacing;
    for (uint32_t n = 0; n < a->touch.count; n++) {
        _Alignas(64) float at[3 * LMI_BLOCK] = {0};
        lm_vec3 p = lmi_touch_now(&a->touch, n);
        at[0] = (float)(p.x + shift.x), at[LMI_BLOCK] = (float)(p.y + shift.y),
        at[2 * LMI_BLOCK] = (float)(p.z + shift.z);
        lmi_insides insides;
        world->kernels->find_inside(b->bulk, at, 1, 0.0f, NULL, &insides);
        deepest = insides.found & 1 ? fmax(deepest, insides.inside[0].depth) : deepest;
    }
    return deepest / spacing;
}

static void collisions_stay_finite(void **context)
{
    (void)context;
    random_state random = {12};
    for (int trial = 0; trial < collisions / 2; trial++) {
        lm_world *world = make_world(0.0);
        lm_body_id bodies[2];
        for (int k = 0; k < 2; k++) {
            thing_def def = thing_default((sampling)((trial + k * (trial / 4)) % SAMPLINGS));
            def.shape = (trial >> k) % 2 ? "sphere" : "box";
            def.mask = 1;
            def.mass = (float)random_range(&random, 0.2, 10.0);
            double side = k ? 1.0 : -1.0;
            def.pose.position = (lm_dvec3){side * random_range(&random, 1.0, 2.0), 0, random_range(&random, -0.3, 0.3)};
            def.pose.rotation = quaternion(random_in_cube(&random, 1.0));
            def.velocity = random_velocity(&random, -side * 50.0, -side * 2.0);
            bodies[k] = thing_make(world, &def);
        }
        lm_totals before, after;
        lm_world_get_totals(world, &before);
        step_finite(world, 30);
        lm_world_get_totals(world, &after);
        assert_at_most(after.kinetic_energy, before.kinetic_energy * 1.001);
        assert_true(info_of(world, bodies[0]).max_speed < 400.0f);
        /* They do not stay in each other. */
        step_finite(world, 30);
        for (int k = 0; k < 2; k++) {
            double depth = depth_in(world, bodies[k], bodies[1 - k]);
            if (depth > 1.0) fail_msg("trial %d: %g spacings in the other after a second", trial, depth);
        }
        lm_world_destroy(world);
    }
}

/* A small body inside a large one gets out or stays, but nothing is thrown about. */
static void bodies_in_bodies(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(0.0);
        thing_def def = thing_default(kind);
        def.mask = 1;
        thing_make(world, &def);
        def.size = (lm_vec3){0.3f, 0.3f, 0.3f};
        def.pose.position = (lm_dvec3){0.1, 0.05, 0};
        lm_body_id small = thing_make(world, &def);
        for (int frame = 0; frame < 120; frame++) {
            step_finite(world, 1);
            assert_at_most(info_of(world, small).max_speed, 60.0);
        }
        lm_world_destroy(world);
    }
}

/* Many bodies in one point: they come apart, and no step takes forever. */
static void many_in_one_place(void **context)
{
    (void)context;
    int count = collisions >= 10000 ? 10000 : 60;
    lm_world *world = make_world(0.0);
    thing_def def = thing_default(CLUSTERS);
    def.shape = "sphere";
    def.mask = 1;
    lm_body_id *bodies = malloc((size_t)count * sizeof *bodies);
    for (int k = 0; k < count; k++) bodies[k] = thing_make(world, &def);
    step_finite(world, count > 60 ? 20 : 90);
    double farthest = 0.0;
    for (int k = 0; k < count; k++) {
        lm_dvec3 p = info_of(world, bodies[k]).centre;
        farthest = fmax(farthest, ref_length(ref_v(p.x, p.y, p.z)));
    }
    assert_at_most(0.5, farthest);
    free(bodies);
    lm_world_destroy(world);
}

int main(int argc, char **argv)
{
    collisions = argc > 1 ? atoi(argv[1]) : collisions;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walls_hold),
        cmocka_unit_test(collisions_stay_finite),
        cmocka_unit_test(bodies_in_bodies),
        cmocka_unit_test(many_in_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
