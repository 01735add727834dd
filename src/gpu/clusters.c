/*
 * Bodies of clusters on a device. The packs of all batches are one after the other, with every index moved by where its batch
 * begins; nothing else of them changes.
 */
#include "gpu/clusters.h"

#include "gpu/example_regions.h"
#include "gpu/large.h"
#include "gpu/octrees.h"
#include "gpu/sever.h"

#include <stdio.h>
#include <string.h>

const char *lmi_gpu_cluster_reason(const lmi_body *body) { return body->rest_size > 0.0 ? NULL : "single particles"; }

int lmi_gpu_cluster_options(const lmi_gpu *gpu, char *to, size_t size)
{
    int length = lmi_gpu_common_options(gpu, to, size);
    return length +
           snprintf(
               to + length, size - (size_t)length,
               " -DLM_MODE_LINEAR=%d -DLM_MODE_QUADRATIC=%d -DLMI_MOMENTS=%d -DLMI_MOMENT_LINEAR=%d"
               " -DLMI_MOMENT_QUADRATIC=%d -DLMI_TRANSFORM_LINEAR=%d -DLMI_TRANSFORM_QUADRATIC=%d -DLMI_CONSTANTS=%d"
               " -DLMI_CONSTANT_INVERSE_MASS=%d -DLMI_CONSTANT_INVERSE_EDGE=%d -DLMI_CONSTANT_BETA=%d "
               "-DLMI_CONSTANT_BEYOND=%d"
               " -DLMI_CONSTANT_YIELD=%d -DLMI_CONSTANT_MEAN=%d -DLMI_CONSTANT_LINEAR=%d -DLMI_CONSTANT_GRAM=%d",
               LM_MODE_LINEAR, LM_MODE_QUADRATIC, LMI_MOMENTS, LMI_MOMENT_LINEAR, LMI_MOMENT_QUADRATIC,
               LMI_TRANSFORM_LINEAR, LMI_TRANSFORM_QUADRATIC, LMI_CONSTANTS, LMI_CONSTANT_INVERSE_MASS,
               LMI_CONSTANT_INVERSE_EDGE, LMI_CONSTANT_BETA, LMI_CONSTANT_BEYOND, LMI_CONSTANT_YIELD, LMI_CONSTANT_MEAN,
               LMI_CONSTANT_LINEAR, LMI_CONSTANT_GRAM);
}

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_clusters *c)
{
    static const char *const texts[] = {"prelude.cl", "records.h", "vec.h",      "vec.c",         "plastic.h",
                                        "plastic.c",  "vmat.h",    "volume.h",   "polar_lanes.h", "nearest.cl",
                                        "contact.cl", "record.cl", "cluster.cl", "large.cl",      "spin.h",
                                        "octree.cl",  NULL};
    char options[2048];
    lmi_gpu_cluster_options(gpu, options, sizeof options);
    const lmi_gpu_named kernels[] = {{&c->match, "match"}, {&c->match_parts, "match_parts"}, {&c->move, "move"}};
    return lmi_gpu_build(world, gpu, &c->program, texts, options) && LMI_GPU_FIND(c->program, kernels);
}

/* What batches have in all besides their places. */
typedef struct total {
    uint32_t region, mixed;
    bool summed; /* there are regions with examples whose moments go through memory */
} total;

typedef struct layout {
    lm_world *world;
    lmi_gpu *gpu;
    lmi_gpu_clusters *c;
    total total;
    uint32_t *words; /* room for the largest array, of any kind */
    size_t capacity;
} layout;

static void add_batch(total *to, const lmi_pack *pack)
{
    for (uint32_t n = 0; n < pack->shares; n++) {
        bool first = n == 0 || pack->share[n].region != pack->share[n - 1].region;
        bool mixed = pack->block[pack->share[n].region / LMI_BLOCK].examples > 0;
        to->region += first && !mixed;
        to->mixed += first && mixed;
    }
    for (uint32_t n = 0; n < pack->lane_blocks; n++) {
        to->summed = to->summed || (pack->block[n].examples && pack->block[n].rows == 0);
    }
}

