/*
 * The step around the match: forces, rigid motion, integration, contact.
 */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

#define TWO_PI 6.283185307179586476925

/* Slower approaches do not bounce. */
#define BOUNCE_SPEED 0.5

static ref_vec from_float(lm_vec3 a) { return ref_v((double)a.x, (double)a.y, (double)a.z); }

ref_body *ref_body_copy(const lm_world *world, lm_body_id id, double contact_radius)
{
    lm_body_info info;
    if (lm_body_get_info(world, id, &info) != LM_OK) return NULL;
    uint32_t n = info.particles;
    ref_body *body = calloc(1, sizeof *body);
    body->count = n;
    body->rest = calloc(n, sizeof *body->rest);
    body->x = calloc(n, sizeof *body->x);
    body->v = calloc(n, sizeof *body->v);
    body->mass = calloc(n, sizeof *body->mass);
    body->force = calloc(n, sizeof *body->force);
    body->pinned = calloc(n, sizeof *body->pinned);
    body->target = calloc(n, sizeof *body->target);
    body->target_frame = calloc(n, sizeof *body->target_frame);
    body->region_count = info.regions;
    body->offsets = calloc(info.regions + 1, sizeof *body->offsets);
    body->members = calloc(info.memberships + 1, sizeof *body->members);
    body->share = calloc(info.regions + 1, sizeof *body->share);
    body->count_as = calloc(info.regions + 1, sizeof *body->count_as);
    body->plastic = calloc(info.regions + 1, sizeof *body->plastic);
    body->mix = calloc(info.regions + 1, sizeof *body->mix);
    for (uint32_t r = 0; r < info.regions; r++) body->mix[r] = ref_identity();
    body->contact_radius = contact_radius;
    body->margin = 1e9;

    lm_vec3 *buffer = calloc(n, sizeof *buffer);
    float *masses = calloc(n, sizeof *masses);
    lm_body_get_rest_positions(world, id, buffer);
    for (uint32_t i = 0; i < n; i++) body->rest[i] = from_float(buffer[i]);
    lm_body_get_positions(world, id, lm_dvec3_zero(), buffer);
    for (uint32_t i = 0; i < n; i++) body->x[i] = from_float(buffer[i]);
    lm_body_get_velocities(world, id, buffer);
    for (uint32_t i = 0; i < n; i++) body->v[i] = from_float(buffer[i]);
    lm_body_get_masses(world, id, masses);
    for (uint32_t i = 0; i < n; i++) body->mass[i] = (double)masses[i];
    lm_body_get_regions(world, id, body->offsets, body->members);
    for (uint32_t r = 0; r < info.regions; r++) body->count_as[r] = info.octree_nodes > 0 ? body->mass[r] : 1.0;
    lm_body_get_material(world, id, &body->material);
    body->gravity = from_float(lm_world_get_gravity(world));
    float *shares = calloc(info.regions + 1, sizeof *shares);
    float *matrices = calloc(info.regions + 1, 9 * sizeof *matrices);
    lm_body_get_region_stiffness(world, id, shares);
    lm_body_get_plastic(world, id, matrices);
    for (uint32_t r = 0; r < info.regions; r++) {
        body->share[r] = (double)shares[r];
        for (int k = 0; k < 9; k++) body->plastic[r].at[k / 3][k % 3] = (double)matrices[9 * r + (uint32_t)k];
    }
    free(shares);
    free(matrices);
    free(buffer);
    free(masses);
    return body;
}

void ref_body_free(ref_body *body)
{
    if (body == NULL) return;
    free(body->rest);
    free(body->x);
    free(body->v);
    free(body->mass);
    free(body->force);
    free(body->pinned);
    free(body->target);
    free(body->target_frame);
    free(body->offsets);
    free(body->members);
    free(body->share);
    free(body->count_as);
    free(body->plastic);
    free(body->mix);
    ref_free_examples(body);
    free(body->part);
    free(body->debt);
    free(body);
}

/* ---- frames ---- */

static ref_frame frame_at(const ref_frame *frames, int index, double time)
{
    ref_frame frame = {.rotation = ref_identity()};
    if (index < 0) return frame;
    frame = frames[index];
    frame.position = ref_add_scaled(frame.position, time, frame.velocity);
    frame.rotation = ref_mat_mul(ref_rotation(ref_scale(time, frame.spin)), frame.rotation);
    return frame;
}

