/*
 * One substep of a lattice as its kernels see it.
 *
 * Everything is measured in the frame of the body: with F the rotation of the body as a whole, s the spacing and K the rest
 * position of a particle from the middle of the lattice in spacings,
 *
 *     u = F^T x / s - K
 *
 * is what is left of a position when the rest shape is taken away. The moments of u are small where those of x would
 * cancel, so a lattice of a thousand cells is as precise as one of ten. F need not be exact: any rotation gives the same
 * goals, the body's own gives the best precision.
 */
#ifndef LMI_LATTICE_STEP_H
#define LMI_LATTICE_STEP_H

#include "lattice/lattice.h"
#include "match/plastic.h"

/* Of a body that may flow, or has. */
typedef struct lmi_lattice_plastic {
    float *state;    /* [blocks + 1][6][LMI_BLOCK] lasting deformation along the lattice's axes, xx yy zz xy yz zx */
    uint8_t *flowed; /* [blocks + 1] whether it differs from 1 anywhere in the block */
    lmi_plastic_rates rates;
    float bound; /* lmi_yield_bound */
    float watch; /* square of the yield */
} lmi_lattice_plastic;

/* The motion of a connected part in this substep. */
typedef struct lmi_lattice_motion {
    lm_vec3 centre, velocity, spin;
} lmi_lattice_motion;

typedef struct lmi_lattice_step {
    const lmi_lattice *lattice;
    float *x, *v;                   /* [particle][4], as in lmi_body */
    float inverse[9];               /* F^T / s */
    float forward[9];               /* F s */
    float middle[3];                /* corner that K is measured from */
    float h;                        /* seconds */
    float rate;                     /* 1/s: from the pull to the change of velocity */
    float damping;                  /* share of the deformation velocity of a whole part that is lost */
    lm_vec3 velocity;               /* of the body as a whole, and of its origin in this substep */
    const lmi_lattice_motion *part; /* [parts] */
    bool stretch;                   /* linear mode, with the share beta */
    float beta, beyond;
    const lmi_lattice_plastic *plastic; /* null: nothing has flowed or may */
    const float *mix; /* stretch of each region's mix of examples, xx yy zz xy yz zx, of block 0; null: no examples */
    uint32_t mix_stride; /* floats from block to block */

    /* Regional damping in this substep: then the pull is the whole change of velocity, and the rate is 1. */
    bool regional;
    float goal_rate;         /* alpha / h */
    float loss;              /* share of the velocity that is lost */
    float *velocity_moments; /* [irregular][LMI_BLOCK] corrections of the 12 moments of velocity */
} lmi_lattice_step;

/* What a sweep measures of each part: momentum and angular momentum of the pull, and bounds. */
typedef struct lmi_lattice_sums {
    double pull[6];
    float lower[3], upper[3];
} lmi_lattice_sums;

/* Floats of scratch that a sweep wants. */
static inline size_t lmi_lattice_scratch(const lmi_lattice *l)
{
    size_t planes = 2 * (size_t)l->width + 1;
    if (lmi_lattice_is_plated(l)) {
        size_t plates = 2 * (size_t)l->plates.ring_size + l->plates.most_records;
        return ((planes * 3 + 12) * l->most_places + plates) * LMI_BLOCK;
    }
    return (planes * (3 + 6) + 6 + 9) * l->most_places * LMI_BLOCK + (9 + 12 + 12) * lmi_lattice_run_stride(l);
}

/* Floats that it wants besides for regional damping. */
static inline size_t lmi_lattice_damping_scratch(const lmi_lattice *l)
{
    size_t planes = 2 * (size_t)l->width + 1;
    if (lmi_lattice_is_plated(l)) {
        return ((planes * 3 + 12) * l->most_places + l->plates.ring_size) * LMI_BLOCK;
    }
    return (planes * 3 + 6) * l->most_places * LMI_BLOCK + (9 + 12) * lmi_lattice_run_stride(l);
}

#endif
