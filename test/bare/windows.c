/*
 * What the tests use of POSIX and Windows lacks.
 *
 * Memory whose alignment can be chosen is given back by a function of its own on Windows. The tests give all memory to free, so for
 * them all memory is of that kind: the linker puts these in the place of malloc and its relatives (test/CMakeLists.txt).
 */
#define WIN32_LEAN_AND_MEAN
#include "test/bare/windows.h"
#include "test/bare/thread.h"

#include <direct.h>
#include <malloc.h>
#include <process.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

void *aligned_alloc(size_t alignment, size_t size) { return _aligned_malloc(size ? size : 1, alignment); }
void *__wrap_malloc(size_t size) { return _aligned_malloc(size ? size : 1, 16); }
void *__wrap_realloc(void *memory, size_t size) { return _aligned_realloc(memory, size ? size : 1, 16); }
void __wrap_free(void *memory) { _aligned_free(memory); }

void *__wrap_calloc(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) return NULL;
    void *memory = __wrap_malloc(count * size);
    if (memory) memset(memory, 0, count * size);
    return memory;
}

/* The tests want folders below /tmp, which is below the root of the drive they run on. */
char *mkdtemp(char *name)
{
    size_t length = strlen(name);
    if (length < 6) return NULL;
    if (strncmp(name, "/tmp/", 5) == 0) _mkdir("/tmp");
    for (unsigned n = (unsigned)_getpid() % 1000, tries = 0; tries < 1000; tries++, n = (n + 1) % 1000) {
        snprintf(name + length - 6, 7, "%06u", n);
        if (_mkdir(name) == 0) return name;
    }
    return NULL;
}

int setenv(const char *name, const char *value, int replace)
{
    return !replace && getenv(name) ? 0 : _putenv_s(name, value);
}

/* ---- threads ---- */

typedef struct call {
    void (*run)(void *argument);
    void *argument;
} call;

static DWORD WINAPI begin(void *argument)
{
    call *c = argument;
    c->run(c->argument);
    return 0;
}

bool bare_run_on_stack(size_t size, void (*run)(void *argument), void *argument)
{
    call c = {run, argument};
    HANDLE thread = CreateThread(NULL, size, begin, &c, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (thread == NULL) return false;
    bool ran = WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0;
    CloseHandle(thread);
    return ran;
}
