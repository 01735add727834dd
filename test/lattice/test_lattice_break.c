/*
 * Broken links: after random breaks on random lattices, what was rebuilt nearby is, array by array, what a lattice made with
 * these links broken from the start has; regions are those of a plain search; gather and scatter are direct sums over them.
 */
#include "fracture/fracture.h"
#include "lattice/lattice_body.h"
#include "lattice/lattice_break.h"
#include "lattice/lattice_regions.h"
#include "test/lattice/region_truth.h"
#include "test/support/support.h"
#include "world/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t lattices = 30;

static lmi_voxels random_cells(random_state *random, uint32_t shape)
{
    uint32_t n[3] = {4 + random_below(random, 18), 3 + random_below(random, 5), 2 + random_below(random, 5)};
    lmi_voxels v = {.spacing = 0.5, .n = {n[0], n[1], n[2]}, .row_words = 1};
    v.bits = calloc((size_t)n[1] * n[2], sizeof *v.bits);
    for (uint32_t k = 0; k < n[0] * n[1] * n[2]; k++) {
        uint32_t x = k % n[0], y = k / n[0] % n[1], z = k / n[0] / n[1];
        bool is = shape == 0 || (shape == 1 && random_below(random, 5)) || (shape == 2 && (y % 2 == 0 || x < 2)) ||
                  (shape == 3 && random_below(random, 2)) || (shape == 4 && z == 0) || (x == 0 && y == 0 && z == 0);
        v.bits[(size_t)z * n[1] + y] |= (uint64_t)is << x;
        v.cell_count += is;
    }
    return v;
}

/* ---- a plain search ---- */

