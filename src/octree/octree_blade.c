/*
 * Which links a blade crosses (octree/octree_blade.h).
 */
#include "octree/octree_blade.h"
#include "octree/octree_divide.h"
#include "skin/skin_octree.h"

#include <math.h>
#include <string.h>

/* Where the middles of voxels are now: where the skin would be there, between leaves too (skin/skin_octree.c). With the map of its
 * own leaf alone each voxel would be a little elsewhere than its neighbours in other leaves, and a straight blade leave waves. */
#define KNOWN 4096u

typedef struct where {
    uint32_t voxel; /* and one */
    lm_dvec3 at;
    dmat3 linear;
} where;

typedef struct finder {
    const lmi_octree *t;
    lmi_memory *memory;
    const lmi_octree_map *maps;
    lmi_octree_around around;
    where *known; /* [KNOWN] by voxel */
    bool failed;  /* for want of memory */
} finder;

static lm_dvec3 rest_of(const lmi_octree *t, uint32_t voxel)
{
    const lmi_voxels *v = &t->voxels;
    return dvec(v->first.x + (t->at[voxel][0] + 0.5) * v->spacing, v->first.y + (t->at[voxel][1] + 0.5) * v->spacing,
                v->first.z + (t->at[voxel][2] + 0.5) * v->spacing);
}

static lm_dvec3 carried(const lmi_octree_map *map, lm_dvec3 rest)
{
    return dvec_add(map->at, dmat_apply(&map->linear, dvec_sub(rest, map->rest)));
}

/* To whole steps: a blade through the middles of voxels finds them on the same side again after they were cut there, although what
 * they ride on, and with it the last bits, is another. */
static lm_dvec3 settled(lm_dvec3 at, double step)
{
    return dvec(floor(at.x / step + 0.5) * step, floor(at.y / step + 0.5) * step, floor(at.z / step + 0.5) * step);
}

static const where *find_voxel(finder *f, uint32_t voxel)
{
    where *w = &f->known[voxel % KNOWN];
    if (w->voxel == voxel + 1) {
        return w;
    }
    uint32_t leaves[LMI_SKIN_OCTREE_MOST];
    float weights[LMI_SKIN_OCTREE_MOST];
    lm_dvec3 rest = rest_of(f->t, voxel);
    uint32_t leaf = f->t->nodes[f->t->owner[voxel]].leaf;
    uint32_t count = lmi_embed_octree(&f->around, f->memory, leaf, vec_from(rest), leaves, weights);
    f->failed = f->failed || count == 0;
    *w = (where){.voxel = voxel + 1};
    for (uint32_t n = 0; n < count; n++) {
        const lmi_octree_map *map = &f->maps[leaves[n]];
        w->at = dvec_add(w->at, dvec_scale(carried(map, rest), weights[n]));
        for (int i = 0; i < 9; i++) {
            w->linear.m[i / 3][i % 3] += weights[n] * map->linear.m[i / 3][i % 3];
        }
    }
    w->at = settled(w->at, f->t->voxels.spacing * 0x1p-20);
    return w;
}

static bool add_slash(lmi_memory *memory, lmi_slashes *s, const lmi_slash *slash)
{
    void *items = s->items;
    bool ok = lmi_reserve(memory, &items, &s->capacity, s->count + 1, sizeof *s->items);
    s->items = items;
    if (ok) {
        s->items[s->count++] = *slash;
    }
    return ok;
}

