/*
 * Octrees on a device: the lists of octree/octree_lanes.h of all of them, and the kernels of gpu/kernels/octree.cl. What their
 * regions are, and how particles move, is the same as for clusters.
 */
#ifndef LMI_GPU_OCTREES_H
#define LMI_GPU_OCTREES_H

#include "gpu/gpu.h"

struct lmi_gpu_clusters;

/* Why the device cannot step an octree, or null. */
const char *lmi_gpu_octree_reason(const lmi_body *body);

/* Adds what the octrees of a batch want of places; and whether there is room for so many blocks of virtual nodes, and
 * there are octrees as there were before, or none as before: what the last one has left is not looked after. */
void lmi_gpu_count_octrees(const lm_world *world, uint32_t batch, uint32_t counts[LMI_GPU_COUNTS]);
bool lmi_gpu_octrees_last(const lm_world *world, const lmi_gpu *gpu, uint64_t node_blocks);

/* After the packs, whose program has the kernels. False after a failure. */
bool lmi_gpu_octrees_lay_out(lm_world *world, lmi_gpu *gpu, const struct lmi_gpu_clusters *clusters);

/* The moments of regions with examples, before these are matched; then what pulls the particles of all octrees, for `move`. */
bool lmi_gpu_octrees_begin(lmi_gpu *gpu, const struct lmi_gpu_clusters *clusters);
bool lmi_gpu_octrees_match(lmi_gpu *gpu, const struct lmi_gpu_clusters *clusters, double h);

#endif
