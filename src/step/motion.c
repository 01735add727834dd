#include "step/motion.h"

#include <float.h>

lm_dvec3 lmi_change_velocity(float *v, lm_dvec3 change)
{
    double add[3] = {change.x, change.y, change.z}, done[3];
    for (int i = 0; i < 3; i++) {
        double wish = v[i] + add[i];
        float now = (float)(wish > LM_MAX_SPEED ? LM_MAX_SPEED : wish < -LM_MAX_SPEED ? -LM_MAX_SPEED : wish);
        done[i] = (double)now - v[i];
        v[i] = now;
    }
    return dvec(done[0], done[1], done[2]);
}

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
    lm_dvec3 x = dvec(0.0, 0.0, 0.0), v = x;
    double mobility = 0.0; /* speed of the mean for an impulse of 1, relative mass */
    for (uint32_t n = 0; n < drag->count; n++) {
        const float *px = body->x + (size_t)drag->particles[n] * 4, *pv = body->v + (size_t)drag->particles[n] * 4;
        double share = drag->weights[n] * pv[3];
        lm_dvec3 from = dvec(px[0] - step->h * pv[0], px[1] - step->h * pv[1], px[2] - step->h * pv[2]);
        x = dvec_add(x, dvec_scale(from, share));
        v = dvec_add(v, dvec_scale(dvec(pv[0], pv[1], pv[2]), share));
        mobility += share * drag->weights[n];
    }
    double h = step->h, omega = 6.283185307179586 * drag->hertz, whole = body->total_mass / body->mean_mass;
    double stiffness = whole * omega * omega, damping = 2.0 * drag->damping_ratio * omega * whole;
    lm_dvec3 stretch = dvec_sub(dvec_limit(dvec_sub(drag->target, body->origin), LM_MAX_COORDINATE), x);
    lm_dvec3 wish = dvec_sub(dvec_scale(stretch, h * stiffness), dvec_scale(v, h * (damping + h * stiffness)));
    lm_dvec3 impulse = dvec_scale(wish, 1.0 / (1.0 + mobility * h * (damping + h * stiffness)));
    double size = dvec_length(impulse) * body->mean_mass, most = (double)drag->max_force * h;
    if (size > most) {
        impulse = dvec_scale(impulse, most / size);
    }
    lm_dvec3 given = dvec(0.0, 0.0, 0.0);
    for (uint32_t n = 0; n < drag->count; n++) {
        float *px = body->x + (size_t)drag->particles[n] * 4, *pv = body->v + (size_t)drag->particles[n] * 4;
        lm_dvec3 done = lmi_change_velocity(pv, dvec_scale(impulse, drag->weights[n]));
        given = dvec_add(given, dvec_scale(done, pv[3] * body->mean_mass));
        float way[3] = {(float)(h * done.x), (float)(h * done.y), (float)(h * done.z)};
        for (int i = 0; i < 3; i++) {
            px[i] = fmaxf(fminf(px[i] + way[i], LM_MAX_COORDINATE), -LM_MAX_COORDINATE);
        }
    }
    drag->force = vec_from(dvec_limit(dvec_scale(given, 1.0 / h), FLT_MAX));
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

void lmi_pins_apply(const lmi_step *step, lmi_body *body)
{
    for (uint32_t n = body->first_pin; n != LMI_NONE;) {
        const lmi_pin *pin = LMI_POOL_AT(&step->world->pins, lmi_pin, n);
        const lmi_mover *mover =
            pin->mover == LMI_NONE ? NULL : LMI_POOL_AT(&step->world->movers, lmi_mover, pin->mover);
        for (uint32_t k = 0; k < pin->count; k++) {
            float *x = body->x + (size_t)pin->particles[k] * 4, *v = body->v + (size_t)pin->particles[k] * 4;
            lm_dvec3 target = pin->targets[k], velocity = dvec(0.0, 0.0, 0.0);
            if (mover) {
                lm_dvec3 arm = dmat_apply(&mover->rotation, target);
                target = dvec_add(mover->pose.position, arm);
                velocity = dvec_add(dvec_from(mover->velocity), dvec_cross(dvec_from(mover->spin), arm));
            }
            lm_vec3 at = vec_from(dvec_limit(dvec_sub(target, body->origin), LM_MAX_COORDINATE));
            lm_vec3 to = vec_from(dvec_limit(velocity, LM_MAX_SPEED));
            lm_dvec3 change = dvec((double)to.x - v[0], (double)to.y - v[1], (double)to.z - v[2]);
            body->outside_impulse = dvec_add(body->outside_impulse, dvec_scale(change, v[3] * body->mean_mass));
            x[0] = at.x, x[1] = at.y, x[2] = at.z;
            v[0] = to.x, v[1] = to.y, v[2] = to.z;
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
