#include "gpu/account.h"
#include "world/in_step.h"

#include "contact/pairs.h"
#include "contact/touching.h"
#include "gpu/gpu_meet.h"
#include "gpu/layout.h"
#include "gpu/solve.h"
#include "gpu/wall_records.h"
#include "gpu/walls.h"

/* The macros of the same names in the kernels' texts. */
#define ACCOUNT_ARGUMENTS                                                                                              \
    LMI_GPU_VALUE(events), LMI_GPU_BUFFER(a->lists), LMI_GPU_BUFFER(a->sums), LMI_GPU_BUFFER(a->counts)
#define HOLD_ARGUMENTS                                                                                                 \
    LMI_GPU_BUFFER(m->point_first), LMI_GPU_BUFFER(m->point_rider), LMI_GPU_BUFFER(m->point_weight),                   \
        LMI_GPU_BUFFER(m->map_first), LMI_GPU_BUFFER(m->map_rider), LMI_GPU_BUFFER(m->map_hold)

static const size_t group[2] = {64, 1}, wide[2] = {256, 1}, one[2] = {1, 1};

/* --- what no step changes --- */

/* Kernels of a program that is there from now on. */
static bool find_kernels(lmi_gpu *gpu, lmi_gpu_accounts *a)
{
    const lmi_gpu_named met[] = {
        {&a->offsets, "account_offsets"}, {&a->gather, "account_gather"}, {&a->sleepers_near, "account_sleepers"}};
    const lmi_gpu_named solved[] = {{&a->solved, "account_solved"}, {&a->inner, "account_inner"}};
    return LMI_GPU_FIND(gpu->meet->program, met) && LMI_GPU_FIND(gpu->solver->program, solved);
}

static bool find_slots(lm_world *world, lmi_gpu *gpu, lmi_gpu_accounts *a)
{
    void *slots = a->slots;
    bool ok = lmi_reserve(&world->memory, &slots, &a->slot_capacity, gpu->meet->meeter_count, sizeof *a->slots);
    uint32_t count = 0;
    a->slots = slots;
    for (uint32_t n = 0; ok && n < gpu->body_count; n++) {
        if (lmi_gpu_needs_solver(world, lmi_body_at(world, gpu->slots[n]))) {
            a->slots[count++] = gpu->slots[n];
        }
    }
    return ok;
}

static bool put_sleepers(lm_world *world, lmi_gpu *gpu, lmi_gpu_accounts *a)
{
    array sleepers = {0};
    bool ok = true;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        if (!ok || body->batch != LMI_NONE || !lmi_body_meets(body)) {
            continue;
        }
        lmi_gpu_sleeper *to = append(world, &sleepers, 1, sizeof *to);
        lmi_entry box = lmi_entry_of(body, n, gpu->h);
        ok = to != NULL;
        if (ok) {
            *to = (lmi_gpu_sleeper){.lower = {box.lower.x, box.lower.y, box.lower.z},
                                    .upper = {box.upper.x, box.upper.y, box.upper.z},
                                    .group = body->group,
                                    .mask = body->mask};
        }
    }
    a->sleeper_count = sleepers.count;
    ok = ok && put_array(gpu, &a->sleepers, &sleepers, sizeof(lmi_gpu_sleeper));
    drop(world, &sleepers, sizeof(lmi_gpu_sleeper));
    return ok;
}

static bool reserve(lmi_gpu *gpu, lmi_gpu_accounts *a)
{
    const size_t bodies = a->tells ? gpu->meet->meeter_count : 0, u = sizeof(uint32_t);
    const size_t sums = a->events ? bodies * LMI_GPU_TOLD * LMI_GPU_TOUCH_CHANNELS * sizeof(double) : 0;
    return lmi_gpu_reserve(gpu, &a->lists, bodies * LMI_GPU_TOLD * sizeof(lmi_gpu_told)) &&
           lmi_gpu_reserve(gpu, &a->sums, sums) && lmi_gpu_reserve(gpu, &a->counts, 2 * bodies * u) &&
           lmi_gpu_reserve(gpu, &a->first, bodies * u) && lmi_gpu_reserve(gpu, &a->found, 2 * u);
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_accounts *a = part;
    lmi_release(gpu->memory, a->entry, a->entry_capacity, sizeof *a->entry);
    lmi_release(gpu->memory, a->entry_sums, a->sum_capacity, sizeof *a->entry_sums);
    lmi_release(gpu->memory, a->slots, a->slot_capacity, sizeof *a->slots);
}

