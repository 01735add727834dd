/*
 * The launches of bodies that answer as a whole, for some share (kernels/solve_whole.cl, solve_sweep.cl).
 */
#include "gpu/solve.h"

#include "contact/contact.h"
#include "contact/soft.h"
#include "gpu/gpu_meet.h"

static const size_t group[2] = {64, 1}, wide[2] = {256, 1}, one[2] = {1, 1};

bool lmi_gpu_push_begin(lmi_gpu *gpu, bool last)
{
    const cl_uint at_last = last;
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_argument push[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(gpu->bodies),
                                     LMI_GPU_BUFFER(gpu->x),     LMI_GPU_BUFFER(gpu->v),
                                     LMI_GPU_VALUE(at_last),     LMI_GPU_BUFFER(s->pushes)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return LMI_GPU_RUN(s->push_kernel, push, bodies, group);
}

/* Whole contacts in the order in which they are processed. */
static bool arrange(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint count = m->meeter_count, alone = s->alone;
    const lmi_gpu_argument chain[] = {LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(s->listed), LMI_GPU_BUFFER(s->contacts),
                                      LMI_GPU_BUFFER(s->unsorted), LMI_GPU_BUFFER(s->chains)};
    const lmi_gpu_argument merge[] = {LMI_GPU_VALUE(count),       LMI_GPU_BUFFER(s->solids),
                                      LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(gpu->bodies),
                                      LMI_GPU_BUFFER(s->chains),  LMI_GPU_BUFFER(s->contacts)};
    const lmi_gpu_argument groups[] = {
        LMI_GPU_BUFFER(m->meeters),       LMI_GPU_VALUE(count),      LMI_GPU_BUFFER(s->solids),
        LMI_GPU_BUFFER(m->partner_lists), LMI_GPU_BUFFER(s->pushes), LMI_GPU_VALUE(alone),
        LMI_GPU_BUFFER(s->groups),        LMI_GPU_BUFFER(s->roots),  LMI_GPU_BUFFER(s->members)};
    const lmi_gpu_argument levels[] = {
        LMI_GPU_BUFFER(s->roots),  LMI_GPU_BUFFER(s->groups),   LMI_GPU_BUFFER(s->members), LMI_GPU_BUFFER(s->solids),
        LMI_GPU_BUFFER(s->chains), LMI_GPU_BUFFER(s->contacts), LMI_GPU_BUFFER(s->heads),   LMI_GPU_BUFFER(s->order),
        LMI_GPU_BUFFER(s->levels), LMI_GPU_BUFFER(s->found)};
    const size_t bodies[2] = {count, 1}, few[2] = {(count + 63) / 64, 1};
    return LMI_GPU_RUN(s->chain_kernel, chain, bodies, group) && LMI_GPU_RUN(s->merge_kernel, merge, few, group) &&
           LMI_GPU_RUN(s->groups_kernel, groups, one, wide) && LMI_GPU_RUN(s->levels_kernel, levels, bodies, group);
}

/* How many levels are worth it. The host goes through contacts one after the other as well, but does not wait for memory: a level
 * takes an H200 1.9 microseconds a sweep, as long as 28 contacts take the host. To share the work instead costs it as much as a
 * level for 1,500 particles. Levels grow more slowly than contacts, so that this leaves heaps of few bodies to the host, and not
 * those of thousands. */
static uint32_t levels_allowed(const lmi_gpu *gpu)
{
    uint32_t levels = 4 + gpu->solver->whole_count / 28 + gpu->particles / 1500;
    return levels > gpu->limits.levels ? levels : gpu->limits.levels;
}

bool lmi_gpu_whole_arrange(lmi_gpu *gpu, bool last, cl_uint *stop)
{
    lmi_gpu_solver *s = gpu->solver;
    const size_t u = sizeof(uint32_t), room = s->contact_room;
    const cl_int none[4] = {0, 0, 0, 0};
    cl_uint found[4] = {0, 0, 0, 0};
    s->alone = last;
    bool ok = lmi_gpu_write(gpu, &s->sweeps, 0, none, sizeof none);
    if (!ok || s->whole_count == 0) {
        return ok;
    }
    ok = lmi_gpu_reserve(gpu, &s->unsorted, 2 * room * u) && lmi_gpu_reserve(gpu, &s->chains, 2 * room * u) &&
         lmi_gpu_reserve(gpu, &s->order, room * u) &&
         lmi_gpu_reserve(gpu, &s->levels, (room + gpu->meet->meeter_count + 1) * u) && arrange(gpu) &&
         lmi_gpu_read(gpu, &s->found, 0, found, sizeof found);
    s->most_levels = last ? s->most_levels : found[3];
    s->last_whole = last ? s->whole_count : 0;
    *stop |= found[3] > levels_allowed(gpu) ? LMI_GPU_CHAINED : 0;
    return ok;
}

static bool sweep(lmi_gpu *gpu, lmi_gpu_sweep mode, cl_uint n, float h)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint how = mode, most = mode == LMI_GPU_SWEEP_VELOCITIES  ? LMI_SWEEPS
                                     : mode == LMI_GPU_SWEEP_POSITIONS ? 2 * LMI_SWEEPS
                                                                       : 1;
    const cl_uint passes = mode == LMI_GPU_SWEEP_VELOCITIES  ? LMI_SOFT_PASSES
                           : mode == LMI_GPU_SWEEP_POSITIONS ? LMI_SOFT_SHIFTS
                                                             : 0;
    const lmi_gpu_argument sweep[] = {LMI_GPU_VALUE(how),
                                      LMI_GPU_VALUE(n),
                                      LMI_GPU_VALUE(passes),
                                      LMI_GPU_VALUE(most),
                                      LMI_GPU_VALUE(h),
                                      LMI_GPU_BUFFER(m->point_first),
                                      LMI_GPU_BUFFER(m->point_rider),
                                      LMI_GPU_BUFFER(m->point_weight),
                                      LMI_GPU_BUFFER(m->map_first),
                                      LMI_GPU_BUFFER(m->map_rider),
                                      LMI_GPU_BUFFER(m->map_hold),
                                      LMI_GPU_BUFFER(s->corners),
                                      LMI_GPU_BUFFER(s->roots),
                                      LMI_GPU_BUFFER(s->groups),
                                      LMI_GPU_BUFFER(s->members),
                                      LMI_GPU_BUFFER(s->order),
                                      LMI_GPU_BUFFER(s->levels),
                                      LMI_GPU_BUFFER(s->pushes),
                                      LMI_GPU_BUFFER(s->contacts),
                                      LMI_GPU_BUFFER(gpu->x),
                                      LMI_GPU_BUFFER(gpu->v),
                                      LMI_GPU_BUFFER(s->warmth),
                                      LMI_GPU_BUFFER(s->sweeps)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return LMI_GPU_RUN(s->sweep_kernel, sweep, bodies, group);
}

/* Every so many sweeps the host asks whether there is anything left to do: launches that do nothing cost something too. */
#define SWEEPS_BETWEEN 12u

bool lmi_gpu_whole_sweep(lmi_gpu *gpu, lmi_gpu_sweep mode, uint32_t first, uint32_t end, float h)
{
    const lmi_gpu_solver *s = gpu->solver;
    bool ok = true, moving = s->whole_count > 0 && (first == 0 || !s->alone);
    end = s->alone ? 1 : end; /* which does all of them */
    for (uint32_t n = first; ok && moving && n < end; n++) {
        ok = sweep(gpu, mode, n, h);
        if (ok && n + 1 < end && (n - first) % SWEEPS_BETWEEN == SWEEPS_BETWEEN - 1) {
            cl_int state[4];
            ok = lmi_gpu_read(gpu, &s->sweeps, 0, state, sizeof state);
            moving = state[n % 3] != 0; /* a sweep that was not done has changed nothing */
        }
    }
    return ok;
}

bool lmi_gpu_push_end(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_argument end[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->pushes),
                                    LMI_GPU_BUFFER(gpu->x), LMI_GPU_BUFFER(gpu->v)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return s->whole_count == 0 || LMI_GPU_RUN(s->end_kernel, end, bodies, group);
}
