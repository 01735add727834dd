/*
 * The rotation nearest to a matrix, in lanes.
 *
 * R maximises trace(R^T A) over rotations (det R = +1), for every A: singular, mirrored or zero. Three pieces:
 *
 *   FOAM      F. L. Markley 1993, "Attitude determination using vector observations: a fast optimal matrix algorithm":
 *             Newton for lambda = s1 + s2 + s3 (s3 negative where det A is), then R in closed form. No branches.
 *   doubtful  where s2 + s3 is near 0 the nearest rotation is (nearly) ambiguous and the closed form divides by nearly 0.
 *             There R is the largest eigenvector of Horn's 4x4 matrix (B. K. P. Horn 1987), found by squaring it
 *             repeatedly and applying the result to the previous rotation: it needs no division, and among equally good
 *             rotations the one nearest to the previous comes out. Runs only when a lane needs it.
 *   polish    one Newton step on the rotation itself, measured in the region's own axes, where the small extents of a
 *             long or flat region keep their own relative precision (A = B diag(d) mixes them away).
 */
#ifndef LMI_POLAR_H
#define LMI_POLAR_H

#include "base/lanes.h"

/* Kept out of line so that the common path has the registers to itself. */
#define LMI_RARE __attribute__((noinline, unused))

typedef struct vmat3 {
    vf m[9]; /* row by row */
} vmat3;

/* How well the rotation is determined: (s1+s2)(s2+s3)(s3+s1) as a share of (s1+s2+s3)³, which is 8/27 at best. Below the
 * first the closed form is not to be used, below the second its rounding errors need the polish. */
#define LMI_POLAR_DOUBTFUL 2e-3f
#define LMI_POLAR_DELICATE 3e-2f

/* Squarings of Horn's matrix: separates eigenvalues that differ by a few parts in 2^LMI_POLAR_SQUARINGS. */
#define LMI_POLAR_SQUARINGS 18

/* Steps of Laguerre's iteration, and the share of lambda by which the last one may still have moved it. */
#define LMI_POLAR_ITERATIONS 4
#define LMI_POLAR_UNSETTLED 1e-3f

static inline vmat3 vmat_multiply(vmat3 a, vmat3 b)
{
    vmat3 c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c.m[3 * i + j] = a.m[3 * i] * b.m[j] + a.m[3 * i + 1] * b.m[3 + j] + a.m[3 * i + 2] * b.m[6 + j];
        }
    }
    return c;
}

/* a^T b */
static inline vmat3 vmat_multiply_transposed(vmat3 a, vmat3 b)
{
    vmat3 c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c.m[3 * i + j] = a.m[i] * b.m[j] + a.m[3 + i] * b.m[3 + j] + a.m[6 + i] * b.m[6 + j];
        }
    }
    return c;
}

static inline vmat3 vmat_cofactors(vmat3 a)
{
    vmat3 c = {{a.m[4] * a.m[8] - a.m[5] * a.m[7], a.m[5] * a.m[6] - a.m[3] * a.m[8], a.m[3] * a.m[7] - a.m[4] * a.m[6],
                a.m[2] * a.m[7] - a.m[1] * a.m[8], a.m[0] * a.m[8] - a.m[2] * a.m[6], a.m[1] * a.m[6] - a.m[0] * a.m[7],
                a.m[1] * a.m[5] - a.m[2] * a.m[4], a.m[2] * a.m[3] - a.m[0] * a.m[5],
                a.m[0] * a.m[4] - a.m[1] * a.m[3]}};
    return c;
}

static inline vf vmat_dot(vmat3 a, vmat3 b)
{
    vf rows[3];
    for (int i = 0; i < 3; i++) {
        rows[i] = a.m[3 * i] * b.m[3 * i] + a.m[3 * i + 1] * b.m[3 * i + 1] + a.m[3 * i + 2] * b.m[3 * i + 2];
    }
    return rows[0] + rows[1] + rows[2];
}

static inline vf vmat_determinant(vmat3 a, vmat3 cofactors)
{
    return a.m[0] * cofactors.m[0] + a.m[1] * cofactors.m[1] + a.m[2] * cofactors.m[2];
}

