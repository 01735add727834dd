/*
 * Large bodies of clusters and octrees on a device: many work-groups move one (gpu/kernels/large.cl). All others are moved by one
 * work-group each, which is a single launch.
 */
#ifndef LMI_GPU_LARGE_H
#define LMI_GPU_LARGE_H

#include "gpu/clusters.h"

/* After the records. False after a failure. */
bool lmi_gpu_large_lay_out(lm_world *world, lmi_gpu *gpu, const lmi_gpu_clusters *clusters);

/* What the launch of `move` leaves out. change: of velocities, by gravity and fields. */
bool lmi_gpu_large_move(lmi_gpu *gpu, const lmi_gpu_clusters *clusters, double h, const float change[3]);

#endif
