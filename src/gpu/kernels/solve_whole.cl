/*
 * Contacts of bodies that answer as a whole, for some share: step/push.c and the sweeps of step/solve.c.
 *
 *   solve_push     one work-group a body: how it answers, and where its centre and inertia are then
 *   solve_chain    one work-group a body: its whole contacts in the host's order
 *   solve_merge    once a body: contacts of neighbours on one cell of a lattice that say the same
 *   solve_groups   one work-group: bodies that such contacts connect
 *   solve_levels   one work-group for each of these groups: its contacts in levels. Contacts of a level share no body, and whatever
 *                  comes before a contact on either of its bodies is on a level before
 *   solve_sweep    one work-group for each group: goes through its levels, there or back
 *   solve_end      one work-group a body: what it was given as a whole, to its particles
 *
 * Gauss and Seidel's method sees what the contacts before have changed, so its order counts, but only between contacts that share a
 * body. A sweep takes as many steps as the longest chain has contacts, however many bodies there are. It pays where many
 * bodies have few contacts each; the host is better at a few that all hang together.
 */

#define STILL_SPEED 1e-4f
#define MOST_TURN 1.0f

enum { SWEEP_WARM, SWEEP_VELOCITIES, SWEEP_BACK, SWEEP_POSITIONS, SWEEP_KEEP };

/* --- how bodies answer --- */

