/*
 * Gather and scatter for octrees: hierarchical sums.
 *
 *   gather   reads positions, writes the moments of regions: first the virtual nodes, each from its children and those that
 *            stand low before those above them; then the regions, each from its few summation nodes
 *
 *              X = sum w x / sum w        M = sum (M_j + w_j (x_j - from) o_j^T)       o: rest place from the target's centre
 *
 *   scatter  reads transforms, writes what pulls each particle: the same lists the other way round, regions to their summation
 *            nodes, and from above each node to its children
 *
 *              D = sum m_r (c_r + T_r o_r - x)          and from the node above       D + T o + N (its x - this x)
 *
 * The two are transposes of each other. Steinemann et al. 2008, section 4.3; moments about the middle of each node, instead of
 * about the origin, so that nothing cancels.
 *
 * Deterministic because a lane adds the items of its own target in their order, and adds exact zeros beyond them; a target is
 * read only when all of its height are done.
 */
#include "base/vmat.h"
#include "match/spin.h"
#include "octree/octree_body.h"
#include "world/kernel_names.h"

#include <string.h>

/* Moments of a target: sum w p, sum w p o^T. */
typedef struct lanes_moments {
    vf sum[3], linear[9];
} lanes_moments;

/* The sums of the lanes from `lane` on of a block of targets; positions are taken from `from`. */
static inline lanes_moments add_lists(const lmi_octree_lanes *o, uint32_t block, uint32_t lane, const float *x,
                                      const float *rows, const vf from[3])
{
    const lmi_octree_sums *lists = &o->sums[block];
    lanes_moments m;
    for (int i = 0; i < 12; i++) {
        *(i < 3 ? &m.sum[i] : &m.linear[i - 3]) = vf_set1(0.0f);
    }
    for (uint32_t row = lists->first_leaf_row; row < lists->first_leaf_row + lists->leaf_rows; row++) {
        const float *offset = o->leaf_offset + (size_t)row * 4 * LMI_BLOCK + lane;
        vf at[4], weight = vf_load(offset + 3 * LMI_BLOCK);
        vf_gather4(x, o->leaf + (size_t)row * LMI_BLOCK + lane, at);
        for (int i = 0; i < 3; i++) {
            vf p = (at[i] - from[i]) * weight;
            m.sum[i] = m.sum[i] + p;
            for (int k = 0; k < 3; k++) {
                m.linear[3 * i + k] = m.linear[3 * i + k] + p * vf_load(offset + k * LMI_BLOCK);
            }
        }
    }
    for (uint32_t row = lists->first_node_row; row < lists->first_node_row + lists->node_rows; row++) {
        const float *offset = o->node_offset + (size_t)row * 4 * LMI_BLOCK + lane;
        const uint32_t *index = o->node + (size_t)row * LMI_BLOCK + lane;
        vf r[12], weight = vf_load(offset + 3 * LMI_BLOCK);
        for (int c = 0; c < 3; c++) {
            vf_gather4(rows + 4 * c, index, r + 4 * c);
        }
        for (int i = 0; i < 3; i++) {
            vf p = (r[i] - from[i]) * weight;
            m.sum[i] = m.sum[i] + p;
            for (int k = 0; k < 3; k++) {
                m.linear[3 * i + k] = m.linear[3 * i + k] + (r[3 + 3 * i + k] + p * vf_load(offset + k * LMI_BLOCK));
            }
        }
    }
    return m;
}

/* Writes rows of 4 `records` records side by side. */
static inline void store_rows(float *rows, const vf *channels, int records)
{
    _Alignas(64) float record[4 * LMI_LANES];
    for (int c = 0; c < records; c++) {
        vf_store4(record, channels[4 * c], channels[4 * c + 1], channels[4 * c + 2], channels[4 * c + 3]);
        for (int lane = 0; lane < LMI_LANES; lane++) {
            memcpy(rows + lane * LMI_OCTREE_ROW + 4 * c, record + 4 * lane, 4 * sizeof(float));
        }
    }
}

