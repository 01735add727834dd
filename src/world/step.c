/*
 * One step, as the list of its stages.
 *
 *   bodies that sleep leave their batches, those that were woken join one (sleep.c)
 *   for each substep
 *       move the movers and bones, and place what rides on movers
 *       for each batch of bodies, in parallel
 *           predict     outside forces, each body's motion as a whole
 *           gather      particles to region moments          \
 *           fit         moments to region transforms          > match
 *           scatter     transforms to goals                  /
 *           sweep       lattices: all of these and integration at once; large ones in slabs, in parallel;
 *                       large octrees: gather, fit and scatter, in pieces, in parallel
 *           integrate   damping, goals, velocities, positions
 *           contact     drags, bones, colliders and pins
 *       bodies that touch each other: their contacts with all else, together (mutual.c)
 *   who touched whom (touching.c), and who falls asleep or wakes (sleep.c)
 *
 * Bodies do not see each other in the stages, so a batch runs through all of them in one task while its data is in the
 * cache. The results do not depend on which thread runs which batch.
 *
 * Everything that can fail (memory) happens in prepare, before anything changes. Links of lattices break there, last of all.
 */
#include "base/dmath.h"
#include "base/guard.h"
#include "base/os.h"
#include "contact/mutual.h"
#include "contact/penalty.h"
#include "contact/sleep.h"
#include "contact/solver.h"
#include "contact/touching.h"
#include "fracture/fracture.h"
#include "gpu/gpu.h"
#include "gpu/rest.h"
#include "lattice/herd.h"
#include "lattice/lattice_body.h"
#include "lattice/lattice_motion.h"
#include "octree/octree_body.h"
#include "skeleton/skeleton.h"
#include "skin/skin.h"
#include "world/access.h"
#include "world/in_step.h"

#include <stdatomic.h>

/* Up to and with the sweep, and after it: between the two, slabs of large lattices are swept in tasks of their own. */
static const lm_stage first_stages[] = {LM_STAGE_PREDICT, LM_STAGE_GATHER, LM_STAGE_FIT, LM_STAGE_SCATTER,
                                        LM_STAGE_SWEEP};
static const lm_stage last_stages[] = {LM_STAGE_INTEGRATE, LM_STAGE_CONTACT};

lmi_scratch *lmi_scratch_take(lm_world *world)
{
    /* The host runs at most `workers` tasks at a time, so one is free or about to be. */
    for (uint32_t n = 0;; n = (n + 1) % world->scratch_count) {
        lmi_scratch *scratch = &world->scratch[n];
        unsigned expected = 0;
        if (atomic_compare_exchange_strong(&scratch->taken, &expected, 1)) {
            return scratch;
        }
    }
}

void lmi_scratch_give(lmi_scratch *scratch) { atomic_store(&scratch->taken, 0); }

static void run_stages(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch, const lm_stage *stages,
                       uint32_t count)
{
    uint64_t before = lmi_os_nanoseconds();
    for (uint32_t n = 0; n < count; n++) {
        step->world->kernels->stage[stages[n]](step, batch, scratch);
        uint64_t after = lmi_os_nanoseconds();
        batch->stage_nanoseconds[stages[n]] += after - before;
        before = after;
    }
}

static void finish_batch(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    run_stages(step, batch, scratch, last_stages, sizeof last_stages / sizeof *last_stages);
    for (uint32_t n = 0; step->last && n < batch->body_count; n++) {
        lmi_body *body = lmi_body_in_step(step->world, batch->bodies[n]);
        if (!lmi_body_meets(body)) {
            lmi_skin_update(step->world, body);
        }
    }
}

