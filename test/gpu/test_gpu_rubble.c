/*
 * Bodies that can break, whole and in pieces, where they touch on an OpenCL device: each other, other bodies and colliders. From several
 * states one step there agrees with one on the CPU, and all of it is the device's, but for pieces that are very fast.
 */
#include "fracture/fracture.h"
#include "gpu/solve.h"
#include "test/gpu/device.h"
#include "test/support/boxes.h"

#define BODIES 6

typedef struct start {
    lm_dvec3 at;
    lm_vec3 velocity;
    uint32_t mask;
} start;

static void set_def(lm_body_def *def, start from)
{
    def->mass = 2.0f;
    def->material.hertz = 16.0f;
    def->material.damping_ratio = 0.1f;
    def->material.restitution = 0.2f;
    def->group = 1;
    def->mask = from.mask;
    def->pose.position = from.at;
    def->velocity = from.velocity;
    def->spin = (lm_vec3){0.3f, 0.1f, -0.2f};
}

/* A box of cells that breaks only when asked to. */
static lm_body_id add_brittle(lm_world *world, start from)
{
    uint8_t filled[6 * 6 * 6];
    memset(filled, 1, sizeof filled);
    filled[0] = filled[7] = 0;
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = filled;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 6;
    def.lattice.spacing = 0.12f;
    def.lattice.width = 1;
    def.contact_points = LM_CONTACT_PARTICLES;
    set_def(&def, from);
    lm_body_id id = make_body(world, &def);
    lm_fracture_def fracture = lm_fracture_def_default();
    fracture.limit = 1e3f;
    assert_ok(lm_body_set_fracture(world, id, &fracture));
    return id;
}

static lm_body_id add_plain(lm_world *world, start from, bool octree)
{
    boxes b = {0};
    random_state random = {3};
    sample s = sample_make(SAMPLE_GRID, &random);
    boxes_add(&b, (lm_vec3){-0.3f, -0.3f, -0.3f}, (lm_vec3){0.3f, 0.3f, 0.3f});
    lm_body_def def = octree ? boxes_octree(&b, 0.1f, 1, 0.2f) : s.def;
    set_def(&def, from);
    lm_body_id id = make_body(world, &def);
    sample_free(&s);
    return id;
}

/* Breaks all links near two planes of the rest shape: a body of several pieces. */
static void break_up(lm_world *world, lm_body_id id)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, id, &info));
    lm_vec3 *rest = malloc(info.particles * sizeof *rest), low = {9.0f, 9.0f, 9.0f};
    assert_ok(lm_body_get_rest_positions(world, id, rest));
    for (uint32_t n = 0; n < info.particles; n++)
        low = (lm_vec3){fminf(low.x, rest[n].x), fminf(low.y, rest[n].y), fminf(low.z, rest[n].z)};
    for (uint32_t n = 0; n < info.particles; n++) {
        assert_ok(lm_body_break(world, id, (lm_vec3){rest[n].x, low.y + 0.42f, rest[n].z}, 0.03f, NULL));
        assert_ok(lm_body_break(world, id, (lm_vec3){low.x + 0.18f, rest[n].y, rest[n].z}, 0.03f, NULL));
    }
    free(rest);
    assert_ok(lm_body_get_info(world, id, &info));
    assert_true(info.pieces > 2);
}

