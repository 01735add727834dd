/*
 * Regions of clusters with examples (examples.h): what `match` of cluster.cl does for the others, in three launches.
 *
 *   example_measure  one work-item a region: its deformation, and what that is against the examples; or its own mix
 *   example_solve    one work-group a group of regions: their sums, and the mix that is nearest to them (example_solve.cl)
 *   example_match    one work-item a region: gather, flow, mix, fit, scatter
 *
 * Regions of many members, which are divided, and those of octrees are summed elsewhere: their moments are in memory, and their
 * transforms take the place of these.
 *
 * The stretch, the products and the mix are match/example_lanes.h, and the projection is match/project.h: those texts.
 */

/* Of a block of lanes with examples. */
#define COUNT_OF(place) ((place).z & 255u)
#define HAS_OWN_MIX(place) ((place).z & 256u)

/* B of a lane, its rest extents, and one over them as its examples have them. */
static vmat3 affine_of(const float m[LMI_MOMENTS], uint all, __global const float *constants, __global const float *extents,
                       __global const float *rotations, const float *channels, float d[3], float inverse[3])
{
    uint b = all / LMI_BLOCK, lane = all % LMI_BLOCK;
    float inverse_mass = constants[(b * LMI_CONSTANTS + LMI_CONSTANT_INVERSE_MASS) * LMI_BLOCK + lane];
    vmat3 affine;
    for (int i = 0; i < 3; i++) {
        d[i] = extents[(b * 3 + i) * LMI_BLOCK + lane];
        inverse[i] = channels[LMI_EXAMPLE_INVERSE + i];
    }
    for (int i = 0; i < 9; i++) {
        affine.m[i] = inverse_mass > 0.0f ? m[LMI_MOMENT_LINEAR + i] * inverse_mass : rotations[(b * 9 + i) * LMI_BLOCK + lane];
    }
    return affine;
}

static vmat3 plastic_of(__global const float *plastics, uint all)
{
    float six[6 * LMI_BLOCK];
    for (int i = 0; i < 6; i++) {
        six[i * LMI_BLOCK] = plastics[(all / LMI_BLOCK * 6 + i) * LMI_BLOCK + all % LMI_BLOCK];
    }
    return symmetric_of(six);
}

/* A^T A, of the elastic deformation where the region has flowed: square_lanes in match/fit.c. */
static vsym square_of(vmat3 affine, const float inverse[3], bool plastic, __global const float *plastics, uint all)
{
    if (plastic) {
        return vsym_of(elastic_square(affine, inverse, plastic_of(plastics, all)));
    }
    for (int i = 0; i < 9; i++) {
        affine.m[i] = affine.m[i] * inverse[i % 3];
    }
    vsym square = vsym_square(affine);
    square.xx = inverse[0] > 0.0f ? square.xx : 1.0f;
    square.yy = inverse[1] > 0.0f ? square.yy : 1.0f;
    square.zz = inverse[2] > 0.0f ? square.zz : 1.0f;
    return square;
}

/* The moments of a lane: of its members, or where it has none, because its parts or an octree have summed them, those that
 * are there already. */
static void moments_of(uint4 block, uint all, float4 from, bool quadratic, __global const uint *member,
                       __global const float *rest, __global const float4 *x, __global const float *moments,
                       float m[LMI_MOMENTS])
{
    if (block.y == 0) {
        load_lane(moments, all, m);
    } else {
        gather_lane(block, all % LMI_BLOCK, from, quadratic, member, rest, x, m);
    }
}

/* Divided regions (add_parts in cluster.cl): their moments from those of their parts, before they are measured; and the goals of
 * the members of their parts, after they are matched. */
__kernel void example_gather_parts(uint count, __global const uint4 *regions, __global const uint *parts,
                                   __global float *moments)
{
    uint n = get_global_id(0);
    if (n < count) {
        float m[LMI_MOMENTS];
        add_parts(regions[n], parts, moments, m);
        store_lane(m, regions[n].x, moments);
    }
}

__kernel void example_spread_parts(uint count, __global const uint4 *regions, __global const uint *parts,
                                   __global const uint4 *blocks, __global const float *rest,
                                   __global const float *stiffness, __global const float *moments, __global float4 *goals)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    uint4 region = regions[n];
    float t[LMI_MOMENTS];
    load_lane(moments, region.x, t);
    for (uint k = region.y; k < region.z; k++) {
        scatter_lane(blocks[parts[k] / LMI_BLOCK], parts[k] % LMI_BLOCK, t, stiffness[parts[k]], rest, goals);
    }
}

