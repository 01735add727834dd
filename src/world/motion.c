#include "world/motion.h"
#include "base/dmath.h"
#include "collide/wrench.h"
#include "lattice/lattice_body.h"

#include <float.h>

lm_vec3 lmi_uniform_change(const lmi_step *step, lmi_body *body)
{
    lm_dvec3 acceleration = step->gravity;
    for (uint32_t f = 0; f < step->flow_count; f++) {
        if (step->flows[f].kind == LM_FIELD_UNIFORM) {
            acceleration = dvec_add(acceleration, dvec_from(step->flows[f].vector));
        }
    }
    for (uint32_t n = body->first_force; n != LMI_NONE; n = step->world->forces[n].next) {
        const lmi_force *force = &step->world->forces[n];
        if (force->particle == LMI_NONE) {
            acceleration = dvec_add(acceleration, dvec_scale(dvec_from(force->force), 1.0 / body->total_mass));
        }
    }
    lm_vec3 change = vec_from(dvec_scale(acceleration, step->h));
    body->outside_impulse = dvec_add(body->outside_impulse, dvec_scale(dvec_from(change), body->total_mass));
    return change;
}

void lmi_particle_forces(const lmi_step *step, lmi_body *body)
{
    for (uint32_t n = body->first_force; n != LMI_NONE; n = step->world->forces[n].next) {
        const lmi_force *force = &step->world->forces[n];
        if (force->particle == LMI_NONE) {
            continue;
        }
        float *v = body->v + (size_t)force->particle * 4;
        double mass = body->mass[force->particle];
        lm_dvec3 done = lmi_change_velocity(v, dvec_scale(dvec_from(force->force), step->h / mass));
        body->outside_impulse = dvec_add(body->outside_impulse, dvec_scale(done, mass));
    }
}

/* A spring between the weighted mean of the dragged particles and the target, stepped implicitly for their mass: stable
 * however stiff. It acts after everything else that changes velocities in the substep; at rest its force is then exactly
 * stiffness times stretch, because nothing undoes the motion that the implicit step counts on. The particles have moved by
 * h v already: the spring is measured where they came from, and they move on by h times the change. */
static void apply_drag(const lmi_step *step, lmi_body *body, lmi_drag *drag)
{
    lmi_dragged sums = {0};
    const double went = lmi_body_went(body, step->h);
    for (uint32_t n = 0; n < drag->count; n++) {
        const float *x = body->x + (size_t)drag->particles[n] * 4, *v = body->v + (size_t)drag->particles[n] * 4;
        lmi_drag_weigh(&sums, x, v, v[3], drag->weights[n], went);
    }
    lmi_drag_spring spring = {.target = dvec_sub(drag->target, body->origin),
                              .hertz = drag->hertz,
                              .damping_ratio = drag->damping_ratio,
                              .max_force = drag->max_force,
                              .whole = body->total_mass / body->mean_mass,
                              .mean_mass = body->mean_mass};
    lm_dvec3 impulse = lmi_drag_impulse(&spring, &sums, step->h), given = lm_dvec3_zero();
    for (uint32_t n = 0; n < drag->count; n++) {
        float *x = body->x + (size_t)drag->particles[n] * 4, *v = body->v + (size_t)drag->particles[n] * 4;
        lm_dvec3 done = lmi_change_velocity(v, dvec_scale(impulse, drag->weights[n]));
        given = dvec_add(given, dvec_scale(done, v[3] * body->mean_mass));
        lmi_move_on(x, done, went);
    }
    drag->force = vec_from(dvec_limit(dvec_scale(given, 1.0 / step->h), FLT_MAX));
    body->outside_impulse = dvec_add(body->outside_impulse, given);
}

void lmi_drags_apply(const lmi_step *step, lmi_body *body)
{
    for (uint32_t n = body->first_drag; n != LMI_NONE;) {
        lmi_drag *drag = LMI_POOL_AT(&step->world->drags, lmi_drag, n);
        apply_drag(step, body, drag);
        n = drag->next;
    }
}

lmi_holder lmi_mover_carries(const lmi_mover *mover)
{
    return (lmi_holder){mover->rotation, mover->pose.position, dvec_from(mover->velocity), dvec_from(mover->spin)};
}

