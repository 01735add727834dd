/*
 * What is asked of a world without its particles.
 *
 *   look_bodies   of each body: origin, bounds, what it was given by colliders, contacts
 *   look_totals   of each chunk of particles: momentum, its scale, energy, the highest speed, whether all is finite
 *
 * Double precision, and sums of a fixed shape.
 */

#define LOOK_GROUP 64

__kernel void look_bodies(uint count, __global const lmi_gpu_body *bodies, __global double *to)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global const lmi_gpu_body *b = bodies + n;
    to += n * LMI_GPU_LOOK_NUMBERS;
    for (int i = 0; i < 3; i++) {
        to[LMI_GPU_LOOK_ORIGIN + i] = b->origin[i];
        to[LMI_GPU_LOOK_LOWER + i] = b->lower[i];
        to[LMI_GPU_LOOK_UPPER + i] = b->upper[i];
        to[LMI_GPU_LOOK_IMPULSE + i] = b->impulse[i];
    }
    to[LMI_GPU_LOOK_CONTACTS] = b->contacts;
}

static bool is_finite(float4 p) { return isfinite(p.x) && isfinite(p.y) && isfinite(p.z); }

__kernel void look_totals(__global const lmi_gpu_chunk *chunks, __global const lmi_gpu_body *bodies,
                          __global const float4 *x, __global const float4 *v, __global double *to)
{
    __local double sums[LMI_GPU_TOTALS][LOOK_GROUP];
    const lmi_gpu_chunk chunk = chunks[get_group_id(0)];
    const double unit = bodies[chunk.body].mean_mass;
    uint id = get_local_id(0);
    double s[LMI_GPU_TOTALS] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (uint n = id; n < chunk.count; n += LOOK_GROUP) {
        float4 u = v[chunk.first + n];
        if (u.w > 0.0f) { /* else there is no particle */
            double mass = u.w * unit, speed = sqrt((double)u.x * u.x + (double)u.y * u.y + (double)u.z * u.z);
            s[LMI_GPU_TOTAL_MOMENTUM] += u.x * mass;
            s[LMI_GPU_TOTAL_MOMENTUM + 1] += u.y * mass;
            s[LMI_GPU_TOTAL_MOMENTUM + 2] += u.z * mass;
            s[LMI_GPU_TOTAL_SCALE] += mass * speed;
            s[LMI_GPU_TOTAL_ENERGY] += 0.5 * mass * speed * speed;
            s[LMI_GPU_TOTAL_SPEED] = fmax(s[LMI_GPU_TOTAL_SPEED], speed);
            s[LMI_GPU_TOTAL_UNSOUND] += !is_finite(u) || !is_finite(x[chunk.first + n]);
        }
    }
    for (int i = 0; i < LMI_GPU_TOTALS; i++) {
        sums[i][id] = s[i];
    }
    for (uint step = LOOK_GROUP / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; id < step && i < LMI_GPU_TOTALS; i++) {
            double other = sums[i][id + step];
            sums[i][id] = i == LMI_GPU_TOTAL_SPEED ? fmax(sums[i][id], other) : sums[i][id] + other;
        }
    }
    for (int i = 0; id == 0 && i < LMI_GPU_TOTALS; i++) {
        to[get_group_id(0) * LMI_GPU_TOTALS + i] = sums[i][0];
    }
}
