/*
 * Soft contacts, all at once: contact/soft.c.
 *
 *   solve_load      once a particle: the weights of all contacts that it holds
 *   solve_weigh     once a contact: how mobile it is, all that share its particles considered
 *   solve_warm      once a touch point: its first contact gets what the point was given last time
 *   solve_load      again: what that would do to particles
 *   solve_begin     once a contact: begins with as much of it as adds no energy
 *   solve_velocity  once a contact: what it lacks of velocity; several passes
 *   solve_back      once a contact: the way that the velocities lost were good for
 *   solve_shift     once a contact: what it lacks of depth; several passes
 *   solve_gather    once a carrier: what the contacts in its bucket give it
 *   solve_apply     once a particle: what its touch points, carriers and cells are given; after each of the others
 *   solve_twist     once a contact: what it has done to the spin of both bodies
 *   solve_untwist   one work-group a body: takes that back
 *   solve_keep      once a touch point: what it was given
 *
 * No contact writes what another one reads: forces are gathered by particle, in the order of contacts.
 */

/* --- how mobile contacts are --- */

/* first, met, walls, rubbed: contacts of each point; buckets, bucket_first, list: of each bucket. */
#define LIST_ARGUMENTS                                                                                                \
    __global const uint *first, __global const ulong *met, __global const ulong *walls, __global const uint *rubbed,    \
        __global const uint *buckets, __global const uint *bucket_first, __global const uint *list

/* Contacts of a point that are remembered: those with balls of bodies that break come after them, and are not. */
static inline uint count_of(__global const ulong *met, __global const ulong *walls, uint point)
{
    return (uint)popcount(met[point]) + (uint)popcount(walls[point]);
}

/* What each particle holds. */
#define PARTICLE_ARGUMENTS                                                                                            \
    __global const uint *first_of_points, __global const uint *point_of, __global const float *weight_of,             \
        __global const uint *first_of_maps, __global const uint *map_of, __global const float4 *hold_of,              \
        __global const uint *cell_of, __global const uint *around

/* What a contact counts for: 1, or (`borne`) the size of what its point was given last time, on side a or b. */
static float counts_for(__global const lmi_gpu_contact *c, uint borne, bool b)
{
    return c->live != LMI_GPU_SOFT ? 0.0f : !borne ? 1.0f : b ? c->ratio * c->shifted : c->shifted;
}

__kernel void solve_load(uint count, PARTICLE_ARGUMENTS, __global const uint *map_bucket, LIST_ARGUMENTS,
                         __global const lmi_gpu_contact *contacts, __global float *load, uint borne)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    float sum = 0.0f;
    for (uint k = first_of_points[n]; k < first_of_points[n + 1]; k++) {
        uint point = point_of[k], end = first[point] + count_of(met, walls, point) + rubbed[point];
        float live = 0.0f;
        for (uint c = first[point]; c < end; c++) {
            live += counts_for(contacts + c, borne, false);
        }
        sum += fabs(weight_of[k]) * live;
    }
    for (uint k = first_of_maps[n]; k < first_of_maps[n + 1]; k++) {
        uint bucket = map_bucket[map_of[k]];
        for (uint at = bucket_first[bucket]; at < bucket_first[bucket] + buckets[bucket]; at++) {
            __global const lmi_gpu_contact *c = contacts + list[at];
            sum += counts_for(c, borne, true) * fabs(weight_of_map(hold_of[k], c->place));
        }
    }
    for (uint k = 0; cell_of[n] != LMI_GPU_NONE && k < 8; k++) {
        uint bucket = around[8 * cell_of[n] + k];
        for (uint at = 0; bucket != LMI_GPU_NONE && at < buckets[bucket]; at++) {
            __global const lmi_gpu_contact *c = contacts + list[bucket_first[bucket] + at];
            sum += counts_for(c, borne, true) * fabs(weight_of_corner(k, c->place));
        }
    }
    load[n] = sum;
}

