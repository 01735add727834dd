/*
 * What host and device both read of colliders that have a kernel of their own (kernels/walls.cl): one text for C and for
 * OpenCL C, as records.h.
 */
#ifndef LMI_GPU_WALL_RECORDS_H
#define LMI_GPU_WALL_RECORDS_H

#ifndef __OPENCL_VERSION__
#include <stdint.h>
#endif

#define LMI_GPU_LEVELS 15 /* of a height map */

/* A mesh or a height map: the numbers of lmi_mesh and lmi_heights, and where their arrays begin among those of all. */
typedef struct lmi_gpu_ground {
    double skin;
    double spacing;                     /* of a map */
    double cell;                        /* of a mesh */
    double lower[3], upper[3];          /* of a mesh */
    double corner[3];                   /* of a mesh: the lowest of its first cell */
    uint64_t heights, spans;            /* of a map */
    uint64_t faces, nodes, cells;       /* of a mesh */
    uint32_t n[2];                      /* samples of a map */
    uint32_t levels;                    /* of a map; 0: it is a mesh */
    uint32_t side[LMI_GPU_LEVELS][2];   /* nodes along x and z on each level */
    uint32_t start[LMI_GPU_LEVELS + 1]; /* where a level begins */
    uint32_t size[3];                   /* cells of a mesh */
    uint32_t solid;                     /* a mesh that has an inside */
    uint32_t pad;
} lmi_gpu_ground;

#define LMI_GPU_PIECE 64 /* particles of a body that one work-group takes */

/* A body, as walls see it. */
typedef struct lmi_gpu_walled {
    double reach;                 /* metres from its bounds that its particles may touch something, at rest */
    uint32_t first_piece, pieces; /* of its particles */
    uint32_t solids;              /* that it may touch in this substep */
    uint32_t apart;               /* colliders meet its touch points, and not its particles: none here */
} lmi_gpu_walled;

/* What a piece of a body's particles has had of a collider in a step: the sums of lmi_touching. */
enum {
    LMI_GPU_TOUCH_WEIGHT = 0,
    LMI_GPU_TOUCH_POINT = 1,   /* 3 */
    LMI_GPU_TOUCH_NORMAL = 4,  /* 3 */
    LMI_GPU_TOUCH_IMPULSE = 7, /* 3 */
    LMI_GPU_TOUCH_PRESSED = 10,
    LMI_GPU_TOUCH_APPROACH = 11, /* the highest */
    LMI_GPU_TOUCH_CHANNELS = 12,
};

typedef struct lmi_gpu_touch {
    double sums[LMI_GPU_TOUCH_CHANNELS];
    uint32_t collider, pad; /* in the order of their slots */
} lmi_gpu_touch;

#define LMI_GPU_TOUCHES 8 /* colliders of a piece that are told of, at most: as many as of a body */

/* A body that may answer colliders as a whole, with its bare particles (kernels/stand.cl). */
typedef struct lmi_gpu_standing {
    double impulse[3]; /* that they gave it in this substep, in units of the mean mass */
    uint32_t limit;    /* contacts that are solved together; 0: it never answers as a whole */
    uint32_t first, count;
    uint32_t touched; /* of them, those that were pressed */
} lmi_gpu_standing;

/* A contact of a particle of such a body: lmi_contact. */
typedef struct lmi_gpu_stand {
    lmi_gpu_quad normal, surface, steady, braked, arm;
    float depth, friction, restitution, bounce, deep, plain, approach, level, pressed, shifted;
    uint32_t particle;
    uint32_t live; /* 0: nothing can move it, or it is not yet its turn */
} lmi_gpu_stand;

#define LMI_GPU_WALL_SUMS 4 /* floats of a piece: the impulse that it was given, and contacts; or how fast it is */

#endif
