/*
 * An hour of a small busy world: two of them side by side, with different instruction sets and workers, in which bodies
 * come and go, forces push, a platform goes round, and one of them is saved and loaded now and then. They stay the same to
 * the last bit, finite, slow, and take no more memory than in the beginning.
 */
#include "test/support/busy.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HOURS 1
#define MINUTE 3600u /* frames */

/* What stands still or falls from a metre's height is slower than this, m/s; forces and impulses are small. */
#define FASTEST 60.0

static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long whole = 0, resident = 0;
    if (file == NULL) return 0;
    if (fscanf(file, "%lu %lu", &whole, &resident) != 2) resident = 0;
    fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Back above the middle, whatever became of it: a new body of the same kind in the place of the old one. */
static void replace_body(busy *b, uint32_t index, uint32_t round)
{
    random_state random = {round};
    sample s = sample_make((sample_kind)(index % SAMPLE_KIND_COUNT), &random);
    s.def.material.mode = (lm_mode)(index / SAMPLE_KIND_COUNT);
    s.def.contact_radius = 0.02f;
    s.def.pose.position = to_dvec3(random_in_cube(&random, 2.0));
    s.def.pose.position.y += 3.0;
    s.def.pose.rotation = quaternion(random_in_cube(&random, 3.0));
    s.def.spin = to_float(random_in_cube(&random, 4.0));
    assert_ok(lm_body_destroy(b->world, b->bodies[index]));
    b->bodies[index] = make_body(b->world, &s.def);
    sample_free(&s);
}

static void step(busy *b, uint32_t frame)
{
    random_state random = {frame};
    uint32_t body = random_below(&random, b->body_count);
    if (frame % 7 == 0)
        assert_ok(lm_body_add_force(b->world, b->bodies[body], to_float(random_in_cube(&random, 10.0))));
    if (frame % 60 == 0) {
        lm_pose pose = lm_pose_identity();
        double angle = 0.001 * (frame % 6283);
        pose.position = (lm_dvec3){2.0 * sin(angle), 0.3, 2.0 * cos(angle)};
        assert_ok(lm_mover_move_to(b->world, b->mover, pose));
        assert_ok(lm_drag_set_target(b->world, b->drag, (lm_dvec3){sin(3.0 * angle), 2.0, 0.0}));
    }
    /* Not the three that pins and the drag hold. */
    if (frame % 20 == 0 && body != 1 && body != 5 && body != 9) replace_body(b, body, frame);
    assert_ok(lm_world_step(b->world, FRAME));
}

static void resave(busy *b)
{
    size_t size = lm_world_save_size(b->world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(b->world, bytes, size));
    assert_ok(lm_world_load(b->world, bytes, size));
    free(bytes);
}

static void an_hour_of_a_busy_world(void **context)
{
    (void)context;
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    busy first = busy_make(&def);
    def.workers = 2;
    def.isa = LM_ISA_SSE2;
    busy second = busy_make(&def);
    size_t memory = 0, resident = 0;
    double fastest = 0.0;
    for (uint32_t frame = 0; frame < HOURS * 60 * MINUTE; frame++) {
        step(&first, frame);
        step(&second, frame);
        if (frame % 1000 == 999) resave(&second);
        if (frame % MINUTE != 0 || frame == 0) continue;
        lm_totals totals;
        lm_stats stats;
        lm_world_get_totals(first.world, &totals);
        lm_world_get_stats(first.world, &stats);
        fastest = fmax(fastest, (double)totals.max_speed);
        if (!totals.finite || lm_world_hash(first.world) != lm_world_hash(second.world))
            fail_msg("minute %u: %s", frame / MINUTE, totals.finite ? "the hashes differ" : "not finite");
        assert_at_most(totals.max_speed, FASTEST);
        if (frame == 30 * MINUTE) {
            memory = stats.memory;
            resident = resident_bytes();
        }
    }
    lm_stats stats;
    lm_world_get_stats(first.world, &stats);
    print_message("%d h: at most %.1f m/s; %zu bytes of memory, %zu after half an hour\n", HOURS, fastest,
                  (size_t)stats.memory, memory);
    assert_at_most(stats.memory, 1.1 * (double)memory);
    if (resident > 0) assert_at_most(resident_bytes(), (double)resident + (1 << 20));
    busy_free(&first);
    busy_free(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_hour_of_a_busy_world)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
