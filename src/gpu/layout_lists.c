/*
 * The lists of irregular regions (sample/lattice.h) for the device. Bodies of one shape share them.
 */
#include "gpu/small.h"

/* Marks the blocks of owners: the first of each, which lanes, and which of those have a list of everything. */
static void mark_owners(const lmi_lattice_lists *from, const uint8_t *whole, uint32_t base, uint32_t flag,
                        uint32_t *marks, uint32_t *constants_of)
{
    for (uint32_t n = 0; n < from->owner_count; n++) {
        uint32_t block = from->owner[n] / LMI_BLOCK, lane = from->owner[n] % LMI_BLOCK;
        uint32_t *mark = marks + 2 * (size_t)block;
        mark[0] = mark[1] & 0xffffu ? mark[0] : base + n;
        mark[1] |= 1u << lane | (whole[n] ? 1u << (16 + lane) : 0);
        constants_of[block] |= flag;
    }
}

/* The rows of a list, two words an entry. */
static void pack_rows(const lmi_lattice_lists *from, uint32_t *to)
{
    for (size_t n = 0; n < (size_t)from->row_count * LMI_BLOCK; n++) {
        const float *offset = from->offset + n / LMI_BLOCK * 4 * LMI_BLOCK + n % LMI_BLOCK;
        int8_t bytes[4];
        for (int i = 0; i < 4; i++) {
            bytes[i] = (int8_t)offset[i * LMI_BLOCK];
        }
        to[2 * n] = from->member[n];
        memcpy(to + 2 * n + 1, bytes, sizeof bytes);
    }
}

/* Lists that another body has already and that are those from `row` on, or null. */
static const known_lists *find_lists(const lists *to, const lmi_lattice_lists *from, uint32_t row, uint64_t hash)
{
    const size_t rows = (size_t)from->row_count * 2 * LMI_BLOCK * sizeof(uint32_t);
    const size_t lanes = (size_t)from->group_count * LMI_BLOCK * sizeof(uint32_t);
    const uint32_t *entries = to->entries.items;
    for (uint32_t n = 0; n < to->known.count; n++) {
        const known_lists *k = (const known_lists *)to->known.items + n;
        const uint32_t *who = (const uint32_t *)to->who.items + (size_t)k->group * LMI_BLOCK;
        if (k->hash == hash && k->row_count == from->row_count && k->group_count == from->group_count &&
            memcmp(entries + 2 * (size_t)k->row * LMI_BLOCK, entries + 2 * (size_t)row * LMI_BLOCK, rows) == 0 &&
            memcmp(who, from->who, lanes) == 0) {
            return k;
        }
    }
    return NULL;
}

/* Rows and owners of lists, unless they are there already; null when out of memory. */
static const known_lists *add_rows(lm_world *world, const lmi_lattice *shape, const lmi_lattice_lists *from, lists *to)
{
    const uint32_t words = 2 * from->row_count * LMI_BLOCK, lanes = from->group_count * LMI_BLOCK;
    const uint32_t row = to->entries.count / (2 * LMI_BLOCK);
    uint32_t *entries = append(world, &to->entries, words, sizeof *entries);
    if (!entries) {
        return NULL;
    }
    pack_rows(from, entries);
    const uint64_t hash = hash_bytes(entries, words * sizeof *entries);
    const known_lists *same = find_lists(to, from, row, hash);
    if (same) {
        to->entries.count -= words;
        return same;
    }
    const known_lists now = {hash, row, from->row_count, to->who.count / LMI_BLOCK, from->group_count};
    known_lists *known = append(world, &to->known, 1, sizeof now);
    uint32_t *who = append(world, &to->who, lanes, sizeof *who);
    int32_t *corner = append(world, &to->corner, 3 * lanes, sizeof *corner);
    if (!known || !who || !corner) {
        return NULL;
    }
    memcpy(who, from->who, lanes * sizeof *who);
    for (size_t n = 0; n < lanes; n++) {
        if (who[n] != LMI_LATTICE_NONE) {
            lmi_lattice_corner(shape, from->owner[who[n]], corner + 3 * n);
        }
    }
    *known = now;
    return known;
}

