/*
 * Making plates (lattice/lattice.h), region by region, and sums over them in double precision.
 */
#ifndef LMI_LATTICE_PLATES_H
#define LMI_LATTICE_PLATES_H

#include "lattice/lattice_regions.h"

/* What has been made, by what it is made of. */
typedef struct lmi_plates_entry {
    uint64_t key[2];
    uint32_t value; /* 1 more than what it leads to; 0: nobody is here */
} lmi_plates_entry;

typedef struct lmi_plates_table {
    lmi_plates_entry *entries;
    uint32_t size, used; /* the size is a power of two */
} lmi_plates_table;

/* A leaf has LMI_LATTICE_NONE, its particle and its tile; a pair has two others. */
typedef struct lmi_plates_node {
    uint32_t a, b, tile;
} lmi_plates_node;

/* A plane while regions still reach into it. */
typedef struct lmi_plates_plane {
    lmi_plates_table nodes_by_key, plates_by_key;
    lmi_plates_node *node;
    uint32_t *plate; /* the node that it is */
    uint32_t node_count, node_capacity, plate_count, plate_capacity;
} lmi_plates_plane;

typedef struct lmi_plates_draft {
    lmi_memory *memory;
    const lmi_lattice *lattice;
    const lmi_lattice_map *map;
    lmi_plates_plane plane[LMI_LATTICE_SIDE]; /* of plane z at z % (2 width + 1) */
    uint32_t done;                            /* planes below have all their plates */
    uint32_t tiles_x;
    lmi_lattice_plates to;
    uint32_t leaves_capacity, pair_capacity, plate_capacity, floor_capacity, stack_count;
} lmi_plates_draft;

bool lmi_plates_begin(lmi_memory *memory, const lmi_lattice *lattice, const lmi_lattice_map *map,
                      lmi_plates_draft *draft);

/* The region of a particle, rows along x as bits, [z][y]. Particles come in ascending order. */
lm_result lmi_plates_add(lmi_plates_draft *draft, uint32_t particle,
                         const uint32_t reach[LMI_LATTICE_SIDE][LMI_LATTICE_SIDE]);

/* After the last. False when out of memory; then `lattice` has no plates. Frees the draft, which may be half made. */
bool lmi_plates_end(lmi_plates_draft *draft, lmi_lattice *lattice);
void lmi_plates_draft_free(lmi_plates_draft *draft);

void lmi_lattice_plates_free(lmi_memory *memory, lmi_lattice *lattice);

/* The corner in a lane of a block from the middle of its tile. */
static inline int32_t lmi_lattice_tile_x(const lmi_lattice *l, int32_t lane)
{
    return lane % (int32_t)l->plates.tile - (int32_t)l->plates.tile / 2;
}

static inline int32_t lmi_lattice_tile_y(const lmi_lattice *l, uint32_t block)
{
    return l->at[block][1] % (int32_t)l->plates.tile - (int32_t)l->plates.tile / 2;
}

/* Plates in double precision: records of `channels` numbers, which `leaf` fills for a particle at (x, y) from the middle of a
 * tile. Room for most_records and plate_count of them. */
typedef void lmi_plates_leaf(const void *context, uint32_t particle, double x, double y, double *record);
void lmi_lattice_plates_sum(const lmi_lattice *lattice, uint32_t channels, lmi_plates_leaf *leaf, const void *context,
                            double *records, double *plates);

/* The plate of a stack, in what lmi_lattice_plates_sum made; `n` from 0, lowest first, `plane` the region's own. `up` is how
 * far it is above that. */
static inline const double *lmi_lattice_plate_of(const lmi_lattice *l, const lmi_lattice_stack *stack, uint32_t n,
                                                 uint32_t plane, const double *plates, uint32_t channels, int32_t *up)
{
    *up = stack->top - stack->count + (int32_t)n;
    uint32_t first = l->plates.storey[(int32_t)plane + *up].plate;
    return plates + (size_t)(first + l->plates.floor[stack->first + n]) * channels;
}

/* |R(i)|: over regions that are no repetitions. */
bool lmi_lattice_plates_degrees(lmi_memory *memory, lmi_lattice *lattice);

#endif
