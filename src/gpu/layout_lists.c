/*
 * The lists of irregular regions (lattice/lattice.h) for the device: one for each owner, ordered by the tiles that the owners are
 * in, because the work-group of a tile goes through its own. Bodies of one shape share them.
 */
#include "gpu/layout.h"

/* Marks the blocks of owners: the first of each, which lanes, and which of those have a list of everything. */
static void mark_owners(const lmi_lattice_lists *from, const uint8_t *whole, uint32_t base, uint32_t *marks)
{
    for (uint32_t n = 0; n < from->owner_count; n++) {
        uint32_t block = from->owner[n] / LMI_BLOCK, lane = from->owner[n] % LMI_BLOCK;
        uint32_t *mark = marks + 2 * (size_t)block;
        mark[0] = mark[1] & 0xffffu ? mark[0] : base + n;
        mark[1] |= 1u << lane | (whole[n] ? 1u << (16 + lane) : 0);
    }
}

bool lmi_gpu_mark_irregular(layout *l, const lmi_body *body, uint32_t index, uint32_t first_block)
{
    const lmi_lattice *shape = &body->lattice->shape;
    lmi_gpu_body *record = &l->gpu->records[index];
    record->irregular = l->irregulars;
    record->corrected = l->corrections;
    if (shape->irregular_count == 0 && shape->scatter.owner_count == 0) {
        return true;
    }
    uint32_t *irregular = (uint32_t *)l->irregular.items + 2 * (size_t)first_block;
    uint32_t *corrected = (uint32_t *)l->corrected.items + 2 * (size_t)first_block;
    mark_owners(&shape->gather, shape->direct, l->irregulars, irregular);
    mark_owners(&shape->scatter, shape->listed, l->corrections, corrected);
    l->irregulars += shape->irregular_count;
    l->corrections += shape->scatter.owner_count;
    bool ok = true;
    for (uint32_t n = 0; ok && n < shape->block_count; n++) {
        ok = lmi_gpu_flag_lanes(l, first_block + n, irregular[2 * n + 1] & 0xffffu, corrected[2 * n + 1] & 0xffffu);
    }
    return ok;
}

/* --- lists --- */

static uint32_t tile_of(const lmi_gpu_grid *grid, const int32_t corner[3])
{
    uint32_t x = ((uint32_t)corner[0] + grid->phase) / grid->size[0];
    return ((uint32_t)corner[2] / grid->size[2] * grid->count[1] + (uint32_t)corner[1] / grid->size[1]) *
               grid->count[0] +
           x;
}

/* The owners of each tile, one after the other: `first` as lmi_gpu_add_lists, from 0 on, and who they are. */
static void sort_owners(const lmi_lattice *shape, const lmi_lattice_lists *from, const lmi_gpu_grid *grid,
                        uint32_t *first, uint32_t *sorted)
{
    const uint32_t tiles = grid->count[0] * grid->count[1] * grid->count[2];
    int32_t corner[3];
    memset(first, 0, (tiles + 1) * sizeof *first);
    for (uint32_t n = 0; n < from->owner_count; n++) {
        lmi_lattice_corner(shape, from->owner[n], corner);
        first[tile_of(grid, corner) + 1]++;
    }
    for (uint32_t n = 0; n < tiles; n++) {
        first[n + 1] += first[n];
    }
    for (uint32_t n = from->owner_count; n-- > 0;) { /* from behind, so that each tile's stay in their order */
        lmi_lattice_corner(shape, from->owner[n], corner);
        sorted[--first[tile_of(grid, corner) + 1]] = n;
    }
    memmove(first, first + 1, tiles * sizeof *first);
    first[tiles] = from->owner_count;
}

/* Where the host has the list of each owner: its first row, and the end of its rows; what fills these up counts for nothing. */
static void find_rows(const lmi_lattice_lists *from, uint32_t (*row)[3])
{
    for (uint32_t n = 0; n < from->group_count * LMI_BLOCK; n++) {
        if (from->who[n] != LMI_LATTICE_NONE) {
            uint32_t *to = row[from->who[n]];
            to[0] = from->group_row[n / LMI_BLOCK];
            to[1] = from->group_row[n / LMI_BLOCK + 1];
            to[2] = n % LMI_BLOCK;
        }
    }
}

/* The entries of one list, two words each; returns how many there are. */
static uint32_t pack_entries(const lmi_lattice_lists *from, const uint32_t row[3], uint32_t *to)
{
    uint32_t count = 0;
    for (uint32_t n = row[0]; n < row[1]; n++) {
        const float *offset = from->offset + (size_t)n * 4 * LMI_BLOCK + row[2];
        int8_t bytes[4];
        for (int i = 0; i < 4; i++) {
            bytes[i] = (int8_t)offset[i * LMI_BLOCK];
        }
        if (bytes[3] != 0) {
            to[2 * (size_t)count] = from->member[(size_t)n * LMI_BLOCK + row[2]];
            memcpy(to + 2 * (size_t)count + 1, bytes, sizeof bytes);
            count++;
        }
    }
    return count;
}

