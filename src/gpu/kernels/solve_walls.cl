/*
 * Colliders have the last word: contact/contact.c after the contacts of all bodies are solved.
 *
 *   solve_starts    one work-group a body, before anything else: where its points were when the substep began, and its highest speed
 *   solve_impulse   one work-group a body: what colliders gave it, and how many of its points touch one
 *   solve_again     once a touch point: the colliders that other bodies have pushed it into. These contacts are solved by themselves,
 *                   by the kernels of solve_find.cl and solve.cl
 *   solve_inner     one work-group a body: particles that no touch point rides on meet colliders each for itself
 *   solve_behind    once a touch point: where meshes and height maps want the points that are still beyond them
 */

/* remember_points and fastest in contact/contact.c. behind: what solve_behind has left of the substep before. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_starts(__global const lmi_gpu_meeter *meeters, __global lmi_gpu_bulk *solids, __global const lmi_gpu_body *bodies,
             HOLD_ARGUMENTS, __global const float4 *x, __global const float4 *v, float h, __global const float4 *behind,
             __global float4 *starts)
{
    __local double slots[GROUP];
    const holds o = HOLDS;
    __global const lmi_gpu_meeter *m = meeters + get_group_id(0);
    __global const lmi_gpu_body *b = bodies + m->record;
    const uint id = get_local_id(0);
    float square = 0.0f;
    for (uint n = m->first_point + id; n < m->first_point + m->points; n += GROUP) {
        starts[n] = (sum_point(&o, n, x) - h * sum_point(&o, n, v)) + behind[n];
    }
    for (uint n = b->first + id; n < b->first + b->particles; n += GROUP) {
        square = fmax(square, quad_dot(v[n], v[n]));
    }
    square = (float)join_group(slots, square, true);
    if (id == 0) {
        solids[get_group_id(0)].fastest = sqrt(square);
    }
}

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
                          __global const float4 *now, __global const float4 *v, WALL_ARGUMENTS, double fall,
                          __global ulong *met, __global ulong *turned, __global ulong *walls)
{
    const holds o = HOLDS;
    const wall_view view = WALL_VIEW;
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global const lmi_gpu_bulk *s = solids + owner[n];
    __global const lmi_gpu_body *b = bodies + meeters[owner[n]].record;
    met[n] = turned[n] = walls[n] = 0;
    if (s->touched && s->surfaces) {
        walls[n] = walls_of(&view, s->surfaces, owner[n], b, n, now[n], sum_point(&o, n, v), (float)slop_of(b, fall),
                            0.002 * b->rest_size);
    }
}

/* One particle against one collider; whether it touched. */
static bool meet_alone(const wall_view *view, __global const lmi_gpu_surface *surface, __global const lmi_gpu_body *b,
                       const double origin[3], __global const float4 *start, float x[3], float v[3])
{
    surface_here s = wall_at(view, surface, b, origin);
    if (!is_solid(surface)) {
        return surface_meet(&s, x, v);
    }
    float n[3], depth = depth_in_ground(view, surface, origin, x, *start, s.margin, n);
    return surface_respond(&s, depth, n, x, v);
}

/* inner: bits of the particles of each block. particle_starts: where particles were, where there are meshes or height maps. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
solve_inner(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids, __global lmi_gpu_body *bodies,
            __global const lmi_gpu_push *pushes, __global const uint *inner, WALL_ARGUMENTS,
            __global const float4 *particle_starts, __global float4 *x, __global float4 *v)
{
    __local double slots[GROUP];
    const wall_view view = WALL_VIEW;
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
            met += meet_alone(&view, surfaces + wall_of(&view, get_group_id(0), left & -left), b, origin, particle_starts + n,
                              at, u);
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
    if (get_local_id(0) == 0 && meeters[get_group_id(0)].maps == 0 && b->contacts == 0) {
        b->contacts = (uint)touched; /* where points touch, and of bodies that meet others, points alone count */
    }
}

/* note_behind in contact/contact.c: there the next substep takes the way of a point to begin. */
__kernel void solve_behind(uint count, __global const uint *owner, __global const lmi_gpu_meeter *meeters,
                           __global const lmi_gpu_bulk *solids, __global const lmi_gpu_body *bodies, HOLD_ARGUMENTS,
                           WALL_ARGUMENTS, __global const float4 *x, __global float4 *behind)
{
    const holds o = HOLDS;
    const wall_view view = WALL_VIEW;
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    const uint a = owner[n];
    __global const lmi_gpu_body *b = bodies + meeters[a].record;
    const float4 still = (float4)(0.0f, 0.0f, 0.0f, 0.0f), at = sum_point(&o, n, x);
    float4 left_behind = still;
    for (ulong left = solids[a].surfaces; left; left &= left - 1) {
        uint collider = wall_of(&view, a, left & -left);
        if (is_solid(surfaces + collider)) {
            at_wall w = find_at_wall(&view, collider, b, n, at, still, 0.0f);
            left_behind = w.depth > 0.0f ? w.depth * quad_of(w.normal[0], w.normal[1], w.normal[2]) : left_behind;
        }
    }
    behind[n] = left_behind;
}
