/*
 * Substeps on the device.
 *
 *   prepare    each body's motion, its frame, which colliders it may touch; whether the host must step it instead
 *   fit        gather and fit                           \
 *   move       scatter, integrate, contact and measure  > lattices, all of one kind in each launch
 *   conclude   each body's sums, bounds and drift       /
 *
 * The host waits once in a substep, for a word that says whether the device can step all bodies: not the overstretched and
 * collapsed ones, nor those that answer a collider as a whole. Then it takes the state back and steps it all by itself. The
 * device finds the regions' transforms meanwhile; kernels that change state before the host knows look at the word themselves.
 * Where an operation fails the device is lost, and the host goes on from the state that it has (fetch.c).
 *
 * Every launch writes what no other work-group of it reads or writes, and sums have a fixed shape: a device gives the same
 * bits in every run.
 */
#include "gpu/gpu.h"
#include "gpu/state.h"
#include "world/in_step.h"

#include "contact/halt.h"
#include "fracture/fracture.h"
#include "gpu/account.h"
#include "gpu/clusters.h"
#include "gpu/forces.h"
#include "gpu/gpu_held.h"
#include "gpu/gpu_meet.h"
#include "gpu/kinds.h"
#include "gpu/press.h"
#include "gpu/rest.h"
#include "gpu/small.h"
#include "gpu/solve.h"
#include "gpu/stand.h"
#include "gpu/walls.h"

#include <assert.h>
#include <string.h>

void lmi_gpu_finish(const lm_world *world)
{
    if (world->gpu && world->gpu->queue) {
        world->gpu->cl.clFinish(world->gpu->queue);
    }
}

/* --- steps --- */

/* Whether bodies stand elsewhere in their batches than when the world was laid out. */
static bool has_moved(const lm_world *world)
{
    bool moved = false;
    for (uint32_t n = 0; n < world->batch_count; n++) {
        moved = moved || world->batches[n].dirty;
    }
    return moved;
}

bool lmi_gpu_goes_on(const lm_world *world, double h)
{
    const lmi_gpu *gpu = world->gpu;
    return gpu && gpu->holds && !gpu->shares && gpu->stands == lmi_gpu_has_stands(world) && gpu->h == h &&
           world->force_count == 0 && !has_moved(world) && !lmi_gpu_rest_is_over(world);
}

bool lmi_gpu_continues(const lm_world *world, double h) { return lmi_gpu_goes_on(world, h) && !world->gpu->breaks; }

lmi_gpu_end lmi_gpu_conclude(lm_world *world, double seconds)
{
    const lmi_gpu *gpu = world->gpu;
    if (!gpu || !gpu->holds || gpu->shares || (lmi_gpu_tells(world) && !lmi_gpu_events_tell(world))) {
        return LMI_END_SHARED;
    }
    return lmi_gpu_rest_begins(world, seconds) ? LMI_END_RESTS : LMI_END_ALONE;
}

bool lmi_gpu_measure(lmi_gpu *gpu)
{
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->chunks),
                                          LMI_GPU_BUFFER(gpu->x), LMI_GPU_BUFFER(gpu->v),
                                          LMI_GPU_BUFFER(gpu->partials)};
    const size_t groups[2] = {gpu->chunk_count, 1}, bodies[2] = {gpu->body_count, 1}, group[2] = {64, 1};
    const cl_uint measured = 1;
    const double h = gpu->h;
    const lmi_gpu_argument conclude[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->partials), LMI_GPU_VALUE(h),
                                         LMI_GPU_VALUE(measured)};
    return lmi_gpu_run(gpu, gpu->measure, arguments, 5, groups, group) &&
           lmi_gpu_run(gpu, gpu->conclude, conclude, 4, bodies, group) && lmi_gpu_kinds_conclude(gpu, h, true);
}

/* Whether there is anything to step: all bodies may be asleep. */
static bool is_anyone_awake(const lm_world *world)
{
    bool awake = world->bodies.alive == 0; /* a world without bodies says so */
    LMI_POOL_EACH(&world->bodies, n) { awake = awake || lmi_body_at(world, n)->batch != LMI_NONE; }
    return awake;
}

