/*
 * Regions of lattices against their definition, pair by pair (region_truth.h), and gather and scatter against direct sums
 * over them.
 */
#include "lattice/lattice.h"
#include "lattice/lattice_body.h"
#include "test/lattice/region_truth.h"
#include "test/support/support.h"
#include "world/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t small_count = 400;

/* ---- shapes ---- */

static lmi_voxels cells_make(uint32_t x, uint32_t y, uint32_t z)
{
    lmi_voxels v = {.spacing = 0.5, .n = {x, y, z}, .row_words = (x + 63) / 64};
    v.bits = calloc((size_t)v.row_words * y * z, sizeof *v.bits);
    return v;
}

static void cell_set(lmi_voxels *v, uint32_t x, uint32_t y, uint32_t z, bool on)
{
    uint64_t *word = &v->bits[((size_t)z * v->n[1] + y) * v->row_words + x / 64], bit = (uint64_t)1 << (x % 64);
    bool is = (*word & bit) != 0;
    *word = on ? *word | bit : *word & ~bit;
    v->cell_count += (uint64_t)on - is;
}

enum {
    SHAPE_BOX,
    SHAPE_HOLES,
    SHAPE_COMB,
    SHAPE_SPIRAL,
    SHAPE_SHEET,
    SHAPE_SHELL,
    SHAPE_DUST,
    SHAPE_SLITS,
    SHAPE_TUNNELS, /* a box with holes right through it, along each axis */
    SHAPE_WINDING, /* a true spiral, one cell wide, with gaps of one cell */
    SHAPE_LINES,   /* parts that are single lines of cells */
    SHAPE_PARTS,   /* parts that touch at edges and corners only, or not at all */
    SHAPE_HELIX,   /* turns one cell apart around a free middle */
    SHAPE_COUNT
};

/* Whether (x, y) is on a spiral that winds inwards from the corner of an n x m field, leaving every second turn free. */
static bool on_spiral(uint32_t n, uint32_t m, uint32_t x, uint32_t y)
{
    int32_t low[2] = {0, 0}, high[2] = {(int32_t)n - 1, (int32_t)m - 1}, at[2] = {0, 0},
            to[2] = {(int32_t)x, (int32_t)y};
    for (int side = 0; low[0] <= high[0] && low[1] <= high[1]; side = (side + 1) % 4) {
        int axis = side % 2, end = side < 2 ? high[axis] : low[axis], from = at[axis];
        int32_t least = from < end ? from : end, most = from < end ? end : from;
        if (to[1 - axis] == at[1 - axis] && to[axis] >= least && to[axis] <= most) return true;
        at[axis] = end;
        if (side == 0) low[1] += 2; /* the next turns stay clear of this one */
        if (side == 1) high[0] -= 2;
        if (side == 2) high[1] -= 2;
        if (side == 3) low[0] += 2;
    }
    return false;
}

/* A band along x, two cells to a quarter of a turn. */
static bool on_helix(const uint32_t n[3], const uint32_t at[3])
{
    bool right = 2 * at[1] >= n[1], upper = 2 * at[2] >= n[2];
    uint32_t quarter = right ? (upper ? 2u : 1u) : (upper ? 3u : 0u);
    bool outside = at[1] == 0 || at[2] == 0 || at[1] + 1 == n[1] || at[2] + 1 == n[2];
    return outside && (at[0] + 8 - quarter) % 4 < 2;
}