/* rigidity in step/push.c. */
static float rigid_of(__global const lmi_gpu_body *b, double way)
{
    double stiff = fmin(((double)b->alpha - 0.88) / 0.1, ((double)b->damping - 0.3) / 0.1);
    double fast = (way / b->rest_size - 0.08) / 0.1;
    return b->pinned || !(b->rest_size > 0.0) ? 0.0f : (float)fmin(fmax(fmax(stiff, fast), 0.0), 1.0);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_push(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_body *bodies, __global const float4 *x,
           __global const float4 *v, __global lmi_gpu_push *pushes)
{
    __local double slots[GROUP];
    __global const lmi_gpu_meeter *m = meeters + get_group_id(0);
    __global const lmi_gpu_body *b = bodies + m->record;
    __global lmi_gpu_push *p = pushes + get_group_id(0);
    const float rigid = m->loose ? 0.0f : rigid_of(b, m->maps ? m->met_way : 0.6 * m->way);
    const uint id = get_local_id(0);
    const quad zero = quad_of(0.0f, 0.0f, 0.0f);
    if (id == 0) {
        p->move = p->turn = p->velocity = p->spin = p->mean = p->drift = p->twist = zero;
        p->rigid = rigid;
        p->inverse_mass = 0.0f;
    }
    if (!(rigid > 0.0f)) {
        return; /* all of the group */
    }
    double sum[14]; /* mass, first, second, momentum; and particles that no region holds */
    for (int i = 0; i < 14; i++) {
        sum[i] = 0.0;
    }
    for (uint n = b->first + id; n < b->first + b->particles; n += GROUP) {
        const double mass = v[n].w, u[3] = {v[n].x, v[n].y, v[n].z};
        const double r[3] = {(double)x[n].x - b->centre[0], (double)x[n].y - b->centre[1], (double)x[n].z - b->centre[2]};
        sum[0] += mass;
        sum[13] += mass > 0.0 && !(x[n].w > 0.0f);
        for (int i = 0; i < 3; i++) {
            sum[1 + i] += mass * r[i];
            sum[4 + i] += mass * r[i] * r[i];
            sum[7 + i] += mass * r[i] * r[(i + 1) % 3];
            sum[10 + i] += mass * u[i];
        }
    }
    for (int i = 0; i < 14; i++) {
        sum[i] = join_group(slots, sum[i], false);
    }
    if (id != 0) {
        return;
    }
    const double mass = sum[0], c[3] = {sum[1] / mass, sum[2] / mass, sum[3] / mass};
    double inertia[6];
    inertia_of(mass, c, sum + 4, inertia);
    p->rigid = sum[13] > 0.0 ? 0.0f : rigid;
    p->centre = quad_from(dvec(b->centre[0] + c[0], b->centre[1] + c[1], b->centre[2] + c[2]));
    p->inverse_mass = (float)(1.0 / mass);
    p->mean = quad_from(dvec(sum[10] / mass, sum[11] / mass, sum[12] / mass));
    for (int j = 0; j < 3; j++) {
        p->turning[j] = quad_from(dmat_solve_spin(inertia, dvec(j == 0, j == 1, j == 2)));
    }
}

/* --- their order --- */

static bool is_whole(__global const lmi_gpu_contact *c) { return c->live >= LMI_GPU_WHOLE; }

/* Whether contact c comes before contact d in the host's list; both are of body p. */
static bool is_contact_before(__global const lmi_gpu_bulk *solids, __global const lmi_gpu_contact *contacts, uint p,
                              uint c, uint d)
{
    __global const lmi_gpu_contact *one = contacts + c, *other = contacts + d;
    bool wall = one->b == LMI_GPU_NONE, walled = other->b == LMI_GPU_NONE;
    if (wall || walled) {
        return wall != walled ? wall : one->map != other->map ? one->map < other->map : one->point < other->point;
    }
    uint with = one->a == p ? one->b : one->a, with_other = other->a == p ? other->b : other->a;
    if (with != with_other && (with == p || with_other == p)) {
        return with_other == p; /* what touches itself comes last */
    }
    if (with != with_other) {
        return is_pair_before(solids, p, with, with_other);
    }
    if (one->a != other->a) { /* the points of whom comes first, first */
        return comes_before(solids + one->a, solids + other->a);
    }
    return one->point < other->point;
}

/* chain: of each body, from the place on where its contacts and those in its lists begin together. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_chain(__global lmi_gpu_bulk *solids, __global const uint *list, __global const lmi_gpu_contact *contacts,
            __global uint *unsorted, __global uint *chain)
{
    __local uint slots[GROUP];
    const uint id = get_local_id(0), who = get_group_id(0);
    __global lmi_gpu_bulk *s = solids + who;
    const uint first = s->first_contact + s->first_listed, all = s->contacts + s->listed;
    uint count = 0;
    for (uint n = 0; n < all; n += GROUP) {
        uint at = n + id, c = 0, before;
        if (at < all) {
            c = at < s->contacts ? s->first_contact + at : list[s->first_listed + at - s->contacts];
        }
        bool again = at >= s->contacts && at < all && contacts[c].a == who; /* it touches itself: once will do */
        bool wanted = at < all && !again && is_whole(contacts + c);
        uint sum = scan_group(slots, wanted, &before);
        if (wanted) {
            unsorted[first + count + before] = c;
        }
        count += sum;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint n = id; n < count; n += GROUP) {
        uint c = unsorted[first + n], rank = 0;
        for (uint k = 0; k < count; k++) {
            rank += k != n && is_contact_before(solids, contacts, who, unsorted[first + k], c);
        }
        chain[first + rank] = c;
    }
    if (id == 0) {
        s->chained = count;
        s->cursor = 0;
    }
}

/* Points that touch their own body are looked at so many at a time, and do not know of those before: SELF_BLOCKS in step/mutual.c. */
static uint own_window(__global const lmi_gpu_meeter *m, __global const lmi_gpu_contact *c)
{
    return (c->point - m->first_point) / (32 * LMI_BLOCK);
}

