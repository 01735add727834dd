/*
 * Small double-precision algebra for everything that happens once a body or once a region: definitions, rest shapes,
 * rigid motions. Per-particle work is in lanes (lanes.h).
 */
#ifndef LMI_VEC_H
#define LMI_VEC_H

#include "limber/limber.h"

#include <math.h>

/* The second one where they are equal or unordered, as the vector instructions have it (lanes.h). The C library's are calls,
 * and leave open which zero they return. */
static inline double lmi_min(double a, double b) { return a < b ? a : b; }
static inline double lmi_max(double a, double b) { return a > b ? a : b; }
static inline float lmi_minf(float a, float b) { return a < b ? a : b; }
static inline float lmi_maxf(float a, float b) { return a > b ? a : b; }

/* The nearest number from -most to most. */
static inline float lmi_limit(float a, float most) { return lmi_maxf(lmi_minf(a, most), -most); }

typedef struct dmat3 {
    double m[3][3]; /* row, column */
} dmat3;

static inline lm_dvec3 dvec(double x, double y, double z)
{
    lm_dvec3 v = {x, y, z};
    return v;
}

static inline lm_dvec3 dvec_from(lm_vec3 a) { return dvec(a.x, a.y, a.z); }
static inline lm_dvec3 dvec_add(lm_dvec3 a, lm_dvec3 b) { return dvec(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline lm_dvec3 dvec_sub(lm_dvec3 a, lm_dvec3 b) { return dvec(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline lm_dvec3 dvec_scale(lm_dvec3 a, double s) { return dvec(a.x * s, a.y * s, a.z * s); }
static inline double dvec_dot(lm_dvec3 a, lm_dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double dvec_length(lm_dvec3 a) { return sqrt(dvec_dot(a, a)); }

static inline lm_dvec3 dvec_cross(lm_dvec3 a, lm_dvec3 b)
{
    return dvec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline lm_vec3 vec_from(lm_dvec3 a)
{
    lm_vec3 v = {(float)a.x, (float)a.y, (float)a.z};
    return v;
}

/* Each component within -most to most; what is not a number becomes most. */
static inline lm_dvec3 dvec_limit(lm_dvec3 a, double most)
{
    return dvec(a.x < most ? lmi_max(a.x, -most) : most, a.y < most ? lmi_max(a.y, -most) : most,
                a.z < most ? lmi_max(a.z, -most) : most);
}

static inline lm_dvec3 dmat_apply(const dmat3 *a, lm_dvec3 v)
{
    return dvec(a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
                a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
                a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z);
}

static inline lm_dvec3 dmat_apply_transposed(const dmat3 *a, lm_dvec3 v)
{
    return dvec(a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
                a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
                a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z);
}

dmat3 lmi_dmat_multiply(const dmat3 *a, const dmat3 *b);

/* The rotation matrix of a quaternion of any length but zero. */
dmat3 lmi_dmat_from_quat(lm_quat q);
lm_quat lmi_quat_from_dmat(const dmat3 *r);

/* The rotation by |w| radians about w. */
dmat3 lmi_dmat_from_rotation_vector(lm_dvec3 w);

/* The angular velocity with angular momentum `momentum` for a body of inertia `inertia` (xx yy zz xy yz zx). Directions
 * about which there is no inertia to speak of (a point, a straight line) do not rotate. */
lm_dvec3 lmi_dmat_solve_spin(const double inertia[6], lm_dvec3 momentum);

/* a = b q^-1, where q is symmetric and has an inverse. */
void lmi_matrix_divide(double b[3][3], double q[3][3], double a[3][3]);

/* Eigenvalues (descending) and orthonormal eigenvectors (columns of v) of the symmetric n x n matrix a, row-major;
 * `a` is destroyed. Cyclic Jacobi rotations. */
void lmi_symmetric_eigen(int n, double *a, double *values, double *v);

/* Whether a pose can be used: within LM_MAX_POSITION, and its rotation is not zero. */
bool lmi_pose_is_sound(lm_pose pose);

static inline bool vec_is_finite(lm_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
static inline bool dvec_is_finite(lm_dvec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

/* Whether a place may be given to a world. */
static inline bool dvec_is_place(lm_dvec3 a)
{
    return fabs(a.x) <= LM_MAX_POSITION && fabs(a.y) <= LM_MAX_POSITION && fabs(a.z) <= LM_MAX_POSITION;
}

/* The determinant of a symmetric matrix: xx yy zz xy yz zx. */
static inline double lmi_symmetric_determinant(const double s[6])
{
    return s[0] * (s[1] * s[2] - s[4] * s[4]) - s[3] * (s[3] * s[2] - s[4] * s[5]) + s[5] * (s[3] * s[4] - s[1] * s[5]);
}

#endif
