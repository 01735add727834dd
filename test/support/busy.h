/*
 * A busy world: every kind of sample body in every mode, some of them plastic, falling onto colliders of every shape, some
 * pinned, dragged and blown about. Made by the same calls each time, so two of them must stay the same to the last bit.
 */
#ifndef LIMBER_TEST_BUSY_H
#define LIMBER_TEST_BUSY_H

#include "test/support/support.h"

#define BUSY_MAX_BODIES 64

typedef struct busy {
    lm_world *world;
    lm_body_id bodies[BUSY_MAX_BODIES];
    uint32_t body_count;
    lm_mover_id mover;
    lm_drag_id drag;
} busy;

/* Gravity, substeps and contents are always the same; instruction set, workers and host hooks come from `def`. */
busy busy_make(const lm_world_def *def);

/* What happens before a frame (forces, a turn of the mover, a material that changes) depends on its number only. */
void busy_prepare(busy *busy, uint32_t frame);

/* Prepares and steps. */
void busy_step(busy *busy, uint32_t frame);

void busy_free(busy *busy);

#endif
