/*
 * Everything the library asks of the operating system: the clock, the number of cores, threads, libraries that may be there.
 * One file for each system: os_posix.c, os_windows.c, and os_wasi.c for web assembly.
 */
#ifndef LMI_OS_H
#define LMI_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether threads can be started. Where not, there is one worker, and nobody to lock anything against. */
#if defined(__wasm__) && !defined(__wasm_atomics__)
#define LMI_HAS_THREADS 0
#else
#define LMI_HAS_THREADS 1
#endif

#if defined(_WIN32)

typedef struct lmi_thread {
    void *handle;
    void *(*run)(void *);
    void *argument;
} lmi_thread;
typedef struct lmi_mutex {
    void *lock;
} lmi_mutex;
typedef struct lmi_condition {
    void *variable;
} lmi_condition;

#elif defined(__wasm__)

typedef struct lmi_thread {
    void *(*run)(void *);
    void *argument;
    void *stack;
    int32_t done; /* 1 when `run` has returned */
} lmi_thread;
typedef struct lmi_mutex {
    int32_t state; /* 0 free, 1 taken, 2 taken and somebody waits */
} lmi_mutex;
typedef struct lmi_condition {
    int32_t count; /* of calls that wake */
} lmi_condition;

#else

#include <pthread.h>

typedef pthread_t lmi_thread;
typedef pthread_mutex_t lmi_mutex;
typedef pthread_cond_t lmi_condition;

#endif

uint64_t lmi_os_nanoseconds(void); /* monotonic */
uint32_t lmi_os_cores(void);       /* at least 1 */

/* The thread stays where it is until it was joined. */
bool lmi_thread_start(lmi_thread *thread, void *(*run)(void *), void *argument);
void lmi_thread_join(lmi_thread *thread);
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

/* Memory at a multiple of `alignment`, a power of two that divides `size`; null when there is none. */
void *lmi_os_allocate(size_t size, size_t alignment);
void lmi_os_release(void *memory);

/* A shared library by its file name, for good, or null; and a name in it, or null. */
void *lmi_os_library(const char *name);
void *lmi_os_symbol(void *library, const char *name);

#endif
