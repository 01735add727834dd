/*
 * Regions of lattices that differ in stiffness: shares act as in the reference, and the slowest mode is that of the same
 * clusters.
 *
 *   test_lattice_stiffness          one body of so many particles that its mode is found on coarser lattices first
 *   test_lattice_stiffness long     two
 */
#include "test/lattice/lattice_cells.h"
#include "test/reference/reference.h"

#include <math.h>

/* ---- regions ---- */

enum { BODY_BOX, BODY_COMB, BODY_HOLES, BODY_PARTS, BODY_COUNT };

static lm_body_def lattice_of(int kind, const uint32_t n[3], uint32_t width, random_state *random, uint8_t *cells)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    for (uint32_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        uint32_t x = i % n[0], y = i / n[0] % n[1];
        cells[i] = kind == BODY_BOX || (kind == BODY_COMB && (y % 2 == 0 || x < 2)) ||
                   (kind == BODY_HOLES && (random_below(random, 4) || x == 0)) || (kind == BODY_PARTS && x != 3);
    }
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, n, sizeof def.lattice.counts);
    def.lattice.spacing = 0.2f;
    def.lattice.width = width;
    return def;
}

/* The same regions as clusters of the same particles. */
static lm_body_id make_clusters(lm_world *world, lm_body_id lattice, const lm_material *material)
{
    lm_body_info info = info_of(world, lattice);
    lm_vec3 *rest = calloc(info.particles, sizeof *rest);
    float *masses = calloc(info.particles, sizeof *masses), *shares = calloc(info.regions, sizeof *shares);
    uint32_t *offsets = calloc(info.regions + 1, sizeof *offsets), *members = calloc(info.memberships, sizeof *members);
    assert_ok(lm_body_get_rest_positions(world, lattice, rest));
    assert_ok(lm_body_get_masses(world, lattice, masses));
    assert_ok(lm_body_get_regions(world, lattice, offsets, members));
    assert_ok(lm_body_get_region_stiffness(world, lattice, shares));
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = rest;
    def.point_count = info.particles;
    def.masses = masses;
    def.clusters.kind = LM_CLUSTERS_LISTS;
    def.clusters.offsets = offsets;
    def.clusters.members = members;
    def.clusters.list_count = info.regions;
    def.material = *material;
    lm_body_id body = make_body(world, &def);
    assert_ok(lm_body_set_region_stiffness(world, body, shares));
    free(rest);
    free(masses);
    free(shares);
    free(offsets);
    free(members);
    return body;
}

static void set_random_shares(lm_world *world, lm_body_id body, random_state *random)
{
    uint32_t regions = info_of(world, body).regions;
    float *shares = calloc(regions, sizeof *shares), *read = calloc(regions, sizeof *read);
    for (uint32_t r = 0; r < regions; r++) shares[r] = (float)random_range(random, 0.1, 1.0);
    assert_ok(lm_body_set_region_stiffness(world, body, shares));
    assert_ok(lm_body_get_region_stiffness(world, body, read));
    assert_memory_equal(read, shares, regions * sizeof *shares);
    free(shares);
    free(read);
}

static bool is_long = false;

/* Small bodies, and ones that are found on coarser lattices first. */
static void slowest_mode_is_that_of_the_clusters(void **context)
{
    (void)context;
    static const uint32_t sizes[3][3] = {{6, 4, 3}, {16, 4, 4}, {26, 7, 7}};
    double worst = 0.0;
    for (int run = 0; run < 16; run++) {
        random_state random = {(uint64_t)(20 + run)};
        int kind = run % BODY_COUNT;
        bool coarser = kind == BODY_COMB ? run == BODY_COMB : is_long && run == BODY_BOX;
        const uint32_t *n = sizes[coarser ? 2 : run / BODY_COUNT % 2];
        uint8_t *cells = calloc((size_t)n[0] * n[1] * n[2], 1);
        lm_world *world = make_world(0.0);
        lm_body_def def = lattice_of(kind, n, 1 + (uint32_t)run % 3, &random, cells);
        def.material.mode = run / 4 % 2 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        lm_body_id body = make_body(world, &def);
        if (run >= 8) set_random_shares(world, body, &random);
        lm_body_id clusters = make_clusters(world, body, &def.material);
        float found, expected;
        assert_ok(lm_body_get_slowest_mode(world, body, &found));
        assert_ok(lm_body_get_slowest_mode(world, clusters, &expected));
        double off = kind == BODY_PARTS ? 0.0 : fabs((double)found / (double)expected - 1.0);
        if (off > 0.03)
            print_error("body %d of %u particles: %g, clusters %g\n", kind, info_of(world, body).particles,
                        (double)found, (double)expected);
        if (kind == BODY_PARTS) assert_at_most(found, 1e-6); /* they move apart freely */
        worst = fmax(worst, off);
        lm_world_destroy(world);
        free(cells);
    }
    print_message("slowest modes differ by at most %.2g\n", worst);
    assert_at_most(worst, 0.03);
}

