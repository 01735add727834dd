/*
 * The launches that find who may touch whom.
 */
#include "gpu/gpu_meet.h"

#include "gpu/account.h"
#include "gpu/clusters.h"
#include "gpu/example_regions.h"
#include "gpu/kinds.h"

#define WIDE 256

/* As many work-groups of 64 as `count` items need. */
static const size_t group[2] = {64, 1}, wide[2] = {WIDE, 1}, one[2] = {1, 1};

bool lmi_gpu_meet_keep(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const size_t size = (size_t)gpu->particles * 4 * sizeof(float);
    return lmi_gpu_copy(gpu, &gpu->x, &m->kept_x, size) && lmi_gpu_copy(gpu, &gpu->v, &m->kept_v, size) &&
           lmi_gpu_clusters_keep(gpu) && lmi_gpu_examples_keep(gpu) && lmi_gpu_kinds_keep(gpu);
}

bool lmi_gpu_meet_restore(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const size_t size = (size_t)gpu->particles * 4 * sizeof(float);
    return lmi_gpu_copy(gpu, &m->kept_x, &gpu->x, size) && lmi_gpu_copy(gpu, &m->kept_v, &gpu->v, size) &&
           lmi_gpu_clusters_restore(gpu) && lmi_gpu_examples_restore(gpu) && lmi_gpu_kinds_restore(gpu);
}

/* Bodies into buckets of the cells that their middles are in. */
static bool fill_grid(lmi_gpu *gpu, const lmi_gpu_meet *m, double h)
{
    const cl_uint count = m->meeter_count, table = m->table;
    const lmi_gpu_argument boxes[] = {LMI_GPU_BUFFER(m->meeters),  LMI_GPU_VALUE(count),
                                      LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_VALUE(h),
                                      LMI_GPU_BUFFER(m->buckets),  LMI_GPU_VALUE(table)};
    const lmi_gpu_argument grid[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_VALUE(count), LMI_GPU_BUFFER(m->cell_grid)};
    const lmi_gpu_argument cells[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_VALUE(count), LMI_GPU_BUFFER(m->cell_grid),
                                      LMI_GPU_BUFFER(m->buckets), LMI_GPU_VALUE(table)};
    const lmi_gpu_argument scan[] = {LMI_GPU_BUFFER(m->buckets), LMI_GPU_VALUE(table),
                                     LMI_GPU_BUFFER(m->first_of_bucket)};
    const lmi_gpu_argument fill[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_VALUE(count), LMI_GPU_BUFFER(m->buckets),
                                     LMI_GPU_BUFFER(m->members)};
    const size_t all[2] = LMI_GPU_GROUPS_OF(table), bodies[2] = LMI_GPU_GROUPS_OF(count);
    return LMI_GPU_RUN(m->boxes, boxes, all, group) && LMI_GPU_RUN(m->grid, grid, one, wide) &&
           LMI_GPU_RUN(m->cells, cells, bodies, group) && LMI_GPU_RUN(m->scan, scan, one, wide) &&
           LMI_GPU_RUN(m->fill, fill, bodies, group);
}

bool lmi_gpu_meet_partners(lmi_gpu *gpu, double h)
{
    const lmi_gpu_meet *m = gpu->meet;
    const cl_uint count = m->meeter_count, table = m->table;
    const lmi_gpu_argument partners[] = {LMI_GPU_BUFFER(m->meeters),
                                         LMI_GPU_VALUE(count),
                                         LMI_GPU_BUFFER(gpu->bodies),
                                         LMI_GPU_VALUE(h),
                                         LMI_GPU_BUFFER(m->first_of_bucket),
                                         LMI_GPU_BUFFER(m->members),
                                         LMI_GPU_VALUE(table),
                                         LMI_GPU_BUFFER(m->partner_lists),
                                         LMI_GPU_BUFFER(gpu->stop)};
    const size_t bodies[2] = LMI_GPU_GROUPS_OF(count);
    return fill_grid(gpu, m, h) && LMI_GPU_RUN(m->partners, partners, bodies, group) && lmi_gpu_find_waking(gpu);
}

bool lmi_gpu_meet_place(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const cl_uint points = m->point_count, maps = m->map_count;
    const lmi_gpu_argument of_points[] = {LMI_GPU_VALUE(points),          LMI_GPU_BUFFER(m->point_first),
                                          LMI_GPU_BUFFER(m->point_rider), LMI_GPU_BUFFER(m->point_weight),
                                          LMI_GPU_BUFFER(gpu->x),         LMI_GPU_BUFFER(m->now)};
    const lmi_gpu_argument of_maps[] = {LMI_GPU_VALUE(maps),           LMI_GPU_BUFFER(m->map_first),
                                        LMI_GPU_BUFFER(m->map_rider),  LMI_GPU_BUFFER(m->map_hold),
                                        LMI_GPU_BUFFER(m->map_across), LMI_GPU_BUFFER(gpu->x),
                                        LMI_GPU_BUFFER(m->map_now)};
    const size_t point_groups[2] = LMI_GPU_GROUPS_OF(points), map_groups[2] = LMI_GPU_GROUPS_OF(maps);
    return LMI_GPU_RUN(m->place, of_points, point_groups, group) &&
           (maps == 0 || LMI_GPU_RUN(m->carry, of_maps, map_groups, group));
}
