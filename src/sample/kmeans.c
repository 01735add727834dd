/*
 * Clusters by k-means with neighbours added (Chentanez 2007): compact groups of points, each grown by a ring or more of its
 * neighbours so that groups overlap and hold together.
 *
 * Deterministic: the first centre is the point nearest to the mean, each next one the point farthest from those there are,
 * ties go to the lower index, and sums run in the order of the points.
 */
#include "base/vec.h"
#include "sample/cluster.h"

#include <string.h>

#define ROUNDS 30
#define NEAREST 6 /* neighbours of a point where no elements say who they are */

typedef struct groups {
    lm_dvec3 *centre;
    uint32_t *size;
    uint32_t *of;   /* group of each point */
    double *square; /* distance to its centre */
    uint32_t count, point_count;
} groups;

static double square_distance(lm_dvec3 a, lm_vec3 b)
{
    lm_dvec3 d = dvec_sub(a, dvec_from(b));
    return dvec_dot(d, d);
}

static void spread_centres(groups *g, const lm_vec3 *points)
{
    lm_dvec3 mean = lm_dvec3_zero();
    for (uint32_t n = 0; n < g->point_count; n++) {
        mean = dvec_add(mean, dvec_scale(dvec_from(points[n]), 1.0 / g->point_count));
    }
    uint32_t next = 0;
    for (uint32_t n = 0; n < g->point_count; n++) {
        g->square[n] = INFINITY;
        next = square_distance(mean, points[n]) < square_distance(mean, points[next]) ? n : next;
    }
    for (uint32_t k = 0; k < g->count; k++) {
        g->centre[k] = dvec_from(points[next]);
        next = 0;
        for (uint32_t n = 0; n < g->point_count; n++) {
            double square = square_distance(g->centre[k], points[n]);
            g->square[n] = square < g->square[n] ? square : g->square[n];
            next = g->square[n] > g->square[next] ? n : next;
        }
    }
}

/* Gives each point to its nearest centre; returns how many changed. */
static uint32_t assign_points(groups *g, const lm_vec3 *points)
{
    uint32_t changed = 0;
    memset(g->size, 0, g->count * sizeof *g->size);
    for (uint32_t n = 0; n < g->point_count; n++) {
        uint32_t best = 0;
        double least = square_distance(g->centre[0], points[n]);
        for (uint32_t k = 1; k < g->count; k++) {
            double square = square_distance(g->centre[k], points[n]);
            if (square < least) {
                least = square;
                best = k;
            }
        }
        changed += g->of[n] != best;
        g->of[n] = best;
        g->size[best]++;
    }
    return changed;
}

static void move_centres(groups *g, const lm_vec3 *points)
{
    for (uint32_t k = 0; k < g->count; k++) { /* an empty group keeps its centre */
        g->centre[k] = g->size[k] ? lm_dvec3_zero() : g->centre[k];
    }
    for (uint32_t n = 0; n < g->point_count; n++) {
        uint32_t k = g->of[n];
        g->centre[k] = dvec_add(g->centre[k], dvec_scale(dvec_from(points[n]), 1.0 / g->size[k]));
    }
}

/* The NEAREST nearest of every point, by comparing all: bodies have thousands of points, not millions. */
static bool find_nearest(lmi_memory *memory, const lm_vec3 *points, uint32_t point_count, lmi_neighbours *out)
{
    uint32_t each = point_count - 1 < NEAREST ? point_count - 1 : NEAREST;
    memset(out, 0, sizeof *out);
    out->point_count = point_count;
    out->count = out->capacity = each * point_count;
    out->offsets = lmi_allocate(memory, (size_t)point_count + 1, sizeof *out->offsets);
    out->indices = lmi_allocate(memory, out->capacity, sizeof *out->indices);
    for (uint32_t n = 0; out->offsets && out->indices && n < point_count; n++) {
        double square[NEAREST];
        uint32_t *index = out->indices + (size_t)n * each, found = 0;
        for (uint32_t m = 0; m < point_count; m++) {
            double s = square_distance(dvec_from(points[n]), points[m]);
            if (m == n || (found == each && (each == 0 || s >= square[each - 1]))) {
                continue;
            }
            uint32_t at = found < each ? found++ : each - 1;
            for (; at > 0 && s < square[at - 1]; at--) {
                square[at] = square[at - 1];
                index[at] = index[at - 1];
            }
            square[at] = s;
            index[at] = m;
        }
        out->offsets[n + 1] = (n + 1) * each;
    }
    return out->offsets && out->indices;
}