static bool reserve_words(layout *l, size_t count)
{
    if (count + 1 > l->capacity) {
        lmi_release(&l->world->memory, l->words, l->capacity, sizeof *l->words);
        l->words = lmi_allocate(&l->world->memory, count + 1, sizeof *l->words);
        l->capacity = l->words ? count + 1 : 0;
    }
    return l->words != NULL;
}

/* One array of all batches: `fill` writes what a batch has, whose places are `first`. There are `words` words for each `per` of
 * those places. */
typedef size_t fill_function(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to);

typedef struct packed {
    lmi_gpu_buffer *to;
    fill_function *fill;
    lmi_gpu_count count;
    uint32_t words, per;
} packed;

static bool is_void(const lmi_gpu_batch *batch) { return !batch->valid; }

/* What batches have that are not on the device as they are; those that stand side by side are uploaded together. What is between them is
 * zeros. */
static bool put(layout *l, const packed *a)
{
    lmi_gpu *gpu = l->gpu;
    const size_t w = sizeof *l->words, all = (size_t)gpu->end[a->count] / a->per * a->words;
    bool ok = gpu->whole ? lmi_gpu_reserve(gpu, a->to, all * w) : lmi_gpu_grow(gpu, a->to, all * w);
    for (uint32_t n = 0, end; ok && all && lmi_gpu_next_run(gpu, is_void, a->count, &n, &end); n = end) {
        const size_t first = (size_t)gpu->batch[n].first[a->count] / a->per * a->words;
        const lmi_gpu_batch *last = &gpu->batch[end - 1];
        size_t count = ((size_t)last->first[a->count] + last->room[a->count]) / a->per * a->words - first;
        ok = reserve_words(l, count);
        if (ok) {
            memset(l->words, 0, count * w);
        }
        for (uint32_t k = n; ok && k < end; k++) {
            const lmi_gpu_batch *batch = &gpu->batch[k];
            size_t at = (size_t)batch->first[a->count] / a->per * a->words - first;
            at += a->fill(l, &l->world->batches[k], batch->first, l->words + at);
            count = k + 1 == end && a->to != &l->c->blocks ? at : count; /* empty blocks must be seen to be empty */
        }
        ok = ok && lmi_gpu_write(gpu, a->to, first * w, l->words, count * w);
    }
    return ok;
}

/* Lanes that batches have left do nothing any more. */
static bool clear_left(const layout *l)
{
    lmi_gpu *gpu = l->gpu;
    const size_t size = 4 * sizeof *l->words;
    bool ok = true;
    for (uint32_t n = 0; ok && !gpu->whole && n < gpu->batch_count; n++) {
        const lmi_gpu_batch *batch = &gpu->batch[n];
        ok = lmi_gpu_clear_at(gpu, &l->c->blocks, batch->left[LMI_GPU_LANE_BLOCKS] * size,
                              batch->left_room[LMI_GPU_LANE_BLOCKS] * size);
    }
    return ok;
}

/* Lists of all batches without anything between them. */
static bool put_all(layout *l, lmi_gpu_buffer *to, uint32_t count, fill_function *fill)
{
    size_t used = 0;
    bool ok = reserve_words(l, 4 * (size_t)count);
    for (uint32_t n = 0; ok && n < l->world->batch_count; n++) {
        used += fill(l, &l->world->batches[n], l->gpu->batch[n].first, l->words + used);
    }
    return ok && lmi_gpu_renew(l->gpu, to, l->words, used * sizeof *l->words);
}

static size_t copy(const void *from, size_t count, uint32_t *to)
{
    if (count) {
        memcpy(to, from, count * sizeof *to);
    }
    return count;
}

#define FILL_COPY(name, array, count)                                                                                  \
    static size_t name(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)                   \
    {                                                                                                                  \
        (void)l;                                                                                                       \
        (void)first;                                                                                                   \
        const lmi_pack *pack = &batch->pack;                                                                           \
        return copy(pack->array, (size_t)(count), to);                                                                 \
    }

FILL_COPY(fill_rest, q, pack->rows * 3 * LMI_BLOCK)
FILL_COPY(fill_constants, constants, pack->lane_blocks *LMI_CONSTANTS *LMI_BLOCK)
FILL_COPY(fill_extents, extent, pack->lane_blocks * 3 * LMI_BLOCK)
FILL_COPY(fill_stiffness, stiffness, pack->lane_blocks *LMI_BLOCK)
FILL_COPY(fill_rotations, rotation, pack->lane_blocks * 9 * LMI_BLOCK)
FILL_COPY(fill_plastics, plastic, pack->lane_blocks * 6 * LMI_BLOCK)
FILL_COPY(fill_list_share, list_share, pack->particle_blocks *LMI_BLOCK)

