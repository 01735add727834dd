/*
 * What the step is made of, on the host (stages.c).
 */
#ifndef LMI_STEP_H
#define LMI_STEP_H

#include "world/world.h"

/* Memory for tasks; may be repeated after a failure. */
bool lmi_stages_reserve(lm_world *world);

/* All batches through all stages of a substep, or through contacts alone: what a device has left. And how long they took. */
void lmi_stages_run(const lmi_step *step);
void lmi_stages_contact(const lmi_step *step);
void lmi_stages_time(const lm_world *world, double seconds[LM_STAGE_COUNT]);

#endif
