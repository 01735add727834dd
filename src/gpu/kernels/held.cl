/*
 * Drags and bones that pull, before colliders; pins and bones that hold, after them: world/held.h, which is compiled before this
 * text, for all particles of a body at once. One work-group a body: what it was given is added up in a fixed order.
 */

#define GROUP 64

static lm_dvec3 dvec_in(__global const double *a) { return dvec(a[0], a[1], a[2]); }

/* The sum of what all work-items have, for all of them. */
static lm_dvec3 add_up(__local double *slots, lm_dvec3 mine)
{
    const uint id = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    slots[id] = mine.x, slots[GROUP + id] = mine.y, slots[2 * GROUP + id] = mine.z;
    barrier(CLK_LOCAL_MEM_FENCE);
    lm_dvec3 sum = lm_dvec3_zero();
    for (uint n = 0; n < GROUP; n++) {
        sum = dvec_add(sum, dvec(slots[n], slots[GROUP + n], slots[2 * GROUP + n]));
    }
    return sum;
}

static lmi_holder carrier_at(__global const lmi_gpu_carrier *from)
{
    lmi_holder c;
    for (int i = 0; i < 9; i++) {
        c.rotation.m[i / 3][i % 3] = from->rotation[i];
    }
    c.position = dvec_in(from->position);
    c.velocity = dvec_in(from->velocity);
    c.spin = dvec_in(from->spin);
    return c;
}

/* Where a particle belongs, and how that moves: find_target in skeleton/bones.c. */
static lm_dvec3 target_of(__global const lmi_gpu_held_particle *p, __global const lmi_gpu_link *links,
                          __global const lmi_gpu_carrier *carriers, lm_dvec3 *velocity)
{
    lm_dvec3 target = lm_dvec3_zero();
    *velocity = target;
    for (uint k = p[0].link; k < p[1].link; k++) {
        lmi_holder c = carrier_at(carriers + links[k].carrier);
        lm_dvec3 moves, at = lmi_carry(&c, dvec_in(links[k].place), &moves);
        target = dvec_add(target, dvec_scale(at, links[k].share));
        *velocity = dvec_add(*velocity, dvec_scale(moves, links[k].share));
    }
    return target;
}

static void note_impulse(__global lmi_gpu_body *b, lm_dvec3 given)
{
    b->impulse[0] += given.x;
    b->impulse[1] += given.y;
    b->impulse[2] += given.z;
}

/* Particles on bones and pins: pulled to where they belong, or put there. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
held_grip(__global const lmi_gpu_grip *restrict grips, __global const lmi_gpu_held_particle *restrict held,
          __global const lmi_gpu_link *restrict links, __global const lmi_gpu_carrier *restrict carriers,
          __global lmi_gpu_body *restrict bodies, __global float4 *restrict x, __global float4 *restrict v, double h, uint pulls)
{
    __local double slots[3 * GROUP];
    const lmi_gpu_grip grip = grips[get_group_id(0)];
    __global lmi_gpu_body *b = bodies + grip.body;
    const lm_dvec3 origin = dvec_in(b->origin);
    lm_dvec3 given = lm_dvec3_zero();
    for (uint n = get_local_id(0); n < grip.count; n += GROUP) {
        __global const lmi_gpu_held_particle *p = held + grip.first + n;
        float4 at = x[p->particle], speed = v[p->particle];
        float px[3] = {at.x, at.y, at.z}, pv[3] = {speed.x, speed.y, speed.z};
        lm_dvec3 moves, target = target_of(p, links, carriers, &moves);
        lm_dvec3 change = pulls ? lmi_pull_particle(px, pv, origin, target, moves, p->weight, grip.base,
                                                    grip.damping_ratio, h)
                                : lmi_hold_particle(px, pv, origin, target, moves);
        given = dvec_add(given, dvec_scale(change, speed.w));
        x[p->particle] = (float4)(px[0], px[1], px[2], at.w);
        v[p->particle] = (float4)(pv[0], pv[1], pv[2], speed.w);
    }
    given = add_up(slots, given);
    if (get_local_id(0) == 0) {
        note_impulse(b, given);
    }
}

/* One drag; returns what it gave to this work-item's particles. */
static lm_dvec3 drag_along(__global const lmi_gpu_drag *drag, __global const uint *particles, __global const float *weights,
                           lm_dvec3 origin, __global float4 *x, __global float4 *v, double h, __local double *slots)
{
    lmi_dragged mine = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.0};
    for (uint n = drag->first + get_local_id(0); n < drag->first + drag->count; n += GROUP) {
        float4 at = x[particles[n]], speed = v[particles[n]];
        const float px[3] = {at.x, at.y, at.z}, pv[3] = {speed.x, speed.y, speed.z};
        lmi_drag_weigh(&mine, px, pv, speed.w, weights[n], h);
    }
    mine.x = add_up(slots, mine.x);
    mine.v = add_up(slots, mine.v);
    mine.mobility = add_up(slots, dvec(mine.mobility, 0.0, 0.0)).x;
    const lmi_drag_spring spring = {dvec_sub(dvec_in(drag->target), origin), drag->hertz, drag->damping_ratio,
                                    drag->max_force, drag->whole, drag->mean_mass};
    lm_dvec3 impulse = lmi_drag_impulse(&spring, &mine, h), given = lm_dvec3_zero();
    for (uint n = drag->first + get_local_id(0); n < drag->first + drag->count; n += GROUP) {
        float4 at = x[particles[n]], speed = v[particles[n]];
        float px[3] = {at.x, at.y, at.z}, pv[3] = {speed.x, speed.y, speed.z};
        lm_dvec3 done = lmi_change_velocity(pv, dvec_scale(impulse, weights[n]));
        given = dvec_add(given, dvec_scale(done, speed.w));
        lmi_move_on(px, done, h);
        x[particles[n]] = (float4)(px[0], px[1], px[2], at.w);
        v[particles[n]] = (float4)(pv[0], pv[1], pv[2], speed.w);
    }
    return given;
}

/* The drags of a body one after the other, each with what the ones before have changed; `forces` in newtons. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
held_drag(__global const lmi_gpu_grip *restrict grips, __global const lmi_gpu_drag *restrict drags,
          __global const uint *restrict particles, __global const float *restrict weights, __global lmi_gpu_body *restrict bodies,
          __global float4 *x, __global float4 *v, double h, __global float4 *restrict forces)
{
    __local double slots[3 * GROUP];
    const lmi_gpu_grip grip = grips[get_group_id(0)];
    __global lmi_gpu_body *b = bodies + grip.body;
    for (uint n = grip.first; n < grip.first + grip.count; n++) {
        lm_dvec3 given = drag_along(drags + n, particles, weights, dvec_in(b->origin), x, v, h, slots);
        given = add_up(slots, given);
        if (get_local_id(0) == 0) {
            lm_vec3 force = vec_from(dvec_limit(dvec_scale(given, drags[n].mean_mass / h), MAXFLOAT));
            forces[n] = (float4)(force.x, force.y, force.z, 0.0f);
            note_impulse(b, given);
        }
        barrier(CLK_GLOBAL_MEM_FENCE); /* another drag may pull the same particles */
    }
}
