/*
 * Looking at a world that a device steps: bodies one by one, and sums, without bringing all particles back.
 *
 * The host's state stays behind, and nothing of it changes: what comes back is put into copies. Where anything fails, everything is
 * fetched the ordinary way, which also finds out whether the device is lost.
 */
#include "gpu/look.h"

#include "gpu/gpu.h"

#include <string.h>

struct lmi_gpu_looks {
    cl_program program;
    cl_kernel bodies, totals;
    lmi_gpu_buffer numbers;
    double *room;
    uint32_t room_size;
    bool off; /* it has failed once: everything is fetched from then on */
};

static bool build(lm_world *world, lmi_gpu *gpu, struct lmi_gpu_looks *l)
{
    static const char *const texts[] = {"prelude.cl", "records.h", "look.cl", NULL};
    char options[1024];
    lmi_gpu_common_options(gpu, options, sizeof options);
    l->program = lmi_gpu_build(world, gpu, texts, options);
    l->bodies = l->program ? lmi_gpu_kernel(gpu, l->program, "look_bodies") : NULL;
    l->totals = l->program ? lmi_gpu_kernel(gpu, l->program, "look_totals") : NULL;
    return l->bodies && l->totals;
}

static struct lmi_gpu_looks *looks_of(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->looks) {
        gpu->looks = lmi_allocate(&world->memory, 1, sizeof *gpu->looks);
    }
    struct lmi_gpu_looks *l = gpu->looks;
    if (!l || l->off || (!l->program && !build(world, gpu, l))) {
        if (l) {
            l->off = true;
        }
        return NULL;
    }
    return l;
}

/* Locked, and the device's state is the newer one. */
static lmi_gpu *begin_look(const lm_world *world)
{
    lmi_gpu *gpu = world->gpu;
    if (!gpu || !atomic_load(&gpu->newer)) {
        return NULL;
    }
    lmi_mutex_lock(&gpu->fetching);
    if (!atomic_load(&gpu->newer)) {
        lmi_mutex_unlock(&gpu->fetching);
        return NULL;
    }
    gpu->status = CL_SUCCESS;
    return gpu;
}

/* False, and the host's state is up to date, where something has failed or was not tried. */
static bool end_look(const lm_world *world, lmi_gpu *gpu, bool ok)
{
    gpu->status = ok ? gpu->status : CL_SUCCESS;
    lmi_mutex_unlock(&gpu->fetching);
    if (!ok) {
        lmi_gpu_fetch(world);
    }
    return ok;
}

static uint32_t index_of(const lmi_gpu *gpu, const lmi_body *body)
{
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        if (gpu->slots[n] == body->slot) {
            return n;
        }
    }
    return LMI_GPU_NONE;
}

void *lmi_gpu_scratch_take(const lm_world *world, size_t count, size_t size)
{
    lmi_mutex_lock(&world->gpu->fetching); /* memory is counted */
    void *scratch = lmi_allocate_plain(&((lm_world *)world)->memory, count, size);
    lmi_mutex_unlock(&world->gpu->fetching);
    return scratch;
}

void lmi_gpu_scratch_give(const lm_world *world, void *scratch, size_t count, size_t size)
{
    lmi_mutex_lock(&world->gpu->fetching);
    lmi_release(&((lm_world *)world)->memory, scratch, count, size);
    lmi_mutex_unlock(&world->gpu->fetching);
}

/* --- one body --- */

static void put_record(const lmi_gpu_body *from, lmi_body *body)
{
    body->origin = dvec(from->origin[0], from->origin[1], from->origin[2]);
    body->lower = (lm_vec3){from->lower[0], from->lower[1], from->lower[2]};
    body->upper = (lm_vec3){from->upper[0], from->upper[1], from->upper[2]};
    body->contacts = from->contacts;
}

