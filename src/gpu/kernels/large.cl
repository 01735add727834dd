/*
 * What `move` does for a body (cluster.cl), divided among many work-groups where a body is large:
 *
 *   large_pull    chunk by chunk: what pulls its particles; momentum of that
 *   large_extra   body by body: what the pull has besides deformation
 *   large_move    chunk by chunk: particles move
 *   large_end     body by body: what became of it
 *
 * chunks: record of the body, first particle, particles. bodies: record, first chunk, chunks. Sums of chunks are added in an
 * order that depends on their number alone.
 */

#define JOINERS 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
large_pull(__global const uint4 *restrict chunks, __global const lmi_gpu_body *restrict bodies, __global const uint *restrict list_first,
           __global const uint *restrict list, __global const float *restrict list_count, __global const float *restrict list_share,
           __global const float4 *restrict goals, __global const float4 *restrict x, __global const float4 *restrict v, __global float4 *restrict pulls,
           __global double *restrict partials)
{
    __local float slots[8 * PITCH];
    __local double slices[GROUP], sums[8];
    __local lmi_gpu_body record;
    const uint4 chunk = chunks[get_group_id(0)];
    const uint id = get_local_id(0);
    float s[LMI_GPU_CHANNELS];
    take_record(&record, bodies + chunk.x, id, GROUP);
    barrier(CLK_LOCAL_MEM_FENCE);
    clear_sums(s);
    pull_points(&record, chunk.y + id, chunk.y + chunk.z, list_first, list, list_count, list_share, goals, x, v, pulls, s);
    add_group(slots, slices, sums, s, 8);
    if (id < 8) {
        partials[get_group_id(0) * LMI_GPU_CHANNELS + id] = sums[id];
    }
}

/* The chunks of a body together: every so many of them for each work-item, then those. */
static void join_chunks(uint4 large, uint channels, __global const double *partials, __local double *slices, __local double *sums)
{
    const uint id = get_local_id(0), channel = id % channels, step = JOINERS / channels;
    double sum = channel < LMI_GPU_LOWER ? 0.0 : channel < LMI_GPU_UPPER ? 3e38 : -3e38;
    for (uint n = id / channels; n < large.z; n += step) {
        sum = join_two(channel, sum, partials[(large.y + n) * LMI_GPU_CHANNELS + channel]);
    }
    slices[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < channels) {
        for (uint n = 1; n < step; n++) {
            sum = join_two(channel, sum, slices[n * channels + channel]);
        }
        sums[channel] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(JOINERS, 1, 1))) void
large_extra(__global const uint4 *restrict large, __global lmi_gpu_body *restrict bodies, __global const double *restrict partials, double h)
{
    __local double slices[JOINERS], sums[LMI_GPU_CHANNELS];
    __local lmi_gpu_body record;
    const uint id = get_local_id(0);
    __global lmi_gpu_body *body = bodies + large[get_group_id(0)].x;
    take_record(&record, body, id, JOINERS);
    join_chunks(large[get_group_id(0)], 8, partials, slices, sums);
    if (id == 0) {
        find_extra(&record, sums, h);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    give_record(body, &record, id, JOINERS);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
large_move(__global const uint4 *restrict chunks, __global const lmi_gpu_body *restrict bodies, __global const lmi_gpu_surface *restrict surfaces,
           __global float4 *restrict x, __global float4 *restrict v, __global const float4 *restrict pulls, double h, float change_x, float change_y,
           float change_z, __global double *restrict partials)
{
    __local float slots[LMI_GPU_CHANNELS * PITCH];
    __local double slices[GROUP], sums[LMI_GPU_CHANNELS];
    __local lmi_gpu_body record;
    const uint4 chunk = chunks[get_group_id(0)];
    const uint id = get_local_id(0);
    const float change[3] = {change_x, change_y, change_z};
    float s[LMI_GPU_CHANNELS];
    take_record(&record, bodies + chunk.x, id, GROUP);
    barrier(CLK_LOCAL_MEM_FENCE);
    clear_sums(s);
    move_points(&record, bodies + chunk.x, chunk.y + id, chunk.y + chunk.z, surfaces, change, h, pulls, x, v, s);
    add_group(slots, slices, sums, s, LMI_GPU_CHANNELS);
    if (id < LMI_GPU_CHANNELS) {
        partials[get_group_id(0) * LMI_GPU_CHANNELS + id] = sums[id];
    }
}

__kernel __attribute__((reqd_work_group_size(JOINERS, 1, 1))) void
large_end(__global const uint4 *restrict large, __global lmi_gpu_body *restrict bodies, __global const double *restrict partials)
{
    __local double slices[JOINERS], sums[LMI_GPU_CHANNELS];
    __local lmi_gpu_body record;
    const uint id = get_local_id(0);
    __global lmi_gpu_body *body = bodies + large[get_group_id(0)].x;
    take_record(&record, body, id, JOINERS);
    join_chunks(large[get_group_id(0)], LMI_GPU_CHANNELS, partials, slices, sums);
    if (id == 0) {
        conclude_body(&record, sums);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    give_record(body, &record, id, JOINERS);
}
