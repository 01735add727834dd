#include "collide/shapes_meet.h"

/* Halvings of a segment when the point of it that is nearest to a box is looked for. */
#define HALVINGS 48

static lm_dvec3 axis_of(const lmi_surface *s, int n)
{
    return dvec(s->rotation.m[0][n], s->rotation.m[1][n], s->rotation.m[2][n]);
}

static lm_dvec3 local_of(const lmi_surface *s, lm_dvec3 p)
{
    return dmat_apply_transposed(&s->rotation, dvec_sub(p, s->position));
}

static void add(lmi_spot *spots, uint32_t *count, lm_dvec3 place, lm_dvec3 normal, double depth, uint32_t feature)
{
    if (*count < LMI_MOST_SPOTS) {
        spots[(*count)++] = (lmi_spot){place, normal, depth, feature};
    }
}

/* --- what is round: a point or a segment with a radius --- */

static bool is_round(const lmi_surface *s) { return s->shape == LM_SHAPE_SPHERE || s->shape == LM_SHAPE_CAPSULE; }

/* The two ends of its core. */
static void core_of(const lmi_surface *s, lm_dvec3 ends[2])
{
    double half = s->shape == LM_SHAPE_CAPSULE ? s->half_length : 0.0;
    ends[0] = dvec_sub(s->position, dvec_scale(axis_of(s, 1), half));
    ends[1] = dvec_add(s->position, dvec_scale(axis_of(s, 1), half));
}

static uint32_t ends_of(const lmi_surface *s) { return s->shape == LM_SHAPE_CAPSULE && s->half_length > 0.0f ? 2 : 1; }

/* Where the nearest point of a segment is, as a share of it. */
static double nearest_on(lm_dvec3 from, lm_dvec3 to, lm_dvec3 p)
{
    lm_dvec3 way = dvec_sub(to, from);
    double square = dvec_dot(way, way), t = square > 0.0 ? dvec_dot(dvec_sub(p, from), way) / square : 0.0;
    return t < 0.0 ? 0.0 : lmi_min(t, 1.0);
}

static lm_dvec3 along(lm_dvec3 from, lm_dvec3 to, double t)
{
    return dvec_add(from, dvec_scale(dvec_sub(to, from), t));
}

/* Two points with radii; what is in the very same place is pushed up. */
static void add_balls(const lmi_surface *a, const lmi_surface *b, lm_dvec3 p, lm_dvec3 q, uint32_t feature,
                      double reach, lmi_spot *spots, uint32_t *count)
{
    lm_dvec3 way = dvec_sub(p, q);
    double far = dvec_length(way), depth = (double)a->radius + b->radius - far;
    lm_dvec3 normal = far > 1e-12 ? dvec_scale(way, 1.0 / far) : dvec(0.0, 1.0, 0.0);
    if (depth > -reach) {
        add(spots, count, dvec_add(q, dvec_scale(normal, b->radius - 0.5 * depth)), normal, depth, feature);
    }
}

/* The nearest points of two segments, as shares (Ericson, Real-Time Collision Detection, 5.1.9). */
static void nearest_shares(const lm_dvec3 a[2], const lm_dvec3 b[2], double *s, double *t)
{
    lm_dvec3 d1 = dvec_sub(a[1], a[0]), d2 = dvec_sub(b[1], b[0]), r = dvec_sub(a[0], b[0]);
    double aa = dvec_dot(d1, d1), ee = dvec_dot(d2, d2), bb = dvec_dot(d1, d2), c = dvec_dot(d1, r);
    double f = dvec_dot(d2, r), determinant = aa * ee - bb * bb;
    *s = determinant > 1e-9 * aa * ee ? (bb * f - c * ee) / determinant : 0.5;
    *s = *s < 0.0 ? 0.0 : lmi_min(*s, 1.0);
    *t = nearest_on(b[0], b[1], along(a[0], a[1], *s));
    *s = nearest_on(a[0], a[1], along(b[0], b[1], *t));
}

