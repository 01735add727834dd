/*
 * A world as the kernels want it.
 *
 * Particles are where the batches have them (step/pack.h), one batch after the other: four floats for position and weight,
 * four for velocity and mass. Everything else is made here from the bodies: records, maps of the blocks of lattices, tiles,
 * constants of regions (once for all bodies that have the same), and the lists of irregular regions. It is made anew whenever
 * something has changed, and takes no part in a step.
 */
#include "gpu/layout.h"

#include "gpu/clusters.h"
#include "gpu/small.h"

/* Planes that a work-group goes through: fewer in a body that fills less than half of its box, where much is empty, and in
 * others as many as keep the device busy with least done twice (choose_planes). */
#define SPARSE_PLANES 12
#define LEAST_PLANES 8

/* Work-items of tiles that one multiprocessor has at work at once: registers allow for that many. */
#define BUSY_ITEMS 512

/* Tiles whose sums a work-group adds, and how many of them the one that concludes a substep adds by itself. */
#define PART_PARTIALS 64
#define FEW_PARTIALS 512

/* Particles that a work-group measures after an upload. */
#define CHUNK_PARTICLES 4096

/* --- constants --- */

/* A table of what is there already, twice as large as it need be. */
static bool grow_slots(layout *l, uint32_t wanted)
{
    if (l->slots.count >= 2 * wanted) {
        return true;
    }
    uint32_t size = l->slots.count ? l->slots.count : 1024;
    while (size < 4 * wanted) {
        size *= 2;
    }
    drop(l->world, &l->slots, sizeof(uint32_t));
    uint32_t *slots = append(l->world, &l->slots, size, sizeof(uint32_t));
    if (!slots) {
        return false;
    }
    memset(slots, 0xff, size * sizeof *slots);
    const size_t floats = (size_t)l->channels * LMI_BLOCK;
    for (uint32_t n = 0; n < l->constants_count; n++) {
        const float *at = (const float *)l->constants.items + n * floats;
        uint32_t place = (uint32_t)hash_bytes(at, floats * sizeof(float)) & (size - 1);
        while (slots[place] != LMI_GPU_NONE) {
            place = (place + 1) & (size - 1);
        }
        slots[place] = n;
    }
    return true;
}

/* The index of one block's constants among all, put there where they are new; LMI_GPU_NONE when out of memory. */
static uint32_t find_constants(layout *l, const float *block)
{
    const size_t floats = (size_t)l->channels * LMI_BLOCK, size = floats * sizeof(float);
    if (!grow_slots(l, l->constants_count + 1)) {
        return LMI_GPU_NONE;
    }
    uint32_t *slots = l->slots.items, mask = l->slots.count - 1, place = (uint32_t)hash_bytes(block, size) & mask;
    for (; slots[place] != LMI_GPU_NONE; place = (place + 1) & mask) {
        if (memcmp((const float *)l->constants.items + slots[place] * floats, block, size) == 0) {
            return slots[place];
        }
    }
    float *to = append(l->world, &l->constants, (uint32_t)floats, sizeof(float));
    if (!to) {
        return LMI_GPU_NONE;
    }
    memcpy(to, block, size);
    slots[place] = l->constants_count;
    return l->constants_count++;
}

static bool add_constants(layout *l, const lmi_body *body, uint32_t first_block)
{
    const lmi_lattice *shape = &body->lattice->shape;
    uint32_t *of = (uint32_t *)l->constants_of.items + first_block;
    uint32_t shared = shape->channels < l->channels ? shape->channels : l->channels;
    array index = {NULL, 0, 0};
    float block[LMI_LATTICE_ALL_CONSTANTS * LMI_BLOCK] = {0.0f};
    uint32_t *known = append(l->world, &index, shape->constants_count, sizeof(uint32_t));
    bool ok = known != NULL;
    for (uint32_t n = 0; ok && n < shape->constants_count; n++) {
        const float *from = shape->constants + (size_t)n * shape->channels * LMI_BLOCK;
        memcpy(block, from, (size_t)shared * LMI_BLOCK * sizeof(float));
        known[n] = find_constants(l, block);
        ok = known[n] != LMI_GPU_NONE;
    }
    for (uint32_t n = 0; ok && n <= shape->block_count; n++) {
        of[n] = known[shape->constants_of[n]];
    }
    drop(l->world, &index, sizeof(uint32_t));
    return ok;
}

/* --- tiles --- */

