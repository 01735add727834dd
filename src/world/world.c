/*
 * The world: creation, settings, statistics.
 */
#include "world/world.h"
#include "base/cpu.h"
#include "collide/wrench.h"
#include "contact/mutual.h"
#include "contact/solver.h"
#include "contact/touching.h"
#include "gpu/gpu.h"
#include "gpu/look.h"
#include "joint/hold.h"
#include "joint/joint.h"
#include "lattice/herd.h"
#include "lattice/lattice_body.h"
#include "skeleton/skeleton.h"
#include "world/access.h"
#include "world/in_step.h"
#include "world/kernels.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORLD_COOKIE 0x4c4d5731u

const char *lm_version(void) { return "0.1.0"; }

const char *lm_result_text(lm_result result)
{
    static const char *const texts[LM_RESULT_COUNT] = {
        [LM_OK] = "success",
        [LM_ERROR_ARGUMENT] = "a value is out of its range, not finite, or contradicts another",
        [LM_ERROR_ID] = "the id is none, stale, or of another world",
        [LM_ERROR_MEMORY] = "out of memory",
        [LM_ERROR_LIMIT] = "more than the engine can hold",
        [LM_ERROR_CAPACITY] = "the buffer is too small",
        [LM_ERROR_FORMAT] = "the snapshot is truncated or damaged",
        [LM_ERROR_VERSION] = "the snapshot was written by an incompatible version",
        [LM_ERROR_UNSUPPORTED] = "this machine lacks the instruction set or the driver",
    };
    return (unsigned)result < LM_RESULT_COUNT ? texts[result] : "unknown result";
}

const char *lm_stage_name(lm_stage stage)
{
    static const char *const names[LM_STAGE_COUNT] = {
        [LM_STAGE_PREDICT] = "predict", [LM_STAGE_GATHER] = "gather", [LM_STAGE_FIT] = "fit",
        [LM_STAGE_SCATTER] = "scatter", [LM_STAGE_SWEEP] = "sweep",   [LM_STAGE_INTEGRATE] = "integrate",
        [LM_STAGE_CONTACT] = "contact", [LM_STAGE_FIND] = "find",     [LM_STAGE_SOLVE] = "solve",
    };
    return (unsigned)stage < LM_STAGE_COUNT ? names[stage] : NULL;
}

/* Kept out of lmi_fail's callers so that a failure costs them one line. */
static void report(const lm_log *log, lm_result result, const char *format, va_list arguments)
{
    if (log->write) {
        char line[256];
        vsnprintf(line, sizeof line, format, arguments);
        log->write(result, line, log->user);
    }
}

lm_result lmi_fail(const lm_world *world, lm_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(&world->log, result, format, arguments);
    va_end(arguments);
    return result;
}

static lm_result fail_early(const lm_log *log, lm_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(log, result, format, arguments);
    va_end(arguments);
    return result;
}

static void write_line(lm_result result, const char *line, void *user)
{
    (void)result, (void)user;
    fprintf(stderr, "limber: %s\n", line);
}

lm_world_def lm_world_def_default(void)
{
    lm_world_def def;
    memset(&def, 0, sizeof def);
    def.gravity.y = -9.81f;
    def.log.write = write_line;
    def.cookie = WORLD_COOKIE;
    return def;
}

static const char *gravity_fault(lm_vec3 gravity)
{
    float limit = LM_MAX_SPEED;
    bool ok = fabsf(gravity.x) <= limit && fabsf(gravity.y) <= limit && fabsf(gravity.z) <= limit;
    return ok ? NULL : "gravity is not finite or above 1e6 m/s²";
}

static const char *def_fault(const lm_world_def *def)
{
    if (def->substeps > LM_MAX_SUBSTEPS) {
        return "substeps must be 0 to 1024";
    }
    if (def->workers > LM_MAX_WORKERS) {
        return "workers must be at most 64";
    }
    if ((unsigned)def->isa >= LM_ISA_COUNT) {
        return "isa is not one of lm_isa";
    }
    if (!def->allocator.allocate != !def->allocator.release) {
        return "the allocator needs both functions or neither";
    }
    return gravity_fault(def->gravity);
}

