/*
 * Bodies that answer colliders as a whole with their bare particles (kernels/stand.cl): stiff and damped ones, and fast ones. Part of
 * walls.h: there is always room for it where a body is stiff, and for some steps after one was fast.
 */
#ifndef LMI_GPU_STAND_H
#define LMI_GPU_STAND_H

#include "gpu/walls.h"

typedef struct lmi_gpu_stands {
    cl_kernel push, count, offsets, fill, solve, end, tally, tell; /* of the program of walls.h */
    lmi_gpu_buffer standing, pushes, contacts, found, kept_x, kept_v;
    uint32_t room;  /* for contacts */
    uint32_t total; /* of this substep */
} lmi_gpu_stands;

/* Whether the bodies of a world are handled in this way now. */
bool lmi_gpu_has_stands(const lm_world *world);

/* Looks at all bodies, which a step that goes on has no time for: gpu->stiff is what it found when the world was taken. */
bool lmi_gpu_has_stiff(const lm_world *world);

/* After the bodies as walls see them. False after a failure. */
bool lmi_gpu_stand_lay_out(lm_world *world, lmi_gpu *gpu);

/* The state before a substep, where nobody else keeps it: the host may have to do it after all. */
bool lmi_gpu_stand_keep(lmi_gpu *gpu);
bool lmi_gpu_stand_restore(lmi_gpu *gpu);

/* When it is known what each body may touch: contacts as a whole. *stop is not 0 where the host must do it. Then, when the particles
 * have met the colliders as well, what all of it came to. */
bool lmi_gpu_stand_meet(lmi_gpu *gpu, const lmi_step *step, cl_uint *stop);
bool lmi_gpu_stand_tally(lmi_gpu *gpu);

#endif
