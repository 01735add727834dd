/*
 * Lattices that flow, are damped region by region or have examples: what is done place by place, one work-item each.
 *
 *   kind_local            particles -> u and, for regional damping, velocities in the body's frame     (lattice/lattice_step.h)
 *   kind_gather_lists     irregular regions: what the fast sums of positions, or velocities, have too much or too little
 *   kind_measure          moments -> deformation, and what that is against the examples; or a region's own mix
 *   kind_fit              moments -> transforms: lattice_fit in lattice/lattice_fit.h
 *   kind_scatter_lists    the same as kind_gather_lists on the way back
 *
 * The sums between them are in kind_tiles.cl. Strain, field of velocities, flow and mix are the host's own texts
 * (lattice/lattice_strain.h, match/plastic.c, match/example_lanes.h). A place is a lane of a block; those of all such lattices are one
 * after the other, each body's from its `room` on.
 */

/* The place's body, and its particle in the world. */
#define BODY_OF(m) (bodies + (m).body)
#define PARTICLE_OF(m, b, n) ((b)->first + (n) - (m).room * LMI_BLOCK)

/* u = F^T x / s - K. */
static void frame_of(__global const lmi_gpu_body *b, float4 p, float kx, float ky, float kz, float u[3])
{
    __global const float *m = b->inverse;
    const float px = p.x - b->shift[0], py = p.y - b->shift[1], pz = p.z - b->shift[2];
    u[0] = ((m[0] * px + m[1] * py) + m[2] * pz) - kx;
    u[1] = ((m[3] * px + m[4] * py) + m[5] * pz) - ky;
    u[2] = ((m[6] * px + m[7] * py) + m[8] * pz) - kz;
}

/* corners: of the first lane of each block, along the lattice's axes. */
__kernel void kind_local(uint places, __global const uint *restrict owners, __global const lmi_gpu_matter *restrict matters,
                         __global const lmi_gpu_body *restrict bodies, __global const lmi_gpu_body *restrict parts,
                         __global const uint *restrict part_of, __global const int4 *restrict corners,
                         __global const float4 *restrict x, __global const float4 *restrict v,
                         __global float4 *restrict values, __global float4 *restrict velocities)
{
    const uint n = get_global_id(0);
    if (n >= places) {
        return;
    }
    const lmi_gpu_matter m = matters[owners[n / LMI_BLOCK]];
    __global const lmi_gpu_body *b = BODY_OF(m), *part = b;
    const uint particle = PARTICLE_OF(m, b, n);
    const float4 p = x[particle];
    const int4 corner = corners[n / LMI_BLOCK];
    float u[3];
    frame_of(b, p, (float)(corner.x + (int)(n % LMI_BLOCK)) - b->middle[0], (float)corner.y - b->middle[1],
             (float)corner.z - b->middle[2], u);
    values[n] = (float4)(u[0], u[1], u[2], p.w);
    if (!(b->damping_regional > 0.0f)) {
        return;
    }
    if (b->parts > 1) {
        if (part_of[n] == LMI_GPU_NONE) {
            velocities[n] = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
            return;
        }
        part = parts + part_of[n];
    }
    const float4 was = v[particle];
    const float at[3] = {p.x - b->shift[0], p.y - b->shift[1], p.z - b->shift[2]}, speed[3] = {was.x, was.y, was.z};
    float w[3];
    for (int i = 0; i < 3; i++) { /* after forces and drift, as in move_particle, less the body's own */
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        w[i] = speed[i] + ((part->push[i] + (part->whirl[j] * at[k] - part->whirl[k] * at[j])) - part->loss * speed[i]);
        w[i] = w[i] - b->velocity[i];
    }
    __global const float *row = b->inverse;
    velocities[n] = (float4)((row[0] * w[0] + row[1] * w[1]) + row[2] * w[2], (row[3] * w[0] + row[4] * w[1]) + row[5] * w[2],
                             (row[6] * w[0] + row[7] * w[1]) + row[8] * w[2], p.w);
}

