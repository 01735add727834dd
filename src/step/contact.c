/*
 * Contact: drags, then colliders in the order of their slots, then pins, which have the last word.
 *
 * A particle deeper inside a collider than its contact radius allows is put back on the surface, and its velocity
 * relative to the surface is corrected there and then:
 *
 *   x += depth n
 *   v_n < 0:   v += -(1 + e) v_n n,   and tangential velocity is reduced by at most friction times that change
 *
 * Reads and writes positions and velocities, counts contacts and the impulse given. Restitution acts above a speed only,
 * so that what lies still stays still. Coulomb's law on velocities does not depend on the length of the substep.
 *
 * Deterministic because particles do not see each other.
 */
#include "octree_body.h"
#include "step/kernel_names.h"
#include "step/motion.h"
#include "world.h"

/* Approach speeds below this do not bounce, m/s. */
#define BOUNCE_SPEED 0.5f

/* Times through the solids where a body may touch several. */
#define SOLID_PASSES 3

/* A collider in a body's coordinates. */
typedef struct lanes_surface {
    const lmi_surface *shape;
    vf position[3], axes[9];             /* columns of axes: the collider's own axes */
    vf velocity[3], spin[3], pivot[3];   /* of the surface */
    vf friction, bounce, radius, margin; /* margin: the body's contact radius */
    lm_dvec3 origin;                     /* the body's */
    double h;                            /* seconds of the substep */
} lanes_surface;

static lanes_surface prepare(const lmi_surface *s, const lmi_body *body, double h)
{
    lm_vec3 at = vec_from(dvec_limit(dvec_sub(s->position, body->origin), LM_MAX_COORDINATE));
    lm_vec3 pivot = vec_from(dvec_limit(dvec_sub(s->pivot, body->origin), LM_MAX_COORDINATE));
    lm_vec3 u = vec_from(s->velocity), w = vec_from(s->spin);
    float bounce = s->restitution > body->material.restitution ? s->restitution : body->material.restitution;
    lanes_surface out = {.shape = s,
                         .position = {vf_set1(at.x), vf_set1(at.y), vf_set1(at.z)},
                         .velocity = {vf_set1(u.x), vf_set1(u.y), vf_set1(u.z)},
                         .spin = {vf_set1(w.x), vf_set1(w.y), vf_set1(w.z)},
                         .pivot = {vf_set1(pivot.x), vf_set1(pivot.y), vf_set1(pivot.z)},
                         .friction = vf_set1(sqrtf(s->friction * body->material.friction)),
                         .bounce = vf_set1(bounce),
                         .radius = vf_set1(s->radius),
                         .margin = vf_set1(body->contact_radius),
                         .origin = body->origin,
                         .h = h};
    for (int i = 0; i < 9; i++) {
        out.axes[i] = vf_set1((float)s->rotation.m[i / 3][i % 3]);
    }
    return out;
}

static inline vf length3(const vf a[3]) { return vf_sqrt((a[0] * a[0] + a[1] * a[1]) + a[2] * a[2]); }

/* out = axes a, or axes^T a */
static inline void rotate(const vf axes[9], const vf a[3], vf out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = (axes[3 * i] * a[0] + axes[3 * i + 1] * a[1]) + axes[3 * i + 2] * a[2];
    }
}

static inline void rotate_back(const vf axes[9], const vf a[3], vf out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = (axes[i] * a[0] + axes[3 + i] * a[1]) + axes[6 + i] * a[2];
    }
}

/* Signed distance of the local point p from the surface and the outward direction, local too. */
static inline vf distance_plane(const vf p[3], vf n[3])
{
    n[0] = vf_set1(0.0f), n[1] = vf_set1(1.0f), n[2] = vf_set1(0.0f);
    return p[1];
}

/* From a core (a point or a segment) p - core = d. Straight up in the very middle. */
static inline vf distance_round(const vf d[3], vf radius, vf n[3])
{
    vf length = length3(d);
    vm middle = vf_lt(length, vf_set1(1e-12f));
    vf inverse = vf_set1(1.0f) / vf_select(middle, vf_set1(1.0f), length);
    n[0] = vf_select(middle, vf_set1(0.0f), d[0] * inverse);
    n[1] = vf_select(middle, vf_set1(1.0f), d[1] * inverse);
    n[2] = vf_select(middle, vf_set1(0.0f), d[2] * inverse);
    return length - radius;
}

