/*
 * Tiles: what one work-group takes of a lattice (kernels/lattice.cl), a column of corners that is some planes long.
 *
 * A tile begins and ends with `width` planes that its neighbours have too, and its corners outside of the body do nothing. So a
 * body that fills its box is divided into as few and long columns as keep the device busy; one that does not into small ones,
 * of which the empty are left out. Regions are fitted in shorter columns than particles are moved, because planes that are
 * done twice cost less there.
 */
#include "gpu/small.h"

#include <stdlib.h>

/* Planes of a tile in a body that fills less than half of its box; in others see choose_planes. */
#define SPARSE_PLANES 16
#define LEAST_PLANES 8

/* Work-items of tiles that one multiprocessor has at work at once: registers allow for that many. */
#define BUSY_ITEMS 512

/* Tiles whose sums a work-group adds, and how many of them the one that concludes a substep adds by itself. */
#define PART_PARTIALS 64
#define FEW_PARTIALS 512

/* A lattice that is divided. */
typedef struct tiled {
    layout *l;
    const lmi_lattice *shape;
    const lmi_gpu_body *record;
    const uint32_t *map;
    uint32_t index; /* of the body */
    bool sparse;
} tiled;

/* Corners along x and y that a work-group takes: what local memory has room for, and what the body fills. */
static void choose_tile(const lmi_gpu *gpu, uint32_t width, const lmi_gpu_body *record, bool sparse, uint32_t *x,
                        uint32_t *y)
{
    *x = sparse ? (width == 1 ? 8 : 16) : width <= 5 && record->size[0] > 1 ? 32 : 16;
    *y = width <= 3 ? 8 : 4;
    *y = record->size[1] < *y ? (record->size[1] + 1) / 2 * 2 : *y;
    *x = gpu->limits.tile_x ? gpu->limits.tile_x : *x;
    *y = gpu->limits.tile_y ? gpu->limits.tile_y : *y;
}

/* Planes of a tile. A column in `parts` parts makes that many tiles, which run in rounds of as many as the device has room
 * for; each of them begins and ends with `width` planes that another one has too. */
static uint32_t choose_planes(const lmi_gpu *gpu, const lmi_gpu_body *record, const struct lmi_gpu_kind *kind)
{
    uint32_t across = (record->size[0] * LMI_BLOCK + kind->tile_x - 1) / kind->tile_x, high = record->size[2];
    across *= (record->size[1] + kind->tile_y - 1) / kind->tile_y;
    uint32_t room = BUSY_ITEMS / (kind->tile_x * kind->tile_y) * gpu->units, best = high;
    uint64_t least = UINT64_MAX;
    for (uint32_t parts = 1; parts == 1 || high / parts >= LEAST_PLANES; parts++) {
        uint32_t planes = (high + parts - 1) / parts;
        uint64_t rounds = ((uint64_t)across * parts + room - 1) / room, cost = rounds * (planes + 2 * kind->width);
        best = cost < least ? planes : best;
        least = cost < least ? cost : least;
    }
    return best;
}

static lmi_gpu_grid grid_of(const lmi_gpu_body *record, const struct lmi_gpu_kind *kind, uint32_t planes)
{
    lmi_gpu_grid grid = {{kind->tile_x, kind->tile_y, planes}, {0, 0, 0}, (uint32_t)record->phase};
    const uint32_t corners[3] = {record->size[0] * LMI_BLOCK, record->size[1], record->size[2]};
    for (int i = 0; i < 3; i++) {
        grid.count[i] = (corners[i] + grid.size[i] - 1) / grid.size[i];
    }
    return grid;
}

/* Whether a tile has a particle in a plane. */
static bool is_occupied(const tiled *t, const lmi_gpu_grid *grid, const lmi_gpu_tile *tile, uint32_t z)
{
    const uint32_t *size = t->record->size, from = (uint32_t)tile->x, end = from + grid->size[0];
    for (uint32_t y = (uint32_t)tile->y; y < (uint32_t)tile->y + grid->size[1] && y < size[1]; y++) {
        for (uint32_t x = from / LMI_BLOCK; x < size[0] && x * LMI_BLOCK < end; x++) {
            uint32_t block = t->map[2 * ((z * size[1] + y) * size[0] + x)], lane = x * LMI_BLOCK, lanes = 0xffffu;
            lanes &= from > lane ? 0xffffu << (from - lane) : 0xffffu;
            lanes &= end < lane + LMI_BLOCK ? 0xffffu >> (lane + LMI_BLOCK - end) : 0xffffu;
            if (block != LMI_GPU_NONE && t->shape->occupied[block] & lanes) {
                return true;
            }
        }
    }
    return false;
}

