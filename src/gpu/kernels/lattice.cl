/*
 * Lattices: gather and fit in one kernel, scatter and integrate in another. Between them a region is its own particle's goal
 * and a rotation, six floats (rigid), or twelve (linear).
 *
 * A work-group goes through a column of TILE_X by TILE_Y corners, plane by plane along z; a work-item has one column of its
 * own. What is summed along x and y comes from local memory, with the borders that neighbours have; what is summed along z
 * is kept in registers. Where a body has no particle the map of blocks has none, and nothing is loaded.
 *
 *   fit    plane of m~ u -> local memory -> 9 channels in x and y -> 2 W + 1 of those in registers -> 12 moments -> transform
 *   move   plane of transforms -> local memory -> x: 12 to 9 -> local memory -> y: 9 to 6 -> registers -> z: 6 to 3 -> x, v
 *
 * src/step/lattice_lanes.h has the same sums in another order, src/step/lattice_sweep.c the same integration. Barriers are
 * passed by all work-items alike, whatever is there; no sum depends on the order in which work-groups run.
 */

#define GROUP_SIZE (TILE_X * TILE_Y)
#define WIDE (TILE_X + 2 * W)
#define HIGH (TILE_Y + 2 * W)
#define LOADS ((WIDE * HIGH + GROUP_SIZE - 1) / GROUP_SIZE)
#define TAPS (2 * W + 1)

#ifdef LINEAR
#define REGION_FLOATS 12
#else
#define REGION_FLOATS 6
#endif

/* Where a work-item loads from in each plane: a place in the map of blocks, or none. */
static inline int column_of(__global const lmi_gpu_body *b, int x, int y)
{
    bool inside = x >= 0 && x < (int)(b->size[0] * LMI_BLOCK) && y >= 0 && y < (int)b->size[1];
    return inside ? y * (int)b->size[0] + x / LMI_BLOCK : -1;
}

static inline uint block_at(__global const lmi_gpu_body *b, __global const uint *map, int column, int z)
{
    if (column < 0 || z < 0 || z >= (int)b->size[2]) {
        return LMI_GPU_NONE;
    }
    return map[b->map + (uint)z * b->size[0] * b->size[1] + (uint)column];
}

/* u = F^T x / s - K */
static inline void local_of(__global const lmi_gpu_body *b, float4 p, float kx, float ky, float kz, float u[3])
{
    __global const float *m = b->inverse;
    float px = p.x - b->shift[0], py = p.y - b->shift[1], pz = p.z - b->shift[2];
    u[0] = ((m[0] * px + m[1] * py) + m[2] * pz) - kx;
    u[1] = ((m[3] * px + m[4] * py) + m[5] * pz) - ky;
    u[2] = ((m[6] * px + m[7] * py) + m[8] * pz) - kz;
}

/* --- fit --- */

/* Puts the moments of an irregular region right; returns its index among them, or none. */
static inline uint correct_moments(__global const uint *irregular, __global const float *corrections, uint block,
                                   uint lane, float m[12])
{
    uint lanes = irregular[2 * block + 1] & 0xffffu;
    if (!(lanes >> lane & 1u)) {
        return LMI_GPU_NONE;
    }
    uint owner = irregular[2 * block] + popcount(lanes & ((1u << lane) - 1u));
    bool direct = irregular[2 * block + 1] >> (16 + lane) & 1u;
    for (int i = 0; i < 12; i++) {
        float by = corrections[owner * LMI_BLOCK + i];
        m[i] = direct ? by : m[i] + by;
    }
    return direct ? owner | LMI_GPU_IRREGULAR : owner;
}

/* Moments to a transform: q, then the columns of T. `rotation` gets the rotation of a rigid one. */
static inline void fit_region(const float m[12], lattice_at constants, float beta, float out[12], vmat3 *rotation)
{
    vmat3 a = lattice_moment_matrix(m, constants);
    vmat3 r = region_rotation(a, constants);
    *rotation = r;
#ifdef LINEAR
    r = lattice_linear(a, r, r, constants, beta);
#endif
    lattice_transform(r, 1.0f, m, constants, out);
}

