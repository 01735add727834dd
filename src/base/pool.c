#include "base/pool.h"

#include <string.h>

void lmi_pool_init(lmi_pool *pool, size_t size)
{
    memset(pool, 0, sizeof *pool);
    pool->size = size;
}

void lmi_pool_free(lmi_pool *pool, lmi_memory *memory)
{
    lmi_release(memory, pool->elements, pool->element_capacity, pool->size);
    lmi_release(memory, pool->generations, pool->generation_capacity, sizeof *pool->generations);
    lmi_pool_init(pool, pool->size);
}

bool lmi_pool_add(lmi_pool *pool, lmi_memory *memory, uint32_t *index)
{
    /* The lowest free slot, so that it does not depend on the history of a free list, which a snapshot would have to
     * carry. */
    uint32_t slot = pool->lowest;
    while (lmi_pool_used(pool, slot)) {
        slot++;
    }
    if (slot == UINT32_MAX - 1) {
        return false;
    }
    void *generations = pool->generations;
    bool ok = lmi_reserve(memory, &pool->elements, &pool->element_capacity, slot + 1, pool->size) &&
              lmi_reserve(memory, &generations, &pool->generation_capacity, slot + 1, sizeof *pool->generations);
    pool->generations = generations;
    if (!ok) {
        return false;
    }
    memset((char *)pool->elements + slot * pool->size, 0, pool->size);
    pool->generations[slot]++;
    pool->slots = slot + 1 > pool->slots ? slot + 1 : pool->slots;
    pool->alive++;
    pool->lowest = slot + 1;
    *index = slot;
    return true;
}

void lmi_pool_remove(lmi_pool *pool, uint32_t index)
{
    pool->generations[index]++;
    pool->alive--;
    pool->lowest = index < pool->lowest ? index : pool->lowest;
}

void lmi_pool_revoke(lmi_pool *pool, uint32_t index)
{
    pool->generations[index]--;
    pool->alive--;
    pool->lowest = index < pool->lowest ? index : pool->lowest;
    if (index + 1 == pool->slots && pool->generations[index] == 0) {
        pool->slots--;
    }
}

bool lmi_pool_used(const lmi_pool *pool, uint32_t index)
{
    return index < pool->slots && (pool->generations[index] & 1);
}

lmi_id lmi_pool_id(const lmi_pool *pool, uint32_t index)
{
    lmi_id id = {index + 1, pool->generations[index]};
    return id;
}

bool lmi_pool_find(const lmi_pool *pool, lmi_id id, uint32_t *index)
{
    if (id.slot == 0 || !lmi_pool_used(pool, id.slot - 1) || pool->generations[id.slot - 1] != id.generation) {
        return false;
    }
    *index = id.slot - 1;
    return true;
}
