/*
 * The way back from the device, and what is done when there is none.
 *
 * Everything is read before anything is changed, so that a device that is lost on the way leaves the host's state as it was: all
 * of it from the moment when it was last read, but for single batches that were read back since. (Worlds of very many particles in few batches are read straight to where they
 * belong; for them a copy of everything would cost more than it is worth.)
 */
#include "base/guard.h"
#include "contact/sleep.h"
#include "gpu/clusters.h"
#include "gpu/example_regions.h"
#include "gpu/gpu.h"
#include "gpu/gpu_held.h"
#include "gpu/kinds.h"
#include "gpu/solve.h"
#include "gpu/state.h"
#include "skin/skin.h"
#include "world/in_step.h"

#include <stdio.h>
#include <string.h>

void lmi_gpu_lose(lm_world *world, const char *why)
{
    lmi_gpu *gpu = world->gpu;
    char since[96] = "";
    if (gpu->since) {
        snprintf(since, sizeof since, ", and %llu substeps since its state was last asked for are lost",
                 (unsigned long long)gpu->since);
    }
    if (!gpu->lost) {
        lmi_fail(world, LM_ERROR_UNSUPPORTED, "device %.80s: %s%s; the CPU steps this world", gpu->name, why, since);
    }
    gpu->lost = true;
    gpu->holds = gpu->fits = false;
    lmi_gpu_void(gpu, false);
    gpu->since = 0;
    gpu->given = lm_dvec3_zero();
    atomic_store(&gpu->newer, false);
}

static lm_vec3 vector_of(const float from[3]) { return (lm_vec3){from[0], from[1], from[2]}; }

static void fetch_body(const lmi_gpu_body *from, lmi_body *body)
{
    body->origin = dvec(from->origin[0], from->origin[1], from->origin[2]);
    body->lower = vector_of(from->lower);
    body->upper = vector_of(from->upper);
    body->damping_turn = from->damping_turn;
    body->damping_now = from->damping_now;
    body->contacts = from->contacts;
    body->motion.centre = vector_of(from->centre);
    body->motion.velocity = vector_of(from->velocity);
    body->motion.spin = vector_of(from->spin);
    body->motion.mass = from->mass;
    memcpy(body->motion.inertia, from->inertia, sizeof body->motion.inertia);
    for (int i = 0; body->lattice && i < 9; i++) {
        body->lattice->frame.m[i / 3][i % 3] = from->frame[i];
    }
    if (body->lattice && body->lattice->shape.part_count == 1) { /* several have records of their own: kinds.c */
        lmi_lattice_part *part = &body->lattice->part[0];
        part->motion = body->motion;
        part->drift_centre = vector_of(from->drift_centre);
        part->drift_velocity = vector_of(from->drift_velocity);
        part->drift_spin = vector_of(from->drift_spin);
        part->owed_momentum = dvec(from->owed_momentum[0], from->owed_momentum[1], from->owed_momentum[2]);
        part->owed_angular = dvec(from->owed_angular[0], from->owed_angular[1], from->owed_angular[2]);
        part->lower = body->lower;
        part->upper = body->upper;
    }
}

/* Whether a record is one of those that are brought back. */
static bool comes_with(const lmi_gpu *gpu, uint32_t n) { return gpu->batch[gpu->batch_of[n]].coming; }

/* What colliders and pins have given to these bodies, N s. */
static lm_dvec3 impulse_of(const lm_world *world, const lmi_gpu *gpu)
{
    lm_dvec3 sum = lm_dvec3_zero();
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        if (comes_with(gpu, n)) {
            const double *from = gpu->records[n].impulse;
            double mass = lmi_body_at(world, gpu->slots[n])->mean_mass;
            sum = dvec_add(sum, dvec_scale(dvec(from[0], from[1], from[2]), mass));
        }
    }
    return sum;
}

static bool read_records(lmi_gpu *gpu, const lmi_gpu_buffer *from)
{
    const size_t size = sizeof *gpu->records;
    bool ok = true;
    for (uint32_t n = 0, end; ok && n < gpu->body_count; n = end) {
        bool comes = comes_with(gpu, n);
        for (end = n + 1; end < gpu->body_count && comes_with(gpu, end) == comes;) {
            end++;
        }
        ok = !comes || lmi_gpu_read(gpu, from, n * size, gpu->records + n, (end - n) * size);
    }
    return ok;
}

