/*
 * Bones in a step.
 *
 * Reads the poses that the host wants at the end of the step, writes the positions and velocities of attached particles. In
 * substep n of N a bone is where it would be if it moved evenly and turned evenly about a fixed axis:
 *
 *     position = start + s (target - start)          rotation = exp(s arc) start          s = (n + 1) / N
 *
 * worked out from the start each time, so that the last substep ends at the target to the last digit. A particle belongs at
 * g = sum of share_b (position_b + R_b local_b), which moves at u = sum of share_b (velocity_b + spin_b x R_b local_b).
 *
 * Held particles are put there. The others have a spring each, stepped implicitly and so stable however stiff, from where
 * they came from, x - h v, as drags do it:
 *
 *     v' = v + h omega² (g - x') + 2 h zeta omega (u - v')        x' = (x - h v) + h v'        omega² ~ w / (1 - w)
 *
 * Each particle is worked out by itself, in double precision: threads and lanes do not matter.
 */
#include "collide/wrench.h"
#include "skeleton/skeleton.h"
#include "world/motion.h"
#include "world/world.h"

void lmi_bones_aim(lm_world *world, double seconds)
{
    LMI_POOL_EACH(&world->skeletons, k)
    {
        lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, k);
        for (uint32_t n = 0; n < s->bone_count; n++) {
            lmi_bone *bone = &s->bones[n];
            bone->wrench = (lm_wrench){0};
            if (!s->aimed || bone->mover != LMI_NONE) {
                bone->velocity = bone->spin = lm_dvec3_zero();
                bone->rotation = lmi_frame_rotation(&bone->now);
                continue;
            }
            bone->start = bone->now;
            bone->arc = lmi_frame_arc(&bone->start, &bone->target);
            bone->velocity = dvec_scale(dvec_sub(bone->target.position, bone->start.position), 1.0 / seconds);
            bone->spin = dvec_scale(bone->arc, 1.0 / seconds);
        }
    }
}

void lmi_bones_advance(lm_world *world, uint32_t substep)
{
    double share = (substep + 1.0) / world->division;
    LMI_POOL_EACH(&world->skeletons, k)
    {
        const lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, k);
        for (uint32_t n = 0; s->aimed && n < s->bone_count; n++) {
            lmi_bone *bone = &s->bones[n];
            if (bone->mover != LMI_NONE) {
                continue;
            }
            lm_dvec3 way = dvec_sub(bone->target.position, bone->start.position);
            bone->now = bone->start;
            bone->now.position = dvec_add(bone->start.position, dvec_scale(way, share));
            lmi_frame_turn(&bone->now, dvec_scale(bone->arc, share));
            bone->rotation = lmi_frame_rotation(&bone->now);
        }
    }
    lmi_bones_ride(world);
}

lmi_mover *lmi_bone_mover(const lm_world *world, const lmi_bone *bone)
{
    return bone->mover == LMI_NONE ? NULL : LMI_POOL_AT(&world->movers, lmi_mover, bone->mover);
}

bool lmi_bones_yield(const lm_world *world, const lmi_skeleton *s, uint32_t n)
{
    for (uint32_t k = s->offsets[n]; k < s->offsets[n + 1]; k++) {
        const lmi_mover *mover = lmi_bone_mover(world, &s->bones[s->links[k].bone]);
        if (mover && mover->mass > 0.0f) {
            return true;
        }
    }
    return false;
}

void lmi_bones_ride(lm_world *world)
{
    LMI_POOL_EACH(&world->skeletons, k)
    {
        const lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, k);
        for (uint32_t n = 0; n < s->bone_count; n++) {
            lmi_bone *bone = &s->bones[n];
            const lmi_mover *mover = lmi_bone_mover(world, bone);
            if (mover) {
                lmi_frame on = lmi_frame_from(mover->pose);
                bone->now = bone->target = lmi_frame_then(&on, &bone->seat);
                bone->rotation = lmi_frame_rotation(&bone->now);
                lm_dvec3 arm = dvec_sub(bone->now.position, mover->pose.position);
                bone->spin = dvec_from(mover->spin);
                bone->velocity = dvec_add(dvec_from(mover->velocity), dvec_cross(bone->spin, arm));
            }
        }
    }
}

bool lmi_skeleton_rides(const lmi_skeleton *s, uint32_t mover)
{
    for (uint32_t n = 0; n < s->bone_count; n++) {
        if (s->bones[n].mover == mover) {
            return true;
        }
    }
    return false;
}

void lmi_bones_leave_mover(lm_world *world, uint32_t mover)
{
    LMI_POOL_EACH(&world->skeletons, k)
    {
        const lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, k);
        for (uint32_t n = 0; n < s->bone_count; n++) {
            s->bones[n].mover = s->bones[n].mover == mover ? LMI_NONE : s->bones[n].mover;
        }
    }
}

