/*
 * A world as the kernels want it.
 *
 * Particles are where the batches have them (match/pack.h), each batch at its place (places.c): four floats for position and weight,
 * four for velocity and mass. Everything else is made from the bodies: records and maps of the blocks of lattices here, tiles,
 * constants of regions and lists of irregular ones beside (layout_tiles.c, layout_lists.c, layout_lists.c). It takes no part
 * in a step. Where single batches have changed, what there is of their bodies is made again, behind what the others have; those are
 * neither looked at nor uploaded.
 */
#include "gpu/layout.h"
#include "world/elastic.h"
#include "world/in_step.h"

#include "gpu/clusters.h"
#include "gpu/example_regions.h"
#include "gpu/kinds.h"
#include "gpu/sever.h"

/* Particles that a work-group measures after an upload. */
#define CHUNK_PARTICLES 4096

/* --- bodies --- */

/* Two words for each block of the box: the block that is there, and where its constants are (`of`). */
static bool add_map(layout *l, const lmi_lattice *shape, const uint32_t *of, lmi_gpu_body *record)
{
    record->phase = (int32_t)shape->phase;
    record->size[0] = (shape->size[0] + shape->phase + LMI_BLOCK - 1) / LMI_BLOCK;
    record->size[1] = shape->size[1];
    record->size[2] = shape->size[2];
    record->map = l->map.count / 2;
    uint32_t count = 2 * record->size[0] * record->size[1] * record->size[2];
    uint32_t *map = append(l->world, &l->map, count, sizeof(uint32_t));
    if (!map) {
        return false;
    }
    for (uint32_t n = 0; n < count; n += 2) {
        map[n] = LMI_GPU_NONE;
        map[n + 1] = 0; /* constants that are there, and are not used */
    }
    for (uint32_t n = 0; n < shape->block_count; n++) {
        const int32_t *at = shape->at[n];
        uint32_t x = (uint32_t)(at[0] + record->phase) / LMI_BLOCK;
        uint32_t *entry = map + 2 * (((uint32_t)at[2] * record->size[1] + (uint32_t)at[1]) * record->size[0] + x);
        entry[0] = n;
        entry[1] = of[n];
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
    to->firmness = body->firmness;
    to->damping = body->damping;
    to->damping_every = body->material.damping_every;
    to->damping_turn = body->damping_turn;
    to->beta = body->material.beta;
    to->beyond = lmi_elastic_beyond(body);
    to->contact_radius = body->contact_radius;
    to->mean_mass = (float)body->mean_mass;
    to->friction = body->material.friction;
    to->restitution = body->material.restitution;
    to->group = body->group;
    to->collider_mask = body->collider_mask;
    to->pinned = body->anchored;
    to->pieces = lmi_gpu_is_in_pieces(body);
    to->regional = (body->octree || body->lattice) && body->material.damping_kind == LM_DAMPING_REGIONAL;
    to->kind = LMI_GPU_NONE;
    to->parts = lmi_gpu_parts_of(body);
    to->first = first;
    to->particles = body->padded_count;
}

static void describe_lattice(const lmi_body *body, lmi_gpu_body *to)
{
    const lmi_lattice_body *lattice = body->lattice;
    const lmi_lattice_part none = {.reference = 0}, *part = lattice->shape.part_count > 1 ? &none : &lattice->part[0];
    to->spacing = lattice->shape.spacing;
    to->rest_inertia = part->inertia; /* several parts have records of their own: kinds_layout.c */
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

static bool add_body(layout *l, uint32_t index)
{
    lmi_gpu *gpu = l->gpu;
    lmi_body *body = lmi_body_in_step(l->world, gpu->slots[index]);
    uint32_t first = lmi_gpu_first_of(gpu, body);
    lmi_gpu_body *record = &gpu->records[index];
    lmi_body_follow(body);
    describe_body(body, first, record);
    record->pointed = gpu->meets && body->touch.count;
    bool ok = true;
    if (body->lattice) {
        describe_lattice(body, record);
        const lmi_lattice *shape = &body->lattice->shape;
        const uint32_t *of = (const uint32_t *)l->constants_of.items + first / LMI_BLOCK;
        bool kind = lmi_gpu_is_kind(body);
        ok = (kind || (lmi_gpu_add_constants(l, shape, first / LMI_BLOCK) &&
                       lmi_gpu_mark_irregular(l, body, index, first / LMI_BLOCK))) &&
             add_map(l, shape, of, record) &&
             (kind ? lmi_gpu_add_kind(l, body, index) : lmi_gpu_add_tiles(l, body, index, record));
    }
    return ok;
}

/* Chunks of bodies that are not kept are empty from now on: others may take their places. */
static void keep_chunks(layout *l)
{
    lmi_gpu_chunk *chunk = l->chunks.items;
    for (uint32_t n = 0; n < l->chunks.count; n++) {
        uint32_t body = chunk[n].count ? l->gpu->renumber[chunk[n].body] : LMI_GPU_NONE;
        chunk[n].body = body;
        if (body == LMI_GPU_NONE) {
            chunk[n] = (lmi_gpu_chunk){.partial = n};
        }
    }
}

/* The first of so many empty chunks, behind the others where there are none among them. */
static lmi_gpu_chunk *find_chunks(layout *l, uint32_t count)
{
    lmi_gpu_chunk *chunk = l->chunks.items;
    uint32_t first = 0, n = 0;
    while (!l->gpu->whole && n < l->chunks.count && n - first < count) {
        first = chunk[n].count ? n + 1 : first;
        n++;
    }
    first = n - first == count && count ? first : l->chunks.count;
    if (first == l->chunks.count && !append(l->world, &l->chunks, count, sizeof *chunk)) {
        return NULL;
    }
    return (lmi_gpu_chunk *)l->chunks.items + first;
}

/* Chunks to measure: the sums of each have a place, the same ones as tiles. */
static bool add_chunks(layout *l)
{
    for (uint32_t n = 0; n < l->gpu->body_count; n++) {
        lmi_gpu_body *record = &l->gpu->records[n];
        const uint32_t count = (record->particles + CHUNK_PARTICLES - 1) / CHUNK_PARTICLES;
        if (lmi_gpu_is_kept(l->gpu, lmi_body_at(l->world, l->gpu->slots[n]))) {
            continue;
        }
        lmi_gpu_chunk *chunk = find_chunks(l, count);
        if (!chunk) {
            return false;
        }
        record->first_measure = (uint32_t)(chunk - (lmi_gpu_chunk *)l->chunks.items);
        record->measures = count;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t at = k * CHUNK_PARTICLES, left = record->particles - at;
            chunk[k] = (lmi_gpu_chunk){n, record->first + at, left < CHUNK_PARTICLES ? left : CHUNK_PARTICLES,
                                       record->first_measure + k};
        }
    }
    return true;
}

/* --- what is kept --- */

static uint32_t channels_of(const lm_world *world)
{
    uint32_t channels = LMI_LATTICE_CONSTANTS;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        bool linear = body->lattice && !lmi_gpu_is_kind(body) && body->material.mode == LM_MODE_LINEAR;
        channels = linear ? LMI_LATTICE_ALL_CONSTANTS : channels;
    }
    return channels;
}

