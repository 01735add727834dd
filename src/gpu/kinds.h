/*
 * Lattices that are more than rigid or linear, on a device: those that flow, are damped region by region, have examples or are in
 * several parts (gpu/kernels/kinds.cl and kind_tiles.cl). A body of several parts has records for them besides (parts.cl).
 */
#ifndef LMI_GPU_KINDS_H
#define LMI_GPU_KINDS_H

#include "gpu/layout.h"

typedef struct lmi_gpu_matters {
    cl_program program, parts_program;
    cl_kernel local, velocity_lists, measure, fit;
    cl_kernel prepare_parts, measure_parts, conclude_parts; /* null until there are any */
    lmi_gpu_buffer matters, owners, corners, values, moments, transforms;
    lmi_gpu_buffer velocities, velocity_moments, velocity_corrections; /* of regional damping */
    lmi_gpu_buffer plastics, kept_plastics;
    lmi_gpu_buffer part_of, parts, parts_before, part_chunks, part_members;
    lmi_gpu_matter *matter; /* as they were last uploaded */
    lmi_gpu_body *part;     /* as they were last uploaded or fetched, those of a body one after the other */
    float *room;            /* lasting deformation on its way back */
    size_t plastic_floats, room_size;
    uint32_t count, blocks, part_count, chunk_count;
    uint32_t matter_capacity, part_capacity;
    bool damped, mixed; /* any of them: regional damping, examples */
} lmi_gpu_matters;

/* Whether a body is one of them. */
bool lmi_gpu_is_kind(const lmi_body *body);

/* While a world is laid out: makes room, adds a body whose record is there, says what the corners of a part's box are (x counts
 * lanes of blocks), and brings it all to the device. */
bool lmi_gpu_kinds_begin(layout *l);
bool lmi_gpu_add_kind(layout *l, const lmi_body *body, uint32_t index);
void lmi_gpu_part_box(const layout *l, uint32_t part, uint32_t low[3], uint32_t high[3]);
bool lmi_gpu_kinds_upload(layout *l);
bool lmi_gpu_kinds_build(const lm_world *world, lmi_gpu *gpu); /* kernels that are wanted */
void lmi_gpu_kinds_drop(layout *l);

/* Lasting deformation and the motion of parts anew, of bodies that are laid out. */
bool lmi_gpu_kinds_refresh(lm_world *world, lmi_gpu *gpu);

/* A substep: after `prepare`; transforms of all their regions, when it is known that the substep is the device's; the launch that moves
 * those of one width and tile; after `conclude`. And the sums of parts, where something else has changed particles. */
bool lmi_gpu_kinds_prepare(lmi_gpu *gpu, double h, const float change[3]);
bool lmi_gpu_kinds_fit(lmi_gpu *gpu, double h);
bool lmi_gpu_kinds_move(lmi_gpu *gpu, const lmi_gpu_variant *v, float h);
bool lmi_gpu_kinds_conclude(lmi_gpu *gpu, double h, bool measured);

/* Whether there are any now. */
bool lmi_gpu_has_kinds(const lmi_gpu *gpu);

/* What a substep changes of them, kept and put back; from the device (as it is, or as it was before the substep), and from there
 * into the bodies; and the bounds of parts after the host's contacts. */
bool lmi_gpu_kinds_keep(lmi_gpu *gpu);
bool lmi_gpu_kinds_restore(lmi_gpu *gpu);
bool lmi_gpu_kinds_read(lmi_gpu *gpu, bool before);
void lmi_gpu_kinds_put(lm_world *world, lmi_gpu *gpu);
bool lmi_gpu_kinds_bound(const lm_world *world, lmi_gpu *gpu);
void lmi_gpu_kinds_free(lm_world *world, lmi_gpu *gpu);

#endif
