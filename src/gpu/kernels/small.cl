/*
 * Lattices of a few hundred particles: a whole substep in one kernel, one work-group a body, all of it in local memory.
 *
 *   u -> x: 3 to 6 -> y: 6 to 9 -> z: 9 to 12, fit -> x: 12 to 9 -> y: 9 to 6 -> z: 6 to 3, move
 *
 * A tile of lattice.cl takes 16 corners along x and goes through planes that a small body does not have: two thirds of its
 * work-items would have nothing to do. Here a work-item takes corners from a table in which those with a particle come
 * first; bodies of one shape share the table. Sums along an axis look at what is inside the body's box, and the two rooms
 * take turns: what one pass writes the next one reads.
 */

#if CELLS

/* Corners of a box, which are at most CELLS. */
typedef struct small_box {
    int nx, ny, nz;
} small_box;

/* A corner: where it is, and how far the box reaches along an axis; neighbours are `step` apart in a room. */
static inline float tap(__local const float *at, int k, int step, int place, int size)
{
    return place + k >= 0 && place + k < size ? at[k * step] : 0.0f;
}

/* The sum over 2 W + 1 neighbours along an axis, and the sum with their distances as factors. */
static inline float small_sum(__local const float *at, int step, int place, int size)
{
    float sum = at[0];
#pragma unroll
    for (int k = 1; k <= W; k++) {
        sum += tap(at, -k, step, place, size) + tap(at, k, step, place, size);
    }
    return sum;
}

static inline float small_moment(__local const float *at, int step, int place, int size, float *sum)
{
    float moment = 0.0f, all = at[0];
#pragma unroll
    for (int k = 1; k <= W; k++) {
        float low = tap(at, -k, step, place, size), high = tap(at, k, step, place, size);
        all += low + high;
        moment += (float)k * (high - low);
    }
    *sum = all;
    return moment;
}

/* The sum of q - k T over neighbours. */
static inline float small_goal(__local const float *q, __local const float *tilt, int step, int place, int size)
{
    float sum = q[0];
#pragma unroll
    for (int k = 1; k <= W; k++) {
        float low = tap(q, -k, step, place, size), high = tap(q, k, step, place, size);
        sum += (low + high) - (float)k * (tap(tilt, k, step, place, size) - tap(tilt, -k, step, place, size));
    }
    return sum;
}

/* One corner's part in each pass; `d` is its place in a room of CELLS for each channel. */
static inline void small_gather_x(__local const float *from, __local float *to, int d, int x, const small_box *n)
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        float sum, moment = small_moment(from + c * CELLS + d, 1, x, n->nx, &sum);
        to[c * CELLS + d] = sum;
        to[(3 + c) * CELLS + d] = moment;
    }
}

static inline void small_gather_y(__local const float *from, __local float *to, int d, int y, const small_box *n)
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        float sum, moment = small_moment(from + c * CELLS + d, n->nx, y, n->ny, &sum);
        to[c * CELLS + d] = sum;
        to[(3 + c) * CELLS + d] = moment;
        to[(6 + c) * CELLS + d] = small_sum(from + (3 + c) * CELLS + d, n->nx, y, n->ny);
    }
}

static inline void small_gather_z(__local const float *from, int d, int z, const small_box *n, float m[12])
{
    const int step = n->nx * n->ny;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        m[3 + c] = small_moment(from + c * CELLS + d, step, z, n->nz, &m[c]);
        m[6 + c] = small_sum(from + (3 + c) * CELLS + d, step, z, n->nz);
        m[9 + c] = small_sum(from + (6 + c) * CELLS + d, step, z, n->nz);
    }
}

static inline void small_scatter_x(__local const float *from, __local float *to, int d, int x, const small_box *n)
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        __local const float *q = from + c * CELLS + d;
        to[c * CELLS + d] = small_goal(q, q + 3 * CELLS, 1, x, n->nx);
        to[(3 + c) * CELLS + d] = small_sum(q + 6 * CELLS, 1, x, n->nx);
        to[(6 + c) * CELLS + d] = small_sum(q + 9 * CELLS, 1, x, n->nx);
    }
}

static inline void small_scatter_y(__local const float *from, __local float *to, int d, int y, const small_box *n)
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        __local const float *q = from + c * CELLS + d;
        to[c * CELLS + d] = small_goal(q, q + 3 * CELLS, n->nx, y, n->ny);
        to[(3 + c) * CELLS + d] = small_sum(q + 6 * CELLS, n->nx, y, n->ny);
    }
}

