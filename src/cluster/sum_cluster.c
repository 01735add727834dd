/*
 * Gather and scatter for clusters: direct sums over explicit lists of members.
 *
 *   gather   reads positions, writes moments:      sum m~ p,  sum m~ p q^T,  sum m~ p (quadratics of q)^T
 *   scatter  reads transforms, writes goals:       g = constant + linear q + quadratic (quadratics of q), and the region's
 *            stiffness beside each
 *
 * p is a member's position from its region's first member: short, so that nothing cancels however far the region is
 * from its body's origin. m~ = m / |R(i)| travels in the particle's fourth component. Müller et al. 2005, sections 3.3
 * and 4.2 to 4.4; the rest frame of q is described in match/region.h.
 *
 * Deterministic because a lane adds the members of its own region in their order, and adds exact zeros beyond them.
 */
#include "base/lanes.h"
#include "world/kernel_names.h"
#include "world/world.h"

/* The six products of a rest position. */
static inline void quadratics(const vf q[3], vf out[6])
{
    out[0] = q[0] * q[0];
    out[1] = q[1] * q[1];
    out[2] = q[2] * q[2];
    out[3] = q[0] * q[1];
    out[4] = q[1] * q[2];
    out[5] = q[2] * q[0];
}

static inline void load_q(const lmi_pack *pack, uint32_t row, uint32_t lane, vf q[3])
{
    const float *at = pack->q + (size_t)row * 3 * LMI_BLOCK + lane;
    q[0] = vf_load(at);
    q[1] = vf_load(at + LMI_BLOCK);
    q[2] = vf_load(at + 2 * LMI_BLOCK);
}

/* The sums every mode needs. Keeps m~ p of each row in `weighted` for the quadratic sums. */
static inline void gather_linear(const lmi_pack *pack, uint32_t b, uint32_t lane, float *moments, vf (*weighted)[3])
{
    const lmi_lane_block *block = &pack->block[b];
    vf from[4], sum[3], linear[9];
    vf_gather4(pack->x, pack->reference + (size_t)b * LMI_BLOCK + lane, from);
    for (int i = 0; i < 3; i++) {
        sum[i] = vf_set1(0.0f);
    }
    for (int i = 0; i < 9; i++) {
        linear[i] = vf_set1(0.0f);
    }
    for (uint32_t s = 0; s < block->rows; s++) {
        uint32_t row = block->first_row + s;
        vf at[4], q[3], p[3];
        vf_gather4(pack->x, pack->member + (size_t)row * LMI_BLOCK + lane, at);
        load_q(pack, row, lane, q);
        for (int i = 0; i < 3; i++) {
            p[i] = (at[i] - from[i]) * at[3];
            sum[i] = sum[i] + p[i];
            for (int j = 0; j < 3; j++) {
                linear[3 * i + j] = linear[3 * i + j] + p[i] * q[j];
            }
            if (weighted) {
                weighted[s][i] = p[i];
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        vf_store(moments + (LMI_MOMENT_SUM + i) * LMI_BLOCK, sum[i]);
    }
    for (int i = 0; i < 9; i++) {
        vf_store(moments + (LMI_MOMENT_LINEAR + i) * LMI_BLOCK, linear[i]);
    }
}

/* Rows `first` to `last` - 1 of the 3x6 quadratic sums. */
static inline void gather_quadratic(const lmi_pack *pack, uint32_t b, uint32_t lane, float *moments, vf (*weighted)[3],
                                    const int first, const int last)
{
    const lmi_lane_block *block = &pack->block[b];
    vf sums[3][6];
    for (int i = first; i < last; i++) {
        for (int j = 0; j < 6; j++) {
            sums[i][j] = vf_set1(0.0f);
        }
    }
    for (uint32_t s = 0; s < block->rows; s++) {
        vf q[3], products[6];
        load_q(pack, block->first_row + s, lane, q);
        quadratics(q, products);
        for (int i = first; i < last; i++) {
            vf p = weighted[s][i];
            for (int j = 0; j < 6; j++) {
                sums[i][j] = sums[i][j] + p * products[j];
            }
        }
    }
    for (int i = first; i < last; i++) {
        for (int j = 0; j < 6; j++) {
            vf_store(moments + (LMI_MOMENT_QUADRATIC + 6 * i + j) * LMI_BLOCK, sums[i][j]);
        }
    }
}

/* Adds the parts of divided regions together, part by part. */
static void join_parts(const lmi_pack *pack)
{
    uint32_t previous = LMI_NONE;
    for (uint32_t n = 0; n < pack->shares; n++) {
        lmi_share share = pack->share[n];
        uint32_t b = share.region / LMI_BLOCK;
        float *to = pack->moments + (size_t)b * LMI_MOMENTS * LMI_BLOCK + share.region % LMI_BLOCK;
        const float *from =
            pack->moments + (size_t)(share.part / LMI_BLOCK) * LMI_MOMENTS * LMI_BLOCK + share.part % LMI_BLOCK;
        int channels = pack->block[b].mode == LM_MODE_QUADRATIC ? LMI_MOMENTS : LMI_MOMENT_QUADRATIC;
        for (int c = 0; c < channels; c++) {
            to[c * LMI_BLOCK] =
                share.region == previous ? to[c * LMI_BLOCK] + from[c * LMI_BLOCK] : from[c * LMI_BLOCK];
        }
        previous = share.region;
    }
}

void LMI_KERNEL(gather_clusters)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    (void)step;
    (void)scratch;
    const lmi_pack *pack = &batch->pack;
    vf weighted[LMI_PART][3];
    for (uint32_t b = 0; b < pack->lane_blocks; b++) {
        if (pack->block[b].rows == 0) {
            continue;
        }
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            float *moments = pack->moments + (size_t)b * LMI_MOMENTS * LMI_BLOCK + lane;
            if (pack->block[b].mode != LM_MODE_QUADRATIC) {
                gather_linear(pack, b, lane, moments, NULL);
                continue;
            }
            gather_linear(pack, b, lane, moments, weighted);
#if LMI_REGISTERS == 32 /* 32 registers hold all 18 sums; 16 registers hold 6 */
            gather_quadratic(pack, b, lane, moments, weighted, 0, 3);
#else
            gather_quadratic(pack, b, lane, moments, weighted, 0, 1);
            gather_quadratic(pack, b, lane, moments, weighted, 1, 2);
            gather_quadratic(pack, b, lane, moments, weighted, 2, 3);
#endif
        }
    }
    join_parts(pack);
}

