/*
 * The same calls give the same bits: whatever the workers, the instruction set, the order in which the host runs tasks,
 * a save and load in between, the neighbours, or the floating-point mode the host is in.
 */
#include "test/support/busy.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifdef LIMBER_SANITIZED
#define FRAMES 24
#else
#define FRAMES 60
#endif

typedef struct run {
    uint64_t hashes[FRAMES];
} run;

static run record(const lm_world_def *def)
{
    run r;
    busy b = busy_make(def);
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        busy_step(&b, frame);
        r.hashes[frame] = lm_world_hash(b.world);
    }
    lm_stats stats;
    lm_totals totals;
    lm_world_get_stats(b.world, &stats);
    lm_world_get_totals(b.world, &totals);
    assert_true(totals.finite);
    assert_true(stats.contacts > 0); /* the world is as busy as it claims */
    busy_free(&b);
    return r;
}

static lm_world_def plain_def(void)
{
    lm_world_def def = lm_world_def_default();
    def.isa = LM_ISA_SCALAR;
    def.workers = 1;
    return def;
}

static const run *expected(void)
{
    static run first;
    static bool made;
    if (!made) {
        lm_world_def def = plain_def();
        first = record(&def);
        made = true;
    }
    return &first;
}

static void assert_same(const run *r, const char *what)
{
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        if (r->hashes[frame] == expected()->hashes[frame]) continue;
        print_error("%s: differs from frame %u on\n", what, frame);
        fail();
    }
}

static void the_state_changes_every_frame(void **context)
{
    (void)context;
    for (uint32_t frame = 1; frame < FRAMES; frame++)
        assert_true(expected()->hashes[frame] != expected()->hashes[frame - 1]);
}

static void every_worker_count_and_instruction_set(void **context)
{
    (void)context;
    static const uint32_t workers[] = {1, 2, 3, 8};
    for (int isa = LM_ISA_BEST; isa < LM_ISA_COUNT; isa++) {
        if (!lm_isa_supported((lm_isa)isa)) continue;
        for (int w = 0; w < 4; w++) {
            lm_world_def def = plain_def();
            def.isa = (lm_isa)isa;
            def.workers = workers[w];
            run r = record(&def);
            char what[64];
            snprintf(what, sizeof what, "%s, %u workers", lm_isa_name(def.isa), workers[w]);
            assert_same(&r, what);
        }
    }
}

/* ---- host tasks ---- */

typedef struct host {
    random_state random;
    uint32_t calls;
} host;

static void run_reversed(lm_task *task, void *context, uint32_t count, void *user)
{
    ((host *)user)->calls++;
    for (uint32_t k = count; k > 0; k--) task(context, k - 1);
}

static void run_shuffled(lm_task *task, void *context, uint32_t count, void *user)
{
    host *h = user;
    h->calls++;
    uint32_t *order = calloc(count + 1, sizeof *order);
    for (uint32_t k = 0; k < count; k++) order[k] = k;
    for (uint32_t k = count; k > 1; k--) {
        uint32_t other = random_below(&h->random, k), index = order[k - 1];
        order[k - 1] = order[other];
        order[other] = index;
    }
    for (uint32_t k = 0; k < count; k++) task(context, order[k]);
    free(order);
}

/* Bodies too large to share a task, so that there is work for every worker. */
static uint64_t hash_of_large_bodies(uint32_t workers)
{
    lm_vec3 *points = grid_points(13, 12, 12, 0.1);
    lm_world *world = make_world_with(-9.81, LM_ISA_BEST, workers);
    for (int k = 0; k < 12; k++) {
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.points = points;
        def.point_count = 13 * 12 * 12;
        def.material.mode = (lm_mode)(k % LM_MODE_COUNT);
        for (int i = 0; i < 3; i++) def.clusters.counts[i] = 2;
        def.pose.position = (lm_dvec3){2.0 * k, 0.4, 0.0};
        def.spin = (lm_vec3){0.1f * (float)k, 1, 0};
        make_body(world, &def);
    }
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    assert_ok(lm_collider_create(world, &floor, &id));
    for (int k = 0; k < 10; k++) assert_ok(lm_world_step(world, FRAME));
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    free(points);
    return hash;
}

static void many_tasks_for_many_workers(void **context)
{
    (void)context;
    uint64_t alone = hash_of_large_bodies(1);
    for (uint32_t workers = 2; workers <= 8; workers++)
        if (hash_of_large_bodies(workers) != alone) fail_msg("%u workers", workers);
}

