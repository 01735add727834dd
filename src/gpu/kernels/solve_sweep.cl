/*
 * Contacts of bodies that answer as a whole, for some share, one after the other: the sweeps of contact/stiff.c.
 *
 *   solve_sweep    one work-group for each group of bodies that contacts connect: goes through its levels, there or back
 *   solve_end      one work-group a body: what it was given as a whole, to its particles
 */

#define STILL_SPEED 1e-4f
#define MOST_TURN 1.0f

enum { SWEEP_WARM, SWEEP_VELOCITIES, SWEEP_WEIGH, SWEEP_BACK, SWEEP_POSITIONS, SWEEP_KEEP };

/* --- what a contact sees and gives --- */

/* Both sides answer as a whole, in full (or one does, and the other is a wall): their particles do not move by themselves. */
static bool is_steady(const lmi_gpu_contact *c, const side *a, const side *b)
{
    return a->rigid == 1.0f && (c->b == LMI_GPU_NONE || b->rigid == 1.0f);
}

/* How a moves as seen from b, as wholes. */
static quad whole_motion(const lmi_gpu_contact *c, const side *a, const side *b)
{
    quad u = side_motion(a, c->arm_a);
    return c->b == LMI_GPU_NONE ? u : u - side_motion(b, c->arm_b);
}

static quad whole_velocity(const holds *o, const lmi_gpu_contact *c, const side *a, const side *b,
                           __global const float4 *v)
{
    return (is_steady(c, a, b) ? c->steady : contact_sum(o, c, v, c->surface)) + whole_motion(c, a, b);
}

static float whole_depth(const holds *o, const lmi_gpu_contact *c, const side *a, const side *b,
                         __global const float4 *x)
{
    quad p = is_steady(c, a, b) ? c->ahead : contact_sum(o, c, x, quad_of(0.0f, 0.0f, 0.0f));
    return c->level - quad_dot(p + whole_motion(c, a, b), c->normal);
}

static void add_to(__global float4 *to, __global const float4 *v, uint particle, float weight, float share, quad given)
{
    if (weight != 0.0f) {
        quad by = (share * weight / v[particle].w) * given;
        to[particle] += by;
    }
}

/* The share of an impulse, or of a shift, that acts on single particles. */
static void give_locally(const holds *o, const lmi_gpu_contact *c, const side *a, const side *b,
                         __global const float4 *v, __global float4 *to, quad given)
{
    float share = 1.0f - a->rigid;
    for (uint k = o->point_first[c->point]; share > 0.0f && k < o->point_first[c->point + 1]; k++) {
        add_to(to, v, o->point_rider[k], o->point_weight[k], share, given);
    }
    share = c->b == LMI_GPU_NONE ? 0.0f : 1.0f - b->rigid;
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

/* lmi_push_impulse */
static void push_impulse(side *s, quad arm, quad impulse)
{
    if (s->rigid > 0.0f) {
        s->linear += (s->rigid * s->inverse_mass) * impulse;
        s->other += s->inverse_mass * impulse;
        s->angular += s->rigid * turning_of(s, quad_cross(arm, impulse));
    }
}

/* lmi_push_shift */
static void push_shift(side *s, quad arm, quad shift)
{
    if (s->rigid > 0.0f) {
        s->other += ((1.0f - s->rigid) * s->inverse_mass) * shift;
        s->linear += (s->rigid * s->inverse_mass) * shift;
        quad turn = s->angular + s->rigid * turning_of(s, quad_cross(arm, shift));
        float angle = quad_length(turn);
        s->angular = (angle > MOST_TURN ? MOST_TURN / angle : 1.0f) * turn;
    }
}

/* A body that touches itself is both sides. */
static void follow(const lmi_gpu_contact *c, side *to, const side *from)
{
    if (c->a == c->b) {
        to->linear = from->linear, to->angular = from->angular, to->other = from->other;
    }
}

static void give_impulse(const holds *o, const lmi_gpu_contact *c, side *a, side *b, __global float4 *v, quad impulse)
{
    give_locally(o, c, a, b, v, v, impulse);
    push_impulse(a, c->arm_a, impulse);
    if (c->b != LMI_GPU_NONE) {
        follow(c, b, a);
        push_impulse(b, c->arm_b, -c->ratio * impulse);
        follow(c, a, b);
    }
}

static void give_shift(const holds *o, const lmi_gpu_contact *c, side *a, side *b, __global const float4 *v,
                       __global float4 *x, quad shift)
{
    give_locally(o, c, a, b, v, x, shift);
    push_shift(a, c->arm_a, shift);
    if (c->b != LMI_GPU_NONE) {
        follow(c, b, a);
        push_shift(b, c->arm_b, -c->ratio * shift);
        follow(c, a, b);
    }
}

/* --- one contact --- */

/* One contact begins with what its point was given last time; whoever comes first takes it. */
static void whole_warm(const holds *o, lmi_gpu_contact *c, side *a, side *b, __global float4 *v, __global float4 *warm)
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
    c->pressed = soft.pressed;
    give_impulse(o, c, a, b, v, soft.ahead);
}

