#include "gpu/press.h"

#include "gpu/account.h"
#include "gpu/gpu_meet.h"
#include "gpu/solve.h"

#define RUN(kernel, arguments, groups, group)                                                                          \
    lmi_gpu_run(gpu, kernel, arguments, sizeof(arguments) / sizeof *(arguments), groups, group)

static const size_t group[2] = {64, 1};

static bool find_kernels(lmi_gpu *gpu, lmi_gpu_presses *p)
{
    cl_program program = gpu->solver->program;
    p->find = lmi_gpu_kernel(gpu, program, "press_find");
    p->bound = lmi_gpu_kernel(gpu, program, "press_bound");
    p->share = lmi_gpu_kernel(gpu, program, "press_share");
    p->whole = lmi_gpu_kernel(gpu, program, "press_whole");
    p->done = lmi_gpu_kernel(gpu, program, "press_done");
    return p->find && p->bound && p->share && p->whole && p->done;
}

bool lmi_gpu_press_lay_out(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->presses) {
        return true;
    }
    if (!gpu->pressing) {
        gpu->pressing = lmi_allocate(&world->memory, 1, sizeof *gpu->pressing);
        if (!gpu->pressing || !find_kernels(gpu, gpu->pressing)) {
            return false;
        }
    }
    return lmi_gpu_reserve(gpu, &gpu->pressing->before, (size_t)gpu->particles * 4 * sizeof(float));
}

void lmi_gpu_press_free(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_presses *p = gpu->pressing;
    if (!p) {
        return;
    }
    lmi_gpu_free(gpu, &p->before);
    cl_kernel const kernels[] = {p->find, p->bound, p->share, p->whole, p->done};
    for (size_t n = 0; n < sizeof kernels / sizeof *kernels; n++) {
        if (kernels[n]) {
            gpu->cl.clReleaseKernel(kernels[n]);
        }
    }
    lmi_release(&world->memory, p, 1, sizeof *p);
    gpu->pressing = NULL;
}

bool lmi_gpu_press_find(lmi_gpu *gpu, float h)
{
    const lmi_gpu_presses *p = gpu->pressing;
    const cl_uint count = gpu->solver->contact_count;
    if (!gpu->presses) {
        return true;
    }
    const lmi_gpu_argument find[] = {LMI_GPU_VALUE(count), LMI_GPU_BUFFER(gpu->meet->meeters), LMI_GPU_VALUE(h),
                                     LMI_GPU_BUFFER(gpu->solver->contacts)};
    const size_t contacts[2] = {(count + 63) / 64, 1};
    return RUN(p->find, find, contacts, group);
}

bool lmi_gpu_press_begin(lmi_gpu *gpu, float h)
{
    const lmi_gpu_presses *p = gpu->pressing;
    const size_t state = (size_t)gpu->particles * 4 * sizeof(float);
    const cl_uint count = gpu->solver->contact_count;
    const lmi_gpu_argument bound[] = {LMI_GPU_VALUE(count), LMI_GPU_VALUE(h), LMI_GPU_BUFFER(gpu->solver->contacts)};
    const size_t contacts[2] = {(count + 63) / 64, 1};
    return RUN(p->bound, bound, contacts, group) && lmi_gpu_account_pressed(gpu) &&
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
    return (s->whole_count == 0 || (RUN(p->share, share, bodies, group) && RUN(p->whole, whole, bodies, group))) &&
           RUN(p->done, done, contacts, group);
}
