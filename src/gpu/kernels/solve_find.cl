/*
 * Where bodies whose contacts are solved touch each other and colliders: step/mutual.c, pairs.c, meet.c and inside.c on the
 * device, after the grid of meet.cl has found who may touch whom.
 *
 *   solve_line     one work-group: the axis along which the host sorts bodies, and the cube of its curve
 *   solve_curve    once a body: where it is on both; which colliders it may touch
 *   solve_order    once a body: its partners in the order in which the host would look at the pairs
 *   solve_find     once a touch point: which partners and colliders it is in
 *   solve_pairs    one work-group a body: which partners any of its points are in
 *   solve_count    one work-group a body: contacts of its points
 *   solve_offsets  one work-group: where the contacts of each body begin
 *   solve_fill     once a touch point: its contacts, walls first; and a count of those in each bucket
 *   solve_buckets  one work-group a body: where the buckets of contacts with its carriers and cells begin
 *   solve_list     once a contact, solve_sort once a bucket: the contacts of each, in their order
 *
 * The order of partners matters: the first contact of a point begins with what the point was given last time. Buckets are
 * counted atomically, and sorted after that.
 */

#define GROUP 64
#define WIDE 256

/* Two bodies' places in the order of step/pairs.c. */
static bool comes_before(__global const lmi_gpu_solid *a, __global const lmi_gpu_solid *b)
{
    return a->along < b->along || (a->along == b->along && a->slot < b->slot);
}