static void run_batch(void *context, uint32_t index)
{
    const lmi_step *step = context;
    lmi_batch *batch = &step->world->batches[index];
    lmi_scratch *scratch = lmi_scratch_take(step->world);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    /* The fit of a large octree waits for its sums. */
    uint32_t stages = batch->pieces ? 1 : sizeof first_stages / sizeof *first_stages;
    run_stages(step, batch, scratch, first_stages, stages);
    if (!batch->slabs && !batch->pieces) {
        finish_batch(step, batch, scratch);
    }
    lmi_float_mode_leave(&host);
    lmi_scratch_give(scratch);
}

/* --- large lattices --- */

static lmi_lattice_body *lattice_of(const lm_world *world, const lmi_batch *batch)
{
    return lmi_body_at(world, batch->bodies[0])->lattice;
}

/* A slab of a large lattice: its sweep, or what that left. */
static void run_slab(const lmi_step *step, uint32_t index, bool left)
{
    lm_world *world = step->world;
    const lmi_slab_task *task = &world->slab_tasks[index];
    lmi_lattice_body *lattice = lattice_of(world, &world->batches[task->batch]);
    if (!lattice->swept) {
        return;
    }
    lmi_scratch *scratch = lmi_scratch_take(world);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    uint64_t before = lmi_os_nanoseconds();
    const lmi_lattice_kernels *kernels = &world->kernels->lattice;
    lmi_lattice_sums *sums = lmi_lattice_sums_of(lattice, task->slab, left);
    (left ? kernels->finish : kernels->sweep)(&lattice->step, task->slab, scratch->lattice, sums);
    world->slab_tasks[index].nanoseconds += lmi_os_nanoseconds() - before;
    lmi_float_mode_leave(&host);
    lmi_scratch_give(scratch);
}

static void run_sweep(void *context, uint32_t index) { run_slab(context, index, false); }

static void run_left(void *context, uint32_t index) { run_slab(context, index, true); }

static void conclude_batch(void *context, uint32_t index)
{
    const lmi_step *step = context;
    lmi_batch *batch = &step->world->batches[index];
    if (!batch->slabs) {
        return;
    }
    lmi_scratch *scratch = lmi_scratch_take(step->world);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    if (lattice_of(step->world, batch)->swept) {
        lmi_lattice_conclude(lmi_body_in_step(step->world, batch->bodies[0]));
    }
    finish_batch(step, batch, scratch);
    lmi_float_mode_leave(&host);
    lmi_scratch_give(scratch);
}

/* Which batches are large lattices, and a task for each of their slabs. */
static bool reserve_slabs(lm_world *world)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < world->batch_count; n++) {
        lmi_batch *batch = &world->batches[n];
        const lmi_lattice_body *lattice = batch->body_count == 1 ? lattice_of(world, batch) : NULL;
        batch->slabs = lattice && lattice->shape.slab_count > 1;
        count += batch->slabs ? lattice->shape.slab_count : 0;
    }
    void *tasks = world->slab_tasks;
    bool ok = lmi_reserve(&world->memory, &tasks, &world->slab_capacity, count, sizeof *world->slab_tasks);
    world->slab_tasks = tasks;
    world->slab_count = 0;
    for (uint32_t n = 0; ok && n < world->batch_count; n++) {
        uint32_t slabs = world->batches[n].slabs ? lattice_of(world, &world->batches[n])->shape.slab_count : 0;
        for (uint32_t slab = 0; slab < slabs; slab++) {
            lmi_slab_task task = {n, slab, 0};
            world->slab_tasks[world->slab_count++] = task;
        }
    }
    return ok;
}

/* --- large octrees --- */

/* An octree of more particles is cut into pieces of about this many; what is smaller is not worth waiting for. */
#define OCTREE_PIECE 4096u
#define OCTREE_PIECES 64u

typedef struct octree_phase {
    const lmi_step *step;
    uint32_t phase;
} octree_phase;

static void run_octree_piece(void *context, uint32_t index)
{
    const octree_phase *p = context;
    lmi_octree_task *task = &p->step->world->octree_tasks[index];
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    uint64_t before = lmi_os_nanoseconds();
    p->step->world->kernels->octree_phase(p->step, &p->step->world->batches[task->batch], p->phase, task->piece);
    task->nanoseconds += lmi_os_nanoseconds() - before;
    lmi_float_mode_leave(&host);
}

