/*
 * The matrix of a given volume nearest to a matrix, in lanes.
 *
 * For B = U diag(s) V^T (s3 negative where det B is) and a volume w > 0 it is U diag(s') V^T with s'_i (s'_i - s_i) = nu,
 * the same nu for all three, and s'_1 s'_2 s'_3 = w. Where B has too little volume nu is positive and
 * s'_i = (s_i + sqrt(s_i² + 4 nu)) / 2. Where it has too much, nu is negative, and the smallest one may take the other
 * root: a body blown up beyond about twice its size is nearer to a flat shape of the right volume than to its own.
 *
 * It is the nearest one for every B, so that the goal it makes comes from a potential (the square of the distance): no
 * state, however mangled, can gain energy from it. (Fading it out for large deformations gains energy without bound.)
 */
#ifndef LMI_VOLUME_H
#define LMI_VOLUME_H

#include "base/vmat.h"

/* Sweeps of Jacobi rotations for the singular values, and steps of Newton's method for nu: a lane stops when its volume is right to
 * LMI_VOLUME_ENOUGH, which near the rest shape takes three or four. */
#define LMI_VOLUME_SWEEPS 4
#define LMI_VOLUME_STEPS 30
#define LMI_VOLUME_ENOUGH 3e-7f

/* Below this volume the nearest shape is never a flattened one. */
#define LMI_VOLUME_FLAT 2.0f

/* Makes columns p and q of w orthogonal by a rotation of both, carried into v. Working on the columns, not on their products
 * w^T w, keeps the small singular values of a long or flat shape as precise as the large ones. */
static inline void lmi_jacobi_rotate(vmat3 *w, vmat3 *v, int p, int q)
{
    const vf one = vf_set1(1.0f), zero = vf_set1(0.0f);
    vf pp = w->m[p] * w->m[p] + w->m[3 + p] * w->m[3 + p] + w->m[6 + p] * w->m[6 + p];
    vf qq = w->m[q] * w->m[q] + w->m[3 + q] * w->m[3 + q] + w->m[6 + q] * w->m[6 + q];
    vf pq = w->m[p] * w->m[q] + w->m[3 + p] * w->m[3 + q] + w->m[6 + p] * w->m[6 + q];
    vf d = qq - pp, twice = pq + pq;
    vf bottom = vf_abs(d) + vf_sqrt(d * d + twice * twice);
    vm any = vf_lt(vf_set1(1e-30f), bottom);
    vf t = vf_select(any, twice / vf_select(any, bottom, one), zero);
    t = vf_select(vf_lt(d, zero), zero - t, t);
    vf c = one / vf_sqrt(one + t * t), s = t * c;
    for (int i = 0; i < 9; i += 3) {
        vf x = w->m[i + p], y = w->m[i + q];
        w->m[i + p] = c * x - s * y;
        w->m[i + q] = s * x + c * y;
        x = v->m[i + p], y = v->m[i + q];
        v->m[i + p] = c * x - s * y;
        v->m[i + q] = s * x + c * y;
    }
}

/* Puts the longer of two columns first, with those of v; one of each is turned round so that v stays a rotation. */
static inline void lmi_sort_pair(vmat3 *w, vmat3 *v, int p, int q)
{
    vf pp = w->m[p] * w->m[p] + w->m[3 + p] * w->m[3 + p] + w->m[6 + p] * w->m[6 + p];
    vf qq = w->m[q] * w->m[q] + w->m[3 + q] * w->m[3 + q] + w->m[6 + q] * w->m[6 + q];
    vm swap = vf_lt(pp, qq);
    for (int i = 0; i < 9; i += 3) {
        vf x = w->m[i + p], y = w->m[i + q];
        w->m[i + p] = vf_select(swap, y, x);
        w->m[i + q] = vf_select(swap, vf_set1(0.0f) - x, y);
        x = v->m[i + p], y = v->m[i + q];
        v->m[i + p] = vf_select(swap, y, x);
        v->m[i + q] = vf_select(swap, vf_set1(0.0f) - x, y);
    }
}

/* V, and B V = U diag(s) with orthogonal columns, the longest first. */
static inline vmat3 lmi_right_axes(vmat3 *w)
{
    const vf one = vf_set1(1.0f), zero = vf_set1(0.0f);
    vmat3 v = {{one, zero, zero, zero, one, zero, zero, zero, one}};
    for (int n = 0; n < LMI_VOLUME_SWEEPS; n++) {
        lmi_jacobi_rotate(w, &v, 0, 1);
        lmi_jacobi_rotate(w, &v, 1, 2);
        lmi_jacobi_rotate(w, &v, 0, 2);
    }
    lmi_sort_pair(w, &v, 0, 1);
    lmi_sort_pair(w, &v, 1, 2);
    lmi_sort_pair(w, &v, 0, 1);
    return v;
}

typedef struct vvec3 {
    vf x, y, z;
} vvec3;