/* What only grows while single batches are laid out again. */
static void sizes_of(const layout *l, uint32_t sizes[8])
{
    const uint32_t now[8] = {
        l->map.count,     l->constants.count, l->kinds.count, l->gather.entries.count, l->scatter.entries.count,
        l->corners.count, l->partials,        l->chunks.count};
    memcpy(sizes, now, sizeof now);
}

/* Sizes up to which growing is no reason to begin again. */
#define SMALL 16384u

bool lmi_gpu_plan_lasts(const lm_world *world, const lmi_gpu *gpu)
{
    uint32_t now[8];
    sizes_of(gpu->plan, now);
    bool lasts = gpu->plan->channels == channels_of(world) && lmi_gpu_clusters_last(world, gpu);
    for (int n = 0; n < 8; n++) {
        lasts = lasts && now[n] <= 2 * gpu->plan->sizes[n] + SMALL;
    }
    return lasts;
}

static void drop_plan(lm_world *world, layout *l)
{
    array *const arrays[] = {
        &l->map,       &l->constants_of, &l->constants.items, &l->constants.slots, &l->kinds.items, &l->kinds.slots,
        &l->irregular, &l->corrected,    &l->gather.entries,  &l->scatter.entries, &l->corners};
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++) {
        drop(world, arrays[n], sizeof(uint32_t)); /* floats are as large */
    }
    drop(world, &l->chunks, sizeof(lmi_gpu_chunk));
    drop(world, &l->parts, sizeof(lmi_gpu_chunk));
    drop(world, &l->known_corners, 2 * sizeof(uint32_t));
    drop(world, &l->gather.items, sizeof(lmi_gpu_list));
    drop(world, &l->scatter.items, sizeof(lmi_gpu_list));
    drop(world, &l->gather.known, sizeof(known_lists));
    drop(world, &l->scatter.known, sizeof(known_lists));
    *l = (layout){.world = l->world, .gpu = l->gpu};
}

