/*
 * Random 3x3 matrices, and how good their decompositions are.
 */
#include "matrices.h"

#include <math.h>
#include <string.h>

const char *matrix_kind_name(matrix_kind kind)
{
    static const char *const names[MATRIX_KIND_COUNT] = {"stretched", "random",   "inverted",
                                                         "singular",  "mirrored", "mixed"};
    return kind < MATRIX_KIND_COUNT ? names[kind] : NULL;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Drawing
 */

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t draw_bits(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Above 0, at most 1. */
static double draw_uniform(uint64_t *seed) { return (double)((draw_bits(seed) >> 11) + 1) * 0x1p-53; }

static double draw_normal(uint64_t *seed)
{
    double radius = sqrt(-2.0 * log(draw_uniform(seed)));
    return radius * cos(6.28318530717958647692 * draw_uniform(seed));
}

static void rotation_from_quaternion(const double q[4], double R[9])
{
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], s = 2.0 / square;
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double result[9] = {1.0 - s * (y * y + z * z), s * (x * y - z * w),       s * (x * z + y * w),
                        s * (x * y + z * w),       1.0 - s * (x * x + z * z), s * (y * z - x * w),
                        s * (x * z - y * w),       s * (y * z + x * w),       1.0 - s * (x * x + y * y)};
    memcpy(R, result, sizeof result);
}

static void draw_rotation(uint64_t *seed, double R[9])
{
    double q[4];
    for (int i = 0; i < 4; i++) q[i] = draw_normal(seed);
    rotation_from_quaternion(q, R);
}

static void multiply(const double *A, const double *B, double *C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* U diag(s) V with rotations U and V. */
static void draw_with_stretches(uint64_t *seed, const double s[3], float A[9])
{
    double U[9], V[9], product[9];
    draw_rotation(seed, U);
    draw_rotation(seed, V);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) U[3 * i + j] *= s[j];
    multiply(U, V, product);
    for (int i = 0; i < 9; i++) A[i] = (float)product[i];
}

static double draw_stretch(uint64_t *seed) { return 0.7 + 0.7 * draw_uniform(seed); }

static matrix_kind draw_kind(uint64_t *seed)
{
    uint64_t sixteenth = draw_bits(seed) >> 60;
    if (sixteenth < 8) return MATRIX_STRETCHED;
    if (sixteenth < 12) return MATRIX_RANDOM;
    if (sixteenth < 14) return MATRIX_SINGULAR;
    return sixteenth == 14 ? MATRIX_INVERTED : MATRIX_MIRRORED;
}

void matrix_draw(matrix_kind kind, uint64_t *seed, float A[9])
{
    if (kind == MATRIX_MIXED) kind = draw_kind(seed);
    double s[3] = {draw_stretch(seed), draw_stretch(seed), draw_stretch(seed)};
    if (kind == MATRIX_RANDOM) {
        for (int i = 0; i < 9; i++) A[i] = (float)draw_normal(seed);
        return;
    }
    if (kind == MATRIX_INVERTED) s[2] = -s[2];
    if (kind == MATRIX_SINGULAR) {
        s[2] *= pow(10.0, -3.0 - 4.0 * draw_uniform(seed));
        if (draw_bits(seed) & 1u) s[1] *= pow(10.0, -3.0 - 4.0 * draw_uniform(seed));
    }
    if (kind == MATRIX_MIRRORED) s[0] = s[1] = s[2] = -s[0];
    draw_with_stretches(seed, s, A);
}

void matrix_move(uint64_t *seed, const float A[9], float moved[9])
{
    double q[4] = {0.01 * draw_normal(seed), 0.01 * draw_normal(seed), 0.01 * draw_normal(seed), 1.0};
    double turn[9], source[9], product[9];
    rotation_from_quaternion(q, turn);
    double size = 0.0;
    for (int i = 0; i < 9; i++) {
        source[i] = A[i];
        size += source[i] * source[i];
    }
    multiply(turn, source, product);
    for (int i = 0; i < 9; i++) moved[i] = (float)(product[i] + 0.01 * sqrt(size / 9.0) * draw_normal(seed));
}

/* ------------------------------------------------------------------------------------------------------------------
 * Judging
 */

double matrix_orthogonality_error(const float R[9])
{
    double error = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = i == j ? -1.0 : 0.0;
            for (int k = 0; k < 3; k++) sum += (double)R[3 * k + i] * R[3 * k + j];
            if (!(fabs(sum) <= error)) error = fabs(sum); /* a NaN too */
        }
    }
    double det = R[0] * ((double)R[4] * R[8] - (double)R[5] * R[7]) +
                 R[1] * ((double)R[5] * R[6] - (double)R[3] * R[8]) +
                 R[2] * ((double)R[3] * R[7] - (double)R[4] * R[6]);
    return det > 0.0 ? error : error + 2.0;
}

/* The largest eigenvalue of a symmetric 4x4 matrix by cyclic Jacobi rotations. Destroys K. */
static double largest_eigenvalue(double K[4][4])
{
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0.0;
        for (int p = 0; p < 3; p++) {
            for (int q = p + 1; q < 4; q++) {
                off += K[p][q] * K[p][q];
                if (K[p][q] == 0.0) continue;
                double theta = (K[q][q] - K[p][p]) / (2.0 * K[p][q]);
                double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 4; k++) {
                    double kp = K[k][p], kq = K[k][q];
                    K[k][p] = c * kp - s * kq;
                    K[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < 4; k++) {
                    double pk = K[p][k], qk = K[q][k];
                    K[p][k] = c * pk - s * qk;
                    K[q][k] = s * pk + c * qk;
                }
            }
        }
        if (off < 1e-300) break;
    }
    return fmax(fmax(K[0][0], K[1][1]), fmax(K[2][2], K[3][3]));
}

/* Horn 1987: trace(R^T A) = u^T K u for the quaternion u of R, so the best trace is the largest eigenvalue of K. */
double matrix_trace_deficit(const float A[9], const float R[9])
{
    double a[9], trace = 0.0, size = 0.0;
    for (int i = 0; i < 9; i++) {
        a[i] = A[i];
        trace += a[i] * R[i];
        size += a[i] * a[i];
    }
    if (size == 0.0) return 0.0;
    double K[4][4] = {
        {a[0] + a[4] + a[8], a[7] - a[5], a[2] - a[6], a[3] - a[1]},
        {a[7] - a[5], a[0] - a[4] - a[8], a[1] + a[3], a[2] + a[6]},
        {a[2] - a[6], a[1] + a[3], a[4] - a[0] - a[8], a[5] + a[7]},
        {a[3] - a[1], a[2] + a[6], a[5] + a[7], a[8] - a[0] - a[4]},
    };
    return (largest_eigenvalue(K) - trace) / sqrt(size);
}