/* Says once what the device leaves to the host for good, or in every substep. */
static bool can_step(lm_world *world, lmi_gpu *gpu)
{
    const char *reason = lmi_gpu_reason(world);
    if (reason && gpu->said != reason) {
        lmi_fail(world, LM_ERROR_UNSUPPORTED, "device %.80s: it cannot step %s yet; the CPU does", gpu->name, reason);
    }
    gpu->said = reason;
    return reason == NULL;
}

/* Whether bodies are stepped as they were when they were laid out: in substeps of h seconds, with this division of work. */
static bool divides_alike(const lm_world *world, const lmi_gpu *gpu, double h, bool shares)
{
    bool meets = !shares && lmi_gpu_meets(world) && lmi_gpu_has_meeters(world);
    return gpu->h == h && shares == gpu->shares && gpu->meets == meets &&
           gpu->walled == (!shares && lmi_gpu_has_walls(world)) &&
           gpu->stands == (!shares && lmi_gpu_has_stands(world)) && gpu->grips == (!shares && lmi_gpu_has_held(world));
}

/* What has no state of its own. */
static bool lay_out(lm_world *world, lmi_gpu *gpu)
{
    return lmi_gpu_lay_out(world, gpu) && lmi_gpu_meet_lay_out(world, gpu) && lmi_gpu_walls_lay_out(world, gpu);
}

/* Contacts that were solved, and who holds what, have some; and the sums of bodies. */
static bool settle_in(lm_world *world, lmi_gpu *gpu)
{
    return lmi_gpu_solve_lay_out(world, gpu) && lmi_gpu_press_lay_out(gpu) && lmi_gpu_accounts_lay_out(world, gpu) &&
           lmi_gpu_held_lay_out(world, gpu) && lmi_gpu_measure_void(world, gpu);
}

/* The host steps, now: it has the state, and the device's is void. */
static bool leave_step(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_fetch(world);
    lmi_gpu_void(gpu, true);
    return false;
}

/* Whether there may not be enough memory for a buffer that grows: it takes the place of the old one, with a quarter more, while that is
 * still there. */
static bool is_scarce(const lmi_gpu *gpu)
{
    return gpu->used > (gpu->limits.memory ? gpu->limits.memory : gpu->total) / 3;
}

/* All that is not on the device as it is: everything (gpu->whole), single batches, or nothing but their state. */
static bool bring_over(lm_world *world, lmi_gpu *gpu, bool fits)
{
    bool ok = (fits ? lmi_gpu_refresh(world, gpu) : lay_out(world, gpu)) && settle_in(world, gpu);
    gpu->patches += !fits && !gpu->whole;
    if (ok) {
        lmi_gpu_places_taken(gpu);
    }
    return ok;
}

/* Whether strain may break something that is awake: where particles are decides. */
static bool has_breakers(const lm_world *world)
{
    bool any = false;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        any = any || (body->batch != LMI_NONE && body->fracture && body->fracture->breaks);
    }
    return any;
}

