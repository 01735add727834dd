#include "gpu/octrees.h"

#include "gpu/clusters.h"
#include "gpu/layout.h"
#include "octree/octree_body.h"

/* Heights of virtual nodes: more than the levels of any tree. */
#define MOST_HEIGHTS 32

/* Rows of a list of regions that one work-item goes through. Wide regions are many, and a list of 300 would be waited for. */
#define PIECE_ROWS 16

typedef struct lmi_gpu_octrees {
    cl_kernel up, moments, match, pieces_kernel, down, pull;
    lmi_gpu_buffer order, first_row, sums, leaf, leaf_offset, node, node_offset, reference, inverse_weight;
    lmi_gpu_buffer spread, region, region_offset, places, parent, parent_offset, frames, shares, regions;
    lmi_gpu_buffer sum_rows, transforms, spread_rows, affine, pieces, piece_rows;
    uint32_t heights, virtual_blocks, region_blocks,
        piece_count;                   /* places for virtual blocks, which regions come behind */
    uint32_t height[MOST_HEIGHTS + 1]; /* first of the blocks of each in `order` */
    bool regional, mixed;              /* damping, and examples, of any of them */
} lmi_gpu_octrees;

const char *lmi_gpu_octree_reason(const lmi_body *body)
{
    return body->octree->lanes.heights > MOST_HEIGHTS ? "octrees of very many levels" : NULL;
}

/* The lists of some octrees while they are put together, in the order of the buffers. */
typedef struct gathered {
    lm_world *world;
    lmi_gpu *gpu;
    lmi_gpu_octrees *o;
    array order, first_row, leaf, leaf_offset, node, node_offset, reference, inverse_weight;
    array pieces, region, region_offset, places, frames, shares, regions;
    struct targets {
        array sums, spread, parent, parent_offset;
    } of_nodes, of_regions;
    uint32_t particle;           /* the first of the present body */
    uint32_t at[LMI_GPU_COUNTS]; /* where what it has begins */
    uint32_t piece;              /* and the next piece */
} gathered;

/* A copy of words, and one with something added to each after it was divided (indices of rows count records of four). */
static bool copy(gathered *l, array *to, const void *from, size_t count)
{
    uint32_t *at = append(l->world, to, (uint32_t)count, sizeof(uint32_t));
    if (at && count) {
        memcpy(at, from, count * sizeof *at);
    }
    return at != NULL;
}

static bool copy_indices(gathered *l, array *to, const uint32_t *from, size_t count, uint32_t divisor, uint32_t by)
{
    uint32_t *at = append(l->world, to, (uint32_t)count, sizeof *at);
    for (size_t n = 0; at && n < count; n++) {
        at[n] = from[n] / divisor + by;
    }
    return at != NULL;
}

#define RECORDS (LMI_OCTREE_ROW / 4)

static uint32_t pieces_of(const lmi_octree_spread *d)
{
    return d->rows > PIECE_ROWS ? (d->rows + PIECE_ROWS - 1) / PIECE_ROWS : 0;
}

/* Lists of regions, four words a block: first row and rows; or, where there are many, first piece and pieces. */
static bool add_spread(gathered *l, array *to, const lmi_octree_spread *d, uint32_t first_block, uint32_t count)
{
    uint32_t *spread = append(l->world, to, 4 * count, sizeof *spread);
    for (uint32_t n = 0; spread && n < count; n++) {
        const uint32_t first = l->at[LMI_GPU_SPREAD_ROWS] + d[n].first_row, rows = d[n].rows;
        const uint32_t pieces = pieces_of(&d[n]);
        spread[4 * n] = first, spread[4 * n + 1] = pieces ? 0 : rows;
        spread[4 * n + 2] = l->piece, spread[4 * n + 3] = pieces;
        l->piece += pieces;
        uint32_t *piece = append(l->world, &l->pieces, 4 * pieces, sizeof *piece);
        if (!piece) {
            return false;
        }
        for (uint32_t k = 0; k < pieces; k++) {
            const uint32_t at = k * PIECE_ROWS, left = rows - at;
            piece[4 * k] = first_block + n, piece[4 * k + 1] = first + at;
            piece[4 * k + 2] = left < PIECE_ROWS ? left : PIECE_ROWS, piece[4 * k + 3] = 0;
        }
    }
    return spread != NULL;
}

