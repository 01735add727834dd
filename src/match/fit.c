/*
 * Fit: moments to transforms.
 *
 * Reads the moments of gather and the rest constants (match/region.h), writes each region's rotation (state) and its
 * transform for scatter. With B = sum m~ p q^T / M (the best affine fit in the region's rest frame) and d the rest
 * extents, all goals are torque-free and conserve momentum:
 *
 *   rigid      R diag(d)                          R = polar(B diag(d)): the least-squares rotation of Apq
 *   linear     beta B' + (1-beta) R diag(d)       B' = the matrix of the rest volume nearest to B
 *              and beyond it in physical units (world/elastic.h): T + beyond (T - B)
 *   quadratic  beta [B C] + (1-beta) [R diag(d) 0]  C = the quadratic coefficients
 *
 * A region that has flowed has the rest shape P q in place of q (P symmetric, of determinant 1, in the rest axes): R diag(d)
 * becomes R P diag(d) with R = polar(B diag(d) P), and nothing else changes, because the affine and quadratic fits of p on
 * P q are those on q. A region with examples has the rest shape S P q, with S the stretch of its mix of them (examples.h);
 * then the rotation is that of B diag(d) (S P)^T.
 *
 * Müller et al. 2005, sections 3.3, 4.2 to 4.4. The paper's B / cbrt(det B) is not a nearest point: for flat or long
 * regions it pushes obliquely and can gain energy without bound. The nearest matrix of the rest volume is a projection,
 * cannot gain energy, and exerts no torque.
 *
 * Deterministic because lanes do not see each other.
 */
#include "base/compiler.h"
#include "base/vmat.h"
#include "match/example_lanes.h"
#include "match/plastic.h"
#include "match/volume.h"
#include "world/kernel_names.h"
#include "world/world.h"

/* Row i of the quadratic coefficients C (6) from the sums of row i: free of constant and linear parts, through the inverse
 * Gram matrix. `b` is row i of B, `mean_p` is component i of sum m~ p / M. */
static inline void quadratic_row(const float *constants, const float *moments, vf inverse_mass, const vf b[3],
                                 vf mean_p, vf out[6])
{
    vf r[6];
    for (int j = 0; j < 6; j++) {
        const float *linear = constants + (LMI_CONSTANT_LINEAR + 3 * j) * LMI_BLOCK;
        vf pure = vf_load(moments + j * LMI_BLOCK) * inverse_mass;
        pure = pure - mean_p * vf_load(constants + (LMI_CONSTANT_MEAN + j) * LMI_BLOCK);
        r[j] = pure -
               ((b[0] * vf_load(linear) + b[1] * vf_load(linear + LMI_BLOCK)) + b[2] * vf_load(linear + 2 * LMI_BLOCK));
        out[j] = vf_set1(0.0f);
    }
    int triangle = 0;
    for (int j = 0; j < 6; j++) {
        for (int k = j; k < 6; k++) {
            vf g = vf_load(constants + (LMI_CONSTANT_GRAM + triangle++) * LMI_BLOCK);
            out[j] = out[j] + g * r[k];
            if (k != j) {
                out[k] = out[k] + g * r[j];
            }
        }
    }
}

static inline void store_vector(float *to, const vf v[3])
{
    for (int i = 0; i < 3; i++) {
        vf_store(to + i * LMI_BLOCK, v[i]);
    }
}

/* beta [B C] + (1-beta) [R diag(d) 0], rearranged so that scatter needs only the products of q: the constant and linear
 * parts that were taken out of the quadratic functions go into the constant and linear parts of the transform. */