bool lmi_gpu_accounts_lay_out(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->meets) {
        return true;
    }
    if (!gpu->accounts) {
        gpu->accounts = lmi_gpu_make_part(gpu, sizeof *gpu->accounts, end);
    }
    lmi_gpu_accounts *a = gpu->accounts;
    if (!a || !find_kernels(gpu, a)) {
        return false;
    }
    a->tells = lmi_touchings_wanted(world);
    a->events = world->contact_events;
    a->fresh = true;
    return find_slots(world, gpu, a) && put_sleepers(world, gpu, a) && reserve(gpu, a);
}

/* --- a substep --- */

bool lmi_gpu_find_waking(lmi_gpu *gpu)
{
    const lmi_gpu_accounts *a = gpu->accounts;
    const cl_uint count = gpu->meet->meeter_count, sleepers = a->sleeper_count;
    const lmi_gpu_argument near[] = {LMI_GPU_BUFFER(gpu->meet->meeters), LMI_GPU_VALUE(count),
                                     LMI_GPU_BUFFER(a->sleepers), LMI_GPU_VALUE(sleepers), LMI_GPU_BUFFER(gpu->stop)};
    const size_t bodies[2] = {(count + 63) / 64, 1};
    return sleepers == 0 || LMI_GPU_RUN(a->sleepers_near, near, bodies, group);
}

/* Empty lists, where a step begins. */
static bool open_account(lmi_gpu *gpu, lmi_gpu_accounts *a)
{
    bool ok = !a->fresh || lmi_gpu_clear(gpu, &a->counts, 2 * gpu->meet->meeter_count * sizeof(uint32_t));
    a->fresh = false;
    return ok;
}

/* Contacts with other bodies, or with colliders. */
static bool account_solved(lmi_gpu *gpu, cl_uint walls)
{
    const lmi_gpu_accounts *a = gpu->accounts;
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint events = a->events;
    const lmi_gpu_argument solved[] = {LMI_GPU_VALUE(walls),
                                       LMI_GPU_BUFFER(m->meeters),
                                       LMI_GPU_BUFFER(s->solids),
                                       LMI_GPU_BUFFER(gpu->bodies),
                                       LMI_GPU_BUFFER(m->partner_lists),
                                       LMI_GPU_BUFFER(s->near),
                                       LMI_GPU_BUFFER(s->pushes),
                                       HOLD_ARGUMENTS,
                                       LMI_GPU_BUFFER(s->corners),
                                       LMI_GPU_BUFFER(gpu->x),
                                       LMI_GPU_BUFFER(s->contacts),
                                       ACCOUNT_ARGUMENTS};
    const size_t bodies[2] = {m->meeter_count, 1};
    return LMI_GPU_RUN(a->solved, solved, bodies, group);
}

bool lmi_gpu_account_solved(lmi_gpu *gpu)
{
    lmi_gpu_accounts *a = gpu->accounts;
    return !a->tells || (open_account(gpu, a) && account_solved(gpu, 0) && (!a->events || account_solved(gpu, 1)));
}

bool lmi_gpu_account_pressed(lmi_gpu *gpu)
{
    lmi_gpu_accounts *a = gpu->accounts;
    return !a->tells || (open_account(gpu, a) && account_solved(gpu, 0));
}

bool lmi_gpu_account_inner(lmi_gpu *gpu, const lmi_step *step)
{
    lmi_gpu_accounts *a = gpu->accounts;
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_walls *w = lmi_gpu_walls_there(gpu);
    const cl_uint events = a->events, rules = step->world->rule_count;
    const double seconds = step->h;
    const lmi_gpu_argument inner[] = {
        LMI_GPU_BUFFER(m->meeters),  LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->pushes),
        LMI_GPU_BUFFER(s->inner_of), LMI_GPU_WALL_ARGUMENTS,    LMI_GPU_BUFFER(w->start_of), LMI_GPU_BUFFER(gpu->x),
        LMI_GPU_BUFFER(gpu->v),      ACCOUNT_ARGUMENTS};
    const size_t bodies[2] = {m->meeter_count, 1};
    return !a->events || (open_account(gpu, a) && LMI_GPU_RUN(a->inner, inner, bodies, group));
}

