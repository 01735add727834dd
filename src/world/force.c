/*
 * Forces for the next step, impulses at once, and fields.
 */
#include "base/guard.h"
#include "world/access.h"
#include "world/body.h"
#include "world/motion.h"

#include <string.h>

#define FIELD_COOKIE 0x4c4d4631u

static lm_result add_force(lm_world *world, lm_body_id id, uint32_t particle, lm_vec3 force, const char *caller)
{
    const lmi_body *body = lmi_body_known(world, id, caller); /* a device has the state, and may keep it */
    if (!body) {
        return LM_ERROR_ID;
    }
    if (!vec_is_finite(force)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "%s: the force is not finite", caller);
    }
    if (particle != LMI_NONE && particle >= body->particle_count) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "%s: particle %u of %u", caller, particle, body->particle_count);
    }
    void *forces = world->forces;
    bool ok =
        lmi_reserve(&world->memory, &forces, &world->force_capacity, world->force_count + 1, sizeof *world->forces);
    world->forces = forces;
    if (!ok) {
        return lmi_fail(world, LM_ERROR_MEMORY, "%s: out of memory", caller);
    }
    lmi_force *added = &world->forces[world->force_count];
    added->next = body->first_force;
    added->body = id.slot - 1;
    added->particle = particle == LMI_NONE ? LMI_NONE : body->place[particle];
    added->force = force;
    lmi_body_change(world, body, LMI_CHANGE_NOTHING)->first_force = world->force_count++;
    lmi_body_rouse(world, body);
    return LM_OK;
}

lm_result lm_body_add_force(lm_world *world, lm_body_id id, lm_vec3 force)
{
    return add_force(world, id, LMI_NONE, force, "lm_body_add_force");
}

lm_result lm_body_add_particle_force(lm_world *world, lm_body_id id, uint32_t particle, lm_vec3 force)
{
    /* LMI_NONE means the whole body inside; from outside it is just an index too large. */
    particle = particle == LMI_NONE ? LMI_NONE - 1 : particle;
    return add_force(world, id, particle, force, "lm_body_add_particle_force");
}

static void push(lm_world *world, lmi_body *body, uint32_t n, lm_dvec3 change)
{
    lm_dvec3 done = lmi_change_velocity(body->v + (size_t)n * 4, change);
    world->outside_impulse = dvec_add(world->outside_impulse, dvec_scale(done, body->mass[n]));
}

lm_result lm_body_add_particle_impulse(lm_world *world, lm_body_id id, uint32_t particle, lm_vec3 impulse)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_add_particle_impulse");
    if (!known) {
        return LM_ERROR_ID;
    }
    if (!vec_is_finite(impulse) || particle >= known->particle_count) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_body_add_particle_impulse: particle %u of %u, or the impulse is not finite", particle,
                        known->particle_count);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_STATE);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    uint32_t n = body->place[particle];
    push(world, body, n, dvec_scale(dvec_from(impulse), 1.0 / body->mass[n]));
    lmi_body_rouse(world, body);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

lm_result lm_body_add_impulse(lm_world *world, lm_body_id id, lm_vec3 impulse, lm_dvec3 point)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_add_impulse");
    if (!known) {
        return LM_ERROR_ID;
    }
    if (!vec_is_finite(impulse) || !dvec_is_finite(point)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_add_impulse: the impulse or the point is not finite");
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_STATE);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lm_dvec3 centre = lm_dvec3_zero();
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        centre = dvec_add(centre, dvec_scale(dvec(x[0], x[1], x[2]), body->mass[n] / body->total_mass));
    }
    double inertia[6] = {0};
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        lm_dvec3 r = dvec_sub(dvec(x[0], x[1], x[2]), centre);
        double m = body->mass[n];
        inertia[0] += m * (r.y * r.y + r.z * r.z), inertia[1] += m * (r.z * r.z + r.x * r.x);
        inertia[2] += m * (r.x * r.x + r.y * r.y), inertia[3] -= m * r.x * r.y;
        inertia[4] -= m * r.y * r.z, inertia[5] -= m * r.z * r.x;
    }
    lm_dvec3 p = dvec_from(impulse);
    lm_dvec3 arm = dvec_limit(dvec_sub(point, dvec_add(body->origin, centre)), LM_MAX_COORDINATE);
    lm_dvec3 spin = lmi_dmat_solve_spin(inertia, dvec_cross(arm, p)), velocity = dvec_scale(p, 1.0 / body->total_mass);
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        lm_dvec3 r = dvec_sub(dvec(x[0], x[1], x[2]), centre);
        push(world, body, n, dvec_add(velocity, dvec_cross(spin, r)));
    }
    lmi_body_rouse(world, body);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