lm_result lm_world_create(const lm_world_def *def, lm_world **out)
{
    assert(def && out);
    *out = NULL;
    if (def->cookie != WORLD_COOKIE) {
        return LM_ERROR_ARGUMENT; /* nothing in it can be trusted, not even the log */
    }
    const char *fault = def_fault(def);
    if (fault) {
        return fail_early(&def->log, LM_ERROR_ARGUMENT, "lm_world_create: %s", fault);
    }
    const lmi_kernels *kernels = lmi_kernels_get(def->isa);
    if (!kernels) {
        return fail_early(&def->log, LM_ERROR_UNSUPPORTED, "lm_world_create: this machine has no %s",
                          lm_isa_name(def->isa));
    }
    lmi_memory memory;
    lmi_memory_init(&memory, &def->allocator);
    lm_world *world = lmi_allocate(&memory, 1, sizeof *world);
    if (!world) {
        return fail_early(&def->log, LM_ERROR_MEMORY, "lm_world_create: out of memory");
    }
    world->memory = memory;
    world->log = def->log;
    world->may_overlap = def->may_overlap;
    world->kernels = kernels;
    world->isa = kernels->isa;
    world->gravity = def->gravity;
    world->substeps = def->substeps;
    world->sleep = lm_sleep_default();
    lmi_pool_init(&world->bodies, sizeof(lmi_body));
    lmi_pool_init(&world->movers, sizeof(lmi_mover));
    lmi_pool_init(&world->colliders, sizeof(lmi_collider));
    lmi_pool_init(&world->pins, sizeof(lmi_pin));
    lmi_pool_init(&world->drags, sizeof(lmi_drag));
    lmi_pool_init(&world->fields, sizeof(lm_field_def));
    lmi_pool_init(&world->skeletons, sizeof(lmi_skeleton));
    lmi_pool_init(&world->joints, sizeof(lmi_joint));
    world->workers = lmi_workers_create(&world->memory, def->workers, &def->tasks);
    if (world->workers) {
        uint32_t count = lmi_workers_count(world->workers);
        world->scratch = lmi_allocate(&world->memory, count, sizeof *world->scratch);
        world->scratch_count = world->scratch ? count : 0;
    }
    if (!world->scratch) {
        lm_world_destroy(world);
        return fail_early(&def->log, LM_ERROR_MEMORY, "lm_world_create: no memory or no threads");
    }
    if (def->device && strcmp(def->device, "cpu") != 0) {
        const lmi_gpu_limits limits = {.gl = def->gl};
        lmi_gpu_open(world, def->device, &limits);
    }
    *out = world;
    return LM_OK;
}

void lmi_world_clear(lm_world *world)
{
    LMI_POOL_EACH(&world->bodies, n) { lmi_body_free(world, lmi_body_in_step(world, n)); }
    lmi_moulds_tidy(world, NULL);
    LMI_POOL_EACH(&world->pins, n) { lmi_pin_free(world, LMI_POOL_AT(&world->pins, lmi_pin, n)); }
    LMI_POOL_EACH(&world->drags, n) { lmi_drag_free(world, LMI_POOL_AT(&world->drags, lmi_drag, n)); }
    LMI_POOL_EACH(&world->skeletons, n)
    {
        lmi_skeleton_free(&world->memory, LMI_POOL_AT(&world->skeletons, lmi_skeleton, n));
    }
    LMI_POOL_EACH(&world->joints, n) { lmi_joint_free(&world->memory, LMI_POOL_AT(&world->joints, lmi_joint, n)); }
    LMI_POOL_EACH(&world->colliders, n)
    {
        lmi_solid_free(&world->memory, &LMI_POOL_AT(&world->colliders, lmi_collider, n)->solid);
    }
    lmi_pool_free(&world->bodies, &world->memory);
    lmi_pool_free(&world->movers, &world->memory);
    lmi_pool_free(&world->colliders, &world->memory);
    lmi_pool_free(&world->pins, &world->memory);
    lmi_pool_free(&world->drags, &world->memory);
    lmi_pool_free(&world->fields, &world->memory);
    lmi_pool_free(&world->skeletons, &world->memory);
    lmi_pool_free(&world->joints, &world->memory);
    for (uint32_t n = 0; n < world->batch_count; n++) {
        lmi_pack_free(&world->batches[n].pack, &world->memory);
        lmi_batch_disperse(world, &world->batches[n]);
        lmi_release(&world->memory, world->batches[n].herds, world->batches[n].herd_capacity, sizeof(lmi_herd));
        lmi_release(&world->memory, world->batches[n].kept, world->batches[n].kept_capacity, 4 * sizeof(float));
        lmi_release(&world->memory, world->batches[n].bodies, world->batches[n].body_capacity, sizeof(uint32_t));
    }
    lmi_release(&world->memory, world->batches, world->batch_capacity, sizeof *world->batches);
    lmi_release(&world->memory, world->forces, world->force_capacity, sizeof *world->forces);
    world->batches = NULL;
    world->forces = NULL;
    world->batch_count = world->batch_capacity = world->force_count = world->force_capacity = 0;
    world->particles = world->memberships = 0;
}

