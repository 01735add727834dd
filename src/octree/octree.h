/*
 * octree/: bodies of cells of several sizes: making the tree, its regions and sums, how it is cut and how its detail
 * changes.
 *
 * reads   voxels, blades, positions of a body
 * writes  a body's octree; in a step the moments of regions and the goals of particles
 * uses    base geometry match world; in sources also cluster cut skin contact
 *
 *   octree.c, octree_divide.c  the tree            octree_graph.c  neighbours and ways
 *   octree_regions.c  regions as nodes           octree_layout.c  rest constants and lanes      sum_octree.c  sums
 *   octree_body.c     bodies                     octree_parts.c parts of a body
 *   octree_blade.c    cuts                       octree_revise.c, octree_change.c, octree_follow.c  a tree that becomes another
 *   octree_level.c, octree_refine.c  level of detail        touch_octree.c, mould_octree.c  what it touches with, and what is touched
 *
 * Octrees: a body divided into cells of several sizes, fine where it is thin and coarse where it is not.
 *
 * The mesh is voxelised at the finest spacing (voxel.h); the voxels are the truth, and everything here is about sets of them.
 * A base lattice of cubes of 2^levels voxels covers the body. A node is a connected filled part of a cell:
 * where two fingers pass through one cell there are two nodes in it, at every level, so that nothing coarse ever joins
 * what is apart. A node without children is a leaf: a particle in the middle of its voxels, with their mass. Refining a leaf
 * therefore changes no mass and no centre, whatever part of its cell is filled. Middles come from sums of whole numbers, so
 * they do not depend on the order in which a tree came about.
 *
 * Voxels that share a face are linked, except where the surface goes out of the body and in again between them: fingers that
 * touch are not linked (octree.c). Leaves are neighbours where their cells touch and links lead from one to the other
 * (octree_graph.c). The region of a leaf is what is near it along neighbours, as a few nodes of the tree (octree_regions.c).
 *
 * Steinemann, Otaduy and Gross 2008, sections 4.1, 4.2 and 6.
 */
#ifndef LMI_OCTREE_H
#define LMI_OCTREE_H

#include "base/vec.h"
#include "geometry/voxel.h"

#define LMI_OCTREE_MAX_LEVELS 8u
#define LMI_OCTREE_MAX_VOXELS (1u << 26)
#define LMI_OCTREE_NONE UINT32_MAX
#define LMI_OCTREE_LEAST_SPACING (double)1e-9f /* metres, of a body: squares in it fit single precision */
#define LMI_OCTREE_MOST_REACHED 16384u

/* Lengths along the graph are whole numbers of half voxels: the middles of cells of different sizes are that far apart. */
#define LMI_OCTREE_UNITS 2u

typedef struct lmi_octree_node {
    uint32_t cell[3]; /* lowest voxel of its cell, counted from the base lattice's first one */
    uint32_t level;   /* the cell is 2^level voxels wide */
    uint32_t parent;  /* or LMI_OCTREE_NONE */
    uint32_t first_child, child_count;
    uint32_t first_voxel, voxel_count; /* in voxel_order */
    uint32_t leaf_count;               /* below it; 1 for a leaf */
    uint32_t leaf;                     /* its number as a leaf, or LMI_OCTREE_NONE */
    uint32_t first_leaf;               /* the number of the first leaf below it */
    uint64_t sum[3];                   /* of 2 x voxel + 1: its middle is at sum / (2 voxel_count) voxels */
} lmi_octree_node;

/* The summation nodes of regions, or the neighbours of leaves: offsets [leaves + 1] into items. */
typedef struct lmi_octree_lists {
    uint32_t *offsets;
    uint32_t *items;
    uint32_t count, item_count, item_capacity;
} lmi_octree_lists;

/* The corner of voxels at x, y, z (0 to the number of voxels along each axis) as x + y 2^20 + z 2^40. */
typedef struct lmi_octree_bend {
    uint64_t corner;
    float by[3]; /* voxels */
} lmi_octree_bend;