static inline void quadratic_goal(const float *constants, const float *moments, vmat3 b, vmat3 rigid, vf inverse_mass,
                                  vf beta, const vf mean_p[3], const vf centre[3], float *transform)
{
    const vf one = vf_set1(1.0f);
    for (int i = 0; i < 3; i++) {
        vf c[6], constant = centre[i], linear[3];
        quadratic_row(constants, moments + (LMI_MOMENT_QUADRATIC + 6 * i) * LMI_BLOCK, inverse_mass, &b.m[3 * i],
                      mean_p[i], c);
        for (int j = 0; j < 3; j++) {
            linear[j] = beta * b.m[3 * i + j] + (one - beta) * rigid.m[3 * i + j];
        }
        for (int j = 0; j < 6; j++) {
            const float *of = constants + (LMI_CONSTANT_LINEAR + 3 * j) * LMI_BLOCK;
            vf bend = beta * c[j];
            constant = constant - bend * vf_load(constants + (LMI_CONSTANT_MEAN + j) * LMI_BLOCK);
            for (int k = 0; k < 3; k++) {
                linear[k] = linear[k] - bend * vf_load(of + k * LMI_BLOCK);
            }
            vf_store(transform + (LMI_TRANSFORM_QUADRATIC + 6 * i + j) * LMI_BLOCK, bend);
        }
        vf_store(transform + (LMI_TRANSFORM_CONSTANT + i) * LMI_BLOCK, constant);
        store_vector(transform + (LMI_TRANSFORM_LINEAR + 3 * i) * LMI_BLOCK, linear);
    }
}

/* B = sum m~ p q^T / M. A lane without a region gets its identity rotation, which is well determined. */
static inline vmat3 find_affine(const lmi_pack *pack, uint32_t b, uint32_t lane)
{
    const float *moments = pack->moments + ((size_t)b * LMI_MOMENTS + LMI_MOMENT_LINEAR) * LMI_BLOCK + lane;
    size_t matrix = (size_t)b * 9 * LMI_BLOCK + lane;
    vf inverse_mass =
        vf_load(pack->constants + ((size_t)b * LMI_CONSTANTS + LMI_CONSTANT_INVERSE_MASS) * LMI_BLOCK + lane);
    vmat3 affine = vmat_load(moments);
    for (int i = 0; i < 9; i++) {
        affine.m[i] = affine.m[i] * inverse_mass;
    }
    vm used = vf_lt(vf_set1(0.0f), inverse_mass);
    affine = vmat_select(used, affine, vmat_load(pack->rotation + matrix));
    vmat_store(pack->affine + matrix, affine);
    return affine;
}

/* A symmetric matrix from six channels, xx yy zz xy yz zx. */
static inline vmat3 load_symmetric(const float *at)
{
    vf xx = vf_load(at), yy = vf_load(at + LMI_BLOCK), zz = vf_load(at + 2 * LMI_BLOCK);
    vf xy = vf_load(at + 3 * LMI_BLOCK), yz = vf_load(at + 4 * LMI_BLOCK), zx = vf_load(at + 5 * LMI_BLOCK);
    vmat3 m = {{xx, xy, zx, xy, yy, yz, zx, yz, zz}};
    return m;
}

/* S² of the elastic deformation B diag(1/d) P^-1; without P when `flowed` is false. A direction without extent is never
 * strained: a sheet that has flowed has changed its thickness for good. */
static inline vmat3 elastic_square(vmat3 b, const vf inverse[3], bool flowed, vmat3 p)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 9; i += 3) {
            b.m[i + j] = b.m[i + j] * inverse[j];
        }
    }
    vmat3 square = vmat_multiply_transposed(b, b);
    if (flowed) {
        vmat3 undo = vmat_cofactors(p); /* its determinant is 1 and it is symmetric */
        square = vmat_multiply(undo, vmat_multiply(square, undo));
    }
    for (int i = 0; i < 9; i++) {
        vm both = vm_and(vf_lt(zero, inverse[i / 3]), vf_lt(zero, inverse[i % 3]));
        square.m[i] = vf_select(both, square.m[i], i % 4 == 0 ? one : zero);
    }
    return square;
}

