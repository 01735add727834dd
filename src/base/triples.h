/*
 * A table of numbers by three others.
 */
#ifndef LMI_TRIPLES_H
#define LMI_TRIPLES_H

#include "base/hash.h"
#include "base/memory.h"

#define LMI_TRIPLES_NONE UINT32_MAX

typedef struct lmi_triple {
    uint32_t key[3], value; /* and one; 0: free */
} lmi_triple;

typedef struct lmi_triples {
    lmi_triple *items;
    uint32_t size, used;
} lmi_triples;

static inline lmi_triple *lmi_triples_at(lmi_triple *items, uint32_t size, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t at = (uint32_t)(lmi_hash_word(lmi_hash_word(LMI_HASH_SEED, (uint64_t)a << 32 | b), c) >> 16) & (size - 1);
    while (items[at].value && (items[at].key[0] != a || items[at].key[1] != b || items[at].key[2] != c)) {
        at = (at + 1) & (size - 1);
    }
    return &items[at];
}

/* What was put there, or LMI_TRIPLES_NONE. */
static inline uint32_t lmi_triples_get(const lmi_triples *t, uint32_t a, uint32_t b, uint32_t c)
{
    return t->size ? lmi_triples_at(t->items, t->size, a, b, c)->value - 1 : LMI_TRIPLES_NONE;
}

/* In place of what was there. False when out of memory. */
static inline bool lmi_triples_put(lmi_triples *t, lmi_memory *memory, uint32_t a, uint32_t b, uint32_t c,
                                   uint32_t value)
{
    if (2 * (t->used + 1) > t->size) {
        uint32_t size = t->size ? 2 * t->size : 1024;
        lmi_triple *larger = lmi_allocate(memory, size, sizeof *larger);
        if (!larger) {
            return false;
        }
        for (uint32_t n = 0; n < t->size; n++) {
            const lmi_triple *e = &t->items[n];
            if (e->value) {
                *lmi_triples_at(larger, size, e->key[0], e->key[1], e->key[2]) = *e;
            }
        }
        lmi_release(memory, t->items, t->size, sizeof *t->items);
        t->items = larger;
        t->size = size;
    }
    lmi_triple *e = lmi_triples_at(t->items, t->size, a, b, c);
    t->used += !e->value;
    *e = (lmi_triple){{a, b, c}, value + 1};
    return true;
}

static inline void lmi_triples_free(lmi_triples *t, lmi_memory *memory)
{
    lmi_release(memory, t->items, t->size, sizeof *t->items);
    *t = (lmi_triples){0};
}

#endif