typedef struct lmi_octree {
    lmi_voxels voxels;   /* the finest cells */
    uint32_t levels;     /* a base cell is 2^levels voxels wide */
    uint32_t pad[3];     /* voxels of the base lattice before the first one: it is centred on the body */
    uint32_t base[3];    /* base cells along each axis */
    uint32_t *word_rank; /* filled voxels before each word of voxels.bits */
    uint32_t voxel_count;
    uint16_t (*at)[3]; /* [voxel_count] where each is, from the voxels' first one */
    uint8_t *cut;      /* [voxel_count] bit k: no link to the next one along axis k; bit 3 + k: a blade went there */
    uint32_t *owner;   /* [voxel_count] the leaf's node */
    uint32_t *voxel_order; /* [voxel_count] the voxels of a node one after the other, those of a leaf ascending */
    uint32_t *users;       /* how many trees share voxels.bits, word_rank and at, which never change */
    uint32_t *owners;      /* how many bodies share all of this tree: copies, until one of them changes it */

    lmi_octree_node *nodes;
    uint32_t node_count, node_capacity;
    uint32_t *leaves; /* [leaf_count] nodes, in the order of the tree */
    uint32_t leaf_count;

    lmi_octree_lists faces;      /* leaves that links of a leaf lead to, ascending */
    lmi_octree_lists around;     /* leaves that are found from a leaf, ascending */
    lmi_octree_lists neighbours; /* of leaves, ascending: what is found from one or the other of them */
    uint16_t *lengths;           /* [neighbours.item_capacity] of the ways to them */
    uint32_t *width;             /* [leaf_count] of regions, in units of half a voxel */
    double slack;                /* regions contain what is nearer than width, and nothing beyond (1 + slack) width */
    lmi_octree_lists regions;    /* of nodes */
    bool bounded;  /* regions that reach more than LMI_OCTREE_MOST_REACHED leaves each, in the mean, are refused */
    bool too_wide; /* why the regions were not found: there are too many nodes in them, or that */

    /* Where corners of voxels on the faces of cuts are moved to, so that these lie on the blade; by corner. */
    lmi_octree_bend *bends;
    uint32_t bend_count;
} lmi_octree;

#include "octree/octree_voxels.h"

/* Whether a node is divided: asked once for each, parents first. */
typedef bool lmi_octree_criterion(const lmi_octree *tree, const lmi_octree_node *node, void *user);

typedef struct lmi_octree_mesh {
    const lm_vec3 *vertices;
    const uint32_t *triangles;
    uint32_t triangle_count;
} lmi_octree_mesh;

/* Takes the voxels over (they are freed with the tree, on failure too) and numbers them. LM_ERROR_LIMIT or LM_ERROR_MEMORY. */
lm_result lmi_octree_begin(lmi_octree *tree, lmi_memory *memory, lmi_voxels *voxels, uint32_t levels);

/* octree.c: cuts the links that lead out of the surface and in again. */
bool lmi_octree_cut_gaps(lmi_octree *tree, lmi_memory *memory, const lmi_octree_mesh *mesh);

/* Divides the base lattice; may be called again with another criterion. */
lm_result lmi_octree_divide(lmi_octree *tree, lmi_memory *memory, lmi_octree_criterion *criterion, void *user);

void lmi_octree_free(lmi_octree *tree, lmi_memory *memory);

/* A tree without nodes on the voxels of another, which it shares, with links of its own. False when out of memory. */
bool lmi_octree_share(lmi_octree *tree, lmi_memory *memory, const lmi_octree *before);

/* All of another tree, for a body that has it in common with that one. */
void lmi_octree_join(lmi_octree *tree, const lmi_octree *other);

/* Before a tree changes in place: it is no longer anybody else's. False when out of memory; then nothing has changed. */
bool lmi_octree_own(lmi_octree *tree, lmi_memory *memory);

/* octree_divide.c: the thickness of the body around each voxel, in voxels, up to `most`: the side of the largest cube of
 * filled voxels that the voxel is in, rounded up to an even number. Null when out of memory. */
uint8_t *lmi_octree_thickness(const lmi_octree *tree, lmi_memory *memory, uint32_t most);

/* octree_graph.c */
bool lmi_octree_find_neighbours(lmi_octree *tree, lmi_memory *memory);

/* The same for a tree that came from another: what is not near a change is taken over. `then`, `now`: nodes that are the same in
 * the one and the other, or LMI_OCTREE_NONE; `severed`: leaves of the tree before that have lost links. */
