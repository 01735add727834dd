/*
 * Bodies that are crushed, or deep in each other, brace themselves: contact/brace.c.
 *
 *   solve_crush    one work-group a body: how much of it is crushed, where others are around it
 *   solve_brace    one work-group a body: the braces of which it is side a, each in the mean of the contacts with one collider or partner
 *   solve_braced   one work-group a body that is in braces: as a rigid body
 *   solve_arms     once a place for a brace: how its two bodies come, and what may be left; and the list of braces of each body
 *   solve_steps    once a place for a brace: how far it goes in a pass
 *   solve_pass     once a place for a brace: what its approach lacks; several passes
 *   solve_share    one work-group: how much of all may be given without adding energy
 *   solve_give     one work-group a body: that, to its particles
 *   solve_renew    once a contact: soft ones see the approach that is left
 *
 * Each body has room for LMI_BRACES braces of which it is side a, and is in at most one of each partner.
 */

#define BRACE_LIST (LMI_BRACES + LMI_GPU_PARTNERS)

/* How much of each body is crushed: lmi_windows_crush (contact/windows.c), which first asks whether it is worth looking. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_crush(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids, __global const lmi_gpu_mould *moulds,
            __global const float *all_maps, __global const uint *windows, __global const float4 *riders,
            __global lmi_gpu_push *pushes)
{
    __local double slots[GROUP];
    const uint who = get_group_id(0), id = get_local_id(0);
    __global const lmi_gpu_meeter *m = meeters + who;
    if (!m->maps || !m->partners || (m->marks & (LMI_GPU_CLEFT | LMI_GPU_PIECES | LMI_GPU_RUBBLE | LMI_GPU_FLOWS)) ||
        pushes[who].rigid > 0.0f) { /* its contacts are stiff, and have no braces */
        return;                     /* all of the group */
    }
    __global const lmi_gpu_mould *mould = moulds + solids[who].mould;
    __global const float *maps = all_maps + m->first_map * MAP_FLOATS;
    double crush = 0.0;
    for (uint w = mould->first_window + id; w < mould->first_window + mould->windows; w += GROUP) {
        dmat3 f;
        for (int i = 0; i < 9; i++) {
            f.m[i / 3][i % 3] = 0.0;
        }
        for (uint k = windows[w]; k < windows[w + 1]; k++) {
            __global const float *at = maps + (uint)riders[k].w * MAP_FLOATS;
            const double x[3] = {(double)at[0] - maps[0], (double)at[1] - maps[1], (double)at[2] - maps[2]};
            for (int i = 0; i < 3; i++) {
                f.m[i][0] += x[i] * riders[k].x;
                f.m[i][1] += x[i] * riders[k].y;
                f.m[i][2] += x[i] * riders[k].z;
            }
        }
        crush = fmax(crush, lmi_crush_of(lmi_shortest_stretch(&f)));
    }
    crush = join_group(slots, crush, true);
    if (id == 0) {
        pushes[who].crush = (float)crush;
    }
}

/* is_free and may_brace in contact/brace.c. */
static bool may_brace(__global const lmi_gpu_meeter *m, __global const lmi_gpu_body *bodies, __global const lmi_gpu_push *p)
{
    return !(m->marks & (LMI_GPU_CLEFT | LMI_GPU_RUBBLE | LMI_GPU_PIECES)) && !bodies[m->record].pinned && !(p->rigid > 0.0f);
}

/* The mean of the soft contacts of a body with a collider, or (wall is LMI_GPU_NONE) with another. */
static void mean_of(const holds *o, __global const lmi_gpu_bulk *s, __global const lmi_gpu_contact *contacts, uint with, uint wall,
                    __global const float4 *x, __global lmi_gpu_brace *to)
{
    lm_dvec3 normal = lm_dvec3_zero(), point = normal, moves = normal;
    uint count = 0;
    for (uint n = s->first_contact; n < s->first_contact + s->contacts; n++) {
        __global const lmi_gpu_contact *c = contacts + n;
        if (c->b != with || (with == LMI_GPU_NONE && c->map != wall) || c->live != LMI_GPU_SOFT) {
            continue;
        }
        normal = dvec_add(normal, quad_to(c->normal));
        point = dvec_add(point, quad_to(sum_point(o, c->point, x)));
        moves = dvec_add(moves, quad_to(c->surface));
        count++;
    }
    const double length = dvec_length(normal), agree = count ? length / count : 0.0;
    to->any = agree > 1e-3; /* else normals against each other do not say which way */
    to->b = with;
    to->agree = agree;
    to->normal = to->any ? dvec_scale(normal, 1.0 / length) : lm_dvec3_zero();
    to->point = to->any ? dvec_scale(point, 1.0 / count) : lm_dvec3_zero();
    to->wall = to->any ? dvec_scale(moves, 1.0 / count) : lm_dvec3_zero();
}