static bool look(lm_world *world, lmi_gpu *gpu, const lmi_body *body, bool velocities, lmi_look *l)
{
    uint32_t index = index_of(gpu, body);
    if (gpu->looked_at != gpu->serial) {
        gpu->looked_at = gpu->serial;
        gpu->look_count = 0;
    }
    if (index == LMI_GPU_NONE || gpu->look_count >= LMI_GPU_LOOKS) {
        return false;
    }
    gpu->look_count++;
    const lmi_gpu_body *known = &gpu->records[index];
    const size_t floats = (size_t)known->particles * 4, first = (size_t)known->first * 4, f = sizeof(float);
    lmi_gpu_body record;
    l->size = floats * (velocities ? 2 : 1);
    l->room = lmi_allocate(&world->memory, l->size, f);
    if (!l->room || !lmi_gpu_read(gpu, &gpu->bodies, index * sizeof record, &record, sizeof record) ||
        !lmi_gpu_read(gpu, &gpu->x, first * f, l->room, floats * f) ||
        (velocities && !lmi_gpu_read(gpu, &gpu->v, first * f, l->room + floats, floats * f))) {
        lmi_release(&world->memory, l->room, l->size, f);
        return false;
    }
    l->body = *body;
    l->body.x = l->room;
    l->body.v = velocities ? l->room + floats : NULL;
    put_record(&record, &l->body);
    return true;
}

bool lmi_gpu_look_body(const lm_world *world, const lmi_body *body, bool velocities, lmi_look *l)
{
    lmi_gpu *gpu = begin_look(world);
    return gpu && end_look(world, gpu, look((lm_world *)world, gpu, body, velocities, l)); /* memory alone changes */
}

void lmi_gpu_look_end(const lm_world *world, lmi_look *l)
{
    lmi_gpu_scratch_give(world, l->room, l->size, sizeof *l->room);
}

/* --- all bodies --- */

/* Room for so many numbers, here and there. */
static bool reserve_numbers(lm_world *world, lmi_gpu *gpu, struct lmi_gpu_looks *l, uint32_t count)
{
    void *room = l->room;
    bool ok = lmi_reserve(&world->memory, &room, &l->room_size, count, sizeof *l->room);
    l->room = room;
    return ok && lmi_gpu_reserve(gpu, &l->numbers, count * sizeof *l->room);
}

/* LMI_GPU_LOOK_NUMBERS of each body, in the order of the records; null after a failure. */
static const double *read_bodies(lm_world *world, lmi_gpu *gpu)
{
    struct lmi_gpu_looks *l = looks_of(world, gpu);
    const cl_uint count = gpu->body_count;
    uint32_t numbers = count * LMI_GPU_LOOK_NUMBERS;
    if (!l || !reserve_numbers(world, gpu, l, numbers)) {
        return NULL;
    }
    const lmi_gpu_argument arguments[] = {LMI_GPU_VALUE(count), LMI_GPU_BUFFER(gpu->bodies),
                                          LMI_GPU_BUFFER(l->numbers)};
    const size_t groups[2] = {(count + 63) / 64, 1}, group[2] = {64, 1};
    bool ok = lmi_gpu_run(gpu, l->bodies, arguments, 3, groups, group) &&
              lmi_gpu_read(gpu, &l->numbers, 0, l->room, numbers * sizeof *l->room);
    return ok ? l->room : NULL;
}

lmi_seen *lmi_gpu_look_all(const lm_world *constant)
{
    lm_world *world = (lm_world *)constant; /* memory alone changes */
    lmi_gpu *gpu = begin_look(world);
    if (!gpu) {
        return NULL;
    }
    const size_t count = world->bodies.slots;
    lmi_seen *seen = lmi_allocate(&world->memory, count, sizeof *seen);
    const double *from = seen ? read_bodies(world, gpu) : NULL;
    for (uint32_t n = 0; from && n < gpu->body_count; n++, from += LMI_GPU_LOOK_NUMBERS) {
        const double *o = from + LMI_GPU_LOOK_ORIGIN, *l = from + LMI_GPU_LOOK_LOWER, *u = from + LMI_GPU_LOOK_UPPER;
        seen[gpu->slots[n]] = (lmi_seen){dvec(o[0], o[1], o[2]), vec_from(dvec(l[0], l[1], l[2])),
                                         vec_from(dvec(u[0], u[1], u[2])), true};
    }
    if (seen && !from) {
        lmi_release(&world->memory, seen, count, sizeof *seen);
        seen = NULL;
    }
    end_look(world, gpu, seen != NULL);
    return seen;
}

