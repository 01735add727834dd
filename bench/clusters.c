/*
 * What a step of clusters costs.
 *
 *   crowd    the scene (Müller et al. 2005, figure 9): every instruction set, one thread and several, and the plain
 *            program; by stage
 *   plastic  the same crowd elastic, and with a yield that is never reached: what it costs to watch for it
 *   figure8  one body of 100 to 10,000 points in 1, 8 or 64 clusters, linear and quadratic (figure 8 of the paper)
 *   tets     2,025 particles of a bar of tetrahedra, a region around each (the size of Koyama et al. 2012, table 1)
 *
 * Contestants take turns of a few steps each, all from the same state onwards.
 */
#include "limber/scene.h"
#include "limber/shapes.h"
#include "plain.h"
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME (1.0 / 60.0)
#define MAX_CONTESTANTS 32 /* four instruction sets with 1, 2, 4, ... 64 threads, and the plain program */

enum { ROW_MATCH = LM_STAGE_COUNT, ROW_STEP, ROW_COUNT };

/* The library with one instruction set and number of threads, or the plain program. */
typedef struct contestant {
    lm_world *world;    /* null: plain */
    plain_world *plain; /* null: limber */
    lm_scene *scene;    /* that drives the world, or null */
    lm_isa isa;
    uint32_t threads;
    const char *mode; /* null: the contest's */
    bench_samples rows[ROW_COUNT];
} contestant;

typedef struct cluster_contest {
    contestant list[MAX_CONTESTANTS];
    uint32_t count;
    uint32_t particles, regions, substeps;
} cluster_contest;

static void contest_free(cluster_contest *contest)
{
    for (uint32_t i = 0; i < contest->count; i++) {
        contestant *c = &contest->list[i];
        lm_world_destroy(c->world);
        plain_free(c->plain);
        lm_scene_close(c->scene);
        for (int row = 0; row < ROW_COUNT; row++) bench_samples_free(&c->rows[row]);
    }
    *contest = (cluster_contest){0};
}

/* ------------------------------------------------------------------------------------------------------------------
 * Measuring
 */

/* Seconds of a turn, summed over its steps. */
typedef struct turn_times {
    double rows[ROW_COUNT];
} turn_times;

static bool limber_turn(contestant *c, uint32_t steps, turn_times *times)
{
    for (uint32_t i = 0; i < steps; i++) {
        if (lm_world_step(c->world, FRAME) != LM_OK) return false;
        lm_stats stats;
        lm_world_get_stats(c->world, &stats);
        double stages = 0.0;
        for (int stage = 0; stage < LM_STAGE_COUNT; stage++) {
            times->rows[stage] += stats.stage_seconds[stage];
            stages += stats.stage_seconds[stage];
        }
        double match = stats.stage_seconds[LM_STAGE_GATHER] + stats.stage_seconds[LM_STAGE_FIT] +
                       stats.stage_seconds[LM_STAGE_SCATTER];
        /* Stages are summed over threads: on the wall clock their share of the step counts. */
        if (c->threads > 1 && stages > 0.0) match *= stats.step_seconds / stages;
        times->rows[ROW_MATCH] += match;
        times->rows[ROW_STEP] += stats.step_seconds;
    }
    return true;
}

static void plain_turn(contestant *c, uint32_t steps, turn_times *times)
{
    for (uint32_t i = 0; i < steps; i++) {
        plain_times taken;
        plain_step(c->plain, FRAME, &taken);
        times->rows[LM_STAGE_PREDICT] += 1e-9 * taken.predict;
        times->rows[LM_STAGE_INTEGRATE] += 1e-9 * taken.integrate;
        times->rows[ROW_MATCH] += 1e-9 * taken.match;
        times->rows[ROW_STEP] += 1e-9 * taken.step;
    }
}

/* How long to measure. */
typedef struct bench_effort {
    uint32_t rounds;  /* turns of each contestant */
    uint32_t samples; /* in a turn */
    uint32_t steps;   /* in a sample */
} bench_effort;

static bool take_turn(contestant *c, uint32_t steps, turn_times *times)
{
    *times = (turn_times){0};
    if (!c->plain) return limber_turn(c, steps, times);
    plain_turn(c, steps, times);
    return true;
}

