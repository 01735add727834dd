/*
 * Plastic lattices: the same as clusters with the same regions, shapes that are kept above the yield and given back below
 * it, volume and maximum, every substep, materials that change while the body lives.
 */
#include "test/lattice/lattice_cells.h"
#include "test/reference/reference.h"

#include <math.h>

static void make_plastic(lm_body_def *def, lm_mode mode)
{
    def->material.mode = mode;
    def->material.hertz = 8.0f;
    def->material.damping_ratio = 0.5f;
    def->material.yield = 0.03f;
    def->material.creep = 10.0f;
    def->material.max_plastic = 0.4f;
}

/* ---- clusters are the oracle ---- */

/* The same particles and regions, as clusters. */
static lm_body_id cluster_twin(lm_world *world, lm_body_id lattice, const lm_body_def *from)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, lattice, &info));
    lm_vec3 *points = calloc(info.particles, sizeof *points);
    uint32_t *offsets = calloc((size_t)info.regions + 1, sizeof *offsets);
    uint32_t *members = calloc(info.memberships, sizeof *members);
    assert_ok(lm_body_get_rest_positions(world, lattice, points));
    assert_ok(lm_body_get_regions(world, lattice, offsets, members));
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = info.particles;
    def.mass = from->mass;
    def.material = from->material;
    def.clusters.kind = LM_CLUSTERS_LISTS;
    def.clusters.offsets = offsets;
    def.clusters.members = members;
    def.clusters.list_count = info.regions;
    lm_body_id body = make_body(world, &def);
    free(points);
    free(offsets);
    free(members);
    return body;
}

static void check_twin(cells_kind kind, uint32_t width, lm_mode mode, random_state *random)
{
    /* Longest along y or z: the lattice's own axes are not the body's. */
    uint32_t y = 4 + random_below(random, 5), z = 3 + random_below(random, 6);
    lattice_cells c = lattice_cells_make(kind, 5, y, z);
    lm_world *world = make_world(0.0);
    lm_body_def def = lattice_def(&c, width);
    def.lattice.mass = LM_LATTICE_MASS_EQUAL; /* as its twin has */
    make_plastic(&def, mode);
    if (kind == CELLS_PARTS)
        def.material.damping_ratio = 0.0f; /* clusters know no parts: they are damped as one body */
    lm_body_id lattice = make_body(world, &def), twin = cluster_twin(world, lattice, &def);
    body_state rest = state_read(world, lattice, lm_dvec3_zero());
    lm_vec3 *x = calloc(rest.count, sizeof *x), *v = calloc(rest.count, sizeof *v);
    ref_mat turn = random_rotation(random);
    ref_mat squash = {{{1.25, 0.1, 0.0}, {0.0, 0.75, 0.0}, {0.05, 0.0, 1.1}}};
    for (uint32_t n = 0; n < rest.count; n++) {
        ref_vec at = ref_add(ref_mat_vec(squash, rest.x[n]), random_in_cube(random, 0.02));
        x[n] = to_float(ref_mat_vec(turn, at));
        v[n] = to_float(random_in_cube(random, 0.3));
    }
    assert_ok(lm_body_set_state(world, lattice, lm_dvec3_zero(), x, v));
    assert_ok(lm_body_set_state(world, twin, lm_dvec3_zero(), x, v));
    /* Undamped ones swing through and flow back: they are looked at before. */
    int steps = kind == CELLS_PARTS ? 4 : 12;
    for (int step = 0; step < steps; step++) assert_ok(lm_world_step(world, FRAME));
    body_state a = state_read(world, lattice, lm_dvec3_zero()), b = state_read(world, twin, lm_dvec3_zero());
    lm_body_info info;
    assert_ok(lm_body_get_info(world, lattice, &info));
    float *mine = calloc(info.regions, 9 * sizeof *mine), *theirs = calloc(info.regions, 9 * sizeof *theirs);
    assert_ok(lm_body_get_plastic(world, lattice, mine));
    assert_ok(lm_body_get_plastic(world, twin, theirs));
    double worst = 0.0, worst_shape = 0.0, flowed = 0.0;
    for (uint32_t n = 0; n < a.count; n++) worst = fmax(worst, ref_length(ref_sub(a.x[n], b.x[n])));
    for (uint32_t n = 0; n < info.regions * 9; n++) {
        worst_shape = fmax(worst_shape, fabs((double)mine[n] - (double)theirs[n]));
        flowed = fmax(flowed, fabs((double)theirs[n] - (n % 9 % 4 == 0 ? 1.0 : 0.0)));
    }
    if (worst > 2e-4 || worst_shape > 2e-3)
        print_message("kind %d width %u mode %d: %g m, shapes %g of %g\n", (int)kind, width, (int)mode, worst,
                      worst_shape, flowed);
    assert_true(flowed > 0.01);
    assert_at_most(worst, 2e-4);
    assert_at_most(worst_shape, 2e-3);
    state_free(&a);
    state_free(&b);
    state_free(&rest);
    free(mine);
    free(theirs);
    free(x);
    free(v);
    lm_world_destroy(world);
    free(c.is);
}

