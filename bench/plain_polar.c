/*
 * Built with -O2 -fno-tree-vectorize and no instruction set beyond the compiler's default: see CMakeLists.txt.
 */
#include "plain_polar.h"

#include <math.h>
#include <stdbool.h>

#define SWEEPS 12        /* of Jacobi rotations, at most; three to five are usual from a cold start */
#define SETTLED 1e-6f    /* off-diagonal elements below this share of the trace are zero */
#define NEWTON_STEPS 16  /* at most; four or five are usual */
#define DETERMINED 2e-2f /* share of the sum cubed; below it FOAM's denominator is mostly rounding error */
#define CONVERGED 1e-4f  /* Newton squares its error: the next step would be below rounding */
#define NOTHING 1e-30f   /* a matrix, or an image, of this size has no direction */
#define RANK_ONE 1e-6f   /* a second image smaller than this share of the first has none either */

static float dot3(const float *a, const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross3(const float *a, const float *b, float *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static bool normalise(float *a, float least)
{
    float length = sqrtf(dot3(a, a));
    if (!(length > least)) return false;
    float inverse = 1.0f / length;
    for (int i = 0; i < 3; i++) a[i] *= inverse;
    return true;
}

/* A unit vector at a right angle to a. */
static void any_normal(const float *a, float *normal)
{
    int smallest = fabsf(a[0]) < fabsf(a[1]) ? 0 : 1;
    if (fabsf(a[2]) < fabsf(a[smallest])) smallest = 2;
    float axis[3] = {0.0f, 0.0f, 0.0f};
    axis[smallest] = 1.0f;
    cross3(a, axis, normal);
    normalise(normal, 0.0f);
}

static void set_identity(float *M)
{
    for (int i = 0; i < 9; i++) M[i] = i % 4 == 0 ? 1.0f : 0.0f;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Jacobi
 */

/* One rotation that makes S[p][q] zero, applied to the symmetric S and to the columns of V. */
static void jacobi_rotate(float *S, float *V, int p, int q)
{
    float off = S[3 * p + q];
    float theta = (S[3 * q + q] - S[3 * p + p]) / (2.0f * off);
    float t = 1.0f / (fabsf(theta) + sqrtf(theta * theta + 1.0f));
    if (theta < 0.0f) t = -t;
    float c = 1.0f / sqrtf(t * t + 1.0f), s = t * c;
    int r = 3 - p - q;
    float rp = S[3 * r + p], rq = S[3 * r + q];
    S[3 * p + p] -= t * off;
    S[3 * q + q] += t * off;
    S[3 * p + q] = S[3 * q + p] = 0.0f;
    S[3 * r + p] = S[3 * p + r] = c * rp - s * rq;
    S[3 * r + q] = S[3 * q + r] = s * rp + c * rq;
    for (int i = 0; i < 3; i++) {
        float vp = V[3 * i + p], vq = V[3 * i + q];
        V[3 * i + p] = c * vp - s * vq;
        V[3 * i + q] = s * vp + c * vq;
    }
}

/* V^T A^T A V */
static void turned_square(const float *A, const float *V, float *S)
{
    float B[9]; /* A V */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[3 * i + j] = A[3 * i] * V[j] + A[3 * i + 1] * V[3 + j] + A[3 * i + 2] * V[6 + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) S[3 * i + j] = B[i] * B[j] + B[3 + i] * B[3 + j] + B[6 + i] * B[6 + j];
}

/* R takes the two longest principal axes to their images, and the third to what makes it a rotation. That is A S^-1
 * where A does not mirror, and the nearest rotation where it does. */
static void rotation_from_axes(const float *A, const float *V, const float *S, float *R)
{
    int first = S[0] >= S[4] ? 0 : 1;
    if (S[8] > S[4 * first]) first = 2;
    int second = (first + 1) % 3, third = (first + 2) % 3;
    if (S[4 * third] > S[4 * second]) second = third;

    float v[3][3], u[3][3];
    for (int i = 0; i < 3; i++) {
        v[0][i] = V[3 * i + first];
        v[1][i] = V[3 * i + second];
    }
    cross3(v[0], v[1], v[2]);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) u[k][i] = dot3(A + 3 * i, v[k]);
    float length = sqrtf(dot3(u[0], u[0]));
    if (!normalise(u[0], NOTHING)) {
        set_identity(R);
        return;
    }
    float along = dot3(u[0], u[1]);
    for (int i = 0; i < 3; i++) u[1][i] -= along * u[0][i];
    if (!normalise(u[1], RANK_ONE * length)) any_normal(u[0], u[1]);
    cross3(u[0], u[1], u[2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = u[0][i] * v[0][j] + u[1][i] * v[1][j] + u[2][i] * v[2][j];
}

void plain_polar_jacobi(const float A[9], float V[9], float R[9])
{
    float S[9];
    turned_square(A, V, S);
    float limit = SETTLED * (S[0] + S[4] + S[8]);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool moved = false;
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                if (!(fabsf(S[3 * p + q]) > limit)) continue;
                jacobi_rotate(S, V, p, q);
                moved = true;
            }
        }
        if (!moved) break;
    }
    rotation_from_axes(A, V, S, R);
    /* Rotations of V add up their rounding over thousands of warm starts. */
    float columns[3][3];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) columns[k][i] = V[3 * i + k];
    normalise(columns[0], 0.0f);
    float along = dot3(columns[0], columns[1]);
    for (int i = 0; i < 3; i++) columns[1][i] -= along * columns[0][i];
    normalise(columns[1], 0.0f);
    cross3(columns[0], columns[1], columns[2]);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) V[3 * i + k] = columns[k][i];
}

