/* Web assembly with the functions of WASI: one thread. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "base/os.h"

#include <stddef.h>
#include <stdlib.h>
#include <time.h>

uint64_t lmi_os_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t lmi_os_cores(void) { return 1; }

bool lmi_thread_start(lmi_thread *thread, void *(*run)(void *), void *argument)
{
    (void)thread, (void)run, (void)argument;
    return false;
}
void lmi_thread_join(lmi_thread *thread) { (void)thread; }
void lmi_thread_pause(void) {}
void lmi_thread_yield(void) {}

bool lmi_mutex_init(lmi_mutex *mutex)
{
    mutex->state = 0;
    return true;
}
void lmi_mutex_free(lmi_mutex *mutex) { (void)mutex; }
void lmi_mutex_lock(lmi_mutex *mutex) { (void)mutex; }
void lmi_mutex_unlock(lmi_mutex *mutex) { (void)mutex; }

bool lmi_condition_init(lmi_condition *condition)
{
    condition->count = 0;
    return true;
}
void lmi_condition_free(lmi_condition *condition) { (void)condition; }
void lmi_condition_wait(lmi_condition *condition, lmi_mutex *mutex) { (void)condition, (void)mutex; }
void lmi_condition_wake_all(lmi_condition *condition) { (void)condition; }

void *lmi_os_allocate(size_t size, size_t alignment) { return aligned_alloc(alignment, size); }
void lmi_os_release(void *memory) { free(memory); }

void *lmi_os_library(const char *name)
{
    (void)name;
    return NULL;
}
void *lmi_os_symbol(void *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}