void lmi_bones_arrive(lm_world *world)
{
    LMI_POOL_EACH(&world->skeletons, k)
    {
        lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, k);
        for (uint32_t n = 0; s->aimed && n < s->bone_count; n++) { /* of those that ride both are the same */
            s->bones[n].now = s->bones[n].target;
            s->bones[n].rotation = lmi_frame_rotation(&s->bones[n].now);
        }
        s->aimed = false;
    }
}

lmi_holder lmi_bone_carries(const lmi_bone *bone)
{
    return (lmi_holder){bone->rotation, bone->now.position, bone->velocity, bone->spin};
}

/* Where an attached particle belongs, and how fast that moves. */
static void find_target(const lmi_skeleton *s, uint32_t n, lm_dvec3 *target, lm_dvec3 *velocity)
{
    *target = *velocity = lm_dvec3_zero();
    for (uint32_t k = s->offsets[n]; k < s->offsets[n + 1]; k++) {
        lmi_holder bone = lmi_bone_carries(&s->bones[s->links[k].bone]);
        lm_dvec3 moves, at = lmi_carry(&bone, s->links[k].local, &moves);
        *target = dvec_add(*target, dvec_scale(at, s->links[k].share));
        *velocity = dvec_add(*velocity, dvec_scale(moves, s->links[k].share));
    }
}

lm_dvec3 lmi_bones_target(const lmi_skeleton *skeleton, uint32_t n)
{
    lm_dvec3 target, velocity;
    find_target(skeleton, n, &target, &velocity);
    return target;
}

void lmi_wrench_of_bone(lmi_bone *bone, lm_dvec3 at, lm_dvec3 impulse, lm_dvec3 moment)
{
    lm_dvec3 turn = dvec_add(moment, dvec_cross(dvec_sub(at, bone->now.position), impulse));
    bone->wrench.impulse = dvec_sub(bone->wrench.impulse, impulse);
    bone->wrench.angular = dvec_sub(bone->wrench.angular, turn);
}

/* Its bones gave an attached particle an impulse, each its share. */
static void count(const lmi_step *step, lmi_body *body, const lmi_skeleton *s, uint32_t n, lm_dvec3 change)
{
    const float *x = body->x + (size_t)s->particles[n] * 4, *v = body->v + (size_t)s->particles[n] * 4;
    lm_dvec3 given = dvec_scale(change, v[3] * body->mean_mass), at = dvec_add(body->origin, dvec(x[0], x[1], x[2]));
    body->outside_impulse = dvec_add(body->outside_impulse, given);
    for (uint32_t k = s->offsets[n]; k < s->offsets[n + 1]; k++) {
        lmi_bone *bone = &s->bones[s->links[k].bone];
        lm_dvec3 share = dvec_scale(given, s->links[k].share);
        lmi_wrench_of_bone(bone, at, share, lm_dvec3_zero());
        if (bone->mover != LMI_NONE) {
            lmi_wrench_of_mover(step->world, bone->mover, at, share, lm_dvec3_zero());
        }
    }
}

static const lmi_skeleton *skeleton_of(const lmi_step *step, const lmi_body *body)
{
    return body->skeleton == LMI_NONE ? NULL : LMI_POOL_AT(&step->world->skeletons, lmi_skeleton, body->skeleton);
}

static void pull(const lmi_step *step, lmi_body *body, const lmi_skeleton *s, uint32_t n)
{
    float *x = body->x + (size_t)s->particles[n] * 4, *v = body->v + (size_t)s->particles[n] * 4;
    lm_dvec3 target, moves;
    find_target(s, n, &target, &moves);
    lm_dvec3 done = lmi_pull_particle(x, v, body->origin, target, moves, s->weights[n], 6.283185307179586 * s->hertz,
                                      s->damping_ratio, step->h);
    count(step, body, s, n, done);
}

void lmi_bones_pull(const lmi_step *step, lmi_body *body)
{
    const lmi_skeleton *s = skeleton_of(step, body);
    for (uint32_t n = 0; s && n < s->particle_count; n++) {
        if (s->weights[n] < 1.0f && !lmi_bones_yield(step->world, s, n)) {
            pull(step, body, s, n);
        }
    }
}

static void hold(const lmi_step *step, lmi_body *body, const lmi_skeleton *s, uint32_t n)
{
    float *x = body->x + (size_t)s->particles[n] * 4, *v = body->v + (size_t)s->particles[n] * 4;
    lm_dvec3 target, moves;
    find_target(s, n, &target, &moves);
    count(step, body, s, n, lmi_hold_particle(x, v, body->origin, target, moves));
}

void lmi_bones_hold(const lmi_step *step, lmi_body *body)
{
    const lmi_skeleton *s = skeleton_of(step, body);
    for (uint32_t n = 0; s && n < s->particle_count; n++) {
        if (s->weights[n] >= 1.0f && !lmi_bones_yield(step->world, s, n)) {
            hold(step, body, s, n);
        }
    }
}