static float whole_velocities(const holds *o, lmi_gpu_contact *c, side *a, side *b, __global float4 *v, float inverse_h)
{
    float closing = fmax(-c->depth, 0.0f) * inverse_h;
    quad u = whole_velocity(o, c, a, b, v);
    float total = fmax(c->pressed + (c->bounce - closing - quad_dot(u, c->normal)) / c->deep, 0.0f);
    float more = total - c->pressed, most = fabs(more) * c->deep;
    c->pressed = total;
    give_impulse(o, c, a, b, v, more * c->normal);
    if (c->friction > 0.0f) {
        u = whole_velocity(o, c, a, b, v);
        quad slide = u - quad_dot(u, c->normal) * c->normal, braked = c->braked;
        float speed = quad_length(slide);
        if (speed > 1e-12f) {
            braked -= (1.0f / mobility_of(c, a, b, (1.0f / speed) * slide)) * slide;
        }
        braked = lmi_soft_brake(braked, c->friction * c->pressed);
        quad given = braked - c->braked;
        c->braked = braked;
        give_impulse(o, c, a, b, v, given);
        most = fmax(most, quad_length(given) * c->deep);
    }
    return most;
}

/* Takes back all but a share of what the contact was given (weigh_group). */
static void whole_scale(const holds *o, lmi_gpu_contact *c, side *a, side *b, __global float4 *v, float share)
{
    if (is_steady(c, a, b)) {
        give_impulse(o, c, a, b, v, (share - 1.0f) * (c->pressed * c->normal + c->braked));
        c->pressed *= share;
        c->braked = share * c->braked;
    }
}

static void whole_back(const holds *o, lmi_gpu_contact *c, side *a, side *b, __global const float4 *v,
                       __global float4 *x, float h)
{
    if (c->pressed > 0.0f) {
        float share = lmi_soft_share(c->depth, c->approach, h);
        c->shifted = share * h * c->pressed;
        give_shift(o, c, a, b, v, x, c->shifted * c->normal + h * c->braked);
    }
}

static float whole_positions(const holds *o, lmi_gpu_contact *c, side *a, side *b, __global const float4 *v,
                             __global float4 *x)
{
    float total = fmax(c->shifted + whole_depth(o, c, a, b, x) / c->deep, 0.0f), more = total - c->shifted;
    c->shifted = total;
    give_shift(o, c, a, b, v, x, more * c->normal);
    return fabs(more) * c->deep;
}

/* What carries a load is given again; an impact is over. */
static void whole_keep(const lmi_gpu_contact *c, __global float4 *kept)
{
    if (c->approach < LMI_BOUNCE_SPEED && c->pressed >= kept[c->leader].x) {
        kept[c->leader] = (float4)(c->pressed, c->braked.x, c->braked.y, c->braked.z);
    }
}

