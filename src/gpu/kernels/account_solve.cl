/*
 * The account of contacts that are solved (account.cl): lmi_touched_solved in contact/touching.c, and put_down in contact/contact.c for
 * particles that meet colliders each for itself.
 */

#define ACCOUNT_ARGUMENTS                                                                                             \
    uint events, __global lmi_gpu_told *lists, __global double *all, __global uint *counts

/* Contacts that the host would have left out are not told of: neighbours that say the same, and what nothing can move. */
static bool is_told(__global const lmi_gpu_contact *c)
{
    return c->live != LMI_GPU_NEAR || (c->found < 0.0f && !(c->deep > 0.0f));
}

/* After the contacts are solved, and before bodies are given what they were given as a whole. walls: colliders, a work-item each;
 * else other bodies, in the order of the partners, and then the body
 * itself. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
account_solved(uint walls, __global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids,
               __global const lmi_gpu_body *bodies, __global const uint *partners, __global const uint *near_surfaces,
               __global const lmi_gpu_push *pushes, HOLD_ARGUMENTS, __global const float4 *x, __global const lmi_gpu_contact *contacts, ACCOUNT_ARGUMENTS)
{
    __local uint slots[GROUP];
    const holds o = HOLDS;
    const uint id = get_local_id(0), who = get_group_id(0), count = solids[who].contacts;
    const bool wanted = walls ? id < (uint)popcount(solids[who].surfaces) : id <= meeters[who].partners;
    const uint wall = walls && wanted ? near_surfaces[who * LMI_GPU_SOLVED_SURFACES + id] : 0;
    const uint with = walls ? LMI_GPU_NONE : id < meeters[who].partners ? partners[who * LMI_GPU_PARTNERS + id] : who;
    const double mass = meeters[who].mean_mass;
    __global const lmi_gpu_body *b = bodies + meeters[who].record;
    account own = account_none();
    for (uint n = 0; wanted && n < count; n++) {
        __global const lmi_gpu_contact *c = contacts + solids[who].first_contact + n;
        if (c->b != with || (walls && c->map != wall) || !is_told(c)) {
            continue;
        }
        quad at = sum_point(&o, c->point, x);
        at += c->live >= LMI_GPU_WHOLE ? pushes[who].move + quad_cross(pushes[who].turn, c->arm_a) : quad_of(0.0f, 0.0f, 0.0f);
        account_add(&own, dvec(b->origin[0] + at.x, b->origin[1] + at.y, b->origin[2] + at.z), quad_to(c->normal),
                    dvec_scale(quad_to(c->pressed * c->normal + c->braked), mass), mass * c->pressed, c->approach,
                    c->pressed > 0.0f || c->shifted > 0.0f);
    }
    account_note(slots, walls ? LMI_GPU_TOLD_WALL | wall : with, &own, events, lists, all, counts);
}

/* What one particle has of one collider of body `who` when all come in their order. */
static void add_inner(account *to, const wall_view *view, ulong may, uint who, uint which, __global const lmi_gpu_body *b,
                      double mean_mass, __global const float4 *start, float4 px, float4 pv)
{
    const double origin[3] = {b->origin[0], b->origin[1], b->origin[2]};
    float at[3] = {px.x, px.y, px.z}, u[3] = {pv.x, pv.y, pv.z}, normal[3], moves[3];
    for (ulong left = may; left; left &= left - 1) {
        const uint collider = wall_of(view, who, left & -left);
        __global const lmi_gpu_surface *surface = view->surfaces + collider;
        const surface_here s = wall_at(view, surface, b, origin);
        const lm_dvec3 came = dvec(u[0], u[1], u[2]);
        const float depth = is_solid(surface) ? depth_in_ground(view, surface, origin, at, *start, s.margin, normal)
                                              : surface_depth(&s, at, u, normal);
        const bool touched = surface_respond(&s, depth, normal, at, u);
        if (touched && collider == which) {
            surface_velocity(&s, at, moves);
            const lm_dvec3 out = dvec(normal[0], normal[1], normal[2]);
            const lm_dvec3 given = dvec_scale(dvec_sub(dvec(u[0], u[1], u[2]), came), pv.w * mean_mass);
            account_add(to, dvec(origin[0] + at[0], origin[1] + at[1], origin[2] + at[2]), out, given,
                        fmax(dvec_dot(given, out), 0.0), dvec_dot(dvec_sub(dvec(moves[0], moves[1], moves[2]), came), out), true);
        }
    }
}

/* Before solve_inner, which does it: the particles that no touch point rides on. All work-items add up for each collider. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
account_inner(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids,
              __global const lmi_gpu_body *bodies, __global const lmi_gpu_push *pushes, __global const uint *inner,
              WALL_ARGUMENTS, __global const float4 *particle_starts, __global const float4 *x, __global const float4 *v,
              ACCOUNT_ARGUMENTS)
{
    const wall_view view = WALL_VIEW;
    __local uint slots[GROUP];
    __local double sums[GROUP];
    const uint id = get_local_id(0), who = get_group_id(0);
    __global const lmi_gpu_body *b = bodies + meeters[who].record;
    const ulong may = pushes[who].rigid == 1.0f ? 0 : solids[who].surfaces;
    for (ulong left = may; left; left &= left - 1) { /* all of the group */
        const uint which = wall_of(&view, who, left & -left);
        account own = account_none();
        for (uint n = b->first + id; n < b->first + b->particles; n += GROUP) {
            if ((inner[n / LMI_BLOCK] >> n % LMI_BLOCK & 1) && v[n].w > 0.0f) {
                add_inner(&own, &view, may, who, which, b, meeters[who].mean_mass, particle_starts + n, x[n], v[n]);
            }
        }
        for (int c = 0; c < TOUCH_CHANNELS; c++) {
            own.sums[c] = join_group(sums, own.sums[c], c == LMI_GPU_TOUCH_APPROACH);
        }
        own.has = own.pressing = id == 0 && own.sums[LMI_GPU_TOUCH_WEIGHT] > 0.0;
        account_note(slots, LMI_GPU_TOLD_WALL | which, &own, events, lists, all, counts);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
