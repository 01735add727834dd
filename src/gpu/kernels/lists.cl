/*
 * Irregular regions of lattices, from lists: what the fast sums have too much or too little (lattice/lattice.h). The work-group
 * of a tile goes through the lists of the regions, or particles, in it before it begins with the first plane.
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

/* Entries of a list whose loads are under way together: each by itself would be two ways to memory, one after the other. */
#define AT_ONCE 4

/* An entry: a member, and four bytes: where it is from the list's owner, and the sign with which it counts; not at all past the
 * end. */
static inline float4 offset_of(uint2 entry, bool counts)
{
    float4 o = convert_float4(as_char4(entry.y));
    o.w = counts ? o.w : 0.0f;
    return o;
}

/* The moments of a region, or what those of the fast sums lack. */
static inline void gather_list(lmi_gpu_list list, __global const uint2 *restrict entries, __global const lmi_gpu_body *b,
                               __global const float4 *restrict x, __global float4 *corrections)
{
    const uint end = list.first + list.count;
    float middle[3], sums[12];
    for (int i = 0; i < 3; i++) {
        middle[i] = (float)list.corner[i] - b->middle[i];
    }
    for (int i = 0; i < 12; i++) {
        sums[i] = 0.0f;
    }
    for (uint at = list.first; at < end; at += AT_ONCE) {
        float4 p[AT_ONCE], o[AT_ONCE];
#pragma unroll
        for (uint n = 0; n < AT_ONCE; n++) {
            const uint2 entry = entries[min(at + n, end - 1)];
            p[n] = x[b->first + entry.x];
            o[n] = offset_of(entry, at + n < end);
        }
#pragma unroll
        for (uint n = 0; n < AT_ONCE; n++) {
            float u[3], weight = p[n].w * o[n].w;
            local_of(b, p[n], middle[0] + o[n].x, middle[1] + o[n].y, middle[2] + o[n].z, u);
            for (int i = 0; i < 3; i++) {
                float m = u[i] * weight;
                sums[i] += m;
                sums[3 + i] += m * o[n].z;
                sums[6 + i] += m * o[n].y;
                sums[9 + i] += m * o[n].x;
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        corrections[(b->irregular + list.owner) * (LMI_BLOCK / 4) + k] =
            (float4)(sums[4 * k], sums[4 * k + 1], sums[4 * k + 2], sums[4 * k + 3]);
    }
}

/* The same on the way back: the sum over the regions of a particle. */
static inline void scatter_list(lmi_gpu_list list, __global const uint2 *restrict entries, __global const lmi_gpu_body *b,
                                __global const float4 *kept, __global float4 *corrections)
{
    const uint end = list.first + list.count;
    float sums[3] = {0.0f, 0.0f, 0.0f};
    for (uint at = list.first; at < end; at += AT_ONCE) {
        float4 t[AT_ONCE][3], o[AT_ONCE];
#pragma unroll
        for (uint n = 0; n < AT_ONCE; n++) {
            const uint2 entry = entries[min(at + n, end - 1)];
            __global const float4 *its = kept + (b->irregular + entry.x) * (LMI_BLOCK / 4);
            t[n][0] = its[0], t[n][1] = its[1], t[n][2] = its[2]; /* q, then the columns of T */
            o[n] = offset_of(entry, at + n < end);
        }
#pragma unroll
        for (uint n = 0; n < AT_ONCE; n++) {
            const float4 k = o[n];
            sums[0] += k.w * (t[n][0].x + ((t[n][0].w * k.x + t[n][1].z * k.y) + t[n][2].y * k.z));
            sums[1] += k.w * (t[n][0].y + ((t[n][1].x * k.x + t[n][1].w * k.y) + t[n][2].z * k.z));
            sums[2] += k.w * (t[n][0].z + ((t[n][1].y * k.x + t[n][2].x * k.y) + t[n][2].w * k.z));
        }
    }
    corrections[b->corrected + list.owner] = (float4)(sums[0], sums[1], sums[2], 0.0f);
}
