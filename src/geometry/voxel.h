/*
 * Voxels: the cells of a cubic lattice that a triangle mesh touches, and what it encloses.
 *
 * The mesh may be any soup of triangles: open, self-intersecting, in many parts, with repeated faces. Faces without area
 * are ignored: nobody sees them.
 *
 * Place of the lattice. It is centred on the bounding box of the faces, with as few cells along each axis as cover the
 * box: a box whose sides are whole multiples of the spacing is filled exactly (a unit cube at a spacing of 1/4 gives
 * 4 x 4 x 4 cells and 5 x 5 x 5 corners), and a shape that is its own mirror image has voxels that are. A flat mesh lies
 * in the middle of one layer of cells.
 *
 * Which cells are touched. Vertices are first moved to the nearest point of a sub-lattice of 1/4096 of a cell (1/1024 in
 * the largest lattices), from where on all arithmetic is on integers and exact: results do not depend on the machine, nor
 * on the order of vertices and triangles. A face touches the cells whose inside (without the border) it meets. A face
 * that lies in the border between two layers of cells meets neither; it counts as half a cell further back, against its
 * normal, that is on the side of the material. (A mesh that is inside out as a whole is seen the right way round.) So a
 * border through a face never thickens a body, and no face is lost: each vertex of a face lies in a touched cell or on
 * its border.
 *
 * Solid: cells that cannot be reached from outside through untouched cells, going from face to face, are inside. A closed
 * surface never leaks, whatever its orientation. A surface with holes larger than about a cell does: then only the
 * touched cells remain. Shell: only the touched cells.
 */
#ifndef LMI_VOXEL_H
#define LMI_VOXEL_H

#include "base/memory.h"

#define LMI_VOXEL_MAX_AXIS (1u << 16)  /* cells along an axis */
#define LMI_VOXEL_MAX_WORDS (1u << 25) /* 64-bit words of cells, 256 MiB: 2^31 cells when rows fill their words */
#define LMI_VOXEL_MIN_PARTICLES 8u     /* the corners of one cell */
#define LMI_VOXEL_FAULT_SIZE 200       /* bytes for a sentence that says what is wrong */

typedef struct lmi_voxel_def {
    const lm_vec3 *vertices;
    uint32_t vertex_count;
    const uint32_t *triangles; /* three indices each */
    uint32_t triangle_count;
    double spacing;     /* side of a cell, metres, above 0; or 0: found from `particles` */
    uint32_t particles; /* with a spacing of 0: the number of corners wanted; the spacing whose number comes nearest is
                         * searched for. LMI_VOXEL_MIN_PARTICLES to LM_MAX_PARTICLES. */
    bool shell;         /* leave the inside empty */
} lmi_voxel_def;

/* The box of cells, and which of them are occupied. The first and last layer along each axis have occupied cells. */
typedef struct lmi_voxels {
    double spacing;         /* side of a cell, metres */
    lm_dvec3 first;         /* position of corner (0, 0, 0), in the frame of the vertices */
    uint32_t n[3];          /* cells along x, y, z; corners are one more */
    uint32_t row_words;     /* 64-bit words of a row of cells along x */
    uint64_t *bits;         /* a bit for each cell, x fastest, then y, then z; the padding of a row is 0 */
    uint64_t cell_count;    /* occupied cells */
    uint64_t touched;       /* those of them that the surface touches */
    uint32_t corner_count;  /* corners of occupied cells: the particles */
    const uint64_t *absent; /* [absent_count] corners (lmi_voxels_pack) that have no particle; borrowed */
    uint32_t absent_count;
} lmi_voxels;

/* A corner as a number, and back. */
static inline uint64_t lmi_voxels_pack(uint32_t x, uint32_t y, uint32_t z)
{
    return (uint64_t)x | (uint64_t)y << 20 | (uint64_t)z << 40;
}

static inline void lmi_voxels_unpack(uint64_t corner, uint32_t at[3])
{
    at[0] = corner & 0xfffff, at[1] = corner >> 20 & 0xfffff, at[2] = (uint32_t)(corner >> 40);
}

