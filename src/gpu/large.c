#include "gpu/large.h"

#include "gpu/layout.h"

#define CHUNK 256 /* particles of a work-group */

typedef struct lmi_gpu_larges {
    cl_kernel pull, extra, move, end;
    lmi_gpu_buffer chunks, bodies, partials;
    uint32_t chunk_count, count;
} lmi_gpu_larges;

static bool add_body(lm_world *world, const lmi_gpu_body *record, uint32_t index, array *chunks, array *bodies)
{
    const uint32_t first = chunks->count / 4, count = (record->particles + CHUNK - 1) / CHUNK;
    uint32_t *body = append(world, bodies, 4, sizeof *body);
    uint32_t *chunk = append(world, chunks, 4 * count, sizeof *chunk);
    if (!body || !chunk) {
        return false;
    }
    memcpy(body, (uint32_t[4]){index, first, count, 0}, 4 * sizeof *body);
    for (uint32_t n = 0; n < count; n++) {
        const uint32_t at = n * CHUNK, left = record->particles - at;
        chunk[4 * n] = index, chunk[4 * n + 1] = record->first + at;
        chunk[4 * n + 2] = left < CHUNK ? left : CHUNK, chunk[4 * n + 3] = 0;
    }
    return true;
}

static bool build(lmi_gpu *gpu, const lmi_gpu_clusters *c, lmi_gpu_larges *l)
{
    const lmi_gpu_named kernels[] = {
        {&l->pull, "large_pull"}, {&l->extra, "large_extra"}, {&l->move, "large_move"}, {&l->end, "large_end"}};
    return LMI_GPU_FIND(c->program, kernels);
}

bool lmi_gpu_large_lay_out(lm_world *world, lmi_gpu *gpu, const lmi_gpu_clusters *clusters)
{
    lmi_gpu_larges *l = gpu->larges;
    array chunks = {NULL, 0, 0}, bodies = chunks;
    bool ok = true;
    for (uint32_t n = gpu->lattice_count; ok && n < gpu->body_count; n++) {
        ok = gpu->records[n].particles <= LMI_GPU_LARGE || add_body(world, &gpu->records[n], n, &chunks, &bodies);
    }
    if (ok && bodies.count && !l) {
        l = gpu->larges = lmi_gpu_make_part(gpu, sizeof *l, NULL);
        ok = l && build(gpu, clusters, l);
    }
    if (l) {
        l->count = ok ? bodies.count / 4 : 0;
        l->chunk_count = chunks.count / 4;
        ok = ok && put_array(gpu, &l->chunks, &chunks, sizeof(uint32_t)) &&
             put_array(gpu, &l->bodies, &bodies, sizeof(uint32_t)) &&
             lmi_gpu_reserve(gpu, &l->partials, (size_t)l->chunk_count * LMI_GPU_CHANNELS * sizeof(double));
    }
    drop(world, &chunks, sizeof(uint32_t));
    drop(world, &bodies, sizeof(uint32_t));
    return ok;
}

bool lmi_gpu_large_move(lmi_gpu *gpu, const lmi_gpu_clusters *c, double h, const float change[3])
{
    const lmi_gpu_larges *l = gpu->larges;
    if (!l || l->count == 0) {
        return true;
    }
    const lmi_gpu_argument pull[] = {
        LMI_GPU_BUFFER(l->chunks), LMI_GPU_BUFFER(gpu->bodies),   LMI_GPU_BUFFER(c->list_first),
        LMI_GPU_BUFFER(c->list),   LMI_GPU_BUFFER(c->list_count), LMI_GPU_BUFFER(c->list_share),
        LMI_GPU_BUFFER(c->goals),  LMI_GPU_BUFFER(gpu->x),        LMI_GPU_BUFFER(gpu->v),
        LMI_GPU_BUFFER(c->pulls),  LMI_GPU_BUFFER(l->partials)};
    const lmi_gpu_argument extra[] = {LMI_GPU_BUFFER(l->bodies), LMI_GPU_BUFFER(gpu->bodies),
                                      LMI_GPU_BUFFER(l->partials), LMI_GPU_VALUE(h)};
    const lmi_gpu_argument move[] = {
        LMI_GPU_BUFFER(l->chunks), LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->surfaces),
        LMI_GPU_BUFFER(gpu->x),    LMI_GPU_BUFFER(gpu->v),      LMI_GPU_BUFFER(c->pulls),
        LMI_GPU_VALUE(h),          LMI_GPU_VALUE(change[0]),    LMI_GPU_VALUE(change[1]),
        LMI_GPU_VALUE(change[2]),  LMI_GPU_BUFFER(l->partials)};
    const lmi_gpu_argument end[] = {LMI_GPU_BUFFER(l->bodies), LMI_GPU_BUFFER(gpu->bodies),
                                    LMI_GPU_BUFFER(l->partials)};
    const size_t chunks[2] = {l->chunk_count, 1}, bodies[2] = {l->count, 1}, few[2] = {64, 1}, many[2] = {256, 1};
    return lmi_gpu_run(gpu, l->pull, pull, sizeof pull / sizeof *pull, chunks, few) &&
           lmi_gpu_run(gpu, l->extra, extra, sizeof extra / sizeof *extra, bodies, many) &&
           lmi_gpu_run(gpu, l->move, move, sizeof move / sizeof *move, chunks, few) &&
           lmi_gpu_run(gpu, l->end, end, sizeof end / sizeof *end, bodies, many);
}