static bool add_lists(layout *l, const lmi_lattice *shape, const lmi_lattice_lists *from, uint32_t index, lists *to)
{
    const known_lists *known = add_rows(l->world, shape, from, to);
    array *groups = lmi_gpu_is_small(l->gpu, shape) ? &to->small : &to->groups;
    uint32_t *group = append(l->world, groups, 4 * from->group_count, sizeof *group);
    if (!known || !group) {
        return false;
    }
    for (uint32_t n = 0; n < from->group_count; n++) {
        group[4 * n] = index;
        group[4 * n + 1] = known->row + from->group_row[n];
        group[4 * n + 2] = known->row + from->group_row[n + 1];
        group[4 * n + 3] = known->group + n;
    }
    return true;
}

bool lmi_gpu_add_irregular(layout *l, const lmi_body *body, uint32_t index, uint32_t first_block)
{
    const lmi_lattice *shape = &body->lattice->shape;
    lmi_gpu_body *record = &l->gpu->records[index];
    record->irregular = l->irregulars;
    record->corrected = l->corrections;
    if (shape->irregular_count == 0 && shape->scatter.owner_count == 0) {
        return true;
    }
    uint32_t *of = (uint32_t *)l->constants_of.items + first_block;
    mark_owners(&shape->gather, shape->direct, l->irregulars, LMI_GPU_IRREGULAR,
                (uint32_t *)l->irregular.items + 2 * (size_t)first_block, of);
    mark_owners(&shape->scatter, shape->listed, l->corrections, LMI_GPU_CORRECTED,
                (uint32_t *)l->corrected.items + 2 * (size_t)first_block, of);
    l->irregulars += shape->irregular_count + 1; /* the last is zero, for what fills up rows */
    l->corrections += shape->scatter.owner_count;
    return add_lists(l, shape, &shape->gather, index, &l->gather) &&
           add_lists(l, shape, &shape->scatter, index, &l->scatter);
}

static bool put_lists(lmi_gpu *gpu, lmi_gpu_lists *to, const lists *from)
{
    const size_t u = sizeof(uint32_t);
    to->lanes = from->groups.count / 4 * LMI_BLOCK;
    return put_array(gpu, &to->groups, &from->groups, u) && put_array(gpu, &to->small, &from->small, u) &&
           put_array(gpu, &to->who, &from->who, u) && put_array(gpu, &to->corner, &from->corner, u) &&
           put_array(gpu, &to->entries, &from->entries, u);
}

bool lmi_gpu_upload_lists(layout *l)
{
    lmi_gpu *gpu = l->gpu;
    const size_t u = sizeof(uint32_t), f = sizeof(float);
    array none = {NULL, 0, 0};
    static const float zeros[LMI_BLOCK];
    bool ok = put_lists(gpu, &gpu->gather, &l->gather) && put_lists(gpu, &gpu->scatter, &l->scatter);
    bool some = l->irregulars || l->corrections;
    ok = ok && put_array(gpu, &gpu->irregular, some ? &l->irregular : &none, u) &&
         put_array(gpu, &gpu->corrected, some ? &l->corrected : &none, u) &&
         lmi_gpu_reserve(gpu, &gpu->irregular_moments, l->irregulars * LMI_BLOCK * f) &&
         lmi_gpu_reserve(gpu, &gpu->kept, l->irregulars * LMI_BLOCK * f) &&
         lmi_gpu_reserve(gpu, &gpu->corrections, l->corrections * 4 * f);
    /* What fills up rows points at a transform that stays zero: the last of each body. */
    for (uint32_t n = 0; ok && n < gpu->lattice_count; n++) {
        const lmi_lattice *shape = &lmi_body_at(l->world, gpu->slots[n])->lattice->shape;
        if (shape->irregular_count || shape->scatter.owner_count) {
            size_t at = (size_t)gpu->records[n].irregular + shape->irregular_count;
            ok = lmi_gpu_write(gpu, &gpu->kept, at * LMI_BLOCK * f, zeros, sizeof zeros);
        }
    }
    return ok;
}
