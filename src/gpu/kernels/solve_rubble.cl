/*
 * Bodies that can break, where they touch each other and where their pieces do: contact/rubble.c on the device.
 *
 *   solve_rubble           one work-group: where the cells of the table are counted from, and how large they are
 *   solve_grains           once a touch point: which way it looks, and its place in the table
 *   solve_rubbed           once a touch point: how many balls it touches; and whether the host must do it
 *   solve_rub              once a touch point: these contacts
 *   solve_untwist_pieces   one work-group a piece: solve_untwist for a body that has broken
 *
 * The points of a body that can break are its particles. A contact of two balls is that of the one which would look at the other on the host;
 * b is then the only corner of a cell of its own, at a place of 0. Points come into the table in any order, and contacts are sorted.
 *
 * Pieces that are so fast, or so stiff, that they answer as a whole are left to the host.
 */

typedef struct rubble_view {
    __global const lmi_gpu_grain *grains;
    __global const uint *heads;
    uint table; /* places in it, a power of two */
    __global const uint *owner;
} rubble_view;

/* Whether the balls, or points, of a body are checked in this substep. */
static bool is_collected(__global const lmi_gpu_meeter *m) { return m->partners > 0 || (m->marks & LMI_GPU_PIECES); }

/* frame: the origin of the first body that can break, in the order of contact/pairs.c, and the side of a cell. */
__kernel __attribute__((reqd_work_group_size(WIDE, 1, 1))) void
solve_rubble(__global const lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_bulk *solids,
             __global const lmi_gpu_body *bodies, double fall, __global double *frame)
{
    __local uint firsts[WIDE];
    __local double sides[WIDE];
    const uint id = get_local_id(0);
    uint first = LMI_GPU_NONE;
    double side = 0.0;
    for (uint n = id; n < count; n += WIDE) {
        if (meeters[n].marks & LMI_GPU_RUBBLE) {
            __global const lmi_gpu_body *b = bodies + meeters[n].record;
            first = first == LMI_GPU_NONE || comes_before(solids + n, solids + first) ? n : first;
            side = fmax(side, 2.0 * LMI_BALL_DEEP * b->spacing + slop_of(b, fall));
        }
    }
    firsts[id] = first;
    sides[id] = side;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id != 0) {
        return;
    }
    for (uint n = 1; n < WIDE; n++) {
        uint other = firsts[n];
        side = fmax(side, sides[n]);
        if (other != LMI_GPU_NONE && (first == LMI_GPU_NONE || comes_before(solids + other, solids + first))) {
            first = other;
        }
    }
    for (int i = 0; i < 3 && first != LMI_GPU_NONE; i++) {
        frame[i] = bodies[meeters[first].record].origin[i];
    }
    frame[3] = side;
}

static uint grain_bucket(const int cell[3], uint table)
{
    uint hash = (uint)cell[0] * 0x8da6b343u ^ (uint)cell[1] * 0xd8163841u ^ (uint)cell[2] * 0xcb1ab31fu;
    return (hash ^ hash >> 15) & (table - 1);
}

/* Which way a ball looks: find_out in contact/rubble.c. */
static quad look_out(__global const lmi_gpu_grain *g, quad at, __global const float4 *x)
{
    quad sum = quad_of(0.0f, 0.0f, 0.0f);
    uint links = 0;
    for (int n = 0; n < 6; n++) {
        if (g->links[n] != LMI_GPU_NONE) {
            sum += at - x[g->links[n]];
            links++;
        }
    }
    float length = quad_length(sum);
    return (links < 6 && length > 0.0f ? 1.0f / length : 0.0f) * sum;
}

__kernel void solve_grains(uint count, __global const uint *owner, SOLID_ARGUMENTS, __global const uint *point_first,
                           __global const uint *point_rider, __global const float4 *x, __global const double *frame,
                           uint table, __global lmi_gpu_grain *grains, volatile __global uint *heads)
{
    const solid_view s = SOLID_VIEW;
    const uint n = get_global_id(0);
    if (n >= count || !is_collected(meeters + owner[n])) {
        return;
    }
    __global lmi_gpu_grain *g = grains + n;
    __global const lmi_gpu_body *b = bodies + meeters[owner[n]].record;
    const float at[3] = {now[n].x, now[n].y, now[n].z};
    int cell[3];
    for (int i = 0; i < 3; i++) {
        double from = (b->origin[i] - frame[i]) + at[i];
        g->cell[i] = cell[i] = (int)fmin(fmax(floor(from / frame[3]), -1e9), 1e9);
    }
    quad out = g->plate > 0.0f ? look_out(g, x[point_rider[point_first[n]]], x) : quad_from(facing_of(&s, n, owner[n]));
    g->out[0] = out.x, g->out[1] = out.y, g->out[2] = out.z;
    g->next = atomic_xchg(heads + grain_bucket(cell, table), n + 1); /* in any order */
}

