#include "step/penalty.h"
#include "sample/cube.h"
#include "step/touching.h"

void lmi_penalty_push(lm_world *world, lmi_contact *c, double stiffness, double h)
{
    lm_dvec3 at_a = lmi_grip_position(c->a, &c->grip_a), at_b = lmi_grip_position(c->b, &c->grip_b);
    lm_dvec3 u = dvec_sub(lmi_grip_velocity(c->a, &c->grip_a, at_a), lmi_grip_velocity(c->b, &c->grip_b, at_b));
    double impulse = stiffness * fmax(c->depth, 0.0) * h; /* N s */
    double mass_a = c->a->body->mean_mass, mass_b = c->b->body->mean_mass;
    lmi_push_apply(c->a, &c->grip_a, at_a, lm_dvec3_zero(), dvec_scale(c->normal, impulse / mass_a));
    lmi_push_apply(c->b, &c->grip_b, at_b, lm_dvec3_zero(), dvec_scale(c->normal, -impulse / mass_b));
    c->pressed = impulse / mass_a;
    c->approach = -dvec_dot(u, c->normal);
    lmi_touched_solved(world, c, 1);
}

bool lmi_penalty_reserve(lm_world *world)
{
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_at(world, n);
        if (world->contact_method != LM_CONTACT_METHOD_CUBE_MAP || !body->bulk || body->cubes) {
            continue;
        }
        lmi_cubes *cubes = lmi_allocate(&world->memory, 1, sizeof *cubes);
        if (!cubes || !lmi_cubes_make(world, body->bulk, cubes)) {
            lmi_release(&world->memory, cubes, 1, sizeof *cubes);
            return false;
        }
        body->cubes = cubes;
    }
    return true;
}

/* --- what a host says --- */

lm_result lm_world_set_contact_method(lm_world *world, lm_contact_method method)
{
    if ((unsigned)method >= LM_CONTACT_METHOD_COUNT) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_set_contact_method: not one of lm_contact_method");
    }
    world->contact_method = method;
    lmi_rouse_all(world);
    return LM_OK;
}

lm_contact_method lm_world_get_contact_method(const lm_world *world) { return world->contact_method; }
