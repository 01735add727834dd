/*
 * Where two boxes touch.
 *
 * The axis along which they overlap least, of the three of each box and the nine that are across an edge of both (separating axes). Along
 * an axis of a box its face is the reference: the face of the other that looks at it is cut to what is over it, and the corners of that
 * which are below it are the spots. Along an axis across two edges the nearest points of the edges are the one spot.
 */
#include "collide/shapes_meet.h"

/* A face is taken instead of edges that overlap a little less, and the axes of a instead of those of b: faces carry, and must not take
 * turns. In metres, over the size of the smaller box. */
#define PREFERENCE 0.02

typedef struct box {
    lm_dvec3 centre, axis[3];
    double half[3];
} box;

static box box_of(const lmi_surface *s)
{
    box b = {.centre = s->position, .half = {s->half_extents.x, s->half_extents.y, s->half_extents.z}};
    for (int n = 0; n < 3; n++) {
        b.axis[n] = dvec(s->rotation.m[0][n], s->rotation.m[1][n], s->rotation.m[2][n]);
    }
    return b;
}

static double extent(const box *b, lm_dvec3 n)
{
    return b->half[0] * fabs(dvec_dot(b->axis[0], n)) + b->half[1] * fabs(dvec_dot(b->axis[1], n)) +
           b->half[2] * fabs(dvec_dot(b->axis[2], n));
}

/* How deep they are in each other along n. */
static double overlap(const box *a, const box *b, lm_dvec3 n)
{
    return extent(a, n) + extent(b, n) - fabs(dvec_dot(dvec_sub(a->centre, b->centre), n));
}

/* The axis of least overlap: 0 to 2 of a, 3 to 5 of b, 6 to 14 across edges; -1: they are further apart than `reach`. */
static int find_axis(const box *a, const box *b, double reach, lm_dvec3 *normal)
{
    double least = INFINITY, bonus = 0.0;
    double size = lmi_min(a->half[0] + a->half[1] + a->half[2], b->half[0] + b->half[1] + b->half[2]);
    int best = -1;
    for (int n = 0; n < 15; n++) {
        lm_dvec3 axis = n < 3 ? a->axis[n] : n < 6 ? b->axis[n - 3] : dvec_cross(a->axis[(n - 6) / 3], b->axis[n % 3]);
        double length = dvec_length(axis);
        if (length < 1e-3) {
            continue;
        }
        axis = dvec_scale(axis, 1.0 / length);
        double depth = overlap(a, b, axis);
        if (depth < -reach) {
            return -1;
        }
        bonus = PREFERENCE * size * (n < 3 ? 0.0 : n < 6 ? 0.05 : 0.5);
        if (depth + bonus < least) {
            least = depth + bonus;
            best = n;
            *normal = axis;
        }
    }
    if (dvec_dot(*normal, dvec_sub(a->centre, b->centre)) < 0.0) {
        *normal = dvec_scale(*normal, -1.0);
    }
    return best;
}

/* --- faces --- */

typedef struct corner {
    lm_dvec3 at;
    uint32_t name;
} corner;

/* The face of a box that looks most against n, corner by corner around it. */
static void face_against(const box *b, lm_dvec3 n, corner to[4])
{
    int face = 0;
    double most = -1.0;
    for (int k = 0; k < 3; k++) {
        double along = fabs(dvec_dot(b->axis[k], n));
        face = along > most + 1e-9 ? k : face;
        most = lmi_max(most, along);
    }
    double side = dvec_dot(b->axis[face], n) > 0.0 ? -1.0 : 1.0;
    int u = (face + 1) % 3, v = (face + 2) % 3;
    lm_dvec3 middle = dvec_add(b->centre, dvec_scale(b->axis[face], side * b->half[face]));
    static const double sign[4][2] = {{1.0, 1.0}, {-1.0, 1.0}, {-1.0, -1.0}, {1.0, -1.0}};
    for (uint32_t k = 0; k < 4; k++) {
        to[k].at = dvec_add(middle, dvec_add(dvec_scale(b->axis[u], sign[k][0] * b->half[u]),
                                             dvec_scale(b->axis[v], sign[k][1] * b->half[v])));
        to[k].name = k;
    }
}

