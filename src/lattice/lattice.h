/*
 * lattice/: bodies whose particles are the corners of occupied cells, with a region around each: making them, their
 * fast sums, the sweep that steps them, and how their links break.
 *
 * reads   voxels, masses, positions and velocities of a body
 * writes  a body's lattice; in a step its positions, velocities, rotations and lasting deformation
 * uses    base geometry match world
 *
 *   lattice.c        particles and blocks              lattice_cube.c, lattice_regions.c  who is in a region
 *   lattice_lists.c  corrections of the fast sums      lattice_plates.c  sums by shared plates
 *   lattice_rest.c   rest constants                    lattice_break.c, lattice_parts.c  links and parts
 *   lattice_body.c   bodies                           lattice_weights.c  masses and weights      lattice_members.c  regions one by one
 *   lattice_motion.c, lattice_sweep.c  a substep; lattice_lanes.h the sums, lattice_fit.h the fit
 *   herd.c, lattice_herd.c  small lattices side by side            lattice_match.c, lattice_modes.c  the slowest mode
 *
 * Lattices: the corners of occupied cells as particles, one region around each.
 *
 * Regions. Neighbours share an occupied cell. Around a particle is a cube of 2 width + 1 corners a side; in its region is
 * whoever a path of neighbours leads to inside the intersection of both their cubes. In the open that is the cube, near gaps
 * what is connected nearby, so that two fingers that almost touch stay separate. It is mutual. A region that has the same members as an earlier one is a repetition and is switched off.
 * Rivers and James 2007, section 3.
 *
 * Axes. The lattice is stored along axes of its own, the longest first: axis a of the lattice is axis (a + turn) % 3 of
 * the body. That is a rotation, not a reflection, and makes rows long.
 *
 * Blocks. Along x, LMI_BLOCK corners form a block; blocks with a particle are kept, sorted by z, y, x. Corners that are no
 * particle are empty lanes without mass, and need no test. Particle `block * LMI_BLOCK + lane` has no other name in the
 * step. One more block at the end is empty: it stands for whatever is not there.
 *
 * Planes, places, runs. Sums run along z, then y, then x, and back along x, y, z. On the way a block is passed where there
 * is no particle, but left and right of which, or above and below, there are some. A *place* is a block that takes part in
 * sums, with particles or without. Places are numbered plane by plane (z), from 1; place 0 is nothing, and is zero. Places
 * side by side in a row form a *run*, whose sums along x are one contiguous array. Only the place of a neighbour is looked
 * up, so that cost and memory follow the particles and not their bounding box.
 *
 * Irregular regions. There are two schemes, and a lattice has the one that takes less time (lattice_regions.c). Sums along
 * the axes with lists are for solid bodies and narrow regions: a region is regular when it is all there is in its cube; sums along
 * the axes are exact for those. For the others there are lists: what is in the cube but not in the region, to be taken away
 * again, or where that is shorter the whole region. A particle that would have more taken away from its sums than they are
 * meant to hold gets them from the list of its regions instead, so that nothing is lost to cancellation.
 *
 * Plates are for thin bodies, gaps and wide regions: every region, regular or not, is a stack of plates, one for each plane
 * that it reaches into, and plates are made from parts that they share (lmi_lattice_plates). There are no sums along the
 * axes then, and what a region costs hardly depends on its shape.
 */
#ifndef LMI_LATTICE_H
#define LMI_LATTICE_H

#include "base/base.h"
#include "base/memory.h"
#include "geometry/voxel.h"

#define LMI_LATTICE_MAX_WIDTH 8

/* A body of more particles is divided into slabs of planes of about this many, each a task of its own. */
#define LMI_LATTICE_SLAB 12288u

/* Blocks side by side along x. */
typedef struct lmi_lattice_run {
    uint32_t first; /* place in its plane */
    uint32_t length;
    uint32_t y;
} lmi_lattice_run;

/* Planes that one task sweeps. */
typedef struct lmi_lattice_slab {
    uint32_t first, last; /* planes first to last - 1 */
} lmi_lattice_slab;

/* Lists with which irregular regions are put right, LMI_BLOCK owners side by side. Gather: owners are the irregular
 * regions, members are particles. Scatter: owners are particles, members are irregular regions. */
