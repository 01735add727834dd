/*
 * Samples of a benchmark, and the rows that are printed from them.
 */
#ifndef LIMBER_BENCH_REPORT_H
#define LIMBER_BENCH_REPORT_H

#include "bench.h"

/* Times of one thing, in nanoseconds for each particle and substep (or for each matrix). */
typedef struct bench_samples {
    double *values;
    uint32_t count, capacity;
    bool failed; /* out of memory: some are missing */
} bench_samples;

void bench_samples_add(bench_samples *samples, double value);
void bench_samples_free(bench_samples *samples);

/* 0 without samples. */
double bench_samples_fastest(const bench_samples *samples);
double bench_samples_median(bench_samples *samples); /* sorts them */

/* One line of the result. Strings live as long as the report. */
typedef struct bench_row {
    const char *bench;
    const char *name;    /* the case */
    const char *variant; /* "limber", "plain" or "machine" */
    const char *stage;
    uint32_t particles;
    uint32_t threads;
    const char *isa;
    double fastest, median; /* ns */

    /* What was varied; null or 0: not in this benchmark. */
    const char *mode;
    const char *method;
    uint32_t clusters;
    uint32_t width; /* of a lattice's regions */
    const char *damping;

    bool has_lattice; /* of a whole step of a lattice: */
    double irregular; /* share of the regions that are not all there is in their cube */
    double bytes_per_particle, peak_bytes_per_particle; /* that the world holds, and held while it was made */

    uint32_t bodies, points; /* of contacts: how many touch, and with how many points */
    double share;            /* of the step's time */

    const char *rate_unit; /* of the machine: "GFLOP/s" or "GB/s"; of a scene: "frames/s" or "times real time" */
    double rate;

    bool has_accuracy;
    double orthogonality_error; /* largest element of R^T R - I */
    double trace_deficit;       /* (best trace(R^T A) - this one) / |A|, the largest */
} bench_row;

typedef struct bench_report {
    const bench_options *options;
    bench_row *rows;
    uint32_t count, capacity;
    uint32_t written; /* of the rows */
    bool failed;
} bench_report;

/* Remembers a row whose times come from the samples. */
void bench_report_add(bench_report *report, bench_row row, bench_samples *samples);

/* Prints and flushes the rows that were added since the last call, as JSON lines or as a table with ratios to the plain
 * variant. A benchmark calls it after each case, when the rows that ratios are taken to are there: what was measured is not
 * lost when the run is stopped. */
void bench_report_write(bench_report *report);

/* Prints what is left and frees the rows. False when memory ran out or standard output failed. */
bool bench_report_finish(bench_report *report);

#endif
