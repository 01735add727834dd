/*
 * Beside lmi_gpu_edit (world.h), for worlds that a device steps: the host is about to change nothing but state (positions and
 * velocities), or fields. Then nothing is laid out anew.
 */
#ifndef LMI_GPU_EDIT_H
#define LMI_GPU_EDIT_H

#include "world.h"

void lmi_gpu_edit_state(lm_world *world);

#endif
