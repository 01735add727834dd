/*
 * What the processor and its memory can do, measured beside a benchmark: the ceilings that its times stand under.
 */
#ifndef LIMBER_BENCH_MACHINE_H
#define LIMBER_BENCH_MACHINE_H

#include "report.h"

/* Adds the rows of the case "machine" to a benchmark, on one thread and on several:
 *
 *   multiply-add                       float32, in registers; GFLOP/s, fused where the instruction set has it
 *   copy-l2, copy-l3, copy-memory      memcpy between two arrays of 256 KiB, 4 MiB and 128 MiB; GB/s copied
 *
 * Their nanoseconds are those of 16 multiply-adds, and of 64 bytes copied. Returns the status for bench_run. */
int bench_machine(const bench_options *options, const char *bench, bench_report *report);

#endif
