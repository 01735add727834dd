/*
 * Plates of a lattice (lattice/lattice.h): what regions have in common, found once.
 *
 * A row of a region is bits, by place in its tile. It is divided at the highest power of two that is between its ends, and so
 * are its halves, down to single particles; rows of a plane are joined in the same manner. Everything is looked up by what
 * it is made of before it is made. A region of the width 8 that has a thousand members so needs some twenty additions, most
 * of them of whole plates.
 *
 * Regions come plane by plane, and reach `width` planes up and down: tables are kept for so many planes only, and used again.
 */
#include "lattice/lattice_plates.h"
#include "base/compiler.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Bits below the first corner of a tile: a region reaches so far out of it. A multiple of LMI_BLOCK. */
#define MARGIN 16

/* Corners along a side of a tile. A moment about the middle of the tile is rounded as that of a member half a tile farther
 * away than any is, and what borders on a tile is in more than one: this is between the two. */
static uint32_t tile_for(uint32_t width) { return width <= 2 ? 8 : 16; }

/* --- tables --- */

static uint32_t slot_of(const lmi_plates_table *t, const uint64_t key[2])
{
    uint64_t hash = lmi_hash_word(lmi_hash_word(LMI_HASH_SEED, key[0]), key[1]);
    uint32_t at = (uint32_t)(hash >> 16) & (t->size - 1);
    while (t->entries[at].value && (t->entries[at].key[0] != key[0] || t->entries[at].key[1] != key[1])) {
        at = (at + 1) & (t->size - 1);
    }
    return at;
}

static uint32_t look_up(const lmi_plates_table *t, const uint64_t key[2])
{
    return t->size ? t->entries[slot_of(t, key)].value - 1 : LMI_LATTICE_NONE;
}

static bool grow_table(lmi_memory *memory, lmi_plates_table *t)
{
    lmi_plates_table larger = {.size = t->size ? 2 * t->size : 1024, .used = t->used};
    larger.entries = lmi_allocate(memory, larger.size, sizeof *larger.entries);
    if (!larger.entries) {
        return false;
    }
    for (uint32_t n = 0; n < t->size; n++) {
        if (t->entries[n].value) {
            larger.entries[slot_of(&larger, t->entries[n].key)] = t->entries[n];
        }
    }
    lmi_release(memory, t->entries, t->size, sizeof *t->entries);
    *t = larger;
    return true;
}

/* Of a key that is not there. */
static bool enter(lmi_memory *memory, lmi_plates_table *t, const uint64_t key[2], uint32_t value)
{
    if (2 * (t->used + 1) > t->size && !grow_table(memory, t)) {
        return false;
    }
    lmi_plates_entry entry = {{key[0], key[1]}, value + 1};
    t->entries[slot_of(t, key)] = entry;
    t->used++;
    return true;
}

static void clear_table(lmi_plates_table *t)
{
    if (t->used) {
        memset(t->entries, 0, t->size * sizeof *t->entries);
    }
    t->used = 0;
}

/* --- parts of a plane --- */

/* LMI_LATTICE_NONE when out of memory; so with all that follow. */
static uint32_t add_node(lmi_plates_draft *d, lmi_plates_plane *p, const uint64_t key[2], lmi_plates_node node)
{
    void *nodes = p->node;
    bool ok = lmi_reserve(d->memory, &nodes, &p->node_capacity, p->node_count + 1, sizeof node);
    p->node = nodes;
    if (!ok || !enter(d->memory, &p->nodes_by_key, key, p->node_count)) {
        return LMI_LATTICE_NONE;
    }
    p->node[p->node_count] = node;
    return p->node_count++;
}

static uint32_t pair_of(lmi_plates_draft *d, lmi_plates_plane *p, uint32_t a, uint32_t b)
{
    const uint64_t key[2] = {(uint64_t)a << 32 | b, UINT64_MAX};
    uint32_t found = look_up(&p->nodes_by_key, key);
    return found != LMI_LATTICE_NONE ? found : add_node(d, p, key, (lmi_plates_node){a, b, 0});
}

/* Where a row is. */
typedef struct row_place {
    uint32_t tile, z;
    int32_t x; /* corner of bit 0 */
    int32_t y;
} row_place;