static void equals_clusters(void **state)
{
    (void)state;
    random_state random = {81};
    for (int kind = 0; kind < CELLS_COUNT; kind++)
        for (uint32_t width = 1; width <= 3; width++) {
            check_twin((cells_kind)kind, width, LM_MODE_RIGID, &random);
            check_twin((cells_kind)kind, width, LM_MODE_LINEAR, &random);
        }
}

/* ---- a block that is pressed ---- */

typedef struct block {
    lm_world *world;
    lm_body_id body;
    lm_body_info info;
    body_state rest;
    lattice_cells cells;
} block;

static block block_make(lm_mode mode, float yield)
{
    block b = {.world = make_world(0.0), .cells = lattice_cells_make(CELLS_BOX, 4, 6, 4)};
    lm_body_def def = lattice_def(&b.cells, 2);
    make_plastic(&def, mode);
    def.material.yield = yield;
    b.body = make_body(b.world, &def);
    assert_ok(lm_body_get_info(b.world, b.body, &b.info));
    b.rest = state_read(b.world, b.body, lm_dvec3_zero());
    return b;
}

static void block_free(block *b)
{
    state_free(&b->rest);
    lm_world_destroy(b->world);
    free(b->cells.is);
}

/* Pressed along y to `share`, at constant volume, and held there. */
static void block_hold(block *b, double share, double seconds, double h)
{
    lm_vec3 *x = calloc(b->rest.count, sizeof *x), *v = calloc(b->rest.count, sizeof *v);
    for (uint32_t n = 0; n < b->rest.count; n++) {
        ref_vec r = b->rest.x[n];
        x[n] = to_float(ref_v(r.x / sqrt(share), r.y * share, r.z / sqrt(share)));
    }
    for (int step = 0; step < (int)(seconds / h + 0.5); step++) {
        assert_ok(lm_body_set_state(b->world, b->body, lm_dvec3_zero(), x, v));
        assert_ok(lm_world_step(b->world, h));
    }
    assert_ok(lm_body_set_state(b->world, b->body, lm_dvec3_zero(), x, v));
    free(x);
    free(v);
}

static void block_settle(block *b)
{
    for (int step = 0; step < 600; step++) assert_ok(lm_world_step(b->world, FRAME));
}

static double block_height(const block *b)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(b->world, b->body, &info));
    return (info.upper.y - info.lower.y) / (6 * CELL);
}

/* The largest strain and the worst volume of the lasting deformation. */
static double block_plastic(const block *b, double *volume)
{
    float *p = calloc(b->info.regions, 9 * sizeof *p);
    double most = 0.0;
    *volume = 0.0;
    assert_ok(lm_body_get_plastic(b->world, b->body, p));
    for (uint32_t r = 0; r < b->info.regions; r++) {
        double a[9], values[3], vectors[9];
        for (int i = 0; i < 9; i++) a[i] = (double)p[r * 9 + (uint32_t)i];
        ref_eigen_symmetric(3, a, values, vectors);
        for (int i = 0; i < 3; i++) most = fmax(most, fabs(values[i] - 1.0));
        *volume = fmax(*volume, fabs(values[0] * values[1] * values[2] - 1.0));
    }
    free(p);
    return most;
}

static void keeps_what_it_flowed_to(void **state)
{
    (void)state;
    for (int mode = LM_MODE_RIGID; mode <= LM_MODE_LINEAR; mode++) {
        block b = block_make((lm_mode)mode, 0.03f);
        double volume;
        block_hold(&b, 0.8, 2.0, FRAME);
        block_settle(&b);
        double strain = block_plastic(&b, &volume);
        print_message("mode %d: height %.4f, strain %.4f, volume off by %.2g\n", mode, block_height(&b), strain,
                      volume);
        assert_near(block_height(&b), 0.8, 0.04); /* but for the yield */
        assert_near(strain, 0.2, 0.035);
        assert_at_most(volume, 1e-5);

        block_hold(&b, 0.3, 2.0, FRAME); /* more than it can keep */
        block_settle(&b);
        strain = block_plastic(&b, &volume);
        assert_at_most(strain, 0.4 + 1e-5);
        assert_true(strain > 0.38);
        assert_at_most(volume, 1e-5);
        assert_true(block_height(&b) < 0.75 && block_height(&b) > 0.55);

        assert_ok(lm_body_reset_plastic(b.world, b.body));
        assert_at_most(block_plastic(&b, &volume), 0.0);
        lm_material material;
        assert_ok(lm_body_get_material(b.world, b.body, &material));
        material.yield = 0.0f; /* or it would flow on its way back */
        assert_ok(lm_body_set_material(b.world, b.body, &material));
        block_settle(&b);
        assert_at_most(deformation(b.world, b.body), 1e-4);
        block_free(&b);
    }
}

static void returns_below_the_yield(void **state)
{
    (void)state;
    block b = block_make(LM_MODE_RIGID, 0.3f);
    double volume;
    block_hold(&b, 0.8, 1.0, FRAME);
    block_settle(&b);
    assert_at_most(block_plastic(&b, &volume), 0.0);
    assert_at_most(deformation(b.world, b.body), 1e-4);
    block_free(&b);
}