/* Where a corner is, and its place in a room. */
static inline int small_place(uint where, const small_box *n, int at[3])
{
    at[0] = where & 255u, at[1] = where >> 8 & 255u, at[2] = where >> 16 & 255u;
    return (at[2] * n->ny + at[1]) * n->nx + at[0];
}

/* m~ u of one corner. */
static inline void small_load(__local const float4 fixed[4], float4 q, const int k[3], int d, __local float *to)
{
    const float4 mx = fixed[0], my = fixed[1], mz = fixed[2], middle = fixed[3];
    to[d] = q.w * (((mx.x * q.x + mx.y * q.y) + mx.z * q.z) - (((float)k[0] - middle.x) + mx.w));
    to[CELLS + d] = q.w * (((my.x * q.x + my.y * q.y) + my.z * q.z) - (((float)k[1] - middle.y) + my.w));
    to[2 * CELLS + d] = q.w * (((mz.x * q.x + mz.y * q.y) + mz.z * q.z) - (((float)k[2] - middle.z) + mz.w));
}

/* gather_list, from m~ u as it is in local memory: a member is where its offset from the owner says. */
static inline void small_gather_list(lmi_gpu_list list, __global const uint2 *restrict entries, __global const lmi_gpu_body *b,
                                     __local const float *from, const small_box *n, __global float4 *moments)
{
    const int own = (list.corner[2] * n->ny + list.corner[1]) * n->nx + list.corner[0];
    const uint end = list.first + list.count;
    float sums[12];
    for (int i = 0; i < 12; i++) {
        sums[i] = 0.0f;
    }
    for (uint at = list.first; at < end; at += AT_ONCE) {
        float4 o[AT_ONCE];
#pragma unroll
        for (uint k = 0; k < AT_ONCE; k++) {
            o[k] = offset_of(entries[min(at + k, end - 1)], at + k < end);
        }
#pragma unroll
        for (uint k = 0; k < AT_ONCE; k++) {
            const int d = own + ((int)o[k].z * n->ny + (int)o[k].y) * n->nx + (int)o[k].x;
            for (int i = 0; i < 3; i++) {
                float p = from[i * CELLS + d] * o[k].w;
                sums[i] += p;
                sums[3 + i] += p * o[k].z;
                sums[6 + i] += p * o[k].y;
                sums[9 + i] += p * o[k].x;
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        moments[(b->irregular + list.owner) * (LMI_BLOCK / 4) + k] =
            (float4)(sums[4 * k], sums[4 * k + 1], sums[4 * k + 2], sums[4 * k + 3]);
    }
}

/* Local memory: two rooms for passes; then, in their place, what work-items have measured, sums of it and the body's record. */
#define MEASURED_FLOATS (HALF_CHANNELS * GROUP_SIZE)
#define CONCLUDED_FLOATS (MEASURED_FLOATS + 3 * LMI_GPU_CHANNELS + RECORD_WORDS)
#define ROOM_FLOATS (21 * CELLS > CONCLUDED_FLOATS ? 21 * CELLS : CONCLUDED_FLOATS)

/* The end of the substep for a body that no other work-group has moved. */
static inline void conclude_small(const measured *mine, __local double *space, uint id, __global lmi_gpu_body *body, double h)
{
    __local double *sums = space + MEASURED_FLOATS / 2;
    __local float *totals = (__local float *)(sums + LMI_GPU_CHANNELS);
    RECORD lmi_gpu_body *record = (RECORD lmi_gpu_body *)(totals + LMI_GPU_CHANNELS);
    add_up(mine, (__local float *)space, id, totals);
    take_record(record, body, id, GROUP_SIZE);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < LMI_GPU_CHANNELS) {
        sums[id] = totals[id];
    }
    if (id < 16) {
        record->sums[id] = totals[LMI_GPU_MASS + id];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        conclude_record(record, sums, h);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    give_record(body, record, id, GROUP_SIZE);
}

#define EACH_CORNER(n) for (uint n = id; n < s.count; n += GROUP_SIZE)
#define BOTH (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

__kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1))) void
lattice_small(__global const lmi_gpu_small *restrict smalls, __global const uint2 *restrict corners,
              __global lmi_gpu_body *bodies, __global const uint *restrict constants_of,
              __global const uint *restrict kinds, __global const float *restrict constants, __global float4 *x,
              __global float4 *restrict v, __global const uint2 *restrict irregular, __global float4 *moments,
              __global float4 *kept, __global const uint2 *restrict corrected, __global float4 *corrections,
              __global const lmi_gpu_list *restrict gathers, __global const uint2 *restrict gather_entries,
              __global const lmi_gpu_list *restrict scatters, __global const uint2 *restrict scatter_entries,
              __global const lmi_gpu_surface *restrict surfaces,
              __global const uint *restrict stop, double seconds)
{
    __local double space[ROOM_FLOATS / 2];
    __local float4 frame[4], fixed[MOVER_VECTORS];
    __local float *room = (__local float *)space, *nine = room, *twelve = room + 9 * CELLS;
    const float h = (float)seconds;
    const lmi_gpu_small s = smalls[get_group_id(0)];
    __global const lmi_gpu_body *b = bodies + s.body;
    const uint id = get_local_id(0), first_block = b->first / LMI_BLOCK;
    const small_box n = {(int)s.size[0], (int)s.size[1], (int)s.size[2]};
    int k[3];
    if (*stop) {
        return; /* all of them: the substep is the host's */
    }
    share_frame(b, (int)id, frame);
    share_mover(b, (int)id, h, fixed);
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_CORNER(i) {
        uint2 corner = corners[s.first + i];
        float4 q = corner.y != LMI_GPU_NONE ? x[b->first + corner.y] : (float4)(0.0f, 0.0f, 0.0f, 0.0f);
        int d = small_place(corner.x, &n, k);
        small_load(frame, q, k, d, nine);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = id; i < s.gathers; i += GROUP_SIZE) {
        small_gather_list(gathers[s.gather + i], gather_entries, b, nine, &n, moments);
    }
    EACH_CORNER(i) {
        int d = small_place(corners[s.first + i].x, &n, k);
        small_gather_x(nine, twelve, d, k[0], &n);
    }
    barrier(BOTH);
    EACH_CORNER(i) {
        int d = small_place(corners[s.first + i].x, &n, k);
        small_gather_y(twelve, nine, d, k[1], &n);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_CORNER(i) {
        uint2 corner = corners[s.first + i];
        int d = small_place(corner.x, &n, k);
        float m[12], out[12];
        bool taken = false;
        if (corner.y != LMI_GPU_NONE) {
            uint at = first_block + corner.y / LMI_BLOCK;
            vmat3 r;
            small_gather_z(nine, d, k[2], &n, m);
            const uint lane = corner.y % LMI_BLOCK, kind = kind_at(kinds, constants_of[at], lane);
            float own[16];
            const lmi_follow follow = {b->beta, b->beyond};
            taken = finish_moments(m, lane, follow, marks_at(irregular, kind, LMI_GPU_IRREGULAR, at),
                                   constants_at(constants, kind, own), moments, kept, out, &r);
        }
#pragma unroll
        for (int c = 0; c < 12; c++) {
            twelve[c * CELLS + d] = taken ? out[c] : 0.0f;
        }
    }
    barrier(BOTH);
    for (uint i = id; i < s.scatters; i += GROUP_SIZE) {
        scatter_list(scatters[s.scatter + i], scatter_entries, b, kept, corrections);
    }
    EACH_CORNER(i) {
        int d = small_place(corners[s.first + i].x, &n, k);
        small_scatter_x(twelve, nine, d, k[0], &n);
    }
    barrier(BOTH);
    EACH_CORNER(i) {
        int d = small_place(corners[s.first + i].x, &n, k);
        small_scatter_y(nine, twelve, d, k[1], &n);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    measured mine;
#pragma unroll
    for (int i = 0; i < LMI_GPU_CHANNELS; i++) {
        mine.s[i] = i < LMI_GPU_LOWER ? 0.0f : i < LMI_GPU_UPPER ? 3e38f : -3e38f;
    }
    const mover by = mover_of(fixed);
    for (uint i = id; i < s.particles; i += GROUP_SIZE) {
        uint2 corner = corners[s.first + i];
        uint particle = b->first + corner.y, at = particle / LMI_BLOCK, lane = particle % LMI_BLOCK;
        int d = small_place(corner.x, &n, k);
        const uint kind = kind_at(kinds, constants_of[at], lane);
        float4 place = x[particle], speed = v[particle];
        const float from[3] = {(float)k[0] - b->middle[0], (float)k[1] - b->middle[1], (float)k[2] - b->middle[2]};
        float sum[3];
#pragma unroll
        for (int c = 0; c < 3; c++) {
            __local const float *q = twelve + c * CELLS + d;
            sum[c] = small_goal(q, q + 3 * CELLS, n.nx * n.ny, k[2], n.nz);
        }
        correct_goals(marks_at(corrected, kind, LMI_GPU_CORRECTED, at), lane, corrections, sum);
        if (speed.w > 0.0f) {
            move_particle(&by, from, sum, pull_at(constants, kind), b, surfaces, &place, &speed, &mine);
            x[particle] = place;
            v[particle] = speed;
        }
    }
    conclude_small(&mine, space, id, bodies + s.body, seconds);
}

#endif