typedef struct lmi_lattice_lists {
    uint32_t owner_count, group_count, row_count;
    uint32_t *owner;       /* [owners] particle, ascending */
    uint32_t *plane_owner; /* [planes + 1] owners of each plane */
    uint32_t *plane_group; /* [planes + 1] groups of each plane */
    uint32_t *group_row;   /* [groups + 1] rows of each group */
    uint32_t *who;         /* [groups][LMI_BLOCK] owner, or LMI_LATTICE_NONE */
    uint32_t *member;      /* [rows][LMI_BLOCK] */
    float *offset;         /* [rows][4][LMI_BLOCK] from the region's own particle to the particle, in spacings; 1 where
                            * it is to be added, -1 where it is to be taken away, 0 for padding */
} lmi_lattice_lists;

#define LMI_LATTICE_NONE UINT32_MAX

/*
 * Regions as stacks of plates. All sums are over records of numbers, and a record is the sum of two others:
 *
 *   leaf     one particle
 *   pair     two leaves or pairs: those of half a row of a region, of a row, of two rows, four rows, ...
 *   plate    what a region has in a plane: two leaves or pairs
 *   stack    a region: its plates, one on top of the other
 *
 * A row is divided in halves at the even places of the lattice, not at its own middle, and rows are joined likewise. Regions
 * that overlap therefore have most halves in common; each is there once. A particle is in the regions of those that are in
 * its own, so that the same stacks serve gather and scatter.
 *
 * First moments are taken about the middle of a tile of a few corners along x and y: the tile of the region's own particle.
 * So records are added as they are, and lose no more to rounding in a large lattice than in a small one. What regions of two
 * tiles have in common is there twice.
 *
 * Records of a plane are numbered from 1, leaves first; record 0 is zero.
 */
/* The leaves of a block in a tile. */
typedef struct lmi_lattice_leaves {
    uint32_t place; /* in its plane */
    uint32_t first; /* record of the lowest lane; the others follow */
    uint16_t lanes;
    int16_t x, y; /* of lane 0 from the middle of the tile */
} lmi_lattice_leaves;

typedef struct lmi_lattice_stack {
    uint32_t first; /* of its plates in `floor` */
    uint8_t count;
    int8_t top; /* the plane above the topmost, from the region's own */
} lmi_lattice_stack;

/* Where the parts of a plane begin. */
typedef struct lmi_lattice_storey {
    uint32_t leaves, pair, plate, stack;
    uint32_t leaf_count; /* leaves proper, not groups of them */
    uint32_t ring;       /* place of its plates in a ring that has room for those of 2 width + 1 planes */
} lmi_lattice_storey;

typedef struct lmi_lattice_plates {
    lmi_lattice_storey *storey; /* [planes + 1]; null: the lattice has no plates */
    lmi_lattice_leaves *leaves;
    uint32_t (*pair)[2], (*plate)[2]; /* two records of the plane */
    lmi_lattice_stack *stack;         /* of each particle, ascending */
    uint32_t *floor;                  /* plates, each by its number in its plane */
    uint32_t tile;                    /* corners along a side of a tile: 8 or 16 */
    uint32_t leaves_count, pair_count, plate_count, floor_count;
    uint32_t most_records; /* of a plane */
    uint32_t ring_size;    /* plates */
} lmi_lattice_plates;

/* How regions are summed; the quicker of the two unless the caller knows better (tests do). */
typedef enum lmi_lattice_scheme { LMI_LATTICE_QUICKEST, LMI_LATTICE_LISTS, LMI_LATTICE_PLATES } lmi_lattice_scheme;

/* Channels of the constants of a block: of its lanes as regions, and as particles. All lengths are in spacings, all masses
 * in units of the body's mean. */
enum {
    LMI_LATTICE_INVERSE_MASS = 0,   /* 1 / sum m~                                  */
    LMI_LATTICE_CENTRE = 1,         /* of the region from its own particle       3 */
    LMI_LATTICE_SCALE = 4,          /* a: with b it brings the singular values of the moments near 1 */
    LMI_LATTICE_SPREAD = 5,         /* b / a */
    LMI_LATTICE_INVERSE_SQUARE = 6, /* 1 / a² */
    LMI_LATTICE_REST = 7,           /* rest moments: xx yy zz xy yz zx           6 */
    LMI_LATTICE_RHO = 13,           /* the region's share of the stiffness; 0: no region */
    LMI_LATTICE_SHARE = 14,         /* of the particle: 1 / |R(i)| */
    LMI_LATTICE_HOLD = 15,          /* mean of rho over its regions, by m~ of the particle */
    LMI_LATTICE_CONSTANTS = 16,
    /* For fits that follow stretch, besides: */
    LMI_LATTICE_WHITEN = 16,       /* root of the rest covariance, symmetric     6 */
    LMI_LATTICE_COLOUR = 22,       /* its inverse                                6 */
    LMI_LATTICE_INVERSE_EDGE = 28, /* of a cube of the rest volume               1 */
    LMI_LATTICE_ALL_CONSTANTS = 29,
};

