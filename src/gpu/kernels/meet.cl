/*
 * Who may touch whom, and where.
 *
 *   meet_boxes      once a body: the box that others may touch
 *   meet_grid       one work-group: cells as large as the largest box, so that neighbours are all there is to look at
 *   meet_cells      a count of the bodies in each bucket of cells
 *   meet_scan       one work-group: where each bucket begins
 *   meet_fill       the bodies of each bucket
 *   meet_partners   once a body: whose boxes overlap its own, in the order of the bodies; and whether the host must do it
 *   meet_place      once a touch point, meet_carry once a carrier: where they are
 *
 * Integers count bodies in buckets atomically; the order in which they come there is lost, but partners are sorted.
 */

#define GROUP 64
#define WIDE 256
#define MAP_FLOATS 12 /* place (3), F^-1 (9) */

static inline uint bucket_of(int x, int y, int z, uint table)
{
    uint hash = (uint)x * 0x8da6b343u ^ (uint)y * 0xd8163841u ^ (uint)z * 0xcb1ab31fu;
    return (hash ^ hash >> 15) & (table - 1);
}

__kernel void meet_boxes(__global lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_body *bodies, double h,
                         __global int *buckets, uint table)
{
    uint n = get_global_id(0);
    if (n < table) {
        buckets[n] = 0;
    }
    if (n >= count) {
        return;
    }
    __global lmi_gpu_meeter *m = meeters + n;
    __global const lmi_gpu_body *b = bodies + m->record;
    double way = h * sqrt((double)b->velocity[0] * b->velocity[0] + (double)b->velocity[1] * b->velocity[1] +
                          (double)b->velocity[2] * b->velocity[2]);
    double reach = m->reach + m->apart + way; /* lmi_entry_of */
    m->way = way;
    for (int i = 0; i < 3; i++) {
        m->lower[i] = b->origin[i] + b->lower[i] - reach;
        m->upper[i] = b->origin[i] + b->upper[i] + reach;
    }
}

/* grid: the corner that cells are counted from, and their side. */
__kernel __attribute__((reqd_work_group_size(WIDE, 1, 1))) void meet_grid(__global const lmi_gpu_meeter *meeters,
                                                                         uint count, __global double *grid)
{
    __local double least[4][WIDE];
    uint id = get_local_id(0);
    double low[4] = {1e300, 1e300, 1e300, 0.0};
    for (uint n = id; n < count; n += WIDE) {
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], meeters[n].lower[i]);
            low[3] = fmax(low[3], meeters[n].upper[i] - meeters[n].lower[i]);
        }
    }
    for (int i = 0; i < 4; i++) {
        least[i][id] = low[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_of = WIDE / 2; half_of > 0; half_of /= 2) {
        for (int i = 0; id < half_of && i < 4; i++) {
            double other = least[i][id + half_of];
            least[i][id] = i < 3 ? fmin(least[i][id], other) : fmax(least[i][id], other);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id < 4) {
        grid[id] = id < 3 ? least[id][0] : fmax(least[3][0], 1e-9);
    }
}

__kernel void meet_cells(__global lmi_gpu_meeter *meeters, uint count, __global const double *grid,
                         volatile __global int *buckets, uint table)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global lmi_gpu_meeter *m = meeters + n;
    for (int i = 0; i < 3; i++) {
        double at = floor((0.5 * (m->lower[i] + m->upper[i]) - grid[i]) / grid[3]);
        m->cell[i] = (int)fmin(fmax(at, -1e9), 1e9);
    }
    m->bucket = bucket_of(m->cell[0], m->cell[1], m->cell[2], table);
    atomic_inc(buckets + m->bucket);
}

