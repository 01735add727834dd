/*
 * Bodies of clusters: one work-item for each lane of the pack (match/pack.h), then one work-group for each body.
 *
 *   match   gather, fit and scatter of a region; of one that is divided, its parts are gathered first (match_parts) and
 *           get their goals last (spread)
 *   move    the pull of every particle, the motion as a whole that is in it, and integration: match/integrate.c
 *
 * Sums run in the order of cluster/sum_cluster.c, and the fit is that of match/fit.c, with the same rotation, the same nearest
 * shape of the rest volume and the same plastic flow from the texts that the host compiles. The loads around them are other
 * ones: a lane of the host reads 16 regions of a block at once.
 */

#define MODE_OF(block) ((block).z & 3u)
#define IS_FITTED(block) ((block).z & 4u)
#define IS_PLASTIC(block) ((block).z & 8u)
#define HAS_EXAMPLES(block) ((block).z & 16u)

static inline void quadratics(const float q[3], float out[6])
{
    out[0] = q[0] * q[0], out[1] = q[1] * q[1], out[2] = q[2] * q[2];
    out[3] = q[0] * q[1], out[4] = q[1] * q[2], out[5] = q[2] * q[0];
}

static inline void load_q(__global const float *q, uint row, uint lane, float out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = q[(row * 3 + i) * LMI_BLOCK + lane];
    }
}

/* The moments of a lane's members: sums, then rows of the linear and quadratic ones. */
static void gather_lane(uint4 block, uint lane, float4 from, bool quadratic, __global const uint *member,
                        __global const float *rest, __global const float4 *x, float m[LMI_MOMENTS])
{
    for (int c = 0; c < LMI_MOMENTS; c++) {
        m[c] = 0.0f;
    }
    for (uint row = block.x; row < block.x + block.y; row++) {
        float4 at = x[member[row * LMI_BLOCK + lane]];
        float q[3], f[6], p[3] = {(at.x - from.x) * at.w, (at.y - from.y) * at.w, (at.z - from.z) * at.w};
        load_q(rest, row, lane, q);
        quadratics(q, f);
        for (int i = 0; i < 3; i++) {
            m[i] += p[i];
            for (int j = 0; j < 3; j++) {
                m[LMI_MOMENT_LINEAR + 3 * i + j] += p[i] * q[j];
            }
            for (int j = 0; quadratic && j < 6; j++) {
                m[LMI_MOMENT_QUADRATIC + 6 * i + j] += p[i] * f[j];
            }
        }
    }
}

/* S² of the elastic deformation, as elastic_square in match/fit.c. */
static vmat3 elastic_square(vmat3 b, const float inverse[3], vmat3 p)
{
    for (int i = 0; i < 9; i++) {
        b.m[i] = b.m[i] * inverse[i % 3];
    }
    vmat3 undo = vmat_cofactors(p), square = vmat_multiply_transposed(b, b);
    square = vmat_multiply(undo, vmat_multiply(square, undo));
    for (int i = 0; i < 9; i++) {
        bool both = inverse[i / 3] > 0.0f && inverse[i % 3] > 0.0f;
        square.m[i] = both ? square.m[i] : i % 4 == 0 ? 1.0f : 0.0f;
    }
    return square;
}

/* xx yy zz xy yz zx, LMI_BLOCK apart. */
static vmat3 symmetric_of(const float *six)
{
    float xx = six[0], yy = six[LMI_BLOCK], zz = six[2 * LMI_BLOCK];
    float xy = six[3 * LMI_BLOCK], yz = six[4 * LMI_BLOCK], zx = six[5 * LMI_BLOCK];
    vmat3 m = {{xx, xy, zx, xy, yy, yz, zx, yz, zz}};
    return m;
}

/* The lasting deformation of a lane, after it has flowed in this substep: flow_lanes in match/fit.c. */
static vmat3 flow_lane(vmat3 affine, const float inverse[3], float bound, double flow, float yield, float most,
                       __global float *plastic)
{
    float six[6 * LMI_BLOCK];
    for (int i = 0; i < 6; i++) {
        six[i * LMI_BLOCK] = plastic[i * LMI_BLOCK];
    }
    vmat3 square = elastic_square(affine, inverse, symmetric_of(six)), excess = square;
    for (int j = 0; j < 3; j++) {
        excess.m[4 * j] -= 1.0f;
    }
    if (bound < vmat_dot(excess, excess)) {
        const double s[6] = {square.m[0], square.m[4], square.m[8], square.m[1], square.m[5], square.m[2]};
        const lmi_plastic_rates rates = {flow, yield, most};
        lmi_plastic_flow(&rates, six, s, vmat_determinant(affine, vmat_cofactors(affine)) < 0.0f);
        for (int i = 0; i < 6; i++) {
            plastic[i * LMI_BLOCK] = six[i * LMI_BLOCK];
        }
    }
    return symmetric_of(six);
}

