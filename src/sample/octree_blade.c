/*
 * Which links a blade crosses (sample/octree_blade.h).
 *
 * A middle that lies exactly on a triangle counts as above it; which side is above depends on the plane and not on how the
 * triangle is turned, so that triangles side by side agree. Triangles include their borders, and a hair more: a blade has no
 * gaps between its triangles.
 */
#include "sample/octree_blade.h"

#include <math.h>
#include <string.h>

/* Of a triangle's size, by which it is larger. */
#define HAIR 1e-9

/* A triangle made ready. */
typedef struct edge_plane {
    lm_dvec3 a, normal;      /* with the length of twice the area */
    lm_dvec3 edge[3], in[3]; /* corners, and directions into the triangle across the edges behind them */
    lm_dvec3 low, high;
    double hair;
} edge_plane;

static bool prepare(const lmi_blade_triangle *t, edge_plane *p)
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

/* Where on the way from one point to another the triangle is, 0 to 1; below 0: nowhere. */
static double crossing(const edge_plane *p, lm_dvec3 from, lm_dvec3 to)
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

static lm_dvec3 middle_of(const lmi_octree *t, const lmi_octree_map *maps, uint32_t voxel)
{
    const lmi_voxels *v = &t->voxels;
    const lmi_octree_map *map = &maps[t->nodes[t->owner[voxel]].leaf];
    lm_dvec3 rest =
        dvec(v->first.x + (t->at[voxel][0] + 0.5) * v->spacing, v->first.y + (t->at[voxel][1] + 0.5) * v->spacing,
             v->first.z + (t->at[voxel][2] + 0.5) * v->spacing);
    return dvec_add(map->at, dmat_apply(&map->linear, dvec_sub(rest, map->rest)));
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
static bool cut_voxel(const lmi_octree *t, lmi_memory *memory, const lmi_octree_map *maps, const edge_plane *planes,
                      uint32_t count, uint32_t voxel, lmi_slashes *slashes)
{
    lm_dvec3 from = middle_of(t, maps, voxel);
    for (uint32_t axis = 0; axis < 3; axis++) {
        int64_t at[3] = {t->at[voxel][0], t->at[voxel][1], t->at[voxel][2]};
        at[axis]++;
        uint32_t other = lmi_octree_voxel(t, at[0], at[1], at[2]);
        if (other == LMI_OCTREE_NONE || lmi_octree_is_slashed(t, voxel, axis)) {
            continue;
        }
        lm_dvec3 to = middle_of(t, maps, other);
        for (uint32_t n = 0; n < count; n++) {
            double share = crossing(&planes[n], from, to);
            if (share < 0.0) {
                continue;
            }
            const dmat3 *linear = &maps[t->nodes[t->owner[voxel]].leaf].linear;
            lm_dvec3 normal = dmat_apply_transposed(linear, planes[n].normal);
            double length = dvec_length(normal);
            lmi_slash slash = {voxel, axis, share, dvec_scale(normal, length > 0.0 ? 1.0 / length : 0.0)};
            if (!add_slash(memory, slashes, &slash)) {
                return false;
            }
            break;
        }
    }
    return true;
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

/* The triangles near a leaf, copied side by side. A link may lead to a leaf that is stretched away from this one: those of its
 * border are looked at with that one's place in mind as well. */
static uint32_t triangles_near(const edge_plane *all, uint32_t count, lm_dvec3 at, double reach, edge_plane *near)
{
    uint32_t found = 0;
    for (uint32_t n = 0; n < count; n++) {
        const edge_plane *p = &all[n];
        if (p->low.x <= at.x + reach && p->low.y <= at.y + reach && p->low.z <= at.z + reach &&
            p->high.x >= at.x - reach && p->high.y >= at.y - reach && p->high.z >= at.z - reach) {
            near[found++] = *p;
        }
    }
    return found;
}

/* The same with the leaves that are its neighbours, which its links may lead to. */
static double reach_with_neighbours(const lmi_octree *t, const lmi_octree_map *maps, uint32_t leaf)
{
    double reach = reach_of(t, &maps[leaf], &t->nodes[t->leaves[leaf]]), own = reach;
    for (uint32_t n = t->neighbours.offsets[leaf]; n < t->neighbours.offsets[leaf + 1]; n++) {
        uint32_t other = t->neighbours.items[n];
        double away = dvec_length(dvec_sub(maps[other].at, maps[leaf].at));
        reach = fmax(reach, away + reach_of(t, &maps[other], &t->nodes[t->leaves[other]]));
    }
    return fmax(own, reach);
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
                             const lmi_blade_triangle *blade, uint32_t triangle_count, lmi_slashes *slashes)
{
    memset(slashes, 0, sizeof *slashes);
    edge_plane *all = lmi_allocate(memory, triangle_count, sizeof *all);
    edge_plane *near = lmi_allocate(memory, triangle_count, sizeof *near);
    bool ok = all && near;
    uint32_t count = 0;
    for (uint32_t n = 0; ok && n < triangle_count; n++) {
        count += prepare(&blade[n], &all[count]);
    }
    for (uint32_t leaf = 0; ok && leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        uint32_t few = triangles_near(all, count, maps[leaf].at, reach_with_neighbours(t, maps, leaf), near);
        for (uint32_t n = 0; ok && few && n < node->voxel_count; n++) {
            ok = cut_voxel(t, memory, maps, near, few, t->voxel_order[node->first_voxel + n], slashes);
        }
    }
    lmi_release(memory, all, triangle_count, sizeof *all);
    lmi_release(memory, near, triangle_count, sizeof *near);
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
