/*
 * Overlapping cubical cells over the bounding box (Müller et al. 2005, section 4.4), and the caller's own lists. The other
 * makers are in kmeans.c and elements.c.
 *
 * Cells are found from the points, not the other way round, so that the cost follows the points however many cells the
 * box has.
 */
#include "cluster/cluster.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Cells of an axis that contain a coordinate: first to last. */
typedef struct span {
    uint32_t first, last;
} span;

typedef struct axis {
    double lower, cell; /* metres */
    uint32_t count;
} axis;

#define MAX_COUNT (1u << 20) /* cells along an axis: three of them fit a 64-bit number */

static span cells_at(const axis *a, double overlap, double coordinate)
{
    span s = {0, 0};
    if (a->count > 1) {
        /* Points on a border belong to both sides, also when rounding put them a hair off. */
        double t = (coordinate - a->lower) / a->cell, hair = 1e-9;
        double first = ceil(t - 1.0 - overlap - hair), last = floor(t + overlap + hair);
        double most = a->count - 1.0;
        s.first = (uint32_t)(first < 0.0 ? 0.0 : first > most ? most : first);
        s.last = (uint32_t)(last < 0.0 ? 0.0 : last > most ? most : last);
    }
    return s;
}

static const char *find_axes(const lm_clusters *def, const lm_vec3 *points, uint32_t point_count, axis axes[3])
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t n = 0; n < point_count; n++) {
        double p[3] = {points[n].x, points[n].y, points[n].z};
        for (int i = 0; i < 3; i++) {
            lower[i] = p[i] < lower[i] ? p[i] : lower[i];
            upper[i] = p[i] > upper[i] ? p[i] : upper[i];
        }
    }
    if (!(def->overlap >= 0.0f && def->overlap <= 1.0f)) {
        return "clusters.overlap must be 0 to 1";
    }
    if (def->kind == LM_CLUSTERS_SIZE && !(def->cell_size > 0.0f && isfinite(def->cell_size))) {
        return "clusters.cell_size must be above 0";
    }
    for (int i = 0; i < 3; i++) {
        double extent = upper[i] - lower[i], count = def->counts[i];
        if (def->kind == LM_CLUSTERS_SIZE) {
            count = floor(extent / def->cell_size + 0.5);
            count = count < 1.0 ? 1.0 : count;
        }
        if (!(count >= 1.0 && count <= MAX_COUNT)) {
            return "clusters must have 1 to 2^20 cells along each axis";
        }
        /* An axis without extent is one cell. */
        axes[i].count = extent > 0.0 ? (uint32_t)count : 1;
        axes[i].lower = lower[i];
        axes[i].cell = extent / axes[i].count;
    }
    return NULL;
}

static int compare_memberships(const void *a, const void *b)
{
    const lmi_membership *x = a, *y = b;
    if (x->cell != y->cell) {
        return x->cell < y->cell ? -1 : 1;
    }
    return x->particle < y->particle ? -1 : x->particle > y->particle;
}

/* Writes the memberships of all points, or only counts them when `out` is null. */
static uint64_t list_memberships(const axis axes[3], double overlap, const lm_vec3 *points, uint32_t point_count,
                                 lmi_membership *out)
{
    uint64_t count = 0;
    for (uint32_t n = 0; n < point_count; n++) {
        span x = cells_at(&axes[0], overlap, points[n].x), y = cells_at(&axes[1], overlap, points[n].y);
        span z = cells_at(&axes[2], overlap, points[n].z);
        if (!out) {
            count += (uint64_t)(x.last - x.first + 1) * (y.last - y.first + 1) * (z.last - z.first + 1);
            continue;
        }
        for (uint64_t k = z.first; k <= z.last; k++) {
            for (uint64_t j = y.first; j <= y.last; j++) {
                for (uint64_t i = x.first; i <= x.last; i++) {
                    lmi_membership m = {(k * axes[1].count + j) * axes[0].count + i, n};
                    out[count++] = m;
                }
            }
        }
    }
    return count;
}

lm_result lmi_clusters_collect(lmi_memory *memory, lmi_membership *all, uint64_t count, lmi_cluster_lists *lists)
{
    qsort(all, count, sizeof *all, compare_memberships);
    uint32_t cells = 0, kept = 0;
    for (uint64_t n = 0; n < count; n++) {
        cells += n == 0 || all[n].cell != all[n - 1].cell;
        kept += n == 0 || compare_memberships(&all[n], &all[n - 1]) != 0;
    }
    lists->offset_capacity = cells + 1;
    lists->member_capacity = kept;
    lists->offsets = lmi_allocate(memory, lists->offset_capacity, sizeof *lists->offsets);
    lists->members = lmi_allocate(memory, lists->member_capacity, sizeof *lists->members);
    if (!lists->offsets || !lists->members) {
        return LM_ERROR_MEMORY;
    }
    for (uint64_t n = 0; n < count; n++) {
        if (n > 0 && compare_memberships(&all[n], &all[n - 1]) == 0) {
            continue;
        }
        if (n == 0 || all[n].cell != all[n - 1].cell) {
            lists->offsets[lists->count++] = lists->member_count;
        }
        lists->members[lists->member_count++] = all[n].particle;
    }
    lists->offsets[lists->count] = lists->member_count;
    return LM_OK;
}

