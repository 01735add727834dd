/*
 * Colliders that have kernels of their own on an OpenCL device: height maps, solid meshes and sheets, moving ones, contact rules,
 * more colliders than a word has bits, octrees with leaves of their own sizes. From each of several states a step there agrees
 * with one on the CPU, with the same contacts and impulses; nothing passes through; two runs are the same to the last bit.
 */
#include "test/gpu/device.h"
#include "test/gpu/ground.h"
#include "test/support/boxes.h"
#include "world/access.h"

static lm_body_id add_octree(lm_world *world, double x)
{
    boxes b = {0};
    boxes_add(&b, (lm_vec3){0.0f, 0.0f, 0.0f}, (lm_vec3){0.7f, 0.45f, 0.35f});
    lm_body_def def = boxes_octree(&b, 0.05f, 2, 0.15f);
    def.octree.detail = 6.0f;
    def.material.hertz = 4.0f;
    def.material.damping_ratio = 0.2f;
    def.contact_points = LM_CONTACT_PARTICLES;
    def.pose.position = (lm_dvec3){x, 0.3, 0.0};
    def.velocity = (lm_vec3){0.3f, -0.5f, 0.2f};
    def.spin = (lm_vec3){1.0f, 2.0f, -0.5f};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    return id;
}

/* ---- what is met ---- */

static void on_hills(lm_world *world)
{
    add_ground(world, GROUND_HEIGHTS, 0.0, 4.0f, (lm_mover_id){0, 0});
    add_ground(world, GROUND_HEIGHTS, 8.0, 4.0f, (lm_mover_id){0, 0}); /* side by side: both are met */
}

static void on_sheets(lm_world *world)
{
    add_ground(world, GROUND_SHEET, 0.0, 3.0f, (lm_mover_id){0, 0});
    add_ground(world, GROUND_PLATE, 8.0, 3.0f, (lm_mover_id){0, 0});
    add_ground(world, GROUND_HEIGHTS, 7.3, 2.0f, (lm_mover_id){0, 0}); /* through the plate */
}

/* A plate that rises, a map that slides, both turning. */
static void on_moving_ground(lm_world *world)
{
    lm_mover_def def = lm_mover_def_default();
    lm_mover_id mover;
    def.velocity = (lm_vec3){0.1f, 0.2f, 0.0f};
    def.spin = (lm_vec3){0.05f, 0.3f, 0.1f};
    assert_ok(lm_mover_create(world, &def, &mover));
    add_ground(world, GROUND_PLATE, 0.0, 3.0f, mover);
    def.pose.position.x = 8.0;
    def.velocity = (lm_vec3){-0.2f, 0.1f, 0.1f};
    assert_ok(lm_mover_create(world, &def, &mover));
    add_ground(world, GROUND_HEIGHTS, 0.0, 3.0f, mover);
}

/* More than a word has bits, one of them a map in the middle of the list. */
static void on_many_balls(lm_world *world)
{
    for (int n = 0; n < 80; n++) {
        lm_collider_def def = lm_collider_def_default();
        lm_collider_id id;
        def.shape = n % 3 ? LM_SHAPE_SPHERE : LM_SHAPE_BOX;
        def.radius = 0.3f;
        def.half_extents = (lm_vec3){0.25f, 0.2f, 0.25f};
        def.pose.position = (lm_dvec3){-0.9 + 0.45 * (n % 5) + (n >= 40 ? 8.0 : 0.0), -0.25, -1.2 + 0.45 * (n / 5 % 8)};
        assert_ok(lm_collider_create(world, &def, &id));
        if (n == 50) add_ground(world, GROUND_HEIGHTS, 8.0, 3.0f, (lm_mover_id){0, 0});
    }
}

/* Groups with friction and restitution of their own. */
static void by_rules(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    def.group = 2;
    assert_ok(lm_collider_create(world, &def, &id));
    assert_ok(lm_world_set_contact_rule(world, 2, 1, 0.05f, 0.9f));
    assert_ok(lm_world_set_contact_rule(world, 4, 2, 0.9f, LM_CONTACT_COMBINED));
}

typedef struct wall_case {
    const char *name;
    void (*add)(lm_world *world);
    bool octree;
} wall_case;

static const wall_case cases[] = {
    {"hills", on_hills, false},
    {"sheets and plates", on_sheets, false},
    {"moving ground", on_moving_ground, false},
    {"many balls", on_many_balls, false},
    {"rules", by_rules, false},
    {"octrees on hills", on_hills, true},
};

#define BODIES 3