static bool shape_has(int shape, const uint32_t n[3], const uint32_t at[3], random_state *random)
{
    uint32_t x = at[0], y = at[1], z = at[2];
    double r = 0.0;
    for (int a = 0; a < 3; a++) {
        double d = 2.0 * (at[a] + 0.5) / n[a] - 1.0;
        r += d * d;
    }
    switch (shape) {
    case SHAPE_HOLES: return random_below(random, 5) != 0;
    case SHAPE_COMB: return y % 2 == 0 || x < 3;
    case SHAPE_SPIRAL: { /* rings with a gap of one cell between them, joined at one place each */
        uint32_t ring = x < n[0] - 1 - x ? x : n[0] - 1 - x, other = y < n[1] - 1 - y ? y : n[1] - 1 - y;
        ring = ring < other ? ring : other;
        return ring % 2 == 0 || (x == ring && y == n[1] / 2);
    }
    case SHAPE_SHEET: return z == (x / 3) % n[2];
    case SHAPE_SHELL: return r <= 1.0 && r > 0.55;
    case SHAPE_DUST: return random_below(random, 3) == 0;
    case SHAPE_SLITS: return !(x % 7 == 3 && z > 1);
    case SHAPE_TUNNELS:
        return !((y % 4 == 2 && z % 4 == 2) || (x % 5 == 2 && z % 5 == 3) || (x % 6 == 4 && y % 4 == 1));
    case SHAPE_WINDING: return on_spiral(n[0], n[1], x, y);
    case SHAPE_LINES: return (y % 3 == 0 && z % 3 == 0) || (x % 4 == 0 && y % 3 == 2 && z % 3 == 2);
    case SHAPE_HELIX: return on_helix(n, at);
    case SHAPE_PARTS: return (x / 3 + y / 2 + z / 2) % 2 == 0;
    default: return true;
    }
}

static lmi_voxels shape_make(int shape, uint32_t x, uint32_t y, uint32_t z, random_state *random)
{
    lmi_voxels v = cells_make(x, y, z);
    for (uint32_t k = 0; k < z; k++)
        for (uint32_t j = 0; j < y; j++)
            for (uint32_t i = 0; i < x; i++)
                if (shape_has(shape, v.n, (uint32_t[3]){i, j, k}, random)) cell_set(&v, i, j, k, true);
    if (v.cell_count == 0) cell_set(&v, 0, 0, 0, true);
    return v;
}

/* ---- the plain lattice: corners in a full box, in the cells' own axes ---- */

typedef struct plain {
    uint32_t n[3];      /* corners */
    uint32_t *particle; /* of each corner of the box; LMI_LATTICE_NONE: none */
    uint32_t *corner;   /* of each particle */
    uint32_t count;
    const lmi_voxels *cells;
} plain;

static plain plain_make(const lmi_voxels *v)
{
    plain p = {.n = {v->n[0] + 1, v->n[1] + 1, v->n[2] + 1}, .cells = v};
    uint32_t box = p.n[0] * p.n[1] * p.n[2];
    p.particle = malloc(box * sizeof *p.particle);
    p.corner = malloc(box * sizeof *p.corner);
    for (uint32_t c = 0; c < box; c++) {
        int64_t x = c % p.n[0], y = c / p.n[0] % p.n[1], z = c / p.n[0] / p.n[1];
        bool any = false;
        for (int k = 0; k < 8; k++) any = any || lmi_voxels_cell(v, x - (k & 1), y - (k >> 1 & 1), z - (k >> 2));
        p.particle[c] = any ? p.count : LMI_LATTICE_NONE;
        if (any) p.corner[p.count++] = c;
    }
    return p;
}

static void plain_free(plain *p)
{
    free(p->particle);
    free(p->corner);
}

/* Neighbours share an occupied cell. */
static region_truth plain_truth(const plain *p)
{
    region_truth t = region_truth_make(p->count);
    for (uint32_t n = 0; n < p->count; n++) {
        uint32_t c = p->corner[n];
        int64_t x = c % p->n[0], y = c / p->n[0] % p->n[1], z = c / p->n[0] / p->n[1];
        t.at[n][0] = (int32_t)x, t.at[n][1] = (int32_t)y, t.at[n][2] = (int32_t)z;
        for (int k = 0; k < 8; k++) {
            int64_t cx = x - (k & 1), cy = y - (k >> 1 & 1), cz = z - (k >> 2);
            if (!lmi_voxels_cell(p->cells, cx, cy, cz)) continue;
            for (int e = 0; e < 8; e++) {
                uint32_t at = (uint32_t)(((cz + (e >> 2)) * p->n[1] + cy + (e >> 1 & 1)) * p->n[0] + cx + (e & 1));
                region_truth_link(&t, n, p->particle[at]);
            }
        }
    }
    region_truth_bound(&t);
    return t;
}

/* The lattice's name of a plain particle, and its corner along the lattice's axes. */
static uint32_t name_of(const plain *p, const lmi_lattice *l, uint32_t n, int32_t at[3])
{
    uint32_t c = p->corner[n];
    int32_t corner[3] = {(int32_t)(c % p->n[0]), (int32_t)(c / p->n[0] % p->n[1]), (int32_t)(c / p->n[0] / p->n[1])};
    for (uint32_t a = 0; a < 3; a++) at[a] = corner[(a + l->turn) % 3];
    return lmi_lattice_find(l, at[0], at[1], at[2]);
}