/* Row i of the quadratic goal: quadratic_row and quadratic_goal in match/fit.c. */
static void quadratic_goal_row(__global const float *constants, const float m[LMI_MOMENTS], int i, vmat3 b, vmat3 rigid,
                               float inverse_mass, float beta, float mean_p, float centre, float t[LMI_MOMENTS])
{
    float r[6], c[6], middle = centre, linear[3];
    for (int j = 0; j < 6; j++) {
        __global const float *of = constants + (LMI_CONSTANT_LINEAR + 3 * j) * LMI_BLOCK;
        float pure = m[LMI_MOMENT_QUADRATIC + 6 * i + j] * inverse_mass;
        pure = pure - mean_p * constants[(LMI_CONSTANT_MEAN + j) * LMI_BLOCK];
        r[j] = pure - ((b.m[3 * i] * of[0] + b.m[3 * i + 1] * of[LMI_BLOCK]) + b.m[3 * i + 2] * of[2 * LMI_BLOCK]);
        c[j] = 0.0f;
    }
    int triangle = 0;
    for (int j = 0; j < 6; j++) {
        for (int k = j; k < 6; k++) {
            float g = constants[(LMI_CONSTANT_GRAM + triangle++) * LMI_BLOCK];
            c[j] = c[j] + g * r[k];
            c[k] = k != j ? c[k] + g * r[j] : c[k];
        }
    }
    for (int j = 0; j < 3; j++) {
        linear[j] = beta * b.m[3 * i + j] + (1.0f - beta) * rigid.m[3 * i + j];
    }
    for (int j = 0; j < 6; j++) {
        __global const float *of = constants + (LMI_CONSTANT_LINEAR + 3 * j) * LMI_BLOCK;
        float bend = beta * c[j];
        middle = middle - bend * constants[(LMI_CONSTANT_MEAN + j) * LMI_BLOCK];
        for (int k = 0; k < 3; k++) {
            linear[k] = linear[k] - bend * of[k * LMI_BLOCK];
        }
        t[LMI_TRANSFORM_QUADRATIC + 6 * i + j] = bend;
    }
    t[i] = middle;
    for (int j = 0; j < 3; j++) {
        t[LMI_TRANSFORM_LINEAR + 3 * i + j] = linear[j];
    }
}

