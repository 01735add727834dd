/*
 * What the examples with ODE (the Open Dynamics Engine, libode-dev) share: a body of ODE that is a mover of Limber. ODE moves it; what
 * Limber's bodies give it in a substep is a force on it in the next one.
 */
#ifndef EXAMPLE_ODE_H
#define EXAMPLE_ODE_H

#include <limber/limber.h>
#include <ode/ode.h>

typedef struct rigid {
    dBodyID body;
    lm_mover_id mover;
    lm_dvec3 force; /* that Limber's bodies put on it in the last substep */
} rigid;

static inline rigid rigid_make(lm_world *world, dWorldID ode, double mass, double x, double y, double z,
                               const double size[3])
{
    rigid r = {dBodyCreate(ode), {0, 0}, {0, 0, 0}};
    dMass m;
    dMassSetBoxTotal(&m, (dReal)mass, (dReal)size[0], (dReal)size[1], (dReal)size[2]);
    dBodySetMass(r.body, &m);
    dBodySetPosition(r.body, (dReal)x, (dReal)y, (dReal)z);
    lm_mover_def def = lm_mover_def_default();
    def.pose.position = (lm_dvec3){x, y, z};
    lm_mover_create(world, &def, &r.mover);
    return r;
}

/* Before ODE's step: what Limber's bodies gave it. */
static inline void rigid_push(lm_world *world, rigid *r, double h)
{
    lm_wrench w;
    lm_mover_get_wrench(world, r->mover, NULL, &w);
    r->force = (lm_dvec3){w.impulse.x / h, w.impulse.y / h, w.impulse.z / h};
    dBodyAddForce(r->body, (dReal)r->force.x, (dReal)r->force.y, (dReal)r->force.z);
    dBodyAddTorque(r->body, (dReal)(w.angular.x / h), (dReal)(w.angular.y / h), (dReal)(w.angular.z / h));
}

static inline lm_pose rigid_pose(const rigid *r)
{
    const dReal *p = dBodyGetPosition(r->body), *q = dBodyGetQuaternion(r->body); /* w x y z */
    lm_pose pose = {{p[0], p[1], p[2]}, {(float)q[1], (float)q[2], (float)q[3], (float)q[0]}};
    return pose;
}

/* After ODE's step: from where it was, with the velocity that it has now, the mover gets to where ODE has it. */
static inline void rigid_steer(lm_world *world, const rigid *r, lm_pose was)
{
    const dReal *v = dBodyGetLinearVel(r->body), *w = dBodyGetAngularVel(r->body);
    lm_mover_steer(world, r->mover, was, (lm_vec3){(float)v[0], (float)v[1], (float)v[2]},
                   (lm_vec3){(float)w[0], (float)w[1], (float)w[2]});
}

/* All bodies through one step of ODE. */
static inline void rigids_step(lm_world *world, dWorldID ode, rigid *all, int count, double h)
{
    lm_pose was[16];
    for (int n = 0; n < count && n < 16; n++) {
        rigid_push(world, &all[n], h);
        was[n] = rigid_pose(&all[n]);
    }
    dWorldStep(ode, (dReal)h);
    for (int n = 0; n < count && n < 16; n++) rigid_steer(world, &all[n], was[n]);
}

#endif
