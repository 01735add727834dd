/*
 * Worlds that an OpenCL device steps: after one step from each of several states they agree with the CPU to 1e-5 of a body's
 * size, they stay finite, two runs are the same to the last bit, and whatever goes wrong with a device leaves the world to
 * the CPU. `make test` installs PoCL, which makes a device of the CPU.
 */
#include "test/gpu/device.h"

#include <limits.h>

#define NEEDS_DEVICE()                                                                                                 \
    if (!has_device()) skip()

/* ---- what is stepped ---- */

typedef enum shape_kind { SHAPE_SOLID, SHAPE_FINGERS, SHAPE_HOLES, SHAPE_PLATE, SHAPE_KINDS } shape_kind;

typedef struct test_case {
    const char *name;
    shape_kind shape;
    uint32_t cells[3], width, substeps;
    lm_mode mode;
    float damping_ratio;
    bool walls;
} test_case;

static const test_case cases[] = {
    {"box, width 1", SHAPE_SOLID, {9, 7, 6}, 1, 1, LM_MODE_RIGID, 0.1f, false},
    {"box, width 2, two substeps", SHAPE_SOLID, {20, 11, 9}, 2, 2, LM_MODE_RIGID, 0.0f, false},
    {"long box of several tiles", SHAPE_SOLID, {70, 10, 40}, 1, 1, LM_MODE_RIGID, 0.3f, false},
    {"fingers", SHAPE_FINGERS, {17, 12, 6}, 2, 1, LM_MODE_RIGID, 0.1f, false},
    {"holes, width 3", SHAPE_HOLES, {14, 9, 8}, 3, 1, LM_MODE_RIGID, 0.1f, false},
    {"plate, width 4, linear", SHAPE_PLATE, {20, 20, 1}, 4, 1, LM_MODE_LINEAR, 0.1f, false},
    {"box, width 8", SHAPE_SOLID, {12, 12, 12}, 8, 1, LM_MODE_RIGID, 0.1f, false},
    {"linear box", SHAPE_SOLID, {12, 8, 8}, 1, 1, LM_MODE_LINEAR, 0.1f, false},
    {"small box, width 2, two substeps", SHAPE_SOLID, {4, 4, 7}, 2, 2, LM_MODE_RIGID, 0.1f, false},
    {"small fingers", SHAPE_FINGERS, {5, 8, 3}, 2, 1, LM_MODE_RIGID, 0.0f, false},
    {"small holes, width 1, linear", SHAPE_HOLES, {6, 5, 4}, 1, 1, LM_MODE_LINEAR, 0.1f, false},
    {"small box among walls", SHAPE_SOLID, {5, 5, 4}, 1, 1, LM_MODE_RIGID, 0.1f, true},
    {"box among walls", SHAPE_SOLID, {9, 7, 6}, 1, 1, LM_MODE_RIGID, 0.1f, true},
};
#define CASES (sizeof cases / sizeof *cases)

static bool is_cell(shape_kind shape, uint32_t i, uint32_t j, uint32_t k, random_state *random)
{
    switch (shape) {
    case SHAPE_FINGERS: return i < 3 || j % 3 != 2;
    case SHAPE_HOLES: return random_below(random, 8) || i == 0;
    default: return i + j + k < UINT32_MAX;
    }
}

static lm_body_id add_shape(lm_world *world, const test_case *c, double x, uint64_t seed)
{
    random_state random = {seed};
    size_t count = (size_t)c->cells[0] * c->cells[1] * c->cells[2];
    uint8_t *cells = malloc(count);
    for (size_t n = 0; n < count; n++) {
        uint32_t i = (uint32_t)(n % c->cells[0]), j = (uint32_t)(n / c->cells[0] % c->cells[1]);
        cells[n] = is_cell(c->shape, i, j, (uint32_t)(n / c->cells[0] / c->cells[1]), &random);
    }
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, c->cells, sizeof c->cells);
    def.lattice.spacing = 0.1f;
    def.lattice.width = c->width;
    def.mass = 3.0f;
    def.material.mode = c->mode;
    def.material.hertz = 4.0f;
    def.material.damping_ratio = c->damping_ratio;
    def.contact_points = LM_CONTACT_PARTICLES;
    def.pose.position.x = x;
    def.pose.position.y = 0.4;
    def.velocity = (lm_vec3){0.3f, -0.5f, 0.2f};
    def.spin = (lm_vec3){1.0f, 2.0f, -0.5f};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    free(cells);
    return id;
}