/* Adds the neighbours of all memberships to their groups. Returns the new count, or 0 when out of memory. */
static uint64_t add_ring(lmi_memory *memory, const lmi_neighbours *near, lmi_membership **all, uint64_t *capacity,
                         uint64_t count)
{
    uint64_t more = count;
    for (uint64_t n = 0; n < count; n++) {
        uint32_t p = (*all)[n].particle;
        more += near->offsets[p + 1] - near->offsets[p];
    }
    lmi_membership *grown = more <= LM_MAX_MEMBERSHIPS ? lmi_allocate(memory, more, sizeof *grown) : NULL;
    if (!grown) {
        return 0;
    }
    memcpy(grown, *all, count * sizeof *grown);
    uint64_t at = count;
    for (uint64_t n = 0; n < count; n++) {
        uint32_t p = grown[n].particle;
        for (uint32_t k = near->offsets[p]; k < near->offsets[p + 1]; k++) {
            lmi_membership m = {grown[n].cell, near->indices[k]};
            grown[at++] = m;
        }
    }
    lmi_release(memory, *all, *capacity, sizeof *grown);
    *all = grown;
    *capacity = more;
    /* Repeated ones go at once, so that rings do not multiply them. */
    lmi_cluster_lists lists = {0};
    if (lmi_clusters_collect(memory, grown, at, &lists) != LM_OK) {
        lmi_clusters_free(memory, &lists);
        return 0;
    }
    uint64_t kept = 0;
    for (uint64_t n = 0; n < at; n++) { /* sorted now */
        if (n == 0 || grown[n].cell != grown[n - 1].cell || grown[n].particle != grown[n - 1].particle) {
            lmi_membership m = grown[n];
            grown[kept++] = m;
        }
    }
    lmi_clusters_free(memory, &lists);
    return kept;
}

static lm_result collect_groups(lmi_memory *memory, const lm_clusters *def, const lm_vec3 *points, const groups *g,
                                lmi_cluster_lists *lists)
{
    uint64_t count = g->point_count, capacity = count;
    lmi_membership *all = lmi_allocate(memory, capacity, sizeof *all);
    lmi_neighbours near = {0};
    bool ok = all != NULL;
    for (uint32_t n = 0; ok && n < g->point_count; n++) {
        all[n].cell = g->of[n];
        all[n].particle = n;
    }
    if (ok && def->rings > 0) {
        ok = def->element_count ? lmi_neighbours_of_elements(memory, def, g->point_count, &near)
                                : find_nearest(memory, points, g->point_count, &near);
    }
    for (uint32_t ring = 0; ok && ring < def->rings; ring++) {
        uint64_t before = count;
        count = add_ring(memory, &near, &all, &capacity, count);
        ok = count > 0;
        if (count == before) {
            break; /* every group has all it can reach */
        }
    }
    lm_result result = ok ? lmi_clusters_collect(memory, all, count, lists) : LM_ERROR_MEMORY;
    lmi_release(memory, all, capacity, sizeof *all);
    lmi_neighbours_free(memory, &near);
    return result;
}

lm_result lmi_clusters_kmeans(lmi_memory *memory, const lm_clusters *def, const lm_vec3 *points, uint32_t point_count,
                              lmi_cluster_lists *lists, const char **fault)
{
    *fault = def->count == 0 ? "clusters.count must be at least 1" : NULL;
    *fault = !*fault && def->element_count ? lmi_elements_fault(def, point_count) : *fault;
    if (*fault) {
        return LM_ERROR_ARGUMENT;
    }
    groups g = {.count = def->count < point_count ? def->count : point_count, .point_count = point_count};
    g.centre = lmi_allocate(memory, g.count, sizeof *g.centre);
    g.size = lmi_allocate(memory, g.count, sizeof *g.size);
    g.of = lmi_allocate(memory, point_count, sizeof *g.of);
    g.square = lmi_allocate(memory, point_count, sizeof *g.square);
    lm_result result = LM_ERROR_MEMORY;
    if (g.centre && g.size && g.of && g.square) {
        spread_centres(&g, points);
        for (int round = 0; round < ROUNDS; round++) {
            if (assign_points(&g, points) == 0 && round > 0) {
                break;
            }
            move_centres(&g, points);
        }
        result = collect_groups(memory, def, points, &g, lists);
    }
    lmi_release(memory, g.centre, g.count, sizeof *g.centre);
    lmi_release(memory, g.size, g.count, sizeof *g.size);
    lmi_release(memory, g.of, point_count, sizeof *g.of);
    lmi_release(memory, g.square, point_count, sizeof *g.square);
    return result;
}