static inline vmat3 vmat_select(vm mask, vmat3 yes, vmat3 no)
{
    vmat3 c;
    for (int i = 0; i < 9; i++) {
        c.m[i] = vf_select(mask, yes.m[i], no.m[i]);
    }
    return c;
}

static inline vmat3 vmat_load(const float *p)
{
    vmat3 a;
    for (int i = 0; i < 9; i++) {
        a.m[i] = vf_load(p + i * LMI_BLOCK);
    }
    return a;
}

static inline void vmat_store(float *p, vmat3 a)
{
    for (int i = 0; i < 9; i++) {
        vf_store(p + i * LMI_BLOCK, a.m[i]);
    }
}

/* A scaled so that its largest element is 1 (a zero matrix stays zero). */
static inline vmat3 lmi_polar_normalise(vmat3 a)
{
    vf largest = vf_abs(a.m[0]);
    for (int i = 1; i < 9; i++) {
        largest = vf_max(largest, vf_abs(a.m[i]));
    }
    vf scale = vf_set1(1.0f) / vf_max(largest, vf_set1(1e-30f));
    for (int i = 0; i < 9; i++) {
        a.m[i] = a.m[i] * scale;
    }
    return a;
}

/* FOAM on a normalised matrix. Lanes marked *doubtful are not to be used; *delicate ones want the polish. */
static inline vmat3 lmi_polar_foam(vmat3 a, vm *doubtful, vm *delicate)
{
    const vf one = vf_set1(1.0f), four = vf_set1(4.0f), eight = vf_set1(8.0f);
    vmat3 cofactors = vmat_cofactors(a);
    vf det = vmat_determinant(a, cofactors);
    vf norm = vmat_dot(a, a), minors = vmat_dot(cofactors, cofactors);

    /* Laguerre's iteration for the largest root of (l² - norm)² - 8 l det - 4 minors. All four roots are real, so it comes
     * down from any bound above and converges cubically; the bound is exact for three equal singular values. */
    vf lambda = vf_sqrt(norm + vf_set1(3.4641016f) * vf_sqrt(minors));
    vf eight_det = eight * det, four_minors = four * minors, step = one;
    for (int n = 0; n < LMI_POLAR_ITERATIONS; n++) {
        vf square = lambda * lambda, u = square - norm;
        vf f = u * u - eight_det * lambda - four_minors;
        vf slope = four * lambda * u - eight_det;
        vf bend = eight * square + four * u;
        vf root = vf_sqrt(vf_max(vf_set1(9.0f) * slope * slope - vf_set1(12.0f) * f * bend, vf_set1(0.0f)));
        step = four * f / vf_max(slope + root, vf_set1(1e-20f));
        lambda = lambda - step;
    }
    vf kappa = vf_set1(0.5f) * (lambda * lambda - norm);
    vf zeta = kappa * lambda - det;
    vf cube = lambda * lambda * lambda;
    *doubtful = vm_not(vm_and(vf_lt(vf_set1(LMI_POLAR_DOUBTFUL) * cube, zeta),
                              vf_lt(vf_abs(step), vf_set1(LMI_POLAR_UNSETTLED) * lambda)));

    *delicate = vm_not(vf_lt(vf_set1(LMI_POLAR_DELICATE) * cube, zeta));

    vf inverse = one / vf_select(*doubtful, one, zeta);
    vf near = (kappa + norm) * inverse, far = lambda * inverse;
    vmat3 square; /* a^T a, symmetric */
    square.m[0] = a.m[0] * a.m[0] + a.m[3] * a.m[3] + a.m[6] * a.m[6];
    square.m[1] = a.m[0] * a.m[1] + a.m[3] * a.m[4] + a.m[6] * a.m[7];
    square.m[2] = a.m[0] * a.m[2] + a.m[3] * a.m[5] + a.m[6] * a.m[8];
    square.m[4] = a.m[1] * a.m[1] + a.m[4] * a.m[4] + a.m[7] * a.m[7];
    square.m[5] = a.m[1] * a.m[2] + a.m[4] * a.m[5] + a.m[7] * a.m[8];
    square.m[8] = a.m[2] * a.m[2] + a.m[5] * a.m[5] + a.m[8] * a.m[8];
    square.m[3] = square.m[1];
    square.m[6] = square.m[2];
    square.m[7] = square.m[5];
    /* (near I - inverse a^T a) on the right of a */
    for (int i = 0; i < 9; i++) {
        square.m[i] = i % 4 == 0 ? near - inverse * square.m[i] : vf_set1(0.0f) - inverse * square.m[i];
    }
    vmat3 r = vmat_multiply(a, square);
    for (int i = 0; i < 9; i++) {
        r.m[i] = r.m[i] + far * cofactors.m[i];
    }
    return r;
}

