/*
 * A gripper of a rigid-body engine lifts a soft toy by friction, holds it for five seconds and lays it down.
 *
 * The two fingers are bodies of ODE on sliders with motors of limited force; the toy is Limber's. In each substep Limber tells what the
 * toy gave each finger (lm_mover_get_wrench), ODE moves the fingers by it, and Limber's movers follow (lm_mover_steer). What to learn:
 * a substep function, and that forces agree: while it is held, the fingers feel the weight of the toy.
 *
 * Prints what it measures, and returns 0 when the toy was lifted, was held, and lies on the floor again.
 */
#include "ode.h"

#include <math.h>
#include <stdio.h>

#define MASS 0.6 /* of the toy, kg */

typedef struct gripper {
    dWorldID ode;
    dJointID slider[3]; /* of the palm in the world, and of the fingers on the palm */
    rigid body[3];      /* palm, left and right finger */
    double time;
} gripper;

/* What the motors do: close, lift, hold, lower, open. */
static void drive(gripper *g)
{
    double t = g->time, lift = t < 1.5 ? 0.0 : t < 3.0 ? 0.4 : t < 8.0 ? 0.0 : t < 9.5 ? -0.4 : 0.0;
    double close = t < 10.0 ? 0.3 : -0.3;
    dJointSetSliderParam(g->slider[0], dParamVel, (dReal)lift);
    dJointSetSliderParam(g->slider[1], dParamVel, (dReal)close);
    dJointSetSliderParam(g->slider[2], dParamVel, (dReal)-close);
}

static void substep(lm_world *world, double h, void *user)
{
    gripper *g = user;
    drive(g);
    rigids_step(world, g->ode, g->body, 3, h);
    g->time += h;
}

static dJointID add_slider(gripper *g, dBodyID a, dBodyID b, double x, double y, double force)
{
    dJointID slider = dJointCreateSlider(g->ode, 0);
    dJointAttach(slider, a, b);
    dJointSetSliderAxis(slider, (dReal)x, (dReal)y, 0);
    dJointSetSliderParam(slider, dParamFMax, (dReal)force);
    return slider;
}

static void make_gripper(lm_world *world, gripper *g)
{
    const double palm[3] = {0.6, 0.1, 0.2}, finger[3] = {0.06, 0.4, 0.2};
    g->ode = dWorldCreate();
    g->body[0] = rigid_make(world, g->ode, 3.0, 0.0, 0.6, 0.0, palm);
    for (int n = 0; n < 2; n++) {
        double side = n ? 1.0 : -1.0;
        lm_collider_id id;
        lm_collider_def box = lm_collider_def_default();
        g->body[1 + n] = rigid_make(world, g->ode, 0.5, 0.25 * side, 0.27, 0.0, finger);
        box.shape = LM_SHAPE_BOX;
        box.half_extents = (lm_vec3){0.03f, 0.2f, 0.1f};
        box.mover = g->body[1 + n].mover;
        box.friction = 1.2f;
        lm_collider_create(world, &box, &id);
    }
    /* The motors may push a slider along its axis: ODE's sliders move the first body against the second. */
    g->slider[0] = add_slider(g, g->body[0].body, 0, 0.0, 1.0, 2000.0);
    g->slider[1] = add_slider(g, g->body[1].body, g->body[0].body, 1.0, 0.0, 20.0);
    g->slider[2] = add_slider(g, g->body[2].body, g->body[0].body, 1.0, 0.0, 20.0);
}

static lm_body_id make_toy(lm_world *world)
{
    uint8_t cells[6 * 6 * 6];
    for (int n = 0; n < 6 * 6 * 6; n++) { /* a cube without its corners */
        double x = n % 6 - 2.5, y = n / 6 % 6 - 2.5, z = n / 36 - 2.5;
        cells[n] = x * x + y * y + z * z < 13.0;
    }
    lm_body_def def = lm_body_def_default();
    lm_body_id body = {0, 0};
    def.lattice.cells = cells;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 6;
    def.lattice.spacing = 0.05f;
    def.lattice.first = (lm_vec3){-0.15f, -0.15f, -0.15f};
    def.mass = (float)MASS;
    def.material.hertz = 60.0f;
    def.material.damping_ratio = 0.7f;
    def.material.friction = 1.2f;
    def.pose.position.y = 0.16;
    lm_body_create(world, &def, &body);
    return body;
}

int main(void)
{
    lm_world_def world_def = lm_world_def_default();
    lm_collider_def floor_def = lm_collider_def_default();
    lm_world *world;
    lm_collider_id floor;
    gripper g = {0};
    lm_body_info info;
    double highest = 0.0, least = 1e9, sum = 0.0;
    int held = 0;

    world_def.substeps = 10;
    world_def.workers = 1;
    dInitODE();
    if (lm_world_create(&world_def, &world) != LM_OK) return 1;
    lm_collider_create(world, &floor_def, &floor);
    make_gripper(world, &g);
    lm_body_id toy = make_toy(world);
    lm_world_set_substep_function(world, substep, &g);
    for (int frame = 0; frame < 12 * 60; frame++) {
        lm_wrench left, right;
        lm_world_step(world, 1.0 / 60.0);
        lm_body_get_info(world, toy, &info);
        lm_mover_get_wrench(world, g.body[1].mover, &left, NULL);
        lm_mover_get_wrench(world, g.body[2].mover, &right, NULL);
        highest = fmax(highest, info.centre.y);
        if (g.time > 3.0 && g.time <= 8.0) { /* all of the hold */
            least = fmin(least, info.centre.y);
            sum -= (left.impulse.y + right.impulse.y) * 60.0;
            held++;
        }
        if (frame % 60 == 59)
            printf("%4.1f s: toy at %.3f m, fingers bear %.2f N, squeeze %.1f N\n", g.time, info.centre.y,
                   -(left.impulse.y + right.impulse.y) * 60.0, right.impulse.x * 60.0);
    }
    double weight = MASS * 9.81, bore = sum / held;
    bool good = least > 0.6 && info.centre.y < 0.2 && fabs(bore - weight) < 0.02 * weight;
    printf("lifted to %.3f m, at least %.3f m while held; the fingers bore %.3f N, it weighs %.3f N\n", highest, least,
           bore, weight);
    printf("state %016llx: %s\n", (unsigned long long)lm_world_hash(world), good ? "good" : "not as it should be");
    lm_world_destroy(world);
    dWorldDestroy(g.ode);
    dCloseODE();
    return good ? 0 : 1;
}