static void fill(lm_world *world, const wall_case *c, lm_body_id ids[BODIES])
{
    ids[0] = add_lattice(world, 5, 0.0, 0.4);
    ids[1] = add_clusters(world, SAMPLE_GRID, 8.0, 0.8);
    ids[2] =
        c->octree ? add_octree(world, -2.0) : add_lattice(world, 9, 7.0, 0.7); /* tiles, and a work-group of its own */
    c->add(world);
    for (int n = 0; n < BODIES; n++) shake(world, ids[n], 0.01, (uint64_t)n + 3);
}

static void check_case(const wall_case *c)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[BODIES];
    fill(host, c, ids);
    double worst = 0.0;
    uint32_t met = 0;
    int64_t unlike = 0, all = 0;
    for (int snapshot = 0; snapshot < 8; snapshot++) {
        copy_world(device, host);
        lm_stats before[2], after[2];
        lm_world_get_stats(host, &before[0]);
        lm_world_get_stats(device, &before[1]);
        for (int step = 1; step <= 2; step++) { /* the second goes on with what the device has */
            assert_ok(lm_world_step(device, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME)); /* it was the device, and nobody else */
            assert_ok(lm_world_step(host, FRAME));
            for (int n = 0; n < BODIES; n++) worst = fmax(worst, difference(host, device, ids[n]) / step);
        }
        lm_world_get_stats(host, &after[0]);
        lm_world_get_stats(device, &after[1]);
        met += after[0].contacts > 0;
        all += after[0].contacts;
        unlike += llabs((int64_t)after[0].contacts - (int64_t)after[1].contacts);
        double given = after[0].outside_impulse.y - before[0].outside_impulse.y;
        assert_near(after[1].outside_impulse.y - before[1].outside_impulse.y, given, 1e-3 + 1e-4 * fabs(given));
        for (int n = 0; n < 6; n++) assert_ok(lm_world_step(host, FRAME));
    }
    if (getenv("LIMBER_TEST_VERBOSE") || worst > AGREEMENT || log.count)
        print_message("%s: %g, %u of 8 with contacts, %d of %d others\n%s", c->name, worst, met, (int)unlike, (int)all,
                      log.all);
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    assert_true(met > 3);
    assert_true(unlike <= 1 + all / 1000); /* rounding decides about a particle now and then */
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void walls_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) check_case(&cases[n]);
}

/* ---- events ---- */

/* Who touches what, how hard and where, in steps of two substeps: begun, going on and ended as on the CPU. */
static void events_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    static const size_t chosen[] = {1, 3, 4};
    uint32_t phases[LM_CONTACT_ENDED + 1] = {0};
    for (size_t k = 0; k < 3; k++) {
        lines log = {0}, quiet = {0};
        lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
        lm_body_id ids[BODIES];
        fill(host, &cases[chosen[k]], ids);
        assert_ok(lm_world_set_contact_events(host, true));
        for (int frame = 0; frame < 40; frame++) {
            if (frame % 8 == 0) copy_world(device, host);
            assert_ok(lm_world_step(host, FRAME));
            assert_ok(lm_world_step(device, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME / 2)); /* it was the device, and nobody else */
            lm_contact_event here[64], there[64];
            uint32_t count = lm_world_get_contact_events(host, here, 64);
            assert_int_equal(lm_world_get_contact_events(device, there, 64), count);
            for (uint32_t n = 0; n < count; n++) {
                phases[here[n].phase]++;
                assert_int_equal(there[n].phase, here[n].phase);
                assert_int_equal(there[n].body.slot, here[n].body.slot);
                assert_int_equal(there[n].collider.slot, here[n].collider.slot);
                /* Where nothing presses, rounding decides which particles are near, and the point is in their middle. */
                double off = here[n].pressed > 0.0f ? 1e-3 : 1e-2;
                assert_near(there[n].point.x, here[n].point.x, off);
                assert_near(there[n].point.y, here[n].point.y, off);
                assert_near(there[n].normal.y, here[n].normal.y, 1e-2);
                assert_near(there[n].pressed, here[n].pressed, 1e-3 + 1e-2 * here[n].pressed);
                assert_near(there[n].impulse.x, here[n].impulse.x, 1e-3 + 1e-2 * here[n].pressed);
                assert_near(there[n].approach, here[n].approach, 1e-2);
            }
        }
        assert_int_equal(log.count, 0);
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
    assert_true(phases[LM_CONTACT_BEGAN] > 6 && phases[LM_CONTACT_PERSISTS] > 20 && phases[LM_CONTACT_ENDED] > 2);
}

/* ---- long runs ---- */

