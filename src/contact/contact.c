/*
 * Contact: drags, then colliders in the order of their slots, then pins, which have the last word.
 *
 * What touches is the particles or, where a body has them, the points on its surface (touch/touch.h). A point deeper
 * inside a collider than the contact radius allows is put back on the surface, and its velocity relative to the surface is
 * corrected there and then:
 *
 *   x += depth n
 *   v_n < 0:   v += -(1 + e) v_n n,   and tangential velocity is reduced by at most friction times that change
 *              x += h times the change of tangential velocity: the way that friction takes back
 *
 * Without the last line a body at rest on a slope would creep down it by g h² sin(slope) in every substep. Points that
 * move further in a substep than a collider is thick are swept along their way, so that they do not pass through it.
 *
 * Reads and writes positions and velocities, counts contacts and the impulse given. Restitution acts above a speed only,
 * so that what lies still stays still. Coulomb's law on velocities does not depend on the length of the substep.
 *
 * Contacts are found in lanes. Free particles answer in lanes too, since they do not see each other; points that share
 * particles, and bodies that answer as a whole, are solved together (contact/contact.h).
 */
#include "base/compiler.h"
#include "base/lanes.h"
#include "collide/wrench.h"
#include "contact/halt.h"
#include "contact/solver.h"
#include "contact/touching.h"
#include "octree/octree_body.h"
#include "skeleton/skeleton.h"
#include "world/in_step.h"
#include "world/kernel_names.h"
#include "world/motion.h"

/* Approach speeds below this do not bounce, m/s. */
#define BOUNCE_SPEED ((float)LMI_BOUNCE_SPEED)

/* Steps of a sweep along the way of a fast point; each goes as far as nothing can be in the way. */
#define SWEEP_STEPS 96

/* Times through the solids where a body may touch several. */
#define SOLID_PASSES 3

/* A collider in a body's coordinates. */
typedef struct lanes_surface {
    const lmi_surface *shape;
    vf position[3], axes[9];             /* columns of axes: the collider's own axes */
    vf velocity[3], spin[3], pivot[3];   /* of the surface */
    vf friction, bounce, radius, margin; /* margin: the body's contact radius */
    lm_dvec3 origin;                     /* the body's */
    double seconds;                      /* of the substep */
    vf h;                                /* the same in lanes */
    bool solid;                          /* a mesh or a height map: they sweep by themselves */
    bool deforms;                        /* a mesh that does so in this substep */
    bool swept;                          /* it may be thinner than points move in a substep */
    float thickness;                     /* half of it */
} lanes_surface;

/* Half the thickness of a collider; what lies below a plane has no end. */
static float half_thickness(const lmi_surface *s)
{
    if (s->shape == LM_SHAPE_BOX) {
        return lmi_minf(s->half_extents.x, lmi_minf(s->half_extents.y, s->half_extents.z));
    }
    return s->shape == LM_SHAPE_PLANE || lmi_solid_is(&s->solid) ? INFINITY : s->radius;
}

/* Friction and restitution between a body and a collider. */
static void wall_rule(const lm_world *world, const lmi_surface *s, const lmi_body *body, double *friction,
                      double *restitution)
{
    *friction = sqrtf(s->friction * body->material.friction);
    *restitution = lmi_maxf(s->restitution, body->material.restitution);
    lmi_contact_rule_apply(world, s->group, body->group, friction, restitution);
}

