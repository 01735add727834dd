/*
 * The rows of the bench "octree" about cuts and changes of detail.
 */
#ifndef LIMBER_BENCH_OCTREE_CHANGE_H
#define LIMBER_BENCH_OCTREE_CHANGE_H

#include "runner.h"

int bench_octree_changes(const bench_options *options, bench_report *report);

#endif
