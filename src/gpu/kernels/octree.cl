/*
 * Octrees: the hierarchical sums of octree/sum_octree.c, one work-item for each lane of its lists (octree/octree_lanes.h).
 *
 *   octree_up     virtual nodes of one height from particles and lower nodes          launched from below
 *   octree_match  regions: their few items summed, and the fit of clusters (cluster.cl); those with examples are summed before
 *                 (octree_moments), and fitted by examples.cl
 *   octree_pieces long lists of regions, which virtual nodes and particles have, some rows of one for each work-item
 *   octree_down   virtual nodes of one height from regions and the node above         launched from above
 *   octree_pull   particles: what pulls them, which `move` takes as it is
 *
 * With regional damping the same four go through once more with velocities in the place of positions; octree_match then finds
 * the velocity field of a region instead of its transform, and octree_pull adds what the particles lose.
 *
 * The lists of all octrees of a world are one after the other, virtual nodes first. Sums run in the order of the host's. A
 * launch reads what earlier ones wrote, and every lane writes a row of its own.
 */

#define ROW 16 /* floats of a node */

/* sum w p, sum w p o^T of a lane's items; positions are taken from `from`. */
static void octree_sums(uint4 lists, uint lane, float4 from, __global const uint *leaf, __global const float *leaf_offset,
                        __global const uint *node, __global const float *node_offset, __global const float4 *x,
                        __global const float *rows, float m[12])
{
    for (int i = 0; i < 12; i++) {
        m[i] = 0.0f;
    }
    for (uint row = lists.x; row < lists.x + lists.y; row++) {
        __global const float *offset = leaf_offset + row * 4 * LMI_BLOCK + lane;
        float4 at = x[leaf[row * LMI_BLOCK + lane]];
        float weight = offset[3 * LMI_BLOCK];
        const float p[3] = {(at.x - from.x) * weight, (at.y - from.y) * weight, (at.z - from.z) * weight};
        for (int i = 0; i < 3; i++) {
            m[i] = m[i] + p[i];
            for (int k = 0; k < 3; k++) {
                m[3 + 3 * i + k] = m[3 + 3 * i + k] + p[i] * offset[k * LMI_BLOCK];
            }
        }
    }
    for (uint row = lists.z; row < lists.z + lists.w; row++) {
        __global const float *offset = node_offset + row * 4 * LMI_BLOCK + lane;
        __global const float *r = rows + node[row * LMI_BLOCK + lane] * ROW;
        float weight = offset[3 * LMI_BLOCK];
        const float p[3] = {(r[0] - from.x) * weight, (r[1] - from.y) * weight, (r[2] - from.z) * weight};
        for (int i = 0; i < 3; i++) {
            m[i] = m[i] + p[i];
            for (int k = 0; k < 3; k++) {
                m[3 + 3 * i + k] = m[3 + 3 * i + k] + (r[3 + 3 * i + k] + p[i] * offset[k * LMI_BLOCK]);
            }
        }
    }
}

/* `order`: the blocks of one height; blocks.x is where a block's rows begin. */
__kernel void octree_up(uint first, uint count, __global const uint *order, __global const uint *first_row,
                        __global const uint4 *lists, __global const uint *leaf, __global const float *leaf_offset,
                        __global const uint *node, __global const float *node_offset, __global const uint *reference,
                        __global const float *inverse_weight, __global const float4 *x, __global float *rows)
{
    uint n = get_global_id(0);
    if (n >= count * LMI_BLOCK) {
        return;
    }
    uint block = order[first + n / LMI_BLOCK], lane = n % LMI_BLOCK, target = block * LMI_BLOCK + lane;
    float4 from = x[reference[target]];
    float m[12], inverse = inverse_weight[target];
    octree_sums(lists[block], lane, from, leaf, leaf_offset, node, node_offset, x, rows, m);
    __global float *row = rows + (first_row[block] + lane) * ROW;
    row[0] = from.x + m[0] * inverse;
    row[1] = from.y + m[1] * inverse;
    row[2] = from.z + m[2] * inverse;
    for (int i = 3; i < 12; i++) {
        row[i] = m[i];
    }
}