typedef struct vquat {
    vf w, x, y, z;
} vquat;

/* The quaternion of a rotation, from its largest component. Not of unit length. */
static inline vquat lmi_polar_quaternion(vmat3 r)
{
    const vf one = vf_set1(1.0f);
    vf xx = r.m[0], yy = r.m[4], zz = r.m[8];
    vf zy = r.m[7] - r.m[5], xz = r.m[2] - r.m[6], yx = r.m[3] - r.m[1];
    vf xy = r.m[1] + r.m[3], zx = r.m[2] + r.m[6], yz = r.m[5] + r.m[7];
    vf best = one + xx + yy + zz;
    vquat q = {best, zy, xz, yx};
    vf sx = one + xx - yy - zz, sy = one - xx + yy - zz, sz = one - xx - yy + zz;
    vm mx = vf_lt(best, sx);
    best = vf_select(mx, sx, best);
    q.w = vf_select(mx, zy, q.w), q.x = vf_select(mx, sx, q.x), q.y = vf_select(mx, xy, q.y);
    q.z = vf_select(mx, zx, q.z);
    vm my = vf_lt(best, sy);
    best = vf_select(my, sy, best);
    q.w = vf_select(my, xz, q.w), q.x = vf_select(my, xy, q.x), q.y = vf_select(my, sy, q.y);
    q.z = vf_select(my, yz, q.z);
    vm mz = vf_lt(best, sz);
    q.w = vf_select(mz, yx, q.w), q.x = vf_select(mz, zx, q.x), q.y = vf_select(mz, yz, q.y);
    q.z = vf_select(mz, sz, q.z);
    return q;
}

static inline vmat3 lmi_polar_matrix(vquat q)
{
    const vf one = vf_set1(1.0f);
    vf s = vf_set1(2.0f) / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    vf sx = s * q.x, sy = s * q.y, sz = s * q.z;
    vf xx = sx * q.x, yy = sy * q.y, zz = sz * q.z, xy = sx * q.y, yz = sy * q.z, zx = sz * q.x;
    vf wx = sx * q.w, wy = sy * q.w, wz = sz * q.w;
    vmat3 r = {{one - (yy + zz), xy - wz, zx + wy, xy + wz, one - (xx + zz), yz - wx, zx - wy, yz + wx,
                one - (xx + yy)}};
    return r;
}

/* Horn's matrix of a normalised A, made positive and raised to a high power: the projector on its largest eigenvector,
 * or on several where they are equal. Rows 0 to 3 of the upper triangle: 00 01 02 03 11 12 13 22 23 33. */
