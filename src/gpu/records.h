/*
 * What host and device both read: one text for C and for OpenCL C. Doubles come first in a record, so that both lay it out
 * alike.
 */
#ifndef LMI_GPU_RECORDS_H
#define LMI_GPU_RECORDS_H

#ifdef __OPENCL_VERSION__
typedef uint uint32_t;
typedef int int32_t;
typedef ulong uint64_t;
#else
#include "limber/limber.h"
#endif

#define LMI_GPU_NONE 0xffffffffu
#define LMI_GPU_SAMPLES 8

/* Bodies of clusters and octrees with more particles are moved by many work-groups. */
#define LMI_GPU_LARGE 2048u

/* Flags in front of the index of a region's constants: it is irregular; its particle's sums are put right. */
#define LMI_GPU_IRREGULAR 0x80000000u
#define LMI_GPU_CORRECTED 0x40000000u
#define LMI_GPU_INDEX 0x3fffffffu

/* Floats of a row with so many constants of a region: whole vectors of four. */
#define LMI_GPU_ROW(channels) (((channels) + 3) / 4 * 4)

/* Channels of what work-groups measure, 32 floats for each. */
enum {
    LMI_GPU_PULL = 0,      /* momentum and angular momentum of the pull   6 */
    LMI_GPU_MASS = 6,      /* of matched particles, and about record.at and .from: */
    LMI_GPU_FIRST = 7,     /* m r                                         3 */
    LMI_GPU_MOMENTUM = 10, /* m u                                         3 */
    LMI_GPU_ANGULAR = 13,  /* r x m u                                     3 */
    LMI_GPU_SECOND = 16,   /* m r r: xx yy zz xy yz zx                    6 */
    LMI_GPU_IMPULSE = 22,  /* m times what colliders changed              3 */
    LMI_GPU_TOUCHED = 25,  /* particles that met one                        */
    LMI_GPU_LOWER = 26,    /* bounds                                      3 */
    LMI_GPU_UPPER = 29,    /*                                             3 */
    LMI_GPU_CHANNELS = 32,
};

/* Why a substep is left to the host. */
enum {
    LMI_GPU_OVERSTRETCHED = 1,
    LMI_GPU_COLLAPSED = 2,
    LMI_GPU_RIGID = 4,
    LMI_GPU_UNSOUND = 8,
    LMI_GPU_FAST = 16,
    LMI_GPU_CROWDED = 32,
    LMI_GPU_CHAINED = 64,
    LMI_GPU_WAKING = 128,
    LMI_GPU_FLYING = 256,
};

/* A body: state, what it is made of, and what the substep's kernels read. Lengths and masses as in lmi_body. */
typedef struct lmi_gpu_body {
    double origin[3];
    double frame[9];                          /* of a lattice, row by row */
    double owed_momentum[3], owed_angular[3]; /* as in lmi_lattice_part */
    double mass, inertia[6];                  /* of the motion */
    double sums[16];                          /* mass, first, momentum, angular, second */
    double impulse[3]; /* that colliders and pins gave, in units of the mean mass, since it was asked for */
    double rest_size, rest_inertia, spacing;
    float at[3], from[3];                  /* what the sums are taken from */
    float centre[3], velocity[3], spin[3]; /* motion */
    float drift_centre[3], drift_velocity[3], drift_spin[3];
    float lower[3], upper[3];
    float loss, push[3], whirl[3];           /* of lattices: what changes velocities besides the pull */
    float shift[3];                          /* of positions in this substep: the origin follows the body */
    float inverse[9], forward[9], middle[3]; /* lattice/lattice_step.h */
    float alpha, firmness, damping, damping_now, beta, beyond;
    float damping_regional; /* of octrees, in this substep */
    float contact_radius, mean_mass, friction, restitution;
    uint32_t damping_every, damping_turn;
    uint32_t first;                /* particle */
    uint32_t particles;            /* places */
    uint32_t irregular, corrected; /* of a lattice: first of its irregular regions, and of its corrections */
    uint32_t map;                  /* of a lattice: first entry of its map of blocks */
    uint32_t size[3];              /* blocks along x, corners along y and z */
    int32_t phase;
    uint32_t first_partial, partials; /* of the tiles; none of a small lattice, which is concluded by its own kernel */
    uint32_t first_measure, measures; /* of the chunks that are measured after an upload */
    uint32_t sample[LMI_GPU_SAMPLES]; /* particles */
    int32_t corner[3 * LMI_GPU_SAMPLES]; /* and their corners */
    uint32_t pinned;
    uint32_t regional; /* it is damped region by region */
    uint32_t pointed;  /* colliders meet its touch points, when all bodies have moved (kernels/solve.cl) */
    uint32_t group, collider_mask;
    uint32_t surfaces; /* bits: what it may touch in this substep */
    uint32_t contacts;
    uint32_t stop;
    uint32_t
        kind; /* of a lattice that kernels/kinds.cl is for: its lmi_gpu_matter, else LMI_GPU_NONE; of a part: the body */
    uint32_t
        parts; /* of a lattice: how many, where they have records of their own; of a part: 1 where it is the first */
    uint32_t pieces; /* it has broken: it does not answer as a whole */
} lmi_gpu_body;