static lanes_surface prepare(const lm_world *world, const lmi_surface *s, const lmi_body *body, double h)
{
    lm_vec3 at = vec_from(dvec_limit(dvec_sub(s->position, body->origin), LM_MAX_COORDINATE));
    lm_vec3 pivot = vec_from(dvec_limit(dvec_sub(s->pivot, body->origin), LM_MAX_COORDINATE));
    lm_vec3 u = vec_from(s->velocity), w = vec_from(s->spin);
    double friction, bounce;
    wall_rule(world, s, body, &friction, &bounce);
    lanes_surface out = {.shape = s,
                         .position = {vf_set1(at.x), vf_set1(at.y), vf_set1(at.z)},
                         .velocity = {vf_set1(u.x), vf_set1(u.y), vf_set1(u.z)},
                         .spin = {vf_set1(w.x), vf_set1(w.y), vf_set1(w.z)},
                         .pivot = {vf_set1(pivot.x), vf_set1(pivot.y), vf_set1(pivot.z)},
                         .friction = vf_set1((float)friction),
                         .bounce = vf_set1((float)bounce),
                         .radius = vf_set1(s->radius),
                         .margin = vf_set1(body->contact_radius),
                         .origin = body->origin,
                         .seconds = h,
                         .h = vf_set1((float)h),
                         .solid = lmi_solid_is(&s->solid),
                         .deforms = lmi_solid_moves(&s->solid),
                         .swept = s->shape != LM_SHAPE_PLANE && !lmi_solid_is(&s->solid),
                         .thickness = half_thickness(s)};
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
 * much for lanes. `start` is where the first of these particles was, as above. `drift`: the velocity of a surface that deforms,
 * besides that of its mover. */
static vf depth_in_solid(const lanes_surface *s, const vf x[3], vf mass, const float *start, const float *margins,
                         float margin, vf n[3], vf drift[3])
{
    _Alignas(64) float at[3][LMI_LANES], weight[LMI_LANES], normal[3][LMI_LANES], depth[LMI_LANES];
    _Alignas(64) float drifts[3][LMI_LANES];
    const lmi_surface *shape = s->shape;
    for (int i = 0; i < 3; i++) {
        vf_store(at[i], x[i]);
        vf_store(normal[i], vf_set1(0.0f));
        vf_store(drifts[i], vf_set1(0.0f));
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
        lm_dvec3 way = lmi_solid_way(shape->velocity, shape->spin, shape->pivot, s->seconds, p, dvec_sub(here, there));
        lm_dvec3 local = dmat_apply_transposed(&shape->rotation, dvec_sub(p, shape->position));
        way = dmat_apply_transposed(&shape->rotation, way);
        if (s->deforms) {
            way = dvec_sub(local, lmi_solid_carry(&shape->solid, dvec_sub(local, way), s->seconds));
        }
        depth[k] = (float)lmi_solid_depth(&shape->solid, local, way, margins ? margin + margins[k] : margin, &out);
        if (depth[k] > 0.0f) {
            if (s->deforms) {
                lm_dvec3 touched = dvec_add(local, dvec_scale(out, depth[k]));
                lm_dvec3 velocity = dmat_apply(&shape->rotation, lmi_solid_drift(&shape->solid, touched));
                drifts[0][k] = (float)velocity.x;
                drifts[1][k] = (float)velocity.y;
                drifts[2][k] = (float)velocity.z;
            }
            out = dmat_apply(&shape->rotation, out);
            normal[0][k] = (float)out.x;
            normal[1][k] = (float)out.y;
            normal[2][k] = (float)out.z;
        }
    }
    for (int i = 0; i < 3; i++) {
        n[i] = vf_load(normal[i]);
        drift[i] = vf_load(drifts[i]);
    }
    return vf_load(depth);
}

/* The velocity of the surface at x; `drift` as in depth_in_solid, or null. */
static inline void velocity_there(const lanes_surface *s, const vf x[3], const vf *drift, vf u[3])
{
    vf r[3] = {x[0] - s->pivot[0], x[1] - s->pivot[1], x[2] - s->pivot[2]};
    u[0] = s->velocity[0] + (s->spin[1] * r[2] - s->spin[2] * r[1]);
    u[1] = s->velocity[1] + (s->spin[2] * r[0] - s->spin[0] * r[2]);
    u[2] = s->velocity[2] + (s->spin[0] * r[1] - s->spin[1] * r[0]);
    for (int i = 0; i < 3 && drift; i++) {
        u[i] = u[i] + drift[i];
    }
}

/* Points that came to x at velocity v and met the collider on their way: their depth below the plane that touches it where
 * they did, and its normal. Others keep theirs. The distance of the start says how far nothing can be in the way, and so
 * on from there. */
static void sweep(const lanes_surface *s, const vf x[3], const vf v[3], vf *depth, vf n[3])
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f), near = vf_set1(1e-5f * s->thickness);
    vf surface[3], way[3], at[3], normal[3];
    velocity_there(s, x, NULL, surface);
    for (int i = 0; i < 3; i++) {
        way[i] = s->h * (v[i] - surface[i]);
        at[i] = x[i] - way[i];
    }
    vf length = length3(way), t = zero;
    vm fast = vf_lt(vf_set1(s->thickness), length);
    if (!vm_any(fast)) {
        return;
    }
    /* From outside, or from where rounding has left it on the surface. */
    vf left = distance(s, at, normal) - s->margin;
    fast = vm_and(fast, vm_and(vf_lt(vf_set1(-0.1f * s->thickness), left), vf_lt(left - vf_min(*depth, zero), length)));
    left = vf_max(left, near);
    vm active = fast;
    for (int k = 0; k < SWEEP_STEPS && vm_any(active); k++) {
        t = vf_select(active, vf_min(t + left / length, one), t);
        for (int i = 0; i < 3; i++) {
            at[i] = x[i] - (one - t) * way[i];
        }
        left = distance(s, at, normal) - s->margin;
        active = vm_and(active, vm_and(vf_lt(near, left), vf_lt(t, one)));
    }
    vm hit = vm_and(fast, vf_lt(left, vf_set1(1e-3f * s->thickness)));
    vf below = ((at[0] - x[0]) * normal[0] + (at[1] - x[1]) * normal[1]) + (at[2] - x[2]) * normal[2];
    *depth = vf_select(hit, below - left, *depth);
    for (int i = 0; i < 3; i++) {
        n[i] = vf_select(hit, normal[i], n[i]);
    }
}