static void any_order_of_host_tasks(void **context)
{
    (void)context;
    for (uint32_t workers = 1; workers <= 4; workers += 3) {
        host h = {{99}, 0};
        lm_world_def def = plain_def();
        def.workers = workers;
        def.tasks.run = run_reversed;
        def.tasks.user = &h;
        run r = record(&def);
        assert_same(&r, "tasks in reverse order");
        def.tasks.run = run_shuffled;
        r = record(&def);
        assert_same(&r, "tasks in random order");
        assert_true(h.calls > 0);
    }
}

/* ---- snapshots ---- */

static void *save(const lm_world *world, size_t *size)
{
    *size = lm_world_save_size(world);
    void *buffer = malloc(*size);
    assert_ok(lm_world_save(world, buffer, *size));
    return buffer;
}

/* Saved at a frame, loaded into a world with other workers and another instruction set, and into the same world after it
 * has gone on: both continue as if nothing had happened. */
static void save_and_load_at_any_frame(void **context)
{
    (void)context;
    random_state random = {5};
    for (int trial = 0; trial < 6; trial++) {
        uint32_t frame = trial == 0 ? 0 : random_below(&random, FRAMES - 5), step = 0;
        lm_world_def def = plain_def();
        def.isa = LM_ISA_BEST;
        busy b = busy_make(&def);
        for (; step < frame; step++) busy_step(&b, step);
        size_t size;
        void *snapshot = save(b.world, &size);
        uint64_t hash = lm_world_hash(b.world);

        busy other = b;
        def.workers = 2;
        def.isa = LM_ISA_SCALAR;
        other.world = NULL;
        assert_ok(lm_world_create(&def, &other.world));
        assert_ok(lm_world_load(other.world, snapshot, size));
        assert_true(lm_world_hash(other.world) == hash);
        assert_true(lm_world_get_time(other.world) == lm_world_get_time(b.world));
        for (step = frame; step < FRAMES; step++) {
            busy_step(&other, step);
            assert_true(lm_world_hash(other.world) == expected()->hashes[step]);
        }
        /* What was loaded saves to the same bytes as what was saved. */
        for (step = frame; step < frame + 4; step++) busy_step(&b, step);
        assert_ok(lm_world_load(b.world, snapshot, size));
        size_t again_size;
        void *again = save(b.world, &again_size);
        assert_int_equal(again_size, size);
        assert_memory_equal(again, snapshot, size);
        for (step = frame; step < FRAMES; step++) {
            busy_step(&b, step);
            assert_true(lm_world_hash(b.world) == expected()->hashes[step]);
        }
        free(again);
        free(snapshot);
        busy_free(&other);
        busy_free(&b);
    }
}

/* A force that was given but not yet stepped is part of the future, and so of the snapshot. */
static void pending_forces_are_saved(void **context)
{
    (void)context;
    lm_world_def def = plain_def();
    busy b = busy_make(&def);
    assert_ok(lm_body_add_force(b.world, b.bodies[0], (lm_vec3){100, 0, 0}));
    assert_ok(lm_body_add_particle_force(b.world, b.bodies[3], 2, (lm_vec3){0, 50, 0}));
    size_t size;
    void *snapshot = save(b.world, &size);
    assert_ok(lm_world_step(b.world, FRAME));
    uint64_t hash = lm_world_hash(b.world);
    assert_ok(lm_world_load(b.world, snapshot, size));
    assert_ok(lm_world_step(b.world, FRAME));
    assert_true(lm_world_hash(b.world) == hash);
    free(snapshot);
    busy_free(&b);
}

/* ---- neighbours ---- */

static lm_body_id add_sample(lm_world *world, sample_kind kind, lm_mode mode, lm_dvec3 at)
{
    random_state random = {(uint64_t)kind};
    sample s = sample_make(kind, &random);
    s.def.material.mode = mode;
    s.def.pose.position = at;
    s.def.spin = (lm_vec3){1, 2, 3};
    lm_body_id body = make_body(world, &s.def);
    sample_free(&s);
    return body;
}

static lm_body_id add_any_sample(lm_world *world, random_state *random, lm_dvec3 at)
{
    sample_kind kind = (sample_kind)random_below(random, SAMPLE_KIND_COUNT);
    lm_mode mode = (lm_mode)random_below(random, LM_MODE_COUNT);
    return add_sample(world, kind, mode, at);
}

static void add_floor(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &def, &collider));
}