/* --- sweeps --- */

/* A level takes as long as its way to memory and back, and there are as many levels as the longest chain has contacts. So what
 * changes of bodies is in local memory while their group is swept, where all of them answer as a whole, in full, and they are not
 * too many; and whatever does not change is loaded a level ahead. */
#define SEATS 1024

typedef struct seat {
    float linear[3], angular[3];
} seat;

/* What the sweeps of a group read and write. */
typedef struct sweep_view {
    uint mode;
    float h;
    const holds *o;
    __global const uint *order, *level;
    __global lmi_gpu_push *pushes;
    __global lmi_gpu_contact *contacts;
    __global float4 *x, *v, *warm;
    __local seat *seats; /* 0: the pushes change themselves */
    float share;         /* of impulses that is kept when they are weighed */
} sweep_view;

/* A contact on its turn, and the bodies on its sides. */
typedef struct turn {
    uint at; /* LMI_GPU_NONE: there is none */
    lmi_gpu_contact c;
    side a, b;
} turn;

static bool is_of_positions(uint mode) { return mode == SWEEP_BACK || mode == SWEEP_POSITIONS; }

static turn load_turn(const sweep_view *s, uint at)
{
    turn t;
    t.at = at;
    t.c = s->contacts[at == LMI_GPU_NONE ? 0 : at];
    if (s->seats) { /* else others may still change them */
        t.a = side_of(s->pushes + (at == LMI_GPU_NONE ? 0 : t.c.a), false);
        t.b = side_of(s->pushes + (at == LMI_GPU_NONE || t.c.b == LMI_GPU_NONE ? 0 : t.c.b), false);
    }
    return t;
}

static void load_side(const sweep_view *s, uint body, uint number, side *to)
{
    if (s->seats) {
        __local const seat *from = s->seats + number;
        to->linear = quad_of(from->linear[0], from->linear[1], from->linear[2]);
        to->angular = quad_of(from->angular[0], from->angular[1], from->angular[2]);
    } else {
        *to = side_of(s->pushes + body, is_of_positions(s->mode));
    }
}

static void put_seat(__local seat *to, quad linear, quad angular)
{
    to->linear[0] = linear.x, to->linear[1] = linear.y, to->linear[2] = linear.z;
    to->angular[0] = angular.x, to->angular[1] = angular.y, to->angular[2] = angular.z;
}

static void store_side(const sweep_view *s, uint body, uint number, const side *from)
{
    __global lmi_gpu_push *p = s->pushes + body;
    if (s->seats) {
        put_seat(s->seats + number, from->linear, from->angular);
    } else if (is_of_positions(s->mode)) {
        p->move = from->linear, p->turn = from->angular, p->drift = from->other;
    } else {
        p->velocity = from->linear, p->spin = from->angular, p->mean = from->other;
    }
}

static void sit_down(const sweep_view *s, __global const lmi_gpu_group *g, __global const uint *members)
{
    for (uint k = get_local_id(0); k < g->members; k += GROUP) {
        side from = side_of(s->pushes + members[g->first_member + k], is_of_positions(s->mode));
        put_seat(s->seats + k, from.linear, from.angular);
    }
}

/* A body that answers as a whole, in full, has the mean velocity of the whole, and its centre does not drift. */
static void stand_up(const sweep_view *s, __global const lmi_gpu_group *g, __global const uint *members)
{
    for (uint k = get_local_id(0); k < g->members; k += GROUP) {
        __global lmi_gpu_push *p = s->pushes + members[g->first_member + k];
        __local const seat *from = s->seats + k;
        quad linear = quad_of(from->linear[0], from->linear[1], from->linear[2]);
        quad angular = quad_of(from->angular[0], from->angular[1], from->angular[2]);
        if (is_of_positions(s->mode)) {
            p->move = linear, p->turn = angular;
        } else {
            p->mean += linear - p->velocity;
            p->velocity = linear, p->spin = angular;
        }
    }
}