void lmi_gpu_plan_free(lm_world *world, lmi_gpu *gpu)
{
    if (gpu->plan) {
        drop_plan(world, gpu->plan);
        lmi_release(&world->memory, gpu->plan, 1, sizeof *gpu->plan);
        gpu->plan = NULL;
    }
    lmi_gpu_drop_tiles(world, gpu);
}

/* The plan to go on with, or one without anything in it. */
static layout *plan_of(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->plan) {
        gpu->plan = lmi_allocate(&world->memory, 1, sizeof *gpu->plan);
    }
    if (gpu->plan) {
        gpu->plan->world = world;
        gpu->plan->gpu = gpu;
        if (gpu->whole) {
            drop_plan(world, gpu->plan);
        }
    }
    return gpu->plan;
}

/* So many words in all, of which those that are added are zeros. */
static uint32_t *extend(layout *l, array *a, uint32_t count)
{
    uint32_t had = a->count, *added = append(l->world, a, count > had ? count - had : 0, sizeof(uint32_t));
    if (added && count > had) {
        memset(added, 0, (count - had) * sizeof *added);
    }
    return added ? a->items : NULL;
}

/* What there is of each block, of batches that are laid out again: nothing yet. */
static bool clear_blocks(layout *l)
{
    const lmi_gpu *gpu = l->gpu;
    uint32_t blocks = gpu->particles / LMI_BLOCK, *of = extend(l, &l->constants_of, blocks);
    uint32_t *irregular = extend(l, &l->irregular, 2 * blocks), *corrected = extend(l, &l->corrected, 2 * blocks);
    for (uint32_t n = 0; of && irregular && corrected && n < gpu->batch_count; n++) {
        const lmi_gpu_batch *batch = &gpu->batch[n];
        const size_t first = batch->first[LMI_GPU_PARTICLES] / LMI_BLOCK,
                     count = batch->room[LMI_GPU_PARTICLES] / LMI_BLOCK;
        if (!batch->valid && !gpu->whole) {
            memset(of + first, 0, count * sizeof *of);
            memset(irregular + 2 * first, 0, 2 * count * sizeof *irregular);
            memset(corrected + 2 * first, 0, 2 * count * sizeof *corrected);
        }
    }
    return of && irregular && corrected;
}

static bool begin_bodies(layout *l)
{
    lm_world *world = l->world;
    lmi_gpu *gpu = l->gpu;
    if (gpu->whole) {
        l->channels = channels_of(world);
        for (uint32_t n = 0; n < gpu->variant_count; n++) {
            gpu->variant[n].to_fit.count = gpu->variant[n].to_move.count = gpu->variant[n].small_count = 0;
        }
    }
    if (!lmi_gpu_place_batches(world, gpu) || !lmi_gpu_place_bodies(world, gpu)) {
        return false;
    }
    if (!gpu->whole) {
        lmi_gpu_keep_tiles(l);
        keep_chunks(l);
    }
    return clear_blocks(l) && lmi_gpu_kinds_begin(l);
}