/* Channels of what finds the best affine map of a region, for plastic fits and regional damping; they come after the others,
 * from lmi_lattice.affine on. */
enum {
    LMI_LATTICE_INVERSE_REST = 0, /* of the rest moments: xx yy zz xy yz zx     6 */
    LMI_LATTICE_ACTIVE = 6,       /* 1: a region, 0: a repetition or no particle  */
    LMI_LATTICE_NARROW = 7,       /* square of the smallest rest moment           */
    LMI_LATTICE_AFFINE_CONSTANTS = 8,
};

/* The blocks of a lattice by their coordinates: a table over the whole box, while the lattice is made, and for good where
 * links may break. */
typedef struct lmi_lattice_map {
    uint32_t *block; /* [z][y][x of a block], or LMI_LATTICE_NONE */
    uint32_t blocks_x;
} lmi_lattice_map;

struct lmi_lattice_findings;

typedef struct lmi_lattice {
    double spacing; /* metres */
    lm_dvec3 first; /* rest position of corner (0, 0, 0) */
    uint32_t cells[3];
    uint32_t turn;
    uint32_t size[3]; /* corners along the lattice's own axes */
    uint32_t phase;   /* corner x is in lane (x + phase) % LMI_BLOCK */
    uint32_t width;

    uint32_t particle_count;
    uint32_t block_count; /* without the empty one */
    uint32_t region_count;
    uint64_t membership_count;
    uint16_t *occupied; /* [blocks + 1] lanes that are particles */
    uint16_t *cell;     /* [blocks + 1] lanes that are the lowest corner of an occupied cell */
    uint16_t *active;   /* [blocks + 1] lanes whose region is no repetition */
    uint16_t *degree;   /* [blocks + 1][LMI_BLOCK] |R(i)| */
    int32_t (*at)[3];   /* [blocks + 1] corner of lane 0 along the lattice's axes; x may be negative */

    uint32_t plane_count, place_count, most_places, run_count, longest_run;
    uint32_t *plane_place; /* [planes + 1] where a plane's places begin in the tables below; place 0 of each included */
    uint32_t *plane_run;   /* [planes + 1] */
    uint32_t *plane_block; /* [planes + 1] */
    lmi_lattice_run *run;
    uint32_t *block;   /* [places] particle block, or block_count */
    uint32_t *along_y; /* [places][2 width] place in the same plane at y - 1, y + 1, y - 2, y + 2, ... */
    uint32_t *along_z; /* [places][2 width] place in plane z - 1, z + 1, z - 2, ... */

    uint32_t part_count; /* that no cell connects with each other */
    uint32_t
        *part_of_block; /* [blocks + 1] or LMI_LATTICE_NONE: of several. Null, as the next, where there is one part */
    uint32_t *part;     /* [blocks + 1][LMI_BLOCK], or LMI_LATTICE_NONE: no particle */

    /* Of a lattice whose links may break (lattice/lattice_break.h); else null. */
    uint16_t *bond[3];   /* [blocks + 1] lanes whose link to the next particle along x, y, z holds */
    uint16_t *whole;     /* [blocks + 1] as `cell`, of cells without a broken link */
    lmi_lattice_map map; /* kept */
    struct lmi_lattice_findings
        *book; /* what is known of regions that are not full cubes (lattice/lattice_regions.h) */

    /* Of one that was split off another: corners of its cells that are particles of the other. Cells that have one are torn, and not
     * among `cell`; links at its other corners hold where they held. */
    uint64_t *absent; /* [absent_count] as in lmi_voxels; null, as the next, where there are none */
    uint32_t absent_count;
    uint16_t *ragged; /* [blocks + 1] as `cell`, of those cells */

    uint32_t *slab_part_first; /* [slabs + 1] into slab_part; null where there is one part */
    uint32_t *slab_part;       /* parts with particles in a slab, ascending */

    uint32_t irregular_regions; /* that are not all there is in their cube; repetitions do not count */
    lmi_lattice_plates plates;
    lmi_lattice_lists gather, scatter;
    uint32_t irregular_count; /* with lists */
    uint8_t *direct;          /* [irregular] the list is the whole region, which takes no part in the fast sums */
    uint8_t *listed;          /* [scatter owners] the list is all regions of the particle, and replaces its fast sums */

    uint32_t slab_count;
    lmi_lattice_slab *slab;
    uint32_t *
        kept; /* [planes] where the sums (or plates) of a plane near a cut between slabs are kept, or LMI_LATTICE_NONE */
    uint32_t kept_count;

    /* Room for what a sweep leaves to a later part of itself. */
    float *kept_sums;            /* [kept][most_places][6][LMI_BLOCK], or with plates [kept][LMI_BLOCK] */
    float *irregular_moments;    /* [irregular][LMI_BLOCK] corrections of the 12 moments */
    float *irregular_transforms; /* [irregular + 1][LMI_BLOCK] q and the columns of T; the last is zero */
    float *corrections;          /* [scatter owners][4] of the sums for particles */

    /* Constants of blocks; blocks with the same ones share them. */
    uint32_t *constants_of; /* [blocks + 1] index into `constants` */
    float *constants;       /* [distinct][channels][LMI_BLOCK] */
    uint32_t constants_count, constants_capacity, channels;
    uint32_t affine; /* channel where LMI_LATTICE_INVERSE_REST is; 0: there are none */
    bool weighed;    /* the constants are others than when it was last compared with its neighbours (lattice/herd.c) */
} lmi_lattice;

