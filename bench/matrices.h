/*
 * Matrices to decompose, and a judge of the result that shares nothing with the library: double precision, another
 * method.
 */
#ifndef LIMBER_BENCH_MATRICES_H
#define LIMBER_BENCH_MATRICES_H

#include <stdint.h>

/* Kinds of 3x3 matrices, row by row, drawn from a seed. */
typedef enum matrix_kind {
    MATRIX_STRETCHED = 0, /* a rotation times stretches of 0.7 to 1.4: what bodies look like most of the time */
    MATRIX_RANDOM,        /* nine normal numbers: half of them have a negative determinant */
    MATRIX_INVERTED,      /* stretched, with one axis turned inside out */
    MATRIX_SINGULAR,      /* squashed to 1e-3 ... 1e-7 along one axis or two */
    MATRIX_MIRRORED,      /* minus a rotation: every rotation by half a turn from it is equally near */
    MATRIX_MIXED,         /* 1/2 stretched, 1/4 random, and 1/8, 1/16, 1/16 of the others in no order */
    MATRIX_KIND_COUNT
} matrix_kind;

const char *matrix_kind_name(matrix_kind kind);

/* Each call draws the next matrix; start with any seed. */
void matrix_draw(matrix_kind kind, uint64_t *seed, float A[9]);

/* A moved by a step of the simulation: turned by about 2 degrees, and 1 % of noise. */
void matrix_move(uint64_t *seed, const float A[9], float moved[9]);

/* The largest element of R^T R - I; 2 at least when R is a reflection. */
double matrix_orthogonality_error(const float R[9]);

/* By how much trace(R^T A) misses the best that a rotation can reach, as a share of |A|. */
double matrix_trace_deficit(const float A[9], const float R[9]);

#endif