/* lmi_contact_add: neighbours that ride on one cell, with the same partner, count once, and the deepest of them. */
__kernel void solve_merge(uint count, __global const lmi_gpu_bulk *solids, __global const lmi_gpu_meeter *meeters,
                          __global const lmi_gpu_body *bodies, __global const uint *chain,
                          __global lmi_gpu_contact *contacts)
{
    uint n = get_global_id(0), last = LMI_GPU_NONE;
    if (n >= count || solids[n].chained == 0) {
        return;
    }
    __global const uint *own = chain + solids[n].first_contact + solids[n].first_listed;
    const double size = bodies[meeters[n].record].rest_size;
    for (uint k = 0; k < solids[n].chained; k++) {
        __global lmi_gpu_contact *c = contacts + own[k];
        if (c->a != n) {
            last = LMI_GPU_NONE;
            continue;
        }
        __global lmi_gpu_contact *before = contacts + last;
        bool same = last != LMI_GPU_NONE && before->leader == c->leader && before->b == c->b &&
                    (c->b != LMI_GPU_NONE || before->map == c->map) &&
                    (c->b != n || own_window(meeters + n, before) == own_window(meeters + n, c));
        if (same && c->found < 0.02 * size) {
            if (c->found <= (double)before->found + 1e-3 * size) {
                c->live = 0;
                continue;
            }
            before->live = 0;
        }
        last = own[k];
    }
}

/* The next contact of a body that is not done; LMI_GPU_NONE: there is none. */
static uint next_of(__global lmi_gpu_bulk *s, __global const uint *chain, __global const lmi_gpu_contact *contacts)
{
    uint first = s->first_contact + s->first_listed, at = s->cursor;
    while (at < s->chained && contacts[chain[first + at]].live != LMI_GPU_WHOLE) {
        at++;
    }
    s->cursor = at;
    return at < s->chained ? chain[first + at] : LMI_GPU_NONE;
}

/* Partners of a body that whole contacts may connect it with. */
static bool is_connected(__global const lmi_gpu_bulk *s, __global const lmi_gpu_push *pushes, uint n, uint k, uint partner)
{
    return ((bits_of(s->met) | bits_of(s->turned)) >> k & 1) && (pushes[n].rigid > 0.0f || pushes[partner].rigid > 0.0f);
}

