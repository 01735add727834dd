/*
 * What examples add to a step: bodies of tetrahedra with a one-ring region around each particle, of the sizes of table 1 of
 * Koyama et al. 2012, without examples, with one mix for the body, and with one for each region. The method of a row says
 * which; the projection is part of the fit.
 *
 * Contestants take turns of a few steps each. The bodies ring without damping, so that there is always something to project.
 */
#include "block.h"
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>

#define FRAME (1.0 / 60.0)

enum { METHODS = 3, ROW_FIT = 0, ROW_STEP, ROWS };

static const char *const method_names[METHODS] = {"none", "global", "regions"};
static const char *const row_names[ROWS] = {"fit", "step"};

static lm_world *make_world(const tets_block *b, int method, lm_isa isa)
{
    lm_world_def world_def = lm_world_def_default();
    lm_world *world = NULL;
    world_def.gravity = (lm_vec3){0, 0, 0};
    world_def.workers = 1;
    world_def.isa = isa;
    lm_body_def def = lm_body_def_default();
    def.points = b->points;
    def.point_count = b->point_count;
    def.clusters.kind = LM_CLUSTERS_RINGS;
    def.clusters.elements = b->elements;
    def.clusters.element_count = b->element_count;
    def.material.mode = LM_MODE_RIGID;
    def.material.hertz = 4.0f;
    def.material.damping_ratio = 0.0f;
    lm_examples_def examples = lm_examples_def_default();
    examples.poses = b->poses;
    examples.count = BLOCK_EXAMPLES;
    examples.particles = b->point_count;
    examples.scope = method == 2 ? LM_EXAMPLES_REGIONS : LM_EXAMPLES_BODY;
    lm_body_id body;
    bool ok = lm_world_create(&world_def, &world) == LM_OK && lm_body_create(world, &def, &body) == LM_OK;
    ok = ok && (method == 0 || lm_body_set_examples(world, body, &examples) == LM_OK);
    ok = ok && lm_body_set_state(world, body, lm_dvec3_zero(), b->poses, NULL) == LM_OK;
    if (!ok) {
        lm_world_destroy(world);
        return NULL;
    }
    return world;
}

static bool measure(lm_world *const *worlds, const tets_block *b, const bench_options *options,
                    bench_samples samples[METHODS][ROWS])
{
    uint32_t rounds = options->quick ? 2 : 60, steps = options->quick ? 1 : 20000 / b->point_count + 1;
    for (uint32_t round = 0; round < rounds; round++)
        for (int m = 0; m < METHODS; m++) {
            double seconds[ROWS] = {0.0};
            for (uint32_t step = 0; step <= steps; step++) {
                lm_stats stats;
                if (lm_world_step(worlds[m], FRAME) != LM_OK) return false;
                lm_world_get_stats(worlds[m], &stats);
                if (step == 0) continue; /* it only brings the data back into the caches */
                seconds[ROW_FIT] += stats.stage_seconds[LM_STAGE_FIT];
                seconds[ROW_STEP] += stats.step_seconds;
            }
            for (int row = 0; row < ROWS; row++)
                bench_samples_add(&samples[m][row], 1e9 * seconds[row] / ((double)b->point_count * steps));
        }
    return true;
}

static bool bench_block(const bench_options *options, bench_report *report, const uint32_t n[3], lm_isa isa)
{
    tets_block b;
    lm_world *worlds[METHODS] = {NULL};
    bench_samples samples[METHODS][ROWS] = {{{0}}};
    bool ok = tets_block_make(&b, n[0], n[1], n[2]);
    for (int m = 0; m < METHODS && ok; m++) ok = (worlds[m] = make_world(&b, m, isa)) != NULL;
    ok = ok && measure(worlds, &b, options, samples);
    for (int m = 0; m < METHODS; m++) {
        for (int row = 0; row < ROWS && ok; row++) {
            bench_row line = {.bench = "examples",
                              .name = "table1",
                              .variant = "limber",
                              .stage = row_names[row],
                              .particles = b.point_count,
                              .threads = 1,
                              .isa = lm_isa_name(isa),
                              .mode = row_names[row],
                              .method = method_names[m]};
            bench_report_add(report, line, &samples[m][row]);
        }
        lm_world_destroy(worlds[m]);
        for (int row = 0; row < ROWS; row++) bench_samples_free(&samples[m][row]);
    }
    bench_report_write(report);
    tets_block_free(&b);
    return ok;
}

int bench_examples(const bench_options *options, bench_report *report)
{
    static const uint32_t sizes[][3] = {{5, 5, 9}, {9, 15, 15}, {8, 10, 16}, {4, 6, 8}}; /* 225, 2,025, 1,280, 192 */
    lm_isa isas[LM_ISA_COUNT];
    uint32_t isa_count = bench_isas(options, isas), count = options->quick ? 1 : sizeof sizes / sizeof sizes[0];
    for (uint32_t s = 0; s < count; s++) {
        char what[80];
        snprintf(what, sizeof what, "examples: %u particles", sizes[s][0] * sizes[s][1] * sizes[s][2]);
        bench_progress(what);
        for (uint32_t i = 0; i < isa_count; i++)
            if (!bench_block(options, report, sizes[s], isas[i]))
                return bench_fail("examples could not be measured: out of memory");
    }
    return 0;
}