static void add_walls(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    def.shape = LM_SHAPE_PLANE;
    assert_ok(lm_collider_create(world, &def, &id));
    def.shape = LM_SHAPE_SPHERE;
    def.radius = 0.3f;
    def.pose.position = (lm_dvec3){0.1, 0.0, 0.1};
    assert_ok(lm_collider_create(world, &def, &id));
    def.shape = LM_SHAPE_CAPSULE;
    def.half_length = 0.3f;
    def.pose.position = (lm_dvec3){0.9, 0.1, 0.2};
    assert_ok(lm_collider_create(world, &def, &id));
    def.shape = LM_SHAPE_BOX;
    def.half_extents = (lm_vec3){0.2f, 0.2f, 0.2f};
    def.pose.position = (lm_dvec3){0.5, 0.1, 0.5};
    assert_ok(lm_collider_create(world, &def, &id));
}

/* Two bodies of a case. */
static void fill(lm_world *world, const test_case *c, lm_body_id ids[2])
{
    ids[0] = add_shape(world, c, 0.0, 1);
    ids[1] = add_shape(world, c, 40.0, 2);
    if (c->walls) add_walls(world);
}

/* ---- agreement ---- */

static void check_case(const test_case *c)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, c->substeps, &quiet), *device = world_on("gpu", c->substeps, &log);
    lm_body_id ids[2];
    fill(host, c, ids);
    shake(host, ids[0], 0.02, 5);
    shake(host, ids[1], 0.03, 6);
    double worst = 0.0;
    for (int snapshot = 0; snapshot < 6; snapshot++) {
        copy_world(device, host);
        for (int step = 1; step <= 3; step++) { /* the later ones go on with what the device has */
            assert_ok(lm_world_step(device, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME / c->substeps)); /* it was the device */
            assert_ok(lm_world_step(host, FRAME));
            for (int n = 0; n < 2; n++) worst = fmax(worst, difference(host, device, ids[n]) / step);
        }
        for (int n = 0; n < 7; n++) assert_ok(lm_world_step(host, FRAME));
    }
    if (getenv("LIMBER_TEST_VERBOSE") || worst > AGREEMENT || log.count)
        print_message("%s: %g\n%s", c->name, worst, log.all);
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* ---- clusters ---- */

/* Every kind of sample body in one world, in one mode. */
static void fill_samples(lm_world *world, lm_mode mode, float yield, lm_body_id ids[SAMPLE_KIND_COUNT])
{
    random_state random = {77};
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
        sample s = sample_make((sample_kind)kind, &random);
        s.def.material.mode = mode;
        s.def.material.hertz = 4.0f;
        s.def.material.yield = yield;
        s.def.contact_points = LM_CONTACT_PARTICLES;
        s.def.pose.position.x = 30.0 * kind;
        s.def.velocity = (lm_vec3){0.5f, 1.0f, 0.1f};
        s.def.spin = (lm_vec3){0.5f, 1.0f, 2.0f};
        ids[kind] = make_body(world, &s.def);
        sample_free(&s);
        shake(world, ids[kind], 0.04, (uint64_t)kind);
    }
}