/* The region around a particle, from the sums of its planes: moments, transform, and what the second kernel reads of it. */
static inline void finish_region(float ring[TAPS][9], uint at, uint lane, float beta, uint code,
                                 __global const float *constants, __global float *regions,
                                 __global const uint *irregular, __global const float *corrections,
                                 __global float *kept)
{
    lattice_at mine = constants + (code & LMI_GPU_INDEX) * (LMI_LATTICE_CHANNELS * LMI_BLOCK) + lane;
    float m[12], out[12];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        float all = 0.0f, along_z = 0.0f, along_y = 0.0f, along_x = 0.0f;
#pragma unroll
        for (int k = 0; k < TAPS; k++) {
            all += ring[k][c];
            along_z += (float)(k - W) * ring[k][c];
            along_y += ring[k][3 + c];
            along_x += ring[k][6 + c];
        }
        m[c] = all, m[3 + c] = along_z, m[6 + c] = along_y, m[9 + c] = along_x;
    }
    uint owner = code & LMI_GPU_IRREGULAR ? correct_moments(irregular, corrections, at, lane, m) : LMI_GPU_NONE;
    vmat3 r;
    fit_region(m, mine, beta, out, &r);
    bool left_out = !(lattice_constant(mine + LMI_LATTICE_RHO * LMI_BLOCK) > 0.0f);
    if (owner != LMI_GPU_NONE) {
        left_out = left_out || (owner & LMI_GPU_IRREGULAR);
        for (int i = 0; i < 12; i++) {
            kept[(owner & LMI_GPU_INDEX) * LMI_BLOCK + i] = out[i];
        }
    }
#ifndef LINEAR
    pack_rotation(r, out + 3);
#endif
#pragma unroll
    for (int c = 0; c < REGION_FLOATS; c++) {
        regions[(at * REGION_FLOATS + c) * LMI_BLOCK + lane] = left_out ? 0.0f : out[c];
    }
}

__kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1))) void
lattice_fit(__global const lmi_gpu_tile *tiles, __global const lmi_gpu_body *bodies, __global const uint *map,
            __global const uint *constants_of, __global const float *constants, __global const float4 *x,
            __global float *regions, __global const uint *irregular, __global const float *corrections,
            __global float *kept)
{
    __local float f[2][3][WIDE * HIGH];
    const lmi_gpu_tile t = tiles[get_group_id(0)];
    __global const lmi_gpu_body *b = bodies + t.body;
    const int tx = get_local_id(0), ty = get_local_id(1), id = ty * TILE_X + tx;
    int column[LOADS];
    uint lane[LOADS];
    float kx[LOADS], ky[LOADS];
    for (int k = 0; k < LOADS; k++) {
        int i = id + k * GROUP_SIZE, hx = t.x + i % WIDE - W, hy = t.y + i / WIDE - W;
        column[k] = i < WIDE * HIGH ? column_of(b, hx, hy) : -1;
        lane[k] = (uint)hx % LMI_BLOCK;
        kx[k] = (float)(hx - b->phase) - b->middle[0];
        ky[k] = (float)hy - b->middle[1];
    }
    const int own = column_of(b, t.x + tx, t.y + ty), own_lane = (t.x + tx) % LMI_BLOCK;
    const int centre = (ty + W) * WIDE + tx + W;
    float ring[TAPS][9];
    for (int k = 0; k < TAPS; k++) {
        for (int c = 0; c < 9; c++) {
            ring[k][c] = 0.0f;
        }
    }
    for (int p = 0; p < (int)t.planes + 2 * W; p++) {
        const int z = t.z - W + p, buffer = p & 1;
        for (int k = 0; k < LOADS; k++) {
            uint block = block_at(b, map, column[k], z);
            float u[3] = {0.0f, 0.0f, 0.0f};
            if (block != LMI_GPU_NONE) {
                float4 q = x[b->first + block * LMI_BLOCK + lane[k]];
                local_of(b, q, kx[k], ky[k], (float)z - b->middle[2], u);
                u[0] *= q.w, u[1] *= q.w, u[2] *= q.w;
            }
            if (id + k * GROUP_SIZE < WIDE * HIGH) {
                for (int c = 0; c < 3; c++) {
                    f[buffer][c][id + k * GROUP_SIZE] = u[c];
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k + 1 < TAPS; k++) {
            for (int c = 0; c < 9; c++) {
                ring[k][c] = ring[k + 1][c];
            }
        }
        for (int c = 0; c < 3; c++) {
            float all = 0.0f, along_y = 0.0f, along_x = 0.0f;
            for (int dy = -W; dy <= W; dy++) {
                __local const float *row = f[buffer][c] + centre + dy * WIDE;
                float sum = row[0], moment = 0.0f;
                for (int k = 1; k <= W; k++) {
                    float low = row[-k], high = row[k];
                    sum += low + high;
                    moment += (float)k * (high - low);
                }
                all += sum;
                along_y += (float)dy * sum;
                along_x += moment;
            }
            ring[2 * W][c] = all;
            ring[2 * W][3 + c] = along_y;
            ring[2 * W][6 + c] = along_x;
        }
        const uint block = p >= 2 * W ? block_at(b, map, own, z - W) : LMI_GPU_NONE;
        if (block != LMI_GPU_NONE) {
            const uint at = b->first / LMI_BLOCK + block;
            finish_region(ring, at, (uint)own_lane, b->beta, constants_of[at], constants, regions, irregular, corrections,
                          kept);
        }
    }
}

/* --- move --- */

/* What one work-item adds up. */
typedef struct measured {
    float s[LMI_GPU_CHANNELS];
} measured;

static inline void measure_after(__global const lmi_gpu_body *b, const float x[3], const float v[3], float m, measured *to)
{
    float r[3], u[3];
    for (int i = 0; i < 3; i++) {
        r[i] = x[i] - b->centre[i];
        u[i] = m * (v[i] - b->velocity[i]);
        to->s[LMI_GPU_FIRST + i] += m * r[i];
        to->s[LMI_GPU_MOMENTUM + i] += u[i];
        to->s[LMI_GPU_SECOND + i] += m * r[i] * r[i];
    }
    to->s[LMI_GPU_MASS] += m;
    to->s[LMI_GPU_ANGULAR] += r[1] * u[2] - r[2] * u[1];
    to->s[LMI_GPU_ANGULAR + 1] += r[2] * u[0] - r[0] * u[2];
    to->s[LMI_GPU_ANGULAR + 2] += r[0] * u[1] - r[1] * u[0];
    to->s[LMI_GPU_SECOND + 3] += m * r[0] * r[1];
    to->s[LMI_GPU_SECOND + 4] += m * r[1] * r[2];
    to->s[LMI_GPU_SECOND + 5] += m * r[2] * r[0];
}

/* Outside forces, damping, pull and motion of a particle whose pull is d: accelerate_block in step/predict.c and move in
 * step/lattice_sweep.c. */
static inline void move_particle(__global const lmi_gpu_body *b, const float d[3], const float change[3], float h,
                                 float rate, float4 *at, float4 *speed, measured *to)
{
    float x[3] = {at->x - b->shift[0], at->y - b->shift[1], at->z - b->shift[2]}, v[3] = {speed->x, speed->y, speed->z};
    float r[3], p[3], m = speed->w;
    for (int i = 0; i < 3; i++) {
        r[i] = x[i] - b->drift_centre[i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        float turn = b->drift_spin[j] * r[k] - b->drift_spin[k] * r[j];
        v[i] = vf_clamp((v[i] - (b->drift_velocity[i] + turn)) + change[i], -LM_MAX_SPEED, LM_MAX_SPEED);
    }
    for (int i = 0; i < 3; i++) {
        r[i] = x[i] - b->centre[i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        float field = b->velocity[i] + (b->spin[j] * r[k] - b->spin[k] * r[j]);
        v[i] = v[i] + b->damping_now * (field - v[i]);
    }
    for (int i = 0; i < 3; i++) {
        p[i] = m * d[i];
        to->s[LMI_GPU_PULL + i] += p[i];
        v[i] = vf_clamp(v[i] + rate * d[i], -LM_MAX_SPEED, LM_MAX_SPEED);
        x[i] = vf_clamp(x[i] + h * (v[i] - b->velocity[i]), -LM_MAX_COORDINATE, LM_MAX_COORDINATE);
        to->s[LMI_GPU_LOWER + i] = vf_min(to->s[LMI_GPU_LOWER + i], x[i]);
        to->s[LMI_GPU_UPPER + i] = vf_max(to->s[LMI_GPU_UPPER + i], x[i]);
    }
    to->s[LMI_GPU_PULL + 3] += r[1] * p[2] - r[2] * p[1];
    to->s[LMI_GPU_PULL + 4] += r[2] * p[0] - r[0] * p[2];
    to->s[LMI_GPU_PULL + 5] += r[0] * p[1] - r[1] * p[0];
    *at = (float4)(x[0], x[1], x[2], at->w);
    *speed = (float4)(v[0], v[1], v[2], m);
}

static inline void meet_particle(__global const lmi_gpu_body *b, __global const lmi_gpu_surface *surfaces, float h,
                                 float4 *at, float4 *speed, measured *to)
{
    float x[3] = {at->x, at->y, at->z}, v[3] = {speed->x, speed->y, speed->z};
    if (b->surfaces) {
        const double origin[3] = {b->origin[0] + (double)b->velocity[0] * (double)h,
                                  b->origin[1] + (double)b->velocity[1] * (double)h,
                                  b->origin[2] + (double)b->velocity[2] * (double)h};
        to->s[LMI_GPU_TOUCHED] += (float)meet_surfaces(surfaces, b, origin, h, x, v);
        to->s[LMI_GPU_IMPULSE] += speed->w * (v[0] - speed->x);
        to->s[LMI_GPU_IMPULSE + 1] += speed->w * (v[1] - speed->y);
        to->s[LMI_GPU_IMPULSE + 2] += speed->w * (v[2] - speed->z);
        *at = (float4)(x[0], x[1], x[2], at->w);
        *speed = (float4)(v[0], v[1], v[2], speed->w);
    }
    measure_after(b, x, v, at->w > 0.0f ? speed->w : 0.0f, to);
}

/* Mean goal less position of a particle, in metres, from the sums of its planes. */
static inline void pull_of(__global const lmi_gpu_body *b, float ring[TAPS][6], const float u[3], float weight, uint at,
                           uint lane, uint code, __global const float *constants, __global const uint *corrected,
                           __global const float *corrections, float d[3])
{
    lattice_at its = constants + (code & LMI_GPU_INDEX) * (LMI_LATTICE_CHANNELS * LMI_BLOCK) + lane;
    float share = its[LMI_LATTICE_SHARE * LMI_BLOCK], hold = its[LMI_LATTICE_HOLD * LMI_BLOCK], sum[3], local_d[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        sum[c] = ring[W][c];
#pragma unroll
        for (int k = 1; k <= W; k++) {
            sum[c] += (ring[W - k][c] + ring[W + k][c]) - (float)k * (ring[W + k][3 + c] - ring[W - k][3 + c]);
        }
    }
    uint lanes = code & LMI_GPU_CORRECTED ? corrected[2 * at + 1] : 0;
    if (lanes >> lane & 1u) {
        uint owner = corrected[2 * at] + popcount(lanes & ((1u << lane) - 1u));
        bool listed = lanes >> (16 + lane) & 1u;
        for (int c = 0; c < 3; c++) {
            float by = corrections[owner * 4 + c];
            sum[c] = listed ? by : sum[c] + by;
        }
    }
#pragma unroll
    for (int c = 0; c < 3; c++) {
        local_d[c] = share * sum[c] - hold * (u[c] * weight);
    }
#pragma unroll
    for (int c = 0; c < 3; c++) {
        __global const float *row = b->forward + 3 * c;
        d[c] = (row[0] * local_d[0] + row[1] * local_d[1]) + row[2] * local_d[2];
    }
}

/* Adds what the work-items measured, always in the same order: a slice each, then the slices. */
#define HALF_CHANNELS (LMI_GPU_CHANNELS / 2)
#define SLICES (GROUP_SIZE / HALF_CHANNELS)

static inline float join(uint channel, float a, float b)
{
    return channel < LMI_GPU_LOWER ? a + b : channel < LMI_GPU_UPPER ? vf_min(a, b) : vf_max(a, b);
}

static inline __attribute__((always_inline)) void add_up(const measured *mine, __local float *slots, uint id, __global float *to)
{
    for (uint part = 0; part < 2; part++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint c = 0; c < HALF_CHANNELS; c++) {
            slots[c * GROUP_SIZE + id] = part ? mine->s[HALF_CHANNELS + c] : mine->s[c];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint c = id / SLICES, slice = id % SLICES, channel = part * HALF_CHANNELS + c;
        __local float *from = slots + c * GROUP_SIZE;
        float sum = from[slice];
        for (uint n = slice + SLICES; n < GROUP_SIZE; n += SLICES) {
            sum = join(channel, sum, from[n]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        from[slice] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice == 0) {
            for (uint n = 1; n < SLICES; n++) {
                sum = join(channel, sum, from[n]);
            }
            to[channel] = sum;
        }
    }
}

#define FIRST_FLOATS (12 * WIDE * HIGH)
#define SECOND_FLOATS (9 * TILE_X * HIGH)
#define LOCAL_FLOATS (FIRST_FLOATS + SECOND_FLOATS)

__kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1))) void
lattice_move(__global const lmi_gpu_tile *tiles, __global const lmi_gpu_body *bodies, __global const uint *map,
             __global const uint *constants_of, __global const float *constants, __global float4 *x,
             __global float4 *v, __global const float *regions, __global const uint *corrected,
             __global const float *corrections, __global const lmi_gpu_surface *surfaces, __global float *partials,
             float h, float change_x, float change_y, float change_z)
{
    __local float room[LOCAL_FLOATS > HALF_CHANNELS * GROUP_SIZE ? LOCAL_FLOATS : HALF_CHANNELS * GROUP_SIZE];
    __local float *first = room, *second = room + FIRST_FLOATS;
    const lmi_gpu_tile t = tiles[get_group_id(0)];
    __global const lmi_gpu_body *b = bodies + t.body;
    const int tx = get_local_id(0), ty = get_local_id(1), id = ty * TILE_X + tx;
    const float change[3] = {change_x, change_y, change_z}, rate = vf_min(b->alpha / h, 1e30f);
    int column[LOADS];
    uint lane[LOADS];
    for (int k = 0; k < LOADS; k++) {
        int i = id + k * GROUP_SIZE, hx = t.x + i % WIDE - W, hy = t.y + i / WIDE - W;
        column[k] = i < WIDE * HIGH ? column_of(b, hx, hy) : -1;
        lane[k] = (uint)hx % LMI_BLOCK;
    }
    const int own = column_of(b, t.x + tx, t.y + ty), own_lane = (t.x + tx) % LMI_BLOCK;
    const float kx = (float)(t.x + tx - b->phase) - b->middle[0], ky = (float)(t.y + ty) - b->middle[1];
    float ring[TAPS][6];
    measured mine;
    for (int k = 0; k < TAPS * 6; k++) {
        ring[k / 6][k % 6] = 0.0f;
    }
    for (int i = 0; i < LMI_GPU_CHANNELS; i++) {
        mine.s[i] = i < LMI_GPU_LOWER ? 0.0f : i < LMI_GPU_UPPER ? 3e38f : -3e38f;
    }
    for (int p = 0; p < (int)t.planes + 2 * W; p++) {
        const int z = t.z - W + p;
        for (int k = 0; k < LOADS; k++) {
            uint block = block_at(b, map, column[k], z);
            float q[12];
            for (int c = 0; c < 12; c++) {
                q[c] = 0.0f;
            }
            if (block != LMI_GPU_NONE) {
                uint at = b->first / LMI_BLOCK + block;
                __global const float *from = regions + at * (REGION_FLOATS * LMI_BLOCK) + lane[k];
                for (int c = 0; c < REGION_FLOATS; c++) {
                    q[c] = from[c * LMI_BLOCK];
                }
#ifndef LINEAR
                lattice_at its = constants + (constants_of[at] & LMI_GPU_INDEX) * (LMI_LATTICE_CHANNELS * LMI_BLOCK) + lane[k];
                unpack_rotation(q[3], q[4], q[5], its[LMI_LATTICE_RHO * LMI_BLOCK], q + 3);
#endif
            }
            if (id + k * GROUP_SIZE < WIDE * HIGH) {
                for (int c = 0; c < 12; c++) {
                    first[c * WIDE * HIGH + id + k * GROUP_SIZE] = q[c];
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = id; i < TILE_X * HIGH; i += GROUP_SIZE) {
            __local const float *from = first + i / TILE_X * WIDE + i % TILE_X + W;
            for (int c = 0; c < 3; c++) {
                __local const float *q = from + c * WIDE * HIGH, *tilt = q + 3 * WIDE * HIGH;
                __local const float *ty_ = q + 6 * WIDE * HIGH, *tz_ = q + 9 * WIDE * HIGH;
                float sum = q[0], sum_y = ty_[0], sum_z = tz_[0];
                for (int k = 1; k <= W; k++) {
                    sum += (q[-k] + q[k]) - (float)k * (tilt[k] - tilt[-k]);
                    sum_y += ty_[-k] + ty_[k];
                    sum_z += tz_[-k] + tz_[k];
                }
                second[c * TILE_X * HIGH + i] = sum;
                second[(3 + c) * TILE_X * HIGH + i] = sum_y;
                second[(6 + c) * TILE_X * HIGH + i] = sum_z;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k + 1 < TAPS; k++) {
            for (int c = 0; c < 6; c++) {
                ring[k][c] = ring[k + 1][c];
            }
        }
        for (int c = 0; c < 3; c++) {
            __local const float *q = second + c * TILE_X * HIGH + (ty + W) * TILE_X + tx;
            __local const float *tilt = q + 3 * TILE_X * HIGH, *tz_ = q + 6 * TILE_X * HIGH;
            float sum = q[0], sum_z = tz_[0];
            for (int k = 1; k <= W; k++) {
                sum += (q[-k * TILE_X] + q[k * TILE_X]) - (float)k * (tilt[k * TILE_X] - tilt[-k * TILE_X]);
                sum_z += tz_[-k * TILE_X] + tz_[k * TILE_X];
            }
            ring[2 * W][c] = sum;
            ring[2 * W][3 + c] = sum_z;
        }
        const uint block = p >= 2 * W ? block_at(b, map, own, z - W) : LMI_GPU_NONE;
        if (block != LMI_GPU_NONE) {
            const uint at = b->first / LMI_BLOCK + block, particle = at * LMI_BLOCK + (uint)own_lane;
            float4 place = x[particle], speed = v[particle];
            if (speed.w > 0.0f) {
                float d[3], u[3];
                const uint code = constants_of[at];
                local_of(b, place, kx, ky, (float)(z - W) - b->middle[2], u);
                pull_of(b, ring, u, place.w, at, (uint)own_lane, code, constants, corrected, corrections, d);
                move_particle(b, d, change, h, rate, &place, &speed, &mine);
                meet_particle(b, surfaces, h, &place, &speed, &mine);
                x[particle] = place;
                v[particle] = speed;
            }
        }
    }
    add_up(&mine, room, (uint)id, partials + t.partial * LMI_GPU_CHANNELS);
}

/* --- irregular regions, from lists (sample/lattice.h) --- */

/* One work-item for each lane of a group of lists. */
__kernel void lattice_gather_lists(uint lanes, __global const uint *group_body, __global const uint *group_row, __global const uint *who,
                                   __global const int *corner, __global const uint *member, __global const float *offset,
                                   __global const lmi_gpu_body *bodies, __global const float4 *x, __global float *corrections)
{
    uint n = get_global_id(0), group = n / LMI_BLOCK, lane = n % LMI_BLOCK;
    if (n >= lanes || who[n] == LMI_GPU_NONE) {
        return;
    }
    __global const lmi_gpu_body *b = bodies + group_body[group];
    uint owner = who[n];
    float middle[3], sums[12];
    for (int i = 0; i < 3; i++) {
        middle[i] = (float)corner[owner * 3 + i] - b->middle[i];
    }
    for (int i = 0; i < 12; i++) {
        sums[i] = 0.0f;
    }
    for (uint row = group_row[group]; row < group_row[group + 1]; row++) {
        __global const float *o = offset + row * 4 * LMI_BLOCK + lane;
        float4 at = x[b->first + member[row * LMI_BLOCK + lane]];
        float k[3] = {o[0], o[LMI_BLOCK], o[2 * LMI_BLOCK]}, u[3], weight = at.w * o[3 * LMI_BLOCK];
        local_of(b, at, middle[0] + k[0], middle[1] + k[1], middle[2] + k[2], u);
        for (int i = 0; i < 3; i++) {
            float p = u[i] * weight;
            sums[i] += p;
            sums[3 + i] += p * k[2];
            sums[6 + i] += p * k[1];
            sums[9 + i] += p * k[0];
        }
    }
    for (int i = 0; i < 12; i++) {
        corrections[owner * LMI_BLOCK + i] = sums[i];
    }
}

__kernel void lattice_scatter_lists(uint lanes, __global const uint *group_row, __global const uint *who,
                                    __global const uint *member, __global const float *offset,
                                    __global const float *kept, __global float *corrections)
{
    uint n = get_global_id(0), group = n / LMI_BLOCK, lane = n % LMI_BLOCK;
    if (n >= lanes || who[n] == LMI_GPU_NONE) {
        return;
    }
    float sums[3] = {0.0f, 0.0f, 0.0f};
    for (uint row = group_row[group]; row < group_row[group + 1]; row++) {
        __global const float *o = offset + row * 4 * LMI_BLOCK + lane;
        __global const float *t = kept + member[row * LMI_BLOCK + lane] * LMI_BLOCK;
        float sign = o[3 * LMI_BLOCK];
        for (int i = 0; i < 3; i++) {
            float move = (t[3 + i] * o[0] + t[6 + i] * o[LMI_BLOCK]) + t[9 + i] * o[2 * LMI_BLOCK];
            sums[i] += sign * (t[i] + move);
        }
    }
    for (int i = 0; i < 3; i++) {
        corrections[who[n] * 4 + i] = sums[i];
    }
}
