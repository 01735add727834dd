#include "gpu/example_regions.h"

#include "gpu/clusters.h"
#include "gpu/kinds.h"
#include "match/examples.h"

#include <stdio.h>

typedef struct lmi_gpu_examples {
    cl_program program;
    cl_kernel gather_parts, measure, solve, match, spread_parts;
    lmi_gpu_buffer places, channels, kept, groups, words, members, numbers, weights;
    uint32_t blocks;                      /* of clusters */
    uint32_t group_count, cluster_groups; /* those of clusters come first */
    size_t floats, weight_count;          /* of channels, and of groups' weights */
    float *room;                          /* for both, on their way back */
    size_t room_size;
} lmi_gpu_examples;

typedef struct example_lists {
    lm_world *world;
    array places, channels, groups, words, members, numbers, weights;
    uint32_t cluster_groups;
} example_lists;

/* The blocks of a pack that have examples, and all its channels. */
static bool add_pack(example_lists *l, const lmi_pack *pack, uint32_t first_block, uint32_t first_row)
{
    uint32_t first_channel = l->channels.count / LMI_BLOCK;
    float *channels = append(l->world, &l->channels, pack->example_channels * LMI_BLOCK, sizeof *channels);
    bool ok = channels != NULL;
    if (ok && pack->example_channels) {
        memcpy(channels, pack->example, (size_t)pack->example_channels * LMI_BLOCK * sizeof *channels);
    }
    for (uint32_t n = 0; ok && n < pack->lane_blocks; n++) {
        const lmi_lane_block *b = &pack->block[n];
        uint32_t *place = b->examples ? append(l->world, &l->places, 8, sizeof *place) : NULL;
        ok = !b->examples || place;
        if (place) {
            const uint32_t words[8] = {first_block + n,
                                       first_channel + b->first_example,
                                       b->examples | (b->own_mix ? 256u : 0u),
                                       0,
                                       first_row + b->first_row,
                                       b->rows,
                                       (uint32_t)b->mode | (b->fitted ? 4u : 0u) | (b->plastic ? 8u : 0u),
                                       0};
            memcpy(place, words, sizeof words);
        }
    }
    return ok;
}

/* A group of regions: members, the Gram matrix and the scale behind it, weights. */
static bool add_group(example_lists *l, const lmi_examples *e, uint32_t g, uint32_t first_float)
{
    const uint32_t n = e->count, triangle = n * (n + 1) / 2;
    const uint32_t begin = l->members.count, numbers = l->numbers.count, weights = l->weights.count;
    bool ok = true;
    for (uint32_t r = 0; ok && r < e->region_count; r++) {
        if (e->group[r] == g) {
            uint32_t *member = append(l->world, &l->members, 1, sizeof *member);
            ok = member != NULL;
            if (ok) {
                *member = first_float + (uint32_t)e->at[r];
            }
        }
    }
    double *number = append(l->world, &l->numbers, triangle + 1, sizeof *number);
    float *weight = append(l->world, &l->weights, n, sizeof *weight);
    uint32_t *group = append(l->world, &l->groups, 4, sizeof *group);
    uint32_t *word = append(l->world, &l->words, 2, sizeof *word);
    if (!ok || !number || !weight || !group || !word) {
        return false;
    }
    memcpy(number, e->gram + (size_t)g * triangle, triangle * sizeof *number);
    number[triangle] = e->scale[g];
    memcpy(weight, (e->forced ? e->forced_weights : e->weights) + (size_t)g * n, n * sizeof *weight);
    group[0] = begin, group[1] = l->members.count, group[2] = numbers, group[3] = weights;
    word[0] = n, word[1] = e->forced;
    return true;
}

/* All groups of a body whose channels begin at a float. */
static bool add_groups(example_lists *l, const lmi_body *body, uint32_t first_float)
{
    const lmi_examples *e = body->examples;
    bool ok = true;
    for (uint32_t g = 0; ok && e && e->scope != LM_EXAMPLES_REGIONS && g < e->group_count; g++) {
        ok = add_group(l, e, g, first_float);
    }
    return ok;
}

