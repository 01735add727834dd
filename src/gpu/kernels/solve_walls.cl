/*
 * Colliders have the last word: step/contact.c after the contacts of all bodies are solved.
 *
 *   solve_impulse   one work-group a body: what colliders gave it, and how many of its points touch one
 *   solve_again     once a touch point: the colliders that other bodies have pushed it into. These contacts are solved by themselves,
 *                   by the kernels of solve_find.cl and solve.cl
 *   solve_inner     one work-group a body: particles that no touch point rides on meet colliders each for itself
 */

/* What a work-group's items have added up, to the impulse of their body. */
static void add_impulse(__local double *slots, const double own[3], __global lmi_gpu_body *b)
{
    for (int i = 0; i < 3; i++) {
        double all = join_group(slots, own[i], false);
        if (get_local_id(0) == 0) {
            b->impulse[i] += all;
        }
    }
}

/* counted: contacts count, and are not counted again when walls have the last word. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_impulse(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids, __global lmi_gpu_body *bodies,
              __global const lmi_gpu_contact *contacts, uint counted)
{
    __local double slots[GROUP];
    __global const lmi_gpu_bulk *s = solids + get_group_id(0);
    __global lmi_gpu_body *b = bodies + meeters[get_group_id(0)].record;
    const uint id = get_local_id(0);
    double sum[3] = {0.0, 0.0, 0.0}, touched = 0.0;
    for (uint n = id; n < s->contacts; n += GROUP) {
        __global const lmi_gpu_contact *c = contacts + s->first_contact + n;
        if (c->b == LMI_GPU_NONE) {
            quad given = c->pressed * c->normal + c->braked;
            sum[0] += given.x;
            sum[1] += given.y;
            sum[2] += given.z;
            touched += c->pressed > 0.0f || c->shifted > 0.0f;
        }
    }
    add_impulse(slots, sum, b);
    touched = join_group(slots, touched, false);
    if (id == 0 && counted) {
        b->contacts = (uint)touched;
    }
}

__kernel void solve_again(uint count, __global const uint *owner, __global const lmi_gpu_meeter *meeters,
                          __global const lmi_gpu_bulk *solids, __global const lmi_gpu_body *bodies, HOLD_ARGUMENTS,
                          __global const float4 *now, __global const float4 *v,
                          __global const lmi_gpu_surface *surfaces, float h, __global ulong *met,
                          __global ulong *turned, __global ulong *walls)
{
    const holds o = HOLDS;
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global const lmi_gpu_bulk *s = solids + owner[n];
    __global const lmi_gpu_body *b = bodies + meeters[owner[n]].record;
    met[n] = turned[n] = 0;
    walls[n] = s->touched && s->surfaces ? walls_of(s->surfaces, surfaces, b, now[n], sum_point(&o, n, v), h,
                                                    0.002 * b->rest_size)
                                         : 0;
}

/* inner: bits of the particles of each block. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_inner(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids, __global lmi_gpu_body *bodies,
            __global const lmi_gpu_push *pushes, __global const uint *inner, __global const lmi_gpu_surface *surfaces,
            float h, __global float4 *x, __global float4 *v)
{
    __local double slots[GROUP];
    __global lmi_gpu_body *b = bodies + meeters[get_group_id(0)].record;
    const ulong may = solids[get_group_id(0)].surfaces;
    const double origin[3] = {b->origin[0], b->origin[1], b->origin[2]};
    double sum[3] = {0.0, 0.0, 0.0}, touched = 0.0;
    /* A body that has answered as a whole, in full, has no particles on the wrong side. */
    if (!may || pushes[get_group_id(0)].rigid == 1.0f) {
        return; /* all of the group */
    }
    for (uint n = b->first + get_local_id(0); n < b->first + b->particles; n += GROUP) {
        float4 px = x[n], pv = v[n];
        if (!(inner[n / LMI_BLOCK] >> n % LMI_BLOCK & 1) || !(pv.w > 0.0f)) {
            continue;
        }
        float at[3] = {px.x, px.y, px.z}, u[3] = {pv.x, pv.y, pv.z};
        uint met = 0;
        for (ulong left = may; left; left &= left - 1) {
            surface_here s = surface_at(surfaces + (63 - (uint)clz(left & -left)), b, origin, h);
            met += surface_meet(&s, at, u);
        }
        if (met) {
            sum[0] += pv.w * (u[0] - pv.x), sum[1] += pv.w * (u[1] - pv.y), sum[2] += pv.w * (u[2] - pv.z);
            touched += met;
            x[n] = (float4)(at[0], at[1], at[2], px.w);
            v[n] = (float4)(u[0], u[1], u[2], pv.w);
        }
    }
    add_impulse(slots, sum, b);
    touched = join_group(slots, touched, false);
    if (get_local_id(0) == 0 && meeters[get_group_id(0)].maps == 0) { /* of bodies that meet others points alone count */
        b->contacts += (uint)touched;
    }
}
