/*
 * Bodies that may touch each other or colliders, on a device (kernels/meet.cl): who may touch whom, touch points, carriers, and the
 * particles that hold them. What comes of it is in solve.h and press.h.
 */
#ifndef LMI_GPU_MEET_H
#define LMI_GPU_MEET_H

#include "gpu/gpu.h"

typedef struct lmi_gpu_meet {
    cl_program program;
    cl_kernel boxes, grid, cells, scan, fill, partners, place, carry;
    lmi_gpu_buffer meeters, cell_grid, buckets, first_of_bucket, members, partner_lists;
    lmi_gpu_buffer owner, point_first, point_rider, point_weight, now;             /* touch points */
    lmi_gpu_buffer map_first, map_rider, map_hold, map_across, map_now, map_given; /* carriers */
    lmi_gpu_buffer depths, cubes; /* of those with a cube map: distances, and which they are */
    lmi_gpu_buffer first_of_points, point_of, weight_of, first_of_maps, map_of, hold_of; /* of each particle */
    lmi_gpu_buffer kept_x, kept_v;
    uint32_t meeter_count, point_count, map_count, table;
} lmi_gpu_meet;

/* meet_layout.c: everything that does not change in a step, where bodies meet on the device. False after a failure. */
bool lmi_gpu_meet_lay_out(lm_world *world, lmi_gpu *gpu);

/* gpu_meet.c. The state before a substep, which the host may have to do after all. */
bool lmi_gpu_meet_keep(lmi_gpu *gpu);
bool lmi_gpu_meet_restore(lmi_gpu *gpu);

/* After the particles have moved: who may touch whom, and where touch points and carriers are. */
bool lmi_gpu_meet_partners(lmi_gpu *gpu, double h);
bool lmi_gpu_meet_place(lmi_gpu *gpu);

#endif