static bool add_clusters(example_lists *l)
{
    lm_world *world = l->world;
    bool ok = true;
    for (uint32_t n = 0; ok && n < world->batch_count; n++) {
        const lmi_batch *batch = &world->batches[n];
        const uint32_t *first = world->gpu->batch[n].first;
        uint32_t first_float = l->channels.count;
        ok = add_pack(l, &batch->pack, first[LMI_GPU_LANE_BLOCKS], first[LMI_GPU_ROWS]);
        for (uint32_t k = 0; ok && k < batch->body_count; k++) {
            const lmi_body *body = lmi_body_at(world, batch->bodies[k]);
            ok = body->lattice || add_groups(l, body, first_float);
        }
    }
    return ok;
}

/* Channels that a lattice has for itself. */
static size_t lattice_floats(const lmi_body *body)
{
    return ((size_t)body->lattice->shape.block_count + 1) * lmi_example_channels(body->examples->count) * LMI_BLOCK;
}

static bool add_lattices(example_lists *l, lmi_gpu *gpu)
{
    bool ok = true;
    for (uint32_t n = 0; ok && gpu->matters && n < gpu->matters->count; n++) {
        lmi_gpu_matter *m = &gpu->matters->matter[n];
        const lmi_body *body = lmi_body_at(l->world, gpu->slots[m->body]);
        if (!body->examples) {
            continue;
        }
        m->examples = l->channels.count;
        m->count = body->examples->count;
        m->own_mix = body->examples->scope == LM_EXAMPLES_REGIONS;
        size_t floats = lattice_floats(body);
        float *channels = append(l->world, &l->channels, (uint32_t)floats, sizeof *channels);
        ok = channels && add_groups(l, body, m->examples);
        if (ok) {
            memcpy((float *)l->channels.items + m->examples, body->examples->home, floats * sizeof *channels);
        }
    }
    return ok;
}

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_examples *e)
{
    static const char *const texts[] = {"prelude.cl",    "records.h",           "vec.h",       "vec.c",
                                        "plastic.h",     "plastic.c",           "vmat.h",      "volume.h",
                                        "polar_lanes.h", "nearest.cl",          "contact.cl",  "record.cl",
                                        "cluster.cl",    LMI_GPU_EXAMPLE_TEXTS, "examples.cl", NULL};
    char options[2048];
    int length = lmi_gpu_cluster_options(gpu, options, sizeof options);
    snprintf(options + length, sizeof options - (size_t)length, " -DLM_MAX_EXAMPLES=%d", LM_MAX_EXAMPLES);
    const lmi_gpu_named kernels[] = {{&e->gather_parts, "example_gather_parts"},
                                     {&e->spread_parts, "example_spread_parts"},
                                     {&e->measure, "example_measure_regions"},
                                     {&e->solve, "example_solve_groups"},
                                     {&e->match, "example_match_regions"}};
    return lmi_gpu_build(world, gpu, &e->program, texts, options) && LMI_GPU_FIND(e->program, kernels);
}

static bool upload(example_lists *l, lmi_gpu *gpu, lmi_gpu_examples *e)
{
    const size_t u = sizeof(uint32_t);
    e->blocks = l->places.count / 8;
    e->cluster_groups = l->cluster_groups;
    e->group_count = l->groups.count / 4;
    e->floats = l->channels.count;
    e->weight_count = l->weights.count;
    size_t room = e->floats + e->weight_count;
    if (e->room_size < room) {
        lmi_release(&l->world->memory, e->room, e->room_size, sizeof *e->room);
        e->room = lmi_allocate(&l->world->memory, room, sizeof *e->room);
        e->room_size = e->room ? room : 0;
    }
    return e->room && put_array(gpu, &e->places, &l->places, u) &&
           lmi_gpu_put(gpu, &e->channels, l->channels.items, e->floats * sizeof(float)) &&
           put_array(gpu, &e->groups, &l->groups, u) && put_array(gpu, &e->words, &l->words, u) &&
           put_array(gpu, &e->members, &l->members, u) && put_array(gpu, &e->numbers, &l->numbers, sizeof(double)) &&
           lmi_gpu_put(gpu, &e->weights, l->weights.items, e->weight_count * sizeof(float));
}

