/*
 * What contacts cost.
 *
 *   crowd     bodies of the scene crowd packed so that each touches its neighbours on all sides: 10, 100, 1,000 and 4,000 of
 *             them on one thread; the time for each surface point and substep, and the shares of finding and of solving
 *   statue    the scene with self-contact and ten substeps a frame: frames a second
 *   penguins  the scene with contacts between all, on one thread and on several: how many times faster than real time, over
 *             the whole of it and in its slowest second
 *
 * Bodies of the crowd are compressed a little, so that contacts stay while they are measured.
 */
#include "limber/scene.h"
#include "runner.h"
#include "support/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME (1.0 / LM_SCENE_FRAME_RATE)

enum { ROW_CONTACTS = LM_STAGE_COUNT, ROW_STEP, ROW_COUNT };

/* One world being measured. */
typedef struct contact_run {
    lm_scene *scene;
    lm_world *world;
    uint32_t bodies, particles, points, threads;
    lm_isa isa;
    bench_samples rows[ROW_COUNT];
    double totals[ROW_COUNT]; /* seconds */
} contact_run;

static void run_free(contact_run *run)
{
    lm_world_destroy(run->world);
    lm_scene_close(run->scene);
    for (int row = 0; row < ROW_COUNT; row++) bench_samples_free(&run->rows[row]);
    *run = (contact_run){0};
}

static const char *row_name(int row)
{
    if (row == ROW_CONTACTS) return "contacts";
    return row == ROW_STEP ? "step" : lm_stage_name((lm_stage)row);
}

/* Bodies, and the points with which they touch. */
static bool count_all(contact_run *run)
{
    lm_stats stats;
    lm_world_get_stats(run->world, &stats);
    run->bodies = stats.bodies;
    run->particles = stats.particles;
    lm_body_id *ids = calloc(stats.bodies + 1u, sizeof *ids);
    bool ok = ids != NULL;
    lm_world_get_bodies(run->world, ids, ok ? stats.bodies : 0);
    for (uint32_t i = 0; ok && i < stats.bodies; i++) {
        lm_body_info info;
        ok = lm_body_get_info(run->world, ids[i], &info) == LM_OK;
        run->points += ok ? info.contact_points : 0;
    }
    free(ids);
    return ok;
}

static bool run_begin(contact_run *run, lm_scene *s, lm_isa isa, uint32_t threads, lm_scene_error *error)
{
    *run = (contact_run){.scene = s, .isa = isa, .threads = threads};
    if (!s) return false;
    lm_world_def def = lm_world_def_default();
    def.isa = isa;
    def.workers = threads;
    lm_scene_watch(s, false);
    return lm_scene_make_world(s, &def, &run->world, error) == LM_OK && count_all(run);
}

/* One frame; with `count` its times are kept. */
static bool run_frame(contact_run *run, uint32_t frame, bool count)
{
    if (lm_scene_step(run->scene, run->world, frame) != LM_OK) return false;
    lm_stats stats;
    lm_world_get_stats(run->world, &stats);
    double seconds[ROW_COUNT];
    for (int stage = 0; stage < LM_STAGE_COUNT; stage++) seconds[stage] = stats.stage_seconds[stage];
    seconds[ROW_CONTACTS] = seconds[LM_STAGE_CONTACT] + seconds[LM_STAGE_FIND] + seconds[LM_STAGE_SOLVE];
    seconds[ROW_STEP] = stats.step_seconds;
    double unit = 1e9 / ((double)run->particles * stats.substeps);
    for (int row = 0; count && row < ROW_COUNT; row++) {
        bench_samples_add(&run->rows[row], unit * seconds[row]);
        run->totals[row] += seconds[row];
    }
    return true;
}

static bench_row line_of(const contact_run *run, const char *name, int row)
{
    double whole = run->totals[ROW_STEP];
    return (bench_row){.bench = "contacts",
                       .name = name,
                       .variant = "limber",
                       .stage = row_name(row),
                       .particles = run->particles,
                       .threads = run->threads,
                       .isa = lm_isa_name(run->isa),
                       .bodies = run->bodies,
                       .points = run->points,
                       .share = whole > 0.0 ? run->totals[row] / whole : 0.0};
}

