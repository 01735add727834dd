#include "gpu/rest.h"
#include "world/in_step.h"

#include "contact/sleep.h"

typedef struct lmi_gpu_resting {
    cl_program program;
    cl_kernel chunks, bodies;
    lmi_gpu_buffer squares, fastest;
    float *speed; /* [bodies] squares, of this step */
    uint32_t capacity;
} lmi_gpu_resting;

bool lmi_gpu_rest_is_over(const lm_world *world)
{
    if (!world->sleep.enabled) {
        return false;
    }
    bool over = false;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        over = over || lmi_body_is_out(body) != (body->batch == LMI_NONE);
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        const lmi_mover *m = LMI_POOL_AT(&world->movers, lmi_mover, n);
        over =
            over || m->has_target || dvec_length(dvec_from(m->velocity)) > 0.0 || dvec_length(dvec_from(m->spin)) > 0.0;
    }
    return over;
}

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_resting *r)
{
    static const char *const texts[] = {"prelude.cl", "records.h", "rest.cl", NULL};
    const lmi_gpu_named kernels[] = {{&r->chunks, "rest_chunks"}, {&r->bodies, "rest_bodies"}};
    return lmi_gpu_build(world, gpu, &r->program, texts, NULL) && LMI_GPU_FIND(r->program, kernels);
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_resting *r = part;
    lmi_release(gpu->memory, r->speed, r->capacity, sizeof *r->speed);
}

static bool reserve(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->resting) {
        gpu->resting = lmi_gpu_make_part(gpu, sizeof *gpu->resting, end);
        if (!gpu->resting || !build(world, gpu, gpu->resting)) {
            return false;
        }
    }
    lmi_gpu_resting *r = gpu->resting;
    void *speed = r->speed;
    bool ok = lmi_reserve(&world->memory, &speed, &r->capacity, gpu->body_count, sizeof *r->speed);
    r->speed = speed;
    return ok && lmi_gpu_reserve(gpu, &r->squares, gpu->chunk_count * sizeof(float)) &&
           lmi_gpu_reserve(gpu, &r->fastest, gpu->body_count * sizeof(float));
}

static bool measure(lmi_gpu *gpu)
{
    const lmi_gpu_resting *r = gpu->resting;
    const cl_uint count = gpu->body_count;
    const lmi_gpu_argument chunks[] = {LMI_GPU_BUFFER(gpu->chunks), LMI_GPU_BUFFER(gpu->v), LMI_GPU_BUFFER(r->squares)};
    const lmi_gpu_argument bodies[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_VALUE(count), LMI_GPU_BUFFER(r->squares),
                                       LMI_GPU_BUFFER(r->fastest)};
    const size_t group[2] = {64, 1}, all[2] = {gpu->chunk_count, 1}, few[2] = {(count + 63) / 64, 1};
    return lmi_gpu_run(gpu, r->chunks, chunks, 3, all, group) && lmi_gpu_run(gpu, r->bodies, bodies, 4, few, group) &&
           lmi_gpu_read(gpu, &r->fastest, 0, r->speed, count * sizeof(float));
}

/* As watch_batch in contact/sleep.c. */
static float still_after(const lm_world *world, const lmi_body *body, float square, float seconds)
{
    bool slow = body->first_drag == LMI_NONE && square <= world->sleep.speed * world->sleep.speed;
    return slow ? fminf(body->still + seconds, 1e6f) : 0.0f;
}

bool lmi_gpu_rest_begins(lm_world *world, double seconds)
{
    lmi_gpu *gpu = world->gpu;
    if (!world->sleep.enabled) {
        return false;
    }
    if (!reserve(world, gpu) || !measure(gpu)) {
        lmi_gpu_lose(world, gpu->status == CL_SUCCESS ? "out of memory" : lmi_cl_text(gpu->status));
        return false;
    }
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        lmi_body *body = lmi_body_in_step(world, gpu->slots[n]);
        body->still = still_after(world, body, gpu->resting->speed[n], (float)seconds);
    }
    return lmi_sleep_is_due(world);
}