/* Of how many regions each particle is; below 0 where what pulls it is found elsewhere (octrees.c). */
static size_t fill_list_count(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)
{
    size_t count = copy(batch->pack.list_count, (size_t)batch->pack.particle_blocks * LMI_BLOCK, to);
    (void)first;
    for (uint32_t n = 0; n < batch->body_count; n++) {
        const lmi_body *body = lmi_body_at(l->world, batch->bodies[n]);
        for (uint32_t k = 0; body->octree && k < body->padded_count; k++) {
            const float found = -1.0f;
            memcpy(to + body->first + k, &found, sizeof found);
        }
    }
    return count;
}

/* A copy with something added to each. */
static size_t copy_moved(const uint32_t *from, size_t count, uint32_t by, uint32_t *to)
{
    for (size_t n = 0; n < count; n++) {
        to[n] = from[n] + by;
    }
    return count;
}

static size_t fill_blocks(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)
{
    (void)l;
    for (uint32_t n = 0; n < batch->pack.lane_blocks; n++) {
        const lmi_lane_block *b = &batch->pack.block[n];
        to[4 * n] = first[LMI_GPU_ROWS] + b->first_row;
        to[4 * n + 1] = b->examples ? 0 : b->rows; /* example_regions.c */
        to[4 * n + 2] = (uint32_t)b->mode | (b->fitted ? 4u : 0) | (b->plastic ? 8u : 0) | (b->examples ? 16u : 0);
        to[4 * n + 3] = 0;
    }
    return 4 * (size_t)batch->pack.lane_blocks;
}

static size_t fill_reference(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)
{
    (void)l;
    return copy_moved(batch->pack.reference, (size_t)batch->pack.lane_blocks * LMI_BLOCK, first[LMI_GPU_PARTICLES], to);
}

static size_t fill_member(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)
{
    (void)l;
    return copy_moved(batch->pack.member, (size_t)batch->pack.rows * LMI_BLOCK, first[LMI_GPU_PARTICLES], to);
}

static size_t fill_list(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)
{
    (void)l;
    return copy_moved(batch->pack.list, (size_t)batch->pack.list_rows * LMI_BLOCK, first[LMI_GPU_ROWS] * LMI_BLOCK, to);
}

/* Of each block of particles. */
static size_t fill_list_first(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)
{
    (void)l;
    return copy_moved(batch->pack.list_first, batch->pack.particle_blocks, first[LMI_GPU_LIST_ROWS], to);
}

static size_t fill_parts(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)
{
    (void)l;
    for (uint32_t n = 0; n < batch->pack.shares; n++) {
        to[n] = first[LMI_GPU_LANE_BLOCKS] * LMI_BLOCK + batch->pack.share[n].part;
    }
    return batch->pack.shares;
}

/* Divided regions with examples or without: lane, first part, end of its parts. */
static size_t list_divided(const lmi_batch *batch, const uint32_t *first_of, bool examples, uint32_t *to)
{
    const lmi_pack *pack = &batch->pack;
    const uint32_t part = first_of[LMI_GPU_SHARES];
    size_t count = 0;
    for (uint32_t n = 0; n < pack->shares; n++) {
        bool first = n == 0 || pack->share[n].region != pack->share[n - 1].region;
        if ((pack->block[pack->share[n].region / LMI_BLOCK].examples > 0) != examples) {
            continue;
        }
        count += first ? 4 : 0;
        uint32_t *region = to + count - 4;
        region[0] = first_of[LMI_GPU_LANE_BLOCKS] * LMI_BLOCK + pack->share[n].region;
        region[1] = first ? part + n : region[1];
        region[2] = part + n + 1;
        region[3] = 0;
    }
    return count;
}

static size_t fill_regions(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)
{
    (void)l;
    return list_divided(batch, first, false, to);
}

static size_t fill_mixed_regions(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)
{
    (void)l;
    return list_divided(batch, first, true, to);
}

