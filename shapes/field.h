/*
 * Modelling with signed distances: a model is a function of a point that is negative inside, positive outside, and grows
 * by about one unit for each unit of length. Solids are joined, cut and blended by combining such functions.
 *
 * Spheres, capsules, round cones, boxes and tori are exact; ellipsoids and everything blended have the right zero and a
 * slope near 1 there, which is what extraction needs (surface.c). Rotations come as cosine and sine, best from a
 * Pythagorean triple, so that no function is called for them.
 *
 * The blend is the quadratic one: where two distances differ by less than `width`, up to a quarter of it is added to the
 * solid, with a continuous slope. The result has the same bits on every machine: + - * / and sqrt only.
 */
#ifndef LIMBER_SHAPES_FIELD_H
#define LIMBER_SHAPES_FIELD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct field_point {
    double x, y, z;
} field_point;

static inline field_point field_at(double x, double y, double z) { return (field_point){x, y, z}; }

static inline field_point field_less(field_point a, field_point b)
{
    return (field_point){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline double field_dot(field_point a, field_point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline double field_length(field_point a) { return sqrt(field_dot(a, a)); }

static inline double field_smaller(double a, double b) { return a < b ? a : b; }

static inline double field_larger(double a, double b) { return a > b ? a : b; }

static inline double field_clamp(double a) { return a < 0.0 ? 0.0 : a > 1.0 ? 1.0 : a; }

/* ------------------------------------------------------------------------------------------------------------------
 * Where the point is
 */

/* Both sides at once: what is modelled at positive x is there at negative x too. */
static inline field_point field_mirror_x(field_point p) { return (field_point){p.x < 0.0 ? -p.x : p.x, p.y, p.z}; }

/* The point as seen from a frame at `at`, turned about an axis by the angle with this cosine and sine (from y to z, from z
 * to x, from x to y). */
static inline field_point field_turned_x(field_point p, field_point at, double cosine, double sine)
{
    field_point q = field_less(p, at);
    return (field_point){q.x, cosine * q.y + sine * q.z, cosine * q.z - sine * q.y};
}

static inline field_point field_turned_y(field_point p, field_point at, double cosine, double sine)
{
    field_point q = field_less(p, at);
    return (field_point){cosine * q.x - sine * q.z, q.y, cosine * q.z + sine * q.x};
}

static inline field_point field_turned_z(field_point p, field_point at, double cosine, double sine)
{
    field_point q = field_less(p, at);
    return (field_point){cosine * q.x + sine * q.y, cosine * q.y - sine * q.x, q.z};
}

/* The direction (x, z) as a share of a turn from +z towards +x, -0.5 to 0.5: continuous but at the seam along -z, and right
 * within a thousandth. */
static inline double field_turn(double x, double z)
{
    double across = fabs(x), ahead = fabs(z);
    double ratio = across < ahead ? across / ahead : across > 0.0 ? ahead / across : 0.0;
    double turn = ratio * (0.168 - 0.043 * ratio); /* arc tangent, an eighth of a turn at 1 */
    if (across >= ahead) turn = 0.25 - turn;
    if (z < 0.0) turn = 0.5 - turn;
    return x < 0.0 ? -turn : turn;
}

/* How far t is above the whole number below it. */
static inline double field_fraction(double t)
{
    double rest = t - (double)(int64_t)t;
    return rest < 0.0 ? rest + 1.0 : rest;
}

/* From 0 up to 1, down to -1 and back to 0 as t grows by 1: two parabolas, with a continuous slope of 8 at most. */
static inline double field_wave(double t)
{
    double u = 2.0 * field_fraction(t) - 1.0;
    return -4.0 * u * (1.0 - fabs(u));
}

/* From 0 where `a` is at `from` to 1 where it is at `to`, level at both ends; `from` may be the larger. */
static inline double field_ramp(double a, double from, double to)
{
    double share = field_clamp((a - from) / (to - from));
    return share * share * (3.0 - 2.0 * share);
}

/* Whether the point is within a distance of `centre`: a cheap look at a ball around a part, which need not be looked at
 * closer where something else is nearer by more than the width of their blend. */
static inline bool field_near(field_point p, field_point centre, double distance)
{
    field_point q = field_less(p, centre);
    return distance > 0.0 && field_dot(q, q) < distance * distance;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Solids
 */

static inline double field_sphere(field_point p, field_point centre, double radius)
{
    return field_length(field_less(p, centre)) - radius;
}

/* About the origin: combine with field_less or a turned frame. */
static inline double field_ellipsoid(field_point p, double a, double b, double c)
{
    field_point u = {p.x / a, p.y / b, p.z / c};
    field_point v = {u.x / a, u.y / b, u.z / c};
    double steep = field_length(v);
    if (!(steep > 1e-12)) return -field_smaller(a, field_smaller(b, c));
    double scaled = field_length(u);
    return scaled * (scaled - 1.0) / steep;
}

/* Between an ellipsoid and the box around it: half axes as in an ellipsoid, fourth powers in place of squares. About the
 * origin. */
static inline double field_pillow(field_point p, double a, double b, double c)
{
    field_point u = {p.x / a, p.y / b, p.z / c};
    field_point cube = {u.x * u.x * u.x, u.y * u.y * u.y, u.z * u.z * u.z};
    double steep = field_length(field_at(cube.x / a, cube.y / b, cube.z / c));
    double deepest = -field_smaller(a, field_smaller(b, c));
    if (!(steep > 1e-12)) return deepest;
    double fourth = field_dot(u, cube), scaled = sqrt(sqrt(fourth));
    return field_larger((scaled - 1.0) * fourth / (scaled * steep), deepest);
}

/* How far along from `a` to `b` the nearest point of the segment is, 0 to 1. */
static inline double field_along(field_point p, field_point a, field_point b)
{
    field_point axis = field_less(b, a);
    return field_clamp(field_dot(field_less(p, a), axis) / field_dot(axis, axis));
}

static inline double field_capsule(field_point p, field_point a, field_point b, double radius)
{
    double t = field_along(p, a, b);
    field_point near = {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
    return field_length(field_less(p, near)) - radius;
}

/* Two spheres and the cone that touches both; `radius_a` at least `radius_b`. One that swallows the other is all there is. */
static inline double field_round_cone(field_point p, field_point a, field_point b, double radius_a, double radius_b)
{
    field_point axis = field_less(b, a), q = field_less(p, a);
    double length = field_length(axis), slope = (radius_a - radius_b) / length;
    if (slope >= 1.0) return field_length(q) - radius_a;
    double along = field_dot(q, axis) / length;
    double away = field_dot(q, q) - along * along;
    away = away > 0.0 ? sqrt(away) : 0.0;
    double flank = sqrt(1.0 - slope * slope); /* cosine of half the opening angle */
    double level = along * flank - away * slope;
    if (level < 0.0) return field_length(q) - radius_a;
    if (level > length * flank) return field_length(field_less(p, b)) - radius_b;
    return away * flank + along * slope - radius_a;
}

/* With edges rounded by `round`, which counts as part of the half extents. */
static inline double field_box(field_point p, double a, double b, double c, double round)
{
    field_point q = {fabs(p.x) - a + round, fabs(p.y) - b + round, fabs(p.z) - c + round};
    double inside = field_smaller(field_larger(q.x, field_larger(q.y, q.z)), 0.0);
    field_point out = {field_larger(q.x, 0.0), field_larger(q.y, 0.0), field_larger(q.z, 0.0)};
    return inside + field_length(out) - round;
}

/* About the x axis: the ring lies in the plane of y and z. */
static inline double field_torus_x(field_point p, double ring, double tube)
{
    double away = sqrt(p.y * p.y + p.z * p.z) - ring;
    return sqrt(away * away + p.x * p.x) - tube;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Together
 */

static inline double field_join(double a, double b) { return field_smaller(a, b); }

static inline double field_blend(double a, double b, double width)
{
    double share = width - fabs(a - b);
    if (share <= 0.0) return field_smaller(a, b);
    return field_smaller(a, b) - 0.25 * share * share / width;
}

/* What is in both, the edge between them rounded. */
static inline double field_both(double a, double b, double width) { return -field_blend(-a, -b, width); }

/* `a` without `b`, the edge rounded. */
static inline double field_cut(double a, double b, double width) { return -field_blend(-a, b, width); }

#endif
