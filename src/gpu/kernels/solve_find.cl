/*
 * Where bodies whose contacts are solved touch each other and colliders: step/mutual.c, pairs.c, meet.c and inside.c on the
 * device, after the grid of meet.cl has found who may touch whom.
 *
 *   solve_line     one work-group: the axis along which the host sorts bodies, and the cube of its curve
 *   solve_curve    once a body: where it is on both; which colliders it may touch
 *   solve_order    once a body: its partners in the order in which the host would look at the pairs
 *   solve_find     once a touch point: which partners and colliders it is in
 *
 * The order of partners matters: the first contact of a point begins with what the point was given last time.
 */

#define GROUP 64
#define WIDE 256

/* Two bodies' places in the order of step/pairs.c. */
static bool comes_before(__global const lmi_gpu_bulk *a, __global const lmi_gpu_bulk *b)
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

__kernel void solve_curve(__global const lmi_gpu_meeter *meeters, uint count, __global lmi_gpu_bulk *solids,
                          __global const lmi_gpu_body *bodies, __global const double *line,
                          __global const lmi_gpu_surface *surfaces, uint surface_count, double h)
{
    uint n = get_global_id(0), axis = (uint)line[0];
    ulong may = 0;
    if (n >= count) {
        return;
    }
    __global const lmi_gpu_meeter *m = meeters + n;
    __global const lmi_gpu_body *b = bodies + m->record;
    lm_dvec3 at = dvec(m->lower[0], m->lower[1], m->lower[2]), low = dvec(line[1], line[2], line[3]);
    for (uint k = 0; k < surface_count; k++) {
        may |= may_touch(surfaces + k, m, b, h) ? 1ul << k : 0;
    }
    solids[n].along = m->lower[axis];
    solids[n].curve = lmi_curve_place(at, low, line[4]);
    solids[n].surfaces = may;
    solids[n].touched = solids[n].chained = 0;
}

/* Whether the pair of p and a comes before that of p and b: by the place on the curve of the body that comes first, then by the
 * order of the other. */
static bool is_pair_before(__global const lmi_gpu_bulk *solids, uint p, uint a, uint b)
{
    uint first_a = comes_before(solids + p, solids + a) ? p : a, first_b = comes_before(solids + p, solids + b) ? p : b;
    if (first_a == first_b) {
        return comes_before(solids + (first_a == p ? a : p), solids + (first_b == p ? b : p));
    }
    uint curve_a = solids[first_a].curve, curve_b = solids[first_b].curve;
    return curve_a < curve_b || (curve_a == curve_b && comes_before(solids + first_a, solids + first_b));
}

/* stops: of each partner, none found yet. */
__kernel void solve_order(__global const lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_bulk *solids,
                          __global uint *partners, __global uint *stops)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global uint *list = partners + n * LMI_GPU_PARTNERS;
    for (uint k = 0; k < meeters[n].partners; k++) {
        stops[n * LMI_GPU_PARTNERS + k] = LMI_GPU_NONE;
    }
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
    __global const lmi_gpu_bulk *solids;
    __global const lmi_gpu_body *bodies;
    __global const lmi_gpu_mould *moulds;
    __global const float *maps, *distances;
    __global const float4 *rests, *facing; /* facing.w: bits of the index of the point's own carrier */
    __global const float4 *now;
    double fall; /* 2 h² g: lmi_contact_slop */
    double h;
} solid_view;

#define SOLID_ARGUMENTS                                                                                               \
    __global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids, __global const lmi_gpu_body *bodies, \
        __global const lmi_gpu_mould *moulds, __global const float *maps, __global const float *distances,            \
        __global const float4 *rests, __global const float4 *facing, __global const float4 *now, double fall, double seconds
#define SOLID_VIEW                                                                                                    \
    {                                                                                                                 \
        meeters, solids, bodies, moulds, maps, distances, rests, facing, now, fall, seconds                           \
    }

/* The way of a against b in this substep where that is far; it is then looked at in so many stops. search_of in step/meet.c. */
#define MOST_STOPS 16

typedef struct pair_way {
    double way[3];
    uint stops;
} pair_way;