/* Moments to a transform; the rotation, which is state, and the lasting deformation change in memory. */
static void fit_lane(uint4 block, uint all, const float m[LMI_MOMENTS], float4 from, __global const float *constants,
                     __global const float *extents, __global float *rotations, __global float *plastics,
                     __global const float4 *rates, float t[LMI_MOMENTS])
{
    uint b = all / LMI_BLOCK, lane = all % LMI_BLOCK;
    constants += b * LMI_CONSTANTS * LMI_BLOCK + lane;
    rotations += b * 9 * LMI_BLOCK + lane;
    float inverse_mass = constants[LMI_CONSTANT_INVERSE_MASS * LMI_BLOCK], beta = constants[LMI_CONSTANT_BETA * LMI_BLOCK];
    float d[3], inverse[3];
    vmat3 affine, previous, p;
    for (int i = 0; i < 3; i++) {
        d[i] = extents[(b * 3 + i) * LMI_BLOCK + lane];
        inverse[i] = d[i] > 0.0f ? 1.0f / d[i] : 0.0f;
    }
    for (int i = 0; i < 9; i++) {
        previous.m[i] = rotations[i * LMI_BLOCK];
        affine.m[i] = inverse_mass > 0.0f ? m[LMI_MOMENT_LINEAR + i] * inverse_mass : previous.m[i];
    }
    vmat3 shape = affine;
    if (IS_PLASTIC(block)) {
        float4 rate = rates[all];
        p = flow_lane(affine, inverse, constants[LMI_CONSTANT_YIELD * LMI_BLOCK], rate.x, rate.y, rate.z,
                      plastics + b * 6 * LMI_BLOCK + lane);
        vmat3 turned = vmat_transpose(p);
        for (int i = 0; i < 9; i++) {
            turned.m[i] = d[i / 3] * turned.m[i] * inverse[i % 3];
        }
        shape = vmat_multiply(affine, turned);
    }
    vmat3 rotation = nearest_rotation(shape, d, previous), rigid = rotation;
    if (IS_PLASTIC(block)) {
        rigid = vmat_multiply(rotation, p);
    }
    for (int i = 0; i < 9; i++) {
        rotations[i * LMI_BLOCK] = rotation.m[i];
        rigid.m[i] = rigid.m[i] * d[i % 3];
    }
    float mean[3], centre[3] = {from.x, from.y, from.z};
    for (int i = 0; i < 3; i++) {
        mean[i] = m[i] * inverse_mass;
        centre[i] = centre[i] + mean[i];
    }
    if (MODE_OF(block) == LM_MODE_QUADRATIC) {
        for (int i = 0; i < 3; i++) {
            quadratic_goal_row(constants, m, i, affine, rigid, inverse_mass, beta, mean[i], centre[i], t);
        }
        return;
    }
    if (MODE_OF(block) == LM_MODE_LINEAR) {
        const lmi_follow follow = {beta, constants[LMI_CONSTANT_BEYOND * LMI_BLOCK]};
        rigid = lmi_linear_goal(affine, rotation, rigid, constants[LMI_CONSTANT_INVERSE_EDGE * LMI_BLOCK], follow);
    }
    for (int i = 0; i < 9; i++) {
        t[LMI_TRANSFORM_LINEAR + i] = rigid.m[i];
    }
    for (int i = 0; i < 3; i++) {
        t[i] = centre[i];
    }
}

/* The goals of a lane's members. */
static void scatter_lane(uint4 block, uint lane, const float t[LMI_MOMENTS], float stiffness, __global const float *rest,
                         __global float4 *goals)
{
    const bool quadratic = MODE_OF(block) == LM_MODE_QUADRATIC;
    for (uint row = block.x; row < block.x + block.y; row++) {
        float q[3], f[6], goal[3];
        load_q(rest, row, lane, q);
        quadratics(q, f);
        for (int i = 0; i < 3; i++) {
            const float *linear = t + LMI_TRANSFORM_LINEAR + 3 * i, *bend = t + LMI_TRANSFORM_QUADRATIC + 6 * i;
            goal[i] = t[i] + ((linear[0] * q[0] + linear[1] * q[1]) + linear[2] * q[2]);
            if (quadratic) {
                goal[i] = goal[i] + (((bend[0] * f[0] + bend[1] * f[1]) + bend[2] * f[2]) +
                                     ((bend[3] * f[3] + bend[4] * f[4]) + bend[5] * f[5]));
            }
        }
        goals[row * LMI_BLOCK + lane] = (float4)(goal[0], goal[1], goal[2], stiffness);
    }
}

/* Moments and transforms of a lane on their way through memory. */
static void load_lane(__global const float *moments, uint all, float m[LMI_MOMENTS])
{
    for (int c = 0; c < LMI_MOMENTS; c++) {
        m[c] = moments[(all / LMI_BLOCK * LMI_MOMENTS + c) * LMI_BLOCK + all % LMI_BLOCK];
    }
}

static void store_lane(const float m[LMI_MOMENTS], uint all, __global float *moments)
{
    for (int c = 0; c < LMI_MOMENTS; c++) {
        moments[(all / LMI_BLOCK * LMI_MOMENTS + c) * LMI_BLOCK + all % LMI_BLOCK] = m[c];
    }
}

/* Whole regions: all at once. Parts of divided ones: their moments. */
__kernel void match(uint lanes, __global const uint4 *restrict blocks, __global const uint *restrict reference,
                    __global const uint *restrict member, __global const float *restrict rest, __global const float *restrict constants,
                    __global const float *restrict extents, __global const float *restrict stiffness, __global float *restrict rotations,
                    __global float *restrict plastics, __global const float4 *restrict rates, __global const float4 *restrict x,
                    __global float *restrict moments, __global float4 *restrict goals, __global const uint *restrict stop)
{
    uint all = get_global_id(0);
    if (all >= lanes || *stop) {
        return; /* rotations are state, and the substep may be the host's */
    }
    uint4 block = blocks[all / LMI_BLOCK];
    if (block.y == 0) {
        return; /* where parts come together */
    }
    float m[LMI_MOMENTS], t[LMI_MOMENTS];
    float4 from = x[reference[all]];
    gather_lane(block, all % LMI_BLOCK, from, MODE_OF(block) == LM_MODE_QUADRATIC, member, rest, x, m);
    if (IS_FITTED(block)) {
        fit_lane(block, all, m, from, constants, extents, rotations, plastics, rates, t);
        scatter_lane(block, all % LMI_BLOCK, t, stiffness[all], rest, goals);
    } else {
        store_lane(m, all, moments);
    }
}