/* Lattices of other kinds that are kept come first, in the order that they had: who changes once is likely to do so again, and then
 * has nobody behind it that would have to move. */
static bool add_kept_kinds(layout *l)
{
    lmi_gpu *gpu = l->gpu;
    bool ok = true;
    for (uint32_t n = 0; ok && !gpu->whole && gpu->matters && n < gpu->matters->was_count; n++) {
        const uint32_t index = gpu->renumber[gpu->matters->was[n].body];
        ok = index == LMI_GPU_NONE || lmi_gpu_add_kind(l, lmi_body_at(l->world, gpu->slots[index]), index);
    }
    return ok;
}

static bool add_bodies(layout *l)
{
    lmi_gpu *gpu = l->gpu;
    bool ok = add_kept_kinds(l);
    gpu->total_mass = 0.0;
    for (uint32_t n = 0; ok && n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(l->world, gpu->slots[n]);
        gpu->total_mass += body->total_mass;
        ok = lmi_gpu_is_kept(gpu, body) || add_body(l, n);
    }
    return ok && lmi_gpu_add_parts(l) && add_chunks(l);
}

/* --- to the device --- */

static bool is_void(const lmi_gpu_batch *batch) { return !batch->valid; }

static bool is_any(const lmi_gpu_batch *batch)
{
    (void)batch;
    return true;
}

static bool reserve_staging(lm_world *world, lmi_gpu *gpu)
{
    if (!lmi_gpu_is_staged(world, gpu) || gpu->staging_size >= (size_t)gpu->particles * 8) {
        return true;
    }
    lmi_release(&world->memory, gpu->staging, gpu->staging_size, sizeof(float));
    gpu->staging_size = 0;
    gpu->staging = lmi_allocate(&world->memory, (size_t)gpu->particles * 8, sizeof(float));
    gpu->staging_size = gpu->staging ? (size_t)gpu->particles * 8 : 0;
    return gpu->staging != NULL;
}

/* Positions or velocities of some batches: one by one, or those that stand side by side together. */
static bool write_batches(lm_world *world, lmi_gpu *gpu, bool velocities, lmi_gpu_wanted *wanted)
{
    const bool few = world->batch_count <= LMI_GPU_FEW_BATCHES;
    const lmi_gpu_buffer *to = velocities ? &gpu->v : &gpu->x;
    bool ok = true;
    for (uint32_t n = 0, end; ok && lmi_gpu_next_run(gpu, wanted, LMI_GPU_PARTICLES, &n, &end); n = end) {
        size_t first = (size_t)gpu->batch[n].first[LMI_GPU_PARTICLES] * 4, at = first, count = 0;
        for (uint32_t k = n; ok && k < end; k++) {
            const lmi_pack *pack = &world->batches[k].pack;
            const float *from = velocities ? pack->v : pack->x;
            at = (size_t)gpu->batch[k].first[LMI_GPU_PARTICLES] * 4;
            count = (size_t)pack->particle_blocks * LMI_BLOCK * 4;
            if (few) {
                ok = lmi_gpu_write(gpu, to, at * sizeof(float), from, count * sizeof(float));
            } else {
                memcpy(gpu->staging + at, from, count * sizeof(float));
            }
        }
        ok = ok && (few || lmi_gpu_write(gpu, to, first * sizeof(float), gpu->staging + first,
                                         (at + count - first) * sizeof(float)));
    }
    return ok;
}

bool lmi_gpu_upload_state(lm_world *world, lmi_gpu *gpu, bool all)
{
    lmi_gpu_wanted *wanted = all ? is_any : is_void;
    return reserve_staging(world, gpu) && write_batches(world, gpu, false, wanted) &&
           write_batches(world, gpu, true, wanted);
}

/* The records of bodies in batches that are not valid. */
static bool upload_records(lmi_gpu *gpu)
{
    bool ok = true;
    for (uint32_t n = 0, end; ok && n < gpu->body_count; n = end) {
        bool valid = gpu->batch[gpu->batch_of[n]].valid;
        for (end = n + 1; end < gpu->body_count && gpu->batch[gpu->batch_of[end]].valid == valid;) {
            end++;
        }
        const size_t size = sizeof *gpu->records;
        ok = valid || lmi_gpu_write(gpu, &gpu->bodies, n * size, gpu->records + n, (end - n) * size);
    }
    return ok;
}

