/*
 * The benchmark runner: what a step costs, by stage, beside a plain scalar program that does the same mathematics.
 *
 * A benchmark measures its variants in turn, again and again (limber, plain, limber, plain, ...), so that a busy
 * machine slows all of them alike; it reports the fastest run of each, and the median. Ratios within one run are what
 * counts.
 *
 * Results go to standard output as they are measured: one JSON object a line, or a table with ratios. Keys of a row:
 *
 *   bench, case, variant    "clusters", "crowd", and "limber", "plain" (the scalar program, built without SIMD),
 *                           "device" (an OpenCL device, in the bench "gpu") or "machine"
 *   stage                   a stage of the step, "match" (gather, fit and scatter), or "step" for the whole of it
 *   particles, threads, isa
 *   ns_per_particle_step    the fastest; for the bench "polar" nanoseconds per matrix, `particles` being their number
 *   median_ns               the median, in the same unit
 *
 * and what was varied: clusters, mode, w (the width of a lattice's regions), damping, method. A whole step of a lattice
 * also says which share of the regions is irregular (irregular_regions), and the bytes a particle that the world holds and
 * held at most while it was made. Rows of contacts say how many bodies and points touch, the time for each point
 * (ns_per_point_step) and the share of the step; "contacts" is the sum of contact, find and solve. Rows of the machine, and
 * whole steps of a scene, have a rate and its unit. Rows of the bench "octree" about changes (strokes, divide, join, steps of
 * "spread") are nanoseconds for a whole change or step. Stages are summed over threads; "step" and
 * "match" are wall clock (with several threads "match" is the share of gather, fit and scatter in the step's wall clock).
 */
#ifndef LIMBER_BENCH_H
#define LIMBER_BENCH_H

#include "limber/limber.h"

typedef struct bench_options {
    bool json;                       /* one object a line instead of a table */
    bool quick;                      /* a smoke test: the smallest cases, few repetitions */
    uint32_t threads;                /* the most threads to use; 0: two, or fewer where the machine has fewer cores */
    const char *device;              /* of the bench "gpu", as in lm_world_def; null: the best there is */
    uint32_t size;                   /* of its boxes, corners along a side; 0: 256 */
    const char *only;                /* of its cases; null: all */
    uint32_t tile_x, tile_y, planes; /* of its work-groups; 0: as the library chooses */
    const char *options;             /* for its compiler, besides the library's; null: none */
    lm_isa isa;                      /* only this instruction set; LM_ISA_BEST: every one that the machine has */
} bench_options;

/* Names in a fixed order, "all" excluded; null past the end. */
const char *bench_name(uint32_t index);
const char *bench_description(const char *name);

/* Runs the benchmark `name`, or every one for "all". Returns 0, or 1 after one line on standard error: a name that is
 * not known, an instruction set that the machine lacks, no memory, an output that cannot be written. Null options:
 * the defaults. */
int bench_run(const char *name, const bench_options *options);

#endif
