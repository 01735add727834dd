#include "match/pack.h"
#include "base/dmath.h"
#include "match/examples.h"
#include "match/plastic.h"
#include "world/elastic.h"
#include "world/in_step.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

/* A lane before it has a place: a region, or a part of one. */
typedef struct lane {
    uint32_t body;   /* slot */
    uint32_t region; /* of the body */
    uint32_t turn;   /* when it comes among the lanes of a body: by region, in an octree by the region's particle */
    uint32_t first;  /* member of the region that the part begins with */
    uint32_t length;
    uint32_t parts; /* of the region */
    uint32_t mode;
    uint32_t plastic;
    uint32_t examples; /* twice as many as it has, and 1 where it has a mix of its own */
    uint32_t place;    /* block * LMI_BLOCK + lane, once known */
} lane;

/* What is counted before anything is allocated. */
typedef struct counts {
    uint32_t particles, regions, lanes, multi;
} counts;

static counts count_batch(const lm_world *world, const lmi_batch *batch)
{
    counts c = {0};
    c.particles = LMI_BLOCK;
    for (uint32_t n = 0; n < batch->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, batch->bodies[n]);
        c.particles += body->padded_count;
        c.regions += body->region_count;
        for (uint32_t r = 0; r < body->region_count; r++) {
            uint32_t length = body->region_offsets[r + 1] - body->region_offsets[r];
            uint32_t parts = body->octree ? 1 : (length + LMI_PART - 1) / LMI_PART;
            c.lanes += parts;
            c.multi += parts > 1;
        }
    }
    return c;
}

/* By mode, whole regions before parts, long before short; then by name, so that the order is total. */
static int compare_lanes(const void *a, const void *b)
{
    const lane *x = a, *y = b;
    if (x->mode != y->mode) {
        return x->mode < y->mode ? -1 : 1;
    }
    if (x->plastic != y->plastic) {
        return x->plastic < y->plastic ? -1 : 1;
    }
    if (x->examples != y->examples) {
        return x->examples < y->examples ? -1 : 1;
    }
    if ((x->parts > 1) != (y->parts > 1)) {
        return x->parts > 1 ? 1 : -1;
    }
    if (x->length != y->length) {
        return x->length > y->length ? -1 : 1;
    }
    if (x->body != y->body) {
        return x->body < y->body ? -1 : 1;
    }
    if (x->turn != y->turn) {
        return x->turn < y->turn ? -1 : 1;
    }
    return x->first < y->first ? -1 : x->first > y->first;
}

static int compare_parts(const void *a, const void *b)
{
    const lane *x = a, *y = b;
    if (x->body != y->body) {
        return x->body < y->body ? -1 : 1;
    }
    if (x->region != y->region) {
        return x->region < y->region ? -1 : 1;
    }
    return x->first < y->first ? -1 : x->first > y->first;
}

static void list_lanes(const lm_world *world, const lmi_batch *batch, lane *lanes, lane *whole)
{
    uint32_t n_lane = 0, n_whole = 0;
    for (uint32_t n = 0; n < batch->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, batch->bodies[n]);
        const lmi_examples *e = body->examples;
        uint32_t examples = e ? 2 * e->count + (e->scope == LM_EXAMPLES_REGIONS) : 0;
        for (uint32_t r = 0; r < body->region_count; r++) {
            if (body->octree) { /* no rows: its sums have lists of their own (octree_lanes.h) */
                lanes[n_lane++] = (lane){.body = batch->bodies[n],
                                         .region = r,
                                         .turn = body->place[r],
                                         .parts = 1,
                                         .mode = (uint32_t)body->material.mode,
                                         .plastic = body->plastic_material,
                                         .examples = examples};
                continue;
            }
            uint32_t length = body->region_offsets[r + 1] - body->region_offsets[r];
            uint32_t parts = (length + LMI_PART - 1) / LMI_PART, size = (length + parts - 1) / parts;
            lane all = {.body = batch->bodies[n],
                        .region = r,
                        .turn = r,
                        .length = length,
                        .parts = parts,
                        .mode = (uint32_t)body->material.mode,
                        .plastic = body->plastic_material,
                        .examples = examples};
            if (parts > 1) {
                whole[n_whole++] = all;
            }
            for (uint32_t first = 0; first < length; first += size) {
                lane part = all;
                part.first = first;
                part.length = length - first < size ? length - first : size;
                lanes[n_lane++] = part;
            }
        }
    }
}

/* Blocks, rows and channels of examples that have been given away. */
typedef struct layout {
    uint32_t blocks, rows, example_channels;
} layout;

