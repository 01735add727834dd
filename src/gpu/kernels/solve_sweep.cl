/*
 * Contacts of bodies that answer as a whole, for some share, one after the other: the sweeps of step/solve.c.
 *
 *   solve_sweep    one work-group for each group of bodies that contacts connect: goes through its levels, there or back
 *   solve_end      one work-group a body: what it was given as a whole, to its particles
 */

#define STILL_SPEED 1e-4f
#define MOST_TURN 1.0f

enum { SWEEP_WARM, SWEEP_VELOCITIES, SWEEP_BACK, SWEEP_POSITIONS, SWEEP_KEEP };

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

/* What the sweeps of a group read and write. */
typedef struct sweep_view {
    const holds *o;
    __global const uint *order, *level;
    __global lmi_gpu_push *pushes;
    __global lmi_gpu_contact *contacts;
    __global float4 *x, *v, *warm;
    float h;
} sweep_view;

/* Goes through the levels of a group, back where n is odd. Returns the largest change, to all work-items. */
static float sweep_group(const sweep_view *s, uint mode, uint n, __global const lmi_gpu_group *g, __local float *slots)
{
    const uint id = get_local_id(0);
    float own = 0.0f;
    for (uint l = 0; l < g->levels; l++) {
        uint here = g->first_level + (n & 1 ? g->levels - 1 - l : l);
        for (uint k = s->level[here] + id; k < s->level[here + 1]; k += GROUP) {
            own = fmax(own, go_through(mode, s->o, s->h, s->contacts + s->order[k], s->pushes, s->x, s->v, s->warm));
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
    float most = slots[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return most;
}

/* Sweep number n: those up to `passes` are done in any case, where there are soft contacts, and others as long as the one before
 * has changed anything. state: bits of the largest change of sweep n at n % 3; [3]: there are soft contacts. A group that is alone
 * does all of its sweeps, `most` of them, in the first. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_sweep(uint mode, uint n, uint passes, uint most, float h, HOLD_ARGUMENTS, __global const uint *roots,
            __global const lmi_gpu_group *groups, __global const uint *order, __global const uint *level,
            __global lmi_gpu_push *pushes, __global lmi_gpu_contact *contacts, __global float4 *x, __global float4 *v,
            __global float4 *warm, volatile __global int *state)
{
    __local float slots[GROUP];
    const holds o = HOLDS;
    const sweep_view s = {&o, order, level, pushes, contacts, x, v, warm, h};
    const float still = mode == SWEEP_POSITIONS ? STILL_SPEED * h : STILL_SPEED;
    if (get_group_id(0) == 0 && get_local_id(0) == 0) {
        state[(n + 1) % 3] = 0;
    }
    if (get_group_id(0) >= roots[0]) {
        return; /* all of the group */
    }
    __global const lmi_gpu_group *g = groups + roots[1 + get_group_id(0)];
    float change = 2.0f * still;
    if (g->alone) {
        for (uint k = 0; n == 0 && k < most && change > still; k++) {
            change = sweep_group(&s, mode, k, g, slots);
        }
    } else if (n == 0 || (n < passes && state[3]) || as_float(state[(n + 2) % 3]) > still) {
        change = sweep_group(&s, mode, n, g, slots);
        if (get_local_id(0) == 0) {
            atomic_max(state + n % 3, as_int(change)); /* floats above 0 are in the order of their bits */
        }
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
