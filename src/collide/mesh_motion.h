/*
 * A mesh whose vertices move: where they are in each substep, and what that does to points in their way.
 *
 * reads   where the vertices are to be at the end of a step
 * writes  faces, boxes of the tree and bounds of the mesh in each substep
 *
 * In a substep a face goes from where it was (`before`) to where it is (`faces` of the mesh), its corners in straight lines. The boxes
 * of the tree hold both, so that every query may use them.
 */
#ifndef LMI_MESH_MOTION_H
#define LMI_MESH_MOTION_H

#include "collide/mesh.h"

typedef struct lmi_mesh_motion {
    uint32_t *order;           /* [face] its triangle */
    float (*before)[9];        /* [face] its corners at the beginning of the substep */
    lm_vec3 *now;              /* [vertex] */
    lm_vec3 *start, *target;   /* [vertex] at the beginning and the end of a step */
    bool has_target;           /* the next step ends at `target` */
    bool moves;                /* in this substep: `before` is not `faces` */
    double seconds;            /* of the substep */
    lm_dvec3 t_lower, t_upper; /* bounds of `target` */
} lmi_mesh_motion;

/* Of a mesh with its counts; false when out of memory. What was made is freed with the mesh. */
bool lmi_mesh_motion_make(lmi_memory *memory, lmi_mesh *mesh);
void lmi_mesh_motion_free(lmi_memory *memory, lmi_mesh *mesh);

/* What is wrong with positions for the vertices, or null. */
const char *lmi_mesh_motion_fault(const lmi_mesh *mesh, const lm_vec3 *vertices, uint32_t count);

/* The vertices are there at once; or at the end of the next step. */
void lmi_mesh_set_to(lmi_mesh *mesh, const lm_vec3 *vertices);
void lmi_mesh_move_to(lmi_mesh *mesh, const lm_vec3 *vertices);

/* After `now` and `target` were written by another: the faces follow. Positions that are not sound are not looked at. */
void lmi_mesh_rest(lmi_mesh *mesh, bool has_target);

/* Substep `substep` of `substeps`, of h seconds; and the end of the step. */
void lmi_mesh_advance(lmi_mesh *mesh, double h, uint32_t substep, uint32_t substeps);
void lmi_mesh_arrive(lmi_mesh *mesh);

static inline bool lmi_mesh_moves(const lmi_mesh *mesh) { return mesh && mesh->motion && mesh->motion->moves; }

/* Where a point is at the end of the substep that stands at p from its share `from` on and is pushed along by every face that comes
 * upon it. */
lm_dvec3 lmi_mesh_carry(const lmi_mesh *mesh, lm_dvec3 p, double from);

/* How far the surface at its point nearest to p went in the substep, metres. */
lm_dvec3 lmi_mesh_drift(const lmi_mesh *mesh, lm_dvec3 p);

#endif