/* Columns of a lattice that one work-group goes through, plane by plane. */
typedef struct lmi_gpu_tile {
    uint32_t body;
    int32_t x, y, z; /* of its first corner; x counts lanes of blocks */
    uint32_t planes;
    uint32_t partial;
    uint32_t list,
        lists; /* of irregular regions in it, or of particles whose sums are put right; of kernels/kind_tiles.cl `list`
                           * is the part whose particles it moves, or LMI_GPU_NONE: all */
} lmi_gpu_tile;

/* A lattice that flows, is damped region by region, has examples or is in several parts (kernels/kinds.cl). */
typedef struct lmi_gpu_matter {
    double flow;                   /* lmi_plastic_rates */
    float yield, most, bound;      /* and lmi_yield_bound */
    uint32_t body;                 /* record */
    uint32_t room;                 /* its first block among those of all such lattices */
    uint32_t irregular, corrected; /* first of its irregular regions, and of its corrections */
    uint32_t plastic;              /* the first float of its lasting deformation, or LMI_GPU_NONE */
    uint32_t examples;             /* the first float of its channels, or LMI_GPU_NONE */
    uint32_t count, own_mix;       /* of examples */
    uint32_t linear;
    uint32_t first_part; /* its record, where it is in several */
} lmi_gpu_matter;

/* Floats of a row of constants of such a region: those for linear fits, then those of the best affine map. */
#define LMI_GPU_MATTER_ROW 40

/* What the fast sums of an irregular region, or of a particle, have too much or too little. */
typedef struct lmi_gpu_list {
    uint32_t owner; /* its number among those of the body */
    uint32_t first,
        count;         /* entries, two words each: a member, and four bytes, where it is from the owner and its sign */
    int32_t corner[3]; /* of the owner */
} lmi_gpu_list;

/* A lattice that fits into the local memory of one work-group. */
typedef struct lmi_gpu_small {
    uint32_t body;
    uint32_t first, count,
        particles;              /* of its table of corners, two words each: x | y << 8 | z << 16, and the place of the
                                         particle there or LMI_GPU_NONE; those with a particle come first */
    uint32_t gather, gathers;   /* lists of its irregular regions, */
    uint32_t scatter, scatters; /* and of particles whose sums are put right */
    uint32_t size[3];           /* corners */
    uint32_t filler;
} lmi_gpu_small;

/* Particles of one body that one work-group measures. */
typedef struct lmi_gpu_chunk {
    uint32_t body, first, count, partial;
} lmi_gpu_chunk;

/* A collider where it is in this substep: lmi_surface. */
typedef struct lmi_gpu_surface {
    double position[3], rotation[9], velocity[3], spin[3], pivot[3], lower[3], upper[3];
    float radius, half_length, half_extents[3], friction, restitution, thickness;
    uint32_t shape, group, mask;
    uint32_t solid; /* place of its mesh or height map (gpu/wall_records.h), or LMI_GPU_NONE */
} lmi_gpu_surface;

