/*
 * Colliders, after the particles have moved: where there are meshes or height maps among them, or rules, or more than a word
 * has bits, or where something acts between the move and them. src/contact/contact.c for particles, each for itself, in the same
 * order of operations.
 *
 *   wall_starts   where particles were when the substep began, and how fast each piece of them is   (solids)
 *   wall_near     what each body may touch
 *   wall_meet     a work-item a particle: all of that, in the order of the colliders
 *   wall_tally    what a body was given, and how many of its particles touched something
 *   wall_meet and wall_tally once more, where a body may touch several solids
 */

#define GROUP LMI_GPU_PIECE

/* Where a piece of a body's particles was, and the square of its highest speed. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
wall_starts(__global const lmi_gpu_chunk *restrict pieces, __global const float4 *restrict x,
            __global const float4 *restrict v, __global float4 *restrict starts, __global float *restrict sums, float h)
{
    __local float slots[GROUP];
    const lmi_gpu_chunk piece = pieces[get_group_id(0)];
    const uint id = get_local_id(0);
    float square = 0.0f;
    if (id < piece.count) {
        float4 p = x[piece.first + id], q = v[piece.first + id];
        starts[piece.first + id] = (float4)(p.x - h * q.x, p.y - h * q.y, p.z - h * q.z, 0.0f);
        square = (q.x * q.x + q.y * q.y) + q.z * q.z;
    }
    slots[id] = square;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_of = GROUP / 2; half_of > 0; half_of /= 2) {
        if (id < half_of) {
            slots[id] = vf_max(slots[id], slots[id + half_of]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0) {
        sums[piece.partial * LMI_GPU_WALL_SUMS] = slots[0];
    }
}

static lm_dvec3 record_dvec(__global const float *a) { return dvec(a[0], a[1], a[2]); }

/* How far a body goes in a substep, seen from a collider, at most: way_of in contact/contact.c. */
static double way_seen(__global const lmi_gpu_surface *s, __global const lmi_gpu_body *b, double speed, double h)
{
    lm_dvec3 lower = record_dvec(b->lower), upper = record_dvec(b->upper);
    lm_dvec3 far = dvec_sub(dvec_add(dvec_there(b->origin), lower), dvec_there(s->pivot));
    double reach = dvec_length(far) + dvec_length(dvec_sub(upper, lower));
    return h * (speed + dvec_length(dvec_there(s->velocity)) + dvec_length(dvec_there(s->spin)) * reach);
}

/* may_touch in contact/contact.c. `fastest`: of its particles. */
static bool may_touch(__global const lmi_gpu_surface *s, __global const lmi_gpu_body *b, double reach, double fastest, double h)
{
    if (b->pointed || !(b->group & s->mask) || !(b->collider_mask & s->group)) {
        return false;
    }
    if (s->solid != LMI_GPU_NONE) {
        reach += way_seen(s, b, fastest, h);
    } else {
        double speed = dvec_length(dvec_sub(record_dvec(b->velocity), dvec_there(s->velocity))) +
                       dvec_length(record_dvec(b->spin)) * b->rest_size;
        reach += s->shape != LM_SHAPE_PLANE && h * speed > s->thickness ? h * speed : 0.0;
    }
    bool near = true;
    double depth = 0.0;
    for (int i = 0; i < 3; i++) {
        double low = b->origin[i] + b->lower[i], high = b->origin[i] + b->upper[i], normal = s->rotation[3 * i + 1];
        depth += ((normal > 0.0 ? low : high) - s->position[i]) * normal;
        near = near && low - reach <= s->upper[i] && high + reach >= s->lower[i];
    }
    return s->shape == LM_SHAPE_PLANE ? depth < reach + 1e-4 : near;
}

/* What each body may touch, as bits, and how many solids are among them: one work-group a body. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
wall_near(__global const lmi_gpu_body *restrict bodies, __global lmi_gpu_walled *restrict walled,
          __global const lmi_gpu_surface *restrict surfaces, uint surface_count, uint words, uint has_solids,
          __global const float *restrict sums, __global uint *restrict near, double h)
{
    __local float speeds[GROUP];
    __local uint counts[GROUP];
    const uint body = get_group_id(0), id = get_local_id(0);
    __global const lmi_gpu_body *b = bodies + body;
    __global lmi_gpu_walled *w = walled + body;
    float square = 0.0f;
    for (uint n = id; has_solids && n < w->pieces; n += GROUP) {
        square = vf_max(square, sums[(w->first_piece + n) * LMI_GPU_WALL_SUMS]);
    }
    speeds[id] = square;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint n = 0; n < GROUP; n++) {
        square = vf_max(square, speeds[n]);
    }
    uint solids = 0;
    for (uint word = id; word < words; word += GROUP) {
        uint bits = 0;
        for (uint n = 32 * word; !w->apart && n < min(32 * word + 32, surface_count); n++) {
            if (may_touch(surfaces + n, b, w->reach, sqrt(square), h)) {
                bits |= 1u << n % 32;
                solids += surfaces[n].solid != LMI_GPU_NONE;
            }
        }
        near[body * words + word] = bits;
    }
    counts[id] = solids;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        solids = 0;
        for (uint n = 0; n < GROUP; n++) {
            solids += counts[n];
        }
        w->solids = solids;
    }
}

/* One particle against one collider; true where it touched. `more`: of its own margin. n leads out, and u is how the surface moves
 * there. */