static ref_vec frame_point(const ref_frame *frame, ref_vec local)
{
    return ref_add(frame->position, ref_mat_vec(frame->rotation, local));
}

static ref_vec frame_velocity(const ref_frame *frame, ref_vec point)
{
    return ref_add(frame->velocity, ref_cross(frame->spin, ref_sub(point, frame->position)));
}

/* ---- forces ---- */

static void apply_uniform(ref_body *body, double h)
{
    ref_vec acceleration = ref_add(body->gravity, body->push);
    for (int f = 0; f < body->field_count; f++)
        if (body->fields[f].kind == LM_FIELD_UNIFORM) acceleration = ref_add(acceleration, body->fields[f].vector);
    for (uint32_t i = 0; i < body->count; i++) body->v[i] = ref_add_scaled(body->v[i], h, acceleration);
}

static void apply_field(ref_body *body, const ref_field *field, double h)
{
    for (uint32_t i = 0; i < body->count; i++) {
        if (field->kind == LM_FIELD_WIND) {
            ref_vec lag = ref_sub(field->vector, body->v[i]);
            body->v[i] = ref_add_scaled(body->v[i], 1.0 - exp(-field->strength * h), lag);
        } else if (field->kind == LM_FIELD_POINT) {
            ref_vec to = ref_sub(field->position, body->x[i]);
            double distance = ref_length(to);
            if (distance == 0.0 || distance >= field->radius) continue;
            double pull = field->strength * (1.0 - distance / field->radius);
            body->v[i] = ref_add_scaled(body->v[i], h * pull / distance, to);
        }
    }
}

/* How firmly a drag holds a particle: fully in the middle, smoothly less until the radius. */
static double hold_of(const ref_body *body, const ref_drag *drag, uint32_t i)
{
    if (i == drag->particle) return 1.0;
    double away = ref_length(ref_sub(body->rest[i], body->rest[drag->particle]));
    if (away >= drag->radius) return 0.0;
    double t = away / drag->radius;
    return (1.0 - t * t) * (1.0 - t * t);
}

/* A damped spring on the mean of the held particles, by backward Euler: the force is that of the position and velocity
 * which it leads to itself. */
static void apply_drag(ref_body *body, const ref_drag *drag, double h)
{
    double whole = 0.0, held = 0.0, mobility = 0.0;
    ref_vec x = {0}, v = {0};
    for (uint32_t i = 0; i < body->count; i++) {
        double hold = hold_of(body, drag, i);
        whole += body->mass[i];
        held += hold * body->mass[i];
        x = ref_add_scaled(x, hold * body->mass[i], body->x[i]);
        v = ref_add_scaled(v, hold * body->mass[i], body->v[i]);
    }
    x = ref_scale(1.0 / held, x);
    v = ref_scale(1.0 / held, v);
    /* An impulse of 1 on the mean changes its velocity by this much. */
    for (uint32_t i = 0; i < body->count; i++) {
        double share = hold_of(body, drag, i) / held;
        mobility += body->mass[i] * share * share;
    }
    double omega = TWO_PI * drag->hertz, stiffness = whole * omega * omega;
    double damping = 2.0 * drag->damping_ratio * omega * whole, resist = damping + h * stiffness;
    ref_vec force = ref_add_scaled(ref_scale(stiffness, ref_sub(drag->target, x)), -resist, v);
    force = ref_scale(1.0 / (1.0 + h * resist * mobility), force);
    double size = ref_length(force);
    if (size > drag->max_force) force = ref_scale(drag->max_force / size, force);
    for (uint32_t i = 0; i < body->count; i++)
        body->v[i] = ref_add_scaled(body->v[i], h * hold_of(body, drag, i) / held, force);
}

/* What depends on where a particle is and how fast it goes, field by field; what acts on single particles; last what is
 * the same for all. */
static void apply_forces(ref_body *body, double h)
{
    for (int f = 0; f < body->field_count; f++) apply_field(body, &body->fields[f], h);
    for (uint32_t i = 0; i < body->count; i++)
        body->v[i] = ref_add_scaled(body->v[i], h / body->mass[i], body->force[i]);
    apply_uniform(body, h);
}