static uint32_t round_round(const lmi_surface *a, const lmi_surface *b, double reach, lmi_spot *spots)
{
    lm_dvec3 p[2], q[2];
    uint32_t count = 0;
    core_of(a, p);
    core_of(b, q);
    bool beside = false; /* they lie along each other: the ends carry them */
    if (ends_of(a) == 2 && ends_of(b) == 2) {
        lm_dvec3 cross = dvec_cross(axis_of(a, 1), axis_of(b, 1));
        beside = dvec_dot(cross, cross) < 0.01;
    }
    if (beside) {
        for (uint32_t n = 0; n < 2; n++) {
            add_balls(a, b, p[n], along(q[0], q[1], nearest_on(q[0], q[1], p[n])), n, reach, spots, &count);
            add_balls(a, b, along(p[0], p[1], nearest_on(p[0], p[1], q[n])), q[n], 2 + n, reach, spots, &count);
        }
        return count;
    }
    double s, t;
    nearest_shares(p, q, &s, &t);
    add_balls(a, b, along(p[0], p[1], s), along(q[0], q[1], t), 4, reach, spots, &count);
    return count;
}

/* --- what is round, and a box --- */

/* Distance of a local point from a box, below 0 inside, and the way out. */
static double box_distance(const double half[3], const double p[3], double n[3])
{
    double over[3], square = 0.0, most = -INFINITY;
    int face = 0;
    for (int i = 0; i < 3; i++) {
        over[i] = fabs(p[i]) - half[i];
        square += over[i] > 0.0 ? over[i] * over[i] : 0.0;
        face = over[i] > most ? i : face;
        most = lmi_max(most, over[i]);
    }
    double far = sqrt(square);
    for (int i = 0; i < 3; i++) {
        double sign = p[i] < 0.0 ? -1.0 : 1.0;
        n[i] = far > 1e-9 ? (over[i] > 0.0 ? sign * over[i] / far : 0.0) : i == face ? sign : 0.0;
    }
    return far > 1e-9 ? far : most;
}

/* The share of a local segment at which it is nearest to a box: the distance from what is convex has one least value. */
static double nearest_to_box(const double half[3], const double from[3], const double to[3])
{
    double low = 0.0, high = 1.0, n[3];
    for (int k = 0; k < HALVINGS; k++) {
        double t[2] = {low + (high - low) / 3.0, high - (high - low) / 3.0}, far[2];
        for (int e = 0; e < 2; e++) {
            double p[3];
            for (int i = 0; i < 3; i++) {
                p[i] = from[i] + t[e] * (to[i] - from[i]);
            }
            far[e] = box_distance(half, p, n);
        }
        *(far[0] <= far[1] ? &high : &low) = far[0] <= far[1] ? t[1] : t[0];
    }
    return 0.5 * (low + high);
}

/* The part of a segment that is over a face of a box: within the other two pairs of faces. */
static void clip_to_face(const double half[3], int face, const double from[3], const double to[3], double range[2])
{
    for (int i = 0; i < 3; i++) {
        double way = to[i] - from[i];
        if (i == face || fabs(way) < 1e-12) {
            continue;
        }
        double one = (-half[i] - from[i]) / way, other = (half[i] - from[i]) / way;
        range[0] = lmi_max(range[0], lmi_min(one, other));
        range[1] = lmi_min(range[1], lmi_max(one, other));
    }
}

/* A point of the core of `a` against the box `b`. */
static void add_core(const lmi_surface *a, const lmi_surface *b, const double half[3], const double p[3],
                     uint32_t feature, double reach, lmi_spot *spots, uint32_t *count)
{
    double n[3], depth = a->radius - box_distance(half, p, n);
    lm_dvec3 normal = dmat_apply(&b->rotation, dvec(n[0], n[1], n[2]));
    lm_dvec3 at = dvec_add(b->position, dmat_apply(&b->rotation, dvec(p[0], p[1], p[2])));
    if (depth > -reach) {
        add(spots, count, dvec_sub(at, dvec_scale(normal, a->radius - 0.5 * depth)), normal, depth, feature);
    }
}

static uint32_t round_box(const lmi_surface *a, const lmi_surface *b, double reach, lmi_spot *spots)
{
    const double half[3] = {b->half_extents.x, b->half_extents.y, b->half_extents.z};
    lm_dvec3 ends[2];
    uint32_t count = 0;
    core_of(a, ends);
    lm_dvec3 one = local_of(b, ends[0]), other = local_of(b, ends[1]);
    const double from[3] = {one.x, one.y, one.z}, to[3] = {other.x, other.y, other.z};
    double t = ends_of(a) == 2 ? nearest_to_box(half, from, to) : 0.0, p[3], n[3], range[2] = {0.0, 1.0};
    for (int i = 0; i < 3; i++) {
        p[i] = from[i] + t * (to[i] - from[i]);
    }
    box_distance(half, p, n);
    int face = fabs(n[0]) > 0.999 ? 0 : fabs(n[1]) > 0.999 ? 1 : fabs(n[2]) > 0.999 ? 2 : -1;
    if (ends_of(a) == 2 && face >= 0) { /* it lies along a face, or nearly */
        clip_to_face(half, face, from, to, range);
    }
    if (ends_of(a) == 1 || face < 0 || range[1] - range[0] < 1e-6) {
        add_core(a, b, half, p, 0, reach, spots, &count);
        return count;
    }
    for (uint32_t e = 0; e < 2; e++) {
        double q[3];
        for (int i = 0; i < 3; i++) {
            q[i] = from[i] + range[e] * (to[i] - from[i]);
        }
        add_core(a, b, half, q, 1 + e, reach, spots, &count);
    }
    return count;
}

