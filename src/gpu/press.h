/*
 * The force between bodies (contact/penalty.h) on a device, where it is not as simple as in gpu_meet.h: among colliders, for lattices, stiff and
 * fast bodies, bodies that touch themselves; and where it comes from the distances of moulds and not from cube maps. Contacts are
 * found by the kernels of solve.h, pushed (kernels/press.cl), and those with colliders are solved.
 */
#ifndef LMI_GPU_PRESS_H
#define LMI_GPU_PRESS_H

#include "gpu/gpu.h"

typedef struct lmi_gpu_presses {
    cl_kernel find, share, whole, done; /* of the program of solve.h */
    lmi_gpu_buffer before;              /* velocities */
} lmi_gpu_presses;

/* After solve.h has been laid out. False after a failure. */
bool lmi_gpu_press_lay_out(lm_world *world, lmi_gpu *gpu);
void lmi_gpu_press_free(lm_world *world, lmi_gpu *gpu);

/* What contacts of bodies are pushed with, once they are filled in; before and after that is given to the particles. All of them do nothing
 * where contacts are solved. */
bool lmi_gpu_press_find(lmi_gpu *gpu, float h);
bool lmi_gpu_press_begin(lmi_gpu *gpu);
bool lmi_gpu_press_end(lmi_gpu *gpu);

#endif
