/*
 * Clusters by k-means with neighbours added (Chentanez 2007): compact groups of points, each grown by a ring or more of its
 * neighbours so that groups overlap and hold together.
 *
 * Deterministic: the first centre is the point nearest to the mean, each next one the point farthest from those there are,
 * ties go to the lower index, and sums run in the order of the points. Trees of boxes (nearest.h) tell which points and centres need not be
 * compared; what is found does not depend on them.
 */
#include "base/vec.h"
#include "cluster/cluster.h"
#include "geometry/nearest.h"

#include <string.h>

#define ROUNDS 30
#define NEAREST 6 /* neighbours of a point where no elements say who they are */

typedef struct groups {
    lm_dvec3 *centre;
    uint32_t *size;
    uint32_t *of;   /* group of each point */
    double *square; /* distance to its centre; in the order of the tree of points */
    lmi_nearest points, centres;
    lmi_neighbour
        *farthest; /* [nodes of the tree of points] of the points of a node, the one farthest from all centres */
    uint32_t count, point_count;
} groups;

static double square_distance(lm_dvec3 a, lm_vec3 b)
{
    lm_dvec3 d = dvec_sub(a, dvec_from(b));
    return dvec_dot(d, d);
}

static bool is_farther(lmi_neighbour a, lmi_neighbour b)
{
    return a.square > b.square || (a.square == b.square && a.index < b.index);
}

/* Distances of the points of a node from the nearest centre, when there is one more. */
static void add_centre(groups *g, lm_dvec3 centre, uint32_t node, uint32_t first, uint32_t last)
{
    if (lmi_nearest_gap(&g->points.nodes[node], centre) >= g->farthest[node].square) {
        return;
    }
    lmi_neighbour farthest = {-1.0, 0};
    if (last - first <= LMI_NEAREST_LEAF) {
        for (uint32_t n = first; n < last; n++) {
            lm_dvec3 way = dvec_sub(centre, g->points.points[n]);
            g->square[n] = lmi_min(dvec_dot(way, way), g->square[n]);
            lmi_neighbour here = {g->square[n], g->points.index[n]};
            farthest = is_farther(here, farthest) ? here : farthest;
        }
        g->points.memory->work += last - first;
    } else {
        uint32_t middle = first + (last - first) / 2;
        add_centre(g, centre, 2 * node, first, middle);
        add_centre(g, centre, 2 * node + 1, middle, last);
        const lmi_neighbour *half = &g->farthest[2 * node];
        farthest = is_farther(half[1], half[0]) ? half[1] : half[0];
    }
    g->farthest[node] = farthest;
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
    for (uint32_t node = 0; node < lmi_nearest_nodes(&g->points); node++) {
        g->farthest[node].square = INFINITY;
    }
    for (uint32_t k = 0; k < g->count; k++) {
        g->centre[k] = dvec_from(points[next]);
        add_centre(g, g->centre[k], 1, 0, g->point_count);
        next = g->farthest[1].index;
    }
}

/* Gives each point to its nearest centre; returns how many changed. */
static uint32_t assign_points(groups *g, const lm_vec3 *points)
{
    uint32_t changed = 0;
    memset(g->size, 0, g->count * sizeof *g->size);
    memcpy(g->centres.points, g->centre, g->count * sizeof *g->centre);
    lmi_nearest_build(&g->centres);
    for (uint32_t n = 0; n < g->point_count; n++) {
        lmi_neighbour best = {square_distance(g->centre[g->of[n]], points[n]), g->of[n]};
        lmi_nearest_find(&g->centres, dvec_from(points[n]), 1, UINT32_MAX, &best, 1);
        changed += g->of[n] != best.index;
        g->of[n] = best.index;
        g->size[best.index]++;
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

/* The NEAREST nearest of every point. */
static bool find_nearest(lmi_memory *memory, const lmi_nearest *points, lmi_neighbours *out)
{
    uint32_t point_count = points->count, each = point_count - 1 < NEAREST ? point_count - 1 : NEAREST;
    memset(out, 0, sizeof *out);
    out->point_count = point_count;
    out->count = out->capacity = each * point_count;
    out->offsets = lmi_allocate(memory, (size_t)point_count + 1, sizeof *out->offsets);
    out->indices = lmi_allocate(memory, out->capacity, sizeof *out->indices);
    for (uint32_t k = 0; out->offsets && out->indices && k < point_count; k++) { /* near ones after each other */
        uint32_t n = points->index[k];
        lmi_neighbour found[NEAREST];
        lmi_nearest_find(points, points->points[k], each, n, found, 0);
        for (uint32_t m = 0; m < each; m++) {
            out->indices[(size_t)n * each + m] = found[m].index;
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

static lm_result collect_groups(lmi_memory *memory, const lm_clusters *def, const groups *g, lmi_cluster_lists *lists)
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
                                : find_nearest(memory, &g->points, &near);
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
    bool ok =
        lmi_nearest_make_from(&g.points, memory, points, point_count) && lmi_nearest_make(&g.centres, memory, g.count);
    uint32_t nodes = lmi_nearest_nodes(&g.points);
    g.farthest = lmi_allocate(memory, nodes, sizeof *g.farthest);
    if (ok && g.centre && g.size && g.of && g.square && g.farthest) {
        spread_centres(&g, points);
        for (int round = 0; round < ROUNDS; round++) {
            if (assign_points(&g, points) == 0 && round > 0) {
                break;
            }
            move_centres(&g, points);
        }
        result = collect_groups(memory, def, &g, lists);
    }
    lmi_release(memory, g.centre, g.count, sizeof *g.centre);
    lmi_release(memory, g.size, g.count, sizeof *g.size);
    lmi_release(memory, g.of, point_count, sizeof *g.of);
    lmi_release(memory, g.square, point_count, sizeof *g.square);
    lmi_release(memory, g.farthest, nodes, sizeof *g.farthest);
    lmi_nearest_free(&g.points);
    lmi_nearest_free(&g.centres);
    return result;
}