/* The records are there: into the bodies. */
static void put_records(lm_world *world, lmi_gpu *gpu, lm_dvec3 known)
{
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        if (comes_with(gpu, n)) {
            fetch_body(&gpu->records[n], lmi_body_in_step(world, gpu->slots[n]));
        }
    }
    world->contacts = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        world->contacts += body->batch == LMI_NONE ? 0 : body->contacts;
    }
    lm_dvec3 given = dvec_add(gpu->given, dvec_sub(impulse_of(world, gpu), known));
    world->outside_impulse = dvec_add(world->outside_impulse, given);
    gpu->given = lm_dvec3_zero();
}

bool lmi_gpu_is_staged(const lm_world *world, const lmi_gpu *gpu)
{
    (void)world;
    return gpu->batch_count > LMI_GPU_FEW_BATCHES || gpu->particles <= LMI_GPU_STAGED; /* as they were laid out */
}

static bool comes(const lmi_gpu_batch *batch) { return batch->coming; }

/* Positions or velocities of batches that stand side by side, through the copy. */
static bool read_run(lm_world *world, lmi_gpu *gpu, bool velocities, uint32_t first, uint32_t end)
{
    const size_t at = (size_t)gpu->batch[first].first[LMI_GPU_PARTICLES] * 4, f = sizeof(float);
    const size_t last = (size_t)gpu->batch[end - 1].first[LMI_GPU_PARTICLES] * 4;
    const size_t count = last + (size_t)world->batches[end - 1].pack.particle_blocks * LMI_BLOCK * 4 - at;
    return lmi_gpu_read(gpu, velocities ? &gpu->v : &gpu->x, at * f,
                        gpu->staging + (velocities ? (size_t)gpu->particles * 4 : 0) + at, count * f);
}

static bool read_particles(lm_world *world, lmi_gpu *gpu)
{
    bool ok = true;
    if (lmi_gpu_is_staged(world, gpu)) {
        for (uint32_t n = 0, end; ok && lmi_gpu_next_run(gpu, comes, LMI_GPU_PARTICLES, &n, &end); n = end) {
            ok = read_run(world, gpu, false, n, end) && read_run(world, gpu, true, n, end);
        }
        return ok;
    }
    ok = gpu->cl.clFinish(gpu->queue) == CL_SUCCESS;
    for (uint32_t n = 0; ok && n < 2 * gpu->batch_count; n++) {
        const lmi_gpu_batch *batch = &gpu->batch[n / 2];
        lmi_pack *pack = &world->batches[n / 2].pack;
        ok = !batch->coming ||
             lmi_gpu_read(gpu, n % 2 ? &gpu->v : &gpu->x, (size_t)batch->first[LMI_GPU_PARTICLES] * 4 * sizeof(float),
                          n % 2 ? pack->v : pack->x, (size_t)pack->particle_blocks * LMI_BLOCK * 4 * sizeof(float));
    }
    return ok;
}

static void put_particles(lm_world *world, lmi_gpu *gpu)
{
    const float *x = gpu->staging, *v = gpu->staging + (size_t)gpu->particles * 4;
    for (uint32_t n = 0; n < gpu->batch_count; n++) {
        lmi_pack *pack = &world->batches[n].pack;
        if (!gpu->batch[n].coming) {
            continue;
        }
        pack->stepped = false; /* transforms stay on the device */
        if (lmi_gpu_is_staged(world, gpu)) {
            size_t at = (size_t)gpu->batch[n].first[LMI_GPU_PARTICLES] * 4;
            size_t count = (size_t)pack->particle_blocks * LMI_BLOCK * 4;
            memcpy(pack->x, x + at, count * sizeof(float));
            memcpy(pack->v, v + at, count * sizeof(float));
        }
    }
}

/* Forces of drags are few: all come with the first batch, before anything can have been destroyed. */
static bool read_held(lmi_gpu *gpu) { return gpu->mixed || lmi_gpu_held_read(gpu); }