static bool has_examples(const lm_world *world, const lmi_gpu *gpu)
{
    bool any = gpu->matters && gpu->matters->mixed;
    for (uint32_t n = 0; n < world->batch_count; n++) {
        any = any || world->batches[n].pack.example_channels > 0;
    }
    return any;
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_examples *e = part;
    lmi_release(gpu->memory, e->room, e->room_size, sizeof *e->room);
}

bool lmi_gpu_examples_lay_out(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    if (e) {
        e->blocks = 0;
        e->floats = 0;
    }
    if (!has_examples(world, gpu)) {
        return true;
    }
    if (!e) {
        e = gpu->examples = lmi_gpu_make_part(gpu, sizeof *e, end);
        if (!e || !build(world, gpu, e)) {
            return false;
        }
    }
    example_lists l = {.world = world};
    bool ok = add_clusters(&l);
    l.cluster_groups = l.groups.count / 4;
    ok = ok && add_lattices(&l, gpu) && upload(&l, gpu, e);
    e->blocks = ok ? e->blocks : 0;
    e->floats = ok ? e->floats : 0;
    array *const all[] = {&l.places, &l.channels, &l.groups, &l.words, &l.members, &l.weights};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        drop(world, all[n], sizeof(uint32_t));
    }
    drop(world, &l.numbers, sizeof(double));
    return ok;
}

bool lmi_gpu_has_examples(const lmi_gpu *gpu) { return gpu->examples && gpu->examples->floats > 0; }

const lmi_gpu_buffer *lmi_gpu_examples_channels(const lmi_gpu *gpu) { return &gpu->examples->channels; }

bool lmi_gpu_examples_solve(lmi_gpu *gpu, bool lattices)
{
    lmi_gpu_examples *e = gpu->examples;
    const cl_uint first = lattices ? e->cluster_groups : 0;
    const lmi_gpu_argument solve[] = {
        LMI_GPU_VALUE(first),       LMI_GPU_BUFFER(e->groups),   LMI_GPU_BUFFER(e->words),  LMI_GPU_BUFFER(e->members),
        LMI_GPU_BUFFER(e->numbers), LMI_GPU_BUFFER(e->channels), LMI_GPU_BUFFER(e->weights)};
    const size_t groups[2] = {(lattices ? e->group_count : e->cluster_groups) - first, 1}, group[2] = {64, 1};
    return groups[0] == 0 || lmi_gpu_run(gpu, e->solve, solve, sizeof solve / sizeof *solve, groups, group);
}

