/*
 * A body beside its double-precision reference.
 */
#ifndef LIMBER_TEST_FOLLOW_H
#define LIMBER_TEST_FOLLOW_H

#include "test/support/support.h"

/* How far the particle that is farthest from its reference is from it, and the same for velocities. */
typedef struct apart {
    double metres, speed;
} apart;

/* Copies the body as it is now, and steps world and copy for some frames. The body must be alone with gravity. */
apart follow_reference(lm_world *world, lm_body_id body, int frames);

#endif