/* The virtual blocks of a body's targets, or its region blocks, which come after them. */
static bool add_targets(gathered *l, const lmi_octree_lanes *o, bool regions)
{
    struct targets *to = regions ? &l->of_regions : &l->of_nodes;
    const uint32_t first = regions ? o->virtual_blocks : 0, count = regions ? o->region_blocks : o->virtual_blocks;
    const uint32_t at = regions ? l->o->virtual_blocks + l->at[LMI_GPU_REGION_BLOCKS] : l->at[LMI_GPU_NODE_BLOCKS];
    uint32_t *sums = append(l->world, &to->sums, 4 * count, sizeof *sums);
    for (uint32_t n = 0; sums && n < count; n++) {
        const lmi_octree_sums *s = &o->sums[first + n];
        sums[4 * n] = l->at[LMI_GPU_LEAF_ROWS] + s->first_leaf_row, sums[4 * n + 1] = s->leaf_rows;
        sums[4 * n + 2] = l->at[LMI_GPU_NODE_ROWS] + s->first_node_row, sums[4 * n + 3] = s->node_rows;
    }
    const size_t block = LMI_BLOCK;
    return sums && add_spread(l, &to->spread, o->spread + first, at, count) &&
           copy_indices(l, &to->parent, o->parent + first * block, count * block, RECORDS, l->at[LMI_GPU_NODES]) &&
           copy(l, &to->parent_offset, o->parent_offset + first * 3 * block, count * 3 * block);
}

/* The lists themselves, which targets point into. */
static bool add_lists(gathered *l, const lmi_octree_lanes *o)
{
    const size_t block = LMI_BLOCK;
    return copy_indices(l, &l->leaf, o->leaf, o->leaf_rows * block, 1, l->particle) &&
           copy(l, &l->leaf_offset, o->leaf_offset, o->leaf_rows * 4 * block) &&
           copy_indices(l, &l->node, o->node, o->node_rows * block, RECORDS, l->at[LMI_GPU_NODES]) &&
           copy(l, &l->node_offset, o->node_offset, o->node_rows * 4 * block) &&
           copy_indices(l, &l->region, o->region, o->spread_rows * block, RECORDS,
                        l->at[LMI_GPU_REGION_BLOCKS] * LMI_BLOCK) &&
           copy(l, &l->region_offset, o->region_offset, o->spread_rows * 4 * block);
}

static bool add_nodes(gathered *l, const lmi_octree_lanes *o)
{
    uint32_t *rows = append(l->world, &l->first_row, o->virtual_blocks, sizeof *rows);
    for (uint32_t n = 0; rows && n < o->virtual_blocks; n++) {
        rows[n] = l->at[LMI_GPU_NODES] + 1 + n * LMI_BLOCK; /* row 0 of a body stands for no node */
    }
    const size_t lanes = (size_t)o->virtual_blocks * LMI_BLOCK;
    return rows && copy_indices(l, &l->reference, o->reference, lanes, 1, l->particle) &&
           copy(l, &l->inverse_weight, o->inverse_weight, lanes) && add_targets(l, o, false);
}

static bool add_regions(gathered *l, const lmi_octree_lanes *o, const lmi_body *body, uint32_t pack_block,
                        uint32_t index)
{
    uint32_t *regions = append(l->world, &l->regions, 4 * o->region_blocks, sizeof *regions);
    const lmi_pack *pack = &l->world->batches[body->batch].pack;
    uint32_t first = pack_block + pack->region_lane[body->first_region + body->order[0]] / LMI_BLOCK;
    for (uint32_t n = 0; regions && n < o->region_blocks; n++) {
        regions[4 * n] = l->particle + n * LMI_BLOCK;
        regions[4 * n + 1] = first + n;
        regions[4 * n + 2] = index;
        regions[4 * n + 3] = 0;
    }
    const size_t lanes = (size_t)o->region_blocks * LMI_BLOCK;
    return regions && copy_indices(l, &l->places, o->spread_place, lanes, 1, l->particle) &&
           copy(l, &l->frames, o->frame, lanes * 9) && copy(l, &l->shares, o->share, lanes) && add_targets(l, o, true);
}

