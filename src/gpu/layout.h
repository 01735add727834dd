/*
 * What layout.c and layout_lists.c share while a world is laid out for the device.
 */
#ifndef LMI_GPU_LAYOUT_H
#define LMI_GPU_LAYOUT_H

#include "gpu/gpu.h"
#include "lattice/lattice_body.h"

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
    array items;   /* lmi_gpu_list, those of a tile one after the other */
    array entries; /* words, two for each */
    array known;   /* which are there */
} lists;

typedef struct known_lists {
    uint64_t hash;
    uint32_t first, count;             /* lists */
    uint32_t first_entry, entry_count; /* of two words */
} known_lists;

/* Tiles over the box of a lattice: corners that one has along each axis, and how many there are. */
typedef struct lmi_gpu_grid {
    uint32_t size[3], count[3];
    uint32_t phase; /* what is added to a corner's x */
} lmi_gpu_grid;

/* Things of so many words each, all different. */
typedef struct word_set {
    array items, slots; /* `slots`: a table of where they are */
    uint32_t count, words;
} word_set;

/* kinds_layout.c: of each block its body, its corner, the row of its constants, and marks; of each place its part; lasting
 * deformation; boxes of parts, their particles and chunks of these; and lists, four words for each group of them. */
typedef struct kind_lists {
    array owners, block_corners, rows, constants, irregular, corrected, part_of, plastics;
    array boxes, part_members, part_chunks;
    array numbers, plastic_from,
        part_from; /* of bodies that are kept: what they were, where their state was; else LMI_GPU_NONE */
    struct side_by_side {
        array groups, who, member, offset;
    } gather, scatter;
    uint32_t irregulars, corrections, part_partials;
} kind_lists;

/* Lattices as they are laid out. It is kept where single batches may change, and then holds what is there of the others: constants,
 * lists and tables that no body has any more stay until everything is laid out again. */
typedef struct lmi_gpu_plan {
    lm_world *world;
    lmi_gpu *gpu;
    uint32_t channels; /* of constants */
    array map, constants_of, irregular, corrected;
    word_set constants, kinds; /* layout_lists.c */
    lists gather, scatter;
    array chunks, parts;
    array corners, known_corners; /* small.c */
    uint32_t irregulars, corrections, partials;
    uint32_t sizes[8]; /* of what grows, when everything was laid out last */
    kind_lists of_kinds;
} layout;

/* Of what no kernel writes: only what differs is uploaded. */
static inline bool put_array(lmi_gpu *gpu, lmi_gpu_buffer *to, const array *from, size_t size)
{
    return lmi_gpu_renew(gpu, to, from->items, from->count * size);
}

/* layout_lists.c: the constants of a lattice's regions; its blocks get the indices of theirs. */
bool lmi_gpu_add_constants(layout *l, const lmi_lattice *shape, uint32_t first_block);
/* Says of which of a block's lanes the region is irregular, and the particle's sums are put right. */
bool lmi_gpu_flag_lanes(layout *l, uint32_t block, uint32_t irregular, uint32_t corrected);

/* layout_lists.c: marks which regions of a body are irregular; adds lists, ordered by tiles, with where those of each tile
 * begin and the last ends in `first` [tiles + 1]; and all lists to the device. */
bool lmi_gpu_mark_irregular(layout *l, const lmi_body *body, uint32_t index, uint32_t first_block);
bool lmi_gpu_add_lists(layout *l, const lmi_lattice *shape, const lmi_lattice_lists *from, const lmi_gpu_grid *grid,
                       lists *to, uint32_t *first);
bool lmi_gpu_upload_lists(layout *l);

/* layout_tiles.c: the tiles of a lattice, or what stands for them where it is small; what adds up the sums of many tiles; all
 * tiles to the device, and their memory here. */
bool lmi_gpu_add_tiles(layout *l, const lmi_body *body, uint32_t index, lmi_gpu_body *record);
bool lmi_gpu_add_parts(layout *l);
void lmi_gpu_keep_tiles(layout *l); /* those of bodies that are kept, and no others */
bool lmi_gpu_upload_tiles(lmi_gpu *gpu);
void lmi_gpu_drop_tiles(lm_world *world, lmi_gpu *gpu);

#endif