/* One contact; returns how much it has changed. */
static float go_through(const sweep_view *s, turn *t)
{
    lmi_gpu_contact *c = &t->c;
    side *a = &t->a, *b = &t->b;
    if (s->mode == SWEEP_KEEP) {
        whole_keep(c, s->warm);
        return 0.0f;
    }
    const bool other = c->b != LMI_GPU_NONE;
    load_side(s, c->a, c->seats & 0xffff, a);
    if (other) {
        load_side(s, c->b, c->seats >> 16, b);
    }
    float most = 0.0f;
    if (s->mode == SWEEP_WARM) {
        whole_warm(s->o, c, a, b, s->v, s->warm);
    } else if (s->mode == SWEEP_VELOCITIES) {
        most = whole_velocities(s->o, c, a, b, s->v, 1.0f / s->h);
    } else if (s->mode == SWEEP_WEIGH) {
        whole_scale(s->o, c, a, b, s->v, s->share);
    } else if (s->mode == SWEEP_BACK) {
        whole_back(s->o, c, a, b, s->v, s->x, s->h);
    } else {
        most = whole_positions(s->o, c, a, b, s->v, s->x);
    }
    store_side(s, c->a, c->seats & 0xffff, a);
    if (other) {
        store_side(s, c->b, c->seats >> 16, b);
    }
    s->contacts[t->at].braked = c->braked;
    s->contacts[t->at].pressed = c->pressed;
    s->contacts[t->at].shifted = c->shifted;
    return most;
}

/* The first contact of this work-item on a level, or LMI_GPU_NONE. */
static uint first_on(const sweep_view *s, __global const lmi_gpu_group *g, bool back, uint l)
{
    uint here = g->first_level + (back ? g->levels - 1 - l : l);
    uint k = l < g->levels ? s->level[here] + get_local_id(0) : 0;
    return l < g->levels && k < s->level[here + 1] ? s->order[k] : LMI_GPU_NONE;
}

/* Goes through the levels of a group, back where n is odd. Returns the largest change, to all work-items. A contact has its turn with
 * the same work-item in every sweep, so that only what contacts share has to be seen by others before the next level. */
