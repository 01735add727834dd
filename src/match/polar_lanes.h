/*
 * The rotation nearest to a matrix, by value and in lanes: the arithmetic of polar.c, which says what it is and where it is
 * from. Nothing here touches memory, so that the kernels of a device include it as it is (gpu/).
 */
#ifndef LMI_POLAR_LANES_H
#define LMI_POLAR_LANES_H

#include "base/vmat.h"

/* How well the rotation is determined: (s1+s2)(s2+s3)(s3+s1) as a share of (s1+s2+s3)³, which is 8/27 at best. Below the
 * first the closed form is not to be used, below the second its scale is off by more than one correction mends. */
#define DOUBTFUL 2e-3f
#define WEAK 6e-2f

/* Regions whose smallest extent is below this share of the largest want the polish. */
#define SLENDER 0.25f

/* Steps of Laguerre's iteration that every lane takes, and further ones for lanes whose last step changed zeta by more than
 * a share. */
#define ITERATIONS 3
#define FURTHER 5
#define UNSETTLED 0.05f

/* Squarings of Horn's matrix: separates eigenvalues that differ by a few parts in 2^SQUARINGS. */
#define SQUARINGS 20

/* A scaled so that its largest element is 1 (a zero matrix stays zero). */
static inline vmat3 normalise(vmat3 a)
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

/* Newton and Schulz's step towards the nearest orthogonal matrix: squares the error. */
static inline vmat3 orthogonalise(vmat3 r)
{
    const vf half = vf_set1(0.5f);
    vf xx = r.m[0] * r.m[0] + r.m[3] * r.m[3] + r.m[6] * r.m[6],
       xy = r.m[0] * r.m[1] + r.m[3] * r.m[4] + r.m[6] * r.m[7];
    vf yy = r.m[1] * r.m[1] + r.m[4] * r.m[4] + r.m[7] * r.m[7],
       yz = r.m[1] * r.m[2] + r.m[4] * r.m[5] + r.m[7] * r.m[8];
    vf zz = r.m[2] * r.m[2] + r.m[5] * r.m[5] + r.m[8] * r.m[8],
       zx = r.m[0] * r.m[2] + r.m[3] * r.m[5] + r.m[6] * r.m[8];
    xx = vf_set1(1.5f) - half * xx, yy = vf_set1(1.5f) - half * yy, zz = vf_set1(1.5f) - half * zz;
    xy = vf_set1(0.0f) - half * xy, yz = vf_set1(0.0f) - half * yz, zx = vf_set1(0.0f) - half * zx;
    vmat3 right = {{xx, xy, zx, xy, yy, yz, zx, yz, zz}};
    return vmat_multiply(r, right);
}

typedef struct vquat {
    vf w, x, y, z;
} vquat;

/* The quaternion of a rotation, from its largest component. Not of unit length. */
static inline vquat quaternion_of(vmat3 r)
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

static inline vmat3 rotation_of(vquat q)
{
    const vf one = vf_set1(1.0f);
    vf s = vf_set1(2.0f) / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    vf sx = s * q.x, sy = s * q.y, sz = s * q.z;
    vf xx = sx * q.x, yy = sy * q.y, zz = sz * q.z, xy = sx * q.y, yz = sy * q.z, zx = sz * q.x;
    vf wx = sx * q.w, wy = sy * q.w, wz = sz * q.w;
    vmat3 r = {
        {one - (yy + zz), xy - wz, zx + wy, xy + wz, one - (xx + zz), yz - wx, zx - wy, yz + wx, one - (xx + yy)}};
    return r;
}

/* Horn's matrix of a normalised A, made positive and raised to a high power: the projector on its largest eigenvector,
 * or on several where they are equal. Rows 0 to 3 of the upper triangle: 00 01 02 03 11 12 13 22 23 33. */