/* Counts to where buckets begin; `buckets` then tells where the next body goes. */
__kernel __attribute__((reqd_work_group_size(WIDE, 1, 1))) void meet_scan(__global int *buckets, uint table,
                                                                         __global int *first)
{
    __local int sums[WIDE];
    uint id = get_local_id(0), each = (table + WIDE - 1) / WIDE, begin = min(id * each, table), end = min(begin + each, table);
    int sum = 0;
    for (uint n = begin; n < end; n++) {
        sum += buckets[n];
    }
    sums[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    int at = 0;
    for (uint n = 0; n < id; n++) {
        at += sums[n];
    }
    for (uint n = begin; n < end; n++) {
        int here = buckets[n];
        first[n] = buckets[n] = at;
        at += here;
    }
    if (end == table) {
        first[table] = at;
    }
}

__kernel void meet_fill(__global const lmi_gpu_meeter *meeters, uint count, volatile __global int *buckets,
                        __global uint *members)
{
    uint n = get_global_id(0);
    if (n < count) {
        members[atomic_inc(buckets + meeters[n].bucket)] = n;
    }
}

static bool boxes_overlap(__global const lmi_gpu_meeter *a, __global const lmi_gpu_meeter *b)
{
    bool over = (a->mask & b->group) && (b->mask & a->group);
    for (int i = 0; i < 3; i++) {
        over = over && a->lower[i] <= b->upper[i] && b->lower[i] <= a->upper[i];
    }
    return over;
}

/* Puts a partner into its place in a sorted list of at most LMI_GPU_PARTNERS; those with the lowest numbers stay. */
static uint add_partner(__global uint *list, uint count, uint who)
{
    uint at = count < LMI_GPU_PARTNERS ? count : LMI_GPU_PARTNERS;
    if (count >= LMI_GPU_PARTNERS && list[LMI_GPU_PARTNERS - 1] < who) {
        return count;
    }
    at = count < LMI_GPU_PARTNERS ? count : LMI_GPU_PARTNERS - 1;
    for (; at > 0 && list[at - 1] > who; at--) {
        list[at] = list[at - 1];
    }
    list[at] = who;
    return min(count + 1, (uint)LMI_GPU_PARTNERS);
}

/* How far two bodies come in a substep, seen from each other. */
static double way_between(__global const lmi_gpu_meeter *a, __global const lmi_gpu_meeter *b,
                          __global const lmi_gpu_body *bodies, double h)
{
    __global const lmi_gpu_body *one = bodies + a->record, *other = bodies + b->record;
    double square = 0.0;
    for (int i = 0; i < 3; i++) {
        double u = (double)one->velocity[i] - other->velocity[i];
        square += u * u;
    }
    return h * sqrt(square);
}

__kernel void meet_partners(__global lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_body *bodies, double h,
                            __global const int *first, __global const uint *members, uint table, __global uint *partners,
                            __global uint *stop)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global lmi_gpu_meeter *m = meeters + n;
    __global uint *list = partners + n * LMI_GPU_PARTNERS;
    uint found = 0;
    double furthest = m->way;
    for (int c = 0; c < 27; c++) {
        int x = m->cell[0] + c % 3 - 1, y = m->cell[1] + c / 3 % 3 - 1, z = m->cell[2] + c / 9 - 1;
        uint bucket = bucket_of(x, y, z, table);
        for (int k = first[bucket]; k < first[bucket + 1]; k++) {
            uint who = members[k];
            __global const lmi_gpu_meeter *other = meeters + who;
            if (who != n && other->cell[0] == x && other->cell[1] == y && other->cell[2] == z && boxes_overlap(m, other)) {
                if (found == LMI_GPU_PARTNERS) {
                    atomic_or(stop, LMI_GPU_CROWDED);
                }
                found = add_partner(list, found, who);
                double way = way_between(m, other, bodies, h);
                furthest = fmax(furthest, way);
            }
        }
    }
    m->partners = found;
    m->met_way = furthest;
}

/* Where touch points are, from their body's origin. */
__kernel void meet_place(uint count, __global const uint *first, __global const uint *rider, __global const float *weight,
                         __global const float4 *x, __global float4 *now)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    float at[3] = {0.0f, 0.0f, 0.0f};
    for (uint k = first[n]; k < first[n + 1]; k++) {
        float4 p = x[rider[k]];
        at[0] += weight[k] * p.x;
        at[1] += weight[k] * p.y;
        at[2] += weight[k] * p.z;
    }
    now[n] = (float4)(at[0], at[1], at[2], 0.0f);
}

/* Where carriers are, and F^-1 there: step/carry.c. hold: weight and gradient of a particle. across: of sheets. */
__kernel void meet_carry(uint count, __global const uint *first, __global const uint *rider, __global const float4 *hold,
                         __global const float4 *across, __global const float4 *x, __global float *maps)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    float at[3] = {0.0f, 0.0f, 0.0f}, column[9] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (uint k = first[n]; k < first[n + 1]; k++) {
        float4 p = x[rider[k]], w = hold[k];
        const float here[3] = {p.x, p.y, p.z}, g[3] = {w.y, w.z, w.w};
        for (int i = 0; i < 3; i++) {
            at[i] += w.x * here[i];
            for (int j = 0; j < 3; j++) {
                column[3 * i + j] += g[j] * here[i];
            }
        }
    }
    dmat3 stretch, inverse;
    for (int i = 0; i < 9; i++) {
        stretch.m[i / 3][i % 3] = column[i];
    }
    stretch = lmi_complete_stretch(stretch, dvec(across[n].x, across[n].y, across[n].z));
    inverse = lmi_invert_stretch(&stretch);
    for (int i = 0; i < MAP_FLOATS; i++) {
        maps[n * MAP_FLOATS + i] = i < 3 ? at[i] : (float)inverse.m[(i - 3) / 3][(i - 3) % 3];
    }
}