/* The particles of a row whose bits are set. */
static uint32_t bar_of(lmi_plates_draft *d, lmi_plates_plane *p, const row_place *row, uint64_t bits)
{
    const uint64_t key[2] = {bits, (uint64_t)row->tile << 32 | (uint32_t)row->y};
    uint32_t found = look_up(&p->nodes_by_key, key);
    if (found != LMI_LATTICE_NONE) {
        return found;
    }
    int low = lmi_low_bit(bits), high = lmi_high_bit(bits);
    if (low == high) {
        const lmi_lattice *l = d->lattice;
        uint32_t x = (uint32_t)(row->x + low + (int32_t)l->phase), block_x = x / LMI_BLOCK;
        uint32_t block = d->map->block[((size_t)row->z * l->size[1] + (size_t)row->y) * d->map->blocks_x + block_x];
        return add_node(d, p, key, (lmi_plates_node){LMI_LATTICE_NONE, block * LMI_BLOCK + x % LMI_BLOCK, row->tile});
    }
    int level = lmi_high_bit((uint32_t)(low ^ high));
    uint64_t upper = bits >> (high >> level << level) << (high >> level << level);
    uint32_t a = bar_of(d, p, row, bits & ~upper), b = a == LMI_LATTICE_NONE ? a : bar_of(d, p, row, upper);
    return b == LMI_LATTICE_NONE ? b : add_node(d, p, key, (lmi_plates_node){a, b, 0});
}

/* Rows side by side along y, by their places in the tile. */
static uint32_t join(lmi_plates_draft *d, lmi_plates_plane *p, const uint32_t *bar, const uint8_t *y, uint32_t count)
{
    if (count == 1) {
        return bar[0];
    }
    int level = lmi_high_bit((uint32_t)(y[0] ^ y[count - 1]));
    uint32_t lower = 1;
    while (y[lower] >> level == y[0] >> level) {
        lower++;
    }
    uint32_t a = join(d, p, bar, y, lower);
    uint32_t b = a == LMI_LATTICE_NONE ? a : join(d, p, bar + lower, y + lower, count - lower);
    return b == LMI_LATTICE_NONE ? b : pair_of(d, p, a, b);
}

/* The rows of a region in one plane. */
static uint32_t plate_of(lmi_plates_draft *d, lmi_plates_plane *p, row_place row, uint32_t shift, uint32_t first_y,
                         const uint32_t *bits)
{
    uint32_t bar[LMI_LATTICE_SIDE], count = 0, side = 2 * d->lattice->width + 1;
    uint8_t y[LMI_LATTICE_SIDE];
    uint64_t key[2] = {LMI_HASH_SEED ^ row.tile, ~(uint64_t)LMI_HASH_SEED ^ row.tile};
    for (uint32_t n = 0; n < side; n++) {
        if (bits[n]) {
            uint64_t what = (uint64_t)bits[n] << shift, where = (uint64_t)(first_y + n);
            key[0] = lmi_hash_word(lmi_hash_word(key[0], what), where);
            key[1] = lmi_hash_word(lmi_hash_word(key[1], where), what);
        }
    }
    uint32_t found = look_up(&p->plates_by_key, key);
    if (found != LMI_LATTICE_NONE) {
        return found;
    }
    int32_t from = row.y;
    for (uint32_t n = 0; n < side; n++) {
        if (bits[n]) {
            row.y = from + (int32_t)n;
            bar[count] = bar_of(d, p, &row, (uint64_t)bits[n] << shift);
            if (bar[count] == LMI_LATTICE_NONE) {
                return LMI_LATTICE_NONE;
            }
            y[count++] = (uint8_t)(first_y + n);
        }
    }
    uint32_t node = join(d, p, bar, y, count);
    void *plates = p->plate;
    bool ok = node != LMI_LATTICE_NONE &&
              lmi_reserve(d->memory, &plates, &p->plate_capacity, p->plate_count + 1, sizeof *p->plate);
    p->plate = plates;
    if (!ok || !enter(d->memory, &p->plates_by_key, key, p->plate_count)) {
        return LMI_LATTICE_NONE;
    }
    p->plate[p->plate_count] = node;
    return p->plate_count++;
}

/* --- a plane that has all its plates --- */

/* A leaf before it has a number. */
typedef struct loose_leaf {
    uint32_t particle, tile, node;
} loose_leaf;

