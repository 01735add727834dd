/*
 * What a body has that is an octree, in pieces that the snapshot loader and the kernels share.
 */
#ifndef LMI_OCTREE_BODY_H
#define LMI_OCTREE_BODY_H

#include "octree/octree.h"
#include "octree/octree_lanes.h"
#include "world/elastic.h"
#include "world/world.h"

#define LMI_OCTREE_SUMS 16

/* A leaf is a particle, and around each is a region of the same number; neither changes its number while the tree does not
 * change. Places are in the order of the tree too, but for neighbours that were put together because their lists are equally
 * long. */
typedef struct lmi_octree_shell lmi_octree_shell;

/* The motion of a part, which nothing joins with the others, in this substep. */
typedef struct lmi_octree_part {
    lmi_motion motion;
    uint32_t first; /* place of a particle that its sums are taken from */
    double mass, moment[3], momentum[3], angular[3], second[6];
} lmi_octree_part;

/* What a leaf remembers of its detail. */
typedef struct lmi_octree_leaf_detail {
    float quiet;  /* state: seconds for which it could have been coarser */
    uint8_t home; /* the finest level that its voxels go back to */
} lmi_octree_leaf_detail;

/* Level of detail (octree_level.c). */
typedef struct lmi_octree_levels {
    lm_detail detail;
    uint8_t *home;                /* state: [voxel_count] the level that the cell of a voxel goes back to */
    lmi_octree_leaf_detail *leaf; /* [leaf_count] */
    uint32_t waiting;             /* cells that the last step left for the next ones */
    void *scratch;                /* of a step (octree_level.c), kept from one to the next */
    uint32_t scratch_size;
    /* While a step may still fail: what `quiet` and `waiting` were before it; null: they are as they were. In the scratch. */
    float *was_quiet; /* [leaves before it] */
    uint32_t was_waiting;
    bool changed; /* in this step */
} lmi_octree_levels;

typedef struct lmi_octree_body {
    lmi_octree tree;
    lmi_octree_lanes lanes;
    uint32_t *part; /* [leaves] that neighbours join */
    uint32_t part_count;
    lmi_octree_part *parts;          /* [parts] */
    lmi_octree_shell *shell;         /* of a skin that was cut (skin/skin_octree_cut.h); null: it was not */
    struct lmi_clefts *clefts;       /* how the faces of cuts touch (contact/cleft.h); null: they do not */
    double (*sums)[LMI_OCTREE_SUMS]; /* [node_count] scratch of skins */
    lmi_octree_levels *levels;       /* null: its cells stay as they are */
} lmi_octree_body;

/* What the sums over a node of the tree are at rest, in double precision. */
typedef struct lmi_octree_rest {
    double weight;
    lm_dvec3 centre;
    double second[6]; /* about the centre, weighted: xx yy zz xy yz zx */
} lmi_octree_rest;

/* octree/octree_layout.c. The mass of the regions that each leaf is in, by leaf, from the masses of the particles. */
bool lmi_octree_region_mass(const lmi_octree *tree, lmi_memory *memory, const double *mass, double *sums);

/* `weights`: of the leaves in fits. */
void lmi_octree_rest_of_nodes(const lmi_octree *tree, const float *weights, lmi_octree_rest *rest);
/* <x²> of the regions, and their shapes (world/elastic.h); `rest` by mass. */
void lmi_octree_squares(const lmi_octree *tree, const lmi_octree_rest *rest, double *squares, lmi_elastic_shape *shape);
void lmi_octree_make_regions(const lmi_octree *tree, const lmi_octree_rest *rest, lmi_region *regions);

/* octree/octree_layout.c. A layout of the body as it is, with these constants of its nodes and regions. False when out of memory; then *lanes is empty. */
bool lmi_octree_lanes_make(lmi_octree_lanes *lanes, lmi_memory *memory, const lmi_body *body,
                           const lmi_octree_rest *rest, const lmi_region *regions, const double *region_mass);
void lmi_octree_lanes_free(lmi_octree_lanes *lanes, lmi_memory *memory);
/* The same lanes for a copy of the body: but for the scratch they have them in common. False when out of memory. */
bool lmi_octree_lanes_join(lmi_octree_lanes *lanes, lmi_memory *memory, const lmi_octree_lanes *other);

/* The node that stands for the same leaves and is not the only child of another. */
uint32_t lmi_octree_plain_node(const lmi_octree *tree, uint32_t node);

