/*
 * Regions of a lattice: which particles can be reached from one in `width` steps.
 *
 * The cube around a particle is kept as bits, a row along x in a word. A step goes to the occupied cells that touch what has
 * been reached, and from them to all their corners: a few shifts for each row, so that a region of five thousand particles
 * takes microseconds.
 *
 * A region whose cube is all occupied cells is the cube. Regions with the same members are found by a hash of 128 bits over
 * rows; only regions that are not whole cubes can be the same.
 *
 * Which of the two schemes sums them (sample/lattice.h) is decided by what each would take.
 */
#include "out/hash.h"
#include "sample/lattice_plates.h"

#include <stdlib.h>
#include <string.h>

#define SIDE LMI_LATTICE_SIDE

typedef struct cube {
    uint32_t cells[SIDE - 1][SIDE - 1]; /* occupied cells, [z][y] */
    uint32_t corners[SIDE][SIDE];       /* particles */
    uint32_t reach[SIDE][SIDE];         /* the region */
    bool full;                          /* all cells are occupied */
    uint32_t members;
    bool regular;
} cube;

/* `count` bits of `masks` from corner x on, in the row at (y, z). Without a map blocks are searched for. */
static uint32_t row_bits(const lmi_lattice *l, const lmi_lattice_map *map, const uint16_t *masks, int32_t x,
                         uint32_t count, int32_t y, int32_t z)
{
    if (y < 0 || z < 0 || y >= (int32_t)l->size[1] || z >= (int32_t)l->size[2]) {
        return 0;
    }
    int32_t start = x + (int32_t)l->phase;
    int32_t first = start >= 0 ? start / LMI_BLOCK : -((LMI_BLOCK - 1 - start) / LMI_BLOCK);
    uint64_t bits = 0;
    for (int32_t b = first; b * LMI_BLOCK < start + (int32_t)count; b++) {
        uint32_t block = LMI_LATTICE_NONE;
        if (!map) {
            block = lmi_lattice_find_block(l, b * LMI_BLOCK - (int32_t)l->phase, y, z);
        } else if (b >= 0 && b < (int32_t)map->blocks_x) {
            block = map->block[((size_t)z * l->size[1] + (size_t)y) * map->blocks_x + (size_t)b];
        }
        if (block != LMI_LATTICE_NONE) {
            bits |= (uint64_t)masks[block] << ((b - first) * LMI_BLOCK);
        }
    }
    return (uint32_t)(bits >> (start - first * LMI_BLOCK)) & ((1u << count) - 1);
}

static void load_cells(const lmi_lattice *l, const lmi_lattice_map *map, const int32_t corner[3], cube *c)
{
    int32_t w = (int32_t)l->width;
    uint32_t all = (1u << (2 * w)) - 1;
    c->full = true;
    for (int32_t z = 0; z < 2 * w; z++) {
        for (int32_t y = 0; y < 2 * w; y++) {
            uint32_t bits =
                row_bits(l, map, l->cell, corner[0] - w, 2 * l->width, corner[1] - w + y, corner[2] - w + z);
            c->cells[z][y] = bits;
            c->full = c->full && bits == all;
        }
    }
}

/* From the particle in the middle, `width` steps. */
static void find_reach(const lmi_lattice *l, cube *c)
{
    int32_t w = (int32_t)l->width;
    uint32_t touched[SIDE - 1][SIDE - 1];
    memset(c->reach, 0, sizeof c->reach);
    c->reach[w][w] = 1u << w;
    for (int32_t step = 1; step <= w; step++) {
        for (int32_t z = w - step; z < w + step; z++) {
            for (int32_t y = w - step; y < w + step; y++) {
                uint32_t near = c->reach[z][y] | c->reach[z][y + 1] | c->reach[z + 1][y] | c->reach[z + 1][y + 1];
                touched[z][y] = (near | near >> 1) & c->cells[z][y];
            }
        }
        for (int32_t z = w - step; z < w + step; z++) {
            for (int32_t y = w - step; y < w + step; y++) {
                uint32_t ends = touched[z][y] | touched[z][y] << 1;
                c->reach[z][y] |= ends;
                c->reach[z][y + 1] |= ends;
                c->reach[z + 1][y] |= ends;
                c->reach[z + 1][y + 1] |= ends;
            }
        }
    }
}