static void sum_nodes(const lmi_octree_lanes *o, const float *x, uint32_t first, uint32_t last)
{
    for (uint32_t n = first * LMI_BLOCK; n < last * LMI_BLOCK; n += LMI_LANES) {
        vf from[4], row[12], inverse = vf_load(o->inverse_weight + n);
        vf_gather4(x, o->reference + n, from);
        lanes_moments m = add_lists(o, n / LMI_BLOCK, n % LMI_BLOCK, x, o->sum_row, from);
        for (int i = 0; i < 3; i++) {
            row[i] = from[i] + m.sum[i] * inverse;
        }
        for (int i = 0; i < 9; i++) {
            row[3 + i] = m.linear[i];
        }
        store_rows(o->sum_row + (size_t)(1 + n) * LMI_OCTREE_ROW, row, 3);
    }
}

/* The moments of regions as fit wants them, [block][LMI_MOMENTS][LMI_BLOCK]. */
static void sum_regions(const lmi_octree_lanes *o, const float *x, float *moments, uint32_t first, uint32_t last)
{
    for (uint32_t n = first * LMI_BLOCK; n < last * LMI_BLOCK; n += LMI_LANES) {
        uint32_t block = n / LMI_BLOCK, lane = n % LMI_BLOCK;
        vf from[4];
        vf_load4(x + (size_t)n * 4, from);
        lanes_moments m = add_lists(o, o->virtual_blocks + block, lane, x, o->sum_row, from);
        const float *frame = o->frame + (size_t)block * 9 * LMI_BLOCK + lane;
        float *to = moments + (size_t)block * LMI_MOMENTS * LMI_BLOCK + lane;
        for (int i = 0; i < 3; i++) {
            vf_store(to + (LMI_MOMENT_SUM + i) * LMI_BLOCK, m.sum[i]);
            for (int j = 0; j < 3; j++) {
                vf q = (m.linear[3 * i] * vf_load(frame + j * LMI_BLOCK) +
                        m.linear[3 * i + 1] * vf_load(frame + (3 + j) * LMI_BLOCK)) +
                       m.linear[3 * i + 2] * vf_load(frame + (6 + j) * LMI_BLOCK);
                vf_store(to + (LMI_MOMENT_LINEAR + 3 * i + j) * LMI_BLOCK, q);
            }
        }
    }
}

void LMI_KERNEL(octree_gather)(const lmi_octree_lanes *o, const float *x, float *moments)
{
    for (uint32_t height = 0; height < o->heights; height++) {
        sum_nodes(o, x, o->height_block[height], o->height_block[height + 1]);
    }
    sum_regions(o, x, moments, 0, o->region_blocks);
}

/* --- scatter --- */

/* Transforms from the regions' own frames to the body's. */
static void turn_transforms(const lmi_octree_lanes *o, const float *transforms, uint32_t first, uint32_t last)
{
    for (uint32_t n = first * LMI_BLOCK; n < last * LMI_BLOCK; n += LMI_LANES) {
        uint32_t block = n / LMI_BLOCK, lane = n % LMI_BLOCK;
        const float *frame = o->frame + (size_t)block * 9 * LMI_BLOCK + lane;
        const float *from = transforms + (size_t)block * LMI_MOMENTS * LMI_BLOCK + lane;
        vf row[12];
        for (int i = 0; i < 3; i++) {
            const float *linear = from + (LMI_TRANSFORM_LINEAR + 3 * i) * LMI_BLOCK;
            row[i] = vf_load(from + (LMI_TRANSFORM_CONSTANT + i) * LMI_BLOCK);
            for (int k = 0; k < 3; k++) {
                row[3 + 3 * i + k] = (vf_load(linear) * vf_load(frame + 3 * k * LMI_BLOCK) +
                                      vf_load(linear + LMI_BLOCK) * vf_load(frame + (3 * k + 1) * LMI_BLOCK)) +
                                     vf_load(linear + 2 * LMI_BLOCK) * vf_load(frame + (3 * k + 2) * LMI_BLOCK);
            }
        }
        store_rows(o->transform_row + (size_t)n * LMI_OCTREE_ROW, row, 3);
    }
}

/* What comes to a target: pull, weight, transform. */
typedef struct lanes_spread {
    vf pull[3], weight, linear[9];
} lanes_spread;