bool lmi_gpu_bring(lm_world *world, const lmi_gpu_buffer *records, uint32_t batch)
{
    lmi_gpu *gpu = world->gpu;
    for (uint32_t n = 0; n < gpu->batch_count; n++) {
        gpu->batch[n].coming = (batch == n || batch == LMI_GPU_NONE) && lmi_gpu_is_behind(gpu, n);
    }
    lm_dvec3 known = impulse_of(world, gpu);
    if (!lmi_gpu_clusters_read(world, gpu) || !lmi_gpu_examples_read(gpu) || !read_held(gpu) ||
        !lmi_gpu_solve_read(gpu) || !lmi_gpu_kinds_read(world, gpu, records == &gpu->before) ||
        !read_particles(world, gpu) || !read_records(gpu, records)) {
        lmi_gpu_lose(world, lmi_cl_text(gpu->status));
        return false;
    }
    put_particles(world, gpu);
    put_records(world, gpu, known);
    lmi_gpu_clusters_put(world, gpu);
    lmi_gpu_examples_put(world, gpu);
    if (!gpu->mixed) {
        lmi_gpu_held_put(world, gpu);
    }
    lmi_gpu_solve_put(world, gpu);
    lmi_gpu_kinds_put(world, gpu);
    for (uint32_t n = 0; n < gpu->batch_count; n++) {
        gpu->batch[n].brought = gpu->batch[n].coming ? gpu->serial : gpu->batch[n].brought;
    }
    gpu->since = batch == LMI_GPU_NONE ? 0 : gpu->since;
    return true;
}

/* Skins that ride on regions, after the particles of these batches were read back. */
static void follow(lm_world *world)
{
    const lmi_gpu *gpu = world->gpu;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        lmi_body *body = comes_with(gpu, n) ? lmi_body_in_step(world, gpu->slots[n]) : NULL;
        if (body && body->skin.carrier_count) {
            lmi_skin_update(world, body);
        }
    }
}

/* A batch, or all (LMI_GPU_NONE). */
static void fetch(lm_world *world, uint32_t batch)
{
    lmi_gpu *gpu = world->gpu;
    lmi_mutex_lock(&gpu->fetching); /* getters may come from several threads */
    if (atomic_load(&gpu->newer)) {
        lmi_float_mode host;
        lmi_float_mode_enter(&host);
        if (lmi_gpu_bring(world, &gpu->bodies, batch)) {
            follow(world);
        }
        if (batch == LMI_GPU_NONE) {
            gpu->mixed = false;
            atomic_store(&gpu->newer, false); /* last: others wait for all of it */
        }
        lmi_float_mode_leave(&host);
    }
    lmi_mutex_unlock(&gpu->fetching);
}

void lmi_gpu_fetch(const lm_world *constant)
{
    lm_world *world = (lm_world *)constant; /* its state is the same, only here */
    if (world->gpu && atomic_load(&world->gpu->newer)) {
        fetch(world, LMI_GPU_NONE);
    }
}

/* What bodies with examples have as state is brought back and uploaded as a whole. */
static bool is_apart(const lmi_gpu *gpu) { return !lmi_gpu_has_examples(gpu); }

void lmi_gpu_fetch_batch(lm_world *world, uint32_t batch)
{
    lmi_gpu *gpu = world->gpu;
    if (gpu && atomic_load(&gpu->newer) && lmi_gpu_is_behind(gpu, batch)) {
        fetch(world, is_apart(gpu) ? batch : LMI_GPU_NONE);
    }
}

void lmi_gpu_fetch_step(lm_world *world)
{
    lmi_gpu *gpu = world->gpu;
    if (gpu && atomic_load(&gpu->newer) && (!is_apart(gpu) || lmi_sleep_watches(world))) {
        fetch(world, LMI_GPU_NONE);
    }
}

static void fetch_held(lm_world *world)
{
    lmi_gpu *gpu = world->gpu;
    lmi_mutex_lock(&gpu->fetching);
    if (lmi_gpu_held_read(gpu)) {
        lmi_gpu_held_put(world, gpu);
    } else {
        lmi_gpu_lose(world, lmi_cl_text(gpu->status));
    }
    lmi_mutex_unlock(&gpu->fetching);
}

void lmi_gpu_edit_batch(lm_world *world, uint32_t batch, bool laid)
{
    lmi_gpu *gpu = world->gpu;
    if (!gpu) {
        return;
    }
    const bool behind = lmi_gpu_is_behind(gpu, batch);
    lmi_gpu_fetch_batch(world, batch);
    if (!behind && !gpu->mixed && atomic_load(&gpu->newer)) {
        fetch_held(world); /* which comes with the first batch, and here none comes */
    }
    gpu->holds = false;
    if (batch < gpu->batch_count) {
        gpu->batch[batch].valid = false;
        gpu->batch[batch].laid = gpu->batch[batch].laid && laid;
    }
    gpu->mixed = atomic_load(&gpu->newer);
}

void lmi_gpu_edit(lm_world *world, bool laid)
{
    if (world->gpu) {
        lmi_gpu_fetch(world);
        world->gpu->holds = false;
        world->gpu->fits = world->gpu->fits && laid;
        lmi_gpu_void(world->gpu, laid);
    }
}
