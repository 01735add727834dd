/*
 * The account of depth cube maps (account.cl): lmi_penalty_push in contact/penalty.c. Points that are only near keep a touch that
 * began before.
 */

/* How points and places of maps move; hold: weight and gradient of a particle. */
static lm_dvec3 velocity_of_point(uint n, __global const uint *first, __global const uint *rider, __global const float *weight,
                                  __global const float4 *v)
{
    float u[3] = {0.0f, 0.0f, 0.0f};
    for (uint k = first[n]; k < first[n + 1]; k++) {
        float4 p = v[rider[k]];
        u[0] += weight[k] * p.x, u[1] += weight[k] * p.y, u[2] += weight[k] * p.z;
    }
    return dvec(u[0], u[1], u[2]);
}

static lm_dvec3 velocity_in_map(uint n, const float place[3], __global const uint *first, __global const uint *rider,
                                __global const float4 *hold, __global const float4 *v)
{
    float u[3] = {0.0f, 0.0f, 0.0f};
    for (uint k = first[n]; k < first[n + 1]; k++) {
        float4 p = v[rider[k]], w = hold[k];
        float weight = w.x + ((w.y * place[0] + w.z * place[1]) + w.w * place[2]);
        u[0] += weight * p.x, u[1] += weight * p.y, u[2] += weight * p.z;
    }
    return dvec(u[0], u[1], u[2]);
}

/* lmi_contact_slop of two bodies. */
static float slop_of(__global const lmi_gpu_body *a, __global const lmi_gpu_body *b, double fall)
{
    return (float)fmin(fall, 0.01 * fmin(a->rest_size, b->rest_size));
}

/* Before meet_apply: the velocities that points come with. fall: as in lmi_contact_slop. A work-item takes a partner. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
account_cubes(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_body *bodies, __global const uint *partners, float h,
              double fall, __global const uint *point_first, __global const uint *point_rider,
              __global const float *point_weight, __global const uint *map_first, __global const uint *map_rider,
              __global const float4 *map_hold, __global const float4 *now, __global const float *maps,
              __global const float *depths, __global const float4 *v, uint events, __global lmi_gpu_told *lists,
              __global double *all, __global uint *counts)
{
    __local uint slots[GROUP];
    const uint id = get_local_id(0), who = get_group_id(0);
    __global const lmi_gpu_meeter *a = meeters + who;
    __global const lmi_gpu_body *body = bodies + a->record;
    const bool wanted = id < a->partners;
    const uint with = wanted ? partners[who * LMI_GPU_PARTNERS + id] : who;
    __global const lmi_gpu_meeter *b = meeters + with;
    const float slop = slop_of(body, bodies + b->record, fall);
    account own = account_none();
    for (uint n = a->first_point; wanted && n < a->first_point + a->points; n++) {
        in_map in;
        const float4 at = now[n];
        const float depth = depth_between(a, b, bodies, at, maps, depths, &in);
        if (!(depth + slop > 0.0f)) {
            continue;
        }
        const double pressed = penalty_pair(a->penalty, b->penalty) * fmax(depth, 0.0f) * h;
        const lm_dvec3 normal = dvec(in.normal[0], in.normal[1], in.normal[2]);
        const lm_dvec3 u = dvec_sub(velocity_of_point(n, point_first, point_rider, point_weight, v),
                                    velocity_in_map(b->first_map + in.map, in.place, map_first, map_rider, map_hold, v));
        account_add(&own, dvec(body->origin[0] + at.x, body->origin[1] + at.y, body->origin[2] + at.z), normal,
                    dvec_scale(normal, pressed), pressed, -dvec_dot(u, normal), pressed > 0.0);
    }
    account_note(slots, with, &own, events, lists, all, counts);
}