static int compare_leaves(const void *a, const void *b)
{
    const loose_leaf *x = a, *y = b;
    uint32_t i = x->particle / LMI_BLOCK, k = y->particle / LMI_BLOCK;
    if (i != k) {
        return i < k ? -1 : 1;
    }
    if (x->tile != y->tile) {
        return x->tile < y->tile ? -1 : 1;
    }
    return x->particle < y->particle ? -1 : x->particle > y->particle;
}

/* Numbers the leaves by block, tile and lane, and adds their groups. */
static bool group_leaves(lmi_plates_draft *d, const lmi_plates_plane *p, loose_leaf *leaf, uint32_t *record)
{
    const lmi_lattice *l = d->lattice;
    uint32_t count = 0;
    for (uint32_t n = 0; n < p->node_count; n++) {
        if (p->node[n].a == LMI_LATTICE_NONE) {
            leaf[count++] = (loose_leaf){p->node[n].b, p->node[n].tile, n};
        }
    }
    qsort(leaf, count, sizeof *leaf, compare_leaves);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t block = leaf[n].particle / LMI_BLOCK, tile = leaf[n].tile;
        record[leaf[n].node] = n + 1;
        if (n == 0 || block != leaf[n - 1].particle / LMI_BLOCK || tile != leaf[n - 1].tile) {
            void *groups = d->to.leaves;
            bool ok =
                lmi_reserve(d->memory, &groups, &d->leaves_capacity, d->to.leaves_count + 1, sizeof *d->to.leaves);
            d->to.leaves = groups;
            if (!ok) {
                return false;
            }
            int32_t side = (int32_t)d->to.tile, middle = side / 2;
            int32_t x = l->at[block][0] + (int32_t)l->phase - (int32_t)(tile % d->tiles_x) * side;
            int32_t y = l->at[block][1] - (int32_t)(tile / d->tiles_x) * side;
            lmi_lattice_leaves group = {block - l->plane_block[l->at[block][2]] + 1, n + 1, 0, (int16_t)(x - middle),
                                        (int16_t)(y - middle)};
            d->to.leaves[d->to.leaves_count++] = group;
        }
        lmi_lattice_leaves *group = &d->to.leaves[d->to.leaves_count - 1];
        group->lanes = (uint16_t)(group->lanes | 1u << leaf[n].particle % LMI_BLOCK);
    }
    d->to.storey[d->done].leaf_count = count;
    return true;
}

/* Pairs in the order in which they were made, parts before what they make up. A pair that is a plate and nothing else is left
 * to the plates: `uses` says how often each node is used. */
static bool add_pairs(lmi_plates_draft *d, const lmi_plates_plane *p, const uint32_t *uses, uint32_t *record)
{
    void *pairs = d->to.pair, *plates = d->to.plate;
    bool ok = lmi_reserve(d->memory, &pairs, &d->pair_capacity, d->to.pair_count + p->node_count, sizeof *d->to.pair);
    d->to.pair = pairs;
    ok = ok &&
         lmi_reserve(d->memory, &plates, &d->plate_capacity, d->to.plate_count + p->plate_count, sizeof *d->to.plate);
    d->to.plate = plates;
    uint32_t next = ok ? d->to.storey[d->done].leaf_count + 1 : 0;
    for (uint32_t n = 0; ok && n < p->node_count; n++) {
        if (p->node[n].a != LMI_LATTICE_NONE && uses[n]) {
            record[n] = next++;
            d->to.pair[d->to.pair_count][0] = record[p->node[n].a];
            d->to.pair[d->to.pair_count++][1] = record[p->node[n].b];
        }
    }
    for (uint32_t n = 0; ok && n < p->plate_count; n++) {
        const lmi_plates_node *node = &p->node[p->plate[n]];
        bool own = !record[p->plate[n]];
        d->to.plate[d->to.plate_count][0] = own ? record[node->a] : record[p->plate[n]];
        d->to.plate[d->to.plate_count++][1] = own ? record[node->b] : 0;
    }
    d->to.most_records = next > d->to.most_records ? next : d->to.most_records;
    return ok;
}