/* ---- rigid motion ---- */

static double inverse(double value) { return 1.0 / value; }

typedef struct rigid_motion {
    ref_vec centre, velocity, spin;
} rigid_motion;

/* Of the particles that are in some region: the others are no part of what the damping holds together. */
static rigid_motion rigid_motion_of(const ref_body *body, const bool *matched)
{
    rigid_motion motion = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    double total = 0.0;
    for (uint32_t i = 0; i < body->count; i++) {
        if (!matched[i]) continue;
        total += body->mass[i];
        motion.centre = ref_add_scaled(motion.centre, body->mass[i], body->x[i]);
        motion.velocity = ref_add_scaled(motion.velocity, body->mass[i], body->v[i]);
    }
    if (total == 0.0) return motion;
    motion.centre = ref_scale(1.0 / total, motion.centre);
    motion.velocity = ref_scale(1.0 / total, motion.velocity);
    ref_vec momentum = {0};
    ref_mat inertia = {{{0}}};
    for (uint32_t i = 0; i < body->count; i++) {
        if (!matched[i]) continue;
        ref_vec arm = ref_sub(body->x[i], motion.centre);
        ref_vec v = ref_sub(body->v[i], motion.velocity);
        momentum = ref_add_scaled(momentum, body->mass[i], ref_cross(arm, v));
        ref_mat part = ref_mat_scale(ref_dot(arm, arm), ref_identity());
        part = ref_mat_add(part, ref_mat_scale(-1.0, ref_outer(arm, arm)));
        inertia = ref_mat_add(inertia, ref_mat_scale(body->mass[i], part));
    }
    motion.spin = ref_mat_vec(ref_symmetric_function(inertia, 1e-9, inverse), momentum);
    return motion;
}

/* ---- integration ---- */

void ref_rates(const lm_material *material, double h, double *alpha, double *k)
{
    if (material->stiffness == LM_STIFFNESS_ALPHA) {
        *alpha = (double)material->alpha;
        *k = 1.0 - exp(-(double)material->damping * h * material->damping_every);
        return;
    }
    bool nothing = material->stiffness == LM_STIFFNESS_GIVEN && !(material->hertz > 0.0f);
    double omega = TWO_PI * (nothing ? 8.0 : (double)material->hertz);
    *k = 1.0 - exp(-2.0 * (double)material->damping_ratio * omega * h * material->damping_every);
    *alpha = fmin(1.0, omega * omega * h * h);
}

static double diagonal_of(const ref_vec *points, uint32_t count)
{
    ref_vec lower = points[0], upper = points[0];
    for (uint32_t i = 1; i < count; i++) {
        lower = ref_v(fmin(lower.x, points[i].x), fmin(lower.y, points[i].y), fmin(lower.z, points[i].z));
        upper = ref_v(fmax(upper.x, points[i].x), fmax(upper.y, points[i].y), fmax(upper.z, points[i].z));
    }
    return ref_length(ref_sub(upper, lower));
}

/* A body of more than three times its size, with particles farther from their goals than it is large, loses deformation
 * velocity at 20 1/s on top of its own damping. */
static double kept_when_torn(const ref_body *body, const bool *matched, const ref_vec *goals, double h)
{
    double size = diagonal_of(body->rest, body->count), farthest = 0.0;
    for (uint32_t i = 0; i < body->count; i++)
        if (matched[i]) farthest = fmax(farthest, ref_length(ref_sub(goals[i], body->x[i])));
    return diagonal_of(body->x, body->count) > 3.0 * size && farthest > size ? exp(-20.0 * h) : 1.0;
}

