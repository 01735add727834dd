/*
 * Regions with examples on a device: those of clusters (gpu/kernels/examples.cl), and for those of lattices (gpu/kinds.h) their
 * channels and the mixes of their groups.
 */
#ifndef LMI_GPU_EXAMPLE_REGIONS_H
#define LMI_GPU_EXAMPLE_REGIONS_H

#include "gpu/gpu.h"

struct lmi_gpu_clusters;

/* Texts for a program with examples, after those that define vmat3. */
#define LMI_GPU_EXAMPLE_TEXTS                                                                                          \
    "example_channels.h", "project_lanes.cl", "project_lanes.h", "project.h", "example_lanes.h", "project_double.cl",  \
        "project_double.h", "project.h", "example_solve.cl"

/* After the packs, and after lattices with examples have their lmi_gpu_matter, which is completed. False after a failure. */
bool lmi_gpu_examples_lay_out(lm_world *world, lmi_gpu *gpu);

/* Whether there are any now. */
bool lmi_gpu_has_examples(const lmi_gpu *gpu);

/* The channels of all regions with examples; and the mixes of the groups of clusters or of lattices, when those are measured. */
const lmi_gpu_buffer *lmi_gpu_examples_channels(const lmi_gpu *gpu);
bool lmi_gpu_examples_solve(lmi_gpu *gpu, bool lattices);

/* Gather, mix, fit and scatter of the regions of clusters. */
bool lmi_gpu_examples_match(lmi_gpu *gpu, const struct lmi_gpu_clusters *clusters);

/* What a substep may have to be taken back to; and channels and weights from the device, and from there to where they belong. */
bool lmi_gpu_examples_keep(lmi_gpu *gpu);
bool lmi_gpu_examples_restore(lmi_gpu *gpu);
bool lmi_gpu_examples_read(lmi_gpu *gpu);
void lmi_gpu_examples_put(lm_world *world, lmi_gpu *gpu);

#endif