/* ------------------------------------------------------------------------------------------------------------------
 * FOAM
 */

/* The largest root of (x² - square)² - 8 det x - 4 cofactors: the sum of the singular values, the smallest of them
 * negative where det is. Newton comes down to it from sqrt(3 square), which is never below it. The slope is 8 zeta, and
 * falls on the way: once it is too small for FOAM, zeta is too small as well. 0 then. */
static float singular_sum(float square, float det, float cofactors)
{
    float x = sqrtf(3.0f * square);
    for (int i = 0; i < NEWTON_STEPS; i++) {
        float a = x * x - square;
        float value = a * a - 8.0f * det * x - 4.0f * cofactors;
        float slope = 4.0f * a * x - 8.0f * det;
        if (!(slope > 8.0f * DETERMINED * x * x * x)) return 0.0f;
        float step = value / slope;
        x -= step;
        if (fabsf(step) < CONVERGED * x) break;
    }
    return x;
}

void plain_polar_foam(const float A[9], float R[9])
{
    float size = 0.0f;
    for (int i = 0; i < 9; i++) size = fabsf(A[i]) > size ? fabsf(A[i]) : size;
    if (!(size > NOTHING)) {
        set_identity(R);
        return;
    }
    float M[9], C[9], inverse = 1.0f / size;
    for (int i = 0; i < 9; i++) M[i] = A[i] * inverse;
    cross3(M + 3, M + 6, C);
    cross3(M + 6, M, C + 3);
    cross3(M, M + 3, C + 6);
    float det = dot3(M, C);
    float square = dot3(M, M) + dot3(M + 3, M + 3) + dot3(M + 6, M + 6);
    float cofactors = dot3(C, C) + dot3(C + 3, C + 3) + dot3(C + 6, C + 6);

    float sum = singular_sum(square, det, cofactors);
    float kappa = 0.5f * (sum * sum - square);
    float zeta = kappa * sum - det;
    if (!(zeta > 0.0f) || sum == 0.0f) {
        float V[9];
        set_identity(V);
        plain_polar_jacobi(M, V, R);
        return;
    }
    float inverse_zeta = 1.0f / zeta;
    for (int i = 0; i < 3; i++) {
        float row[3]; /* of M M^T */
        for (int j = 0; j < 3; j++) row[j] = dot3(M + 3 * i, M + 3 * j);
        for (int j = 0; j < 3; j++) {
            float cube = row[0] * M[j] + row[1] * M[3 + j] + row[2] * M[6 + j];
            R[3 * i + j] = ((kappa + square) * M[3 * i + j] + sum * C[3 * i + j] - cube) * inverse_zeta;
        }
    }
}