static bool wall_touch(__global const lmi_gpu_surface *surface, __global const lmi_gpu_body *b,
                       __global const lmi_contact_rule *rules, uint rule_count, __global const lmi_gpu_ground *solids,
                       const solid_arrays *arrays, const double origin[3], const float from[3], float more, double h, float x[3],
                       float v[3], float n[3], float u[3])
{
    surface_here s = surface_at(surface, b, origin, (float)h);
    double friction = s.friction, restitution = s.bounce;
    lmi_contact_rules_apply(rules, rule_count, surface->group, b->group, &friction, &restitution);
    s.friction = (float)friction;
    s.bounce = (float)restitution;
    s.margin = s.margin + more;
    float depth;
    if (surface->solid != LMI_GPU_NONE) {
        depth = solid_depth(surface, solids, arrays, origin, x, from, s.margin, h, n);
    } else {
        depth = surface_depth(&s, x, v, n);
    }
    bool touched = surface_respond(&s, depth, n, x, v);
    surface_velocity(&s, x, u);
    return touched;
}

/* What a particle that touched a collider adds to the account: put_down and `add` in contact/contact.c and touching.c. */
static void touch_of(__global const lmi_gpu_body *b, double mass, const float x[3], const float before[3], const float v[3],
                     const float n[3], const float u[3], double to[LMI_GPU_TOUCH_CHANNELS])
{
    lm_dvec3 out = dvec(n[0], n[1], n[2]), came = dvec(before[0], before[1], before[2]);
    lm_dvec3 given = dvec_scale(dvec_sub(dvec(v[0], v[1], v[2]), came), mass);
    double pressed = fmax(dvec_dot(given, out), 0.0), weight = pressed + LMI_UNPRESSED;
    to[LMI_GPU_TOUCH_WEIGHT] = weight;
    to[LMI_GPU_TOUCH_PRESSED] = pressed;
    to[LMI_GPU_TOUCH_APPROACH] = fmax(dvec_dot(dvec_sub(dvec(u[0], u[1], u[2]), came), out), 0.0);
    for (int i = 0; i < 3; i++) {
        to[LMI_GPU_TOUCH_POINT + i] = weight * (b->origin[i] + x[i]);
        to[LMI_GPU_TOUCH_NORMAL + i] = weight * n[i];
    }
    to[LMI_GPU_TOUCH_IMPULSE] = given.x, to[LMI_GPU_TOUCH_IMPULSE + 1] = given.y, to[LMI_GPU_TOUCH_IMPULSE + 2] = given.z;
}