/* Corrects x and v of the lanes in `touching`, which are `depth` deep along n. */
static inline void respond(const lanes_surface *s, vm touching, vf depth, const vf n[3], const vf *drift, vf x[3],
                           vf v[3])
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    const vf fast = vf_set1(LM_MAX_SPEED), far = vf_set1(LM_MAX_COORDINATE);
    vf surface[3], u[3];
    for (int i = 0; i < 3; i++) {
        x[i] = vf_select(touching, vf_clamp(x[i] + depth * n[i], zero - far, far), x[i]);
    }
    velocity_there(s, x, drift, surface);
    for (int i = 0; i < 3; i++) {
        u[i] = v[i] - surface[i];
    }
    vf normal = (u[0] * n[0] + u[1] * n[1]) + u[2] * n[2];
    vf approach = vf_max(zero - normal, zero);
    vf e = vf_select(vf_lt(vf_set1(BOUNCE_SPEED), approach), s->bounce, zero);
    vf push = (one + e) * approach;
    vf slide[3] = {u[0] - normal * n[0], u[1] - normal * n[1], u[2] - normal * n[2]};
    vf speed = length3(slide);
    vf brake = vf_min(s->friction * push / vf_max(speed, vf_set1(1e-12f)), one);
    for (int i = 0; i < 3; i++) {
        vf lost = brake * slide[i];
        v[i] = vf_select(touching, vf_clamp(v[i] + (push * n[i] - lost), zero - fast, fast), v[i]);
        x[i] = vf_select(touching, vf_clamp(x[i] - s->h * lost, zero - far, far), x[i]);
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

/* How far the particles of a body may be from their bounds: back along their way, and where points lie outside them. */
static double reach_of(const lmi_surface *s, const lmi_body *body, double h)
{
    double reach = body->contact_radius + body->touch.beyond + 0.01 * body->rest_size;
    if (body->octree && !body->touch.count) {
        reach += body->octree->lanes.widest_margin;
    }
    if (lmi_solid_is(&s->solid)) {
        return reach + way_of(s, body, body->fastest, h);
    }
    double speed = dvec_length(dvec_sub(dvec_from(body->motion.velocity), s->velocity)) +
                   dvec_length(dvec_from(body->motion.spin)) * body->rest_size;
    return h * speed > half_thickness(s) ? reach + h * speed : reach;
}

static bool may_touch(const lmi_surface *s, const lmi_body *body, double h)
{
    if (!lmi_may_collide(body, s->group, s->mask)) {
        return false;
    }
    double margin = reach_of(s, body, h);
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

/* Puts down what happened to particles in lanes, one after the other (contact/touching.h). `before`: their velocities. */
static void put_down(const lm_world *world, const lanes_surface *s, lmi_body *body, uint32_t touching, const vf n[3],
                     const vf *drift, const vf x[3], const vf before[3], const vf v[4])
{
    _Alignas(64) float at[3][LMI_LANES], normal[3][LMI_LANES], was[3][LMI_LANES], is[4][LMI_LANES], u[3][LMI_LANES];
    vf surface[3];
    velocity_there(s, x, drift, surface);
    for (int i = 0; i < 3; i++) {
        vf_store(at[i], x[i]);
        vf_store(normal[i], n[i]);
        vf_store(was[i], before[i]);
        vf_store(u[i], surface[i]);
    }
    for (int i = 0; i < 4; i++) {
        vf_store(is[i], v[i]);
    }
    for (int k = 0; k < LMI_LANES; k++) {
        if (!(touching >> k & 1)) {
            continue;
        }
        lm_dvec3 came = dvec(was[0][k], was[1][k], was[2][k]), goes = dvec(is[0][k], is[1][k], is[2][k]);
        lm_dvec3 out = dvec(normal[0][k], normal[1][k], normal[2][k]);
        lm_dvec3 given = dvec_scale(dvec_sub(goes, came), is[3][k] * body->mean_mass);
        lmi_place place = {.point = dvec_add(body->origin, dvec(at[0][k], at[1][k], at[2][k])),
                           .normal = out,
                           .impulse = given,
                           .pressed = lmi_max(dvec_dot(given, out), 0.0),
                           .approach = dvec_dot(dvec_sub(dvec(u[0][k], u[1][k], u[2][k]), came), out),
                           .pressing = true};
        lmi_touched_wall(world, body, s->shape->slot, &place);
    }
}

/* Which lanes of a piece of particles may touch a wall by themselves. */
static inline vm may_lanes(const uint16_t *inner, uint32_t n, vf mass)
{
    if (!inner) {
        return vf_lt(vf_set1(0.0f), mass);
    }
    _Alignas(64) float lanes[LMI_LANES];
    for (uint32_t k = 0; k < LMI_LANES; k++) {
        lanes[k] = (float)(inner[n / LMI_BLOCK] >> (n % LMI_BLOCK + k) & 1);
    }
    return vf_lt(vf_set1(0.0f), vf_load(lanes) * mass);
}

/* Particles, each for itself: all of them, or those in `inner`. */
static void collide(lm_world *world, const lmi_surface *shape, lmi_body *body, double h, const float *starts,
                    const uint16_t *inner)
{
    lanes_surface s = prepare(world, shape, body, h);
    /* The particles of an octree lie inside it: without points on its surface colliders keep off them by half a cell. */
    const float *margins = body->octree && !inner ? body->octree->lanes.margin : NULL;
    const vf radius = s.margin;
    vf sums[6][LMI_PIECES]; /* of impulses, and of their moments about the origin */
    for (int i = 0; i < 6 * LMI_PIECES; i++) {
        sums[i / LMI_PIECES][i % LMI_PIECES] = vf_set1(0.0f);
    }
    uint32_t touched = 0;
    for (uint32_t n = 0; n < body->padded_count; n += LMI_LANES) {
        vf x[4], v[4], normal[3], before[3], drift[3];
        if (inner && !inner[n / LMI_BLOCK]) {
            continue;
        }
        vf_load4(body->x + (size_t)n * 4, x);
        vf_load4(body->v + (size_t)n * 4, v);
        vf depth;
        if (s.solid) {
            const float *start = starts + (size_t)(n / LMI_BLOCK) * 3 * LMI_BLOCK + n % LMI_BLOCK;
            depth =
                depth_in_solid(&s, x, v[3], start, margins ? margins + n : NULL, body->contact_radius, normal, drift);
        } else {
            if (margins) {
                s.margin = radius + vf_load(margins + n);
            }
            depth = s.margin - distance(&s, x, normal);
            if (s.swept) {
                sweep(&s, x, v, &depth, normal);
            }
        }
        vm touching = vf_lt(vf_set1(0.0f), depth);
        touching = vm_any(touching) ? vm_and(touching, may_lanes(inner, n, v[3])) : touching;
        if (!vm_any(touching)) {
            continue;
        }
        touched += (uint32_t)lmi_bit_count(vm_bits(touching));
        for (int i = 0; i < 3; i++) {
            before[i] = v[i];
        }
        respond(&s, touching, depth, normal, s.deforms ? drift : NULL, x, v);
        uint32_t piece = n / LMI_LANES % LMI_PIECES;
        vf given[3];
        for (int i = 0; i < 3; i++) {
            given[i] = v[3] * (v[i] - before[i]);
            sums[i][piece] = sums[i][piece] + given[i];
        }
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            sums[3 + i][piece] = sums[3 + i][piece] + (x[j] * given[k] - x[k] * given[j]);
        }
        if (body->touched) {
            put_down(world, &s, body, vm_bits(touching), normal, s.deforms ? drift : NULL, x, before, v);
        }
        vf_store4(body->x + (size_t)n * 4, x[0], x[1], x[2], x[3]);
        vf_store4(body->v + (size_t)n * 4, v[0], v[1], v[2], v[3]);
    }
    if (touched) {
        lm_dvec3 given = dvec(lmi_sum_lanes(sums[0]), lmi_sum_lanes(sums[1]), lmi_sum_lanes(sums[2]));
        lm_dvec3 moment = dvec(lmi_sum_lanes(sums[3]), lmi_sum_lanes(sums[4]), lmi_sum_lanes(sums[5]));
        given = dvec_scale(given, body->mean_mass);
        body->outside_impulse = dvec_add(body->outside_impulse, given);
        body->contacts += touched;
        lmi_wrench_of_surface(world, shape, body->origin, given, dvec_scale(moment, body->mean_mass));
    }
}

/* Where 16 points are and how they move; `rows` of riders and weights from `row` on. */
static inline void points_at(const lmi_body *body, uint32_t row, uint32_t rows, uint32_t lane, vf x[3], vf v[3])
{
    for (int i = 0; i < 3; i++) {
        x[i] = v[i] = vf_set1(0.0f);
    }
    for (uint32_t n = 0; n < rows; n++) {
        size_t at = (size_t)(row + n) * LMI_BLOCK + lane;
        vf px[4], pv[4], w = vf_load(body->touch.weight + at);
        vf_gather4(body->x, body->touch.rider + at, px);
        vf_gather4(body->v, body->touch.rider + at, pv);
        for (int i = 0; i < 3; i++) {
            x[i] = x[i] + w * px[i];
            v[i] = v[i] + w * pv[i];
        }
    }
}

/* A block of points against a collider, as plain numbers. A whole block whatever the width of lanes: to add a contact may
 * solve those before it, which moves what is found after that. */
typedef struct found {
    _Alignas(64) float normal[3][LMI_BLOCK], surface[3][LMI_BLOCK], depth[LMI_BLOCK];
    uint32_t touching; /* bits */
} found;

/* A piece of a block, from `lane` on. `start`: where its points were, as in remember_starts; solids are met on the way from
 * there. */
static void find(const lanes_surface *s, const vf x[3], const vf v[4], const float *start, float margin, double slop,
                 uint32_t lane, found *f)
{
    vf normal[3], surface[3], drift[3], depth;
    if (s->solid) {
        depth = depth_in_solid(s, x, v[3], start, NULL, margin + (float)slop, normal, drift) - vf_set1((float)slop);
    } else {
        depth = s->margin - distance(s, x, normal);
        if (s->swept) {
            sweep(s, x, v, &depth, normal);
        }
    }
    vm touching = vf_lt(vf_set1((float)-slop), depth);
    f->touching |= vm_bits(touching) << lane;
    velocity_there(s, x, s->deforms ? drift : NULL, surface);
    for (int i = 0; i < 3; i++) {
        vf_store(f->normal[i] + lane, normal[i]);
        vf_store(f->surface[i] + lane, surface[i]);
    }
    vf_store(f->depth + lane, depth);
}

/* All of a block: touch points, or particles where a body has none. */
static void find_block(const lanes_surface *s, const lmi_body *body, uint32_t block, const float *starts, double slop,
                       found *f)
{
    const lmi_touch *touch = &body->touch;
    f->touching = 0;
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
        vf x[4], v[4];
        if (touch->count) {
            uint32_t row = touch->first_row[block];
            points_at(body, row, touch->first_row[block + 1] - row, lane, x, v);
            v[3] = vf_set1(1.0f);
        } else {
            vf_load4(body->x + ((size_t)block * LMI_BLOCK + lane) * 4, x);
            vf_load4(body->v + ((size_t)block * LMI_BLOCK + lane) * 4, v);
        }
        const float *start = starts ? starts + (size_t)block * 3 * LMI_BLOCK + lane : NULL; /* of solids alone */
        find(s, x, v, start, body->contact_radius, slop, lane, f);
    }
}