/* Where the member of a row is from the list's owner, and the sign with which it counts. */
static float4 kind_offset(__global const float *offset, uint row, uint lane)
{
    __global const float *o = offset + row * 4 * LMI_BLOCK + lane;
    return (float4)(o[0], o[LMI_BLOCK], o[2 * LMI_BLOCK], o[3 * LMI_BLOCK]);
}

/* groups: of lists that stand side by side (lattice/lattice.h): the body's matter, first row, end of its rows, where its owners are
 * in `who`. values: as kind_local has left them; `velocities`: of bodies that are damped region by region in this substep. */
__kernel void kind_gather_lists(uint lanes, uint velocities, __global const uint4 *restrict groups,
                                __global const uint *restrict who, __global const uint *restrict member,
                                __global const float *restrict offset, __global const lmi_gpu_body *restrict bodies,
                                __global const lmi_gpu_matter *restrict matters, __global const float4 *restrict values,
                                __global float *restrict corrections)
{
    const uint n = get_global_id(0);
    if (n >= lanes) {
        return;
    }
    const uint4 group = groups[n / LMI_BLOCK];
    const uint lane = n % LMI_BLOCK, owner = who[group.w * LMI_BLOCK + lane];
    const lmi_gpu_matter m = matters[group.x];
    if (owner == LMI_GPU_NONE || (velocities && !(BODY_OF(m)->damping_regional > 0.0f))) {
        return;
    }
    float sums[12];
    for (int i = 0; i < 12; i++) {
        sums[i] = 0.0f;
    }
    for (uint row = group.y; row < group.z; row++) {
        const float4 o = kind_offset(offset, row, lane), u = values[m.room * LMI_BLOCK + member[row * LMI_BLOCK + lane]];
        const float weight = u.w * o.w, p[3] = {u.x * weight, u.y * weight, u.z * weight};
        for (int i = 0; i < 3; i++) {
            sums[i] += p[i];
            sums[3 + i] += p[i] * o.z;
            sums[6 + i] += p[i] * o.y;
            sums[9 + i] += p[i] * o.x;
        }
    }
    for (int i = 0; i < 12; i++) {
        corrections[(m.irregular + owner) * LMI_BLOCK + i] = sums[i];
    }
}

/* The sum over the irregular regions of a particle, from their transforms. */
__kernel void kind_scatter_lists(uint lanes, __global const uint4 *restrict groups, __global const uint *restrict who,
                                 __global const uint *restrict member, __global const float *restrict offset,
                                 __global const lmi_gpu_matter *restrict matters, __global const float *restrict kept,
                                 __global float4 *restrict corrections)
{
    const uint n = get_global_id(0);
    if (n >= lanes) {
        return;
    }
    const uint4 group = groups[n / LMI_BLOCK];
    const uint lane = n % LMI_BLOCK, owner = who[group.w * LMI_BLOCK + lane];
    const lmi_gpu_matter m = matters[group.x];
    if (owner == LMI_GPU_NONE) {
        return;
    }
    float sums[3] = {0.0f, 0.0f, 0.0f};
    for (uint row = group.y; row < group.z; row++) {
        const float4 k = kind_offset(offset, row, lane);
        __global const float *t = kept + (m.irregular + member[row * LMI_BLOCK + lane]) * LMI_BLOCK; /* q, columns of T */
        for (int i = 0; i < 3; i++) {
            sums[i] += k.w * (t[i] + ((t[3 + i] * k.x + t[6 + i] * k.y) + t[9 + i] * k.z));
        }
    }
    corrections[m.corrected + owner] = (float4)(sums[0], sums[1], sums[2], 0.0f);
}

static void load_moments(__global const float *moments, uint n, float m[12])
{
    for (int c = 0; c < 12; c++) {
        m[c] = moments[(n / LMI_BLOCK * 12 + c) * LMI_BLOCK + n % LMI_BLOCK];
    }
}