/* The planes of a tile from the first to the last with a particle; none: 0. */
static uint32_t trim(const tiled *t, const lmi_gpu_grid *grid, lmi_gpu_tile *tile)
{
    uint32_t first = (uint32_t)tile->z, end = first + grid->size[2];
    end = end < t->record->size[2] ? end : t->record->size[2];
    while (first < end && !is_occupied(t, grid, tile, first)) {
        first++;
    }
    while (first < end && !is_occupied(t, grid, tile, end - 1)) {
        end--;
    }
    tile->z = (int32_t)first;
    return end - first;
}

static bool add_tile(lm_world *world, lmi_gpu_tiles *to, lmi_gpu_tile tile)
{
    void *items = to->items;
    if (to->count == to->capacity &&
        !lmi_reserve(&world->memory, &items, &to->capacity, 2 * to->capacity + 64, sizeof tile)) {
        return false;
    }
    to->items = items;
    to->items[to->count++] = tile;
    return true;
}

/* All tiles of a grid that have a particle, with their lists, and places for their sums from `partial` on. */
static bool divide(const tiled *t, const lmi_gpu_grid *grid, const uint32_t *first, uint32_t *partial,
                   lmi_gpu_tiles *to)
{
    const uint32_t count = grid->count[0] * grid->count[1] * grid->count[2];
    for (uint32_t n = 0; n < count; n++) {
        lmi_gpu_tile tile = {.body = t->index,
                             .x = (int32_t)(n % grid->count[0] * grid->size[0]),
                             .y = (int32_t)(n / grid->count[0] % grid->count[1] * grid->size[1]),
                             .z = (int32_t)(n / grid->count[0] / grid->count[1] * grid->size[2]),
                             .partial = *partial,
                             .list = first[n],
                             .lists = first[n + 1] - first[n]};
        tile.planes = trim(t, grid, &tile);
        *partial += tile.planes > 0;
        if (tile.planes && !add_tile(t->l->world, to, tile)) {
            return false;
        }
    }
    return true;
}

/* Tiles of so many planes, with these lists. */
static bool add_columns(const tiled *t, const struct lmi_gpu_kind *kind, uint32_t planes, const lmi_lattice_lists *from,
                        lists *into, uint32_t *partial, lmi_gpu_tiles *to)
{
    const lmi_gpu_grid grid = grid_of(t->record, kind, planes);
    array room = {NULL, 0, 0};
    uint32_t *first = append(t->l->world, &room, grid.count[0] * grid.count[1] * grid.count[2] + 1, sizeof *first);
    bool ok =
        first && lmi_gpu_add_lists(t->l, t->shape, from, &grid, into, first) && divide(t, &grid, first, partial, to);
    drop(t->l->world, &room, sizeof *first);
    return ok;
}

/* Whether all regions have the whole stiffness, or none. */
static bool is_even(const lmi_lattice *shape)
{
    bool even = true;
    for (uint32_t n = 0; n < shape->constants_count; n++) {
        const float *rho = shape->constants + ((size_t)n * shape->channels + LMI_LATTICE_RHO) * LMI_BLOCK;
        for (int lane = 0; lane < LMI_BLOCK; lane++) {
            even = even && (rho[lane] == 0.0f || rho[lane] == 1.0f);
        }
    }
    return even;
}

bool lmi_gpu_add_tiles(layout *l, const lmi_body *body, uint32_t index, lmi_gpu_body *record)
{
    const lmi_lattice *shape = &body->lattice->shape;
    const lmi_gpu_limits *limits = &l->gpu->limits;
    const uint32_t *map = (const uint32_t *)l->map.items + 2 * (size_t)record->map;
    const uint64_t box = (uint64_t)record->size[0] * LMI_BLOCK * record->size[1] * record->size[2];
    const tiled t = {l, shape, record, map, index, 2 * (uint64_t)shape->particle_count < box};
    struct lmi_gpu_kind kind = {.width = shape->width,
                                .channels = l->channels,
                                .linear = body->material.mode == LM_MODE_LINEAR,
                                .surfaces = l->world->colliders.alive && !l->gpu->shares && !l->gpu->walled,
                                .even = is_even(shape),
                                .lists = shape->irregular_count || shape->scatter.owner_count};
    if (lmi_gpu_is_small(l->gpu, shape)) {
        return lmi_gpu_add_small(l, shape, index, &kind);
    }
    choose_tile(l->gpu, shape->width, record, t.sparse, &kind.tile_x, &kind.tile_y);
    lmi_gpu_variant *v = lmi_gpu_find_variant(l->world, l->gpu, &kind);
    if (!v) {
        return false;
    }
    const uint32_t full = t.sparse ? 0 : choose_planes(l->gpu, record, &kind);
    uint32_t fit = limits->planes ? limits->planes : t.sparse ? SPARSE_PLANES : full, unused = 0;
    uint32_t move = limits->move_planes ? limits->move_planes : limits->planes;
    move = move ? move : t.sparse ? SPARSE_PLANES : full;
    record->first_partial = l->partials;
    bool ok = add_columns(&t, &kind, fit, &shape->gather, &l->gather, &unused, &v->to_fit) &&
              add_columns(&t, &kind, move, &shape->scatter, &l->scatter, &l->partials, &v->to_move);
    record->partials = l->partials - record->first_partial;
    return ok;
}