/* What a body has of each. */
static void count_octree(const lmi_octree_lanes *o, uint32_t counts[LMI_GPU_COUNTS])
{
    counts[LMI_GPU_NODE_BLOCKS] += o->virtual_blocks;
    counts[LMI_GPU_REGION_BLOCKS] += o->region_blocks;
    counts[LMI_GPU_NODES] += 1 + o->virtual_blocks * LMI_BLOCK;
    counts[LMI_GPU_LEAF_ROWS] += o->leaf_rows;
    counts[LMI_GPU_NODE_ROWS] += o->node_rows;
    counts[LMI_GPU_SPREAD_ROWS] += o->spread_rows;
    for (uint32_t n = 0; n < o->virtual_blocks + o->region_blocks; n++) {
        counts[LMI_GPU_LIST_PIECES] += pieces_of(&o->spread[n]);
    }
}

void lmi_gpu_count_octrees(const lm_world *world, uint32_t batch, uint32_t counts[LMI_GPU_COUNTS])
{
    for (uint32_t n = 0; n < world->batches[batch].body_count; n++) {
        const lmi_body *body = lmi_body_at(world, world->batches[batch].bodies[n]);
        if (body->octree) {
            count_octree(&body->octree->lanes, counts);
        }
    }
}

bool lmi_gpu_octrees_last(const lm_world *world, const lmi_gpu *gpu, uint64_t node_blocks)
{
    const lmi_gpu_octrees *o = gpu->octrees;
    bool any = false;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        any = any || (body->octree && body->batch != LMI_NONE);
    }
    return node_blocks <= (o ? o->virtual_blocks : 0) && any == (o && o->region_blocks > 0);
}

/* The octrees of a batch, from its places on: virtual nodes, then regions. `index`: [slots] of records. */
static bool add_batch(gathered *l, uint32_t batch, const uint32_t *index)
{
    const lmi_batch *from = &l->world->batches[batch];
    const lmi_gpu_batch *to = &l->gpu->batch[batch];
    bool ok = true;
    l->piece = to->first[LMI_GPU_LIST_PIECES];
    for (int regions = 0; regions < 2; regions++) {
        memcpy(l->at, to->first, sizeof l->at);
        for (uint32_t n = 0; ok && n < from->body_count; n++) {
            const lmi_body *body = lmi_body_at(l->world, from->bodies[n]);
            if (body->octree) {
                const lmi_octree_lanes *o = &body->octree->lanes;
                l->particle = lmi_gpu_first_of(l->gpu, body);
                ok = regions ? add_regions(l, o, body, to->first[LMI_GPU_LANE_BLOCKS], index[body->slot])
                             : add_nodes(l, o) && add_lists(l, o);
                count_octree(o, l->at);
            }
        }
    }
    return ok;
}

/* Arrays by what they count, and words of each. Those of targets are in two parts, virtual nodes and regions. */
typedef struct part {
    lmi_gpu_buffer *to;
    array *from;
    lmi_gpu_count count;
    uint32_t words;
    bool behind; /* the part behind virtual nodes */
} part;
#define PARTS 22