/* xx yy zz xy yz zx of a lane, LMI_BLOCK apart. */
static vmat3 lane_symmetric(__global const float *at)
{
    const float xx = at[0], yy = at[LMI_BLOCK], zz = at[2 * LMI_BLOCK];
    const float xy = at[3 * LMI_BLOCK], yz = at[4 * LMI_BLOCK], zx = at[5 * LMI_BLOCK];
    vmat3 m = {{xx, xy, zx, xy, yy, yz, zx, yz, zz}};
    return m;
}

/* Where the constants of a place are: rows of those of a block's lanes follow each other. */
static lattice_at row_of(__global const float *constants, __global const uint *rows, uint n)
{
    return constants + (rows[n / LMI_BLOCK] + n % LMI_BLOCK) * LMI_GPU_MATTER_ROW;
}

/* The first of a region's channels of examples; and of its lasting deformation. */
static uint channels_of(lmi_gpu_matter m, uint n)
{
    return m.examples + (n / LMI_BLOCK - m.room) * lmi_example_channels(m.count) * LMI_BLOCK + n % LMI_BLOCK;
}

static uint plastic_at(lmi_gpu_matter m, uint n)
{
    return m.plastic + (n / LMI_BLOCK - m.room) * 6 * LMI_BLOCK + n % LMI_BLOCK;
}

__kernel void kind_measure(uint places, __global const uint *restrict owners, __global const lmi_gpu_matter *restrict matters,
                           __global const uint *restrict rows, __global const float *restrict constants,
                           __global const float *restrict moments,
                           __global const float *restrict plastics, __global float *restrict channels)
{
    const uint n = get_global_id(0);
    if (n >= places) {
        return;
    }
    const lmi_gpu_matter m = matters[owners[n / LMI_BLOCK]];
    if (m.examples == LMI_GPU_NONE) {
        return;
    }
    lattice_at mine = row_of(constants, rows, n), affine = mine + LMI_LATTICE_AFFINE;
    if (!(lattice_constant(affine + LMI_LATTICE_ACTIVE) > 0.0f)) {
        return; /* no region */
    }
    float sums[12], at[MOST_CHANNELS];
    load_moments(moments, n, sums);
    vmat3 map = lattice_map(lattice_moment_matrix(sums, mine), affine);
    if (m.plastic != LMI_GPU_NONE) { /* of the elastic deformation: elastic_square in lattice/lattice_examples.c */
        map = vmat_multiply(map, vmat_cofactors(lane_symmetric(plastics + plastic_at(m, n))));
    }
    __global float *own = channels + channels_of(m, n);
    load_channels(own, lmi_example_channels(m.count), at);
    example_measure(at, (int)m.count, m.own_mix != 0, example_stretch(vsym_square(map)));
    store_channels(at, LMI_EXAMPLE_WEIGHT, 2 * m.count, own); /* weights, and products */
}

/* The lasting deformation, after it has flowed in this substep: lattice_flow in lattice/lattice_plastic.h. */
static vmat3 flow_region(lmi_gpu_matter m, vmat3 a, lattice_at affine, __global float *state)
{
    vmat3 p = lane_symmetric(state), map = lattice_map(a, affine), square = lattice_elastic_square(map, p);
    if (!(m.bound < lattice_excess(square))) {
        return p;
    }
    const double s[6] = {square.m[0], square.m[4], square.m[8], square.m[1], square.m[5], square.m[2]};
    const lmi_plastic_rates rates = {m.flow, m.yield, m.most};
    float six[6 * LMI_BLOCK];
    for (int i = 0; i < 6; i++) {
        six[i * LMI_BLOCK] = state[i * LMI_BLOCK];
    }
    lmi_plastic_flow(&rates, six, s, vmat_determinant(map, vmat_cofactors(map)) < 0.0f);
    for (int i = 0; i < 6; i++) {
        state[i * LMI_BLOCK] = six[i * LMI_BLOCK];
    }
    return lane_symmetric(state);
}

/* The stretch of a region's mix of examples, which stays in its channels. */
static vmat3 mix_region(lmi_gpu_matter m, __global float *channels)
{
    float at[MOST_CHANNELS];
    load_channels(channels, lmi_example_channels(m.count), at);
    vsym mix = example_mix(at, (int)m.count);
    store_channels(at, LMI_EXAMPLE_STRETCH, 6, channels);
    return vsym_matrix(mix);
}