/* Whether a lane cannot be in the block of the one before it. */
static bool differs(const lane *a, const lane *b)
{
    return a->mode != b->mode || a->plastic != b->plastic || a->examples != b->examples ||
           (a->parts > 1) != (b->parts > 1) ||
           (a->body != b->body && (a->length == 0 || b->length == 0)); /* an octree has blocks of its own */
}

/* Gives each lane a place behind what is in `to`; a block holds lanes of one mode, and whole regions or parts but not both.
 * `blocks` may be null to count only. */
static void place_lanes(lane *lanes, uint32_t count, bool with_rows, lmi_lane_block *blocks, layout *to)
{
    uint32_t used = LMI_BLOCK;
    for (uint32_t n = 0; n < count; n++) {
        const lane *l = &lanes[n];
        if (used == LMI_BLOCK || differs(l, l - 1)) {
            lmi_lane_block b = {.mode = (lm_mode)l->mode,
                                .plastic = l->plastic != 0,
                                .fitted = !with_rows || l->parts == 1,
                                .first_row = to->rows,
                                .rows = with_rows ? l->length : 0, /* the first lane of a block is its longest */
                                .own_mix = l->examples % 2,
                                .first_example = to->example_channels};
            b.examples = b.fitted ? l->examples / 2 : 0;
            if (blocks) {
                blocks[to->blocks] = b;
            }
            to->blocks++;
            to->rows += b.rows;
            to->example_channels += b.examples ? lmi_example_channels(b.examples) : 0;
            used = 0;
        }
        lanes[n].place = (to->blocks - 1) * LMI_BLOCK + used++;
    }
}

/* Carves arrays out of one allocation: first pass with a null base to learn the size. */
typedef struct carver {
    char *base;
    size_t used;
} carver;

static void *carve(carver *c, size_t count, size_t size)
{
    void *piece = c->base ? c->base + c->used : NULL;
    c->used += (count * size + LMI_ALIGNMENT - 1) / LMI_ALIGNMENT * LMI_ALIGNMENT;
    return piece;
}

static void carve_pack(lmi_pack *p, carver *c)
{
    size_t particles = (size_t)p->particle_blocks * LMI_BLOCK, lanes = (size_t)p->lane_blocks * LMI_BLOCK;
    p->x = carve(c, particles * 4, sizeof(float));
    p->v = carve(c, particles * 4, sizeof(float));
    p->list_count = carve(c, particles, sizeof(float));
    p->list_share = carve(c, particles, sizeof(float));
    p->list_first = carve(c, p->particle_blocks + 1, sizeof(uint32_t));
    p->list = carve(c, (size_t)p->list_rows * LMI_BLOCK, sizeof(uint32_t));
    p->block = carve(c, p->lane_blocks, sizeof(lmi_lane_block));
    p->reference = carve(c, lanes, sizeof(uint32_t));
    p->constants = carve(c, lanes * LMI_CONSTANTS, sizeof(float));
    p->extent = carve(c, lanes * 3, sizeof(float));
    p->rotation = carve(c, lanes * 9, sizeof(float));
    p->plastic = carve(c, lanes * 6, sizeof(float));
    p->stiffness = carve(c, lanes, sizeof(float));
    p->lane_body = carve(c, lanes, sizeof(uint32_t));
    p->moments = carve(c, lanes * LMI_MOMENTS, sizeof(float));
    p->example = carve(c, (size_t)p->example_channels * LMI_BLOCK, sizeof(float));
    p->affine = carve(c, lanes * 9, sizeof(float));
    p->shape = carve(c, lanes * 9, sizeof(float));
    p->transforms = carve(c, lanes * LMI_MOMENTS, sizeof(float));
    p->member = carve(c, (size_t)p->rows * LMI_BLOCK, sizeof(uint32_t));
    p->q = carve(c, (size_t)p->rows * LMI_BLOCK * 3, sizeof(float));
    p->share = carve(c, p->shares, sizeof(lmi_share));
    p->region_lane = carve(c, p->regions, sizeof(uint32_t));
}

static uint32_t list_rows_of(const lm_world *world, const lmi_batch *batch, uint32_t *degree)
{
    /* Particles are sorted by the number of their regions, so a block's first particle has the longest list. */
    uint32_t rows = 0;
    for (uint32_t n = 0; n < batch->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, batch->bodies[n]);
        memset(degree, 0, body->padded_count * sizeof *degree);
        for (uint32_t m = 0; m < body->membership_count; m++) {
            degree[body->members[m]]++;
        }
        for (uint32_t b = 0; b < body->padded_count; b += LMI_BLOCK) {
            rows += degree[b];
        }
    }
    return rows;
}