/* Up through the tree, the regions, down through the tree, the particles; then what is left of the substep. */
static void run_octrees(const lmi_step *step)
{
    lm_world *world = step->world;
    uint32_t phases = 0;
    for (uint32_t n = 0; n < world->octree_task_count; n++) {
        const lmi_batch *batch = &world->batches[world->octree_tasks[n].batch];
        uint32_t mine = lmi_octree_phases(lmi_body_at(world, batch->bodies[0]));
        phases = mine > phases ? mine : phases;
    }
    octree_phase p = {step, 0};
    for (; p.phase < phases; p.phase++) {
        lmi_workers_run(world->workers, run_octree_piece, &p, world->octree_task_count);
    }
}

static void conclude_octree(void *context, uint32_t index)
{
    const lmi_step *step = context;
    lmi_batch *batch = &step->world->batches[index];
    if (!batch->pieces) {
        return;
    }
    lmi_scratch *scratch = lmi_scratch_take(step->world);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    finish_batch(step, batch, scratch);
    lmi_float_mode_leave(&host);
    lmi_scratch_give(scratch);
}

/* Which batches are large octrees, and a task for each of their pieces. */
static bool reserve_octrees(lm_world *world)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < world->batch_count; n++) {
        lmi_batch *batch = &world->batches[n];
        const lmi_body *body = batch->body_count == 1 ? lmi_body_at(world, batch->bodies[0]) : NULL;
        uint32_t pieces = body && body->octree ? body->padded_count / OCTREE_PIECE : 0;
        batch->pieces = pieces < 2 ? 0 : pieces < OCTREE_PIECES ? pieces : OCTREE_PIECES;
        count += batch->pieces;
    }
    void *tasks = world->octree_tasks;
    bool ok = lmi_reserve(&world->memory, &tasks, &world->octree_task_capacity, count, sizeof *world->octree_tasks);
    world->octree_tasks = tasks;
    world->octree_task_count = 0;
    for (uint32_t n = 0; ok && n < world->batch_count; n++) {
        for (uint32_t piece = 0; piece < world->batches[n].pieces; piece++) {
            lmi_octree_task task = {n, piece, 0};
            world->octree_tasks[world->octree_task_count++] = task;
        }
    }
    return ok;
}

/* --- what happens before the batches run --- */

static void advance_mover(lmi_mover *mover, double h)
{
    lm_dvec3 turn = dvec_scale(dvec_from(mover->spin), h);
    mover->pose.position = dvec_add(mover->pose.position, dvec_scale(dvec_from(mover->velocity), h));
    if (turn.x != 0.0 || turn.y != 0.0 || turn.z != 0.0) {
        dmat3 rotation = dmat_from_rotation_vector(turn);
        rotation = dmat_multiply(&rotation, &mover->rotation);
        /* Through the quaternion, so that rounding does not shear the frame over the hours. */
        mover->pose.rotation = quat_from_dmat(&rotation);
        mover->rotation = dmat_from_quat(mover->pose.rotation);
    }
}

/* The velocity and spin that lead a mover to its target within `seconds`. */
static void aim_mover(lmi_mover *mover, double seconds)
{
    dmat3 target = dmat_from_quat(mover->target.rotation), turn;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            turn.m[i][j] = target.m[i][0] * mover->rotation.m[j][0] + target.m[i][1] * mover->rotation.m[j][1] +
                           target.m[i][2] * mover->rotation.m[j][2];
        }
    }
    lm_quat q = quat_from_dmat(&turn);
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