/* Moments to the transform of a region whose rest shape is P q (`shaped`), or q: the last part of lattice_fit. */
static void fit_shape(const float m[12], vmat3 a, vmat3 shape, vmat3 p, bool shaped, bool linear, lmi_follow follow,
                      lattice_at constants, float out[12])
{
    vmat3 r = region_rotation(shape, constants), goal = shaped ? vmat_multiply(r, p) : r;
    lattice_transform(linear ? lattice_linear(a, r, goal, constants, follow) : goal, 1.0f, m, constants, out);
}

/* Which of the irregular regions a place is, or none; with LMI_GPU_IRREGULAR where the fast sums leave it out. */
static uint irregular_at(uint2 marks, uint lane)
{
    if (!(marks.y >> lane & 1u)) {
        return LMI_GPU_NONE;
    }
    return (marks.x + popcount(marks.y & ((1u << lane) - 1u))) | (marks.y >> (16 + lane) & 1u ? LMI_GPU_IRREGULAR : 0u);
}

__kernel void kind_fit(uint places, double h, __global const uint *restrict owners,
                       __global const lmi_gpu_matter *restrict matters, __global const lmi_gpu_body *restrict bodies,
                       __global const uint *restrict rows, __global const float *restrict constants,
                       __global const uint2 *restrict irregular, __global const float *restrict moments,
                       __global const float *restrict velocity_moments, __global float *restrict plastics,
                       __global float *restrict channels, __global float *restrict transforms, __global float *restrict kept)
{
    const uint n = get_global_id(0);
    if (n >= places) {
        return;
    }
    const lmi_gpu_matter m = matters[owners[n / LMI_BLOCK]];
    __global const lmi_gpu_body *b = BODY_OF(m);
    const uint lane = n % LMI_BLOCK;
    lattice_at mine = row_of(constants, rows, n), affine = mine + LMI_LATTICE_AFFINE;
    float sums[12], out[12];
    for (int c = 0; c < 12; c++) {
        out[c] = 0.0f;
    }
    /* A region without stiffness is damped all the same; where nothing asks for the best affine map its constants are zeros. */
    if (lattice_constant(mine + LMI_LATTICE_RHO) > 0.0f ||
        lattice_constant(affine + LMI_LATTICE_ACTIVE) > 0.0f) {
        load_moments(moments, n, sums);
        vmat3 a = lattice_moment_matrix(sums, mine), shape = a, p;
        bool shaped = false;
        if (m.plastic != LMI_GPU_NONE) {
            p = flow_region(m, a, affine, plastics + plastic_at(m, n));
            shape = vmat_multiply(a, p);
            shaped = true;
        }
        if (m.examples != LMI_GPU_NONE) { /* the rest shape is the mix, after what has flowed */
            vmat3 mix = mix_region(m, channels + channels_of(m, n));
            p = shaped ? vmat_multiply(mix, p) : mix;
            shape = vmat_multiply(a, vmat_transpose(p));
            shaped = true;
        }
        const lmi_follow follow = {b->beta, b->beyond};
        fit_shape(sums, a, shape, p, shaped, m.linear != 0, follow, mine, out);
        if (b->damping_regional > 0.0f) {
            float speeds[12];
            load_moments(velocity_moments, n, speeds);
            lattice_add_field(sums, speeds, mine, affine, b->damping_regional, vf_min((float)(b->alpha / h), 1e30f), out);
        }
    }
    const uint owner = irregular_at(irregular[n / LMI_BLOCK], lane);
    for (int c = 0; c < 12; c++) {
        if (owner != LMI_GPU_NONE) {
            kept[(owner & LMI_GPU_INDEX) * LMI_BLOCK + c] = out[c];
        }
        bool left_out = owner != LMI_GPU_NONE && owner & LMI_GPU_IRREGULAR;
        transforms[(n / LMI_BLOCK * 12 + c) * LMI_BLOCK + lane] = left_out ? 0.0f : out[c];
    }
}
