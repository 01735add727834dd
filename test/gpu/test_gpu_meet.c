/*
 * Bodies that keep each other out by depth cube maps on an OpenCL device: they agree with the CPU, keep their momentum, are the
 * same in every run, and find every partner that brute force finds.
 */
#include "gpu/gpu_meet.h"
#include "gpu/solve.h"
#include "test/gpu/device.h"

#define SIDE 4
#define BODIES (SIDE * SIDE * SIDE)

static lm_body_id add_body(lm_world *world, sample_kind kind, lm_dvec3 at, lm_vec3 velocity, uint64_t seed)
{
    random_state random = {seed};
    sample s = sample_make(kind, &random);
    s.def.material.hertz = 4.0f;
    s.def.material.damping_ratio = 0.1f;
    s.def.mask = 1;
    s.def.penalty = 5.0f; /* soft: the force is explicit */
    s.def.group = 1;
    s.def.pose.position = at;
    s.def.velocity = velocity;
    s.def.spin = (lm_vec3){0.3f, 0.1f, -0.2f};
    lm_body_id id = make_body(world, &s.def);
    sample_free(&s);
    return id;
}

/* A heap of bodies of several kinds that overlap a little and come together slowly. */
static void fill(lm_world *world, double apart, bool mixed, lm_body_id ids[BODIES])
{
    static const sample_kind kinds[] = {SAMPLE_BLOB, SAMPLE_GRID, SAMPLE_BOX, SAMPLE_TETS, SAMPLE_ROD};
    random_state random = {9};
    assert_ok(lm_world_set_gravity(world, (lm_vec3){0.0f, 0.0f, 0.0f}));
    assert_ok(lm_world_set_contact_method(world, LM_CONTACT_METHOD_CUBE_MAP));
    for (uint32_t n = 0; n < BODIES; n++) {
        lm_dvec3 at = {apart * (n % SIDE), apart * (n / SIDE % SIDE), apart * (n / SIDE / SIDE)};
        ref_vec off = random_in_cube(&random, 0.1 * apart), v = random_in_cube(&random, 0.3);
        double middle = 0.5 * apart * (SIDE - 1);
        lm_vec3 velocity = {(float)(v.x - 0.1 * (at.x - middle)), (float)(v.y - 0.1 * (at.y - middle)),
                            (float)(v.z - 0.1 * (at.z - middle))};
        at = (lm_dvec3){at.x + off.x, at.y + off.y, at.z + off.z};
        ids[n] = add_body(world, mixed ? kinds[n % 5] : SAMPLE_BOX, at, velocity, n);
    }
}

static lm_dvec3 momentum_of(lm_world *world)
{
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
    return totals.momentum;
}

/* One is pinned by some of its particles, and one is dragged: forces come between the two. */
static void hold_some(lm_world *world, const lm_body_id ids[BODIES])
{
    lm_pin_def pin = lm_pin_def_default();
    lm_drag_def drag = lm_drag_def_default();
    lm_pin_id pin_id;
    lm_drag_id drag_id;
    pin.body = ids[21];
    pin.particles = (const uint32_t[]){0, 3, 5};
    pin.particle_count = 3;
    assert_ok(lm_pin_create(world, &pin, &pin_id));
    drag.body = ids[22];
    drag.radius = 0.3f;
    drag.target = (lm_dvec3){1.0, 1.0, 0.6};
    drag.max_force = 2.0f;
    assert_ok(lm_drag_create(world, &drag, &drag_id));
}