/* Where the points of a body were at the beginning of the substep, as remember_starts does for particles; those that a wall
 * could not bring back all the way, where it wanted them. */
static void remember_points(const lmi_touch *touch, const lmi_body *body, double h)
{
    vf seconds = vf_set1((float)h);
    for (uint32_t n = 0; n < touch->blocks * LMI_BLOCK; n += LMI_LANES) {
        uint32_t row = touch->first_row[n / LMI_BLOCK];
        float *to = touch->start + (size_t)(n / LMI_BLOCK) * 3 * LMI_BLOCK + n % LMI_BLOCK;
        vf x[3], v[3];
        points_at(body, row, touch->first_row[n / LMI_BLOCK + 1] - row, n % LMI_BLOCK, x, v);
        for (int i = 0; i < 3; i++) {
            vf_store(to + i * LMI_BLOCK, x[i] - seconds * v[i]);
        }
    }
    for (uint32_t n = 0; n < touch->count; n++) {
        float *to = touch->start + (size_t)(n / LMI_BLOCK) * 3 * LMI_BLOCK + n % LMI_BLOCK;
        for (int i = 0; i < 3; i++) {
            to[i * LMI_BLOCK] += touch->warm[n].behind[i];
        }
    }
}

/* Adds the contacts of a body's points (or of its particles, when it answers as a whole) with a collider, where they are deeper
 * than `least`. `starts`: of the particles; points have their own. */