static void arrive_mover(lmi_mover *mover)
{
    mover->pose = mover->target;
    mover->rotation = dmat_from_quat(mover->pose.rotation);
    mover->has_target = false;
    lm_vec3 rest = {0.0f, 0.0f, 0.0f};
    mover->velocity = mover->spin = rest;
}

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
                     .group = c->disabled ? 0 : c->group,
                     .mask = c->disabled ? 0 : c->mask,
                     .solid = c->solid};
    if (c->mover != LMI_NONE) {
        const lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, c->mover);
        s.position = dvec_add(mover->pose.position, dmat_apply(&mover->rotation, c->position));
        s.rotation = dmat_multiply(&mover->rotation, &c->rotation);
        s.pivot = mover->pose.position;
        s.velocity = dvec_from(mover->velocity);
        s.spin = dvec_from(mover->spin);
    }
    bound_surface(&s);
    return s;
}

static uint32_t place_surfaces(lm_world *world)
{
    uint32_t count = 0;
    LMI_POOL_EACH(&world->colliders, n) { world->surfaces[count++] = lmi_surface_place(world, n); }
    return count;
}

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

static bool reserve_scratch(lm_world *world)
{
    uint32_t rows = 0, blocks = 0, lattice = 0;
    lmi_solver_room alone = {.owners = 1, .nodes = 1, .events = lmi_touchings_wanted(world)};
    for (uint32_t n = 0; n < world->batch_count; n++) {
        const lmi_pack *pack = &world->batches[n].pack;
        rows = pack->rows > rows ? pack->rows : rows;
        blocks = pack->particle_blocks > blocks ? pack->particle_blocks : blocks;
        for (uint32_t k = 0; k < world->batches[n].herd_count; k++) {
            size_t want = lmi_herd_scratch(&world->batches[n].herds[k].plan) / LMI_BLOCK;
            lattice = want > lattice ? (uint32_t)want : lattice;
        }
    }
    bool solids = false;
    LMI_POOL_EACH(&world->colliders, n)
    {
        solids = solids || lmi_solid_is(&LMI_POOL_AT(&world->colliders, lmi_collider, n)->solid);
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        size_t want = body->lattice ? lmi_lattice_scratch(&body->lattice->shape) / LMI_BLOCK : 0;
        if (body->lattice && body->material.damping_kind == LM_DAMPING_REGIONAL) {
            want += lmi_lattice_damping_scratch(&body->lattice->shape) / LMI_BLOCK;
        }
        lattice = want > lattice ? (uint32_t)want : lattice;
        if (solids && !lmi_touch_watch(world, &lmi_body_in_step(world, n)->touch)) {
            return false;
        }
        if (world->colliders.alive) {
            lmi_solver_room_grow(&alone, body);
        }
    }
    for (uint32_t n = 0; solids && n < world->batch_count; n++) {
        lmi_batch *batch = &world->batches[n];
        void *kept = batch->kept;
        if (!lmi_reserve(&world->memory, &kept, &batch->kept_capacity, batch->pack.particle_blocks * LMI_BLOCK,
                         4 * sizeof *batch->kept)) {
            return false;
        }
        batch->kept = kept;
    }
    for (uint32_t n = 0; n < world->scratch_count; n++) {
        lmi_scratch *s = &world->scratch[n];
        void *goals = s->goals, *pull = s->pull, *sweep = s->lattice;
        bool ok = lmi_reserve(&world->memory, &goals, &s->goal_rows, rows, LMI_BLOCK * 4 * sizeof(float)) &&
                  lmi_reserve(&world->memory, &pull, &s->pull_blocks, blocks, LMI_BLOCK * 3 * sizeof(float)) &&
                  lmi_reserve(&world->memory, &sweep, &s->lattice_blocks, lattice, LMI_BLOCK * sizeof(float));
        s->goals = goals;
        s->pull = pull;
        s->lattice = sweep;
        if (!ok || (world->colliders.alive && !lmi_solver_make(&world->memory, &s->solver, &alone))) {
            return false;
        }
    }
    return true;
}

