/*
 * Sleep: the device says how fast each body is at the end of a step, and the host counts how long it has been still. Where bodies
 * meet, who sleeps depends on who touches whom as well (account.h). The state is read back when somebody falls asleep, and stays where
 * it is until then.
 */
#ifndef LMI_GPU_REST_H
#define LMI_GPU_REST_H

#include "gpu/gpu.h"

/* Whether the host has to look at all bodies before a step: one has been woken, or something moves that may wake one. */
bool lmi_gpu_rest_is_over(const lm_world *world);

/* After the last substep of a step of `seconds`: true where somebody falls asleep, which lmi_sleep_fall then does. The device is
 * lost where it fails, and nobody sleeps. */
bool lmi_gpu_rest_begins(lm_world *world, double seconds);

#endif
