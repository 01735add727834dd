/* Linux with glibc or musl, macOS, and other systems that have what POSIX asks for. */
#define _POSIX_C_SOURCE 200809L
#if defined(__APPLE__)
#define _DARWIN_C_SOURCE /* _SC_NPROCESSORS_ONLN */
#endif
#include "base/os.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

uint64_t lmi_os_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t lmi_os_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : (uint32_t)cores;
}

bool lmi_thread_start(lmi_thread *thread, void *(*run)(void *), void *argument)
{
    return pthread_create(thread, NULL, run, argument) == 0;
}

void lmi_thread_join(lmi_thread *thread) { pthread_join(*thread, NULL); }

void lmi_thread_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void lmi_thread_yield(void) { sched_yield(); }

bool lmi_mutex_init(lmi_mutex *mutex) { return pthread_mutex_init(mutex, NULL) == 0; }
void lmi_mutex_free(lmi_mutex *mutex) { pthread_mutex_destroy(mutex); }
void lmi_mutex_lock(lmi_mutex *mutex) { pthread_mutex_lock(mutex); }
void lmi_mutex_unlock(lmi_mutex *mutex) { pthread_mutex_unlock(mutex); }

bool lmi_condition_init(lmi_condition *condition) { return pthread_cond_init(condition, NULL) == 0; }
void lmi_condition_free(lmi_condition *condition) { pthread_cond_destroy(condition); }
void lmi_condition_wait(lmi_condition *condition, lmi_mutex *mutex) { pthread_cond_wait(condition, mutex); }
void lmi_condition_wake_all(lmi_condition *condition) { pthread_cond_broadcast(condition); }

void *lmi_os_allocate(size_t size, size_t alignment) { return aligned_alloc(alignment, size); }
void lmi_os_release(void *memory) { free(memory); }

void *lmi_os_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void *lmi_os_symbol(void *library, const char *name) { return dlsym(library, name); }