static bool reserve_all(lm_world *world, double seconds)
{
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
    return ok && reserve_scratch(world) && reserve_slabs(world) && reserve_octrees(world) &&
           lmi_mutual_reserve(world) && lmi_touchings_reserve(world) && lmi_penalty_reserve(world) &&
           lmi_fracture_step(world);
}

/* Takes all memory that the step needs. May be repeated after a failure. */
static bool prepare(lm_world *world, double seconds)
{
    bool ok = reserve_all(world, seconds);
    if (!ok) {
        lmi_sleep_undo(world);
    }
    return ok;
}

static void begin(lm_world *world, double h)
{
    world->stiffness_limited = 0;
    world->contact_stats = (lm_contact_stats){0};
    world->find_nanoseconds = world->solve_nanoseconds = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        lmi_material_tune(body, h);
        world->stiffness_limited += body->stiffness_limited;
        body->outside_impulse = lm_dvec3_zero();
    }
    for (uint32_t n = 0; n < world->batch_count; n++) {
        for (int stage = 0; stage < LM_STAGE_COUNT; stage++) {
            world->batches[n].stage_nanoseconds[stage] = 0;
        }
    }
}

/* Forces act for one step. */
static void end_forces(lm_world *world)
{
    if (world->force_count) {
        LMI_POOL_EACH(&world->bodies, n) { lmi_body_in_step(world, n)->first_force = LMI_NONE; }
        world->force_count = 0;
    }
}

/* Sums over bodies in slot order and over batches in their order. */
static void finish(lm_world *world, uint64_t start)
{
    world->contacts = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        world->contacts += body->contacts;
        world->outside_impulse = dvec_add(world->outside_impulse, body->outside_impulse);
    }
    for (int stage = 0; stage < LM_STAGE_COUNT; stage++) {
        world->stage_seconds[stage] = 0.0;
        for (uint32_t n = 0; n < world->batch_count; n++) {
            world->stage_seconds[stage] += 1e-9 * (double)world->batches[n].stage_nanoseconds[stage];
        }
    }
    for (uint32_t n = 0; n < world->slab_count; n++) {
        world->stage_seconds[LM_STAGE_SWEEP] += 1e-9 * (double)world->slab_tasks[n].nanoseconds;
    }
    for (uint32_t n = 0; n < world->octree_task_count; n++) {
        world->stage_seconds[LM_STAGE_SWEEP] += 1e-9 * (double)world->octree_tasks[n].nanoseconds;
    }
    world->stage_seconds[LM_STAGE_FIND] = 1e-9 * (double)world->find_nanoseconds;
    world->stage_seconds[LM_STAGE_SOLVE] = 1e-9 * (double)world->solve_nanoseconds;
    world->steps++;
    world->step_seconds = 1e-9 * (double)(lmi_os_nanoseconds() - start);
}

static void run_contacts(void *context, uint32_t index)
{
    static const lm_stage stages[] = {LM_STAGE_CONTACT};
    const lmi_step *step = context;
    lmi_scratch *scratch = lmi_scratch_take(step->world);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    run_stages(step, &step->world->batches[index], scratch, stages, 1);
    lmi_float_mode_leave(&host);
    lmi_scratch_give(scratch);
}

void lmi_step_contacts(const lmi_step *step)
{
    lmi_workers_run(step->world->workers, run_contacts, (void *)(uintptr_t)step, step->world->batch_count);
    lmi_mutual_contacts(step);
}

