/*
 * Lattices whose regions are stacks of plates: the same rest constants and linear match as with lists, motion as the reference
 * has it, the same bits everywhere, and what they take. Sums over single regions are in test/lattice/test_lattice_sums.c.
 */
#include "lattice/lattice_body.h"
#include "lattice/lattice_modes.h"
#include "lattice/lattice_plates.h"
#include "test/lattice/lattice_cells.h"
#include "test/reference/reference.h"
#include "world/world.h"

#include <math.h>

/* ---- shapes ---- */

enum { SHAPE_SHEET, SHAPE_COMB, SHAPE_SHELL, SHAPE_HOLES, SHAPE_CRUMBS, SHAPE_COUNT };

static bool shape_has(int shape, const uint32_t n[3], uint32_t x, uint32_t y, uint32_t z, random_state *random)
{
    double r = 0.0;
    const uint32_t at[3] = {x, y, z};
    for (int a = 0; a < 3; a++) {
        double d = 2.0 * (at[a] + 0.5) / n[a] - 1.0;
        r += d * d;
    }
    switch (shape) {
    case SHAPE_SHEET: return z == (x / 4 + y / 5) % n[2];
    case SHAPE_COMB: return y % 3 != 2 || x < 3;
    case SHAPE_SHELL: return r <= 1.0 && r > 0.93;
    case SHAPE_HOLES: return random_below(random, 4) != 0;
    default: return (x / 3 + y / 2 + z / 2) % 2 == 0;
    }
}

static lattice_cells shape_make(int shape, uint32_t x, uint32_t y, uint32_t z, random_state *random)
{
    lattice_cells c = {calloc((size_t)x * y * z, 1), {x, y, z}};
    for (uint32_t n = 0; n < x * y * z; n++) c.is[n] = shape_has(shape, c.n, n % x, n / x % y, n / x / y, random);
    return c;
}

static lmi_voxels voxels_of(const lattice_cells *c)
{
    lmi_voxels v = {.spacing = 0.5, .n = {c->n[0], c->n[1], c->n[2]}, .row_words = (c->n[0] + 63) / 64};
    v.bits = calloc((size_t)v.row_words * v.n[1] * v.n[2], sizeof *v.bits);
    for (uint32_t n = 0; n < c->n[0] * c->n[1] * c->n[2]; n++)
        if (c->is[n]) {
            uint32_t x = n % c->n[0], row = n / c->n[0];
            v.bits[(size_t)row * v.row_words + x / 64] |= (uint64_t)1 << (x % 64);
            v.cell_count++;
        }
    return v;
}

static lmi_lattice lattice_by(lmi_memory *memory, const lattice_cells *c, uint32_t width, lmi_lattice_scheme scheme)
{
    lmi_lattice l;
    lmi_voxels v = voxels_of(c);
    assert_ok(lmi_lattice_make(memory, &v, width, scheme, NULL, &l));
    free(v.bits);
    return l;
}

/* ---- in double precision ---- */

