/*
 * Colliders that have a kernel of their own, after the particles have moved (kernels/walls.cl): meshes and height maps, any
 * number of colliders, contact rules, octrees; and all of them where something acts between the move and them (held.h).
 */
#ifndef LMI_GPU_WALLS_H
#define LMI_GPU_WALLS_H

#include "gpu/gpu.h"
#include "gpu/wall_records.h"

typedef struct lmi_gpu_walls {
    cl_program program;
    cl_kernel starts, near, meet, tally;
    lmi_gpu_buffer pieces, walled, near_bits, sums, margins, start_of, rules;
    lmi_gpu_buffer solids, heights, spans, faces, nodes, cells;
    lmi_gpu_surface *surface; /* of this substep */
    uint32_t surface_capacity;
    uint32_t piece_count, words, solid_count;
    bool has_margins;
} lmi_gpu_walls;

/* Whether the colliders of a world need it. */
bool lmi_gpu_has_walls(const lm_world *world);

/* Everything that no step changes, after the bodies have been laid out. False after a failure. */
bool lmi_gpu_walls_lay_out(lm_world *world, lmi_gpu *gpu);
void lmi_gpu_walls_free(lm_world *world, lmi_gpu *gpu);

/* A collider where it is in this substep, but for its solid. */
void lmi_gpu_describe_surface(const lmi_surface *s, lmi_gpu_surface *to);

/* Where the colliders are, before anything else of a substep. */
bool lmi_gpu_walls_place(lmi_gpu *gpu, const lmi_step *step);

/* After the particles have moved, and before anything else moves them: where they came from. Then contacts; the bodies have
 * to be measured afterwards. */
bool lmi_gpu_walls_begin(lmi_gpu *gpu, double h);
bool lmi_gpu_walls_meet(lmi_gpu *gpu, const lmi_step *step);

#endif