/* How many phases a way through the tree has (octree/sum_octree.c), and all ways of this substep: one more where it is damped
 * region by region. */
static inline uint32_t lmi_octree_way_phases(const lmi_octree_lanes *lanes) { return 2 * lanes->heights + 2; }

static inline bool lmi_octree_damps(const lmi_body *body)
{
    return body->material.damping_kind == LM_DAMPING_REGIONAL && body->damping_now > 0.0f && body->alpha > 1e-6f;
}

static inline uint32_t lmi_octree_phases(const lmi_body *body)
{
    return (lmi_octree_damps(body) ? 2 : 1) * lmi_octree_way_phases(&body->octree->lanes);
}

/* octree_body.c */
lm_result lmi_octree_body_create(lm_world *world, const lm_body_def *def, uint32_t *slot);
/* Of a body that was not cut, for a copy of it: the tree and the lanes are shared. False when out of memory. */
bool lmi_octree_body_copy(lm_world *world, const lmi_body *from, lmi_body *to);
void lmi_octree_body_free(lm_world *world, lmi_body *body);

/* New weights, region constants and lanes after masses, stiffness or pins changed (`held` by place, or null). False when out
 * of memory, then nothing has changed. */
bool lmi_octree_body_weigh(lm_world *world, lmi_body *body, const bool *held);

/* Arrays of a body on a tree that is whole, with particles ordered. False when out of memory. */
bool lmi_octree_body_allocate(lm_world *world, lmi_body *body, lmi_octree *tree);

/* Members of all regions: offsets (leaves + 1), and members where there is room for them. Returns how many there are. */
uint64_t lmi_octree_body_regions(const lmi_body *body, uint32_t *offsets, uint32_t *members);

/* The places of one region's members, in memory of the body that the next call uses again; and what a region weighs among
 * others, in units of the mean mass. */
const uint32_t *lmi_octree_body_members(const lmi_body *body, uint32_t region, uint32_t *count);
double lmi_octree_body_region_mass(const lmi_body *body, uint32_t region);

/* octree/octree_parts.c: damps each part towards its own motion as a whole, where there are several. */
void lmi_octree_damp_parts(lmi_body *body);

/* octree_level.c: at the beginning of a step, cells are divided and joined as the bodies' details want it; `*changes` is what was
 * done. False when out of memory. Then, or when something else that the step needs has failed, everything is taken back; when
 * nothing can fail any more it is kept, and the skins of bodies that did not change fade. */
struct lmi_octree_change;
bool lmi_octree_levels_step(lm_world *world, double seconds, struct lmi_octree_change **changes);
void lmi_octree_levels_undo(lm_world *world, struct lmi_octree_change *changes);
void lmi_octree_levels_keep(lm_world *world, struct lmi_octree_change *changes, double seconds);
void lmi_octree_levels_free(lm_world *world, lmi_octree_body *octree);

/* Whether its cells may change in a step. */
static inline bool lmi_octree_has_detail(const lmi_body *body) { return body->octree && body->octree->levels; }

/* For a body that has none yet; false when out of memory. */
bool lmi_octree_levels_make(lm_world *world, lmi_octree_body *octree);
const char *lmi_octree_detail_fault(const lm_detail *detail); /* null when it is sound */

/* The finest `home` of each leaf's voxels. */
void lmi_octree_levels_home(const lmi_octree *tree, const uint8_t *home, lmi_octree_leaf_detail *leaves);

/* The means over regions of values for each particle, weighted by mass and kept to 0 to 1. */
void lmi_octree_body_means(const lmi_body *body, const float *values, float *means);

/* After there is a solid: what its touch points face, and how the faces of cuts touch. False when out of memory. */
bool lmi_octree_body_face(lm_world *world, lmi_body *body);

/* octree/touch_octree.c: after there is a solid, which carriers touch points are in, and which way those of cuts face. */
void lmi_octree_face_points(const lmi_body *body, lmi_touch *touch);

const char *lmi_octree_body_fault(const lm_material *material); /* why octrees cannot have such a material, or null */

/* ---- around a point ----
 *
 * What is around a point of an octree, along its cells and never across a gap.
 */

/* The leaf of the voxel that a point of the rest pose is in, or of the nearest one. */
uint32_t lmi_octree_leaf_at(const lmi_octree *tree, lm_vec3 point);

/* The mean side of the cells, metres. */
double lmi_octree_mean_side(const lmi_body *body);

#endif
