#include "base/vec.h"
#include "base/dmath.h"

dmat3 lmi_dmat_multiply(const dmat3 *a, const dmat3 *b)
{
    dmat3 c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
        }
    }
    return c;
}

dmat3 lmi_dmat_from_quat(lm_quat q)
{
    double x = q.x, y = q.y, z = q.z, w = q.w;
    double s = 2.0 / (x * x + y * y + z * z + w * w);
    dmat3 r = {{{1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                {s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)},
                {s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)}}};
    return r;
}

lm_quat lmi_quat_from_dmat(const dmat3 *r)
{
    /* Start from the largest component so that the division is safe. */
    double xx = r->m[0][0], yy = r->m[1][1], zz = r->m[2][2], q[4];
    int largest = 3;
    double best = xx + yy + zz;
    for (int k = 0; k < 3; k++) {
        if (r->m[k][k] > best) {
            best = r->m[k][k];
            largest = k;
        }
    }
    if (largest == 3) {
        q[3] = 0.5 * sqrt(1.0 + xx + yy + zz);
        q[0] = (r->m[2][1] - r->m[1][2]) / (4.0 * q[3]);
        q[1] = (r->m[0][2] - r->m[2][0]) / (4.0 * q[3]);
        q[2] = (r->m[1][0] - r->m[0][1]) / (4.0 * q[3]);
    } else {
        int i = largest, j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 0.5 * sqrt(1.0 + r->m[i][i] - r->m[j][j] - r->m[k][k]);
        q[j] = (r->m[i][j] + r->m[j][i]) / (4.0 * q[i]);
        q[k] = (r->m[i][k] + r->m[k][i]) / (4.0 * q[i]);
        q[3] = (r->m[k][j] - r->m[j][k]) / (4.0 * q[i]);
    }
    lm_quat out = {(float)q[0], (float)q[1], (float)q[2], (float)q[3]};
    return out;
}

dmat3 lmi_dmat_from_rotation_vector(lm_dvec3 w)
{
    double angle = dvec_length(w);
    double s = angle > 1e-9 ? lmi_sin(angle) / angle : 1.0;
    double half = angle > 1e-9 ? lmi_sin(0.5 * angle) / angle : 0.5;
    double c = 2.0 * half * half; /* (1 - cos) / angle² */
    dmat3 r = {{{1.0 - c * (w.y * w.y + w.z * w.z), c * w.x * w.y - s * w.z, c * w.x * w.z + s * w.y},
                {c * w.x * w.y + s * w.z, 1.0 - c * (w.x * w.x + w.z * w.z), c * w.y * w.z - s * w.x},
                {c * w.x * w.z - s * w.y, c * w.y * w.z + s * w.x, 1.0 - c * (w.x * w.x + w.y * w.y)}}};
    return r;
}

lm_dvec3 lmi_dmat_solve_spin(const double inertia[6], lm_dvec3 momentum)
{
    double xx = inertia[0], yy = inertia[1], zz = inertia[2], xy = inertia[3], yz = inertia[4], zx = inertia[5];
    double trace = xx + yy + zz;
    if (!(trace > 0.0)) {
        return dvec(0.0, 0.0, 0.0);
    }
    double cxx = yy * zz - yz * yz, cyy = xx * zz - zx * zx, czz = xx * yy - xy * xy;
    double cxy = zx * yz - xy * zz, cyz = xy * zx - yz * xx, czx = xy * yz - zx * yy;
    double determinant = xx * cxx + xy * cxy + zx * czx;
    /* The smallest moment is about determinant / (trace/2)². A straight line's is zero but for the rounding of
     * single-precision sums: adding a little to all three keeps the other two directions exact to 1e-6. */
    if (determinant < 1e-7 * trace * trace * trace) {
        double little = 1e-6 * trace;
        xx += little;
        yy += little;
        zz += little;
        cxx = yy * zz - yz * yz, cyy = xx * zz - zx * zx, czz = xx * yy - xy * xy;
        cxy = zx * yz - xy * zz, cyz = xy * zx - yz * xx, czx = xy * yz - zx * yy;
        determinant = xx * cxx + xy * cxy + zx * czx;
    }
    return dvec((cxx * momentum.x + cxy * momentum.y + czx * momentum.z) / determinant,
                (cxy * momentum.x + cyy * momentum.y + cyz * momentum.z) / determinant,
                (czx * momentum.x + cyz * momentum.y + czz * momentum.z) / determinant);
}