bool lmi_gpu_take(lm_world *world, double h)
{
    lmi_gpu *gpu = world->gpu;
    if (!gpu || gpu->lost) {
        return false;
    }
    gpu->stiff = lmi_gpu_has_stiff(world);
    bool always = lmi_gpu_contacts_on_host(world), shares = always || gpu->wary > 0;
    bool alike = gpu->fits && divides_alike(world, gpu, h, shares), fits = alike && lmi_gpu_all_laid(world, gpu);
    bool same = gpu->holds && fits;
    gpu->wary -= gpu->wary > 0;
    gpu->holds = gpu->fits = false;
    if (!same && (!is_anyone_awake(world) || !can_step(world, gpu))) {
        return leave_step(world, gpu);
    }
    gpu->whole = !fits && !(alike && lmi_gpu_can_patch(world, gpu));
    if (gpu->whole) {
        lmi_gpu_fetch(world); /* all of it will be uploaded */
        lmi_gpu_void(gpu, false);
        if (gpu->lost) {
            return false;
        }
    } else if (!fits && is_scarce(gpu)) {
        lmi_gpu_fetch(world); /* what stays on the device would be lost with it */
    }
    gpu->h = h;
    gpu->shares = shares;
    gpu->meets = !gpu->shares && lmi_gpu_meets(world) && lmi_gpu_has_meeters(world);
    gpu->presses = gpu->meets && world->contact_method != LM_CONTACT_METHOD_SOLVED;
    gpu->walled = !gpu->shares && lmi_gpu_has_walls(world);
    gpu->stands = !gpu->shares && lmi_gpu_has_stands(world);
    gpu->grips = !gpu->shares && lmi_gpu_has_held(world);
    gpu->breaks = same ? gpu->breaks : has_breakers(world);
    gpu->status = CL_SUCCESS;
    gpu->serial++;
    gpu->layouts += !fits;
    if (!(same || bring_over(world, gpu, fits)) || !lmi_gpu_forces_ready(world, gpu)) {
        lmi_gpu_lose(world, gpu->status == CL_SUCCESS ? "out of memory" : lmi_cl_text(gpu->status));
        return false;
    }
    if (always && !gpu->told) {
        lmi_fail(world, LM_ERROR_UNSUPPORTED,
                 "device %.80s: contacts of this world are left to the CPU, in every substep", gpu->name);
    }
    gpu->told = always;
    gpu->holds = gpu->fits = true;
    return true;
}

void lmi_gpu_describe_surface(const lmi_surface *s, lmi_gpu_surface *to)
{
    const lm_dvec3 *from[6] = {&s->position, &s->velocity, &s->spin, &s->pivot, &s->bound_lower, &s->bound_upper};
    double *at[6] = {to->position, to->velocity, to->spin, to->pivot, to->lower, to->upper};
    for (int i = 0; i < 6; i++) {
        at[i][0] = from[i]->x, at[i][1] = from[i]->y, at[i][2] = from[i]->z;
    }
    for (int i = 0; i < 9; i++) {
        to->rotation[i] = s->rotation.m[i / 3][i % 3];
    }
    to->radius = s->radius;
    to->half_length = s->half_length;
    to->half_extents[0] = s->half_extents.x, to->half_extents[1] = s->half_extents.y;
    to->half_extents[2] = s->half_extents.z;
    to->friction = s->friction;
    to->restitution = s->restitution;
    to->thickness =
        s->shape == LM_SHAPE_BOX ? fminf(s->half_extents.x, fminf(s->half_extents.y, s->half_extents.z)) : s->radius;
    to->shape = (uint32_t)s->shape;
    to->group = s->group;
    to->mask = s->mask;
    to->solid = LMI_GPU_NONE;
}

/* Where the colliders are. */
static bool place_surfaces(lmi_gpu *gpu, const lmi_step *step, uint32_t count)
{
    lmi_gpu_surface surfaces[LMI_GPU_MAX_SURFACES];
    if (gpu->walled) {
        return lmi_gpu_walls_place(gpu, step);
    }
    for (uint32_t n = 0; n < count; n++) {
        lmi_gpu_describe_surface(&step->surfaces[n], &surfaces[n]);
    }
    return lmi_gpu_write(gpu, &gpu->surfaces, 0, surfaces, count * sizeof *surfaces);
}

/* Bodies that a work-group prepares (HERD in body.cl); and so few bodies that each gets one by itself. */
#define MOST_HERD 8
#define FEW_BODIES 1024

/* Each body's part of the substep, and the word for the host, which is 0 until then: the world is laid out again after a substep
 * that was the host's. */
static bool prepare(lmi_gpu *gpu, const lmi_step *step, const float change[3])
{
    const cl_uint count = gpu->body_count, surface_count = gpu->shares ? 0 : step->surface_count;
    const cl_uint walled = gpu->stands ? 2 : gpu->walled;
    const cl_uint herd = count <= FEW_BODIES ? 1 : MOST_HERD;
    const double h = step->h;
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_BUFFER(gpu->bodies),  LMI_GPU_BUFFER(gpu->before), LMI_GPU_VALUE(count),
        LMI_GPU_VALUE(herd),          LMI_GPU_BUFFER(gpu->x),      LMI_GPU_BUFFER(gpu->surfaces),
        LMI_GPU_VALUE(surface_count), LMI_GPU_VALUE(walled),       LMI_GPU_VALUE(h),
        LMI_GPU_VALUE(change[0]),     LMI_GPU_VALUE(change[1]),    LMI_GPU_VALUE(change[2]),
        LMI_GPU_BUFFER(gpu->stop)};
    const size_t groups[2] = {(count + herd - 1) / herd, 1}, group[2] = {64, 1};
    return lmi_gpu_forces_apply(gpu, step) && place_surfaces(gpu, step, surface_count) &&
           lmi_gpu_run(gpu, gpu->prepare, arguments, sizeof arguments / sizeof *arguments, groups, group) &&
           lmi_gpu_kinds_prepare(gpu, h, change) && lmi_gpu_mark(gpu, &gpu->prepared);
}