/* The moments of a divided region: region.x is its lane, its parts are those from region.y to region.z. */
static void add_parts(uint4 region, __global const uint *parts, __global const float *moments, float m[LMI_MOMENTS])
{
    load_lane(moments, parts[region.y], m);
    for (uint k = region.y + 1; k < region.z; k++) {
        float more[LMI_MOMENTS];
        load_lane(moments, parts[k], more);
        for (int c = 0; c < LMI_MOMENTS; c++) {
            m[c] = m[c] + more[c];
        }
    }
}

/* Divided regions, one work-item each. */
__kernel void match_parts(uint count, __global const uint4 *restrict regions, __global const uint *restrict parts,
                          __global const uint4 *restrict blocks, __global const uint *restrict reference, __global const float *restrict rest,
                          __global const float *restrict constants, __global const float *restrict extents,
                          __global const float *restrict stiffness, __global float *restrict rotations, __global float *restrict plastics,
                          __global const float4 *restrict rates, __global const float4 *restrict x, __global const float *restrict moments,
                          __global float4 *restrict goals, __global const uint *restrict stop)
{
    uint n = get_global_id(0);
    if (n >= count || *stop) {
        return;
    }
    uint4 region = regions[n];
    float m[LMI_MOMENTS], t[LMI_MOMENTS];
    add_parts(region, parts, moments, m);
    fit_lane(blocks[region.x / LMI_BLOCK], region.x, m, x[reference[region.x]], constants, extents, rotations, plastics,
             rates, t);
    for (uint k = region.y; k < region.z; k++) {
        scatter_lane(blocks[parts[k] / LMI_BLOCK], parts[k] % LMI_BLOCK, t, stiffness[parts[k]], rest, goals);
    }
}

#define GROUP 64
#define PITCH (GROUP + 1) /* neighbours in different banks */

static inline double join_two(uint channel, double a, double b)
{
    return channel < LMI_GPU_LOWER ? a + b : channel < LMI_GPU_UPPER ? fmin(a, b) : fmax(a, b);
}

/* Sums of all work-items of a group, in a fixed order, of the first `channels` (a power of two): a slice of the work-items for
 * each work-item, then the slices. */
