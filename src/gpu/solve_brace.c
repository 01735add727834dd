/*
 * The launches of bodies that brace themselves (kernels/solve_brace.cl): contact/brace.c.
 */
#include "contact/braced.h"
#include "gpu/gpu_meet.h"
#include "gpu/solve.h"

static const size_t group[2] = {64, 1}, one[2] = {1, 1};

bool lmi_gpu_brace_lay_out(lmi_gpu *gpu)
{
    lmi_gpu_bracing *b = &gpu->solver->bracing;
    const size_t bodies = gpu->meet->meeter_count, u = sizeof(uint32_t), braces = LMI_BRACES * bodies;
    return lmi_gpu_reserve(gpu, &b->deepest, bodies * LMI_GPU_PARTNERS * u) &&
           lmi_gpu_reserve(gpu, &b->braces, braces * sizeof(lmi_gpu_brace)) &&
           lmi_gpu_reserve(gpu, &b->counts, bodies * u) && lmi_gpu_reserve(gpu, &b->braced, bodies * u) &&
           lmi_gpu_reserve(gpu, &b->list, (LMI_BRACES + LMI_GPU_PARTNERS) * bodies * u) &&
           lmi_gpu_reserve(gpu, &b->lengths, bodies * u) &&
           lmi_gpu_reserve(gpu, &b->ahead, 2 * braces * sizeof(double)) && lmi_gpu_reserve(gpu, &b->state, 4 * u) &&
           lmi_gpu_reserve(gpu, &b->shares, sizeof(float));
}

