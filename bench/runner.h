/*
 * The benchmarks that bench.c knows. Each measures, adds its rows to the report and returns 0, or writes one line to
 * standard error and returns 1.
 */
#ifndef LIMBER_BENCH_RUNNER_H
#define LIMBER_BENCH_RUNNER_H

#include "report.h"

int bench_calls(const bench_options *options, bench_report *report);
int bench_clusters(const bench_options *options, bench_report *report);
int bench_examples(const bench_options *options, bench_report *report);
int bench_fracture(const bench_options *options, bench_report *report);
int bench_contacts(const bench_options *options, bench_report *report);
int bench_gpu_meet(const bench_options *options, bench_report *report);  /* a part of the next one */
int bench_gpu_skins(const bench_options *options, bench_report *report); /* likewise */
int bench_gpu(const bench_options *options, bench_report *report);
int bench_lattice(const bench_options *options, bench_report *report);
int bench_octree(const bench_options *options, bench_report *report);
int bench_polar(const bench_options *options, bench_report *report);
int bench_snapshot(const bench_options *options, bench_report *report);
int bench_skeleton(const bench_options *options, bench_report *report);

/* Writes "limber: bench: " and the message to standard error; returns 1. */
int bench_fail(const char *message);

/* The instruction sets to measure, in order, into a list of LM_ISA_COUNT; returns how many. */
uint32_t bench_isas(const bench_options *options, lm_isa *isas);

/* Shown while measuring when standard error is a terminal; null ends it. */
void bench_progress(const char *what);

#endif
