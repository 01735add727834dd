/*
 * Touch points on meshes and height maps: these are met on the way from where points were (kernels/solve_walls.cl).
 */
#include "gpu/solve.h"

#include "gpu/gpu_meet.h"

static const size_t group[2] = {64, 1};

const lmi_gpu_walls *lmi_gpu_walls_there(const lmi_gpu *gpu)
{
    static const lmi_gpu_walls none;
    return gpu->walled ? gpu->walls : &none;
}

bool lmi_gpu_solve_begin(lmi_gpu *gpu, double h)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const float seconds = (float)h;
    if (!gpu->meets || !s->grounds) {
        return true;
    }
    const lmi_gpu_argument starts[] = {
        LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(gpu->bodies),
        LMI_GPU_HOLD_ARGUMENTS,     LMI_GPU_BUFFER(gpu->x),    LMI_GPU_BUFFER(gpu->v),
        LMI_GPU_VALUE(seconds),     LMI_GPU_BUFFER(s->behind), LMI_GPU_BUFFER(s->starts)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return LMI_GPU_RUN(s->starts_kernel, starts, bodies, group);
}

bool lmi_gpu_solve_behind(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_walls *w = lmi_gpu_walls_there(gpu);
    const cl_uint points = m->point_count, rules = step->world->rule_count;
    const double seconds = step->h;
    if (!s->grounds) {
        return true;
    }
    const lmi_gpu_argument behind[] = {
        LMI_GPU_VALUE(points),     LMI_GPU_BUFFER(m->owner),    LMI_GPU_BUFFER(m->meeters),
        LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_HOLD_ARGUMENTS,
        LMI_GPU_WALL_ARGUMENTS,    LMI_GPU_BUFFER(gpu->x),      LMI_GPU_BUFFER(s->behind)};
    const size_t of_points[2] = {(points + 63) / 64, 1};
    return LMI_GPU_RUN(s->behind_kernel, behind, of_points, group);
}
