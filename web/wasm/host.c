/*
 * Log, workers and checks for worlds of JavaScript programs (host.h).
 *
 * Tasks. The thread that steps a world publishes a job as one 64-bit number: the job's number, how many workers may take part, and how
 * many tasks nobody has taken yet. Whoever lowers the last part by one, with a compare and exchange, owns that task; the thread that
 * published the job ends it only when all tasks are done. A worker that comes late finds nothing to take, so that workers may be added at
 * any time. A page's main thread must not wait, so it takes tasks itself and then spins; workers sleep on a counter after a short while.
 */
#include "web/wasm/host.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 256

static char last_line[LINE_SIZE];
static bool has_line;

void *web_allocate(size_t size) { return aligned_alloc(16, (size + 15) & ~(size_t)15); }
void web_free(void *memory) { free(memory); }

static void write_line(lm_result result, const char *line, void *user)
{
    (void)result, (void)user;
    snprintf(last_line, sizeof last_line, "%s", line);
    has_line = true;
}

const char *web_take_line(void)
{
    bool had = has_line;
    has_line = false;
    return had ? last_line : NULL;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Workers
 */

#ifdef __wasm_atomics__

#define SPINS 4000
#define TASK_BITS 32
#define LIMIT_BITS 8
#define TASK_MASK ((1ull << TASK_BITS) - 1)

static struct {
    _Atomic uint64_t ticket; /* job | limit | tasks that nobody has taken */
    lm_task *task;
    void *context;
    atomic_uint done;
    _Atomic int32_t bell; /* counts jobs: what workers sleep on */
    atomic_uint ready;
    atomic_bool stop;
} pool;

bool web_has_threads(void) { return true; }
uint32_t web_workers_ready(void) { return atomic_load(&pool.ready); }

/* Does one task of the job there is now; false when there is none for this worker. */
static bool take_task(uint32_t worker)
{
    uint64_t ticket = atomic_load(&pool.ticket);
    for (;;) {
        uint64_t left = ticket & TASK_MASK, limit = (ticket >> TASK_BITS) & ((1u << LIMIT_BITS) - 1);
        if (left == 0 || worker >= limit) {
            return false;
        }
        if (atomic_compare_exchange_weak(&pool.ticket, &ticket, ticket - 1)) {
            pool.task(pool.context, (uint32_t)(left - 1));
            atomic_fetch_add(&pool.done, 1);
            return true;
        }
    }
}

static void run_tasks(lm_task *task, void *context, uint32_t count, void *user)
{
    uint32_t limit = (uint32_t)(uintptr_t)user;
    if (count < 2 || limit < 2 || atomic_load(&pool.ready) == 0) {
        for (uint32_t index = 0; index < count; index++) {
            task(context, index);
        }
        return;
    }
    uint64_t job = (atomic_load(&pool.ticket) >> (TASK_BITS + LIMIT_BITS)) + 1;
    pool.task = task;
    pool.context = context;
    atomic_store(&pool.done, 0);
    atomic_store(&pool.ticket, job << (TASK_BITS + LIMIT_BITS) | (uint64_t)limit << TASK_BITS | count);
    atomic_fetch_add(&pool.bell, 1);
    __builtin_wasm_memory_atomic_notify((int *)&pool.bell, UINT32_MAX);
    while (take_task(0)) {
    }
    while (atomic_load(&pool.done) < count) {
    }
}

void web_work(uint32_t index)
{
    atomic_fetch_add(&pool.ready, 1);
    while (!atomic_load(&pool.stop)) {
        int32_t heard = atomic_load(&pool.bell);
        uint32_t spins = 0;
        while (spins < SPINS && !atomic_load(&pool.stop)) {
            spins = take_task(index) ? 0 : spins + 1;
        }
        if (atomic_load(&pool.bell) == heard) {
            __builtin_wasm_memory_atomic_wait32((int *)&pool.bell, heard, -1);
        }
    }
    atomic_fetch_sub(&pool.ready, 1);
}

void web_stop_workers(void)
{
    atomic_store(&pool.stop, true);
    atomic_fetch_add(&pool.bell, 1);
    __builtin_wasm_memory_atomic_notify((int *)&pool.bell, UINT32_MAX);
}

void web_fill_def(lm_world_def *def, uint32_t workers)
{
    uint32_t all = web_workers_ready() + 1;
    def->workers = workers == 0 || workers > all ? all : workers;
    def->log = (lm_log){.write = write_line};
    def->tasks = (lm_tasks){.run = run_tasks, .user = (void *)(uintptr_t)def->workers};
}

#else

bool web_has_threads(void) { return false; }
uint32_t web_workers_ready(void) { return 0; }
void web_work(uint32_t index) { (void)index; }
void web_stop_workers(void) {}

void web_fill_def(lm_world_def *def, uint32_t workers)
{
    (void)workers;
    def->workers = 1;
    def->log = (lm_log){.write = write_line};
}

#endif

/* ------------------------------------------------------------------------------------------------------------------
 * Scenes
 */

typedef struct lines {
    char *text;
    size_t size, used;
} lines;

static void add_line(const char *line, void *user)
{
    lines *l = user;
    size_t length = strlen(line);
    if (l->used + length + 2 <= l->size) {
        memcpy(l->text + l->used, line, length);
        l->used += length;
        l->text[l->used++] = '\n';
        l->text[l->used] = '\0';
    }
}

uint32_t web_check_scene(lm_scene *checked, lm_world *world, char *text, size_t size)
{
    lines l = {text, size, 0};
    text[0] = '\0';
    return lm_scene_check(checked, world, add_line, &l);
}
