/*
 * Skins: vertices and normals of all bodies, side by side, one work-item for each vertex.
 *
 *   skin_cells     on the cells of lattices: position, and the rest normal deformed            (skin/skin_carry.h)
 *   skin_tets      on tetrahedra: the same                                                     (skin/skin_carry.h)
 *   skin_carriers  where regions of clusters carry their frames, one work-item for each        (match/carrier.h)
 *   skin_nodes     sums over the nodes of octrees, height by height from below                 (octree/octree_carrier.h)
 *   skin_leaves    where leaves of octrees carry what is around them                           (octree/octree_carrier.h)
 *   skin_lists     on particles and regions: position, in double precision
 *   skin_normals   of those: from the triangles around a vertex, in the order of the triangles (skin/face_normals.h)
 *   skin_origins   where the bodies' origins are
 *   skin_put       positions or normals to where they were asked for, relative to a point of the world
 *
 * Sums run in the order of the host's, so that the same particles give the same bits where the device divides and takes roots
 * correctly rounded. `chunks` leads from a work-group to a skin and the first of its vertices.
 */

#define SKIN_GROUP 64

/* The skin that a work-group has a part of, and the vertex of a work-item; false: there is none. */
static inline bool find_vertex(__global const uint2 *chunks, __global const lmi_gpu_skin *skins, lmi_gpu_skin *skin,
                               uint *vertex)
{
    uint2 chunk = chunks[get_group_id(0)];
    *skin = skins[chunk.x];
    *vertex = chunk.y + get_local_id(0);
    return *vertex < skin->vertices;
}

static inline void load_four(__global const float4 *x, uint n, float to[4])
{
    float4 at = x[n];
    to[0] = at.x, to[1] = at.y, to[2] = at.z, to[3] = at.w;
}

__kernel void skin_cells(__global const uint2 *chunks, __global const lmi_gpu_skin *skins, __global const float4 *x,
                         __global const uint *riders, __global const float *numbers, __global float *positions,
                         __global float *normals)
{
    lmi_gpu_skin skin;
    uint n;
    if (!find_vertex(chunks, skins, &skin, &n)) {
        return;
    }
    __global const uint *rider = riders + skin.riders + n * 8;
    __global const float *number = numbers + skin.numbers + n * 6;
    float corner[8][4], position[3], normal[3];
    for (int k = 0; k < 8; k++) {
        load_four(x, skin.particle + rider[k], corner[k]);
    }
    const float place[3] = {number[0], number[1], number[2]}, rest[3] = {number[3], number[4], number[5]};
    carry_in_cell(corner, place, rest, skin.per_spacing, position, normal);
    vstore3((float3)(position[0], position[1], position[2]), skin.vertex + n, positions);
    vstore3((float3)(normal[0], normal[1], normal[2]), skin.vertex + n, normals);
}

__kernel void skin_tets(__global const uint2 *chunks, __global const lmi_gpu_skin *skins, __global const float4 *x,
                        __global const uint *riders, __global const float *numbers, __global float *positions,
                        __global float *normals)
{
    lmi_gpu_skin skin;
    uint n;
    if (!find_vertex(chunks, skins, &skin, &n)) {
        return;
    }
    __global const uint *rider = riders + skin.riders + n * 4;
    __global const float *number = numbers + skin.numbers + n * 6;
    float corner[4][4], position[3], normal[3];
    for (int k = 0; k < 4; k++) {
        load_four(x, skin.particle + rider[k], corner[k]);
    }
    const float weight[3] = {number[0], number[1], number[2]}, along[3] = {number[3], number[4], number[5]};
    carry_in_tet(corner, weight, along, position, normal);
    vstore3((float3)(position[0], position[1], position[2]), skin.vertex + n, positions);
    vstore3((float3)(normal[0], normal[1], normal[2]), skin.vertex + n, normals);
}

/* --- what skins on regions ride on --- */

static inline lm_vec3 load_vector(__global const float *from, uint n)
{
    lm_vec3 v = {from[3 * n], from[3 * n + 1], from[3 * n + 2]};
    return v;
}

