/*
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

#endif
