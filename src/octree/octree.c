#include "octree/octree.h"
#include "base/compiler.h"
#include "octree/octree_body.h"

#include <stdlib.h>
#include <string.h>

/* --- lists --- */

bool lmi_octree_lists_make(lmi_octree_lists *lists, lmi_memory *memory, uint32_t count)
{
    memset(lists, 0, sizeof *lists);
    lists->offsets = lmi_allocate(memory, (size_t)count + 1, sizeof *lists->offsets);
    lists->count = count;
    return lists->offsets != NULL;
}

bool lmi_octree_lists_add(lmi_octree_lists *lists, lmi_memory *memory, uint32_t item)
{
    if (lists->item_count == lists->item_capacity) {
        void *items = lists->items;
        bool ok = lmi_reserve(memory, &items, &lists->item_capacity, lists->item_count + 1, sizeof *lists->items);
        lists->items = items;
        if (!ok) {
            return false;
        }
    }
    lists->items[lists->item_count++] = item;
    return true;
}

void lmi_octree_lists_free(lmi_octree_lists *lists, lmi_memory *memory)
{
    if (lists->offsets) {
        lmi_release(memory, lists->offsets, (size_t)lists->count + 1, sizeof *lists->offsets);
    }
    lmi_release(memory, lists->items, lists->item_capacity, sizeof *lists->items);
    memset(lists, 0, sizeof *lists);
}

/* --- voxels --- */

static void number_voxels(lmi_octree *t)
{
    const lmi_voxels *v = &t->voxels;
    uint32_t voxel = 0;
    size_t word = 0;
    for (uint32_t z = 0; z < v->n[2]; z++) {
        for (uint32_t y = 0; y < v->n[1]; y++) {
            for (uint32_t w = 0; w < v->row_words; w++, word++) {
                t->word_rank[word] = voxel;
                for (uint64_t bits = v->bits[word]; bits; bits &= bits - 1) {
                    t->at[voxel][0] = (uint16_t)(w * 64 + (uint32_t)lmi_low_bit(bits));
                    t->at[voxel][1] = (uint16_t)y;
                    t->at[voxel][2] = (uint16_t)z;
                    t->voxel_order[voxel] = voxel;
                    voxel++;
                }
            }
        }
    }
}

lm_result lmi_octree_begin(lmi_octree *t, lmi_memory *memory, lmi_voxels *voxels, uint32_t levels)
{
    memset(t, 0, sizeof *t);
    t->voxels = *voxels;
    memset(voxels, 0, sizeof *voxels);
    const lmi_voxels *v = &t->voxels;
    t->levels = levels;
    if (v->cell_count > LMI_OCTREE_MAX_VOXELS) {
        lmi_octree_free(t, memory);
        return LM_ERROR_LIMIT;
    }
    for (int k = 0; k < 3; k++) {
        uint32_t side = 1u << levels;
        t->base[k] = (v->n[k] + side - 1) / side;
        t->pad[k] = (t->base[k] * side - v->n[k]) / 2;
    }
    t->voxel_count = (uint32_t)v->cell_count;
    t->word_rank = lmi_allocate(memory, (size_t)v->row_words * v->n[1] * v->n[2], sizeof *t->word_rank);
    t->at = lmi_allocate(memory, t->voxel_count, sizeof *t->at);
    t->cut = lmi_allocate(memory, t->voxel_count, sizeof *t->cut);
    t->owner = lmi_allocate(memory, t->voxel_count, sizeof *t->owner);
    t->voxel_order = lmi_allocate(memory, t->voxel_count, sizeof *t->voxel_order);
    t->users = lmi_allocate(memory, 1, sizeof *t->users);
    t->owners = lmi_allocate(memory, 1, sizeof *t->owners);
    if (t->users) {
        *t->users = 1; /* also while others of these are missing: then they are freed with it */
    }
    if (!t->word_rank || !t->at || !t->cut || !t->owner || !t->voxel_order || !t->users || !t->owners) {
        lmi_octree_free(t, memory);
        return LM_ERROR_MEMORY;
    }
    *t->owners = 1;
    number_voxels(t);
    return LM_OK;
}

bool lmi_octree_share(lmi_octree *t, lmi_memory *memory, const lmi_octree *before)
{
    *t = (lmi_octree){.voxels = before->voxels,
                      .levels = before->levels,
                      .word_rank = before->word_rank,
                      .voxel_count = before->voxel_count,
                      .at = before->at,
                      .users = before->users,
                      .slack = before->slack};
    memcpy(t->pad, before->pad, sizeof t->pad);
    memcpy(t->base, before->base, sizeof t->base);
    (*t->users)++;
    t->cut = lmi_allocate_plain(memory, t->voxel_count, sizeof *t->cut);
    t->owner = lmi_allocate_plain(memory, t->voxel_count, sizeof *t->owner);
    t->voxel_order = lmi_allocate_plain(memory, t->voxel_count, sizeof *t->voxel_order);
    t->owners = lmi_allocate(memory, 1, sizeof *t->owners);
    if (!t->cut || !t->owner || !t->voxel_order || !t->owners) {
        lmi_octree_free(t, memory);
        return false;
    }
    *t->owners = 1;
    memcpy(t->cut, before->cut, t->voxel_count * sizeof *t->cut);
    memset(t->owner, 0xff, t->voxel_count * sizeof *t->owner);
    return true;
}

