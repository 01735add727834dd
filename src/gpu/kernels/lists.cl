/*
 * Irregular regions of lattices, from lists: what the fast sums have too much or too little (sample/lattice.h).
 */

/* What is left of a position when the rest shape is taken away, u = F^T x / s - K, for the lists. */
static inline void local_of(__global const lmi_gpu_body *b, float4 p, float kx, float ky, float kz, float u[3])
{
    __global const float *m = b->inverse;
    float px = p.x - b->shift[0], py = p.y - b->shift[1], pz = p.z - b->shift[2];
    u[0] = ((m[0] * px + m[1] * py) + m[2] * pz) - kx;
    u[1] = ((m[3] * px + m[4] * py) + m[5] * pz) - ky;
    u[2] = ((m[6] * px + m[7] * py) + m[8] * pz) - kz;
}

/* One work-item for each lane of a group of lists: body, first row, end of the rows, where the owners are. */
__kernel void lattice_gather_lists(uint lanes, __global const uint4 *restrict groups, __global const uint *restrict who,
                                   __global const int *restrict corner, __global const uint *restrict member,
                                   __global const float *restrict offset, __global const lmi_gpu_body *restrict bodies,
                                   __global const float4 *restrict x, __global float *restrict corrections)
{
    uint n = get_global_id(0), lane = n % LMI_BLOCK;
    uint4 group = groups[min(n, lanes - 1) / LMI_BLOCK];
    uint place = group.w * LMI_BLOCK + lane, owner = who[place];
    if (n >= lanes || owner == LMI_GPU_NONE) {
        return;
    }
    __global const lmi_gpu_body *b = bodies + group.x;
    float middle[3], sums[12];
    for (int i = 0; i < 3; i++) {
        middle[i] = (float)corner[place * 3 + i] - b->middle[i];
    }
    for (int i = 0; i < 12; i++) {
        sums[i] = 0.0f;
    }
#pragma unroll 4 /* loads of several rows are under way */
    for (uint row = group.y; row < group.z; row++) {
        __global const float *o = offset + row * 4 * LMI_BLOCK + lane;
        float4 at = x[b->first + member[row * LMI_BLOCK + lane]];
        float k[3] = {o[0], o[LMI_BLOCK], o[2 * LMI_BLOCK]}, u[3], weight = at.w * o[3 * LMI_BLOCK];
        local_of(b, at, middle[0] + k[0], middle[1] + k[1], middle[2] + k[2], u);
        for (int i = 0; i < 3; i++) {
            float p = u[i] * weight;
            sums[i] += p;
            sums[3 + i] += p * k[2];
            sums[6 + i] += p * k[1];
            sums[9 + i] += p * k[0];
        }
    }
    for (int i = 0; i < 12; i++) {
        corrections[(b->irregular + owner) * LMI_BLOCK + i] = sums[i];
    }
}

__kernel void lattice_scatter_lists(uint lanes, __global const uint4 *restrict groups, __global const uint *restrict who,
                                    __global const uint *restrict member, __global const float *restrict offset,
                                    __global const lmi_gpu_body *restrict bodies, __global const float *restrict kept,
                                    __global float *restrict corrections)
{
    uint n = get_global_id(0), lane = n % LMI_BLOCK;
    uint4 group = groups[min(n, lanes - 1) / LMI_BLOCK];
    uint owner = who[group.w * LMI_BLOCK + lane];
    if (n >= lanes || owner == LMI_GPU_NONE) {
        return;
    }
    __global const lmi_gpu_body *b = bodies + group.x;
    float sums[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll 4 /* loads of several rows are under way */
    for (uint row = group.y; row < group.z; row++) {
        __global const float *o = offset + row * 4 * LMI_BLOCK + lane;
        __global const float4 *from = (__global const float4 *)(kept + (b->irregular + member[row * LMI_BLOCK + lane]) * LMI_BLOCK);
        float4 first = from[0], second = from[1], third = from[2];
        const float t[12] = {first.x,  first.y,  first.z,  first.w,  second.x, second.y,
                             second.z, second.w, third.x,  third.y,  third.z,  third.w};
        float sign = o[3 * LMI_BLOCK];
        for (int i = 0; i < 3; i++) {
            float move = (t[3 + i] * o[0] + t[6 + i] * o[LMI_BLOCK]) + t[9 + i] * o[2 * LMI_BLOCK];
            sums[i] += sign * (t[i] + move);
        }
    }
    for (int i = 0; i < 3; i++) {
        corrections[(b->corrected + owner) * 4 + i] = sums[i];
    }
}