/* Flow, yield and most of the body that a lane belongs to. */
static size_t fill_rates(const layout *l, const lmi_batch *batch, const uint32_t *first, uint32_t *to)
{
    size_t lanes = (size_t)batch->pack.lane_blocks * LMI_BLOCK;
    (void)first;
    for (size_t n = 0; n < lanes; n++) {
        uint32_t slot = batch->pack.lane_body[n];
        float rates[4] = {0.0f};
        if (slot != LMI_NONE) {
            const lmi_body *body = lmi_body_at(l->world, slot);
            rates[0] = (float)body->flow, rates[1] = body->material.yield, rates[2] = body->material.max_plastic;
        }
        memcpy(to + 4 * n, rates, sizeof rates);
    }
    return l->c->plastic ? 4 * lanes : 0;
}

/* Rotations and lasting deformation. */
static bool upload_state(layout *l)
{
    lmi_gpu_clusters *c = l->c;
    const packed state[] = {{&c->rotations, fill_rotations, LMI_GPU_LANE_BLOCKS, 9 * LMI_BLOCK, 1},
                            {&c->plastics, fill_plastics, LMI_GPU_LANE_BLOCKS, 6 * LMI_BLOCK, 1}};
    return put(l, &state[0]) && put(l, &state[1]);
}

static bool upload(layout *l)
{
    lmi_gpu_clusters *c = l->c;
    lmi_gpu *gpu = l->gpu;
    const packed all[] = {{&c->blocks, fill_blocks, LMI_GPU_LANE_BLOCKS, 4, 1},
                          {&c->reference, fill_reference, LMI_GPU_LANE_BLOCKS, LMI_BLOCK, 1},
                          {&c->member, fill_member, LMI_GPU_ROWS, LMI_BLOCK, 1},
                          {&c->rest, fill_rest, LMI_GPU_ROWS, 3 * LMI_BLOCK, 1},
                          {&c->constants, fill_constants, LMI_GPU_LANE_BLOCKS, LMI_CONSTANTS * LMI_BLOCK, 1},
                          {&c->extents, fill_extents, LMI_GPU_LANE_BLOCKS, 3 * LMI_BLOCK, 1},
                          {&c->stiffness, fill_stiffness, LMI_GPU_LANE_BLOCKS, LMI_BLOCK, 1},
                          {&c->rates, fill_rates, LMI_GPU_LANE_BLOCKS, c->plastic ? 4 * LMI_BLOCK : 0, 1},
                          {&c->parts, fill_parts, LMI_GPU_SHARES, 1, 1},
                          {&c->list, fill_list, LMI_GPU_LIST_ROWS, LMI_BLOCK, 1},
                          {&c->list_count, fill_list_count, LMI_GPU_PARTICLES, 1, 1},
                          {&c->list_share, fill_list_share, LMI_GPU_PARTICLES, 1, 1},
                          {&c->list_first, fill_list_first, LMI_GPU_PARTICLES, 1, LMI_BLOCK}};
    const size_t lanes = (size_t)gpu->end[LMI_GPU_LANE_BLOCKS] * LMI_BLOCK, f = sizeof(float);
    bool ok = clear_left(l) && upload_state(l) && put_all(l, &c->regions, l->total.region, fill_regions) &&
              put_all(l, &c->mixed_regions, l->total.mixed, fill_mixed_regions);
    for (size_t n = 0; ok && n < sizeof all / sizeof *all; n++) {
        ok = put(l, &all[n]);
    }
    bool summed = gpu->end[LMI_GPU_SHARES] || l->total.summed;
    return ok && lmi_gpu_reserve(gpu, &c->moments, summed ? lanes * LMI_MOMENTS * f : 0) &&
           lmi_gpu_reserve(gpu, &c->goals, (size_t)gpu->end[LMI_GPU_ROWS] * LMI_BLOCK * 4 * f) &&
           lmi_gpu_reserve(gpu, &c->pulls, (size_t)gpu->particles * 4 * f);
}

/* Where single batches are laid out again the others are as they were, and so is what all of them have. */
static bool is_plastic(const lm_world *world)
{
    bool plastic = false;
    for (uint32_t n = 0; n < world->batch_count; n++) {
        const lmi_pack *pack = &world->batches[n].pack;
        for (uint32_t b = 0; b < pack->lane_blocks; b++) {
            plastic = plastic || pack->block[b].plastic;
        }
    }
    return plastic;
}