static inline void lmi_polar_projector(vmat3 a, vf k[10])
{
    vf xx = a.m[0], yy = a.m[4], zz = a.m[8];
    /* No eigenvalue is below -sqrt(3) |A|, and no element of A is above 1. */
    vf shift = vf_sqrt(vf_set1(3.0f) * vmat_dot(a, a)) + vf_set1(1e-6f);
    k[0] = shift + xx + yy + zz;
    k[1] = a.m[7] - a.m[5];
    k[2] = a.m[2] - a.m[6];
    k[3] = a.m[3] - a.m[1];
    k[4] = shift + xx - yy - zz;
    k[5] = a.m[1] + a.m[3];
    k[6] = a.m[2] + a.m[6];
    k[7] = shift - xx + yy - zz;
    k[8] = a.m[5] + a.m[7];
    k[9] = shift - xx - yy + zz;
    for (int n = 0; n < LMI_POLAR_SQUARINGS; n++) {
        if (n % 3 == 0) { /* the eighth power of a trace of 1 over four eigenvalues does not underflow */
            vf scale = vf_set1(1.0f) / (k[0] + k[4] + k[7] + k[9]);
            for (int i = 0; i < 10; i++) {
                k[i] = k[i] * scale;
            }
        }
        vf s[10];
        s[0] = k[0] * k[0] + k[1] * k[1] + k[2] * k[2] + k[3] * k[3];
        s[1] = k[0] * k[1] + k[1] * k[4] + k[2] * k[5] + k[3] * k[6];
        s[2] = k[0] * k[2] + k[1] * k[5] + k[2] * k[7] + k[3] * k[8];
        s[3] = k[0] * k[3] + k[1] * k[6] + k[2] * k[8] + k[3] * k[9];
        s[4] = k[1] * k[1] + k[4] * k[4] + k[5] * k[5] + k[6] * k[6];
        s[5] = k[1] * k[2] + k[4] * k[5] + k[5] * k[7] + k[6] * k[8];
        s[6] = k[1] * k[3] + k[4] * k[6] + k[5] * k[8] + k[6] * k[9];
        s[7] = k[2] * k[2] + k[5] * k[5] + k[7] * k[7] + k[8] * k[8];
        s[8] = k[2] * k[3] + k[5] * k[6] + k[7] * k[8] + k[8] * k[9];
        s[9] = k[3] * k[3] + k[6] * k[6] + k[8] * k[8] + k[9] * k[9];
        for (int i = 0; i < 10; i++) {
            k[i] = s[i];
        }
    }
}

/* The best rotation nearest to the previous one. */
static LMI_RARE vmat3 lmi_polar_doubtful(vmat3 a, vmat3 previous)
{
    vf k[10];
    lmi_polar_projector(a, k);
    vquat p = lmi_polar_quaternion(previous), q;
    vf length = vf_sqrt(p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z);
    vf trace = k[0] + k[4] + k[7] + k[9];
    q.w = k[0] * p.w + k[1] * p.x + k[2] * p.y + k[3] * p.z;
    q.x = k[1] * p.w + k[4] * p.x + k[5] * p.y + k[6] * p.z;
    q.y = k[2] * p.w + k[5] * p.x + k[7] * p.y + k[8] * p.z;
    q.z = k[3] * p.w + k[6] * p.x + k[8] * p.y + k[9] * p.z;

    /* The previous rotation may be orthogonal to all good ones: then any column of the projector does, the longest. */
    vf square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, bound = vf_set1(1e-3f) * length * trace;
    vm lost = vf_lt(square, bound * bound);
    vquat c = {k[0], k[1], k[2], k[3]};
    vf best = k[0];
    vm m = vf_lt(best, k[4]);
    best = vf_select(m, k[4], best);
    c.w = vf_select(m, k[1], c.w), c.x = vf_select(m, k[4], c.x), c.y = vf_select(m, k[5], c.y);
    c.z = vf_select(m, k[6], c.z);
    m = vf_lt(best, k[7]);
    best = vf_select(m, k[7], best);
    c.w = vf_select(m, k[2], c.w), c.x = vf_select(m, k[5], c.x), c.y = vf_select(m, k[7], c.y);
    c.z = vf_select(m, k[8], c.z);
    m = vf_lt(best, k[9]);
    c.w = vf_select(m, k[3], c.w), c.x = vf_select(m, k[6], c.x), c.y = vf_select(m, k[8], c.y);
    c.z = vf_select(m, k[9], c.z);
    q.w = vf_select(lost, c.w, q.w), q.x = vf_select(lost, c.x, q.x), q.y = vf_select(lost, c.y, q.y);
    q.z = vf_select(lost, c.z, q.z);
    return lmi_polar_matrix(q);
}

/* One Newton step for R towards the rotation nearest to B diag(d), and one Newton-Schulz step towards orthogonality.
 * Damped where the rotation is hardly determined, and at most about half a radian long. */
