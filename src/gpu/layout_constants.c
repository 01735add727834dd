/*
 * The constants of lattice regions for the device.
 *
 * The host has them by blocks, channel after channel, because its lanes are the regions of a block. Near a surface hardly two
 * blocks are alike, but regions are: a work-item has one region, so each distinct row of constants is there once, side by
 * side, and each distinct block is 16 indices of rows with flags in front (`kinds`). Bodies share both.
 */
#include "gpu/layout.h"

/* A table of what is there already, twice as large as it need be. */
static bool grow_slots(lm_world *world, word_set *set)
{
    if (set->slots.count >= 2 * (set->count + 1)) {
        return true;
    }
    uint32_t size = set->slots.count ? set->slots.count : 1024;
    while (size < 4 * (set->count + 1)) {
        size *= 2;
    }
    drop(world, &set->slots, sizeof(uint32_t));
    uint32_t *slots = append(world, &set->slots, size, sizeof(uint32_t));
    if (!slots) {
        return false;
    }
    memset(slots, 0xff, size * sizeof *slots);
    const size_t bytes = set->words * sizeof(uint32_t);
    for (uint32_t n = 0; n < set->count; n++) {
        uint32_t place = (uint32_t)lmi_gpu_hash((const char *)set->items.items + n * bytes, bytes) & (size - 1);
        while (slots[place] != LMI_GPU_NONE) {
            place = (place + 1) & (size - 1);
        }
        slots[place] = n;
    }
    return true;
}

/* The index of some words among those of a set, put there where they are new; LMI_GPU_NONE when out of memory. */
static uint32_t find_words(lm_world *world, word_set *set, const void *words)
{
    const size_t bytes = set->words * sizeof(uint32_t);
    if (!grow_slots(world, set)) {
        return LMI_GPU_NONE;
    }
    uint32_t *slots = set->slots.items, mask = set->slots.count - 1,
             place = (uint32_t)lmi_gpu_hash(words, bytes) & mask;
    for (; slots[place] != LMI_GPU_NONE; place = (place + 1) & mask) {
        if (memcmp((const char *)set->items.items + slots[place] * bytes, words, bytes) == 0) {
            return slots[place];
        }
    }
    void *to = append(world, &set->items, set->words, sizeof(uint32_t));
    if (!to) {
        return LMI_GPU_NONE;
    }
    memcpy(to, words, bytes);
    slots[place] = set->count;
    return set->count++;
}

/* One of a lattice's blocks of constants. */
static uint32_t find_block(layout *l, const lmi_lattice *shape, uint32_t block)
{
    const float *from = shape->constants + (size_t)block * shape->channels * LMI_BLOCK;
    const uint32_t shared = shape->channels < l->channels ? shape->channels : l->channels;
    uint32_t kinds[LMI_BLOCK];
    for (int lane = 0; lane < LMI_BLOCK; lane++) {
        float row[LMI_GPU_ROW(LMI_LATTICE_ALL_CONSTANTS)] = {0.0f};
        for (uint32_t c = 0; c < shared; c++) {
            row[c] = from[c * LMI_BLOCK + lane];
        }
        kinds[lane] = find_words(l->world, &l->constants, row);
        if (kinds[lane] == LMI_GPU_NONE) {
            return LMI_GPU_NONE;
        }
    }
    return find_words(l->world, &l->kinds, kinds);
}

bool lmi_gpu_add_constants(layout *l, const lmi_lattice *shape, uint32_t first_block)
{
    uint32_t *of = (uint32_t *)l->constants_of.items + first_block;
    array index = {NULL, 0, 0};
    uint32_t *known = append(l->world, &index, shape->constants_count, sizeof(uint32_t));
    bool ok = known != NULL;
    l->constants.words = LMI_GPU_ROW(l->channels);
    l->kinds.words = LMI_BLOCK;
    for (uint32_t n = 0; ok && n < shape->constants_count; n++) {
        known[n] = find_block(l, shape, n);
        ok = known[n] != LMI_GPU_NONE;
    }
    for (uint32_t n = 0; ok && n <= shape->block_count; n++) {
        of[n] = known[shape->constants_of[n]];
    }
    drop(l->world, &index, sizeof(uint32_t));
    return ok;
}

bool lmi_gpu_flag_lanes(layout *l, uint32_t block, uint32_t irregular, uint32_t corrected)
{
    uint32_t *of = (uint32_t *)l->constants_of.items + block, kinds[LMI_BLOCK];
    if (!irregular && !corrected) {
        return true;
    }
    memcpy(kinds, (const uint32_t *)l->kinds.items.items + (size_t)*of * LMI_BLOCK, sizeof kinds);
    for (int lane = 0; lane < LMI_BLOCK; lane++) {
        kinds[lane] |= irregular >> lane & 1u ? LMI_GPU_IRREGULAR : 0;
        kinds[lane] |= corrected >> lane & 1u ? LMI_GPU_CORRECTED : 0;
    }
    *of = find_words(l->world, &l->kinds, kinds);
    return *of != LMI_GPU_NONE;
}