static void check_clusters(lm_mode mode, float yield, bool walls)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[SAMPLE_KIND_COUNT];
    fill_samples(host, mode, yield, ids);
    if (walls) add_walls(host);
    double worst = 0.0;
    for (int snapshot = 0; snapshot < 6; snapshot++) {
        copy_world(device, host);
        for (int k = 0; k < 3 * SAMPLE_KIND_COUNT;
             k++) { /* three steps; the later ones go on with what the device has */
            int n = k % SAMPLE_KIND_COUNT, step = k / SAMPLE_KIND_COUNT + 1;
            if (n == 0) {
                assert_ok(lm_world_step(device, FRAME));
                assert_true(lmi_gpu_goes_on(device, FRAME));
                assert_ok(lm_world_step(host, FRAME));
            }
            double off = difference(host, device, ids[n]) / step;
            if (off > AGREEMENT) print_message("mode %d, %s: %g\n", (int)mode, sample_name((sample_kind)n), off);
            worst = fmax(worst, off);
        }
        for (int n = 0; n < 7; n++) assert_ok(lm_world_step(host, FRAME));
    }
    if (getenv("LIMBER_TEST_VERBOSE") || log.count)
        print_message("mode %d, yield %g: %g\n%s", (int)mode, (double)yield, worst, log.all);
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void clusters_agree_with_the_cpu(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    check_clusters(LM_MODE_RIGID, 0.0f, false);
    check_clusters(LM_MODE_LINEAR, 0.0f, false);
    check_clusters(LM_MODE_QUADRATIC, 0.0f, true);
    check_clusters(LM_MODE_QUADRATIC, 0.05f, false);
    check_clusters(LM_MODE_RIGID, 0.05f, false);
}

/* Lasting deformation, rotations and all come back, and the CPU goes on as if nothing had happened. */
static void clusters_come_back(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    lines log = {0}, quiet = {0};
    lm_world *device = world_on("gpu", 1, &log), *host = world_on(NULL, 1, &quiet);
    lm_body_id ids[SAMPLE_KIND_COUNT];
    fill_samples(device, LM_MODE_QUADRATIC, 0.02f, ids);
    fill_samples(host, LM_MODE_QUADRATIC, 0.02f, ids);
    for (int n = 0; n < 40; n++) {
        assert_ok(lm_world_step(device, FRAME));
        assert_ok(lm_world_step(host, FRAME));
    }
    float there[9 * 8], here[9 * 8];
    lm_body_info info;
    assert_ok(lm_body_get_info(host, ids[SAMPLE_GRID], &info));
    assert_int_equal(info.regions, 8);
    assert_ok(lm_body_get_plastic(device, ids[SAMPLE_GRID], there));
    assert_ok(lm_body_get_plastic(host, ids[SAMPLE_GRID], here));
    double flowed = 0.0;
    for (int n = 0; n < 9 * 8; n++) {
        assert_near(there[n], here[n], 1e-3);
        flowed = fmax(flowed, fabs(here[n] - (n % 9 % 4 == 0 ? 1.0f : 0.0f)));
    }
    assert_true(flowed > 0.005);
    assert_true(lmi_gpu_goes_on(device, FRAME));
    lm_world_destroy(device);
    lm_world_destroy(host);
}

static bool all; /* the argument "long" */

static void agrees_with_the_cpu(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    for (size_t n = 0; n < CASES; n++)
        if (all || cases[n].width <= 2) check_case(&cases[n]); /* wide ones take a compiler long */
}

/* ---- long runs ---- */

static uint64_t run(const test_case *c, uint32_t frames, double *height)
{
    lines log = {0};
    lm_world *world = world_on("gpu", c->substeps, &log);
    lm_body_id ids[2];
    fill(world, c, ids);
    shake(world, ids[0], 0.03, 8);
    for (uint32_t n = 0; n < frames; n++) assert_ok(lm_world_step(world, FRAME));
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, ids[0], &info));
    *height = info.centre.y;
    assert_true(lmi_gpu_goes_on(world, FRAME / c->substeps));
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    return hash;
}

static void runs_are_the_same(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    double height, again;
    static const size_t repeated[] = {0, 1, 8}; /* the last is stepped by one work-group */
    for (size_t k = 0; k < 3; k++) {
        size_t n = repeated[k];
        const uint32_t frames = all ? 300 : 100;
        uint64_t first = run(&cases[n], frames, &height), second = run(&cases[n], frames, &again);
        assert_true(first == second);
        /* Nothing holds them: they fall as a stone does, with its step's error of half a step. */
        double seconds = frames * FRAME, h = FRAME / cases[n].substeps;
        assert_near(height - 0.4 - 0.5 * 0.1 * cases[n].cells[1], -0.5 * seconds - 0.5 * 9.81 * seconds * (seconds + h),
                    0.02);
    }
}