/* Lets the lanes flow whose strain may exceed the yield. */
static void flow_lanes(const lm_world *world, const lmi_pack *pack, uint32_t b, uint32_t lane, vmat3 affine,
                       const vf inverse[3], vmat3 p)
{
    vmat3 square = elastic_square(affine, inverse, true, p), excess = square;
    for (int j = 0; j < 3; j++) {
        excess.m[4 * j] = excess.m[4 * j] - vf_set1(1.0f);
    }
    vf bound = vf_load(pack->constants + ((size_t)b * LMI_CONSTANTS + LMI_CONSTANT_YIELD) * LMI_BLOCK + lane);
    uint32_t bits = vm_bits(vf_lt(bound, vmat_dot(excess, excess)));
    if (bits == 0) {
        return;
    }
    _Alignas(64) float six[6][LMI_LANES], det[LMI_LANES];
    static const int from[6] = {0, 4, 8, 1, 5, 2};
    for (int i = 0; i < 6; i++) {
        vf_store(six[i], square.m[from[i]]);
    }
    vf_store(det, vmat_determinant(affine, vmat_cofactors(affine)));
    for (; bits; bits &= bits - 1) {
        uint32_t k = (uint32_t)lmi_low_bit(bits);
        double s[6] = {six[0][k], six[1][k], six[2][k], six[3][k], six[4][k], six[5][k]};
        const lmi_body *body = lmi_body_at(world, pack->lane_body[b * LMI_BLOCK + lane + k]);
        const lmi_plastic_rates rates = {body->flow, body->material.yield, body->material.max_plastic};
        lmi_plastic_flow(&rates, pack->plastic + (size_t)b * 6 * LMI_BLOCK + lane + k, s, det[k] < 0.0f);
    }
}

static inline void load_extents(const lmi_pack *pack, uint32_t b, uint32_t lane, vf d[3])
{
    for (int j = 0; j < 3; j++) {
        d[j] = vf_load(pack->extent + ((size_t)b * 3 + (size_t)j) * LMI_BLOCK + lane);
    }
}

/* Channels of the examples of a block's lanes. */
static inline float *examples_at(const lmi_pack *pack, uint32_t b, uint32_t lane)
{
    return pack->example + (size_t)pack->block[b].first_example * LMI_BLOCK + lane;
}

/* 1/d, or 0 where there is no extent. */
static inline void find_inverse(const lmi_pack *pack, uint32_t b, uint32_t lane, const vf d[3], vf inverse[3])
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    const float *known = pack->block[b].examples ? examples_at(pack, b, lane) + LMI_EXAMPLE_INVERSE * LMI_BLOCK : NULL;
    for (int j = 0; j < 3; j++) {
        vm some = vf_lt(zero, d[j]);
        inverse[j] = known ? vf_load(known + j * LMI_BLOCK) : vf_select(some, one / vf_select(some, d[j], one), zero);
    }
}

/* A^T A of the lanes, of their elastic deformation where they have flowed. */
static inline vsym square_lanes(const lmi_pack *pack, uint32_t b, uint32_t lane, vmat3 affine)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    vf d[3], inverse[3];
    load_extents(pack, b, lane, d);
    find_inverse(pack, b, lane, d, inverse);
    if (pack->block[b].plastic) {
        vmat3 p = load_symmetric(pack->plastic + (size_t)b * 6 * LMI_BLOCK + lane);
        return vsym_of(elastic_square(affine, inverse, true, p));
    }
    for (int i = 0; i < 9; i++) {
        affine.m[i] = affine.m[i] * inverse[i % 3];
    }
    vsym square = vsym_square(affine); /* zero along a direction without extent, which is not strained: */
    square.xx = vf_select(vf_lt(zero, inverse[0]), square.xx, one);
    square.yy = vf_select(vf_lt(zero, inverse[1]), square.yy, one);
    square.zz = vf_select(vf_lt(zero, inverse[2]), square.zz, one);
    return square;
}

