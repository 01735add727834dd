/*
 * Half an hour of the scene `crowd`, twice: with all threads, and with one thread, saving and loading every ten minutes.
 * The hash of every minute is the same, everything comes to rest and stays there, and memory does not grow.
 */
#include "limber/scene.h"
#include "test/support/support.h"

#include <stdlib.h>

#define MINUTES 30
#define MINUTE 3600u /* frames */

typedef struct record {
    uint64_t hash;
    double energy; /* kinetic, J */
    size_t memory;
} record;

static void run(uint32_t workers, uint32_t resave_minutes, record records[MINUTES])
{
    lm_scene_error error = {""};
    lm_scene *crowd = lm_scene_open("crowd", NULL, 0, &error);
    lm_world_def def = lm_world_def_default();
    lm_world *world = NULL;
    def.workers = workers;
    if (crowd == NULL || lm_scene_make_world(crowd, &def, &world, &error) != LM_OK) fail_msg("%s", error.text);
    lm_scene_watch(crowd, false);
    for (uint32_t frame = 0; frame < MINUTES * MINUTE; frame++) {
        assert_ok(lm_scene_step(crowd, world, frame));
        if ((frame + 1) % MINUTE != 0) continue;
        uint32_t minute = frame / MINUTE;
        lm_totals totals;
        lm_stats stats;
        lm_world_get_totals(world, &totals);
        lm_world_get_stats(world, &stats);
        if (!totals.finite) fail_msg("not finite in minute %u", minute);
        records[minute] = (record){lm_world_hash(world), (double)totals.kinetic_energy, stats.memory};
        if (resave_minutes > 0 && minute % resave_minutes == 0) assert_ok(lm_scene_resave(crowd, &world, &error));
    }
    lm_world_destroy(world);
    lm_scene_close(crowd);
}

static void half_an_hour_of_the_crowd(void **context)
{
    (void)context;
    static record first[MINUTES], second[MINUTES];
    run(0, 0, first);
    run(1, 10, second);
    double most = 0.0;
    for (uint32_t minute = 0; minute < MINUTES; minute++) {
        if (first[minute].hash != second[minute].hash) fail_msg("the hashes differ in minute %u", minute);
        most = minute >= 5 ? fmax(most, first[minute].energy) : most;
        assert_at_most(first[minute].memory, first[0].memory);
        assert_at_most(second[minute].memory, 1.1 * (double)second[0].memory);
    }
    print_message("kinetic energy: %.3g J after a minute, at most %.3g J after five, %.3g J at the end\n",
                  first[0].energy, most, first[MINUTES - 1].energy);
    assert_at_most(most, fmax(first[4].energy, 1e-3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(half_an_hour_of_the_crowd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
