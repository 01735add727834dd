/*
 * Materials in physical units: hanging bars have the Young's modulus and Poisson's ratio that were asked for, on every sampling,
 * at every width, substep and damping; and nonsense is refused.
 *
 *   test_elastic          a few of them
 *   test_elastic long     all
 *   test_elastic cantilever KIND THICK WIDTH POISSON [REFINED]   one beam: 0 lattice, 1 octree, 2 tetrahedra
 *   test_elastic bar KIND WIDTH POISSON SUBSTEPS RATIO           one bar that hangs
 */
#include "test/support/hanging.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_long = false;
static char log_line[256];
static int log_lines;

static void take_line(lm_result result, const char *line, void *user)
{
    (void)result, (void)user;
    snprintf(log_line, sizeof log_line, "%s", line);
    log_lines++;
}

/* A bar 6 cells thick of density 1000 with sqrt(E/rho) = 1 m/s. */
static hanging_bar bar_of(bar_kind kind, uint32_t width, double poisson, uint32_t substeps)
{
    hanging_bar b = {.kind = kind, .spacing = 0.02, .cells = {6, 24, 6}, .width = width, .substeps = substeps};
    b.material = lm_material_default();
    b.material.young = 1000.0f;
    b.material.poisson = (float)poisson;
    b.speed = 1.0;
    b.density = 1000.0;
    return b;
}

/* The same with what the substeps reach at any Poisson's ratio. */
static hanging_bar reachable_bar(bar_kind kind, uint32_t width, double poisson, uint32_t substeps)
{
    hanging_bar b = bar_of(kind, width, poisson, substeps);
    b.speed = fmin(0.15 * substeps, 1.0);
    b.material.young = (float)(1000.0 * b.speed * b.speed);
    return b;
}

static void check(const hanging_bar *b, const char *what)
{
    hanging_result r = hanging_measure(b);
    r.modulus /= b->speed * b->speed;
    print_message("%s, width %u, %u substeps, ratio %.1f: E %.3f, nu %.3f (asked %.2f)%s\n", what, b->width,
                  b->substeps, (double)b->material.damping_ratio, r.modulus, r.poisson, (double)b->material.poisson,
                  r.info.stiffness_limited ? " limited" : "");
    if (!getenv("LIMBER_TEST_VERBOSE")) assert_false(r.info.stiffness_limited);
    assert_near(r.info.density, 1000.0, 1.0);
    assert_near(r.modulus, 1.0, 0.05);
    assert_near(r.poisson, b->material.poisson, 0.03);
}

static void bars_have_the_modulus_asked_for(void **context)
{
    (void)context;
    static const double ratios[] = {0.0, 0.1, 1.0}, poissons[] = {0.0, 0.2, 0.3, 0.45};
    for (int kind = BAR_LATTICE; kind <= BAR_TETS; kind++)
        for (int p = 0; p < 4; p++)
            for (uint32_t width = 1; width <= (kind == BAR_TETS ? 1 : 4); width++)
                for (uint32_t substeps = 1; substeps <= 16; substeps *= 4)
                    for (int z = 0; z < 3; z++) {
                        if (!is_long && (substeps != 4 || z != 1 || width == 3 || p == 1)) continue;
                        hanging_bar b = reachable_bar((bar_kind)kind, width, poissons[p], substeps);
                        b.material.damping_ratio = (float)ratios[z];
                        check(&b, kind == BAR_LATTICE ? "lattice" : kind == BAR_OCTREE ? "octree" : "tets");
                    }
}

/* Cells of two sizes, the lower half of the finest, have one modulus; it stays when cells are divided, when they are joined again,
 * and when the bar is cut along. */
static void cells_of_two_sizes_are_one_material(void **context)
{
    (void)context;
    for (int p = 0; p < 2; p++) {
        hanging_bar b = bar_of(BAR_OCTREE, 4, p ? 0.3 : 0.0, 4);
        b.spacing = 0.01, b.cells[0] = b.cells[2] = 12, b.cells[1] = 48, b.levels = 1;
        double even = hanging_measure(&b).modulus;
        b.refined = 0.5;
        hanging_result two = hanging_measure(&b);
        lm_body_id body;
        lm_world *world = hanging_make(&b, &body);
        assert_ok(lm_body_refine(world, body, (lm_dvec3){0.06, 0.3, 0.06}, 0.1f, 0.01f, NULL));
        hanging_result divided = hanging_settle(&b, world, body);
        lm_world_destroy(world);
        print_message("poisson %.1f: E even %.3f, of two sizes %.3f (%u cells), divided %.3f (%u cells)\n",
                      p ? 0.3 : 0.0, even, two.modulus, two.info.particles, divided.modulus, divided.info.particles);
        assert_true(divided.info.particles > two.info.particles);
        assert_near(even, 1.0, 0.05);
        assert_near(two.modulus, 1.0, 0.1);
        assert_near(divided.modulus, 1.0, 0.1);
    }
}