/* What all trees on the same voxels have in common. */
static void free_shared(lmi_octree *t, lmi_memory *memory)
{
    const lmi_voxels *v = &t->voxels;
    if (t->users && *t->users > 1) {
        --*t->users;
        return;
    }
    lmi_release(memory, t->word_rank, (size_t)v->row_words * v->n[1] * v->n[2], sizeof *t->word_rank);
    lmi_release(memory, t->at, t->voxel_count, sizeof *t->at);
    lmi_release(memory, t->users, 1, sizeof *t->users);
    lmi_voxels_free(memory, &t->voxels);
}

void lmi_octree_join(lmi_octree *t, const lmi_octree *other)
{
    *t = *other;
    ++*t->owners;
}

static void copy_lists(lmi_memory *memory, lmi_octree_lists *lists, bool *ok)
{
    LMI_COPY_ARRAY(memory, lists, offsets, (size_t)lists->count + 1, ok);
    LMI_COPY_ARRAY(memory, lists, items, lists->item_capacity, ok);
}

bool lmi_octree_own(lmi_octree *t, lmi_memory *memory)
{
    if (*t->owners == 1) {
        return true;
    }
    lmi_octree own = *t;
    bool ok = true;
    ++*own.users;
    LMI_COPY_ARRAY(memory, &own, owners, 1, &ok);
    LMI_COPY_ARRAY(memory, &own, cut, t->voxel_count, &ok);
    LMI_COPY_ARRAY(memory, &own, owner, t->voxel_count, &ok);
    LMI_COPY_ARRAY(memory, &own, voxel_order, t->voxel_count, &ok);
    LMI_COPY_ARRAY(memory, &own, nodes, t->node_capacity, &ok);
    LMI_COPY_ARRAY(memory, &own, leaves, t->leaf_count, &ok);
    LMI_COPY_ARRAY(memory, &own, width, t->leaf_count, &ok);
    LMI_COPY_ARRAY(memory, &own, lengths, t->neighbours.item_capacity, &ok);
    LMI_COPY_ARRAY(memory, &own, bends, t->bend_count, &ok);
    copy_lists(memory, &own.faces, &ok);
    copy_lists(memory, &own.around, &ok);
    copy_lists(memory, &own.neighbours, &ok);
    copy_lists(memory, &own.regions, &ok);
    if (own.owners) {
        *own.owners = 1;
    }
    lmi_octree_free(ok ? t : &own, memory);
    if (ok) {
        *t = own;
    }
    return ok;
}

void lmi_octree_free(lmi_octree *t, lmi_memory *memory)
{
    if (t->owners && *t->owners > 1) {
        --*t->owners;
        memset(t, 0, sizeof *t);
        return;
    }
    free_shared(t, memory);
    lmi_release(memory, t->owners, 1, sizeof *t->owners);
    lmi_release(memory, t->cut, t->voxel_count, sizeof *t->cut);
    lmi_release(memory, t->owner, t->voxel_count, sizeof *t->owner);
    lmi_release(memory, t->voxel_order, t->voxel_count, sizeof *t->voxel_order);
    lmi_release(memory, t->nodes, t->node_capacity, sizeof *t->nodes);
    lmi_release(memory, t->leaves, t->leaf_count, sizeof *t->leaves);
    lmi_release(memory, t->width, t->leaf_count, sizeof *t->width);
    lmi_octree_lists_free(&t->faces, memory);
    lmi_octree_lists_free(&t->around, memory);
    lmi_release(memory, t->lengths, t->neighbours.item_capacity, sizeof *t->lengths);
    lmi_octree_lists_free(&t->neighbours, memory);
    lmi_octree_lists_free(&t->regions, memory);
    lmi_release(memory, t->bends, t->bend_count, sizeof *t->bends);
    memset(t, 0, sizeof *t);
}

/* ---- links that the surface cuts ----
 *
 * Links that the surface cuts.
 *
 * Along every line through the middles of voxels, where the surface goes out of the body and in again a little further on,
 * the link halfway between is cut: that is a gap too narrow for the voxels to show, between two fingers say. Gaps of three
 * voxels and more show by themselves, and what is farther apart inside the filled part (a cavity) is filled on purpose.
 *
 * Which way a face looks is taken from its corners, all of them the other way round where the mesh as a whole is inside out.
 */

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

/* ---- around a point ---- */

uint32_t lmi_octree_leaf_at(const lmi_octree *t, lm_vec3 point)
{
    uint32_t cell[3];
    lmi_voxels_locate(&t->voxels, dvec_from(point), cell);
    uint32_t voxel = lmi_octree_voxel(t, cell[0], cell[1], cell[2]);
    return t->nodes[t->owner[voxel]].leaf;
}

double lmi_octree_mean_side(const lmi_body *body)
{
    const lmi_octree *t = &body->octree->tree;
    double sum = 0.0;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        sum += (double)(1u << t->nodes[t->leaves[leaf]].level);
    }
    return t->voxels.spacing * sum / t->leaf_count;
}
