/*
 * Everything the library asks of the operating system: the clock, the number of cores, threads, libraries that may be there.
 */
#ifndef LMI_OS_H
#define LMI_OS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef pthread_t lmi_thread;
typedef pthread_mutex_t lmi_mutex;
typedef pthread_cond_t lmi_condition;

uint64_t lmi_os_nanoseconds(void); /* monotonic */
uint32_t lmi_os_cores(void);       /* at least 1 */

bool lmi_thread_start(lmi_thread *thread, void *(*run)(void *), void *argument);
void lmi_thread_join(lmi_thread thread);
void lmi_thread_pause(void); /* a hint inside a spinning loop */
void lmi_thread_yield(void); /* lets another thread have the core */

bool lmi_mutex_init(lmi_mutex *mutex);
void lmi_mutex_free(lmi_mutex *mutex);
void lmi_mutex_lock(lmi_mutex *mutex);
void lmi_mutex_unlock(lmi_mutex *mutex);

bool lmi_condition_init(lmi_condition *condition);
void lmi_condition_free(lmi_condition *condition);
void lmi_condition_wait(lmi_condition *condition, lmi_mutex *mutex);
void lmi_condition_wake_all(lmi_condition *condition);

/* A shared library by its file name, for good, or null; and a name in it, or null. */
void *lmi_os_library(const char *name);
void *lmi_os_symbol(void *library, const char *name);

#endif
