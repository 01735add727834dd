/*
 * Lattices that flow, are damped region by region, have examples or are in several parts: their sums and their motion.
 *
 *   kind_moments   values of particles -> the 12 moments of each region             (lattice_fit of lattice.cl does the fit at once)
 *   kind_move      transforms of regions -> goals, integration, contact, measure
 *
 * Between the two, kinds.cl does what is done region by region: it needs the moments of positions and of velocities, and where
 * there are examples the moments of all regions before the first of them can be matched. So moments and transforms go to
 * memory, twelve floats each. Sums are those of lattice.cl; nothing is looked up ahead. Constants and lists are such a lattice's
 * own (kinds.cl).
 *
 * A body in several parts has tiles for each part by itself: they sum over whatever is there, as regions do, and move what
 * belongs to their part, so that what they measure is the part's own.
 */

/* Whether a place belongs to the part that a tile is for. */
static inline bool is_own(lmi_gpu_tile t, __global const uint *part_of, uint place)
{
    return t.list == LMI_GPU_NONE || part_of[place] == t.list;
}

/* values: of each place, and its weight. `velocities`: of bodies that are damped region by region in this substep; else all. */
__kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1))) void
kind_moments(__global const lmi_gpu_tile *restrict tiles, __global const lmi_gpu_body *restrict bodies,
             __global const lmi_gpu_matter *restrict matters, __global const uint *restrict part_of,
             __global const uint2 *restrict map, __global const uint2 *restrict irregular,
             __global const float4 *restrict corrections, __global const float4 *restrict values, uint velocities,
             __global float *restrict moments)
{
    __local float f[2][3 * WIDE * HIGH];
    const lmi_gpu_tile t = tiles[get_group_id(0)];
    __global const lmi_gpu_body *b = bodies + t.body;
    if (velocities && !(b->damping_regional > 0.0f)) {
        return; /* all of the group */
    }
    const int tx = get_local_id(0), ty = get_local_id(1), id = ty * TILE_X + tx;
    const int last = t.z + (int)t.planes, begin = max(t.z - W, 0);
    const int own = column_of(b, t.x + tx, t.y + ty), centre = (ty + W) * WIDE + tx + W;
    const uint room = matters[b->kind].room, own_lane = (uint)(t.x + tx) % LMI_BLOCK;
    float ring[TAPS][9];
#pragma unroll
    for (int k = 0; k < TAPS * 9; k++) {
        ring[k / 9][k % 9] = 0.0f;
    }
    for (int z = begin; z < last + W; z++) {
        __local float *plane = f[z & 1];
        for (int i = id; i < WIDE * HIGH; i += GROUP_SIZE) {
            const int hx = t.x + i % WIDE - W, hy = t.y + i / WIDE - W;
            const uint block = block_at(b, map, column_of(b, hx, hy), z);
            const float4 q = position_at(values + room * LMI_BLOCK, block, (uint)hx % LMI_BLOCK);
            plane[i] = q.w * q.x;
            plane[WIDE * HIGH + i] = q.w * q.y;
            plane[2 * WIDE * HIGH + i] = q.w * q.z;
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* the other plane is written next, which all have read by now */
#pragma unroll
        for (int k = 0; k + 1 < TAPS; k++) {
#pragma unroll
            for (int c = 0; c < 9; c++) {
                ring[k][c] = ring[k + 1][c];
            }
        }
        sum_plane(plane, centre, ring[2 * W]);
        const uint block = own_entry(b, map, own, z - W, t.z).x;
        if (block != LMI_GPU_NONE && is_own(t, part_of, (room + block) * LMI_BLOCK + own_lane)) {
            float m[12];
            sum_ring(ring, m);
            correct_moments(irregular[room + block], corrections, own_lane, m);
            for (int c = 0; c < 12; c++) {
                moments[((room + block) * 12 + c) * LMI_BLOCK + own_lane] = m[c];
            }
        }
    }
}

/* share_mover, with what changes velocities from the part, and what regional damping makes of it. */
static inline void share_kind_mover(__global const lmi_gpu_body *b, __global const lmi_gpu_body *part, int id, float h,
                                    __local float4 fixed[MOVER_VECTORS])
{
    if (id < 3) {
        fixed[id] = (float4)(b->forward[3 * id], b->forward[3 * id + 1], b->forward[3 * id + 2], part->push[id]);
        __local float *rest = (__local float *)(fixed + 3);
        rest[id] = part->whirl[id];
        rest[4 + id] = b->velocity[id];
        rest[8 + id] = b->shift[id];
        rest[3 + 4 * id] = id == 0 ? part->loss : id == 1 ? h : vf_min(b->alpha / h, 1e30f);
        fixed[6 + id] = (float4)(b->inverse[3 * id], b->inverse[3 * id + 1], b->inverse[3 * id + 2], b->middle[2]);
    }
}

static inline mover kind_mover_of(__global const lmi_gpu_body *b, __local const float4 fixed[MOVER_VECTORS])
{
    mover m = mover_of(fixed);
    m.damped = b->damping_regional;
    m.hold = 1.0f;
    if (m.damped > 0.0f) { /* the sums are of changes of velocity already: lattice_damped_change in lattice/lattice_damping.h */
        m.hold = m.rate;
        m.rate = 1.0f;
    }
    return m;
}

__kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1))) void
kind_move(__global const lmi_gpu_tile *restrict tiles, __global const lmi_gpu_body *restrict bodies,
          __global const lmi_gpu_matter *restrict matters, __global const lmi_gpu_body *restrict parts,
          __global const uint *restrict part_of, __global const uint2 *restrict map, __global const uint *restrict rows,
          __global const float *restrict constants, __global float4 *restrict x, __global float4 *restrict v,
          __global const float *restrict transforms, __global const uint2 *restrict corrected,
          __global const float4 *restrict corrections,
          __global const lmi_gpu_surface *restrict surfaces, __global float *restrict partials, float h)
{
    __local float room[LOCAL_FLOATS > HALF_CHANNELS * GROUP_SIZE ? LOCAL_FLOATS : HALF_CHANNELS * GROUP_SIZE];
    __local float4 fixed[MOVER_VECTORS];
    __local float *first = room, *second = room + FIRST_FLOATS;
    const lmi_gpu_tile t = tiles[get_group_id(0)];
    __global const lmi_gpu_body *b = bodies + t.body;
    const int tx = get_local_id(0), ty = get_local_id(1), id = ty * TILE_X + tx;
    const int last = t.z + (int)t.planes, begin = max(t.z - W, 0);
    const int own = column_of(b, t.x + tx, t.y + ty);
    const uint place = matters[b->kind].room, own_lane = (uint)(t.x + tx) % LMI_BLOCK, first_block = b->first / LMI_BLOCK;
    const float kx = (float)(t.x + tx - b->phase) - b->middle[0], ky = (float)(t.y + ty) - b->middle[1];
    float ring[TAPS][6];
    measured mine;
    share_kind_mover(b, t.list == LMI_GPU_NONE ? b : parts + t.list, id, h, fixed);
#pragma unroll
    for (int k = 0; k < TAPS * 6; k++) {
        ring[k / 6][k % 6] = 0.0f;
    }
#pragma unroll
    for (int i = 0; i < LMI_GPU_CHANNELS; i++) {
        mine.s[i] = i < LMI_GPU_LOWER ? 0.0f : i < LMI_GPU_UPPER ? 3e38f : -3e38f;
    }
    for (int z = begin; z < last + W; z++) {
        for (int i = id; i < WIDE * HIGH; i += GROUP_SIZE) {
            const int hx = t.x + i % WIDE - W, hy = t.y + i / WIDE - W;
            float q[REGION_FLOATS];
            region_at(transforms, block_at(b, map, column_of(b, hx, hy), z), place, (uint)hx % LMI_BLOCK, q);
#pragma unroll
            for (int c = 0; c < 12; c++) {
                first[c * WIDE * HIGH + i] = q[c];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        scatter_x(first, second, id);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k + 1 < TAPS; k++) {
#pragma unroll
            for (int c = 0; c < 6; c++) {
                ring[k][c] = ring[k + 1][c];
            }
        }
        scatter_y(second, tx, ty, ring[2 * W]);
        const uint block = own_entry(b, map, own, z - W, t.z).x, n = (first_block + block) * LMI_BLOCK + own_lane;
        if (block != LMI_GPU_NONE && v[n].w > 0.0f && is_own(t, part_of, (place + block) * LMI_BLOCK + own_lane)) {
            const mover by = kind_mover_of(b, fixed);
            float4 position = x[n], speed = v[n];
            const float k[3] = {kx, ky, (float)(z - W) - by.middle};
            float sum[3];
            sum_goals(ring, sum);
            correct_goals(corrected[place + block], own_lane, corrections, sum);
            move_particle(&by, k, sum, pull_at(constants, rows[place + block] + own_lane), b, surfaces, &position, &speed, &mine);
            x[n] = position;
            v[n] = speed;
        }
    }
    __local float *totals = (__local float *)fixed; /* which nobody reads any more */
    add_up(&mine, room, (uint)id, totals);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = (uint)id; c < LMI_GPU_CHANNELS; c += GROUP_SIZE) { /* thin bodies have small work-groups */
        partials[t.partial * LMI_GPU_CHANNELS + c] = totals[c];
    }
}
