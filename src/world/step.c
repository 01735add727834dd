/*
 * One step, as the list of what happens in it.
 *
 *   prepare     all that can fail: changes of detail, memory, and last of all links that break; nothing moves yet
 *   begin       what a step starts from; a device takes the world, if there is one that can
 *   for each substep
 *       movers and bones go on, and what rides on movers is put in place     collide/place.c, skeleton/
 *       bodies move by themselves                                            stages.c, or gpu/gpu.c
 *       bodies meet each other and all they touch                            contact/mutual.c
 *       joints hold; what movers and colliders were given is added up        joint/joint_solve.c, collide/wrench.c
 *           (after each of the three, movers with mass and the particles that they carry go on together: joint/hold.c)
 *       skins follow, after the last one                                     skin/skin.c
 *   conclude    who touched whom, who falls asleep or wakes, sums
 *
 * A device does whole substeps and returns what is left of them to the host: nothing, the contacts, or all of it.
 */
#include "world/step.h"
#include "base/dmath.h"
#include "base/guard.h"
#include "base/os.h"
#include "collide/place.h"
#include "collide/rigid.h"
#include "collide/wrench.h"
#include "contact/mutual.h"
#include "contact/penalty.h"
#include "contact/sleep.h"
#include "contact/touching.h"
#include "fracture/fracture.h"
#include "gpu/gpu.h"
#include "joint/hold.h"
#include "joint/joint.h"
#include "lattice/herd.h"
#include "octree/octree_body.h"
#include "skeleton/skeleton.h"
#include "skin/skin.h"
#include "world/access.h"
#include "world/elastic.h"
#include "world/in_step.h"
#include "world/solids.h"

/* --- prepare --- */

static bool reserve_all(lm_world *world, double seconds)
{
    lmi_rigids_prepare(world);
    lmi_company_find(world);
    if (!lmi_sleep_prepare(world, seconds)) {
        return false;
    }
    for (uint32_t n = 0; n < world->batch_count; n++) {
        lmi_batch *batch = &world->batches[n];
        if (batch->dirty) {
            lmi_batch_change(world, n); /* bodies have come, gone, fallen asleep or woken: particles are elsewhere */
        }
        if ((batch->dirty && !lmi_batch_pack(world, batch)) || !lmi_batch_herd(world, batch)) {
            return false;
        }
    }
    void *surfaces = world->surfaces, *flows = world->flows;
    bool ok = lmi_reserve(&world->memory, &surfaces, &world->surface_capacity, world->colliders.alive,
                          sizeof *world->surfaces) &&
              lmi_reserve(&world->memory, &flows, &world->flow_capacity, world->fields.alive, sizeof *world->flows);
    world->surfaces = surfaces;
    world->flows = flows;
    return ok && lmi_stages_reserve(world) && lmi_mutual_reserve(world) && lmi_touchings_reserve(world) &&
           lmi_penalty_reserve(world) && lmi_wrenches_reserve(world) && lmi_joints_reserve(world) &&
           lmi_holds_reserve(world) && lmi_fracture_step(world);
}

/* Changes of detail, and all memory that the step needs, unless a device goes on where it was. May be repeated after a failure, which
 * leaves everything as it was. */
static bool prepare(lm_world *world, double seconds, double h, bool *continues)
{
    struct lmi_octree_change *changes;
    bool ok = lmi_octree_levels_step(world, seconds, &changes);
    *continues = ok && lmi_gpu_continues(world, h);
    if (ok && !*continues) {
        lmi_step_read(world);
        ok = reserve_all(world, seconds);
        if (!ok) {
            lmi_sleep_undo(world);
        }
    }
    if (ok) {
        lmi_octree_levels_keep(world, changes, seconds);
    } else {
        lmi_octree_levels_undo(world, changes);
    }
    return ok;
}

/* --- begin --- */