static bool finish_plane(lmi_plates_draft *d)
{
    lmi_plates_plane *p = &d->plane[d->done % (2 * d->lattice->width + 1)];
    loose_leaf *leaf = lmi_allocate(d->memory, p->node_count, sizeof *leaf);
    uint32_t *record = lmi_allocate(d->memory, p->node_count, sizeof *record);
    uint32_t *uses = lmi_allocate(d->memory, p->node_count, sizeof *uses);
    lmi_lattice_storey *storey = &d->to.storey[d->done];
    storey->leaves = d->to.leaves_count;
    storey->pair = d->to.pair_count;
    storey->plate = d->to.plate_count;
    bool ok = leaf && record && uses;
    for (uint32_t n = 0; ok && n < p->node_count; n++) {
        if (p->node[n].a != LMI_LATTICE_NONE) {
            uses[p->node[n].a]++;
            uses[p->node[n].b]++;
        }
    }
    ok = ok && group_leaves(d, p, leaf, record) && add_pairs(d, p, uses, record);
    lmi_release(d->memory, leaf, p->node_count, sizeof *leaf);
    lmi_release(d->memory, record, p->node_count, sizeof *record);
    lmi_release(d->memory, uses, p->node_count, sizeof *uses);
    clear_table(&p->nodes_by_key);
    clear_table(&p->plates_by_key);
    p->node_count = p->plate_count = 0;
    d->done++;
    return ok;
}

/* --- regions --- */

bool lmi_plates_begin(lmi_memory *memory, const lmi_lattice *l, const lmi_lattice_map *map, lmi_plates_draft *d)
{
    memset(d, 0, sizeof *d);
    d->memory = memory;
    d->lattice = l;
    d->map = map;
    d->to.tile = tile_for(l->width);
    d->tiles_x = map->blocks_x * LMI_BLOCK / d->to.tile;
    d->to.storey = lmi_allocate(memory, (size_t)l->plane_count + 1, sizeof *d->to.storey);
    d->to.stack = lmi_allocate(memory, l->particle_count, sizeof *d->to.stack);
    return d->to.storey && d->to.stack;
}

lm_result lmi_plates_add(lmi_plates_draft *d, uint32_t particle,
                         const uint32_t reach[LMI_LATTICE_SIDE][LMI_LATTICE_SIDE])
{
    const lmi_lattice *l = d->lattice;
    int32_t corner[3], w = (int32_t)l->width;
    lmi_lattice_corner(l, particle, corner);
    while ((int32_t)d->done < corner[2] - w) {
        if (!finish_plane(d)) {
            return LM_ERROR_MEMORY;
        }
    }
    /* Places in the tile, and what they are in the lattice. */
    uint32_t x = (uint32_t)corner[0] + l->phase, side = d->to.tile;
    int32_t in_tile = (int32_t)(x % side), y_in_tile = corner[1] % (int32_t)side;
    uint32_t tile_x = x / side, tile_y = (uint32_t)corner[1] / side;
    row_place row = {tile_y * d->tiles_x + tile_x, 0, corner[0] - in_tile - MARGIN, corner[1] - w};
    lmi_lattice_stack *stack = &d->to.stack[d->stack_count++];
    stack->first = d->to.floor_count;
    void *floors = d->to.floor;
    bool ok =
        lmi_reserve(d->memory, &floors, &d->floor_capacity, d->to.floor_count + 2 * l->width + 1, sizeof(uint32_t));
    d->to.floor = floors;
    for (int32_t z = 0; ok && z <= 2 * w; z++) {
        uint32_t any = 0;
        for (int32_t y = 0; y <= 2 * w; y++) {
            any |= reach[z][y];
        }
        if (any) { /* planes that a region reaches are side by side */
            row.z = (uint32_t)(corner[2] - w + z);
            lmi_plates_plane *p = &d->plane[row.z % (2 * l->width + 1)];
            uint32_t plate =
                plate_of(d, p, row, (uint32_t)(in_tile + MARGIN - w), (uint32_t)(y_in_tile + MARGIN - w), reach[z]);
            ok = plate != LMI_LATTICE_NONE;
            d->to.floor[d->to.floor_count++] = plate;
            stack->top = (int8_t)(z - w + 1);
            stack->count++;
        }
    }
    uint64_t total = (uint64_t)d->to.pair_count + d->to.floor_count;
    return !ok ? LM_ERROR_MEMORY : total > LMI_LATTICE_MOST_PAIRS ? LM_ERROR_LIMIT : LM_OK;
}