bool lmi_gpu_look_stats(const lm_world *world, uint32_t *contacts, lm_dvec3 *outside_impulse)
{
    lmi_gpu *gpu = begin_look(world);
    if (!gpu) {
        return false;
    }
    const double *from = read_bodies((lm_world *)world, gpu);
    *contacts = 0;
    *outside_impulse = dvec_add(world->outside_impulse, gpu->given);
    for (uint32_t n = 0; from && n < gpu->body_count; n++, from += LMI_GPU_LOOK_NUMBERS) {
        const double *now = from + LMI_GPU_LOOK_IMPULSE, *known = gpu->records[n].impulse;
        lm_dvec3 given = dvec(now[0] - known[0], now[1] - known[1], now[2] - known[2]);
        double mass = lmi_body_at(world, gpu->slots[n])->mean_mass;
        *outside_impulse = dvec_add(*outside_impulse, dvec_scale(given, mass));
        *contacts += (uint32_t)from[LMI_GPU_LOOK_CONTACTS];
    }
    return end_look(world, gpu, from != NULL);
}

static bool add_totals(lm_world *world, lmi_gpu *gpu, lm_totals *totals)
{
    struct lmi_gpu_looks *l = looks_of(world, gpu);
    uint32_t numbers = gpu->chunk_count * LMI_GPU_TOTALS;
    if (!l || !reserve_numbers(world, gpu, l, numbers)) {
        return false;
    }
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(gpu->chunks), LMI_GPU_BUFFER(gpu->bodies),
                                          LMI_GPU_BUFFER(gpu->x), LMI_GPU_BUFFER(gpu->v), LMI_GPU_BUFFER(l->numbers)};
    const size_t groups[2] = {gpu->chunk_count, 1}, group[2] = {64, 1};
    if (!lmi_gpu_run(gpu, l->totals, arguments, 5, groups, group) ||
        !lmi_gpu_read(gpu, &l->numbers, 0, l->room, numbers * sizeof *l->room)) {
        return false;
    }
    for (uint32_t n = 0; n < gpu->chunk_count; n++) {
        const double *s = l->room + (size_t)n * LMI_GPU_TOTALS, *p = s + LMI_GPU_TOTAL_MOMENTUM;
        totals->momentum = dvec_add(totals->momentum, dvec(p[0], p[1], p[2]));
        totals->momentum_scale += s[LMI_GPU_TOTAL_SCALE];
        totals->kinetic_energy += s[LMI_GPU_TOTAL_ENERGY];
        float speed = (float)s[LMI_GPU_TOTAL_SPEED];
        totals->max_speed = speed > totals->max_speed ? speed : totals->max_speed;
        totals->finite = totals->finite && s[LMI_GPU_TOTAL_UNSOUND] == 0.0;
    }
    return true;
}

bool lmi_gpu_look_totals(const lm_world *world, lm_totals *totals)
{
    lmi_gpu *gpu = begin_look(world);
    return gpu && end_look(world, gpu, add_totals((lm_world *)world, gpu, totals));
}

void lmi_gpu_looks_free(lm_world *world, lmi_gpu *gpu)
{
    struct lmi_gpu_looks *l = gpu->looks;
    if (!l) {
        return;
    }
    lmi_gpu_free(gpu, &l->numbers);
    if (l->bodies) {
        gpu->cl.clReleaseKernel(l->bodies);
    }
    if (l->totals) {
        gpu->cl.clReleaseKernel(l->totals);
    }
    if (l->program) {
        gpu->cl.clReleaseProgram(l->program);
    }
    lmi_release(&world->memory, l->room, l->room_size, sizeof *l->room);
    lmi_release(&world->memory, l, 1, sizeof *l);
    gpu->looks = NULL;
}