void lm_world_destroy(lm_world *world)
{
    if (!world) {
        return;
    }
    lmi_gpu_close(world);
    lmi_world_clear(world);
    lmi_release(&world->memory, world->surfaces, world->surface_capacity, sizeof *world->surfaces);
    lmi_release(&world->memory, world->flows, world->flow_capacity, sizeof *world->flows);
    lmi_release(&world->memory, world->breaks, world->break_capacity, sizeof *world->breaks);
    lmi_release(&world->memory, world->splits, world->split_capacity, sizeof *world->splits);
    for (uint32_t n = 0; n < world->scratch_count; n++) {
        lmi_scratch *s = &world->scratch[n];
        lmi_release(&world->memory, s->goals, s->goal_rows, LMI_BLOCK * 4 * sizeof(float));
        lmi_release(&world->memory, s->pull, s->pull_blocks, LMI_BLOCK * 3 * sizeof(float));
        lmi_release(&world->memory, s->lattice, s->lattice_blocks, LMI_BLOCK * sizeof(float));
        if (s->solver) {
            lmi_solver_free(&world->memory, s->solver);
            lmi_release(&world->memory, s->solver, 1, sizeof *s->solver);
        }
    }
    lmi_mutual_free(world);
    lmi_touchings_free(world);
    lmi_wrenches_free(world);
    lmi_joints_free(world);
    lmi_holds_free(world);
    lmi_release(&world->memory, world->piece_tasks, world->piece_capacity, sizeof *world->piece_tasks);
    lmi_release(&world->memory, world->scratch, world->scratch_count, sizeof *world->scratch);
    lmi_workers_destroy(world->workers, &world->memory);
    lmi_memory memory = world->memory;
    lmi_release(&memory, world, 1, sizeof *world);
}

lm_result lm_world_set_gravity(lm_world *world, lm_vec3 gravity)
{
    const char *fault = gravity_fault(gravity);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_set_gravity: %s", fault);
    }
    bool same = gravity.x == world->gravity.x && gravity.y == world->gravity.y && gravity.z == world->gravity.z;
    world->gravity = gravity;
    if (!same) {
        lmi_rouse_all(world);
    }
    return LM_OK;
}

lm_vec3 lm_world_get_gravity(const lm_world *world) { return world->gravity; }

lm_result lm_world_set_substeps(lm_world *world, uint32_t substeps)
{
    if (substeps > LM_MAX_SUBSTEPS) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_set_substeps: %u, must be 0 to %d", substeps,
                        LM_MAX_SUBSTEPS);
    }
    world->substeps = substeps;
    return LM_OK;
}

void lm_world_set_substep_function(lm_world *world, lm_substep *function, void *user)
{
    lmi_world_change(world, LMI_CHANGE_WORLD);
    world->substep_function = function;
    world->substep_user = user;
}

uint32_t lm_world_get_substeps(const lm_world *world) { return world->substeps; }
const char *lm_world_get_device(const lm_world *world) { return world->gpu ? world->gpu->name : "cpu"; }
lm_isa lm_world_get_isa(const lm_world *world) { return world->isa; }
uint32_t lm_world_get_workers(const lm_world *world) { return lmi_workers_count(world->workers); }
double lm_world_get_time(const lm_world *world) { return world->time; }

