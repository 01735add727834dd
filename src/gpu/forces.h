/*
 * Forces that differ between the particles of a world, on a device: wind, point fields, and forces of a single step.
 */
#ifndef LMI_GPU_FORCES_H
#define LMI_GPU_FORCES_H

#include "gpu/gpu.h"

/* Memory for the forces of this step, and the kernels the first time there are any. False after a failure. */
bool lmi_gpu_forces_ready(lm_world *world, lmi_gpu *gpu);

/* Changes the velocities and measures the bodies again, where there is anything of the kind; the velocities before are kept. */
bool lmi_gpu_forces_apply(lmi_gpu *gpu, const lmi_step *step);

/* The substep is the host's after all: the velocities as they were. */
bool lmi_gpu_forces_undo(lmi_gpu *gpu);

/* The substep is the device's: counts what was given. */
bool lmi_gpu_forces_count(lmi_gpu *gpu);

#endif
