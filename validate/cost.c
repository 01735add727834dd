/*
 * What the kinds of bodies cost: memory, and processor time of a substep, for a solid cube of a metre in free space. Time depends on the
 * machine, and has no limits; compare the rows with each other.
 */
#include "validate/specimen.h"
#include "validate/studies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOWS 7

typedef struct cost_case {
    const char *name;
    sampling kind; /* SAMPLING_COUNT: clusters */
    uint32_t width, levels, count;
} cost_case;

static const cost_case cases[] = {
    {"lattice, width 1", LATTICE, 1, 0, 0},
    {"lattice, width 2", LATTICE, 2, 0, 0},
    {"lattice, width 4", LATTICE, 4, 0, 0},
    {"octree, one size, width 1", OCTREE, 1, 0, 0},
    {"octree, one size, width 2", OCTREE, 2, 0, 0},
    {"octree, cells of 4 sizes", OCTREE, 4, 3, 0},
    {"tetrahedra", TETS, 1, 0, 0},
    {"clusters: one region", SAMPLING_COUNT, 0, 0, 1},
    {"clusters: 64 regions", SAMPLING_COUNT, 0, 0, 64},
};

static const uint32_t triangles[36] = {0, 3, 1, 0, 2, 3, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                       2, 7, 3, 2, 6, 7, 0, 6, 2, 0, 4, 6, 1, 3, 7, 1, 7, 5};

static void fill_points(uint32_t cells, lm_vec3 *points)
{
    uint32_t side = cells + 1;
    for (uint32_t n = 0; n < side * side * side; n++) {
        points[n] = (lm_vec3){(float)(n % side) / (float)cells, (float)(n / side % side) / (float)cells,
                              (float)(n / side / side) / (float)cells};
    }
}

static void define(const cost_case *c, uint32_t cells, const lm_vec3 *corners, const lm_vec3 *points, lm_body_def *def)
{
    float spacing = 1.0f / (float)cells;
    *def = lm_body_def_default();
    if (c->kind == LATTICE) {
        def->lattice.vertices = corners, def->lattice.vertex_count = 8;
        def->lattice.triangles = triangles, def->lattice.triangle_count = 12;
        def->lattice.spacing = spacing, def->lattice.width = c->width;
    } else if (c->kind == OCTREE) {
        def->octree.vertices = corners, def->octree.vertex_count = 8;
        def->octree.triangles = triangles, def->octree.triangle_count = 12;
        def->octree.spacing = spacing, def->octree.levels = c->levels;
        def->octree.detail = c->levels > 0 ? 2.0f : 0.0f;
        def->octree.width = (float)c->width * spacing;
    } else if (c->kind == TETS) {
        def->tets.vertices = corners, def->tets.vertex_count = 8;
        def->tets.triangles = triangles, def->tets.triangle_count = 12;
        def->tets.spacing = spacing;
    } else {
        def->points = points, def->point_count = (cells + 1) * (cells + 1) * (cells + 1);
        def->clusters.kind = c->count > 1 ? LM_CLUSTERS_KMEANS : LM_CLUSTERS_COUNTS;
        def->clusters.count = c->count;
    }
    def->material.hertz = 20.0f;
}

/* The fastest of some windows: what disturbs one only makes it slower. */
static lm_result time_steps(lm_world *world, uint32_t steps, double *nanoseconds)
{
    *nanoseconds = INFINITY;
    for (int n = 0; n < WINDOWS; n++) {
        clock_t before = clock();
        for (uint32_t k = 0; k < steps; k++) {
            lm_result result = lm_world_step(world, 1.0 / 240.0);
            if (result != LM_OK) {
                return result;
            }
        }
        *nanoseconds = fmin(*nanoseconds, 1e9 * (double)(clock() - before) / CLOCKS_PER_SEC / steps);
    }
    return LM_OK;
}

static bool measure(report *r, const cost_case *c, uint32_t cells, const lm_vec3 *points)
{
    lm_vec3 corners[8];
    for (int n = 0; n < 8; n++) {
        corners[n] = (lm_vec3){n & 1 ? 1.0f : 0.0f, n & 2 ? 1.0f : 0.0f, n & 4 ? 1.0f : 0.0f};
    }
    lm_world_def world_def = lm_world_def_default();
    lm_body_def def;
    lm_world *world = NULL;
    lm_body_id body;
    lm_stats empty, full;
    lm_body_info info;
    double nanoseconds = 0.0;
    world_def.workers = 1;
    world_def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    define(c, cells, corners, points, &def);
    def.spin = (lm_vec3){0.3f, 0.2f, 0.1f};
    lm_result result = lm_world_create(&world_def, &world);
    if (result == LM_OK) {
        lm_world_get_stats(world, &empty);
        result = lm_body_create(world, &def, &body);
    }
    result = result ? result : time_steps(world, r->options->quick ? 2 : 20, &nanoseconds);
    if (result == LM_OK) {
        lm_world_get_stats(world, &full);
        result = lm_body_get_info(world, body, &info);
    }
    if (result == LM_OK) {
        report_row(r, "%s|%u|%.1f|%.0f|%.0f|%.3f", c->name, info.particles, (double)info.memberships / info.particles,
                   (double)(full.memory - empty.memory) / info.particles, nanoseconds / info.particles,
                   1e-6 * nanoseconds);
    }
    lm_world_destroy(world);
    return result == LM_OK || report_fail(r, "%s: %s", c->name, lm_result_text(result));
}

bool study_cost(report *r)
{
    const uint32_t cells = r->options->quick ? 6 : 12;
    report_study(r, "cost", "Cost of the kinds of bodies",
                 "A solid cube of a metre, 12 cells a side, spins in free space on one thread. *Members* are the "
                 "regions that a particle is in (what is summed\n"
                 "directly; lattices and octrees share partial sums). Processor time depends on the machine and on "
                 "what else runs on it: compare rows, not pages.");
    lm_vec3 *points = calloc((size_t)(cells + 1) * (cells + 1) * (cells + 1), sizeof *points);
    if (points == NULL) {
        return report_fail(r, "out of memory");
    }
    fill_points(cells, points);
    report_columns(r, "body|particles|members a particle|bytes a particle|ns a particle and substep|ms a substep");
    bool ok = true;
    for (size_t n = 0; ok && n < sizeof cases / sizeof cases[0]; n++) {
        ok = measure(r, &cases[n], cells, points);
    }
    free(points);
    report_end_table(r);
    return ok;
}
