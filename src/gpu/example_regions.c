#include "gpu/example_regions.h"

#include "examples.h"
#include "gpu/clusters.h"
#include "gpu/layout.h"

#include <stdio.h>

typedef struct lmi_gpu_examples {
    cl_program program;
    cl_kernel measure, solve, match;
    lmi_gpu_buffer places, channels, kept, groups, words, members, numbers, weights;
    uint32_t blocks, group_count;
    size_t floats, weight_count; /* of channels, and of groups' weights */
    float *room;                 /* for both, on their way back */
    size_t room_size;
} lmi_gpu_examples;

const char *lmi_gpu_examples_reason(const lm_world *world, const lmi_body *body)
{
    if (body->lattice || body->octree) {
        return "examples of lattices and octrees";
    }
    const lmi_pack *pack = &world->batches[body->batch].pack;
    for (uint32_t r = 0; r < body->region_count; r++) {
        if (pack->block[pack->region_lane[body->first_region + r] / LMI_BLOCK].rows == 0) {
            return "examples of very large clusters"; /* their parts are gathered one by one */
        }
    }
    return NULL;
}

typedef struct example_lists {
    lm_world *world;
    array places, channels, groups, words, members, numbers, weights;
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

static bool add_all(example_lists *l, const lmi_gpu *gpu)
{
    lm_world *world = l->world;
    uint32_t block = 0, row = 0;
    bool ok = true;
    for (uint32_t n = 0; ok && n < world->batch_count; n++) {
        const lmi_batch *batch = &world->batches[n];
        uint32_t first_float = l->channels.count;
        ok = add_pack(l, &batch->pack, block, row);
        for (uint32_t k = 0; ok && k < batch->body_count; k++) {
            const lmi_examples *e = lmi_body_at(world, batch->bodies[k])->examples;
            for (uint32_t g = 0; ok && e && e->scope != LM_EXAMPLES_REGIONS && g < e->group_count; g++) {
                ok = add_group(l, e, g, first_float);
            }
        }
        block += batch->pack.lane_blocks;
        row += batch->pack.rows;
    }
    (void)gpu;
    return ok;
}

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_examples *e)
{
    static const char *const texts[] = {"prelude.cl", "records.h",          "vec.h",
                                        "vec.c",      "plastic.h",          "plastic.c",
                                        "vmat.h",     "volume.h",           "polar_lanes.h",
                                        "nearest.cl", "contact.cl",         "record.cl",
                                        "cluster.cl", "example_channels.h", "project_lanes.cl",
                                        "project.h",  "example_lanes.h",    "project_double.cl",
                                        "project.h",  "examples.cl",        NULL};
    char options[2048];
    int length = lmi_gpu_cluster_options(gpu, options, sizeof options);
    snprintf(options + length, sizeof options - (size_t)length, " -DLM_MAX_EXAMPLES=%d", LM_MAX_EXAMPLES);
    e->program = lmi_gpu_build(world, gpu, texts, options);
    if (!e->program) {
        return false;
    }
    e->measure = lmi_gpu_kernel(gpu, e->program, "example_measure_regions");
    e->solve = lmi_gpu_kernel(gpu, e->program, "example_solve_groups");
    e->match = lmi_gpu_kernel(gpu, e->program, "example_match_regions");
    return e->measure && e->solve && e->match;
}

static bool upload(example_lists *l, lmi_gpu *gpu, lmi_gpu_examples *e)
{
    const size_t u = sizeof(uint32_t);
    e->blocks = l->places.count / 8;
    e->group_count = l->groups.count / 4;
    e->floats = l->channels.count;
    e->weight_count = l->weights.count;
    size_t room = e->floats + e->weight_count;
    if (e->room_size < room) {
        lmi_release(&l->world->memory, e->room, e->room_size, sizeof *e->room);
        e->room = lmi_allocate(&l->world->memory, room, sizeof *e->room);
        e->room_size = e->room ? room : 0;
    }
    return e->room && put_array(gpu, &e->places, &l->places, u) && put_array(gpu, &e->channels, &l->channels, u) &&
           put_array(gpu, &e->groups, &l->groups, u) && put_array(gpu, &e->words, &l->words, u) &&
           put_array(gpu, &e->members, &l->members, u) && put_array(gpu, &e->numbers, &l->numbers, sizeof(double)) &&
           put_array(gpu, &e->weights, &l->weights, u);
}

static bool has_examples(const lm_world *world)
{
    bool any = false;
    for (uint32_t n = 0; n < world->batch_count; n++) {
        any = any || world->batches[n].pack.example_channels > 0;
    }
    return any;
}

bool lmi_gpu_examples_lay_out(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    if (e) {
        e->blocks = 0;
    }
    if (!has_examples(world)) {
        return true;
    }
    if (!e) {
        e = gpu->examples = lmi_allocate(&world->memory, 1, sizeof *e);
        if (!e || !build(world, gpu, e)) {
            return false;
        }
    }
    example_lists l = {.world = world};
    bool ok = add_all(&l, gpu) && upload(&l, gpu, e);
    e->blocks = ok ? e->blocks : 0;
    array *const all[] = {&l.places, &l.channels, &l.groups, &l.words, &l.members, &l.weights};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        drop(world, all[n], sizeof(uint32_t));
    }
    drop(world, &l.numbers, sizeof(double));
    return ok;
}

