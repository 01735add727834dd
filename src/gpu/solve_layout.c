/*
 * What the kernels of solve_find.cl and solve.cl read and no step changes: bodies as solids, with the distances of their moulds, and
 * buckets for the contacts of others with each of their carriers and cells. Bodies of one mould share its distances.
 *
 * Bodies stand in the order of meet_layout.c, and so do their points and carriers.
 */
#include "contact/rubble.h"
#include "contact/soft.h"
#include "contact/windows.h"
#include "gpu/account.h"
#include "gpu/gpu_meet.h"
#include "gpu/layout.h"
#include "gpu/solve.h"
#include "touch/bulk.h"

#define QUAD 4 /* floats */

typedef struct solve_layout {
    lm_world *world;
    lmi_gpu *gpu;
    array solids, moulds, known, distances, rests, levers, facing, warmth, behind, ways;
    array windows, window_riders;
    array corners, around, cell_of, cells, bucket_owner, map_bucket, inner, leaders;
    uint32_t cuts; /* octrees that were cut, so far */
} solve_layout;

static bool put_words(solve_layout *l, array *to, const void *from, uint32_t count)
{
    void *at = append(l->world, to, count, sizeof(uint32_t));
    if (at && count) {
        memcpy(at, from, count * sizeof(uint32_t));
    }
    return at != NULL;
}

/* Where its windows begin, and one more, where they end; and their carriers. */
static bool add_windows(solve_layout *l, const lmi_mould *mould, uint32_t *windows)
{
    lmi_windows *w = lmi_windows_make(&l->world->memory, mould);
    const uint32_t first = l->window_riders.count / QUAD, count = w ? w->count : 0, riders = w ? w->first[count] : 0;
    uint32_t *begins = append(l->world, &l->windows, count + 1, sizeof *begins);
    float *levers = append(l->world, &l->window_riders, QUAD * riders, sizeof *levers);
    for (uint32_t n = 0; w && begins && n <= count; n++) {
        begins[n] = first + w->first[n];
    }
    for (uint32_t n = 0; levers && n < riders; n++) {
        memcpy(levers + QUAD * n, w->lever + 3 * (size_t)n, 3 * sizeof *levers);
        levers[QUAD * n + 3] = (float)w->carrier[n];
    }
    *windows = count;
    const bool ok = w && begins && (levers || !riders);
    lmi_windows_free(&l->world->memory, w);
    return ok;
}

/* The record of a body's mould, which is added where no body of the same mould has come before. */
static bool find_mould(solve_layout *l, const lmi_mould *mould, uint32_t *index)
{
    const lmi_mould *const *known = l->known.items;
    for (*index = l->known.count; (*index)-- > 0;) {
        if (known[*index] == mould) {
            return true;
        }
    }
    *index = l->known.count;
    const lmi_mould **added = append(l->world, &l->known, 1, sizeof(const lmi_mould *));
    lmi_gpu_mould *to = append(l->world, &l->moulds, 1, sizeof *to);
    if (!added || !to) {
        return false;
    }
    *added = mould;
    *to = (lmi_gpu_mould){.cell = mould->cell,
                          .deep = mould->deep,
                          .reach = mould->reach,
                          .far = mould->far,
                          .apart = mould->apart,
                          .first = {(float)mould->first.x, (float)mould->first.y, (float)mould->first.z},
                          .n = {mould->n[0], mould->n[1], mould->n[2]},
                          .first_distance = l->distances.count,
                          .first_rest = l->rests.count / QUAD,
                          .middle = {mould->rest_middle.x, mould->rest_middle.y, mould->rest_middle.z},
                          .carriers = mould->carrier_count,
                          .first_window = l->windows.count};
    if (!add_windows(l, mould, &to->windows)) {
        return false;
    }
    float *rests = append(l->world, &l->rests, QUAD * mould->carrier_count, sizeof *rests);
    float *levers = append(l->world, &l->levers, QUAD * mould->carrier_count, sizeof *levers);
    for (uint32_t n = 0; rests && levers && n < mould->carrier_count; n++) {
        const lm_vec3 *at = &mould->rest[n];
        memcpy(levers + QUAD * n, mould->lever + 3 * n, 3 * sizeof *levers);
        rests[QUAD * n] = at->x, rests[QUAD * n + 1] = at->y, rests[QUAD * n + 2] = at->z;
    }
    return rests && levers && put_words(l, &l->distances, mould->distance, mould->n[0] * mould->n[1] * mould->n[2]);
}

