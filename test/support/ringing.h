/*
 * The pitch and the decay of a body that rings, from evenly spaced samples of how far it is bent or stretched.
 */
#ifndef LIMBER_TEST_RINGING_H
#define LIMBER_TEST_RINGING_H

#include "test/support/support.h"

typedef struct ringing {
    double hertz; /* of the damped oscillation, from its zero crossings; 0 where there is at most one */
    double decay; /* 1/s at which it dies out, from the recurrence its samples satisfy */
    bool limited; /* what the body says of itself: that a step cannot give what is asked, and what it gives */
    double reached;
} ringing;

/* `samples` are `h` seconds apart. */
ringing ringing_of(const lm_world *world, lm_body_id body, const double *samples, uint32_t count, double h);

#endif
