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
 * src/lattice/lattice_lanes.h has the same sums in another order, src/lattice/lattice_sweep.c the same integration. Barriers are
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

/* What the map has there: the block, and where its constants are (constants_of). */
static inline uint2 entry_at(__global const lmi_gpu_body *b, __global const uint2 *map, int column, int z)
{
    if (column < 0 || z < 0 || z >= (int)b->size[2]) {
        return (uint2)(LMI_GPU_NONE, 0u);
    }
    return map[b->map + (uint)z * b->size[0] * b->size[1] + (uint)column];
}

static inline uint block_at(__global const lmi_gpu_body *b, __global const uint2 *map, int column, int z)
{
    return entry_at(b, map, column, z).x;
}

/* The same for a work-item's own column, from the first plane of its tile on. */
static inline uint2 own_entry(__global const lmi_gpu_body *b, __global const uint2 *map, int column, int z, int from)
{
    return z >= from ? entry_at(b, map, column, z) : (uint2)(LMI_GPU_NONE, 0u);
}

/* Which constants a lane of a block has, and whether it is irregular or put right. */
static inline uint kind_at(__global const uint *kinds, uint code, uint lane) { return kinds[code * LMI_BLOCK + lane]; }

/* The marks of a block: the first of its irregular regions, or of its particles whose sums are put right, and which lanes have
 * one. None where the region has none, and in programs for bodies without any. */
static inline uint2 marks_at(__global const uint2 *marks, uint kind, uint flag, uint block)
{
#ifdef LISTS
    return kind & flag ? marks[block] : (uint2)(0u, 0u);
#else
    return (uint2)(0u, 0u);
#endif
}

/* A region's constants: loaded, or where a linear fit finds them. */
static inline lattice_at constants_at(__global const float *constants, uint kind, float room[16])
{
#ifdef LINEAR
    return constants + (kind & LMI_GPU_INDEX) * LATTICE_ROW;
#else
    __global const float4 *from = (__global const float4 *)(constants + (kind & LMI_GPU_INDEX) * LATTICE_ROW);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float4 four = from[k];
        room[4 * k] = four.x, room[4 * k + 1] = four.y, room[4 * k + 2] = four.z, room[4 * k + 3] = four.w;
    }
    return room;
#endif
}

/* A block where there is one, else the body's first: what is read there is not used. */
static inline uint some_block(uint first_block, uint block) { return first_block + (block != LMI_GPU_NONE ? block : 0u); }

/* A particle, or one that weighs nothing. */
static inline float4 position_at(__global const float4 *x, uint block, uint lane)
{
    return block != LMI_GPU_NONE ? x[lane + block * LMI_BLOCK] : (float4)(0.0f, 0.0f, 0.0f, 0.0f);
}

/* --- fit --- */

/* Puts the moments of an irregular region right; returns its index among them, or none. */
static inline uint correct_moments(uint2 marks, __global const float4 *corrections, uint lane, float m[12])
{
    if (!(marks.y >> lane & 1u)) {
        return LMI_GPU_NONE;
    }
    const uint owner = marks.x + popcount(marks.y & ((1u << lane) - 1u));
    const bool direct = marks.y >> (16 + lane) & 1u;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const float4 four = corrections[owner * (LMI_BLOCK / 4) + k];
        const float by[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            m[4 * k + i] = direct ? by[i] : m[4 * k + i] + by[i];
        }
    }
    return direct ? owner | LMI_GPU_IRREGULAR : owner;
}

/* Moments to a transform: q, then the columns of T. `rotation` gets the rotation of a rigid one. */
static inline void fit_region(const float m[12], lattice_at constants, lmi_follow follow, float out[12], vmat3 *rotation)
{
    vmat3 a = lattice_moment_matrix(m, constants);
    vmat3 r = region_rotation(a, constants);
    *rotation = r;
#ifdef LINEAR
    r = lattice_linear(a, r, r, constants, follow);
#endif
    lattice_transform(r, 1.0f, m, constants, out);
}

/* The transform of a region from its moments, after they are put right where it is irregular. Returns whether the sums take
 * it; `rotation` as in fit_region. */