/* A device that cannot step all bodies in this substep leaves it, and the rest of the step, to the host. */
static void run_substep(lm_world *world, double h, uint32_t substep, bool *on_device)
{
    LMI_POOL_EACH(&world->movers, n) { advance_mover(LMI_POOL_AT(&world->movers, lmi_mover, n), h); }
    lmi_bones_advance(world, substep);
    bool last = substep + 1 == world->substeps;
    lmi_step step = {.world = world, .h = h, .gravity = dvec_from(world->gravity), .last = last};
    step.surface_count = place_surfaces(world);
    step.surfaces = world->surfaces;
    for (uint32_t n = 0; n < step.surface_count; n++) {
        step.solids = step.solids || lmi_solid_is(&step.surfaces[n].solid);
    }
    step.flow_count = place_flows(world, h);
    step.flows = world->flows;
    if (*on_device) {
        *on_device = lmi_gpu_substep(&step);
        if (*on_device) {
            return;
        }
        begin(world, h);
    }
    lmi_workers_run(world->workers, run_batch, &step, world->batch_count);
    if (world->octree_task_count) {
        run_octrees(&step);
        lmi_workers_run(world->workers, conclude_octree, &step, world->batch_count);
    }
    if (world->slab_count) {
        lmi_workers_run(world->workers, run_sweep, &step, world->slab_count);
        lmi_workers_run(world->workers, run_left, &step, world->slab_count);
        lmi_workers_run(world->workers, conclude_batch, &step, world->batch_count);
    }
    lmi_mutual_contacts(&step);
}

/* Movers and bones on their way, the substeps, and where movers and bones arrive. Returns whether a device did it all. */
static bool run_substeps(lm_world *world, double seconds, bool on_device)
{
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, n);
        if (mover->has_target) {
            aim_mover(mover, seconds);
        }
    }
    lmi_bones_aim(world, seconds);
    for (uint32_t n = 0; n < world->substeps; n++) {
        run_substep(world, seconds / world->substeps, n, &on_device);
    }
    lmi_bones_arrive(world);
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, n);
        if (mover->has_target) {
            arrive_mover(mover);
        }
    }
    world->time += seconds;
    return on_device;
}

/* What the host has to do after substeps in which it had a part. Regions that a device has matched have their transforms
 * there. */
static void conclude_step(lm_world *world, double seconds, bool on_device, uint64_t start)
{
    lmi_touchings_end(world);
    lmi_sleep_end(world, seconds);
    finish(world, start);
    for (uint32_t n = 0; n < world->batch_count; n++) {
        world->batches[n].pack.stepped = !on_device;
    }
}

lm_result lm_world_step(lm_world *world, double seconds)
{
    uint64_t start = lmi_os_nanoseconds();
    if (!(seconds > 0.0 && seconds <= 1.0)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_step: seconds is %g, must be above 0 and at most 1",
                        seconds);
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lm_result result = LM_OK;
    double h = seconds / world->substeps;
    struct lmi_octree_change *changes;
    bool ok = lmi_octree_levels_step(world, seconds, &changes);
    bool on_device = ok && lmi_gpu_goes_on(world, h) && !lmi_gpu_may_break(world), goes_on = on_device;
    if (ok && !on_device) {
        lmi_step_read(world);
        ok = prepare(world, seconds);
    }
    if (!ok) {
        lmi_octree_levels_undo(world, changes);
        result = lmi_fail(world, LM_ERROR_MEMORY, "lm_world_step: out of memory; nothing has changed");
    } else {
        lmi_octree_levels_keep(world, changes, seconds);
        if (!on_device) {
            begin(world, h);
            on_device = lmi_gpu_take(world, h);
        }
        if (!goes_on || lmi_gpu_tells(world)) { /* else a device that goes on keeps no list of what touches */
            lmi_touchings_begin(world);
        }
        on_device = run_substeps(world, seconds, on_device);
        end_forces(world);
        bool alone = on_device && lmi_gpu_stepped_alone(world);
        if (alone && lmi_gpu_tells(world)) {
            alone = lmi_gpu_events_tell(world);
        }
        if (alone && lmi_gpu_rest_begins(world, seconds)) {
            lmi_sleep_fall(world);
            finish(world, start);
        } else if (alone) {
            world->steps++;
            world->step_seconds = 1e-9 * (double)(lmi_os_nanoseconds() - start);
        } else {
            conclude_step(world, seconds, on_device, start);
        }
    }
    lmi_float_mode_leave(&host);
    return result;
}
