/*
 * Bodies of clusters on a device: their packs (match/pack.h) as they are, and the kernels of gpu/kernels/cluster.cl.
 */
#ifndef LMI_GPU_CLUSTERS_H
#define LMI_GPU_CLUSTERS_H

#include "gpu/gpu.h"

typedef struct lmi_gpu_clusters {
    cl_program program;
    cl_kernel match, match_parts, move;
    lmi_gpu_buffer blocks, reference, member, rest, constants, extents, stiffness, rotations, plastics, rates, moments,
        goals;
    lmi_gpu_buffer kept_rotations, kept_plastics; /* where a substep may be taken back */
    lmi_gpu_buffer mixed_regions;                 /* as `regions`: divided ones with examples */
    lmi_gpu_buffer regions, parts, list_first, list, list_count, list_share, pulls;
    uint32_t lanes, region_count, mixed_count;
    bool plastic;
    float *room; /* for the way back: [floats] */
    size_t room_size;
    float *goal_room; /* the same for goals, which are seldom asked for */
    size_t goal_room_size;
    bool matched; /* the goals are those of a substep */
} lmi_gpu_clusters;

/* Why the device cannot step a body of clusters, or null. */
const char *lmi_gpu_cluster_reason(const lmi_body *body);

/* Uploads what the packs of all batches have, where there are clusters. False after a failure. */
bool lmi_gpu_clusters_lay_out(lm_world *world, lmi_gpu *gpu);

/* Whether batches that have not changed can stay as they are while others are laid out again. */
bool lmi_gpu_clusters_last(const lm_world *world, const lmi_gpu *gpu);

/* Uploads rotations and lasting deformation again, of packs that are there. */
bool lmi_gpu_clusters_refresh(lm_world *world, lmi_gpu *gpu);

/* Names that the kernels of clusters share with the host, as options for the compiler. */
int lmi_gpu_cluster_options(const lmi_gpu *gpu, char *to, size_t size);

/* Gather, fit and scatter of regions without examples, unless the substep is found to be the host's; then octrees, regions with
 * examples, and the rest of it. */
bool lmi_gpu_clusters_match(lmi_gpu *gpu);
bool lmi_gpu_clusters_substep(lmi_gpu *gpu, const lmi_step *step, const float change[3]);

/* What `match` changes of regions, kept in a buffer and put back from it. */
bool lmi_gpu_clusters_keep(lmi_gpu *gpu);
bool lmi_gpu_clusters_restore(lmi_gpu *gpu);

/* Rotations and lasting deformation from the device, and from there into the packs. */
bool lmi_gpu_clusters_read(lm_world *world, lmi_gpu *gpu);
void lmi_gpu_clusters_put(lm_world *world, lmi_gpu *gpu);

#endif