/* The deformations of up to EXAMPLE_AT_ONCE vectors of lanes that have examples, and what they are against these. */
static void measure_lanes(const lmi_pack *pack, const uint32_t *places, uint32_t count)
{
    vsym e[EXAMPLE_AT_ONCE];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = places[i] / LMI_BLOCK, lane = places[i] % LMI_BLOCK;
        e[i] = square_lanes(pack, b, lane, find_affine(pack, b, lane));
    }
    example_stretches(e, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = places[i] / LMI_BLOCK, lane = places[i] % LMI_BLOCK;
        const lmi_lane_block *block = &pack->block[b];
        example_measure(examples_at(pack, b, lane), (int)block->examples, block->own_mix, e[i]);
    }
}

/* What q is multiplied by where the rest shape is another: P, S or S P. */
static inline vmat3 rest_shape(const lmi_pack *pack, uint32_t b, uint32_t lane)
{
    const lmi_lane_block *block = &pack->block[b];
    if (!block->examples) {
        return load_symmetric(pack->plastic + (size_t)b * 6 * LMI_BLOCK + lane);
    }
    vmat3 mix = vsym_matrix(vsym_load(examples_at(pack, b, lane) + LMI_EXAMPLE_STRETCH * LMI_BLOCK));
    if (!block->plastic) {
        return mix;
    }
    return vmat_multiply(mix, load_symmetric(pack->plastic + (size_t)b * 6 * LMI_BLOCK + lane));
}

/* The mix, and the matrix whose rotation is wanted, of lanes that do not flow: B diag(d) S diag(1/d), row by row. */
static void find_mixed(const lmi_pack *pack, uint32_t b, uint32_t lane)
{
    const float *affine = pack->affine + (size_t)b * 9 * LMI_BLOCK + lane;
    float *shape = pack->shape + (size_t)b * 9 * LMI_BLOCK + lane;
    vsym s = example_mix(examples_at(pack, b, lane), (int)pack->block[b].examples);
    vf d[3], inverse[3];
    load_extents(pack, b, lane, d);
    find_inverse(pack, b, lane, d, inverse);
    for (int i = 0; i < 9; i += 3) {
        vf x = vf_load(affine + i * LMI_BLOCK) * d[0], y = vf_load(affine + (i + 1) * LMI_BLOCK) * d[1];
        vf z = vf_load(affine + (i + 2) * LMI_BLOCK) * d[2];
        vf_store(shape + i * LMI_BLOCK, (x * s.xx + y * s.xy + z * s.zx) * inverse[0]);
        vf_store(shape + (i + 1) * LMI_BLOCK, (x * s.xy + y * s.yy + z * s.yz) * inverse[1]);
        vf_store(shape + (i + 2) * LMI_BLOCK, (x * s.zx + y * s.yz + z * s.zz) * inverse[2]);
    }
}

/* Flow and mix, and then the matrix whose rotation is wanted: B diag(d) P^T diag(1/d), to which polar applies diag(d). */
static void find_shape(const lm_world *world, const lmi_pack *pack, uint32_t b, uint32_t lane)
{
    size_t matrix = (size_t)b * 9 * LMI_BLOCK + lane;
    vmat3 affine = vmat_load(pack->affine + matrix);
    vf d[3], inverse[3];
    load_extents(pack, b, lane, d);
    find_inverse(pack, b, lane, d, inverse);
    flow_lanes(world, pack, b, lane, affine, inverse, load_symmetric(pack->plastic + (size_t)b * 6 * LMI_BLOCK + lane));
    if (pack->block[b].examples) {
        example_mix(examples_at(pack, b, lane), (int)pack->block[b].examples);
    }
    vmat3 p = vmat_transpose(rest_shape(pack, b, lane));
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) {
            p.m[3 * i + j] = d[i] * p.m[3 * i + j] * inverse[j];
        }
    }
    vmat_store(pack->shape + matrix, vmat_multiply(affine, p));
}

/* Whether the rest shapes of a block's lanes are other than they were made. */
static inline bool is_shaped(const lmi_lane_block *block) { return block->plastic || block->examples > 0; }

