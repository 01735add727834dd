/*
 * Once a body: sums of what its work-groups measured, its motion as a whole, and what a substep's kernels read of it.
 *
 * The host does the same in match/predict.c, motion.c and lattice_motion.c. There the velocities of all
 * particles are changed by gravity and less the drift in a pass of their own, which measures them on its way. Here the
 * kernel that moves particles measures them at the end of a substep, what gravity and drift will change in those sums is
 * worked out, and the changes themselves are made when the particles are moved next: no pass is needed for them.
 */

#define GROUP 64
#define REDUCE_GROUP 256

/* Bodies that one work-group prepares where there are many, and work-items that bring the record of one. */
#define HERD 8
#define HERD_ITEMS (GROUP / HERD)

static inline double join_two(uint channel, double a, double b)
{
    return channel < LMI_GPU_LOWER ? a + b : channel < LMI_GPU_UPPER ? fmin(a, b) : fmax(a, b);
}

/* Adds the partial sums of a body, in an order that depends on their number alone. A work-item has several loads under way. */
#define TOTAL_LOADS 8

static inline __attribute__((always_inline)) void total(__global const float *partials, uint first, uint count,
                                                        uint slices, __local double *slots, __local double *sums)
{
    uint id = get_local_id(0), channel = id % LMI_GPU_CHANNELS, slice = id / LMI_GPU_CHANNELS;
    const float none = channel < LMI_GPU_LOWER ? 0.0f : channel < LMI_GPU_UPPER ? 3e38f : -3e38f;
    double sum = none;
    for (uint n = slice; n < count; n += TOTAL_LOADS * slices) {
        float value[TOTAL_LOADS];
#pragma unroll
        for (uint k = 0; k < TOTAL_LOADS; k++) {
            uint at = n + k * slices;
            value[k] = at < count ? partials[(first + at) * LMI_GPU_CHANNELS + channel] : none;
        }
#pragma unroll
        for (uint k = 0; k < TOTAL_LOADS; k++) {
            sum = join_two(channel, sum, value[k]);
        }
    }
    slots[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice == 0) {
        for (uint k = 1; k < slices; k++) {
            sum = join_two(channel, sum, slots[id + k * LMI_GPU_CHANNELS]);
        }
        sums[channel] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

static lm_dvec3 dvec_in(__global const double *a) { return dvec(a[0], a[1], a[2]); }

static lm_dvec3 apply_inertia(const double inertia[6], lm_dvec3 w)
{
    return dvec(inertia[0] * w.x + inertia[3] * w.y + inertia[5] * w.z,
                inertia[3] * w.x + inertia[1] * w.y + inertia[4] * w.z,
                inertia[5] * w.x + inertia[4] * w.y + inertia[2] * w.z);
}

/* Many partial sums to fewer: one work-group for each part of them, which goes to its own place. */
__kernel __attribute__((reqd_work_group_size(REDUCE_GROUP, 1, 1))) void reduce(__global const lmi_gpu_chunk *parts,
                                                                       __global float *partials)
{
    __local double slots[REDUCE_GROUP], sums[LMI_GPU_CHANNELS];
    lmi_gpu_chunk part = parts[get_group_id(0)];
    total(partials, part.first, part.count, REDUCE_GROUP / LMI_GPU_CHANNELS, slots, sums);
    if (get_local_id(0) < LMI_GPU_CHANNELS) {
        partials[part.partial * LMI_GPU_CHANNELS + get_local_id(0)] = (float)sums[get_local_id(0)];
    }
}

/* After the particles of lattices have moved, or (measured) after an upload: sums and bounds into the records. */
__kernel void
conclude(__global lmi_gpu_body *bodies, __global const float *partials, double h, uint measured)
{
    __local double slots[REDUCE_GROUP], sums[LMI_GPU_CHANNELS]; /* room for the largest group that is launched */
    __local lmi_gpu_body record;
    __global lmi_gpu_body *body = bodies + get_group_id(0);
    const uint id = get_local_id(0), size = get_local_size(0);
    take_record(&record, body, id, size);
    total(partials, measured ? body->first_measure : body->first_partial, measured ? body->measures : body->partials,
          size / LMI_GPU_CHANNELS, slots, sums);
    if (id < 16) {
        record.sums[id] = sums[LMI_GPU_MASS + id];
    }
    if (id == 0 && !measured) {
        conclude_record(&record, sums, h);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (measured || record.partials != 0) {
        give_record(body, &record, id, size);
    }
}

/* The same after an upload of some bodies, in `list`: the others stay as they are. */
__kernel void settle(__global lmi_gpu_body *bodies, __global const float *partials, __global const uint *list)
{
    __local double slots[REDUCE_GROUP], sums[LMI_GPU_CHANNELS];
    __global lmi_gpu_body *body = bodies + list[get_group_id(0)];
    const uint id = get_local_id(0), size = get_local_size(0);
    total(partials, body->first_measure, body->measures, size / LMI_GPU_CHANNELS, slots, sums);
    if (id < 16) {
        body->sums[id] = sums[LMI_GPU_MASS + id];
    }
}

/* The origin follows a body that has come far from it: lmi_body_follow. */
static void follow(RECORD lmi_gpu_body *b)
{
    double size = 1e-6, shift[3];
    bool far = false;
    for (int i = 0; i < 3; i++) {
        size = fmax(size, 0.5 * ((double)b->upper[i] - b->lower[i]));
    }
    int exponent;
    frexp(size, &exponent);
    double quantum = ldexp(1.0, exponent - 4);
    for (int i = 0; i < 3; i++) {
        double middle = 0.5 * ((double)b->upper[i] + b->lower[i]);
        shift[i] = floor(middle / quantum + 0.5) * quantum;
        far = far || fabs(middle) > size;
    }
    for (int i = 0; i < 3; i++) {
        double by = far ? (double)(float)shift[i] : 0.0;
        b->shift[i] = (float)by;
        b->origin[i] += by;
        b->lower[i] -= (float)by;
        b->upper[i] -= (float)by;
        b->drift_centre[i] -= (float)by;
        b->at[i] -= (float)by;
    }
}

/* Where the centre of a body is, from record.at, and its inertia about it. */
static lm_dvec3 find_shape(RECORD const lmi_gpu_body *b, double inertia[6])
{
    RECORD const double *s = b->sums;
    const double mass = s[0];
    lm_dvec3 c = dvec_scale(dvec_at(s + 1), mass > 0.0 ? 1.0 / mass : 0.0);
    double xx = s[10] - mass * c.x * c.x, yy = s[11] - mass * c.y * c.y, zz = s[12] - mass * c.z * c.z;
    inertia[0] = yy + zz, inertia[1] = zz + xx, inertia[2] = xx + yy;
    inertia[3] = mass * c.x * c.y - s[13], inertia[4] = mass * c.y * c.z - s[14], inertia[5] = mass * c.z * c.x - s[15];
    return c;
}

/* What is to be taken out of a lattice's part, found with the inertia that it has now: lmi_lattice_settle. */
static void settle_drift(RECORD lmi_gpu_body *b)
{
    double inertia[6];
    lm_dvec3 c = find_shape(b, inertia), velocity = dvec_scale(dvec_at(b->owed_momentum), b->sums[0] > 0.0 ? 1.0 / b->sums[0] : 0.0);
    put(b->drift_centre, dvec_add(dvec_of(b->at), c));
    put(b->drift_velocity, dvec_limit(velocity, LM_MAX_SPEED));
    put(b->drift_spin, dvec_limit(lmi_dmat_solve_spin(inertia, dvec_at(b->owed_angular)), LM_MAX_SPEED));
}

/* The sums when the drift has been taken out of the velocities, and all have changed alike: momentum and angular momentum. */
static void change_sums(RECORD const lmi_gpu_body *b, const float change[3], lm_dvec3 *momentum, lm_dvec3 *angular)
{
    RECORD const double *s = b->sums;
    double mass = s[0], squares = s[10] + s[11] + s[12];
    lm_dvec3 first = dvec_at(s + 1), spin = dvec_of(b->drift_spin);
    lm_dvec3 arm = dvec_sub(dvec_of(b->at), dvec_of(b->drift_centre));
    lm_dvec3 velocity = dvec_add(dvec_of(b->drift_velocity), dvec_cross(spin, arm)); /* at record.at */
    const double inertia[6] = {squares - s[10], squares - s[11], squares - s[12], -s[13], -s[14], -s[15]};
    *momentum = dvec_sub(dvec_at(s + 4), dvec_add(dvec_scale(velocity, mass), dvec_cross(spin, first)));
    *angular = dvec_sub(dvec_at(s + 7), dvec_add(dvec_cross(first, velocity), apply_inertia(inertia, spin)));
}

/* The motion as a whole: lmi_motion_solve. */
static void find_motion(RECORD lmi_gpu_body *b, const float change[3])
{
    lm_dvec3 momentum, angular;
    RECORD const double *s = b->sums;
    double mass = s[0], per = mass > 0.0 ? 1.0 / mass : 0.0, inertia[6];
    change_sums(b, change, &momentum, &angular);
    lm_dvec3 c = find_shape(b, inertia), l = dvec_sub(angular, dvec_cross(c, momentum));
    lm_dvec3 velocity = dvec_scale(momentum, per), spin = lmi_dmat_solve_spin(inertia, l);
    b->mass = mass;
    for (int i = 0; i < 6; i++) {
        b->inertia[i] = inertia[i];
    }
    put(b->centre, dvec_add(dvec_of(b->at), c));
    put(b->velocity, dvec_add(velocity, dvec((double)b->from[0] + change[0], (double)b->from[1] + change[1],
                                             (double)b->from[2] + change[2])));
    put(b->spin, spin);
}

/* What the drift that is taken out now leaves to be taken out: lmi_lattice_measured. */
static void find_owed(RECORD lmi_gpu_body *b)
{
    double inertia[6];
    for (int i = 0; i < 6; i++) {
        inertia[i] = b->inertia[i];
    }
    lm_dvec3 spin = dvec_of(b->drift_spin), arm = dvec_sub(dvec_of(b->centre), dvec_of(b->drift_centre));
    lm_dvec3 velocity = dvec_add(dvec_of(b->drift_velocity), dvec_cross(spin, arm));
    put_double(b->owed_momentum, dvec_sub(dvec_at(b->owed_momentum), dvec_scale(velocity, b->mass)));
    put_double(b->owed_angular, dvec_sub(dvec_at(b->owed_angular), apply_inertia(inertia, spin)));
}

/* The frame turns after the body, when it is off by more than a little: follow_frame in lattice/lattice_motion.c. */
static void follow_frame(RECORD lmi_gpu_body *b, __global const float4 *x)
{
    dmat3 frame;
    lm_dvec3 mean = lm_dvec3_zero(), rest_mean = mean, turn = mean, rest[LMI_GPU_SAMPLES], at[LMI_GPU_SAMPLES];
    double s = b->spacing, along = 1e-30;
    for (int i = 0; i < 9; i++) {
        frame.m[i / 3][i % 3] = b->frame[i];
    }
    for (int k = 0; k < LMI_GPU_SAMPLES; k++) {
        float4 p = x[b->first + b->sample[k]];
        RECORD const int *corner = b->corner + 3 * k;
        at[k] = dvec(p.x, p.y, p.z);
        rest[k] = dmat_apply(&frame, dvec(s * corner[0], s * corner[1], s * corner[2]));
        mean = dvec_add(mean, dvec_scale(at[k], 1.0 / LMI_GPU_SAMPLES));
        rest_mean = dvec_add(rest_mean, dvec_scale(rest[k], 1.0 / LMI_GPU_SAMPLES));
    }
    for (int k = 0; k < LMI_GPU_SAMPLES; k++) {
        lm_dvec3 r = dvec_sub(rest[k], rest_mean), p = dvec_sub(at[k], mean);
        turn = dvec_add(turn, dvec_cross(r, p));
        along += fabs(dvec_dot(r, p));
    }
    turn = dvec_scale(turn, 1.0 / along);
    if (dvec_length(turn) > LMI_FRAME_TOLERANCE) {
        dmat3 by = lmi_dmat_from_rotation_vector(dvec_limit(turn, 1.0)), next = lmi_dmat_multiply(&by, &frame);
        frame = lmi_dmat_from_quat(lmi_quat_from_dmat(&next));
    }
    for (int i = 0; i < 9; i++) {
        b->frame[i] = frame.m[i / 3][i % 3];
        b->inverse[i] = (float)(frame.m[i % 3][i / 3] / s);
        b->forward[i] = (float)(frame.m[i / 3][i % 3] * s);
    }
}

/* States that only the host knows how to step: overstretched, collapsed, not a number. */
static uint find_trouble(RECORD const lmi_gpu_body *b, double h)
{
    double inertia[6], spread = 0.0;
    for (int i = 0; i < 6; i++) {
        inertia[i] = b->inertia[i];
    }
    for (int i = 0; i < 3; i++) {
        double size = (double)b->upper[i] - b->lower[i];
        spread += size * size;
    }
    spread = sqrt(spread);
    uint stop = 0;
    bool whole = b->parts <= 1 || !(b->spacing > 0.0); /* how far apart parts are does not matter: kernels/parts.cl looks at each */
    stop |= whole && (spread > 3.0 * b->rest_size || b->firmness / h * spread > 0.25 * LM_MAX_SPEED) ? LMI_GPU_OVERSTRETCHED : 0;
    stop |= b->rest_inertia > 0.0 && !(lmi_symmetric_determinant(inertia) >= LMI_COLLAPSED * b->rest_inertia) ? LMI_GPU_COLLAPSED : 0;
    stop |= is_sound(dvec_at(b->sums + 1)) && is_sound(dvec_at(b->sums + 4)) ? 0 : LMI_GPU_UNSOUND;
    return stop;
}

/* How far the farthest corner of a body's bounds is from a point, at most. */
static double distance_to(RECORD const lmi_gpu_body *b, lm_dvec3 p)
{
    lm_dvec3 lower = dvec_add(dvec_at(b->origin), dvec_of(b->lower));
    return dvec_length(dvec_sub(lower, p)) + dvec_length(dvec_sub(dvec_of(b->upper), dvec_of(b->lower)));
}

/* How fast a body comes to a collider, at most, but for what deforms. */
static double speed_to(RECORD const lmi_gpu_body *b, __global const lmi_gpu_surface *s)
{
    lm_dvec3 relative = dvec_sub(dvec_of(b->velocity), dvec_in(s->velocity));
    double speed = dvec_length(relative) + dvec_length(dvec_of(b->spin)) * b->rest_size;
    return speed + dvec_length(dvec_in(s->spin)) * distance_to(b, dvec_in(s->pivot));
}

/* Whether the body may touch a collider: may_touch in contact/contact.c. */
static bool is_near(RECORD const lmi_gpu_body *b, __global const lmi_gpu_surface *s, double h)
{
    if (!(b->group & s->mask) || !(b->collider_mask & s->group)) {
        return false;
    }
    /* Bounds are those before the move, which goes no further than this and as much again for what deforms. */
    double margin = b->contact_radius + 0.05 * b->rest_size + 2.0 * h * (speed_to(b, s) + b->firmness / h * b->rest_size);
    double low[3], high[3];
    for (int i = 0; i < 3; i++) {
        low[i] = b->origin[i] + b->lower[i];
        high[i] = b->origin[i] + b->upper[i];
    }
    bool near = true;
    if (s->shape == LM_SHAPE_PLANE) {
        double depth = 0.0;
        for (int i = 0; i < 3; i++) {
            double normal = s->rotation[3 * i + 1];
            depth += ((normal > 0.0 ? low[i] : high[i]) - s->position[i]) * normal;
        }
        near = depth < margin;
    } else {
        for (int i = 0; i < 3; i++) {
            near = near && low[i] - margin <= s->upper[i] && high[i] + margin >= s->lower[i];
        }
    }
    return near;
}

/* Colliders that the body may touch. */
static uint find_surfaces(RECORD const lmi_gpu_body *b, __global const lmi_gpu_surface *surfaces, uint count, double h)
{
    uint may = 0;
    for (uint n = 0; n < count; n++) {
        /* where there are more, walls.cl finds them; here it counts whether there are any */
        may |= is_near(b, surfaces + n, h) ? 1u << n % 32 : 0;
    }
    return may;
}

/* Whether the host may have to halt a body at a mesh or height map on its way, or to take particles back to before it: haste in
 * contact/halt.c, but for what deforms. */
static bool flies(RECORD const lmi_gpu_body *b, __global const lmi_gpu_surface *surfaces, uint count, double h)
{
    bool any = false;
    for (uint n = 0; n < count && !any; n++) {
        __global const lmi_gpu_surface *s = surfaces + n;
        any = s->solid != LMI_GPU_NONE && h * speed_to(b, s) > LMI_HASTE * fmax((double)LMI_FLIGHT, b->rest_size) && is_near(b, s, h);
    }
    return any;
}

/* Bodies that answer a collider as a whole (rigidity in contact/push.c) are those of kernels/stand.cl, where they are expected, or left
 * to the host. */
static bool answers_as_a_whole(RECORD const lmi_gpu_body *b, double h)
{
    double way = 0.6 * h * dvec_length(dvec_of(b->velocity));
    double stiff = lmi_firm_share(b->firmness, b->damping), fast = lmi_fast_share(way, b->rest_size);
    return !b->pinned && !b->pieces && fmax(stiff, fast) > 0.0;
}

/* Forces, the drift that is taken out, and damping towards the motion as a whole, as one map of a particle's velocity:
 * v <- v + (push + whirl x position - loss v). */
static void find_change(RECORD lmi_gpu_body *b, const float change[3])
{
    double k = b->damping_now, keep = 1.0 - k;
    lm_dvec3 drift_spin = dvec_of(b->drift_spin), spin = dvec_of(b->spin);
    lm_dvec3 drift = dvec_sub(dvec_of(b->drift_velocity), dvec_cross(drift_spin, dvec_of(b->drift_centre)));
    lm_dvec3 whole = dvec_sub(dvec_of(b->velocity), dvec_cross(spin, dvec_of(b->centre)));
    lm_dvec3 given = dvec_sub(dvec(change[0], change[1], change[2]), drift);
    b->loss = b->damping_now; /* of all particles */
    put(b->push, dvec_add(dvec_scale(given, keep), dvec_scale(whole, k)));
    put(b->whirl, dvec_sub(dvec_scale(spin, k), dvec_scale(drift_spin, keep)));
}

/* Motion, frame and colliders of one body in this substep, and whether the host has to step instead. */
static void prepare_record(RECORD lmi_gpu_body *b, __global const float4 *x, __global const lmi_gpu_surface *surfaces,
                           uint surface_count, uint walled, double h, const float change[3])
{
    follow(b);
    b->damping_turn++;
    b->damping_now = b->damping_turn >= b->damping_every ? b->damping : 0.0f;
    b->damping_turn = b->damping_turn >= b->damping_every ? 0 : b->damping_turn;
    if (b->regional) { /* in the place of damping towards the motion as a whole; of octrees lmi_octree_damps */
        bool damps = b->spacing > 0.0 || b->alpha > 1e-6f;
        b->damping_regional = damps ? b->damping_now : 0.0f;
        b->damping_now = damps ? 0.0f : b->damping_now;
    }
    if (b->parts > 1 && !(b->spacing > 0.0) && !b->regional) { /* not towards the motion as a whole, but each towards its own */
        b->loss = b->damping_now;
        b->damping_now = 0.0f;
    }
    if (b->spacing > 0.0) {
        settle_drift(b);
    }
    find_motion(b, change);
    b->stop = find_trouble(b, h);
    const bool whole = answers_as_a_whole(b, h);
    b->surfaces = !b->pointed && (whole || !walled) ? find_surfaces(b, surfaces, surface_count, h) : 0;
    b->stop |= b->surfaces && whole && walled != 2 ? LMI_GPU_RIGID : 0; /* 2: kernels/stand.cl */
    b->surfaces = walled ? 0 : b->surfaces; /* they have kernels of their own */
    b->stop |= walled && flies(b, surfaces, surface_count, h) ? LMI_GPU_FLYING : 0;
    if (b->spacing > 0.0) {
        find_owed(b);
        find_change(b, change);
        follow_frame(b, x);
    }
}

/* The records of `herd` bodies, 1 or HERD, to local memory and back: a work-item keeps to its own words. */
static inline void take_herd(RECORD lmi_gpu_body *to, __global const lmi_gpu_body *from, uint count, uint herd, uint id)
{
    if (herd == 1) {
        take_record(to, from, id, GROUP);
    } else if (id / HERD_ITEMS < count) {
        take_record(to + id / HERD_ITEMS, from + id / HERD_ITEMS, id % HERD_ITEMS, HERD_ITEMS);
    }
}

static inline void give_herd(__global lmi_gpu_body *to, RECORD const lmi_gpu_body *from, uint count, uint herd, uint id)
{
    if (herd == 1) {
        give_record(to, from, id, GROUP);
    } else if (id / HERD_ITEMS < count) {
        give_record(to + id / HERD_ITEMS, from + id / HERD_ITEMS, id % HERD_ITEMS, HERD_ITEMS);
    }
}

/* Before a substep: one work-item a body, in a group that brings the records of `herd` bodies: of one where there are few, so that
 * more work-items bring it. `stop` is set where the host has to step instead; it then goes on from `before`. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
prepare(__global lmi_gpu_body *bodies, __global lmi_gpu_body *before, uint all, uint herd, __global const float4 *x,
        __global const lmi_gpu_surface *surfaces, uint surface_count, uint walled, double h, float change_x, float change_y,
        float change_z, __global uint *stop)
{
    __local lmi_gpu_body records[HERD];
    const uint first = get_group_id(0) * herd, id = get_local_id(0), count = min(herd, all - first);
    take_herd(records, bodies + first, count, herd, id);
    give_herd(before + first, records, count, herd, id); /* its own words: no barrier is needed */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < count) {
        const float change[3] = {change_x, change_y, change_z};
        prepare_record(records + id, x, surfaces, surface_count, walled, h, change);
        if (records[id].stop) {
            atomic_or((volatile __global uint *)stop, records[id].stop); /* in any order: all of them */
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    give_herd(bodies + first, records, count, herd, id);
}

/* Adds a matched particle to the sums about record.at and .from. */
static inline void add_motion(__global const lmi_gpu_body *b, float4 p, float4 q, float s[16])
{
    float m = p.w > 0.0f ? q.w : 0.0f;
    float rx = p.x - b->at[0], ry = p.y - b->at[1], rz = p.z - b->at[2];
    float ux = m * (q.x - b->from[0]), uy = m * (q.y - b->from[1]), uz = m * (q.z - b->from[2]);
    s[0] += m;
    s[1] += m * rx, s[2] += m * ry, s[3] += m * rz;
    s[4] += ux, s[5] += uy, s[6] += uz;
    s[7] += ry * uz - rz * uy, s[8] += rz * ux - rx * uz, s[9] += rx * uy - ry * ux;
    s[10] += m * rx * rx, s[11] += m * ry * ry, s[12] += m * rz * rz;
    s[13] += m * rx * ry, s[14] += m * ry * rz, s[15] += m * rz * rx;
}

/* The sums of a group to where partial sums are. */
static inline __attribute__((always_inline)) void put_motion(const float s[16], __local float slots[16][GROUP],
                                                             __global float *partial)
{
    uint id = get_local_id(0);
    for (int i = 0; i < 16; i++) {
        slots[i][id] = s[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < LMI_GPU_CHANNELS) {
        float sum = 0.0f;
        if (id >= LMI_GPU_MASS && id < LMI_GPU_IMPULSE) {
            for (uint n = 0; n < GROUP; n++) {
                sum += slots[id - LMI_GPU_MASS][n];
            }
        }
        partial[id] = sum;
    }
}

/* The sums of chunks of particles: after an upload, and where pins have moved particles. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure(__global const lmi_gpu_body *bodies, __global const lmi_gpu_chunk *chunks, __global const float4 *x,
        __global const float4 *v, __global float *partials)
{
    __local float slots[16][GROUP];
    lmi_gpu_chunk c = chunks[get_group_id(0)];
    float s[16];
    for (int i = 0; i < 16; i++) {
        s[i] = 0.0f;
    }
    for (uint n = get_local_id(0); n < c.count; n += GROUP) {
        add_motion(bodies + c.body, x[c.first + n], v[c.first + n], s);
    }
    put_motion(s, slots, partials + c.partial * LMI_GPU_CHANNELS);
}
