/* Windows. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "base/os.h"

#include <malloc.h>
#include <process.h>

_Static_assert(sizeof(lmi_mutex) == sizeof(SRWLOCK) && sizeof(lmi_condition) == sizeof(CONDITION_VARIABLE),
               "both are one pointer, zero at first");

uint64_t lmi_os_nanoseconds(void)
{
    LARGE_INTEGER now, second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&second);
    uint64_t ticks = (uint64_t)now.QuadPart, rate = (uint64_t)second.QuadPart;
    return ticks / rate * 1000000000u + ticks % rate * 1000000000u / rate;
}

uint32_t lmi_os_cores(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors < 1 ? 1 : (uint32_t)info.dwNumberOfProcessors;
}

static unsigned __stdcall begin(void *argument)
{
    lmi_thread *thread = argument;
    thread->run(thread->argument);
    return 0;
}

bool lmi_thread_start(lmi_thread *thread, void *(*run)(void *), void *argument)
{
    thread->run = run;
    thread->argument = argument;
    thread->handle = (void *)_beginthreadex(NULL, 0, begin, thread, 0, NULL);
    return thread->handle != NULL;
}

void lmi_thread_join(lmi_thread *thread)
{
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
}

void lmi_thread_pause(void) { YieldProcessor(); }
void lmi_thread_yield(void) { SwitchToThread(); }

bool lmi_mutex_init(lmi_mutex *mutex)
{
    InitializeSRWLock((SRWLOCK *)mutex);
    return true;
}
void lmi_mutex_free(lmi_mutex *mutex) { (void)mutex; }
void lmi_mutex_lock(lmi_mutex *mutex) { AcquireSRWLockExclusive((SRWLOCK *)mutex); }
void lmi_mutex_unlock(lmi_mutex *mutex) { ReleaseSRWLockExclusive((SRWLOCK *)mutex); }

bool lmi_condition_init(lmi_condition *condition)
{
    InitializeConditionVariable((CONDITION_VARIABLE *)condition);
    return true;
}
void lmi_condition_free(lmi_condition *condition) { (void)condition; }
void lmi_condition_wait(lmi_condition *condition, lmi_mutex *mutex)
{
    SleepConditionVariableSRW((CONDITION_VARIABLE *)condition, (SRWLOCK *)mutex, INFINITE, 0);
}
void lmi_condition_wake_all(lmi_condition *condition) { WakeAllConditionVariable((CONDITION_VARIABLE *)condition); }

void *lmi_os_allocate(size_t size, size_t alignment) { return _aligned_malloc(size, alignment); }
void lmi_os_release(void *memory) { _aligned_free(memory); }

void *lmi_os_library(const char *name) { return (void *)LoadLibraryA(name); }
void *lmi_os_symbol(void *library, const char *name)
{
    FARPROC found = GetProcAddress((HMODULE)library, name);
    return *(void **)(void *)&found;
}