/* (T o)_i */
static inline vf turned(const vf *linear, int i, const vf o[3])
{
    return (linear[3 * i] * o[0] + linear[3 * i + 1] * o[1]) + linear[3 * i + 2] * o[2];
}

/* `whole`: weight and transform too, for what is below the target. */
static inline lanes_spread add_spread(const lmi_octree_lanes *o, uint32_t block, uint32_t lane, const vf at[3],
                                      const bool whole)
{
    const lmi_octree_spread *lists = &o->spread[block];
    lanes_spread d;
    for (int i = 0; i < 13; i++) {
        *(i < 3 ? &d.pull[i] : i < 12 ? &d.linear[i - 3] : &d.weight) = vf_set1(0.0f);
    }
    for (uint32_t row = lists->first_row; row < lists->first_row + lists->rows; row++) {
        const float *offset = o->region_offset + (size_t)row * 4 * LMI_BLOCK + lane;
        const uint32_t *index = o->region + (size_t)row * LMI_BLOCK + lane;
        vf r[12], weight = vf_load(offset + 3 * LMI_BLOCK);
        vf place[3] = {vf_load(offset), vf_load(offset + LMI_BLOCK), vf_load(offset + 2 * LMI_BLOCK)};
        for (int c = 0; c < 3; c++) {
            vf_gather4(o->transform_row + 4 * c, index, r + 4 * c);
        }
        for (int i = 0; i < 3; i++) {
            d.pull[i] = d.pull[i] + weight * ((r[i] - at[i]) + turned(r + 3, i, place));
        }
        if (whole) {
            d.weight = d.weight + weight;
            for (int i = 0; i < 9; i++) {
                d.linear[i] = d.linear[i] + weight * r[3 + i];
            }
        }
    }
    const float *offset = o->parent_offset + (size_t)block * 3 * LMI_BLOCK + lane;
    vf above[16], place[3] = {vf_load(offset), vf_load(offset + LMI_BLOCK), vf_load(offset + 2 * LMI_BLOCK)};
    for (int c = 0; c < 4; c++) {
        vf_gather4(o->spread_row + 4 * c, o->parent + (size_t)block * LMI_BLOCK + lane, above + 4 * c);
    }
    for (int i = 0; i < 3; i++) {
        d.pull[i] = d.pull[i] + ((above[i] + above[3] * (above[13 + i] - at[i])) + turned(above + 4, i, place));
    }
    if (whole) {
        d.weight = d.weight + above[3];
        for (int i = 0; i < 9; i++) {
            d.linear[i] = d.linear[i] + above[4 + i];
        }
    }
    return d;
}

static void spread_nodes(const lmi_octree_lanes *o, const float *x, uint32_t first, uint32_t last)
{
    for (uint32_t n = first * LMI_BLOCK; n < last * LMI_BLOCK; n += LMI_LANES) {
        vf at[4], row[16];
        vf_gather4(x, o->reference + n, at);
        lanes_spread d = add_spread(o, n / LMI_BLOCK, n % LMI_BLOCK, at, true);
        for (int i = 0; i < 3; i++) {
            row[i] = d.pull[i];
            row[13 + i] = at[i];
        }
        row[3] = d.weight;
        for (int i = 0; i < 9; i++) {
            row[4 + i] = d.linear[i];
        }
        store_rows(o->spread_row + (size_t)(1 + n) * LMI_OCTREE_ROW, row, 4);
    }
}

static void spread_particles(const lmi_octree_lanes *o, const float *x, float *pulls, uint32_t first, uint32_t last)
{
    for (uint32_t n = first * LMI_BLOCK; n < last * LMI_BLOCK; n += LMI_LANES) {
        vf at[4], share = vf_load(o->share + n);
        const uint32_t *place = o->spread_place + n;
        vf_gather4(x, place, at);
        lanes_spread d = add_spread(o, o->virtual_blocks + n / LMI_BLOCK, n % LMI_BLOCK, at, false);
        _Alignas(64) float pull[4 * LMI_LANES];
        vf_store4(pull, d.pull[0] * share, d.pull[1] * share, d.pull[2] * share, vf_set1(0.0f));
        for (int k = 0; k < LMI_LANES; k++) {
            memcpy(pulls + 4 * (size_t)place[k], pull + 4 * k, 4 * sizeof(float));
        }
    }
}