/* ---- comparison ---- */

typedef struct lists {
    uint32_t *offsets, *members; /* plain names */
    bool *active;
} lists;

static lists find_lists(const plain *p, uint32_t width)
{
    uint32_t capacity = 1 << 16, used = 0;
    lists s = {malloc((p->count + 1) * sizeof *s.offsets), malloc(capacity * sizeof *s.members),
               calloc(p->count, sizeof *s.active)};
    uint32_t *members = malloc(p->count * sizeof *members);
    region_truth truth = plain_truth(p);
    s.offsets[0] = 0;
    for (uint32_t n = 0; n < p->count; n++) {
        uint32_t count = region_truth_find(&truth, n, width, members);
        while (used + count > capacity) s.members = realloc(s.members, (capacity *= 2) * sizeof *s.members);
        memcpy(s.members + used, members, count * sizeof *members);
        used += count;
        s.offsets[n + 1] = used;
    }
    free(members);
    region_truth_free(&truth);
    return s;
}

static void lists_free(lists *s)
{
    free(s->offsets);
    free(s->members);
    free(s->active);
}

/* The members that the lattice tells of, against the definition; and who is in whose region has the other in his. */
static void check_members(const plain *p, const lmi_lattice *l, const lists *s)
{
    uint32_t side = 2 * l->width + 1, *told = malloc(side * side * side * sizeof *told);
    bool *is = calloc((size_t)(l->block_count + 1) * LMI_BLOCK, sizeof *is);
    for (uint32_t n = 0; n < p->count; n++) {
        int32_t at[3];
        uint32_t count = lmi_lattice_region(l, name_of(p, l, n, at), told);
        assert_int_equal(count, s->offsets[n + 1] - s->offsets[n]);
        for (uint32_t k = 0; k < count; k++) is[told[k]] = true;
        for (uint32_t k = s->offsets[n]; k < s->offsets[n + 1]; k++) {
            uint32_t other = s->members[k], back = s->offsets[other];
            assert_true(is[name_of(p, l, other, at)]);
            while (back < s->offsets[other + 1] && s->members[back] != n) back++;
            assert_true(back < s->offsets[other + 1]);
        }
        for (uint32_t k = 0; k < count; k++) is[told[k]] = false;
    }
    free(told);
    free(is);
}

/* Every set of members once: which regions are left is the lattice's choice, that there is one of each is not. */
static void check_repetitions(const plain *p, const lmi_lattice *l, lists *s)
{
    uint32_t active = 0;
    for (uint32_t n = 0; n < p->count; n++) {
        int32_t at[3];
        uint32_t name = name_of(p, l, n, at);
        s->active[n] = l->active[name / LMI_BLOCK] >> (name % LMI_BLOCK) & 1;
        active += s->active[n];
    }
    assert_int_equal(active, l->region_count);
    for (uint32_t n = 0; n < p->count; n++) {
        uint32_t length = s->offsets[n + 1] - s->offsets[n], same = 0;
        const uint32_t *mine = s->members + s->offsets[n];
        for (uint32_t k = 0; k < length; k++) { /* a region with these members has its middle among them */
            uint32_t m = mine[k];
            bool equal = s->offsets[m + 1] - s->offsets[m] == length &&
                         memcmp(s->members + s->offsets[m], mine, length * sizeof *mine) == 0;
            same += equal && s->active[m];
        }
        assert_int_equal(same, 1);
    }
}

static void check_degrees(const plain *p, const lmi_lattice *l, const lists *s)
{
    uint32_t *degree = calloc(p->count, sizeof *degree);
    for (uint32_t n = 0; n < p->count; n++)
        for (uint32_t k = s->offsets[n]; s->active[n] && k < s->offsets[n + 1]; k++) degree[s->members[k]]++;
    for (uint32_t n = 0; n < p->count; n++) {
        int32_t at[3];
        assert_int_equal(degree[n], l->degree[name_of(p, l, n, at)]);
    }
    free(degree);
}

typedef struct arrays {
    float *values, *moments, *transforms, *sums, *scratch;
} arrays;