bool lmi_gpu_examples_match(lmi_gpu *gpu, const lmi_gpu_clusters *c)
{
    lmi_gpu_examples *e = gpu->examples;
    if (!e || e->blocks == 0) {
        return true;
    }
    const cl_uint blocks = e->blocks;
    const lmi_gpu_argument measure[] = {
        LMI_GPU_VALUE(blocks),      LMI_GPU_BUFFER(e->places),    LMI_GPU_BUFFER(c->reference),
        LMI_GPU_BUFFER(c->member),  LMI_GPU_BUFFER(c->rest),      LMI_GPU_BUFFER(c->constants),
        LMI_GPU_BUFFER(c->extents), LMI_GPU_BUFFER(c->rotations), LMI_GPU_BUFFER(c->plastics),
        LMI_GPU_BUFFER(gpu->x),     LMI_GPU_BUFFER(e->channels)};
    const lmi_gpu_argument solve[] = {LMI_GPU_BUFFER(e->groups),   LMI_GPU_BUFFER(e->words),
                                      LMI_GPU_BUFFER(e->members),  LMI_GPU_BUFFER(e->numbers),
                                      LMI_GPU_BUFFER(e->channels), LMI_GPU_BUFFER(e->weights)};
    const lmi_gpu_argument match[] = {
        LMI_GPU_VALUE(blocks),       LMI_GPU_BUFFER(e->places),    LMI_GPU_BUFFER(c->reference),
        LMI_GPU_BUFFER(c->member),   LMI_GPU_BUFFER(c->rest),      LMI_GPU_BUFFER(c->constants),
        LMI_GPU_BUFFER(c->extents),  LMI_GPU_BUFFER(c->stiffness), LMI_GPU_BUFFER(c->rotations),
        LMI_GPU_BUFFER(c->plastics), LMI_GPU_BUFFER(c->rates),     LMI_GPU_BUFFER(gpu->x),
        LMI_GPU_BUFFER(e->channels), LMI_GPU_BUFFER(c->goals)};
    const size_t groups[2] = {(blocks * LMI_BLOCK + 63) / 64, 1}, group[2] = {64, 1}, solved[2] = {e->group_count, 1};
    return lmi_gpu_run(gpu, e->measure, measure, sizeof measure / sizeof *measure, groups, group) &&
           (e->group_count == 0 || lmi_gpu_run(gpu, e->solve, solve, sizeof solve / sizeof *solve, solved, group)) &&
           lmi_gpu_run(gpu, e->match, match, sizeof match / sizeof *match, groups, group);
}

bool lmi_gpu_examples_keep(lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    return !e || e->blocks == 0 ||
           (lmi_gpu_reserve(gpu, &e->kept, e->floats * sizeof(float)) &&
            lmi_gpu_copy(gpu, &e->channels, &e->kept, e->floats * sizeof(float)));
}

bool lmi_gpu_examples_restore(lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    return !e || e->blocks == 0 || lmi_gpu_copy(gpu, &e->kept, &e->channels, e->floats * sizeof(float));
}

bool lmi_gpu_examples_read(lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    return !e || e->blocks == 0 ||
           (lmi_gpu_read(gpu, &e->channels, 0, e->room, e->floats * sizeof(float)) &&
            lmi_gpu_read(gpu, &e->weights, 0, e->room + e->floats, e->weight_count * sizeof(float)));
}

void lmi_gpu_examples_put(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    if (!e || e->blocks == 0) {
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
            lmi_examples *of = lmi_body_at(world, batch->bodies[k])->examples;
            if (of && of->scope != LM_EXAMPLES_REGIONS) {
                size_t count = (size_t)of->group_count * of->count;
                memcpy(of->weights, weights, count * sizeof(float));
                weights += count;
            }
        }
    }
}

void lmi_gpu_examples_free(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_examples *e = gpu->examples;
    if (!e) {
        return;
    }
    lmi_gpu_buffer *const all[] = {&e->places, &e->channels, &e->kept,    &e->groups,
                                   &e->words,  &e->members,  &e->numbers, &e->weights};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        lmi_gpu_free(gpu, all[n]);
    }
    cl_kernel const kernels[] = {e->measure, e->solve, e->match};
    for (int n = 0; n < 3; n++) {
        if (kernels[n]) {
            gpu->cl.clReleaseKernel(kernels[n]);
        }
    }
    if (e->program) {
        gpu->cl.clReleaseProgram(e->program);
    }
    lmi_release(&world->memory, e->room, e->room_size, sizeof *e->room);
    lmi_release(&world->memory, e, 1, sizeof *e);
    gpu->examples = NULL;
}
