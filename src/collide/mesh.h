/*
 * Static triangle meshes: any soup of triangles as a collider.
 *
 * A *solid* mesh has an inside, where its winding number is above 0: closed parts that face outward, which may overlap. A
 * mesh that is not solid is a sheet of no thickness with two sides. Faces without area are ignored.
 *
 * Tree. Faces are sorted along a Morton curve and form a tree of boxes, four faces to a leaf, halves of the sorted order to
 * the left and right. It depends on the mesh alone, and queries walk it in a fixed order, so ties are broken the same way
 * everywhere.
 *
 * Cells. A coarse grid around the mesh knows for each cell how many cells away the surface is, and whether the cell is
 * inside. Most points are settled by one look at it. It has a bounded number of cells whatever the mesh is.
 */
#ifndef LMI_MESH_H
#define LMI_MESH_H

#include "base/memory.h"
#include "geometry/triangle.h"

#define LMI_MESH_MAX_TRIANGLES (1u << 24)
#define LMI_MESH_MAX_CELLS (1u << 18)

typedef struct lmi_mesh_node {
    float lower[3], upper[3];
    uint32_t first; /* leaf: face; else the right child, the left one comes next */
    uint32_t count; /* faces of a leaf, or 0 */
} lmi_mesh_node;

typedef struct lmi_mesh {
    bool solid;
    lm_vec3 *vertices; /* as given */
    uint32_t vertex_count;
    uint32_t *triangles;
    uint32_t triangle_count;

    LMI_FAR float (*faces)[9]; /* corners of the faces that have an area, in the order of the tree */
    uint32_t face_count;
    LMI_FAR lmi_mesh_node *nodes;
    uint32_t node_count;

    lm_dvec3 lower, upper; /* of the faces */
    double skin; /* metres that points are kept off the surface, so that rounding does not change their side */

    LMI_FAR int8_t *cells; /* 0: near the surface; else how many cells from there, at most; negative inside */
    uint32_t size[3];
    lm_dvec3 first; /* lowest corner of the first cell */
    double cell;    /* side, metres */

    struct lmi_mesh_motion *motion; /* of a mesh that deforms (mesh_motion.h), which has no cells; else null */
} lmi_mesh;

/* Where a query met the mesh. */
typedef struct lmi_mesh_hit {
    lm_dvec3 point;
    double distance; /* nearest: metres; crossing: share of the way */
    uint32_t face;
} lmi_mesh_hit;

#ifndef __OPENCL_VERSION__
/* What is wrong with the arrays, or null. */
const char *lmi_mesh_fault(const lm_vec3 *vertices, uint32_t vertex_count, const uint32_t *triangles,
                           uint32_t triangle_count);

/* Copies the arrays, which must be sound, and builds the rest. Null when out of memory. */
lmi_mesh *lmi_mesh_make(lmi_memory *memory, const lm_vec3 *vertices, uint32_t vertex_count, const uint32_t *triangles,
                        uint32_t triangle_count, bool solid);
/* The same of a mesh that deforms: triangles without an area are among its faces, since they may get one; no cells. */
lmi_mesh *lmi_mesh_make_deforming(lmi_memory *memory, const lm_vec3 *vertices, uint32_t vertex_count,
                                  const uint32_t *triangles, uint32_t triangle_count, bool solid);
void lmi_mesh_free(lmi_memory *memory, lmi_mesh *mesh);
#endif

static inline lmi_triangle lmi_mesh_face(const lmi_mesh *mesh, uint32_t face)
{
    LMI_FAR const float *f = mesh->faces[face];
    return (lmi_triangle){{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}, {f[6], f[7], f[8]}}};
}

/* ---- queries, in the mesh's own frame ---- */

/* The nearest point of the surface that is nearer than `most`. */
bool lmi_mesh_nearest(const lmi_mesh *mesh, lm_dvec3 p, double most, lmi_mesh_hit *hit);

/* Where a segment from a to b first passes through a face; with `front` only from a face's outside to its inside. */
bool lmi_mesh_crossed(const lmi_mesh *mesh, lm_dvec3 a, lm_dvec3 b, bool front, lmi_mesh_hit *hit);

/* Whether a point is inside a solid mesh; never for a sheet. */
bool lmi_mesh_inside(const lmi_mesh *mesh, lm_dvec3 p);

/* A distance within which there is no surface around p (0 near it), from the cells alone; *inside where p is in a cell that
 * is wholly inside. */
double lmi_mesh_clear(const lmi_mesh *mesh, lm_dvec3 p, bool *inside);

/* Whether a box (a frame and half extents along its axes) touches a face. */
bool lmi_mesh_touches_box(const lmi_mesh *mesh, lm_dvec3 centre, const dmat3 *axes, lm_dvec3 half);

/* ---- between mesh.c and mesh_query.c ---- */

/* Whether p is inside by its winding number, without the cells. */
bool lmi_mesh_wound(const lmi_mesh *mesh, lm_dvec3 p);

#endif
