/*
 * A world as the kernels want it.
 *
 * Particles are where the batches have them (step/pack.h), one batch after the other: four floats for position and weight,
 * four for velocity and mass. Everything else is made from the bodies: records and maps of the blocks of lattices here, tiles,
 * constants of regions and lists of irregular ones beside (layout_tiles.c, layout_constants.c, layout_lists.c). It is made anew
 * whenever something has changed, and takes no part in a step.
 */
#include "gpu/layout.h"

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
        bool linear = body->lattice && !lmi_gpu_is_kind(body) && body->material.mode == LM_MODE_LINEAR;
        channels = linear ? LMI_LATTICE_ALL_CONSTANTS : channels;
    }
    l->channels = channels;
    for (uint32_t n = 0; n < gpu->variant_count; n++) {
        gpu->variant[n].to_fit.count = gpu->variant[n].to_move.count = gpu->variant[n].small_count = 0;
    }
    uint32_t blocks = gpu->particles / LMI_BLOCK;
    uint32_t *of = append(world, &l->constants_of, blocks, sizeof(uint32_t));
    uint32_t *irregular = append(world, &l->irregular, 2 * blocks, sizeof(uint32_t));
    uint32_t *corrected = append(world, &l->corrected, 2 * blocks, sizeof(uint32_t));
    return ok && of && irregular && corrected && lmi_gpu_kinds_begin(l);
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
    ok = ok && lmi_gpu_add_parts(l) && add_chunks(l);
    l->partials = ok ? lmi_gpu_kinds_partials(l) : l->partials;
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
    gpu->chunk_count = l->chunks.count;
    gpu->part_count = l->parts.count;
    return lmi_gpu_upload_state(l->world, gpu) && lmi_gpu_put(gpu, &gpu->bodies, gpu->records, records) &&
           lmi_gpu_reserve(gpu, &gpu->before, records) && put_array(gpu, &gpu->map, &l->map, u) &&
           put_array(gpu, &gpu->constants_of, &l->constants_of, u) && put_array(gpu, &gpu->kinds, &l->kinds.items, u) &&
           put_array(gpu, &gpu->constants, &l->constants.items, f) && lmi_gpu_reserve(gpu, &gpu->regions, regions) &&
           lmi_gpu_clear(gpu, &gpu->regions, regions) && lmi_gpu_reserve(gpu, &gpu->linear_regions, linear) &&
           lmi_gpu_clear(gpu, &gpu->linear_regions, linear) && lmi_gpu_upload_lists(l) && lmi_gpu_upload_tiles(gpu) &&
           put_array(gpu, &gpu->corners, &l->corners, u) &&
           put_array(gpu, &gpu->chunks, &l->chunks, sizeof(lmi_gpu_chunk)) &&
           put_array(gpu, &gpu->parts, &l->parts, sizeof(lmi_gpu_chunk)) &&
           lmi_gpu_reserve(gpu, &gpu->partials, (size_t)l->partials * LMI_GPU_CHANNELS * f) &&
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
        refresh_record(lmi_body_at(world, gpu->slots[n]), &gpu->records[n]);
    }
    return lmi_gpu_upload_state(world, gpu) &&
           lmi_gpu_write(gpu, &gpu->bodies, 0, gpu->records, gpu->body_count * sizeof *gpu->records) &&
           lmi_gpu_put(gpu, &gpu->stop, &none, sizeof none) && lmi_gpu_clusters_refresh(world, gpu) &&
           lmi_gpu_examples_lay_out(world, gpu) && lmi_gpu_kinds_refresh(world, gpu);
}

bool lmi_gpu_lay_out(lm_world *world, lmi_gpu *gpu)
{
    layout l = {.world = world, .gpu = gpu};
    bool ok = reserve_bodies(&l) && add_bodies(&l) && upload(&l) && lmi_gpu_clusters_lay_out(world, gpu) &&
              lmi_gpu_examples_lay_out(world, gpu) && lmi_gpu_kinds_upload(&l);
    lmi_gpu_kinds_drop(&l);
    array *const arrays[] = {
        &l.map,       &l.constants_of, &l.constants.items, &l.constants.slots, &l.kinds.items, &l.kinds.slots,
        &l.irregular, &l.corrected,    &l.gather.entries,  &l.scatter.entries, &l.corners};
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++) {
        drop(world, arrays[n], sizeof(uint32_t)); /* floats are as large */
    }
    drop(world, &l.chunks, sizeof(lmi_gpu_chunk));
    drop(world, &l.parts, sizeof(lmi_gpu_chunk));
    drop(world, &l.known_corners, 2 * sizeof(uint32_t));
    drop(world, &l.gather.items, sizeof(lmi_gpu_list));
    drop(world, &l.scatter.items, sizeof(lmi_gpu_list));
    drop(world, &l.gather.known, sizeof(known_lists));
    drop(world, &l.scatter.known, sizeof(known_lists));
    lmi_gpu_drop_tiles(world, gpu);
    return ok;
}
