/*
 * Movers and colliders where they are: movers on their way through a step, and what rides on them.
 *
 * reads   movers with their velocities or targets; colliders as they were made
 * writes  poses of movers; surfaces: colliders as one substep sees them, with their bounds
 */
#include "collide/place.h"
#include "base/dmath.h"
#include "collide/mesh_motion.h"
#include "collide/rigid.h"
#include "world/world.h"

/* --- movers --- */

/* The velocity and spin that lead a mover to its target within `seconds`. */
static void aim_mover(lmi_mover *mover, double seconds)
{
    dmat3 target = lmi_dmat_from_quat(mover->target.rotation), turn;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            turn.m[i][j] = target.m[i][0] * mover->rotation.m[j][0] + target.m[i][1] * mover->rotation.m[j][1] +
                           target.m[i][2] * mover->rotation.m[j][2];
        }
    }
    lm_quat q = lmi_quat_from_dmat(&turn);
    lm_dvec3 axis = dvec(q.x, q.y, q.z);
    double sine = dvec_length(axis), angle = 0.0;
    if (sine > 1e-9) {
        double cosine = q.w < 0.0f ? -(double)q.w : q.w;
        angle = 2.0 * lmi_acos(cosine > 1.0 ? 1.0 : cosine) * (q.w < 0.0f ? -1.0 : 1.0);
        axis = dvec_scale(axis, angle / sine);
    } else {
        axis = dvec(0.0, 0.0, 0.0);
    }
    lm_dvec3 way = dvec_sub(mover->target.position, mover->pose.position);
    mover->velocity = vec_from(dvec_limit(dvec_scale(way, 1.0 / seconds), LM_MAX_SPEED));
    mover->spin = vec_from(dvec_limit(dvec_scale(axis, 1.0 / seconds), LM_MAX_SPEED));
}

void lmi_movers_aim(lm_world *world, double seconds)
{
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, n);
        if (mover->has_target) {
            aim_mover(mover, seconds);
        }
    }
}

static void advance_mover(lmi_mover *mover, double h)
{
    lm_dvec3 turn = dvec_scale(dvec_from(mover->spin), h);
    mover->pose.position = dvec_add(mover->pose.position, dvec_scale(dvec_from(mover->velocity), h));
    if (turn.x != 0.0 || turn.y != 0.0 || turn.z != 0.0) {
        dmat3 rotation = lmi_dmat_from_rotation_vector(turn);
        rotation = lmi_dmat_multiply(&rotation, &mover->rotation);
        /* Through the quaternion, so that rounding does not shear the frame over the hours. */
        mover->pose.rotation = lmi_quat_from_dmat(&rotation);
        mover->rotation = lmi_dmat_from_quat(mover->pose.rotation);
    }
}

void lmi_movers_advance(lm_world *world, double h)
{
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, n);
        if (mover->mass > 0.0f) {
            lmi_rigid_fall(mover, dvec_from(world->gravity), h);
        }
        advance_mover(mover, h);
        if (mover->mass > 0.0f) {
            lmi_rigid_turn(mover);
        }
    }
}

static void arrive_mover(lmi_mover *mover)
{
    mover->pose = mover->target;
    mover->rotation = lmi_dmat_from_quat(mover->pose.rotation);
    mover->has_target = false;
    lm_vec3 rest = {0.0f, 0.0f, 0.0f};
    mover->velocity = mover->spin = rest;
}

void lmi_movers_arrive(lm_world *world)
{
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, n);
        if (mover->has_target) {
            arrive_mover(mover);
        }
    }
}

/* --- meshes that deform --- */

static lmi_mesh *deforming(const lm_world *world, uint32_t collider)
{
    lmi_mesh *mesh = LMI_POOL_AT(&world->colliders, lmi_collider, collider)->solid.mesh;
    return mesh && mesh->motion ? mesh : NULL;
}

void lmi_meshes_advance(lm_world *world, double h, uint32_t substep)
{
    LMI_POOL_EACH(&world->colliders, n)
    {
        if (deforming(world, n)) {
            lmi_mesh_advance(deforming(world, n), h, substep, world->division);
        }
    }
}

