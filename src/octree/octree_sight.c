/*
 * The host and devices compile this text.
 */
#include "octree/octree_sight.h"
#include "octree/touch_octree.h"

#include <math.h>

#define NONE LMI_OCTREE_NONE

/* Faces are looked for this many voxels around a place. */
#define NEAR 2

lm_dvec3 lmi_octree_in_voxels(const lmi_octree *t, lm_dvec3 rest)
{
    return dvec_scale(dvec_sub(rest, t->voxels.first), 1.0 / t->voxels.spacing);
}

/* A walk along a line from voxel to voxel. */
typedef struct walk {
    int64_t at[3];
    double next[3], each[3]; /* shares of the line: where the next face across each axis is, and from face to face */
    int step[3];
} walk;

static walk begin(lm_dvec3 from, lm_dvec3 to)
{
    const double a[3] = {from.x, from.y, from.z}, b[3] = {to.x, to.y, to.z};
    walk w;
    for (int k = 0; k < 3; k++) {
        double way = b[k] - a[k];
        w.at[k] = (int64_t)floor(a[k]);
        w.step[k] = way > 0.0 ? 1 : -1;
        w.each[k] = way != 0.0 ? 1.0 / fabs(way) : INFINITY;
        double left = way > 0.0 ? (double)w.at[k] + 1.0 - a[k] : a[k] - (double)w.at[k];
        w.next[k] = way != 0.0 ? left * w.each[k] : INFINITY;
    }
    return w;
}

bool lmi_octree_sees(const lmi_octree *t, lm_dvec3 from, lm_dvec3 to)
{
    const double most = 4096.0; /* voxels along an axis: nobody looks further */
    lm_dvec3 way = dvec_sub(to, from);
    if (!(fabs(way.x) < most && fabs(way.y) < most && fabs(way.z) < most && fabs(from.x) < 1e6 && fabs(from.y) < 1e6 &&
          fabs(from.z) < 1e6)) {
        return false;
    }
    walk w = begin(from, to);
    uint32_t voxel = lmi_octree_voxel(t, w.at[0], w.at[1], w.at[2]);
    bool been = voxel != NONE, left = false;
    for (;;) {
        uint32_t axis = w.next[0] <= w.next[1] ? (w.next[0] <= w.next[2] ? 0 : 2) : w.next[1] <= w.next[2] ? 1 : 2;
        if (!(w.next[axis] <= 1.0)) {
            return true;
        }
        w.at[axis] += w.step[axis];
        w.next[axis] += w.each[axis];
        uint32_t other = lmi_octree_voxel(t, w.at[0], w.at[1], w.at[2]);
        uint32_t lower = w.step[axis] > 0 ? voxel : other;
        if (voxel != NONE && other != NONE && t->cut[lower] >> axis & 1) {
            return false;
        }
        left = left || (been && other == NONE);
        if (left && other != NONE) {
            return false;
        }
        been = been || other != NONE;
        voxel = other;
    }
}

/* --- faces of cuts --- */

lm_dvec3 lmi_octree_bend_at(const lmi_octree *t, uint32_t x, uint32_t y, uint32_t z)
{
    uint64_t corner = lmi_octree_corner(x, y, z);
    uint32_t low = 0, high = t->bend_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->bends[middle].corner < corner) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == t->bend_count || t->bends[low].corner != corner) {
        return lm_dvec3_zero();
    }
    return dvec(t->bends[low].by[0], t->bends[low].by[1], t->bends[low].by[2]);
}

lmi_octree_face lmi_octree_face_at(const lmi_octree *t, uint32_t voxel, uint32_t axis)
{
    LMI_FAR const uint16_t *at = t->at[voxel];
    const uint32_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    lm_dvec3 corner[4], middle = lm_dvec3_zero();
    for (uint32_t n = 0; n < 4; n++) {
        uint32_t c[3] = {at[0], at[1], at[2]};
        c[axis]++;
        c[u] += n & 1;
        c[v] += n >> 1;
        corner[n] = dvec_add(dvec(c[0], c[1], c[2]), lmi_octree_bend_at(t, c[0], c[1], c[2]));
        middle = dvec_add(middle, dvec_scale(corner[n], 0.25));
    }
    lm_dvec3 normal = dvec_cross(dvec_sub(corner[3], corner[0]), dvec_sub(corner[2], corner[1]));
    const double along[3] = {normal.x, normal.y, normal.z}, length = dvec_length(normal);
    if (!(along[axis] > 1e-3 * length)) { /* bent over: as it was */
        return (lmi_octree_face){middle, dvec(axis == 0, axis == 1, axis == 2)};
    }
    return (lmi_octree_face){middle, dvec_scale(normal, 1.0 / length)};
}

/* Takes a face into account if it is nearer than the best so far. */
static void consider(const lmi_octree *t, uint32_t voxel, uint32_t axis, lm_dvec3 at, lm_dvec3 side, double *best,
                     double *depth, lm_dvec3 *normal)
{
    lmi_octree_face face = lmi_octree_face_at(t, voxel, axis);
    lm_dvec3 off = dvec_sub(face.middle, at);
    double up = dvec_dot(off, face.normal);
    lm_dvec3 along = dvec_sub(off, dvec_scale(face.normal, up));
    double beside = fmax(dvec_length(along) - 0.6, 0.0), square = up * up + beside * beside;
    if (square >= *best) {
        return;
    }
    /* The side that the place sees: below the face, or above it. */
    LMI_FAR const uint16_t *v = t->at[voxel];
    lm_dvec3 below = dvec(v[0] + 0.5, v[1] + 0.5, v[2] + 0.5), above = below;
    *(axis == 0 ? &above.x : axis == 1 ? &above.y : &above.z) += 1.0;
    bool lower = lmi_octree_sees(t, side, below), upper = lmi_octree_sees(t, side, above);
    if (lower == upper) {
        return; /* neither is known of, or the cut ends here */
    }
    *best = square;
    *depth = lower ? up : -up;
    *normal = dvec_scale(face.normal, lower ? 1.0 : -1.0);
}

bool lmi_octree_cut_depth(const lmi_octree *t, lm_dvec3 at, lm_dvec3 side, double *depth, lm_dvec3 *normal)
{
    const int64_t c[3] = {(int64_t)floor(at.x), (int64_t)floor(at.y), (int64_t)floor(at.z)};
    double best = (NEAR + 0.5) * (NEAR + 0.5), none = best;
    const int64_t wide = 2 * NEAR + 1;
    for (int64_t n = 0; n < wide * wide * wide; n++) {
        uint32_t voxel =
            lmi_octree_voxel(t, c[0] + n % wide - NEAR, c[1] + n / wide % wide - NEAR, c[2] + n / wide / wide - NEAR);
        for (uint32_t axis = 0; voxel != NONE && t->cut[voxel] >> 3 && axis < 3; axis++) {
            if (lmi_octree_is_slashed(t, voxel, axis)) {
                consider(t, voxel, axis, at, side, &best, depth, normal);
            }
        }
    }
    return best < none;
}
