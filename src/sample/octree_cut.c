/*
 * A tree whose links a blade has cut (sample/octree_blade.h): nodes, neighbours, regions, and the corners of the cut's faces.
 */
#include "sample/octree_blade.h"

#include <math.h>
#include <string.h>

/* --- which nodes are divided --- */

typedef struct ends {
    const lmi_octree *before;
    uint32_t *mark; /* [voxel_count] the node that a voxel was last seen in, and one */
    uint32_t asked;
    uint32_t finest; /* level */
} ends;

/* Whether a blade ends in a node: it has cut some of its links, and the node still hangs together. */
static bool has_end(const lmi_octree *t, const lmi_octree_node *node, ends *e)
{
    e->asked++;
    for (uint32_t n = 0; n < node->voxel_count; n++) {
        e->mark[t->voxel_order[node->first_voxel + n]] = e->asked;
    }
    for (uint32_t n = 0; n < node->voxel_count; n++) {
        uint32_t voxel = t->voxel_order[node->first_voxel + n];
        for (uint32_t axis = 0; axis < 3 && t->cut[voxel] >> 3; axis++) {
            int64_t at[3] = {t->at[voxel][0], t->at[voxel][1], t->at[voxel][2]};
            at[axis]++;
            uint32_t other =
                lmi_octree_is_slashed(t, voxel, axis) ? lmi_octree_voxel(t, at[0], at[1], at[2]) : LMI_OCTREE_NONE;
            if (other != LMI_OCTREE_NONE && e->mark[other] == e->asked) {
                return true;
            }
        }
    }
    return false;
}

static bool is_divided(const lmi_octree *t, const lmi_octree_node *node, void *user)
{
    ends *e = user;
    uint32_t was = e->before->owner[t->voxel_order[node->first_voxel]]; /* the leaf that it is part of or above */
    if (e->before->nodes[was].level < node->level) {
        return true;
    }
    return node->level > e->finest && has_end(t, node, e);
}

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

/* The bends that there were, and those of the corners of new faces: the mean of what these want, no farther than the next
 * corner. Corners stay where an earlier cut has put them. */
static bool add_bends(lmi_octree *t, lmi_memory *memory, const lmi_octree *before, const lmi_slashes *slashes)
{
    uint32_t most = WISHES * slashes->count, wishes = 0, count = 0, room = before->bend_count + most;
    wish *all = lmi_allocate(memory, most, sizeof *all);
    lmi_octree_bend *bends = lmi_allocate(memory, room, sizeof *bends);
    bool ok = all && bends;
    for (uint32_t n = 0; ok && n < slashes->count; n++) {
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

/* --- the whole --- */

/* The voxels of a tree again, with the links that it has. */
static lm_result copy_voxels(lmi_octree *t, lmi_memory *memory, const lmi_octree *before)
{
    lmi_voxels voxels = before->voxels;
    size_t words = (size_t)voxels.row_words * voxels.n[1] * voxels.n[2];
    voxels.bits = lmi_allocate(memory, words, sizeof *voxels.bits);
    if (!voxels.bits) {
        return LM_ERROR_MEMORY;
    }
    memcpy(voxels.bits, before->voxels.bits, words * sizeof *voxels.bits);
    lm_result result = lmi_octree_begin(t, memory, &voxels, before->levels);
    if (result == LM_OK) {
        memcpy(t->cut, before->cut, t->voxel_count * sizeof *t->cut);
        t->slack = before->slack;
    }
    return result;
}

static void take_widths(lmi_octree *t, const lmi_octree *before)
{
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        t->width[leaf] = before->width[before->nodes[before->owner[t->voxel_order[node->first_voxel]]].leaf];
    }
}

lm_result lmi_octree_cut(lmi_octree *t, lmi_memory *memory, const lmi_octree *before, const lmi_slashes *slashes,
                         uint32_t finest, uint32_t *found)
{
    memset(t, 0, sizeof *t);
    lm_result result = copy_voxels(t, memory, before);
    if (result != LM_OK) {
        return result;
    }
    for (uint32_t n = 0; n < slashes->count; n++) {
        const lmi_slash *s = &slashes->items[n];
        t->cut[s->voxel] |= (uint8_t)(9u << s->axis);
    }
    ends e = {.before = before, .finest = finest};
    e.mark = lmi_allocate(memory, t->voxel_count, sizeof *e.mark);
    result = e.mark ? lmi_octree_divide(t, memory, is_divided, &e) : LM_ERROR_MEMORY;
    lmi_release(memory, e.mark, t->voxel_count, sizeof *e.mark);
    if (result == LM_OK) {
        take_widths(t, before);
        bool ok = lmi_octree_find_neighbours(t, memory) && lmi_octree_update_regions(t, memory, before, found) &&
                  add_bends(t, memory, before, slashes);
        result = ok ? LM_OK : LM_ERROR_MEMORY;
    }
    if (result != LM_OK) {
        lmi_octree_free(t, memory);
    }
    return result;
}