static inline vf with_sign(vf size, vf sign)
{
    return vf_select(vf_lt(sign, vf_set1(0.0f)), vf_set1(0.0f) - size, size);
}

static inline vf distance_box(const vf p[3], lm_vec3 half, vf n[3])
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    vf h[3] = {vf_set1(half.x), vf_set1(half.y), vf_set1(half.z)}, over[3], out[3];
    for (int i = 0; i < 3; i++) {
        over[i] = vf_abs(p[i]) - h[i]; /* beyond the face when above 0 */
        out[i] = with_sign(vf_max(over[i], zero), p[i]);
    }
    /* Inside: the nearest face. */
    vf deepest = vf_max(over[0], vf_max(over[1], over[2]));
    vm is_y = vf_lt(over[0], over[1]), is_z = vf_lt(vf_max(over[0], over[1]), over[2]);
    vf face[3];
    face[2] = vf_select(is_z, with_sign(one, p[2]), zero);
    face[1] = vf_select(is_z, zero, vf_select(is_y, with_sign(one, p[1]), zero));
    face[0] = vf_select(is_z, zero, vf_select(is_y, zero, with_sign(one, p[0])));
    vf outside = distance_round(out, zero, n);
    vm inside = vf_lt(deepest, vf_set1(1e-12f));
    for (int i = 0; i < 3; i++) {
        n[i] = vf_select(inside, face[i], n[i]);
    }
    return vf_select(inside, deepest, outside);
}

static inline vf distance(const lanes_surface *s, const vf x[3], vf n[3])
{
    vf from[3] = {x[0] - s->position[0], x[1] - s->position[1], x[2] - s->position[2]}, p[3], local[3], value;
    if (s->shape->shape == LM_SHAPE_SPHERE) {
        return distance_round(from, s->radius, n);
    }
    rotate_back(s->axes, from, p);
    if (s->shape->shape == LM_SHAPE_PLANE) {
        value = distance_plane(p, local);
    } else if (s->shape->shape == LM_SHAPE_CAPSULE) {
        vf half = vf_set1(s->shape->half_length);
        vf d[3] = {p[0], p[1] - vf_clamp(p[1], vf_set1(0.0f) - half, half), p[2]};
        value = distance_round(d, s->radius, local);
    } else {
        value = distance_box(p, s->shape->half_extents, local);
    }
    rotate(s->axes, local, n);
    return value;
}

/* Where the particles of a body were at the beginning of the substep, [block][3][LMI_BLOCK], before contacts change anything:
 * solids are met on the way from there. */
static void remember_starts(const lmi_body *body, double h, float *starts)
{
    vf seconds = vf_set1((float)h);
    for (uint32_t n = 0; n < body->padded_count; n += LMI_LANES) {
        vf x[4], v[4];
        float *to = starts + (size_t)(n / LMI_BLOCK) * 3 * LMI_BLOCK + n % LMI_BLOCK;
        vf_load4(body->x + (size_t)n * 4, x);
        vf_load4(body->v + (size_t)n * 4, v);
        for (int i = 0; i < 3; i++) {
            vf_store(to + i * LMI_BLOCK, x[i] - seconds * v[i]);
        }
    }
}

/* Depth and direction for meshes and height maps, one lane after the other in double precision: their geometry branches too
 * much for lanes. `start` is where the first of these particles was, as above. */
static vf depth_in_solid(const lanes_surface *s, const vf x[4], vf mass, const float *start, const float *margins,
                         float margin, vf n[3])
{
    _Alignas(64) float at[3][LMI_LANES], weight[LMI_LANES], normal[3][LMI_LANES], depth[LMI_LANES];
    const lmi_surface *shape = s->shape;
    for (int i = 0; i < 3; i++) {
        vf_store(at[i], x[i]);
        vf_store(normal[i], vf_set1(0.0f));
    }
    vf_store(weight, mass);
    for (int k = 0; k < LMI_LANES; k++) {
        depth[k] = 0.0f;
        if (!(weight[k] > 0.0f)) {
            continue;
        }
        lm_dvec3 here = dvec(at[0][k], at[1][k], at[2][k]), out;
        lm_dvec3 there = dvec(start[k], start[LMI_BLOCK + k], start[2 * LMI_BLOCK + k]);
        lm_dvec3 p = dvec_add(s->origin, here);
        lm_dvec3 u = dvec_add(shape->velocity, dvec_cross(shape->spin, dvec_sub(p, shape->pivot)));
        lm_dvec3 way = dvec_sub(dvec_sub(here, there), dvec_scale(u, s->h)); /* seen from the collider */
        lm_dvec3 local = dmat_apply_transposed(&shape->rotation, dvec_sub(p, shape->position));
        way = dmat_apply_transposed(&shape->rotation, way);
        depth[k] = (float)lmi_solid_depth(&shape->solid, local, way, margins ? margin + margins[k] : margin, &out);
        if (depth[k] > 0.0f) {
            out = dmat_apply(&shape->rotation, out);
            normal[0][k] = (float)out.x;
            normal[1][k] = (float)out.y;
            normal[2][k] = (float)out.z;
        }
    }
    for (int i = 0; i < 3; i++) {
        n[i] = vf_load(normal[i]);
    }
    return vf_load(depth);
}

