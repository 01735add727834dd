/*
 * Any bytes as a snapshot, behind a header that fits them (else the checksum would refuse nearly every input): either
 * refused, or a world that can be looked at, stepped, saved and loaded again, and stays finite.
 */
#include "fuzz.h"

#include "limber/limber.h"
#include "snapshot/snapshot.h"

#include <stdlib.h>
#include <string.h>

static void look_at_bodies(const lm_world *world)
{
    uint32_t count = lm_world_get_bodies(world, NULL, 0);
    lm_body_id *ids = calloc(count + 1, sizeof *ids);
    lm_world_get_bodies(world, ids, count);
    for (uint32_t k = 0; k < count; k++) {
        lm_body_info info;
        if (lm_body_get_info(world, ids[k], &info) != LM_OK) abort();
        lm_vec3 *vectors = calloc((size_t)info.particles + info.skin_vertices + 1, sizeof *vectors);
        if (lm_body_get_positions(world, ids[k], info.centre, vectors) != LM_OK) abort();
        if (info.skin_vertices > 0 && lm_body_get_skin(world, ids[k], info.centre, vectors, NULL) != LM_OK) abort();
        free(vectors);
    }
    lm_ray_hit hit;
    lm_world_cast_ray(world, &(lm_ray){{0, 10, 0}, {0, -1, 0}, 100.0f, UINT32_MAX, 0}, &hit);
    free(ids);
}

static void save(lm_world *world, bool load_again)
{
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    uint64_t hash = lm_world_hash(world);
    if (lm_world_save(world, bytes, size) != LM_OK) abort();
    if (load_again && (lm_world_load(world, bytes, size) != LM_OK || lm_world_hash(world) != hash)) abort();
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lm_world_def def = lm_world_def_default();
    lm_world *world;
    def.workers = 1;
    if (lm_world_create(&def, &world) != LM_OK) abort();
    unsigned char *bytes = malloc(LMI_SNAPSHOT_HEADER + size + 1);
    memcpy(bytes + LMI_SNAPSHOT_HEADER, data, size);
    lmi_snapshot_seal(bytes, LMI_SNAPSHOT_HEADER + size);
    if (lm_world_load(world, bytes, LMI_SNAPSHOT_HEADER + size) == LM_OK) {
        /* Thousands of substeps are allowed, but teach the fuzzer nothing. */
        if (lm_world_set_substeps(world, 1) != LM_OK) abort();
        look_at_bodies(world);
        for (int step = 0; step < 2; step++)
            if (lm_world_step(world, 1.0 / 60.0) != LM_OK) abort();
        lm_totals totals;
        lm_world_get_totals(world, &totals);
        if (!totals.finite) abort();
        look_at_bodies(world);
        save(world, lm_world_hash(world) % 8 == 0); /* loading takes most of the time */
    } else if (lm_world_get_bodies(world, NULL, 0) != 0) {
        abort(); /* refused, and yet something came in */
    }
    free(bytes);
    lm_world_destroy(world);
    return 0;
}
