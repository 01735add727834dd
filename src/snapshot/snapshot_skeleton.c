/*
 * Skeletons in snapshots: their bones where they are and where they shall be, and what is attached to them.
 */
#include "skeleton/skeleton.h"
#include "snapshot/archive.h"
#include "world/in_step.h"

static void visit_frame(archive *a, lmi_frame *frame)
{
    double square = 0.0;
    visit_dvec3(a, &frame->position);
    for (int i = 0; i < 4; i++) {
        visit_double(a, &frame->turn[i]);
        square += frame->turn[i] * frame->turn[i];
    }
    lm_dvec3 p = frame->position;
    bool near = dvec_is_place(p);
    refuse_if(a, !near || !(fabs(square - 1.0) < 1e-6));
}

static void visit_bone(archive *a, lmi_bone *bone)
{
    visit_pose(a, &bone->def.rest);
    visit_vec3(a, &bone->def.tail);
    visit_float(a, &bone->def.radius);
    visit_float(a, &bone->def.fade);
    refuse_if(a, lmi_bone_fault(&bone->def) != NULL || !is_unit(bone->def.rest.rotation));
}

/* How bones pull, and whether they go anywhere. */
static void visit_pull(archive *a, lmi_skeleton *s)
{
    visit_float(a, &s->hertz);
    visit_float(a, &s->damping_ratio);
    visit_bool(a, &s->aimed);
    refuse_if(a, !(s->hertz >= 0.0f && s->hertz <= 1e6f && s->damping_ratio >= 0.0f && s->damping_ratio <= 1e6f));
}

void lmi_visit_bones(archive *a, const lm_world *world, lmi_skeleton *s)
{
    visit_pull(a, s);
    for (uint32_t n = 0; n < s->bone_count && ok(a); n++) {
        visit_frame(a, &s->bones[n].now);
        visit_frame(a, &s->bones[n].target);
        visit_index(a, &s->bones[n].mover, world->movers.slots, true);
        visit_frame(a, &s->bones[n].seat);
        refuse_if(a, ok(a) && s->bones[n].mover != LMI_NONE && !lmi_pool_used(&world->movers, s->bones[n].mover));
        if (a->mode == LOAD && ok(a)) {
            s->bones[n].rotation = lmi_frame_rotation(&s->bones[n].now);
        }
    }
}

static void visit_link(archive *a, const lmi_skeleton *s, lmi_bone_link *link)
{
    visit_index(a, &link->bone, s->bone_count, false);
    visit_float(a, &link->share);
    visit_dvec3(a, &link->local);
    lm_dvec3 p = link->local;
    double most = 8.0 * LM_MAX_COORDINATE;
    bool near = fabs(p.x) <= most && fabs(p.y) <= most && fabs(p.z) <= most;
    refuse_if(a, !near || !(link->share >= 0.0f && link->share <= 1.0f));
}

/* The attached particle n, each once and in the order of the caller's indices, with its links. */
static void visit_attached(archive *a, const lmi_body *body, lmi_skeleton *s, uint32_t n)
{
    visit_index(a, &s->particles[n], body->place_count, false);
    visit_float(a, &s->weights[n]);
    visit_index(a, &s->offsets[n + 1], s->link_count + 1, false);
    if (!ok(a) || a->mode != LOAD) {
        return;
    }
    uint32_t index = body->order[s->particles[n]];
    bool sorted = index != LMI_NONE && (n == 0 || body->order[s->particles[n - 1]] < index);
    bool last = n + 1 == s->particle_count;
    refuse_if(a, !sorted || s->offsets[n + 1] <= s->offsets[n] || (last && s->offsets[n + 1] != s->link_count) ||
                     !(s->weights[n] > 0.0f && s->weights[n] <= 1.0f));
}

void lmi_visit_skeleton(archive *a, lm_world *world, void *element)
{
    lmi_skeleton *s = element;
    visit_index(a, &s->body, world->bodies.slots, false);
    bool free = ok(a) && lmi_pool_used(&world->bodies, s->body) &&
                (a->mode != LOAD || lmi_body_at(world, s->body)->skeleton == LMI_NONE);
    refuse_if(a, !free);
    visit_count(a, &s->bone_count, 160);
    visit_count(a, &s->particle_count, 12);
    visit_count(a, &s->link_count, 32);
    refuse_if(a, s->bone_count < 1 || s->bone_count > LM_MAX_BONES || (s->particle_count == 0 && s->link_count > 0));
    if (!ok(a)) {
        if (a->mode == LOAD) {
            s->bone_count = s->particle_count = s->link_count = 0;
        }
        return;
    }
    lmi_body *body = lmi_body_in_step(world, s->body);
    if (a->mode == LOAD) {
        a->out_of_memory = !lmi_skeleton_allocate(&world->memory, s);
        body->skeleton = (uint32_t)(s - (lmi_skeleton *)world->skeletons.elements);
    }
    for (uint32_t n = 0; n < s->bone_count && ok(a); n++) {
        visit_bone(a, &s->bones[n]);
    }
    for (uint32_t n = 0; n < s->particle_count && ok(a); n++) {
        visit_attached(a, body, s, n);
    }
    for (uint32_t n = 0; n < s->link_count && ok(a); n++) {
        visit_link(a, s, &s->links[n]);
    }
}
