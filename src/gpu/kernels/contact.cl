/*
 * Contact of single particles with colliders: src/contact/contact.c for free particles, in the same order of operations.
 */

typedef struct surface_here { /* in a body's coordinates */
    float position[3], axes[9], velocity[3], spin[3], pivot[3], half_extents[3];
    float friction, bounce, radius, half_length, margin, h, thickness;
    uint shape;
} surface_here;

static float limit_coordinate(double a)
{
    return (float)(a < LM_MAX_COORDINATE ? fmax(a, -(double)LM_MAX_COORDINATE) : LM_MAX_COORDINATE);
}

static surface_here surface_at(__global const lmi_gpu_surface *s, __global const lmi_gpu_body *b, const double origin[3], float h)
{
    surface_here o;
    for (int i = 0; i < 3; i++) {
        o.position[i] = limit_coordinate(s->position[i] - origin[i]);
        o.pivot[i] = limit_coordinate(s->pivot[i] - origin[i]);
        o.velocity[i] = (float)s->velocity[i];
        o.spin[i] = (float)s->spin[i];
        o.half_extents[i] = s->half_extents[i];
    }
    for (int i = 0; i < 9; i++) {
        o.axes[i] = (float)s->rotation[i];
    }
    o.friction = sqrt(s->friction * b->friction);
    o.bounce = fmax(s->restitution, b->restitution);
    o.radius = s->radius;
    o.half_length = s->half_length;
    o.margin = b->contact_radius;
    o.h = h;
    o.thickness = s->thickness;
    o.shape = s->shape;
    return o;
}

static float distance_round(const float d[3], float radius, float n[3])
{
    float size = sqrt((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]);
    bool middle = size < 1e-12f;
    float inverse = 1.0f / (middle ? 1.0f : size);
    n[0] = middle ? 0.0f : d[0] * inverse;
    n[1] = middle ? 1.0f : d[1] * inverse;
    n[2] = middle ? 0.0f : d[2] * inverse;
    return size - radius;
}

static float with_sign(float size, float sign) { return sign < 0.0f ? -size : size; }

static float distance_box(const float p[3], const float h[3], float n[3])
{
    float over[3], out[3];
    for (int i = 0; i < 3; i++) {
        over[i] = fabs(p[i]) - h[i];
        out[i] = with_sign(vf_max(over[i], 0.0f), p[i]);
    }
    float deepest = vf_max(over[0], vf_max(over[1], over[2]));
    if (deepest < 1e-12f) { /* inside: the nearest face */
        bool is_y = over[0] < over[1], is_z = vf_max(over[0], over[1]) < over[2];
        n[2] = is_z ? with_sign(1.0f, p[2]) : 0.0f;
        n[1] = is_z || !is_y ? 0.0f : with_sign(1.0f, p[1]);
        n[0] = is_z || is_y ? 0.0f : with_sign(1.0f, p[0]);
        return deepest;
    }
    return distance_round(out, 0.0f, n);
}

static float surface_distance(const surface_here *s, const float x[3], float n[3])
{
    float from[3] = {x[0] - s->position[0], x[1] - s->position[1], x[2] - s->position[2]}, p[3], local_n[3], value;
    if (s->shape == LM_SHAPE_SPHERE) {
        return distance_round(from, s->radius, n);
    }
    for (int i = 0; i < 3; i++) {
        p[i] = (s->axes[i] * from[0] + s->axes[3 + i] * from[1]) + s->axes[6 + i] * from[2];
    }
    if (s->shape == LM_SHAPE_PLANE) {
        local_n[0] = 0.0f, local_n[1] = 1.0f, local_n[2] = 0.0f;
        value = p[1];
    } else if (s->shape == LM_SHAPE_CAPSULE) {
        float d[3] = {p[0], p[1] - vf_clamp(p[1], -s->half_length, s->half_length), p[2]};
        value = distance_round(d, s->radius, local_n);
    } else {
        value = distance_box(p, s->half_extents, local_n);
    }
    for (int i = 0; i < 3; i++) {
        n[i] = (s->axes[3 * i] * local_n[0] + s->axes[3 * i + 1] * local_n[1]) + s->axes[3 * i + 2] * local_n[2];
    }
    return value;
}

