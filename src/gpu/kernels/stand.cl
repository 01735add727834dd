/*
 * Bodies that answer colliders as a whole, for some share, with their bare particles: collide_all in contact/contact.c where push.rigid
 * is above 0, with contact/push.c and the sweeps of contact/stiff.c. What is left to do then each particle does for itself (walls.cl).
 *
 *   stand_push      one work-group a body: how it answers, and where its centre and inertia are then
 *   stand_count     one work-group a body: the particles that touch or nearly touch a collider, one collider after the other
 *   stand_offsets   one work-group: where the contacts of each body begin
 *   stand_fill      one work-group a body: its contacts, in their order
 *   stand_solve     once a body: goes through them one after the other, there and back. A body has six ways to move, and what one
 *                   contact changes of them the next one sees
 *   stand_end       one work-group a body: what it was given as a whole, to its particles
 *   stand_tally     once a body: its impulse and contacts, when the particles have met the colliders too
 *   stand_tell      once a body: what it had of each collider, where somebody asks
 */

#define STILL_SPEED 1e-4f
#define MOST_TURN 1.0f
#define WIDE 256

/* --- how bodies answer --- */

static bool is_near_any(__global const uint *near, uint words)
{
    uint any = 0;
    for (uint n = 0; n < words; n++) {
        any |= near[n];
    }
    return any != 0;
}