bool lmi_pin_is_pushed(const lm_world *world, const lmi_pin *pin)
{
    return pin->mover != LMI_NONE && LMI_POOL_AT(&world->movers, lmi_mover, pin->mover)->mass > 0.0f;
}

void lmi_pins_bear(lmi_body *body, lm_dvec3 impulse, lm_dvec3 moment, lm_dvec3 about)
{
    moment = dvec_add(moment, dvec_cross(about, impulse));
    body->outside_impulse = dvec_add(body->outside_impulse, impulse);
    body->held_impulse = dvec_add(body->held_impulse, impulse);
    body->held_moment = dvec_add(body->held_moment, moment);
    body->held_origin = body->origin;
}

/* What the match gave goes to the movers of all pins, by how many particles they hold. */
static void tell_movers(const lmi_step *step, lmi_body *body)
{
    uint32_t held = 0;
    for (uint32_t n = body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&step->world->pins, lmi_pin, n)->next) {
        const lmi_pin *pin = LMI_POOL_AT(&step->world->pins, lmi_pin, n);
        held += pin->yields ? 0 : pin->count;
    }
    for (uint32_t n = body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&step->world->pins, lmi_pin, n)->next) {
        const lmi_pin *pin = LMI_POOL_AT(&step->world->pins, lmi_pin, n);
        double share = (double)pin->count / held;
        if (pin->mover != LMI_NONE && !pin->yields) {
            lmi_wrench_of_mover(step->world, pin->mover, body->held_origin, dvec_scale(body->held_impulse, share),
                                dvec_scale(body->held_moment, share));
        }
    }
    body->held_impulse = body->held_moment = lm_dvec3_zero();
}

void lmi_pins_apply(const lmi_step *step, lmi_body *body)
{
    if (body->anchored) {
        tell_movers(step, body);
    }
    for (uint32_t n = body->first_pin; n != LMI_NONE;) {
        const lmi_pin *pin = LMI_POOL_AT(&step->world->pins, lmi_pin, n);
        lmi_holder carrier = {0};
        n = pin->next;
        if (lmi_pin_is_pushed(step->world, pin)) {
            continue;
        }
        if (pin->mover != LMI_NONE) {
            carrier = lmi_mover_carries(LMI_POOL_AT(&step->world->movers, lmi_mover, pin->mover));
        }
        lm_dvec3 impulse = lm_dvec3_zero(), moment = lm_dvec3_zero();
        for (uint32_t k = 0; k < pin->count; k++) {
            float *x = body->x + (size_t)pin->particles[k] * 4, *v = body->v + (size_t)pin->particles[k] * 4;
            lm_dvec3 target = pin->targets[k], velocity = lm_dvec3_zero();
            if (pin->mover != LMI_NONE) {
                target = lmi_carry(&carrier, target, &velocity);
            }
            lm_dvec3 change = lmi_hold_particle(x, v, body->origin, target, velocity);
            lm_dvec3 given = dvec_scale(change, v[3] * body->mean_mass);
            body->outside_impulse = dvec_add(body->outside_impulse, given);
            impulse = dvec_add(impulse, given);
            moment = dvec_add(moment, dvec_cross(dvec_sub(target, body->origin), given));
        }
        if (pin->mover != LMI_NONE) {
            lmi_wrench_of_mover(step->world, pin->mover, body->origin, impulse, moment);
        }
    }
}

void lmi_damping_turn(lmi_body *body)
{
    body->damping_turn++;
    body->damping_now = body->damping_turn >= body->material.damping_every ? body->damping : 0.0f;
    body->damping_turn = body->damping_turn >= body->material.damping_every ? 0 : body->damping_turn;
}

void lmi_motion_solve(lmi_motion *motion, lm_vec3 at, lm_vec3 from, double mass, const double first[3],
                      const double momentum[3], const double angular[3], const double second[6])
{
    motion->mass = mass;
    if (!(mass > 0.0)) {
        lmi_motion none = {0};
        *motion = none;
        return;
    }
    lm_dvec3 c = dvec(first[0] / mass, first[1] / mass, first[2] / mass);
    lm_dvec3 p = dvec(momentum[0], momentum[1], momentum[2]);
    lm_dvec3 l = dvec_sub(dvec(angular[0], angular[1], angular[2]), dvec_cross(c, p));
    double xx = second[0] - mass * c.x * c.x, yy = second[1] - mass * c.y * c.y, zz = second[2] - mass * c.z * c.z;
    motion->inertia[0] = yy + zz;
    motion->inertia[1] = zz + xx;
    motion->inertia[2] = xx + yy;
    motion->inertia[3] = mass * c.x * c.y - second[3];
    motion->inertia[4] = mass * c.y * c.z - second[4];
    motion->inertia[5] = mass * c.z * c.x - second[5];
    motion->centre = vec_from(dvec_add(dvec_from(at), c));
    lmi_motion_of(motion, p, l, &motion->velocity, &motion->spin);
    motion->velocity.x += from.x;
    motion->velocity.y += from.y;
    motion->velocity.z += from.z;
}