/* |w| / m times the load, of a particle. */
static inline float bear(float weight, uint particle, __global const float4 *v, __global const float *load)
{
    return weight != 0.0f ? fabs(weight / v[particle].w) * load[particle] : 0.0f;
}

/* The same for all particles of a contact: those of side a, and those of b times `ratio`. */
static float bear_all(const holds *o, const lmi_gpu_contact *c, float ratio, __global const float4 *v, __global const float *load)
{
    float a = 0.0f, b = 0.0f;
    for (uint k = o->point_first[c->point]; k < o->point_first[c->point + 1]; k++) {
        a += bear(o->point_weight[k], o->point_rider[k], v, load);
    }
    if (c->b != LMI_GPU_NONE && c->cell == LMI_GPU_NONE) {
        for (uint k = o->map_first[c->map]; k < o->map_first[c->map + 1]; k++) {
            b += bear(weight_of_map(o->map_hold[k], c->place), o->map_rider[k], v, load);
        }
    } else if (c->b != LMI_GPU_NONE) {
        for (uint k = 0; k < 8; k++) {
            b += bear(weight_of_corner(k, c->place), o->corners[8 * c->cell + k], v, load);
        }
    }
    return a + ratio * b;
}

/* state[3]: there are soft contacts. */
__kernel void solve_weigh(uint count, HOLD_ARGUMENTS, __global const float4 *v, __global const float *load,
                          __global lmi_gpu_contact *contacts, __global int *state)
{
    const holds o = HOLDS;
    uint n = get_global_id(0);
    if (n >= count || contacts[n].live != LMI_GPU_SOFT) {
        return;
    }
    lmi_gpu_contact c = contacts[n];
    const float deep = bear_all(&o, &c, c.ratio, v, load);
    contacts[n].deep = deep;
    contacts[n].live = deep > 0.0f ? LMI_GPU_SOFT : LMI_GPU_NEAR; /* else nothing can move it */
    state[3] = 1;                                                 /* whoever writes it */
}

/* --- velocities --- */

static void put_soft(__global lmi_gpu_contact *c, lmi_soft soft)
{
    c->braked = soft.braked;
    c->ahead = soft.ahead;
    c->more = soft.more;
    c->pressed = soft.pressed;
}

static bool is_contact_before(__global const lmi_gpu_bulk *solids, __global const lmi_gpu_contact *contacts, uint p,
                              uint c, uint d);

/* Whether a whole contact of body p that begins with what `point` was given comes before contact `at`. */
static bool is_taken_before(__global const lmi_gpu_bulk *solids, __global const uint *chain,
                            __global const lmi_gpu_contact *contacts, uint p, uint point, uint at)
{
    const uint from = solids[p].first_contact + solids[p].first_listed;
    for (uint k = from; k < from + solids[p].chained; k++) { /* the first of them is in the chain before others */
        __global const lmi_gpu_contact *c = contacts + chain[k];
        if (c->a == p && c->leader == point && c->live == LMI_GPU_WHOLE) {
            return is_contact_before(solids, contacts, p, chain[k], at);
        }
    }
    return false;
}

/* warm: pressed and braked of each point. chain: whole contacts of each body; they take theirs in solve_sweep. */
__kernel void solve_warm(uint count, __global const uint *owner, __global const lmi_gpu_bulk *solids,
                         __global const uint *chain, __global const uint *first, __global const ulong *met,
                         __global const ulong *walls, __global float4 *warm, __global lmi_gpu_contact *contacts)
{
    uint n = get_global_id(0);
    if (n >= count || !(warm[n].x > 0.0f)) {
        return;
    }
    uint at = first[n], end = at + count_of(met, walls, n);
    while (at < end && contacts[at].live != LMI_GPU_SOFT) {
        at++;
    }
    if (at == end || is_taken_before(solids, chain, contacts, owner[n], n, at)) {
        return;
    }
    __global lmi_gpu_contact *c = contacts + at;
    const quad braked = quad_of(warm[n].y, warm[n].z, warm[n].w);
    c->pressed = warm[n].x;
    c->braked = braked;
    c->shifted = sqrt(c->pressed * c->pressed + quad_dot(braked, braked)); /* until solve_begin */
    warm[n].x = 0.0f;                                                      /* it is taken */
}

