/*
 * Ten minutes of the scene `pile-soft`, twice: with all threads, and with one thread, saving and loading every two minutes.
 * The hash of every half minute is the same, everything is finite and where it belongs, the energy of the heaps
 * stays what it was when they had landed, and memory does not grow.
 */
#include "limber/scene.h"
#include "test/support/support.h"

#include <stdlib.h>

#define PARTS 20u
#define PART 1800u /* frames: half a minute */

/* Once the heaps have landed, in m/s: a soft heap settles for minutes, and now and then something slides off it. */
#define CALM 0.5

typedef struct record {
    uint64_t hash;
    double kinetic;   /* J */
    double potential; /* J, of heights above the floor */
    double fastest;   /* body, m/s */
    size_t memory;
} record;

/* Sums over bodies; none has left the heaps. */
static record look(const lm_scene *s, const lm_world *world)
{
    lm_totals totals;
    lm_stats stats;
    lm_world_get_totals(world, &totals);
    lm_world_get_stats(world, &stats);
    assert_true(totals.finite);
    record r = {lm_world_hash(world), (double)totals.kinetic_energy, 0.0, 0.0, stats.memory};
    for (uint32_t i = 0; i < lm_scene_body_count(s); i++) {
        lm_body_info info;
        assert_ok(lm_body_get_info(world, lm_scene_get_body(s, i).id, &info));
        lm_vec3 v = info.velocity;
        r.potential += 9.81 * (double)info.mass * info.centre.y;
        r.fastest = fmax(r.fastest, sqrt((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z));
        if (!(info.centre.y > 0.0 && info.centre.y < 5.0 && fabs(info.centre.x) < 8.0 && fabs(info.centre.z) < 8.0))
            fail_msg("%s is at %g, %g, %g", lm_scene_get_body(s, i).name, info.centre.x, info.centre.y, info.centre.z);
    }
    return r;
}

static void run(uint32_t workers, uint32_t resave_parts, record records[PARTS])
{
    lm_scene_error error = {""};
    lm_scene *pile = lm_scene_open("pile-soft", NULL, 0, &error);
    lm_world_def def = lm_world_def_default();
    lm_world *world = NULL;
    def.workers = workers;
    if (pile == NULL || lm_scene_make_world(pile, &def, &world, &error) != LM_OK) fail_msg("%s", error.text);
    lm_scene_watch(pile, false);
    for (uint32_t frame = 0; frame < PARTS * PART; frame++) {
        assert_ok(lm_scene_step(pile, world, frame));
        if ((frame + 1) % PART != 0) continue;
        uint32_t part = frame / PART;
        records[part] = look(pile, world);
        if (resave_parts > 0 && part % resave_parts == 0) assert_ok(lm_scene_resave(pile, &world, &error));
    }
    lm_world_destroy(world);
    lm_scene_close(pile);
}

static void ten_minutes_of_soft_heaps(void **context)
{
    (void)context;
    static record first[PARTS], second[PARTS];
    run(0, 0, first);
    run(1, 4, second);
    for (uint32_t part = 0; part < PARTS; part++) {
        print_message("%4.1f min: kinetic %.3g J, potential %.6g J, fastest %.3g m/s, %zu bytes\n", 0.5 * (part + 1),
                      first[part].kinetic, first[part].potential, first[part].fastest, first[part].memory);
        if (first[part].hash != second[part].hash) fail_msg("the hashes differ in part %u", part);
        assert_at_most(first[part].memory, first[0].memory);
        assert_at_most(second[part].memory, 1.1 * (double)second[0].memory);
        assert_at_most(first[part].fastest, CALM);
        /* Soft bodies give back what the fall has stored in them: a thousandth more is no energy out of nothing. */
        assert_at_most(first[part].kinetic + first[part].potential, 1.001 * (first[0].kinetic + first[0].potential));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_minutes_of_soft_heaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