/* LM_ERROR_ARGUMENT (a vertex that is not finite, an index out of range, no face with an area, a bad spacing or number of
 * particles), LM_ERROR_LIMIT (more cells than LMI_VOXEL_MAX_..., which is found before they are allocated, or more corners
 * than LM_MAX_PARTICLES) or LM_ERROR_MEMORY. `fault` then has a sentence with what was asked and what is allowed, and
 * *voxels is empty.
 *
 * Memory while it works, beside the result: twelve bytes for each vertex and face, and for a solid about one and a half
 * times the bits of the box once more. */
lm_result lmi_voxels_make(lmi_memory *memory, const lmi_voxel_def *def, lmi_voxels *voxels,
                          char fault[LMI_VOXEL_FAULT_SIZE]);
void lmi_voxels_free(lmi_memory *memory, lmi_voxels *voxels);

/* The words of the row of cells at (y, z). */
static inline const uint64_t *lmi_voxels_row(const lmi_voxels *voxels, uint32_t y, uint32_t z)
{
    return voxels->bits + ((size_t)z * voxels->n[1] + y) * voxels->row_words;
}

/* Whether a cell is occupied; the coordinates may lie outside the box, where nothing is. */
static inline bool lmi_voxels_cell(const lmi_voxels *voxels, int64_t x, int64_t y, int64_t z)
{
    return x >= 0 && y >= 0 && z >= 0 && x < voxels->n[0] && y < voxels->n[1] && z < voxels->n[2] &&
           (lmi_voxels_row(voxels, (uint32_t)y, (uint32_t)z)[x / 64] >> (x % 64) & 1);
}

/* The position of a corner, in the frame of the vertices. */
static inline lm_dvec3 lmi_voxels_position(const lmi_voxels *voxels, uint32_t x, uint32_t y, uint32_t z)
{
    lm_dvec3 position = {voxels->first.x + x * voxels->spacing, voxels->first.y + y * voxels->spacing,
                         voxels->first.z + z * voxels->spacing};
    return position;
}

/* Words of a row of corners along x. */
static inline uint32_t lmi_voxels_corner_words(const lmi_voxels *voxels) { return voxels->n[0] / 64 + 1; }

/* Writes the row of corners at (y, z), up to and including n[1] and n[2]: a bit for each corner of an occupied cell,
 * lmi_voxels_corner_words words, the padding 0. Returns the number of bits set. */
uint32_t lmi_voxels_corner_row(const lmi_voxels *voxels, uint32_t y, uint32_t z, uint64_t *row);

/* The occupied cell that holds a point, or the nearest one: rounding puts a vertex up to half a step of the sub-lattice
 * outside the cell it was found to touch, and a vertex without faces may lie anywhere. */
void lmi_voxels_locate(const lmi_voxels *voxels, lm_dvec3 point, uint32_t cell[3]);

/* ---- between voxel.c and voxel_touch.c ---- */

typedef struct lmi_voxel_mesh {
    const lm_vec3 *vertices; /* as given */
    uint32_t vertex_count;
    uint32_t *faces; /* three indices each; only faces with an area */
    uint32_t face_count, face_capacity;
    double centre[3], half[3]; /* the box of the faces, metres */
    bool inside_out;           /* the faces are clockwise from outside */
    int32_t *snapped; /* three coordinates for each vertex, in steps of the sub-lattice from corner (0, 0, 0) */
    uint32_t steps;   /* 2^steps to a cell */
} lmi_voxel_mesh;

/* Whether a lattice of this spacing is within LMI_VOXEL_MAX_... . */
bool lmi_voxels_fit(const lmi_voxel_mesh *mesh, double spacing);

/* The voxels at a spacing. */
lm_result lmi_voxels_at(lmi_memory *memory, lmi_voxel_mesh *mesh, double spacing, bool shell, lmi_voxels *voxels,
                        char *fault);

/* The voxels at the spacing where the number of corners comes nearest to `particles`. */
lm_result lmi_voxels_search(lmi_memory *memory, lmi_voxel_mesh *mesh, uint32_t particles, bool shell,
                            lmi_voxels *voxels, char *fault);

/* Sets the bits of the cells the mesh touches. */
void lmi_voxels_touch(lmi_voxels *voxels, const lmi_voxel_mesh *mesh);

/* Sets the bits of the cells that cannot be reached from outside. False when there is no memory. */
bool lmi_voxels_fill(lmi_memory *memory, lmi_voxels *voxels);

#endif