static inline bool finish_moments(float m[12], uint lane, lmi_follow follow, uint2 marks, lattice_at mine,
                                  __global const float4 *corrections, __global float4 *kept, float out[12],
                                  vmat3 *rotation)
{
    const uint owner = correct_moments(marks, corrections, lane, m);
    fit_region(m, mine, follow, out, rotation);
    bool left_out = !(lattice_constant(mine + LMI_LATTICE_RHO) > 0.0f);
    if (owner != LMI_GPU_NONE) {
        left_out = left_out || (owner & LMI_GPU_IRREGULAR);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            kept[(owner & LMI_GPU_INDEX) * (LMI_BLOCK / 4) + k] =
                (float4)(out[4 * k], out[4 * k + 1], out[4 * k + 2], out[4 * k + 3]);
        }
    }
    return !left_out;
}

/* The moments of a region from the sums of its planes. */
static inline void sum_ring(float ring[TAPS][9], float m[12])
{
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
}

/* The region around a particle, from the sums of its planes: moments, transform, and what the second kernel reads of it. */
static inline void finish_region(float ring[TAPS][9], uint at, uint lane, lmi_follow follow, uint2 marks, lattice_at mine,
                                 __global float *regions, __global const float4 *corrections, __global float4 *kept)
{
    float m[12], out[12];
    sum_ring(ring, m);
    vmat3 r;
    bool taken = finish_moments(m, lane, follow, marks, mine, corrections, kept, out, &r);
#ifndef LINEAR
    pack_rotation(r, out + 3);
#endif
#pragma unroll
    for (int c = 0; c < REGION_FLOATS; c++) {
        regions[(at * REGION_FLOATS + c) * LMI_BLOCK + lane] = taken ? out[c] : 0.0f;
    }
}

/* Sums over x and y of a plane that is in local memory: of all, and with y and x as factors. */
static inline void sum_plane(__local const float *f, int centre, float to[9])
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        float all = 0.0f, along_y = 0.0f, along_x = 0.0f;
#pragma unroll
        for (int dy = -W; dy <= W; dy++) {
            __local const float *row = f + c * WIDE * HIGH + centre + dy * WIDE;
            float sum = row[0], moment = 0.0f;
#pragma unroll
            for (int k = 1; k <= W; k++) {
                float low = row[-k], high = row[k];
                sum += low + high;
                moment += (float)k * (high - low);
            }
            all += sum;
            along_y += (float)dy * sum;
            along_x += moment;
        }
        to[c] = all, to[3 + c] = along_y, to[6 + c] = along_x;
    }
}

/* What turns positions into u, for all work-items of a group: kept in local memory, because registers are what limits how
 * many groups are at work at once. Rows of F^T / s with what the origin's shift adds, and the middle. */
static inline void share_frame(__global const lmi_gpu_body *b, int id, __local float4 fixed[4])
{
    if (id < 3) {
        __global const float *m = b->inverse + 3 * id;
        float shift = (m[0] * b->shift[0] + m[1] * b->shift[1]) + m[2] * b->shift[2];
        fixed[id] = (float4)(m[0], m[1], m[2], shift);
    } else if (id == 3) {
        fixed[3] = (float4)(b->middle[0], b->middle[1], b->middle[2], 0.0f);
    }
}

#if CELLS == 0 && !defined(KINDS) /* else whole bodies are stepped at once: small.cl; or kind_tiles.cl has its own */

__kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1))) void
lattice_fit(__global const lmi_gpu_tile *restrict tiles, __global const lmi_gpu_body *restrict bodies,
            __global const uint2 *restrict map, __global const uint *restrict kinds,
            __global const float *restrict constants, __global const float4 *restrict x,
            __global float *restrict regions, __global const uint2 *restrict irregular,
            __global const lmi_gpu_list *restrict lists, __global const uint2 *restrict entries,
            __global float4 *restrict corrections, __global float4 *restrict kept)
{
    __local float f[2][3 * WIDE * HIGH];
    __local float4 fixed[4];
    const lmi_gpu_tile t = tiles[get_group_id(0)];
    __global const lmi_gpu_body *b = bodies + t.body;
    const int tx = get_local_id(0), ty = get_local_id(1), id = ty * TILE_X + tx;
    const int last = t.z + (int)t.planes, begin = max(t.z - W, 0);
    const int own = column_of(b, t.x + tx, t.y + ty), centre = (ty + W) * WIDE + tx + W;
    const uint own_lane = (uint)(t.x + tx) % LMI_BLOCK, first_block = b->first / LMI_BLOCK;
    const lmi_follow follow = {b->beta, b->beyond};
    float kx[LOADS], ky[LOADS], ring[TAPS][9];
    int column[LOADS];
    uint lane[LOADS], ahead[LOADS];
    float4 next[LOADS]; /* of the plane to come: loads are under way while this one is summed */
    /* The region that is finished with plane z is in plane z - W: its block is looked up two planes before, and the index of
     * its constants one. */
    uint2 coming = own_entry(b, map, own, begin - W, t.z);
    uint block = coming.x, kind = kind_at(kinds, coming.y, own_lane);
    coming = own_entry(b, map, own, begin - W + 1, t.z);
    share_frame(b, id, fixed);
#ifdef LISTS
    for (uint n = (uint)id; n < t.lists; n += GROUP_SIZE) {
        gather_list(lists[t.list + n], entries, b, x, corrections);
    }
#endif
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        int i = id + k * GROUP_SIZE, hx = t.x + i % WIDE - W, hy = t.y + i / WIDE - W;
        column[k] = i < WIDE * HIGH ? column_of(b, hx, hy) : -1;
        lane[k] = b->first + (uint)hx % LMI_BLOCK;
        kx[k] = (float)(hx - b->phase);
        ky[k] = (float)hy;
        next[k] = position_at(x, block_at(b, map, column[k], begin), lane[k]);
        ahead[k] = block_at(b, map, column[k], begin + 1);
    }
#pragma unroll
    for (int k = 0; k < TAPS * 9; k++) {
        ring[k / 9][k % 9] = 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int z = begin; z < last + W; z++) {
        __local float *plane = f[z & 1];
        const float4 mx = fixed[0], my = fixed[1], mz = fixed[2], middle = fixed[3];
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            float4 q = next[k];
            if (id + k * GROUP_SIZE < WIDE * HIGH) {
                __local float *to = plane + id + k * GROUP_SIZE;
                to[0] = q.w * (((mx.x * q.x + mx.y * q.y) + mx.z * q.z) - ((kx[k] - middle.x) + mx.w));
                to[WIDE * HIGH] = q.w * (((my.x * q.x + my.y * q.y) + my.z * q.z) - ((ky[k] - middle.y) + my.w));
                to[2 * WIDE * HIGH] = q.w * (((mz.x * q.x + mz.y * q.y) + mz.z * q.z) - (((float)z - middle.z) + mz.w));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint coming_kind = kind_at(kinds, coming.y, own_lane);
        const uint2 later = own_entry(b, map, own, z + 2 - W, t.z);
        const uint at = first_block + block;
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            next[k] = position_at(x, ahead[k], lane[k]);
            ahead[k] = block_at(b, map, column[k], z + 2);
        }
#pragma unroll
        for (int k = 0; k + 1 < TAPS; k++) {
#pragma unroll
            for (int c = 0; c < 9; c++) {
                ring[k][c] = ring[k + 1][c];
            }
        }
        sum_plane(plane, centre, ring[2 * W]);
        if (block != LMI_GPU_NONE) {
            float room[16];
            const uint2 marks = marks_at(irregular, kind, LMI_GPU_IRREGULAR, at);
            finish_region(ring, at, own_lane, follow, marks, constants_at(constants, kind, room), regions, corrections, kept);
        }
        block = coming.x, coming = later, kind = coming_kind;
    }
}

#endif

/* --- move --- */

/* What one work-item adds up. */
typedef struct measured {
    float s[LMI_GPU_CHANNELS];
} measured;

/* What moves the particles of a body, the same for all of them. */
typedef struct mover {
    float forward[9];              /* F s */
    float inverse[9];              /* F^T / s */
    float middle;                  /* of the lattice, along z */
    float loss, push[3], whirl[3]; /* v <- v + (push + whirl x position - loss v): forces, drift and damping */
    float carry[3], shift[3];
    float h, rate;
#ifdef KINDS
    float hold, damped; /* the rate by which a particle is held where it is, and the share of its velocity that it loses */
#endif
} mover;

/* It is kept in local memory, as in share_frame, nine vectors. */
#define MOVER_VECTORS 9

