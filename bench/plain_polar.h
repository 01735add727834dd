/*
 * The rotation nearest to a matrix, one matrix at a time in plain scalar float32: what the lanes of the library are
 * compared with. Matrices are row by row.
 */
#ifndef LIMBER_BENCH_PLAIN_POLAR_H
#define LIMBER_BENCH_PLAIN_POLAR_H

/* Markley's FOAM: Newton for the sum of the singular values, then a closed form; where that divides by nearly nothing,
 * the eigenvectors of A^T A from the identity. The best that is known to us for one matrix at a time. */
void plain_polar_foam(const float A[9], float R[9]);

/* Müller et al. 2005, section 3.3: S = sqrt(A^T A) by Jacobi rotations, R = A S^-1. V holds the eigenvectors of the last
 * call (or the identity: a cold start) and takes the new ones. */
void plain_polar_jacobi(const float A[9], float V[9], float R[9]);

#endif