static void fill_lists(const lmi_body *body, lmi_pack *p, uint32_t *degree, uint32_t *list_row)
{
    memset(degree, 0, body->padded_count * sizeof *degree);
    for (uint32_t m = 0; m < body->membership_count; m++) {
        degree[body->members[m]]++;
    }
    for (uint32_t n = 0; n < body->padded_count; n++) {
        uint32_t particle = body->first + n;
        p->list_count[particle] = (float)degree[n];
        p->list_share[particle] = degree[n] ? 1.0f / (float)degree[n] : 0.0f;
        if (n % LMI_BLOCK == 0) {
            p->list_first[particle / LMI_BLOCK] = *list_row;
            *list_row += degree[n];
        }
    }
}

static void fill_lane(const lmi_body *body, const lane *l, lmi_pack *p)
{
    const lmi_lane_block *block = &p->block[l->place / LMI_BLOCK];
    uint32_t k = l->place % LMI_BLOCK;
    const uint32_t *members = body->members + body->region_offsets[l->region];
    p->reference[l->place] = body->first + (body->octree ? body->place[l->region] : members[0]);
    p->stiffness[l->place] = (float)lmi_region_share(body, body->regions, l->region);
    p->lane_body[l->place] = l->body;
    for (uint32_t s = 0; s < l->length && block->rows; s++) {
        uint32_t row = block->first_row + s, particle = members[l->first + s];
        lm_dvec3 q = lmi_region_local(&body->regions[l->region], body->rest[particle]);
        p->member[row * LMI_BLOCK + k] = body->first + particle;
        float *at = p->q + (size_t)row * 3 * LMI_BLOCK + k;
        at[0] = (float)q.x;
        at[LMI_BLOCK] = (float)q.y;
        at[2 * LMI_BLOCK] = (float)q.z;
    }
}

/* `constants` of one lane. */
static void fill_material(const lmi_body *body, float *constants)
{
    constants[LMI_CONSTANT_BETA * LMI_BLOCK] = body->material.beta;
    constants[LMI_CONSTANT_BEYOND * LMI_BLOCK] = lmi_elastic_beyond(body);
    constants[LMI_CONSTANT_YIELD * LMI_BLOCK] = lmi_yield_bound(body->material.yield);
}

static void fill_constants(const lm_world *world, const lmi_body *body, const lane *l, lmi_pack *p)
{
    const lmi_region *region = &body->regions[l->region];
    uint32_t block = l->place / LMI_BLOCK, k = l->place % LMI_BLOCK;
    float *c = p->constants + (size_t)block * LMI_CONSTANTS * LMI_BLOCK + k;
    c[LMI_CONSTANT_INVERSE_MASS * LMI_BLOCK] = region->inverse_mass;
    fill_material(body, c);
    double volume = region->extent[0] * region->extent[1] * region->extent[2];
    c[LMI_CONSTANT_INVERSE_EDGE * LMI_BLOCK] = volume > 0.0 ? (float)lmi_exp(-lmi_log(volume) / 3.0) : 0.0f;
    for (int i = 0; i < 3; i++) {
        p->extent[((size_t)block * 3 + (size_t)i) * LMI_BLOCK + k] = (float)region->extent[i];
    }
    int triangle = 0;
    for (int i = 0; i < LMI_QUADRATICS; i++) {
        c[(LMI_CONSTANT_MEAN + i) * LMI_BLOCK] = region->mean[i];
        for (int j = 0; j < 3; j++) {
            c[(LMI_CONSTANT_LINEAR + 3 * i + j) * LMI_BLOCK] = region->linear[i][j];
        }
        for (int j = i; j < LMI_QUADRATICS; j++) {
            c[(LMI_CONSTANT_GRAM + triangle++) * LMI_BLOCK] = region->inverse_gram[i][j];
        }
    }
    uint32_t stride;
    const float *from = lmi_body_rotation(world, body, l->region, &stride);
    for (int i = 0; i < 9; i++) {
        p->rotation[((size_t)block * 9 + i) * LMI_BLOCK + k] = from[i * stride];
    }
    from = lmi_body_plastic(world, body, l->region, &stride);
    for (int i = 0; i < 6; i++) {
        p->plastic[((size_t)block * 6 + (size_t)i) * LMI_BLOCK + k] = from[i * stride];
    }
}

/* Pads lanes that no region uses, and what lies beyond a lane's last member, with harmless values. Zeros do, but for
 * the rotation and the extents, whose fit must be well determined. */