/* A body that has answered a collider as a whole will do so again. */
#define WARY_STEPS 120

/* What is connected, or crowds, so much that the host does it faster will do so for a while. */
#define CAUTIOUS_STEPS 30

/* Those of rigid and of linear lattices take turns in the particles, and are not as large: each has a place of its own. */
static const lmi_gpu_buffer *regions_of(const lmi_gpu *gpu, const lmi_gpu_variant *v)
{
    return v->kind.linear ? &gpu->linear_regions : &gpu->regions;
}

static bool fit(lmi_gpu *gpu, const lmi_gpu_variant *v)
{
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(v->to_fit.buffer),
                                          LMI_GPU_BUFFER(gpu->bodies),
                                          LMI_GPU_BUFFER(gpu->map),
                                          LMI_GPU_BUFFER(gpu->kinds),
                                          LMI_GPU_BUFFER(gpu->constants),
                                          LMI_GPU_BUFFER(gpu->x),
                                          LMI_GPU_BUFFER(*regions_of(gpu, v)),
                                          LMI_GPU_BUFFER(gpu->irregular),
                                          LMI_GPU_BUFFER(gpu->gather.lists),
                                          LMI_GPU_BUFFER(gpu->gather.entries),
                                          LMI_GPU_BUFFER(gpu->irregular_moments),
                                          LMI_GPU_BUFFER(gpu->kept)};
    const size_t groups[2] = {v->to_fit.count, 1}, group[2] = {v->kind.tile_x, v->kind.tile_y};
    return v->to_fit.count == 0 ||
           lmi_gpu_run(gpu, v->fit, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

static bool move(lmi_gpu *gpu, const lmi_gpu_variant *v, float h)
{
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(v->to_move.buffer),
                                          LMI_GPU_BUFFER(gpu->bodies),
                                          LMI_GPU_BUFFER(gpu->map),
                                          LMI_GPU_BUFFER(gpu->constants_of),
                                          LMI_GPU_BUFFER(gpu->kinds),
                                          LMI_GPU_BUFFER(gpu->constants),
                                          LMI_GPU_BUFFER(gpu->x),
                                          LMI_GPU_BUFFER(gpu->v),
                                          LMI_GPU_BUFFER(*regions_of(gpu, v)),
                                          LMI_GPU_BUFFER(gpu->corrected),
                                          LMI_GPU_BUFFER(gpu->scatter.lists),
                                          LMI_GPU_BUFFER(gpu->scatter.entries),
                                          LMI_GPU_BUFFER(gpu->kept),
                                          LMI_GPU_BUFFER(gpu->corrections),
                                          LMI_GPU_BUFFER(gpu->surfaces),
                                          LMI_GPU_BUFFER(gpu->partials),
                                          LMI_GPU_VALUE(h)};
    const size_t groups[2] = {v->to_move.count, 1}, group[2] = {v->kind.tile_x, v->kind.tile_y};
    return v->to_move.count == 0 ||
           lmi_gpu_run(gpu, v->move, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

static bool conclude(lmi_gpu *gpu, double h)
{
    const cl_uint measured = 0;
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->partials), LMI_GPU_VALUE(h),
                                          LMI_GPU_VALUE(measured)};
    const lmi_gpu_argument reduce[] = {LMI_GPU_BUFFER(gpu->parts), LMI_GPU_BUFFER(gpu->partials)};
    const size_t groups[2] = {gpu->lattice_count, 1}, group[2] = {lmi_gpu_has_few(gpu) ? 256 : 64, 1};
    const size_t parts[2] = {gpu->part_count, 1}, wide[2] = {256, 1};
    return (gpu->part_count == 0 || lmi_gpu_run(gpu, gpu->reduce, reduce, 2, parts, wide)) &&
           lmi_gpu_run(gpu, gpu->conclude, arguments, sizeof arguments / sizeof *arguments, groups, group) &&
           lmi_gpu_kinds_conclude(gpu, h, false);
}