static void find_all(const lmi_step *step, const lmi_surface *shape, lmi_push *push, const float *starts, double least,
                     lmi_contact_list *list)
{
    lmi_body *body = push->body;
    lanes_surface s = prepare(step->world, shape, body, step->h);
    const lmi_touch *touch = &body->touch;
    double slop = lmi_contact_slop(step, body);
    double friction, bounce;
    wall_rule(step->world, shape, body, &friction, &bounce);
    uint32_t blocks = touch->count ? touch->blocks : body->padded_count / LMI_BLOCK;
    starts = touch->count ? touch->start : starts;
    for (uint32_t block = 0; block < blocks; block++) {
        uint32_t row = touch->count ? touch->first_row[block] : 0, n = block * LMI_BLOCK;
        uint32_t rows = touch->count ? touch->first_row[block + 1] - row : 1;
        found f;
        find_block(&s, body, block, starts, slop, &f);
        for (uint32_t k = 0; f.touching >> k; k++) {
            bool real = touch->count ? n + k < touch->count : body->v[(size_t)(n + k) * 4 + 3] > 0.0f;
            if (!(f.touching >> k & 1) || !real || f.depth[k] < least) {
                continue;
            }
            size_t at = (size_t)row * LMI_BLOCK + k;
            static const float all = 1.0f;
            uint32_t single = n + k;
            lmi_contact_def c = {.a = lmi_push_at(push, touch->count ? touch->rider[at] : single),
                                 .rider_a = touch->count ? touch->rider + at : &single,
                                 .weight_a = touch->count ? touch->weight + at : &all,
                                 .count_a = rows,
                                 .stride_a = LMI_BLOCK,
                                 .normal = dvec(f.normal[0][k], f.normal[1][k], f.normal[2][k]),
                                 .surface = dvec(f.surface[0][k], f.surface[1][k], f.surface[2][k]),
                                 .depth = f.depth[k],
                                 .friction = friction,
                                 .restitution = bounce,
                                 .wall = shape,
                                 .b = shape->push,
                                 .point = touch->count ? n + k : LMI_NONE};
            lmi_contact_add(list, &c);
        }
    }
}

