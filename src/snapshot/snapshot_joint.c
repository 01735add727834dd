/*
 * Joints in snapshots: what they hold, how, and what they bore in the last substep, which the next one begins with.
 */
#include "joint/joint.h"
#include "skeleton/skeleton.h"
#include "snapshot/archive.h"
#include "world/in_step.h"

/* Metres of an anchor from what it is on, which may have moved beyond LM_MAX_POSITION since. */
#define FARTHEST (1e3 * LM_MAX_POSITION)

/* What steps and setters change. */
void lmi_visit_joint_state(archive *a, const lm_world *world, struct lmi_joint *joint)
{
    visit_float(a, &joint->length);
    visit_float(a, &joint->hertz);
    visit_float(a, &joint->damping_ratio);
    visit_float(a, &joint->max_force);
    visit_float(a, &joint->max_torque);
    visit_bool(a, &joint->disabled);
    visit_bool(a, &joint->broken);
    visit_u64(a, &joint->user_data);
    visit_vec3(a, &joint->force);
    visit_vec3(a, &joint->torque);
    refuse_if(a, lmi_joint_fault(joint) != NULL);
    for (int e = 0; e < 2; e++) {
        lmi_joint_end *end = &joint->end[e];
        visit_index(a, &end->mover, world->movers.slots, true);
        visit_dvec3(a, &end->anchor);
        visit_dmat3(a, &end->frame);
        refuse_if(a, !(dvec_length(end->anchor) <= FARTHEST));
        bool has = ok(a) && end->mover != LMI_NONE;
        refuse_if(a, !is_rotation(&end->frame) || (has && !lmi_pool_used(&world->movers, end->mover)));
        refuse_if(a, has && (end->body != LMI_NONE || end->skeleton != LMI_NONE));
    }
    const lmi_joint_end *one = &joint->end[0], *other = &joint->end[1];
    bool held = one->body != LMI_NONE || other->body != LMI_NONE || one->mover != LMI_NONE || other->mover != LMI_NONE;
    refuse_if(a, !held || (one->mover != LMI_NONE && one->mover == other->mover));
}

static void visit_patch(archive *a, lm_world *world, lmi_joint_end *end)
{
    const lmi_body *body = lmi_body_at(world, end->body);
    refuse_if(a, end->count == 0 || end->count > body->particle_count);
    if (!ok(a)) {
        return;
    }
    for (uint32_t n = 0; n < end->count && ok(a); n++) {
        visit_index(a, &end->particles[n], body->place_count, false);
        refuse_if(a, ok(a) && body->order[end->particles[n]] == LMI_NONE);
    }
}

static void visit_end(archive *a, lm_world *world, lmi_joint_end *end)
{
    visit_index(a, &end->body, world->bodies.slots, true);
    visit_index(a, &end->skeleton, world->skeletons.slots, true);
    visit_u32(a, &end->bone);
    visit_count(a, &end->count, 4);
    bool on_body = ok(a) && end->body != LMI_NONE, on_bone = ok(a) && end->skeleton != LMI_NONE;
    refuse_if(a, (on_body && !lmi_pool_used(&world->bodies, end->body)) || (on_body && on_bone) ||
                     (!on_body && end->count) || (on_bone && !lmi_pool_used(&world->skeletons, end->skeleton)));
    if (ok(a) && on_bone) {
        refuse_if(a, end->bone >= LMI_POOL_AT(&world->skeletons, lmi_skeleton, end->skeleton)->bone_count);
    }
    if (!ok(a)) {
        end->count = a->mode == LOAD ? 0 : end->count;
        return;
    }
    if (a->mode == LOAD && on_body) {
        end->particles = lmi_allocate(&world->memory, end->count, sizeof *end->particles);
        a->out_of_memory = !end->particles;
        end->count = end->particles ? end->count : 0;
        lmi_body_in_step(world, end->body)->joints++;
    }
    if (ok(a) && on_body) {
        visit_patch(a, world, end);
    }
}

/* No particle is in a patch twice, none in both patches of one body, and what keeps an angle has patches that can. */
static void check_patches(archive *a, lm_world *world, const lmi_joint *joint)
{
    bool turns = joint->kind != LM_JOINT_BALL && joint->kind != LM_JOINT_DISTANCE;
    for (int e = 0; e < 2 && ok(a) && a->mode == LOAD; e++) {
        const lmi_joint_end *end = &joint->end[e], *other = &joint->end[1 - e];
        if (end->body == LMI_NONE) {
            continue;
        }
        const lmi_body *body = lmi_body_at(world, end->body);
        bool *seen = lmi_allocate(&world->memory, body->place_count, sizeof *seen);
        if (!seen) {
            a->out_of_memory = true;
            return;
        }
        for (int both = 0; both < 2; both++) {
            const lmi_joint_end *of = both ? other : end;
            for (uint32_t n = 0; of->body == end->body && n < of->count; n++) {
                refuse_if(a, seen[of->particles[n]]);
                seen[of->particles[n]] = true;
            }
        }
        lmi_release(&world->memory, seen, body->place_count, sizeof *seen);
        refuse_if(a, turns && !lmi_patch_has_frame(body, end));
    }
}

void lmi_visit_joint(archive *a, lm_world *world, void *element)
{
    lmi_joint *joint = element;
    VISIT_ENUM(a, joint->kind, LM_JOINT_KIND_COUNT);
    visit_end(a, world, &joint->end[0]);
    visit_end(a, world, &joint->end[1]);
    if (ok(a)) {
        check_patches(a, world, joint);
    }
}