/* Whether there are lattices that more than one work-group has moved. */
static bool has_tiles(const lmi_gpu *gpu)
{
    bool any = lmi_gpu_has_kinds(gpu);
    for (uint32_t n = 0; n < gpu->variant_count; n++) {
        any = any || gpu->variant[n].to_move.count > 0;
    }
    return any;
}

/* Regions of lattices: nothing of the state changes, so it need not be known yet whether the substep is the device's. Small
 * lattices are moved as well, by a kernel that sees for itself. */
static bool fit_lattices(lmi_gpu *gpu, double h)
{
    bool ok = true;
    for (uint32_t n = 0; ok && gpu->lattice_count && n < gpu->variant_count; n++) {
        ok = fit(gpu, &gpu->variant[n]) && lmi_gpu_step_small(gpu, &gpu->variant[n], h);
    }
    return ok;
}

static bool move_lattices(lmi_gpu *gpu, const lmi_step *step)
{
    if (gpu->lattice_count == 0) {
        return true;
    }
    bool ok = !lmi_gpu_has_kinds(gpu) || (lmi_gpu_kinds_fit(gpu, step->h) && lmi_gpu_kinds_move(gpu, (float)step->h));
    for (uint32_t n = 0; ok && n < gpu->variant_count; n++) {
        ok = move(gpu, &gpu->variant[n], (float)step->h);
    }
    return ok && (!has_tiles(gpu) || conclude(gpu, step->h)) && gpu->cl.clFlush(gpu->queue) == CL_SUCCESS;
}

/* The state, where the device may find out later that the substep is the host's. */
static bool keep(lmi_gpu *gpu) { return gpu->meets ? lmi_gpu_meet_keep(gpu) : !gpu->stands || lmi_gpu_stand_keep(gpu); }

/* All that the device can do before it is known whether the substep is its own. *stop is not 0 where the host must step this
 * one: the word that `prepare` left, read beside the queue, so that what was launched since goes on meanwhile. */
static bool begin_substep(lmi_gpu *gpu, const lmi_step *step, const float change[3], cl_uint *stop)
{
    bool ok = prepare(gpu, step, change) && keep(gpu) && fit_lattices(gpu, step->h) && lmi_gpu_clusters_match(gpu);
    bool known = gpu->prepared && lmi_gpu_read_after(gpu, &gpu->prepared, &gpu->stop, stop, sizeof *stop);
    return ok && known;
}

/* What acts after the particles have moved, in the order of contact/contact.c: drags and bones that pull, colliders.
 * *stop is not 0 where the host must do it. */
static bool settle(lmi_gpu *gpu, const lmi_step *step, cl_uint *stop)
{
    return (!gpu->walled || lmi_gpu_walls_begin(gpu, step->h)) && lmi_gpu_solve_begin(gpu, step->h) &&
           (!gpu->grips || lmi_gpu_held_pull(gpu, step)) && (!gpu->walled || lmi_gpu_walls_meet(gpu, step, stop));
}

/* When all contacts are over: what is held. Then the bodies are measured again, where anything has happened to them since they
 * moved. */
static bool hold(lmi_gpu *gpu, double h)
{
    return (!gpu->grips || lmi_gpu_held_hold(gpu, h)) && ((!gpu->walled && !gpu->grips) || lmi_gpu_measure(gpu));
}

/* Contacts are the host's: it gets the state. */
static bool hand_over(lm_world *world, lmi_gpu *gpu)
{
    bool ok = lmi_gpu_bring(world, &gpu->bodies, LMI_GPU_NONE);
    if (ok) {
        atomic_store(&gpu->newer, false);
    }
    return ok;
}