void LMI_KERNEL(octree_scatter)(const lmi_octree_lanes *o, const float *x, const float *transforms)
{
    turn_transforms(o, transforms, 0, o->region_blocks);
    for (uint32_t height = o->heights; height-- > 0;) {
        spread_nodes(o, x, o->height_block[height], o->height_block[height + 1]);
    }
    spread_particles(o, x, o->pull, 0, o->region_blocks);
}

/* --- the stages --- */

/* So many blocks of regions are summed, fitted and turned before the next ones: their moments stay in the cache. */
#define IN_CACHE 32u

/* Piece `piece` of `pieces` of a range of blocks. */
static void cut_range(uint32_t *first, uint32_t *last, uint32_t piece, uint32_t pieces)
{
    uint64_t begin = *first, count = *last - *first;
    *first = (uint32_t)(begin + count * piece / pieces);
    *last = (uint32_t)(begin + count * (piece + 1) / pieces);
}

/* The first block of an octree's regions in the pack: they have whole blocks for themselves. */
static size_t first_block(const lmi_pack *pack, const lmi_body *body)
{
    return pack->region_lane[body->first_region + body->order[0]] / LMI_BLOCK;
}

/* One way through the tree: positions to pulls, or where the damping is regional velocities to what they lose. */
typedef struct way {
    const lmi_step *step;
    const lmi_pack *pack;
    const lmi_body *body;
    const lmi_octree_lanes *lanes;
    size_t block;   /* of the pack, where the body's begin */
    const float *x; /* what is gathered */
    float *pull;    /* what is scattered */
    bool velocities;
} way;

static way make_way(const lmi_step *step, const lmi_batch *batch, const lmi_body *body, bool velocities)
{
    const lmi_octree_lanes *o = &body->octree->lanes;
    way w = {step,
             &batch->pack,
             body,
             o,
             first_block(&batch->pack, body),
             velocities ? body->v : body->x,
             velocities ? o->damping : o->pull,
             velocities};
    return w;
}

/* The velocity fields of regions from the moments of velocities, as transforms: the velocity of the centre, and w x B for the
 * lever arms B q (see lattice_damping.h; B is the best affine map, which the fit has found). */
static void find_fields(const lmi_pack *pack, const float *v, uint32_t place, uint32_t b, uint32_t lane)
{
    const float *moments = pack->moments + (size_t)b * LMI_MOMENTS * LMI_BLOCK + lane;
    float *transform = pack->transforms + (size_t)b * LMI_MOMENTS * LMI_BLOCK + lane;
    vf inverse = vf_load(pack->constants + ((size_t)b * LMI_CONSTANTS + LMI_CONSTANT_INVERSE_MASS) * LMI_BLOCK + lane);
    vmat3 a = vmat_load(pack->affine + (size_t)b * 9 * LMI_BLOCK + lane);
    vmat3 u = vmat_load(moments + LMI_MOMENT_LINEAR * LMI_BLOCK);
    vf from[4], w[3], l[3], g[6];
    vf_load4(v + (size_t)place * 4, from);
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        const vf *ai = a.m + 3 * i, *ap = a.m + 3 * p, *aq = a.m + 3 * q, *up = u.m + 3 * p, *uq = u.m + 3 * q;
        l[i] = ((ap[0] * uq[0] - aq[0] * up[0]) + (ap[1] * uq[1] - aq[1] * up[1])) + (ap[2] * uq[2] - aq[2] * up[2]);
        l[i] = l[i] * inverse;
        g[i] = (ai[0] * ai[0] + ai[1] * ai[1]) + ai[2] * ai[2];
        g[3 + i] = (ai[0] * ap[0] + ai[1] * ap[1]) + ai[2] * ap[2];
    }
    lmi_spin(g, l, w);
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        vf_store(transform + (LMI_TRANSFORM_CONSTANT + i) * LMI_BLOCK,
                 from[i] + vf_load(moments + (LMI_MOMENT_SUM + i) * LMI_BLOCK) * inverse);
        for (int j = 0; j < 3; j++) {
            vf_store(transform + (LMI_TRANSFORM_LINEAR + 3 * i + j) * LMI_BLOCK,
                     w[p] * a.m[3 * q + j] - w[q] * a.m[3 * p + j]);
        }
    }
}

