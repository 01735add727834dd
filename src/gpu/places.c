/*
 * Where batches and bodies stand on the device, and which of them are there as they are.
 *
 * Every batch has a place among the particles, lanes, rows and lists of all batches, with room to grow a little. Where single
 * batches have changed the others stay where they are, and so do the records of their bodies: nothing that points to them has to be
 * written again. A batch that outgrows its room goes to the end. What it leaves behind is lost until everything is laid out again,
 * which happens when half of it is.
 */
#include "gpu/layout.h"
#include "gpu/octrees.h"

/* A share of what a batch has that is left free behind it, where there are others. */
#define SLACK 16u

/* Places that may be lost in any case. */
#define LOST 65536u

bool lmi_gpu_is_behind(const lmi_gpu *gpu, uint32_t batch)
{
    return batch < gpu->batch_count && gpu->batch[batch].valid && gpu->batch[batch].brought != gpu->serial;
}

void lmi_gpu_void(lmi_gpu *gpu, bool laid)
{
    for (uint32_t n = 0; n < gpu->batch_count; n++) {
        gpu->batch[n].valid = false;
        gpu->batch[n].laid = gpu->batch[n].laid && laid;
    }
    gpu->mixed = false;
}

bool lmi_gpu_all_laid(const lm_world *world, const lmi_gpu *gpu)
{
    bool all = gpu->batch_count == world->batch_count;
    for (uint32_t n = 0; all && n < gpu->batch_count; n++) {
        all = gpu->batch[n].laid;
    }
    return all;
}

/* How much of each a batch wants. */
static void count_batch(const lm_world *world, uint32_t batch, uint32_t counts[LMI_GPU_COUNTS])
{
    const lmi_pack *pack = &world->batches[batch].pack;
    memset(counts, 0, LMI_GPU_COUNTS * sizeof *counts);
    counts[LMI_GPU_PARTICLES] = pack->particle_blocks * LMI_BLOCK;
    counts[LMI_GPU_LANE_BLOCKS] = pack->lane_blocks;
    counts[LMI_GPU_ROWS] = pack->rows;
    counts[LMI_GPU_LIST_ROWS] = pack->list_rows;
    counts[LMI_GPU_SHARES] = pack->shares;
    if (world->has_octrees) {
        lmi_gpu_count_octrees(world, batch, counts);
    }
}

/* A batch that goes elsewhere because it has outgrown its room is likely to go on growing. */
#define GROWING 2u

bool lmi_gpu_can_patch(const lm_world *world, const lmi_gpu *gpu)
{
    uint64_t live[LMI_GPU_COUNTS] = {0}, most[LMI_GPU_COUNTS];
    bool some = false, few = true;
    for (int k = 0; k < LMI_GPU_COUNTS; k++) {
        most[k] = gpu->end[k];
    }
    for (uint32_t n = 0; n < world->batch_count; n++) {
        bool valid = n < gpu->batch_count && gpu->batch[n].valid;
        uint32_t counts[LMI_GPU_COUNTS];
        if (!valid) {
            count_batch(world, n, counts);
        }
        some = some || (valid && world->batches[n].body_count > 0);
        for (int k = 0; k < LMI_GPU_COUNTS; k++) {
            live[k] += valid ? gpu->batch[n].room[k] : counts[k];
            most[k] += valid || counts[k] == 0 ? 0 : counts[k] + counts[k] / GROWING + 16;
        }
    }
    for (int k = 0; k < LMI_GPU_COUNTS; k++) {
        few = few && most[k] <= 2 * live[k] + LOST;
    }
    return some && few && !gpu->limits.whole && gpu->plan &&
           lmi_gpu_octrees_last(world, gpu, most[LMI_GPU_NODE_BLOCKS]) && lmi_gpu_plan_lasts(world, gpu);
}

/* Places are whole blocks of particles. */
static uint32_t with_slack(uint32_t count, uint32_t share) { return (count + count / share + 15) / 16 * 16; }

