/*
 * Lattices that flow, are damped region by region, have examples or are in several parts, on an OpenCL device: they agree with
 * the CPU after a step from many states, two runs are the same to the last bit, and their state comes back.
 */
#include "test/gpu/device.h"
#include "test/support/boxes.h"

#include <limits.h>

typedef enum shape_kind { SHAPE_SOLID, SHAPE_FINGERS, SHAPE_HOLES, SHAPE_PIECES } shape_kind;

typedef struct kind_case {
    const char *name;
    shape_kind shape;
    uint32_t cells[3], width;
    lm_mode mode;
    lm_damping damping;
    uint32_t damping_every;
    float damping_ratio, yield;
    uint32_t poses;
    lm_example_scope scope;
    bool forced;
} kind_case;

#define WHOLE LM_DAMPING_GLOBAL, 1, 0.1f
#define REGIONAL LM_DAMPING_REGIONAL, 1, 0.2f
#define NO_EXAMPLES 0, LM_EXAMPLES_BODY, false

/* The first two are of no kind of their own: they are beside the others in one world. */
static const kind_case cases[] = {
    {"linear", SHAPE_SOLID, {18, 7, 6}, 1, LM_MODE_LINEAR, WHOLE, 0.0f, NO_EXAMPLES},
    {"rigid", SHAPE_SOLID, {20, 9, 6}, 1, LM_MODE_RIGID, WHOLE, 0.0f, NO_EXAMPLES},
    {"plastic", SHAPE_SOLID, {9, 7, 6}, 1, LM_MODE_RIGID, WHOLE, 0.02f, NO_EXAMPLES},
    {"plastic fingers, linear", SHAPE_FINGERS, {17, 8, 4}, 2, LM_MODE_LINEAR, WHOLE, 0.02f, NO_EXAMPLES},
    {"damped region by region", SHAPE_SOLID, {9, 7, 6}, 2, LM_MODE_RIGID, REGIONAL, 0.0f, NO_EXAMPLES},
    {"damped fingers", SHAPE_FINGERS, {17, 12, 4}, 2, LM_MODE_RIGID, REGIONAL, 0.0f, NO_EXAMPLES},
    {"damped holes, every other substep, linear, plastic",
     SHAPE_HOLES,
     {14, 7, 6},
     1,
     LM_MODE_LINEAR,
     LM_DAMPING_REGIONAL,
     2,
     0.3f,
     0.03f,
     NO_EXAMPLES},
    {"pieces", SHAPE_PIECES, {23, 9, 5}, 1, LM_MODE_RIGID, WHOLE, 0.0f, NO_EXAMPLES},
    {"pieces, plastic, damped region by region",
     SHAPE_PIECES,
     {23, 9, 5},
     2,
     LM_MODE_RIGID,
     REGIONAL,
     0.02f,
     NO_EXAMPLES},
    {"examples", SHAPE_SOLID, {9, 7, 6}, 1, LM_MODE_RIGID, WHOLE, 0.0f, 2, LM_EXAMPLES_BODY, false},
    {"examples of groups, linear",
     SHAPE_FINGERS,
     {14, 6, 4},
     1,
     LM_MODE_LINEAR,
     WHOLE,
     0.0f,
     3,
     LM_EXAMPLES_GROUPS,
     false},
    {"examples of regions, plastic",
     SHAPE_SOLID,
     {8, 5, 4},
     2,
     LM_MODE_RIGID,
     WHOLE,
     0.03f,
     3,
     LM_EXAMPLES_REGIONS,
     false},
    {"examples, forced, damped region by region",
     SHAPE_HOLES,
     {9, 6, 5},
     1,
     LM_MODE_RIGID,
     REGIONAL,
     0.0f,
     2,
     LM_EXAMPLES_BODY,
     true},
};
#define CASES (sizeof cases / sizeof *cases)

