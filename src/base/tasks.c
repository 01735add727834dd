/*
 * The built-in pool. A job is published under the mutex with a new number; workers that see the number change take
 * indices from a shared counter until none are left. A worker that has finished spins for a moment before it sleeps,
 * because the next job of the same frame usually follows at once.
 */
#include "base/tasks.h"
#include "base/os.h"

#include <stdatomic.h>
#include <string.h>

#define SPIN_NANOSECONDS 50000u

struct lmi_workers {
    lm_tasks host;
    uint32_t count;
    uint32_t started; /* threads besides the caller's */
    lmi_thread threads[LM_MAX_WORKERS];

    lmi_mutex mutex;
    lmi_condition wake; /* a job was published, or stop */
    atomic_uint job;    /* number of the latest job */
    atomic_bool stop;

    lm_task *task;
    void *context;
    uint32_t task_count;
    atomic_uint next;    /* index to take */
    atomic_uint working; /* threads that have not finished the job */
};

static void take_indices(lmi_workers *workers)
{
    for (;;) {
        uint32_t index = atomic_fetch_add(&workers->next, 1);
        if (index >= workers->task_count) {
            return;
        }
        workers->task(workers->context, index);
    }
}

/* Returns when the job number differs from `seen`. */
static void wait_for_job(lmi_workers *workers, uint32_t seen)
{
    uint64_t start = lmi_os_nanoseconds();
    do {
        for (int n = 0; n < 64; n++) {
            if (atomic_load(&workers->job) != seen) {
                return;
            }
            lmi_thread_pause();
        }
    } while (lmi_os_nanoseconds() - start < SPIN_NANOSECONDS);

    lmi_mutex_lock(&workers->mutex);
    while (atomic_load(&workers->job) == seen) {
        lmi_condition_wait(&workers->wake, &workers->mutex);
    }
    lmi_mutex_unlock(&workers->mutex);
}

static void *worker_main(void *argument)
{
    lmi_workers *workers = argument;
    for (uint32_t seen = 0;; seen++) {
        wait_for_job(workers, seen);
        if (atomic_load(&workers->stop)) {
            return NULL;
        }
        take_indices(workers);
        atomic_fetch_sub(&workers->working, 1);
    }
}

static void publish(lmi_workers *workers)
{
    lmi_mutex_lock(&workers->mutex);
    atomic_fetch_add(&workers->job, 1);
    lmi_condition_wake_all(&workers->wake);
    lmi_mutex_unlock(&workers->mutex);
}

lmi_workers *lmi_workers_create(lmi_memory *memory, uint32_t count, const lm_tasks *host)
{
    lmi_workers *workers = lmi_allocate(memory, 1, sizeof *workers);
    if (!workers) {
        return NULL;
    }
    workers->host = *host;
    workers->count = count ? count : lmi_os_cores();
    if (workers->count > LM_MAX_WORKERS) {
        workers->count = LM_MAX_WORKERS;
    }
    if (!LMI_HAS_THREADS && !host->run) {
        workers->count = 1;
    }
    if (host->run || workers->count == 1) {
        return workers;
    }
    if (!lmi_mutex_init(&workers->mutex)) {
        lmi_release(memory, workers, 1, sizeof *workers);
        return NULL;
    }
    if (!lmi_condition_init(&workers->wake)) {
        lmi_mutex_free(&workers->mutex);
        lmi_release(memory, workers, 1, sizeof *workers);
        return NULL;
    }
    for (uint32_t n = 1; n < workers->count; n++) {
        if (!lmi_thread_start(&workers->threads[workers->started], worker_main, workers)) {
            lmi_workers_destroy(workers, memory);
            return NULL;
        }
        workers->started++;
    }
    return workers;
}

void lmi_workers_destroy(lmi_workers *workers, lmi_memory *memory)
{
    if (!workers) {
        return;
    }
    if (!workers->host.run && workers->count > 1) {
        atomic_store(&workers->stop, true);
        publish(workers);
        for (uint32_t n = 0; n < workers->started; n++) {
            lmi_thread_join(&workers->threads[n]);
        }
        lmi_condition_free(&workers->wake);
        lmi_mutex_free(&workers->mutex);
    }
    lmi_release(memory, workers, 1, sizeof *workers);
}

uint32_t lmi_workers_count(const lmi_workers *workers) { return workers->count; }

void lmi_workers_run(lmi_workers *workers, lm_task *task, void *context, uint32_t count)
{
    if (workers->host.run) {
        workers->host.run(task, context, count, workers->host.user);
        return;
    }
    if (workers->started == 0 || count < 2) {
        for (uint32_t index = 0; index < count; index++) {
            task(context, index);
        }
        return;
    }
    workers->task = task;
    workers->context = context;
    workers->task_count = count;
    atomic_store(&workers->next, 0);
    atomic_store(&workers->working, workers->started);
    publish(workers);
    take_indices(workers);
    for (uint32_t spins = 0; atomic_load(&workers->working); spins++) {
        /* With more workers than cores the one we wait for may need this core. */
        if (spins < 2000) {
            lmi_thread_pause();
        } else {
            lmi_thread_yield();
        }
    }
}
