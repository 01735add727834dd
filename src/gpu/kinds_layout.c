/*
 * What lattices that flow, are damped region by region, have examples or are in several parts want on a device besides what
 * all lattices have: their places one after the other, their lasting deformation, and the records of parts.
 */
#include "gpu/kinds.h"

#include "examples.h"
#include "step/plastic.h"

/* Particles of a part that a work-group measures after an upload. */
#define CHUNK_PARTICLES 4096

bool lmi_gpu_is_kind(const lmi_body *body)
{
    const lmi_lattice_body *lattice = body->lattice;
    return lattice && (lattice->plastic.state || lattice->shape.part_count > 1 || body->examples ||
                       body->material.damping_kind == LM_DAMPING_REGIONAL);
}

bool lmi_gpu_kinds_begin(layout *l)
{
    lm_world *world = l->world;
    uint32_t count = 0, parts = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        bool is = body->batch != LMI_NONE && lmi_gpu_is_kind(body);
        count += is;
        parts += is && body->lattice->shape.part_count > 1 ? body->lattice->shape.part_count : 0;
    }
    if (count == 0 && !l->gpu->matters) {
        return true;
    }
    if (!l->gpu->matters) {
        l->gpu->matters = lmi_allocate(&world->memory, 1, sizeof *l->gpu->matters);
        if (!l->gpu->matters) {
            return false;
        }
    }
    lmi_gpu_matters *k = l->gpu->matters;
    void *matter = k->matter, *part = k->part;
    bool ok = lmi_reserve(&world->memory, &matter, &k->matter_capacity, count, sizeof *k->matter) &&
              lmi_reserve(&world->memory, &part, &k->part_capacity, parts, sizeof *k->part);
    k->matter = matter;
    k->part = part;
    k->count = k->part_count = k->blocks = k->chunk_count = 0;
    k->damped = k->mixed = false;
    return ok;
}

