/*
 * What of a body's definition can be set later: what it touches, its masses, whether it is enabled.
 */
#include "base/guard.h"
#include "contact/cleft.h"
#include "fracture/fracture.h"
#include "lattice/lattice_motion.h"
#include "octree/octree_blade.h"
#include "octree/octree_body.h"
#include "world/access.h"
#include "world/body.h"
#include "world/solids.h"

#include <string.h>

/* --- what it touches --- */

static bool wants_solid(const lm_body_filter *filter) { return filter->mask != 0 || filter->self_contact; }

/* Why a body cannot become a solid that others touch, or null. */
static const char *filter_fault(const lmi_body *body, const lm_body_filter *filter)
{
    if (!wants_solid(filter) || body->bulk || body->fracture) {
        return NULL;
    }
    if (lmi_is_cut_octree(body)) {
        return "an octree that was cut cannot be given a solid";
    }
    bool surface = (body->lattice || body->octree) && body->touch.count > 0;
    return surface && !body->surface && body->skin.vertex_count == 0
               ? "the body was made without a mask and has not kept its mesh: give it a skin first"
               : NULL;
}

/* After the filter was put in place: what the body needs for it. False when out of memory; then nothing else has changed. */
static bool equip(lm_world *world, lmi_body *body, const lm_body_filter *filter)
{
    if (body->fracture) {
        lmi_touch touch = {0};
        if (wants_solid(filter) && !body->touch.count && !lmi_touch_particles(world, body, &touch)) {
            return false;
        }
        if (wants_solid(filter) != (body->touch.count > 0)) {
            lmi_touch_free(world, &body->touch);
            body->touch = touch;
        }
        return true;
    }
    if (body->bulk) {
        return !body->octree || lmi_octree_body_face(world, body); /* faces of cuts touch with self_contact only */
    }
    return !filter->self_contact || lmi_body_need_bulk(world, body);
}

static void take_filter(lmi_body *body, const lm_body_filter *filter)
{
    body->group = filter->group;
    body->mask = filter->mask;
    body->collider_mask = filter->collider_mask;
    body->self_contact = filter->self_contact;
}

lm_result lm_body_set_filter(lm_world *world, lm_body_id id, const lm_body_filter *filter)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_filter");
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = filter_fault(known, filter);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_filter: %s", fault);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_WORLD);
    const lm_body_filter before = {body->group, body->mask, body->collider_mask, body->self_contact};
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    take_filter(body, filter);
    bool ok = equip(world, body, filter) && lmi_body_join_company(world, body);
    if (!ok) {
        take_filter(body, &before);
    } else {
        lmi_body_rouse(world, body);
    }
    lmi_float_mode_leave(&host);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_filter: out of memory");
}

lm_result lm_body_get_filter(const lm_world *world, lm_body_id id, lm_body_filter *filter)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_filter");
    if (!body) {
        return LM_ERROR_ID;
    }
    *filter = (lm_body_filter){body->group, body->mask, body->collider_mask, body->self_contact};
    return LM_OK;
}

lm_result lm_body_set_contact_radius(lm_world *world, lm_body_id id, float metres)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_contact_radius");
    if (!known) {
        return LM_ERROR_ID;
    }
    if (!(metres >= 0.0f && metres <= 1e6f)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_contact_radius: must be 0 to 1e6 m");
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_WORLD);
    float before = body->contact_radius;
    body->contact_radius = metres;
    bool ok = true;
    if (body->bulk && body->bulk->mould->triangle_count == 0 && metres != before) { /* balls of that size */
        const lmi_mould *s = body->bulk->mould;
        lmi_touch_mesh mesh = {s->vertices, s->triangles, s->vertex_count, s->triangle_count};
        lmi_float_mode host;
        lmi_float_mode_enter(&host);
        ok = lmi_body_make_bulk(world, body, &mesh);
        lmi_float_mode_leave(&host);
    }
    if (!ok) {
        body->contact_radius = before;
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_contact_radius: out of memory");
    }
    lmi_body_rouse(world, body);
    return LM_OK;
}

lm_result lm_body_set_penalty(lm_world *world, lm_body_id id, float penalty)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_penalty");
    if (!known) {
        return LM_ERROR_ID;
    }
    if (!(penalty >= 0.0f && penalty <= 1e12f)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_penalty: must be 0 to 1e12 N/m");
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_WORLD);
    body->penalty = penalty;
    lmi_body_rouse(world, body);
    return LM_OK;
}

lm_result lm_body_get_penalty(const lm_world *world, lm_body_id id, float *penalty)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_penalty");
    if (!body) {
        return LM_ERROR_ID;
    }
    *penalty = body->penalty;
    return LM_OK;
}

