/*
 * Substeps on the device, and the way back.
 *
 *   prepare    each body's motion, its frame, which colliders it may touch; whether the host must step it instead
 *   lists      irregular regions: what the fast sums have too much or too little
 *   fit        gather and fit           \
 *   lists      the same on the way back  > lattices, all of them in each launch
 *   move       scatter, integrate, contact and measure
 *   conclude   each body's sums, bounds and drift
 *
 * The host waits once in a substep, for a word that says whether the device can step all bodies: not the overstretched and
 * collapsed ones, nor those that answer a collider as a whole. Then it takes the state back and steps it all by itself. The
 * device finds the regions' transforms meanwhile, which changes nothing of the state.
 *
 * Every launch writes what no other work-group of it reads or writes, and sums have a fixed shape: a device gives the same
 * bits in every run.
 */
#include "gpu/gpu.h"

#include "gpu/clusters.h"
#include "gpu/small.h"

#include <string.h>

static void give_over(lm_world *world, const char *why)
{
    lmi_fail(world, LM_ERROR_UNSUPPORTED, "device %.80s: %s; the CPU steps this world", world->gpu->name, why);
}

/* --- the way back --- */

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
    if (body->lattice) {
        lmi_lattice_part *part = &body->lattice->part[0];
        for (int i = 0; i < 9; i++) {
            body->lattice->frame.m[i / 3][i % 3] = from->frame[i];
        }
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

static bool fetch_records(lm_world *world, lmi_gpu *gpu, const lmi_gpu_buffer *from)
{
    lm_dvec3 known = impulse_of(world, gpu);
    if (!lmi_gpu_read(gpu, from, 0, gpu->records, gpu->body_count * sizeof *gpu->records)) {
        return false;
    }
    world->contacts = 0;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        fetch_body(&gpu->records[n], body);
        world->contacts += body->contacts;
    }
    lm_dvec3 given = dvec_add(gpu->given, dvec_sub(impulse_of(world, gpu), known));
    world->outside_impulse = dvec_add(world->outside_impulse, given);
    gpu->given = lm_dvec3_zero();
    return true;
}

static bool fetch_particles(lm_world *world, lmi_gpu *gpu)
{
    bool ok = true, few = world->batch_count <= 16;
    for (int which = 0; ok && which < 2; which++) {
        const lmi_gpu_buffer *from = which ? &gpu->v : &gpu->x;
        ok = few || lmi_gpu_read(gpu, from, 0, gpu->staging, (size_t)gpu->particles * 4 * sizeof(float));
        for (uint32_t n = 0; ok && n < world->batch_count; n++) {
            lmi_pack *pack = &world->batches[n].pack;
            pack->stepped = false; /* transforms stay on the device */
            float *to = which ? pack->v : pack->x;
            size_t at = (size_t)gpu->batch_first[n] * 4;
            size_t size = (size_t)pack->particle_blocks * LMI_BLOCK * 4 * sizeof(float);
            if (few) {
                ok = lmi_gpu_read(gpu, from, at * sizeof(float), to, size);
            } else {
                memcpy(to, gpu->staging + at, size);
            }
        }
    }
    return ok;
}

/* Everything back, with the records as they are in `from`. Where that fails the device is lost, and with it all that has
 * happened since the last fetch: the host goes on from there. */
static void fetch(lm_world *world, const lmi_gpu_buffer *from)
{
    lmi_gpu *gpu = world->gpu;
    bool ok = fetch_particles(world, gpu) && fetch_records(world, gpu, from) && lmi_gpu_clusters_fetch(world, gpu);
    atomic_store(&gpu->newer, false);
    if (!ok) {
        gpu->lost = true;
        gpu->holds = false;
        give_over(world, "it was lost, and what it had stepped since its state was last asked for");
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
        fetch(world, &gpu->bodies);
    }
    lmi_mutex_unlock(&gpu->fetching);
}

void lmi_gpu_edit(lm_world *world)
{
    if (world->gpu) {
        lmi_gpu_fetch(world);
        world->gpu->holds = false;
    }
}

void lmi_gpu_finish(const lm_world *world)
{
    if (world->gpu && world->gpu->queue) {
        world->gpu->cl.clFinish(world->gpu->queue);
    }
}

/* --- steps --- */

bool lmi_gpu_goes_on(const lm_world *world, double h)
{
    const lmi_gpu *gpu = world->gpu;
    return gpu && gpu->holds && !gpu->shares && gpu->h == h;
}