/* --- planes --- */

/* The corner of a box, or with 0 the middle along an axis: at[] is -1, 0 or 1. */
static lm_dvec3 box_point(const lmi_surface *s, const int at[3])
{
    lm_dvec3 p = dvec(at[0] * s->half_extents.x, at[1] * s->half_extents.y, at[2] * s->half_extents.z);
    return dvec_add(s->position, dmat_apply(&s->rotation, p));
}

static uint32_t with_plane(const lmi_surface *a, const lmi_surface *b, double reach, lmi_spot *spots)
{
    lm_dvec3 n = axis_of(b, 1), points[8];
    uint32_t count = 0, all = 8;
    double radius = 0.0;
    if (is_round(a)) {
        core_of(a, points);
        all = ends_of(a);
        radius = a->radius;
    } else {
        for (int k = 0; k < 8; k++) {
            points[k] = box_point(a, (int[3]){k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1});
        }
    }
    for (uint32_t k = 0; k < all; k++) {
        double depth = radius - dvec_dot(dvec_sub(points[k], b->position), n);
        if (depth > -reach) {
            add(spots, &count, dvec_sub(points[k], dvec_scale(n, radius)), n, depth, k);
        }
    }
    return count;
}

/* --- height maps and meshes --- */

static void add_solid(const lmi_surface *a, const lmi_surface *b, lm_dvec3 p, double radius, uint32_t feature,
                      double reach, double h, lmi_spot *spots, uint32_t *count)
{
    lm_dvec3 moves = dvec_add(a->velocity, dvec_cross(a->spin, dvec_sub(p, a->pivot))), out;
    lm_dvec3 way = lmi_solid_way(b->velocity, b->spin, b->pivot, h, p, dvec_scale(moves, h));
    lm_dvec3 local = local_of(b, p);
    way = dmat_apply_transposed(&b->rotation, way);
    double depth = lmi_solid_depth(&b->solid, local, way, radius + reach, &out) - reach;
    if (depth > -reach) {
        lm_dvec3 normal = dmat_apply(&b->rotation, out);
        add(spots, count, dvec_sub(p, dvec_scale(normal, radius)), normal, depth, feature);
    }
}

static uint32_t with_solid(const lmi_surface *a, const lmi_surface *b, double reach, double h, lmi_spot *spots)
{
    uint32_t count = 0;
    if (is_round(a)) {
        lm_dvec3 ends[2];
        core_of(a, ends);
        for (uint32_t n = 0; n < ends_of(a); n++) {
            add_solid(a, b, ends[n], a->radius, n, reach, h, spots, &count);
        }
        if (ends_of(a) == 2) {
            add_solid(a, b, a->position, a->radius, 2, reach, h, spots, &count);
        }
        return count;
    }
    for (int k = 0; k < 27; k++) {
        if (k != 13) {
            lm_dvec3 p = box_point(a, (int[3]){k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1});
            add_solid(a, b, p, 0.0, (uint32_t)k, reach, h, spots, &count);
        }
    }
    return count;
}

uint32_t lmi_shapes_meet(const lmi_surface *a, const lmi_surface *b, double reach, double h,
                         lmi_spot spots[LMI_MOST_SPOTS])
{
    if (b->shape == LM_SHAPE_PLANE) {
        return with_plane(a, b, reach, spots);
    }
    if (lmi_solid_is(&b->solid)) {
        return with_solid(a, b, reach, h, spots);
    }
    if (is_round(a)) {
        return is_round(b) ? round_round(a, b, reach, spots) : round_box(a, b, reach, spots);
    }
    if (!is_round(b)) {
        return lmi_boxes_meet(a, b, reach, spots);
    }
    uint32_t count = round_box(b, a, reach, spots);
    for (uint32_t n = 0; n < count; n++) {
        spots[n].normal = dvec_scale(spots[n].normal, -1.0);
    }
    return count;
}
