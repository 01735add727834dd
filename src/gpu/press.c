#include "gpu/press.h"

#include "gpu/account.h"
#include "gpu/gpu_meet.h"
#include "gpu/solve.h"

static const size_t group[2] = {64, 1};

static bool find_kernels(lmi_gpu *gpu, lmi_gpu_presses *p)
{
    cl_program program = gpu->solver->program;
    const lmi_gpu_named kernels[] = {{&p->find, "press_find"},
                                     {&p->bound, "press_bound"},
                                     {&p->share, "press_share"},
                                     {&p->whole, "press_whole"},
                                     {&p->done, "press_done"}};
    return LMI_GPU_FIND(program, kernels);
}

bool lmi_gpu_press_lay_out(lmi_gpu *gpu)
{
    if (!gpu->presses) {
        return true;
    }
    if (!gpu->pressing) {
        gpu->pressing = lmi_gpu_make_part(gpu, sizeof *gpu->pressing, NULL);
    }
    return gpu->pressing && find_kernels(gpu, gpu->pressing) &&
           lmi_gpu_reserve(gpu, &gpu->pressing->before, (size_t)gpu->particles * 4 * sizeof(float));
}

bool lmi_gpu_press_find(lmi_gpu *gpu, float h)
{
    const lmi_gpu_presses *p = gpu->pressing;
    const cl_uint count = gpu->solver->contact_count;
    if (!gpu->presses) {
        return true;
    }
    const lmi_gpu_argument find[] = {LMI_GPU_VALUE(count), LMI_GPU_BUFFER(gpu->meet->meeters),
                                     LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_VALUE(h),
                                     LMI_GPU_BUFFER(gpu->solver->contacts)};
    const size_t contacts[2] = {(count + 63) / 64, 1};
    return LMI_GPU_RUN(p->find, find, contacts, group);
}

bool lmi_gpu_press_begin(lmi_gpu *gpu, float h)
{
    const lmi_gpu_presses *p = gpu->pressing;
    const size_t state = (size_t)gpu->particles * 4 * sizeof(float);
    const cl_uint count = gpu->solver->contact_count;
    const lmi_gpu_argument bound[] = {LMI_GPU_VALUE(count), LMI_GPU_VALUE(h), LMI_GPU_BUFFER(gpu->solver->contacts)};
    const size_t contacts[2] = {(count + 63) / 64, 1};
    return LMI_GPU_RUN(p->bound, bound, contacts, group) && lmi_gpu_account_pressed(gpu) &&
           (gpu->solver->whole_count == 0 || lmi_gpu_copy(gpu, &gpu->v, &p->before, state));
}

bool lmi_gpu_press_end(lmi_gpu *gpu)
{
    const lmi_gpu_presses *p = gpu->pressing;
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint count = s->contact_count;
    const lmi_gpu_argument share[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(gpu->bodies),
                                      LMI_GPU_BUFFER(s->pushes), LMI_GPU_BUFFER(p->before), LMI_GPU_BUFFER(gpu->v)};
    const lmi_gpu_argument whole[] = {LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(s->listed), LMI_GPU_BUFFER(s->contacts),
                                      LMI_GPU_BUFFER(s->pushes)};
    const lmi_gpu_argument done[] = {LMI_GPU_VALUE(count), LMI_GPU_BUFFER(s->contacts), LMI_GPU_BUFFER(s->sweeps)};
    const size_t bodies[2] = {m->meeter_count, 1}, contacts[2] = {(count + 63) / 64, 1};
    return (s->whole_count == 0 ||
            (LMI_GPU_RUN(p->share, share, bodies, group) && LMI_GPU_RUN(p->whole, whole, bodies, group))) &&
           LMI_GPU_RUN(p->done, done, contacts, group);
}