/* --- at the end of a step --- */

static void put_entry(lm_world *world, const lmi_gpu_accounts *a, const lmi_gpu_told *entry, const double *from)
{
    const double none[LMI_GPU_TOUCH_CHANNELS] = {[LMI_GPU_TOUCH_WEIGHT] = LMI_UNPRESSED};
    const lmi_touching sums = lmi_gpu_touching_of(from ? from : none, entry->pressing);
    lmi_body *body = lmi_body_in_step(world, a->slots[entry->who]);
    if (entry->with & LMI_GPU_TOLD_WALL) {
        lmi_touched_walls(world, body, world->surfaces[entry->with & ~LMI_GPU_TOLD_WALL].slot, &sums);
    } else {
        lmi_touched_bodies(world, body, lmi_body_in_step(world, a->slots[entry->with]), &sums);
    }
}

/* Side by side, and over. */
static bool bring_entries(lm_world *world, lmi_gpu *gpu, lmi_gpu_accounts *a, uint32_t count)
{
    const cl_uint summed = a->events;
    const uint32_t numbers = a->events ? count * LMI_GPU_TOUCH_CHANNELS : 0;
    void *entry = a->entry, *sums = a->entry_sums;
    bool ok = lmi_reserve(&world->memory, &entry, &a->entry_capacity, count, sizeof *a->entry) &&
              lmi_reserve(&world->memory, &sums, &a->sum_capacity, numbers, sizeof *a->entry_sums);
    a->entry = entry;
    a->entry_sums = sums;
    ok = ok && lmi_gpu_reserve(gpu, &a->told, count * sizeof *a->entry) &&
         lmi_gpu_reserve(gpu, &a->told_sums, numbers * sizeof(double));
    const lmi_gpu_argument gather[] = {LMI_GPU_BUFFER(a->counts),   LMI_GPU_BUFFER(a->first), LMI_GPU_BUFFER(a->lists),
                                       LMI_GPU_BUFFER(a->sums),     LMI_GPU_VALUE(summed),    LMI_GPU_BUFFER(a->told),
                                       LMI_GPU_BUFFER(a->told_sums)};
    const size_t bodies[2] = {gpu->meet->meeter_count, 1};
    return ok && LMI_GPU_RUN(a->gather, gather, bodies, group) &&
           lmi_gpu_read(gpu, &a->told, 0, a->entry, count * sizeof *a->entry) &&
           lmi_gpu_read(gpu, &a->told_sums, 0, a->entry_sums, numbers * sizeof(double));
}

bool lmi_gpu_accounts_take(lm_world *world)
{
    lmi_gpu *gpu = world->gpu;
    lmi_gpu_accounts *a = gpu->accounts;
    if (!gpu->meets || !a->tells || a->fresh) {
        return true;
    }
    const cl_uint bodies = gpu->meet->meeter_count;
    const lmi_gpu_argument offsets[] = {LMI_GPU_BUFFER(a->counts), LMI_GPU_VALUE(bodies), LMI_GPU_BUFFER(a->first),
                                        LMI_GPU_BUFFER(a->found)};
    cl_uint found[2] = {0, 0};
    if (!LMI_GPU_RUN(a->offsets, offsets, one, wide) || !lmi_gpu_read(gpu, &a->found, 0, found, sizeof found) ||
        (found[0] && !bring_entries(world, gpu, a, found[0]))) {
        return false;
    }
    for (uint32_t n = 0; n < found[0]; n++) {
        put_entry(world, a, &a->entry[n], a->events ? a->entry_sums + (size_t)n * LMI_GPU_TOUCH_CHANNELS : NULL);
    }
    world->touchings->left_out += found[1];
    a->fresh = true;
    return true;
}
