/* What the parts of `limber run` share: the summary of a run, and where it goes. */
#ifndef LIMBER_CLI_RUN_H
#define LIMBER_CLI_RUN_H

#include "cli/cli.h"
#include "limber/scene.h"

typedef struct run_summary {
    const char *scene;
    uint32_t frames; /* stepped */
    uint32_t bodies, particles, regions;
    double regions_per_particle;
    uint32_t threads;
    lm_isa isa;
    double step_seconds;                  /* all steps together, wall clock */
    double stage_seconds[LM_STAGE_COUNT]; /* the same, summed over threads */
    float max_speed;                      /* over the run, m/s */
    bool finite;
    double momentum_error;
    uint64_t hash;
} run_summary;

/* After each step. */
void summary_add_step(run_summary *summary, const lm_world *world);

/* After the last one. */
void summary_finish(run_summary *summary, const lm_scene *scene, const lm_world *world);

void summary_print(const run_summary *summary);

/* One JSON object and a newline; null when out of memory. To be freed. */
char *summary_json(const run_summary *summary);

/* Writes surfaces.obj, state.limber and summary.json into a folder: all of them, or none. Returns -1 or the exit code. */
int output_write(const char *folder, const lm_scene *scene, const lm_world *world, const run_summary *summary);

/* Checks that the folder can be written before hours are spent. Returns -1 or the exit code. */
int output_prepare(const char *folder);

/* A whole file, to be freed; null after reporting why. */
void *output_read_file(const char *path, size_t *size);

#endif
