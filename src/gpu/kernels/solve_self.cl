/*
 * Where bodies touch themselves, and where others touch those that were cut: lmi_meet_itself, contact/cleft.c and touch/carriers.c's map of the
 * whole on the device.
 *
 *   solve_slack    one work-group a body: whether it is so deformed that it can touch itself; then it is the last of its own partners
 *   solve_discs    once a disc on the side of a cut: which way it faces, and its place in a table by cells of space
 *   solve_itself   once a touch point: whether it is in another place of its own body
 *
 * Discs come into the table in any order: which of them a point meets is the nearest, and of two that are equally near the first.
 */

/* Of points that touch their own body. */
typedef struct self_view {
    __global const float4 *rest; /* of touch points */
    __global const lmi_gpu_disc *discs;
    __global const uint *disc_of; /* of touch points, or LMI_GPU_NONE */
    __global const uint *heads;
} self_view;

#define SELF_ARGUMENTS                                                                                                \
    __global const float4 *point_rest, __global const lmi_gpu_disc *discs, __global const uint *disc_of,              \
        __global const uint *heads
#define SELF_VIEW                                                                                                     \
    {                                                                                                                 \
        point_rest, discs, disc_of, heads                                                                             \
    }

/* --- other bodies --- */

/* The blend of the carriers that see where they take a point: blend in contact/cleft.c. `side`: a place that the nearest of them sees. False
 * where there are none. */
static bool blend_seeing(const solid_view *s, const lmi_octree *t, uint b, double margin, in_solid *in, lm_dvec3 *rest,
                         dmat3 *inverse, lm_dvec3 *side)
{
    __global const lmi_gpu_meeter *other = s->meeters + b;
    __global const lmi_gpu_mould *mould = s->moulds + s->solids[b].mould;
    const double reach = mould->far;
    double total = 0.0, best = 1e300;
    *rest = lm_dvec3_zero();
    for (int i = 0; i < 9; i++) {
        inverse->m[i / 3][i % 3] = 0.0;
    }
    for (uint c = 0; c < other->maps; c++) {
        __global const float *m = s->maps + (other->first_map + c) * MAP_FLOATS;
        lm_dvec3 d = dvec((double)in->at[0] - m[0], (double)in->at[1] - m[1], (double)in->at[2] - m[2]);
        double square = dvec_dot(d, d);
        if (!(square < reach * reach)) {
            continue;
        }
        dmat3 back;
        for (int i = 0; i < 9; i++) {
            back.m[i / 3][i % 3] = m[3 + i];
        }
        float4 place = s->rests[mould->first_rest + c];
        lm_dvec3 from = dvec(place.x, place.y, place.z), to = dvec_add(from, dmat_apply(&back, d));
        lm_dvec3 one = lmi_octree_in_voxels(t, from), two = lmi_octree_in_voxels(t, to), way = dvec_sub(two, one);
        /* What is a hair beyond a face counts as before it. */
        double length = dvec_length(way), pull = margin / t->voxels.spacing + 0.1;
        lm_dvec3 short_of = length > pull ? dvec_sub(two, dvec_scale(way, pull / length)) : one;
        if (!lmi_octree_sees(t, one, short_of)) {
            continue;
        }
        double left = 1.0 - square / (reach * reach), w = left * left * left * left;
        total += w;
        *rest = dvec_add(*rest, dvec_scale(to, w));
        for (int i = 0; i < 9; i++) {
            inverse->m[i / 3][i % 3] += w * back.m[i / 3][i % 3];
        }
        if (square < best) {
            best = square;
            in->map = c;
            *side = short_of;
        }
    }
    if (!(total > 1e-12)) {
        return false;
    }
    *rest = dvec_scale(*rest, 1.0 / total);
    for (int i = 0; i < 9; i++) {
        inverse->m[i / 3][i % 3] /= total;
    }
    return true;
}