bool lmi_gpu_shares(const lm_world *world) { return world->gpu && world->gpu->holds && world->gpu->shares; }

static bool measure(lmi_gpu *gpu)
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
           lmi_gpu_run(gpu, gpu->conclude, conclude, 4, bodies, group);
}

bool lmi_gpu_take(lm_world *world, double h)
{
    lmi_gpu *gpu = world->gpu;
    if (!gpu || gpu->lost) {
        return false;
    }
    if (gpu->holds && gpu->h == h && world->break_count == 0) {
        return true; /* nothing has changed, but the host has a part in the step */
    }
    gpu->holds = false;
    const char *reason = lmi_gpu_reason(world);
    if (reason) {
        if (gpu->said != reason) {
            lmi_fail(world, LM_ERROR_UNSUPPORTED, "device %.80s: it cannot step %s yet; the CPU does", gpu->name,
                     reason);
        }
        gpu->said = reason;
        return false;
    }
    gpu->h = h;
    gpu->shares = lmi_gpu_contacts_on_host(world);
    gpu->status = CL_SUCCESS;
    if (!lmi_gpu_lay_out(world, gpu) || !measure(gpu)) {
        gpu->lost = true;
        give_over(world, gpu->status == CL_SUCCESS ? "out of memory" : lmi_cl_text(gpu->status));
        return false;
    }
    if (gpu->shares && !gpu->told) {
        lmi_fail(
            world, LM_ERROR_UNSUPPORTED,
            "device %.80s: contacts, pins and bones of this world are left to the CPU, and state goes over and back",
            gpu->name);
    }
    gpu->told = gpu->shares;
    gpu->holds = true;
    return true;
}

static void describe_surface(const lmi_surface *s, lmi_gpu_surface *to)
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
    to->filler = 0;
}

/* Begins a substep; may_go_on tells whether the device can step all bodies. */
static bool prepare(lmi_gpu *gpu, const lmi_step *step, const float change[3])
{
    lmi_gpu_surface surfaces[LMI_GPU_MAX_SURFACES];
    cl_uint count = gpu->body_count, surface_count = gpu->shares ? 0 : step->surface_count;
    const double h = step->h;
    for (uint32_t n = 0; n < surface_count; n++) {
        describe_surface(&step->surfaces[n], &surfaces[n]);
    }
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_BUFFER(gpu->bodies),   LMI_GPU_BUFFER(gpu->before),  LMI_GPU_VALUE(count),     LMI_GPU_BUFFER(gpu->x),
        LMI_GPU_BUFFER(gpu->surfaces), LMI_GPU_VALUE(surface_count), LMI_GPU_VALUE(h),         LMI_GPU_VALUE(change[0]),
        LMI_GPU_VALUE(change[1]),      LMI_GPU_VALUE(change[2]),     LMI_GPU_BUFFER(gpu->stop)};
    const size_t groups[2] = {(gpu->body_count + 7) / 8, 1}, group[2] = {64, 1}; /* HERD in body.cl */
    return lmi_gpu_write(gpu, &gpu->surfaces, 0, surfaces, surface_count * sizeof *surfaces) &&
           lmi_gpu_run(gpu, gpu->prepare, arguments, sizeof arguments / sizeof *arguments, groups, group) &&
           lmi_gpu_mark(gpu, &gpu->prepared);
}

/* The word that `prepare` leaves, read beside the queue: what was launched since goes on meanwhile. */
static bool may_go_on(lmi_gpu *gpu)
{
    cl_uint stop = 0;
    bool ok = lmi_gpu_read_after(gpu, &gpu->prepared, &gpu->stop, &stop, sizeof stop);
    if (ok && stop != 0) {
        const cl_uint none = 0;
        lmi_gpu_write(gpu, &gpu->stop, 0, &none, sizeof none);
    }
    return ok && stop == 0;
}

