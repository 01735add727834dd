/*
 * The table of one instruction set: which function runs each stage. Compiled once for each.
 */
#include "world/kernel_names.h"

#if defined(LMI_ISA_AVX512)
#define THIS_ISA LM_ISA_AVX512
#elif defined(LMI_ISA_AVX2)
#define THIS_ISA LM_ISA_AVX2
#elif defined(LMI_ISA_SSE2)
#define THIS_ISA LM_ISA_SSE2
#elif defined(LMI_ISA_NEON)
#define THIS_ISA LM_ISA_NEON
#elif defined(LMI_ISA_SIMD128)
#define THIS_ISA LM_ISA_SIMD128
#else
#define THIS_ISA LM_ISA_SCALAR
#endif

const lmi_kernels LMI_KERNEL(kernels) = {
    .isa = THIS_ISA,
    .stage =
        {
            [LM_STAGE_PREDICT] = LMI_KERNEL(predict),
            [LM_STAGE_GATHER] = LMI_KERNEL(gather),
            [LM_STAGE_FIT] = LMI_KERNEL(fit),
            [LM_STAGE_SCATTER] = LMI_KERNEL(scatter),
            [LM_STAGE_SWEEP] = LMI_KERNEL(sweep),
            [LM_STAGE_INTEGRATE] = LMI_KERNEL(integrate),
            [LM_STAGE_CONTACT] = LMI_KERNEL(contact),
        },
    .polar = LMI_KERNEL(polar),
    .carry_bulk = LMI_KERNEL(carry_bulk),
    .place_points = LMI_KERNEL(place_points),
    .near_points = LMI_KERNEL(near_points),
    .find_inside = LMI_KERNEL(find_inside),
    .find_itself = LMI_KERNEL(find_itself),
    .soft_start = LMI_KERNEL(soft_start),
    .soft_velocities = LMI_KERNEL(soft_velocities),
    .soft_positions = LMI_KERNEL(soft_positions),
    .count_walls = LMI_KERNEL(count_walls),
    .find_walls = LMI_KERNEL(find_walls),
    .last_walls = LMI_KERNEL(last_walls),
    .lattice = {.sweep = LMI_KERNEL(lattice_sweep),
                .finish = LMI_KERNEL(lattice_finish),
                .pull = LMI_KERNEL(lattice_pull),
                .gather = LMI_KERNEL(lattice_gather),
                .scatter = LMI_KERNEL(lattice_scatter)},
    .octree_gather = LMI_KERNEL(octree_gather),
    .octree_scatter = LMI_KERNEL(octree_scatter),
    .octree_phase = LMI_KERNEL(octree_phase),
    .skin_lattice = LMI_KERNEL(skin_lattice),
    .skin_tets = LMI_KERNEL(skin_tets),
};