static void fill_padding(lmi_pack *p)
{
    for (uint32_t b = 0; b < p->lane_blocks; b++) {
        for (int k = 0; k < LMI_BLOCK; k++) {
            float *rotation = p->rotation + (size_t)b * 9 * LMI_BLOCK + k;
            p->lane_body[b * LMI_BLOCK + (uint32_t)k] = LMI_NONE;
            p->constants[((size_t)b * LMI_CONSTANTS + LMI_CONSTANT_YIELD) * LMI_BLOCK + k] = 3e38f;
            float *extent = p->extent + (size_t)b * 3 * LMI_BLOCK + k;
            for (int i = 0; i < 3; i++) {
                rotation[4 * i * LMI_BLOCK] = 1.0f;
                p->plastic[((size_t)b * 6 + (size_t)i) * LMI_BLOCK + k] = 1.0f;
                extent[i * LMI_BLOCK] = 1.0f;
            }
        }
    }
}

/* Each particle's list of goals, in the order of its body's regions. */
static void fill_goals(const lm_world *world, lmi_pack *p, const lane *lanes, uint32_t lane_count, uint32_t *used)
{
    memset(used, 0, (size_t)p->particle_blocks * LMI_BLOCK * sizeof *used);
    for (uint32_t n = 0; n < lane_count; n++) { /* sorted by body, region, part */
        const lane *l = &lanes[n];
        const lmi_body *body = lmi_body_at(world, l->body);
        const uint32_t *members = body->members + body->region_offsets[l->region] + l->first;
        uint32_t first_row = p->block[l->place / LMI_BLOCK].first_row, k = l->place % LMI_BLOCK;
        for (uint32_t s = 0; s < l->length; s++) {
            uint32_t particle = body->first + members[s];
            uint32_t row = p->list_first[particle / LMI_BLOCK] + used[particle]++;
            p->list[(size_t)row * LMI_BLOCK + particle % LMI_BLOCK] = (first_row + s) * LMI_BLOCK + k;
        }
    }
}

static void move_bodies(lm_world *world, const lmi_batch *batch, lmi_pack *p, uint32_t *degree)
{
    uint32_t particle = LMI_BLOCK, list_row = 0;
    p->list_first[0] = 0;
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_body *body = lmi_body_in_step(world, batch->bodies[n]);
        size_t floats = (size_t)body->padded_count * 4;
        memcpy(p->x + (size_t)particle * 4, body->x, floats * sizeof(float));
        memcpy(p->v + (size_t)particle * 4, body->v, floats * sizeof(float));
        body->first = particle;
        fill_lists(body, p, degree, &list_row);
        particle += body->padded_count;
    }
    p->list_first[p->particle_blocks] = list_row;
}

/* From here on the bodies live in the new pack. */
static void adopt(lm_world *world, lmi_batch *batch, const lmi_pack *p)
{
    uint32_t region = 0;
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_body *body = lmi_body_in_step(world, batch->bodies[n]);
        body->x = p->x + (size_t)body->first * 4;
        body->v = p->v + (size_t)body->first * 4;
        body->first_region = region;
        region += body->region_count;
        lmi_release(&world->memory, body->home, (size_t)body->padded_count * 8, sizeof(float));
        lmi_release(&world->memory, body->rotation, (size_t)body->region_count * 9, sizeof(float));
        lmi_release(&world->memory, body->plastic, (size_t)body->region_count * 6, sizeof(float));
        body->home = NULL;
        body->rotation = NULL;
        body->plastic = NULL;
    }
    lmi_pack_free(&batch->pack, &world->memory);
    batch->pack = *p;
    batch->dirty = false;
    batch->herded = false;
}

/* What bodies with examples have in their lanes. */
static void fill_examples(const lm_world *world, const lmi_batch *batch, const lmi_pack *p)
{
    uint32_t region = 0;
    for (uint32_t n = 0; n < batch->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, batch->bodies[n]);
        lmi_examples *e = body->examples;
        if (e) { /* those of regions by themselves are in the old pack, or here already */
            lmi_examples_read(e, e->weights);
        }
        for (uint32_t r = 0; e && r < body->region_count; r++) {
            uint32_t place = p->region_lane[region + r];
            e->at[r] = (size_t)p->block[place / LMI_BLOCK].first_example * LMI_BLOCK + place % LMI_BLOCK;
        }
        region += body->region_count;
        if (e && !body->lattice) {
            e->lanes = p->example;
            lmi_examples_measure(body, p->list_count + body->first);
        }
    }
}

