/*
 * Small worlds, one for each thing that a snapshot can hold: what fuzzing and hostile tests of snapshots start from. They are as small
 * as their subject allows, so that a test can load and step thousands of variants in a second.
 */
#ifndef LIMBER_TEST_SNAPSHOTS_H
#define LIMBER_TEST_SNAPSHOTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct snapshot_seed {
    const char *name;
    unsigned char *bytes; /* with its header */
    size_t size;
} snapshot_seed;

/* How many there are, and their names. */
size_t snapshot_seed_count(void);
const char *snapshot_seed_name(size_t n);

/* How many variants of a world to try for each of the slowest one: more of those that load fast. */
uint32_t snapshot_seed_share(size_t n);

/* Makes world `n` and saves it. Ends the program when that fails: then the test itself is wrong. */
snapshot_seed snapshot_seed_make(size_t n);
void snapshot_seed_free(snapshot_seed *seed);

#endif