static inline void project(vmat3 a, vf k[10])
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
    for (int n = 0; n < SQUARINGS; n++) {
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
static vmat3 solve_doubtful(vmat3 a, vmat3 previous)
{
    vf k[10];
    project(a, k);
    vquat p = quaternion_of(previous), q;
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
    return rotation_of(q);
}

/* One Newton step for R towards the rotation nearest to B diag(d), and one Newton-Schulz step towards orthogonality.
 * Damped where the rotation is hardly determined, and at most half a radian long. */
static vmat3 polish(vmat3 r, vmat3 b, const vf d[3])
{
    const vf half = vf_set1(0.5f), one = vf_set1(1.0f);
    /* Lengths scaled to 1 so that products of three of them stay in range. */
    vf longest = vf_max(vf_max(d[0], d[1]), vf_max(d[2], vf_set1(1e-30f)));
    vmat3 s = vmat_multiply_transposed(r, normalise(b));
    for (int i = 0; i < 9; i++) {
        s.m[i] = s.m[i] * (d[i % 3] / longest);
    }
    vf tx = s.m[7] - s.m[5], ty = s.m[2] - s.m[6], tz = s.m[3] - s.m[1];
    vf xy = half * (s.m[1] + s.m[3]), yz = half * (s.m[5] + s.m[7]), zx = half * (s.m[2] + s.m[6]);
    /* (trace(S) I - S) w = t, with a little added to the diagonal so that a direction in which the rotation is not
     * determined, beyond rounding, stays put. */
    vf x = vf_abs(s.m[0]), y = vf_abs(s.m[4]), z = vf_abs(s.m[8]);
    vf little = vf_set1(1e-4f), least = vf_set1(1e-37f);
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
    return orthogonalise(r);
}

/* One step of Laguerre's iteration for the largest root of (l² - norm)² - 8 l det - 4 minors. */
static inline vf laguerre_step(vf lambda, vf norm, vf eight_det, vf four_minors)
{
    const vf four = vf_set1(4.0f), eight = vf_set1(8.0f);
    vf square = lambda * lambda, u = square - norm;
    vf f = u * u - eight_det * lambda - four_minors;
    vf slope = four * lambda * u - eight_det;
    vf bend = eight * square + four * u;
    vf root = vf_sqrt(vf_max(vf_set1(9.0f) * slope * slope - vf_set1(12.0f) * f * bend, vf_set1(0.0f)));
    /* The slope at the root is 8 zeta; the floor keeps rounding in f from throwing lambda off where that is doubtful. */
    return four * f / vf_max(slope + root, vf_set1(1e-3f) * square * lambda + vf_set1(1e-30f));
}

/* Lanes whose last step moved zeta = (s1+s2)(s2+s3)(s3+s1) by little. */
static inline vm is_settled(vf lambda, vf step, vf norm, vf det)
{
    vf square = lambda * lambda, zeta = vf_set1(0.5f) * (square - norm) * lambda - det;
    return vf_lt(vf_abs(step) * square, vf_set1(UNSETTLED) * zeta);
}

/* Lanes where rounding has thrown lambda over the root: 8 zeta is the slope of the quartic. That happens at a nearly double
 * root only, and further steps would run away to the other roots. Such a lane never settles, and so is doubtful. */
static inline vm is_beyond(vf lambda, vf norm, vf det)
{
    vf zeta = vf_set1(0.5f) * (lambda * lambda - norm) * lambda - det;
    return vm_not(vf_lt(vf_set1(0.0f), zeta));
}

/* All four roots are real, so the iteration comes down from any bound above and converges cubically to a simple root, but
 * slowly to a nearly double one. The bound is exact for three equal singular values. `last` gets the last change. */
static inline vf foam_lambda(vf norm, vf minors, vf det, vf *last)
{
    vf step = norm, eight_det = vf_set1(8.0f) * det, four_minors = vf_set1(4.0f) * minors;
    vf lambda = vf_sqrt(norm + vf_set1(3.4641016f) * vf_sqrt(minors));
    for (int k = 0; k < ITERATIONS; k++) {
        step = laguerre_step(lambda, norm, eight_det, four_minors);
        lambda = lambda - step;
    }
    vm done = vm_or(is_settled(lambda, step, norm, det), is_beyond(lambda, norm, det));
    for (int k = 0; k < FURTHER && vm_any(vm_not(done)); k++) {
        step = vf_select(done, step, laguerre_step(lambda, norm, eight_det, four_minors));
        lambda = vf_select(done, lambda, lambda - step);
        done = vm_or(done, vm_or(is_settled(lambda, step, norm, det), is_beyond(lambda, norm, det)));
    }
    *last = step;
    return lambda;
}

/* R = [(kappa + |A|²) A + lambda cof A - A A^T A] / zeta in the lanes where that is sound. Rounding in lambda changes the
 * lengths of R's axes, not their directions, so that a step or two towards orthogonality mends it. */
static inline vmat3 foam_rotation(vmat3 m, vf lambda, vf step, vf norm, vf det, vm *is_sound)
{
    const vf one = vf_set1(1.0f), zero = vf_set1(0.0f);
    vmat3 cofactors = vmat_cofactors(m);
    vf square = lambda * lambda, cube = square * lambda;
    vf kappa = vf_set1(0.5f) * (square - norm), zeta = kappa * lambda - det;
    vm sound = vm_and(vf_lt(vf_set1(DOUBTFUL) * cube, zeta), is_settled(lambda, step, norm, det));
    vm weak = vm_not(vf_lt(vf_set1(WEAK) * cube, zeta));
    vf inverse = one / vf_select(sound, zeta, one);
    vf near = (kappa + norm) * inverse, far = lambda * inverse;
    vmat3 s = vmat_multiply_transposed(m, m); /* near I - A^T A / zeta goes on the right of A */
    for (int i = 0; i < 9; i++) {
        s.m[i] = i % 4 == 0 ? near - inverse * s.m[i] : zero - inverse * s.m[i];
    }
    vmat3 r = vmat_multiply(m, s);
    for (int i = 0; i < 9; i++) {
        r.m[i] = r.m[i] + far * cofactors.m[i];
    }
    r = orthogonalise(r);
    if (vm_any(weak)) {
        r = vmat_select(weak, orthogonalise(r), r);
    }
    *is_sound = sound;
    return r;
}

#endif
