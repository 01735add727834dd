/*
 * Clusters from the connectivity of a mesh: one for each element (Müller et al. 2005, section 4.4: the vertices adjacent to
 * a tetrahedron), or one for each particle with all that share an element with it (its one-ring).
 */
#include "cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

const char *lmi_elements_fault(const lm_clusters *def, uint32_t point_count)
{
    if (def->element_size < 2 || def->element_size > 8) {
        return "clusters.element_size must be 2 to 8";
    }
    if (def->element_count > 0 && !def->elements) {
        return "clusters.elements is null";
    }
    if (def->element_count > LM_MAX_MEMBERSHIPS / def->element_size) {
        return "clusters.element_count is too large";
    }
    for (uint64_t n = 0; n < (uint64_t)def->element_count * def->element_size; n++) {
        if (def->elements[n] >= point_count) {
            return "clusters.elements has an index beyond the last point";
        }
    }
    return NULL;
}

static lm_result make_elements(lmi_memory *memory, const lm_clusters *def, lmi_cluster_lists *lists)
{
    uint64_t count = (uint64_t)def->element_count * def->element_size;
    lmi_membership *all = lmi_allocate(memory, count, sizeof *all);
    if (!all) {
        return LM_ERROR_MEMORY;
    }
    for (uint64_t n = 0; n < count; n++) {
        all[n].cell = n / def->element_size;
        all[n].particle = def->elements[n];
    }
    lm_result result = lmi_clusters_collect(memory, all, count, lists);
    lmi_release(memory, all, count, sizeof *all);
    return result;
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

bool lmi_neighbours_of_elements(lmi_memory *memory, const lm_clusters *def, uint32_t point_count, lmi_neighbours *out)
{
    uint64_t size = def->element_size, pairs = (uint64_t)def->element_count * size * (size - 1), count = 0;
    memset(out, 0, sizeof *out);
    out->point_count = point_count;
    uint64_t *all = lmi_allocate(memory, pairs, sizeof *all);
    out->offsets = lmi_allocate(memory, (size_t)point_count + 1, sizeof *out->offsets);
    if (!all || !out->offsets || pairs > UINT32_MAX) {
        lmi_release(memory, all, pairs, sizeof *all);
        return false;
    }
    for (uint32_t e = 0; e < def->element_count; e++) {
        const uint32_t *element = def->elements + (size_t)e * size;
        for (uint64_t i = 0; i < size * size; i++) {
            uint32_t a = element[i / size], b = element[i % size];
            if (i / size != i % size && a != b) {
                all[count++] = ((uint64_t)a << 32) | b;
            }
        }
    }
    qsort(all, count, sizeof *all, compare_pairs);
    out->capacity = (uint32_t)count;
    out->indices = lmi_allocate(memory, out->capacity, sizeof *out->indices);
    for (uint64_t n = 0; out->indices && n < count; n++) {
        if (n == 0 || all[n] != all[n - 1]) {
            out->indices[out->count++] = (uint32_t)all[n];
            out->offsets[(all[n] >> 32) + 1]++;
        }
    }
    for (uint32_t n = 0; n < point_count; n++) {
        out->offsets[n + 1] += out->offsets[n];
    }
    lmi_release(memory, all, pairs, sizeof *all);
    return out->indices != NULL;
}

void lmi_neighbours_free(lmi_memory *memory, lmi_neighbours *neighbours)
{
    lmi_release(memory, neighbours->offsets, (size_t)neighbours->point_count + 1, sizeof *neighbours->offsets);
    lmi_release(memory, neighbours->indices, neighbours->capacity, sizeof *neighbours->indices);
    memset(neighbours, 0, sizeof *neighbours);
}

/* A particle that no element names is free: it gets no ring. */
static lm_result make_rings(lmi_memory *memory, const lm_clusters *def, uint32_t point_count, lmi_cluster_lists *lists)
{
    lmi_neighbours near;
    lm_result result = LM_ERROR_MEMORY;
    if (lmi_neighbours_of_elements(memory, def, point_count, &near)) {
        uint64_t count = 0, most = (uint64_t)near.count + point_count;
        lmi_membership *all = lmi_allocate(memory, most, sizeof *all);
        for (uint32_t n = 0; all && n < point_count; n++) {
            if (near.offsets[n + 1] > near.offsets[n]) {
                lmi_membership self = {n, n};
                all[count++] = self;
            }
            for (uint32_t k = near.offsets[n]; k < near.offsets[n + 1]; k++) {
                lmi_membership other = {n, near.indices[k]};
                all[count++] = other;
            }
        }
        result = all ? lmi_clusters_collect(memory, all, count, lists) : LM_ERROR_MEMORY;
        lmi_release(memory, all, most, sizeof *all);
    }
    lmi_neighbours_free(memory, &near);
    return result;
}

lm_result lmi_clusters_elements(lmi_memory *memory, const lm_clusters *def, uint32_t point_count,
                                lmi_cluster_lists *lists, const char **fault)
{
    *fault = lmi_elements_fault(def, point_count);
    if (*fault) {
        return LM_ERROR_ARGUMENT;
    }
    return def->kind == LM_CLUSTERS_ELEMENTS ? make_elements(memory, def, lists)
                                             : make_rings(memory, def, point_count, lists);
}
