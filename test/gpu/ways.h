/*
 * How far a device is from the CPU after a step, where rounding may decide about a contact.
 */
#ifndef LIMBER_TEST_WAYS_H
#define LIMBER_TEST_WAYS_H

#include "test/gpu/device.h"

/* All bodies of a world; the caller frees them. */
static inline lm_body_id *bodies_of(const lm_world *world, uint32_t *count)
{
    *count = lm_world_get_bodies(world, NULL, 0);
    lm_body_id *ids = malloc((*count + 1) * sizeof *ids);
    lm_world_get_bodies(world, ids, *count);
    return ids;
}

static inline double worst_of(lm_world *a, lm_world *b)
{
    uint32_t count;
    lm_body_id *ids = bodies_of(a, &count);
    double worst = 0.0;
    for (uint32_t i = 0; i < count; i++) worst = fmax(worst, difference(a, b, ids[i]));
    free(ids);
    return worst;
}

/* Moves every particle by about a rounding. */
static inline void jitter(lm_world *world, uint64_t seed)
{
    uint32_t count;
    lm_body_id *ids = bodies_of(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        lm_body_info info;
        assert_ok(lm_body_get_info(world, ids[i], &info));
        shake(world, ids[i], 1e-7 * (info.upper.x - info.lower.x), seed);
    }
    free(ids);
}

/* Contacts have decisions in them (this edge or that face; touching or not), and now and then rounding makes one: then the CPU
 * itself goes one way or the other from states that are a rounding apart. The device must have gone one of these ways: how
 * far it is from the nearest. */
static inline double nearest_way(lm_world *before, lm_world *device)
{
    double nearest = 1.0;
    for (uint64_t seed = 1; seed <= 20 && nearest > AGREEMENT; seed++) {
        lm_world *other;
        lm_world_def def = lm_world_def_default();
        def.substeps = lm_world_get_substeps(before);
        assert_ok(lm_world_create(&def, &other));
        copy_world(other, before);
        jitter(other, seed);
        assert_ok(lm_world_step(other, FRAME));
        nearest = fmin(nearest, worst_of(other, device));
        lm_world_destroy(other);
    }
    return nearest;
}

#endif
