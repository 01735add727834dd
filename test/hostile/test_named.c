/*
 * Cases that a tester named: a liver that is thrown up at 200 m/s and breaks in the air keeps its momentum, and a step of a stack of
 * twenty boxes does no more work than is stated. Work is counted (contacts times passes over them), not timed.
 */
#include "limber/shapes.h"
#include "test/support/support.h"

#include <math.h>

#define MOMENTUM_LIMIT 1e-4

/* Of the largest sum of m |v| so far: what happened to the momentum that nothing outside explains. */
static double momentum_error(const lm_world *world, lm_dvec3 from, double *scale)
{
    lm_totals totals;
    lm_stats stats;
    lm_world_get_totals(world, &totals);
    lm_world_get_stats(world, &stats);
    *scale = fmax(*scale, totals.momentum_scale);
    double x = totals.momentum.x - from.x - stats.outside_impulse.x;
    double y = totals.momentum.y - from.y - stats.outside_impulse.y;
    double z = totals.momentum.z - from.z - stats.outside_impulse.z;
    assert_true(totals.finite);
    return sqrt(x * x + y * y + z * z) / *scale;
}

static void a_liver_that_breaks_in_the_air(void **context)
{
    (void)context;
    for (int spins = 0; spins < 2; spins++) {
        lm_shape_def how = lm_shape_def_default();
        lm_shape_mesh mesh;
        how.name = "liver";
        how.size = lm_shape_natural_size(how.name);
        assert_ok(lm_shape_make_mesh(&how, &mesh));
        lm_world *world = make_world(-9.81);
        lm_body_def def = lm_body_def_default();
        def.lattice.vertices = mesh.vertices, def.lattice.vertex_count = mesh.vertex_count;
        def.lattice.triangles = mesh.triangles, def.lattice.triangle_count = mesh.triangle_count;
        def.lattice.spacing = how.size.x / 16.0f;
        def.material.hertz = 6.0f;
        def.material.damping_kind = LM_DAMPING_REGIONAL;
        def.self_contact = true;
        def.velocity.y = 200.0f;
        def.spin = (lm_vec3){spins ? 60.0f : 4.0f, 0.0f, spins ? 25.0f : 2.0f};
        lm_body_id body = make_body(world, &def);
        lm_fracture_def fracture = lm_fracture_def_default();
        fracture.limit = 0.02f;
        fracture.variation = 0.5f;
        assert_ok(lm_body_set_fracture(world, body, &fracture));
        lm_totals totals;
        lm_world_get_totals(world, &totals);
        double scale = totals.momentum_scale, worst = 0.0;
        uint32_t broken;
        for (int frame = 0; frame < 120; frame++) {
            if (frame == 5)
                assert_ok(lm_body_break(world, body, (lm_vec3){0.0f, 0.0f, 0.0f}, 0.3f * how.size.x, &broken));
            assert_ok(lm_world_step(world, FRAME));
            worst = fmax(worst, momentum_error(world, totals.momentum, &scale));
        }
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        print_message("%u particles, %u links broken, %u pieces, momentum error %.3g\n", info.particles,
                      info.broken_links, info.pieces, worst);
        assert_true(info.broken_links > 0 && info.pieces > 1);
        assert_true(worst < MOMENTUM_LIMIT);
        lm_world_destroy(world);
        lm_shape_mesh_free(&mesh);
    }
}

/* Contacts times passes in a substep, for each particle of the boxes. A step took 240 to 650 ms once. */
#define MOST_ROWS 20.0

static void a_stack_of_twenty_boxes(void **context)
{
    (void)context;
    static const float hertz[] = {8.0f, 30.0f};
    for (int n = 0; n < 4; n++) {
        lm_world *world = make_world(-9.81);
        lm_collider_def floor = lm_collider_def_default();
        lm_collider_id id;
        uint8_t cells[64];
        double worst = 0.0;
        uint32_t contacts = 0;
        assert_ok(lm_collider_create(world, &floor, &id));
        for (int k = 0; k < 64; k++) cells[k] = 1;
        for (int k = 0; k < 20; k++) {
            lm_body_def def = lm_body_def_default();
            def.lattice.cells = cells;
            for (int i = 0; i < 3; i++) def.lattice.counts[i] = 4;
            def.lattice.spacing = 0.1f;
            def.material.hertz = hertz[n % 2];
            def.material.stiffness = n < 2 ? LM_STIFFNESS_HERTZ : LM_STIFFNESS_ALPHA;
            def.material.alpha = 1.0f;
            def.mask = 1;
            def.pose.position.y = 0.2 + 0.405 * k;
            make_body(world, &def);
        }
        for (int frame = 0; frame < 60; frame++) {
            lm_stats s;
            assert_ok(lm_world_step(world, FRAME));
            lm_world_get_stats(world, &s);
            double rows = (double)s.mutual.soft * s.mutual.passes + (double)s.mutual.stiff * s.mutual.sweeps;
            contacts = s.mutual.soft + s.mutual.stiff > contacts ? s.mutual.soft + s.mutual.stiff : contacts;
            worst = fmax(worst, rows / s.particles);
        }
        print_message("twenty boxes: at most %u contacts, %.1f rows a particle\n", contacts, worst);
        assert_true(contacts > 100);
        assert_true(worst < MOST_ROWS);
        lm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_liver_that_breaks_in_the_air),
                                       cmocka_unit_test(a_stack_of_twenty_boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