/* A body that has answered a collider as a whole may do so again for a while. */
static void note_fast(lmi_gpu *gpu, const lmi_step *step)
{
    bool now = gpu->stands && gpu->fast_steps > 0 && gpu->standing->total > 0;
    gpu->fast_steps = now ? WARY_STEPS : gpu->fast_steps - (step->last && gpu->fast_steps > 0);
}

void lmi_gpu_resume(const lmi_step *step)
{
    lm_world *world = step->world;
    lmi_gpu *gpu = world->gpu;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        lmi_gpu_body *to = &gpu->records[n];
        to->lower[0] = body->lower.x, to->lower[1] = body->lower.y, to->lower[2] = body->lower.z;
        to->upper[0] = body->upper.x, to->upper[1] = body->upper.y, to->upper[2] = body->upper.z;
    }
    bool ok = lmi_gpu_upload_state(world, gpu, true) && lmi_gpu_kinds_bound(world, gpu) &&
              lmi_gpu_write(gpu, &gpu->bodies, 0, gpu->records, gpu->body_count * sizeof *gpu->records) &&
              lmi_gpu_measure(gpu);
    if (ok) {
        note_fast(gpu, step);
    } else {
        lmi_gpu_lose(world, lmi_cl_text(gpu->status));
    }
}

/* What a device does not know how to step, once for each kind of trouble. */
static void tell_stop(lm_world *world, lmi_gpu *gpu, uint32_t stop)
{
    static const char *const why[] = {"bodies stretched to many times their size",
                                      "collapsed bodies",
                                      "stiff or fast bodies that meet colliders",
                                      "positions that are no numbers",
                                      "fast bodies that meet each other",
                                      "bodies with more than 64 others around them",
                                      "long chains of stiff or fast bodies",
                                      "bodies that come near sleeping ones",
                                      "bodies that come to meshes or height maps from further than their size"};
    for (uint32_t n = 0; n < sizeof why / sizeof *why; n++) {
        if (stop >> n & ~(gpu->told_stops >> n) & 1) {
            lmi_fail(world, LM_ERROR_UNSUPPORTED, "device %.80s: %s: the CPU does the steps in which there are any",
                     gpu->name, why[n]);
        }
    }
    gpu->told_stops |= stop;
}

/* For how long the host does contacts, or colliders have kernels that know bodies which answer them as a whole. */
static void be_wary(lmi_gpu *gpu, uint32_t stop)
{
    bool cautious = stop & (LMI_GPU_WAKING | LMI_GPU_CHAINED | LMI_GPU_CROWDED | LMI_GPU_FAST);
    if (!(stop & LMI_GPU_RIGID)) {
        gpu->wary = cautious ? CAUTIOUS_STEPS : gpu->wary;
    } else if (gpu->stands) {
        gpu->wary = WARY_STEPS;
    } else {
        gpu->fast_steps = WARY_STEPS;
    }
}

/* The host does this substep: the state as it was before. */
static void leave(lm_world *world, lmi_gpu *gpu, uint32_t stop)
{
    gpu->holds = false;
    be_wary(gpu, stop);
    if (lmi_gpu_events_take(world) && lmi_gpu_accounts_take(world) &&
        lmi_gpu_forces_undo(gpu)) { /* events: of the substeps before */
        lmi_gpu_bring(world, &gpu->before, LMI_GPU_NONE);
        atomic_store(&gpu->newer, false);
        lmi_gpu_void(gpu, true);
    } else {
        lmi_gpu_lose(world, lmi_cl_text(gpu->status));
    }
    tell_stop(world, gpu, stop);
}

