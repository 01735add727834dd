/*
 * Bodies that are lattices: the step against the double-precision reference, the same bits on every instruction set and
 * number of workers, momentum, and long bodies that travel.
 */
#include "test/support/follow.h"
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cells {
    uint8_t *is;
    uint32_t n[3];
} cells;

enum { CELLS_BOX, CELLS_COMB, CELLS_SHEET, CELLS_HOLES, CELLS_COUNT };

static cells cells_make(int kind, uint32_t x, uint32_t y, uint32_t z, random_state *random)
{
    cells c = {calloc((size_t)x * y * z, 1), {x, y, z}};
    for (uint32_t n = 0; n < x * y * z; n++) {
        uint32_t i = n % x, j = n / x % y, k = n / x / y;
        c.is[n] = kind == CELLS_BOX || (kind == CELLS_COMB && (j % 2 == 0 || i < 2)) ||
                  (kind == CELLS_SHEET && k == 0) || (kind == CELLS_HOLES && (random_below(random, 4) || i == 0));
    }
    return c;
}

static lm_body_def def_of(const cells *c, uint32_t width)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = c->is;
    memcpy(def.lattice.counts, c->n, sizeof c->n);
    def.lattice.spacing = 0.25f;
    def.lattice.width = width;
    def.mass = 3.0f;
    def.material.mode = LM_MODE_RIGID;
    def.material.hertz = 4.0f;
    return def;
}

/* ---- the reference ---- */

static void check_reference(int kind, uint32_t width, lm_mode mode, double damping_ratio, random_state *random)
{
    uint32_t x = 4 + random_below(random, 4), y = 3 + random_below(random, 3), z = 2 + random_below(random, 3);
    cells c = cells_make(kind, x, y, z, random);
    lm_world *world = make_world(-9.81);
    lm_body_def def = def_of(&c, width);
    def.material.mode = mode;
    def.material.damping_ratio = (float)damping_ratio;
    lm_body_id body = make_body(world, &def);
    randomise_state(world, body, random, 0.04, 1.0);
    double worst = follow_reference(world, body, 5).metres;
    if (worst > 2e-4) print_message("kind %d width %u mode %d: %g\n", kind, width, (int)mode, worst);
    assert_at_most(worst, 2e-4);
    lm_world_destroy(world);
    free(c.is);
}

static void follows_reference(void **state)
{
    (void)state;
    random_state random = {11};
    for (int kind = 0; kind < CELLS_COUNT; kind++)
        for (uint32_t width = 1; width <= 8; width++) {
            check_reference(kind, width, LM_MODE_RIGID, 0.0, &random);
            check_reference(kind, width, LM_MODE_RIGID, 0.3, &random);
            check_reference(kind, width, LM_MODE_LINEAR, 0.1, &random);
        }
}

/* ---- the same bits ---- */

static uint64_t run(lm_isa isa, uint32_t workers, uint32_t width, int frames)
{
    random_state random = {5};
    lm_world *world = make_world_with(-9.81, isa, workers);
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    floor.pose.position.y = -2.0;
    assert_ok(lm_collider_create(world, &floor, &id));
    for (int n = 0; n < 4; n++) {
        cells c = cells_make(n, n == 0 ? 40 : 9, n == 0 ? 30 : 5, n == 0 ? 36 : 4, &random);
        lm_body_def def = def_of(&c, width);
        def.pose.position.x = 15.0 * n;
        def.material.damping_ratio = n == 1 ? 0.0f : 0.1f;
        def.material.mode = n == 2 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        def.spin.y = 1.0f;
        lm_body_id body = make_body(world, &def);
        randomise_state(world, body, &random, 0.03, 1.0);
        free(c.is);
    }
    for (int frame = 0; frame < frames; frame++) assert_ok(lm_world_step(world, FRAME));
    uint64_t hash = lm_world_hash(world);
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
    lm_world_destroy(world);
    return hash;
}

static void same_bits(void **state)
{
    (void)state;
    static const uint32_t widths[] = {1, 2, 3, 4, 8}; /* the narrow ones have code of their own, and 8 is the widest */
    for (size_t n = 0; n < sizeof widths / sizeof widths[0]; n++) {
        uint32_t width = widths[n];
        uint64_t expected = run(LM_ISA_BEST, 1, width, 12);
        assert_true(run(LM_ISA_BEST, 1, width, 11) != expected);
        for (uint32_t workers = test_is_long() ? 2 : 4; workers <= 5; workers++)
            assert_true(run(LM_ISA_BEST, workers, width, 12) == expected);
        for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
            if (lm_isa_supported((lm_isa)isa)) assert_true(run((lm_isa)isa, 2, width, 12) == expected);
    }
}

/* ---- momentum ---- */

static void keeps_momentum(void **state)
{
    (void)state;
    random_state random = {3};
    for (uint32_t width = 1; width <= 3; width++) {
        cells c = cells_make(width == 2 ? CELLS_COMB : CELLS_BOX, 12, 7, 5, &random);
        lm_world *world = make_world(0.0);
        lm_body_def def = def_of(&c, width);
        def.material.damping_ratio = width == 3 ? 0.2f : 0.0f;
        lm_body_id body = make_body(world, &def);
        randomise_state(world, body, &random, 0.02, 2.0);
        motion before = motion_read(world, body, lm_dvec3_zero());
        for (int step = 0; step < 1000; step++) assert_ok(lm_world_step(world, FRAME));
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        motion after = motion_read(world, body, info.centre);
        assert_true(after.finite);
        double drift = ref_length(ref_sub(after.momentum, before.momentum)) / before.momentum_scale;
        double turn = ref_length(ref_sub(after.angular, before.angular)) / fmax(ref_length(before.angular), 1e-9);
        print_message("width %u: momentum %.2g, spin %.2g\n", width, drift, turn);
        assert_at_most(drift, 1e-5);
        assert_at_most(turn, 1e-4);
        lm_world_destroy(world);
        free(c.is);
    }
}

