/*
 * What the device can step, and what it leaves to the host: for good, or in every substep.
 */
#include "collide/place.h"
#include "contact/push.h"
#include "gpu/clusters.h"
#include "gpu/gpu.h"
#include "gpu/gpu_held.h"
#include "gpu/octrees.h"
#include "lattice/lattice_body.h"

static const char *body_reason(const lmi_body *body)
{
    if (body->octree) {
        return lmi_gpu_octree_reason(body);
    }
    if (body->lattice) { /* those of a world with a device have none: lmi_lattice_body_allocate */
        return lmi_lattice_is_plated(&body->lattice->shape) ? "lattices that are summed by plates" : NULL;
    }
    return lmi_gpu_cluster_reason(body);
}

const char *lmi_gpu_reason(const lm_world *world)
{
    if (world->bodies.alive == 0) {
        return "a world without bodies";
    }
    if (lmi_meshes_deform(world)) {
        return "colliders that deform";
    }
    if (world->joints.alive) {
        return "joints";
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        if (LMI_POOL_AT(&world->movers, lmi_mover, n)->mass > 0.0f) {
            return "movers with mass";
        }
    }
    if (world->substep_function) {
        return "a substep function";
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        const char *reason = body->batch == LMI_NONE ? NULL : body_reason(body); /* it sleeps */
        if (reason) {
            return reason;
        }
    }
    return NULL;
}

/* Whether a body's contacts are solved: with others, or of its touch points with colliders. */
bool lmi_gpu_needs_solver(const lm_world *world, const lmi_body *body)
{
    return lmi_body_meets(body) || (body->touch.count && world->colliders.alive);
}

bool lmi_gpu_is_in_pieces(const lmi_body *body) { return body->fracture && body->lattice->shape.part_count > 1; }

/* Pieces of stiff bodies answer as wholes, each by itself: that is the host's. */
static bool can_solve(const lm_world *world, const lmi_body *body)
{
    return body->touch.count && !(lmi_push_is_firm(body) && lmi_gpu_is_in_pieces(body)) &&
           (world->contact_method == LM_CONTACT_METHOD_SOLVED || !body->fracture); /* press.h does not know those */
}

/* Bodies that meet colliders with points on their surface, and no other bodies, go through meshes and height maps several times where
 * there is more than one: that is the host's. */
static bool can_solve_walls(const lm_world *world)
{
    uint32_t grounds = 0;
    bool all = true;
    LMI_POOL_EACH(&world->colliders, n)
    {
        grounds += lmi_solid_is(&LMI_POOL_AT(&world->colliders, lmi_collider, n)->solid);
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        all = all && (!body->touch.count || lmi_body_meets(body));
    }
    return grounds < 2 || all;
}

bool lmi_gpu_meets(const lm_world *world)
{
    bool any = false, all = can_solve_walls(world);
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        any = any || lmi_gpu_needs_solver(world, body);
        all = all && (!lmi_gpu_needs_solver(world, body) || can_solve(world, body));
    }
    return any && all;
}

bool lmi_gpu_has_meeters(const lm_world *world)
{
    bool any = false;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        any = any || (body->batch != LMI_NONE && lmi_gpu_needs_solver(world, body));
    }
    return any;
}

bool lmi_gpu_contacts_on_host(const lm_world *world)
{
    bool any = false;
    LMI_POOL_EACH(&world->bodies, n) { any = any || lmi_gpu_needs_solver(world, lmi_body_at(world, n)); }
    return any && !lmi_gpu_meets(world);
}