static void put_vector(float to[3], lm_vec3 from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }
static void put_dvector(double to[3], lm_dvec3 from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

static lm_vec3 three(const float *from) { return (lm_vec3){from[0], from[1], from[2]}; }

static void describe_part(const lmi_body *body, uint32_t n, uint32_t index, lmi_gpu_body *to)
{
    const lmi_lattice_part *part = &body->lattice->part[n];
    memset(to, 0, sizeof *to);
    to->kind = index;
    to->parts = n == 0;
    to->rest_size = body->rest_size;
    to->rest_inertia = part->inertia;
    to->spacing = body->lattice->shape.spacing;
    to->alpha = body->alpha;
    to->pinned = body->first_pin != LMI_NONE;
    put_vector(to->at, three(body->x + 4 * (size_t)part->reference));
    put_vector(to->from, three(body->v + 4 * (size_t)part->reference));
    put_vector(to->lower, part->lower);
    put_vector(to->upper, part->upper);
    put_vector(to->drift_centre, part->drift_centre);
    put_vector(to->drift_velocity, part->drift_velocity);
    put_vector(to->drift_spin, part->drift_spin);
    put_dvector(to->owed_momentum, part->owed_momentum);
    put_dvector(to->owed_angular, part->owed_angular);
}

/* The boxes of a body's parts, six words each. */
static void bound_parts(const lmi_body *body, uint32_t *boxes)
{
    const lmi_lattice *shape = &body->lattice->shape;
    for (uint32_t n = 0; n < shape->part_count; n++) {
        memset(boxes + 6 * (size_t)n, 0xff, 3 * sizeof *boxes);
    }
    LMI_PARTICLES_EACH(body, n)
    {
        int32_t corner[3];
        uint32_t *box = boxes + 6 * (size_t)shape->part[n];
        lmi_lattice_corner(shape, n, corner);
        for (int a = 0; a < 3; a++) {
            uint32_t at = (uint32_t)corner[a] + (a == 0 ? shape->phase : 0);
            box[a] = at < box[a] ? at : box[a];
            box[3 + a] = at + 1 > box[3 + a] ? at + 1 : box[3 + a];
        }
    }
}

void lmi_gpu_part_box(const layout *l, uint32_t part, uint32_t low[3], uint32_t high[3])
{
    const uint32_t *box = (const uint32_t *)l->boxes.items + 6 * (size_t)part;
    memcpy(low, box, 3 * sizeof *low);
    memcpy(high, box + 3, 3 * sizeof *high);
    low[0] = low[0] / LMI_BLOCK * LMI_BLOCK; /* a tile loads whole blocks */
}

/* Particles part by part, and chunks of them. */
static bool list_parts(layout *l, const lmi_body *body, uint32_t first_part, uint32_t first_particle)
{
    const lmi_lattice *shape = &body->lattice->shape;
    lmi_gpu_matters *k = l->gpu->matters;
    uint32_t at = l->part_members.count, count = body->particle_count;
    array ends = {NULL, 0, 0};
    uint32_t *members = append(l->world, &l->part_members, count, sizeof *members);
    uint32_t *end = append(l->world, &ends, shape->part_count, sizeof *end);
    bool ok = members && end;
    if (ok) {
        memset(end, 0, shape->part_count * sizeof *end);
        LMI_PARTICLES_EACH(body, n) { end[shape->part[n]]++; }
    }
    for (uint32_t n = 0, used = 0, partial = l->part_partials; ok && n < shape->part_count; n++) {
        lmi_gpu_body *part = &k->part[first_part + n];
        uint32_t size = end[n];
        part->first_measure = partial;
        for (uint32_t from = 0; ok && from < size; from += CHUNK_PARTICLES, partial++) {
            lmi_gpu_chunk *chunk = append(l->world, &l->part_chunks, 1, sizeof *chunk);
            ok = chunk != NULL;
            if (ok) {
                uint32_t left = size - from;
                *chunk = (lmi_gpu_chunk){first_part + n, at + used + from,
                                         left < CHUNK_PARTICLES ? left : CHUNK_PARTICLES, partial};
            }
        }
        part->measures = partial - part->first_measure;
        l->part_partials = partial;
        end[n] = used; /* where the next of its particles goes */
        used += size;
    }
    if (ok) {
        LMI_PARTICLES_EACH(body, n) { members[end[shape->part[n]]++] = first_particle + n; }
    }
    drop(l->world, &ends, sizeof *end);
    return ok;
}

static bool add_parts(layout *l, const lmi_body *body, uint32_t index, uint32_t *part_of)
{
    const lmi_lattice *shape = &body->lattice->shape;
    lmi_gpu_matters *k = l->gpu->matters;
    const uint32_t first = k->part_count;
    uint32_t *boxes = append(l->world, &l->boxes, 6 * shape->part_count, sizeof *boxes);
    if (!boxes) {
        return false;
    }
    memset(boxes, 0, 6 * (size_t)shape->part_count * sizeof *boxes);
    bound_parts(body, boxes);
    for (uint32_t n = 0; n < shape->part_count; n++) {
        describe_part(body, n, index, &k->part[k->part_count++]);
    }
    LMI_PARTICLES_EACH(body, n) { part_of[n] = first + shape->part[n]; }
    return list_parts(l, body, first, l->gpu->records[index].first);
}

/* Its places: whose they are, where they are, and of which part. The block without particles is one of them: what fills up lists
 * points there. */
static bool add_places(layout *l, const lmi_body *body, uint32_t index, lmi_gpu_matter *m)
{
    const lmi_lattice *shape = &body->lattice->shape;
    const uint32_t blocks = shape->block_count + 1, number = l->gpu->matters->count;
    uint32_t *owners = append(l->world, &l->owners, blocks, sizeof *owners);
    int32_t *corners = append(l->world, &l->block_corners, 4 * blocks, sizeof *corners);
    uint32_t *part_of = append(l->world, &l->part_of, blocks * LMI_BLOCK, sizeof *part_of);
    if (!owners || !corners || !part_of) {
        return false;
    }
    m->room = l->gpu->matters->blocks;
    l->gpu->matters->blocks += blocks;
    memset(part_of, 0xff, (size_t)blocks * LMI_BLOCK * sizeof *part_of);
    for (uint32_t n = 0; n < blocks; n++) {
        owners[n] = number;
        memcpy(corners + 4 * (size_t)n, shape->at[n], 3 * sizeof *corners);
        corners[4 * (size_t)n + 3] = 0;
    }
    l->gpu->records[index].parts = shape->part_count;
    return shape->part_count == 1 || add_parts(l, body, index, part_of);
}

bool lmi_gpu_add_kind(layout *l, const lmi_body *body, uint32_t index)
{
    const lmi_lattice_body *lattice = body->lattice;
    lmi_gpu_matters *k = l->gpu->matters;
    lmi_gpu_matter *m = &k->matter[k->count];
    *m = (lmi_gpu_matter){.flow = body->flow,
                          .yield = body->material.yield,
                          .most = body->material.max_plastic,
                          .bound = lmi_yield_bound(body->material.yield),
                          .body = index,
                          .first_part = k->part_count,
                          .plastic = LMI_GPU_NONE,
                          .examples = LMI_GPU_NONE,
                          .linear = body->material.mode == LM_MODE_LINEAR};
    if (!add_places(l, body, index, m)) {
        return false;
    }
    if (lattice->plastic.state) {
        uint32_t count = (lattice->shape.block_count + 1) * 6 * LMI_BLOCK;
        m->plastic = l->plastics.count;
        float *state = append(l->world, &l->plastics, count, sizeof *state);
        if (!state) {
            return false;
        }
        memcpy(state, lattice->plastic.state, count * sizeof *state);
    }
    k->damped = k->damped || body->material.damping_kind == LM_DAMPING_REGIONAL;
    k->mixed = k->mixed || body->examples;
    l->gpu->records[index].kind = k->count++;
    return true;
}

bool lmi_gpu_kinds_upload(layout *l)
{
    lmi_gpu *gpu = l->gpu;
    lmi_gpu_matters *k = gpu->matters;
    if (!k || k->count == 0) {
        return true;
    }
    if (!lmi_gpu_kinds_build(l->world, gpu)) {
        return false;
    }
    const size_t u = sizeof(uint32_t), f = sizeof(float), places = (size_t)k->blocks * LMI_BLOCK;
    const size_t parts = k->part_count * sizeof *k->part;
    k->chunk_count = l->part_chunks.count;
    k->plastic_floats = l->plastics.count;
    if (k->room_size < k->plastic_floats) {
        lmi_release(&l->world->memory, k->room, k->room_size, sizeof *k->room);
        k->room = lmi_allocate(&l->world->memory, k->plastic_floats, sizeof *k->room);
        k->room_size = k->room ? k->plastic_floats : 0;
    }
    return (k->room || k->plastic_floats == 0) &&
           lmi_gpu_put(gpu, &k->matters, k->matter, k->count * sizeof *k->matter) &&
           put_array(gpu, &k->owners, &l->owners, u) && put_array(gpu, &k->corners, &l->block_corners, u) &&
           put_array(gpu, &k->plastics, &l->plastics, f) && put_array(gpu, &k->part_of, &l->part_of, u) &&
           lmi_gpu_put(gpu, &k->parts, k->part, parts) && lmi_gpu_reserve(gpu, &k->parts_before, parts) &&
           put_array(gpu, &k->part_chunks, &l->part_chunks, sizeof(lmi_gpu_chunk)) &&
           put_array(gpu, &k->part_members, &l->part_members, u) && lmi_gpu_reserve(gpu, &k->values, places * 4 * f) &&
           lmi_gpu_reserve(gpu, &k->moments, places * 12 * f) &&
           lmi_gpu_reserve(gpu, &k->transforms, places * 12 * f) &&
           lmi_gpu_reserve(gpu, &k->velocities, k->damped ? places * 4 * f : 0) &&
           lmi_gpu_reserve(gpu, &k->velocity_moments, k->damped ? places * 12 * f : 0) &&
           lmi_gpu_reserve(gpu, &k->velocity_corrections, k->damped ? (size_t)l->irregulars * LMI_BLOCK * f : 0);
}

void lmi_gpu_kinds_drop(layout *l)
{
    array *const arrays[] = {&l->owners, &l->block_corners, &l->part_of, &l->plastics, &l->boxes, &l->part_members};
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++) {
        drop(l->world, arrays[n], sizeof(uint32_t)); /* floats are as large */
    }
    drop(l->world, &l->part_chunks, sizeof(lmi_gpu_chunk));
}