static void find_region(const lmi_lattice *l, const lmi_lattice_map *map, uint32_t particle, cube *c)
{
    int32_t corner[3], side = 2 * (int32_t)l->width + 1;
    lmi_lattice_corner(l, particle, corner);
    load_cells(l, map, corner, c);
    if (c->full) {
        c->members = (uint32_t)(side * side * side);
        c->regular = true;
        return;
    }
    find_reach(l, c);
    c->members = 0;
    c->regular = true;
    for (int32_t z = 0; z < side; z++) {
        for (int32_t y = 0; y < side; y++) {
            c->corners[z][y] = row_bits(l, map, l->occupied, corner[0] - (int32_t)l->width, (uint32_t)side,
                                        corner[1] - (int32_t)l->width + y, corner[2] - (int32_t)l->width + z);
            c->members += (uint32_t)__builtin_popcount(c->reach[z][y]);
            c->regular = c->regular && c->corners[z][y] == c->reach[z][y];
        }
    }
}

uint32_t lmi_lattice_region(const lmi_lattice *l, uint32_t particle, uint32_t *members)
{
    cube c;
    int32_t corner[3], w = (int32_t)l->width;
    uint32_t count = 0;
    lmi_lattice_corner(l, particle, corner);
    load_cells(l, NULL, corner, &c);
    find_reach(l, &c);
    for (int32_t z = 0; z <= 2 * w; z++) {
        for (int32_t y = 0; y <= 2 * w; y++) {
            for (uint32_t left = c.reach[z][y]; left; left &= left - 1) {
                members[count++] =
                    lmi_lattice_find(l, corner[0] - w + __builtin_ctz(left), corner[1] - w + y, corner[2] - w + z);
            }
        }
    }
    return count;
}

/* --- repetitions --- */

typedef struct signature {
    uint64_t hash[2];
    uint32_t particle;
} signature;

static int compare_signatures(const void *a, const void *b)
{
    const signature *x = a, *y = b;
    for (int i = 0; i < 2; i++) {
        if (x->hash[i] != y->hash[i]) {
            return x->hash[i] < y->hash[i] ? -1 : 1;
        }
    }
    return x->particle < y->particle ? -1 : x->particle > y->particle;
}

/* Of the members, wherever the region's middle is. */
static signature sign(const lmi_lattice *l, uint32_t particle, const cube *c)
{
    int32_t corner[3], w = (int32_t)l->width;
    signature s = {{LMI_HASH_SEED, ~(uint64_t)LMI_HASH_SEED}, particle};
    lmi_lattice_corner(l, particle, corner);
    for (int32_t z = 0; z <= 2 * w; z++) {
        for (int32_t y = 0; y <= 2 * w; y++) {
            uint32_t bits = c->reach[z][y];
            if (!bits) {
                continue;
            }
            int32_t lowest = __builtin_ctz(bits);
            uint64_t where = (uint64_t)(uint32_t)(corner[2] - w + z) << 32 | (uint32_t)(corner[1] - w + y);
            uint64_t what = (uint64_t)(uint32_t)(corner[0] - w + lowest) << 32 | bits >> lowest;
            for (int i = 0; i < 2; i++) {
                s.hash[i] = lmi_hash_word(lmi_hash_word(s.hash[i], where), what);
            }
        }
    }
    return s;
}

/* --- growing arrays --- */

typedef struct findings {
    signature *signatures;
    lmi_lattice_pair *pairs;
    uint32_t *irregular; /* particle of each irregular region */
    uint32_t signature_count, signature_capacity;
    uint32_t pair_count, pair_capacity;
    uint32_t irregular_count, irregular_capacity;
} findings;

static void free_findings(lmi_memory *memory, findings *f)
{
    lmi_release(memory, f->signatures, f->signature_capacity, sizeof *f->signatures);
    lmi_release(memory, f->pairs, f->pair_capacity, sizeof *f->pairs);
    lmi_release(memory, f->irregular, f->irregular_capacity, sizeof *f->irregular);
}

static bool add_signature(lmi_memory *memory, findings *f, signature s)
{
    void *array = f->signatures;
    bool ok = lmi_reserve(memory, &array, &f->signature_capacity, f->signature_count + 1, sizeof s);
    f->signatures = array;
    if (ok) {
        f->signatures[f->signature_count++] = s;
    }
    return ok;
}

static bool add_irregular(lmi_memory *memory, findings *f, uint32_t particle)
{
    void *array = f->irregular;
    bool ok = lmi_reserve(memory, &array, &f->irregular_capacity, f->irregular_count + 1, sizeof *f->irregular);
    f->irregular = array;
    if (ok) {
        f->irregular[f->irregular_count++] = particle;
    }
    return ok;
}

/* Members in the cube that are not in the region. */
static uint32_t count_others(const lmi_lattice *l, const cube *c)
{
    uint32_t occupied = 0;
    for (uint32_t z = 0; z <= 2 * l->width; z++) {
        for (uint32_t y = 0; y <= 2 * l->width; y++) {
            occupied += (uint32_t)__builtin_popcount(c->corners[z][y]);
        }
    }
    return occupied - c->members;
}

/* The pairs of the last irregular region: the members in the cube that are not in the region, or the whole region, whichever
 * is less. */