static bool is_cell(shape_kind shape, uint32_t i, uint32_t j, random_state *random)
{
    switch (shape) {
    case SHAPE_FINGERS: return i < 3 || j % 3 != 2;
    case SHAPE_HOLES: return random_below(random, 8) || i == 0;
    case SHAPE_PIECES: return i % 8 != 7 && (i > 8 || j % 4 != 3); /* side by side, and above each other in one block */
    default: return true;
    }
}

static lm_body_id add_body(lm_world *world, const kind_case *c, double x)
{
    random_state random = {3};
    size_t count = (size_t)c->cells[0] * c->cells[1] * c->cells[2];
    uint8_t *cells = malloc(count);
    for (size_t n = 0; n < count; n++)
        cells[n] = is_cell(c->shape, (uint32_t)(n % c->cells[0]), (uint32_t)(n / c->cells[0] % c->cells[1]), &random);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, c->cells, sizeof c->cells);
    def.lattice.spacing = 0.1f;
    def.lattice.width = c->width;
    def.mass = 3.0f;
    def.material.mode = c->mode;
    def.material.hertz = 4.0f;
    def.material.damping_kind = c->damping;
    def.material.damping_every = c->damping_every;
    def.material.damping_ratio = c->damping_ratio;
    def.material.yield = c->yield;
    def.contact_points = LM_CONTACT_PARTICLES;
    def.pose.position = (lm_dvec3){x, 0.4, 0.0};
    def.velocity = (lm_vec3){0.3f, -0.5f, 0.2f};
    def.spin = (lm_vec3){1.0f, 2.0f, -0.5f};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    free(cells);
    if (c->poses) give_examples(world, id, c->poses, c->scope, c->forced);
    shake(world, id, 0.025, (uint64_t)x + 1);
    return id;
}

static void fill(lm_world *world, lm_body_id ids[CASES])
{
    for (size_t n = 0; n < CASES; n++) ids[n] = add_body(world, &cases[n], 40.0 * (double)n);
}

/* How far lasting deformation, and the weights of examples, are apart; and how large they are. */
static double state_differs(lm_world *a, lm_world *b, lm_body_id id, double *most)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(a, id, &info));
    uint32_t plastic = 9 * info.regions, weights = info.examples * info.example_groups;
    float *u = calloc(2 * (plastic + weights), sizeof *u), *w = u + plastic + weights;
    assert_ok(lm_body_get_plastic(a, id, u));
    assert_ok(lm_body_get_plastic(b, id, w));
    if (weights) {
        assert_ok(lm_body_get_example_weights(a, id, u + plastic));
        assert_ok(lm_body_get_example_weights(b, id, w + plastic));
    }
    double worst = 0.0;
    for (uint32_t n = 0; n < plastic + weights; n++) {
        double rest = n < plastic && n % 9 % 4 == 0 ? 1.0 : 0.0;
        worst = fmax(worst, fabs((double)u[n] - w[n]));
        *most = fmax(*most, fabs(u[n] - rest));
    }
    free(u);
    return worst;
}

