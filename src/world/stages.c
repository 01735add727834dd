/*
 * The stages of a substep on the host, for all batches of bodies.
 *
 *   predict     outside forces, each body's motion as a whole
 *   gather      particles to region moments          \
 *   fit         moments to region transforms          > match
 *   scatter     transforms to goals                  /
 *   sweep       lattices: all of these and integration at once
 *   integrate   damping, goals, velocities, positions
 *   contact     drags, bones, colliders and pins
 *
 * Bodies do not see each other in the stages, so a batch runs through all of them in one task while its data is in the
 * cache. The results do not depend on which thread runs which batch.
 *
 * A large body is a batch of its own and goes through the same stages, but match is divided into pieces, which are tasks: slabs
 * of a lattice, ranges of an octree's blocks. They run phase by phase; all tasks of a phase are done before the next begins.
 *
 * Memory for all of it is taken before a step changes anything (lmi_stages_reserve).
 */
#include "base/guard.h"
#include "base/os.h"
#include "contact/solver.h"
#include "contact/touching.h"
#include "lattice/herd.h"
#include "lattice/lattice_body.h"
#include "lattice/lattice_motion.h"
#include "octree/octree_body.h"
#include "world/in_step.h"
#include "world/step.h"

#include <stdatomic.h>

/* An octree of more particles is cut into pieces of about this many; what is smaller is not worth waiting for. */
#define OCTREE_PIECE 4096u
#define OCTREE_PIECES 64u

static const lm_stage all_stages[] = {LM_STAGE_PREDICT, LM_STAGE_GATHER,    LM_STAGE_FIT,    LM_STAGE_SCATTER,
                                      LM_STAGE_SWEEP,   LM_STAGE_INTEGRATE, LM_STAGE_CONTACT};
/* Of a large body: before its pieces, which match, and after them. */
static const lm_stage first_stages[] = {LM_STAGE_PREDICT, LM_STAGE_SWEEP};
static const lm_stage last_stages[] = {LM_STAGE_INTEGRATE, LM_STAGE_CONTACT};
static const lm_stage contact_stage[] = {LM_STAGE_CONTACT};

/* --- scratch --- */

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

/* --- batches --- */

typedef struct batches {
    const lmi_step *step;
    const lm_stage *stages;
    uint32_t count;
    bool large; /* only large bodies, whose pieces are done */
} batches;

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

static void run_batch(void *context, uint32_t index)
{
    const batches *b = context;
    lm_world *world = b->step->world;
    lmi_batch *batch = &world->batches[index];
    if (b->large && !batch->pieces) {
        return;
    }
    lmi_scratch *scratch = lmi_scratch_take(world);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_body *only = b->large ? lmi_body_in_step(world, batch->bodies[0]) : NULL;
    if (only && only->lattice && only->lattice->swept) {
        lmi_lattice_conclude(only);
    }
    if (b->stages == all_stages && batch->pieces) {
        run_stages(b->step, batch, scratch, first_stages, LMI_COUNT(first_stages));
    } else {
        run_stages(b->step, batch, scratch, b->stages, b->count);
    }
    lmi_float_mode_leave(&host);
    lmi_scratch_give(scratch);
}

static void run_batches(const lmi_step *step, const lm_stage *stages, uint32_t count, bool large)
{
    batches b = {step, stages, count, large};
    lmi_workers_run(step->world->workers, run_batch, &b, step->world->batch_count);
}

/* --- large bodies --- */

/* Into how many pieces a body is divided if it is alone in its batch; 0: it is not large. */
static uint32_t pieces_of(const lmi_body *body)
{
    if (body->lattice) {
        return body->lattice->shape.slab_count > 1 ? body->lattice->shape.slab_count : 0;
    }
    uint32_t pieces = body->octree ? body->padded_count / OCTREE_PIECE : 0;
    return pieces < 2 ? 0 : pieces < OCTREE_PIECES ? pieces : OCTREE_PIECES;
}

/* A lattice: the sweeps, and what these leave. An octree: up through the tree, the regions, down through the tree, the particles. */
static uint32_t phases_of(const lmi_body *body) { return body->lattice ? 2 : lmi_octree_phases(body); }