static void keeps_momentum(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    lines log = {0};
    lm_world *world = world_on("gpu", 1, &log);
    assert_ok(lm_world_set_gravity(world, (lm_vec3){0.0f, 0.0f, 0.0f}));
    lm_body_id id = add_shape(world, &cases[3], 0.0, 1);
    lm_body_info before, after;
    shake(world, id, 0.03, 3);
    assert_ok(lm_body_get_info(world, id, &before));
    for (int n = 0; n < 240; n++) assert_ok(lm_world_step(world, FRAME));
    assert_ok(lm_body_get_info(world, id, &after));
    double size = sqrt(before.angular_momentum.x * before.angular_momentum.x +
                       before.angular_momentum.y * before.angular_momentum.y +
                       before.angular_momentum.z * before.angular_momentum.z);
    if (getenv("LIMBER_TEST_VERBOSE"))
        print_message("drift: %g %g %g, spin %g of itself\n", (double)(after.velocity.x - before.velocity.x),
                      (double)(after.velocity.y - before.velocity.y), (double)(after.velocity.z - before.velocity.z),
                      fabs((double)after.angular_momentum.y - before.angular_momentum.y) / size);
    assert_near(after.velocity.x, before.velocity.x, 1e-6);
    assert_near(after.velocity.y, before.velocity.y, 1e-6);
    assert_near(after.angular_momentum.x, before.angular_momentum.x, 3e-6 * size);
    assert_near(after.angular_momentum.y, before.angular_momentum.y, 3e-6 * size);
    assert_near(after.angular_momentum.z, before.angular_momentum.z, 3e-6 * size);
    assert_true(lmi_gpu_goes_on(world, FRAME));
    lm_world_destroy(world);
}

/* Walls count what they give: momentum is that, gravity's, and nothing else. */
static void counts_impulses(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    lines log = {0};
    lm_world *world = world_on("gpu", 1, &log);
    lm_body_id ids[2];
    fill(world, &cases[CASES - 1], ids);
    lm_totals before, after;
    lm_stats first, last;
    lm_world_get_totals(world, &before);
    lm_world_get_stats(world, &first);
    bool touched = false;
    for (int n = 0; n < 60; n++) {
        assert_ok(lm_world_step(world, FRAME));
        lm_world_get_stats(world, &last);
        touched = touched || last.contacts > 0;
    }
    lm_world_get_totals(world, &after);
    assert_true(touched);
    assert_near(after.momentum.y - before.momentum.y, last.outside_impulse.y - first.outside_impulse.y, 1e-3 * 120.0);
    assert_near(after.momentum.x - before.momentum.x, last.outside_impulse.x - first.outside_impulse.x, 1e-3 * 120.0);
    lm_world_destroy(world);
}

/* ---- trouble ---- */

static void check_falls_back(lm_world *world, const lines *log, const char *words, uint32_t count)
{
    assert_non_null(strstr(log->all, words));
    assert_int_equal(log->count, count);
    lines quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet);
    lm_body_id ids[2];
    fill(world, &cases[0], ids);
    fill(host, &cases[0], ids);
    for (int n = 0; n < 3; n++) {
        assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_world_step(host, FRAME));
    }
    assert_true(lm_world_hash(world) == lm_world_hash(host)); /* the CPU stepped both */
    lm_world_destroy(world);
    lm_world_destroy(host);
}

static void no_such_device(void **state)
{
    (void)state;
    lines log = {0};
    lm_world *world = world_on("a device of that name", 1, &log);
    assert_string_equal(lm_world_get_device(world), "cpu");
    check_falls_back(world, &log, "the CPU steps this world", 1);
}

static void broken_kernels(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    lines log = {0};
    lm_world *world = world_on(NULL, 1, &log);
    const lmi_gpu_limits limits = {.options = "-DGROUP_OF=) -Dbarrier=="};
    lmi_gpu_open(world, "gpu", &limits);
    assert_null(world->gpu);
    assert_non_null(strstr(log.all, "error")); /* the compiler's own words */
    assert_non_null(strstr(log.last, "could not be built; the CPU steps this world"));
    check_falls_back(world, &log, "could not be built", log.count);
}