/* Every lane layout and every batch that the neighbours may cause must give the body the same path. */
static void neighbours_do_not_matter(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
        random_state random = {(uint64_t)(60 + kind)};
        lm_mode mode = (lm_mode)(kind % LM_MODE_COUNT);
        lm_world *alone = make_world(-9.81), *crowd = make_world_with(-9.81, LM_ISA_BEST, 2);
        add_floor(alone);
        add_floor(crowd);
        lm_body_id others[12];
        for (int k = 0; k < 12; k++) others[k] = add_any_sample(crowd, &random, (lm_dvec3){2.0 * k, 1.0, 3.0});
        lm_body_id here = add_sample(alone, (sample_kind)kind, mode, (lm_dvec3){0, 0.8, 0});
        lm_body_id there = add_sample(crowd, (sample_kind)kind, mode, (lm_dvec3){0, 0.8, 0});
        for (int frame = 0; frame < 60; frame++) {
            int k = (int)random_below(&random, 12);
            assert_ok(lm_body_destroy(crowd, others[k]));
            others[k] = add_any_sample(crowd, &random, (lm_dvec3){2.0 * k, 1.0, 3.0});
            assert_ok(lm_world_step(alone, FRAME));
            assert_ok(lm_world_step(crowd, FRAME));
            body_state a = state_read(alone, here, lm_dvec3_zero()), b = state_read(crowd, there, lm_dvec3_zero());
            if (memcmp(a.x, b.x, a.count * sizeof *a.x) != 0 || memcmp(a.v, b.v, a.count * sizeof *a.v) != 0)
                fail_msg("%s, frame %d: neighbours changed the path", sample_name((sample_kind)kind), frame);
            state_free(&a);
            state_free(&b);
        }
        lm_world_destroy(alone);
        lm_world_destroy(crowd);
    }
}

/* ---- the host's floating-point mode ---- */

#if defined(__SSE2__)
/* Rounding, flush-to-zero and denormals-are-zero; without the sticky exception flags. */
#define MODE_BITS 0xffc0u
#define ODD_MODE_COUNT 4

static void set_mode(int odd)
{
    static const unsigned modes[ODD_MODE_COUNT] = {0x8040u, 0x4000u, 0x6000u, 0x2000u | 0x8040u};
    _mm_setcsr((_mm_getcsr() & ~0xe040u) | modes[odd]);
}

static void host_floating_point_mode_does_not_matter(void **context)
{
    (void)context;
    unsigned ordinary = _mm_getcsr();
    for (int odd = 0; odd < ODD_MODE_COUNT; odd++)
        for (uint32_t workers = 1; workers <= 2; workers++) {
            /* The pool's threads inherit the mode of the thread that starts them. */
            lm_world_def def = plain_def();
            def.workers = workers;
            def.isa = LM_ISA_BEST;
            set_mode(odd);
            lm_world *starts_threads = NULL;
            lm_result created = lm_world_create(&def, &starts_threads);
            _mm_setcsr(ordinary);
            assert_ok(created);

            busy model = busy_make(&def), b = model;
            size_t size;
            void *snapshot = save(model.world, &size);
            busy_free(&model);
            assert_ok(lm_world_load(starts_threads, snapshot, size));
            free(snapshot);
            b.world = starts_threads;
            for (uint32_t frame = 0; frame < 20; frame++) {
                busy_prepare(&b, frame);
                set_mode(odd);
                unsigned before = _mm_getcsr() & MODE_BITS;
                lm_result stepped = lm_world_step(b.world, FRAME);
                unsigned after = _mm_getcsr() & MODE_BITS;
                _mm_setcsr(ordinary);
                assert_ok(stepped);
                assert_int_equal(after, before);
                assert_true(lm_world_hash(b.world) == expected()->hashes[frame]);
            }
            busy_free(&b);
        }
}
#elif !defined(FE_UPWARD) /* there is but one mode, as in web assembly */
static void host_floating_point_mode_does_not_matter(void **context) { (void)context; }
#else
static void host_floating_point_mode_does_not_matter(void **context)
{
    (void)context;
    for (int odd = 0; odd < 2; odd++) {
        lm_world_def def = plain_def();
        busy b = busy_make(&def);
        for (uint32_t frame = 0; frame < 20; frame++) {
            busy_prepare(&b, frame);
            fesetround(odd ? FE_UPWARD : FE_TOWARDZERO);
            int before = fegetround();
            lm_result stepped = lm_world_step(b.world, FRAME);
            int after = fegetround();
            fesetround(FE_TONEAREST);
            assert_ok(stepped);
            assert_int_equal(after, before);
            assert_true(lm_world_hash(b.world) == expected()->hashes[frame]);
        }
        busy_free(&b);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_changes_every_frame), cmocka_unit_test(every_worker_count_and_instruction_set),
        cmocka_unit_test(many_tasks_for_many_workers),   cmocka_unit_test(any_order_of_host_tasks),
        cmocka_unit_test(save_and_load_at_any_frame),    cmocka_unit_test(pending_forces_are_saved),
        cmocka_unit_test(neighbours_do_not_matter),      cmocka_unit_test(host_floating_point_mode_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