static double cantilever(bar_kind kind, uint32_t thick, uint32_t width, double poisson, double refined)
{
    hanging_bar b = bar_of(kind, width, poisson, 4);
    b.spacing = 0.12 / thick, b.cells[0] = b.cells[2] = thick, b.cells[1] = 6 * thick;
    b.levels = thick == 12 && kind == BAR_OCTREE ? 1 : 0, b.refined = refined;
    lm_body_info info;
    double sinks = cantilever_measure(&b, &info);
    print_message(
        "cantilever, kind %d, %u cells thick, width %u, poisson %.2f, %u particles: sinks by %.3f of a beam's%s\n",
        kind, thick, width, poisson, info.particles, sinks, info.stiffness_limited ? " limited" : "");
    if (!getenv("LIMBER_TEST_VERBOSE")) assert_false(info.stiffness_limited);
    return sinks;
}

/* How far beams of 4 to 12 cells are from each other. */
static void check_thicknesses(bar_kind kind, double limit)
{
    double least = INFINITY, most = 0.0;
    for (uint32_t thick = 4; thick <= (is_long ? 12 : 8); thick += is_long ? 2 : 4) {
        double sinks = cantilever(kind, thick, 1, 0.3, 0.0);
        least = fmin(least, sinks), most = fmax(most, sinks);
    }
    assert_at_most(most / least, limit);
}

/* Beams six times as long as they are thick sink as Timoshenko's beams do, whatever the sampling, Poisson's ratio and the number of
 * cells, where regions are not wider than a third of the thickness (at width 3 it is 1.06, without a Poisson's ratio 1.2). */
static void cantilevers_bend_as_beams(void **context)
{
    (void)context;
    static const double poissons[] = {0.3, 0.0, 0.4};
    for (int kind = BAR_LATTICE; kind <= BAR_TETS; kind++)
        for (uint32_t width = 1; width <= (kind == BAR_TETS ? 1 : 2); width++)
            for (int p = 0; p < (is_long ? 3 : 1); p++)
                assert_near(cantilever((bar_kind)kind, 6, width, poissons[p], 0.0), 1.0, 0.1);
    check_thicknesses(BAR_LATTICE, 1.12);
    check_thicknesses(BAR_TETS, 1.12);
    if (is_long) { /* cells of two sizes */
        check_thicknesses(BAR_OCTREE, 1.12);
        double even = cantilever(BAR_OCTREE, 12, 4, 0.3, 0.0);
        assert_near(cantilever(BAR_OCTREE, 12, 4, 0.3, 0.5) / even, 1.0, 0.1);
    }
}

static void nonsense_is_refused(void **context)
{
    (void)context;
    static const struct {
        float hertz, young, poisson, sag;
        const char *line;
    } wrong[] = {
        {0, 1e4f, 0.5f, 0, "poisson must be 0 to 0.46"},       {0, 1e4f, -0.1f, 0, "poisson must be 0 to 0.46"},
        {0, 1e4f, NAN, 0, "poisson must be 0 to 0.46"},        {0, -1.0f, 0.3f, 0, "young must be 0 to 1e15 Pa"},
        {0, NAN, 0.3f, 0, "young must be 0 to 1e15 Pa"},       {0, 0, 0.3f, -0.1f, "sag must be 0 to 10"},
        {8, 1e4f, 0.3f, 0, "hertz and young are both given"},  {8, 0, 0.3f, 0.1f, "hertz and sag are both given"},
        {0, 1e4f, 0.3f, 0.1f, "young and sag are both given"},
    };
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++) {
        log_lines = 0;
        lm_world_def world_def = lm_world_def_default();
        world_def.log = (lm_log){take_line, NULL};
        lm_world *world;
        assert_ok(lm_world_create(&world_def, &world));
        const lm_vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.points = points;
        def.point_count = 4;
        def.material.hertz = wrong[n].hertz;
        def.material.young = wrong[n].young;
        def.material.poisson = wrong[n].poisson;
        def.material.sag = wrong[n].sag;
        lm_body_id body;
        assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
        assert_int_equal(log_lines, 1);
        if (!strstr(log_line, wrong[n].line)) fail_msg("\"%s\" does not say \"%s\"", log_line, wrong[n].line);
        def.material = lm_material_default();
        assert_ok(lm_body_create(world, &def, &body));
        lm_world_destroy(world);
    }
}

