/*
 * The papers' penalty force between bodies, kept for comparison.
 *
 *   f = k depth n       k: a constant for each object, N/m; of a pair the larger counts, but of those that bodies have by
 *                       themselves the smaller: a heavy body's is many times what the particles of a light one can bear
 *
 * on the point that is inside, and the opposite on the place where it is: momentum is kept. It knows neither friction nor
 * restitution, and lets bodies sink into each other by their weight over k.
 *
 * It is explicit: where k h² is above the mass of what is pushed, bodies would jump higher with every substep, and many points
 * that push on the same few particles have a k that is the sum of theirs. So a contact is given at most what takes its depth
 * back within the substep, all that share its particles considered:
 *
 *   f h <= depth / (h K')      K': its mobility, as in contact/contact.h
 */
#ifndef LMI_PENALTY_H
#define LMI_PENALTY_H

#include "contact/contact.h"

/* The constant of a body, or (below 0) one that is stable for its particles at this substep. */
static inline double lmi_penalty_of(const lmi_body *body, double h)
{
    return body->penalty > 0.0f ? body->penalty : -0.25 * body->mean_mass / (h * h);
}

/* Of two bodies: the larger of those that were given; where none was, what is stable for both. kernels/prelude.cl has it too. */
static inline double lmi_penalty_pair(double a, double b)
{
    return a < 0.0 && b < 0.0 ? -lmi_max(a, b) : lmi_max(a, b);
}

/* An impulse that does not make bodies jump, from one of k depth h. kernels/press.cl has it too. */
static inline float lmi_penalty_bound(float impulse, float depth, float mobility, float h)
{
    return lmi_minf(impulse, depth / (h * mobility));
}

/* Weighs contacts, or presses their bodies apart (lmi_contact_list.presses); empties the lists. */
void lmi_penalty_take(struct lmi_solver *solver, lmi_contact_list *lists, uint32_t count);

/* Makes the depth cube maps that the world's method asks for and does not have; false when out of memory. */
bool lmi_penalty_reserve(lm_world *world);

#endif