static void fill_pack(lm_world *world, lmi_batch *batch, lmi_pack *p, lane *lanes, uint32_t lane_count, lane *whole,
                      uint32_t whole_count, uint32_t *degree)
{
    layout to = {0};
    place_lanes(lanes, lane_count, true, p->block, &to);
    place_lanes(whole, whole_count, false, p->block, &to);
    fill_padding(p);
    move_bodies(world, batch, p, degree);
    for (uint32_t n = 0; n < lane_count; n++) {
        const lmi_body *body = lmi_body_at(world, lanes[n].body);
        fill_lane(body, &lanes[n], p);
        if (lanes[n].parts == 1) {
            fill_constants(world, body, &lanes[n], p);
        }
    }
    for (uint32_t n = 0; n < whole_count; n++) {
        const lmi_body *body = lmi_body_at(world, whole[n].body);
        fill_lane(body, &whole[n], p);
        fill_constants(world, body, &whole[n], p);
    }
    qsort(lanes, lane_count, sizeof *lanes, compare_parts);
    qsort(whole, whole_count, sizeof *whole, compare_parts);
    uint32_t w = 0, share = 0, region = 0;
    for (uint32_t n = 0; n < lane_count; n++) {
        if (lanes[n].parts > 1) {
            w += lanes[n].first == 0 && share > 0; /* a new region's first part */
            lmi_share s = {whole[w].place, lanes[n].place};
            p->share[share++] = s;
        }
        if (lanes[n].first == 0) {
            p->region_lane[region++] = lanes[n].parts > 1 ? whole[w].place : lanes[n].place;
        }
    }
    fill_goals(world, p, lanes, lane_count, degree);
    fill_examples(world, batch, p);
}

bool lmi_batch_pack(lm_world *world, lmi_batch *batch)
{
    lmi_memory *memory = &world->memory;
    counts c = count_batch(world, batch);
    /* The bodies of a batch are in slot order, so lanes sorted by body come in the order of region_lane. */
    lane *lanes = lmi_allocate(memory, c.lanes, sizeof *lanes);
    lane *whole = lmi_allocate(memory, c.multi, sizeof *whole);
    uint32_t *degree = lmi_allocate(memory, c.particles, sizeof *degree);
    lmi_pack p = {0};
    bool ok = lanes && whole && degree;
    if (ok) {
        list_lanes(world, batch, lanes, whole);
        qsort(lanes, c.lanes, sizeof *lanes, compare_lanes);
        qsort(whole, c.multi, sizeof *whole, compare_lanes);
        layout all = {0};
        place_lanes(lanes, c.lanes, true, NULL, &all);
        place_lanes(whole, c.multi, false, NULL, &all);
        p.lane_blocks = all.blocks;
        p.rows = all.rows;
        p.example_channels = all.example_channels;
        p.particle_blocks = c.particles / LMI_BLOCK;
        p.regions = c.regions;
        for (uint32_t n = 0; n < c.lanes; n++) {
            p.shares += lanes[n].parts > 1;
        }
        p.list_rows = list_rows_of(world, batch, degree);
        carver sizes = {0};
        carve_pack(&p, &sizes);
        p.size = sizes.used;
        p.memory = lmi_allocate(memory, p.size, 1);
        ok = p.memory != NULL;
    }
    if (ok) {
        carver pieces = {p.memory, 0};
        carve_pack(&p, &pieces);
        fill_pack(world, batch, &p, lanes, c.lanes, whole, c.multi, degree);
        adopt(world, batch, &p);
    }
    lmi_release(memory, lanes, c.lanes, sizeof *lanes);
    lmi_release(memory, whole, c.multi, sizeof *whole);
    lmi_release(memory, degree, c.particles, sizeof *degree);
    return ok;
}

void lmi_batch_set_material(lm_world *world, uint32_t body_slot)
{
    const lmi_body *body = lmi_body_at(world, body_slot);
    if (body->batch == LMI_NONE || world->batches[body->batch].dirty) {
        return; /* packing will do it */
    }
    lmi_batch *batch = &world->batches[body->batch];
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t place = batch->pack.region_lane[body->first_region + r];
        fill_material(body, batch->pack.constants + (size_t)(place / LMI_BLOCK) * LMI_CONSTANTS * LMI_BLOCK +
                                place % LMI_BLOCK);
    }
}

void lmi_pack_free(lmi_pack *pack, lmi_memory *memory)
{
    lmi_release(memory, pack->memory, pack->size, 1);
    memset(pack, 0, sizeof *pack);
}
