/*
 * The launches of bodies that answer as a whole, for some share (kernels/solve_whole.cl).
 */
#include "gpu/solve.h"

#include "gpu/meet.h"
#include "step/soft.h"

#define RUN(kernel, arguments, groups, group)                                                                          \
    lmi_gpu_run(gpu, kernel, arguments, sizeof(arguments) / sizeof *(arguments), groups, group)

static const size_t group[2] = {64, 1}, wide[2] = {256, 1}, one[2] = {1, 1};

bool lmi_gpu_push_begin(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_argument push[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->x),
                                     LMI_GPU_BUFFER(gpu->v), LMI_GPU_BUFFER(s->pushes)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return RUN(s->push_kernel, push, bodies, group);
}

bool lmi_gpu_whole_arrange(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    lmi_gpu_solver *s = gpu->solver;
    const size_t u = sizeof(uint32_t), room = s->contact_room;
    const float none[2] = {0.0f, 0.0f};
    if (!lmi_gpu_write(gpu, &s->sweeps, 0, none, sizeof none) || s->whole_count == 0) {
        return gpu->status == CL_SUCCESS;
    }
    if (!lmi_gpu_reserve(gpu, &s->unsorted, 2 * room * u) || !lmi_gpu_reserve(gpu, &s->chains, 2 * room * u) ||
        !lmi_gpu_reserve(gpu, &s->order, room * u) || !lmi_gpu_reserve(gpu, &s->levels, (room + 2) * u)) {
        return false;
    }
    const cl_uint count = m->meeter_count;
    const lmi_gpu_argument chain[] = {LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(s->listed), LMI_GPU_BUFFER(s->contacts),
                                      LMI_GPU_BUFFER(s->unsorted), LMI_GPU_BUFFER(s->chains)};
    const lmi_gpu_argument merge[] = {LMI_GPU_VALUE(count),       LMI_GPU_BUFFER(s->solids),
                                      LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(gpu->bodies),
                                      LMI_GPU_BUFFER(s->chains),  LMI_GPU_BUFFER(s->contacts)};
    const lmi_gpu_argument levels[] = {
        LMI_GPU_VALUE(count),     LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(s->chains), LMI_GPU_BUFFER(s->contacts),
        LMI_GPU_BUFFER(s->heads), LMI_GPU_BUFFER(s->order),  LMI_GPU_BUFFER(s->levels)};
    const size_t bodies[2] = {count, 1}, few[2] = {(count + 63) / 64, 1};
    return RUN(s->chain_kernel, chain, bodies, group) && RUN(s->merge_kernel, merge, few, group) &&
           RUN(s->levels_kernel, levels, one, wide);
}

bool lmi_gpu_whole_sweep(lmi_gpu *gpu, lmi_gpu_sweep mode, uint32_t first, uint32_t end, float h)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint how = mode, from = first, to = end;
    const cl_uint passes = mode == LMI_GPU_SWEEP_VELOCITIES  ? LMI_SOFT_PASSES
                           : mode == LMI_GPU_SWEEP_POSITIONS ? LMI_SOFT_SHIFTS
                                                             : 0;
    const lmi_gpu_argument sweep[] = {LMI_GPU_VALUE(how),
                                      LMI_GPU_VALUE(from),
                                      LMI_GPU_VALUE(to),
                                      LMI_GPU_VALUE(passes),
                                      LMI_GPU_VALUE(h),
                                      LMI_GPU_BUFFER(m->point_first),
                                      LMI_GPU_BUFFER(m->point_rider),
                                      LMI_GPU_BUFFER(m->point_weight),
                                      LMI_GPU_BUFFER(m->map_first),
                                      LMI_GPU_BUFFER(m->map_rider),
                                      LMI_GPU_BUFFER(m->map_hold),
                                      LMI_GPU_BUFFER(s->corners),
                                      LMI_GPU_BUFFER(s->order),
                                      LMI_GPU_BUFFER(s->levels),
                                      LMI_GPU_BUFFER(s->pushes),
                                      LMI_GPU_BUFFER(s->contacts),
                                      LMI_GPU_BUFFER(gpu->x),
                                      LMI_GPU_BUFFER(gpu->v),
                                      LMI_GPU_BUFFER(s->warmth),
                                      LMI_GPU_BUFFER(s->sweeps)};
    return s->whole_count == 0 || RUN(s->sweep_kernel, sweep, one, wide);
}

bool lmi_gpu_push_end(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_argument end[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->pushes),
                                    LMI_GPU_BUFFER(gpu->x), LMI_GPU_BUFFER(gpu->v)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return s->whole_count == 0 || RUN(s->end_kernel, end, bodies, group);
}
