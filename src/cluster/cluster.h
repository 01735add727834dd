/*
 * cluster/: bodies of points whose regions are lists of members: making the lists, their sums, and what a point of the
 * rest pose rides on.
 *
 * reads   points, definitions, positions in a batch
 * writes  lists of members; moments of regions and goals of particles
 * uses    base geometry; in sources also world lattice
 *
 *   cluster.c      overlapping boxes, and lists of the caller        kmeans.c    compact groups
 *   elements.c     from the elements of a mesh                       sum_cluster.c  gather and scatter
 *   embed.c        a point as a weighted sum of particles            modes.c     the slowest mode
 *
 * Cluster makers: from a definition to lists of members.
 */
#ifndef LMI_CLUSTER_H
#define LMI_CLUSTER_H

#include "base/memory.h"

/* Regions as offsets (count + 1) into members; the caller releases both with lmi_clusters_free. */
typedef struct lmi_cluster_lists {
    uint32_t *offsets;
    uint32_t *members;
    uint32_t count;
    uint32_t member_count;
    uint32_t offset_capacity; /* what was allocated */
    uint32_t member_capacity;
} lmi_cluster_lists;

/* LM_ERROR_ARGUMENT with the reason in *fault, LM_ERROR_LIMIT or LM_ERROR_MEMORY; *lists is empty then. */
lm_result lmi_clusters_make(lmi_memory *memory, const lm_clusters *def, const lm_vec3 *points, uint32_t point_count,
                            lmi_cluster_lists *lists, const char **fault);
void lmi_clusters_free(lmi_memory *memory, lmi_cluster_lists *lists);

/* A membership of a particle in a cell, group or ring, before they are sorted into lists. */
typedef struct lmi_membership {
    uint64_t cell;
    uint32_t particle;
} lmi_membership;

/* Sorts memberships into lists, one for each cell that occurs, particles ascending; repeated ones count once. */
lm_result lmi_clusters_collect(lmi_memory *memory, lmi_membership *all, uint64_t count, lmi_cluster_lists *lists);

/* kmeans.c, elements.c: like lmi_clusters_make, for their kinds. */
lm_result lmi_clusters_kmeans(lmi_memory *memory, const lm_clusters *def, const lm_vec3 *points, uint32_t point_count,
                              lmi_cluster_lists *lists, const char **fault);
lm_result lmi_clusters_elements(lmi_memory *memory, const lm_clusters *def, uint32_t point_count,
                                lmi_cluster_lists *lists, const char **fault);
const char *lmi_elements_fault(const lm_clusters *def, uint32_t point_count);

/* Neighbours of each particle through elements, as offsets (point_count + 1) and indices, itself left out. */
typedef struct lmi_neighbours {
    uint32_t *offsets;
    uint32_t *indices;
    uint32_t count, capacity;
    uint32_t point_count;
} lmi_neighbours;

bool lmi_neighbours_of_elements(lmi_memory *memory, const lm_clusters *def, uint32_t point_count, lmi_neighbours *out);
void lmi_neighbours_free(lmi_memory *memory, lmi_neighbours *neighbours);

#endif
