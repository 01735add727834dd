/*
 * Clusters with examples on an OpenCL device: one mix for the body, for groups of regions and for each region, of rigid, linear,
 * quadratic and plastic regions, found and forced. They agree with the CPU, and the weights come back.
 */
#include "test/gpu/device.h"

typedef struct example_case {
    const char *name;
    sample_kind kind;
    lm_mode mode;
    lm_example_scope scope;
    float yield;
    uint32_t poses;
    bool forced;
} example_case;

static const example_case cases[] = {
    {"a body, rigid", SAMPLE_GRID, LM_MODE_RIGID, LM_EXAMPLES_BODY, 0.0f, 2, false},
    {"a body, quadratic, five poses", SAMPLE_ROD, LM_MODE_QUADRATIC, LM_EXAMPLES_BODY, 0.0f, 5, false},
    {"groups, linear", SAMPLE_ROD, LM_MODE_LINEAR, LM_EXAMPLES_GROUPS, 0.0f, 3, false},
    {"regions, flat", SAMPLE_STRIP, LM_MODE_RIGID, LM_EXAMPLES_REGIONS, 0.0f, 3, false},
    {"a body, plastic", SAMPLE_TETS, LM_MODE_RIGID, LM_EXAMPLES_BODY, 0.03f, 2, false},
    {"divided regions", SAMPLE_LARGE, LM_MODE_RIGID, LM_EXAMPLES_BODY, 0.0f, 2, false},
    {"divided regions, quadratic, plastic, each its own", SAMPLE_LARGE, LM_MODE_QUADRATIC, LM_EXAMPLES_REGIONS, 0.03f,
     3, false},
    {"forced", SAMPLE_GRID, LM_MODE_RIGID, LM_EXAMPLES_GROUPS, 0.0f, 2, true},
};
#define CASES (sizeof cases / sizeof *cases)

static lm_body_id add_body(lm_world *world, const example_case *c, double x)
{
    random_state random = {77};
    sample s = sample_make(c->kind, &random);
    s.def.material.mode = c->mode;
    s.def.material.hertz = 4.0f;
    s.def.material.yield = c->yield;
    s.def.contact_points = LM_CONTACT_PARTICLES;
    s.def.pose.position.x = x;
    s.def.spin = (lm_vec3){0.5f, 1.0f, 2.0f};
    lm_body_id id = make_body(world, &s.def);
    sample_free(&s);
    give_examples(world, id, c->poses, c->scope, c->forced);
    shake(world, id, 0.04, (uint64_t)x);
    return id;
}

static double weights_differ(lm_world *a, lm_world *b, lm_body_id id, double *most)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(a, id, &info));
    uint32_t count = info.examples * info.example_groups;
    float *u = malloc(2 * count * sizeof *u), *w = u + count;
    assert_ok(lm_body_get_example_weights(a, id, u));
    assert_ok(lm_body_get_example_weights(b, id, w));
    double worst = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        worst = fmax(worst, fabs((double)u[n] - w[n]));
        *most = fmax(*most, u[n]);
    }
    free(u);
    return worst;
}

/* All cases in one world, and two bodies that have none, one of them with divided regions too. */
static void examples_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[CASES + 2];
    for (size_t n = 0; n < CASES; n++) ids[n] = add_body(host, &cases[n], 20.0 * (double)n);
    ids[CASES] = add_clusters(host, SAMPLE_GRID, 200.0, 0.0);
    ids[CASES + 1] = add_clusters(host, SAMPLE_LARGE, 220.0, 0.0);
    double worst[CASES + 2] = {0.0}, weights = 0.0, most = 0.0;
    for (int snapshot = 0; snapshot < 5; snapshot++) {
        copy_world(device, host);
        for (int step = 1; step <= 3; step++) {
            assert_ok(lm_world_step(device, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME));
            assert_ok(lm_world_step(host, FRAME));
            for (size_t n = 0; n < CASES + 2; n++) worst[n] = fmax(worst[n], difference(host, device, ids[n]) / step);
            for (size_t n = 0; n < CASES; n++) weights = fmax(weights, weights_differ(host, device, ids[n], &most));
        }
        for (int n = 0; n < 5; n++) assert_ok(lm_world_step(host, FRAME));
    }
    for (size_t n = 0; n < CASES + 2; n++)
        if (worst[n] > AGREEMENT || getenv("LIMBER_TEST_VERBOSE"))
            print_message("%s: %g\n", n < CASES ? cases[n].name : "none", worst[n]);
    if (getenv("LIMBER_TEST_VERBOSE")) print_message("weights: %g of %g\n%s", weights, most, log.all);
    assert_int_equal(log.count, 0);
    assert_at_most(weights, 1e-3);
    assert_true(most > 0.1); /* examples do count */
    for (size_t n = 0; n < CASES + 2; n++) assert_at_most(worst[n], AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
