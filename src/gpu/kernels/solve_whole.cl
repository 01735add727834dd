/*
 * Bodies that answer as a whole, for some share: contact/push.c; and the order of their contacts, for solve_sweep.cl.
 *
 *   solve_push     one work-group a body: how it answers, and where its centre and inertia are then
 *   solve_chain    one work-group a body: its whole contacts in the host's order
 *   solve_merge    once a body: contacts of neighbours on one cell of a lattice that say the same
 *   solve_groups   one work-group: bodies that such contacts connect
 *   solve_levels   one work-group for each of these groups: its contacts in levels. Contacts of a level share no body, and whatever
 *                  comes before a contact on either of its bodies is on a level before
 *
 * Gauss and Seidel's method sees what the contacts before have changed, so its order counts, but only between contacts that share a
 * body. A sweep takes as many steps as the longest chain has contacts, however many bodies there are. It pays where many
 * bodies have few contacts each; the host is better at a few that are all connected.
 */

/* --- how bodies answer --- */

/* last: before walls have the last word, where it does not matter how fast bodies came. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_push(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_body *bodies, __global const float4 *x,
           __global const float4 *v, uint last, __global lmi_gpu_push *pushes)
{
    __local double slots[GROUP];
    __global const lmi_gpu_meeter *m = meeters + get_group_id(0);
    __global const lmi_gpu_body *b = bodies + m->record;
    __global lmi_gpu_push *p = pushes + get_group_id(0);
    const bool loose = m->marks & (LMI_GPU_CLEFT | LMI_GPU_PIECES), meets = m->maps || (m->marks & LMI_GPU_RUBBLE);
    const float rigid = loose ? 0.0f : rigid_of(b, meets ? (last ? 0.0 : m->met_way) : 0.6 * m->way);
    const uint id = get_local_id(0);
    const quad zero = quad_of(0.0f, 0.0f, 0.0f);
    if (id == 0) {
        p->move = p->turn = p->velocity = p->spin = p->mean = p->drift = p->twist = zero;
        p->rigid = rigid;
        p->inverse_mass = p->crush = 0.0f;
    }
    if (!(rigid > 0.0f)) {
        return; /* all of the group */
    }
    double sum[PUSH_SUMS];
    sum_push(b, id, GROUP, x, v, sum);
    for (int i = 0; i < PUSH_SUMS; i++) {
        sum[i] = join_group(slots, sum[i], false);
    }
    if (id == 0) {
        put_push(p, b, rigid, sum);
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

/* Points that touch their own body are processed so many at a time, and do not know of those before: SELF_BLOCKS in contact/mutual.c. */
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

/* roots: how many groups there are, then the first body of each. members: of the groups, one after the other. The host has lists of
 * their own for bodies that do not meet others, and for all when walls have the last word. */
__kernel __attribute__((reqd_work_group_size(WIDE, 1, 1))) void
solve_groups(__global const lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_bulk *solids,
             __global const uint *partners, __global const lmi_gpu_push *pushes, uint last,
             __global lmi_gpu_group *groups, __global uint *roots, __global uint *members)
{
    __local uint sums[3][WIDE];
    __local volatile uint changed;
    const uint id = get_local_id(0), each = (count + WIDE - 1) / WIDE;
    const uint begin = min(id * each, count), end = min(begin + each, count);
    for (uint n = id; n < count; n += WIDE) {
        groups[n].label = n;
        groups[n].alone = last || !(meeters[n].maps || (meeters[n].marks & LMI_GPU_RUBBLE));
        groups[n].members = groups[n].contacts = groups[n].filled = groups[n].levels = groups[n].loose = 0;
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
            groups[n].seat = atomic_inc((volatile __global uint *)&g->filled); /* in any order */
            members[g->first_member + groups[n].seat] = n;
            if (pushes[n].rigid != 1.0f) {
                g->loose = 1; /* whoever writes it */
            }
        }
    }
}

/* order: contacts by level; level: where levels begin, and the last ends. heads: the next contact of each body. found[3]: the most
 * levels that a group has. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_levels(__global const uint *roots, __global lmi_gpu_group *groups, __global const uint *members,
             __global lmi_gpu_bulk *solids, __global const uint *chain, __global lmi_gpu_contact *contacts,
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
                contacts[c].seats = groups[who[n]].seat | (b == LMI_GPU_NONE ? 0 : groups[b].seat << 16);
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