/* A wind or point field in this substep: lmi_flow. */
typedef struct lmi_gpu_flow {
    double position[3];
    float vector[3], strength, radius;
    uint32_t wind; /* else it pulls to its position */
} lmi_gpu_flow;

/* What a force on a single particle changes of its velocity in a substep. */
typedef struct lmi_gpu_jab {
    uint32_t particle;
    float change[3];
} lmi_gpu_jab;

/* A body that meets others by depth cube maps (kernels/meet.cl). */
typedef struct lmi_gpu_meeter {
    double lower[3], upper[3]; /* the box that others may touch, in this substep */
    double penalty, mean_mass; /* lmi_penalty_of, kg */
    double way;                /* metres in this substep */
    double met_way;            /* the same, or that against a partner where it is further */
    float radius, skin;        /* what it adds to the distance as the one that comes, and as the one that is met */
    float reach,
        apart;       /* metres from its bounds: at which colliders are checked; and how much further other bodies are */
    uint32_t record; /* body */
    uint32_t group, mask;
    uint32_t first_point, points, first_map, maps, first_depth;
    uint32_t partners, bucket;
    int32_t cell[3];
    uint32_t marks; /* bits as below */
} lmi_gpu_meeter;

/* Its sides push each other, and it does not answer as a whole; it can break; it is in pieces; it may flow. */
enum { LMI_GPU_CLEFT = 1, LMI_GPU_RUBBLE = 2, LMI_GPU_PIECES = 4, LMI_GPU_FLOWS = 8 };

/* How bodies keep each other apart: lm_contact_method. */
enum { LMI_GPU_SOLVED = 0, LMI_GPU_CUBE_MAP = 2 };

/* The rest shape that a body is felt as: lmi_mould. */
typedef struct lmi_gpu_mould {
    double cell, deep, reach, far, apart;
    float first[3];
    uint32_t n[3];
    uint32_t first_distance, first_rest; /* among the distances, and among the places of carriers, of all moulds */
    float middle[3];                     /* of the carriers */
    uint32_t carriers;
    uint32_t first_window,
        windows; /* of its carriers (contact/windows.h), among the beginnings of those of all moulds */
} lmi_gpu_mould;

/* An octree that a blade has cut (octree/octree_sight.h), and the discs on both sides of its cuts (contact/cleft.h). */
typedef struct lmi_gpu_cut {
    double first[3], spacing; /* of voxels, in the rest shape */
    double cell;              /* of the table of discs, metres */
    uint32_t n[3], row_words;
    uint32_t first_word, first_voxel; /* among those of all cut octrees */
    uint32_t first_bend, bends;
    uint32_t first_head, heads; /* of the table; a power of two, or 0: its sides do not touch */
} lmi_gpu_cut;

typedef struct lmi_gpu_disc {
    float normal[3];       /* out, unit, in this substep */
    uint32_t next;         /* in its place of the table */
    uint32_t point, owner; /* touch point, and meeter */
    uint32_t voxel, part;  /* of its octree */
    float place[3];        /* on the blade, rest pose */
} lmi_gpu_disc;

/* A touch point where there are bodies that can break: a ball of one (contact/rubble.h), or the point of another body. */
typedef struct lmi_gpu_grain {
    float out[3]; /* away from the particles it is linked to, or from the surface, in this substep */
    float radius;
    float plate;       /* metres along the surface for which it stands; 0: a point of a body that cannot break */
    int32_t cell[3];   /* of the table */
    uint32_t next;     /* in its place of the table, and one more; 0: none */
    uint32_t piece;    /* among those of all bodies */
    uint32_t links[6]; /* particles, or LMI_GPU_NONE */
} lmi_gpu_grain;

/* A piece of a body that has broken. */
typedef struct lmi_gpu_piece {
    uint32_t body, first, count; /* meeter; touch points in their list */
} lmi_gpu_piece;

