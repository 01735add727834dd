/*
 * Skins in buffers of OpenGL, which the device draws from: cl_khr_gl_sharing.
 */
#ifndef LMI_GPU_SHARE_H
#define LMI_GPU_SHARE_H

#include "gpu/gpu.h"

#define LMI_GPU_SHARE_PROPERTIES 8

/* Properties of a context that shares with OpenGL, ended by 0; false: the device cannot, and why. */
bool lmi_gpu_share_properties(const lmi_gpu *gpu, cl_platform_id platform, const lm_gl *gl,
                              intptr_t properties[LMI_GPU_SHARE_PROPERTIES], const char **why);

/* After the context was made with these: the world can share. False when out of memory. */
bool lmi_gpu_share_open(lmi_gpu *gpu);

#endif