static inline void share_mover(__global const lmi_gpu_body *b, int id, float h, __local float4 fixed[MOVER_VECTORS])
{
    if (id < 3) { /* a row of F s, and parts of the others beside it */
        fixed[id] = (float4)(b->forward[3 * id], b->forward[3 * id + 1], b->forward[3 * id + 2], b->push[id]);
        __local float *rest = (__local float *)(fixed + 3);
        rest[id] = b->whirl[id];
        rest[4 + id] = b->velocity[id];
        rest[8 + id] = b->shift[id];
        rest[3 + 4 * id] = id == 0 ? b->loss : id == 1 ? h : vf_min(b->alpha / h, 1e30f);
        fixed[6 + id] = (float4)(b->inverse[3 * id], b->inverse[3 * id + 1], b->inverse[3 * id + 2], b->middle[2]);
    }
}

static inline mover mover_of(__local const float4 fixed[MOVER_VECTORS])
{
    mover m;
    const float4 whirl = fixed[3], carry = fixed[4], shift = fixed[5];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const float4 row = fixed[i], back = fixed[6 + i];
        m.forward[3 * i] = row.x, m.forward[3 * i + 1] = row.y, m.forward[3 * i + 2] = row.z, m.push[i] = row.w;
        m.inverse[3 * i] = back.x, m.inverse[3 * i + 1] = back.y, m.inverse[3 * i + 2] = back.z, m.middle = back.w;
    }
    m.whirl[0] = whirl.x, m.whirl[1] = whirl.y, m.whirl[2] = whirl.z, m.loss = whirl.w;
    m.carry[0] = carry.x, m.carry[1] = carry.y, m.carry[2] = carry.z, m.h = carry.w;
    m.shift[0] = shift.x, m.shift[1] = shift.y, m.shift[2] = shift.z, m.rate = shift.w;
    return m;
}

/* The share of each of its regions in a particle's pull, and what holds it: LMI_LATTICE_SHARE and _HOLD. */
static inline float2 pull_at(__global const float *constants, uint kind)
{
    return *(__global const float2 *)(constants + (kind & LMI_GPU_INDEX) * LATTICE_ROW + LMI_LATTICE_SHARE);
}

/* Sums of a particle where it is now, from the body's origin. */
static inline void measure_after(const float x[3], const float u[3], float mass, measured *to)
{
    const float p[3] = {mass * u[0], mass * u[1], mass * u[2]}, q[3] = {mass * x[0], mass * x[1], mass * x[2]};
    to->s[LMI_GPU_MASS] += mass;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        to->s[LMI_GPU_FIRST + i] += q[i];
        to->s[LMI_GPU_MOMENTUM + i] += p[i];
        to->s[LMI_GPU_ANGULAR + i] += x[j] * p[k] - x[k] * p[j];
        to->s[LMI_GPU_SECOND + i] += q[i] * x[i];
        to->s[LMI_GPU_SECOND + 3 + i] += q[i] * x[j];
    }
}

/* Puts the sum of a particle's goals right where regions are irregular. */
static inline void correct_goals(uint2 marks, uint lane, __global const float4 *corrections, float sum[3])
{
    if (marks.y >> lane & 1u) {
        const float4 by = corrections[marks.x + popcount(marks.y & ((1u << lane) - 1u))];
        const bool listed = marks.y >> (16 + lane) & 1u;
        sum[0] = listed ? by.x : sum[0] + by.x;
        sum[1] = listed ? by.y : sum[1] + by.y;
        sum[2] = listed ? by.z : sum[2] + by.z;
    }
}

/* The sum of what its regions want of a particle, from those of its planes. */
static inline void sum_goals(float ring[TAPS][6], float sum[3])
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        sum[c] = ring[W][c];
#pragma unroll
        for (int k = 1; k <= W; k++) {
            sum[c] += (ring[W - k][c] + ring[W + k][c]) - (float)k * (ring[W + k][3 + c] - ring[W - k][3 + c]);
        }
    }
}

/* Forces, damping, pull and motion of a particle: accelerate_block in match/predict.c and move in lattice/lattice_sweep.c. The
 * pull is alpha times F s (share sum - hold m~ u), with `of` share and hold. u comes from the position in the way of the fit:
 * F s u would be the position less that of the rest shape, but F s and F^T / s are each rounded, and the two ways then differ
 * by a rounding that all particles have in common, which moves a body that is held. */