/* Floats between the channels of a run, which has an empty block at either end. Short runs all have the same. */
static inline size_t lmi_lattice_run_stride(const lmi_lattice *l)
{
    return (size_t)(l->longest_run + 2 <= 17 ? 17 : (l->longest_run + 2) | 1u) * LMI_BLOCK;
}

/* A link: from a particle to the next one along an axis of the lattice, where the two are an edge of an occupied cell. */
typedef struct lmi_lattice_link {
    uint32_t particle;
    uint32_t axis;
} lmi_lattice_link;

/* Links of a lattice that may break: those that are broken from the start. */
typedef struct lmi_lattice_breaks {
    const lmi_lattice_link *links;
    uint32_t count;
} lmi_lattice_breaks;

/* The lattice on a set of cells; with `breaks` (not null) its links may break, and it has lists whatever the scheme is.
 * LM_ERROR_ARGUMENT (no cell, a width out of range, no such link), LM_ERROR_LIMIT or LM_ERROR_MEMORY. */
lm_result lmi_lattice_make(lmi_memory *memory, const lmi_voxels *voxels, uint32_t width, lmi_lattice_scheme scheme,
                           const lmi_lattice_breaks *breaks, lmi_lattice *lattice);
void lmi_lattice_free(lmi_memory *memory, lmi_lattice *lattice);

/* A copy of a lattice whose links do not break, scratch included. False when out of memory; then there is none. */
bool lmi_lattice_copy(lmi_memory *memory, const lmi_lattice *from, lmi_lattice *to);

/* The block that has a corner along the lattice's own axes, and the particle there, or LMI_LATTICE_NONE. */
uint32_t lmi_lattice_find_block(const lmi_lattice *lattice, int32_t x, int32_t y, int32_t z);
uint32_t lmi_lattice_find(const lmi_lattice *lattice, int32_t x, int32_t y, int32_t z);

/* Cells without a broken link. */
static inline const uint16_t *lmi_lattice_whole(const lmi_lattice *lattice)
{
    return lattice->whole ? lattice->whole : lattice->cell;
}

/* Null where it is not kept. */
static inline const lmi_lattice_map *lmi_lattice_map_of(const lmi_lattice *lattice)
{
    return lattice->map.block ? &lattice->map : NULL;
}

/* The corner of a particle along the lattice's own axes. */
static inline void lmi_lattice_corner(const lmi_lattice *lattice, uint32_t particle, int32_t corner[3])
{
    const int32_t *at = lattice->at[particle / LMI_BLOCK];
    corner[0] = at[0] + (int32_t)(particle % LMI_BLOCK);
    corner[1] = at[1];
    corner[2] = at[2];
}

/* 64 cells along the body's x from one on, ragged ones too, as bits; coordinates along the body's axes. */
uint64_t lmi_lattice_cells(const lmi_lattice *lattice, uint32_t x, uint32_t y, uint32_t z);

/* Its rest position in the body's frame. */
lm_dvec3 lmi_lattice_rest(const lmi_lattice *lattice, uint32_t particle);

/* The members of a particle's region into `members` (room for the cube of 2 width + 1), ascending; returns how many. */
uint32_t lmi_lattice_region(const lmi_lattice *lattice, uint32_t particle, uint32_t *members);

/* ---- between lattice.c, lattice_regions.c, lattice_lists.c and lattice_break.c ---- */