/* Every preset is a material, its density is the body's, and what a substep does not reach is said in one line that tells how
 * many would; with as many nothing is said. */
static void presets_have_names_and_limits_are_told(void **context)
{
    (void)context;
    float density;
    lm_material material;
    assert_false(lm_material_preset("granite", &material, &density));
    assert_null(lm_material_preset_name(LM_PRESET_COUNT));
    for (uint32_t n = 0; n < LM_PRESET_COUNT; n++) {
        assert_true(lm_material_preset(lm_material_preset_name(n), &material, &density));
        uint32_t substeps = 2;
        for (int turn = 0; turn < 2; turn++) {
            hanging_bar b = bar_of(BAR_LATTICE, 2, 0.3, substeps);
            lm_world_def world_def = lm_world_def_default();
            world_def.log = (lm_log){take_line, NULL};
            world_def.substeps = substeps;
            lm_world *world;
            lm_body_id body;
            assert_ok(lm_world_create(&world_def, &world));
            b.material = material;
            b.density = (double)density;
            hanging_add(&b, world, &body);
            log_lines = 0;
            for (int k = 0; k < 3; k++) assert_ok(lm_world_step(world, FRAME));
            lm_body_info info;
            assert_ok(lm_body_get_info(world, body, &info));
            assert_near(info.density, density, 1e-3 * (double)density);
            assert_near(info.young, material.young, 1e-3 * (double)material.young);
            assert_int_equal(log_lines, info.stiffness_limited ? 1 : 0);
            if (turn == 1) assert_false(info.stiffness_limited);
            if (info.stiffness_limited) assert_true(info.reached_young < info.young && info.substeps_needed > substeps);
            substeps = info.substeps_needed;
            lm_world_destroy(world);
            if (substeps > LM_MAX_SUBSTEPS) break; /* wood */
        }
    }
}

/* The stress in a hanging bar is the weight below, over the area; nothing pulls across. */
static void stress_is_the_weight_below(void **context)
{
    (void)context;
    for (int kind = BAR_LATTICE; kind <= BAR_TETS; kind++) {
        hanging_bar b = bar_of((bar_kind)kind, 2, 0.3, 4);
        double length = 24 * b.spacing, gravity = 0.01 * 2.0 / length, along = 0.0, across = 0.0, mises = 0.0,
               count = 0.0;
        lm_body_id body;
        lm_world *world = hanging_make(&b, &body);
        uint32_t particles = hanging_settle(&b, world, body).info.particles;
        float *s = calloc((size_t)particles * 6, sizeof *s), *m = calloc(particles, sizeof *m);
        lm_vec3 *rest = calloc(particles, sizeof *rest);
        assert_ok(lm_body_get_rest_positions(world, body, rest));
        assert_ok(lm_body_get_stress(world, body, s, m));
        for (uint32_t n = 0; n < particles; n++) {
            double y = rest[n].y, expected = 1000.0 * gravity * y;
            if (fabs(y - 0.5 * length) > 0.26 * length) continue;
            along += (double)s[6 * n + 1] / expected;
            across += fabs((double)s[6 * n]) / expected;
            mises += (double)m[n] / expected;
            count += 1.0;
        }
        print_message("kind %d: stress along %.3f, across %.3f, von Mises %.3f of what it should be\n", kind,
                      along / count, across / count, mises / count);
        assert_near(along / count, 1.0, 0.08);
        assert_at_most(across / count, 0.12);
        assert_near(mises / count, 1.0, 0.1);
        free(s), free(m), free(rest);
        lm_world_destroy(world);
    }
}

int main(int argc, char **argv)
{
    if (argc > 5 && strcmp(argv[1], "cantilever") == 0) {
        cantilever((bar_kind)atoi(argv[2]), (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]), atof(argv[5]),
                   argc > 6 ? atof(argv[6]) : 0.0);
        return 0;
    }
    if (argc > 6 && strcmp(argv[1], "bar") == 0) {
        hanging_bar b =
            reachable_bar((bar_kind)atoi(argv[2]), (uint32_t)atoi(argv[3]), atof(argv[4]), (uint32_t)atoi(argv[5]));
        b.material.damping_ratio = (float)atof(argv[6]);
        check(&b, "bar");
        return 0;
    }
    is_long = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_have_the_modulus_asked_for), cmocka_unit_test(cells_of_two_sizes_are_one_material),
        cmocka_unit_test(cantilevers_bend_as_beams),       cmocka_unit_test(presets_have_names_and_limits_are_told),
        cmocka_unit_test(stress_is_the_weight_below),      cmocka_unit_test(nonsense_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