/* Particles that may still be on the wrong side of a wall, each for itself: of a body that touches with its surface, those
 * deep inside, and else all. They do not count as contacts where there were others. */
static void collide_left(const lmi_step *step, lmi_body *body, const float *starts)
{
    const lmi_touch *touch = &body->touch;
    uint32_t contacts = body->contacts;
    for (uint32_t s = 0; s < step->surface_count; s++) {
        if (!step->surfaces[s].push && may_touch(&step->surfaces[s], body, step->h)) {
            collide(step->world, &step->surfaces[s], body, step->h, touch->count ? touch->inner_start : starts,
                    touch->count ? touch->inner : NULL);
        }
    }
    bool known = touch->count && contacts > 0; /* where points touch they alone count */
    body->contacts = known || contacts > body->contacts ? contacts : body->contacts;
}

/* An empty list for the contacts of one body with walls, which are solved by themselves. */
static lmi_contact_list begin_alone(const lmi_step *step, lmi_body *body, lmi_scratch *scratch, uint32_t sweeps)
{
    lmi_solver_begin(scratch->solver, step->world, step->h, sweeps, 1);
    scratch->solver->owners[0] = (lmi_owner){.body = body};
    return lmi_solver_list(scratch->solver, 0, lmi_contacts_limit(body));
}

