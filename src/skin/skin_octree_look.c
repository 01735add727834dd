/*
 * Around vertices of an octree's skin (skin/skin_octree_look.h): whose they are, and where.
 *
 * The corners of faces that a blade has parted are moved onto the blade (octree/octree_blade.h), and what lies between them with
 * them, in proportion to how near they are. Vertices of the surface slide along it. All vertices at a place go the same way, so
 * that what was closed stays closed.
 */
#include "skin/skin_octree_look.h"

#include <math.h>

#define NONE LMI_OCTREE_NONE

/* How much further a vertex goes along the surface than across the blade, at most, and how far at all, in voxels. */
#define LONGER 4.0
#define FARTHEST 0.95

void lmi_shell_to_voxels(const lmi_octree_shell *shell, const double at[3], double out[3])
{
    for (uint32_t a = 0; a < 3; a++) {
        out[lmi_shell_mesh_axis(shell, a)] = at[a] - 0.5;
    }
}

uint32_t lmi_shell_voxel_at(const lmi_octree_shell *shell, const lmi_octree *t, const int32_t corner[3])
{
    int64_t at[3];
    for (uint32_t a = 0; a < 3; a++) {
        at[lmi_shell_mesh_axis(shell, a)] = (int64_t)corner[a] - 1;
    }
    return lmi_octree_voxel(t, at[0], at[1], at[2]);
}

uint32_t lmi_shell_box_of(const lmi_octree_shell *shell, const lmi_octree *t, uint32_t voxel)
{
    int32_t corner[3];
    for (uint32_t a = 0; a < 3; a++) {
        corner[a] = (int32_t)t->at[voxel][lmi_shell_mesh_axis(shell, a)] + 1;
    }
    return lmi_lattice_find(&shell->boxes, corner[0], corner[1], corner[2]);
}

uint32_t lmi_shell_cell_at(const lmi_octree_shell *shell, int64_t x, int64_t y, int64_t z)
{
    const lmi_lattice *l = &shell->boxes;
    const int32_t at[3] = {(int32_t)x, (int32_t)y, (int32_t)z};
    uint32_t lowest = lmi_lattice_find(l, at[lmi_shell_mesh_axis(shell, 0)], at[lmi_shell_mesh_axis(shell, 1)],
                                       at[lmi_shell_mesh_axis(shell, 2)]);
    bool is = lowest != LMI_LATTICE_NONE && (l->cell[lowest / LMI_BLOCK] >> (lowest % LMI_BLOCK) & 1);
    return is ? lowest : LMI_LATTICE_NONE;
}

/* Whether nothing parts a voxel around a vertex from the upper one along an axis. */
static bool is_joined(const lmi_octree_shell *shell, const lmi_octree *t, const lmi_shell_look *look, uint32_t k,
                      uint32_t axis)
{
    uint32_t up = k | 1u << axis;
    return look->voxel[k] != NONE && look->voxel[up] != NONE &&
           !lmi_octree_is_slashed(t, look->voxel[k], lmi_shell_mesh_axis(shell, axis));
}

static void find_groups(const lmi_octree_shell *shell, const lmi_octree *t, lmi_shell_look *look)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < 24; n++) {
            uint32_t k = n / 3, up = k | 1u << n % 3;
            if (up == k || look->group[k] == look->group[up] || !is_joined(shell, t, look, k, n % 3)) {
                continue;
            }
            uint8_t both = look->group[k] | look->group[up];
            for (uint32_t i = 0; i < 8; i++) {
                look->group[i] = both >> i & 1 ? both : look->group[i];
            }
            changed = true;
        }
    }
}

void lmi_shell_look_at(const lmi_octree_shell *shell, const lmi_octree *t, uint32_t vertex, lmi_shell_look *look)
{
    double at[3];
    const uint8_t planes = lmi_cut_place(shell->cut, &shell->boxes, vertex, at);
    look->vertex = vertex;
    look->parted = false;
    for (uint32_t k = 0; k < 8; k++) {
        int32_t corner[3];
        for (uint32_t a = 0; a < 3; a++) {
            corner[a] = (int32_t)floor(planes >> a & 1 ? at[a] : at[a] + 0.5) + (int32_t)(k >> a & 1);
        }
        look->voxel[k] = k & ~(uint32_t)planes ? NONE : lmi_shell_voxel_at(shell, t, corner);
        look->group[k] = (uint8_t)(1u << k);
    }
    for (uint32_t n = 0; planes && n < 24; n++) {
        uint32_t k = n / 3, axis = n % 3, up = k | 1u << axis;
        look->parted = look->parted || (up != k && look->voxel[k] != NONE && look->voxel[up] != NONE &&
                                        lmi_octree_is_slashed(t, look->voxel[k], lmi_shell_mesh_axis(shell, axis)));
    }
    if (look->parted) {
        find_groups(shell, t, look);
    }
}

uint32_t lmi_shell_group(const lmi_shell_look *look, uint32_t voxel, uint32_t *first)
{
    uint32_t group = 0;
    *first = voxel;
    if (!look->parted) {
        return LMI_SHELL_WHOLE;
    }
    for (uint32_t k = 0; k < 8; k++) {
        group = look->voxel[k] == voxel ? look->group[k] : group;
    }
    for (uint32_t k = 0; k < 8; k++) {
        *first = group >> k & 1 && look->voxel[k] < *first ? look->voxel[k] : *first;
    }
    return group;
}

