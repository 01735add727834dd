/*
 * joint/: joints between bodies, and between a body and a mover, a bone or the world.
 *
 * reads   definitions; positions and velocities of patches of bodies, movers and bones
 * writes  the world's joints; positions and velocities of the particles in patches; what movers and bones are given
 * uses    world; in sources also base collide octree skeleton
 *
 *   joint.c        made, destroyed, set and read          patch.c   the particles of an end
 *   joint_solve.c  in a step: rows, sweeps, breaking       side.c    an end as a rigid body
 *   hold.h         particles that movers with mass carry
 *
 * An end of a joint that is on a body is a patch of its particles. While a joint is solved the patch is a rigid body: the mass, centre and
 * momentum of its particles, and the frame that fits them best, with its spin. What it is given as such a body becomes a change of each
 * particle's velocity, where p_i is the particle's place in the frame and G^-1 the frame's answer to a moment (side.c):
 *
 *     dv_i = J / M + (G^-1 T) x p_i
 *
 * so that momentum and angular momentum are what they ought to be. How the rest of the body follows is the matter of its material.
 *
 * Particles have moved by h v when joints act. All is measured where they came from, x - h v, and what is given to v moves x as well:
 * the substep is then one of symplectic Euler, in which torques about where things came from are what changes angular momentum. Both
 * ends are pushed at one common point, so that none is made.
 */
#ifndef LMI_JOINT_H
#define LMI_JOINT_H

#include "world/held.h"
#include "world/world.h"

typedef struct lmi_joint_end {
    uint32_t body; /* slots, or LMI_NONE: what the end is on; the world where all are */
    uint32_t mover;
    uint32_t skeleton, bone;
    uint32_t count;      /* of the patch */
    uint32_t *particles; /* places */
    lm_dvec3 anchor;     /* in the frame of the patch (from its centre), the mover, the bone or the world */
    dmat3 frame;         /* the joint's axes in that frame, as columns; the first is the axis */
} lmi_joint_end;

typedef struct lmi_joint {
    lm_joint_kind kind;
    lmi_joint_end end[2];
    float length;
    float hertz, damping_ratio;
    float max_force, max_torque;
    bool disabled, broken;
    bool broke; /* in the last step */
    uint64_t user_data;
    lm_vec3 force, torque; /* state: on b, of the last substep; the next one begins with it */
} lmi_joint;

struct lmi_side;

/* Frees what a joint points to. */
void lmi_joint_free(lmi_memory *memory, lmi_joint *joint);

/* Why these numbers cannot be those of a joint, or null. */
const char *lmi_joint_fault(const lmi_joint *joint);

/* Something that joints may be on goes: bodies and skeletons take them along, a mover leaves them to the world. */
void lmi_joints_forget_body(lm_world *world, uint32_t body);
void lmi_joints_forget_skeleton(lm_world *world, uint32_t skeleton);
void lmi_joints_leave_mover(lm_world *world, uint32_t mover);

/* Memory for a step; before its first substep; and at the end of each substep. */
bool lmi_joints_reserve(lm_world *world);
void lmi_joints_begin(lm_world *world);
void lmi_joints_solve(const lmi_step *step);
void lmi_joints_free(lm_world *world); /* that memory */

/* By how much what a joint holds is not where it should be: metres, radians. */
void lmi_joint_errors(const lmi_joint *joint, const struct lmi_side *a, const struct lmi_side *b, float *apart,
                      float *turned);

/* Whether a joint acts. */
static inline bool lmi_joint_acts(const lmi_joint *joint) { return !joint->disabled && !joint->broken; }

/* --- patch.c --- */

/* Fills the particles of an end from its definition; false when out of memory. The definition must be sound. */
bool lmi_patch_make(lm_world *world, const lmi_body *body, const lm_joint_end *def, lmi_joint_end *end);

/* Whether two patches of one body have a particle in common; and whether a patch has three particles that are not in a line. */
bool lmi_patches_share(const lmi_joint_end *a, const lmi_joint_end *b);
bool lmi_patch_has_frame(const lmi_body *body, const lmi_joint_end *end);

/* --- side.c: an end as a rigid body, in world coordinates --- */

typedef struct lmi_side {
    lmi_body *body;      /* whose particles are to be moved; null: it does not yield, or is a mover */
    lmi_mover *mover;    /* with mass, to be moved; else null */
    lm_dvec3 centre;     /* of mass; of what does not yield, of its frame */
    lm_dvec3 offset;     /* of a mover: from its own centre to that of it and all that it carries */
    dmat3 rotation;      /* of its frame */
    double inverse_mass; /* 1/kg */
    double inertia[6];   /* kg m² about the centre, of a patch at rest as its frame is turned: xx yy zz xy yz zx */
    double turning[6];   /* of a patch: G^-1, 1/(kg m²) */
    double reach;        /* of a patch: of its particles from its centre, at rest, metres */
    lm_dvec3 rest;       /* of a patch: its centre at rest */
    lm_dvec3 velocity, spin;
    lm_dvec3 anchor; /* where the joint is on it */
    dmat3 frame;     /* the joint's axes on it, as columns */
} lmi_side;

/* Where an end is: h seconds ago (0: now) if it has moved evenly since. */
lmi_side lmi_side_of(const lm_world *world, const lmi_joint_end *end, double h);

/* How the particles of a side move by now. */
void lmi_side_look(lmi_side *side, const lmi_joint_end *end);

/* The spin that a moment about the centre of a side gives to its frame. */
lm_dvec3 lmi_side_turn(const lmi_side *side, lm_dvec3 moment);

/* Gives a side an impulse and a moment about its centre. */
void lmi_side_give(const lmi_side *side, const lmi_joint_end *end, lm_dvec3 impulse, lm_dvec3 moment, double h);

#endif