static inline void move_particle(const mover *m, const float k[3], const float sum[3], float2 of,
                                 __global const lmi_gpu_body *b, __global const lmi_gpu_surface *surfaces, float4 *at,
                                 float4 *speed, measured *to)
{
    float x[3] = {at->x - m->shift[0], at->y - m->shift[1], at->z - m->shift[2]}, v[3] = {speed->x, speed->y, speed->z};
    float d[3], p[3], u[3];
#ifdef KINDS
    const float hold = of.y * at->w * m->hold;
#else
    const float hold = of.y * at->w;
#endif
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int p = (i + 1) % 3, q = (i + 2) % 3;
        v[i] = v[i] + ((m->push[i] + (m->whirl[p] * x[q] - m->whirl[q] * x[p])) - m->loss * v[i]);
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        float along = (m->inverse[3 * i] * x[0] + m->inverse[3 * i + 1] * x[1]) + m->inverse[3 * i + 2] * x[2];
        u[i] = of.x * sum[i] - hold * (along - k[i]);
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        d[i] = (m->forward[3 * i] * u[0] + m->forward[3 * i + 1] * u[1]) + m->forward[3 * i + 2] * u[2];
#ifdef KINDS
        d[i] = d[i] - m->damped * (v[i] - m->carry[i]);
#endif
        p[i] = speed->w * d[i];
        to->s[LMI_GPU_PULL + i] += p[i];
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        to->s[LMI_GPU_PULL + 3 + i] += x[j] * p[k] - x[k] * p[j];
        v[i] = v[i] + m->rate * d[i];
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        v[i] = vf_clamp(v[i], -LM_MAX_SPEED, LM_MAX_SPEED);
        u[i] = v[i] - m->carry[i];
        x[i] = vf_clamp(x[i] + m->h * u[i], -LM_MAX_COORDINATE, LM_MAX_COORDINATE);
        to->s[LMI_GPU_LOWER + i] = vf_min(to->s[LMI_GPU_LOWER + i], x[i]);
        to->s[LMI_GPU_UPPER + i] = vf_max(to->s[LMI_GPU_UPPER + i], x[i]);
    }
#ifdef SURFACES
    if (b->surfaces) {
        double origin[3];
        for (int i = 0; i < 3; i++) {
            origin[i] = b->origin[i] + (double)m->carry[i] * (double)m->h;
            u[i] = v[i];
        }
        to->s[LMI_GPU_TOUCHED] += (float)meet_surfaces(surfaces, b, origin, m->h, x, v);
        for (int i = 0; i < 3; i++) {
            to->s[LMI_GPU_IMPULSE + i] += speed->w * (v[i] - u[i]);
            u[i] = v[i] - m->carry[i];
        }
    }
#endif
    measure_after(x, u, at->w > 0.0f ? speed->w : 0.0f, to);
    *at = (float4)(x[0], x[1], x[2], at->w);
    *speed = (float4)(v[0], v[1], v[2], speed->w);
}

/* Adds what the work-items measured, always in the same order: a slice each, then the slices. */
#define HALF_CHANNELS (LMI_GPU_CHANNELS / 2)
#define SLICES (GROUP_SIZE / HALF_CHANNELS)

static inline float join(uint channel, float a, float b)
{
    return channel < LMI_GPU_LOWER ? a + b : channel < LMI_GPU_UPPER ? vf_min(a, b) : vf_max(a, b);
}

static inline __attribute__((always_inline)) void add_up(const measured *mine, __local float *slots, uint id, __local float *to)
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

#if CELLS == 0

#define FIRST_FLOATS (12 * WIDE * HIGH)
#define SECOND_FLOATS (9 * TILE_X * HIGH)
#define LOCAL_FLOATS (FIRST_FLOATS + SECOND_FLOATS)

/* What is stored of a region; nothing where there is none. */
static inline void region_at(__global const float *regions, uint block, uint first_block, uint lane,
                             float out[REGION_FLOATS])
{
    __global const float *from = regions + (first_block + block) * (REGION_FLOATS * LMI_BLOCK) + lane;
#pragma unroll
    for (int c = 0; c < REGION_FLOATS; c++) {
        out[c] = block != LMI_GPU_NONE ? from[c * LMI_BLOCK] : 0.0f;
    }
}