/* Adds what all particles of a piece had of one collider to the piece's list; all work-items come here together. */
static void note_touch(__global lmi_gpu_touch *list, __global uint *count, uint collider, bool touched,
                       const double mine[LMI_GPU_TOUCH_CHANNELS], __local double *slots, __local uint *place)
{
    const uint id = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        *place = LMI_GPU_NONE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (touched) {
        *place = 0; /* all of them write the same */
    }
    for (int c = 0; c < LMI_GPU_TOUCH_CHANNELS; c++) {
        slots[c * GROUP + id] = touched ? mine[c] : 0.0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (*place == LMI_GPU_NONE) {
        return;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        uint n = 0;
        while (n < min(count[0], (uint)LMI_GPU_TOUCHES) && list[n].collider != collider) {
            n++;
        }
        *place = n;
        if (n < LMI_GPU_TOUCHES && n == count[0]) {
            list[n].collider = collider;
            list[n].pressing = 1;
            for (int c = 0; c < LMI_GPU_TOUCH_CHANNELS; c++) {
                list[n].sums[c] = 0.0;
            }
        }
        count[0] += n == count[0] || n == LMI_GPU_TOUCHES; /* what is beyond the list is counted */
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (id < LMI_GPU_TOUCH_CHANNELS && *place < LMI_GPU_TOUCHES) {
        double sum = list[*place].sums[id];
        for (uint n = 0; n < GROUP; n++) {
            sum = id == LMI_GPU_TOUCH_APPROACH ? fmax(sum, slots[id * GROUP + n]) : sum + slots[id * GROUP + n];
        }
        list[*place].sums[id] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* SOLID_PASSES in contact/contact.c, less the first. */
#define MORE_PASSES 2

/* `again`: once more through the solids, where a body may touch several and has touched anything: what one of them puts back may
 * be on the wrong side of another. `told`: who touches what is put down; 2 where the account of a step begins. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
wall_meet(__global const lmi_gpu_chunk *restrict pieces, __global const lmi_gpu_body *restrict bodies,
          __global const lmi_gpu_walled *restrict walled, __global const lmi_gpu_surface *restrict surfaces, uint words,
          __global const uint *restrict near, __global const lmi_contact_rule *restrict rules, uint rule_count,
          __global const lmi_gpu_ground *restrict solids, __global float *heights, __global lmi_heights_span *spans,
          __global float *faces, __global lmi_mesh_node *nodes, __global int8_t *cells, __global const float *restrict margins,
          uint has_margins, __global const float4 *restrict starts, uint has_solids, __global float4 *restrict x,
          __global float4 *restrict v, __global float *restrict sums, double h, uint again, uint told,
          __global lmi_gpu_touch *touches, __global uint *touch_counts)
{
    __local float slots[LMI_GPU_WALL_SUMS][GROUP];
    __local double touch_slots[LMI_GPU_TOUCH_CHANNELS * GROUP];
    __local uint touch_place;
    const lmi_gpu_chunk piece = pieces[get_group_id(0)];
    const uint id = get_local_id(0), particle = piece.first + id;
    __global const lmi_gpu_body *b = bodies + piece.body;
    const solid_arrays arrays = {heights, spans, faces, nodes, cells};
    const bool idle = again && !(walled[piece.body].solids > 1 && b->contacts > 0);
    float s[LMI_GPU_WALL_SUMS] = {0.0f, 0.0f, 0.0f, 0.0f};
    float4 at = 0.0f, speed = 0.0f;
    if (!idle && id < piece.count) {
        at = x[particle];
        speed = v[particle];
    }
    const bool real = speed.w > 0.0f;
    const double origin[3] = {b->origin[0], b->origin[1], b->origin[2]};
    float px[3] = {at.x, at.y, at.z}, pv[3] = {speed.x, speed.y, speed.z}, from[3] = {at.x, at.y, at.z}, n[3], u[3];
    const float more = real && has_margins ? margins[particle] : 0.0f;
    if (real && has_solids) {
        float4 start = starts[particle];
        from[0] = start.x, from[1] = start.y, from[2] = start.z;
    }
    if (told == 2 && id == 0) {
        touch_counts[piece.partial] = 0;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    /* All work-items go through the same colliders, those without a particle as well. */
    for (uint pass = 0; !idle && pass < (again ? MORE_PASSES : 1u); pass++) {
        for (uint word = 0; word < words; word++) {
            for (uint left = near[piece.body * words + word]; left; left &= left - 1) {
                const uint collider = 32 * word + (31 - clz(left & -left));
                __global const lmi_gpu_surface *surface = surfaces + collider;
                if (again && surface->solid == LMI_GPU_NONE) {
                    continue;
                }
                const float before[3] = {pv[0], pv[1], pv[2]};
                bool touched = real && wall_touch(surface, b, rules, rule_count, solids, &arrays, origin, from, more, h, px, pv, n, u);
                s[3] += (float)touched;
                if (told) {
                    double mine[LMI_GPU_TOUCH_CHANNELS];
                    if (touched) {
                        touch_of(b, speed.w * (double)b->mean_mass, px, before, pv, n, u, mine);
                    }
                    note_touch(touches + piece.partial * LMI_GPU_TOUCHES, touch_counts + piece.partial, collider, touched, mine,
                               touch_slots, &touch_place);
                }
            }
        }
    }
    if (s[3] > 0.0f) {
        s[0] = speed.w * (pv[0] - speed.x);
        s[1] = speed.w * (pv[1] - speed.y);
        s[2] = speed.w * (pv[2] - speed.z);
        x[particle] = (float4)(px[0], px[1], px[2], at.w);
        v[particle] = (float4)(pv[0], pv[1], pv[2], speed.w);
    }
    for (int i = 0; i < LMI_GPU_WALL_SUMS; i++) {
        slots[i][id] = s[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < LMI_GPU_WALL_SUMS) {
        float sum = 0.0f;
        for (uint n = 0; n < GROUP; n++) {
            sum += slots[id][n];
        }
        sums[piece.partial * LMI_GPU_WALL_SUMS + id] = sum;
    }
}

/* Into the records; contacts are counted once. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
wall_tally(__global lmi_gpu_body *restrict bodies, __global const lmi_gpu_walled *restrict walled,
           __global const float *restrict sums, uint again)
{
    __local double slots[GROUP];
    const uint id = get_local_id(0), channel = id % LMI_GPU_WALL_SUMS;
    __global lmi_gpu_body *b = bodies + get_group_id(0);
    __global const lmi_gpu_walled *w = walled + get_group_id(0);
    double sum = 0.0;
    for (uint n = id / LMI_GPU_WALL_SUMS; n < w->pieces; n += GROUP / LMI_GPU_WALL_SUMS) {
        sum += sums[(w->first_piece + n) * LMI_GPU_WALL_SUMS + channel];
    }
    slots[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < LMI_GPU_WALL_SUMS) {
        for (uint n = id + LMI_GPU_WALL_SUMS; n < GROUP; n += LMI_GPU_WALL_SUMS) {
            sum += slots[n];
        }
        if (id < 3) {
            b->impulse[id] += sum;
        } else if (!again) {
            b->contacts = (uint)sum;
        }
    }
}
