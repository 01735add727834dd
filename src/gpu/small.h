/*
 * Lattices that one work-group steps by itself (small.c).
 */
#ifndef LMI_GPU_SMALL_H
#define LMI_GPU_SMALL_H

#include "gpu/layout.h"
#include "lattice/lattice_body.h"

bool lmi_gpu_is_small(const lmi_gpu *gpu, const lmi_lattice *shape);

/* Lays one out, after its lists; `kind` is completed. */
bool lmi_gpu_add_small(layout *l, const lmi_lattice *shape, uint32_t index, struct lmi_gpu_kind *kind);

/* A whole substep of all that have the kernels `v`, unless it is found to be the host's. */
bool lmi_gpu_step_small(lmi_gpu *gpu, const lmi_gpu_variant *v, double h);

#endif