/* Zeroes a[p][q] by a rotation in the plane of p and q, and carries the rotation into v. */
static inline void jacobi_rotate(int n, double *a, double *v, int p, int q)
{
    double off = a[p * n + q];
    if (off == 0.0) {
        return;
    }
    double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
    double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < n; k++) {
        double akp = a[k * n + p], akq = a[k * n + q];
        a[k * n + p] = c * akp - s * akq;
        a[k * n + q] = s * akp + c * akq;
    }
    for (int k = 0; k < n; k++) {
        double apk = a[p * n + k], aqk = a[q * n + k];
        a[p * n + k] = c * apk - s * aqk;
        a[q * n + k] = s * apk + c * aqk;
        double vkp = v[k * n + p], vkq = v[k * n + q];
        v[k * n + p] = c * vkp - s * vkq;
        v[k * n + q] = s * vkp + c * vkq;
    }
    a[p * n + q] = a[q * n + p] = 0.0;
}

static inline void symmetric_eigen(const int n, double *a, double *values, double *v)
{
    for (int i = 0; i < n * n; i++) {
        v[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    }
    for (int sweep = 0; sweep < 32; sweep++) {
        double off = 0.0, all = 0.0;
        for (int p = 0; p < n; p++) {
            for (int q = 0; q < n; q++) {
                all += a[p * n + q] * a[p * n + q];
                off += p == q ? 0.0 : a[p * n + q] * a[p * n + q];
            }
        }
        if (off <= 1e-32 * all) {
            break;
        }
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                jacobi_rotate(n, a, v, p, q);
            }
        }
    }
    for (int i = 0; i < n; i++) {
        values[i] = a[i * n + i];
    }
    for (int i = 0; i < n; i++) { /* selection sort, columns along */
        int largest = i;
        for (int j = i + 1; j < n; j++) {
            largest = values[j] > values[largest] ? j : largest;
        }
        double swap = values[i];
        values[i] = values[largest];
        values[largest] = swap;
        for (int k = 0; k < n && largest != i; k++) {
            swap = v[k * n + i];
            v[k * n + i] = v[k * n + largest];
            v[k * n + largest] = swap;
        }
    }
}

void lmi_symmetric_eigen(int n, double *a, double *values, double *v)
{
    if (n == 3) { /* most are: compiled for it, with the same arithmetic */
        symmetric_eigen(3, a, values, v);
    } else {
        symmetric_eigen(n, a, values, v);
    }
}

bool lmi_pose_is_sound(lm_pose pose)
{
    lm_quat q = pose.rotation;
    lm_dvec3 p = pose.position;
    double length = (double)q.x * q.x + (double)q.y * q.y + (double)q.z * q.z + (double)q.w * q.w;
    return fabs(p.x) <= LM_MAX_POSITION && fabs(p.y) <= LM_MAX_POSITION && fabs(p.z) <= LM_MAX_POSITION &&
           length > 1e-12 && length < 1e12;
}

void lmi_matrix_divide(double b[3][3], double q[3][3], double a[3][3])
{
    double cofactor[3][3], det = 0.0;
    for (int i = 0; i < 9; i++) {
        int r = i / 3, c = i % 3, r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        cofactor[r][c] = q[r1][c1] * q[r2][c2] - q[r1][c2] * q[r2][c1];
    }
    for (int k = 0; k < 3; k++) {
        det += q[0][k] * cofactor[0][k];
    }
    for (int i = 0; i < 9; i++) {
        const double *row = b[i / 3], *column = cofactor[i % 3];
        a[i / 3][i % 3] = (row[0] * column[0] + row[1] * column[1] + row[2] * column[2]) / det;
    }
}
