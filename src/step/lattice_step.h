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

#include "sample/lattice.h"

typedef struct lmi_lattice_step {
    const lmi_lattice *lattice;
    float *x, *v;                   /* [particle][4], as in lmi_body */
    float inverse[9];               /* F^T / s */
    float forward[9];               /* F s */
    float middle[3];                /* corner that K is measured from */
    float h, rate;                  /* seconds; alpha / h */
    float damping;                  /* share of the deformation velocity that is lost */
    lm_vec3 centre, velocity, spin; /* the body's motion as a whole */
    lm_vec3 carry;                  /* velocity of the origin */
    bool stretch;                   /* linear mode, with the share beta */
    float beta;
} lmi_lattice_step;

/* What a sweep measures: 16 partial sums each of the pull's momentum and angular momentum, and bounds. */
typedef struct lmi_lattice_sums {
    double pull[6];
    float lower[3], upper[3];
} lmi_lattice_sums;

/* Floats of scratch that a sweep wants. */
static inline size_t lmi_lattice_scratch(const lmi_lattice *l)
{
    size_t planes = 2 * (size_t)l->width + 1;
    return (planes * (3 + 6) + 6 + 9) * l->most_places * LMI_BLOCK + (9 + 12 + 12) * lmi_lattice_run_stride(l);
}

typedef struct lmi_lattice_kernels {
    /* The planes of a slab: match and integrate, but for planes nearer than `width` to a cut between slabs, which other slabs still read. */
    void (*sweep)(const lmi_lattice_step *step, uint32_t slab, float *scratch, lmi_lattice_sums *sums);

    /* Integrates the planes of a slab that its sweep left, after all sweeps. */
    void (*finish)(const lmi_lattice_step *step, uint32_t slab, float *scratch, lmi_lattice_sums *sums);

    /* Mean goal less position of every particle, [block][3][LMI_BLOCK], in metres; moves nothing. */
    void (*pull)(const lmi_lattice_step *step, float *scratch, float *pull);

    /* The two sums on their own: the 12 moments (sum u, then the columns of sum u k^T along z, y, x) of each region from
     * [particle][4] (values and weight); and for each particle the sum over its regions of q - T k from q and the columns
     * of T along x, y, z. [block][12][LMI_BLOCK] and [block][3][LMI_BLOCK]. */
    void (*gather)(const lmi_lattice *lattice, const float *values, float *scratch, float *moments);
    void (*scatter)(const lmi_lattice *lattice, const float *transforms, float *scratch, float *sums);
} lmi_lattice_kernels;

#endif
