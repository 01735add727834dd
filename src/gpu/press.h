/*
 * The force between bodies (contact/penalty.h) on a device. Contacts are found and weighed by the kernels of solve.h, pushed
 * (kernels/press.cl), and those with colliders are solved.
 */
#ifndef LMI_GPU_PRESS_H
#define LMI_GPU_PRESS_H

#include "gpu/gpu.h"

typedef struct lmi_gpu_presses {
    cl_kernel find, bound, share, whole, done; /* of the program of solve.h */
    lmi_gpu_buffer before;                     /* velocities */
} lmi_gpu_presses;

/* After solve.h has been laid out. False after a failure. */
bool lmi_gpu_press_lay_out(lmi_gpu *gpu);

/* What contacts of bodies are pushed with, once they are filled in, which does nothing where contacts are solved; once they are weighed;
 * and after that is given to the particles. */
bool lmi_gpu_press_find(lmi_gpu *gpu, float h);
bool lmi_gpu_press_begin(lmi_gpu *gpu, float h);
bool lmi_gpu_press_end(lmi_gpu *gpu);

#endif