static bool upload(layout *l)
{
    lmi_gpu *gpu = l->gpu;
    const size_t u = sizeof(uint32_t), f = sizeof(float);
    size_t records = gpu->body_count * sizeof *gpu->records;
    bool rigid = false, stretched = false;
    for (uint32_t n = 0; n < gpu->variant_count; n++) {
        const lmi_gpu_variant *v = &gpu->variant[n];
        rigid = rigid || (v->to_fit.count && !v->kind.linear);
        stretched = stretched || (v->to_fit.count && v->kind.linear);
    }
    const uint32_t none = 0;
    /* Nobody fits the empty lanes of a block that are in no tile, but their neighbours read them. */
    const size_t regions = rigid ? (size_t)gpu->particles * 6 * f : 0;
    const size_t linear = stretched ? (size_t)gpu->particles * 12 * f : 0;
    const uint32_t partials = lmi_gpu_kinds_partials(l);
    gpu->chunk_count = l->chunks.count;
    gpu->part_count = l->parts.count;
    return upload_records(gpu) && lmi_gpu_reserve(gpu, &gpu->before, records) &&
           put_array(gpu, &gpu->map, &l->map, u) && put_array(gpu, &gpu->constants_of, &l->constants_of, u) &&
           put_array(gpu, &gpu->kinds, &l->kinds.items, u) && put_array(gpu, &gpu->constants, &l->constants.items, f) &&
           lmi_gpu_reserve(gpu, &gpu->regions, regions) && lmi_gpu_clear(gpu, &gpu->regions, regions) &&
           lmi_gpu_reserve(gpu, &gpu->linear_regions, linear) && lmi_gpu_clear(gpu, &gpu->linear_regions, linear) &&
           lmi_gpu_upload_lists(l) && lmi_gpu_upload_tiles(gpu) && put_array(gpu, &gpu->corners, &l->corners, u) &&
           put_array(gpu, &gpu->chunks, &l->chunks, sizeof(lmi_gpu_chunk)) &&
           put_array(gpu, &gpu->parts, &l->parts, sizeof(lmi_gpu_chunk)) &&
           lmi_gpu_reserve(gpu, &gpu->partials, (size_t)partials * LMI_GPU_CHANNELS * f) &&
           lmi_gpu_reserve(gpu, &gpu->surfaces, LMI_GPU_MAX_SURFACES * sizeof(lmi_gpu_surface)) &&
           lmi_gpu_put(gpu, &gpu->stop, &none, u);
}

/* A body's record with the state that it has now; where it is laid out stays. */
static void refresh_record(lmi_body *body, lmi_gpu_body *record)
{
    const lmi_gpu_body was = *record;
    lmi_body_follow(body);
    describe_body(body, was.first, record);
    if (body->lattice) {
        describe_lattice(body, record);
    }
    record->map = was.map;
    record->phase = was.phase;
    memcpy(record->size, was.size, sizeof was.size);
    record->irregular = was.irregular;
    record->corrected = was.corrected;
    record->first_partial = was.first_partial;
    record->partials = was.partials;
    record->first_measure = was.first_measure;
    record->measures = was.measures;
    record->pointed = was.pointed;
    record->kind = was.kind;
    record->parts = was.parts;
}

bool lmi_gpu_refresh(lm_world *world, lmi_gpu *gpu)
{
    const uint32_t none = 0;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        lmi_body *body = lmi_body_in_step(world, gpu->slots[n]);
        if (!lmi_gpu_is_kept(gpu, body)) {
            refresh_record(body, &gpu->records[n]);
        }
    }
    return lmi_gpu_upload_state(world, gpu, false) && upload_records(gpu) &&
           lmi_gpu_put(gpu, &gpu->stop, &none, sizeof none) && lmi_gpu_clusters_refresh(world, gpu) &&
           lmi_gpu_examples_lay_out(world, gpu) && lmi_gpu_kinds_refresh(world, gpu);
}