/* What the host's part of a step starts from. */
static void begin(lm_world *world, double h)
{
    const lmi_body *beyond = NULL; /* the first of those that are not as stiff as was asked for */
    uint32_t beyond_count = 0;
    bool fresh = false;
    world->stiffness_limited = 0;
    world->contact_stats = (lm_contact_stats){0};
    world->find_nanoseconds = world->solve_nanoseconds = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        lmi_material_tune(body, h);
        lmi_elastic_tell(world, body, h * world->division);
        if (lmi_hertz_beyond(body)) {
            beyond = beyond ? beyond : body;
            beyond_count++;
        }
        world->stiffness_limited += body->stiffness_limited;
        body->outside_impulse = lm_dvec3_zero();
        fresh = fresh || body->fresh;
    }
    if (fresh) {
        lmi_mutual_tell(world);
        LMI_POOL_EACH(&world->bodies, n) { lmi_body_in_step(world, n)->fresh = false; }
    }
    if (beyond) {
        lmi_hertz_tell(world, beyond, beyond_count);
    }
    for (uint32_t n = 0; n < world->batch_count; n++) {
        for (int stage = 0; stage < LM_STAGE_COUNT; stage++) {
            world->batches[n].stage_nanoseconds[stage] = 0;
        }
    }
}

/* Returns whether the step begins on a device. */
static bool begin_step(lm_world *world, double seconds, double h, bool continues)
{
    bool on_device = continues;
    if (!continues) {
        begin(world, h);
        on_device = lmi_gpu_take(world, h);
    }
    if (!continues || lmi_gpu_tells(world)) { /* else a device that goes on keeps no list of what touches */
        lmi_touchings_begin(world);
    }
    lmi_wrenches_begin(world);
    lmi_joints_begin(world);
    lmi_movers_aim(world, seconds);
    lmi_bones_aim(world, seconds);
    return on_device;
}

/* --- a substep --- */

static uint32_t place_flows(lm_world *world, double h)
{
    uint32_t count = 0;
    LMI_POOL_EACH(&world->fields, n)
    {
        const lm_field_def *f = LMI_POOL_AT(&world->fields, lm_field_def, n);
        double strength = f->kind == LM_FIELD_WIND ? 1.0 - lmi_exp(-(double)f->strength * h) : (double)f->strength * h;
        lmi_flow flow = {f->kind, f->vector, f->position, (float)strength, f->radius};
        world->flows[count++] = flow;
    }
    return count;
}

/* Everything but bodies where it is in this substep. */
static lmi_step place(lm_world *world, double h, uint32_t substep)
{
    lmi_movers_advance(world, h);
    lmi_meshes_advance(world, h, substep);
    lmi_bones_advance(world, substep);
    lmi_step step = {.world = world,
                     .h = h,
                     .gravity = dvec_from(world->gravity),
                     .surfaces = world->surfaces,
                     .flows = world->flows,
                     .last = substep + 1 == world->division};
    step.surface_count = lmi_surfaces_place(world, world->surfaces, &step.solids);
    step.flow_count = place_flows(world, h);
    return step;
}

/* Movers with mass and what they carry; their colliders go along. */
static void settle(const lmi_step *step, lmi_holds_when when)
{
    bool solids;
    if (lmi_holds_settle(step, when)) {
        lmi_surfaces_place(step->world, step->world->surfaces, &solids);
    }
}

/* Returns whether the next substep is the device's. One that cannot step all bodies leaves this substep, and the rest of the step, to
 * the host. */