/* sum m~ p / M, and where that is. */
static inline void find_centre(const lmi_pack *pack, uint32_t b, uint32_t lane, vf mean_p[3], vf centre[3])
{
    const float *moments = pack->moments + (size_t)b * LMI_MOMENTS * LMI_BLOCK + lane;
    vf inverse_mass =
           vf_load(pack->constants + ((size_t)b * LMI_CONSTANTS + LMI_CONSTANT_INVERSE_MASS) * LMI_BLOCK + lane),
       from[4];
    vf_gather4(pack->x, pack->reference + (size_t)b * LMI_BLOCK + lane, from);
    for (int i = 0; i < 3; i++) {
        mean_p[i] = vf_load(moments + (LMI_MOMENT_SUM + i) * LMI_BLOCK) * inverse_mass;
        centre[i] = from[i] + mean_p[i];
    }
}

/* The rigid goal of lanes that do not flow: R diag(d), or with examples R S diag(d). Row by row, so that it stays in
 * registers. */
static void find_rigid_goal(const lmi_pack *pack, uint32_t b, uint32_t lane)
{
    const float *rotation = pack->rotation + (size_t)b * 9 * LMI_BLOCK + lane;
    float *transform = pack->transforms + (size_t)b * LMI_MOMENTS * LMI_BLOCK + lane;
    float *linear = transform + LMI_TRANSFORM_LINEAR * LMI_BLOCK;
    vf d[3], mean_p[3], centre[3];
    load_extents(pack, b, lane, d);
    find_centre(pack, b, lane, mean_p, centre);
    store_vector(transform, centre);
    if (!pack->block[b].examples) {
        for (int i = 0; i < 9; i++) {
            vf_store(linear + i * LMI_BLOCK, vf_load(rotation + i * LMI_BLOCK) * d[i % 3]);
        }
        return;
    }
    vsym s = vsym_load(examples_at(pack, b, lane) + LMI_EXAMPLE_STRETCH * LMI_BLOCK);
    for (int i = 0; i < 9; i += 3) {
        vf x = vf_load(rotation + i * LMI_BLOCK), y = vf_load(rotation + (i + 1) * LMI_BLOCK);
        vf z = vf_load(rotation + (i + 2) * LMI_BLOCK);
        vf_store(linear + i * LMI_BLOCK, (x * s.xx + y * s.xy + z * s.zx) * d[0]);
        vf_store(linear + (i + 1) * LMI_BLOCK, (x * s.xy + y * s.yy + z * s.yz) * d[1]);
        vf_store(linear + (i + 2) * LMI_BLOCK, (x * s.zx + y * s.yz + z * s.zz) * d[2]);
    }
}

static void find_goal(const lmi_pack *pack, uint32_t b, uint32_t lane)
{
    const float *constants = pack->constants + (size_t)b * LMI_CONSTANTS * LMI_BLOCK + lane;
    const float *moments = pack->moments + (size_t)b * LMI_MOMENTS * LMI_BLOCK + lane;
    float *transform = pack->transforms + (size_t)b * LMI_MOMENTS * LMI_BLOCK + lane;
    vmat3 affine = vmat_load(pack->affine + (size_t)b * 9 * LMI_BLOCK + lane);
    vmat3 rotation = vmat_load(pack->rotation + (size_t)b * 9 * LMI_BLOCK + lane), rigid = rotation;
    if (is_shaped(&pack->block[b])) {
        rigid = vmat_multiply(rigid, rest_shape(pack, b, lane));
    }
    for (int i = 0; i < 9; i++) {
        rigid.m[i] = rigid.m[i] * vf_load(pack->extent + ((size_t)b * 3 + (size_t)(i % 3)) * LMI_BLOCK + lane);
    }
    vf inverse_mass = vf_load(constants + LMI_CONSTANT_INVERSE_MASS * LMI_BLOCK);
    vf beta = vf_load(constants + LMI_CONSTANT_BETA * LMI_BLOCK), mean_p[3], centre[3];
    find_centre(pack, b, lane, mean_p, centre);
    if (pack->block[b].mode == LM_MODE_QUADRATIC) {
        quadratic_goal(constants, moments, affine, rigid, inverse_mass, beta, mean_p, centre, transform);
        return;
    }
    if (pack->block[b].mode == LM_MODE_LINEAR) {
        const lmi_follow follow = {beta, vf_load(constants + LMI_CONSTANT_BEYOND * LMI_BLOCK)};
        vf edge = vf_load(constants + LMI_CONSTANT_INVERSE_EDGE * LMI_BLOCK);
        rigid = lmi_linear_goal(affine, rotation, rigid, edge, follow);
    }
    store_vector(transform, centre);
    vmat_store(transform + LMI_TRANSFORM_LINEAR * LMI_BLOCK, rigid);
}

