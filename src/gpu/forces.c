#include "gpu/forces.h"

#include <string.h>

typedef struct lmi_gpu_forces {
    cl_program program;
    cl_kernel blow, jab, count;
    lmi_gpu_buffer flows, pushes, jabs, given, kept;
    lmi_gpu_flow *flow; /* of this substep */
    float *push;        /* [bodies][4] */
    lmi_gpu_jab *jabbed;
    uint32_t flow_capacity, push_capacity, jab_capacity;
    lm_dvec3 given_here; /* by forces on bodies and single particles, N s */
    bool applied;        /* in this substep */
} lmi_gpu_forces;

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_forces *f)
{
    static const char *const texts[] = {"prelude.cl", "records.h", "forces.cl", NULL};
    const lmi_gpu_named kernels[] = {{&f->blow, "blow"}, {&f->jab, "jab"}, {&f->count, "count"}};
    return lmi_gpu_build(world, gpu, &f->program, texts, NULL) && LMI_GPU_FIND(f->program, kernels);
}

static bool has_forces(const lm_world *world)
{
    bool any = world->force_count > 0;
    LMI_POOL_EACH(&world->fields, n)
    {
        any = any || LMI_POOL_AT(&world->fields, lm_field_def, n)->kind != LM_FIELD_UNIFORM;
    }
    return any;
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_forces *f = part;
    lmi_release(gpu->memory, f->flow, f->flow_capacity, sizeof *f->flow);
    lmi_release(gpu->memory, f->push, f->push_capacity, 4 * sizeof *f->push);
    lmi_release(gpu->memory, f->jabbed, f->jab_capacity, sizeof *f->jabbed);
}

bool lmi_gpu_forces_ready(lm_world *world, lmi_gpu *gpu)
{
    if (!has_forces(world)) {
        return true;
    }
    if (!gpu->forces) {
        gpu->forces = lmi_gpu_make_part(gpu, sizeof *gpu->forces, end);
        if (!gpu->forces || !build(world, gpu, gpu->forces)) {
            return false;
        }
    }
    lmi_gpu_forces *f = gpu->forces;
    void *flow = f->flow, *push = f->push, *jabbed = f->jabbed;
    bool ok = lmi_reserve(&world->memory, &flow, &f->flow_capacity, world->fields.alive, sizeof *f->flow) &&
              lmi_reserve(&world->memory, &push, &f->push_capacity, gpu->body_count, 4 * sizeof *f->push) &&
              lmi_reserve(&world->memory, &jabbed, &f->jab_capacity, world->force_count, sizeof *f->jabbed);
    f->flow = flow;
    f->push = push;
    f->jabbed = jabbed;
    return ok && lmi_gpu_reserve(gpu, &f->flows, world->fields.alive * sizeof *f->flow) &&
           lmi_gpu_reserve(gpu, &f->pushes, gpu->body_count * 4 * sizeof *f->push) &&
           lmi_gpu_reserve(gpu, &f->jabs, world->force_count * sizeof *f->jabbed) &&
           lmi_gpu_reserve(gpu, &f->given, gpu->chunk_count * 4 * sizeof(float)) &&
           lmi_gpu_reserve(gpu, &f->kept, (size_t)gpu->particles * 4 * sizeof(float));
}

static uint32_t describe_flows(const lmi_step *step, lmi_gpu_flow *to)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < step->flow_count; n++) {
        const lmi_flow *flow = &step->flows[n];
        if (flow->kind == LM_FIELD_UNIFORM) {
            continue;
        }
        to[count++] = (lmi_gpu_flow){.position = {flow->position.x, flow->position.y, flow->position.z},
                                     .vector = {flow->vector.x, flow->vector.y, flow->vector.z},
                                     .strength = flow->strength,
                                     .radius = flow->radius,
                                     .wind = flow->kind == LM_FIELD_WIND};
    }
    return count;
}

