#include "lattice/lattice_cube.h"
#include "base/compiler.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

uint32_t lmi_lattice_row_bits(const lmi_lattice *l, const lmi_lattice_map *map, const uint16_t *masks, int32_t x,
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
    return (uint32_t)(bits >> (start - first * LMI_BLOCK)) & (uint32_t)(((uint64_t)1 << count) - 1);
}

/* The blocks of a cube's rows, found once: a row is in two of them at most. */
static void find_rows(const lmi_lattice *l, const lmi_lattice_map *map, const int32_t corner[3], lmi_lattice_cube *c)
{
    const int32_t w = (int32_t)l->width, start = corner[0] - w + (int32_t)l->phase;
    const int32_t first = start >= 0 ? start / LMI_BLOCK : -1;
    c->shift = (uint32_t)(start - first * LMI_BLOCK);
    for (int32_t n = 0; n < (2 * w + 1) * (2 * w + 1); n++) {
        const int32_t y = corner[1] - w + n % (2 * w + 1), z = corner[2] - w + n / (2 * w + 1);
        uint32_t *block = c->block[n / (2 * w + 1)][n % (2 * w + 1)];
        block[0] = block[1] = LMI_LATTICE_NONE;
        if (y >= 0 && z >= 0 && y < (int32_t)l->size[1] && z < (int32_t)l->size[2]) {
            for (int32_t k = 0; k < 2; k++) {
                if (!map) {
                    block[k] = lmi_lattice_find_block(l, (first + k) * LMI_BLOCK - (int32_t)l->phase, y, z);
                } else if (first + k >= 0 && first + k < (int32_t)map->blocks_x) {
                    block[k] = map->block[((size_t)z * l->size[1] + (size_t)y) * map->blocks_x + (size_t)(first + k)];
                }
            }
        }
        block[0] = block[0] == LMI_LATTICE_NONE ? l->block_count : block[0];
        block[1] = block[1] == LMI_LATTICE_NONE ? l->block_count : block[1];
    }
}

/* `count` bits of a row of the cube; the masks have none past the last block. */
static inline uint32_t row_of(const lmi_lattice_cube *c, const uint16_t *masks, uint32_t count, int32_t y, int32_t z)
{
    const uint32_t *block = c->block[z][y];
    return (masks[block[0]] | (uint32_t)masks[block[1]] << LMI_BLOCK) >> c->shift & ((1u << count) - 1);
}

static void load_cells(const lmi_lattice *l, const lmi_lattice_map *map, const int32_t corner[3], lmi_lattice_cube *c)
{
    const int32_t w = (int32_t)l->width;
    const uint32_t all = (1u << (2 * w)) - 1;
    const uint16_t *whole = lmi_lattice_whole(l);
    find_rows(l, map, corner, c);
    c->full = true;
    c->any_torn = false;
    for (int32_t z = 0; z < 2 * w; z++) {
        for (int32_t y = 0; y < 2 * w; y++) {
            uint32_t bits = row_of(c, whole, 2 * l->width, y, z);
            c->cells[z][y] = bits;
            c->full = c->full && bits == all;
            if (l->whole) {
                c->torn[z][y] = ~bits & row_of(c, l->cell, 2 * l->width, y, z);
                c->any_torn = c->any_torn || c->torn[z][y];
            }
        }
    }
    for (int32_t axis = 0; c->any_torn && axis < 3; axis++) {
        for (int32_t z = 0; z <= 2 * w; z++) {
            for (int32_t y = 0; y <= 2 * w; y++) {
                c->bond[axis][z][y] = row_of(c, l->bond[axis], 2 * l->width + 1, y, z);
            }
        }
    }
}

/* Bits x and x + 1 of four rows as the corners of a cell: bit 0 of a corner's number is x, bit 1 y, bit 2 z. */
static uint32_t corners_of(uint32_t rows[][LMI_LATTICE_SIDE], int32_t x, int32_t y)
{
    return (rows[0][y] >> x & 3) | (rows[0][y + 1] >> x & 3) << 2 | (rows[1][y] >> x & 3) << 4 |
           (rows[1][y + 1] >> x & 3) << 6;
}

/* From corners of a torn cell to all that unbroken edges lead to. */
static uint32_t spread_in_cell(lmi_lattice_cube *c, int32_t x, int32_t y, int32_t z, uint32_t from)
{
    uint32_t along_x = corners_of(&c->bond[0][z], x, y) & 0x55, along_y = corners_of(&c->bond[1][z], x, y) & 0x33;
    uint32_t along_z = corners_of(&c->bond[2][z], x, y) & 0x0f, before;
    do {
        before = from;
        from |= (from & along_x) << 1 | (from >> 1 & along_x);
        from |= (from & along_y) << 2 | (from >> 2 & along_y);
        from |= (from & along_z) << 4 | (from >> 4 & along_z);
    } while (from != before);
    return from;
}

