/*
 * From the points that are in something (solve_find.cl) to contacts, in a fixed order.
 *
 *   solve_pairs    one work-group a body: which partners any of its points are in
 *   solve_stops    once a touch point: fast bodies meet where they touch first on their way
 *   solve_count    one work-group a body: contacts of its points
 *   solve_offsets  one work-group: where the contacts of each body begin
 *   solve_claim    once a touch point: its contacts, walls first
 *   solve_fill     once a contact: all about it; and a count of those in each bucket
 *   solve_buckets  one work-group a body: where the buckets of contacts with its carriers and cells begin
 *   solve_list     once a contact, solve_sort once a bucket: the contacts of each, in their order
 *
 * Buckets are counted atomically, and sorted after that.
 */

/* --- counting --- */

static inline ulong bits_of(__global const uint *words) { return (ulong)words[1] << 32 | words[0]; }

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_pairs(__global const lmi_gpu_meeter *meeters, __global lmi_gpu_bulk *solids, __global const ulong *met,
            __global const ulong *turned, __global uint *buckets)
{
    __local ulong slots[2][GROUP];
    __global const lmi_gpu_meeter *m = meeters + get_group_id(0);
    __global lmi_gpu_bulk *s = solids + get_group_id(0);
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
static ulong nested_of(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids,
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

/* Where a pair meets first on its way: the stop, or the last where it does not. */
static uint stop_of(const solid_view *s, __global const uint *partners, __global const uint *stops, uint a, uint k,
                    const pair_way *w)
{
    uint b = partners[a * LMI_GPU_PARTNERS + k], back = 0, first = stops[a * LMI_GPU_PARTNERS + k];
    if (w->stops == 1) {
        return 1;
    }
    while (back < s->meeters[b].partners && partners[b * LMI_GPU_PARTNERS + back] != a) {
        back++;
    }
    first = back < s->meeters[b].partners ? min(first, stops[b * LMI_GPU_PARTNERS + back]) : first;
    return first == LMI_GPU_NONE ? w->stops : first;
}

/* Of fast pairs only those points count that are in the other body where the pair meets first. */
__kernel void solve_stops(uint count, __global const uint *owner, __global const uint *partners,
                          __global const uint *stops, SOLID_ARGUMENTS, __global ulong *met, __global ulong *turned)
{
    const solid_view s = SOLID_VIEW;
    uint n = get_global_id(0);
    if (n >= count || !(met[n] | turned[n])) {
        return;
    }
    ulong faces = met[n], away = turned[n];
    for (uint k = 0; k < meeters[owner[n]].partners; k++) {
        uint a = owner[n], b = partners[a * LMI_GPU_PARTNERS + k];
        pair_way w = way_of(&s, a, b);
        if (!((faces | away) >> k & 1) || w.stops == 1) {
            continue;
        }
        in_solid in = find_in_solid(&s, a, b, n, &w, left_at(&w, stop_of(&s, partners, stops, a, k, &w)));
        bool facing_it = in.found && is_facing(&s, n, a, b, &in);
        faces = facing_it ? faces : faces & ~(1ul << k);
        away = in.found && !facing_it ? away | 1ul << k : away & ~(1ul << k);
    }
    met[n] = faces;
    turned[n] = away;
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
solve_count(__global const lmi_gpu_meeter *meeters, __global lmi_gpu_bulk *solids, __global const uint *partners,
            __global const lmi_gpu_push *pushes, __global ulong *met, __global const ulong *turned,
            __global const ulong *walls, __global const uint *rubbed, __global uint *first)
{
    __local uint slots[GROUP];
    const uint a = get_group_id(0), id = get_local_id(0);
    __global const lmi_gpu_meeter *m = meeters + a;
    const bool rigid = pushes[a].rigid > 0.0f;
    uint sum = 0, wholes = 0;
    for (uint n = 0; n < m->points; n += GROUP) {
        uint own = 0, whole = 0, before, at = m->first_point + n + id;
        if (n + id < m->points) {
            ulong with = met[at] | (turned[at] ? turned[at] & nested_of(meeters, solids, partners, a, turned[at]) : 0);
            met[at] = with;
            own = (uint)popcount(with) + (uint)popcount(walls[at]);
            whole = rigid ? own : 0;
            own += rubbed[at]; /* both sides of these answer locally */
            for (uint k = 0; !rigid && k < m->partners; k++) {
                whole += (with >> k & 1) && pushes[partners[a * LMI_GPU_PARTNERS + k]].rigid > 0.0f;
            }
        }
        uint all = scan_group(slots, whole, &before);
        wholes += all;
        all = scan_group(slots, own, &before);
        if (n + id < m->points) {
            first[at] = sum + before;
        }
        sum += all;
    }
    if (id == 0) {
        solids[a].contacts = sum;
        solids[a].wholes = wholes;
    }
}

/* Where the contacts (or those in the lists) of each body begin. found: how many there are in all, the word for the host, how
 * many of them are with sides that answer as a whole, and how many levels these are in (solve_levels). */
__kernel __attribute__((reqd_work_group_size(WIDE, 1, 1))) void
solve_offsets(__global lmi_gpu_bulk *solids, uint count, uint lists, __global uint *found, __global const uint *stop)
{
    __local uint sums[WIDE], wholes[WIDE];
    uint id = get_local_id(0), each = (count + WIDE - 1) / WIDE, begin = min(id * each, count), end = min(begin + each, count);
    uint sum = 0, whole = 0;
    for (uint n = begin; n < end; n++) {
        sum += lists ? solids[n].listed : solids[n].contacts;
        whole += solids[n].wholes;
    }
    sums[id] = sum;
    wholes[id] = whole;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = 0, whole_before = 0;
    for (uint n = 0; n < id; n++) {
        at += sums[n];
        whole_before += wholes[n];
    }
    if (id == WIDE - 1 && !lists) {
        found[0] = at + sum;
        found[1] = *stop;
        found[2] = whole_before + whole;
        found[3] = 0;
    }
    for (uint n = begin; n < end; n++) {
        __global lmi_gpu_bulk *s = solids + n;
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

/* From the middle of b to that of a, with some of its way left to go: where the nearest way out may be the far side. */
static lm_dvec3 away_from(__global const lmi_gpu_body *a, __global const lmi_gpu_body *b, lm_dvec3 left, bool up)
{
    lm_dvec3 d = dvec((a->origin[0] + a->centre[0]) - (b->origin[0] + b->centre[0]),
                      (a->origin[1] + a->centre[1]) - (b->origin[1] + b->centre[1]),
                      (a->origin[2] + a->centre[2]) - (b->origin[2] + b->centre[2]));
    d = dvec_sub(d, left);
    double size = dvec_length(d);
    return size > 1e-6 * a->rest_size ? dvec_scale(d, 1.0 / size) : dvec(0.0, up ? 1.0 : -1.0, 0.0);
}

/* What a contact is held by in b: lmi_bulk_grip. */
static void grip(const solid_view *s, const holds *o, __global const float4 *map_across, __global const uint *map, __global const uint *cells, uint b,
                 const in_solid *in, __global const float4 *x, lmi_gpu_contact *c)
{
    __global const lmi_gpu_meeter *other = s->meeters + b;
    __global const lmi_gpu_bulk *solid = s->solids + b;
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
            uint block = map[2 * (body->map + at)]; /* beside it: its constants */
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
        const float d[3] = {in->at[0] - m[0], in->at[1] - m[1], in->at[2] - m[2]};
        const float4 across = map_across[c->map];
        lm_dvec3 place = dvec((m[3] * d[0] + m[4] * d[1]) + m[5] * d[2], (m[6] * d[0] + m[7] * d[1]) + m[8] * d[2],
                              (m[9] * d[0] + m[10] * d[1]) + m[11] * d[2]);
        c->place = quad_from(lmi_hold_within(place, dvec(across.x, across.y, across.z), across.w));
    }
}

/* sum w² / m of both sides, less what answers as a whole. */
static float plain_of(const holds *o, const lmi_gpu_contact *c, __global const float4 *v, float share_a, float share_b)
{
    float a = 0.0f, b = 0.0f;
    for (uint k = o->point_first[c->point]; k < o->point_first[c->point + 1]; k++) {
        float w = o->point_weight[k];
        a += w != 0.0f ? w * (share_a * w / v[o->point_rider[k]].w) : 0.0f;
    }
    for (uint k = 0; c->b != LMI_GPU_NONE && c->cell != LMI_GPU_NONE && k < 8; k++) {
        float w = weight_of_corner(k, c->place);
        b += w != 0.0f ? w * (share_b * w / v[o->corners[8 * c->cell + k]].w) : 0.0f;
    }
    if (c->b != LMI_GPU_NONE && c->cell == LMI_GPU_NONE) {
        for (uint k = o->map_first[c->map]; k < o->map_first[c->map + 1]; k++) {
            float w = weight_of_map(o->map_hold[k], c->place);
            b += w != 0.0f ? w * (share_b * w / v[o->map_rider[k]].w) : 0.0f;
        }
    }
    return a + c->ratio * b;
}

/* How fast a contact comes. */
static void measure_contact(const holds *o, __global const float4 *v, lmi_gpu_contact *c)
{
    c->steady = contact_sum(o, c, v, c->surface);
    c->approach = -quad_dot(c->steady, c->normal);
    c->bounce = c->approach > LMI_BOUNCE_SPEED ? c->restitution * c->approach : 0.0f;
}

/* Approach and what follows from it: contact/take.c. body: that of a. */
static void begin_contact(const holds *o, __global const lmi_gpu_push *pushes, __global const lmi_gpu_body *body,
                          __global const float4 *x, __global const float4 *v, float restitution, float h, lmi_gpu_contact *c)
{
    const bool other = c->b != LMI_GPU_NONE;
    const float rigid_a = pushes[c->a].rigid, rigid_b = other ? pushes[c->b].rigid : 0.0f;
    const bool whole = rigid_a > 0.0f || rigid_b > 0.0f;
    quad none = quad_of(0.0f, 0.0f, 0.0f), at_a = sum_point(o, c->point, x), at_b = other ? sum_other(o, c, x) : none;
    c->braked = c->more = c->arm_a = c->arm_b = none;
    c->ahead = whole ? quad_of(at_a.x - at_b.x, at_a.y - at_b.y, at_a.z - at_b.z) : none;
    c->pressed = c->shifted = c->deep = c->plain = 0.0f;
    c->restitution = restitution;
    measure_contact(o, v, c);
    c->found = c->depth;
    c->live = c->depth >= 0.0f ? LMI_GPU_SOFT : LMI_GPU_NEAR; /* what is only near has nothing to say to soft bodies */
    if (whole) {
        c->live = c->depth < 0.0f && c->approach > LMI_BOUNCE_SPEED ? LMI_GPU_WATCHED : LMI_GPU_WHOLE;
        c->arm_a = rigid_a > 0.0f ? quad_of(at_a.x, at_a.y, at_a.z) - pushes[c->a].centre : none;
        c->arm_b = rigid_b > 0.0f ? quad_of(at_b.x, at_b.y, at_b.z) - pushes[c->b].centre : none;
        c->plain = plain_of(o, c, v, 1.0f - rigid_a, 1.0f - rigid_b);
        side one = side_of(pushes + c->a, false), two = side_of(pushes + (other ? c->b : c->a), false);
        c->deep = mobility_of(c, &one, &two, c->normal);
        c->live = c->deep > 0.0f ? c->live : LMI_GPU_NEAR; /* nothing can move it */
    }
    if (other || !whole) {
        c->depth = lmi_soft_depth(c->depth, c->approach, LMI_LEFT * (float)body->rest_size, h);
    }
    c->level = c->depth + quad_dot(at_a - at_b, c->normal);
}

/* Who touches what: the points and partners of contacts, one after the other. A contact's map tells, until solve_fill, which partner of a
 * b is, and its slot whether the two bodies are nested. */
__kernel void solve_claim(uint count, __global const uint *owner, __global const uint *leader,
                          __global const uint *partners, __global lmi_gpu_bulk *solids, __global const uint *near,
                          __global const ulong *met, __global const ulong *turned, __global const ulong *walls,
                          __global const uint *rubbed, __global uint *first,
                          __global lmi_gpu_contact *contacts)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    uint a = owner[n], at = solids[a].first_contact + first[n];
    first[n] = at;
    for (ulong left = walls[n]; left; left &= left - 1) {
        contacts[at].point = n;
        contacts[at].leader = leader[n];
        contacts[at].a = a;
        contacts[at].b = LMI_GPU_NONE;
        contacts[at++].map = near[a * LMI_GPU_SOLVED_SURFACES + (63 - (uint)clz(left & -left))];
    }
    ulong with = met[n];
    for (uint k = 0; with; k++, with >>= 1) {
        if (with & 1) {
            uint b = partners[a * LMI_GPU_PARTNERS + k];
            contacts[at].point = n;
            contacts[at].leader = leader[n];
            contacts[at].a = a;
            contacts[at].b = b;
            contacts[at].map = k;
            contacts[at++].slot = turned[n] >> k & 1;
            solids[a].touched = solids[b].touched = 1; /* whoever writes it */
        }
    }
    for (uint k = 0; k < rubbed[n]; k++) {
        contacts[at++].map = LMI_GPU_BALL; /* solve_rub */
    }
}

static float meet_wall(const wall_view *view, __global const lmi_gpu_body *body, float4 now, float4 speed, float slop,
                       lmi_gpu_contact *c)
{
    at_wall w = find_at_wall(view, c->map, body, c->point, now, speed, slop);
    c->normal = quad_of(w.normal[0], w.normal[1], w.normal[2]);
    c->surface = quad_of(w.velocity[0], w.velocity[1], w.velocity[2]);
    c->place = quad_of(0.0f, 0.0f, 0.0f);
    c->depth = w.depth;
    c->friction = w.friction;
    c->ratio = 0.0f;
    c->cell = LMI_GPU_NONE;
    return w.bounce;
}

__kernel void solve_fill(uint count, __global const uint *partners, __global const uint *stops, SOLID_ARGUMENTS, SELF_ARGUMENTS,
                         __global const uint *disc_met, HOLD_ARGUMENTS, __global const float4 *map_across, __global const uint *map, __global const uint *cells, __global const float4 *x, __global const float4 *v,
                         WALL_ARGUMENTS, __global const lmi_gpu_push *pushes,
                         __global lmi_gpu_contact *contacts, volatile __global uint *buckets, volatile __global uint *deepest)
{
    const solid_view s = SOLID_VIEW;
#ifdef TORN
    const self_view self = SELF_VIEW;
#endif
    const wall_view view = WALL_VIEW;
    const holds o = HOLDS;
    const float h = (float)seconds;
    uint n = get_global_id(0);
    if (n >= count || contacts[n].map == LMI_GPU_BALL) {
        return;
    }
    lmi_gpu_contact c = contacts[n];
    const uint a = c.a, b = c.b, partner = c.map;
    __global const lmi_gpu_body *body = bodies + meeters[a].record;
    float restitution;
    c.off = quad_of(0.0f, 0.0f, 0.0f);
    if (b == LMI_GPU_NONE) {
        restitution = meet_wall(&view, body, now[c.point], sum_point(&o, c.point, v), (float)slop_of(body, fall), &c);
        begin_contact(&o, pushes, body, x, v, restitution, h, &c);
        c.slot = 0;
        contacts[n] = c;
        return;
    }
    __global const lmi_gpu_body *other = bodies + meeters[b].record;
    pair_way w = way_of(&s, a, b);
    double left = left_at(&w, stop_of(&s, partners, stops, a, c.map, &w));
#ifdef TORN
    in_solid in = a == b ? find_in_itself(&s, &self, a, c.point, disc_met[c.point])
                         : find_in_solid(&s, a, b, c.point, &w, left);
#else
    in_solid in = find_in_solid(&s, a, b, c.point, &w, left);
#endif
    bool far = a != b && cubes[0] != LMI_GPU_CUBE_MAP && !(meeters[a].marks & LMI_GPU_PIECES) && /* the nearest way out may be the far side */
               !in.recalled && (c.slot || in.depth > moulds[solids[b].mould].deep);
    lm_dvec3 rest_of_way = dvec(left * w.way[0], left * w.way[1], left * w.way[2]);
    lm_dvec3 normal = far ? away_from(body, other, rest_of_way, solids[a].slot > solids[b].slot) : in.normal;
    c.normal = quad_from(normal);
    c.off = quad_from(rest_of_way);
    c.surface = quad_of(0.0f, 0.0f, 0.0f);
    c.depth = (float)(in.depth + in.margin - dvec_dot(rest_of_way, normal));
    c.shallow = (float)(LMI_SHALLOW * in.gap);
    double friction = sqrt(body->friction * other->friction), bounce = fmax(body->restitution, other->restitution);
    lmi_contact_rules_apply(rules, rule_count, body->group, other->group, &friction, &bounce);
    c.friction = (float)friction;
    c.ratio = (float)(meeters[a].mean_mass / meeters[b].mean_mass);
    grip(&s, &o, map_across, map, cells, b, &in, x, &c);
    quad held = sum_other(&o, &c, x);
    c.off += quad_of(in.at[0] - held.x, in.at[1] - held.y, in.at[2] - held.z);
    begin_contact(&o, pushes, body, x, v, (float)bounce, h, &c);
    if (a != b && c.live == LMI_GPU_SOFT && c.found > in.gap) { /* in any order: bits of positive numbers are in theirs */
        atomic_max(deepest + a * LMI_GPU_PARTNERS + partner, as_uint((float)(c.found - in.gap)));
    }
    c.slot = c.live ? atomic_inc(buckets + bucket_of_contact(meeters, solids, &c)) : 0;
    contacts[n] = c;
}

/* buckets: from counts to where they end in the list of their body; bucket_first: where they begin. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_buckets(__global lmi_gpu_bulk *solids, __global const uint *buckets, __global uint *bucket_first)
{
    __local uint slots[GROUP];
    __global lmi_gpu_bulk *s = solids + get_group_id(0);
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
                         __global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids,
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
__kernel void solve_sort(uint count, __global const uint *bucket_owner, __global const lmi_gpu_bulk *solids,
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