/* The velocity field of a region, as a transform: find_fields in octree/sum_octree.c. */
static void octree_field(const float q[12], float4 from, float inverse, const float *a, float t[12])
{
    const float *u = q + 3;
    float l[3], g[6], w[3];
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, k = (i + 2) % 3;
        const float *ai = a + 3 * i, *ap = a + 3 * p, *ak = a + 3 * k, *up = u + 3 * p, *uk = u + 3 * k;
        l[i] = ((ap[0] * uk[0] - ak[0] * up[0]) + (ap[1] * uk[1] - ak[1] * up[1])) + (ap[2] * uk[2] - ak[2] * up[2]);
        l[i] = l[i] * inverse;
        g[i] = (ai[0] * ai[0] + ai[1] * ai[1]) + ai[2] * ai[2];
        g[3 + i] = (ai[0] * ap[0] + ai[1] * ap[1]) + ai[2] * ap[2];
    }
    lmi_spin(g, l, w);
    t[0] = from.x + q[0] * inverse;
    t[1] = from.y + q[1] * inverse;
    t[2] = from.z + q[2] * inverse;
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, k = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            t[3 + 3 * i + j] = w[p] * a[3 * k + j] - w[k] * a[3 * p + j];
        }
    }
}

/* The moments of a region as the fit of clusters wants them, from its own frame f; positions are taken from `from`. */
static void octree_gather(uint4 lists, uint lane, float4 from, __global const uint *leaf, __global const float *leaf_offset,
                          __global const uint *node, __global const float *node_offset, __global const float *frame,
                          __global const float4 *x, __global const float *rows, float f[9], float q[LMI_MOMENTS])
{
    float m[12];
    octree_sums(lists, lane, from, leaf, leaf_offset, node, node_offset, x, rows, m);
    for (int i = 0; i < 9; i++) {
        f[i] = frame[i * LMI_BLOCK];
    }
    for (int i = 0; i < 3; i++) {
        q[i] = m[i];
        for (int j = 0; j < 3; j++) {
            q[LMI_MOMENT_LINEAR + 3 * i + j] = (m[3 + 3 * i] * f[j] + m[4 + 3 * i] * f[3 + j]) + m[5 + 3 * i] * f[6 + j];
        }
    }
}

/* A place behind the regions of a batch, without any. */
#define IS_EMPTY(region) ((region).z == LMI_GPU_NONE)

/* Of regions with examples: their moments, which examples.cl turns into transforms in the same place. */
__kernel void octree_moments(uint first_block, uint count, __global const uint4 *regions, __global const uint4 *lists,
                             __global const uint *leaf, __global const float *leaf_offset, __global const uint *node,
                             __global const float *node_offset, __global const float *frames, __global const float4 *x,
                             __global const float *rows, __global const uint4 *blocks, __global float *moments)
{
    uint n = get_global_id(0);
    if (n >= count * LMI_BLOCK || IS_EMPTY(regions[n / LMI_BLOCK]) ||
        !HAS_EXAMPLES(blocks[regions[n / LMI_BLOCK].y])) {
        return;
    }
    uint block = n / LMI_BLOCK, lane = n % LMI_BLOCK;
    float f[9], q[LMI_MOMENTS];
    for (int c = 0; c < LMI_MOMENTS; c++) {
        q[c] = 0.0f;
    }
    octree_gather(lists[first_block + block], lane, x[regions[block].x + lane], leaf, leaf_offset, node, node_offset,
                  frames + block * 9 * LMI_BLOCK + lane, x, rows, f, q);
    store_lane(q, regions[block].y * LMI_BLOCK + lane, moments);
}

/* regions: particle of a block's first region; its block in the pack; first row of its transforms. moments: the transforms of
 * regions with examples. */