static LMI_RARE vmat3 lmi_polar_polish(vmat3 r, vmat3 b, const vf d[3])
{
    const vf half = vf_set1(0.5f), one = vf_set1(1.0f);
    /* Lengths scaled to 1 so that products of three of them stay in range. */
    vf longest = vf_max(vf_max(d[0], d[1]), vf_max(d[2], vf_set1(1e-30f)));
    vmat3 s = vmat_multiply_transposed(r, lmi_polar_normalise(b));
    for (int i = 0; i < 9; i++) {
        s.m[i] = s.m[i] * (d[i % 3] / longest);
    }
    vf tx = s.m[7] - s.m[5], ty = s.m[2] - s.m[6], tz = s.m[3] - s.m[1];
    vf xy = half * (s.m[1] + s.m[3]), yz = half * (s.m[5] + s.m[7]), zx = half * (s.m[2] + s.m[6]);
    /* (trace(S) I - S) w = t, with a little added to the diagonal so that a direction in which the rotation is not
     * determined, beyond rounding, stays put. */
    vf x = vf_abs(s.m[0]), y = vf_abs(s.m[4]), z = vf_abs(s.m[8]);
    vf little = vf_set1(3e-6f), least = vf_set1(1e-37f);
    vf xx = s.m[4] + s.m[8] + (little * (y + z) + least);
    vf yy = s.m[0] + s.m[8] + (little * (x + z) + least);
    vf zz = s.m[0] + s.m[4] + (little * (x + y) + least);
    vf cxx = yy * zz - yz * yz, cyy = xx * zz - zx * zx, czz = xx * yy - xy * xy;
    vf cxy = xy * zz + zx * yz, cyz = xx * yz + xy * zx, czx = xy * yz + yy * zx;
    vf det = xx * cxx - xy * cxy - zx * czx;
    vm sound = vf_lt(vf_set1(1e-37f), det);
    vf inverse = one / vf_select(sound, det, one);
    vf wx = (cxx * tx + cxy * ty + czx * tz) * inverse;
    vf wy = (cxy * tx + cyy * ty + cyz * tz) * inverse;
    vf wz = (czx * tx + cyz * ty + czz * tz) * inverse;
    vf length = vf_abs(wx) + vf_abs(wy) + vf_abs(wz);
    vf scale = half / vf_max(length, half);
    scale = vf_select(sound, scale, vf_set1(0.0f));
    wx = wx * scale, wy = wy * scale, wz = wz * scale;

    /* Cayley's rotation: I + s ([a] + [a]²) with a = w/2, s = 2/(1 + |a|²) */
    vf ax = half * wx, ay = half * wy, az = half * wz;
    vf by = vf_set1(2.0f) / (one + ax * ax + ay * ay + az * az);
    vf sx = by * ax, sy = by * ay, sz = by * az;
    vf hxx = sx * ax, hyy = sy * ay, hzz = sz * az, hxy = sx * ay, hyz = sy * az, hzx = sz * ax;
    vmat3 turn = {{one - (hyy + hzz), hxy - sz, hzx + sy, hxy + sz, one - (hxx + hzz), hyz - sx, hzx - sy, hyz + sx,
                   one - (hxx + hyy)}};
    r = vmat_multiply(r, turn);
    vmat3 error = vmat_multiply_transposed(r, r);
    for (int i = 0; i < 9; i++) {
        error.m[i] = i % 4 == 0 ? vf_set1(1.5f) - half * error.m[i] : vf_set1(0.0f) - half * error.m[i];
    }
    return vmat_multiply(r, error);
}

/* The rotation nearest to B diag(d). B is finite and of any size; d is not negative. */
static inline vmat3 lmi_polar(vmat3 b, const vf d[3], vmat3 previous)
{
    vmat3 a;
    for (int i = 0; i < 9; i++) {
        a.m[i] = b.m[i] * d[i % 3];
    }
    a = lmi_polar_normalise(a);
    vm doubtful, delicate;
    vmat3 r = lmi_polar_foam(a, &doubtful, &delicate);
    if (vm_any(doubtful)) {
        r = vmat_select(doubtful, lmi_polar_polish(lmi_polar_doubtful(a, previous), b, d), r);
        delicate = vm_or(delicate, doubtful);
    }
    if (vm_any(delicate)) {
        r = vmat_select(delicate, lmi_polar_polish(r, b, d), r);
    }
    return r;
}

#endif