/* The step against the double-precision reference, which reads the shares. */
static void shares_act_as_in_the_reference(void **context)
{
    (void)context;
    for (int run = 0; run < 8; run++) {
        random_state random = {(uint64_t)(120 + run)};
        const uint32_t n[3] = {6, 5, 3};
        uint8_t cells[90];
        lm_world *world = make_world(-9.81);
        lm_body_def def = lattice_of(run % 3, n, 1 + (uint32_t)run % 4, &random, cells);
        def.material.mode = run / 4 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        lm_body_id body = make_body(world, &def);
        set_random_shares(world, body, &random);
        randomise_state(world, body, &random, 0.03, 1.0);
        ref_body *reference = ref_body_copy(world, body, 0.0);
        for (int step = 0; step < 5; step++) {
            assert_ok(lm_world_step(world, FRAME));
            ref_body_step(reference, FRAME);
        }
        body_state state = state_read(world, body, lm_dvec3_zero());
        double worst = 0.0;
        for (uint32_t i = 0; i < state.count; i++)
            worst = fmax(worst, ref_length(ref_sub(state.x[i], reference->x[i])));
        assert_at_most(worst, 2e-4);
        state_free(&state);
        ref_body_free(reference);
        lm_world_destroy(world);
    }
}

/* Values of particles become means over regions; all of one half is half, and saving keeps them. */
static void particle_values_become_shares(void **context)
{
    (void)context;
    const uint32_t n[3] = {6, 5, 3};
    uint8_t cells[90];
    random_state random = {7};
    lm_world *world = make_world(0.0), *other = make_world(0.0);
    lm_body_def def = lattice_of(BODY_COMB, n, 2, &random, cells);
    def.lattice.width_metres = 0.37f;
    def.material.hertz = 8.0f;
    lm_body_id body = make_body(world, &def), clusters = make_clusters(world, body, &def.material);
    lm_body_info info = info_of(world, body);
    assert_int_equal(info.width, 2);
    float *values = calloc(info.particles, sizeof *values), *shares = calloc(info.regions, sizeof *shares);
    float *expected = calloc(info.regions, sizeof *expected);
    for (uint32_t i = 0; i < info.particles; i++) values[i] = (float)random_range(&random, 0.0, 1.0);
    assert_ok(lm_body_set_particle_stiffness(world, body, values));
    assert_ok(lm_body_set_particle_stiffness(world, clusters, values));
    assert_ok(lm_body_get_region_stiffness(world, body, shares));
    assert_ok(lm_body_get_region_stiffness(world, clusters, expected));
    for (uint32_t r = 0; r < info.regions; r++) assert_near(shares[r], expected[r], 1e-6);
    shares[1] = 1.5f;
    assert_result(lm_body_set_region_stiffness(world, body, shares), LM_ERROR_ARGUMENT);
    assert_ok(lm_body_destroy(world, clusters));
    randomise_state(world, body, &random, 0.03, 1.0);
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    assert_ok(lm_world_load(other, bytes, size));
    assert_ok(lm_body_get_region_stiffness(other, body, shares));
    for (uint32_t r = 0; r < info.regions; r++) assert_near(shares[r], expected[r], 1e-6);
    for (int step = 0; step < 10; step++) {
        assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_world_step(other, FRAME));
        assert_true(lm_world_hash(world) == lm_world_hash(other));
    }
    assert_near(info_of(other, body).reached_hertz, def.material.hertz, 1e-3);
    assert_ok(lm_body_set_region_stiffness(world, body, NULL));
    assert_ok(lm_world_step(world, FRAME));
    assert_ok(lm_world_step(other, FRAME));
    assert_true(lm_world_hash(world) != lm_world_hash(other));
    free(bytes);
    free(values);
    free(shares);
    free(expected);
    lm_world_destroy(world);
    lm_world_destroy(other);
}