__kernel void octree_match(uint first_block, uint count, uint velocities, __global const uint4 *regions,
                           __global const uint4 *lists, __global const uint *leaf, __global const float *leaf_offset,
                           __global const uint *node, __global const float *node_offset, __global const float *frames,
                           __global const float4 *x, __global const float *rows, __global const uint4 *blocks,
                           __global const float *constants, __global const float *extents, __global float *rotations,
                           __global float *plastics, __global const float4 *rates, __global const float *moments,
                           __global float *affine, __global float *transforms)
{
    uint n = get_global_id(0);
    if (n >= count * LMI_BLOCK || IS_EMPTY(regions[n / LMI_BLOCK])) {
        return;
    }
    uint block = n / LMI_BLOCK, lane = n % LMI_BLOCK, all = regions[block].y * LMI_BLOCK + lane;
    float4 from = x[regions[block].x + lane];
    float q[LMI_MOMENTS], t[LMI_MOMENTS], f[9];
    octree_gather(lists[first_block + block], lane, from, leaf, leaf_offset, node, node_offset,
                  frames + block * 9 * LMI_BLOCK + lane, x, rows, f, q);
    __global float *own = affine + n * 9;
    float inverse = constants[(all / LMI_BLOCK * LMI_CONSTANTS + LMI_CONSTANT_INVERSE_MASS) * LMI_BLOCK + lane];
    if (velocities) {
        float a[9], field[12];
        for (int i = 0; i < 9; i++) {
            a[i] = own[i];
        }
        octree_field(q, from, inverse, a, field);
        for (int i = 0; i < 12; i++) {
            t[i < 3 ? i : LMI_TRANSFORM_LINEAR + i - 3] = field[i];
        }
    } else {
        if (HAS_EXAMPLES(blocks[all / LMI_BLOCK])) {
            load_lane(moments, all, t);
        } else {
            fit_lane(blocks[all / LMI_BLOCK], all, q, from, constants, extents, rotations, plastics, rates, t);
        }
        for (int i = 0; i < 9; i++) {
            own[i] = q[LMI_MOMENT_LINEAR + i] * inverse;
        }
    }
    __global float *row = transforms + n * ROW;
    for (int i = 0; i < 3; i++) {
        const float *linear = t + LMI_TRANSFORM_LINEAR + 3 * i;
        row[i] = t[i];
        for (int k = 0; k < 3; k++) {
            row[3 + 3 * i + k] = (linear[0] * f[3 * k] + linear[1] * f[3 * k + 1]) + linear[2] * f[3 * k + 2];
        }
    }
}

/* What comes to a target at `at` from some rows of regions: pull (3), weight, transform (9). */
static void octree_regions(uint first, uint count, uint lane, const float at[3], __global const uint *region,
                           __global const float *region_offset, __global const float *transforms, float d[13])
{
    for (int i = 0; i < 13; i++) {
        d[i] = 0.0f;
    }
    for (uint row = first; row < first + count; row++) {
        __global const float *offset = region_offset + row * 4 * LMI_BLOCK + lane;
        __global const float *r = transforms + region[row * LMI_BLOCK + lane] * ROW;
        float weight = offset[3 * LMI_BLOCK];
        const float place[3] = {offset[0], offset[LMI_BLOCK], offset[2 * LMI_BLOCK]};
        for (int i = 0; i < 3; i++) {
            __global const float *linear = r + 3 + 3 * i;
            float turned = (linear[0] * place[0] + linear[1] * place[1]) + linear[2] * place[2];
            d[i] = d[i] + weight * ((r[i] - at[i]) + turned);
        }
        d[3] = d[3] + weight;
        for (int i = 0; i < 9; i++) {
            d[4 + i] = d[4 + i] + weight * r[3 + i];
        }
    }
}

/* pieces: block of the target, first row, rows. */
__kernel void octree_pieces(uint count, uint virtual_blocks, __global const uint4 *pieces, __global const uint *reference,
                            __global const uint *places, __global const uint *region, __global const float *region_offset,
                            __global const float *transforms, __global const float4 *x, __global float *rows)
{
    uint n = get_global_id(0);
    if (n >= count * LMI_BLOCK) {
        return;
    }
    uint4 piece = pieces[n / LMI_BLOCK];
    if (piece.z == 0) {
        return; /* of a place that nobody has */
    }
    uint lane = n % LMI_BLOCK, target = piece.x * LMI_BLOCK + lane;
    float4 here = x[piece.x < virtual_blocks ? reference[target] : places[target - virtual_blocks * LMI_BLOCK]];
    const float at[3] = {here.x, here.y, here.z};
    float d[13];
    octree_regions(piece.y, piece.z, lane, at, region, region_offset, transforms, d);
    for (int i = 0; i < 13; i++) {
        rows[n * ROW + i] = d[i];
    }
}

