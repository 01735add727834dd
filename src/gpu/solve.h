/*
 * Contacts that are solved, on a device (kernels/solve_find.cl, solve.cl): bodies that answer locally, with each other and with
 * colliders. Who may touch whom, touch points and carriers are those of meet.h.
 */
#ifndef LMI_GPU_SOLVE_H
#define LMI_GPU_SOLVE_H

#include "gpu/gpu.h"

/* The kernels, by their names without "solve_". */
#define LMI_GPU_SOLVE_KERNELS(X)                                                                                       \
    X(line)                                                                                                            \
    X(curve)                                                                                                           \
    X(order)                                                                                                           \
    X(find)                                                                                                            \
    X(pairs) X(count) X(offsets) X(fill) X(buckets) X(list) X(sort) X(load) X(weigh) X(warm) X(velocity) X(back)       \
        X(shift) X(gather) X(apply) X(twist) X(untwist) X(keep) X(impulse) X(again) X(inner)

typedef struct lmi_gpu_solver {
    cl_program program;
#define LMI_GPU_SOLVE_KERNEL(name) cl_kernel name;
    LMI_GPU_SOLVE_KERNELS(LMI_GPU_SOLVE_KERNEL)
#undef LMI_GPU_SOLVE_KERNEL

    lmi_gpu_buffer solids, moulds, distances, rests, facing; /* bodies as solids */
    lmi_gpu_buffer corners, around, cell_of, cells;          /* cells of lattices */
    lmi_gpu_buffer bucket_owner, map_bucket, bucket_counts, bucket_first,
        listed; /* contacts with each carrier and cell */
    lmi_gpu_buffer axis, met, turned, walls, first, found, contacts, loads, warmth; /* of this substep, and state */
    lmi_gpu_buffer inner_of; /* bits of the particles of each block: no touch point rides on them */
    uint32_t bucket_count, contact_count, contact_room;
    float *room; /* [points][4] what points were given, on its way */
    size_t room_size;
} lmi_gpu_solver;

/* solve_layout.c: everything that does not change in a step, where contacts are solved on the device. False after a failure. */
bool lmi_gpu_solve_lay_out(lm_world *world, lmi_gpu *gpu);
void lmi_gpu_solve_free(lm_world *world, lmi_gpu *gpu);

/* What points remember, on its way back: read, and then put into the bodies. */
bool lmi_gpu_solve_read(lmi_gpu *gpu);
void lmi_gpu_solve_put(lm_world *world, lmi_gpu *gpu);

/* solve.c. After the particles have moved: contacts, as far as they can be counted. *stop is not 0 where the host must do it. */
bool lmi_gpu_solve_find(lmi_gpu *gpu, const lmi_step *step, cl_uint *stop);

/* Solves them, and measures the bodies. */
bool lmi_gpu_solve(lmi_gpu *gpu, const lmi_step *step);

#endif