/* Which way points face, with the carrier that says so, and what they remember. */
static bool add_points(solve_layout *l, const lmi_body *body)
{
    const lmi_touch *touch = &body->touch;
    float *facing = append(l->world, &l->facing, QUAD * touch->count, sizeof *facing);
    float *warm = append(l->world, &l->warmth, QUAD * touch->count, sizeof *warm);
    float *behind = append(l->world, &l->behind, QUAD * touch->count, sizeof *behind);
    float *ways = append(l->world, &l->ways, QUAD * touch->count, sizeof *ways);
    uint32_t first = l->leaders.count, *leaders = append(l->world, &l->leaders, touch->count, sizeof *leaders);
    for (uint32_t n = 0; facing && warm && behind && ways && leaders && n < touch->count; n++) {
        leaders[n] = first + touch->leader[n];
        if (body->bulk) {
            const lm_vec3 *to = &touch->facing[n];
            facing[QUAD * n] = to->x, facing[QUAD * n + 1] = to->y, facing[QUAD * n + 2] = to->z;
            memcpy(&facing[QUAD * n + 3], &touch->carrier[n], sizeof(float));
        }
        warm[QUAD * n] = touch->warm[n].pressed;
        memcpy(warm + QUAD * n + 1, touch->warm[n].braked, 3 * sizeof *warm);
        memcpy(behind + QUAD * n, touch->warm[n].behind, 3 * sizeof *behind);
        behind[QUAD * n + 3] = 0.0f;
        const lmi_warm *last = &touch->warm[n];
        const uint32_t other =
            last->other && l->world->bodies.generations[last->other - 1] == last->generation ? last->other : 0;
        memcpy(ways + QUAD * n, last->out, 3 * sizeof *ways);
        memcpy(ways + QUAD * n + 3, &other, sizeof *ways);
    }
    return facing && warm && behind && ways && leaders;
}

/* Particles that no touch point rides on. */
static void mark_inner(solve_layout *l, const lmi_body *body, uint32_t first_particle)
{
    uint32_t *inner = (uint32_t *)l->inner.items + first_particle / LMI_BLOCK;
    for (uint32_t n = 0; n < body->touch.inner_blocks; n++) {
        inner[n] = body->touch.inner[n];
    }
}

/* The cells of a lattice: one for each place, with its corners; and for each place the buckets of the cells that it is a corner
 * of. */
static bool add_cells(solve_layout *l, const lmi_body *body, uint32_t first_particle, uint32_t first_bucket)
{
    const lmi_lattice *shape = &body->lattice->shape;
    uint32_t count = shape->block_count * LMI_BLOCK, first = l->cells.count * LMI_BLOCK;
    uint32_t *corners = append(l->world, &l->corners, 8 * count, sizeof *corners);
    uint32_t *around = append(l->world, &l->around, 8 * count, sizeof *around);
    uint32_t *cells = append(l->world, &l->cells, shape->block_count, sizeof *cells);
    uint32_t *cell_of = (uint32_t *)l->cell_of.items + first_particle;
    if (!corners || !around || !cells) {
        return false;
    }
    memset(around, 0xff, 8 * (size_t)count * sizeof *around);
    for (uint32_t n = 0; n < count; n++) {
        int32_t at[3];
        cells[n / LMI_BLOCK] = shape->cell[n / LMI_BLOCK];
        cell_of[n] = first + n;
        if (!(shape->cell[n / LMI_BLOCK] >> n % LMI_BLOCK & 1)) {
            continue;
        }
        lmi_lattice_corner(shape, n, at);
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t place = lmi_lattice_find(shape, at[0] + (int32_t)(k & 1), at[1] + (int32_t)(k >> 1 & 1),
                                              at[2] + (int32_t)(k >> 2));
            corners[8 * n + k] = first_particle + place;
            around[8 * place + k] = first_bucket + n;
        }
    }
    return true;
}