/* The links of a voxel to the next ones. */
static bool cut_voxel(finder *f, const lmi_blade_plane *planes, uint32_t count, uint32_t voxel, lmi_slashes *slashes)
{
    const lmi_octree *t = f->t;
    const where from = *find_voxel(f, voxel);
    for (uint32_t axis = 0; axis < 3; axis++) {
        int64_t at[3] = {t->at[voxel][0], t->at[voxel][1], t->at[voxel][2]};
        at[axis]++;
        uint32_t other = lmi_octree_voxel(t, at[0], at[1], at[2]);
        if (other == LMI_OCTREE_NONE || lmi_octree_is_slashed(t, voxel, axis)) {
            continue;
        }
        const lm_dvec3 to = find_voxel(f, other)->at;
        for (uint32_t n = 0; n < count; n++) {
            double share = lmi_blade_crossing(&planes[n], from.at, to);
            if (share < 0.0) {
                continue;
            }
            lm_dvec3 normal = dmat_apply_transposed(&from.linear, planes[n].normal);
            double length = dvec_length(normal);
            lmi_slash slash = {voxel, axis, share, dvec_scale(normal, length > 0.0 ? 1.0 / length : 0.0)};
            if (!add_slash(f->memory, slashes, &slash)) {
                return false;
            }
            break;
        }
    }
    return !f->failed;
}

/* Around a leaf's cell and the voxels beside it, as a map carries them. */
static lmi_box box_of(const lmi_octree *t, const lmi_octree_node *node, const lmi_octree_map *map)
{
    const lmi_voxels *v = &t->voxels;
    double half = 0.5 * v->spacing * (double)(1u << node->level), e = half + v->spacing, by[3];
    lm_dvec3 middle = dvec(v->first.x + v->spacing * ((double)node->cell[0] - t->pad[0]) + half,
                           v->first.y + v->spacing * ((double)node->cell[1] - t->pad[1]) + half,
                           v->first.z + v->spacing * ((double)node->cell[2] - t->pad[2]) + half);
    lm_dvec3 at = dvec_add(map->at, dmat_apply(&map->linear, dvec_sub(middle, map->rest)));
    for (int i = 0; i < 3; i++) {
        by[i] = e * (fabs(map->linear.m[i][0]) + fabs(map->linear.m[i][1]) + fabs(map->linear.m[i][2]));
    }
    lm_dvec3 around = dvec(by[0], by[1], by[2]);
    return (lmi_box){dvec_sub(at, around), dvec_add(at, around)};
}

/* Around all links of a leaf. The ends of a link are where the maps of the leaves around them carry them, each with a weight: they
 * lie between what these would do by themselves. */
static lmi_box box_of_links(const lmi_octree *t, const lmi_octree_map *maps, uint32_t leaf)
{
    const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
    lmi_box all = box_of(t, node, &maps[leaf]);
    for (uint32_t n = t->neighbours.offsets[leaf]; n < t->neighbours.offsets[leaf + 1]; n++) {
        lmi_box one = box_of(t, node, &maps[t->neighbours.items[n]]);
        all.low = dvec(fmin(all.low.x, one.low.x), fmin(all.low.y, one.low.y), fmin(all.low.z, one.low.z));
        all.high = dvec(fmax(all.high.x, one.high.x), fmax(all.high.y, one.high.y), fmax(all.high.z, one.high.z));
    }
    return all;
}

/* How far the voxels of a leaf and those beside them may be from its middle. */
static double reach_of(const lmi_octree *t, const lmi_octree_map *map, const lmi_octree_node *node)
{
    double square = 0.0;
    for (int i = 0; i < 9; i++) {
        square += map->linear.m[i / 3][i % 3] * map->linear.m[i / 3][i % 3];
    }
    return sqrt(square) * t->voxels.spacing * (2.0 * (double)(1u << node->level) + 4.0);
}

/* A box that is quickly found and has that of all links in it: most leaves are far from a blade. */
static lmi_box rough_box(const lmi_octree *t, const lmi_octree_map *maps, const double *reaches, uint32_t leaf)
{
    double reach = reaches[leaf];
    for (uint32_t n = t->neighbours.offsets[leaf]; n < t->neighbours.offsets[leaf + 1]; n++) {
        uint32_t other = t->neighbours.items[n];
        reach = fmax(reach, dvec_length(dvec_sub(maps[other].at, maps[leaf].at)) + fmax(reaches[other], reaches[leaf]));
    }
    lm_dvec3 around = dvec(reach, reach, reach);
    return (lmi_box){dvec_sub(maps[leaf].at, around), dvec_add(maps[leaf].at, around)};
}