static float *floats(size_t count)
{
    size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
    float *p = aligned_alloc(64, bytes);
    memset(p, 0, bytes);
    return p;
}

static arrays arrays_make(const lmi_lattice *l, random_state *random)
{
    size_t blocks = (size_t)l->block_count + 1;
    arrays a = {floats(blocks * 64), floats(blocks * 192), floats(blocks * 192), floats(blocks * 48),
                floats(lmi_lattice_scratch(l))};
    for (size_t n = 0; n < l->block_count * 16u; n++) {
        bool is = l->occupied[n / 16] >> (n % 16) & 1, active = l->active[n / 16] >> (n % 16) & 1;
        for (int i = 0; is && i < 3; i++) a.values[4 * n + (size_t)i] = (float)random_range(random, -1.0, 1.0);
        a.values[4 * n + 3] = is ? (float)random_range(random, 0.1, 2.0) : 0.0f;
        for (size_t i = 0; active && i < 12; i++)
            a.transforms[(n / 16 * 12 + i) * 16 + n % 16] = (float)random_range(random, -1.0, 1.0);
    }
    return a;
}

static void arrays_free(arrays *a)
{
    free(a->values);
    free(a->moments);
    free(a->transforms);
    free(a->sums);
    free(a->scratch);
}

/* The largest error, relative to the sum of the terms' magnitudes. */
static double gather_error(const plain *p, const lmi_lattice *l, const lists *s, const arrays *a)
{
    double worst = 0.0;
    for (uint32_t r = 0; r < p->count; r++) {
        int32_t from[3], at[3];
        uint32_t region = name_of(p, l, r, from);
        double sum[12] = {0}, size[12] = {0};
        for (uint32_t k = s->offsets[r]; k < s->offsets[r + 1]; k++) {
            const float *v = a->values + 4 * (size_t)name_of(p, l, s->members[k], at);
            for (int i = 0; i < 3; i++) {
                double term = (double)v[i] * v[3];
                double by[4] = {1.0, at[2] - from[2], at[1] - from[1], at[0] - from[0]};
                for (int c = 0; c < 4; c++) {
                    sum[3 * c + i] += by[c] * term;
                    size[3 * c + i] += fabs(by[c] * term);
                }
            }
        }
        for (size_t i = 0; i < 12; i++) {
            double got = a->moments[(region / 16 * 12 + i) * 16 + region % 16];
            worst = fmax(worst, fabs(got - sum[i]) / fmax(size[i], 1e-3));
        }
    }
    return worst;
}

/* Plates take T about the middle of a tile and not about the region's own particle: of a T whose lever arm is nothing they keep
 * the rounding of one spacing. That shows in lattices of a few particles only, which the library never gives plates. */
#define FEW_PARTICLES 256

static double scatter_error(const plain *p, const lmi_lattice *l, const lists *s, const arrays *a)
{
    const double least = lmi_lattice_is_plated(l) && p->count <= FEW_PARTICLES ? 1.0 : 0.0;
    double worst = 0.0, *sum = calloc((size_t)p->count * 3, sizeof *sum), *size = calloc((size_t)p->count * 3, 8);
    for (uint32_t r = 0; r < p->count; r++) {
        int32_t from[3], at[3];
        uint32_t region = name_of(p, l, r, from);
        const float *t = a->transforms + (size_t)(region / 16) * 192 + region % 16;
        for (uint32_t k = s->offsets[r]; s->active[r] && k < s->offsets[r + 1]; k++) {
            name_of(p, l, s->members[k], at);
            for (uint32_t i = 0; i < 3; i++) {
                for (uint32_t c = 0; c < 4; c++) {
                    double value = t[(3 * c + i) * 16], arm = c ? at[c - 1] - from[c - 1] : 1;
                    sum[s->members[k] * 3 + i] += value * arm;
                    size[s->members[k] * 3 + i] += fabs(value) * fmax(fabs(arm), least);
                }
            }
        }
    }
    for (uint32_t n = 0; n < p->count; n++) {
        int32_t at[3];
        uint32_t name = name_of(p, l, n, at);
        for (uint32_t i = 0; i < 3; i++) {
            double got = a->sums[(size_t)(name / 16) * 48 + i * 16 + name % 16];
            worst = fmax(worst, fabs(got - sum[n * 3 + i]) / fmax(size[n * 3 + i], 1e-3));
        }
    }
    free(sum);
    free(size);
    return worst;
}