static void free_plates(lmi_memory *memory, const lmi_lattice *l, lmi_lattice_plates *t, uint32_t leaves,
                        uint32_t pairs, uint32_t plates, uint32_t floors)
{
    lmi_release(memory, t->storey, (size_t)l->plane_count + 1, sizeof *t->storey);
    lmi_release(memory, t->stack, l->particle_count, sizeof *t->stack);
    lmi_release(memory, t->leaves, leaves, sizeof *t->leaves);
    lmi_release(memory, t->pair, pairs, sizeof *t->pair);
    lmi_release(memory, t->plate, plates, sizeof *t->plate);
    lmi_release(memory, t->floor, floors, sizeof *t->floor);
    memset(t, 0, sizeof *t);
}

void lmi_plates_draft_free(lmi_plates_draft *d)
{
    for (uint32_t n = 0; n < LMI_LATTICE_SIDE; n++) {
        lmi_plates_plane *p = &d->plane[n];
        lmi_release(d->memory, p->nodes_by_key.entries, p->nodes_by_key.size, sizeof(lmi_plates_entry));
        lmi_release(d->memory, p->plates_by_key.entries, p->plates_by_key.size, sizeof(lmi_plates_entry));
        lmi_release(d->memory, p->node, p->node_capacity, sizeof *p->node);
        lmi_release(d->memory, p->plate, p->plate_capacity, sizeof *p->plate);
        memset(p, 0, sizeof *p);
    }
    free_plates(d->memory, d->lattice, &d->to, d->leaves_capacity, d->pair_capacity, d->plate_capacity,
                d->floor_capacity);
    d->leaves_capacity = d->pair_capacity = d->plate_capacity = d->floor_capacity = 0;
}

void lmi_lattice_plates_free(lmi_memory *memory, lmi_lattice *l)
{
    lmi_lattice_plates *t = &l->plates;
    free_plates(memory, l, t, t->leaves_count, t->pair_count, t->plate_count, t->floor_count);
}

/* A copy without the room to grow; null when out of memory. */
static void *fitted(lmi_memory *memory, const void *array, uint32_t count, size_t size)
{
    void *copy = lmi_allocate(memory, count, size);
    if (copy && count) {
        memcpy(copy, array, count * size);
    }
    return copy;
}

static uint32_t plates_in(const lmi_lattice_plates *t, uint32_t z)
{
    return t->storey[z + 1].plate - t->storey[z].plate;
}

/* Places in a ring for the plates of each plane, one after the other and from the beginning where the end is too near. False
 * when it is too small: when a plane is not clear of those within 2 width planes of it. */
static bool place_in_ring(const lmi_lattice *l, lmi_lattice_plates *t, uint32_t size)
{
    uint32_t at = 0, width = l->width;
    bool clear = true;
    for (uint32_t z = 0; z < l->plane_count; z++) {
        uint32_t count = plates_in(t, z);
        at = at + count > size ? 0 : at;
        for (uint32_t other = z > 2 * width ? z - 2 * width : 0; other < z; other++) {
            uint32_t from = t->storey[other].ring;
            clear = clear && (from + plates_in(t, other) <= at || at + count <= from);
        }
        t->storey[z].ring = at;
        at += count;
    }
    return clear;
}

/* The smallest ring, about: never more than the most that 2 width + 1 planes have and the largest plane besides, which may not
 * fit before the end. */
static void make_ring(const lmi_lattice *l, lmi_lattice_plates *t)
{
    uint32_t window = 0, most_in_window = 0, most = 0, planes = 2 * l->width + 1;
    for (uint32_t z = 0; z < l->plane_count; z++) {
        uint32_t count = plates_in(t, z);
        window += count - (z >= planes ? plates_in(t, z - planes) : 0);
        most = count > most ? count : most;
        most_in_window = window > most_in_window ? window : most_in_window;
    }
    t->ring_size = most_in_window;
    while (!place_in_ring(l, t, t->ring_size)) {
        t->ring_size += most / 16 + 1;
    }
}