bool lmi_gpu_clusters_last(const lm_world *world, const lmi_gpu *gpu)
{
    const lmi_gpu_clusters *c = gpu->clusters;
    bool lattices = gpu->lattice_count == gpu->body_count, only = true;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        only = only && (body->batch == LMI_NONE || body->lattice);
    }
    return lattices == only && (only || c->plastic == is_plastic(world));
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_clusters *c = part;
    lmi_release(gpu->memory, c->room, c->room_size, sizeof *c->room);
    lmi_release(gpu->memory, c->goal_room, c->goal_room_size, sizeof *c->goal_room);
}

bool lmi_gpu_clusters_lay_out(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_clusters *c = gpu->clusters;
    if (c) {
        c->lanes = 0;
        c->matched = false;
    }
    if (gpu->lattice_count == gpu->body_count) {
        return true;
    }
    if (!c) {
        c = gpu->clusters = lmi_gpu_make_part(gpu, sizeof *c, end);
        if (!c || !build(world, gpu, c)) {
            return false;
        }
    }
    layout l = {.world = world, .gpu = gpu, .c = c};
    c->plastic = is_plastic(world);
    for (uint32_t n = 0; n < world->batch_count; n++) {
        add_batch(&l.total, &world->batches[n].pack);
    }
    const uint32_t blocks = gpu->end[LMI_GPU_LANE_BLOCKS];
    size_t room = (size_t)blocks * (c->plastic ? 15 : 9) * LMI_BLOCK;
    if (c->room_size < room) {
        lmi_release(&world->memory, c->room, c->room_size, sizeof *c->room);
        c->room = lmi_allocate(&world->memory, room, sizeof *c->room);
        c->room_size = c->room ? room : 0;
    }
    bool ok = c->room && upload(&l) && lmi_gpu_octrees_lay_out(world, gpu, c) && lmi_gpu_sever_lay_out(world, gpu) &&
              lmi_gpu_large_lay_out(world, gpu, c);
    lmi_release(&world->memory, l.words, l.capacity, sizeof *l.words);
    c->lanes = blocks * LMI_BLOCK;
    c->region_count = l.total.region;
    c->mixed_count = l.total.mixed;
    return ok;
}

bool lmi_gpu_clusters_refresh(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_clusters *c = gpu->clusters;
    if (!c || c->lanes == 0) {
        return true;
    }
    layout l = {.world = world, .gpu = gpu, .c = c};
    c->matched = false;
    bool ok = upload_state(&l);
    lmi_release(&world->memory, l.words, l.capacity, sizeof *l.words);
    return ok;
}

bool lmi_gpu_clusters_match(lmi_gpu *gpu)
{
    const lmi_gpu_clusters *c = gpu->clusters;
    if (!c || c->lanes == 0) {
        return true;
    }
    const cl_uint lanes = c->lanes, regions = c->region_count;
    const lmi_gpu_argument whole[] = {
        LMI_GPU_VALUE(lanes),        LMI_GPU_BUFFER(c->blocks),    LMI_GPU_BUFFER(c->reference),
        LMI_GPU_BUFFER(c->member),   LMI_GPU_BUFFER(c->rest),      LMI_GPU_BUFFER(c->constants),
        LMI_GPU_BUFFER(c->extents),  LMI_GPU_BUFFER(c->stiffness), LMI_GPU_BUFFER(c->rotations),
        LMI_GPU_BUFFER(c->plastics), LMI_GPU_BUFFER(c->rates),     LMI_GPU_BUFFER(gpu->x),
        LMI_GPU_BUFFER(c->moments),  LMI_GPU_BUFFER(c->goals),     LMI_GPU_BUFFER(gpu->stop)};
    const lmi_gpu_argument divided[] = {
        LMI_GPU_VALUE(regions),       LMI_GPU_BUFFER(c->regions),   LMI_GPU_BUFFER(c->parts),
        LMI_GPU_BUFFER(c->blocks),    LMI_GPU_BUFFER(c->reference), LMI_GPU_BUFFER(c->rest),
        LMI_GPU_BUFFER(c->constants), LMI_GPU_BUFFER(c->extents),   LMI_GPU_BUFFER(c->stiffness),
        LMI_GPU_BUFFER(c->rotations), LMI_GPU_BUFFER(c->plastics),  LMI_GPU_BUFFER(c->rates),
        LMI_GPU_BUFFER(gpu->x),       LMI_GPU_BUFFER(c->moments),   LMI_GPU_BUFFER(c->goals),
        LMI_GPU_BUFFER(gpu->stop)};
    const size_t groups[2] = {(lanes + 63) / 64, 1}, group[2] = {64, 1}, few[2] = {(regions + 63) / 64, 1};
    return lmi_gpu_run(gpu, c->match, whole, sizeof whole / sizeof *whole, groups, group) &&
           (regions == 0 || lmi_gpu_run(gpu, c->match_parts, divided, sizeof divided / sizeof *divided, few, group));
}