/* load: of what contacts were given last time. */
__kernel void solve_begin(uint count, HOLD_ARGUMENTS, __global const float4 *v, __global const float *load,
                          __global lmi_gpu_contact *contacts)
{
    const holds o = HOLDS;
    uint n = get_global_id(0);
    if (n >= count || contacts[n].live != LMI_GPU_SOFT || !(contacts[n].pressed > 0.0f)) {
        return;
    }
    lmi_gpu_contact c = contacts[n];
    const quad along = lmi_soft_without(c.braked, c.normal, quad_dot(c.braked, c.normal));
    const quad impulse = c.pressed * c.normal + lmi_soft_brake(along, c.friction * c.pressed);
    const float borne = quad_length(impulse) * bear_all(&o, &c, 1.0f, v, load);
    contacts[n].shifted = 0.0f;
    put_soft(contacts + n, lmi_soft_start(lmi_soft_keeps(-quad_dot(impulse, c.steady), borne) * impulse, c.normal, c.friction));
}

__kernel void solve_velocity(uint count, HOLD_ARGUMENTS, __global const float4 *v, float beta,
                             __global lmi_gpu_contact *contacts)
{
    const holds o = HOLDS;
    uint n = get_global_id(0);
    if (n >= count || contacts[n].live != LMI_GPU_SOFT) {
        return;
    }
    lmi_gpu_contact c = contacts[n];
    lmi_soft soft = {c.braked, c.ahead, c.more, c.pressed};
    put_soft(contacts + n,
             lmi_soft_pass(soft, contact_sum(&o, &c, v, c.surface), c.normal, c.bounce, c.deep, c.friction, beta));
}

/* --- positions --- */

/* How deep what rests may stay is in the level from now on. Whole contacts are given theirs in their order. */
__kernel void solve_back(uint count, float h, __global const lmi_gpu_meeter *meeters,
                         __global const lmi_gpu_body *bodies, __global lmi_gpu_contact *contacts)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global lmi_gpu_contact *c = contacts + n;
    float share = lmi_soft_share(c->depth, c->approach, h);
    quad more = quad_of(0.0f, 0.0f, 0.0f);
    if (c->pressed > 0.0f) {
        c->level += share * h * c->bounce; /* so far has it come since it bounced */
    }
    if (c->live == LMI_GPU_SOFT && c->pressed > 0.0f) {
        c->shifted = share * h * c->pressed;
        more = c->shifted * c->normal + h * c->braked;
    }
    c->level -= LMI_LEFT * (float)bodies[meeters[c->a].record].rest_size;
    if (c->live == LMI_GPU_SOFT) {
        c->ahead = quad_of(c->shifted, 0.0f, 0.0f);
        c->more = more;
    }
}

/* ease: the shares of the depth that soft bodies are put out of each other by, of what is deep and of what is shallow; in the first pass
 * alone. */