static float sweep_group(const sweep_view *s, uint n, __global const lmi_gpu_group *g, __local float *slots)
{
    const uint id = get_local_id(0), levels = g->levels;
    const bool back = n & 1;
    uint after = first_on(s, g, back, 1);
    turn next = load_turn(s, first_on(s, g, back, 0));
    float own = 0.0f;
    for (uint l = 0; l < levels; l++) {
        const uint here = g->first_level + (back ? levels - 1 - l : l), end = s->level[here + 1];
        turn now = next;
        next = load_turn(s, after);
        after = first_on(s, g, back, l + 2);
        for (uint k = s->level[here] + id + GROUP; now.at != LMI_GPU_NONE; k += GROUP) {
            own = fmax(own, go_through(s, &now));
            now.at = LMI_GPU_NONE;
            if (k < end) {
                now = load_turn(s, s->order[k]);
            }
        }
        if (s->seats) {
            barrier(CLK_LOCAL_MEM_FENCE);
        } else {
            barrier(CLK_GLOBAL_MEM_FENCE);
        }
    }
    slots[id] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_of = GROUP / 2; half_of > 0; half_of /= 2) {
        if (id < half_of) {
            slots[id] = fmax(slots[id], slots[id + half_of]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float most = slots[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return most;
}

/* The velocity of a body as a rigid one before it was given anything. */
static quad came_with(__global const lmi_gpu_push *p, quad arm)
{
    return (p->mean - p->velocity) + quad_cross(p->came, arm);
}

/* The share of its impulses that a group keeps, to all work-items: "energy" in contact/stiff.c. */
static float weigh_group(const sweep_view *s, __global const lmi_gpu_group *g, __local double *slots)
{
    const uint end = s->level[g->first_level + g->levels];
    double work_a = 0.0, work_b = 0.0, slack = 0.0;
    for (uint k = s->level[g->first_level] + get_local_id(0); k < end; k += GROUP) {
        const lmi_gpu_contact c = s->contacts[s->order[k]];
        __global const lmi_gpu_push *p = s->pushes + c.a, *q = s->pushes + (c.b == LMI_GPU_NONE ? c.a : c.b);
        const side a = side_of(p, false), b = side_of(q, false);
        const quad impulse = c.pressed * c.normal + c.braked;
        if (is_steady(&c, &a, &b)) {
            const quad other = c.b == LMI_GPU_NONE ? c.surface : came_with(q, c.arm_b);
            work_a -= (double)p->mean_mass * quad_dot(impulse, came_with(p, c.arm_a) - other);
            work_b += (double)p->mean_mass * quad_dot(impulse, whole_motion(&c, &a, &b));
            slack = fmax(slack, 0.5 * LMI_BOUNCE_SPEED * LMI_BOUNCE_SPEED * p->mean_mass / c.deep);
        }
    }
    work_a = join_group(slots, work_a, false);
    work_b = join_group(slots, work_b, false);
    return lmi_work_share(work_a, work_b, join_group(slots, slack, true));
}

/* Sweep number n: those up to `passes` are done in any case, where there are soft contacts, and others as long as the one before
 * has changed anything. state: bits of the largest change of sweep n at n % 3; [3]: there are soft contacts. A group that is alone
 * does all of its sweeps, `most` of them, in the first. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_sweep(uint mode, uint n, uint passes, uint most, float h, HOLD_ARGUMENTS, __global const uint *roots,
            __global const lmi_gpu_group *groups, __global const uint *members, __global const uint *order,
            __global const uint *level, __global lmi_gpu_push *pushes, __global lmi_gpu_contact *contacts,
            __global float4 *x, __global float4 *v, __global float4 *warm, volatile __global int *state)
{
    __local float slots[GROUP];
    __local double sums[GROUP];
    __local seat seats[SEATS];
    const uint id = get_local_id(0);
    const float still = mode == SWEEP_POSITIONS ? STILL_SPEED * h : STILL_SPEED;
    if (get_group_id(0) == 0 && id == 0) {
        state[(n + 1) % 3] = 0;
    }
    if (get_group_id(0) >= roots[0]) {
        return; /* all of the group */
    }
    __global const lmi_gpu_group *g = groups + roots[1 + get_group_id(0)];
    if (g->alone ? n > 0 : n > 0 && !(n < passes && state[3]) && !(as_float(state[(n + 2) % 3]) > still)) {
        return; /* all of the group */
    }
    /* What points remember is in the device's memory, and one level must see what the one before has taken of it. */
    const bool near = g->members <= SEATS && !g->loose && mode != SWEEP_KEEP && mode != SWEEP_WARM;
    const holds o = HOLDS;
    sweep_view s = {mode, h, &o, order, level, pushes, contacts, x, v, warm, near ? seats : 0, 1.0f};
    if (mode == SWEEP_WEIGH) {
        s.share = weigh_group(&s, g, sums);
        if (!(s.share < 1.0f)) {
            return; /* all of the group */
        }
    }
    if (near) {
        sit_down(&s, g, members);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float change = 2.0f * still;
    for (uint k = n; k == n || (g->alone && k < most && change > still); k++) {
        change = sweep_group(&s, k, g, slots);
    }
    if (near) {
        stand_up(&s, g, members);
    }
    if (id == 0 && !g->alone && mode != SWEEP_WEIGH) {
        atomic_max(state + n % 3, as_int(change)); /* floats above 0 are in the order of their bits */
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
        quad dx = p->move + quad_cross(p->turn, arm), dv = p->velocity + quad_cross(p->spin, arm);
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
