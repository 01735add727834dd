#include "gpu/octrees.h"

#include "gpu/clusters.h"
#include "gpu/layout.h"
#include "octree_body.h"

/* Heights of virtual nodes: more than the levels of any tree. */
#define MOST_HEIGHTS 32

/* Rows of a list of regions that one work-item goes through. Wide regions are many, and a list of 300 would be waited for. */
#define PIECE_ROWS 16

typedef struct lmi_gpu_octrees {
    cl_kernel up, moments, match, pieces_kernel, down, pull;
    lmi_gpu_buffer order, first_row, sums, leaf, leaf_offset, node, node_offset, reference, inverse_weight;
    lmi_gpu_buffer spread, region, region_offset, places, parent, parent_offset, frames, shares, regions;
    lmi_gpu_buffer sum_rows, transforms, spread_rows, affine, pieces, piece_rows;
    uint32_t heights, virtual_blocks, region_blocks, piece_count;
    uint32_t height[MOST_HEIGHTS + 1]; /* first of the blocks of each in `order` */
    bool regional, mixed;              /* damping, and examples, of any of them */
} lmi_gpu_octrees;

const char *lmi_gpu_octree_reason(const lmi_body *body)
{
    return body->octree->lanes.heights > MOST_HEIGHTS ? "octrees of very many levels" : NULL;
}