static lm_result add_pairs(lmi_memory *memory, const lmi_lattice *l, uint32_t particle, const cube *c, findings *f)
{
    int32_t corner[3], w = (int32_t)l->width;
    lmi_lattice_corner(l, particle, corner);
    uint32_t others = count_others(l, c);
    bool direct = others > c->members;
    uint32_t more = direct ? c->members : others;
    if (f->pair_count + more > LMI_LATTICE_MOST_PAIRS) {
        return LM_ERROR_LIMIT;
    }
    void *pairs = f->pairs;
    bool ok = lmi_reserve(memory, &pairs, &f->pair_capacity, f->pair_count + more, sizeof *f->pairs);
    f->pairs = pairs;
    if (!ok) {
        return LM_ERROR_MEMORY;
    }
    for (int32_t z = 0; z <= 2 * w; z++) {
        for (int32_t y = 0; y <= 2 * w; y++) {
            uint32_t left = direct ? c->reach[z][y] : c->corners[z][y] & ~c->reach[z][y];
            for (; left; left &= left - 1) {
                int32_t x = __builtin_ctz(left);
                uint32_t other = lmi_lattice_find(l, corner[0] - w + x, corner[1] - w + y, corner[2] - w + z);
                lmi_lattice_pair pair = {f->irregular_count - 1,
                                         other,
                                         {(int8_t)(x - w), (int8_t)(y - w), (int8_t)(z - w)},
                                         direct ? 1 : -1};
                f->pairs[f->pair_count++] = pair;
            }
        }
    }
    return LM_OK;
}

/* --- all of them --- */

#define EACH_PARTICLE(l, n)                                                                                            \
    for (uint32_t block_ = 0; block_ < (l)->block_count; block_++)                                                     \
        for (uint32_t left_ = (l)->occupied[block_]; left_; left_ &= left_ - 1)                                        \
            for (uint32_t n = block_ * LMI_BLOCK + (uint32_t)__builtin_ctz(left_), once_ = 1; once_; once_ = 0)

/* Switches off what repeats an earlier region; returns how many there are. */
static uint32_t find_repetitions(lmi_lattice *l, findings *f)
{
    uint32_t repeated = 0;
    qsort(f->signatures, f->signature_count, sizeof *f->signatures, compare_signatures);
    for (uint32_t n = 1; n < f->signature_count; n++) {
        const signature *s = &f->signatures[n];
        if (s->hash[0] == s[-1].hash[0] && s->hash[1] == s[-1].hash[1]) {
            l->active[s->particle / LMI_BLOCK] &= (uint16_t) ~(1u << s->particle % LMI_BLOCK);
            repeated++;
        }
    }
    return repeated;
}

/* |R(i)| where there are repetitions: a particle is in the regions of all that are in its own. */
static void count_active(lmi_lattice *l, const lmi_lattice_map *map)
{
    int32_t w = (int32_t)l->width;
    EACH_PARTICLE(l, n)
    {
        cube c;
        int32_t corner[3];
        uint32_t count = 0;
        lmi_lattice_corner(l, n, corner);
        find_region(l, map, n, &c);
        for (int32_t z = 0; z <= 2 * w; z++) {
            for (int32_t y = 0; y <= 2 * w; y++) {
                uint32_t active =
                    row_bits(l, map, l->active, corner[0] - w, 2 * l->width + 1, corner[1] - w + y, corner[2] - w + z);
                count += (uint32_t)__builtin_popcount(c.full ? active : active & c.reach[z][y]);
            }
        }
        l->degree[n] = (uint16_t)count;
    }
}

/* Irregular regions that are no repetitions. */
static uint32_t count_irregular(const lmi_lattice *l, const findings *f)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < f->irregular_count; n++) {
        count += l->active[f->irregular[n] / LMI_BLOCK] >> (f->irregular[n] % LMI_BLOCK) & 1;
    }
    return count;
}

/* One region: its members, and what the scheme wants of it; `draft` is null for lists. */
static lm_result add_region(lmi_memory *memory, lmi_lattice *l, uint32_t particle, cube *c, lmi_plates_draft *draft,
                            findings *f)
{
    l->degree[particle] = (uint16_t)c->members;
    l->membership_count += c->members;
    if (!c->full && !add_signature(memory, f, sign(l, particle, c))) {
        return LM_ERROR_MEMORY;
    }
    if (!c->full && !c->regular && !add_irregular(memory, f, particle)) {
        return LM_ERROR_MEMORY;
    }
    if (!draft) {
        return c->full || c->regular ? LM_OK : add_pairs(memory, l, particle, c, f);
    }
    for (uint32_t z = 0; c->full && z <= 2 * l->width; z++) {
        for (uint32_t y = 0; y <= 2 * l->width; y++) {
            c->reach[z][y] = (1u << (2 * l->width + 1)) - 1;
        }
    }
    return lmi_plates_add(draft, particle, (const uint32_t(*)[SIDE])c->reach);
}