/* Which batches are one large body, and a task for each of its pieces. */
static bool reserve_pieces(lm_world *world)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < world->batch_count; n++) {
        lmi_batch *batch = &world->batches[n];
        batch->pieces = batch->body_count == 1 ? pieces_of(lmi_body_at(world, batch->bodies[0])) : 0;
        count += batch->pieces;
    }
    void *tasks = world->piece_tasks;
    bool ok = lmi_reserve(&world->memory, &tasks, &world->piece_capacity, count, sizeof *world->piece_tasks);
    world->piece_tasks = tasks;
    world->piece_count = 0;
    for (uint32_t n = 0; ok && n < world->batch_count; n++) {
        for (uint32_t piece = 0; piece < world->batches[n].pieces; piece++) {
            world->piece_tasks[world->piece_count++] = (lmi_piece_task){n, piece, 0};
        }
    }
    return ok;
}

/* A slab of a large lattice: its sweep, or what that left. */
static void run_slab(const lm_world *world, lmi_lattice_body *lattice, uint32_t slab, bool left, lmi_scratch *scratch)
{
    const lmi_lattice_kernels *kernels = &world->kernels->lattice;
    lmi_lattice_sums *sums = lmi_lattice_sums_of(lattice, slab, left);
    (left ? kernels->finish : kernels->sweep)(&lattice->step, slab, scratch->lattice, sums);
}

typedef struct phase {
    const lmi_step *step;
    uint32_t number;
} phase;

static void run_piece(void *context, uint32_t index)
{
    const phase *p = context;
    lm_world *world = p->step->world;
    lmi_piece_task *task = &world->piece_tasks[index];
    lmi_batch *batch = &world->batches[task->batch];
    const lmi_body *body = lmi_body_at(world, batch->bodies[0]);
    if (p->number >= phases_of(body) || (body->lattice && !body->lattice->swept)) {
        return;
    }
    lmi_scratch *scratch = body->lattice ? lmi_scratch_take(world) : NULL;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    uint64_t before = lmi_os_nanoseconds();
    if (body->lattice) {
        run_slab(world, body->lattice, task->piece, p->number == 1, scratch);
    } else {
        world->kernels->octree_phase(p->step, batch, p->number, task->piece);
    }
    task->nanoseconds += lmi_os_nanoseconds() - before;
    lmi_float_mode_leave(&host);
    if (scratch) {
        lmi_scratch_give(scratch);
    }
}

static void run_pieces(const lmi_step *step)
{
    const lm_world *world = step->world;
    uint32_t phases = 0;
    for (uint32_t n = 0; n < world->batch_count; n++) {
        const lmi_batch *batch = &world->batches[n];
        uint32_t mine = batch->pieces ? phases_of(lmi_body_at(world, batch->bodies[0])) : 0;
        phases = mine > phases ? mine : phases;
    }
    for (phase p = {step, 0}; p.number < phases; p.number++) {
        lmi_workers_run(world->workers, run_piece, &p, world->piece_count);
    }
}

/* --- all of it --- */

bool lmi_stages_reserve(lm_world *world) { return reserve_scratch(world) && reserve_pieces(world); }

void lmi_stages_run(const lmi_step *step)
{
    run_batches(step, all_stages, LMI_COUNT(all_stages), false);
    if (step->world->piece_count) {
        run_pieces(step);
        run_batches(step, last_stages, LMI_COUNT(last_stages), true);
    }
}

void lmi_stages_contact(const lmi_step *step) { run_batches(step, contact_stage, LMI_COUNT(contact_stage), false); }

void lmi_stages_time(const lm_world *world, double seconds[LM_STAGE_COUNT])
{
    for (int stage = 0; stage < LM_STAGE_COUNT; stage++) {
        seconds[stage] = 0.0;
        for (uint32_t n = 0; n < world->batch_count; n++) {
            seconds[stage] += 1e-9 * (double)world->batches[n].stage_nanoseconds[stage];
        }
    }
    for (uint32_t n = 0; n < world->piece_count; n++) {
        seconds[LM_STAGE_SWEEP] += 1e-9 * (double)world->piece_tasks[n].nanoseconds;
    }
}