bool lmi_plates_end(lmi_plates_draft *d, lmi_lattice *l)
{
    bool ok = true;
    while (ok && d->done < l->plane_count) {
        ok = finish_plane(d);
    }
    if (ok) {
        lmi_lattice_plates *t = &l->plates;
        lmi_lattice_storey end = {d->to.leaves_count, d->to.pair_count, d->to.plate_count, d->stack_count, 0, 0};
        *t = d->to;
        t->storey[l->plane_count] = end;
        d->to.storey = NULL;
        d->to.stack = NULL;
        t->leaves = fitted(d->memory, d->to.leaves, t->leaves_count, sizeof *t->leaves);
        t->pair = fitted(d->memory, d->to.pair, t->pair_count, sizeof *t->pair);
        t->plate = fitted(d->memory, d->to.plate, t->plate_count, sizeof *t->plate);
        t->floor = fitted(d->memory, d->to.floor, t->floor_count, sizeof *t->floor);
        for (uint32_t z = 0, n = 0; z < l->plane_count; z++) { /* stacks are in the order of particles */
            t->storey[z].stack = n;
            for (uint32_t block = l->plane_block[z]; block < l->plane_block[z + 1]; block++) {
                n += (uint32_t)lmi_bit_count(l->occupied[block]);
            }
        }
        make_ring(l, t);
        ok = t->leaves && t->pair && t->plate && t->floor;
        if (!ok) {
            lmi_lattice_plates_free(d->memory, l);
        }
    }
    lmi_plates_draft_free(d);
    return ok;
}

/* --- in double precision --- */

/* The leaves of a plane into its records. */
static void fill_leaves(const lmi_lattice *l, uint32_t z, uint32_t channels, lmi_plates_leaf *leaf, const void *context,
                        double *records)
{
    const lmi_lattice_storey *storey = &l->plates.storey[z];
    for (uint32_t n = storey->leaves; n < storey[1].leaves; n++) {
        const lmi_lattice_leaves *group = &l->plates.leaves[n];
        uint32_t block = l->plane_block[z] + group->place - 1, record = group->first;
        for (uint32_t left = group->lanes; left; left &= left - 1, record++) {
            int lane = lmi_low_bit(left);
            leaf(context, block * LMI_BLOCK + (uint32_t)lane, group->x + lane, group->y,
                 records + (size_t)record * channels);
        }
    }
}

static void add_records(const double *records, const uint32_t (*two)[2], uint32_t count, uint32_t channels, double *to)
{
    for (uint32_t n = 0; n < count; n++) {
        const double *a = records + (size_t)two[n][0] * channels, *b = records + (size_t)two[n][1] * channels;
        for (uint32_t c = 0; c < channels; c++) {
            *to++ = a[c] + b[c];
        }
    }
}

void lmi_lattice_plates_sum(const lmi_lattice *l, uint32_t channels, lmi_plates_leaf *leaf, const void *context,
                            double *records, double *plates)
{
    const lmi_lattice_plates *t = &l->plates;
    memset(records, 0, channels * sizeof *records);
    for (uint32_t z = 0; z < l->plane_count; z++) {
        const lmi_lattice_storey *s = &t->storey[z];
        fill_leaves(l, z, channels, leaf, context, records);
        add_records(records, (const uint32_t(*)[2])t->pair + s->pair, s[1].pair - s->pair, channels,
                    records + (size_t)(s->leaf_count + 1) * channels);
        add_records(records, (const uint32_t(*)[2])t->plate + s->plate, s[1].plate - s->plate, channels,
                    plates + (size_t)s->plate * channels);
    }
}

static void active_leaf(const void *context, uint32_t particle, double x, double y, double *record)
{
    const lmi_lattice *l = context;
    (void)x, (void)y;
    record[0] = l->active[particle / LMI_BLOCK] >> (particle % LMI_BLOCK) & 1;
}

bool lmi_lattice_plates_degrees(lmi_memory *memory, lmi_lattice *l)
{
    const lmi_lattice_stack *stack = l->plates.stack;
    double *records = lmi_allocate(memory, l->plates.most_records, sizeof *records);
    double *plates = lmi_allocate(memory, l->plates.plate_count, sizeof *plates);
    bool ok = records && plates;
    if (ok) {
        lmi_lattice_plates_sum(l, 1, active_leaf, l, records, plates);
    }
    for (uint32_t n = 0; ok && n < l->block_count * LMI_BLOCK; n++) {
        if (l->occupied[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1) {
            double count = 0.0;
            int32_t up;
            for (uint32_t k = 0; k < stack->count; k++) {
                count += *lmi_lattice_plate_of(l, stack, k, (uint32_t)l->at[n / LMI_BLOCK][2], plates, 1, &up);
            }
            l->degree[n] = (uint16_t)count;
            stack++;
        }
    }
    lmi_release(memory, records, l->plates.most_records, sizeof *records);
    lmi_release(memory, plates, l->plates.plate_count, sizeof *plates);
    return ok;
}