/* --- where they are --- */

static size_t corner_bit(const lmi_octree *t, const uint32_t at[3])
{
    return ((size_t)at[2] * (t->voxels.n[1] + 1) + at[1]) * (t->voxels.n[0] + 1) + at[0];
}

void lmi_shell_mark_bends(lmi_octree_shell *shell, const lmi_octree *t, const lmi_octree *but, bool on)
{
    uint32_t k = 0, others = but ? but->bend_count : 0;
    for (uint32_t n = 0; n < t->bend_count; n++) {
        uint64_t corner = t->bends[n].corner;
        while (k < others && but->bends[k].corner < corner) {
            k++;
        }
        if (k < others && but->bends[k].corner == corner) {
            continue;
        }
        const uint32_t at[3] = {corner & 0xfffff, corner >> 20 & 0xfffff, (uint32_t)(corner >> 40)};
        size_t bit = corner_bit(t, at);
        uint8_t mask = (uint8_t)(1u << bit % 8);
        shell->bent[bit / 8] = on ? shell->bent[bit / 8] | mask : shell->bent[bit / 8] & (uint8_t)~mask;
    }
}

/* The corners around a place, in voxels, and what each counts there. Returns which of them count and are moved, as bits. */
static uint32_t corners_around(const lmi_octree_shell *shell, const lmi_octree *t, const double at[3],
                               uint32_t corner[8][3], double weight[8])
{
    uint32_t low[3], moved = 0;
    double part[3];
    for (int a = 0; a < 3; a++) {
        double most = (double)t->voxels.n[a], inside = fmin(fmax(at[a], 0.0), most);
        low[a] = (uint32_t)fmin(floor(inside), most - 1.0);
        part[a] = inside - low[a];
    }
    for (uint32_t k = 0; k < 8; k++) {
        weight[k] = 1.0;
        for (uint32_t a = 0; a < 3; a++) {
            corner[k][a] = low[a] + (k >> a & 1);
            weight[k] *= k >> a & 1 ? part[a] : 1.0 - part[a];
        }
        size_t bit = corner_bit(t, corner[k]);
        moved |= weight[k] > 0.0 && (shell->bent[bit / 8] >> bit % 8 & 1) ? 1u << k : 0;
    }
    return moved;
}

bool lmi_shell_is_bent(const lmi_octree_shell *shell, const lmi_octree *t, uint32_t vertex)
{
    double at[3], in[3], weight[8];
    uint32_t corner[8][3];
    lmi_cut_place(shell->cut, &shell->boxes, vertex, at);
    lmi_shell_to_voxels(shell, at, in);
    return corners_around(shell, t, in, corner, weight) != 0;
}

/* What the corners around a place move it by, in voxels. */
static lm_dvec3 bend_at(const lmi_octree_shell *shell, const lmi_octree *t, const double at[3])
{
    lm_dvec3 sum = lm_dvec3_zero();
    uint32_t corner[8][3];
    double weight[8];
    uint32_t moved = corners_around(shell, t, at, corner, weight);
    for (uint32_t k = 0; k < 8; k++) {
        if (moved >> k & 1) {
            lm_dvec3 by = lmi_octree_bend_at(t, corner[k][0], corner[k][1], corner[k][2]);
            sum = dvec_add(sum, dvec_scale(by, weight[k]));
        }
    }
    return sum;
}

/* A way across the blade as one along the surface that ends on the blade as well, as far as that is not too far. */
static lm_dvec3 along_surface(lm_dvec3 by, lm_dvec3 normal)
{
    lm_dvec3 along = dvec_sub(by, dvec_scale(normal, dvec_dot(by, normal)));
    double whole = dvec_dot(by, by), part = dvec_dot(along, along);
    double longer = part > 0.0 ? fmin(whole / part, LONGER) : 0.0;
    double length = longer * sqrt(part);
    return dvec_scale(along, length > FARTHEST ? longer * FARTHEST / length : longer);
}

lm_vec3 lmi_shell_place(const lmi_octree_shell *shell, const lmi_octree *t, uint32_t vertex)
{
    const lmi_voxels *v = &t->voxels;
    double at[3], in[3];
    lmi_cut_place(shell->cut, &shell->boxes, vertex, at);
    lmi_shell_to_voxels(shell, at, in);
    lm_dvec3 by = bend_at(shell, t, in), rest;
    if (vertex < LMI_CUT_NODE) { /* along the surface */
        by = along_surface(by, dvec_from(shell->normals[shell->cut->vertices[vertex].weld]));
        uint32_t given = shell->cut->vertices[vertex].given;
        if (given != LMI_LATTICE_NONE) {
            rest = dvec_from(shell->whole.vertices[given]);
            return vec_from(dvec_add(rest, dvec_scale(by, v->spacing)));
        }
    }
    rest = dvec(v->first.x + in[0] * v->spacing, v->first.y + in[1] * v->spacing, v->first.z + in[2] * v->spacing);
    return vec_from(dvec_add(rest, dvec_scale(by, v->spacing)));
}
