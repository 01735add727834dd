/*
 * Memory: the host's allocator behind two calls, with the bytes counted.
 */
#ifndef LMI_MEMORY_H
#define LMI_MEMORY_H

#include "limber/limber.h"

#define LMI_ALIGNMENT 64

typedef struct lmi_memory {
    lm_allocator hooks;
    size_t used;
    uint64_t work; /* steps of what could take much longer than what comes of it is large, counted for tests of that */
} lmi_memory;

void lmi_memory_init(lmi_memory *memory, const lm_allocator *hooks);

/* `count` elements of `size` bytes, zeroed and aligned to LMI_ALIGNMENT. Null when there is no memory or the product
 * overflows. A count of zero gives a valid pointer too, so that null always means failure. */
void *lmi_allocate(lmi_memory *memory, size_t count, size_t size);

/* The same without zeros in it, for what is written before it is read. */
void *lmi_allocate_plain(lmi_memory *memory, size_t count, size_t size);

/* With the count and size that were asked for. Null is allowed. */
void lmi_release(lmi_memory *memory, void *pointer, size_t count, size_t size);

/* A copy of an array; null of null. Clears *ok and returns null when there is no memory, or when *ok is false already. */
void *lmi_copy(lmi_memory *memory, const void *from, size_t count, size_t size, bool *ok);

/* In a copy of a struct: an array of its own in place of the one that it has in common with the other. */
#define LMI_COPY_ARRAY(memory, to, field, count, ok)                                                                   \
    ((to)->field = lmi_copy((memory), (to)->field, (count), sizeof *(to)->field, (ok)))

/* Room for at least `needed` elements in *array (capacity in *capacity), growing by half. The contents are kept; on
 * failure nothing changes. */
bool lmi_reserve(lmi_memory *memory, void **array, uint32_t *capacity, uint32_t needed, size_t size);

/* The same of an array of any type, by the address of its pointer. */
bool lmi_grow(lmi_memory *memory, void *list, uint32_t *capacity, uint32_t needed, size_t size);

#endif
