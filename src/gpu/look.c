/*
 * Looking at a world that a device steps: bodies one by one, and sums, without bringing all particles back.
 *
 * The host's state stays behind, and nothing of it changes: what is read back is put into copies. Where anything fails, everything is
 * fetched the ordinary way, which also finds out whether the device is lost.
 */
#include "gpu/look.h"
#include "gpu/state.h"

#include "gpu/gpu.h"

#include <string.h>

struct lmi_gpu_looks {
    cl_program program;
    cl_kernel bodies, totals;
    struct lmi_gpu_numbers {
        lmi_gpu_buffer there;
        double *here;
        uint32_t room;
        uint64_t serial; /* of the state that they are of */
    } of_bodies, of_chunks;
    uint32_t *index; /* [slots] record, or LMI_GPU_NONE */
    uint32_t slots, slot_room;
    uint64_t indexed; /* serial of the layout */
    bool off;         /* it has failed once: everything is fetched from then on */
};

static bool build(lm_world *world, lmi_gpu *gpu, struct lmi_gpu_looks *l)
{
    static const char *const texts[] = {"prelude.cl", "records.h", "look.cl", NULL};
    const lmi_gpu_named kernels[] = {{&l->bodies, "look_bodies"}, {&l->totals, "look_totals"}};
    return lmi_gpu_build(world, gpu, &l->program, texts, NULL) && LMI_GPU_FIND(l->program, kernels);
}

static void end(lmi_gpu *gpu, void *part)
{
    struct lmi_gpu_looks *l = part;
    lmi_release(gpu->memory, l->of_bodies.here, l->of_bodies.room, sizeof(double));
    lmi_release(gpu->memory, l->of_chunks.here, l->of_chunks.room, sizeof(double));
    lmi_release(gpu->memory, l->index, l->slot_room, sizeof *l->index);
}

