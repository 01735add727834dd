/*
 * Tasks: the same function for every index below a count, on the host's task system or on our own pool.
 *
 * Work is cut into pieces that do not depend on the number of workers, and no piece reads what another writes, so the
 * order in which they run cannot show in the result.
 */
#ifndef LMI_TASKS_H
#define LMI_TASKS_H

#include "base/memory.h"

typedef struct lmi_workers lmi_workers;

/* `count` workers, the calling thread among them; 0: one for each core. With host tasks no thread is started. Null when
 * there is no memory or a thread cannot be started. */
lmi_workers *lmi_workers_create(lmi_memory *memory, uint32_t count, const lm_tasks *host);
void lmi_workers_destroy(lmi_workers *workers, lmi_memory *memory);
uint32_t lmi_workers_count(const lmi_workers *workers);

/* Runs task(context, index) for every index below count and returns when all are done. */
void lmi_workers_run(lmi_workers *workers, lm_task *task, void *context, uint32_t count);

#endif
