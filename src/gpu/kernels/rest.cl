/*
 * How fast the fastest particle of each body is: all that the host needs of a step to know who has come to rest.
 */

#define GROUP 64

/* The squares of the highest speeds of chunks of particles. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
rest_chunks(__global const lmi_gpu_chunk *restrict chunks, __global const float4 *restrict v, __global float *restrict squares)
{
    __local float slots[GROUP];
    const lmi_gpu_chunk chunk = chunks[get_group_id(0)];
    const uint id = get_local_id(0);
    float most = 0.0f;
    for (uint n = id; n < chunk.count; n += GROUP) {
        float4 u = v[chunk.first + n];
        most = vf_max(most, (u.x * u.x + u.y * u.y) + u.z * u.z);
    }
    slots[id] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        for (uint n = 1; n < GROUP; n++) {
            most = vf_max(most, slots[n]);
        }
        squares[chunk.partial] = most;
    }
}

/* And of bodies. */
__kernel void rest_bodies(__global const lmi_gpu_body *restrict bodies, uint count, __global const float *restrict squares,
                          __global float *restrict fastest)
{
    const uint n = get_global_id(0);
    if (n < count) {
        float most = 0.0f;
        for (uint k = bodies[n].first_measure; k < bodies[n].first_measure + bodies[n].measures; k++) {
            most = vf_max(most, squares[k]);
        }
        fastest[n] = most;
    }
}