lmi_left lmi_gpu_substep(const lmi_step *step)
{
    lm_world *world = step->world;
    lmi_gpu *gpu = world->gpu;
    lm_dvec3 acceleration = step->gravity;
    if (gpu->lost) {
        return LMI_LEFT_ALL;
    }
    gpu->serial++;
    for (uint32_t f = 0; f < step->flow_count; f++) {
        bool uniform = step->flows[f].kind == LM_FIELD_UNIFORM;
        acceleration = uniform ? dvec_add(acceleration, dvec_from(step->flows[f].vector)) : acceleration;
    }
    lm_vec3 by = vec_from(dvec_scale(acceleration, step->h));
    const float change[3] = {by.x, by.y, by.z};
    cl_uint stop = 0;
    for (uint32_t n = 0; gpu->shares && !atomic_load(&gpu->newer) && n < gpu->body_count;
         n++) { /* the host has the state: it does the contacts */
        lmi_halt_keep(step, lmi_body_in_step(world, gpu->slots[n]));
    }
    bool ok = begin_substep(gpu, step, change, &stop);
    if (ok && stop) {
        leave(world, gpu, stop);
        return LMI_LEFT_ALL;
    }
    ok = ok && move_lattices(gpu, step) && lmi_gpu_clusters_substep(gpu, step, change) && settle(gpu, step, &stop) &&
         (stop || !gpu->meets || lmi_gpu_solve_find(gpu, step, &stop));
    if (ok && stop) {
        ok = gpu->meets ? lmi_gpu_meet_restore(gpu) : lmi_gpu_stand_restore(gpu);
        if (ok) {
            leave(world, gpu, stop);
            return LMI_LEFT_ALL;
        }
    }
    ok = ok && lmi_gpu_forces_count(gpu) && (!gpu->meets || lmi_gpu_solve(gpu, step)) && hold(gpu, step->h);
    if (ok) {
        atomic_store(&gpu->newer, true);
        gpu->given = dvec_add(gpu->given, dvec_scale(dvec_from(by), gpu->total_mass));
        ok = !gpu->shares || hand_over(world, gpu);
    }
    if (!ok) {
        lmi_gpu_lose(world, lmi_cl_text(gpu->status));
        return LMI_LEFT_ALL;
    }
    if (gpu->shares) {
        return LMI_LEFT_CONTACTS;
    }
    gpu->since++;
    note_fast(gpu, step);
    return LMI_LEFT_NOTHING;
}

/* --- the end --- */

void *lmi_gpu_make_part(lmi_gpu *gpu, size_t size, lmi_gpu_end_part *end)
{
    assert(gpu->part_total < LMI_GPU_PARTS);
    void *memory = lmi_allocate(gpu->memory, size, 1);
    if (memory) {
        gpu->part[gpu->part_total++] = (lmi_gpu_part){memory, size, end};
    }
    return memory;
}

static void free_parts(lmi_gpu *gpu)
{
    for (uint32_t n = 0; n < gpu->part_total; n++) {
        if (gpu->part[n].end) {
            gpu->part[n].end(gpu, gpu->part[n].memory);
        }
        lmi_release(gpu->memory, gpu->part[n].memory, gpu->part[n].size, 1);
    }
}

void lmi_gpu_close(lm_world *world)
{
    lmi_gpu *gpu = world->gpu;
    if (!gpu) {
        return;
    }
    if (gpu->queue) {
        gpu->cl.clFinish(gpu->queue);
    }
    lmi_gpu_free_memories(gpu);
    lmi_gpu_free_programs(gpu);
    free_parts(gpu);
    lmi_gpu_plan_free(world, gpu);
    if (gpu->queue) {
        gpu->cl.clReleaseCommandQueue(gpu->queue);
    }
    if (gpu->side) {
        gpu->cl.clReleaseCommandQueue(gpu->side);
    }
    if (gpu->context) {
        gpu->cl.clReleaseContext(gpu->context);
    }
    lmi_mutex_free(&gpu->fetching);
    lmi_release(&world->memory, gpu->records, gpu->body_capacity, sizeof *gpu->records);
    lmi_release(&world->memory, gpu->slots, gpu->slot_capacity, sizeof *gpu->slots);
    lmi_release(&world->memory, gpu->batch_of, gpu->batch_of_capacity, sizeof *gpu->batch_of);
    lmi_release(&world->memory, gpu->renumber, gpu->renumber_capacity, sizeof *gpu->renumber);
    lmi_release(&world->memory, gpu->batch, gpu->batch_capacity, sizeof *gpu->batch);
    lmi_release(&world->memory, gpu->staging, gpu->staging_size, sizeof *gpu->staging);
    lmi_release(&world->memory, gpu, 1, sizeof *gpu);
    world->gpu = NULL;
}