__kernel void solve_shift(uint count, HOLD_ARGUMENTS, __global const float4 *x, float beta, float ease, float ease_shallow,
                          __global lmi_gpu_contact *contacts)
{
    const holds o = HOLDS;
    uint n = get_global_id(0);
    if (n >= count || contacts[n].live != LMI_GPU_SOFT) {
        return;
    }
    lmi_gpu_contact c = contacts[n];
    float at = quad_dot(contact_sum(&o, &c, x, quad_of(0.0f, 0.0f, 0.0f)), c.normal), level = c.level;
    if (ease > 0.0f && c.b != LMI_GPU_NONE) {
        const float below = fmax(level - at, 0.0f), shallow = fmin(below, c.shallow);
        level -= (1.0f - ease_shallow) * shallow + (1.0f - ease) * (below - shallow);
    }
    float shifted = fmax(c.ahead.x + (level - at) / c.deep, 0.0f);
    float ahead = shifted + beta * (shifted - c.shifted);
    contacts[n].level = level;
    contacts[n].more = (ahead - c.ahead.x) * c.normal;
    contacts[n].ahead = quad_of(ahead, 0.0f, 0.0f);
    contacts[n].shifted = shifted;
}

/* --- to the particles --- */

/* given: of each map, what is given in all and its products with the place, as in meet.cl. */
__kernel void solve_gather(uint count, __global const uint *map_bucket, __global const uint *buckets,
                           __global const uint *bucket_first, __global const uint *list,
                           __global const lmi_gpu_contact *contacts, __global float *given)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    uint bucket = map_bucket[n], from = bucket_first[bucket];
    quad sum = quad_of(0.0f, 0.0f, 0.0f), by_x = sum, by_y = sum, by_z = sum;
    for (uint k = from; k < from + buckets[bucket]; k++) {
        __global const lmi_gpu_contact *c = contacts + list[k];
        quad back = c->live == LMI_GPU_SOFT ? -c->ratio * c->more : quad_of(0.0f, 0.0f, 0.0f), place = c->place;
        sum += back;
        by_x += place.x * back;
        by_y += place.y * back;
        by_z += place.z * back;
    }
    __global float *to = given + n * MAP_FLOATS;
    to[0] = sum.x, to[1] = sum.y, to[2] = sum.z;
    to[3] = by_x.x, to[4] = by_y.x, to[5] = by_z.x;
    to[6] = by_x.y, to[7] = by_y.y, to[8] = by_z.y;
    to[9] = by_x.z, to[10] = by_y.z, to[11] = by_z.z;
}

/* `to`: velocities, or positions, up to `most`; masses are with the velocities. */
__kernel void solve_apply(uint count, float most, PARTICLE_ARGUMENTS, LIST_ARGUMENTS, __global const lmi_gpu_contact *contacts,
                          __global const float *given, __global const float4 *v, __global float4 *to)
{
    uint n = get_global_id(0);
    if (n >= count || !(v[n].w > 0.0f)) {
        return;
    }
    quad sum = quad_of(0.0f, 0.0f, 0.0f);
    for (uint k = first_of_points[n]; k < first_of_points[n + 1]; k++) {
        uint point = point_of[k], end = first[point] + count_of(met, walls, point) + rubbed[point];
        for (uint c = first[point]; c < end; c++) {
            sum += contacts[c].live == LMI_GPU_SOFT ? weight_of[k] * contacts[c].more : quad_of(0.0f, 0.0f, 0.0f);
        }
    }
    for (uint k = first_of_maps[n]; k < first_of_maps[n + 1]; k++) {
        __global const float *g = given + map_of[k] * MAP_FLOATS;
        float4 w = hold_of[k];
        sum.x += w.x * g[0] + ((w.y * g[3] + w.z * g[4]) + w.w * g[5]);
        sum.y += w.x * g[1] + ((w.y * g[6] + w.z * g[7]) + w.w * g[8]);
        sum.z += w.x * g[2] + ((w.y * g[9] + w.z * g[10]) + w.w * g[11]);
    }
    for (uint k = 0; cell_of[n] != LMI_GPU_NONE && k < 8; k++) {
        uint bucket = around[8 * cell_of[n] + k];
        for (uint at = 0; bucket != LMI_GPU_NONE && at < buckets[bucket]; at++) {
            __global const lmi_gpu_contact *c = contacts + list[bucket_first[bucket] + at];
            sum -= c->live == LMI_GPU_SOFT ? (c->ratio * weight_of_corner(k, c->place)) * c->more : quad_of(0.0f, 0.0f, 0.0f);
        }
    }
    float by = 1.0f / v[n].w;
    float4 now = to[n];
    to[n] = (float4)(vf_clamp(now.x + by * sum.x, -most, most), vf_clamp(now.y + by * sum.y, -most, most),
                     vf_clamp(now.z + by * sum.z, -most, most), now.w);
}