static bool has_cell(const lmi_lattice *l, const int32_t at[3])
{
    uint32_t n = lmi_lattice_find(l, at[0], at[1], at[2]);
    return n != LMI_LATTICE_NONE && (l->cell[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1);
}

/* The corners of a cell that unbroken edges of it join with one of them, as bits; links are looked up one by one. */
static uint32_t joined_corners(const lmi_lattice *l, const int32_t cell[3], uint32_t corner)
{
    uint32_t reached = 1u << corner;
    for (int round = 0; round < 8; round++)
        for (uint32_t c = 0; c < 8; c++)
            for (uint32_t a = 0; a < 3; a++) {
                if (c >> a & 1) continue;
                uint32_t low = lmi_lattice_find(l, cell[0] + (int32_t)(c & 1), cell[1] + (int32_t)(c >> 1 & 1),
                                                cell[2] + (int32_t)(c >> 2));
                uint32_t both = 1u << c | 1u << (c | 1u << a);
                if ((reached & both) && lmi_lattice_holds(l, (lmi_lattice_link){low, a})) reached |= both;
            }
    return reached;
}

static bool has_broken_edge(const lmi_lattice *l, const int32_t cell[3])
{
    bool broken = false;
    for (uint32_t c = 0; c < 8; c++)
        for (uint32_t a = 0; a < 3; a++)
            broken =
                broken || (!(c >> a & 1) &&
                           !lmi_lattice_holds(l, (lmi_lattice_link){lmi_lattice_find(l, cell[0] + (int32_t)(c & 1),
                                                                                     cell[1] + (int32_t)(c >> 1 & 1),
                                                                                     cell[2] + (int32_t)(c >> 2)),
                                                                    a}));
    return broken;
}

/* Corners of a cell are neighbours when unbroken edges of it join them. Particles have their places for names. */
static region_truth truth_of(const lmi_lattice *l)
{
    region_truth t = region_truth_make(l->block_count * LMI_BLOCK);
    for (uint32_t n = 0; n < t.count; n++)
        memcpy(t.at[n], l->at[0], sizeof *t.at); /* of empty lanes, linked to nobody */
    LMI_LATTICE_EACH(l, n)
    {
        lmi_lattice_corner(l, n, t.at[n]);
        for (uint32_t c = 0; c < 8; c++) { /* as corner c of a cell */
            int32_t cell[3] = {t.at[n][0] - (int32_t)(c & 1), t.at[n][1] - (int32_t)(c >> 1 & 1),
                               t.at[n][2] - (int32_t)(c >> 2)};
            uint32_t reached = has_cell(l, cell) ? joined_corners(l, cell, c) : 0;
            for (uint32_t k = 0; k < 8; k++)
                if (reached >> k & 1)
                    region_truth_link(&t, n,
                                      lmi_lattice_find(l, cell[0] + (int32_t)(k & 1), cell[1] + (int32_t)(k >> 1 & 1),
                                                       cell[2] + (int32_t)(k >> 2)));
            if (reached && c == 0 && has_broken_edge(l, cell)) region_truth_tear(&t, cell);
        }
    }
    region_truth_bound(&t);
    return t;
}

/* ---- comparing ---- */

static void same_lists(const lmi_lattice *l, const lmi_lattice_lists *a, const lmi_lattice_lists *b)
{
    assert_int_equal(a->owner_count, b->owner_count);
    assert_int_equal(a->group_count, b->group_count);
    assert_int_equal(a->row_count, b->row_count);
    assert_memory_equal(a->owner, b->owner, a->owner_count * sizeof *a->owner);
    assert_memory_equal(a->plane_owner, b->plane_owner, (l->plane_count + 1) * sizeof *a->plane_owner);
    assert_memory_equal(a->plane_group, b->plane_group, (l->plane_count + 1) * sizeof *a->plane_group);
    assert_memory_equal(a->group_row, b->group_row, (a->group_count + 1) * sizeof *a->group_row);
    assert_memory_equal(a->who, b->who, a->group_count * LMI_BLOCK * sizeof *a->who);
    assert_memory_equal(a->member, b->member, a->row_count * LMI_BLOCK * sizeof *a->member);
    assert_memory_equal(a->offset, b->offset, a->row_count * 4 * LMI_BLOCK * sizeof *a->offset);
}

static void same_lattice(const lmi_lattice *a, const lmi_lattice *b)
{
    size_t blocks = (size_t)a->block_count + 1;
    for (int axis = 0; axis < 3; axis++)
        assert_memory_equal(a->bond[axis], b->bond[axis], blocks * sizeof *a->bond[axis]);
    assert_memory_equal(a->whole, b->whole, blocks * sizeof *a->whole);
    assert_memory_equal(a->active, b->active, blocks * sizeof *a->active);
    assert_memory_equal(a->degree, b->degree, blocks * LMI_BLOCK * sizeof *a->degree);
    assert_int_equal(a->region_count, b->region_count);
    assert_int_equal(a->membership_count, b->membership_count);
    assert_int_equal(a->irregular_regions, b->irregular_regions);
    assert_int_equal(a->irregular_count, b->irregular_count);
    same_lists(a, &a->gather, &b->gather);
    same_lists(a, &a->scatter, &b->scatter);
    assert_memory_equal(a->direct, b->direct, a->irregular_count);
    assert_memory_equal(a->listed, b->listed, a->scatter.owner_count);
    assert_int_equal(a->part_count, b->part_count);
    assert_int_equal(a->part == NULL, b->part == NULL);
    if (a->part) {
        assert_memory_equal(a->part, b->part, blocks * LMI_BLOCK * sizeof *a->part);
        assert_memory_equal(a->part_of_block, b->part_of_block, blocks * sizeof *a->part_of_block);
    }
    assert_int_equal(a->channels, b->channels);
    size_t size = (size_t)a->channels * LMI_BLOCK;
    for (size_t n = 0; n < blocks; n++)
        assert_memory_equal(a->constants + a->constants_of[n] * size, b->constants + b->constants_of[n] * size,
                            size * sizeof(float));
}

/* Weights as a body has them, with masses that differ from particle to particle. */
static double *weights_of(const lmi_lattice *l)
{
    double *weights = calloc((size_t)(l->block_count + 1) * LMI_BLOCK, sizeof *weights);
    LMI_LATTICE_EACH(l, n) { weights[n] = (double)(float)((1.0 + 0.25 * (n % 5)) / l->degree[n]); }
    return weights;
}

/* ---- sums ---- */

static float *floats(size_t count)
{
    size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
    float *p = aligned_alloc(64, bytes);
    memset(p, 0, bytes);
    return p;
}

static double gather_error(const lmi_lattice *l, const uint32_t *members, uint32_t count, uint32_t region,
                           const float *values, const float *moments)
{
    double sum[12] = {0}, size[12] = {0}, worst = 0.0;
    int32_t from[3], at[3];
    lmi_lattice_corner(l, region, from);
    for (uint32_t k = 0; k < count; k++) {
        const float *v = values + 4 * (size_t)members[k];
        lmi_lattice_corner(l, members[k], at);
        const double by[4] = {1.0, at[2] - from[2], at[1] - from[1], at[0] - from[0]};
        for (int i = 0; i < 12; i++) {
            sum[i] += by[i / 3] * v[i % 3] * v[3];
            size[i] += fabs(by[i / 3] * v[i % 3] * v[3]);
        }
    }
    for (size_t i = 0; i < 12; i++) {
        double got = moments[(region / 16 * 12 + i) * 16 + region % 16];
        worst = fmax(worst, fabs(got - sum[i]) / fmax(size[i], 1e-3));
    }
    return worst;
}

/* Adds what a region gives to its members, and how large the terms are. */
static void scatter_plainly(const lmi_lattice *l, const uint32_t *members, uint32_t count, uint32_t region,
                            const float *transforms, double *sums)
{
    int32_t from[3], at[3];
    lmi_lattice_corner(l, region, from);
    for (uint32_t k = 0; k < count; k++) {
        lmi_lattice_corner(l, members[k], at);
        for (uint32_t i = 0; i < 12; i++) {
            double term = transforms[(region / 16 * 12 + i) * 16 + region % 16] *
                          (i < 3 ? 1.0 : (double)(at[i / 3 - 1] - from[i / 3 - 1]));
            sums[members[k] * 6 + i % 3] += term;
            sums[members[k] * 6 + 3 + i % 3] += fabs(term);
        }
    }
}

/* Regions against the search, and both sums against direct ones. */
static void check_regions(const lmi_lattice *l, random_state *random)
{
    size_t blocks = (size_t)l->block_count + 1, places = blocks * LMI_BLOCK;
    float *values = floats(blocks * 64), *moments = floats(blocks * 192), *transforms = floats(blocks * 192);
    float *sums = floats(blocks * 48), *scratch = floats(lmi_lattice_scratch(l));
    double *plain = calloc(places * 6, sizeof *plain);
    region_truth truth = truth_of(l);
    uint32_t *members = calloc(places, sizeof *members), *mine = calloc(places, sizeof *mine);
    LMI_LATTICE_EACH(l, n)
    {
        for (int i = 0; i < 4; i++) values[4 * n + (uint32_t)i] = (float)random_range(random, i < 3 ? -1.0 : 0.1, 2.0);
        for (size_t i = 0; (l->active[n / 16] >> (n % 16) & 1) && i < 12; i++)
            transforms[(n / 16 * 12 + i) * 16 + n % 16] = (float)random_range(random, -1.0, 1.0);
    }
    const lmi_kernels *kernels = lmi_kernels_get(LM_ISA_SCALAR);
    kernels->lattice.gather(l, values, scratch, moments);
    kernels->lattice.scatter(l, transforms, scratch, sums);
    LMI_LATTICE_EACH(l, n)
    {
        uint32_t count = region_truth_find(&truth, n, l->width, members);
        assert_int_equal(count, lmi_lattice_region(l, n, mine));
        assert_memory_equal(members, mine, count * sizeof *mine);
        assert_at_most(gather_error(l, members, count, n, values, moments), 1e-5);
        scatter_plainly(l, members, count, n, transforms, plain);
    }
    LMI_LATTICE_EACH(l, n)
    {
        for (uint32_t i = 0; i < 3; i++) {
            double got = sums[(size_t)(n / 16) * 48 + i * 16 + n % 16];
            assert_at_most(fabs(got - plain[n * 6 + i]) / fmax(plain[n * 6 + 3 + i], 1e-3), 1e-5);
        }
    }
    free(values), free(moments), free(transforms), free(sums), free(scratch);
    free(plain), free(members), free(mine);
    region_truth_free(&truth);
}

/* ---- the tests ---- */

/* Every link that holds, in a random order. */
static uint32_t all_links(const lmi_lattice *l, random_state *random, lmi_lattice_link *links)
{
    uint32_t count = 0;
    LMI_LATTICE_EACH(l, n)
    {
        for (uint32_t axis = 0; axis < 3; axis++)
            if (lmi_lattice_holds(l, (lmi_lattice_link){n, axis})) links[count++] = (lmi_lattice_link){n, axis};
    }
    for (uint32_t n = count; n > 1; n--) {
        uint32_t k = random_below(random, n);
        lmi_lattice_link swap = links[n - 1];
        links[n - 1] = links[k], links[k] = swap;
    }
    return count;
}

static void break_some(lmi_memory *memory, lmi_lattice *l, const lmi_lattice_link *links, uint32_t count)
{
    lmi_lattice next;
    lmi_lattice_change change;
    assert_ok(lmi_lattice_break(memory, l, links, count, &next, &change));
    double *weights = weights_of(&next);
    assert_true(lmi_lattice_weigh_some(memory, &next, weights, NULL, &change));
    free(weights);
    lmi_lattice_change_free(memory, &change);
    lmi_lattice_keep(memory, l, &next);
}

static void check_breaks(const lmi_voxels *v, uint32_t width, random_state *random)
{
    static const uint32_t portions[] = {1, 1, 3, 20, 200, 2000};
    lmi_memory memory;
    lmi_lattice l;
    lmi_lattice_wants wants = {random_below(random, 2), random_below(random, 2)};
    lmi_memory_init(&memory, &(lm_allocator){0});
    assert_ok(lmi_lattice_make(&memory, v, width, LMI_LATTICE_QUICKEST, &(lmi_lattice_breaks){0}, &l));
    double *weights = weights_of(&l);
    assert_true(lmi_lattice_weigh(&memory, &l, weights, NULL, wants));
    free(weights);
    lmi_lattice_link *links = calloc((size_t)l.block_count * LMI_BLOCK * 3, sizeof *links);
    uint32_t total = all_links(&l, random, links), broken = 0;
    for (size_t n = 0; n < sizeof portions / sizeof *portions && broken < total; n++) {
        uint32_t count = portions[n] < total - broken ? portions[n] : total - broken;
        break_some(&memory, &l, links + broken, count);
        broken += count;
        lmi_lattice fresh;
        assert_ok(lmi_lattice_make(&memory, v, width, LMI_LATTICE_LISTS, &(lmi_lattice_breaks){links, broken}, &fresh));
        weights = weights_of(&fresh);
        assert_true(lmi_lattice_weigh(&memory, &fresh, weights, NULL, wants));
        free(weights);
        same_lattice(&l, &fresh);
        if (n % 3 == 2) check_regions(&l, random);
        lmi_lattice_free(&memory, &fresh);
    }
    free(links);
    lmi_lattice_free(&memory, &l);
    assert_int_equal(memory.used, 0);
}

static void local_is_from_scratch(void **state)
{
    (void)state;
    random_state random = {11};
    for (uint32_t n = 0; n < lattices; n++) {
        lmi_voxels v = random_cells(&random, n % 5);
        check_breaks(&v, 1 + random_below(&random, n % 10 ? 3 : 8), &random);
        free(v.bits);
    }
}

/* Whether all corners of a cell have one chip, and all its links hold. */
static bool is_of_chip(const lmi_lattice *l, const uint32_t *chips, uint32_t cell)
{
    int32_t at[3];
    lmi_lattice_corner(l, cell, at);
    bool all = l->whole[cell / LMI_BLOCK] >> (cell % LMI_BLOCK) & 1;
    for (int32_t k = 0; k < 8; k++)
        all = all && chips[lmi_lattice_find(l, at[0] + (k & 1), at[1] + (k >> 1 & 1), at[2] + (k >> 2))] == cell;
    return all;
}

/* With every link between chips broken, each chip is a part, and has a whole cell. */
static void chips_hold_together(void **state)
{
    (void)state;
    random_state random = {5};
    for (uint32_t n = 0; n < 40; n++) {
        lmi_voxels v = random_cells(&random, n % 5);
        lmi_memory memory;
        lmi_lattice l;
        lmi_memory_init(&memory, &(lm_allocator){0});
        assert_ok(lmi_lattice_make(&memory, &v, 1, LMI_LATTICE_QUICKEST, &(lmi_lattice_breaks){0}, &l));
        size_t places = (size_t)(l.block_count + 1) * LMI_BLOCK;
        lmi_lattice_link *links = calloc(places * 3, sizeof *links);
        uint32_t *chips = calloc(places, sizeof *chips), count = 0, distinct = 0;
        lmi_lattice_find_chips(&l, chips);
        uint32_t total = all_links(&l, &random, links);
        for (uint32_t k = 0; k < total; k++)
            if (chips[links[k].particle] != chips[lmi_lattice_link_end(&l, links[k])]) links[count++] = links[k];
        double *weights = weights_of(&l);
        assert_true(lmi_lattice_weigh(&memory, &l, weights, NULL, (lmi_lattice_wants){0}));
        free(weights);
        if (count) break_some(&memory, &l, links, count);
        LMI_LATTICE_EACH(&l, p)
        {
            assert_true(chips[p] != LMI_LATTICE_NONE && is_of_chip(&l, chips, chips[p]));
            distinct += chips[p] == p;
            if (l.part) assert_int_equal(l.part[p], l.part[chips[p]]);
        }
        assert_int_equal(l.part_count, distinct);
        free(links), free(chips), free(v.bits);
        lmi_lattice_free(&memory, &l);
        assert_int_equal(memory.used, 0);
    }
}

/* The number of lattices may be given. */
int main(int argc, char **argv)
{
    if (argc > 1) lattices = (uint32_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(local_is_from_scratch), cmocka_unit_test(chips_hold_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
