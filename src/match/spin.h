/*
 * The spin of a region from its angular momentum, in lanes; for regional damping.
 */
#ifndef LMI_SPIN_H
#define LMI_SPIN_H

#include "base/lanes.h"

/* Of a region that has no extent left, to the mean of its inertia: it does not spin. */
#define LMI_LEAST_INERTIA 1e-6f

/* The spin of inertia tr(G) - G with the angular momentum `l`; G: xx yy zz xy yz zx. */
static LMI_ALWAYS_INLINE void lmi_spin(const vf g[6], const vf l[3], vf w[3])
{
    vf trace = (g[0] + g[1]) + g[2], scale = vf_set1(1.0f) / vf_max(trace, vf_set1(1e-30f));
    vf more = vf_set1(1.0f + LMI_LEAST_INERTIA);
    /* In units of the trace: xx yy zz xy yz zx. */
    vf xx = more - g[0] * scale, yy = more - g[1] * scale, zz = more - g[2] * scale;
    vf xy = vf_set1(0.0f) - g[3] * scale, yz = vf_set1(0.0f) - g[4] * scale, zx = vf_set1(0.0f) - g[5] * scale;
    vf cxx = yy * zz - yz * yz, cxy = yz * zx - xy * zz, czx = xy * yz - yy * zx;
    vf cyy = zz * xx - zx * zx, cyz = zx * xy - yz * xx, czz = xx * yy - xy * xy;
    vf det = (xx * cxx + xy * cxy) + zx * czx, by = scale / det;
    w[0] = ((cxx * l[0] + cxy * l[1]) + czx * l[2]) * by;
    w[1] = ((cxy * l[0] + cyy * l[1]) + cyz * l[2]) * by;
    w[2] = ((czx * l[0] + cyz * l[1]) + czz * l[2]) * by;
}

#endif