/* Cuts a polygon by the plane n p <= level; corners that the cut makes have the name of the plane and of the edge. */
static uint32_t cut(const corner *from, uint32_t count, lm_dvec3 n, double level, uint32_t plane, corner *to)
{
    uint32_t made = 0;
    for (uint32_t k = 0; k < count; k++) {
        const corner *one = &from[k], *next = &from[(k + 1) % count];
        double here = dvec_dot(one->at, n) - level, there = dvec_dot(next->at, n) - level;
        if (here <= 0.0) {
            to[made++] = *one;
        }
        if ((here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0)) {
            double t = here / (here - there);
            to[made].at = dvec_add(one->at, dvec_scale(dvec_sub(next->at, one->at), t));
            to[made++].name = 4 + plane * 4 + (here < 0.0 ? one->name & 3 : next->name & 3);
        }
    }
    return made;
}

/* `reference` is the box whose axis was taken; n looks out of it. */
static uint32_t faces_meet(const box *reference, const box *other, int axis, lm_dvec3 n, double reach, bool flip,
                           lmi_spot *spots)
{
    corner polygon[2][16];
    uint32_t count = 4, now = 0, found = 0;
    face_against(other, n, polygon[0]);
    for (uint32_t k = 0; k < 4; k++) {
        int side = (axis + 1 + (int)k / 2) % 3;
        lm_dvec3 out = dvec_scale(reference->axis[side], k & 1 ? -1.0 : 1.0);
        double level = dvec_dot(reference->centre, out) + reference->half[side];
        count = cut(polygon[now], count, out, level, k, polygon[1 - now]);
        now = 1 - now;
    }
    double level = dvec_dot(reference->centre, n) + reference->half[axis];
    for (uint32_t k = 0; k < count && found < LMI_MOST_SPOTS; k++) {
        const corner *c = &polygon[now][k];
        double depth = level - dvec_dot(c->at, n);
        if (depth > -reach) {
            spots[found++] = (lmi_spot){.place = dvec_add(c->at, dvec_scale(n, 0.5 * depth)),
                                        .normal = flip ? dvec_scale(n, -1.0) : n,
                                        .depth = depth,
                                        .feature = (uint32_t)(flip ? axis : 3 + axis) * 32 + c->name};
        }
    }
    return found;
}

/* --- edges --- */

/* The middle of the edge along an axis that reaches furthest along n. */
static lm_dvec3 edge_of(const box *b, int axis, lm_dvec3 n)
{
    lm_dvec3 p = b->centre;
    for (int k = 0; k < 3; k++) {
        double side = dvec_dot(b->axis[k], n) > 0.0 ? b->half[k] : -b->half[k];
        p = k == axis ? p : dvec_add(p, dvec_scale(b->axis[k], side));
    }
    return p;
}

/* n from b to a. */
static uint32_t edges_meet(const box *a, const box *b, int axis, lm_dvec3 n, lmi_spot *spots)
{
    int i = (axis - 6) / 3, k = axis % 3;
    lm_dvec3 p = edge_of(a, i, dvec_scale(n, -1.0)), q = edge_of(b, k, n), d = a->axis[i], e = b->axis[k];
    lm_dvec3 r = dvec_sub(p, q);
    double de = dvec_dot(d, e), determinant = 1.0 - de * de;
    double s = (de * dvec_dot(e, r) - dvec_dot(d, r)) / determinant,
           t = (dvec_dot(e, r) - de * dvec_dot(d, r)) / determinant;
    lm_dvec3 on_a = dvec_add(p, dvec_scale(d, s)), on_b = dvec_add(q, dvec_scale(e, t));
    spots[0] = (lmi_spot){.place = dvec_scale(dvec_add(on_a, on_b), 0.5),
                          .normal = n,
                          .depth = overlap(a, b, n),
                          .feature = 256 + (uint32_t)axis};
    return 1;
}

uint32_t lmi_boxes_meet(const lmi_surface *one, const lmi_surface *other, double reach, lmi_spot spots[LMI_MOST_SPOTS])
{
    box a = box_of(one), b = box_of(other);
    lm_dvec3 normal = dvec(0.0, 1.0, 0.0);
    int axis = find_axis(&a, &b, reach, &normal);
    if (axis < 0) {
        return 0;
    }
    if (axis >= 6) {
        return edges_meet(&a, &b, axis, normal, spots);
    }
    return axis < 3 ? faces_meet(&a, &b, axis, dvec_scale(normal, -1.0), reach, true, spots)
                    : faces_meet(&b, &a, axis - 3, normal, reach, false, spots);
}