/* Where a body has many tiles their sums are added in parts first, side by side. */
bool lmi_gpu_add_parts(layout *l)
{
    for (uint32_t n = 0; n < l->gpu->lattice_count; n++) {
        lmi_gpu_body *record = &l->gpu->records[n];
        if (lmi_gpu_is_kept(l->gpu, lmi_body_at(l->world, l->gpu->slots[n])) ||
            record->partials <= (lmi_gpu_has_few(l->gpu) ? FEW_PARTIALS : PART_PARTIALS)) {
            continue;
        }
        uint32_t from = record->first_partial, end = from + record->partials;
        record->first_partial = l->partials;
        for (; from < end; from += PART_PARTIALS) {
            lmi_gpu_chunk *part = append(l->world, &l->parts, 1, sizeof *part);
            if (!part) {
                return false;
            }
            uint32_t left = end - from;
            *part = (lmi_gpu_chunk){n, from, left < PART_PARTIALS ? left : PART_PARTIALS, l->partials++};
        }
        record->partials = l->partials - record->first_partial;
    }
    return true;
}

/* --- what is kept --- */

/* Of things whose first word says which record they belong to: those of bodies that are kept, by the numbers that these have now. The
 * last ones go where others were, so that most stay where they are. Returns how many there are. */
static uint32_t keep(const lmi_gpu *gpu, void *items, uint32_t count, size_t size)
{
    char *bytes = items;
    for (uint32_t n = 0; n < count;) {
        uint32_t body;
        memcpy(&body, bytes + n * size, sizeof body);
        body = gpu->renumber[body];
        if (body == LMI_GPU_NONE) {
            count--;
            memmove(bytes + n * size, bytes + count * size, size);
        } else {
            memcpy(bytes + n * size, &body, sizeof body);
            n++;
        }
    }
    return count;
}

void lmi_gpu_keep_tiles(layout *l)
{
    lmi_gpu *gpu = l->gpu;
    for (uint32_t n = 0; n < gpu->variant_count; n++) {
        lmi_gpu_variant *v = &gpu->variant[n];
        v->to_fit.count = keep(gpu, v->to_fit.items, v->to_fit.count, sizeof *v->to_fit.items);
        v->to_move.count = keep(gpu, v->to_move.items, v->to_move.count, sizeof *v->to_move.items);
        v->small_count = keep(gpu, v->small_body, v->small_count, sizeof *v->small_body);
    }
    l->parts.count = keep(gpu, l->parts.items, l->parts.count, sizeof(lmi_gpu_chunk));
}

/* --- to the device --- */

/* The longest first, so that short ones fill up the end of a launch; else as they are. */
static int compare_tiles(const void *a, const void *b)
{
    const lmi_gpu_tile *p = a, *q = b;
    if (p->planes != q->planes) {
        return p->planes < q->planes ? 1 : -1;
    }
    return (p->partial > q->partial) - (p->partial < q->partial);
}

static bool put_tiles(lmi_gpu *gpu, lmi_gpu_tiles *tiles)
{
    if (tiles->count > 1 && gpu->whole) { /* a few more do not change their order */
        qsort(tiles->items, tiles->count, sizeof *tiles->items, compare_tiles);
    }
    return lmi_gpu_renew(gpu, &tiles->buffer, tiles->items, tiles->count * sizeof *tiles->items);
}

bool lmi_gpu_upload_tiles(lmi_gpu *gpu)
{
    bool ok = true;
    for (uint32_t n = 0; ok && n < gpu->variant_count; n++) {
        lmi_gpu_variant *v = &gpu->variant[n];
        ok = put_tiles(gpu, &v->to_fit) && put_tiles(gpu, &v->to_move) &&
             lmi_gpu_renew(gpu, &v->smalls, v->small_body, v->small_count * sizeof *v->small_body);
    }
    return ok;
}

static void drop_tiles(lm_world *world, lmi_gpu_tiles *tiles)
{
    lmi_release(&world->memory, tiles->items, tiles->capacity, sizeof *tiles->items);
    tiles->items = NULL;
    tiles->capacity = 0;
}

void lmi_gpu_drop_tiles(lm_world *world, lmi_gpu *gpu)
{
    for (uint32_t n = 0; n < gpu->variant_count; n++) {
        lmi_gpu_variant *v = &gpu->variant[n];
        drop_tiles(world, &v->to_fit);
        drop_tiles(world, &v->to_move);
        lmi_release(&world->memory, v->small_body, v->small_capacity, sizeof *v->small_body);
        v->small_body = NULL;
        v->small_capacity = 0;
    }
}