/* All regions by one scheme. */
static lm_result find_by(lmi_memory *memory, const lmi_lattice_map *map, lmi_plates_draft *draft, lmi_lattice *l)
{
    findings f = {0};
    lm_result result = LM_OK;
    memcpy(l->active, l->occupied, ((size_t)l->block_count + 1) * sizeof *l->active);
    l->membership_count = 0;
    EACH_PARTICLE(l, n)
    {
        cube c;
        if (result == LM_OK) {
            find_region(l, map, n, &c);
            result = add_region(memory, l, n, &c, draft, &f);
        }
    }
    uint32_t repeated = result == LM_OK ? find_repetitions(l, &f) : 0;
    l->region_count = l->particle_count - repeated;
    l->irregular_regions = count_irregular(l, &f);
    if (result == LM_OK && draft) {
        bool ok = lmi_plates_end(draft, l) && (!repeated || lmi_lattice_plates_degrees(memory, l));
        result = ok ? LM_OK : LM_ERROR_MEMORY;
    } else if (result == LM_OK) {
        if (repeated) {
            count_active(l, map);
        }
        result = lmi_lattice_list(memory, l, f.irregular, f.irregular_count, f.pairs, f.pair_count);
    }
    if (repeated) {
        l->membership_count = 0;
        EACH_PARTICLE(l, n) { l->membership_count += l->degree[n]; }
    }
    free_findings(memory, &f);
    return result;
}

/* --- which scheme --- */

/* Lattices that may be stepped side by side (step/herd.h) have lists, which that takes from one lane to many. */
#define LEAST_PLATED 257u

/* What a step takes, in nanoseconds of the machine and with the vectors of docs/performance.md; only their ratios matter.
 * Along the axes: a place, that for each step of the width, an irregular region, an entry of its list. */
enum { PLACE_COST = 110, WIDTH_COST = 60, IRREGULAR_COST = 25, PAIR_COST = 5 };

/* By plates: a block, a particle, an addition. */
enum { BLOCK_COST = 100, PARTICLE_COST = 20, ADDITION_COST = 5 };

/* What lists take, from every SAMPLED-th region. */
#define SAMPLED 16u

static uint64_t cost_of_lists(const lmi_lattice *l, const lmi_lattice_map *map)
{
    uint64_t pairs = 0, irregular = 0;
    uint32_t count = 0;
    EACH_PARTICLE(l, n)
    {
        cube c;
        if (count++ % SAMPLED == 0) {
            find_region(l, map, n, &c);
            if (!c.full && !c.regular) {
                uint32_t others = count_others(l, &c);
                pairs += others < c.members ? others : c.members;
                irregular++;
            }
        }
    }
    return (uint64_t)l->place_count * (PLACE_COST + WIDTH_COST * l->width) +
           SAMPLED * (irregular * IRREGULAR_COST + pairs * PAIR_COST);
}

static uint64_t cost_of_plates(const lmi_lattice *l, uint64_t additions)
{
    return (uint64_t)l->block_count * BLOCK_COST + (uint64_t)l->particle_count * PARTICLE_COST +
           additions * ADDITION_COST;
}

lm_result lmi_lattice_find_regions(lmi_memory *memory, const lmi_lattice_map *map, lmi_lattice_scheme scheme,
                                   lmi_lattice *l)
{
    uint64_t lists = UINT64_MAX;
    if (scheme ==
        LMI_LATTICE_QUICKEST) { /* about three additions a region, and three more for each step of the width */
        uint64_t guess = (uint64_t)l->particle_count * 3 * (l->width + 1);
        lists = l->particle_count < LEAST_PLATED ? 0 : cost_of_lists(l, map);
        scheme = lists > cost_of_plates(l, guess) ? LMI_LATTICE_PLATES : LMI_LATTICE_LISTS;
    }
    if (scheme == LMI_LATTICE_LISTS) {
        return find_by(memory, map, NULL, l);
    }
    lmi_plates_draft draft;
    lm_result result = lmi_plates_begin(memory, l, map, &draft) ? find_by(memory, map, &draft, l) : LM_ERROR_MEMORY;
    lmi_plates_draft_free(&draft);
    const lmi_lattice_plates *t = &l->plates;
    if (result == LM_OK && cost_of_plates(l, (uint64_t)t->pair_count + t->plate_count + t->floor_count) > lists) {
        lmi_lattice_plates_free(memory, l); /* they have less in common than regions of most shapes */
        result = find_by(memory, map, NULL, l);
    }
    return result;
}
