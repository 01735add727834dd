/*
 * Threads with a stack of 256 KiB, as consoles, some engines and the workers of a web page give them, have room to spare: worlds of every
 * kind are made, stepped, saved and loaded on one, whose stack was painted before. At least 4 KiB of the paint must be left.
 */
#define _POSIX_C_SOURCE 200809L
#include "test/support/busy.h"
#include "test/support/snapshots.h"

#if defined(_WIN32) || defined(__wasi__)
#include "test/bare/thread.h"
#else
#include <pthread.h>
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STACK (256u << 10)
#define LEFT (4u << 10)
#define PAINT 0xa5

typedef struct job {
    lm_isa isa;
    const snapshot_seed *seed; /* or null: the busy world */
    bool good;
} job;

static bool step_seed(const job *j, const lm_world_def *def)
{
    lm_world *world = NULL;
    bool good = lm_world_create(def, &world) == LM_OK && lm_world_load(world, j->seed->bytes, j->seed->size) == LM_OK;
    for (int n = 0; good && n < 4; n++) good = lm_world_step(world, FRAME) == LM_OK;
    size_t size = good ? lm_world_save_size(world) : 0;
    void *bytes = malloc(size + 1);
    good = good && bytes && lm_world_save(world, bytes, size) == LM_OK;
    free(bytes);
    lm_world_destroy(world);
    return good;
}

static void *run(void *argument)
{
    job *j = argument;
    lm_world_def def = lm_world_def_default();
    def.isa = j->isa;
    def.workers = 1;
    if (j->seed) {
        j->good = step_seed(j, &def);
        return NULL;
    }
    busy b = busy_make(&def);
    for (uint32_t frame = 0; frame < 12; frame++) busy_step(&b, frame);
    busy_free(&b);
    j->good = true;
    return NULL;
}

#if defined(_WIN32) || defined(__wasi__)
/* There a thread cannot be given its stack. It paints what lies below its own frame: all of the 256 KiB but what the system may have at
   either end. The frame of this function is the first KiB. */
#define ENDS (24u << 10)
#define FRAME_SIZE (1u << 10)

typedef struct measured {
    job *job;
    size_t left;
} measured;

static void run_painted(void *argument)
{
    measured *m = argument;
    volatile unsigned char mark = PAINT;
    volatile uintptr_t here =
        (uintptr_t)&mark; /* what compilers cannot see through: they would object to what follows */
    volatile unsigned char *top = (volatile unsigned char *)here - FRAME_SIZE;
    size_t depth = STACK - ENDS - FRAME_SIZE;
    for (size_t n = 1; n <= depth; n++) *(top - n) = mark;
    run(m->job);
    size_t touched = depth;
    while (touched > 0 && *(top - touched) == mark) touched--;
    m->left = touched < depth ? STACK - FRAME_SIZE - touched : 0;
}

/* Bytes of the stack that were never touched. */
static size_t left_after(job *j)
{
    measured m = {.job = j};
    assert_true(bare_run_on_stack(STACK, run_painted, &m));
    return m.left;
}
#else
/* Bytes of the stack that were never touched. */
static size_t left_after(job *j)
{
    void *stack = NULL;
    assert_int_equal(posix_memalign(&stack, 65536, STACK), 0);
    memset(stack, PAINT, STACK);
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run, j), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    const unsigned char *bytes = stack;
    size_t left = 0;
    while (left < STACK && bytes[left] == PAINT) left++;
    free(stack);
    return left;
}
#endif

static void every_world_fits(void **state)
{
    (void)state;
    size_t least = STACK;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        if (!lm_isa_supported((lm_isa)isa)) continue;
        job b = {.isa = (lm_isa)isa};
        size_t left = left_after(&b);
        const char *where = "busy";
        assert_true(b.good);
        for (size_t n = 0; n < snapshot_seed_count(); n++) {
            snapshot_seed seed = snapshot_seed_make(n);
            job j = {.isa = (lm_isa)isa, .seed = &seed};
            size_t now = left_after(&j);
            assert_true(j.good);
            if (now < left) left = now, where = snapshot_seed_name(n);
            snapshot_seed_free(&seed);
        }
        print_message("%s: %zu of %u bytes used, by %s\n", lm_isa_name((lm_isa)isa), STACK - left, STACK, where);
        least = left < least ? left : least;
    }
    assert_true(least >= LEFT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_world_fits)};
    return cmocka_run_group_tests_name("small_stack", tests, NULL, NULL);
}