bool lmi_gpu_examples_match(lmi_gpu *gpu, const lmi_gpu_clusters *c)
{
    lmi_gpu_examples *e = gpu->examples;
    if (!e || e->blocks == 0) {
        return true;
    }
    const cl_uint blocks = e->blocks, divided = c->mixed_count;
    const lmi_gpu_argument gather[] = {LMI_GPU_VALUE(divided), LMI_GPU_BUFFER(c->mixed_regions),
                                       LMI_GPU_BUFFER(c->parts), LMI_GPU_BUFFER(c->moments)};
    const lmi_gpu_argument spread[] = {LMI_GPU_VALUE(divided),     LMI_GPU_BUFFER(c->mixed_regions),
                                       LMI_GPU_BUFFER(c->parts),   LMI_GPU_BUFFER(c->blocks),
                                       LMI_GPU_BUFFER(c->rest),    LMI_GPU_BUFFER(c->stiffness),
                                       LMI_GPU_BUFFER(c->moments), LMI_GPU_BUFFER(c->goals)};
    const lmi_gpu_argument measure[] = {
        LMI_GPU_VALUE(blocks),      LMI_GPU_BUFFER(e->places),    LMI_GPU_BUFFER(c->reference),
        LMI_GPU_BUFFER(c->member),  LMI_GPU_BUFFER(c->rest),      LMI_GPU_BUFFER(c->constants),
        LMI_GPU_BUFFER(c->extents), LMI_GPU_BUFFER(c->rotations), LMI_GPU_BUFFER(c->plastics),
        LMI_GPU_BUFFER(gpu->x),     LMI_GPU_BUFFER(c->moments),   LMI_GPU_BUFFER(e->channels)};
    const lmi_gpu_argument match[] = {
        LMI_GPU_VALUE(blocks),       LMI_GPU_BUFFER(e->places),    LMI_GPU_BUFFER(c->reference),
        LMI_GPU_BUFFER(c->member),   LMI_GPU_BUFFER(c->rest),      LMI_GPU_BUFFER(c->constants),
        LMI_GPU_BUFFER(c->extents),  LMI_GPU_BUFFER(c->stiffness), LMI_GPU_BUFFER(c->rotations),
        LMI_GPU_BUFFER(c->plastics), LMI_GPU_BUFFER(c->rates),     LMI_GPU_BUFFER(gpu->x),
        LMI_GPU_BUFFER(e->channels), LMI_GPU_BUFFER(c->moments),   LMI_GPU_BUFFER(c->goals)};
    const size_t groups[2] = {(blocks * LMI_BLOCK + 63) / 64, 1}, group[2] = {64, 1};
    const size_t few[2] = {(divided + 63) / 64, 1};
    return (divided == 0 || lmi_gpu_run(gpu, e->gather_parts, gather, sizeof gather / sizeof *gather, few, group)) &&
           lmi_gpu_run(gpu, e->measure, measure, sizeof measure / sizeof *measure, groups, group) &&
           lmi_gpu_examples_solve(gpu, false) &&
           lmi_gpu_run(gpu, e->match, match, sizeof match / sizeof *match, groups, group) &&
           (divided == 0 || lmi_gpu_run(gpu, e->spread_parts, spread, sizeof spread / sizeof *spread, few, group));
}

bool lmi_gpu_examples_keep(lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    return !e || e->floats == 0 ||
           (lmi_gpu_reserve(gpu, &e->kept, e->floats * sizeof(float)) &&
            lmi_gpu_copy(gpu, &e->channels, &e->kept, e->floats * sizeof(float)));
}

bool lmi_gpu_examples_restore(lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    return !e || e->floats == 0 || lmi_gpu_copy(gpu, &e->kept, &e->channels, e->floats * sizeof(float));
}

bool lmi_gpu_examples_read(lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    return !e || e->floats == 0 ||
           (lmi_gpu_read(gpu, &e->channels, 0, e->room, e->floats * sizeof(float)) &&
            lmi_gpu_read(gpu, &e->weights, 0, e->room + e->floats, e->weight_count * sizeof(float)));
}

/* The weights of a body's groups; returns where the next body's are. */
static const float *put_weights(lmi_examples *e, const float *weights)
{
    size_t count = e && e->scope != LM_EXAMPLES_REGIONS ? (size_t)e->group_count * e->count : 0;
    if (count) {
        memcpy(e->weights, weights, count * sizeof(float));
    }
    return weights + count;
}

void lmi_gpu_examples_put(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    if (!e || e->floats == 0) {
        return;
    }
    const float *channels = e->room, *weights = e->room + e->floats;
    for (uint32_t n = 0; n < world->batch_count; n++) {
        const lmi_batch *batch = &world->batches[n];
        size_t floats = (size_t)batch->pack.example_channels * LMI_BLOCK;
        if (floats) {
            memcpy(batch->pack.example, channels, floats * sizeof(float));
            channels += floats;
        }
        for (uint32_t k = 0; k < batch->body_count; k++) {
            const lmi_body *body = lmi_body_at(world, batch->bodies[k]);
            weights = body->lattice ? weights : put_weights(body->examples, weights);
        }
    }
    for (uint32_t n = 0; gpu->matters && n < gpu->matters->count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[gpu->matters->matter[n].body]);
        if (body->examples) {
            memcpy(body->examples->home, channels, lattice_floats(body) * sizeof(float));
            channels += lattice_floats(body);
            weights = put_weights(body->examples, weights);
        }
    }
}
