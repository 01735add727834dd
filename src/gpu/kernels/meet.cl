/*
 * Bodies that keep each other out by the force of depth cube maps (touch/cube.h), on the device: Chentanez 2007.
 *
 *   meet_boxes      once a body: the box that others may touch
 *   meet_grid       one work-group: cells as large as the largest box, so that neighbours are all there is to look at
 *   meet_cells      a count of the bodies in each bucket of cells
 *   meet_scan       one work-group: where each bucket begins
 *   meet_fill       the bodies of each bucket
 *   meet_partners   once a body: whose boxes overlap its own, in the order of the bodies; and whether the host must do it
 *   meet_place      once a touch point, meet_carry once a cube map: where they are
 *   meet_points     once a touch point: what pushes it out of other bodies
 *   meet_maps       once a body: what the points of others give to the maps that they are in
 *   meet_apply      once a particle: both, by the weights of the points and maps that it holds
 *
 * The force on a point is k depth n, and the opposite on the place where it is (contact/penalty.h). It does not depend on
 * velocities, so the contacts of a substep are a sum, whatever their order. What a map's particles get is linear in the place,
 * so a map needs the sums of the impulses and of their products with the place, and no list of contacts.
 *
 * Integers count bodies in buckets atomically; the order in which they come there is lost, but partners are sorted. Sums of
 * numbers have a fixed shape.
 */

#define GROUP 64
#define WIDE 256
#define MAP_FLOATS 12 /* place (3), F^-1 (9); and of sums: impulse (3), impulse times place (9) */

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
    double reach = m->reach + way; /* lmi_entry_of */
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

/* Bodies that come further in a substep than they are thick (search_of in contact/meet.c), or answer as a whole. */
static bool is_host_pair(__global const lmi_gpu_meeter *a, __global const lmi_gpu_meeter *b,
                         __global const lmi_gpu_body *bodies, double way)
{
    double one = bodies[a->record].rest_size, other = bodies[b->record].rest_size;
    return a->way > 0.08 * one || b->way > 0.08 * other || way > 0.15 * fmin(one, other);
}

__kernel void meet_partners(__global lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_body *bodies, double h,
                            __global const int *first, __global const uint *members, uint table, __global uint *partners,
                            uint solved, __global uint *stop)
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
                if (solved && found == LMI_GPU_PARTNERS) {
                    atomic_or(stop, LMI_GPU_CROWDED);
                }
                found = add_partner(list, found, who);
                double way = way_between(m, other, bodies, h);
                furthest = fmax(furthest, way);
                if (!solved && is_host_pair(m, other, bodies, way)) {
                    atomic_or(stop, LMI_GPU_FAST);
                }
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

/* Where cube maps are, and F^-1 there: touch/carriers.c. hold: weight and gradient of a particle. across: of sheets. */
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

/* A point in a body: the nearest of its maps, where the point is from it in the rest shape, the way out, and how deep it is. */
typedef struct in_map {
    float place[3], normal[3], depth;
    uint map;
} in_map;

static in_map find_in(__global const lmi_gpu_meeter *b, const float p[3], __global const float *maps,
                      __global const float *depths)
{
    in_map in;
    float square = 3e38f, out[3];
    in.map = 0;
    for (uint n = 0; n < b->maps; n++) {
        __global const float *m = maps + (b->first_map + n) * MAP_FLOATS;
        float d[3] = {p[0] - m[0], p[1] - m[1], p[2] - m[2]}, here = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
        in.map = here < square ? n : in.map;
        square = here < square ? here : square;
    }
    __global const float *m = maps + (b->first_map + in.map) * MAP_FLOATS;
    __global const float *depth = depths + (b->first_depth + in.map) * 6 * FACE;
    for (int i = 0; i < 3; i++) {
        out[i] = p[i] - m[i];
    }
    for (int i = 0; i < 3; i++) {
        in.place[i] = (m[3 + 3 * i] * out[0] + m[4 + 3 * i] * out[1]) + m[5 + 3 * i] * out[2];
    }
    float far = sqrt((in.place[0] * in.place[0] + in.place[1] * in.place[1]) + in.place[2] * in.place[2]);
    float now = sqrt((out[0] * out[0] + out[1] * out[1]) + out[2] * out[2]);
    if (!(far > 1e-9f && now > 1e-9f)) { /* in the very middle: up */
        const float up[3] = {0.0f, 1.0f, 0.0f};
        in.depth = cube_depth(depth, up);
        in.normal[0] = 0.0f, in.normal[1] = 1.0f, in.normal[2] = 0.0f;
        return in;
    }
    in.depth = (cube_depth(depth, in.place) - far) * now / far;
    for (int i = 0; i < 3; i++) {
        in.normal[i] = out[i] / now;
    }
    return in;
}

/* How deep a point of a is in b, or (below 0) how far from it; far below 0 where it is nowhere near. */
static float depth_between(__global const lmi_gpu_meeter *a, __global const lmi_gpu_meeter *b,
                           __global const lmi_gpu_body *bodies, float4 now, __global const float *maps,
                           __global const float *depths, in_map *in)
{
    __global const lmi_gpu_body *one = bodies + a->record, *other = bodies + b->record;
    const float at[3] = {now.x, now.y, now.z};
    float p[3];
    bool near = true;
    for (int i = 0; i < 3; i++) {
        p[i] = at[i] + (float)(one->origin[i] - other->origin[i]);
        near = near && p[i] >= (float)(b->lower[i] - other->origin[i]) && p[i] <= (float)(b->upper[i] - other->origin[i]);
    }
    if (!near || b->maps == 0) {
        return -3e38f;
    }
    *in = find_in(b, p, maps, depths);
    return in->depth + (a->radius + b->skin);
}