static struct lmi_gpu_looks *looks_of(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->looks) {
        gpu->looks = lmi_gpu_make_part(gpu, sizeof *gpu->looks, end);
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

/* Locked, and the device's state is the newer one: of a batch, or of all (LMI_GPU_NONE). */
static lmi_gpu *begin_look(const lm_world *world, uint32_t batch)
{
    lmi_gpu *gpu = world->gpu;
    if (!gpu || !atomic_load(&gpu->newer)) {
        return NULL;
    }
    lmi_mutex_lock(&gpu->fetching);
    bool all = batch == LMI_GPU_NONE, newer = atomic_load(&gpu->newer), split = newer && all && gpu->mixed;
    if (!newer || split || (!all && !lmi_gpu_is_behind(gpu, batch))) {
        lmi_mutex_unlock(&gpu->fetching);
        if (split) { /* some of it is here, and some there */
            lmi_gpu_fetch(world);
        }
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

static uint32_t index_of(lm_world *world, lmi_gpu *gpu, const lmi_body *body)
{
    struct lmi_gpu_looks *l = looks_of(world, gpu);
    if (l && l->indexed != gpu->layouts) {
        void *index = l->index;
        uint32_t slots = world->bodies.slots;
        if (!lmi_reserve(&world->memory, &index, &l->slot_room, slots, sizeof *l->index)) {
            return LMI_GPU_NONE;
        }
        l->index = index;
        l->slots = slots;
        l->indexed = gpu->layouts;
        memset(l->index, 0xff, slots * sizeof *l->index);
        for (uint32_t n = 0; n < gpu->body_count; n++) {
            l->index[gpu->slots[n]] = n;
        }
    }
    return l && body->slot < l->slots ? l->index[body->slot] : LMI_GPU_NONE;
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

size_t lmi_gpu_memory(const lm_world *world)
{
    if (!world->gpu) {
        return world->memory.used;
    }
    lmi_mutex_lock(&world->gpu->fetching);
    size_t used = world->memory.used;
    lmi_mutex_unlock(&world->gpu->fetching);
    return used;
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
    uint32_t index = index_of(world, gpu, body);
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
    lmi_gpu *gpu =
        body->batch == LMI_NONE ? NULL : begin_look(world, body->batch); /* who sleeps is on the host alone */
    return gpu && end_look(world, gpu, look((lm_world *)world, gpu, body, velocities, l)); /* memory alone changes */
}

void lmi_gpu_look_end(const lm_world *world, lmi_look *l)
{
    lmi_gpu_scratch_give(world, l->room, l->size, sizeof *l->room);
}

/* --- all bodies --- */

/* So many numbers of each of `count`, by a kernel that takes `arguments` and last where they go; null after a failure. */
static const double *find_numbers(lm_world *world, lmi_gpu *gpu, struct lmi_gpu_numbers *to, uint32_t numbers,
                                  cl_kernel kernel, lmi_gpu_argument *arguments, uint32_t argument_count,
                                  size_t group_count)
{
    void *here = to->here;
    if (to->serial == gpu->serial) {
        return to->here;
    }
    bool ok = lmi_reserve(&world->memory, &here, &to->room, numbers, sizeof *to->here);
    to->here = here;
    to->serial = 0;
    ok = ok && lmi_gpu_reserve(gpu, &to->there, numbers * sizeof *to->here);
    arguments[argument_count - 1] = (lmi_gpu_argument)LMI_GPU_BUFFER(to->there);
    const size_t groups[2] = {group_count, 1}, group[2] = {64, 1};
    ok = ok && lmi_gpu_run(gpu, kernel, arguments, argument_count, groups, group) &&
         lmi_gpu_read(gpu, &to->there, 0, to->here, numbers * sizeof *to->here);
    to->serial = ok ? gpu->serial : 0;
    return ok ? to->here : NULL;
}

/* LMI_GPU_LOOK_NUMBERS of each body, in the order of the records. */
static const double *read_bodies(lm_world *world, lmi_gpu *gpu)
{
    struct lmi_gpu_looks *l = looks_of(world, gpu);
    const cl_uint count = gpu->body_count;
    lmi_gpu_argument arguments[3] = {LMI_GPU_VALUE(count), LMI_GPU_BUFFER(gpu->bodies)};
    return l ? find_numbers(world, gpu, &l->of_bodies, count * LMI_GPU_LOOK_NUMBERS, l->bodies, arguments, 3,
                            (count + 63) / 64)
             : NULL;
}

/* LMI_GPU_TOTALS of each chunk of particles, which are in the order of the records. */
static const double *read_chunks(lm_world *world, lmi_gpu *gpu)
{
    struct lmi_gpu_looks *l = looks_of(world, gpu);
    lmi_gpu_argument arguments[5] = {LMI_GPU_BUFFER(gpu->chunks), LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->x),
                                     LMI_GPU_BUFFER(gpu->v)};
    return l ? find_numbers(world, gpu, &l->of_chunks, gpu->chunk_count * LMI_GPU_TOTALS, l->totals, arguments, 5,
                            gpu->chunk_count)
             : NULL;
}

static lm_dvec3 vector_at(const double *from) { return dvec(from[0], from[1], from[2]); }

static void add_chunk(const double *from, lmi_look_sums *to)
{
    const lm_dvec3 low = vector_at(from + LMI_GPU_TOTAL_LOWER), high = vector_at(from + LMI_GPU_TOTAL_UPPER);
    to->first = dvec_add(to->first, vector_at(from + LMI_GPU_TOTAL_FIRST));
    to->momentum = dvec_add(to->momentum, vector_at(from + LMI_GPU_TOTAL_MOMENTUM));
    to->angular = dvec_add(to->angular, vector_at(from + LMI_GPU_TOTAL_ANGULAR));
    for (int i = 0; i < 6; i++) {
        to->second[i] += from[LMI_GPU_TOTAL_SECOND + i];
    }
    to->energy += from[LMI_GPU_TOTAL_ENERGY];
    to->speed = fmax(to->speed, from[LMI_GPU_TOTAL_SPEED]);
    to->lower = vec_from(dvec(fmin(to->lower.x, low.x), fmin(to->lower.y, low.y), fmin(to->lower.z, low.z)));
    to->upper = vec_from(dvec(fmax(to->upper.x, high.x), fmax(to->upper.y, high.y), fmax(to->upper.z, high.z)));
}

static bool find_sums(lm_world *world, lmi_gpu *gpu, const lmi_body *body, lmi_look_sums *to)
{
    uint32_t index = index_of(world, gpu, body);
    const double *bodies = index == LMI_GPU_NONE ? NULL : read_bodies(world, gpu);
    const double *chunks = bodies ? read_chunks(world, gpu) : NULL;
    if (!chunks) {
        return false;
    }
    const lmi_gpu_body *record = &gpu->records[index];
    const double *own = bodies + (size_t)index * LMI_GPU_LOOK_NUMBERS;
    memset(to, 0, sizeof *to);
    to->origin = vector_at(own + LMI_GPU_LOOK_ORIGIN);
    to->contacts = (uint32_t)own[LMI_GPU_LOOK_CONTACTS];
    to->lower = (lm_vec3){INFINITY, INFINITY, INFINITY};
    to->upper = (lm_vec3){-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t n = 0; n < record->measures; n++) {
        add_chunk(chunks + (size_t)(record->first_measure + n) * LMI_GPU_TOTALS, to);
    }
    return true;
}

bool lmi_gpu_look_sums(const lm_world *world, const lmi_body *body, lmi_look_sums *sums)
{
    lmi_gpu *gpu = body->batch == LMI_NONE ? NULL : begin_look(world, body->batch);
    return gpu && end_look(world, gpu, find_sums((lm_world *)world, gpu, body, sums)); /* memory alone changes */
}

lmi_seen *lmi_gpu_look_all(const lm_world *constant)
{
    lm_world *world = (lm_world *)constant; /* memory alone changes */
    lmi_gpu *gpu = begin_look(world, LMI_GPU_NONE);
    if (!gpu) {
        return NULL;
    }
    const size_t count = world->bodies.slots;
    lmi_seen *seen = lmi_allocate(&world->memory, count, sizeof *seen);
    bool ok = seen != NULL;
    for (uint32_t n = 0; ok && n < gpu->body_count; n++) {
        lmi_look_sums sums;
        ok = find_sums(world, gpu, lmi_body_at(world, gpu->slots[n]), &sums);
        if (ok) {
            seen[gpu->slots[n]] = (lmi_seen){sums.origin, sums.lower, sums.upper, true};
        }
    }
    if (seen && !ok) {
        lmi_release(&world->memory, seen, count, sizeof *seen);
        seen = NULL;
    }
    end_look(world, gpu, seen != NULL);
    return seen;
}

bool lmi_gpu_look_stats(const lm_world *world, uint32_t *contacts, lm_dvec3 *outside_impulse)
{
    lmi_gpu *gpu = begin_look(world, LMI_GPU_NONE);
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
    const double *s = read_chunks(world, gpu);
    for (uint32_t n = 0; s && n < gpu->chunk_count; n++, s += LMI_GPU_TOTALS) {
        totals->momentum = dvec_add(totals->momentum, vector_at(s + LMI_GPU_TOTAL_MOMENTUM));
        totals->momentum_scale += s[LMI_GPU_TOTAL_SCALE];
        totals->kinetic_energy += s[LMI_GPU_TOTAL_ENERGY];
        float speed = (float)s[LMI_GPU_TOTAL_SPEED];
        totals->max_speed = speed > totals->max_speed ? speed : totals->max_speed;
        totals->finite = totals->finite && s[LMI_GPU_TOTAL_UNSOUND] == 0.0;
    }
    return s != NULL;
}

bool lmi_gpu_look_totals(const lm_world *world, lm_totals *totals)
{
    lmi_gpu *gpu = begin_look(world, LMI_GPU_NONE);
    return gpu && end_look(world, gpu, add_totals((lm_world *)world, gpu, totals));
}