static void flow_does_not_depend_on_the_substep(void **state)
{
    (void)state;
    double strain[2], volume;
    for (int fine = 0; fine < 2; fine++) {
        block b = block_make(LM_MODE_LINEAR, 0.03f);
        block_hold(&b, 0.8, 0.1, fine ? FRAME / 4 : FRAME);
        strain[fine] = block_plastic(&b, &volume);
        block_free(&b);
    }
    print_message("after 0.1 s: %.4f at 1/60 s, %.4f at 1/240 s\n", strain[0], strain[1]);
    assert_true(strain[0] > 0.08 && strain[0] < 0.16); /* 0.2 (1 - exp(-1)) is 0.126 */
    assert_near(strain[1] / strain[0], 1.0, 0.02);
}

/* Plastic from now on, no longer so, linear, rigid: nothing jumps, and what has flowed stays. */
static void changes_while_it_lives(void **state)
{
    (void)state;
    block b = block_make(LM_MODE_RIGID, 0.0f);
    double volume;
    block_hold(&b, 0.8, 0.5, FRAME);
    assert_at_most(block_plastic(&b, &volume), 0.0);
    lm_material material;
    assert_ok(lm_body_get_material(b.world, b.body, &material));
    material.yield = 0.03f;
    assert_ok(lm_body_set_material(b.world, b.body, &material));
    block_hold(&b, 0.8, 1.0, FRAME);
    double strain = block_plastic(&b, &volume);
    assert_near(strain, 0.2, 0.03);
    material.yield = 0.0f;
    for (int mode = LM_MODE_LINEAR; mode >= LM_MODE_RIGID; mode--) {
        material.mode = (lm_mode)mode;
        assert_ok(lm_body_set_material(b.world, b.body, &material));
        block_settle(&b);
        assert_near(block_plastic(&b, &volume), strain, 1e-7);
        assert_near(block_height(&b), 0.8, 0.035);
    }
    material.mode = LM_MODE_QUADRATIC;
    assert_result(lm_body_set_material(b.world, b.body, &material), LM_ERROR_ARGUMENT);
    block_free(&b);
}

/* A lattice that never yields has the same bits as one that is not plastic, and the hash knows what has flowed. */
static void watching_changes_nothing(void **state)
{
    (void)state;
    lm_vec3 *x[2] = {NULL, NULL};
    uint32_t count = 0;
    for (int watched = 0; watched < 2; watched++) {
        random_state random = {91};
        block b = block_make(LM_MODE_RIGID, watched ? 0.9f : 0.0f);
        randomise_state(b.world, b.body, &random, 0.02, 1.0);
        for (int step = 0; step < 60; step++) assert_ok(lm_world_step(b.world, FRAME));
        count = b.info.particles;
        x[watched] = calloc(count, sizeof *x[watched]);
        assert_ok(lm_body_get_positions(b.world, b.body, lm_dvec3_zero(), x[watched]));
        block_free(&b);
    }
    assert_memory_equal(x[0], x[1], count * sizeof *x[0]);
    free(x[0]);
    free(x[1]);
    block b = block_make(LM_MODE_RIGID, 0.03f);
    block_hold(&b, 0.8, 0.5, FRAME);
    uint64_t flowed = lm_world_hash(b.world);
    assert_ok(lm_body_reset_plastic(b.world, b.body));
    assert_true(lm_world_hash(b.world) != flowed);
    block_free(&b);
}

/* The more a body is mangled, the more it would flow: it comes back whole, within the maximum. */
static void mangled_lattices_stay_sound(void **state)
{
    (void)state;
    random_state random = {95};
    for (int how = 0; how < 4; how++) {
        block b = block_make((lm_mode)(how % 2), 0.03f);
        lm_vec3 *x = calloc(b.rest.count, sizeof *x);
        for (uint32_t n = 0; n < b.rest.count; n++) {
            x[n] = to_float(b.rest.x[n]);
            if (how == 0) x[n].y = 0.0f;
            if (how == 1) x[n].y = -x[n].y;
            if (how == 2) x[n] = (lm_vec3){0.0f, 0.0f, 0.0f};
            if (how == 3) x[n] = to_float(random_in_cube(&random, 2.0));
        }
        assert_ok(lm_body_set_state(b.world, b.body, lm_dvec3_zero(), x, NULL));
        block_settle(&b);
        lm_totals totals;
        double volume, strain = block_plastic(&b, &volume);
        lm_world_get_totals(b.world, &totals);
        assert_true(totals.finite);
        assert_at_most(strain, 0.4 + 1e-5);
        assert_at_most(volume, 1e-5);
        assert_at_most(deformation(b.world, b.body), 6 * CELL);
        free(x);
        block_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_clusters),
                                       cmocka_unit_test(keeps_what_it_flowed_to),
                                       cmocka_unit_test(returns_below_the_yield),
                                       cmocka_unit_test(flow_does_not_depend_on_the_substep),
                                       cmocka_unit_test(changes_while_it_lives),
                                       cmocka_unit_test(watching_changes_nothing),
                                       cmocka_unit_test(mangled_lattices_stay_sound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