/* Gives each part its region's transform. */
static void spread_parts(const lmi_pack *pack)
{
    for (uint32_t n = 0; n < pack->shares; n++) {
        lmi_share share = pack->share[n];
        const float *from =
            pack->transforms + (size_t)(share.region / LMI_BLOCK) * LMI_MOMENTS * LMI_BLOCK + share.region % LMI_BLOCK;
        float *to =
            pack->transforms + (size_t)(share.part / LMI_BLOCK) * LMI_MOMENTS * LMI_BLOCK + share.part % LMI_BLOCK;
        for (int c = 0; c < LMI_MOMENTS; c++) {
            to[c * LMI_BLOCK] = from[c * LMI_BLOCK];
        }
    }
}

static inline void scatter_rows(const lmi_pack *pack, uint32_t b, uint32_t lane, const bool quadratic, float *goals)
{
    const lmi_lane_block *block = &pack->block[b];
    const float *transform = pack->transforms + (size_t)b * LMI_MOMENTS * LMI_BLOCK + lane;
    const vf stiffness = vf_load(pack->stiffness + (size_t)b * LMI_BLOCK + lane);
    vf t[LMI_MOMENTS];
    for (int c = 0; c < (quadratic ? LMI_MOMENTS : LMI_TRANSFORM_QUADRATIC); c++) {
        t[c] = vf_load(transform + c * LMI_BLOCK);
    }
    for (uint32_t s = 0; s < block->rows; s++) {
        uint32_t row = block->first_row + s;
        vf q[3], products[6], goal[3];
        load_q(pack, row, lane, q);
        quadratics(q, products);
        for (int i = 0; i < 3; i++) {
            const vf *linear = t + LMI_TRANSFORM_LINEAR + 3 * i;
            goal[i] = t[i] + ((linear[0] * q[0] + linear[1] * q[1]) + linear[2] * q[2]);
            if (quadratic) {
                const vf *bend = t + LMI_TRANSFORM_QUADRATIC + 6 * i;
                goal[i] = goal[i] + (((bend[0] * products[0] + bend[1] * products[1]) + bend[2] * products[2]) +
                                     ((bend[3] * products[3] + bend[4] * products[4]) + bend[5] * products[5]));
            }
        }
        vf_store4(goals + ((size_t)row * LMI_BLOCK + lane) * 4, goal[0], goal[1], goal[2], stiffness);
    }
}

void LMI_KERNEL(scatter_clusters)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    (void)step;
    const lmi_pack *pack = &batch->pack;
    spread_parts(pack);
    for (uint32_t b = 0; b < pack->lane_blocks; b++) {
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            if (pack->block[b].mode == LM_MODE_QUADRATIC) {
                scatter_rows(pack, b, lane, true, scratch->goals);
            } else {
                scatter_rows(pack, b, lane, false, scratch->goals);
            }
        }
    }
}
