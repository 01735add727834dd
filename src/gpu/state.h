/*
 * Where the state of a world is: what the host reads and changes, told to a device. Only world/access.c and gpu/ include this.
 */
#ifndef LMI_GPU_STATE_H
#define LMI_GPU_STATE_H

#include "world/world.h"

/* The host's state is up to date: of all bodies; of one batch; as far as a step has to see it before it begins. */
void lmi_gpu_fetch(const lm_world *world);
void lmi_gpu_fetch_batch(lm_world *world, uint32_t batch);
void lmi_gpu_fetch_step(lm_world *world);

/* The host is about to change something: only state (positions and velocities) or fields if `laid`, so that nothing is laid out
 * again. Of one batch: what is in others stays where it is, and the host's state of these may be behind until somebody reads it. */
void lmi_gpu_edit(lm_world *world, bool laid);
void lmi_gpu_edit_batch(lm_world *world, uint32_t batch, bool laid);

#endif