static void integrate(ref_body *body, double h)
{
    bool *matched = calloc(body->count, sizeof *matched);
    for (uint32_t k = 0; k < body->offsets[body->region_count]; k++) matched[body->members[k]] = true;
    rigid_motion motion = rigid_motion_of(body, matched);
    ref_vec *goals = calloc(body->count, sizeof *goals);
    ref_mix(body);
    ref_flow(body, h);
    ref_match(body, goals);
    double alpha, k;
    ref_rates(&body->material, h, &alpha, &k);
    bool damped = ++body->damping_turn >= body->material.damping_every;
    body->damping_turn = damped ? 0 : body->damping_turn;
    k = damped ? k : 0.0;
    if (body->material.damping_kind == LM_DAMPING_REGIONAL) {
        ref_damp_regions(body, k);
        k = 0.0;
    }
    double kept = kept_when_torn(body, matched, goals, h);
    for (uint32_t i = 0; i < body->count; i++) {
        ref_vec v = body->v[i];
        if (matched[i]) {
            ref_vec rigid = ref_add(motion.velocity, ref_cross(motion.spin, ref_sub(body->x[i], motion.centre)));
            v = ref_add_scaled(v, k, ref_sub(rigid, v));
            v = ref_add_scaled(v, alpha / h, ref_sub(goals[i], body->x[i]));
            v = ref_add_scaled(rigid, kept, ref_sub(v, rigid));
        }
        body->v[i] = v;
    }
    for (int d = 0; d < body->drag_count; d++) apply_drag(body, &body->drags[d], h);
    for (uint32_t i = 0; i < body->count; i++) body->x[i] = ref_add_scaled(body->x[i], h, body->v[i]);
    free(goals);
    free(matched);
}

/* ---- contact ---- */

static double box_distance(ref_vec p, ref_vec half, ref_vec *normal)
{
    double at[3] = {p.x, p.y, p.z}, size[3] = {half.x, half.y, half.z}, out[3], best = -1e300;
    int face = 0;
    bool outside = false;
    for (int a = 0; a < 3; a++) {
        double over = fabs(at[a]) - size[a];
        out[a] = fmax(over, 0.0) * (at[a] < 0.0 ? -1.0 : 1.0);
        outside = outside || over > 0.0;
        if (over > best) {
            best = over;
            face = a;
        }
    }
    if (outside) {
        ref_vec away = ref_v(out[0], out[1], out[2]);
        *normal = ref_normalise(away);
        return ref_length(away);
    }
    double sign = at[face] < 0.0 ? -1.0 : 1.0;
    *normal = ref_v(face == 0 ? sign : 0.0, face == 1 ? sign : 0.0, face == 2 ? sign : 0.0);
    return best;
}

double ref_collider_distance(const ref_collider *collider, const ref_frame *frames, double time, ref_vec p,
                             ref_vec *normal)
{
    ref_frame frame = frame_at(frames, collider->frame, time);
    ref_mat rotation = ref_mat_mul(frame.rotation, collider->rotation);
    ref_vec local = ref_mat_vec(ref_transpose(rotation), ref_sub(p, frame_point(&frame, collider->position)));
    ref_vec n = {0, 1, 0};
    double distance = 0.0;
    switch (collider->shape) {
    case LM_SHAPE_PLANE: distance = local.y; break;
    case LM_SHAPE_CAPSULE:
        local.y -= fmax(-collider->half_length, fmin(collider->half_length, local.y));
        n = ref_normalise(local);
        distance = ref_length(local) - collider->radius;
        break;
    case LM_SHAPE_SPHERE:
        n = ref_normalise(local);
        distance = ref_length(local) - collider->radius;
        break;
    case LM_SHAPE_BOX: distance = box_distance(local, collider->half_extents, &n); break;
    default: break;
    }
    *normal = ref_mat_vec(rotation, n);
    return distance;
}

static double half_thickness(const ref_collider *collider)
{
    ref_vec half = collider->half_extents;
    return collider->shape == LM_SHAPE_PLANE ? INFINITY
           : collider->shape == LM_SHAPE_BOX ? fmin(half.x, fmin(half.y, half.z))
                                             : collider->radius;
}

/* A particle that has moved further than the collider is thick: the plane it met first, by walking along its way in small
 * steps and then halving the one in which it came in. */