/* Regions `first` to `last` - 1: summed, fitted, turned. */
static void pass_regions(const way *w, uint32_t first, uint32_t last)
{
    float *moments = w->pack->moments + w->block * LMI_MOMENTS * LMI_BLOCK;
    for (uint32_t b = first, end; b < last; b = end) {
        end = last - b < IN_CACHE ? last : b + IN_CACHE;
        sum_regions(w->lanes, w->x, moments, b, end);
        if (w->velocities) {
            for (uint32_t n = b * LMI_BLOCK; n < end * LMI_BLOCK; n += LMI_LANES) {
                find_fields(w->pack, w->x, n, (uint32_t)w->block + n / LMI_BLOCK, n % LMI_BLOCK);
            }
        } else {
            LMI_KERNEL(fit_blocks)(w->step->world, w->pack, (uint32_t)w->block + b, (uint32_t)w->block + end);
        }
        turn_transforms(w->lanes, w->pack->transforms + w->block * LMI_MOMENTS * LMI_BLOCK, b, end);
    }
}

/* One of the phases of a way: with virtual nodes of h heights, h of sums upward; regions; h of sums downward; particles. What a
 * piece writes no other piece of the same phase reads. */
static void run_phase(const way *w, uint32_t phase, uint32_t piece, uint32_t pieces)
{
    const lmi_octree_lanes *o = w->lanes;
    uint32_t first = 0, last = o->region_blocks;
    if (phase == o->heights) {
        cut_range(&first, &last, piece, pieces);
        pass_regions(w, first, last);
    } else if (phase == 2 * o->heights + 1) {
        cut_range(&first, &last, piece, pieces);
        spread_particles(o, w->x, w->pull, first, last);
    } else if (phase <= 2 * o->heights) {
        uint32_t height = phase < o->heights ? phase : 2 * o->heights - phase;
        first = o->height_block[height];
        last = o->height_block[height + 1];
        cut_range(&first, &last, piece, pieces);
        (phase < o->heights ? sum_nodes : spread_nodes)(o, w->x, first, last);
    }
}

void LMI_KERNEL(octree_phase)(const lmi_step *step, lmi_batch *batch, uint32_t phase, uint32_t piece)
{
    const lmi_body *body = lmi_body_at(step->world, batch->bodies[0]);
    uint32_t phases = lmi_octree_way_phases(&body->octree->lanes);
    if (phase < lmi_octree_phases(body)) {
        way w = make_way(step, batch, body, phase >= phases);
        run_phase(&w, phase % phases, piece, batch->pieces);
    }
}

void LMI_KERNEL(gather)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    LMI_KERNEL(gather_clusters)(step, batch, scratch);
    for (uint32_t n = 0; n < batch->body_count; n++) {
        const lmi_body *body = lmi_body_at(step->world, batch->bodies[n]);
        if (body->octree && !batch->pieces) {
            float *moments = batch->pack.moments + first_block(&batch->pack, body) * LMI_MOMENTS * LMI_BLOCK;
            LMI_KERNEL(octree_gather)(&body->octree->lanes, body->x, moments);
        }
    }
}

void LMI_KERNEL(scatter)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    LMI_KERNEL(scatter_clusters)(step, batch, scratch);
    for (uint32_t n = 0; n < batch->body_count; n++) {
        const lmi_body *body = lmi_body_at(step->world, batch->bodies[n]);
        if (body->octree && !batch->pieces) {
            const float *transforms =
                batch->pack.transforms + first_block(&batch->pack, body) * LMI_MOMENTS * LMI_BLOCK;
            LMI_KERNEL(octree_scatter)(&body->octree->lanes, body->x, transforms);
            way w = make_way(step, batch, body, true);
            uint32_t phases = lmi_octree_way_phases(&body->octree->lanes);
            for (uint32_t phase = phases; phase < lmi_octree_phases(body); phase++) {
                run_phase(&w, phase - phases, 0, 1);
            }
        }
    }
}