/* A body whose contacts are solved (kernels/solve.cl), besides what it is as a meeter. */
typedef struct lmi_gpu_bulk {
    double first[3], spacing; /* of a lattice's corners in the rest shape; spacing is 0 for other bodies */
    double along;             /* where it begins on the axis along which bodies are sorted */
    uint64_t surfaces;        /* bits: colliders that it may touch, of those in its list of them */
    uint32_t slot, mould;
    uint32_t turn;                  /* of a lattice's axes */
    uint32_t curve;                 /* place on the curve */
    uint32_t first_bucket, buckets; /* of contacts with its maps, then of those with the cells of a lattice */
    uint32_t first_cell;            /* of a lattice: one for each place, the lowest corner of a cell or not */
    uint32_t met[2], turned[2];     /* bits: partners that its points are in */
    uint32_t touched;               /* it is in a contact with another body */
    uint32_t contacts, first_contact;
    uint32_t listed, first_listed; /* contacts of others' points with it */
    uint32_t wholes;               /* of its contacts: those where a side answers as a whole */
    uint32_t chained, cursor;      /* such contacts that it has a part in, and how many of them are done */
    uint32_t itself;               /* it may touch itself */
    uint32_t own_partner;          /* and is so deformed that it can: its place among its partners; else LMI_GPU_NONE */
    uint32_t cut;                  /* place of its lmi_gpu_cut, or LMI_GPU_NONE */
    float fastest;                 /* of its particles, m/s; where there are meshes or height maps */
} lmi_gpu_bulk;

#ifdef __OPENCL_VERSION__
typedef float4 lmi_gpu_quad;
#else
typedef struct lmi_gpu_quad {
    float s[4];
} lmi_gpu_quad;
#endif

/* What becomes of a contact: nothing, it is only near; soft; soft, once bodies have pressed each other apart; a side answers as a
 * whole; and that, but not yet. */
enum { LMI_GPU_NEAR, LMI_GPU_SOFT, LMI_GPU_WAITS, LMI_GPU_WHOLE, LMI_GPU_WATCHED };

/* Instead of a map: b is a single particle, of a body that can break. */
#define LMI_GPU_BALL 0xfffffffeu

/* lmi_contact. */
typedef struct lmi_gpu_contact {
    lmi_gpu_quad normal, braked, more, surface, steady;
    lmi_gpu_quad ahead; /* of a whole contact: from b's point to a's, where contacts were found */
    lmi_gpu_quad place; /* where the point is in b: from the carrier in its rest axes, or in the cell of a lattice */
    lmi_gpu_quad arm_a, arm_b;
    lmi_gpu_quad off; /* from b's point to a's, where they were not in one place */
    float ratio, friction, bounce, deep, pressed, shifted, level, depth, approach, found, plain;
    float shallow;  /* depth up to which soft bodies are put out of each other quickly, metres */
    uint32_t point; /* of a, among all touch points */
    uint32_t leader;
    uint32_t a, b;  /* meeters; b is LMI_GPU_NONE for a wall */
    uint32_t map;   /* of b, among all; of a wall: the collider; or LMI_GPU_BALL */
    uint32_t cell;  /* of a lattice, among all cells; else LMI_GPU_NONE */
    uint32_t slot;  /* in its bucket, before they are sorted */
    uint32_t live;  /* as above */
    uint32_t seats; /* of a whole contact: numbers of a and b in their group, b's in the upper half */
    float restitution;
    uint32_t filler[2]; /* to whole quads */
} lmi_gpu_contact;

/* A body while its contacts are solved: lmi_push. */
typedef struct lmi_gpu_push {
    lmi_gpu_quad centre, turning[3], move, turn, velocity, spin, mean, came, drift, twist;
    float rigid, inverse_mass, mean_mass, crush;
} lmi_gpu_push;

/* A brace of two bodies, or of a body and a collider: lmi_brace. */
typedef struct lmi_gpu_brace {
    lm_dvec3 normal, point, wall;
    lm_dvec3 lever[2], turned[2]; /* of a, and of b */
    double agree, cell, comes, least, step, impulse;
    float crush, deep;
    uint32_t b;   /* meeter, or LMI_GPU_NONE; a is the meeter in whose room it is */
    uint32_t any; /* there are contacts, and their normals agree */
    uint32_t onward, filler;
} lmi_gpu_brace;