/* Each particle of a body that can break is the only corner of a cell, at a place of 0 in it. */
static bool add_balls(solve_layout *l, uint32_t count, uint32_t first_particle, uint32_t first_bucket)
{
    uint32_t first = l->cells.count * LMI_BLOCK;
    uint32_t *corners = append(l->world, &l->corners, 8 * count, sizeof *corners);
    uint32_t *around = append(l->world, &l->around, 8 * count, sizeof *around);
    uint32_t *cells = append(l->world, &l->cells, count / LMI_BLOCK, sizeof *cells);
    uint32_t *cell_of = (uint32_t *)l->cell_of.items + first_particle;
    for (uint32_t n = 0; corners && around && cells && n < count; n++) {
        cell_of[n] = first + n;
        for (uint32_t k = 0; k < 8; k++) {
            corners[8 * n + k] = first_particle + n;
            around[8 * n + k] = k ? LMI_GPU_NONE : first_bucket + n;
        }
    }
    return corners && around && cells;
}

static bool add_buckets(solve_layout *l, uint32_t count)
{
    uint32_t owner = l->solids.count - 1;
    uint32_t *owners = append(l->world, &l->bucket_owner, count, sizeof *owners);
    for (uint32_t n = 0; owners && n < count; n++) {
        owners[n] = owner;
    }
    return owners != NULL;
}

static bool add_body(solve_layout *l, uint32_t record, const lmi_body *body)
{
    lmi_gpu_bulk *s = append(l->world, &l->solids, 1, sizeof *s);
    uint32_t maps = body->bulk ? body->bulk->mould->carrier_count : 0, mould = 0, bucket = l->bucket_owner.count;
    bool lattice = body->bulk && body->lattice, rubble = lmi_is_rubble(body);
    uint32_t places = lattice || rubble ? body->lattice->shape.block_count * LMI_BLOCK : 0;
    if (!s || (body->bulk && !find_mould(l, body->bulk->mould, &mould))) {
        return false;
    }
    *s = (lmi_gpu_bulk){.slot = l->gpu->slots[record],
                        .mould = mould,
                        .first_bucket = bucket,
                        .buckets = maps + places,
                        .first_cell = l->cells.count * LMI_BLOCK,
                        .itself = lmi_gpu_touches_itself(body),
                        .own_partner = LMI_GPU_NONE,
                        .cut = lmi_gpu_is_cut(body) ? l->cuts++ : LMI_GPU_NONE};
    if (lattice) {
        const lmi_lattice *shape = &body->lattice->shape;
        s->first[0] = shape->first.x, s->first[1] = shape->first.y, s->first[2] = shape->first.z;
        s->spacing = shape->spacing;
        s->turn = shape->turn;
    }
    uint32_t *of_maps = append(l->world, &l->map_bucket, maps, sizeof *of_maps);
    for (uint32_t n = 0; of_maps && n < maps; n++) {
        of_maps[n] = bucket + n;
    }
    mark_inner(l, body, l->gpu->records[record].first);
    return of_maps && add_points(l, body) && add_buckets(l, maps + places) &&
           (!lattice || add_cells(l, body, l->gpu->records[record].first, bucket + maps)) &&
           (!rubble || add_balls(l, places, l->gpu->records[record].first, bucket));
}

