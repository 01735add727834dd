/*
 * Touch points on meshes, height maps and many colliders, and with contact rules, where contacts are solved on an OpenCL device:
 * heaps of bodies of all kinds agree with the CPU from the fall on until they rest; what is pushed beyond a sheet comes back from
 * there; and what is left to the CPU is said.
 */
#include "gpu/solve.h"
#include "test/gpu/device.h"
#include "test/gpu/ground.h"
#include "test/gpu/heap.h"
#include "test/gpu/ways.h"

#define SIDE 3
#define BODIES (SIDE * SIDE * 2)

static const lm_mover_id still = {0, 0};

/* --- what is met --- */

static void on_hills(lm_world *world) { add_ground(world, GROUND_HEIGHTS, 0.8, 4.0f, still); }

static void on_sheets(lm_world *world)
{
    add_ground(world, GROUND_SHEET, -0.6, 1.4f, still);
    add_ground(world, GROUND_PLATE, 1.6, 1.5f, still); /* through the sheet */
}

/* A plate that rises and turns. */
static void on_moving_ground(lm_world *world)
{
    lm_mover_def def = lm_mover_def_default();
    lm_mover_id mover;
    def.velocity = (lm_vec3){0.1f, 0.2f, 0.0f};
    def.spin = (lm_vec3){0.05f, 0.3f, 0.1f};
    assert_ok(lm_mover_create(world, &def, &mover));
    add_ground(world, GROUND_PLATE, 0.5, 3.0f, mover);
}

/* More than a word has bits, most of them far away, with a map in the middle of the list. */
static void on_many_balls(lm_world *world)
{
    for (int n = 0; n < 160; n++) {
        lm_collider_def def = lm_collider_def_default();
        lm_collider_id id;
        def.shape = n % 3 ? LM_SHAPE_SPHERE : LM_SHAPE_BOX;
        def.radius = 0.3f;
        def.half_extents = (lm_vec3){0.25f, 0.2f, 0.25f};
        def.pose.position = (lm_dvec3){-0.9 + 0.45 * (n % 8) + (n % 2 ? 0.0 : 9.0), -0.2, -0.9 + 0.4 * (n / 16)};
        assert_ok(lm_collider_create(world, &def, &id));
        if (n == 90) add_ground(world, GROUND_HEIGHTS, 0.5, 3.0f, still);
    }
}

/* Friction and restitution of their own between bodies and the floor, and between bodies. */
static void by_rules(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    def.group = 2;
    assert_ok(lm_collider_create(world, &def, &id));
    assert_ok(lm_world_set_contact_rule(world, 2, 1, 0.05f, 0.9f));
    assert_ok(lm_world_set_contact_rule(world, 1, 1, 0.9f, LM_CONTACT_COMBINED));
}

/* --- heaps --- */

typedef struct ground_case {
    const char *name;
    void (*add)(lm_world *world);
    share of;
} ground_case;

static void fill(lm_world *world, share of, lm_body_id ids[BODIES])
{
    random_state random = {7};
    for (uint32_t n = 0; n < BODIES; n++) {
        ref_vec off = random_in_cube(&random, 0.05);
        lm_dvec3 at = {0.85 * (n % SIDE) + off.x, 0.65 + 0.85 * (n / SIDE % 2) + off.y, 0.85 * (n / SIDE / 2) + off.z};
        share own = of == ANY ? (share)(n / 3 % 3) : of;
        ids[n] = n % 3 == 0   ? add_brick(world, at, own)
                 : n % 3 == 1 ? add_points(world, at, own, n)
                              : add_octree(world, at, own, 1);
    }
}

