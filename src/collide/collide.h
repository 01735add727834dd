/*
 * collide/: colliders and the movers that carry them: planes, spheres, capsules, boxes, height maps and meshes.
 *
 * reads   definitions; points and segments that are queried
 * writes  the world's colliders and movers; depths, normals and hits
 * uses    base geometry; in sources also joint world
 *
 *   collider.c  movers and colliders of a world      solid.h    a mesh or a height map
 *   place.c     both where they are in a step         wrench.h   what bodies give them
 *   mesh.h      triangle meshes                       heights.h  height maps
 *   mesh_motion.h  meshes that deform
 */
#ifndef LMI_COLLIDE_H
#define LMI_COLLIDE_H

#include "collide/solid.h"

/* Moves what is attached to it: colliders and pins. */
typedef struct lmi_mover {
    lm_pose pose;
    dmat3 rotation;
    lm_vec3 velocity;
    lm_vec3 spin;
    bool has_target; /* the next step ends at `target` */
    lm_pose target;
    uint64_t user_data;
} lmi_mover;

/* What a collider or a mover was given (collide/wrench.h). */
typedef struct lmi_wrenches {
    lm_wrench step, substep;
} lmi_wrenches;

/* As it was made. */
typedef struct lmi_collider {
    lm_shape shape;
    float radius, half_length;
    lm_vec3 half_extents;
    lm_dvec3 position; /* in the mover's frame, or in the world */
    dmat3 rotation;
    uint32_t mover; /* slot or LMI_NONE */
    float friction, restitution;
    uint32_t group, mask; /* bits: what it is, and which bodies it touches */
    bool disabled;        /* then neither counts: it is in no group and touches none */
    uint64_t user_data;
    lmi_solid solid;     /* of a height map or a mesh */
    uint64_t solid_hash; /* lmi_hash_solid */
} lmi_collider;

/* A collider where it is in this substep. */
typedef struct lmi_surface {
    lm_shape shape;
    float radius, half_length;
    lm_vec3 half_extents;
    lm_dvec3 position;
    dmat3 rotation;
    lm_dvec3 velocity;    /* of `pivot` */
    lm_dvec3 spin;        /* about `pivot` */
    lm_dvec3 pivot;       /* the mover's origin */
    lm_dvec3 bound_lower; /* of the solid; infinite for a plane */
    lm_dvec3 bound_upper;
    float friction, restitution;
    uint32_t slot, group, mask; /* of the collider */
    lmi_solid solid;            /* of a height map or a mesh */
} lmi_surface;

#endif