/* Blocks `first` to `last` - 1, all fitted, and all with rest shapes that change or none. */
static void fit_run(const lm_world *world, const lmi_pack *pack, uint32_t first, uint32_t last)
{
    bool shaped = is_shaped(&pack->block[first]);
    for (uint32_t n = first * LMI_BLOCK; n < last * LMI_BLOCK; n += LMI_LANES) {
        if (!pack->block[n / LMI_BLOCK].examples) { /* else it is known */
            find_affine(pack, n / LMI_BLOCK, n % LMI_BLOCK);
        }
        if (shaped && !pack->block[n / LMI_BLOCK].plastic) {
            find_mixed(pack, n / LMI_BLOCK, n % LMI_BLOCK);
        } else if (shaped) {
            find_shape(world, pack, n / LMI_BLOCK, n % LMI_BLOCK);
        }
    }
    size_t matrix = (size_t)first * 9 * LMI_BLOCK;
    LMI_KERNEL(polar)
    ((shaped ? pack->shape : pack->affine) + matrix, pack->extent + (size_t)first * 3 * LMI_BLOCK,
     pack->rotation + matrix, last - first);
    for (uint32_t n = first * LMI_BLOCK; n < last * LMI_BLOCK; n += LMI_LANES) {
        const lmi_lane_block *block = &pack->block[n / LMI_BLOCK];
        if (block->mode == LM_MODE_RIGID && !block->plastic) {
            find_rigid_goal(pack, n / LMI_BLOCK, n % LMI_BLOCK);
        } else {
            find_goal(pack, n / LMI_BLOCK, n % LMI_BLOCK);
        }
    }
}

/* The mix of every region that has examples: measured in lanes, solved group by group. */
static void mix_examples(const lmi_step *step, const lmi_batch *batch)
{
    const lmi_pack *pack = &batch->pack;
    if (pack->example_channels == 0) {
        return;
    }
    uint32_t places[EXAMPLE_AT_ONCE], count = 0;
    for (uint32_t n = 0; n < pack->lane_blocks * LMI_BLOCK; n += LMI_LANES) {
        if (pack->block[n / LMI_BLOCK].examples) {
            places[count++] = n;
        }
        if (count == EXAMPLE_AT_ONCE) {
            measure_lanes(pack, places, count);
            count = 0;
        }
    }
    measure_lanes(pack, places, count);
    for (uint32_t n = 0; n < batch->body_count; n++) {
        const lmi_body *body = lmi_body_at(step->world, batch->bodies[n]);
        if (body->examples && !body->lattice) {
            lmi_examples_solve(body->examples);
        }
    }
}

void LMI_KERNEL(fit_blocks)(const lm_world *world, const lmi_pack *pack, uint32_t first, uint32_t last)
{
    if (first < last) {
        fit_run(world, pack, first, last);
    }
}

void LMI_KERNEL(fit)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    (void)scratch;
    const lmi_pack *pack = &batch->pack;
    mix_examples(step, batch);
    for (uint32_t b = 0; b < pack->lane_blocks;) {
        uint32_t first = b++;
        if (!pack->block[first].fitted) {
            continue;
        }
        while (b < pack->lane_blocks && pack->block[b].fitted &&
               is_shaped(&pack->block[b]) == is_shaped(&pack->block[first])) {
            b++;
        }
        fit_run(step->world, pack, first, b);
    }
}
