#include "base/memory.h"
#include "base/os.h"

#include <string.h>

static void *default_allocate(size_t size, size_t alignment, void *user)
{
    (void)user;
    return lmi_os_allocate(size, alignment);
}

static void default_release(void *memory, size_t size, void *user)
{
    (void)size;
    (void)user;
    lmi_os_release(memory);
}

void lmi_memory_init(lmi_memory *memory, const lm_allocator *hooks)
{
    memory->used = 0;
    memory->work = 0;
    memory->hooks = *hooks;
    if (!hooks->allocate) {
        memory->hooks.allocate = default_allocate;
        memory->hooks.release = default_release;
    }
}

/* Whole multiples of the alignment, as some systems want them. 0 when the product overflows. */
static size_t rounded_bytes(size_t count, size_t size)
{
    if (count > (SIZE_MAX - LMI_ALIGNMENT) / size) {
        return 0;
    }
    size_t bytes = (count * size + LMI_ALIGNMENT - 1) / LMI_ALIGNMENT * LMI_ALIGNMENT;
    return bytes ? bytes : LMI_ALIGNMENT;
}

void *lmi_allocate_plain(lmi_memory *memory, size_t count, size_t size)
{
    size_t bytes = rounded_bytes(count, size);
    if (bytes == 0) {
        return NULL;
    }
    void *pointer = memory->hooks.allocate(bytes, LMI_ALIGNMENT, memory->hooks.user);
    if (pointer) {
        memory->used += bytes;
    }
    return pointer;
}

void *lmi_allocate(lmi_memory *memory, size_t count, size_t size)
{
    void *pointer = lmi_allocate_plain(memory, count, size);
    if (pointer) {
        memset(pointer, 0, rounded_bytes(count, size));
    }
    return pointer;
}

void lmi_release(lmi_memory *memory, void *pointer, size_t count, size_t size)
{
    if (pointer) {
        size_t bytes = rounded_bytes(count, size);
        memory->used -= bytes;
        memory->hooks.release(pointer, bytes, memory->hooks.user);
    }
}

bool lmi_reserve(lmi_memory *memory, void **array, uint32_t *capacity, uint32_t needed, size_t size)
{
    if (needed <= *capacity) {
        return true;
    }
    uint64_t grown = (uint64_t)*capacity + *capacity / 2 + 8;
    if (grown < needed) {
        grown = needed;
    }
    if (grown > UINT32_MAX) {
        return false;
    }
    void *larger = lmi_allocate(memory, (size_t)grown, size);
    if (!larger) {
        return false;
    }
    if (*capacity) {
        memcpy(larger, *array, *capacity * size);
    }
    lmi_release(memory, *array, *capacity, size);
    *array = larger;
    *capacity = (uint32_t)grown;
    return true;
}

void *lmi_copy(lmi_memory *memory, const void *from, size_t count, size_t size, bool *ok)
{
    void *to = from && *ok ? lmi_allocate_plain(memory, count, size) : NULL;
    *ok = *ok && (to || !from);
    if (to) {
        memcpy(to, from, count * size);
    }
    return to;
}

bool lmi_grow(lmi_memory *memory, void *list, uint32_t *capacity, uint32_t needed, size_t size)
{
    void *array;
    memcpy(&array, list, sizeof array);
    bool ok = lmi_reserve(memory, &array, capacity, needed, size);
    memcpy(list, &array, sizeof array);
    return ok;
}
