/*
 * What the device can step, and what it leaves to the host: for good, or in every substep.
 */
#include "gpu/clusters.h"
#include "gpu/gpu.h"

static const char *body_reason(const lmi_body *body)
{
    if (body->octree) {
        return "octrees";
    }
    if (body->grain) {
        return "clusters that were cut";
    }
    if (body->examples) {
        return "examples";
    }
    if (body->skin.carrier_count) {
        return "skins on regions";
    }
    if (body->lattice) {
        return body->material.damping_kind == LM_DAMPING_REGIONAL ? "regional damping"
               : body->lattice->plastic.state                     ? "plastic lattices"
               : body->lattice->shape.part_count > 1              ? "lattices of several parts"
               : lmi_lattice_is_plated(&body->lattice->shape)     ? "lattices that are summed by plates"
                                                                  : NULL;
    }
    return lmi_gpu_cluster_reason(body);
}

const char *lmi_gpu_reason(const lm_world *world)
{
    if (world->sleep.enabled) {
        return "sleep";
    }
    if (world->force_count) {
        return "forces of a single step";
    }
    LMI_POOL_EACH(&world->fields, n)
    {
        if (LMI_POOL_AT(&world->fields, lm_field_def, n)->kind != LM_FIELD_UNIFORM) {
            return "wind and point fields";
        }
    }
    if (world->bodies.alive == 0) {
        return "a world without bodies";
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        const char *reason = body_reason(lmi_body_at(world, n));
        if (reason) {
            return reason;
        }
    }
    return NULL;
}

static bool body_contacts_on_host(const lm_world *world, const lmi_body *body)
{
    return body->bulk || body->self_contact || body->fracture || body->first_pin != LMI_NONE ||
           (body->touch.count && world->colliders.alive);
}

bool lmi_gpu_contacts_on_host(const lm_world *world)
{
    bool host = world->contact_events || world->skeletons.alive || world->drags.alive ||
                (world->colliders.alive && world->rule_count) || world->colliders.alive > LMI_GPU_MAX_SURFACES;
    LMI_POOL_EACH(&world->colliders, n)
    {
        host = host || lmi_solid_is(&LMI_POOL_AT(&world->colliders, lmi_collider, n)->solid);
    }
    LMI_POOL_EACH(&world->bodies, n) { host = host || body_contacts_on_host(world, lmi_body_at(world, n)); }
    return host;
}