/* All that comes to a target at `at`. lists: first row of regions and rows, or first piece and pieces. */
static void octree_spread(uint4 lists, uint lane, const float at[3], __global const uint *region,
                          __global const float *region_offset, __global const float *transforms,
                          __global const float *pieces, __global const float *parent_offset, __global const float *above,
                          float d[13])
{
    octree_regions(lists.x, lists.y, lane, at, region, region_offset, transforms, d);
    for (uint n = lists.z; n < lists.z + lists.w; n++) {
        for (int i = 0; i < 13; i++) {
            d[i] = d[i] + pieces[(n * LMI_BLOCK + lane) * ROW + i];
        }
    }
    const float place[3] = {parent_offset[0], parent_offset[LMI_BLOCK], parent_offset[2 * LMI_BLOCK]};
    for (int i = 0; i < 3; i++) {
        __global const float *linear = above + 4 + 3 * i;
        float turned = (linear[0] * place[0] + linear[1] * place[1]) + linear[2] * place[2];
        d[i] = d[i] + ((above[i] + above[3] * (above[13 + i] - at[i])) + turned);
    }
    d[3] = d[3] + above[3];
    for (int i = 0; i < 9; i++) {
        d[4 + i] = d[4 + i] + above[4 + i];
    }
}

__kernel void octree_down(uint first, uint count, __global const uint *order, __global const uint *first_row,
                          __global const uint4 *lists, __global const uint *region, __global const float *region_offset,
                          __global const float *transforms, __global const float *pieces, __global const uint *parent,
                          __global const float *parent_offset, __global const uint *reference, __global const float4 *x,
                          __global float *rows)
{
    uint n = get_global_id(0);
    if (n >= count * LMI_BLOCK) {
        return;
    }
    uint block = order[first + n / LMI_BLOCK], lane = n % LMI_BLOCK, target = block * LMI_BLOCK + lane;
    float4 here = x[reference[target]];
    const float at[3] = {here.x, here.y, here.z};
    float d[13];
    octree_spread(lists[block], lane, at, region, region_offset, transforms, pieces,
                  parent_offset + block * 3 * LMI_BLOCK + lane, rows + parent[target] * ROW, d);
    __global float *row = rows + (first_row[block] + lane) * ROW;
    for (int i = 0; i < 13; i++) {
        row[i] = d[i];
    }
    for (int i = 0; i < 3; i++) {
        row[13 + i] = at[i];
    }
}

/* `bodies`: of each block, whose damping it is that velocities are taken out with. */
__kernel void octree_pull(uint first_block, uint count, uint velocities, double h, __global const uint4 *lists,
                          __global const uint *region, __global const float *region_offset,
                          __global const float *transforms, __global const float *pieces, __global const uint *parent,
                          __global const float *parent_offset, __global const uint *places, __global const float *shares,
                          __global const float4 *x, __global const float *rows, __global const uint4 *regions,
                          __global const lmi_gpu_body *bodies, __global float4 *pulls)
{
    uint n = get_global_id(0);
    if (n >= count * LMI_BLOCK || IS_EMPTY(regions[n / LMI_BLOCK])) {
        return;
    }
    uint block = first_block + n / LMI_BLOCK, lane = n % LMI_BLOCK;
    float4 here = x[places[n]];
    const float at[3] = {here.x, here.y, here.z};
    float d[13], share = shares[n];
    octree_spread(lists[block], lane, at, region, region_offset, transforms, pieces,
                  parent_offset + block * 3 * LMI_BLOCK + lane, rows + parent[block * LMI_BLOCK + lane] * ROW, d);
    float4 pull = (float4)(d[0] * share, d[1] * share, d[2] * share, 0.0f);
    if (velocities) { /* a pull that changes them by as much: load_octree in match/integrate.c */
        __global const lmi_gpu_body *b = bodies + regions[n / LMI_BLOCK].z;
        float by = b->regional && b->damping_regional > 0.0f ? (float)(b->damping_regional * h / b->alpha) : 0.0f;
        float4 known = pulls[places[n]];
        pull = (float4)(known.x + by * pull.x, known.y + by * pull.y, known.z + by * pull.z, 0.0f);
    }
    pulls[places[n]] = pull;
}
