/*
 * Colliders that have a kernel of their own, after the particles have moved (kernels/walls.cl): meshes and height maps, any
 * number of colliders, contact rules, octrees; and all of them where something acts between the move and them (gpu_held.h).
 */
#ifndef LMI_GPU_WALLS_H
#define LMI_GPU_WALLS_H

#include "contact/touching.h"
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
    lmi_gpu_buffer touches, touch_counts; /* the account of a step, where somebody asks who touches what */
    lmi_gpu_touch *touch;
    uint32_t *touch_count;
    uint32_t touch_capacity, count_capacity;
    bool tells;          /* it is kept */
    bool fresh;          /* and begins with the next substep */
    bool has_arrays;     /* those of the solids are there: */
    uint64_t solid_hash; /* of all that they are made of */
} lmi_gpu_walls;

/* Whether the colliders of a world need it. */
bool lmi_gpu_has_walls(const lm_world *world);

/* Everything that no step changes, after the bodies have been laid out. False after a failure. */
bool lmi_gpu_walls_lay_out(lm_world *world, lmi_gpu *gpu);

/* A collider where it is in this substep, but for its solid. */
void lmi_gpu_describe_surface(const lmi_surface *s, lmi_gpu_surface *to);

/* Where the colliders are, before anything else of a substep. */
bool lmi_gpu_walls_place(lmi_gpu *gpu, const lmi_step *step);

/* After the particles have moved, and before anything else moves them: where they came from. Then contacts; the bodies have
 * to be measured afterwards. *stop is not 0 where the host must do it (stand.h). */
bool lmi_gpu_walls_begin(lmi_gpu *gpu, double h);
bool lmi_gpu_walls_meet(lmi_gpu *gpu, const lmi_step *step, cl_uint *stop);

/* What a device has summed of a contact (LMI_GPU_TOUCH_* in wall_records.h), as the host keeps it. */
lmi_touching lmi_gpu_touching_of(const double *from, bool pressing);

/* walls.c. Room for the account of a step; and what it holds to the bodies (lmi_touching), whereupon it begins again: at the
 * end of a step, or where the host goes on with it. False after a failure. */
bool lmi_gpu_events_reserve(lm_world *world, lmi_gpu *gpu);
bool lmi_gpu_events_take(lm_world *world);

#endif