bool lmi_gpu_place_batches(lm_world *world, lmi_gpu *gpu)
{
    void *batches = gpu->batch;
    bool ok = lmi_reserve(&world->memory, &batches, &gpu->batch_capacity, world->batch_count, sizeof *gpu->batch);
    gpu->batch = batches;
    if (!ok) {
        return false;
    }
    if (gpu->whole) {
        memset(gpu->end, 0, sizeof gpu->end);
        gpu->batch_count = 0;
    }
    for (uint32_t n = gpu->batch_count; n < world->batch_count; n++) {
        gpu->batch[n] = (lmi_gpu_batch){.laid = false};
    }
    gpu->batch_count = world->batch_count;
    for (uint32_t n = 0; n < gpu->batch_count; n++) {
        lmi_gpu_batch *batch = &gpu->batch[n];
        uint32_t counts[LMI_GPU_COUNTS];
        memset(batch->left_room, 0, sizeof batch->left_room);
        if (!batch->valid) {
            count_batch(world, n, counts);
        }
        for (int k = 0; !batch->valid && k < LMI_GPU_COUNTS; k++) {
            if (counts[k] > batch->room[k] || gpu->whole) {
                batch->left[k] = batch->first[k];
                batch->left_room[k] = batch->room[k];
                batch->first[k] = gpu->end[k];
                batch->room[k] =
                    gpu->batch_count == 1 ? counts[k] : with_slack(counts[k], gpu->whole ? SLACK : GROWING);
                gpu->end[k] += batch->room[k];
            }
        }
    }
    gpu->particles = gpu->end[LMI_GPU_PARTICLES];
    return true;
}

/* --- records --- */

static bool reserve_bodies(lm_world *world, lmi_gpu *gpu)
{
    const uint32_t most = world->bodies.alive > gpu->body_count ? world->bodies.alive : gpu->body_count;
    void *records = gpu->records, *slots = gpu->slots, *batches = gpu->batch_of, *renumber = gpu->renumber;
    bool ok = lmi_reserve(&world->memory, &records, &gpu->body_capacity, most, sizeof *gpu->records) &&
              lmi_reserve(&world->memory, &slots, &gpu->slot_capacity, most, sizeof *gpu->slots) &&
              lmi_reserve(&world->memory, &batches, &gpu->batch_of_capacity, most, sizeof *gpu->batch_of) &&
              lmi_reserve(&world->memory, &renumber, &gpu->renumber_capacity, most, sizeof *gpu->renumber);
    gpu->records = records;
    gpu->slots = slots;
    gpu->batch_of = batches;
    gpu->renumber = renumber;
    return ok;
}

/* The bodies that are awake, by slot: all in `count`, lattices in the result. */
static uint32_t count_bodies(const lm_world *world, uint32_t *count)
{
    uint32_t lattices = 0;
    *count = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        *count += body->batch != LMI_NONE;
        lattices += body->batch != LMI_NONE && body->lattice;
    }
    return lattices;
}

/* Who has which record, when those who can keep theirs have kept it: slots by record, LMI_GPU_NONE where there is still nobody. */
static void keep_records(const lm_world *world, lmi_gpu *gpu, uint32_t lattices, uint32_t count, uint32_t *slots,
                         bool *settled)
{
    memset(slots, 0xff, count * sizeof *slots);
    for (uint32_t n = 0; !gpu->whole && n < gpu->body_count && n < count; n++) {
        const uint32_t slot = gpu->slots[n];
        const lmi_body *body = lmi_pool_used(&world->bodies, slot) ? lmi_body_at(world, slot) : NULL;
        if (body && body->batch != LMI_NONE && !body->lattice == (n >= lattices)) {
            slots[n] = slot;
            settled[slot] = true;
        }
    }
}

/* Lattices first, so that their kernels see them side by side; else in the order of slots, but that who has a record keeps it. */
static void give_records(const lm_world *world, uint32_t lattices, uint32_t *slots, const bool *settled)
{
    uint32_t next[2] = {0, lattices};
    LMI_POOL_EACH(&world->bodies, slot)
    {
        const lmi_body *body = lmi_body_at(world, slot);
        uint32_t *at = &next[!body->lattice];
        if (body->batch == LMI_NONE || settled[slot]) {
            continue;
        }
        while (slots[*at] != LMI_GPU_NONE) {
            ++*at;
        }
        slots[*at] = slot;
    }
}

