/*
 * Pins, drags and bones on a device (kernels/held.cl).
 */
#ifndef LMI_GPU_HELD_H
#define LMI_GPU_HELD_H

#include "gpu/gpu.h"
#include "gpu/held_records.h"

typedef struct lmi_gpu_held {
    cl_program program;
    cl_kernel grip, drag;
    lmi_gpu_buffer holds, held, pulls, pulled, links, carriers;        /* pins and bones: of bodies, and of particles */
    lmi_gpu_buffer grips, drags, drag_particles, drag_weights, forces; /* drags */
    uint32_t hold_count, pull_count, grip_count;                       /* bodies */
    lmi_gpu_carrier *carrier;                                          /* of this substep */
    uint32_t *mover;                                                   /* slots of those that carry pins */
    lmi_gpu_drag *dragged;
    uint32_t *drag_slot;
    float *force; /* [drags][4], on their way back */
    uint32_t carrier_count, carrier_capacity, mover_count, mover_capacity;
    uint32_t drag_count, drag_capacity, slot_capacity, force_capacity;
} lmi_gpu_held;

/* Whether a world has any. */
bool lmi_gpu_has_held(const lm_world *world);

/* Everything that no step changes, after the bodies have been laid out. False after a failure. */
bool lmi_gpu_held_lay_out(lm_world *world, lmi_gpu *gpu);

/* After the particles have moved: where movers and bones are and what drags pull to, then drags and bones; and after the
 * colliders, what is held. The bodies have to be measured afterwards. */
bool lmi_gpu_held_pull(lmi_gpu *gpu, const lmi_step *step);
bool lmi_gpu_held_hold(lmi_gpu *gpu, double h);

/* The way back: the forces of drags, and then into the drags. */
bool lmi_gpu_held_read(lmi_gpu *gpu);
void lmi_gpu_held_put(lm_world *world, lmi_gpu *gpu);

#endif