/* Bodies that come together above a floor: two in three can break; half of these are in pieces where `broken`. */
static void fill(lm_world *world, bool broken, bool floor, float down, lm_body_id ids[BODIES])
{
    assert_ok(lm_world_set_gravity(world, (lm_vec3){0.0f, floor ? -9.81f : 0.0f, 0.0f}));
    for (int n = 0; n < BODIES; n++) {
        lm_dvec3 at = {0.71 * (n % 2) + 0.013 * n, 0.4 + 0.72 * (n / 2 % 2), 0.7 * (n / 4) + 0.017 * n};
        lm_vec3 v = {n % 2 ? -0.7f : 0.7f, (n / 2 % 2 ? -0.7f : 0.7f) - down, n / 4 ? -0.7f : 0.7f};
        start from = {at, v, 1};
        ids[n] = n % 3 < 2 ? add_brittle(world, from) : add_plain(world, from, n == 2);
        if (broken && n % 3 == 0) break_up(world, ids[n]);
        shake(world, ids[n], 0.01, (uint64_t)n);
    }
    if (floor) {
        lm_collider_def def = lm_collider_def_default();
        def.shape = LM_SHAPE_PLANE;
        lm_collider_id id;
        assert_ok(lm_collider_create(world, &def, &id));
    }
}

/* How far both are apart after a step from each of several states. What they tell of it is the same too. */
static double compare(lm_world *host, lm_world *device, const lm_body_id *ids, int states, uint32_t *contacts)
{
    double worst = 0.0, told = 0.0;
    uint32_t pairs = 0, walls = 0;
    *contacts = 0;
    assert_ok(lm_world_set_contact_events(host, true));
    for (int n = 0; n < states; n++) {
        copy_world(device, host);
        assert_ok(lm_world_step(device, FRAME));
        assert_true(lmi_gpu_goes_on(device, FRAME / 2));
        assert_ok(lm_world_step(host, FRAME));
        double off = 0.0;
        for (int k = 0; k < BODIES; k++) off = fmax(off, difference(host, device, ids[k]));
        if (getenv("LIMBER_TEST_VERBOSE"))
            print_message("%d: %g, %u contacts\n", n, off, device->gpu->solver->contact_count);
        lm_stats a, b;
        told = fmax(told, compare_events(host, device, &pairs, &walls));
        lm_world_get_stats(host, &a);
        lm_world_get_stats(device, &b);
        assert_true(abs((int)a.contacts - (int)b.contacts) <= 2); /* with the floor */
        *contacts += device->gpu->solver->contact_count + b.contacts;
        worst = fmax(worst, off);
        assert_ok(lm_world_step(host, FRAME));
    }
    assert_true(pairs > 10);
    assert_at_most(told, 2e-3);
    return worst;
}

static void heaps_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int how = 0; how < 4; how++) {
        bool broken = how % 2, floor = how / 2;
        lines log = {0}, quiet = {0};
        lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
        lm_body_id ids[BODIES];
        uint32_t contacts;
        fill(host, broken, floor, floor ? 1.2f : 0.0f, ids);
        double worst = compare(host, device, ids, 8, &contacts);
        if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE"))
            print_message("%s, %s: %g, %u contacts\n%s", broken ? "in pieces" : "whole", floor ? "floor" : "no floor",
                          worst, contacts, log.all);
        assert_int_equal(log.count, 0);
        assert_true(device->gpu->solver->rubble.grain_count > 500);
        assert_true((device->gpu->solver->rubble.piece_count > 0) == broken);
        assert_true(contacts > (floor ? 60u : 200u));
        assert_at_most(worst, AGREEMENT);
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
}

/* What pieces give each other adds up to nothing, and every run is the same. */
static void pieces_keep_momentum(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint64_t hash[2];
    for (int run = 0; run < 2; run++) {
        lines log = {0};
        lm_world *world = world_on("gpu", 2, &log);
        lm_body_id ids[BODIES];
        fill(world, true, false, 0.0f, ids);
        lm_totals before, after;
        lm_world_get_totals(world, &before);
        for (int n = 0; n < 20; n++) assert_ok(lm_world_step(world, FRAME));
        lm_world_get_totals(world, &after);
        assert_true(after.finite);
        assert_near(after.momentum.x, before.momentum.x, 1e-3);
        assert_near(after.momentum.y, before.momentum.y, 1e-3);
        assert_near(after.momentum.z, before.momentum.z, 1e-3);
        hash[run] = lm_world_hash(world);
        assert_int_equal(log.count, 0);
        lm_world_destroy(world);
    }
    assert_true(hash[0] == hash[1]);
}