static lm_result make_cells(lmi_memory *memory, const lm_clusters *def, const lm_vec3 *points, uint32_t point_count,
                            lmi_cluster_lists *lists, const char **fault)
{
    axis axes[3];
    *fault = find_axes(def, points, point_count, axes);
    if (*fault) {
        return LM_ERROR_ARGUMENT;
    }
    uint64_t count = list_memberships(axes, def->overlap, points, point_count, NULL);
    if (count > LM_MAX_MEMBERSHIPS) {
        return LM_ERROR_LIMIT;
    }
    lmi_membership *all = lmi_allocate(memory, count, sizeof *all);
    if (!all) {
        return LM_ERROR_MEMORY;
    }
    list_memberships(axes, def->overlap, points, point_count, all);
    lm_result result = lmi_clusters_collect(memory, all, count, lists);
    lmi_release(memory, all, count, sizeof *all);
    return result;
}

static const char *list_fault(const lm_clusters *def, uint32_t point_count, uint32_t *seen)
{
    for (uint32_t list = 0; list < def->list_count; list++) {
        for (uint32_t n = def->offsets[list]; n < def->offsets[list + 1]; n++) {
            if (def->members[n] >= point_count) {
                return "clusters.members has an index beyond the last point";
            }
            if (seen[def->members[n]] == list + 1) {
                return "clusters.members has a point twice in one list";
            }
            seen[def->members[n]] = list + 1;
        }
    }
    return NULL;
}

static lm_result copy_lists(lmi_memory *memory, const lm_clusters *def, uint32_t point_count, lmi_cluster_lists *lists,
                            const char **fault)
{
    if (def->list_count > 0 && (!def->offsets || !def->members)) {
        *fault = "clusters.offsets or clusters.members is null";
        return LM_ERROR_ARGUMENT;
    }
    for (uint32_t n = 0; n < def->list_count; n++) {
        if (def->offsets[0] != 0 || def->offsets[n + 1] <= def->offsets[n]) {
            *fault = "clusters.offsets must begin with 0 and increase (no list may be empty)";
            return LM_ERROR_ARGUMENT;
        }
    }
    uint32_t count = def->list_count ? def->offsets[def->list_count] : 0;
    if (count > LM_MAX_MEMBERSHIPS) {
        return LM_ERROR_LIMIT;
    }
    uint32_t *seen = lmi_allocate(memory, point_count, sizeof *seen);
    if (!seen) {
        return LM_ERROR_MEMORY;
    }
    *fault = list_fault(def, point_count, seen);
    lmi_release(memory, seen, point_count, sizeof *seen);
    if (*fault) {
        return LM_ERROR_ARGUMENT;
    }
    lists->offset_capacity = def->list_count + 1;
    lists->member_capacity = count;
    lists->offsets = lmi_allocate(memory, lists->offset_capacity, sizeof *lists->offsets);
    lists->members = lmi_allocate(memory, lists->member_capacity, sizeof *lists->members);
    if (!lists->offsets || !lists->members) {
        return LM_ERROR_MEMORY;
    }
    lists->count = def->list_count;
    lists->member_count = count;
    if (count) {
        memcpy(lists->offsets, def->offsets, (def->list_count + 1) * sizeof *lists->offsets);
        memcpy(lists->members, def->members, count * sizeof *lists->members);
    }
    return LM_OK;
}

lm_result lmi_clusters_make(lmi_memory *memory, const lm_clusters *def, const lm_vec3 *points, uint32_t point_count,
                            lmi_cluster_lists *lists, const char **fault)
{
    memset(lists, 0, sizeof *lists);
    *fault = "clusters.kind is not one of lm_cluster_kind";
    lm_result result = LM_ERROR_ARGUMENT;
    if (def->kind == LM_CLUSTERS_COUNTS || def->kind == LM_CLUSTERS_SIZE) {
        result = make_cells(memory, def, points, point_count, lists, fault);
    } else if (def->kind == LM_CLUSTERS_LISTS) {
        *fault = NULL;
        result = copy_lists(memory, def, point_count, lists, fault);
    }
    if (def->kind == LM_CLUSTERS_KMEANS) {
        result = lmi_clusters_kmeans(memory, def, points, point_count, lists, fault);
    } else if (def->kind == LM_CLUSTERS_ELEMENTS || def->kind == LM_CLUSTERS_RINGS) {
        result = lmi_clusters_elements(memory, def, point_count, lists, fault);
    }
    if (result != LM_OK) {
        lmi_clusters_free(memory, lists);
    }
    return result;
}

void lmi_clusters_free(lmi_memory *memory, lmi_cluster_lists *lists)
{
    lmi_release(memory, lists->offsets, lists->offset_capacity, sizeof *lists->offsets);
    lmi_release(memory, lists->members, lists->member_capacity, sizeof *lists->members);
    memset(lists, 0, sizeof *lists);
}
