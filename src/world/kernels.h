/*
 * Kernels: the stages of a step that run in lanes, one copy for each instruction set.
 */
#ifndef LMI_KERNELS_H
#define LMI_KERNELS_H

#include "base/vec.h"
#include "collide/collide.h"
#include "limber/limber.h"

#include <stdatomic.h>

struct lm_world;
struct lmi_batch;
struct lmi_push;
struct lmi_contact_list;
struct lmi_solver;
struct lmi_body;
struct lmi_octree_lanes;
struct lmi_lattice;
struct lmi_lattice_step;
struct lmi_lattice_sums;
struct lmi_skin_cells;
struct lmi_skin_tets;

/* A field in this substep. */
typedef struct lmi_flow {
    lm_field_kind kind;
    lm_vec3 vector;
    lm_dvec3 position;
    float strength; /* wind: share of the difference taken over in a substep; point: m/s in a substep */
    float radius;
} lmi_flow;

/* What a task needs besides the batch; one for each worker. */
typedef struct lmi_scratch {
    float *goals;       /* [rows][LMI_BLOCK][4] where each membership wants its particle */
    float *pull;        /* [particle blocks][3][LMI_BLOCK] mean goal less position */
    uint32_t goal_rows; /* capacities */
    uint32_t pull_blocks;
    float *lattice; /* of sweeps, in units of a block */
    uint32_t lattice_blocks;
    struct lmi_solver *solver; /* of one body's contacts with walls; null without colliders */
    atomic_uint taken;         /* 1 while a task uses it */
} lmi_scratch;

/* One substep, as every stage sees it. */
typedef struct lmi_step {
    struct lm_world *world;
    double h;
    lm_dvec3 gravity;
    const lmi_surface *surfaces;
    uint32_t surface_count;
    bool solids; /* among them are meshes or height maps */
    const lmi_flow *flows;
    uint32_t flow_count;
    bool last; /* substep of the frame */
} lmi_step;

typedef void lmi_stage_function(const lmi_step *step, struct lmi_batch *batch, lmi_scratch *scratch);

struct lmi_bulk;
struct lmi_insides;
struct lmi_recalled;
typedef void lmi_find_inside_function(const struct lmi_bulk *solid, const float *points, uint32_t wanted, float margin,
                                      const struct lmi_recalled *recalled, struct lmi_insides *out);

/* What near_points looks for: points shifted `by`, in the box of a solid and perhaps at most `margin` outside it. */
typedef struct lmi_near {
    float by[3], low[3], high[3], margin;
    bool all; /* whatever is in the box */
} lmi_near;

struct lmi_touch;
typedef uint32_t lmi_near_points_function(const struct lmi_bulk *solid, const float *now, const lmi_near *near,
                                          float *at);
typedef void lmi_find_itself_function(const struct lmi_bulk *solid, const struct lmi_touch *touch, uint32_t block,
                                      uint32_t wanted, float margin, float apart, struct lmi_insides *out);

/* The sums of lattices (lattice/lattice_step.h). */
typedef struct lmi_lattice_kernels {
    /* `sums` has one for each part of the slab. The planes of a slab: match and integrate, but for planes nearer than `width` to a cut between slabs, which other slabs still read. */
    void (*sweep)(const struct lmi_lattice_step *step, uint32_t slab, float *scratch, struct lmi_lattice_sums *sums);

    /* Integrates the planes of a slab that its sweep left, after all sweeps. */
    void (*finish)(const struct lmi_lattice_step *step, uint32_t slab, float *scratch, struct lmi_lattice_sums *sums);

    /* Mean goal less position of every particle, [block][3][LMI_BLOCK], in metres; moves nothing. */
    void (*pull)(const struct lmi_lattice_step *step, float *scratch, float *pull);

    /* The two sums on their own: the 12 moments (sum u, then the columns of sum u k^T along z, y, x) of each region from
     * [particle][4] (values and weight); and for each particle the sum over its regions of q - T k from q and the columns
     * of T along x, y, z. [block][12][LMI_BLOCK] and [block][3][LMI_BLOCK]. */
    void (*gather)(const struct lmi_lattice *lattice, const float *values, float *scratch, float *moments);
    void (*scatter)(const struct lmi_lattice *lattice, const float *transforms, float *scratch, float *sums);
} lmi_lattice_kernels;

typedef struct lmi_kernels {
    lm_isa isa;
    lmi_stage_function *stage[LM_STAGE_COUNT];

    /* The rotations nearest to the matrices B diag(d), in blocks: B and R are [block][9][LMI_BLOCK] row by row, d is
     * [block][3][LMI_BLOCK] or null for ones. R holds the previous rotations, which choose where the nearest one is ambiguous, and takes
     * the new ones. */
    void (*polar)(const float *B, const float *d, float *R, uint32_t blocks);

    /* How many colliders a body may touch. */
    uint32_t (*count_walls)(const lmi_step *step, const struct lmi_body *body);

    /* Adds the contacts of a body with all colliders to a list. */
    void (*find_walls)(const lmi_step *step, struct lmi_push *push, struct lmi_contact_list *list);

    /* Puts a body in front of colliders again where other bodies have pushed it, and particles deep inside in any case. */
    void (*last_walls)(const lmi_step *step, struct lmi_body *body, bool pushed, lmi_scratch *scratch);

    /* Brings the carriers of a body's solid to where its particles are (touch/carriers.c). */
    void (*carry_bulk)(struct lmi_bulk *solid, const struct lmi_body *body);

    /* Where the touch points of a body are (lmi_touch.now, .box). Which points of a block, [3][LMI_BLOCK], are near a solid,
     * as bits, and where, relative to its origin. Those in the solid: bits of `wanted` say which
     * are asked for. The same for touch points of the solid's own body, carriers nearer than `apart` at rest passed over. */
    void (*place_points)(const struct lmi_body *body);
    lmi_near_points_function *near_points;
    lmi_find_inside_function *find_inside;
    lmi_find_itself_function *find_itself;

    /* Passes over a piece of the soft contacts (contact/soft.c): what they begin with, velocities, positions. */
    void (*soft_start)(struct lmi_solver *solver, uint32_t piece);
    void (*soft_velocities)(struct lmi_solver *solver, uint32_t piece);
    void (*soft_positions)(struct lmi_solver *solver, uint32_t piece);

    lmi_lattice_kernels lattice;

    /* The sums of an octree by themselves (octree/sum_octree.c). */
    void (*octree_gather)(const struct lmi_octree_lanes *lanes, const float *x, float *moments);
    void (*octree_scatter)(const struct lmi_octree_lanes *lanes, const float *x, const float *transforms);

    /* Gather, fit and scatter of a batch of one large octree, a phase at a time: a piece of the blocks of the phase. All pieces
     * of a phase must be done before the next begins. */
    void (*octree_phase)(const lmi_step *step, struct lmi_batch *batch, uint32_t phase, uint32_t piece);

    /* Vertices and normals of skins (skin/skin_lattice.h, skin/skin_tets.h). */
    void (*skin_lattice)(const struct lmi_skin_cells *cells);
    void (*skin_tets)(const struct lmi_skin_tets *tets);
} lmi_kernels;

extern const lmi_kernels lmi_kernels_scalar, lmi_kernels_sse2, lmi_kernels_avx2, lmi_kernels_avx512, lmi_kernels_neon,
    lmi_kernels_simd128;

/* Null when this build or this machine does not have the instruction set. */
const lmi_kernels *lmi_kernels_get(lm_isa isa);

#endif