/* line: axis, the corner of the curve's cube, its side. */
__kernel __attribute__((reqd_work_group_size(WIDE, 1, 1))) void
solve_line(__global const lmi_gpu_meeter *meeters, uint count, __global double *line)
{
    __local double slots[WIDE];
    double own[12], all[12]; /* sums and squares from the first body's corner; least and largest corners */
    const uint id = get_local_id(0);
    for (int i = 0; i < 12; i++) {
        own[i] = i < 6 ? 0.0 : i < 9 ? 1e300 : -1e300;
    }
    for (uint n = id; n < count; n += WIDE) {
        for (int i = 0; i < 3; i++) {
            double at = meeters[n].lower[i], x = at - meeters[0].lower[i];
            own[i] += x;
            own[3 + i] += x * x;
            own[6 + i] = fmin(own[6 + i], at);
            own[9 + i] = fmax(own[9 + i], at);
        }
    }
    for (int i = 0; i < 12; i++) {
        slots[id] = own[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint half_of = WIDE / 2; half_of > 0; half_of /= 2) {
            if (id < half_of) {
                double a = slots[id], b = slots[id + half_of];
                slots[id] = i < 6 ? a + b : i < 9 ? fmin(a, b) : fmax(a, b);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        all[i] = slots[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0) {
        double spread[3], side = 0.0;
        for (int i = 0; i < 3; i++) {
            spread[i] = all[3 + i] - all[i] * all[i] / count;
            side = fmax(side, all[9 + i] - all[6 + i]);
            line[1 + i] = all[6 + i];
        }
        line[0] = spread[1] > spread[0] ? (spread[2] > spread[1] ? 2.0 : 1.0) : spread[2] > spread[0] ? 2.0 : 0.0;
        line[4] = side;
    }
}

/* Whether a body may touch a collider: may_touch in step/contact.c. */
static bool may_touch(__global const lmi_gpu_surface *s, __global const lmi_gpu_meeter *m,
                      __global const lmi_gpu_body *b, double h)
{
    if (!(b->group & s->mask) || !(b->collider_mask & s->group)) {
        return false;
    }
    double square = 0.0, turn = 0.0, margin = m->reach, depth = 0.0;
    bool near = true;
    for (int i = 0; i < 3; i++) {
        double u = (double)b->velocity[i] - s->velocity[i];
        square += u * u;
        turn += (double)b->spin[i] * b->spin[i];
    }
    double way = h * (sqrt(square) + sqrt(turn) * b->rest_size);
    margin += s->shape != LM_SHAPE_PLANE && way > s->thickness ? way : 0.0;
    for (int i = 0; i < 3; i++) {
        double low = b->origin[i] + b->lower[i], high = b->origin[i] + b->upper[i], n = s->rotation[3 * i + 1];
        depth += ((n > 0.0 ? low : high) - s->position[i]) * n;
        near = near && low - margin <= s->upper[i] && high + margin >= s->lower[i];
    }
    return s->shape == LM_SHAPE_PLANE ? depth < margin + 1e-4 : near;
}

__kernel void solve_curve(__global const lmi_gpu_meeter *meeters, uint count, __global lmi_gpu_solid *solids,
                          __global const lmi_gpu_body *bodies, __global const double *line,
                          __global const lmi_gpu_surface *surfaces, uint surface_count, double h, __global uint *stop)
{
    uint n = get_global_id(0), axis = (uint)line[0], may = 0;
    if (n >= count) {
        return;
    }
    __global const lmi_gpu_meeter *m = meeters + n;
    __global const lmi_gpu_body *b = bodies + m->record;
    lm_dvec3 at = dvec(m->lower[0], m->lower[1], m->lower[2]), low = dvec(line[1], line[2], line[3]);
    for (uint k = 0; k < surface_count; k++) {
        may |= may_touch(surfaces + k, m, b, h) ? 1u << k : 0;
    }
    solids[n].along = m->lower[axis];
    solids[n].curve = lmi_curve_place(at, low, line[4]);
    solids[n].surfaces = may;
    solids[n].touched = 0;
    /* What crosses a good part of its size answers as a whole (rigidity in step/push.c): the host knows how. Bodies that meet
     * no others are taken to be slower, as there. */
    if (may && !b->pinned && (m->mask ? 1.0 : 0.6) * m->way > 0.08 * b->rest_size) {
        *stop = LMI_GPU_RIGID; /* whoever writes it last */
    }
}

/* Whether the pair of p and a comes before that of p and b: by the place on the curve of the body that comes first, then by the
 * order of the other. */
static bool is_pair_before(__global const lmi_gpu_solid *solids, uint p, uint a, uint b)
{
    uint first_a = comes_before(solids + p, solids + a) ? p : a, first_b = comes_before(solids + p, solids + b) ? p : b;
    if (first_a == first_b) {
        return comes_before(solids + (first_a == p ? a : p), solids + (first_b == p ? b : p));
    }
    uint curve_a = solids[first_a].curve, curve_b = solids[first_b].curve;
    return curve_a < curve_b || (curve_a == curve_b && comes_before(solids + first_a, solids + first_b));
}

__kernel void solve_order(__global const lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_solid *solids,
                          __global uint *partners)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global uint *list = partners + n * LMI_GPU_PARTNERS;
    for (uint k = 1; k < meeters[n].partners; k++) {
        uint moving = list[k], at = k;
        for (; at > 0 && is_pair_before(solids, n, moving, list[at - 1]); at--) {
            list[at] = list[at - 1];
        }
        list[at] = moving;
    }
}

/* --- points in solids --- */

/* What the finding of points reads of bodies. */
typedef struct solid_view {
    __global const lmi_gpu_meeter *meeters;
    __global const lmi_gpu_solid *solids;
    __global const lmi_gpu_body *bodies;
    __global const lmi_gpu_mould *moulds;
    __global const float *maps, *distances;
    __global const float4 *rests, *facing; /* facing.w: bits of the index of the point's own carrier */
    __global const float4 *now;
    double fall; /* 2 h² g: lmi_contact_slop */
} solid_view;

#define SOLID_ARGUMENTS                                                                                               \
    __global const lmi_gpu_meeter *meeters, __global const lmi_gpu_solid *solids, __global const lmi_gpu_body *bodies, \
        __global const lmi_gpu_mould *moulds, __global const float *maps, __global const float *distances,            \
        __global const float4 *rests, __global const float4 *facing, __global const float4 *now, double fall
#define SOLID_VIEW                                                                                                    \
    {                                                                                                                 \
        meeters, solids, bodies, moulds, maps, distances, rests, facing, now, fall                                    \
    }

/* A point in a solid. */
typedef struct in_solid {
    lm_dvec3 normal;
    lm_vec3 rest;
    double depth, margin;
    float at[3]; /* from the solid's origin */
    uint map;    /* the nearest, of the body's own */
    bool found;
} in_solid;

/* The distance in the rest shape: lmi_mould_slope. */
static float distance_at(__global const lmi_gpu_mould *m, __global const float *distances, const float rest[3],
                         lm_vec3 *slope)
{
    float by = (float)(1.0 / m->cell), t[3], beyond = 0.0f;
    uint i[3], row = m->n[0], plane = row * m->n[1];
    for (int a = 0; a < 3; a++) {
        float at = (rest[a] - m->first[a]) * by, inside = vf_clamp(at, 0.0f, (float)(m->n[a] - 1));
        beyond = vf_max(beyond, fabs(at - inside));
        i[a] = min((uint)inside, m->n[a] - 2);
        t[a] = inside - (float)i[a];
    }
    __global const float *d = distances + m->first_distance + i[2] * plane + i[1] * row + i[0], *e = d + plane;
    const float nodes[8] = {d[0], d[1], d[row], d[row + 1], e[0], e[1], e[row], e[row + 1]};
    return lmi_distance_between(nodes, t, by, slope) + beyond * (float)m->cell;
}

static double slop_of(__global const lmi_gpu_body *b, double fall) { return fmin(fall, 0.01 * b->rest_size); }

/* A point of a in b. */
static in_solid find_in_solid(const solid_view *s, uint a, uint b, float4 now)
{
    __global const lmi_gpu_meeter *one = s->meeters + a, *other = s->meeters + b;
    __global const lmi_gpu_body *body = s->bodies + one->record, *to = s->bodies + other->record;
    __global const lmi_gpu_mould *mould = s->moulds + s->solids[b].mould;
    const float here[3] = {now.x, now.y, now.z};
    in_solid in;
    in.found = other->maps > 0;
    for (int i = 0; i < 3; i++) {
        in.at[i] = here[i] + (float)(body->origin[i] - to->origin[i]);
        in.found = in.found && in.at[i] >= (float)(other->lower[i] - to->origin[i]) &&
                   in.at[i] <= (float)(other->upper[i] - to->origin[i]);
    }
    if (!in.found) {
        return in;
    }
    in.found = false;
    in.map = 0;
    in.margin = one->radius + other->skin;
    float margin = (float)(in.margin + fmin(slop_of(body, s->fall), slop_of(to, s->fall)));
    float total = 0.0f, rest[3] = {0.0f, 0.0f, 0.0f}, inverse[9], best = 3e38f;
    const float scale = (float)(1.0 / (mould->reach * mould->reach));
    for (int i = 0; i < 9; i++) {
        inverse[i] = 0.0f;
    }
    for (uint c = 0; c < other->maps; c++) { /* blend in step/inside.c */
        __global const float *m = s->maps + (other->first_map + c) * MAP_FLOATS;
        float d[3] = {in.at[0] - m[0], in.at[1] - m[1], in.at[2] - m[2]};
        float square = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2], t = 1.0f - square * scale, w = (t * t) * (t * t);
        in.map = square < best ? c : in.map;
        best = vf_min(best, square);
        if (t > 0.0f) {
            float4 at = s->rests[mould->first_rest + c];
            const float from[3] = {at.x, at.y, at.z};
            total += w;
            for (int i = 0; i < 3; i++) {
                rest[i] += w * (from[i] + ((m[3 + 3 * i] * d[0] + m[4 + 3 * i] * d[1]) + m[5 + 3 * i] * d[2]));
            }
            for (int i = 0; i < 9; i++) {
                inverse[i] += w * m[3 + i];
            }
        }
    }
    if (!(total > 1e-12f)) {
        return in;
    }
    lm_vec3 slope;
    for (int i = 0; i < 3; i++) {
        rest[i] /= total;
    }
    float distance = distance_at(mould, s->distances, rest, &slope);
    if (!(distance < 2.0f * margin + (float)mould->cell)) {
        return in;
    }
    __global const float *nearest = s->maps + (other->first_map + in.map) * MAP_FLOATS;
    dmat3 back;
    for (int i = 0; i < 9; i++) {
        back.m[i / 3][i % 3] = inverse[i] / total;
    }
    lm_dvec3 steep = dvec(slope.x, slope.y, slope.z);
    lm_dvec3 off = dvec(in.at[0] - nearest[0], in.at[1] - nearest[1], in.at[2] - nearest[2]);
    lmi_way_out out =
        lmi_find_way_out(distance, steep, dmat_apply_transposed(&back, steep), off, mould->cell, margin);
    in.found = out.found;
    in.normal = out.normal;
    in.depth = out.depth;
    in.rest.x = rest[0], in.rest.y = rest[1], in.rest.z = rest[2];
    return in;
}

/* Whether surfaces look at each other where they touch: faces in step/meet.c. */
static bool is_facing(const solid_view *s, uint point, uint a, uint b, const in_solid *in)
{
    float4 f = s->facing[point];
    __global const float *m = s->maps + (s->meeters[a].first_map + as_uint(f.w)) * MAP_FLOATS + 3;
    double n[3], square = 0.0, along = 0.0;
    const double normal[3] = {in->normal.x, in->normal.y, in->normal.z};
    for (int i = 0; i < 3; i++) {
        n[i] = (double)m[i] * f.x + (double)m[3 + i] * f.y + (double)m[6 + i] * f.z;
        square += n[i] * n[i];
        along += n[i] * normal[i];
    }
    return in->depth > 2.0 * s->moulds[s->solids[b].mould].cell ||
           (square > 0.0 ? along / sqrt(square) : 0.0) < LMI_FACING;
}

/* --- walls --- */

/* A touch point against a collider. */
typedef struct at_wall {
    float normal[3], velocity[3], depth, friction, bounce;
} at_wall;

static at_wall find_at_wall(__global const lmi_gpu_surface *surface, __global const lmi_gpu_body *b, float4 now,
                            float4 speed, float h)
{
    const double origin[3] = {b->origin[0], b->origin[1], b->origin[2]};
    const float x[3] = {now.x, now.y, now.z}, v[3] = {speed.x, speed.y, speed.z};
    surface_here s = surface_at(surface, b, origin, h);
    at_wall w;
    w.depth = s.margin - surface_distance(&s, x, w.normal);
    if (s.shape != LM_SHAPE_PLANE) {
        surface_sweep(&s, x, v, &w.depth, w.normal);
    }
    surface_velocity(&s, x, w.velocity);
    w.friction = s.friction;
    w.bounce = s.bounce;
    return w;
}

/* The colliders that a point is in: those that are only near have nothing to say to soft bodies. */
static uint walls_of(uint may, __global const lmi_gpu_surface *surfaces, __global const lmi_gpu_body *b, float4 now,
                     float4 speed, float h, double least)
{
    uint bits = 0;
    for (uint left = may; left; left &= left - 1) {
        uint k = 31 - clz(left & -left);
        bits |= find_at_wall(surfaces + k, b, now, speed, h).depth >= least ? 1u << k : 0;
    }
    return bits;
}

/* met, turned: bits of partners; those whose surfaces face the point, and those that look away. */
__kernel void solve_find(uint count, __global const uint *owner, __global const uint *partners, SOLID_ARGUMENTS,
                         __global const uint *point_first, __global const uint *point_rider,
                         __global const float *point_weight, __global const float4 *v,
                         __global const lmi_gpu_surface *surfaces, float h, __global ulong *met, __global ulong *turned,
                         __global uint *walls)
{
    const solid_view s = SOLID_VIEW;
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    uint a = owner[n];
    ulong faces = 0, away = 0;
    for (uint k = 0; k < meeters[a].partners; k++) {
        uint b = partners[a * LMI_GPU_PARTNERS + k];
        in_solid in = find_in_solid(&s, a, b, now[n]);
        if (in.found) {
            bool facing_it = is_facing(&s, n, a, b, &in);
            faces |= facing_it ? 1ul << k : 0;
            away |= facing_it ? 0 : 1ul << k;
        }
    }
    met[n] = faces;
    turned[n] = away;
    walls[n] = 0;
    if (solids[a].surfaces) {
        float4 speed = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
        for (uint k = point_first[n]; k < point_first[n + 1]; k++) {
            speed += point_weight[k] * v[point_rider[k]];
        }
        walls[n] = walls_of(solids[a].surfaces, surfaces, bodies + meeters[a].record, now[n], speed, h, 0.0);
    }
}

/* --- counting --- */

static inline ulong bits_of(__global const uint *words) { return (ulong)words[1] << 32 | words[0]; }

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_pairs(__global const lmi_gpu_meeter *meeters, __global lmi_gpu_solid *solids, __global const ulong *met,
            __global const ulong *turned, __global uint *buckets)
{
    __local ulong slots[2][GROUP];
    __global const lmi_gpu_meeter *m = meeters + get_group_id(0);
    __global lmi_gpu_solid *s = solids + get_group_id(0);
    const uint id = get_local_id(0);
    ulong own[2] = {0, 0};
    for (uint n = id; n < m->points; n += GROUP) {
        own[0] |= met[m->first_point + n];
        own[1] |= turned[m->first_point + n];
    }
    slots[0][id] = own[0];
    slots[1][id] = own[1];
    for (uint n = id; n < s->buckets; n += GROUP) {
        buckets[s->first_bucket + n] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < 2) {
        ulong all = 0;
        for (uint n = 0; n < GROUP; n++) {
            all |= slots[id][n];
        }
        __global uint *to = id ? s->turned : s->met;
        to[0] = (uint)all;
        to[1] = (uint)(all >> 32);
    }
}

/* Which partners a body is nested with: points of one are in the other, and all of them look away from it. */
static ulong nested_of(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_solid *solids,
                       __global const uint *partners, uint a, ulong wanted)
{
    ulong nested = 0;
    wanted &= ~bits_of(solids[a].met);
    for (uint k = 0; wanted >> k; k++) {
        if (!(wanted >> k & 1)) {
            continue;
        }
        uint b = partners[a * LMI_GPU_PARTNERS + k], back = 0;
        while (back < meeters[b].partners && partners[b * LMI_GPU_PARTNERS + back] != a) {
            back++;
        }
        bool met = back < meeters[b].partners && (bits_of(solids[b].met) >> back & 1);
        nested |= met ? 0 : 1ul << k;
        if (k == 63) {
            break;
        }
    }
    return nested;
}

/* Numbers of a body to where they begin; returns their sum. All work-items of the group call it with theirs. */
static uint scan_group(__local uint *slots, uint own, uint *before)
{
    const uint id = get_local_id(0);
    slots[id] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint by = 1; by < GROUP; by *= 2) {
        uint other = id >= by ? slots[id - by] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        slots[id] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint all = slots[GROUP - 1];
    *before = slots[id] - own;
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}

/* met: bits of partners that each point has a contact with, from now on. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_count(__global const lmi_gpu_meeter *meeters, __global lmi_gpu_solid *solids, __global const uint *partners,
            __global ulong *met, __global const ulong *turned, __global const uint *walls, __global uint *first)
{
    __local uint slots[GROUP];
    const uint a = get_group_id(0), id = get_local_id(0);
    __global const lmi_gpu_meeter *m = meeters + a;
    uint sum = 0;
    for (uint n = 0; n < m->points; n += GROUP) {
        uint own = 0, before, at = m->first_point + n + id;
        if (n + id < m->points) {
            ulong with = met[at] | (turned[at] ? turned[at] & nested_of(meeters, solids, partners, a, turned[at]) : 0);
            met[at] = with;
            own = popcount(with) + popcount(walls[at]);
        }
        uint all = scan_group(slots, own, &before);
        if (n + id < m->points) {
            first[at] = sum + before;
        }
        sum += all;
    }
    if (id == 0) {
        solids[a].contacts = sum;
    }
}

/* Where the contacts (or those in the lists) of each body begin. found: how many there are in all, and the word for the host. */
__kernel __attribute__((reqd_work_group_size(WIDE, 1, 1))) void
solve_offsets(__global lmi_gpu_solid *solids, uint count, uint lists, __global uint *found, __global const uint *stop)
{
    __local uint sums[WIDE];
    uint id = get_local_id(0), each = (count + WIDE - 1) / WIDE, begin = min(id * each, count), end = min(begin + each, count);
    uint sum = 0;
    for (uint n = begin; n < end; n++) {
        sum += lists ? solids[n].listed : solids[n].contacts;
    }
    sums[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = 0;
    for (uint n = 0; n < id; n++) {
        at += sums[n];
    }
    if (id == WIDE - 1 && !lists) {
        found[0] = at + sum;
        found[1] = *stop;
    }
    for (uint n = begin; n < end; n++) {
        __global lmi_gpu_solid *s = solids + n;
        uint here = lists ? s->listed : s->contacts;
        if (lists) {
            s->first_listed = at;
        } else {
            s->first_contact = at;
        }
        at += here;
    }
}

/* --- contacts --- */

/* From the middle of b to that of a: where the nearest way out may be the far side. */
static lm_dvec3 away_from(__global const lmi_gpu_body *a, __global const lmi_gpu_body *b, bool up)
{
    lm_dvec3 d = dvec((a->origin[0] + a->centre[0]) - (b->origin[0] + b->centre[0]),
                      (a->origin[1] + a->centre[1]) - (b->origin[1] + b->centre[1]),
                      (a->origin[2] + a->centre[2]) - (b->origin[2] + b->centre[2]));
    double size = dvec_length(d);
    return size > 1e-6 * a->rest_size ? dvec_scale(d, 1.0 / size) : dvec(0.0, up ? 1.0 : -1.0, 0.0);
}

/* What a contact is held by in b: lmi_bulk_grip. */
static void grip(const solid_view *s, const holds *o, __global const uint *map, __global const uint *cells, uint b,
                 const in_solid *in, __global const float4 *x, lmi_gpu_contact *c)
{
    __global const lmi_gpu_meeter *other = s->meeters + b;
    __global const lmi_gpu_solid *solid = s->solids + b;
    __global const lmi_gpu_body *body = s->bodies + other->record;
    __global const float *m = s->maps + (other->first_map + in->map) * MAP_FLOATS;
    c->map = other->first_map + in->map;
    c->cell = LMI_GPU_NONE;
    double rest[3] = {in->rest.x, in->rest.y, in->rest.z};
    for (int pass = 0; solid->spacing > 0.0 && pass < 3; pass++) { /* grip_cell */
        float t[3];
        int cell[3];
        for (uint i = 0; i < 3; i++) {
            uint axis = (i + solid->turn) % 3;
            double at = fmin(fmax(((double)(float)rest[axis] - solid->first[axis]) / solid->spacing, -1e6), 1e6);
            cell[i] = (int)floor(at);
            t[i] = (float)(at - cell[i]);
        }
        c->cell = LMI_GPU_NONE;
        int across = cell[0] + body->phase;
        if (across >= 0 && cell[1] >= 0 && cell[2] >= 0 && (uint)across < body->size[0] * LMI_BLOCK &&
            (uint)cell[1] < body->size[1] && (uint)cell[2] < body->size[2]) {
            uint at = ((uint)cell[2] * body->size[1] + (uint)cell[1]) * body->size[0] + (uint)across / LMI_BLOCK;
            uint block = map[2 * (body->map + at)]; /* two words an entry */
            uint lane = (uint)across % LMI_BLOCK;
            if (block != LMI_GPU_NONE && (cells[solid->first_cell / LMI_BLOCK + block] >> lane & 1)) {
                c->cell = solid->first_cell + block * LMI_BLOCK + lane;
            }
        }
        if (c->cell == LMI_GPU_NONE) {
            break;
        }
        c->place = (float4)(t[0], t[1], t[2], 0.0f);
        quad at = sum_cell(o, c->cell, c->place, x);
        double off[3] = {in->at[0] - (double)at.x, in->at[1] - (double)at.y, in->at[2] - (double)at.z};
        for (int i = 0; i < 3; i++) {
            rest[i] += m[3 + 3 * i] * off[0] + m[4 + 3 * i] * off[1] + m[5 + 3 * i] * off[2];
        }
    }
    if (c->cell == LMI_GPU_NONE) {
        float d[3] = {in->at[0] - m[0], in->at[1] - m[1], in->at[2] - m[2]};
        c->place = (float4)((m[3] * d[0] + m[4] * d[1]) + m[5] * d[2], (m[6] * d[0] + m[7] * d[1]) + m[8] * d[2],
                            (m[9] * d[0] + m[10] * d[1]) + m[11] * d[2], 0.0f);
    }
}

/* Approach and what follows from it: begin in step/solve.c. */
static void begin_contact(const holds *o, __global const float4 *x, __global const float4 *v, float restitution,
                          float h, lmi_gpu_contact *c)
{
    quad none = (float4)(0.0f, 0.0f, 0.0f, 0.0f), apart = contact_sum(o, c, x, none);
    c->braked = c->ahead = c->more = none;
    c->pressed = c->shifted = c->deep = 0.0f;
    c->steady = contact_sum(o, c, v, c->surface);
    c->approach = -quad_dot(c->steady, c->normal);
    c->bounce = c->approach > LMI_BOUNCE_SPEED ? restitution * c->approach : 0.0f;
    c->depth = fmin(c->depth, h * (LMI_PART_SPEED + 1.5f * fmax(c->approach, 0.0f)));
    c->level = c->depth + quad_dot(apart, c->normal);
}

static lmi_gpu_contact wall_contact(__global const lmi_gpu_surface *surface, __global const lmi_gpu_body *b, float4 now,
                                    const holds *o, __global const float4 *x, __global const float4 *v, float h,
                                    uint point, uint a)
{
    lmi_gpu_contact c;
    at_wall w = find_at_wall(surface, b, now, sum_point(o, point, v), h);
    c.normal = quad_of(w.normal[0], w.normal[1], w.normal[2]);
    c.surface = quad_of(w.velocity[0], w.velocity[1], w.velocity[2]);
    c.place = quad_of(0.0f, 0.0f, 0.0f);
    c.depth = w.depth;
    c.friction = w.friction;
    c.ratio = 0.0f;
    c.point = point;
    c.a = a;
    c.b = c.map = c.cell = LMI_GPU_NONE;
    c.slot = 0;
    c.live = 1;
    begin_contact(o, x, v, w.bounce, h, &c);
    return c;
}

__kernel void solve_fill(uint count, __global const uint *owner, __global const uint *partners, SOLID_ARGUMENTS,
                         HOLD_ARGUMENTS, __global const uint *map, __global const uint *cells, __global const float4 *x,
                         __global const float4 *v, __global const lmi_gpu_surface *surfaces, float h,
                         __global const ulong *met, __global const ulong *turned, __global const uint *walls,
                         __global uint *first, __global lmi_gpu_contact *contacts, volatile __global uint *buckets,
                         __global lmi_gpu_solid *marked)
{
    const solid_view s = SOLID_VIEW;
    const holds o = HOLDS;
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    uint a = owner[n], at = solids[a].first_contact + first[n];
    __global const lmi_gpu_body *body = bodies + meeters[a].record;
    first[n] = at;
    for (uint left = walls[n]; left; left &= left - 1) {
        uint k = 31 - clz(left & -left);
        contacts[at++] = wall_contact(surfaces + k, body, now[n], &o, x, v, h, n, a);
    }
    ulong with = met[n];
    for (uint k = 0; with; k++, with >>= 1) {
        if (!(with & 1)) {
            continue;
        }
        uint b = partners[a * LMI_GPU_PARTNERS + k];
        __global const lmi_gpu_body *other = bodies + meeters[b].record;
        in_solid in = find_in_solid(&s, a, b, now[n]);
        bool nested = turned[n] >> k & 1;
        lm_dvec3 normal = nested || in.depth > 2.0 * moulds[solids[b].mould].cell
                              ? away_from(body, other, solids[a].slot > solids[b].slot)
                              : in.normal;
        lmi_gpu_contact c;
        c.normal = quad_from(normal);
        c.surface = quad_of(0.0f, 0.0f, 0.0f);
        c.depth = (float)(in.depth + in.margin);
        c.friction = sqrt(body->friction * other->friction);
        c.ratio = (float)(meeters[a].mean_mass / meeters[b].mean_mass);
        c.point = n;
        c.a = a;
        c.b = b;
        c.live = c.depth >= 0.0f; /* what is only near has nothing to say to soft bodies */
        grip(&s, &o, map, cells, b, &in, x, &c);
        begin_contact(&o, x, v, fmax(body->restitution, other->restitution), h, &c);
        c.slot = c.live ? atomic_inc(buckets + bucket_of_contact(meeters, solids, &c)) : 0;
        contacts[at++] = c;
        marked[a].touched = marked[b].touched = 1; /* whoever writes it */
    }
}

/* buckets: from counts to where they end in the list of their body; bucket_first: where they begin. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_buckets(__global lmi_gpu_solid *solids, __global const uint *buckets, __global uint *bucket_first)
{
    __local uint slots[GROUP];
    __global lmi_gpu_solid *s = solids + get_group_id(0);
    const uint id = get_local_id(0);
    uint sum = 0;
    for (uint n = 0; n < s->buckets; n += GROUP) {
        uint before, at = s->first_bucket + n + id;
        uint all = scan_group(slots, n + id < s->buckets ? buckets[at] : 0, &before);
        if (n + id < s->buckets) {
            bucket_first[at] = sum + before;
        }
        sum += all;
    }
    if (id == 0) {
        s->listed = sum;
    }
}

__kernel void solve_list(__global const lmi_gpu_contact *contacts, uint count,
                         __global const lmi_gpu_meeter *meeters, __global const lmi_gpu_solid *solids,
                         __global const uint *bucket_first, __global uint *list)
{
    uint n = get_global_id(0);
    if (n >= count || contacts[n].b == LMI_GPU_NONE || !contacts[n].live) {
        return;
    }
    lmi_gpu_contact c = contacts[n];
    uint bucket = bucket_of_contact(meeters, solids, &c);
    list[solids[c.b].first_listed + bucket_first[bucket] + c.slot] = n;
}

/* bucket_owner: the body of each; bucket_first: where it begins in the list of all, from now on. */
__kernel void solve_sort(uint count, __global const uint *bucket_owner, __global const lmi_gpu_solid *solids,
                         __global const uint *buckets, __global uint *bucket_first, __global uint *list)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    uint first = bucket_first[n] + solids[bucket_owner[n]].first_listed;
    bucket_first[n] = first;
    for (uint k = 1; k < buckets[n]; k++) {
        uint moving = list[first + k], at = k;
        for (; at > 0 && list[first + at - 1] > moving; at--) {
            list[first + at] = list[first + at - 1];
        }
        list[first + at] = moving;
    }
}