/* Where the records of bodies that stay have gone: the host's copies follow, and so do the device's. `home`: [slots] record. */
static bool move_records(lmi_gpu *gpu, const uint32_t *slots, uint32_t count, uint32_t *home, lmi_gpu_body *copies,
                         uint32_t *from)
{
    bool moved = false;
    memcpy(copies, gpu->records, gpu->body_count * sizeof *copies);
    for (uint32_t n = 0; n < count; n++) {
        home[slots[n]] = n;
        from[n] = LMI_GPU_NONE;
    }
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        uint32_t to = gpu->batch[gpu->batch_of[n]].valid ? home[gpu->slots[n]] : LMI_GPU_NONE;
        gpu->renumber[n] = to;
        if (to != LMI_GPU_NONE) {
            gpu->records[to] = copies[n];
            from[to] = n;
            moved = moved || to != n;
        }
    }
    return moved ? lmi_gpu_rearrange(gpu, &gpu->bodies, from, count, sizeof *copies)
                 : lmi_gpu_grow(gpu, &gpu->bodies, count * sizeof *copies);
}

bool lmi_gpu_place_bodies(lm_world *world, lmi_gpu *gpu)
{
    uint32_t count, lattices = count_bodies(world, &count), all = world->bodies.slots;
    if (!reserve_bodies(world, gpu)) {
        return false;
    }
    lmi_memory *memory = &world->memory;
    uint32_t *slots = lmi_allocate_plain(memory, count + 1, sizeof *slots);
    uint32_t *home = lmi_allocate_plain(memory, all + 1, sizeof *home);
    uint32_t *from = lmi_allocate_plain(memory, count + 1, sizeof *from);
    bool *settled = lmi_allocate(memory, all + 1, sizeof *settled);
    lmi_gpu_body *copies = lmi_allocate_plain(memory, gpu->body_count + 1, sizeof *copies);
    const uint32_t before = gpu->body_count;
    bool ok = slots && home && from && settled && copies;
    if (ok) {
        keep_records(world, gpu, lattices, count, slots, settled);
        give_records(world, lattices, slots, settled);
        memset(home, 0xff, all * sizeof *home);
        ok = gpu->whole || move_records(gpu, slots, count, home, copies, from);
    }
    for (uint32_t n = 0; ok && n < count; n++) {
        gpu->slots[n] = slots[n];
        gpu->batch_of[n] = lmi_body_at(world, slots[n])->batch;
    }
    gpu->body_count = ok ? count : gpu->body_count;
    gpu->lattice_count = ok ? lattices : gpu->lattice_count;
    lmi_release(memory, slots, count + 1, sizeof *slots);
    lmi_release(memory, home, all + 1, sizeof *home);
    lmi_release(memory, from, count + 1, sizeof *from);
    lmi_release(memory, settled, all + 1, sizeof *settled);
    lmi_release(memory, copies, before + 1, sizeof *copies);
    return ok;
}

void lmi_gpu_places_taken(lmi_gpu *gpu)
{
    for (uint32_t n = 0; n < gpu->batch_count; n++) {
        lmi_gpu_batch *batch = &gpu->batch[n];
        batch->brought = batch->valid ? batch->brought : gpu->serial; /* what has just gone over is here as well */
        batch->laid = batch->valid = true;
    }
    gpu->mixed = false;
}

bool lmi_gpu_next_run(const lmi_gpu *gpu, lmi_gpu_wanted *wanted, lmi_gpu_count count, uint32_t *begin, uint32_t *end)
{
    while (*begin < gpu->batch_count && !wanted(&gpu->batch[*begin])) {
        ++*begin;
    }
    *end = *begin;
    for (; *end < gpu->batch_count && wanted(&gpu->batch[*end]); ++*end) {
        const lmi_gpu_batch *last = &gpu->batch[*end - (*end > *begin)];
        if (*end > *begin && gpu->batch[*end].first[count] != last->first[count] + last->room[count]) {
            break;
        }
    }
    return *end > *begin;
}