/* Stages that took no time are left out. The whole step also has a rate, where a unit is given. */
static void add_rows(bench_report *report, contact_run *run, const char *name, const char *unit, double rate)
{
    for (int row = 0; row < ROW_COUNT; row++) {
        bench_row line = line_of(run, name, row);
        line.rate_unit = row == ROW_STEP ? unit : NULL;
        line.rate = row == ROW_STEP ? rate : 0.0;
        if (row >= ROW_CONTACTS || line.share > 1e-3) bench_report_add(report, line, &run->rows[row]);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * The crowd
 */

#define PITCH 0.6 /* metres from one body to the next */

/* One kind of body of the crowd for every layer in turn, a little larger than the room it has. */
static void add_layer(text_buffer *t, uint32_t layer, const uint32_t grid[3])
{
    static const char *const kinds[] = {
        "\"shape\": {\"name\": \"sphere\", \"size\": [0.63, 0.63, 0.63], \"detail\": 6}, \"particles\": 160",
        "\"shape\": {\"name\": \"box\", \"size\": [0.61, 0.61, 0.61], \"detail\": 4}, \"particles\": 160",
        "\"shape\": {\"name\": \"cylinder\", \"size\": [0.62, 0.62, 0.62], \"detail\": 5}, \"particles\": 160",
    };
    lmi_text_addf(t, "%s{\"name\": \"layer%u\", %s, \"density\": 300, \"mask\": 1,", layer > 0 ? "," : "",
                  (unsigned)layer, kinds[layer % 3]);
    lmi_text_addf(t, "\"clusters\": {\"counts\": [2, 2, 2], \"overlap\": 0.5}, \"material\": {\"mode\": \"quadratic\", "
                     "\"hertz\": 8, \"damping_ratio\": 0.25, \"friction\": 0.4}, \"at\": [0, ");
    lmi_text_add_json_number(t, PITCH * (layer + 0.5));
    lmi_text_addf(t, ", 0], \"repeat\": {\"grid\": [%u, 1, %u], \"spacing\": [0.6, 1, 0.6]}}", (unsigned)grid[0],
                  (unsigned)grid[2]);
}

static void add_wall(text_buffer *t, const char *axis, double at, int side)
{
    bool x = axis[0] == 'x';
    lmi_text_addf(t, ", {\"shape\": \"plane\", \"at\": [");
    lmi_text_add_json_number(t, x ? at : 0.0);
    lmi_text_addf(t, ", 0, ");
    lmi_text_add_json_number(t, x ? 0.0 : at);
    lmi_text_addf(t, "], \"normal\": [%d, 0, %d], \"friction\": 0.2}", x ? side : 0, x ? 0 : side);
}

/* Bodies side by side and on top of each other, in a closed pen that fits, without weight: ten layers would crush the lowest. Null when memory runs out or the text is wrong. */
static lm_scene *open_crowd(const uint32_t grid[3], lm_scene_error *error)
{
    text_buffer t = {0};
    lmi_text_addf(&t, "{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": [");
    for (uint32_t layer = 0; layer < grid[1]; layer++) add_layer(&t, layer, grid);
    lmi_text_addf(&t, "], \"colliders\": [{\"shape\": \"plane\", \"friction\": 0.6}");
    for (int side = -1; side <= 1; side += 2) {
        add_wall(&t, "x", -side * 0.5 * PITCH * grid[0], side);
        add_wall(&t, "z", -side * 0.5 * PITCH * grid[2], side);
    }
    lmi_text_addf(&t, ", {\"shape\": \"plane\", \"at\": [0, ");
    lmi_text_add_json_number(&t, PITCH * grid[1]);
    lmi_text_addf(&t, ", 0], \"normal\": [0, -1, 0], \"friction\": 0.2}");
    lmi_text_addf(&t, "]}");
    char *text = lmi_text_take(&t);
    lm_scene *s = text ? lm_scene_open_text("crowd", text, strlen(text), NULL, 0, error) : NULL;
    free(text);
    return s;
}

static int bench_pack(const bench_options *options, bench_report *report, const uint32_t grid[3])
{
    lm_isa isas[LM_ISA_COUNT];
    lm_isa widest = isas[bench_isas(options, isas) - 1];
    lm_scene_error error = {.text = "out of memory"};
    contact_run run;
    char what[60];
    uint32_t bodies = grid[0] * grid[1] * grid[2];
    snprintf(what, sizeof what, "contacts: crowd of %u", (unsigned)bodies);
    bench_progress(what);
    bool ready = run_begin(&run, open_crowd(grid, &error), widest, 1, &error);
    uint32_t warm = options->quick ? 2 : 30;
    uint32_t frames = options->quick ? 3 : bodies < 100 ? 600 : bodies < 1000 ? 100 : 20;
    for (uint32_t frame = 0; ready && frame < warm + frames; frame++) ready = run_frame(&run, frame, frame >= warm);
    if (ready) add_rows(report, &run, "crowd", NULL, 0.0);
    bench_report_write(report);
    run_free(&run);
    return ready ? 0 : bench_fail(error.text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Scenes
 */

static int bench_statue(const bench_options *options, bench_report *report)
{
    static const char *const sets[] = {"substeps=10", "bodies[0].self_contact=true"};
    lm_isa isas[LM_ISA_COUNT];
    lm_isa widest = isas[bench_isas(options, isas) - 1];
    lm_scene_error error = {.text = "out of memory"};
    int status = 0;
    for (uint32_t threads = 1; status == 0 && threads <= options->threads; threads *= 2) {
        contact_run run;
        bench_progress("contacts: statue");
        bool ready = run_begin(&run, lm_scene_open("statue", sets, 2, &error), widest, threads, &error);
        uint32_t frames = options->quick ? 1 : 24;
        for (uint32_t frame = 0; ready && frame <= frames; frame++) ready = run_frame(&run, frame, frame > 0);
        if (ready) add_rows(report, &run, "statue", "frames/s", frames / run.totals[ROW_STEP]);
        bench_report_write(report);
        run_free(&run);
        status = ready ? 0 : bench_fail(error.text);
    }
    return status;
}

/* How many times faster than real time the slowest second of a run was: frames are in nanoseconds a particle and step. */
static double slowest_second(const contact_run *run)
{
    const bench_samples *steps = &run->rows[ROW_STEP];
    lm_stats stats;
    lm_world_get_stats(run->world, &stats);
    double unit = 1e-9 * run->particles * stats.substeps, most = 0.0, sum = 0.0;
    uint32_t window = steps->count < 60 ? steps->count : 60;
    for (uint32_t i = 0; i < steps->count; i++) {
        sum += unit * (steps->values[i] - (i >= window ? steps->values[i - window] : 0.0));
        most = fmax(most, sum);
    }
    return most > 0.0 ? window * FRAME / most : 0.0;
}

static int bench_penguins(const bench_options *options, bench_report *report, uint32_t threads)
{
    lm_isa isas[LM_ISA_COUNT];
    lm_isa widest = isas[bench_isas(options, isas) - 1];
    lm_scene_error error = {.text = "out of memory"};
    static const char *const sets[] = {"bodies[0].mask=1"};
    contact_run run;
    bench_progress("contacts: penguins");
    bool ready = run_begin(&run, lm_scene_open("penguins", sets, 1, &error), widest, threads, &error);
    uint32_t frames = options->quick ? 2 : ready ? lm_scene_frames(run.scene) : 0;
    for (uint32_t frame = 0; ready && frame < frames; frame++) ready = run_frame(&run, frame, true);
    if (ready) {
        bench_row worst = line_of(&run, "penguins", ROW_STEP);
        worst.stage = "slowest second";
        worst.rate_unit = "times real time";
        worst.rate = slowest_second(&run); /* before the samples are sorted */
        add_rows(report, &run, "penguins", worst.rate_unit, frames * FRAME / run.totals[ROW_STEP]);
        bench_report_add(report, worst, &run.rows[ROW_STEP]);
    }
    bench_report_write(report);
    run_free(&run);
    return ready ? 0 : bench_fail(error.text);
}

int bench_contacts(const bench_options *options, bench_report *report)
{
    static const uint32_t packs[][3] = {{5, 2, 1}, {5, 4, 5}, {10, 10, 10}, {20, 10, 20}}; /* along x, y, z */
    int status = 0;
    for (size_t i = 0; status == 0 && i < (options->quick ? 1 : sizeof packs / sizeof packs[0]); i++)
        status = bench_pack(options, report, packs[i]);
    if (status == 0) status = bench_statue(options, report);
    for (uint32_t threads = 1; status == 0 && threads <= options->threads; threads *= 2)
        status = bench_penguins(options, report, threads);
    return status;
}