static void list_parts(gathered *l, part parts[PARTS])
{
    lmi_gpu_octrees *o = l->o;
    const uint32_t b = LMI_BLOCK;
    const part all[PARTS] = {{&o->first_row, &l->first_row, LMI_GPU_NODE_BLOCKS, 1, false},
                             {&o->reference, &l->reference, LMI_GPU_NODE_BLOCKS, b, false},
                             {&o->inverse_weight, &l->inverse_weight, LMI_GPU_NODE_BLOCKS, b, false},
                             {&o->sums, &l->of_nodes.sums, LMI_GPU_NODE_BLOCKS, 4, false},
                             {&o->spread, &l->of_nodes.spread, LMI_GPU_NODE_BLOCKS, 4, false},
                             {&o->parent, &l->of_nodes.parent, LMI_GPU_NODE_BLOCKS, b, false},
                             {&o->parent_offset, &l->of_nodes.parent_offset, LMI_GPU_NODE_BLOCKS, 3 * b, false},
                             {&o->leaf, &l->leaf, LMI_GPU_LEAF_ROWS, b, false},
                             {&o->leaf_offset, &l->leaf_offset, LMI_GPU_LEAF_ROWS, 4 * b, false},
                             {&o->node, &l->node, LMI_GPU_NODE_ROWS, b, false},
                             {&o->node_offset, &l->node_offset, LMI_GPU_NODE_ROWS, 4 * b, false},
                             {&o->region, &l->region, LMI_GPU_SPREAD_ROWS, b, false},
                             {&o->region_offset, &l->region_offset, LMI_GPU_SPREAD_ROWS, 4 * b, false},
                             {&o->pieces, &l->pieces, LMI_GPU_LIST_PIECES, 4, false},
                             {&o->regions, &l->regions, LMI_GPU_REGION_BLOCKS, 4, false},
                             {&o->places, &l->places, LMI_GPU_REGION_BLOCKS, b, false},
                             {&o->frames, &l->frames, LMI_GPU_REGION_BLOCKS, 9 * b, false},
                             {&o->shares, &l->shares, LMI_GPU_REGION_BLOCKS, b, false},
                             {&o->sums, &l->of_regions.sums, LMI_GPU_REGION_BLOCKS, 4, true},
                             {&o->spread, &l->of_regions.spread, LMI_GPU_REGION_BLOCKS, 4, true},
                             {&o->parent, &l->of_regions.parent, LMI_GPU_REGION_BLOCKS, b, true},
                             {&o->parent_offset, &l->of_regions.parent_offset, LMI_GPU_REGION_BLOCKS, 3 * b, true}};
    memcpy(parts, all, sizeof all);
}

/* Up to the end of a place: zeros, and regions that say that they are none. */
static bool pad(gathered *l, const part *a, size_t places)
{
    const size_t words = places * a->words;
    const uint32_t count = a->from->count < words ? (uint32_t)words - a->from->count : 0;
    uint32_t *at = append(l->world, a->from, count, sizeof *at);
    if (at) {
        memset(at, a->from == &l->regions ? 0xff : 0, count * sizeof *at);
    }
    return at != NULL;
}

/* Everything at once: batches one after the other, each as long as its place. */
static bool put_all(gathered *l, const part *parts, const uint32_t *index)
{
    bool ok = true;
    for (uint32_t n = 0; ok && n < l->gpu->batch_count; n++) {
        ok = add_batch(l, n, index);
        for (int k = 0; ok && k < PARTS; k++) {
            const lmi_gpu_batch *batch = &l->gpu->batch[n];
            ok = pad(l, &parts[k], (size_t)batch->first[parts[k].count] + batch->room[parts[k].count]);
        }
    }
    for (int k = 0; ok && k < PARTS; k++) {
        const size_t at = parts[k].behind ? (size_t)l->o->virtual_blocks * parts[k].words : 0, u = sizeof(uint32_t);
        ok = lmi_gpu_write(l->gpu, parts[k].to, at * u, parts[k].from->items, parts[k].from->count * u);
    }
    return ok;
}

/* One batch that is not valid. Its regions and pieces are written as far as its places go, and where it has been there are none any
 * more. */
