/*
 * Queries of a world that need no particles.
 *
 *   look_bodies   of each body: origin, what it was given by colliders, contacts
 *   look_totals   of each chunk of particles: momentum, its scale, energy, the highest speed, whether all is finite; first and second
 *                 moments, angular momentum and bounds
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
        to[LMI_GPU_LOOK_IMPULSE + i] = b->impulse[i];
    }
    to[LMI_GPU_LOOK_CONTACTS] = b->contacts;
}

static bool is_finite(float4 p) { return isfinite(p.x) && isfinite(p.y) && isfinite(p.z); }

/* One particle's share of the totals. */
static void add_particle(float4 at, float4 u, double unit, double s[LMI_GPU_TOTALS])
{
    const double mass = u.w * unit, x[3] = {at.x, at.y, at.z}, v[3] = {u.x, u.y, u.z};
    double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], speed = sqrt(square);
    s[LMI_GPU_TOTAL_SCALE] += mass * speed;
    s[LMI_GPU_TOTAL_ENERGY] += 0.5 * mass * square;
    s[LMI_GPU_TOTAL_SPEED] = fmax(s[LMI_GPU_TOTAL_SPEED], speed);
    s[LMI_GPU_TOTAL_UNSOUND] += !is_finite(u) || !is_finite(at);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        s[LMI_GPU_TOTAL_MOMENTUM + i] += v[i] * mass;
        s[LMI_GPU_TOTAL_FIRST + i] += x[i] * mass;
        s[LMI_GPU_TOTAL_ANGULAR + i] += (x[j] * v[k] - x[k] * v[j]) * mass;
        s[LMI_GPU_TOTAL_SECOND + i] += mass * x[i] * x[i];
        s[LMI_GPU_TOTAL_SECOND + 3 + i] += mass * x[i] * x[j];
        s[LMI_GPU_TOTAL_LOWER + i] = fmin(s[LMI_GPU_TOTAL_LOWER + i], x[i]);
        s[LMI_GPU_TOTAL_UPPER + i] = fmax(s[LMI_GPU_TOTAL_UPPER + i], x[i]);
    }
}

static double join(int i, double a, double b)
{
    bool most = i == LMI_GPU_TOTAL_SPEED || i >= LMI_GPU_TOTAL_UPPER;
    return most ? fmax(a, b) : i >= LMI_GPU_TOTAL_LOWER ? fmin(a, b) : a + b;
}

__kernel void look_totals(__global const lmi_gpu_chunk *chunks, __global const lmi_gpu_body *bodies,
                          __global const float4 *x, __global const float4 *v, __global double *to)
{
    __local double sums[LMI_GPU_TOTALS][LOOK_GROUP];
    const lmi_gpu_chunk chunk = chunks[get_group_id(0)];
    const double unit = bodies[chunk.body].mean_mass;
    uint id = get_local_id(0);
    double s[LMI_GPU_TOTALS];
    for (int i = 0; i < LMI_GPU_TOTALS; i++) {
        s[i] = i >= LMI_GPU_TOTAL_UPPER ? -INFINITY : i >= LMI_GPU_TOTAL_LOWER ? INFINITY : 0.0;
    }
    for (uint n = id; n < chunk.count; n += LOOK_GROUP) {
        float4 u = v[chunk.first + n];
        if (u.w > 0.0f) { /* else there is no particle */
            add_particle(x[chunk.first + n], u, unit, s);
        }
    }
    for (int i = 0; i < LMI_GPU_TOTALS; i++) {
        sums[i][id] = s[i];
    }
    for (uint step = LOOK_GROUP / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; id < step && i < LMI_GPU_TOTALS; i++) {
            sums[i][id] = join(i, sums[i][id], sums[i][id + step]);
        }
    }
    for (int i = 0; id == 0 && i < LMI_GPU_TOTALS; i++) {
        to[get_group_id(0) * LMI_GPU_TOTALS + i] = sums[i][0];
    }
}
