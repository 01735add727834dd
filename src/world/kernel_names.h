/*
 * The kernels of one instruction set, as kernels.c puts them into its table. Include after base/lanes.h.
 */
#ifndef LMI_KERNEL_NAMES_H
#define LMI_KERNEL_NAMES_H

#include "base/lanes.h"
#include "world/kernels.h"

lmi_stage_function LMI_KERNEL(predict);
lmi_stage_function LMI_KERNEL(gather);
lmi_stage_function LMI_KERNEL(gather_clusters);
lmi_stage_function LMI_KERNEL(fit);
lmi_stage_function LMI_KERNEL(scatter);
lmi_stage_function LMI_KERNEL(scatter_clusters);
lmi_stage_function LMI_KERNEL(sweep);
lmi_stage_function LMI_KERNEL(integrate);
lmi_stage_function LMI_KERNEL(contact);
void LMI_KERNEL(skin_lattice)(const struct lmi_skin_cells *cells);
void LMI_KERNEL(skin_tets)(const struct lmi_skin_tets *tets);
lmi_stage_function LMI_KERNEL(sweep_herds);
uint32_t LMI_KERNEL(count_walls)(const lmi_step *step, const struct lmi_body *body);
void LMI_KERNEL(find_walls)(const lmi_step *step, struct lmi_push *push, struct lmi_contact_list *list);
void LMI_KERNEL(last_walls)(const lmi_step *step, struct lmi_body *body, bool pushed, lmi_scratch *scratch);
void LMI_KERNEL(soft_start)(struct lmi_solver *solver, uint32_t piece);
void LMI_KERNEL(soft_velocities)(struct lmi_solver *solver, uint32_t piece);
void LMI_KERNEL(soft_positions)(struct lmi_solver *solver, uint32_t piece);
void LMI_KERNEL(carry_bulk)(struct lmi_bulk *solid, const struct lmi_body *body);
void LMI_KERNEL(place_points)(const struct lmi_body *body);
lmi_near_points_function LMI_KERNEL(near_points);
lmi_find_inside_function LMI_KERNEL(find_inside);
lmi_find_itself_function LMI_KERNEL(find_itself);
void LMI_KERNEL(polar)(const float *B, const float *d, float *R, uint32_t blocks);

struct lmi_octree_lanes;
struct lmi_pack;
/* `x`: of the body's places; `moments` and `transforms`: of its regions, as in the pack. */
void LMI_KERNEL(octree_gather)(const struct lmi_octree_lanes *lanes, const float *x, float *moments);
void LMI_KERNEL(octree_scatter)(const struct lmi_octree_lanes *lanes, const float *x, const float *transforms);
void LMI_KERNEL(octree_phase)(const lmi_step *step, struct lmi_batch *batch, uint32_t phase, uint32_t piece);
/* Fits the lanes of blocks `first` to `last` - 1, all of whole regions of one octree. */
void LMI_KERNEL(fit_blocks)(const struct lm_world *world, const struct lmi_pack *pack, uint32_t first, uint32_t last);

void LMI_KERNEL(lattice_sweep)(const struct lmi_lattice_step *step, uint32_t slab, float *scratch,
                               struct lmi_lattice_sums *sums);
void LMI_KERNEL(lattice_finish)(const struct lmi_lattice_step *step, uint32_t slab, float *scratch,
                                struct lmi_lattice_sums *sums);
void LMI_KERNEL(lattice_pull)(const struct lmi_lattice_step *step, float *scratch, float *pull);
/* Measures a body's regions against its examples and finds their mix. */
void LMI_KERNEL(lattice_examples)(struct lmi_body *body, float *scratch);
void LMI_KERNEL(lattice_gather)(const struct lmi_lattice *lattice, const float *values, float *scratch, float *moments);
void LMI_KERNEL(lattice_scatter)(const struct lmi_lattice *lattice, const float *transforms, float *scratch,
                                 float *sums);

#endif
