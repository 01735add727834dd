/*
 * collide/: colliders and the movers that carry them: planes, spheres, capsules, boxes, height maps and meshes.
 *
 * reads   definitions; points and segments that are queried
 * writes  the world's colliders and movers; depths, normals and hits
 * uses    base geometry; in sources also joint skeleton world
 *
 *   mover.c     movers of a world                     collider.c  colliders of a world
 *   rigid.h     movers that have a mass               shapes_meet.h  where two shapes touch
 *   solid.h     a mesh or a height map
 *   place.c     both where they are in a step         wrench.h   what bodies give them
 *   mesh.h      triangle meshes                       heights.h  height maps
 *   mesh_motion.h  meshes that deform
 */
#ifndef LMI_COLLIDE_H
#define LMI_COLLIDE_H

#include "collide/solid.h"

/* What a contact between two colliders was given, N s, and which contact that was: colliders of a mover with mass touch others in few
 * places that have names. */
typedef struct lmi_rigid_warm {
    uint32_t own, other, feature; /* slots of colliders; which part of the shapes */
    float pressed, braked[3];
} lmi_rigid_warm;

#define LMI_RIGID_WARM 48u

/* What a mover with mass carries in this substep (joint/hold.h): particles, each by its share, where they came from, about where the
 * mover came from, along the world's axes. And how the mover moved when that was found. */
typedef struct lmi_carried {
    double mass;       /* kg */
    lm_dvec3 first;    /* sum of mass times way from the mover's centre */
    double inertia[6]; /* about that centre: xx yy zz xy yz zx */
    lm_dvec3 at, velocity, spin;
} lmi_carried;

/* Moves what is attached to it: colliders, pins and joints. */
typedef struct lmi_mover {
    lm_pose pose;
    dmat3 rotation;
    lm_vec3 velocity;
    lm_vec3 spin;
    bool has_target; /* the next step ends at `target` */
    lm_pose target;
    uint64_t user_data;

    /* Where mass is above 0 it is pushed instead (collide/rigid.h); its position is its centre of mass. */
    float mass;
    lm_vec3 moments; /* as the definition gave them: about its axes, kg m²; 0: those of its colliders */
    bool may_sleep, asleep;
    float still;     /* seconds for which it has been slow enough */
    uint32_t island; /* of those that fell asleep together: a body's slot, or a mover's and LMI_ISLAND_OF_MOVER */
    uint32_t warm_count;
    lmi_rigid_warm warm[LMI_RIGID_WARM]; /* what its contacts with colliders were given in the last substep */
    bool roused;                         /* while islands are judged (contact/sleep.c) */
    bool was_asleep;                     /* before this call, until all that it needs is there */
    float was_still;
    lm_dvec3 angular;  /* momentum about its centre, N m s; while it moves through a substep */
    double inertia[6]; /* in its frame, kg m²: xx yy zz xy yz zx; found when a step begins */
    double size;       /* how far its colliders reach, metres; the same */
    uint32_t carrier;  /* of a step: its place among movers that hold particles, or LMI_NONE (joint/hold.c) */
    lmi_carried carried;
} lmi_mover;

#define LMI_ISLAND_OF_MOVER 0x80000000u

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
    uint32_t mover;             /* slot, or LMI_NONE */
    struct lmi_push
        *push; /* of a mover that contacts push in this substep (contact/rigid_contact.h); null: it does not yield */
} lmi_surface;

#endif