/* places: two for each block of lanes. Its block in the packs, its first channel, examples; and its rows as in `match`. */
__kernel void example_measure_regions(uint blocks, __global const uint4 *places, __global const uint *reference,
                                      __global const uint *member, __global const float *rest,
                                      __global const float *constants, __global const float *extents,
                                      __global const float *rotations, __global const float *plastics,
                                      __global const float4 *x, __global const float *moments, __global float *channels)
{
    uint n = get_global_id(0);
    if (n >= blocks * LMI_BLOCK) {
        return;
    }
    uint4 place = places[2 * (n / LMI_BLOCK)], block = places[2 * (n / LMI_BLOCK) + 1];
    uint lane = n % LMI_BLOCK, all = place.x * LMI_BLOCK + lane, count = COUNT_OF(place);
    __global float *own = channels + place.y * LMI_BLOCK + lane;
    float m[LMI_MOMENTS], at[MOST_CHANNELS], d[3], inverse[3];
    load_channels(own, lmi_example_channels(count), at);
    moments_of(block, all, x[reference[all]], false, member, rest, x, moments, m);
    vmat3 affine = affine_of(m, all, constants, extents, rotations, at, d, inverse);
    vsym e = example_stretch(square_of(affine, inverse, IS_PLASTIC(block), plastics, all));
    example_measure(at, (int)count, HAS_OWN_MIX(place) != 0, e);
    store_channels(at, LMI_EXAMPLE_WEIGHT, 2 * count, own); /* weights, and products */
}

__kernel void example_match_regions(uint blocks, __global const uint4 *places, __global const uint *reference,
                                    __global const uint *member, __global const float *rest,
                                    __global const float *constants, __global const float *extents,
                                    __global const float *stiffness, __global float *rotations, __global float *plastics,
                                    __global const float4 *rates, __global const float4 *x, __global float *channels,
                                    __global float *moments, __global float4 *goals)
{
    uint n = get_global_id(0);
    if (n >= blocks * LMI_BLOCK) {
        return;
    }
    uint4 place = places[2 * (n / LMI_BLOCK)], block = places[2 * (n / LMI_BLOCK) + 1];
    uint lane = n % LMI_BLOCK, all = place.x * LMI_BLOCK + lane, count = COUNT_OF(place);
    __global float *own = channels + place.y * LMI_BLOCK + lane;
    float4 from = x[reference[all]];
    float m[LMI_MOMENTS], t[LMI_MOMENTS], at[MOST_CHANNELS], d[3], inverse[3];
    load_channels(own, lmi_example_channels(count), at);
    moments_of(block, all, from, MODE_OF(block) == LM_MODE_QUADRATIC, member, rest, x, moments, m);
    vmat3 affine = affine_of(m, all, constants, extents, rotations, at, d, inverse), flowed, previous;
    constants += place.x * LMI_CONSTANTS * LMI_BLOCK + lane;
    if (IS_PLASTIC(block)) {
        float4 rate = rates[all];
        flowed = flow_lane(affine, inverse, constants[LMI_CONSTANT_YIELD * LMI_BLOCK], rate.x, rate.y, rate.z,
                           plastics + place.x * 6 * LMI_BLOCK + lane);
    }
    vmat3 p = vsym_matrix(example_mix(at, (int)count));
    store_channels(at, LMI_EXAMPLE_STRETCH, 6, own);
    if (IS_PLASTIC(block)) {
        p = vmat_multiply(p, flowed);
    }
    vmat3 turned = vmat_transpose(p);
    for (int i = 0; i < 9; i++) {
        turned.m[i] = d[i / 3] * turned.m[i] * inverse[i % 3];
        previous.m[i] = rotations[(place.x * 9 + i) * LMI_BLOCK + lane];
    }
    vmat3 rotation = nearest_rotation(vmat_multiply(affine, turned), d, previous), rigid = vmat_multiply(rotation, p);
    for (int i = 0; i < 9; i++) {
        rotations[(place.x * 9 + i) * LMI_BLOCK + lane] = rotation.m[i];
        rigid.m[i] = rigid.m[i] * d[i % 3];
    }
    float inverse_mass = constants[LMI_CONSTANT_INVERSE_MASS * LMI_BLOCK], beta = constants[LMI_CONSTANT_BETA * LMI_BLOCK];
    const float mean[3] = {m[0] * inverse_mass, m[1] * inverse_mass, m[2] * inverse_mass};
    const float centre[3] = {from.x + mean[0], from.y + mean[1], from.z + mean[2]};
    if (MODE_OF(block) == LM_MODE_QUADRATIC) {
        for (int i = 0; i < 3; i++) {
            quadratic_goal_row(constants, m, i, affine, rigid, inverse_mass, beta, mean[i], centre[i], t);
        }
    } else {
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
    if (block.y == 0) {
        store_lane(t, all, moments);
    } else {
        scatter_lane(block, lane, t, stiffness[all], rest, goals);
    }
}