/* Whether the contact of n and k is n's: a point's, or that of the ball that looks at the other on the host. */
static bool is_own(const solid_view *s, const rubble_view *r, uint n, uint k)
{
    __global const lmi_gpu_grain *g = r->grains + n, *h = r->grains + k;
    if (g->piece == h->piece || !(h->plate > 0.0f)) {
        return false;
    }
    for (int i = 2; g->plate > 0.0f && i >= 0; i--) {
        if (g->cell[i] != h->cell[i]) {
            return h->cell[i] > g->cell[i];
        }
    }
    uint a = r->owner[n], b = r->owner[k];
    return !(g->plate > 0.0f) || (a == b ? k < n : comes_before(s->solids + b, s->solids + a));
}

/* d: from k to n. */
static lmi_ball_meeting meet_grain(const solid_view *s, const rubble_view *r, uint n, uint k, lm_dvec3 *d)
{
    __global const lmi_gpu_grain *g = r->grains + n, *h = r->grains + k;
    __global const lmi_gpu_meeter *one = s->meeters + r->owner[n], *other = s->meeters + r->owner[k];
    __global const lmi_gpu_body *a = s->bodies + one->record, *b = s->bodies + other->record;
    float4 p = s->now[n], q = s->now[k];
    *d = dvec((a->origin[0] - b->origin[0]) + ((double)p.x - q.x), (a->origin[1] - b->origin[1]) + ((double)p.y - q.y),
              (a->origin[2] - b->origin[2]) + ((double)p.z - q.z));
    lm_dvec3 looks = dvec((double)h->out[0] - g->out[0], (double)h->out[1] - g->out[1], (double)h->out[2] - g->out[2]);
    lmi_ball_meeting m = lmi_balls_meet(*d, looks, (double)g->radius + h->radius,
                                        fmin(slop_of(a, s->fall), slop_of(b, s->fall)), g->plate > 0.0f ? 0.0 : h->plate);
    bool may = one == other || ((one->mask & other->group) && (other->mask & one->group));
    m.found = m.found && may;
    return m;
}

/* The first ball that n touches with a number of at least `from`, or LMI_GPU_NONE; and how many there are. */
static uint next_ball(const solid_view *s, const rubble_view *r, uint n, uint from, uint *count)
{
    uint best = LMI_GPU_NONE;
    *count = 0;
    for (int c = 0; c < 27; c++) {
        __global const lmi_gpu_grain *g = r->grains + n;
        const int cell[3] = {g->cell[0] + c % 3 - 1, g->cell[1] + c / 3 % 3 - 1, g->cell[2] + c / 9 - 1};
        for (uint k = r->heads[grain_bucket(cell, r->table)]; k; k = r->grains[k - 1].next) {
            __global const lmi_gpu_grain *h = r->grains + (k - 1);
            lm_dvec3 d;
            if (h->cell[0] != cell[0] || h->cell[1] != cell[1] || h->cell[2] != cell[2] || k - 1 < from ||
                !is_own(s, r, n, k - 1) || !meet_grain(s, r, n, k - 1, &d).found) {
                continue;
            }
            best = min(best, k - 1);
            *count += 1;
        }
    }
    return best;
}

/* Bodies in pieces, whose pieces answer as a whole, or others that do. */
static bool is_whole_body(const solid_view *s, __global const lmi_gpu_push *pushes, uint n)
{
    __global const lmi_gpu_meeter *m = s->meeters + n;
    return pushes[n].rigid > 0.0f ||
           ((m->marks & LMI_GPU_PIECES) && rigid_of(s->bodies + m->record, m->met_way) > 0.0f);
}

/* rubbed: of each point. */
__kernel void solve_rubbed(uint count, __global const uint *owner, SOLID_ARGUMENTS, __global const lmi_gpu_grain *grains,
                           __global const uint *heads, uint table, __global const lmi_gpu_push *pushes,
                           __global const ulong *met, __global const ulong *walls, __global uint *rubbed, __global uint *stop)
{
    const solid_view s = SOLID_VIEW;
    const rubble_view r = {grains, heads, table, owner};
    const uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    const uint a = owner[n];
    uint balls = 0, k = LMI_GPU_NONE;
    if (is_collected(meeters + a)) {
        k = next_ball(&s, &r, n, 0, &balls);
    }
    rubbed[n] = balls;
    bool pieces = (meeters[a].marks & LMI_GPU_PIECES) && (met[n] || walls[n] || balls);
    if ((pieces || balls) && is_whole_body(&s, pushes, a)) {
        atomic_or(stop, LMI_GPU_FAST);
    }
    for (uint left; k != LMI_GPU_NONE; k = next_ball(&s, &r, n, k + 1, &left)) {
        if (is_whole_body(&s, pushes, owner[k])) {
            atomic_or(stop, LMI_GPU_FAST);
        }
    }
}