static inline void load_rotation(__global const float *rotations, uint first, float to[9])
{
    for (int i = 0; i < 9; i++) {
        to[i] = rotations[first + i * LMI_BLOCK];
    }
}

__kernel void skin_carriers(uint count, __global const lmi_gpu_carried *carried, __global const lmi_region *regions,
                            __global const uint *members, __global const float *rest, __global const float *rotations,
                            __global const float4 *x, __global lmi_carrier *carriers)
{
    uint n = get_global_id(0);
    if (n >= count || carried[n].octree) {
        return;
    }
    const lmi_gpu_carried one = carried[n];
    const lmi_region region = regions[n];
    lmi_carrier c;
    double mass = 0.0, sums[18];
    float at[4], rotation[9];
    for (int i = 0; i < 18; i++) {
        c.constant[i % 3] = c.linear[i % 9] = c.quadratic[i] = sums[i] = 0.0;
    }
    for (uint k = 0; k < one.count; k++) {
        load_four(x, one.particle + members[one.members + k], at);
        lmi_carrier_add_centre(&c, &mass, at);
    }
    for (int i = 0; i < 3; i++) {
        c.constant[i] /= mass;
    }
    for (uint k = 0; k < one.count; k++) {
        uint member = members[one.members + k];
        load_four(x, one.particle + member, at);
        lm_dvec3 q = lmi_carrier_member(&region, load_vector(rest, one.rest + member));
        lmi_carrier_add_moments(&c, mass, at, q, one.quadratic != 0, sums);
    }
    if (one.quadratic) {
        lmi_carrier_add_quadratic(&c, &region, sums);
    }
    load_rotation(rotations, one.rotation, rotation);
    lmi_carrier_complete(&c, &region, rotation, 1);
    carriers[n] = c;
}

/* `order`: nodes of one height, whose children are done. */
__kernel void skin_nodes(uint first, uint count, __global const uint *order, __global const lmi_gpu_skin_node *nodes,
                         __global const float *rest, __global const float4 *x, __global double *all)
{
    uint id = get_global_id(0);
    if (id >= count) {
        return;
    }
    uint n = order[first + id];
    const lmi_gpu_skin_node node = nodes[n];
    double sums[16];
    for (int i = 0; i < 16; i++) {
        sums[i] = 0.0;
    }
    for (uint c = node.children; c > 0; c--) { /* the host's order */
        __global const double *from = all + (node.child + c - 1) * 16;
        for (int i = 0; i < 16; i++) {
            sums[i] += from[i];
        }
    }
    if (node.place != LMI_GPU_NONE) {
        float at[4];
        load_four(x, node.place, at);
        lmi_octree_carrier_add(at, load_vector(rest, node.rest), sums);
    }
    for (int i = 0; i < 16; i++) {
        all[n * 16 + i] = sums[i];
    }
}

__kernel void skin_leaves(uint count, __global const lmi_gpu_carried *carried, __global const lmi_region *regions,
                          __global const uint *members, __global const float *rest, __global const float *rotations,
                          __global const float4 *x, __global const double *all, __global lmi_carrier *carriers)
{
    uint n = get_global_id(0);
    if (n >= count || !carried[n].octree) {
        return;
    }
    const lmi_gpu_carried one = carried[n];
    const lmi_region region = regions[n];
    lmi_carrier c;
    double sums[16];
    float at[4], rotation[9];
    for (int i = 0; i < 16; i++) {
        sums[i] = 0.0;
    }
    for (uint k = 0; k < one.count; k++) {
        __global const double *from = all + members[one.members + k] * 16;
        for (int i = 0; i < 16; i++) {
            sums[i] += from[i];
        }
    }
    load_four(x, one.place, at);
    load_rotation(rotations, one.rotation, rotation);
    lmi_octree_carrier_make(&region, sums, at, load_vector(rest, one.rest), rotation, 1, &c);
    carriers[n] = c;
}

/* --- lists --- */