/* lmi_cleft_inside. */
static void find_in_cut(const solid_view *s, uint b, double margin, in_solid *in)
{
    const lmi_octree t = octree_of(&s->cut, s->solids[b].cut);
    __global const lmi_gpu_mould *mould = s->moulds + s->solids[b].mould;
    lm_dvec3 rest, side = lm_dvec3_zero(), normal;
    dmat3 inverse;
    double depth;
    lm_vec3 slope;
    in->found = blend_seeing(s, &t, b, margin, in, &rest, &inverse, &side);
    if (!in->found) {
        return;
    }
    const float at[3] = {(float)rest.x, (float)rest.y, (float)rest.z};
    double distance = distance_at(mould, s->distances, at, &slope);
    __global const float *m = s->maps + (s->meeters[b].first_map + in->map) * MAP_FLOATS;
    lm_dvec3 steep = dvec(slope.x, slope.y, slope.z), off = dvec((double)in->at[0] - m[0], (double)in->at[1] - m[1], (double)in->at[2] - m[2]);
    lmi_way_out out = lmi_find_way_out(distance, steep, dmat_apply_transposed(&inverse, steep), off, mould->cell, margin);
    in->found = out.found;
    in->normal = out.normal;
    in->depth = out.depth;
    in->rest.x = at[0], in->rest.y = at[1], in->rest.z = at[2];
    if (!in->found || !lmi_octree_cut_depth(&t, lmi_octree_in_voxels(&t, rest), side, &depth, &normal)) {
        return;
    }
    lm_dvec3 n = dmat_apply_transposed(&inverse, normal);
    double size = dvec_length(n);
    depth = size > 0.05 ? depth * t.voxels.spacing / size : in->depth;
    if (depth < in->depth) {
        in->depth = depth;
        in->normal = dvec_scale(n, 1.0 / size);
    }
    in->found = in->depth + margin > 0.0;
}

/* --- whether a body can touch itself --- */

/* The map of the whole: F^-1, and the middle of the carriers. All work-items of the group call it. */
static dmat3 find_whole(__global const lmi_gpu_meeter *m, __global const lmi_gpu_mould *mould, __global const float *maps,
                        __global const float4 *levers, __local double *slots, double mean[3])
{
    dmat3 stretch;
    double own[9];
    for (int i = 0; i < 9; i++) {
        own[i] = 0.0;
    }
    for (uint c = get_local_id(0); c < m->maps; c += GROUP) {
        for (int i = 0; i < 3; i++) {
            own[i] += maps[(m->first_map + c) * MAP_FLOATS + i];
        }
    }
    for (int i = 0; i < 3; i++) {
        mean[i] = join_group(slots, own[i], false) / m->maps;
        own[i] = 0.0;
    }
    for (uint c = get_local_id(0); c < m->maps; c += GROUP) {
        float4 lever = levers[mould->first_rest + c];
        for (int i = 0; i < 3; i++) {
            double x = maps[(m->first_map + c) * MAP_FLOATS + i] - mean[i];
            own[3 * i] += lever.x * x;
            own[3 * i + 1] += lever.y * x;
            own[3 * i + 2] += lever.z * x;
        }
    }
    for (int i = 0; i < 9; i++) {
        stretch.m[i / 3][i % 3] = join_group(slots, own[i], false);
    }
    return lmi_invert_stretch(&stretch);
}

