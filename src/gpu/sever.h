/*
 * Octrees and clusters that a blade has divided, on a device: each part is damped towards its own motion as a whole, as in
 * octree/octree_parts.c (gpu/kernels/sever.cl).
 */
#ifndef LMI_GPU_SEVER_H
#define LMI_GPU_SEVER_H

#include "gpu/gpu.h"

/* How many parts such a body is in; 1 for all others. */
uint32_t lmi_gpu_parts_of(const lmi_body *body);

/* After the records. False after a failure. */
bool lmi_gpu_sever_lay_out(lm_world *world, lmi_gpu *gpu);

/* Before particles are moved. */
bool lmi_gpu_sever_damp(lmi_gpu *gpu);

#endif
