#include "linear.h"

#include <stdlib.h>
#include <string.h>

ref_mat ref_identity(void) { return (ref_mat){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }

ref_mat ref_mat_add(ref_mat a, ref_mat b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.at[i][j] += b.at[i][j];
    return a;
}

ref_mat ref_mat_scale(double s, ref_mat a)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.at[i][j] *= s;
    return a;
}

ref_mat ref_mat_mul(ref_mat a, ref_mat b)
{
    ref_mat c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.at[i][j] = a.at[i][0] * b.at[0][j] + a.at[i][1] * b.at[1][j] + a.at[i][2] * b.at[2][j];
    return c;
}

ref_mat ref_transpose(ref_mat a)
{
    ref_mat t;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) t.at[i][j] = a.at[j][i];
    return t;
}

double ref_det(ref_mat a) { return ref_dot(ref_column(a, 0), ref_cross(ref_column(a, 1), ref_column(a, 2))); }

double ref_trace(ref_mat a) { return a.at[0][0] + a.at[1][1] + a.at[2][2]; }

ref_vec ref_mat_vec(ref_mat a, ref_vec b)
{
    return ref_v(a.at[0][0] * b.x + a.at[0][1] * b.y + a.at[0][2] * b.z,
                 a.at[1][0] * b.x + a.at[1][1] * b.y + a.at[1][2] * b.z,
                 a.at[2][0] * b.x + a.at[2][1] * b.y + a.at[2][2] * b.z);
}

ref_mat ref_outer(ref_vec a, ref_vec b)
{
    return (ref_mat){
        {{a.x * b.x, a.x * b.y, a.x * b.z}, {a.y * b.x, a.y * b.y, a.y * b.z}, {a.z * b.x, a.z * b.y, a.z * b.z}}};
}

ref_vec ref_column(ref_mat a, int column) { return ref_v(a.at[0][column], a.at[1][column], a.at[2][column]); }