static void surface_velocity(const surface_here *s, const float x[3], float u[3])
{
    float r[3] = {x[0] - s->pivot[0], x[1] - s->pivot[1], x[2] - s->pivot[2]};
    u[0] = s->velocity[0] + (s->spin[1] * r[2] - s->spin[2] * r[1]);
    u[1] = s->velocity[1] + (s->spin[2] * r[0] - s->spin[0] * r[2]);
    u[2] = s->velocity[2] + (s->spin[0] * r[1] - s->spin[1] * r[0]);
}

/* A particle that goes further in a substep than the collider is thick is followed along its way. */
#define SURFACE_STEPS 96

static void surface_sweep(const surface_here *s, const float x[3], const float v[3], float *depth, float n[3])
{
    float near = 1e-5f * s->thickness, surface[3], way[3], at[3], normal[3], t = 0.0f;
    surface_velocity(s, x, surface);
    for (int i = 0; i < 3; i++) {
        way[i] = s->h * (v[i] - surface[i]);
        at[i] = x[i] - way[i];
    }
    float size = sqrt((way[0] * way[0] + way[1] * way[1]) + way[2] * way[2]);
    if (!(s->thickness < size)) {
        return;
    }
    float left = surface_distance(s, at, normal) - s->margin;
    if (!(-0.1f * s->thickness < left && left - vf_min(*depth, 0.0f) < size)) {
        return;
    }
    left = vf_max(left, near);
    bool active = true;
    for (int k = 0; k < SURFACE_STEPS && active; k++) {
        t = vf_min(t + left / size, 1.0f);
        for (int i = 0; i < 3; i++) {
            at[i] = x[i] - (1.0f - t) * way[i];
        }
        left = surface_distance(s, at, normal) - s->margin;
        active = near < left && t < 1.0f;
    }
    if (left < 1e-3f * s->thickness) {
        float below = ((at[0] - x[0]) * normal[0] + (at[1] - x[1]) * normal[1]) + (at[2] - x[2]) * normal[2];
        *depth = below - left;
        for (int i = 0; i < 3; i++) {
            n[i] = normal[i];
        }
    }
}

/* How deep a particle is, and the way out. */
static float surface_depth(const surface_here *s, const float x[3], const float v[3], float n[3])
{
    float depth = s->margin - surface_distance(s, x, n);
    if (s->shape != LM_SHAPE_PLANE) {
        surface_sweep(s, x, v, &depth, n);
    }
    return depth;
}

/* Puts one particle that is so deep along n back on the surface, and corrects its velocity; true where it touched. */
static bool surface_respond(const surface_here *s, float depth, const float n[3], float x[3], float v[3])
{
    float surface[3], u[3];
    if (!(0.0f < depth)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        x[i] = vf_clamp(x[i] + depth * n[i], -LM_MAX_COORDINATE, LM_MAX_COORDINATE);
    }
    surface_velocity(s, x, surface);
    for (int i = 0; i < 3; i++) {
        u[i] = v[i] - surface[i];
    }
    float normal = (u[0] * n[0] + u[1] * n[1]) + u[2] * n[2], approach = vf_max(-normal, 0.0f);
    float e = LMI_BOUNCE_SPEED < approach ? s->bounce : 0.0f, push = (1.0f + e) * approach;
    float slide[3] = {u[0] - normal * n[0], u[1] - normal * n[1], u[2] - normal * n[2]};
    float speed = sqrt((slide[0] * slide[0] + slide[1] * slide[1]) + slide[2] * slide[2]);
    float brake = vf_min(s->friction * push / vf_max(speed, 1e-12f), 1.0f);
    for (int i = 0; i < 3; i++) {
        float lost = brake * slide[i];
        v[i] = vf_clamp(v[i] + (push * n[i] - lost), -LM_MAX_SPEED, LM_MAX_SPEED);
        x[i] = vf_clamp(x[i] - s->h * lost, -LM_MAX_COORDINATE, LM_MAX_COORDINATE);
    }
    return true;
}

static bool surface_meet(const surface_here *s, float x[3], float v[3])
{
    float n[3], depth = surface_depth(s, x, v, n);
    return surface_respond(s, depth, n, x, v);
}

/* All colliders that a body may touch, in their order. Returns how many it met. */
static uint meet_surfaces(__global const lmi_gpu_surface *surfaces, __global const lmi_gpu_body *b, const double origin[3], float h,
                          float x[3], float v[3])
{
    uint met = 0;
    for (uint left = b->surfaces; left; left &= left - 1) {
        surface_here s = surface_at(surfaces + (31 - clz(left & -left)), b, origin, h);
        met += surface_meet(&s, x, v);
    }
    return met;
}