/* The ids of what lives in a pool, in slot order; all kinds of ids are alike. */
static uint32_t list_ids(const lmi_pool *pool, void *ids, uint32_t capacity)
{
    uint32_t count = 0;
    LMI_POOL_EACH(pool, n)
    {
        if (count < capacity) {
            lmi_id id = lmi_pool_id(pool, n);
            memcpy((char *)ids + count * sizeof id, &id, sizeof id);
        }
        count++;
    }
    return count;
}

uint32_t lm_world_get_bodies(const lm_world *world, lm_body_id *ids, uint32_t capacity)
{
    _Static_assert(sizeof *ids == sizeof(lmi_id), "an id is a slot and a generation");
    return list_ids(&world->bodies, ids, capacity);
}

uint32_t lm_world_get_colliders(const lm_world *world, lm_collider_id *ids, uint32_t capacity)
{
    _Static_assert(sizeof *ids == sizeof(lmi_id), "an id is a slot and a generation");
    return list_ids(&world->colliders, ids, capacity);
}

uint32_t lm_world_get_joints(const lm_world *world, lm_joint_id *ids, uint32_t capacity)
{
    _Static_assert(sizeof *ids == sizeof(lmi_id), "an id is a slot and a generation");
    return list_ids(&world->joints, ids, capacity);
}

void lm_world_get_stats(const lm_world *world, lm_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    if (!lmi_gpu_look_stats(world, &stats->contacts, &stats->outside_impulse)) {
        stats->contacts = world->contacts;
        stats->outside_impulse = world->outside_impulse;
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        stats->bodies++;
        stats->asleep += body->asleep;
        stats->particles += body->particle_count;
        stats->regions += lmi_body_regions(body);
        stats->memberships += lmi_body_memberships(body);
    }
    stats->steps = world->steps;
    stats->substeps = world->division ? world->division : world->substeps ? world->substeps : 1;
    stats->step_seconds = world->step_seconds;
    memcpy(stats->stage_seconds, world->stage_seconds, sizeof stats->stage_seconds);
    stats->contacts_left_out = world->touchings ? world->touchings->left_out : 0;
    stats->stiffness_limited = world->stiffness_limited;
    stats->mutual = world->contact_stats;
    stats->memory = lmi_gpu_memory(world);
}

static void add_body(lm_totals *totals, const lmi_body *body)
{
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4, *v = body->v + (size_t)n * 4;
        double speed = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
        double mass = body->mass[n];
        totals->momentum = dvec_add(totals->momentum, dvec_scale(dvec(v[0], v[1], v[2]), mass));
        totals->momentum_scale += mass * speed;
        totals->kinetic_energy += 0.5 * mass * speed * speed;
        totals->max_speed = (float)speed > totals->max_speed ? (float)speed : totals->max_speed;
        for (int i = 0; i < 3; i++) {
            totals->finite = totals->finite && isfinite(x[i]) && isfinite(v[i]);
        }
    }
}

void lm_world_get_totals(const lm_world *world, lm_totals *totals)
{
    memset(totals, 0, sizeof *totals);
    totals->finite = true;
    bool looked = lmi_gpu_look_totals(world, totals);
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        if (!looked || body->batch == LMI_NONE) { /* asleep: here */
            add_body(totals, body);
        }
    }
}

/* ---- instruction sets ----
 *
 * Which instruction sets this build has, and which of them this machine can run. Those of x86-64 are chosen when a world is
 * made; those of other processors are part of what the library was compiled for.
 */

const char *lm_isa_name(lm_isa isa)
{
    static const char *const names[LM_ISA_COUNT] = {
        [LM_ISA_BEST] = "best",     [LM_ISA_SCALAR] = "scalar", [LM_ISA_SSE2] = "sse2",       [LM_ISA_AVX2] = "avx2",
        [LM_ISA_AVX512] = "avx512", [LM_ISA_NEON] = "neon",     [LM_ISA_SIMD128] = "simd128",
    };
    return (unsigned)isa < LM_ISA_COUNT ? names[isa] : NULL;
}

