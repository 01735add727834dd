/*
 * Where bodies whose contacts are solved touch each other and colliders: contact/mutual.c, pairs.c, meet.c and inside.c on the
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

/* Numbers of all work-items to their sum; the largest where `most`. */
static double join_group(__local double *slots, double own, bool most)
{
    const uint id = get_local_id(0);
    slots[id] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_of = GROUP / 2; half_of > 0; half_of /= 2) {
        if (id < half_of) {
            slots[id] = most ? fmax(slots[id], slots[id + half_of]) : slots[id] + slots[id + half_of];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    double all = slots[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}

/* Two bodies' places in the order of contact/pairs.c. */
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

__kernel void solve_curve(__global const lmi_gpu_meeter *meeters, uint count, __global lmi_gpu_bulk *solids,
                          __global const lmi_gpu_body *bodies, __global const double *line,
                          __global const lmi_gpu_surface *surfaces, uint surface_count, double h, __global uint *near,
                          __global uint *stop)
{
    uint n = get_global_id(0), axis = (uint)line[0], found = 0;
    if (n >= count) {
        return;
    }
    __global const lmi_gpu_meeter *m = meeters + n;
    __global const lmi_gpu_body *b = bodies + m->record;
    lm_dvec3 at = dvec(m->lower[0], m->lower[1], m->lower[2]), low = dvec(line[1], line[2], line[3]);
    for (uint k = 0; k < surface_count; k++) {
        if (!may_touch(surfaces + k, m, b, solids[n].fastest, h)) {
            continue;
        }
        if (found == LMI_GPU_SOLVED_SURFACES) {
            atomic_or(stop, LMI_GPU_CROWDED);
            break;
        }
        near[n * LMI_GPU_SOLVED_SURFACES + found++] = k;
    }
    solids[n].along = m->lower[axis];
    solids[n].curve = lmi_curve_place(at, low, line[4]);
    solids[n].surfaces = found == 64 ? ~0ul : (1ul << found) - 1;
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

/* stops: of each partner, none found yet; deepest: of each partner, it is not deep. */
__kernel void solve_order(__global const lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_bulk *solids,
                          __global uint *partners, __global uint *stops, __global uint *deepest)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global uint *list = partners + n * LMI_GPU_PARTNERS;
    for (uint k = 0; k < meeters[n].partners; k++) {
        stops[n * LMI_GPU_PARTNERS + k] = LMI_GPU_NONE;
        deepest[n * LMI_GPU_PARTNERS + k] = 0;
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
    __global const uint *cubes; /* how bodies keep apart; then of each body: how many cube maps, and where they sit */
    __global const float *depths;
    cut_view cut;
    __global const float4 *ways; /* of points: the way out of a body that they were in; w: bits of its slot + 1 */
} solid_view;

#define SOLID_ARGUMENTS                                                                                               \
    __global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids, __global const lmi_gpu_body *bodies, \
        __global const lmi_gpu_mould *moulds, __global const float *maps, __global const float *distances,            \
        __global const float4 *rests, __global const float4 *facing, __global const float4 *now, double fall, double seconds,   \
        __global const uint *cubes, __global const float *depths, CUT_ARGUMENTS, __global const float4 *ways
#define SOLID_VIEW                                                                                                    \
    {                                                                                                                 \
        meeters, solids, bodies, moulds, maps, distances, rests, facing, now, fall, seconds, cubes, depths, CUT_VIEW, ways  \
    }

/* The way of a against b in this substep where that is far; it is then looked at in so many stops. search_of in contact/meet.c. */
#define MOST_STOPS 16

typedef struct pair_way {
    double way[3], far; /* far: how far it is, also where it is not */
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
    w.far = far;
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
    double depth, margin, gap; /* gap: of the margin, the distance that soft bodies keep */
    float at[3];               /* from the solid's origin */
    uint map;    /* the nearest, of the body's own */
    bool found;
    bool noticed, recalled; /* it is to be remembered; it was */
    lm_vec3 out;            /* of it, in the rest shape */
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

/* lmi_mould_recall */
static float recall(__global const lmi_gpu_mould *m, __global const float *distances, const float rest[3], float4 out,
                    lm_vec3 *slope)
{
    lm_vec3 nearest, there;
    float distance = distance_at(m, distances, rest, &nearest);
    *slope = nearest;
    if (!lmi_turned_over(nearest.x * out.x + nearest.y * out.y + nearest.z * out.z,
                         sqrt(nearest.x * nearest.x + nearest.y * nearest.y + nearest.z * nearest.z))) {
        return distance;
    }
    float at = 0.0f, dist = distance, least = 0.1f * (float)m->cell, most = 2.0f * (float)m->deep;
    bool was_in = dist < 0.0f;
    for (int n = 0; n < LMI_RECALL_STEPS && at < most; n++) {
        float by = fabs(dist) > least ? fabs(dist) : least, before = dist, to = at + by;
        const float place[3] = {rest[0] + to * out.x, rest[1] + to * out.y, rest[2] + to * out.z};
        dist = distance_at(m, distances, place, &there);
        if (was_in && dist >= 0.0f) {
            at += by * before / (before - dist);
            float steep = there.x * out.x + there.y * out.y + there.z * out.z;
            if (!(steep > LMI_SAME_WAY)) {
                break;
            }
            *slope = there;
            return -at * steep;
        }
        was_in = was_in || dist < 0.0f;
        at += by;
    }
    return distance;
}

static double slop_of(__global const lmi_gpu_body *b, double fall) { return fmin(fall, 0.01 * b->rest_size); }

/* The maps of the carriers around a point, blended: blend in contact/inside.c. */
typedef struct blended {
    float total, rest[3], inverse[9];
    uint map; /* the nearest */
} blended;

static float square_to(__global const float *m, const float at[3], float d[3])
{
    for (int i = 0; i < 3; i++) {
        d[i] = at[i] - m[i];
    }
    return (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
}

/* Whether a carrier counts for a point that is at `but` at rest, in the same body. */
static bool is_far_at_rest(float4 but, float4 from, float apart)
{
    float4 off = but - from;
    return !((off.x * off.x + off.y * off.y) + off.z * off.z < apart * apart);
}

/* `but`: where the point is at rest, in the same body; carriers nearer than `apart` to that are passed over. Else apart is 0. */
static blended blend_maps(const solid_view *s, uint b, const float at[3], float4 but, float apart)
{
    __global const lmi_gpu_meeter *other = s->meeters + b;
    __global const lmi_gpu_mould *mould = s->moulds + s->solids[b].mould;
    const float reach = (float)(mould->reach * mould->reach), far = (float)(mould->far * mould->far);
    float least = 3e38f, d[3];
    blended sum;
    sum.total = 0.0f;
    sum.map = 0;
    for (int i = 0; i < 9; i++) {
        sum.rest[i / 3] = sum.inverse[i] = 0.0f;
    }
    for (uint c = 0; c < other->maps; c++) {
        float square = square_to(s->maps + (other->first_map + c) * MAP_FLOATS, at, d);
        if (square < least && (apart == 0.0f || is_far_at_rest(but, s->rests[mould->first_rest + c], apart))) {
            least = square;
            sum.map = c;
        }
    }
    const float scale = 1.0f / vf_min(vf_max(LMI_REACH_ON * least, reach), far);
    for (uint c = 0; c < other->maps; c++) {
        __global const float *m = s->maps + (other->first_map + c) * MAP_FLOATS;
        float t = 1.0f - square_to(m, at, d) * scale, w = (t * t) * (t * t);
        float4 from = s->rests[mould->first_rest + c];
        if (t > 0.0f && (apart == 0.0f || is_far_at_rest(but, from, apart))) {
            const float place[3] = {from.x, from.y, from.z};
            sum.total += w;
            for (int i = 0; i < 3; i++) {
                sum.rest[i] += w * (place[i] + ((m[3 + 3 * i] * d[0] + m[4 + 3 * i] * d[1]) + m[5 + 3 * i] * d[2]));
            }
            for (int i = 0; i < 9; i++) {
                sum.inverse[i] += w * m[3 + i];
            }
        }
    }
    for (int i = 0; i < 9 && sum.total > 1e-12f; i++) {
        sum.rest[i / 3] /= i % 3 ? 1.0f : sum.total;
        sum.inverse[i] /= sum.total;
    }
    return sum;
}

/* From the blend at a point, which is at in->at, to its depth: conclude in contact/inside.c. */
static void conclude_in(const solid_view *s, uint b, const blended *sum, float margin, float4 before, in_solid *in)
{
    __global const lmi_gpu_mould *mould = s->moulds + s->solids[b].mould;
    lm_vec3 slope;
    in->found = sum->total > 1e-12f;
    in->map = sum->map;
    if (!in->found) {
        return;
    }
    float distance = in->recalled ? recall(mould, s->distances, sum->rest, before, &slope)
                                  : distance_at(mould, s->distances, sum->rest, &slope);
    in->out = slope;
    in->found = distance < 2.0f * margin + (float)mould->cell;
    if (!in->found) {
        return;
    }
    __global const float *nearest = s->maps + (s->meeters[b].first_map + sum->map) * MAP_FLOATS;
    dmat3 back;
    for (int i = 0; i < 9; i++) {
        back.m[i / 3][i % 3] = sum->inverse[i];
    }
    lm_dvec3 steep = dvec(slope.x, slope.y, slope.z);
    lm_dvec3 off = dvec(in->at[0] - nearest[0], in->at[1] - nearest[1], in->at[2] - nearest[2]);
    lmi_way_out out =
        lmi_find_way_out(distance, steep, dmat_apply_transposed(&back, steep), off, mould->cell, margin);
    in->found = out.found;
    in->normal = out.normal;
    in->depth = out.depth;
    in->rest.x = sum->rest[0], in->rest.y = sum->rest[1], in->rest.z = sum->rest[2];
}

/* solve_self.cl: of an octree that is cut, where the point was found in it as it was. TORN: there are bodies that were cut, or touch
 * themselves; other worlds have programs without that, which need fewer registers. */
static void find_in_cut(const solid_view *s, uint b, double margin, in_solid *in);

/* From the nearest cube map of a body to the depth of a point, which is at in->at: lmi_cubes_find. */
static void find_in_cubes(const solid_view *s, uint b, float margin, in_solid *in)
{
    __global const lmi_gpu_meeter *other = s->meeters + b;
    __global const uint *own = s->cubes + 1 + b * (LMI_GPU_CUBES + 1);
    uint nearest = LMI_GPU_NONE;
    float best = 3e38f;
    for (uint n = 0; n < own[0]; n++) {
        __global const float *m = s->maps + (other->first_map + own[1 + n]) * MAP_FLOATS;
        float d[3] = {in->at[0] - m[0], in->at[1] - m[1], in->at[2] - m[2]}, square = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
        nearest = square < best ? n : nearest;
        best = vf_min(best, square);
    }
    in->found = nearest != LMI_GPU_NONE;
    if (!in->found) {
        return;
    }
    in->map = own[1 + nearest];
    __global const float *m = s->maps + (other->first_map + in->map) * MAP_FLOATS;
    __global const float *depth = s->depths + (other->first_depth + nearest) * 6 * FACE;
    float out[3] = {in->at[0] - m[0], in->at[1] - m[1], in->at[2] - m[2]}, d[3];
    for (int i = 0; i < 3; i++) {
        d[i] = (m[3 + 3 * i] * out[0] + m[4 + 3 * i] * out[1]) + m[5 + 3 * i] * out[2];
    }
    float far = sqrt((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]), now = sqrt((out[0] * out[0] + out[1] * out[1]) + out[2] * out[2]);
    if (!(far > 1e-9f && now > 1e-9f)) { /* in the very middle: up */
        out[0] = out[2] = d[0] = d[2] = 0.0f;
        out[1] = d[1] = 1.0f;
        in->depth = cube_depth(depth, d);
        now = 1.0f;
    } else {
        in->depth = (cube_depth(depth, d) - far) * now / far;
    }
    in->normal = dvec(out[0] / now, out[1] / now, out[2] / now);
    in->found = in->depth + margin > 0.0;
    if (in->found) { /* the push is taken by the particles around the point */
        float least = 3e38f, off[3];
        for (uint c = 0; c < other->maps; c++) {
            float square = square_to(s->maps + (other->first_map + c) * MAP_FLOATS, in->at, off);
            in->map = square < least ? c : in->map;
            least = vf_min(least, square);
        }
        m = s->maps + (other->first_map + in->map) * MAP_FLOATS;
        square_to(m, in->at, off);
        const float4 rest = s->rests[s->moulds[s->solids[b].mould].first_rest + in->map];
        in->rest.x = rest.x + ((m[3] * off[0] + m[4] * off[1]) + m[5] * off[2]);
        in->rest.y = rest.y + ((m[6] * off[0] + m[7] * off[1]) + m[8] * off[2]);
        in->rest.z = rest.z + ((m[9] * off[0] + m[10] * off[1]) + m[11] * off[2]);
    }
}

/* Bodies that answer as a whole need no distance from each other. */
static bool is_soft(__global const lmi_gpu_body *b) { return !(lmi_firm_share(b->firmness, b->damping) > 0.0); }

/* A point of a in b, with a share of its way left to go. */
static in_solid find_in_solid(const solid_view *s, uint a, uint b, uint point, const pair_way *w, double left)
{
    const float4 now = s->now[point], before = s->ways[point];
    __global const lmi_gpu_meeter *one = s->meeters + a, *other = s->meeters + b;
    __global const lmi_gpu_body *body = s->bodies + one->record, *to = s->bodies + other->record;
    const float here[3] = {now.x, now.y, now.z};
    in_solid in;
    in.found = other->maps > 0;
    in.map = 0;
    in.gap = 0.0;
    if (s->cubes[0] == LMI_GPU_SOLVED && one->maps > 0 && other->maps > 0 && is_soft(body) && is_soft(to)) {
        in.gap = lmi_gap_between(s->moulds[s->solids[a].mould].cell, s->moulds[s->solids[b].mould].cell, body->firmness,
                                 to->firmness, s->fall);
    }
    in.margin = one->radius + other->skin + in.gap;
    in.noticed = false;
    in.recalled = s->cubes[0] == LMI_GPU_SOLVED && as_uint(before.w) == s->solids[b].slot + 1;
    for (int i = 0; i < 3; i++) {
        in.at[i] = here[i] + (float)(body->origin[i] - to->origin[i] - left * w->way[i]);
        in.found = in.found && (in.recalled || (in.at[i] >= (float)(other->lower[i] - to->origin[i]) &&
                                                in.at[i] <= (float)(other->upper[i] - to->origin[i])));
    }
    if (in.found) {
        double margin = in.margin + fmin(slop_of(body, s->fall), slop_of(to, s->fall));
        if (s->cubes[0] == LMI_GPU_CUBE_MAP) {
            find_in_cubes(s, b, (float)margin, &in);
            return in;
        }
        const double deep = s->moulds[s->solids[b].mould].deep;
        blended sum = blend_maps(s, b, in.at, now, 0.0f);
        conclude_in(s, b, &sum, (float)(margin + (s->cubes[0] == LMI_GPU_SOLVED ? fmin(1.5 * w->far, deep) : 0.0)), before, &in);
#ifdef TORN
        if (in.found && s->solids[b].cut != LMI_GPU_NONE) {
            find_in_cut(s, b, margin, &in);
        }
#endif
        in.noticed = in.found && s->cubes[0] == LMI_GPU_SOLVED && (in.recalled || in.depth < margin - in.margin);
        in.found = in.found && !(in.depth < -margin);
    }
    return in;
}

/* Which way a touch point of a faces, unit: lmi_bulk_facing. */
static lm_dvec3 facing_of(const solid_view *s, uint point, uint a)
{
    float4 f = s->facing[point];
    __global const float *m = s->maps + (s->meeters[a].first_map + as_uint(f.w)) * MAP_FLOATS + 3;
    lm_dvec3 n = dvec((double)m[0] * f.x + (double)m[3] * f.y + (double)m[6] * f.z,
                      (double)m[1] * f.x + (double)m[4] * f.y + (double)m[7] * f.z,
                      (double)m[2] * f.x + (double)m[5] * f.y + (double)m[8] * f.z);
    double length = dvec_length(n);
    return dvec_scale(n, length > 0.0 ? 1.0 / length : 0.0);
}

/* Whether surfaces look at each other where they touch: faces in contact/meet.c. Cube maps do not ask, but of a body in itself. */
static bool is_facing(const solid_view *s, uint point, uint a, uint b, const in_solid *in)
{
    return s->meeters[a].maps == 0 || (s->cubes[0] == LMI_GPU_CUBE_MAP && a != b) || in->depth > s->moulds[s->solids[b].mould].deep ||
           dvec_dot(facing_of(s, point, a), in->normal) < LMI_FACING;
}

/* met, turned: bits of partners; those whose surfaces face the point, and those that look away. told: what is only near a collider
 * counts for contact events, and does nothing. */
__kernel void solve_find(uint count, __global const uint *owner, __global const uint *partners,
                         volatile __global uint *stops, SOLID_ARGUMENTS,
                         __global const uint *point_first, __global const uint *point_rider,
                         __global const float *point_weight, __global const float4 *v,
                         WALL_ARGUMENTS, __global const lmi_gpu_push *pushes, __global ulong *met,
                         __global ulong *turned, __global ulong *walls, uint told, __global float4 *noticed)
{
    const solid_view s = SOLID_VIEW;
    const wall_view view = WALL_VIEW;
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    uint a = owner[n];
    ulong faces = 0, away = 0;
    float4 kept = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
    for (uint k = 0; k < meeters[a].partners; k++) {
        uint b = partners[a * LMI_GPU_PARTNERS + k];
        pair_way w = way_of(&s, a, b);
        for (uint stop = 1; stop <= w.stops && !(faces >> k & 1); stop++) {
            in_solid in = find_in_solid(&s, a, b, n, &w, left_at(&w, stop));
            if (in.noticed && (as_uint(kept.w) == 0 || in.recalled)) { /* take_noticed in contact/take.c */
                kept = (float4)(in.out.x, in.out.y, in.out.z, as_float(solids[b].slot + 1));
            }
            bool facing_it = in.found && is_facing(&s, n, a, b, &in);
            faces |= facing_it ? 1ul << k : 0;
            away |= in.found && !facing_it ? 1ul << k : 0;
            if (facing_it && w.stops > 1) {
                atomic_min(stops + a * LMI_GPU_PARTNERS + k, stop); /* the first of all, in any order */
            }
        }
        away &= ~faces;
    }
    noticed[n] = kept;
    met[n] = faces;
    turned[n] = away;
    walls[n] = 0;
    if (solids[a].surfaces) {
        float4 speed = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
        for (uint k = point_first[n]; k < point_first[n + 1]; k++) {
            speed += point_weight[k] * v[point_rider[k]];
        }
        __global const lmi_gpu_body *body = bodies + meeters[a].record;
        /* To soft bodies what is only near has nothing to say yet. */
        double slop = slop_of(body, fall), least = told || pushes[a].rigid > 0.0f ? -slop : 0.0;
        walls[n] = walls_of(&view, solids[a].surfaces, a, body, n, now[n], speed, (float)slop, least);
    }
}