/* A body against all colliders, or against the solids only. Returns how many solids it may touch. */
static uint32_t collide_all(const lmi_step *step, lmi_body *body, lmi_scratch *scratch, bool solids_only)
{
    const lmi_step own = lmi_halt_step(step, body);
    lmi_push push;
    bool begun = false;
    uint32_t met = 0;
    if (step->surface_count == 0) {
        return 0;
    }
    lmi_contact_list list = begin_alone(step, body, scratch, body->touch.count ? LMI_SWEEPS : LMI_MORE_SWEEPS);
    for (uint32_t s = 0; s < step->surface_count; s++) {
        const lmi_surface *surface = &step->surfaces[s];
        bool solid = lmi_solid_is(&surface->solid);
        if ((solids_only && !solid) || !may_touch(surface, body, own.h)) {
            continue;
        }
        met += solid;
        if (!begun) {
            /* Not all of its way: a wall does not come to meet it, as another body does. */
            lmi_push_begin(&push, body, 0.6 * step->h * dvec_length(dvec_from(body->motion.velocity)));
            begun = true;
        }
        if (body->touch.count || push.rigid > 0.0f) {
            find_all(&own, surface, &push, scratch->pull, -INFINITY, &list);
        } else {
            collide(step->world, surface, body, own.h, scratch->pull, NULL);
        }
    }
    if (begun) {
        lmi_solver_finish(&list);
        lmi_push_end(&push);
    }
    if (begun && (body->touch.count ? push.rigid < 1.0f : push.rigid > 0.0f)) {
        /* What answered as a whole may still have particles on the wrong side: now each for itself. */
        collide_left(&own, body, scratch->pull);
    }
    return met;
}

/* Where solids want the points that are still beyond them: there the next substep takes their way to begin, so that they never
 * count as being on the other side of a sheet. */
static void note_behind(const lmi_step *step, lmi_body *body)
{
    const double h = lmi_halt_step(step, body).h;
    const lmi_touch *touch = &body->touch;
    for (uint32_t s = 0; s < step->surface_count && touch->count; s++) {
        const lmi_surface *shape = &step->surfaces[s];
        if (!lmi_solid_is(&shape->solid) || !may_touch(shape, body, h)) {
            continue;
        }
        lanes_surface lanes = prepare(step->world, shape, body, h);
        for (uint32_t block = 0; block < touch->blocks; block++) {
            found f;
            find_block(&lanes, body, block, touch->start, 0.0, &f);
            for (uint32_t k = 0, n = block * LMI_BLOCK; f.touching >> k && n + k < touch->count; k++) {
                for (int i = 0; i < 3 && (f.touching >> k & 1); i++) {
                    touch->warm[touch->count + n + k].behind[i] = f.depth[k] * f.normal[i][k];
                }
            }
        }
    }
}

