/*
 * Lattices that only travel keep their shape, however large they are and however far away.
 *
 *   test_lattice_travel          1,000 x 8 x 8 particles, and a body ten kilometres away
 *   test_lattice_travel long     1,000 x 40 x 40 particles, and for longer
 */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#define SPACING 0.1

static bool is_long = false;

/* The largest distance of a particle from the rest shape in spacings, after some seconds at 10 m/s. */
static double travel(uint32_t nx, uint32_t ny, uint32_t nz, uint32_t width, lm_dvec3 at, bool turned)
{
    size_t count = (size_t)nx * ny * nz;
    uint8_t *cells = malloc(count);
    memset(cells, 1, count);
    lm_world *world = make_world_with(0.0, LM_ISA_BEST, 2);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.lattice.cells = cells;
    def.lattice.counts[0] = nx, def.lattice.counts[1] = ny, def.lattice.counts[2] = nz;
    def.lattice.spacing = (float)SPACING;
    def.lattice.width = width;
    def.pose.position = at;
    if (turned) def.pose.rotation = quaternion(ref_v(0.3, -0.8, 0.5));
    def.velocity = (lm_vec3){8.0f, -4.8f, 3.6f};
    lm_body_id body = make_body(world, &def);
    free(cells);
    lm_body_info before, after;
    assert_ok(lm_body_get_info(world, body, &before));
    int steps = is_long ? 1000 : 400;
    for (int step = 0; step < steps; step++) assert_ok(lm_world_step(world, FRAME));
    assert_ok(lm_body_get_info(world, body, &after));
    assert_near(after.centre.x - before.centre.x, 8.0 * steps * FRAME, 1e-3);
    assert_near(after.centre.y - before.centre.y, -4.8 * steps * FRAME, 1e-3);
    double off = deformation(world, body) / SPACING;
    print_message("%u x %u x %u, width %u: off by %.2g spacings\n", nx + 1, ny + 1, nz + 1, width, off);
    lm_world_destroy(world);
    return off;
}

static void a_long_one_keeps_its_shape(void **context)
{
    (void)context;
    uint32_t thick = is_long ? 39 : 7;
    assert_at_most(travel(999, thick, thick, 1, lm_dvec3_zero(), true), 1e-3);
    assert_at_most(travel(999, 7, 7, 3, lm_dvec3_zero(), true), 1e-3);
}

static void one_far_away_keeps_its_shape(void **context)
{
    (void)context;
    for (uint32_t width = 1; width <= 3; width++)
        assert_at_most(travel(30, 12, 9, width, (lm_dvec3){7168.0, -2048.0, 6656.0}, true), 1e-3);
}

int main(int argc, char **argv)
{
    is_long = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_long_one_keeps_its_shape),
                                       cmocka_unit_test(one_far_away_keeps_its_shape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