/* Bodies that whole contacts connect; one record for each body, and most of it with the first of them. */
typedef struct lmi_gpu_group {
    uint32_t label; /* the first body */
    uint32_t seat;  /* the body's own number in its group */
    uint32_t members, first_member, filled;
    uint32_t contacts, first_contact; /* in the order in which they are processed; as many as there may be */
    uint32_t first_level, levels;
    uint32_t loose; /* one of its bodies does not answer as a whole, or not in full */
    uint32_t alone; /* the host would have its contacts in a list of their own: others do not say when sweeps end */
} lmi_gpu_group;

#define LMI_GPU_CUBES 32    /* cube maps of a body, at most */
#define LMI_GPU_PARTNERS 64 /* bodies that one is tested against in a substep, at most */

/* A body's skin (kernels/skin.cl). What it has in common with others of its shape is there once: first of its riders, numbers, ...
 * in the tables of all shapes. */
typedef struct lmi_gpu_skin {
    uint32_t body;             /* record */
    uint32_t particle;         /* first of the body's */
    uint32_t vertex, vertices; /* first among all, and how many */
    uint32_t riders,
        numbers; /* of cells and tetrahedra: 8 or 4 riders and 6 numbers for each vertex; of lists: weights */
    uint32_t offsets, rest;           /* of lists: where each vertex's riders begin, and vertices at rest */
    uint32_t ring_offsets, triangles; /* of lists: where each vertex's triangles begin, and the corners of all */
    uint32_t region;                  /* of skins on regions: first */
    float per_spacing;                /* of cells: 1 / spacing */
} lmi_gpu_skin;

/* A region that a skin rides on. */
typedef struct lmi_gpu_carried {
    uint32_t particle;       /* first of the body's */
    uint32_t members, count; /* of clusters: first in the table, and how many; of octrees: summation nodes */
    uint32_t rest;           /* of clusters: first rest position of its body; of octrees: that of the leaf */
    uint32_t place;          /* of octrees: the leaf's particle */
    uint32_t rotation;       /* where the first of its nine floats is, the others a block apart */
    uint32_t quadratic;
    uint32_t octree;
} lmi_gpu_carried;

/* A node of an octree, for skins. */
typedef struct lmi_gpu_skin_node {
    uint32_t child, children; /* first, and how many */
    uint32_t place, rest;     /* particle of a leaf, or LMI_GPU_NONE, and its rest position */
} lmi_gpu_skin_node;

/* What is told of a body, and of a chunk of particles, without the particles (kernels/look.cl): doubles. */
enum {
    LMI_GPU_LOOK_ORIGIN = 0,
    LMI_GPU_LOOK_IMPULSE = 3,
    LMI_GPU_LOOK_CONTACTS = 6,
    LMI_GPU_LOOK_NUMBERS = 7,

    LMI_GPU_TOTAL_MOMENTUM = 0,
    LMI_GPU_TOTAL_SCALE = 3,
    LMI_GPU_TOTAL_ENERGY = 4,
    LMI_GPU_TOTAL_SPEED = 5,
    LMI_GPU_TOTAL_UNSOUND = 6,  /* particles that are nowhere */
    LMI_GPU_TOTAL_FIRST = 7,    /* m x, from the body's origin, as are: */
    LMI_GPU_TOTAL_ANGULAR = 10, /* x cross m v */
    LMI_GPU_TOTAL_SECOND = 13,  /* m x x: xx yy zz xy yz zx */
    LMI_GPU_TOTAL_LOWER = 19,   /* bounds */
    LMI_GPU_TOTAL_UPPER = 22,
    LMI_GPU_TOTALS = 25,
};

#define LMI_GPU_MAX_SURFACES 32
#define LMI_GPU_SOLVED_SURFACES 64 /* and those that a body may meet with touch points in a substep */

#endif
