/*
 * The reference's own linear algebra: 3-vectors, 3x3 matrices, and two Jacobi solvers, all in double precision.
 *
 * Nothing here is fast. It is written to be obviously right, and shares nothing with the library.
 */
#ifndef LIMBER_TEST_LINEAR_H
#define LIMBER_TEST_LINEAR_H

#include <math.h>
#include <stdint.h>

typedef struct ref_vec {
    double x, y, z;
} ref_vec;

/* at[row][column] */
typedef struct ref_mat {
    double at[3][3];
} ref_mat;

static inline ref_vec ref_v(double x, double y, double z) { return (ref_vec){x, y, z}; }

static inline ref_vec ref_add(ref_vec a, ref_vec b) { return ref_v(a.x + b.x, a.y + b.y, a.z + b.z); }

static inline ref_vec ref_sub(ref_vec a, ref_vec b) { return ref_v(a.x - b.x, a.y - b.y, a.z - b.z); }

static inline ref_vec ref_scale(double s, ref_vec a) { return ref_v(s * a.x, s * a.y, s * a.z); }

/* a + s b */
static inline ref_vec ref_add_scaled(ref_vec a, double s, ref_vec b)
{
    return ref_v(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline double ref_dot(ref_vec a, ref_vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline ref_vec ref_cross(ref_vec a, ref_vec b)
{
    return ref_v(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double ref_length(ref_vec a) { return sqrt(ref_dot(a, a)); }

static inline ref_vec ref_normalise(ref_vec a)
{
    double length = ref_length(a);
    return length > 0.0 ? ref_scale(1.0 / length, a) : ref_v(0.0, 1.0, 0.0);
}

ref_mat ref_identity(void);
ref_mat ref_mat_add(ref_mat a, ref_mat b);
ref_mat ref_mat_scale(double s, ref_mat a);
ref_mat ref_mat_mul(ref_mat a, ref_mat b);
ref_mat ref_transpose(ref_mat a);
double ref_det(ref_mat a);
double ref_trace(ref_mat a);
ref_vec ref_mat_vec(ref_mat a, ref_vec b);
ref_mat ref_outer(ref_vec a, ref_vec b); /* a b^T */
ref_vec ref_column(ref_mat a, int column);
ref_mat ref_from_columns(ref_vec a, ref_vec b, ref_vec c);

/* The rotation by |w| radians about w. */
ref_mat ref_rotation(ref_vec w);

/* The rotation of the quaternion x y z w, normalised first. */
ref_mat ref_rotation_of_quaternion(double x, double y, double z, double w);

/* Eigenvalues, ascending, and unit eigenvectors (vectors[row * n + k] belongs to values[k]) of the symmetric n x n
 * matrix a, by cyclic Jacobi rotations. */
void ref_eigen_symmetric(int n, const double *a, double *values, double *vectors);

/* a = U diag(s) V^T by one-sided Jacobi rotations, with U and V rotations (determinant +1) and s[0] >= s[1] >= |s[2]|:
 * the last singular value carries the sign of det a. Where a has no more than rank one, U is completed arbitrarily. */
void ref_svd(ref_mat a, ref_mat *u, double s[3], ref_mat *v);

/* f(symmetric a), applied to the eigenvalues; those below `floor` times the largest are treated as zero and give zero.
 * Used for pseudo-inverses and square roots. */
ref_mat ref_symmetric_function(ref_mat a, double floor, double (*f)(double));

#endif