/* Numbers of all work-items to their sum. */
static double add_up(__local double *slots, double own)
{
    const uint id = get_local_id(0);
    slots[id] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_of = GROUP / 2; half_of > 0; half_of /= 2) {
        if (id < half_of) {
            slots[id] += slots[id + half_of];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    double all = slots[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
stand_push(__global const lmi_gpu_body *bodies, __global lmi_gpu_standing *standing, __global const uint *near, uint words,
           double h, __global const float4 *x, __global const float4 *v, __global lmi_gpu_push *pushes)
{
    __local double slots[GROUP];
    const uint body = get_group_id(0), id = get_local_id(0);
    __global const lmi_gpu_body *b = bodies + body;
    __global lmi_gpu_push *p = pushes + body;
    __global lmi_gpu_standing *s = standing + body;
    const double way = 0.6 * h * dvec_length(record_dvec(b->velocity)); /* not all of it: a wall does not come to meet it */
    const float rigid = s->limit && !b->pieces && is_near_any(near + body * words, words) ? rigid_of(b, way) : 0.0f;
    if (id == 0) {
        p->move = p->turn = p->velocity = p->spin = p->drift = quad_of(0.0f, 0.0f, 0.0f);
        p->rigid = 0.0f;
        s->impulse[0] = s->impulse[1] = s->impulse[2] = 0.0;
        s->first = s->count = s->touched = 0;
    }
    if (!(rigid > 0.0f)) {
        return; /* all of the group */
    }
    double sum[PUSH_SUMS];
    sum_push(b, id, GROUP, x, v, sum);
    for (int i = 0; i < PUSH_SUMS; i++) {
        sum[i] = add_up(slots, sum[i]);
    }
    if (id == 0) {
        put_push(p, b, rigid, sum);
    }
}

/* --- contacts --- */

#define FIND_ARGUMENTS                                                                                                \
    __global const lmi_gpu_body *bodies, __global const lmi_gpu_walled *walled, __global lmi_gpu_standing *standing,    \
        __global const lmi_gpu_push *pushes, __global const lmi_gpu_surface *surfaces, uint words,                      \
        __global const uint *near, __global const lmi_contact_rule *rules, uint rule_count,                             \
        __global const lmi_gpu_ground *solids, __global float *heights, __global lmi_heights_span *spans,               \
        __global float *faces, __global lmi_mesh_node *nodes, __global int8_t *cells, __global const float4 *starts,    \
        uint has_solids, __global const float4 *x, __global const float4 *v, double h, double fall

/* `find` in contact/contact.c: whether a particle touches a collider, or nearly. */
static bool stand_find(__global const lmi_gpu_surface *surface, __global const lmi_gpu_body *b,
                       __global const lmi_contact_rule *rules, uint rule_count, __global const lmi_gpu_ground *solids,
                       const solid_arrays *arrays, float4 at, float4 speed, float4 start, double h, double fall, lmi_gpu_stand *c)
{
    const double origin[3] = {b->origin[0], b->origin[1], b->origin[2]}, slop = fmin(fall, 0.01 * b->rest_size);
    const float px[3] = {at.x, at.y, at.z}, pv[3] = {speed.x, speed.y, speed.z}, from[3] = {start.x, start.y, start.z};
    surface_here s = surface_at(surface, b, origin, (float)h);
    double friction = s.friction, restitution = s.bounce;
    float n[3], u[3];
    lmi_contact_rules_apply(rules, rule_count, surface->group, b->group, &friction, &restitution);
    if (surface->solid != LMI_GPU_NONE) {
        c->depth = solid_depth(surface, solids, arrays, origin, px, from, s.margin + (float)slop, h, n) - (float)slop;
    } else {
        c->depth = surface_depth(&s, px, pv, n);
    }
    surface_velocity(&s, px, u);
    c->normal = quad_of(n[0], n[1], n[2]);
    c->surface = quad_of(u[0], u[1], u[2]);
    c->friction = (float)friction;
    c->restitution = (float)restitution;
    return (float)-slop < c->depth && speed.w > 0.0f;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void stand_count(FIND_ARGUMENTS)
{
    __local double slots[GROUP];
    const uint body = get_group_id(0), id = get_local_id(0);
    __global const lmi_gpu_body *b = bodies + body;
    const solid_arrays arrays = {heights, spans, faces, nodes, cells};
    uint count = 0;
    if (!(pushes[body].rigid > 0.0f)) {
        return; /* all of the group */
    }
    for (uint k = 0; k < 32 * words; k++) {
        if (!(near[body * words + k / 32] >> k % 32 & 1)) {
            continue;
        }
        for (uint n = b->first + id; n < b->first + b->particles; n += GROUP) {
            lmi_gpu_stand c;
            count += stand_find(surfaces + k, b, rules, rule_count, solids, &arrays, x[n], v[n], has_solids ? starts[n] : x[n], h,
                                fall, &c);
        }
    }
    const double all = add_up(slots, count);
    if (id == 0) {
        standing[body].count = (uint)all;
    }
}

/* found: contacts of all bodies; the most that one has; and whether one that has any may touch several solids. */
__kernel __attribute__((reqd_work_group_size(WIDE, 1, 1))) void
stand_offsets(__global lmi_gpu_standing *standing, __global const lmi_gpu_walled *walled, uint count, __global uint *found)
{
    __local uint sums[WIDE], most[WIDE], several[WIDE];
    uint id = get_local_id(0), each = (count + WIDE - 1) / WIDE, begin = min(id * each, count), end = min(begin + each, count);
    uint sum = 0, top = 0, any = 0;
    for (uint n = begin; n < end; n++) {
        sum += standing[n].count;
        top = max(top, standing[n].count);
        any |= standing[n].count && walled[n].solids > 1;
    }
    sums[id] = sum;
    most[id] = top;
    several[id] = any;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = 0;
    for (uint n = 0; n < WIDE; n++) {
        at += n < id ? sums[n] : 0;
        top = max(top, most[n]);
        any |= several[n];
    }
    if (id == WIDE - 1) {
        found[0] = at + sum;
        found[1] = top;
        found[2] = any;
    }
    for (uint n = begin; n < end; n++) {
        standing[n].first = at;
        at += standing[n].count;
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void stand_fill(FIND_ARGUMENTS, __global lmi_gpu_stand *contacts)
{
    __local uint slots[GROUP];
    const uint body = get_group_id(0), id = get_local_id(0);
    __global const lmi_gpu_body *b = bodies + body;
    const solid_arrays arrays = {heights, spans, faces, nodes, cells};
    uint at = standing[body].first;
    if (standing[body].count == 0) {
        return; /* all of the group */
    }
    for (uint k = 0; k < 32 * words; k++) {
        if (!(near[body * words + k / 32] >> k % 32 & 1)) {
            continue;
        }
        for (uint n = b->first; n < b->first + b->particles; n += GROUP) {
            const uint particle = min(n + id, b->first + b->particles - 1);
            lmi_gpu_stand c;
            const bool found = stand_find(surfaces + k, b, rules, rule_count, solids, &arrays, x[particle], v[particle],
                                          has_solids ? starts[particle] : x[particle], h, fall, &c) &&
                               particle == n + id;
            slots[id] = found;
            barrier(CLK_LOCAL_MEM_FENCE);
            uint before = 0, all = 0;
            for (uint m = 0; m < GROUP; m++) {
                before += m < id ? slots[m] : 0;
                all += slots[m];
            }
            if (found) {
                c.particle = particle;
                c.collider = k;
                contacts[at + before] = c;
            }
            at += all;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}

/* --- one after the other --- */

/* A body while it is pushed: lmi_push. */
typedef struct stander {
    quad centre, turning[3], move, turn, velocity, spin, drift;
    quad mean, came; /* velocity and spin before it was given anything */
    float rigid, inverse_mass;
} stander;

static quad stander_turning(const stander *p, quad torque)
{
    return (p->turning[0] * torque.x + p->turning[1] * torque.y) + p->turning[2] * torque.z;
}

static float stander_mobility(const stander *p, quad arm, quad n)
{
    quad lever = quad_cross(arm, n);
    return p->rigid * (p->inverse_mass + quad_dot(lever, stander_turning(p, lever)));
}

static quad without_w(float4 a) { return quad_of(a.x, a.y, a.z); }

static quad velocity_now(const stander *p, __global const lmi_gpu_stand *c, __global const float4 *v)
{
    quad u = p->rigid == 1.0f ? c->steady : without_w(v[c->particle]) - c->surface;
    return u + (p->velocity + quad_cross(p->spin, c->arm));
}

static float depth_now(const stander *p, __global const lmi_gpu_stand *c, __global const float4 *x)
{
    return c->level - quad_dot(without_w(x[c->particle]) + (p->move + quad_cross(p->turn, c->arm)), c->normal);
}

/* What acts on the particle alone. */
static void give_particle(const stander *p, uint particle, __global const float4 *v, __global float4 *to, quad given)
{
    if (p->rigid < 1.0f) {
        to[particle] += ((1.0f - p->rigid) / v[particle].w) * given;
    }
}

static void give_impulse(stander *p, __global const lmi_gpu_stand *c, __global float4 *v, quad impulse)
{
    give_particle(p, c->particle, v, v, impulse);
    p->velocity += (p->rigid * p->inverse_mass) * impulse;
    p->spin += p->rigid * stander_turning(p, quad_cross(c->arm, impulse));
}

static void give_shift(stander *p, __global const lmi_gpu_stand *c, __global const float4 *v, __global float4 *x, quad shift)
{
    give_particle(p, c->particle, v, x, shift);
    p->drift += ((1.0f - p->rigid) * p->inverse_mass) * shift;
    p->move += (p->rigid * p->inverse_mass) * shift;
    p->turn += p->rigid * stander_turning(p, quad_cross(c->arm, shift));
    float angle = quad_length(p->turn);
    p->turn *= angle > MOST_TURN ? MOST_TURN / angle : 1.0f;
}

/* `begin` in contact/stiff.c. True where it counts among those that are solved together. */
static bool begin_contact(const stander *p, __global lmi_gpu_stand *c, __global const float4 *x, __global const float4 *v)
{
    const quad at = without_w(x[c->particle]);
    c->braked = quad_of(0.0f, 0.0f, 0.0f);
    c->pressed = c->shifted = 0.0f;
    c->arm = at - p->centre;
    c->plain = (1.0f - p->rigid) / v[c->particle].w;
    c->deep = c->plain + stander_mobility(p, c->arm, c->normal);
    c->steady = without_w(v[c->particle]) - c->surface;
    c->approach = -quad_dot(velocity_now(p, c, v), c->normal);
    c->bounce = c->approach > LMI_BOUNCE_SPEED ? c->restitution * c->approach : 0.0f;
    c->live = c->deep > 0.0f && !(c->depth < 0.0f && c->approach > LMI_BOUNCE_SPEED);
    c->level = c->depth + quad_dot(at + (p->move + quad_cross(p->turn, c->arm)), c->normal);
    return c->deep > 0.0f;
}

static float solve_velocity(stander *p, __global lmi_gpu_stand *c, __global float4 *v, float inverse_h)
{
    const float closing = fmax(-c->depth, 0.0f) * inverse_h;
    const quad normal = c->normal;
    quad u = velocity_now(p, c, v);
    const float total = fmax(c->pressed + (c->bounce - closing - quad_dot(u, normal)) / c->deep, 0.0f), more = total - c->pressed;
    float most = fabs(more) * c->deep;
    c->pressed = total;
    give_impulse(p, c, v, more * normal);
    if (c->friction > 0.0f) {
        u = velocity_now(p, c, v);
        quad slide = u - quad_dot(u, normal) * normal, before = c->braked, braked = before;
        float speed = quad_length(slide);
        if (speed > 1e-12f) {
            braked -= (1.0f / (c->plain + stander_mobility(p, c->arm, (1.0f / speed) * slide))) * slide;
        }
        braked = lmi_soft_brake(braked, c->friction * total);
        c->braked = braked;
        give_impulse(p, c, v, braked - before);
        most = fmax(most, quad_length(braked - before) * c->deep);
    }
    return most;
}

static float solve_position(stander *p, __global lmi_gpu_stand *c, __global const float4 *v, __global float4 *x)
{
    const float total = fmax(c->shifted + depth_now(p, c, x) / c->deep, 0.0f), more = total - c->shifted;
    c->shifted = total;
    give_shift(p, c, v, x, more * c->normal);
    return fabs(more) * c->deep;
}

/* take_back and ease in contact/stiff.c. left: how deep what rests may stay. */
static void take_back(stander *p, __global lmi_gpu_stand *c, __global const float4 *v, __global float4 *x, float h, float left)
{
    if (c->pressed > 0.0f) {
        const float share = lmi_soft_share(c->depth, c->approach, h);
        c->shifted = share * h * c->pressed;
        c->level += share * h * c->bounce;
        give_shift(p, c, v, x, c->shifted * c->normal + h * c->braked);
    }
    c->level -= left;
}

/* Takes back impulses that would add energy ("energy" in contact/stiff.c), of a body that had been given `velocity` and `spin` before. */
static void weigh(stander *p, __global lmi_gpu_stand *contacts, uint count, quad velocity, quad spin, __global float4 *v)
{
    double a = 0.0, b = 0.0, slack = 0.0;
    for (uint k = 0; k < count && p->rigid == 1.0f; k++) {
        __global const lmi_gpu_stand *c = contacts + k;
        const quad impulse = c->pressed * c->normal + c->braked;
        if (c->live) {
            a -= quad_dot(impulse, (p->mean + velocity) + quad_cross(p->came + spin, c->arm) - c->surface);
            b += quad_dot(impulse, (p->velocity - velocity) + quad_cross(p->spin - spin, c->arm));
            slack = fmax(slack, 0.5 * LMI_BOUNCE_SPEED * LMI_BOUNCE_SPEED / c->deep);
        }
    }
    const float share = lmi_work_share(a, b, slack);
    for (uint k = 0; k < count && share < 1.0f; k++) {
        __global lmi_gpu_stand *c = contacts + k;
        if (c->live) {
            give_impulse(p, c, v, (share - 1.0f) * (c->pressed * c->normal + c->braked));
            c->pressed *= share;
            c->braked = share * c->braked;
        }
    }
}

/* Contacts that are solved together: `solve` in contact/stiff.c. */
static void solve_some(stander *p, __global lmi_gpu_stand *contacts, uint count, uint sweeps, float h, float left,
                       __global float4 *x, __global float4 *v)
{
    const quad velocity = p->velocity, spin = p->spin;
    float most = 1.0f;
    for (uint n = 0; n < sweeps && most > STILL_SPEED; n++) {
        most = 0.0f;
        for (uint k = 0; k < count; k++) {
            __global lmi_gpu_stand *c = contacts + (n & 1 ? count - 1 - k : k);
            most = c->live ? fmax(most, solve_velocity(p, c, v, 1.0f / h)) : most;
        }
    }
    weigh(p, contacts, count, velocity, spin, v);
    for (uint k = 0; k < count; k++) {
        take_back(p, contacts + k, v, x, h, left);
    }
    most = h;
    for (uint n = 0; n < 2 * sweeps && most > STILL_SPEED * h; n++) {
        most = 0.0f;
        for (uint k = 0; k < count; k++) {
            __global lmi_gpu_stand *c = contacts + (n & 1 ? count - 1 - k : k);
            most = c->live ? fmax(most, solve_position(p, c, v, x)) : most;
        }
    }
}

__kernel void stand_solve(__global const lmi_gpu_body *bodies, __global lmi_gpu_standing *standing, uint body_count,
                          __global lmi_gpu_push *pushes, __global lmi_gpu_stand *all, uint sweeps, float h,
                          __global float4 *x, __global float4 *v)
{
    const uint body = get_global_id(0);
    if (body >= body_count || standing[body].count == 0) {
        return;
    }
    __global lmi_gpu_standing *s = standing + body;
    __global lmi_gpu_push *from = pushes + body;
    __global lmi_gpu_stand *contacts = all + s->first;
    const quad zero = quad_of(0.0f, 0.0f, 0.0f);
    stander p = {from->centre, {from->turning[0], from->turning[1], from->turning[2]}, zero, zero, zero, zero, zero,
                 from->mean, from->came, from->rigid, from->inverse_mass};
    for (uint first = 0, end = 0; first < s->count; first = end) {
        for (uint full = 0; end < s->count && full < s->limit; end++) {
            full += begin_contact(&p, contacts + end, x, v);
        }
        solve_some(&p, contacts + first, end - first, sweeps, h, LMI_LEFT * (float)bodies[body].rest_size, x, v);
    }
    double given[3] = {0.0, 0.0, 0.0};
    uint touched = 0;
    for (uint n = 0; n < s->count; n++) {
        contacts[n].at = without_w(x[contacts[n].particle]) + (p.move + quad_cross(p.turn, contacts[n].arm));
        const quad impulse = contacts[n].pressed * contacts[n].normal + contacts[n].braked;
        given[0] += impulse.x, given[1] += impulse.y, given[2] += impulse.z;
        touched += contacts[n].pressed > 0.0f || contacts[n].shifted > 0.0f;
    }
    for (int i = 0; i < 3; i++) {
        s->impulse[i] = given[i];
    }
    s->touched = touched;
    from->centre = p.centre + p.drift; /* about another point the spin would move the body */
    from->move = p.move, from->turn = p.turn, from->velocity = p.velocity, from->spin = p.spin;
}

/* --- the end --- */

/* lmi_push_end. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
stand_end(__global const lmi_gpu_body *bodies, __global const lmi_gpu_standing *standing, __global const lmi_gpu_push *pushes,
          __global float4 *x, __global float4 *v)
{
    const uint body = get_group_id(0);
    __global const lmi_gpu_body *b = bodies + body;
    __global const lmi_gpu_push *p = pushes + body;
    const float far = LM_MAX_COORDINATE, fast = LM_MAX_SPEED;
    if (standing[body].count == 0) {
        return;
    }
    for (uint n = b->first + get_local_id(0); n < b->first + b->particles; n += GROUP) {
        float4 px = x[n], pv = v[n];
        if (!(pv.w > 0.0f)) {
            continue;
        }
        quad arm = without_w(px) - p->centre, dx = p->move + quad_cross(p->turn, arm), dv = p->velocity + quad_cross(p->spin, arm);
        x[n] = (float4)(vf_clamp(px.x + dx.x, -far, far), vf_clamp(px.y + dx.y, -far, far),
                        vf_clamp(px.z + dx.z, -far, far), px.w);
        v[n] = (float4)(vf_clamp(pv.x + dv.x, -fast, fast), vf_clamp(pv.y + dv.y, -fast, fast),
                        vf_clamp(pv.z + dv.z, -fast, fast), pv.w);
    }
}

__kernel void stand_tally(__global lmi_gpu_body *bodies, __global const lmi_gpu_standing *standing, uint count)
{
    const uint body = get_global_id(0);
    if (body < count) {
        for (int i = 0; i < 3; i++) {
            bodies[body].impulse[i] += standing[body].impulse[i];
        }
        bodies[body].contacts += standing[body].touched;
    }
}

/* The entry of a collider in a list, which is made where there is none; null: there is no room. */
static __global lmi_gpu_touch *find_touch(__global lmi_gpu_touch *list, __global uint *count, uint collider)
{
    uint n = 0;
    while (n < min(count[0], (uint)LMI_GPU_TOUCHES) && list[n].collider != collider) {
        n++;
    }
    const bool fresh = n == count[0];
    count[0] += fresh || n == LMI_GPU_TOUCHES; /* what is beyond the list is counted */
    if (fresh && n < LMI_GPU_TOUCHES) {
        list[n].collider = collider;
        list[n].pressing = 0;
        for (int c = 0; c < LMI_GPU_TOUCH_CHANNELS; c++) {
            list[n].sums[c] = 0.0;
        }
    }
    return n < LMI_GPU_TOUCHES ? list + n : 0;
}

/* lmi_touched_solved, to the list of the body's first piece. */
__kernel void stand_tell(__global const lmi_gpu_body *bodies, __global const lmi_gpu_standing *standing, uint count,
                         __global const lmi_gpu_walled *walled, __global const lmi_gpu_stand *all,
                         __global lmi_gpu_touch *touches, __global uint *touch_counts)
{
    const uint body = get_global_id(0);
    if (body >= count) {
        return;
    }
    __global const lmi_gpu_body *b = bodies + body;
    const uint piece = walled[body].first_piece;
    const double mass = b->mean_mass;
    for (uint n = standing[body].first; n < standing[body].first + standing[body].count; n++) {
        __global const lmi_gpu_stand *c = all + n;
        __global lmi_gpu_touch *to = c->deep > 0.0f ? find_touch(touches + piece * LMI_GPU_TOUCHES, touch_counts + piece, c->collider) : 0;
        if (!to) {
            continue;
        }
        const bool pressing = c->pressed > 0.0f || c->shifted > 0.0f;
        const double pressed = mass * c->pressed, weight = pressed + LMI_UNPRESSED;
        const quad given = c->pressed * c->normal + c->braked;
        const double at[9] = {weight * (b->origin[0] + c->at.x), weight * (b->origin[1] + c->at.y), weight * (b->origin[2] + c->at.z),
                              weight * c->normal.x, weight * c->normal.y, weight * c->normal.z,
                              mass * given.x, mass * given.y, mass * given.z};
        to->pressing |= pressing;
        to->sums[LMI_GPU_TOUCH_WEIGHT] += weight;
        for (int i = 0; i < 9; i++) {
            to->sums[LMI_GPU_TOUCH_POINT + i] += at[i];
        }
        to->sums[LMI_GPU_TOUCH_PRESSED] += pressed;
        to->sums[LMI_GPU_TOUCH_APPROACH] = fmax(to->sums[LMI_GPU_TOUCH_APPROACH], pressing ? (double)c->approach : 0.0);
    }
}