/* Corrects x and v of the lanes in `touching`, which are `depth` deep along n. */
static inline void respond(const lanes_surface *s, vm touching, vf depth, const vf n[3], vf x[3], vf v[3])
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    const vf fast = vf_set1(LM_MAX_SPEED), far = vf_set1(LM_MAX_COORDINATE);
    vf r[3], u[3];
    for (int i = 0; i < 3; i++) {
        x[i] = vf_select(touching, vf_clamp(x[i] + depth * n[i], zero - far, far), x[i]);
        r[i] = x[i] - s->pivot[i];
    }
    u[0] = v[0] - (s->velocity[0] + (s->spin[1] * r[2] - s->spin[2] * r[1]));
    u[1] = v[1] - (s->velocity[1] + (s->spin[2] * r[0] - s->spin[0] * r[2]));
    u[2] = v[2] - (s->velocity[2] + (s->spin[0] * r[1] - s->spin[1] * r[0]));
    vf normal = (u[0] * n[0] + u[1] * n[1]) + u[2] * n[2];
    vf approach = vf_max(zero - normal, zero);
    vf e = vf_select(vf_lt(vf_set1(BOUNCE_SPEED), approach), s->bounce, zero);
    vf push = (one + e) * approach;
    vf slide[3] = {u[0] - normal * n[0], u[1] - normal * n[1], u[2] - normal * n[2]};
    vf speed = length3(slide);
    vf brake = vf_min(s->friction * push / vf_max(speed, vf_set1(1e-12f)), one);
    for (int i = 0; i < 3; i++) {
        vf change = push * n[i] - brake * slide[i];
        v[i] = vf_select(touching, vf_clamp(v[i] + change, zero - fast, fast), v[i]);
    }
}

