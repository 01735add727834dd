/*
 * One match of a lattice with alpha = 1, linearised at rest, in double precision: what modes.c is for clusters.
 */
#ifndef LMI_LATTICE_MATCH_H
#define LMI_LATTICE_MATCH_H

#include "lattice/lattice.h"

/* Displacements are [block][3][LMI_BLOCK], along the lattice's own axes, 0 where there is no particle. */
typedef struct lmi_lattice_match {
    const lmi_lattice *lattice;
    const double *weights; /* m~ by place */
    double *raw;           /* rest moments of the regions */
    double share;          /* of stretch that keeps the volume: beta, or 0 in rigid mode */

    /* Buffers of one application. */
    double *along_z;   /* [places][6][LMI_BLOCK] of a plane */
    double *along_y;   /* [9][run] of a run */
    double *transform; /* [12][run] of a run */
    double *along_x;   /* [places][9][LMI_BLOCK] of a plane, on the way back */
    double *scattered; /* [2 width + 1][places][6][LMI_BLOCK] along x and y, of the planes around the current one */
    double *irregular; /* [irregular + 1][12] transforms of irregular regions; the last is zero */
    /* Of a lattice with plates, instead: */
    double *records, *plates; /* of 12 numbers */
    double *fitted;           /* [blocks][12][LMI_BLOCK] moments, then transforms */
} lmi_lattice_match;

/* False when out of memory; free it all the same. `weights` must live as long, `stiffness` (by place, null: 1) need not. */
bool lmi_lattice_match_make(lmi_memory *memory, const lmi_lattice *lattice, const double *weights,
                            const float *stiffness, double share, lmi_lattice_match *match);
void lmi_lattice_match_free(lmi_memory *memory, lmi_lattice_match *match);

/* to = u - G u, what the match would take away: zero for motions as a whole. */
void lmi_lattice_match_apply(const lmi_lattice_match *match, const double *u, double *to);

#endif
