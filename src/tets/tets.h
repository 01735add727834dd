/*
 * tets/: bodies of tetrahedra: meshes that are given or made, their bodies, and what a point of the rest pose rides on.
 *
 * reads   tetrahedra or surfaces of callers
 * writes  checked tetrahedra; a body of clusters that keeps them
 * uses    base geometry; in sources also world
 *
 *   tets.c  meshes          tets_body.c  bodies          embed_tets.c  a point in its tetrahedron
 *
 * Tetrahedra: checks of those that are given, and our own from the cells of a lattice.
 *
 * A tetrahedron is the right way round when its second, third and fourth corner are counter-clockwise seen from outside:
 * then det(x1 - x0, x2 - x0, x3 - x0), six times its volume, is positive. Programs differ in this; a mesh that is the other
 * way round as a whole is turned.
 */
#ifndef LMI_TETS_H
#define LMI_TETS_H

#include "base/memory.h"
#include "base/vec.h"
#include "geometry/voxel.h"

#define LMI_TETS_MOST (1u << 26)
#define LMI_TETS_FAULT_SIZE LMI_VOXEL_FAULT_SIZE

/* Six volumes below this share of the longest edge cubed count as none: single precision cannot tell on which side of its
 * base the top of such a tetrahedron is. */
#define LMI_TETS_FLATTEST 1e-7

/* Vertices and tetrahedra that lmi_tets_... made. */
typedef struct lmi_tets {
    lm_vec3 *points;
    uint32_t point_count;
    uint32_t *tets; /* four indices each, the right way round */
    uint32_t tet_count;
} lmi_tets;

void lmi_tets_free(lmi_memory *memory, lmi_tets *tets);

/* Six times the signed volume of a tetrahedron. */
double lmi_tet_six_volumes(const lm_vec3 *points, const uint32_t *tet);

/* Whether it has a volume and is the right way round. */
bool lmi_tet_is_sound(const lm_vec3 *points, const uint32_t *tet);

/* A copy of a caller's mesh, turned where all of it is inverted. LM_ERROR_ARGUMENT (a vertex that is not finite or in no
 * tetrahedron, an index out of range, a tetrahedron without volume or turned against the others), LM_ERROR_LIMIT or
 * LM_ERROR_MEMORY; `fault` then has a sentence that names the vertex or the tetrahedron, and *tets is empty. */
lm_result lmi_tets_copy(lmi_memory *memory, const lm_tets *def, lmi_tets *tets, char fault[LMI_TETS_FAULT_SIZE]);

/* The occupied cells, each divided into five tetrahedra, in two ways that take turns: faces of neighbours are divided alike,
 * and no direction is preferred. (Six around a diagonal, the same in all cells, need no turns; but a beam of them bent sideways
 * by a quarter to a third of how far it sank.) Corners are in turns in rings of 18 others and of 6.
 * Points are the corners of occupied cells, along x first, then y, then z. LM_ERROR_LIMIT or LM_ERROR_MEMORY. */
lm_result lmi_tets_of_voxels(lmi_memory *memory, const lmi_voxels *voxels, lmi_tets *tets);

/* The share of the whole volume that belongs to each point: a quarter of each of its tetrahedra. They add up to 1. */
void lmi_tets_volume_shares(const lmi_tets *tets, double *shares);

#endif
