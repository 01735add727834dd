/*
 * Bodies that are pushed out of each other by a force and not by contacts that are solved (contact/penalty.c), among all that solve.cl
 * knows: colliders, lattices, bodies that touch themselves, that answer as a whole, that are fast.
 *
 *   press_find    once a contact: what it is pushed with, of two bodies; those with colliders wait
 *   press_bound   once a contact of two bodies: no more than is stable, when solve_weigh has said how mobile it is
 *   press_share   one work-group a body: takes back, of what its particles were given, the share that acts on the body as a whole
 *   press_whole   one work-group a body: gives that to the body
 *   press_done    once a contact: of two bodies it is over, and those with colliders are solved
 *
 * Contacts are found and held as those that are solved are (solve_find.cl); the kernels of solve.cl give them to the particles.
 */

static bool is_pressed(__global const lmi_gpu_contact *c) { return c->b != LMI_GPU_NONE; }

__kernel void press_find(uint count, __global const lmi_gpu_meeter *meeters, __global const lmi_gpu_body *bodies, float h,
                         __global lmi_gpu_contact *contacts)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global lmi_gpu_contact *c = contacts + n;
    if (!is_pressed(c)) {
        c->live = c->live == LMI_GPU_SOFT ? LMI_GPU_WAITS : c->live;
        return;
    }
    /* find_impulse in contact/penalty.c */
    c->found = fmin(c->found, (float)fmin((double)bodies[meeters[c->a].record].rest_size, (double)bodies[meeters[c->b].record].rest_size));
    const double stiffness = penalty_pair(meeters[c->a].penalty, meeters[c->b].penalty);
    const double impulse = stiffness * fmax((double)c->found, 0.0) * h;
    c->pressed = (float)(impulse / meeters[c->a].mean_mass);
    c->live = c->pressed > 0.0f ? LMI_GPU_SOFT : LMI_GPU_NEAR;
    c->deep = 0.0f; /* those that are only near are told of as well */
}

/* lmi_penalty_bound */
__kernel void press_bound(uint count, float h, __global lmi_gpu_contact *contacts)
{
    uint n = get_global_id(0);
    if (n < count && is_pressed(contacts + n)) {
        __global lmi_gpu_contact *c = contacts + n;
        c->pressed = c->live == LMI_GPU_SOFT ? fmin(c->pressed, c->found / (h * c->deep)) : 0.0f;
        c->more = c->pressed * c->normal;
    }
}

/* before: velocities, as they were. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
press_share(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_body *bodies, __global const lmi_gpu_push *pushes,
            __global const float4 *before, __global float4 *v)
{
    __global const lmi_gpu_body *b = bodies + meeters[get_group_id(0)].record;
    const float rigid = pushes[get_group_id(0)].rigid;
    for (uint n = b->first + get_local_id(0); rigid > 0.0f && n < b->first + b->particles; n += GROUP) {
        v[n] = before[n] + (1.0f - rigid) * (v[n] - before[n]);
    }
}

/* An impulse at `arm` to sums of impulses and of torques. */
static void add_push(double sum[6], quad arm, quad impulse)
{
    const quad torque = quad_cross(arm, impulse);
    sum[0] += impulse.x, sum[1] += impulse.y, sum[2] += impulse.z;
    sum[3] += torque.x, sum[4] += torque.y, sum[5] += torque.z;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
press_whole(__global const lmi_gpu_bulk *solids, __global const uint *list, __global const lmi_gpu_contact *contacts,
            __global lmi_gpu_push *pushes)
{
    __local double slots[GROUP];
    __global const lmi_gpu_bulk *s = solids + get_group_id(0);
    __global lmi_gpu_push *p = pushes + get_group_id(0);
    double sum[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    if (!(p->rigid > 0.0f)) {
        return; /* all of the group */
    }
    for (uint n = get_local_id(0); n < s->contacts; n += GROUP) {
        __global const lmi_gpu_contact *c = contacts + s->first_contact + n;
        if (is_pressed(c) && c->live == LMI_GPU_SOFT) {
            add_push(sum, c->arm_a, c->more);
        }
    }
    for (uint n = get_local_id(0); n < s->listed; n += GROUP) {
        __global const lmi_gpu_contact *c = contacts + list[s->first_listed + n];
        if (c->live == LMI_GPU_SOFT) {
            add_push(sum, c->arm_b, -c->ratio * c->more);
        }
    }
    for (int i = 0; i < 6; i++) {
        sum[i] = join_group(slots, sum[i], false);
    }
    if (get_local_id(0) == 0) {
        const quad impulse = quad_of((float)sum[0], (float)sum[1], (float)sum[2]);
        const float torque[3] = {(float)sum[3], (float)sum[4], (float)sum[5]};
        p->velocity += (p->rigid * p->inverse_mass) * impulse;
        p->mean += p->inverse_mass * impulse;
        p->spin += p->rigid * ((p->turning[0] * torque[0] + p->turning[1] * torque[1]) + p->turning[2] * torque[2]);
    }
}

/* state: that of solve_weigh, which begins again. */
__kernel void press_done(uint count, __global lmi_gpu_contact *contacts, __global int *state)
{
    uint n = get_global_id(0);
    if (n == 0) {
        state[3] = 0;
    }
    if (n < count && contacts[n].live == LMI_GPU_WAITS) {
        contacts[n].live = LMI_GPU_SOFT;
    }
    if (n < count && is_pressed(contacts + n)) {
        contacts[n].live = LMI_GPU_NEAR;
        contacts[n].pressed = 0.0f;
        contacts[n].more = quad_of(0.0f, 0.0f, 0.0f);
        contacts[n].deep = 1.0f; /* it was told of */
    }
}