/* Chunks and records of bodies in batches that are not valid. */
static bool list_void(lm_world *world, const lmi_gpu *gpu, array *bodies, array *chunks)
{
    bool ok = true;
    for (uint32_t n = 0; ok && n < gpu->body_count; n++) {
        const lmi_gpu_body *record = &gpu->records[n];
        if (gpu->batch[gpu->batch_of[n]].valid) {
            continue;
        }
        uint32_t *body = append(world, bodies, 1, sizeof *body);
        lmi_gpu_chunk *chunk = append(world, chunks, record->measures, sizeof *chunk);
        ok = body && chunk;
        for (uint32_t k = 0; ok && k < record->measures; k++) {
            uint32_t at = k * CHUNK_PARTICLES, left = record->particles - at;
            chunk[k] = (lmi_gpu_chunk){n, record->first + at, left < CHUNK_PARTICLES ? left : CHUNK_PARTICLES,
                                       record->first_measure + k};
        }
        if (ok) {
            *body = n;
        }
    }
    return ok;
}

bool lmi_gpu_measure_void(lm_world *world, lmi_gpu *gpu)
{
    array bodies = {NULL, 0, 0}, chunks = bodies;
    bool ok = list_void(world, gpu, &bodies, &chunks);
    if (ok && bodies.count == gpu->body_count) {
        ok = lmi_gpu_measure(gpu);
    } else if (ok && bodies.count) {
        ok = put_array(gpu, &gpu->fresh, &bodies, sizeof(uint32_t)) &&
             put_array(gpu, &gpu->fresh_chunks, &chunks, sizeof(lmi_gpu_chunk));
        const lmi_gpu_argument measure[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->fresh_chunks),
                                            LMI_GPU_BUFFER(gpu->x), LMI_GPU_BUFFER(gpu->v),
                                            LMI_GPU_BUFFER(gpu->partials)};
        const lmi_gpu_argument settle[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->partials),
                                           LMI_GPU_BUFFER(gpu->fresh)};
        const size_t groups[2] = {chunks.count, 1}, few[2] = {bodies.count, 1}, group[2] = {64, 1};
        ok = ok && lmi_gpu_run(gpu, gpu->measure, measure, 5, groups, group) &&
             lmi_gpu_run(gpu, gpu->settle, settle, 3, few, group) && lmi_gpu_kinds_conclude(gpu, gpu->h, true);
    }
    drop(world, &bodies, sizeof(uint32_t));
    drop(world, &chunks, sizeof(lmi_gpu_chunk));
    return ok;
}

/* Room for state: what is there of batches that are kept stays. */
static bool reserve_state(lmi_gpu *gpu)
{
    const size_t size = (size_t)gpu->particles * 4 * sizeof(float), records = gpu->body_count * sizeof *gpu->records;
    return gpu->whole ? lmi_gpu_reserve(gpu, &gpu->x, size) && lmi_gpu_reserve(gpu, &gpu->v, size) &&
                            lmi_gpu_reserve(gpu, &gpu->bodies, records)
                      : lmi_gpu_grow(gpu, &gpu->x, size) && lmi_gpu_grow(gpu, &gpu->v, size);
}

bool lmi_gpu_lay_out(lm_world *world, lmi_gpu *gpu)
{
    layout *l = plan_of(world, gpu);
    bool ok = l && begin_bodies(l) && add_bodies(l) && reserve_state(gpu) && lmi_gpu_upload_state(world, gpu, false) &&
              upload(l) && lmi_gpu_clusters_lay_out(world, gpu) && lmi_gpu_examples_lay_out(world, gpu) &&
              lmi_gpu_kinds_upload(l);
    if (l) {
        lmi_gpu_kinds_drop(l);
    }
    if (ok && gpu->whole) {
        sizes_of(l, l->sizes);
    }
    if (!ok || gpu->batch_count == 1) { /* nothing to keep */
        lmi_gpu_plan_free(world, gpu);
    }
    return ok;
}