/* --- spin --- */

/* A side's velocity as its angular momentum sees it when the side is shifted: that of the point where it answers locally, that of
 * the centre where it answers as a whole. */
static quad shifted_velocity(__global const lmi_gpu_push *p, quad u, quad arm)
{
    if (p->rigid > 0.0f) {
        u = (1.0f - p->rigid) * (u + p->velocity + quad_cross(p->spin, arm)) + p->rigid * p->mean;
    }
    return quad_of(u.x, u.y, u.z);
}

/* more: what the contact has changed of the angular momentum, in units of a's mean mass; ahead.x: how fast its sides moved. */
__kernel void solve_twist(uint count, HOLD_ARGUMENTS, __global const lmi_gpu_push *pushes, __global const float4 *v,
                          float h, __global lmi_gpu_contact *contacts)
{
    const holds o = HOLDS;
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    lmi_gpu_contact c = contacts[n];
    bool done = (c.live == LMI_GPU_SOFT || c.live == LMI_GPU_WHOLE) && c.b != LMI_GPU_NONE && (c.b != c.a || c.map == LMI_GPU_BALL) &&
                c.pressed + c.shifted > 0.0f;
    quad u = quad_of(0.0f, 0.0f, 0.0f);
    if (done) {
        u = shifted_velocity(pushes + c.a, sum_point(&o, c.point, v), c.arm_a) -
            shifted_velocity(pushes + c.b, sum_other(&o, &c, v), c.arm_b);
    }
    contacts[n].more =
        quad_cross(c.shifted * c.normal + h * c.braked, u) + quad_cross(c.off, c.pressed * c.normal + c.braked);
    contacts[n].ahead = quad_of(done ? quad_length(u) : -1.0f, 0.0f, 0.0f);
}

static double inertia_size(__global const lmi_gpu_meeter *m, __global const lmi_gpu_body *bodies)
{
    __global const lmi_gpu_body *b = bodies + m->record;
    return (b->inertia[0] + b->inertia[1] + b->inertia[2]) * m->mean_mass;
}

/* A body's share of what a contact did, and the speed of the fastest that did anything (below 0: none did). */
static void add_twist(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_body *bodies,
                      __global const lmi_gpu_contact *c, bool is_a, double sum[4])
{
    if (!(c->ahead.x >= 0.0f)) {
        return;
    }
    double a = inertia_size(meeters + c->a, bodies), b = inertia_size(meeters + c->b, bodies);
    double share = a + b > 0.0 ? a / (a + b) : 0.5, by = meeters[c->a].mean_mass * (is_a ? share : 1.0 - share);
    sum[0] += by * c->more.x;
    sum[1] += by * c->more.y;
    sum[2] += by * c->more.z;
    sum[3] = fmax(sum[3], (double)c->ahead.x);
}

/* lmi_push_untwist: takes twist[0 to 2] from the spin of some particles, `members` or (null) all of the body b; twist[3]: the speed of the
 * fastest that twisted them. All work-items of the group call it. */
