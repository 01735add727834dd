/*
 * skeleton/: rigid bones inside flesh: skeletons, what is attached to them, and how they move particles.
 *
 * reads   poses of bones from the host program, rest positions of a body
 * writes  skeletons of a world; positions and velocities of attached particles
 * uses    base world; in sources also collide joint octree
 *
 *   skeleton.c  made, destroyed, moved by the host, and read
 *   bones.c     in a step             skeleton_reach.c  which particles follow which bones
 */
#ifndef LMI_SKELETON_H
#define LMI_SKELETON_H

#include "base/memory.h"
#include "base/vec.h"
#include "world/held.h"

struct lmi_body;
struct lmi_step;

/* A rigid frame in double precision, so that it can be interpolated without a trace. */
typedef struct lmi_frame {
    lm_dvec3 position;
    double turn[4]; /* a unit quaternion, x y z w */
} lmi_frame;

typedef struct lmi_bone {
    lm_bone def;      /* its rest rotation is a unit quaternion */
    lmi_frame now;    /* state: where it is */
    lmi_frame target; /* state: where the next step ends, when the skeleton is `aimed` */
    uint32_t mover;   /* state: that it rides on, or LMI_NONE */
    lmi_frame seat;   /* state: where on it */

    /* Of the step that is running. */
    lmi_frame start;
    lm_dvec3 arc;            /* the rotation from start to target: its angle along its axis */
    lm_dvec3 velocity, spin; /* m/s and rad/s */
    dmat3 rotation;          /* of `now` */
    lm_wrench wrench;        /* that it was given */
} lmi_bone;

/* A bone of a particle. */
typedef struct lmi_bone_link {
    uint32_t bone;
    float share;    /* of all bones of the particle, adding up to 1 */
    lm_dvec3 local; /* the particle's rest position in the bone's frame */
} lmi_bone_link;

typedef struct lmi_skeleton {
    uint32_t body; /* slot */
    float hertz, damping_ratio;
    bool aimed; /* state: the next step leads the bones to their targets */
    uint32_t bone_count;
    lmi_bone *bones;
    uint32_t particle_count; /* that are attached, in the order of the caller's indices */
    uint32_t *particles;     /* places */
    float *weights;          /* how firmly; 1 is held */
    uint32_t *offsets;       /* particles + 1, into links */
    uint32_t link_count;
    lmi_bone_link *links; /* of a particle in the order of bones */
} lmi_skeleton;

/* Frees what a skeleton points to. */
void lmi_skeleton_free(lmi_memory *memory, lmi_skeleton *skeleton);

/* Room for as many bones, particles and links as its counts say; false when out of memory (free it then). */
bool lmi_skeleton_allocate(lmi_memory *memory, lmi_skeleton *skeleton);

/* Destroys the skeleton of a body that is about to go, if it has one. */
void lmi_skeleton_forget(lm_world *world, struct lmi_body *body);

/* Why a bone cannot be, or null. */
const char *lmi_bone_fault(const lm_bone *bone);

/* Frames. `pose` must be sound (lmi_pose_is_sound). */
lmi_frame lmi_frame_from(lm_pose pose);
lm_pose lmi_frame_to(const lmi_frame *frame);
lmi_frame lmi_frame_then(const lmi_frame *outer, const lmi_frame *inner); /* first `inner` */
dmat3 lmi_frame_rotation(const lmi_frame *frame);

/* The rotation from one frame to another the short way, as its angle along its axis; and a frame turned by such a one. */
lm_dvec3 lmi_frame_arc(const lmi_frame *from, const lmi_frame *to);
void lmi_frame_turn(lmi_frame *frame, lm_dvec3 arc);

/* skeleton_reach.c: attachments by distance into `out`, or only counted when that is null. */
uint64_t lmi_skeleton_reach(const struct lmi_body *body, const lm_bone *bones, uint32_t bone_count, lm_attachment *out);

/* Fills particles, weights, offsets and links (it allocates all but the bones, which are there) from attachments in any
 * order. False when out of memory. */
bool lmi_skeleton_attach(lmi_memory *memory, const struct lmi_body *body, lmi_skeleton *skeleton,
                         const lm_attachment *list, uint32_t count);

/* skeleton/bones.c: before the first substep, before each, and after the last. */
void lmi_bones_aim(lm_world *world, double seconds);
void lmi_bones_advance(lm_world *world, uint32_t substep);
void lmi_bones_arrive(lm_world *world);

/* In a substep: pulls what is attached softly, as drags do; and puts what is held where it belongs. */
void lmi_bones_pull(const struct lmi_step *step, struct lmi_body *body);
void lmi_bones_hold(const struct lmi_step *step, struct lmi_body *body);

lmi_holder lmi_bone_carries(const lmi_bone *bone);

/* The mover that a bone rides on, or null; whether one with a mass has a share in the n-th particle (joint/hold.h carries it then); and
 * where riding bones are by now. A mover that goes leaves them where they are. */
struct lmi_mover *lmi_bone_mover(const lm_world *world, const lmi_bone *bone);
bool lmi_bones_yield(const lm_world *world, const lmi_skeleton *skeleton, uint32_t n);
void lmi_bones_ride(lm_world *world);
bool lmi_skeleton_rides(const lmi_skeleton *skeleton, uint32_t mover); /* on this one */
void lmi_bones_leave_mover(lm_world *world, uint32_t mover);

/* A body was given an impulse (N s) at a point, and a moment beside it, by a bone: the bone has the opposite. */
void lmi_wrench_of_bone(lmi_bone *bone, lm_dvec3 at, lm_dvec3 impulse, lm_dvec3 moment);

/* Where the bones carry an attached particle (the n-th of the skeleton), in the world. */
lm_dvec3 lmi_bones_target(const lmi_skeleton *skeleton, uint32_t n);

#endif
