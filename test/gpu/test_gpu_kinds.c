/*
 * Lattices that flow, are damped region by region, have examples or are in several parts, on an OpenCL device: they agree with
 * the CPU after a step from many states, two runs are the same to the last bit, and their state comes back.
 */
#include "test/gpu/device.h"

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
    {"rigid", SHAPE_SOLID, {20, 9, 6}, 1, LM_MODE_RIGID, WHOLE, 0.0f, NO_EXAMPLES},
    {"linear", SHAPE_SOLID, {18, 7, 6}, 1, LM_MODE_LINEAR, WHOLE, 0.0f, NO_EXAMPLES},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_agree),
        cmocka_unit_test(runs_are_the_same),
        cmocka_unit_test(pieces_fly_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