/* The speed of a body's fastest particle. */
static float fastest(const lmi_body *body)
{
    vf most = vf_set1(0.0f);
    for (uint32_t n = 0; n < body->padded_count; n += LMI_LANES) {
        vf v[4];
        vf_load4(body->v + (size_t)n * 4, v);
        most = vf_max(most, (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
    }
    _Alignas(64) float lanes[LMI_LANES];
    vf_store(lanes, most);
    float square = 0.0f;
    for (int k = 0; k < LMI_LANES; k++) {
        square = lanes[k] > square ? lanes[k] : square;
    }
    return sqrtf(square);
}

/* How far a body of this speed goes in a substep, seen from a collider, at most. */
static double way_of(const lmi_surface *s, const lmi_body *body, double speed, double h)
{
    lm_dvec3 far = dvec_sub(dvec_add(body->origin, dvec_from(body->lower)), s->pivot);
    lm_dvec3 size = dvec_sub(dvec_from(body->upper), dvec_from(body->lower));
    double reach = dvec_length(far) + dvec_length(size);
    return h * (speed + dvec_length(s->velocity) + dvec_length(s->spin) * reach);
}

/* `way`: what solids, which are swept, add to the bounds. */
static bool may_touch(const lmi_surface *s, const lmi_body *body, double way)
{
    double margin = body->contact_radius + way + (body->octree ? body->octree->lanes.widest_margin : 0.0f);
    lm_dvec3 lower = dvec_add(body->origin, dvec_from(body->lower)),
             upper = dvec_add(body->origin, dvec_from(body->upper));
    if (s->shape == LM_SHAPE_PLANE) {
        /* The lowest corner along the normal. */
        lm_dvec3 n = dvec(s->rotation.m[0][1], s->rotation.m[1][1], s->rotation.m[2][1]);
        lm_dvec3 low =
            dvec(n.x > 0.0 ? lower.x : upper.x, n.y > 0.0 ? lower.y : upper.y, n.z > 0.0 ? lower.z : upper.z);
        return dvec_dot(dvec_sub(low, s->position), n) < margin + 1e-4;
    }
    return lower.x - margin <= s->bound_upper.x && upper.x + margin >= s->bound_lower.x &&
           lower.y - margin <= s->bound_upper.y && upper.y + margin >= s->bound_lower.y &&
           lower.z - margin <= s->bound_upper.z && upper.z + margin >= s->bound_lower.z;
}

static void collide(const lmi_surface *shape, lmi_body *body, double h, const float *starts)
{
    lanes_surface s = prepare(shape, body, h);
    bool solid = lmi_solid_is(&shape->solid);
    const float *margins =
        body->octree ? body->octree->lanes.margin : NULL; /* of each particle, more than the body's */
    vf sums[3][LMI_PIECES];
    for (int i = 0; i < 3 * LMI_PIECES; i++) {
        sums[i / LMI_PIECES][i % LMI_PIECES] = vf_set1(0.0f);
    }
    uint32_t touched = 0;
    for (uint32_t n = 0; n < body->padded_count; n += LMI_LANES) {
        vf x[4], v[4], normal[3], before[3];
        vf_load4(body->x + (size_t)n * 4, x);
        vf_load4(body->v + (size_t)n * 4, v);
        vf depth;
        if (solid) {
            const float *start = starts + (size_t)(n / LMI_BLOCK) * 3 * LMI_BLOCK + n % LMI_BLOCK;
            depth = depth_in_solid(&s, x, v[3], start, margins ? margins + n : NULL, body->contact_radius, normal);
        } else {
            vf margin = s.margin;
            if (margins) margin = margin + vf_load(margins + n);
            depth = margin - distance(&s, x, normal);
        }
        vm touching = vm_and(vf_lt(vf_set1(0.0f), depth), vf_lt(vf_set1(0.0f), v[3]));
        if (!vm_any(touching)) {
            continue;
        }
        touched += (uint32_t)__builtin_popcount(vm_bits(touching));
        for (int i = 0; i < 3; i++) {
            before[i] = v[i];
        }
        respond(&s, touching, depth, normal, x, v);
        uint32_t piece = n / LMI_LANES % LMI_PIECES;
        for (int i = 0; i < 3; i++) {
            sums[i][piece] = sums[i][piece] + v[3] * (v[i] - before[i]);
        }
        vf_store4(body->x + (size_t)n * 4, x[0], x[1], x[2], x[3]);
        vf_store4(body->v + (size_t)n * 4, v[0], v[1], v[2], v[3]);
    }
    if (touched) {
        lm_dvec3 given = dvec(lmi_sum_lanes(sums[0]), lmi_sum_lanes(sums[1]), lmi_sum_lanes(sums[2]));
        body->outside_impulse = dvec_add(body->outside_impulse, dvec_scale(given, body->mean_mass));
        body->contacts += touched;
    }
}

/* A body against all colliders in the order of their slots. Where it meets several solids they are gone through again: what
 * one of them puts back may be on the wrong side of another. Returns how many solids it may touch. */
static uint32_t collide_all(const lmi_step *step, lmi_body *body, double speed, const float *starts, bool again)
{
    uint32_t met = 0;
    for (uint32_t s = 0; s < step->surface_count; s++) {
        const lmi_surface *surface = &step->surfaces[s];
        bool solid = lmi_solid_is(&surface->solid);
        if ((solid || !again) && may_touch(surface, body, solid ? way_of(surface, body, speed, step->h) : 0.0)) {
            met += solid;
            collide(surface, body, step->h, starts);
        }
    }
    return met;
}

void LMI_KERNEL(contact)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    bool solids = false;
    for (uint32_t s = 0; s < step->surface_count; s++) {
        solids = solids || lmi_solid_is(&step->surfaces[s].solid);
    }
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_body *body = lmi_body_at(step->world, batch->bodies[n]);
        body->contacts = 0;
        double speed = solids ? fastest(body) : 0.0;
        if (solids) {
            remember_starts(body, step->h, scratch->pull);
        }
        lmi_drags_apply(step, body);
        uint32_t met = collide_all(step, body, speed, scratch->pull, false), contacts = body->contacts;
        for (int pass = 1; pass < SOLID_PASSES && met > 1 && contacts > 0; pass++) {
            collide_all(step, body, speed, scratch->pull, true);
            body->contacts = contacts; /* counted once */
        }
        lmi_pins_apply(step, body);
    }
}