/* The lists of all octrees while they are put together, in the order of the buffers. */
typedef struct gathered {
    lm_world *world;
    lmi_gpu *gpu;
    lmi_gpu_octrees *o;
    array order, first_row, sums, leaf, leaf_offset, node, node_offset, reference, inverse_weight;
    array spread, pieces, region, region_offset, places, parent, parent_offset, frames, shares, regions;
    /* Where the present body's begin: its particles, virtual blocks, region blocks, and rows of nodes. */
    uint32_t particle, virtual_block, region_block, row;
    uint32_t leaf_row, node_row, spread_row;
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

/* Lists of regions, four words a block: first row and rows; or, where there are many, first piece and pieces. */
static bool add_spread(gathered *l, const lmi_octree_spread *d, uint32_t count)
{
    const uint32_t first_block = l->spread.count / 4;
    uint32_t *spread = append(l->world, &l->spread, 4 * count, sizeof *spread);
    for (uint32_t n = 0; spread && n < count; n++) {
        const uint32_t first = l->spread_row + d[n].first_row, rows = d[n].rows;
        const uint32_t pieces = rows > PIECE_ROWS ? (rows + PIECE_ROWS - 1) / PIECE_ROWS : 0;
        spread[4 * n] = first, spread[4 * n + 1] = pieces ? 0 : rows;
        spread[4 * n + 2] = l->pieces.count / 4, spread[4 * n + 3] = pieces;
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

/* Virtual blocks `first` to `last` - 1 of a body's targets, or its region blocks, which come after them. */
static bool add_targets(gathered *l, const lmi_octree_lanes *o, uint32_t first, uint32_t last)
{
    uint32_t count = last - first;
    uint32_t *sums = append(l->world, &l->sums, 4 * count, sizeof *sums);
    for (uint32_t n = 0; sums && n < count; n++) {
        const lmi_octree_sums *s = &o->sums[first + n];
        sums[4 * n] = l->leaf_row + s->first_leaf_row, sums[4 * n + 1] = s->leaf_rows;
        sums[4 * n + 2] = l->node_row + s->first_node_row, sums[4 * n + 3] = s->node_rows;
    }
    const size_t block = LMI_BLOCK;
    return sums && add_spread(l, o->spread + first, count) &&
           copy_indices(l, &l->parent, o->parent + first * block, count * block, RECORDS, l->row) &&
           copy(l, &l->parent_offset, o->parent_offset + first * 3 * block, count * 3 * block);
}

/* The lists themselves, which targets point into. */
static bool add_lists(gathered *l, const lmi_octree_lanes *o)
{
    const size_t block = LMI_BLOCK;
    return copy_indices(l, &l->leaf, o->leaf, o->leaf_rows * block, 1, l->particle) &&
           copy(l, &l->leaf_offset, o->leaf_offset, o->leaf_rows * 4 * block) &&
           copy_indices(l, &l->node, o->node, o->node_rows * block, RECORDS, l->row) &&
           copy(l, &l->node_offset, o->node_offset, o->node_rows * 4 * block) &&
           copy_indices(l, &l->region, o->region, o->spread_rows * block, RECORDS, l->region_block * LMI_BLOCK) &&
           copy(l, &l->region_offset, o->region_offset, o->spread_rows * 4 * block);
}

static bool add_nodes(gathered *l, const lmi_octree_lanes *o)
{
    uint32_t *rows = append(l->world, &l->first_row, o->virtual_blocks, sizeof *rows);
    for (uint32_t n = 0; rows && n < o->virtual_blocks; n++) {
        rows[n] = l->row + 1 + n * LMI_BLOCK; /* row 0 of a body stands for no node */
    }
    const size_t lanes = (size_t)o->virtual_blocks * LMI_BLOCK;
    return rows && copy_indices(l, &l->reference, o->reference, lanes, 1, l->particle) &&
           copy(l, &l->inverse_weight, o->inverse_weight, lanes) && add_targets(l, o, 0, o->virtual_blocks);
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
           copy(l, &l->frames, o->frame, lanes * 9) && copy(l, &l->shares, o->share, lanes) &&
           add_targets(l, o, o->virtual_blocks, o->virtual_blocks + o->region_blocks);
}

/* Virtual nodes of all bodies stand before regions of all bodies: two passes. */
static bool add_bodies(gathered *l, bool regions)
{
    lm_world *world = l->world;
    lmi_gpu *gpu = l->gpu;
    bool ok = true;
    l->virtual_block = l->region_block = l->row = l->leaf_row = l->node_row = l->spread_row = 0;
    for (uint32_t n = gpu->lattice_count; ok && n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        if (!body->octree) {
            continue;
        }
        const lmi_octree_lanes *o = &body->octree->lanes;
        const uint32_t pack_block = gpu->batch[body->batch].first[LMI_GPU_LANE_BLOCKS];
        l->particle = lmi_gpu_first_of(gpu, body);
        ok = regions ? add_regions(l, o, body, pack_block, n) : add_nodes(l, o) && add_lists(l, o);
        l->virtual_block += o->virtual_blocks;
        l->region_block += o->region_blocks;
        l->row += 1 + o->virtual_blocks * LMI_BLOCK;
        l->leaf_row += o->leaf_rows;
        l->node_row += o->node_rows;
        l->spread_row += o->spread_rows;
        l->o->heights = o->heights > l->o->heights ? o->heights : l->o->heights;
        l->o->regional = l->o->regional || body->material.damping_kind == LM_DAMPING_REGIONAL;
        l->o->mixed = l->o->mixed || body->examples;
    }
    return ok;
}

/* Virtual blocks of all bodies by height, which the launches go through. */
static bool add_order(gathered *l)
{
    lm_world *world = l->world;
    uint32_t *order = append(world, &l->order, l->virtual_block, sizeof *order), count = 0;
    for (uint32_t height = 0; order && height < l->o->heights; height++) {
        uint32_t before = 0;
        l->o->height[height] = count;
        for (uint32_t n = l->gpu->lattice_count; n < l->gpu->body_count; n++) {
            const lmi_body *body = lmi_body_at(world, l->gpu->slots[n]);
            const lmi_octree_lanes *o = body->octree ? &body->octree->lanes : NULL;
            for (uint32_t b = o && height < o->heights ? o->height_block[height] : 0;
                 o && height < o->heights && b < o->height_block[height + 1]; b++) {
                order[count++] = before + b;
            }
            before += o ? o->virtual_blocks : 0;
        }
    }
    l->o->height[l->o->heights] = count;
    return order != NULL;
}

static bool upload(gathered *l)
{
    lmi_gpu *gpu = l->gpu;
    lmi_gpu_octrees *o = l->o;
    const struct {
        lmi_gpu_buffer *to;
        const array *from;
    } all[] = {{&o->order, &l->order},
               {&o->first_row, &l->first_row},
               {&o->sums, &l->sums},
               {&o->leaf, &l->leaf},
               {&o->leaf_offset, &l->leaf_offset},
               {&o->node, &l->node},
               {&o->node_offset, &l->node_offset},
               {&o->reference, &l->reference},
               {&o->inverse_weight, &l->inverse_weight},
               {&o->spread, &l->spread},
               {&o->pieces, &l->pieces},
               {&o->region, &l->region},
               {&o->region_offset, &l->region_offset},
               {&o->places, &l->places},
               {&o->parent, &l->parent},
               {&o->parent_offset, &l->parent_offset},
               {&o->frames, &l->frames},
               {&o->shares, &l->shares},
               {&o->regions, &l->regions}};
    bool ok = true;
    for (size_t n = 0; ok && n < sizeof all / sizeof *all; n++) {
        ok = put_array(gpu, all[n].to, all[n].from, sizeof(uint32_t)); /* floats are as large */
    }
    const size_t row = LMI_OCTREE_ROW * sizeof(float), lanes = (size_t)l->region_block * LMI_BLOCK;
    o->piece_count = l->pieces.count / 4;
    return ok && lmi_gpu_reserve(gpu, &o->piece_rows, (size_t)o->piece_count * LMI_BLOCK * row) &&
           lmi_gpu_reserve(gpu, &o->sum_rows, l->row * row) && lmi_gpu_reserve(gpu, &o->transforms, lanes * row) &&
           lmi_gpu_reserve(gpu, &o->spread_rows, l->row * row) &&
           lmi_gpu_reserve(gpu, &o->affine, lanes * 9 * sizeof(float));
}

/* The rows that stand for no node are zeros, and no launch writes them. */
static bool clear_rows(gathered *l)
{
    const size_t size = (size_t)l->row * LMI_OCTREE_ROW * sizeof(float);
    return lmi_gpu_clear(l->gpu, &l->o->sum_rows, size) && lmi_gpu_clear(l->gpu, &l->o->spread_rows, size);
}

static bool build(lmi_gpu *gpu, const lmi_gpu_clusters *c, lmi_gpu_octrees *o)
{
    o->up = lmi_gpu_kernel(gpu, c->program, "octree_up");
    o->moments = lmi_gpu_kernel(gpu, c->program, "octree_moments");
    o->match = lmi_gpu_kernel(gpu, c->program, "octree_match");
    o->pieces_kernel = lmi_gpu_kernel(gpu, c->program, "octree_pieces");
    o->down = lmi_gpu_kernel(gpu, c->program, "octree_down");
    o->pull = lmi_gpu_kernel(gpu, c->program, "octree_pull");
    return o->up && o->moments && o->match && o->pieces_kernel && o->down && o->pull;
}

static bool has_octrees(const lm_world *world, const lmi_gpu *gpu)
{
    bool any = false;
    for (uint32_t n = gpu->lattice_count; n < gpu->body_count; n++) {
        any = any || lmi_body_at(world, gpu->slots[n])->octree;
    }
    return any;
}

bool lmi_gpu_octrees_lay_out(lm_world *world, lmi_gpu *gpu, const lmi_gpu_clusters *clusters)
{
    lmi_gpu_octrees *o = gpu->octrees;
    if (o) {
        o->region_blocks = 0;
    }
    if (!has_octrees(world, gpu)) {
        return true;
    }
    if (!o) {
        o = gpu->octrees = lmi_allocate(&world->memory, 1, sizeof *o);
        if (!o || !build(gpu, clusters, o)) {
            return false;
        }
    }
    gathered l = {.world = world, .gpu = gpu, .o = o};
    o->heights = 0;
    o->regional = o->mixed = false;
    bool ok = add_bodies(&l, false) && add_bodies(&l, true) && add_order(&l) && upload(&l) && clear_rows(&l);
    o->virtual_blocks = l.virtual_block;
    o->region_blocks = ok ? l.region_block : 0;
    array *const all[] = {&l.order,         &l.first_row,   &l.sums,    &l.leaf,      &l.leaf_offset,
                          &l.node,          &l.spread,      &l.region,  &l.reference, &l.inverse_weight,
                          &l.region_offset, &l.node_offset, &l.places,  &l.parent,    &l.frames,
                          &l.parent_offset, &l.shares,      &l.regions, &l.pieces};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        drop(world, all[n], sizeof(uint32_t));
    }
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

void lmi_gpu_octrees_free(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_octrees *o = gpu->octrees;
    if (!o) {
        return;
    }
    lmi_gpu_buffer *const all[] = {
        &o->order,       &o->first_row,  &o->sums,           &o->leaf,   &o->leaf_offset, &o->node,
        &o->node_offset, &o->reference,  &o->inverse_weight, &o->spread, &o->region,      &o->region_offset,
        &o->places,      &o->parent,     &o->parent_offset,  &o->frames, &o->shares,      &o->regions,
        &o->sum_rows,    &o->transforms, &o->spread_rows,    &o->affine, &o->pieces,      &o->piece_rows};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        lmi_gpu_free(gpu, all[n]);
    }
    cl_kernel const kernels[] = {o->up, o->moments, o->match, o->pieces_kernel, o->down, o->pull};
    for (int n = 0; n < 6; n++) {
        if (kernels[n]) {
            gpu->cl.clReleaseKernel(kernels[n]);
        }
    }
    lmi_release(&world->memory, o, 1, sizeof *o);
    gpu->octrees = NULL;
}
