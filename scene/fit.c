#include "scene/fit.h"

#include <string.h>

/* Turns rows and columns i and j of the symmetric matrix so that m[i][j] vanishes, and the vectors with it. */
static void turn_pair(double m[4][4], double v[4][4], int i, int j)
{
    if (m[i][j] == 0.0) {
        return;
    }
    double theta = (m[j][j] - m[i][i]) / (2.0 * m[i][j]);
    double tangent = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double cosine = 1.0 / sqrt(tangent * tangent + 1.0);
    double sine = tangent * cosine;
    for (int k = 0; k < 4; k++) {
        double a = m[k][i], b = m[k][j];
        m[k][i] = cosine * a - sine * b;
        m[k][j] = sine * a + cosine * b;
    }
    for (int k = 0; k < 4; k++) {
        double a = m[i][k], b = m[j][k];
        m[i][k] = cosine * a - sine * b;
        m[j][k] = sine * a + cosine * b;
        double c = v[k][i], d = v[k][j];
        v[k][i] = cosine * c - sine * d;
        v[k][j] = sine * c + cosine * d;
    }
}

/* Makes the symmetric matrix diagonal (Jacobi 1846); the columns of v become its eigenvectors. */
static void diagonalise(double m[4][4], double v[4][4])
{
    for (int sweep = 0; sweep < 24; sweep++) { /* converges quadratically: 6 or 7 are enough */
        for (int i = 0; i < 3; i++) {
            for (int j = i + 1; j < 4; j++) {
                turn_pair(m, v, i, j);
            }
        }
    }
}

/* The unit eigenvector of the largest eigenvalue. */
static void largest_eigenvector(double m[4][4], double out[4])
{
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    diagonalise(m, v);
    int best = 0;
    for (int i = 1; i < 4; i++) {
        best = m[i][i] > m[best][best] ? i : best;
    }
    for (int k = 0; k < 4; k++) {
        out[k] = v[k][best];
    }
}

/* Horn 1987: the rotation that maximises the trace of R S for S = sum m q p^T (rows q, columns p). */
static rotation best_rotation(double s[3][3])
{
    double n[4][4] = {
        {s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
        {0, s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
        {0, 0, s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
        {0, 0, 0, s[2][2] - s[0][0] - s[1][1]},
    };
    for (int i = 1; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            n[i][j] = n[j][i];
        }
    }
    double q[4];
    largest_eigenvector(n, q);
    return (rotation){q[1], q[2], q[3], q[0]};
}

static lm_dvec3 centre_of(const lm_vec3 *points, const float *masses, uint32_t count)
{
    lm_dvec3 sum = lm_dvec3_zero();
    double mass = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        sum = vector_add(sum, vector_scale(vector_widen(points[i]), masses[i]));
        mass += masses[i];
    }
    return vector_scale(sum, 1.0 / mass);
}

rigid_fit lmi_fit_rigid(const lm_vec3 *rest, const lm_vec3 *positions, const float *masses, uint32_t count)
{
    rigid_fit fit = {.rest_centre = centre_of(rest, masses, count), .centre = centre_of(positions, masses, count)};
    double s[3][3] = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        lm_dvec3 q = vector_subtract(vector_widen(rest[i]), fit.rest_centre);
        lm_dvec3 p = vector_scale(vector_subtract(vector_widen(positions[i]), fit.centre), masses[i]);
        const double rows[3] = {q.x, q.y, q.z};
        const double columns[3] = {p.x, p.y, p.z};
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                s[a][b] += rows[a] * columns[b];
            }
        }
    }
    fit.rotate = best_rotation(s);
    double sum = 0.0, mass = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        lm_dvec3 q = vector_subtract(vector_widen(rest[i]), fit.rest_centre);
        lm_dvec3 p = vector_subtract(vector_widen(positions[i]), fit.centre);
        lm_dvec3 off = vector_subtract(p, lmi_rotation_apply(fit.rotate, q));
        sum += masses[i] * vector_dot(off, off);
        mass += masses[i];
    }
    fit.residual = sqrt(sum / mass);
    return fit;
}

double lmi_fit_strain(const float matrix[9])
{
    double m[4][4] = {{0}}, v[4][4] = {{0}};
    for (int i = 0; i < 9; i++) {
        m[i / 3][i % 3] = matrix[i];
    }
    diagonalise(m, v);
    double strain = 0.0;
    for (int i = 0; i < 3; i++) {
        double off = fabs(m[i][i] - 1.0);
        strain = off <= strain ? strain : off; /* what is not a number stays */
    }
    return strain;
}