/* The forces of one body: what all its particles get, and what single ones do. Returns how many jabs there are now. */
static uint32_t describe_body(const lmi_step *step, lmi_gpu *gpu, uint32_t index, uint32_t jabs)
{
    const lm_world *world = step->world;
    const lmi_body *body = lmi_body_at(world, gpu->slots[index]);
    lmi_gpu_forces *f = gpu->forces;
    lm_dvec3 whole = lm_dvec3_zero();
    for (uint32_t n = body->first_force; n != LMI_NONE; n = world->forces[n].next) {
        const lmi_force *force = &world->forces[n];
        lm_dvec3 given = dvec_scale(dvec_from(force->force), step->h);
        f->given_here = dvec_add(f->given_here, given);
        if (force->particle == LMI_NONE) {
            whole = dvec_add(whole, dvec_scale(given, 1.0 / body->total_mass));
            continue;
        }
        lm_dvec3 change = dvec_limit(dvec_scale(given, 1.0 / body->mass[force->particle]), 2.0 * LM_MAX_SPEED);
        f->jabbed[jabs++] = (lmi_gpu_jab){.particle = lmi_gpu_first_of(gpu, body) + force->particle,
                                          .change = {(float)change.x, (float)change.y, (float)change.z}};
    }
    lm_vec3 push = vec_from(dvec_limit(whole, 2.0 * LM_MAX_SPEED));
    memcpy(f->push + 4 * (size_t)index, (float[4]){push.x, push.y, push.z, 0.0f}, 4 * sizeof(float));
    return jabs;
}

bool lmi_gpu_forces_apply(lmi_gpu *gpu, const lmi_step *step)
{
    lmi_gpu_forces *f = gpu->forces;
    if (!f || !has_forces(step->world)) {
        return true;
    }
    const cl_uint flows = describe_flows(step, f->flow);
    cl_uint jabs = 0;
    f->given_here = lm_dvec3_zero();
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        jabs = describe_body(step, gpu, n, jabs);
    }
    const lmi_gpu_argument blow[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->chunks), LMI_GPU_BUFFER(gpu->x),
                                     LMI_GPU_BUFFER(gpu->v),      LMI_GPU_BUFFER(f->flows),    LMI_GPU_VALUE(flows),
                                     LMI_GPU_BUFFER(f->pushes),   LMI_GPU_BUFFER(f->given)};
    const lmi_gpu_argument jab[] = {LMI_GPU_BUFFER(gpu->v), LMI_GPU_BUFFER(f->jabs), LMI_GPU_VALUE(jabs)};
    const size_t chunks[2] = {gpu->chunk_count, 1}, one[2] = {1, 1}, group[2] = {64, 1};
    f->applied = true;
    return lmi_gpu_copy(gpu, &gpu->v, &f->kept, (size_t)gpu->particles * 4 * sizeof(float)) &&
           lmi_gpu_write(gpu, &f->flows, 0, f->flow, flows * sizeof *f->flow) &&
           lmi_gpu_write(gpu, &f->pushes, 0, f->push, gpu->body_count * 4 * sizeof *f->push) &&
           lmi_gpu_write(gpu, &f->jabs, 0, f->jabbed, jabs * sizeof *f->jabbed) &&
           lmi_gpu_run(gpu, f->blow, blow, sizeof blow / sizeof *blow, chunks, group) &&
           (jabs == 0 || lmi_gpu_run(gpu, f->jab, jab, sizeof jab / sizeof *jab, one, group)) && lmi_gpu_measure(gpu);
}

bool lmi_gpu_forces_undo(lmi_gpu *gpu)
{
    lmi_gpu_forces *f = gpu->forces;
    if (!f || !f->applied) {
        return true;
    }
    f->applied = false;
    return lmi_gpu_copy(gpu, &f->kept, &gpu->v, (size_t)gpu->particles * 4 * sizeof(float));
}

bool lmi_gpu_forces_count(lmi_gpu *gpu)
{
    lmi_gpu_forces *f = gpu->forces;
    if (!f || !f->applied) {
        return true;
    }
    f->applied = false;
    gpu->given = dvec_add(gpu->given, f->given_here);
    const cl_uint bodies = gpu->body_count;
    const lmi_gpu_argument count[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_VALUE(bodies), LMI_GPU_BUFFER(f->given)};
    const size_t groups[2] = {(bodies + 63) / 64, 1}, group[2] = {64, 1};
    return lmi_gpu_run(gpu, f->count, count, sizeof count / sizeof *count, groups, group);
}
