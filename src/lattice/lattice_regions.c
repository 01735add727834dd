/*
 * Regions of a lattice: which particles can be reached from one in `width` steps.
 *
 * The cube around a particle is kept as bits, a row along x in a word (lattice_regions.h): a few shifts for each row, so that a
 * region of five thousand particles takes microseconds.
 *
 * A region whose cube is all occupied cells is the cube. Regions with the same members are found by a hash of 128 bits over
 * rows; only regions that are not whole cubes can be the same.
 *
 * Which of the two schemes sums them (lattice/lattice.h) is decided by what each would take.
 */
#include "base/compiler.h"
#include "base/hash.h"
#include "lattice/lattice_plates.h"

#include <stdlib.h>
#include <string.h>

#define SIDE LMI_LATTICE_SIDE

/* Irregular regions that are no repetitions, of a lattice with plates. */
typedef struct tally {
    lmi_lattice_findings findings;
    uint32_t *irregular; /* particle of each irregular region */
    uint32_t irregular_count, irregular_capacity;
} tally;

static bool add_irregular(lmi_memory *memory, tally *t, uint32_t particle)
{
    void *array = t->irregular;
    bool ok = lmi_reserve(memory, &array, &t->irregular_capacity, t->irregular_count + 1, sizeof *t->irregular);
    t->irregular = array;
    if (ok) {
        t->irregular[t->irregular_count++] = particle;
    }
    return ok;
}

static uint32_t count_irregular(const lmi_lattice *l, const tally *t)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < t->irregular_count; n++) {
        count += l->active[t->irregular[n] / LMI_BLOCK] >> (t->irregular[n] % LMI_BLOCK) & 1;
    }
    return count;
}

/* One region of a lattice with plates. */
static lm_result add_plated(lmi_memory *memory, const lmi_lattice *l, uint32_t particle, lmi_lattice_cube *c,
                            lmi_plates_draft *draft, tally *t)
{
    bool regular = c->full || c->regular;
    c->regular = true; /* no pairs */
    lm_result result = lmi_lattice_findings_add(memory, l, particle, c, &t->findings);
    if (result == LM_OK && !regular && !add_irregular(memory, t, particle)) {
        result = LM_ERROR_MEMORY;
    }
    lmi_lattice_fill_full(l, c);
    return result == LM_OK ? lmi_plates_add(draft, particle, (const uint32_t(*)[SIDE])c->reach) : result;
}

/* All regions by one scheme; `draft` is null for lists. */
static lm_result find_by(lmi_memory *memory, const lmi_lattice_map *map, lmi_plates_draft *draft, lmi_lattice *l)
{
    tally t = {0};
    lm_result result = LM_OK;
    memcpy(l->active, l->occupied, ((size_t)l->block_count + 1) * sizeof *l->active);
    l->membership_count = 0;
    LMI_LATTICE_EACH(l, n)
    {
        lmi_lattice_cube c;
        if (result == LM_OK) {
            lmi_lattice_find_region(l, map, n, &c);
            l->degree[n] = (uint16_t)c.members;
            l->membership_count += c.members;
            result = draft ? add_plated(memory, l, n, &c, draft, &t)
                           : lmi_lattice_findings_add(memory, l, n, &c, &t.findings);
        }
    }
    if (t.findings.signature_count) {
        qsort(t.findings.signatures, t.findings.signature_count, sizeof *t.findings.signatures,
              lmi_lattice_compare_signatures);
    }
    uint32_t repeated = result == LM_OK ? lmi_lattice_find_repetitions(l, &t.findings) : 0;
    l->region_count = l->particle_count - repeated;
    if (result == LM_OK && draft) {
        l->irregular_regions = count_irregular(l, &t);
        bool ok = lmi_plates_end(draft, l) && (!repeated || lmi_lattice_plates_degrees(memory, l));
        result = ok ? LM_OK : LM_ERROR_MEMORY;
    } else if (result == LM_OK) {
        if (repeated) {
            LMI_LATTICE_EACH(l, n) { l->degree[n] = (uint16_t)lmi_lattice_count_active(l, map, n); }
        }
        result = lmi_lattice_list_findings(memory, l, &t.findings);
    }
    if (repeated) {
        l->membership_count = 0;
        LMI_LATTICE_EACH(l, n) { l->membership_count += l->degree[n]; }
    }
    if (result == LM_OK && l->book) {
        *l->book = t.findings; /* whoever can break looks them up again */
        memset(&t.findings, 0, sizeof t.findings);
    }
    lmi_lattice_findings_free(memory, &t.findings);
    lmi_release(memory, t.irregular, t.irregular_capacity, sizeof *t.irregular);
    return result;
}

/* --- which scheme --- */