static inline __attribute__((always_inline)) void add_group(__local float *slots, __local double *slices, __local double *sums,
                                                            const float *mine, const uint channels)
{
    const uint id = get_local_id(0), channel = id % channels, slice = id / channels;
#pragma unroll
    for (uint c = 0; c < channels; c++) {
        slots[c * PITCH + id] = mine[c];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const float *from = slots + channel * PITCH + slice * channels;
    double sum = from[0];
#pragma unroll 8
    for (uint n = 1; n < channels; n++) { /* GROUP / channels slices of `channels` each */
        sum = join_two(channel, sum, from[n]);
    }
    slices[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice == 0) {
        for (uint n = 1; n < GROUP / channels; n++) {
            sum = join_two(channel, sum, slices[n * channels + channel]);
        }
        sums[channel] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The mean over a particle's regions of stiffness (goal - x). */
static float4 pull_at(uint particle, float4 x, __global const uint *list_first, __global const uint *list,
                      __global const float *list_count, __global const float *list_share, __global const float4 *goals)
{
    uint first = list_first[particle / LMI_BLOCK];
    uint count = (uint)list_count[particle]; /* as many rows as the block has, or fewer */
    float d[3] = {0.0f, 0.0f, 0.0f}, share = list_share[particle];
    for (uint row = first; row < first + count; row++) {
        float4 goal = goals[list[row * LMI_BLOCK + particle % LMI_BLOCK]];
        d[0] += goal.w * (goal.x - x.x);
        d[1] += goal.w * (goal.y - x.y);
        d[2] += goal.w * (goal.z - x.z);
    }
    return (float4)(d[0] * share, d[1] * share, d[2] * share, 0.0f);
}

static inline float field_at(RECORD const float *velocity, RECORD const float *spin, const float r[3], int i)
{
    int j = (i + 1) % 3, k = (i + 2) % 3;
    return velocity[i] + (spin[j] * r[k] - spin[k] * r[j]);
}

/* What the pull of a body has besides deformation, into drift: velocity and spin. */
static void find_extra(RECORD lmi_gpu_body *b, __local const double *sums, double h)
{
    double inertia[6];
    for (int i = 0; i < 6; i++) {
        inertia[i] = b->inertia[i];
    }
    lm_dvec3 velocity = lm_dvec3_zero(), spin = velocity;
    if (b->pinned) {
        for (int i = 0; i < 3; i++) {
            b->impulse[i] += sums[i] * (b->alpha / h);
        }
    } else {
        velocity = dvec_scale(dvec(sums[0], sums[1], sums[2]), b->mass > 0.0 ? 1.0 / b->mass : 0.0);
        spin = lmi_dmat_solve_spin(inertia, dvec(sums[3], sums[4], sums[5]));
    }
    b->drift_velocity[0] = (float)velocity.x, b->drift_velocity[1] = (float)velocity.y;
    b->drift_velocity[2] = (float)velocity.z;
    b->drift_spin[0] = (float)spin.x, b->drift_spin[1] = (float)spin.y, b->drift_spin[2] = (float)spin.z;
}

/* One particle: match/integrate.c, then contact. */
static void move_point(RECORD const lmi_gpu_body *b, __global const lmi_gpu_body *body,
                       __global const lmi_gpu_surface *surfaces, const float change[3], float h, float rate, float4 d, __global float4 *at, __global float4 *speed, float s[LMI_GPU_CHANNELS])
{
    float4 px = *at, pv = *speed;
    float x[3] = {px.x - b->shift[0], px.y - b->shift[1], px.z - b->shift[2]}, v[3] = {pv.x, pv.y, pv.z}, r[3];
    const float pull[3] = {d.x, d.y, d.z};
    const bool matched = px.w > 0.0f;
    for (int i = 0; i < 3; i++) {
        r[i] = x[i] - b->centre[i];
        v[i] = vf_clamp(v[i] + change[i], -LM_MAX_SPEED, LM_MAX_SPEED);
    }
    for (int i = 0; i < 3; i++) {
        float whole = field_at(b->velocity, b->spin, r, i), extra = field_at(b->drift_velocity, b->drift_spin, r, i);
        float pulled = (v[i] + b->damping_now * (whole - v[i])) + rate * (pull[i] - extra);
        v[i] = vf_clamp(matched ? pulled : v[i], -LM_MAX_SPEED, LM_MAX_SPEED);
    }
    float before[3];
    for (int i = 0; i < 3; i++) {
        x[i] = vf_clamp(x[i] + h * v[i], -LM_MAX_COORDINATE, LM_MAX_COORDINATE);
        s[LMI_GPU_LOWER + i] = vf_min(s[LMI_GPU_LOWER + i], x[i]);
        s[LMI_GPU_UPPER + i] = vf_max(s[LMI_GPU_UPPER + i], x[i]);
        before[i] = v[i];
    }
    if (b->surfaces) {
        const double origin[3] = {b->origin[0], b->origin[1], b->origin[2]};
        s[LMI_GPU_TOUCHED] += (float)meet_surfaces(surfaces, body, origin, h, x, v);
        for (int i = 0; i < 3; i++) {
            s[LMI_GPU_IMPULSE + i] += pv.w * (v[i] - before[i]);
        }
    }
    float m = matched ? pv.w : 0.0f, u[3];
    for (int i = 0; i < 3; i++) {
        r[i] = x[i] - b->centre[i];
        u[i] = m * (v[i] - b->velocity[i]);
        s[LMI_GPU_FIRST + i] += m * r[i];
        s[LMI_GPU_MOMENTUM + i] += u[i];
        s[LMI_GPU_SECOND + i] += m * r[i] * r[i];
    }
    s[LMI_GPU_MASS] += m;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        s[LMI_GPU_ANGULAR + i] += r[j] * u[k] - r[k] * u[j];
        s[LMI_GPU_SECOND + 3 + i] += m * r[i] * r[j];
    }
    *at = (float4)(x[0], x[1], x[2], px.w);
    *speed = (float4)(v[0], v[1], v[2], pv.w);
}

static void conclude_body(RECORD lmi_gpu_body *b, __local const double *sums)
{
    for (int i = 0; i < 16; i++) {
        b->sums[i] = sums[LMI_GPU_MASS + i];
    }
    for (int i = 0; i < 3; i++) {
        b->lower[i] = (float)sums[LMI_GPU_LOWER + i];
        b->upper[i] = (float)sums[LMI_GPU_UPPER + i];
        b->at[i] = b->centre[i];
        b->from[i] = b->velocity[i];
        b->impulse[i] += sums[LMI_GPU_IMPULSE + i];
        b->drift_velocity[i] = b->drift_spin[i] = 0.0f; /* taken out already */
    }
    b->contacts = (uint)sums[LMI_GPU_TOUCHED];
}

/* Nothing yet: sums, least and most. */
static void clear_sums(float s[LMI_GPU_CHANNELS])
{
    for (int i = 0; i < LMI_GPU_CHANNELS; i++) {
        s[i] = i < LMI_GPU_LOWER ? 0.0f : i < LMI_GPU_UPPER ? 3e38f : -3e38f;
    }
}

/* Every GROUP-th particle from `first`: what pulls it, and momentum and angular momentum of that. */
static void pull_points(RECORD const lmi_gpu_body *b, uint first, uint end, __global const uint *list_first,
                        __global const uint *list, __global const float *list_count, __global const float *list_share,
                        __global const float4 *goals, __global const float4 *x, __global const float4 *v,
                        __global float4 *pulls, float s[LMI_GPU_CHANNELS])
{
    for (uint n = first; n < end; n += GROUP) {
        float4 at = x[n], d = list_count[n] < 0.0f ? pulls[n] : pull_at(n, at, list_first, list, list_count, list_share, goals);
        float m = v[n].w, p[3] = {m * d.x, m * d.y, m * d.z};
        float r[3] = {(at.x - b->shift[0]) - b->centre[0], (at.y - b->shift[1]) - b->centre[1],
                      (at.z - b->shift[2]) - b->centre[2]};
        pulls[n] = d;
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            s[i] += p[i];
            s[3 + i] += r[j] * p[k] - r[k] * p[j];
        }
    }
}

static void move_points(RECORD const lmi_gpu_body *b, __global const lmi_gpu_body *body, uint first, uint end,
                        __global const lmi_gpu_surface *surfaces, const float change[3], double h,
                        __global const float4 *pulls, __global float4 *x, __global float4 *v, float s[LMI_GPU_CHANNELS])
{
    const float rate = (float)fmin(b->alpha / h, 1e30);
    for (uint n = first; n < end; n += GROUP) {
        if (v[n].w > 0.0f) {
            move_point(b, body, surfaces, change, (float)h, rate, pulls[n], x + n, v + n, s);
        }
    }
}

/* One work-group a body; large ones are divided (large.cl). */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
move(uint first_body, __global lmi_gpu_body *restrict bodies, __global const uint *restrict list_first, __global const uint *restrict list,
     __global const float *restrict list_count, __global const float *restrict list_share, __global const float4 *restrict goals,
     __global const lmi_gpu_surface *restrict surfaces, __global float4 *restrict x, __global float4 *restrict v, __global float4 *restrict pulls, double h,
     float change_x, float change_y, float change_z)
{
    __local float slots[LMI_GPU_CHANNELS * PITCH];
    __local double slices[GROUP], sums[LMI_GPU_CHANNELS];
    __local lmi_gpu_body record;
    __global lmi_gpu_body *body = bodies + first_body + get_group_id(0);
    RECORD lmi_gpu_body *b = &record;
    const uint id = get_local_id(0);
    take_record(b, body, id, GROUP);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (b->particles > LMI_GPU_LARGE) {
        return; /* all of the group */
    }
    const float change[3] = {change_x, change_y, change_z};
    const uint first = b->first + id, end = b->first + b->particles;
    float s[LMI_GPU_CHANNELS];
    clear_sums(s);
    pull_points(b, first, end, list_first, list, list_count, list_share, goals, x, v, pulls, s);
    add_group(slots, slices, sums, s, 8); /* momentum and angular momentum, and two that are zero yet */
    if (id == 0) {
        find_extra(b, sums, h);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    move_points(b, body, first, end, surfaces, change, h, pulls, x, v, s);
    add_group(slots, slices, sums, s, LMI_GPU_CHANNELS);
    if (id == 0) {
        conclude_body(b, sums);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    give_record(body, b, id, GROUP);
}
