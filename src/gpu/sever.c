#include "gpu/sever.h"

#include "cut/grain.h"
#include "gpu/layout.h"
#include "octree/octree_body.h"

typedef struct lmi_gpu_severed {
    cl_program program;
    cl_kernel damp;
    lmi_gpu_buffer parts, members;
    uint32_t count;
} lmi_gpu_severed;

uint32_t lmi_gpu_parts_of(const lmi_body *body)
{
    return body->octree ? body->octree->part_count : body->grain ? body->grain->part_count : 1;
}

/* The part of a particle, in the caller's order. */
static uint32_t part_at(const lmi_body *body, uint32_t n)
{
    return body->octree ? body->octree->part[n] : body->grain->part[body->place[n]];
}

/* Its particles part by part, and for each part four words: record, first and end of its particles, 0. */
static bool add_body(lm_world *world, const lmi_gpu *gpu, uint32_t index, array *parts, array *members)
{
    const lmi_body *body = lmi_body_at(world, gpu->slots[index]);
    const uint32_t count = lmi_gpu_parts_of(body), first = members->count, particle = gpu->records[index].first;
    uint32_t *part = append(world, parts, 4 * count, sizeof *part);
    uint32_t *member = append(world, members, body->particle_count, sizeof *member);
    if (!part || !member) {
        return false;
    }
    for (uint32_t n = 0; n < count; n++) {
        memcpy(part + 4 * (size_t)n, (uint32_t[4]){index, 0, 0, 0}, 4 * sizeof *part);
    }
    for (uint32_t n = 0; n < body->particle_count; n++) {
        part[4 * (size_t)part_at(body, n) + 3]++;
    }
    for (uint32_t n = 0, at = first; n < count; n++) {
        uint32_t *words = part + 4 * (size_t)n;
        words[1] = words[2] = at;
        at += words[3];
        words[3] = 0;
    }
    for (uint32_t n = 0; n < body->particle_count; n++) {
        member[part[4 * (size_t)part_at(body, n) + 2]++ - first] = particle + body->place[n];
    }
    return true;
}

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_severed *s)
{
    static const char *const texts[] = {"prelude.cl", "records.h", "vec.h", "vec.c", "sever.cl", NULL};
    const lmi_gpu_named kernels[] = {{&s->damp, "damp_severed"}};
    return lmi_gpu_build(world, gpu, &s->program, texts, NULL) && LMI_GPU_FIND(s->program, kernels);
}

bool lmi_gpu_sever_lay_out(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_severed *s = gpu->severed;
    array parts = {NULL, 0, 0}, members = parts;
    bool ok = true;
    for (uint32_t n = gpu->lattice_count; ok && n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        ok = lmi_gpu_parts_of(body) < 2 || add_body(world, gpu, n, &parts, &members);
    }
    if (ok && parts.count && !s) {
        s = gpu->severed = lmi_gpu_make_part(gpu, sizeof *s, NULL);
        ok = s && build(world, gpu, s);
    }
    if (s) {
        s->count = ok ? parts.count / 4 : 0;
        ok = ok && put_array(gpu, &s->parts, &parts, sizeof(uint32_t)) &&
             put_array(gpu, &s->members, &members, sizeof(uint32_t));
    }
    drop(world, &parts, sizeof(uint32_t));
    drop(world, &members, sizeof(uint32_t));
    return ok;
}

bool lmi_gpu_sever_damp(lmi_gpu *gpu)
{
    const lmi_gpu_severed *s = gpu->severed;
    if (!s || s->count == 0) {
        return true;
    }
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->parts),
                                          LMI_GPU_BUFFER(s->members), LMI_GPU_BUFFER(gpu->x), LMI_GPU_BUFFER(gpu->v)};
    const size_t groups[2] = {s->count, 1}, group[2] = {64, 1};
    return lmi_gpu_run(gpu, s->damp, arguments, sizeof arguments / sizeof *arguments, groups, group);
}
