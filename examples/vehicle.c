/*
 * A vehicle whose chassis, hubs and suspension are those of a rigid-body engine and whose tyres are soft bodies drives over bumps.
 *
 * Hubs are bodies of ODE, each on a hinge-2 joint: a spring along the vertical, and a motor about the axle. A tyre is a ring of a
 * lattice; its inner particles are glued to the mover of the hub (lm_joint_create), so that the hub carries and turns it, and feels in
 * each substep what the road does to it. What to learn: joints between bodies and movers, and coupling in both directions.
 *
 * Prints what it measures, and returns 0 when the vehicle has driven for ten seconds, its tyres flattened under it, and nothing blew up.
 */
#include "ode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OUTER 0.35 /* of a tyre, metres */
#define INNER 0.2
#define SPACING 0.05

typedef struct vehicle {
    dWorldID ode;
    dJointID wheel[4];
    rigid body[5]; /* chassis, hubs */
    lm_body_id tyre[4];
    double time;
} vehicle;

static void substep(lm_world *world, double h, void *user)
{
    vehicle *v = user;
    double speed = v->time < 1.0 ? 0.0 : fmin((v->time - 1.0) * 4.0, 8.0); /* rad/s, forward along x */
    for (int n = 0; n < 4; n++) dJointSetHinge2Param(v->wheel[n], dParamVel2, (dReal)speed);
    rigids_step(world, v->ode, v->body, 5, h);
    v->time += h;
}

static lm_body_id make_tyre(lm_world *world, const rigid *hub)
{
    enum { ACROSS = 14, WIDE = 4 };
    uint8_t cells[ACROSS * ACROSS * WIDE];
    for (int n = 0; n < ACROSS * ACROSS * WIDE; n++) {
        double x = (n % ACROSS - 0.5 * (ACROSS - 1)) * SPACING,
               y = (n / ACROSS % ACROSS - 0.5 * (ACROSS - 1)) * SPACING;
        cells[n] = hypot(x, y) > INNER - 0.5 * SPACING && hypot(x, y) < OUTER;
    }
    lm_body_def def = lm_body_def_default();
    lm_body_id body = {0, 0};
    def.lattice.cells = cells;
    def.lattice.counts[0] = def.lattice.counts[1] = ACROSS;
    def.lattice.counts[2] = WIDE;
    def.lattice.spacing = (float)SPACING;
    def.lattice.first =
        (lm_vec3){(float)(-0.5 * ACROSS * SPACING), (float)(-0.5 * ACROSS * SPACING), (float)(-0.5 * WIDE * SPACING)};
    def.mass = 6.0f;
    def.lattice.width = 2;
    def.material.hertz = 110.0f;
    def.material.damping_ratio = 0.4f;
    def.material.damping_kind = LM_DAMPING_REGIONAL; /* it must turn freely */
    def.material.friction = 1.0f;
    def.pose = rigid_pose(hub);
    lm_body_create(world, &def, &body);
    return body;
}

/* Glues the inner particles of a tyre to its hub. */
static void mount(lm_world *world, lm_body_id tyre, const rigid *hub)
{
    lm_body_info info;
    lm_body_get_info(world, tyre, &info);
    lm_vec3 *rest = malloc(info.particles * sizeof *rest);
    uint32_t *inner = malloc(info.particles * sizeof *inner), count = 0;
    lm_body_get_rest_positions(world, tyre, rest);
    for (uint32_t n = 0; n < info.particles; n++)
        if (hypot(rest[n].x, rest[n].y) < INNER + 0.5 * SPACING) inner[count++] = n;
    lm_joint_def def = lm_joint_def_default();
    lm_joint_id joint;
    def.a.mover = hub->mover;
    def.b.body = tyre;
    def.b.particles = inner;
    def.b.particle_count = count;
    def.a.anchor = def.b.anchor = rigid_pose(hub).position;
    lm_joint_create(world, &def, &joint);
    free(rest);
    free(inner);
}