/* --- fields --- */

lm_field_def lm_field_def_default(void)
{
    lm_field_def def;
    memset(&def, 0, sizeof def);
    def.strength = 1.0f;
    def.radius = 1.0f;
    def.cookie = FIELD_COOKIE;
    return def;
}

static const char *field_fault(const lm_field_def *def)
{
    const float most = LM_MAX_SPEED;
    if (def->cookie != FIELD_COOKIE) {
        return "the definition did not come from lm_field_def_default";
    }
    if ((unsigned)def->kind >= LM_FIELD_KIND_COUNT) {
        return "kind is not one of lm_field_kind";
    }
    if (!(fabsf(def->vector.x) <= most && fabsf(def->vector.y) <= most && fabsf(def->vector.z) <= most)) {
        return "vector is not finite or above 1e6";
    }
    if (!dvec_is_finite(def->position)) {
        return "position is not finite";
    }
    if (!(fabsf(def->strength) <= most) || (def->kind == LM_FIELD_WIND && def->strength < 0.0f)) {
        return "strength is not finite, above 1e6, or negative for wind";
    }
    return def->radius > 0.0f && def->radius <= LM_MAX_COORDINATE ? NULL : "radius must be above 0";
}

lm_result lm_field_create(lm_world *world, const lm_field_def *def, lm_field_id *field)
{
    lm_field_id none = {0, 0};
    *field = none;
    const char *fault = field_fault(def);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_field_create: %s", fault);
    }
    uint32_t index;
    if (!lmi_pool_add(&world->fields, &world->memory, &index)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_field_create: out of memory");
    }
    lmi_world_change(world, LMI_CHANGE_STATE);
    *LMI_POOL_AT(&world->fields, lm_field_def, index) = *def;
    lmi_rouse_all(world);
    lmi_id id = lmi_pool_id(&world->fields, index);
    field->slot = id.slot;
    field->generation = id.generation;
    return LM_OK;
}

lm_result lm_field_set(lm_world *world, lm_field_id field, const lm_field_def *def)
{
    lmi_id id = {field.slot, field.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->fields, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_field_set: there is no such field");
    }
    const char *fault = field_fault(def);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_field_set: %s", fault);
    }
    lmi_world_change(world, LMI_CHANGE_STATE);
    *LMI_POOL_AT(&world->fields, lm_field_def, index) = *def;
    lmi_rouse_all(world);
    return LM_OK;
}

lm_result lm_field_get(const lm_world *world, lm_field_id field, lm_field_def *def)
{
    lmi_id id = {field.slot, field.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->fields, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_field_get: there is no such field");
    }
    *def = *LMI_POOL_AT(&world->fields, lm_field_def, index);
    return LM_OK;
}

lm_result lm_field_destroy(lm_world *world, lm_field_id field)
{
    lmi_id id = {field.slot, field.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->fields, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_field_destroy: there is no such field");
    }
    lmi_world_change(world, LMI_CHANGE_STATE);
    lmi_rouse_all(world);
    lmi_pool_remove(&world->fields, index);
    return LM_OK;
}