/* All cases in one world; the later steps go on with what the device has. */
static void kinds_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[CASES];
    fill(host, ids);
    double worst[CASES] = {0.0}, of_state[CASES] = {0.0}, most[CASES] = {0.0};
    for (int snapshot = 0; snapshot < 4; snapshot++) {
        copy_world(device, host);
        for (int step = 1; step <= 3; step++) {
            assert_ok(lm_world_step(device, FRAME));
            if (log.count) print_message("%s", log.all);
            assert_true(lmi_gpu_goes_on(device, FRAME));
            assert_ok(lm_world_step(host, FRAME));
            for (size_t n = 0; n < CASES; n++) {
                worst[n] = fmax(worst[n], difference(host, device, ids[n]) / step);
                of_state[n] = fmax(of_state[n], state_differs(host, device, ids[n], &most[n]));
            }
        }
        for (int n = 0; n < 5; n++) assert_ok(lm_world_step(host, FRAME));
    }
    for (size_t n = 0; n < CASES; n++)
        if (worst[n] > AGREEMENT || of_state[n] > 1e-3 || log.count || getenv("LIMBER_TEST_VERBOSE"))
            print_message("%s: %g; state %g of %g\n", cases[n].name, worst[n], of_state[n], most[n]);
    if (log.count) print_message("%s", log.all);
    assert_int_equal(log.count, 0);
    for (size_t n = 0; n < CASES; n++) {
        assert_at_most(worst[n], AGREEMENT);
        assert_at_most(of_state[n], 1e-3);
        assert_true(most[n] > 0.01 || !(cases[n].yield > 0.0f || cases[n].poses)); /* it does flow, or mix */
    }
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* Two runs, with and without looking at the state on the way. */
static void runs_are_the_same(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint64_t hashes[2];
    for (int run = 0; run < 2; run++) {
        lines log = {0};
        lm_world *world = world_on("gpu", 2, &log);
        lm_body_id ids[CASES];
        fill(world, ids);
        for (int n = 0; n < 6; n++) {
            assert_ok(lm_world_step(world, FRAME));
            assert_true(lmi_gpu_goes_on(world, FRAME / 2));
            if (run) lm_world_hash(world);
        }
        hashes[run] = lm_world_hash(world);
        assert_int_equal(log.count, 0);
        lm_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
}

/* Pieces that have flown apart by many times the body's size are not overstretched: each is stepped as it is. */
static void pieces_fly_apart(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id id = add_body(host, &cases[7], 0.0);
    lm_body_info info;
    assert_ok(lm_body_get_info(host, id, &info));
    assert_true(info.pieces > 3);
    lm_vec3 *x = malloc(2 * info.particles * sizeof *x), *v = x + info.particles;
    assert_ok(lm_body_get_positions(host, id, info.centre, x));
    for (uint32_t n = 0; n < info.particles; n++)
        v[n] = (lm_vec3){x[n].x < -0.2f ? -3.0f : x[n].x < 0.5f ? 0.0f : 4.0f, 0.0f, x[n].y};
    assert_ok(lm_body_set_state(host, id, info.centre, x, v));
    free(x);
    double worst = 0.0;
    for (int snapshot = 0; snapshot < 5; snapshot++) {
        copy_world(device, host);
        for (int n = 0; n < 40; n++) {
            assert_ok(lm_world_step(host, FRAME));
            if (n == 0) {
                assert_ok(lm_world_step(device, FRAME));
                assert_true(lmi_gpu_goes_on(device, FRAME));
                worst = fmax(worst, difference(host, device, id));
            }
        }
    }
    if (worst > AGREEMENT || getenv("LIMBER_TEST_VERBOSE")) print_message("flying apart: %g\n", worst);
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* ---- nothing but state goes over ---- */

/* A body was put elsewhere, or got a push, or a wind begins: nothing is laid out anew, and the device goes on from there. */
static void state_alone_goes_over(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *worlds[2] = {world_on(NULL, 1, &quiet), world_on("gpu", 1, &log)};
    lm_body_id ids[CASES + 2];
    fill(worlds[0], ids);
    boxes b = {0};
    boxes_add(&b, (lm_vec3){0.0f, 0.0f, 0.0f}, (lm_vec3){0.7f, 0.45f, 0.35f});
    lm_body_def octree = boxes_octree(&b, 0.1f, 2, 0.15f);
    octree.material.yield = 0.02f;
    octree.pose.position.x = -30.0;
    ids[CASES] = add_clusters(worlds[0], SAMPLE_LARGE, -50.0, 0.4);
    assert_ok(lm_body_create(worlds[0], &octree, &ids[CASES + 1]));
    copy_world(worlds[1], worlds[0]);
    double worst = 0.0;
    uint64_t layouts = 0;
    for (int n = 0; n < 5; n++) {
        for (int w = 0; w < 2; w++) {
            lm_field_id field;
            lm_field_def wind = lm_field_def_default();
            wind.kind = LM_FIELD_WIND;
            wind.vector = (lm_vec3){1.0f, 0.0f, 2.0f};
            wind.strength = 0.5f;
            for (size_t k = 0; n == 1 && k < CASES + 2; k++) shake(worlds[w], ids[k], 0.02, k);
            lm_body_info info;
            assert_ok(lm_body_get_info(worlds[w], ids[7], &info));
            if (n == 2) assert_ok(lm_body_add_impulse(worlds[w], ids[7], (lm_vec3){0.5f, 1.0f, 0.0f}, info.centre));
            if (n == 3) assert_ok(lm_field_create(worlds[w], &wind, &field));
            assert_ok(lm_world_step(worlds[w], FRAME));
        }
        assert_true(lmi_gpu_goes_on(worlds[1], FRAME));
        layouts = n == 0 ? worlds[1]->gpu->layouts : layouts;
        for (size_t k = 0; k < CASES + 2; k++) worst = fmax(worst, difference(worlds[0], worlds[1], ids[k]) / (n + 1));
    }
    if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE")) print_message("state: %g\n%s", worst, log.all);
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    assert_true(layouts > 0 && worlds[1]->gpu->layouts == layouts);
    lm_world_destroy(worlds[0]);
    lm_world_destroy(worlds[1]);
}

/* ---- failures ---- */

/* One that flows, one in pieces, one with examples. */
static const size_t few[] = {3, 8, 10};
#define FEW (sizeof few / sizeof *few)

static void fill_few(lm_world *world, lm_body_id ids[FEW])
{
    for (size_t n = 0; n < FEW; n++) ids[n] = add_body(world, &cases[few[n]], 40.0 * (double)n);
}

/* Whichever operation is the first to fail: one line, and the CPU goes on from a state that both have seen. */
static void lost_devices(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint32_t lost = 0;
    for (uint32_t operations = 20; operations < 200; operations += 23) {
        lines log = {0}, quiet = {0};
        lm_world *world = world_on(NULL, 1, &log), *host = world_on(NULL, 1, &quiet);
        const lmi_gpu_limits limits = {.operations = operations};
        lmi_gpu_open(world, "gpu", &limits);
        lm_body_id ids[FEW];
        fill_few(world, ids);
        fill_few(host, ids);
        for (int n = 0; n < 4; n++) {
            assert_ok(lm_world_step(world, FRAME));
            lm_world_hash(world);
        }
        lost += world->gpu->lost;
        assert_int_equal(log.count, world->gpu->lost ? 1 : 0);
        double nearest = 1.0;
        for (int n = 0; n < 4; n++) {
            double worst = 0.0;
            assert_ok(lm_world_step(host, FRAME));
            for (size_t k = 0; k < FEW; k++) worst = fmax(worst, difference(host, world, ids[k]));
            nearest = fmin(nearest, worst);
        }
        assert_at_most(nearest, 4.0 * AGREEMENT);
        lm_world_destroy(world);
        lm_world_destroy(host);
    }
    assert_true(lost > 4);
}

/* Whichever allocation of the first step fails: the step fails and changes nothing, or the CPU takes over. */
static void failing_allocations(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint32_t failed = 0, stepped = 0;
    for (long fail = 0; stepped < 2 && fail < 600; fail += 13) {
        lines log = {0};
        meter memory = {LONG_MAX};
        lm_world_def def = lm_world_def_default();
        def.device = "gpu";
        def.workers = 1;
        def.allocator = (lm_allocator){take_memory, give_memory, &memory};
        def.log = (lm_log){take_line, &log};
        lm_world *world;
        lm_body_id ids[FEW];
        assert_ok(lm_world_create(&def, &world));
        fill_few(world, ids);
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
    assert_true(failed > 5);
    assert_int_equal(stepped, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_agree),      cmocka_unit_test(runs_are_the_same),
        cmocka_unit_test(pieces_fly_apart), cmocka_unit_test(state_alone_goes_over),
        cmocka_unit_test(lost_devices),     cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
