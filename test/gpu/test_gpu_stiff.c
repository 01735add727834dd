/*
 * Stiff bodies on an OpenCL device, whose contacts are gone through one after the other: heaps of all kinds of bodies that answer as
 * a whole, in part, or not at all agree with the CPU from the fall on until they rest, with walls that have the last word; and
 * chains that are too long are left to the CPU, which says so.
 */
#include "gpu/solve.h"
#include "test/gpu/device.h"
#include "test/gpu/heap.h"

#define SIDE 3
#define BODIES (SIDE * SIDE * SIDE)

static void add_collider(lm_world *world, lm_shape shape, lm_dvec3 at)
{
    lm_collider_def def = lm_collider_def_default();
    def.shape = shape;
    def.radius = 0.4f;
    def.half_extents = (lm_vec3){0.5f, 0.3f, 0.4f};
    def.pose.position = at;
    def.friction = 0.8f;
    lm_collider_id id;
    assert_ok(lm_collider_create(world, &def, &id));
}

/* A heap over a floor, a sphere and a box. mask 0: they do not see each other, and are octrees: these touch colliders with points on
 * their surface all the same. */
static void fill(lm_world *world, share of, uint32_t mask, lm_body_id ids[BODIES])
{
    random_state random = {7};
    for (uint32_t n = 0; n < BODIES; n++) {
        ref_vec off = random_in_cube(&random, 0.05);
        lm_dvec3 at = {0.85 * (n % SIDE) + off.x, 0.85 * (n / SIDE % SIDE) + off.y, 0.85 * (n / SIDE / SIDE) + off.z};
        share own = of == ANY ? (share)(n / 3 % 3) : of;
        ids[n] = mask && n % 3 == 0   ? add_brick(world, at, own)
                 : mask && n % 3 == 1 ? add_points(world, at, own, n)
                                      : add_octree(world, at, own, mask);
    }
    add_collider(world, LM_SHAPE_PLANE, (lm_dvec3){0.0, -0.6, 0.0});
    add_collider(world, LM_SHAPE_SPHERE, (lm_dvec3){0.2, -0.8, 0.1});
    add_collider(world, LM_SHAPE_BOX, (lm_dvec3){0.7, -0.6, 1.3});
}

/* From states on the way one step agrees with the CPU's; what touches walls is counted, and what they give is the same. */
static void heap(share of, uint32_t mask)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    device->gpu->limits.levels = 1000000; /* however long that takes */
    lm_body_id ids[BODIES];
    fill(host, of, mask, ids);
    double worst = 0.0;
    uint32_t whole = 0, last = 0, touching = 0;
    for (int n = 0; n < 6; n++) {
        for (int k = 0; k < 8; k++) assert_ok(lm_world_step(host, FRAME));
        copy_world(device, host);
        for (int step = 1; step <= 2; step++) { /* the second with what points remember of the first */
            assert_ok(lm_world_step(device, FRAME));
            assert_ok(lm_world_step(host, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME / 2));
            double off = 0.0;
            for (int k = 0; k < BODIES; k++) off = fmax(off, difference(host, device, ids[k]) / step);
            lm_stats a, b;
            lm_world_get_stats(host, &a);
            lm_world_get_stats(device, &b);
            assert_true(abs((int)a.contacts - (int)b.contacts) <= 2 + (int)a.contacts / 10); /* some hardly touch */
            assert_near(b.outside_impulse.y, a.outside_impulse.y, 1e-3);
            worst = fmax(worst, off);
            touching += b.contacts;
            whole += device->gpu->solver->most_whole;
            last += device->gpu->solver->last_whole;
            if (getenv("LIMBER_TEST_VERBOSE"))
                print_message("%d.%d: %g, %u whole in %u levels, %u at last\n", n, step, off,
                              device->gpu->solver->most_whole, device->gpu->solver->most_levels,
                              device->gpu->solver->last_whole);
        }
    }
    if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE"))
        print_message("share %d, mask %u: worst %g, %u whole contacts\n%s", of, mask, worst, whole, log.all);
    assert_int_equal(log.count, 0);
    assert_true(whole > 300 && touching > 100);
    assert_true(of != HALF || last > 5); /* others have pushed them into walls, which have the last word */
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void heaps_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    heap(ALL, 1);
    heap(HALF, 1);
    heap(ANY, 1);
    heap(ALL, 0);
}

/* Chains that would take the device longer than the CPU: that does such steps, and one line says so. */
static void long_chains(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_world *device = world_on("gpu", 1, &log);
    for (int n = 0; n < 12; n++) add_brick(device, (lm_dvec3){0.02 * (n % 2), 0.81 * n, 0.0}, ALL);
    add_collider(device, LM_SHAPE_PLANE, (lm_dvec3){0.0, -0.4, 0.0});
    int n = 0;
    for (; n < 40 && !log.count; n++) assert_ok(lm_world_step(device, FRAME));
    assert_false(lmi_gpu_goes_on(device, FRAME));
    for (; n < 50; n++) assert_ok(lm_world_step(device, FRAME));
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.last, "long chains of stiff or fast bodies"));
    lm_world_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heaps_agree), cmocka_unit_test(long_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