/* Lattices that may be stepped side by side (lattice/herd.h) have lists, which that takes from one lane to many. */
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
    LMI_LATTICE_EACH(l, n)
    {
        lmi_lattice_cube c;
        if (count++ % SAMPLED == 0) {
            lmi_lattice_find_region(l, map, n, &c);
            if (!c.full && !c.regular) {
                uint32_t others = lmi_lattice_count_others(l, &c);
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

/* --- signatures --- */

int lmi_lattice_compare_signatures(const void *a, const void *b)
{
    const lmi_lattice_signature *x = a, *y = b;
    for (int i = 0; i < 2; i++) {
        if (x->hash[i] != y->hash[i]) {
            return x->hash[i] < y->hash[i] ? -1 : 1;
        }
    }
    return x->particle < y->particle ? -1 : x->particle > y->particle;
}

lmi_lattice_signature lmi_lattice_sign(const lmi_lattice *l, uint32_t particle, const lmi_lattice_cube *c)
{
    int32_t corner[3], w = (int32_t)l->width;
    lmi_lattice_signature s = {{LMI_HASH_SEED, ~(uint64_t)LMI_HASH_SEED}, particle};
    lmi_lattice_corner(l, particle, corner);
    for (int32_t z = 0; z <= 2 * w; z++) {
        for (int32_t y = 0; y <= 2 * w; y++) {
            uint32_t bits = c->reach[z][y];
            if (!bits) {
                continue;
            }
            int32_t lowest = lmi_low_bit(bits);
            uint64_t where = (uint64_t)(uint32_t)(corner[2] - w + z) << 32 | (uint32_t)(corner[1] - w + y);
            uint64_t what = (uint64_t)(uint32_t)(corner[0] - w + lowest) << 32 | bits >> lowest;
            for (int i = 0; i < 2; i++) {
                s.hash[i] = lmi_hash_word(lmi_hash_word(s.hash[i], where), what);
            }
        }
    }
    return s;
}

uint32_t lmi_lattice_find_repetitions(lmi_lattice *l, const lmi_lattice_findings *f)
{
    uint32_t repeated = 0;
    for (uint32_t n = 1; n < f->signature_count; n++) {
        const lmi_lattice_signature *s = &f->signatures[n];
        if (s->hash[0] == s[-1].hash[0] && s->hash[1] == s[-1].hash[1]) {
            l->active[s->particle / LMI_BLOCK] &= (uint16_t) ~(1u << s->particle % LMI_BLOCK);
            repeated++;
        }
    }
    return repeated;
}

/* --- findings --- */

void lmi_lattice_findings_free(lmi_memory *memory, lmi_lattice_findings *f)
{
    lmi_release(memory, f->signatures, f->signature_capacity, sizeof *f->signatures);
    lmi_release(memory, f->pairs, f->pair_capacity, sizeof *f->pairs);
    memset(f, 0, sizeof *f);
}

static bool add_signature(lmi_memory *memory, lmi_lattice_findings *f, lmi_lattice_signature s)
{
    void *array = f->signatures;
    bool ok = lmi_reserve(memory, &array, &f->signature_capacity, f->signature_count + 1, sizeof s);
    f->signatures = array;
    if (ok) {
        f->signatures[f->signature_count++] = s;
    }
    return ok;
}

static lm_result add_pairs(lmi_memory *memory, const lmi_lattice *l, uint32_t particle, const lmi_lattice_cube *c,
                           lmi_lattice_findings *f)
{
    int32_t w = (int32_t)l->width;
    uint32_t others = lmi_lattice_count_others(l, c);
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
                int32_t x = lmi_low_bit(left);
                lmi_lattice_pair pair = {particle,
                                         lmi_lattice_cube_place(c, x, y, z),
                                         {(int8_t)(x - w), (int8_t)(y - w), (int8_t)(z - w)},
                                         direct ? 1 : -1};
                f->pairs[f->pair_count++] = pair;
            }
        }
    }
    return LM_OK;
}

lm_result lmi_lattice_findings_add(lmi_memory *memory, const lmi_lattice *l, uint32_t particle,
                                   const lmi_lattice_cube *c, lmi_lattice_findings *f)
{
    if (c->full) {
        return LM_OK;
    }
    if (!add_signature(memory, f, lmi_lattice_sign(l, particle, c))) {
        return LM_ERROR_MEMORY;
    }
    return c->regular ? LM_OK : add_pairs(memory, l, particle, c, f);
}

lm_result lmi_lattice_list_findings(lmi_memory *memory, lmi_lattice *l, const lmi_lattice_findings *f)
{
    lmi_lattice_pair *pairs = lmi_allocate(memory, f->pair_count, sizeof *pairs);
    const uint32_t most = f->pair_count < l->particle_count ? f->pair_count : l->particle_count;
    uint32_t *irregular = lmi_allocate(memory, most, sizeof *irregular), count = 0;
    lm_result result = LM_ERROR_MEMORY;
    l->irregular_regions = 0;
    if (pairs && irregular) {
        for (uint32_t n = 0; n < f->pair_count; n++) {
            uint32_t particle = f->pairs[n].region;
            if (n == 0 || particle != f->pairs[n - 1].region) {
                irregular[count++] = particle;
                l->irregular_regions += l->active[particle / LMI_BLOCK] >> (particle % LMI_BLOCK) & 1;
            }
            pairs[n] = f->pairs[n];
            pairs[n].region = count - 1;
        }
        result = lmi_lattice_list(memory, l, irregular, count, pairs, f->pair_count);
    }
    lmi_release(memory, pairs, f->pair_count, sizeof *pairs);
    lmi_release(memory, irregular, most, sizeof *irregular);
    return result;
}
