/*
 * Regions of clusters with examples on a device (gpu/kernels/examples.cl).
 */
#ifndef LMI_GPU_EXAMPLE_REGIONS_H
#define LMI_GPU_EXAMPLE_REGIONS_H

#include "gpu/gpu.h"

struct lmi_gpu_clusters;

/* Why the device cannot step a body with examples, or null. */
const char *lmi_gpu_examples_reason(const lm_world *world, const lmi_body *body);

/* After the packs. False after a failure. */
bool lmi_gpu_examples_lay_out(lm_world *world, lmi_gpu *gpu);

/* Gather, mix, fit and scatter of their regions. */
bool lmi_gpu_examples_match(lmi_gpu *gpu, const struct lmi_gpu_clusters *clusters);

/* What a substep may have to be taken back to; and channels and weights from the device, and from there to where they belong. */
bool lmi_gpu_examples_keep(lmi_gpu *gpu);
bool lmi_gpu_examples_restore(lmi_gpu *gpu);
bool lmi_gpu_examples_read(lmi_gpu *gpu);
void lmi_gpu_examples_put(lm_world *world, lmi_gpu *gpu);
void lmi_gpu_examples_free(lm_world *world, lmi_gpu *gpu);

#endif