/* A part's record with the state that it has now; where it is laid out stays. */
static void refresh_part(const lmi_body *body, uint32_t n, lmi_gpu_body *record)
{
    const lmi_gpu_body was = *record;
    describe_part(body, n, was.kind, record);
    record->first_partial = was.first_partial;
    record->partials = was.partials;
    record->first_measure = was.first_measure;
    record->measures = was.measures;
}

bool lmi_gpu_kinds_refresh(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_matters *k = gpu->matters;
    bool ok = true;
    for (uint32_t n = 0; ok && k && n < k->count; n++) {
        const lmi_gpu_matter *m = &k->matter[n];
        const lmi_body *body = lmi_body_at(world, gpu->slots[m->body]);
        const lmi_lattice_body *lattice = body->lattice;
        if (m->plastic != LMI_GPU_NONE) {
            size_t floats = ((size_t)lattice->shape.block_count + 1) * 6 * LMI_BLOCK;
            ok = lmi_gpu_write(gpu, &k->plastics, m->plastic * sizeof(float), lattice->plastic.state,
                               floats * sizeof(float));
        }
        for (uint32_t p = 0; lattice->shape.part_count > 1 && p < lattice->shape.part_count; p++) {
            refresh_part(body, p, &k->part[m->first_part + p]);
        }
    }
    return ok && (!k || lmi_gpu_write(gpu, &k->parts, 0, k->part, k->part_count * sizeof *k->part));
}
