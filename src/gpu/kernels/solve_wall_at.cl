/*
 * Touch points against single colliders: may_touch and find_all in contact/contact.c. What needs meshes and height maps is compiled only
 * where a world has any (SOLVE_SOLIDS): their queries are long.
 */

/* What the finding of colliders reads of them. */
typedef struct wall_view {
    __global const lmi_gpu_surface *surfaces;
    __global const uint *near; /* [bodies][LMI_GPU_SOLVED_SURFACES] colliders that each may touch, in their order */
    __global const lmi_contact_rule *rules;
    uint rule_count;
    __global const void *grounds;
    __global void *heights, *spans, *faces, *nodes, *cells;
    __global const float4 *starts; /* of touch points: where they were when the substep began */
    double h;
} wall_view;

#define WALL_ARGUMENTS                                                                                                \
    __global const lmi_gpu_surface *surfaces, __global const uint *near_surfaces,                                     \
        __global const lmi_contact_rule *rules, uint rule_count, __global const void *grounds, __global void *heights, \
        __global void *spans, __global void *ground_faces, __global void *nodes, __global void *ground_cells,                \
        __global const float4 *starts, double wall_h
#define WALL_VIEW                                                                                                     \
    {                                                                                                                 \
        surfaces, near_surfaces, rules, rule_count, grounds, heights, spans, ground_faces, nodes, ground_cells, starts, wall_h \
    }

/* The collider that a bit of a body's stands for. */
static uint wall_of(const wall_view *w, uint body, ulong bit)
{
    return w->near[body * LMI_GPU_SOLVED_SURFACES + (63 - (uint)clz(bit))];
}

static bool is_solid(__global const lmi_gpu_surface *s)
{
#ifdef SOLVE_SOLIDS
    return s->solid != LMI_GPU_NONE;
#else
    return false;
#endif
}

/* How far a body goes in a substep, seen from a collider, at most: way_of in contact/contact.c. */
static double way_seen(__global const lmi_gpu_surface *s, __global const lmi_gpu_body *b, double speed, double h)
{
    double far = 0.0, size = 0.0, velocity = 0.0, spin = 0.0;
    for (int i = 0; i < 3; i++) {
        double from = (b->origin[i] + b->lower[i]) - s->pivot[i], wide = (double)b->upper[i] - b->lower[i];
        far += from * from;
        size += wide * wide;
        velocity += s->velocity[i] * s->velocity[i];
        spin += s->spin[i] * s->spin[i];
    }
    return h * (speed + sqrt(velocity) + sqrt(spin) * (sqrt(far) + sqrt(size)));
}

/* Whether a body may touch a collider. fastest: of its particles. */
static bool may_touch(__global const lmi_gpu_surface *s, __global const lmi_gpu_meeter *m,
                      __global const lmi_gpu_body *b, double fastest, double h)
{
    if (!(b->group & s->mask) || !(b->collider_mask & s->group)) {
        return false;
    }
    double square = 0.0, turn = 0.0, margin = m->reach, depth = 0.0;
    bool near = true;
    for (int i = 0; i < 3; i++) {
        double u = (double)b->velocity[i] - s->velocity[i];
        square += u * u;
        turn += (double)b->spin[i] * b->spin[i];
    }
    double way = h * (sqrt(square) + sqrt(turn) * b->rest_size);
    if (is_solid(s)) {
        margin += way_seen(s, b, fastest, h);
    } else {
        margin += s->shape != LM_SHAPE_PLANE && way > s->thickness ? way : 0.0;
    }
    for (int i = 0; i < 3; i++) {
        double low = b->origin[i] + b->lower[i], high = b->origin[i] + b->upper[i], n = s->rotation[3 * i + 1];
        depth += ((n > 0.0 ? low : high) - s->position[i]) * n;
        near = near && low - margin <= s->upper[i] && high + margin >= s->lower[i];
    }
    return s->shape == LM_SHAPE_PLANE ? depth < margin + 1e-4 : near;
}

/* A collider as a body meets it: friction and restitution as the rules say. */
static surface_here wall_at(const wall_view *w, __global const lmi_gpu_surface *surface, __global const lmi_gpu_body *b,
                            const double origin[3])
{
    surface_here s = surface_at(surface, b, origin, (float)w->h);
    double friction = s.friction, restitution = s.bounce;
    lmi_contact_rules_apply(w->rules, w->rule_count, surface->group, b->group, &friction, &restitution);
    s.friction = (float)friction;
    s.bounce = (float)restitution;
    return s;
}

/* How deep a point is that came from `from`, kept `margin` off. */
static float depth_in_ground(const wall_view *w, __global const lmi_gpu_surface *surface, const double origin[3],
                             const float x[3], float4 from, float margin, float n[3])
{
#ifdef SOLVE_SOLIDS
    const solid_arrays arrays = {(__global float *)w->heights, (__global lmi_heights_span *)w->spans,
                                 (__global float *)w->faces, (__global lmi_mesh_node *)w->nodes,
                                 (__global int8_t *)w->cells};
    const float start[3] = {from.x, from.y, from.z};
    return solid_depth(surface, (__global const lmi_gpu_ground *)w->grounds, &arrays, origin, x, start, margin, w->h, n);
#else
    return 0.0f;
#endif
}

/* A touch point against a collider. */
typedef struct at_wall {
    float normal[3], velocity[3], depth, friction, bounce;
} at_wall;

/* slop: points that are less far from meshes and height maps are found as well, with a depth below 0. */
static at_wall find_at_wall(const wall_view *w, uint collider, __global const lmi_gpu_body *b, uint point, float4 now,
                            float4 speed, float slop)
{
    const double origin[3] = {b->origin[0], b->origin[1], b->origin[2]};
    const float x[3] = {now.x, now.y, now.z}, v[3] = {speed.x, speed.y, speed.z};
    __global const lmi_gpu_surface *surface = w->surfaces + collider;
    surface_here s = wall_at(w, surface, b, origin);
    at_wall at;
    if (is_solid(surface)) {
        at.depth = depth_in_ground(w, surface, origin, x, w->starts[point], s.margin + slop, at.normal) - slop;
        at.depth = at.depth > -slop ? at.depth : -1e30f; /* it touches nothing */
    } else {
        at.depth = surface_depth(&s, x, v, at.normal);
    }
    surface_velocity(&s, x, at.velocity);
    at.friction = s.friction;
    at.bounce = s.bounce;
    return at;
}

/* The colliders that a point of body a is at least so deep in, as bits. */
static ulong walls_of(const wall_view *w, ulong may, uint a, __global const lmi_gpu_body *b, uint point, float4 now,
                      float4 speed, float slop, double least)
{
    ulong bits = 0;
    for (ulong left = may; left; left &= left - 1) {
        ulong bit = left & -left;
        bits |= find_at_wall(w, wall_of(w, a, bit), b, point, now, speed, slop).depth >= least ? bit : 0;
    }
    return bits;
}