static pair_way way_of(const solid_view *s, uint a, uint b)
{
    __global const lmi_gpu_body *one = s->bodies + s->meeters[a].record, *other = s->bodies + s->meeters[b].record;
    pair_way w;
    double square = 0.0, thick = 0.15 * fmin(one->rest_size, other->rest_size);
    for (int i = 0; i < 3; i++) {
        w.way[i] = s->h * ((double)one->velocity[i] - other->velocity[i]);
        square += w.way[i] * w.way[i];
    }
    double far = sqrt(square);
    w.stops = far > thick ? (uint)fmin(ceil(far / fmax(thick, 1e-9)), (double)MOST_STOPS) : 1;
    for (int i = 0; i < 3; i++) {
        w.way[i] = far > thick ? w.way[i] : 0.0;
    }
    return w;
}

/* The share of the way that is left at a stop, counted from 1. */
static double left_at(const pair_way *w, uint stop) { return 1.0 - (double)stop / w->stops; }

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

/* A point of a in b, with a share of its way left to go. */
static in_solid find_in_solid(const solid_view *s, uint a, uint b, float4 now, const pair_way *w, double left)
{
    __global const lmi_gpu_meeter *one = s->meeters + a, *other = s->meeters + b;
    __global const lmi_gpu_body *body = s->bodies + one->record, *to = s->bodies + other->record;
    __global const lmi_gpu_mould *mould = s->moulds + s->solids[b].mould;
    const float here[3] = {now.x, now.y, now.z};
    in_solid in;
    in.found = other->maps > 0;
    for (int i = 0; i < 3; i++) {
        in.at[i] = here[i] + (float)(body->origin[i] - to->origin[i] - left * w->way[i]);
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
    w.depth = surface_depth(&s, x, v, w.normal);
    surface_velocity(&s, x, w.velocity);
    w.friction = s.friction;
    w.bounce = s.bounce;
    return w;
}

/* The colliders that a point is in, or near where its body answers as a whole: to soft bodies they have nothing to say yet. */
static ulong walls_of(ulong may, __global const lmi_gpu_surface *surfaces, __global const lmi_gpu_body *b, float4 now,
                     float4 speed, float h, double least)
{
    ulong bits = 0;
    for (ulong left = may; left; left &= left - 1) {
        uint k = 63 - (uint)clz(left & -left);
        bits |= find_at_wall(surfaces + k, b, now, speed, h).depth >= least ? 1ul << k : 0;
    }
    return bits;
}

/* met, turned: bits of partners; those whose surfaces face the point, and those that look away. */
__kernel void solve_find(uint count, __global const uint *owner, __global const uint *partners,
                         volatile __global uint *stops, SOLID_ARGUMENTS,
                         __global const uint *point_first, __global const uint *point_rider,
                         __global const float *point_weight, __global const float4 *v,
                         __global const lmi_gpu_surface *surfaces, float h, __global const lmi_gpu_push *pushes,
                         __global ulong *met, __global ulong *turned, __global ulong *walls)
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
        pair_way w = way_of(&s, a, b);
        for (uint stop = 1; stop <= w.stops && !(faces >> k & 1); stop++) {
            in_solid in = find_in_solid(&s, a, b, now[n], &w, left_at(&w, stop));
            bool facing_it = in.found && is_facing(&s, n, a, b, &in);
            faces |= facing_it ? 1ul << k : 0;
            away |= in.found && !facing_it ? 1ul << k : 0;
            if (facing_it && w.stops > 1) {
                atomic_min(stops + a * LMI_GPU_PARTNERS + k, stop); /* the first of all, in any order */
            }
        }
        away &= ~faces;
    }
    met[n] = faces;
    turned[n] = away;
    walls[n] = 0;
    if (solids[a].surfaces) {
        float4 speed = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
        for (uint k = point_first[n]; k < point_first[n + 1]; k++) {
            speed += point_weight[k] * v[point_rider[k]];
        }
        __global const lmi_gpu_body *body = bodies + meeters[a].record;
        double least = pushes[a].rigid > 0.0f ? -slop_of(body, fall) : 0.0;
        walls[n] = walls_of(solids[a].surfaces, surfaces, body, now[n], speed, h, least);
    }
}