/* How far the blend of carriers may be from the map of the whole, in the rest shape: update_whole in touch/bulk.c. */
static double find_slack(__global const lmi_gpu_meeter *m, __global const lmi_gpu_mould *mould, __global const float *maps,
                         __global const float4 *rests, __global const float4 *levers, __local double *slots)
{
    double mean[3], slack = 0.0;
    const dmat3 whole = find_whole(m, mould, maps, levers, slots, mean);
    for (uint c = get_local_id(0); c < m->maps; c += GROUP) {
        __global const float *at = maps + (m->first_map + c) * MAP_FLOATS;
        float4 rest = rests[mould->first_rest + c];
        double differs[9];
        for (int i = 0; i < 9; i++) {
            differs[i] = at[3 + i] - whole.m[i / 3][i % 3];
        }
        lm_dvec3 there = dmat_apply(&whole, dvec(at[0] - mean[0], at[1] - mean[1], at[2] - mean[2]));
        lm_dvec3 from = dvec((double)rest.x - mould->middle[0], (double)rest.y - mould->middle[1], (double)rest.z - mould->middle[2]);
        slack = fmax(slack, dvec_length(dvec_sub(from, there)) + lmi_largest_stretch(differs) * mould->far);
    }
    return join_group(slots, slack, true);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_slack(__global const lmi_gpu_meeter *meeters, __global lmi_gpu_bulk *solids, __global const lmi_gpu_mould *moulds,
            __global const float *maps, __global const float4 *rests, __global const float4 *levers,
            __global const lmi_gpu_cut *cuts, __global uint *partners, __global uint *heads, __global uint *stop)
{
    __local double slots[GROUP];
    const uint n = get_group_id(0), id = get_local_id(0);
    __global const lmi_gpu_meeter *m = meeters + n;
    __global lmi_gpu_bulk *s = solids + n;
    if (!s->itself) {
        return; /* all of the group */
    }
    __global const lmi_gpu_mould *mould = moulds + s->mould;
    const uint places = s->cut == LMI_GPU_NONE ? 0 : cuts[s->cut].heads;
    for (uint k = id; k < places; k += GROUP) {
        heads[cuts[s->cut].first_head + k] = LMI_GPU_NONE;
    }
    double slack = places ? 0.0 : find_slack(m, mould, maps, rests, levers, slots);
    bool may = places || !(2.0 * slack + 2.0 * m->radius < 0.5 * mould->apart); /* lmi_may_meet_itself */
    if (id == 0 && may && m->partners == LMI_GPU_PARTNERS) {
        atomic_or(stop, LMI_GPU_CROWDED);
    }
    may = may && m->partners < LMI_GPU_PARTNERS;
    if (id == 0) {
        s->own_partner = may ? m->partners : LMI_GPU_NONE;
    }
    if (id == 0 && may) {
        partners[n * LMI_GPU_PARTNERS + m->partners] = n;
    }
}

/* --- the two sides of a cut --- */

static uint disc_bucket(__global const lmi_gpu_cut *c, const long at[3])
{
    uint hash = (uint)at[0] * 0x9e3779b1u ^ (uint)at[1] * 0x85ebca6bu ^ (uint)at[2] * 0xc2b2ae35u;
    return c->first_head + ((hash ^ hash >> 15) & (c->heads - 1));
}

static void disc_cell(__global const lmi_gpu_cut *c, float4 now, long at[3])
{
    lm_dvec3 q = dvec_limit(dvec_scale(dvec(now.x, now.y, now.z), 1.0 / c->cell), 1e9);
    at[0] = (long)floor(q.x), at[1] = (long)floor(q.y), at[2] = (long)floor(q.z);
}

__kernel void solve_discs(uint count, SOLID_ARGUMENTS, __global lmi_gpu_disc *discs, volatile __global uint *heads)
{
    const solid_view s = SOLID_VIEW;
    const uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global lmi_gpu_disc *disc = discs + n;
    __global const lmi_gpu_cut *cut = cuts + solids[disc->owner].cut;
    lm_dvec3 out = facing_of(&s, disc->point, disc->owner);
    long at[3];
    disc_cell(cut, now[disc->point], at);
    disc->normal[0] = (float)out.x, disc->normal[1] = (float)out.y, disc->normal[2] = (float)out.z;
    disc->next = atomic_xchg(heads + disc_bucket(cut, at), n); /* in any order */
}

/* Whether the body is between two discs: whole, or they turn their backs on each other at rest. */
static bool is_slice(const solid_view *s, const lmi_octree *t, __global const lmi_gpu_disc *a,
                     __global const lmi_gpu_disc *b)
{
    const float4 out = s->facing[a->point], facing = s->facing[b->point];
    const lm_dvec3 d = dvec((double)b->place[0] - a->place[0], (double)b->place[1] - a->place[1],
                            (double)b->place[2] - a->place[2]);
    __global const ushort *one = t->at[a->voxel], *other = t->at[b->voxel];
    if (lmi_discs_back(d, dvec(out.x, out.y, out.z), dvec(facing.x, facing.y, facing.z), t->voxels.spacing)) {
        return true;
    }
    return a->part == b->part &&
           lmi_octree_sees(t, dvec(one[0] + 0.5, one[1] + 0.5, one[2] + 0.5),
                           dvec(other[0] + 0.5, other[1] + 0.5, other[2] + 0.5));
}

static lmi_disc_meeting meet_disc(const solid_view *s, const self_view *self, uint a, uint b)
{
    __global const lmi_gpu_disc *one = self->discs + a, *other = self->discs + b;
    float4 p = s->now[one->point], q = s->now[other->point];
    return lmi_discs_meet(dvec((double)q.x - p.x, (double)q.y - p.y, (double)q.z - p.z),
                          dvec(one->normal[0], one->normal[1], one->normal[2]),
                          dvec(other->normal[0], other->normal[1], other->normal[2]));
}

/* The disc that a disc of the body a is in, or up to the slop before: lmi_cleft_meet. Or LMI_GPU_NONE. */
static uint find_disc(const solid_view *s, const self_view *self, uint a, uint disc)
{
    __global const lmi_gpu_cut *cut = s->cut.cuts + s->solids[a].cut;
    const lmi_octree t = octree_of(&s->cut, s->solids[a].cut);
    __global const lmi_gpu_disc *own = self->discs + disc;
    const double slop = slop_of(s->bodies + s->meeters[a].record, s->fall);
    double nearest = LMI_DISC_BESIDE * t.voxels.spacing;
    uint best = LMI_GPU_NONE;
    long at[3];
    disc_cell(cut, s->now[own->point], at);
    for (int k = 0; k < 27; k++) {
        const long cell[3] = {at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1};
        for (uint n = self->heads[disc_bucket(cut, cell)]; n != LMI_GPU_NONE; n = self->discs[n].next) {
            __global const lmi_gpu_disc *other = self->discs + n;
            if ((double)other->normal[0] * own->normal[0] + (double)other->normal[1] * own->normal[1] +
                    (double)other->normal[2] * own->normal[2] >
                LMI_DISC_OPPOSITE) {
                continue;
            }
            lmi_disc_meeting m = meet_disc(s, self, disc, n);
            bool nearer = m.beside < nearest || (m.beside == nearest && best != LMI_GPU_NONE && n < best);
            if (nearer && m.depth > -slop && m.depth <= LMI_DISC_BELOW * t.voxels.spacing && !is_slice(s, &t, own, other)) {
                nearest = m.beside;
                best = n;
            }
        }
    }
    return best;
}

/* --- points in their own body --- */

/* `disc`: the one that the point is in, or LMI_GPU_NONE: then it may be in the body elsewhere. */
static in_solid find_in_itself(const solid_view *s, const self_view *self, uint a, uint point, uint disc)
{
    const float4 at = s->now[point], rest = self->rest[point];
    in_solid in;
    in.at[0] = at.x, in.at[1] = at.y, in.at[2] = at.z;
    in.found = true;
    in.noticed = in.recalled = false;
    in.map = 0;
    in.gap = 0.0;
    in.rest.x = in.rest.y = in.rest.z = 0.0f; /* of a disc too: an octree's points are held by carriers */
    if (disc != LMI_GPU_NONE) {
        lmi_disc_meeting m = meet_disc(s, self, self->disc_of[point], disc);
        in.margin = 0.0; /* both sides of a cut are where the blade went */
        in.normal = m.normal;
        in.depth = m.depth;
        in.map = as_uint(s->facing[self->discs[disc].point].w);
        return in;
    }
    const float apart = (float)s->moulds[s->solids[a].mould].apart;
    in.margin = s->meeters[a].radius + s->meeters[a].skin;
    blended sum = blend_maps(s, a, in.at, rest, apart);
    conclude_in(s, a, &sum, (float)in.margin, at, &in);
    double off[3] = {(double)in.rest.x - rest.x, (double)in.rest.y - rest.y, (double)in.rest.z - rest.z};
    in.found = in.found && sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]) > 0.5 * apart;
    return in;
}

/* disc_met: the disc that each point is in. */
__kernel void solve_itself(uint count, __global const uint *owner, SOLID_ARGUMENTS, SELF_ARGUMENTS,
                           __global uint *disc_met, __global ulong *met)
{
    const solid_view s = SOLID_VIEW;
    const self_view self = SELF_VIEW;
    const uint n = get_global_id(0);
    if (n >= count || !solids[owner[n]].itself || solids[owner[n]].own_partner == LMI_GPU_NONE) {
        return;
    }
    const uint a = owner[n];
    uint disc = disc_of[n] == LMI_GPU_NONE ? LMI_GPU_NONE : find_disc(&s, &self, a, disc_of[n]);
    in_solid in = find_in_itself(&s, &self, a, n, disc);
    disc_met[n] = disc;
    met[n] |= in.found && is_facing(&s, n, a, a, &in) ? 1ul << solids[a].own_partner : 0;
}