/* --- masses --- */

/* What a lattice derives from its masses, to be put back where there is no memory for the rest. */
typedef struct weighed {
    double total_mass, mean_mass;
    bool by_volume;
    float middle[3];
    float *mass, *relative; /* by place */
} weighed;

static bool keep_weighed(lm_world *world, const lmi_body *body, weighed *w)
{
    *w = (weighed){.total_mass = body->total_mass, .mean_mass = body->mean_mass};
    w->mass = lmi_allocate(&world->memory, body->place_count, sizeof *w->mass);
    w->relative = lmi_allocate(&world->memory, body->place_count, sizeof *w->relative);
    if (!w->mass || !w->relative) {
        return false;
    }
    for (uint32_t n = 0; n < body->place_count; n++) {
        w->mass[n] = body->mass[n];
        w->relative[n] = body->v[(size_t)n * 4 + 3];
    }
    if (body->lattice) {
        w->by_volume = body->lattice->by_volume;
        memcpy(w->middle, body->lattice->middle, sizeof w->middle);
    }
    return true;
}

static void put_back(lmi_body *body, const weighed *w)
{
    body->total_mass = w->total_mass;
    body->mean_mass = w->mean_mass;
    for (uint32_t n = 0; n < body->place_count; n++) {
        body->mass[n] = w->mass[n];
        body->v[(size_t)n * 4 + 3] = w->relative[n];
    }
    if (body->lattice) {
        body->lattice->by_volume = w->by_volume;
        memcpy(body->lattice->middle, w->middle, sizeof w->middle);
        lmi_lattice_body_rest_inertia(body);
    }
}

/* The masses, one for each index and sound, become the body's. False when out of memory; then nothing has changed. */
bool lmi_body_take_masses(lm_world *world, lmi_body *body, const float *masses)
{
    weighed before;
    bool ok = keep_weighed(world, body, &before);
    if (ok) {
        LMI_PARTICLES_EACH(body, n) { body->mass[n] = masses[body->order[n]]; }
        ok = (!body->lattice || lmi_lattice_body_derive_masses(world, body)) && lmi_body_update_pinned(world, body);
        if (!ok) {
            put_back(body, &before);
        }
    }
    if (ok) {
        lmi_drags_weigh(world, body);
        lmi_body_is_dirty(world, body);
        lmi_body_rouse(world, body);
    }
    lmi_release(&world->memory, before.mass, body->place_count, sizeof *before.mass);
    lmi_release(&world->memory, before.relative, body->place_count, sizeof *before.relative);
    return ok;
}

lm_result lm_body_set_masses(lm_world *world, lm_body_id id, const float *masses)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_masses");
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = lmi_body_mass_fault(masses, known->particle_count);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_masses: %s", fault);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    bool ok = lmi_body_take_masses(world, body, masses);
    if (ok && body->lattice) {
        lmi_lattice_forget_drift(body->lattice); /* it was measured with other masses */
    }
    lmi_float_mode_leave(&host);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_masses: out of memory");
}

lm_result lm_body_set_mass(lm_world *world, lm_body_id id, float mass)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_mass");
    if (!known) {
        return LM_ERROR_ID;
    }
    if (!(mass > 0.0f && mass <= 1e12f)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_mass: must be above 0 and at most 1e12 kg");
    }
    float *masses = lmi_allocate(&world->memory, known->particle_count, sizeof *masses);
    if (!masses) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_mass: out of memory");
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    LMI_PARTICLES_EACH(body, n) { masses[body->order[n]] = (float)(body->mass[n] * (mass / body->total_mass)); }
    const char *fault = lmi_body_mass_fault(masses, body->particle_count);
    bool ok = !fault && lmi_body_take_masses(world, body, masses);
    lmi_float_mode_leave(&host);
    lmi_release(&world->memory, masses, body->particle_count, sizeof *masses);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_mass: %s", fault);
    }
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_mass: out of memory");
}

/* --- the rest --- */

lm_result lm_body_set_user_data(lm_world *world, lm_body_id id, uint64_t user_data)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_set_user_data");
    if (!body) {
        return LM_ERROR_ID;
    }
    lmi_body_change(world, body, LMI_CHANGE_NOTHING)->user_data = user_data;
    return LM_OK;
}

lm_result lm_body_set_enabled(lm_world *world, lm_body_id id, bool enabled)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_enabled");
    if (!known) {
        return LM_ERROR_ID;
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_WORLD);
    lmi_body_rouse(world, body); /* what leans on it may fall */
    body->disabled = !enabled;   /* the next step takes it out of its batch, or into one */
    return LM_OK;
}