static bool gather(solve_layout *l)
{
    uint32_t *cell_of = append(l->world, &l->cell_of, l->gpu->particles, sizeof *cell_of);
    uint32_t *inner = append(l->world, &l->inner, l->gpu->particles / LMI_BLOCK, sizeof *inner);
    bool ok = cell_of && inner;
    if (ok) {
        memset(inner, 0, l->gpu->particles / LMI_BLOCK * sizeof *inner);
        memset(cell_of, 0xff, l->gpu->particles * sizeof *cell_of);
    }
    for (uint32_t n = 0; ok && n < l->gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(l->world, l->gpu->slots[n]);
        ok = !lmi_gpu_needs_solver(l->world, body) || add_body(l, n, body);
    }
    return ok;
}

/* Where the points of bodies are now; and where those of bodies that are kept were, of each point. */
static void number_points(const solve_layout *l, lmi_gpu_solver *s, const uint32_t *before, uint32_t *from)
{
    const lmi_gpu *gpu = l->gpu;
    uint32_t first = 0;
    memset(s->points_of, 0, 2 * (size_t)s->slots * sizeof *s->points_of);
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(l->world, gpu->slots[n]);
        const uint32_t count = lmi_gpu_needs_solver(l->world, body) ? body->touch.count : 0;
        const bool kept = lmi_gpu_is_kept(gpu, body);
        s->points_of[2 * (size_t)body->slot] = first;
        s->points_of[2 * (size_t)body->slot + 1] = count;
        for (uint32_t k = 0; k < count; k++) {
            from[first + k] = kept ? before[2 * (size_t)body->slot] + k : LMI_GPU_NONE;
        }
        first += count;
    }
}

/* What points remember: that of bodies which are kept goes where their points are now, on the device; that of others is uploaded. */
static bool write_points(const solve_layout *l, lmi_gpu_buffer *to, const array *items, const uint32_t *from,
                         uint32_t count)
{
    const size_t size = QUAD * sizeof(float);
    bool ok = lmi_gpu_rearrange(l->gpu, to, from, count, size);
    for (uint32_t n = 0, end; ok && n < count; n = end) {
        bool kept = from[n] != LMI_GPU_NONE;
        for (end = n + 1; end < count && (from[end] != LMI_GPU_NONE) == kept;) {
            end++;
        }
        ok = kept ||
             lmi_gpu_write(l->gpu, to, n * size, (const float *)items->items + (size_t)n * QUAD, (end - n) * size);
    }
    return ok;
}

static bool put_warmth(solve_layout *l, lmi_gpu_solver *s)
{
    lmi_memory *memory = &l->world->memory;
    const uint32_t slots = l->world->bodies.slots, count = l->warmth.count / QUAD;
    void *points = s->points_of;
    bool ok = lmi_reserve(memory, &points, &s->slot_capacity, slots, 2 * sizeof *s->points_of);
    s->points_of = points;
    uint32_t *before = lmi_allocate(memory, 2 * (size_t)slots, sizeof *before);
    uint32_t *from = lmi_allocate(memory, count, sizeof *from);
    ok = ok && (before || slots == 0) && (from || count == 0);
    if (ok) {
        memcpy(before, s->points_of, 2 * (size_t)(s->slots < slots ? s->slots : slots) * sizeof *before);
        s->slots = slots;
        number_points(l, s, before, from);
        const size_t size = l->warmth.count * sizeof(float);
        ok = l->gpu->whole ? lmi_gpu_put(l->gpu, &s->warmth, l->warmth.items, size) &&
                                 lmi_gpu_put(l->gpu, &s->behind, l->behind.items, size) &&
                                 lmi_gpu_put(l->gpu, &s->ways, l->ways.items, size)
                           : write_points(l, &s->warmth, &l->warmth, from, count) &&
                                 write_points(l, &s->behind, &l->behind, from, count) &&
                                 write_points(l, &s->ways, &l->ways, from, count);
        ok = ok && lmi_gpu_reserve(l->gpu, &s->noticed, size);
    }
    lmi_release(memory, before, 2 * (size_t)slots, sizeof *before);
    lmi_release(memory, from, count, sizeof *from);
    return ok;
}

