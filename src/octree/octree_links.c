/*
 * Links that the surface cuts.
 *
 * Along every line through the middles of voxels, where the surface goes out of the body and in again a little further on,
 * the link halfway between is cut: that is a gap too narrow for the voxels to show, between two fingers say. Gaps of three
 * voxels and more show by themselves, and what is farther apart inside the filled part (a cavity) is filled on purpose.
 *
 * Which way a face looks is taken from its corners, all of them the other way round where the mesh as a whole is inside out.
 */
#include "octree/octree.h"

#include <stdlib.h>

/* Where a line along an axis meets the surface. */
typedef struct crossing {
    uint64_t line;
    double at; /* voxels along the axis */
    int32_t out;
} crossing;

typedef struct crossings {
    crossing *list;
    uint32_t count, capacity;
} crossings;

/* On a line, in order; out before in, so that faces that lie upon each other part the body. */
static int compare(const void *a, const void *b)
{
    const crossing *x = a, *y = b;
    if (x->line != y->line) {
        return x->line < y->line ? -1 : 1;
    }
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return y->out - x->out;
}

static double component(lm_dvec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

/* Six times the volume that the faces enclose. */
static double volume_of(const lmi_octree_mesh *mesh, lm_dvec3 from)
{
    double volume = 0.0;
    for (uint32_t n = 0; n < mesh->triangle_count; n++) {
        const uint32_t *face = mesh->triangles + (size_t)n * 3;
        lm_dvec3 a = dvec_sub(dvec_from(mesh->vertices[face[0]]), from);
        lm_dvec3 b = dvec_sub(dvec_from(mesh->vertices[face[1]]), from);
        lm_dvec3 c = dvec_sub(dvec_from(mesh->vertices[face[2]]), from);
        volume += dvec_dot(a, dvec_cross(b, c));
    }
    return volume;
}

/* The lines along `axis` that a face meets. `p`: its corners, in voxels. */
static bool add_face(const lmi_octree *t, lmi_memory *memory, const lm_dvec3 p[3], int axis, bool inside_out,
                     crossings *found)
{
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    double u[3], v[3], low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        u[k] = component(p[k], b) - 0.5; /* whole numbers are lines */
        v[k] = component(p[k], c) - 0.5;
        low[0] = fmin(low[0], u[k]), high[0] = fmax(high[0], u[k]);
        low[1] = fmin(low[1], v[k]), high[1] = fmax(high[1], v[k]);
    }
    double area = (u[1] - u[0]) * (v[2] - v[0]) - (u[2] - u[0]) * (v[1] - v[0]);
    if (area == 0.0) {
        return true;
    }
    double last[2] = {fmin(high[0], t->voxels.n[b] - 1.0), fmin(high[1], t->voxels.n[c] - 1.0)};
    for (double j = fmax(ceil(low[1]), 0.0); j <= last[1]; j += 1.0) {
        for (double i = fmax(ceil(low[0]), 0.0); i <= last[0]; i += 1.0) {
            double w[3], sum = 0.0, at = 0.0;
            bool inside = true;
            for (int k = 0; k < 3; k++) { /* the corners' weights at (i, j) */
                int l = (k + 1) % 3, m = (k + 2) % 3;
                w[k] = ((u[l] - i) * (v[m] - j) - (u[m] - i) * (v[l] - j)) / area;
                inside = inside && w[k] >= 0.0;
                sum += w[k];
                at += w[k] * component(p[k], axis);
            }
            if (!inside) {
                continue;
            }
            void *list = found->list;
            bool ok = lmi_reserve(memory, &list, &found->capacity, found->count + 1, sizeof *found->list);
            found->list = list;
            if (!ok) {
                return false;
            }
            crossing one = {(uint64_t)j * t->voxels.n[b] + (uint64_t)i, at / sum, (area > 0.0) != inside_out};
            found->list[found->count++] = one;
        }
    }
    return true;
}

/* Cuts the link halfway between two crossings of a line. */
static void cut_between(lmi_octree *t, int axis, const crossing *out, const crossing *in)
{
    int b = (axis + 1) % 3;
    int64_t at[3];
    at[axis] = (int64_t)floor(0.5 * (out->at + in->at) - 0.5); /* the voxel whose middle is before */
    at[b] = (int64_t)(out->line % t->voxels.n[b]);
    at[(axis + 2) % 3] = (int64_t)(out->line / t->voxels.n[b]);
    uint32_t voxel = lmi_octree_voxel(t, at[0], at[1], at[2]);
    if (voxel != LMI_OCTREE_NONE) {
        t->cut[voxel] |= (uint8_t)(1 << axis);
    }
}

#define WIDEST_GAP 3.0 /* voxels */

bool lmi_octree_cut_gaps(lmi_octree *t, lmi_memory *memory, const lmi_octree_mesh *mesh)
{
    bool ok = true, inside_out = volume_of(mesh, t->voxels.first) < 0.0;
    for (int axis = 0; ok && axis < 3; axis++) {
        crossings found = {0};
        for (uint32_t n = 0; ok && n < mesh->triangle_count; n++) {
            lm_dvec3 p[3];
            for (int k = 0; k < 3; k++) {
                lm_vec3 vertex = mesh->vertices[mesh->triangles[(size_t)n * 3 + (size_t)k]];
                p[k] = dvec_scale(dvec_sub(dvec_from(vertex), t->voxels.first), 1.0 / t->voxels.spacing);
            }
            ok = add_face(t, memory, p, axis, inside_out, &found);
        }
        if (ok && found.count) {
            qsort(found.list, found.count, sizeof *found.list, compare);
        }
        for (uint32_t n = 1; ok && n < found.count; n++) {
            const crossing *a = &found.list[n - 1], *b = &found.list[n];
            if (a->line == b->line && a->out && !b->out && b->at - a->at < WIDEST_GAP) {
                cut_between(t, axis, a, b);
            }
        }
        lmi_release(memory, found.list, found.capacity, sizeof *found.list);
    }
    return ok;
}