/* deepest: bits of how far each partner lets the body in beyond the distance that the two keep, metres. state[3]: there are braces. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_brace(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids, __global const lmi_gpu_body *bodies,
            __global const lmi_gpu_mould *moulds, __global const uint *partners, __global const uint *near,
            __global const lmi_gpu_push *pushes, __global const uint *deepest, HOLD_ARGUMENTS, __global const float4 *x,
            __global const lmi_gpu_contact *contacts, __global lmi_gpu_brace *braces, __global uint *counts, __global uint *braced,
            __global uint *state)
{
    __local uint slots[GROUP];
    const holds o = HOLDS;
    const uint who = get_group_id(0), id = get_local_id(0);
    __global const lmi_gpu_meeter *m = meeters + who;
    __global const lmi_gpu_bulk *s = solids + who;
    uint own = 0, before;
    if (may_brace(m, bodies, pushes + who)) { /* or all of the group does not */
        bool wanted = pushes[who].crush > 0.0f && (s->surfaces >> id & 1);
        const uint wall = wanted ? near[who * LMI_GPU_SOLVED_SURFACES + id] : 0;
        bool found = false;
        for (uint n = 0; wanted && !found && n < s->contacts; n++) {
            __global const lmi_gpu_contact *c = contacts + s->first_contact + n;
            found = c->b == LMI_GPU_NONE && c->map == wall;
        }
        own = scan_group(slots, found, &before);
        if (found && before < LMI_BRACES) {
            __global lmi_gpu_brace *b = braces + who * LMI_BRACES + before;
            b->crush = pushes[who].crush;
            b->deep = 0.0f;
            mean_of(&o, s, contacts, LMI_GPU_NONE, wall, x, b);
            braced[who] = state[3] = 1; /* whoever writes it */
        }
        const uint with = id < m->partners ? partners[who * LMI_GPU_PARTNERS + id] : who;
        float crush = 0.0f, deep = 0.0f;
        double cell = 0.0;
        wanted = with != who && ((bits_of(s->met) | bits_of(s->turned)) >> id & 1) && may_brace(meeters + with, bodies, pushes + with);
        if (wanted) {
            crush = fmax(pushes[who].crush, pushes[with].crush);
            if (m->maps && meeters[with].maps) {
                cell = fmin(moulds[s->mould].cell, moulds[solids[with].mould].cell);
                deep = (float)lmi_deep_share(as_float(deepest[who * LMI_GPU_PARTNERS + id]), cell);
            }
        }
        found = false;
        for (uint n = 0; wanted && fmax(crush, deep) > 0.0f && !found && n < s->contacts; n++) {
            found = contacts[s->first_contact + n].b == with;
        }
        uint all = scan_group(slots, found, &before);
        before += own;
        if (found && before < LMI_BRACES) {
            __global lmi_gpu_brace *b = braces + who * LMI_BRACES + before;
            b->crush = crush;
            b->deep = deep;
            b->cell = cell;
            mean_of(&o, s, contacts, with, LMI_GPU_NONE, x, b);
            braced[who] = braced[with] = state[3] = 1;
        }
        own += all;
    }
    if (id == 0) {
        counts[who] = min(own, (uint)LMI_BRACES);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_braced(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_body *bodies, __global const uint *braced,
             __global const float4 *x, __global const float4 *v, __global lmi_gpu_push *pushes)
{
    __local double slots[GROUP];
    const uint who = get_group_id(0), id = get_local_id(0);
    __global const lmi_gpu_body *b = bodies + meeters[who].record;
    if (!braced[who]) {
        return; /* all of the group */
    }
    double sum[PUSH_SUMS];
    sum_push(b, id, GROUP, x, v, sum);
    for (int i = 0; i < PUSH_SUMS; i++) {
        sum[i] = join_group(slots, sum[i], false);
    }
    if (id == 0) {
        put_push(pushes + who, b, 0.0f, sum);
        pushes[who].inverse_mass = sum[13] > 0.0 ? 0.0f : pushes[who].inverse_mass; /* particles that no region holds */
    }
}

static quad turning_by(__global const lmi_gpu_push *p, quad torque)
{
    return (p->turning[0] * torque.x + p->turning[1] * torque.y) + p->turning[2] * torque.z;
}

/* One side of a brace; returns how fast it moves along the normal. */
static double set_side(__global const lmi_gpu_push *p, lm_dvec3 arm, __global lmi_gpu_brace *b, int side)
{
    b->lever[side] = dvec_cross(arm, b->normal);
    b->turned[side] = dvec_scale(quad_to(turning_by(p, quad_from(b->lever[side]))), 1.0 / p->mean_mass);
    return dvec_dot(dvec_add(quad_to(p->mean), dvec_cross(quad_to(p->came), arm)), b->normal);
}

/* list: of each body, twice the place of a brace, and 1 more where it is side b; lengths: how many. */
__kernel void solve_arms(uint count, double h, double gravity, __global const lmi_gpu_meeter *meeters, __global const lmi_gpu_body *bodies,
                         __global const uint *partners, __global const lmi_gpu_push *pushes, __global const uint *counts,
                         __global const uint *braced, __global lmi_gpu_brace *braces, __global uint *list, __global uint *lengths,
                         __global double *ahead)
{
    const uint n = get_global_id(0), a = n / LMI_BRACES, which = n % LMI_BRACES;
    if (a >= count || !braced[a]) {
        return;
    }
    if (which == 0) {
        __global uint *to = list + a * BRACE_LIST;
        uint length = 0;
        for (; length < counts[a]; length++) {
            to[length] = 2 * (a * LMI_BRACES + length);
        }
        for (uint k = 0; k < meeters[a].partners; k++) {
            const uint with = partners[a * LMI_GPU_PARTNERS + k];
            for (uint q = 0; q < counts[with] && length < BRACE_LIST; q++) {
                if (braces[with * LMI_BRACES + q].b == a) {
                    to[length++] = 2 * (with * LMI_BRACES + q) + 1;
                }
            }
        }
        lengths[a] = length;
    }
    if (which >= counts[a]) {
        return;
    }
    __global lmi_gpu_brace *b = braces + n;
    __global const lmi_gpu_push *one = pushes + a;
    const bool other = b->b != LMI_GPU_NONE;
    b->impulse = b->step = 0.0;
    b->onward = 0;
    ahead[n] = ahead[count * LMI_BRACES + n] = 0.0;
    b->any = b->any && one->inverse_mass > 0.0f && (!other || pushes[b->b].inverse_mass > 0.0f);
    if (!b->any) {
        b->normal = b->lever[0] = b->lever[1] = b->turned[0] = b->turned[1] = lm_dvec3_zero();
        b->comes = b->least = 0.0;
        return;
    }
    double u = set_side(one, dvec_sub(b->point, quad_to(one->centre)), b, 0);
    if (other) {
        __global const double *from = bodies[meeters[a].record].origin, *to = bodies[meeters[b->b].record].origin;
        const lm_dvec3 there = dvec_add(b->point, dvec(from[0] - to[0], from[1] - to[1], from[2] - to[2]));
        u -= set_side(pushes + b->b, dvec_sub(there, quad_to(pushes[b->b].centre)), b, 1);
    } else {
        u -= dvec_dot(b->wall, b->normal);
    }
    b->comes = u;
    const double calm = lmi_brace_calm(h, gravity, b->deep > 0.0f ? b->cell : 0.0);
    b->least = lmi_brace_least(u, b->agree * b->crush, b->agree * b->deep, calm);
}

static double inverse_mass_of(__global const lmi_gpu_push *p) { return (double)p->inverse_mass / p->mean_mass; }

/* sum_q |A_pq| over the braces of one body. */
static double coupling(__global const lmi_gpu_brace *braces, __global const lmi_gpu_brace *b, int side, __global const lmi_gpu_push *p,
                       __global const uint *list, uint length)
{
    double sum = 0.0;
    for (uint k = 0; k < length; k++) {
        __global const lmi_gpu_brace *q = braces + list[k] / 2;
        sum += fabs(inverse_mass_of(p) * dvec_dot(b->normal, q->normal) + dvec_dot(b->lever[side], q->turned[list[k] & 1]));
    }
    return sum;
}

__kernel void solve_steps(uint count, __global const lmi_gpu_push *pushes, __global const uint *counts, __global const uint *list,
                          __global const uint *lengths, __global lmi_gpu_brace *braces)
{
    const uint n = get_global_id(0), a = n / LMI_BRACES;
    if (a >= count || n % LMI_BRACES >= counts[a] || !braces[n].any) {
        return;
    }
    __global lmi_gpu_brace *b = braces + n;
    double sum = coupling(braces, b, 0, pushes + a, list + a * BRACE_LIST, lengths[a]);
    if (b->b != LMI_GPU_NONE) {
        sum += coupling(braces, b, 1, pushes + b->b, list + b->b * BRACE_LIST, lengths[b->b]);
    }
    b->step = sum > 0.0 ? 1.0 / sum : 0.0;
}

/* What a body is given by all of its braces: of `ahead`, or (null) of what they are given so far. */
static void motion_by(__global const lmi_gpu_brace *braces, __global const double *ahead, __global const lmi_gpu_push *p,
                      __global const uint *list, uint length, lm_dvec3 *velocity, lm_dvec3 *spin)
{
    lm_dvec3 impulse = lm_dvec3_zero(), turn = impulse;
    for (uint k = 0; k < length; k++) {
        __global const lmi_gpu_brace *b = braces + list[k] / 2;
        const double given = ahead ? ahead[list[k] / 2] : b->impulse, j = list[k] & 1 ? -given : given;
        impulse = dvec_add(impulse, dvec_scale(b->normal, j));
        turn = dvec_add(turn, dvec_scale(b->turned[list[k] & 1], j));
    }
    *velocity = dvec_scale(impulse, inverse_mass_of(p));
    *spin = turn;
}

/* How fast a brace comes after that. */
static double speed_after(__global const lmi_gpu_brace *braces, __global const double *ahead, __global const lmi_gpu_push *pushes,
                          __global const uint *list, __global const uint *lengths, uint a, __global const lmi_gpu_brace *b)
{
    lm_dvec3 velocity, spin;
    motion_by(braces, ahead, pushes + a, list + a * BRACE_LIST, lengths[a], &velocity, &spin);
    double u = b->comes + (dvec_dot(b->normal, velocity) + dvec_dot(b->lever[0], spin));
    if (b->b != LMI_GPU_NONE) {
        motion_by(braces, ahead, pushes + b->b, list + b->b * BRACE_LIST, lengths[b->b], &velocity, &spin);
        u -= dvec_dot(b->normal, velocity) + dvec_dot(b->lever[1], spin);
    }
    return u;
}

/* ahead: of all braces, before and after a pass. state[n % 3]: pass n was not the last. */
__kernel void solve_pass(uint count, uint n_pass, __global const lmi_gpu_push *pushes, __global const uint *counts,
                         __global const uint *list, __global const uint *lengths, __global lmi_gpu_brace *braces,
                         __global double *ahead, __global uint *state)
{
    const uint n = get_global_id(0), a = n / LMI_BRACES;
    const bool ends = n_pass > 0 && !state[(n_pass + 2) % 3];
    if (n == 0) {
        state[(n_pass + 1) % 3] = 0;
    }
    if (ends || a >= count || n % LMI_BRACES >= counts[a] || !braces[n].any) {
        return;
    }
    __global lmi_gpu_brace *b = braces + n;
    __global const double *from = ahead + (n_pass % 2) * count * LMI_BRACES;
    const double before = b->impulse, u = speed_after(braces, from, pushes, list, lengths, a, b);
    const double given = lmi_brace_given(from[n], b->least, u, b->step);
    b->impulse = given;
    b->onward = lmi_brace_onward(b->onward, before, from[n], given);
    ahead[((n_pass + 1) % 2) * count * LMI_BRACES + n] = lmi_brace_ahead(b->onward, before, given);
    if (b->step > 0.0 && fabs(given - from[n]) / b->step > LMI_BRACE_SETTLED) {
        state[n_pass % 3] = 1; /* whoever writes it */
    }
}

/* shares[0]: of all impulses, that add no energy: weigh in contact/brace.c. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_share(uint count, __global const lmi_gpu_push *pushes, __global const uint *counts, __global const uint *list,
            __global const uint *lengths, __global const lmi_gpu_brace *braces, __global float *shares)
{
    __local double slots[GROUP];
    double takes = 0.0, changes = 0.0;
    for (uint n = get_local_id(0); n < count * LMI_BRACES; n += GROUP) {
        const uint a = n / LMI_BRACES;
        if (n % LMI_BRACES < counts[a] && braces[n].any && braces[n].impulse > 0.0) {
            __global const lmi_gpu_brace *b = braces + n;
            takes -= b->impulse * b->comes;
            changes += b->impulse * (speed_after(braces, 0, pushes, list, lengths, a, b) - b->comes);
        }
    }
    takes = join_group(slots, takes, false);
    changes = join_group(slots, changes, false);
    if (get_local_id(0) == 0) {
        shares[0] = lmi_work_share(takes, changes, 0.0);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_give(__global const lmi_gpu_meeter *meeters, __global lmi_gpu_body *bodies, __global const lmi_gpu_push *pushes,
           __global const uint *counts, __global const uint *braced, __global const uint *list, __global const uint *lengths,
           __global const lmi_gpu_brace *braces, __global const float *shares, __global const float4 *x, __global float4 *v)
{
    const uint who = get_group_id(0), id = get_local_id(0);
    __global lmi_gpu_body *b = bodies + meeters[who].record;
    __global const lmi_gpu_push *p = pushes + who;
    if (!braced[who] || !(p->inverse_mass > 0.0f)) {
        return; /* all of the group */
    }
    lm_dvec3 velocity, spin;
    motion_by(braces, 0, p, list + who * BRACE_LIST, lengths[who], &velocity, &spin);
    const quad linear = quad_from(dvec_scale(velocity, shares[0])), turn = quad_from(dvec_scale(spin, shares[0]));
    for (uint n = b->first + id; n < b->first + b->particles; n += GROUP) {
        float4 now = v[n];
        quad dv = linear + quad_cross(turn, x[n] - p->centre);
        if (now.w > 0.0f) {
            v[n] = (float4)(vf_clamp(now.x + dv.x, -LM_MAX_SPEED, LM_MAX_SPEED), vf_clamp(now.y + dv.y, -LM_MAX_SPEED, LM_MAX_SPEED),
                            vf_clamp(now.z + dv.z, -LM_MAX_SPEED, LM_MAX_SPEED), now.w);
        }
    }
    for (uint k = 0; id == 0 && k < counts[who]; k++) {
        __global const lmi_gpu_brace *c = braces + who * LMI_BRACES + k;
        const double given = c->b == LMI_GPU_NONE ? shares[0] * c->impulse / meeters[who].mean_mass : 0.0;
        b->impulse[0] += given * c->normal.x;
        b->impulse[1] += given * c->normal.y;
        b->impulse[2] += given * c->normal.z;
    }
}

__kernel void solve_renew(uint count, float h, HOLD_ARGUMENTS, __global const lmi_gpu_meeter *meeters,
                          __global const lmi_gpu_body *bodies, __global const uint *braced, __global const float4 *x,
                          __global const float4 *v, __global lmi_gpu_contact *contacts)
{
    const holds o = HOLDS;
    const uint n = get_global_id(0);
    if (n >= count || contacts[n].live != LMI_GPU_SOFT ||
        !(braced[contacts[n].a] || (contacts[n].b != LMI_GPU_NONE && braced[contacts[n].b]))) {
        return;
    }
    lmi_gpu_contact c = contacts[n];
    const quad place = contact_sum(&o, &c, x, quad_of(0.0f, 0.0f, 0.0f));
    measure_contact(&o, v, &c);
    c.depth = lmi_soft_depth(c.found, c.approach, LMI_LEFT * (float)bodies[meeters[c.a].record].rest_size, h);
    c.level = c.depth + quad_dot(place, c.normal);
    contacts[n] = c;
}