static void turn_back(__local double *slots, __global const lmi_gpu_body *b, __global const uint *members, uint count,
                      double mean_mass, const double twist[4], __global const float4 *x, __global float4 *v)
{
    const uint id = get_local_id(0);
    double sum[10], inertia[6];
    for (int i = 0; i < 10; i++) {
        sum[i] = 0.0;
    }
    for (uint k = id; k < count; k += GROUP) {
        const uint n = members ? members[k] : b->first + k;
        const double m = v[n].w, at[3] = {x[n].x, x[n].y, x[n].z};
        sum[0] += m;
        for (int i = 0; i < 3; i++) {
            sum[1 + i] += m * at[i];
            sum[4 + i] += m * at[i] * at[i];
            sum[7 + i] += m * at[i] * at[(i + 1) % 3];
        }
    }
    for (int i = 0; i < 10; i++) {
        sum[i] = join_group(slots, sum[i], false);
    }
    const double mass = sum[0], c[3] = {sum[1] / mass, sum[2] / mass, sum[3] / mass};
    inertia_of(mass, c, sum + 4, inertia);
    lm_dvec3 spin = lmi_dmat_solve_spin(inertia, dvec_scale(dvec(twist[0], twist[1], twist[2]), -1.0 / mean_mass));
    double turned = 0.5 * b->rest_size * dvec_length(spin), most = LMI_MOST_UNTWIST * twist[3];
    quad turn = quad_from(dvec_scale(spin, turned > most ? most / turned : 1.0)), centre = quad_from(dvec(c[0], c[1], c[2]));
    for (uint k = id; k < count; k += GROUP) {
        const uint n = members ? members[k] : b->first + k;
        float4 now = v[n];
        quad dv = quad_cross(turn, x[n] - centre);
        if (now.w > 0.0f) {
            v[n] = (float4)(vf_clamp(now.x + dv.x, -LM_MAX_SPEED, LM_MAX_SPEED),
                            vf_clamp(now.y + dv.y, -LM_MAX_SPEED, LM_MAX_SPEED),
                            vf_clamp(now.z + dv.z, -LM_MAX_SPEED, LM_MAX_SPEED), now.w);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_untwist(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids,
              __global const lmi_gpu_body *bodies, __global const lmi_gpu_push *pushes, __global const uint *list,
              __global const lmi_gpu_contact *contacts, __global const float4 *x, __global float4 *v)
{
    __local double slots[GROUP];
    const uint id = get_local_id(0), who = get_group_id(0);
    __global const lmi_gpu_bulk *s = solids + who;
    __global const lmi_gpu_body *b = bodies + meeters[who].record;
    double twist[4] = {0.0, 0.0, 0.0, -1.0};
    if (meeters[who].marks & LMI_GPU_PIECES) {
        return; /* all of the group: solve_untwist_pieces */
    }
    for (uint n = id; n < s->contacts; n += GROUP) {
        add_twist(meeters, bodies, contacts + s->first_contact + n, true, twist);
    }
    for (uint n = id; n < s->listed; n += GROUP) {
        add_twist(meeters, bodies, contacts + list[s->first_listed + n], false, twist);
    }
    for (int i = 0; i < 4; i++) {
        twist[i] = join_group(slots, twist[i], i == 3);
    }
    if (!(twist[3] >= 0.0)) {
        return; /* all of the group */
    }
    twist[0] += meeters[who].mean_mass * pushes[who].twist.x;
    twist[1] += meeters[who].mean_mass * pushes[who].twist.y;
    twist[2] += meeters[who].mean_mass * pushes[who].twist.z;
    turn_back(slots, b, 0, b->particles, meeters[who].mean_mass, twist, x, v);
}

/* What each point was given by the contact that pressed most, for the next substep. */
__kernel void solve_keep(uint count, __global const uint *first, __global const ulong *met, __global const ulong *walls,
                         __global const lmi_gpu_contact *contacts, __global float4 *warm)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    float4 kept = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
    for (uint c = first[n]; c < first[n] + count_of(met, walls, n); c++) {
        if (contacts[c].live == LMI_GPU_SOFT && contacts[c].pressed >= kept.x) {
            quad braked = contacts[c].braked;
            kept = (float4)(contacts[c].pressed, braked.x, braked.y, braked.z);
        }
    }
    warm[n] = kept;
}
