/*
 * What layout.c and layout_lists.c share while a world is laid out for the device.
 */
#ifndef LMI_GPU_LAYOUT_H
#define LMI_GPU_LAYOUT_H

#include "gpu/gpu.h"

#include <string.h>

/* Arrays that grow while a layout is made, from the world's allocator. */
typedef struct array {
    void *items;
    uint32_t count, capacity;
} array;

/* Room for `count` more, as zeros; null when out of memory. */
static inline void *append(lm_world *world, array *a, uint32_t count, size_t size)
{
    if (!lmi_reserve(&world->memory, &a->items, &a->capacity, a->count + count + 1, size)) {
        return NULL;
    }
    void *at = (char *)a->items + (size_t)a->count * size;
    a->count += count;
    return at;
}

static inline void drop(lm_world *world, array *a, size_t size)
{
    lmi_release(&world->memory, a->items, a->capacity, size);
    *a = (array){NULL, 0, 0};
}

/* Lists of one kind, of all lattices. Bodies of one shape have the same rows and owners, which are there once. */
typedef struct lists {
    array groups; /* four words each: body, first row, end of rows, where its owners are in `who` */
    array small;  /* the same of bodies that one work-group steps by itself */
    array who, corner;
    array entries; /* two words each: the member, and four bytes, its offset and sign */
    array known;   /* rows and groups that are there */
} lists;

typedef struct known_lists {
    uint64_t hash;
    uint32_t row, row_count, group, group_count;
} known_lists;

/* Things of so many words each, all different. */
typedef struct word_set {
    array items, slots; /* `slots`: a table of where they are */
    uint32_t count, words;
} word_set;

typedef struct layout {
    lm_world *world;
    lmi_gpu *gpu;
    uint32_t channels; /* of constants */
    array map, constants_of, irregular, corrected;
    word_set constants, kinds; /* layout_constants.c */
    lists gather, scatter;
    array chunks, parts;
    array corners, known_corners; /* small.c */
    uint32_t irregulars, corrections, partials;
} layout;

static inline uint64_t hash_bytes(const void *from, size_t size)
{
    const unsigned char *bytes = from;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t n = 0; n + 8 <= size; n += 8) {
        uint64_t word;
        memcpy(&word, bytes + n, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static inline bool put_array(lmi_gpu *gpu, lmi_gpu_buffer *to, const array *from, size_t size)
{
    return lmi_gpu_put(gpu, to, from->items, from->count * size);
}

/* layout_constants.c: the constants of a lattice's regions; its blocks get the indices of theirs. */
bool lmi_gpu_add_constants(layout *l, const lmi_lattice *shape, uint32_t first_block);

/* layout_lists.c: the lists of a body's irregular regions, and all lists to the device. */
bool lmi_gpu_add_irregular(layout *l, const lmi_body *body, uint32_t index, uint32_t first_block);
bool lmi_gpu_upload_lists(layout *l);

#endif
