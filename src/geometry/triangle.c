/*
 * The nearest point goes through the seven parts of a triangle (three corners, three edges, the inside) by the signs of
 * barycentric coordinates, after C. Ericson, Real-Time Collision Detection, section 5.1.5; the box test is section 5.2.9.
 */
#include "geometry/triangle.h"

#define HAIR 1e-9    /* barycentric: how much a triangle grows for crossings */
#define SLIVER 1e-10 /* of the longest edge: a triangle less high than this has no area */

bool lmi_triangle_is_sound(const lmi_triangle *t)
{
    double longest = 0.0;
    for (int i = 0; i < 3; i++) {
        lm_dvec3 edge = dvec_sub(t->corner[(i + 1) % 3], t->corner[i]);
        longest = lmi_max(longest, dvec_dot(edge, edge));
    }
    return dvec_length(lmi_triangle_normal(t)) > SLIVER * longest;
}

lm_dvec3 lmi_triangle_nearest(const lmi_triangle *t, lm_dvec3 p)
{
    lm_dvec3 a = t->corner[0], ab = dvec_sub(t->corner[1], a), ac = dvec_sub(t->corner[2], a), ap = dvec_sub(p, a);
    double d1 = dvec_dot(ab, ap), d2 = dvec_dot(ac, ap);
    if (d1 <= 0.0 && d2 <= 0.0) {
        return a;
    }
    lm_dvec3 bp = dvec_sub(p, t->corner[1]);
    double d3 = dvec_dot(ab, bp), d4 = dvec_dot(ac, bp);
    if (d3 >= 0.0 && d4 <= d3) {
        return t->corner[1];
    }
    double vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        return dvec_add(a, dvec_scale(ab, d1 / (d1 - d3)));
    }
    lm_dvec3 cp = dvec_sub(p, t->corner[2]);
    double d5 = dvec_dot(ab, cp), d6 = dvec_dot(ac, cp);
    if (d6 >= 0.0 && d5 <= d6) {
        return t->corner[2];
    }
    double vb = d5 * d2 - d1 * d6;
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        return dvec_add(a, dvec_scale(ac, d2 / (d2 - d6)));
    }
    double va = d3 * d6 - d5 * d4, along_b = d4 - d3, along_c = d5 - d6;
    if (va <= 0.0 && along_b >= 0.0 && along_c >= 0.0) {
        lm_dvec3 bc = dvec_sub(t->corner[2], t->corner[1]);
        return dvec_add(t->corner[1], dvec_scale(bc, along_b / (along_b + along_c)));
    }
    double scale = 1.0 / (va + vb + vc);
    return dvec_add(a, dvec_add(dvec_scale(ab, vb * scale), dvec_scale(ac, vc * scale)));
}

bool lmi_triangle_crossed(const lmi_triangle *t, lm_dvec3 a, lm_dvec3 b, double *share)
{
    lm_dvec3 n = lmi_triangle_normal(t);
    double from = dvec_dot(dvec_sub(a, t->corner[0]), n), to = dvec_dot(dvec_sub(b, t->corner[0]), n);
    if (!(from > 0.0 && to <= 0.0) && !(from < 0.0 && to >= 0.0)) {
        return false;
    }
    double along = from / (from - to);
    lm_dvec3 p = dvec_add(a, dvec_scale(dvec_sub(b, a), along));
    double square = dvec_dot(n, n);
    for (int i = 0; i < 3; i++) {
        lm_dvec3 edge = dvec_sub(t->corner[(i + 1) % 3], t->corner[i]);
        if (dvec_dot(dvec_cross(edge, dvec_sub(p, t->corner[i])), n) < -HAIR * square) {
            return false;
        }
    }
    *share = along;
    return true;
}

/* Whether the projections of triangle and box onto an axis are apart. */
static bool apart(const lmi_triangle *t, lm_dvec3 half, lm_dvec3 axis)
{
    double reach = half.x * fabs(axis.x) + half.y * fabs(axis.y) + half.z * fabs(axis.z);
    double p = dvec_dot(t->corner[0], axis), q = dvec_dot(t->corner[1], axis), r = dvec_dot(t->corner[2], axis);
    return lmi_min(p, lmi_min(q, r)) > reach || lmi_max(p, lmi_max(q, r)) < -reach;
}

bool lmi_triangle_touches_box(const lmi_triangle *t, lm_dvec3 half)
{
    const lm_dvec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int i = 0; i < 3; i++) {
        lm_dvec3 edge = dvec_sub(t->corner[(i + 1) % 3], t->corner[i]);
        if (apart(t, half, axes[i])) {
            return false;
        }
        for (int k = 0; k < 3; k++) {
            if (apart(t, half, dvec_cross(axes[k], edge))) {
                return false;
            }
        }
    }
    return !apart(t, half, lmi_triangle_normal(t));
}