static void bodies_meet(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    lm_body_id ids[BODIES];
    fill(host, 0.7, true, ids);
    hold_some(host, ids);
    double worst = 0.0, pushed = 0.0;
    for (int snapshot = 0; snapshot < 5; snapshot++) {
        copy_world(device, host);
        lm_body_info before[BODIES], after;
        for (int n = 0; n < BODIES; n++) assert_ok(lm_body_get_info(host, ids[n], &before[n]));
        for (int step = 1; step <= 2; step++) {
            assert_ok(lm_world_step(device, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME / 2)); /* all of it was the device's */
            assert_ok(lm_world_step(host, FRAME));
            for (int n = 0; n < BODIES; n++) { /* there is no gravity: what changes a body's velocity is another body */
                worst = fmax(worst, difference(host, device, ids[n]) / step);
                assert_ok(lm_body_get_info(device, ids[n], &after));
                pushed = fmax(pushed, fabs((double)after.velocity.x - before[n].velocity.x));
            }
        }
        for (int n = 0; n < 6; n++) assert_ok(lm_world_step(host, FRAME));
    }
    if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE"))
        print_message("worst %g, of pushes of %g\n%s", worst, pushed, log.all);
    assert_int_equal(log.count, 0);
    assert_true(pushed > 0.02); /* bodies do touch */
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* ---- among all else that a world may have ---- */

typedef struct force_case {
    const char *name;
    lm_contact_method method;
    bool walls, stiff, selves;
    float speed; /* m/s, towards the middle */
} force_case;

static const force_case force_cases[] = {
    {"cube maps of lattices", LM_CONTACT_METHOD_CUBE_MAP, false, false, false, 0.3f},
    {"cube maps among colliders", LM_CONTACT_METHOD_CUBE_MAP, true, false, false, 0.3f},
    {"cube maps of stiff bodies among colliders", LM_CONTACT_METHOD_CUBE_MAP, true, true, false, 0.3f},
    {"cube maps of fast bodies", LM_CONTACT_METHOD_CUBE_MAP, false, false, false, 9.0f},
    {"cube maps of bodies that touch themselves", LM_CONTACT_METHOD_CUBE_MAP, true, false, true, 0.3f},
    {"the penalty force", LM_CONTACT_METHOD_PENALTY, true, false, false, 0.3f},
};

#define HEAP 8

static lm_body_id add_soft(lm_world *world, uint32_t n, lm_dvec3 at, const force_case *c)
{
    uint8_t filled[4 * 4 * 4];
    random_state random = {n};
    sample s = sample_make(n % 4 == 1 ? SAMPLE_TETS : SAMPLE_BOX, &random);
    lm_body_def def = s.def;
    if (n % 2 == 0) {
        memset(filled, 1, sizeof filled);
        def = lm_body_def_default();
        def.lattice.cells = filled;
        def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 4;
        def.lattice.spacing = 0.2f;
        def.lattice.width = 1;
        def.mass = 2.0f;
        at = (lm_dvec3){at.x - 0.4, at.y - 0.4, at.z - 0.4};
    }
    def.material = lm_material_default();
    def.material.hertz = 4.0f;
    def.material.damping_ratio = 0.1f;
    if (c->stiff && n % 3 != 2) {
        def.material.stiffness = LM_STIFFNESS_ALPHA;
        def.material.alpha = n % 3 ? 0.93f : 1.0f;
        def.material.damping = n % 3 ? 60.0f : 240.0f;
    }
    def.mask = def.group = 1;
    def.self_contact = c->selves && n == 3;
    def.penalty = 20.0f;
    def.pose.position = at;
    def.velocity =
        (lm_vec3){(float)(n % 2 ? -1.0 : 1.0) * c->speed, 0.1f * (float)(n % 3) - (c->walls ? 0.5f : 0.0f), 0.1f};
    def.spin = (lm_vec3){0.3f, 0.1f, -0.2f};
    lm_body_id id = make_body(world, &def);
    sample_free(&s);
    return id;
}

static void fill_heap(lm_world *world, const force_case *c, lm_body_id ids[HEAP])
{
    assert_ok(lm_world_set_contact_method(world, c->method));
    assert_ok(lm_world_set_gravity(world, (lm_vec3){0.0f, c->walls ? -4.0f : 0.0f, 0.0f}));
    double apart = c->speed > 1.0f ? 1.3 : 0.45;
    for (uint32_t n = 0; n < HEAP; n++)
        ids[n] = add_soft(world, n, (lm_dvec3){apart * (n % 2), 0.55 * (n / 2 % 2), 0.5 * (n / 4)}, c);
    for (uint32_t n = 0; c->walls && n < 2; n++) {
        lm_collider_def def = lm_collider_def_default();
        lm_collider_id id;
        def.shape = n ? LM_SHAPE_SPHERE : LM_SHAPE_PLANE;
        def.radius = 0.4f;
        def.pose.position = (lm_dvec3){n * 0.3, -0.45, n * 0.4};
        assert_ok(lm_collider_create(world, &def, &id));
    }
}

static void check_force(const force_case *c)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    lm_body_id ids[HEAP];
    fill_heap(host, c, ids);
    device->gpu->limits.levels = 10000;
    double worst = 0.0;
    uint32_t contacts = 0, left = 0, whole = 0;
    for (int snapshot = 0; snapshot < 5; snapshot++) {
        copy_world(device, host);
        for (int step = 1; step <= 2; step++) {
            assert_ok(lm_world_step(device, FRAME));
            left += !lmi_gpu_goes_on(device, FRAME / 2);
            assert_ok(lm_world_step(host, FRAME));
            double off = 0.0;
            for (int n = 0; n < HEAP; n++) off = fmax(off, difference(host, device, ids[n]) / step);
            if (getenv("LIMBER_TEST_VERBOSE")) print_message("%s %d.%d: %g\n", c->name, snapshot, step, off);
            worst = fmax(worst, off);
            contacts += device->gpu->presses ? device->gpu->solver->contact_count : 0;
            whole += device->gpu->presses ? device->gpu->solver->most_whole : 0;
        }
        for (int n = 0; n < 4; n++) assert_ok(lm_world_step(host, FRAME));
    }
    if (worst > AGREEMENT || left || getenv("LIMBER_TEST_VERBOSE"))
        print_message("%s: %g, %u contacts, %u whole, %u left\n%s", c->name, worst, contacts, whole, left, log.all);
    assert_int_equal(left, 0);
    assert_int_equal(log.count, 0);
    assert_true(contacts > 1 || c->walls); /* there, those of the last word of walls */
    assert_true(whole > 0 || !(c->stiff || c->speed > 1.0f));
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void forces_among_all_else(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (size_t n = 0; n < sizeof force_cases / sizeof *force_cases; n++) check_force(&force_cases[n]);
}

static void meetings_keep_momentum(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint64_t hash[2];
    for (int run = 0; run < 2; run++) {
        lines log = {0};
        lm_world *world = world_on("gpu", 2, &log);
        lm_body_id ids[BODIES];
        fill(world, 0.7, true, ids);
        lm_dvec3 before = momentum_of(world);
        for (int n = 0; n < 40; n++) assert_ok(lm_world_step(world, FRAME));
        lm_dvec3 after = momentum_of(world);
        assert_near(after.x, before.x, 1e-3);
        assert_near(after.y, before.y, 1e-3);
        assert_near(after.z, before.z, 1e-3);
        hash[run] = lm_world_hash(world);
        assert_true(lmi_gpu_goes_on(world, FRAME / 2));
        lm_world_destroy(world);
    }
    assert_true(hash[0] == hash[1]);
}

static double grid_side(lm_world *world)
{
    double grid[4] = {0.0};
    assert_true(lmi_gpu_read(world->gpu, &world->gpu->meet->cell_grid, 0, grid, sizeof grid));
    return grid[3];
}

static int by_number(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* The grid finds the same pairs as looking at all of them. */
static void grid_finds_partners(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_world *world = world_on("gpu", 1, &log);
    lm_body_id ids[BODIES];
    fill(world, 0.17, false, ids);
    assert_ok(lm_world_step(world, FRAME));
    assert_true(lmi_gpu_goes_on(world, FRAME));
    struct lmi_gpu_meet *m = world->gpu->meet;
    lmi_gpu_meeter *meeters = malloc(BODIES * sizeof *meeters);
    uint32_t *partners = malloc(BODIES * LMI_GPU_PARTNERS * sizeof *partners), pairs = 0;
    assert_int_equal(m->meeter_count, BODIES);
    assert_true(lmi_gpu_read(world->gpu, &m->meeters, 0, meeters, BODIES * sizeof *meeters));
    assert_true(lmi_gpu_read(world->gpu, &m->partner_lists, 0, partners, BODIES * LMI_GPU_PARTNERS * sizeof *partners));
    for (uint32_t a = 0; a < BODIES; a++) {
        uint32_t at = 0;
        qsort(partners + a * LMI_GPU_PARTNERS, meeters[a].partners, sizeof *partners, by_number);
        for (uint32_t b = 0; b < BODIES; b++) {
            bool over = a != b;
            for (int i = 0; i < 3; i++)
                over = over && meeters[a].lower[i] <= meeters[b].upper[i] && meeters[b].lower[i] <= meeters[a].upper[i];
            if (over) {
                assert_true(at < meeters[a].partners);
                assert_int_equal(partners[a * LMI_GPU_PARTNERS + at++], b);
            }
        }
        assert_int_equal(at, meeters[a].partners);
        pairs += at;
    }
    if (getenv("LIMBER_TEST_VERBOSE")) print_message("%u pairs in cells of %g m\n", pairs, grid_side(world));
    assert_true(pairs > BODIES);
    assert_true(grid_side(world) < 0.17 * SIDE / 2.0); /* there are cells to look at */
    free(meeters);
    free(partners);
    lm_world_destroy(world);
}

/* A body that flies into another further than it is thick in a substep is looked for along its way, by the device too. */
static void fast_bodies(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[2];
    for (int k = 0; k < 2; k++) {
        lm_world *world = k ? host : device;
        assert_ok(lm_world_set_contact_method(world, LM_CONTACT_METHOD_CUBE_MAP));
        ids[0] = add_body(world, SAMPLE_BOX, (lm_dvec3){0.0, 0.0, 0.0}, (lm_vec3){0.0f, 0.0f, 0.0f}, 1);
        ids[1] = add_body(world, SAMPLE_BOX, (lm_dvec3){8.0, 0.0, 0.0}, (lm_vec3){-100.0f, 0.0f, 0.0f}, 1);
    }
    uint32_t mine = 0;
    double worst = 0.0;
    for (int n = 0; n < 12; n++) {
        copy_world(device, host);
        assert_ok(lm_world_step(device, FRAME));
        assert_ok(lm_world_step(host, FRAME));
        assert_true(lmi_gpu_goes_on(device, FRAME));
        mine += device->gpu->solver->contact_count > 0;
        for (int k = 0; k < 2; k++) worst = fmax(worst, difference(host, device, ids[k]));
    }
    if (getenv("LIMBER_TEST_VERBOSE")) print_message("%u with contacts, %g\n", mine, worst);
    assert_true(mine > 0);
    assert_at_most(worst, AGREEMENT);
    assert_int_equal(log.count, 0);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bodies_meet), cmocka_unit_test(meetings_keep_momentum),
                                       cmocka_unit_test(forces_among_all_else), cmocka_unit_test(grid_finds_partners),
                                       cmocka_unit_test(fast_bodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