static bool upload(solve_layout *l, lmi_gpu_solver *s)
{
    lmi_gpu *gpu = l->gpu;
    const size_t u = sizeof(uint32_t), points = gpu->meet->point_count;
    const struct {
        lmi_gpu_buffer *to;
        const array *from;
        size_t size;
    } copies[] = {{&s->solids, &l->solids, sizeof(lmi_gpu_bulk)},
                  {&s->moulds, &l->moulds, sizeof(lmi_gpu_mould)},
                  {&s->distances, &l->distances, u},
                  {&s->rests, &l->rests, u},
                  {&s->levers, &l->levers, u},
                  {&s->windows, &l->windows, u},
                  {&s->window_riders, &l->window_riders, u},
                  {&s->facing, &l->facing, u},
                  {&s->corners, &l->corners, u},
                  {&s->around, &l->around, u},
                  {&s->cell_of, &l->cell_of, u},
                  {&s->cells, &l->cells, u},
                  {&s->bucket_owner, &l->bucket_owner, u},
                  {&s->map_bucket, &l->map_bucket, u},
                  {&s->inner_of, &l->inner, u},
                  {&s->leaders, &l->leaders, u}};
    bool ok = true;
    for (size_t n = 0; ok && n < sizeof copies / sizeof *copies; n++) {
        ok = put_array(gpu, copies[n].to, copies[n].from, copies[n].size);
    }
    s->bucket_count = l->bucket_owner.count;
    const size_t near = (size_t)gpu->meet->meeter_count * LMI_GPU_SOLVED_SURFACES * u;
    const lm_world *world = l->world;
    return ok && put_warmth(l, s) &&
           lmi_gpu_put(gpu, &s->rules, world->rules, world->rule_count * sizeof *world->rules) &&
           lmi_gpu_reserve(gpu, &s->near, world->colliders.alive ? near : 0) &&
           lmi_gpu_reserve(gpu, &s->starts, s->grounds ? points * QUAD * u : 0) &&
           lmi_gpu_reserve(gpu, &s->bucket_counts, s->bucket_count * u) &&
           lmi_gpu_reserve(gpu, &s->bucket_first, s->bucket_count * u) &&
           lmi_gpu_reserve(gpu, &s->axis, 5 * sizeof(double)) &&
           lmi_gpu_reserve(gpu, &s->stops, (size_t)gpu->meet->meeter_count * LMI_GPU_PARTNERS * u) &&
           lmi_gpu_reserve(gpu, &s->met, points * 2 * u) && lmi_gpu_reserve(gpu, &s->turned, points * 2 * u) &&
           lmi_gpu_reserve(gpu, &s->walls, points * 2 * u) && lmi_gpu_reserve(gpu, &s->first, points * u) &&
           lmi_gpu_reserve(gpu, &s->found, 4 * u) && lmi_gpu_reserve(gpu, &s->loads, gpu->particles * u) &&
           lmi_gpu_reserve(gpu, &s->sweeps, 4 * u) && lmi_gpu_reserve(gpu, &s->chains, u) &&
           lmi_gpu_reserve(gpu, &s->pushes, gpu->meet->meeter_count * sizeof(lmi_gpu_push)) &&
           lmi_gpu_reserve(gpu, &s->heads, gpu->meet->meeter_count * u) &&
           lmi_gpu_reserve(gpu, &s->groups, gpu->meet->meeter_count * sizeof(lmi_gpu_group)) &&
           lmi_gpu_reserve(gpu, &s->roots, (gpu->meet->meeter_count + 1) * u) &&
           lmi_gpu_reserve(gpu, &s->members, gpu->meet->meeter_count * u);
}