static bool run_substep(lm_world *world, double h, uint32_t substep, bool on_device)
{
    if (world->substep_function) {
        world->substep_function(world, h, world->substep_user);
    }
    const lmi_step step = place(world, h, substep);
    lmi_left left = on_device ? lmi_gpu_substep(&step) : LMI_LEFT_ALL;
    if (left == LMI_LEFT_NOTHING) {
        return true;
    }
    if (left == LMI_LEFT_CONTACTS) {
        lmi_stages_contact(&step);
    } else {
        if (on_device) {
            begin(world, h);
        }
        lmi_stages_run(&step);
    }
    settle(&step, LMI_HOLDS_FIRST);
    lmi_mutual_contacts(&step);
    settle(&step, LMI_HOLDS_AGAIN);
    if (world->joints.alive) {
        lmi_joints_solve(&step);
        settle(&step, LMI_HOLDS_AGAIN);
    }
    lmi_wrenches_end_substep(world);
    if (step.last) {
        lmi_skins_follow(world);
    }
    if (left == LMI_LEFT_CONTACTS) {
        lmi_gpu_resume(&step);
    }
    return left == LMI_LEFT_CONTACTS;
}

/* --- conclude --- */

/* Forces act for one step. */
static void end_forces(lm_world *world)
{
    if (world->force_count) {
        LMI_POOL_EACH(&world->bodies, n) { lmi_body_in_step(world, n)->first_force = LMI_NONE; }
        world->force_count = 0;
    }
}

/* Sums over bodies in slot order and over batches in their order. */
static void sum_up(lm_world *world)
{
    world->contacts = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        world->contacts += body->contacts;
        world->outside_impulse = dvec_add(world->outside_impulse, body->outside_impulse);
    }
    lmi_stages_time(world, world->stage_seconds);
    world->stage_seconds[LM_STAGE_FIND] = 1e-9 * (double)world->find_nanoseconds;
    world->stage_seconds[LM_STAGE_SOLVE] = 1e-9 * (double)world->solve_nanoseconds;
}

/* `on_device`: as far as its last substep. Regions that a device has matched have their transforms there. */
static void conclude(lm_world *world, double seconds, bool on_device)
{
    lmi_bones_arrive(world);
    lmi_movers_arrive(world);
    lmi_bones_ride(world);
    lmi_meshes_arrive(world);
    world->wrench_lost = on_device;
    world->time += seconds;
    end_forces(world);
    switch (on_device ? lmi_gpu_conclude(world, seconds) : LMI_END_SHARED) {
    case LMI_END_ALONE: break;
    case LMI_END_RESTS:
        lmi_sleep_fall(world);
        sum_up(world);
        break;
    case LMI_END_SHARED:
        lmi_touchings_end(world);
        lmi_sleep_end(world, seconds);
        sum_up(world);
        for (uint32_t n = 0; n < world->batch_count; n++) {
            world->batches[n].pack.stepped = !on_device;
        }
        break;
    }
}

/* As many substeps as the bodies that are awake ask for. */
static uint32_t division_of(const lm_world *world, double seconds)
{
    uint32_t most = 1;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        uint32_t count = lmi_body_is_out(body) ? 1 : lmi_elastic_substeps(body, seconds);
        most = count > most ? count : most;
    }
    return most;
}

lm_result lm_world_step(lm_world *world, double seconds)
{
    if (!(seconds > 0.0 && seconds <= 1.0)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_step: seconds is %g, must be above 0 and at most 1",
                        seconds);
    }
    uint64_t start = lmi_os_nanoseconds();
    lm_result result = LM_OK;
    bool continues;
    world->division = world->substeps ? world->substeps : division_of(world, seconds);
    double h = seconds / world->division;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    if (prepare(world, seconds, h, &continues)) {
        bool on_device = begin_step(world, seconds, h, continues);
        for (uint32_t n = 0; n < world->division; n++) {
            on_device = run_substep(world, h, n, on_device);
        }
        conclude(world, seconds, on_device);
        world->steps++;
        world->step_seconds = 1e-9 * (double)(lmi_os_nanoseconds() - start);
    } else {
        result = lmi_fail(world, LM_ERROR_MEMORY, "lm_world_step: out of memory; nothing has changed");
    }
    lmi_float_mode_leave(&host);
    return result;
}