/* By how much a point of a is pressed, N s, where it is in b. */
static float meet_pair(__global const lmi_gpu_meeter *a, __global const lmi_gpu_meeter *b,
                       __global const lmi_gpu_body *bodies, float4 now, float h, __global const float *maps,
                       __global const float *depths, in_map *in)
{
    float depth = depth_between(a, b, bodies, now, maps, depths, in);
    return depth > 0.0f ? (float)penalty_pair(a->penalty, b->penalty) * depth * h : 0.0f;
}

__kernel void meet_points(uint count, __global const uint *owner, __global const lmi_gpu_meeter *meeters,
                          __global const lmi_gpu_body *bodies, __global const uint *partners, float h,
                          __global const float4 *now, __global const float *maps, __global const float *depths,
                          __global float4 *pushes)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global const lmi_gpu_meeter *a = meeters + owner[n];
    float sum[3] = {0.0f, 0.0f, 0.0f};
    for (uint k = 0; k < a->partners; k++) {
        in_map in;
        __global const lmi_gpu_meeter *b = meeters + partners[owner[n] * LMI_GPU_PARTNERS + k];
        float pressed = meet_pair(a, b, bodies, now[n], h, maps, depths, &in);
        if (pressed > 0.0f) {
            for (int i = 0; i < 3; i++) {
                sum[i] += pressed * in.normal[i];
            }
        }
    }
    float by = 1.0f / (float)a->mean_mass;
    pushes[n] = (float4)(by * sum[0], by * sum[1], by * sum[2], 0.0f);
}

/* One work-group a body: what its maps are given. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
meet_maps(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_body *bodies, __global const uint *partners,
          float h, __global const float4 *now, __global const float *maps, __global const float *depths,
          __global float *given)
{
    __local float slots[MAP_FLOATS][GROUP];
    __global const lmi_gpu_meeter *b = meeters + get_group_id(0);
    uint id = get_local_id(0);
    for (uint map = 0; map < b->maps; map++) {
        float sum[MAP_FLOATS];
        for (int i = 0; i < MAP_FLOATS; i++) {
            sum[i] = 0.0f;
        }
        for (uint k = 0; k < b->partners; k++) {
            __global const lmi_gpu_meeter *a = meeters + partners[get_group_id(0) * LMI_GPU_PARTNERS + k];
            for (uint n = a->first_point + id; n < a->first_point + a->points; n += GROUP) {
                in_map in;
                float pressed = meet_pair(a, b, bodies, now[n], h, maps, depths, &in);
                if (pressed > 0.0f && in.map == map) {
                    for (int i = 0; i < 3; i++) {
                        float impulse = -pressed * in.normal[i];
                        sum[i] += impulse;
                        for (int j = 0; j < 3; j++) {
                            sum[3 + 3 * i + j] += impulse * in.place[j];
                        }
                    }
                }
            }
        }
        for (int i = 0; i < MAP_FLOATS; i++) {
            slots[i][id] = sum[i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < MAP_FLOATS) {
            float all = 0.0f;
            for (uint n = 0; n < GROUP; n++) {
                all += slots[id][n];
            }
            given[(b->first_map + map) * MAP_FLOATS + id] = all / (float)b->mean_mass;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* point_of, weight_of: the touch points that a particle holds; map_of, hold_of: the maps. */
__kernel void meet_apply(uint count, __global const uint *first_of_points, __global const uint *point_of,
                         __global const float *weight_of, __global const uint *first_of_maps, __global const uint *map_of,
                         __global const float4 *hold_of, __global const float4 *pushes, __global const float *given,
                         __global float4 *v)
{
    uint n = get_global_id(0);
    if (n >= count || !(v[n].w > 0.0f)) {
        return;
    }
    float sum[3] = {0.0f, 0.0f, 0.0f};
    for (uint k = first_of_points[n]; k < first_of_points[n + 1]; k++) {
        float4 push = pushes[point_of[k]];
        sum[0] += weight_of[k] * push.x;
        sum[1] += weight_of[k] * push.y;
        sum[2] += weight_of[k] * push.z;
    }
    for (uint k = first_of_maps[n]; k < first_of_maps[n + 1]; k++) {
        __global const float *g = given + map_of[k] * MAP_FLOATS;
        float4 w = hold_of[k];
        for (int i = 0; i < 3; i++) {
            sum[i] += w.x * g[i] + ((w.y * g[3 + 3 * i] + w.z * g[4 + 3 * i]) + w.w * g[5 + 3 * i]);
        }
    }
    float4 now = v[n];
    float by = 1.0f / now.w;
    v[n] = (float4)(vf_clamp(now.x + by * sum[0], -LM_MAX_SPEED, LM_MAX_SPEED),
                    vf_clamp(now.y + by * sum[1], -LM_MAX_SPEED, LM_MAX_SPEED),
                    vf_clamp(now.z + by * sum[2], -LM_MAX_SPEED, LM_MAX_SPEED), now.w);
}
