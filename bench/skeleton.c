/*
 * What a moving skeleton costs: the scene `infant` (a lattice of 2,570 particles with w = 2, three substeps a frame, regional
 * damping, seventeen bones that walk), by stage and as a whole. Bones are part of the contact stage. The scene's own work before
 * a step (keyframes down the tree) is in the row `frame`, so that 1e9 / (ns * particles * substeps) of that row are the frames
 * a second.
 */
#include "runner.h"

#include "base/os.h"
#include "limber/scene.h"

#include <stdio.h>

enum { ROW_SWEEP, ROW_CONTACT, ROW_STEP, ROW_FRAME, ROWS };

static const char *const row_names[ROWS] = {"sweep", "contact", "step", "frame"};

typedef struct walker {
    lm_scene *scene;
    lm_world *world;
    bench_samples samples[ROWS];
} walker;

static bool walker_make(walker *w, lm_isa isa, uint32_t threads)
{
    lm_scene_error error;
    lm_world_def def = lm_world_def_default();
    def.isa = isa;
    def.workers = threads;
    *w = (walker){.scene = lm_scene_open("infant", NULL, 0, &error)};
    if (!w->scene) return false;
    lm_scene_watch(w->scene, false);
    return lm_scene_make_world(w->scene, &def, &w->world, &error) == LM_OK;
}

static void walker_free(walker *w)
{
    lm_world_destroy(w->world);
    lm_scene_close(w->scene);
    for (int row = 0; row < ROWS; row++) bench_samples_free(&w->samples[row]);
}

/* Frame after frame while it moves; each is a sample. */
static bool walk(walker *w, uint32_t frames, uint32_t *particles)
{
    for (uint32_t frame = 0; frame < frames; frame++) {
        uint64_t before = lmi_os_nanoseconds();
        if (lm_scene_step(w->scene, w->world, frame) != LM_OK) return false;
        double whole = (double)(lmi_os_nanoseconds() - before);
        lm_stats stats;
        lm_world_get_stats(w->world, &stats);
        double share = (double)stats.particles * stats.substeps;
        *particles = stats.particles;
        if (frame == 0) continue; /* it lays the body out */
        bench_samples_add(&w->samples[ROW_SWEEP], 1e9 * stats.stage_seconds[LM_STAGE_SWEEP] / share);
        bench_samples_add(&w->samples[ROW_CONTACT], 1e9 * stats.stage_seconds[LM_STAGE_CONTACT] / share);
        bench_samples_add(&w->samples[ROW_STEP], 1e9 * stats.step_seconds / share);
        bench_samples_add(&w->samples[ROW_FRAME], whole / share);
    }
    return true;
}

int bench_skeleton(const bench_options *options, bench_report *report)
{
    lm_isa isas[LM_ISA_COUNT];
    uint32_t isa_count = bench_isas(options, isas), particles = 0;
    for (uint32_t i = 0; i < isa_count; i++) {
        for (uint32_t threads = 1; threads <= options->threads; threads *= 2) {
            char what[80];
            snprintf(what, sizeof what, "skeleton: infant, %s, %u threads", lm_isa_name(isas[i]), threads);
            bench_progress(what);
            walker w;
            bool walked = walker_make(&w, isas[i], threads) && walk(&w, options->quick ? 3 : 600, &particles);
            for (int row = 0; row < ROWS && walked; row++) {
                bench_row line = {.bench = "skeleton",
                                  .name = "infant",
                                  .variant = "limber",
                                  .stage = row_names[row],
                                  .particles = particles,
                                  .threads = threads,
                                  .isa = lm_isa_name(isas[i]),
                                  .width = 2,
                                  .damping = "regional"};
                bench_report_add(report, line, &w.samples[row]);
            }
            walker_free(&w);
            if (!walked) return bench_fail("the scene infant could not be measured");
        }
    }
    bench_report_write(report);
    return 0;
}