static uint64_t run(const wall_case *c, double *lowest)
{
    lines log = {0};
    lm_world *world = world_on("gpu", 1, &log);
    lm_body_id ids[BODIES];
    fill(world, c, ids);
    *lowest = 1.0;
    for (int n = 0; n < 150; n++) {
        assert_ok(lm_world_step(world, FRAME));
        lm_body_info info;
        assert_ok(lm_body_get_info(world, ids[1], &info));
        *lowest = fmin(*lowest, info.lower.y);
    }
    assert_int_equal(log.count, 0);
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    return hash;
}

static void runs_are_the_same(void **state)
{
    (void)state;
    if (!has_device()) skip();
    static const size_t repeated[] = {0, 1};
    for (size_t k = 0; k < 2; k++) {
        double lowest, again;
        uint64_t first = run(&cases[repeated[k]], &lowest), second = run(&cases[repeated[k]], &again);
        assert_true(first == second);
        assert_true(lowest > -0.12 && lowest < 0.1); /* no hill is lower: nothing has passed through */
    }
}

/* ---- a lost device ---- */

static void loses_nothing(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint32_t lost = 0;
    for (uint32_t operations = 20; operations < 140; operations += 17) {
        lines log = {0};
        lm_world *world = world_on(NULL, 1, &log);
        const lmi_gpu_limits limits = {.operations = operations};
        lmi_gpu_open(world, "gpu", &limits);
        lm_body_id ids[BODIES];
        fill(world, &cases[1], ids);
        for (int n = 0; n < 5; n++) assert_ok(lm_world_step(world, FRAME));
        lm_totals totals;
        lm_world_get_totals(world, &totals);
        assert_true(totals.finite);
        assert_int_equal(log.count, world->gpu->lost ? 1 : 0);
        lost += world->gpu->lost;
        lm_world_destroy(world);
    }
    assert_true(lost > 3);
}

/* ---- bodies that come fast ---- */

static void throw(lm_world * world, lm_body_id id, float speed)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, id, &info));
    lm_vec3 *state = malloc(2 * info.particles * sizeof *state);
    assert_ok(lm_body_get_positions(world, id, info.centre, state));
    for (uint32_t n = 0; n < info.particles; n++) state[info.particles + n] = (lm_vec3){0.0f, -speed, 0.0f};
    info.centre.y += 100.0;
    assert_ok(lm_body_set_state(world, id, info.centre, state, state + info.particles));
    free(state);
}

/* The CPU halts them at what they come to, whether the device does contacts or not: with points on their surfaces and several grounds it
 * does not. */
static void fast_bodies_are_halted(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int points = 0; points < 2; points++) {
        lines log = {0};
        lm_world *world = world_on("gpu", 1, &log);
        lm_body_id ids[3] = {add_lattice(world, 5, -0.25, 0.4), add_clusters(world, SAMPLE_GRID, 8.0, 0.8)};
        boxes b = {0};
        boxes_add(&b, (lm_vec3){0.0f, 0.0f, 0.0f}, (lm_vec3){0.5f, 0.5f, 0.5f});
        lm_body_def def = boxes_octree(&b, 0.1f, 1, 0.0f);
        def.contact_points = points ? LM_CONTACT_SURFACE : LM_CONTACT_PARTICLES;
        def.pose.position.x = 16.0;
        ids[2] = make_body(world, &def);
        add_ground(world, GROUND_SHEET, 0.0, 3.0f, (lm_mover_id){0, 0});
        add_ground(world, GROUND_PLATE, 8.0, 3.0f, (lm_mover_id){0, 0});
        add_ground(world, GROUND_HEIGHTS, 16.0, 3.0f, (lm_mover_id){0, 0});
        for (int n = 0; n < 3; n++) throw(world, ids[n], points ? 9e5f : n == 0 ? 3e3f : n == 1 ? 3e4f : 3e5f);
        bool halted[3] = {false};
        for (int n = 0; n < 60; n++) {
            if (n % 3 == 0) assert_ok(lm_world_step(world, FRAME));
            halted[n % 3] = halted[n % 3] || lmi_body_read(world, ids[n % 3], "test")->halted;
        }
        for (int n = 0; n < 3; n++) {
            assert_true(halted[n]);
            lm_body_info info;
            assert_ok(lm_body_get_info(world, ids[n], &info));
            assert_true(info.centre.y > -0.1 && info.lower.y > -0.2);
        }
        if (!points) assert_non_null(strstr(log.all, "bodies that come to meshes or height maps"));
        lm_world_destroy(world);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walls_agree),   cmocka_unit_test(events_agree),           cmocka_unit_test(runs_are_the_same),
        cmocka_unit_test(loses_nothing), cmocka_unit_test(fast_bodies_are_halted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
