#include "world/motion.h"

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
    for (uint32_t n = 0; n < drag->count; n++) {
        const float *x = body->x + (size_t)drag->particles[n] * 4, *v = body->v + (size_t)drag->particles[n] * 4;
        lmi_drag_weigh(&sums, x, v, v[3], drag->weights[n], step->h);
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
        lmi_move_on(x, done, step->h);
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

void lmi_pins_apply(const lmi_step *step, lmi_body *body)
{
    for (uint32_t n = body->first_pin; n != LMI_NONE;) {
        const lmi_pin *pin = LMI_POOL_AT(&step->world->pins, lmi_pin, n);
        lmi_holder carrier = {0};
        if (pin->mover != LMI_NONE) {
            carrier = lmi_mover_carries(LMI_POOL_AT(&step->world->movers, lmi_mover, pin->mover));
        }
        for (uint32_t k = 0; k < pin->count; k++) {
            float *x = body->x + (size_t)pin->particles[k] * 4, *v = body->v + (size_t)pin->particles[k] * 4;
            lm_dvec3 target = pin->targets[k], velocity = lm_dvec3_zero();
            if (pin->mover != LMI_NONE) {
                target = lmi_carry(&carrier, target, &velocity);
            }
            lm_dvec3 change = lmi_hold_particle(x, v, body->origin, target, velocity);
            body->outside_impulse = dvec_add(body->outside_impulse, dvec_scale(change, v[3] * body->mean_mass));
        }
        n = pin->next;
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
    *spin = vec_from(dmat_solve_spin(motion->inertia, angular));
}