static void check(const ground_case *c)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    device->gpu->limits.levels = 1000000;
    lm_body_id ids[BODIES];
    fill(host, c->of, ids);
    c->add(host);
    double worst = 0.0;
    uint32_t touching = 0, decided = 0; /* states in which rounding decides about a contact */
    for (int n = 0; n < 5; n++) {
        for (int k = 0; k < 8; k++) assert_ok(lm_world_step(host, FRAME));
        lm_world *before = world_on(NULL, 2, &quiet);
        copy_world(device, host);
        copy_world(before, host);
        double off = 0.0;
        for (int step = 1; step <= 2 && off <= AGREEMENT;
             step++) { /* the second with what points remember of the first */
            assert_ok(lm_world_step(device, FRAME));
            assert_ok(lm_world_step(host, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME / 2));
            lm_stats a, b;
            lm_world_get_stats(host, &a);
            lm_world_get_stats(device, &b);
            assert_true(abs((int)a.contacts - (int)b.contacts) <= 2 + (int)a.contacts / 10);
            off = worst_of(host, device) / (step * step); /* and what the first left */
            touching += b.contacts;
            if (off > AGREEMENT && step == 1) {
                decided++;
                worst = fmax(worst, nearest_way(before, device));
            } else {
                worst = fmax(worst, off);
            }
            if (getenv("LIMBER_TEST_VERBOSE")) print_message("%d.%d: %g, %u contacts\n", n, step, off, b.contacts);
        }
        lm_world_destroy(before);
    }
    assert_true(decided <= 1);
    if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE"))
        print_message("%s: worst %g, %u contacts\n%s", c->name, worst, touching, log.all);
    assert_int_equal(log.count, 0);
    assert_true(touching > 100);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void heaps_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    static const ground_case cases[] = {{"hills", on_hills, ANY},
                                        {"sheets", on_sheets, NONE},
                                        {"moving ground", on_moving_ground, NONE},
                                        {"many balls", on_many_balls, NONE},
                                        {"rules", by_rules, NONE}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) check(&cases[n]);
}

/* More colliders around one body than it can have in a substep: the CPU does it, from a state that nothing was done to. */
static void crowded_colliders(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    add_brick(host, (lm_dvec3){-0.3, 0.1, -0.3}, NONE);
    add_brick(host, (lm_dvec3){9.0, 0.1, -0.3}, NONE); /* in company bodies touch with points on their surfaces */
    for (int n = 0; n < 70; n++) {
        lm_collider_def def = lm_collider_def_default();
        lm_collider_id id;
        def.shape = LM_SHAPE_SPHERE;
        def.radius = 0.3f;
        def.pose.position = (lm_dvec3){0.02 * (n % 10), -0.2, 0.02 * (n / 10)};
        assert_ok(lm_collider_create(host, &def, &id));
    }
    copy_world(device, host);
    assert_ok(lm_world_step(device, FRAME));
    assert_ok(lm_world_step(host, FRAME));
    assert_true(lm_world_hash(host) == lm_world_hash(device));
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.last, "more than 64 others around them"));
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* Bodies that see no others go through several meshes more than once: still the CPU's, and agreeing. */
static void several_grounds(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int grounds = 1; grounds <= 2; grounds++) {
        lines log = {0}, quiet = {0};
        lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
        lm_body_id id = add_octree(host, (lm_dvec3){0.3, 0.5, 0.1}, NONE, 0);
        for (int n = 0; n < grounds; n++) add_ground(host, n ? GROUND_HEIGHTS : GROUND_PLATE, 0.2 * n, 3.0f, still);
        for (int n = 0; n < 4; n++) {
            copy_world(device, host);
            assert_ok(lm_world_step(device, FRAME));
            for (int k = 0; k < 5; k++) {
                assert_ok(lm_world_step(host, FRAME));
                if (k == 0) assert_at_most(difference(host, device, id), AGREEMENT);
            }
        }
        assert_int_equal(log.count, grounds > 1);
        assert_true(grounds == 1 || strstr(log.last, "are left to the CPU"));
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heaps_agree), cmocka_unit_test(crowded_colliders),
                                       cmocka_unit_test(several_grounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