static void make_vehicle(lm_world *world, vehicle *v, double h)
{
    const double chassis[3] = {2.4, 0.3, 1.2}, hub[3] = {0.3, 0.3, 0.2};
    const double stiff = 8000.0, damper = 800.0; /* of the suspension, N/m and N s/m */
    v->ode = dWorldCreate();
    dWorldSetGravity(v->ode, 0, (dReal)-9.81, 0);
    v->body[0] = rigid_make(world, v->ode, 80.0, 0.0, 0.6, 0.0, chassis);
    for (int n = 0; n < 4; n++) {
        double x = n & 1 ? 0.9 : -0.9, z = n & 2 ? 0.75 : -0.75;
        v->body[1 + n] = rigid_make(world, v->ode, 12.0, x, OUTER + 0.01, z, hub);
        dJointID j = v->wheel[n] = dJointCreateHinge2(v->ode, 0);
        dJointAttach(j, v->body[0].body, v->body[1 + n].body);
        dJointSetHinge2Anchor(j, (dReal)x, (dReal)(OUTER + 0.01), (dReal)z);
        const dReal up[3] = {0, 1, 0}, axle[3] = {0, 0, 1};
        dJointSetHinge2Axes(j, up, axle);
        dJointSetHinge2Param(j, dParamLoStop, 0);
        dJointSetHinge2Param(j, dParamHiStop, 0);
        dJointSetHinge2Param(j, dParamSuspensionERP, (dReal)(h * stiff / (h * stiff + damper)));
        dJointSetHinge2Param(j, dParamSuspensionCFM, (dReal)(1.0 / (h * stiff + damper)));
        dJointSetHinge2Param(j, dParamFMax2, 60);
        v->tyre[n] = make_tyre(world, &v->body[1 + n]);
        mount(world, v->tyre[n], &v->body[1 + n]);
    }
}

static void make_road(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    def.friction = 1.0f;
    lm_collider_create(world, &def, &id);
    def.shape = LM_SHAPE_CAPSULE;
    def.radius = 0.08f;
    def.half_length = 2.0f;
    def.pose.rotation = (lm_quat){0.70710678f, 0, 0, 0.70710678f}; /* along z */
    for (int n = 0; n < 5; n++) {
        def.pose.position.x = 4.0 + 2.5 * n;
        def.pose.position.y = -0.02;
        lm_collider_create(world, &def, &id);
    }
}

int main(void)
{
    lm_world_def world_def = lm_world_def_default();
    lm_world *world;
    vehicle v = {0};
    double highest = 0.0, flat = 0.0, bore = 0.0;
    int stood = 0;
    lm_totals totals;

    world_def.substeps = 12;
    world_def.workers = 1;
    dInitODE();
    if (lm_world_create(&world_def, &world) != LM_OK) return 1;
    make_road(world);
    make_vehicle(world, &v, 1.0 / 720.0);
    lm_world_set_substep_function(world, substep, &v);
    for (int frame = 0; frame < 11 * 60; frame++) {
        double up = 0.0, force = 0.0;
        lm_world_step(world, 1.0 / 60.0);
        for (int n = 1; n < 5; n++) {
            up += 0.25 * rigid_pose(&v.body[n]).position.y;
            lm_wrench w;
            lm_mover_get_wrench(world, v.body[n].mover, &w, NULL);
            force += w.impulse.y * 60.0;
        }
        if (frame >= 30 && frame < 60) {
            flat += (OUTER - up) / 30.0;
            bore += force / 30.0;
            stood++;
        }
        lm_pose at = rigid_pose(&v.body[0]);
        highest = fmax(highest, at.position.y);
        if (frame % 60 == 59)
            printf("%4.1f s: chassis at %.2f %.3f %.3f m, hubs at %.3f m\n", v.time, at.position.x, at.position.y,
                   at.position.z, up);
    }
    lm_world_get_totals(world, &totals);
    lm_pose end = rigid_pose(&v.body[0]);
    bool good = totals.finite && end.position.x > 10.0 && fabs(end.position.z) < 0.5 && highest < 1.0 && flat > 0.003 &&
                flat < 0.1;
    printf("drove %.1f m in ten seconds; standing, tyres are %.1f mm flatter and put %.0f N on the hubs\n",
           end.position.x, 1000.0 * flat, bore);
    printf("state %016llx: %s\n", (unsigned long long)lm_world_hash(world), good ? "good" : "not as it should be");
    lm_world_destroy(world);
    dWorldDestroy(v.ode);
    dCloseODE();
    return good ? 0 : 1;
}