const lmi_kernels *lmi_kernels_get(lm_isa isa)
{
    switch (isa) {
    case LM_ISA_BEST:
        for (int best = LM_ISA_COUNT - 1; best > LM_ISA_SCALAR; best--) {
            if (lmi_kernels_get((lm_isa)best)) {
                return lmi_kernels_get((lm_isa)best);
            }
        }
        return lmi_kernels_get(LM_ISA_SCALAR);
#ifdef LMI_HAS_SCALAR
    case LM_ISA_SCALAR: return &lmi_kernels_scalar;
#endif
#ifdef LMI_HAS_SSE2
    case LM_ISA_SSE2: return &lmi_kernels_sse2;
#endif
#ifdef LMI_HAS_AVX2
    case LM_ISA_AVX2: return lmi_cpu_has_avx2() ? &lmi_kernels_avx2 : NULL;
#endif
#ifdef LMI_HAS_AVX512
    case LM_ISA_AVX512: return lmi_cpu_has_avx512() ? &lmi_kernels_avx512 : NULL;
#endif
#ifdef LMI_HAS_NEON
    case LM_ISA_NEON: return &lmi_kernels_neon;
#endif
#ifdef LMI_HAS_SIMD128
    case LM_ISA_SIMD128: return &lmi_kernels_simd128;
#endif
    default: return NULL;
    }
}

bool lm_isa_supported(lm_isa isa) { return lmi_kernels_get(isa) != NULL; }

/* ---- contact rules ----
 *
 * Contact rules: friction and restitution between groups of bodies and colliders.
 */

void lmi_contact_rule_apply(const lm_world *world, uint32_t group_a, uint32_t group_b, double *friction,
                            double *restitution)
{
    lmi_contact_rules_apply(world->rules, world->rule_count, group_a, group_b, friction, restitution);
}

const char *lmi_contact_rule_fault(const lmi_contact_rule *rule)
{
    if (!rule->a || !rule->b) {
        return "both sets of groups need a bit";
    }
    if (!(rule->friction >= 0.0f && rule->friction <= 1e6f) && rule->friction != LM_CONTACT_COMBINED) {
        return "friction must be 0 to 1e6, or LM_CONTACT_COMBINED";
    }
    bool sound = (rule->restitution >= 0.0f && rule->restitution <= 1.0f) || rule->restitution == LM_CONTACT_COMBINED;
    return sound ? NULL : "restitution must be 0 to 1, or LM_CONTACT_COMBINED";
}

/* The rule for these two sets, or rule_count. */
static uint32_t find_rule(const lm_world *world, uint32_t a, uint32_t b)
{
    uint32_t n = 0;
    while (n < world->rule_count && !(world->rules[n].a == a && world->rules[n].b == b) &&
           !(world->rules[n].a == b && world->rules[n].b == a)) {
        n++;
    }
    return n;
}

static void remove_rule(lm_world *world, uint32_t index)
{
    world->rule_count--;
    memmove(&world->rules[index], &world->rules[index + 1], (world->rule_count - index) * sizeof *world->rules);
}

lm_result lm_world_set_contact_rule(lm_world *world, uint32_t group_a, uint32_t group_b, float friction,
                                    float restitution)
{
    lmi_contact_rule rule = {group_a, group_b, friction, restitution};
    const char *fault = lmi_contact_rule_fault(&rule);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_set_contact_rule: %s", fault);
    }
    uint32_t old = find_rule(world, group_a, group_b);
    if (old == world->rule_count && old == LM_MAX_CONTACT_RULES) {
        return lmi_fail(world, LM_ERROR_LIMIT, "lm_world_set_contact_rule: more than %d rules", LM_MAX_CONTACT_RULES);
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    if (old < world->rule_count) {
        remove_rule(world, old); /* the new one is the last that was given */
    }
    world->rules[world->rule_count++] = rule;
    lmi_rouse_all(world);
    return LM_OK;
}

lm_result lm_world_remove_contact_rule(lm_world *world, uint32_t group_a, uint32_t group_b)
{
    uint32_t index = find_rule(world, group_a, group_b);
    if (index == world->rule_count) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_remove_contact_rule: there is no rule for these groups");
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    remove_rule(world, index);
    lmi_rouse_all(world);
    return LM_OK;
}