bool lmi_gpu_clusters_substep(lmi_gpu *gpu, const lmi_step *step, const float change[3])
{
    lmi_gpu_clusters *c = gpu->clusters;
    if (!c || c->lanes == 0) {
        return true;
    }
    const cl_uint first = gpu->lattice_count;
    const double h = step->h;
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_VALUE(first),     LMI_GPU_BUFFER(gpu->bodies),   LMI_GPU_BUFFER(c->list_first),
        LMI_GPU_BUFFER(c->list),  LMI_GPU_BUFFER(c->list_count), LMI_GPU_BUFFER(c->list_share),
        LMI_GPU_BUFFER(c->goals), LMI_GPU_BUFFER(gpu->surfaces), LMI_GPU_BUFFER(gpu->x),
        LMI_GPU_BUFFER(gpu->v),   LMI_GPU_BUFFER(c->pulls),      LMI_GPU_VALUE(h),
        LMI_GPU_VALUE(change[0]), LMI_GPU_VALUE(change[1]),      LMI_GPU_VALUE(change[2])};
    const size_t groups[2] = {gpu->body_count - gpu->lattice_count, 1}, group[2] = {64, 1};
    c->matched = lmi_gpu_octrees_begin(gpu, c) && lmi_gpu_examples_match(gpu, c) && lmi_gpu_octrees_match(gpu, c, h) &&
                 lmi_gpu_sever_damp(gpu) &&
                 lmi_gpu_run(gpu, c->move, arguments, sizeof arguments / sizeof *arguments, groups, group) &&
                 lmi_gpu_large_move(gpu, c, h, change) && gpu->cl.clFlush(gpu->queue) == CL_SUCCESS;
    return c->matched;
}

bool lmi_gpu_clusters_keep(lmi_gpu *gpu)
{
    lmi_gpu_clusters *c = gpu->clusters;
    if (!c || c->lanes == 0) {
        return true;
    }
    const size_t rotations = c->lanes * 9 * sizeof(float), plastics = c->plastic ? c->lanes * 6 * sizeof(float) : 0;
    return lmi_gpu_reserve(gpu, &c->kept_rotations, rotations) && lmi_gpu_reserve(gpu, &c->kept_plastics, plastics) &&
           lmi_gpu_copy(gpu, &c->rotations, &c->kept_rotations, rotations) &&
           lmi_gpu_copy(gpu, &c->plastics, &c->kept_plastics, plastics);
}

bool lmi_gpu_clusters_restore(lmi_gpu *gpu)
{
    lmi_gpu_clusters *c = gpu->clusters;
    return !c || c->lanes == 0 ||
           (lmi_gpu_copy(gpu, &c->kept_rotations, &c->rotations, c->lanes * 9 * sizeof(float)) &&
            lmi_gpu_copy(gpu, &c->kept_plastics, &c->plastics, c->plastic ? c->lanes * 6 * sizeof(float) : 0));
}

static bool comes(const lmi_gpu_batch *batch) { return batch->coming; }

