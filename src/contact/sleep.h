/*
 * Sleep: bodies at rest are left out of the step, those that touch each other together.
 *
 * A sleeping body is in no batch: it keeps its particles in a home of its own, as a new one does. It stays in the broad
 * phase of mutual contacts, where awake bodies find it; what presses on it marks it, and it joins a batch again before the
 * next step. Who is in which batch changes no bit of a result, so neither does the order in which bodies sleep and wake.
 */
#ifndef LMI_SLEEP_H
#define LMI_SLEEP_H

#include "world/world.h"

/* At the beginning of a call of lm_world_step of `seconds`, before batches are laid out: wakes whoever a moving collider or
 * mover comes near, and brings bodies into batches or out of them. False when out of memory; it may be called again. When this or
 * anything after it fails before the step changes something, those that it woke sleep on: the next call brings them out of their
 * batches. */
bool lmi_sleep_prepare(lm_world *world, double seconds);
void lmi_sleep_undo(lm_world *world);

/* Gives a body its particles and the state of its regions back from the pack. What has been packed has then to be packed again, without
 * it or with it. False when out of memory. */
bool lmi_body_bring_home(lm_world *world, lmi_body *body);

/* Whether that wants to know where awake bodies are. */
bool lmi_sleep_watches(const lm_world *world);

/* At its end, when it is known who touches whom: wakes those that were pressed on, and lets those that rest fall asleep. */
void lmi_sleep_end(lm_world *world, double seconds);

/* The same in parts, for a device that knows how fast bodies are: whether anybody falls asleep, once it is known how long each has been
 * still, and then that they do. */
bool lmi_sleep_is_due(lm_world *world);
void lmi_sleep_fall(lm_world *world);

#endif
