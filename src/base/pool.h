/*
 * Pools: slots with generations, so that an id of something destroyed is never valid again.
 *
 * Elements live in one array and may move when it grows; refer to them by slot. A slot is one-based in ids and
 * zero-based here.
 */
#ifndef LMI_POOL_H
#define LMI_POOL_H

#include "base/base.h"
#include "base/memory.h"

typedef struct lmi_pool {
    void *elements;
    uint32_t *generations; /* odd while the slot is in use */
    uint32_t element_capacity;
    uint32_t generation_capacity;
    uint32_t slots;  /* ever used */
    uint32_t lowest; /* no slot below this one is free */
    uint32_t alive;
    size_t size; /* of an element */
} lmi_pool;

typedef struct lmi_id {
    uint32_t slot;
    uint32_t generation;
} lmi_id;

void lmi_pool_init(lmi_pool *pool, size_t size);
void lmi_pool_free(lmi_pool *pool, lmi_memory *memory);

/* A zeroed element in the lowest free slot; its index in *index, or false when there is no memory. */
bool lmi_pool_add(lmi_pool *pool, lmi_memory *memory, uint32_t *index);
void lmi_pool_remove(lmi_pool *pool, uint32_t index);

/* Takes back the add just made, as if it had not been. */
void lmi_pool_revoke(lmi_pool *pool, uint32_t index);

bool lmi_pool_used(const lmi_pool *pool, uint32_t index);
lmi_id lmi_pool_id(const lmi_pool *pool, uint32_t index);

/* The index of a living element, or false. */
bool lmi_pool_find(const lmi_pool *pool, lmi_id id, uint32_t *index);

#define LMI_POOL_AT(pool, type, index) ((type *)(pool)->elements + (index))
#define LMI_POOL_EACH(pool, index)                                                                                     \
    for (uint32_t index = 0; index < (pool)->slots; index++)                                                           \
        if (lmi_pool_used(pool, index))

#endif