/* Room for what a sweep leaves to a later part of itself and to lists, once these are known. False when out of memory. */
bool lmi_lattice_make_list_room(lmi_memory *memory, lmi_lattice *lattice);
void lmi_lattice_free_lists(lmi_memory *memory, lmi_lattice *lattice); /* with that room */

/* Entries of the lists of irregular regions, at most: some gigabytes. Wide regions in a large lattice full of gaps have more,
 * and are refused. */
#define LMI_LATTICE_MOST_PAIRS (1u << 27)

/* Finds which regions are repetitions, counts members, and lists irregular ones or makes plates of all. LM_ERROR_MEMORY or
 * LM_ERROR_LIMIT. */
lm_result lmi_lattice_find_regions(lmi_memory *memory, const lmi_lattice_map *map, lmi_lattice_scheme scheme,
                                   lmi_lattice *lattice);

static inline bool lmi_lattice_is_plated(const lmi_lattice *lattice) { return lattice->plates.storey != NULL; }

/* One member that a fast sum misses (sign 1) or has too much (sign -1). */
typedef struct lmi_lattice_pair {
    uint32_t region; /* irregular region: its index */
    uint32_t particle;
    int8_t offset[3]; /* from the region's own particle to the particle */
    int8_t sign;
} lmi_lattice_pair;

/* Both lists from pairs, which come sorted by region, and the particles of the irregular regions, ascending. */
lm_result lmi_lattice_list(lmi_memory *memory, lmi_lattice *lattice, const uint32_t *irregular,
                           uint32_t irregular_count, lmi_lattice_pair *pairs, uint32_t pair_count);
void lmi_lattice_lists_free(lmi_memory *memory, const lmi_lattice *lattice, lmi_lattice_lists *lists);

/* Finds the connected parts, and which of them are in each slab (lattice_parts.c). False when out of memory. */
bool lmi_lattice_find_parts(lmi_memory *memory, lmi_lattice *lattice);

/* Entries of slab_part before a slab's own: where there is one part every slab has an entry. */
static inline uint32_t lmi_lattice_slab_parts(const lmi_lattice *lattice, uint32_t slab)
{
    return lattice->slab_part_first ? lattice->slab_part_first[slab] : slab;
}

void lmi_lattice_free_parts(lmi_memory *memory, lmi_lattice *lattice);

/* Which constants of regions are wanted besides those of a rigid fit. */
typedef struct lmi_lattice_wants {
    bool stretch; /* of linear fits */
    bool affine;  /* of plastic fits and regional damping */
} lmi_lattice_wants;

/* What the constants are made from, in double precision: [blocks + 1][LMI_LATTICE_RAW][LMI_BLOCK]. */
enum {
    LMI_LATTICE_RAW_MASS = 0,   /* sum m~                                  */
    LMI_LATTICE_RAW_FIRST = 1,  /* sum m~ k                              3 */
    LMI_LATTICE_RAW_SECOND = 4, /* sum m~ k k^T: xx yy zz xy yz zx       6 */
    LMI_LATTICE_RAW_RHO = 10,   /* the last three as LMI_LATTICE_RHO, _SHARE and _HOLD */
    LMI_LATTICE_RAW_SHARE = 11,
    LMI_LATTICE_RAW_HOLD = 12,
    LMI_LATTICE_RAW_ACTIVE = 13, /* 1 where the region counts */
    LMI_LATTICE_RAW = 14
};

/* Null when out of memory. */
double *lmi_lattice_raw(lmi_memory *memory, const lmi_lattice *lattice, const double *weights, const float *stiffness);
void lmi_lattice_raw_free(lmi_memory *memory, const lmi_lattice *lattice, double *raw);

/* What a break asks of whoever weighs the lattice: blocks, ascending, and lanes of them whose constants are others. */
typedef struct lmi_lattice_change {
    uint32_t *blocks;
    uint16_t *lanes;
    uint32_t count, capacity;
    bool parts; /* there are more of them */
} lmi_lattice_change;

/* Makes the constants of some regions again, in arrays of the lattice's own; those that it had belong to another, as after a break.
 * Only with lists. False when out of memory; then nothing has changed. */
bool lmi_lattice_weigh_some(lmi_memory *memory, lmi_lattice *lattice, const double *weights, const float *stiffness,
                            const lmi_lattice_change *change);

/* The constants of all regions for the fit weights m~ of the particles ([blocks + 1][LMI_BLOCK]) and the regions' shares of
 * the stiffness (the same, or null: 1). False when out of memory; then nothing has changed. */
bool lmi_lattice_weigh(lmi_memory *memory, lmi_lattice *lattice, const double *weights, const float *stiffness,
                       lmi_lattice_wants wants);

#endif