/* first: where the contacts of each point begin. */
__kernel void solve_rub(uint count, __global const uint *owner, SOLID_ARGUMENTS, HOLD_ARGUMENTS,
                        __global const lmi_gpu_grain *grains, __global const uint *heads, uint table,
                        __global const uint *first, __global const ulong *met, __global const ulong *walls,
                        __global const uint *rubbed, __global const float4 *x, __global const float4 *v,
                        __global const lmi_gpu_push *pushes, __global const lmi_contact_rule *rules, uint rule_count, float h,
                        __global lmi_gpu_bulk *touched,
                        __global lmi_gpu_contact *contacts, volatile __global uint *buckets)
{
    const solid_view s = SOLID_VIEW;
    const holds o = HOLDS;
    const rubble_view r = {grains, heads, table, owner};
    const uint n = get_global_id(0);
    if (n >= count || rubbed[n] == 0) {
        return;
    }
    const uint a = owner[n];
    uint at = first[n] + count_of(met, walls, n), left, end = at + rubbed[n];
    for (uint k = next_ball(&s, &r, n, 0, &left); k != LMI_GPU_NONE && at < end; k = next_ball(&s, &r, n, k + 1, &left), at++) {
        const uint b = owner[k];
        __global const lmi_gpu_body *body = bodies + meeters[a].record, *other = bodies + meeters[b].record;
        lm_dvec3 d;
        lmi_ball_meeting m = meet_grain(&s, &r, n, k, &d);
        lmi_gpu_contact c;
        c.point = c.leader = n;
        c.a = a;
        c.b = b;
        c.map = LMI_GPU_BALL;
        c.seats = 0;
        c.cell = solids[b].first_cell + (point_rider[point_first[k]] - other->first);
        c.place = c.surface = quad_of(0.0f, 0.0f, 0.0f);
        c.normal = quad_from(m.normal);
        c.off = quad_from(d);
        c.depth = (float)m.depth;
        c.shallow = 0.0f;
        double friction = sqrt(body->friction * other->friction), bounce = fmax(body->restitution, other->restitution);
        lmi_contact_rules_apply(rules, rule_count, body->group, other->group, &friction, &bounce);
        c.friction = (float)friction;
        c.ratio = (float)(meeters[a].mean_mass / meeters[b].mean_mass);
        begin_contact(&o, pushes, body, x, v, (float)bounce, h, &c);
        c.slot = c.live ? atomic_inc(buckets + bucket_of_contact(meeters, solids, &c)) : 0;
        contacts[at] = c;
        touched[a].touched = touched[b].touched = 1; /* whoever writes it */
    }
}

/* --- spin --- */

/* points, particles: of all pieces, one piece after the other. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_untwist_pieces(__global const lmi_gpu_piece *pieces, __global const uint *points, __global const uint *particles,
                     __global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids,
                     __global const lmi_gpu_body *bodies, LIST_ARGUMENTS, __global const lmi_gpu_contact *contacts,
                     __global const float4 *x, __global float4 *v)
{
    __local double slots[GROUP];
    const lmi_gpu_piece piece = pieces[get_group_id(0)];
    __global const lmi_gpu_bulk *s = solids + piece.body;
    __global const lmi_gpu_body *b = bodies + meeters[piece.body].record;
    double twist[4] = {0.0, 0.0, 0.0, -1.0};
    for (uint k = get_local_id(0); k < piece.count; k += GROUP) {
        const uint point = points[piece.first + k], bucket = s->first_bucket + (particles[piece.first + k] - b->first);
        const uint all = count_of(met, walls, point) + rubbed[point];
        for (uint c = first[point]; c < first[point] + all; c++) {
            add_twist(meeters, bodies, contacts + c, true, twist);
        }
        for (uint c = bucket_first[bucket]; c < bucket_first[bucket] + buckets[bucket]; c++) {
            add_twist(meeters, bodies, contacts + list[c], false, twist);
        }
    }
    for (int i = 0; i < 4; i++) {
        twist[i] = join_group(slots, twist[i], i == 3);
    }
    if (twist[3] >= 0.0) {
        turn_back(slots, b, particles + piece.first, piece.count, meeters[piece.body].mean_mass, twist, x, v);
    }
}
