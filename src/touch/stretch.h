/*
 * The inverse of how space is stretched in a body, for carriers of solids; the host and devices compile this text.
 */
#ifndef LMI_STRETCH_H
#define LMI_STRETCH_H

#include "base/vec.h"

/* Of lmi_hold_within, in units of the thickness. */
#define LMI_HELD_ABOVE 1.0

/* F^-1, bounded where F has lost a direction or never showed one. */
static inline dmat3 lmi_invert_stretch(const dmat3 *f)
{
    lm_dvec3 a = dvec(f->m[0][0], f->m[1][0], f->m[2][0]), b = dvec(f->m[0][1], f->m[1][1], f->m[2][1]);
    lm_dvec3 c = dvec(f->m[0][2], f->m[1][2], f->m[2][2]);
    double la = dvec_length(a), lb = dvec_length(b), lc = dvec_length(c), longest = lmi_max(la, lmi_max(lb, lc));
    longest = longest > 1e-12 ? longest : 1.0;
    /* Directions that the particles do not show, or that they have lost, stand across the others. */
    double least = 0.05 * longest;
    if (lc < least) {
        c = dvec_cross(a, b);
        lc = dvec_length(c);
        c = lc > 0.0 ? dvec_scale(c, longest / lc) : dvec(0.0, 0.0, longest);
    }
    if (la < least) {
        a = dvec_cross(b, c);
        la = dvec_length(a);
        a = la > 0.0 ? dvec_scale(a, longest / la) : dvec(longest, 0.0, 0.0);
    }
    if (lb < least) {
        b = dvec_cross(c, a);
        lb = dvec_length(b);
        b = lb > 0.0 ? dvec_scale(b, longest / lb) : dvec(0.0, longest, 0.0);
    }
    lm_dvec3 bc = dvec_cross(b, c), ca = dvec_cross(c, a), ab = dvec_cross(a, b);
    double det = dvec_dot(a, bc), floor_of = 0.02 * longest * longest * longest;
    det = fabs(det) > floor_of ? det : det < 0.0 ? -floor_of : floor_of;
    dmat3 out = {{{bc.x / det, bc.y / det, bc.z / det},
                  {ca.x / det, ca.y / det, ca.z / det},
                  {ab.x / det, ab.y / det, ab.z / det}}};
    return out;
}

/* F of particles that are a sheet at rest, whose unit normal there is `across` (0: they are none). What F says of that direction is
 * little but noise; it becomes the normal of the sheet as it is now, and the sheet as thick as it was. */
static inline dmat3 lmi_complete_stretch(dmat3 f, lm_dvec3 across)
{
    const double from[3] = {across.x, across.y, across.z};
    lm_dvec3 along = dmat_apply(&f, across);
    const double lost[3] = {along.x, along.y, along.z};
    for (int i = 0; i < 9; i++) {
        f.m[i / 3][i % 3] -= lost[i / 3] * from[i % 3];
    }
    lm_dvec3 a = dvec(f.m[0][0], f.m[1][0], f.m[2][0]), b = dvec(f.m[0][1], f.m[1][1], f.m[2][1]);
    lm_dvec3 c = dvec(f.m[0][2], f.m[1][2], f.m[2][2]);
    lm_dvec3 bc = dvec_cross(b, c), ca = dvec_cross(c, a), ab = dvec_cross(a, b);
    lm_dvec3 n = dvec_add(dvec_add(dvec_scale(bc, across.x), dvec_scale(ca, across.y)), dvec_scale(ab, across.z));
    double length = dvec_length(n);
    const double to[3] = {n.x, n.y, n.z};
    for (int i = 0; i < 9 && length > 1e-30; i++) {
        f.m[i / 3][i % 3] += to[i / 3] / length * from[i % 3];
    }
    return f;
}

/* A place in the frame of a sheet, from its middle, as its particles can hold it: not much further above or below them than they are
 * from each other, where weights would magnify what they do. across: as in lmi_mould. */
static inline lm_dvec3 lmi_hold_within(lm_dvec3 place, lm_dvec3 across, double thick)
{
    double above = dvec_dot(place, across), most = LMI_HELD_ABOVE * thick;
    double within = above > most ? most : above < -most ? -most : above;
    return dvec_add(place, dvec_scale(across, within - above));
}

/* The largest stretch of a matrix, or a little more: the root of the largest sum in a row of A^T A. */
static inline double lmi_largest_stretch(const double a[9])
{
    double most = 0.0;
    for (int i = 0; i < 3; i++) {
        double sum = 0.0;
        for (int j = 0; j < 3; j++) {
            sum += fabs(a[i] * a[j] + a[3 + i] * a[3 + j] + a[6 + i] * a[6 + j]);
        }
        most = sum > most ? sum : most;
    }
    return sqrt(most);
}

/* How long the shortest direction of F is, as a share of its length at rest; a little less where several are as short; 0 where F turns
 * space inside out. 1 over the largest stretch of F^-1, by the sum of the 16th powers of all three: products and roots alone, which are
 * the same everywhere, and no direction counts for more than another. */
static inline double lmi_shortest_stretch(const dmat3 *f)
{
    lm_dvec3 a = dvec(f->m[0][0], f->m[1][0], f->m[2][0]), b = dvec(f->m[0][1], f->m[1][1], f->m[2][1]);
    lm_dvec3 c = dvec(f->m[0][2], f->m[1][2], f->m[2][2]);
    lm_dvec3 bc = dvec_cross(b, c), ca = dvec_cross(c, a), ab = dvec_cross(a, b);
    double det = dvec_dot(a, bc);
    if (!(det > 1e-6)) {
        return 0.0;
    }
    double by = 1.0 / (det * det);
    double s[6] = {by * dvec_dot(bc, bc), by * dvec_dot(ca, ca), by * dvec_dot(ab, ab),
                   by * dvec_dot(bc, ca), by * dvec_dot(ca, ab), by * dvec_dot(ab, bc)};
    for (int n = 0; n < 2; n++) { /* the square of a symmetric matrix: xx yy zz xy yz zx */
        double xx = s[0] * s[0] + s[3] * s[3] + s[5] * s[5], yy = s[3] * s[3] + s[1] * s[1] + s[4] * s[4];
        double zz = s[5] * s[5] + s[4] * s[4] + s[2] * s[2], xy = s[0] * s[3] + s[3] * s[1] + s[5] * s[4];
        double yz = s[3] * s[5] + s[1] * s[4] + s[4] * s[2], zx = s[0] * s[5] + s[3] * s[4] + s[5] * s[2];
        s[0] = xx, s[1] = yy, s[2] = zz, s[3] = xy, s[4] = yz, s[5] = zx;
    }
    double sum = s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 2.0 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]);
    return 1.0 / sqrt(sqrt(sqrt(sqrt(sum))));
}

/* Bodies that are pressed to less than the first of these lengths are crushed, and to less than the second entirely (contact/brace.h). */
#define LMI_CRUSH_FROM 0.5
#define LMI_CRUSH_TO 0.35

static inline double lmi_crush_of(double shortest)
{
    double crush = (LMI_CRUSH_FROM - shortest) / (LMI_CRUSH_FROM - LMI_CRUSH_TO);
    return crush > 1.0 ? 1.0 : crush > 0.0 ? crush : 0.0;
}

#endif