static bool gather_lists(lmi_gpu *gpu, const lmi_gpu_variant *v)
{
    const lmi_gpu_lists *l = &gpu->gather;
    const cl_uint lanes = l->lanes;
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_VALUE(lanes),        LMI_GPU_BUFFER(l->groups), LMI_GPU_BUFFER(l->who),
        LMI_GPU_BUFFER(l->corner),   LMI_GPU_BUFFER(l->member), LMI_GPU_BUFFER(l->offset),
        LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->x),    LMI_GPU_BUFFER(gpu->irregular_moments)};
    const size_t groups[2] = {(lanes + 63) / 64, 1}, group[2] = {64, 1};
    return lanes == 0 ||
           lmi_gpu_run(gpu, v->gather_lists, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

static bool scatter_lists(lmi_gpu *gpu, const lmi_gpu_variant *v)
{
    const lmi_gpu_lists *l = &gpu->scatter;
    const cl_uint lanes = l->lanes;
    const lmi_gpu_argument arguments[] = {LMI_GPU_VALUE(lanes),      LMI_GPU_BUFFER(l->groups),
                                          LMI_GPU_BUFFER(l->who),    LMI_GPU_BUFFER(l->member),
                                          LMI_GPU_BUFFER(l->offset), LMI_GPU_BUFFER(gpu->bodies),
                                          LMI_GPU_BUFFER(gpu->kept), LMI_GPU_BUFFER(gpu->corrections)};
    const size_t groups[2] = {(lanes + 63) / 64, 1}, group[2] = {64, 1};
    return lanes == 0 ||
           lmi_gpu_run(gpu, v->scatter_lists, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

static bool fit(lmi_gpu *gpu, const lmi_gpu_variant *v)
{
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_BUFFER(v->tiles),          LMI_GPU_BUFFER(gpu->bodies),    LMI_GPU_BUFFER(gpu->map),
        LMI_GPU_BUFFER(gpu->constants_of), LMI_GPU_BUFFER(gpu->constants), LMI_GPU_BUFFER(gpu->x),
        LMI_GPU_BUFFER(gpu->regions),      LMI_GPU_BUFFER(gpu->irregular), LMI_GPU_BUFFER(gpu->irregular_moments),
        LMI_GPU_BUFFER(gpu->kept)};
    const size_t groups[2] = {v->tile_count, 1}, group[2] = {v->kind.tile_x, v->kind.tile_y};
    return v->tile_count == 0 ||
           lmi_gpu_run(gpu, v->fit, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

static bool move(lmi_gpu *gpu, const lmi_gpu_variant *v, float h)
{
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(v->tiles),
                                          LMI_GPU_BUFFER(gpu->bodies),
                                          LMI_GPU_BUFFER(gpu->map),
                                          LMI_GPU_BUFFER(gpu->constants_of),
                                          LMI_GPU_BUFFER(gpu->constants),
                                          LMI_GPU_BUFFER(gpu->x),
                                          LMI_GPU_BUFFER(gpu->v),
                                          LMI_GPU_BUFFER(gpu->regions),
                                          LMI_GPU_BUFFER(gpu->corrected),
                                          LMI_GPU_BUFFER(gpu->corrections),
                                          LMI_GPU_BUFFER(gpu->surfaces),
                                          LMI_GPU_BUFFER(gpu->partials),
                                          LMI_GPU_VALUE(h)};
    const size_t groups[2] = {v->tile_count, 1}, group[2] = {v->kind.tile_x, v->kind.tile_y};
    return v->tile_count == 0 ||
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
           lmi_gpu_run(gpu, gpu->conclude, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

/* Regions of lattices: nothing of the state changes, so it need not be known yet whether the substep is the device's. Small
 * lattices are moved as well, by a kernel that sees for itself. */
static bool fit_lattices(lmi_gpu *gpu, float h)
{
    bool ok = gpu->lattice_count == 0 || gather_lists(gpu, &gpu->variant[0]);
    for (uint32_t n = 0; ok && gpu->lattice_count && n < gpu->variant_count; n++) {
        ok = fit(gpu, &gpu->variant[n]) && lmi_gpu_step_small(gpu, &gpu->variant[n], h);
    }
    return ok && (gpu->lattice_count == 0 || scatter_lists(gpu, &gpu->variant[0]));
}

static bool move_lattices(lmi_gpu *gpu, const lmi_step *step)
{
    bool ok = true;
    if (gpu->lattice_count == 0) {
        return true;
    }
    for (uint32_t n = 0; ok && n < gpu->variant_count; n++) {
        ok = move(gpu, &gpu->variant[n], (float)step->h);
    }
    return ok && conclude(gpu, step->h) && gpu->cl.clFlush(gpu->queue) == CL_SUCCESS;
}

/* Contacts on the host: state over, and back. */
static bool share(const lmi_step *step)
{
    lm_world *world = step->world;
    lmi_gpu *gpu = world->gpu;
    fetch(world, &gpu->bodies);
    if (gpu->lost) {
        return true; /* the host goes on, and nothing is to be taken back */
    }
    lmi_step_contacts(step);
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        lmi_gpu_body *to = &gpu->records[n];
        to->lower[0] = body->lower.x, to->lower[1] = body->lower.y, to->lower[2] = body->lower.z;
        to->upper[0] = body->upper.x, to->upper[1] = body->upper.y, to->upper[2] = body->upper.z;
    }
    return lmi_gpu_upload_state(world, gpu) &&
           lmi_gpu_write(gpu, &gpu->bodies, 0, gpu->records, gpu->body_count * sizeof *gpu->records) && measure(gpu);
}

bool lmi_gpu_substep(const lmi_step *step)
{
    lm_world *world = step->world;
    lmi_gpu *gpu = world->gpu;
    lm_dvec3 acceleration = step->gravity;
    for (uint32_t f = 0; f < step->flow_count; f++) {
        acceleration = dvec_add(acceleration, dvec_from(step->flows[f].vector));
    }
    lm_vec3 by = vec_from(dvec_scale(acceleration, step->h));
    const float change[3] = {by.x, by.y, by.z};
    bool ok = prepare(gpu, step, change) && fit_lattices(gpu, (float)step->h) && lmi_gpu_clusters_match(gpu);
    if (gpu->prepared && !may_go_on(gpu)) {
        ok = false;
    }
    if (!ok) {
        fetch(world, &gpu->before);
        gpu->holds = false;
        return false;
    }
    atomic_store(&gpu->newer, true);
    gpu->given = dvec_add(gpu->given, dvec_scale(dvec_from(by), gpu->total_mass));
    if (!move_lattices(gpu, step) || !lmi_gpu_clusters_substep(gpu, step, change) || (gpu->shares && !share(step))) {
        lmi_gpu_fetch(world);
        gpu->lost = true;
        gpu->holds = false;
        give_over(world, lmi_cl_text(gpu->status));
    }
    return true;
}

/* --- the end --- */

static void free_buffers(lmi_gpu *gpu)
{
    lmi_gpu_buffer *const all[] = {&gpu->x,
                                   &gpu->v,
                                   &gpu->bodies,
                                   &gpu->before,
                                   &gpu->stop,
                                   &gpu->surfaces,
                                   &gpu->chunks,
                                   &gpu->parts,
                                   &gpu->partials,
                                   &gpu->map,
                                   &gpu->constants_of,
                                   &gpu->constants,
                                   &gpu->regions,
                                   &gpu->corners,
                                   &gpu->irregular,
                                   &gpu->irregular_moments,
                                   &gpu->kept,
                                   &gpu->corrected,
                                   &gpu->corrections,
                                   &gpu->gather.groups,
                                   &gpu->gather.small,
                                   &gpu->gather.who,
                                   &gpu->gather.corner,
                                   &gpu->gather.member,
                                   &gpu->gather.offset,
                                   &gpu->scatter.groups,
                                   &gpu->scatter.small,
                                   &gpu->scatter.who,
                                   &gpu->scatter.corner,
                                   &gpu->scatter.member,
                                   &gpu->scatter.offset};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        lmi_gpu_free(gpu, all[n]);
    }
}

static void free_kernel(lmi_gpu *gpu, cl_kernel kernel)
{
    if (kernel) {
        gpu->cl.clReleaseKernel(kernel);
    }
}

static void free_programs(lmi_gpu *gpu)
{
    for (uint32_t n = 0; n < gpu->variant_count; n++) {
        lmi_gpu_variant *v = &gpu->variant[n];
        free_kernel(gpu, v->fit);
        free_kernel(gpu, v->move);
        free_kernel(gpu, v->gather_lists);
        free_kernel(gpu, v->scatter_lists);
        free_kernel(gpu, v->small);
        lmi_gpu_free(gpu, &v->tiles);
        lmi_gpu_free(gpu, &v->smalls);
        if (v->program) {
            gpu->cl.clReleaseProgram(v->program);
        }
    }
    free_kernel(gpu, gpu->prepare);
    free_kernel(gpu, gpu->conclude);
    free_kernel(gpu, gpu->measure);
    free_kernel(gpu, gpu->reduce);
    if (gpu->program) {
        gpu->cl.clReleaseProgram(gpu->program);
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
    lmi_gpu_clusters_free(world, gpu);
    free_buffers(gpu);
    free_programs(gpu);
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
    lmi_release(&world->memory, gpu->batch_first, gpu->batch_capacity, sizeof *gpu->batch_first);
    lmi_release(&world->memory, gpu->staging, gpu->staging_size, sizeof *gpu->staging);
    lmi_release(&world->memory, gpu, 1, sizeof *gpu);
    world->gpu = NULL;
}