bool lmi_octree_update_neighbours(lmi_octree *tree, lmi_memory *memory, const lmi_octree *before, const uint32_t *then,
                                  const uint32_t *now, const bool *severed);

/* The distance between leaves that are neighbours: the larger of the differences along the axes between the middles of their
 * cells. */
uint32_t lmi_octree_length(const lmi_octree *tree, uint32_t leaf, uint32_t other);

/* octree_graph.c: shortest paths along neighbours (the bucket-Moore search). */
typedef struct lmi_octree_search {
    uint32_t *distance;      /* [leaf_count] from the last start, or LMI_OCTREE_NONE */
    uint32_t *next, *before; /* [leaf_count] in the bucket */
    uint32_t *bucket;        /* [bucket_count] the first leaf in each */
    uint32_t bucket_count;
    uint32_t *reached; /* leaves, nearest first */
    uint32_t reached_count;
    uint32_t leaf_count;
} lmi_octree_search;

/* octree_regions.c: the regions of a tree that came from another: those that a change is near are found again, the others taken
 * over. The same as lmi_octree_find_regions. `then`, `now`: nodes that are the same. `*found`: how many were found. */
bool lmi_octree_update_regions(lmi_octree *tree, lmi_memory *memory, const lmi_octree *before, const uint32_t *then,
                               const uint32_t *now, uint32_t *found);

bool lmi_octree_search_make(lmi_octree_search *search, lmi_memory *memory, const lmi_octree *tree);
void lmi_octree_search_free(lmi_octree_search *search, lmi_memory *memory);

/* Distances from a leaf to all that are within `limit`. */
void lmi_octree_search_run(lmi_octree_search *search, const lmi_octree *tree, uint32_t from, uint32_t limit);

/* The same from several leaves at once. */
void lmi_octree_search_from(lmi_octree_search *search, const lmi_octree *tree, const uint32_t *from, uint32_t count,
                            uint32_t limit);

/* The regions of all leaves from their widths. */
bool lmi_octree_find_regions(lmi_octree *tree, lmi_memory *memory);

/* How far a region of this width may reach. */
static inline uint32_t lmi_octree_limit(const lmi_octree *tree, uint32_t width)
{
    double limit = (1.0 + tree->slack) * width;
    return limit < 4e9 ? (uint32_t)limit : 4000000000u;
}

/* The least width of a leaf's region: the way to its neighbours of the same size. */
static inline uint32_t lmi_octree_least_width(const lmi_octree_node *leaf) { return LMI_OCTREE_UNITS << leaf->level; }

/* The voxel that a link leads to along an axis (0, 1, 2; up or down), or LMI_OCTREE_NONE. */
static inline uint32_t lmi_octree_linked(const lmi_octree *tree, uint32_t voxel, int axis, bool up)
{
    int64_t at[3] = {tree->at[voxel][0], tree->at[voxel][1], tree->at[voxel][2]};
    at[axis] += up ? 1 : -1;
    uint32_t other = lmi_octree_voxel(tree, at[0], at[1], at[2]);
    if (other == LMI_OCTREE_NONE || tree->cut[up ? voxel : other] >> axis & 1) {
        return LMI_OCTREE_NONE;
    }
    return other;
}

/* The middle of a node's voxels, in the frame of the mesh. */
static inline lm_dvec3 lmi_octree_middle(const lmi_octree *tree, const lmi_octree_node *node)
{
    const lmi_voxels *v = &tree->voxels;
    double scale = v->spacing / (2.0 * node->voxel_count);
    return dvec(v->first.x + scale * (double)node->sum[0], v->first.y + scale * (double)node->sum[1],
                v->first.z + scale * (double)node->sum[2]);
}

static inline bool lmi_octree_is_leaf(const lmi_octree_node *node) { return node->child_count == 0; }

/* Lists that grow item by item; false when out of memory. */
bool lmi_octree_lists_make(lmi_octree_lists *lists, lmi_memory *memory, uint32_t count);
bool lmi_octree_lists_add(lmi_octree_lists *lists, lmi_memory *memory, uint32_t item);
void lmi_octree_lists_free(lmi_octree_lists *lists, lmi_memory *memory);

#endif