/* Both sums on every instruction set: right, and the same bits. */
static void check_sums(const plain *p, const lmi_lattice *l, const lists *s, random_state *random, int shape)
{
    arrays a = arrays_make(l, random);
    size_t blocks = l->block_count;
    float *moments = NULL, *sums = NULL;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        const lmi_kernels *kernels = lm_isa_supported((lm_isa)isa) ? lmi_kernels_get((lm_isa)isa) : NULL;
        if (!kernels) continue;
        kernels->lattice.gather(l, a.values, a.scratch, a.moments);
        kernels->lattice.scatter(l, a.transforms, a.scratch, a.sums);
        if (!moments) {
            moments = floats(blocks * 192), sums = floats(blocks * 48);
            memcpy(moments, a.moments, blocks * 192 * sizeof(float));
            memcpy(sums, a.sums, blocks * 48 * sizeof(float));
            double gather = gather_error(p, l, s, &a), scatter = scatter_error(p, l, s, &a);
            if (!(gather <= 1e-5 && scatter <= 1e-5)) {
                print_message("shape %d, width %u, %u x %u x %u: gather %.2g, scatter %.2g\n", shape, l->width,
                              l->size[0], l->size[1], l->size[2], gather, scatter);
            }
            assert_at_most(gather, 1e-5);
            assert_at_most(scatter, 1e-5);
        }
        assert_memory_equal(moments, a.moments, blocks * 192 * sizeof(float));
        assert_memory_equal(sums, a.sums, blocks * 48 * sizeof(float));
    }
    free(moments);
    free(sums);
    arrays_free(&a);
}

static void check_lattice(lmi_voxels *v, uint32_t width, random_state *random, int shape, uint32_t *irregular)
{
    plain p = plain_make(v);
    lists s = find_lists(&p, width);
    for (int scheme = LMI_LATTICE_LISTS; scheme <= LMI_LATTICE_PLATES; scheme++) {
        lmi_memory memory;
        lmi_lattice l;
        lmi_memory_init(&memory, &(lm_allocator){0});
        assert_ok(lmi_lattice_make(&memory, v, width, (lmi_lattice_scheme)scheme, NULL, &l));
        assert_int_equal(lmi_lattice_is_plated(&l), scheme == LMI_LATTICE_PLATES);
        assert_int_equal(p.count, l.particle_count);
        check_members(&p, &l, &s);
        check_repetitions(&p, &l, &s);
        check_degrees(&p, &l, &s);
        check_sums(&p, &l, &s, random, shape);
        *irregular += l.irregular_regions;
        lmi_lattice_free(&memory, &l);
        assert_int_equal(memory.used, 0);
    }
    lists_free(&s);
    plain_free(&p);
}

static void shapes_and_widths(void **state)
{
    (void)state;
    random_state random = {1};
    uint32_t irregular[SHAPE_COUNT] = {0};
    for (int shape = 0; shape < SHAPE_COUNT; shape++) {
        for (uint32_t width = 1; width <= LMI_LATTICE_MAX_WIDTH; width++) {
            if (width > 4 && width < LMI_LATTICE_MAX_WIDTH && !test_is_long()) continue;
            uint32_t most = width < 3 ? 16 : 8; /* the definition takes its time */
            uint32_t x = 9 + random_below(&random, most), y = 5 + random_below(&random, most / 3);
            uint32_t z = 3 + random_below(&random, most / 3);
            lmi_voxels v = shape_make(shape, x, y, z, &random);
            check_lattice(&v, width, &random, shape, &irregular[shape]);
            free(v.bits);
        }
    }
    /* The shapes are what they are meant to be. */
    assert_int_equal(irregular[SHAPE_BOX], 0);
    static const int gaps[] = {SHAPE_COMB,    SHAPE_SPIRAL, SHAPE_DUST, SHAPE_SLITS,
                               SHAPE_WINDING, SHAPE_LINES,  SHAPE_HELIX};
    for (size_t n = 0; n < sizeof gaps / sizeof *gaps; n++) assert_true(irregular[gaps[n]] > 0);
}