static inline vvec3 vmat_column(vmat3 m, int j)
{
    vvec3 v = {m.m[j], m.m[3 + j], m.m[6 + j]};
    return v;
}

static inline vvec3 vmat_times(vmat3 m, vvec3 v)
{
    vvec3 out = {m.m[0] * v.x + m.m[1] * v.y + m.m[2] * v.z, m.m[3] * v.x + m.m[4] * v.y + m.m[5] * v.z,
                 m.m[6] * v.x + m.m[7] * v.y + m.m[8] * v.z};
    return out;
}

static inline vf vvec_dot(vvec3 a, vvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline vvec3 vvec_minus(vvec3 a, vvec3 b, vf times)
{
    vvec3 out = {a.x - b.x * times, a.y - b.y * times, a.z - b.z * times};
    return out;
}

/* a normalised, or the fallback where it is shorter than `least`. Neither is zero. */
static inline vvec3 vvec_unit(vvec3 a, vvec3 fallback, vf least)
{
    vm use = vf_lt(least * least, vvec_dot(a, a));
    vvec3 v = {vf_select(use, a.x, fallback.x), vf_select(use, a.y, fallback.y), vf_select(use, a.z, fallback.z)};
    vf inverse = vf_set1(1.0f) / vf_sqrt(vf_max(vvec_dot(v, v), vf_set1(1e-30f)));
    vvec3 out = {v.x * inverse, v.y * inverse, v.z * inverse};
    return out;
}

/* s' for a given nu >= -s²/4, the larger root. */
static inline vf lmi_larger_root(vf s, vf nu, vf *slope)
{
    vf root = vf_sqrt(vf_max(s * s + vf_set1(4.0f) * nu, vf_set1(1e-12f)));
    /* Without cancellation where s is negative. */
    vf direct = vf_set1(0.5f) * (s + root);
    vf indirect = vf_set1(2.0f) * nu / vf_max(root - s, vf_set1(1e-12f));
    vf value = vf_select(vf_lt(s, vf_set1(0.0f)), indirect, direct);
    *slope = vf_set1(1.0f) / root;
    return vf_max(value, vf_set1(1e-12f));
}

/* log(product), nearly, for Newton's method; exact where it matters. */
static inline vf lmi_volume_error(vf product)
{
    const vf one = vf_set1(1.0f);
    return vf_set1(2.0f) * (product - one) / (product + one);
}

/* Too little volume: the nu >= 0 at which the product of the three larger roots is 1. Lanes not in `asked` are left. */
static inline void lmi_expand(const vf s[3], vm asked, vf out[3])
{
    vf nu = vf_set1(1.0f);
    for (int n = 0; n < LMI_VOLUME_STEPS && vm_any(asked); n++) {
        vf slope[3], product = vf_set1(1.0f), rate = vf_set1(0.0f);
        for (int i = 0; i < 3; i++) {
            vf root = lmi_larger_root(s[i], nu, &slope[i]);
            out[i] = vf_select(asked, root, out[i]);
            product = product * root;
            rate = rate + slope[i] / root;
        }
        vf error = lmi_volume_error(product);
        nu = vf_max(nu - error / rate, nu * vf_set1(0.05f));
        asked = vm_and(asked, vf_lt(vf_set1(LMI_VOLUME_ENOUGH), vf_abs(error)));
    }
}

/* Too much volume: t = s'_3 at which the product is 1. From s3 down to s3/2 the product falls and all three are larger roots;
 * below that s'_3 is the smaller root, and the first solution from 0 upwards is the `flat` one. */
static inline void lmi_shrink(const vf s[3], vm asked, bool flat, vf out[3])
{
    const vf one = vf_set1(1.0f);
    vf middle = vf_set1(0.5f) * s[2], low = flat ? vf_set1(0.0f) : middle, high = flat ? middle : s[2];
    vf t = flat ? vf_min(one / vf_max(s[0] * s[1], vf_set1(1e-12f)), middle) : s[2];
    for (int n = 0; n < LMI_VOLUME_STEPS && vm_any(asked); n++) {
        vf slope0, slope1, nu = t * (t - s[2]);
        vf first = lmi_larger_root(s[0], nu, &slope0), second = lmi_larger_root(s[1], nu, &slope1);
        out[0] = vf_select(asked, first, out[0]);
        out[1] = vf_select(asked, second, out[1]);
        out[2] = vf_select(asked, t, out[2]);
        vf error = lmi_volume_error(first * second * t);
        vf rate = one / vf_max(t, vf_set1(1e-12f)) + (slope0 / first + slope1 / second) * (t + t - s[2]);
        vm above = vf_lt(vf_set1(0.0f), error);
        high = vf_select(above, t, high);
        low = vf_select(above, low, t);
        /* Newton where it stays between the bounds, else halve. */
        vf next = t - error / rate;
        vm inside = vm_and(vf_lt(low, next), vf_lt(next, high));
        t = vf_select(inside, next, vf_set1(0.5f) * (low + high));
        asked = vm_and(asked, vf_lt(vf_set1(LMI_VOLUME_ENOUGH), vf_abs(error)));
    }
}

static inline vf lmi_distance(const vf s[3], const vf out[3])
{
    vf a = out[0] - s[0], b = out[1] - s[1], c = out[2] - s[2];
    /* A solution that missed the volume does not count. */
    vf off = vf_abs(out[0] * out[1] * out[2] - vf_set1(1.0f));
    return a * a + b * b + c * c + vf_select(vf_lt(vf_set1(1e-2f), off), vf_set1(1e9f), vf_set1(0.0f));
}

/* b + U diag(s' - s) V^T, for the volume of a cube with the edge 1 / inverse_edge. `rotation` chooses U where b does not
 * determine it. */
static inline vmat3 lmi_nearest_of_volume(vmat3 b, vf inverse_edge, vmat3 rotation)
{
    for (int i = 0; i < 9; i++) {
        b.m[i] = b.m[i] * inverse_edge;
    }
    vmat3 w = b, v = lmi_right_axes(&w);
    vvec3 axis[3], image[3], u[3];
    for (int j = 0; j < 3; j++) {
        axis[j] = vmat_column(v, j);
        image[j] = vmat_column(w, j);
    }
    const vf tiny = vf_set1(1e-4f);
    u[0] = vvec_unit(image[0], vmat_times(rotation, axis[0]), tiny);
    vvec3 across = vvec_minus(image[1], u[0], vvec_dot(image[1], u[0]));
    vvec3 instead = vmat_times(rotation, axis[1]);
    instead = vvec_minus(instead, u[0], vvec_dot(instead, u[0]));
    u[1] = vvec_unit(across, instead, tiny);
    vvec3 third = {u[0].y * u[1].z - u[0].z * u[1].y, u[0].z * u[1].x - u[0].x * u[1].z,
                   u[0].x * u[1].y - u[0].y * u[1].x};
    u[2] = third;
    vf s[3] = {vvec_dot(u[0], image[0]), vvec_dot(u[1], image[1]), vvec_dot(u[2], image[2])};

    vf to[3] = {s[0], s[1], s[2]}, flat[3] = {s[0], s[1], s[2]}, volume = s[0] * s[1] * s[2];
    vm has_less = vf_lt(volume, vf_set1(1.0f)), has_much = vf_lt(vf_set1(LMI_VOLUME_FLAT), volume);
    lmi_expand(s, has_less, to);
    lmi_shrink(s, vm_not(has_less), false, to);
    lmi_shrink(s, has_much, true, flat);
    vm is_flat = vm_and(has_much, vf_lt(lmi_distance(s, flat), lmi_distance(s, to)));
    vf edge = vf_set1(1.0f) / inverse_edge;
    for (int j = 0; j < 3; j++) {
        vf change = vf_select(is_flat, flat[j], to[j]) - s[j];
        for (int i = 0; i < 3; i++) {
            vf ui = i == 0 ? u[j].x : i == 1 ? u[j].y : u[j].z;
            b.m[3 * i] = b.m[3 * i] + change * ui * axis[j].x;
            b.m[3 * i + 1] = b.m[3 * i + 1] + change * ui * axis[j].y;
            b.m[3 * i + 2] = b.m[3 * i + 2] + change * ui * axis[j].z;
        }
    }
    for (int i = 0; i < 9; i++) {
        b.m[i] = b.m[i] * edge;
    }
    return b;
}

/* How a linear region follows its fit: `beta` of B', and `beyond` its goal (world/elastic.h; 0 but in physical units). */
typedef struct lmi_follow {
    vf beta, beyond;
} lmi_follow;

/* The goal of a linear region: T = beta B' + (1-beta) R diag(d), and T + beyond (T - B) where that is above 0. A region without
 * volume (flat, straight) has none to keep; one blown up beyond what single precision can square goes back as a rigid one. */
static inline vmat3 lmi_linear_goal(vmat3 b, vmat3 rotation, vmat3 rigid, vf inverse_edge, lmi_follow follow)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    vm solid = vf_lt(zero, inverse_edge);
    vmat3 kept = lmi_nearest_of_volume(b, vf_select(solid, inverse_edge, one), rotation), out;
    vf size = vf_abs(kept.m[0]);
    for (int i = 1; i < 9; i++) {
        size = size + vf_abs(kept.m[i]);
    }
    kept = vmat_select(solid, vmat_select(vf_lt(size, vf_set1(1e30f)), kept, rigid), b);
    for (int i = 0; i < 9; i++) {
        out.m[i] = follow.beta * kept.m[i] + (one - follow.beta) * rigid.m[i];
        out.m[i] = vf_select(vf_lt(zero, follow.beyond), out.m[i] + follow.beyond * (out.m[i] - b.m[i]), out.m[i]);
    }
    return out;
}

#endif