/* What a step reaches through the torn cells of a row; `before` is what was reached so far. */
static void step_in_torn(lmi_lattice_cube *c, uint32_t before[][LMI_LATTICE_SIDE], int32_t y, int32_t z)
{
    for (uint32_t left = c->torn[z][y]; left; left &= left - 1) {
        int32_t x = lmi_low_bit(left);
        uint32_t from = corners_of(&before[z], x, y), to = from ? spread_in_cell(c, x, y, z, from) : 0;
        c->reach[z][y] |= (to & 3) << x;
        c->reach[z][y + 1] |= (to >> 2 & 3) << x;
        c->reach[z + 1][y] |= (to >> 4 & 3) << x;
        c->reach[z + 1][y + 1] |= (to >> 6 & 3) << x;
    }
}

/* From the particle in the middle, `width` steps. */
static void find_reach(const lmi_lattice *l, lmi_lattice_cube *c)
{
    int32_t w = (int32_t)l->width;
    const size_t row = (2 * (size_t)l->width + 1) * sizeof c->reach[0][0];
    uint32_t touched[LMI_LATTICE_SIDE - 1][LMI_LATTICE_SIDE - 1], before[LMI_LATTICE_SIDE][LMI_LATTICE_SIDE];
    for (int32_t z = 0; z <= 2 * w; z++) {
        memset(c->reach[z], 0, row);
    }
    c->reach[w][w] = 1u << w;
    for (int32_t step = 1; step <= w; step++) {
        for (int32_t z = 0; c->any_torn && z <= 2 * w; z++) {
            memcpy(before[z], c->reach[z], row);
        }
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
                if (c->any_torn) {
                    step_in_torn(c, before, y, z);
                }
            }
        }
    }
}

void lmi_lattice_find_reach(const lmi_lattice *l, const lmi_lattice_map *map, uint32_t particle, lmi_lattice_cube *c)
{
    int32_t corner[3];
    lmi_lattice_corner(l, particle, corner);
    load_cells(l, map, corner, c);
    find_reach(l, c);
}

void lmi_lattice_find_region(const lmi_lattice *l, const lmi_lattice_map *map, uint32_t particle, lmi_lattice_cube *c)
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
            c->corners[z][y] = row_of(c, l->occupied, (uint32_t)side, y, z);
            c->members += (uint32_t)lmi_bit_count(c->reach[z][y]);
            c->regular = c->regular && c->corners[z][y] == c->reach[z][y];
        }
    }
}

uint32_t lmi_lattice_region(const lmi_lattice *l, uint32_t particle, uint32_t *members)
{
    lmi_lattice_cube c;
    int32_t w = (int32_t)l->width;
    uint32_t count = 0;
    lmi_lattice_find_reach(l, lmi_lattice_map_of(l), particle, &c);
    for (int32_t z = 0; z <= 2 * w; z++) {
        for (int32_t y = 0; y <= 2 * w; y++) {
            for (uint32_t left = c.reach[z][y]; left; left &= left - 1) {
                members[count++] = lmi_lattice_cube_place(&c, lmi_low_bit(left), y, z);
            }
        }
    }
    return count;
}

uint32_t lmi_lattice_count_others(const lmi_lattice *l, const lmi_lattice_cube *c)
{
    uint32_t occupied = 0;
    for (uint32_t z = 0; z <= 2 * l->width; z++) {
        for (uint32_t y = 0; y <= 2 * l->width; y++) {
            occupied += (uint32_t)lmi_bit_count(c->corners[z][y]);
        }
    }
    return occupied - c->members;
}

uint32_t lmi_lattice_count_active(const lmi_lattice *l, const lmi_lattice_map *map, uint32_t particle)
{
    lmi_lattice_cube c;
    int32_t w = (int32_t)l->width;
    uint32_t count = 0;
    lmi_lattice_find_region(l, map, particle, &c);
    for (int32_t z = 0; z <= 2 * w; z++) {
        for (int32_t y = 0; y <= 2 * w; y++) {
            uint32_t active = row_of(&c, l->active, 2 * l->width + 1, y, z);
            count += (uint32_t)lmi_bit_count(c.full ? active : active & c.reach[z][y]);
        }
    }
    return count;
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