bool lmi_gpu_crush_find(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_argument crush[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(s->solids),
                                      LMI_GPU_BUFFER(s->moulds),  LMI_GPU_BUFFER(m->map_now),
                                      LMI_GPU_BUFFER(s->windows), LMI_GPU_BUFFER(s->window_riders),
                                      LMI_GPU_BUFFER(s->pushes)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return gpu->presses || LMI_GPU_RUN(s->crush_kernel, crush, bodies, group);
}

/* Which bodies brace themselves, and where: state[3] says whether any do. */
static bool find(lmi_gpu *gpu, cl_uint state[4])
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_bracing *b = &s->bracing;
    const cl_uint none[4] = {0, 0, 0, 0};
    const lmi_gpu_argument brace[] = {
        LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(s->solids),        LMI_GPU_BUFFER(gpu->bodies),
        LMI_GPU_BUFFER(s->moulds),  LMI_GPU_BUFFER(m->partner_lists), LMI_GPU_BUFFER(s->near),
        LMI_GPU_BUFFER(s->pushes),  LMI_GPU_BUFFER(b->deepest),       LMI_GPU_HOLD_ARGUMENTS,
        LMI_GPU_BUFFER(gpu->x),     LMI_GPU_BUFFER(s->contacts),      LMI_GPU_BUFFER(b->braces),
        LMI_GPU_BUFFER(b->counts),  LMI_GPU_BUFFER(b->braced),        LMI_GPU_BUFFER(b->state)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return lmi_gpu_write(gpu, &b->state, 0, none, sizeof none) &&
           lmi_gpu_clear(gpu, &b->braced, m->meeter_count * sizeof(uint32_t)) &&
           LMI_GPU_RUN(s->brace_kernel, brace, bodies, group) &&
           lmi_gpu_read(gpu, &b->state, 0, state, 4 * sizeof *state);
}

static bool measure(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_bracing *b = &s->bracing;
    const cl_uint count = m->meeter_count;
    const double h = (float)step->h, gravity = dvec_length(step->gravity);
    const lmi_gpu_argument braced[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(gpu->bodies),
                                       LMI_GPU_BUFFER(b->braced),  LMI_GPU_BUFFER(gpu->x),
                                       LMI_GPU_BUFFER(gpu->v),     LMI_GPU_BUFFER(s->pushes)};
    const lmi_gpu_argument arms[] = {LMI_GPU_VALUE(count),        LMI_GPU_VALUE(h),
                                     LMI_GPU_VALUE(gravity),      LMI_GPU_BUFFER(m->meeters),
                                     LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(m->partner_lists),
                                     LMI_GPU_BUFFER(s->pushes),   LMI_GPU_BUFFER(b->counts),
                                     LMI_GPU_BUFFER(b->braced),   LMI_GPU_BUFFER(b->braces),
                                     LMI_GPU_BUFFER(b->list),     LMI_GPU_BUFFER(b->lengths),
                                     LMI_GPU_BUFFER(b->ahead)};
    const lmi_gpu_argument steps[] = {LMI_GPU_VALUE(count),    LMI_GPU_BUFFER(s->pushes),  LMI_GPU_BUFFER(b->counts),
                                      LMI_GPU_BUFFER(b->list), LMI_GPU_BUFFER(b->lengths), LMI_GPU_BUFFER(b->braces)};
    const size_t bodies[2] = {count, 1}, braces[2] = LMI_GPU_GROUPS_OF(LMI_BRACES * count);
    return LMI_GPU_RUN(s->braced_kernel, braced, bodies, group) && LMI_GPU_RUN(s->arms_kernel, arms, braces, group) &&
           LMI_GPU_RUN(s->steps_kernel, steps, braces, group);
}

/* Every so many passes the host asks whether there is anything left to do: launches that do nothing cost something too. */
#define PASSES_BETWEEN 12u

static bool solve(lmi_gpu *gpu)
{
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_bracing *b = &s->bracing;
    const cl_uint count = gpu->meet->meeter_count;
    const size_t braces[2] = LMI_GPU_GROUPS_OF(LMI_BRACES * count);
    bool ok = true, more = true;
    for (cl_uint n = 0; ok && more && n < LMI_BRACE_PASSES; n++) {
        const lmi_gpu_argument pass[] = {
            LMI_GPU_VALUE(count),      LMI_GPU_VALUE(n),         LMI_GPU_BUFFER(s->pushes),
            LMI_GPU_BUFFER(b->counts), LMI_GPU_BUFFER(b->list),  LMI_GPU_BUFFER(b->lengths),
            LMI_GPU_BUFFER(b->braces), LMI_GPU_BUFFER(b->ahead), LMI_GPU_BUFFER(b->state)};
        ok = LMI_GPU_RUN(s->pass_kernel, pass, braces, group);
        if (ok && n % PASSES_BETWEEN == PASSES_BETWEEN - 1) {
            cl_uint state[4];
            ok = lmi_gpu_read(gpu, &b->state, 0, state, sizeof state);
            more = state[n % 3] != 0;
        }
    }
    return ok;
}

static bool give(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_bracing *b = &s->bracing;
    const cl_uint count = m->meeter_count, contacts = s->contact_count;
    const float h = (float)step->h;
    const lmi_gpu_argument share[] = {LMI_GPU_VALUE(count),     LMI_GPU_BUFFER(s->pushes),  LMI_GPU_BUFFER(b->counts),
                                      LMI_GPU_BUFFER(b->list),  LMI_GPU_BUFFER(b->lengths), LMI_GPU_BUFFER(b->braces),
                                      LMI_GPU_BUFFER(b->shares)};
    const lmi_gpu_argument give[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->pushes),
                                     LMI_GPU_BUFFER(b->counts),  LMI_GPU_BUFFER(b->braced),   LMI_GPU_BUFFER(b->list),
                                     LMI_GPU_BUFFER(b->lengths), LMI_GPU_BUFFER(b->braces),   LMI_GPU_BUFFER(b->shares),
                                     LMI_GPU_BUFFER(gpu->x),     LMI_GPU_BUFFER(gpu->v)};
    const lmi_gpu_argument renew[] = {
        LMI_GPU_VALUE(contacts),     LMI_GPU_VALUE(h),          LMI_GPU_HOLD_ARGUMENTS, LMI_GPU_BUFFER(m->meeters),
        LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(b->braced), LMI_GPU_BUFFER(gpu->x), LMI_GPU_BUFFER(gpu->v),
        LMI_GPU_BUFFER(s->contacts)};
    const size_t bodies[2] = {count, 1}, all[2] = LMI_GPU_GROUPS_OF(contacts);
    return LMI_GPU_RUN(s->share_kernel, share, one, group) && LMI_GPU_RUN(s->give_kernel, give, bodies, group) &&
           LMI_GPU_RUN(s->renew_kernel, renew, all, group);
}

bool lmi_gpu_brace_bodies(lmi_gpu *gpu, const lmi_step *step)
{
    cl_uint state[4] = {0, 0, 0, 0};
    if (gpu->presses || gpu->meet->map_count == 0) {
        return true;
    }
    if (!find(gpu, state)) {
        return false;
    }
    gpu->solver->bracing.substeps += state[3] != 0;
    return !state[3] || (measure(gpu, step) && solve(gpu) && give(gpu, step));
}
