/*
 * The way back from the device, and what is done when there is none.
 *
 * Everything is read before anything is changed, so that a device that is lost on the way leaves the host's state as it was: all
 * of it from the moment when it was last asked for. (Worlds of very many particles in few batches are read straight to where they
 * belong; for them a copy of everything would cost more than it is worth.)
 */
#include "base/guard.h"
#include "gpu/clusters.h"
#include "gpu/example_regions.h"
#include "gpu/gpu.h"
#include "gpu/held.h"
#include "gpu/kinds.h"
#include "gpu/solve.h"

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

/* What colliders and pins have given to all bodies, N s. */
static lm_dvec3 impulse_of(const lm_world *world, const lmi_gpu *gpu)
{
    lm_dvec3 sum = lm_dvec3_zero();
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        const double *from = gpu->records[n].impulse;
        double mass = lmi_body_at(world, gpu->slots[n])->mean_mass;
        sum = dvec_add(sum, dvec_scale(dvec(from[0], from[1], from[2]), mass));
    }
    return sum;
}

/* The records are there: into the bodies. */
static void put_records(lm_world *world, lmi_gpu *gpu, lm_dvec3 known)
{
    world->contacts = 0;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        fetch_body(&gpu->records[n], body);
        world->contacts += body->contacts;
    }
    lm_dvec3 given = dvec_add(gpu->given, dvec_sub(impulse_of(world, gpu), known));
    world->outside_impulse = dvec_add(world->outside_impulse, given);
    gpu->given = lm_dvec3_zero();
}

bool lmi_gpu_is_staged(const lm_world *world, const lmi_gpu *gpu)
{
    return world->batch_count > LMI_GPU_FEW_BATCHES || gpu->particles <= LMI_GPU_STAGED;
}

static bool read_particles(lm_world *world, lmi_gpu *gpu)
{
    const size_t size = (size_t)gpu->particles * 4;
    if (lmi_gpu_is_staged(world, gpu)) {
        return lmi_gpu_read(gpu, &gpu->x, 0, gpu->staging, size * sizeof(float)) &&
               lmi_gpu_read(gpu, &gpu->v, 0, gpu->staging + size, size * sizeof(float));
    }
    bool ok = gpu->cl.clFinish(gpu->queue) == CL_SUCCESS;
    for (uint32_t n = 0; ok && n < 2 * world->batch_count; n++) {
        lmi_pack *pack = &world->batches[n / 2].pack;
        ok = lmi_gpu_read(gpu, n % 2 ? &gpu->v : &gpu->x, (size_t)gpu->batch_first[n / 2] * 4 * sizeof(float),
                          n % 2 ? pack->v : pack->x, (size_t)pack->particle_blocks * LMI_BLOCK * 4 * sizeof(float));
    }
    return ok;
}

static void put_particles(lm_world *world, lmi_gpu *gpu)
{
    const float *x = gpu->staging, *v = gpu->staging + (size_t)gpu->particles * 4;
    for (uint32_t n = 0; n < world->batch_count; n++) {
        lmi_pack *pack = &world->batches[n].pack;
        pack->stepped = false; /* transforms stay on the device */
        if (lmi_gpu_is_staged(world, gpu)) {
            size_t at = (size_t)gpu->batch_first[n] * 4, count = (size_t)pack->particle_blocks * LMI_BLOCK * 4;
            memcpy(pack->x, x + at, count * sizeof(float));
            memcpy(pack->v, v + at, count * sizeof(float));
        }
    }
}

bool lmi_gpu_bring(lm_world *world, const lmi_gpu_buffer *records)
{
    lmi_gpu *gpu = world->gpu;
    lm_dvec3 known = impulse_of(world, gpu);
    if (!lmi_gpu_clusters_read(world, gpu) || !lmi_gpu_examples_read(gpu) || !lmi_gpu_held_read(gpu) ||
        !lmi_gpu_solve_read(gpu) || !lmi_gpu_kinds_read(gpu, records == &gpu->before) || !read_particles(world, gpu) ||
        !lmi_gpu_read(gpu, records, 0, gpu->records, gpu->body_count * sizeof *gpu->records)) {
        lmi_gpu_lose(world, lmi_cl_text(gpu->status));
        return false;
    }
    put_particles(world, gpu);
    put_records(world, gpu, known);
    lmi_gpu_clusters_put(world, gpu);
    lmi_gpu_examples_put(world, gpu);
    lmi_gpu_held_put(world, gpu);
    lmi_gpu_solve_put(world, gpu);
    lmi_gpu_kinds_put(world, gpu);
    gpu->since = 0;
    return true;
}

void lmi_gpu_skins(lm_world *world, bool all)
{
    const lmi_gpu *gpu = world->gpu;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        if (body->skin.carrier_count && (all || !lmi_body_meets(body))) {
            lmi_skin_update(world, body);
        }
    }
}

void lmi_gpu_fetch(const lm_world *constant)
{
    lm_world *world = (lm_world *)constant; /* its state is the same, only here */
    lmi_gpu *gpu = world->gpu;
    if (!gpu || !atomic_load(&gpu->newer)) {
        return;
    }
    lmi_mutex_lock(&gpu->fetching); /* getters may come from several threads */
    if (atomic_load(&gpu->newer)) {
        lmi_float_mode host;
        lmi_float_mode_enter(&host);
        if (lmi_gpu_bring(world, &gpu->bodies)) {
            lmi_gpu_skins(world, true);
        }
        atomic_store(&gpu->newer, false); /* last: others wait for all of it */
        lmi_float_mode_leave(&host);
    }
    lmi_mutex_unlock(&gpu->fetching);
}

void lmi_gpu_edit_state(lm_world *world)
{
    if (world->gpu) {
        lmi_gpu_fetch(world);
        world->gpu->holds = false;
    }
}

void lmi_gpu_edit(lm_world *world)
{
    if (world->gpu) {
        lmi_gpu_edit_state(world);
        world->gpu->fits = false;
    }
}