bool lmi_gpu_clusters_read(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_clusters *c = gpu->clusters;
    const size_t f = sizeof(float);
    bool ok = true;
    (void)world;
    for (uint32_t n = 0, end; ok && c && c->lanes && lmi_gpu_next_run(gpu, comes, LMI_GPU_LANE_BLOCKS, &n, &end);
         n = end) {
        const lmi_gpu_batch *last = &gpu->batch[end - 1];
        const size_t first = (size_t)gpu->batch[n].first[LMI_GPU_LANE_BLOCKS] * LMI_BLOCK;
        const size_t lanes =
            ((size_t)last->first[LMI_GPU_LANE_BLOCKS] + last->room[LMI_GPU_LANE_BLOCKS]) * LMI_BLOCK - first;
        float *plastic = c->room + (size_t)c->lanes * 9;
        ok = lmi_gpu_read(gpu, &c->rotations, first * 9 * f, c->room + first * 9, lanes * 9 * f) &&
             (!c->plastic || lmi_gpu_read(gpu, &c->plastics, first * 6 * f, plastic + first * 6, lanes * 6 * f));
    }
    return ok;
}

void lmi_gpu_clusters_put(lm_world *world, lmi_gpu *gpu)
{
    const lmi_gpu_clusters *c = gpu->clusters;
    for (uint32_t n = 0; c && c->lanes && n < gpu->batch_count; n++) {
        lmi_pack *pack = &world->batches[n].pack;
        const size_t first = (size_t)gpu->batch[n].first[LMI_GPU_LANE_BLOCKS] * LMI_BLOCK;
        const size_t lanes = gpu->batch[n].coming ? (size_t)pack->lane_blocks * LMI_BLOCK : 0;
        if (lanes) {
            memcpy(pack->rotation, c->room + first * 9, lanes * 9 * sizeof(float));
        }
        if (lanes && c->plastic) {
            memcpy(pack->plastic, c->room + (size_t)c->lanes * 9 + first * 6, lanes * 6 * sizeof(float));
        }
    }
}

/* The goals of all memberships of a batch, in the room for them; null without them. */
static const float *read_goals(lm_world *world, lmi_gpu *gpu, uint32_t batch)
{
    lmi_gpu_clusters *c = gpu->clusters;
    const size_t row = gpu->batch[batch].first[LMI_GPU_ROWS],
                 size = (size_t)world->batches[batch].pack.rows * LMI_BLOCK * 4;
    if (c->goal_room_size < size) {
        lmi_release(&world->memory, c->goal_room, c->goal_room_size, sizeof *c->goal_room);
        c->goal_room = lmi_allocate(&world->memory, size, sizeof *c->goal_room);
        c->goal_room_size = c->goal_room ? size : 0;
    }
    bool ok = c->goal_room && lmi_gpu_read(gpu, &c->goals, row * LMI_BLOCK * 4 * sizeof(float), c->goal_room,
                                           size * sizeof *c->goal_room);
    return ok ? c->goal_room : NULL;
}

/* A particle's goal: the mean of those that its regions have for it, or where it is without any. */
static lm_dvec3 goal_of(const lmi_pack *pack, const float *goals, uint32_t particle, lm_dvec3 from)
{
    uint32_t first = pack->list_first[particle / LMI_BLOCK], count = (uint32_t)pack->list_count[particle];
    const float *x = pack->x + (size_t)particle * 4;
    lm_dvec3 goal = x[3] > 0.0f ? lm_dvec3_zero() : dvec_add(from, dvec(x[0], x[1], x[2]));
    for (uint32_t row = first; row < first + count; row++) {
        const float *g = goals + (size_t)pack->list[row * LMI_BLOCK + particle % LMI_BLOCK] * 4;
        goal = dvec_add(goal, dvec_scale(dvec_add(from, dvec(g[0], g[1], g[2])), pack->list_share[particle]));
    }
    return goal;
}

bool lmi_gpu_goals(const lm_world *constant, const lmi_body *body, lm_dvec3 from, lm_vec3 *goals)
{
    lm_world *world = (lm_world *)(uintptr_t)constant; /* its state is the same, only here */
    lmi_gpu *gpu = world->gpu;
    if (!gpu || !gpu->holds || gpu->lost || !gpu->clusters || !gpu->clusters->matched) {
        return false;
    }
    lmi_mutex_lock(&gpu->fetching);
    const lmi_pack *pack = &world->batches[body->batch].pack;
    const float *of = read_goals(world, gpu, body->batch);
    if (of) {
        LMI_PARTICLES_EACH(body, n) { goals[body->order[n]] = vec_from(goal_of(pack, of, body->first + n, from)); }
    }
    lmi_mutex_unlock(&gpu->fetching);
    return of != NULL;
}