static double *random_weights(const lmi_lattice *l, random_state *random)
{
    double *weights = calloc(((size_t)l->block_count + 1) * LMI_BLOCK, sizeof *weights);
    for (uint32_t n = 0; n < l->block_count * LMI_BLOCK; n++)
        if (l->occupied[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1) weights[n] = random_range(random, 0.2, 3.0);
    return weights;
}

static void check_raw(lmi_memory *memory, const lmi_lattice *a, const lmi_lattice *b, const double *weights)
{
    double *one = lmi_lattice_raw(memory, a, weights, NULL), *other = lmi_lattice_raw(memory, b, weights, NULL);
    for (size_t n = 0; n < (size_t)a->block_count * LMI_LATTICE_RAW * LMI_BLOCK; n++) {
        size_t block = n / (LMI_LATTICE_RAW * LMI_BLOCK), lane = n % LMI_BLOCK;
        double mass = one[block * LMI_LATTICE_RAW * LMI_BLOCK + lane];
        assert_at_most(fabs(one[n] - other[n]), 1e-9 * (mass + 1.0));
    }
    lmi_lattice_raw_free(memory, a, one);
    lmi_lattice_raw_free(memory, b, other);
}

static double *matched(lmi_memory *memory, const lmi_lattice *l, const double *weights, const double *u)
{
    lmi_lattice_match match;
    double *to = calloc(((size_t)l->block_count + 1) * 3 * LMI_BLOCK, sizeof *to);
    assert_true(lmi_lattice_match_make(memory, l, weights, NULL, 0.4, &match));
    lmi_lattice_match_apply(&match, u, to);
    lmi_lattice_match_free(memory, &match);
    return to;
}

static void check_match(lmi_memory *memory, const lmi_lattice *a, const lmi_lattice *b, const double *weights,
                        random_state *random)
{
    size_t count = ((size_t)a->block_count + 1) * 3 * LMI_BLOCK;
    double *u = calloc(count, sizeof *u), largest = 0.0;
    for (size_t n = 0; n < count; n++) {
        size_t place = n / (3 * LMI_BLOCK) * LMI_BLOCK + n % LMI_BLOCK;
        u[n] = weights[place] > 0.0 ? random_range(random, -1.0, 1.0) : 0.0;
    }
    double *one = matched(memory, a, weights, u), *other = matched(memory, b, weights, u);
    for (size_t n = 0; n < count; n++) {
        assert_at_most(fabs(one[n] - other[n]), 1e-8);
        largest = fmax(largest, fabs(one[n]));
    }
    assert_true(largest > 0.1);
    free(u);
    free(one);
    free(other);
}

static void schemes_agree(void **state)
{
    (void)state;
    random_state random = {1};
    for (int shape = 0; shape < SHAPE_COUNT; shape++)
        for (uint32_t width = 1; width <= LMI_LATTICE_MAX_WIDTH; width += 1 + width / 3) {
            lmi_memory memory;
            lmi_memory_init(&memory, &(lm_allocator){0});
            lattice_cells c = shape_make(shape, 23 + random_below(&random, 9), 18, 7, &random);
            lmi_lattice lists = lattice_by(&memory, &c, width, LMI_LATTICE_LISTS);
            lmi_lattice plates = lattice_by(&memory, &c, width, LMI_LATTICE_PLATES);
            double *weights = random_weights(&lists, &random);
            assert_int_equal(lists.irregular_regions, plates.irregular_regions);
            assert_int_equal(lists.region_count, plates.region_count);
            assert_int_equal(lists.membership_count, plates.membership_count);
            check_raw(&memory, &lists, &plates, weights);
            check_match(&memory, &lists, &plates, weights, &random);
            lmi_lattice_free(&memory, &lists);
            lmi_lattice_free(&memory, &plates);
            assert_int_equal(memory.used, 0);
            free(weights);
            free(c.is);
        }
}

/* Regions that are alike have the same constants wherever they are, so that blocks can share them. */
static void alike_is_the_same(void **state)
{
    (void)state;
    lmi_memory memory;
    random_state random = {2};
    lmi_memory_init(&memory, &(lm_allocator){0});
    lattice_cells c = shape_make(SHAPE_COMB, 60, 36, 40, &random);
    uint32_t kinds[2];
    for (int n = 0; n < 2; n++) {
        lmi_lattice l = lattice_by(&memory, &c, 3, n ? LMI_LATTICE_PLATES : LMI_LATTICE_LISTS);
        double *weights = calloc(((size_t)l.block_count + 1) * LMI_BLOCK, sizeof *weights);
        for (uint32_t k = 0; k < l.block_count * LMI_BLOCK; k++)
            weights[k] = l.occupied[k / LMI_BLOCK] >> (k % LMI_BLOCK) & 1 ? 0.1 * (1 + l.degree[k] % 7) : 0.0;
        assert_true(lmi_lattice_weigh(&memory, &l, weights, NULL, (lmi_lattice_wants){false, false}));
        kinds[n] = l.constants_count;
        assert_true(10 * kinds[n] < l.block_count);
        lmi_lattice_free(&memory, &l);
        free(weights);
    }
    assert_at_most(kinds[1], 1.1 * kinds[0]);
    assert_int_equal(memory.used, 0);
    free(c.is);
}

/* ---- out of memory ---- */

/* Allocations that are left. */
static void *scarce_allocate(size_t size, size_t alignment, void *left)
{
    uint32_t *count = left;
    if (*count == 0) return NULL;
    --*count;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void scarce_release(void *memory, size_t size, void *left)
{
    (void)size, (void)left;
    free(memory);
}

/* Every allocation fails once: it is said, and nothing is lost. */
static void fails_cleanly(void **state)
{
    (void)state;
    random_state random = {4};
    lattice_cells c = shape_make(SHAPE_SHEET, 9, 8, 4, &random);
    lmi_voxels v = voxels_of(&c);
    uint32_t failures = 0;
    for (bool made = false; !made; failures++) {
        uint32_t left = failures;
        lmi_memory memory;
        lmi_lattice l;
        lmi_memory_init(&memory, &(lm_allocator){scarce_allocate, scarce_release, &left});
        lm_result result = lmi_lattice_make(&memory, &v, 3, LMI_LATTICE_PLATES, NULL, &l);
        assert_true(result == LM_OK || result == LM_ERROR_MEMORY);
        if (result == LM_OK) {
            double *weights = random_weights(&l, &random);
            lmi_lattice_match match;
            made = lmi_lattice_match_make(&memory, &l, weights, NULL, 0.4, &match);
            lmi_lattice_match_free(&memory, &match);
            lmi_lattice_free(&memory, &l);
            free(weights);
        }
        assert_int_equal(memory.used, 0);
    }
    assert_true(failures > 60);
    free(v.bits);
    free(c.is);
}

/* ---- the reference ---- */

static const lmi_lattice *shape_of(const lm_world *world, lm_body_id body)
{
    return &lmi_body_at(world, body.slot - 1)->lattice->shape;
}

static void check_reference(int shape, uint32_t width, lm_mode mode, lm_damping damping, random_state *random)
{
    lattice_cells c = shape_make(shape, 14, 11, 5, random);
    lm_world *world = make_world(-9.81);
    lm_body_def def = lattice_def(&c, width);
    def.material.mode = mode;
    def.material.damping_kind = damping;
    def.material.damping_ratio = damping == LM_DAMPING_REGIONAL ? 0.3f : 0.0f;
    lm_body_id body = make_body(world, &def);
    if (shape == SHAPE_COMB) assert_true(lmi_lattice_is_plated(shape_of(world, body)));
    randomise_state(world, body, random, 0.03, 1.0);
    ref_body *reference = ref_body_copy(world, body, 0.0);
    double worst = 0.0;
    for (int step = 0; step < 4; step++) {
        assert_ok(lm_world_step(world, FRAME));
        ref_body_step(reference, FRAME);
    }
    body_state now = state_read(world, body, lm_dvec3_zero());
    for (uint32_t n = 0; n < now.count; n++) worst = fmax(worst, ref_length(ref_sub(now.x[n], reference->x[n])));
    if (worst > 2e-5) print_message("shape %d width %u mode %d damping %d: %g\n", shape, width, mode, damping, worst);
    assert_at_most(worst, 2e-5);
    state_free(&now);
    ref_body_free(reference);
    lm_world_destroy(world);
    free(c.is);
}

static void follows_reference(void **state)
{
    (void)state;
    random_state random = {3};
    for (int shape = SHAPE_SHEET; shape <= SHAPE_SHELL; shape++)
        for (uint32_t width = 3; width <= 7; width += 2) {
            check_reference(shape, width, LM_MODE_RIGID, LM_DAMPING_GLOBAL, &random);
            check_reference(shape, width, LM_MODE_LINEAR, LM_DAMPING_REGIONAL, &random);
        }
}

/* ---- the same bits ---- */

/* A comb of several slabs, damped by regions, and a smaller one that flows. */
static uint64_t run(lm_isa isa, uint32_t workers, uint32_t width, int frames)
{
    random_state random = {5};
    lm_world *world = make_world_with(-9.81, isa, workers);
    for (int n = 0; n < 2; n++) {
        lattice_cells c =
            n == 0 ? shape_make(SHAPE_COMB, 30, 24, 36, &random) : shape_make(SHAPE_COMB, 20, 12, 4, &random);
        lm_body_def def = lattice_def(&c, width);
        def.pose.position.x = 40.0 * n;
        def.material.damping_ratio = 0.1f;
        def.material.damping_kind = n == 0 ? LM_DAMPING_REGIONAL : LM_DAMPING_GLOBAL;
        def.material.yield = n == 0 ? 0.0f : 0.02f;
        def.material.creep = n == 0 ? 0.0f : 5.0f;
        def.spin.y = 1.0f;
        lm_body_id body = make_body(world, &def);
        assert_true(lmi_lattice_is_plated(shape_of(world, body)));
        assert_true(n == 1 || shape_of(world, body)->slab_count > 1);
        randomise_state(world, body, &random, 0.03, 1.0);
        free(c.is);
    }
    for (int frame = 0; frame < frames; frame++) assert_ok(lm_world_step(world, FRAME));
    uint64_t hash = lm_world_hash(world);
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
    lm_world_destroy(world);
    return hash;
}

static void same_bits(void **state)
{
    (void)state;
    for (uint32_t width = 3; width <= 8; width += 5) {
        uint64_t expected = run(LM_ISA_BEST, 1, width, 3);
        assert_true(run(LM_ISA_BEST, 1, width, 2) != expected);
        const bool all = width == 3 || test_is_long(); /* else of the wide ones the narrowest lanes alone */
        for (uint32_t workers = 2; all && workers <= 3; workers++)
            assert_true(run(LM_ISA_BEST, workers, width, 3) == expected);
        for (int isa = LM_ISA_SCALAR; isa < (all ? LM_ISA_COUNT : LM_ISA_SCALAR + 1); isa++)
            if (lm_isa_supported((lm_isa)isa)) assert_true(run((lm_isa)isa, 2, width, 3) == expected);
    }
}

/* ---- what they take ---- */

/* Additions a region, for one sum. */
static double additions(const lmi_lattice *l)
{
    const lmi_lattice_plates *t = &l->plates;
    return ((double)t->pair_count + t->plate_count + t->floor_count) / l->particle_count;
}

/* Many hundred members need some thirty additions, and the bytes that go with them. */
static void wide_regions_cost_little(void **state)
{
    (void)state;
    random_state random = {7};
    lattice_cells c = shape_make(SHAPE_SHELL, 70, 60, 50, &random);
    double narrow = 0.0, wide = 0.0;
    for (uint32_t width = 1; width <= 8; width += 7) {
        lmi_memory memory;
        lmi_memory_init(&memory, &(lm_allocator){0});
        lmi_lattice l = lattice_by(&memory, &c, width, LMI_LATTICE_PLATES);
        *(width == 1 ? &narrow : &wide) = additions(&l);
        assert_true(width == 1 || (double)l.membership_count / l.region_count > 700.0);
        assert_at_most((double)memory.used / l.particle_count, 600.0);
        lmi_lattice_free(&memory, &l);
    }
    assert_at_most(narrow, 8.0);
    assert_at_most(wide, 40.0);
    free(c.is);
}

/* Bodies keep their sums along the axes, small ones their lists; where most regions are cut by gaps there are plates. */
static void the_quicker_scheme(void **state)
{
    (void)state;
    static const struct {
        cells_kind kind;
        uint32_t n[3], width;
        bool plated;
    } cases[] = {{CELLS_BOX, {40, 30, 30}, 1, false},
                 {CELLS_BOX, {40, 30, 30}, 8, false},
                 {CELLS_COMB, {5, 5, 5}, 8, false},
                 {CELLS_COMB, {40, 30, 30}, 4, true},
                 {CELLS_SHEET, {60, 60, 1}, 8, false}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        lmi_memory memory;
        lmi_memory_init(&memory, &(lm_allocator){0});
        lattice_cells c = lattice_cells_make(cases[n].kind, cases[n].n[0], cases[n].n[1], cases[n].n[2]);
        lmi_lattice l = lattice_by(&memory, &c, cases[n].width, LMI_LATTICE_QUICKEST);
        assert_int_equal(lmi_lattice_is_plated(&l), cases[n].plated);
        lmi_lattice_free(&memory, &l);
        free(c.is);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(schemes_agree),     cmocka_unit_test(fails_cleanly),
                                       cmocka_unit_test(alike_is_the_same), cmocka_unit_test(follows_reference),
                                       cmocka_unit_test(same_bits),         cmocka_unit_test(wide_regions_cost_little),
                                       cmocka_unit_test(the_quicker_scheme)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