/* A turn begins with a step that only brings the contestant's data back into the caches. */
static bool measure(cluster_contest *contest, bench_effort effort)
{
    double unit = 1e9 / ((double)contest->particles * contest->substeps * effort.steps);
    for (uint32_t round = 0; round < effort.rounds; round++) {
        for (uint32_t i = 0; i < contest->count; i++) {
            contestant *c = &contest->list[i];
            turn_times times;
            if (!take_turn(c, 1, &times)) return false;
            for (uint32_t sample = 0; sample < effort.samples; sample++) {
                if (!take_turn(c, effort.steps, &times)) return false;
                for (int row = 0; row < ROW_COUNT; row++) bench_samples_add(&c->rows[row], unit * times.rows[row]);
            }
        }
    }
    return true;
}

static const char *row_name(int row)
{
    if (row == ROW_MATCH) return "match";
    if (row == ROW_STEP) return "step";
    return lm_stage_name((lm_stage)row);
}

/* Whether the plain program has this row: its match is one loop, and its floor is part of integrate. */
static bool plain_has_row(int row)
{
    return row == LM_STAGE_PREDICT || row == LM_STAGE_INTEGRATE || row == ROW_MATCH || row == ROW_STEP;
}

static void add_rows(bench_report *report, cluster_contest *contest, const char *name, const char *mode, bool stages)
{
    for (uint32_t i = 0; i < contest->count; i++) {
        contestant *c = &contest->list[i];
        for (int row = 0; row < ROW_COUNT; row++) {
            if (c->plain && !plain_has_row(row)) continue;
            if (!stages && row < ROW_MATCH) continue;
            bench_row line = {.bench = "clusters",
                              .name = name,
                              .variant = c->plain ? "plain" : "limber",
                              .stage = row_name(row),
                              .particles = contest->particles,
                              .threads = c->threads,
                              .isa = lm_isa_name(c->isa),
                              .mode = c->mode ? c->mode : mode,
                              .clusters = contest->regions};
            bench_report_add(report, line, &c->rows[row]);
        }
    }
    bench_report_write(report);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The crowd
 */

static bool add_plain(cluster_contest *contest, const lm_world *world, bool floor)
{
    contestant *c = &contest->list[contest->count];
    *c = (contestant){.plain = plain_make(world), .isa = LM_ISA_SCALAR, .threads = 1};
    if (!c->plain) return false;
    plain_set_floor(c->plain, floor);
    contest->count++;
    return true;
}

static void note_sizes(cluster_contest *contest, const lm_world *world)
{
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    contest->particles = stats.particles;
    contest->regions = stats.regions;
    contest->substeps = stats.substeps;
}

static bool add_scene(cluster_contest *contest, const char *name, lm_isa isa, uint32_t threads, lm_scene_error *error)
{
    contestant *c = &contest->list[contest->count++];
    *c = (contestant){.isa = isa, .threads = threads};
    /* Contacts between bodies have a benchmark of their own. */
    static const char *const alone[] = {"bodies[0].mask=0", "bodies[1].mask=0", "bodies[2].mask=0", "bodies[3].mask=0",
                                        "bodies[4].mask=0", "bodies[5].mask=0", "bodies[6].mask=0", "bodies[7].mask=0",
                                        "bodies[8].mask=0", "bodies[9].mask=0", "bodies[10].mask=0"};
    c->scene = lm_scene_open(name, alone, sizeof alone / sizeof alone[0], error);
    if (!c->scene) return false;
    lm_world_def def = lm_world_def_default();
    def.isa = isa;
    def.workers = threads;
    return lm_scene_make_world(c->scene, &def, &c->world, error) == LM_OK;
}

/* Everyone but the plain program steps for a while, so that it starts in the middle of the fall. */
static bool warm_up(cluster_contest *contest, uint32_t frames)
{
    for (uint32_t i = 0; i < contest->count; i++)
        for (uint32_t frame = 0; frame < frames; frame++)
            if (lm_world_step(contest->list[i].world, FRAME) != LM_OK) return false;
    return true;
}

static int bench_crowd(const bench_options *options, bench_report *report)
{
    lm_isa isas[LM_ISA_COUNT];
    uint32_t isa_count = bench_isas(options, isas);
    cluster_contest contest = {0};
    lm_scene_error error = {.text = "out of memory"};
    bool ready = true;
    bench_progress("crowd");
    for (uint32_t threads = 1; threads <= options->threads && ready; threads *= 2)
        for (uint32_t i = 0; i < isa_count && contest.count + 1 < MAX_CONTESTANTS && ready; i++)
            ready = add_scene(&contest, "crowd", isas[i], threads, &error);
    ready = ready && warm_up(&contest, options->quick ? 1 : 30);
    if (ready) note_sizes(&contest, contest.list[0].world);
    ready = ready && add_plain(&contest, contest.list[0].world, true);
    ready = ready && measure(&contest, options->quick ? (bench_effort){2, 1, 1} : (bench_effort){60, 4, 1});
    if (ready) add_rows(report, &contest, "crowd", "quadratic", true);
    contest_free(&contest);
    return ready ? 0 : bench_fail(error.text);
}

/* Gives every body a yield beyond any strain. */
static bool make_plastic(lm_world *world)
{
    uint32_t count = lm_world_get_bodies(world, NULL, 0);
    lm_body_id *ids = calloc(count + 1, sizeof *ids);
    bool ok = ids != NULL;
    lm_world_get_bodies(world, ids, ok ? count : 0);
    for (uint32_t i = 0; ok && i < count; i++) {
        lm_material material;
        ok = lm_body_get_material(world, ids[i], &material) == LM_OK;
        material.yield = 1000.0f;
        ok = ok && lm_body_set_material(world, ids[i], &material) == LM_OK;
    }
    free(ids);
    return ok;
}

static int bench_plastic(const bench_options *options, bench_report *report)
{
    lm_isa isas[LM_ISA_COUNT];
    lm_isa widest = isas[bench_isas(options, isas) - 1];
    cluster_contest contest = {0};
    lm_scene_error error = {.text = "out of memory"};
    bench_progress("plastic");
    bool ready = add_scene(&contest, "crowd", widest, 1, &error) && add_scene(&contest, "crowd", widest, 1, &error);
    ready = ready && make_plastic(contest.list[1].world);
    ready = ready && warm_up(&contest, options->quick ? 1 : 30);
    if (ready) {
        contest.list[1].mode = "quadratic plastic";
        note_sizes(&contest, contest.list[0].world);
    }
    ready = ready && measure(&contest, options->quick ? (bench_effort){2, 1, 1} : (bench_effort){60, 4, 1});
    if (ready) add_rows(report, &contest, "plastic", "quadratic", true);
    contest_free(&contest);
    return ready ? 0 : bench_fail(error.text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Figure 8
 */

/* A spinning cube of `points` points: the same cost every step, without colliders. */
static lm_result make_cube(lm_world *world, const lm_shape_cloud *cloud, uint32_t clusters, lm_mode mode)
{
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    def.points = cloud->points;
    def.point_count = cloud->point_count;
    for (int axis = 0; axis < 3; axis++) def.clusters.counts[axis] = clusters;
    def.material.mode = mode;
    def.spin = (lm_vec3){1.0f, 2.0f, 3.0f};
    lm_body_id body;
    return lm_body_create(world, &def, &body);
}

static lm_result make_cube_cloud(uint32_t points, lm_shape_cloud *cloud)
{
    lm_shape_def def = lm_shape_def_default();
    while (12u * (def.detail + 1) * (def.detail + 1) < points) def.detail++;
    if (points < 12u * def.detail * def.detail) def.detail = 2; /* about half of the points outside, half inside */
    lm_shape_mesh mesh;
    lm_result result = lm_shape_make_mesh(&def, &mesh);
    if (result == LM_OK) result = lm_shape_make_cloud(&def, &mesh, points, cloud);
    lm_shape_mesh_free(&mesh);
    return result;
}

static bool add_cube(cluster_contest *contest, const lm_shape_cloud *cloud, uint32_t clusters, lm_mode mode, lm_isa isa)
{
    contestant *c = &contest->list[contest->count++];
    *c = (contestant){.isa = isa, .threads = 1};
    lm_world_def def = lm_world_def_default();
    def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    def.workers = 1;
    def.isa = isa;
    return lm_world_create(&def, &c->world) == LM_OK && make_cube(c->world, cloud, clusters, mode) == LM_OK;
}

static int bench_cube(const bench_options *options, bench_report *report, uint32_t points, uint32_t clusters,
                      lm_mode mode)
{
    lm_isa isas[LM_ISA_COUNT];
    uint32_t isa_count = bench_isas(options, isas);
    const char *mode_name = mode == LM_MODE_LINEAR ? "linear" : "quadratic";
    char what[80];
    snprintf(what, sizeof what, "figure8: %u points, %u clusters, %s", points, clusters * clusters * clusters,
             mode_name);
    bench_progress(what);

    lm_shape_cloud cloud = {0};
    cluster_contest contest = {0};
    bool ready = make_cube_cloud(points, &cloud) == LM_OK;
    ready = ready && add_cube(&contest, &cloud, clusters, mode, isas[isa_count - 1]);
    if (ready) note_sizes(&contest, contest.list[0].world);
    ready = ready && add_plain(&contest, contest.list[0].world, false);
    uint32_t steps = points < 20000 ? 20000 / points : 1; /* half a millisecond or so of the library */
    ready = ready && measure(&contest, options->quick ? (bench_effort){2, 1, 1} : (bench_effort){30, 2, steps});
    if (ready) add_rows(report, &contest, "figure8", mode_name, false);
    contest_free(&contest);
    lm_shape_cloud_free(&cloud);
    return ready ? 0 : bench_fail("figure8 could not be measured: out of memory");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Tetrahedra
 */

/* A spinning bar of 8 x 8 x 24 cells. */
static bool add_bar(cluster_contest *contest, lm_isa isa, lm_mode mode)
{
    contestant *c = &contest->list[contest->count++];
    *c = (contestant){.isa = isa, .threads = 1};
    lm_world_def world_def = lm_world_def_default();
    world_def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    world_def.workers = 1;
    world_def.isa = isa;
    lm_shape_def shape = lm_shape_def_default();
    shape.name = "box";
    shape.size = (lm_vec3){0.8f, 0.8f, 2.4f};
    lm_shape_mesh mesh;
    if (lm_world_create(&world_def, &c->world) != LM_OK || lm_shape_make_mesh(&shape, &mesh) != LM_OK) return false;
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    def.tets.vertices = mesh.vertices;
    def.tets.vertex_count = mesh.vertex_count;
    def.tets.triangles = mesh.triangles;
    def.tets.triangle_count = mesh.triangle_count;
    def.tets.spacing = 0.1f;
    def.material.mode = mode;
    def.spin = (lm_vec3){1.0f, 2.0f, 3.0f};
    lm_body_id body;
    lm_result result = lm_body_create(c->world, &def, &body);
    lm_shape_mesh_free(&mesh);
    return result == LM_OK;
}

static int bench_tets(const bench_options *options, bench_report *report, lm_mode mode)
{
    lm_isa isas[LM_ISA_COUNT];
    uint32_t isa_count = bench_isas(options, isas);
    cluster_contest contest = {0};
    bool ready = true;
    bench_progress("tets");
    for (uint32_t i = 0; i < isa_count && ready; i++) ready = add_bar(&contest, isas[i], mode);
    if (ready) note_sizes(&contest, contest.list[0].world);
    ready = ready && add_plain(&contest, contest.list[0].world, false);
    ready = ready && measure(&contest, options->quick ? (bench_effort){2, 1, 1} : (bench_effort){30, 2, 10});
    if (ready) add_rows(report, &contest, "tets", mode == LM_MODE_RIGID ? "rigid" : "linear", true);
    contest_free(&contest);
    return ready ? 0 : bench_fail("tets could not be measured: out of memory");
}

int bench_clusters(const bench_options *options, bench_report *report)
{
    static const uint32_t points[] = {100, 1000, 2000, 5000, 10000};
    static const uint32_t clusters[] = {1, 2, 4}; /* along each axis */
    int status = bench_crowd(options, report);
    if (status == 0) status = bench_plastic(options, report);
    if (status == 0) status = bench_tets(options, report, LM_MODE_RIGID);
    if (status == 0) status = bench_tets(options, report, LM_MODE_LINEAR);
    uint32_t sizes = options->quick ? 1 : sizeof points / sizeof points[0];
    for (int mode = LM_MODE_LINEAR; mode <= LM_MODE_QUADRATIC; mode++)
        for (uint32_t c = 0; c < sizeof clusters / sizeof clusters[0]; c++)
            for (uint32_t p = 0; p < sizes && status == 0; p++)
                status = bench_cube(options, report, points[p], clusters[c], (lm_mode)mode);
    return status;
}
