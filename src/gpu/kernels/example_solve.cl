/*
 * Examples of regions (examples.h), whatever the regions are made of: their channels on the way to private memory and back, and the
 * mixes of groups of regions. The stretch, the products and the mix are match/example_lanes.h, and the projection is
 * match/project.h: those texts, which come before this one.
 */

#undef number
#undef mask
#undef project_weights

#define GROUP 64
#define MOST_CHANNELS 128 /* LM_MAX_EXAMPLES: 13 + 8 n + n (n + 1) / 2 = 113 */

static void load_channels(__global const float *from, uint count, float *to)
{
    for (uint k = 0; k < count; k++) {
        to[k] = from[k * LMI_BLOCK];
    }
}

static void store_channels(const float *from, uint first, uint count, __global float *to)
{
    for (uint k = first; k < first + count; k++) {
        to[k * LMI_BLOCK] = from[k];
    }
}

/* groups: first member, end of its members, first of its numbers (Gram matrix, then the scale), first of its weights. words:
 * how many examples, and whether weights are forced. Groups from `first` on. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
example_solve_groups(uint first, __global const uint4 *groups, __global const uint2 *words, __global const uint *members,
                     __global const double *numbers, __global float *channels, __global float *weights)
{
    __local double slots[LM_MAX_EXAMPLES][GROUP];
    __local float found[LM_MAX_EXAMPLES];
    const uint own = first + get_group_id(0), id = get_local_id(0), count = words[own].x;
    const uint4 g = groups[own];
    double sums[LM_MAX_EXAMPLES];
    for (uint k = 0; k < count; k++) {
        sums[k] = 0.0;
        for (uint n = g.x + id; n < g.y; n += GROUP) {
            sums[k] += channels[members[n] + lmi_example_dots(count) * LMI_BLOCK + k * LMI_BLOCK];
        }
        slots[k][id] = sums[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        double gram[LM_MAX_EXAMPLES * (LM_MAX_EXAMPLES + 1) / 2], w[LM_MAX_EXAMPLES];
        uint triangle = count * (count + 1) / 2;
        for (uint k = 0; k < triangle; k++) {
            gram[k] = numbers[g.z + k];
        }
        for (uint k = 0; k < count; k++) {
            for (uint n = 1; n < GROUP; n++) {
                sums[k] += slots[k][n];
            }
            sums[k] *= numbers[g.z + triangle];
        }
        project_weights_double((int)count, gram, sums, 0, w);
        for (uint k = 0; k < count; k++) {
            found[k] = words[own].y ? weights[g.w + k] : (float)w[k];
            weights[g.w + k] = found[k];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint n = g.x + id; n < g.y; n += GROUP) {
        for (uint k = 0; k < count; k++) {
            channels[members[n] + (LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK] = found[k];
        }
    }
}