/* Lines and single cells along every axis, and rows so long that they take another path. */
static void thin_and_long(void **state)
{
    (void)state;
    random_state random = {3};
    uint32_t irregular = 0;
    for (uint32_t width = 1; width <= LMI_LATTICE_MAX_WIDTH; width++) {
        static const uint32_t sizes[][3] = {{1, 1, 1},   {40, 1, 1}, {1, 40, 1},  {1, 1, 40},  {17, 16, 1},
                                            {1, 17, 15}, {20, 1, 9}, {300, 2, 1}, {1, 300, 2}, {2, 1, 300}};
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
            for (int shape = SHAPE_BOX; shape <= SHAPE_HOLES; shape++) {
                lmi_voxels v = shape_make(shape, sizes[n][0], sizes[n][1], sizes[n][2], &random);
                check_lattice(&v, width, &random, shape, &irregular);
                free(v.bits);
            }
    }
    assert_true(irregular > 0);
}

/* Two fingers one cell apart, joined at one end: whatever the width, nobody beyond its reach from there has anybody of the
 * other finger in his region. */
static void fingers_stay_separate(void **state)
{
    (void)state;
    enum { LENGTH = 30, BACK = 2, THICK = 2 };
    for (uint32_t width = 1; width <= LMI_LATTICE_MAX_WIDTH; width++)
        for (int turned = 0; turned < 3; turned++) {
            uint32_t n[3] = {LENGTH, 2 * THICK + 1, THICK}, turn[3];
            for (int a = 0; a < 3; a++) turn[(a + turned) % 3] = n[a];
            lmi_voxels v = cells_make(turn[0], turn[1], turn[2]);
            for (uint32_t k = 0; k < n[0] * n[1] * n[2]; k++) {
                uint32_t at[3] = {k % n[0], k / n[0] % n[1], k / n[0] / n[1]}, to[3];
                for (int a = 0; a < 3; a++) to[(a + turned) % 3] = at[a];
                cell_set(&v, to[0], to[1], to[2], at[0] < BACK || at[1] != THICK);
            }
            lmi_memory memory;
            lmi_lattice l;
            uint32_t *members = malloc(17 * 17 * 17 * sizeof *members), far = 0, near = 0;
            lmi_memory_init(&memory, &(lm_allocator){0});
            assert_ok(lmi_lattice_make(&memory, &v, width, LMI_LATTICE_QUICKEST, NULL, &l));
            for (uint32_t p = 0; p < l.block_count * LMI_BLOCK; p++) {
                if (!(l.occupied[p / LMI_BLOCK] >> (p % LMI_BLOCK) & 1)) continue;
                lm_dvec3 at = lmi_lattice_rest(&l, p);
                const double mine[3] = {2.0 * at.x, 2.0 * at.y, 2.0 * at.z}; /* corners, of a spacing of half a metre */
                uint32_t count = lmi_lattice_region(&l, p, members);
                for (uint32_t k = 0; k < count; k++) {
                    lm_dvec3 other = lmi_lattice_rest(&l, members[k]);
                    const double his[3] = {2.0 * other.x, 2.0 * other.y, 2.0 * other.z};
                    const double along = fmax(mine[turned], his[turned]);
                    const int across = (1 + turned) % 3;
                    const bool same = (mine[across] <= THICK) == (his[across] <= THICK);
                    if (along > BACK + (double)width) assert_true(same), far++;
                    near += !same;
                }
            }
            assert_true(far > 0 && near > 0);
            lmi_lattice_free(&memory, &l);
            free(members);
            free(v.bits);
        }
}

static void many_small(void **state)
{
    (void)state;
    random_state random = {2};
    uint32_t irregular = 0;
    for (uint32_t n = 0; n < small_count; n++) {
        int shape = (int)random_below(&random, SHAPE_COUNT);
        uint32_t x = 1 + random_below(&random, 5), y = 1 + random_below(&random, 5), z = 1 + random_below(&random, 5);
        lmi_voxels v = shape_make(shape, x, y, z, &random);
        check_lattice(&v, 1 + random_below(&random, 8), &random, shape, &irregular);
        free(v.bits);
    }
    assert_true(irregular > 100);
}

/* The number of small ones may be given. */
int main(int argc, char **argv)
{
    if (argc > 1) small_count = (uint32_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_and_widths), cmocka_unit_test(thin_and_long),
                                       cmocka_unit_test(fingers_stay_separate), cmocka_unit_test(many_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
