/*
 * The host's own memory, threads and log: what an engine with an allocator and a job system of its own does.
 *
 * Learn: the three hooks of lm_world_def; that a step at rest allocates nothing; and that the result does not depend on who runs the tasks.
 *
 *     cc host.c $(pkg-config --cflags --libs limber) -o host
 */
#define _POSIX_C_SOURCE 200809L

#include <limber/limber.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Memory: counted, and aligned as asked.
 */

typedef struct account {
    size_t bytes, calls;
} account;

static void *allocate(size_t size, size_t alignment, void *user)
{
    account *a = user;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory) a->bytes += size;
    a->calls++;
    return memory;
}

static void release(void *memory, size_t size, void *user)
{
    account *a = user;
    a->bytes -= size;
    free(memory);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Tasks: here a thread for each call and worker. A program would have a pool.
 */

enum { WORKERS = 4 };

typedef struct job {
    lm_task *task;
    void *context;
    uint32_t count;
    atomic_uint next;
} job;

static void *work(void *user)
{
    job *j = user;
    for (uint32_t i = atomic_fetch_add(&j->next, 1); i < j->count; i = atomic_fetch_add(&j->next, 1)) {
        j->task(j->context, i);
    }
    return NULL;
}

static void run_tasks(lm_task *task, void *context, uint32_t count, void *user)
{
    job j = {.task = task, .context = context, .count = count};
    pthread_t threads[WORKERS - 1];
    int started = 0;
    (void)user;
    while (started < WORKERS - 1 && (uint32_t)started + 1 < count) {
        if (pthread_create(&threads[started], NULL, work, &j) != 0) break;
        started++;
    }
    work(&j); /* the calling thread works too */
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Log
 */

static void write_log(lm_result result, const char *line, void *user)
{
    (void)user;
    printf("log: %s (%s)\n", line, lm_result_text(result));
}

/* ------------------------------------------------------------------------------------------------------------------
 * A stack of cubes that fall, stepped with these hooks or without.
 */

static uint64_t run(const lm_world_def *def, const account *a)
{
    lm_vec3 points[64];
    lm_world *world;
    lm_collider_id floor;
    lm_body_id body;
    for (int i = 0; i < 64; i++) {
        points[i] = (lm_vec3){0.2f * (float)(i % 4), 0.2f * (float)(i / 4 % 4), 0.2f * (float)(i / 16)};
    }
    if (lm_world_create(def, &world) != LM_OK) return 0;
    lm_collider_def floor_def = lm_collider_def_default();
    lm_collider_create(world, &floor_def, &floor);
    for (int i = 0; i < 200; i++) {
        lm_body_def body_def = lm_body_def_default();
        body_def.points = points;
        body_def.point_count = 64;
        body_def.pose.position = (lm_dvec3){i % 10, 0.5 + i / 100, i / 10 % 10};
        lm_body_create(world, &body_def, &body);
    }
    lm_world_step(world, 1.0 / 60.0);
    size_t calls = a ? a->calls : 0;
    for (int frame = 0; frame < 60; frame++) lm_world_step(world, 1.0 / 60.0);
    if (a) printf("%zu bytes held, %zu allocations in 60 steps\n", a->bytes, a->calls - calls);
    lm_body_get_info(world, (lm_body_id){0}, &(lm_body_info){0}); /* a mistake, for the log */
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    return hash;
}

int main(void)
{
    account a = {0};
    lm_world_def def = lm_world_def_default();
    uint64_t plain = run(&def, NULL);
    def.workers = WORKERS;
    def.allocator = (lm_allocator){.allocate = allocate, .release = release, .user = &a};
    def.tasks = (lm_tasks){.run = run_tasks};
    def.log = (lm_log){.write = write_log};
    uint64_t hosted = run(&def, &a);
    printf("%zu bytes left; the results are %s\n", a.bytes, plain == hosted ? "the same" : "different");
    return plain != 0 && plain == hosted && a.bytes == 0 ? 0 : 1;
}