/* Labels to the lowest number among those that are connected. */
static void find_labels(__global const lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_bulk *solids,
                        __global const uint *partners, __global const lmi_gpu_push *pushes,
                        __global lmi_gpu_group *groups, __local volatile uint *changed)
{
    const uint id = get_local_id(0);
    uint again;
    do {
        if (id == 0) {
            *changed = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint n = id; n < count; n += WIDE) {
            for (uint k = 0; k < meeters[n].partners; k++) {
                uint with = partners[n * LMI_GPU_PARTNERS + k];
                if (is_connected(solids + n, pushes, n, k, with)) {
                    uint a = groups[n].label, b = groups[with].label, low = min(a, b);
                    if (a != b) { /* in any order: all end with the lowest */
                        atomic_min((volatile __global uint *)&groups[n].label, low);
                        atomic_min((volatile __global uint *)&groups[with].label, low);
                        *changed = 1;
                    }
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        again = *changed;
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (again);
}

/* roots: how many groups there are, then the first body of each. members: of the groups, one after the other. */
__kernel __attribute__((reqd_work_group_size(WIDE, 1, 1))) void
solve_groups(__global const lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_bulk *solids,
             __global const uint *partners, __global const lmi_gpu_push *pushes, __global lmi_gpu_group *groups,
             __global uint *roots, __global uint *members)
{
    __local uint sums[3][WIDE];
    __local volatile uint changed;
    const uint id = get_local_id(0), each = (count + WIDE - 1) / WIDE;
    const uint begin = min(id * each, count), end = min(begin + each, count);
    for (uint n = id; n < count; n += WIDE) {
        groups[n].label = n;
        groups[n].members = groups[n].contacts = groups[n].filled = groups[n].levels = 0;
    }
    find_labels(meeters, count, solids, partners, pushes, groups, &changed);
    for (uint n = id; n < count; n += WIDE) {
        if (solids[n].chained) {
            atomic_inc((volatile __global uint *)&groups[groups[n].label].members);
            atomic_add((volatile __global uint *)&groups[groups[n].label].contacts, solids[n].wholes);
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    uint own[3] = {0, 0, 0}, before[3] = {0, 0, 0};
    for (uint n = begin; n < end; n++) {
        own[0] += groups[n].members > 0;
        own[1] += groups[n].members;
        own[2] += groups[n].contacts;
    }
    for (int i = 0; i < 3; i++) {
        sums[i][id] = own[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint n = 0; n < id; n++) {
        for (int i = 0; i < 3; i++) {
            before[i] += sums[i][n];
        }
    }
    for (uint n = begin; n < end; n++) {
        __global lmi_gpu_group *g = groups + n;
        if (g->members > 0) {
            g->first_member = before[1];
            g->first_contact = before[2];
            g->first_level = before[2] + before[0]; /* one more than it has contacts, at most */
            roots[1 + before[0]++] = n;
        }
        before[1] += g->members;
        before[2] += g->contacts;
    }
    if (id == WIDE - 1) {
        roots[0] = before[0];
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint n = id; n < count; n += WIDE) {
        if (solids[n].chained) {
            __global lmi_gpu_group *g = groups + groups[n].label;
            members[g->first_member + atomic_inc((volatile __global uint *)&g->filled)] = n; /* in any order */
        }
    }
}

/* order: contacts by level; level: where levels begin, and the last ends. heads: the next contact of each body. found[3]: the most
 * levels that a group has. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_levels(__global const uint *roots, __global lmi_gpu_group *groups, __global const uint *members,
             __global lmi_gpu_bulk *solids, __global const uint *chain, __global const lmi_gpu_contact *contacts,
             __global uint *heads, __global uint *order, __global uint *level, __global uint *found)
{
    __local volatile uint filled;
    const uint id = get_local_id(0);
    if (get_group_id(0) >= roots[0]) {
        return; /* all of the group */
    }
    __global lmi_gpu_group *g = groups + roots[1 + get_group_id(0)];
    __global const uint *who = members + g->first_member;
    uint levels = 0, before = 0, all = 0;
    if (id == 0) {
        filled = 0;
    }
    for (uint n = id; n < g->members; n += GROUP) {
        heads[who[n]] = next_of(solids + who[n], chain, contacts);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    do {
        before = all;
        for (uint n = id; n < g->members; n += GROUP) {
            uint c = heads[who[n]], b = c == LMI_GPU_NONE ? LMI_GPU_NONE : contacts[c].b;
            if (c != LMI_GPU_NONE && contacts[c].a == who[n] && (b == LMI_GPU_NONE || heads[b] == c)) {
                order[g->first_contact + atomic_inc(&filled)] = c; /* in any order: they share nothing */
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        all = filled;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint n = before + id; n < all; n += GROUP) {
            __global const lmi_gpu_contact *c = contacts + order[g->first_contact + n];
            solids[c->a].cursor++;
            heads[c->a] = next_of(solids + c->a, chain, contacts);
            if (c->b != LMI_GPU_NONE && c->b != c->a) {
                solids[c->b].cursor++;
                heads[c->b] = next_of(solids + c->b, chain, contacts);
            }
        }
        if (id == 0 && all > before) {
            level[g->first_level + levels] = g->first_contact + before;
        }
        levels += all > before;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    } while (all > before);
    if (id == 0) {
        g->levels = levels;
        level[g->first_level + levels] = g->first_contact + all;
        atomic_max((volatile __global uint *)found + 3, levels);
    }
}

/* --- what a contact sees and gives --- */

static quad whole_velocity(const holds *o, const lmi_gpu_contact *c, __global const lmi_gpu_push *pushes,
                           __global const float4 *v)
{
    bool other = c->b != LMI_GPU_NONE;
    bool steady = pushes[c->a].rigid == 1.0f && (!other || pushes[c->b].rigid == 1.0f);
    quad u = steady ? c->steady : contact_sum(o, c, v, c->surface);
    u += push_velocity(pushes + c->a, c->arm_a);
    return other ? u - push_velocity(pushes + c->b, c->arm_b) : u;
}

static float whole_depth(const holds *o, const lmi_gpu_contact *c, __global const lmi_gpu_push *pushes,
                         __global const float4 *x)
{
    quad p = contact_sum(o, c, x, quad_of(0.0f, 0.0f, 0.0f)) + push_move(pushes + c->a, c->arm_a);
    p -= c->b != LMI_GPU_NONE ? push_move(pushes + c->b, c->arm_b) : quad_of(0.0f, 0.0f, 0.0f);
    return c->level - quad_dot(p, c->normal);
}

static void add_to(__global float4 *to, __global const float4 *v, uint particle, float weight, float share, quad given)
{
    if (weight != 0.0f) {
        quad by = (share * weight / v[particle].w) * given;
        to[particle] += by;
    }
}

/* The share of an impulse, or of a shift, that acts on single particles. */
static void give_locally(const holds *o, const lmi_gpu_contact *c, __global const lmi_gpu_push *pushes,
                         __global const float4 *v, __global float4 *to, quad given)
{
    float share = 1.0f - pushes[c->a].rigid;
    for (uint k = o->point_first[c->point]; share > 0.0f && k < o->point_first[c->point + 1]; k++) {
        add_to(to, v, o->point_rider[k], o->point_weight[k], share, given);
    }
    share = c->b == LMI_GPU_NONE ? 0.0f : 1.0f - pushes[c->b].rigid;
    quad back = -c->ratio * given;
    for (uint k = 0; share > 0.0f && c->cell != LMI_GPU_NONE && k < 8; k++) {
        add_to(to, v, o->corners[8 * c->cell + k], weight_of_corner(k, c->place), share, back);
    }
    for (uint k = share > 0.0f && c->cell == LMI_GPU_NONE ? o->map_first[c->map] : 1,
              end = share > 0.0f && c->cell == LMI_GPU_NONE ? o->map_first[c->map + 1] : 0;
         k < end; k++) {
        add_to(to, v, o->map_rider[k], weight_of_map(o->map_hold[k], c->place), share, back);
    }
}

static void push_impulse(__global lmi_gpu_push *p, quad arm, quad impulse)
{
    if (p->rigid > 0.0f) {
        p->velocity += (p->rigid * p->inverse_mass) * impulse;
        p->mean += p->inverse_mass * impulse;
        p->spin += p->rigid * turning_of(p, quad_cross(arm, impulse));
    }
}

static void push_shift(__global lmi_gpu_push *p, quad arm, quad shift)
{
    if (p->rigid > 0.0f) {
        p->drift += ((1.0f - p->rigid) * p->inverse_mass) * shift;
        p->move += (p->rigid * p->inverse_mass) * shift;
        quad turn = p->turn + p->rigid * turning_of(p, quad_cross(arm, shift));
        float angle = quad_length(turn);
        p->turn = (angle > MOST_TURN ? MOST_TURN / angle : 1.0f) * turn;
    }
}

static void give_impulse(const holds *o, const lmi_gpu_contact *c, __global lmi_gpu_push *pushes, __global float4 *v,
                         quad impulse)
{
    give_locally(o, c, pushes, v, v, impulse);
    push_impulse(pushes + c->a, c->arm_a, impulse);
    if (c->b != LMI_GPU_NONE) {
        push_impulse(pushes + c->b, c->arm_b, -c->ratio * impulse);
    }
}

static void give_shift(const holds *o, const lmi_gpu_contact *c, __global lmi_gpu_push *pushes, __global const float4 *v,
                       __global float4 *x, quad shift)
{
    give_locally(o, c, pushes, v, x, shift);
    push_shift(pushes + c->a, c->arm_a, shift);
    if (c->b != LMI_GPU_NONE) {
        push_shift(pushes + c->b, c->arm_b, -c->ratio * shift);
    }
}

/* --- sweeps --- */

/* One contact begins with what its point was given last time; whoever comes first takes it. */
static void whole_warm(const holds *o, lmi_gpu_contact *c, __global lmi_gpu_push *pushes, __global float4 *v,
                       __global float4 *warm)
{
    float4 last = warm[c->leader];
    if (!(last.x > 0.0f)) {
        return;
    }
    quad impulse = quad_of(last.y, last.z, last.w);
    impulse += (last.x - quad_dot(impulse, c->normal)) * c->normal;
    warm[c->leader].x = 0.0f;
    lmi_soft soft = lmi_soft_start(impulse, c->normal, c->friction);
    c->braked = soft.braked;
    c->ahead = soft.ahead;
    c->pressed = soft.pressed;
    give_impulse(o, c, pushes, v, c->ahead);
}

static float whole_velocities(const holds *o, lmi_gpu_contact *c, __global lmi_gpu_push *pushes, __global float4 *v,
                              float inverse_h)
{
    float closing = fmax(-c->depth, 0.0f) * inverse_h;
    quad u = whole_velocity(o, c, pushes, v);
    float total = fmax(c->pressed + (c->bounce - closing - quad_dot(u, c->normal)) / c->deep, 0.0f);
    float more = total - c->pressed, most = fabs(more) * c->deep;
    c->pressed = total;
    give_impulse(o, c, pushes, v, more * c->normal);
    if (c->friction > 0.0f) {
        u = whole_velocity(o, c, pushes, v);
        quad slide = u - quad_dot(u, c->normal) * c->normal, braked = c->braked;
        float speed = quad_length(slide);
        if (speed > 1e-12f) {
            braked -= (1.0f / mobility_of(c, pushes, (1.0f / speed) * slide)) * slide;
        }
        braked = lmi_soft_brake(braked, c->friction * c->pressed);
        quad given = braked - c->braked;
        c->braked = braked;
        give_impulse(o, c, pushes, v, given);
        most = fmax(most, quad_length(given) * c->deep);
    }
    return most;
}

static void whole_back(const holds *o, lmi_gpu_contact *c, __global lmi_gpu_push *pushes, __global const float4 *v,
                       __global float4 *x, float h)
{
    if (c->pressed > 0.0f) {
        float share = lmi_soft_share(c->depth, c->approach, h);
        c->shifted = share * h * c->pressed;
        give_shift(o, c, pushes, v, x, c->shifted * c->normal + h * c->braked);
    }
}

static float whole_positions(const holds *o, lmi_gpu_contact *c, __global lmi_gpu_push *pushes, __global const float4 *v,
                             __global float4 *x)
{
    float total = fmax(c->shifted + whole_depth(o, c, pushes, x) / c->deep, 0.0f), more = total - c->shifted;
    c->shifted = total;
    give_shift(o, c, pushes, v, x, more * c->normal);
    return fabs(more) * c->deep;
}

/* What carries a load is given again; an impact is over. */
static void whole_keep(const lmi_gpu_contact *c, __global float4 *kept)
{
    if (c->approach < LMI_BOUNCE_SPEED && c->pressed >= kept[c->leader].x) {
        kept[c->leader] = (float4)(c->pressed, c->braked.x, c->braked.y, c->braked.z);
    }
}

static float go_through(uint mode, const holds *o, float h, __global lmi_gpu_contact *at, __global lmi_gpu_push *pushes,
                        __global float4 *x, __global float4 *v, __global float4 *warm)
{
    lmi_gpu_contact c = *at;
    float most = 0.0f;
    if (mode == SWEEP_WARM) {
        whole_warm(o, &c, pushes, v, warm);
    } else if (mode == SWEEP_VELOCITIES) {
        most = whole_velocities(o, &c, pushes, v, 1.0f / h);
    } else if (mode == SWEEP_BACK) {
        whole_back(o, &c, pushes, v, x, h);
    } else if (mode == SWEEP_POSITIONS) {
        most = whole_positions(o, &c, pushes, v, x);
    } else {
        whole_keep(&c, warm);
    }
    at->braked = c.braked;
    at->pressed = c.pressed;
    at->shifted = c.shifted;
    return most;
}

/* Sweep number n: those up to `passes` are done in any case, where there are soft contacts, and others as long as the one before
 * has changed anything. state: bits of the largest change of sweep n at n % 3; [3]: there are soft contacts. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_sweep(uint mode, uint n, uint passes, float h, HOLD_ARGUMENTS, __global const uint *roots,
            __global const lmi_gpu_group *groups, __global const uint *order, __global const uint *level,
            __global lmi_gpu_push *pushes, __global lmi_gpu_contact *contacts, __global float4 *x, __global float4 *v,
            __global float4 *warm, volatile __global int *state)
{
    __local float slots[GROUP];
    const holds o = HOLDS;
    const uint id = get_local_id(0);
    const float still = mode == SWEEP_POSITIONS ? STILL_SPEED * h : STILL_SPEED;
    if (get_group_id(0) == 0 && id == 0) {
        state[(n + 1) % 3] = 0;
    }
    if (get_group_id(0) >= roots[0] ||
        !(n == 0 || (n < passes && state[3]) || as_float(state[(n + 2) % 3]) > still)) {
        return; /* all of the group */
    }
    __global const lmi_gpu_group *g = groups + roots[1 + get_group_id(0)];
    float own = 0.0f;
    for (uint l = 0; l < g->levels; l++) {
        uint here = g->first_level + (n & 1 ? g->levels - 1 - l : l);
        for (uint k = level[here] + id; k < level[here + 1]; k += GROUP) {
            own = fmax(own, go_through(mode, &o, h, contacts + order[k], pushes, x, v, warm));
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    slots[id] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_of = GROUP / 2; half_of > 0; half_of /= 2) {
        if (id < half_of) {
            slots[id] = fmax(slots[id], slots[id + half_of]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0) {
        atomic_max(state + n % 3, as_int(slots[0])); /* floats above 0 are in the order of their bits */
    }
}

/* --- the end --- */

/* lmi_push_end. twists: what turning the body without its velocities has done to its spin. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_end(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_body *bodies, __global lmi_gpu_push *pushes,
          __global float4 *x, __global float4 *v)
{
    __local double slots[GROUP];
    __global lmi_gpu_push *p = pushes + get_group_id(0);
    __global const lmi_gpu_body *b = bodies + meeters[get_group_id(0)].record;
    const uint id = get_local_id(0);
    if (!(p->rigid > 0.0f)) {
        return; /* all of the group */
    }
    const quad centre = p->centre + p->drift;
    double twist[3] = {0.0, 0.0, 0.0};
    for (uint n = b->first + id; n < b->first + b->particles; n += GROUP) {
        float4 px = x[n], pv = v[n];
        if (!(pv.w > 0.0f)) {
            continue;
        }
        quad arm = quad_of(px.x - centre.x, px.y - centre.y, px.z - centre.z);
        quad dx = push_move(p, arm), dv = push_velocity(p, arm);
        const float far = LM_MAX_COORDINATE, fast = LM_MAX_SPEED;
        x[n] = (float4)(vf_clamp(px.x + dx.x, -far, far), vf_clamp(px.y + dx.y, -far, far),
                        vf_clamp(px.z + dx.z, -far, far), px.w);
        float4 now = (float4)(vf_clamp(pv.x + dv.x, -fast, fast), vf_clamp(pv.y + dv.y, -fast, fast),
                              vf_clamp(pv.z + dv.z, -fast, fast), pv.w);
        v[n] = now;
        lm_dvec3 turned = dvec_cross(quad_to(quad_cross(p->turn, arm)), dvec(now.x, now.y, now.z));
        twist[0] += turned.x * pv.w;
        twist[1] += turned.y * pv.w;
        twist[2] += turned.z * pv.w;
    }
    for (int i = 0; i < 3; i++) {
        twist[i] = join_group(slots, twist[i], false);
    }
    if (id == 0) {
        p->twist = quad_of((float)twist[0], (float)twist[1], (float)twist[2]);
    }
}