void lmi_meshes_arrive(lm_world *world)
{
    LMI_POOL_EACH(&world->colliders, n)
    {
        if (deforming(world, n)) {
            lmi_mesh_arrive(deforming(world, n));
        }
    }
}

bool lmi_meshes_deform(const lm_world *world)
{
    bool any = false;
    LMI_POOL_EACH(&world->colliders, n) { any = any || deforming(world, n); }
    return any;
}

/* --- colliders --- */

/* What a box around a mesh or a height map covers in the world. */
static void bound_solid(lmi_surface *s)
{
    lm_dvec3 lower, upper;
    lmi_solid_bounds(&s->solid, &lower, &upper);
    for (int i = 0; i < 3; i++) {
        const double low[3] = {lower.x, lower.y, lower.z}, high[3] = {upper.x, upper.y, upper.z};
        double from = 0.0, to = 0.0;
        for (int k = 0; k < 3; k++) {
            double axis = s->rotation.m[i][k]; /* 0 times the endless depth of a map must stay 0 */
            from += axis == 0.0 ? 0.0 : lmi_min(axis * low[k], axis * high[k]);
            to += axis == 0.0 ? 0.0 : lmi_max(axis * low[k], axis * high[k]);
        }
        double *bounds[3][2] = {{&s->bound_lower.x, &s->bound_upper.x},
                                {&s->bound_lower.y, &s->bound_upper.y},
                                {&s->bound_lower.z, &s->bound_upper.z}};
        const double at[3] = {s->position.x, s->position.y, s->position.z};
        *bounds[i][0] = at[i] + from;
        *bounds[i][1] = at[i] + to;
    }
}

static void bound_surface(lmi_surface *s)
{
    lm_dvec3 half = dvec(s->radius, s->radius, s->radius);
    if (s->shape == LM_SHAPE_CAPSULE) {
        half.x += fabs(s->rotation.m[0][1]) * s->half_length;
        half.y += fabs(s->rotation.m[1][1]) * s->half_length;
        half.z += fabs(s->rotation.m[2][1]) * s->half_length;
    } else if (s->shape == LM_SHAPE_BOX) {
        double h[3] = {s->half_extents.x, s->half_extents.y, s->half_extents.z}, out[3];
        for (int i = 0; i < 3; i++) {
            out[i] =
                fabs(s->rotation.m[i][0]) * h[0] + fabs(s->rotation.m[i][1]) * h[1] + fabs(s->rotation.m[i][2]) * h[2];
        }
        half = dvec(out[0], out[1], out[2]);
    }
    s->bound_lower = dvec_sub(s->position, half);
    s->bound_upper = dvec_add(s->position, half);
    if (lmi_solid_is(&s->solid)) {
        bound_solid(s);
    }
}

lmi_surface lmi_surface_place(const lm_world *world, uint32_t n)
{
    const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
    lmi_surface s = {.shape = c->shape,
                     .radius = c->radius,
                     .half_length = c->half_length,
                     .half_extents = c->half_extents,
                     .position = c->position,
                     .rotation = c->rotation,
                     .pivot = c->position,
                     .friction = c->friction,
                     .restitution = c->restitution,
                     .slot = n,
                     .mover = c->mover,
                     .group = c->disabled ? 0 : c->group,
                     .mask = c->disabled ? 0 : c->mask,
                     .solid = c->solid};
    if (c->mover != LMI_NONE) {
        const lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, c->mover);
        s.position = dvec_add(mover->pose.position, dmat_apply(&mover->rotation, c->position));
        s.rotation = lmi_dmat_multiply(&mover->rotation, &c->rotation);
        s.pivot = mover->pose.position;
        s.velocity = dvec_from(mover->velocity);
        s.spin = dvec_from(mover->spin);
    }
    bound_surface(&s);
    return s;
}

uint32_t lmi_surfaces_place(const lm_world *world, lmi_surface *to, bool *solids)
{
    uint32_t count = 0;
    *solids = false;
    LMI_POOL_EACH(&world->colliders, n)
    {
        to[count] = lmi_surface_place(world, n);
        *solids = *solids || lmi_solid_is(&to[count].solid);
        count++;
    }
    return count;
}