void lmi_motion_of(const lmi_motion *motion, lm_dvec3 momentum, lm_dvec3 angular, lm_vec3 *velocity, lm_vec3 *spin)
{
    *velocity = vec_from(dvec_scale(momentum, motion->mass > 0.0 ? 1.0 / motion->mass : 0.0));
    *spin = vec_from(lmi_dmat_solve_spin(motion->inertia, angular));
}

/* ---- overstretched bodies ----
 *
 * Overstretched bodies: states of several times the body's size. A caller can set a million times; an engine that cannot
 * explode must recover from there. Three things would hold it up.
 *
 * The speed limit, applied to each particle by itself, turns a pull without torque into one with torque. So the limit is
 * applied to the whole deformation velocity by one factor, which keeps momentum and spin.
 *
 * Angular momentum grows with the square of the size and is kept while the body shrinks: what rounding gives to a body of
 * a million sizes becomes a spin of millions of turns a second in a body of one, and a spinning body is stretched. So an
 * angular momentum that is no more than the rounding of its terms is taken for what it is, and removed. As the body
 * shrinks, so does the rounding; what is left at OVERSTRETCHED sizes does not show.
 *
 * Goals that a fit finds far from the particles jump (a region that is turned inside out may turn either way), and each
 * jump may add energy: an undamped body of many regions that tear at each other could gain it without end. So while
 * particles are torn from their goals by more than the body's size, deformation velocity is lost, whatever the material.
 * Pieces of one body that fly apart are not torn: they have goals of their own.
 *
 * Müller et al. 2005 have no such states. All this is done in double precision, one particle after the other, and only for
 * such bodies: others are not touched, and pay one comparison.
 */

#define OVERSTRETCHED 3.0

/* In units of the sum of the terms' magnitudes. Float32 leaves about 1e-7; what a step left must still count as rounding
 * when damping has shrunk the terms in the next one. */
#define ROUNDING 1e-5

/* Of LM_MAX_SPEED, for the deformation velocity; the rest is for the motion as a whole. */
#define SPEED_SHARE 0.5

/* Sizes between a particle and its goal, and 1/s of deformation velocity lost beyond them. */
#define TORN 1.0
#define LOSS 20.0

static double spread_of(const lmi_body *body)
{
    return dvec_length(dvec_sub(dvec_from(body->upper), dvec_from(body->lower)));
}

bool lmi_is_overstretched(const lmi_step *step, const lmi_body *body)
{
    double spread = spread_of(body);
    if (body->lattice && body->lattice->shape.part_count > 1) { /* how far apart the parts are does not matter */
        spread = 0.0;
        for (uint32_t n = 0; n < body->lattice->shape.part_count; n++) {
            const lmi_lattice_part *part = &body->lattice->part[n];
            spread = lmi_max(spread, dvec_length(dvec_sub(dvec_from(part->upper), dvec_from(part->lower))));
        }
    }
    return spread > OVERSTRETCHED * body->rest_size ||
           body->firmness / step->h * spread > 0.5 * SPEED_SHARE * LM_MAX_SPEED;
}

static lm_dvec3 position_of(const lmi_body *body, uint32_t n)
{
    const float *x = body->x + (size_t)n * 4;
    return dvec(x[0], x[1], x[2]);
}

static lm_dvec3 velocity_of(const lmi_body *body, uint32_t n)
{
    const float *v = body->v + (size_t)n * 4;
    return dvec(v[0], v[1], v[2]);
}

/* Mass in lanes of a particle that is matched, else 0. */
static double matched_mass(const lmi_body *body, uint32_t n)
{
    return body->x[(size_t)n * 4 + 3] > 0.0f ? body->v[(size_t)n * 4 + 3] : 0.0;
}