__kernel void skin_lists(__global const uint2 *chunks, __global const lmi_gpu_skin *skins, __global const float4 *x,
                         __global const uint *offsets, __global const uint *riders, __global const float *weights,
                         __global const float *rest, __global const lmi_region *regions,
                         __global const lmi_carrier *carriers, __global float *positions)
{
    lmi_gpu_skin skin;
    uint n;
    if (!find_vertex(chunks, skins, &skin, &n)) {
        return;
    }
    lm_dvec3 sum = lm_dvec3_zero();
    for (uint k = offsets[skin.offsets + n]; k < offsets[skin.offsets + n + 1]; k++) {
        uint rider = riders[skin.riders + k];
        lm_dvec3 at;
        if (rider >= LMI_SKIN_REGION) {
            const lmi_region region = regions[skin.region + rider - LMI_SKIN_REGION];
            const lmi_carrier carrier = carriers[skin.region + rider - LMI_SKIN_REGION];
            at = lmi_carrier_apply(&carrier, lmi_blend_local(&region, load_vector(rest, skin.rest + n)));
        } else {
            float4 p = x[skin.particle + rider];
            at = dvec(p.x, p.y, p.z);
        }
        sum = dvec_add(sum, dvec_scale(at, weights[skin.numbers + k]));
    }
    lm_vec3 v = vec_from(sum);
    vstore3((float3)(v.x, v.y, v.z), skin.vertex + n, positions);
}

__kernel void skin_normals(__global const uint2 *chunks, __global const lmi_gpu_skin *skins,
                           __global const uint *ring_offsets, __global const uint *rings,
                           __global const uint *triangles, __global const float *positions, __global float *normals)
{
    lmi_gpu_skin skin;
    uint n;
    if (!find_vertex(chunks, skins, &skin, &n)) {
        return;
    }
    lm_vec3 sum = {0.0f, 0.0f, 0.0f};
    for (uint k = ring_offsets[skin.ring_offsets + n]; k < ring_offsets[skin.ring_offsets + n + 1]; k++) {
        __global const uint *corner = triangles + skin.triangles + 3 * rings[k];
        lm_vec3 area = lmi_face_area(dvec_from(load_vector(positions, skin.vertex + corner[0])),
                                     dvec_from(load_vector(positions, skin.vertex + corner[1])),
                                     dvec_from(load_vector(positions, skin.vertex + corner[2])));
        sum.x += area.x;
        sum.y += area.y;
        sum.z += area.z;
    }
    lm_vec3 v = lmi_face_unit(sum);
    vstore3((float3)(v.x, v.y, v.z), skin.vertex + n, normals);
}

/* --- the way out --- */

__kernel void skin_origins(uint count, __global const lmi_gpu_skin *skins, __global const lmi_gpu_body *bodies,
                           __global double *origins)
{
    uint n = get_global_id(0);
    for (int i = 0; n < count && i < 3; i++) {
        origins[3 * n + i] = bodies[skins[n].body].origin[i];
    }
}

/* `puts`: four words for each skin that goes to this buffer: which, what (0: positions, 1: normals), the first word, and words from
 * one vertex to the next. `chunks` lead to these. */
__kernel void skin_put(__global const uint2 *chunks, __global const uint4 *puts, __global const lmi_gpu_skin *skins,
                       __global const double *origins, double base_x, double base_y, double base_z,
                       __global const float *positions, __global const float *normals, __global float *to)
{
    uint2 chunk = chunks[get_group_id(0)];
    uint4 put = puts[chunk.x];
    const lmi_gpu_skin skin = skins[put.x];
    uint n = chunk.y + get_local_id(0);
    if (n >= skin.vertices) {
        return;
    }
    lm_vec3 v = load_vector(put.y ? normals : positions, skin.vertex + n);
    if (!put.y) {
        __global const double *origin = origins + 3 * put.x;
        lm_dvec3 from = dvec_sub(dvec(origin[0], origin[1], origin[2]), dvec(base_x, base_y, base_z));
        v = vec_from(dvec_add(from, dvec_from(v)));
    }
    __global float *at = to + put.z + (ulong)n * put.w;
    at[0] = v.x, at[1] = v.y, at[2] = v.z;
}