/* Where a body meets several solids they are processed again: what one of them puts back may be on the wrong side of
 * another. */
static void collide_body(const lmi_step *step, lmi_body *body, lmi_scratch *scratch)
{
    lmi_touch_begin(&body->touch);
    uint32_t met = collide_all(step, body, scratch, false), contacts = body->contacts;
    for (int pass = 1; pass < SOLID_PASSES && met > 1 && contacts > 0; pass++) {
        collide_all(step, body, scratch, true);
        body->contacts = contacts; /* counted once */
    }
    lmi_halt_guard(step, body);
    note_behind(step, body);
    lmi_touch_end(&body->touch);
}

uint32_t LMI_KERNEL(count_walls)(const lmi_step *step, const lmi_body *body)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < step->surface_count; s++) {
        count += may_touch(&step->surfaces[s], body, step->h);
    }
    return count;
}

/* Where the particles of a body that touches with them were, in memory to be given back; null where nobody asks. */
static lmi_scratch *starts_of(const lmi_step *step, const lmi_body *body)
{
    if (!step->solids || body->touch.count) {
        return NULL;
    }
    lmi_scratch *scratch = lmi_scratch_take(step->world);
    remember_starts(body, step->h, scratch->pull);
    return scratch;
}

void LMI_KERNEL(find_walls)(const lmi_step *step, lmi_push *push, lmi_contact_list *list)
{
    const lmi_step own = lmi_halt_step(step, push->body);
    lmi_scratch *scratch = starts_of(step, push->body);
    for (uint32_t s = 0; s < step->surface_count; s++) {
        if (may_touch(&step->surfaces[s], push->body, own.h)) {
            find_all(&own, &step->surfaces[s], push, scratch ? scratch->pull : NULL, -INFINITY, list);
        }
    }
    if (scratch) {
        lmi_scratch_give(scratch);
    }
}

/* What other bodies have pushed into a wall comes out again: walls have the last word. */
void LMI_KERNEL(last_walls)(const lmi_step *step, lmi_body *body, bool pushed, lmi_scratch *scratch)
{
    const lmi_step own = lmi_halt_step(step, body);
    uint32_t contacts = body->contacts;
    double least = 0.002 * body->rest_size;
    lmi_push push;
    lmi_contact_list list = begin_alone(step, body, scratch, LMI_SWEEPS);
    const float *starts = NULL;
    if (step->solids && !body->touch.count) {
        remember_starts(body, step->h, scratch->pull);
        starts = scratch->pull;
    }
    list.forgets = true;
    lmi_push_begin(&push, body, 0.0);
    for (uint32_t s = 0; s < step->surface_count && pushed; s++) {
        if (!step->surfaces[s].push && may_touch(&step->surfaces[s], body, own.h)) {
            find_all(&own, &step->surfaces[s], &push, starts, least, &list);
        }
    }
    if (lmi_solver_finish(&list)) {
        lmi_push_end(&push);
    }
    if (push.rigid < 1.0f) {
        collide_left(&own, body, starts);
    }
    lmi_halt_guard(step, body);
    note_behind(step, body);
    body->contacts = contacts;
}

void LMI_KERNEL(contact)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_body *body = lmi_body_in_step(step->world, batch->bodies[n]);
        body->contacts = 0;
        body->halted = body->hurries = false;
        if (step->solids) {
            float *starts = body->touch.count ? body->touch.inner_start : scratch->pull;
            body->fastest = fastest(body);
            if (!lmi_halt(step, body, starts)) {
                remember_points(&body->touch, body, step->h);
                remember_starts(body, step->h, starts);
            }
        }
        lmi_drags_apply(step, body);
        lmi_bones_pull(step, body);
        if (lmi_body_meets(body)) {
            continue; /* with the others, in mutual.c */
        }
        collide_body(step, body, scratch);
        lmi_bones_hold(step, body);
        lmi_pins_apply(step, body);
    }
}
