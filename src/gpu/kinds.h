/*
 * Lattices that are more than rigid or linear, on a device: those that flow, are damped region by region, have examples or are in
 * several parts (gpu/kernels/kinds.cl and kind_tiles.cl). A body of several parts has records for them besides (parts.cl).
 */
#ifndef LMI_GPU_KINDS_H
#define LMI_GPU_KINDS_H

#include "gpu/layout.h"

/* The kernels of one width, and their tiles. */
typedef struct lmi_gpu_kind_tiles {
    uint32_t width, surfaces, tile_y;
    cl_program program;
    cl_kernel moments, move;
    lmi_gpu_buffer buffer;
    lmi_gpu_tile *items; /* while they are laid out */
    uint32_t count, capacity;
} lmi_gpu_kind_tiles;

#define LMI_GPU_KIND_TILES 16 /* widths, with and without colliders */

/* Lists of irregular regions, side by side as the lattice has them. */
typedef struct lmi_gpu_kind_lists {
    lmi_gpu_buffer groups, who, member, offset;
    uint32_t lanes;
} lmi_gpu_kind_lists;

typedef struct lmi_gpu_matters {
    cl_program program, parts_program;
    cl_kernel local, gather_lists, measure, fit, scatter_lists;
    cl_kernel prepare_parts, measure_parts, conclude_parts; /* null until there are any */
    lmi_gpu_kind_tiles tiles[LMI_GPU_KIND_TILES];
    uint32_t tiled;
    lmi_gpu_kind_lists gather, scatter;
    lmi_gpu_buffer matters, owners, corners, rows, constants, values, moments, transforms;
    lmi_gpu_buffer irregular, irregular_moments, kept, corrected, corrections;
    lmi_gpu_buffer velocities, velocity_moments, velocity_corrections; /* of regional damping */
    lmi_gpu_buffer plastics, kept_plastics;
    lmi_gpu_buffer part_of, parts, parts_before, part_chunks, part_members;
    lmi_gpu_matter *matter; /* as they were last uploaded */
    lmi_gpu_body *part;     /* as they were last uploaded or fetched, those of a body one after the other */
    lmi_gpu_matter *was;    /* both as they were, while some bodies are laid out again and others kept */
    lmi_gpu_body *was_part;
    uint32_t was_count, was_parts;
    float *room; /* lasting deformation on its way back */
    size_t plastic_floats, room_size;
    uint32_t count, blocks, part_count, chunk_count;
    uint32_t matter_capacity, part_capacity;
    bool damped, mixed; /* any of them: regional damping, examples */
} lmi_gpu_matters;

/* Whether a body is one of them. */
bool lmi_gpu_is_kind(const lmi_body *body);

/* While a world is laid out: makes room, adds a body whose record and map are there, says how many partial sums there may be,
 * and brings it all to the device. */
bool lmi_gpu_kinds_begin(layout *l);
bool lmi_gpu_add_kind(layout *l, const lmi_body *body, uint32_t index);
uint32_t lmi_gpu_kinds_partials(const layout *l);
bool lmi_gpu_kinds_upload(layout *l);
bool lmi_gpu_kinds_build(const lm_world *world, lmi_gpu *gpu); /* kernels that are wanted */
lmi_gpu_kind_tiles *lmi_gpu_kind_tiles_find(const lm_world *world, lmi_gpu *gpu, uint32_t width, bool surfaces);
void lmi_gpu_kinds_drop(layout *l);

/* Uploads lasting deformation and the motion of parts again, of bodies that are laid out. */
bool lmi_gpu_kinds_refresh(lm_world *world, lmi_gpu *gpu);

/* A substep: after `prepare`; transforms of all their regions, when it is known that the substep is the device's; then all are moved; after
 * `conclude`. And the sums of parts, where something else has changed particles. */
bool lmi_gpu_kinds_prepare(lmi_gpu *gpu, double h, const float change[3]);
bool lmi_gpu_kinds_fit(lmi_gpu *gpu, double h);
bool lmi_gpu_kinds_move(lmi_gpu *gpu, float h);
bool lmi_gpu_kinds_conclude(lmi_gpu *gpu, double h, bool measured);

/* Whether there are any now. */
bool lmi_gpu_has_kinds(const lmi_gpu *gpu);

/* What a substep changes of them, kept and put back; from the device (as it is, or as it was before the substep), and from there
 * into the bodies; and the bounds of parts after the host's contacts. */
bool lmi_gpu_kinds_keep(lmi_gpu *gpu);
bool lmi_gpu_kinds_restore(lmi_gpu *gpu);
bool lmi_gpu_kinds_read(const lm_world *world, lmi_gpu *gpu, bool before);
void lmi_gpu_kinds_put(lm_world *world, lmi_gpu *gpu);
bool lmi_gpu_kinds_bound(const lm_world *world, lmi_gpu *gpu);

#endif
