/*
 * The cube around a particle of a lattice, as bits, and the region in it.
 *
 * A particle is in the region of another when a path of neighbours leads from one to the other inside the intersection of the
 * cubes of 2 width + 1 corners around both. That is mutual. Neighbours share an occupied cell.
 *
 * Where a cell with broken links (lattice/lattice_break.h) touches that intersection, `width` steps must do, so that a crack
 * opens before it has crossed the cube. In such a cell a step goes as far as unbroken edges of the cell lead: its corners are
 * neighbours when a chain of its edges joins them.
 */
#ifndef LMI_LATTICE_REGIONS_H
#define LMI_LATTICE_REGIONS_H

#include "base/compiler.h"
#include "lattice/lattice.h"

#define LMI_LATTICE_SIDE (2 * LMI_LATTICE_MAX_WIDTH + 1)

/* Cells, and blocks of rows, come from the one before the first corner of the cube on. */
typedef struct lmi_lattice_cube {
    uint32_t block[LMI_LATTICE_SIDE + 1][LMI_LATTICE_SIDE + 1][3]; /* [z][y] of a row; the one past the last: none */
    uint32_t shift;                                                /* of the lane before the first in its block */
    uint32_t cells[LMI_LATTICE_SIDE + 1][LMI_LATTICE_SIDE + 1];    /* whole cells that touch the cube, [z][y] */
    uint32_t torn[LMI_LATTICE_SIDE + 1][LMI_LATTICE_SIDE + 1];     /* occupied ones with broken links */
    uint32_t bond[3][LMI_LATTICE_SIDE][LMI_LATTICE_SIDE];          /* links that hold, where any is torn within */
    uint32_t corners[LMI_LATTICE_SIDE][LMI_LATTICE_SIDE];          /* particles, unless the cube is full */
    uint32_t reach[LMI_LATTICE_SIDE][LMI_LATTICE_SIDE];            /* the region, unless the cube is full */
    bool full;                                                     /* all cells within are whole */
    bool torn_within, torn_beside;                                 /* any; any that touches the cube */
    uint32_t members;
    bool regular; /* the region is all there is in the cube */
} lmi_lattice_cube;

/* The particle at a corner of a cube, whose lane is occupied. */
static inline uint32_t lmi_lattice_cube_place(const lmi_lattice_cube *cube, int32_t x, int32_t y, int32_t z)
{
    uint32_t at = cube->shift + 1 + (uint32_t)x;
    return cube->block[z + 1][y + 1][at / LMI_BLOCK] * LMI_BLOCK + at % LMI_BLOCK;
}

/* `count` bits (up to 32) of `masks` from corner x on, in the row at (y, z). Without a map blocks are searched for. */
uint32_t lmi_lattice_row_bits(const lmi_lattice *lattice, const lmi_lattice_map *map, const uint16_t *masks, int32_t x,
                              uint32_t count, int32_t y, int32_t z);

/* The region of a particle; what it does not need of a full cube is not written. */
void lmi_lattice_find_region(const lmi_lattice *lattice, const lmi_lattice_map *map, uint32_t particle,
                             lmi_lattice_cube *cube);

/* The region of a full cube, too. */
void lmi_lattice_fill_full(const lmi_lattice *lattice, lmi_lattice_cube *cube);

/* Particles in the cube that are not in the region, of a cube that is not full. */
uint32_t lmi_lattice_count_others(const lmi_lattice *lattice, const lmi_lattice_cube *cube);

/* Active regions that a particle is in: those of the particles in its own. */
uint32_t lmi_lattice_count_active(const lmi_lattice *lattice, const lmi_lattice_map *map, uint32_t particle);

/* Regions with the same members have the same, wherever their middles are. */
typedef struct lmi_lattice_signature {
    uint64_t hash[2];
    uint32_t particle;
} lmi_lattice_signature;

/* Of a region whose cube is not full. */
lmi_lattice_signature lmi_lattice_sign(const lmi_lattice *lattice, uint32_t particle, const lmi_lattice_cube *cube);
int lmi_lattice_compare_signatures(const void *a, const void *b); /* for qsort: by hash, then by particle */

#define LMI_LATTICE_EACH(l, n)                                                                                         \
    for (uint32_t block_ = 0; block_ < (l)->block_count; block_++)                                                     \
        for (uint32_t left_ = (l)->occupied[block_]; left_; left_ &= left_ - 1)                                        \
            for (uint32_t n = block_ * LMI_BLOCK + (uint32_t)lmi_low_bit(left_), once_ = 1; once_; once_ = 0)

/* One member that a fast sum misses (sign 1) or has too much (sign -1), as the book of a lattice keeps it: `region` is the
 * region's own particle. The pairs of a region follow those of lower particles. */
typedef struct lmi_lattice_findings {
    lmi_lattice_signature *signatures; /* of regions whose cubes are not full, sorted */
    lmi_lattice_pair *pairs; /* of irregular regions: the members in the cube that are not in the region, or the
                                        * whole region, whichever is less */
    uint32_t signature_count, signature_capacity;
    uint32_t pair_count, pair_capacity;
} lmi_lattice_findings;

void lmi_lattice_findings_free(lmi_memory *memory, lmi_lattice_findings *findings);

/* Adds what is to be known of a region. LM_ERROR_MEMORY or LM_ERROR_LIMIT (LMI_LATTICE_MOST_PAIRS). */
lm_result lmi_lattice_findings_add(lmi_memory *memory, const lmi_lattice *lattice, uint32_t particle,
                                   const lmi_lattice_cube *cube, lmi_lattice_findings *findings);

/* Switches off what repeats an earlier region in l->active, which holds all particles so far; returns how many there are.
 * The signatures are sorted. */
uint32_t lmi_lattice_find_repetitions(lmi_lattice *lattice, const lmi_lattice_findings *findings);

/* Lists from findings, and irregular_regions, once `active` and `degree` are known. The lattice has none so far. */
lm_result lmi_lattice_list_findings(lmi_memory *memory, lmi_lattice *lattice, const lmi_lattice_findings *findings);

#endif
