/* What the commands that simulate have in common: which scene, changed how, run on what. */
#ifndef LIMBER_CLI_WORLD_H
#define LIMBER_CLI_WORLD_H

#include "cli/cli.h"
#include "limber/scene.h"

typedef struct world_options {
    const char *scene;
    uint32_t threads;
    const char *isa;
    const char *device;
    cli_texts sets;
    bool fine_surfaces; /* the scene is made to be looked at */
} world_options;

/* Their lines in a table of options. */
#define WORLD_OPTIONS(o)                                                                                               \
    {"--threads", "N", CLI_COUNT, &(o).threads, 1, LM_MAX_WORKERS, "default: one for each core"},                      \
        {"--isa",                                                                                                      \
         "NAME",                                                                                                       \
         CLI_TEXT,                                                                                                     \
         &(o).isa,                                                                                                     \
         0,                                                                                                            \
         0,                                                                                                            \
         "scalar, sse2, avx2, avx512, neon or simd128; default: the best there is"},                                   \
        {"--device", "NAME", CLI_TEXT, &(o).device, 0, 0, "cpu (default), gpu, or one that `limber devices` lists"},   \
    {                                                                                                                  \
        "--set", "PATH=VALUE", CLI_TEXTS, &(o).sets, 0, 0, "changes the scene: --set bodies[0].material.alpha=0.5"     \
    }

/* Whether --set and --isa are well given. Returns -1 or the exit code, as do all below. */
int world_check_options(const world_options *options);

/* Opens the scene and makes its world. Both are the caller's to close, after a failure too. */
int world_open(const world_options *options, lm_scene **scene, lm_world **world);

/* Says on standard error what was decided about the scene, if anything was. */
void world_tell_note(const lm_scene *scene);

/* Says that the step of a frame failed. */
int world_fail_step(const world_options *options, uint32_t frame, lm_result result);

void world_free_options(world_options *options);

#endif
