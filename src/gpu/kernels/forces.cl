/*
 * Forces that are not the same for all particles of a world, before the motion of bodies is found: match/predict.c.
 *
 *   blow    wind, point fields, and forces on bodies as a whole: one work-group a chunk of particles
 *   jab     forces on single particles
 *   count   what wind and point fields have given, once a body
 *
 * Velocities are other ones then, so the bodies are measured again (body.cl).
 */

#define GROUP 64

static inline void add_flow(__global const lmi_gpu_flow *flow, const float to[3], const float v[3], float change[3])
{
    if (flow->wind) {
        for (int i = 0; i < 3; i++) {
            change[i] = flow->strength * (flow->vector[i] - v[i]);
        }
        return;
    }
    float distance = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
    float fall = vf_max(1.0f - distance * (1.0f / flow->radius), 0.0f);
    float scale = flow->strength * fall / vf_max(distance, 1e-12f);
    for (int i = 0; i < 3; i++) {
        change[i] = scale * to[i];
    }
}

/* `pushes`: of each body, the change of all its velocities. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
blow(__global const lmi_gpu_body *bodies, __global const lmi_gpu_chunk *chunks, __global const float4 *x,
     __global float4 *v, __global const lmi_gpu_flow *flows, uint flow_count, __global const float4 *pushes,
     __global float4 *given)
{
    __local float slots[3][GROUP];
    lmi_gpu_chunk c = chunks[get_group_id(0)];
    __global const lmi_gpu_body *b = bodies + c.body;
    uint id = get_local_id(0);
    float4 push = pushes[c.body];
    float sums[3] = {0.0f, 0.0f, 0.0f};
    for (uint n = c.first + id; n < c.first + c.count; n += GROUP) {
        float4 p = x[n], q = v[n];
        float u[3] = {q.x, q.y, q.z}, change[3], to[3];
        if (!(q.w > 0.0f)) {
            continue;
        }
        for (uint f = 0; f < flow_count; f++) {
            to[0] = (float)clamp(flows[f].position[0] - b->origin[0], -1e9, 1e9) - p.x;
            to[1] = (float)clamp(flows[f].position[1] - b->origin[1], -1e9, 1e9) - p.y;
            to[2] = (float)clamp(flows[f].position[2] - b->origin[2], -1e9, 1e9) - p.z;
            add_flow(flows + f, to, u, change);
            for (int i = 0; i < 3; i++) {
                sums[i] += q.w * change[i];
                u[i] += change[i];
            }
        }
        v[n] = (float4)(vf_clamp(u[0] + push.x, -LM_MAX_SPEED, LM_MAX_SPEED),
                        vf_clamp(u[1] + push.y, -LM_MAX_SPEED, LM_MAX_SPEED),
                        vf_clamp(u[2] + push.z, -LM_MAX_SPEED, LM_MAX_SPEED), q.w);
    }
    for (int i = 0; i < 3; i++) {
        slots[i][id] = sums[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        for (uint n = 1; n < GROUP; n++) {
            for (int i = 0; i < 3; i++) {
                sums[i] += slots[i][n];
            }
        }
        given[c.partial] = (float4)(sums[0], sums[1], sums[2], 0.0f);
    }
}

/* One work-group for all: an item takes the particles whose number is its own, so that those of one particle are added in
 * their order. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void jab(__global float4 *v, __global const lmi_gpu_jab *jabs,
                                                                    uint count)
{
    for (uint n = 0; n < count; n++) {
        uint at = jabs[n].particle;
        if (at % GROUP == get_local_id(0)) {
            v[at].x = vf_clamp(v[at].x + jabs[n].change[0], -LM_MAX_SPEED, LM_MAX_SPEED);
            v[at].y = vf_clamp(v[at].y + jabs[n].change[1], -LM_MAX_SPEED, LM_MAX_SPEED);
            v[at].z = vf_clamp(v[at].z + jabs[n].change[2], -LM_MAX_SPEED, LM_MAX_SPEED);
        }
    }
}

__kernel void count(__global lmi_gpu_body *bodies, uint body_count, __global const float4 *given)
{
    uint n = get_global_id(0);
    if (n >= body_count) {
        return;
    }
    __global lmi_gpu_body *b = bodies + n;
    for (uint k = b->first_measure; k < b->first_measure + b->measures; k++) {
        b->impulse[0] += given[k].x;
        b->impulse[1] += given[k].y;
        b->impulse[2] += given[k].z;
    }
}