/* ---- long bodies that travel ---- */

static void travels(void **state)
{
    (void)state;
    random_state random = {4};
    for (int far = 0; far < 2; far++) {
        cells c = cells_make(CELLS_BOX, far ? 20 : 999, far ? 10 : 7, far ? 10 : 7, &random);
        lm_world *world = make_world(0.0);
        lm_body_def def = def_of(&c, 1);
        def.lattice.spacing = 0.1f;
        def.pose.position.x = far ? 1e4 : 0.0;
        def.velocity = (lm_vec3){10.0f, 1.0f, 0.5f};
        lm_body_id body = make_body(world, &def);
        for (int step = 0; step < 1000; step++) assert_ok(lm_world_step(world, FRAME));
        double off = deformation(world, body) / 0.1;
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        print_message("travels: off by %.2g spacings\n", off);
        assert_at_most(off, 1e-3);
        lm_world_destroy(world);
        free(c.is);
    }
}

/* ---- snapshots ---- */

static void saves_and_loads(void **state)
{
    (void)state;
    random_state random = {6};
    lm_world *world = make_world(-9.81);
    lm_body_id body = {0, 0};
    for (int kind = 0; kind < CELLS_COUNT; kind++) {
        cells c = cells_make(kind, 5, 9, 4, &random);
        lm_body_def def = def_of(&c, 1 + (uint32_t)kind);
        def.pose.position.x = 5.0 * kind;
        body = make_body(world, &def);
        randomise_state(world, body, &random, 0.03, 1.0);
        free(c.is);
    }
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id id;
    pin.body = body;
    pin.particles = (uint32_t[]){3, 17};
    pin.particle_count = 2;
    assert_ok(lm_pin_create(world, &pin, &id));
    for (int step = 0; step < 7; step++) assert_ok(lm_world_step(world, FRAME));
    assert_reloads(world, 20);
    lm_world_destroy(world);
}

/* ---- skins, and what is refused ---- */

static void carries_a_skin(void **state)
{
    (void)state;
    random_state random = {7};
    cells c = cells_make(CELLS_COMB, 6, 5, 4, &random);
    lm_world *world = make_world(0.0);
    lm_body_def def = def_of(&c, 2);
    lm_body_id body = make_body(world, &def);
    lm_vec3 corners[4] = {{0.1f, 0.1f, 0.1f}, {1.4f, 0.05f, 0.9f}, {0.3f, 1.2f, 0.6f}, {0.0f, 0.0f, 0.0f}}, out[4];
    uint32_t triangles[3] = {0, 1, 2};
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = corners, skin.vertex_count = 4, skin.triangles = triangles, skin.triangle_count = 1;
    assert_ok(lm_body_set_skin(world, body, &skin));
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), out, NULL));
    for (int n = 0; n < 4; n++) {
        assert_near(out[n].x, corners[n].x, 1e-6);
        assert_near(out[n].y, corners[n].y, 1e-6);
        assert_near(out[n].z, corners[n].z, 1e-6);
    }
    skin.kind = LM_SKIN_REGIONS;
    assert_result(lm_body_set_skin(world, body, &skin), LM_ERROR_ARGUMENT);
    lm_material material = def.material;
    material.mode = LM_MODE_QUADRATIC;
    assert_result(lm_body_set_material(world, body, &material), LM_ERROR_ARGUMENT);
    material.mode = LM_MODE_LINEAR;
    assert_ok(lm_body_set_material(world, body, &material));
    for (int step = 0; step < 5; step++) assert_ok(lm_world_step(world, FRAME));
    assert_at_most(deformation(world, body), 1e-5);
    def.lattice.width = 9;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    def.lattice.width = 1;
    def.points = corners, def.point_count = 4;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    lm_world_destroy(world);
    free(c.is);
}

/* ---- mangled ---- */

static void recovers(void **state)
{
    (void)state;
    random_state random = {8};
    for (int how = 0; how < 5; how++) {
        cells c = cells_make(CELLS_BOX, 5, 4, 3, &random);
        lm_world *world = make_world(0.0);
        lm_body_def def = def_of(&c, 2);
        def.material.stiffness = LM_STIFFNESS_ALPHA;
        def.material.alpha = 1.0f;
        def.material.damping = 8.0f;
        lm_body_id body = make_body(world, &def);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        lm_vec3 *x = calloc(info.particles, sizeof *x);
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
        for (uint32_t n = 0; n < info.particles; n++) {
            if (how == 0) x[n].y = 0.0f;
            if (how == 1) x[n].y = -x[n].y;
            if (how == 2) x[n] = (lm_vec3){0.0f, 0.0f, 0.0f};
            if (how == 3) x[n] = to_float(random_in_cube(&random, 3.0));
            if (how == 4) x[n].x *= 1e5f;
        }
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
        for (int step = 0; step < 4000; step++) assert_ok(lm_world_step(world, FRAME));
        double off = deformation(world, body) / 0.25;
        print_message("mangled %d: off by %.2g spacings\n", how, off);
        assert_at_most(off, 1e-2);
        free(x);
        lm_world_destroy(world);
        free(c.is);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(follows_reference), cmocka_unit_test(same_bits),
                                       cmocka_unit_test(keeps_momentum),    cmocka_unit_test(travels),
                                       cmocka_unit_test(saves_and_loads),   cmocka_unit_test(carries_a_skin),
                                       cmocka_unit_test(recovers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