/* Lists that another body has already, which are those of `now`; or null. Where their entries begin may differ. */
static const known_lists *find_lists(const lists *to, const known_lists *now)
{
    const uint32_t *entries = to->entries.items;
    const lmi_gpu_list *mine = (const lmi_gpu_list *)to->items.items + now->first;
    for (uint32_t n = 0; n < to->known.count; n++) {
        const known_lists *k = (const known_lists *)to->known.items + n;
        const lmi_gpu_list *its = (const lmi_gpu_list *)to->items.items + k->first;
        bool same = k->hash == now->hash && k->count == now->count && k->entry_count == now->entry_count &&
                    memcmp(entries + 2 * (size_t)k->first_entry, entries + 2 * (size_t)now->first_entry,
                           2 * (size_t)now->entry_count * sizeof *entries) == 0;
        for (uint32_t i = 0; same && i < now->count; i++) {
            same = its[i].owner == mine[i].owner && its[i].count == mine[i].count &&
                   memcmp(its[i].corner, mine[i].corner, sizeof mine[i].corner) == 0;
        }
        if (same) {
            return k;
        }
    }
    return NULL;
}

/* The lists of `sorted` owners behind those that are there; false when out of memory. */
static bool append_lists(layout *l, const lmi_lattice *shape, const lmi_lattice_lists *from, const uint32_t *sorted,
                         uint32_t (*row)[3], lists *to, known_lists *now)
{
    *now = (known_lists){.first = to->items.count, .count = from->owner_count, .first_entry = to->entries.count / 2};
    lmi_gpu_list *items = append(l->world, &to->items, from->owner_count, sizeof *items);
    uint32_t *entries = append(l->world, &to->entries, 2 * from->row_count * LMI_BLOCK, sizeof *entries);
    if (!items || !entries) {
        return false;
    }
    for (uint32_t n = 0; n < from->owner_count; n++) {
        lmi_gpu_list *list = &items[n];
        *list = (lmi_gpu_list){.owner = sorted[n], .first = now->first_entry + now->entry_count};
        list->count = pack_entries(from, row[sorted[n]], entries + 2 * (size_t)now->entry_count);
        lmi_lattice_corner(shape, from->owner[sorted[n]], list->corner);
        now->entry_count += list->count;
    }
    to->entries.count = 2 * (now->first_entry + now->entry_count);
    now->hash = lmi_gpu_hash(entries, 2 * (size_t)now->entry_count * sizeof *entries);
    return true;
}

bool lmi_gpu_add_lists(layout *l, const lmi_lattice *shape, const lmi_lattice_lists *from, const lmi_gpu_grid *grid,
                       lists *to, uint32_t *first)
{
    array order = {NULL, 0, 0}, where = {NULL, 0, 0};
    uint32_t *sorted = append(l->world, &order, from->owner_count, sizeof *sorted);
    uint32_t(*row)[3] = append(l->world, &where, from->owner_count, sizeof *row);
    known_lists now = {0};
    bool ok = sorted && row;
    if (ok) {
        sort_owners(shape, from, grid, first, sorted);
        find_rows(from, row);
        ok = append_lists(l, shape, from, sorted, row, to, &now);
    }
    const known_lists *same = ok && now.count ? find_lists(to, &now) : NULL;
    if (same) {
        to->items.count = now.first;
        to->entries.count = 2 * now.first_entry;
        now = *same;
    } else if (ok && now.count) {
        known_lists *known = append(l->world, &to->known, 1, sizeof now);
        ok = known != NULL;
        if (known) {
            *known = now;
        }
    }
    for (uint32_t n = 0; ok && n <= grid->count[0] * grid->count[1] * grid->count[2]; n++) {
        first[n] += now.first;
    }
    drop(l->world, &order, sizeof *sorted);
    drop(l->world, &where, sizeof *row);
    return ok;
}

static bool put_lists(lmi_gpu *gpu, lmi_gpu_lists *to, const lists *from)
{
    return put_array(gpu, &to->lists, &from->items, sizeof(lmi_gpu_list)) &&
           put_array(gpu, &to->entries, &from->entries, sizeof(uint32_t));
}

bool lmi_gpu_upload_lists(layout *l)
{
    lmi_gpu *gpu = l->gpu;
    const size_t u = sizeof(uint32_t), f = sizeof(float);
    array none = {NULL, 0, 0};
    bool some = l->irregulars || l->corrections;
    return put_lists(gpu, &gpu->gather, &l->gather) && put_lists(gpu, &gpu->scatter, &l->scatter) &&
           put_array(gpu, &gpu->irregular, some ? &l->irregular : &none, u) &&
           put_array(gpu, &gpu->corrected, some ? &l->corrected : &none, u) &&
           lmi_gpu_reserve(gpu, &gpu->irregular_moments, (size_t)l->irregulars * LMI_BLOCK * f) &&
           lmi_gpu_reserve(gpu, &gpu->kept, (size_t)l->irregulars * LMI_BLOCK * f) &&
           lmi_gpu_reserve(gpu, &gpu->corrections, (size_t)l->corrections * 4 * f);
}
