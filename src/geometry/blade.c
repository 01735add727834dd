#include "geometry/blade.h"

#include <math.h>

/* Of a triangle's size, by which it is larger. */
#define HAIR 1e-9

bool lmi_blade_prepare(const lmi_blade_triangle *t, lmi_blade_plane *p)
{
    const lm_dvec3 *c = t->corner;
    p->a = c[0];
    p->normal = dvec_cross(dvec_sub(c[1], c[0]), dvec_sub(c[2], c[0]));
    double longest = 0.0, area = dvec_length(p->normal);
    for (int i = 0; i < 3; i++) {
        longest = fmax(longest, dvec_length(dvec_sub(c[(i + 1) % 3], c[i])));
    }
    if (!(area > 1e-12 * longest * longest)) {
        return false; /* it has no area, and cuts nothing */
    }
    double first = p->normal.x != 0.0 ? p->normal.x : p->normal.y != 0.0 ? p->normal.y : p->normal.z;
    for (int i = 0; i < 3; i++) {
        p->edge[i] = c[i];
        p->in[i] = dvec_cross(p->normal, dvec_sub(c[(i + 1) % 3], c[i]));
    }
    p->normal = dvec_scale(p->normal, (first < 0.0 ? -1.0 : 1.0) / area);
    p->hair = HAIR * area * longest;
    p->low = dvec(fmin(c[0].x, fmin(c[1].x, c[2].x)), fmin(c[0].y, fmin(c[1].y, c[2].y)),
                  fmin(c[0].z, fmin(c[1].z, c[2].z)));
    p->high = dvec(fmax(c[0].x, fmax(c[1].x, c[2].x)), fmax(c[0].y, fmax(c[1].y, c[2].y)),
                   fmax(c[0].z, fmax(c[1].z, c[2].z)));
    return true;
}

double lmi_blade_crossing(const lmi_blade_plane *p, lm_dvec3 from, lm_dvec3 to)
{
    double a = dvec_dot(p->normal, dvec_sub(from, p->a)), b = dvec_dot(p->normal, dvec_sub(to, p->a));
    if ((a >= 0.0) == (b >= 0.0)) {
        return -1.0;
    }
    double share = a / (a - b);
    lm_dvec3 at = dvec_add(from, dvec_scale(dvec_sub(to, from), share));
    for (int i = 0; i < 3; i++) {
        if (dvec_dot(p->in[i], dvec_sub(at, p->edge[i])) < -p->hair) {
            return -1.0;
        }
    }
    return share;
}
