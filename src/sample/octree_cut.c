/*
 * A tree whose links a blade has cut (sample/octree_blade.h): the corners of the cut's faces.
 */
#include "sample/octree_revise.h"

#include <math.h>
#include <string.h>

/* --- the corners of faces --- */

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

/* From the corners of a link's face to the blade, along its normal, in voxels. */
static void make_wishes(const lmi_octree *t, const lmi_slash *s, wish to[4])
{
    const uint16_t *at = t->at[s->voxel];
    double point[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
    point[s->axis] += s->share;
    uint32_t u = (s->axis + 1) % 3, v = (s->axis + 2) % 3;
    for (uint32_t n = 0; n < 4; n++) {
        uint32_t corner[3] = {at[0], at[1], at[2]};
        corner[s->axis]++;
        corner[u] += n & 1;
        corner[v] += n >> 1;
        lm_dvec3 off = dvec(point[0] - corner[0], point[1] - corner[1], point[2] - corner[2]);
        to[n] =
            (wish){lmi_octree_corner(corner[0], corner[1], corner[2]), dvec_scale(s->normal, dvec_dot(s->normal, off))};
    }
}

bool lmi_octree_add_bends(lmi_octree *t, lmi_memory *memory, const lmi_octree *before, const lmi_slashes *slashes)
{
    uint32_t slash_count = slashes ? slashes->count : 0, wishes = 4 * slash_count, count = 0, room = before->bend_count + wishes;
    wish *all = lmi_allocate(memory, wishes, sizeof *all);
    lmi_octree_bend *bends = lmi_allocate(memory, room, sizeof *bends);
    bool ok = all && bends;
    for (uint32_t n = 0; ok && n < slash_count; n++) {
        make_wishes(t, &slashes->items[n], all + (size_t)4 * n);
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
        double length = dvec_length(sum), most = 0.9;
        sum = dvec_scale(sum, length > most ? most / length : 1.0);
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
    lmi_release(memory, all, wishes, sizeof *all);
    lmi_release(memory, bends, room, sizeof *bends);
    return ok;
}

lm_result lmi_octree_cut(lmi_octree *t, lmi_memory *memory, const lmi_octree *before, const lmi_slashes *slashes,
                         uint32_t finest, uint32_t *found)
{
    lmi_octree_wish cuts = {.slashes = slashes, .finest = finest};
    return lmi_octree_revise(t, memory, before, &cuts, found);
}