/* Corners along x and y that a work-group takes: what local memory has room for, and what the body fills. */
static void choose_tile(const lmi_gpu *gpu, uint32_t width, const lmi_gpu_body *record, bool sparse, uint32_t *x,
                        uint32_t *y)
{
    *x = width <= 5 && record->size[0] > 1 && !sparse ? 32 : 16;
    *y = width <= 3 ? 8 : 4;
    *y = record->size[1] < *y ? (record->size[1] + 1) / 2 * 2 : *y;
    *x = gpu->limits.tile_x ? gpu->limits.tile_x : *x;
    *y = gpu->limits.tile_y ? gpu->limits.tile_y : *y;
}

/* Planes of a tile. A column in `parts` parts makes that many tiles, which run in rounds of as many as the device has room
 * for; each of them begins and ends with `width` planes that another one has too. */
static uint32_t choose_planes(const lmi_gpu *gpu, const lmi_gpu_body *record, const struct lmi_gpu_kind *kind,
                              bool sparse)
{
    if (sparse) {
        return SPARSE_PLANES;
    }
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

static bool add_tile(layout *l, lmi_gpu_variant *v, lmi_gpu_tile tile)
{
    void *tiles = v->tile;
    if (v->tile_count == v->tile_capacity &&
        !lmi_reserve(&l->world->memory, &tiles, &v->tile_capacity, 2 * v->tile_capacity + 64, sizeof *v->tile)) {
        return false;
    }
    v->tile = tiles;
    v->tile[v->tile_count++] = tile;
    return true;
}

/* The planes of a tile's column in which there is a block, from z on, at most `most` of them. */
static uint32_t planes_from(const lmi_gpu_body *record, const uint32_t *map, lmi_gpu_tile *tile, uint32_t wide,
                            uint32_t high, uint32_t most)
{
    uint32_t first = LMI_GPU_NONE, last = 0, start = (uint32_t)tile->z;
    for (uint32_t z = start; z < start + most && z < record->size[2]; z++) {
        bool any = false;
        for (uint32_t y = (uint32_t)tile->y; y < (uint32_t)tile->y + high && y < record->size[1]; y++) {
            for (uint32_t x = (uint32_t)tile->x / LMI_BLOCK; x * LMI_BLOCK < (uint32_t)tile->x + wide; x++) {
                any = any ||
                      (x < record->size[0] && map[(z * record->size[1] + y) * record->size[0] + x] != LMI_GPU_NONE);
            }
        }
        first = any && first == LMI_GPU_NONE ? z : first;
        last = any ? z + 1 : last;
    }
    tile->z = (int32_t)first;
    return first == LMI_GPU_NONE ? 0 : last - first;
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

static bool add_tiles(layout *l, const lmi_body *body, uint32_t index, lmi_gpu_body *record)
{
    const lmi_lattice *shape = &body->lattice->shape;
    const uint32_t *map = (const uint32_t *)l->map.items + record->map;
    bool sparse =
        2 * (uint64_t)shape->particle_count < (uint64_t)record->size[0] * LMI_BLOCK * record->size[1] * record->size[2];
    struct lmi_gpu_kind kind = {.width = shape->width,
                                .channels = l->channels,
                                .linear = body->material.mode == LM_MODE_LINEAR,
                                .surfaces = l->world->colliders.alive && !l->gpu->shares && !l->gpu->walled,
                                .even = is_even(shape)};
    if (lmi_gpu_is_small(l->gpu, shape)) {
        return lmi_gpu_add_small(l, shape, index, &kind);
    }
    choose_tile(l->gpu, shape->width, record, sparse, &kind.tile_x, &kind.tile_y);
    lmi_gpu_variant *v = lmi_gpu_find_variant(l->world, l->gpu, &kind);
    if (!v) {
        return false;
    }
    uint32_t planes = l->gpu->limits.planes ? l->gpu->limits.planes : choose_planes(l->gpu, record, &kind, sparse);
    record->first_partial = l->partials;
    for (uint32_t z = 0; z < record->size[2]; z += planes) {
        for (uint32_t y = 0; y < record->size[1]; y += kind.tile_y) {
            for (uint32_t x = 0; x < record->size[0] * LMI_BLOCK; x += kind.tile_x) {
                lmi_gpu_tile tile = {.body = index, .x = (int32_t)x, .y = (int32_t)y, .z = (int32_t)z};
                tile.planes = planes_from(record, map, &tile, kind.tile_x, kind.tile_y, planes);
                tile.partial = l->partials;
                if (tile.planes && !add_tile(l, v, tile)) {
                    return false;
                }
                l->partials += tile.planes > 0;
            }
        }
    }
    record->partials = l->partials - record->first_partial;
    return true;
}

/* Where a body has many tiles their sums are added in parts first, side by side. */
static bool add_parts(layout *l)
{
    for (uint32_t n = 0; n < l->gpu->lattice_count; n++) {
        lmi_gpu_body *record = &l->gpu->records[n];
        if (record->partials <= (lmi_gpu_has_few(l->gpu) ? FEW_PARTIALS : PART_PARTIALS)) {
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

/* --- bodies --- */

static bool add_map(layout *l, const lmi_lattice *shape, lmi_gpu_body *record)
{
    record->phase = (int32_t)shape->phase;
    record->size[0] = (shape->size[0] + shape->phase + LMI_BLOCK - 1) / LMI_BLOCK;
    record->size[1] = shape->size[1];
    record->size[2] = shape->size[2];
    record->map = l->map.count;
    uint32_t count = record->size[0] * record->size[1] * record->size[2];
    uint32_t *map = append(l->world, &l->map, count, sizeof(uint32_t));
    if (!map) {
        return false;
    }
    memset(map, 0xff, count * sizeof *map);
    for (uint32_t n = 0; n < shape->block_count; n++) {
        const int32_t *at = shape->at[n];
        uint32_t x = (uint32_t)(at[0] + record->phase) / LMI_BLOCK;
        map[((uint32_t)at[2] * record->size[1] + (uint32_t)at[1]) * record->size[0] + x] = n;
    }
    return true;
}

static void put_vector(float to[3], lm_vec3 from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }
static void put_dvector(double to[3], lm_dvec3 from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

static void describe_body(const lmi_body *body, uint32_t first, lmi_gpu_body *to)
{
    memset(to, 0, sizeof *to);
    put_dvector(to->origin, body->origin);
    to->rest_size = body->rest_size;
    put_vector(to->at, (lm_vec3){body->x[4 * (size_t)body->reference], body->x[4 * (size_t)body->reference + 1],
                                 body->x[4 * (size_t)body->reference + 2]});
    put_vector(to->from, (lm_vec3){body->v[4 * (size_t)body->reference], body->v[4 * (size_t)body->reference + 1],
                                   body->v[4 * (size_t)body->reference + 2]});
    put_vector(to->lower, body->lower);
    put_vector(to->upper, body->upper);
    to->alpha = body->alpha;
    to->damping = body->damping;
    to->damping_every = body->material.damping_every;
    to->damping_turn = body->damping_turn;
    to->beta = body->material.beta;
    to->contact_radius = body->contact_radius;
    to->mean_mass = (float)body->mean_mass;
    to->friction = body->material.friction;
    to->restitution = body->material.restitution;
    to->group = body->group;
    to->collider_mask = body->collider_mask;
    to->pinned = body->first_pin != LMI_NONE;
    to->regional = body->octree && body->material.damping_kind == LM_DAMPING_REGIONAL;
    to->first = first;
    to->particles = body->padded_count;
}

static void describe_lattice(const lmi_body *body, lmi_gpu_body *to)
{
    const lmi_lattice_body *lattice = body->lattice;
    const lmi_lattice_part *part = &lattice->part[0];
    to->spacing = lattice->shape.spacing;
    to->rest_inertia = part->inertia;
    for (int i = 0; i < 9; i++) {
        to->frame[i] = lattice->frame.m[i / 3][i % 3];
    }
    put_dvector(to->owed_momentum, part->owed_momentum);
    put_dvector(to->owed_angular, part->owed_angular);
    put_vector(to->drift_centre, part->drift_centre);
    put_vector(to->drift_velocity, part->drift_velocity);
    put_vector(to->drift_spin, part->drift_spin);
    memcpy(to->middle, lattice->middle, sizeof to->middle);
    for (int k = 0; k < LMI_GPU_SAMPLES; k++) {
        to->sample[k] = lattice->samples[k];
        lmi_lattice_corner(&lattice->shape, lattice->samples[k], to->corner + 3 * k);
    }
}

static bool add_body(layout *l, uint32_t slot)
{
    lmi_gpu *gpu = l->gpu;
    lmi_body *body = lmi_body_at(l->world, slot);
    uint32_t index = gpu->body_count++, first = gpu->batch_first[body->batch] + body->first;
    lmi_gpu_body *record = &gpu->records[index];
    gpu->slots[index] = slot;
    lmi_body_follow(body);
    describe_body(body, first, record);
    record->pointed = gpu->solves && body->touch.count;
    gpu->total_mass += body->total_mass;
    bool ok = true;
    if (body->lattice) {
        describe_lattice(body, record);
        ok = add_map(l, &body->lattice->shape, record) && add_constants(l, body, first / LMI_BLOCK) &&
             lmi_gpu_add_irregular(l, body, index, first / LMI_BLOCK) && add_tiles(l, body, index, record);
    }
    return ok;
}

/* Chunks to measure: their sums have places of their own, the same ones as tiles. */
static bool add_chunks(layout *l)
{
    uint32_t partial = 0;
    for (uint32_t n = 0; n < l->gpu->body_count; n++) {
        lmi_gpu_body *record = &l->gpu->records[n];
        record->first_measure = partial;
        for (uint32_t at = 0; at < record->particles; at += CHUNK_PARTICLES, partial++) {
            lmi_gpu_chunk *chunk = append(l->world, &l->chunks, 1, sizeof *chunk);
            if (!chunk) {
                return false;
            }
            uint32_t left = record->particles - at;
            *chunk = (lmi_gpu_chunk){n, record->first + at, left < CHUNK_PARTICLES ? left : CHUNK_PARTICLES, partial};
        }
        record->measures = partial - record->first_measure;
    }
    l->partials = partial > l->partials ? partial : l->partials;
    return true;
}

static bool reserve_bodies(layout *l)
{
    lm_world *world = l->world;
    lmi_gpu *gpu = l->gpu;
    void *records = gpu->records, *slots = gpu->slots, *batches = gpu->batch_first;
    bool ok = lmi_reserve(&world->memory, &records, &gpu->body_capacity, world->bodies.alive, sizeof *gpu->records) &&
              lmi_reserve(&world->memory, &slots, &gpu->slot_capacity, world->bodies.alive, sizeof *gpu->slots) &&
              lmi_reserve(&world->memory, &batches, &gpu->batch_capacity, world->batch_count, sizeof *gpu->batch_first);
    gpu->records = records;
    gpu->slots = slots;
    gpu->batch_first = batches;
    gpu->particles = gpu->body_count = 0;
    gpu->total_mass = 0.0;
    uint32_t channels = LMI_LATTICE_CONSTANTS;
    for (uint32_t n = 0; ok && n < world->batch_count; n++) {
        gpu->batch_first[n] = gpu->particles;
        gpu->particles += world->batches[n].pack.particle_blocks * LMI_BLOCK;
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        channels = body->lattice && body->material.mode == LM_MODE_LINEAR ? LMI_LATTICE_ALL_CONSTANTS : channels;
    }
    l->channels = channels;
    for (uint32_t n = 0; n < gpu->variant_count; n++) {
        gpu->variant[n].tile_count = gpu->variant[n].small_count = 0;
    }
    uint32_t blocks = gpu->particles / LMI_BLOCK;
    uint32_t *of = append(world, &l->constants_of, blocks, sizeof(uint32_t));
    uint32_t *irregular = append(world, &l->irregular, 2 * blocks, sizeof(uint32_t));
    uint32_t *corrected = append(world, &l->corrected, 2 * blocks, sizeof(uint32_t));
    return ok && of && irregular && corrected;
}

/* Lattices first, so that their kernels see them side by side. */
static bool add_bodies(layout *l)
{
    bool ok = true;
    for (int pass = 0; ok && pass < 2; pass++) {
        LMI_POOL_EACH(&l->world->bodies, n)
        {
            const lmi_body *body = lmi_body_at(l->world, n);
            if (body->batch != LMI_NONE && !body->lattice == (pass == 1)) { /* asleep: in none */
                ok = ok && add_body(l, n);
            }
        }
        l->gpu->lattice_count = pass == 0 ? l->gpu->body_count : l->gpu->lattice_count;
    }
    return ok && add_parts(l) && add_chunks(l);
}

static bool upload_tiles(lmi_gpu *gpu)
{
    bool ok = true;
    for (uint32_t n = 0; ok && n < gpu->variant_count; n++) {
        lmi_gpu_variant *v = &gpu->variant[n];
        ok = lmi_gpu_put(gpu, &v->tiles, v->tile, v->tile_count * sizeof *v->tile) &&
             lmi_gpu_put(gpu, &v->smalls, v->small_body, v->small_count * sizeof *v->small_body);
    }
    return ok;
}

bool lmi_gpu_upload_state(lm_world *world, lmi_gpu *gpu)
{
    size_t size = (size_t)gpu->particles * 4 * sizeof(float);
    bool ok = lmi_gpu_reserve(gpu, &gpu->x, size) && lmi_gpu_reserve(gpu, &gpu->v, size);
    bool few = world->batch_count <= LMI_GPU_FEW_BATCHES;
    if (lmi_gpu_is_staged(world, gpu) && gpu->staging_size < (size_t)gpu->particles * 8) {
        lmi_release(&world->memory, gpu->staging, gpu->staging_size, sizeof(float));
        gpu->staging_size = 0;
        gpu->staging = lmi_allocate(&world->memory, (size_t)gpu->particles * 8, sizeof(float));
        if (!gpu->staging) {
            return false;
        }
        gpu->staging_size = (size_t)gpu->particles * 8;
    }
    for (int which = 0; ok && which < 2; which++) {
        lmi_gpu_buffer *to = which ? &gpu->v : &gpu->x;
        for (uint32_t n = 0; ok && n < world->batch_count; n++) {
            const lmi_pack *pack = &world->batches[n].pack;
            const float *from = which ? pack->v : pack->x;
            size_t at = (size_t)gpu->batch_first[n] * 4, count = (size_t)pack->particle_blocks * LMI_BLOCK * 4;
            if (few) {
                ok = lmi_gpu_write(gpu, to, at * sizeof(float), from, count * sizeof(float));
            } else {
                memcpy(gpu->staging + at, from, count * sizeof(float));
            }
        }
        ok = ok && (few || lmi_gpu_write(gpu, to, 0, gpu->staging, size));
    }
    return ok;
}

static bool upload(layout *l)
{
    lmi_gpu *gpu = l->gpu;
    const size_t u = sizeof(uint32_t), f = sizeof(float);
    size_t records = gpu->body_count * sizeof *gpu->records, region = 0;
    for (uint32_t n = 0; n < gpu->variant_count; n++) {
        size_t floats = gpu->variant[n].tile_count == 0 ? 0 : gpu->variant[n].kind.linear ? 12 : 6;
        region = floats > region ? floats : region;
    }
    const uint32_t none = 0;
    gpu->chunk_count = l->chunks.count;
    gpu->part_count = l->parts.count;
    return lmi_gpu_upload_state(l->world, gpu) && lmi_gpu_put(gpu, &gpu->bodies, gpu->records, records) &&
           lmi_gpu_reserve(gpu, &gpu->before, records) && put_array(gpu, &gpu->map, &l->map, u) &&
           put_array(gpu, &gpu->constants_of, &l->constants_of, u) &&
           put_array(gpu, &gpu->constants, &l->constants, f) &&
           lmi_gpu_reserve(gpu, &gpu->regions, (size_t)gpu->particles * region * f) && lmi_gpu_upload_lists(l) &&
           upload_tiles(gpu) && put_array(gpu, &gpu->corners, &l->corners, u) &&
           put_array(gpu, &gpu->chunks, &l->chunks, sizeof(lmi_gpu_chunk)) &&
           put_array(gpu, &gpu->parts, &l->parts, sizeof(lmi_gpu_chunk)) &&
           lmi_gpu_reserve(gpu, &gpu->partials, (size_t)l->partials * LMI_GPU_CHANNELS * f) &&
           lmi_gpu_reserve(gpu, &gpu->surfaces, LMI_GPU_MAX_SURFACES * sizeof(lmi_gpu_surface)) &&
           lmi_gpu_put(gpu, &gpu->stop, &none, u);
}

bool lmi_gpu_lay_out(lm_world *world, lmi_gpu *gpu)
{
    layout l = {.world = world, .gpu = gpu};
    bool ok = reserve_bodies(&l) && add_bodies(&l) && upload(&l) && lmi_gpu_clusters_lay_out(world, gpu);
    array *const arrays[] = {&l.map,           &l.constants,      &l.slots,          &l.constants_of,
                             &l.irregular,     &l.corrected,      &l.gather.groups,  &l.gather.who,
                             &l.gather.corner, &l.gather.member,  &l.gather.offset,  &l.scatter.groups,
                             &l.scatter.who,   &l.scatter.corner, &l.scatter.member, &l.scatter.offset,
                             &l.gather.small,  &l.scatter.small,  &l.corners};
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++) {
        drop(world, arrays[n], sizeof(uint32_t)); /* floats are as large */
    }
    drop(world, &l.chunks, sizeof(lmi_gpu_chunk));
    drop(world, &l.parts, sizeof(lmi_gpu_chunk));
    drop(world, &l.known_corners, 2 * sizeof(uint32_t));
    drop(world, &l.gather.known, sizeof(known_lists));
    drop(world, &l.scatter.known, sizeof(known_lists));
    for (uint32_t n = 0; n < gpu->variant_count; n++) {
        lmi_gpu_variant *v = &gpu->variant[n];
        lmi_release(&world->memory, v->tile, v->tile_capacity, sizeof *v->tile);
        v->tile = NULL;
        v->tile_capacity = 0;
        lmi_release(&world->memory, v->small_body, v->small_capacity, sizeof *v->small_body);
        v->small_body = NULL;
        v->small_capacity = 0;
    }
    return ok;
}