/* An affine map of the body is what every region then is carried by. */
static void region_transforms_follow_an_affine_map(void **context)
{
    (void)context;
    const uint32_t n[3] = {6, 5, 3};
    const double map[9] = {1.1, 0.2, 0.0, -0.1, 0.9, 0.3, 0.05, 0.0, 1.2};
    uint8_t cells[90];
    random_state random = {9};
    lm_world *world = make_world(0.0);
    lm_body_def def = lattice_of(BODY_HOLES, n, 2, &random, cells);
    def.pose.position.x = 3.0;
    lm_body_id body = make_body(world, &def);
    lm_body_info info = info_of(world, body);
    lm_vec3 *x = calloc(info.particles, sizeof *x);
    lm_region_transform *t = calloc(info.regions, sizeof *t);
    assert_ok(lm_body_get_rest_positions(world, body, x));
    for (uint32_t i = 0; i < info.particles; i++) {
        double r[3] = {(double)x[i].x, (double)x[i].y, (double)x[i].z}, at[3];
        for (int k = 0; k < 3; k++) at[k] = map[3 * k] * r[0] + map[3 * k + 1] * r[1] + map[3 * k + 2] * r[2];
        x[i] = to_float(ref_v(at[0], at[1], at[2]));
    }
    lm_dvec3 base = {3.0, 0.0, 0.0};
    assert_ok(lm_body_set_state(world, body, base, x, NULL));
    assert_ok(lm_body_get_region_transforms(world, body, base, t));
    for (uint32_t r = 0; r < info.regions; r++) {
        double c[3] = {(double)t[r].centre.x, (double)t[r].centre.y, (double)t[r].centre.z};
        double at[3] = {(double)t[r].constant.x, (double)t[r].constant.y, (double)t[r].constant.z};
        for (int k = 0; k < 9; k++) assert_near(t[r].linear[k], map[k], 1e-5);
        for (int k = 0; k < 3; k++)
            assert_near(at[k], map[3 * k] * c[0] + map[3 * k + 1] * c[1] + map[3 * k + 2] * c[2], 1e-5);
        for (int k = 0; k < 18; k++) assert_true(t[r].quadratic[k] == 0.0f);
    }
    free(x);
    free(t);
    lm_world_destroy(world);
}

/* ---- memory ---- */

typedef struct budget {
    long left; /* allocations that succeed */
} budget;

static void *take(size_t size, size_t alignment, void *user)
{
    budget *b = user;
    return b->left-- > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment) : NULL;
}

static void give(void *memory, size_t size, void *user)
{
    (void)size, (void)user;
    free(memory);
}

/* Every allocation of these calls fails once; then nothing has changed. */
static void calls_survive_without_memory(void **context)
{
    (void)context;
    lm_vec3 vertices[8];
    float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    budget b = {1000000};
    lm_world_def world_def = lm_world_def_default();
    world_def.workers = 1;
    world_def.allocator = (lm_allocator){take, give, &b};
    lm_world *world;
    assert_ok(lm_world_create(&world_def, &world));
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    lattice_use_box(&def, (double[]){2.5, 1.2, 1.2}, vertices);
    def.lattice.spacing = 0.1f;
    def.lattice.width_metres = 0.2f;
    def.lattice.vertex_masses = values;
    lm_body_id body = {0, 0};
    int failed = 0;
    lm_result result = LM_ERROR_MEMORY;
    for (long n = 0; result != LM_OK; n++, failed++) {
        b.left = n;
        result = lm_body_create(world, &def, &body);
        assert_true(result == LM_OK || result == LM_ERROR_MEMORY);
    }
    b.left = 1000000;
    uint32_t regions = info_of(world, body).regions;
    float *shares = calloc(regions, sizeof *shares), *read = calloc(regions, sizeof *read), slowest;
    for (uint32_t r = 0; r < regions; r++) shares[r] = 0.5f;
    result = LM_ERROR_MEMORY;
    for (long n = 0; result != LM_OK; n++, failed++) {
        b.left = n;
        result = lm_body_set_region_stiffness(world, body, shares);
        assert_true(result == LM_OK || result == LM_ERROR_MEMORY);
        assert_ok(lm_body_get_region_stiffness(world, body, read));
        assert_true(read[0] == (result == LM_OK ? 0.5f : 1.0f));
    }
    lm_stats before, after;
    lm_world_get_stats(world, &before);
    result = LM_ERROR_MEMORY;
    for (long n = 0; result != LM_OK; n++, failed++) {
        b.left = n;
        result = lm_body_get_slowest_mode(world, body, &slowest);
        assert_true(result == LM_OK || result == LM_ERROR_MEMORY);
        lm_world_get_stats(world, &after);
        assert_true(after.memory == before.memory);
    }
    assert_true(slowest > 0.0f && slowest < 1.0f);
    assert_true(failed > 100);
    free(shares);
    free(read);
    lm_world_destroy(world);
}

int main(int argc, char **argv)
{
    is_long = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slowest_mode_is_that_of_the_clusters),
        cmocka_unit_test(shares_act_as_in_the_reference),
        cmocka_unit_test(particle_values_become_shares),
        cmocka_unit_test(region_transforms_follow_an_affine_map),
        cmocka_unit_test(calls_survive_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
