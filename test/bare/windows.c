/*
 * Memory whose alignment can be chosen is given back by a function of its own on Windows. The tests give all memory to free, so for
 * them all memory is of that kind: the linker puts these in the place of malloc and its relatives (test/CMakeLists.txt).
 */
#include "test/bare/windows.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>

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