/* The triangles that may meet a box, copied side by side. */
static uint32_t triangles_near(const lmi_blade *blade, const lmi_box *b, lmi_blade_plane *near)
{
    uint32_t kept = 0, count = lmi_blade_find(blade, b);
    lm_dvec3 at = dvec_scale(dvec_add(b->low, b->high), 0.5), half = dvec_scale(dvec_sub(b->high, b->low), 0.5);
    for (uint32_t n = 0; n < count; n++) {
        const lmi_blade_plane *p = &blade->planes[blade->found[n]];
        double away = dvec_dot(p->normal, dvec_sub(at, p->a));
        double reach = fabs(p->normal.x) * half.x + fabs(p->normal.y) * half.y + fabs(p->normal.z) * half.z;
        if (fabs(away) <= reach * (1.0 + 1e-9)) {
            near[kept++] = *p;
        }
    }
    return kept;
}

static int compare_slashes(const lmi_slash *a, const lmi_slash *b)
{
    uint64_t x = (uint64_t)a->voxel * 4 + a->axis, y = (uint64_t)b->voxel * 4 + b->axis;
    return x < y ? -1 : x > y;
}

/* By voxel and axis, so that nothing depends on how leaves are numbered. */
static void sort_slashes(lmi_slashes *s)
{
    for (uint32_t gap = s->count / 2; gap > 0; gap = gap == 2 ? 1 : (uint32_t)((uint64_t)gap * 5 / 11)) {
        for (uint32_t n = gap; n < s->count; n++) {
            lmi_slash slash = s->items[n];
            uint32_t at = n;
            for (; at >= gap && compare_slashes(&s->items[at - gap], &slash) > 0; at -= gap) {
                s->items[at] = s->items[at - gap];
            }
            s->items[at] = slash;
        }
    }
}

bool lmi_octree_find_slashes(const lmi_octree *t, lmi_memory *memory, const lmi_octree_map *maps,
                             const lmi_stroke *stroke, const uint32_t *pieces, lmi_slashes *slashes)
{
    memset(slashes, 0, sizeof *slashes);
    lmi_blade all;
    bool ready = lmi_blade_make(&all, memory, stroke->triangles, stroke->count);
    lmi_blade_plane *near = lmi_allocate(memory, stroke->count, sizeof *near);
    finder f = {.t = t, .memory = memory, .maps = maps, .known = lmi_allocate(memory, KNOWN, sizeof *f.known)};
    double *reaches = lmi_allocate(memory, t->leaf_count, sizeof *reaches);
    bool ok = ready && near && reaches && f.known && lmi_octree_around_make(&f.around, memory, t);
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        reaches[leaf] = reach_of(t, &maps[leaf], &t->nodes[t->leaves[leaf]]);
    }
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        lmi_box links = rough_box(t, maps, reaches, leaf);
        uint32_t few = 0;
        if (lmi_stroke_cuts(stroke, pieces ? pieces[leaf] : 0) && lmi_blade_is_near(&all, &links)) {
            links = box_of_links(t, maps, leaf);
            few = triangles_near(&all, &links, near);
        }
        for (uint32_t n = 0; ok && few && n < node->voxel_count; n++) {
            ok = cut_voxel(&f, near, few, t->voxel_order[node->first_voxel + n], slashes);
        }
    }
    lmi_blade_free(&all, memory);
    lmi_release(memory, near, stroke->count, sizeof *near);
    lmi_release(memory, reaches, t->leaf_count, sizeof *reaches);
    lmi_release(memory, f.known, KNOWN, sizeof *f.known);
    lmi_octree_around_free(&f.around, memory);
    if (ok) {
        sort_slashes(slashes);
    } else {
        lmi_slashes_free(slashes, memory);
    }
    return ok;
}

void lmi_slashes_free(lmi_slashes *s, lmi_memory *memory)
{
    lmi_release(memory, s->items, s->capacity, sizeof *s->items);
    memset(s, 0, sizeof *s);
}

/* ---- the cut ----
 *
 * A tree whose links a blade has cut (octree/octree_blade.h): the corners of the cut's faces.
 */

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