bool lmi_gpu_solve_lay_out(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->meets) {
        return true;
    }
    if (!lmi_gpu_solve_find_program(world, gpu)) {
        return false;
    }
    lmi_gpu_solver *s = gpu->solver;
    solve_layout l = {.world = world, .gpu = gpu};
    size_t room = (size_t)gpu->meet->point_count * QUAD * 3;
    if (s->room_size < room) {
        lmi_release(&world->memory, s->room, s->room_size, sizeof *s->room);
        s->room = lmi_allocate(&world->memory, room, sizeof *s->room);
        s->room_size = s->room ? room : 0;
    }
    bool ok = (room == 0 || s->room) && gather(&l) && upload(&l, s) && lmi_gpu_self_lay_out(world, gpu) &&
              lmi_gpu_rubble_lay_out(world, gpu) && lmi_gpu_brace_lay_out(gpu);
    array *const words[] = {&l.behind,  &l.ways,    &l.distances, &l.rests,   &l.facing,       &l.warmth,
                            &l.corners, &l.around,  &l.cell_of,   &l.cells,   &l.bucket_owner, &l.map_bucket,
                            &l.inner,   &l.leaders, &l.levers,    &l.windows, &l.window_riders};
    for (size_t n = 0; n < sizeof words / sizeof *words; n++) {
        drop(world, words[n], sizeof(uint32_t));
    }
    drop(world, &l.solids, sizeof(lmi_gpu_bulk));
    drop(world, &l.moulds, sizeof(lmi_gpu_mould));
    drop(world, &l.known, sizeof(const lmi_mould *));
    return ok;
}

/* The points of a body that is brought back: the first in *first, and how many. */
static uint32_t points_coming(const lmi_gpu *gpu, uint32_t n, uint32_t *first)
{
    const uint32_t *points = gpu->solver->points_of + 2 * (size_t)gpu->slots[n];
    *first = points[0];
    return gpu->batch[gpu->batch_of[n]].coming ? points[1] : 0;
}

/* What points that are read back remember, to the room from place `at` on. */
static bool read_points(lmi_gpu *gpu, const lmi_gpu_buffer *of, uint32_t at)
{
    const size_t size = QUAD * sizeof(float);
    float *to = gpu->solver->room + (size_t)at * QUAD;
    uint32_t begin = 0, end = 0, first;
    bool ok = true;
    for (uint32_t n = 0; ok && n < gpu->body_count; n++) { /* points are in the order of the bodies */
        uint32_t count = points_coming(gpu, n, &first);
        if (count && first != end) {
            ok = lmi_gpu_read(gpu, of, begin * size, to + (size_t)begin * QUAD, (end - begin) * size);
            begin = first;
        }
        end = count ? first + count : end;
    }
    return ok && lmi_gpu_read(gpu, of, begin * size, to + (size_t)begin * QUAD, (end - begin) * size);
}

bool lmi_gpu_solve_read(lmi_gpu *gpu)
{
    return !gpu->meets || (read_points(gpu, &gpu->solver->warmth, 0) &&
                           read_points(gpu, &gpu->solver->ways, 2 * gpu->meet->point_count) &&
                           (!gpu->solver->grounds || read_points(gpu, &gpu->solver->behind, gpu->meet->point_count)));
}

void lmi_gpu_solve_put(lm_world *world, lmi_gpu *gpu)
{
    const size_t behind = gpu->meets ? (size_t)gpu->meet->point_count * QUAD : 0; /* from what they were given */
    for (uint32_t n = 0; gpu->meets && n < gpu->body_count; n++) {
        uint32_t first, count = points_coming(gpu, n, &first);
        const float *from = gpu->solver->room + (size_t)first * QUAD;
        for (uint32_t k = 0; k < count; k++, from += QUAD) {
            lmi_warm warm = {.pressed = from[0], .braked = {from[1], from[2], from[3]}};
            if (gpu->solver->grounds) {
                memcpy(warm.behind, from + behind, sizeof warm.behind);
            }
            memcpy(&warm.other, from + 2 * behind + 3, sizeof warm.other);
            if (warm.other) {
                warm.generation = world->bodies.generations[warm.other - 1];
                memcpy(warm.out, from + 2 * behind, sizeof warm.out);
            }
            lmi_body_at(world, gpu->slots[n])->touch.warm[k] = warm;
        }
    }
}