/* The motion as a whole again, in double precision throughout. */
static void measure(lmi_body *body)
{
    lm_dvec3 first = position_of(body, body->reference), from = velocity_of(body, body->reference);
    lm_dvec3 moment = dvec(0.0, 0.0, 0.0), momentum = moment, angular = moment;
    double mass = 0.0, second[6] = {0.0};
    LMI_PARTICLES_EACH(body, n)
    {
        double m = matched_mass(body, n);
        lm_dvec3 r = dvec_sub(position_of(body, n), first), p = dvec_scale(dvec_sub(velocity_of(body, n), from), m);
        mass += m;
        moment = dvec_add(moment, dvec_scale(r, m));
        momentum = dvec_add(momentum, p);
        angular = dvec_add(angular, dvec_cross(r, p));
        const double products[6] = {r.x * r.x, r.y * r.y, r.z * r.z, r.x * r.y, r.y * r.z, r.z * r.x};
        for (int i = 0; i < 6; i++) second[i] += m * products[i];
    }
    lmi_motion_solve(&body->motion, vec_from(first), vec_from(from), mass,
                     (const double[3]){moment.x, moment.y, moment.z},
                     (const double[3]){momentum.x, momentum.y, momentum.z},
                     (const double[3]){angular.x, angular.y, angular.z}, second);
}

void lmi_quiet_rounding(const lmi_step *step, lmi_body *body)
{
    measure(body);
    lm_dvec3 centre = dvec_from(body->motion.centre), drift = dvec_from(body->motion.velocity);
    lm_dvec3 spin = dvec_from(body->motion.spin), angular = dvec(0.0, 0.0, 0.0);
    double size = 0.0; /* m r² + m (h u)²: of the same order at every phase of an oscillation */
    LMI_PARTICLES_EACH(body, n)
    {
        double m = matched_mass(body, n);
        lm_dvec3 r = dvec_sub(position_of(body, n), centre), u = dvec_sub(velocity_of(body, n), drift);
        angular = dvec_add(angular, dvec_scale(dvec_cross(r, u), m));
        size += m * (dvec_dot(r, r) + step->h * step->h * dvec_dot(u, u));
    }
    if (step->h * dvec_length(angular) > ROUNDING * size) return;
    LMI_PARTICLES_EACH(body, n)
    {
        if (matched_mass(body, n) == 0.0) continue;
        float *v = body->v + (size_t)n * 4;
        lm_dvec3 turning = dvec_cross(spin, dvec_sub(position_of(body, n), centre));
        lmi_change_velocity(v, dvec_scale(turning, -1.0));
    }
    body->motion.spin = (lm_vec3){0.0f, 0.0f, 0.0f};
}

float lmi_overstretch_keeps(const lmi_step *step, const lmi_body *body, const float *pull, lm_vec3 velocity,
                            lm_vec3 spin)
{
    double rate = body->alpha / step->h, keep = 1.0 - body->damping_now, fastest = 0.0, farthest = 0.0;
    LMI_PARTICLES_EACH(body, n)
    {
        if (matched_mass(body, n) == 0.0) continue;
        const float *d = pull + (size_t)(n / LMI_BLOCK) * 3 * LMI_BLOCK + n % LMI_BLOCK;
        lm_dvec3 r = dvec_sub(position_of(body, n), dvec_from(body->motion.centre));
        lm_dvec3 whole = dvec_add(dvec_from(body->motion.velocity), dvec_cross(dvec_from(body->motion.spin), r));
        lm_dvec3 extra = dvec_add(dvec_from(velocity), dvec_cross(dvec_from(spin), r));
        lm_dvec3 wish = dvec_sub(dvec(d[0], d[LMI_BLOCK], d[2 * LMI_BLOCK]), extra);
        farthest = lmi_max(farthest, dvec_length(wish));
        lm_dvec3 u = dvec_add(dvec_scale(dvec_sub(velocity_of(body, n), whole), keep), dvec_scale(wish, rate));
        fastest = lmi_max(fastest, dvec_length(u));
    }
    double limit = SPEED_SHARE * LM_MAX_SPEED, share = 1.0;
    if (farthest > TORN * body->rest_size) share = lmi_exp(-LOSS * step->h);
    return (float)lmi_min(share, fastest * share > limit ? limit / fastest : 1.0);
}
