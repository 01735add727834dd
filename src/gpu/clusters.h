/*
 * Bodies of clusters on a device: their packs (step/pack.h) as they are, and the kernels of gpu/kernels/cluster.cl.
 */
#ifndef LMI_GPU_CLUSTERS_H
#define LMI_GPU_CLUSTERS_H

#include "gpu/gpu.h"

/* Why the device cannot step a body of clusters, or null. */
const char *lmi_gpu_cluster_reason(const lmi_body *body);

/* Uploads what the packs of all batches have, where there are clusters. False after a failure. */
bool lmi_gpu_clusters_lay_out(lm_world *world, lmi_gpu *gpu);

/* Gather, fit and scatter, unless the substep is found to be the host's; then the rest of it. */
bool lmi_gpu_clusters_match(lmi_gpu *gpu);
bool lmi_gpu_clusters_substep(lmi_gpu *gpu, const lmi_step *step, const float change[3]);

/* Rotations back into the packs. */
bool lmi_gpu_clusters_fetch(lm_world *world, lmi_gpu *gpu);
void lmi_gpu_clusters_free(lm_world *world, lmi_gpu *gpu);

#endif