static bool put_batch(gathered *l, const part *parts, uint32_t n, const uint32_t *index)
{
    const lmi_gpu_batch *batch = &l->gpu->batch[n];
    const size_t u = sizeof(uint32_t);
    for (int k = 0; k < PARTS; k++) {
        parts[k].from->count = 0;
    }
    bool ok = add_batch(l, n, index);
    for (int k = 0; ok && k < PARTS; k++) {
        const part *a = &parts[k];
        const size_t at = (size_t)batch->first[a->count] + (a->behind ? l->o->virtual_blocks : 0);
        bool launched = a->from == &l->regions || a->from == &l->pieces;
        ok = (!launched || pad(l, a, batch->room[a->count])) &&
             lmi_gpu_write(l->gpu, a->to, at * a->words * u, a->from->items, a->from->count * u);
    }
    l->regions.count = 0;
    const part none = {.from = &l->regions, .words = 4};
    return ok && pad(l, &none, batch->left_room[LMI_GPU_REGION_BLOCKS]) &&
           lmi_gpu_write(l->gpu, &l->o->regions, 4 * u * batch->left[LMI_GPU_REGION_BLOCKS], l->regions.items,
                         l->regions.count * u) &&
           lmi_gpu_clear_at(l->gpu, &l->o->pieces, 4 * u * batch->left[LMI_GPU_LIST_PIECES],
                            4 * u * batch->left_room[LMI_GPU_LIST_PIECES]);
}

/* Virtual blocks of all bodies by height, which the launches go through. */
static bool add_order(gathered *l)
{
    lm_world *world = l->world;
    uint32_t *order = append(world, &l->order, l->gpu->end[LMI_GPU_NODE_BLOCKS], sizeof *order), count = 0;
    for (uint32_t height = 0; order && height < l->o->heights; height++) {
        l->o->height[height] = count;
        for (uint32_t batch = 0; batch < world->batch_count; batch++) {
            uint32_t before = l->gpu->batch[batch].first[LMI_GPU_NODE_BLOCKS];
            for (uint32_t n = 0; n < world->batches[batch].body_count; n++) {
                const lmi_body *body = lmi_body_at(world, world->batches[batch].bodies[n]);
                const lmi_octree_lanes *o = body->octree ? &body->octree->lanes : NULL;
                for (uint32_t b = o && height < o->heights ? o->height_block[height] : 0;
                     o && height < o->heights && b < o->height_block[height + 1]; b++) {
                    order[count++] = before + b;
                }
                before += o ? o->virtual_blocks : 0;
            }
        }
    }
    l->o->height[l->o->heights] = count;
    l->order.count = count;
    return order != NULL;
}

/* Room for everything, where what is there stays unless all is laid out again. */
static bool reserve(gathered *l, const part *parts)
{
    lmi_gpu *gpu = l->gpu;
    lmi_gpu_octrees *o = l->o;
    bool ok = true;
    if (gpu->whole) { /* what comes behind virtual nodes stays there while there are a few more */
        o->virtual_blocks = gpu->end[LMI_GPU_NODE_BLOCKS] + gpu->end[LMI_GPU_NODE_BLOCKS] / 2 + 256;
    }
    for (int k = 0; ok && k < PARTS; k++) {
        const size_t places = (size_t)gpu->end[parts[k].count] + (parts[k].behind ? o->virtual_blocks : 0);
        const size_t size = places * parts[k].words * sizeof(uint32_t);
        ok = gpu->whole ? lmi_gpu_reserve(gpu, parts[k].to, size) : lmi_gpu_grow(gpu, parts[k].to, size);
    }
    const size_t row = LMI_OCTREE_ROW * sizeof(float), lanes = (size_t)gpu->end[LMI_GPU_REGION_BLOCKS] * LMI_BLOCK;
    o->piece_count = gpu->end[LMI_GPU_LIST_PIECES];
    return ok && lmi_gpu_reserve(gpu, &o->piece_rows, (size_t)o->piece_count * LMI_BLOCK * row) &&
           lmi_gpu_reserve(gpu, &o->sum_rows, gpu->end[LMI_GPU_NODES] * row) &&
           lmi_gpu_reserve(gpu, &o->transforms, lanes * row) &&
           lmi_gpu_reserve(gpu, &o->spread_rows, gpu->end[LMI_GPU_NODES] * row) &&
           lmi_gpu_reserve(gpu, &o->affine, lanes * 9 * sizeof(float));
}

