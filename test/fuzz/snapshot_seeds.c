/*
 * Writes snapshots of small worlds (test/support/snapshots.h) as seeds for fuzz_snapshot, in the format of the day:
 *
 *     snapshot_seeds DIRECTORY
 *
 * The fuzz target puts a header in front of its input, so the seeds come without one.
 */
#include "snapshot/snapshot.h"
#include "test/support/snapshots.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: snapshot_seeds DIRECTORY\n");
        return 2;
    }
    for (size_t n = 0; n < snapshot_seed_count(); n++) {
        snapshot_seed seed = snapshot_seed_make(n);
        char path[1024];
        snprintf(path, sizeof path, "%s/seed-%s", argv[1], seed.name);
        FILE *file = fopen(path, "wb");
        size_t size = seed.size - LMI_SNAPSHOT_HEADER;
        bool written = file && fwrite(seed.bytes + LMI_SNAPSHOT_HEADER, 1, size, file) == size;
        if ((file && fclose(file) != 0) || !written) {
            perror(path);
            return 1;
        }
        snapshot_seed_free(&seed);
    }
    return 0;
}