ref_mat ref_from_columns(ref_vec a, ref_vec b, ref_vec c)
{
    return (ref_mat){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

ref_mat ref_rotation(ref_vec w)
{
    double angle = ref_length(w);
    if (angle == 0.0) return ref_identity();
    ref_vec axis = ref_scale(sin(0.5 * angle) / angle, w);
    return ref_rotation_of_quaternion(axis.x, axis.y, axis.z, cos(0.5 * angle));
}

ref_mat ref_rotation_of_quaternion(double x, double y, double z, double w)
{
    double scale = 1.0 / sqrt(x * x + y * y + z * z + w * w);
    x *= scale;
    y *= scale;
    z *= scale;
    w *= scale;
    return (ref_mat){{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                      {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                      {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
}

/* The rotation (c, s) that annihilates the off-diagonal element of [[app, apq], [apq, aqq]]. */
static void jacobi_rotation(double app, double apq, double aqq, double *c, double *s)
{
    double theta = (aqq - app) / (2.0 * apq);
    double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    *c = 1.0 / sqrt(t * t + 1.0);
    *s = t * *c;
}

void ref_eigen_symmetric(int n, const double *input, double *values, double *vectors)
{
    double *a = malloc(sizeof(double) * (size_t)(n * n));
    memcpy(a, input, sizeof(double) * (size_t)(n * n));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) vectors[i * n + j] = i == j;

    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0.0, all = 0.0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                all += a[i * n + j] * a[i * n + j];
                if (i != j) off += a[i * n + j] * a[i * n + j];
            }
        if (off <= 1e-60 + 1e-34 * all) break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (a[p * n + q] == 0.0) continue;
                double c, s;
                jacobi_rotation(a[p * n + p], a[p * n + q], a[q * n + q], &c, &s);
                for (int k = 0; k < n; k++) {
                    double kp = a[k * n + p], kq = a[k * n + q];
                    a[k * n + p] = c * kp - s * kq;
                    a[k * n + q] = s * kp + c * kq;
                }
                for (int k = 0; k < n; k++) {
                    double pk = a[p * n + k], qk = a[q * n + k];
                    a[p * n + k] = c * pk - s * qk;
                    a[q * n + k] = s * pk + c * qk;
                }
                for (int k = 0; k < n; k++) {
                    double kp = vectors[k * n + p], kq = vectors[k * n + q];
                    vectors[k * n + p] = c * kp - s * kq;
                    vectors[k * n + q] = s * kp + c * kq;
                }
            }
    }

    for (int i = 0; i < n; i++) values[i] = a[i * n + i];
    free(a);
    for (int i = 0; i < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++)
            if (values[j] < values[least]) least = j;
        double value = values[i];
        values[i] = values[least];
        values[least] = value;
        for (int k = 0; k < n; k++) {
            double entry = vectors[k * n + i];
            vectors[k * n + i] = vectors[k * n + least];
            vectors[k * n + least] = entry;
        }
    }
}

/* Turns columns p and q of b (and of v with them) so that those of b become orthogonal; returns how far they were from
 * it, as a cosine. */
static double orthogonalise_columns(ref_vec b[3], ref_vec v[3], int p, int q)
{
    double app = ref_dot(b[p], b[p]), aqq = ref_dot(b[q], b[q]), apq = ref_dot(b[p], b[q]);
    double scale = sqrt(app * aqq);
    if (scale == 0.0 || apq == 0.0) return 0.0;
    double c, s;
    jacobi_rotation(app, apq, aqq, &c, &s);
    ref_vec bp = b[p], vp = v[p];
    b[p] = ref_add_scaled(ref_scale(c, bp), -s, b[q]);
    b[q] = ref_add_scaled(ref_scale(c, b[q]), s, bp);
    v[p] = ref_add_scaled(ref_scale(c, vp), -s, v[q]);
    v[q] = ref_add_scaled(ref_scale(c, v[q]), s, vp);
    return fabs(apq) / scale;
}

static ref_vec any_perpendicular(ref_vec a)
{
    ref_vec other = fabs(a.x) < 0.6 ? ref_v(1, 0, 0) : ref_v(0, 1, 0);
    return ref_normalise(ref_cross(a, other));
}

void ref_svd(ref_mat a, ref_mat *u, double s[3], ref_mat *v)
{
    ref_vec b[3], w[3];
    for (int k = 0; k < 3; k++) {
        b[k] = ref_column(a, k);
        w[k] = ref_column(ref_identity(), k);
    }
    for (int sweep = 0; sweep < 60; sweep++) {
        double worst = 0.0;
        worst = fmax(worst, orthogonalise_columns(b, w, 0, 1));
        worst = fmax(worst, orthogonalise_columns(b, w, 0, 2));
        worst = fmax(worst, orthogonalise_columns(b, w, 1, 2));
        if (worst < 1e-16) break;
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (ref_dot(b[j], b[j]) < ref_dot(b[j + 1], b[j + 1])) {
                ref_vec column = b[j];
                b[j] = b[j + 1];
                b[j + 1] = column;
                column = w[j];
                w[j] = w[j + 1];
                w[j + 1] = column;
            }
    if (ref_dot(w[0], ref_cross(w[1], w[2])) < 0.0) {
        w[2] = ref_scale(-1.0, w[2]);
        b[2] = ref_scale(-1.0, b[2]);
    }
    s[0] = ref_length(b[0]);
    s[1] = ref_length(b[1]);
    ref_vec u0 = s[0] > 0.0 ? ref_scale(1.0 / s[0], b[0]) : w[0];
    ref_vec u1;
    if (s[1] > 1e-13 * s[0] && s[1] > 0.0) {
        u1 = ref_scale(1.0 / s[1], b[1]);
    } else {
        u1 = s[0] > 0.0 ? any_perpendicular(u0) : w[1];
    }
    u1 = ref_normalise(ref_add_scaled(u1, -ref_dot(u0, u1), u0));
    ref_vec u2 = ref_cross(u0, u1);
    s[2] = ref_dot(u2, b[2]);
    *u = ref_from_columns(u0, u1, u2);
    *v = ref_from_columns(w[0], w[1], w[2]);
}

ref_mat ref_symmetric_function(ref_mat a, double floor, double (*f)(double))
{
    double values[3], vectors[9];
    ref_eigen_symmetric(3, &a.at[0][0], values, vectors);
    ref_mat result = {{{0}}};
    for (int k = 0; k < 3; k++) {
        if (values[k] <= floor * values[2] || values[k] <= 0.0) continue;
        ref_vec axis = ref_v(vectors[k], vectors[3 + k], vectors[6 + k]);
        result = ref_mat_add(result, ref_mat_scale(f(values[k]), ref_outer(axis, axis)));
    }
    return result;
}