static bool upload(gathered *l, const uint32_t *index)
{
    part parts[PARTS];
    list_parts(l, parts);
    bool ok = reserve(l, parts) && (!l->gpu->whole || put_all(l, parts, index));
    for (uint32_t n = 0; ok && !l->gpu->whole && n < l->gpu->batch_count; n++) {
        ok = l->gpu->batch[n].valid || put_batch(l, parts, n, index);
    }
    ok = ok && add_order(l) && put_array(l->gpu, &l->o->order, &l->order, sizeof(uint32_t));
    for (int k = 0; k < PARTS; k++) {
        drop(l->world, parts[k].from, sizeof(uint32_t));
    }
    drop(l->world, &l->order, sizeof(uint32_t));
    return ok;
}

/* The rows that stand for no node are zeros, and no launch writes them. */
static bool clear_rows(gathered *l)
{
    const size_t size = (size_t)l->gpu->end[LMI_GPU_NODES] * LMI_OCTREE_ROW * sizeof(float);
    return lmi_gpu_clear(l->gpu, &l->o->sum_rows, size) && lmi_gpu_clear(l->gpu, &l->o->spread_rows, size);
}

static bool build(lmi_gpu *gpu, const lmi_gpu_clusters *c, lmi_gpu_octrees *o)
{
    const lmi_gpu_named kernels[] = {{&o->up, "octree_up"},       {&o->moments, "octree_moments"},
                                     {&o->match, "octree_match"}, {&o->pieces_kernel, "octree_pieces"},
                                     {&o->down, "octree_down"},   {&o->pull, "octree_pull"}};
    return LMI_GPU_FIND(c->program, kernels);
}

/* What there is of octrees: false where there are none. `index`: the records of bodies by slot. */
static bool survey(const lm_world *world, const lmi_gpu *gpu, lmi_gpu_octrees *o, uint32_t *index)
{
    bool any = false;
    o->heights = 0;
    o->regional = o->mixed = false;
    for (uint32_t n = gpu->lattice_count; n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        index[gpu->slots[n]] = n;
        if (body->octree) {
            const uint32_t heights = body->octree->lanes.heights;
            any = true;
            o->heights = heights > o->heights ? heights : o->heights;
            o->regional = o->regional || body->material.damping_kind == LM_DAMPING_REGIONAL;
            o->mixed = o->mixed || body->examples;
        }
    }
    return any;
}

bool lmi_gpu_octrees_lay_out(lm_world *world, lmi_gpu *gpu, const lmi_gpu_clusters *clusters)
{
    lmi_gpu_octrees *o = gpu->octrees;
    if (!world->has_octrees) {
        return true;
    }
    if (!o) {
        o = gpu->octrees = lmi_gpu_make_part(gpu, sizeof *o, NULL);
        if (!o || !build(gpu, clusters, o)) {
            return false;
        }
    }
    const uint32_t slots = world->bodies.slots;
    uint32_t *index = lmi_allocate(&world->memory, slots, sizeof *index);
    bool ok = index != NULL;
    o->region_blocks = 0;
    if (ok && survey(world, gpu, o, index)) {
        gathered l = {.world = world, .gpu = gpu, .o = o};
        ok = upload(&l, index) && clear_rows(&l);
        o->region_blocks = ok ? gpu->end[LMI_GPU_REGION_BLOCKS] : 0;
    }
    lmi_release(&world->memory, index, slots, sizeof *index);
    return ok;
}

/* --- a substep --- */

static bool go_up(lmi_gpu *gpu, lmi_gpu_octrees *o, const lmi_gpu_buffer *x)
{
    bool ok = true;
    for (uint32_t n = 0; ok && n < o->heights; n++) {
        const cl_uint first = o->height[n], count = o->height[n + 1] - first;
        const lmi_gpu_argument arguments[] = {LMI_GPU_VALUE(first),
                                              LMI_GPU_VALUE(count),
                                              LMI_GPU_BUFFER(o->order),
                                              LMI_GPU_BUFFER(o->first_row),
                                              LMI_GPU_BUFFER(o->sums),
                                              LMI_GPU_BUFFER(o->leaf),
                                              LMI_GPU_BUFFER(o->leaf_offset),
                                              LMI_GPU_BUFFER(o->node),
                                              LMI_GPU_BUFFER(o->node_offset),
                                              LMI_GPU_BUFFER(o->reference),
                                              LMI_GPU_BUFFER(o->inverse_weight),
                                              LMI_GPU_BUFFER(*x),
                                              LMI_GPU_BUFFER(o->sum_rows)};
        const size_t groups[2] = {(count * LMI_BLOCK + 63) / 64, 1}, group[2] = {64, 1};
        ok = count == 0 || lmi_gpu_run(gpu, o->up, arguments, sizeof arguments / sizeof *arguments, groups, group);
    }
    return ok;
}