static void sweep(ref_body *body, const ref_collider *collider, uint32_t i, double h, double *depth, ref_vec *n)
{
    enum { STEPS = 4000 };
    ref_frame frame = frame_at(body->frames, collider->frame, body->time);
    ref_vec surface = collider->frame >= 0 ? frame_velocity(&frame, body->x[i]) : ref_v(0, 0, 0);
    ref_vec way = ref_scale(h, ref_sub(body->v[i], surface)), at, normal;
    if (!(ref_length(way) > half_thickness(collider))) return;
    double before = 0.0, after = -1.0;
    for (int k = 0; k <= STEPS && after < 0.0; k++) {
        at = ref_add_scaled(body->x[i], (double)k / STEPS - 1.0, way);
        double left = ref_collider_distance(collider, body->frames, body->time, at, &normal) - body->contact_radius;
        if (k == 0 && left <= -0.1 * half_thickness(collider)) return;
        if (k == 0 && left <= 1e-4) body->margin = 0.0; /* on the surface: rounding says which side it came from */
        if (k > 0 && left <= 0.0)
            after = (double)k / STEPS;
        else
            before = (double)k / STEPS;
    }
    if (after < 0.0) return;
    for (int k = 0; k < 40; k++) {
        double middle = 0.5 * (before + after);
        at = ref_add_scaled(body->x[i], middle - 1.0, way);
        if (ref_collider_distance(collider, body->frames, body->time, at, &normal) > body->contact_radius)
            before = middle;
        else
            after = middle;
    }
    *n = normal;
    *depth = ref_dot(ref_sub(at, body->x[i]), normal);
}

static void collide(ref_body *body, const ref_collider *collider, uint32_t i, double h)
{
    ref_vec n;
    double depth = body->contact_radius - ref_collider_distance(collider, body->frames, body->time, body->x[i], &n);
    sweep(body, collider, i, h, &depth, &n);
    if (depth <= 0.0) return;
    body->x[i] = ref_add_scaled(body->x[i], depth, n);
    ref_frame frame = frame_at(body->frames, collider->frame, body->time);
    ref_vec surface = collider->frame >= 0 ? frame_velocity(&frame, body->x[i]) : ref_v(0, 0, 0);
    ref_vec relative = ref_sub(body->v[i], surface);
    double approach = -ref_dot(relative, n);
    if (approach <= 0.0) return;
    double bounce = fmax((double)body->material.restitution, collider->restitution);
    double push = (1.0 + (approach > BOUNCE_SPEED ? bounce : 0.0)) * approach;
    double friction = sqrt((double)body->material.friction * collider->friction);
    ref_vec slide = ref_add_scaled(relative, approach, n);
    double speed = ref_length(slide);
    double kept = speed > friction * push ? 1.0 - friction * push / speed : 0.0;
    ref_vec after = ref_add_scaled(ref_scale(kept, slide), push - approach, n);
    body->v[i] = ref_add(surface, after);
    body->x[i] = ref_add_scaled(body->x[i], -h * (1.0 - kept), slide); /* the way that friction takes back */
}

/* Whether contacts push a body as a whole, which is not modelled here: stiff and well damped, or fast. */
static bool pushed_as_a_whole(const ref_body *body, double h)
{
    double alpha, k, mass = 0.0;
    ref_vec momentum = {0, 0, 0}, low = body->rest[0], high = low;
    ref_rates(&body->material, h, &alpha, &k);
    for (uint32_t i = 0; i < body->count; i++) {
        ref_vec p = body->rest[i];
        momentum = ref_add_scaled(momentum, body->mass[i], body->v[i]);
        mass += body->mass[i];
        low = ref_v(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = ref_v(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    return alpha * k > 0.24 || h * ref_length(momentum) / mass > 0.07 * ref_length(ref_sub(high, low));
}

static void contact(ref_body *body, double h)
{
    if (body->collider_count > 0 && pushed_as_a_whole(body, h)) body->margin = 0.0;
    for (uint32_t i = 0; i < body->count; i++) {
        for (int c = 0; c < body->collider_count; c++) collide(body, &body->colliders[c], i, h);
        if (body->pinned[i]) {
            ref_frame frame = frame_at(body->frames, body->target_frame[i], body->time);
            body->x[i] = frame_point(&frame, body->target[i]);
            body->v[i] = frame_velocity(&frame, body->x[i]);
        }
    }
}

void ref_body_step(ref_body *body, double h)
{
    ref_repay(body);
    apply_forces(body, h);
    integrate(body, h);
    body->time += h;
    contact(body, h);
}