/* Its share of the stiffness. Where all have the same, nothing is looked up: one that is left out is stored as nothing. */
static inline float rho_at(__global const uint *constants_of, __global const uint *kinds, __global const float *constants,
                           uint block, uint first_block, uint lane)
{
#if defined(LINEAR) || defined(EVEN)
    return 1.0f;
#else
    if (block == LMI_GPU_NONE) {
        return 0.0f;
    }
    uint kind = kind_at(kinds, constants_of[first_block + block], lane);
    return constants[(kind & LMI_GPU_INDEX) * LATTICE_ROW + LMI_LATTICE_RHO];
#endif
}

/* The same as q and the columns of T. */
static inline void unpack_region(const float from[REGION_FLOATS], float rho, float q[12])
{
#ifdef LINEAR
    for (int c = 0; c < 12; c++) {
        q[c] = from[c];
    }
#else
    q[0] = from[0], q[1] = from[1], q[2] = from[2];
    unpack_rotation(from[3], from[4], from[5], rho, q + 3);
#endif
}

/* Along x: q and Tx come together, 12 channels to 9. A work-item takes one component of a place at a time, so that all of a
 * group have nearly the same to do although there are more places than work-items. */
static inline void scatter_x(__local const float *first, __local float *second, int id)
{
#pragma unroll
    for (int pass = 0; pass < (3 * TILE_X * HIGH + GROUP_SIZE - 1) / GROUP_SIZE; pass++) { /* as many for all: it is unrolled */
        const int n = id + pass * GROUP_SIZE;
        if (n >= 3 * TILE_X * HIGH) {
            break;
        }
        const int c = n / (TILE_X * HIGH), i = n % (TILE_X * HIGH);
        __local const float *q = first + c * WIDE * HIGH + i / TILE_X * WIDE + i % TILE_X + W;
        __local const float *tilt = q + 3 * WIDE * HIGH, *t_y = q + 6 * WIDE * HIGH, *t_z = q + 9 * WIDE * HIGH;
        float sum = q[0], sum_y = t_y[0], sum_z = t_z[0];
#pragma unroll
        for (int k = 1; k <= W; k++) {
            sum += (q[-k] + q[k]) - (float)k * (tilt[k] - tilt[-k]);
            sum_y += t_y[-k] + t_y[k];
            sum_z += t_z[-k] + t_z[k];
        }
        second[n] = sum;
        second[3 * TILE_X * HIGH + n] = sum_y;
        second[6 * TILE_X * HIGH + n] = sum_z;
    }
}

/* Along y, of one work-item's column: 9 to 6. */
static inline void scatter_y(__local const float *second, int tx, int ty, float to[6])
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        __local const float *q = second + c * TILE_X * HIGH + (ty + W) * TILE_X + tx;
        __local const float *tilt = q + 3 * TILE_X * HIGH, *t_z = q + 6 * TILE_X * HIGH;
        float sum = q[0], sum_z = t_z[0];
#pragma unroll
        for (int k = 1; k <= W; k++) {
            sum += (q[-k * TILE_X] + q[k * TILE_X]) - (float)k * (tilt[k * TILE_X] - tilt[-k * TILE_X]);
            sum_z += t_z[-k * TILE_X] + t_z[k * TILE_X];
        }
        to[c] = sum, to[3 + c] = sum_z;
    }
}

#ifndef KINDS

__kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1))) void
lattice_move(__global const lmi_gpu_tile *restrict tiles, __global const lmi_gpu_body *restrict bodies,
             __global const uint2 *restrict map, __global const uint *restrict constants_of,
             __global const uint *restrict kinds, __global const float *restrict constants, __global float4 *restrict x,
             __global float4 *restrict v, __global const float *restrict regions, __global const uint2 *restrict corrected,
             __global const lmi_gpu_list *restrict lists, __global const uint2 *restrict entries,
             __global const float4 *restrict kept, __global float4 *restrict corrections, __global const lmi_gpu_surface *restrict surfaces,
             __global float *restrict partials, float h)
{
    __local float room[LOCAL_FLOATS > HALF_CHANNELS * GROUP_SIZE ? LOCAL_FLOATS : HALF_CHANNELS * GROUP_SIZE];
    __local float4 fixed[MOVER_VECTORS];
    __local float *first = room, *second = room + FIRST_FLOATS;
    const lmi_gpu_tile t = tiles[get_group_id(0)];
    __global const lmi_gpu_body *b = bodies + t.body;
    const int tx = get_local_id(0), ty = get_local_id(1), id = ty * TILE_X + tx;
    const int last = t.z + (int)t.planes, begin = max(t.z - W, 0);
    const int own = column_of(b, t.x + tx, t.y + ty);
    const uint own_lane = (uint)(t.x + tx) % LMI_BLOCK, first_block = b->first / LMI_BLOCK;
    int column[LOADS];
    uint lane[LOADS], ahead[LOADS];
    float next[LOADS][REGION_FLOATS], rho[LOADS], ring[TAPS][6];
    const float kx = (float)(t.x + tx - b->phase) - b->middle[0], ky = (float)(t.y + ty) - b->middle[1];
    measured mine;
    /* As in lattice_fit; the particle itself is loaded a plane before it is moved. */
    uint2 coming = own_entry(b, map, own, begin - W, t.z);
    uint block = coming.x, at = some_block(first_block, block), kind = kind_at(kinds, coming.y, own_lane);
    coming = own_entry(b, map, own, begin - W + 1, t.z);
    float4 place = x[at * LMI_BLOCK + own_lane], speed = v[at * LMI_BLOCK + own_lane];
    share_mover(b, id, h, fixed);
#ifdef LISTS
    for (uint n = (uint)id; n < t.lists; n += GROUP_SIZE) {
        scatter_list(lists[t.list + n], entries, b, kept, corrections);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        int i = id + k * GROUP_SIZE, hx = t.x + i % WIDE - W, hy = t.y + i / WIDE - W;
        column[k] = i < WIDE * HIGH ? column_of(b, hx, hy) : -1;
        lane[k] = (uint)hx % LMI_BLOCK;
        ahead[k] = block_at(b, map, column[k], begin);
        region_at(regions, ahead[k], first_block, lane[k], next[k]);
        rho[k] = rho_at(constants_of, kinds, constants, ahead[k], first_block, lane[k]);
        ahead[k] = block_at(b, map, column[k], begin + 1);
    }
#pragma unroll
    for (int k = 0; k < TAPS * 6; k++) {
        ring[k / 6][k % 6] = 0.0f;
    }
#pragma unroll
    for (int i = 0; i < LMI_GPU_CHANNELS; i++) {
        mine.s[i] = i < LMI_GPU_LOWER ? 0.0f : i < LMI_GPU_UPPER ? 3e38f : -3e38f;
    }
    for (int z = begin; z < last + W; z++) {
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            float q[12];
            unpack_region(next[k], rho[k], q);
            if (id + k * GROUP_SIZE < WIDE * HIGH) {
#pragma unroll
                for (int c = 0; c < 12; c++) {
                    first[c * WIDE * HIGH + id + k * GROUP_SIZE] = q[c];
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            region_at(regions, ahead[k], first_block, lane[k], next[k]);
            rho[k] = rho_at(constants_of, kinds, constants, ahead[k], first_block, lane[k]);
            ahead[k] = block_at(b, map, column[k], z + 2);
        }
        const uint next_at = some_block(first_block, coming.x), coming_kind = kind_at(kinds, coming.y, own_lane);
        const float4 next_place = x[next_at * LMI_BLOCK + own_lane], next_speed = v[next_at * LMI_BLOCK + own_lane];
        const uint2 later = own_entry(b, map, own, z + 2 - W, t.z);
        const uint2 marks = marks_at(corrected, kind, LMI_GPU_CORRECTED, at);
        const float2 of = pull_at(constants, kind);
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
        if (block != LMI_GPU_NONE && speed.w > 0.0f) {
            float sum[3];
            const mover by = mover_of(fixed);
            const float k[3] = {kx, ky, (float)(z - W) - by.middle};
            sum_goals(ring, sum);
            correct_goals(marks, own_lane, corrections, sum);
            move_particle(&by, k, sum, of, b, surfaces, &place, &speed, &mine);
            x[at * LMI_BLOCK + own_lane] = place;
            v[at * LMI_BLOCK + own_lane] = speed;
        }
        block = coming.x, coming = later, at = next_at, kind = coming_kind;
        place = next_place, speed = next_speed;
    }
    __local float *totals = (__local float *)fixed; /* which nobody reads any more */
    add_up(&mine, room, (uint)id, totals);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = (uint)id; c < LMI_GPU_CHANNELS; c += GROUP_SIZE) { /* thin bodies have small work-groups */
        partials[t.partial * LMI_GPU_CHANNELS + c] = totals[c];
    }
}

#endif

#endif