static void out_of_device_memory(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    lines quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet);
    lm_body_id ids[2];
    fill(host, &cases[0], ids);
    assert_ok(lm_world_step(host, FRAME));
    for (size_t memory = 1024; memory < 400000; memory = memory * 3 / 2) {
        lines log = {0};
        lm_world *world = world_on(NULL, 1, &log);
        const lmi_gpu_limits limits = {.memory = memory};
        lmi_gpu_open(world, "gpu", &limits);
        fill(world, &cases[0], ids);
        assert_ok(lm_world_step(world, FRAME));
        if (!lmi_gpu_goes_on(world, FRAME)) {
            assert_non_null(strstr(log.last, "out of device memory; the CPU steps this world"));
            assert_int_equal(log.count, 1);
            assert_true(lm_world_hash(world) == lm_world_hash(host));
        }
        lm_world_destroy(world);
    }
    lm_world_destroy(host);
}

/* ---- memory of the host ---- */

/* Whichever allocation of the first step fails: the step fails and changes nothing, or the CPU takes over. */
static void failing_allocations(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    uint32_t failed = 0, stepped = 0;
    for (long fail = 0; stepped < 3 && fail < 400; fail += all && fail < 100 ? 1 : fail < 40 ? 2 : 7) {
        lines log = {0};
        meter memory = {LONG_MAX};
        lm_world_def def = lm_world_def_default();
        def.device = "gpu";
        def.workers = 1;
        def.allocator = (lm_allocator){take_memory, give_memory, &memory};
        def.log = (lm_log){take_line, &log};
        lm_world *world;
        lm_body_id ids[2];
        assert_ok(lm_world_create(&def, &world));
        fill(world, &cases[3], ids);
        uint64_t before = lm_world_hash(world);
        memory.left = fail;
        lm_result result = lm_world_step(world, FRAME);
        memory.left = LONG_MAX;
        failed += result != LM_OK || log.count > 0;
        stepped += result == LM_OK && lmi_gpu_goes_on(world, FRAME);
        if (result != LM_OK) assert_true(lm_world_hash(world) == before);
        assert_ok(lm_world_step(world, FRAME));
        lm_totals totals;
        lm_world_get_totals(world, &totals);
        assert_true(totals.finite);
        lm_world_destroy(world);
    }
    assert_true(failed > 20);
    assert_int_equal(stepped, 3);
}

/* Bodies torn to many times their size are the host's; when they have come back the device goes on. */
static void torn_bodies(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    lines log = {0};
    lm_world *world = world_on("gpu", 2, &log);
    lm_body_id ids[2];
    fill(world, &cases[0], ids);
    shake(world, ids[0], 20.0, 4);
    assert_ok(lm_world_step(world, FRAME));
    assert_false(lmi_gpu_goes_on(world, FRAME / 2));
    for (int n = 0; n < 200; n++) assert_ok(lm_world_step(world, FRAME));
    assert_true(lmi_gpu_goes_on(world, FRAME / 2));
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
    lm_world_destroy(world);
}

/* What it cannot step yet it says, once, and the CPU does. */
static void unsupported_worlds(void **state)
{
    (void)state;
    NEEDS_DEVICE();
    lines log = {0};
    lm_world *world = world_on("gpu", 1, &log);
    lm_body_id ids[2];
    fill(world, &cases[0], ids);
    const lm_vec3 point = {0.0f, 0.0f, 0.0f};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = &point;
    def.point_count = 1;
    def.pose.position.x = -40.0;
    lm_body_id single = make_body(world, &def);
    for (int n = 0; n < 3; n++) assert_ok(lm_world_step(world, FRAME));
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.last, "it cannot step single particles"));
    assert_ok(lm_body_destroy(world, single));
    assert_ok(lm_world_step(world, FRAME));
    assert_true(lmi_gpu_goes_on(world, FRAME));
    lm_world_destroy(world);
}

int main(int argc, char **argv)
{
    all = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_agree_with_the_cpu),
        cmocka_unit_test(clusters_come_back),
        cmocka_unit_test(agrees_with_the_cpu),
        cmocka_unit_test(runs_are_the_same),
        cmocka_unit_test(keeps_momentum),
        cmocka_unit_test(counts_impulses),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(no_such_device),
        cmocka_unit_test(broken_kernels),
        cmocka_unit_test(out_of_device_memory),
        cmocka_unit_test(torn_bodies),
        cmocka_unit_test(unsupported_worlds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