/* Pieces that cross a good part of the body in a substep answer as a whole: that is left to the CPU, from a state that nothing was done
 * to. In a heap, and of a single body. */
static void fast_pieces(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int alone = 0; alone < 2; alone++) {
        lines log = {0}, quiet = {0};
        lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
        lm_body_id ids[BODIES];
        fill(host, true, true, 25.0f, ids);
        for (int n = 1; alone && n < BODIES; n++) assert_ok(lm_body_destroy(host, ids[n]));
        copy_world(device, host);
        assert_ok(lm_world_step(device, FRAME));
        assert_ok(lm_world_step(host, FRAME));
        assert_false(lmi_gpu_goes_on(device, FRAME / 2));
        for (int n = 0; n < (alone ? 1 : BODIES); n++) assert_at_most(difference(host, device, ids[n]), AGREEMENT);
        assert_int_equal(log.count, 1);
        assert_non_null(strstr(log.last, "fast bodies that meet each other"));
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
}

/* Pieces that see no other body touch colliders, each particle for itself, however fast they are. */
static void lonely_pieces(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int fast = 0; fast < 2; fast++) {
        lines log = {0}, quiet = {0};
        lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
        lm_body_id id =
            add_brittle(host, (start){{0.0, fast ? 0.5 : 0.37, 0.0}, {0.0f, fast ? -40.0f : -1.0f, 0.0f}, 0});
        lm_collider_def def = lm_collider_def_default();
        def.shape = LM_SHAPE_PLANE;
        lm_collider_id floor;
        assert_ok(lm_collider_create(host, &def, &floor));
        break_up(host, id);
        lm_stats a, b;
        uint32_t contacts = 0;
        for (int n = 0; n < (fast ? 1 : 12); n++) {
            copy_world(device, host);
            assert_ok(lm_world_step(device, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME / 2));
            assert_ok(lm_world_step(host, FRAME));
            assert_at_most(difference(host, device, id), AGREEMENT);
            lm_world_get_stats(host, &a);
            lm_world_get_stats(device, &b);
            assert_int_equal(a.contacts, b.contacts);
            contacts += b.contacts;
        }
        assert_true(contacts > 10);
        assert_int_equal(log.count, 0);
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
}

/* A body that is strained too much breaks while it is on the device: in the same step, and as much of it. */
static void strain_breaks(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    lm_body_id id = add_brittle(host, (start){{0.0, 0.5, 0.0}, {0.0f, -2.0f, 0.0f}, 1});
    lm_collider_def def = lm_collider_def_default();
    def.shape = LM_SHAPE_PLANE;
    lm_collider_id floor;
    lm_fracture_def fracture = lm_fracture_def_default();
    fracture.limit = 0.04f;
    assert_ok(lm_body_set_fracture(host, id, &fracture));
    assert_ok(lm_collider_create(host, &def, &floor));
    copy_world(device, host);
    lm_body_info a = {.broken_links = 0}, b;
    for (int n = 0; n < 40 && a.broken_links == 0; n++) {
        assert_ok(lm_world_step(host, FRAME));
        assert_ok(lm_world_step(device, FRAME));
        assert_true(lmi_gpu_goes_on(device, FRAME / 2));
        assert_ok(lm_body_get_info(host, id, &a));
        assert_ok(lm_body_get_info(device, id, &b));
        assert_int_equal(a.broken_links, b.broken_links);
    }
    assert_true(a.broken_links > 0);
    assert_int_equal(log.count, 0);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heaps_agree), cmocka_unit_test(pieces_keep_momentum),
                                       cmocka_unit_test(fast_pieces), cmocka_unit_test(lonely_pieces),
                                       cmocka_unit_test(strain_breaks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
