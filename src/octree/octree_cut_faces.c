/*
 * A tree whose links a blade has cut (octree/octree_blade.h): the corners of the cut's faces.
 */
#include "octree/octree_revise.h"

#include <math.h>
#include <string.h>

/* --- the corners of faces --- */

#define WISHES 16u /* that a face has at most */

/* What one face wants of one of its corners. */
typedef struct wish {
    uint64_t corner;
    lm_dvec3 by;
} wish;

static void sort_wishes(wish *w, uint32_t count)
{
    for (uint32_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : (uint32_t)((uint64_t)gap * 5 / 11)) {
        for (uint32_t n = gap; n < count; n++) {
            wish one = w[n];
            uint32_t at = n;
            for (; at >= gap && w[at - gap].corner > one.corner; at -= gap) {
                w[at] = w[at - gap];
            }
            w[at] = one;
        }
    }
}

/* Whether a corner of voxels is on no face between two of them: there is nothing to be cut beside it. */
static bool is_outer(const lmi_octree *t, const int64_t corner[3])
{
    for (uint32_t k = 0; k < 8; k++) {
        int64_t at[3] = {corner[0] - (k & 1), corner[1] - (k >> 1 & 1), corner[2] - (k >> 2)};
        if (lmi_octree_voxel(t, at[0], at[1], at[2]) == LMI_OCTREE_NONE) {
            continue;
        }
        for (uint32_t axis = 0; axis < 3; axis++) { /* the next voxel that has the corner too */
            int64_t next[3] = {at[0], at[1], at[2]};
            next[axis] += k >> axis & 1 ? 1 : -1;
            if (lmi_octree_voxel(t, next[0], next[1], next[2]) != LMI_OCTREE_NONE) {
                return false;
            }
        }
    }
    return true;
}

/* From the corners of a link's face to the blade, along its normal, in voxels; and from those beside them that are outside of the
 * body, where the surface may be too: it is cut as straight as what is inside. Returns how many. */
static uint32_t make_wishes(const lmi_octree *t, const lmi_slash *s, wish to[WISHES])
{
    const uint16_t *at = t->at[s->voxel];
    double point[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
    point[s->axis] += s->share;
    uint32_t u = (s->axis + 1) % 3, v = (s->axis + 2) % 3, count = 0;
    for (uint32_t n = 0; n < WISHES; n++) {
        int64_t corner[3] = {at[0], at[1], at[2]}, along[2] = {(int64_t)(n % 4) - 1, (int64_t)(n / 4) - 1};
        corner[s->axis]++;
        corner[u] += along[0];
        corner[v] += along[1];
        bool own = along[0] >= 0 && along[0] <= 1 && along[1] >= 0 && along[1] <= 1;
        bool there = corner[u] >= 0 && corner[v] >= 0 && corner[u] <= t->voxels.n[u] && corner[v] <= t->voxels.n[v];
        if (!own && (!there || !is_outer(t, corner))) {
            continue;
        }
        lm_dvec3 off = dvec(point[0] - (double)corner[0], point[1] - (double)corner[1], point[2] - (double)corner[2]);
        to[count++] = (wish){lmi_octree_corner((uint32_t)corner[0], (uint32_t)corner[1], (uint32_t)corner[2]),
                             dvec_scale(s->normal, dvec_dot(s->normal, off))};
    }
    return count;
}

bool lmi_octree_add_bends(lmi_octree *t, lmi_memory *memory, const lmi_octree *before, const lmi_slashes *slashes)
{
    uint32_t slash_count = slashes ? slashes->count : 0;
    uint32_t most = WISHES * slash_count, wishes = 0, count = 0, room = before->bend_count + most;
    wish *all = lmi_allocate(memory, most, sizeof *all);
    lmi_octree_bend *bends = lmi_allocate(memory, room, sizeof *bends);
    bool ok = all && bends;
    for (uint32_t n = 0; ok && n < slash_count; n++) {
        wishes += make_wishes(t, &slashes->items[n], all + wishes);
    }
    if (ok) {
        sort_wishes(all, wishes);
    }
    for (uint32_t n = 0, old = 0; ok && (n < wishes || old < before->bend_count);) {
        if (old < before->bend_count && (n == wishes || before->bends[old].corner <= all[n].corner)) {
            bends[count++] = before->bends[old];
            while (n < wishes && all[n].corner == before->bends[old].corner) {
                n++;
            }
            old++;
            continue;
        }
        lm_dvec3 sum = lm_dvec3_zero();
        uint64_t corner = all[n].corner;
        double terms = 0.0;
        for (; n < wishes && all[n].corner == corner; n++, terms += 1.0) {
            sum = dvec_add(sum, all[n].by);
        }
        sum = dvec_scale(sum, 1.0 / terms);
        double length = dvec_length(sum), far = 0.9;
        sum = dvec_scale(sum, length > far ? far / length : 1.0);
        bends[count++] = (lmi_octree_bend){corner, {(float)sum.x, (float)sum.y, (float)sum.z}};
    }
    if (ok) {
        t->bends = lmi_allocate(memory, count, sizeof *t->bends);
        ok = t->bends != NULL;
        t->bend_count = ok ? count : 0;
    }
    if (ok) {
        memcpy(t->bends, bends, count * sizeof *bends);
    }
    lmi_release(memory, all, most, sizeof *all);
    lmi_release(memory, bends, room, sizeof *bends);
    return ok;
}

lm_result lmi_octree_cut(lmi_octree *t, lmi_memory *memory, const lmi_octree *before, const lmi_slashes *slashes,
                         uint32_t finest, uint32_t *found)
{
    lmi_octree_wish cuts = {.slashes = slashes, .finest = finest};
    return lmi_octree_revise(t, memory, before, &cuts, found);
}