static bool match_regions(lmi_gpu *gpu, lmi_gpu_octrees *o, const lmi_gpu_clusters *c, const lmi_gpu_buffer *x,
                          cl_uint velocities)
{
    const cl_uint first = o->virtual_blocks, count = o->region_blocks;
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_VALUE(first),           LMI_GPU_VALUE(count),         LMI_GPU_VALUE(velocities),
        LMI_GPU_BUFFER(o->regions),     LMI_GPU_BUFFER(o->sums),      LMI_GPU_BUFFER(o->leaf),
        LMI_GPU_BUFFER(o->leaf_offset), LMI_GPU_BUFFER(o->node),      LMI_GPU_BUFFER(o->node_offset),
        LMI_GPU_BUFFER(o->frames),      LMI_GPU_BUFFER(*x),           LMI_GPU_BUFFER(o->sum_rows),
        LMI_GPU_BUFFER(c->blocks),      LMI_GPU_BUFFER(c->constants), LMI_GPU_BUFFER(c->extents),
        LMI_GPU_BUFFER(c->rotations),   LMI_GPU_BUFFER(c->plastics),  LMI_GPU_BUFFER(c->rates),
        LMI_GPU_BUFFER(c->moments),     LMI_GPU_BUFFER(o->affine),    LMI_GPU_BUFFER(o->transforms)};
    const size_t groups[2] = {(count * LMI_BLOCK + 63) / 64, 1}, group[2] = {64, 1};
    return lmi_gpu_run(gpu, o->match, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

/* What comes from regions does not wait for the nodes above: long lists of all heights at once. */
static bool add_pieces(lmi_gpu *gpu, lmi_gpu_octrees *o, const lmi_gpu_buffer *x)
{
    const cl_uint count = o->piece_count, virtual_blocks = o->virtual_blocks;
    const lmi_gpu_argument arguments[] = {LMI_GPU_VALUE(count),
                                          LMI_GPU_VALUE(virtual_blocks),
                                          LMI_GPU_BUFFER(o->pieces),
                                          LMI_GPU_BUFFER(o->reference),
                                          LMI_GPU_BUFFER(o->places),
                                          LMI_GPU_BUFFER(o->region),
                                          LMI_GPU_BUFFER(o->region_offset),
                                          LMI_GPU_BUFFER(o->transforms),
                                          LMI_GPU_BUFFER(*x),
                                          LMI_GPU_BUFFER(o->piece_rows)};
    const size_t groups[2] = {(count * LMI_BLOCK + 63) / 64, 1}, group[2] = {64, 1};
    return count == 0 ||
           lmi_gpu_run(gpu, o->pieces_kernel, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

static bool go_down(lmi_gpu *gpu, lmi_gpu_octrees *o, const lmi_gpu_buffer *x)
{
    bool ok = add_pieces(gpu, o, x);
    for (uint32_t n = o->heights; ok && n-- > 0;) {
        const cl_uint first = o->height[n], count = o->height[n + 1] - first;
        const lmi_gpu_argument arguments[] = {LMI_GPU_VALUE(first),
                                              LMI_GPU_VALUE(count),
                                              LMI_GPU_BUFFER(o->order),
                                              LMI_GPU_BUFFER(o->first_row),
                                              LMI_GPU_BUFFER(o->spread),
                                              LMI_GPU_BUFFER(o->region),
                                              LMI_GPU_BUFFER(o->region_offset),
                                              LMI_GPU_BUFFER(o->transforms),
                                              LMI_GPU_BUFFER(o->piece_rows),
                                              LMI_GPU_BUFFER(o->parent),
                                              LMI_GPU_BUFFER(o->parent_offset),
                                              LMI_GPU_BUFFER(o->reference),
                                              LMI_GPU_BUFFER(*x),
                                              LMI_GPU_BUFFER(o->spread_rows)};
        const size_t groups[2] = {(count * LMI_BLOCK + 63) / 64, 1}, group[2] = {64, 1};
        ok = count == 0 || lmi_gpu_run(gpu, o->down, arguments, sizeof arguments / sizeof *arguments, groups, group);
    }
    return ok;
}

static bool pull_particles(lmi_gpu *gpu, lmi_gpu_octrees *o, const lmi_gpu_clusters *c, const lmi_gpu_buffer *x,
                           cl_uint velocities, double h)
{
    const cl_uint first = o->virtual_blocks, count = o->region_blocks;
    const lmi_gpu_argument arguments[] = {LMI_GPU_VALUE(first),
                                          LMI_GPU_VALUE(count),
                                          LMI_GPU_VALUE(velocities),
                                          LMI_GPU_VALUE(h),
                                          LMI_GPU_BUFFER(o->spread),
                                          LMI_GPU_BUFFER(o->region),
                                          LMI_GPU_BUFFER(o->region_offset),
                                          LMI_GPU_BUFFER(o->transforms),
                                          LMI_GPU_BUFFER(o->piece_rows),
                                          LMI_GPU_BUFFER(o->parent),
                                          LMI_GPU_BUFFER(o->parent_offset),
                                          LMI_GPU_BUFFER(o->places),
                                          LMI_GPU_BUFFER(o->shares),
                                          LMI_GPU_BUFFER(*x),
                                          LMI_GPU_BUFFER(o->spread_rows),
                                          LMI_GPU_BUFFER(o->regions),
                                          LMI_GPU_BUFFER(gpu->bodies),
                                          LMI_GPU_BUFFER(c->pulls)};
    const size_t groups[2] = {(count * LMI_BLOCK + 63) / 64, 1}, group[2] = {64, 1};
    return lmi_gpu_run(gpu, o->pull, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

bool lmi_gpu_octrees_begin(lmi_gpu *gpu, const lmi_gpu_clusters *c)
{
    lmi_gpu_octrees *o = gpu->octrees;
    if (!o || o->region_blocks == 0) {
        return true;
    }
    const cl_uint first = o->virtual_blocks, count = o->region_blocks;
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_VALUE(first),      LMI_GPU_VALUE(count),           LMI_GPU_BUFFER(o->regions),
        LMI_GPU_BUFFER(o->sums),   LMI_GPU_BUFFER(o->leaf),        LMI_GPU_BUFFER(o->leaf_offset),
        LMI_GPU_BUFFER(o->node),   LMI_GPU_BUFFER(o->node_offset), LMI_GPU_BUFFER(o->frames),
        LMI_GPU_BUFFER(gpu->x),    LMI_GPU_BUFFER(o->sum_rows),    LMI_GPU_BUFFER(c->blocks),
        LMI_GPU_BUFFER(c->moments)};
    const size_t groups[2] = {(count * LMI_BLOCK + 63) / 64, 1}, group[2] = {64, 1};
    return go_up(gpu, o, &gpu->x) &&
           (!o->mixed || lmi_gpu_run(gpu, o->moments, arguments, sizeof arguments / sizeof *arguments, groups, group));
}

bool lmi_gpu_octrees_match(lmi_gpu *gpu, const lmi_gpu_clusters *c, double h)
{
    lmi_gpu_octrees *o = gpu->octrees;
    bool ok = true;
    for (cl_uint way = 0; ok && o && o->region_blocks && way < (o->regional ? 2u : 1u); way++) {
        const lmi_gpu_buffer *x = way ? &gpu->v : &gpu->x;
        ok = (way == 0 || go_up(gpu, o, x)) && match_regions(gpu, o, c, x, way) && go_down(gpu, o, x) &&
             pull_particles(gpu, o, c, x, way, h);
    }
    return ok;
}
